//! Copies from file to file: portions that are read and written in turn, under the host's policy.
//!
//! Source: `fs/splice.c: splice_direct_to_actor`, `mm/filemap.c: filemap_splice_read`, `fs/read_write.c: vfs_copy_file_range`,
//! `fs/remap_range.c: generic_remap_file_range_prep`, Linux 6.16.
//!
//! - sendfile(2) puts pages of the source, read ahead as with a read, into a pipe of 16 buffers of a page. It writes those with a write of
//!   the target: rounds of 64 KiB at most, each checked against the dirty limits.
//! - copy_file_range(2) does so, too, in a file system that does not share extents.
//! - A round costs a read and a write of its size. Either way each byte is loaded from memory once and stored there once, as a program's
//!   buffer stays in the processor's caches (measured: `docs/concepts/kernel.md`).
//! - With shared extents (XFS, Btrfs) dirty pages of both ranges are written first, those of the target leave, and no byte moves.
//!
//! Left out: the transaction that shares extents, and that shared ones take no space; the cost of a pipe's buffers beside the saved calls;
//! copies by the server of another host's files (NFS 4.2).

use std::collections::VecDeque;
use std::sync::Arc;

use super::copying::{Copying, Step};
use super::run::Engine;
use crate::calls;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::fs::{Located, Span};
use crate::machine::{FileSystem, Mount, MountSource};
use crate::policy::{Call, Outcome};
use crate::units::Bytes;
use crate::workload::{Action, Advice, CopyBy, CopyRefusal, OpenFlag, OpenFlags, Operation, SyncRangeFlag};

/// What a pipe holds: `PIPE_DEF_BUFFERS` pages (include/linux/pipe_fs_i.h).
const PIPE: u64 = 16 * 4096;

/// Chunks of another host's file that are read before they are written: enough for them to follow each other over disk and link.
const CHUNKS: u64 = 8;

/// What extents begin with on file systems that share them: a block.
const BLOCK: u64 = 4096;

impl<N: Network> Engine<'_, N> {
    /// Begins a copy of bytes of a file that exists.
    pub(super) fn begin_copy(&mut self, at: u32, operation: Operation) -> Result<(), SimulationError> {
        let Action::Copy { ref to, by, offset, bytes, call, .. } = operation.action else {
            unreachable!("only copies have a target")
        };
        let (line, host) = (operation.line, self.processes[at as usize].host as usize);
        let source = self.caller(at).file_of(&operation.action);
        let source = self.blamed(at, line, source)?;
        let target = calls::locate(&mut self.namespace, host, to);
        let target = self.blamed(at, line, target)?;
        let flags = self.check_copy(at, &operation, source, target, by)?;
        let size = self.namespace.size(source.file);
        let bytes = bytes.unwrap_or(size.saturating_sub(Bytes(offset)));
        let whole = Span { offset, bytes, piece: bytes };
        let is_within = self.caller(at).check_within(source, &operation.action, &whole);
        self.blamed(at, line, is_within)?;
        let call = call.or(by.usual_call()).unwrap_or(bytes).0.clamp(1, bytes.0.max(1));
        let round = if by.is_in_kernel() { call.div_ceil(call.div_ceil(PIPE)) } else { call };
        let span = Span { piece: Bytes(round), ..whole };
        let taken = self.caller(at).take_room(target, &span, flags);
        self.blamed(at, line, taken)?;
        let is_shared = by == CopyBy::CopyFileRange
            && source.mount == target.mount
            && self.shares_extents(at, source)
            && offset.is_multiple_of(BLOCK);
        self.enter(at, operation, Some(source), offset, bytes);
        let (steps, left) = match is_shared {
            true => {
                (VecDeque::from([Step::Clean(source), Step::Clean(target), Step::Drop]), offset + bytes.0)
            }
            false => (VecDeque::new(), offset),
        };
        let copying = Copying {
            source,
            target,
            flags,
            at: left,
            end: offset + bytes.0,
            round,
            offset,
            outcome: Outcome::default(),
            under_way: None,
            steps,
        };
        self.processes[at as usize].current.as_mut().expect("it has begun").copying = Some(Box::new(copying));
        self.go_on_with_copy(at)
    }

    /// Refuses what cannot be copied; gives how the target is open.
    fn check_copy(
        &self,
        at: u32,
        operation: &Operation,
        source: Located,
        target: Located,
        by: CopyBy,
    ) -> Result<OpenFlags, SimulationError> {
        let process = &self.processes[at as usize];
        let host = &self.scenario.machine.hosts[process.host as usize];
        let mount = |located: Located| &host.mounts[located.mount as usize];
        let is_remote =
            |located| matches!(mount(located).source, MountSource::Nfs { .. } | MountSource::Striped(_));
        let goes_past = |flags: OpenFlags| flags.is_direct() || flags.has(OpenFlag::DontCache);
        let (read, written) = (process.task.flags(source.file), process.task.flags(target.file));
        let crosses = by == CopyBy::CopyFileRange && source.mount != target.mount;
        let why = if source.file == target.file {
            CopyRefusal::SameFile
        } else if goes_past(read) || goes_past(written) || written.has(OpenFlag::Append) {
            CopyRefusal::Flags
        } else if by == CopyBy::CopyFileRange && (is_remote(source) || is_remote(target)) {
            CopyRefusal::Remote
        } else if crosses && !takes_other_file_systems(host.kernel.version) {
            CopyRefusal::OtherFileSystem
        } else {
            return Ok(written);
        };
        let path = |path: Option<&Arc<str>>| path.expect("a copy has two").clone();
        Err(SimulationError::Copy {
            at: self.blame(at, operation.line),
            path: path(operation.action.path()),
            to: path(operation.action.target()),
            by: by.name(),
            why,
        })
    }

    fn shares_extents(&self, at: u32, source: Located) -> bool {
        let host = &self.scenario.machine.hosts[self.processes[at as usize].host as usize];
        let Mount { file_system, .. } = host.mounts[source.mount as usize];
        matches!(file_system, FileSystem::Xfs | FileSystem::Btrfs)
    }

    fn copying(&mut self, at: u32) -> &mut Copying {
        let current = self.processes[at as usize].current.as_mut();
        current.and_then(|current| current.copying.as_deref_mut()).expect("it is in a copy")
    }

    /// Begins the next step of a process's copy, or ends it.
    pub(super) fn go_on_with_copy(&mut self, at: u32) -> Result<(), SimulationError> {
        loop {
            let copying = self.copying(at);
            match copying.steps.pop_front() {
                Some(step) => {
                    copying.under_way = Some(step);
                    return self.begin_copy_step(at, step);
                }
                None if copying.at < copying.end => self.next_part(at),
                None => return self.end_copy(at),
            }
        }
    }

    /// Lets the next bytes be read and written.
    fn next_part(&mut self, at: u32) {
        let host = self.processes[at as usize].host as usize;
        let Copying { source, target, at: from, end, round, .. } = *self.copying(at);
        let caller = self.caller(at);
        let chunk = [source, target].into_iter().filter_map(|located| caller.chunk(located)).max();
        let file = caller.view(source);
        let at_once = match chunk {
            Some(chunk) => chunk.0.saturating_mul(CHUNKS),
            None => self.hosts[host].policy.copied_at_once(&file, from, end).0,
        };
        let bytes = (at_once / round * round).max(round).min(end - from);
        let copying = self.copying(at);
        copying.at += bytes;
        copying.steps.extend([Step::Read { offset: from, bytes }, Step::Write { offset: from, bytes }]);
    }

    fn begin_copy_step(&mut self, at: u32, step: Step) -> Result<(), SimulationError> {
        let Copying { source, target, flags, round, offset: first, end, .. } = *self.copying(at);
        let range =
            |offset: u64, bytes: u64| Span { offset, bytes: Bytes(bytes), piece: Bytes(round.min(bytes)) };
        if let Step::Read { offset, bytes } = step {
            self.check_still_there(at, source, &range(offset, bytes))?;
        }
        let caller = self.caller(at);
        let wants = match step {
            Step::Read { offset, bytes } => {
                caller.read(source, &range(offset, bytes), OpenFlags::default(), false)
            }
            Step::Write { offset, bytes } => caller.write(target, &range(offset, bytes), flags),
            Step::Clean(located) => {
                let (file, flags) = (caller.view(located), SyncRangeFlag::ALL.into_iter().collect());
                Call::SyncRange { file, offset: first, bytes: Bytes(end - first), flags }.into()
            }
            Step::Drop => {
                let (file, advice) = (caller.view(target), Advice::DontNeed);
                Call::Advise { file, advice, offset: first, bytes: Bytes(end - first) }.into()
            }
        };
        self.ask(at, wants)
    }

    /// Refuses to read what somebody else has cut meanwhile, and pages for which there is no memory.
    fn check_still_there(&mut self, at: u32, source: Located, span: &Span) -> Result<(), SimulationError> {
        let current = self.processes[at as usize].current.as_ref().expect("it is in an operation");
        let (action, line) = (current.operation.action.clone(), current.operation.line);
        let caller = self.caller(at);
        let checked = caller
            .check_within(source, &action, span)
            .and_then(|()| caller.check_room(span.bytes, Bytes::ZERO));
        self.blamed(at, line, checked)
    }

    /// A step of a copy has ended; the process goes on when its turn comes.
    pub(super) fn copy_step_ended(&mut self, at: u32, outcome: &Outcome) {
        let copying = self.copying(at);
        let step = copying.under_way.take().expect("only a step that is under way ends");
        copying.outcome.parts.add_all(&outcome.parts);
        let target = copying.target.file;
        match step {
            Step::Read { .. } => {
                copying.outcome.from_cache += outcome.from_cache;
                copying.outcome.from_device += outcome.from_device;
            }
            Step::Write { offset, bytes } => self.namespace.grow(target, Bytes(offset + bytes)),
            Step::Clean(_) | Step::Drop => {}
        }
        self.let_go_on(at);
    }

    fn end_copy(&mut self, at: u32) -> Result<(), SimulationError> {
        let current = self.processes[at as usize].current.as_mut().expect("it is in an operation");
        let copying = current.copying.take().expect("it is a copy");
        let end = if copying.end > copying.offset { copying.end } else { 0 };
        self.namespace.grow(copying.target.file, Bytes(end));
        self.end_operation(at, copying.outcome)
    }
}

/// Whether copy_file_range(2) takes files of two file systems: from Linux 5.3 on, and no more from 5.19 on.
fn takes_other_file_systems(version: (u32, u32)) -> bool {
    ((5, 3)..(5, 19)).contains(&version)
}
