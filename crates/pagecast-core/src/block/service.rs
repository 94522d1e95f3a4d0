//! Serves requests as a disk does that takes a time for each, so many at a time, behind a link, within a limit of bandwidth; or as one that
//! turns, or as an array of such disks.
//!
//! Source: `drivers/block/null_blk/main.c: null_handle_throttled, nullb_bwtimer_fn`, Linux 6.12 (`completion_nsec`, `hw_queue_depth`, `mbps`).
//! The limit is a number of bytes for each interval. It refuses the request that goes beyond, and all others until the next interval.
//!
//! A disk that turns serves one request at a time: of those it has (NCQ) the one that its head reaches first. With a write cache (`disk_cache`)
//! writes need no head. Left out: an age at which such a disk prefers a request that waits.

use std::collections::VecDeque;

use super::allowance::Allowance;
use super::disk_cache::DiskCache;
use super::raid::Array;
use super::request::{Direction, Request};
use super::rotation::Mechanics;
use super::times::Times;
use crate::machine::{Raid, San};
use crate::run_queue::RunQueue;
use crate::units::{Bytes, BytesPerSecond, Nanos, earlier};

/// Requests whose ends are no further apart are complete together, if that is no more than a tenth of their time: the interrupt that ends
/// one takes as long, and then ends all that are due. Their order, and so who waits, depends on it.
const TOGETHER: Nanos = Nanos(20_000);

/// Bytes that pass in each interval.
#[derive(Clone, Copy, Debug)]
struct Budget {
    bytes: Bytes,
    interval: Nanos,
    /// The rest of it; none when a request was refused.
    left: Option<u64>,
    /// The end of the current interval, if one has begun.
    ends: Option<Nanos>,
}

impl Budget {
    /// Takes bytes from it; false if these are more than are left.
    fn passes(&mut self, now: Nanos, bytes: Bytes) -> bool {
        self.give_out(now);
        self.ends.get_or_insert(now + self.interval);
        // One that is longer than the whole has an interval of its own.
        let least = bytes.0.min(self.bytes.0);
        let passes = self.left.filter(|left| *left >= least).map(|left| left.saturating_sub(bytes.0));
        self.left = passes;
        passes.is_some()
    }

    /// Gives it out anew at the ends of intervals (`nullb_bwtimer_fn`).
    fn give_out(&mut self, now: Nanos) {
        let Some(ends) = self.ends.filter(|ends| *ends <= now) else { return };
        // An interval in which nothing passed ends the beat.
        let was_used = self.left != Some(self.bytes.0);
        self.left = Some(self.bytes.0);
        let passed = (now - ends).0 / self.interval.0.max(1) + 1;
        let next = ends + Nanos(self.interval.0 * passed);
        self.ends = (was_used && passed == 1).then_some(next);
    }
}

/// The head of a disk that turns, and the rates of its first track for reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Head {
    mechanics: Mechanics,
    cache: Option<DiskCache>,
    at: Option<u64>,
    rates: (f64, f64),
}

impl Head {
    /// Moves it over a request, which was the best of so many. Returns the time of that.
    pub(super) fn go(&mut self, now: Nanos, request: &Request, choices: usize) -> Nanos {
        let range = (request.position, request.bytes.0);
        let (now, is_read) = (now.as_seconds(), request.direction == Direction::Read);
        let time = match &mut self.cache {
            Some(cache) if is_read => cache.read(now, range, self.rates.0, choices) + self.bytes(request),
            // The head stays where it is.
            Some(cache) => return Nanos::from_seconds(cache.put(now, range).max(self.bytes(request))),
            None => self.seconds(request, choices),
        };
        self.at = Some(request.end());
        Nanos::from_seconds(time)
    }

    /// Seconds until a request is complete if it is next, of so many.
    pub(super) fn seconds(&self, request: &Request, choices: usize) -> f64 {
        let is_read = request.direction == Direction::Read;
        if self.cache.is_some() && !is_read {
            return self.bytes(request);
        }
        let rate = if is_read { self.rates.0 } else { self.rates.1 };
        self.mechanics.positioning(self.at, request.position, choices, rate) + self.bytes(request)
    }

    /// Seconds of the bytes of a request alone.
    fn bytes(&self, request: &Request) -> f64 {
        let rate = if request.direction == Direction::Read { self.rates.0 } else { self.rates.1 };
        request.bytes.0 as f64 / (rate * self.mechanics.zone(request.position))
    }
}

/// The link before a disk that is elsewhere. Reads and writes cross it one after the other; writes, too, when the disk has them, which takes
/// as long.
#[derive(Clone, Debug)]
struct Link {
    /// Bytes in a second.
    rate: f64,
    round_trip: Nanos,
    /// The time up to which it has bytes to carry.
    busy: Nanos,
    /// Requests on it, and when they are over it.
    crossing: VecDeque<(Nanos, Request)>,
}

impl Link {
    /// Takes requests that the disk has served. Returns those that have crossed.
    fn cross(&mut self, now: Nanos, served: Vec<Request>) -> Vec<Request> {
        for request in served {
            self.busy = self.busy.max(now) + Nanos::from_seconds(request.bytes.0 as f64 / self.rate);
            self.crossing.push_back((self.busy + self.round_trip, request));
        }
        let crossed = self.crossing.iter().take_while(|(at, _)| *at <= now).count();
        self.crossing.drain(..crossed).map(|(_, request)| request).collect()
    }
}

/// A memory to and from which the bytes of requests are copied, one after the other.
#[derive(Clone, Copy, Debug)]
struct Copying {
    /// Bytes in a second.
    rate: f64,
    /// The time up to which it copies.
    until: Nanos,
}

impl Copying {
    /// Copies so many bytes. Returns when that is done.
    fn copy(&mut self, now: Nanos, bytes: Bytes, processors: &mut RunQueue) -> Nanos {
        self.until = processors.run(now, Nanos::from_seconds(bytes.0 as f64 / self.rate));
        self.until
    }
}

/// The bytes per second that a disk moves at most, or all disks of an array.
#[derive(Clone, Copy, Debug)]
struct Rates {
    each: (f64, f64),
    is_separate: bool,
    /// The times up to which it moves bytes of reads, or of all, and of writes.
    until: [Nanos; 2],
}

impl Rates {
    fn way(&self, request: &Request) -> usize {
        usize::from(self.is_separate && request.direction == Direction::Write)
    }

    /// Returns when the bytes of a request have moved that is served from now on.
    fn moved(&mut self, now: Nanos, request: &Request) -> Nanos {
        let rate = if request.direction == Direction::Read { self.each.0 } else { self.each.1 };
        let until = &mut self.until[self.way(request)];
        *until = now.max(*until) + Nanos::from_seconds(request.bytes.0 as f64 / rate);
        *until
    }
}

/// A disk; see the module.
#[derive(Debug)]
pub struct Service {
    depth: u32,
    times: Times,
    budget: Option<Budget>,
    allowance: Option<Allowance>,
    copying: Option<Copying>,
    rates: Option<Rates>,
    link: Option<Link>,
    head: Option<Head>,
    /// The disks that it is made of.
    array: Option<Array>,
    /// Requests that are served, and when that ends, by that time.
    served: VecDeque<(Nanos, Request)>,
    /// Requests that have a tag of the disk and wait for its allowance or its head.
    held: VecDeque<Request>,
}

impl Service {
    /// A disk that serves `depth` requests at a time, each in `time`.
    #[must_use]
    pub fn new(depth: u32, time: Nanos) -> Self {
        Self::timed(depth, Times::equal(time))
    }

    /// A disk that serves `depth` requests at a time, each in a time of its own.
    #[must_use]
    pub fn timed(depth: u32, times: Times) -> Self {
        Self {
            depth: depth.max(1),
            times,
            budget: None,
            allowance: None,
            copying: None,
            rates: None,
            link: None,
            head: None,
            array: None,
            served: VecDeque::new(),
            held: VecDeque::new(),
        }
    }

    /// The same disk, with so many bytes for each interval.
    #[must_use]
    pub fn limited(self, bytes: Bytes, interval: Nanos) -> Self {
        Self { budget: Some(Budget { bytes, interval, left: Some(bytes.0), ends: None }), ..self }
    }

    /// The same disk, with so many requests in a second.
    #[must_use]
    pub fn allowed(self, allowance: Allowance) -> Self {
        Self { allowance: Some(allowance), ..self }
    }

    /// The same disk, in a memory of such a rate.
    #[must_use]
    pub fn copied(self, rate: BytesPerSecond) -> Self {
        Self { copying: Some(Copying { rate: rate.0, until: Nanos::ZERO }), ..self }
    }

    /// The same disk, which moves no more than so many bytes per second of reads and of writes, each for itself if these are `separate`. Bytes
    /// move while a request is served.
    #[must_use]
    pub fn moving(self, each: (f64, f64), is_separate: bool) -> Self {
        Self { rates: Some(Rates { each, is_separate, until: [Nanos::ZERO; 2] }), ..self }
    }

    /// The same disk, behind a link.
    #[must_use]
    pub fn behind(self, san: &San) -> Self {
        let (rate, round_trip) = (san.rate.0, san.round_trip);
        Self { link: Some(Link { rate, round_trip, busy: Nanos::ZERO, crossing: VecDeque::new() }), ..self }
    }

    /// A disk that turns and takes `time` for each request besides, with these rates of reads and writes at its first byte.
    #[must_use]
    pub fn turning(self, mechanics: Mechanics, rates: (f64, f64)) -> Self {
        Self { head: Some(Head { mechanics, cache: None, at: None, rates }), ..self }
    }

    /// The same disk, with a write cache of such a size; it turns.
    #[must_use]
    pub fn caching(self, size: Bytes) -> Self {
        let head = self.head.map(|head| {
            let cache = Some(DiskCache::new(size, head.mechanics, head.rates.1));
            Head { cache, ..head }
        });
        Self { head, ..self }
    }

    /// An array of such disks, each with so many bytes.
    #[must_use]
    pub fn array(self, raid: Raid, size: Bytes) -> Self {
        let array = Array::new(raid, size, self.depth, self.times, self.head.as_ref());
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

    /// The same beside so many others.
    pub(super) fn has_room_for(&self, others: usize) -> bool {
        self.under_way() + (others as u64) < u64::from(self.depth)
    }

    /// True if it may refuse a request.
    pub(super) fn may_refuse(&self) -> bool {
        self.budget.is_some()
    }

    /// True if it has refused a request and takes none (`blk_mq_stop_hw_queues`).
    pub(super) fn is_stopped(&self, now: Nanos) -> bool {
        self.budget.is_some_and(|budget| budget.left.is_none() && budget.ends.is_none_or(|ends| now < ends))
    }

    /// True if it takes another request now.
    pub(super) fn takes(&self, now: Nanos) -> bool {
        let is_copying = self.copying.is_some_and(|copying| copying.until > now);
        self.has_room() && !is_copying && !self.is_stopped(now)
    }

    /// The time up to which whoever runs its queue copies on the only processor.
    pub(super) fn copies(&self, processors: &RunQueue) -> Nanos {
        let is_held = self.may_refuse() && processors.count() == 1;
        self.copying.filter(|_| is_held).map_or(Nanos::ZERO, |copying| copying.until)
    }

    /// The time from which it takes requests again.
    pub(super) fn restarts(&self, now: Nanos) -> Option<Nanos> {
        let ends = self.budget.filter(|_| self.is_stopped(now)).and_then(|budget| budget.ends);
        let copied = self.copying.map(|copying| copying.until).filter(|until| *until > now);
        ends.max(copied)
    }

    /// The requests that it has.
    pub(super) fn under_way(&self) -> u64 {
        let in_array = self.array.as_ref().map_or(0, Array::requests);
        let in_link = self.link.as_ref().map_or(0, |link| link.crossing.len());
        (self.served.len() + self.held.len() + in_array + in_link) as u64
    }

    /// Takes a request. A processor copies its bytes, where that is to be done.
    pub(super) fn begin(&mut self, now: Nanos, request: Request, processors: &mut RunQueue) {
        let Some(copying) = &mut self.copying else {
            self.held.push_back(request);
            return self.serve(now);
        };
        let copied = copying.copy(now, request.bytes, processors);
        let end = copied + self.times.next(request.direction);
        self.add(end, request);
    }

    /// Begins the writes to an array of threads that are not plugged.
    pub(super) fn unplug(&mut self, now: Nanos, is_plugged: impl Fn(u32) -> bool) {
        if let Some(array) = &mut self.array {
            array.unplug(now, is_plugged);
        }
    }

    fn add(&mut self, end: Nanos, request: Request) {
        let place = self.served.partition_point(|(other, _)| *other <= end);
        self.served.insert(place, (end, request));
    }

    /// Serves requests as far as the allowance goes.
    fn serve(&mut self, now: Nanos) {
        while let Some(at) = self.next() {
            let next = self.held[at];
            if self.free(&next).is_some_and(|free| free > now) {
                return;
            }
            self.held.remove(at);
            if let Some(allowance) = &mut self.allowance {
                allowance.pass(now, &next);
            }
            let moved = self.rates.as_mut().map_or(now, |rates| rates.moved(now, &next));
            if let Some(array) = &mut self.array {
                array.begin(now, next);
                continue;
            }
            let choices = self.held.len() + 1;
            let positioned = self.head.as_mut().map_or(Nanos::ZERO, |head| head.go(now, &next, choices));
            // Its bytes are part of the time of a short request.
            let end = (now + self.times.next(next.direction) + positioned).max(moved);
            self.add(end, next);
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

    /// Takes the bytes of a request from the budget; false if it refuses the request (`null_handle_throttled`).
    pub(super) fn passes(&mut self, now: Nanos, request: &Request) -> bool {
        self.budget.as_mut().is_none_or(|budget| budget.passes(now, request.bytes))
    }

    /// The time at which it has served its next request.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        let of_array = self.array.as_ref().and_then(Array::next_event);
        let crossed = self.link.as_ref().and_then(|link| Some(link.crossing.front()?.0));
        earlier(earlier(self.complete(), self.ready()), earlier(of_array, crossed))
    }

    /// The time from which it serves a request that waits for its allowance, or for the bytes of an array, which has no time of its own.
    fn free(&self, request: &Request) -> Option<Nanos> {
        let rates = self.rates.as_ref().filter(|_| self.array.is_some());
        self.allowance
            .map(|allowance| allowance.free())
            .max(rates.map(|rates| rates.until[rates.way(request)]))
    }

    /// The time from which it serves the next request that waits.
    fn ready(&self) -> Option<Nanos> {
        self.free(&self.held[self.next()?])
    }

    /// The time at which its next requests are complete: the end of the last of those that end together.
    fn complete(&self) -> Option<Nanos> {
        // A disk in memory ends each by a timer of its own.
        let together =
            if self.copying.is_some() { Nanos::ZERO } else { TOGETHER.min(Nanos(self.times.usual().0 / 10)) };
        let mut ends = self.served.iter().map(|(end, _)| *end);
        let mut last = ends.next()?;
        while let Some(end) = ends.next().filter(|end| *end <= last + together) {
            last = end;
        }
        Some(last)
    }

    /// Brings it up to an instant. Returns what it has served.
    pub(super) fn advance(&mut self, now: Nanos) -> Vec<Request> {
        self.serve(now);
        let ended = self.served.iter().take_while(|(end, _)| *end <= now).count();
        let mut ended: Vec<Request> = self.served.drain(..ended).map(|(_, request)| request).collect();
        ended.extend(self.array.as_mut().map(|array| array.advance(now)).unwrap_or_default());
        // Its head is free for the next.
        if self.head.is_some() {
            self.serve(now);
        }
        match &mut self.link {
            Some(link) => link.cross(now, ended),
            None => ended,
        }
    }
}
