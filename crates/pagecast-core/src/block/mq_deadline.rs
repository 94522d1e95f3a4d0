//! `mq-deadline`: reads before writes, in batches by position, within deadlines.
//!
//! Source: `block/mq-deadline.c`, Linux 6.12. Left out: front merges, zones, `async_depth` (which bounds write-back alone).

use std::collections::{BTreeMap, VecDeque};

use super::request::{Direction, Request};
use super::schedule::Schedule;
use crate::units::{Bytes, Nanos};
use crate::workload::IoClass;

const READ_EXPIRE: Nanos = Nanos(500_000_000);
const WRITE_EXPIRE: Nanos = Nanos(5_000_000_000);
/// Requests of a lower class that have waited this long go first.
const PRIO_AGING_EXPIRE: Nanos = Nanos(10_000_000_000);
/// How often reads may go before writes that wait.
const WRITES_STARVED: u32 = 2;
/// Requests of a batch.
const FIFO_BATCH: u32 = 16;

/// A request that waits, and since when.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    request: Request,
    since: Nanos,
}

/// The requests of one direction and class, by position and by age.
#[derive(Debug, Default)]
struct Queue {
    /// By first byte, and by the order of coming among equals.
    sorted: BTreeMap<(u64, u64), Waiting>,
    fifo: VecDeque<(u64, u64)>,
    /// The end of the last one that was given out (`latest_pos`).
    latest: u64,
}

impl Queue {
    fn insert(&mut self, key: (u64, u64), waiting: Waiting) {
        self.sorted.insert(key, waiting);
        self.fifo.push_back(key);
    }

    /// The oldest one.
    fn oldest(&mut self) -> Option<((u64, u64), Waiting)> {
        while let Some(key) = self.fifo.front() {
            match self.sorted.get(key) {
                Some(waiting) => return Some((*key, *waiting)),
                None => self.fifo.pop_front(),
            };
        }
        None
    }

    /// The next one behind the last, if there is one.
    fn next(&self) -> Option<(u64, u64)> {
        self.sorted.range((self.latest, 0)..).next().map(|(key, _)| *key)
    }

    fn take(&mut self, key: (u64, u64)) -> Request {
        let request = self.sorted.remove(&key).expect("it waits").request;
        self.latest = request.end();
        request
    }
}

/// The requests of one class.
#[derive(Debug, Default)]
struct PerPrio {
    queues: [Queue; 2],
    /// Those that are not complete, in the disk too (`dd_queued`).
    queued: u32,
}

impl PerPrio {
    fn queue(&mut self, direction: Direction) -> &mut Queue {
        &mut self.queues[direction as usize]
    }
}

/// The scheduler; see the module.
#[derive(Debug)]
pub struct MqDeadline {
    per_prio: [PerPrio; 3],
    last: Direction,
    batching: u32,
    starved: u32,
    count: u64,
}

impl Default for MqDeadline {
    fn default() -> Self {
        Self { per_prio: Default::default(), last: Direction::Read, batching: 0, starved: 0, count: 0 }
    }
}

const CLASSES: [IoClass; 3] = [IoClass::RealTime, IoClass::BestEffort, IoClass::Idle];

impl MqDeadline {
    /// `__dd_dispatch_request`
    fn dispatch_of(&mut self, now: Nanos, class: IoClass) -> Option<Request> {
        let (last, batching) = (self.last, self.batching);
        let per_prio = &mut self.per_prio[class as usize];
        if let Some(next) = per_prio.queue(last).next().filter(|_| batching < FIFO_BATCH) {
            self.batching += 1;
            return Some(per_prio.queue(last).take(next));
        }
        let [reads, writes] =
            [Direction::Read, Direction::Write].map(|direction| per_prio.queue(direction).oldest().is_some());
        let direction = match (reads, writes) {
            (false, false) => return None,
            (true, false) => Direction::Read,
            (true, true) if self.starved < WRITES_STARVED => {
                self.starved += 1;
                Direction::Read
            }
            (_, true) => {
                self.starved = 0;
                Direction::Write
            }
        };
        let queue = self.per_prio[class as usize].queue(direction);
        let (oldest, waiting) = queue.oldest().expect("it has some");
        let expire = if direction == Direction::Read { READ_EXPIRE } else { WRITE_EXPIRE };
        let is_expired = waiting.since + expire <= now;
        let key = queue.next().filter(|_| !is_expired).unwrap_or(oldest);
        (self.last, self.batching) = (direction, 1);
        Some(queue.take(key))
    }

    /// True if a class has a request that has waited too long for better ones (`dd_dispatch_prio_aged_requests`).
    fn is_aged(&mut self, now: Nanos, class: IoClass) -> bool {
        let per_prio = &mut self.per_prio[class as usize];
        let mut oldest = [Direction::Read, Direction::Write]
            .into_iter()
            .filter_map(|direction| per_prio.queue(direction).oldest());
        oldest.any(|(_, waiting)| waiting.since + PRIO_AGING_EXPIRE <= now)
    }
}

impl Schedule for MqDeadline {
    fn insert(&mut self, now: Nanos, request: Request) {
        self.count += 1;
        self.per_prio[request.priority.class as usize].queued += 1;
        let queue = self.per_prio[request.priority.class as usize].queue(request.direction);
        queue.insert((request.position, self.count), Waiting { request, since: now });
    }

    fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        let queue = self.per_prio[request.priority.class as usize].queue(request.direction);
        let before = queue.sorted.range_mut(..(request.position, 0)).next_back();
        let (_, waiting) = before.filter(|(_, waiting)| waiting.request.takes(request, most))?;
        waiting.request.bytes += request.bytes;
        Some(waiting.request.part)
    }

    /// `dd_dispatch_request`: a class waits while one of a better class is not complete.
    fn dispatch(&mut self, now: Nanos) -> Option<Request> {
        if self.per_prio.iter().filter(|each| each.queued > 0).count() > 1 {
            for class in &CLASSES[1..] {
                if self.is_aged(now, *class) {
                    return self.dispatch_of(now, *class);
                }
            }
        }
        let class = CLASSES.into_iter().find(|class| self.per_prio[*class as usize].queued > 0)?;
        self.dispatch_of(now, class)
    }

    fn completed(&mut self, _: Nanos, request: &Request) {
        self.per_prio[request.priority.class as usize].queued -= 1;
    }
}
