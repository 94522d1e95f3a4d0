//! Computes when a timer of the kernel fires: never early, and less exactly the farther off it was set.
//!
//! Source: `kernel/time/timer.c: calc_wheel_index, calc_index`, since Linux 4.8, and `apply_slack` before. A timer is put into a level of
//! the wheel by its delay, and fires at the end of a step of that level. Level n has steps of 8^n jiffies. With 250 jiffies per second the
//! 5 s of a flusher are 5.0 to 5.25 s, and 5.12 s from one wake-up to the next. The clock's count at time 0 is not known. It is taken to be
//! the end of a step of every level, so that the first 5 s from there are 5.12 s too. Left out: the end of the wheel, 12 days off with 1000
//! jiffies per second.

use crate::policy::kernel::tick::Hz;
use crate::units::Nanos;

/// `LVL_SIZE - 1`: a timer that is fewer jiffies off is in the first level.
const FIRST_LEVEL: u64 = 63;

/// `LVL_CLK_DIV`: steps of a level in one step of the next.
const NEXT_LEVEL: u64 = 8;

/// The timers of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// `CONFIG_HZ`.
    pub hz: Hz,
    /// True if it has the wheel of levels (since 4.8).
    pub has_wheel: bool,
}

impl Timers {
    /// Returns when a timer fires that is set now for a delay (`mm/backing-dev.c: wb_wakeup_delayed`).
    pub fn fires(self, now: Nanos, delay: Nanos) -> Nanos {
        let delay = self.hz.jiffies_of(delay);
        let expires = self.hz.jiffies(now) + delay;
        self.hz.duration(if self.has_wheel {
            end_of_step(expires, delay)
        } else {
            with_slack(expires, delay)
        })
    }
}

/// `calc_wheel_index`: the jiffy in which a timer fires that is `delay` off.
fn end_of_step(expires: u64, delay: u64) -> u64 {
    let mut step = 1;
    while delay >= FIRST_LEVEL * step {
        step *= NEXT_LEVEL;
    }
    (expires / step + 1) * step
}

/// `apply_slack`: the roundest jiffy within a 256th of the delay.
fn with_slack(expires: u64, delay: u64) -> u64 {
    let latest = expires + delay / 256;
    match (expires ^ latest).checked_ilog2() {
        Some(bit) => latest >> bit << bit,
        None => expires,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;
    const FIVE: Nanos = Nanos(5 * SECOND);

    fn wheel(hz: u64) -> Timers {
        Timers { hz: Hz(hz), has_wheel: true }
    }

    /// 5 s are 1250 of 250 jiffies per second, in the level of steps of 64 (504 to 4031), and 19.5 of those.
    #[test]
    fn five_seconds_end_with_a_step() {
        let fires = |at: u64| wheel(250).fires(Nanos(at), FIVE).0;
        assert_eq!(fires(0), 20 * 256_000_000);
        // Jiffy 29 + 1250 is 1279, the last of the step; the next is the first of another one.
        assert_eq!(fires(29 * 4_000_000), 20 * 256_000_000);
        assert_eq!(fires(30 * 4_000_000 - 1), 20 * 256_000_000);
        assert_eq!(fires(30 * 4_000_000), 21 * 256_000_000);
        // From one wake-up to the next.
        assert_eq!(fires(5_120_000_000), 10_240_000_000);
    }

    /// 500 jiffies: steps of 8; 1500: of 64, 213 ms; 5000: of 512.
    #[test]
    fn the_level_goes_by_the_number_of_jiffies() {
        let fires = [100, 300, 1000].map(|hz| wheel(hz).fires(Nanos(0), FIVE).0);
        assert_eq!(fires, [5_040_000_000, 5_120_000_000, 5_120_000_000]);
        // 62 jiffies are in the first level, whose step is one jiffy, 63 in the second.
        assert_eq!([end_of_step(62, 62), end_of_step(63, 63), end_of_step(503, 503)], [63, 64, 504]);
        assert_eq!(
            [end_of_step(504, 504), end_of_step(4031, 4031), end_of_step(4032, 4032)],
            [512, 4032, 4096]
        );
    }

    /// Wake-ups of a guest with Linux 6.12 and 250 jiffies per second, by `global_dirty_state`, own recording: all at 0.155 s after whole
    /// 0.256 s. An inode became dirty at 0.507 s; they came at 5.531 and 10.651 s.
    #[test]
    fn a_flusher_wakes_up_as_on_a_kernel() {
        let first = wheel(250).fires(Nanos(352_000_000), FIVE);
        assert_eq!(first.0, 5_376_000_000);
        let next = wheel(250).fires(first, FIVE);
        assert_eq!(next.0 - first.0, 5_120_000_000);
    }

    /// A 256th of 1250 jiffies are 4: 1252 is the roundest of 1250 to 1254, and of 1251 to 1255; 1280 that of 1277 to 1281.
    #[test]
    fn before_4_8_a_timer_fired_at_a_round_jiffy_not_much_later() {
        let fires = |at: u64| Timers { hz: Hz(250), has_wheel: false }.fires(Nanos(at * 4_000_000), FIVE).0;
        assert_eq!([0, 1, 27].map(|at| fires(at) / 4_000_000), [1252, 1252, 1280]);
        assert_eq!(with_slack(300, 255), 300, "less than 256 jiffies have no slack");
        assert_eq!(with_slack(1000, 512), 1002);
    }

    proptest! {
        #[test]
        fn nothing_fires_early_nor_later_than_an_eighth_and_a_jiffy(
            now in 0u64..1 << 50, delay in 0u64..1 << 45, hz in prop::sample::select(vec![100u64, 250, 300, 1000]),
            has_wheel: bool,
        ) {
            let timers = Timers { hz: Hz(hz), has_wheel };
            let fires = timers.fires(Nanos(now), Nanos(delay)).0;
            let jiffy = SECOND / hz + 1;
            prop_assert!(fires + jiffy > now + delay, "with the jiffy that had begun");
            prop_assert!(fires <= now + delay + delay / 7 + 2 * jiffy);
        }
    }
}
