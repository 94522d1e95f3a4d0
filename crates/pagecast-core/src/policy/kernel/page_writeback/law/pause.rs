//! Decides how long a task that has made pages dirty sleeps, and how many more it may make before the next check.
//!
//! Source: `mm/page-writeback.c: wb_max_pause, wb_min_pause, dirty_poll_interval, balance_dirty_pages`, Linux 6.16. Times are jiffies. Left
//! out: a task that gives up because of a signal, or because the device has next to no dirty pages.

use crate::policy::kernel::tick::{Hz, mul_div};

/// The pages of a new task until its first check; polls are not shorter for long (`DIRTY_POLL_THRESH`, 128 KiB).
pub const FIRST_POLL: u64 = 32;

/// Returns the pages until the next check of a task that was not throttled: about the root of the free room.
pub fn poll_interval(dirty: u64, limit: u64) -> u64 {
    match limit.checked_sub(dirty) {
        None | Some(0) => 1,
        Some(free) => 1 << (free.ilog2() / 2),
    }
}

/// The state at a check of a task above free run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// Ticks per second.
    pub hz: Hz,
    /// The base rate of the device, in pages per second.
    pub base_rate: u64,
    /// The base rate times the position ratio.
    pub task_rate: u64,
    /// The write bandwidth of the device.
    pub average_bandwidth: u64,
    /// Dirty pages of the device.
    pub device_dirty: u64,
}

impl Throttle {
    /// Returns the longest pause, 200 ms at most. A device with few dirty pages would run out of them in a longer one.
    fn longest(&self) -> u64 {
        let hz = self.hz.0;
        let eighth = (1 + hz / 8).next_power_of_two();
        (self.device_dirty / (1 + self.average_bandwidth / eighth) + 1).min((hz / 5).max(1))
    }

    /// Returns the target pause: 10 ms for one task, and 10 ms more each time the tasks double.
    fn target(&self) -> u64 {
        let hz = self.hz.0;
        let doublings = self.average_bandwidth.max(1).ilog2().saturating_sub(self.base_rate.max(1).ilog2());
        (hz / 100).max(1) + u64::from(doublings) * 10 * hz / 1024
    }

    /// Returns the pages at this rate in so many jiffies, to the kernel's precision.
    fn pages(&self, rate: u64, jiffies: u64) -> u64 {
        mul_div(rate, jiffies, self.hz.0.next_power_of_two())
    }

    /// Returns the rate, in pages per second, of a task that writes as fast as it may and is checked after each folio of so many
    /// pages.
    ///
    /// A pause is a whole number of jiffies, rounded down, so with few of them in a second a task gets up to twice its rate. Each
    /// sleep adds to the pause still owed beyond the longest; the excess is forgotten in the end.
    pub fn rate(&self, folio: u64) -> f64 {
        if self.task_rate == 0 {
            return 0.0;
        }
        let (pages, jiffies) = self.stretch(folio);
        (pages * self.hz.0) as f64 / jiffies as f64
    }

    /// Returns the pages that such a task makes dirty between two pauses, and the time for them with the pause, in jiffies.
    pub fn stretch(&self, folio: u64) -> (u64, u64) {
        let pause = self.pause();
        let mut dirtied = pause.poll.max(1).next_multiple_of(folio);
        while pause.period(dirtied) == 0 {
            dirtied = Pause::longer_poll(dirtied, dirtied);
        }
        (dirtied, pause.period(dirtied).min(pause.longest.max(1)))
    }

    /// Returns the pauses that follow from it.
    pub fn pause(&self) -> Pause {
        let longest = self.longest();
        let mut target = self.target().min(1 + longest / 2);
        let mut poll = self.pages(self.base_rate, target);
        if poll < FIRST_POLL {
            target = longest;
            poll = self.pages(self.base_rate, target);
            if poll > FIRST_POLL {
                poll = FIRST_POLL;
                target = self.hz.0 * FIRST_POLL / self.base_rate;
            }
        }
        if self.hz.0 * poll / (self.task_rate + 1) > longest {
            target = longest;
            poll = self.pages(self.task_rate, target);
        }
        let shortest = if poll >= FIRST_POLL { 1 + target / 2 } else { target };
        Pause { hz: self.hz, task_rate: self.task_rate, longest, shortest, poll }
    }
}

/// The pauses of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    hz: Hz,
    task_rate: u64,
    /// In jiffies.
    pub longest: u64,
    /// A shorter pause is not worth it, and is added to later ones.
    pub shortest: u64,
    /// After a pause the task is checked again when it has made so many pages dirty.
    pub poll: u64,
}

/// The decision at a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It goes on. The pages are counted: its last pause ended so much later.
    Owe {
        /// In jiffies.
        period: u64,
    },
    /// It goes on, and the pages are counted with those to come; see [`Pause::longer_poll`].
    Gather,
    /// It goes on with a new period: it has been away for more than a second.
    Forget,
    /// It sleeps, and is checked again after [`Pause::poll`] pages. Blocked tasks are checked again when they wake.
    Sleep {
        /// In jiffies.
        pause: u64,
        /// The end of the pause counts as so much later than it is.
        excess: u64,
    },
}

impl Pause {
    /// True at the hard limit: nobody goes on.
    pub fn is_blocked(&self) -> bool {
        self.task_rate == 0
    }

    /// Returns the time that the task should take for the pages, in jiffies.
    pub fn period(&self, dirtied: u64) -> u64 {
        match self.task_rate {
            0 => self.longest,
            rate => mul_div(dirtied, self.hz.0, rate),
        }
    }

    /// Decides for a task that has made so many pages dirty. `think` is the time since its last pause ended: 0 if it never paused,
    /// negative if that end was set later than now.
    pub fn decide(&self, dirtied: u64, think: i64) -> Decision {
        if self.task_rate == 0 {
            return Decision::Sleep { pause: self.longest, excess: 0 };
        }
        let period = self.period(dirtied);
        let pause = i128::from(period) - i128::from(think);
        if pause < -i128::from(self.hz.0) {
            return Decision::Forget;
        }
        match u64::try_from(pause) {
            Ok(pause) if pause >= self.shortest => Decision::Sleep {
                pause: pause.min(self.longest),
                excess: pause.saturating_sub(self.longest).min(self.longest),
            },
            _ if period > 0 => Decision::Owe { period },
            _ => Decision::Gather,
        }
    }

    /// Returns the next poll of a task that gathers, after `poll`.
    pub fn longer_poll(poll: u64, dirtied: u64) -> u64 {
        if poll <= dirtied { poll + dirtied } else { poll }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One task on a disk of 60 MiB/s with much dirty memory.
    const TYPICAL: Throttle = Throttle {
        hz: Hz(1000),
        base_rate: 15_666,
        task_rate: 14_640,
        average_bandwidth: 15_800,
        device_dirty: 86_632,
    };

    #[test]
    fn a_free_task_is_checked_after_the_root_of_what_is_free() {
        assert_eq!(poll_interval(0, 1 << 20), 1 << 10);
        assert_eq!(poll_interval(1, 1 << 20), 1 << 9);
        assert_eq!(poll_interval(700_000, 765_536), 256);
        assert_eq!((poll_interval(5, 5), poll_interval(6, 5), poll_interval(4, 5)), (1, 1, 1));
    }

    /// Base rate, task rate (pages/s), device's dirty pages; pages dirtied, think time (ms); period, pause printed, poll.
    /// linux-mm, 2012-01-28, message AAFC850A73EC0C40804D40FD09800642101AEA51@SHSMSX102.ccr.corp.intel.com: Linux 3.3-rc1.
    type Row = (u64, u64, u64, u64, i64, u64, i64);
    const PRINTED: [Row; 10] = [
        (15_852, 15_898, 81_032, 32, 0, 2, 0),
        (15_852, 15_882, 81_088, 32, 4_294_824_917, 2, -4_294_824_915),
        (15_852, 15_867, 81_200, 32, -2, 2, 0),
        (15_852, 15_852, 81_312, 32, -5, 2, 7),
        (15_850, 15_927, 81_368, 32, -4, 2, 6),
        (15_768, 15_336, 83_944, 1, 0, 0, 0),
        (15_676, 14_359, 87_584, 153, 3, 10, 7),
        (15_676, 14_206, 88_424, 153, 1, 10, 9),
        (15_666, 14_640, 86_632, 152, 2, 10, 8),
        (15_666, 14_595, 86_912, 152, 1, 10, 9),
    ];

    #[test]
    fn it_pauses_as_linux_3_3_did() {
        for (base_rate, task_rate, device_dirty, dirtied, think, period, printed) in PRINTED {
            let pause = Throttle { base_rate, task_rate, device_dirty, ..TYPICAL }.pause();
            assert_eq!(pause.shortest, 6);
            assert_eq!(pause.poll, base_rate * 10 / 1024);
            assert_eq!(pause.period(dirtied), period);
            let expected = match (printed, period) {
                (6.., _) => Decision::Sleep { pause: printed.unsigned_abs(), excess: 0 },
                (..=-1000, _) => Decision::Forget,
                (_, 0) => Decision::Gather,
                _ => Decision::Owe { period },
            };
            assert_eq!(pause.decide(dirtied, think), expected);
        }
    }

    /// As above, with the device's bandwidth before its dirty pages, in ticks of 4 ms, and the poll after a pause as
    /// the next event printed it. Own recordings.
    type Live = ([i64; 8], Option<u64>);

    fn check(rows: &[Live]) {
        for &(row, poll) in rows {
            let [base_rate, task_rate, average_bandwidth, device_dirty, dirtied, _, period, _] =
                row.map(|value| value.unsigned_abs());
            let throttle = Throttle { hz: Hz(250), base_rate, task_rate, average_bandwidth, device_dirty };
            let pause = throttle.pause();
            assert_eq!(pause.period(dirtied), period);
            let expected = match row[7] {
                slept @ 1.. => Decision::Sleep { pause: slept.unsigned_abs(), excess: 0 },
                _ => Decision::Owe { period },
            };
            assert_eq!(pause.decide(dirtied, row[5]), expected, "{row:?}");
            assert!(poll.is_none_or(|poll| poll == pause.poll), "{row:?} {}", pause.poll);
        }
    }

    #[test]
    fn it_pauses_as_linux_6_12_did() {
        check(&[
            ([25_600, 49_925, 23_009, 66_623, 256, -1, 1, 2], Some(200)),
            ([13_936, 19_570, 19_976, 68_800, 217, -1, 2, 3], Some(217)),
            ([14_208, 23_698, 20_004, 67_209, 222, -1, 2, 3], Some(222)),
            ([14_905, 24_133, 19_852, 67_198, 232, -1, 2, 3], Some(232)),
            ([25_600, 53_100, 23_009, 66_106, 256, 1, 1, 0], None),
            ([14_905, 23_536, 19_852, 67_431, 232, 1, 2, 0], None),
        ]);
    }

    #[test]
    fn it_pauses_as_linux_6_18_did() {
        check(&[
            ([37_055, 54_098, 44_714, 80_384, 512, 0, 2, 2], Some(289)),
            ([24_630, 37_859, 61_019, 79_360, 512, 0, 3, 3], Some(384)),
            ([26_500, 40_914, 55_325, 78_080, 512, -1, 3, 4], Some(414)),
            ([31_730, 36_130, 55_770, 82_176, 512, -1, 3, 4], Some(495)),
            ([37_055, 74_833, 44_714, 76_544, 512, 2, 1, -1], None),
            ([31_730, 43_876, 55_770, 79_104, 512, 1, 2, 0], None),
        ]);
    }

    #[test]
    fn more_tasks_sleep_longer() {
        // 2^3 tasks: 10 ms + 3 * 10000/1024 = 39 ms, 15800/8 * 39/1024 = 75 pages.
        let pause = Throttle { base_rate: 1975, task_rate: 1975, ..TYPICAL }.pause();
        assert_eq!((pause.shortest, pause.poll), (1 + 39 / 2, 75));
    }

    #[test]
    fn a_short_poll_is_made_as_long_as_a_pause_allows() {
        // 100 pages/s: 10 + 7 * 9 ms are 7 pages; 200 ms are 19.
        let pause = Throttle { base_rate: 100, task_rate: 200, ..TYPICAL }.pause();
        assert_eq!((pause.longest, pause.shortest, pause.poll), (200, 200, 19));
        // 400 pages/s: 200 ms would be 78, so 32 pages, which take 80 ms.
        let pause = Throttle { base_rate: 400, task_rate: 400, average_bandwidth: 400, ..TYPICAL }.pause();
        assert_eq!((pause.shortest, pause.poll), (41, 32));
        // 3277 pages/s: 10 ms are just 32 pages.
        let pause = Throttle { base_rate: 3277, task_rate: 3277, average_bandwidth: 3277, ..TYPICAL }.pause();
        assert_eq!((pause.shortest, pause.poll), (1 + 10 / 2, 32));
        // 164 pages/s: 200 ms are just 32 pages.
        let pause = Throttle { base_rate: 164, task_rate: 164, ..TYPICAL }.pause();
        assert_eq!((pause.shortest, pause.poll), (101, 32));
    }

    #[test]
    fn a_poll_is_cut_if_the_task_rate_would_make_its_pause_too_long() {
        // 152 pages at 500/s would take 303 ms; in 200 ms it is 97.
        let pause = Throttle { task_rate: 500, ..TYPICAL }.pause();
        assert_eq!((pause.longest, pause.shortest, pause.poll), (200, 101, 97));
        // At 759/s it is 152,000 / 760 = 200 ms, which is as long as may be; at 755/s 201, and 755 * 200 / 1024 pages in 200.
        let pause = Throttle { task_rate: 759, ..TYPICAL }.pause();
        assert_eq!((pause.shortest, pause.poll), (6, 152));
        let pause = Throttle { task_rate: 755, ..TYPICAL }.pause();
        assert_eq!((pause.shortest, pause.poll), (101, 147));
    }

    #[test]
    fn few_dirty_pages_allow_short_pauses_only() {
        // 1 + 15800/128 = 124 pages per ms of pause.
        let pause = Throttle { device_dirty: 1240, ..TYPICAL }.pause();
        assert_eq!((pause.longest, pause.shortest), (11, 1 + 6 / 2));
        assert_eq!(pause.poll, 15_666 * 6 / 1024);
        assert_eq!(Throttle { device_dirty: 1239, ..TYPICAL }.pause().longest, 1 + 9);
        assert_eq!(Throttle { average_bandwidth: 1, device_dirty: 7, ..TYPICAL }.pause().longest, 1 + 7);
    }

    #[test]
    fn the_excess_over_the_longest_pause_is_kept() {
        let pause = TYPICAL.pause();
        assert_eq!(pause.decide(14_640 / 4, 0), Decision::Sleep { pause: 200, excess: 50 });
        assert_eq!(pause.decide(14_640, 0), Decision::Sleep { pause: 200, excess: 200 });
    }

    #[test]
    fn a_blocked_task_sleeps_as_long_as_it_may() {
        let pause = Throttle { task_rate: 0, ..TYPICAL }.pause();
        assert_eq!(pause.decide(32, 9000), Decision::Sleep { pause: 200, excess: 0 });
        assert_eq!((pause.period(32), pause.poll), (200, 0));
    }

    #[test]
    fn credit_of_more_than_a_second_is_forgotten() {
        let pause = TYPICAL.pause();
        assert_eq!(pause.decide(152, 1010), Decision::Owe { period: 10 });
        assert_eq!(pause.decide(152, 1011), Decision::Forget);
    }

    #[test]
    fn a_pause_is_slept_from_the_shortest_on() {
        let pause = TYPICAL.pause();
        assert_eq!(pause.decide(152, 4), Decision::Sleep { pause: pause.shortest, excess: 0 });
        assert_eq!(pause.decide(152, 5), Decision::Owe { period: 10 });
    }

    #[test]
    fn a_gathering_task_is_checked_later() {
        assert_eq!(Pause::longer_poll(32, 32), 64);
        assert_eq!(Pause::longer_poll(32, 1), 32);
    }

    proptest! {
        #[test]
        fn pauses_are_within_their_bounds(
            base_rate in 1u64..1 << 24, task_rate in 0u64..1 << 26, average_bandwidth in 1u64..1 << 24,
            device_dirty in 0u64..1 << 32, dirtied in 1u64..100_000, think in -400i64..100_000, hz_index in 0usize..4,
        ) {
            let hz = Hz([100, 250, 300, 1000][hz_index]);
            let pause = Throttle { hz, base_rate, task_rate, average_bandwidth, device_dirty }.pause();
            prop_assert!(pause.longest >= 1 && pause.longest <= hz.0 / 5);
            prop_assert!(pause.shortest <= pause.longest + 1);
            if let Decision::Sleep { pause: jiffies, excess } = pause.decide(dirtied, think) {
                prop_assert!(jiffies <= pause.longest && excess <= pause.longest);
            }
        }
    }
}
