//! Judges whether a job is steady (`steadystate`, fio's `steadystate.c`).
//!
//! Once a second the IOPS or the bandwidth of that second go into a window of `steadystate_duration`. When the window is full, its slope or
//! its largest deviation from the mean is compared with the limit.

use std::collections::VecDeque;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Requests per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
}

/// `steadystate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// What is measured.
    pub measure: Measure,
    /// The slope of the line through the window counts, not the largest deviation from its mean.
    pub is_slope: bool,
    /// The limit is one in per cent of the mean.
    pub is_share: bool,
    /// The limit.
    pub limit: f64,
}

impl Default for Criterion {
    /// `iops_slope:0.01%`.
    fn default() -> Self {
        Self { measure: Measure::Iops, is_slope: true, is_share: true, limit: 0.01 }
    }
}

/// The rates of the last seconds.
#[derive(Clone, Debug)]
pub struct Window {
    criterion: Criterion,
    seconds: usize,
    rates: VecDeque<u64>,
}

impl Window {
    /// An empty one of so many seconds.
    pub fn new(criterion: Criterion, seconds: u64) -> Self {
        Self { criterion, seconds: seconds as usize, rates: VecDeque::new() }
    }

    /// Adds the rates of a second, and says whether the window is steady with it.
    pub fn is_steady_with(&mut self, iops: u64, bytes_per_s: u64) -> bool {
        self.rates.push_back(match self.criterion.measure {
            Measure::Iops => iops,
            Measure::Bandwidth => bytes_per_s,
        });
        if self.rates.len() > self.seconds {
            self.rates.pop_front();
        }
        self.rates.len() == self.seconds && self.value() < self.criterion.limit
    }

    /// The slope or the deviation, without its sign.
    fn value(&self) -> f64 {
        let count = self.seconds as f64;
        let sum: u64 = self.rates.iter().sum();
        if self.criterion.is_slope {
            let places = || (0..self.seconds).map(|at| at as f64);
            let products: f64 = places().zip(&self.rates).map(|(at, &rate)| at * rate as f64).sum();
            let (sum_x, squares) = (places().sum::<f64>(), places().map(|at| at * at).sum::<f64>());
            let slope = (products - sum_x * sum as f64 / count) / (squares - sum_x * sum_x / count);
            // fio divides whole numbers here.
            let mean = (sum / self.seconds as u64) as f64;
            return (if self.criterion.is_share { 100.0 * slope / mean } else { slope }).abs();
        }
        let mean = sum as f64 / count;
        let largest = self.rates.iter().map(|&rate| (rate as f64 - mean).abs()).fold(0.0, f64::max);
        if self.criterion.is_share { 100.0 * largest / mean } else { largest }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds_until_steady(criterion: Criterion, seconds: u64, rates: &[u64]) -> Option<usize> {
        let mut window = Window::new(criterion, seconds);
        rates.iter().position(|&rate| window.is_steady_with(rate, 4096 * rate))
    }

    #[test]
    fn a_window_that_is_not_full_is_not_steady() {
        assert_eq!(seconds_until_steady(Criterion::default(), 3, &[5, 5]), None);
        assert_eq!(seconds_until_steady(Criterion::default(), 3, &[5, 5, 5]), Some(2));
    }

    #[test]
    fn a_slope_is_that_of_least_squares() {
        let slope = |limit| Criterion { is_share: false, limit, ..Criterion::default() };
        assert_eq!(seconds_until_steady(slope(10.0), 4, &[0, 10, 20, 30]), None);
        assert_eq!(seconds_until_steady(slope(10.1), 4, &[0, 10, 20, 30]), Some(3));
        let share = Criterion { limit: 67.0, ..Criterion::default() };
        assert_eq!(seconds_until_steady(share, 4, &[0, 10, 20, 30]), Some(3), "10 of 15");
    }

    #[test]
    fn a_deviation_is_the_largest_from_the_mean() {
        let of =
            |limit, is_share| Criterion { is_slope: false, is_share, limit, measure: Measure::Bandwidth };
        let bytes = 4096.0;
        assert_eq!(seconds_until_steady(of(2.0 * bytes, false), 3, &[8, 10, 12]), None);
        assert_eq!(seconds_until_steady(of(2.1 * bytes, false), 3, &[8, 10, 12]), Some(2));
        assert_eq!(seconds_until_steady(of(20.1, true), 3, &[1, 8, 10, 12]), Some(3), "the first has left");
    }

    proptest! {
        #[test]
        fn equal_rates_are_steady(rate in 1_u64..1 << 40, seconds in 2_u64..50, is_slope: bool) {
            let criterion = Criterion { is_slope, ..Criterion::default() };
            let rates = vec![rate; seconds as usize];
            prop_assert_eq!(seconds_until_steady(criterion, seconds, &rates), Some(seconds as usize - 1));
        }
    }
}
