//! What these tests share: a machine with round numbers, scenarios put together from lines, results by name.

pub mod sources;

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use pagecast_core::error::{ScenarioError, SimulationError};
use pagecast_core::result::{MemoryLevels, Part, SimulationResult};
use pagecast_core::scenario::Scenario;
use pagecast_core::units::Nanos;
use pagecast_core::workload::{Operation, Process};
use pagecast_core::{Settings, simulate, simulate_by_steps};

/// A disk of 100 MB/s and memory of 1 GB/s: a GB takes 10 s from the disk and 1 s from the cache.
pub const MACHINE: &str = r#"
[machine]
cores = 2
memory = { size = "10 GB", read = "1 GB/s", write = "1 GB/s" }
vm = { dirty_ratio = 40 }
disk.ssd = { size = "100 GB", read = "100 MB/s", write = "100 MB/s" }
mount."/data".disk = "ssd"
"#;

/// Two such machines; the client sees the server's "/export" as "/remote". The link carries 400 MB/s.
pub const HOSTS: &str = r#"
[host.client]
cores = 2
memory = { size = "10 GB", read = "1 GB/s", write = "1 GB/s" }
mount."/remote".nfs = "server:/export"
[host.server]
cores = 2
memory = { size = "10 GB", read = "1 GB/s", write = "1 GB/s" }
disk.ssd = { size = "100 GB", read = "100 MB/s", write = "100 MB/s" }
mount."/export".disk = "ssd"
[link.lan]
between = ["client", "server"]
rate = "400 MB/s"
"#;

/// For the kernel's own rules: 10 GB can become dirty, so that background write-back begins at 1 GB, throttling at 1.5 GB, and
/// the limit is 2 GB (each 0.1 % less: the kernel counts percent in 4096ths). A disk of 100 MB/s, one thread copies 1 GB/s.
pub const LINUX: &str = r#"
[machine]
cores = 4
[machine.memory]
size = "10126.6 MB"
read = "10 GB/s"
write = "10 GB/s"
cost = { copy_read = "1 GB/s", copy_write = "1 GB/s" }
[machine.disk]
ssd = { size = "1 TB", read = "100 MB/s", write = "100 MB/s" }
[machine.mount]
"/data".disk = "ssd"
"#;

/// A scenario in the making.
#[derive(Clone)]
pub struct Case {
    text: String,
    overrides: Vec<String>,
    options: Vec<(String, String)>,
    seed: u64,
    at_risk: bool,
    programs: Vec<Process>,
}

/// A scenario on [`MACHINE`].
pub fn case() -> Case {
    on(MACHINE)
}

/// A scenario on [`LINUX`].
pub fn linux() -> Case {
    on(LINUX)
}

/// A scenario on a machine of its own.
pub fn on(machine: &str) -> Case {
    Case {
        text: machine.to_owned(),
        overrides: Vec::new(),
        options: Vec::new(),
        seed: 0,
        at_risk: false,
        programs: Vec::new(),
    }
}

impl Case {
    /// A file that is there before, cold.
    pub fn file(self, path: &str, size: &str) -> Self {
        self.cached(path, size, "0 B")
    }

    /// A file that is there before, and whose beginning is cached.
    pub fn cached(mut self, path: &str, size: &str, cached: &str) -> Self {
        self.text += &format!("[[file]]\npath = '{path}'\nsize = '{size}'\ncached = '{cached}'\n");
        self
    }

    /// A file that is there before and cached, and whose beginning is dirty.
    pub fn dirty(mut self, path: &str, size: &str, dirty: &str) -> Self {
        self.text +=
            &format!("[[file]]\npath = '{path}'\nsize = '{size}'\ncached = '{size}'\ndirty = '{dirty}'\n");
        self
    }

    /// With lines as they are.
    pub fn keys(mut self, lines: &str) -> Self {
        self.text += &format!("{lines}\n");
        self
    }

    /// A process with these operations, each without its braces.
    pub fn process(self, name: &str, operations: &[&str]) -> Self {
        self.process_with(name, "", operations)
    }

    /// A process with keys such as `after`, one a line.
    pub fn process_with(mut self, name: &str, keys: &str, operations: &[&str]) -> Self {
        let all: String = operations.iter().map(|each| format!("  {{ {each} }},\n")).collect();
        self.text += &format!("[[process]]\nname = '{name}'\n{keys}\ndo = [\n{all}]\n");
        self
    }

    /// A process with operations that no line describes. It comes after those of lines.
    pub fn program(mut self, name: &str, operations: Vec<Operation>) -> Self {
        self.programs.push(Process {
            name: name.into(),
            host: 0,
            cgroup: None,
            after: Vec::new(),
            start: Nanos::ZERO,
            descriptors: None,
            ioprio: Default::default(),
            slots: None,
            program: Arc::new(operations),
        });
        self
    }

    /// With another value, as after `--set`.
    pub fn set(mut self, assignment: &str) -> Self {
        self.overrides.push(assignment.to_owned());
        self
    }

    /// With an option of the model that the run gives.
    pub fn option(mut self, key: &str, value: &str) -> Self {
        self.options.push((key.to_owned(), value.to_owned()));
        self
    }

    /// With what a power cut would lose.
    pub fn at_risk(mut self) -> Self {
        self.at_risk = true;
        self
    }

    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let nowhere = Path::new("no such folder");
        let has_lines = self.text.contains("[[process]]");
        let none = "[[process]]\nname = 'none'\ndo = [ { sleep = '0 s' } ]\n";
        let text = self.text.clone() + if has_lines { "" } else { none };
        let mut scenario =
            Scenario::from_toml(text.as_bytes(), "test.toml", nowhere, nowhere, &self.overrides)?;
        if !has_lines {
            scenario.processes.clear();
        }
        scenario.processes.extend(self.programs.iter().cloned());
        Ok(scenario)
    }

    fn settings(&self, scenario: &Scenario) -> Settings {
        Settings {
            seed: self.seed,
            at_risk: self.at_risk,
            residency: scenario.residency,
            options: self.options.clone(),
            ..Settings::default()
        }
    }

    pub fn simulate(&self, model: &str) -> Result<SimulationResult, Box<SimulationError>> {
        let scenario = self.scenario().expect("the scenario of a test is right");
        simulate(&scenario, model, self.settings(&scenario)).map_err(Box::new)
    }

    /// What must succeed.
    pub fn run(&self, model: &str) -> Run {
        Run(self.simulate(model).expect("the simulation goes through"))
    }

    /// The same by the slow driver.
    pub fn run_by_steps(&self, model: &str) -> Run {
        let scenario = self.scenario().expect("the scenario of a test is right");
        let result = simulate_by_steps(&scenario, model, self.settings(&scenario));
        Run(result.expect("the simulation goes through"))
    }

    /// What the simulation must fail with.
    pub fn error(&self, model: &str) -> String {
        self.simulate(model).map(|_| ()).expect_err("the simulation fails").to_string()
    }
}

/// A result whose rows are found by name.
#[derive(Debug)]
pub struct Run(pub SimulationResult);

impl Deref for Run {
    type Target = SimulationResult;

    fn deref(&self) -> &SimulationResult {
        &self.0
    }
}

impl Run {
    /// The row of the n-th operation of a process.
    pub fn row(&self, process: &str, index: u32) -> usize {
        let process =
            self.processes.iter().position(|name| &**name == process).expect("there is that process");
        let table = &self.operations;
        (0..table.end.len())
            .find(|&row| table.process[row] == process as u32 && table.index[row] == index)
            .expect("the process has done that operation")
    }

    /// When an operation began, in seconds.
    pub fn start(&self, process: &str, index: u32) -> f64 {
        self.operations.start[self.row(process, index)].as_seconds()
    }

    /// When an operation ended, in seconds.
    pub fn end(&self, process: &str, index: u32) -> f64 {
        self.operations.end[self.row(process, index)].as_seconds()
    }

    /// How long an operation took, in seconds.
    pub fn seconds(&self, process: &str, index: u32) -> f64 {
        let row = self.row(process, index);
        (self.operations.end[row] - self.operations.start[row]).as_seconds()
    }

    /// How long each operation of a process took, in seconds.
    pub fn all_seconds(&self, process: &str) -> Vec<f64> {
        let at = self.processes.iter().position(|name| &**name == process).expect("there is that process");
        let operations = self.operations.process.iter().filter(|&&each| each == at as u32).count();
        (0..operations as u32).map(|index| self.seconds(process, index)).collect()
    }

    /// The seconds of one part of an operation.
    pub fn part(&self, process: &str, index: u32, part: Part) -> f64 {
        self.operations.parts[self.row(process, index)].get(part).as_seconds()
    }

    /// The parts of an operation that are not zero, in seconds.
    pub fn parts(&self, process: &str, index: u32) -> Vec<(&'static str, f64)> {
        let parts = &self.operations.parts[self.row(process, index)];
        let all = Part::ALL.iter().map(|&part| (part.name(), parts.get(part).as_seconds()));
        all.filter(|&(_, seconds)| seconds > 0.0).collect()
    }

    /// Bytes of an operation from the cache and from the device.
    pub fn sources(&self, process: &str, index: u32) -> (u64, u64) {
        let row = self.row(process, index);
        (self.operations.from_cache[row], self.operations.from_device[row])
    }

    /// Size, cached and dirty bytes of a file at the end, by the path that a host uses.
    pub fn file(&self, path: &str) -> (u64, u64, u64) {
        let table = &self.files;
        let row = (0..table.time.len())
            .find(|&row| table.process[row] == u32::MAX && &*self.paths[table.path[row] as usize] == path)
            .expect("the file is there at the end");
        (table.size[row], table.cached[row], table.dirty[row])
    }

    /// Events as (seconds, name, path, bytes).
    pub fn all_events(&self) -> Vec<(f64, &'static str, &str, u64)> {
        let table = &self.events;
        let path = |at: u32| self.paths.get(at as usize).map_or("", |path| &**path);
        (0..table.time.len())
            .map(|row| {
                (table.time[row].as_seconds(), table.event[row], path(table.path[row]), table.bytes[row])
            })
            .collect()
    }

    /// Events of one name as (seconds, path, bytes).
    pub fn events_called(&self, name: &str) -> Vec<(f64, &str, u64)> {
        let all = self.all_events().into_iter().filter(|event| event.1 == name);
        all.map(|(time, _, path, bytes)| (time, path, bytes)).collect()
    }

    /// What the memory of the first host holds at a time.
    pub fn memory_at(&self, seconds: f64) -> MemoryLevels {
        let table = &self.timeline;
        let samples = (0..table.time.len()).filter(|&row| table.host[row] == 0);
        let last = samples.take_while(|&row| table.time[row] <= Nanos::from_seconds(seconds)).last();
        table.levels[last.expect("there is a sample at time 0")]
    }

    /// The blocks of a list at the end as (path, bytes, dirty).
    pub fn list(&self, list: &str) -> Vec<(&str, u64, bool)> {
        let table = &self.blocks;
        let rows = (0..table.bytes.len()).filter(|&row| table.list[row] == list);
        rows.map(|row| (&*self.paths[table.path[row] as usize], table.bytes[row], table.dirty[row])).collect()
    }
}

pub const MB: u64 = 1_000_000;
pub const GB: u64 = 1_000_000_000;
