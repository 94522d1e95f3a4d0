//! Gives the files of a disk places on it.
//!
//! Source: `fs/ext4/mballoc.c: ext4_mb_normalize_request`, `include/linux/ext3_fs.h: EXT3_MAX_RESERVE_BLOCKS`,
//! `fs/xfs/xfs_iomap.c: xfs_iomap_prealloc_size`, `fs/btrfs/extent-tree.c`, Linux 3.1 to 6.16.
//!
//! - Blocks are allocated at write-back (`delalloc`), behind all others. A file that grows gets a window ahead of it, which depends on its size
//!   and on the file system; files that grow at once lie in each other's way, window by window.
//! - A file that is read or written directly before it is written back lies in one piece. One of a mount without a file system is the disk itself.
//! - The log of a journal is in the middle of the disk (`lib/ext2fs/mkjournal.c`; `mkfs.xfs`), or at the beginning of one without files.
//!
//! Left out: free space of deleted files, groups and directories, blocks of metadata; ext3 allocates at the write. Files that are there at the
//! beginning and are written over are taken for new ones.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::machine::{FileSystem, Host, Mount, MountSource};
use crate::policy::{FileId, FileView};
use crate::units::Bytes;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A window of `xfs_iomap_prealloc_size` is no longer (`MAXEXTLEN` blocks of 4 KiB).
const MOST_XFS_WINDOW: u64 = ((1 << 21) - 1) * 4 * KIB;

/// Where bytes of a file are: by their first byte the place of it, and the end of the piece in the file.
type Extents = BTreeMap<u64, (u64, u64)>;

/// The places of a disk; see the module.
#[derive(Debug)]
pub struct Layout {
    file_system: FileSystem,
    size: u64,
    files: FxHashMap<FileId, Extents>,
    /// Everything before it is taken.
    end: u64,
    /// The first byte of the log, and the next one.
    first_of_log: u64,
    log: u64,
}

impl Layout {
    /// That of a disk of a host; two file systems on one disk count as the first of them, unless one is none.
    pub fn of(host: &Host, disk: usize) -> Self {
        let is_on = |mount: &&Mount| mount.source == MountSource::Disk(disk);
        let mut of_disk = host.mounts.iter().filter(is_on).map(|mount| mount.file_system);
        let first = of_disk.next();
        let log = if first.is_some() { host.disks[disk].size.0 / 2 } else { 0 };
        let first = first.unwrap_or(FileSystem::Other);
        let file_system = of_disk.find(|other| *other == FileSystem::Other).unwrap_or(first);
        let size = host.disks[disk].size.0;
        Self { file_system, size, files: FxHashMap::default(), end: 0, first_of_log: log, log }
    }

    /// The place of a byte of a file that is read, or written directly.
    pub fn position(&mut self, file: &FileView, offset: u64, bytes: Bytes) -> u64 {
        if self.file_system == FileSystem::Other {
            return offset;
        }
        if !self.files.contains_key(&file.id) {
            let size = file.size.0.max(offset + bytes.0);
            self.add(file.id, 0, size);
        }
        self.pieces(file.id, (offset, offset + 1))[0].0
    }

    /// The places of a range of a file and their bytes, in the order of the file. What has none yet gets some.
    pub fn pieces(&mut self, file: FileId, (start, end): (u64, u64)) -> Vec<(u64, u64)> {
        let (mut pieces, mut at): (Vec<(u64, u64)>, u64) = (Vec::new(), start);
        if self.file_system == FileSystem::Other {
            return vec![(start, end - start)];
        }
        while at < end {
            let extents = self.files.entry(file).or_default();
            let before = extents.range(..=at).next_back().filter(|(_, (_, to))| *to > at);
            let Some((&from, &(place, to))) = before else {
                let next = extents.range(at..).next().map_or(u64::MAX, |(&from, _)| from);
                let window = window(self.file_system, at, end).min(next);
                self.add(file, at, window);
                continue;
            };
            let (place, bytes) = (place + at - from, to.min(end) - at);
            match pieces.last_mut() {
                Some((last, length)) if *last + *length == place => *length += bytes,
                _ => pieces.push((place, bytes)),
            }
            at += bytes;
        }
        pieces
    }

    /// Allocates a range of a file behind everything else, from the beginning again at the end of the disk.
    fn add(&mut self, file: FileId, from: u64, to: u64) {
        if self.end + (to - from) > self.size {
            self.end = 0;
        }
        let place = self.end;
        self.end += to - from;
        let extents = self.files.entry(file).or_default();
        let grown = extents
            .range_mut(..from)
            .next_back()
            .filter(|(start, (at, end))| *end == from && *at + (from - **start) == place);
        match grown {
            Some((_, (_, end))) => *end = to,
            None => drop(extents.insert(from, (place, to))),
        }
    }

    /// The place of bytes of the log.
    pub fn log(&mut self, bytes: u64, size: u64) -> (u64, u64) {
        if self.log + bytes > (self.first_of_log + size).min(self.size) {
            self.log = self.first_of_log;
        }
        let place = self.log;
        self.log += bytes;
        (place, bytes)
    }
}

/// Returns the end of what a file system allocates at once for a write-back of a file from a byte to another.
fn window(file_system: FileSystem, from: u64, to: u64) -> u64 {
    let aligned = |bytes: u64| to.next_multiple_of(bytes);
    match file_system {
        // `NRL_CHECK_SIZE`: by the size that the file has then.
        FileSystem::Ext4 => match to {
            ..=MIB => to.next_power_of_two().max(16 * KIB),
            _ if to <= 4 * MIB => aligned(2 * MIB),
            _ if to <= 8 * MIB => aligned(4 * MIB),
            _ => aligned(8 * MIB),
        },
        // 1027 blocks of 4 KiB.
        FileSystem::Ext3 => aligned(1027 * 4 * KIB),
        FileSystem::Xfs => to + from.next_power_of_two().clamp(64 * KIB, MOST_XFS_WINDOW),
        // Copies on write, or a log: successive writes lie side by side.
        FileSystem::Btrfs | FileSystem::F2fs | FileSystem::Tmpfs | FileSystem::Other => to,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: u64 = 1 << 40;

    fn layout(file_system: FileSystem) -> Layout {
        Layout {
            file_system,
            size: SIZE,
            files: FxHashMap::default(),
            end: 0,
            first_of_log: SIZE / 2,
            log: SIZE / 2,
        }
    }

    const FILES: [FileId; 2] = [FileId(0), FileId(1)];

    /// The places that two files have which grow in turn by so many bytes.
    fn growing(file_system: FileSystem, step: u64, steps: u64) -> usize {
        let mut layout = layout(file_system);
        for at in 0..steps {
            for file in FILES {
                layout.pieces(file, (at * step, (at + 1) * step));
            }
        }
        layout.pieces(FILES[0], (0, steps * step)).len()
    }

    #[test]
    fn a_file_that_grows_alone_lies_in_one_piece() {
        for file_system in FileSystem::ALL {
            let mut layout = layout(file_system);
            (0..100).for_each(|at| drop(layout.pieces(FILES[0], (at * MIB, (at + 1) * MIB))));
            assert_eq!(layout.pieces(FILES[0], (0, 100 * MIB)), [(0, 100 * MIB)], "{file_system:?}");
        }
    }

    #[test]
    fn files_that_grow_at_once_lie_window_by_window() {
        let of = |file_system| growing(file_system, MIB, 64);
        let [ext4, ext3, xfs, btrfs] =
            [FileSystem::Ext4, FileSystem::Ext3, FileSystem::Xfs, FileSystem::Btrfs].map(of);
        assert_eq!((ext4, ext3, btrfs), (11, 16, 64), "8 MiB, 4 MiB, each write");
        assert!(xfs < 8, "windows double: {xfs}");
        assert_eq!(growing(FileSystem::Ext4, 32 * MIB, 4), 4, "one for each long write");
    }

    #[test]
    fn a_file_that_is_read_first_lies_in_one_piece() {
        let mut layout = layout(FileSystem::Ext4);
        let file = |id, size| FileView { id, size: Bytes(size), ..FileView::default() };
        assert_eq!(layout.position(&file(FILES[0], 100 * MIB), 50 * MIB, Bytes(4096)), 50 * MIB);
        assert_eq!(layout.position(&file(FILES[1], MIB), 0, Bytes(4096)), 100 * MIB);
        assert_eq!(layout.pieces(FILES[0], (0, 100 * MIB)), [(0, 100 * MIB)]);
    }

    #[test]
    fn the_log_goes_round_in_the_middle() {
        let mut layout = layout(FileSystem::Ext4);
        let places: Vec<u64> = (0..4).map(|_| layout.log(MIB, 3 * MIB).0 - SIZE / 2).collect();
        assert_eq!(places, [0, MIB, 2 * MIB, 0]);
    }

    proptest! {
        /// A slow layout has a place for each KiB.
        #[test]
        fn no_two_bytes_lie_at_one_place(
            writes in prop::collection::vec((0..3_u32, 0..200_u64, 1..100_u64), 1..40),
            of in 0..5_usize,
        ) {
            let mut layout = layout(FileSystem::ALL[of]);
            let mut places = FxHashMap::default();
            for (file, from, length) in writes {
                let pieces = layout.pieces(FileId(file), (from * KIB, (from + length) * KIB));
                prop_assert_eq!(pieces.iter().map(|piece| piece.1).sum::<u64>(), length * KIB);
                let kib = pieces.iter().flat_map(|(place, bytes)| (place / KIB)..((place + bytes) / KIB));
                for (offset, place) in (from..).zip(kib) {
                    let owner = *places.entry(place).or_insert((file, offset));
                    prop_assert_eq!(owner, (file, offset));
                }
            }
        }
    }
}
