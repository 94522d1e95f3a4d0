//! Simulates a scenario, the longest call: releases the interpreter lock, lets Ctrl-C through, reports progress, maps errors.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::OnceLock;
use std::time::Instant;

use pagecast_core::scenario::Residency;
use pagecast_core::units::Nanos;
use pagecast_core::{Record, Settings};
use pyo3::prelude::*;

use crate::columns::Result;
use crate::errors::{self, ScenarioError};
use crate::interrupt::Watch;
use crate::quantity::one_of;
use crate::scenario::Scenario;

/// Simulate a scenario under one model.
#[pyfunction]
#[pyo3(signature = (scenario, model, *, seed=0, options=None, residency=None, record="all", at_risk=false, threads=None, progress=None))]
#[allow(clippy::too_many_arguments)] // One for each of Python's.
pub fn simulate(
    py: Python<'_>,
    scenario: &Scenario,
    model: &str,
    seed: u64,
    options: Option<BTreeMap<String, String>>,
    residency: Option<&str>,
    record: &str,
    at_risk: bool,
    threads: Option<NonZero<usize>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Result> {
    let residency = match residency {
        Some(word) => [Residency::End, Residency::Operation][one_of("residency", word, &Residency::NAMES)?],
        None => scenario.core.residency,
    };
    let record = record_of(record)?;
    let over: Vec<_> = options.unwrap_or_default().into_iter().collect();
    let options = scenario.core.options_of(model, &over).into_iter();
    let options = options.map(|(key, value)| (key, value.text)).collect();
    let machine_hash = scenario.machine_hash(py)?;
    let watch = Watch::new(progress);
    let why = watch.why();
    let begun = Instant::now();
    let outcome = py.detach(|| {
        let settings = Settings {
            seed,
            residency,
            record,
            at_risk,
            options: over,
            threads,
            interrupt: Some(watch.into_interrupt()),
        };
        pagecast_core::simulate(&scenario.core, model, settings).map_err(Box::new)
    });
    let wall_s = begun.elapsed().as_secs_f64();
    if let Some(error) = why.take() {
        return Err(error);
    }
    let data = outcome.map_err(|error| errors::simulation(py, *error))?;
    let (model, origin) = (model.to_owned(), scenario.core.origin.clone());
    Ok(Result { data, model, options, machine_hash, seed, origin, wall_s, summary: OnceLock::new() })
}

/// Reads "all", "auto", "histogram", or "slow:" and a time.
pub fn record_of(text: &str) -> PyResult<Record> {
    match text.split_once(':') {
        Some(("slow", least)) => Nanos::parse(least.trim()).map(Record::Slow).map_err(|error| {
            ScenarioError::new_err(format!("record=\"{text}\": {error}; write for example \"slow:10ms\""))
        }),
        None if text == "all" => Ok(Record::All),
        None if text == "auto" => Ok(Record::Auto),
        None if text == "histogram" => Ok(Record::Histogram),
        _ => Err(ScenarioError::new_err(format!(
            "record=\"{text}\" is none of \"all\", \"auto\", \"slow:TIME\" and \"histogram\"; write for example \"slow:10ms\""
        ))),
    }
}
