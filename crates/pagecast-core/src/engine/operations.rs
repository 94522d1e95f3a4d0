//! Checks and begins an operation, hands it to a policy, ends it and records it.

use std::sync::Arc;

use super::agenda::Wake;
use super::processes::Current;
use super::{Engine, Owner};
use crate::error::SimulationError;
use crate::flow::{FlowSpec, Network};
use crate::fs::nfs::Direction;
use crate::fs::{Located, Span};
use crate::machine::MountSource;
use crate::policy::{Call, Command, FileId, FileView, Integrity, OperationId, Outcome, Remote, Request};
use crate::result::{Ended, Resident};
use crate::scenario::Residency;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Advice, Buffer, OpenFlag, OpenFlags, Operation};

impl<N: Network> Engine<'_, N> {
    /// Begins an operation of a process; it may end at once.
    pub(super) fn begin_operation(&mut self, at: u32, operation: Operation) -> Result<(), SimulationError> {
        match operation.action.clone() {
            Action::Compute { time } => self.compute(at, operation, time),
            Action::Sleep { time } => {
                self.enter(at, operation, None, 0, Bytes::ZERO);
                self.agenda.add(self.now, self.now + time, Wake::Sleeper(at));
                Ok(())
            }
            Action::Wait { event } => {
                self.enter(at, operation, None, 0, Bytes::ZERO);
                self.wait(at, event)
            }
            Action::Signal { event } => {
                self.enter(at, operation, None, 0, Bytes::ZERO);
                self.signal(&event)?;
                self.end_operation(at, Outcome::default())
            }
            Action::Allocate { bytes } => {
                self.take_memory(at, bytes, operation.line)?;
                self.enter(at, operation, None, 0, bytes);
                self.call(at, Call::Allocate { bytes, owner: OperationId(at) })
            }
            Action::Free { bytes } => self.free(at, operation, bytes),
            Action::DropCaches => {
                self.enter(at, operation, None, 0, Bytes::ZERO);
                self.call(at, Call::DropCaches)
            }
            Action::Sync => {
                self.enter(at, operation, None, 0, Bytes::ZERO);
                self.call(at, Call::Sync)
            }
            Action::SyncFs { path } => self.sync_file_system(at, operation, &path),
            Action::Exit => unreachable!("the process has been ended instead"),
            _ => self.begin_on_file(at, operation),
        }
    }

    fn compute(&mut self, at: u32, operation: Operation, time: Nanos) -> Result<(), SimulationError> {
        self.enter(at, operation, None, 0, Bytes::ZERO);
        if time == Nanos::ZERO {
            return self.end_operation(at, Outcome::default());
        }
        let path = self.hosts[self.processes[at as usize].host as usize].processors;
        self.actions.start(FlowSpec::new(path, time.0, u64::from(at)));
        self.start_own_flows(Owner::Process(at));
        Ok(())
    }

    /// Starts the flows that the engine itself has asked for.
    pub(super) fn start_own_flows(&mut self, owner: Owner) {
        let commands = self.actions.take();
        for command in &commands {
            match *command {
                Command::Start(flow, spec) => self.start_flow(flow, spec, owner),
                _ => unreachable!("the engine itself only starts flows"),
            }
        }
        self.actions.give_back(commands);
    }

    /// Asks the policy of the process's host.
    pub(super) fn call(&mut self, at: u32, call: Call) -> Result<(), SimulationError> {
        let host = self.processes[at as usize].host;
        self.request(host, &Request { operation: OperationId(at), call })
    }

    fn begin_on_file(&mut self, at: u32, operation: Operation) -> Result<(), SimulationError> {
        let path = operation.action.path().expect("all other operations are about a file").clone();
        let host = self.processes[at as usize].host as usize;
        let located = self.locate(at, operation.line, &path)?;
        self.check_exists(at, &operation, &path, located)?;
        let size = self.namespace.size(located.file);
        match operation.action.clone() {
            Action::Open { truncate, flags, .. } => {
                self.processes[at as usize].set_flags(located.file, flags);
                let size = if truncate { Bytes::ZERO } else { size };
                self.resize_and_tell(at, operation, located, size)
            }
            Action::Truncate { size, .. } => self.resize_and_tell(at, operation, located, size),
            Action::Unlink { .. } => {
                self.enter(at, operation, Some(located), 0, Bytes::ZERO);
                let file = self.view(host, located);
                self.namespace.remove(located.file);
                self.processes[at as usize].set_flags(located.file, OpenFlags::default());
                self.forget_stream(at, located.file);
                self.processes[at as usize].mappings.remove(&located.file);
                self.truncate(at, located, file, Bytes::ZERO)
            }
            Action::Read { offset, bytes, buffer, call, .. } => {
                let bytes = bytes.unwrap_or(size.saturating_sub(Bytes(offset)));
                let span = Span { offset, bytes, piece: call.unwrap_or(bytes).min(bytes) };
                self.read(at, operation, located, span, buffer)
            }
            Action::Write { offset, bytes, call, .. } => {
                let offset = match self.processes[at as usize].flags(located.file).has(OpenFlag::Append) {
                    // Who appends at the same time has his place already.
                    true => self.namespace.taken(located.file).0,
                    false => offset.unwrap_or(size.0),
                };
                let span = Span { offset, bytes, piece: call.unwrap_or(bytes).min(bytes) };
                self.write(at, operation, located, span)
            }
            Action::Copy { .. } => self.begin_copy(at, operation, located),
            each @ (Action::Fsync { .. } | Action::Fdatasync { .. }) => {
                let is_data = matches!(each, Action::Fdatasync { .. });
                let durable = if is_data { Integrity::Data } else { Integrity::File };
                self.enter(at, operation, Some(located), 0, Bytes::ZERO);
                let file = self.view(host, located);
                self.call(at, Call::Fsync { file, durable })
            }
            Action::Fadvise { advice, offset, bytes, .. } => {
                let bytes = bytes.unwrap_or(size.saturating_sub(Bytes(offset)));
                self.advise(at, operation, located, advice, (offset, bytes))
            }
            // mm/readahead.c: ksys_readahead
            Action::Readahead { offset, bytes, .. } => {
                let bytes = bytes.unwrap_or(size.saturating_sub(Bytes(offset)));
                self.advise(at, operation, located, Advice::WillNeed, (offset, bytes))
            }
            Action::SyncFileRange { offset, bytes, flags, .. } => {
                self.enter(at, operation, Some(located), 0, Bytes::ZERO);
                let file = self.view(host, located);
                let bytes = bytes.unwrap_or(size.saturating_sub(Bytes(offset)));
                self.call(at, Call::SyncRange { file, offset, bytes, flags })
            }
            Action::Close { .. } => {
                self.processes[at as usize].set_flags(located.file, OpenFlags::default());
                self.enter(at, operation, Some(located), 0, Bytes::ZERO);
                self.end_operation(at, Outcome::default())
            }
            Action::Stream { call, .. } => self.begin_on_stream(at, operation, located, call),
            Action::Mapped { call, .. } => self.begin_on_mapping(at, operation, located, call),
            _ => {
                self.enter(at, operation, Some(located), 0, Bytes::ZERO);
                self.end_operation(at, Outcome::default())
            }
        }
    }

    fn check_exists(
        &self,
        at: u32,
        operation: &Operation,
        path: &Arc<str>,
        located: Located,
    ) -> Result<(), SimulationError> {
        // A stream that is open has its file, whoever removed that.
        let is_open = matches!(operation.action, Action::Stream { call, .. } if !call.opens());
        if is_open || operation.action.makes_file() || self.namespace.exists(located.file) {
            return Ok(());
        }
        let at = self.blame(at, operation.line);
        Err(SimulationError::NoSuchFile { at, operation: operation.action.name(), path: path.clone() })
    }

    pub(super) fn resize_and_tell(
        &mut self,
        at: u32,
        operation: Operation,
        located: Located,
        size: Bytes,
    ) -> Result<(), SimulationError> {
        self.check_fits(at, operation.line, located.file, size)?;
        let host = self.processes[at as usize].host as usize;
        let file = self.view(host, located);
        self.enter(at, operation, Some(located), 0, Bytes::ZERO);
        if size < file.size {
            self.namespace.resize(located.file, size);
            return self.truncate(at, located, file, size);
        }
        self.namespace.extend(located.file, size);
        self.end_operation(at, Outcome::default())
    }

    /// Tells the process's host, and the one that keeps the file, that pages are gone.
    fn truncate(
        &mut self,
        at: u32,
        located: Located,
        file: FileView,
        size: Bytes,
    ) -> Result<(), SimulationError> {
        let (home, _) = self.namespace.home(located.file);
        if home != self.processes[at as usize].host as usize {
            let call = Call::Truncate { file: self.view_at_home(located.file), size };
            self.request(home as u32, &Request { operation: OperationId::NOBODY, call })?;
        }
        self.call(at, Call::Truncate { file, size })
    }

    fn read(
        &mut self,
        at: u32,
        operation: Operation,
        located: Located,
        span: Span,
        buffer: Buffer,
    ) -> Result<(), SimulationError> {
        let size = self.namespace.size(located.file);
        let flags = self.processes[at as usize].flags(located.file);
        if flags.has(OpenFlag::DontCache) {
            self.check_dontcache(at, &operation, located)?;
        }
        let span = if flags.is_direct() {
            self.check_aligned(at, &operation, located, &span)?;
            span.up_to_end(size)
        } else {
            span
        };
        let Span { offset, bytes, .. } = span;
        if offset.saturating_add(bytes.0) > size.0 {
            return Err(self.beyond_end(at, &operation, offset, bytes, size));
        }
        let fresh = buffer == Buffer::Fresh;
        if fresh {
            self.take_memory(at, bytes, operation.line)?;
        }
        if !flags.is_direct() {
            self.check_has_room(at, bytes, operation.line)?;
        }
        self.enter(at, operation, Some(located), offset, bytes);
        self.ask_to_read(at, located, &span, flags, fresh)
    }

    /// Asks for what a read wants that has begun.
    pub(super) fn ask_to_read(
        &mut self,
        at: u32,
        located: Located,
        span: &Span,
        flags: OpenFlags,
        fresh: bool,
    ) -> Result<(), SimulationError> {
        let Span { offset, bytes, piece } = *span;
        let is_direct = flags.is_direct();
        let host = self.processes[at as usize].host as usize;
        let file = self.view(host, located);
        match self.remote_chunk(host, located) {
            Some(chunk) if is_direct => {
                self.begin_transfer(at, located, bytes, chunk, Direction::ReadDirect { fresh })
            }
            Some(chunk) => self.remote_read(at, located, bytes, fresh, chunk),
            None if is_direct => self.call(at, Call::ReadDirect { file, offset, bytes, fresh, piece }),
            None => {
                let dontcache = flags.has(OpenFlag::DontCache);
                self.call(at, Call::Read { file, offset, bytes, fresh, dontcache, piece })
            }
        }
    }

    pub(super) fn beyond_end(
        &self,
        at: u32,
        operation: &Operation,
        offset: u64,
        bytes: Bytes,
        size: Bytes,
    ) -> SimulationError {
        let path = operation.action.path().expect("a read has a path").clone();
        SimulationError::BeyondEnd { at: self.blame(at, operation.line), path, offset, bytes, size }
    }

    fn write(
        &mut self,
        at: u32,
        operation: Operation,
        located: Located,
        span: Span,
    ) -> Result<(), SimulationError> {
        let flags = self.processes[at as usize].flags(located.file);
        if flags.has(OpenFlag::DontCache) {
            self.check_dontcache(at, &operation, located)?;
        }
        if flags.is_direct() {
            self.check_aligned(at, &operation, located, &span)?;
        }
        self.take_room_for(at, operation.line, located, &span, flags)?;
        self.enter(at, operation, Some(located), span.offset, span.bytes);
        self.ask_to_write(at, located, &span, flags)
    }

    /// Takes the space that a write needs at once, and makes the file; it grows when the bytes are there.
    pub(super) fn take_room_for(
        &mut self,
        at: u32,
        line: Option<u32>,
        located: Located,
        span: &Span,
        flags: OpenFlags,
    ) -> Result<(), SimulationError> {
        let size = self.namespace.size(located.file);
        let end = Bytes(span.offset.saturating_add(span.bytes.0)).max(size);
        self.check_fits(at, line, located.file, end)?;
        if !flags.is_direct() {
            self.check_has_room(at, span.bytes, line)?;
        }
        self.namespace.begin_write(located.file, end);
        Ok(())
    }

    /// Asks for what a write wants that has begun.
    pub(super) fn ask_to_write(
        &mut self,
        at: u32,
        located: Located,
        span: &Span,
        flags: OpenFlags,
    ) -> Result<(), SimulationError> {
        let Span { offset, bytes, piece } = *span;
        let host = self.processes[at as usize].host as usize;
        let file = self.view(host, located);
        let through = self.namespace.writes_through(located.file);
        match self.remote_chunk(host, located) {
            Some(chunk) => self.begin_transfer(at, located, bytes, chunk, Direction::Write),
            None if flags.is_direct() => {
                let durable = Integrity::of(flags);
                self.call(at, Call::WriteDirect { file, offset, bytes, durable, piece })
            }
            None => match Integrity::of(flags).filter(|_| !through) {
                Some(durable) => self.call(at, Call::WriteSync { file, offset, bytes, piece, durable }),
                None => {
                    let dontcache = flags.has(OpenFlag::DontCache);
                    self.call(at, Call::Write { file, offset, bytes, through, dontcache, piece })
                }
            },
        }
    }

    /// If a file is another host's and goes through both page caches: in chunks of this size.
    pub(super) fn remote_chunk(&self, host: usize, located: Located) -> Option<Bytes> {
        let mount = &self.scenario.machine.hosts[host].mounts[located.mount as usize];
        match (&mount.source, self.hosts[host].policy.remote()) {
            (MountSource::Nfs { .. }, Remote::Chunks(chunk)) => Some(chunk),
            _ => None,
        }
    }

    fn check_fits(
        &self,
        at: u32,
        line: Option<u32>,
        file: FileId,
        size: Bytes,
    ) -> Result<(), SimulationError> {
        let more = size.saturating_sub(self.namespace.size(file));
        if more <= self.namespace.free(file) {
            return Ok(());
        }
        let blame = self.blame(at, line);
        let who = format!("process `{}`", blame.process);
        Err(self.disk_full(blame.place, who, file, more))
    }

    pub(super) fn disk_full(
        &self,
        place: String,
        who: String,
        file: FileId,
        needed: Bytes,
    ) -> SimulationError {
        let (host, disk) = self.namespace.home(file);
        let host = &self.scenario.machine.hosts[host];
        let used = self.namespace.used(file);
        let disk = &host.disks[disk];
        SimulationError::DiskFull {
            place,
            who,
            disk: disk.name.clone(),
            host: host.name.clone(),
            needed,
            size: disk.size,
            used,
        }
    }

    /// The current operation of a process has ended.
    pub(super) fn end_operation(&mut self, at: u32, outcome: Outcome) -> Result<(), SimulationError> {
        let process = &mut self.processes[at as usize];
        let host = process.host;
        if process.current.as_ref().is_some_and(|current| current.stream.is_some()) {
            self.stream_step_ended(at, &outcome);
            return Ok(());
        }
        if process.current.as_ref().is_some_and(|current| current.copying.is_some()) {
            self.copy_step_ended(at, &outcome);
            return Ok(());
        }
        let current = process.current.take().expect("only an operation under way ends");
        if current.operation.action.writes_bytes()
            && let Some(located) = current.file
        {
            self.namespace.grow(located.file, Bytes(current.offset + current.bytes.0));
        }
        self.recorder.operation(&Ended {
            process: at,
            host,
            index: current.index,
            operation: current.operation.action.name(),
            path: current.operation.action.path(),
            offset: current.offset,
            bytes: current.bytes.0,
            start: current.start,
            end: self.now,
            outcome,
        });
        if self.residency == Residency::Operation && current.file.is_some() {
            self.record_residency(Some((at, &current)));
        }
        self.ready.push_back(at);
        Ok(())
    }

    /// Writes down what every file has in memory: on the host of an operation and on the one that keeps its file, or on all at the end.
    pub(super) fn record_residency(&mut self, after: Option<(u32, &Current)>) {
        let hosts: Vec<u32> = match after {
            Some((at, current)) => {
                let own = self.processes[at as usize].host;
                let home = current.file.map(|located| self.namespace.home(located.file).0 as u32);
                home.filter(|&home| home != own).into_iter().chain([own]).collect()
            }
            None => (0..self.hosts.len() as u32).collect(),
        };
        for host in hosts {
            for (path, file) in self.namespace.seen_by(host as usize) {
                let levels = self.hosts[host as usize].policy.residency(file);
                // A client of NFS keeps pages of a file that another host has removed.
                if !self.namespace.has_size(file) && levels.cached == Bytes::ZERO {
                    continue;
                }
                let size = self.namespace.size(file);
                let resident = Resident { path: &path, host, size, levels };
                self.recorder.residency(self.now, after.map(|(at, op)| (at, op.index)), &resident);
            }
        }
    }
}
