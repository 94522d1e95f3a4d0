//! Checks the counters after every event, in debug builds, as long as that is quick.

use crate::policy::kernel::block::Block;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::ids::{MemcgId, WbId};
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;

/// With more inodes, looking at all of them after every event would take too long.
const MOST_INODES: usize = 64;

/// With more extents, looking for dirty ones would take too long.
const MOST_EXTENTS: usize = 1000;

/// Checks in debug builds that counters are the sums of what they count.
///
/// # Panics
/// If one of them is not: a change was forgotten, or made twice.
pub fn check_books(pages: &Pages, write_back: &WriteBack, block: &Block, tasks: &Tasks) {
    if cfg!(debug_assertions) && pages.dirty().inodes() <= MOST_INODES {
        check_dirty(pages);
        check_pending(pages, tasks);
        check_nodes(pages);
        check_wbs(pages, write_back, block);
        check_memcgs(pages, tasks);
    }
}

/// Checks that all pages that became dirty are written, cancelled, under writeback or still dirty.
fn check_wbs(pages: &Pages, write_back: &WriteBack, block: &Block) {
    for (at, wb) in write_back.wbs.iter().enumerate() {
        if wb.is_none() {
            continue;
        }
        let id = WbId(at as u32);
        let (of, submitted) = (pages.dirty().of_wb(id), block.queue_of_wb(id).bytes_of(id));
        let accounted = of.written + of.cancelled + submitted + of.reclaimable;
        assert_eq!(of.dirtied, accounted, "bytes that became dirty of wb {at}");
    }
}

/// Checks that dirty pages are cached pages of their file, and add up.
fn check_dirty(pages: &Pages) {
    pages.dirty().check_sums();
    for (file, bytes) in pages.dirty().by_file() {
        let cached = pages.lists().of_file(file);
        assert!(bytes <= cached, "{bytes} bytes of {file:?} are dirty, {cached} are cached");
    }
    if pages.lists().extents() <= MOST_EXTENTS {
        pages.check_busy();
    }
}

/// Checks that the bytes without a page yet are those that tasks have pending.
fn check_pending(pages: &Pages, tasks: &Tasks) {
    let counted = [pages.ahead()[0], pages.ahead()[1], pages.dirty().ahead()];
    let of_tasks = pending_of(tasks, |_| true);
    assert_eq!(counted, of_tasks, "cached, anonymous and dirty bytes ahead are those of tasks");
    let pending: u64 = tasks.values().map(|task| task.pending).sum();
    assert_eq!(pages.pending_bytes(), pending, "bytes that tasks have pending");
}

/// The bytes that some tasks have pending: of page cache, of anonymous memory, and dirty ones.
fn pending_of(tasks: &Tasks, is_meant: impl Fn(&Task) -> bool) -> [u64; 3] {
    let mut sums = [0; 3];
    for task in tasks.values().filter(|task| is_meant(task)) {
        // The bytes of its last request beyond that have no buffer.
        let asked = task.pending.min(task.end.saturating_sub(task.position));
        sums[0] += if task.run.fills() { task.pending } else { 0 };
        sums[1] += if task.takes_anonymous() { asked } else { 0 };
        sums[2] += if task.run.dirties() { task.pending } else { 0 };
    }
    sums
}

/// Checks that the charge of a memory cgroup is the sum of its tasks' pending bytes, its processes' memory and its lists.
///
/// It may be over its limit: pending bytes make room only when they are put into lists.
fn check_memcgs(pages: &Pages, tasks: &Tasks) {
    for (at, memcg) in pages.memcgs.iter().enumerate() {
        let id = MemcgId::of(at);
        assert_eq!(memcg.ahead(), pending_of(tasks, |task| task.memcg == id), "bytes ahead of cgroup {at}");
        let held = pages.placement.held_of(|process| pages.memcg_of(process) == id);
        assert_eq!(memcg.anonymous, held, "anonymous memory of cgroup {at} is that of its processes");
    }
}

/// Checks that nodes have what lists and processes have, and no more than there is.
fn check_nodes(pages: &Pages) {
    let (pages, lists) = (&pages, pages.lists());
    let cached: u64 = pages.lruvecs().map(|lruvec| lists.of_lruvec(lruvec)).sum();
    assert_eq!(cached, lists.cached(), "what is cached is on some node");
    let held = pages.placement.held(pages.nodes());
    let anonymous: Vec<u64> = pages.memory.nodes.iter().map(|node| node.anonymous).collect();
    assert_eq!(anonymous, held, "anonymous memory of each node is that of its processes");
}
