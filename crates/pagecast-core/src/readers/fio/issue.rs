//! Chooses what a thread does next: the direction, the file and the request, or a sync (fio's `get_io_u`).

use std::sync::Arc;

use super::choose::{Chooser, FileState};
use super::job::{Job, READ, Service, WRITE};
use super::plan::Thread;
use super::random::{Random, Use, seed};

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bytes are read or written.
    Request {
        /// READ or WRITE.
        direction: usize,
        /// First byte.
        offset: u64,
        /// Their number.
        bytes: u64,
        /// The file has begun again: its pages leave the cache.
        is_restart: bool,
    },
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2).
    SyncRange,
}

/// What the rates of a job say about a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Go on, in this direction.
    Go(usize),
    /// The time of the job is up before that.
    End,
}

/// The choices of a thread so far.
#[derive(Clone, Debug)]
pub struct Issuer {
    job: Arc<Job>,
    thread: u64,
    /// Its files.
    pub files: Vec<FileState>,
    /// Requests of each direction.
    pub issues: [u64; 2],
    chooser: Chooser,
    mix: Random,
    any_file: Random,
    mix_direction: usize,
    mix_until: u64,
    was_sync: bool,
    next_file: usize,
    current: Option<usize>,
    stays: u32,
}

impl Issuer {
    /// Before the first request.
    pub fn new(plan: &Thread) -> Self {
        let (job, thread) = (Arc::clone(&plan.job), plan.number);
        Self {
            files: plan.files.iter().map(|used| FileState::new(used.clone(), &job, thread)).collect(),
            issues: [0; 2],
            chooser: Chooser::new(&job, thread),
            mix: Random::small(seed(&job, thread, Use::Mix)),
            any_file: Random::new(seed(&job, thread, Use::Files), job.draws_64_bits()),
            mix_direction: READ,
            mix_until: 0,
            was_sync: false,
            next_file: 0,
            current: None,
            stays: 0,
            thread,
            job,
        }
    }

    /// Begins a loop (`clear_io_state`): all files are closed, and their use begins again.
    pub fn begin_loop(&mut self) {
        self.chooser.begin_loop();
        if self.job.rand_repeat && self.job.rand_seed.is_none() {
            self.mix = Random::small(seed(&self.job, self.thread, Use::Mix));
            self.any_file = Random::new(seed(&self.job, self.thread, Use::Files), self.job.draws_64_bits());
        }
        (self.was_sync, self.mix_until, self.current) = (false, 0, None);
        for file in &mut self.files {
            file.rewind();
            (file.is_open, file.is_done) = (false, false);
        }
    }

    /// True if no file has more to use.
    pub fn is_done(&self) -> bool {
        self.files.iter().all(|file| file.is_done)
    }

    /// True if the files may have to be synced (`should_fsync`).
    pub fn may_sync(&self) -> bool {
        self.job.rw.writes && !self.was_sync
    }

    /// What is next, and with which file; `None` when no file has more, or the time is up.
    pub fn next(&mut self, pace: &mut dyn FnMut(usize) -> Pace) -> Option<(usize, Step)> {
        loop {
            let at = self.choose_file()?;
            // A file is reset when it is opened (`td_io_open_file`); the caller opens it.
            if !self.files[at].is_open {
                self.files[at].reset(&self.job, self.thread);
            }
            if let Some(sync) = self.due_sync() {
                self.was_sync = true;
                return Some((at, sync));
            }
            let wanted = self.direction();
            let Pace::Go(direction) = pace(wanted) else { return None };
            self.mix_direction = direction;
            if let Some(((offset, bytes), is_restart)) = self.chooser.next(&mut self.files[at], direction) {
                self.was_sync = false;
                self.issues[direction] += 1;
                if direction == WRITE {
                    let range = self.files[at].written.get_or_insert((offset, offset));
                    *range = (range.0.min(offset), range.1.max(offset + bytes));
                }
                return Some((at, Step::Request { direction, offset, bytes, is_restart }));
            }
            self.files[at].is_done = true;
        }
    }

    fn choose_file(&mut self) -> Option<usize> {
        if self.is_done() {
            return None;
        }
        if let Some(at) = self.current.filter(|&at| !self.files[at].is_done) {
            if self.job.service.0 == Service::Sequential {
                return Some(at);
            }
            if self.stays > 0 {
                self.stays -= 1;
                return Some(at);
            }
        }
        let count = self.files.len();
        let at = loop {
            let at = if self.job.service.0 == Service::Random {
                self.any_file.below(count as u64) as usize
            } else {
                let at = self.next_file;
                self.next_file = (at + 1) % count;
                at
            };
            if !self.files[at].is_done {
                break at;
            }
        };
        (self.current, self.stays) = (Some(at), self.job.service.1.saturating_sub(1));
        Some(at)
    }

    /// The sync that is due before the next request, if one is.
    fn due_sync(&self) -> Option<Step> {
        let writes = self.issues[WRITE];
        if writes == 0 || !self.may_sync() {
            return None;
        }
        let is_due = |every: u32| every > 0 && writes.is_multiple_of(u64::from(every));
        let every_range = self.job.sync_range.map_or(0, |(_, every)| every);
        [(self.job.fsync, Step::Fsync), (self.job.fdatasync, Step::Fdatasync), (every_range, Step::SyncRange)]
            .into_iter()
            .find_map(|(every, step)| is_due(every).then_some(step))
    }

    /// The direction of the next request, but for rates (`get_rw_ddir`).
    fn direction(&mut self) -> usize {
        if !(self.job.rw.reads && self.job.rw.writes) {
            return if self.job.rw.writes { WRITE } else { READ };
        }
        if self.issues[self.mix_direction] >= self.mix_until {
            let reads = u64::from(self.job.percent_reads);
            let direction = if self.mix.between(1, 100) <= reads { READ } else { WRITE };
            if direction != self.mix_direction {
                let other = if self.mix_direction == READ { 100 - reads } else { reads };
                self.mix_until = self.issues[self.mix_direction] * other / 100;
            }
            self.mix_direction = direction;
        }
        self.mix_direction
    }
}
