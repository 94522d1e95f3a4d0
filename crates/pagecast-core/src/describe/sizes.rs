//! Counts numbers: each of few by itself, many by powers of two.

use rustc_hash::FxHashMap;
use serde::Serialize;

/// With more values than this they are counted by powers of two.
const MOST_VALUES: usize = 1024;

/// Requests of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeRow {
    /// The bytes of each; with more than 1,024 different sizes, those of the smallest.
    pub bytes: u64,
    /// How many reads.
    pub reads: u64,
    /// How many writes.
    pub writes: u64,
}

/// Requests of a class and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClassSizeRow {
    /// The class.
    pub class: &'static str,
    /// The bytes of each, as in [`SizeRow`].
    pub bytes: u64,
    /// How many reads.
    pub reads: u64,
    /// How many writes.
    pub writes: u64,
}

/// Times of a length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimeRow {
    /// The shortest, in seconds; the longest is below twice as much.
    pub time_s: f64,
    /// How many.
    pub count: u64,
}

/// Runs of a class and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CountRow {
    /// The class of most of their requests.
    pub class: &'static str,
    /// The number; with more than 1,024 different ones, the smallest up to the next power of two.
    pub value: u64,
    /// How many.
    pub count: u64,
}

/// How often each number came, as a first and as a second kind.
#[derive(Default)]
pub struct Bins {
    counts: FxHashMap<u64, [u64; 2]>,
    is_coarse: bool,
}

/// The power of two up to a number.
pub(super) fn floor(value: u64) -> u64 {
    value.checked_ilog2().map_or(0, |bits| 1 << bits)
}

impl Bins {
    pub fn add(&mut self, value: u64, kind: usize) {
        self.add_all(value, if kind == 0 { [1, 0] } else { [0, 1] });
    }

    pub fn add_all(&mut self, value: u64, counts: [u64; 2]) {
        let value = if self.is_coarse { floor(value) } else { value };
        let sums = self.counts.entry(value).or_default();
        (0..2).for_each(|kind| sums[kind] += counts[kind]);
        if self.counts.len() > MOST_VALUES && !self.is_coarse {
            self.is_coarse = true;
            self.counts = by_powers(&self.counts);
        }
    }

    pub fn size_rows(&self) -> Vec<SizeRow> {
        let mut rows: Vec<SizeRow> =
            self.counts.iter().map(|(&bytes, &[reads, writes])| SizeRow { bytes, reads, writes }).collect();
        rows.sort_unstable_by_key(|row| row.bytes);
        rows
    }

    pub fn count_rows(&self, class: &'static str) -> impl Iterator<Item = CountRow> {
        let rows = self.size_rows().into_iter();
        rows.map(move |row| CountRow { class, value: row.bytes, count: row.reads })
    }

    pub fn class_size_rows(&self, class: &'static str) -> impl Iterator<Item = ClassSizeRow> {
        let rows = self.size_rows().into_iter();
        rows.map(move |SizeRow { bytes, reads, writes }| ClassSizeRow { class, bytes, reads, writes })
    }

    /// Numbers of nanoseconds, by powers of two.
    pub fn time_rows(&self) -> Vec<TimeRow> {
        let mut counts: Vec<(u64, [u64; 2])> = by_powers(&self.counts).into_iter().collect();
        counts.sort_unstable();
        counts.iter().map(|&(time, [count, _])| TimeRow { time_s: time as f64 / 1e9, count }).collect()
    }
}

fn by_powers(counts: &FxHashMap<u64, [u64; 2]>) -> FxHashMap<u64, [u64; 2]> {
    let mut coarse: FxHashMap<u64, [u64; 2]> = FxHashMap::default();
    for (&value, of) in counts {
        let sum = coarse.entry(floor(value)).or_default();
        (0..2).for_each(|kind| sum[kind] += of[kind]);
    }
    coarse
}
