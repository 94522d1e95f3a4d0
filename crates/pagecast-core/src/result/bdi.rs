//! Holds the estimates of each device over time, under the names of the kernel's traced event `bdi_dirty_ratelimit`.

use super::timeline::{Keep, Levels, Sample, keep_both_ends, keep_lowest};
use crate::units::{Bytes, Nanos};

/// The estimates of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BdiLevels {
    /// The write bandwidth per second, as measured last.
    pub write_bandwidth: Bytes,
    /// The smoothed write bandwidth, which the law uses.
    pub avg_write_bandwidth: Bytes,
    /// The base rate of one task, in bytes per second.
    pub dirty_ratelimit: Bytes,
    /// The balanced base rate of the last update.
    pub balanced_dirty_ratelimit: Bytes,
    /// The rate of a task: base rate times position ratio. Nothing while nobody is throttled.
    pub task_ratelimit: Option<Bytes>,
    /// Pages for the device that are dirty or under writeback.
    pub dirty: Bytes,
    /// Pages of these under writeback.
    pub writeback: Bytes,
}

impl Levels for BdiLevels {
    fn extremes(stretch: &[Sample<Self>], keep: &mut Keep) {
        keep_both_ends(stretch, |levels| levels.dirty.0, keep);
        keep_both_ends(stretch, |levels| levels.avg_write_bandwidth.0, keep);
        keep_both_ends(stretch, |levels| levels.dirty_ratelimit.0, keep);
        keep_lowest(stretch, |levels| levels.task_ratelimit, keep);
    }
}

/// Columns of the devices. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct BdiTable {
    /// The time of the row.
    pub time: Vec<Nanos>,
    /// Index into `hosts`.
    pub host: Vec<u32>,
    /// Index into `paths`: the disk, or the mount of another host's.
    pub device: Vec<u32>,
    /// Index into `paths`: the memory cgroup that writes to it, or `u32::MAX` for none.
    pub cgroup: Vec<u32>,
    /// The estimates.
    pub levels: Vec<BdiLevels>,
}
