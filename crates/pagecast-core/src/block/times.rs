//! Gives each request the time that a disk takes for it: always the same, or drawn from the quantiles of a data sheet.
//!
//! Half of the requests take the median. From there to the next quantile, and between any two, the part of the requests that take longer falls
//! exponentially with the time. Left out: that slow requests come together.

use super::request::Direction;
use crate::machine::Quantiles;
use crate::random::Draws;
use crate::units::Nanos;

/// The times of the requests of a disk; see the module.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Of those without quantiles.
    equal: Nanos,
    read: Option<Quantiles>,
    write: Option<Quantiles>,
    draws: Draws,
}

impl Times {
    /// Always the same.
    #[must_use]
    pub fn equal(time: Nanos) -> Self {
        Self { equal: time, read: None, write: None, draws: Draws::of(0, 0) }
    }

    /// Drawn for reads, for writes, or for both, with a seed.
    #[must_use]
    pub fn drawn(self, read: Option<Quantiles>, write: Option<Quantiles>, seed: u64) -> Self {
        Self { read, write, draws: Draws::of(seed, 0), ..self }
    }

    /// Those of one of several such disks.
    pub(super) fn of_member(self, number: u64) -> Self {
        let mut draws = self.draws;
        Self { draws: Draws::of(draws.next(), number), ..self }
    }

    /// Of requests without quantiles.
    pub(super) fn usual(&self) -> Nanos {
        self.equal
    }

    /// The time of the next request.
    pub(super) fn next(&mut self, direction: Direction) -> Nanos {
        let quantiles = if direction == Direction::Read { &self.read } else { &self.write };
        match quantiles {
            Some(quantiles) => time_of(quantiles, self.draws.next_unit()),
            None => self.equal,
        }
    }
}

/// Returns the time that such a part of the requests exceeds.
fn time_of(quantiles: &Quantiles, part: f64) -> Nanos {
    let mut before: Option<(f64, Nanos)> = None;
    for (beyond, time) in quantiles.points() {
        if part > beyond {
            let Some((from, low)) = before else { return time };
            let way = (from / part).ln() / (from / beyond).ln();
            return low + Nanos((way * (time.0 - low.0) as f64) as u64);
        }
        before = Some((beyond, time));
    }
    before.expect("the median is always there").1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of an Intel SSD DC P3700 (AnandTech, 2017).
    fn quantiles() -> Quantiles {
        let us = |us: u64| Nanos(1000 * us);
        Quantiles { p50: us(76), p99: Some(us(96)), p99_999: Some(us(2768)), ..Quantiles::default() }
    }

    fn drawn(seed: u64, count: usize) -> Vec<Nanos> {
        let mut times = Times::equal(Nanos(5)).drawn(Some(quantiles()), None, seed);
        assert_eq!(times.next(Direction::Write), Nanos(5));
        (0..count).map(|_| times.next(Direction::Read)).collect()
    }

    #[test]
    fn the_quantiles_of_many_draws_are_those_of_the_sheet() {
        let mut times = drawn(1, 1_000_000);
        times.sort_unstable();
        let at = |part: f64| times[(part * 1e6) as usize - 1].0 as f64 / 1000.0;
        assert_eq!((at(0.25), at(0.5)), (76.0, 76.0));
        assert!((at(0.99) - 96.0).abs() < 0.5, "{}", at(0.99));
        assert!((at(0.99999) - 2768.0).abs() < 300.0, "{}", at(0.99999));
        assert!(times.last().is_some_and(|last| last.0 <= 2_768_000));
    }

    #[test]
    fn equal_seeds_give_equal_times_and_others_do_not() {
        assert_eq!(drawn(7, 100), drawn(7, 100));
        assert_ne!(drawn(7, 100), drawn(8, 100));
    }

    #[test]
    fn a_larger_part_never_takes_longer() {
        let times: Vec<Nanos> =
            (1..=1000).map(|part| time_of(&quantiles(), f64::from(part) / 1000.0)).collect();
        assert!(times.is_sorted_by(|longer, shorter| longer >= shorter));
    }

    #[test]
    fn disks_of_an_array_draw_times_of_their_own() {
        let times = Times::equal(Nanos(5)).drawn(Some(quantiles()), None, 3);
        let of = |number| {
            let mut member = times.of_member(number);
            (0..20).map(|_| member.next(Direction::Read)).collect::<Vec<_>>()
        };
        assert_ne!(of(0), of(1));
        assert_eq!(of(1), of(1));
    }
}
