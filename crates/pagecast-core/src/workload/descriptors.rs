//! Names descriptors and the modes of fallocate(2).

/// A descriptor: a number of the table of its process, or of the table that several processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fd(pub u32);

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
