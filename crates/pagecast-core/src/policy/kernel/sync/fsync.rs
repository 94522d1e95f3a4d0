//! Makes a file durable: writes its pages, commits its journal, flushes the device's cache. Steps `sync` and `syncfs`, too.
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
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::kind::{Kind, Next, Stage, Waits};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{DeviceId, FileView, Integrity, OperationId};
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
fn wait_for_files(
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

/// `sync`: writes what is dirty now, on all devices or on one, and waits for that and for pages under writeback.
pub fn ksys_sync(cx: &mut Context<'_>, operation: OperationId, device: Option<DeviceId>) {
    let (mut files, devices) = (0, cx.config.devices());
    let is_meant = |at: usize| device.is_none_or(|device| at == device.0 as usize);
    (0..devices).filter(|&at| is_meant(at)).for_each(|at| {
        cx.flushers.make_way(cx.pages, cx.write_back, cx.block, cx.now, DeviceId(at as u32), cx.out)
    });
    for at in 0..cx.write_back.wbs.len() {
        let Some(flusher) = cx.flushers.get_mut(at).filter(|_| is_meant(at % devices)) else {
            continue;
        };
        for file in cx.pages.dirty().files_of(WbId(at as u32)) {
            let dirty = cx.pages.dirty().ranges_within(file, 0, u64::MAX);
            if dirty.total() > 0 {
                flusher.write_for_sync(file, dirty, operation);
                files += 1;
            } else {
                files += u32::from(cx.block.queues[at % devices].wait_for(file, operation));
            }
        }
    }
    let then = match device {
        Some(device) => cx.ext4.waits_of_disk(device.0 as usize),
        None => cx.ext4.waits_of_all(),
    };
    wait_for_files(cx, operation, (None, files), then);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::tests::{MIB, kernel, on};
    use crate::policy::{Actions, FileId};

    /// The first file has been submitted, the second is dirty, and nothing was written to the third.
    #[test]
    fn sync_waits_for_files_under_write_back_and_for_dirty_ones() {
        let (mut kernel, mut out) = (kernel(""), Actions::default());
        let files = [1, 2, 3].map(|id| FileView { id: FileId(id), ..FileView::default() });
        kernel.write_back.wb(&files[0]);
        let make_dirty = |kernel: &mut Kernel, file| {
            kernel.flushers.make_dirty(
                &mut kernel.pages,
                &mut kernel.write_back,
                Nanos(0),
                file,
                (0, MIB),
                on(0),
            )
        };
        make_dirty(&mut kernel, &files[0]);
        kernel.flushers.wakeup_flusher_threads(&kernel.pages, Nanos(0));
        kernel.write_back_device(Nanos(0), 0, &mut out);
        assert_eq!((kernel.pages.dirty().dirty(), kernel.pages.dirty().writeback()), (0, MIB));
        make_dirty(&mut kernel, &files[1]);
        ksys_sync(&mut kernel.context(Nanos(0), &mut out), OperationId(9), None);
        assert_eq!(kernel.tasks[OperationId(9)].kind, Kind::Sync { files: 2, then: Waits::default() });
    }
}
