//! Drops the pages of a read or write with RWF_DONTCACHE after use.
//!
//! Source: `mm/filemap.c: filemap_end_dropbehind, filemap_end_dropbehind_read, filemap_fdatawrite_range_kick`, `include/linux/fs.h:
//! generic_write_sync`, Linux 6.16. A read drops the pages that it had to fetch. Each call of a write submits its pages, for which the
//! queue of the device must have room. New ones are dropped when they are written, unless another task has used them meanwhile. Pages that
//! were cached before stay. Left out: read-ahead from one operation to the next, and the flag together with O_SYNC.

use crate::policy::FileId;
use crate::policy::kernel::address_space::page_state::{Busy, PageState};
use crate::policy::kernel::page_alloc::pages::Pages;

impl Pages {
    /// True if any page is to be dropped when it is written.
    pub fn has_dropbehind(&self) -> bool {
        !self.dropbehind.is_empty()
    }

    /// Marks new pages of a file to be dropped when they are written; or, used by another task, to stay.
    pub fn mark_dropbehind(&mut self, file: FileId, (start, end): (u64, u64), leaves: bool) {
        if leaves {
            self.dropbehind.entry(file).or_default().insert(start, end);
        } else if let Some(marked) = self.dropbehind.get_mut(&file) {
            marked.remove(start, end);
            if marked.total() == 0 {
                self.dropbehind.remove(&file);
            }
        }
    }

    /// Drops the marked pages of a range that has been written, except for those that are dirty again.
    pub fn drop_written(&mut self, file: FileId, start: u64, end: u64) {
        let mut at = start;
        while let Some((from, to)) = self.dropbehind.get(&file).and_then(|marked| marked.first(at, end)) {
            let (state, to) = self.dirty.run(file, from, to);
            if state == PageState::Clean {
                self.lists.remove(file, from, to);
                self.mark_dropbehind(file, (from, to), false);
            }
            at = to;
        }
    }
}
