//! Python generators as programs.

use std::sync::Arc;

use pagecast_core::workload::{self, Program, ProgramError, ProgramSource};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::operation::Operation;

/// A Python callable that gives a new iterator of operations each time it is called.
pub struct Factory {
    /// Of the process, for messages.
    pub process: Arc<str>,
    /// Without arguments.
    pub callable: Py<PyAny>,
}

impl ProgramSource for Factory {
    fn start(&self) -> Result<Box<dyn Program>, ProgramError> {
        let iterator = Python::attach(|py| self.call(py)).map_err(failed)?;
        Ok(Box::new(Running { process: self.process.clone(), iterator }))
    }
}

impl Factory {
    fn call(&self, py: Python<'_>) -> PyResult<Py<PyIterator>> {
        let made = self.callable.bind(py).call0()?;
        match made.try_iter() {
            Ok(iterator) => Ok(iterator.unbind()),
            Err(_) => Err(PyTypeError::new_err(format!(
                "process `{}` is a function that returned {} ({}); let it yield operations",
                self.process,
                made.repr()?,
                made.get_type().name()?,
            ))),
        }
    }
}

struct Running {
    process: Arc<str>,
    iterator: Py<PyIterator>,
}

impl Program for Running {
    fn next(&mut self) -> Result<Option<workload::Operation>, ProgramError> {
        Python::attach(|py| self.step(py)).map_err(failed)
    }
}

impl Running {
    fn step(&self, py: Python<'_>) -> PyResult<Option<workload::Operation>> {
        let Some(yielded) = self.iterator.bind(py).clone().next().transpose()? else { return Ok(None) };
        match yielded.cast::<Operation>() {
            Ok(operation) => Ok(Some(operation.get().0.clone())),
            Err(_) => Err(PyTypeError::new_err(format!(
                "process `{}` yielded {} ({}), which is no operation; yield pagecast.read(...), \
                 pagecast.write(...) or another one",
                self.process,
                yielded.repr()?,
                yielded.get_type().name()?,
            ))),
        }
    }
}

fn failed(error: PyErr) -> ProgramError {
    ProgramError(Box::new(error))
}
