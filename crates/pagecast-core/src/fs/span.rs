//! Computes the bytes of a read or write, and checks the rules of its file system.
//!
//! O_DIRECT needs whole blocks of the device, aligned to blocks. Source: `fs/iomap/direct-io.c: iomap_dio_bio_iter, iomap_dio_complete`,
//! Linux 6.16. ext4 and XFS refuse unaligned calls; a read may reach beyond the end of its file, and gets the bytes before it.
//! RWF_DONTCACHE needs support by the kernel and the file system. Source: `include/linux/fs.h: kiocb_set_rw_flags`, Linux 6.14; ext4 takes
//! it since 6.17, XFS and Btrfs since 6.14.
//!
//! Left out: the alignment of the memory, and file systems that send a direct call through the page cache instead (btrfs, F2FS).

use crate::machine::{FileSystem, Host, Mount, MountSource};
use crate::units::Bytes;
use crate::workload::Action;

/// The bytes of a read or write, and how many each system call moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub offset: u64,
    pub bytes: Bytes,
    pub piece: Bytes,
}

impl Span {
    /// What is there of these bytes, if the file ends within the last call.
    pub(crate) fn up_to_end(self, size: Bytes) -> Self {
        let Self { offset, bytes, piece } = self;
        let before_last = bytes.0.saturating_sub(1) / piece.0.max(1) * piece.0;
        if offset.saturating_add(before_last) >= size.0 {
            return self;
        }
        let bytes = bytes.min(Bytes(size.0 - offset));
        Self { offset, bytes, piece: piece.min(bytes) }
    }

    /// True if the calls of a read or write are whole blocks, as O_DIRECT wants them.
    pub(crate) fn is_aligned(&self, action: &Action, block: Bytes) -> bool {
        let (bytes, call) = match *action {
            // Who reads up to the end asks for the whole of the last block.
            Action::Read { bytes: None, call, .. } => (block, call.unwrap_or(block)),
            Action::Read { bytes: Some(bytes), call, .. } | Action::Write { bytes, call, .. } => {
                (bytes, call.map_or(bytes, |call| call.min(bytes)))
            }
            _ => unreachable!("only reads and writes move bytes"),
        };
        // In memory, too, each place has whole blocks.
        let (Action::Read { vector, .. } | Action::Write { vector, .. }) = *action else {
            unreachable!("only reads and writes move bytes")
        };
        let place = if vector > 1 { self.piece.0.div_ceil(vector.into()) } else { block.0 };
        [self.offset, bytes.0, call.0, place].iter().all(|each| each.is_multiple_of(block.0))
    }
}

/// True if calls on a mount may have RWF_DONTCACHE.
pub(crate) fn takes_dontcache(host: &Host, mount: &Mount) -> bool {
    let since = match mount.file_system {
        FileSystem::Ext4 | FileSystem::Ext3 => Some((6, 17)),
        FileSystem::Xfs | FileSystem::Btrfs => Some((6, 14)),
        FileSystem::F2fs | FileSystem::Tmpfs | FileSystem::Other => None,
    };
    let is_local = matches!(mount.source, MountSource::Disk(_));
    since.is_some_and(|since| is_local && host.kernel.version >= since)
}
