//! TODO

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
