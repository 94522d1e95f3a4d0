//! Estimates the write bandwidth of a device.
//!
//! Source: `mm/page-writeback.c: wb_update_write_bandwidth`, Linux 6.16. The caller decides when: at least 200 ms after the last update, in
//! a throttled task, after a submission of a file's pages, or 200 ms after the last ones were written.

use super::constants::INIT_BANDWIDTH;
use crate::policy::kernel::tick::Hz;

/// The estimate and the smoothed one that the control uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// Over the last 4 or 5 seconds, in pages per second.
    pub write: u64,
    /// The smoothed estimate: it moves only while `write` no longer moves away from it.
    pub average: u64,
}

impl Default for Bandwidth {
    fn default() -> Self {
        Self::with(INIT_BANDWIDTH)
    }
}

impl Bandwidth {
    /// The estimates learnt before.
    pub fn with(pages_per_second: u64) -> Self {
        Self { write: pages_per_second, average: pages_per_second.max(1) }
    }

    /// Updates the estimates with the pages written in so many jiffies.
    pub fn update(&mut self, hz: Hz, elapsed: u64, written: u64) {
        // A power of two, so that the kernel can shift: 4.096 s with HZ 250 or 1000, 5.12 s with HZ 100.
        let period = (3 * hz.0).next_power_of_two();
        if elapsed > period {
            *self = Self::with(hz.rate(written, elapsed));
            return;
        }
        let old = self.write;
        self.write = (written * hz.0 + old * (period - elapsed)) / period;
        if self.average > old && old >= self.write {
            self.average -= (self.average - old) / 8;
        } else if self.average < old && old <= self.write {
            self.average += (old - self.average) / 8;
        }
        self.average = self.average.max(1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HZ: Hz = Hz(250);

    #[test]
    fn what_was_written_counts_for_its_part_of_four_seconds() {
        let mut bandwidth = Bandwidth::default();
        assert_eq!(bandwidth, Bandwidth { write: 25_600, average: 25_600 });
        bandwidth.update(HZ, 64, 0);
        assert_eq!(bandwidth.write, 25_600 * 15 / 16);
        // Exactly the period: the old estimate counts no more, but the average only moves by an eighth of 25,600 - 24,000.
        bandwidth.update(HZ, 1024, 4096);
        assert_eq!(bandwidth, Bandwidth { write: 1000, average: 25_400 });
    }

    #[test]
    fn the_average_moves_only_with_the_trend() {
        let moved = |average, write, written| {
            let mut bandwidth = Bandwidth { write, average };
            bandwidth.update(HZ, 50, written);
            bandwidth.average
        };
        assert_eq!(moved(1000, 800, 0), 1000 - 25, "below and falling: follows");
        assert_eq!(moved(1000, 800, 900), 1000, "below and rising: waits");
        assert_eq!(moved(1000, 1200, 900), 1000 + 25, "above and rising: follows");
        assert_eq!(moved(1000, 1200, 0), 1000, "above and falling: waits");
        assert_eq!(moved(1000, 1000, 0), 1000, "at the estimate: waits");
    }

    #[test]
    fn after_a_longer_pause_the_past_is_forgotten() {
        let mut bandwidth = Bandwidth { write: 5, average: 9000 };
        bandwidth.update(HZ, 1025, 4100);
        assert_eq!(bandwidth, Bandwidth { write: 1000, average: 1000 });
        bandwidth.update(HZ, 2000, 0);
        assert_eq!(bandwidth, Bandwidth { write: 0, average: 1 });
    }

    #[test]
    fn it_converges_within_ten_to_fifteen_seconds() {
        let mut bandwidth = Bandwidth::default();
        let mut steps = 0;
        while bandwidth.average < 51_200 * 95 / 100 {
            bandwidth.update(HZ, 50, 10_240);
            steps += 1;
        }
        assert!((50..=75).contains(&steps), "{steps} times 200 ms");
    }

    /// Consecutive updates of a throttled write: elapsed jiffies, pages written, the estimate after it as printed by
    /// the tracepoint, and the average before it as it follows from the rates printed (it is not printed itself).
    type Row = (u64, u64, u64, u64);

    fn check(start: u64, rows: &[Row]) {
        let mut bandwidth = Bandwidth { write: start, average: rows[0].3 };
        for &(elapsed, written, write, average) in rows {
            assert!(bandwidth.average.abs_diff(average) <= 1, "{bandwidth:?} {average}");
            bandwidth.update(HZ, elapsed, written);
            // Counters read a moment apart differ by a page or two.
            assert!(bandwidth.write.abs_diff(write) <= 1, "{bandwidth:?} {write}");
            bandwidth.write = write;
        }
    }

    /// Own recording, Linux 6.12, disk of 100 MiB/s.
    #[test]
    fn it_moves_as_linux_6_12_did() {
        check(
            19_124,
            &[
                (54, 7168, 19_865, 23_009),
                (52, 5118, 20_106, 23_009),
                (52, 4098, 20_084, 23_009),
                (52, 6144, 20_564, 22_647),
                (52, 4096, 20_519, 22_647),
            ],
        );
        check(20_925, &[(55, 4096, 20_801, 19_718), (53, 6144, 21_224, 19_718), (51, 4096, 21_166, 19_853)]);
    }

    /// Own recording, Linux 6.18, disk of 200 MiB/s.
    #[test]
    fn it_moves_as_linux_6_18_did() {
        check(56_249, &[(52, 10_240, 55_892, 60_492), (51, 10_240, 55_608, 59_962)]);
        check(59_348, &[(51, 10_240, 58_892, 55_325), (55, 15_360, 59_478, 55_325)]);
    }

    proptest! {
        #[test]
        fn the_estimate_lies_between_the_old_and_the_new_rate(
            write in 0u64..1 << 24, average in 1u64..1 << 24, elapsed in 50u64..2000, written in 0u64..1 << 24,
        ) {
            let mut bandwidth = Bandwidth { write, average };
            bandwidth.update(HZ, elapsed, written);
            let rate = HZ.rate(written, elapsed);
            prop_assert!(bandwidth.write + 1 >= write.min(rate) && bandwidth.write <= write.max(rate + 1));
            prop_assert!(bandwidth.average >= 1);
            if elapsed <= 1024 {
                prop_assert!(bandwidth.average >= average.min(write).max(1));
                prop_assert!(bandwidth.average <= average.max(write));
            }
        }
    }
}
