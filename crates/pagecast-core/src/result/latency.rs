//! Counts how long operations take, per process, file and kind.
//!
//! A few durations are kept as they are, more of them in a histogram with three significant digits (hdrhistogram), so that an operation
//! costs no memory. A percentile is the smallest duration that so many percent of the operations did not exceed, as fio has it.
//!
//! Beyond [`Latencies::MOST_KEYS`] keys, operations of further processes and files are counted by their kind alone.

use std::sync::Arc;

use hdrhistogram::Histogram;
use rustc_hash::FxHashMap;

use super::parts::Parts;
use crate::units::Nanos;

/// So many durations are kept as they are.
const FEW: usize = 64;

/// Significant digits of a histogram: durations in it are right to a thousandth.
const DIGITS: u8 = 3;

/// A process, a path and a kind of operation; `u32::MAX` stands for several.
pub type LatencyKey = (u32, u32, &'static str);

/// The durations of operations of one kind.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    /// How many operations there were.
    pub count: u64,
    /// The bytes that they moved.
    pub bytes: u64,
    /// The parts of their durations, in sum.
    pub parts: Parts,
    /// The sum of their durations.
    pub total: Nanos,
    /// The longest.
    pub longest: Nanos,
    /// When the first one began, and when the last one ended; none without any.
    pub span: Option<(Nanos, Nanos)>,
    durations: Durations,
}

#[derive(Clone, Debug)]
enum Durations {
    Few(Vec<u64>),
    Many(Box<Histogram<u32>>),
}

impl Default for Durations {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Latency {
    /// Counts an operation.
    pub fn add(&mut self, (start, end): (Nanos, Nanos), bytes: u64, parts: &Parts) {
        let duration = end - start;
        self.extend((start, end));
        self.count += 1;
        self.bytes += bytes;
        self.parts.add_all(parts);
        self.total += duration;
        self.longest = self.longest.max(duration);
        match &mut self.durations {
            Durations::Few(few) if few.len() < FEW => few.push(duration.0),
            Durations::Few(few) => {
                let mut histogram = empty();
                few.iter().chain([&duration.0]).for_each(|&each| record(&mut histogram, each));
                self.durations = Durations::Many(Box::new(histogram));
            }
            Durations::Many(histogram) => record(histogram, duration.0),
        }
    }

    fn extend(&mut self, (start, end): (Nanos, Nanos)) {
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
    }

    /// Counts all operations that another one has counted.
    pub fn merge(&mut self, other: &Self) {
        other.span.into_iter().for_each(|span| self.extend(span));
        self.count += other.count;
        self.bytes += other.bytes;
        self.parts.add_all(&other.parts);
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
        let mut histogram = match (&mut self.durations, &other.durations) {
            (Durations::Few(few), Durations::Few(others)) if few.len() + others.len() <= FEW => {
                few.extend(others);
                return;
            }
            (mine, _) => histogram_of(std::mem::take(mine)),
        };
        match &other.durations {
            Durations::Few(few) => few.iter().for_each(|&each| record(&mut histogram, each)),
            Durations::Many(others) => histogram.add(&**others).expect("it grows as it must"),
        }
        self.durations = Durations::Many(histogram);
    }

    /// The smallest duration that `share` of the operations (0 to 1) did not exceed; 0 of none.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Nanos {
        match &self.durations {
            Durations::Few(few) => {
                let mut sorted = few.clone();
                sorted.sort_unstable();
                let rank = (share * sorted.len() as f64).ceil() as usize;
                Nanos(sorted.get(rank.max(1) - 1).copied().unwrap_or(0))
            }
            Durations::Many(histogram) => Nanos(histogram.value_at_quantile(share)).min(self.longest),
        }
    }

    /// The mean duration.
    #[must_use]
    pub fn mean(&self) -> Nanos {
        Nanos(self.total.0.checked_div(self.count).unwrap_or(0))
    }

    /// The standard deviation of the durations, in seconds.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let mean = self.total.as_seconds() / self.count.max(1) as f64;
        let squares: f64 =
            self.bins().iter().map(|&(end, count)| (end.as_seconds() - mean).powi(2) * count as f64).sum();
        (squares / self.count.max(1) as f64).sqrt()
    }

    /// The histogram: the longest duration of each bin that is not empty, and how many operations it has.
    #[must_use]
    pub fn bins(&self) -> Vec<(Nanos, u64)> {
        match &self.durations {
            Durations::Few(few) => {
                let mut sorted = few.clone();
                sorted.sort_unstable();
                let equal = sorted.chunk_by(|one, other| one == other);
                equal.map(|bin| (Nanos(bin[0]), bin.len() as u64)).collect()
            }
            Durations::Many(histogram) => {
                let bins = histogram.iter_recorded();
                bins.map(|bin| (Nanos(bin.value_iterated_to()).min(self.longest), bin.count_at_value()))
                    .map(|(end, count)| (end, u64::from(count)))
                    .collect()
            }
        }
    }
}

fn empty() -> Histogram<u32> {
    Histogram::new(DIGITS).expect("so many digits can be had")
}

fn record(histogram: &mut Histogram<u32>, duration: u64) {
    histogram.record(duration).expect("it grows as it must");
}

fn histogram_of(durations: Durations) -> Box<Histogram<u32>> {
    match durations {
        Durations::Many(histogram) => histogram,
        Durations::Few(few) => {
            let mut histogram = empty();
            few.into_iter().for_each(|each| record(&mut histogram, each));
            Box::new(histogram)
        }
    }
}

/// The durations of all operations of a run.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    places: FxHashMap<LatencyKey, u32>,
    all: Vec<(LatencyKey, Latency)>,
}

impl Latencies {
    /// The most keys that have a row of their own.
    pub const MOST_KEYS: usize = 20_000;

    /// Counts an operation.
    pub fn add(&mut self, key: LatencyKey, span: (Nanos, Nanos), bytes: u64, parts: &Parts) {
        self.of(key).add(span, bytes, parts);
    }

    fn of(&mut self, (process, path, operation): LatencyKey) -> &mut Latency {
        let mut key = (process, path, operation);
        if self.all.len() >= Self::MOST_KEYS && !self.places.contains_key(&key) {
            key = (u32::MAX, u32::MAX, operation);
        }
        let next = self.all.len() as u32;
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.all.push((key, Latency::default()));
        }
        &mut self.all[place as usize].1
    }

    /// Counts what another run has counted; the functions give its processes and paths here.
    pub(super) fn merge(&mut self, other: &Self, process: impl Fn(u32) -> u32, path: impl Fn(u32) -> u32) {
        for &((of, on, operation), ref latency) in &other.all {
            self.of((process(of), path(on), operation)).merge(latency);
        }
    }

    /// All rows by process, path and kind, those of several last.
    #[must_use]
    pub fn rows(&self, paths: &[Arc<str>]) -> Vec<(LatencyKey, &Latency)> {
        let mut rows: Vec<_> = self.all.iter().map(|(key, latency)| (*key, latency)).collect();
        rows.sort_by_key(|&((process, path, operation), _)| (process, paths.get(path as usize), operation));
        rows
    }

    /// True if nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Part;

    fn latency(durations: impl IntoIterator<Item = u64>) -> Latency {
        let mut latency = Latency::default();
        for duration in durations {
            latency.add((Nanos(5), Nanos(5 + duration)), 10, &Parts::of(Part::Sleep, Nanos(duration)));
        }
        latency
    }

    fn quantiles(latency: &Latency) -> [u64; 4] {
        [0.5, 0.9, 0.99, 1.0].map(|share| latency.quantile(share).0)
    }

    #[test]
    fn a_quantile_is_one_of_the_durations() {
        assert_eq!(quantiles(&latency([30, 10, 20])), [20, 30, 30, 30]);
        assert_eq!(quantiles(&latency([])), [0; 4]);
        assert_eq!(latency([30, 10, 20]).mean(), Nanos(20));
        assert_eq!((latency([30, 10]).span, latency([]).span), (Some((Nanos(5), Nanos(35))), None));
    }

    #[test]
    fn many_are_right_to_a_thousandth() {
        let many = latency((1..=100_000).map(|at| at * 1000));
        for (found, exact) in quantiles(&many).into_iter().zip([50_000_000.0, 90e6, 99e6, 100e6]) {
            assert!((found as f64 / exact - 1.0).abs() <= 1e-3, "{found} and {exact}");
        }
        assert_eq!((many.count, many.bytes, many.longest), (100_000, 1_000_000, Nanos(100_000_000)));
        assert_eq!(many.bins().iter().map(|bin| bin.1).sum::<u64>(), 100_000);
        assert_eq!(many.parts.total(), many.total);
    }

    #[test]
    fn parts_of_a_run_count_as_one() {
        let split = |sizes: [u64; 2]| {
            let mut first = latency(0..sizes[0]);
            first.merge(&latency(sizes[0]..sizes[0] + sizes[1]));
            (quantiles(&first), first.count, first.total, first.span)
        };
        for sizes in [[3, 4], [60, 60], [1, 1000], [1000, 1], [1000, 1000], [0, 5]] {
            let whole = latency(0..sizes[0] + sizes[1]);
            assert_eq!(split(sizes), (quantiles(&whole), whole.count, whole.total, whole.span), "{sizes:?}");
        }
    }

    #[test]
    fn further_keys_are_counted_by_kind() {
        let mut latencies = Latencies::default();
        for process in 0..Latencies::MOST_KEYS as u32 + 10 {
            latencies.add((process, 0, "read"), (Nanos(0), Nanos(5)), 1, &Parts::default());
        }
        let rows = latencies.rows(&[]);
        assert_eq!(rows.len(), Latencies::MOST_KEYS + 1);
        let (key, last) = rows[rows.len() - 1];
        assert_eq!((key, last.count), ((u32::MAX, u32::MAX, "read"), 10));
    }
}
