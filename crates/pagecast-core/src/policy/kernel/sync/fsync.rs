//! Makes a file durable: writes its pages, commits its journal, flushes the device's cache. Steps `sync` and `syncfs`, too.
//!
//! Source: `fs/ext4/fsync.c: ext4_sync_file, ext4_fsync_journal`, `fs/ext4/super.c: ext4_sync_fs`, `fs/sync.c`, `block/blk-flush.c`,
//! `fs/iomap/direct-io.c: iomap_dio_can_use_fua`, Linux 6.16.
//!
//! - The device is flushed whether or not anything was dirty: its cache may hold earlier writes.
//! - The device merges flushes that several threads ask for at once (`block/flush`). Without a `journal` each takes its own time here, beside the
//!   others.
//! - Commits of the file system are in `jbd2`. A commit flushes the device, so `fsync` does that only where it commits nothing.
//!
//! Left out: the content of the device's cache. A flush always takes the same time, even right after many writes to a disk with a
//! `write_cache`. That cache is mostly flash that takes writes faster, or memory with power of its own, and a flush does not wait for it.

use crate::policy::kernel::ext4::journal::Tid;
use crate::policy::kernel::filemap::fdatawrite::filemap_write_and_wait_range;
use crate::policy::kernel::fs_writeback::flusher::WHOLE;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::run::spend;
use crate::policy::kernel::sync::nfs::{nfs_commit_inode, step_write_and_ask};
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::kind::{Durable, Kind, Next, Stage, Waits};
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
    // Data that is in the log only is committed first, and goes to its place then (`fs/ext4/inode.c: ext4_do_writepages`, Linux 6.4).
    let commits_first = cx.ext4.requests(file.device).is_some_and(|requests| requests.journals_data());
    let waits = !commits_first && filemap_write_and_wait_range(cx, operation, &file, range);
    wait_for_files(cx, operation, (Some(file), waits.into()), Durable::File(what));
}

/// Lets an operation wait until no page of so many files is under writeback, and then for commit and flush.
pub fn wait_for_files(
    cx: &mut Context<'_>,
    operation: OperationId,
    (file, files): (Option<FileView>, u32),
    then: Durable,
) {
    let nothing = (0, Bytes::ZERO, Bytes::ZERO);
    cx.tasks.insert(operation, Task::new(Kind::Sync { files, then }, file, nothing, cx.now));
}

/// Waits for pages under writeback, then for a commit, or a flush.
pub fn step_sync(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::Sync { files, then } = task.kind else { unreachable!("only these wait for files") };
    match (then, task.stage) {
        (_, Stage::Start) if files > 0 => {
            task.stage = Stage::Pages;
            Next::Wait
        }
        (Durable::File(what), Stage::Start | Stage::Pages | Stage::DataFlush) => commit(cx, operation, what),
        (Durable::File(_), Stage::Commit) => after_commit(cx, operation),
        (Durable::File(_), Stage::Checkpoint | Stage::Barrier) => flush(cx, operation),
        (Durable::File(_), _) => Next::Done,
        (Durable::Ask(asked), _) => step_write_and_ask(cx, operation, asked),
        (Durable::Mounts(device), _) => commit_mounts(cx, operation, device),
        (Durable::Disks { next, end }, stage) => step_disks(cx, operation, (next, end), stage),
    }
}

/// Asks for the commit of the transaction that holds the changes of a task's file, and waits for it; without one the disk is flushed.
pub fn commit(cx: &mut Context<'_>, operation: OperationId, what: Integrity) -> Next {
    let task = &cx.tasks[operation];
    let (file, is_flushed) = (*task.file(), task.stage == Stage::DataFlush);
    if cx.nfs.get_mut(file.device).is_some() {
        return nfs_commit_inode(cx, operation);
    }
    let flushes_first = cx.ext4.requests(file.device).is_some_and(|requests| requests.flushes_data_first());
    if flushes_first && !is_flushed {
        return flush_data(cx, operation);
    }
    match cx.ext4.tid_of(&file, what) {
        Some(tid) => wait_for_commit(cx, operation, file.device, tid),
        None if is_flushed => end_of_sync(cx, operation, Nanos::ZERO),
        None => flush(cx, operation),
    }
}

/// Flushes the disk of a task's file, as its size may be in a log on another disk only after the data (`fs/xfs/xfs_file.c: xfs_file_fsync`).
fn flush_data(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let device = cx.tasks[operation].file().device;
    let flush = cx.ext4.begin_flush(cx.block, cx.now, device);
    let next = spend(cx, operation, Waits { flush, ..Waits::default() });
    cx.tasks.get_mut(operation).expect("it is there").stage = Stage::DataFlush;
    next
}

/// Lets a task wait for the commit of a transaction of a device's journal, and notes whether that flushes the device.
fn wait_for_commit(cx: &mut Context<'_>, operation: OperationId, device: DeviceId, tid: Tid) -> Next {
    let task = cx.tasks.get_mut(operation).expect("who waits is under way");
    let journal = cx.ext4.journal(device).expect("it has this transaction");
    let stage = if journal.will_send_data_barrier(tid) { Stage::Commit } else { Stage::Barrier };
    (task.since, task.stage, task.busy_until) = (cx.now, stage, None);
    journal.wait_for(tid, operation);
    Next::Wait
}

/// Goes on after a commit. It has flushed the disk, unless it was no request at all.
pub fn after_commit(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let file = *cx.tasks[operation].file();
    match cx.ext4.requests(file.device) {
        None => flush(cx, operation),
        Some(requests) if requests.journals_data() && requests.checkpoints_on_fsync => {
            let waits = filemap_write_and_wait_range(cx, operation, &file, WHOLE);
            // The disk of the log may have ended the commit.
            cx.ext4.has_sent.push(file.device);
            let task = cx.tasks.get_mut(operation).expect("it is there");
            (task.since, task.stage) = (cx.now, Stage::Checkpoint);
            if waits { Next::Wait } else { Next::Step }
        }
        Some(_) => end_of_sync(cx, operation, Nanos::ZERO),
    }
}

/// Flushes the cache of the disk of a task.
pub fn flush(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let flush = cx.ext4.begin_flush(cx.block, cx.now, cx.tasks[operation].file().device);
    end_of_sync(cx, operation, flush)
}

/// Spends the processor's time of a durable call, and a flush.
pub fn end_of_sync(cx: &mut Context<'_>, operation: OperationId, flush: Nanos) -> Next {
    let task = &cx.tasks[operation];
    let cost = cx.config.cost_of(task.file());
    let has_committed = matches!(task.stage, Stage::Commit | Stage::Barrier);
    let conversion = if has_committed { cost.extent_conversion } else { Nanos::ZERO };
    let computes = cx.ext4.cpus.run(cx.now, cost.fsync + conversion) - cx.now;
    spend(cx, operation, Waits { computes, flush, ..Waits::default() })
}

/// Lets an operation wait until nothing that was written to other hosts is to be committed, and then for the disks.
fn commit_mounts(cx: &mut Context<'_>, operation: OperationId, device: Option<DeviceId>) -> Next {
    let files = cx.nfs.wait_for_all_commits(operation, device, cx.out);
    let disks = cx.config.host.disks.len() as u32;
    let (next, end) = device.map_or((0, disks), |device| (device.0, (device.0 + 1).min(disks)));
    let task = cx.tasks.get_mut(operation).expect("it is there");
    task.kind = Kind::Sync { files, then: Durable::Disks { next: next.min(end), end } };
    (task.stage, task.since) = (Stage::Start, cx.now);
    Next::Step
}

/// Commits or flushes the next of several disks.
fn step_disks(cx: &mut Context<'_>, operation: OperationId, (next, end): (u32, u32), stage: Stage) -> Next {
    if next == end {
        return Next::Done;
    }
    let device = DeviceId(next);
    let has_requests = cx.ext4.requests(device).is_some();
    let tid = cx.ext4.journal(device).and_then(|journal| journal.last_tid());
    let task = cx.tasks.get_mut(operation).expect("it is there");
    task.busy_until = None;
    if let Some(tid) = tid.filter(|_| !matches!(stage, Stage::Commit | Stage::Barrier)) {
        return wait_for_commit(cx, operation, device, tid);
    }
    let is_flushed = stage == Stage::Commit && has_requests;
    let flush = if is_flushed || !cx.ext4.is_mounted(next as usize) {
        Nanos::ZERO
    } else {
        cx.ext4.begin_flush(cx.block, cx.now, device)
    };
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::Sync { then: Durable::Disks { next, .. }, .. } = &mut task.kind else {
        unreachable!("of several disks")
    };
    *next += 1;
    spend(cx, operation, Waits { flush, ..Waits::default() })
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
    wait_for_files(cx, operation, (None, files), Durable::Mounts(device));
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
        assert_eq!(kernel.tasks[OperationId(9)].kind, Kind::Sync { files: 2, then: Durable::Mounts(None) });
    }
}
