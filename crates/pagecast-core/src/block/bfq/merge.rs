//! Lets threads that begin shortly one after the other share a queue ("stable merge"), which then is not idled for one of them beside another.
//!
//! Source: `block/bfq-iosched.c: bfq_do_or_sched_stable_merge, bfq_setup_stable_merge, bfq_merge_bfqqs`, Linux 6.12 (since 5.13). Threads of one
//! cgroup, class and level are taken for one application. On a disk that turns, or takes one request at a time, they share a queue only after a
//! while, in which it is seen whether each is faster alone. Left out: the end of a thread, and queues merged as their positions are close.

use std::collections::BTreeMap;

use crate::block::request::Request;
use crate::units::Nanos;
use crate::workload::IoPriority;

/// `bfq_burst_interval`: a thread that begins within it shares the queue of the one before.
const BURST_INTERVAL: Nanos = Nanos(180_000_000);
/// `bfq_activation_stable_merging`: a queue is the one before for so long.
const ACTIVATION: Nanos = Nanos(600_000_000);
/// `bfq_late_stable_merging`
const LATE: Nanos = Nanos(600_000_000);

/// The queue that was created last (`last_bfqq_created`).
#[derive(Clone, Copy, Debug)]
struct Created {
    thread: u32,
    at: Nanos,
    priority: IoPriority,
}

/// The fate of a new queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Own,
    /// Its thread uses another one from the beginning (`bfq_do_early_stable_merge`).
    Merged,
}

/// Which thread uses whose queue; queues are named by the threads for which they were made.
#[derive(Debug, Default)]
pub struct Merging {
    /// By cgroup.
    last: BTreeMap<u16, Created>,
    /// The threads that use the queue of another.
    shared: BTreeMap<u32, u32>,
    /// Queues that may be merged into another one, and from when on.
    scheduled: BTreeMap<u32, (Nanos, u32)>,
}

impl Merging {
    /// The queue that a thread uses.
    pub fn queue_of(&self, thread: u32) -> u32 {
        let mut queue = thread;
        while let Some(other) = self.shared.get(&queue) {
            queue = *other;
        }
        queue
    }

    /// `bfq_do_or_sched_stable_merge`, for the first request of a thread.
    pub fn created(&mut self, now: Nanos, request: &Request, is_flash_with_queueing: bool) -> Fate {
        let &Request { thread, priority, cgroup, .. } = request;
        if !request.is_sync {
            return Fate::Own;
        }
        let is_like = |last: &&Created| now <= last.at + ACTIVATION && last.priority == priority;
        let Some(&last) = self.last.get(&cgroup).filter(is_like) else {
            self.last.insert(cgroup, Created { thread, at: now, priority });
            return Fate::Own;
        };
        if now > last.at + BURST_INTERVAL {
            return Fate::Own;
        }
        if !is_flash_with_queueing {
            self.scheduled.insert(thread, (now + LATE, last.thread));
            return Fate::Own;
        }
        self.shared.insert(thread, last.thread);
        Fate::Merged
    }

    /// The queue into which that of a thread may be merged now; it is not asked again.
    pub fn due(&mut self, now: Nanos, thread: u32) -> Option<u32> {
        let (from, other) = *self.scheduled.get(&thread)?;
        (from < now).then(|| self.scheduled.remove(&thread))?;
        Some(self.queue_of(other)).filter(|queue| *queue != thread)
    }

    /// The thread of a queue uses another one from now on.
    pub fn merge(&mut self, thread: u32, into: u32) {
        self.shared.insert(thread, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Direction, RequestId};
    use crate::units::Bytes;

    const MS: u64 = 1_000_000;

    fn first(thread: u32) -> Request {
        Request {
            id: RequestId(0),
            thread,
            direction: Direction::Read,
            position: 0,
            bytes: Bytes(4096),
            priority: IoPriority::default(),
            cgroup: 0,
            part: 0,
            is_direct: true,
            is_sync: true,
        }
    }

    /// The queues of threads that begin at some milliseconds.
    fn queues(begins: &[u64], is_flash_with_queueing: bool) -> (Merging, Vec<u32>) {
        let mut merging = Merging::default();
        for (thread, begins) in begins.iter().enumerate() {
            merging.created(Nanos(begins * MS), &first(thread as u32), is_flash_with_queueing);
        }
        let queues = (0..begins.len()).map(|thread| merging.queue_of(thread as u32)).collect();
        (merging, queues)
    }

    #[test]
    fn threads_share_the_queue_of_one_that_began_at_most_180_ms_before() {
        assert_eq!(queues(&[0, 0, 180, 181], true).1, [0, 0, 0, 3]);
        assert_eq!(queues(&[0, 400, 500], true).1, [0, 1, 2], "the first one counts for 600 ms");
        assert_eq!(queues(&[0, 601, 700], true).1, [0, 1, 1]);
    }

    #[test]
    fn threads_of_other_classes_and_cgroups_and_write_back_do_not() {
        let mut merging = Merging::default();
        let level = IoPriority { level: 3, ..IoPriority::default() };
        let others = [
            first(0),
            Request { is_sync: false, ..first(1) },
            Request { cgroup: 1, ..first(2) },
            Request { priority: level, ..first(3) },
            Request { priority: level, ..first(4) },
        ];
        let fates = others.map(|request| merging.created(Nanos::ZERO, &request, true));
        assert_eq!(fates, [Fate::Own, Fate::Own, Fate::Own, Fate::Own, Fate::Merged]);
    }

    #[test]
    fn on_other_disks_they_may_after_600_ms() {
        let (mut merging, own) = queues(&[0, 100], false);
        assert_eq!(own, [0, 1]);
        assert_eq!([700, 701, 702].map(|ms| merging.due(Nanos(ms * MS), 1)), [None, Some(0), None]);
        merging.merge(1, 0);
        assert_eq!(merging.queue_of(1), 0);
    }
}
