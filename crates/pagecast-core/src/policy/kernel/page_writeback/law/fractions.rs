//! Counts the part of all written pages that each device has written, older ones less and less.
//!
//! Source: `lib/flex_proportions.c`; `lib/percpu_counter.c`; `mm/page-writeback.c: wb_domain_writeout_add, writeout_period`, Linux 6.16.
//! The kernel counts on each processor by itself, and in batches for all to see. On a host with one processor a halved count is seen only
//! when it makes a batch. So the last pages are gone some periods early, or stay when the clock has stopped. With several processors, which
//! one counts is not known: there all is counted exactly, and nothing is left in the end. Left out: folios larger than a page.

use crate::units::Nanos;

/// Every page counts half after so long (`VM_COMPLETIONS_PERIOD_LEN`).
const PERIOD: u64 = 3_000_000_000;

/// The whole, in the units of a device's largest part (`FPROP_FRAC_BASE`).
const WHOLE: u64 = 1 << 10;

/// A part of the whole; the denominator is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// At most the denominator.
    pub numerator: u64,
    /// At least 1.
    pub denominator: u64,
}

/// `struct percpu_counter`, used by one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counter {
    /// The count that all processors see.
    count: i64,
    /// The count of this processor that is not in `count` yet: less than a batch.
    pending: i64,
    batch: i64,
}

impl Counter {
    fn new(count: i64, batch: i64) -> Self {
        Self { count, pending: 0, batch }
    }

    /// Adds an amount at once (`percpu_counter_add_batch`).
    fn add(&mut self, amount: i64) {
        self.pending += amount;
        if self.pending.abs() >= self.batch {
            self.count += std::mem::take(&mut self.pending);
        }
    }

    /// Adds a number one by one.
    fn add_each(&mut self, number: u64) {
        let pending = self.pending + number as i64;
        let told = if pending >= self.batch { pending / self.batch * self.batch } else { 0 };
        self.count += told;
        self.pending = pending - told;
    }

    /// `percpu_counter_read_positive`.
    fn seen(&self) -> u64 {
        self.count.max(0) as u64
    }

    /// `percpu_counter_sum`.
    fn sum(&self) -> i64 {
        self.count + self.pending
    }
}

/// The pages that each device has written.
#[derive(Clone, Debug)]
pub struct Fractions {
    pages: Vec<Counter>,
    /// The pages of all devices, and 1 so that it is never 0.
    all: Counter,
    /// A device's count below this is exact when it is halved.
    few: i64,
    /// The time of the next halving; none while there is nothing to halve.
    next: Option<Nanos>,
}

impl Fractions {
    /// The counts of so many devices that have written nothing, on a host with so many processors.
    pub fn new(devices: usize, cores: u32) -> Self {
        // `PROP_BATCH` and `percpu_counter_batch`.
        let (batch, batch_of_all) = if cores == 1 { (8, 32) } else { (1, 1) };
        Self {
            pages: vec![Counter::new(0, batch); devices],
            all: Counter::new(1, batch_of_all),
            few: batch,
            next: None,
        }
    }

    /// Counts pages that a device has written.
    pub fn wb_domain_writeout_add(&mut self, now: Nanos, device: usize, pages: u64) {
        self.add_elsewhere(now, pages);
        self.pages[device].add_each(pages);
    }

    /// Counts pages that other devices have written, which nobody asks about.
    pub fn add_elsewhere(&mut self, now: Nanos, pages: u64) {
        self.tick(now);
        self.all.add_each(pages);
        if self.next.is_none() && pages > 0 {
            self.next = Some(Nanos(now.0 + PERIOD));
        }
    }

    /// Counts pages of a device whose part is at most so many millionths of all (`__fprop_add_percpu_max`).
    pub fn add_completions_within(&mut self, now: Nanos, device: usize, pages: u64, max_ratio: u64) {
        let most = WHOLE * max_ratio / super::device_share::WHOLE;
        if most >= WHOLE {
            return self.wb_domain_writeout_add(now, device, pages);
        }
        self.tick(now);
        let Fraction { numerator, denominator } = self.fraction(device);
        // Just as many as make it that part.
        let room = (denominator * most).checked_sub(numerator * WHOLE);
        let pages = room.map_or(0, |room| pages.min(room.div_ceil(WHOLE - most)));
        self.wb_domain_writeout_add(now, device, pages);
    }

    /// Halves the counts for each period that has ended by now.
    pub fn tick(&mut self, now: Nanos) {
        while let Some(due) = self.next.filter(|&due| due <= now) {
            let all = self.all.sum();
            if all <= 1 {
                self.next = None;
                break;
            }
            self.all.add((all >> 1) - all);
            for pages in &mut self.pages {
                let count = if pages.count < self.few { pages.sum() } else { pages.count };
                pages.add((count >> 1) - count);
            }
            self.next = Some(Nanos(due.0 + PERIOD));
            if self.all.batch == 1 && self.all.sum() <= 1 {
                self.pages.iter_mut().for_each(|pages| pages.count = 0);
                self.next = None;
            }
        }
    }

    /// Returns a device's part at the last call with a time.
    pub fn fraction(&self, device: usize) -> Fraction {
        let numerator = self.pages[device].seen();
        Fraction { numerator, denominator: self.all.seen().max(numerator).max(1) }
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

    fn fraction(numerator: u64, denominator: u64) -> Fraction {
        Fraction { numerator, denominator }
    }

    /// On one processor a device's pages are told in eights, those of all in 32s.
    #[test]
    fn alone_a_device_has_it_all_at_once() {
        let mut fractions = Fractions::new(2, 1);
        assert_eq!(fractions.fraction(0), fraction(0, 1));
        fractions.wb_domain_writeout_add(Nanos(5), 0, 999);
        assert_eq!(fractions.fraction(0), fraction(124 * 8, 1 + 31 * 32));
        assert_eq!(fractions.fraction(1), fraction(0, 1 + 31 * 32));
        fractions.wb_domain_writeout_add(Nanos(5), 0, 1);
        assert_eq!(fractions.fraction(0), fraction(1000, 1000), "never more than all");
    }

    #[test]
    fn everything_is_halved_three_seconds_after_the_first_page() {
        let mut fractions = Fractions::new(1, 1);
        fractions.wb_domain_writeout_add(Nanos(SECOND), 0, 4001);
        fractions.tick(Nanos(4 * SECOND - 1));
        assert_eq!(fractions.fraction(0), fraction(4000, 4001));
        // Of all 4002; the device halves the 4000 that it sees, and tells of the last one too.
        fractions.tick(Nanos(4 * SECOND));
        assert_eq!(fractions.fraction(0), fraction(2001, 2001));
        fractions.tick(Nanos(7 * SECOND));
        assert_eq!(fractions.fraction(0).numerator, 1000);
        fractions.tick(Nanos(10 * SECOND + 1));
        assert_eq!(fractions.fraction(0), fraction(500, 500));
    }

    #[test]
    fn writing_nothing_does_not_start_the_clock() {
        let mut fractions = Fractions::new(1, 1);
        fractions.wb_domain_writeout_add(Nanos::ZERO, 0, 0);
        fractions.wb_domain_writeout_add(Nanos(2 * SECOND), 0, 96);
        fractions.tick(Nanos(5 * SECOND - 1));
        assert_eq!(fractions.fraction(0).numerator, 96);
    }

    /// `BdiDirtyThresh` by `nr_dirty_threshold` after 1057 pages, ten times a second. Own recording, Linux 6.12, one processor: 0.99905, 1
    /// from the first period on, 0.48485 from the sixth, 0.24242 from the seventh.
    #[test]
    fn the_last_pages_go_as_on_a_kernel() {
        let mut fractions = Fractions::new(1, 1);
        fractions.wb_domain_writeout_add(Nanos::ZERO, 0, 1057);
        let expected = [
            (1056, 1057),
            (529, 529),
            (264, 264),
            (132, 132),
            (66, 66),
            (33, 33),
            (16, 33),
            (8, 33),
            (8, 33),
            (0, 33),
            (0, 1),
        ];
        for (period, (numerator, denominator)) in (0..).zip(expected) {
            fractions.tick(Nanos(3 * period * SECOND));
            assert_eq!(fractions.fraction(0), fraction(numerator, denominator), "after {period} periods");
        }
    }

    #[test]
    fn on_several_processors_nothing_is_left_in_the_end() {
        let mut fractions = Fractions::new(1, 2);
        fractions.wb_domain_writeout_add(Nanos::ZERO, 0, 999);
        assert_eq!(fractions.fraction(0), fraction(999, 1000));
        fractions.tick(Nanos(24 * SECOND));
        assert_eq!(fractions.fraction(0), fraction(3, 3));
        fractions.tick(Nanos(27 * SECOND));
        assert_eq!((fractions.fraction(0), fractions.next), (fraction(0, 1), None));
    }

    #[test]
    fn after_a_minute_without_writing_the_clock_stands_until_the_next_page() {
        let mut fractions = Fractions::new(1, 1);
        fractions.wb_domain_writeout_add(Nanos::ZERO, 0, 100_000);
        fractions.tick(Nanos(59 * SECOND));
        assert_eq!(fractions.next, None);
        let left = fractions.fraction(0);
        assert_eq!(left.numerator, 0);
        fractions.tick(Nanos(100_000 * SECOND));
        assert_eq!(fractions.fraction(0), left);
        fractions.wb_domain_writeout_add(Nanos(100_000 * SECOND), 0, 960);
        assert_eq!(fractions.next, Some(Nanos(100_003 * SECOND)));
        assert!(value(&fractions, 0) > 0.97);
    }

    /// One device has written for long; then only the other does, at the same rate. With a half-life of 3 s its part
    /// is 1 - exp(-t/tau), tau = 3 s/ln 2, exactly so at every halving and nearly so in between.
    #[test]
    fn a_device_that_starts_alone_ramps_up_exponentially() {
        const HUNDREDTH: u64 = 10_000_000;
        let mut fractions = Fractions::new(2, 1);
        for step in 0..6000 {
            fractions.wb_domain_writeout_add(Nanos(step * HUNDREDTH), 0, 1000);
        }
        for step in 6000..8400 {
            fractions.wb_domain_writeout_add(Nanos(step * HUNDREDTH), 1, 1000);
            let t = (step - 5999) as f64 / 100.0;
            let expected = 1.0 - (-t * 2f64.ln() / 3.0).exp();
            let tolerance = if step % 300 == 299 { 0.002 } else { 0.05 };
            assert!((value(&fractions, 1) - expected).abs() < tolerance, "after {t} s");
        }
    }

    /// 10 of 1024 are a little less than 1 %. The other has written 99,872 pages, in whole batches, and 1 page is always there.
    #[test]
    fn a_device_counts_up_to_its_largest_part() {
        let mut fractions = Fractions::new(2, 1);
        fractions.wb_domain_writeout_add(Nanos::ZERO, 1, 99_872);
        fractions.add_completions_within(Nanos::ZERO, 0, 512, 10_000);
        assert_eq!(fractions.fraction(0), fraction(512, 99_873 + 512));
        // x / (99,873 + x) = 10 / 1024: x = 998,730 / 1014, rounded up, is 985. It is told in eights.
        fractions.add_completions_within(Nanos::ZERO, 0, 5000, 10_000);
        assert_eq!(fractions.pages[0].sum(), 985);
        assert_eq!(fractions.fraction(0).numerator, 984);
        fractions.add_completions_within(Nanos::ZERO, 1, 128, 1_000_000);
        assert_eq!(fractions.fraction(1).numerator, 100_000);
    }

    proptest! {
        /// The counts not told, and the sum of rounding, are less than three batches of all.
        #[test]
        fn parts_are_those_of_exact_counts_but_for_some_batches(
            steps in prop::collection::vec((0u64..4 * SECOND, 0usize..3, 0u64..100_000), 1..60),
            cores in 1u32..3,
        ) {
            let (mut fractions, mut now) = (Fractions::new(3, cores), 0);
            let (mut exact, mut next) = ([0.0; 3], None);
            for (wait, device, pages) in steps {
                now += wait;
                while let Some(due) = next.filter(|&due| due <= now) {
                    exact.iter_mut().for_each(|pages| *pages /= 2.0);
                    next = (fractions.all.sum() > 1).then_some(due + PERIOD);
                }
                fractions.wb_domain_writeout_add(Nanos(now), device, pages);
                exact[device] += pages as f64;
                next = fractions.next.map(|next| next.0);
                let sum: f64 = exact.iter().sum();
                for (device, exact) in exact.iter().enumerate() {
                    let Fraction { numerator, denominator } = fractions.fraction(device);
                    prop_assert!(numerator <= denominator);
                    let most = 3.0 * fractions.all.batch.max(fractions.pages[0].batch) as f64;
                    prop_assert!((numerator as f64 - exact).abs() <= most, "{numerator}, {exact}");
                    prop_assert!((denominator as f64 - sum).abs() <= most, "{denominator}, {sum}");
                }
            }
        }

        #[test]
        fn looking_more_often_changes_nothing(
            looks in prop::collection::vec(0u64..100 * SECOND, 0..30), pages in 1u64..1 << 30,
        ) {
            let (mut seen, mut unseen) = (Fractions::new(1, 1), Fractions::new(1, 1));
            seen.wb_domain_writeout_add(Nanos::ZERO, 0, pages);
            unseen.wb_domain_writeout_add(Nanos::ZERO, 0, pages);
            let mut looks = looks;
            looks.sort_unstable();
            looks.iter().for_each(|&look| seen.tick(Nanos(look)));
            seen.tick(Nanos(100 * SECOND));
            unseen.tick(Nanos(100 * SECOND));
            prop_assert_eq!(seen.fraction(0), unseen.fraction(0));
        }
    }
}
