//! TODO

pub mod allocation;
pub mod pages;
pub mod placement;
pub mod reporting;
pub mod watermarks;
