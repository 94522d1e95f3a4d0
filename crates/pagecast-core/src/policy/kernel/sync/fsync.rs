//! Makes a file durable: writes its pages, commits its journal, flushes the device's cache.
//!
//! Source: `fs/ext4/fsync.c: ext4_sync_file, ext4_fsync_journal`, `fs/ext4/super.c: ext4_sync_fs`, `fs/sync.c`, `block/blk-flush.c`,
//! `fs/iomap/direct-io.c: iomap_dio_can_use_fua`, Linux 6.16.
//!
//! - The device is flushed whether or not anything was dirty: its cache may hold earlier writes.
//! - The device merges flushes that several threads ask for at once. So each takes its own time here, beside the others.
//! - A write that the device makes durable by itself (FUA) costs as much as a flush.
//! - Commits of the file system are in `ext4::journal`.
//!
//! Left out: the content of the device's cache. A flush always takes the same time, even right after many writes to a disk with a
//! `write_cache`. That cache is mostly flash that takes writes faster, or memory with power of its own, and a flush does not wait for it.

use crate::policy::kernel::filemap::fdatawrite::filemap_write_and_wait_range;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::run::spend;
use crate::policy::kernel::tasks::kind::{Kind, Next, Stage, Waits};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileView, Integrity, OperationId};
use crate::units::{Bytes, Nanos};

/// Writes the dirty pages of a range of a file, waits for them, and makes everything durable that the file system and the device keep of
/// it.
pub fn make_durable(
    cx: &mut Context<'_>,
    operation: OperationId,
    (file, range): (FileView, (u64, u64)),
    what: Integrity,
) {
    let waits = filemap_write_and_wait_range(cx, operation, &file, range);
    let then = cx.ext4.waits_after(&file, what);
    wait_for_files(cx, operation, (Some(file), waits.into()), then);
}

/// Lets an operation wait until no page of so many files is under writeback, and then for commit and flush.
pub fn wait_for_files(
    cx: &mut Context<'_>,
    operation: OperationId,
    (file, files): (Option<FileView>, u32),
    then: Waits,
) {
    let nothing = (0, Bytes::ZERO, Bytes::ZERO);
    cx.tasks.insert(operation, Task::new(Kind::Sync { files, then }, file, nothing, cx.now));
}

/// Waits for pages under writeback, then for a commit and a flush.
pub fn step_sync(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::Sync { files, then } = task.kind else { unreachable!("only these wait for files") };
    match task.stage {
        Stage::Start if files > 0 => {
            task.stage = Stage::Pages;
            Next::Wait
        }
        Stage::Start | Stage::Pages | Stage::Blocks => commit(cx, operation, then),
        Stage::Commit(waits) => spend(cx, operation, waits),
        Stage::Durable => Next::Done,
    }
}

/// Submits a commit, if one is due, when the device has the bytes of an operation. It waits for everything in the device's queue.
pub fn commit(cx: &mut Context<'_>, operation: OperationId, waits: Waits) -> Next {
    let task = cx.tasks.get_mut(operation).expect("who waits is under way");
    let file = task.file.filter(|_| waits.journal > Nanos::ZERO);
    let Some(file) = file.filter(|file| !cx.block.queue(file.device).is_empty()) else {
        return spend(cx, operation, waits);
    };
    (task.since, task.stage) = (cx.now, Stage::Commit(waits));
    cx.flushers.make_way(cx.pages, cx.write_back, cx.block, cx.now, file.device, cx.out);
    cx.flushers.flusher_of(cx.write_back, &file).commit(file.id, operation);
    Next::Wait
}
