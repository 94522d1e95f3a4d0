//! Decides when making a file durable commits the running transaction of the journal.
//!
//! Source: `fs/ext4/fsync.c: ext4_fsync_journal`, `fs/ext4/inode.c: ext4_mark_inode_dirty` (`i_sync_tid`, `i_datasync_tid`),
//! `fs/jbd2/commit.c`, `fs/inode.c: inode_needs_update_time`, Linux 6.16.
//!
//! - A file that has grown has blocks and a size that only the journal knows: fsync and fdatasync commit the running transaction.
//! - A write also changes the file's times, once for each tick of the clock. `fsync` and O_SYNC commit them, `fdatasync` and O_DSYNC do not
//!   wait for them.
//! - A commit is of all files that have changed since the last one, so the next caller may find nothing left.
//!
//! The time of a commit is a figure of the mount. Left out: commits by the timer, every 5 s; several callers that wait for one commit;
//! times finer than a tick (Linux 6.13).

use rustc_hash::FxHashMap;

use crate::policy::{DeviceId, FileId, FileView, Integrity};
use crate::units::Nanos;

/// The inodes that have changed, by transaction, of file systems whose commits take time.
#[derive(Debug, Default)]
pub struct Journal {
    inodes: FxHashMap<FileId, Inode>,
    /// The number of each device's running transaction, from 1, and of the last transaction with a change.
    devices: FxHashMap<DeviceId, Transactions>,
}

#[derive(Clone, Copy, Debug)]
struct Transactions {
    running: u64,
    changed: u64,
}

impl Default for Transactions {
    fn default() -> Self {
        Self { running: 1, changed: 0 }
    }
}

impl Transactions {
    /// Commits the running transaction if there is reason to, and begins the next; true if it did.
    fn commit_if(&mut self, is_due: bool) -> bool {
        self.running += u64::from(is_due);
        is_due
    }
}

/// The last transaction in which it grew, and in which its times changed; 0 is none.
#[derive(Clone, Copy, Debug, Default)]
struct Inode {
    grown: u64,
    stamped: u64,
    /// The tick of its times.
    tick: Option<u64>,
}

impl Journal {
    /// Notes that a file is written up to a byte, at a tick of the clock.
    pub fn write(&mut self, file: &FileView, end: u64, tick: u64) {
        if file.cost.commit == Nanos::ZERO {
            return;
        }
        let transactions = self.devices.entry(file.device).or_default();
        let inode = self.inodes.entry(file.id).or_default();
        if end > file.size.0 {
            inode.grown = transactions.running;
        }
        if inode.tick != Some(tick) {
            (inode.tick, inode.stamped) = (Some(tick), transactions.running);
        }
        transactions.changed = transactions.running;
    }

    /// Commits the changes of a file; true if there were any.
    pub fn commit(&mut self, file: &FileView, what: Integrity) -> bool {
        let (Some(inode), Some(transactions)) =
            (self.inodes.get(&file.id), self.devices.get_mut(&file.device))
        else {
            return false;
        };
        let running = transactions.running;
        transactions.commit_if(inode.grown == running || what == Integrity::File && inode.stamped == running)
    }

    /// Commits the changes of a device; true if there were any.
    pub fn commit_all(&mut self, device: DeviceId) -> bool {
        let Some(transactions) = self.devices.get_mut(&device) else { return false };
        transactions.commit_if(transactions.changed == transactions.running)
    }
}

/// Returns how many calls of a run commit if each is made durable. The calls have `piece` bytes each, from `from` to `end`, the file begins
/// with `size` bytes, and a call that commits nothing takes `call`.
pub fn commits_of_calls(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::MountCost;
    use crate::units::Bytes;

    fn file(id: u32, size: u64) -> FileView {
        FileView {
            id: FileId(id),
            size: Bytes(size),
            cost: MountCost { commit: Nanos(1000), ..MountCost::default() },
            ..FileView::default()
        }
    }

    #[test]
    fn a_file_that_has_grown_is_committed_once() {
        let mut journal = Journal::default();
        let new = file(1, 0);
        assert!(!journal.commit(&new, Integrity::Data), "nothing was written");
        journal.write(&new, 4096, 0);
        assert!(journal.commit(&new, Integrity::Data));
        assert!(!journal.commit(&new, Integrity::File));
    }

    #[test]
    fn times_are_committed_once_in_a_tick_and_only_for_who_wants_them() {
        let mut journal = Journal::default();
        let old = file(1, 4096);
        journal.write(&old, 4096, 7);
        assert!(!journal.commit(&old, Integrity::Data));
        assert!(journal.commit(&old, Integrity::File));
        journal.write(&old, 4096, 7);
        assert!(!journal.commit(&old, Integrity::File), "they are of the same tick");
        journal.write(&old, 4096, 8);
        assert!(journal.commit(&old, Integrity::File));
    }

    #[test]
    fn a_commit_is_of_all_files_of_its_disk() {
        let mut journal = Journal::default();
        let [one, other] = [1, 2].map(|id| file(id, 0));
        let elsewhere = FileView { device: DeviceId(1), ..file(3, 0) };
        for each in [&one, &other, &elsewhere] {
            journal.write(each, 1, 0);
        }
        assert!(journal.commit(&one, Integrity::Data));
        assert!(!journal.commit(&other, Integrity::Data));
        assert!(journal.commit_all(DeviceId(1)) && !journal.commit_all(DeviceId(1)));
        assert!(!journal.commit_all(DeviceId(0)) && !journal.commit_all(DeviceId(2)));
        for tick in 1..4 {
            journal.write(&elsewhere, 1, tick);
            assert!(
                journal.commit_all(DeviceId(1)) && !journal.commit(&elsewhere, Integrity::File),
                "each time"
            );
        }
    }

    #[test]
    fn without_the_figure_nothing_is_kept() {
        let mut journal = Journal::default();
        let free = FileView { cost: MountCost::default(), ..file(1, 0) };
        journal.write(&free, 1, 0);
        assert!(!journal.commit(&free, Integrity::File) && journal.inodes.is_empty());
    }

    #[test]
    fn of_calls_that_are_durable_those_commit_that_grow_or_have_a_new_tick() {
        let (call, tick) = (Nanos(1_000_000), Nanos(4_000_000));
        let of = |from, end, size, what| commits_of_calls((from, end, 10), size, what, call, tick);
        assert_eq!(of(0, 100, 0, Integrity::Data), 10);
        assert_eq!(of(0, 100, 100, Integrity::Data), 0);
        assert_eq!(of(0, 100, 100, Integrity::File), 2, "ten calls of a ms, a tick of 4");
        assert_eq!(of(0, 100, 60, Integrity::Data), 4);
        assert_eq!(commits_of_calls((0, 100, 10), 100, Integrity::File, Nanos(9_000_000), tick), 10);
    }
}
