//! Computes the parts of the dirty limits that devices have, and the limits of strict devices.
//!
//! Source: `mm/page-writeback.c: __bdi_set_min_ratio, domain_dirty_freerun, wb_dirty_limits, balance_dirty_pages`, Linux 6.16. A writer to
//! a strict device is in free run while the device's own dirty pages are, however many others there are, and throttled beyond. Left out:
//! the wbs of memory cgroups on one device share its ratios by their bandwidths (`wb_min_max_ratio`); here each has them in full.

use crate::machine::{Bdi, Host};
use crate::policy::kernel::page_writeback::law::{DeviceShare, Thresholds};
use crate::policy::kernel::page_writeback::limits::Brake;

/// The shares of all wbs of a host: those of its disks, then of its mounts, and that again for each memory cgroup.
pub fn of(host: &Host, share_has_floor: bool) -> Vec<DeviceShare> {
    let sum_of_min_ratios = host.disks.iter().map(|disk| u64::from(disk.bdi.min_ratio)).sum();
    let share = |bdi: Bdi| DeviceShare {
        min_ratio: bdi.min_ratio.into(),
        max_ratio: bdi.max_ratio.into(),
        sum_of_min_ratios,
        strict_limit: bdi.strict_limit,
        floor_in_ratio: !share_has_floor,
    };
    let disks = host.disks.iter().map(|disk| disk.bdi);
    let devices: Vec<_> = disks.chain(host.mounts.iter().map(|_| Bdi::default())).map(share).collect();
    devices.repeat(host.cgroups.len() + 1)
}

/// The limits of a strict device's dirty pages.
#[derive(Clone, Copy, Debug)]
pub struct Strict {
    pub brake: Brake,
    pub background: u64,
}

impl Strict {
    pub fn of(part: Thresholds) -> Self {
        Self { brake: Brake { freerun: part.freerun(), limit: part.limit }, background: part.background }
    }

    /// Returns the stricter of two limits: free run ends at the lower of their ends.
    pub fn least(self, other: Self) -> Self {
        if self.brake.freerun <= other.brake.freerun { self } else { other }
    }

    /// True if writers are throttled with so many dirty pages: from a step before the end of free run on.
    pub fn holds_back(&self, dirty: u64) -> bool {
        dirty as f64 + self.brake.step() > self.brake.freerun as f64
    }

    /// True if throttling is to be reported: until the flusher rests, as the level stays around the end of free run.
    pub fn is_told(&self, dirty: u64, was_told: bool) -> bool {
        if was_told { dirty > self.background } else { self.holds_back(dirty) }
    }
}
