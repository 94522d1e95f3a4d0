//! Submits the dirty pages of a range of a file for a task that waits.
//!
//! Source: `mm/filemap.c: filemap_write_and_wait_range, filemap_fdatawrite_range`, Linux 6.16. The flusher sends them to the device
//! (`fs_writeback`).

use crate::policy::kernel::fs_writeback::flusher::Until;
use crate::policy::kernel::model::context::Context;
use crate::policy::{FileView, OperationId};

/// Writes the dirty pages of a range and lets a task wait for the range; false if it need not wait.
///
/// `mm/filemap.c: filemap_write_and_wait_range`
pub fn filemap_write_and_wait_range(
    cx: &mut Context<'_>,
    operation: OperationId,
    file: &FileView,
    range: (u64, u64),
) -> bool {
    make_way_to(cx, file, range);
    let dirty = cx.pages.dirty().ranges_within(file.id, range.0, range.1);
    if dirty.total() == 0 {
        return cx.block.queue(file.device).wait_within(file.id, range, operation);
    }
    cx.flushers.flusher_of(cx.write_back, file).write_range(file.id, range, dirty, Until::Written(operation));
    true
}

/// Submits the dirty pages of a range and lets a task wait for the submission; false if there are none.
pub fn filemap_fdatawrite_range(
    cx: &mut Context<'_>,
    operation: OperationId,
    file: &FileView,
    range: (u64, u64),
    is_all: bool,
) -> bool {
    make_way_to(cx, file, range);
    let dirty = cx.pages.dirty().ranges_within(file.id, range.0, range.1);
    let is_dirty = dirty.total() > 0;
    if is_dirty {
        let until = if is_all { Until::Written(operation) } else { Until::Submitted(operation) };
        cx.flushers.flusher_of(cx.write_back, file).write_range(file.id, range, dirty, until);
    }
    is_dirty
}

/// Takes back early submissions before a task touches a part of a file, if any of it is dirty or under writeback.
pub fn make_way_to(cx: &mut Context<'_>, file: &FileView, (start, end): (u64, u64)) {
    if cx.pages.dirty().are_any_busy(file.id, start, end) {
        cx.flushers.make_way(cx.pages, cx.write_back, cx.block, cx.now, file.device, cx.out);
    }
}
