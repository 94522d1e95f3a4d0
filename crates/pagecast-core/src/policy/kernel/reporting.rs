//! Free page reporting: a virtual machine tells its host which pages are free, and the host takes their memory back. Who touches such a
//! page first waits until the host has given it some.
//!
//! Source: `mm/page_reporting.c: page_reporting_process, page_reporting_cycle` (every 2 s while there is something to report, a sixteenth of
//! the free blocks, not below the low mark and 64 MiB), `mm/page_alloc.c: __putback_isolated_page` (what is reported goes to the end of
//! the free lists, so that other pages are taken first), Linux 6.18. A host that needs no reports takes nothing back, and costs nothing.
//! Left out: that only whole blocks of 2 MiB are reported, and that nodes do it apart. What reclaim frees is taken at once.

use super::tasks::Task;
use super::{Kernel, PAGE};
use crate::units::Nanos;

/// `PAGE_REPORTING_DELAY`.
const DELAY: Nanos = Nanos(2_000_000_000);
/// `PAGE_REPORTING_CAPACITY * 16`: of the free blocks, one in so many batches in a pass.
const PASSES: u64 = 16;
/// `PAGE_REPORTING_CAPACITY << page_reporting_order`: so much stays above the low mark.
const KEPT: u64 = 32 * (2 << 20);

/// Free memory that the host has not taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backed {
    bytes: u64,
    /// What was free when it was last looked at,
    free: u64,
    /// and when some is reported next.
    pass: Option<Nanos>,
}

impl Backed {
    /// So much of so much free memory, at time 0.
    pub(super) fn new(bytes: u64, free: u64) -> Self {
        Self { bytes: bytes.min(free), free, pass: (bytes > 0).then_some(DELAY) }
    }

    /// So much is free now, and down to `least` is reported. What was freed since is backed, what was taken was backed first.
    fn observe(&mut self, now: Nanos, free: u64, least: u64) {
        while let Some(pass) = self.pass.filter(|&pass| pass <= now) {
            if self.free > least {
                self.bytes -= self.free.div_ceil(PASSES).min(self.bytes);
            }
            self.pass = (self.bytes > 0).then(|| pass + DELAY);
        }
        if free > self.free {
            self.bytes += free - self.free;
            self.pass = self.pass.or(Some(now + DELAY));
        } else {
            self.bytes = self.bytes.saturating_sub(self.free - free);
        }
        self.free = free;
    }
}

impl Kernel {
    /// Looks at what has become free or has been taken.
    pub(super) fn look_at_backed(&mut self, now: Nanos) {
        if let Some(backed) = &mut self.backed {
            backed.observe(now, self.pages.free(), self.pages.low() + KEPT);
        }
    }

    /// How many pages a task touches first since the host took them back, for each page that it moves.
    pub(super) fn reported(&self, task: &Task) -> f64 {
        match self.backed {
            Some(Backed { bytes, .. }) if bytes < PAGE && !self.pages.is_short() => task.pages_taken(),
            _ => 0.0,
        }
    }

    /// How much can be taken before that costs more.
    pub(super) fn until_reported(&self) -> u64 {
        self.backed.map_or(u64::MAX, |backed| if backed.bytes < PAGE { u64::MAX } else { backed.bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    fn after(seconds: u64) -> Nanos {
        Nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn what_was_freed_is_taken_first() {
        let mut backed = Backed::new(0, 8 * GB);
        backed.observe(after(1), 5 * GB, 0);
        assert_eq!(backed.bytes, 0);
        backed.observe(after(1), 7 * GB, 0);
        backed.observe(after(1), 6 * GB, 0);
        assert_eq!(backed.bytes, GB);
    }

    #[test]
    fn a_sixteenth_of_what_is_free_is_reported_every_two_seconds() {
        let mut backed = Backed::new(0, 8 * GB);
        backed.observe(after(1), 16 * GB, 0);
        backed.observe(Nanos(2_999_999_999), 16 * GB, 0);
        assert_eq!(backed.bytes, 8 * GB);
        backed.observe(after(5), 16 * GB, 0);
        assert_eq!(backed.bytes, 6 * GB);
        backed.observe(after(100), 16 * GB, 0);
        assert_eq!((backed.bytes, backed.pass), (0, None));
        let mut kept = Backed::new(GB, 2 * GB);
        kept.observe(after(100), 2 * GB, 3 * GB);
        assert_eq!(kept.bytes, GB, "so little is not reported");
    }
}
