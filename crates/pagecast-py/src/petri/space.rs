//! Wraps a state space.

use std::sync::atomic::Ordering;

use pagecast_petri::space::{Report, Space};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::simulator::shown;
use super::{PetriNet, on_large_stack, values};
use crate::errors::PetriNetError;

/// The state space of a Petri net.
#[pyclass(module = "pagecast._core", frozen)]
pub struct PetriSpace {
    space: Space,
    report: Report,
}

impl PetriSpace {
    /// Explores a net.
    pub fn explore(py: Python<'_>, net: &PetriNet, max_nodes: usize) -> PyResult<Self> {
        let model = net.compiled(py)?;
        let (space, report) = on_large_stack(py, |stops| {
            let space = Space::explore(model, max_nodes, || stops.load(Ordering::Relaxed))?;
            let report = Report::of(&space);
            Ok((space, report))
        })?;
        Ok(Self { space, report })
    }

    fn node(&self, node: usize) -> PyResult<usize> {
        if node < self.space.len() {
            return Ok(node);
        }
        let text = format!("node={node}: the state space has {} nodes, from 0 on", self.space.len());
        Err(PetriNetError::new_err(text))
    }
}

#[pymethods]
impl PetriSpace {
    /// The report: sizes, bounds, home, dead and live properties.
    ///
    /// Returns
    /// -------
    /// dict
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (model, report) = (&self.space.model, &self.report);
        let found = PyDict::new(py);
        found.set_item("nodes", report.nodes)?;
        found.set_item("arcs", report.arcs)?;
        found.set_item("is_complete", report.is_complete)?;
        found.set_item("components", report.components)?;
        found.set_item("component_arcs", report.component_arcs)?;
        found.set_item("dead_markings", &report.dead_markings)?;
        found.set_item("home_markings", &report.home_markings)?;
        let names = |numbers: &[usize]| -> Vec<&str> {
            numbers.iter().map(|&number| &*model.transitions[number].name).collect()
        };
        found.set_item("dead_transitions", names(&report.dead_transitions))?;
        found.set_item("live_transitions", names(&report.live_transitions))?;
        let bounds = model.places.iter().zip(&report.bounds).map(|(place, bounds)| {
            let text = |multiset| model.program.multiset_shown_in(place.colset, multiset);
            let (upper, lower) = (text(&bounds.upper_multiset), text(&bounds.lower_multiset));
            (&*place.name, bounds.upper, bounds.lower, upper, lower)
        });
        found.set_item("bounds", bounds.collect::<Vec<_>>())?;
        Ok(found)
    }

    /// Model time and marking of a node.
    ///
    /// Parameters
    /// ----------
    /// node : int
    ///
    /// Returns
    /// -------
    /// tuple of time and dict of str to str
    ///
    /// Raises
    /// ------
    /// PetriNetError
    ///     There is no such node.
    fn marking<'py>(&self, py: Python<'py>, node: usize) -> PyResult<(Py<PyAny>, Bound<'py, PyDict>)> {
        let node = self.node(node)?;
        let model = &self.space.model;
        let found = PyDict::new(py);
        for (at, place) in model.places.iter().enumerate() {
            let text = model.program.multiset_shown_in(place.colset, self.space.marking(node, at));
            found.set_item(&place.name, text)?;
        }
        Ok((values::time(py, &model.program, self.space.time(node))?, found))
    }

    /// The shortest sequence of occurrences from the initial marking to a node.
    ///
    /// Parameters
    /// ----------
    /// node : int
    ///
    /// Returns
    /// -------
    /// list of tuple of str and str
    ///     Transition and binding.
    ///
    /// Raises
    /// ------
    /// PetriNetError
    ///     There is no such node.
    fn path(&self, node: usize) -> PyResult<Vec<(String, String)>> {
        let model = &self.space.model;
        let arcs = self.space.path(self.node(node)?);
        Ok(arcs
            .into_iter()
            .map(|arc| {
                let number = arc.transition as usize;
                (model.transitions[number].name.clone(), shown(model, number, &arc.binding))
            })
            .collect())
    }

    /// The arcs from a node.
    ///
    /// Parameters
    /// ----------
    /// node : int
    ///
    /// Returns
    /// -------
    /// list of tuple of str, str and int
    ///     Transition, binding, and the node that the arc leads to.
    ///
    /// Raises
    /// ------
    /// PetriNetError
    ///     There is no such node.
    fn successors(&self, node: usize) -> PyResult<Vec<(String, String, u32)>> {
        let model = &self.space.model;
        let arcs = &self.space.arcs[self.node(node)?];
        Ok(arcs
            .iter()
            .map(|arc| {
                let number = arc.transition as usize;
                (model.transitions[number].name.clone(), shown(model, number, &arc.binding), arc.target)
            })
            .collect())
    }
}
