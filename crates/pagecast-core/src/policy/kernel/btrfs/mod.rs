//! Keeps the dirty blocks of the trees of btrfs, which write-back leaves alone until there are many.
//!
//! Source: `fs/btrfs/disk-io.c: btree_writepages, transaction_kthread, BTRFS_DIRTY_METADATA_THRESH`, `fs/btrfs/inode.c:
//! btrfs_finish_ordered_io`, `fs/btrfs/ctree.h`, Linux 3.1 to 6.16.
//!
//! - Each extent that was written adds items to three trees: of the file, of the extents, of the checksums. Their blocks are copied on write,
//!   and are pages of an inode of the same device: they count as dirty, for the limits of all memory and of the device.
//! - The flusher writes them only above 32 MiB. Otherwise they stay dirty until the transaction ends, 30 s after it began. So with a limit
//!   that is not much more than they are, writers are held back until then, and nobody writes.
//! - The end of a transaction writes them twice (`BTRFS_BLOCK_GROUP_DUP`, as `mkfs.btrfs` sets it up on a disk that turns).
//!
//! Left out: the log tree of fsync, and that `sync` ends a transaction; unlink and overwriting, which change items; superblocks. The blocks
//! take no memory here.

use crate::machine::{FileSystem, Host, MountSource};
use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::kernel::block::queue::Queue;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::ids::WbId;
use crate::units::Nanos;

/// `BTRFS_DIRTY_METADATA_THRESH`, in bytes.
const DIRTY_METADATA_THRESH: u64 = 32 << 20;

/// `transaction_kthread`: a transaction ends so long after it began; `commit=`.
const COMMIT_INTERVAL: Nanos = Nanos(30_000_000_000);

/// Bytes of the items of an extent: `btrfs_file_extent_item` (53), and `btrfs_extent_item` (24) with an inline `btrfs_extent_data_ref` (29),
/// each with its `btrfs_item` (25).
const ITEMS_OF_EXTENT: u64 = 53 + 25 + 24 + 29 + 25;

/// A checksum of 4 bytes for each block of 4 KiB.
const CHECKSUM: u64 = 4;

/// Blocks of the three trees that the first extent of a transaction copies: of each the last leaf, and its root.
const FIRST_BLOCKS: u64 = 6;

/// The copies that are written of a block.
const COPIES: u64 = 2;

/// The trees of a file system.
#[derive(Clone, Copy, Debug, Default)]
struct Trees {
    /// The wb of the inode of the blocks.
    wb: WbId,
    /// Bytes of items, and of the blocks that hold them, since the transaction began or they were last written.
    items: u64,
    dirty: u64,
    /// The end of the transaction, if one has begun.
    commit: Option<Nanos>,
}

impl Trees {
    /// Sends all dirty blocks to the device.
    fn write(&mut self, dirty: &mut DirtyPages, queue: &mut Queue) {
        dirty.blocks_written(self.wb, self.dirty);
        queue.push_log(self.wb, COPIES * self.dirty, None);
        (self.items, self.dirty) = (0, 0);
    }
}

/// The trees of the file systems of a host, by disk.
#[derive(Debug)]
pub struct Btrfs(Vec<Option<Trees>>);

impl Btrfs {
    /// Those of a host.
    pub fn of(host: &Host) -> Self {
        let has_trees = |disk: usize| {
            let mut mounts = host.mounts.iter().filter(|mount| mount.source == MountSource::Disk(disk));
            mounts.any(|mount| mount.file_system == FileSystem::Btrfs)
        };
        let of = |disk: usize| has_trees(disk).then(|| Trees { wb: WbId(disk as u32), ..Trees::default() });
        Self((0..host.disks.len()).map(of).collect())
    }

    /// True if a disk has a file system with trees.
    pub fn has_trees(&self, disk: usize) -> bool {
        self.0.get(disk).is_some_and(Option::is_some)
    }

    /// Adds the items of an extent that a disk has written.
    pub fn extent_written(
        &mut self,
        now: Nanos,
        disk: usize,
        bytes: u64,
        dirty: &mut DirtyPages,
        queue: &mut Queue,
    ) {
        let Some(Some(trees)) = self.0.get_mut(disk) else { return };
        if trees.commit.is_none() {
            trees.commit = Some(now + COMMIT_INTERVAL);
            trees.items = FIRST_BLOCKS * PAGE;
        }
        trees.items += ITEMS_OF_EXTENT + bytes.div_ceil(PAGE) * CHECKSUM;
        let more = (trees.items / PAGE * PAGE).saturating_sub(trees.dirty);
        trees.dirty += more;
        dirty.blocks_dirtied(trees.wb, more);
        if trees.dirty >= DIRTY_METADATA_THRESH {
            trees.write(dirty, queue);
        }
    }

    /// Ends the transactions that are due.
    pub fn commit_due(&mut self, now: Nanos, dirty: &mut DirtyPages, queues: &mut [Queue]) {
        for (trees, queue) in self.0.iter_mut().zip(queues) {
            if let Some(trees) = trees.as_mut().filter(|trees| trees.commit.is_some_and(|due| due <= now)) {
                trees.commit = None;
                trees.write(dirty, queue);
            }
        }
    }

    /// The end of the next transaction.
    pub fn next_commit(&self) -> Option<Nanos> {
        self.0.iter().flatten().filter_map(|trees| trees.commit).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::tests::{MIB, kernel};
    use crate::units::Bytes;

    const SECOND: u64 = 1_000_000_000;

    fn host(file_system: &str) -> Host {
        kernel(&format!("mount.'/data'.type = '{file_system}'")).config.host.clone()
    }

    fn queue() -> Queue {
        Queue::new((128, Bytes(512 << 10)), None)
    }

    /// Extents of so many bytes that a disk writes: dirty bytes after them, and after 30 s.
    fn dirty_after(file_system: &str, count: u64, bytes: u64) -> (u64, u64) {
        let (mut btrfs, mut dirty, mut queues) =
            (Btrfs::of(&host(file_system)), DirtyPages::default(), [queue()]);
        for at in 0..count {
            btrfs.extent_written(Nanos(at), 0, bytes, &mut dirty, &mut queues[0]);
        }
        let before = dirty.dirty();
        assert_eq!(dirty.of_wb(WbId(0)).reclaimable, before);
        btrfs.commit_due(Nanos(30 * SECOND), &mut dirty, &mut queues);
        (before, dirty.dirty())
    }

    #[test]
    fn a_thousandth_of_the_data_stays_dirty_until_the_transaction_ends() {
        let (before, after) = dirty_after("btrfs", 1024, MIB);
        assert!((MIB..=MIB + 300 * 1024).contains(&before) && after == 0, "{before}");
        assert_eq!(dirty_after("ext4", 1024, MIB), (0, 0));
    }

    #[test]
    fn small_extents_cost_more_than_their_checksums() {
        let per_mib = |bytes: u64| dirty_after("btrfs", 64 * MIB / bytes, bytes).0;
        assert!(per_mib(4096) > 10 * per_mib(MIB));
    }

    #[test]
    fn above_32_mib_the_flusher_writes_them() {
        let extents = DIRTY_METADATA_THRESH / (ITEMS_OF_EXTENT + CHECKSUM) + 100;
        assert!(dirty_after("btrfs", extents, PAGE).0 < MIB);
    }

    #[test]
    fn a_transaction_ends_thirty_seconds_after_its_first_extent() {
        let (mut btrfs, mut dirty, mut queue) = (Btrfs::of(&host("btrfs")), DirtyPages::default(), queue());
        assert_eq!(btrfs.next_commit(), None);
        for second in [5, 20] {
            btrfs.extent_written(Nanos(second * SECOND), 0, MIB, &mut dirty, &mut queue);
        }
        assert_eq!(btrfs.next_commit(), Some(Nanos(35 * SECOND)));
        btrfs.commit_due(Nanos(35 * SECOND), &mut dirty, std::slice::from_mut(&mut queue));
        assert_eq!((btrfs.next_commit(), dirty.dirty(), queue.is_empty()), (None, 0, false));
    }
}
