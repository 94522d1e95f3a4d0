//! Computes a device's part of the thresholds, in proportion to the pages that it has lately written.
//!
//! Source: `mm/page-writeback.c: __wb_calc_thresh, wb_dirty_limits`, Linux 6.16. Left out: Linux 6.13 alone raised the part of a device
//! with a strict limit to at most a quarter of its maximum.

use super::fractions::Fraction;
use super::thresholds::Thresholds;
use crate::policy::kernel::tick::mul_div;

/// The whole, in the units of the ratios: percent times `BDI_RATIO_SCALE`.
pub const WHOLE: u64 = 1_000_000;

/// The settings of a device for its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceShare {
    /// The least part, in millionths (`bdi/min_ratio`).
    pub min_ratio: u64,
    /// The largest part, in millionths (`bdi/max_ratio`).
    pub max_ratio: u64,
    /// The sum of the least parts of all devices, in millionths.
    pub sum_of_min_ratios: u64,
    /// True if its part is a limit of its own (`bdi/strict_limit`; FUSE).
    pub strict_limit: bool,
    /// Before Linux 6.14 only the position ratio had a floor, not the part itself; see `Position::floor_in_ratio`.
    pub floor_in_ratio: bool,
}

impl Default for DeviceShare {
    fn default() -> Self {
        Self {
            min_ratio: 0,
            max_ratio: WHOLE,
            sum_of_min_ratios: 0,
            strict_limit: false,
            floor_in_ratio: false,
        }
    }
}

impl DeviceShare {
    /// Returns the device's part of a threshold when so many pages of all devices are dirty.
    pub fn part(&self, fraction: Fraction, threshold: u64, dirty: u64) -> u64 {
        let shared = mul_div(threshold, WHOLE - self.sum_of_min_ratios, WHOLE);
        let part = mul_div(shared, fraction.numerator, fraction.denominator)
            + mul_div(threshold, self.min_ratio, WHOLE);
        part.max(self.floor(threshold, dirty)).min(mul_div(threshold, self.max_ratio, WHOLE))
    }

    /// Returns its part of both thresholds.
    pub fn thresholds(&self, fraction: Fraction, of: &Thresholds, dirty: u64) -> Thresholds {
        let limit = self.part(fraction, of.limit, dirty);
        let background = if of.limit == 0 { 0 } else { mul_div(limit, of.background, of.limit) };
        Thresholds { limit, background }
    }

    /// Returns a part of the free room: an idle device could not start without it.
    fn floor(&self, threshold: u64, dirty: u64) -> u64 {
        let free = threshold.saturating_sub(dirty);
        match (self.floor_in_ratio, self.strict_limit) {
            (true, _) => 0,
            (false, true) => free / 100,
            (false, false) => free / 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HALF: Fraction = Fraction { numerator: 50, denominator: 100 };
    const ALL: Fraction = Fraction { numerator: 7, denominator: 7 };
    const NONE: Fraction = Fraction { numerator: 0, denominator: 7 };

    #[test]
    fn a_part_is_what_the_device_completed() {
        let share = DeviceShare::default();
        assert_eq!(share.part(HALF, 1001, 1001), 500);
        let of = Thresholds { limit: 1001, background: 400 };
        assert_eq!(share.thresholds(HALF, &of, 900), Thresholds { limit: 500, background: 199 });
        let nothing = Thresholds { limit: 0, background: 0 };
        assert_eq!(share.thresholds(HALF, &nothing, 0), nothing);
    }

    #[test]
    fn an_idle_device_gets_an_eighth_of_what_is_free() {
        let share = DeviceShare::default();
        assert_eq!(share.part(NONE, 1000, 200), 100);
        assert_eq!(share.part(NONE, 1000, 1200), 0);
        assert_eq!(DeviceShare { strict_limit: true, ..share }.part(NONE, 1000, 200), 8);
        assert_eq!(DeviceShare { floor_in_ratio: true, ..share }.part(NONE, 1000, 200), 0);
    }

    #[test]
    fn least_parts_are_set_aside() {
        let share = DeviceShare { min_ratio: 50_000, sum_of_min_ratios: 200_000, ..DeviceShare::default() };
        assert_eq!(share.part(HALF, 1000, 1000), 400 + 50);
        assert_eq!(share.part(NONE, 1000, 1000), 50);
    }

    /// FUSE has `max_ratio` 1 %. Limit and part in KiB as printed in `/sys/kernel/debug/bdi/*/stats`: linux-fsdevel,
    /// 2025-01-21, message CAJnrk1Z21NU0GCjj+GzsudyT1LAKx3TNqHt2oO22u1MZAZ4Lug@mail.gmail.com.
    #[test]
    fn a_part_is_at_most_the_maximum() {
        let fuse = DeviceShare { max_ratio: 10_000, strict_limit: true, ..DeviceShare::default() };
        for (limit_kib, part_kib) in [(359_824, 3596), (361_300, 3612), (359_132, 3588), (359_144, 3588)] {
            assert_eq!(fuse.part(ALL, limit_kib / 4, 0), part_kib / 4);
            assert_eq!(fuse.part(NONE, limit_kib / 4, 0), part_kib / 4, "the floor is cut too");
        }
    }

    proptest! {
        #[test]
        fn parts_are_within_the_bounds(
            numerator in 0u64..1 << 40, more in 1u64..1 << 40, threshold in 0u64..1 << 32, dirty in 0u64..1 << 32,
            min_ratio in 0u64..500_000, max_ratio in 500_000u64..=1_000_000,
        ) {
            let share = DeviceShare { min_ratio, max_ratio, sum_of_min_ratios: min_ratio, ..DeviceShare::default() };
            let fraction = Fraction { numerator, denominator: numerator + more };
            let part = share.part(fraction, threshold, dirty);
            prop_assert!(part >= threshold * min_ratio / WHOLE);
            prop_assert!(part <= threshold * max_ratio / WHOLE);
            prop_assert!(part >= (threshold.saturating_sub(dirty) / 8).min(threshold * max_ratio / WHOLE));
        }
    }
}
