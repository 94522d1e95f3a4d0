//! Keeps one value for each file, and the extents of a file by offset.
//!
//! Ours: the kernel has `struct address_space` with its tree of folios.

use crate::policy::FileId;
use crate::policy::kernel::vmscan::slab::{NONE, Slot};
use crate::policy::offsets::Offsets;
use std::cell::Cell;
use std::ops::Range;

/// One value for each file. Files are numbered from 0, so the number is the index.
#[derive(Default)]
pub struct ByFile<T>(Vec<T>);

impl<T: Default> ByFile<T> {
    pub fn get(&self, file: FileId) -> Option<&T> {
        self.0.get(file.0 as usize)
    }

    pub fn existing(&mut self, file: FileId) -> Option<&mut T> {
        self.0.get_mut(file.0 as usize)
    }

    pub fn of(&mut self, file: FileId) -> &mut T {
        let place = file.0 as usize;
        if place >= self.0.len() {
            self.0.resize_with(place + 1, T::default);
        }
        &mut self.0[place]
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }

    pub fn iter(&self) -> impl Iterator<Item = (FileId, &T)> {
        self.0.iter().enumerate().map(|(place, value)| (FileId(place as u32), value))
    }
}

/// The extents of a file by their starts, with their bytes and active bytes.
pub struct Cached {
    extents: Offsets<Slot>,
    /// The last extent. Files grow at their end: it is asked for more often than all others.
    last: Option<(u64, Slot)>,
    /// The extent that was looked up last; its slot may be empty, or hold another one, by now.
    pub found: Cell<Slot>,
    /// Bytes without an extent, around the last place that was looked up in vain.
    pub gap: Cell<(u64, u64)>,
    /// No extent is longer.
    longest: u64,
    pub bytes: u64,
    pub active: u64,
    /// Bytes that have come into memory or left it so far.
    pub turnover: u64,
}

impl Default for Cached {
    fn default() -> Self {
        Self {
            extents: Offsets::default(),
            last: None,
            found: Cell::new(NONE),
            gap: Cell::new((0, 0)),
            longest: 0,
            bytes: 0,
            active: 0,
            turnover: 0,
        }
    }
}

impl Cached {
    /// Counts bytes that come into a list.
    pub fn count(&mut self, active: bool, bytes: u64) {
        self.bytes += bytes;
        self.active += if active { bytes } else { 0 };
    }

    /// Counts bytes that leave a list.
    pub fn discount(&mut self, active: bool, bytes: u64) {
        self.bytes -= bytes;
        self.active -= if active { bytes } else { 0 };
    }

    /// True if none of these bytes is known to have an extent.
    pub fn is_gap(&self, start: u64, end: u64) -> bool {
        let (from, to) = self.gap.get();
        from <= start && end <= to
    }

    /// Notes that an extent is so long now.
    pub fn note_length(&mut self, bytes: u64) {
        self.longest = self.longest.max(bytes);
    }

    /// Returns the extent with a byte, or else the first that starts behind it and before `end`. `end_of` tells where extents end.
    pub fn first_in(&self, start: u64, end: u64, end_of: impl Fn(Slot) -> u64) -> Option<Slot> {
        let around = self.extents.around(start);
        let reach = |from: u64| from.saturating_add(self.longest);
        let before = match around.before {
            None if around.floor > 0 && reach(around.floor) > start + 1 => self.extents.before(around.floor),
            before => before,
        };
        let low = match before {
            Some((from, _)) if reach(from) <= start => reach(from),
            Some((_, slot)) if end_of(slot) > start => return Some(slot),
            Some((_, slot)) => end_of(slot),
            None if around.floor > 0 => reach(around.floor).min(start),
            None => 0,
        };
        let behind = match around.behind {
            None if around.ceiling < end => self.extents.from(around.ceiling),
            behind => behind,
        };
        self.gap.set((low, behind.map_or(around.ceiling, |(at, _)| at)));
        behind.filter(|&(at, _)| at < end).map(|(_, slot)| slot)
    }

    /// Notes that bytes come into a list.
    pub fn fill(&mut self, start: u64, end: u64) {
        let (from, to) = self.gap.get();
        if start < to && end > from {
            self.gap.set((0, 0));
        }
    }

    /// Adds an extent.
    pub fn insert(&mut self, start: u64, slot: Slot) {
        self.extents.insert(start, slot);
        if self.last.is_none_or(|(last, _)| last <= start) {
            self.last = Some((start, slot));
        }
    }

    /// Removes the extent that starts there.
    pub fn remove(&mut self, start: u64) {
        self.extents.remove(start);
        if self.extents.is_empty() {
            self.longest = 0;
        }
        if self.last.is_some_and(|(last, _)| last == start) {
            self.last = self.extents.last();
        }
    }

    /// Forgets all extents, but keeps their counts.
    pub fn forget(&mut self) {
        (self.extents, self.last) = (Offsets::default(), None);
        self.gap.set((0, 0));
    }

    /// The number of extents.
    pub fn len(&self) -> usize {
        self.extents.len()
    }

    /// The starts of all extents, and their slots.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Slot)> {
        self.extents.iter()
    }

    /// The extents with these starts.
    pub fn range(&self, starts: Range<u64>) -> impl Iterator<Item = Slot> {
        self.extents.range(starts).map(|(_, slot)| slot)
    }

    /// The last extent.
    pub fn last(&self) -> Option<Slot> {
        self.last.map(|(_, slot)| slot)
    }

    /// The last extent, if it starts before `at`.
    fn last_before(&self, at: u64) -> Option<Slot> {
        self.last.filter(|&(start, _)| start < at).map(|(_, slot)| slot)
    }

    /// The last extent that starts before `at`.
    pub fn starting_before(&self, at: u64) -> Option<Slot> {
        let before = || self.extents.before(at).map(|(_, slot)| slot);
        self.last_before(at).or_else(before)
    }

    /// The extents that may touch bytes without one: the last that starts before their end, and the one that starts there.
    pub fn touching(&self, start: u64, end: u64) -> (Option<Slot>, Option<Slot>) {
        let (from, to) = self.gap.get();
        if from < start && end < to {
            return (None, None);
        }
        self.starting_around(end)
    }

    /// The last extent that starts before `at`, and the one that starts there.
    fn starting_around(&self, at: u64) -> (Option<Slot>, Option<Slot>) {
        if let Some(last) = self.last_before(at) {
            return (Some(last), None);
        }
        let Some(below) = at.checked_sub(1) else {
            return (None, self.extents.from(at).map(|(_, slot)| slot));
        };
        let around = self.extents.around(below);
        let before = around.before.or_else(|| self.extents.before(around.floor));
        let there = match around.behind {
            None if around.ceiling <= at => self.extents.from(at),
            behind => behind,
        };
        (before.map(|(_, slot)| slot), there.filter(|&(start, _)| start == at).map(|(_, slot)| slot))
    }
}
