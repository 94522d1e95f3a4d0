//! What the kernel knows of writing to one device: `bdi_writeback`. Its flusher, its bandwidth, the rate of those who write to it.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages, __wb_update_bandwidth`, Linux 6.16. The pauses of a writer, some 10 ms each, are a
//! rate here: that of its task, base rate times position ratio. It changes when the kernel's own would, every 200 ms, and in between
//! when the dirty level has moved.

use super::PAGE;
use super::dirty::OfWb;
use super::flusher::Flusher;
use super::law::{BANDWIDTH_INTERVAL, Bandwidth, BaseRate, Hz, Position, RateSample};
use super::tasks::Transfer;
use crate::flow::Path;
use crate::units::Nanos;

/// Of the clock by which bandwidths are averaged: over 4.096 s, as with HZ 250.
const HZ: Hz = Hz(1000);

/// A second without an update is idle time.
const REST: Nanos = Nanos(1_000_000_000);

/// Which: by memory cgroup, the root's first, and then by device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WbId(pub u32);

/// See the module.
pub(super) struct Wb {
    pub flusher: Flusher,
    /// What write-back crosses.
    pub path: Path,
    /// The first of what waits for the device, on its way.
    pub transfer: Option<Transfer>,
    pub base_rate: BaseRate,
    pub bandwidth: Bandwidth,
    /// The last update of both, and the device's counters then.
    stamp: Nanos,
    dirtied_stamp: u64,
    written_stamp: u64,
    /// Bytes per second of each task that writes to it; nothing in free run.
    pub task_rate: Option<f64>,
    /// Whether there are such tasks beyond free run.
    pub is_throttling: bool,
    /// The dirty pages of all memory and of its memory cgroup for which the rate was set.
    pub rated_at: (u64, u64),
}

/// What an update of the base rate depends on.
pub(super) struct Level {
    /// In 1024ths.
    pub position_ratio: u64,
    /// Dirty pages and what they are compared with.
    pub dirty: u64,
    pub setpoint: u64,
}

impl Level {
    /// That of a position.
    pub(super) fn of(position: &Position) -> Self {
        let (dirty, setpoint) = position.balance();
        Self { position_ratio: position.ratio(), dirty, setpoint }
    }
}

impl Wb {
    pub(super) fn new(path: Path, flusher: Flusher, base_rate: BaseRate, bandwidth: Bandwidth) -> Self {
        Self {
            flusher,
            path,
            transfer: None,
            base_rate,
            bandwidth,
            stamp: Nanos::ZERO,
            dirtied_stamp: 0,
            written_stamp: 0,
            task_rate: None,
            is_throttling: false,
            rated_at: (0, 0),
        }
    }

    /// When the estimates may be brought up to date again.
    pub(super) fn next_update(&self) -> Nanos {
        self.stamp + BANDWIDTH_INTERVAL
    }

    /// Whether the last update is so long ago that nothing can be said of the time since (`WB_BANDWIDTH_IDLE_JIF`).
    pub(super) fn has_rested(&self, now: Nanos) -> bool {
        self.stamp + REST < now
    }

    /// Nothing was written for a while: idle time is no measure of the device.
    pub(super) fn begin_anew(&mut self, now: Nanos, counts: OfWb) {
        (self.stamp, self.dirtied_stamp, self.written_stamp) = (now, counts.dirtied, counts.written);
    }

    /// `__wb_update_bandwidth`: every 200 ms, by a throttled task (which also moves the base rate, once for each domain that it is in)
    /// or by the flusher.
    pub(super) fn update(&mut self, now: Nanos, counts: OfWb, levels: [Option<Level>; 2]) {
        let elapsed = now - self.stamp;
        if elapsed < BANDWIDTH_INTERVAL {
            return;
        }
        // Fewer than before if two tasks wrote the same pages, which were counted ahead for both.
        let dirtied = counts.dirtied.saturating_sub(self.dirtied_stamp) / PAGE;
        for level in levels.into_iter().flatten() {
            self.base_rate.update(&RateSample {
                ratio: level.position_ratio,
                average_bandwidth: self.bandwidth.average,
                dirty_rate: (dirtied as f64 / elapsed.as_seconds()) as u64,
                dirty: level.dirty,
                setpoint: level.setpoint,
            });
        }
        let written = (counts.written - self.written_stamp) / PAGE;
        self.bandwidth.update(HZ, HZ.jiffies(elapsed), written);
        self.begin_anew(now, counts);
    }
}
