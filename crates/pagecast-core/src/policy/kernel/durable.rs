//! Making durable what a device has taken: it flushes a cache of its own.
//!
//! Source: `fs/ext4/fsync.c: ext4_sync_file, ext4_fsync_journal`, `fs/ext4/super.c: ext4_sync_fs`, `fs/sync.c`, `block/blk-flush.c`,
//! `fs/iomap/direct-io.c: iomap_dio_can_use_fua`, Linux 6.16. A flush is asked for whether or not anything was dirty: the cache may hold
//! what was written before. Flushes that several threads ask for at once are one for the device, so each takes its own time here, beside
//! the others. A write that the device makes durable by itself (FUA) is taken to be as dear as a flush. Left out: what
//! the cache holds (a flush always takes the same), and the journal.

use super::tasks::{Kind, Task};
use super::{FileView, Kernel};
use crate::machine::MountSource;
use crate::policy::{Actions, OperationId};
use crate::result::Part;
use crate::units::{Bytes, Nanos};

impl Kernel {
    /// What a flush of the device of a file takes; nothing on another host, which flushes its own.
    pub(super) fn flush_of(&self, file: &FileView) -> Nanos {
        self.disk_of(file).map_or(Nanos::ZERO, |disk| disk.flush)
    }

    /// What it takes to flush all disks with a file system, one after the other (`fs/sync.c: ksys_sync`).
    pub(super) fn flush_of_all(&self) -> Nanos {
        let is_mounted =
            |at: usize| self.host.mounts.iter().any(|mount| mount.source == MountSource::Disk(at));
        let disks = self.host.disks.iter().enumerate().filter(|&(at, _)| is_mounted(at));
        disks.map(|(_, disk)| disk.flush).fold(Nanos::ZERO, |sum, flush| sum + flush)
    }

    /// An operation waits until so many files are no more under writeback, then for a flush.
    pub(super) fn wait_for_files(
        &mut self,
        now: Nanos,
        operation: OperationId,
        files: u32,
        flush: Nanos,
        out: &mut Actions,
    ) {
        let nothing = (0, Bytes::ZERO, Bytes::ZERO);
        self.tasks.insert(operation, Task::new(Kind::Sync { files, flush }, None, nothing, now));
        if files == 0 {
            self.device_is_busy(now, operation, flush, out);
        }
    }

    /// The device has what an operation waited for, and is busy with the rest for so long: it flushes its cache, or discards.
    pub(super) fn device_is_busy(
        &mut self,
        now: Nanos,
        operation: OperationId,
        time: Nanos,
        out: &mut Actions,
    ) {
        if time == Nanos::ZERO {
            return self.flushed(now, operation, out);
        }
        let task = self.tasks.get_mut(operation).expect("who waits is under way");
        task.outcome.parts.add(Part::DeviceWrite, time);
        task.busy_until = Some(now + time);
        self.has_busy = true;
    }

    /// What an operation has written so far is durable.
    pub(super) fn flushed(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        let task = self.tasks.get_mut(operation).expect("who waits is under way");
        task.busy_until = None;
        if matches!(task.kind, Kind::WriteSync { .. }) {
            return self.next_step(now, operation, out);
        }
        let task = self.tasks.remove(operation).expect("it is there");
        out.done(operation, task.outcome);
    }
}
