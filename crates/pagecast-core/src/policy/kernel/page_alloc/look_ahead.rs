//! Returns how far a task's next pages are alike: on the same node, on the same side of a watermark.
//!
//! Source: `mm/page_alloc.c: get_page_from_freelist`, `mm/mempolicy.c`, Linux 6.16. Left out: memory policies other than the default.

use crate::policy::kernel::discretisation::MOST_RUN;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::cost::{Distance, Run, Touched};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileId, OperationId};

impl Pages {
    /// Returns the end of the new memory that comes without eviction, if eviction has a price.
    pub fn end_of_spare(&self, at: u64, end: u64) -> u64 {
        match self.spare() {
            spare if spare > 0 && self.config.prices.has_reclaim() => end.min(at.saturating_add(spare)),
            _ => end,
        }
    }

    /// Returns the end of cached bytes on the same node as the first.
    pub fn near_end(&self, file: FileId, at: u64, end: u64) -> u64 {
        let end = end.min(at.saturating_add(MOST_RUN));
        if self.nodes() == 1 {
            return end;
        }
        self.lists.place(file, at, end).map_or(end, |(_, to)| to)
    }

    /// Returns how many bytes of pages a writer's own node can give it.
    fn own_room(&self, operation: OperationId) -> u64 {
        let home = self.placement.node(operation);
        self.target(home, true).filter(|&(node, _)| node == home).map_or(0, |(_, room)| room)
    }

    /// Returns the part of newly written pages that goes to other nodes. At a node's limit of dirty pages its own share is the pages
    /// cleaned meanwhile. So the part is taken from the last write.
    fn new_far(&self, operation: OperationId) -> f64 {
        let room = self.own_room(operation);
        if room >= MOST_RUN {
            return 0.0;
        }
        self.placement.written_far(operation).unwrap_or(if room > 0 { 0.0 } else { 1.0 })
    }

    /// Returns how many pages are evicted for each page that a task moves, if that has a price.
    pub fn reclaimed(&self, task: &Task) -> f64 {
        let is_short = || {
            let is_cgroup_short = task.memcg.index().is_some_and(|at| self.is_memcg_full(at));
            self.is_short() || is_cgroup_short
        };
        if self.config.prices.has_reclaim() && is_short() { task.pages_taken() } else { 0.0 }
    }

    /// Returns the pages that make up new anonymous memory of a task. Huge ones are only taken from the thread's node while it has
    /// free blocks. Pages from another node are small, and reclaimed memory is fragmented.
    ///
    /// `mm/mempolicy.c: alloc_pages_vma` (`__GFP_THISNODE`), `mm/huge_memory.c: alloc_hugepage_direct_gfpmask` (no reclaim for it with
    /// the default of `transparent_hugepage/defrag`), Linux 4.18.
    pub fn touched(&self, task: &Task, operation: OperationId) -> Touched {
        if !task.takes_anonymous() || task.run == Run::Fill {
            return Touched::Nothing;
        }
        let has_blocks = || self.above_high(self.placement.node(operation)) > 0;
        if self.config.prices.has_huge() && has_blocks() { Touched::Huge } else { Touched::Small }
    }

    /// Returns how much of both ends of a copy is on another node than its thread.
    pub fn distance(&self, task: &Task, operation: OperationId) -> Distance {
        let home = self.placement.node(operation);
        let new_page = || {
            let target = self.target(home, false).map_or(home, |(node, _)| node);
            f64::from(u8::from(target != home))
        };
        let present_page = || {
            let place = self.lists.place(task.file().id, task.position, task.end);
            f64::from(u8::from(place.is_some_and(|(lruvec, _)| self.node_of(lruvec) != home)))
        };
        let buffer = || self.placement.far_share(operation);
        let (from, to) = match task.run {
            Run::Touch => (0.0, new_page()),
            Run::Hit if task.is_fresh() => (present_page(), new_page()),
            Run::Hit => (present_page(), 0.0),
            Run::Miss | Run::Pass => (new_page(), new_page()),
            Run::New => (buffer(), self.new_far(operation)),
            Run::Fill => (buffer(), new_page()),
            Run::Over => (buffer(), 0.0),
            Run::Clean | Run::Dirty => (buffer(), present_page()),
            Run::Insert if task.is_fresh() => (0.0, new_page()),
            Run::Through | Run::Insert | Run::Remove | Run::Follow | Run::Direct | Run::Wait => (0.0, 0.0),
        };
        Distance { from, to }
    }

    /// Returns the end of new pages to look at in one go: as many as the own node has room for, or so few that the share of other
    /// nodes is known soon.
    pub fn new_end(&self, operation: OperationId, at: u64, end: u64) -> u64 {
        if self.nodes() == 1 {
            return end;
        }
        end.min(at.saturating_add(self.own_room(operation).max(MOST_RUN)))
    }
}
