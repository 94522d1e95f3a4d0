//! Sets the base rate of a device: the rate of each writer before the position ratio.
//!
//! Source: `mm/page-writeback.c: wb_update_dirty_ratelimit`, Linux 6.16. The base rate approaches the bandwidth divided by the number of
//! tasks, without counting them. It moves only if that helps the number of dirty pages too: by at most an eighth of the way, and hardly at
//! all near the goal.

use super::constants::{INIT_BANDWIDTH, UNIT_RATIO};
use crate::policy::kernel::tick::mul_div;

/// The base rate, in pages per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseRate {
    /// The rate of one task (`dirty_ratelimit`).
    pub rate: u64,
    /// The balanced rate of the last update (`balanced_dirty_ratelimit`).
    pub balanced: u64,
}

/// The measurements of the last 200 ms or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// The position ratio now, in 1024ths.
    pub ratio: u64,
    /// The write bandwidth of the device, smoothed.
    pub average_bandwidth: u64,
    /// The pages per second that all tasks together made dirty on this device.
    pub dirty_rate: u64,
    /// The dirty pages and their setpoint; those of the device if it has a strict limit: `Position::balance`.
    pub dirty: u64,
    /// See `dirty`.
    pub setpoint: u64,
}

impl Default for BaseRate {
    fn default() -> Self {
        Self::with(INIT_BANDWIDTH)
    }
}

impl BaseRate {
    /// The base rate learnt before.
    pub fn with(rate: u64) -> Self {
        Self { rate, balanced: rate }
    }

    /// Returns the rate of a task at this position ratio (`task_ratelimit`).
    pub fn task_rate(&self, ratio: u64) -> u64 {
        mul_div(self.rate, ratio, UNIT_RATIO)
    }

    /// Takes a step.
    pub fn update(&mut self, sample: &RateSample) {
        // The 1 lets a tiny rate grow.
        let task_rate = self.task_rate(sample.ratio) + 1;
        let balanced =
            mul_div(task_rate, sample.average_bandwidth, sample.dirty_rate | 1).min(sample.average_bandwidth);
        let step = self.step(task_rate, balanced, sample.dirty < sample.setpoint);
        let rate = if self.rate < balanced { self.rate + step } else { self.rate - step };
        *self = Self { rate: rate.max(1), balanced };
    }

    fn step(&self, task_rate: u64, balanced: u64, is_below: bool) -> u64 {
        let error = if is_below {
            self.balanced.min(balanced).min(task_rate).saturating_sub(self.rate)
        } else {
            self.rate.saturating_sub(self.balanced.max(balanced).max(task_rate))
        };
        let shift = self.rate / (2 * error + 1);
        if shift < u64::from(u64::BITS) { (error >> shift).div_ceil(8) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BELOW: (u64, u64) = (900, 1000);
    const ABOVE: (u64, u64) = (1000, 1000);

    /// The next rate of a device that writes 10,000 pages/s.
    fn next(state: BaseRate, ratio: u64, dirty_rate: u64, (dirty, setpoint): (u64, u64)) -> u64 {
        let mut state = state;
        state.update(&RateSample { ratio, average_bandwidth: 10_000, dirty_rate, dirty, setpoint });
        state.rate
    }

    #[test]
    fn it_starts_at_100_mib_per_second() {
        assert_eq!(BaseRate::default(), BaseRate { rate: 25_600, balanced: 25_600 });
        assert_eq!(BaseRate::default().task_rate(1536), 38_400);
    }

    /// Worked out by hand from the formulas.
    #[test]
    fn it_rises_by_an_eighth_of_a_large_error() {
        // task 2001, balanced 2001 * 10000 / 1001 = 10000 (cap), so x = 2001; error 1001; shift 1000/2003 = 0.
        let state = BaseRate { rate: 1000, balanced: 5000 };
        assert_eq!(next(state, 2048, 1000, BELOW), 1000 + 126);
        // The balanced rate before bounds the step too: error 500, shift 1000/1001 = 0, ceil(500/8).
        assert_eq!(next(BaseRate { balanced: 1500, ..state }, 2048, 1000, BELOW), 1000 + 63);
    }

    #[test]
    fn it_falls_by_an_eighth_of_a_large_error() {
        // task 501, balanced 501 * 10000 / 20001 = 250, x = max(400, 250, 501); error 499, shift 1000/999 = 1.
        let state = BaseRate { rate: 1000, balanced: 400 };
        assert_eq!(next(state, 512, 20_000, ABOVE), 1000 - 32);
        // task 101, balanced 50, x = 101; error 899, shift 0.
        let state = BaseRate { rate: 1000, balanced: 10 };
        assert_eq!(next(state, 103, 20_000, ABOVE), 1000 - 113);
    }

    #[test]
    fn it_hardly_moves_near_the_goal() {
        // task 1172, x = 1172: error 172, shift 1000/345 = 2, ceil(43/8).
        let state = BaseRate { rate: 1000, balanced: 9000 };
        assert_eq!(next(state, 1200, 1000, BELOW), 1000 + 6);
        // task 1016, error 16, shift 1000/33 = 30: nothing is left.
        assert_eq!(next(state, 1040, 1000, BELOW), 1000);
    }

    #[test]
    fn it_waits_when_position_and_rate_disagree() {
        let state = BaseRate { rate: 1000, balanced: 500 };
        assert_eq!(next(state, 2048, 1000, BELOW), 1000, "the balanced rate was lower");
        assert_eq!(next(BaseRate { balanced: 2000, ..state }, 512, 20_000, ABOVE), 1000, "and was higher");
        assert_eq!(next(state, 512, 20_000, BELOW), 1000, "there is room, so it need not fall");
        assert_eq!(next(state, 2048, 100, ABOVE), 1000, "there is none, so it must not rise");
    }

    #[test]
    fn it_never_stops() {
        assert_eq!(next(BaseRate::with(1), 0, 50_000, ABOVE), 1);
    }

    /// Consecutive updates: dirty rate, task rate, balanced rate and base rate as printed by the tracepoint (in
    /// pages/s), and whether fewer pages than the setpoint were dirty.
    type Row = (u64, u64, u64, u64, bool);

    fn check(before: (u64, u64), rows: &[Row]) {
        let mut state = BaseRate { rate: before.0, balanced: before.1 };
        for &(dirty_rate, task_rate, balanced, rate, is_below) in rows {
            let sample = RateSample {
                // The smallest ratio and average that give the printed rates.
                ratio: ((task_rate - 1) * UNIT_RATIO).div_ceil(state.rate),
                average_bandwidth: (balanced * (dirty_rate | 1)).div_ceil(task_rate).max(balanced),
                dirty_rate,
                dirty: if is_below { 0 } else { 1 },
                setpoint: 1,
            };
            assert_eq!(state.task_rate(sample.ratio) + 1, task_rate);
            state.update(&sample);
            assert_eq!(state, BaseRate { rate, balanced });
        }
    }

    /// Own recording, Linux 6.12: one task writes, disk of 100 MiB/s.
    #[test]
    fn it_moves_as_linux_6_12_did() {
        check(
            (25_600, 12_392),
            &[
                (50_000, 25_601, 11_780, 25_600, true),
                (45_283, 24_401, 12_398, 25_599, false),
                (25_372, 24_950, 22_625, 25_599, false),
                (30_235, 23_275, 17_712, 25_590, false),
                (24_884, 24_291, 22_459, 25_589, false),
                (28_692, 21_991, 17_634, 25_564, false),
                (24_888, 24_142, 22_318, 25_563, false),
                (26_769, 23_691, 20_363, 25_559, false),
            ],
        );
        check(
            (13_936, 12_700),
            &[
                (23_672, 19_843, 16_744, 13_936, true),
                (26_111, 21_422, 16_388, 14_013, true),
                (25_698, 18_516, 14_392, 14_013, true),
                (26_230, 19_693, 14_997, 14_013, true),
                (24_321, 27_219, 19_976, 14_014, true),
                (26_192, 18_202, 13_881, 14_014, true),
            ],
        );
    }

    /// Own recording, Linux 6.18: one task writes, disk of 200 MiB/s.
    #[test]
    fn it_moves_as_linux_6_18_did() {
        check(
            (21_682, 25_827),
            &[
                (57_491, 44_084, 47_622, 21_812, true),
                (53_132, 44_349, 51_378, 24_630, true),
                (46_545, 50_078, 61_019, 27_811, true),
                (64_000, 41_744, 39_455, 28_539, true),
                (52_705, 41_081, 46_737, 29_222, true),
                (38_641, 50_854, 59_454, 31_412, true),
            ],
        );
        check(
            (26_500, 35_025),
            &[
                (48_872, 51_965, 55_325, 27_033, true),
                (55_215, 43_375, 43_810, 29_076, true),
                (41_411, 55_398, 55_770, 30_918, true),
                (66_509, 43_207, 36_230, 31_084, true),
                (50_196, 43_378, 48_193, 31_165, true),
            ],
        );
    }

    proptest! {
        #[test]
        fn a_step_is_at_most_an_eighth_and_to_the_right_side(
            rate in 1u64..1 << 24, balanced in 0u64..1 << 24, ratio in 0u64..4096, average_bandwidth in 1u64..1 << 24,
            dirty_rate in 0u64..1 << 24, dirty in 0u64..100, setpoint in 0u64..100,
        ) {
            let before = BaseRate { rate, balanced };
            let mut after = before;
            after.update(&RateSample { ratio, average_bandwidth, dirty_rate, dirty, setpoint });
            prop_assert!(after.rate >= 1 && after.balanced <= average_bandwidth);
            if dirty < setpoint {
                prop_assert!(after.rate >= rate);
                prop_assert!(after.rate <= rate + before.task_rate(ratio) / 8 + 1);
            } else {
                prop_assert!(after.rate <= rate && after.rate >= rate - rate / 8 - 1);
            }
        }
    }
}
