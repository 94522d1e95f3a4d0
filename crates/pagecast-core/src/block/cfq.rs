//! `cfq`, of the single queue: slices of the disk's time for threads in turn, longer for better priorities.
//!
//! Source: `block/cfq-iosched.c`, Linux 2.6.27 to 4.20, whose names the functions have. While the thread of the slice has nothing to send, the
//! disk idles for it, unless it thinks long, or reads at random beside others that do. Left out: shorter slices for many threads
//! (`low_latency`), cgroups, threads that share a queue, steps back, asynchronous requests.

use std::collections::BTreeMap;

use super::elevator::Sorted;
use super::request::Request;
use super::schedule::Schedule;
use crate::units::{Bytes, Nanos};
use crate::workload::{IoClass, IoPriority};

/// `cfq_quantum`: requests of a thread that the disk has at once beside other threads.
const QUANTUM: u32 = 8;
/// `cfq_slice_sync`, `cfq_slice_idle`
const SLICE_SYNC: Nanos = Nanos(100_000_000);
const SLICE_IDLE: Nanos = Nanos(8_000_000);
/// `CFQ_SLICE_SCALE`
const SLICE_SCALE: u64 = 5;
/// `CFQ_HW_QUEUE_MIN`
const HW_QUEUE_MIN: u32 = 5;
/// `CFQQ_SEEK_THR`, in bytes.
const SEEK: u64 = 8 * 100 * Request::SECTOR;
/// `sample_valid`
const VALID_SAMPLES: u64 = 80;
/// The expiry of a waiting request (`cfq_fifo_expire`).
const FIFO_EXPIRE: Nanos = Nanos(125_000_000);

/// `cfq_prio_slice`: a fifth more or less for each level.
fn slice_of(level: u8) -> Nanos {
    let levels = 8 - u64::from(level.min(7)) + 1;
    Nanos(SLICE_SYNC.0 / SLICE_SCALE * levels)
}

/// The requests of a thread (`struct cfq_queue`).
#[derive(Debug, Default)]
struct Queue {
    requests: Sorted,
    priority: IoPriority,
    /// Its place among those that wait; none if it does not.
    key: Option<i128>,
    dispatched: u32,
    /// The rest of its last slice, below zero if it took more.
    slice_left: i128,
    last_position: u64,
    seek_history: u32,
    is_deep: bool,
    last_end: Option<Nanos>,
    samples: u64,
    total: u64,
}

impl Queue {
    /// `cfq_update_io_thinktime`, `cfq_update_io_seektime`, `cfq_update_idle_window`
    fn note_arrival(&mut self, now: Nanos, request: &Request) {
        if let Some(since) = self.last_end {
            let elapsed = (now - since).0.min(2 * SLICE_IDLE.0);
            self.samples = (7 * self.samples + 256) / 8;
            self.total = (7 * self.total + 256 * elapsed) / 8;
        }
        let is_far = self.last_position != 0 && request.position.abs_diff(self.last_position) > SEEK;
        self.seek_history = self.seek_history << 1 | u32::from(is_far);
        self.last_position = request.end();
        self.is_deep |= self.requests.len() + 1 >= 4;
    }

    /// `cfq_cfqq_idle_window`
    fn has_idle_window(&self) -> bool {
        let is_seeky = self.seek_history.count_ones() > 32 / 8;
        let thinks_long = self.samples > VALID_SAMPLES && (self.total + 128) / self.samples > SLICE_IDLE.0;
        self.priority.class != IoClass::Idle && !thinks_long && (self.is_deep || !is_seeky)
    }
}

/// The slice of a thread.
#[derive(Clone, Copy, Debug)]
struct Active {
    thread: u32,
    /// Its end, once its first request is complete.
    ends: Option<Nanos>,
    idles_until: Option<Nanos>,
}

/// The scheduler; see the module.
#[derive(Debug)]
pub struct Cfq {
    is_rotational: bool,
    queues: BTreeMap<u32, Queue>,
    active: Option<Active>,
    in_flight: u32,
    most_in_flight: u32,
}

impl Cfq {
    /// A scheduler of a disk that turns, or of one that does not.
    pub fn new(is_rotational: bool) -> Self {
        Self { is_rotational, queues: BTreeMap::new(), active: None, in_flight: 0, most_in_flight: 0 }
    }

    fn busy(&self) -> impl Iterator<Item = (u32, &Queue)> {
        self.queues.iter().filter(|(_, queue)| queue.key.is_some()).map(|(thread, queue)| (*thread, queue))
    }

    /// `cfq_service_tree_add`: a thread comes behind those whose turn is longer than its own.
    fn resort(&mut self, now: Nanos, thread: u32) {
        let others = self.busy().filter(|(each, _)| *each != thread).count() as i128;
        let queue = self.queues.get_mut(&thread).expect("it has a request");
        let offset = others * i128::from(slice_of(0).0 - slice_of(queue.priority.level).0);
        queue.key = Some(offset + i128::from(now.0) - queue.slice_left);
        queue.slice_left = 0;
    }

    /// `cfq_should_idle`
    fn should_idle(&self, thread: u32) -> bool {
        let queue = &self.queues[&thread];
        let queues_requests = self.most_in_flight == 0 || self.most_in_flight >= HW_QUEUE_MIN;
        if queue.priority.class == IoClass::Idle {
            return false;
        }
        if queue.has_idle_window() && (self.is_rotational || !queues_requests) {
            return true;
        }
        let alike = |other: &Queue| {
            other.priority.class == queue.priority.class && other.has_idle_window() == queue.has_idle_window()
        };
        self.is_rotational && self.busy().all(|(each, other)| each == thread || !alike(other))
    }

    /// `cfq_slice_expired`
    fn expire(&mut self, now: Nanos, has_timed_out: bool) {
        let Some(active) = self.active.take() else { return };
        let queue = self.queues.get_mut(&active.thread).expect("it was active");
        if let Some(ends) = active.ends.filter(|_| has_timed_out) {
            queue.slice_left = i128::from(ends.0) - i128::from(now.0);
        }
        if queue.requests.is_empty() {
            queue.key = None;
        } else {
            self.resort(now, active.thread);
        }
    }

    /// `cfq_select_queue`
    fn select(&mut self, now: Nanos) -> Option<u32> {
        if let Some(active) = self.active {
            let queue = &self.queues[&active.thread];
            let is_used = active.ends.is_some_and(|ends| ends <= now);
            if !is_used && !queue.requests.is_empty() {
                return Some(active.thread);
            }
            let waits = active.idles_until.is_some_and(|until| now < until)
                || queue.dispatched > 0 && self.should_idle(active.thread);
            if !is_used && waits {
                return None;
            }
            self.expire(now, is_used);
        }
        let waiting = self.busy().filter(|(_, queue)| !queue.requests.is_empty());
        let (thread, _) = waiting.min_by_key(|(_, queue)| (queue.priority.class, queue.key))?;
        self.active = Some(Active { thread, ends: None, idles_until: None });
        Some(thread)
    }

    /// `cfq_may_dispatch`
    fn may_dispatch(&self, thread: u32) -> bool {
        let queue = &self.queues[&thread];
        let is_alone = self.busy().count() == 1;
        let most = if queue.priority.class == IoClass::Idle { 1 } else { QUANTUM };
        queue.dispatched < most || is_alone && queue.priority.class != IoClass::Idle
    }

    /// `cfq_should_preempt`: a better class, and a thread of the real-time class.
    fn preempts(&self, thread: u32) -> bool {
        let class = self.queues[&thread].priority.class;
        self.active.is_some_and(|active| class < self.queues[&active.thread].priority.class)
    }
}

impl Schedule for Cfq {
    fn insert(&mut self, now: Nanos, request: Request) {
        let thread = request.thread;
        let queue = self.queues.entry(thread).or_default();
        queue.priority = request.priority;
        queue.note_arrival(now, &request);
        queue.requests.insert(now, request);
        if queue.key.is_none() {
            self.resort(now, thread);
        }
        if let Some(active) = self.active.as_mut().filter(|active| active.thread == thread) {
            active.idles_until = None;
        } else if self.preempts(thread) {
            self.expire(now, true);
        }
    }

    fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        self.queues.get_mut(&request.thread)?.requests.merge(request, most)
    }

    /// `cfq_dispatch_requests`
    fn dispatch(&mut self, now: Nanos) -> Option<Request> {
        let thread = self.select(now)?;
        if !self.may_dispatch(thread) {
            return None;
        }
        let queue = self.queues.get_mut(&thread).expect("it was selected");
        let (oldest, since) = queue.requests.oldest()?;
        let is_expired = since + FIFO_EXPIRE <= now && queue.dispatched == 0;
        let key = queue.requests.next_around().filter(|_| !is_expired).unwrap_or(oldest);
        let request = queue.requests.take(key);
        queue.dispatched += 1;
        self.in_flight += 1;
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
        Some(request)
    }

    /// `cfq_completed_request`
    fn completed(&mut self, now: Nanos, request: &Request) {
        let thread = request.thread;
        self.in_flight -= 1;
        let queue = self.queues.get_mut(&thread).expect("it was in flight");
        queue.dispatched -= 1;
        queue.last_end = Some(now);
        let (is_empty, level) = (queue.requests.is_empty(), queue.priority.level);
        let is_left = is_empty && queue.dispatched == 0;
        let idles = is_left && self.should_idle(thread);
        let is_active = self.active.is_some_and(|active| active.thread == thread);
        if let Some(active) = self.active.as_mut().filter(|_| is_active) {
            let ends = *active.ends.get_or_insert(now + slice_of(level));
            if ends <= now {
                self.expire(now, true);
            } else if idles {
                active.idles_until = Some(now + SLICE_IDLE);
            } else if is_left {
                self.expire(now, false);
            }
        }
        if is_left && self.active.is_none_or(|active| active.thread != thread) {
            self.queues.get_mut(&thread).expect("it was in flight").key = None;
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        let waits = self.queues.values().any(|queue| !queue.requests.is_empty());
        let active = self.active.filter(|_| waits)?;
        [active.idles_until, active.ends].into_iter().flatten().min()
    }
}
