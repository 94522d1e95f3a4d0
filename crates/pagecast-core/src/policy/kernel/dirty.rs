//! Which pages the devices do not have yet: dirty or under writeback, by inode and by device.
//!
//! Source: `mm/page-writeback.c: folio_account_dirtied`, `fs/fs-writeback.c: __mark_inode_dirty`, Linux 6.16. A page may be both: one
//! that is written to while it is under writeback will be written again. Counts are in bytes here, whole pages or not.

use rustc_hash::FxHashMap;

use super::lists::{Busy, PageState};
use crate::policy::ranges::Ranges;
use crate::policy::{DeviceId, FileId, FileView};
use crate::units::Nanos;

/// What one device does not have yet, and its counters since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfDevice {
    /// `WB_RECLAIMABLE`: dirty and not under writeback.
    pub reclaimable: u64,
    /// `WB_WRITEBACK`.
    pub writeback: u64,
    /// `WB_DIRTIED`: all that has become dirty so far.
    pub dirtied: u64,
    /// `WB_WRITTEN`: all whose writeback has ended so far.
    pub written: u64,
}

impl OfDevice {
    /// Dirty or under writeback.
    pub(super) fn dirty(&self) -> u64 {
        self.reclaimable + self.writeback
    }
}

/// A file with dirty pages or pages under writeback.
#[derive(Debug)]
struct Inode {
    device: DeviceId,
    dirty: Ranges,
    writeback: Ranges,
    /// When it became dirty; later writes do not move this.
    dirtied_when: Nanos,
    /// `mapping->writeback_index`: where the last pass over its pages stopped.
    index: u64,
}

impl Inode {
    /// How many bytes of `start..end` are dirty and under writeback.
    fn both(&self, start: u64, end: u64) -> u64 {
        let (mut at, mut both) = (start, 0);
        while let Some((from, to)) = self.writeback.first(at, end) {
            both += self.dirty.overlap(from, to);
            at = to;
        }
        both
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct DirtyPages {
    inodes: FxHashMap<FileId, Inode>,
    devices: Vec<OfDevice>,
    /// `NR_FILE_DIRTY`.
    dirty: u64,
    /// `NR_WRITEBACK`.
    writeback: u64,
    /// What both count: pages written to again while they are under writeback.
    both: u64,
    /// Pages that are known to have become dirty but not yet which: counted everywhere, in no file.
    ahead: u64,
}

impl DirtyPages {
    /// `NR_FILE_DIRTY`.
    pub(super) fn dirty(&self) -> u64 {
        self.dirty + self.ahead
    }

    /// `NR_WRITEBACK`.
    pub(super) fn writeback(&self) -> u64 {
        self.writeback
    }

    /// What counts against the dirty limit.
    pub(super) fn total(&self) -> u64 {
        self.dirty() + self.writeback
    }

    /// Dirty or under writeback, each page once.
    pub(super) fn pages(&self) -> u64 {
        self.total() - self.both
    }

    pub(super) fn of_device(&self, device: DeviceId) -> OfDevice {
        self.devices.get(device.0 as usize).copied().unwrap_or_default()
    }

    /// How many bytes of a file are dirty or under writeback, each once.
    pub(super) fn of_file(&self, file: FileId) -> u64 {
        let inode = self.inodes.get(&file);
        inode.map_or(0, |inode| inode.dirty.total() + inode.writeback.total() - inode.both(0, u64::MAX))
    }

    /// How many bytes of a file are dirty.
    pub(super) fn reclaimable_of_file(&self, file: FileId) -> u64 {
        self.inodes.get(&file).map_or(0, |inode| inode.dirty.total())
    }

    /// When the file's inode became dirty, if it is.
    pub(super) fn dirtied_when(&self, file: FileId) -> Option<Nanos> {
        self.inodes.get(&file).filter(|inode| inode.dirty.total() > 0).map(|inode| inode.dirtied_when)
    }

    /// The inode is young again: it goes behind the youngest of its device.
    pub(super) fn redirty(&mut self, file: FileId, when: Nanos) {
        if let Some(inode) = self.inodes.get_mut(&file) {
            inode.dirtied_when = when;
        }
    }

    /// Whether none of the bytes from `start` is dirty, or all of them, and up to where that is so.
    pub(super) fn dirty_run(&self, file: FileId, start: u64, end: u64) -> (bool, u64) {
        let first = self.inodes.get(&file).and_then(|inode| inode.dirty.first(start, end));
        match first {
            Some((from, to)) if from == start => (true, to),
            Some((from, _)) => (false, from),
            None => (false, end),
        }
    }

    /// The first run within `start..end` that is dirty or under writeback.
    pub(super) fn first_busy(&self, file: FileId, start: u64, end: u64) -> Option<(u64, u64)> {
        let inode = self.inodes.get(&file)?;
        let runs = [inode.dirty.first(start, end), inode.writeback.first(start, end)];
        let (from, to) = runs.into_iter().flatten().min()?;
        // Up to where the other kind begins, so that no byte is told twice.
        let other = runs.into_iter().flatten().map(|(other, _)| other).find(|&other| other > from);
        Some((from, other.map_or(to, |other| to.min(other))))
    }

    /// So many pages of a device have become dirty; which ones is told later.
    pub(super) fn run_ahead(&mut self, device: DeviceId, bytes: u64) {
        self.ahead += bytes;
        let device = self.device(device);
        device.reclaimable += bytes;
        device.dirtied += bytes;
    }

    /// It is going to be told which pages those were.
    pub(super) fn fall_back(&mut self, device: DeviceId, bytes: u64) {
        self.ahead -= bytes;
        let device = self.device(device);
        device.reclaimable -= bytes;
        device.dirtied -= bytes;
    }

    fn device(&mut self, device: DeviceId) -> &mut OfDevice {
        let at = device.0 as usize;
        if self.devices.len() <= at {
            self.devices.resize(at + 1, OfDevice::default());
        }
        &mut self.devices[at]
    }

    /// Pages become dirty; true if that made their inode dirty.
    pub(super) fn make_dirty(&mut self, file: &FileView, start: u64, end: u64, now: Nanos) -> bool {
        let inode = self.inodes.entry(file.id).or_insert_with(|| Inode {
            device: file.device,
            dirty: Ranges::default(),
            writeback: Ranges::default(),
            dirtied_when: now,
            index: 0,
        });
        let was_clean = inode.dirty.total() == 0;
        let both = inode.both(start, end);
        let new = inode.dirty.insert(start, end);
        if was_clean && new > 0 {
            inode.dirtied_when = now;
        }
        self.both += inode.both(start, end) - both;
        self.dirty += new;
        let device = self.device(file.device);
        device.reclaimable += new;
        device.dirtied += new;
        was_clean && new > 0
    }

    /// How many bytes of `start..end` of a file are dirty.
    pub(super) fn reclaimable_within(&self, file: FileId, start: u64, end: u64) -> u64 {
        self.inodes.get(&file).map_or(0, |inode| inode.dirty.overlap(start, end))
    }

    /// The files of a device that have dirty pages, or pages under writeback, in the order in which they became dirty.
    pub(super) fn files_of(&self, device: DeviceId) -> Vec<FileId> {
        let inodes = self.inodes.iter().filter(|(_, inode)| inode.device == device);
        let mut files: Vec<(Nanos, FileId)> =
            inodes.map(|(&file, inode)| (inode.dirtied_when, file)).collect();
        files.sort_unstable();
        files.into_iter().map(|(_, file)| file).collect()
    }

    /// The first dirty pages within `start..end` of a file, at most `most`, go under writeback.
    pub(super) fn submit_within(
        &mut self,
        file: FileId,
        start: u64,
        end: u64,
        most: u64,
    ) -> Option<(u64, u64)> {
        let (start, end) = self.inodes.get(&file)?.dirty.first(start, end)?;
        let end = end.min(start.saturating_add(most));
        self.put_under_writeback(file, start, end);
        Some((start, end))
    }

    /// The next dirty pages of a file, at most `most`, from where the last pass stopped and then from the start, go under writeback.
    pub(super) fn submit(&mut self, file: FileId, most: u64) -> Option<(u64, u64)> {
        let inode = self.inodes.get_mut(&file)?;
        let ahead = inode.dirty.first(inode.index, u64::MAX);
        let (start, end) = ahead.or_else(|| inode.dirty.first(0, inode.index))?;
        let end = end.min(start.saturating_add(most));
        inode.index = end;
        self.put_under_writeback(file, start, end);
        Some((start, end))
    }

    fn put_under_writeback(&mut self, file: FileId, start: u64, end: u64) {
        let inode = self.inodes.get_mut(&file).expect("a file with dirty pages has an inode");
        self.both -= inode.both(start, end);
        let taken = inode.dirty.remove(start, end);
        let put = inode.writeback.insert(start, end);
        let device = &mut self.devices[inode.device.0 as usize];
        device.reclaimable -= taken;
        device.writeback += put;
        self.dirty -= taken;
        self.writeback += put;
    }

    /// The device has these pages. They are clean unless they were written to meanwhile.
    pub(super) fn written(&mut self, file: FileId, device: DeviceId, start: u64, end: u64) {
        self.devices[device.0 as usize].written += end - start;
        self.end_writeback(file, start, end);
    }

    fn end_writeback(&mut self, file: FileId, start: u64, end: u64) {
        let Some(inode) = self.inodes.get_mut(&file) else { return };
        self.both -= inode.both(start, end);
        let ended = inode.writeback.remove(start, end);
        self.devices[inode.device.0 as usize].writeback -= ended;
        self.writeback -= ended;
        self.forget_clean(file);
    }

    /// Pages are gone: dirty ones will not be written.
    pub(super) fn cancel(&mut self, file: FileId, start: u64, end: u64) {
        let Some(inode) = self.inodes.get_mut(&file) else { return };
        self.both -= inode.both(start, end);
        let cancelled = inode.dirty.remove(start, end);
        self.devices[inode.device.0 as usize].reclaimable -= cancelled;
        self.dirty -= cancelled;
        self.end_writeback(file, start, end);
    }

    /// Forgets an inode with nothing to write. The next pass over it then begins at its start; the kernel's goes on where the
    /// last one stopped, which is the same for a file that grows.
    fn forget_clean(&mut self, file: FileId) {
        let is_clean = |inode: &Inode| inode.dirty.total() == 0 && inode.writeback.total() == 0;
        if self.inodes.get(&file).is_some_and(is_clean) {
            self.inodes.remove(&file);
        }
    }
}

impl Busy for DirtyPages {
    fn run(&self, file: FileId, at: u64, end: u64) -> (PageState, u64) {
        let Some(inode) = self.inodes.get(&file) else { return (PageState::Clean, end) };
        let writeback = inode.writeback.first(at, end);
        let dirty = inode.dirty.first(at, end);
        match (writeback, dirty) {
            (Some((start, to)), _) if start == at => (PageState::Writeback, to),
            (_, Some((start, to))) if start == at => {
                (PageState::Dirty, writeback.map_or(to, |(start, _)| start.min(to)))
            }
            _ => {
                let next = writeback.into_iter().chain(dirty).map(|(start, _)| start).min();
                (PageState::Clean, next.unwrap_or(end))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::Path;
    use crate::units::Bytes;

    #[test]
    fn a_page_written_to_again_under_writeback_is_in_both_counters_but_one_page() {
        let file = FileView {
            id: FileId(0),
            size: Bytes(100),
            device: DeviceId(0),
            read: Path::default(),
            write: Path::default(),
            read_and_copy: Path::default(),
        };
        let mut dirty = DirtyPages::default();
        dirty.make_dirty(&file, 0, 100, Nanos(0));
        dirty.submit(file.id, 60);
        dirty.make_dirty(&file, 20, 50, Nanos(1));
        assert_eq!(
            (dirty.dirty(), dirty.writeback(), dirty.pages(), dirty.of_file(file.id)),
            (70, 60, 100, 100)
        );
        dirty.written(file.id, file.device, 0, 30);
        assert_eq!((dirty.dirty(), dirty.writeback(), dirty.pages()), (70, 30, 80));
        dirty.cancel(file.id, 40, 60);
        assert_eq!((dirty.dirty(), dirty.writeback(), dirty.pages()), (60, 10, 60));
        dirty.submit(file.id, 100);
        assert_eq!((dirty.pages(), dirty.of_file(file.id)), (60, 60));
    }
}
