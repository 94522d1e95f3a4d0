//! Tells random, mixed and sequential requests apart.
//!
//! The classes have the names of Table 4 of the dissertation on ext3 and PVFS, which defines none of them: the definitions are ours. A run
//! is all requests of a process to a file of which each begins where the one before ended. A request of 1 MiB or more is large-block
//! sequential wherever it is, for its positioning hardly counts; all others belong to the class of their run: one request alone is pure
//! random, 2 to 7 are mixed (a random start that becomes sequential), and 8 or more are sequential.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::sizes::floor;
use crate::trace::FileRequest;

/// The names of the classes.
pub const CLASSES: [&str; 4] = ["random", "mixed", "sequential", "large sequential"];

/// A request of so many bytes is large.
pub const LARGE_BYTES: u64 = 1 << 20;

/// The requests of the shortest run that is sequential.
pub const SEQUENTIAL_RUN: u64 = 8;

/// Requests and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub requests: u64,
    pub bytes: u64,
}

impl Counted {
    pub fn add(&mut self, bytes: u64) {
        self.requests += 1;
        self.bytes += bytes;
    }

    pub fn merge(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
    }
}

/// A class, by its place in [`CLASSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Random,
    Mixed,
    Sequential,
    Large,
}

/// With more different sizes than this in a run, further ones are counted as the next power of two below.
const MOST_SIZES: usize = 32;

/// Requests of which each begins where the one before ended.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Where the next one would begin.
    end: u64,
    large: Counted,
    others: Counted,
    /// The reuse distance of its first page, if that is in the sample; 0 if it was not used before.
    pub start: Option<u64>,
    /// Reads and writes by size.
    sizes: SmallVec<[(u64, [u64; 2]); 2]>,
}

impl Run {
    fn add(&mut self, request: &FileRequest) {
        self.end = request.offset.saturating_add(request.bytes);
        match request.bytes >= LARGE_BYTES {
            true => self.large.add(request.bytes),
            false => self.others.add(request.bytes),
        }
        let kind = usize::from(request.is_write);
        let mut bytes = request.bytes;
        if self.sizes.len() >= MOST_SIZES && self.sizes.iter().all(|&(size, _)| size != bytes) {
            bytes = floor(bytes);
        }
        match self.sizes.iter_mut().find(|(size, _)| *size == bytes) {
            Some((_, counts)) => counts[kind] += 1,
            None => {
                let mut counts = [0; 2];
                counts[kind] = 1;
                self.sizes.push((bytes, counts));
            }
        }
    }

    /// Its requests: class, size, and the numbers of reads and of writes.
    pub fn sizes(&self) -> impl Iterator<Item = (Class, u64, [u64; 2])> {
        let [_, (others, _)] = self.classes();
        self.sizes.iter().map(move |&(bytes, counts)| {
            (if bytes >= LARGE_BYTES { Class::Large } else { others }, bytes, counts)
        })
    }

    /// How many requests it has.
    pub fn requests(&self) -> u64 {
        self.large.requests + self.others.requests
    }

    /// The class of all of it: that of most of its requests.
    pub fn class(&self) -> Class {
        let [_, (others, counted)] = self.classes();
        if counted.requests >= self.large.requests { others } else { Class::Large }
    }

    /// What it has of each class.
    pub fn classes(&self) -> [(Class, Counted); 2] {
        let class = match self.requests() {
            0..=1 => Class::Random,
            2..SEQUENTIAL_RUN => Class::Mixed,
            _ => Class::Sequential,
        };
        [(Class::Large, self.large), (class, self.others)]
    }
}

/// The requests of each process to each file.
#[derive(Default)]
pub struct Streams {
    /// The current run, by file and process.
    runs: FxHashMap<(u32, u32), Run>,
    /// Those of the runs that are over, by class.
    pub counted: [Counted; CLASSES.len()],
}

impl Streams {
    /// Adds a request; gives whether it begins a run, and the run that it ends.
    pub fn add(&mut self, request: &FileRequest) -> (bool, Option<Run>) {
        let run = self.runs.entry((request.file, request.process)).or_default();
        let is_first = run.requests() == 0;
        let ended = (!is_first && run.end != request.offset).then(|| std::mem::take(run));
        run.add(request);
        (is_first || ended.is_some(), ended)
    }

    /// The run that a request has just begun.
    pub fn begun(&mut self, request: &FileRequest) -> &mut Run {
        self.runs.get_mut(&(request.file, request.process)).expect("it was added")
    }

    /// Ends all runs.
    pub fn end(&mut self) -> Vec<(u32, u32, Run)> {
        self.runs.drain().map(|((file, process), run)| (file, process, run)).collect()
    }
}
