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

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::agenda::Wake;
use super::run::Engine;
use super::running::{Running, State};
use crate::calls::{self, OpenFile};
use crate::error::SimulationError;
use crate::flow::Network;
use crate::policy::{FileId, OperationId};
use crate::result::Part;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, AsyncBy, Fd, Operation};

/// The asynchronous operations of all processes.
#[derive(Default)]
pub(super) struct Kiocbs {
    /// Those of each process that are not under way.
    free: FxHashMap<u32, Vec<u32>>,
    /// Those of processes of each host that have ended.
    left: FxHashMap<u32, Vec<u32>>,
    /// Operations of a process on a file that follow one another: the first is under way.
    lines: FxHashMap<(u32, FileId), VecDeque<u32>>,
    /// The place in its program of one that waits in a line, and when it was submitted; otherwise the line of one under way.
    states: FxHashMap<u32, Queued>,
}

/// A place in a line.
#[derive(Clone, Copy)]
struct Queued {
    line: (u32, FileId),
    index: u32,
    since: Nanos,
}

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
        let woken_at = &mut self.processes[at as usize].woken_at;
        if time > self.now && *woken_at != time {
            *woken_at = time;
            self.agenda.add(self.now, time, Wake::Arrival(at));
        }
        time <= self.now
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
        let file = self.file_of_asynchronous(at, &operation);
        let is_direct = self.is_direct(at, &operation, file);
        if self.ends_at_submission(at, &operation, file, is_direct) {
            return self.begin_operation(at, operation);
        }
        let kiocb = self.new_kiocb(at);
        let process = &mut self.processes[at as usize];
        process.under_way += 1;
        if operation.by != AsyncBy::Threads {
            process.goes_on_at = self.now + self.hosts[process.host as usize].policy.submission();
        }
        match file.filter(|_| follows_others(&operation, is_direct)) {
            Some(file) => self.stand_in_line(kiocb, (at, file), operation),
            None => self.begin_operation(kiocb, operation),
        }
    }

    /// The file of an operation for which it matters; nothing if there is none, which is said when the operation begins.
    fn file_of_asynchronous(&mut self, at: u32, operation: &Operation) -> Option<FileId> {
        let path = operation.action.path().filter(|_| operation.by != AsyncBy::Threads)?;
        if let Some(fd) = operation.fd {
            return self.open_file(at, fd).map(|open| open.located.file);
        }
        let host = self.processes[at as usize].host as usize;
        calls::locate(&mut self.namespace, host, path).ok().map(|located| located.file)
    }

    fn open_file(&self, at: u32, fd: Fd) -> Option<&OpenFile> {
        self.tables[self.processes[at as usize].table as usize].descriptors.get(fd)
    }

    /// Whether an operation goes past the page cache.
    fn is_direct(&self, at: u32, operation: &Operation, file: Option<FileId>) -> bool {
        match operation.fd {
            Some(fd) => self.open_file(at, fd).is_some_and(|open| open.flags.is_direct()),
            None => file.is_some_and(|file| self.processes[at as usize].task.flags(file).is_direct()),
        }
    }

    /// Whether a process waits for an operation all the same.
    fn ends_at_submission(
        &self,
        at: u32,
        operation: &Operation,
        file: Option<FileId>,
        is_direct: bool,
    ) -> bool {
        let Operation { action, by, .. } = operation;
        match (by, action) {
            _ if !action.may_be_asynchronous() => true,
            (AsyncBy::Libaio, Action::Read { .. } | Action::Write { .. }) => !is_direct,
            (AsyncBy::IoUring, &Action::Read { offset, bytes, .. }) if !is_direct => {
                file.is_some_and(|file| {
                    let offset = offset.unwrap_or(0);
                    let bytes = bytes.unwrap_or(self.namespace.size(file).saturating_sub(Bytes(offset)));
                    let host = self.processes[at as usize].host as usize;
                    self.hosts[host].policy.is_cached(file, offset, bytes)
                })
            }
            _ => false,
        }
    }

    /// A number for an operation of a process.
    fn new_kiocb(&mut self, at: u32) -> u32 {
        if let Some(kiocb) = self.kiocbs.free.get_mut(&at).and_then(Vec::pop) {
            return kiocb;
        }
        let Running { ref name, host, .. } = self.processes[at as usize];
        let entry = Running { state: State::Active, ..Running::new(at, name.clone(), host) };
        let kiocb = match self.kiocbs.left.get_mut(&host).and_then(Vec::pop) {
            Some(kiocb) => kiocb,
            None => self.processes.len() as u32,
        };
        match self.processes.get_mut(kiocb as usize) {
            Some(left) => *left = entry,
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

    /// Begins an operation when those before it on its file have ended.
    fn stand_in_line(
        &mut self,
        kiocb: u32,
        line: (u32, FileId),
        operation: Operation,
    ) -> Result<(), SimulationError> {
        let (index, since) = self.place_in_program(kiocb);
        self.kiocbs.states.insert(kiocb, Queued { line, index, since });
        let waiting = self.kiocbs.lines.entry(line).or_default();
        waiting.push_back(kiocb);
        if waiting.len() == 1 {
            return self.begin_operation(kiocb, operation);
        }
        self.processes[kiocb as usize].held = Some(Box::new(operation));
        Ok(())
    }

    /// Begins the operation that has come to the head of its line.
    pub(super) fn begin_queued(&mut self, kiocb: u32) -> Result<(), SimulationError> {
        match self.processes[kiocb as usize].held.take() {
            Some(operation) => self.begin_operation(kiocb, *operation),
            None => Ok(()),
        }
    }

    /// The index of an operation that begins, and its start: now, or when it was submitted.
    pub(super) fn place_in_program(&mut self, at: u32) -> (u32, Nanos) {
        if let Some(&Queued { index, since, .. }) = self.kiocbs.states.get(&at) {
            return (index, since);
        }
        let owner = self.owner(at);
        let process = &mut self.processes[owner as usize];
        process.operations += 1;
        (process.operations - 1, self.now)
    }

    /// An asynchronous operation has ended.
    pub(super) fn end_kiocb(&mut self, kiocb: u32) -> Result<(), SimulationError> {
        let owner = self.owner(kiocb);
        if let Some(Queued { line, .. }) = self.kiocbs.states.remove(&kiocb) {
            let waiting = self.kiocbs.lines.get_mut(&line).expect("it was in its line");
            waiting.pop_front();
            match waiting.front() {
                Some(&next) => self.ready.push_back(next),
                None => drop(self.kiocbs.lines.remove(&line)),
            }
        }
        self.kiocbs.free.entry(owner).or_default().push(kiocb);
        let process = &mut self.processes[owner as usize];
        process.under_way -= 1;
        let drains = |current: &super::running::Current| current.operation.action == Action::Drain;
        if process.current.as_ref().is_some_and(drains) {
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

/// Whether an operation waits for those of its process before it on the same file.
fn follows_others(operation: &Operation, is_direct: bool) -> bool {
    match operation.by {
        AsyncBy::Threads | AsyncBy::Libaio => false,
        AsyncBy::IoUring => matches!(operation.action, Action::Write { .. }) && !is_direct,
        AsyncBy::PosixAio => true,
    }
}
