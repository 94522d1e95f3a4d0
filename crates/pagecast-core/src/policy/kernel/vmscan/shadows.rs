//! Remembers evicted pages with the age of their lists, to judge their refaults.
//!
//! Source: `mm/workingset.c`, Linux 6.16. A list's age grows by each page evicted and each page activated. So the bytes of a run that were
//! evicted one after the other have ages that rise with the offset, and one entry holds all of them. An entry older than all of memory is
//! forgotten: no active list is as long as that. The kernel limits the number of nodes with such entries, to an eighth of the pages, each
//! with up to 64. With generations, which do not ask for the age, eight times the memory is remembered.

use crate::policy::FileId;
use crate::policy::kernel::vmscan::files::ByFile;
use crate::policy::kernel::vmscan::lruvec::LruvecId;
use crate::policy::offsets::Offsets;
use std::collections::VecDeque;

/// A run of a file's bytes that were evicted one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shadow {
    pub start: u64,
    pub end: u64,
    /// The lists from which it was evicted.
    pub lruvec: LruvecId,
    /// The age of those lists when the first byte left; the next byte left one later.
    pub age: u64,
    pub token: Token,
}

/// The state of evicted pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Token {
    /// With two lists: true if they had been active. With generations: true if they had been read often.
    pub workingset: bool,
    /// With generations: the count of further reads, and the oldest generation of then.
    pub refs: u8,
    pub min_seq: u64,
}

impl Shadow {
    fn len(&self) -> u64 {
        self.end - self.start
    }

    /// The part from `at` on.
    fn from(self, at: u64) -> Shadow {
        Shadow { start: at, age: self.age + (at - self.start), ..self }
    }

    /// True if `later` was evicted right after it and lies right behind it.
    fn continues_in(&self, later: &Shadow) -> bool {
        self.end == later.start && self.age + self.len() == later.age && self.lruvec == later.lruvec
    }

    fn left_with(&self, other: &Shadow) -> bool {
        self.lruvec == other.lruvec && (other.age..other.age + other.len()).contains(&self.age)
    }
}

/// The shadows of a file.
#[derive(Default)]
struct Remembered {
    runs: Offsets<Shadow>,
    /// No run is longer.
    longest: u64,
}

impl Remembered {
    fn insert(&mut self, shadow: Shadow) {
        self.longest = self.longest.max(shadow.len());
        self.runs.insert(shadow.start, shadow);
    }

    fn remove(&mut self, start: u64) {
        self.runs.remove(start);
        if self.runs.is_empty() {
            self.longest = 0;
        }
    }

    /// The first run with bytes in a range.
    fn first_in(&self, start: u64, end: u64) -> Option<Shadow> {
        let around = self.runs.around(start);
        let before = match around.before {
            None if around.floor > start.saturating_sub(self.longest) => self.runs.before(around.floor),
            before => before,
        };
        if let Some((_, run)) = before.filter(|(_, run)| run.end > start) {
            return Some(run);
        }
        let behind = match around.behind {
            None if around.ceiling < end => self.runs.from(around.ceiling),
            behind => behind,
        };
        behind.filter(|&(at, _)| at < end).map(|(_, run)| run)
    }
}

/// The shadows of all files.
pub struct Shadows {
    by_file: ByFile<Remembered>,
    /// The evicted runs by lruvec, the oldest first; some of them have come back or gone since.
    evicted: Vec<VecDeque<(FileId, Shadow)>>,
    /// The bytes evicted after a run that make it forgotten.
    most: u64,
}

impl Shadows {
    pub fn new(lruvecs: usize, most: u64) -> Self {
        Shadows { by_file: ByFile::default(), evicted: vec![VecDeque::new(); lruvecs], most }
    }

    /// Remembers a run that has just been evicted.
    pub fn leave(&mut self, file: FileId, gone: Shadow) {
        let known = self.by_file.of(file);
        let evicted = &mut self.evicted[usize::from(gone.lruvec.0)];
        let mut before = None;
        match evicted.back_mut().filter(|(whose, last)| *whose == file && last.continues_in(&gone)) {
            Some((_, last)) => {
                last.end = gone.end;
                before = known.runs.before(gone.start).map(|(_, shadow)| shadow);
            }
            None => evicted.push_back((file, gone)),
        }
        match before.filter(|before| before.continues_in(&gone) && before.token == gone.token) {
            Some(before) => known.insert(Shadow { end: gone.end, ..before }),
            None => known.insert(gone),
        }
        self.forget_before(gone.lruvec, (gone.age + gone.len()).saturating_sub(self.most));
    }

    /// Forgets runs that left when the lists were younger than `age`.
    fn forget_before(&mut self, lruvec: LruvecId, age: u64) {
        let evicted = &mut self.evicted[usize::from(lruvec.0)];
        while let Some(&(file, old)) = evicted.front().filter(|(_, old)| old.age + old.len() <= age) {
            evicted.pop_front();
            let known = self.by_file.of(file);
            let mut at = old.start;
            while let Some((start, shadow)) = known.runs.first_in(at..old.end) {
                at = shadow.end;
                if shadow.left_with(&old) {
                    known.remove(start);
                }
            }
        }
    }

    /// Takes out the first remembered run of `start..end`.
    pub fn take_first(&mut self, file: FileId, start: u64, end: u64) -> Option<Shadow> {
        let known = self.by_file.existing(file).filter(|_| start < end)?;
        let whole = known.first_in(start, end)?;
        known.remove(whole.start);
        if whole.start < start {
            known.insert(Shadow { end: start, ..whole });
        }
        if whole.end > end {
            known.insert(whole.from(end));
        }
        let first = whole.from(whole.start.max(start));
        Some(Shadow { end: first.end.min(end), ..first })
    }

    /// Forgets the runs of `start..end`.
    pub fn forget(&mut self, file: FileId, start: u64, end: u64) {
        while self.take_first(file, start, end).is_some() {}
    }

    /// The number of remembered runs.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.by_file.iter().map(|(_, known)| known.runs.len()).sum()
    }
}
