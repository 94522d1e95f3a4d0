//! Sets the goal of a pass of reclaim, and collects its results.
//!
//! Source: `mm/vmscan.c: struct scan_control`, Linux 6.16.

use crate::policy::kernel::address_space::page_state::PageState;
use crate::policy::kernel::page::PAGE;

/// Pages taken off a list at a time: `include/linux/swap.h: SWAP_CLUSTER_MAX`.
pub const BATCH: u64 = 32 * PAGE;

/// The goal of a reclaim, in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Demand {
    /// So many and no more.
    Exactly(u64),
    /// The goal of kswapd: at least `want`. A pass over the lists goes on until it has freed `high`, the free memory of a balanced
    /// node. The next one scans a larger share only if this one has scanned less than that.
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

    /// Returns how much will have been freed at the end of a pass that begins at `freed`.
    pub fn until(self, freed: u64) -> u64 {
        match self {
            Demand::Exactly(want) => want,
            Demand::Balance { high, .. } => freed + high,
        }
    }

    /// True if a pass that has scanned and freed so much is followed by one over a larger share.
    pub fn raises_priority(self, scanned: u64, freed: u64) -> bool {
        match self {
            Demand::Exactly(_) => true,
            Demand::Balance { high, .. } => scanned < high || freed == 0,
        }
    }
}

/// The results of a reclaim, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reclaimed {
    /// Free now.
    pub freed: u64,
    /// Set aside because they are dirty.
    pub dirty: u64,
    /// Set aside because they are under writeback.
    pub writeback: u64,
    /// Scanned in the inactive list, or the oldest generation.
    pub scanned: u64,
    /// With two lists: moved from the active to the inactive one.
    pub demoted: u64,
    /// With generations: moved to the next one because pages of their tier have come back.
    pub protected: u64,
    /// True if a batch had only dirty pages that nobody writes: all flushers are to be woken.
    pub all_dirty: bool,
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

/// Looks for a batch of only dirty pages among those scanned in a pass.
#[derive(Default)]
pub struct Batches {
    pub scanned: u64,
    pub dirty_from: Option<u64>,
    pub all_dirty: bool,
}

impl Batches {
    pub fn scan(&mut self, state: PageState, bytes: u64) {
        let dirty_from = self.dirty_from.unwrap_or(self.scanned);
        self.dirty_from = (state == PageState::Dirty).then_some(dirty_from);
        self.scanned += bytes;
        self.all_dirty |= self.dirty_batch().is_some_and(|batch| batch + BATCH <= self.scanned);
    }

    /// Ends the last batch, which may be a short one.
    pub fn finish(self) -> bool {
        self.all_dirty || self.dirty_batch().is_some_and(|batch| batch < self.scanned)
    }

    /// Returns the start of the first batch that has had only dirty pages so far.
    fn dirty_batch(&self) -> Option<u64> {
        self.dirty_from.map(|from| from.next_multiple_of(BATCH))
    }
}

/// The share of a list that a pass scans: whole pages, at the last priority everything.
pub fn share(bytes: u64, priority: u32) -> u64 {
    if priority == 0 { bytes } else { whole_pages_of(bytes >> priority) }
}

pub fn whole_pages_of(bytes: u64) -> u64 {
    bytes / PAGE * PAGE
}

/// The first pass scans this power of two less than the lists: `include/linux/mmzone.h: DEF_PRIORITY`.
pub const FIRST_PRIORITY: u32 = 12;
