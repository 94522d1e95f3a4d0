//! Returns how long a commit and a flush take, for one file, a device or all of them.
//!
//! Source: `fs/ext4/fsync.c: ext4_sync_file`, `fs/ext4/super.c: ext4_sync_fs`, `fs/sync.c`, `block/blk-flush.c`, Linux 6.16.

use crate::machine::MountSource;
use crate::policy::kernel::ext4::Ext4;
use crate::policy::kernel::ext4::journal::commits_of_calls;
use crate::policy::kernel::tasks::kind::Waits;
use crate::policy::{DeviceId, FileView, Integrity};
use crate::units::Nanos;

impl Ext4 {
    /// Returns the time to commit and flush all disks with a file system, one after the other (`fs/sync.c: ksys_sync`).
    pub fn waits_of_all(&mut self) -> Waits {
        (0..self.config.host.disks.len()).map(|at| self.waits_of_disk(at)).fold(
            Waits::default(),
            |sum, each| Waits { journal: sum.journal + each.journal, flush: sum.flush + each.flush },
        )
    }

    /// Returns the time to commit and flush one disk; nothing without a file system.
    pub fn waits_of_disk(&mut self, at: usize) -> Waits {
        let of_disk = self.config.host.mounts.iter().filter(|mount| mount.source == MountSource::Disk(at));
        let (Some(disk), Some(journal)) =
            (self.config.host.disks.get(at), of_disk.map(|mount| mount.cost.commit).max())
        else {
            return Waits::default();
        };
        let waits = Waits { journal, flush: disk.flush };
        waits.times(self.journal.commit_all(DeviceId(at as u32)).into(), 1)
    }

    /// Returns the time to make a written file durable: a commit if anything is uncommitted, and a flush.
    pub fn waits_after(&mut self, file: &FileView, what: Integrity) -> Waits {
        self.config.waits_of(file).times(self.journal.commit(file, what).into(), 1)
    }

    /// Returns the time to make each call of a run durable, and all that was uncommitted before it. The calls have `piece` bytes each,
    /// from one byte to another.
    pub fn waits_of_calls(
        &mut self,
        now: Nanos,
        file: &FileView,
        (from, end, piece): (u64, u64, u64),
        what: Integrity,
    ) -> Waits {
        let (waits, piece) = (self.config.waits_of(file), piece.max(1));
        let later = commits_of_calls((from, end, piece), file.size.0, what, waits.flush, self.config.tick());
        self.note_write(now, file, end);
        let first = u64::from(self.journal.commit(file, what));
        waits.times(later.max(first), (end - from).div_ceil(piece))
    }

    /// Notes in the journal that a file is written up to a byte.
    pub fn note_write(&mut self, now: Nanos, file: &FileView, end: u64) {
        let tick = now.0 / self.config.tick().0;
        self.journal.write(file, end, tick);
    }
}
