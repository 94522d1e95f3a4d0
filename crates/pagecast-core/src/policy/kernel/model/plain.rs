//! Operations whose bytes are all served alike.

use crate::policy::OperationId;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::task::cost::Run;
use crate::policy::kernel::task::kind::{Kind, Next};
use crate::policy::kernel::task::shape::RunShape;
use crate::units::Nanos;

impl Kernel {
    /// The next bytes of an operation that looks nothing up.
    pub fn step_plain(&mut self, now: Nanos, operation: OperationId) -> Next {
        let task = self.tasks.get_mut(operation).expect("it is there");
        let (at, mut end) = (task.position, task.end);
        if at >= end {
            return Next::Done;
        }
        task.run = match task.kind {
            Kind::Allocate { .. } => Run::Touch,
            Kind::Remove { .. } => Run::Remove,
            Kind::WriteThrough => Run::Through,
            Kind::Insert { .. } => Run::Insert,
            _ => unreachable!("others look up what is in the cache"),
        };
        if task.run == Run::Touch {
            let task = &self.tasks[operation];
            end = end.min(at.saturating_add(self.until_reported_to(task)));
            end = self.end_of_spare(at, end);
        }
        self.tasks.get_mut(operation).expect("it is there").shape = RunShape::plain(end - at);
        Next::Run(end)
    }

    /// Up to where new memory comes without others having to leave, if that has a price.
    pub fn end_of_spare(&self, at: u64, end: u64) -> u64 {
        match self.pages.spare() {
            spare if spare > 0 && self.config.prices.has_reclaim() => end.min(at.saturating_add(spare)),
            _ => end,
        }
    }
}
