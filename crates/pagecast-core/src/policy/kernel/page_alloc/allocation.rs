//! Takes new pages from the nearest node that has some, and evicts others for them.
//!
//! Source: `mm/page_alloc.c: get_page_from_freelist`, `mm/page-writeback.c: node_dirty_ok`, `mm/vmscan.c: kswapd`, Linux 6.16. Left out:
//! direct reclaim while there are clean pages. kswapd keeps up with all tasks, so that nobody waits until only dirty pages are left.

use crate::policy::kernel::discretisation::{LEAST_ROOM_PART, PENDING_PART};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_alloc::watermarks::Node;
use crate::policy::kernel::tasks::ids::Taker;
use crate::policy::kernel::vmscan::lruvec::LruvecId;
use crate::stop;

impl Pages {
    fn cached_of(&self, node: usize) -> u64 {
        // Asked several times with every event.
        if self.memcgs.is_empty() {
            return self.lists.of_lruvec(LruvecId(node as u16));
        }
        let lruvecs = self.lruvecs_of_node(node);
        lruvecs.map(|lruvec| self.lists.of_lruvec(lruvec)).sum()
    }

    /// The free memory of a node.
    fn free_of(&self, node: usize) -> u64 {
        self.memory.nodes[node].total.saturating_sub(self.memory.nodes[node].anonymous + self.cached_of(node))
    }

    /// The free memory of all nodes.
    pub fn free(&self) -> u64 {
        let free: u64 = (0..self.nodes()).map(|node| self.free_of(node)).sum();
        free.saturating_sub(self.pending())
    }

    /// The low marks of all nodes.
    pub fn low(&self) -> u64 {
        self.memory.nodes.iter().map(|node| node.low).sum()
    }

    /// True if no memory is available, neither free pages nor clean ones to evict.
    pub fn is_exhausted(&self) -> bool {
        self.dirty.held() > 0 && self.available() == 0
    }

    /// The memory available before a task has to wait for write-back: free and clean pages.
    pub fn available(&self) -> u64 {
        let free: u64 = (0..self.nodes()).map(|node| self.free_of(node)).sum();
        let min: u64 = self.memory.nodes.iter().map(|node| node.min).sum();
        (free + self.lists.cached()).saturating_sub(self.dirty.held() + min + self.ahead_anonymous)
    }

    /// The free memory above the low marks, before reclaim begins.
    fn above_low(&self) -> u64 {
        (0..self.nodes()).map(|node| self.free_of(node).saturating_sub(self.memory.nodes[node].low)).sum()
    }

    /// Bytes that have come, but are in no list yet.
    pub fn pending(&self) -> u64 {
        self.ahead_cached + self.ahead_anonymous
    }

    /// The free memory of a node above its high mark. Bytes whose node is not yet known count as taken from it.
    pub fn above_high(&self, node: usize) -> u64 {
        self.free_of(node).saturating_sub(self.memory.nodes[node].high + self.pending())
    }

    /// True if so much is pending that its place matters: as much as kswapd frees at once while it is about to run, or a quarter of
    /// that with several nodes.
    pub fn is_far_ahead(&self) -> bool {
        self.pending() > if self.is_short() { self.most_ahead_of_reclaim() } else { self.most_ahead() }
    }

    /// True if so many bytes may be pending, whether kswapd is about to run or not.
    pub fn may_be_pending(&self, bytes: u64) -> bool {
        bytes <= self.most_ahead().min(self.most_ahead_of_reclaim())
    }

    fn most_ahead_of_reclaim(&self) -> u64 {
        if self.nodes() == 1 { self.kswapd_batch() } else { self.kswapd_batch() / 4 }
    }

    /// Returns how much more can be taken before kswapd runs, or before it matters which pages it finds: dirty ones, or pages that a
    /// task was going to read.
    pub fn until_reclaim(&self) -> u64 {
        let until = if self.is_short() { self.most_ahead_of_reclaim() + 1 } else { self.above_low() };
        until.saturating_sub(self.pending())
    }

    /// The bytes that kswapd of all nodes frees at once.
    fn kswapd_batch(&self) -> u64 {
        self.memory.nodes.iter().map(|node| node.high - node.low).sum()
    }

    /// The memory that can be taken before pages have to be freed.
    pub fn spare(&self) -> u64 {
        self.above_low().saturating_sub(2 * self.kswapd_batch() + self.pending())
    }

    /// True if kswapd runs again and again, or is about to: each page taken has to be freed.
    pub fn is_short(&self) -> bool {
        self.spare() == 0
    }

    /// The most bytes that may be pending while there is memory to spare.
    pub fn most_ahead(&self) -> u64 {
        (self.memory.total / PENDING_PART).max(PAGE)
    }

    /// Returns the node of the next page for a task on `home`, and how many bytes of it until that changes: the nearest above its low
    /// mark. Pages to be written avoid nodes with too many dirty ones.
    ///
    /// `mm/page_alloc.c: get_page_from_freelist`, `mm/page-writeback.c: node_dirty_ok`, Linux 6.16.
    pub fn target(&self, home: usize, to_write: bool) -> Option<(usize, u64)> {
        let nodes = self.nodes();
        (0..nodes).map(|far| (home + far) % nodes).find_map(|node| {
            let room = self.free_of(node).saturating_sub(self.memory.nodes[node].low);
            let room = if to_write { room.min(self.node_dirty_room(node)) } else { room };
            (room >= self.least_room(node)).then_some((node, room))
        })
    }

    /// The least room of a node that counts, and that is given at a time where there is less: a page at least.
    fn least_room(&self, node: usize) -> u64 {
        (self.memory.nodes[node].total / LEAST_ROOM_PART).max(PAGE)
    }

    /// Returns how many more dirty pages a node should have: `node_dirty_limit`. Its zones' reserves (`totalreserve_pages` of the
    /// node) are not dirtyable.
    fn node_dirty_room(&self, node: usize) -> u64 {
        if self.nodes() == 1 {
            return u64::MAX;
        }
        let reserve = self.memory.nodes[node].high;
        let dirtyable = (self.free_of(node) + self.cached_of(node)).saturating_sub(reserve);
        let limit = match self.node_dirty_bytes {
            Some(bytes) => bytes as f64 * (dirtyable as f64 / self.dirtyable().max(1) as f64),
            None => dirtyable as f64 * self.node_dirty_ratio,
        };
        let dirty: u64 = self.lruvecs_of_node(node).map(|lruvec| self.busy[usize::from(lruvec.0)]).sum();
        (limit as u64).saturating_sub(dirty)
    }

    /// Returns a node for the next pages, and for how many; evicts pages first if need be.
    pub fn allocate(&mut self, by: Taker, to_write: bool) -> (usize, u64) {
        let (node, room) = self.get_page_from_freelist(by.home, to_write);
        (node, by.memcg.index().map_or(room, |at| room.min(self.charge(at))))
    }

    fn get_page_from_freelist(&mut self, home: usize, to_write: bool) -> (usize, u64) {
        stop::spend(1);
        if let Some(found) = self.target(home, to_write) {
            return found;
        }
        self.balance_pgdat();
        self.target(home, false).unwrap_or_else(|| {
            // Below the low marks direct reclaim leaves something, down to the min marks; and for who was under way before pages ran
            // out there is a little more.
            let above_min = |node: usize| self.free_of(node).saturating_sub(self.memory.nodes[node].min);
            let node = (0..self.nodes()).max_by_key(|&node| above_min(node)).unwrap_or(home);
            (node, above_min(node).max(self.least_room(node)))
        })
    }

    /// Evicts up to the high mark, in each node that is short of memory.
    fn balance_pgdat(&mut self) {
        for node in 0..self.nodes() {
            let Node { total, anonymous, high, .. } = self.memory.nodes[node];
            // No less than is given at a time, which may be more than was free.
            let wanted = anonymous + self.cached_of(node) + high.max(self.least_room(node));
            if wanted > total {
                if self.memcgs.is_empty() {
                    let lruvec = LruvecId(node as u16);
                    let reclaimed = self.lists.balance(lruvec, wanted - total, high, &self.dirty);
                    self.found_only_dirty |= reclaimed.all_dirty;
                } else {
                    let lruvecs: Vec<LruvecId> = self.lruvecs_of_node(node).collect();
                    self.reclaim(&lruvecs, wanted - total);
                }
            }
        }
    }

    /// Evicts `want` bytes from several lists, from each in proportion to its inactive one, of which a round over them scans the same
    /// part (`mm/vmscan.c: shrink_node_memcgs, get_scan_count`). If one has too little, the others give more.
    pub fn reclaim(&mut self, lruvecs: &[LruvecId], want: u64) {
        let inactive: u64 = lruvecs.iter().map(|&lruvec| self.lists.inactive(lruvec)).sum();
        let mut left = want;
        for &lruvec in lruvecs {
            let scanned = u128::from(self.lists.inactive(lruvec));
            let share = (u128::from(want) * scanned).checked_div(u128::from(inactive)).unwrap_or(0) as u64;
            left -= self.reclaim_clean_from(lruvec, share.min(left));
        }
        for &lruvec in lruvecs {
            left -= self.reclaim_clean_from(lruvec, left);
        }
        // A pass that finds less has met only dirty pages in the end.
        self.found_only_dirty |= left > 0;
    }

    /// Evicts so much from one list, or all clean pages of it. It need not scan everything to find that no more are clean.
    fn reclaim_clean_from(&mut self, lruvec: LruvecId, want: u64) -> u64 {
        let cached = self.lists.of_lruvec(lruvec);
        self.reclaim_from(lruvec, want.min(cached - self.busy[usize::from(lruvec.0)]))
    }

    /// Evicts so much from one list; returns how much that was.
    fn reclaim_from(&mut self, lruvec: LruvecId, want: u64) -> u64 {
        if want == 0 {
            return 0;
        }
        let reclaimed = self.lists.reclaim(lruvec, want, &self.dirty);
        self.found_only_dirty |= reclaimed.all_dirty;
        reclaimed.freed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::FileId;
    use crate::policy::kernel::tasks::ids::WbId;
    use crate::policy::kernel::tests::{MIB, in_first_memcg, nodes_of_8_gib, on};
    use crate::units::Nanos;

    const ONE: LruvecId = LruvecId(0);
    const OTHER: LruvecId = LruvecId(1);
    const A: FileId = FileId(0);
    const B: FileId = FileId(1);

    fn cached(pages: &Pages) -> [u64; 2] {
        [ONE, OTHER].map(|lruvec| pages.lists.of_lruvec(lruvec))
    }

    #[test]
    fn lists_give_in_proportion_to_what_is_inactive_and_in_all_what_is_wanted() {
        let mut pages = nodes_of_8_gib(2, "");
        pages.read_in(A, 0, 2 * MIB, on(0));
        pages.read_in(B, 0, MIB, on(1));
        pages.reclaim(&[ONE, OTHER], MIB);
        // Two thirds and one third, rounded down, and the byte that is missing.
        assert_eq!(cached(&pages), [2 * MIB - 699_051, MIB - 349_525]);
        assert!(!pages.found_only_dirty);
    }

    #[test]
    fn other_lists_give_the_clean_pages_that_one_lacks() {
        let mut pages = nodes_of_8_gib(2, "");
        pages.write(A, WbId(0), (0, 2 * MIB), on(0), Nanos::ZERO);
        pages.read_in(B, 0, MIB, on(1));
        pages.reclaim(&[ONE, OTHER], MIB - PAGE);
        assert_eq!((cached(&pages), pages.found_only_dirty), ([2 * MIB, PAGE], false));
        pages.reclaim(&[ONE, OTHER], 2 * PAGE);
        assert_eq!((cached(&pages), pages.found_only_dirty), ([2 * MIB, 0], true));
    }

    #[test]
    fn pages_come_from_the_own_node_down_to_its_low_mark_and_then_from_the_next() {
        let mut pages = nodes_of_8_gib(2, "");
        let [next, node] = [0, 1].map(|at| pages.memory.nodes[at]);
        let (room, least_room) = (node.total - node.low, node.total / LEAST_ROOM_PART);
        let room_there = next.total - next.low;
        assert_eq!(least_room, 512 << 10);
        assert_eq!(pages.target(1, false), Some((1, room)));
        pages.read_in(A, 0, room - least_room, on(1));
        assert_eq!(cached(&pages), [0, room - least_room]);
        assert_eq!(pages.target(1, false), Some((1, least_room)));
        pages.memory.nodes[1].anonymous += 1;
        assert_eq!(pages.target(1, false), Some((0, room_there)), "the rest is too little");
        assert_eq!(pages.above_low(), room_there + least_room - 1);
        assert_eq!(pages.above_high(0), next.total - next.high);
    }

    /// kswapd of a node runs when there is none above its low mark, and stops at its high mark.
    #[test]
    fn where_no_node_has_any_each_is_brought_above_its_high_mark() {
        let mut pages = nodes_of_8_gib(2, "");
        let [node, next] = [0, 1].map(|at| pages.memory.nodes[at]);
        pages.read_in(A, 0, node.total - node.low, on(0));
        pages.memory.nodes[1].anonymous = next.total - next.low;
        assert_eq!(pages.target(0, false), None);
        let (from, room) = pages.allocate(on(0), false);
        assert_eq!((from, cached(&pages)), (0, [node.total - node.low - room, 0]));
        let least = node.high - node.low;
        assert!((least..2 * least).contains(&room), "{room}: a round may free a little more");
    }

    #[test]
    fn kswapd_takes_from_all_memory_cgroups_of_a_node() {
        let mut pages = nodes_of_8_gib(1, "cgroup.batch.memory.max = '1 GiB'");
        let node = pages.memory.nodes[0];
        pages.read_in(A, 0, 500 * MIB, in_first_memcg());
        pages.read_in(B, 0, node.total - node.low - 500 * MIB, on(0));
        assert_eq!(pages.allocate(on(0), false), (0, node.high - node.low));
        let gone = node.high - node.low;
        let of_cgroup = 500 * MIB - pages.lists.of_lruvec(OTHER);
        let share = gone as f64 * (500 * MIB) as f64 / (node.total - node.low) as f64;
        assert!((of_cgroup as f64 - share).abs() <= 1.0, "{of_cgroup} of {gone}");
    }

    #[test]
    fn without_a_page_to_evict_there_is_still_what_the_least_taken_node_has() {
        let mut pages = nodes_of_8_gib(2, "");
        let [node, next] = [0, 1].map(|at| pages.memory.nodes[at]);
        pages.memory.nodes[0].anonymous = node.total - node.low + 5 * MIB;
        pages.memory.nodes[1].anonymous = next.total - next.low + 3 * MIB;
        assert_eq!(pages.allocate(on(0), false), (1, next.low - 3 * MIB - next.min));
        pages.memory.nodes.iter_mut().for_each(|node| node.anonymous = node.total);
        assert_eq!(pages.allocate(on(0), false).1, 512 << 10, "however little that is");
    }

    #[test]
    fn a_node_takes_its_part_of_the_dirty_pages() {
        for (settings, bytes) in [("vm.dirty_ratio = 25", None), ("vm.dirty_bytes = '1 GiB'", Some(1 << 30))]
        {
            let mut pages = nodes_of_8_gib(2, settings);
            // The first node's lower zones keep memory to themselves, too.
            let dirtyable = pages.memory.nodes.iter().map(|node| node.total - node.high).collect::<Vec<_>>();
            assert!(dirtyable[0] < dirtyable[1]);
            let all: u64 = dirtyable.iter().sum();
            let most = bytes.map_or(dirtyable[0] / 4, |bytes: u64| bytes * dirtyable[0] / all);
            let room = |pages: &Pages| pages.target(0, true).expect("one of them has room");
            assert!(room(&pages).0 == 0 && room(&pages).1.abs_diff(most) <= 1, "{:?}", room(&pages));
            pages.write(A, WbId(0), (0, most - MIB), on(0), Nanos::ZERO);
            assert!(room(&pages).0 == 0 && room(&pages).1.abs_diff(MIB) <= 1, "{:?}", room(&pages));
            pages.write(A, WbId(0), (most - MIB, most), on(0), Nanos::ZERO);
            assert_eq!(room(&pages).0, 1, "the other one");
            assert_eq!(pages.target(0, false).map(|found| found.0), Some(0), "to read there is room");
        }
        let alone = nodes_of_8_gib(1, "vm.dirty_ratio = 1");
        assert_eq!(alone.target(0, true), alone.target(0, false), "nowhere else to go");
    }

    #[test]
    fn available_is_what_is_free_above_the_least_and_what_is_clean() {
        let mut pages = nodes_of_8_gib(2, "");
        let min: u64 = pages.memory.nodes.iter().map(|node| node.min).sum();
        pages.read_in(A, 0, 5 * MIB, on(0));
        pages.write(B, WbId(0), (0, 3 * MIB), on(0), Nanos::ZERO);
        pages.ahead_anonymous = MIB;
        assert_eq!(pages.available(), (16 << 30) - 3 * MIB - MIB - min);
        pages.memory.nodes[1].anonymous = 8 << 30;
        pages.memory.nodes[0].anonymous = pages.available() - 1;
        assert!(!pages.is_exhausted());
        pages.memory.nodes[0].anonymous += 1;
        assert!(pages.is_exhausted());
        pages.dirty.cancel(B, 0, 3 * MIB);
        pages.memory.nodes[0].anonymous += 3 * MIB;
        assert!(
            pages.available() == 0 && !pages.is_exhausted(),
            "nobody writes pages that could be waited for"
        );
    }

    #[test]
    fn pending_bytes_settle_before_they_are_as_many_as_kswapd_frees() {
        for (nodes, parts) in [(1, 1), (2, 4)] {
            let mut pages = nodes_of_8_gib(nodes, "");
            let stroke: u64 = pages.memory.nodes.iter().map(|node| node.high - node.low).sum();
            assert_eq!(pages.spare(), pages.above_low() - 2 * stroke);
            pages.ahead_cached = pages.memory.total / 256;
            assert!(!pages.is_short() && !pages.is_far_ahead());
            pages.ahead_anonymous = 1;
            assert!(pages.is_far_ahead(), "with memory to spare");
            // Now what is spare is just what is pending.
            pages.memory.nodes[1..].iter_mut().for_each(|node| node.anonymous = node.total);
            pages.memory.nodes[0].anonymous = pages.above_low() - 2 * stroke - stroke / parts;
            (pages.ahead_cached, pages.ahead_anonymous) = (stroke / parts, 0);
            assert!(pages.is_short() && !pages.is_far_ahead());
            pages.ahead_cached += 1;
            assert!(pages.is_far_ahead());
        }
    }

    #[test]
    fn when_reclaim_is_looked_at_it_has_freed_what_kswapd_does_in_one_go() {
        let mut pages = nodes_of_8_gib(1, "");
        let node = pages.memory.nodes[0];
        // Nothing is free above the low mark: all that comes makes others leave.
        pages.memory.nodes[0].anonymous = node.total - node.low;
        let until = pages.until_reclaim();
        assert!(until > node.high - node.low, "{until}");
        let is_looked_at = [until - 1, until].map(|pending| {
            pages.ahead_cached = pending;
            pages.is_far_ahead()
        });
        assert_eq!(is_looked_at, [false, true]);
    }
}
