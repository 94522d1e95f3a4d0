//! Keeps the two lists of data blocks, inactive and active, each in the order of arrival.
//!
//! A list answers "the first clean (or dirty) block of, or not of, this file" without walking over the others: it keeps the places of each
//! file's clean and dirty blocks apart, and the least of each file's first places. So a run costs time and memory in proportion to its
//! chunks.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use super::files::HostFile;
use crate::chunks::Chunks;
use crate::least::Least;
use crate::units::Nanos;

/// A run of a file's bytes that are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The file.
    pub file: HostFile,
    /// The number of bytes.
    pub size: u64,
    /// True if the device does not have them yet.
    pub dirty: bool,
    /// The time at which they were last read or written.
    pub accessed: Nanos,
    /// The time at which they were made dirty.
    pub dirtied: Nanos,
    /// The number of the periodic flush that writes or has written them; 0 is none.
    pub flush: u32,
}

/// A place in a list: blocks with smaller places come first. Places are never used again.
pub(super) type Place = u64;

/// An empty queue keeps the memory of so many places: a file's blocks leave one queue for another once for all.
const KEPT: usize = 16;

/// Blocks and their places, by slot.
type Slots = Chunks<(Place, Block)>;

/// The slots of some blocks of one file, in the order of their places.
#[derive(Default)]
struct Queue {
    /// Blocks that came after all others.
    last: VecDeque<u32>,
    /// Blocks that came between others, as a block does that becomes clean in its place. They come in order, too. In a queue of their
    /// own they need not move others.
    between: VecDeque<u32>,
}

impl Queue {
    fn first(&self, slots: &Slots) -> Option<(Place, u32)> {
        let place = |&slot: &u32| (slots[slot as usize].0, slot);
        match (self.last.front().map(place), self.between.front().map(place)) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    fn insert(&mut self, slot: u32, slots: &Slots) {
        let place = |slot: u32| slots[slot as usize].0;
        if self.last.back().is_none_or(|&last| place(last) < place(slot)) {
            self.last.push_back(slot);
            return;
        }
        let at = self.between.partition_point(|&other| place(other) < place(slot));
        self.between.insert(at, slot);
    }

    fn remove(&mut self, slot: u32, slots: &Slots) {
        let place = |slot: u32| slots[slot as usize].0;
        for queue in [&mut self.last, &mut self.between] {
            let at = match queue.front() {
                Some(&first) if place(first) >= place(slot) => 0,
                _ => queue.partition_point(|&other| place(other) < place(slot)),
            };
            if queue.get(at) == Some(&slot) {
                queue.remove(at);
                if queue.is_empty() && queue.capacity() > KEPT {
                    *queue = VecDeque::new();
                }
                return;
            }
        }
        unreachable!("a block's file has its place");
    }
}

/// The slots of some blocks by file, and the first of each file.
#[derive(Default)]
struct Places {
    by_file: Vec<Queue>,
    firsts: Least,
}

impl Places {
    fn insert(&mut self, file: HostFile, slot: u32, slots: &Slots) {
        if self.by_file.len() <= file.index() {
            self.by_file.resize_with(file.index() + 1, Queue::default);
        }
        let queue = &mut self.by_file[file.index()];
        queue.insert(slot, slots);
        let first = queue.first(slots);
        if first.is_some_and(|(_, first)| first == slot) {
            self.firsts.set(file.0, first);
        }
    }

    fn remove(&mut self, file: HostFile, slot: u32, slots: &Slots) {
        let queue = &mut self.by_file[file.index()];
        let was_first = queue.first(slots).is_some_and(|(_, first)| first == slot);
        queue.remove(slot, slots);
        if was_first {
            self.firsts.set(file.0, queue.first(slots));
        }
    }

    fn first_of(&self, file: HostFile, slots: &Slots) -> Option<(Place, u32)> {
        self.by_file.get(file.index()).and_then(|queue| queue.first(slots))
    }

    /// Returns the first place of all files but one.
    fn first_not_of(&self, file: Option<HostFile>) -> Option<(Place, u32)> {
        match file {
            Some(file) => self.firsts.least_but(file.0),
            None => self.firsts.least(),
        }
    }
}

/// A choice of blocks of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// All.
    Any,
    /// Of one file.
    Of(HostFile),
    /// Of all files but one.
    NotOf(Option<HostFile>),
}

/// One list.
#[derive(Default)]
pub(super) struct List {
    slots: Slots,
    vacant: Vec<u32>,
    clean: Places,
    dirty: Places,
    /// The times at which dirty blocks were made so, and their slots; entries of blocks that are clean now are passed over.
    ages: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// The dirty blocks that are older than the last `first_expired` asked for.
    expired: BTreeSet<(Place, u32)>,
    last: Place,
    bytes: u64,
    bytes_of: Vec<u64>,
}

/// A block of a list, valid until that list changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Handle {
    place: Place,
    slot: u32,
}

impl List {
    /// All bytes of its blocks.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of a file's blocks.
    pub(super) fn bytes_of(&self, file: HostFile) -> u64 {
        self.bytes_of.get(file.index()).copied().unwrap_or(0)
    }

    /// The number of blocks.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    pub(super) fn block(&self, handle: Handle) -> Block {
        self.slots[handle.slot as usize].1
    }

    fn places(&self, dirty: bool) -> &Places {
        if dirty { &self.dirty } else { &self.clean }
    }

    /// The places of clean or of dirty blocks, to be changed, and all slots.
    fn places_mut(&mut self, dirty: bool) -> (&mut Places, &Slots) {
        (if dirty { &mut self.dirty } else { &mut self.clean }, &self.slots)
    }

    /// Puts a block at the end. Blocks of no bytes are not kept.
    pub(super) fn push(&mut self, block: Block) {
        if block.size == 0 {
            return;
        }
        self.last += 1;
        let place = self.last;
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.slots[slot as usize] = (place, block);
                slot
            }
            None => {
                self.slots.push((place, block));
                self.slots.len() as u32 - 1
            }
        };
        self.bytes += block.size;
        if self.bytes_of.len() <= block.file.index() {
            self.bytes_of.resize(block.file.index() + 1, 0);
        }
        self.bytes_of[block.file.index()] += block.size;
        let (places, slots) = self.places_mut(block.dirty);
        places.insert(block.file, slot, slots);
        if block.dirty {
            self.ages.push(Reverse((block.dirtied, slot)));
        }
    }

    /// Takes a block out.
    pub(super) fn remove(&mut self, handle: Handle) -> Block {
        let block = self.block(handle);
        self.bytes -= block.size;
        self.bytes_of[block.file.index()] -= block.size;
        self.forget(handle, block);
        self.slots[handle.slot as usize].0 = 0;
        self.vacant.push(handle.slot);
        block
    }

    fn forget(&mut self, handle: Handle, block: Block) {
        let (places, slots) = self.places_mut(block.dirty);
        places.remove(block.file, handle.slot, slots);
        if block.dirty {
            self.expired.remove(&(handle.place, handle.slot));
        }
    }

    /// Takes bytes off a block, which keeps its place, and returns them as a block; all of them if it has no more.
    pub(super) fn take(&mut self, handle: Handle, bytes: u64) -> Block {
        let block = self.block(handle);
        if bytes >= block.size {
            return self.remove(handle);
        }
        self.bytes -= bytes;
        self.bytes_of[block.file.index()] -= bytes;
        self.slots[handle.slot as usize].1.size -= bytes;
        Block { size: bytes, flush: 0, ..block }
    }

    /// Makes a dirty block clean, in its place; `flush` is the periodic flush that writes it, or 0.
    pub(super) fn clean(&mut self, handle: Handle, flush: u32) {
        let block = self.block(handle);
        self.forget(handle, block);
        let kept = &mut self.slots[handle.slot as usize].1;
        (kept.dirty, kept.flush) = (false, flush);
        self.clean.insert(block.file, handle.slot, &self.slots);
    }

    /// The first dirty (or clean) block of those meant.
    pub(super) fn first(&self, dirty: bool, which: Which) -> Option<Handle> {
        let places = self.places(dirty);
        let found = match which {
            Which::Any => places.first_not_of(None),
            Which::Of(file) => places.first_of(file, &self.slots),
            Which::NotOf(file) => places.first_not_of(file),
        };
        found.map(|(place, slot)| Handle { place, slot })
    }

    /// The first block of those meant, clean or dirty.
    pub(super) fn first_of_both(&self, which: Which) -> Option<Handle> {
        match (self.first(false, which), self.first(true, which)) {
            (Some(clean), Some(dirty)) => Some(clean.min(dirty)),
            (clean, dirty) => clean.or(dirty),
        }
    }

    /// The first dirty block that was made so at `limit` or before. `limit` never runs back.
    pub(super) fn first_expired(&mut self, limit: Nanos) -> Option<Handle> {
        while let Some(&Reverse((dirtied, slot))) = self.ages.peek() {
            if dirtied > limit {
                break;
            }
            self.ages.pop();
            let (place, block) = self.slots[slot as usize];
            if place > 0 && block.dirty && block.dirtied == dirtied {
                self.expired.insert((place, slot));
            }
        }
        self.expired.first().map(|&(place, slot)| Handle { place, slot })
    }

    /// All blocks in order, for tests and reports.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut all: Vec<&(Place, Block)> = self.slots.iter().filter(|&&(place, _)| place > 0).collect();
        all.sort_unstable_by_key(|(place, _)| *place);
        all.into_iter().map(|&(_, block)| block).collect()
    }
}

#[cfg(test)]
mod tests;
