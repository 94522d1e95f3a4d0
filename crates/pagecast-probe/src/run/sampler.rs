//! Looks at the machine many times a second in a thread of its own, while the processes run.
//!
//! It disturbs them little and by a known amount. Everything is open and has its place before time 0, and files are looked at so seldom
//! that this costs no more than a fiftieth of one processor (`cachestat` goes through all pages of a file). Its own processor time is part
//! of the result.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pagecast_core::units::{Bytes, Nanos};
use rustix::fs::OFlags;

use super::counters::Counters;
use super::files::Files;
use super::names::NamedFile;
use super::views::Views;
use crate::io::{Folder, Io};
use crate::residency::page_size;
use crate::syscall::cachestat;

/// Room for so many seconds; what is more takes memory while the run goes on.
const ROOM_S: usize = 1800;
/// And for so many looks at files.
const FILE_ROOM: usize = 100_000;
/// So many files are looked at; of more, the first. Those that nobody names before the run are not.
pub(super) const MOST_FILES: usize = 1000;
/// A look at the files is paid for by so many times as long without one.
const PATIENCE: u64 = 50;
/// The longest delay until it notices the end.
const NAP: Nanos = Nanos(50_000_000);

/// The cached part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSample {
    /// The time.
    pub time: Nanos,
    /// The file, as in the plan.
    pub file: u32,
    /// In memory.
    pub cached: Bytes,
    /// Not yet written.
    pub dirty: Bytes,
    /// On its way.
    pub writeback: Bytes,
}

/// The samples.
#[derive(Debug, Default)]
pub struct Samples {
    /// The names of the counters, with their units.
    pub names: Vec<&'static str>,
    /// The time of each sample.
    pub time: Vec<Nanos>,
    /// The counters, sample by sample.
    pub values: Vec<u64>,
    /// Files, when they were looked at.
    pub files: Vec<FileSample>,
    /// Its processor time.
    pub processor_time: Nanos,
}

impl Samples {
    /// One counter over time; nothing if this machine does not have it.
    pub fn column(&self, name: &str) -> Option<impl Iterator<Item = u64> + '_> {
        let at = self.names.iter().position(|&one| one == name)?;
        Some(self.values.iter().skip(at).step_by(self.names.len()).copied())
    }
}

/// See the module.
pub(super) struct Sampler<'a> {
    views: &'a Views,
    folder: &'a Folder,
    /// Those that are looked at.
    named: Vec<Arc<NamedFile>>,
    files: &'a Files<OwnedFd>,
    counters: Counters,
    period: Nanos,
    sees_files: bool,
    next_look: Nanos,
    samples: Samples,
}

impl<'a> Sampler<'a> {
    /// Opens everything. Without `cachestat` files are not looked at.
    pub fn new(
        views: &'a Views,
        mut named: Vec<Arc<NamedFile>>,
        files: &'a Files<OwnedFd>,
        hz: u32,
        sees_files: bool,
    ) -> Self {
        named.truncate(MOST_FILES);
        let folder = views.folder(0);
        let counters = Counters::open(folder);
        let room = ROOM_S * hz as usize;
        let samples = Samples {
            names: counters.names.clone(),
            time: Vec::with_capacity(room),
            values: Vec::with_capacity(room * counters.names.len()),
            files: Vec::with_capacity(FILE_ROOM),
            processor_time: Nanos::ZERO,
        };
        let period = Nanos(1_000_000_000 / u64::from(hz));
        Self { views, folder, named, files, counters, period, sees_files, next_look: Nanos::ZERO, samples }
    }

    /// Looks from `zero` on until `is_over`, and once more then.
    pub fn run(mut self, zero: Nanos, is_over: &AtomicBool) -> Samples {
        let begun = self.folder.processor_time();
        let mut next = zero;
        while self.sleep_until(next, is_over) {
            self.sample(zero);
            // If it comes too late, moments are left out.
            let late = self.folder.now().saturating_sub(next).0 / self.period.0;
            next += Nanos((late + 1) * self.period.0);
        }
        self.next_look = Nanos::ZERO;
        self.sample(zero);
        self.samples.processor_time = self.folder.processor_time().saturating_sub(begun);
        self.samples
    }

    /// False if all is over.
    fn sleep_until(&self, time: Nanos, is_over: &AtomicBool) -> bool {
        loop {
            let now = self.folder.now();
            if is_over.load(Ordering::Acquire) {
                return false;
            }
            if now >= time {
                return true;
            }
            self.folder.sleep_until(time.min(now + NAP));
        }
    }

    fn sample(&mut self, zero: Nanos) {
        let from = self.samples.values.len();
        self.samples.values.resize(from + self.samples.names.len(), 0);
        self.counters.read(&mut self.samples.values[from..]);
        let now = self.folder.now();
        self.samples.time.push(now.saturating_sub(zero));
        if self.sees_files && now >= self.next_look {
            self.look_at_files(now.saturating_sub(zero));
            let cost = self.folder.now() - now;
            self.next_look = now + Nanos(PATIENCE * cost.0);
        }
    }

    fn look_at_files(&mut self, time: Nanos) {
        for file in &self.named {
            let mut held = self.files.hold(file.number as usize);
            if held.is_none() {
                let folder = self.views.folder(file.host);
                *held = folder.beneath(&file.within, OFlags::RDONLY | OFlags::NONBLOCK).ok();
            }
            let Some(Ok(counts)) = held.as_ref().map(|open| cachestat(open.as_fd(), 0, 0)) else { continue };
            let bytes = |pages| Bytes(pages * page_size());
            self.samples.files.push(FileSample {
                time,
                file: file.number,
                cached: bytes(counts.nr_cache),
                dirty: bytes(counts.nr_dirty),
                writeback: bytes(counts.nr_writeback),
            });
        }
    }
}
