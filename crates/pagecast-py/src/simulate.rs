//! The one long call: releases the interpreter lock, lets Ctrl-C through, reports progress, maps errors.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::time::{Duration, Instant};

use pagecast_core::Settings;
use pagecast_core::scenario::Residency;
use pagecast_core::units::Nanos;
use pyo3::prelude::*;

use crate::columns::Result;
use crate::errors;
use crate::nesting::into_python;
use crate::quantity::one_of;
use crate::scenario::Scenario;

/// How often Python is asked whether Ctrl-C was pressed: well below the 100 ms that a person notices.
const SIGNAL_PERIOD: Duration = Duration::from_millis(20);
/// How often progress is reported at most.
const PROGRESS_PERIOD: Duration = Duration::from_millis(100);

/// Simulate a scenario under one model.
#[pyfunction]
#[pyo3(signature = (scenario, model, *, seed=0, options=None, residency=None, threads=None, progress=None))]
#[allow(clippy::too_many_arguments)] // One for each of Python's.
pub fn simulate(
    py: Python<'_>,
    scenario: &Scenario,
    model: &str,
    seed: u64,
    options: Option<BTreeMap<String, String>>,
    residency: Option<&str>,
    threads: Option<NonZero<usize>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Result> {
    let residency = match residency {
        Some(word) => [Residency::End, Residency::Operation][one_of("residency", word, &Residency::NAMES)?],
        None => scenario.core.residency,
    };
    let overrides = options.unwrap_or_default();
    let mut options = scenario.options(model);
    options.extend(overrides.clone());
    let machine_hash = scenario.machine_hash(py)?;
    let mut watch = Watch::new(progress);
    let begun = Instant::now();
    let outcome = py.detach(|| {
        let mut interrupt = |now: Nanos| watch.look(now);
        let settings = Settings {
            seed,
            residency,
            options: overrides.into_iter().collect(),
            threads,
            interrupt: Some(&mut interrupt),
        };
        pagecast_core::simulate(&scenario.core, model, settings).map_err(Box::new)
    });
    let wall_s = begun.elapsed().as_secs_f64();
    if let Some(error) = watch.error {
        return Err(error);
    }
    let data = outcome.map_err(|error| errors::simulation(py, *error))?;
    let (model, origin) = (model.to_owned(), scenario.core.origin.clone());
    Ok(Result { data, model, options, machine_hash, seed, origin, wall_s })
}

/// Looks at the outside world now and then while a simulation runs.
struct Watch {
    progress: Option<Py<PyAny>>,
    looked: Instant,
    reported: Instant,
    /// Why the simulation was stopped.
    error: Option<PyErr>,
}

impl Watch {
    fn new(progress: Option<Py<PyAny>>) -> Self {
        let now = Instant::now();
        Self { progress, looked: now, reported: now, error: None }
    }

    /// True if the simulation must stop.
    fn look(&mut self, now: Nanos) -> bool {
        if self.looked.elapsed() < SIGNAL_PERIOD {
            return false;
        }
        self.error = Python::attach(|py| self.ask_python(py, now)).err();
        self.looked = Instant::now();
        self.error.is_some()
    }

    fn ask_python(&mut self, py: Python<'_>, now: Nanos) -> PyResult<()> {
        py.check_signals()?;
        let Some(progress) = &self.progress else { return Ok(()) };
        if self.reported.elapsed() >= PROGRESS_PERIOD {
            self.reported = Instant::now();
            // How much is left is not known: programs may be generators that go on for ever.
            into_python(|| progress.call1(py, (f64::NAN, now.as_seconds())))?;
        }
        Ok(())
    }
}
