//! TODO

pub mod queue;
pub mod seeks;
pub mod wbt;
