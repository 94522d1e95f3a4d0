//! The two lists of data blocks, inactive and active, each with its blocks in the order in which they came.
//!
//! A list answers "the first clean (or dirty) block of, or not of, this file" without walking over the others: it keeps
//! the places of each file's clean and dirty blocks apart, and the first place of each file in a set of its own.
//! So a run costs time and memory in proportion to its chunks.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;

use crate::policy::FileId;
use crate::units::Nanos;

/// A run of a file's bytes that are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Whose.
    pub file: FileId,
    /// How many bytes.
    pub size: u64,
    /// Whether the device does not have them yet.
    pub dirty: bool,
    /// When they were last read or written.
    pub accessed: Nanos,
    /// When they were made dirty.
    pub dirtied: Nanos,
    /// The number of the periodic flush that writes or has written them; 0 is none.
    pub flush: u32,
}

/// A place in a list: blocks with smaller places come first. Places are never used again.
pub(super) type Place = u64;

/// The places of some blocks by file, each file's in order, and the first of each file.
#[derive(Default)]
struct Places {
    /// A file that has no blocks any more keeps its empty queue: it will often have some again.
    by_file: FxHashMap<FileId, VecDeque<(Place, u32)>>,
    /// The first place of every file, and places that once were; those are passed over.
    firsts: BinaryHeap<Reverse<(Place, u32, FileId)>>,
}

impl Places {
    fn insert(&mut self, file: FileId, place: Place, slot: u32) {
        let queue = self.by_file.entry(file).or_default();
        match queue.back() {
            Some(&(last, _)) if last < place => queue.push_back((place, slot)),
            _ => {
                let at = queue.partition_point(|&(other, _)| other < place);
                queue.insert(at, (place, slot));
                if at == 0 {
                    self.firsts.push(Reverse((place, slot, file)));
                }
            }
        }
    }

    fn remove(&mut self, file: FileId, place: Place) {
        let queue = self.by_file.get_mut(&file).expect("a block's file has places");
        if queue[0].0 != place {
            let at = queue.partition_point(|&(other, _)| other < place);
            queue.remove(at);
            return;
        }
        queue.pop_front();
        if let Some(&(next, slot)) = queue.front() {
            self.firsts.push(Reverse((next, slot, file)));
        }
    }

    fn first_of(&self, file: FileId) -> Option<(Place, u32)> {
        self.by_file.get(&file).and_then(|queue| queue.front().copied())
    }

    /// The first place of all files but one.
    fn first_not_of(&mut self, file: Option<FileId>) -> Option<(Place, u32)> {
        let mut excepted = None;
        let found = loop {
            let Some(&Reverse(first)) = self.firsts.peek() else { break None };
            let (place, slot, whose) = first;
            if self.first_of(whose) != Some((place, slot)) {
                self.firsts.pop();
            } else if Some(whose) == file {
                excepted = self.firsts.pop();
            } else {
                break Some((place, slot));
            }
        };
        self.firsts.extend(excepted);
        found
    }
}

/// Which blocks of a list are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// All.
    Any,
    /// Of one file.
    Of(FileId),
    /// Of all files but one.
    NotOf(Option<FileId>),
}

/// One list.
#[derive(Default)]
pub(super) struct List {
    slots: Vec<(Place, Block)>,
    vacant: Vec<u32>,
    clean: Places,
    dirty: Places,
    /// When dirty blocks were made so; entries of blocks that are dirty no more are passed over.
    ages: BinaryHeap<Reverse<(Nanos, Place, u32)>>,
    /// The dirty blocks that are older than the last `first_expired` asked for.
    expired: BTreeSet<(Place, u32)>,
    last: Place,
    bytes: u64,
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

    /// How many blocks there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    pub(super) fn block(&self, handle: Handle) -> Block {
        self.slots[handle.slot as usize].1
    }

    fn places(&mut self, dirty: bool) -> &mut Places {
        if dirty { &mut self.dirty } else { &mut self.clean }
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
        self.places(block.dirty).insert(block.file, place, slot);
        if block.dirty {
            self.ages.push(Reverse((block.dirtied, place, slot)));
        }
    }

    /// Takes a block out.
    pub(super) fn remove(&mut self, handle: Handle) -> Block {
        let block = self.block(handle);
        self.bytes -= block.size;
        self.forget(handle, block);
        self.slots[handle.slot as usize].0 = 0;
        self.vacant.push(handle.slot);
        block
    }

    fn forget(&mut self, handle: Handle, block: Block) {
        self.places(block.dirty).remove(block.file, handle.place);
        if block.dirty && !self.expired.is_empty() {
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
        self.slots[handle.slot as usize].1.size -= bytes;
        Block { size: bytes, flush: 0, ..block }
    }

    /// A dirty block is clean from now on, in its place; `flush` is the periodic flush that writes it, or 0.
    pub(super) fn clean(&mut self, handle: Handle, flush: u32) {
        let block = self.block(handle);
        self.forget(handle, block);
        let kept = &mut self.slots[handle.slot as usize].1;
        (kept.dirty, kept.flush) = (false, flush);
        self.clean.insert(block.file, handle.place, handle.slot);
    }

    /// The first dirty (or clean) block of those meant.
    pub(super) fn first(&mut self, dirty: bool, which: Which) -> Option<Handle> {
        let places = self.places(dirty);
        let found = match which {
            Which::Any => places.first_not_of(None),
            Which::Of(file) => places.first_of(file),
            Which::NotOf(file) => places.first_not_of(file),
        };
        found.map(|(place, slot)| Handle { place, slot })
    }

    /// The first block of those meant, clean or dirty.
    pub(super) fn first_of_both(&mut self, which: Which) -> Option<Handle> {
        match (self.first(false, which), self.first(true, which)) {
            (Some(clean), Some(dirty)) => Some(clean.min(dirty)),
            (clean, dirty) => clean.or(dirty),
        }
    }

    /// The first dirty block that was made so at `limit` or before. `limit` never runs back.
    pub(super) fn first_expired(&mut self, limit: Nanos) -> Option<Handle> {
        while let Some(&Reverse((dirtied, place, slot))) = self.ages.peek() {
            if dirtied > limit {
                break;
            }
            self.ages.pop();
            let (current, block) = self.slots[slot as usize];
            if current == place && block.dirty {
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
