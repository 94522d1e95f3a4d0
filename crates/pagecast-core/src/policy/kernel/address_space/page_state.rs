//! States whether a page can be freed: clean, dirty or under writeback.

use crate::policy::FileId;

/// The states of a page that decide whether it can be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    /// It can be freed at once.
    Clean,
    /// It can be freed when it has been written; nobody writes it yet.
    Dirty,
    /// It can be freed when its write-back has ended.
    Writeback,
}

/// Tells reclaim which pages are dirty.
pub trait Busy {
    /// Returns the state of the page at `at`, and the end of the run of pages in the same state, `end` at most.
    fn run(&self, file: FileId, at: u64, end: u64) -> (PageState, u64);
}
