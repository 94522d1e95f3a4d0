//! Takes the advice of a program on a file.
//!
//! Source: `mm/fadvise.c: generic_fadvise`, Linux 6.16.

use crate::policy::kernel::filemap::readahead::{limits_of, pace_of, read_ahead};
use crate::policy::kernel::fs_writeback::flusher::Until;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::kind::Mode;
use crate::policy::{FileView, OperationId};
use crate::workload::Advice;

/// `mm/fadvise.c: generic_fadvise`, but for `POSIX_FADV_DONTNEED`.
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
        Advice::DontNeed => dont_need(cx, file, range),
        Advice::NoReuse => {}
    }
}

/// `mm/fadvise.c: POSIX_FADV_DONTNEED`: submits dirty pages and drops whole clean ones.
fn dont_need(cx: &mut Context<'_>, file: &FileView, (start, end): (u64, u64)) {
    // The last page of a file need not be a whole one.
    let (end, whole) = if end >= file.size.0 { (u64::MAX, u64::MAX) } else { (end, end / PAGE * PAGE) };
    let dirty = cx.pages.dirty().ranges_within(file.id, start, end);
    if dirty.total() > 0 {
        cx.flushers.flusher_of(cx.write_back, file).write_range(file.id, (start, end), dirty, Until::Never);
    }
    cx.pages.drop_clean_within(file.id, start.next_multiple_of(PAGE), whole);
}
