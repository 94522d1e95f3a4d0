//! Names the cells of the benchmark's matrix.

use std::num::NonZero;

use crate::io::Direction;

/// Through the page cache or past it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Through it.
    Buffered,
    /// O_DIRECT.
    Direct,
}

impl Mode {
    /// The names, in the order of `ALL`.
    pub const NAMES: [&'static str; 2] = ["buffered", "direct"];
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Buffered, Self::Direct];
}

/// An access, and the state of the page cache before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Writing files that were not there; of a device, what is not cached.
    WriteNew,
    /// Writing over what is cached and clean.
    Overwrite,
    /// Reading what is not cached.
    ReadCold,
    /// Reading what is cached.
    ReadWarm,
}

impl Access {
    /// The names, in the order of `ALL`.
    pub const NAMES: [&'static str; 4] = ["write-new", "overwrite", "read-cold", "read-warm"];
    /// All of them.
    pub const ALL: [Self; 4] = [Self::WriteNew, Self::Overwrite, Self::ReadCold, Self::ReadWarm];

    /// The direction of the bytes.
    #[must_use]
    pub fn direction(self) -> Direction {
        match self {
            Self::WriteNew | Self::Overwrite => Direction::Write,
            Self::ReadCold | Self::ReadWarm => Direction::Read,
        }
    }
}

/// One field of the matrix.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Through the cache or past it.
    pub mode: Mode,
    /// The access.
    pub access: Access,
    /// On the device that was given, and not in files.
    pub on_device: bool,
    /// The bytes of a call.
    pub call: NonZero<u64>,
    /// The number of threads.
    pub threads: NonZero<usize>,
}

impl Cell {
    /// The name of its threads: who profiles can tell by it what was done.
    pub(super) fn thread(&self) -> &'static str {
        match self.mode {
            Mode::Buffered => Access::NAMES[self.access as usize],
            Mode::Direct => Mode::NAMES[1],
        }
    }
}
