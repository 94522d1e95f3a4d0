//! What must be true of all counters after every event. Debug builds look, as long as that is quick.

use super::tasks::{Task, Transfer};
use super::{DeviceId, Kernel, LruvecId};

/// With more inodes than this, looking at all of them after every event would take too long.
const MOST_INODES: usize = 64;

impl Kernel {
    /// Checks in debug builds that counters are the sums of what they count.
    ///
    /// # Panics
    /// If one of them is not: a change was forgotten, or made twice.
    pub(super) fn check_books(&self) {
        if cfg!(debug_assertions) && self.pages.dirty.inodes() <= MOST_INODES {
            self.check_dirty();
            self.check_pending();
            self.check_nodes();
            self.check_devices();
        }
    }

    /// What became dirty has been written or cancelled, waits for its device, or is dirty still.
    fn check_devices(&self) {
        for (at, wb) in self.wbs.iter().enumerate() {
            let Some(wb) = wb else { continue };
            let of = self.pages.dirty.of_device(DeviceId(at as u32));
            let submitted = wb.flusher.waiting() - wb.transfer.as_ref().map_or(0, Transfer::applied);
            let accounted = of.written + of.cancelled + submitted + of.reclaimable;
            assert_eq!(of.dirtied, accounted, "bytes that became dirty on device {at}");
        }
    }

    /// Dirty pages are cached pages of their file, and add up.
    fn check_dirty(&self) {
        self.pages.dirty.check_sums();
        for (file, bytes) in self.pages.dirty.by_file() {
            let cached = self.pages.lists.of_file(file);
            assert!(bytes <= cached, "{bytes} bytes of {file:?} are dirty, {cached} are cached");
        }
    }

    /// What has moved without having found its place is what tasks have pending.
    fn check_pending(&self) {
        let pending = |counts: fn(&Task) -> bool| -> u64 {
            self.tasks.values().filter(|task| counts(task)).map(|task| task.pending).sum()
        };
        let of_tasks = [
            pending(|task| task.run.fills()),
            pending(Task::takes_anonymous),
            pending(|task| task.run.dirties()),
        ];
        let counted = [self.pages.ahead_cached, self.pages.ahead_anonymous, self.pages.dirty.ahead()];
        assert_eq!(counted, of_tasks, "cached, anonymous and dirty bytes ahead are those of tasks");
    }

    /// Nodes have what lists and processes have, and no more than there is.
    fn check_nodes(&self) {
        let (pages, lists) = (&self.pages, &self.pages.lists);
        let lruvecs = (0..pages.nodes()).map(|node| LruvecId(node as u16));
        let cached: u64 = lruvecs.map(|lruvec| lists.inactive(lruvec) + lists.active(lruvec)).sum();
        assert_eq!(cached, lists.cached(), "what is cached is on some node");
        let held = self.placement.held(pages.nodes());
        let anonymous: Vec<u64> = pages.memory.nodes.iter().map(|node| node.anonymous).collect();
        assert_eq!(anonymous, held, "anonymous memory of each node is that of its processes");
        if pages.nodes() > 1 {
            let dirty: u64 = pages.dirty_of_node.iter().sum();
            assert_eq!(dirty + pages.dirty.ahead(), pages.dirty.total(), "what is dirty is on some node");
        }
    }
}
