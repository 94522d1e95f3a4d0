//! Lets requests of others pass while the disk is idled for a queue, as many as do not slow it down.
//!
//! Source: `block/bfq-iosched.c: bfq_update_inject_limit, bfq_reset_inject_limit, bfq_choose_bfqq_for_injection`, Linux 6.12. Left out: waker
//! queues, and the one request that a long idle time lets pass.

use super::queue::Queue;
use crate::units::Nanos;

/// Between two measurements, and until the limit is taken back.
const SAMPLE: Nanos = Nanos(10_000_000);
const RESET: Nanos = Nanos(1_000_000_000);

/// The measurement of what injection costs the queue in service.
#[derive(Debug, Default)]
pub struct Injection {
    /// True if requests of others have passed (`rqs_injected`).
    pub has_passed: bool,
    waits_for_dispatch: bool,
    /// The request that is measured, and since when.
    waited: Option<u64>,
    since: Nanos,
}

impl Injection {
    /// The queue in service is another one.
    pub fn end(&mut self) {
        *self = Self::default();
    }

    /// `bfq_reset_inject_limit`
    pub fn reset(&mut self, now: Nanos, queue: &mut Queue) {
        queue.last_service_time = None;
        self.waited = None;
        queue.inject_limit = u32::from(!queue.has_short_think_time);
        queue.decreased = now;
    }

    /// Begins to measure the request that an empty queue gets now.
    pub fn arrived(&mut self, now: Nanos, queue: &mut Queue, is_in_service: bool, in_flight: u32) {
        if queue.decreased + RESET <= now {
            self.reset(now, queue);
        }
        let is_occasion = in_flight == 0 || queue.last_service_time.is_some() && self.has_passed;
        if is_in_service && is_occasion && queue.decreased + SAMPLE <= now {
            (self.since, self.waits_for_dispatch) = (now, true);
            self.has_passed &= in_flight > 0;
        }
    }

    /// A request of the queue in service goes to the disk.
    pub fn dispatched(&mut self, part: u64) {
        if std::mem::take(&mut self.waits_for_dispatch) {
            self.waited = Some(part);
        }
    }

    /// `bfq_update_inject_limit`: more where the request took no longer than half as long again as without injection.
    pub fn completed(
        &mut self,
        now: Nanos,
        queue: &mut Queue,
        part: u64,
        (in_flight, most_in_flight): (u32, u32),
    ) {
        if self.waited != Some(part) {
            return;
        }
        let (took, limit) = (now - self.since, queue.inject_limit);
        if let Some(alone) = queue.last_service_time.filter(|_| self.has_passed) {
            if took.0 >= alone.0 * 3 / 2 && limit > 0 {
                queue.inject_limit -= 1;
                queue.decreased = now;
            } else if took.0 < alone.0 * 3 / 2 && limit <= most_in_flight {
                queue.inject_limit += 1;
            }
        }
        match queue.last_service_time {
            None if in_flight == 1 => {
                queue.inject_limit = queue.inject_limit.max(1);
                queue.last_service_time = Some(took);
            }
            Some(alone) if took < alone || !self.has_passed && in_flight == 1 => {
                queue.last_service_time = Some(took);
            }
            _ => {}
        }
        self.waited = None;
        self.has_passed = false;
    }
}
