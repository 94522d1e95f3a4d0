//! Wraps `pagecast_petri`: a net, and a run of it.

mod description;
mod simulator;
mod space;
mod values;

pub use simulator::PetriSimulator;
pub use space::PetriSpace;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use pagecast_petri::cpn::Document;
use pagecast_petri::model::{self, Model};
use pagecast_petri::stack;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// A coloured Petri net.
#[pyclass(module = "pagecast._core", frozen)]
pub struct PetriNet {
    document: Document,
    /// Compiled when it is first asked for.
    model: OnceLock<Arc<Model>>,
}

/// An instance of a page: numbers of page and instance, names of places and transitions.
type Instance = (usize, usize, Vec<String>, Vec<Option<String>>);

/// Does work without the interpreter lock on a large stack; the work is told when Ctrl-C was pressed.
fn on_large_stack<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> pagecast_petri::Result<T> + Send,
) -> PyResult<T> {
    let stops = AtomicBool::new(false);
    let mut interrupted = None;
    let done = py.detach(|| {
        stack::on_large_stack_watched(
            || work(&stops),
            || {
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    interrupted = Some(error);
                    stops.store(true, Ordering::Relaxed);
                }
            },
        )
    });
    match (interrupted, done) {
        (Some(error), _) => Err(error),
        (None, Ok(done)) => Ok(done),
        (None, Err(error)) => Err(errors::petri(&error)),
    }
}

impl PetriNet {
    fn of(document: Document) -> Self {
        Self { document, model: OnceLock::new() }
    }

    fn compiled(&self, py: Python<'_>) -> PyResult<Arc<Model>> {
        if let Some(model) = self.model.get() {
            return Ok(model.clone());
        }
        let model = on_large_stack(py, |_| model::compile(&self.document.net).map(Arc::new))?;
        Ok(self.model.get_or_init(|| model).clone())
    }
}

#[pymethods]
impl PetriNet {
    /// Reads a file of CPN Tools.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     Name of the file, for messages.
    /// content : bytes
    ///
    /// Returns
    /// -------
    /// PetriNet
    ///
    /// Raises
    /// ------
    /// PetriNetError
    ///     The file is no XML, declares entities, or is not of CPN Tools.
    #[staticmethod]
    fn read(py: Python<'_>, name: &str, content: &[u8]) -> PyResult<Self> {
        let document = on_large_stack(py, |_| Document::read(name, content))?;
        Ok(Self::of(document))
    }

    /// Builds a net from its declarations and pages.
    ///
    /// Parameters
    /// ----------
    /// name : str
    /// declarations : list of str
    /// pages, monitors : list of dict
    ///
    /// Returns
    /// -------
    /// PetriNet
    #[staticmethod]
    fn build(
        name: &str,
        declarations: Vec<String>,
        pages: Vec<description::Page>,
        monitors: Vec<description::Monitor>,
    ) -> PyResult<Self> {
        let net = description::net(name, declarations, pages, monitors)?;
        Ok(Self::of(Document::of(net)))
    }

    /// The net as a file of CPN Tools, in UTF-8.
    ///
    /// Returns
    /// -------
    /// str
    fn write(&self) -> String {
        self.document.write()
    }

    /// The values that the net declares, with their expressions.
    ///
    /// Returns
    /// -------
    /// list of tuple of str and str
    fn values(&self) -> Vec<(String, String)> {
        self.document.values()
    }

    /// The net with other values.
    ///
    /// Parameters
    /// ----------
    /// values : dict of str to str
    ///     Expressions of CPN ML, by the name of the value.
    ///
    /// Returns
    /// -------
    /// PetriNet
    ///
    /// Raises
    /// ------
    /// PetriNetError
    ///     The net declares no such value.
    fn with_values(&self, values: Vec<(String, String)>) -> PyResult<Self> {
        let mut document = self.document.clone();
        for (name, text) in values {
            document.set_value(&name, &text).map_err(|error| errors::petri(&error))?;
        }
        Ok(Self::of(document))
    }

    /// The pages with all that is drawn on them.
    ///
    /// Returns
    /// -------
    /// list of dict
    fn pages<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        description::pages(py, &self.document.net)
    }

    /// Compiles the net.
    ///
    /// Returns
    /// -------
    /// tuple of int, int and int
    ///     Numbers of places and transitions, ports and fusion sets resolved, and of page instances.
    ///
    /// Raises
    /// ------
    /// PetriNetError
    ///     An inscription cannot be understood, or pages do not fit each other.
    fn check(&self, py: Python<'_>) -> PyResult<(usize, usize, usize)> {
        let model = self.compiled(py)?;
        Ok((model.places.len(), model.transitions.len(), model.flat.drawn.len()))
    }

    /// The instances of the pages, as a run names their nodes.
    ///
    /// Returns
    /// -------
    /// list of tuple of int, int, list of str and list of str or None
    ///     Number of the page, number of the instance from 1, the place of the run that each place is (ports and members of
    ///     fusion sets are the same), and the transition; None for one that a page stands for.
    ///
    /// Raises
    /// ------
    /// PetriNetError
    ///     The net cannot be compiled.
    fn instances(&self, py: Python<'_>) -> PyResult<Vec<Instance>> {
        let model = self.compiled(py)?;
        let instances = model.flat.drawn.iter().map(|drawn| {
            let places = drawn.places.iter().map(|&at| model.places[at].name.clone());
            let transitions =
                drawn.transitions.iter().map(|at| at.map(|at| model.transitions[at].name.clone()));
            (drawn.page, drawn.instance, places.collect(), transitions.collect())
        });
        Ok(instances.collect())
    }

    /// A run in the initial marking.
    ///
    /// Parameters
    /// ----------
    /// seed : int
    ///
    /// Returns
    /// -------
    /// PetriSimulator
    ///
    /// Raises
    /// ------
    /// PetriNetError
    ///     The net cannot be compiled.
    /// SimulationError
    ///     An initial marking cannot be computed.
    fn simulator(&self, py: Python<'_>, seed: u64) -> PyResult<PetriSimulator> {
        let model = self.compiled(py)?;
        PetriSimulator::new(py, model, seed)
    }

    /// Explores the state space.
    ///
    /// Parameters
    /// ----------
    /// max_nodes : int
    ///
    /// Returns
    /// -------
    /// PetriSpace
    ///
    /// Raises
    /// ------
    /// PetriNetError
    ///     The net cannot be compiled, draws random numbers, or has references.
    /// SimulationError
    ///     An inscription fails.
    fn state_space(&self, py: Python<'_>, max_nodes: usize) -> PyResult<PetriSpace> {
        PetriSpace::explore(py, self, max_nodes)
    }
}
