//! Inserts pages into generations, counts their reads, and judges their refaults.
//!
//! Source: `mm/workingset.c`, `mm/swap.c`, Linux 6.12 and 6.16; see `generations`.

use crate::policy::FileId;
use crate::policy::kernel::version::LruGen;
use crate::policy::kernel::vmscan::generations::{Generations, list};
use crate::policy::kernel::vmscan::lists::Lists;
use crate::policy::kernel::vmscan::lruvec::{Inserted, LruvecId};
use crate::policy::kernel::vmscan::shadows::Shadow;
use crate::policy::kernel::vmscan::slab::State;

impl Lists {
    pub fn generations(&self, lruvec: LruvecId) -> &Generations {
        &self.lruvecs[usize::from(lruvec.0)].generations
    }

    /// Returns the list in which new pages begin, and their state.
    pub fn lru_gen_fresh(&self, version: LruGen, lruvec: LruvecId) -> State {
        State::fresh(lruvec, list(self.generations(lruvec).insertion(version, false)))
    }

    /// Counts a read of these bytes: `mm/swap.c: lru_gen_inc_refs` (`folio_inc_refs` before 6.14).
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

    /// Inserts evicted bytes that are read again: `mm/workingset.c: lru_gen_refault`.
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

    /// Returns the state of pages that could not be dropped, and whether they go to the head of a list.
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
