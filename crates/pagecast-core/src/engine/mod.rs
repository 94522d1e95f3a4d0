//! Gives time to everything: a clock, an order of events, and the loop that asks policies and moves flows.
//!
//! The events of one instant have an order: flows that end, by their numbers; wake-ups, in the order in which they were set; policies that
//! wanted to be called, by host. Then all flows get their rates anew. A process goes on with its next operation at once when one has ended.
//! Equal input and seed give equal results, bit by bit.

mod agenda;
mod connections;
mod copies;
mod copying;
mod delegations;
mod disks;
mod groups;
mod kiocbs;
mod links;
mod mapped;
mod messages;
mod operations;
mod patterns;
mod processes;
mod recorder;
mod refusals;
mod rpc_use;
mod rpcs;
mod run;
mod running;
mod services;
mod settings;
mod setup;
mod slab;
mod slots;
mod streaming;
mod streams;
mod striped;
mod threads;
mod transfers;
mod twins;
mod undisturbed;
mod uneven;

pub use settings::Settings;

use crate::error::SimulationError;
use crate::flow::fluid::Fluid;
use crate::flow::stepped::Stepped;
use crate::result::SimulationResult;
use crate::scenario::Scenario;

/// Simulates a scenario under a model.
///
/// # Errors
/// What the scenario, its programs or the model's options make impossible.
pub fn simulate(
    scenario: &Scenario,
    model: &str,
    settings: Settings,
) -> Result<SimulationResult, SimulationError> {
    groups::simulate::<Fluid>(scenario, model, settings)
}

/// The same by steps of a millisecond: slow, and up to a step late for every transfer. For checking [`simulate`].
///
/// # Errors
/// As [`simulate`].
pub fn simulate_by_steps(
    scenario: &Scenario,
    model: &str,
    settings: Settings,
) -> Result<SimulationResult, SimulationError> {
    groups::simulate::<Stepped>(scenario, model, settings)
}
