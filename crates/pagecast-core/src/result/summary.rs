//! Sums up the operations of a run: how long they took, and what they moved over time.

use rustc_hash::FxHashSet;

use super::latency::{Latencies, LatencyKey};
use super::parts::Parts;
use super::rates::Rates;
use super::record::Record;
use super::tables::SimulationResult;
use crate::units::Nanos;

/// Durations, and bytes over time.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How long operations took.
    pub latency: Latencies,
    /// What they moved over time.
    pub rates: Rates,
}

/// Operations that are counted as they end, because not all have rows, or because their calls count instead of them.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// True if every operation is counted; otherwise only calls are.
    pub is_all: bool,
    /// What was counted.
    pub summary: Summary,
    /// Operations whose calls are counted, by process and index.
    pub by_calls: FxHashSet<(u32, u32)>,
}

impl Summary {
    /// Counts an operation, or a call of one.
    pub fn add(&mut self, key: LatencyKey, (start, end): (Nanos, Nanos), bytes: u64, parts: &Parts) {
        self.latency.add(key, (start, end), bytes, parts);
        self.rates.add((key.0, key.2), start, end, bytes);
    }
}

impl Summary {
    /// Counts what another one has counted of the same run.
    pub fn add_all(&mut self, other: Self) {
        self.latency.merge(&other.latency, |process| process, |path| path);
        self.rates.merge(other.rates, |process| process);
    }
}

impl Counted {
    /// Counts what a group of hosts has counted; the functions give its processes and paths here.
    pub(super) fn merge(&mut self, other: Self, process: impl Fn(u32) -> u32, path: impl Fn(u32) -> u32) {
        self.is_all |= other.is_all;
        self.summary.latency.merge(&other.summary.latency, &process, path);
        self.summary.rates.merge(other.summary.rates, &process);
        self.by_calls.extend(other.by_calls.into_iter().map(|(of, index)| (process(of), index)));
    }
}

impl SimulationResult {
    /// Sums up all operations. Where all have rows it is made of these.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = self.counted.summary.clone();
        if self.counted.is_all {
            return summary;
        }
        let table = &self.operations;
        for row in 0..table.end.len() {
            if self.counted.by_calls.contains(&(table.process[row], table.index[row])) {
                continue;
            }
            let key = (table.process[row], table.path[row], table.operation[row]);
            summary.add(key, (table.start[row], table.end[row]), table.bytes[row], &table.parts.get(row));
        }
        summary
    }

    /// Counts all operations that have rows, and keeps rows of the slowest alone, as if the run had begun with [`Record::Histogram`].
    pub(crate) fn count_rows(&mut self) {
        if !self.counted.is_all {
            self.counted.summary = self.summary();
            self.counted.is_all = true;
        }
        self.operations.keep_longest(Record::SLOWEST);
        self.keep_waits_of_rows();
    }
}
