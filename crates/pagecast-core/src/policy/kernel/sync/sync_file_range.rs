//! Steps sync_file_range(2): writes a range of a file, or waits for it, as the caller asks.
//!
//! Source: `fs/sync.c: sync_file_range`, `mm/filemap.c: filemap_fdatawrite_range`, Linux 6.16. A call that only writes returns when all
//! pages have been submitted, for which the queue of the device must have room. Nothing is made durable: no journal, no flush of the
//! device's cache.

use crate::policy::kernel::filemap::fdatawrite::{filemap_fdatawrite_range, make_way_to};
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::page::whole_pages;
use crate::policy::kernel::tasks::kind::{Kind, Next};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileView, OperationId};
use crate::units::Bytes;
use crate::workload::{SyncRangeFlag, SyncRangeFlags};

/// Begins the first action that was asked for.
pub fn sync_range(
    cx: &mut Context<'_>,
    operation: OperationId,
    file: FileView,
    range: (u64, u64),
    flags: SyncRangeFlags,
) {
    let (start, end) = whole_pages(range);
    let kind = Kind::SyncRange { left: flags, is_all: flags.are_all() };
    let range = (start, Bytes(end - start), Bytes::ZERO);
    cx.tasks.insert(operation, Task::new(kind, Some(file), range, cx.now));
}

/// Does the next action that has to be waited for, or ends.
pub fn step_sync_range(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("who waits is under way");
    task.since = cx.now;
    let (file, range) = (*task.file(), (task.position, task.end));
    let Kind::SyncRange { left, is_all } = &mut task.kind else { unreachable!("only these have a range") };
    let is_all = *is_all;
    let waits = match left.take_first() {
        None => return Next::Done,
        Some(SyncRangeFlag::Write) => filemap_fdatawrite_range(cx, operation, &file, range, is_all),
        Some(SyncRangeFlag::WaitBefore | SyncRangeFlag::WaitAfter) => {
            make_way_to(cx, &file, range);
            cx.block.queue(file.device).wait_within(file.id, range, operation)
        }
    };
    if waits { Next::Wait } else { Next::Step }
}
