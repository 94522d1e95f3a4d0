//! Keeps the multi-generational lists: generations instead of an inactive and an active list, tiers by the number of reads.
//!
//! Source: `mm/vmscan.c`, `mm/workingset.c`, `include/linux/mm_inline.h` (all `lru_gen` functions), Linux 6.12 and 6.16; the changes of
//! Linux 6.14 ("mm/mglru: rework workingset protection", "rework refault detection", "rework aging feedback") are [`LruGen::reworked`].
//!
//! - The generations of a lruvec are numbered from `min_seq` to `max_seq`, two at least and four at most.
//! - A read moves no page, it only counts.
//! - Reclaim takes the tail of the oldest generation. Dirty pages move to the next generation. So do pages of tiers that have come back
//!   more often than pages read once. The others leave.
//! - Without refaults the first page to come is the first to go.
//!
//! Left out: page table walks, so that only ageing for lack of old pages remains; anonymous pages, which have no part in it without swap;
//! the order in which memory cgroups are visited; `CONFIG_LRU_GEN_STATS`.

mod refs;
mod shrink;
pub mod tiers;

use crate::policy::kernel::version::LruGen;
use crate::policy::kernel::vmscan::generations::tiers::Tiers;

/// `include/linux/mmzone.h`: the two youngest generations are never evicted, and count as active.
const MIN_NR_GENS: u64 = 2;
/// `include/linux/mmzone.h`: there is a list for each; generations take turns.
const MAX_NR_GENS: u64 = 4;

/// The lists that count as active before the first ageing.
pub const ACTIVE_AT_FIRST: [bool; MAX_NR_GENS as usize] = [false, false, true, true];

/// The generations of one lruvec, and the refaults of their tiers.
#[derive(Clone, Copy, Debug)]
pub struct Generations {
    pub min_seq: u64,
    pub max_seq: u64,
    pub tiers: Tiers,
}

impl Default for Generations {
    /// `mm/vmscan.c: lru_gen_init_lruvec`.
    fn default() -> Self {
        Generations { min_seq: 0, max_seq: MIN_NR_GENS + 1, tiers: Tiers::default() }
    }
}

/// The list of a generation.
pub fn list(seq: u64) -> u8 {
    (seq % MAX_NR_GENS) as u8
}

impl Generations {
    /// The list of the oldest generation.
    pub fn oldest(&self) -> u8 {
        list(self.min_seq)
    }

    /// The lists of the generations, the oldest first.
    pub fn lists(&self) -> impl Iterator<Item = u8> + use<> {
        (self.min_seq..=self.max_seq).map(list)
    }

    /// True if there is a generation that may be evicted.
    fn is_evictable(&self) -> bool {
        self.min_seq + MIN_NR_GENS <= self.max_seq
    }

    /// The generation of a page that comes in: `include/linux/mm_inline.h: lru_gen_folio_seq`, `lru_gen_add_folio` before 6.14.
    pub fn insertion(&self, version: LruGen, workingset: bool) -> u64 {
        if version.reworked {
            let distance = MAX_NR_GENS - 1 - u64::from(workingset);
            self.max_seq.saturating_sub(distance).max(self.min_seq)
        } else if self.min_seq + MIN_NR_GENS >= self.max_seq {
            self.min_seq
        } else {
            self.min_seq + 1
        }
    }

    /// True if refaults of pages that left when `min_seq` was the oldest generation are recent: `lru_gen_test_recent`.
    pub fn is_recent(&self, version: LruGen, min_seq: u64) -> bool {
        if version.reworked { self.max_seq.abs_diff(min_seq) < MAX_NR_GENS } else { min_seq == self.min_seq }
    }
}
