//! Wraps a run of a net.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pagecast_petri::ml::program::TimeKind;
use pagecast_petri::model::Model;
use pagecast_petri::simulator::{Ended, Limits, Occurrence, Simulator};
use pagecast_petri::value::{Stamp, When};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{on_large_stack, values};
use crate::errors::PetriNetError;

/// Equal tokens: their value, how many there are, and when they are ready.
type Tokens = (Py<PyAny>, u64, Option<Py<PyAny>>);

/// A transition that occurred, when, and the values of its variables.
type Occurred<'py> = (String, Py<PyAny>, Bound<'py, PyDict>);

/// A monitor: name and kind; count, sum, mean and deviation; least, largest, first and last value; what it has written.
type Watched = (String, &'static str, (u64, f64, Option<f64>, Option<f64>), [Option<f64>; 4], String);

/// A Petri net on its way.
#[pyclass(module = "pagecast._core")]
pub struct PetriSimulator {
    simulator: Simulator,
    log: Vec<Occurrence>,
}

impl PetriSimulator {
    /// A net in its initial marking.
    pub fn new(py: Python<'_>, model: Arc<Model>, seed: u64) -> PyResult<Self> {
        let simulator = on_large_stack(py, |_| {
            let mut simulator = Simulator::new(model, seed)?;
            simulator.watch().map(|()| simulator)
        })?;
        Ok(Self { simulator, log: Vec::new() })
    }

    fn model(&self) -> &Model {
        self.simulator.model()
    }

    fn place(&self, name: &str) -> PyResult<usize> {
        let model = self.model();
        model
            .place(name)
            .ok_or_else(|| unknown(model, "place", name, model.places.iter().map(|of| &*of.name)))
    }

    fn transition(&self, name: &str) -> PyResult<usize> {
        let model = self.model();
        let names = model.transitions.iter().map(|of| &*of.name);
        model.transition(name).ok_or_else(|| unknown(model, "transition", name, names))
    }

    fn stamp(&self, time: f64) -> Stamp {
        match self.model().program.time {
            TimeKind::Integer => Stamp(time.floor() as i64),
            TimeKind::Real => Stamp::real(time.max(0.0)),
        }
    }
}

fn unknown<'a>(model: &Model, kind: &str, name: &str, names: impl Iterator<Item = &'a str>) -> PyErr {
    let mut names: Vec<_> = names.collect();
    let more = names.len().saturating_sub(10);
    names.truncate(10);
    let and = if more > 0 { format!(" and {more} more") } else { String::new() };
    let text = format!(
        "{}: there is no {kind} `{name}`, or more than one; there are {}{and}",
        model.net.name,
        names.join(", ")
    );
    PetriNetError::new_err(text)
}

#[pymethods]
impl PetriSimulator {
    /// Goes on until a limit.
    ///
    /// Parameters
    /// ----------
    /// until : float, optional
    ///     No occurrence after this model time.
    /// steps : int, optional
    ///     At most so many occurrences in all.
    /// steps_at_one_time : int, optional
    ///     So many occurrences at one model time are an error.
    /// when : dict of str to int
    ///     Ends when a place has at least so many tokens.
    /// breakpoints : list of str
    ///     Ends before one of these transitions occurs.
    /// log : int
    ///     So many occurrences are kept for `occurrences`.
    ///
    /// Returns
    /// -------
    /// str
    ///     Why it ended: "dead", "time", "steps", "marking", "breakpoint" and the transition, or "monitor" and
    ///     its name.
    ///
    /// Raises
    /// ------
    /// SimulationError
    ///     An inscription fails, or a loop never lets time go on.
    #[pyo3(signature = (*, until, steps, steps_at_one_time, when, breakpoints, log))]
    #[expect(clippy::too_many_arguments, reason = "so many limits there are")]
    fn run(
        &mut self,
        py: Python<'_>,
        until: Option<f64>,
        steps: Option<u64>,
        steps_at_one_time: Option<u64>,
        when: Vec<(String, u64)>,
        breakpoints: Vec<String>,
        log: usize,
    ) -> PyResult<String> {
        let mut limits = Limits { until: until.map(|time| self.stamp(time)), steps, ..Limits::default() };
        if let Some(limit) = steps_at_one_time {
            limits.steps_at_one_time = limit;
        }
        for (place, count) in when {
            limits.when.push((self.place(&place)?, count));
        }
        for transition in breakpoints {
            limits.breakpoints.push(self.transition(&transition)?);
        }
        let Self { simulator, log: kept } = self;
        let ended = on_large_stack(py, |stops| {
            simulator.run(
                &limits,
                |_| stops.load(Ordering::Relaxed),
                |_, occurrence| {
                    if kept.len() < log {
                        kept.push(occurrence.clone());
                    }
                },
                log > 0,
            )
        })?;
        Ok(match ended {
            Ended::Dead => "dead".into(),
            Ended::Time => "time".into(),
            Ended::Steps => "steps".into(),
            Ended::Marking => "marking".into(),
            Ended::Breakpoint(transition) => {
                format!("breakpoint {}", self.model().transitions[transition].name)
            }
            Ended::Monitor(monitor) => format!("monitor {}", self.model().monitors[monitor].name),
        })
    }

    /// The model time.
    ///
    /// Returns
    /// -------
    /// int or float
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        values::time(py, &self.model().program, self.simulator.now())
    }

    /// Occurrences so far.
    ///
    /// Returns
    /// -------
    /// int
    #[getter]
    fn steps(&self) -> u64 {
        self.simulator.steps
    }

    /// True if tokens have time stamps.
    ///
    /// Returns
    /// -------
    /// bool
    #[getter]
    fn is_timed(&self) -> bool {
        self.model().is_timed
    }

    /// Transitions with the number of their occurrences.
    ///
    /// Returns
    /// -------
    /// list of tuple of str and int
    fn counts(&self) -> Vec<(String, u64)> {
        let transitions = self.model().transitions.iter().zip(&self.simulator.counts);
        transitions.map(|(transition, &count)| (transition.name.clone(), count)).collect()
    }

    /// Places with their colour set, number of tokens, and marking in CPN ML, which is cut at so many characters.
    ///
    /// Parameters
    /// ----------
    /// longest : int
    ///
    /// Returns
    /// -------
    /// list of tuple of str, str, int and str
    fn markings(&self, longest: usize) -> Vec<(String, String, u64, String)> {
        let program = &self.model().program;
        let places = self.model().places.iter().enumerate();
        places
            .map(|(at, place)| {
                let marking = self.simulator.marking(at);
                let mut text = program.multiset_shown_in(place.colset, &marking);
                if text.chars().count() > longest {
                    text = text.chars().take(longest).collect::<String>() + "...";
                }
                (place.name.clone(), program.colsets[place.colset].name.clone(), marking.len(), text)
            })
            .collect()
    }

    /// The tokens of a place.
    ///
    /// Parameters
    /// ----------
    /// place : str
    ///
    /// Returns
    /// -------
    /// list of tuple of value, int and time
    ///     Colour, how many, and time stamp; `None` without one.
    ///
    /// Raises
    /// ------
    /// PetriNetError
    ///     There is no such place, or more than one.
    fn tokens(&self, py: Python<'_>, place: &str) -> PyResult<Vec<Tokens>> {
        let at = self.place(place)?;
        let (program, colset) = (&self.model().program, self.model().places[at].colset);
        let marking = self.simulator.marking(at);
        marking
            .0
            .iter()
            .map(|tokens| {
                let time = match tokens.when {
                    When::At(stamp) => Some(values::time(py, program, stamp)?),
                    When::After(_) => None,
                };
                Ok((values::value(py, program, colset, &tokens.value)?, tokens.count, time))
            })
            .collect()
    }

    /// The occurrences that were kept.
    ///
    /// Returns
    /// -------
    /// list of tuple of str, time and dict
    ///     Transition, model time, and values of its variables.
    fn occurrences<'py>(&self, py: Python<'py>) -> PyResult<Vec<Occurred<'py>>> {
        let model = self.model();
        self.log
            .iter()
            .map(|occurrence| {
                let transition = &model.transitions[occurrence.transition];
                let binding = PyDict::new(py);
                for (variable, value) in transition.variables.iter().zip(&occurrence.binding) {
                    binding.set_item(
                        &variable.name,
                        values::value(py, &model.program, variable.colset, value)?,
                    )?;
                }
                Ok((transition.name.clone(), values::time(py, &model.program, occurrence.time)?, binding))
            })
            .collect()
    }

    /// What the monitors have seen.
    ///
    /// Returns
    /// -------
    /// list of tuple
    ///     Name; kind; how many values, their sum, mean, standard deviation, least, largest, first and last one (None without
    ///     values); and what the monitor has written.
    ///
    /// Raises
    /// ------
    /// SimulationError
    ///     A function of a monitor fails.
    fn monitors(&mut self, py: Python<'_>) -> PyResult<Vec<Watched>> {
        let simulator = &mut self.simulator;
        let watched = on_large_stack(py, |_| simulator.watched())?;
        let seen = watched.map(|watched| watched.seen).unwrap_or_default();
        let rows = self.model().monitors.iter().zip(seen).map(|(monitor, seen)| {
            let of = &seen.statistics;
            let known = |value: f64| (of.count > 0).then_some(value);
            let spread = [of.min, of.max, of.first, of.last].map(known);
            let sums = (of.count, of.sum, known(of.mean()), of.deviation());
            (monitor.name.clone(), monitor.kind.name(), sums, spread, seen.text)
        });
        Ok(rows.collect())
    }

    /// The binding elements that are enabled now; time goes on to the first ones if there are none.
    ///
    /// Returns
    /// -------
    /// list of tuple of str and str
    ///     Transition, and binding in CPN ML.
    fn enabled(&mut self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let simulator = &mut self.simulator;
        let found = on_large_stack(py, |_| simulator.enabled())?;
        let model = self.model();
        Ok(found
            .iter()
            .map(|(transition, binding)| {
                let of = &model.transitions[*transition];
                (of.name.clone(), shown(model, *transition, binding))
            })
            .collect())
    }

    /// Lets one of the enabled binding elements occur.
    ///
    /// Parameters
    /// ----------
    /// number : int
    ///     Its place in the list of `enabled`.
    ///
    /// Returns
    /// -------
    /// bool
    ///     False if there is no such one.
    fn occur(&mut self, py: Python<'_>, number: usize) -> PyResult<bool> {
        let simulator = &mut self.simulator;
        on_large_stack(py, |_| simulator.occur_number(number))
    }
}

/// A binding, as it is written: `x=1, y=2`.
pub fn shown(model: &Model, transition: usize, binding: &[pagecast_petri::value::Value]) -> String {
    let variables = model.transitions[transition].variables.iter().zip(binding);
    let parts = variables.filter(|(variable, _)| !variable.is_output).map(|(variable, value)| {
        format!("{}={}", variable.name, model.program.shown_in(variable.colset, value))
    });
    parts.collect::<Vec<_>>().join(", ")
}
