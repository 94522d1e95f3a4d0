//! Follows the threshold up at once and down slowly, as the hard limit.
//!
//! Source: `mm/page-writeback.c: update_dirty_limit, hard_dirty_limit`, Linux 6.16. When memory is allocated the threshold falls at once.
//! Without the hard limit all tasks would wait until as many pages have been written. Left out: the kernel also sets it to the threshold
//! when a CPU or a setting changes.

use super::constants::BANDWIDTH_INTERVAL;
use crate::units::Nanos;

/// The hard limit of a domain; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardLimit {
    follower: u64,
    updated: Nanos,
}

impl HardLimit {
    /// The hard limit after boot: the threshold of then.
    pub fn at(threshold: u64) -> Self {
        Self { follower: threshold, updated: Nanos::ZERO }
    }

    /// `dom->dirty_limit` itself, which rises only when a task is throttled. It is below the threshold if memory has grown since, as
    /// it does while a kernel boots.
    pub fn follower(&self) -> u64 {
        self.follower
    }

    /// Returns the limit in force, with this threshold.
    pub fn value(&self, threshold: u64) -> u64 {
        self.follower.max(threshold)
    }

    /// Updates the limit for a throttled task, with this threshold and so many dirty pages; every 200 ms at most.
    pub fn update(&mut self, now: Nanos, threshold: u64, dirty: u64) {
        if now.0 < self.updated.0 + BANDWIDTH_INTERVAL.0 {
            return;
        }
        self.updated = now;
        if self.follower < threshold {
            self.follower = threshold;
        } else {
            // Never below the dirty pages: the position ratio would be 0 until some are written.
            let target = threshold.max(dirty);
            self.follower -= self.follower.saturating_sub(target) / 32;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STEP: u64 = BANDWIDTH_INTERVAL.0;

    #[test]
    fn it_is_never_below_the_threshold() {
        let mut limit = HardLimit::at(0);
        assert_eq!(limit.value(1000), 1000);
        limit.update(Nanos(STEP), 1000, 0);
        assert_eq!((limit.value(0), limit.value(1500)), (1000, 1500));
    }

    #[test]
    fn the_follower_stays_below_the_threshold_until_a_task_is_throttled() {
        let mut limit = HardLimit::at(10_677);
        assert_eq!((limit.follower(), limit.value(91_391)), (10_677, 91_391));
        limit.update(Nanos(STEP), 91_391, 70_000);
        assert_eq!(limit.follower(), 91_391);
    }

    #[test]
    fn it_jumps_up_and_creeps_down() {
        let mut limit = HardLimit::at(0);
        limit.update(Nanos(STEP), 3200, 0);
        limit.update(Nanos(2 * STEP - 1), 9999, 0);
        assert_eq!(limit.value(0), 3200, "200 ms have not passed");
        limit.update(Nanos(2 * STEP), 0, 0);
        assert_eq!(limit.value(0), 3100);
        limit.update(Nanos(3 * STEP), 0, 3068);
        assert_eq!(limit.value(0), 3099, "dirty pages hold it up");
        limit.update(Nanos(4 * STEP), 3200, 0);
        assert_eq!(limit.value(0), 3200);
    }

    /// Threshold and limit as printed by the tracepoints of one throttled write. Own recording, Linux 6.18.
    #[test]
    fn it_creeps_as_a_kernel_did() {
        let mut limit = HardLimit { follower: 107_370, updated: Nanos::ZERO };
        let printed = [
            (102_056, 107_204),
            (102_056, 107_044),
            (101_981, 106_886),
            (102_393, 106_746),
            (104_527, 106_677),
        ];
        for (step, (threshold, expected)) in (1..).zip(printed) {
            limit.update(Nanos(step * STEP), threshold, 90_000);
            assert_eq!(limit.value(threshold), expected);
        }
    }

    proptest! {
        #[test]
        fn it_lies_between_the_present_and_the_highest_threshold(
            steps in prop::collection::vec((0u64..500_000_000, 0u64..1 << 32, 0u64..1 << 33), 1..40),
        ) {
            let (mut limit, mut now, mut highest) = (HardLimit::at(0), 0, 0);
            for (wait, threshold, dirty) in steps {
                now += wait;
                highest = highest.max(threshold);
                limit.update(Nanos(now), threshold, dirty);
                prop_assert!(limit.value(threshold) >= threshold);
                prop_assert!(limit.value(threshold) <= highest);
            }
        }
    }
}
