//! Runs a scenario on the real kernel.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Instant;

use numpy::PyArray1;
use pagecast_core::machine::MountSource;
use pagecast_core::scenario::Residency;
use pagecast_core::units::Nanos;
use pagecast_probe::run::{
    self, CallRow, Directories, Host, Job, Learnt, Mount, OperationDetails, Plan, Samples, Settings, Source,
    Traced,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::cache::detached_with;
use crate::columns::Result;
use crate::errors;
use crate::quantity::one_of;
use crate::scenario::Scenario;
use crate::simulate::record_of;

/// The model that the result of a run names.
const MODEL: &str = "measured";

/// Check that the kernel's events of write-back can be recorded, and change nothing.
#[pyfunction]
pub fn check_tracing() -> PyResult<()> {
    run::check_tracing().map_err(|error| errors::probe(&error))
}

/// What a run will do, known before anything is touched.
#[pyclass(frozen, module = "pagecast._core")]
pub struct RunPlan {
    plan: Plan,
    origin: String,
    machine_hash: String,
}

#[pymethods]
impl RunPlan {
    /// Ask all programs of a scenario for their operations.
    #[new]
    #[pyo3(signature = (scenario, *, residency=None, per_call=None, record="all"))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        residency: Option<&str>,
        per_call: Option<NonZero<u64>>,
        record: &str,
    ) -> PyResult<Self> {
        let record = record_of(record)?;
        let machine_hash = scenario.machine_hash(py)?;
        let scenario = &scenario.core;
        let residency = match residency {
            Some(word) => {
                [Residency::End, Residency::Operation][one_of("residency", word, &Residency::NAMES)?]
            }
            None => scenario.residency,
        };
        let hosts = &scenario.machine.hosts;
        let at = |host: usize, mount: usize| (host, &*hosts[host].mounts[mount].path);
        let source = |source: &MountSource| match source {
            MountSource::Disk(_) | MountSource::Tmpfs => Source::Here,
            &MountSource::Nfs { server, export, .. } => Source::Server(server, at(server, export).1),
            MountSource::Striped(striped) => {
                Source::Striped(striped.servers.iter().map(|server| at(server.host, server.mount)).collect())
            }
        };
        let job = Job {
            origin: &scenario.origin,
            hosts: hosts
                .iter()
                .map(|host| Host {
                    name: &host.name,
                    mounts: host
                        .mounts
                        .iter()
                        .map(|mount| Mount { path: &mount.path, source: source(&mount.source) })
                        .collect(),
                })
                .collect(),
            files: &scenario.files,
            processes: &scenario.processes,
            sources: &scenario.sources,
            looks_after_each: residency == Residency::Operation,
            per_call,
            record,
        };
        let plan = Plan::of(&job).map_err(|error| errors::run(py, error))?;
        Ok(Self { plan, origin: scenario.origin.clone(), machine_hash })
    }

    /// Bytes that are written before time 0.
    #[getter]
    fn prepared_bytes(&self) -> u64 {
        self.plan.written().0.0
    }

    /// Bytes that the programs write.
    #[getter]
    fn written_bytes(&self) -> u64 {
        self.plan.written().1.0
    }

    /// The most bytes of files on the disk at a time.
    #[getter]
    fn space_bytes(&self) -> u64 {
        self.plan.space().0
    }

    /// What the programs hold of memory at a time, at most.
    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.plan.memory().0
    }

    /// How many operations all processes have together, as far as they were asked.
    #[getter]
    fn operations(&self) -> u64 {
        self.plan.operations()
    }

    /// Whether a program goes on until a time, so that its needs are not known to the end.
    #[getter]
    fn is_open_ended(&self) -> bool {
        self.plan.is_open_ended()
    }

    /// The files: as the scenario calls them, and where they are in the folder.
    #[getter]
    fn paths(&self) -> Vec<(String, PathBuf)> {
        self.plan.files().into_iter().map(|(path, within)| (path.to_string(), within)).collect()
    }

    /// The names of its hosts.
    #[getter]
    fn hosts(&self) -> Vec<String> {
        self.plan.hosts().map(str::to_owned).collect()
    }

    /// Check that it can be run in directories, that of all hosts and those of some, and change nothing; a table of each directory.
    fn check<'py>(
        &self,
        py: Python<'py>,
        directory: Option<PathBuf>,
        of_host: Vec<(String, PathBuf)>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let directories = Directories { all: directory, of_host };
        let places = py.detach(|| run::check(&self.plan, &directories));
        let places = places.map_err(|error| errors::run(py, error))?;
        let table = |at: run::HostPlace| {
            let dict = PyDict::new(py);
            dict.set_item("hosts", at.hosts)?;
            dict.set_item("directory", at.directory)?;
            dict.set_item("file_system", at.place.file_system.name())?;
            dict.set_item("caution", at.place.file_system.caution())?;
            dict.set_item("free_bytes", at.place.free.0)?;
            dict.set_item("available_bytes", at.place.available.0)?;
            Ok(dict)
        };
        places.into_iter().map(table).collect()
    }

    /// Run it in folders below directories, that of all hosts and those of some, which are gone afterwards unless it is kept.
    #[pyo3(signature = (directory, of_host, *, keep=false, sample_hz=20, trace=false, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        directory: Option<PathBuf>,
        of_host: Vec<(String, PathBuf)>,
        keep: bool,
        sample_hz: u32,
        trace: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Measured> {
        let directories = Directories { all: directory, of_host };
        let settings = Settings { directories: &directories, keep, sample_hz, trace };
        let begun = Instant::now();
        let work = |watch: &mut pagecast_probe::watch::Watcher<'_>| run::run(&self.plan, settings, watch);
        let measured = detached_with(py, progress, work, |error| errors::run(py, error))?;
        let result = Result {
            data: measured.result,
            model: MODEL.to_owned(),
            options: BTreeMap::new(),
            machine_hash: self.machine_hash.clone(),
            seed: 0,
            origin: self.origin.clone(),
            wall_s: begun.elapsed().as_secs_f64(),
            summary: std::sync::OnceLock::new(),
        };
        Ok(Measured {
            result: Py::new(py, result)?,
            details: measured.details,
            calls: measured.calls,
            processes: self.plan.processes().map(str::to_owned).collect(),
            samples: measured.samples,
            trace: measured.trace,
            learnt: measured.learnt,
            paths: self.plan.paths().iter().map(ToString::to_string).collect(),
            file_system: measured.file_system.name(),
            prepared: measured.prepared,
            kept: measured.kept,
            sample_hz,
        })
    }
}

/// What a run gave: the tables of a simulation, and what was seen beside.
#[pyclass(frozen, module = "pagecast._core")]
pub struct Measured {
    /// The tables of a simulation.
    #[pyo3(get)]
    result: Py<Result>,
    details: OperationDetails,
    calls: Vec<CallRow>,
    prepared: Nanos,
    processes: Vec<String>,
    samples: Samples,
    trace: Vec<Traced>,
    learnt: Option<Learnt>,
    paths: Vec<String>,
    /// What the files were on.
    #[pyo3(get)]
    file_system: String,
    /// Where the files are, if they stay.
    #[pyo3(get)]
    kept: Option<PathBuf>,
    /// How often the machine was looked at per second.
    #[pyo3(get)]
    sample_hz: u32,
}

#[pymethods]
impl Measured {
    /// How much of a processor looking took.
    #[getter]
    fn sampler_s(&self) -> f64 {
        self.samples.processor_time.as_seconds()
    }

    /// How long it took to make the files that were there at time 0.
    #[getter]
    fn prepared_s(&self) -> f64 {
        self.prepared.as_seconds()
    }

    /// What the kernel had learnt of the disk before time 0: its name for it, and what it tells.
    fn learnt<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(Learnt { bdi, write_bandwidth, dirty_limit, whole_limit }) = &self.learnt else {
            return Ok(None);
        };
        let dict = PyDict::new(py);
        dict.set_item("bdi", bdi)?;
        dict.set_item("write_bandwidth_bytes_per_s", write_bandwidth.map(|rate| rate.0))?;
        dict.set_item("dirty_limit_bytes", dirty_limit.map(|limit| limit.0))?;
        dict.set_item("whole_limit_bytes", whole_limit.map(|limit| limit.0))?;
        Ok(Some(dict))
    }

    /// What a simulation does not know of its operations, column by column; rows as in the table of operations.
    fn details<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (dict, details) = (PyDict::new(py), &self.details);
        let calls = details.call.iter().map(|call| call.0 as i64);
        dict.set_item("call_bytes", PyArray1::from_iter(py, calls))?;
        dict.set_item("run_queue_s", times(py, details.run_queue.iter().copied()))?;
        Ok(dict)
    }

    /// When calls of reads and writes ended, column by column.
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (dict, calls) = (PyDict::new(py), &self.calls);
        let names = |all: &[String]| all.iter().map(|name| PyString::new(py, name)).collect::<Vec<_>>();
        let (processes, paths) = (names(&self.processes), names(&self.paths));
        let number =
            |get: fn(&CallRow) -> u64| PyArray1::from_iter(py, calls.iter().map(|row| get(row) as i64));
        let time = |get: fn(&CallRow) -> Nanos| times(py, calls.iter().map(get));
        dict.set_item("process", PyList::new(py, calls.iter().map(|row| &processes[row.process as usize]))?)?;
        dict.set_item("index", number(|row| row.index.into()))?;
        let operations = calls.iter().map(|row| PyString::intern(py, row.operation));
        dict.set_item("operation", PyList::new(py, operations)?)?;
        dict.set_item("path", PyList::new(py, calls.iter().map(|row| &paths[row.file as usize]))?)?;
        dict.set_item("offset_bytes", number(|row| row.offset))?;
        dict.set_item("bytes", number(|row| row.bytes.0))?;
        dict.set_item("calls", number(|row| row.calls))?;
        dict.set_item("start_s", time(|row| row.start))?;
        dict.set_item("end_s", time(|row| row.end))?;
        dict.set_item("duration_s", time(|row| row.end - row.start))?;
        Ok(dict)
    }

    /// The machine's counters over time, column by column.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("time_s", times(py, self.samples.time.iter().copied()))?;
        for name in &self.samples.names {
            let column = self.samples.column(name).expect("a name has a column");
            dict.set_item(name, PyArray1::from_iter(py, column.map(|value| value as i64)))?;
        }
        Ok(dict)
    }

    /// What the kernel said of write-back, column by column.
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let trace = &self.trace;
        dict.set_item("time_s", times(py, trace.iter().map(|traced| traced.time)))?;
        let words = |get: fn(&Traced) -> &str| PyList::new(py, trace.iter().map(get));
        dict.set_item("event", words(|traced| traced.event)?)?;
        dict.set_item("task", words(|traced| &traced.task)?)?;
        dict.set_item("text", words(|traced| &traced.text)?)?;
        Ok(dict)
    }

    /// What was in memory of each file over time, column by column.
    fn file_samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (dict, samples) = (PyDict::new(py), &self.samples.files);
        let names: Vec<_> = self.paths.iter().map(|path| PyString::new(py, path)).collect();
        dict.set_item("time_s", times(py, samples.iter().map(|sample| sample.time)))?;
        dict.set_item("path", PyList::new(py, samples.iter().map(|sample| &names[sample.file as usize]))?)?;
        let bytes = |get: fn(&run::FileSample) -> u64| {
            PyArray1::from_iter(py, samples.iter().map(|sample| get(sample) as i64))
        };
        dict.set_item("cached_bytes", bytes(|sample| sample.cached.0))?;
        dict.set_item("dirty_bytes", bytes(|sample| sample.dirty.0))?;
        dict.set_item("writeback_bytes", bytes(|sample| sample.writeback.0))?;
        Ok(dict)
    }
}

fn times<'py>(py: Python<'py>, all: impl Iterator<Item = Nanos>) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, all.map(Nanos::as_seconds).collect())
}
