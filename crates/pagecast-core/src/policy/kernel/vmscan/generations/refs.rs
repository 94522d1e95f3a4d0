//! Counts the reads of a page, and derives its tier.
//!
//! Source: `include/linux/mm_inline.h: folio_lru_refs, lru_tier_from_refs`, `mm/swap.c: lru_gen_inc_refs`, Linux 6.12 and 6.16. Before 6.14
//! the first read sets `PG_referenced`, the second `PG_workingset`, the next three count in `LRU_REFS_MASK`. Since 6.14 the mask counts
//! before `PG_workingset`, which stays when a page moves to the next generation.

use crate::policy::kernel::version::LruGen;
use crate::policy::kernel::vmscan::shadows::Token;
use crate::policy::kernel::vmscan::slab::State;

/// The largest count in `LRU_REFS_MASK`: it has `MAX_NR_TIERS - 2` bits.
const MOST_REFS: u8 = 3;

/// `order_base_2`: the tier of pages that have been read so often.
fn order_base_2(number: u8) -> usize {
    number.next_power_of_two().trailing_zeros() as usize
}

impl LruGen {
    /// Returns the state of a page after a read.
    pub fn accessed(self, state: State) -> State {
        if !state.referenced {
            let refs = if self.reworked { 0 } else { state.refs };
            return State { referenced: true, refs, ..state };
        }
        let sets_flag = if self.reworked { state.refs == MOST_REFS } else { !state.workingset };
        match sets_flag {
            true => State { workingset: true, ..state },
            false => State { refs: (state.refs + 1).min(MOST_REFS), ..state },
        }
    }

    /// `include/linux/mm_inline.h: folio_lru_refs`. Before 6.14 the first read does not count.
    fn refs(self, state: State) -> u8 {
        match self.reworked {
            true if state.referenced => state.refs + 1,
            true => 0,
            false => state.refs + u8::from(state.workingset),
        }
    }

    /// `include/linux/mm_inline.h: lru_tier_from_refs`.
    fn tier_of(self, refs: u8, workingset: bool) -> usize {
        match (self.reworked, workingset) {
            (true, true) => super::tiers::MAX_NR_TIERS - 1,
            (true, false) => order_base_2(refs),
            (false, _) => order_base_2(refs + 1),
        }
    }

    pub fn tier(self, state: State) -> usize {
        self.tier_of(self.refs(state), state.workingset)
    }

    /// True if a page has been read so often that it is never evicted without a turn in the next generation.
    pub fn is_saturated(self, state: State) -> bool {
        let most = MOST_REFS + 1;
        if self.reworked { state.workingset && self.refs(state) == most } else { self.refs(state) == most }
    }

    /// Returns the state of a page that moves to the next generation: `mm/vmscan.c: folio_inc_gen`.
    pub fn promoted(self, state: State) -> State {
        State { referenced: false, refs: 0, workingset: state.workingset && self.reworked, ..state }
    }

    /// Returns the state of a page that could not be dropped.
    pub fn deactivated(self, state: State) -> State {
        match self.reworked {
            true => State { referenced: false, refs: 0, workingset: false, ..state },
            false => State { referenced: false, ..state },
        }
    }

    /// Returns the state of a page that leaves: `mm/vmscan.c: isolate_folio`.
    fn isolated(self, state: State) -> State {
        match state.referenced {
            true => state,
            false => State { refs: 0, workingset: state.workingset && self.reworked, ..state },
        }
    }

    /// Returns the tier for which an evicted page is counted: `mm/workingset.c: lru_gen_eviction`.
    pub fn leave_tier(self, state: State) -> usize {
        self.tier(self.isolated(state))
    }

    /// Returns that tier, and the token remembered of the page.
    pub fn leave(self, state: State, min_seq: u64) -> (usize, Token) {
        let isolated = self.isolated(state);
        let refs = self.refs(isolated);
        let workingset = if self.reworked { isolated.workingset } else { refs > 0 };
        let token = Token { workingset, refs: refs.saturating_sub(1), min_seq };
        (self.leave_tier(state), token)
    }

    /// Returns the tier for which a refaulted page is counted, and whether it keeps all its reads: then its state says so.
    ///
    /// `mm/workingset.c: lru_gen_refault`.
    pub fn come_back(self, token: Token, state: &mut State) -> (usize, bool) {
        if self.reworked {
            state.workingset = token.workingset;
            // Without `PG_referenced` the next read begins to count anew.
            state.refs = if token.workingset { 0 } else { token.refs };
            return (self.tier_of(token.refs + 1, token.workingset), token.workingset);
        }
        let refs = token.refs + u8::from(token.workingset);
        let restored = refs >= MOST_REFS;
        if restored {
            (state.refs, state.workingset) = (MOST_REFS, true);
        }
        (self.tier_of(refs, token.workingset), restored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::vmscan::lruvec::LruvecId;

    const BEFORE: LruGen = LruGen { reworked: false, wakes_flushers: false };
    const SINCE: LruGen = LruGen { reworked: true, wakes_flushers: true };

    fn read(version: LruGen, times: usize) -> State {
        (0..times).fold(State::fresh(LruvecId(0), 0), |state, _| version.accessed(state))
    }

    fn token(workingset: bool, refs: u8) -> Token {
        Token { workingset, refs, min_seq: 7 }
    }

    #[test]
    fn tiers_grow_with_the_logarithm_of_the_reads() {
        for version in [BEFORE, SINCE] {
            let tiers: Vec<usize> = (0..8).map(|times| version.tier(read(version, times))).collect();
            assert_eq!(tiers, [0, 0, 1, 2, 2, 3, 3, 3]);
            let saturated = (0..8).position(|times| version.is_saturated(read(version, times)));
            assert_eq!(saturated, Some(5), "{version:?}");
        }
    }

    #[test]
    fn evicted_pages_are_remembered_with_their_reads() {
        let left = |version: LruGen, times| version.leave(read(version, times), 7);
        for (times, tier, refs, workingset) in
            [(0, 0, 0, false), (1, 0, 0, false), (2, 1, 0, true), (4, 2, 2, true)]
        {
            assert_eq!(left(BEFORE, times), (tier, token(workingset, refs)));
        }
        for (times, tier, refs, workingset) in
            [(0, 0, 0, false), (1, 0, 0, false), (2, 1, 1, false), (5, 3, 3, true)]
        {
            assert_eq!(left(SINCE, times), (tier, token(workingset, refs)));
        }
    }

    #[test]
    fn without_a_read_since_it_moved_nothing_is_known_of_a_page() {
        let moved = |version: LruGen| version.promoted(read(version, 5));
        assert_eq!(BEFORE.leave(moved(BEFORE), 7), (0, token(false, 0)));
        assert_eq!(
            SINCE.leave(moved(SINCE), 7),
            (3, token(true, 0)),
            "but that it was read often, since 6.14"
        );
        for version in [BEFORE, SINCE] {
            let deactivated = version.deactivated(read(version, 5));
            assert_eq!(version.leave(deactivated, 7), (0, token(false, 0)), "could not be dropped");
        }
    }

    #[test]
    fn refaulted_pages_have_their_tier_and_after_four_reads_all_of_them() {
        let come_back = |version: LruGen, times| {
            let (mut state, (_, token)) =
                (State::fresh(LruvecId(0), 0), version.leave(read(version, times), 7));
            let (tier, restored) = version.come_back(token, &mut state);
            (tier, restored, version.is_saturated(state), state.workingset)
        };
        assert_eq!(come_back(BEFORE, 1), (0, false, false, false));
        assert_eq!(come_back(BEFORE, 2), (1, false, false, false));
        assert_eq!(come_back(BEFORE, 4), (2, true, true, true));
        assert_eq!(come_back(SINCE, 1), (0, false, false, false));
        assert_eq!(come_back(SINCE, 4), (2, false, false, false));
        assert_eq!(come_back(SINCE, 5), (3, true, false, true));
    }

    #[test]
    fn since_6_14_the_first_read_after_coming_back_counts_from_one() {
        let (mut state, (_, token)) = (State::fresh(LruvecId(0), 0), SINCE.leave(read(SINCE, 4), 7));
        SINCE.come_back(token, &mut state);
        assert_eq!((state.refs, SINCE.tier(state), SINCE.tier(SINCE.accessed(state))), (3, 0, 0));
    }
}
