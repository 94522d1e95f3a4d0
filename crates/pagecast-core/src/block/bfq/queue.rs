//! The requests of a thread, and what is known of it: think time, distances, weight raising, how much it bears to be injected.
//!
//! Source: `block/bfq-iosched.c`, Linux 6.12: `bfq_init_bfqq`, `bfq_update_io_thinktime`, `bfq_update_io_seektime`, `bfq_find_next_rq`. Left out:
//! steps back to a request a little behind the last, and the expiry of single requests.

use std::collections::BTreeMap;

use super::wf2q::Entity;
use crate::block::request::Request;
use crate::units::{Bytes, Nanos};
use crate::workload::{IoClass, IoPriority};

/// `bfq_slice_idle`
pub const SLICE_IDLE: Nanos = Nanos(8_000_000);
/// `BFQQ_SEEK_THR`, `BFQQ_SECT_THR_NONROT`, in sectors.
const SEEK: u64 = 8 * 100;
pub const LARGE: u64 = 2 * 32;
/// `IOPRIO_NR_LEVELS`, `BFQ_WEIGHT_CONVERSION_COEFF`
const LEVELS: u8 = 8;
const PER_LEVEL: u64 = 10;
/// `bfq_sample_valid`
const VALID_SAMPLES: u64 = 80;
/// The weight of a process that never asked for one: only such a queue is raised.
const DEFAULT_WEIGHT: u64 = 40;

/// `BFQ_RQ_SEEKY`: true if a request is far from a position, and short where the disk does not turn.
pub fn is_far(from: u64, request: &Request, is_rotational: bool) -> bool {
    from != 0
        && request.position.abs_diff(from) / Request::SECTOR > SEEK
        && (is_rotational || request.sectors() < LARGE)
}

/// `bfq_ioprio_to_weight`
fn weight_of(priority: IoPriority) -> u64 {
    let level = if priority.class == IoClass::Idle { LEVELS - 1 } else { priority.level.min(LEVELS - 1) };
    u64::from(LEVELS - level) * PER_LEVEL
}

/// The raised weight of a queue that looks interactive.
#[derive(Clone, Copy, Debug)]
pub struct Raised {
    pub since: Nanos,
    pub time: Nanos,
    /// Sectors served meanwhile.
    pub service: u64,
}

/// The queue of a thread (`bfq_queue`).
#[derive(Debug)]
pub struct Queue {
    pub entity: Entity,
    /// By first byte, and by the order of coming among equals.
    requests: BTreeMap<(u64, u64), Request>,
    last: u64,
    pub priority: IoPriority,
    /// False if nobody waits for its requests (`bfq_bfqq_sync`).
    pub is_sync: bool,
    pub is_busy: bool,
    pub dispatched: u32,
    pub max_budget: u64,
    /// The end of its time in service; or when it was left without requests.
    pub budget_timeout: Option<Nanos>,
    /// True if it went out of service empty, and would have gone on (`non_blocking_wait_rq`).
    pub waits_without_blocking: bool,
    pub raised: Option<Raised>,
    pub in_large_burst: bool,
    /// The end of its last request.
    pub last_end: Nanos,
    think_samples: u64,
    think_total: u64,
    pub has_short_think_time: bool,
    last_position: u64,
    seek_history: u32,
    pub io_bound: bool,
    pub requests_within_timer: u32,
    pub inject_limit: u32,
    pub decreased: Nanos,
    pub last_service_time: Option<Nanos>,
}

impl Queue {
    pub fn new(now: Nanos, request: &Request, max_budget: u64) -> Self {
        let Request { priority, is_sync, .. } = *request;
        let class = priority.class;
        Self {
            entity: Entity { class, orig_weight: weight_of(priority), ..Entity::default() },
            requests: BTreeMap::new(),
            last: 0,
            priority,
            is_sync,
            is_busy: false,
            dispatched: 0,
            max_budget,
            budget_timeout: None,
            waits_without_blocking: false,
            raised: None,
            in_large_burst: false,
            last_end: now,
            think_samples: 0,
            think_total: 0,
            has_short_think_time: is_sync && class != IoClass::Idle,
            last_position: 0,
            seek_history: 1,
            io_bound: true,
            requests_within_timer: 0,
            inject_limit: 0,
            decreased: now,
            last_service_time: None,
        }
    }

    /// `wr_coeff`
    pub fn coeff(&self) -> u64 {
        const RAISED: u64 = 30;
        if self.raised.is_some() { RAISED } else { 1 }
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub fn len(&self) -> u32 {
        self.requests.len() as u32
    }

    /// The request that is next: the first one behind the last.
    pub fn next(&self) -> Option<&Request> {
        let behind = self.requests.range((self.last, 0)..).next();
        behind.or_else(|| self.requests.first_key_value()).map(|(_, request)| request)
    }

    pub fn push(&mut self, request: Request) {
        self.requests.insert((request.position, request.part), request);
    }

    pub fn pop(&mut self) -> Option<Request> {
        let next = *self.next()?;
        self.last = next.end();
        self.requests.remove(&(next.position, next.part))
    }

    /// Lengthens the waiting request that ends where another begins.
    pub fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        let (_, before) = self.requests.range_mut(..(request.position, 0)).next_back()?;
        before.takes(request, most).then(|| {
            before.bytes += request.bytes;
            before.part
        })
    }

    /// `bfq_check_ioprio_change`: the weight from the next activation on.
    pub fn set_priority(&mut self, priority: IoPriority) {
        self.priority = priority;
        self.entity.orig_weight = weight_of(priority);
    }

    pub fn has_default_weight(&self) -> bool {
        self.entity.orig_weight == DEFAULT_WEIGHT
    }

    /// `bfq_update_io_thinktime`, `bfq_update_has_short_ttime`, `bfq_update_io_seektime`. Returns true if its think time has become short or long.
    pub fn note_arrival(&mut self, now: Nanos, request: &Request, is_rotational: bool) -> bool {
        if self.dispatched == 0 && !self.is_busy {
            let elapsed = (now - self.last_end).0.min(2 * SLICE_IDLE.0);
            self.think_samples = (7 * self.think_samples + 256) / 8;
            self.think_total = (7 * self.think_total + 256 * elapsed) / 8;
        }
        let is_long = self.think_samples > VALID_SAMPLES
            && (self.think_total + 128) / self.think_samples > SLICE_IDLE.0 / 2;
        let was_short = self.has_short_think_time;
        self.has_short_think_time = self.is_sync && !is_long && self.priority.class != IoClass::Idle;
        let far = is_far(self.last_position, request, is_rotational);
        self.seek_history = self.seek_history << 1 | u32::from(far);
        self.last_position = request.end();
        was_short != self.has_short_think_time
    }

    /// Counts how often its next request came soon; it waits for the disk again if that was often enough.
    pub fn note_return(&mut self, is_back_soon: bool) {
        const REQUESTS_WITHIN_TIMER: u32 = 120;
        self.requests_within_timer = if is_back_soon { self.requests_within_timer + 1 } else { 0 };
        self.io_bound |= self.requests_within_timer >= REQUESTS_WITHIN_TIMER;
    }

    /// `BFQQ_SEEKY`
    pub fn is_seeky(&self) -> bool {
        self.seek_history.count_ones() > 19
    }
}
