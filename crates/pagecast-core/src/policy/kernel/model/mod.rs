//! TODO

pub mod checks;
pub mod control;
pub mod cost;
pub mod cut;
pub mod next_call;
pub mod options;
pub mod processors;
pub mod run;
pub mod told;
pub mod unchanged;
