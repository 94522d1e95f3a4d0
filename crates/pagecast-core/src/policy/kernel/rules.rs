//! What differs between versions of Linux, as data.

use super::law::Rounding;
use super::lists::LruGen;

/// The rules of one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// How `vm.dirty_ratio` becomes a number of pages.
    pub rounding: Rounding,
    /// The first pages of an idle device are let pass by its share of the limit (since 6.14), not only by the position ratio.
    pub share_has_floor: bool,
    /// Periodic work leaves an inode after one visit if it is not old enough itself (since 6.10).
    pub requeue_has_cutoff: bool,
    /// Dirty pages at the end of the inactive list wake all flushers (since 4.11).
    pub dirty_tail_wakes_flushers: bool,
    /// The multi-generational lists, where they are used: reworked in 6.14; that dirty pages at their end wake all flushers came
    /// with 6.13 and to 6.12 (6.12.104).
    pub lru_gen: LruGen,
}

impl Rules {
    pub(super) fn of(version: (u32, u32)) -> Self {
        let rounding = if version < (4, 7) { Rounding::Plain } else { Rounding::FourThousandNinetySixths };
        Self {
            rounding,
            share_has_floor: version >= (6, 14),
            requeue_has_cutoff: version >= (6, 10),
            dirty_tail_wakes_flushers: version >= (4, 11),
            lru_gen: LruGen { reworked: version >= (6, 14), wakes_flushers: version >= (6, 12) },
        }
    }
}
