//! Draws ranks of Zipf's distribution: the k-th of n has a share of k^-theta.
//!
//! Source: Hoermann and Derflinger, *Rejection-inversion to generate variates from monotone discrete distributions*, ACM TOMACS 6(3), 1996.
//! It needs no table, and draws less than twice on the average, whatever n and theta above 0.

use crate::random::Draws;

/// A distribution over ranks from 1.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    count: u64,
    theta: f64,
    /// The integral of the hat at 3/2, less the first share; at the end; and below which distance from a rank nothing is rejected.
    from: f64,
    to: f64,
    squeeze: f64,
}

impl Zipf {
    /// Of so many ranks, at least one.
    pub(super) fn new(count: u64, theta: f64) -> Self {
        let mut zipf = Self { count, theta, from: 0.0, to: 0.0, squeeze: 0.0 };
        zipf.from = zipf.integral(1.5) - 1.0;
        zipf.to = zipf.integral(count as f64 + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.share(2.0));
        zipf
    }

    /// A rank.
    pub(super) fn rank(&self, draws: &mut Draws) -> u64 {
        loop {
            let under_hat = draws.next_unit().mul_add(self.from - self.to, self.to);
            let at = self.inverse(under_hat);
            let rank = ((at + 0.5) as u64).clamp(1, self.count);
            let number = rank as f64;
            if number - at <= self.squeeze || under_hat >= self.integral(number + 0.5) - self.share(number) {
                return rank;
            }
        }
    }

    /// x^-theta.
    fn share(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// The integral of the shares: (x^(1 - theta) - 1) / (1 - theta), or ln x for theta = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let exponent = (1.0 - self.theta) * log;
        // Near 0 by its series, as the quotient loses digits there.
        let slope = if exponent.abs() > 1e-8 { exponent.exp_m1() / exponent } else { 1.0 + exponent / 2.0 };
        slope * log
    }

    /// Where the integral has a value.
    fn inverse(&self, value: f64) -> f64 {
        // Rounding must not lead below the smallest value that there is.
        let t = (value * (1.0 - self.theta)).max(-1.0);
        let slope = if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 };
        (slope * value).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_within_their_range_whatever_the_exponent() {
        for theta in [1e-9, 0.3, 1.0 - 1e-12, 1.0, 1.0 + 1e-12, 3.0, 40.0, 700.0] {
            for count in [1, 2, 3, 1000, 1 << 40, u64::MAX] {
                let zipf = Zipf::new(count, theta);
                let ranks = (0..200).map(|number| zipf.rank(&mut Draws::of(1, number)));
                assert!(ranks.into_iter().all(|rank| (1..=count).contains(&rank)), "{theta} {count}");
            }
        }
    }

    #[test]
    fn a_large_exponent_leaves_only_the_first() {
        let zipf = Zipf::new(1 << 40, 40.0);
        assert!((0..1000).all(|number| zipf.rank(&mut Draws::of(1, number)) == 1));
    }
}
