//! The dirty blocks of the page cache: which bytes of which file, since when, active or not.
//!
//! Algorithm 1's `update_cache` and `balance_cache`. A block comes from one write. What is written again while it is dirty is cut out of
//! the older blocks and becomes one active block; the rest of them stays as it was. The device takes inactive blocks,
//! oldest first; when more than half of the bytes are active, the oldest active blocks become inactive. All in logarithmic time.

use std::collections::BTreeMap;
use std::ops::Range;

/// A file and the first byte of a block in it.
type Place = (u32, u64);

/// Of the write that a block comes from, its number: later writes have greater ones. Then its place.
type Age = (u64, Place);

#[derive(Clone, Copy, Debug)]
struct Block {
    end: u64,
    number: u64,
    /// When the write ended that it comes from.
    finished: f64,
    is_active: bool,
}

/// Blocks by age, with when their writes ended.
#[derive(Clone, Debug, Default)]
struct Queue {
    by_age: BTreeMap<Age, f64>,
    bytes: u64,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    blocks: BTreeMap<Place, Block>,
    inactive: Queue,
    active: Queue,
    writes: u64,
}

/// What the device has written of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cleaned {
    pub bytes: u64,
    /// Nothing of the block is left.
    pub is_whole: bool,
}

impl Blocks {
    /// All bytes, each once.
    pub(super) fn bytes(&self) -> u64 {
        self.inactive.bytes + self.active.bytes
    }

    /// The bytes of active blocks.
    pub(super) fn active_bytes(&self) -> u64 {
        self.active.bytes
    }

    /// The bytes of a file, and those of them in active blocks.
    pub(super) fn of_file(&self, file: u32) -> (u64, u64) {
        let blocks = self.blocks.range((file, 0)..=(file, u64::MAX));
        blocks.fold((0, 0), |(all, active), (&(_, start), block)| {
            let bytes = block.end - start;
            (all + bytes, active + if block.is_active { bytes } else { 0 })
        })
    }

    /// When the oldest write ended of which something is left.
    pub(super) fn oldest(&self) -> Option<f64> {
        let first = |queue: &Queue| queue.by_age.first_key_value().map(|(&age, &finished)| (age, finished));
        let older = match (first(&self.inactive), first(&self.active)) {
            (Some(one), Some(other)) => Some(if one.0 < other.0 { one } else { other }),
            (one, other) => one.or(other),
        };
        older.map(|(_, finished)| finished)
    }

    /// How many bytes of a file's range are there.
    pub(super) fn covered(&self, file: u32, range: &Range<u64>) -> u64 {
        self.overlapping(file, range).map(|(start, end)| end.min(range.end) - start.max(range.start)).sum()
    }

    /// `update_cache`: a write that ended then has made this range of a file dirty.
    pub(super) fn write(&mut self, file: u32, range: Range<u64>, finished: f64) {
        self.writes += 1;
        let number = self.writes;
        let new = |end, is_active| Block { end, number, finished, is_active };
        let again = self.cut(file, &range);
        let mut at = range.start;
        for old in again {
            if at < old.start {
                self.insert((file, at), new(old.start, false));
            }
            self.insert((file, old.start), new(old.end, true));
            at = old.end;
        }
        if at < range.end {
            self.insert((file, at), new(range.end, false));
        }
    }

    /// These bytes of a file are gone.
    pub(super) fn discard(&mut self, file: u32, range: &Range<u64>) {
        self.cut(file, range);
    }

    /// The device has written the oldest inactive block, or as many of its last bytes. Nothing if there is none.
    pub(super) fn clean(&mut self, most: f64) -> Option<Cleaned> {
        let (&(_, place), _) = self.inactive.by_age.first_key_value()?;
        let block = self.blocks.get_mut(&place).expect("a block in a queue is there");
        let bytes = block.end - place.1;
        if most >= bytes as f64 {
            self.remove(place);
            return Some(Cleaned { bytes, is_whole: true });
        }
        let bytes = most as u64;
        block.end -= bytes;
        self.inactive.bytes -= bytes;
        Some(Cleaned { bytes, is_whole: false })
    }

    /// `balance_cache`: the oldest active blocks become inactive until no more than half of all bytes are active.
    pub(super) fn balance(&mut self) {
        while self.active.bytes > self.bytes() / 2 {
            let Some((&(_, place), _)) = self.active.by_age.first_key_value() else { return };
            let block = self.remove(place);
            self.insert(place, Block { is_active: false, ..block });
        }
    }

    /// Takes a range out of the blocks of a file. Gives what of it was there: runs in order, that do not touch.
    fn cut(&mut self, file: u32, range: &Range<u64>) -> Vec<Range<u64>> {
        let mut found: Vec<Range<u64>> = Vec::new();
        let starts: Vec<u64> = self.overlapping(file, range).map(|(start, _)| start).collect();
        for start in starts {
            let block = self.remove((file, start));
            if start < range.start {
                self.insert((file, start), Block { end: range.start, ..block });
            }
            if range.end < block.end {
                self.insert((file, range.end), block);
            }
            let (from, to) = (start.max(range.start), block.end.min(range.end));
            match found.last_mut() {
                Some(before) if before.end == from => before.end = to,
                _ => found.push(from..to),
            }
        }
        found
    }

    /// First bytes and ends of the blocks that have bytes of a range.
    fn overlapping(&self, file: u32, range: &Range<u64>) -> impl Iterator<Item = (u64, u64)> {
        let (first, end) = ((file, range.start), (file, range.end));
        let before = self.blocks.range((file, 0)..first).next_back();
        let before = before.filter(move |(_, block)| block.end > first.1);
        // A file that is written in order is quicker than by a second search.
        let goes_on = self.blocks.last_key_value().is_some_and(|(last, _)| *last >= first);
        let after = goes_on.then(|| self.blocks.range(first..end));
        before.into_iter().chain(after.into_iter().flatten()).map(|(&(_, start), block)| (start, block.end))
    }

    fn insert(&mut self, place: Place, block: Block) {
        let queue = self.queue(block.is_active);
        queue.by_age.insert((block.number, place), block.finished);
        queue.bytes += block.end - place.1;
        self.blocks.insert(place, block);
    }

    fn remove(&mut self, place: Place) -> Block {
        let block = self.blocks.remove(&place).expect("blocks are known by their places");
        let queue = self.queue(block.is_active);
        queue.by_age.remove(&(block.number, place));
        queue.bytes -= block.end - place.1;
        block
    }

    fn queue(&mut self, is_active: bool) -> &mut Queue {
        if is_active { &mut self.active } else { &mut self.inactive }
    }
}

#[cfg(test)]
mod tests;
