//! What must be true of all counters after every event. Debug builds look, as long as that is quick.

use crate::policy::kernel::Kernel;
use crate::policy::kernel::task::ids::{MemcgId, WbId};
use crate::policy::kernel::task::task::Task;

/// With more inodes than this, looking at all of them after every event would take too long.
const MOST_INODES: usize = 64;

/// With more pieces of files than this, looking for those that are dirty would.
const MOST_EXTENTS: usize = 1000;

impl Kernel {
    /// Checks in debug builds that counters are the sums of what they count.
    ///
    /// # Panics
    /// If one of them is not: a change was forgotten, or made twice.
    pub fn check_books(&self) {
        if cfg!(debug_assertions) && self.pages.dirty.inodes() <= MOST_INODES {
            self.check_dirty();
            self.check_pending();
            self.check_nodes();
            self.check_wbs();
            self.check_memcgs();
        }
    }

    /// What became dirty has been written or cancelled, waits for its device, or is dirty still.
    pub fn check_wbs(&self) {
        for (at, wb) in self.write_back.wbs.iter().enumerate() {
            if wb.is_none() {
                continue;
            }
            let id = WbId(at as u32);
            let (of, submitted) = (self.pages.dirty.of_wb(id), self.queue_of_wb(id).bytes_of(id));
            let accounted = of.written + of.cancelled + submitted + of.reclaimable;
            assert_eq!(of.dirtied, accounted, "bytes that became dirty of wb {at}");
        }
    }

    /// Dirty pages are cached pages of their file, and add up.
    pub fn check_dirty(&self) {
        self.pages.dirty.check_sums();
        for (file, bytes) in self.pages.dirty.by_file() {
            let cached = self.pages.lists.of_file(file);
            assert!(bytes <= cached, "{bytes} bytes of {file:?} are dirty, {cached} are cached");
        }
        if self.pages.lists.extents() <= MOST_EXTENTS {
            self.pages.check_busy();
        }
    }

    /// What has moved without having found its place is what tasks have pending.
    pub fn check_pending(&self) {
        let counted = [self.pages.ahead_cached, self.pages.ahead_anonymous, self.pages.dirty.ahead()];
        let of_tasks = self.pending_of(|_| true);
        assert_eq!(counted, of_tasks, "cached, anonymous and dirty bytes ahead are those of tasks");
        let pending: u64 = self.tasks.values().map(|task| task.pending).sum();
        assert_eq!(self.pages.pending, pending, "bytes that tasks have pending");
    }

    /// The bytes that some tasks have pending: of page cache, of anonymous memory, and dirty ones.
    pub fn pending_of(&self, is_meant: impl Fn(&Task) -> bool) -> [u64; 3] {
        let mut sums = [0; 3];
        for task in self.tasks.values().filter(|task| is_meant(task)) {
            // What its last request brings beyond that has no buffer.
            let asked = task.pending.min(task.end.saturating_sub(task.position));
            sums[0] += if task.run.fills() { task.pending } else { 0 };
            sums[1] += if task.takes_anonymous() { asked } else { 0 };
            sums[2] += if task.run.dirties() { task.pending } else { 0 };
        }
        sums
    }

    /// What is charged to a memory cgroup is what its tasks have pending, what its processes hold, and what is busy in its lists.
    ///
    /// It may be over its limit: what is pending takes its room when it finds its place.
    pub fn check_memcgs(&self) {
        for (at, memcg) in self.pages.memcgs.iter().enumerate() {
            let id = MemcgId::of(at);
            assert_eq!(memcg.ahead(), self.pending_of(|task| task.memcg == id), "bytes ahead of cgroup {at}");
            let held = self.pages.placement.held_of(|process| self.memcg_of(process) == id);
            assert_eq!(memcg.anonymous, held, "anonymous memory of cgroup {at} is that of its processes");
        }
    }

    /// Nodes have what lists and processes have, and no more than there is.
    pub fn check_nodes(&self) {
        let (pages, lists) = (&self.pages, &self.pages.lists);
        let cached: u64 = pages.lruvecs().map(|lruvec| lists.of_lruvec(lruvec)).sum();
        assert_eq!(cached, lists.cached(), "what is cached is on some node");
        let held = self.pages.placement.held(pages.nodes());
        let anonymous: Vec<u64> = pages.memory.nodes.iter().map(|node| node.anonymous).collect();
        assert_eq!(anonymous, held, "anonymous memory of each node is that of its processes");
    }
}
