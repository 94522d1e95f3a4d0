//! What giving the blocks of a file back takes: who cuts or removes it waits for that.
//!
//! Source: `fs/ext4/mballoc.c: ext4_free_blocks`, Linux 6.18: mounted with `discard` and without a journal, the thread that frees
//! blocks has the device discard them, extent by extent. With a journal that happens after a commit, in the background
//! (`ext4_discard_work`), and nobody waits for it.
//!
//! Only what was written back since time 0 takes long: a cloud disk took 1.4 s for 1 GB just written, 0.9 s after 20 s and
//! 0.2 s after 40 s, when its host had it on a disk of its own. The dirty end of a file has no blocks yet (delayed allocation). Left out: what was
//! written past the cache, and that the device does nothing else meanwhile.

use rustc_hash::FxHashMap;

use super::{FileView, Kernel, PAGE};
use crate::machine::{Host, Mount};
use crate::policy::FileId;
use crate::units::Nanos;

/// How much of each file has been written back; only kept where that matters.
#[derive(Debug, Default)]
pub(super) struct WrittenBack(Option<FxHashMap<FileId, u64>>);

impl WrittenBack {
    pub(super) fn of(host: &Host) -> Self {
        let gives_back = |mount: &Mount| mount.block_free > Nanos::ZERO || mount.file_free > Nanos::ZERO;
        Self(host.mounts.iter().any(gives_back).then(FxHashMap::default))
    }

    /// So many more bytes of a file.
    pub(super) fn add(&mut self, file: FileId, bytes: u64) {
        if let Some(written) = &mut self.0 {
            *written.entry(file).or_default() += bytes;
        }
    }

    /// Of so many bytes that a file loses, how many were written back.
    fn take(&mut self, file: FileId, bytes: u64) -> u64 {
        let Some(written) = self.0.as_mut().and_then(|files| files.get_mut(&file)) else { return 0 };
        let taken = bytes.min(*written);
        *written -= taken;
        taken
    }
}

impl Kernel {
    /// What giving the blocks of a file back takes, from a byte on; before its pages are gone.
    pub(super) fn freeing(&mut self, file: &FileView, from: u64) -> Nanos {
        let blocks = self.pages.dirty.dirty_end(file.id, file.size.0).saturating_sub(from);
        match self.written_back.take(file.id, blocks) {
            0 => Nanos::ZERO,
            written => file.file_free + Nanos(file.block_free.0.saturating_mul(written.div_ceil(PAGE))),
        }
    }
}
