//! Counts bytes, operations and their durations over time, per process and kind.
//!
//! Time is cut into windows of one length, at most [`MOST_WINDOWS`]; when they are full, each two become one. An operation counts in the
//! windows that it was under way in, in proportion; its duration counts in the window that it ended in.

use rustc_hash::FxHashMap;

use crate::units::Nanos;

/// The most windows.
const MOST_WINDOWS: usize = 256;

/// The first length of a window.
const FIRST: Nanos = Nanos(1_000_000);

/// The most processes and kinds that have rows of their own.
const MOST_KEYS: usize = 1_000;

/// A process and a kind of operation; `u32::MAX` stands for several.
pub type RateKey = (u32, &'static str);

/// Bytes and operations of a window, fractions where an operation is in several; durations of those that ended in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// Bytes.
    pub bytes: f64,
    /// Operations.
    pub operations: f64,
    /// Operations that ended in the window.
    pub ended: u64,
    /// The sum of their durations.
    pub total: Nanos,
    /// The longest of them.
    pub longest: Nanos,
}

impl Moved {
    /// The mean duration of the operations that ended in the window, in seconds; none where none has ended.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.ended > 0).then(|| self.total.as_seconds() / self.ended as f64)
    }
}

/// What all operations of a run moved over time.
#[derive(Clone, Debug)]
pub struct Rates {
    width: Nanos,
    places: FxHashMap<RateKey, u32>,
    /// The windows in which something moved, in order, by their number.
    all: Vec<(RateKey, Vec<(u32, Moved)>)>,
}

impl Default for Rates {
    fn default() -> Self {
        Self { width: FIRST, places: FxHashMap::default(), all: Vec::new() }
    }
}

impl Rates {
    /// Counts an operation.
    pub fn add(&mut self, key: RateKey, start: Nanos, end: Nanos, bytes: u64) {
        while end.0 / self.width.0 >= MOST_WINDOWS as u64 {
            self.double();
        }
        let width = self.width.0;
        let (first, last) = (start.0 / width, end.0 / width);
        let windows = self.windows(key);
        let window = at(windows, last as u32);
        window.ended += 1;
        window.total += end - start;
        window.longest = window.longest.max(end - start);
        if first == last {
            window.bytes += bytes as f64;
            window.operations += 1.0;
            return;
        }
        let duration = (end - start).0 as f64;
        for number in first..=last {
            let (from, to) = ((number * width).max(start.0), ((number + 1) * width).min(end.0));
            let share = (to - from) as f64 / duration;
            let window = at(windows, number as u32);
            window.bytes += bytes as f64 * share;
            window.operations += share;
        }
    }

    fn windows(&mut self, key: RateKey) -> &mut Vec<(u32, Moved)> {
        let is_new = !self.places.contains_key(&key);
        let key = if is_new && self.all.len() >= MOST_KEYS { (u32::MAX, key.1) } else { key };
        let next = self.all.len() as u32;
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.all.push((key, Vec::new()));
        }
        &mut self.all[place as usize].1
    }

    fn double(&mut self) {
        self.width = Nanos(self.width.0 * 2);
        for (_, windows) in &mut self.all {
            let halves = windows.chunk_by(|one, other| one.0 / 2 == other.0 / 2);
            *windows = halves
                .map(|half| (half[0].0 / 2, half.iter().map(|each| each.1).fold(Moved::default(), sum)))
                .collect();
        }
    }

    /// Counts what another run has counted; the function gives its processes here.
    pub(super) fn merge(&mut self, mut other: Self, process: impl Fn(u32) -> u32) {
        while self.width < other.width {
            self.double();
        }
        while other.width < self.width {
            other.double();
        }
        for ((of, operation), theirs) in other.all {
            let windows = self.windows((process(of), operation));
            for (number, moved) in theirs {
                let mine = at(windows, number);
                *mine = sum(*mine, moved);
            }
        }
    }

    /// The length of a window.
    #[must_use]
    pub fn width(&self) -> Nanos {
        self.width
    }

    /// The windows of each process and kind, from time 0 to its last operation.
    #[must_use]
    pub fn rows(&self) -> Vec<(RateKey, Vec<Moved>)> {
        let mut rows: Vec<_> = self.all.iter().map(|(key, windows)| (*key, without_gaps(windows))).collect();
        rows.sort_by_key(|&(key, _)| key);
        rows
    }
}

/// The window of this number, which is made if nothing moved in it yet.
fn at(windows: &mut Vec<(u32, Moved)>, number: u32) -> &mut Moved {
    let place = match windows.last() {
        Some(last) if last.0 == number => windows.len() - 1,
        _ => windows.binary_search_by_key(&number, |window| window.0).unwrap_or_else(|place| {
            windows.insert(place, (number, Moved::default()));
            place
        }),
    };
    &mut windows[place].1
}

fn without_gaps(windows: &[(u32, Moved)]) -> Vec<Moved> {
    let mut all = vec![Moved::default(); windows.last().map_or(0, |last| last.0 as usize + 1)];
    windows.iter().for_each(|&(number, moved)| all[number as usize] = moved);
    all
}

fn sum(one: Moved, other: Moved) -> Moved {
    Moved {
        bytes: one.bytes + other.bytes,
        operations: one.operations + other.operations,
        ended: one.ended + other.ended,
        total: one.total + other.total,
        longest: one.longest.max(other.longest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn nothing_is_lost_when_windows_double() {
        let mut rates = Rates::default();
        for at in 0..10_000 {
            rates.add((0, "read"), Nanos(at * MS), Nanos((at + 3) * MS), 4096);
        }
        let rows = rates.rows();
        assert!(rows[0].1.len() <= MOST_WINDOWS);
        let all = rows[0].1.iter().copied().fold(Moved::default(), sum);
        assert!((all.bytes - 4096.0 * 10_000.0).abs() < 1.0 && (all.operations - 10_000.0).abs() < 1e-6);
        assert_eq!(rates.width(), Nanos(64 * MS));
        assert_eq!((all.ended, all.total, all.longest), (10_000, Nanos(30_000 * MS), Nanos(3 * MS)));
    }

    #[test]
    fn an_operation_counts_while_it_is_under_way() {
        let mut rates = Rates::default();
        rates.add((0, "read"), Nanos(MS / 2), Nanos(3 * MS / 2), 100);
        rates.add((0, "write"), Nanos(MS), Nanos(MS), 8);
        let first = Moved { bytes: 50.0, operations: 0.5, ..Moved::default() };
        let second = Moved { ended: 1, total: Nanos(MS), longest: Nanos(MS), ..first };
        let at_once = Moved { bytes: 8.0, operations: 1.0, ended: 1, ..Moved::default() };
        assert_eq!(
            rates.rows(),
            [((0, "read"), vec![first, second]), ((0, "write"), vec![Moved::default(), at_once])]
        );
        assert_eq!((first.mean(), second.mean(), at_once.mean()), (None, Some(1e-3), Some(0.0)));
    }

    #[test]
    fn groups_count_as_one_run() {
        let mut long = Rates::default();
        long.add((0, "read"), Nanos(0), Nanos(4_000 * MS), 4_000);
        let mut short = Rates::default();
        short.add((0, "read"), Nanos(0), Nanos(MS), 7);
        let width = long.width();
        long.merge(short, |process| process + 5);
        assert_eq!((long.width(), long.rows()[1].0), (width, (5, "read")));
        assert_eq!(long.rows()[1].1.iter().copied().fold(Moved::default(), sum).bytes, 7.0);
    }
}
