//! Steps writes that return when the device has them (O_SYNC, O_DSYNC).
//!
//! Source: `fs/read_write.c: generic_write_sync`, `mm/filemap.c: file_write_and_wait_range`, Linux 6.16. A call copies into the cache,
//! writes its range and waits; then the next call begins. Several calls are one step while no other task writes to the device: this changes
//! when it is busy, not for how long. Beside other writers each call is a step, and waits in the queue anew.

use crate::policy::kernel::discretisation::step_of;
use crate::policy::kernel::filemap::begin::begin_task;
use crate::policy::kernel::filemap::fdatawrite::{filemap_fdatawrite_range, filemap_write_and_wait_range};
use crate::policy::kernel::filemap::partial_blocks::write_rest_of_blocks;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::run::spend;
use crate::policy::kernel::sync::fsync::{after_commit, commit, flush};
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::kind::{Kind, Next, Stage};
use crate::policy::{Call, FileView, Integrity, OperationId, Request};
use crate::units::Bytes;

/// Begins a write each call of which waits for the device.
pub fn begin_synchronous(
    cx: &mut Context<'_>,
    request: &Request,
    file: FileView,
    at: (u64, Bytes, Bytes),
    durable: Integrity,
) {
    let (from, bytes, piece) = at;
    // Nobody waits for the device where pages are only submitted, to be dropped behind.
    let waits = matches!(request.call, Call::WriteSync { .. });
    let is_alone = is_alone(cx, &file, waits);
    let step = step_bytes((bytes, piece), is_alone);
    let kind = Kind::WriteSync { from, last: from + bytes.0, durable };
    begin_task(cx, request, kind, Some(file), (from, bytes.min(Bytes(step)), piece));
}

/// Writes the bytes that the calls of a step have copied (`filemap::write`), and the rest of their blocks; then flushes the device's cache.
pub fn step_write_sync(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = &cx.tasks[operation];
    match task.stage {
        Stage::Start => write_step(cx, operation),
        Stage::Pages => write_rest_of_step(cx, operation),
        Stage::Blocks => flush_step(cx, operation),
        Stage::DataFlush => commit_step(cx, operation),
        Stage::Commit => after_commit(cx, operation),
        Stage::Checkpoint | Stage::Barrier => flush(cx, operation),
        Stage::Durable | Stage::Room => next_step(cx, operation),
    }
}

/// Submits the bytes that the calls of a step have copied. Calls with RWF_DONTCACHE do not wait for the device.
fn write_step(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::WriteSync { from, .. } = task.kind else { unreachable!("only these have steps to write") };
    let (file, range, drops_behind) = (*task.file(), (from, task.end), task.drops_behind);
    (task.run, task.since) = (Run::Wait, cx.now);
    task.stage = if drops_behind { Stage::Durable } else { Stage::Pages };
    let waits = if drops_behind {
        filemap_fdatawrite_range(cx, operation, &file, range, false)
    } else {
        filemap_write_and_wait_range(cx, operation, &file, range)
    };
    if waits { Next::Wait } else { Next::Step }
}

/// Writes the rest of a step's blocks when the device has its bytes.
fn write_rest_of_step(cx: &mut Context<'_>, operation: OperationId) -> Next {
    cx.tasks.get_mut(operation).expect("it is there").stage = Stage::Blocks;
    if write_rest_of_blocks(cx, operation) { Next::Wait } else { Next::Step }
}

/// Commits what a step has changed when the device has its blocks; without a journal its cache is flushed, once for each call.
fn flush_step(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = &cx.tasks[operation];
    let Kind::WriteSync { from, durable, .. } = task.kind else {
        unreachable!("only these have steps to write")
    };
    let (file, calls) = (*task.file(), (from, task.end, task.piece.0));
    if cx.nfs.get_mut(file.device).is_some() {
        return commit_step(cx, operation);
    }
    if cx.ext4.journal(file.device).is_some() {
        cx.ext4.note_write(cx.now, &file, task.end);
        return commit_step(cx, operation);
    }
    let waits = cx.ext4.waits_of_calls(cx.now, &file, calls, durable);
    spend(cx, operation, waits)
}

/// Commits what a step has changed.
fn commit_step(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let Kind::WriteSync { durable, .. } = cx.tasks[operation].kind else {
        unreachable!("only these have steps")
    };
    commit(cx, operation, durable)
}

/// Begins the next step when the bytes of the last are durable.
fn next_step(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = &cx.tasks[operation];
    let Kind::WriteSync { last, durable, .. } = task.kind else { unreachable!("only these have steps") };
    let (from, all) = (task.end, Bytes(last - task.origin));
    if from == last {
        return Next::Done;
    }
    let (file, piece, waits) = (*task.file(), task.piece, !task.drops_behind);
    let is_alone = is_alone(cx, &file, waits);
    let step = step_bytes((all, piece), is_alone);
    let task = cx.tasks.get_mut(operation).expect("it is there");
    task.kind = Kind::WriteSync { from, last, durable };
    task.end = (from + step).min(last);
    (task.stage, task.busy_until) = (Stage::Start, None);
    Next::Step
}

/// True if the calls of several can be one step: nobody waits for them, or they wait for nothing that others wait for, too.
fn is_alone(cx: &mut Context<'_>, file: &FileView, waits: bool) -> bool {
    let has_journal = cx.ext4.journal(file.device).is_some() || cx.nfs.get_mut(file.device).is_some();
    let is_submitted_to = cx.flushers.is_submitted_to(cx.write_back, cx.block, file.device.0 as usize);
    !waits || !(has_journal || is_submitted_to)
}

/// Returns how many bytes of an operation, in calls of `piece`, are its next step. A call that waits is a step by itself where others
/// submit, too, and where it commits.
fn step_bytes((bytes, piece): (Bytes, Bytes), is_alone: bool) -> u64 {
    if is_alone { step_of(bytes, piece) } else { piece.0.max(1) }
}
