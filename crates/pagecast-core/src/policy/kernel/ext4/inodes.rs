//! Keeps which inodes are cached, and which blocks with inodes and names the page cache of the disk has.
//!
//! Source: `fs/ext4/inode.c: __ext4_get_inode_loc` (read-ahead of the table), `fs/ext4/namei.c: __ext4_find_entry`, `fs/drop_caches.c`,
//! `fs/jbd2/checkpoint.c: __jbd2_journal_clean_checkpoint_list`, Linux 6.12. Inodes have their numbers in the order in which their files are
//! made or seen, and a name is in a block of its directory by its hash. Left out: reclaim of inodes and of these blocks; bitmaps; blocks that map
//! files; the upper blocks of a directory's tree.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::MountSource;
use crate::policy::kernel::config::Config;
use crate::policy::kernel::ext4::journal::Tid;
use crate::policy::kernel::page::PAGE;
use crate::policy::{DeviceId, FileId, FileView};
use crate::units::{Bytes, Nanos};

/// Blocks that are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blocks {
    /// Inodes, by the number of their group.
    Inodes(u64),
    /// Names of a directory, by the block.
    Names(u32, u64),
}

/// The metadata that is cached.
#[derive(Debug)]
pub struct Inodes {
    numbers: FxHashMap<FileId, u64>,
    /// The inodes of each disk so far.
    counts: Vec<u64>,
    /// The inodes that each disk gives at once, and their bytes.
    together: Vec<(u64, Bytes)>,
    pub(super) cached: FxHashSet<FileId>,
    /// The blocks in memory, and the transaction that has changed each last; 0 is none.
    pub(super) blocks: FxHashMap<(DeviceId, Blocks), Tid>,
    /// True if opening a file takes time.
    pub(super) is_kept: bool,
}

impl Inodes {
    /// Those of a host; nothing is kept where no file system has a time for them.
    pub fn of(config: &Config) -> Self {
        let host = &config.host;
        let of_disk = |disk| {
            let mount = host.mounts.iter().find(|mount| mount.source == MountSource::Disk(disk));
            mount.map(|mount| mount.file_system).unwrap_or_default().inodes_read()
        };
        Self {
            numbers: FxHashMap::default(),
            counts: vec![0; host.disks.len()],
            together: (0..host.disks.len()).map(of_disk).collect(),
            cached: FxHashSet::default(),
            blocks: FxHashMap::default(),
            is_kept: host.mounts.iter().any(|mount| mount.cost.iget > Nanos::ZERO),
        }
    }

    /// Keeps an inode, whose file has pages.
    pub fn keep(&mut self, file: &FileView) {
        if self.is_kept {
            self.cached.insert(file.id);
        }
    }

    /// The block with a file's name, and that with its inode, each with its bytes.
    pub(super) fn blocks_of(&mut self, file: &FileView, blocks: u64) -> [(Blocks, Bytes); 2] {
        let device = file.device.0 as usize;
        let next = &mut self.counts[device];
        let number = *self.numbers.entry(file.id).or_insert_with(|| {
            *next += 1;
            *next - 1
        });
        let (inodes, bytes) = self.together[device];
        // A Fibonacci hash: any that spreads names evenly will do.
        let hash = u64::from(file.inode).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        [
            (Blocks::Names(file.directory, hash % blocks), Bytes(PAGE)),
            (Blocks::Inodes(number / inodes), bytes),
        ]
    }
}
