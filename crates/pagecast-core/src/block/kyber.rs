//! `kyber`: tokens for each kind of request, and batches of each in turn.
//!
//! Source: `block/kyber-iosched.c`, Linux 6.12. Left out: fewer tokens for writes where reads miss their target of 2 ms, which takes more
//! in flight than the tokens of a disk with few tags; discards.

use std::collections::VecDeque;

use super::request::{Direction, Request};
use super::schedule::Schedule;
use crate::units::{Bytes, Nanos};

/// `kyber_depth`
const DEPTH: [u32; 2] = [256, 128];
/// `kyber_batch_size`
const BATCH: [u32; 2] = [16, 8];

/// The scheduler; see the module.
#[derive(Debug, Default)]
pub struct Kyber {
    queues: [VecDeque<Request>; 2],
    in_flight: [u32; 2],
    /// The domain whose batch goes on, and how many it has given out.
    domain: usize,
    batching: u32,
}

impl Kyber {
    fn take(&mut self, domain: usize) -> Option<Request> {
        if self.in_flight[domain] >= DEPTH[domain] {
            return None;
        }
        let request = self.queues[domain].pop_front()?;
        self.in_flight[domain] += 1;
        self.batching += 1;
        Some(request)
    }
}

impl Schedule for Kyber {
    fn insert(&mut self, _: Nanos, request: Request) {
        self.queues[request.direction as usize].push_back(request);
    }

    fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        let queue = &mut self.queues[request.direction as usize];
        let before = queue.iter_mut().rev().find(|waiting| waiting.takes(request, most))?;
        before.bytes += request.bytes;
        Some(before.part)
    }

    /// `kyber_dispatch_request`
    fn dispatch(&mut self, _: Nanos) -> Option<Request> {
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

    fn completed(&mut self, _: Nanos, request: &Request) {
        let domain = if request.direction == Direction::Read { 0 } else { 1 };
        self.in_flight[domain] -= 1;
    }
}
