//! Counts the memory of each memory cgroup, and says when its limit is reached.
//!
//! Source: `mm/memcontrol.c: try_charge_memcg`, `mm/vmscan.c: shrink_node_memcgs`, Linux 6.16.
//!
//! - A page is charged to the cgroup of the process that brings it in, whoever uses it later. Anonymous memory is charged to that of its
//!   process.
//! - A task that would go over the limit evicts pages of its own cgroup first, and waits for write-back if none is clean.
//!
//! Left out: cgroups inside others; `memory.low` and `memory.min`; the sleeps of tasks beyond `memory.high`, which counts as `memory.max` does; the batches in which a processor charges pages.

use crate::machine::Cgroup;
use crate::policy::kernel::discretisation::{LEAST_CHANGE, LEAST_STEP, MEMCG_RECLAIM_PART, MEMCG_WAKE_PART};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::task::Task;
use crate::units::Nanos;

/// Reclaim after so long without any is told as an event.
const QUIET: Nanos = Nanos(1_000_000_000);

/// The memory charged to a cgroup, in bytes. Its page cache is in the lists.
#[derive(Clone, Debug)]
pub struct Memcg {
    pub limit: u64,
    pub anonymous: u64,
    /// Bytes that have come but are in no list yet: page cache, anonymous memory, and pages made dirty.
    pub ahead_cached: u64,
    pub ahead_anonymous: u64,
    ahead_dirty: u64,
    /// Its pages that are dirty or under writeback, each once.
    pub busy: u64,
    /// The largest charge so far (`memory.peak`), and the most that was dirty or under writeback.
    peak: u64,
    dirty_peak: u64,
    /// True if pages were evicted to stay within the limit since this was last cleared; and when that was told last.
    has_reclaimed: bool,
    reclaimed_at: Option<Nanos>,
    /// The number of running tasks that take memory.
    takers: u64,
    /// Cached pages that may become dirty before the next look, and pages in flight from a device ahead of their readers. Neither can
    /// be evicted.
    redirtied: u64,
    in_flight: u64,
    /// True if almost nothing is available, neither below the limit nor by evicting clean pages: a task that wants memory waits.
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

    /// Charges bytes of a task that have moved; they are put into the lists later.
    pub fn run_ahead(&mut self, task: &Task, bytes: u64) {
        self.ahead_cached += if task.run.fills() { bytes } else { 0 };
        self.ahead_anonymous += if task.takes_anonymous() { task.asked_of(bytes) } else { 0 };
        self.ahead_dirty += if task.run.dirties() { bytes } else { 0 };
    }

    /// Takes back bytes charged by `run_ahead`, before they are put into the lists.
    pub fn fall_back(&mut self, task: &Task, bytes: u64) {
        self.ahead_cached -= if task.run.fills() { bytes } else { 0 };
        self.ahead_anonymous -= if task.takes_anonymous() { task.asked_of(bytes) } else { 0 };
        self.ahead_dirty -= if task.run.dirties() { bytes } else { 0 };
    }

    /// Bytes that have come but are in no list yet: page cache, anonymous memory, and pages made dirty.
    pub fn ahead(&self) -> [u64; 3] {
        [self.ahead_cached, self.ahead_anonymous, self.ahead_dirty]
    }

    /// Its pages that are dirty or under writeback.
    pub fn dirty(&self) -> u64 {
        self.busy + self.ahead_dirty
    }

    /// The bytes that its processes can have before one of them has to wait for write-back, less a page for rounded rates.
    pub fn available(&self) -> u64 {
        let taken = self.anonymous + self.ahead_anonymous + self.dirty();
        self.limit.saturating_sub(taken + self.redirtied + self.in_flight + PAGE)
    }

    /// Notes whether any memory is available.
    pub fn look(&mut self) {
        let wanted = if self.is_exhausted { self.limit / MEMCG_WAKE_PART } else { self.reclaim_batch() };
        self.is_exhausted = self.dirty() > 0 && self.available() < wanted;
    }

    /// Notes that pages were evicted to stay within the limit.
    pub fn has_reclaimed(&mut self) {
        self.has_reclaimed = true;
    }

    /// True if it has reclaimed since the last question, for the first time in a while.
    pub fn has_begun_to_reclaim(&mut self, now: Nanos) -> bool {
        if !std::mem::take(&mut self.has_reclaimed) {
            return false;
        }
        let last = self.reclaimed_at.replace(now);
        last.is_none_or(|last| last + QUIET <= now)
    }

    /// Notes the largest charge, and the most bytes dirty or under writeback.
    pub fn note_peaks(&mut self, usage: u64, dirty: u64) {
        (self.peak, self.dirty_peak) = (self.peak.max(usage), self.dirty_peak.max(dirty));
    }

    /// The largest charge so far, and the most bytes dirty or under writeback.
    pub fn peaks(&self) -> (u64, u64) {
        (self.peak, self.dirty_peak)
    }

    /// Starts counting the tasks that take memory, while so much of its clean pages may become dirty.
    pub fn count_takers(&mut self, redirtied: u64) {
        (self.takers, self.redirtied, self.in_flight) = (0, redirtied, 0);
    }

    /// Counts a task that takes memory.
    pub fn add_taker(&mut self, task: &Task) {
        self.takers += 1;
        self.in_flight += if task.is_in_flight() { task.pending } else { 0 };
    }

    /// True if nothing is left and a task wants memory.
    pub fn is_short(&self) -> bool {
        self.takers > 0 && self.is_exhausted
    }

    /// Returns how fast a task may take memory so that the limit holds at the next look; nothing if it may take any amount.
    pub fn charging_rate(&self, task: &Task) -> Option<f64> {
        if !task.takes_memory() || self.dirty() == 0 {
            return None;
        }
        if self.is_exhausted {
            return Some(0.0);
        }
        // A rate that is a little higher may stay as it is.
        let available = self.available() as f64 * (1.0 - LEAST_CHANGE);
        let rate = available / (LEAST_STEP * self.takers.max(1) as f64 * task.pages_taken());
        (rate < task.pace).then_some(rate)
    }

    /// The bytes that one reclaim evicts.
    pub fn reclaim_batch(&self) -> u64 {
        (self.limit / MEMCG_RECLAIM_PART).max(PAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::tasks::cost::Run;
    use crate::policy::kernel::tasks::ids::MemcgId;
    use crate::policy::kernel::tasks::kind::Kind;
    use crate::policy::kernel::tests::{MIB, in_first_memcg, kernel, nodes_of_8_gib, write};
    use crate::policy::{FileId, OperationId};

    /// Its limit is 512 MiB: one reclaim frees 1 MiB, and a waiting task goes on when there are 8.
    const BATCH: &str = "cgroup.batch.memory.max = '512 MiB'";

    #[test]
    fn a_waiting_task_goes_on_when_there_is_more_than_one_reclaim_frees() {
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
    fn pending_bytes_take_no_room_before_they_are_in_the_lists() {
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
    fn a_full_group_frees_room_in_batches() {
        let mut pages = nodes_of_8_gib(1, BATCH);
        pages.read_in(FileId(0), 0, 512 * MIB, in_first_memcg());
        assert_eq!((pages.charge(0), pages.usage_of_memcg(0)), (MIB, 511 * MIB));
    }

    /// A hundredth less than a millisecond of the group's memory for each of its takers, by as many pages as each takes.
    #[test]
    fn tasks_share_the_memory_of_a_group_in_a_millisecond() {
        let mut kernel = kernel(BATCH);
        for number in [1, 2] {
            let writer = write(&mut kernel, number, Run::New, 0.0);
            kernel.tasks.get_mut(writer).expect("it is there").memcg = MemcgId::of(0);
        }
        let rate = |kernel: &mut Kernel| {
            kernel.pages.look_who_takes(&kernel.tasks);
            kernel.pages.charging_rate(&kernel.tasks[OperationId(1)])
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
