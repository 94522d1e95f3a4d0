//! Holds an operation of a recording.

use crate::units::Nanos;
use crate::workload::Operation;

/// An operation of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// When it began, in the time of the recording.
    pub time: Option<Nanos>,
    /// How long it took.
    pub duration: Option<Nanos>,
    /// The operation.
    pub operation: Operation,
}
