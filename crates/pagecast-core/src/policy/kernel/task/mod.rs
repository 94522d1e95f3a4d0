//! TODO

pub mod tasks;
