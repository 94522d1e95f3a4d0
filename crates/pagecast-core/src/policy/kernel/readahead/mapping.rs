//! A mapping of a file that stays: which of its pages are mapped.

use crate::policy::ranges::Ranges;

/// A mapping that stays.
#[derive(Default)]
pub struct Mapping {
    pub number: u32,
    /// What is mapped to be read, and of it to be written. Pages that leave, or are written back, are not taken out: whoever touches
    /// them finds them missing, or clean, and has a fault.
    pub mapped: Ranges,
    pub writable: Ranges,
}

impl Mapping {
    /// Whether bytes from `start` on are mapped, to be written or only read, and up to where, at most up to `end`, that is so.
    pub fn find(&self, start: u64, end: u64, is_write: bool) -> (bool, u64) {
        let ranges = if is_write { &self.writable } else { &self.mapped };
        match ranges.first(start, end) {
            Some((from, to)) if from == start => (true, to),
            Some((from, _)) => (false, from),
            None => (false, end),
        }
    }

    /// Bytes are mapped now. What may be written may be read.
    pub fn insert(&mut self, start: u64, end: u64, is_write: bool) {
        self.mapped.insert(start, end);
        if is_write {
            self.writable.insert(start, end);
        }
    }
}
