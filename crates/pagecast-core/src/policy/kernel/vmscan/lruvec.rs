//! Names the lists of one node and memory cgroup, and counts refaults.
//!
//! Source: `include/linux/mmzone.h: struct lruvec`, Linux 6.16.

use crate::policy::FileId;

/// The list that is reclaimed, of the two lists.
pub const INACTIVE: u8 = 0;

/// The active list, of the two lists.
pub const ACTIVE: u8 = 1;

/// The lists of a node and memory cgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LruvecId(pub u16);

/// The bytes read that had been in memory before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inserted {
    /// Bytes that had been evicted: `workingset_refault_file`.
    pub refaulted: u64,
    /// The refaulted bytes that became active at once: `workingset_activate_file`.
    pub activated: u64,
    /// The refaulted bytes that had been active before: `workingset_restore_file`.
    pub restored: u64,
}

impl Inserted {
    pub fn add(&mut self, other: Inserted) {
        self.refaulted += other.refaulted;
        self.activated += other.activated;
        self.restored += other.restored;
    }
}

/// A run of bytes in a list or generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The file,
    pub file: FileId,
    /// the first byte,
    pub start: u64,
    /// and the end.
    pub end: u64,
    /// Read once since it came into this list.
    pub referenced: bool,
}
