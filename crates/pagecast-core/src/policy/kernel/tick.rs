//! Converts time to jiffies, `HZ` of them per second.
//!
//! Source: `CONFIG_HZ`; distributions choose 100, 250, 300 or 1000. Pauses and elapsed times are whole jiffies.

use crate::units::Nanos;

const SECOND: u64 = 1_000_000_000;

/// Jiffies per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hz(pub u64);

impl Hz {
    /// Returns the jiffies that have begun by `at`.
    pub fn jiffies(self, at: Nanos) -> u64 {
        mul_div(at.0, self.0, SECOND)
    }

    /// Returns the jiffies of a delay, rounded up (`msecs_to_jiffies`).
    pub fn jiffies_of(self, delay: Nanos) -> u64 {
        (u128::from(delay.0) * u128::from(self.0)).div_ceil(u128::from(SECOND)) as u64
    }

    /// Returns the time of so many jiffies, rounded up: a sleeper wakes no earlier than the tick.
    pub fn duration(self, jiffies: u64) -> Nanos {
        Nanos((u128::from(jiffies) * u128::from(SECOND)).div_ceil(u128::from(self.0)) as u64)
    }

    /// Returns the pages per second, for pages in so many jiffies.
    pub fn rate(self, pages: u64, jiffies: u64) -> u64 {
        mul_div(pages, self.0, jiffies.max(1))
    }
}

/// Returns `a * b / c`, rounded down, without overflow in between.
pub fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    (u128::from(a) * u128::from(b) / u128::from(c)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_counts_when_it_has_come() {
        let hz = Hz(250);
        assert_eq!(hz.jiffies(Nanos(3_999_999)), 0);
        assert_eq!(hz.jiffies(Nanos(4_000_000)), 1);
        assert_eq!(hz.duration(50), Nanos(200_000_000));
        assert_eq!([4_000_000, 4_000_001].map(|delay| hz.jiffies_of(Nanos(delay))), [1, 2]);
        assert_eq!(Hz(300).duration(1), Nanos(3_333_334));
        assert_eq!(Hz(300).jiffies(Hz(300).duration(7)), 7);
    }

    #[test]
    fn a_rate_is_per_second() {
        assert_eq!(Hz(250).rate(10_240, 51), 50_196);
        assert_eq!(Hz(250).rate(7, 0), 1750);
    }
}
