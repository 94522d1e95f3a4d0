//! Draws random numbers that are the same on every machine and in every version.
//!
//! Source: splitmix64 (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014). A draw depends on the names
//! and numbers that it is made for, and on no draw before it, so that one more somewhere changes no other.

/// The increment of splitmix64: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// FNV-1a, 64 bits: the same on every machine and in every version.
pub(crate) fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The finalizer of splitmix64.
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(STEP);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The seed of all that a process draws.
pub(crate) fn of_process(seed: u64, process: &str) -> u64 {
    mix(mix(seed) ^ hash(process))
}

/// A number above 0 and at most 1.
pub(crate) fn unit(random: u64) -> f64 {
    ((random >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// A whole number below another one, which is above 0. All are equally frequent, to one in 2^64 of them.
#[inline]
pub(crate) fn below(random: u64, end: u64) -> u64 {
    ((u128::from(random) * u128::from(end)) >> 64) as u64
}

/// The draws for one thing: splitmix64 itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws(u64);

impl Draws {
    /// Those for the thing of this number.
    pub(crate) fn of(seed: u64, number: u64) -> Self {
        Self(mix(seed ^ mix(number)))
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// The next one, above 0 and at most 1.
    pub(crate) fn next_unit(&mut self) -> f64 {
        unit(self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_above_0_and_at_most_1() {
        assert_eq!([unit(0), unit(u64::MAX)], [(2.0_f64).powi(-53), 1.0]);
    }

    #[test]
    fn numbers_below_another_reach_from_0_to_the_last() {
        assert_eq!([0, u64::MAX / 2 + 1, u64::MAX].map(|random| below(random, 10)), [0, 5, 9]);
        assert_eq!(below(u64::MAX, 1), 0);
        assert_eq!(below(u64::MAX, u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn draws_for_different_things_differ() {
        let first = |seed, number| Draws::of(seed, number).next();
        assert_eq!(first(7, 1), first(7, 1));
        assert!(first(7, 1) != first(7, 2) && first(7, 1) != first(8, 1));
    }
}
