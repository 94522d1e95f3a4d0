//! The rates that tasks are held to by the devices they write to.

use crate::policy::kernel::page_writeback::wb::Wb;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::task::Task;

/// The rate of the tasks that write to the device of one that does; nothing in free run.
pub fn task_rate(wbs: &[Option<Wb>], task: &Task) -> Option<f64> {
    if task.run.dirties() { rate_of(wbs, task) } else { None }
}

/// The rate of a task if it writes; nothing in free run.
pub fn rate_of(wbs: &[Option<Wb>], task: &Task) -> Option<f64> {
    wbs.get(task.wb.0 as usize)?.as_ref()?.task_rate.as_ref().map(|rate| rate.of(task.folio))
}

/// The rates of tasks that are asked for one after the other: most of them write to the same device by the same calls.
pub struct Rates<'a> {
    wbs: &'a [Option<Wb>],
    last: (WbId, u64),
    /// That of the last one, but in free run, as a pause at the hard limit: none.
    rate: f64,
}

impl<'a> Rates<'a> {
    pub fn new(wbs: &'a [Option<Wb>]) -> Self {
        // No folio has no pages.
        Self { wbs, last: (WbId::default(), 0), rate: 0.0 }
    }

    /// As `rate_of`, if it is more than nothing.
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
