//! Derives the rules of each disk's journal from its mount.
//!
//! Source: `fs/jbd2/journal.c: jbd2_journal_init_transaction_limits` (Linux 6.12), `fs/ext4/super.c: ext4_set_def_opts`, `fs/xfs/xfs_log.c`.
//! Left out: two file systems on one disk have one journal.

use crate::machine::{DataMode, FileSystem, Host, Mount, MountSource};
use crate::units::Nanos;

/// A transaction has a third of the log at most (a fourth before Linux 6.12).
const LOG_PART: u64 = 3;
const LOG_PART_BEFORE: u64 = 4;
const THIRD_SINCE: (u32, u32) = (6, 12);

/// Linux 4.3 removed the driver of ext3; that of ext4 serves it since.
const EXT3_DRIVER_BEFORE: (u32, u32) = (4, 3);

const CHECKPOINTS_ON_FSYNC_SINCE: (u32, u32) = (6, 4);

/// `jbd2: add a missing data flush during file and fs synchronization`. A guest with 6.12 has no such flush.
const DATA_FLUSH_SINCE: (u32, u32) = (6, 15);

/// `JBD2_DEFAULT_MAX_COMMIT_AGE`, and `xfs_log_worker` (`fs.xfs.xfssyncd_centisecs`).
const COMMIT_AGE: Nanos = Nanos(5_000_000_000);
const LOG_WORKER: Nanos = Nanos(30_000_000_000);

/// The rules of the journal of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JournalRules {
    /// The time of a commit beside its requests.
    pub commit: Nanos,
    /// The time for each block of a commit.
    pub commit_block: Nanos,
    /// The time to wake a caller that waits for a later commit.
    pub wakeup: Nanos,
    /// The requests of commits, if they are modelled.
    pub requests: Option<Requests>,
}

/// How commits write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requests {
    pub data: DataMode,
    /// True if blocks are allocated when data is written back, not by the write.
    pub allocates_late: bool,
    /// True if extents map the blocks of files: not on ext3.
    pub has_extents: bool,
    /// True if a commit orders data that was written over, too, not only that of new blocks: the driver of ext3 (`fs/ext3/inode.c:
    /// ext3_ordered_write_end`, `fs/jbd/commit.c: journal_submit_data_buffers`).
    pub orders_all_data: bool,
    /// True if fsync writes journaled data to its place after the commit (`fs/ext4/inode.c: ext4_do_writepages`, Linux 6.4).
    pub checkpoints_on_fsync: bool,
    /// True if all of a commit is one write to the log: XFS. jbd2 writes the commit block after all others.
    pub is_one_write: bool,
    /// The age at which a transaction is committed by itself.
    pub interval: Nanos,
    /// True if a commit flushes the disk's cache.
    pub barrier: bool,
    /// True if the log is on another disk than the files.
    pub is_external: bool,
    /// True if a transaction that is asked for flushes the disk of the files then, not only one that orders data (`fs/jbd2/journal.c:
    /// jbd2_trans_will_send_data_barrier`, Linux 6.15).
    pub flushes_data_if_asked: bool,
    /// The log, and the most of it that a transaction takes, in blocks.
    pub blocks: u64,
    pub most: u64,
}

impl JournalRules {
    /// Those of a disk of a host; nothing if no file system there has a journal whose commits take time.
    pub fn of(host: &Host, disk: usize) -> Option<Self> {
        let commit = mounts_of(host, disk).map(|mount| mount.cost.commit).max()?;
        let requests = mounts_of(host, disk).find_map(|mount| Requests::of(host, disk, mount));
        let commit_block =
            mounts_of(host, disk).map(|mount| mount.cost.commit_block).max().unwrap_or_default();
        let wakeup = mounts_of(host, disk).map(|mount| mount.cost.commit_wakeup).max().unwrap_or_default();
        (commit > Nanos::ZERO || requests.is_some()).then_some(Self {
            commit,
            commit_block,
            wakeup,
            requests,
        })
    }
}

fn mounts_of(host: &Host, disk: usize) -> impl Iterator<Item = &Mount> {
    host.mounts.iter().filter(move |mount| mount.source == MountSource::Disk(disk))
}

impl Requests {
    fn of(host: &Host, disk: usize, mount: &Mount) -> Option<Self> {
        let journal = mount.journal?;
        let (is_xfs, is_ext3) = (mount.file_system == FileSystem::Xfs, mount.file_system == FileSystem::Ext3);
        let (log, blocks) = mount.log(&host.disks)?;
        let part = if host.kernel.version < THIRD_SINCE { LOG_PART_BEFORE } else { LOG_PART };
        Some(Self {
            data: if is_xfs { DataMode::Writeback } else { journal.data },
            allocates_late: is_xfs || (mount.delalloc && !is_ext3 && journal.data != DataMode::Journal),
            has_extents: !is_ext3,
            orders_all_data: is_ext3 && host.kernel.version < EXT3_DRIVER_BEFORE,
            checkpoints_on_fsync: host.kernel.version >= CHECKPOINTS_ON_FSYNC_SINCE,
            is_one_write: is_xfs,
            interval: journal.commit_interval.unwrap_or(if is_xfs { LOG_WORKER } else { COMMIT_AGE }),
            barrier: journal.barrier,
            is_external: log != disk,
            flushes_data_if_asked: host.kernel.version >= DATA_FLUSH_SINCE,
            blocks,
            most: (blocks / part).max(1),
        })
    }

    /// True if data is written into the log.
    pub fn journals_data(&self) -> bool {
        self.data == DataMode::Journal
    }

    /// True if a durable call flushes the disk of its file before it asks for a commit: XFS with a log on another disk.
    pub fn flushes_data_first(&self) -> bool {
        self.is_external && self.is_one_write
    }

    /// True if a commit first writes the new data of its files.
    pub fn writes_data_first(&self) -> bool {
        self.data == DataMode::Ordered && !self.allocates_late
    }
}
