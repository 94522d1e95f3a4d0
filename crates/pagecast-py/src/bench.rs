//! Runs the page cache benchmark, one measurement at a time.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pagecast_core::units::{Bytes, Nanos};
use pagecast_probe::bench::settings::{Changed, Kernel, NAMES, Setting};
use pagecast_probe::bench::{self, Access, Cell, Mode, Need, Outcome, Sample};
use pagecast_probe::counters::{MemoryCounters, device_name};
use pagecast_probe::io::Direction;
use pagecast_probe::residency::Residency;
use pagecast_probe::watch::Watcher;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::cache::detached_with;
use crate::errors;
use crate::quantity::one_of;

fn positive<T, N: TryFrom<T>>(name: &str, value: T) -> PyResult<N> {
    N::try_from(value).map_err(|_| PyValueError::new_err(format!("{name} must be at least 1")))
}

fn need(size_bytes: u64, call_bytes: u64, threads: usize, is_cached: bool) -> PyResult<Need> {
    let (call, threads) = (positive("call_bytes", call_bytes)?, positive("threads", threads)?);
    Ok(Need { size: Bytes(size_bytes), call, threads, is_cached })
}

/// What there is for a benchmark in a directory; changes nothing.
#[pyfunction]
#[pyo3(signature = (directory, *, size_bytes, call_bytes, threads, is_cached))]
pub fn bench_check(
    py: Python<'_>,
    directory: PathBuf,
    size_bytes: u64,
    call_bytes: u64,
    threads: usize,
    is_cached: bool,
) -> PyResult<Bound<'_, PyDict>> {
    let need = need(size_bytes, call_bytes, threads, is_cached)?;
    let place = bench::check(&directory, need).map_err(|error| errors::bench(&error))?;
    let dict = PyDict::new(py);
    dict.set_item("file_system", place.file_system.name())?;
    dict.set_item("caution", place.file_system.caution())?;
    dict.set_item("device", place.file_system.block_device().and_then(device_name))?;
    dict.set_item("free_bytes", place.free.0)?;
    dict.set_item("available_bytes", place.available.0)?;
    Ok(dict)
}

/// Files in a folder of their own, and a block device if one was given; `close` removes the folder.
#[pyclass(frozen, module = "pagecast._core")]
pub struct Bench(Mutex<Option<bench::Bench>>);

#[pymethods]
impl Bench {
    /// Make a folder in a directory.
    #[new]
    #[pyo3(signature = (directory, *, size_bytes, call_bytes, threads, is_cached, limit_s, device=None))]
    fn new(
        directory: PathBuf,
        size_bytes: u64,
        call_bytes: u64,
        threads: usize,
        is_cached: bool,
        limit_s: f64,
        device: Option<PathBuf>,
    ) -> PyResult<Self> {
        let need = need(size_bytes, call_bytes, threads, is_cached)?;
        let limit = Nanos((limit_s * 1e9) as u64);
        let made = bench::Bench::create(&directory, need, limit, device.as_deref());
        Ok(Self(Mutex::new(Some(made.map_err(|error| errors::bench(&error))?))))
    }

    /// Where the files are; None after `close`.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.0
            .lock()
            .expect("nothing panics while it holds the lock")
            .as_ref()
            .map(|bench| bench.path().to_owned())
    }

    /// Make one measurement.
    #[pyo3(signature = (cell, *, progress=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        cell: Asked,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let cell = cell.checked()?;
        let sample = self.with(py, progress, |bench, watch| bench.run(cell, watch))?;
        to_dict(py, &sample)
    }

    /// Bring the page cache into the state that a cell wants: bytes of each thread, and whether it is so.
    #[pyo3(signature = (cell, *, progress=None))]
    fn prepare(&self, py: Python<'_>, cell: Asked, progress: Option<Py<PyAny>>) -> PyResult<(u64, bool)> {
        let cell = cell.checked()?;
        let (bytes, is_prepared) = self.with(py, progress, |bench, watch| bench.prepare(cell, watch))?;
        Ok((bytes.0, is_prepared))
    }

    /// Remove the folder and what is in it.
    fn close(&self, py: Python<'_>) {
        let bench = self.0.lock().expect("nothing panics while it holds the lock").take();
        py.detach(|| drop(bench));
    }
}

impl Bench {
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        act: impl FnOnce(&mut bench::Bench, &mut Watcher<'_>) -> Result<R, bench::BenchError> + Send,
    ) -> PyResult<R> {
        let mut held = self.0.lock().expect("nothing panics while it holds the lock");
        let bench = held.as_mut().ok_or_else(|| PyValueError::new_err("it was closed"))?;
        detached_with(py, progress, |watch| act(bench, watch), |error| errors::bench(&error))
    }
}

/// A cell of the matrix as Python gives it, a `dict`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    mode: String,
    access: String,
    on_device: bool,
    call_bytes: u64,
    threads: usize,
}

impl Asked {
    fn checked(&self) -> PyResult<Cell> {
        Ok(Cell {
            mode: Mode::ALL[one_of("mode", &self.mode, &Mode::NAMES)?],
            access: Access::ALL[one_of("access", &self.access, &Access::NAMES)?],
            on_device: self.on_device,
            call: positive("call_bytes", self.call_bytes)?,
            threads: positive("threads", self.threads)?,
        })
    }
}

fn outcome(dict: &Bound<'_, PyDict>, outcome: &Outcome) -> PyResult<()> {
    dict.set_item("bytes", outcome.bytes.0)?;
    dict.set_item("duration_s", outcome.duration().as_seconds())?;
    dict.set_item("is_whole", outcome.is_whole)
}

fn to_dict<'py>(py: Python<'py>, sample: &Sample) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    outcome(&dict, &sample.outcome)?;
    dict.set_item("processor_wait_s", sample.outcome.waited.as_seconds())?;
    dict.set_item("durable_s", sample.durable.map(Nanos::as_seconds))?;
    dict.set_item("is_prepared", sample.is_prepared)?;
    dict.set_item("device_bytes", sample.by_device.map(|bytes| bytes.0))?;
    residency(&dict, "before", sample.before)?;
    residency(&dict, "after", sample.after)?;
    dict.set_item("own_device_read_bytes", sample.own.map(|own| own.device_read.0))?;
    dict.set_item("own_dirtied_bytes", sample.own.map(|own| own.dirtied.0))?;
    dict.set_item("whole_device_read_bytes", sample.device.map(|device| device.read.0))?;
    dict.set_item("whole_device_written_bytes", sample.device.map(|device| device.written.0))?;
    for (when, memory) in [("before", sample.memory.0), ("after", sample.memory.1)] {
        let MemoryCounters { buffers, cached, .. } = memory;
        dict.set_item(format!("buffers_{when}_bytes"), buffers.0)?;
        dict.set_item(format!("cached_{when}_bytes"), cached.0)?;
    }
    Ok(dict)
}

fn residency(dict: &Bound<'_, PyDict>, when: &str, seen: Residency) -> PyResult<()> {
    let dirty = seen.state.map(|state| (state.dirty + state.writeback).0);
    dict.set_item(format!("resident_{when}_bytes"), seen.cached.0)?;
    dict.set_item(format!("dirty_{when}_bytes"), dirty)
}

/// The rate at which memory is copied as a cell does: bytes and seconds.
#[pyfunction]
#[pyo3(signature = (cell, *, size_bytes, progress=None))]
pub fn bench_copy(
    py: Python<'_>,
    cell: Asked,
    size_bytes: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'_, PyDict>> {
    let cell = cell.checked()?;
    let direction: Direction = cell.access.direction();
    let copied = detached_with(
        py,
        progress,
        |watch| bench::copy(direction, cell.call, cell.threads, Bytes(size_bytes), watch),
        |error| errors::bench(&error),
    )?;
    let dict = PyDict::new(py);
    outcome(&dict, &copied)?;
    Ok(dict)
}

/// The settings `vm.dirty_*` as they are.
#[pyfunction]
pub fn dirty_settings(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    settings(py, &Kernel::default().read().map_err(|error| errors::probe(&error))?)
}

/// Put back what a process that was killed has left changed.
#[pyfunction]
pub fn put_back_dirty_settings(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    settings(py, &Kernel::default().put_back_left_over().map_err(|error| errors::bench(&error))?)
}

fn settings<'py>(py: Python<'py>, settings: &[Setting]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in settings {
        dict.set_item(format!("vm.{name}"), value)?;
    }
    Ok(dict)
}

/// Settings that are changed until `close`.
#[pyclass(frozen, module = "pagecast._core")]
pub struct ChangedSettings(Mutex<Option<Changed>>);

#[pymethods]
impl ChangedSettings {
    /// Change settings, given by their names.
    #[new]
    fn new(wanted: Vec<(String, u64)>) -> PyResult<Self> {
        let known = |(name, value): &(String, u64)| {
            let short = name.strip_prefix("vm.").unwrap_or(name);
            Ok((NAMES[one_of("setting", short, &NAMES)?], *value))
        };
        let wanted = wanted.iter().map(known).collect::<PyResult<Vec<Setting>>>()?;
        let changed = Kernel::default().change(&wanted).map_err(|error| errors::bench(&error))?;
        Ok(Self(Mutex::new(Some(changed))))
    }

    /// Put back what was there.
    fn close(&self) {
        self.0.lock().expect("nothing panics while it holds the lock").take();
    }
}

/// Check that a path is a block device that could be overwritten: its name and size.
#[pyfunction]
#[pyo3(signature = (device, *, size_bytes))]
pub fn bench_check_device(py: Python<'_>, device: PathBuf, size_bytes: u64) -> PyResult<Bound<'_, PyDict>> {
    let path: &Path = &device;
    let found = bench::Device::open(path, Bytes(size_bytes)).map_err(|error| errors::bench(&error))?;
    let dict = PyDict::new(py);
    dict.set_item("device", device_name(found.number))?;
    dict.set_item("size_bytes", found.size.0)?;
    Ok(dict)
}
