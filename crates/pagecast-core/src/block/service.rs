//! Serves requests as a disk does that takes the same time for each, so many at a time, behind a link, within a limit of bandwidth; or as one
//! that turns, or as an array of such disks.
//!
//! Source: `drivers/block/null_blk/main.c: null_handle_throttled, nullb_bwtimer_fn`, Linux 6.12 (`completion_nsec`, `hw_queue_depth`, `mbps`).
//! The limit is a number of bytes for each interval. A request that goes beyond it waits for the next, and all others behind it that have left the
//! scheduler, which keeps the rest until these are served (`block/blk-mq.c: blk_mq_dispatch_rq_list, hctx->dispatch`).
//!
//! A disk that turns serves one request at a time: of those it has (NCQ) the one that its head reaches first. Left out: an age at which such a
//! disk prefers a request that waits, and a cache that writes are complete in.

use std::collections::VecDeque;

use super::raid::Array;
use super::request::{Direction, Request};
use super::rotation::Mechanics;
use crate::machine::Raid;
use crate::units::{Bytes, BytesPerSecond, Nanos, earlier};

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

/// The head of a disk that turns, and the rates of its first track for reads and writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    mechanics: Mechanics,
    at: Option<u64>,
    rates: (f64, f64),
}

impl Head {
    /// Moves it over a request, which was the best of so many. Returns the time of that.
    pub(super) fn go(&mut self, request: &Request, choices: usize) -> Nanos {
        let time = Nanos::from_seconds(self.seconds(request, choices));
        self.at = Some(request.end());
        time
    }

    /// Seconds until a request is complete if it is next, of so many.
    pub(super) fn seconds(&self, request: &Request, choices: usize) -> f64 {
        let rate = if request.direction == Direction::Read { self.rates.0 } else { self.rates.1 };
        let bytes = request.bytes.0 as f64 / (rate * self.mechanics.zone(request.position));
        self.mechanics.positioning(self.at, request.position, choices, rate) + bytes
    }
}

/// The bytes per second that a disk moves at most.
#[derive(Clone, Copy, Debug)]
struct Rates {
    each: (f64, f64),
    is_separate: bool,
    until: [Nanos; 2],
}

impl Rates {
    /// Returns when the bytes of a request have moved that is served from now on.
    fn moved(&mut self, now: Nanos, request: &Request) -> Nanos {
        let is_read = request.direction == Direction::Read;
        let rate = if is_read { self.each.0 } else { self.each.1 };
        let until = &mut self.until[usize::from(self.is_separate && !is_read)];
        *until = now.max(*until) + Nanos::from_seconds(request.bytes.0 as f64 / rate);
        *until
    }
}

/// A disk; see the module.
#[derive(Debug)]
pub struct Service {
    depth: u32,
    time: Nanos,
    budget: Option<Budget>,
    head: Option<Head>,
    /// The disks that it is made of.
    array: Option<Array>,
    /// The bytes per second of its link, over which one request goes after the other, and until when the link is busy.
    link: Option<f64>,
    link_until: Nanos,
    /// The rates of reads and writes that it does not exceed, and until when it moves bytes of each, or of both.
    rates: Option<Rates>,
    /// Requests that are served, and when that ends, by that time.
    served: VecDeque<(Nanos, Request)>,
    /// Requests that have a tag of the disk and wait for its budget.
    held: VecDeque<Request>,
}

impl Service {
    /// A disk that serves `depth` requests at a time, each in `time`.
    #[must_use]
    pub fn new(depth: u32, time: Nanos) -> Self {
        Self {
            depth: depth.max(1),
            time,
            budget: None,
            head: None,
            array: None,
            link: None,
            link_until: Nanos::ZERO,
            rates: None,
            served: VecDeque::new(),
            held: VecDeque::new(),
        }
    }

    /// The same disk, with so many bytes for each interval.
    #[must_use]
    pub fn limited(self, bytes: Bytes, interval: Nanos) -> Self {
        Self { budget: Some(Budget { bytes, interval, left: bytes.0, ends: None }), ..self }
    }

    /// The same disk, which moves no more than so many bytes per second of reads and of writes, each for itself if these are `separate`. Bytes
    /// move while a request is served.
    #[must_use]
    pub fn moving(self, each: (f64, f64), is_separate: bool) -> Self {
        Self { rates: Some(Rates { each, is_separate, until: [Nanos::ZERO; 2] }), ..self }
    }

    /// The same disk behind a link: the bytes of its requests come one after the other.
    #[must_use]
    pub fn behind(self, link: BytesPerSecond) -> Self {
        Self { link: Some(link.0), ..self }
    }

    /// The time that a request is on the link.
    pub(super) fn copying(&self, request: &Request) -> Nanos {
        self.link.map_or(Nanos::ZERO, |link| Nanos::from_seconds(request.bytes.0 as f64 / link))
    }

    /// A disk that turns and takes `time` for each request besides, with these rates of reads and writes at its first byte.
    #[must_use]
    pub fn turning(self, mechanics: Mechanics, rates: (f64, f64)) -> Self {
        Self { head: Some(Head { mechanics, at: None, rates }), ..self }
    }

    /// An array of such disks, each with so many bytes.
    #[must_use]
    pub fn array(self, raid: Raid, size: Bytes) -> Self {
        let array = Array::new(raid, size, self.depth, self.time, self.head);
        Self { depth: self.depth.saturating_mul(raid.disks), array: Some(array), ..self }
    }

    /// Requests that it has at a time.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// True if it takes another request.
    pub(super) fn has_room(&self) -> bool {
        self.under_way() < u64::from(self.depth)
    }

    /// True if it takes nothing from a scheduler until all that it has been given has passed its limit.
    pub(super) fn is_stopped(&self) -> bool {
        self.budget.is_some() && !self.held.is_empty()
    }

    /// The requests that it has.
    pub(super) fn under_way(&self) -> u64 {
        let in_array = self.array.as_ref().map_or(0, Array::requests);
        (self.served.len() + self.held.len() + in_array) as u64
    }

    /// Takes a request.
    pub(super) fn begin(&mut self, now: Nanos, request: Request) {
        self.held.push_back(request);
        self.serve(now);
    }

    /// Serves requests as far as the budget goes.
    fn serve(&mut self, now: Nanos) {
        while let Some(at) = self.next() {
            let next = self.held[at];
            if self.link.is_some() && now < self.link_until {
                return;
            }
            if !self.passes(now, next.bytes.0) {
                return;
            }
            self.held.remove(at);
            if let Some(array) = &mut self.array {
                array.begin(now, next);
                continue;
            }
            let choices = self.held.len() + 1;
            let moved = self.head.as_mut().map_or(Nanos::ZERO, |head| head.go(&next, choices));
            self.link_until = now + self.copying(&next);
            let ends = self.link_until + self.time + moved;
            let moved = self.rates.as_mut().map_or(ends, |rates| rates.moved(now, &next));
            let ends = ends.max(moved);
            let at = self.served.partition_point(|(end, _)| *end <= ends);
            self.served.insert(at, (ends, next));
        }
    }

    /// The place of the request that is served next, among those that it has.
    fn next(&self) -> Option<usize> {
        let Some(head) = self.head.as_ref().filter(|_| self.array.is_none()) else {
            return (!self.held.is_empty()).then_some(0);
        };
        if !self.served.is_empty() {
            return None;
        }
        let seconds = |at: &usize| head.seconds(&self.held[*at], 1);
        (0..self.held.len()).min_by(|one, other| seconds(one).total_cmp(&seconds(other)))
    }

    /// Takes the bytes of a request from the budget; false if nothing is left.
    fn passes(&mut self, now: Nanos, bytes: u64) -> bool {
        let Some(budget) = &mut self.budget else { return true };
        budget.ends.get_or_insert(now + budget.interval);
        // One that is longer than the whole has an interval of its own.
        let passes = budget.left >= bytes.min(budget.bytes.0);
        budget.left = if passes { budget.left.saturating_sub(bytes) } else { 0 };
        passes
    }

    /// The time at which it has served its next request, or its budget is new.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        let ends = match self.budget {
            Some(budget) if budget.left == 0 || self.link.is_none() => budget.ends,
            _ => self.link.map(|_| self.link_until),
        };
        let ends = ends.filter(|_| !self.held.is_empty());
        let of_array = self.array.as_ref().and_then(Array::next_event);
        earlier(self.complete().into_iter().chain(ends).min(), of_array)
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
        let mut ended: Vec<Request> = self.served.drain(..ended).map(|(_, request)| request).collect();
        ended.extend(self.array.as_mut().map(|array| array.advance(now)).unwrap_or_default());
        // Its head is free for the next.
        if self.head.is_some() {
            self.serve(now);
        }
        ended
    }
}
