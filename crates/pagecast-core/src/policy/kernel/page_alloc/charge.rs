//! Charges pages to memory cgroups, and makes room within their limits.
//!
//! Source: `mm/memcontrol.c: try_charge_memcg`, `mm/vmscan.c: shrink_node_memcgs`, Linux 6.16. Left out: see `memcontrol::memcg`.

use crate::policy::kernel::discretisation::LEAST_STEP;
use crate::policy::kernel::memcontrol::memcg::Memcg;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::ids::MemcgId;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{Actions, OperationId};
use crate::result::CgroupLevels;
use crate::units::{Bytes, Nanos};

impl Pages {
    /// Returns the cgroup to which an operation's pages are charged.
    pub fn memcg_of(&self, operation: OperationId) -> MemcgId {
        if self.memcg_of.is_empty() {
            return MemcgId::ROOT;
        }
        self.memcg_of.get(&operation).copied().unwrap_or_default()
    }

    /// Updates all cgroups after an event: the tasks that take memory, and the events to report.
    pub fn look_at_memcgs(&mut self, tasks: &Tasks, now: Nanos, out: &mut Actions) {
        if self.memcgs.is_empty() {
            return;
        }
        self.note_peaks();
        self.look_who_takes(tasks);
        self.memcgs.iter_mut().for_each(Memcg::look);
        for memcg in &mut self.memcgs {
            if memcg.has_begun_to_reclaim(now) {
                out.tell("cgroup_reclaim_begins", None, Bytes(memcg.limit));
            }
        }
    }

    /// Counts the tasks of each cgroup that take memory, and the pages that cannot be evicted for them: pages in flight, and clean
    /// pages that an unthrottled task writes over.
    pub fn look_who_takes(&mut self, tasks: &Tasks) {
        if self.memcgs.is_empty() {
            return;
        }
        let memory = &self.config.host.memory;
        let copying = memory.write_at.iter().fold(memory.write.0, |most, at| most.max(at.1.0));
        let rate = |task: &Task| {
            let cap = task.transfer.as_ref().and_then(|transfer| transfer.cap);
            cap.map_or(copying, |(rate, _)| rate.min(copying))
        };
        let writers = tasks.values().filter(|task| task.run.rewrites());
        let redirtied = (writers.map(rate).sum::<f64>() * LEAST_STEP).ceil() as u64;
        self.memcgs.iter_mut().for_each(|memcg| memcg.count_takers(redirtied));
        for task in tasks.values().filter(|task| task.takes_memory()) {
            if let Some(memcg) = self.memcg(task.memcg) {
                memcg.add_taker(task);
            }
        }
    }

    /// True if a cgroup has no memory left and a task in it wants some.
    pub fn is_memcg_short(&self) -> bool {
        self.memcgs.iter().any(Memcg::is_short)
    }

    /// Returns how fast a task may take memory so that its cgroup is within its limit at the next look; nothing if it may take any
    /// amount.
    #[inline(always)]
    pub fn charging_rate(&self, task: &Task) -> Option<f64> {
        self.memcgs[task.memcg.index()?].charging_rate(task)
    }

    /// The counters of a cgroup; nothing of the root is counted.
    pub fn memcg(&mut self, id: MemcgId) -> Option<&mut Memcg> {
        id.index().map(|at| &mut self.memcgs[at])
    }

    /// The page cache of a cgroup.
    pub fn cached_of_memcg(&self, at: usize) -> u64 {
        let lruvecs = (0..self.nodes()).map(|node| self.lruvec(MemcgId::of(at), node));
        let listed: u64 = lruvecs.map(|lruvec| self.lists.of_lruvec(lruvec)).sum();
        listed + self.memcgs[at].ahead_cached
    }

    /// All memory charged to a cgroup: `memory.current`.
    pub fn usage_of_memcg(&self, at: usize) -> u64 {
        let memcg = &self.memcgs[at];
        self.cached_of_memcg(at) + memcg.anonymous + memcg.ahead_anonymous
    }

    /// The memory that a cgroup may be charged before its pages must be evicted.
    pub fn room_of_memcg(&self, at: usize) -> u64 {
        self.memcgs[at].limit.saturating_sub(self.usage_of_memcg(at))
    }

    /// True if each charge to a cgroup evicts other pages of it.
    pub fn is_memcg_full(&self, at: usize) -> bool {
        self.room_of_memcg(at) <= 2 * self.memcgs[at].reclaim_batch()
    }

    /// True if almost no memory is available to tasks in a cgroup.
    pub fn is_memcg_exhausted(&self, id: MemcgId) -> bool {
        id.index().is_some_and(|at| self.memcgs[at].is_exhausted)
    }

    /// True if a cgroup has been charged more than its limit.
    pub fn is_over_limit(&self) -> bool {
        (0..self.memcgs.len()).any(|at| self.usage_of_memcg(at) > self.memcgs[at].limit)
    }

    /// Returns how much can be charged to a cgroup; evicts some of its pages first if need be.
    ///
    /// Pending bytes of other tasks in the cgroup do not count: they take their room when they are put into the lists.
    pub fn charge(&mut self, at: usize) -> u64 {
        let room = |pages: &Self| {
            let memcg = &pages.memcgs[at];
            let ahead = memcg.ahead_cached + memcg.ahead_anonymous;
            memcg.limit.saturating_sub(pages.usage_of_memcg(at) - ahead)
        };
        if room(self) > 0 {
            return room(self);
        }
        self.reclaim_from_memcg(at, self.memcgs[at].reclaim_batch());
        // A page for who was under way before they ran out.
        room(self).max(PAGE)
    }

    /// Evicts pages of a cgroup for pages in flight. They are charged before they come.
    pub fn make_room_for_pages_in_flight(&mut self) {
        for at in 0..self.memcgs.len() {
            let memcg = &self.memcgs[at];
            let above = self.usage_of_memcg(at).saturating_sub(memcg.limit).min(memcg.ahead_cached);
            if above > 0 {
                self.reclaim_from_memcg(at, above.max(memcg.reclaim_batch()));
            }
        }
    }

    fn reclaim_from_memcg(&mut self, at: usize, want: u64) {
        let lruvecs: Vec<_> = (0..self.nodes()).map(|node| self.lruvec(MemcgId::of(at), node)).collect();
        self.reclaim(&lruvecs, want);
        self.memcgs[at].has_reclaimed();
    }

    /// Notes the largest charge of each cgroup.
    pub fn note_peaks(&mut self) {
        for at in 0..self.memcgs.len() {
            let (usage, dirty) = (self.usage_of_memcg(at), self.dirty_of_memcg(at));
            self.memcgs[at].note_peaks(usage, dirty);
        }
    }

    /// The dirty pages of a cgroup. Pending ones may belong to another cgroup; until that is known, no more count than there are in
    /// all.
    fn dirty_of_memcg(&self, at: usize) -> u64 {
        self.memcgs[at].dirty().min(self.cached_of_memcg(at))
    }

    /// The charge of a cgroup, for the result.
    pub fn levels_of_memcg(&self, at: usize) -> CgroupLevels {
        let memcg = &self.memcgs[at];
        let (peak, dirty_peak) = memcg.peaks();
        CgroupLevels {
            peak: Bytes(peak),
            dirty_peak: Bytes(dirty_peak),
            cached: Bytes(self.cached_of_memcg(at)),
            anonymous: Bytes(memcg.anonymous + memcg.ahead_anonymous),
            dirty: Bytes(self.dirty_of_memcg(at)),
        }
    }

    /// Checks the counts of dirty pages and pages under writeback, by list and by cgroup.
    ///
    /// # Panics
    /// If one of them is wrong.
    pub fn check_busy(&self) {
        if self.busy.is_empty() {
            return;
        }
        let mut found = vec![0; self.busy.len()];
        for (file, _) in self.dirty.by_file() {
            for (from, to) in self.busy_runs(file, 0, u64::MAX) {
                self.lists.placed(file, from, to, |lruvec, bytes| found[usize::from(lruvec.0)] += bytes);
            }
        }
        assert_eq!(self.busy, found, "dirty or under writeback in each list");
        let settled = self.dirty.pages() - self.dirty.ahead();
        assert_eq!(found.iter().sum::<u64>(), settled, "what is dirty or under writeback is in some list");
        let of_memcgs = found.chunks(self.nodes()).skip(1).map(|lruvecs| lruvecs.iter().sum::<u64>());
        let counted = self.memcgs.iter().map(|memcg| memcg.busy);
        assert!(counted.eq(of_memcgs), "dirty or under writeback of each cgroup");
    }
}
