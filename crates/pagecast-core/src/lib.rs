//! pagecast's simulator: (scenario, model, seed) -> result. No Python, no real I/O, no wall clock, no global state.
//!
//! From the ground up: [`units`]; [`machine`] and [`workload`] are data; [`policy`] decides what the page cache does and
//! has no clock; `device` and `net` are what flows share; `fs` lies between a system call and a device;
//! [`engine`] gives time to all of them; [`result`] is what a run yields; [`scenario`] reads TOML.

mod device;
pub mod engine;
pub mod error;
pub mod flow;
mod fs;
pub mod machine;
mod net;
pub mod policy;
pub mod result;
pub mod scenario;
pub mod units;
pub mod workload;

pub use engine::{Settings, simulate, simulate_by_steps};
pub use policy::registry::MODELS;
