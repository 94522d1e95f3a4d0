//! Holds the settings of a run.

use std::num::NonZero;

use crate::result::Record;
use crate::scenario::Residency;
use crate::stop::Interrupt;

/// How to run a scenario.
#[derive(Default)]
pub struct Settings {
    /// Of all random streams.
    pub seed: u64,
    /// When file residency is written down.
    pub residency: Residency,
    /// Options of the model that replace those of the scenario.
    pub options: Vec<(String, String)>,
    /// How many threads share the groups of hosts that have nothing to do with each other; by default one for each processor.
    pub threads: Option<NonZero<usize>>,
    /// Which operations have rows.
    pub record: Record,
    /// Whether the result has what a power cut would lose at each moment.
    pub at_risk: bool,
    /// May stop the run.
    pub interrupt: Option<Interrupt>,
}
