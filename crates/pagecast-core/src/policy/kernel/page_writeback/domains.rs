//! Compares the dirty pages of a memory cgroup with its limits, beside those of all memory.
//!
//! Source: `mm/page-writeback.c: mdtc_calc_avail, domain_dirty_limits, balance_dirty_pages, wb_over_bg_thresh`, `mm/memcontrol.c:
//! mem_cgroup_wb_stats`, `fs/fs-writeback.c: __inode_attach_wb`, Linux 6.16. Only cgroups of v2 have limits. Each has a `bdi_writeback` of
//! its own on every disk, with its flusher, bandwidth and base rate. An inode belongs to the cgroup that made it dirty first.
//!
//! Left out: moving an inode to the cgroup that writes most of it (`inode_switch_wbs`); flushing inodes of other cgroups that hold pages of
//! a throttled one (`mem_cgroup_flush_foreign`).

use crate::policy::FileView;
use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::domain::{Background, Domain};
use crate::policy::kernel::page_writeback::law::{Position, Thresholds};
use crate::policy::kernel::page_writeback::limits::Limits;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::ids::{MemcgId, WbId};
use crate::units::Nanos;

impl WriteBack {
    /// Returns the dirty pages: of the host, or of a wb's cgroup if the host alone is in free run.
    pub fn dirty_told(&self, pages: &Pages, wb: WbId) -> u64 {
        let dirty = pages.dirty().total();
        let of_memcg = self.memcg_with_domain(wb.0 as usize).filter(|_| dirty / PAGE <= self.limits.freerun);
        of_memcg.map_or(dirty, |memcg| pages.memcgs[memcg].dirty() / PAGE * PAGE)
    }

    /// Attaches a file's inode to a cgroup before a task of it makes it dirty, unless it belongs to one already.
    ///
    /// Files of other hosts stay with the root: NFS has no write-back by cgroup.
    pub fn inode_attach_wb(&mut self, pages: &Pages, file: &FileView, memcg: MemcgId) {
        let is_local = (file.device.0 as usize) < self.config.host.disks.len();
        if pages.memcgs.is_empty() || !is_local {
            return;
        }
        let has_domain = memcg.index().is_some_and(|at| self.domains[at].is_some());
        self.owners.entry(file.id).or_insert(if has_domain { memcg } else { MemcgId::ROOT });
    }

    /// Returns the cgroup of a wb, if it has dirty limits of its own.
    pub fn memcg_with_domain(&self, at: usize) -> Option<usize> {
        self.config.memcg_of_wb(at).filter(|&memcg| self.domains[memcg].is_some())
    }

    /// Returns the domain of a wb's cgroup, and how many of its pages are dirty or under writeback, as far as is known.
    pub fn domain_of(&self, pages: &Pages, at: usize) -> Option<(&Domain, u64)> {
        let memcg = self.config.memcg_of_wb(at)?;
        let domain = self.domains[memcg].as_ref()?;
        let dirty = domain.flushed.map_or_else(|| pages.memcgs[memcg].dirty(), |stats| stats.dirty);
        Some((domain, dirty / PAGE))
    }

    /// Sets the limits of each cgroup, with the memory as it is.
    pub fn limit_domains(&mut self, pages: &Pages) {
        if self.domains.is_empty() {
            return;
        }
        let (avail, dirty) = (pages.dirtyable() / PAGE, pages.dirty().total() / PAGE);
        for at in 0..self.domains.len() {
            let stats = self.mem_cgroup_wb_stats(pages, at);
            let Some(domain) = &mut self.domains[at] else { continue };
            let (memcg_dirty, filepages) = (stats.dirty / PAGE, stats.cached / PAGE);
            let headroom = pages.room_of_memcg(at) / PAGE;
            // Clean pages elsewhere could be evicted for pages of this cgroup.
            let clean = filepages.saturating_sub(memcg_dirty);
            let other_clean = avail.saturating_sub(dirty).saturating_sub(clean);
            let dirtyable = filepages + headroom.min(other_clean);
            let thresholds = Thresholds::of_memcg(&self.settings, avail, dirtyable);
            domain.limits = Limits::with(thresholds, &domain.hard_limit);
        }
    }

    /// True if a wb's cgroup has more dirty pages than its free run; with `slack`, than a step less. Writers to a strict device look
    /// at its own dirty pages instead.
    pub fn is_memcg_beyond_freerun(&self, pages: &Pages, at: usize, slack: bool) -> bool {
        if self.strict(pages, at).is_some() {
            return false;
        }
        self.domain_of(pages, at).is_some_and(|(domain, dirty)| {
            let slack = if slack { domain.limits.brake().step() as u64 } else { 0 };
            dirty > domain.limits.freerun.saturating_sub(slack)
        })
    }

    /// Returns the position of a wb in the domain of its cgroup.
    pub fn position_in_memcg(&self, pages: &Pages, at: usize, bandwidth: u64) -> Option<Position> {
        let (domain, dirty) = self.domain_of(pages, at)?;
        let fraction = domain.fractions.fraction(at % self.config.devices());
        Some(self.position_in(pages, &domain.limits, fraction, dirty, at, bandwidth))
    }

    /// Returns the dirty pages of a cgroup that nobody writes yet, and the background threshold of a wb's part.
    pub fn memcg_background(&self, pages: &Pages, at: usize) -> Option<Background> {
        let memcg = self.config.memcg_of_wb(at)?;
        let domain = self.domains[memcg].as_ref()?;
        let (pages, wbs) = match domain.flushed {
            // Submissions meanwhile are not known.
            Some(stats) => (stats.dirty.saturating_sub(stats.writeback), Vec::new()),
            None => (pages.memcgs[memcg].dirty(), self.config.wbs_of(memcg).collect()),
        };
        Some(Background {
            pages,
            wbs,
            threshold: domain.limits.thresholds.background,
            fraction: domain.fractions.fraction(at % self.config.devices()),
        })
    }

    /// Counts pages that a wb has written.
    pub fn wb_domain_writeout_add(&mut self, now: Nanos, at: usize, pages: u64) {
        let most = self.shares[at].max_ratio;
        self.fractions.add_completions_within(now, at, pages, most);
        let device = at % self.config.devices();
        if let Some(domain) = self.config.memcg_of_wb(at).and_then(|memcg| self.domains[memcg].as_mut()) {
            domain.fractions.add_completions_within(now, device, pages, most);
        }
    }

    /// The indices of the wbs of a device, the root cgroup's first.
    pub fn wbs_at(&self, device: usize) -> impl ExactSizeIterator<Item = usize> + use<> {
        (device..self.wbs.len()).step_by(self.config.devices())
    }

    /// Returns a test whether the host, a wb or its memory cgroup is over the background threshold.
    pub fn wb_over_bg_thresh(&self, pages: &Pages, at: usize) -> impl Fn(&DirtyPages) -> bool + use<> {
        let (id, share, fraction) = (WbId(at as u32), self.shares[at], self.fractions.fraction(at));
        let has_part = self.config.rules.devices_have_background;
        let (memcg, background) = (self.memcg_background(pages, at), self.limits.thresholds.background);
        let counts_unstable = self.config.rules.unstable_is_reclaimable;
        move |dirty| {
            let (mut all, mut reclaimable) = (dirty.dirty(), dirty.of_wb(id).reclaimable);
            if counts_unstable {
                all += dirty.unstable();
                reclaimable += dirty.of_wb(id).unstable;
            }
            let (all, reclaimable) = (all / PAGE, reclaimable / PAGE);
            let is_over = all > background || has_part && reclaimable > share.part(fraction, background, all);
            is_over || memcg.as_ref().is_some_and(|memcg| memcg.is_over(dirty, &share, reclaimable))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::page_writeback::law::{DeviceShare, Fraction};
    use crate::policy::kernel::tests::{MIB, in_first_memcg, kernel};
    use crate::policy::{DeviceId, FileId};

    /// 819 and 409 of 4096 parts of what can be dirty.
    fn limits(pages: u64) -> Thresholds {
        Thresholds { limit: pages * 819 / 4096, background: pages * 409 / 4096 }
    }

    /// Before 6.9 counters were never late.
    #[test]
    fn the_limits_of_a_group_are_of_its_file_pages_and_what_it_can_have_more() {
        let mut kernel = kernel("kernel.version = '6.8'\ncgroup.batch.memory.max = '512 MiB'");
        assert_eq!(kernel.config.devices(), 2, "the disk, and the mount");
        let thresholds = |kernel: &mut Kernel| {
            kernel.write_back.limit_domains(&kernel.pages);
            kernel.write_back.domains[0].as_ref().expect("v2 has dirty limits").limits.thresholds
        };
        assert_eq!(thresholds(&mut kernel), limits(512 * MIB / PAGE));
        kernel.pages.write(FileId(1), WbId(2), (0, 40 * MIB), in_first_memcg(), Nanos(0));
        kernel.pages.read_in(FileId(2), 0, 60 * MIB, in_first_memcg());
        assert_eq!(thresholds(&mut kernel), limits(512 * MIB / PAGE), "100 MiB and 412 more");
        // With 200 MiB free above the reserve it can have no more than that.
        let free = kernel.pages.memory.total - 100 * MIB - kernel.pages.memory.reserve;
        kernel.pages.memory.nodes[0].anonymous = free - 200 * MIB;
        assert_eq!(thresholds(&mut kernel), limits(300 * MIB / PAGE));
    }

    /// Traced on Linux 6.12 in a cgroup of 512 MiB, own recording: with 25,600 pages dirty when counters were added up, 25,631 when the
    /// writer came back, and 27,184 later, the first number stayed what limits were compared with, and free run fell as the room did.
    #[test]
    fn what_comes_after_counters_were_added_up_only_takes_room() {
        let mut kernel = kernel("kernel.version = '6.12'\ncgroup.batch.memory.max = '512 MiB'");
        let write = |kernel: &mut Kernel, from: u64, to: u64| {
            kernel.pages.write(FileId(1), WbId(2), (from, to), in_first_memcg(), Nanos(0));
        };
        write(&mut kernel, 0, 100 * MIB);
        kernel.write_back.flush_memcg_stats(&kernel.pages, Nanos(3_000_000_000));
        write(&mut kernel, 100 * MIB, 106 * MIB);
        kernel.write_back.limit_domains(&kernel.pages);
        let (domain, dirty) = kernel.write_back.domain_of(&kernel.pages, 2).expect("v2 has dirty limits");
        assert_eq!((dirty, domain.limits.thresholds), (25_600, limits(506 * MIB / PAGE)));
        let background = kernel.write_back.memcg_background(&kernel.pages, 2).expect("it has a threshold");
        assert_eq!((background.pages, background.wbs.len()), (100 * MIB, 0));
    }

    #[test]
    fn a_group_is_over_its_background_threshold_with_more_dirty_pages_than_that() {
        let is_over = |pages: u64, reclaimable: u64| {
            let fraction = Fraction { numerator: 1, denominator: 2 };
            let group = Background { pages: pages * PAGE, wbs: vec![WbId(0)], threshold: 100, fraction };
            group.is_over(&DirtyPages::default(), &DeviceShare::default(), reclaimable)
        };
        assert_eq!([is_over(100, 0), is_over(101, 0)], [false, true]);
        assert_eq!([is_over(100, 50), is_over(100, 51)], [false, true], "or more than its part on a device");
    }

    /// `include/linux/backing-dev.h: inode_cgwb_enabled`, Linux 6.16: only file systems that set `SB_I_CGROUPWB`, and NFS does not.
    #[test]
    fn a_file_belongs_to_the_group_that_made_it_dirty_first_unless_it_is_on_another_host() {
        let mut kernel = kernel("cgroup.batch.memory.max = '512 MiB'");
        let file = |number: u32, device: u32| FileView {
            id: FileId(number),
            device: DeviceId(device),
            ..FileView::default()
        };
        let (disk, mount) = (file(1, 0), file(2, 1));
        for file in [&disk, &mount] {
            kernel.write_back.inode_attach_wb(&kernel.pages, file, MemcgId::of(0));
        }
        assert_eq!([&disk, &mount].map(|file| kernel.write_back.wb_of(file)), [WbId(2), WbId(1)]);
        kernel.write_back.inode_attach_wb(&kernel.pages, &disk, MemcgId::ROOT);
        assert_eq!(kernel.write_back.wb_of(&disk), WbId(2), "it stays");
    }
}
