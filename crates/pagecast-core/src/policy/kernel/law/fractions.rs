//! Which part of the pages lately written each device has written, older ones counting less and less.
//!
//! Source: `lib/flex_proportions.c`; `mm/page-writeback.c: wb_domain_writeout_add, writeout_period`, Linux 6.16. Left out:
//! the errors of per-CPU counters, which leave an idle device a remnant of a few pages; here a system that has been idle
//! long enough has counted nothing.

use crate::units::Nanos;

/// After so long every page counts half (`VM_COMPLETIONS_PERIOD_LEN`).
const PERIOD: u64 = 3_000_000_000;

/// A part in full, in the units in which a device's largest is kept (`FPROP_FRAC_BASE`).
const WHOLE: u64 = 1 << 10;

/// A part of the whole; the denominator is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// At most the denominator.
    pub numerator: u64,
    /// At least 1.
    pub denominator: u64,
}

/// The pages that each device has written.
#[derive(Clone, Debug)]
pub struct Fractions {
    pages: Vec<u64>,
    /// Of all devices, and 1 so that it is never 0.
    all: u64,
    /// When everything is halved next; never while there is nothing to halve.
    next: Option<Nanos>,
}

impl Fractions {
    /// So many devices, none of which has written anything.
    pub fn new(devices: usize) -> Self {
        Self { pages: vec![0; devices], all: 1, next: None }
    }

    /// A device has written so many pages.
    pub fn add_completions(&mut self, now: Nanos, device: usize, pages: u64) {
        self.tick(now);
        self.pages[device] += pages;
        self.all += pages;
        if self.next.is_none() && pages > 0 {
            self.next = Some(Nanos(now.0 + PERIOD));
        }
    }

    /// The same of a device that counts no more than so many millionths of all (`__fprop_add_percpu_max`).
    pub fn add_completions_within(&mut self, now: Nanos, device: usize, pages: u64, max_ratio: u64) {
        let most = WHOLE * max_ratio / super::device_share::WHOLE;
        if most >= WHOLE {
            return self.add_completions(now, device, pages);
        }
        self.tick(now);
        let Fraction { numerator, denominator } = self.fraction(device);
        // Just as many as make it that part.
        let room = (denominator * most).checked_sub(numerator * WHOLE);
        let pages = room.map_or(0, |room| pages.min(room.div_ceil(WHOLE - most)));
        self.add_completions(now, device, pages);
    }

    /// Halves what is due to be halved by now.
    pub fn tick(&mut self, now: Nanos) {
        let Some(due) = self.next.filter(|&due| due <= now) else { return };
        let periods = (now.0 - due.0) / PERIOD + 1;
        let shift = u32::try_from(periods).unwrap_or(u32::MAX);
        self.all = self.all.checked_shr(shift).unwrap_or(0);
        self.pages.iter_mut().for_each(|pages| *pages = pages.checked_shr(shift).unwrap_or(0));
        self.next = Some(Nanos(due.0 + periods * PERIOD));
        if self.all <= 1 {
            *self = Self::new(self.pages.len());
        }
    }

    /// A device's part, as of the last call with a time.
    pub fn fraction(&self, device: usize) -> Fraction {
        let numerator = self.pages[device];
        Fraction { numerator, denominator: self.all.max(numerator) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn value(fractions: &Fractions, device: usize) -> f64 {
        let Fraction { numerator, denominator } = fractions.fraction(device);
        numerator as f64 / denominator as f64
    }

    #[test]
    fn alone_a_device_has_it_all_at_once() {
        let mut fractions = Fractions::new(2);
        assert_eq!(fractions.fraction(0), Fraction { numerator: 0, denominator: 1 });
        fractions.add_completions(Nanos(5), 0, 999);
        assert_eq!(fractions.fraction(0), Fraction { numerator: 999, denominator: 1000 });
        assert_eq!(fractions.fraction(1), Fraction { numerator: 0, denominator: 1000 });
    }

    #[test]
    fn everything_is_halved_three_seconds_after_the_first_page() {
        let mut fractions = Fractions::new(1);
        fractions.add_completions(Nanos(SECOND), 0, 4001);
        fractions.tick(Nanos(4 * SECOND - 1));
        assert_eq!(fractions.fraction(0).numerator, 4001);
        fractions.tick(Nanos(4 * SECOND));
        assert_eq!(fractions.fraction(0).numerator, 2000);
        fractions.tick(Nanos(7 * SECOND));
        assert_eq!(fractions.fraction(0).numerator, 1000);
        fractions.tick(Nanos(10 * SECOND + 1));
        assert_eq!(fractions.fraction(0), Fraction { numerator: 500, denominator: 500 });
    }

    #[test]
    fn writing_nothing_does_not_start_the_clock() {
        let mut fractions = Fractions::new(1);
        fractions.add_completions(Nanos::ZERO, 0, 0);
        fractions.add_completions(Nanos(2 * SECOND), 0, 100);
        fractions.tick(Nanos(5 * SECOND - 1));
        assert_eq!(fractions.fraction(0).numerator, 100);
    }

    #[test]
    fn after_a_minute_without_writing_nothing_is_left_and_the_clock_starts_anew() {
        let mut fractions = Fractions::new(1);
        fractions.add_completions(Nanos::ZERO, 0, 1 << 19);
        fractions.tick(Nanos(59 * SECOND));
        assert_eq!(fractions.fraction(0), Fraction { numerator: 0, denominator: 1 });
        fractions.add_completions(Nanos(59 * SECOND), 0, 100);
        fractions.tick(Nanos(61 * SECOND));
        assert_eq!(fractions.fraction(0).numerator, 100);
        fractions.tick(Nanos(62 * SECOND));
        assert_eq!(fractions.fraction(0).numerator, 50);
        fractions.tick(Nanos(100_000 * SECOND));
        assert_eq!(fractions.fraction(0).numerator, 0);
    }

    /// One device has written for long; then only the other does, at the same rate. With a half-life of 3 s its part
    /// is 1 - exp(-t/tau), tau = 3 s/ln 2, exactly so at every halving and nearly so in between.
    #[test]
    fn a_device_that_starts_alone_ramps_up_exponentially() {
        const HUNDREDTH: u64 = 10_000_000;
        let mut fractions = Fractions::new(2);
        for step in 0..6000 {
            fractions.add_completions(Nanos(step * HUNDREDTH), 0, 1000);
        }
        for step in 6000..8400 {
            fractions.add_completions(Nanos(step * HUNDREDTH), 1, 1000);
            let t = (step - 5999) as f64 / 100.0;
            let expected = 1.0 - (-t * 2f64.ln() / 3.0).exp();
            let tolerance = if step % 300 == 299 { 0.002 } else { 0.05 };
            assert!((value(&fractions, 1) - expected).abs() < tolerance, "after {t} s");
        }
    }

    /// 10 of 1024 are a little less than 1 %. The other has written 99,900 pages, and 1 page is always there.
    #[test]
    fn a_device_counts_up_to_its_largest_part() {
        let mut fractions = Fractions::new(2);
        fractions.add_completions(Nanos::ZERO, 1, 99_900);
        fractions.add_completions_within(Nanos::ZERO, 0, 500, 10_000);
        assert_eq!(fractions.fraction(0).numerator, 500);
        fractions.add_completions_within(Nanos::ZERO, 0, 5000, 10_000);
        // x / (99,901 + x) = 10 / 1024: x = 999,010 / 1014, rounded up.
        assert_eq!(fractions.fraction(0).numerator, 986);
        fractions.add_completions_within(Nanos::ZERO, 0, 5000, 10_000);
        assert_eq!(fractions.fraction(0).numerator, 986);
        fractions.add_completions_within(Nanos::ZERO, 1, 100, 1_000_000);
        assert_eq!(fractions.fraction(1).numerator, 100_000);
    }

    proptest! {
        #[test]
        fn parts_sum_to_at_most_one(
            steps in prop::collection::vec((0u64..8 * SECOND, 0usize..3, 0u64..100_000), 1..60),
        ) {
            let (mut fractions, mut now) = (Fractions::new(3), 0);
            for (wait, device, pages) in steps {
                now += wait;
                fractions.add_completions(Nanos(now), device, pages);
                let parts: Vec<Fraction> = (0..3).map(|device| fractions.fraction(device)).collect();
                prop_assert!(parts.iter().all(|part| part.numerator <= part.denominator));
                let sum: u64 = parts.iter().map(|part| part.numerator).sum();
                prop_assert!(sum <= fractions.all);
            }
        }

        #[test]
        fn looking_more_often_changes_nothing(
            looks in prop::collection::vec(0u64..100 * SECOND, 0..30), pages in 1u64..1 << 30,
        ) {
            let (mut seen, mut unseen) = (Fractions::new(1), Fractions::new(1));
            seen.add_completions(Nanos::ZERO, 0, pages);
            unseen.add_completions(Nanos::ZERO, 0, pages);
            let mut looks = looks;
            looks.sort_unstable();
            looks.iter().for_each(|&look| seen.tick(Nanos(look)));
            seen.tick(Nanos(100 * SECOND));
            unseen.tick(Nanos(100 * SECOND));
            prop_assert_eq!(seen.fraction(0), unseen.fraction(0));
        }
    }
}
