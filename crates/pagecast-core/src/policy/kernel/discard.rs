//! Freeing the blocks of a file: who cuts or removes it waits until the device has discarded them.
//!
//! Source: `fs/ext4/mballoc.c: ext4_free_blocks`, Linux 6.18: mounted with `discard` and without a journal, the thread that frees
//! blocks has the device discard them, extent by extent. With a journal that happens after a commit, in the background
//! (`ext4_discard_work`), and a disk has no `discard` then. The dirty end of a file is taken to have no
//! blocks yet (delayed allocation), which is wrong where it was written over. Left out: that the device does nothing else meanwhile.

use super::{FileView, Kernel};
use crate::units::{Bytes, Nanos};

impl Kernel {
    /// What freeing the blocks of a file takes, from a byte on; before its pages are gone.
    pub(super) fn discard_of(&self, file: &FileView, from: u64) -> Nanos {
        let Some(discard) = self.disk_of(file).and_then(|disk| disk.discard) else { return Nanos::ZERO };
        match self.pages.dirty.dirty_end(file.id, file.size.0).saturating_sub(from) {
            0 => Nanos::ZERO,
            blocks => discard.latency + Nanos::from_seconds(Bytes(blocks).as_f64() / discard.rate.0),
        }
    }
}
