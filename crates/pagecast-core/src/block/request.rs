//! Describes a request to a disk.

use crate::units::Bytes;
use crate::workload::IoPriority;

/// The number of a call, whose parts all carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Whether bytes come or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// They come.
    Read,
    /// They go.
    Write,
}

/// A request, or a call before it is cut into such.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// The call.
    pub id: RequestId,
    /// The thread that submits it.
    pub thread: u32,
    /// Its direction.
    pub direction: Direction,
    /// Its first byte on the disk.
    pub position: u64,
    /// Its length.
    pub bytes: Bytes,
    /// Its priority.
    pub priority: IoPriority,
    /// True if somebody waits for it (REQ_SYNC): reads, direct writes, and write-back for `fsync`.
    pub is_sync: bool,
    /// True if its thread takes time of a processor for it: direct I/O. That of other requests is part of the cost of their pages.
    pub is_direct: bool,
    /// The cgroup that it is charged to, by its number from 1 on; 0 for the root.
    pub cgroup: u16,
    /// The number of this part of the call; 0 before it is submitted.
    pub part: u64,
}

impl Request {
    /// Bytes of a sector.
    pub(super) const SECTOR: u64 = 512;

    /// Its length in sectors.
    pub(super) fn sectors(&self) -> u64 {
        self.bytes.0.div_ceil(Self::SECTOR)
    }

    /// The byte behind it.
    pub(super) fn end(&self) -> u64 {
        self.position + self.bytes.0
    }

    /// True if the other one begins where this one ends, and both together are no longer than `most`.
    pub(super) fn takes(&self, other: &Self, most: Bytes) -> bool {
        self.direction == other.direction
            && self.end() == other.position
            && self.priority.class == other.priority.class
            && self.is_sync == other.is_sync
            && self.bytes + other.bytes <= most
    }
}
