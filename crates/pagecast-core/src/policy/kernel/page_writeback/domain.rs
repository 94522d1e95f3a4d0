//! Holds the dirty limits of one memory cgroup: `struct wb_domain`.
//!
//! Source: `mm/page-writeback.c: wb_domain_init`, Linux 6.16.

use crate::machine::{Cgroup, MemoryLimit};
use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::kernel::memcontrol::stats::Stats;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_writeback::law::{DeviceShare, Fraction, Fractions, HardLimit, Thresholds};
use crate::policy::kernel::page_writeback::limits::Limits;
use crate::policy::kernel::tasks::ids::WbId;

/// The limits of a cgroup's dirty pages, and the part of them that each device writes: `wb_domain`.
#[derive(Debug)]
pub struct Domain {
    /// By device.
    pub fractions: Fractions,
    pub(super) hard_limit: HardLimit,
    pub limits: Limits,
    /// The cgroup's pages when counters were last added up; nothing where they are always up to date.
    pub flushed: Option<Stats>,
}

impl Domain {
    /// The domain of a new cgroup.
    pub fn new(devices: usize, cores: u32) -> Self {
        Self {
            fractions: Fractions::new(devices, cores),
            hard_limit: HardLimit::at(0),
            limits: Limits { thresholds: Thresholds::default(), freerun: 0, hard: 0, setpoint: 0 },
            flushed: None,
        }
    }
}

/// True if a cgroup has dirty limits of its own.
pub fn has_domain(cgroup: &Cgroup) -> bool {
    !matches!(cgroup.limit, MemoryLimit::LimitInBytes(_))
}

/// The dirty pages for `WriteBack::memcg_background`, and their threshold.
pub struct Background {
    /// Dirty, or under writeback on these wbs, in bytes.
    pub pages: u64,
    pub wbs: Vec<WbId>,
    pub threshold: u64,
    pub fraction: Fraction,
}

impl Background {
    /// `domain_over_bg_thresh`. Pages under writeback are counted for the cgroup's inodes.
    pub fn is_over(&self, dirty: &DirtyPages, share: &DeviceShare, reclaimable: u64) -> bool {
        let writeback: u64 = self.wbs.iter().map(|&wb| dirty.of_wb(wb).writeback).sum();
        let dirty = self.pages.saturating_sub(writeback) / PAGE;
        dirty > self.threshold || reclaimable > share.part(self.fraction, self.threshold, dirty)
    }
}
