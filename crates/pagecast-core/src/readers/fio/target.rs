//! Searches the depth at which latencies stay below a target (`latency_target`, fio's `io_u.c`).
//!
//! The depth begins at 1. At the end of each `latency_window` it grows if enough requests were below the target, doubling until one window
//! has failed and halving the distance after that; else it shrinks. When it does not change any more, one window more is run.

use crate::units::Nanos;

/// `latency_target` and its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// `latency_target`; 0 is none.
    pub latency: Nanos,
    /// `latency_window`.
    pub window: Nanos,
    /// `latency_percentile`.
    pub percentile: f64,
    /// `latency_run`.
    pub keeps_on: bool,
}

/// What follows from a window or a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    GoOn,
    /// What is under way ends first.
    Drain,
    /// The depth has been found.
    Found,
    /// Even one request at a time takes longer than the target.
    Failed,
}

/// Where the search is.
#[derive(Clone, Debug)]
pub struct Search {
    target: Target,
    most: u32,
    /// The requests that may be under way.
    pub depth: u32,
    low: u32,
    high: u32,
    since: Nanos,
    requests: u64,
    late: u64,
    stable: u32,
    is_last: bool,
}

impl Search {
    /// At its begin, with a depth of at most `most`.
    pub fn new(target: Target, most: u32) -> Self {
        Self {
            target,
            most,
            depth: 1,
            low: 1,
            high: most,
            since: Nanos::ZERO,
            requests: 0,
            late: 0,
            stable: 0,
            is_last: false,
        }
    }

    /// Begins a window (`lat_new_cycle`).
    pub fn begin(&mut self, now: Nanos) {
        (self.since, self.requests, self.late) = (now, 0, 0);
    }

    /// Notes a request that has ended.
    pub fn note(&mut self, took: Nanos, now: Nanos) -> Next {
        self.requests += 1;
        if took <= self.target.latency {
            return Next::GoOn;
        }
        if self.target.percentile >= 100.0 {
            return self.shrink(now);
        }
        self.late += 1;
        Next::GoOn
    }

    /// Judges the window, if it is over (`lat_target_check`).
    pub fn look(&mut self, now: Nanos) -> Next {
        if now.saturating_sub(self.since) < self.target.window || self.requests == 0 {
            return Next::GoOn;
        }
        let share = (self.requests - self.late) as f64 / self.requests as f64 * 100.0;
        if share >= self.target.percentile {
            return self.grow(now);
        }
        // Only a latency that may not occur at all ends the job at depth 1.
        match self.shrink(now) {
            Next::Failed => Next::GoOn,
            next => next,
        }
    }

    fn shrink(&mut self, now: Nanos) -> Next {
        if self.depth == 1 {
            return Next::Failed;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = (self.depth + self.low) / 2;
        self.stable = 0;
        self.begin(now);
        Next::Drain
    }

    fn grow(&mut self, now: Nanos) -> Next {
        let before = self.depth;
        self.low = before;
        if before + 1 == self.high {
            self.stable += 1;
            if self.stable >= 3 {
                (self.high, self.stable) = (self.high + 1, 0);
            }
        }
        let next = if self.high == self.most { before * 2 } else { (before + self.high) / 2 };
        self.depth = next.min(self.most);
        self.begin(now);
        if self.target.keeps_on || self.depth != before {
            return Next::GoOn;
        }
        if self.is_last {
            return Next::Found;
        }
        self.is_last = true;
        Next::Drain
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The depths of windows in which a request takes as many microseconds as requests are under way.
    fn depths(target: u64, most: u32, windows: usize, percentile: f64) -> (Vec<u32>, Next) {
        let target =
            Target { latency: Nanos(target * 1000), window: Nanos(1_000_000), percentile, keeps_on: false };
        let mut search = Search::new(target, most);
        let (mut all, mut now) = (vec![search.depth], 0);
        for _ in 0..windows {
            let mut next = Next::GoOn;
            let depth = search.depth;
            while search.depth == depth && next == Next::GoOn && now < search.since.0 + 1_000_000 {
                now += u64::from(depth) * 1000;
                next = search.note(Nanos(u64::from(depth) * 1000), Nanos(now));
            }
            if next == Next::GoOn {
                next = search.look(Nanos(now));
            }
            all.push(search.depth);
            if matches!(next, Next::Found | Next::Failed) {
                return (all, next);
            }
        }
        (all, Next::GoOn)
    }

    #[test]
    fn the_depth_doubles_to_its_most() {
        assert_eq!(depths(1000, 20, 20, 99.0), (vec![1, 2, 4, 8, 16, 20, 20, 20], Next::Found));
    }

    #[test]
    fn the_depth_is_found_between_two() {
        let (all, next) = depths(10, 64, 40, 99.0);
        assert_eq!((all.last(), next), (Some(&10), Next::Found), "{all:?}");
    }

    #[test]
    fn one_at_a_time_may_take_too_long() {
        assert_eq!(depths(0, 8, 5, 100.0), (vec![1, 1], Next::Failed));
    }

    proptest! {
        #[test]
        fn what_is_found_holds_the_target(target in 1_u64..200, most in 1_u32..300, all: bool) {
            let (depths, next) = depths(target, most, 200, if all { 100.0 } else { 99.0 });
            let last = *depths.last().unwrap();
            prop_assert!(last >= 1 && last <= most, "{depths:?}");
            if next == Next::Found {
                prop_assert!(u64::from(last) <= target, "{depths:?}");
                prop_assert!(last == most || u64::from(last) * 2 > target, "{depths:?}");
            }
        }
    }
}
