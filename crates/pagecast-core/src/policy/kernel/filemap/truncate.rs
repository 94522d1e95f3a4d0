//! Pages that are taken out of the cache because their file becomes shorter, or because somebody asks for it.
//!
//! Source: `mm/truncate.c: truncate_inode_pages_range`, Linux 6.16. Each page has its price; who cuts a file also waits for those under
//! writeback, and for its blocks (`written_back`). Pages that reclaim takes are in `lists`.

use crate::policy::Actions;
use crate::policy::FileView;
use crate::policy::OperationId;
use crate::policy::Outcome;
use crate::policy::Request;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::task::kind::{Cut, Kind};
use crate::policy::kernel::task::task::Task;
use crate::units::Bytes;
use crate::units::Nanos;

impl Kernel {
    /// A cut is over when nothing of it is under writeback any more and its blocks are given back.
    pub fn wait_for_writeback(
        &mut self,
        now: Nanos,
        operation: OperationId,
        (file, cut): (FileView, Cut),
        outcome: Outcome,
        out: &mut Actions,
    ) {
        let must_wait = operation != OperationId::NOBODY
            && self.queue(&file).wait_within(file.id, (cut.from, u64::MAX), operation);
        if must_wait {
            let wait = Task::new(Kind::Wait { cut }, Some(file), (0, Bytes::ZERO, Bytes::ZERO), now);
            self.tasks.insert(operation, Task { outcome, ..wait });
        } else {
            self.give_blocks_back(now, operation, (&file, cut), outcome, out);
        }
    }

    /// An operation ends that has dropped clean pages, when each of them has been paid for; `before` is what was cached before it.
    pub fn end_removal(&mut self, now: Nanos, request: &Request, before: u64, out: &mut Actions) {
        let removed = Bytes(before.saturating_sub(self.pages.cached()));
        if !self.is_paid_for(request.operation, removed) {
            return out.done(request.operation, Outcome::default());
        }
        self.begin_task(now, request, Kind::Remove { cut: None }, None, (0, removed, removed), out);
    }

    /// Pages beyond the new size of a file leave, each at its price.
    pub fn truncate(
        &mut self,
        now: Nanos,
        request: &Request,
        file: FileView,
        size: Bytes,
        out: &mut Actions,
    ) {
        self.make_way_to(now, &file, (size.0, u64::MAX), out);
        self.forget_read_ahead(request.operation, file.id, size.0);
        let removed = Bytes(self.pages.lists.cached_within(file.id, size.0, u64::MAX));
        let cut = self.cut_from(&file, size.0);
        self.pages.truncate(file.id, size.0);
        self.pages.folios.cut(file.id, size.0);
        self.wb(&file).flusher.untag(file.id, size.0, u64::MAX);
        if !self.is_paid_for(request.operation, removed) {
            return self.wait_for_writeback(now, request.operation, (file, cut), Outcome::default(), out);
        }
        let kind = Kind::Remove { cut: Some(cut) };
        self.begin_task(now, request, kind, Some(file), (0, removed, removed), out);
    }

    /// Whether taking so many bytes of pages away takes time: nobody here waits where a client has cut the file.
    fn is_paid_for(&self, operation: OperationId, removed: Bytes) -> bool {
        operation != OperationId::NOBODY
            && removed > Bytes::ZERO
            && self.config.host.memory.cost.page_remove > Nanos::ZERO
    }
}
