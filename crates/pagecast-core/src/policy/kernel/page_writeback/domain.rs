//! The dirty limits of one memory cgroup: `struct wb_domain`.

use crate::machine::{Cgroup, MemoryLimit};
use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::kernel::memcontrol::stats::Stats;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_writeback::law::{DeviceShare, Fraction, Fractions, HardLimit, Thresholds};
use crate::policy::kernel::page_writeback::limits::Limits;
use crate::policy::kernel::tasks::ids::WbId;

/// What a cgroup's dirty pages are compared with, and which part of them each device writes: `wb_domain`.
#[derive(Debug)]
pub struct Domain {
    /// By device.
    pub fractions: Fractions,
    pub(super) hard_limit: HardLimit,
    pub limits: Limits,
    /// The pages of its cgroup when counters were last added up; nothing where they are always up to date.
    pub flushed: Option<Stats>,
}

impl Domain {
    /// As a new cgroup has it.
    pub fn new(devices: usize, cores: u32) -> Self {
        Self {
            fractions: Fractions::new(devices, cores),
            hard_limit: HardLimit::at(0),
            limits: Limits { thresholds: Thresholds::default(), freerun: 0, hard: 0, setpoint: 0 },
            flushed: None,
        }
    }
}

/// Whether a cgroup has dirty limits of its own.
pub fn has_domain(cgroup: &Cgroup) -> bool {
    matches!(cgroup.limit, MemoryLimit::Max(_))
}

/// See `WriteBack::memcg_background`.
pub struct Background {
    /// Dirty, or under writeback on these wbs, in bytes.
    pub pages: u64,
    pub wbs: Vec<WbId>,
    pub threshold: u64,
    pub fraction: Fraction,
}

impl Background {
    /// `domain_over_bg_thresh`. What is under writeback is that of the cgroup's inodes.
    pub fn is_over(&self, dirty: &DirtyPages, share: &DeviceShare, reclaimable: u64) -> bool {
        let writeback: u64 = self.wbs.iter().map(|&wb| dirty.of_wb(wb).writeback).sum();
        let dirty = self.pages.saturating_sub(writeback) / PAGE;
        dirty > self.threshold || reclaimable > share.part(self.fraction, self.threshold, dirty)
    }
}
