//! Does operations of a process that are under way while it goes on: each has a thread as long as it takes.
//!
//! Threads are there before the first of them, as far as the depth is known, and take one operation after the other in the order of the
//! program. The process itself looks for those that have ended, between two operations.

use std::num::NonZero;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, Scope};

use pagecast_core::units::Nanos;
use pagecast_core::workload::{Action, OpenFlag, SyncRangeFlags};

use super::descriptors::Handle;
use super::patterns::STACK;
use super::{Done, Halt, Runner, Shared};
use crate::io::{Cause, Direction, Failure, Memory, Offsets, Streams, Sync, Times, Transfer, transfer};
use crate::run::break_off::Which;
use crate::run::plan::{MOST_DEPTH, Step};
use crate::run::row::Used;

/// So many threads are there before they are needed, at most.
const MOST_READY: usize = 64;

/// What is to be done.
#[derive(Clone, Copy)]
enum Work {
    Move(Transfer<'static>),
    Sync(Sync),
    SyncRange { offset: u64, length: u64, flags: SyncRangeFlags },
}

/// An operation that is under way.
struct Job<F> {
    index: usize,
    step: Step,
    handle: Arc<Handle<F>>,
    work: Work,
    zero: Nanos,
}

/// One that has ended.
struct Ended<F> {
    job: Job<F>,
    time: (Nanos, Nanos),
    used: Used,
    outcome: Result<(), Failure>,
}

/// The threads of one process.
pub(super) struct Pool<'scope, 'env, I: Streams> {
    scope: &'scope Scope<'scope, 'env>,
    shared: &'scope Shared<'scope, I>,
    process: usize,
    threads: usize,
    under_way: usize,
    jobs: Sender<Job<I::File>>,
    waiting: Arc<Mutex<Receiver<Job<I::File>>>>,
    done: Sender<Ended<I::File>>,
    ended: Receiver<Ended<I::File>>,
}

impl<'scope, I: Streams> Pool<'scope, '_, I> {
    pub fn new<'env>(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'scope Shared<'scope, I>,
        process: usize,
    ) -> Pool<'scope, 'env, I> {
        let ((jobs, waiting), (done, ended)) = (channel(), channel());
        let waiting = Arc::new(Mutex::new(waiting));
        Pool { scope, shared, process, threads: 0, under_way: 0, jobs, waiting, done, ended }
    }

    /// Starts so many threads, as far as they are known to be needed.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn make_ready(&mut self, threads: usize) -> std::io::Result<()> {
        while self.threads < threads.min(MOST_READY) {
            self.start()?;
        }
        Ok(())
    }

    fn start(&mut self) -> std::io::Result<()> {
        let (shared, process) = (self.shared, self.process);
        let mut memory = Memory::new(shared.plan.processes[process].survey.buffer())?;
        shared.in_use.note(process, Which::Thread, &memory);
        let (waiting, done) = (self.waiting.clone(), self.done.clone());
        let work = move || {
            memory.fill_with_noise();
            loop {
                let next = waiting.lock().expect("nobody panics while he holds the lock").recv();
                let Ok(job) = next else { break };
                if done.send(act_on(shared, job, &mut memory)).is_err() {
                    break;
                }
            }
        };
        Builder::new().stack_size(STACK).spawn_scoped(self.scope, work)?;
        self.threads += 1;
        Ok(())
    }
}

/// True if a process goes on while an operation is under way.
pub(super) fn is_asynchronous(step: &Step) -> bool {
    step.operation.depth.is_some() && step.operation.action.may_be_asynchronous()
}

impl<I: Streams> Runner<'_, I> {
    /// Begins an operation, when fewer than its depth are under way.
    pub(super) fn begin(&mut self, pool: &mut Pool<'_, '_, I>, index: usize, step: Step) -> Result<(), Halt> {
        let depth = step.operation.depth.map_or(1, NonZero::get).min(MOST_DEPTH) as usize;
        while pool.under_way >= depth {
            self.end_one(pool)?;
        }
        let creates = matches!(step.operation.action, Action::Write { .. });
        let handle = self.handle(&step, creates)?;
        let work = match step.operation.action {
            Action::Fsync { .. } => Work::Sync(Sync::File),
            Action::Fdatasync { .. } => Work::Sync(Sync::Data),
            Action::SyncFileRange { offset, bytes, flags, .. } => {
                Work::SyncRange { offset, length: bytes.map_or(0, |bytes| bytes.0), flags }
            }
            _ => Work::Move(self.place(&step, &handle, pool.under_way == 0)?),
        };
        if pool.under_way == pool.threads {
            pool.start().map_err(|error| self.failed(&step, error))?;
        }
        pool.under_way += 1;
        let job = Job { index, step, handle, work, zero: self.zero };
        assert!(pool.jobs.send(job).is_ok(), "the pool has the other end");
        Ok(())
    }

    /// Looks for operations that have ended.
    pub(super) fn end_some(&mut self, pool: &mut Pool<'_, '_, I>) -> Result<(), Halt> {
        while pool.under_way > 0
            && let Ok(ended) = pool.ended.try_recv()
        {
            self.end(pool, ended)?;
        }
        Ok(())
    }

    /// Waits until nothing is under way.
    pub(super) fn end_all(&mut self, pool: &mut Pool<'_, '_, I>) -> Result<(), Halt> {
        while pool.under_way > 0 {
            self.end_one(pool)?;
        }
        Ok(())
    }

    fn end_one(&mut self, pool: &mut Pool<'_, '_, I>) -> Result<(), Halt> {
        let ended = pool.ended.recv().expect("the pool has the other end");
        self.end(pool, ended)
    }

    fn end(&mut self, pool: &mut Pool<'_, '_, I>, ended: Ended<I::File>) -> Result<(), Halt> {
        pool.under_way -= 1;
        let Ended { job: Job { index, step, handle, work, .. }, time, used, outcome } = ended;
        let mut done = Done { flags: handle.flags, ..Done::default() };
        if let Work::Move(what) = work {
            let Offsets::From(offset) = what.offsets else { unreachable!("none has a list") };
            (done.offset, done.bytes) = (offset, what.bytes);
            outcome.map_err(|failure| self.not_moved(&step, &handle, &what, failure))?;
        } else if let Err(failure) = outcome {
            return Err(match failure.cause {
                Cause::Failed(error) => self.failed(&step, error),
                _ => Halt::Stopped,
            });
        }
        self.add(index as u32, &step, &done, time, used);
        (self.shared.looks)(self.at as u32, index as u32, self.now());
        Ok(())
    }

    /// The bytes of a read or write.
    fn place(
        &self,
        step: &Step,
        handle: &Handle<I::File>,
        is_alone: bool,
    ) -> Result<Transfer<'static>, Halt> {
        let (offset, bytes, is_write) = match step.operation.action {
            Action::Read { offset, bytes, .. } => (offset, bytes, false),
            Action::Write { offset, bytes, .. } => (offset, Some(bytes), true),
            _ => unreachable!("it moves bytes"),
        };
        let length = self.length(step, handle)?;
        let is_descriptor = step.operation.fd.is_some();
        let mut state = handle.state();
        // Those that append at the same time have their places already.
        let end = if is_alone { length } else { length.max(state.taken) };
        let at = match offset {
            _ if is_write && handle.flags.has(OpenFlag::Append) => end,
            Some(offset) => offset,
            None if is_descriptor => state.position,
            None if is_write => end,
            None => 0,
        };
        let left = length.saturating_sub(at);
        let bytes = match bytes.map_or(left, |bytes| bytes.0) {
            asked if !is_write && is_descriptor => asked.min(left),
            asked => asked,
        };
        if offset.is_none() && is_descriptor {
            state.position = at + bytes;
        }
        if is_write {
            state.taken = end.max(at + bytes);
        }
        let call = match step.operation.action {
            Action::Read { call, .. } | Action::Write { call, .. } => call,
            _ => None,
        };
        Ok(Transfer {
            direction: if is_write { Direction::Write } else { Direction::Read },
            offsets: Offsets::From(at),
            bytes,
            call: NonZero::new(call.map_or(bytes, |call| call.0)).unwrap_or(NonZero::<u64>::MAX),
            spreads: false,
        })
    }
}

/// Does an operation.
fn act_on<I: Streams>(shared: &Shared<'_, I>, job: Job<I::File>, memory: &mut Memory) -> Ended<I::File> {
    let (io, zero) = (shared.io, job.zero);
    let file = &job.handle.file;
    memory.set_dontcache(job.handle.flags.has(OpenFlag::DontCache));
    memory.set_longest(usize::MAX);
    let failed = |cause| Failure { moved: 0, offset: 0, cause };
    let before = Used::now(io);
    let start = io.now().saturating_sub(zero);
    let outcome = match job.work {
        _ if shared.gate.is_stopped() => Err(failed(Cause::Stopped)),
        Work::Move(what) => transfer(io, file, &what, memory, &mut Times::of_whole(), &shared.gate.stop),
        Work::Sync(what) => io.sync(file, what).map_err(|error| failed(Cause::Failed(error))),
        Work::SyncRange { offset, length, flags } => {
            io.sync_range(file, offset, length, flags).map_err(|error| failed(Cause::Failed(error)))
        }
    };
    let end = io.now().saturating_sub(zero);
    let used = Used::now(io).since(before);
    Ended { job, time: (start, end), used, outcome }
}
