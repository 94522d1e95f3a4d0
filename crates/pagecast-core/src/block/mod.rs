//! Serves requests one by one: the block layer between file systems and a disk.
//!
//! Source: `block/blk-mq.c`, `block/blk-mq-tag.c`, `block/blk-mq-sched.c`, `block/blk-merge.c`, Linux 6.12. A state machine without a clock:
//! requests come with the time, and what is complete goes out.
//!
//! - A request needs a tag of the scheduler (`nr_requests`), or without a scheduler one of the disk. A thread that finds none sleeps, and its
//!   later requests wait behind that one; threads get tags in the order in which they came.
//! - When requests are complete the scheduler fills the disk again at once, before any thread has woken up.
//! - A thread sends one request after the other, and takes its time for each.
//! - The disk serves so many requests at a time as it has tags (`service`).
//!
//! Left out: several queues of the hardware; plugs; I/O of cgroups; polled requests.

mod bfq;
mod kyber;
mod mq_deadline;
mod none;
mod request;
mod schedule;
mod service;

pub use self::request::{Direction, Request, RequestId};
pub use self::service::Service;

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use self::bfq::Bfq;
use self::kyber::Kyber;
use self::mq_deadline::MqDeadline;
use self::none::Noop;
use self::schedule::Schedule;
use crate::machine::Scheduler;
use crate::run_queue::RunQueue;
use crate::units::{Bytes, Nanos, earlier};

/// The settings of the queue of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Tags of the scheduler.
    pub nr_requests: u32,
    /// The longest request.
    pub max_sectors: Bytes,
    /// The time that a thread takes for a request before it sends the next.
    pub submission: Nanos,
}

/// What a thread wants to submit next, and those behind it.
#[derive(Debug, Default)]
struct Submitter {
    requests: VecDeque<Request>,
    /// True if it waits in line for a tag, or prepares its next request.
    waits: bool,
    /// The time at which it has sent its last request.
    ready: Nanos,
}

/// The tags that requests need.
#[derive(Debug)]
struct Tags {
    free: u32,
    /// Those that writes have, and may have.
    writes: u32,
    most_writes: u32,
}

impl Tags {
    /// True if there is one for a request.
    fn has(&self, request: &Request) -> bool {
        self.free > 0 && (request.direction == Direction::Read || self.writes < self.most_writes)
    }

    fn take(&mut self, request: &Request) {
        self.free -= 1;
        self.writes += u32::from(request.direction == Direction::Write);
    }

    fn give_back(&mut self, request: &Request) {
        self.free += 1;
        self.writes -= u32::from(request.direction == Direction::Write);
    }
}

/// A disk with its queue; see the module.
pub struct Device {
    settings: Settings,
    schedule: Box<dyn Schedule + Send>,
    /// Those of the scheduler, or of the disk without one.
    tags: Tags,
    submitters: FxHashMap<u32, Submitter>,
    /// The threads that wait for a tag.
    line: VecDeque<u32>,
    /// The threads that prepare their next request, and until when.
    preparing: BTreeSet<(Nanos, u32)>,
    service: Service,
    /// The parts of each call that are not complete.
    parts: FxHashMap<RequestId, u32>,
    /// Requests into which others were merged, with the calls of those.
    merged: FxHashMap<u64, Vec<RequestId>>,
    submitted: u64,
    /// Requests that are not complete, those that were merged one by one.
    incomplete: u64,
    /// Requests that the disk has served, and their bytes: reads, then writes.
    moved: [(u64, Bytes); 2],
    /// The time up to which it has been brought.
    now: Nanos,
}

impl Device {
    /// An idle disk.
    #[must_use]
    pub fn new(settings: Settings, service: Service) -> Self {
        let schedule: Box<dyn Schedule + Send> = match settings.scheduler {
            Scheduler::None => Box::new(Noop::default()),
            Scheduler::MqDeadline => Box::new(MqDeadline::default()),
            Scheduler::Kyber => Box::new(Kyber::default()),
            Scheduler::Bfq => Box::new(Bfq::default()),
        };
        let free = if settings.scheduler != Scheduler::None { settings.nr_requests } else { service.depth() };
        Self {
            settings,
            tags: Tags { free, writes: 0, most_writes: schedule.most_writes(free) },
            schedule,
            submitters: FxHashMap::default(),
            line: VecDeque::new(),
            preparing: BTreeSet::new(),
            service,
            parts: FxHashMap::default(),
            merged: FxHashMap::default(),
            submitted: 0,
            incomplete: 0,
            moved: [(0, Bytes::ZERO); 2],
            now: Nanos::ZERO,
        }
    }

    /// True if nothing waits and nothing is served.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.parts.is_empty()
    }

    /// Requests that wait for the disk, and those that it serves.
    #[must_use]
    pub fn depth(&self) -> (u64, u64) {
        let served = self.service.under_way();
        (self.incomplete.saturating_sub(served), served)
    }

    /// Requests that the disk has served so far, and their bytes: reads, then writes.
    #[must_use]
    pub fn moved(&self) -> [(u64, Bytes); 2] {
        self.moved
    }

    /// Submits a call of a thread, which takes time of a processor for each request. It is cut into requests (`bio_split_rw`).
    pub fn submit(&mut self, now: Nanos, call: Request, processors: &mut RunQueue) {
        self.now = self.now.max(now);
        let most = self.settings.max_sectors.0.max(1);
        let submitter = self.submitters.entry(call.thread).or_default();
        let mut from = 0;
        while from < call.bytes.0 {
            let bytes = most.min(call.bytes.0 - from);
            self.submitted += 1;
            let part =
                Request { position: call.position + from, bytes: Bytes(bytes), part: self.submitted, ..call };
            submitter.requests.push_back(part);
            *self.parts.entry(call.id).or_default() += 1;
            self.incomplete += 1;
            from += bytes;
        }
        if !submitter.waits {
            self.submit_of(now, call.thread, processors);
        }
    }

    /// Submits the next requests of a thread, each when it has prepared it; it waits in line where there is no tag.
    fn submit_of(&mut self, now: Nanos, thread: u32, processors: &mut RunQueue) {
        while let Some(submitter) = self.submitters.get_mut(&thread) {
            submitter.waits = false;
            let Some(&next) = submitter.requests.front() else { break };
            if submitter.ready > now {
                submitter.waits = true;
                self.preparing.insert((submitter.ready, thread));
                return;
            }
            if let Some(into) = self.schedule.merge(&next, self.settings.max_sectors) {
                self.merged.entry(into).or_default().push(next.id);
            } else if self.tags.has(&next) {
                self.tags.take(&next);
                self.schedule.insert(now, next);
            } else {
                submitter.waits = true;
                self.line.push_back(thread);
                return;
            }
            submitter.requests.pop_front();
            submitter.ready = processors.run(now, self.settings.submission);
            self.fill(now);
        }
        // It is forgotten when it has nothing to send and is ready for more.
        if self.submitters.get(&thread).is_some_and(|submitter| submitter.ready <= now) {
            self.submitters.remove(&thread);
        }
    }

    fn has_tag_for(&self, thread: u32) -> bool {
        let next = self.submitters.get(&thread).and_then(|submitter| submitter.requests.front());
        next.is_some_and(|next| self.tags.has(next))
    }

    /// Sends waiting requests to the disk as long as it takes some.
    fn fill(&mut self, now: Nanos) {
        while self.service.has_room() {
            let Some(request) = self.schedule.dispatch(now) else { return };
            self.service.begin(now, request);
        }
    }

    /// The time at which the disk has served its next request, or serves again.
    #[must_use]
    pub fn next_event(&self) -> Option<Nanos> {
        let scheduled = self.schedule.next_event().filter(|_| self.service.has_room());
        let prepared = self.preparing.first().map(|(ready, _)| *ready);
        earlier(earlier(self.service.next_event(), scheduled), prepared)
    }

    /// Brings it up to an instant. Returns the calls that are complete then.
    pub fn advance(&mut self, now: Nanos) -> Vec<RequestId> {
        // A scheduler may have waited for a moment at which the disk was busy.
        let now = now.max(self.now);
        self.now = now;
        let mut complete = Vec::new();
        let served = self.service.advance(now);
        for request in &served {
            self.schedule.completed(now, request);
            self.tags.give_back(request);
            let (count, bytes) = &mut self.moved[usize::from(request.direction == Direction::Write)];
            (*count, *bytes) = (*count + 1, *bytes + request.bytes);
            let merged = self.merged.remove(&request.part).unwrap_or_default();
            for call in merged.into_iter().chain([request.id]) {
                self.part_ended(call, &mut complete);
            }
        }
        self.fill(now);
        complete
    }

    /// Lets threads go on that waited for tags, or have prepared their next requests. Called after `advance`, when those have had a processor
    /// whose calls are complete: the kernel's scheduler prefers who sleeps much.
    pub fn resume(&mut self, now: Nanos, processors: &mut RunQueue) {
        while let Some(at) = self.line.iter().position(|thread| self.has_tag_for(*thread)) {
            let thread = self.line.remove(at).expect("it is in line");
            self.submit_of(now, thread, processors);
        }
        while let Some(&(ready, thread)) = self.preparing.first().filter(|(ready, _)| *ready <= now) {
            self.preparing.remove(&(ready, thread));
            self.submit_of(now, thread, processors);
        }
    }

    fn part_ended(&mut self, call: RequestId, complete: &mut Vec<RequestId>) {
        let left = self.parts.get_mut(&call).expect("it was submitted");
        *left -= 1;
        self.incomplete -= 1;
        if *left == 0 {
            self.parts.remove(&call);
            complete.push(call);
        }
    }
}

#[cfg(test)]
mod tests;
