//! Names what is wrong in a file of another format.

use crate::error::ScenarioError;

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
}

impl From<ReadError> for ScenarioError {
    fn from(error: ReadError) -> Self {
        let ReadError { place, what, remedy } = error;
        Self { place, what, remedy }
    }
}
