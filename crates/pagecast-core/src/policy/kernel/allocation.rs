//! Where new pages come from: the node that has some, and what has to leave for them.
//!
//! Source: `mm/page_alloc.c: get_page_from_freelist`, `mm/page-writeback.c: node_dirty_ok`, `mm/vmscan.c: kswapd`, Linux 6.16. Left
//! out: direct reclaim while there are clean pages. kswapd keeps up with everybody, so that nobody waits, until all that is left
//! is dirty.

use super::PAGE;
use super::lists::LruvecId;
use super::memcg::Taker;
use super::memory::Node;
use super::pages::Pages;

/// With memory to spare, what is pending is at most this part of it.
const LOOSE: u64 = 256;

/// Less room than this part of a node counts as none, or the way to a mark would be taken in ever smaller steps.
const CRUMBS: u64 = 1 << 14;

impl Pages {
    fn cached_of(&self, node: usize) -> u64 {
        let lruvecs = self.lruvecs_of_node(node);
        lruvecs.map(|lruvec| self.lists.of_lruvec(lruvec)).sum()
    }

    /// What nobody uses of a node.
    fn free_of(&self, node: usize) -> u64 {
        self.memory.nodes[node].total.saturating_sub(self.memory.nodes[node].anonymous + self.cached_of(node))
    }

    /// Whether nothing can be had, neither free pages nor clean ones to evict.
    pub(super) fn is_exhausted(&self) -> bool {
        self.dirty.total() > 0 && self.available() == 0
    }

    /// What can be had before somebody has to wait for write-back: free and clean pages.
    pub(super) fn available(&self) -> u64 {
        let free: u64 = (0..self.nodes()).map(|node| self.free_of(node)).sum();
        let min: u64 = self.memory.nodes.iter().map(|node| node.min).sum();
        (free + self.lists.cached()).saturating_sub(self.dirty.total() + min + self.ahead_anonymous)
    }

    /// What is free before reclaim begins.
    pub(super) fn above_low(&self) -> u64 {
        (0..self.nodes()).map(|node| self.free_of(node).saturating_sub(self.memory.nodes[node].low)).sum()
    }

    /// What has come, but is in no list yet.
    pub(super) fn pending(&self) -> u64 {
        self.ahead_cached + self.ahead_anonymous
    }

    /// What a node has free above its high mark. What is not known yet where it is has come from there.
    pub(super) fn above_high(&self, node: usize) -> u64 {
        self.free_of(node).saturating_sub(self.memory.nodes[node].high + self.pending())
    }

    /// Whether so much is pending that it matters where it is: as much as kswapd frees in one go while it is about to run, or a quarter
    /// of that where there are several nodes to take it from.
    pub(super) fn is_far_ahead(&self) -> bool {
        self.pending() > if self.is_short() { self.most_ahead_of_reclaim() } else { self.most_ahead() }
    }

    fn most_ahead_of_reclaim(&self) -> u64 {
        if self.nodes() == 1 { self.stroke() } else { self.stroke() / 4 }
    }

    /// How much more can be taken before kswapd begins to run, or until it matters what it has found: dirty pages, or what
    /// somebody was going to read.
    pub(super) fn until_reclaim(&self) -> u64 {
        let until = if self.is_short() { self.most_ahead_of_reclaim() + 1 } else { self.above_low() };
        until.saturating_sub(self.pending())
    }

    /// What kswapd of all nodes frees in one go.
    fn stroke(&self) -> u64 {
        self.memory.nodes.iter().map(|node| node.high - node.low).sum()
    }

    /// What can be taken before it has to be freed.
    pub(super) fn spare(&self) -> u64 {
        self.above_low().saturating_sub(2 * self.stroke() + self.pending())
    }

    /// Whether kswapd runs again and again, or is about to: what is taken has to be freed.
    pub(super) fn is_short(&self) -> bool {
        self.spare() == 0
    }

    /// What may be pending at most while there is memory to spare.
    pub(super) fn most_ahead(&self) -> u64 {
        (self.memory.total / LOOSE).max(PAGE)
    }

    /// The node that the next page for somebody on `home` comes from, and how many bytes of it until that changes: the
    /// nearest above its low mark. Pages to be written avoid nodes with too many dirty ones.
    ///
    /// `mm/page_alloc.c: get_page_from_freelist`, `mm/page-writeback.c: node_dirty_ok`, Linux 6.16.
    pub(super) fn target(&self, home: usize, to_write: bool) -> Option<(usize, u64)> {
        let nodes = self.nodes();
        (0..nodes).map(|far| (home + far) % nodes).find_map(|node| {
            let room = self.free_of(node).saturating_sub(self.memory.nodes[node].low);
            let room = if to_write { room.min(self.dirty_room(node)) } else { room };
            (room >= self.memory.nodes[node].total / CRUMBS).then_some((node, room))
        })
    }

    /// How many more dirty pages a node should have: `node_dirty_limit`.
    fn dirty_room(&self, node: usize) -> u64 {
        if self.nodes() == 1 {
            return u64::MAX;
        }
        let reserve = self.memory.reserve / self.nodes() as u64;
        let dirtyable = (self.free_of(node) + self.cached_of(node)).saturating_sub(reserve);
        let limit = match self.node_dirty_bytes {
            Some(bytes) => bytes as f64 * (dirtyable as f64 / self.dirtyable().max(1) as f64),
            None => dirtyable as f64 * self.node_dirty_ratio,
        };
        let dirty: u64 = self.lruvecs_of_node(node).map(|lruvec| self.busy[usize::from(lruvec.0)]).sum();
        (limit as u64).saturating_sub(dirty)
    }

    /// A node for the next pages, and for how many: after some have been evicted, if need be.
    pub(super) fn allocate(&mut self, by: Taker, to_write: bool) -> (usize, u64) {
        let (node, room) = self.allocate_of_node(by.home, to_write);
        (node, by.memcg.index().map_or(room, |at| room.min(self.charge(at))))
    }

    fn allocate_of_node(&mut self, home: usize, to_write: bool) -> (usize, u64) {
        if let Some(found) = self.target(home, to_write) {
            return found;
        }
        self.run_kswapd();
        self.target(home, false).unwrap_or_else(|| {
            // Below the low marks direct reclaim leaves something, down to the min marks; and for who was under way before pages ran
            // out there is a little more.
            let above_min = |node: usize| self.free_of(node).saturating_sub(self.memory.nodes[node].min);
            let node = (0..self.nodes()).max_by_key(|&node| above_min(node)).unwrap_or(home);
            (node, above_min(node).max(self.memory.nodes[node].total / CRUMBS))
        })
    }

    /// kswapd of every node that is short of memory evicts up to the high mark.
    fn run_kswapd(&mut self) {
        for node in 0..self.nodes() {
            let Node { total, anonymous, high, .. } = self.memory.nodes[node];
            // No less than is given at a time, which may be more than was free.
            let wanted = anonymous + self.cached_of(node) + high.max(total / CRUMBS);
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

    /// Evicts so much from several lists: each gives in proportion to its inactive one, of which a round over them scans the same part
    /// (`mm/vmscan.c: shrink_node_memcgs, get_scan_count`). What one does not have the others give.
    pub(super) fn reclaim(&mut self, lruvecs: &[LruvecId], want: u64) {
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
        // Who finds less has met nothing but dirty pages in the end.
        self.found_only_dirty |= left > 0;
    }

    /// Evicts so much from one list, or all that is clean: that nothing else is there it need not find out by scanning everything.
    fn reclaim_clean_from(&mut self, lruvec: LruvecId, want: u64) -> u64 {
        let cached = self.lists.of_lruvec(lruvec);
        self.reclaim_from(lruvec, want.min(cached - self.busy[usize::from(lruvec.0)]))
    }

    /// Evicts so much from one list; tells how much that was.
    fn reclaim_from(&mut self, lruvec: LruvecId, want: u64) -> u64 {
        if want == 0 {
            return 0;
        }
        let reclaimed = self.lists.reclaim(lruvec, want, &self.dirty);
        self.found_only_dirty |= reclaimed.all_dirty;
        reclaimed.freed
    }
}
