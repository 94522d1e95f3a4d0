//! `bfq`: slices of the disk's time for threads, by their weights, which waits for the next request of a thread that reads.
//!
//! Source: `block/bfq-iosched.c`, `block/bfq-wf2q.c`, Linux 6.12. A queue is in service for `timeout_sync` at most; when it is empty the disk
//! idles for up to `slice_idle`, while others wait. The next queue is the one of the best class that has had least of the disk's time for its
//! weight. In a simple form: budgets are times and not sectors, as they become where a disk is slow. Left out: weight raising
//! (`low_latency`), injection of other requests while it idles, merging of queues, cgroups.

use std::collections::{BTreeMap, VecDeque};

use super::request::Request;
use super::schedule::Schedule;
use crate::units::{Bytes, Nanos};
use crate::workload::{IoClass, IoPriority};

/// `bfq_timeout`
const TIMEOUT: Nanos = Nanos(125_000_000);
/// `bfq_slice_idle`
const SLICE_IDLE: Nanos = Nanos(8_000_000);
/// `IOPRIO_NR_LEVELS`, `BFQ_WEIGHT_CONVERSION_COEFF`
const LEVELS: u8 = 8;
const PER_LEVEL: f64 = 10.0;

/// The requests of a thread.
#[derive(Debug, Default)]
struct Queue {
    requests: VecDeque<Request>,
    priority: IoPriority,
    /// The time that it has had, for its weight.
    finish: f64,
    in_flight: u32,
    /// The most requests that it had at once.
    deepest: u32,
}

impl Queue {
    /// `bfq_ioprio_to_weight`
    fn weight(&self) -> f64 {
        f64::from(LEVELS - self.priority.level.min(LEVELS - 1)) * PER_LEVEL
    }
}

/// The queue that is in service.
#[derive(Clone, Copy, Debug)]
struct InService {
    thread: u32,
    since: Nanos,
    /// The end of its wait for another request, if it is empty.
    idles_until: Option<Nanos>,
}

/// The scheduler; see the module.
#[derive(Debug, Default)]
pub struct Bfq {
    queues: BTreeMap<u32, Queue>,
    in_service: Option<InService>,
    /// The least time that a queue which comes anew has had.
    virtual_time: f64,
}

impl Bfq {
    /// Ends the service of a queue and charges it for its time.
    fn expire(&mut self, now: Nanos) {
        let Some(ended) = self.in_service.take() else { return };
        let queue = self.queues.get_mut(&ended.thread).expect("it was in service");
        queue.finish += (now - ended.since).as_seconds() / queue.weight();
    }

    /// The busy queue that is next: of the best class, with the least time for its weight.
    fn next(&self) -> Option<(u32, IoClass)> {
        let busy = self.queues.iter().filter(|(_, queue)| !queue.requests.is_empty());
        let next = busy.min_by(|(_, one), (_, other)| {
            one.priority.class.cmp(&other.priority.class).then(one.finish.total_cmp(&other.finish))
        });
        next.map(|(thread, queue)| (*thread, queue.priority.class))
    }

    /// True if the disk idles for a queue that is empty: it has one request at a time, which deeper ones would never let through, or others
    /// have other weights (`bfq_better_to_idle` of a disk without a head).
    fn is_idled_for(&self, thread: u32) -> bool {
        let queue = &self.queues[&thread];
        let busy = self.queues.values().filter(|other| !other.requests.is_empty());
        let mut weights = busy.map(|other| (other.priority.class, other.priority.level));
        queue.deepest == 1 || weights.any(|weight| weight != (queue.priority.class, queue.priority.level))
    }

    /// True if the queue in service goes on: it has requests and time left, or the disk idles for it.
    fn goes_on(&self, now: Nanos, in_service: InService) -> bool {
        let queue = &self.queues[&in_service.thread];
        let is_worse = self.next().is_some_and(|(_, class)| class < queue.priority.class);
        let has_time = now < in_service.since + TIMEOUT && !is_worse;
        let idles = self.is_idled_for(in_service.thread)
            && in_service.idles_until.is_some_and(|until| now < until)
            && queue.priority.class != IoClass::Idle;
        has_time && (!queue.requests.is_empty() || idles || queue.in_flight > 0)
    }
}

impl Schedule for Bfq {
    fn insert(&mut self, _: Nanos, request: Request) {
        let virtual_time = self.virtual_time;
        let queue = self.queues.entry(request.thread).or_default();
        if queue.requests.is_empty() && queue.in_flight == 0 {
            queue.finish = queue.finish.max(virtual_time);
        }
        queue.priority = request.priority;
        queue.requests.push_back(request);
        queue.deepest = queue.deepest.max(queue.in_flight + queue.requests.len() as u32);
    }

    fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        let before = self.queues.get_mut(&request.thread)?.requests.back_mut()?;
        let takes = before.takes(request, most);
        takes.then(|| {
            before.bytes += request.bytes;
            before.part
        })
    }

    fn dispatch(&mut self, now: Nanos) -> Option<Request> {
        if self.in_service.is_some_and(|in_service| !self.goes_on(now, in_service)) {
            self.expire(now);
        }
        let thread = match self.in_service {
            Some(in_service) => in_service.thread,
            None => {
                let (thread, _) = self.next()?;
                self.in_service = Some(InService { thread, since: now, idles_until: None });
                self.virtual_time = self.queues[&thread].finish;
                thread
            }
        };
        let queue = self.queues.get_mut(&thread).expect("it is in service");
        let request = queue.requests.pop_front()?;
        queue.in_flight += 1;
        self.in_service.as_mut().expect("it goes on").idles_until = None;
        Some(request)
    }

    fn completed(&mut self, now: Nanos, request: &Request) {
        let queue = self.queues.get_mut(&request.thread).expect("it was in flight");
        queue.in_flight -= 1;
        let is_empty = queue.in_flight == 0 && queue.requests.is_empty();
        if let Some(in_service) =
            self.in_service.as_mut().filter(|each| each.thread == request.thread && is_empty)
        {
            in_service.idles_until = Some(now + SLICE_IDLE);
        }
    }

    /// `bfq_depth_updated`, `bfq_limit_depth`: synchronous writes have three quarters of each word of the tags' bitmap, one at least
    /// (`lib/sbitmap.c: sbitmap_calculate_shift`).
    fn most_writes(&self, tags: u32) -> u32 {
        let mut shift = 6;
        while shift > 0 && tags >= 4 && (4 << shift) > tags {
            shift -= 1;
        }
        let per_word = ((1_u32 << shift) * 3 / 4).max(1);
        (tags.div_ceil(1 << shift) * per_word).min(tags)
    }

    fn next_event(&self) -> Option<Nanos> {
        let waits = self.queues.values().any(|queue| !queue.requests.is_empty());
        let ends = |each: InService| {
            each.idles_until.map_or(each.since + TIMEOUT, |idles| idles.min(each.since + TIMEOUT))
        };
        self.in_service.filter(|_| waits).map(ends)
    }
}
