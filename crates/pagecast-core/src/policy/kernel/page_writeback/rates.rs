//! Finds the rate to which a task is held by the device it writes to.
//!
//! Ours: a lookup for many tasks.

use crate::policy::kernel::page_writeback::wb::Wb;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::task::Task;

/// Returns the rate for a task that writes; nothing in free run.
pub fn task_rate(wbs: &[Option<Wb>], task: &Task) -> Option<f64> {
    if task.run.dirties() { rate_of(wbs, task) } else { None }
}

/// Returns the rate of a task if it writes; nothing in free run.
pub fn rate_of(wbs: &[Option<Wb>], task: &Task) -> Option<f64> {
    wbs.get(task.wb.0 as usize)?.as_ref()?.task_rate.as_ref().map(|rate| rate.of(task.folio))
}

/// Finds the rates of one task after another. Most of them write to the same device by the same calls.
pub struct Rates<'a> {
    wbs: &'a [Option<Wb>],
    last: (WbId, u64),
    /// The rate of the last task; zero in free run, as for a pause at the hard limit.
    rate: f64,
}

impl<'a> Rates<'a> {
    pub fn new(wbs: &'a [Option<Wb>]) -> Self {
        // No folio has no pages.
        Self { wbs, last: (WbId::default(), 0), rate: 0.0 }
    }

    /// Returns `rate_of` if it is more than zero.
    #[inline(always)]
    pub fn of(&mut self, task: &Task) -> Option<f64> {
        if self.last != (task.wb, task.folio) {
            self.find(task);
        }
        (self.rate > 0.0).then_some(self.rate)
    }

    #[cold]
    #[inline(never)]
    fn find(&mut self, task: &Task) {
        self.last = (task.wb, task.folio);
        self.rate = rate_of(self.wbs, task).unwrap_or(0.0);
    }
}
