//! Holds what a power cut would lose of each disk over time.

use super::timeline::{Keep, Levels, Sample, keep_both_ends};
use crate::units::{Bytes, Nanos};

/// Bytes, files and names that a power cut would lose of a disk. Each byte counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtRisk {
    /// In memory alone: dirty or under writeback, and in no committed transaction.
    pub memory: Bytes,
    /// In the volatile cache of the disk.
    pub disk_cache: Bytes,
    /// On the disk, in blocks that no committed transaction gives to their file.
    pub uncommitted: Bytes,
    /// The files with such bytes.
    pub files: u64,
    /// Changes of names that are in no committed transaction.
    pub names: u64,
}

impl AtRisk {
    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.memory + self.disk_cache + self.uncommitted
    }
}

impl Levels for AtRisk {
    fn extremes(stretch: &[Sample<Self>], keep: &mut Keep) {
        keep_both_ends(stretch, |levels| levels.bytes().0, keep);
        keep_both_ends(stretch, |levels| levels.files, keep);
        keep_both_ends(stretch, |levels| levels.names, keep);
    }
}

/// Columns of what is at risk. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct AtRiskTable {
    /// The time of the row.
    pub time: Vec<Nanos>,
    /// Index into `hosts`.
    pub host: Vec<u32>,
    /// Index into `paths`: the disk.
    pub device: Vec<u32>,
    /// What would be lost.
    pub levels: Vec<AtRisk>,
}
