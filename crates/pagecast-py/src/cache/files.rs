//! Finds, measures, evicts, warms and locks files in the page cache; and drops all caches.

use std::path::PathBuf;
use std::sync::Mutex;

use pagecast_core::units::Bytes;
use pagecast_probe::Problem;
use pagecast_probe::counters::MemoryCounters;
use pagecast_probe::drop_caches::{self, What};
use pagecast_probe::evict::Reason;
use pagecast_probe::lock::{self, Allowance, Lock};
use pagecast_probe::residency::{FileResidency, Method, Prober, file_systems};
use pagecast_probe::walk::{self, Options, Selection};
use pagecast_probe::warm::Warming;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::columns::{Columns, file_system, problems};
use super::watch::detached;
use crate::errors;
use crate::quantity::one_of;

/// Files that were found below some paths.
#[pyclass(frozen, module = "pagecast._core")]
pub struct CacheFiles(Selection);

#[pymethods]
impl CacheFiles {
    /// The files, each under the name by which it was found.
    #[getter]
    fn paths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.files.iter().map(|path| path.as_os_str()))
    }

    /// What could not be looked at: (path, what is wrong).
    #[getter]
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        problems(py, &self.0.problems)
    }

    /// Symbolic links that were not followed.
    #[getter]
    fn links_left_out(&self) -> u64 {
        self.0.links_left_out
    }

    /// Symbolic links that lead to a directory that was looked at already.
    #[getter]
    fn links_back(&self) -> u64 {
        self.0.links_back
    }

    /// Sockets, pipes and devices.
    #[getter]
    fn special_left_out(&self) -> u64 {
        self.0.special_left_out
    }

    /// Directories of made-up file systems, or of other file systems where one was asked for.
    #[getter]
    fn mounts_left_out<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.mounts_left_out.iter().map(|path| path.as_os_str()))
    }

    /// The number of files.
    fn __len__(&self) -> usize {
        self.0.files.len()
    }
}

/// Find the files below some paths.
#[pyfunction]
#[pyo3(signature = (paths, *, follow=false, one_file_system=false, progress=None))]
pub fn cache_find(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    follow: bool,
    one_file_system: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<CacheFiles> {
    let options = Options { follow, one_file_system };
    detached(py, progress, |watch| walk::select(&paths, options, watch)).map(CacheFiles)
}

fn prober(method: Option<&str>) -> PyResult<Prober> {
    let method = method.map(|word| one_of("method", word, &Method::NAMES)).transpose()?;
    let method = method.map(|at| [Method::Cachestat, Method::Mincore][at]);
    Prober::new(method).map_err(|error| errors::probe(&error))
}

/// Measure what is cached of files: a `dict` of columns and notes.
#[pyfunction]
#[pyo3(signature = (files, *, method=None, cells=0, progress=None))]
pub fn cache_status<'py>(
    py: Python<'py>,
    files: &CacheFiles,
    method: Option<&str>,
    cells: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let prober = prober(method)?;
    let paths = &files.0.files;
    let survey =
        detached(py, progress, |watch| pagecast_probe::residency::survey(paths, &prober, cells, watch))?;
    let columns = Columns::new(py);
    columns.files(survey.files.iter())?;
    columns.residency("", survey.files.iter().map(|file| Some(file.residency)))?;
    if cells > 0 {
        columns.list("cells", survey.files.iter().map(|file| file.cells.as_slice()))?;
    }
    let answer = answer(py, columns, survey.files.iter(), &survey.problems, survey.vanished)?;
    answer.set_item("other_names", survey.other_names)?;
    Ok(answer)
}

/// What every command about files answers.
fn answer<'py, 'a>(
    py: Python<'py>,
    columns: Columns<'py>,
    files: impl Iterator<Item = &'a FileResidency>,
    trouble: &[Problem],
    vanished: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let systems = PyList::empty(py);
    for system in file_systems(files) {
        systems.append(file_system(py, &system)?)?;
    }
    let answer = PyDict::new(py);
    answer.set_item("files", columns.dict)?;
    answer.set_item("problems", problems(py, trouble)?)?;
    answer.set_item("vanished", vanished)?;
    answer.set_item("file_systems", systems)?;
    Ok(answer)
}

/// Drop files from the page cache: what was cached before and after, and why something stayed.
#[pyfunction]
#[pyo3(signature = (files, *, method=None, sync=true, progress=None))]
pub fn cache_evict<'py>(
    py: Python<'py>,
    files: &CacheFiles,
    method: Option<&str>,
    sync: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let prober = prober(method)?;
    let paths = &files.0.files;
    let eviction = detached(py, progress, |watch| pagecast_probe::evict::evict(paths, &prober, sync, watch))?;
    let columns = Columns::new(py);
    columns.files(eviction.files.iter().map(|file| &file.file))?;
    columns.residency("_before", eviction.files.iter().map(|file| Some(file.file.residency)))?;
    columns.residency("_after", eviction.files.iter().map(|file| file.after))?;
    let texts = |reasons: &[Reason]| reasons.iter().map(ToString::to_string).collect::<Vec<_>>();
    columns.list("reasons", eviction.files.iter().map(|file| texts(&file.reasons)))?;
    let files = eviction.files.iter().map(|file| &file.file);
    answer(py, columns, files, &eviction.problems, eviction.vanished)
}

/// Read files into the page cache: what was cached before and after.
#[pyfunction]
#[pyo3(signature = (files, *, method=None, progress=None))]
pub fn cache_warm<'py>(
    py: Python<'py>,
    files: &CacheFiles,
    method: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let prober = prober(method)?;
    let paths = &files.0.files;
    let warming = detached(py, progress, |watch| pagecast_probe::warm::warm(paths, &prober, watch))?;
    warmed(py, &warming)
}

fn warmed<'py>(py: Python<'py>, warming: &Warming) -> PyResult<Bound<'py, PyDict>> {
    let columns = Columns::new(py);
    columns.files(warming.files.iter().map(|file| &file.file))?;
    columns.bytes("cached_before", warming.files.iter().map(|file| Some(file.file.residency.cached)))?;
    columns.bytes("data", warming.files.iter().map(|file| Some(file.data)))?;
    columns.bytes("cached_after", warming.files.iter().map(|file| Some(file.after)))?;
    let files = warming.files.iter().map(|file| &file.file);
    answer(py, columns, files, &warming.problems, warming.vanished)
}

/// Files that stay in memory until `release`.
#[pyclass(frozen, module = "pagecast._core")]
pub struct CacheLock(Mutex<Option<Lock>>);

#[pymethods]
impl CacheLock {
    /// How much is locked, in whole pages; 0 after `release`.
    #[getter]
    fn locked_bytes(&self) -> u64 {
        let held = self.0.lock().expect("nothing panics while it holds the lock");
        held.as_ref().map_or(0, |lock| lock.bytes().0)
    }

    /// Let go.
    fn release(&self, py: Python<'_>) {
        let held = self.0.lock().expect("nothing panics while it holds the lock").take();
        py.detach(|| drop(held));
    }
}

/// Read files into memory and lock them there.
#[pyfunction]
#[pyo3(signature = (files, *, method=None, progress=None))]
pub fn cache_lock<'py>(
    py: Python<'py>,
    files: &CacheFiles,
    method: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(CacheLock, Bound<'py, PyDict>)> {
    let prober = prober(method)?;
    let paths = &files.0.files;
    let (held, warming) = detached(py, progress, |watch| lock::lock(paths, &prober, watch))?;
    Ok((CacheLock(Mutex::new(Some(held))), warmed(py, &warming)?))
}

/// How many bytes locking takes, and how many this process may lock (None: all).
#[pyfunction]
pub fn cache_lock_need(py: Python<'_>, files: &CacheFiles) -> (u64, Option<u64>) {
    let paths = &files.0.files;
    (py.detach(|| lock::needed(paths)).0, Allowance::own().limit.map(|limit| limit.0))
}

/// Raise `NotAllowedError` unless this process may drop all caches.
#[pyfunction]
pub fn cache_drop_check() -> PyResult<()> {
    drop_caches::check().map_err(|error| errors::probe(&error))
}

/// Write all dirty data of the machine and drop its caches; the memory before and after.
#[pyfunction]
#[pyo3(signature = (what="all", *, sync=true, progress=None))]
pub fn cache_drop<'py>(
    py: Python<'py>,
    what: &str,
    sync: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let what = What::ALL[one_of("what", what, &What::NAMES)?];
    let (before, after) = detached(py, progress, |watch| drop_caches::drop_caches(what, sync, watch))?;
    Ok((memory(py, before)?, memory(py, after)?))
}

/// How much more the page cache can hold, by the machine and by the cgroups that we are in.
#[pyfunction]
pub fn cache_available() -> PyResult<u64> {
    pagecast_probe::warm::available().map(|available| available.0).map_err(|error| errors::probe(&error))
}

/// What the memory of this machine holds now.
#[pyfunction]
pub fn memory_counters(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    memory(py, MemoryCounters::read().map_err(|error| errors::probe(&error))?)
}

fn memory<'py>(py: Python<'py>, counters: MemoryCounters) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let set = |name: &str, value: Bytes| dict.set_item(format!("{name}_bytes"), value.0);
    set("total", counters.total)?;
    set("free", counters.free)?;
    set("available", counters.available)?;
    set("cached", counters.cached)?;
    set("buffers", counters.buffers)?;
    set("shared", counters.shared)?;
    set("dirty", counters.dirty)?;
    set("writeback", counters.writeback)?;
    set("reclaimable_slab", counters.reclaimable_slab)?;
    Ok(dict)
}
