//! Derives the levels of a domain: background threshold, end of free run, hard limit, setpoint.
//!
//! Source: `mm/page-writeback.c: domain_dirty_limits, dirty_freerun_ceiling, hard_dirty_limit`, Linux 6.16.

use crate::policy::kernel::discretisation::THROTTLE_STEPS;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_writeback::law::{DirtySettings, HardLimit, Thresholds, setpoint};

/// The levels of a domain, in pages.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub thresholds: Thresholds,
    pub freerun: u64,
    pub hard: u64,
    pub setpoint: u64,
}

impl Limits {
    /// Returns the limits of all memory with so many dirtyable pages.
    pub fn of(dirtyable: u64, settings: &DirtySettings, hard_limit: &HardLimit) -> Self {
        Self::with(Thresholds::of(settings, dirtyable), hard_limit)
    }

    /// Returns the limits with these thresholds.
    pub fn with(thresholds: Thresholds, hard_limit: &HardLimit) -> Self {
        let (freerun, hard) = (thresholds.freerun(), hard_limit.value(thresholds.limit));
        Self { thresholds, freerun, hard, setpoint: setpoint(freerun, hard) }
    }
}

/// The levels between which writers are throttled, in pages.
#[derive(Clone, Copy, Debug)]
pub struct Brake {
    pub freerun: u64,
    pub limit: u64,
}

impl Brake {
    /// Returns the change of the dirty level, in pages, at which the rate of tasks is set anew.
    pub fn step(&self) -> f64 {
        (self.limit - self.freerun) as f64 / THROTTLE_STEPS
    }

    /// True if the dirty level has changed by that since the rate was set at `rated_at`.
    pub fn has_moved(&self, dirty: u64, rated_at: u64) -> bool {
        dirty.abs_diff(rated_at) as f64 >= self.step() - 1.0
    }

    /// Returns the seconds until it will have, or free run ends, with so many dirty bytes and so many more per second.
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
    /// Returns the levels between which writers are throttled: the end of free run and the hard limit.
    pub fn brake(&self) -> Brake {
        Brake { freerun: self.freerun, limit: self.hard }
    }

    /// Returns the seconds until the rate by the law changes, with so many dirty bytes and so many more per second.
    pub fn until_change(&self, dirty: u64, slope: f64) -> Option<f64> {
        // In pages, as `throttle` compares them.
        self.brake().until_it_acts(dirty / PAGE > self.freerun, dirty, slope)
    }
}
