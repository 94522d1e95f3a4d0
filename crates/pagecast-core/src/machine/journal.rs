//! Describes the journal of a file system: ext3's and ext4's (jbd2), or the log of XFS.

use crate::keys::{FLAG, SIZE, TIME, Word, keys, word};
use crate::units::{Bytes, Nanos};

keys! {
    /// The journal of a mount.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Journal: "journal" {
        /// Bytes of the log
        ///
        /// `mkfs.ext4 -J size=64`. A transaction has a third of it at most.
        #[key(SIZE, absent = "what `mke2fs` gives a file system of the size of the disk; all of `journal_device`")]
        pub size: Option<Bytes>,
        /// What is journaled, and what is written before a commit
        ///
        /// The mount option `data=` of ext3 and ext4: "ordered" writes new data before the commit that makes it visible, "writeback" does not,
        /// "journal" writes all data into the log, too.
        #[key(word::<DataMode>(), default = DataMode::Ordered)]
        pub data: DataMode,
        /// Age at which a transaction is committed by itself
        ///
        /// The mount option `commit=`; 30 s for the log of XFS (`fs.xfs.xfssyncd_centisecs`).
        #[key(TIME, absent = "5 s, and 30 s for XFS")]
        pub commit_interval: Option<Nanos>,
        /// Whether a commit flushes the cache of its disk
        ///
        /// The mount option `barrier`; with false (`nobarrier`) neither commits nor `fsync` flush.
        #[key(FLAG, default = true)]
        pub barrier: bool,
    }
}

/// The mount option `data=` of ext3 and ext4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataMode {
    /// New data is written before the commit of its metadata.
    #[default]
    Ordered,
    /// Data and commits are independent.
    Writeback,
    /// Data is written into the log, and to its place later.
    Journal,
}

impl Word for DataMode {
    const ALL: &'static [Self] = &[Self::Ordered, Self::Writeback, Self::Journal];
    const WORDS: &'static [&'static str] = &["ordered", "writeback", "journal"];
}

/// `misc/mke2fs.c` and `lib/ext2fs/mkjournal.c: ext2fs_default_journal_size` of e2fsprogs 1.47: blocks of 4 KiB by those of the file system.
const DEFAULT_BLOCKS: [(u64, u64); 8] = [
    (32_768, 1024),
    (256 << 10, 4096),
    (512 << 10, 8192),
    (4096 << 10, 16_384),
    (8192 << 10, 32_768),
    (16_384 << 10, 65_536),
    (32_768 << 10, 131_072),
    (u64::MAX, 262_144),
];

impl Journal {
    /// The blocks of 4 KiB of the log of a file system on a disk of such a size, if the log is there, too.
    #[must_use]
    pub fn blocks(&self, disk: Bytes) -> u64 {
        let of_disk = disk.0 / 4096;
        let (_, usual) =
            DEFAULT_BLOCKS.into_iter().find(|(below, _)| of_disk < *below).expect("the last is of any");
        self.size.map_or(usual, |size| size.0 / 4096)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_without_a_size_is_as_mke2fs_makes_it() {
        let blocks = |gib: u64| Journal::default().blocks(Bytes(gib << 30));
        assert_eq!([1, 3, 20, 1000].map(blocks), [8192, 16_384, 32_768, 262_144]);
        let of = |mib: u64| Journal { size: Some(Bytes(mib << 20)), ..Journal::default() };
        assert_eq!(of(64).blocks(Bytes(1 << 30)), 16_384);
    }
}
