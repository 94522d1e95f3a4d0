//! Pages that are taken out of the cache because their file becomes shorter, or because somebody asks for it.
//!
//! Source: `mm/truncate.c: truncate_inode_pages_range`, Linux 6.16. Each page has its price; who cuts a file also waits for those under
//! writeback, and for its blocks (`written_back`). Pages that reclaim takes are in `lists`.

use super::Kernel;
use super::durable::Waits;
use super::tasks::{Kind, Task};
use crate::policy::{Actions, Call, FileView, OperationId, Outcome, Request};
use crate::units::{Bytes, Nanos};

impl Kernel {
    /// An operation ends when nothing of its file, from a byte on, is under writeback any more.
    pub(super) fn wait_for_writeback(
        &mut self,
        now: Nanos,
        operation: OperationId,
        (file, from): (FileView, u64),
        outcome: Outcome,
        out: &mut Actions,
    ) {
        let queue = &mut self.wb(&file).flusher.queue;
        let must_wait =
            operation != OperationId::NOBODY && queue.wait_within(file.id, (from, u64::MAX), operation);
        if must_wait {
            let wait = Task::new(Kind::Wait, Some(file), (0, Bytes::ZERO, Bytes::ZERO), now);
            self.tasks.insert(operation, Task { outcome, ..wait });
        } else {
            out.done(operation, outcome);
        }
    }

    /// An operation ends that has dropped clean pages, when each of them has been paid for; `before` is what was cached before it.
    pub(super) fn end_removal(&mut self, now: Nanos, request: &Request, before: u64, out: &mut Actions) {
        let removed = Bytes(before.saturating_sub(self.pages.cached()));
        if removed == Bytes::ZERO || self.host.memory.cost.page_remove == Nanos::ZERO {
            return out.done(request.operation, Outcome::default());
        }
        self.begin_task(now, request, Kind::Remove { from: 0 }, None, (0, removed, removed), out);
    }

    /// Pages beyond the new size of a file leave, each at its price. Who cuts it waits for those under writeback
    /// (`mm/truncate.c: truncate_inode_pages_range`).
    pub(super) fn truncate(
        &mut self,
        now: Nanos,
        request: &Request,
        file: FileView,
        size: Bytes,
        out: &mut Actions,
    ) {
        self.forget_read_ahead(request.operation, file.id, size.0);
        let removed = self.pages.lists.cached_within(file.id, size.0, u64::MAX);
        let freeing = self.freeing(now, &file, size.0);
        self.pages.truncate(file.id, size.0);
        self.folios.cut(file.id, size.0);
        self.wb(&file).flusher.untag(file.id, size.0, u64::MAX);
        let (from, removed) = (size.0, Bytes(removed));
        if freeing == Nanos::ZERO || request.operation == OperationId::NOBODY {
            return self.remove_pages(now, request, file, (from, removed), Outcome::default(), out);
        }
        let nothing = (0, Bytes::ZERO, Bytes::ZERO);
        self.tasks
            .insert(request.operation, Task::new(Kind::Free { from, removed }, Some(file), nothing, now));
        self.wait(now, request.operation, Waits { journal: freeing, ..Waits::default() }, out);
    }

    /// The blocks that an operation gives back are free: the pages that were in memory are paid for.
    pub(super) fn freed(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        let task = self.tasks.remove(operation).expect("it is there");
        let Kind::Free { from, removed } = task.kind else { unreachable!("only these give blocks back") };
        let file = *task.file();
        let call = Call::Truncate { file, size: Bytes(from) };
        self.remove_pages(now, &Request { operation, call }, file, (from, removed), task.outcome, out);
    }

    /// So many bytes from one on have left the cache: that is paid for, and what is under writeback is waited for.
    fn remove_pages(
        &mut self,
        now: Nanos,
        request: &Request,
        file: FileView,
        (from, removed): (u64, Bytes),
        outcome: Outcome,
        out: &mut Actions,
    ) {
        if removed == Bytes::ZERO || self.host.memory.cost.page_remove == Nanos::ZERO {
            return self.wait_for_writeback(now, request.operation, (file, from), outcome, out);
        }
        self.begin_task(now, request, Kind::Remove { from }, Some(file), (0, removed, removed), out);
        let task = self.tasks.get_mut(request.operation).expect("taking pages away takes time");
        task.outcome.parts.add_all(&outcome.parts);
    }
}
