//! Up to which instants the state is known.

use crate::units::Nanos;

/// The instants for which the state holds.
#[derive(Default)]
pub struct Clock {
    /// The instant for which all levels hold.
    pub synced: Nanos,
    /// When it was last found out where the bytes of tasks under way are.
    pub settled: Nanos,
    /// When it was last decided for all tasks who goes on and how fast, and whether that is put off to the end of this instant.
    pub decided: Option<Nanos>,
    pub is_put_off: bool,
    /// What had come into memory or left it when runs were last cut.
    pub(super) turnover: u64,
}
