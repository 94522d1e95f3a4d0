//! The lists of one node and memory cgroup, and what is told of pages that come into them.

use crate::policy::FileId;

/// With two lists, the number of the one that is reclaimed.
pub const INACTIVE: u8 = 0;

/// And of the other.
pub const ACTIVE: u8 = 1;

/// The lists of a node and memory control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LruvecId(pub u16);

/// How many of the bytes read had been in memory before, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inserted {
    /// Evicted before: `workingset_refault_file`.
    pub refaulted: u64,
    /// Of these, active at once: `workingset_activate_file`.
    pub activated: u64,
    /// Of these, active before they were evicted: `workingset_restore_file`.
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
    /// Whose.
    pub file: FileId,
    /// First byte.
    pub start: u64,
    /// Behind the last.
    pub end: u64,
    /// Read once since it came into this list.
    pub referenced: bool,
}
