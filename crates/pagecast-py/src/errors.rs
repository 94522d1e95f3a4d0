//! Turns errors of the core into exceptions: the classes of `python/pagecast/errors.py`.

use pagecast_core::embed::EmbedError;
use pagecast_core::error::{ScenarioError as CoreScenarioError, SimulationError as CoreSimulationError};
use pagecast_petri::Error as PetriError;
use pagecast_probe::bench::BenchError as CoreBenchError;
use pagecast_probe::run::RunError as CoreRunError;
use pagecast_probe::{ProbeError as CoreProbeError, Trouble};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRecursionError};
use pyo3::prelude::*;

use std::io::ErrorKind;

mod classes {
    #![allow(missing_docs, reason = "documented where they are defined, in python/pagecast/errors.py")]
    use pyo3::import_exception;

    import_exception!(pagecast.errors, ArgumentTypeError);
    import_exception!(pagecast.errors, BeyondEndError);
    import_exception!(pagecast.errors, DeadlockError);
    import_exception!(pagecast.errors, DiskFullError);
    import_exception!(pagecast.errors, FileMissingError);
    import_exception!(pagecast.errors, NoMountError);
    import_exception!(pagecast.errors, NotAllowedError);
    import_exception!(pagecast.errors, OutOfMemoryError);
    import_exception!(pagecast.errors, PetriNetError);
    import_exception!(pagecast.errors, ProbeError);
    import_exception!(pagecast.errors, ProgramError);
    import_exception!(pagecast.errors, ScenarioError);
    import_exception!(pagecast.errors, SimulationError);
    import_exception!(pagecast.errors, UnknownModelError);
}
pub use classes::{ArgumentTypeError, PetriNetError, ScenarioError};

/// The exception for a scenario that cannot be understood.
pub fn scenario(error: &CoreScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// The exception for a model that does not exist, or an option that it does not have.
pub fn model(error: &CoreScenarioError) -> PyErr {
    classes::UnknownModelError::new_err(error.to_string())
}

/// The exception for what a page cache inside another simulator cannot do.
pub fn embed(error: &EmbedError) -> PyErr {
    use EmbedError as E;
    let text = error.to_string();
    match error {
        E::NoMount { .. } => classes::NoMountError::new_err(text),
        E::NoSuchFile(_) => classes::FileMissingError::new_err(text),
        E::BeyondEnd { .. } => classes::BeyondEndError::new_err(text),
        E::DiskFull { .. } => classes::DiskFullError::new_err(text),
        E::OutOfMemory { .. } => classes::OutOfMemoryError::new_err(text),
        E::FileExists(_) | E::MoreThanFile { .. } | E::NotOurs(_) | E::OfScenarios(_) => {
            ScenarioError::new_err(text)
        }
        _ => classes::SimulationError::new_err(text),
    }
}

/// The exception for a simulation that cannot go on.
pub fn simulation(py: Python<'_>, error: CoreSimulationError) -> PyErr {
    use CoreSimulationError as E;
    let text = error.to_string();
    match error {
        E::NoMount { .. } => classes::NoMountError::new_err(text),
        E::NoSuchFile { .. } => classes::FileMissingError::new_err(text),
        E::BeyondEnd { .. } | E::BeyondMapping { .. } => classes::BeyondEndError::new_err(text),
        E::DiskFull { .. } => classes::DiskFullError::new_err(text),
        E::OutOfMemory { .. } => classes::OutOfMemoryError::new_err(text),
        E::Deadlock { .. } => classes::DeadlockError::new_err(text),
        E::Scenario(_) => classes::ScenarioError::new_err(text),
        E::Model(_) => classes::UnknownModelError::new_err(text),
        E::Interrupted => PyKeyboardInterrupt::new_err(()),
        E::Program { source, .. } => program(py, &text, source),
        _ => classes::SimulationError::new_err(text),
    }
}

/// The exception for a kernel that does not let itself be measured or changed.
pub fn probe(error: &CoreProbeError) -> PyErr {
    use CoreProbeError as E;
    let text = error.to_string();
    match error {
        E::Interrupted => PyKeyboardInterrupt::new_err(()),
        E::Path { trouble: Trouble::NotWritable(_), .. }
        | E::NeedsRoot { .. }
        | E::NoTracefs { .. }
        | E::LockLimit { .. }
        | E::Group(_) => classes::NotAllowedError::new_err(text),
        E::Path { trouble: Trouble::NotAllowed | Trouble::NotTold, .. } => {
            classes::NotAllowedError::new_err(text)
        }
        _ => classes::ProbeError::new_err(text),
    }
}

/// The exception for a benchmark that cannot be made, or could not go on.
pub fn bench(error: &CoreBenchError) -> PyErr {
    match error {
        CoreBenchError::Probe(error) => probe(error),
        CoreBenchError::Call { source, .. }
            if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) =>
        {
            classes::DiskFullError::new_err(error.to_string())
        }
        _ => classes::ProbeError::new_err(error.to_string()),
    }
}

/// The exception for a scenario that cannot be run for real, or could not go on.
pub fn run(py: Python<'_>, error: CoreRunError) -> PyErr {
    use CoreRunError as E;
    let text = error.to_string();
    match error {
        E::Probe(error) => probe(&error),
        E::Workload(error) => simulation(py, *error),
        E::Unreal { .. } => ScenarioError::new_err(text),
        E::NoMemory { .. } => classes::OutOfMemoryError::new_err(text),
        E::Call { source, .. } => match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => classes::DiskFullError::new_err(text),
            ErrorKind::OutOfMemory => classes::OutOfMemoryError::new_err(text),
            ErrorKind::PermissionDenied => classes::NotAllowedError::new_err(text),
            _ => classes::ProbeError::new_err(text),
        },
        _ => classes::ProbeError::new_err(text),
    }
}

/// The exception for a Petri net that cannot be understood, or cannot go on.
pub fn petri(error: &PetriError) -> PyErr {
    let text = error.to_string();
    match error {
        PetriError::Run { .. } => classes::SimulationError::new_err(text),
        PetriError::Interrupted => PyKeyboardInterrupt::new_err(()),
        _ => classes::PetriNetError::new_err(text),
    }
}

/// Keeps the exception of a Python program as `__cause__`. One that is meant to end Python itself (Ctrl-C,
/// `SystemExit`) passes through as it is, and so does one that is about Python's stack and not about the program.
fn program(py: Python<'_>, text: &str, source: Box<dyn std::error::Error + Send + Sync>) -> PyErr {
    let text = format!("{text}: {source}");
    match source.downcast::<PyErr>() {
        Ok(cause) if !cause.is_instance_of::<PyException>(py) => *cause,
        Ok(cause) if cause.is_instance_of::<PyRecursionError>(py) => *cause,
        Ok(cause) => {
            let error = classes::ProgramError::new_err(text);
            error.set_cause(py, Some(*cause));
            error
        }
        Err(_) => classes::ProgramError::new_err(text),
    }
}
