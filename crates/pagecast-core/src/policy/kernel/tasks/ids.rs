//! Numbers memory cgroups and `bdi_writeback`s.

/// A `bdi_writeback`: by memory cgroup, the root's first, and then by device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WbId(pub u32);

/// The memory cgroup that pages are charged to: the root, or a cgroup of the host, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemcgId(pub u16);

impl MemcgId {
    /// The root: no cgroup, no limit.
    pub const ROOT: Self = Self(0);

    /// The number of a cgroup in the order of the host.
    pub fn of(index: usize) -> Self {
        Self(index as u16 + 1)
    }

    /// The index of the cgroup on its host; nothing for the root.
    pub fn index(self) -> Option<usize> {
        usize::from(self.0).checked_sub(1)
    }
}

/// A task that takes pages: the node of its thread, and the cgroup that is charged.
#[derive(Clone, Copy, Debug)]
pub struct Taker {
    pub home: usize,
    pub memcg: MemcgId,
}
