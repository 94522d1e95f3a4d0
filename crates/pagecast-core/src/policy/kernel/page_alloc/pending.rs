//! Counts bytes that have moved before their pages are known.
//!
//! Ours. Levels change with every event. Pages that come or leave are put into place when they matter (`model::settle`).

use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::credit::check;
use crate::policy::kernel::tasks::task::Task;
use crate::units::Nanos;

impl Pages {
    /// Counts bytes that a task has moved. If it makes pages dirty, it does so at this rate.
    pub fn count(&mut self, task: &mut Task, bytes: u64, rate: Option<f64>, now: Nanos) {
        if task.run.dirties() {
            self.count_dirtied(task, bytes, rate, now);
        } else if bytes > 0 {
            self.count_others(task, bytes);
        }
    }

    /// Counts bytes of a task that makes pages dirty. Returns true if it has credit left.
    // Of every such task with every event.
    #[inline(always)]
    pub fn count_dirtied(&mut self, task: &mut Task, bytes: u64, rate: Option<f64>, now: Nanos) -> bool {
        let runs_ahead = check(&mut task.credit, rate, bytes, now);
        if bytes == 0 {
            return runs_ahead;
        }
        self.dirty.run_ahead(task.wb, bytes);
        if let Some(memcg) = self.memcg(task.memcg) {
            memcg.run_ahead(task, bytes);
        }
        // A writer has its buffer already.
        if task.run.fills() {
            self.ahead_cached += bytes;
        }
        task.pending += bytes;
        self.pending += bytes;
        runs_ahead
    }

    /// Counts bytes of a task that makes no pages dirty.
    #[inline(always)]
    pub fn count_others(&mut self, task: &mut Task, bytes: u64) {
        if let Some(memcg) = self.memcg(task.memcg) {
            memcg.run_ahead(task, bytes);
        }
        if task.run.fills() {
            self.ahead_cached += bytes;
        }
        if task.takes_anonymous() {
            self.ahead_anonymous += task.asked_of(bytes);
        }
        if task.run == Run::Fill {
            self.shmem.ahead += task.asked_of(bytes);
        }
        task.pending += bytes;
        self.pending += bytes;
    }

    /// Takes back pending bytes of a task: their pages are put into place now, or nobody keeps them.
    pub fn uncount(&mut self, task: &Task, bytes: u64) {
        self.pending -= bytes;
        if task.run.fills() {
            self.ahead_cached -= bytes;
        }
        if task.takes_anonymous() {
            self.ahead_anonymous -= task.asked_of(bytes);
        }
        if task.run == Run::Fill {
            self.shmem.ahead -= task.asked_of(bytes);
        }
        if task.run.dirties() {
            self.dirty.fall_back(task.wb, bytes);
        }
        if let Some(memcg) = self.memcg(task.memcg) {
            memcg.fall_back(task, bytes);
        }
    }

    /// The bytes of all tasks whose pages are not known yet.
    pub fn pending_bytes(&self) -> u64 {
        self.pending
    }

    /// The pending bytes of page cache and of anonymous memory.
    pub fn ahead(&self) -> [u64; 2] {
        [self.ahead_cached, self.ahead_anonymous]
    }
}
