//! Pages that leave the cache as soon as they have served (RWF_DONTCACHE).
//!
//! Source: `mm/filemap.c: filemap_end_dropbehind, filemap_end_dropbehind_read, filemap_fdatawrite_range_kick`, `include/linux/fs.h:
//! generic_write_sync`, Linux 6.16. A read leaves nothing of what it had to fetch. Each call of a write submits its pages, for which the
//! queue of the device must have room, and the new ones leave when the device has them, unless somebody else has used them meanwhile.
//! What was cached before stays. Left out: read-ahead from one operation to the next, and with O_SYNC the flag itself.

use crate::policy::FileId;
use crate::policy::kernel::address_space::page_state::{Busy, PageState};
use crate::policy::kernel::page_alloc::pages::Pages;

impl Pages {
    /// Whether any page is to leave when the device has it.
    pub fn has_dropbehind(&self) -> bool {
        !self.dropbehind.is_empty()
    }

    /// New pages of a file are to leave when the device has them; or somebody else has used these, so that they stay.
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

    /// The device has pages of a file: those that were to leave do so, but for what is dirty again.
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
