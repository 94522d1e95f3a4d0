//! Takes the advice of a program on a file.
//!
//! Source: `mm/fadvise.c: generic_fadvise`, Linux 6.16.

use crate::policy::kernel::filemap::fdatawrite::filemap_fdatawrite_range;
use crate::policy::kernel::filemap::readahead::{limits_of, pace_of, read_ahead};
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::kind::{Kind, Mode, Next, Stage};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileView, OperationId};
use crate::units::Bytes;
use crate::workload::Advice;

/// `mm/fadvise.c: generic_fadvise`, but for `POSIX_FADV_DONTNEED`, which is a task of its own.
pub fn generic_fadvise(
    cx: &mut Context<'_>,
    thread: OperationId,
    file: &FileView,
    advice: Advice,
    range: (u64, u64),
) {
    let limits = limits_of(cx.config, file);
    let stream = cx.readers.streams.entry((thread, file.id)).or_default();
    match advice {
        Advice::Normal => stream.mode = Mode::Normal,
        Advice::Sequential => stream.mode = Mode::Sequential,
        Advice::Random => stream.mode = Mode::Random,
        Advice::WillNeed => {
            let most = stream.limits(limits).forced();
            let (start, end) = (range.0 / PAGE * PAGE, range.1.div_ceil(PAGE) * PAGE);
            let end = end.min(start.saturating_add(most * PAGE)).min(file.size.0);
            let pace = pace_of(cx.config, file, 0.0);
            let pages = end.saturating_sub(start).div_ceil(PAGE) as f64;
            let least = if pace.latency > 0.0 { pace.latency + pages * pace.transfer } else { 0.0 };
            read_ahead(cx, thread, file, (start, end), 0, least);
        }
        Advice::DontNeed | Advice::NoReuse => {}
    }
}

/// `mm/fadvise.c: POSIX_FADV_DONTNEED`: waits until dirty pages have been submitted, for which the queue of the device must have room.
pub fn step_dont_need(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let (file, range) = (*task.file(), (task.position, task.end));
    task.since = cx.now;
    if std::mem::replace(&mut task.stage, Stage::Pages) == Stage::Start
        && filemap_fdatawrite_range(cx, operation, &file, range, false)
    {
        return Next::Wait;
    }
    Next::Done
}

/// Drops the whole clean pages of the range, each at its price; the rest stays.
pub fn end_dont_need(cx: &mut Context<'_>, operation: OperationId, task: Task) -> Option<OperationId> {
    let (file, start, end) = (*task.file(), task.position, task.end);
    // The last page of a file need not be a whole one.
    let whole = if end >= file.size.0 { u64::MAX } else { end / PAGE * PAGE };
    let before = cx.pages.cached();
    cx.pages.drop_clean_within(file.id, start.next_multiple_of(PAGE), whole);
    let removed = Bytes(before.saturating_sub(cx.pages.cached()));
    if !cx.config.is_paid_for(operation, removed) {
        cx.out.done(operation, task.outcome);
        return None;
    }
    let removal = Task::new(Kind::Remove { cut: None }, None, (0, removed, removed), cx.now);
    cx.tasks.insert(operation, Task { outcome: task.outcome, memcg: task.memcg, ..removal });
    Some(operation)
}
