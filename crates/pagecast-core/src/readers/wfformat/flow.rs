//! The tasks, files and machines of an instance, whatever its version.

use std::sync::Arc;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::json::{ExecutedTask, Flat, FlatFile, FlatTask, Link, Machine, SpecifiedTask, Split};
use crate::nearest::{hint, shorten};
use crate::readers::error::ReadError;

/// A workflow.
#[derive(Default)]
pub struct Flow {
    pub tasks: Vec<Task>,
    /// Each file by the first name that it has.
    pub files: Vec<File>,
    pub machines: Vec<Arc<str>>,
    /// How many things were passed over because nothing else names them, by kind.
    pub passed_over: BTreeMap<&'static str, u32>,
    /// How many tasks say nothing of how long they ran.
    pub without_runtime: usize,
    /// How many tasks were recorded on several machines.
    pub on_several_machines: usize,
    /// How many files have several sizes.
    pub several_sizes: usize,
}

/// A task; tasks, files and machines that it names are indices.
#[derive(Default)]
pub struct Task {
    pub name: Arc<str>,
    /// Where it stands in the instance.
    pub at: String,
    pub parents: Vec<u32>,
    pub inputs: Vec<u32>,
    pub outputs: Vec<u32>,
    pub machine: Option<usize>,
    pub recorded: Recorded,
}

/// What was measured of a task, checked.
#[derive(Clone, Copy, Default)]
pub struct Recorded {
    pub runtime_s: f64,
    pub cores: u32,
    /// Its time on processors as a share of its runtime: 2 is two cores all the time.
    pub cpu: Option<f64>,
    pub memory_bytes: u64,
    pub priority: f64,
}

pub struct File {
    pub name: String,
    pub size_bytes: u64,
    has_several_sizes: bool,
}

/// A double holds every whole number up to there.
const MOST_BYTES: f64 = 9_007_199_254_740_991.0;

/// More than thirty years.
const MOST_SECONDS: f64 = 1e9;

/// As `slots` of a scenario.
const MOST_CORES: f64 = 1e6;

/// Puts a flow together.
pub struct Builder<'a> {
    origin: &'a str,
    lenient: bool,
    flow: Flow,
    file_at: FxHashMap<String, u32>,
    task_at: FxHashMap<String, u32>,
    machine_at: FxHashMap<String, usize>,
}

impl<'a> Builder<'a> {
    pub fn new(origin: &'a str, lenient: bool) -> Self {
        Self {
            origin,
            lenient,
            flow: Flow::default(),
            file_at: FxHashMap::default(),
            task_at: FxHashMap::default(),
            machine_at: FxHashMap::default(),
        }
    }

    /// The flow of version 1.5 or 1.6.
    pub fn split(mut self, Split { workflow }: Split) -> Result<Flow, ReadError> {
        let (specified, executed) = (workflow.specification, workflow.execution);
        self.need_tasks(specified.tasks.len())?;
        for (at, file) in specified.files.into_iter().enumerate() {
            let place = || format!("$.workflow.specification.files[{at}].sizeInBytes");
            let size = self.whole(file.size_in_bytes, MOST_BYTES, "bytes", place)?;
            self.file(file.id, size);
        }
        let mut recorded = FxHashMap::default();
        if let Some(execution) = executed {
            self.machines(execution.machines);
            for (at, task) in execution.tasks.into_iter().enumerate() {
                let place = format!("$.workflow.execution.tasks[{at}]");
                self.flow.on_several_machines += usize::from(task.machines.len() > 1);
                let known = (self.recorded_split(&task, &place)?, task.machines.into_iter().next());
                if recorded.insert(task.id.clone(), known).is_some() {
                    let what = format!("the task \"{}\" is there twice", shorten(&task.id));
                    return Err(self.error(&format!("{place}.id"), what, "remove one of them"));
                }
            }
        }
        for (at, task) in specified.tasks.iter().enumerate() {
            let place = format!("$.workflow.specification.tasks[{at}]");
            self.task(task.id.clone(), &[&task.id], place, "id")?;
        }
        let mut relations = Vec::with_capacity(specified.tasks.len());
        for (at, task) in specified.tasks.into_iter().enumerate() {
            let SpecifiedTask { id, parents, children, input_files, output_files } = task;
            let (known, machine) = recorded.remove(&id).unwrap_or_default();
            self.flow.tasks[at].inputs = self.known_files(at, &input_files, "inputFiles")?;
            self.flow.tasks[at].outputs = self.known_files(at, &output_files, "outputFiles")?;
            self.set_recorded(at, known, machine);
            relations.push((parents, children));
        }
        if let Some(id) = recorded.keys().min() {
            let what = format!("\"{}\" is no task of the workflow", shorten(id));
            self.refuse_or_count(
                "$.workflow.execution.tasks",
                what,
                "correct its id",
                "executions of unknown tasks",
            )?;
        }
        self.finish(relations)
    }

    /// The flow of version 1.4.
    pub fn flat(mut self, Flat { workflow }: Flat) -> Result<Flow, ReadError> {
        self.need_tasks(workflow.tasks.len())?;
        self.machines(workflow.machines);
        for (at, task) in workflow.tasks.iter().enumerate() {
            let place = format!("$.workflow.tasks[{at}]");
            let FlatTask { name, id, .. } = task;
            // As WfCommons' own migration to 1.5 names them. Parents are names in old instances, ids in others.
            let (full, other) = match id {
                Some(id) if !name.contains(id.as_str()) => (format!("{name}_{id}"), id.as_str()),
                Some(id) => (name.clone(), id.as_str()),
                None => (name.clone(), name.as_str()),
            };
            self.task(full.clone(), &[&full, other], place, "name")?;
        }
        let mut by_name = FxHashMap::<&str, Option<u32>>::default();
        for (at, task) in (0..).zip(&workflow.tasks) {
            by_name.entry(&task.name).and_modify(|known| *known = None).or_insert(Some(at));
        }
        for (name, at) in by_name {
            if let Some(at) = at {
                self.task_at.entry(name.to_owned()).or_insert(at);
            }
        }
        let mut relations = Vec::with_capacity(workflow.tasks.len());
        for (at, task) in workflow.tasks.into_iter().enumerate() {
            let place = self.flow.tasks[at].at.clone();
            let known = self.recorded_flat(&task, &place)?;
            self.set_recorded(at, known, task.machine);
            for (of_task, file) in task.files.into_iter().enumerate() {
                let FlatFile { name, path, size_in_bytes, link } = file;
                let place = || format!("{place}.files[{of_task}].sizeInBytes");
                let size = self.whole(size_in_bytes, MOST_BYTES, "bytes", place)?;
                let file = self.file(path.unwrap_or_default() + &name, size);
                let task = &mut self.flow.tasks[at];
                if link == Link::Input { task.inputs.push(file) } else { task.outputs.push(file) }
            }
            relations.push((task.parents, task.children));
        }
        self.finish(relations)
    }

    fn error(&self, path: &str, what: impl Into<String>, remedy: &str) -> ReadError {
        ReadError::new(format!("{}: {path}", self.origin), what, remedy)
    }

    fn need_tasks(&self, count: usize) -> Result<(), ReadError> {
        match count {
            0 => Err(self.error("$.workflow", "there is no task", "add one to `tasks`")),
            _ => Ok(()),
        }
    }

    fn refuse_or_count(
        &mut self,
        path: &str,
        what: String,
        remedy: &str,
        kind: &'static str,
    ) -> Result<(), ReadError> {
        if !self.lenient {
            return Err(self.error(path, what, remedy));
        }
        *self.flow.passed_over.entry(kind).or_default() += 1;
        Ok(())
    }

    fn machines(&mut self, machines: Vec<Machine>) {
        for machine in machines {
            self.machine(machine.node_name);
        }
    }

    fn machine(&mut self, name: String) -> usize {
        let Flow { machines, .. } = &mut self.flow;
        *self.machine_at.entry(name).or_insert_with_key(|name| {
            machines.push(name.as_str().into());
            machines.len() - 1
        })
    }

    /// A file by its name. Of several sizes it has the largest.
    fn file(&mut self, name: String, size_bytes: u64) -> u32 {
        let Flow { files, several_sizes, .. } = &mut self.flow;
        if let Some(&at) = self.file_at.get(&name) {
            let file = &mut files[at as usize];
            if file.size_bytes != size_bytes && !std::mem::replace(&mut file.has_several_sizes, true) {
                *several_sizes += 1;
            }
            file.size_bytes = file.size_bytes.max(size_bytes);
            return at;
        }
        files.push(File { name: name.clone(), size_bytes, has_several_sizes: false });
        self.file_at.insert(name, files.len() as u32 - 1);
        files.len() as u32 - 1
    }

    fn known_files(&mut self, task: usize, names: &[String], key: &str) -> Result<Vec<u32>, ReadError> {
        let mut known = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            match self.file_at.get(name) {
                Some(&file) => known.push(file),
                None => {
                    let path = format!("{}.{key}[{at}]", self.flow.tasks[task].at);
                    let what =
                        format!("the file \"{}\" is not in $.workflow.specification.files", shorten(name));
                    self.refuse_or_count(
                        &path,
                        what,
                        "add it there with its sizeInBytes",
                        "files of unknown size",
                    )?;
                }
            }
        }
        Ok(known)
    }

    /// Adds a task that others may call by any of `names`.
    fn task(&mut self, name: String, names: &[&str], at: String, key: &str) -> Result<(), ReadError> {
        let number = self.flow.tasks.len() as u32;
        if name.trim().is_empty() || name.contains(char::is_control) {
            return Err(self.error(
                &format!("{at}.{key}"),
                format!("\"{}\" is no name for a task", shorten(&name)),
                "write letters and digits",
            ));
        }
        if self.task_at.get(&name).is_some_and(|&other| *self.flow.tasks[other as usize].name == *name) {
            let what = format!("the task \"{}\" is there twice", shorten(&name));
            return Err(self.error(&format!("{at}.{key}"), what, "rename one of them"));
        }
        for &name in names {
            self.task_at.entry(name.to_owned()).or_insert(number);
        }
        self.flow.tasks.push(Task { name: name.into(), at, ..Task::default() });
        Ok(())
    }

    fn set_recorded(&mut self, at: usize, recorded: Option<Recorded>, machine: Option<String>) {
        let machine = machine.map(|name| self.machine(name));
        self.flow.without_runtime += usize::from(recorded.is_none());
        let task = &mut self.flow.tasks[at];
        task.recorded = recorded.unwrap_or(Recorded { cores: 1, ..Recorded::default() });
        task.machine = machine;
    }

    fn recorded_split(&self, task: &ExecutedTask, at: &str) -> Result<Option<Recorded>, ReadError> {
        self.recorded(
            at,
            ("runtimeInSeconds", task.runtime_in_seconds),
            ("coreCount", task.core_count),
            task.avg_cpu,
            task.memory_in_bytes,
            task.priority,
        )
    }

    fn recorded_flat(&self, task: &FlatTask, at: &str) -> Result<Option<Recorded>, ReadError> {
        self.recorded(
            at,
            ("runtimeInSeconds", task.runtime_in_seconds),
            ("cores", task.cores),
            task.avg_cpu,
            task.memory_in_bytes,
            task.priority,
        )
    }

    fn recorded(
        &self,
        at: &str,
        runtime: (&str, Option<f64>),
        cores: (&str, Option<f64>),
        avg_cpu: Option<f64>,
        memory: Option<f64>,
        priority: Option<f64>,
    ) -> Result<Option<Recorded>, ReadError> {
        let between = |key: &str, value: f64, most: f64, unit: &str| {
            if (0.0..=most).contains(&value) {
                return Ok(value);
            }
            let what = format!("{value} cannot be a number of {unit}");
            Err(self.error(&format!("{at}.{key}"), what, &format!("write one from 0 to {most}")))
        };
        let cores = between(cores.0, cores.1.unwrap_or(1.0), MOST_CORES, "cores")?;
        let memory_bytes = between("memoryInBytes", memory.unwrap_or(0.0), MOST_BYTES, "bytes")?;
        let cpu = avg_cpu.map(|percent| between("avgCPU", percent, 1e8, "percent")).transpose()?;
        let Some(runtime_s) = runtime.1 else { return Ok(None) };
        Ok(Some(Recorded {
            runtime_s: between(runtime.0, runtime_s, MOST_SECONDS, "seconds")?,
            // Half a core is a whole one to a scheduler of slots.
            cores: cores.ceil().max(1.0) as u32,
            cpu: cpu.map(|percent| percent / 100.0),
            memory_bytes: memory_bytes as u64,
            priority: priority.unwrap_or(0.0),
        }))
    }

    fn whole(&self, value: f64, most: f64, unit: &str, path: impl Fn() -> String) -> Result<u64, ReadError> {
        if (0.0..=most).contains(&value) && value.fract() == 0.0 {
            return Ok(value as u64);
        }
        let what = format!("{value} cannot be a number of {unit}");
        Err(self.error(&path(), what, &format!("write a whole number from 0 to {most}")))
    }

    /// Finds the parents of all tasks.
    fn finish(mut self, relations: Vec<(Vec<String>, Vec<String>)>) -> Result<Flow, ReadError> {
        for (at, (parents, children)) in relations.into_iter().enumerate() {
            for (number, name) in parents.iter().enumerate() {
                if let Some(parent) = self.task_called(at, "parents", number, name)? {
                    self.flow.tasks[at].parents.push(parent);
                }
            }
            for (number, name) in children.iter().enumerate() {
                if let Some(child) = self.task_called(at, "children", number, name)? {
                    self.flow.tasks[child as usize].parents.push(at as u32);
                }
            }
        }
        for task in &mut self.flow.tasks {
            task.parents.sort_unstable();
            task.parents.dedup();
        }
        Ok(self.flow)
    }

    fn task_called(
        &mut self,
        of: usize,
        key: &str,
        number: usize,
        name: &str,
    ) -> Result<Option<u32>, ReadError> {
        if let Some(&task) = self.task_at.get(name) {
            return Ok(Some(task));
        }
        let path = format!("{}.{key}[{number}]", self.flow.tasks[of].at);
        let remedy = match self.lenient {
            true => String::new(),
            false => hint(name, self.flow.tasks.iter().map(|task| &*task.name), "tasks"),
        };
        let what = format!("there is no task \"{}\"", shorten(name));
        self.refuse_or_count(&path, what, &remedy, "unknown parents and children")?;
        Ok(None)
    }
}
