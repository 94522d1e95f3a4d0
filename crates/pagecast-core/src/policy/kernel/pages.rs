//! The pages in memory: in which list each is, which are dirty, how many are free.

use super::PAGE;
use super::dirty::DirtyPages;
use super::lists::{Busy, Lists, LruvecId, PageState};
use super::memcg::{Memcg, MemcgId, Taker};
use super::memory::Memory;
use super::wb::WbId;
use crate::policy::{FileId, ListedBlock};
use crate::units::{Bytes, Nanos};

/// An extent of a file that grows is lengthened while less than this part of the memory has come into its list since.
pub(super) const GRAINS: u64 = 256;

/// With memory to spare, what is pending is at most this part of it.
const LOOSE: u64 = 256;

/// Less room than this part of a node counts as none, or the way to a mark would be taken in ever smaller steps.
const CRUMBS: u64 = 1 << 14;

/// What became of bytes that a program has written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    /// Whether they made their inode dirty.
    pub dirtied_inode: bool,
    /// How many are on pages that are new in the cache, and how many of these on another node than the writer's.
    pub new: u64,
    pub far: u64,
}

/// See the module.
pub(super) struct Pages {
    pub lists: Lists,
    pub dirty: DirtyPages,
    pub memory: Memory,
    /// `vm.dirty_ratio` as a fraction: no node should have more dirty pages than that of its memory.
    pub node_dirty_ratio: f64,
    /// Bytes that are known to have come into the cache, and into anonymous memory, but not yet where.
    pub ahead_cached: u64,
    pub ahead_anonymous: u64,
    /// Reclaim has met nothing but dirty pages since this was last cleared.
    pub found_only_dirty: bool,
    /// The memory cgroups of the host.
    pub memcgs: Vec<Memcg>,
    /// Of each list's pages, those that are dirty or under writeback, each once; only kept where there are several lists.
    pub busy: Vec<u64>,
}

impl Pages {
    pub(super) fn nodes(&self) -> usize {
        self.memory.nodes.len()
    }

    /// The page cache.
    pub(super) fn cached(&self) -> u64 {
        self.lists.cached() + self.ahead_cached
    }

    /// The anonymous memory.
    pub(super) fn anonymous(&self) -> u64 {
        self.memory.anonymous() + self.ahead_anonymous
    }

    /// What could become dirty.
    pub(super) fn dirtyable(&self) -> u64 {
        self.memory.dirtyable(self.anonymous(), self.cached())
    }

    /// The lists of a memory cgroup on a node.
    pub(super) fn lruvec(&self, memcg: MemcgId, node: usize) -> LruvecId {
        LruvecId(memcg.0 * self.nodes() as u16 + node as u16)
    }

    /// The node of some lists.
    pub(super) fn node_of(&self, lruvec: LruvecId) -> usize {
        usize::from(lruvec.0) % self.nodes()
    }

    /// The lists of a node, the root's first.
    fn lruvecs_of_node(&self, node: usize) -> impl Iterator<Item = LruvecId> + use<> {
        let nodes = self.nodes() as u16;
        (0..=self.memcgs.len() as u16).map(move |memcg| LruvecId(memcg * nodes + node as u16))
    }

    /// All lists.
    pub(super) fn lruvecs(&self) -> impl Iterator<Item = LruvecId> + use<> {
        (0..(self.nodes() * (self.memcgs.len() + 1)) as u16).map(LruvecId)
    }

    fn cached_of(&self, node: usize) -> u64 {
        let lruvecs = self.lruvecs_of_node(node);
        lruvecs.map(|lruvec| self.lists.inactive(lruvec) + self.lists.active(lruvec)).sum()
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

    /// Whether so much is pending that it matters where it is: reclaim begins, or, while nothing can be reclaimed, a quarter of
    /// what kswapd frees in one go.
    pub(super) fn is_far_ahead(&self) -> bool {
        let stroke: u64 = self.memory.nodes.iter().map(|node| node.high - node.low).sum();
        let is_short = self.above_low() <= 2 * stroke + self.pending();
        self.pending() > if is_short { stroke / 4 } else { self.most_ahead() }
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

    /// How many more dirty pages a node should have.
    fn dirty_room(&self, node: usize) -> u64 {
        if self.nodes() == 1 {
            return u64::MAX;
        }
        let reserve = self.memory.reserve / self.nodes() as u64;
        let dirtyable = (self.free_of(node) + self.cached_of(node)).saturating_sub(reserve);
        let dirty: u64 = self.lruvecs_of_node(node).map(|lruvec| self.busy[usize::from(lruvec.0)]).sum();
        ((dirtyable as f64 * self.node_dirty_ratio) as u64).saturating_sub(dirty)
    }

    /// A node for the next pages, and for how many: after some have been evicted, if need be.
    fn allocate(&mut self, by: Taker, to_write: bool) -> (usize, u64) {
        let (node, room) = self.allocate_of_node(by.home, to_write);
        (node, by.memcg.index().map_or(room, |at| room.min(self.charge(at))))
    }

    fn allocate_of_node(&mut self, home: usize, to_write: bool) -> (usize, u64) {
        if let Some(found) = self.target(home, to_write) {
            return found;
        }
        self.run_kswapd();
        self.target(home, false).unwrap_or_else(|| {
            // Below the low marks there is still something, for who was under way before pages ran out.
            let node = (0..self.nodes()).max_by_key(|&node| self.free_of(node)).unwrap_or(home);
            (node, self.free_of(node).max(self.memory.nodes[node].total / CRUMBS))
        })
    }

    /// kswapd of every node that is short of memory evicts up to the high mark.
    fn run_kswapd(&mut self) {
        for node in 0..self.nodes() {
            let (free, high) = (self.free_of(node), self.memory.nodes[node].high);
            if free < high {
                if self.memcgs.is_empty() {
                    self.reclaim_from(LruvecId(node as u16), high - free);
                } else {
                    let lruvecs: Vec<LruvecId> = self.lruvecs_of_node(node).collect();
                    self.reclaim(&lruvecs, high - free);
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
        let cached = self.lists.inactive(lruvec) + self.lists.active(lruvec);
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

    /// Takes anonymous memory; tells of which nodes.
    pub(super) fn take_anonymous(&mut self, by: Taker, bytes: u64, mut taken: impl FnMut(usize, u64)) {
        let mut left = bytes;
        while left > 0 {
            let (node, room) = self.allocate(by, false);
            let part = left.min(room);
            self.memory.nodes[node].anonymous += part;
            if let Some(memcg) = self.memcg(by.memcg) {
                memcg.anonymous += part;
            }
            taken(node, part);
            left -= part;
        }
    }

    /// Somebody gives back anonymous memory of a node.
    pub(super) fn give_back_anonymous(&mut self, memcg: MemcgId, node: usize, bytes: u64) {
        self.memory.nodes[node].anonymous -= bytes;
        if let Some(memcg) = self.memcg(memcg) {
            memcg.anonymous -= bytes;
        }
    }

    /// Bytes come from a device, clean. What is there already stays as it is.
    pub(super) fn read_in(&mut self, file: FileId, start: u64, end: u64, by: Taker) {
        self.each_missing(file, start, end, by, |lists, node, from, to| {
            lists.insert_read(node, file, from, to);
        });
    }

    /// Bytes of an inode of this wb are written by a program.
    pub(super) fn write(
        &mut self,
        file: FileId,
        wb: WbId,
        (start, end): (u64, u64),
        by: Taker,
        now: Nanos,
    ) -> Written {
        let (mut at, mut written) = (start, Written::default());
        while at < end {
            let (is_cached, mut to) = self.lists.run(file, at, end);
            if !is_cached {
                let (node, room) = self.allocate(by, true);
                to = to.min(at.saturating_add(room));
                self.lists.insert_written(self.lruvec(by.memcg, node), file, at, to);
                written.new += to - at;
                written.far += if node == by.home { 0 } else { to - at };
            }
            if self.has_lists() {
                self.count_newly_busy(file, at, to);
            }
            // At once: the next pages may be had by evicting clean ones.
            written.dirtied_inode |= self.dirty.make_dirty(file, wb, at, to, now);
            at = to;
        }
        written
    }

    /// Bytes come into the cache by a write, clean.
    pub(super) fn put(&mut self, file: FileId, start: u64, end: u64, by: Taker) {
        self.each_missing(file, start, end, by, |lists, node, from, to| {
            lists.insert_written(node, file, from, to);
        });
    }

    fn each_missing(
        &mut self,
        file: FileId,
        start: u64,
        end: u64,
        by: Taker,
        mut insert: impl FnMut(&mut Lists, LruvecId, u64, u64),
    ) {
        let mut at = start;
        while at < end {
            let (is_cached, mut to) = self.lists.run(file, at, end);
            if !is_cached {
                let (node, room) = self.allocate(by, false);
                to = to.min(at.saturating_add(room));
                let lruvec = self.lruvec(by.memcg, node);
                insert(&mut self.lists, lruvec, at, to);
            }
            at = to;
        }
    }

    /// Pages have been written; true if no more of the file are under writeback.
    pub(super) fn written(&mut self, file: FileId, wb: WbId, start: u64, end: u64) -> bool {
        let were_busy = if self.has_lists() { self.busy_runs(file, start, end) } else { Vec::new() };
        let is_last = self.dirty.written(file, wb, start, end);
        // Before some of them leave the lists.
        for (from, to) in were_busy {
            self.count_busy(file, from, to, PageState::Clean, |busy, bytes| *busy -= bytes);
        }
        self.lists.written(file, start, end);
        is_last
    }

    /// Whether there are several lists, so that it matters which of them has dirty pages.
    fn has_lists(&self) -> bool {
        !self.busy.is_empty()
    }

    /// The runs of a range that are dirty or under writeback, none of which overlap.
    pub(super) fn busy_runs(&self, file: FileId, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut at = start;
        let all = std::iter::from_fn(|| {
            let from = at;
            (from < end).then(|| {
                let (state, to) = self.dirty.run(file, from, end);
                at = to;
                (state, (from, to))
            })
        });
        all.filter(|&(state, _)| state != PageState::Clean).map(|(_, run)| run).collect()
    }

    /// Counts the bytes of a range that are in a state to their lists, and to the memory cgroups that they are charged to.
    fn count_busy(
        &mut self,
        file: FileId,
        start: u64,
        end: u64,
        counted: PageState,
        count: impl Fn(&mut u64, u64),
    ) {
        let nodes = self.nodes();
        let Self { lists, dirty, memcgs, busy, .. } = self;
        let mut at = start;
        while at < end {
            let (state, to) = dirty.run(file, at, end);
            if state == counted {
                lists.placed(file, at, to, |lruvec, bytes| {
                    count(&mut busy[usize::from(lruvec.0)], bytes);
                    if let Some(memcg) = MemcgId(lruvec.0 / nodes as u16).index() {
                        count(&mut memcgs[memcg].busy, bytes);
                    }
                });
            }
            at = to;
        }
    }

    /// Bytes are about to become dirty: those of them that are clean are counted.
    fn count_newly_busy(&mut self, file: FileId, start: u64, end: u64) {
        self.count_busy(file, start, end, PageState::Clean, |busy, bytes| *busy += bytes);
    }

    /// Bytes leave, dirty ones unwritten.
    pub(super) fn remove(&mut self, file: FileId, start: u64, end: u64) {
        if self.has_lists() {
            for state in [PageState::Dirty, PageState::Writeback] {
                self.count_busy(file, start, end, state, |busy, bytes| *busy -= bytes);
            }
        }
        self.lists.remove(file, start, end, &mut |_, _| {});
        self.dirty.cancel(file, start, end);
    }

    /// All clean bytes leave.
    pub(super) fn drop_clean(&mut self) {
        let files: Vec<FileId> = self.lists.files().collect();
        for file in files {
            self.drop_clean_within(file, 0, u64::MAX);
        }
    }

    /// Clean bytes of a part of a file leave.
    pub(super) fn drop_clean_within(&mut self, file: FileId, start: u64, end: u64) {
        let mut at = start;
        while at < end {
            let (state, to) = self.dirty.run(file, at, end);
            match state {
                PageState::Clean => self.lists.remove(file, at, to, &mut |_, _| {}),
                PageState::Dirty | PageState::Writeback => self.lists.deactivate(file, at, to),
            }
            at = to;
        }
    }

    /// For the table of blocks.
    pub(super) fn blocks(&self) -> Vec<ListedBlock> {
        let lists = self.lruvecs().flat_map(|lruvec| [(lruvec, "inactive", false), (lruvec, "active", true)]);
        let listed = lists.flat_map(|(lruvec, list, active)| {
            self.lists.listed(lruvec, active).map(move |each| ListedBlock {
                list,
                file: each.file,
                bytes: Bytes(each.end - each.start),
                dirty: self.dirty.run(each.file, each.start, each.end).0 != PageState::Clean,
                accessed: Nanos::ZERO,
                dirtied: self.dirty.dirtied_when(each.file).unwrap_or_default(),
            })
        });
        listed.collect()
    }
}
