//! TODO

pub mod dirty;
pub mod folios;
