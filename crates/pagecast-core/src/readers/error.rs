//! Names what is wrong in a file of another format.

use crate::error::ScenarioError;
use crate::trace::TraceError;

/// A workload that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}{}{remedy}", if remedy.is_empty() { "" } else { "; " })]
pub struct ReadError {
    /// "file:line", "file, byte N", or "file".
    pub place: String,
    /// What is wrong, with the offending text.
    pub what: String,
    /// What would be right; may be empty.
    pub remedy: String,
}

impl ReadError {
    /// An error at a place.
    pub fn new(place: impl Into<String>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), remedy: remedy.into() }
    }

    /// An error of the binary form that every recording is kept in.
    #[must_use]
    pub fn of_trace(origin: &str, error: &TraceError) -> Self {
        let place = match error {
            TraceError::Damaged { at, .. } => format!("{origin}, byte {at}"),
            _ => origin.to_owned(),
        };
        Self::new(place, error.to_string(), error.remedy())
    }
}

impl From<ReadError> for ScenarioError {
    fn from(error: ReadError) -> Self {
        let ReadError { place, what, remedy } = error;
        Self { place, what, remedy }
    }
}
