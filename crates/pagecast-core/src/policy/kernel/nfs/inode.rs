//! Keeps the pages of a file that a server has and its disk perhaps not, and who waits for them.
//!
//! Source: `fs/nfs/write.c: nfs_writepages, nfs_io_completion_commit, nfs_commit_inode, wait_on_commit`, Linux 6.16. A pass of a flusher over a file ends with one
//! COMMIT, sent when all its WRITEs have been answered; it commits whatever of the file has been written until then. Before 4.13 a flusher commits when more than
//! half of the file's pages that are dirty, under writeback or unstable are unstable (`nfs_commit_unstable_pages`, later `nfs_write_inode`).

use std::collections::VecDeque;

use crate::policy::OperationId;
use crate::policy::kernel::tasks::ids::WbId;

/// Pages that a server has in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub wb: WbId,
    pub start: u64,
    pub end: u64,
}

/// A pass over the pages of a file.
#[derive(Debug, Default)]
struct Pass {
    /// How many of its WRITEs have no reply.
    left: u32,
    /// True if it sends no more.
    has_ended: bool,
}

/// A file; see the module.
#[derive(Debug, Default)]
pub struct Inode {
    passes: VecDeque<Pass>,
    /// The number of the first of these.
    first: u64,
    unstable: Vec<Written>,
    /// How many COMMITs have no reply.
    commits: u32,
    waiters: Vec<OperationId>,
    /// The change attribute of the file when it was opened last.
    pub change: u64,
}

impl Inode {
    /// True if no WRITE is on its way and nothing is to be committed.
    pub fn is_clean(&self) -> bool {
        self.passes.is_empty() && self.unstable.is_empty() && self.commits == 0
    }

    /// Sends a WRITE of the pass that goes on. Returns the number of the pass.
    pub fn send(&mut self) -> u64 {
        if self.passes.back().is_none_or(|pass| pass.has_ended) {
            self.passes.push_back(Pass::default());
        }
        self.passes.back_mut().expect("there is one").left += 1;
        self.first + self.passes.len() as u64 - 1
    }

    /// Ends the pass that goes on; true if all of it has been written.
    pub fn end_pass(&mut self) -> bool {
        let Some(pass) = self.passes.back_mut().filter(|pass| !pass.has_ended) else { return false };
        pass.has_ended = true;
        let is_over = pass.left == 0;
        self.forget_passes();
        is_over
    }

    /// A WRITE of a pass has been answered, after which pages may be unstable; true if that was the last one of the pass.
    pub fn written(&mut self, pass: u64, pages: Option<Written>) -> bool {
        self.unstable.extend(pages);
        let pass = &mut self.passes[(pass - self.first) as usize];
        pass.left -= 1;
        let is_over = pass.has_ended && pass.left == 0;
        self.forget_passes();
        is_over
    }

    fn forget_passes(&mut self) {
        while self.passes.front().is_some_and(|pass| pass.has_ended && pass.left == 0) {
            self.passes.pop_front();
            self.first += 1;
        }
    }

    /// How many bytes are unstable.
    pub fn unstable_bytes(&self) -> u64 {
        self.unstable.iter().map(|pages| pages.end - pages.start).sum()
    }

    /// Takes the unstable pages for a COMMIT, if there are any.
    pub fn take_unstable(&mut self) -> Option<Vec<Written>> {
        let pages = std::mem::take(&mut self.unstable);
        self.commits += u32::from(!pages.is_empty());
        (!pages.is_empty()).then_some(pages)
    }

    /// A COMMIT has been answered. Returns who waited for the last one.
    pub fn committed(&mut self) -> Vec<OperationId> {
        self.commits -= 1;
        if self.commits == 0 { std::mem::take(&mut self.waiters) } else { Vec::new() }
    }

    /// Lets an operation wait for the COMMITs on their way; false if there are none.
    pub fn wait(&mut self, operation: OperationId) -> bool {
        if self.commits > 0 {
            self.waiters.push(operation);
        }
        self.commits > 0
    }
}
