//! Keeps the bytes that a thread has made dirty since its last check, and the pause that it sleeps.
//!
//! Source: `include/linux/sched.h: nr_dirtied, nr_dirtied_pause, dirty_paused_when`, Linux 6.16. The decision at a check is in `page_writeback`.

use crate::policy::kernel::page::PAGE;
use crate::units::Nanos;

/// Pages between two checks on a device over its limit (`balance_dirty_pages_ratelimited`, 32 KiB).
const EXCEEDED: u64 = 8;

/// The counters of a thread whose pauses are taken one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Bytes made dirty since the last check (`nr_dirtied`).
    pub dirtied: u64,
    /// Pages after which the next check comes (`nr_dirtied_pause`).
    pub due: u64,
    /// Pages at its last check, if they were not counted then.
    pub gathered: u64,
    /// The jiffy at which its last pause ended; nothing if it never paused.
    pub paused_when: Option<u64>,
    /// The end of the pause that it sleeps.
    pub sleeps_until: Option<Nanos>,
    /// Pages for which it is checked again when it wakes: at the hard limit a thread sleeps until it may write.
    pub checked_again: Option<u64>,
}

impl Checks {
    /// Those of a thread that has made nothing dirty, and is first checked after so many pages.
    pub fn new(due: u64) -> Self {
        Self { dirtied: 0, due, gathered: 0, paused_when: None, sleeps_until: None, checked_again: None }
    }

    /// Returns the bytes after which a thread is checked that fills folios of so many pages: it is checked after each. On a device over its limit it
    /// `hurries`.
    pub fn due_bytes(&self, folio: u64, hurries: bool) -> u64 {
        let due = if hurries { self.due.min(self.gathered + EXCEEDED) } else { self.due };
        due.max(1).next_multiple_of(folio) * PAGE
    }

    /// True if the thread is to be checked, but for a part of a page.
    pub fn is_due(&self, folio: u64, hurries: bool) -> bool {
        self.dirtied + PAGE > self.due_bytes(folio, hurries)
    }

    /// Returns the bytes that are left until the next check.
    pub fn left(&self, folio: u64, hurries: bool) -> u64 {
        self.due_bytes(folio, hurries).saturating_sub(self.dirtied)
    }

    /// Begins to count anew, after a check of so many pages.
    pub fn count_anew(&mut self, pages: u64) {
        self.dirtied = self.dirtied.saturating_sub(pages * PAGE);
        self.gathered = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_comes_after_whole_folios() {
        let checks = Checks { dirtied: 198 * PAGE, ..Checks::new(200) };
        assert_eq!([1, 64].map(|folio| checks.due_bytes(folio, false) / PAGE), [200, 256]);
        assert_eq!([1, 64].map(|folio| checks.left(folio, false) / PAGE), [2, 58]);
        let is_due = |bytes| Checks { dirtied: bytes, ..checks }.is_due(1, false);
        assert_eq!([199 * PAGE, 199 * PAGE + 1].map(is_due), [false, true]);
        let mut counted = Checks { dirtied: 200 * PAGE + 7, ..checks };
        counted.count_anew(200);
        assert_eq!(counted.dirtied, 7);
        let hurried = [0, 16, 196].map(|gathered| Checks { gathered, ..checks }.due_bytes(1, true) / PAGE);
        assert_eq!(hurried, [8, 24, 200]);
    }
}
