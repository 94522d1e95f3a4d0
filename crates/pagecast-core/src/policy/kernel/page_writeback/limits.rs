//! The levels that dirty pages are compared with: background threshold, end of free run, hard limit, setpoint.
//!
//! Source: `mm/page-writeback.c: domain_dirty_limits, dirty_freerun_ceiling, hard_dirty_limit`, Linux 6.16.

use crate::policy::kernel::discretisation::THROTTLE_STEPS;
use crate::policy::kernel::page::PAGE;
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

/// Between which levels writers are held back, in pages.
#[derive(Clone, Copy, Debug)]
pub struct Brake {
    pub freerun: u64,
    pub limit: u64,
}

impl Brake {
    /// The rate of tasks is set anew when the dirty level has moved by so many pages.
    pub fn step(&self) -> f64 {
        (self.limit - self.freerun) as f64 / THROTTLE_STEPS
    }

    /// Whether it has, to so many dirty pages from so many.
    pub fn has_moved(&self, dirty: u64, rated_at: u64) -> bool {
        dirty.abs_diff(rated_at) as f64 >= self.step() - 1.0
    }

    /// In how many seconds that will be, or free run will end, with so many dirty bytes and so many more per second.
    pub fn until_it_acts(&self, holds_back: bool, dirty: u64, slope: f64) -> Option<f64> {
        if slope == 0.0 {
            return None;
        }
        if holds_back {
            return Some(self.step() * PAGE as f64 / slope.abs());
        }
        (slope > 0.0).then(|| (self.freerun * PAGE).saturating_sub(dirty) as f64 / slope)
    }
}

impl Limits {
    /// Writers are held back from the end of free run to the hard limit.
    pub fn brake(&self) -> Brake {
        Brake { freerun: self.freerun, limit: self.hard }
    }

    /// In how many seconds the law says something else, with so many dirty bytes and so many more per second.
    pub fn until_change(&self, dirty: u64, slope: f64) -> Option<f64> {
        // In pages, as `throttle` compares them.
        self.brake().until_it_acts(dirty / PAGE > self.freerun, dirty, slope)
    }
}
