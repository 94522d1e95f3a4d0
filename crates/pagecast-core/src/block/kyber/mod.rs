//! `kyber`: tokens for each kind of request, and batches of each in turn.
//!
//! Source: `block/kyber-iosched.c`, Linux 6.12. Where requests are longer in the disk than the target of their kind, the other kind gets fewer
//! tokens. Left out: discards.

mod latency;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use self::latency::{GOOD_BUCKETS, Latencies, scaled};

use super::request::Request;
use super::schedule::Schedule;
use crate::units::{Bytes, Nanos};

/// `kyber_depth`
const DEPTH: [u32; 2] = [256, 128];
/// `kyber_batch_size`
const BATCH: [u32; 2] = [16, 8];
/// `KYBER_ASYNC_PERCENT`: of the tags for requests that nobody waits for.
const ASYNC_PERCENT: u32 = 75;

/// `kyber_latency_targets`
const TARGETS: [Nanos; 2] = [Nanos(2_000_000), Nanos(10_000_000)];
/// Between two looks at latencies: `HZ / 10`.
const TIMER: Nanos = Nanos(100_000_000);

/// The scheduler; see the module.
#[derive(Debug)]
pub struct Kyber {
    queues: [VecDeque<Request>; 2],
    depth: [u32; 2],
    latencies: [Latencies; 2],
    /// When each request was inserted, and when the disk began to serve it.
    since: FxHashMap<u64, (Nanos, Nanos)>,
    /// The next look at latencies.
    timer: Option<Nanos>,
    in_flight: [u32; 2],
    /// The domain whose batch goes on, and how many it has given out.
    domain: usize,
    batching: u32,
}

impl Default for Kyber {
    fn default() -> Self {
        Self {
            queues: Default::default(),
            depth: DEPTH,
            latencies: TARGETS.map(Latencies::new),
            since: FxHashMap::default(),
            timer: None,
            in_flight: [0; 2],
            domain: 0,
            batching: 0,
        }
    }
}

impl Kyber {
    /// `kyber_timer_fn`
    fn look_at_latencies(&mut self, now: Nanos) {
        let Some(at) = self.timer.filter(|at| *at <= now) else { return };
        self.timer = None;
        let is_congested = self.latencies.each_mut().map(|each| each.is_bad(at)).contains(&true);
        for (domain, latencies) in self.latencies.iter_mut().enumerate() {
            let p99 = latencies.p99(at, is_congested);
            if let Some(p99) = p99.filter(|p99| is_congested || *p99 >= GOOD_BUCKETS) {
                self.depth[domain] = scaled(self.depth[domain], p99, DEPTH[domain]);
            }
        }
    }

    fn take(&mut self, domain: usize) -> Option<Request> {
        if self.in_flight[domain] >= self.depth[domain] {
            return None;
        }
        let request = self.queues[domain].pop_front()?;
        self.in_flight[domain] += 1;
        self.batching += 1;
        Some(request)
    }
}

impl Schedule for Kyber {
    fn insert(&mut self, now: Nanos, request: Request) {
        self.since.insert(request.part, (now, now));
        self.queues[request.direction as usize].push_back(request);
    }

    fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        let queue = &mut self.queues[request.direction as usize];
        let before = queue.iter_mut().rev().find(|waiting| waiting.takes(request, most))?;
        before.bytes += request.bytes;
        Some(before.part)
    }

    /// `kyber_dispatch_request`
    fn dispatch(&mut self, now: Nanos) -> Option<Request> {
        self.look_at_latencies(now);
        if self.batching < BATCH[self.domain]
            && let Some(request) = self.take(self.domain)
        {
            return Some(request);
        }
        self.batching = 0;
        for _ in 0..self.queues.len() {
            self.domain = (self.domain + 1) % self.queues.len();
            if let Some(request) = self.take(self.domain) {
                return Some(request);
            }
        }
        None
    }

    fn limit_depth(&self, request: &Request, tags: u32) -> u32 {
        if request.is_sync { tags } else { (tags * ASYNC_PERCENT / 100).max(1) }
    }

    fn started(&mut self, now: Nanos, request: &Request) {
        self.since.entry(request.part).and_modify(|(_, started)| *started = now);
    }

    /// `kyber_completed_request`
    fn completed(&mut self, now: Nanos, request: &Request) {
        self.look_at_latencies(now);
        let domain = request.direction as usize;
        self.in_flight[domain] -= 1;
        let (inserted, started) = self.since.remove(&request.part).expect("it was inserted");
        self.latencies[domain].add(now - started, now - inserted);
        self.timer.get_or_insert(now + TIMER);
    }
}
