//! TODO

pub mod journal;
pub mod written_back;
