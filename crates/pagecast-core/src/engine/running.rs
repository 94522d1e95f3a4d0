//! Holds a process at run time, its asynchronous operations, and the events that processes wait for.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::copying::Copying;
use super::streaming::{OpenStream, Streaming};
use crate::calls::{CallUnderWay, Descriptors, Patterned, Task};
use crate::fs::Located;
use crate::policy::FileId;
use crate::result::Part;
use crate::scenario::Scenario;
use crate::units::{Bytes, Nanos};
use crate::workload::{Operation, Program};

/// A process at run time, or one of its asynchronous operations (`kiocbs`).
pub(super) struct Running {
    /// The process itself, or the one that has begun the asynchronous operation.
    pub of: u32,
    pub name: Arc<str>,
    pub host: u32,
    pub program: Option<Box<dyn Program>>,
    pub state: State,
    /// When it started; when it became ready, as long as it waits for cores.
    pub started: Nanos,
    /// Processes that must have ended before this one starts, and those that wait for this one.
    pub waits_for: u32,
    pub followers: Vec<u32>,
    pub task: Task,
    /// The index of its table of descriptors.
    pub table: u32,
    pub operations: u32,
    pub current: Option<Current>,
    /// The call of a pattern that it does.
    pub call: Option<CallUnderWay>,
    /// The next operation, if that may not begin yet.
    pub held: Option<Box<Operation>>,
    /// It does not go on before this time.
    pub goes_on_at: Nanos,
    /// The last time for which it has been put on the agenda.
    pub woken_at: Nanos,
    /// The file on which it follows other asynchronous operations of its process.
    pub line: Option<FileId>,
    /// The index of its next operation, and when that was submitted, if it waits for those.
    pub place: Option<(u32, Nanos)>,
    /// How many of its asynchronous operations are under way.
    pub under_way: u32,
    /// The files that it has mapped: the number of each mapping, and the bytes that it has.
    pub mappings: BTreeMap<FileId, (u32, Bytes)>,
    /// The streams that it has open, the last one at the end.
    pub streams: Vec<OpenStream>,
    /// Whom its operation has waited behind.
    pub waits: Vec<Waited>,
}

/// A time that an operation has waited behind somebody.
#[derive(Clone, Copy)]
pub(super) struct Waited {
    pub part: Part,
    pub process: Option<u32>,
    pub file: Option<FileId>,
    pub time: Nanos,
}

/// The operation that a process is in.
pub(super) struct Current {
    pub operation: Operation,
    pub index: u32,
    pub start: Nanos,
    /// How long it has waited since for others of its file.
    pub waited: Nanos,
    /// Resolved when it began.
    pub file: Option<Located>,
    pub offset: u64,
    pub bytes: Bytes,
    /// If it is one on a stream.
    pub stream: Option<Box<Streaming>>,
    /// If it is a copy.
    pub copying: Option<Box<Copying>>,
    /// If it is a pattern.
    pub pattern: Option<Box<Patterned>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Other processes must end first.
    NotStarted,
    Active,
    /// In a `wait` operation.
    Waiting,
    /// Without the cores that it needs.
    Queued,
    Ended,
}

/// Named events: signalled for good, or with processes that wait.
#[derive(Default)]
pub(super) struct Events {
    pub signalled: FxHashMap<Arc<str>, ()>,
    pub waiting: BTreeMap<Arc<str>, Vec<u32>>,
}

/// The asynchronous operations of all processes.
#[derive(Default)]
pub(super) struct Kiocbs {
    /// Those of each process that are not under way.
    pub free: FxHashMap<u32, Vec<u32>>,
    /// Those of processes of each host that have ended.
    pub left: FxHashMap<u32, Vec<u32>>,
    /// Operations of a process on a file that follow one another: the first is under way.
    pub lines: FxHashMap<(u32, FileId), VecDeque<u32>>,
}

/// A table of descriptors, and how many processes that have not ended use it.
#[derive(Default)]
pub(super) struct SharedTable {
    pub descriptors: Descriptors,
    pub users: u32,
}

impl SharedTable {
    /// Gives each process its table.
    pub(super) fn all(processes: &mut [Running], scenario: &Scenario) -> Vec<Self> {
        let mut shared: FxHashMap<u32, u32> = FxHashMap::default();
        let mut tables: Vec<Self> = Vec::new();
        for (process, described) in processes.iter_mut().zip(&scenario.processes) {
            let new = tables.len() as u32;
            process.table = described.descriptors.map_or(new, |group| *shared.entry(group).or_insert(new));
            if process.table == new {
                tables.push(Self::default());
            }
            tables[process.table as usize].users += 1;
        }
        tables
    }
}

impl Running {
    /// All processes of a scenario, none of them started.
    pub(super) fn all(scenario: &Scenario) -> Vec<Self> {
        let by_name: FxHashMap<&str, u32> =
            scenario.processes.iter().enumerate().map(|(at, process)| (&*process.name, at as u32)).collect();
        let mut all: Vec<Self> = scenario
            .processes
            .iter()
            .zip(0..)
            .map(|(process, at)| {
                let waits_for = process.after.len() as u32;
                Self { waits_for, ..Self::new(at, process.name.clone(), process.host as u32) }
            })
            .collect();
        for (at, process) in scenario.processes.iter().enumerate() {
            for name in &process.after {
                let before = by_name[&**name];
                all[before as usize].followers.push(at as u32);
            }
        }
        all
    }

    /// One that belongs to a process and has done nothing yet.
    pub(super) fn new(of: u32, name: Arc<str>, host: u32) -> Self {
        Self {
            of,
            name,
            host,
            program: None,
            state: State::NotStarted,
            started: Nanos::ZERO,
            waits_for: 0,
            followers: Vec::new(),
            task: Task::default(),
            table: 0,
            operations: 0,
            current: None,
            call: None,
            held: None,
            goes_on_at: Nanos::ZERO,
            woken_at: Nanos::ZERO,
            line: None,
            place: None,
            under_way: 0,
            mappings: BTreeMap::new(),
            streams: Vec::new(),
            waits: Vec::new(),
        }
    }

    /// Adds whom its operation has waited behind.
    pub(super) fn add_wait(&mut self, wait: Waited) {
        let key = |each: &Waited| (each.part, each.process, each.file);
        match self.waits.iter_mut().find(|each| key(each) == key(&wait)) {
            Some(each) => each.time += wait.time,
            None => self.waits.push(wait),
        }
    }

    /// Whether it waits for the end of an operation, or of a step of one that has several.
    pub(super) fn is_busy(&self) -> bool {
        let is_between = |current: &Current| match current {
            Current { stream: Some(stream), .. } => stream.is_between_steps(),
            Current { copying: Some(copying), .. } => copying.is_between_steps(),
            Current { pattern: Some(_), .. } => self.call.is_none(),
            _ => false,
        };
        self.current.as_ref().is_some_and(|current| !is_between(current))
    }
}
