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
use crate::policy::kernel::task::kind::{Kind, Next, Stage, Waits};
use crate::policy::kernel::task::task::Task;
use crate::units::Bytes;
use crate::units::Nanos;

impl Kernel {
    /// A cut is over when nothing of it is under writeback any more and its blocks are given back.
    pub fn step_cut(&mut self, now: Nanos, operation: OperationId) -> Next {
        let task = self.tasks.get_mut(operation).expect("it is there");
        let Kind::Cut { cut } = task.kind else { unreachable!("only these cut a file") };
        let file = *task.file();
        // Nobody here waits where a client has cut the file.
        let is_ours = operation != OperationId::NOBODY;
        match task.stage {
            Stage::Start => {
                (task.stage, task.since) = (Stage::Pages, now);
                let range = (cut.from, u64::MAX);
                let waits = is_ours && self.block.queue(file.device).wait_within(file.id, range, operation);
                if waits { Next::Wait } else { Next::Step }
            }
            Stage::Durable => Next::Done,
            _ => {
                let journal = self.ext4.give_blocks_back(now, &file, cut);
                if !is_ours {
                    return Next::Done;
                }
                self.spend(now, operation, Waits { journal, ..Waits::default() })
            }
        }
    }

    /// An operation ends that has dropped clean pages, when each of them has been paid for; `before` is what was cached before it.
    pub fn end_removal(&mut self, now: Nanos, request: &Request, before: u64, out: &mut Actions) {
        let removed = Bytes(before.saturating_sub(self.pages.cached()));
        if !self.is_paid_for(request.operation, removed) {
            return out.done(request.operation, Outcome::default());
        }
        self.begin_task(now, request, Kind::Remove { cut: None }, None, (0, removed, removed));
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
        self.flusher_of(&file).untag(file.id, size.0, u64::MAX);
        if !self.is_paid_for(request.operation, removed) {
            let task = Task::new(Kind::Cut { cut }, Some(file), (0, Bytes::ZERO, Bytes::ZERO), now);
            return self.tasks.insert(request.operation, task);
        }
        let kind = Kind::Remove { cut: Some(cut) };
        self.begin_task(now, request, kind, Some(file), (0, removed, removed));
    }

    /// Whether taking so many bytes of pages away takes time: nobody here waits where a client has cut the file.
    pub fn is_paid_for(&self, operation: OperationId, removed: Bytes) -> bool {
        operation != OperationId::NOBODY
            && removed > Bytes::ZERO
            && self.config.host.memory.cost.page_remove > Nanos::ZERO
    }
}
