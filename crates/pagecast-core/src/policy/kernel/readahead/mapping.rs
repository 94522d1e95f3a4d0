//! Records the mapped pages of a mapping that stays.
//!
//! Source: `mm/memory.c`, Linux 6.16: the page table of a mapping.

use crate::policy::ranges::Ranges;

/// A mapping that stays.
#[derive(Default)]
pub struct Mapping {
    pub number: u32,
    /// Pages mapped for reading, and those mapped for writing among them. Pages that leave, or are written back, stay in both. A task
    /// that touches them finds them missing, or clean, and has a fault.
    pub mapped: Ranges,
    pub writable: Ranges,
}

impl Mapping {
    /// True if the bytes from `start` on are mapped, for writing or only for reading; and the end of that run, `end` at most.
    pub fn find(&self, start: u64, end: u64, is_write: bool) -> (bool, u64) {
        let ranges = if is_write { &self.writable } else { &self.mapped };
        match ranges.first(start, end) {
            Some((from, to)) if from == start => (true, to),
            Some((from, _)) => (false, from),
            None => (false, end),
        }
    }

    /// Maps bytes. Pages mapped for writing can be read.
    pub fn insert(&mut self, start: u64, end: u64, is_write: bool) {
        self.mapped.insert(start, end);
        if is_write {
            self.writable.insert(start, end);
        }
    }
}
