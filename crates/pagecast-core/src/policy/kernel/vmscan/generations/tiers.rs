//! Protects tiers whose pages come back more often than pages read once.
//!
//! Source: `mm/vmscan.c: read_ctrl_pos, reset_ctrl_pos, positive_ctrl_err, get_tier_idx`, Linux 6.12 and 6.16.

use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::version::LruGen;

/// `include/linux/mmzone.h`.
pub const MAX_NR_TIERS: usize = 4;

/// `include/linux/mmzone.h: MIN_LRU_BATCH`: so many pages are isolated at a time. Fewer refaults prove nothing.
pub const MIN_LRU_BATCH: u64 = 64 * PAGE;

/// The counts of one tier: refaulted, and evicted or protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tier {
    /// Refaults since the oldest generation became the oldest.
    refaulted: u64,
    total: u64,
    /// The moving averages over earlier generations.
    avg_refaulted: u64,
    avg_total: u64,
}

/// All tiers of a lruvec, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tiers([Tier; MAX_NR_TIERS]);

impl Tiers {
    /// Counts refaults.
    pub fn refault(&mut self, tier: usize, bytes: u64) {
        self.0[tier].refaulted += bytes;
    }

    /// Counts pages that were evicted, or protected.
    pub fn count(&mut self, tier: usize, bytes: u64) {
        self.0[tier].total += bytes;
    }

    /// Carries the counts over when another generation becomes the oldest.
    pub fn carry_over(&mut self) {
        let half = |sum: u64| sum / 2 / PAGE * PAGE;
        for tier in &mut self.0 {
            *tier = Tier {
                avg_refaulted: half(tier.avg_refaulted + tier.refaulted),
                avg_total: half(tier.avg_total + tier.total),
                ..Tier::default()
            };
        }
    }

    /// Returns the highest tier that may be evicted.
    pub fn last_evicted(&self, version: LruGen) -> usize {
        // The gains by which the first and any other tier are compared.
        let (first, other) = if version.reworked { (2, 3) } else { (1, 2) };
        let sum = |tier: &Tier| (tier.refaulted + tier.avg_refaulted, tier.total + tier.avg_total);
        let (refaulted, total) = sum(&self.0[0]);
        let is_cold = |tier: &Tier| {
            let (comes_back, leaves) = sum(tier);
            let theirs = u128::from(comes_back) * u128::from(total + MIN_LRU_BATCH) * first;
            comes_back < MIN_LRU_BATCH || theirs <= u128::from(refaulted + PAGE) * u128::from(leaves) * other
        };
        self.0[1..].iter().take_while(|tier| is_cold(tier)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: LruGen = LruGen { reworked: false, wakes_flushers: false };
    const SINCE: LruGen = LruGen { reworked: true, wakes_flushers: true };

    /// Tiers of which so many pages have left and come back.
    fn tiers(pages: &[(u64, u64)]) -> Tiers {
        let mut tiers = Tiers::default();
        for (tier, &(left, back)) in pages.iter().enumerate() {
            tiers.count(tier, left * PAGE);
            tiers.refault(tier, back * PAGE);
        }
        tiers
    }

    #[test]
    fn nothing_is_protected_until_64_pages_have_come_back() {
        for version in [BEFORE, SINCE] {
            assert_eq!(tiers(&[]).last_evicted(version), 3);
            assert_eq!(tiers(&[(9999, 0), (64, 63)]).last_evicted(version), 3);
            assert_eq!(tiers(&[(9999, 0), (64, 64)]).last_evicted(version), 0);
        }
    }

    #[test]
    fn a_tier_is_protected_if_it_comes_back_half_as_often_again_before_6_14_twice_as_often() {
        // 100 of 936 (+ 64) come back of the first tier, and of another 303 of 2000, so that 303 * 1000 meets 101 * 2000.
        let of = |back| tiers(&[(936, 100), (2000, back)]);
        assert_eq!((of(303).last_evicted(SINCE), of(304).last_evicted(SINCE)), (3, 0));
        assert_eq!((of(404).last_evicted(BEFORE), of(405).last_evicted(BEFORE)), (3, 0));
    }

    #[test]
    fn the_first_tier_that_is_protected_protects_those_above() {
        assert_eq!(tiers(&[(9999, 0), (0, 0), (64, 64), (0, 0)]).last_evicted(SINCE), 1);
    }

    #[test]
    fn with_each_generation_half_is_forgotten() {
        let mut tiers = tiers(&[(9999, 0), (400, 256)]);
        let mut last = Vec::new();
        for _ in 0..4 {
            last.push(tiers.last_evicted(SINCE));
            tiers.carry_over();
        }
        assert_eq!(last, [0, 0, 0, 3], "256, 128, 64, 32 pages have come back");
    }
}
