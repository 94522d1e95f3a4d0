//! TODO

pub mod allocation;
pub mod charge;
pub mod look_ahead;
pub mod pages;
pub mod placement;
pub mod reporting;
pub mod watermarks;
