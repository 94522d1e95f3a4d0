//! Stores the extents: runs of a file's bytes whose pages are neighbours in one list and in one state.
//!
//! Ours. Extents live in a slab and are known by their slots, so that lists and files can both point to them.

use crate::policy::FileId;
use crate::policy::kernel::vmscan::lruvec::LruvecId;

/// The index of an extent in the slab.
pub type Slot = u32;

/// No extent: the slot behind the last one of a list.
pub const NONE: Slot = Slot::MAX;

/// The flags that all pages of an extent have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The lruvec whose list it is in.
    pub lruvec: LruvecId,
    /// Its list; the replacement policy gives the number a meaning.
    pub list: u8,
    /// Read once since it came into this list: `PG_referenced`.
    pub referenced: bool,
    /// The reads beyond those in the flags: `LRU_REFS_MASK`. Only with generations.
    pub refs: u8,
    /// `PG_workingset`. With two lists: has been active and was deactivated. With generations: read more than once.
    pub workingset: bool,
    /// Reclaim has met it dirty: to be evicted soon after it is written.
    pub reclaim: bool,
}

impl State {
    /// A page that has just come into the cache.
    pub fn fresh(lruvec: LruvecId, list: u8) -> Self {
        State { lruvec, list, referenced: false, refs: 0, workingset: false, reclaim: false }
    }
}

/// A run of a file's bytes in memory. Its lowest byte is the oldest of them in the list, its highest the newest.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub file: FileId,
    pub start: u64,
    pub end: u64,
    pub state: State,
    /// The bytes that had come to its list's head when its first ones did.
    pub begun: u64,
    /// The next one towards the list's tail.
    pub older: Slot,
    /// The next one towards the list's head.
    pub newer: Slot,
}

impl Extent {
    pub fn len(&self) -> u64 {
        self.end - self.start
    }

    /// True if it contains this byte.
    pub fn is_around(&self, file: FileId, at: u64) -> bool {
        self.file == file && (self.start..self.end).contains(&at)
    }

    /// True if `newer`, beside it in the list, could be one extent with it.
    pub fn continues_in(&self, newer: &Extent) -> bool {
        self.file == newer.file && self.end == newer.start && self.state == newer.state
    }
}

/// All extents. Slots of extents that are gone are used again.
#[derive(Default)]
pub struct Slab {
    extents: Vec<Extent>,
    vacant: Vec<Slot>,
}

impl Slab {
    pub fn insert(&mut self, extent: Extent) -> Slot {
        if let Some(slot) = self.vacant.pop() {
            self[slot] = extent;
            return slot;
        }
        self.extents.push(extent);
        (self.extents.len() - 1) as Slot
    }

    pub fn remove(&mut self, slot: Slot) -> Extent {
        self.vacant.push(slot);
        let extent = self[slot];
        // So that who still knows the slot finds nothing there.
        self[slot].end = extent.start;
        extent
    }

    /// Returns the extent in a slot, if there ever was one.
    pub fn get(&self, slot: Slot) -> Option<(Slot, Extent)> {
        self.extents.get(slot as usize).map(|&extent| (slot, extent))
    }

    pub fn len(&self) -> usize {
        self.extents.len() - self.vacant.len()
    }
}

impl std::ops::Index<Slot> for Slab {
    type Output = Extent;

    fn index(&self, slot: Slot) -> &Extent {
        &self.extents[slot as usize]
    }
}

impl std::ops::IndexMut<Slot> for Slab {
    fn index_mut(&mut self, slot: Slot) -> &mut Extent {
        &mut self.extents[slot as usize]
    }
}
