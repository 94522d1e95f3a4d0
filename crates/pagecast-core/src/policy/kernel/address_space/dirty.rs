//! Records the pages that are dirty or under writeback, by inode and by wb.
//!
//! A device has one wb, and one more for each memory cgroup. Source: `mm/page-writeback.c: folio_account_dirtied`, `fs/fs-writeback.c:
//! __mark_inode_dirty`, Linux 6.16. A page that is written to while it is under writeback is both, and will be written again. Counts are in
//! bytes here, whole pages or not.

use rustc_hash::FxHashMap;

use crate::policy::FileId;
use crate::policy::kernel::address_space::page_state::{Busy, PageState};
use crate::policy::kernel::page::{PAGE, whole_pages};
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::ranges::Ranges;
use crate::units::Nanos;

/// The dirty pages of a wb, and its counters since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfWb {
    /// `WB_RECLAIMABLE`: dirty and not under writeback.
    pub reclaimable: u64,
    /// `WB_WRITEBACK`.
    pub writeback: u64,
    /// `WB_DIRTIED`: all bytes that have become dirty so far.
    pub dirtied: u64,
    /// `WB_WRITTEN`: all bytes whose writeback has ended so far.
    pub written: u64,
    /// Bytes that left the cache dirty and were never submitted.
    pub cancelled: u64,
    /// Bytes under writeback that a server of NFS has in its memory.
    pub unstable: u64,
    /// Bytes that count as under writeback beyond those that are: each unstable WRITE counts the whole of its folio
    /// (`fs/nfs/internal.h: nfs_folio_mark_unstable`, Linux 6.12).
    pub surplus: u64,
}

impl OfWb {
    /// Bytes that count as dirty or under writeback.
    pub fn dirty(&self) -> u64 {
        self.reclaimable + self.writeback + self.surplus
    }
}

/// A file with dirty pages or pages under writeback.
#[derive(Debug)]
struct Inode {
    wb: WbId,
    dirty: Ranges,
    writeback: Ranges,
    /// Pages that were truncated while they were under writeback.
    leaving: Ranges,
    /// The time at which it became dirty; later writes do not move it.
    dirtied_when: Nanos,
    /// `mapping->writeback_index`: where the last pass over its pages stopped.
    index: u64,
}

impl Inode {
    /// Returns the time at which the file became dirty, if it is dirty.
    fn dirtied_when(&self) -> Option<Nanos> {
        (self.dirty.total() > 0).then_some(self.dirtied_when)
    }

    /// Returns the state of the page at `at`, and the end of the run of pages in the same state.
    fn run(&self, at: u64, end: u64) -> (PageState, u64) {
        let writeback = self.writeback.first(at, end);
        let dirty = self.dirty.first(at, end);
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

    /// Returns how many bytes of `start..end` are both dirty and under writeback.
    fn both(&self, start: u64, end: u64) -> u64 {
        let (mut at, mut both) = (start, 0);
        while let Some((from, to)) = self.writeback.first(at, end) {
            both += self.dirty.overlap(from, to);
            at = to;
        }
        both
    }
}

/// The dirty pages of a host; see the module.
#[derive(Debug, Default)]
pub struct DirtyPages {
    inodes: FxHashMap<FileId, Inode>,
    wbs: Vec<OfWb>,
    /// `NR_FILE_DIRTY`.
    dirty: u64,
    /// `NR_WRITEBACK`.
    writeback: u64,
    /// The sum of `surplus` over all wbs.
    surplus: u64,
    /// Bytes that both counters have: pages written to again while they are under writeback.
    both: u64,
    /// Bytes that became dirty while their pages are not yet known: in all sums, in no file.
    ahead: u64,
    /// Blocks of file systems that are dirty: in all sums, in no file.
    blocks: u64,
    /// The largest sum of `dirtied` of all wbs. Some of the bytes in `ahead` may prove to have been dirty already.
    most_dirtied: u64,
}

impl DirtyPages {
    /// `NR_FILE_DIRTY`.
    pub fn dirty(&self) -> u64 {
        self.dirty + self.ahead + self.blocks
    }

    /// `NR_UNSTABLE_NFS`, which is a part of `writeback` here.
    pub fn unstable(&self) -> u64 {
        self.wbs.iter().map(|wb| wb.unstable).sum()
    }

    /// `NR_WRITEBACK`.
    pub fn writeback(&self) -> u64 {
        self.writeback
    }

    /// `NR_DIRTIED`: all bytes that have become dirty so far. It never falls. Two writers may count the same bytes while their pages
    /// are not known; it then stands still until as many others have become dirty.
    pub fn dirtied(&self) -> u64 {
        self.counted_dirtied().max(self.most_dirtied)
    }

    fn counted_dirtied(&self) -> u64 {
        self.wbs.iter().map(|wb| wb.dirtied).sum()
    }

    /// The part of `NR_FILE_DIRTY` that is in no file yet.
    pub fn ahead(&self) -> u64 {
        self.ahead
    }

    /// The bytes that count against the dirty limit.
    pub fn total(&self) -> u64 {
        self.held() + self.surplus
    }

    /// The bytes that are dirty or under writeback; a page that is both counts twice.
    pub fn held(&self) -> u64 {
        self.dirty() + self.writeback
    }

    /// The bytes of files that are dirty or under writeback, each page once.
    pub fn pages(&self) -> u64 {
        self.held() - self.both - self.blocks
    }

    /// The number of inodes with pages that are dirty or under writeback.
    pub fn inodes(&self) -> usize {
        self.inodes.len()
    }

    /// The dirty bytes of each inode, each page once.
    pub fn by_file(&self) -> impl Iterator<Item = (FileId, u64)> {
        self.inodes.keys().map(|&file| (file, self.of_file(file)))
    }

    /// Checks that the counters are the sums over inodes, and over wbs.
    ///
    /// # Panics
    /// If they are not.
    pub fn check_sums(&self) {
        let sum = |of: fn(&Inode) -> u64| -> u64 { self.inodes.values().map(of).sum() };
        let of_inodes = [
            sum(|inode| inode.dirty.total()),
            sum(|inode| inode.writeback.total()),
            sum(|inode| inode.both(0, u64::MAX)),
        ];
        assert_eq!([self.dirty, self.writeback, self.both], of_inodes, "dirty, under writeback, both");
        for (at, wb) in self.wbs.iter().enumerate() {
            let inodes = || self.inodes.values().filter(|inode| inode.wb.0 as usize == at);
            let writeback: u64 = inodes().map(|inode| inode.writeback.total()).sum();
            let known: u64 = inodes().map(|inode| inode.dirty.total()).sum();
            assert_eq!(wb.writeback, writeback, "under writeback of wb {at}");
            assert!(known <= wb.reclaimable, "{known} of {} dirty of wb {at}", wb.reclaimable);
        }
        let reclaimable: u64 = self.wbs.iter().map(|wb| wb.reclaimable).sum();
        assert_eq!(reclaimable, self.dirty + self.ahead + self.blocks, "dirty of all wbs");
    }

    pub fn of_wb(&self, wb: WbId) -> OfWb {
        self.wbs.get(wb.0 as usize).copied().unwrap_or_default()
    }

    /// The number of wbs that have had dirty pages.
    pub fn wbs(&self) -> usize {
        self.wbs.len()
    }

    /// Returns how many bytes of a file are dirty or under writeback, each once.
    pub fn of_file(&self, file: FileId) -> u64 {
        let inode = self.inodes.get(&file);
        inode.map_or(0, |inode| inode.dirty.total() + inode.writeback.total() - inode.both(0, u64::MAX))
    }

    /// True if any page of a range of a file is dirty or under writeback.
    pub fn are_any_busy(&self, file: FileId, start: u64, end: u64) -> bool {
        let is_busy = |inode: &Inode| inode.run(start, end) != (PageState::Clean, end);
        self.inodes.get(&file).is_some_and(is_busy)
    }

    /// Returns how many bytes of a file are dirty.
    pub fn reclaimable_of_file(&self, file: FileId) -> u64 {
        self.inodes.get(&file).map_or(0, |inode| inode.dirty.total())
    }

    /// Returns the dirty bytes within a range of a file.
    pub fn ranges_within(&self, file: FileId, start: u64, end: u64) -> Ranges {
        let (mut dirty, mut at) = (Ranges::default(), start);
        let of_file = self.inodes.get(&file).map(|inode| &inode.dirty);
        while let Some((from, to)) = of_file.and_then(|ranges| ranges.first(at, end)) {
            dirty.insert(from, to);
            at = to;
        }
        dirty
    }

    /// Returns the first dirty run within a range of a file, as far as it is within.
    pub fn reclaimable_within(&self, file: FileId, start: u64, end: u64) -> Option<(u64, u64)> {
        self.inodes.get(&file)?.dirty.first(start, end)
    }

    /// Returns the start of the dirty run that reaches the end of a file of this size.
    pub fn dirty_end(&self, file: FileId, size: u64) -> u64 {
        let dirty = self.inodes.get(&file).map(|inode| &inode.dirty);
        let mut at = 0;
        while let Some((from, to)) = dirty.and_then(|ranges| ranges.first(at, size)) {
            if to >= size {
                return from;
            }
            at = to;
        }
        size
    }

    /// Returns the time at which the file's inode became dirty, if it is.
    pub fn dirtied_when(&self, file: FileId) -> Option<Nanos> {
        self.inodes.get(&file)?.dirtied_when()
    }

    /// Returns the state of the byte at `at` of a file, and when the file's inode became dirty, if it is.
    pub fn state(&self, file: FileId, at: u64, end: u64) -> (PageState, Option<Nanos>) {
        let Some(inode) = self.inodes.get(&file) else { return (PageState::Clean, None) };
        (inode.run(at, end).0, inode.dirtied_when())
    }

    /// Makes an inode the youngest dirty one of its device.
    pub fn redirty(&mut self, file: FileId, when: Nanos) {
        if let Some(inode) = self.inodes.get_mut(&file) {
            inode.dirtied_when = when;
        }
    }

    /// True if all bytes from `start` are dirty, false if none is; and the end of that run.
    pub fn dirty_run(&self, file: FileId, start: u64, end: u64) -> (bool, u64) {
        let first = self.inodes.get(&file).and_then(|inode| inode.dirty.first(start, end));
        match first {
            Some((from, to)) if from == start => (true, to),
            Some((from, _)) => (false, from),
            None => (false, end),
        }
    }

    /// Returns the same as `run` to a task that waits for pages under writeback: a page is under writeback until all of it is written.
    /// Byte by byte a fast writer would follow the device in ever smaller steps.
    pub fn stable_run(&self, file: FileId, at: u64, end: u64) -> (PageState, u64) {
        let inode = self.inodes.get(&file);
        let writeback = inode.and_then(|inode| inode.writeback.first(at / PAGE * PAGE, end)).map(whole_pages);
        match writeback {
            Some((start, to)) if start <= at => (PageState::Writeback, to.min(end)),
            Some((start, _)) => self.run(file, at, start),
            None => self.run(file, at, end),
        }
    }

    /// Counts bytes of a wb that have become dirty; their pages are told later.
    pub fn run_ahead(&mut self, wb: WbId, bytes: u64) {
        self.ahead += bytes;
        let wb = self.wb(wb);
        wb.reclaimable += bytes;
        wb.dirtied += bytes;
    }

    /// Takes back bytes counted by `run_ahead`, before their pages are told.
    pub fn fall_back(&mut self, wb: WbId, bytes: u64) {
        self.most_dirtied = self.dirtied();
        self.ahead -= bytes;
        let wb = self.wb(wb);
        wb.reclaimable -= bytes;
        wb.dirtied -= bytes;
    }

    /// Counts blocks of a file system that have become dirty.
    pub fn blocks_dirtied(&mut self, wb: WbId, bytes: u64) {
        self.blocks += bytes;
        let wb = self.wb(wb);
        wb.reclaimable += bytes;
        wb.dirtied += bytes;
    }

    /// Counts blocks of a file system that go to the device.
    pub fn blocks_written(&mut self, wb: WbId, bytes: u64) {
        self.blocks -= bytes;
        let wb = self.wb(wb);
        wb.reclaimable -= bytes;
        wb.written += bytes;
    }

    fn wb(&mut self, wb: WbId) -> &mut OfWb {
        let at = wb.0 as usize;
        if self.wbs.len() <= at {
            self.make_room(at);
        }
        &mut self.wbs[at]
    }

    // Out of the loop over all tasks.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, at: usize) {
        self.wbs.resize(at + 1, OfWb::default());
    }

    /// Makes pages of an inode of this wb dirty; true if that made the inode dirty.
    pub fn make_dirty(&mut self, file: FileId, wb: WbId, start: u64, end: u64, now: Nanos) -> bool {
        let inode = self.inodes.entry(file).or_insert_with(|| Inode {
            wb,
            dirty: Ranges::default(),
            writeback: Ranges::default(),
            leaving: Ranges::default(),
            dirtied_when: now,
            index: 0,
        });
        let was_clean = inode.dirty.total() == 0;
        let is_being_written = inode.writeback.total() > 0;
        let both = if is_being_written && self.both > 0 { inode.both(start, end) } else { 0 };
        if inode.leaving.total() > 0 {
            inode.leaving.remove(start, end);
        }
        let new = inode.dirty.insert(start, end);
        if was_clean && new > 0 {
            inode.dirtied_when = now;
        }
        if is_being_written {
            self.both += inode.both(start, end) - both;
        }
        self.dirty += new;
        let wb = self.wb(wb);
        wb.reclaimable += new;
        wb.dirtied += new;
        was_clean && new > 0
    }

    /// The files of a wb with pages dirty or under writeback, in the order in which they became dirty.
    pub fn files_of(&self, wb: WbId) -> Vec<FileId> {
        let inodes = self.inodes.iter().filter(|(_, inode)| inode.wb == wb);
        let mut files: Vec<(Nanos, FileId)> =
            inodes.map(|(&file, inode)| (inode.dirtied_when, file)).collect();
        files.sort_unstable();
        files.into_iter().map(|(_, file)| file).collect()
    }

    /// Submits the first dirty pages within `start..end` of a file, `most` bytes at most.
    pub fn submit_within(&mut self, file: FileId, start: u64, end: u64, most: u64) -> Option<(u64, u64)> {
        let (start, end) = self.inodes.get(&file)?.dirty.first(start, end)?;
        let end = end.min(start.saturating_add(most));
        self.put_under_writeback(file, start, end);
        Some((start, end))
    }

    /// Submits the next dirty pages of a file, `most` bytes at most: from the end of the last pass, then from the start.
    pub fn submit(&mut self, file: FileId, most: u64) -> Option<(u64, u64)> {
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
        if self.both > 0 {
            self.both -= inode.both(start, end);
        }
        let taken = inode.dirty.remove(start, end);
        let put = inode.writeback.insert(start, end);
        let wb = &mut self.wbs[inode.wb.0 as usize];
        wb.reclaimable -= taken;
        wb.writeback += put;
        self.dirty -= taken;
        self.writeback += put;
    }

    /// True if any of these pages leaves the cache when it is written.
    pub fn are_leaving(&self, file: FileId, start: u64, end: u64) -> bool {
        self.inodes.get(&file).is_some_and(|inode| inode.leaving.first(start, end).is_some())
    }

    /// Makes pages dirty again that were submitted too early. The next pass over the file comes to them first.
    pub fn take_back(&mut self, file: FileId, start: u64, end: u64) {
        let inode = self.inodes.get_mut(&file).expect("a file under writeback has an inode");
        self.both -= inode.both(start, end);
        let ended = inode.writeback.remove(start, end);
        let new = inode.dirty.insert(start, end);
        inode.index = start;
        let wb = &mut self.wbs[inode.wb.0 as usize];
        wb.writeback -= ended;
        wb.reclaimable += new;
        // They were made dirty a second time meanwhile, and will be written once.
        wb.cancelled += ended - new;
        self.writeback -= ended;
        self.dirty += new;
    }

    /// Counts bytes as written, and a surplus over them as under writeback, whose pages stay under writeback: a server has them in its memory.
    pub fn count_written(&mut self, wb: WbId, bytes: u64, surplus: u64) {
        self.surplus += surplus;
        let wb = self.wb(wb);
        wb.written += bytes;
        wb.unstable += bytes;
        wb.surplus += surplus;
    }

    /// Takes back what `count_written` has counted, before the writeback of these pages ends.
    pub fn uncount_written(&mut self, wb: WbId, bytes: u64, surplus: u64) {
        self.surplus -= surplus;
        let wb = self.wb(wb);
        wb.written -= bytes;
        wb.unstable -= bytes;
        wb.surplus -= surplus;
    }

    /// Ends the writeback of these pages: they are clean unless they were written to meanwhile. True if no more pages of the file are
    /// under writeback.
    pub fn written(&mut self, file: FileId, wb: WbId, start: u64, end: u64) -> bool {
        self.wbs[wb.0 as usize].written += end - start;
        self.end_writeback(file, start, end)
    }

    fn end_writeback(&mut self, file: FileId, start: u64, end: u64) -> bool {
        let Some(inode) = self.inodes.get_mut(&file) else { return false };
        if self.both > 0 {
            self.both -= inode.both(start, end);
        }
        let ended = inode.writeback.remove(start, end);
        self.wbs[inode.wb.0 as usize].writeback -= ended;
        self.writeback -= ended;
        let is_last = inode.writeback.total() == 0;
        if is_last {
            self.forget_clean(file);
        }
        is_last
    }

    /// Cuts off pages under writeback: they leave when they are written, and are not written again.
    pub fn leave(&mut self, file: FileId, start: u64, end: u64) {
        self.cancel_dirty(file, start, end);
        if let Some(inode) = self.inodes.get_mut(&file) {
            inode.leaving.insert(start, end);
        }
    }

    /// Takes out the pages of a range that leave now that they are written.
    pub fn take_leaving(&mut self, file: FileId, start: u64, end: u64) -> Vec<(u64, u64)> {
        let Some(inode) = self.inodes.get_mut(&file) else { return Vec::new() };
        let mut taken = Vec::new();
        while let Some((from, to)) = inode.leaving.first(start, end) {
            inode.leaving.remove(from, to);
            taken.push((from, to));
        }
        taken
    }

    /// Forgets pages that have left the cache: dirty ones will not be written.
    pub fn cancel(&mut self, file: FileId, start: u64, end: u64) {
        self.cancel_dirty(file, start, end);
        self.end_writeback(file, start, end);
    }

    fn cancel_dirty(&mut self, file: FileId, start: u64, end: u64) {
        let Some(inode) = self.inodes.get_mut(&file) else { return };
        self.both -= inode.both(start, end);
        let cancelled = inode.dirty.remove(start, end);
        let wb = &mut self.wbs[inode.wb.0 as usize];
        wb.reclaimable -= cancelled;
        wb.cancelled += cancelled;
        self.dirty -= cancelled;
    }

    /// Forgets an inode without dirty pages. The next pass then begins at the start of the file. The kernel's goes on where the last
    /// one stopped, which makes no difference for a file that grows.
    fn forget_clean(&mut self, file: FileId) {
        let is_clean = |inode: &Inode| inode.dirty.total() == 0 && inode.writeback.total() == 0;
        if self.inodes.get(&file).is_some_and(is_clean) {
            self.inodes.remove(&file);
        }
    }
}

impl Busy for DirtyPages {
    fn run(&self, file: FileId, at: u64, end: u64) -> (PageState, u64) {
        self.inodes.get(&file).map_or((PageState::Clean, end), |inode| inode.run(at, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_written_to_again_under_writeback_is_in_both_counters_but_one_page() {
        let (file, wb) = (FileId(0), WbId(0));
        let mut dirty = DirtyPages::default();
        dirty.make_dirty(file, wb, 0, 100, Nanos(0));
        dirty.submit(file, 60);
        for _ in 0..2 {
            assert!(!dirty.make_dirty(file, wb, 20, 50, Nanos(1)));
        }
        assert_eq!(
            (dirty.dirty(), dirty.writeback(), dirty.pages(), dirty.of_file(file)),
            (70, 60, 100, 100)
        );
        dirty.written(file, wb, 0, 30);
        assert_eq!((dirty.dirty(), dirty.writeback(), dirty.pages()), (70, 30, 80));
        dirty.cancel(file, 40, 60);
        assert_eq!((dirty.dirty(), dirty.writeback(), dirty.pages()), (60, 10, 60));
        dirty.submit(file, 100);
        assert_eq!((dirty.pages(), dirty.of_file(file)), (60, 60));
        // From the start: 20..40, of which 30..40 is still under writeback.
        assert_eq!(dirty.submit(file, 100), Some((20, 40)));
        assert_eq!((dirty.dirty(), dirty.writeback(), dirty.pages()), (0, 60, 60));
        assert_eq!((dirty.dirtied_when(file), dirty.inodes()), (None, 1), "an inode with nothing dirty");
        assert!(!dirty.written(file, wb, 20, 40));
        assert!(dirty.written(file, wb, 60, 100));
        assert_eq!((dirty.pages(), dirty.inodes()), (0, 0));
    }

    #[test]
    fn a_run_of_bytes_is_all_dirty_or_all_not() {
        let (file, wb) = (FileId(0), WbId(0));
        let mut dirty = DirtyPages::default();
        assert_eq!(dirty.dirty_run(file, 5, 50), (false, 50));
        dirty.make_dirty(file, wb, 10, 20, Nanos(0));
        dirty.make_dirty(file, wb, 30, 40, Nanos(0));
        let runs = [(0, 50), (0, 5), (10, 50), (12, 15), (20, 50), (40, 50)];
        let found = runs.map(|(start, end)| dirty.dirty_run(file, start, end));
        assert_eq!(found, [(false, 10), (false, 5), (true, 20), (true, 15), (false, 30), (false, 50)]);
    }

    #[test]
    fn reclaim_finds_pages_as_they_are_from_a_place_on() {
        use PageState::{Clean, Dirty, Writeback};
        let (file, wb) = (FileId(0), WbId(0));
        let mut dirty = DirtyPages::default();
        dirty.make_dirty(file, wb, 10, 40, Nanos(0));
        dirty.submit_within(file, 20, 30, u64::MAX);
        dirty.make_dirty(file, wb, 25, 30, Nanos(0));
        let found = [0, 10, 15, 20, 25, 30, 40].map(|at| Busy::run(&dirty, file, at, 50));
        let both = (Writeback, 30);
        assert_eq!(found, [(Clean, 10), (Dirty, 20), (Dirty, 20), both, both, (Dirty, 40), (Clean, 50)]);
        assert_eq!(Busy::run(&dirty, FileId(1), 0, 50), (Clean, 50));
    }
}
