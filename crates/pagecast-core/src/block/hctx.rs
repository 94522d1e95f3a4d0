//! Keeps the requests that have left the scheduler until the disk has taken them (`struct blk_mq_hw_ctx`).
//!
//! Source: `block/blk-mq.c: blk_mq_dispatch_rq_list, blk_mq_update_dispatch_busy`, `block/blk-mq-sched.c`, Linux 6.12.
//!
//! - A refused request stays with those behind it (`hctx->dispatch`). A worker sends them when the queue runs again, before it asks the scheduler.
//! - A thread that submits while the worker does so runs the queue, too, and its requests are sent first.
//! - Who asks the scheduler takes as many requests as it has; one at a time for a while after the disk has refused one.

use std::collections::VecDeque;

use super::request::Request;

/// `BLK_MQ_DISPATCH_BUSY_EWMA_WEIGHT`, and a refusal (`BLK_MQ_DISPATCH_BUSY_EWMA_FACTOR`).
const WEIGHT: u32 = 8;
const REFUSAL: u32 = 1 << 4;

/// The requests between the scheduler and a disk; see the module.
#[derive(Debug, Default)]
pub struct Hctx {
    /// Those of threads that run the queue.
    first: VecDeque<Request>,
    /// Those of the worker.
    list: VecDeque<Request>,
    /// True if the last request was the worker's, and if it was the last of its list.
    is_of_worker: bool,
    ends_list: bool,
    dispatch_busy: u32,
}

impl Hctx {
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len(&self) -> usize {
        self.first.len() + self.list.len()
    }

    /// The most requests that are taken out of the scheduler at once, of so many.
    pub fn batch(&self, nr_requests: u32) -> u32 {
        if self.dispatch_busy > 0 { 1 } else { nr_requests }
    }

    /// Adds a request for the worker.
    pub fn send(&mut self, request: Request) {
        self.list.push_back(request);
    }

    /// Adds a request of a thread that runs the queue.
    pub fn send_first(&mut self, request: Request) {
        self.first.push_back(request);
    }

    /// Takes the request that is sent next. The disk has then `taken` or `refused` it.
    pub fn next(&mut self) -> Option<Request> {
        self.is_of_worker = self.first.is_empty();
        let list = if self.is_of_worker { &mut self.list } else { &mut self.first };
        let next = list.pop_front();
        self.ends_list = list.is_empty();
        next
    }

    /// True if the worker sends the last request.
    pub fn is_of_worker(&self) -> bool {
        self.is_of_worker
    }

    /// Notes that the disk has taken the last request.
    pub fn taken(&mut self) {
        if self.ends_list {
            self.update_dispatch_busy(false);
        }
    }

    /// Keeps a request that the disk has refused, and all others behind it.
    pub fn refused(&mut self, request: Request) {
        self.first.push_front(request);
        while let Some(last) = self.first.pop_back() {
            self.list.push_front(last);
        }
        self.update_dispatch_busy(true);
    }

    fn update_dispatch_busy(&mut self, is_refused: bool) {
        let refusal = if is_refused { REFUSAL } else { 0 };
        self.dispatch_busy = (self.dispatch_busy * (WEIGHT - 1) + refusal) / WEIGHT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Direction, RequestId};
    use crate::units::Bytes;
    use crate::workload::IoPriority;

    fn request(part: u64) -> Request {
        Request {
            id: RequestId(part),
            thread: 0,
            direction: Direction::Read,
            position: 0,
            bytes: Bytes(4096),
            priority: IoPriority::default(),
            part,
            cgroup: 0,
            is_direct: true,
            is_sync: true,
        }
    }

    #[test]
    fn threads_that_run_the_queue_go_first_and_who_is_refused_goes_before_all_others() {
        let mut hctx = Hctx::default();
        [1, 2, 3].into_iter().for_each(|part| hctx.send(request(part)));
        let refused = hctx.next().expect("it waits");
        [4, 5].into_iter().for_each(|part| hctx.send_first(request(part)));
        assert_eq!(hctx.next().map(|next| next.part), Some(4));
        hctx.taken();
        hctx.refused(refused);
        hctx.send_first(request(6));
        let order: Vec<_> = std::iter::from_fn(|| hctx.next()).map(|next| next.part).collect();
        assert_eq!(order, [6, 1, 5, 2, 3]);
        assert!(hctx.is_empty());
    }

    /// 16 / 8 = 2, 2 * 7 / 8 = 1, 1 * 7 / 8 = 0.
    #[test]
    fn after_a_refusal_requests_are_taken_one_by_one_until_two_lists_have_been_sent() {
        let mut hctx = Hctx::default();
        assert_eq!(hctx.batch(64), 64);
        hctx.refused(request(1));
        hctx.send(request(2));
        let batches = [3, 4, 5].map(|part| {
            while hctx.next().is_some() {
                hctx.taken();
            }
            hctx.send(request(part));
            hctx.batch(64)
        });
        assert_eq!(batches, [1, 64, 64]);
    }
}
