//! Draws random numbers that are the same on every machine, and the distributions of CPN Tools.
//!
//! Source: splitmix64 (Steele, Lea and Flood, OOPSLA 2014); the distributions by inversion, sums and, for gamma, Marsaglia and Tsang (ACM
//! TOMS 26, 2000). CPN Tools draws other numbers from the same distributions.

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(STEP);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A stream of random numbers.
#[derive(Clone, Copy, Debug)]
pub struct Draws(u64);

impl Draws {
    /// The stream of this number.
    pub fn of(seed: u64, number: u64) -> Self {
        Self(mix(seed ^ mix(number)))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A whole number below `end`, which is above 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// A number above 0 and at most 1.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Evenly between two numbers.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (1.0 - self.unit())
    }

    /// Mean `1 / rate`.
    pub fn exponential(&mut self, rate: f64) -> f64 {
        -self.unit().ln() / rate
    }

    /// The sum of `n` exponential draws.
    pub fn erlang(&mut self, n: u64, rate: f64) -> f64 {
        (0..n).map(|_| self.exponential(rate)).sum()
    }

    /// Mean 0, variance 1 (Box and Muller).
    pub fn standard_normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Shape `shape`, rate `rate`.
    pub fn gamma(&mut self, shape: f64, rate: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0, rate) * self.unit().powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.standard_normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.unit().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v / rate;
            }
        }
    }

    /// Mean `mean`.
    pub fn poisson(&mut self, mean: f64) -> i64 {
        // A large mean is a sum of smaller ones, so that no product becomes 0.
        if mean > 500.0 {
            return self.poisson(mean / 2.0) + self.poisson(mean / 2.0);
        }
        let (mut found, mut product, limit) = (0, self.unit(), (-mean).exp());
        while product > limit {
            found += 1;
            product *= self.unit();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(n: usize, mut draw: impl FnMut() -> f64) -> f64 {
        (0..n).map(|_| draw()).sum::<f64>() / n as f64
    }

    #[test]
    fn the_means_are_those_of_the_distributions() {
        let mut draws = Draws::of(1, 1);
        let near = |found: f64, wanted: f64| {
            assert!((found - wanted).abs() < 0.03 * wanted.max(1.0), "{found} for {wanted}")
        };
        near(mean(20_000, || draws.exponential(0.5)), 2.0);
        near(mean(20_000, || draws.erlang(3, 1.5)), 2.0);
        near(mean(20_000, || draws.gamma(0.5, 2.0)), 0.25);
        near(mean(20_000, || draws.gamma(4.0, 2.0)), 2.0);
        near(mean(20_000, || draws.poisson(3.0) as f64), 3.0);
        near(mean(200, || draws.poisson(2000.0) as f64), 2000.0);
        near(mean(20_000, || draws.standard_normal().powi(2)), 1.0);
        near(mean(20_000, || draws.uniform(2.0, 4.0)), 3.0);
    }
}
