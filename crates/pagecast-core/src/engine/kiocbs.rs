//! Lets a process have several operations under way, as io_submit(2), io_uring_enter(2) and aio_read(3) do.
//!
//! Source: `fs/aio.c`, `io_uring/rw.c`, `io_uring/io_uring.c: io_prep_async_work`, Linux 6.16; `rt/aio_misc.c`, glibc 2.36.
//!
//! - A `kiocb` is an asynchronous operation under way. It is an entry of `Engine::processes` behind those of the scenario, so that a policy
//!   knows it by a number of its own, and is used again by the next one of its process.
//! - The process goes on when it has submitted the operation, which takes the time of a system call. Where the kernel or the C library
//!   does the operation at its submission, the process waits for its end ([`AsyncBy`]).
//! - Operations that follow one another on a file (buffered writes of io_uring, all of POSIX AIO) wait for those before.
//!
//! Left out: submission in batches; the number of io_uring's workers and of the C library's threads (20); the time of a completion.

use super::agenda::Wake;
use super::run::Engine;
use super::running::{Running, State};
use crate::calls;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::policy::{FileId, OperationId};
use crate::result::Part;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, AsyncBy, Fd, Operation, PatternCall};

impl<N: Network> Engine<'_, N> {
    /// True for an asynchronous operation, false for a process.
    pub(super) fn is_kiocb(&self, at: u32) -> bool {
        at as usize >= self.scenario.processes.len()
    }

    /// The process that does an operation.
    pub(super) fn owner(&self, at: u32) -> u32 {
        self.processes[at as usize].of
    }

    /// Whether a process is done with submitting; if not, it is woken then.
    pub(super) fn may_go_on(&mut self, at: u32) -> bool {
        self.has_come(at, self.processes[at as usize].goes_on_at)
    }

    fn has_come(&mut self, at: u32, time: Nanos) -> bool {
        let has_come = time <= self.now;
        if !has_come {
            self.wake_at(at, time);
        }
        has_come
    }

    /// Lets a process go on at a later time.
    pub(super) fn wake_at(&mut self, at: u32, time: Nanos) {
        let woken_at = &mut self.processes[at as usize].woken_at;
        if *woken_at != time {
            *woken_at = time;
            self.agenda.add(self.now, time, Wake::Arrival(at));
        }
    }

    /// Whether the time of an operation has come, and not too many are under way; if not, its process is woken then.
    pub(super) fn may_begin(&mut self, at: u32, operation: &Operation) -> bool {
        let process = &self.processes[at as usize];
        let is_among_few = operation.depth.is_none_or(|depth| process.under_way < depth.get());
        let time = operation.not_before.map_or(Nanos::ZERO, |time| process.started + time);
        is_among_few && self.has_come(at, time)
    }

    /// Begins an operation that its process need not wait for.
    pub(super) fn begin_asynchronous(
        &mut self,
        at: u32,
        operation: Operation,
    ) -> Result<(), SimulationError> {
        let Operation { ref action, by, .. } = operation;
        if !action.may_be_asynchronous() {
            return self.begin_operation(at, operation);
        }
        if by == AsyncBy::Threads {
            let kiocb = self.submit(at, false);
            return self.begin_operation(kiocb, operation);
        }
        // One that cannot be is refused when it begins.
        let Some((file, is_direct)) = self.file_of_asynchronous(at, action, operation.fd) else {
            return self.begin_operation(at, operation);
        };
        let moved = self.moved_by(at, &operation, file);
        if self.is_over_when_submitted(at, by, file, moved, is_direct) {
            return self.begin_operation(at, operation);
        }
        let kiocb = self.submit(at, true);
        let is_write = moved.is_some_and(|moved| moved.is_write);
        if by.follows_others(is_write, is_direct) && !self.is_first_in_line(kiocb, file) {
            self.processes[kiocb as usize].place = Some(self.place_in_program(kiocb));
            self.processes[kiocb as usize].held = Some(Box::new(operation));
            return Ok(());
        }
        self.begin_operation(kiocb, operation)
    }

    /// The file of an operation, and whether it goes past the page cache.
    fn file_of_asynchronous(&mut self, at: u32, action: &Action, fd: Option<Fd>) -> Option<(FileId, bool)> {
        let process = &self.processes[at as usize];
        if let Some(fd) = fd {
            let open = self.tables[process.table as usize].descriptors.get(fd)?;
            return Some((open.located.file, open.flags.is_direct()));
        }
        let path = action.path().expect("reads, writes and syncs have one");
        let file = calls::locate(&mut self.namespace, process.host as usize, path).ok()?.file;
        Some((file, process.task.flags(file).is_direct()))
    }

    /// The bytes that an operation reads or writes; nothing if it waits for the file to be durable.
    fn moved_by(&self, at: u32, operation: &Operation, file: FileId) -> Option<PatternCall> {
        let table = &self.tables[self.processes[at as usize].table as usize];
        let position = operation.fd.and_then(|fd| table.descriptors.get(fd)).map_or(0, |open| open.position);
        match operation.action {
            Action::Read { offset, bytes, .. } => {
                let offset = offset.unwrap_or(position);
                let rest = self.namespace.size(file).saturating_sub(Bytes(offset));
                Some(PatternCall {
                    offset,
                    bytes: bytes.map_or(rest, |bytes| bytes.min(rest)),
                    is_write: false,
                })
            }
            Action::Write { offset, bytes, .. } => {
                Some(PatternCall { offset: offset.unwrap_or(position), bytes, is_write: true })
            }
            _ => None,
        }
    }

    /// Whether all bytes of a read are cached.
    pub(super) fn is_cached(
        &self,
        at: u32,
        file: FileId,
        PatternCall { offset, bytes, .. }: PatternCall,
    ) -> bool {
        self.hosts[self.processes[at as usize].host as usize].policy.is_cached(file, offset, bytes)
    }

    /// Whether an operation has ended when its submission returns, so that its process waits for it.
    fn is_over_when_submitted(
        &self,
        at: u32,
        by: AsyncBy,
        file: FileId,
        moved: Option<PatternCall>,
        is_direct: bool,
    ) -> bool {
        let is_cached = || moved.is_some_and(|moved| self.is_cached(at, file, moved));
        by.ends_at_submission(moved.map(|moved| moved.is_write), is_direct, is_cached)
    }

    /// A number for an operation that a process submits now; it may take the process time.
    pub(super) fn submit(&mut self, at: u32, takes_time: bool) -> u32 {
        let process = &mut self.processes[at as usize];
        process.under_way += 1;
        if takes_time {
            process.goes_on_at = self.now + self.hosts[process.host as usize].policy.submission();
        }
        let free = self.kiocbs.free.get_mut(&at).and_then(Vec::pop);
        free.unwrap_or_else(|| self.new_kiocb(at))
    }

    fn new_kiocb(&mut self, at: u32) -> u32 {
        let Running { ref name, host, .. } = self.processes[at as usize];
        let entry = Running { state: State::Active, ..Running::new(at, name.clone(), host) };
        let left = self.kiocbs.left.get_mut(&host).and_then(Vec::pop);
        let kiocb = left.unwrap_or(self.processes.len() as u32);
        match left {
            Some(left) => self.processes[left as usize] = entry,
            None => self.processes.push(entry),
        }
        let policy = &mut self.hosts[host as usize].policy;
        policy.share_files(OperationId(kiocb), OperationId(at));
        if !self.scenario.machine.hosts[host as usize].cgroups.is_empty() {
            policy.charge_to(OperationId(kiocb), self.scenario.processes[at as usize].cgroup);
        }
        kiocb
    }

    /// A process has ended: others of its host may have its numbers.
    pub(super) fn leave_kiocbs(&mut self, at: u32) {
        if let Some(free) = self.kiocbs.free.remove(&at) {
            let host = self.processes[at as usize].host;
            self.kiocbs.left.entry(host).or_default().extend(free);
        }
    }

    /// Lets a kiocb stand in the line of its file, and says whether it is the first.
    pub(super) fn is_first_in_line(&mut self, kiocb: u32, file: FileId) -> bool {
        self.processes[kiocb as usize].line = Some(file);
        let line = self.kiocbs.lines.entry((self.processes[kiocb as usize].of, file)).or_default();
        line.push_back(kiocb);
        line.len() == 1
    }

    /// Begins what has come to the head of its line.
    pub(super) fn begin_queued(&mut self, kiocb: u32) -> Result<(), SimulationError> {
        let entry = &mut self.processes[kiocb as usize];
        if let Some(operation) = entry.held.take() {
            return self.begin_operation(kiocb, *operation);
        }
        match entry.call.take_if(|call| call.is_queued) {
            Some(call) => self.begin_pattern_call(kiocb, call),
            None => Ok(()),
        }
    }

    /// The index of an operation that begins, and its start: now, or when it was submitted.
    pub(super) fn place_in_program(&mut self, at: u32) -> (u32, Nanos) {
        if let Some(place) = self.processes[at as usize].place.take() {
            return place;
        }
        let owner = self.owner(at);
        let process = &mut self.processes[owner as usize];
        process.operations += 1;
        (process.operations - 1, self.now)
    }

    /// An asynchronous operation has ended.
    pub(super) fn end_kiocb(&mut self, kiocb: u32) -> Result<(), SimulationError> {
        let owner = self.owner(kiocb);
        if let Some(file) = self.processes[kiocb as usize].line.take() {
            let line = self.kiocbs.lines.get_mut(&(owner, file)).expect("it was in its line");
            line.pop_front();
            match line.front() {
                Some(&next) => self.ready.push_back(next),
                None => drop(self.kiocbs.lines.remove(&(owner, file))),
            }
        }
        self.kiocbs.free.entry(owner).or_default().push(kiocb);
        let process = &mut self.processes[owner as usize];
        process.under_way -= 1;
        if process.current.as_ref().is_some_and(|current| current.operation.action == Action::Drain) {
            return self.end_drain(owner);
        }
        self.ready.push_back(owner);
        Ok(())
    }

    /// Ends a wait for all asynchronous operations of a process, if none is under way.
    pub(super) fn end_drain(&mut self, at: u32) -> Result<(), SimulationError> {
        if self.processes[at as usize].under_way > 0 {
            return Ok(());
        }
        self.end_with(at, Part::Wait)
    }
}
