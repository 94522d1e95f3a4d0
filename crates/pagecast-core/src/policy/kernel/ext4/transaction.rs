//! Keeps what has changed since the last commit: the running transaction.
//!
//! Source: `fs/jbd2/transaction.c`, `fs/ext4/inode.c`, Linux 6.16. Blocks are counted by their kinds, as the log has them: inodes share blocks,
//! an allocation changes a bitmap and a group descriptor, and what maps the blocks of its file (`block_maps`), a name a directory and the bitmap
//! of inodes. Left out: which groups these are of, handles.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::policy::kernel::ext4::block_maps::MapBlock;
use crate::policy::kernel::ext4::rules::Requests;
use crate::policy::kernel::page::PAGE;
use crate::policy::ranges::Ranges;
use crate::policy::{FileId, FileView};
use crate::units::Nanos;

/// Inodes of 256 bytes in a block of 4 KiB.
const INODES_PER_BLOCK: u32 = 16;

/// The bitmap and the descriptor of a group.
const ALLOCATION_BLOCKS: u64 = 2;

/// The directory, the bitmap of inodes, and its descriptor.
const NAME_BLOCKS: u64 = 3;

/// The blocks that one descriptor block of the log names: `journal_tag3_t` of 16 bytes, behind a header.
const TAGS: u64 = 254;

/// What a commit will write.
#[derive(Debug, Default)]
pub struct Transaction {
    /// The time of its first change; nothing if there is none.
    pub since: Option<Nanos>,
    /// Any file that it changes.
    pub file: Option<FileView>,
    inode_blocks: FxHashSet<u32>,
    allocates: bool,
    /// Blocks outside of inodes that map the blocks of files.
    map_blocks: FxHashSet<MapBlock>,
    /// The changes of names.
    pub names: u64,
    /// Files whose data is written before the commit, in ordered mode without delayed allocation, and from which byte on: where they have got
    /// blocks, or all.
    pub ordered: FxHashMap<FileId, (FileView, u64)>,
    /// Data in the log.
    pub data: FxHashMap<FileId, Ranges>,
    data_bytes: u64,
    /// True if somebody who waits for it relies on a flush of the disk of its files.
    pub promises_data_flush: bool,
}

impl Transaction {
    /// Adds a change of the inode of a file.
    pub fn change(&mut self, now: Nanos, file: &FileView) {
        self.since.get_or_insert(now);
        self.file = Some(*file);
        self.inode_blocks.insert(file.inode / INODES_PER_BLOCK);
    }

    /// Adds an allocation of blocks of a file from a byte on, and the blocks that map them.
    pub fn allocate(&mut self, now: Nanos, file: &FileView, from: u64, maps: impl Iterator<Item = MapBlock>) {
        self.order(now, file, from);
        self.allocates = true;
        self.map_blocks.extend(maps);
    }

    /// Adds data of a file from a byte on that is to be written before the commit.
    pub fn order(&mut self, now: Nanos, file: &FileView, from: u64) {
        self.change(now, file);
        let (_, first) = self.ordered.entry(file.id).or_insert((*file, from));
        *first = from.min(*first);
    }

    /// Adds a name that was made, changed or removed.
    pub fn name(&mut self, now: Nanos, file: &FileView) {
        self.change(now, file);
        self.names += 1;
    }

    /// Adds data that is written into the log. Bytes that are in it already cost no more.
    pub fn journal(&mut self, now: Nanos, file: &FileView, (start, end): (u64, u64)) {
        self.change(now, file);
        self.data_bytes += self.data.entry(file.id).or_default().insert(start, end);
    }

    /// Forgets data of a file behind a byte: nobody wants it in the log (`jbd2_journal_forget`, `jbd2_journal_invalidate_folio`).
    pub fn forget(&mut self, file: FileId, from: u64) {
        if let Some(data) = self.data.get_mut(&file) {
            self.data_bytes -= data.remove(from, u64::MAX);
            if data.total() == 0 {
                self.data.remove(&file);
            }
        }
    }

    /// True if its commit flushes the disk of its files where the log is on another one (`t_need_data_flush`).
    pub fn needs_data_flush(&self, requests: &Requests) -> bool {
        self.promises_data_flush || (requests.writes_data_first() && !self.ordered.is_empty())
    }

    /// True if nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.since.is_none()
    }

    /// The blocks of it that go into the log.
    pub fn blocks(&self) -> u64 {
        let metadata = self.inode_blocks.len() as u64
            + if self.allocates { ALLOCATION_BLOCKS } else { 0 }
            + self.map_blocks.len() as u64
            + if self.names > 0 { NAME_BLOCKS } else { 0 };
        metadata + self.data_bytes.div_ceil(PAGE)
    }

    /// The blocks that its commit writes before the commit block: those, and the descriptors that name them.
    pub fn logged(&self) -> u64 {
        self.blocks() + self.blocks().div_ceil(TAGS)
    }
}
