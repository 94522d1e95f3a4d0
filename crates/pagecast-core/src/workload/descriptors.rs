//! Names descriptors, open file descriptions and the modes of fallocate(2).

/// A descriptor: a number of the table of its process, or of the table that several processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fd(pub u32);

/// An open file description (open(2)), which duplicated descriptors share, where a program is followed without its files.
#[derive(Clone, Copy, Debug)]
pub struct OpenDescription {
    /// The number of the file.
    pub inode: u32,
    /// Where the next read or write begins.
    pub position: u64,
    /// O_APPEND.
    pub appends: bool,
    /// How many descriptors it has.
    pub descriptors: u32,
}

/// The mode of fallocate(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllocateMode {
    /// 0: room is taken, and the file grows if the range ends beyond it.
    #[default]
    Extend,
    /// FALLOC_FL_KEEP_SIZE: room is taken, the size stays.
    KeepSize,
    /// FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE: the range becomes a hole, its pages leave the cache.
    PunchHole,
    /// FALLOC_FL_ZERO_RANGE: the range is zeros, its pages leave the cache.
    ZeroRange,
}

impl AllocateMode {
    /// The words of a scenario, in the order of `ALL`.
    pub const NAMES: [&'static str; 4] = ["extend", "keep_size", "punch_hole", "zero_range"];
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Extend, Self::KeepSize, Self::PunchHole, Self::ZeroRange];
}
