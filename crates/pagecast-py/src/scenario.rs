//! Builds machines and scenarios, from TOML and from Python.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use pagecast_core::describe;
use pagecast_core::error::ScenarioError;
use pagecast_core::machine::{self, Cgroup, MemoryLimit};
use pagecast_core::readers::{FORMATS, Input, Options, Surroundings, fio, format_of};
use pagecast_core::scenario::{self, Names, Shell, Tolerance, load_machine, machine_to_toml};
use pagecast_core::units::Bytes;
use pagecast_core::workload::{InitialFile, Process, Slots};
use pagecast_core::{ALL_MODELS, models_for};
use pyo3::PyTraverseError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;

use crate::errors;
use crate::interrupt::interruptible;
use crate::program::Factory;
use crate::quantity::{bytes, path, seconds};
use crate::recording::{Recording, refused};

/// What the hardware and its kernel settings are.
#[pyclass(frozen, eq, module = "pagecast._core")]
#[derive(PartialEq)]
pub struct Machine(pub machine::Machine);

#[pymethods]
impl Machine {
    /// Parse the text of a machine file.
    #[staticmethod]
    #[pyo3(signature = (text, origin, *, base_dir, machine_dir))]
    fn from_toml(
        py: Python<'_>,
        text: &[u8],
        origin: &str,
        base_dir: PathBuf,
        machine_dir: PathBuf,
    ) -> PyResult<Self> {
        let machine = interruptible(py, || load_machine(text, origin, &base_dir, &machine_dir))?;
        machine.map(Self).map_err(|error| errors::scenario(&error))
    }

    /// The names of its hosts.
    #[getter]
    fn hosts(&self) -> Vec<&str> {
        self.0.hosts.iter().map(|host| host.name.as_str()).collect()
    }

    /// Where its first host has mounts.
    #[getter]
    fn mounts(&self) -> Vec<&str> {
        let first = self.0.hosts.first();
        first.into_iter().flat_map(|host| &host.mounts).map(|mount| mount.path.as_str()).collect()
    }

    /// SHA-256 of the canonical text, in hexadecimal.
    #[getter]
    fn hash(&self, py: Python<'_>) -> PyResult<String> {
        machine_hash(py, &self.0)
    }

    /// What the kind of each disk has given: host, disk, key, value and source.
    fn implied(&self) -> Vec<(&str, &str, &str, &str, &str)> {
        let disks = self.0.hosts.iter().flat_map(|host| host.disks.iter().map(move |disk| (host, disk)));
        let each = disks.flat_map(|(host, disk)| disk.implied.iter().map(move |each| (host, disk, each)));
        each.map(|(host, disk, each)| (&*host.name, &*disk.name, each.key, &*each.value, each.source))
            .collect()
    }

    /// The machine as a canonical text that can be read again.
    fn to_toml(&self) -> String {
        machine_to_toml(&self.0)
    }

    fn __repr__(&self) -> String {
        format!("<Machine: {}>", self.hosts().join(", "))
    }
}

/// The name of a scenario from parts, in messages.
const ORIGIN: &str = "<python>";

/// Of a file: host, path, size, cached and dirty bytes.
type FileParts<'py> = (Option<String>, Bound<'py, PyAny>, f64, f64, f64);
/// Of a process: name, host, memory cgroup, after, start in seconds, slots, and a callable that gives an iterator of operations.
type ProcessParts = (String, Option<String>, Option<String>, Vec<String>, f64, Option<SlotParts>, Py<PyAny>);
/// Of slots: cores, priority and hosts; none is the host of the process.
type SlotParts = (u32, u32, Vec<String>);

/// Of a file in another format: name, format, and notes by place and text.
type SourceParts<'a> = (&'a str, &'a str, Vec<(&'a str, &'a str)>);

/// A machine, the files on it and the processes; can be simulated any number of times.
#[pyclass(frozen, module = "pagecast._core")]
pub struct Scenario {
    pub core: scenario::Scenario,
    /// The programs of its processes, one by one, if they are Python's; it alone holds them, and `core`.
    programs: Vec<Arc<Factory>>,
}

#[pymethods]
impl Scenario {
    /// Parse the text of a scenario.
    #[staticmethod]
    #[pyo3(signature = (text, origin, *, base_dir, machine_dir, overrides))]
    fn from_toml(
        py: Python<'_>,
        text: &[u8],
        origin: &str,
        base_dir: PathBuf,
        machine_dir: PathBuf,
        overrides: Vec<String>,
    ) -> PyResult<Self> {
        let environment = environment();
        let read = || {
            let shell = Shell { directory: &base_dir, environment: &environment };
            let mut scenario =
                scenario::Scenario::from_toml_in(shell, text, origin, &machine_dir, &overrides)?;
            scenario.check_models(&ALL_MODELS)?;
            if scenario.models.is_empty() {
                scenario.models = all_models(&scenario.machine);
            }
            Ok(scenario)
        };
        let core = interruptible(py, read)?.map_err(|error| errors::scenario(&error))?;
        Ok(Self { core, programs: Vec::new() })
    }

    /// Put a scenario together.
    #[staticmethod]
    fn from_parts(
        machine: &Machine,
        files: Vec<FileParts<'_>>,
        processes: Vec<ProcessParts>,
    ) -> PyResult<Self> {
        let names = Names::new(&machine.0, ORIGIN);
        let host =
            |name: Option<String>| names.host(name.as_deref()).map_err(|error| errors::scenario(&error));
        let files = files.into_iter().map(|(on, name, size, cached, dirty)| {
            Ok(InitialFile {
                host: host(on)?,
                path: path(&name)?,
                size: bytes("size_bytes", size)?,
                cached: bytes("cached_bytes", cached)?,
                dirty: bytes("dirty_bytes", dirty)?,
            })
        });
        let mut programs = Vec::new();
        let processes = processes.into_iter().map(|(name, on, cgroup, after, start, slots, callable)| {
            let process: Arc<str> = name.into();
            let mut on = host(on)?;
            let slots = slots.map(|(cores, priority, named)| {
                let named = named.into_iter().map(|name| host(Some(name))).collect::<PyResult<Vec<_>>>()?;
                on = named.first().copied().unwrap_or(on);
                let hosts = if named.is_empty() { vec![on] } else { named };
                PyResult::Ok(Slots { cores, priority, hosts: hosts.into() })
            });
            let slots = slots.transpose()?;
            programs.push(Arc::new(Factory::new(process.clone(), callable)));
            Ok(Process {
                name: process.clone(),
                host: on,
                cgroup: names.cgroup(on, cgroup.as_deref()).map_err(|error| errors::scenario(&error))?,
                after: after.into_iter().map(Arc::from).collect(),
                start: seconds("start_s", start)?,
                descriptors: None,
                ioprio: Default::default(),
                slots,
                program: programs[programs.len() - 1].clone(),
            })
        });
        let (files, processes) = (files.collect::<PyResult<_>>()?, processes.collect::<PyResult<_>>()?);
        let core = scenario::Scenario::from_parts(ORIGIN, machine.0.clone(), files, processes);
        let mut core = core.map_err(|error| errors::scenario(&error))?;
        core.models = all_models(&core.machine);
        Ok(Self { core, programs })
    }

    /// The same with a memory cgroup on its first host, which all processes there are in. `is_v2` says by which file it has its limit.
    fn in_cgroup(&self, py: Python<'_>, name: String, limit_bytes: u64, is_v2: bool) -> PyResult<Self> {
        self.changed(py, |scenario| {
            let limit = if is_v2 { MemoryLimit::Max } else { MemoryLimit::LimitInBytes };
            let cgroups = &mut scenario.machine.hosts[0].cgroups;
            cgroups.push(Cgroup::with_memory(name, limit(Bytes(limit_bytes))));
            let at = cgroups.len() - 1;
            scenario.processes.iter_mut().filter(|one| one.host == 0).for_each(|one| one.cgroup = Some(at));
            Ok(())
        })
    }

    /// The same with so much memory on its first host.
    fn with_memory(&self, py: Python<'_>, size_bytes: u64) -> PyResult<Self> {
        self.changed(py, |scenario| {
            scenario.machine.hosts[0].memory.size = Bytes(size_bytes);
            Ok(())
        })
    }

    /// Record what its programs would do, without times: at most so many operations, one of each process in turn.
    fn record(&self, py: Python<'_>, operations: u64) -> PyResult<Recording> {
        let core = &self.core;
        let drawn = interruptible(py, || describe::drawn(&core.origin, &core.as_workload(), operations))?;
        drawn.map(Recording).map_err(|error| refused(&error))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.programs.iter().try_for_each(|program| program.traverse(&visit))
    }

    fn __clear__(&self) {
        self.programs.iter().for_each(|program| program.clear());
    }

    /// Where it came from: a file name, or "<python>".
    #[getter]
    fn origin(&self) -> &str {
        &self.core.origin
    }

    /// The models that it asks for by itself.
    #[getter]
    fn models(&self) -> Vec<String> {
        self.core.models.clone()
    }

    /// Values that are known to a range only: host, key and spread, a fraction.
    #[getter]
    fn uncertainty(&self) -> Vec<(&str, &str, f64)> {
        let hosts = self.core.machine.hosts.iter();
        let each = hosts.flat_map(|host| host.uncertainty.iter().map(move |each| (host, each)));
        each.map(|(host, each)| (&*host.name, &*each.key, each.spread.0)).collect()
    }

    /// The same with values of its hosts multiplied: number of the host, key, factor.
    fn scaled(&self, py: Python<'_>, factors: Vec<(usize, String, f64)>) -> PyResult<Self> {
        self.changed(py, |scenario| scenario.scale(&factors))
    }

    /// How far a forecast may be off: what it says of it, as fractions by name.
    #[getter]
    fn tolerance(&self) -> BTreeMap<&'static str, f64> {
        let Tolerance { total, dirty, cached, p50, p90, p99, p99_9, max } = self.core.tolerance;
        let levels = [("total", total), ("dirty", dirty), ("cached", cached)];
        let all = levels.into_iter().chain([
            ("p50", p50),
            ("p90", p90),
            ("p99", p99),
            ("p99_9", p99_9),
            ("max", max),
        ]);
        all.filter_map(|(name, part)| Some((name, part?.0))).collect()
    }

    /// The machine, with what the scenario overrides.
    #[getter]
    fn machine(&self) -> Machine {
        Machine(self.core.machine.clone())
    }

    /// The names of its hosts.
    #[getter]
    fn hosts(&self) -> Vec<&str> {
        self.core.machine.hosts.iter().map(|host| host.name.as_str()).collect()
    }

    /// The names of its processes.
    #[getter]
    fn processes(&self) -> Vec<&str> {
        self.core.processes.iter().map(|process| &*process.name).collect()
    }

    /// The paths of the files that exist before time 0.
    #[getter]
    fn files(&self) -> Vec<&str> {
        self.core.files.iter().map(|file| &*file.path).collect()
    }

    /// The files in other formats that processes come from: name, format, and what its reader says, by place and text.
    #[getter]
    fn sources(&self) -> Vec<SourceParts<'_>> {
        let mut all = Vec::new();
        for source in &self.core.sources {
            let notes = source.notes.iter().map(|note| (&*note.place, &*note.text)).collect();
            all.push((&*source.name, source.format, notes));
        }
        all
    }

    /// SHA-256 of the canonical text of its machine, in hexadecimal.
    #[getter]
    pub fn machine_hash(&self, py: Python<'_>) -> PyResult<String> {
        machine_hash(py, &self.core.machine)
    }
}

impl Scenario {
    /// The same with a change, and with programs of its own: no two objects may show the garbage collector the same one.
    fn changed(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut scenario::Scenario) -> Result<(), ScenarioError>,
    ) -> PyResult<Self> {
        let mut core = self.core.clone();
        change(&mut core).and_then(|()| core.check()).map_err(|error| errors::scenario(&error))?;
        let programs: Vec<_> = self.programs.iter().map(|program| Arc::new(program.another(py))).collect();
        for (process, program) in core.processes.iter_mut().zip(&programs) {
            process.program = program.clone();
        }
        Ok(Self { core, programs })
    }
}

/// Who is asked if nobody is named.
fn all_models(machine: &machine::Machine) -> Vec<String> {
    models_for(machine).map(str::to_owned).collect()
}

fn machine_hash(py: Python<'_>, machine: &machine::Machine) -> PyResult<String> {
    let text = machine_to_toml(machine);
    py.import("hashlib")?.call_method1("sha256", (text.as_bytes(),))?.call_method0("hexdigest")?.extract()
}

/// The format of a file with programs, by its content and name; None if it is of none that is known, or cannot be read.
#[pyfunction]
pub fn workload_format(path: PathBuf) -> Option<&'static str> {
    let name = path.display().to_string();
    let input = Input::open(&path, &name).ok()?;
    Some(format_of(&name, &input.head)?.name)
}

/// The formats of workloads: name, what it is, and how names of its files end.
#[pyfunction]
pub fn workload_formats() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    FORMATS.iter().map(|format| (format.name, format.what, format.endings.to_vec())).collect()
}

/// What a report in fio's form needs of a job file, as JSON; empty for a file of another format.
///
/// # Errors
/// What is wrong in the file.
#[pyfunction]
pub fn describe_fio(path: PathBuf) -> PyResult<Option<String>> {
    let name = path.display().to_string();
    let input = Input::open(&path, &name).map_err(|error| errors::scenario(&error.into()))?;
    if format_of(&name, &input.head).is_none_or(|format| format.name != "fio") {
        return Ok(None);
    }
    // Sizes of disks are looked at where the job file is simulated.
    let surroundings = Surroundings {
        environment: environment(),
        room: Some(Bytes(u64::MAX)),
        memory: Bytes(1 << 40),
        cores: 1,
        ..Surroundings::default()
    };
    let options = Options { lenient: true, surroundings, ..Options::default() };
    fio::describe(input, &options).map(Some).map_err(|error| errors::scenario(&error.into()))
}

/// The variables of the shell, which fio's `${}` names.
fn environment() -> BTreeMap<String, String> {
    let variable =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(variable).collect()
}

/// The blocks of 4 KiB of the journal that mke2fs gives a file system on a disk of such a size.
#[pyfunction]
pub fn journal_blocks(disk_bytes: u64) -> u64 {
    machine::Journal::default().blocks(Bytes(disk_bytes))
}

/// The JSON schema of a scenario, for editors.
#[pyfunction]
pub fn json_schema() -> String {
    scenario::json_schema()
}
