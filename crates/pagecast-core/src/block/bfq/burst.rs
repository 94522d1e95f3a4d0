//! Notices many threads that begin at once, whose weights are not raised.
//!
//! Source: `block/bfq-iosched.c: bfq_handle_burst, bfq_add_to_burst`, Linux 6.12.

use crate::units::Nanos;

/// `bfq_large_burst_thresh`, `bfq_burst_interval`
const LARGE: usize = 8;
const INTERVAL: Nanos = Nanos(180_000_000);

/// The threads that began shortly one after the other.
#[derive(Debug, Default)]
pub struct Burst {
    threads: Vec<u32>,
    is_large: bool,
    last: Nanos,
}

impl Burst {
    /// Notes a new thread. Returns the threads that belong to a large burst from now on.
    pub fn began(&mut self, now: Nanos, thread: u32, is_anybody_busy: bool) -> Vec<u32> {
        if self.threads.is_empty() && !self.is_large && is_anybody_busy {
            return Vec::new();
        }
        let is_late = self.last + INTERVAL < now;
        self.last = now;
        if is_late {
            self.is_large = false;
            self.threads.clear();
            if !is_anybody_busy {
                self.threads.push(thread);
            }
            return Vec::new();
        }
        if self.is_large {
            return vec![thread];
        }
        self.threads.push(thread);
        self.is_large = self.threads.len() >= LARGE;
        if self.is_large { std::mem::take(&mut self.threads) } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eighth_thread_within_180_ms_makes_a_burst_large() {
        let mut burst = Burst::default();
        let at = |thread: u32| Nanos(u64::from(thread) * 100_000_000);
        for thread in 0..7 {
            assert!(burst.began(at(thread), thread, thread > 0).is_empty());
        }
        assert_eq!(burst.began(at(7), 7, true), (0..8).collect::<Vec<_>>());
        assert_eq!(burst.began(at(8), 8, true), [8]);
        assert!(burst.began(at(10), 9, true).is_empty(), "the burst is over");
    }
}
