//! The multi-generational lists: generations instead of an inactive and an active list, tiers by the number of reads.
//!
//! Source: `mm/vmscan.c`, `mm/workingset.c`, `include/linux/mm_inline.h` (all that is called `lru_gen`), Linux 6.12 and
//! 6.16; what Linux 6.14 changed ("mm/mglru: rework workingset protection", "rework refault detection", "rework aging
//! feedback") is [`LruGen::reworked`]. The generations of a lruvec are numbered from `min_seq` to `max_seq`, two at least
//! and four at most. A read moves no page, it only counts. Reclaim takes the tail of the oldest generation: pages of
//! tiers that have come back more often than those read once move to the next generation, so do dirty ones, the others
//! leave. Without pages that come back the first to come is the first to go.
//!
//! Left out: all that is found in page tables, so that only ageing for lack of old pages remains; anonymous pages, which
//! without swap have no part in it; the order in which memory control groups are visited; `CONFIG_LRU_GEN_STATS`.

mod refs;
mod shrink;
mod tiers;

use tiers::Tiers;

use super::shadows::Shadow;
use super::slab::State;
use super::{Inserted, Lists, LruvecId};
use crate::policy::FileId;
use crate::policy::kernel::version::LruGen;

/// `include/linux/mmzone.h`: the two youngest generations are never evicted, and count as active.
const MIN_NR_GENS: u64 = 2;
/// `include/linux/mmzone.h`: there is a list for each; generations take turns.
const MAX_NR_GENS: u64 = 4;

/// Which lists count as active before the first ageing.
pub const ACTIVE_AT_FIRST: [bool; MAX_NR_GENS as usize] = [false, false, true, true];

/// The generations of one lruvec, and which of their pages come back.
#[derive(Clone, Copy, Debug)]
pub struct Generations {
    min_seq: u64,
    max_seq: u64,
    tiers: Tiers,
}

impl Default for Generations {
    /// `mm/vmscan.c: lru_gen_init_lruvec`.
    fn default() -> Self {
        Generations { min_seq: 0, max_seq: MIN_NR_GENS + 1, tiers: Tiers::default() }
    }
}

/// The list of a generation.
fn list(seq: u64) -> u8 {
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

    /// Whether there is a generation that may be evicted.
    fn is_evictable(&self) -> bool {
        self.min_seq + MIN_NR_GENS <= self.max_seq
    }

    /// The generation of a page that comes in: `include/linux/mm_inline.h: lru_gen_folio_seq`, `lru_gen_add_folio` before 6.14.
    fn insertion(&self, version: LruGen, workingset: bool) -> u64 {
        if version.reworked {
            let distance = MAX_NR_GENS - 1 - u64::from(workingset);
            self.max_seq.saturating_sub(distance).max(self.min_seq)
        } else if self.min_seq + MIN_NR_GENS >= self.max_seq {
            self.min_seq
        } else {
            self.min_seq + 1
        }
    }

    /// Whether pages that left when `min_seq` was the oldest generation came back soon: `lru_gen_test_recent`.
    fn is_recent(&self, version: LruGen, min_seq: u64) -> bool {
        if version.reworked { self.max_seq.abs_diff(min_seq) < MAX_NR_GENS } else { min_seq == self.min_seq }
    }
}

impl Lists {
    fn generations(&self, lruvec: LruvecId) -> &Generations {
        &self.lruvecs[usize::from(lruvec.0)].generations
    }

    /// The list in which new pages begin, and their state.
    pub fn lru_gen_fresh(&self, version: LruGen, lruvec: LruvecId) -> State {
        State::fresh(lruvec, list(self.generations(lruvec).insertion(version, false)))
    }

    /// A read has copied these bytes: `mm/swap.c: lru_gen_inc_refs` (`folio_inc_refs` before 6.14).
    pub fn lru_gen_inc_refs(&mut self, version: LruGen, file: FileId, start: u64, end: u64) {
        let mut at = start;
        while let Some((slot, extent)) = self.extents.first_in(file, at, end) {
            let (from, state) = (extent.start.max(at), version.accessed(extent.state));
            at = extent.end.min(end);
            if state != extent.state {
                let slot = self.extents.cut(slot, from, at);
                self.extents.set_state(slot, state);
            }
        }
    }

    /// Evicted bytes are read again: `mm/workingset.c: lru_gen_refault`.
    pub fn lru_gen_refault(
        &mut self,
        version: LruGen,
        lruvec: LruvecId,
        file: FileId,
        gone: Shadow,
    ) -> Inserted {
        let (bytes, mut state) = (gone.end - gone.start, State::fresh(lruvec, 0));
        let mut inserted = Inserted::default();
        let generations = &mut self.lruvec(lruvec).generations;
        if gone.lruvec == lruvec {
            inserted.refaulted = bytes;
            if generations.is_recent(version, gone.token.min_seq) {
                let (tier, restored) = version.come_back(gone.token, &mut state);
                generations.tiers.refault(tier, bytes);
                inserted.activated = if version.reworked { 0 } else { bytes };
                inserted.restored = if restored { bytes } else { 0 };
            }
        }
        state.list = list(generations.insertion(version, state.workingset));
        self.extents.insert_newest(file, gone.start, gone.end, state);
        inserted
    }

    /// What becomes of pages that could not be dropped, and whether they go to the head of a list.
    ///
    /// `mm/swap.c: lru_deactivate_file`, `lru_gen_clear_refs` since 6.14.
    pub fn lru_gen_deactivated(&self, version: LruGen, state: State) -> (State, bool) {
        let generations = self.generations(state.lruvec);
        let cleared = version.deactivated(state);
        if version.reworked && state.list == generations.oldest() {
            return (cleared, false);
        }
        // Dirty pages that reclaim has met before have longer to be written.
        let seq = match state.reclaim {
            true => generations.max_seq - 1,
            false => generations.insertion(version, cleared.workingset),
        };
        (State { list: list(seq), reclaim: true, ..cleared }, true)
    }
}
