//! Returns tables about files as columns: lists of `str`, `int` or None. NumPy would take longer to import than most measurements take.

use std::path::Path;

use pagecast_core::units::Bytes;
use pagecast_probe::Problem;
use pagecast_probe::filesystem::FileSystem;
use pagecast_probe::residency::{FileResidency, Residency, State};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// A table of files being made.
pub struct Columns<'py> {
    py: Python<'py>,
    pub dict: Bound<'py, PyDict>,
}

impl<'py> Columns<'py> {
    pub fn new(py: Python<'py>) -> Self {
        Self { py, dict: PyDict::new(py) }
    }

    /// What every table of files begins with.
    pub fn files<'a>(&self, files: impl ExactSizeIterator<Item = &'a FileResidency> + Clone) -> PyResult<()> {
        let words = |word| PyString::intern(self.py, word);
        self.list("path", files.clone().map(|file| file.path.as_os_str()))?;
        self.bytes("size", files.clone().map(|file| Some(file.size)))?;
        self.bytes("allocated", files.clone().map(|file| Some(file.allocated)))?;
        self.list("method", files.clone().map(|file| words(file.method.name())))?;
        self.list("file_system", files.map(|file| PyString::new(self.py, &file.file_system.type_name)))
    }

    /// Cached bytes and what else is known of them; None is unknown. `when` is "" or "_before" or "_after".
    pub fn residency(
        &self,
        when: &str,
        all: impl ExactSizeIterator<Item = Option<Residency>> + Clone,
    ) -> PyResult<()> {
        self.bytes(&format!("cached{when}"), all.clone().map(|one| one.map(|known| known.cached)))?;
        let level = |name: &str, get: fn(State) -> Bytes| {
            self.bytes(&format!("{name}{when}"), all.clone().map(|one| one?.state.map(get)))
        };
        level("dirty", |state| state.dirty)?;
        level("writeback", |state| state.writeback)?;
        level("evicted", |state| state.evicted)?;
        level("recently_evicted", |state| state.recently_evicted)
    }

    /// A column of sizes; None is unknown.
    pub fn bytes(&self, name: &str, column: impl ExactSizeIterator<Item = Option<Bytes>>) -> PyResult<()> {
        self.list(&format!("{name}_bytes"), column.map(|value| value.map(|bytes| bytes.0)))
    }

    /// Any column.
    pub fn list<T: IntoPyObject<'py>>(
        &self,
        name: &str,
        column: impl ExactSizeIterator<Item = T>,
    ) -> PyResult<()> {
        self.dict.set_item(name, PyList::new(self.py, column)?)
    }
}

/// What could not be looked at: (path, what is wrong).
pub fn problems<'py>(py: Python<'py>, problems: &[Problem]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, problems.iter().map(|problem| (problem.path.as_os_str(), problem.trouble.to_string())))
}

/// A file system as a `dict`.
pub fn file_system<'py>(py: Python<'py>, system: &FileSystem) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("type", &system.type_name)?;
    dict.set_item("mount_point", system.mount_point.as_deref().map(Path::as_os_str))?;
    dict.set_item("name", system.name())?;
    dict.set_item("caution", system.caution())?;
    Ok(dict)
}
