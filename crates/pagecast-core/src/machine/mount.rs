//! Describes a directory under which files live: its device, its write mode, and the times of its file system.

use super::disk::Disk;
use super::journal::Journal;
use super::nfs::{Export, NfsOptions};
use super::striped::{Layout, Striped};
use crate::keys::{FLAG, Kind, SIZE, TIME, Word, keys, table, word};
use crate::units::{Bytes, Nanos};

keys! {
    /// A directory under which files live.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Mount: "mount" {
        /// Absolute, without a slash at the end (but "/" itself).
        pub path: String,
        /// A disk of this host
        ///
        /// This, `nfs` or `striped` is required, but with `type = "tmpfs"`.
        #[key(Kind::Text)]
        only disk,
        /// "server:/export": a host and one of its mounts
        #[key(Kind::Text)]
        only nfs,
        /// Servers of parts of files, each "server:/mount"
        ///
        /// Files are [dealt to them in strips](../concepts/striped.md). Each is a host and one of its mounts of a disk.
        #[key(Kind::Texts)]
        only striped,
        /// The server of names and attributes, "server:/mount"
        ///
        /// With `striped` only.
        #[key(Kind::Text, absent = "the first of `striped`")]
        only metadata,
        /// The link to the server, where there are several
        #[key(Kind::Text)]
        only link,
        /// Where the bytes are.
        pub source: MountSource,
        /// When written bytes reach the source
        ///
        /// "back": a write returns when the page cache has them; "through": when the disk has them, as with the mount option `sync`.
        #[key(word::<WriteMode>(), shown = WriteMode::Back)]
        pub write_mode: WriteMode,
        /// Its file system, as `/proc/mounts` names it
        ///
        /// All but the first two tell [write-back throttling](../concepts/kernel/block.md#write-back-throttling) which writes are of the background; "xfs" and "btrfs" share extents of [copies](#copies). Files of a ["tmpfs"](../concepts/kernel/tmpfs.md) are in memory only: it has no disk. Not with `nfs`.
        #[key(word::<FileSystem>(), default = FileSystem::Ext4)]
        #[name = "type"]
        pub file_system: FileSystem,
        /// Bytes that the files of a tmpfs may have
        ///
        /// The mount option `size=`. Only with `type = "tmpfs"`.
        #[key(SIZE, absent = "half of the memory")]
        pub size: Option<Bytes>,
        /// Its journal
        ///
        /// `{ size = "64 MiB", data = "ordered" }`: [its keys](#machine-mount-path-journal). Commits are then requests to the disk, as
        /// [jbd2](../concepts/kernel/ext4.md#the-journal) makes them; without it a commit takes `commit` and no request. Only `kernel` looks at
        /// this and the next two. Not with `nfs`.
        #[key(table::<Journal>(), absent = "none: a commit is a time")]
        pub journal: Option<Journal>,
        /// The disk of its journal
        ///
        /// A disk of this host, all of which is the log unless `journal` has a `size` (`mke2fs -J device=`; `logdev` of XFS). With `journal` only.
        #[key(Kind::Text, absent = "that of its files")]
        only journal_device,
        /// The disk of its journal, if that is another one.
        pub journal_device: Option<usize>,
        /// Whether blocks are allocated only when data is written back
        ///
        /// The mount option `delalloc` of ext4. ext3 never does.
        #[key(FLAG, default = true)]
        pub delalloc: bool,
        /// Getting 4 KiB of its files into the page cache
        ///
        /// Large folios make it shorter, buffer heads longer. A block device that is written to like a file is a file on a mount such as
        /// `/dev`. Only `kernel` uses it and the next ten.
        #[key(TIME, absent = "that of `memory.cost`")]
        pub page_insert: Option<Nanos>,
        /// How its files are dealt to servers
        ///
        /// `{ strip_size = "64 KiB" }`: [its keys](#machine-mount-path-layout). With `striped` only.
        #[key(table::<Layout>(), absent = "each has its default")]
        pub layout: Option<Layout>,
        /// Its options as a mount of another host
        ///
        /// `{ rsize = "64 KiB" }`: [its keys](#machine-mount-path-options). With `nfs` only.
        #[key(table::<NfsOptions>(), absent = "each has its default")]
        pub options: Option<NfsOptions>,
        /// Whether the server replies before its disk has what must be durable
        ///
        /// "sync" or "async", as in `/etc/exports`. Of a mount of a disk that other hosts mount.
        #[key(word::<Export>(), default = Export::Sync)]
        pub export: Export,
        /// The costs of its file system.
        flat cost: MountCost,
    }
}

keys! {
    /// Time that a file system takes for what it does of its own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MountCost: "mount_cost" {
        /// Extra time to make a file durable if its metadata changed
        ///
        /// It has become longer since the last time, or, for `fsync` and O_SYNC, its times have changed: a commit of the
        /// [journal](../concepts/kernel/ext4.md#the-journal). With `journal` this is the time of the processor alone. Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub commit: Nanos,
        /// Time of the processor for each block of a commit
        ///
        /// Beside `commit`, and with `journal` only.
        #[key(TIME, default = Nanos::ZERO)]
        pub commit_block: Nanos,
        /// Time of the processor to wake a caller that waits for a later commit
        ///
        /// The end of each commit wakes those, too (`fs/jbd2/commit.c: j_wait_done_commit`). With `journal` only.
        #[key(TIME, default = Nanos::ZERO)]
        pub commit_wakeup: Nanos,
        /// Time of the processor to give written data its blocks
        ///
        /// Paid by each durable call that commits (`ext4_convert_unwritten_extents`), and by a `rename` that begins to write its file. With
        /// `journal` only.
        #[key(TIME, default = Nanos::ZERO)]
        pub extent_conversion: Nanos,
        /// Time of the processor for a call of `fsync` beside its commit
        ///
        /// Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub fsync: Nanos,
        /// Time of the processor to open a file that is there
        ///
        /// Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub open: Nanos,
        /// The same, beside it, where the inode is not cached
        ///
        /// Its block of the directory and of the table of inodes are then [read from the disk](../concepts/kernel/ext4.md#inodes), unless they are
        /// cached. With 0 inodes are always cached. Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub iget: Nanos,
        /// Time of the processor to give a file new times
        ///
        /// Paid by a write through the cache that is the first one of its tick (`fs/inode.c: file_update_time`), on XFS a transaction. With
        /// `commit` or `journal` only. Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub update_time: Nanos,
        /// Time of the processor to make a file or a directory
        ///
        /// Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub create: Nanos,
        /// Time of the processor to give a file another name, or a second one
        ///
        /// A file that had the new name takes `unlink` beside. Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub rename: Nanos,
        /// Time of the processor to remove a name
        ///
        /// Beside that for the pages of its file. Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub unlink: Nanos,
        /// Time of the processor to pass a name of the same directory as a new name is made
        ///
        /// Beside `create` and `rename`. At most the names of a block of the directory are passed, which a
        /// [tree](../concepts/kernel/ext4.md#names) finds. Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub name_scan: Nanos,
        /// Time to free 4 KiB that were written back lately when their file is cut or removed
        ///
        /// With the mount option `discard` the disk is told. Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub block_free: Nanos,
        /// The same, once for each file that frees some
        ///
        /// Not with `nfs`.
        #[key(TIME, default = Nanos::ZERO)]
        pub file_free: Nanos,
        /// Age up to which a written block counts for `block_free`
        ///
        /// Not with `nfs`.
        #[key(TIME, absent = "since time 0")]
        pub block_free_within: Option<Nanos>,
    }
}

/// The file system of a mount, by its name in `/proc/mounts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileSystem {
    /// ext4.
    #[default]
    Ext4,
    /// ext3, by the driver of ext4.
    Ext3,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// F2FS.
    F2fs,
    /// tmpfs, whose files are in memory only.
    Tmpfs,
    /// Another one, or a block device.
    Other,
}

impl Word for FileSystem {
    const ALL: &'static [Self] = &Self::ALL;
    const WORDS: &'static [&'static str] = &Self::NAMES;
}

impl FileSystem {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Ext4, Self::Ext3, Self::Xfs, Self::Btrfs, Self::F2fs, Self::Tmpfs, Self::Other];
    /// The words of a machine file, in the same order.
    pub const NAMES: [&'static str; 7] = ["ext4", "ext3", "xfs", "btrfs", "f2fs", "tmpfs", "other"];

    /// Returns the longest folio that a write fills, in pages, where ext4 has `ext4`. XFS has those of a huge page since Linux 6.6
    /// (`fs/iomap/buffered-io.c: iomap_get_folio`).
    #[must_use]
    pub fn largest_folio(self, version: (u32, u32), ext4: u64) -> u64 {
        if self == Self::Xfs && version >= (6, 6) { 512 } else { ext4 }
    }

    /// Returns how many inodes are read from the disk together, and their bytes: 32 blocks of 16 inodes (`inode_readahead_blks` of ext4), or
    /// a cluster of XFS (`fs/xfs/libxfs/xfs_ialloc.c: xfs_ialloc_setup_geometry`), of 512 bytes each.
    #[must_use]
    pub fn inodes_read(self) -> (u64, Bytes) {
        if self == Self::Xfs { (32, Bytes(16 << 10)) } else { (512, Bytes(128 << 10)) }
    }

    /// True if it marks writes of the background: `wbc_to_write_flags`, which `fs/ext4/page-io.c: ext4_io_submit` does not ask.
    #[must_use]
    pub fn marks_background(self) -> bool {
        !matches!(self, Self::Ext4 | Self::Ext3)
    }
}

impl Mount {
    /// The disk of its log, and the log's blocks of 4 KiB; nothing without `journal`. A disk of its own is all log, unless a size says else.
    #[must_use]
    pub fn log(&self, disks: &[Disk]) -> Option<(usize, u64)> {
        let (journal, MountSource::Disk(own)) = (self.journal?, &self.source) else { return None };
        Some(match self.journal_device {
            Some(device) => (device, journal.size.unwrap_or(disks[device].size).0 / 4096),
            None => (*own, journal.blocks(disks[*own].size)),
        })
    }
}

/// The place of the files of a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MountSource {
    /// On a disk of the same host, by index.
    Disk(usize),
    /// In memory only: a tmpfs.
    Tmpfs,
    /// In parts on other hosts.
    Striped(Striped),
    /// On another host, reached over the network.
    Nfs {
        /// Index of the server host.
        server: usize,
        /// Index of the server's mount that is exported.
        export: usize,
        /// Index of the link between the two, if one joins them.
        link: Option<usize>,
    },
}

impl Default for MountSource {
    fn default() -> Self {
        Self::Disk(0)
    }
}

/// The time at which written bytes reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Later: the write returns when they are in the page cache.
    Back,
    /// Before the write returns; they stay in the page cache, clean.
    Through,
}

impl Word for WriteMode {
    const ALL: &'static [Self] = &[Self::Back, Self::Through];
    const WORDS: &'static [&'static str] = &["back", "through"];
}
