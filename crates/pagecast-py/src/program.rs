//! Runs Python generators as programs.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard};

use pagecast_core::units::Nanos;
use pagecast_core::workload::{self, Program, ProgramError, ProgramSource};
use pyo3::PyTraverseError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::errors::{ArgumentTypeError, ScenarioError};
use crate::nesting::into_python;
use crate::operation::Operation;
use crate::quantity::shown;

/// A Python callable that gives a new iterator of operations each time it is called.
///
/// The scenario that holds it may be reached from it, as by a closure: the scenario shows it to Python's garbage collector. So no
/// two objects of Python may share a factory, and none may keep one without its scenario.
pub struct Factory {
    /// Of the process, for messages.
    process: Arc<str>,
    /// Without arguments; none after the garbage collector has taken the scenario apart.
    callable: Mutex<Option<Py<PyAny>>>,
}

impl ProgramSource for Factory {
    fn start(&self) -> Result<Box<dyn Program>, ProgramError> {
        let iterator = Python::attach(|py| into_python(|| self.call(py))).map_err(failed)?;
        Ok(Box::new(Running { process: self.process.clone(), iterator }))
    }
}

impl Factory {
    pub fn new(process: Arc<str>, callable: Py<PyAny>) -> Self {
        Self { process, callable: Mutex::new(Some(callable)) }
    }

    /// Another one of the same callable.
    pub fn another(&self, py: Python<'_>) -> Self {
        let callable = self.held().as_ref().map(|callable| callable.clone_ref(py));
        Self { process: self.process.clone(), callable: Mutex::new(callable) }
    }

    /// Shows the callable to the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Nobody runs while the collector does; who was stopped with the lock holds the callable.
        self.callable.try_lock().map_or(Ok(()), |callable| visit.call(&*callable))
    }

    /// Lets go of the callable.
    pub fn clear(&self) {
        let callable = self.held().take();
        drop(callable); // without the lock: dropping it may run Python
    }

    fn held(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.callable.lock().expect("nothing panics while it holds the lock")
    }

    fn call(&self, py: Python<'_>) -> PyResult<Py<PyIterator>> {
        let callable = self.held().as_ref().map(|callable| callable.clone_ref(py));
        let made = callable.expect("nobody simulates a scenario that is garbage").bind(py).call0()?;
        match made.try_iter() {
            Ok(iterator) => Ok(iterator.unbind()),
            Err(_) => Err(ArgumentTypeError::new_err(format!(
                "process `{}` is a function that returned {} ({}); let it yield operations",
                self.process,
                shown(&made),
                made.get_type().name()?,
            ))),
        }
    }
}

thread_local! {
    /// The time of the program that runs on this thread.
    static NOW: Cell<Option<Nanos>> = const { Cell::new(None) };
}

/// The simulated time of the program that asks: seconds since the start of its process.
///
/// Returns
/// -------
/// float
///
/// Raises
/// ------
/// ScenarioError
///     No program runs.
#[pyfunction]
pub fn now() -> PyResult<f64> {
    let now = NOW.get().ok_or_else(|| ScenarioError::new_err("now() is for programs, and none runs"))?;
    Ok(now.as_seconds())
}

struct Running {
    process: Arc<str>,
    iterator: Py<PyIterator>,
}

impl Program for Running {
    fn next(&mut self, now: Nanos) -> Result<Option<workload::Operation>, ProgramError> {
        let around = NOW.replace(Some(now));
        let next = Python::attach(|py| into_python(|| self.step(py))).map_err(failed);
        NOW.set(around);
        next
    }
}

impl Running {
    fn step(&self, py: Python<'_>) -> PyResult<Option<workload::Operation>> {
        let Some(yielded) = self.iterator.bind(py).clone().next().transpose()? else { return Ok(None) };
        match yielded.cast::<Operation>() {
            Ok(operation) => Ok(Some(operation.get().0.clone())),
            Err(_) => Err(ArgumentTypeError::new_err(format!(
                "process `{}` yielded {} ({}), which is no operation; yield pagecast.read(...), \
                 pagecast.write(...) or another one",
                self.process,
                shown(&yielded),
                yielded.get_type().name()?,
            ))),
        }
    }
}

fn failed(error: PyErr) -> ProgramError {
    ProgramError(Box::new(error))
}
