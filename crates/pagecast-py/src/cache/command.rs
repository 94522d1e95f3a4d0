//! Runs and counts a command, in a memory cgroup if one is wanted.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use pagecast_core::units::Bytes;
use pagecast_probe::cgroup;
use pagecast_probe::command::{self, Settings};
use pagecast_probe::filesystem::MountTable;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::watch::detached;
use crate::errors;

/// A memory cgroup of our own, removed by `close`.
#[pyclass(frozen, module = "pagecast._core")]
pub struct MemoryGroup(Mutex<Option<cgroup::MemoryGroup>>);

impl MemoryGroup {
    fn held(&self) -> MutexGuard<'_, Option<cgroup::MemoryGroup>> {
        self.0.lock().expect("nothing panics while it holds the lock")
    }
}

#[pymethods]
impl MemoryGroup {
    /// Make an empty group that may use so much memory.
    #[new]
    fn new(limit_bytes: u64) -> PyResult<Self> {
        let group = cgroup::MemoryGroup::create(Bytes(limit_bytes)).map_err(|error| errors::probe(&error))?;
        Ok(Self(Mutex::new(Some(group))))
    }

    /// 1 or 2; None after `close`.
    #[getter]
    fn version(&self) -> Option<u8> {
        self.held().as_ref().map(|group| group.version().number())
    }

    /// The most memory in use so far; None where the kernel does not say.
    #[getter]
    fn peak_bytes(&self) -> Option<u64> {
        self.held().as_ref().and_then(cgroup::MemoryGroup::peak).map(|peak| peak.0)
    }

    /// How many processes were killed because there was not enough memory.
    #[getter]
    fn out_of_memory_kills(&self) -> u64 {
        self.held().as_ref().map_or(0, cgroup::MemoryGroup::out_of_memory_kills)
    }

    /// Remove the group and what still runs in it.
    fn close(&self, py: Python<'_>) {
        let group = self.held().take();
        py.detach(|| drop(group));
    }
}

/// Where a command is, found as a shell does.
#[pyfunction]
pub fn find_command(name: OsString) -> PyResult<PathBuf> {
    command::find(&name).map_err(|error| errors::probe(&error))
}

/// Run a command to its end: times, and what it and the devices below `paths` read.
#[pyfunction]
#[pyo3(signature = (command, *, paths, group=None, show_output=false, progress=None))]
pub fn run_command<'py>(
    py: Python<'py>,
    command: Vec<OsString>,
    paths: Vec<PathBuf>,
    group: Option<&MemoryGroup>,
    show_output: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let devices = devices(&paths);
    let held = group.map(MemoryGroup::held);
    let group = held.as_deref().and_then(Option::as_ref);
    let settings = Settings { group, show_output, devices: &devices };
    let run = detached(py, progress, |watch| command::run(&command, settings, watch))?;
    let dict = PyDict::new(py);
    dict.set_item("wall_s", run.wall_s)?;
    dict.set_item("user_s", run.user_s)?;
    dict.set_item("system_s", run.system_s)?;
    dict.set_item("exit_code", run.code())?;
    dict.set_item("read_calls_bytes", run.process.map(|counters| counters.read_calls.0))?;
    dict.set_item("device_read_bytes", run.device_read.0)?;
    dict.set_item("major_faults", run.major_faults)?;
    let read = PyDict::new(py);
    for (name, counters) in &run.devices {
        read.set_item(name, counters.read.0)?;
    }
    dict.set_item("whole_device_read_bytes", read)?;
    Ok(dict)
}

/// The block devices below some paths, each once.
fn devices(paths: &[PathBuf]) -> Vec<u64> {
    let mounts = MountTable::read();
    let mut devices = Vec::new();
    for file in paths.iter().filter_map(|path| std::fs::File::open(path).ok()) {
        let Ok(device) = file.metadata().map(|found| found.dev()) else { continue };
        devices.push(mounts.file_system(file.as_fd(), device).block_device().unwrap_or(device));
    }
    devices.sort_unstable();
    devices.dedup();
    devices
}
