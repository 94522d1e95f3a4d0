//! Distributions of `random_distribution` that are not uniform, as fio draws them.
//!
//! Sources: J. Gray et al., "Quickly Generating Billion-Record Synthetic Databases" (SIGMOD 1994) for Zipf's; the self-similar 80-20 rule
//! there for Pareto's; the mean of twelve uniform numbers for the normal one. fio's manual and `lib/zipf.c`, `lib/gauss.c` (3.33) say how it
//! scales and spreads them.

use super::job::{Distribution, Job};
use super::random::{Random, spread};

/// How many terms of the sum of Zipf's distribution fio takes at most.
const MOST_TERMS: u64 = 10_000_000;

/// How many uniform numbers make a normal one.
const SUMMED: u64 = 12;

/// Draws blocks of a file.
#[derive(Clone, Debug)]
pub struct Skew {
    kind: Kind,
    blocks: u64,
    /// Where the most frequent block is.
    shift: u64,
    random: Random,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Zipf { theta: f64, sum: f64 },
    Pareto { exponent: f64 },
    Normal { deviation: u64 },
}

impl Skew {
    /// The one of a job, if its distribution has a shape.
    pub fn new(job: &Job, blocks: u64, seed: u64) -> Option<Self> {
        let mut random = Random::small(seed);
        let blocks = blocks.max(1);
        let around = |centre: Option<f64>, random: &mut Random| {
            let drawn = random.next();
            centre.map_or(drawn, |centre| (blocks as f64 * centre) as u64)
        };
        let (kind, shift) = match job.distribution {
            Distribution::Zipf(theta, centre) => {
                let sum = (1..=blocks.min(MOST_TERMS)).map(|at| (1.0 / at as f64).powf(theta)).sum();
                (Kind::Zipf { theta, sum }, around(centre, &mut random))
            }
            Distribution::Pareto(power, centre) => {
                (Kind::Pareto { exponent: power.ln() / (1.0 - power).ln() }, around(centre, &mut random))
            }
            Distribution::Normal(deviation, centre) => {
                let deviation = ((blocks as f64 * deviation / 100.0).ceil() as u64).min(blocks / 2);
                let shift = centre.map_or(0.0, |centre| blocks as f64 * (centre - 0.5));
                (Kind::Normal { deviation }, shift.rem_euclid(blocks as f64) as u64)
            }
            _ => return None,
        };
        Some(Self { kind, blocks, shift, random })
    }

    /// The next block.
    pub fn next(&mut self) -> u64 {
        let blocks = self.blocks as f64;
        let rank = match self.kind {
            Kind::Zipf { theta, sum } => {
                let second = 0.5_f64.powf(theta);
                let eta = (1.0 - (2.0 / blocks).powf(1.0 - theta)) / (1.0 - (1.0 + second) / sum);
                let uniform = self.uniform();
                match uniform * sum {
                    part if part < 1.0 => 0,
                    part if part < 1.0 + second => 1,
                    _ => (blocks * (eta * uniform - eta + 1.0).powf(1.0 / (1.0 - theta))) as u64,
                }
            }
            Kind::Pareto { exponent } => ((self.blocks - 1) as f64 * self.uniform().powf(exponent)) as u64,
            Kind::Normal { deviation } => self.normal(deviation),
        };
        spread(rank).wrapping_add(self.shift) % self.blocks
    }

    fn uniform(&mut self) -> f64 {
        self.random.next() as f64 / f64::from(u32::MAX)
    }

    fn normal(&mut self, deviation: u64) -> u64 {
        let sum: u64 = (0..SUMMED).map(|_| self.random.next() % (self.blocks + 1)).sum();
        let mean = sum.div_ceil(SUMMED);
        if deviation == 0 {
            return mean;
        }
        let drawn = self.random.below(deviation) as i64;
        let mut away = drawn - (deviation / 2) as i64;
        while away != 0 && mean.checked_add_signed(away).is_none_or(|moved| moved >= self.blocks) {
            away /= 2;
        }
        mean.saturating_add_signed(away)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::fio::wrong::Place;

    fn counts(distribution: Distribution, blocks: u64) -> Vec<u32> {
        let job = Job { distribution, ..Job::new(Place { file: "x".into(), line: 1 }) };
        let mut skew = Skew::new(&job, blocks, 1).unwrap();
        let mut counts = vec![0; blocks as usize];
        (0..100_000).for_each(|_| counts[skew.next() as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    #[test]
    fn zipf_falls_as_its_exponent_says() {
        let counts = counts(Distribution::Zipf(1.2, None), 1 << 12);
        let sum: f64 = (1..=1 << 12).map(|at| f64::from(at).powf(-1.2)).sum();
        let share = f64::from(counts[0]) / 100_000.0;
        assert!((share * sum - 1.0).abs() < 0.05, "{share}");
        assert!((f64::from(counts[0]) / f64::from(counts[1]) / 2_f64.powf(1.2) - 1.0).abs() < 0.05);
    }

    #[test]
    fn a_fifth_of_the_blocks_gets_four_fifths_of_pareto() {
        let counts = counts(Distribution::Pareto(0.2, None), 1 << 12);
        let first: u32 = counts[..counts.len() / 5].iter().sum();
        assert!((f64::from(first) / 100_000.0 - 0.8).abs() < 0.02, "{first}");
    }

    #[test]
    fn a_normal_one_leaves_the_ends_alone() {
        let counts = counts(Distribution::Normal(10.0, None), 1000);
        assert!(counts[0] > 300 && counts.iter().filter(|&&count| count == 0).count() > 300);
    }
}
