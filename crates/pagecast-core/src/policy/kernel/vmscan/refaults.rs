//! Refault storms: memory is too small for what is read again and again.
//!
//! The kernel counts pages that are read back after they were evicted (`mm/workingset.c: workingset_refault`, the counter
//! `workingset_refault_file`) and leaves it to others to judge. The rule here is ours: a storm is when for a second or more at least
//! half of what the devices read was such pages, and no less than 16 MiB in a second. What was read is known when it is settled, at the
//! latest after 5 s: a storm begins and ends that exactly. Pages that left so long ago that even twice the memory would not have
//! kept them are no more known (`lists::shadows`).

use crate::policy::kernel::Kernel;
use crate::policy::kernel::model::told::Key;
use crate::units::Nanos;

/// Looked at for so long.
const WINDOW: Nanos = Nanos(1_000_000_000);
/// A few small files are no storm: so many bytes per second.
const LEAST_RATE: f64 = (16 << 20) as f64;

/// What has come from devices, in bytes since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refaults {
    /// All of it.
    pub read: u64,
    /// What had been evicted: `workingset_refault_file`.
    pub refaulted: u64,
}

/// When refaults were last looked at, and what they were.
#[derive(Clone, Copy, Debug, Default)]
pub struct Storm {
    seen: Refaults,
    at: Nanos,
    is_on: bool,
}

impl Refaults {
    /// Whether what has come since `before`, in so many seconds, is a storm.
    fn is_storm(&self, before: &Self, seconds: f64) -> bool {
        let (read, refaulted) = (self.read - before.read, self.refaulted - before.refaulted);
        2 * refaulted >= read && refaulted as f64 >= LEAST_RATE * seconds
    }
}

impl Kernel {
    /// All that has been read is settled: a storm may have begun, or have ended.
    pub fn look_at_refaults(&mut self, now: Nanos) {
        if now < self.told.storm.at + WINDOW {
            return;
        }
        let (before, counts) = (self.told.storm, self.pages.refaults);
        let is_on = counts.is_storm(&before.seen, (now - before.at).as_seconds());
        if is_on != before.is_on {
            self.told.spells.turn(before.at, Key::REFAULT_STORM, is_on, before.seen.refaulted);
        }
        self.told.storm = Storm { seen: counts, at: now, is_on };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::tests::kernel;

    #[test]
    fn half_of_what_is_read_and_16_mib_a_second_are_a_storm() {
        let before = Refaults { read: 100 << 20, refaulted: 50 << 20 };
        let after = |read: u64, refaulted: u64| Refaults {
            read: before.read + (read << 20),
            refaulted: before.refaulted + (refaulted << 20),
        };
        assert!(after(64, 32).is_storm(&before, 2.0));
        assert!(!after(65, 32).is_storm(&before, 2.0), "less than half");
        assert!(!after(32, 31).is_storm(&before, 2.0), "too little");
    }

    #[test]
    fn a_storm_begins_when_a_second_is_over() {
        let mut kernel = kernel("");
        kernel.pages.refaults = Refaults { read: 32 << 20, refaulted: 32 << 20 };
        let is_on = [WINDOW.0 - 1, WINDOW.0].map(|now| {
            kernel.look_at_refaults(Nanos(now));
            kernel.told.storm.is_on
        });
        assert_eq!(is_on, [false, true]);
    }
}
