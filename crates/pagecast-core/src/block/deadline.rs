//! `deadline`, of the single queue: batches of requests by position, reads first, within deadlines.
//!
//! Source: `block/deadline-iosched.c`, Linux 2.6.27 to 4.20. It knows no classes, and a batch goes on in the direction in which it has begun.
//! Left out: front merges.

use super::elevator::Sorted;
use super::request::{Direction, Request};
use super::schedule::Schedule;
use crate::units::{Bytes, Nanos};

/// `read_expire`, `write_expire`
const EXPIRE: [Nanos; 2] = [Nanos(500_000_000), Nanos(5_000_000_000)];
/// How often reads may go before writes that wait.
const WRITES_STARVED: u32 = 2;
/// Requests of a batch.
const FIFO_BATCH: u32 = 16;

/// The scheduler; see the module.
#[derive(Debug, Default)]
pub struct Deadline {
    queues: [Sorted; 2],
    /// The direction of the batch.
    last: usize,
    batching: u32,
    starved: u32,
}

impl Schedule for Deadline {
    fn insert(&mut self, now: Nanos, request: Request) {
        self.queues[request.direction as usize].insert(now, request);
    }

    fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        self.queues[request.direction as usize].merge(request, most)
    }

    /// `deadline_dispatch_requests`
    fn dispatch(&mut self, now: Nanos) -> Option<Request> {
        let next = self.queues[self.last].next().filter(|_| self.batching < FIFO_BATCH);
        if let Some(next) = next {
            self.batching += 1;
            return Some(self.queues[self.last].take(next));
        }
        let [read, write] = [Direction::Read, Direction::Write].map(|direction| direction as usize);
        let (reads, writes) = (!self.queues[read].is_empty(), !self.queues[write].is_empty());
        let direction = match (reads, writes) {
            (false, false) => return None,
            (true, false) => read,
            (true, true) if self.starved < WRITES_STARVED => {
                self.starved += 1;
                read
            }
            (_, true) => {
                self.starved = 0;
                write
            }
        };
        let has_turned = direction != self.last;
        let queue = &mut self.queues[direction];
        let (oldest, since) = queue.oldest().expect("it has some");
        let is_expired = since + EXPIRE[direction] <= now;
        let next = queue.next().filter(|_| !is_expired && !has_turned).unwrap_or(oldest);
        (self.last, self.batching) = (direction, 1);
        Some(self.queues[direction].take(next))
    }
}
