//! Translates an operation of a workload into the call that the policy of its host gets.
//!
//! `engine` and `embed` both go through here: which file a path means and whether it is there, what its flags ask, the room that it takes
//! on a disk and in memory, and the call itself. Each refuses in its own words what is refused here.
//!
//! Left out: operations of several calls (streams, copies) and those without one (computing, waiting). `engine` builds the former from
//! [`Caller::read`] and [`Caller::write`]. Of a pattern the calls are made here, one by one.

mod descriptors;
mod error;
mod memory;
mod names;
mod operations;
mod patterned;

pub(crate) use descriptors::Descriptors;
pub(crate) use error::CallError;
pub(crate) use memory::{Anonymous, Task};
pub(crate) use operations::{Begun, Caller, Striped, Transfer, Wants, check_fits, locate};
pub(crate) use patterned::{CallUnderWay, Next, Patterned};
