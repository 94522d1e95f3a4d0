//! Fits what each printed thing costs to the lower quartile of times: a linear quantile regression.
//!
//! Source: Koenker and Bassett, *Regression Quantiles* (1978); solved by reweighted least squares, one cost after the other. No cost is
//! below zero, and what is printed costs no more than half of the first one, which is that of the stops themselves.

/// A time behind a call, in nanoseconds, what was printed of the call, and how much it counts.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub printed: [f64; N],
    pub time: f64,
    pub weight: f64,
}

const N: usize = 4;

/// The share of times that are below the fit.
const SHARE: f64 = 0.25;

/// The most that another cost may be of the first one: copying a few bytes out of a thread takes less than stopping it twice.
const MOST: f64 = 0.5;

const ROUNDS: usize = 60;

/// So many times each cost is fitted beside the others in a round.
const SWEEPS: usize = 40;

/// Residuals below this, in nanoseconds, weigh alike: times are printed in microseconds.
const LEAST: f64 = 100.0;

/// Returns the cost of each; zeros without samples.
pub fn fit(samples: &[Sample]) -> [f64; N] {
    let mut costs = [quartile(samples), 0.0, 0.0, 0.0];
    for _ in 0..ROUNDS {
        let (matrix, right) = equations(samples, &costs);
        for at in (0..SWEEPS).flat_map(|_| 0..N).filter(|&at| matrix[at][at] > 0.0) {
            let others: f64 =
                (0..N).filter(|&other| other != at).map(|other| matrix[at][other] * costs[other]).sum();
            let most = if at == 0 { f64::INFINITY } else { MOST * costs[0] };
            costs[at] = ((right[at] - others) / matrix[at][at]).clamp(0.0, most);
        }
    }
    costs
}

/// Returns the time that so much of the weight is below.
fn quartile(samples: &[Sample]) -> f64 {
    let mut times: Vec<(f64, f64)> = samples.iter().map(|sample| (sample.time, sample.weight)).collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut left = SHARE * times.iter().map(|(_, weight)| weight).sum::<f64>();
    let at = times.iter().position(|(_, weight)| {
        left -= weight;
        left < 0.0
    });
    at.map_or(0.0, |at| times[at].0)
}

/// The equations of least squares in which a sample counts as in a regression of quantiles: matrix and right sides.
fn equations(samples: &[Sample], costs: &[f64; N]) -> ([[f64; N]; N], [f64; N]) {
    let (mut matrix, mut right) = ([[0.0; N]; N], [0.0; N]);
    for Sample { printed, time, weight } in samples {
        let residual = time - costs.iter().zip(printed).map(|(cost, number)| cost * number).sum::<f64>();
        let share = if residual > 0.0 { SHARE } else { 1.0 - SHARE };
        let weight = weight * share / residual.abs().max(LEAST);
        for (at, number) in printed.iter().enumerate() {
            right[at] += weight * number * time;
            for (cell, other) in matrix[at].iter_mut().zip(printed) {
                *cell += weight * number * other;
            }
        }
    }
    (matrix, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(printed: [f64; N], time: f64) -> Sample {
        Sample { printed, time, weight: 1.0 }
    }

    #[test]
    fn it_is_the_lower_quartile_of_times_that_differ() {
        let samples: Vec<Sample> =
            (0..=100).map(|at| sample([1.0, 0.0, 0.0, 0.0], 1e5 + 1e3 * f64::from(at))).collect();
        let [stop, rest @ ..] = fit(&samples);
        assert!((stop - 125_000.0).abs() < 1_500.0, "{stop}");
        assert_eq!(rest, [0.0; 3]);
        assert_eq!(fit(&[]), [0.0; N]);
    }

    #[test]
    fn what_is_printed_costs_no_more_than_half_of_a_stop() {
        let of = |texts: f64, time| sample([1.0, 0.0, 0.0, texts], time);
        let samples: Vec<Sample> = (0..20).flat_map(|_| [of(0.0, 4e4), of(1.0, 9e5)]).collect();
        assert_eq!(fit(&samples).map(|cost| (cost / 1e3).round()), [40.0, 0.0, 0.0, 20.0]);
    }
}
