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

use super::Engine;
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

/// The copy that a process is in.
pub(super) struct Copying {
    source: Located,
    target: Located,
    /// How the target is open.
    flags: OpenFlags,
    /// What is left of it, and how much is read and written at a time.
    at: u64,
    end: u64,
    round: u64,
    /// Where it began.
    offset: u64,
    outcome: Outcome,
    under_way: Option<Step>,
    steps: VecDeque<Step>,
}

/// What a copy waits for.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Bytes are read from here.
    Read { offset: u64, bytes: u64 },
    /// They are written.
    Write { offset: u64, bytes: u64 },
    /// Dirty pages of the range are written and waited for.
    Clean(Located),
    /// Pages of the target leave.
    Drop,
}

impl Copying {
    /// Whether it waits for nothing, so that its process can go on with it.
    pub(super) fn is_between_steps(&self) -> bool {
        self.under_way.is_none()
    }
}

impl<N: Network> Engine<'_, N> {
    /// Begins a copy of bytes of a file that exists.
    pub(super) fn begin_copy(
        &mut self,
        at: u32,
        operation: Operation,
        source: Located,
    ) -> Result<(), SimulationError> {
        let Action::Copy { ref to, by, offset, bytes, call, .. } = operation.action else {
            unreachable!("only copies have a target")
        };
        let target = self.locate(at, operation.line, &to.clone())?;
        let flags = self.check_copy(at, &operation, source, target, by)?;
        let size = self.namespace.size(source.file);
        let bytes = bytes.unwrap_or(size.saturating_sub(Bytes(offset)));
        if offset.saturating_add(bytes.0) > size.0 {
            return Err(self.beyond_end(at, &operation, offset, bytes, size));
        }
        let call = call.or(by.usual_call()).unwrap_or(bytes).0.clamp(1, bytes.0.max(1));
        let round = if by.is_in_kernel() { call.div_ceil(call.div_ceil(PIPE)) } else { call };
        let span = Span { offset, bytes, piece: Bytes(round) };
        self.take_room_for(at, operation.line, target, &span, flags)?;
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
        let is_remote = |located| matches!(mount(located).source, MountSource::Nfs { .. });
        let goes_past = |flags: OpenFlags| flags.is_direct() || flags.has(OpenFlag::DontCache);
        let (read, written) = (process.flags(source.file), process.flags(target.file));
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
        let chunk = [source, target].into_iter().filter_map(|located| self.remote_chunk(host, located)).max();
        let at_once = match chunk {
            Some(chunk) => chunk.0.saturating_mul(CHUNKS),
            None => self.hosts[host].policy.copied_at_once(&self.view(host, source), from, end).0,
        };
        let bytes = (at_once / round * round).max(round).min(end - from);
        let copying = self.copying(at);
        copying.at += bytes;
        copying.steps.extend([Step::Read { offset: from, bytes }, Step::Write { offset: from, bytes }]);
    }

    fn begin_copy_step(&mut self, at: u32, step: Step) -> Result<(), SimulationError> {
        let host = self.processes[at as usize].host as usize;
        let Copying { source, target, flags, round, offset: first, end, .. } = *self.copying(at);
        let range =
            |offset: u64, bytes: u64| Span { offset, bytes: Bytes(bytes), piece: Bytes(round.min(bytes)) };
        if let Step::Read { offset, bytes } | Step::Write { offset, bytes } = step {
            // What is sent to another host, or fetched from there, is told by these.
            let current = self.processes[at as usize].current.as_mut().expect("it is in an operation");
            (current.offset, current.bytes) = (offset, Bytes(bytes));
        }
        match step {
            Step::Read { offset, bytes } => {
                let span = range(offset, bytes);
                self.check_still_there(at, source, &span)?;
                self.ask_to_read(at, source, &span, OpenFlags::default(), false)
            }
            Step::Write { offset, bytes } => self.ask_to_write(at, target, &range(offset, bytes), flags),
            Step::Clean(located) => {
                let (file, flags) = (self.view(host, located), SyncRangeFlag::ALL.into_iter().collect());
                self.call(at, Call::SyncRange { file, offset: first, bytes: Bytes(end - first), flags })
            }
            Step::Drop => {
                let (file, advice) = (self.view(host, target), Advice::DontNeed);
                self.call(at, Call::Advise { file, advice, offset: first, bytes: Bytes(end - first) })
            }
        }
    }

    /// Refuses to read what somebody else has cut meanwhile, and pages for which there is no memory.
    fn check_still_there(&mut self, at: u32, source: Located, span: &Span) -> Result<(), SimulationError> {
        let size = self.namespace.size(source.file);
        let current = self.processes[at as usize].current.as_ref().expect("it is in an operation");
        let line = current.operation.line;
        if span.offset.saturating_add(span.bytes.0) > size.0 {
            return Err(self.beyond_end(at, &current.operation, span.offset, span.bytes, size));
        }
        self.check_has_room(at, span.bytes, line)
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
        self.ready.push_back(at);
    }

    fn end_copy(&mut self, at: u32) -> Result<(), SimulationError> {
        let current = self.processes[at as usize].current.as_mut().expect("it is in an operation");
        let copying = current.copying.take().expect("it is a copy");
        (current.offset, current.bytes) = (copying.offset, Bytes(copying.end - copying.offset));
        let end = if copying.end > copying.offset { copying.end } else { 0 };
        self.namespace.grow(copying.target.file, Bytes(end));
        self.end_operation(at, copying.outcome)
    }
}

/// Whether copy_file_range(2) takes files of two file systems: from Linux 5.3 on, and no more from 5.19 on.
fn takes_other_file_systems(version: (u32, u32)) -> bool {
    ((5, 3)..(5, 19)).contains(&version)
}
