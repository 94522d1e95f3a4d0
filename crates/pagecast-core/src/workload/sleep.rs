//! Draws how long a program sleeps.

use crate::random::{Draws, of_process};
use crate::units::Nanos;

/// How the times of a sleep lie around their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepSpread {
    /// All from 0 to twice the mean are equally likely.
    Uniform,
    /// As between the events of a Poisson process.
    Exponential,
}

impl SleepSpread {
    /// The words of a scenario, in the order of `ALL`.
    pub const NAMES: [&'static str; 2] = ["uniform", "exponential"];
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Uniform, Self::Exponential];

    /// The time of a sleep that is an operation of a process: `time`, or drawn with that as its mean.
    #[must_use]
    pub fn time(spread: Option<Self>, time: Nanos, seed: u64, process: &str, operation: u32) -> Nanos {
        spread.map_or(time, |spread| spread.draw(time, seed, process, operation))
    }

    /// A time with this mean: the same in every run with this seed.
    fn draw(self, mean: Nanos, seed: u64, process: &str, operation: u32) -> Nanos {
        let unit = Draws::of(of_process(seed, process), operation.into()).next_unit();
        let times_mean = match self {
            Self::Uniform => 2.0 * unit,
            Self::Exponential => -unit.ln(),
        };
        Nanos((mean.0 as f64 * times_mean) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_mean_and_spread() {
        for (spread, deviation) in
            [(SleepSpread::Uniform, 1.0 / 3.0_f64.sqrt()), (SleepSpread::Exponential, 1.0)]
        {
            let count = 100_000;
            let times: Vec<f64> =
                (0..count).map(|at| spread.draw(Nanos(1_000_000), 7, "p", at).0 as f64 / 1e6).collect();
            let mean = times.iter().sum::<f64>() / f64::from(count);
            let square = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / f64::from(count);
            assert!(
                (mean - 1.0).abs() < 0.01 && (square.sqrt() - deviation).abs() < 0.01,
                "{spread:?}: {mean}"
            );
        }
    }

    #[test]
    fn a_time_depends_on_seed_process_and_operation() {
        let draw =
            |seed, process, operation| SleepSpread::Uniform.draw(Nanos(1 << 40), seed, process, operation);
        let first = draw(0, "p", 0);
        assert_eq!(first, draw(0, "p", 0));
        assert!([draw(1, "p", 0), draw(0, "q", 0), draw(0, "p", 1)].iter().all(|&other| other != first));
    }
}
