//! Makes room for the data of a writer in the journal: a transaction that is full is committed, and a log that is full is emptied.
//!
//! Source: `fs/jbd2/transaction.c: add_transaction_credits`, `fs/jbd2/checkpoint.c: __jbd2_log_wait_for_space`, Linux 6.12. Whoever needs
//! the room writes the data of the oldest transaction to its place, and waits. Left out: data that the flusher writes to its place before
//! its commit, which the kernel does not allow.

use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::kernel::discretisation::JOURNALED_RUN;
use crate::policy::kernel::fs_writeback::flusher::{Until, WHOLE};
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::kind::Stage;
use crate::policy::ranges::Ranges;
use crate::policy::{FileId, OperationId};

/// Adds the next bytes of a write to the running transaction, if its file system journals data. Returns how far it may go, up to `end`;
/// nothing if it has to wait for room.
pub fn journal_data(cx: &mut Context<'_>, operation: OperationId, end: u64) -> Option<u64> {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let (file, from) = (*task.file(), task.position);
    let Some(journal) = cx.ext4.journal(file.device) else { return Some(end) };
    if !journal.rules.requests.is_some_and(|requests| requests.journals_data()) {
        return Some(end);
    }
    if !journal.has_space() {
        journal.log.drop_written(cx.pages.dirty());
    }
    let room = journal.room();
    if room >= PAGE && journal.has_space() {
        let until = ((from + room.min(JOURNALED_RUN)) / PAGE * PAGE).clamp(from + 1, end);
        journal.journal(cx.now, &file, (from, until));
        return Some(until);
    }
    (task.since, task.stage) = (cx.now, Stage::Room);
    // Only the journal wakes it, not who brought the page that it has waited for.
    task.run = if task.run == Run::Follow { Run::Wait } else { task.run };
    if room < PAGE {
        journal.wait_for_room(operation);
    } else if let Some((oldest, data)) = journal.log.oldest() {
        let dirty = dirty_of(cx.pages.dirty(), oldest, data);
        jbd2_log_do_checkpoint(cx, operation, oldest, dirty);
    } else {
        journal.wait_for_end(operation);
    }
    None
}

/// Writes data of a file to its place, or waits for what is under way already.
fn jbd2_log_do_checkpoint(cx: &mut Context<'_>, operation: OperationId, oldest: FileId, dirty: Ranges) {
    let device = cx.tasks[operation].file().device;
    cx.flushers.make_way(cx.pages, cx.write_back, cx.block, cx.now, device, cx.out);
    let wb = cx.write_back.wb_of(cx.tasks[operation].file());
    cx.flushers.of(wb).write_range(oldest, WHOLE, dirty, Until::Written(operation));
    cx.ext4.has_sent.push(device);
}

/// Returns the dirty bytes among those of a file.
fn dirty_of(dirty: &DirtyPages, file: FileId, data: &Ranges) -> Ranges {
    let (mut found, mut at) = (Ranges::default(), 0);
    while let Some((start, end)) = data.first(at, u64::MAX) {
        let within = dirty.ranges_within(file, start, end);
        let mut from = start;
        while let Some((first, last)) = within.first(from, end) {
            found.insert(first, last);
            from = last;
        }
        at = end;
    }
    found
}
