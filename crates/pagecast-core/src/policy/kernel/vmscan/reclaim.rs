//! Two lists: which pages leave when memory is wanted.
//!
//! `mm/vmscan.c: shrink_lruvec, shrink_inactive_list, shrink_active_list, inactive_is_low, prepare_scan_control`, Linux
//! 6.16. The inactive list is scanned from its tail: clean pages are freed, others set aside at the head of the
//! active list until they are written. Each pass scans a share of both lists, of the active one only if the inactive
//! is low or evicted pages have come back as active ones; what is scanned there goes to the head of the inactive list.
//!
//! An extent is freed from its low end, where its oldest bytes are. A pass that frees all that it may has scanned the same
//! part of its share of both lists; the kernel alternates between them in batches.
//! Left out: mapped pages, anonymous pages, protection of memory control groups, sleeping until pages are written.

use super::shadows::Token;
use super::slab::{Slot, State};
use super::{ACTIVE, INACTIVE, Lists, LruvecId, TwoLists};
use crate::policy::FileId;
use crate::stop;

pub const PAGE: u64 = 4096;

/// Pages taken off a list at a time: `include/linux/swap.h: SWAP_CLUSTER_MAX`.
pub const BATCH: u64 = 32 * PAGE;

/// The first pass scans this power of two less than the lists: `include/linux/mmzone.h: DEF_PRIORITY`.
const FIRST_PRIORITY: u32 = 12;

/// Whether pages can be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    /// At once.
    Clean,
    /// When they have been written, and nobody writes them yet.
    Dirty,
    /// When their write-back has ended.
    Writeback,
}

/// Knows which pages are dirty.
pub trait Busy {
    /// The state at `at` of a file, and up to where it is the same, `end` at most.
    fn run(&self, file: FileId, at: u64, end: u64) -> (PageState, u64);
}

/// How much a reclaim is to free, in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Demand {
    /// So much and no more.
    Exactly(u64),
    /// What kswapd frees, so much at least: a pass over the lists goes on when that is free, until it has freed all that a balanced
    /// node has free, and the next one scans more only if it has scanned less than that.
    ///
    /// `mm/vmscan.c: balance_pgdat, kswapd_shrink_node`.
    Balance { want: u64, high: u64 },
}

impl Demand {
    pub fn want(self) -> u64 {
        match self {
            Demand::Exactly(want) | Demand::Balance { want, .. } => want,
        }
    }

    /// What will have been freed when a pass ends that begins when so much has been.
    fn until(self, freed: u64) -> u64 {
        match self {
            Demand::Exactly(want) => want,
            Demand::Balance { high, .. } => freed + high,
        }
    }

    /// Whether a pass that has scanned and freed so much is followed by one over a larger share.
    fn raises_priority(self, scanned: u64, freed: u64) -> bool {
        match self {
            Demand::Exactly(_) => true,
            Demand::Balance { high, .. } => scanned < high || freed == 0,
        }
    }
}

/// What a reclaim found, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reclaimed {
    /// Free now.
    pub freed: u64,
    /// Set aside because dirty.
    pub dirty: u64,
    /// Set aside because under write-back.
    pub writeback: u64,
    /// Looked at in the inactive list, or the oldest generation.
    pub scanned: u64,
    /// With two lists: moved from the active to the inactive one.
    pub demoted: u64,
    /// With generations: moved to the next one because pages like these have come back.
    pub protected: u64,
    /// A batch had only dirty pages that nobody writes: all flushers are to be woken.
    pub all_dirty: bool,
}

/// Watches for a batch of only dirty pages among those scanned in a pass.
#[derive(Default)]
pub struct Batches {
    scanned: u64,
    dirty_from: Option<u64>,
    all_dirty: bool,
}

impl Batches {
    pub fn scan(&mut self, state: PageState, bytes: u64) {
        let dirty_from = self.dirty_from.unwrap_or(self.scanned);
        self.dirty_from = (state == PageState::Dirty).then_some(dirty_from);
        self.scanned += bytes;
        self.all_dirty |= self.dirty_batch().is_some_and(|batch| batch + BATCH <= self.scanned);
    }

    /// The last batch may be a short one.
    pub fn finish(self) -> bool {
        self.all_dirty || self.dirty_batch().is_some_and(|batch| batch < self.scanned)
    }

    /// Where the first batch starts that has had only dirty pages so far.
    fn dirty_batch(&self) -> Option<u64> {
        self.dirty_from.map(|from| from.next_multiple_of(BATCH))
    }
}

/// The share of a list that a pass scans: whole pages, at the last priority everything.
pub fn share(bytes: u64, priority: u32) -> u64 {
    if priority == 0 { bytes } else { whole_pages(bytes >> priority) }
}

fn whole_pages(bytes: u64) -> u64 {
    bytes / PAGE * PAGE
}

impl TwoLists {
    /// Whether the active list is too long: longer than the inactive by a factor that is the root of ten times the GiB in both.
    ///
    /// Before 4.7 it should not be longer at all (`inactive_file_is_low_global`).
    pub fn is_inactive_low(self, inactive: u64, active: u64) -> bool {
        let gib = if self.ratio_grows { (inactive + active) >> 30 } else { 0 };
        let ratio = if gib > 0 { (10 * gib).isqrt() } else { 1 };
        inactive * ratio < active
    }
}

impl Lists {
    /// Frees what is demanded, or all that are clean if those are fewer.
    ///
    /// Pages go round, from the tail of the active list to the head of the inactive one and, if they cannot be freed,
    /// from its tail to the active head. So nothing is clean any more when as many as there are were found unclean in turn.
    pub fn shrink_lruvec(
        &mut self,
        version: TwoLists,
        lruvec: LruvecId,
        demand: Demand,
        busy: &impl Busy,
    ) -> Reclaimed {
        let want = demand.want();
        let mut total = Reclaimed::default();
        let mut unclean = 0;
        while total.freed < want && unclean < self.of_lruvec(lruvec) {
            let before = total;
            let mut priority = Some(FIRST_PRIORITY);
            while let Some(share) = priority.filter(|_| total.freed < want) {
                let begun = total;
                self.pass(version, lruvec, share, demand.until(begun.freed), busy, &mut total);
                let (scanned, freed) = (total.scanned - begun.scanned, total.freed - begun.freed);
                if demand.raises_priority(scanned, freed) {
                    priority = share.checked_sub(1);
                }
            }
            unclean = if total.freed > before.freed { 0 } else { unclean + total.scanned - before.scanned };
        }
        self.lruvecs[usize::from(lruvec.0)].refaulted &= want == 0;
        total
    }

    fn pass(
        &mut self,
        version: TwoLists,
        lruvec: LruvecId,
        priority: u32,
        want: u64,
        busy: &impl Busy,
        total: &mut Reclaimed,
    ) {
        let inactive = share(self.inactive(lruvec), priority);
        let active =
            if self.may_deactivate(version, lruvec) { share(self.active(lruvec), priority) } else { 0 };
        let scanned = self.scan_inactive(lruvec, inactive, want, busy, total);
        let demoted = match scanned < inactive {
            true => whole_pages((u128::from(active) * u128::from(scanned) / u128::from(inactive)) as u64),
            false => active,
        };
        self.shrink_active(lruvec, demoted);
        total.demoted += demoted;
    }

    /// Evicted pages that came back show that the active list may be what is used no more.
    fn may_deactivate(&self, version: TwoLists, lruvec: LruvecId) -> bool {
        let refaulted = version.refaults_deactivate && self.lruvecs[usize::from(lruvec.0)].refaulted;
        refaulted || version.is_inactive_low(self.inactive(lruvec), self.active(lruvec))
    }

    /// Scans `share` bytes, or fewer when `want` are free. Returns how many.
    fn scan_inactive(
        &mut self,
        lruvec: LruvecId,
        share: u64,
        want: u64,
        busy: &impl Busy,
        total: &mut Reclaimed,
    ) -> u64 {
        let mut batches = Batches::default();
        while batches.scanned < share && total.freed < want {
            stop::spend(1);
            let Some((slot, extent)) = self.extents.oldest(lruvec, INACTIVE) else { break };
            let (file, start) = (extent.file, extent.start);
            let (state, end) = busy.run(file, start, extent.end.min(start + share - batches.scanned));
            let bytes = match state {
                PageState::Clean => (end - start).min(want - total.freed),
                PageState::Dirty | PageState::Writeback => end - start,
            };
            let slot = self.extents.cut(slot, start, start + bytes);
            match state {
                PageState::Clean => {
                    self.evict(slot, Token { workingset: extent.state.workingset, ..Token::default() })
                }
                // Unlike a page under write-back, one that is dirty is asked for references before.
                PageState::Dirty => self.set_aside(slot, false),
                PageState::Writeback => self.set_aside(slot, extent.state.referenced),
            }
            batches.scan(state, bytes);
            total.add(state, bytes);
        }
        let scanned = batches.scanned;
        total.all_dirty |= batches.finish();
        scanned
    }

    fn set_aside(&mut self, slot: Slot, referenced: bool) {
        let extent = self.extents.take(slot);
        let state = State { referenced, reclaim: true, ..extent.state };
        self.activate(extent.file, extent.start, extent.end, state);
    }

    /// The oldest active bytes become the newest inactive ones; they stay referenced if they were.
    fn shrink_active(&mut self, lruvec: LruvecId, bytes: u64) {
        let mut left = bytes;
        while let Some((slot, extent)) = self.extents.oldest(lruvec, ACTIVE).filter(|_| left > 0) {
            stop::spend(1);
            let end = extent.end.min(extent.start + left);
            let slot = self.extents.cut(slot, extent.start, end);
            self.extents.take(slot);
            let state = State { list: INACTIVE, workingset: true, ..extent.state };
            self.extents.insert_newest(extent.file, extent.start, end, state);
            left -= end - extent.start;
        }
    }

    /// What becomes of pages that could not be dropped.
    pub fn deactivated(state: State) -> State {
        State { list: INACTIVE, referenced: false, reclaim: true, ..state }
    }
}

impl Reclaimed {
    pub fn add(&mut self, state: PageState, bytes: u64) {
        self.scanned += bytes;
        match state {
            PageState::Clean => self.freed += bytes,
            PageState::Dirty => self.dirty += bytes,
            PageState::Writeback => self.writeback += bytes,
        }
    }
}
