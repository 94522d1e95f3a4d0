//! Keeps the dirty blocks of the page cache: file, bytes, age, active or not.
//!
//! Source: Algorithm 1's `update_cache` and `balance_cache`. A block comes from one write. Bytes that are written again while they are
//! dirty are cut out of the older blocks and become one active block; the rest of the older blocks stays as it was. The device takes
//! inactive blocks, oldest first. When more than half of the bytes are active, the oldest active blocks become inactive. A block is found
//! by its place in logarithmic time and by its age at once.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use self::queues::{Index, Queues};

mod queues;

/// The state of a block: the queue that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Inactive,
    /// Inactive again, as one of the oldest active ones.
    Retired,
    Active,
}

impl State {
    const INACTIVE: [Self; 2] = [Self::Inactive, Self::Retired];
    const ALL: [Self; 3] = [Self::Inactive, Self::Retired, Self::Active];
}

#[derive(Clone, Copy, Debug)]
struct Block {
    start: u64,
    end: u64,
    /// The number of the write that it comes from: later writes have greater ones.
    number: u64,
    /// The end of that write.
    finished: f64,
    file: u32,
    state: State,
}

impl Block {
    fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// The blocks of a file by their first bytes.
type Places = BTreeMap<u64, Index>;

/// The dirty blocks; see the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    files: FxHashMap<u32, Places>,
    queues: Queues,
    writes: u64,
    /// The blocks that a write has found, and the runs of bytes that it has written again: kept for their memory.
    found: Vec<(u64, Index)>,
    again: Vec<Range<u64>>,
}

/// The part of a block that the device has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cleaned {
    pub bytes: u64,
    /// True if it is all of the block.
    pub is_whole: bool,
}

impl Blocks {
    /// All bytes, each once.
    pub(super) fn bytes(&self) -> u64 {
        State::ALL.into_iter().map(|state| self.queues.bytes(state)).sum()
    }

    /// The bytes of active blocks.
    pub(super) fn active_bytes(&self) -> u64 {
        self.queues.bytes(State::Active)
    }

    /// The bytes of a file, and those of them in active blocks.
    pub(super) fn of_file(&self, file: u32) -> (u64, u64) {
        let blocks = self.files.get(&file).into_iter().flatten().map(|(_, &at)| self.queues.block(at));
        blocks.fold((0, 0), |(all, active), block| {
            let bytes = block.bytes();
            (all + bytes, active + if block.state == State::Active { bytes } else { 0 })
        })
    }

    /// The end of the oldest write with a block left.
    pub(super) fn oldest(&self) -> Option<f64> {
        self.queues.oldest(&State::ALL).map(|at| self.queues.block(at).finished)
    }

    /// Returns how many bytes of a file's range are there.
    pub(super) fn covered(&self, file: u32, range: &Range<u64>) -> u64 {
        let Some(places) = self.files.get(&file) else { return 0 };
        let found = overlapping(places, &self.queues, range);
        found.map(|(start, at)| self.queues.block(at).end.min(range.end) - start.max(range.start)).sum()
    }

    /// `update_cache`: makes a range of a file dirty by a write that ended at `finished`.
    pub(super) fn write(&mut self, file: u32, range: Range<u64>, finished: f64) {
        self.writes += 1;
        self.cut(file, &range);
        let (again, number) = (std::mem::take(&mut self.again), self.writes);
        let places = self.files.entry(file).or_default();
        let mut insert = |start, end, state| {
            places.insert(start, self.queues.push(Block { start, end, number, finished, file, state }));
        };
        let mut at = range.start;
        for old in &again {
            if at < old.start {
                insert(at, old.start, State::Inactive);
            }
            insert(old.start, old.end, State::Active);
            at = old.end;
        }
        if at < range.end {
            insert(at, range.end, State::Inactive);
        }
        self.again = again;
    }

    /// Removes bytes of a file.
    pub(super) fn discard(&mut self, file: u32, range: &Range<u64>) {
        self.cut(file, range);
        let Some(places) = self.files.get_mut(&file) else { return };
        for run in &self.again {
            places.remove(&run.start);
        }
    }

    /// Cleans the oldest inactive block, or as many of its last bytes. Nothing if there is none.
    pub(super) fn clean(&mut self, most: f64) -> Option<Cleaned> {
        let at = self.queues.oldest(&State::INACTIVE)?;
        let block = *self.queues.block(at);
        let bytes = block.bytes();
        if most >= bytes as f64 {
            self.files.get_mut(&block.file).expect("a block is in its file").remove(&block.start);
            self.queues.remove(at);
            return Some(Cleaned { bytes, is_whole: true });
        }
        let bytes = most as u64;
        self.queues.shrink(at, block.start, block.end - bytes);
        Some(Cleaned { bytes, is_whole: false })
    }

    /// `balance_cache`: makes the oldest active blocks inactive until no more than half of all bytes are active.
    pub(super) fn balance(&mut self) {
        while self.active_bytes() > self.bytes() / 2 {
            self.queues.move_oldest(State::Active, State::Retired);
        }
    }

    /// Takes a range out of the blocks of a file. `again` holds the bytes of it that were there: runs in order, that do not touch. A
    /// block that was at the beginning of a run is left in the file's places, for the caller to replace or to remove: that saves a
    /// search.
    fn cut(&mut self, file: u32, range: &Range<u64>) {
        self.again.clear();
        let Some(places) = self.files.get_mut(&file) else { return };
        self.found.clear();
        self.found.extend(overlapping(places, &self.queues, range));
        for &(start, at) in &self.found {
            let end = self.queues.block(at).end;
            let (from, to) = (start.max(range.start), end.min(range.end));
            match self.again.last_mut() {
                Some(before) if before.end == from => {
                    before.end = to;
                    places.remove(&from);
                }
                _ => self.again.push(from..to),
            }
            match (start < from, to < end) {
                (true, true) => {
                    places.insert(to, self.queues.split(at, from, to));
                }
                (true, false) => self.queues.shrink(at, start, from),
                (false, true) => {
                    self.queues.shrink(at, to, end);
                    places.insert(to, at);
                }
                (false, false) => self.queues.remove(at),
            }
        }
    }
}

/// First bytes and indices of the blocks of a file that have bytes of a range.
fn overlapping(places: &Places, queues: &Queues, range: &Range<u64>) -> impl Iterator<Item = (u64, Index)> {
    let before = places.range(..range.start).next_back();
    let before = before.filter(|&(_, &at)| queues.block(at).end > range.start);
    // A file that is written in order is quicker than by a second search.
    let goes_on = places.last_key_value().is_some_and(|(&last, _)| last >= range.start);
    let after = goes_on.then(|| places.range(range.clone()));
    before.into_iter().chain(after.into_iter().flatten()).map(|(&start, &at)| (start, at))
}

#[cfg(test)]
mod tests;
