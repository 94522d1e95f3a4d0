//! Simulates timed coloured Petri nets, as CPN Tools describes them.

pub mod bindings;
pub mod colset;
pub mod cpn;
pub mod error;
pub mod flat;
pub mod marking;
pub mod ml;
pub mod model;
pub mod monitors;
pub mod net;
pub mod random;
pub mod simulator;
pub mod space;
pub mod stack;
pub mod value;

pub use error::{Error, Result};
