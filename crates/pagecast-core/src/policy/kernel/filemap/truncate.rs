//! Steps truncation and dropping of pages, page by page at a price.
//!
//! Source: `mm/truncate.c: truncate_inode_pages_range`, Linux 6.16. A task that truncates a file also waits for pages under writeback, and
//! for freeing blocks (`ext4::written_back`). Left out: eviction, which `vmscan` does.

use crate::policy::kernel::filemap::begin::begin_task;
use crate::policy::kernel::filemap::fdatawrite::make_way_to;
use crate::policy::kernel::filemap::readahead::forget_read_ahead;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::run::spend;
use crate::policy::kernel::tasks::kind::{Cut, Kind, Next, Stage, Waits};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileView, OperationId, Outcome, Request};
use crate::units::{Bytes, Nanos};

/// Ends a cut when none of its pages is under writeback and its blocks are freed.
pub fn step_cut(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::Cut { cut } = task.kind else { unreachable!("only these cut a file") };
    let file = *task.file();
    // Nobody here waits where a client has cut the file.
    let is_ours = operation != OperationId::NOBODY;
    match task.stage {
        Stage::Start => {
            (task.stage, task.since) = (Stage::Pages, cx.now);
            let range = (cut.from, u64::MAX);
            let waits = is_ours && cx.block.queue(file.device).wait_within(file.id, range, operation);
            if waits { Next::Wait } else { Next::Step }
        }
        Stage::Durable => Next::Done,
        _ => {
            let journal = cx.ext4.give_blocks_back(cx.now, &file, cut);
            if !is_ours {
                return Next::Done;
            }
            let unlink = if cut.unlinks { cx.config.cost_of(&file).unlink } else { Nanos::ZERO };
            let computes = cx.ext4.cpus.run(cx.now, unlink) - cx.now;
            spend(cx, operation, Waits { journal, computes, ..Waits::default() })
        }
    }
}

/// Ends an operation that has dropped clean pages, when all are paid for; `before` is the number of bytes cached before it.
pub fn end_removal(cx: &mut Context<'_>, request: &Request, before: u64) {
    let removed = Bytes(before.saturating_sub(cx.pages.cached()));
    if !cx.config.is_paid_for(request.operation, removed) {
        return cx.out.done(request.operation, Outcome::default());
    }
    begin_task(cx, request, Kind::Remove { cut: None }, None, (0, removed, removed));
}

/// Drops pages beyond the new size of a file, each at its price; with its last name, where it loses that. It may be opened by the same call.
pub fn truncate(
    cx: &mut Context<'_>,
    request: &Request,
    (file, size): (FileView, Bytes),
    (unlinks, opens): (bool, bool),
) {
    if unlinks && cx.pages.dirty().are_any_busy(file.id, 0, u64::MAX) {
        // `fs/inode.c: evict, inode_wait_for_writeback`
        let device = (file.device, true);
        cx.flushers.make_way_behind(cx.pages, cx.write_back, cx.block, cx.now, device, cx.out);
    } else {
        make_way_to(cx, &file, (size.0, u64::MAX));
    }
    forget_read_ahead(cx, request.operation, file.id, size.0);
    let removed = Bytes(cx.pages.lists().cached_within(file.id, size.0, u64::MAX));
    let cut = Cut { unlinks, opens, ..cx.ext4.cut_from(cx.pages, &file, size.0) };
    if unlinks {
        cx.ext4.note_name(cx.now, &file, false);
    }
    cx.ext4.note_cut(cx.now, &file, size.0);
    cx.ext4.note_changed(file.device, file.id, (size.0, u64::MAX));
    cx.pages.truncate(file.id, size.0);
    cx.pages.cut_folios(file.id, size.0);
    cx.flushers.flusher_of(cx.write_back, &file).untag(file.id, size.0, u64::MAX);
    if !cx.config.is_paid_for(request.operation, removed) {
        let task = Task::new(Kind::Cut { cut }, Some(file), (0, Bytes::ZERO, Bytes::ZERO), cx.now);
        return cx.tasks.insert(request.operation, task);
    }
    let kind = Kind::Remove { cut: Some(cut) };
    begin_task(cx, request, kind, Some(file), (0, removed, removed));
}
