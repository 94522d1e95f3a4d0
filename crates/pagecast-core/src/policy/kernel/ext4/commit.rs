//! Returns which commit and which flush make a file or a disk durable, and how long they take where nothing else is on the disk.
//!
//! Source: `fs/ext4/fsync.c: ext4_sync_file`, `fs/ext4/super.c: ext4_sync_fs`, `fs/sync.c`, `block/blk-flush.c`, Linux 6.16.

use crate::machine::MountSource;
use crate::policy::kernel::block::Block;
use crate::policy::kernel::block::queue::Unit;
use crate::policy::kernel::ext4::Ext4;
use crate::policy::kernel::ext4::journal::Tid;
use crate::policy::kernel::ext4::rules::Requests;
use crate::policy::kernel::tasks::kind::Waits;
use crate::policy::{DeviceId, FileView, Integrity};
use crate::units::Nanos;

impl Ext4 {
    /// Notes in the journal that a file is written up to a byte. Returns the time to give it new times, if it needs some.
    pub fn note_write(&mut self, now: Nanos, file: &FileView, end: u64) -> Nanos {
        let tick = now.0 / self.config.tick().0;
        let is_new_tick =
            self.journal(file.device).is_some_and(|journal| journal.write(now, file, end, tick));
        if is_new_tick { self.config.cost_of(file).update_time } else { Nanos::ZERO }
    }

    /// Notes in the journal of a disk that it has the pages of a unit. Only then their blocks belong to the file
    /// (`ext4_convert_unwritten_extents`).
    pub fn note_written_back(&mut self, now: Nanos, device: usize, unit: &Unit) {
        if let (Some(Some(journal)), Some(file)) = (self.journals.get_mut(device), unit.file) {
            journal.allocate(now, file, unit.end);
        }
    }

    /// Notes in the journal that a name of a file was made, changed or removed; `is_made` if the file was made, too.
    pub fn note_name(&mut self, now: Nanos, file: &FileView, is_made: bool) {
        let tick = now.0 / self.config.tick().0;
        if let Some(journal) = self.journal(file.device).filter(|journal| journal.rules.requests.is_some()) {
            journal.name(now, file);
            if is_made {
                journal.create(file, tick);
            }
        }
    }

    /// Notes in the journal that a file is cut off at a byte.
    pub fn note_cut(&mut self, now: Nanos, file: &FileView, size: u64) {
        if let Some(journal) = self.journal(file.device) {
            journal.cut(now, file, size);
        }
    }

    /// The requests of the commits of a device, if it has a journal and they are modelled.
    pub fn requests(&self, device: DeviceId) -> Option<Requests> {
        self.journals.get(device.0 as usize)?.as_ref()?.rules.requests
    }

    /// Returns the transaction that has to be committed to make a file durable.
    pub fn tid_of(&mut self, file: &FileView, what: Integrity) -> Option<Tid> {
        self.journal(file.device)?.tid_of(file.id, what)
    }

    /// The time to flush the cache of a disk, if a file system on `device` does so.
    fn flush_of(&self, device: DeviceId, disk: DeviceId) -> Nanos {
        let has_barrier = self.requests(device).is_none_or(|requests| requests.barrier);
        let disk = self.config.host.disks.get(disk.0 as usize).filter(|_| has_barrier);
        disk.map_or(Nanos::ZERO, |disk| disk.flush)
    }

    /// The time to flush the cache of the disk that has the log of a device, if commits do so.
    pub fn flush_of_log(&self, device: DeviceId) -> Nanos {
        self.flush_of(device, self.config.journal_device(device))
    }

    /// Begins a flush of a disk's cache. Returns how long it takes. Where commits are requests, it may have to wait for others'.
    pub fn begin_flush(&mut self, block: &mut Block, now: Nanos, device: DeviceId) -> Nanos {
        self.begin_flush_for(block, now, (device, device))
    }

    /// The same, of the disk that has the log of a device.
    pub fn begin_flush_of_log(&mut self, block: &mut Block, now: Nanos, device: DeviceId) -> Nanos {
        self.begin_flush_for(block, now, (device, self.config.journal_device(device)))
    }

    /// Begins a flush of the cache of a disk for the file system on a device.
    fn begin_flush_for(
        &mut self,
        block: &mut Block,
        now: Nanos,
        (device, disk): (DeviceId, DeviceId),
    ) -> Nanos {
        let has_barrier = self.requests(device).is_none_or(|requests| requests.barrier);
        let empty = if has_barrier { block.empty_cache(now, disk) } else { Nanos::ZERO };
        let flush = self.flush_of(device, disk) + empty;
        if flush > Nanos::ZERO && (self.requests(device).is_some() || empty > Nanos::ZERO) {
            let (end, begins) = block.flush(now, disk, flush);
            self.note_flushes(disk, u64::from(begins), end);
            return end - now;
        }
        self.begin_flushes(now, (device, disk), 1)
    }

    /// Begins flushes of the cache of a disk for the file system on a device, that nobody else asks for. Returns the time of each.
    fn begin_flushes(&mut self, now: Nanos, (device, disk): (DeviceId, DeviceId), count: u64) -> Nanos {
        let flush = self.flush_of(device, disk);
        if flush > Nanos::ZERO {
            self.note_flushes(disk, count, now + flush);
        }
        flush
    }

    /// Counts flushes of a disk, the last of which ends at a time.
    fn note_flushes(&mut self, device: DeviceId, count: u64, end: Nanos) {
        if let Some(flushes) = self.flushes.get_mut(device.0 as usize) {
            *flushes += count;
            self.note_flush(device, end);
        }
    }

    /// True if a disk has a file system.
    pub fn is_mounted(&self, disk: usize) -> bool {
        self.config.host.mounts.iter().any(|mount| mount.source == MountSource::Disk(disk))
    }

    /// Returns the time to make each call of a run durable, and all that was uncommitted before it, where nothing else is on the disk. The
    /// calls have `piece` bytes each, from one byte to another.
    pub fn waits_of_calls(
        &mut self,
        now: Nanos,
        file: &FileView,
        (from, end, piece): (u64, u64, u64),
        what: Integrity,
    ) -> Waits {
        let (piece, tick) = (piece.max(1), self.config.tick());
        let flush = self.begin_flushes(now, (file.device, file.device), (end - from).div_ceil(piece));
        let commit = self.commit_alone(file.device);
        self.note_write(now, file, end);
        let Some(journal) = self.journal(file.device) else {
            return Waits { flush, ..Waits::default() }.times(0, (end - from).div_ceil(piece));
        };
        let later = commits_of_calls((from, end, piece), file.size.0, what, flush, tick);
        let first = u64::from(journal.tid_of(file.id, what).is_some());
        if first > 0 {
            journal.commit_at_once(now);
        }
        let waits = Waits { journal: commit, flush, ..Waits::default() };
        waits.times(later.max(first), (end - from).div_ceil(piece))
    }

    /// The time of a small commit that waits for nothing.
    fn commit_alone(&self, device: DeviceId) -> Nanos {
        let Some(Some(journal)) = self.journals.get(device.0 as usize) else { return Nanos::ZERO };
        let log = self.config.journal_device(device);
        let write = self.config.host.disks[log.0 as usize].write_latency;
        let writes = journal.rules.requests.map_or(0, |requests| if requests.is_one_write { 1 } else { 2 });
        let flush = if log == device { Nanos::ZERO } else { self.flush_of_log(device) };
        journal.rules.commit + Nanos(writes * write.0) + flush
    }
}

/// Returns how many calls of a run commit if each is made durable. The calls have `piece` bytes each, from `from` to `end`, the file begins
/// with `size` bytes, and a call that commits nothing takes `call`.
fn commits_of_calls(
    (from, end, piece): (u64, u64, u64),
    size: u64,
    what: Integrity,
    call: Nanos,
    tick: Nanos,
) -> u64 {
    let calls = (end - from).div_ceil(piece);
    let growing = end.saturating_sub(from.max(size)).div_ceil(piece);
    let over = calls - growing;
    let stamped = match what {
        Integrity::File => (over.saturating_mul(call.0) / tick.0.max(1)).min(over),
        Integrity::Data => 0,
    };
    growing + stamped
}
