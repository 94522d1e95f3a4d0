//! Runs long work on the real kernel: Ctrl-C gets through, progress goes to Python, the interpreter lock is released.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use pagecast_probe::ProbeError;
use pagecast_probe::watch::{Progress, Watcher};
use pyo3::prelude::*;

use crate::errors;

/// How often progress is reported at most.
const PROGRESS_PERIOD: Duration = Duration::from_millis(100);

/// Does `work` without the interpreter lock. `progress` is called with (stage, done, total or None); what it raises, and
/// Ctrl-C, stops the work.
pub fn detached<R: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&mut Watcher<'_>) -> Result<R, ProbeError> + Send,
) -> PyResult<R> {
    detached_with(py, progress, work, |error| errors::probe(&error))
}

/// The same for work that fails in ways of its own.
pub fn detached_with<R: Send, E: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&mut Watcher<'_>) -> Result<R, E> + Send,
    exception: impl FnOnce(E) -> PyErr,
) -> PyResult<R> {
    let mut watch = Watch { progress, reported: Instant::now(), error: None };
    let outcome = py.detach(|| work(&mut |progress| watch.look(progress)));
    match watch.error {
        Some(error) => Err(error),
        None => outcome.map_err(exception),
    }
}

struct Watch {
    progress: Option<Py<PyAny>>,
    reported: Instant,
    /// Why the work was stopped.
    error: Option<PyErr>,
}

impl Watch {
    fn look(&mut self, progress: Progress) -> ControlFlow<()> {
        match self.error {
            None => self.error = Python::attach(|py| self.ask_python(py, progress)).err(),
            // It ends as soon as it can; what it still waits for is told, and nobody is asked any more.
            Some(_) => drop(Python::attach(|py| self.report(py, progress))),
        }
        if self.error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn ask_python(&mut self, py: Python<'_>, progress: Progress) -> PyResult<()> {
        py.check_signals()?;
        self.report(py, progress)
    }

    fn report(&mut self, py: Python<'_>, progress: Progress) -> PyResult<()> {
        let Some(report) = &self.progress else { return Ok(()) };
        if self.reported.elapsed() >= PROGRESS_PERIOD {
            self.reported = Instant::now();
            report.call1(py, (progress.stage, progress.done, progress.total))?;
        }
        Ok(())
    }
}
