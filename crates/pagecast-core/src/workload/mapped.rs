//! Describes operations on a file that is mapped (mmap(2)).

use crate::units::Bytes;

/// An operation on a file that is not mapped maps the bytes that it reads or writes, and unmaps them at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappedCall {
    /// mmap(2) of a whole file: it stays mapped. Takes no time by itself.
    Map,
    /// munmap(2). Takes no time by itself.
    Unmap,
    /// Bytes of a mapping are read, one after the other.
    Read {
        /// First byte.
        offset: u64,
        /// The number of bytes; `None` is up to the end of the file.
        bytes: Option<Bytes>,
        /// The advice for the mapping.
        advice: MapAdvice,
    },
    /// Bytes of a shared mapping are written, one after the other. The file stays as long as it is.
    Write {
        /// First byte.
        offset: u64,
        /// The number of bytes; `None` is up to the end of the file.
        bytes: Option<Bytes>,
        /// The advice for the mapping.
        advice: MapAdvice,
    },
    /// msync(2) of a shared mapping.
    Sync {
        /// First byte.
        offset: u64,
        /// The number of bytes; `None` is up to the end of the file.
        bytes: Option<Bytes>,
        /// MS_ASYNC, with which nothing happens (Linux 2.6.19 and later); otherwise MS_SYNC.
        is_async: bool,
    },
}

impl MappedCall {
    /// The operation's name in every table and scenario.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Map => "mmap",
            Self::Unmap => "munmap",
            Self::Read { .. } => "mmap_read",
            Self::Write { .. } => "mmap_write",
            Self::Sync { .. } => "msync",
        }
    }

    /// The advice for the mapping, if it is touched.
    #[must_use]
    pub fn advice(&self) -> Option<MapAdvice> {
        match *self {
            Self::Read { advice, .. } | Self::Write { advice, .. } => Some(advice),
            _ => None,
        }
    }

    /// First byte, and how many; `None` is up to the end of the file.
    #[must_use]
    pub fn part(&self) -> (u64, Option<Bytes>) {
        match *self {
            Self::Map | Self::Unmap => (0, None),
            Self::Read { offset, bytes, .. }
            | Self::Write { offset, bytes, .. }
            | Self::Sync { offset, bytes, .. } => (offset, bytes),
        }
    }
}

/// The advice of madvise(2) on a mapping before it is touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapAdvice {
    /// MADV_NORMAL: pages around one that is missed are read with it.
    #[default]
    Normal,
    /// MADV_SEQUENTIAL: pages behind one that is missed are read with it.
    Sequential,
    /// MADV_RANDOM: each page is read when it is missed, and no other with it.
    Random,
}

impl MapAdvice {
    /// The words of a scenario, in the order of `ALL`.
    pub const NAMES: [&'static str; 3] = ["normal", "sequential", "random"];
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Normal, Self::Sequential, Self::Random];
}
