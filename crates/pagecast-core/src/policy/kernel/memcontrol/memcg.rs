//! Memory cgroups: what is charged to each, and what makes room within its limit.
//!
//! Source: `mm/memcontrol.c: try_charge_memcg`, `mm/vmscan.c: shrink_node_memcgs`, Linux 6.16. A page is charged to the cgroup of the
//! process that brings it in, whoever uses it later; anonymous memory to that of its process. Who would go over the limit
//! evicts pages of its own cgroup first, and waits for write-back if none is clean. Left out: cgroups inside others,
//! `memory.high`, `memory.low` and `memory.min`; the batches in which a processor charges pages.

use crate::machine::Cgroup;
use crate::policy::Actions;
use crate::policy::OperationId;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::discretisation::{LEAST_CHANGE, LEAST_STEP, MEMCG_RECLAIM_PART, MEMCG_WAKE_PART};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::task::ids::MemcgId;
use crate::policy::kernel::task::task::Task;
use crate::result::CgroupLevels;
use crate::units::Bytes;
use crate::units::Nanos;

/// Reclaim after so long without is told as an event.
const QUIET: Nanos = Nanos(1_000_000_000);

/// What is charged to a cgroup, in bytes. Its page cache is in the lists.
#[derive(Clone, Debug)]
pub struct Memcg {
    pub limit: u64,
    pub anonymous: u64,
    /// What has come but is in no list yet: page cache, anonymous memory, and what of its pages has become dirty.
    pub ahead_cached: u64,
    pub ahead_anonymous: u64,
    ahead_dirty: u64,
    /// Its pages that are dirty or under writeback, each once.
    pub busy: u64,
    /// The most that was ever charged, `memory.peak`, and the most that was dirty or under writeback.
    peak: u64,
    dirty_peak: u64,
    /// Whether something was evicted to stay within the limit, since this was last cleared, and when that was told last.
    has_reclaimed: bool,
    reclaimed_at: Option<Nanos>,
    /// How many tasks under way take memory.
    takers: u64,
    /// What may be made dirty of its cached pages before it is looked at again, and what is on its way from a device, ahead of its
    /// readers. Neither can be evicted.
    redirtied: u64,
    in_flight: u64,
    /// Whether nothing to speak of can be had, neither below the limit nor by evicting clean pages: who wants memory waits.
    pub is_exhausted: bool,
}

impl Memcg {
    pub fn new(cgroup: &Cgroup) -> Self {
        Self {
            limit: cgroup.limit.bytes().0,
            anonymous: 0,
            ahead_cached: 0,
            ahead_anonymous: 0,
            ahead_dirty: 0,
            busy: 0,
            peak: 0,
            dirty_peak: 0,
            has_reclaimed: false,
            reclaimed_at: None,
            takers: 0,
            redirtied: 0,
            in_flight: 0,
            is_exhausted: false,
        }
    }

    /// Bytes of a task have moved: charged at once, in the lists later.
    pub fn run_ahead(&mut self, task: &Task, bytes: u64) {
        self.ahead_cached += if task.run.fills() { bytes } else { 0 };
        self.ahead_anonymous += if task.takes_anonymous() { task.asked_of(bytes) } else { 0 };
        self.ahead_dirty += if task.run.dirties() { bytes } else { 0 };
    }

    /// It is going to be told where they are.
    pub fn fall_back(&mut self, task: &Task, bytes: u64) {
        self.ahead_cached -= if task.run.fills() { bytes } else { 0 };
        self.ahead_anonymous -= if task.takes_anonymous() { task.asked_of(bytes) } else { 0 };
        self.ahead_dirty -= if task.run.dirties() { bytes } else { 0 };
    }

    /// What has come but is in no list yet: page cache, anonymous memory, and what of its pages has become dirty.
    pub fn ahead(&self) -> [u64; 3] {
        [self.ahead_cached, self.ahead_anonymous, self.ahead_dirty]
    }

    /// Its dirty pages and those under writeback.
    pub fn dirty(&self) -> u64 {
        self.busy + self.ahead_dirty
    }

    /// What its processes can have before one of them has to wait for write-back, less a page for what rates are rounded by.
    pub fn available(&self) -> u64 {
        let taken = self.anonymous + self.ahead_anonymous + self.dirty();
        self.limit.saturating_sub(taken + self.redirtied + self.in_flight + PAGE)
    }

    /// Sees whether anything can be had.
    fn look(&mut self) {
        let wanted = if self.is_exhausted { self.limit / MEMCG_WAKE_PART } else { self.stroke() };
        self.is_exhausted = self.dirty() > 0 && self.available() < wanted;
    }

    /// What is evicted in one go.
    fn stroke(&self) -> u64 {
        (self.limit / MEMCG_RECLAIM_PART).max(PAGE)
    }
}

impl Pages {
    /// What is charged to somebody; nothing of the root is counted.
    pub fn memcg(&mut self, id: MemcgId) -> Option<&mut Memcg> {
        id.index().map(|at| &mut self.memcgs[at])
    }

    /// The page cache of a cgroup.
    pub fn cached_of_memcg(&self, at: usize) -> u64 {
        let lruvecs = (0..self.nodes()).map(|node| self.lruvec(MemcgId::of(at), node));
        let listed: u64 = lruvecs.map(|lruvec| self.lists.of_lruvec(lruvec)).sum();
        listed + self.memcgs[at].ahead_cached
    }

    /// All that is charged to a cgroup: `memory.current`.
    pub fn usage_of_memcg(&self, at: usize) -> u64 {
        let memcg = &self.memcgs[at];
        self.cached_of_memcg(at) + memcg.anonymous + memcg.ahead_anonymous
    }

    /// What a cgroup may be charged before something of it must go.
    pub fn room_of_memcg(&self, at: usize) -> u64 {
        self.memcgs[at].limit.saturating_sub(self.usage_of_memcg(at))
    }

    /// Whether what a cgroup is charged has to be freed by evicting other pages of it.
    pub fn is_memcg_full(&self, at: usize) -> bool {
        self.room_of_memcg(at) <= 2 * self.memcgs[at].stroke()
    }

    /// Whether nothing to speak of can be had by who is in a cgroup.
    pub fn is_memcg_exhausted(&self, id: MemcgId) -> bool {
        id.index().is_some_and(|at| self.memcgs[at].is_exhausted)
    }

    /// Whether a cgroup has been charged more than it may have.
    pub fn is_over_limit(&self) -> bool {
        (0..self.memcgs.len()).any(|at| self.usage_of_memcg(at) > self.memcgs[at].limit)
    }

    /// So much can be charged to a cgroup, after some of its pages have been evicted, if need be.
    ///
    /// What others of the cgroup have running ahead does not count: it takes its room when it is put into the lists.
    pub fn charge(&mut self, at: usize) -> u64 {
        let room = |pages: &Self| {
            let memcg = &pages.memcgs[at];
            let ahead = memcg.ahead_cached + memcg.ahead_anonymous;
            memcg.limit.saturating_sub(pages.usage_of_memcg(at) - ahead)
        };
        if room(self) > 0 {
            return room(self);
        }
        self.reclaim_from_memcg(at, self.memcgs[at].stroke());
        // A page for who was under way before they ran out.
        room(self).max(PAGE)
    }

    /// Pages that are read ahead are charged before they come: where they are more than a cgroup may have, others of it leave.
    pub fn make_room_for_pages_in_flight(&mut self) {
        for at in 0..self.memcgs.len() {
            let memcg = &self.memcgs[at];
            let above = self.usage_of_memcg(at).saturating_sub(memcg.limit).min(memcg.ahead_cached);
            if above > 0 {
                self.reclaim_from_memcg(at, above.max(memcg.stroke()));
            }
        }
    }

    fn reclaim_from_memcg(&mut self, at: usize, want: u64) {
        let lruvecs: Vec<_> = (0..self.nodes()).map(|node| self.lruvec(MemcgId::of(at), node)).collect();
        self.reclaim(&lruvecs, want);
        self.memcgs[at].has_reclaimed = true;
    }

    /// Notes what was charged to each cgroup at most.
    pub fn note_peaks(&mut self) {
        for at in 0..self.memcgs.len() {
            let (usage, dirty) = (self.usage_of_memcg(at), self.dirty_of_memcg(at));
            let memcg = &mut self.memcgs[at];
            memcg.peak = memcg.peak.max(usage);
            memcg.dirty_peak = memcg.dirty_peak.max(dirty);
        }
    }

    /// The dirty pages of a cgroup. Of those that are in no list yet some may be another's; until that is known they cannot be more
    /// than there are.
    fn dirty_of_memcg(&self, at: usize) -> u64 {
        self.memcgs[at].dirty().min(self.cached_of_memcg(at))
    }

    /// What is charged to a cgroup, for the result.
    pub fn levels_of_memcg(&self, at: usize) -> CgroupLevels {
        let memcg = &self.memcgs[at];
        CgroupLevels {
            peak: Bytes(memcg.peak),
            dirty_peak: Bytes(memcg.dirty_peak),
            cached: Bytes(self.cached_of_memcg(at)),
            anonymous: Bytes(memcg.anonymous + memcg.ahead_anonymous),
            dirty: Bytes(self.dirty_of_memcg(at)),
        }
    }

    /// Checks that what is counted as dirty or under writeback of lists and cgroups is what is there.
    ///
    /// # Panics
    /// If it is not.
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

impl Kernel {
    /// To whom it is charged what an operation brings into memory.
    pub fn memcg_of(&self, operation: OperationId) -> MemcgId {
        if self.pages.memcg_of.is_empty() {
            return MemcgId::ROOT;
        }
        self.pages.memcg_of.get(&operation).copied().unwrap_or_default()
    }

    /// Where a cgroup has been charged more than it may have, what has come is put into the lists, so that other pages go. Whose
    /// pages are written over is found out at once, for they cannot be evicted any more.
    pub fn keep_memcgs_within_limits(&mut self, now: Nanos) {
        if self.pages.memcgs.is_empty() {
            return;
        }
        self.settle_each(now, self.pending(|task| task.run.rewrites()));
        if self.pages.is_over_limit() {
            self.settle(now);
            self.pages.make_room_for_pages_in_flight();
        }
    }

    /// What follows for cgroups from what has happened: who takes memory, and what is worth telling.
    pub fn look_at_memcgs(&mut self, now: Nanos, out: &mut Actions) {
        if self.pages.memcgs.is_empty() {
            return;
        }
        self.pages.note_peaks();
        self.look_who_takes();
        self.pages.memcgs.iter_mut().for_each(Memcg::look);
        for memcg in self.pages.memcgs.iter_mut().filter(|memcg| memcg.has_reclaimed) {
            memcg.has_reclaimed = false;
            if memcg.reclaimed_at.is_none_or(|last| last + QUIET <= now) {
                out.tell("cgroup_reclaim_begins", None, Bytes(memcg.limit));
            }
            memcg.reclaimed_at = Some(now);
        }
    }

    /// Counts who takes memory of each cgroup, and what cannot be evicted to make room for him: clean pages that anybody writes over,
    /// who is not held back for that, and pages in flight.
    pub fn look_who_takes(&mut self) {
        if self.pages.memcgs.is_empty() {
            return;
        }
        let memory = &self.config.host.memory;
        let copying = memory.write_at.iter().fold(memory.write.0, |most, at| most.max(at.1.0));
        let rate = |task: &Task| {
            let cap = task.transfer.as_ref().and_then(|transfer| transfer.cap);
            cap.map_or(copying, |(rate, _)| rate.min(copying))
        };
        let writers = self.tasks.values().filter(|task| task.run.rewrites());
        let redirtied = (writers.map(rate).sum::<f64>() * LEAST_STEP).ceil() as u64;
        for memcg in &mut self.pages.memcgs {
            (memcg.takers, memcg.redirtied, memcg.in_flight) = (0, redirtied, 0);
        }
        for task in self.tasks.values().filter(|task| task.takes_memory()) {
            if let Some(memcg) = self.pages.memcg(task.memcg) {
                memcg.takers += 1;
                memcg.in_flight += if task.is_in_flight() { task.pending } else { 0 };
            }
        }
    }

    /// Whether a cgroup has nothing left and somebody in it wants memory.
    pub fn is_memcg_short(&self) -> bool {
        self.pages.memcgs.iter().any(|memcg| memcg.takers > 0 && memcg.is_exhausted)
    }

    /// How fast a task may take memory so that its cgroup is not over its limit when it is looked at again; nothing if it may take
    /// any amount.
    #[inline(always)]
    pub fn charging_rate(&self, task: &Task) -> Option<f64> {
        self.charging_rate_in(task.memcg.index()?, task)
    }

    pub fn charging_rate_in(&self, at: usize, task: &Task) -> Option<f64> {
        let memcg = &self.pages.memcgs[at];
        if !task.takes_memory() || memcg.dirty() == 0 {
            return None;
        }
        if memcg.is_exhausted {
            return Some(0.0);
        }
        // A rate that is a little higher may stay as it is.
        let available = memcg.available() as f64 * (1.0 - LEAST_CHANGE);
        let rate = available / (LEAST_STEP * memcg.takers.max(1) as f64 * task.pages_taken());
        (rate < task.pace).then_some(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::FileId;
    use crate::policy::kernel::task::cost::Run;
    use crate::policy::kernel::task::kind::Kind;
    use crate::policy::kernel::tests::{MIB, in_first_memcg, kernel, nodes_of_8_gib, write};

    /// Its limit is 512 MiB: a stroke of reclaim is 1 MiB, and who waits goes on when there are 8.
    const BATCH: &str = "cgroup.batch.memory.max = '512 MiB'";

    #[test]
    fn who_has_waited_goes_on_when_there_is_more_than_a_stroke() {
        let mut memcg = nodes_of_8_gib(1, BATCH).memcgs.remove(0);
        let mut is_exhausted_with = |available: u64| {
            memcg.busy = memcg.limit - PAGE - available;
            memcg.look();
            (memcg.available(), memcg.is_exhausted)
        };
        for (available, is_exhausted) in
            [(MIB, false), (MIB - 1, true), (8 * MIB - 1, true), (8 * MIB, false), (7 * MIB, false)]
        {
            assert_eq!(is_exhausted_with(available), (available, is_exhausted));
        }
        (memcg.busy, memcg.anonymous) = (0, 512 * MIB);
        memcg.look();
        assert!(memcg.available() == 0 && !memcg.is_exhausted, "nothing is written that could be waited for");
    }

    #[test]
    fn what_runs_ahead_takes_no_room_before_it_is_in_the_lists() {
        let mut pages = nodes_of_8_gib(1, BATCH);
        pages.read_in(FileId(0), 0, 500 * MIB, in_first_memcg());
        pages.memcgs[0].ahead_cached = 8 * MIB;
        assert_eq!((pages.usage_of_memcg(0), pages.room_of_memcg(0)), (508 * MIB, 4 * MIB));
        assert_eq!(pages.charge(0), 12 * MIB);
        (pages.memcgs[0].anonymous, pages.memcgs[0].ahead_anonymous) = (3 * MIB, MIB);
        let levels = pages.levels_of_memcg(0);
        assert_eq!((levels.cached.0, levels.anonymous.0), (508 * MIB, 4 * MIB));
        (pages.memcgs[0].anonymous, pages.memcgs[0].ahead_anonymous) = (0, 0);
        pages.memcgs[0].ahead_cached = 10 * MIB - 1;
        assert!(!pages.is_memcg_full(0), "there is room for more than two strokes");
        pages.memcgs[0].ahead_cached += 1;
        assert!(pages.is_memcg_full(0));
    }

    #[test]
    fn a_full_group_makes_room_in_strokes() {
        let mut pages = nodes_of_8_gib(1, BATCH);
        pages.read_in(FileId(0), 0, 512 * MIB, in_first_memcg());
        assert_eq!((pages.charge(0), pages.usage_of_memcg(0)), (MIB, 511 * MIB));
    }

    /// A hundredth less than a millisecond of the group's memory for each of its takers, by as many pages as each takes.
    #[test]
    fn takers_share_what_a_group_can_have_in_a_millisecond() {
        let mut kernel = kernel(BATCH);
        for number in [1, 2] {
            let writer = write(&mut kernel, number, Run::New, 0.0);
            kernel.tasks.get_mut(writer).expect("it is there").memcg = MemcgId::of(0);
        }
        let rate = |kernel: &mut Kernel| {
            kernel.look_who_takes();
            kernel.charging_rate(&kernel.tasks[OperationId(1)])
        };
        assert_eq!(rate(&mut kernel), None, "all of it is clean");
        kernel.pages.memcgs[0].busy = 100 * MIB;
        let expected = |available: u64| available as f64 * 0.995 / 0.002;
        let found = rate(&mut kernel).expect("it may take so much");
        assert!((found / expected(412 * MIB - PAGE) - 1.0).abs() < 1e-9, "{found}");
        let task = kernel.tasks.get_mut(OperationId(1)).expect("it is there");
        (task.kind, task.run) = (Kind::Read { fresh: true }, Run::Miss);
        let found = rate(&mut kernel).expect("it may take so much");
        assert!((found / expected(412 * MIB - PAGE) - 0.5).abs() < 1e-9, "its buffer is new as well");
        kernel.tasks.get_mut(OperationId(1)).expect("it is there").kind = Kind::Read { fresh: false };
        // Somebody writes over cached pages, as fast as memory lets him.
        write(&mut kernel, 3, Run::Clean, 0.0);
        let found = rate(&mut kernel).expect("it may take so much");
        assert!((found / expected(412 * MIB - PAGE - 10_000_000) - 1.0).abs() < 1e-9, "{found}");
        kernel.tasks.get_mut(OperationId(1)).expect("it is there").pace = found;
        assert_eq!(rate(&mut kernel), None, "it does not do more");
        kernel.pages.memcgs[0].is_exhausted = true;
        assert_eq!(rate(&mut kernel), Some(0.0));
    }
}
