//! Holds the estimates of each device over time, under the names of the kernel's traced event `bdi_dirty_ratelimit`.

use super::timeline::{Levels, Sample, keep_both_ends, keep_lowest};
use crate::units::{Bytes, Nanos};

/// What the kernel knows of writing to a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceLevels {
    /// What the device wrote in a second, as measured last.
    pub write_bandwidth: Bytes,
    /// The same, averaged, which the law reckons with.
    pub avg_write_bandwidth: Bytes,
    /// The base rate of one task, in bytes per second.
    pub dirty_ratelimit: Bytes,
    /// The base rate that the last update took for balanced.
    pub balanced_dirty_ratelimit: Bytes,
    /// What a task may make dirty in a second: base rate times position ratio. Nothing where nobody is held back.
    pub task_ratelimit: Option<Bytes>,
    /// Pages for the device that are dirty or under writeback.
    pub dirty: Bytes,
    /// Of these, pages on their way.
    pub writeback: Bytes,
}

impl Levels for DeviceLevels {
    fn extremes(stretch: &[Sample<Self>], keep: &mut Vec<usize>) {
        keep_both_ends(stretch, |levels| levels.dirty.0, keep);
        keep_both_ends(stretch, |levels| levels.avg_write_bandwidth.0, keep);
        keep_both_ends(stretch, |levels| levels.dirty_ratelimit.0, keep);
        keep_lowest(stretch, |levels| levels.task_ratelimit, keep);
    }
}

/// Columns of the devices. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct DeviceTable {
    /// When.
    pub time: Vec<Nanos>,
    /// Index into `hosts`.
    pub host: Vec<u32>,
    /// Index into `paths`: the disk, or the mount of another host's.
    pub device: Vec<u32>,
    /// Index into `paths`: the memory cgroup that writes to it, or `u32::MAX` for none.
    pub cgroup: Vec<u32>,
    /// What the kernel knows.
    pub levels: Vec<DeviceLevels>,
}
