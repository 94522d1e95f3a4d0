//! Reads workflows of WfCommons: instances in WfFormat 1.4, 1.5 and 1.6.
//!
//! Each task is a process that holds cores, from a list scheduler (`engine`). It takes the memory that was recorded, reads its input files
//! from the first byte to the last, one after the other, computes, and writes its output files. It starts when its parents have ended.
//!
//! - Files of one name are one file; of several sizes it has the largest. One that is read before any task writes it exists before.
//! - `compute = "runtime"`: a task computes as long as it ran, and its input and output come on top of that, although the recorded time has
//!   them in it. The format does not tell them apart. `compute = "cpu"`: it computes for the recorded share of processors (avgCPU) of that
//!   time, over its cores; the rest of it was waiting.
//! - Cores are whole: half a core is one.
//!
//! Source: the schemas of wfcommons/WfFormat (`json`); for tasks without any parent or child its `tools/wfcommons-migrate-instance.py`.
//! Left out: commands, energy, recorded bytes (the sizes of files are taken), and the times at which tasks were recorded.

mod flow;
mod json;
mod order;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::sync::Arc;

use serde::Deserialize;

use self::flow::{Builder, File, Flow, Task};
use self::json::Head;
use self::order::Order;
use super::error::ReadError;
use super::input::Input;
use super::options::{Compute, ListOrder, Options};
use crate::nearest::shorten;
use crate::units::{Bytes, Nanos};
use crate::workload::{
    Action, Buffer, IoPriority, Note, Operation, Workload, WorkloadFile, WorkloadProcess, WorkloadSlots,
};

/// The versions that are known.
const VERSIONS: [&str; 3] = ["1.4", "1.5", "1.6"];

/// Larger instances would not be read whole: 2 GiB is more than a million tasks.
const MOST_BYTES: u64 = 2 << 30;

/// Bytes of one read(2) or write(2), as large copies of common programs have them.
const CALL: Bytes = Bytes(1 << 20);

/// True if a file begins as an instance does.
#[must_use]
pub fn matches(head: &[u8]) -> bool {
    let start = head.iter().position(|byte| !byte.is_ascii_whitespace());
    let has = |word: &[u8]| memchr::memmem::find(head, word).is_some();
    start.is_some_and(|at| head[at] == b'{') && has(b"\"schemaVersion\"") && has(b"\"workflow\"")
}

/// Reads an instance.
///
/// # Errors
/// What is no JSON or no instance, by line; what does not fit together, by its path in the instance.
pub fn read(input: Input, options: &Options) -> Result<Workload, ReadError> {
    let origin = input.origin;
    let mut text = Vec::new();
    let failed = |error: std::io::Error| ReadError::new(&*origin, format!("cannot be read: {error}"), "");
    input.bytes.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(failed)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(ReadError::new(origin, "is larger than 2 GiB", "split the workflow"));
    }
    let mut flow = flow(&text, &origin, options.lenient)?;
    drop(text);
    let order = Order::of(&mut flow, &origin)?;
    let paths = paths(&flow, &origin, options)?;
    Ok(Reading { origin: &origin, options, paths, flow: &flow, order: &order }.workload())
}

fn flow(text: &[u8], origin: &str, lenient: bool) -> Result<Flow, ReadError> {
    let head: Head = parse(text, origin)?;
    let is_split = head.workflow.is_some_and(|workflow| workflow.specification.is_some());
    let version = head.schema_version.as_deref();
    let is_known = version.is_some_and(|version| VERSIONS.contains(&version));
    if !is_known && !lenient {
        let place = format!("{origin}: $.schemaVersion");
        let what = match version {
            Some(version) => format!("version \"{}\" of WfFormat is not known", shorten(version)),
            None => "the file does not tell its version of WfFormat".to_owned(),
        };
        let remedy = format!(
            "known are {}; WfCommons' tools/wfcommons-migrate-instance.py brings older ones to 1.5, --lenient goes on",
            VERSIONS.join(", ")
        );
        return Err(ReadError::new(place, what, remedy));
    }
    let builder = Builder::new(origin, lenient);
    match if is_known { version != Some("1.4") } else { is_split } {
        true => builder.split(parse(text, origin)?),
        false => builder.flat(parse(text, origin)?),
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a [u8], origin: &str) -> Result<T, ReadError> {
    serde_json::from_slice(text).map_err(|error| {
        let place = match error.line() {
            0 => origin.to_owned(),
            line => format!("{origin}:{line}"),
        };
        // The message ends in the place.
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default().to_owned();
        ReadError::new(place, what, "see the schema of WfFormat")
    })
}

/// The places of all files.
fn paths(flow: &Flow, origin: &str, options: &Options) -> Result<Vec<Arc<str>>, ReadError> {
    let place = |file: &File| match options.placement.place(&file.name) {
        path if path.ends_with('/') => {
            let what = format!("\"{}\" names no file", shorten(&file.name));
            Err(ReadError::new(origin, what, "name it"))
        }
        path => Ok(path),
    };
    flow.files.iter().map(place).collect()
}

/// An instance that becomes a workload.
struct Reading<'a> {
    origin: &'a str,
    options: &'a Options,
    paths: Vec<Arc<str>>,
    flow: &'a Flow,
    order: &'a Order,
}

impl Reading<'_> {
    fn workload(&self) -> Workload {
        let priorities = self.priorities();
        let tasks = self.flow.tasks.iter().zip(priorities);
        let files = self.order.initial.iter().map(|&file| WorkloadFile {
            path: Arc::clone(&self.paths[file as usize]),
            size: Bytes(self.flow.files[file as usize].size_bytes),
            is_inferred: false,
        });
        Workload {
            files: files.collect(),
            processes: tasks.map(|(task, priority)| self.process(task, priority)).collect(),
            machines: self.flow.machines.clone(),
            notes: self.notes(),
        }
    }

    fn priorities(&self) -> Vec<u32> {
        match self.options.workflow.order {
            ListOrder::Fifo => vec![0; self.flow.tasks.len()],
            ListOrder::Depth => self.order.depth.clone(),
            ListOrder::Priority => {
                let priority = |task: &Task| task.recorded.priority;
                let mut all: Vec<f64> = self.flow.tasks.iter().map(priority).collect();
                all.sort_unstable_by(f64::total_cmp);
                all.dedup();
                let rank = |task| all.partition_point(|other| *other < priority(task)) as u32;
                self.flow.tasks.iter().map(rank).collect()
            }
        }
    }

    fn process(&self, task: &Task, priority: u32) -> WorkloadProcess {
        let parent = |&parent: &u32| Arc::clone(&self.flow.tasks[parent as usize].name);
        let machine = task.machine.filter(|_| self.options.workflow.on_recorded_machines);
        WorkloadProcess {
            name: Arc::clone(&task.name),
            start: Nanos::ZERO,
            after: task.parents.iter().map(parent).collect(),
            descriptors: None,
            ioprio: IoPriority::default(),
            slots: Some(WorkloadSlots { cores: task.recorded.cores, priority, machine }),
            program: Arc::new(self.program(task)),
        }
    }

    fn program(&self, task: &Task) -> Vec<Operation> {
        let mut actions = Vec::with_capacity(task.inputs.len() + task.outputs.len() + 2);
        if task.recorded.memory_bytes > 0 {
            actions.push(Action::Allocate { bytes: Bytes(task.recorded.memory_bytes) });
        }
        actions.extend(task.inputs.iter().map(|&file| self.read(file)));
        let time = Nanos::from_seconds(self.compute_s(task));
        if time > Nanos::ZERO {
            actions.push(Action::Compute { time });
        }
        actions.extend(task.outputs.iter().map(|&file| self.write(file)));
        actions.into_iter().map(Operation::from).collect()
    }

    fn read(&self, file: u32) -> Action {
        Action::Read {
            path: Arc::clone(&self.paths[file as usize]),
            offset: None,
            bytes: None,
            call: Some(CALL),
            vector: 1,
            buffer: Buffer::Reused,
        }
    }

    fn write(&self, file: u32) -> Action {
        Action::Write {
            path: Arc::clone(&self.paths[file as usize]),
            offset: Some(0),
            bytes: Bytes(self.flow.files[file as usize].size_bytes),
            call: Some(CALL),
            vector: 1,
        }
    }

    /// How long a task computes, in seconds.
    fn compute_s(&self, task: &Task) -> f64 {
        let recorded = &task.recorded;
        let share = match (self.options.workflow.compute, recorded.cpu) {
            (Compute::Cpu, Some(cpu)) => (cpu / f64::from(recorded.cores)).min(1.0),
            _ => 1.0,
        };
        recorded.runtime_s * share / self.options.workflow.speed
    }

    fn notes(&self) -> Vec<Note> {
        let (flow, chosen) = (self.flow, &self.options.workflow);
        let tasks = flow.tasks.len();
        let mut texts = vec![format!(
            "{tasks} {} under a list scheduler, {}",
            if tasks == 1 { "task" } else { "tasks" },
            chosen.order.in_words()
        )];
        texts.push(match chosen.compute {
            Compute::Runtime => {
                "tasks compute for all of their recorded runtime, which has their input and output in it; compute = \"cpu\" \
                 takes the recorded use of processors"
                    .to_owned()
            }
            Compute::Cpu => {
                let unknown = flow.tasks.iter().filter(|task| task.recorded.cpu.is_none()).count();
                let rest = match unknown {
                    0 => String::new(),
                    count => format!("; {count} tell none (avgCPU) and compute for all of it"),
                };
                format!("tasks compute for the recorded use of processors of their runtime{rest}")
            }
        });
        let counted = [
            (flow.without_runtime, "tasks without a recorded runtime, which do not compute"),
            (flow.several_sizes, "files with several sizes, of which the largest is taken"),
            (flow.on_several_machines, "tasks on several machines, of which the first is taken"),
            (
                self.order.by_files,
                "tasks that wait for a task that writes a file of theirs and is not among their parents",
            ),
        ];
        texts.extend(
            counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what}: {count}")),
        );
        texts.extend(flow.passed_over.iter().map(|(what, count)| format!("{what}, passed over: {count}")));
        texts.into_iter().map(|text| Note { place: self.origin.to_owned(), text }).collect()
    }
}
