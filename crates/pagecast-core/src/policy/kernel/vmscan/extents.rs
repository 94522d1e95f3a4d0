//! Keeps the extents in two orders: by offset in their file, and by age in their list.
//!
//! Ours: the kernel lists single folios. An extent stands for pages that are neighbours in both orders. New pages lengthen an extent of the
//! same state at the head of the list, which keeps the order. They also lengthen one that began no more than `extent_bytes` bytes ago, counted at
//! the head. So only pages that came within `extent_bytes` bytes of each other may be out of order, and files that grow at the same time take few
//! extents. With a `extent_bytes` of at most a page the order is exact.

use crate::policy::FileId;
use crate::policy::kernel::vmscan::files::{ByFile, Cached};
use crate::policy::kernel::vmscan::list::List;
use crate::policy::kernel::vmscan::lruvec::LruvecId;
use crate::policy::kernel::vmscan::slab::{Extent, NONE, Slab, Slot, State};

/// All extents.
pub struct Extents {
    slab: Slab,
    files: ByFile<Cached>,
    lists: Vec<List>,
    /// The number of lists of each lruvec.
    per_lruvec: usize,
    /// The bytes of each lruvec.
    bytes: Vec<u64>,
    extent_bytes: u64,
    /// The number of extents that were forgotten.
    forgotten: usize,
    /// Bytes that have come into memory or left it so far.
    turnover: u64,
}

impl Extents {
    /// No extents, with a list in each lruvec for each of `active`, which says whether it counts as active.
    pub fn new(lruvecs: usize, active: &[bool], extent_bytes: u64) -> Self {
        // An extent that is said to have begun at 0 has always begun long ago.
        let lists =
            (0..lruvecs).flat_map(|_| active).map(|&is_active| List::new(extent_bytes, is_active)).collect();
        let per_lruvec = active.len();
        Extents {
            slab: Slab::default(),
            files: ByFile::default(),
            lists,
            per_lruvec,
            bytes: vec![0; lruvecs],
            extent_bytes,
            forgotten: 0,
            turnover: 0,
        }
    }

    /// Returns the index of a list among all.
    fn place_of(&self, lruvec: LruvecId, list: u8) -> usize {
        usize::from(lruvec.0) * self.per_lruvec + usize::from(list)
    }

    fn list(&self, lruvec: LruvecId, list: u8) -> &List {
        &self.lists[self.place_of(lruvec, list)]
    }

    fn lists_of(&self, lruvec: LruvecId) -> impl Iterator<Item = &List> {
        self.lists[self.place_of(lruvec, 0)..][..self.per_lruvec].iter()
    }

    /// The most bytes that may come between two that share an extent: see the module.
    pub fn extent_bytes(&self) -> u64 {
        self.extent_bytes
    }

    pub fn get(&self, slot: Slot) -> Extent {
        self.slab[slot]
    }

    pub fn bytes(&self, lruvec: LruvecId, list: u8) -> u64 {
        self.list(lruvec, list).bytes
    }

    /// The bytes of a lruvec that count as active, or those that do not.
    pub fn counted(&self, lruvec: LruvecId, active: bool) -> u64 {
        self.lists_of(lruvec).filter(|list| list.is_active == active).map(|list| list.bytes).sum()
    }

    /// The bytes of a lruvec.
    pub fn of_lruvec(&self, lruvec: LruvecId) -> u64 {
        self.bytes[usize::from(lruvec.0)]
    }

    /// True if a list counts as active.
    pub fn is_active(&self, lruvec: LruvecId, list: u8) -> bool {
        self.list(lruvec, list).is_active
    }

    /// Makes a list count as active from now on, or not.
    pub fn set_active(&mut self, lruvec: LruvecId, list: u8, is_active: bool) {
        let place = self.place_of(lruvec, list);
        if std::mem::replace(&mut self.lists[place].is_active, is_active) == is_active {
            return;
        }
        for slot in self.lists[place].slots(&self.slab) {
            let extent = &self.slab[slot];
            let cached = self.files.of(extent.file);
            cached.discount(!is_active, extent.len());
            cached.count(is_active, extent.len());
        }
    }

    pub fn all_bytes(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// The bytes of all lists that count as active.
    pub fn all_active(&self) -> u64 {
        self.lists.iter().filter(|list| list.is_active).map(|list| list.bytes).sum()
    }

    pub fn len(&self) -> usize {
        self.forgotten + self.slab.len()
    }

    /// Forgets all but the number of bytes and extents.
    pub fn forget(&mut self) {
        self.forgotten = self.len();
        self.slab = Slab::default();
        self.files.iter_mut().for_each(Cached::forget);
        self.lists.iter_mut().for_each(List::forget);
    }

    pub fn of_file(&self, file: FileId) -> u64 {
        self.files.get(file).map_or(0, |cached| cached.bytes)
    }

    pub fn active_of_file(&self, file: FileId) -> u64 {
        self.files.get(file).map_or(0, |cached| cached.active)
    }

    /// Bytes that have come into memory or left it so far.
    pub fn turnover_of_all(&self) -> u64 {
        self.turnover
    }

    /// Bytes of a file that have come into memory or left it so far.
    pub fn turnover(&self, file: FileId) -> u64 {
        self.files.get(file).map_or(0, |cached| cached.turnover)
    }

    /// Counts bytes of a file that come into memory, or leave it.
    pub fn turn_over(&mut self, file: FileId, bytes: u64) {
        self.turnover += bytes;
        self.files.of(file).turnover += bytes;
    }

    /// The files that have extents.
    pub fn files(&self) -> impl Iterator<Item = FileId> {
        self.files.iter().filter(|(_, cached)| cached.bytes > 0).map(|(file, _)| file)
    }

    /// The extents of a list, the oldest first.
    pub fn in_list(&self, lruvec: LruvecId, list: u8) -> impl Iterator<Item = &Extent> {
        self.list(lruvec, list).slots(&self.slab).map(|slot| &self.slab[slot])
    }

    /// The extent that will leave the list first.
    pub fn oldest(&self, lruvec: LruvecId, list: u8) -> Option<(Slot, Extent)> {
        let slot = self.list(lruvec, list).oldest;
        (slot != NONE).then(|| (slot, self.slab[slot]))
    }

    /// The extents of a file with bytes in `start..end`, in the order of their offsets.
    pub fn within(&self, file: FileId, start: u64, end: u64) -> impl Iterator<Item = (Slot, &Extent)> {
        let reaches = |last: Slot| self.slab[last].end > start;
        let cached = self.files.get(file).filter(|cached| start < end && cached.last().is_some_and(reaches));
        let found = cached.map(|cached| {
            let around = cached.starting_before(start).map(|slot| &self.slab[slot]);
            let first = around.filter(|extent| extent.end > start).map_or(start, |extent| extent.start);
            cached.range(first..end)
        });
        found.into_iter().flatten().map(|slot| (slot, &self.slab[slot]))
    }

    /// The first extent of a file with bytes in `start..end`.
    pub fn first_in(&self, file: FileId, start: u64, end: u64) -> Option<(Slot, Extent)> {
        // A walk through a range from its start asks for this in the end.
        let cached = self.files.get(file).filter(|_| start < end)?;
        // A call asks several times for the same place.
        let found = self.slab.get(cached.found.get());
        if let Some((slot, extent)) = found.filter(|(_, extent)| extent.is_around(file, start)) {
            return Some((slot, extent));
        }
        if cached.is_gap(start, end) {
            return None;
        }
        // Most often nothing is there yet.
        cached.last().filter(|&last| self.slab[last].end > start)?;
        let found = cached.first_in(start, end, |slot| self.slab[slot].end)?;
        cached.found.set(found);
        Some((found, self.slab[found]))
    }

    /// The last extent of a file with bytes in `start..end`.
    pub fn last_in(&self, file: FileId, start: u64, end: u64) -> Option<(Slot, Extent)> {
        let slot = self.files.get(file).filter(|_| start < end)?.starting_before(end)?;
        (self.slab[slot].end > start).then(|| (slot, self.slab[slot]))
    }

    /// Inserts bytes that were in no list at the head of one.
    pub fn insert_newest(&mut self, file: FileId, start: u64, end: u64, state: State) {
        debug_assert!(self.first_in(file, start, end).is_none(), "what comes into a list was in none");
        if start >= end {
            return;
        }
        let place = self.place_of(state.lruvec, state.list);
        let list = &mut self.lists[place];
        let (begun, newest) = (list.inserted, list.newest);
        list.inserted += end - start;
        let now = list.inserted;
        let cached = self.files.of(file);
        let (before, behind) = cached.touching(start, end);
        cached.fill(start, end);
        self.count(file, state, end - start);
        if let Some(slot) = before.filter(|&slot| self.grows_up(slot, start, state, now)) {
            self.lift_end(slot, end);
            self.settle(slot);
        } else if let Some(slot) = behind.filter(|&slot| self.is_young(slot, state, now)) {
            self.lower_start(slot, start);
            self.settle(slot);
        } else {
            let extent = Extent { file, start, end, state, begun, older: NONE, newer: NONE };
            self.place(extent, newest, NONE);
        }
    }

    /// True if bytes from `at` on that come to the head of a list may join an extent.
    fn grows_up(&self, slot: Slot, at: u64, state: State, now: u64) -> bool {
        let extent = &self.slab[slot];
        let is_newest = extent.newer == NONE && extent.state == state;
        extent.end == at && (is_newest || self.is_young(slot, state, now))
    }

    /// True if an extent of this state began at most `extent_bytes` bytes ago, by the time of its list.
    fn is_young(&self, slot: Slot, state: State, now: u64) -> bool {
        let extent = &self.slab[slot];
        extent.state == state && now - extent.begun <= self.extent_bytes
    }

    /// Inserts bytes that were in no list at the tail of one.
    pub fn insert_oldest(&mut self, file: FileId, start: u64, end: u64, state: State) {
        debug_assert!(self.first_in(file, start, end).is_none(), "what comes into a list was in none");
        self.files.of(file).fill(start, end);
        self.count(file, state, end - start);
        let slot = self.list(state.lruvec, state.list).oldest;
        let oldest = (slot != NONE).then(|| self.slab[slot]).filter(|o| o.file == file && o.state == state);
        match oldest {
            Some(extent) if extent.start == end => self.lower_start(slot, start),
            // Pieces that are written one after the other come one behind the other; few bytes are misplaced.
            Some(extent) if extent.end == start && end - extent.start <= self.extent_bytes => {
                self.lift_end(slot, end);
                self.settle(slot);
            }
            _ => {
                self.place(
                    Extent { file, start, end, state, begun: 0, older: NONE, newer: NONE },
                    NONE,
                    slot,
                );
            }
        }
    }

    /// Makes `start..end` of an extent one of its own.
    pub fn cut(&mut self, slot: Slot, start: u64, end: u64) -> Slot {
        let extent = self.slab[slot];
        if end < extent.end {
            self.split(slot, end);
        }
        if extent.start < start { self.split(slot, start) } else { slot }
    }

    /// Splits an extent at `at` and returns the second part.
    fn split(&mut self, slot: Slot, at: u64) -> Slot {
        let whole = self.slab[slot];
        self.slab[slot].end = at;
        self.place(Extent { start: at, ..whole }, slot, whole.newer)
    }

    /// Takes an extent out of its list and file.
    pub fn take(&mut self, slot: Slot) -> Extent {
        let extent = self.displace(slot);
        self.discount(&extent, extent.len());
        if extent.older != NONE {
            self.join_newer(extent.older);
        }
        extent
    }

    /// Takes `start..end` of an extent out of its list and file. The rest stays where it is.
    pub fn take_part(&mut self, slot: Slot, start: u64, end: u64) -> Extent {
        let whole = self.slab[slot];
        debug_assert!(whole.start <= start && start < end && end <= whole.end, "it is a part");
        match (whole.start < start, end < whole.end) {
            (false, false) => return self.take(slot),
            (false, true) => {
                let cached = self.files.of(whole.file);
                cached.insert(end, slot);
                cached.remove(start);
                self.slab[slot].start = end;
            }
            (true, false) => self.slab[slot].end = start,
            (true, true) => {
                self.slab[slot].end = start;
                self.place(Extent { start: end, ..whole }, slot, whole.newer);
            }
        }
        self.discount(&whole, end - start);
        Extent { start, end, ..whole }
    }

    /// Counts bytes of an extent that leave its list.
    fn discount(&mut self, extent: &Extent, bytes: u64) {
        let place = self.place_of(extent.state.lruvec, extent.state.list);
        let list = &mut self.lists[place];
        list.bytes -= bytes;
        self.bytes[usize::from(extent.state.lruvec.0)] -= bytes;
        self.files.of(extent.file).discount(list.is_active, bytes);
    }

    /// Gives an extent another state in its place in the same list.
    pub fn set_state(&mut self, slot: Slot, state: State) {
        debug_assert_eq!(state.list, self.slab[slot].state.list, "another list is another place");
        self.slab[slot].state = state;
        self.settle(slot);
    }

    fn count(&mut self, file: FileId, state: State, bytes: u64) {
        let place = self.place_of(state.lruvec, state.list);
        let list = &mut self.lists[place];
        list.bytes += bytes;
        self.bytes[usize::from(state.lruvec.0)] += bytes;
        self.files.of(file).count(list.is_active, bytes);
    }

    fn place(&mut self, extent: Extent, older: Slot, newer: Slot) -> Slot {
        let slot = self.slab.insert(extent);
        let cached = self.files.of(extent.file);
        cached.insert(extent.start, slot);
        cached.found.set(slot);
        cached.note_length(extent.len());
        let place = self.place_of(extent.state.lruvec, extent.state.list);
        self.lists[place].link(&mut self.slab, older, slot, newer);
        slot
    }

    fn displace(&mut self, slot: Slot) -> Extent {
        let extent = self.slab.remove(slot);
        self.files.of(extent.file).remove(extent.start);
        let place = self.place_of(extent.state.lruvec, extent.state.list);
        self.lists[place].unlink(&mut self.slab, slot);
        extent
    }

    fn lower_start(&mut self, slot: Slot, start: u64) {
        let cached = self.files.of(self.slab[slot].file);
        cached.remove(self.slab[slot].start);
        cached.insert(start, slot);
        self.slab[slot].start = start;
        cached.note_length(self.slab[slot].len());
    }

    fn lift_end(&mut self, slot: Slot, end: u64) {
        self.slab[slot].end = end;
        let extent = &self.slab[slot];
        self.files.of(extent.file).note_length(extent.len());
    }

    /// Joins an extent with its neighbours in the list where they continue each other in their file.
    fn settle(&mut self, slot: Slot) {
        self.join_newer(slot);
        if self.slab[slot].older != NONE {
            self.join_newer(self.slab[slot].older);
        }
    }

    fn join_newer(&mut self, slot: Slot) {
        let newer = self.slab[slot].newer;
        if newer == NONE || !self.slab[slot].continues_in(&self.slab[newer]) {
            return;
        }
        let other = self.displace(newer);
        let joined = &mut self.slab[slot];
        (joined.end, joined.begun) = (other.end, joined.begun.min(other.begun));
        self.files.of(joined.file).note_length(joined.len());
    }

    /// True if sums, links and order by offset agree, and no two neighbours should be one.
    pub fn is_consistent(&self) -> bool {
        if self.forgotten > 0 {
            return true;
        }
        let lists = (0..self.lists.len()).all(|place| self.is_list_consistent(place));
        let linked: usize = self.lists.iter().map(|list| list.slots(&self.slab).count()).sum();
        let files = self.files.iter().all(|(file, cached)| self.is_file_consistent(file, cached));
        let named: usize = self.files.iter().map(|(_, cached)| cached.len()).sum();
        let mut lruvecs = self.bytes.iter().zip(self.lists.chunks(self.per_lruvec));
        let sum = |lists: &[List]| lists.iter().map(|list| list.bytes).sum::<u64>();
        let sums = lruvecs.all(|(&bytes, lists)| bytes == sum(lists));
        lists && sums && files && linked == self.len() && named == self.len()
    }

    fn is_list_consistent(&self, number: usize) -> bool {
        let list = &self.lists[number];
        let mut older = NONE;
        let linked = list.slots(&self.slab).all(|slot| {
            let extent = &self.slab[slot];
            let here = self.place_of(extent.state.lruvec, extent.state.list) == number;
            let apart = older == NONE || !self.slab[older].continues_in(extent);
            let follows = extent.older == older;
            older = slot;
            here && apart && follows && extent.start < extent.end
        });
        let bytes: u64 = list.slots(&self.slab).map(|slot| self.slab[slot].len()).sum();
        linked && older == list.newest && bytes == list.bytes
    }

    fn is_file_consistent(&self, file: FileId, cached: &Cached) -> bool {
        let mut end = 0;
        let disjoint = cached.iter().all(|(start, slot)| {
            let extent = &self.slab[slot];
            let apart = start >= end;
            end = extent.end;
            apart && extent.start == start && extent.file == file
        });
        let extents = || cached.iter().map(|(_, slot)| &self.slab[slot]);
        let bytes: u64 = extents().map(Extent::len).sum();
        let is_active = |extent: &&Extent| self.is_active(extent.state.lruvec, extent.state.list);
        let active: u64 = extents().filter(is_active).map(Extent::len).sum();
        disjoint && bytes == cached.bytes && active == cached.active
    }
}
