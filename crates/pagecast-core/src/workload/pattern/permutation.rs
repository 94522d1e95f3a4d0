//! Puts numbers in a random order without a table of them.
//!
//! Source: Black and Rogaway, *Ciphers with Arbitrary Finite Domains*, CT-RSA 2002, "generalized Feistel" and "cycle walking". A Feistel
//! network permutes the numbers of so many bits; one that is not meant is permuted again until one comes that is.

use crate::random::mix;

/// An even number: halves of different widths are in their places again.
const ROUNDS: usize = 6;

/// A random order of the numbers below another one.
#[derive(Clone, Debug)]
pub(super) struct Permutation {
    count: u64,
    /// The bits of both halves.
    bits: [u32; 2],
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// Of the numbers below `count`, which is above 0.
    pub(super) fn new(count: u64, seed: u64) -> Self {
        let bits = (64 - (count - 1).leading_zeros()).max(2);
        let key = |round: usize| mix(seed ^ mix(round as u64));
        Self { count, bits: [bits / 2, bits - bits / 2], keys: std::array::from_fn(key) }
    }

    /// The number at a place.
    pub(super) fn of(&self, place: u64) -> u64 {
        let mut number = self.permuted(place);
        while number >= self.count {
            number = self.permuted(number);
        }
        number
    }

    fn permuted(&self, number: u64) -> u64 {
        let [mut wide, mut narrow] = [self.bits[1], self.bits[0]];
        let (mut left, mut right) = (number >> narrow, number & mask(narrow));
        for key in self.keys {
            (left, right) = (right, left ^ (mix(key ^ right) & mask(wide)));
            (wide, narrow) = (narrow, wide);
        }
        left << narrow | right
    }
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for count in (1..70).chain([127, 128, 129, 4095, 4097, 65_537, 1_000_003]) {
            let permutation = Permutation::new(count, count);
            let mut seen = vec![false; count as usize];
            (0..count).for_each(|place| seen[permutation.of(place) as usize] = true);
            assert!(seen.iter().all(|&is| is), "{count}");
        }
    }

    #[test]
    fn the_largest_range_has_one() {
        for count in [u64::MAX, 1 << 63, (1 << 63) + 1, (1 << 40) - 3] {
            let permutation = Permutation::new(count, 1);
            let numbers = [0, 1, count / 2, count - 1].map(|place| permutation.of(place));
            assert!(numbers.iter().all(|&number| number < count));
            assert!(numbers.iter().enumerate().all(|(at, number)| !numbers[..at].contains(number)));
        }
    }
}
