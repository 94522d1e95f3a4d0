//! sync_file_range(2): writing a range of a file, or waiting for it, as the caller says.
//!
//! Source: `fs/sync.c: sync_file_range`, `mm/filemap.c: filemap_fdatawrite_range`, Linux 6.16. Who only has pages written returns when all of
//! them have been submitted, for which the queue of the device must have had room. Nothing is made durable: no journal, no
//! flush of the device's cache.

use crate::policy::Actions;
use crate::policy::FileView;
use crate::policy::OperationId;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::fs_writeback::flusher::Until;
use crate::policy::kernel::page::whole_pages;
use crate::policy::kernel::task::kind::{Kind, Next};
use crate::policy::kernel::task::task::Task;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::workload::SyncRangeFlag;
use crate::workload::SyncRangeFlags;

impl Kernel {
    /// Begins with the first of what is asked for.
    pub fn sync_range(
        &mut self,
        now: Nanos,
        operation: OperationId,
        file: FileView,
        range: (u64, u64),
        flags: SyncRangeFlags,
    ) {
        let (start, end) = whole_pages(range);
        let kind = Kind::SyncRange { left: flags, is_all: flags.are_all() };
        let range = (start, Bytes(end - start), Bytes::ZERO);
        self.tasks.insert(operation, Task::new(kind, Some(file), range, now));
    }

    /// Does the next of what is asked for that has to be waited for, or ends.
    pub fn step_sync_range(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) -> Next {
        let task = self.tasks.get_mut(operation).expect("who waits is under way");
        task.since = now;
        let (file, range) = (*task.file(), (task.position, task.end));
        let Kind::SyncRange { left, is_all } = &mut task.kind else {
            unreachable!("only these have a range")
        };
        let is_all = *is_all;
        let waits = match left.take_first() {
            None => return Next::Done,
            Some(SyncRangeFlag::Write) => self.submit_range(now, operation, &file, range, is_all, out),
            Some(SyncRangeFlag::WaitBefore | SyncRangeFlag::WaitAfter) => {
                self.make_way_to(now, &file, range, out);
                self.block.queue(file.device).wait_within(file.id, range, operation)
            }
        };
        if waits { Next::Wait } else { Next::Step }
    }

    /// Has dirty pages of a range submitted for somebody who waits for that; false if there are none.
    pub fn submit_range(
        &mut self,
        now: Nanos,
        operation: OperationId,
        file: &FileView,
        range: (u64, u64),
        is_all: bool,
        out: &mut Actions,
    ) -> bool {
        self.make_way_to(now, file, range, out);
        let dirty = self.pages.dirty.ranges_within(file.id, range.0, range.1);
        let is_dirty = dirty.total() > 0;
        if is_dirty {
            let until = if is_all { Until::Written(operation) } else { Until::Submitted(operation) };
            self.flusher_of(file).write_range(file.id, range, dirty, until);
        }
        is_dirty
    }
}
