//! What giving the blocks of a file back takes: who cuts or removes it waits for that.
//!
//! Source: `fs/ext4/mballoc.c: ext4_free_blocks`, Linux 6.18: mounted with `discard` and without a journal, the thread that frees
//! blocks has the device discard them, extent by extent. With a journal that happens after a commit, in the background
//! (`ext4_discard_work`), and nobody waits for it.
//!
//! Only what was written back lately takes long: a cloud disk took 1.2 s for 1 GB just written, and 0.1 s after a minute, when its host
//! had written it to a disk of its own. The dirty end of a file has no blocks yet (delayed allocation). Left out: what was written past
//! the cache, and that the device does nothing else meanwhile.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{FileView, Kernel, PAGE};
use crate::machine::{Host, Mount};
use crate::policy::FileId;
use crate::units::Nanos;

/// Write-back within so long counts as one.
const TOGETHER: Nanos = Nanos(1_000_000_000);

/// How much of each file has been written back when; only kept where that matters.
#[derive(Debug, Default)]
pub(super) struct WrittenBack {
    files: Option<FxHashMap<FileId, Written>>,
    /// Files that were there at time 0 were written evenly in so long before that; nothing: long ago.
    prepared: Option<Nanos>,
}

/// Of one file.
#[derive(Debug, Default)]
struct Written {
    /// When, and how many bytes; the last are the youngest.
    lately: VecDeque<(Nanos, u64)>,
    /// Bytes that are not counted there any more.
    before: u64,
}

impl Written {
    /// How many bytes have been written back since time 0.
    fn total(&self) -> u64 {
        self.before + self.lately.iter().map(|(_, bytes)| bytes).sum::<u64>()
    }

    /// What was written longer ago than that is not counted any more.
    fn grow_old(&mut self, now: Nanos, within: Nanos) {
        while let Some(&(at, old)) = self.lately.front()
            && at + within < now
        {
            self.lately.pop_front();
            self.before += old;
        }
    }

    /// Gives so many bytes up, the youngest first; how many of them were counted.
    fn take(&mut self, bytes: u64) -> u64 {
        let mut left = bytes;
        while left > 0
            && let Some((_, youngest)) = self.lately.back_mut()
        {
            let taken = left.min(*youngest);
            *youngest -= taken;
            left -= taken;
            if *youngest == 0 {
                self.lately.pop_back();
            }
        }
        self.before = self.before.saturating_sub(left);
        bytes - left
    }
}

impl WrittenBack {
    /// Nothing is kept where no mount has a price for giving blocks back.
    pub(super) fn of(host: &Host, prepared: Option<Nanos>) -> Self {
        let gives_back =
            |mount: &Mount| mount.cost.block_free > Nanos::ZERO || mount.cost.file_free > Nanos::ZERO;
        Self { files: host.mounts.iter().any(gives_back).then(FxHashMap::default), prepared }
    }

    /// So many more bytes of a file.
    pub(super) fn add(&mut self, now: Nanos, file: FileId, bytes: u64) {
        let Some(files) = &mut self.files else { return };
        let lately = &mut files.entry(file).or_default().lately;
        match lately.back_mut() {
            Some((at, written)) if now < *at + TOGETHER => *written += bytes,
            _ => lately.push_back((now, bytes)),
        }
    }

    /// A file loses so many bytes at its end: how many of them were written within the time that counts.
    fn take(&mut self, now: Nanos, file: &FileView, bytes: u64) -> u64 {
        let within = file.cost.block_free_within;
        let young_part = self.young_part(now, within);
        let Some(files) = &mut self.files else { return 0 };
        let mut nothing = Written::default();
        let written = files.get_mut(&file.id).unwrap_or(&mut nothing);
        if let Some(within) = within {
            written.grow_old(now, within);
        }
        let from_before = young_part * bytes.saturating_sub(written.total()) as f64;
        let young = written.take(bytes);
        young + (from_before as u64).min(bytes - young)
    }

    /// What part of the files that were there at time 0 was written within the time that counts.
    fn young_part(&self, now: Nanos, within: Option<Nanos>) -> f64 {
        match (self.prepared, within) {
            (None, _) => 0.0,
            (Some(_), None) => 1.0,
            (Some(_), Some(within)) if within <= now => 0.0,
            (Some(prepared), Some(within)) => ((within - now).0 as f64 / prepared.0 as f64).min(1.0),
        }
    }
}

impl Kernel {
    /// What giving the blocks of a file back takes, from a byte on; before its pages are gone.
    pub(super) fn freeing(&mut self, now: Nanos, file: &FileView, from: u64) -> Nanos {
        let blocks = self.pages.dirty.dirty_end(file.id, file.size.0).saturating_sub(from);
        match self.written_back.take(now, file, blocks) {
            0 => Nanos::ZERO,
            written => {
                let blocks = written.div_ceil(PAGE);
                file.cost.file_free + Nanos(file.cost.block_free.0.saturating_mul(blocks))
            }
        }
    }
}
