//! Steps operations that look nothing up: anonymous memory, write-through, pages for another host, removal.

use crate::policy::OperationId;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::kind::{Kind, Next};
use crate::policy::kernel::tasks::shape::RunShape;

/// Steps an operation that looks nothing up.
pub fn step_plain(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
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
        let task = &cx.tasks[operation];
        end = end.min(at.saturating_add(cx.pages.until_reported_to(task)));
        end = cx.pages.end_of_spare(at, end);
    }
    cx.tasks.get_mut(operation).expect("it is there").shape = RunShape::plain(end - at);
    Next::Run(end)
}
