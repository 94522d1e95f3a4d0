//! Keeps what a power cut would lose of what disks already have: bytes in their volatile caches, and bytes whose blocks are not committed.
//!
//! Source: `block/blk-flush.c`, `fs/ext4/fsync.c`, `fs/jbd2/commit.c`, Linux 6.16. A byte is at risk from the write on that made it, as long
//! as one of these holds:
//!
//! - its page is dirty or under writeback; with `data=journal` as long as no transaction with it is committed;
//! - its disk has a volatile cache (`flush` takes time), and no flush began after the disk had got it;
//! - its file has got its block, and the transaction that says so is not committed. Without `journal` of the mount blocks belong to their file
//!   at once.
//!
//! Kept only if somebody asks. Left out: direct I/O, files of other hosts, a commit without barrier that the disk still has in its cache.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::Disk;
use crate::policy::DeviceId;
use crate::policy::FileId;
use crate::policy::kernel::ext4::Ext4;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::ranges::Ranges;
use crate::result::AtRisk;
use crate::units::{Bytes, Nanos};

/// Ranges of files.
type Files = FxHashMap<FileId, Ranges>;

/// The bytes of a disk that are not durable.
#[derive(Debug, Default)]
struct OnDisk {
    /// In its volatile cache, and not being flushed.
    cached: Files,
    /// Being flushed, and when that is over.
    flushing: VecDeque<(Nanos, Files)>,
    /// Flushed, beyond the blocks that are committed.
    stored: Files,
}

impl OnDisk {
    fn remove(&mut self, file: FileId, (start, end): (u64, u64)) {
        let flushing = self.flushing.iter_mut().map(|(_, files)| files);
        for files in flushing.chain([&mut self.cached, &mut self.stored]) {
            if let Some(ranges) = files.get_mut(&file) {
                ranges.remove(start, end);
            }
        }
    }
}

/// The disks of a host; see the module.
#[derive(Debug, Default)]
pub struct Watched {
    disks: Vec<OnDisk>,
}

impl Ext4 {
    /// Keeps what is at risk from now on.
    pub fn watch_risk(&mut self) {
        let disks = self.config.host.disks.iter().map(|_| OnDisk::default()).collect();
        self.watched = Some(Watched { disks });
    }

    /// Notes that bytes of a file have changed: what the disk has of them is out of date.
    pub fn note_changed(&mut self, device: DeviceId, file: FileId, range: (u64, u64)) {
        if let Some(disk) = self.watched_disk(device) {
            disk.remove(file, range);
        }
    }

    /// Notes that a disk has got bytes of a file.
    pub fn note_stored(&mut self, device: DeviceId, file: FileId, (start, end): (u64, u64)) {
        // The log has data of its transactions until that is durable in its place.
        if self.requests(device).is_some_and(|requests| requests.journals_data()) {
            return;
        }
        let is_volatile = self.config.host.disks.get(device.0 as usize).is_some_and(Disk::is_volatile);
        if let Some(disk) = self.watched_disk(device) {
            let files = if is_volatile { &mut disk.cached } else { &mut disk.stored };
            files.entry(file).or_default().insert(start, end);
        }
    }

    /// Notes that a flush of a disk's cache begins, which is over at an instant.
    pub fn note_flush(&mut self, device: DeviceId, end: Nanos) {
        if let Some(disk) = self.watched_disk(device) {
            let cached = std::mem::take(&mut disk.cached);
            disk.flushing.push_back((end, cached));
        }
    }

    fn watched_disk(&mut self, device: DeviceId) -> Option<&mut OnDisk> {
        self.watched.as_mut()?.disks.get_mut(device.0 as usize)
    }

    /// The end of the blocks of a file that are committed.
    fn committed(&self, device: DeviceId, file: FileId) -> u64 {
        let journal = self.journals[device.0 as usize].as_ref();
        journal
            .filter(|journal| journal.rules.requests.is_some())
            .map_or(u64::MAX, |journal| journal.committed(file))
    }

    /// Returns what a power cut at an instant would lose of a disk.
    pub fn at_risk(&mut self, pages: &Pages, now: Nanos, device: DeviceId) -> AtRisk {
        let Some(mut watched) = self.watched.take() else { return AtRisk::default() };
        let disk = &mut watched.disks[device.0 as usize];
        while disk.flushing.front().is_some_and(|(end, _)| *end <= now) {
            let (_, flushed) = disk.flushing.pop_front().expect("it was just there");
            for (file, ranges) in flushed {
                let stored = disk.stored.entry(file).or_default();
                let mut at = 0;
                while let Some((start, end)) = ranges.first(at, u64::MAX) {
                    stored.insert(start, end);
                    at = end;
                }
            }
        }
        for (file, ranges) in &mut disk.stored {
            ranges.remove(0, self.committed(device, *file));
        }
        for files in
            disk.flushing.iter_mut().map(|(_, files)| files).chain([&mut disk.cached, &mut disk.stored])
        {
            files.retain(|_, ranges| ranges.total() > 0);
        }
        let total = |files: &Files| files.values().map(Ranges::total).sum::<u64>();
        let in_cache = total(&disk.cached) + disk.flushing.iter().map(|(_, files)| total(files)).sum::<u64>();
        let in_memory = self.in_memory(pages, device);
        let mut files: FxHashSet<FileId> = in_memory.iter().map(|(file, _)| *file).collect();
        let on_disk = disk.flushing.iter().map(|(_, files)| files).chain([&disk.cached, &disk.stored]);
        files.extend(on_disk.flat_map(|files| files.keys().copied()));
        let journal = self.journals[device.0 as usize].as_ref();
        let risk = AtRisk {
            memory: Bytes(in_memory.iter().map(|(_, bytes)| bytes).sum()),
            disk_cache: Bytes(in_cache),
            uncommitted: Bytes(total(&disk.stored)),
            files: files.len() as u64,
            names: journal.map_or(0, |journal| journal.names_at_risk()),
        };
        self.watched = Some(watched);
        risk
    }

    /// The files of a disk with bytes that only memory has, and how many.
    fn in_memory(&self, pages: &Pages, device: DeviceId) -> Vec<(FileId, u64)> {
        let journal = self.journals[device.0 as usize].as_ref();
        if let Some(journal) =
            journal.filter(|journal| journal.rules.requests.is_some_and(|requests| requests.journals_data()))
        {
            return journal.data_at_risk();
        }
        let wbs = (device.0 as usize..pages.dirty().wbs()).step_by(self.config.devices());
        let files = wbs.flat_map(|at| pages.dirty().files_of(WbId(at as u32)));
        files.map(|file| (file, pages.dirty().of_file(file))).filter(|(_, bytes)| *bytes > 0).collect()
    }
}
