//! Opens and closes files of another host, whose pages are as fresh as its answer, and makes them durable there.
//!
//! Source: `fs/nfs/file.c: nfs_file_flush, nfs_file_fsync`, `fs/nfs/inode.c: nfs_open, __nfs_revalidate_mapping`, Linux 6.16: close-to-open. An open asks for
//! the attributes of the file; if others have changed it, its pages leave. A close writes all of it and waits.
//!
//! Left out: the time for which attributes are believed (`ac`), delegations.

use crate::machine::NfsVersion;
use crate::policy::kernel::filemap::fdatawrite::filemap_write_and_wait_range;
use crate::policy::kernel::fs_writeback::flusher::WHOLE;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::sync::fsync::wait_for_files;
use crate::policy::kernel::tasks::kind::{Durable, Kind, Next, Stage};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileId, FileView, OperationId, Outcome, Procedure};
use crate::result::Part;
use crate::units::Bytes;

/// Opens a file, which it may make, or looks at it.
pub fn nfs_open(cx: &mut Context<'_>, operation: OperationId, file: FileView, procedure: Procedure) {
    let nothing = (0, Bytes::ZERO, Bytes::ZERO);
    cx.tasks.insert(operation, Task::new(Kind::Ask(procedure), Some(file), nothing, cx.now));
}

/// Asks the server about a file and waits.
pub fn step_ask(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::Ask(procedure) = task.kind else { unreachable!("only these ask") };
    let file = *task.file();
    if task.stage == Stage::Durable {
        return end_with_reply(cx, operation, Part::DeviceRead);
    }
    (task.stage, task.since) = (Stage::Durable, cx.now);
    cx.nfs
        .get_mut(file.device)
        .expect("the file is another host's")
        .ask(operation, file.id, procedure, cx.out);
    Next::Wait
}

/// Ends an operation whose call has been answered: it has waited for the network, and as `part` for the server.
fn end_with_reply(cx: &mut Context<'_>, operation: OperationId, part: Part) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let waited = cx.nfs.parts_of_wait(Some(task.file()), part, cx.now - task.since);
    task.outcome.parts.add_all(&waited);
    Next::Done
}

/// Drops the pages of a file that others have changed.
pub fn invalidate_mapping(cx: &mut Context<'_>, file: FileId) {
    cx.pages.invalidate_inode_pages2_range(file, 0, u64::MAX);
}

/// `nfs_file_flush`: writes all of a file that is closed, waits until the server has it on its disk, and closes it there.
pub fn nfs_file_flush(cx: &mut Context<'_>, operation: OperationId, file: FileView) {
    if cx.config.nfs_options_of(&file).is_none() {
        return cx.out.done(operation, Outcome::default());
    }
    let waits = filemap_write_and_wait_range(cx, operation, &file, WHOLE);
    wait_for_files(cx, operation, (Some(file), waits.into()), Durable::Close);
}

/// Waits until nothing of a file that is closed is to be committed, and until the server has closed it, as version 4 tells it
/// (`fs/nfs/nfs4proc.c: nfs4_do_close`).
pub fn step_close(cx: &mut Context<'_>, operation: OperationId, stage: Stage) -> Next {
    if matches!(stage, Stage::Start | Stage::Pages) {
        return nfs_commit_inode(cx, operation);
    }
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let file = *task.file();
    let client = cx.nfs.get_mut(file.device).expect("the file is another host's");
    if stage == Stage::Durable && client.options.vers != NfsVersion::V3 {
        (task.stage, task.since) = (Stage::Close, cx.now);
        client.close(operation, file.id, cx.out);
        return Next::Wait;
    }
    if stage == Stage::Close { end_with_reply(cx, operation, Part::DeviceWrite) } else { Next::Done }
}

/// `nfs_commit_inode`: waits until nothing of a task's file is to be committed.
pub fn nfs_commit_inode(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let file = *task.file();
    (task.stage, task.since, task.busy_until) = (Stage::Durable, cx.now, None);
    let client = cx.nfs.get_mut(file.device).expect("the file is another host's");
    if client.wait_for_commit(file.id, operation, cx.out) { Next::Wait } else { Next::Step }
}
