//! Holds the dirty limits of a host, and the estimates of each of its devices.
//!
//! Source: `mm/page-writeback.c: global_dirty_limits, struct wb_domain`, Linux 6.16. The wbs themselves are in `wb`.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::flow::Path;
use crate::machine::{Host, VmSettings};
use crate::policy::kernel::config::Config;
use crate::policy::kernel::memcontrol::stats::{FLUSH_TIME, Stats};
use crate::policy::kernel::page_writeback::domain::{Domain, has_domain};
use crate::policy::kernel::page_writeback::law::{
    Bandwidth, BaseRate, DeviceShare, DirtySettings, Fractions, HardLimit, Limit, Thresholds,
};
use crate::policy::kernel::page_writeback::limits::Limits;
use crate::policy::kernel::page_writeback::shares;
use crate::policy::kernel::page_writeback::wb::Wb;
use crate::policy::kernel::tasks::ids::{MemcgId, WbId};
use crate::policy::kernel::version::Rounding;
use crate::policy::{FileId, FileView};
use crate::units::{Bytes, Nanos};

/// The dirty limits of a host and its memory cgroups, and the estimates of each device.
pub struct WriteBack {
    pub config: Arc<Config>,
    pub(super) settings: DirtySettings,
    /// By memory cgroup, the root's first, and then by device; made at first use.
    pub wbs: Vec<Option<Wb>>,
    /// The initial estimates of each.
    pub(super) estimates: (BaseRate, Bandwidth),
    pub fractions: Fractions,
    /// The part of the limits of each wb, and whether any of them is strict.
    pub(super) shares: Vec<DeviceShare>,
    pub has_strict: bool,
    pub(super) hard_limit: HardLimit,
    /// The limits with the memory as it was when they were last set.
    pub(super) limits: Limits,
    /// The domain of each memory cgroup that has dirty limits of its own.
    pub domains: Vec<Option<Domain>>,
    /// The number of changes of the rate of tasks that write to a device.
    pub(super) rate_changes: u64,
    /// The next time at which cgroup counters are added up, where that happens every two seconds only.
    pub(super) stats_due: Option<Nanos>,
    /// The memory cgroup of each inode that was ever dirty; only kept if there are cgroups.
    pub owners: FxHashMap<FileId, MemcgId>,
}

/// The history of devices and limits before time 0.
pub struct Learnt {
    pub estimates: (BaseRate, Bandwidth),
    pub fractions: Fractions,
    pub hard_limit: Option<u64>,
}

impl WriteBack {
    /// Starts with so many dirtyable pages in memory.
    pub fn new(config: &Arc<Config>, dirtyable: u64, learnt: Learnt) -> Self {
        let host = &config.host;
        let settings = dirty_settings(&host.vm, config.rules.rounding);
        let at_boot = Thresholds::of(&settings, dirtyable);
        let hard_limit = HardLimit::at(learnt.hard_limit.unwrap_or(at_boot.limit));
        let shares = shares::of(host, config.rules.share_has_floor);
        let domains = domains_of(host, config);
        // That the counters have just been added up at time 0 is assumed: the kernel's phase is not known.
        let is_late = domains.iter().flatten().any(|domain| domain.flushed.is_some());
        Self {
            wbs: Vec::new(),
            estimates: learnt.estimates,
            fractions: learnt.fractions,
            has_strict: shares.iter().any(|share| share.strict_limit),
            shares,
            limits: Limits::of(dirtyable, &settings, &hard_limit),
            hard_limit,
            settings,
            domains,
            rate_changes: 0,
            stats_due: is_late.then(|| config.timers().fires(Nanos::ZERO, FLUSH_TIME)),
            owners: FxHashMap::default(),
            config: config.clone(),
        }
    }

    /// The limits of all memory, as they were last set.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Sets the limits of all memory, with so many dirtyable pages.
    pub fn global_dirty_limits(&mut self, dirtyable: u64) {
        self.limits = Limits::of(dirtyable, &self.settings, &self.hard_limit);
    }

    /// `global_wb_domain.dirty_limit`, in pages: the hard limit at the last update by a throttled task.
    pub fn dirty_limit(&self) -> u64 {
        self.hard_limit.follower()
    }

    /// The number of changes of the rate of tasks.
    pub fn rate_changes(&self) -> u64 {
        self.rate_changes
    }

    /// True if nobody is throttled or has a rate, and no estimate is due.
    pub fn rests(&self, now: Nanos) -> bool {
        let rests = |wb: &Wb| {
            !wb.is_throttling
                && !wb.in_background
                && wb.task_rate.is_none()
                && wb.plain_rate.is_none()
                && wb.sampled == Some((wb.stamp(), wb.told_rate()))
                && wb.measure_at.is_none_or(|due| due > now)
        };
        !self.has_strict && self.domains.is_empty() && self.wbs.iter().flatten().all(rests)
    }

    /// Halves completions at the end of each period.
    pub fn tick(&mut self, now: Nanos) {
        self.fractions.tick(now);
        self.domains.iter_mut().flatten().for_each(|domain| domain.fractions.tick(now));
    }

    /// Returns the wb of a file's inode.
    pub fn wb_of(&self, file: &FileView) -> WbId {
        let owner = match self.owners.is_empty() {
            true => MemcgId::ROOT,
            false => self.owners.get(&file.id).copied().unwrap_or_default(),
        };
        WbId(u32::from(owner.0) * self.config.devices() as u32 + file.device.0)
    }

    /// Returns the wb of a file's inode, made at first use.
    pub fn wb(&mut self, file: &FileView) -> &mut Wb {
        self.make_wb(self.wb_of(file), file.write)
    }

    /// Makes the wb of a device that belongs to no memory cgroup, beside another one of it (`mm/backing-dev.c`: `bdi->wb` is always there).
    pub fn make_root_wb(&mut self, beside: WbId) {
        let Some(path) = self.wbs[beside.0 as usize].as_ref().map(|wb| wb.path) else { return };
        self.make_wb(WbId(beside.0 % self.config.devices() as u32), path);
    }

    fn make_wb(&mut self, id: WbId, path: Path) -> &mut Wb {
        let at = id.0 as usize;
        if self.wbs.len() <= at {
            self.wbs.resize_with(at + 1, || None);
        }
        let ((base_rate, bandwidth), hz) = (self.estimates, self.config.host.kernel.hz);
        self.wbs[at].get_or_insert_with(|| Wb::new(path, base_rate, bandwidth, hz))
    }
}

/// The domains of the memory cgroups of a host.
fn domains_of(host: &Host, config: &Config) -> Vec<Option<Domain>> {
    let flushed = config.rules.memcg_stats_are_late.then(Stats::default);
    let domain = || Domain { flushed, ..Domain::new(config.devices(), host.cores) };
    host.cgroups.iter().map(|cgroup| has_domain(cgroup).then(domain)).collect()
}

/// The dirty limits that a machine sets.
pub fn dirty_settings(vm: &VmSettings, rounding: Rounding) -> DirtySettings {
    let limit = |bytes: Option<Bytes>, ratio: f64| match bytes {
        Some(bytes) => Limit::Bytes(bytes.0),
        None => Limit::Ratio((ratio * 100.0).round() as u32),
    };
    DirtySettings {
        limit: limit(vm.dirty_bytes, vm.dirty_ratio),
        background: limit(vm.dirty_background_bytes, vm.dirty_background_ratio),
        rounding,
    }
}
