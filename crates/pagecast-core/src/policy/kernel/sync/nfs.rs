//! Asks a server about names, attributes and files that are opened and closed, and makes files durable there.
//!
//! Source: `fs/nfs/file.c: nfs_file_flush, nfs_file_fsync`, `fs/nfs/inode.c: nfs_open, nfs_getattr, nfs_setattr, __nfs_revalidate_mapping`, Linux 6.16:
//! close-to-open. An open asks for the attributes of the file; if others have changed it, its pages leave. A close writes all of it and waits, as
//! does a change of its size. `stat` writes all of it, too, but does not commit that.
//!
//! Left out: pages beyond the new end of a file are dropped before others are written.

use crate::policy::kernel::filemap::fdatawrite::filemap_write_and_wait_range;
use crate::policy::kernel::fs_writeback::flusher::WHOLE;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::nfs::asked::commits;
use crate::policy::kernel::sync::fsync::wait_for_files;
use crate::policy::kernel::tasks::kind::{Asked, Cut, Durable, Kind, Next, Stage};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileId, FileView, OperationId, Outcome, Procedure};
use crate::result::Part;
use crate::units::Bytes;

/// Begins an operation on names or attributes.
pub fn ask(cx: &mut Context<'_>, operation: OperationId, file: FileView, asked: Asked) {
    if matches!(asked, Asked::Stat | Asked::Close) {
        return write_and_ask(cx, operation, file, asked);
    }
    let nothing = (0, Bytes::ZERO, Bytes::ZERO);
    cx.tasks.insert(operation, Task::new(Kind::Ask { asked, sent: 0 }, Some(file), nothing, cx.now));
}

/// Writes the dirty pages of a file, waits for them, and asks then.
fn write_and_ask(cx: &mut Context<'_>, operation: OperationId, file: FileView, asked: Asked) {
    let waits = filemap_write_and_wait_range(cx, operation, &file, WHOLE);
    wait_for_files(cx, operation, (Some(file), waits.into()), Durable::Ask(asked));
}

/// `nfs_file_flush`: writes all of a file that is closed, waits until the server has it on its disk, and closes it there.
pub fn nfs_file_flush(cx: &mut Context<'_>, operation: OperationId, file: FileView) {
    if cx.config.nfs_options_of(&file).is_none() {
        return cx.out.done(operation, Outcome::default());
    }
    ask(cx, operation, file, Asked::Close);
}

/// Tells the server of a file that has been cut, or removed, here.
pub fn ask_after_cut(cx: &mut Context<'_>, operation: OperationId, task: &Task, cut: Cut) {
    let (file, Cut { from, unlinks, opens, .. }) = (*task.file(), cut);
    if unlinks {
        ask(cx, operation, file, Asked::Remove);
    } else {
        write_and_ask(cx, operation, file, Asked::Cut { size: Bytes(from), opens });
    }
    cx.tasks.get_mut(operation).expect("it has begun").outcome = task.outcome;
}

/// Makes the next call and waits.
pub fn step_ask(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::Ask { asked, sent } = task.kind else { unreachable!("only these ask") };
    let waited = cx.nfs.parts_of_wait(cx.now, Some(task.file()), Part::DeviceRead, cx.now - task.since);
    task.outcome.parts.add_all(&waited);
    let file = *task.file();
    let client = cx.nfs.get_mut(file.device).expect("the file is another host's");
    let Some(procedure) = client.next_call(cx.now, file.id, asked, sent) else { return Next::Done };
    let sent = sent + u8::from(procedure != Procedure::Delegreturn);
    (task.kind, task.since) = (Kind::Ask { asked, sent }, cx.now);
    client.ask(operation, file.id, procedure, cx.out);
    Next::Wait
}

/// Drops the pages of a file that others have changed.
pub fn invalidate_mapping(cx: &mut Context<'_>, file: FileId) {
    cx.pages.invalidate_inode_pages2_range(file, 0, u64::MAX);
}

/// Waits until nothing of a file is to be committed, where that matters, and asks then.
pub fn step_write_and_ask(cx: &mut Context<'_>, operation: OperationId, asked: Asked) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    if commits(asked) && task.stage != Stage::Durable {
        return nfs_commit_inode(cx, operation);
    }
    (task.kind, task.since) = (Kind::Ask { asked, sent: 0 }, cx.now);
    Next::Step
}

/// `nfs_commit_inode`: waits until nothing of a task's file is to be committed.
pub fn nfs_commit_inode(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let file = *task.file();
    (task.stage, task.since, task.busy_until) = (Stage::Durable, cx.now, None);
    let client = cx.nfs.get_mut(file.device).expect("the file is another host's");
    if client.wait_for_commit(file.id, operation, cx.out) { Next::Wait } else { Next::Step }
}
