//! Keeps the pages in memory: the list of each, its dirty state, its owner.
//!
//! Source: `mm/filemap.c`, `mm/truncate.c`, Linux 6.16. New pages are taken in `allocation`.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::machine::Lru;
use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::kernel::address_space::folios::Folios;
use crate::policy::kernel::address_space::page_state::{Busy, PageState};
use crate::policy::kernel::config::Config;
use crate::policy::kernel::discretisation::EXTENT_PART;
use crate::policy::kernel::memcontrol::memcg::Memcg;
use crate::policy::kernel::page_alloc::placement::Placement;
use crate::policy::kernel::page_alloc::reporting::Backed;
use crate::policy::kernel::page_alloc::shmem::Shmem;
use crate::policy::kernel::page_alloc::watermarks::Memory;
use crate::policy::kernel::tasks::ids::{MemcgId, Taker, WbId};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::kernel::vmscan::lists::{Lists, Replacement};
use crate::policy::kernel::vmscan::lruvec::LruvecId;
use crate::policy::kernel::vmscan::refaults::Refaults;
use crate::policy::ranges::Ranges;
use crate::policy::{FileId, FileView, ListedBlock, OperationId};
use crate::units::{Bytes, Nanos};

/// The effect of bytes that a program has written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    /// True if they made their inode dirty.
    pub dirtied_inode: bool,
    /// The bytes on pages new in the cache, and how many of these are on another node than the writer's.
    pub new: u64,
    pub far: u64,
}

/// The memory of a host; see the module.
pub struct Pages {
    pub(super) lists: Lists,
    pub(super) dirty: DirtyPages,
    pub memory: Memory,
    /// The largest part of a node's memory that should be dirty, or its part of so many bytes: `vm.dirty_ratio` as a fraction,
    /// `vm.dirty_bytes`.
    pub(super) node_dirty_ratio: f64,
    pub(super) node_dirty_bytes: Option<u64>,
    /// Bytes that have come into the cache, and into anonymous memory, and have no page yet.
    pub(super) ahead_cached: u64,
    pub(super) ahead_anonymous: u64,
    /// Files of tmpfs.
    pub(super) shmem: Shmem,
    /// The pending bytes of all tasks.
    pub(super) pending: u64,
    /// True if reclaim has met only dirty pages since this was last cleared.
    pub(super) found_only_dirty: bool,
    /// Pages to be dropped when they are written (`PG_dropbehind`).
    pub(super) dropbehind: FxHashMap<FileId, Ranges>,
    /// Bytes that came from devices, and refaults among them.
    pub(super) refaults: Refaults,
    /// The memory cgroups of the host.
    pub memcgs: Vec<Memcg>,
    /// The pages of each list that are dirty or under writeback, each once; only kept if there are several lists.
    pub(super) busy: Vec<u64>,
    /// The node of each process and of its anonymous memory.
    pub placement: Placement,
    /// Only kept if there are folios longer than pages.
    pub(super) folios: Folios,
    /// Free memory that the host has not taken back, if it takes any.
    pub(super) backed: Option<Backed>,
    /// The memory cgroup to which each operation's pages are charged; only kept if there are cgroups.
    pub(super) memcg_of: FxHashMap<OperationId, MemcgId>,
    pub config: Arc<Config>,
}

/// The rules of eviction.
fn replacement(config: &Config) -> Replacement {
    match config.host.kernel.lru {
        Lru::TwoList => Replacement::TwoLists(config.rules.two_lists),
        Lru::Mglru => Replacement::Generations(config.rules.lru_gen),
    }
}

impl Pages {
    /// An empty cache of a host.
    pub fn new(config: &Arc<Config>) -> Self {
        let host = &config.host;
        let memory = Memory::of(host);
        let memcgs: Vec<Memcg> = host.cgroups.iter().map(Memcg::new).collect();
        let least = memcgs.iter().map(|memcg| memcg.limit).fold(memory.total, u64::min);
        let lists = memory.nodes.len() * (memcgs.len() + 1);
        Self {
            lists: Lists::new(replacement(config), lists, memory.total, least / EXTENT_PART),
            dirty: DirtyPages::default(),
            node_dirty_ratio: host.vm.dirty_ratio,
            node_dirty_bytes: host.vm.dirty_bytes.map(|bytes| bytes.0),
            ahead_cached: 0,
            ahead_anonymous: 0,
            shmem: Shmem::default(),
            pending: 0,
            found_only_dirty: false,
            dropbehind: FxHashMap::default(),
            refaults: Refaults::default(),
            busy: if lists > 1 { vec![0; lists] } else { Vec::new() },
            memcgs,
            placement: Placement::new(memory.nodes.len()),
            folios: Folios::default(),
            backed: None,
            memcg_of: FxHashMap::default(),
            config: config.clone(),
            memory,
        }
    }

    /// The pages in memory, by list.
    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// The pages that are dirty or under writeback.
    pub fn dirty(&self) -> &DirtyPages {
        &self.dirty
    }

    /// The pages that are dirty or under writeback, for submission and cancelling.
    pub fn dirty_mut(&mut self) -> &mut DirtyPages {
        &mut self.dirty
    }

    /// The same, and the folios that they are in.
    pub fn for_submission(&mut self) -> (&mut DirtyPages, &Folios) {
        (&mut self.dirty, &self.folios)
    }

    /// Marks bytes of a file that a program has read: `mm/swap.c: mark_page_accessed`.
    pub fn mark_accessed(&mut self, file: FileId, start: u64, end: u64) {
        self.lists.mark_accessed(file, start, end);
    }

    /// True if no memory cgroup, no host that takes memory back and no failed reclaim asks for decisions.
    pub fn is_plain(&self) -> bool {
        self.memcgs.is_empty() && self.backed.is_none() && !self.found_only_dirty && !self.is_exhausted()
    }

    /// Keeps only counts of pages: nothing will be read or reclaimed any more.
    pub fn retire(&mut self, keeps_extents: bool) {
        self.lists.retire(keeps_extents);
    }

    /// Bytes that came from devices, and refaults among them.
    pub fn refaults(&self) -> Refaults {
        self.refaults
    }

    /// Restores the refault counters to a value before some pages were put into the cache.
    pub fn forget_reads(&mut self, before: Refaults) {
        self.refaults = before;
    }

    /// Returns true if reclaim has met only dirty pages since the last question.
    pub fn take_found_only_dirty(&mut self) -> bool {
        std::mem::take(&mut self.found_only_dirty)
    }

    /// Charges the pages of an operation to a memory cgroup from now on.
    pub fn charge_to(&mut self, operation: OperationId, memcg: MemcgId) {
        self.memcg_of.insert(operation, memcg);
    }

    /// Sets the free memory that the host has not taken back.
    pub fn set_backed(&mut self, backed: Option<Backed>) {
        self.backed = backed;
    }

    /// The folios of files.
    pub fn folios(&self) -> &Folios {
        &self.folios
    }

    /// Forgets the folios beyond the new size of a file.
    pub fn cut_folios(&mut self, file: FileId, size: u64) {
        self.folios.cut(file, size);
    }

    pub fn nodes(&self) -> usize {
        self.memory.nodes.len()
    }

    /// The page cache.
    pub fn cached(&self) -> u64 {
        self.lists.cached() + self.ahead_cached
    }

    /// The anonymous memory.
    pub fn anonymous(&self) -> u64 {
        self.memory.anonymous() + self.ahead_anonymous
    }

    /// The page cache for the result, and how much of it is dirty or under writeback. Evictions and rewrites are known only when bytes
    /// are put into pages. Until then both numbers are limited by what is possible.
    pub fn told(&self) -> (u64, u64) {
        let cached = self.cached().min(self.memory.most_anonymous().saturating_sub(self.anonymous()));
        (cached, self.dirty.pages().min(cached))
    }

    /// The memory that could become dirty.
    pub fn dirtyable(&self) -> u64 {
        self.memory.dirtyable(self.anonymous(), self.cached())
    }

    /// The lists of a memory cgroup on a node.
    pub fn lruvec(&self, memcg: MemcgId, node: usize) -> LruvecId {
        LruvecId(memcg.0 * self.nodes() as u16 + node as u16)
    }

    /// The node of some lists.
    pub fn node_of(&self, lruvec: LruvecId) -> usize {
        usize::from(lruvec.0) % self.nodes()
    }

    /// The lists of a node, the root's first.
    pub fn lruvecs_of_node(&self, node: usize) -> impl Iterator<Item = LruvecId> + use<> {
        let nodes = self.nodes() as u16;
        (0..=self.memcgs.len() as u16).map(move |memcg| LruvecId(memcg * nodes + node as u16))
    }

    /// All lists.
    pub fn lruvecs(&self) -> impl Iterator<Item = LruvecId> + use<> {
        (0..(self.nodes() * (self.memcgs.len() + 1)) as u16).map(LruvecId)
    }

    /// The node and the cgroup from which a task takes memory.
    pub fn taker_of(&self, operation: OperationId, task: &Task) -> Taker {
        Taker { home: self.placement.node(task.thread(operation)), memcg: task.memcg }
    }

    /// Takes anonymous memory for a process.
    pub fn take_anonymous(&mut self, by: Taker, bytes: u64, owner: OperationId) {
        let mut left = bytes;
        while left > 0 {
            let (node, room) = self.allocate(by, false);
            let part = left.min(room);
            self.memory.nodes[node].anonymous += part;
            if let Some(memcg) = self.memcg(by.memcg) {
                memcg.anonymous += part;
            }
            self.placement.take(owner, node, part);
            left -= part;
        }
    }

    /// Returns anonymous memory to a node.
    fn give_back_anonymous(&mut self, memcg: MemcgId, node: usize, bytes: u64) {
        self.memory.nodes[node].anonymous -= bytes;
        if let Some(memcg) = self.memcg(memcg) {
            memcg.anonymous -= bytes;
        }
    }

    /// Puts bytes from a device into the cache, clean. Pages that are there already stay as they are.
    pub fn read_in(&mut self, file: FileId, start: u64, end: u64, by: Taker) {
        let mut refaults = self.refaults;
        self.each_missing(file, start, end, by, |lists, node, from, to| {
            refaults.read += to - from;
            refaults.refaulted += lists.insert_read(node, file, from, to).refaulted;
        });
        self.refaults = refaults;
    }

    /// Writes bytes of an inode of this wb.
    pub fn write(
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

    /// Puts bytes into the cache by a write, clean.
    pub fn put(&mut self, file: FileId, start: u64, end: u64, by: Taker) {
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

    /// Ends the writeback of pages; true if no more of the file are under writeback.
    pub fn written(&mut self, file: FileId, wb: WbId, start: u64, end: u64) -> bool {
        let were_busy = if self.has_lists() { self.busy_runs(file, start, end) } else { Vec::new() };
        let leaving = self.dirty.take_leaving(file, start, end);
        let is_last = self.dirty.written(file, wb, start, end);
        // Before some of them leave the lists.
        for (from, to) in were_busy {
            self.count_busy(file, from, to, PageState::Clean, |busy, bytes| *busy -= bytes);
        }
        self.lists.written(file, start, end);
        for (from, to) in leaving {
            self.lists.remove(file, from, to);
        }
        if !self.dropbehind.is_empty() {
            self.drop_written(file, start, end);
        }
        is_last
    }

    /// True if there are several lists, so that dirty pages are counted by list.
    fn has_lists(&self) -> bool {
        !self.busy.is_empty()
    }

    /// The runs of a range that are dirty or under writeback; they do not overlap.
    pub fn busy_runs(&self, file: FileId, start: u64, end: u64) -> Vec<(u64, u64)> {
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

    /// Counts the bytes of a range in a state for their lists, and for the memory cgroups to which they are charged.
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

    /// Counts the clean bytes of a range that are about to become dirty.
    fn count_newly_busy(&mut self, file: FileId, start: u64, end: u64) {
        self.count_busy(file, start, end, PageState::Clean, |busy, bytes| *busy += bytes);
    }

    /// Cuts off all bytes from `start` on. Dirty pages are not written. Pages under writeback leave when they are written
    /// (`mm/truncate.c: truncate_inode_pages_range`, `folio_wait_writeback`).
    pub fn truncate(&mut self, file: FileId, start: u64) {
        self.mark_dropbehind(file, (start, u64::MAX), false);
        let mut at = start;
        while at < u64::MAX {
            let (state, to) = self.dirty.run(file, at, u64::MAX);
            match state {
                PageState::Writeback => self.dirty.leave(file, at, to),
                PageState::Clean | PageState::Dirty => {
                    if self.has_lists() {
                        self.count_busy(file, at, to, PageState::Dirty, |busy, bytes| *busy -= bytes);
                    }
                    self.lists.remove(file, at, to);
                    self.dirty.cancel(file, at, to);
                }
            }
            at = to;
        }
    }

    /// Drops all clean bytes.
    pub fn drop_clean(&mut self) {
        let files: Vec<FileId> = self.lists.files().collect();
        for file in files {
            self.drop_clean_within(file, 0, u64::MAX);
        }
    }

    /// Drops clean bytes of a range of a file.
    pub fn drop_clean_within(&mut self, file: FileId, start: u64, end: u64) {
        let mut at = start;
        while at < end {
            let (state, to) = self.dirty.run(file, at, end);
            match state {
                PageState::Clean => self.lists.remove(file, at, to),
                PageState::Dirty | PageState::Writeback => self.lists.deactivate(file, at, to),
            }
            at = to;
        }
    }

    /// Drops clean bytes of a range and returns how many. Bytes that have become dirty again stay.
    ///
    /// `mm/truncate.c: invalidate_inode_pages2_range`
    pub fn invalidate_inode_pages2_range(&mut self, file: FileId, start: u64, end: u64) -> u64 {
        let before = self.lists.cached_within(file, start, end);
        let mut at = start;
        while at < end {
            let (state, to) = self.dirty.run(file, at, end);
            if state == PageState::Clean {
                self.lists.remove(file, at, to);
            }
            at = to;
        }
        before - self.lists.cached_within(file, start, end)
    }

    /// The cached blocks, for the table of blocks.
    pub fn blocks(&self) -> Vec<ListedBlock> {
        let mut blocks = Vec::with_capacity(self.lists.extents());
        for lruvec in self.lruvecs() {
            for (list, active) in [("inactive", false), ("active", true)] {
                blocks.extend(self.lists.listed(lruvec, active).map(|each| {
                    let (state, dirtied_when) = self.dirty.state(each.file, each.start, each.end);
                    ListedBlock {
                        list,
                        file: each.file,
                        bytes: Bytes(each.end - each.start),
                        dirty: state != PageState::Clean,
                        accessed: Nanos::ZERO,
                        dirtied: dirtied_when.unwrap_or_default(),
                    }
                }));
            }
        }
        blocks
    }

    /// Frees anonymous memory of a process.
    pub fn free_anonymous(&mut self, owner: OperationId, bytes: Bytes) {
        let memcg = self.memcg_of(owner);
        for (node, given) in self.placement.give_back(owner, bytes.0).into_iter().enumerate() {
            self.give_back_anonymous(memcg, node, given);
        }
    }

    /// Records the folios of new bytes of a file.
    pub fn note_folios(&mut self, file: &FileView, range: (u64, u64), folio: u64) {
        if self.config.largest_folio(file) > 1 {
            self.folios.set(file.id, range, folio);
        }
    }

    /// True if pages of a wb are under writeback.
    pub fn is_writing(&self, at: usize) -> bool {
        self.dirty.of_wb(WbId(at as u32)).writeback > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::tests::{MIB, nodes_of_8_gib, on};

    #[test]
    fn a_block_is_dirty_until_its_pages_have_been_written() {
        let (clean, dirty) = (FileId(0), FileId(1));
        let mut pages = nodes_of_8_gib(1, "");
        pages.read_in(clean, 0, 2 * MIB, on(0));
        pages.write(dirty, WbId(0), (0, MIB), on(0), Nanos(7));
        let blocks = |pages: &Pages| {
            let blocks = pages.blocks().into_iter();
            blocks.map(|block| (block.file, block.bytes.0, block.dirty, block.dirtied.0)).collect::<Vec<_>>()
        };
        assert_eq!(blocks(&pages), [(clean, 2 * MIB, false, 0), (dirty, MIB, true, 7)]);
        pages.dirty.submit(dirty, u64::MAX);
        pages.written(dirty, WbId(0), 0, MIB);
        assert_eq!(blocks(&pages), [(clean, 2 * MIB, false, 0), (dirty, MIB, false, 0)]);
    }

    #[test]
    fn each_group_has_lists_on_each_node() {
        let pages = nodes_of_8_gib(2, "cgroup.batch.memory.max = '1 GiB'");
        let lists =
            [MemcgId::ROOT, MemcgId::of(0)].map(|memcg| [0, 1].map(|node| pages.lruvec(memcg, node).0));
        assert_eq!(lists, [[0, 1], [2, 3]]);
        let of_node: Vec<u16> = pages.lruvecs_of_node(1).map(|lruvec| lruvec.0).collect();
        assert_eq!((of_node, pages.lruvecs().count()), (vec![1, 3], 4));
        assert_eq!([0, 1, 2, 3].map(|lruvec| pages.node_of(LruvecId(lruvec))), [0, 1, 0, 1]);
    }

    #[test]
    fn bytes_from_devices_and_refaults_are_counted() {
        let file = FileId(0);
        let mut pages = nodes_of_8_gib(2, "");
        pages.read_in(file, 5 * MIB, 7 * MIB, on(0));
        pages.reclaim(&[LruvecId(0)], MIB);
        pages.read_in(file, 4 * MIB, 7 * MIB, on(0));
        assert_eq!((pages.refaults.read, pages.refaults.refaulted), (2 * MIB + 2 * MIB, MIB));
        pages.put(file, 0, MIB, on(0));
        assert_eq!((pages.refaults.read, pages.cached()), (4 * MIB, 4 * MIB), "that came from elsewhere");
    }
}
