//! Whether pages can be freed: clean, dirty or under writeback.

use crate::policy::FileId;

/// Whether pages can be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    /// At once.
    Clean,
    /// When they have been written, and nobody writes them yet.
    Dirty,
    /// When their write-back has ended.
    Writeback,
}

/// Knows which pages are dirty.
pub trait Busy {
    /// The state at `at` of a file, and up to where it is the same, `end` at most.
    fn run(&self, file: FileId, at: u64, end: u64) -> (PageState, u64);
}
