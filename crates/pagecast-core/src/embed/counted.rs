//! Counts how long operations take inside another simulator: per name of a task, file and kind, the calls of patterns one by one.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::policy::Outcome;
use crate::result::{Latencies, Latency};
use crate::units::{Bytes, Nanos};
use crate::workload::PatternCall;

/// An operation that a task has begun.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    pub operation: &'static str,
    /// The number of its path.
    pub path: u32,
    pub bytes: Bytes,
    pub start: Nanos,
}

/// The durations of the operations of one kind of the tasks of one name on one file.
#[derive(Clone, Debug)]
pub struct LatencyRow<'a> {
    /// The name of the tasks; none where there are too many rows for each to have its own.
    pub task: Option<&'a str>,
    /// The file; none of operations without one, or where there are too many rows.
    pub path: Option<&'a str>,
    /// "read", "write", "fsync", ...
    pub operation: &'static str,
    /// How long they took.
    pub latency: &'a Latency,
}

/// See the module.
#[derive(Default)]
pub(super) struct Counted {
    names: Texts,
    paths: Texts,
    /// How many tasks there were of each name.
    tasks: Vec<u64>,
    latencies: Latencies,
}

/// Texts by their numbers; `u32::MAX` stands for none, and for those beyond what the table of latencies takes.
#[derive(Default)]
struct Texts {
    all: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, u32>,
}

impl Texts {
    fn number(&mut self, text: &str, to_arc: impl FnOnce() -> Arc<str>) -> u32 {
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        if self.all.len() == Latencies::MOST_KEYS {
            return u32::MAX;
        }
        let (number, text) = (self.all.len() as u32, to_arc());
        self.all.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    fn get(&self, number: u32) -> Option<&str> {
        self.all.get(number as usize).map(|text| &**text)
    }
}

impl Counted {
    /// The number of a name.
    pub(super) fn name(&mut self, name: &str) -> u32 {
        self.names.number(name, || name.into())
    }

    /// The name of a number.
    pub(super) fn name_of(&self, number: u32) -> &str {
        self.names.get(number).unwrap_or_default()
    }

    /// How many tasks of this name were before the next one.
    pub(super) fn next_of(&mut self, name: u32) -> u64 {
        // All that are beyond the table are counted together.
        let at = (name as usize).min(Latencies::MOST_KEYS);
        if self.tasks.len() <= at {
            self.tasks.resize(at + 1, 0);
        }
        self.tasks[at] += 1;
        self.tasks[at] - 1
    }

    /// The number of a path.
    pub(super) fn path(&mut self, path: Option<&Arc<str>>) -> u32 {
        path.map_or(u32::MAX, |path| self.paths.number(path, || path.clone()))
    }

    /// An operation has ended.
    pub(super) fn operation(&mut self, name: u32, begun: &Begun, now: Nanos, outcome: &Outcome) {
        let key = (name, begun.path, begun.operation);
        self.latencies.add(key, (begun.start, now), begun.bytes.0, &outcome.parts);
    }

    /// A call of a pattern has ended.
    pub(super) fn call(
        &mut self,
        (name, path): (u32, u32),
        call: &PatternCall,
        time: (Nanos, Nanos),
        outcome: &Outcome,
    ) {
        let operation = if call.is_write { "write" } else { "read" };
        self.latencies.add((name, path, operation), time, call.bytes.0, &outcome.parts);
    }

    /// All rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = LatencyRow<'_>> {
        let row = |((name, path, operation), latency)| LatencyRow {
            task: self.names.get(name),
            path: self.paths.get(path),
            operation,
            latency,
        };
        self.latencies.rows(&self.paths.all).into_iter().map(row)
    }
}
