//! Keeps the instants up to which the state is known.

use crate::units::Nanos;

/// The instants up to which the state is known.
#[derive(Default)]
pub struct Clock {
    /// The instant at which all levels hold.
    pub caught_up: Nanos,
    /// The last instant at which the moved bytes of all tasks were put into pages.
    pub settled: Nanos,
    /// The last decision about all tasks; nothing if it is put off to the end of this instant.
    pub decided: Option<Nanos>,
    pub is_put_off: bool,
    /// The time before which reads of cached pages change no decision, if that is known.
    pub calm_until: Option<Nanos>,
    /// The bytes that had come into memory or left it when runs were last cut.
    pub(super) turnover: u64,
}
