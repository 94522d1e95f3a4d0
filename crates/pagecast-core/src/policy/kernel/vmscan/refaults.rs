//! Judges thrashing: memory is too small for pages that are read again and again.
//!
//! Source: `mm/workingset.c: workingset_refault` and its counter `workingset_refault_file`, Linux 6.16. The kernel counts refaults and
//! leaves the judgement to others. The rule here is ours: a host thrashes when, for a second or more, at least half of the bytes that
//! devices read are refaults, and no less than 16 MiB per second. Its events are `refault_storm_begins` and `refault_storm_ends`.
//!
//! Reads are put into pages after 5 s at the latest, so thrashing begins and ends with that precision. Left out: pages evicted so long ago
//! that twice the memory would not have kept them (`shadows`).

use crate::units::Nanos;

/// The time over which refaults are judged.
pub const WINDOW: Nanos = Nanos(1_000_000_000);
/// Below so many bytes per second a host does not thrash: it reads a few small files.
const LEAST_RATE: f64 = (16 << 20) as f64;

/// The bytes that came from devices since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refaults {
    /// All of them.
    pub read: u64,
    /// The evicted ones among them: `workingset_refault_file`.
    pub refaulted: u64,
}

impl Refaults {
    /// True if the bytes since `before`, in so many seconds, mean thrashing.
    pub fn is_thrashing(&self, before: &Self, seconds: f64) -> bool {
        let (read, refaulted) = (self.read - before.read, self.refaulted - before.refaulted);
        2 * refaulted >= read && refaulted as f64 >= LEAST_RATE * seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_reads_and_16_mib_a_second_are_thrashing() {
        let before = Refaults { read: 100 << 20, refaulted: 50 << 20 };
        let after = |read: u64, refaulted: u64| Refaults {
            read: before.read + (read << 20),
            refaulted: before.refaulted + (refaulted << 20),
        };
        assert!(after(64, 32).is_thrashing(&before, 2.0));
        assert!(!after(65, 32).is_thrashing(&before, 2.0), "less than half");
        assert!(!after(32, 31).is_thrashing(&before, 2.0), "too little");
    }
}
