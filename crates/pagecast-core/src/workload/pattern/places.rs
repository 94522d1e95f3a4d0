//! Finds the place of each call: the i-th of an order is computed from i alone.
//!
//! Source of the skewed orders: `lib/zipf.c: pareto_next` of fio 3.33, whose hash is a permutation here; rejection inversion (`zipf`).

use super::Order;
use super::permutation::Permutation;
use super::zipf::Zipf;
use crate::random::{Draws, below};

/// A normal draw beyond the part is drawn again, so often at most: then it is uniform.
const MOST_DRAWS: u32 = 64;

/// The places of an order.
#[derive(Clone, Debug)]
pub(super) struct Places {
    kind: Kind,
    count: u64,
    seed: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Sequential,
    Backwards,
    /// Places from one to the next.
    Strided(u64),
    Uniform,
    /// The lap for which the permutation is.
    Once(u64, Permutation),
    Zipf(Zipf, Permutation),
    /// The power of a uniform draw.
    Pareto(f64, Permutation),
    /// The deviation, in places.
    Normal(f64),
}

impl Places {
    /// Those of an order among so many, of `call` bytes each.
    pub(super) fn new(order: Order, count: u64, call: u64, seed: u64) -> Self {
        let permutation = || Permutation::new(count.max(1), seed);
        let kind = match order {
            // Such numbers come from recordings that are damaged.
            Order::Zipf { theta } if !(theta > 0.0 && theta.is_finite()) => Kind::Uniform,
            Order::Pareto { h } if !(h > 0.0 && h < 1.0) => Kind::Uniform,
            Order::Sequential => Kind::Sequential,
            Order::Backwards => Kind::Backwards,
            Order::Strided { stride } => Kind::Strided((stride.0 / call).max(1)),
            Order::Uniform { once: false } => Kind::Uniform,
            Order::Uniform { once: true } => Kind::Once(0, permutation()),
            Order::Zipf { theta } => Kind::Zipf(Zipf::new(count.max(1), theta), permutation()),
            Order::Pareto { h } => Kind::Pareto(h.ln() / (1.0 - h).ln(), permutation()),
            Order::Normal { deviation } => Kind::Normal(deviation * count as f64),
        };
        Self { kind, count, seed }
    }

    /// The place of the i-th call.
    #[inline]
    pub(super) fn place(&mut self, i: u64) -> u64 {
        let Self { kind, count, seed } = self;
        let (count, seed) = (*count, *seed);
        match kind {
            Kind::Sequential => i % count,
            Kind::Backwards => count - 1 - i % count,
            Kind::Strided(stride) => strided(i % count, *stride, count),
            Kind::Uniform => below(Draws::of(seed, i).next(), count),
            Kind::Once(lap, permutation) => {
                if *lap != i / count {
                    *lap = i / count;
                    *permutation = Permutation::new(count, Draws::of(seed, *lap).next());
                }
                permutation.of(i % count)
            }
            Kind::Zipf(zipf, permutation) => permutation.of(zipf.rank(&mut Draws::of(seed, i)) - 1),
            Kind::Pareto(power, permutation) => {
                let draw = Draws::of(seed, i).next_unit().powf(*power);
                permutation.of(((count - 1) as f64 * draw) as u64)
            }
            Kind::Normal(deviation) => normal(&mut Draws::of(seed, i), *deviation, count),
        }
    }
}

/// The i-th place of laps that begin one place further each time.
fn strided(i: u64, stride: u64, count: u64) -> u64 {
    // So many first laps have one place more than the others.
    let (each, longer) = (count / stride, count % stride);
    let of_longer = longer * (each + 1);
    let (lap, at) = match i.checked_sub(of_longer) {
        None => (i / (each + 1), i % (each + 1)),
        Some(i) => (longer + i / each, i % each),
    };
    lap + at * stride
}

/// A place around the middle.
fn normal(draws: &mut Draws, deviation: f64, count: u64) -> u64 {
    for _ in 0..MOST_DRAWS {
        // Box-Muller; the first is never 0.
        let (first, second) = (draws.next_unit(), draws.next_unit());
        let normal = (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos();
        let place = normal.mul_add(deviation, count as f64 / 2.0);
        if (0.0..count as f64).contains(&place) {
            return place as u64;
        }
    }
    below(draws.next(), count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    /// How often each of `count` places comes in `calls` calls.
    fn frequencies(order: Order, count: u64, calls: u64) -> Vec<u64> {
        let mut places = Places::new(order, count, 1, 11);
        let mut frequencies = vec![0; count as usize];
        (0..calls).for_each(|i| frequencies[places.place(i) as usize] += 1);
        frequencies
    }

    /// The sum of squared deviations, each divided by what is expected.
    fn chi_square(found: &[u64], expected: impl Fn(usize) -> f64) -> f64 {
        let each = |(at, &found): (usize, &u64)| (found as f64 - expected(at)).powi(2) / expected(at);
        found.iter().enumerate().map(each).sum()
    }

    /// The value that chi-square exceeds once in a thousand times, of so many degrees of freedom (Wilson and Hilferty).
    fn limit(freedom: f64) -> f64 {
        let part = 2.0 / (9.0 * freedom);
        freedom * (1.0 - part + 3.09 * part.sqrt()).powi(3)
    }

    #[test]
    fn uniform_places_are_equally_frequent() {
        for count in [2, 3, 100, 1000] {
            let found = frequencies(Order::Uniform { once: false }, count, 100_000);
            let chi = chi_square(&found, |_| 100_000.0 / count as f64);
            assert!(chi < limit(count as f64 - 1.0), "{chi} of {count}");
        }
    }

    #[test]
    fn the_order_of_a_permutation_is_even() {
        // Which tenth of the places comes in which tenth of the calls.
        let mut places = Places::new(Order::Uniform { once: true }, 10_000, 1, 3);
        let mut found = vec![0; 100];
        (0..10_000).for_each(|i| found[(i / 1000 * 10 + places.place(i) / 1000) as usize] += 1);
        let chi = chi_square(&found, |_| 100.0);
        assert!(chi < limit(81.0), "{chi}");
    }

    #[test]
    fn zipf_ranks_have_their_shares() {
        for theta in [0.5, 0.99, 1.0, 1.2, 2.5] {
            let count = 1000;
            let mut found = frequencies(Order::Zipf { theta }, count, 200_000);
            found.sort_unstable_by(|one, other| other.cmp(one));
            let sum: f64 = (1..=count).map(|rank| (rank as f64).powf(-theta)).sum();
            let share = |rank: usize| (rank as f64).powf(-theta) / sum * 200_000.0;
            // The first are in order; the others are taken together, as sorting mixes their ranks.
            let mut groups: Vec<u64> = found[..5].to_vec();
            groups.push(found[5..].iter().sum());
            let rest: f64 = (6..=count as usize).map(share).sum();
            let chi = chi_square(&groups, |at| if at < 5 { share(at + 1) } else { rest });
            assert!(chi < limit(5.0), "{chi} of theta {theta}");
        }
    }

    #[test]
    fn the_most_frequent_places_lie_anywhere() {
        let first = |seed| Places::new(Order::Zipf { theta: 5.0 }, 1 << 40, 1, seed).place(0);
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn pareto_gives_a_share_of_h_to_the_rest() {
        // 80 % of the calls go to 20 % of the places with h = 0.2.
        let mut found = frequencies(Order::Pareto { h: 0.2 }, 1000, 100_000);
        found.sort_unstable_by(|one, other| other.cmp(one));
        let head: u64 = found[..200].iter().sum();
        assert!(head.abs_diff(80_000) < 1000, "{head}");
    }

    #[test]
    fn a_normal_distribution_lies_around_the_middle() {
        let mut places = Places::new(Order::Normal { deviation: 0.1 }, 1_000_000, 1, 5);
        let all: Vec<f64> = (0..20_000).map(|i| places.place(i) as f64 / 1e6).collect();
        let mean = all.iter().sum::<f64>() / 20_000.0;
        let variance = all.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!((mean - 0.5).abs() < 0.003 && (variance.sqrt() - 0.1).abs() < 0.003, "{mean} {variance}");
        for deviation in [0.0, 1e-9, 1.0, 1e6, f64::INFINITY] {
            let mut places = Places::new(Order::Normal { deviation }, 7, 1, 5);
            assert!((0..100).all(|i| places.place(i) < 7), "{deviation}");
        }
    }

    #[test]
    fn numbers_that_are_none_do_no_harm() {
        for number in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            let (theta, h, deviation) = (number, number, number);
            for order in [Order::Zipf { theta }, Order::Pareto { h }, Order::Normal { deviation }] {
                assert_eq!(frequencies(order, 3, 99).iter().sum::<u64>(), 99, "{order:?}");
            }
        }
    }

    #[test]
    fn every_order_knows_a_single_place() {
        let skewed = [Order::Zipf { theta: 1.0 }, Order::Pareto { h: 0.9 }, Order::Normal { deviation: 0.1 }];
        let even = [Order::Uniform { once: true }, Order::Uniform { once: false }, Order::Backwards];
        for order in skewed.into_iter().chain(even).chain([Order::Strided { stride: Bytes(9) }]) {
            assert_eq!(frequencies(order, 1, 5), [5], "{order:?}");
        }
    }
}
