//! TODO

pub mod allocation;
pub mod charge;
pub mod dropbehind;
pub mod look_ahead;
pub mod pages;
pub mod pending;
pub mod placement;
pub mod reporting;
pub mod watermarks;
