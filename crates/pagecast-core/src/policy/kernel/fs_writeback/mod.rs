//! TODO

pub mod flusher;
pub mod submission;
