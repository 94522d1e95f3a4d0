//! The levels that dirty pages are compared with: background threshold, end of free run, hard limit, setpoint.
//!
//! Source: `mm/page-writeback.c: domain_dirty_limits, dirty_freerun_ceiling, hard_dirty_limit`, Linux 6.16.

use crate::policy::kernel::page_writeback::law::{DirtySettings, HardLimit, Thresholds, setpoint};

/// What the dirty level of a domain is compared with, in pages.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub thresholds: Thresholds,
    pub freerun: u64,
    pub hard: u64,
    pub setpoint: u64,
}

impl Limits {
    /// The limits of all memory with so many dirtyable pages.
    pub fn of(dirtyable: u64, settings: &DirtySettings, hard_limit: &HardLimit) -> Self {
        Self::with(Thresholds::of(settings, dirtyable), hard_limit)
    }

    /// The limits with these thresholds.
    pub fn with(thresholds: Thresholds, hard_limit: &HardLimit) -> Self {
        let (freerun, hard) = (thresholds.freerun(), hard_limit.value(thresholds.limit));
        Self { thresholds, freerun, hard, setpoint: setpoint(freerun, hard) }
    }
}
