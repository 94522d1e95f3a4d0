//! Serves requests as a disk does that takes the same time for each, so many at a time, within a limit of bandwidth.
//!
//! Source: `drivers/block/null_blk/main.c: null_handle_throttled, nullb_bwtimer_fn`, Linux 6.12 (`completion_nsec`, `hw_queue_depth`, `mbps`).
//! The limit is a number of bytes for each interval; a request that goes beyond it waits for the next, and all others behind it.

use std::collections::VecDeque;

use super::request::Request;
use crate::units::{Bytes, Nanos};

/// Requests whose ends are no further apart are complete together, if that is no more than a tenth of their time: the interrupt that ends
/// one takes as long, and then ends all that are due. Their order, and so who waits, depends on it.
const TOGETHER: Nanos = Nanos(20_000);

/// Bytes that pass in each interval.
#[derive(Clone, Copy, Debug)]
struct Budget {
    bytes: Bytes,
    interval: Nanos,
    left: u64,
    /// The end of the current interval, if one has begun.
    ends: Option<Nanos>,
}

/// A disk; see the module.
#[derive(Debug)]
pub struct Service {
    depth: u32,
    time: Nanos,
    budget: Option<Budget>,
    /// Requests that are served, and when that ends, by that time.
    served: VecDeque<(Nanos, Request)>,
    /// Requests that have a tag of the disk and wait for its budget.
    held: VecDeque<Request>,
}

impl Service {
    /// A disk that serves `depth` requests at a time, each in `time`.
    #[must_use]
    pub fn new(depth: u32, time: Nanos) -> Self {
        Self { depth: depth.max(1), time, budget: None, served: VecDeque::new(), held: VecDeque::new() }
    }

    /// The same disk, with so many bytes for each interval.
    #[must_use]
    pub fn limited(self, bytes: Bytes, interval: Nanos) -> Self {
        Self { budget: Some(Budget { bytes, interval, left: bytes.0, ends: None }), ..self }
    }

    /// Requests that it serves at a time.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// True if it takes another request.
    pub(super) fn has_room(&self) -> bool {
        self.under_way() < u64::from(self.depth)
    }

    /// The requests that it has.
    pub(super) fn under_way(&self) -> u64 {
        (self.served.len() + self.held.len()) as u64
    }

    /// Takes a request.
    pub(super) fn begin(&mut self, now: Nanos, request: Request) {
        self.held.push_back(request);
        self.serve(now);
    }

    /// Serves requests as far as the budget goes.
    fn serve(&mut self, now: Nanos) {
        while let Some(&next) = self.held.front() {
            if !self.passes(now, next.bytes.0) {
                return;
            }
            self.held.pop_front();
            self.served.push_back((now + self.time, next));
        }
    }

    /// Takes the bytes of a request from the budget; false if nothing is left.
    fn passes(&mut self, now: Nanos, bytes: u64) -> bool {
        let Some(budget) = &mut self.budget else { return true };
        budget.ends.get_or_insert(now + budget.interval);
        let passes = budget.left > 0;
        // The last one may go beyond it.
        budget.left = if passes { budget.left.saturating_sub(bytes) } else { 0 };
        passes
    }

    /// The time at which it has served its next request, or its budget is new.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        let ends = self.budget.and_then(|budget| budget.ends).filter(|_| !self.held.is_empty());
        self.complete().into_iter().chain(ends).min()
    }

    /// The time at which its next requests are complete: the end of the last of those that end together.
    fn complete(&self) -> Option<Nanos> {
        let together = TOGETHER.min(Nanos(self.time.0 / 10));
        let mut ends = self.served.iter().map(|(end, _)| *end);
        let mut last = ends.next()?;
        while let Some(end) = ends.next().filter(|end| *end <= last + together) {
            last = end;
        }
        Some(last)
    }

    /// Brings it up to an instant. Returns what it has served.
    pub(super) fn advance(&mut self, now: Nanos) -> Vec<Request> {
        if let Some(budget) = &mut self.budget
            && let Some(ends) = budget.ends.filter(|ends| *ends <= now)
        {
            // An interval in which nothing passed ends the beat.
            let was_used = budget.left < budget.bytes.0;
            budget.left = budget.bytes.0;
            let passed = (now - ends).0 / budget.interval.0.max(1) + 1;
            let next = ends + Nanos(budget.interval.0 * passed);
            budget.ends = (was_used && passed == 1 || !self.held.is_empty()).then_some(next);
        }
        self.serve(now);
        let ended = self.served.iter().take_while(|(end, _)| *end <= now).count();
        self.served.drain(..ended).map(|(_, request)| request).collect()
    }
}
