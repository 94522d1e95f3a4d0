//! Replaces pages by runs and flows, and chooses the instants at which the state is looked at.
//!
//! Ours. The rules of the kernel stand in the other rooms. Tasks themselves are data, and stand below all of them (`tasks`).

pub mod caps;
pub mod checks;
pub mod clock;
pub mod context;
pub mod cut;
pub mod follow;
pub mod next_call;
pub mod plain;
pub mod processors;
pub mod run;
pub mod settle;
pub mod told;
pub mod turns;
