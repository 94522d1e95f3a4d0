//! Thrashing: memory is too small for what is read again and again. The events are called `refault_storm_begins` and `_ends`.
//!
//! The kernel counts pages that are read back after they were evicted (`mm/workingset.c: workingset_refault`, the counter
//! `workingset_refault_file`) and leaves it to others to judge. The rule here is ours: a host thrashes when for a second or more at
//! least half of what the devices read was such pages, and no less than 16 MiB in a second. What was read is known when it is settled, at the
//! latest after 5 s: thrashing begins and ends that exactly. Pages that left so long ago that even twice the memory would not have
//! kept them are no more known (`shadows`).

use crate::units::Nanos;

/// Looked at for so long.
pub const WINDOW: Nanos = Nanos(1_000_000_000);
/// With fewer bytes per second a host does not thrash: a few small files are read.
const LEAST_RATE: f64 = (16 << 20) as f64;

/// What has come from devices, in bytes since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refaults {
    /// All of it.
    pub read: u64,
    /// What had been evicted: `workingset_refault_file`.
    pub refaulted: u64,
}

impl Refaults {
    /// Whether what has come since `before`, in so many seconds, is thrashing.
    pub fn is_thrashing(&self, before: &Self, seconds: f64) -> bool {
        let (read, refaulted) = (self.read - before.read, self.refaulted - before.refaulted);
        2 * refaulted >= read && refaulted as f64 >= LEAST_RATE * seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_is_read_and_16_mib_a_second_are_a_storm() {
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
