//! Says which threads the worker of a queue holds up while it sends requests.
//!
//! Source: `kernel/sched/fair.c: entity_eligible`, `block/blk-mq.c: blk_mq_run_hw_queue`, Linux 6.12. A worker of `kblockd` has nice -20. A thread that wakes
//! up preempts it, as it has used less of the processor than its share; what it then uses is more than its share of one in 88, so the worker preempts it when it
//! wakes up again.

use rustc_hash::FxHashSet;

/// The worker, and the threads that have preempted it since it began; see the module.
#[derive(Debug, Default)]
pub struct Worker {
    runs: bool,
    preempted_by: FxHashSet<u32>,
}

impl Worker {
    /// It sends a request.
    pub fn runs(&mut self) {
        self.runs = true;
    }

    /// It has nothing to send, or the disk takes nothing.
    pub fn stops(&mut self) {
        self.runs = false;
        self.preempted_by.clear();
    }

    /// True if a thread waits until the worker has sent what it has; notes that it preempts it otherwise.
    pub fn holds(&mut self, thread: u32) -> bool {
        self.runs && !self.preempted_by.insert(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_preempts_a_worker_once_in_each_run() {
        let mut worker = Worker::default();
        assert!(!worker.holds(1), "it does not run");
        worker.runs();
        assert_eq!([1, 1, 2, 1].map(|thread| worker.holds(thread)), [false, true, false, true]);
        worker.stops();
        worker.runs();
        assert_eq!([1, 1].map(|thread| worker.holds(thread)), [false, true]);
    }
}
