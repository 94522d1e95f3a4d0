//! Making durable what a device has taken: it flushes a cache of its own.
//!
//! Source: `fs/ext4/fsync.c: ext4_sync_file, ext4_fsync_journal`, `fs/ext4/super.c: ext4_sync_fs`, `fs/sync.c`, `block/blk-flush.c`,
//! `fs/iomap/direct-io.c: iomap_dio_can_use_fua`, Linux 6.16. A flush is asked for whether or not anything was dirty: the cache may hold
//! what was written before. Flushes that several threads ask for at once are one for the device, so each takes its own time here, beside
//! the others. A write that the device makes durable by itself (FUA) is taken to be as dear as a flush. What a file
//! system has to commit is in `journal`. Left out: what the cache holds. A flush always takes the same, also right after much was written
//! to a disk with a `write_cache`: that is mostly flash that takes writes faster, or memory with power of its own, which a flush
//! does not wait for.

use crate::machine::MountSource;
use crate::policy::Actions;
use crate::policy::DeviceId;
use crate::policy::FileView;
use crate::policy::Integrity;
use crate::policy::OperationId;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::ext4::journal::commits_of_calls;
use crate::policy::kernel::task::kind::{Kind, Next, Stage, Waits};
use crate::policy::kernel::task::task::Task;
use crate::result::Part;
use crate::units::Bytes;
use crate::units::Nanos;

impl Kernel {
    /// What a commit and a flush take of a file; nothing on another host, which has its own.
    pub fn waits_of(&self, file: &FileView) -> Waits {
        let flush = self.config.disk_of(file).map_or(Nanos::ZERO, |disk| disk.flush);
        Waits { journal: file.cost.commit, flush }
    }

    /// What it takes to commit and flush all disks with a file system, one after the other (`fs/sync.c: ksys_sync`).
    pub fn waits_of_all(&mut self) -> Waits {
        (0..self.config.host.disks.len()).map(|at| self.waits_of_disk(at)).fold(
            Waits::default(),
            |sum, each| Waits { journal: sum.journal + each.journal, flush: sum.flush + each.flush },
        )
    }

    /// The same of one disk; nothing without a file system.
    pub fn waits_of_disk(&mut self, at: usize) -> Waits {
        let of_disk = self.config.host.mounts.iter().filter(|mount| mount.source == MountSource::Disk(at));
        let (Some(disk), Some(journal)) =
            (self.config.host.disks.get(at), of_disk.map(|mount| mount.cost.commit).max())
        else {
            return Waits::default();
        };
        let waits = Waits { journal, flush: disk.flush };
        waits.times(self.ext4.journal.commit_all(DeviceId(at as u32)).into(), 1)
    }

    /// What making a file durable takes once its bytes are on the device: a commit if there is something to commit, and a flush.
    pub fn waits_after(&mut self, file: &FileView, what: Integrity) -> Waits {
        self.waits_of(file).times(self.ext4.journal.commit(file, what).into(), 1)
    }

    /// The same for calls each of which is made durable, from one byte to another in calls of `piece`, and for what was left before
    /// them.
    pub fn waits_of_calls(
        &mut self,
        now: Nanos,
        file: &FileView,
        (from, end, piece): (u64, u64, u64),
        what: Integrity,
    ) -> Waits {
        let (waits, piece) = (self.waits_of(file), piece.max(1));
        let later = commits_of_calls((from, end, piece), file.size.0, what, waits.flush, self.config.tick());
        self.note_write(now, file, end);
        let first = u64::from(self.ext4.journal.commit(file, what));
        waits.times(later.max(first), (end - from).div_ceil(piece))
    }

    /// The journal hears that a file is written up to a byte.
    pub fn note_write(&mut self, now: Nanos, file: &FileView, end: u64) {
        let tick = now.0 / self.config.tick().0;
        self.ext4.journal.write(file, end, tick);
    }

    /// Has an operation on a file, or on all, wait until so many files are no more under writeback, and then for what is left.
    pub fn wait_for_files(
        &mut self,
        now: Nanos,
        operation: OperationId,
        (file, files): (Option<FileView>, u32),
        then: Waits,
    ) {
        let nothing = (0, Bytes::ZERO, Bytes::ZERO);
        self.tasks.insert(operation, Task::new(Kind::Sync { files, then }, file, nothing, now));
    }

    /// Pages under writeback are waited for, then a commit and a flush.
    pub fn step_sync(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) -> Next {
        let task = self.tasks.get_mut(operation).expect("it is there");
        let Kind::Sync { files, then } = task.kind else { unreachable!("only these wait for files") };
        match task.stage {
            Stage::Start if files > 0 => {
                task.stage = Stage::Pages;
                Next::Wait
            }
            Stage::Start | Stage::Pages | Stage::Blocks => self.commit(now, operation, then, out),
            Stage::Commit(waits) => self.spend(now, operation, waits),
            Stage::Durable => Next::Done,
        }
    }

    /// The device has the bytes of an operation: a commit is submitted, if one is due, and waits for what is in the device's queue.
    pub fn commit(&mut self, now: Nanos, operation: OperationId, waits: Waits, out: &mut Actions) -> Next {
        let task = self.tasks.get_mut(operation).expect("who waits is under way");
        let file = task.file.filter(|_| waits.journal > Nanos::ZERO);
        let Some(file) = file.filter(|file| !self.block.queue(file.device).is_empty()) else {
            return self.spend(now, operation, waits);
        };
        (task.since, task.stage) = (now, Stage::Commit(waits));
        self.make_way(now, file.device, out);
        self.flusher_of(&file).commit(file.id, operation);
        Next::Wait
    }

    /// An operation waits for file system and flush, for as long as they take.
    pub fn spend(&mut self, now: Nanos, operation: OperationId, waits: Waits) -> Next {
        let task = self.tasks.get_mut(operation).expect("who waits is under way");
        task.stage = Stage::Durable;
        let time = waits.journal + waits.flush;
        if time == Nanos::ZERO {
            return Next::Step;
        }
        task.outcome.parts.add(Part::Journal, waits.journal);
        task.outcome.parts.add(Part::DeviceWrite, waits.flush);
        task.busy_until = Some(now + time);
        self.tasks.has_busy = true;
        Next::Wait
    }
}
