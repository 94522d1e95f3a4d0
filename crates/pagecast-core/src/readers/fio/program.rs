//! Runs one thread of a job: gives its operations one by one, as fio's `thread_main` and `do_io` make them.

mod calls;
mod others;

use std::collections::VecDeque;
use std::sync::Arc;

use super::backlog::Backlog;
use super::issue::{Issuer, Pace, Step};
use super::job::{Job, Preallocation, READ, WRITE};
use super::plan::Thread;
use super::rate::Rate;
use super::target::Search;
use super::together::{Threads, Together};
use super::values::Amount;
use crate::units::{Bytes, Nanos};
use crate::workload::{
    Action, AllocateMode, Beside, Buffer, OpenFlags, Operation, Program, ProgramError, ProgramSource,
};

/// Makes the program of a thread.
pub struct ThreadSource {
    /// The thread.
    pub thread: Arc<Thread>,
    /// All of its job file.
    pub all: Arc<Threads>,
}

impl ProgramSource for ThreadSource {
    fn start(&self) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(Running::new(Arc::clone(&self.thread), None)))
    }

    fn start_beside(&self, others: &Beside) -> Result<Box<dyn Program>, ProgramError> {
        let minds = self.all.are_minded_by(&self.thread);
        let key = Arc::as_ptr(&self.all) as usize;
        let together = minds.then(|| others.of(key, || Together::new(&self.all)));
        Ok(Box::new(Running::new(Arc::clone(&self.thread), together)))
    }
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Before its first loop.
    SetUp,
    /// Between two loops.
    Between,
    /// In a loop.
    Issue,
    /// Behind the last request of a loop.
    Finish,
    /// Reads back what it has written.
    Verify,
    /// Done.
    Ended,
}

struct Running {
    thread: Arc<Thread>,
    stage: Stage,
    queue: VecDeque<Operation>,
    issuer: Issuer,
    /// The choices at the start of the loop, from which verification knows what was written.
    at_loop: Option<Box<Issuer>>,
    writes_in_loop: u64,
    /// When the time of the job began.
    epoch: Nanos,
    is_ramp_over: bool,
    is_terminated: bool,
    loops_left: u32,
    /// Bytes of each direction: of all requests, and since the ramp.
    issued: [u64; 2],
    counted: [u64; 2],
    issued_in_loop: u64,
    rate: Rate,
    /// Requests since the start, at the last thinktime, and its time.
    blocks: u64,
    thought_at: u64,
    thought: Nanos,
    has_to_think: Option<usize>,
    in_batch: u32,
    backlog: Backlog,
    /// What it knows of other threads, if it minds them.
    together: Option<Arc<Together>>,
    /// It waits for another thread of its flow.
    is_held: bool,
    /// A request that is made when the rate lets it, if nobody ends the thread before.
    later: Option<(usize, Step)>,
    search: Option<Search>,
}

impl Program for Running {
    fn next(&mut self, now: Nanos) -> Result<Option<Operation>, ProgramError> {
        self.is_held = false;
        loop {
            if let Some(operation) = self.queue.pop_front() {
                if matches!(operation.action, Action::Sleep { .. }) && self.is_called_off() {
                    continue;
                }
                return Ok(Some(operation));
            }
            if self.is_held {
                return Ok(None);
            }
            match self.stage {
                Stage::SetUp => self.set_up(),
                Stage::Between => self.begin_loop(now),
                Stage::Issue => self.issue(now),
                Stage::Finish => self.finish(),
                Stage::Verify => self.verify(now),
                Stage::Ended => {
                    self.leave();
                    return Ok(None);
                }
            }
        }
    }

    fn own_time(&self) -> Nanos {
        self.thread.overhead
    }

    fn is_held(&self) -> bool {
        self.is_held
    }

    fn watches(&self) -> bool {
        self.watches_requests()
    }

    fn ended(&mut self, action: &Action, bytes: Bytes, began: Nanos, now: Nanos) {
        self.note_end(action, bytes, began, now);
    }
}

impl Running {
    fn new(thread: Arc<Thread>, together: Option<Arc<Together>>) -> Self {
        let job = &thread.job;
        let has_target = job.target.latency > Nanos::ZERO;
        Self {
            search: has_target.then(|| Search::new(job.target, job.queue_depth())),
            together,
            is_held: false,
            later: None,
            issuer: Issuer::new(&thread),
            at_loop: None,
            rate: Rate::new(&thread.job, thread.number),
            stage: Stage::SetUp,
            queue: VecDeque::new(),
            writes_in_loop: 0,
            epoch: Nanos(u64::MAX),
            is_ramp_over: thread.job.ramp == Nanos::ZERO,
            is_terminated: false,
            loops_left: thread.job.loops,
            issued: [0; 2],
            counted: [0; 2],
            issued_in_loop: 0,
            blocks: 0,
            thought_at: 0,
            thought: Nanos::ZERO,
            has_to_think: None,
            in_batch: 0,
            backlog: Backlog::default(),
            thread,
        }
    }

    fn job(&self) -> Arc<Job> {
        Arc::clone(&self.thread.job)
    }

    /// Files are allocated, and read before if they are to be.
    fn set_up(&mut self) {
        let job = self.job();
        if self.is_called_off() {
            self.stage = Stage::Ended;
            return;
        }
        for (at, file) in self.thread.clone().files.iter().enumerate() {
            let path = || Arc::clone(&file.path);
            if let Some(kind) = file.allocates {
                self.put_on(
                    at,
                    Action::Open { path: path(), create: true, truncate: false, flags: OpenFlags::default() },
                );
                let bytes = Bytes(file.size);
                self.put_on(
                    at,
                    match kind {
                        Preallocation::Truncate => Action::Truncate { path: path(), size: bytes },
                        kind => {
                            let keeps = kind == Preallocation::KeepSize;
                            let mode = if keeps { AllocateMode::KeepSize } else { AllocateMode::Extend };
                            Action::Fallocate { path: path(), mode, offset: 0, bytes }
                        }
                    },
                );
                self.put_on(at, Action::Close { path: path() });
            }
            if job.pre_read && file.allocates.is_none() {
                self.put_on(
                    at,
                    Action::Open {
                        path: path(),
                        create: false,
                        truncate: false,
                        flags: OpenFlags::default(),
                    },
                );
                self.put_on(
                    at,
                    Action::Read {
                        path: path(),
                        offset: Some(file.start),
                        bytes: Some(Bytes(file.bytes)),
                        call: Some(Bytes(job.most(READ))),
                        vector: 1,
                        buffer: Buffer::Reused,
                    },
                );
                self.put_on(at, Action::Close { path: path() });
            }
        }
        self.stage = if job.create_only { Stage::Ended } else { Stage::Between };
    }

    fn begin_loop(&mut self, now: Nanos) {
        let is_first = self.epoch == Nanos(u64::MAX);
        if is_first {
            (self.epoch, self.thought) = (now, now);
            self.begin_time(now);
        }
        if !self.keeps_running() {
            self.close_all();
            if self.job().unlink {
                (0..self.thread.files.len()).for_each(|at| self.put(Action::Unlink { path: self.path(at) }));
            }
            self.stage = Stage::Ended;
            return;
        }
        if !is_first {
            self.close_all();
            self.issuer.begin_loop();
            if self.job().unlink_each_loop {
                (0..self.thread.files.len()).for_each(|at| self.put(Action::Unlink { path: self.path(at) }));
            }
        }
        let job = self.job();
        if job.verify && job.do_verify && job.rw.writes && job.verify_backlog == 0 {
            self.at_loop = Some(Box::new(self.issuer.clone()));
        }
        (self.issued_in_loop, self.writes_in_loop, self.has_to_think) = (0, 0, None);
        self.stage = Stage::Issue;
    }

    /// Whether another loop follows (`keep_running`).
    fn keeps_running(&mut self) -> bool {
        let job = self.job();
        if self.is_terminated || self.is_called_off() {
            return false;
        }
        if job.time_based {
            return true;
        }
        if self.loops_left > 0 {
            self.loops_left -= 1;
            return true;
        }
        let (limit, done) = (self.limit(), self.counted[READ] + self.counted[WRITE]);
        let has_more = done < limit && limit - done >= job.most(READ).max(job.most(WRITE));
        let has_io_size = matches!(job.io_size, Some(Amount::Bytes(1..)));
        !self.has_all_requests() && has_more && (has_io_size || !self.issuer.is_done())
    }

    /// Bytes of one loop, or `io_size`.
    fn limit(&self) -> u64 {
        match self.thread.job.io_size {
            Some(Amount::Bytes(bytes)) if bytes > 0 => bytes,
            _ => self.thread.size,
        }
    }

    /// `number_ios` have been made.
    fn has_all_requests(&self) -> bool {
        let job = &self.thread.job;
        let most = job.number_ios.saturating_mul(u64::from(job.loops.max(1)));
        most > 0 && self.issuer.issues[READ] + self.issuer.issues[WRITE] >= most
    }

    fn has_moved_all(&self) -> bool {
        let limit = self.limit().saturating_mul(u64::from(self.thread.job.loops.max(1)));
        self.issued[READ] + self.issued[WRITE] >= limit || self.has_all_requests()
    }

    /// The time since the job began.
    fn elapsed(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.epoch)
    }

    fn is_time_up(&self, now: Nanos) -> bool {
        let runtime = self.thread.job.runtime;
        self.is_ramp_over && runtime > Nanos::ZERO && self.elapsed(now) >= runtime
    }

    fn end_ramp(&mut self, now: Nanos) {
        if !self.is_ramp_over && self.elapsed(now) >= self.thread.job.ramp {
            self.is_ramp_over = true;
            self.epoch = now;
            self.rate.reset();
            self.counted = [0; 2];
            self.issuer.issues = [0; 2];
        }
    }

    /// The next request of a loop (`do_io`).
    fn issue(&mut self, now: Nanos) {
        self.end_ramp(now);
        if let Some(direction) = self.has_to_think.take()
            && self.think(direction, now)
        {
            return;
        }
        if self.is_called_off() {
            self.is_terminated = true;
            self.stage = Stage::Finish;
            return;
        }
        let job = self.job();
        let is_random_write = job.rw.writes && job.rw.is_random && job.no_random_map;
        let most_in_loop =
            if is_random_write { self.thread.size.max(self.limit()) } else { self.thread.size };
        if self.is_time_up(now) {
            self.is_terminated = true;
            self.stage = Stage::Finish;
            return;
        }
        if let Some((file, step)) = self.later.take() {
            self.make(file, step, None);
            return;
        }
        if self.look_at_latencies(now) || self.waits_for_flow() {
            return;
        }
        // fio counts only requests that were queued: a synchronous engine goes on until its files have no more.
        let has_looped = !job.engine.is_synchronous() && self.issued_in_loop >= most_in_loop;
        if !job.time_based && (self.has_moved_all() || has_looped) {
            self.stage = Stage::Finish;
            return;
        }
        if let Some((file, offset, bytes)) = self.backlog.next(&job) {
            self.request(file, READ, (offset, bytes), None);
            return;
        }
        let elapsed = self.elapsed(now);
        let end = if job.runtime > Nanos::ZERO { job.runtime } else { Nanos(u64::MAX) };
        let (mut due, mut is_late) = (Nanos::ZERO, false);
        let rate = &self.rate;
        let step = self.issuer.next(&mut |wanted| {
            let (direction, at) = rate.due(&job, wanted, elapsed);
            due = at;
            is_late = at > elapsed && at > end;
            if is_late { Pace::End } else { Pace::Go(direction) }
        });
        if is_late {
            // fio sleeps to the end of its time.
            self.drain();
            self.sleep(end - elapsed);
            self.is_terminated = true;
            self.stage = Stage::Finish;
            return;
        }
        let Some((file, step)) = step else {
            self.stage = Stage::Finish;
            return;
        };
        self.open(file);
        if due > elapsed && self.notices_others_in(due - elapsed) {
            self.drain();
            self.sleep(due - elapsed);
            self.later = Some((file, step));
            return;
        }
        let not_before = (due > elapsed).then(|| Nanos(self.epoch.0.saturating_add(due.0)));
        self.make(file, step, not_before);
    }

    /// Makes a request or a sync of an open file.
    fn make(&mut self, file: usize, step: Step, not_before: Option<Nanos>) {
        let Step::Request { direction, offset, bytes, is_restart } = step else {
            self.sync(file, step);
            return;
        };
        let job = self.job();
        if not_before.is_some() {
            self.drain();
        }
        if is_restart && job.invalidate && !job.direct {
            self.invalidate(file);
        }
        self.request(file, direction, (offset, bytes), not_before);
        self.backlog.was_read = direction == READ;
        if job.verify && job.verify_backlog > 0 && direction == WRITE {
            self.backlog.blocks.push_back((file, offset, bytes));
        }
        self.note(direction, bytes);
    }

    /// Counts a request.
    fn note(&mut self, direction: usize, bytes: u64) {
        let job = self.job();
        self.issued[direction] += bytes;
        self.counted[direction] += bytes;
        self.issued_in_loop += bytes;
        self.writes_in_loop += u64::from(direction == WRITE);
        self.blocks += 1;
        self.rate.note(&job, direction, bytes);
        if job.think.time > Nanos::ZERO {
            self.has_to_think = Some(direction);
        }
        self.in_batch += 1;
        let empties = job.queue_depth() > 1
            && ((job.depth_low > 0 && job.depth_low < job.depth) || job.complete_min >= job.depth);
        if empties && self.in_batch >= job.depth {
            self.in_batch = 0;
            self.drain();
        }
    }

    /// `thinktime`; true if the thread thinks.
    fn think(&mut self, direction: usize, now: Nanos) -> bool {
        let job = self.job();
        let think = job.think;
        let every = Nanos(think.every.0.saturating_add(think.time.0));
        let by_time = think.every > Nanos::ZERO && now.saturating_sub(self.thought) >= every;
        let by_blocks = (think.every == Nanos::ZERO || think.blocks.is_some())
            && self.blocks >= self.thought_at + u64::from(think.blocks.unwrap_or(1));
        if !by_time && !by_blocks {
            return false;
        }
        self.drain();
        if think.spin > Nanos::ZERO {
            self.put(Action::Compute { time: think.spin });
        }
        if think.time > think.spin {
            self.sleep(think.time - think.spin);
        }
        let rate = self.rate.bytes_per_s[direction];
        if rate > 0 && job.rate_ignores_think {
            // What would have been moved meanwhile, less one block.
            let micros = think.time.0 / 1000;
            let missed = (u128::from(rate) * u128::from(micros) / 1_000_000) as u64;
            let least = job.least(direction);
            let over = if least.saturating_mul(1_000_000) / rate <= micros { least } else { 0 };
            self.rate.issued[direction] += missed.saturating_sub(over);
            self.rate.drawn[direction] += micros;
        }
        (self.thought_at, self.thought) = (self.blocks, now);
        true
    }

    /// Behind the last request of a loop.
    fn finish(&mut self) {
        let job = self.job();
        self.drain();
        if self.issuer.may_sync() && (job.end_fsync || job.fsync_on_close) {
            for at in 0..self.thread.files.len() {
                if self.issuer.files[at].is_open {
                    self.sync(at, Step::Fsync);
                    self.drain();
                }
            }
        }
        self.is_terminated |= self.issued_in_loop == 0;
        if job.do_verify && !self.is_terminated && !self.backlog.blocks.is_empty() {
            // The rest of the backlog is read back from files that are opened anew.
            self.close_all();
            while let Some((file, offset, bytes)) = self.backlog.blocks.pop_front() {
                self.open(file);
                self.request(file, READ, (offset, bytes), None);
            }
            self.backlog.due = 0;
            self.drain();
        }
        self.stage = match self.at_loop.take() {
            Some(mut issuer) if !self.is_terminated => {
                self.close_all();
                self.issuer.begin_loop();
                issuer.files.iter_mut().for_each(|file| file.is_open = false);
                self.at_loop = Some(issuer);
                Stage::Verify
            }
            _ => Stage::Between,
        };
    }

    /// Reads back one block, in the order of writes.
    fn verify(&mut self, now: Nanos) {
        if self.writes_in_loop == 0 || self.is_time_up(now) {
            self.is_terminated |= self.is_time_up(now);
            self.at_loop = None;
            self.drain();
            self.stage = Stage::Between;
            return;
        }
        if self.is_called_off() {
            self.writes_in_loop = 0;
            return;
        }
        if self.waits_for_flow() {
            return;
        }
        let issuer = self.at_loop.as_mut().expect("the loop began with it");
        let step = issuer.next(&mut Pace::Go);
        match step {
            Some((file, Step::Request { direction, offset, bytes, .. })) => {
                // The copy resets a file that is not open, as the job itself did.
                issuer.files[file].is_open = true;
                if direction == WRITE {
                    self.writes_in_loop -= 1;
                    self.open(file);
                    self.request(file, READ, (offset, bytes), None);
                }
            }
            Some((file, _)) => issuer.files[file].is_open = true,
            None => self.writes_in_loop = 0,
        }
    }
}
