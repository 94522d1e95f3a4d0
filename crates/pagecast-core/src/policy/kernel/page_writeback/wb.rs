//! Estimates how fast a device writes, and which rate its writers get: `struct bdi_writeback`.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages, __wb_update_bandwidth`, Linux 6.16. The pauses of a writer, some 10 ms each, are a
//! rate here: base rate times position ratio. It changes when the kernel's own would, every 200 ms, and in between when the dirty level has
//! moved. The flusher of a `bdi_writeback` is in `fs_writeback`.

use crate::flow::Path;
use crate::policy::kernel::address_space::dirty::OfWb;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_writeback::law::{
    BANDWIDTH_INTERVAL, Bandwidth, BaseRate, Position, RateSample,
};
use crate::policy::kernel::page_writeback::shares::Strict;
use crate::policy::kernel::page_writeback::task_rate::TaskRate;
use crate::policy::kernel::tick::Hz;
use crate::units::Nanos;

/// The least ticks per second of a wb's clock: with fewer, rates over 200 ms would be rounded too much.
const LEAST_HZ: u64 = 1000;

/// A second without an update is idle time.
const REST: Nanos = Nanos(1_000_000_000);

/// The state at a wb's last sample: its last update, and the rate of its tasks.
pub type Sampled = Option<(Nanos, Option<f64>)>;

/// The estimates of a wb; see the module.
pub struct Wb {
    /// The path of write-back.
    pub path: Path,
    pub(super) base_rate: BaseRate,
    pub bandwidth: Bandwidth,
    /// The clock by which bandwidths are averaged.
    clock: Hz,
    /// The last update of both, and the device's counters then.
    stamp: Nanos,
    dirtied_stamp: u64,
    written_stamp: u64,
    /// The time at which the bandwidth is measured because the writeback of an inode has ended (`bw_dwork`).
    pub measure_at: Option<Nanos>,
    /// The rate of each task that writes to it; nothing in free run.
    pub task_rate: Option<TaskRate>,
    /// True if tasks write to it beyond free run.
    pub is_throttling: bool,
    /// True if its dirty pages are over its part of the limit, and all are over the limit.
    pub dirty_exceeded: bool,
    /// The dirty pages of all memory, of its memory cgroup and of a strict device for which the rate was set.
    pub(super) rated_at: (u64, u64, u64),
    /// True if its flusher writes because of the background threshold.
    pub in_background: bool,
    pub(super) sampled: Sampled,
    /// The limits of its own that a strict device has.
    pub strict: Option<Strict>,
    /// The rate of each task, whatever its credit: in the free run of a strict device, so that its dirty pages do not pass the end unseen, and
    /// before Linux 3.2, which knows no credit.
    pub(super) plain_rate: Option<f64>,
}

/// The input of an update of the base rate.
pub struct Level {
    /// In 1024ths.
    pub position_ratio: u64,
    /// The dirty pages and their setpoint.
    pub dirty: u64,
    pub setpoint: u64,
}

impl Level {
    /// Returns the level of a position.
    pub fn of(position: &Position) -> Self {
        let (dirty, setpoint) = position.balance();
        Self { position_ratio: position.ratio(), dirty, setpoint }
    }
}

impl Wb {
    /// The estimates of a device that nobody has written to, on a kernel of so many ticks per second.
    pub fn new(path: Path, base_rate: BaseRate, bandwidth: Bandwidth, hz: u32) -> Self {
        Self {
            path,
            base_rate,
            bandwidth,
            clock: clock(hz),
            stamp: Nanos::ZERO,
            dirtied_stamp: 0,
            written_stamp: 0,
            measure_at: None,
            task_rate: None,
            is_throttling: false,
            dirty_exceeded: false,
            rated_at: (0, 0, 0),
            strict: None,
            plain_rate: None,
            in_background: false,
            sampled: None,
        }
    }

    /// The reported rate of its tasks, in bytes per second, while they are throttled.
    pub fn told_rate(&self) -> Option<f64> {
        let rate = self.task_rate.map_or(self.foreground_rate(), |rate| Some(rate.usual()));
        rate.filter(|_| self.is_throttling)
    }

    /// The rate of each task over the limit of a kernel before 3.2.
    fn foreground_rate(&self) -> Option<f64> {
        self.plain_rate.filter(|_| self.strict.is_none())
    }

    /// The last update of the estimates.
    pub fn stamp(&self) -> Nanos {
        self.stamp
    }

    /// The next time at which the estimates may be updated.
    pub fn next_update(&self) -> Nanos {
        self.stamp + BANDWIDTH_INTERVAL
    }

    /// `wb_inode_writeback_end`: the last page of an inode has been written. The bandwidth is measured later, with other inodes that
    /// end soon.
    pub fn inode_ended(&mut self, now: Nanos) {
        self.measure_at.get_or_insert(now + BANDWIDTH_INTERVAL);
    }

    /// True if the last update is too long ago for an estimate of the time since (`WB_BANDWIDTH_IDLE_JIF`).
    pub fn has_rested(&self, now: Nanos) -> bool {
        self.stamp + REST < now
    }

    /// `wb_bandwidth_estimate_start`: begins a new measurement after idle time, when pages are submitted.
    pub fn begin_anew(&mut self, now: Nanos, counts: OfWb) {
        (self.stamp, self.dirtied_stamp, self.written_stamp) = (now, counts.dirtied, counts.written);
    }

    /// `__wb_update_bandwidth` by a throttled task, if the last update is long enough ago. Updates the rate, once for each domain of
    /// the task, and the bandwidth.
    pub fn update(&mut self, now: Nanos, counts: OfWb, levels: &[Option<Level>; 2]) {
        if now < self.next_update() {
            return;
        }
        // Fewer than before if two tasks wrote the same pages, which were counted ahead for both.
        let dirtied = counts.dirtied.saturating_sub(self.dirtied_stamp) / PAGE;
        for level in levels.iter().flatten() {
            self.base_rate.update(&RateSample {
                ratio: level.position_ratio,
                average_bandwidth: self.bandwidth.average,
                dirty_rate: (dirtied as f64 / (now - self.stamp).as_seconds()) as u64,
                dirty: level.dirty,
                setpoint: level.setpoint,
            });
        }
        self.measure(now, counts);
    }

    /// Updates the bandwidth alone, for other callers. The next throttled task has to wait all the same.
    pub fn measure(&mut self, now: Nanos, counts: OfWb) {
        let written = (counts.written - self.written_stamp) / PAGE;
        self.bandwidth.update(self.clock, self.clock.jiffies(now - self.stamp).max(1), written);
        self.begin_anew(now, counts);
    }
}

/// Returns a clock finer than the kernel's by a power of two, so that bandwidths are averaged over the same time.
fn clock(hz: u32) -> Hz {
    let mut finer = std::iter::successors(Some(u64::from(hz)), |hz| Some(2 * hz));
    Hz(finer.find(|&hz| hz >= LEAST_HZ).expect("it grows without end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_measurement_by_the_flusher_puts_off_the_next_step_of_the_rate() {
        let mut wb = Wb::new(Path::default(), BaseRate::default(), Bandwidth::default(), 250);
        wb.inode_ended(Nanos(0));
        wb.inode_ended(Nanos(50 * MS));
        assert_eq!(wb.measure_at, Some(Nanos(200 * MS)), "both at once");
        // 10,000 pages in 100 ms weigh 100 of 4096 ms.
        let counts = OfWb { written: 10_000 * PAGE, ..OfWb::default() };
        wb.measure(Nanos(100 * MS), counts);
        assert_eq!(wb.bandwidth.write, (10_000 * 1000 + 25_600 * (4096 - 100)) / 4096);
        assert_eq!(wb.next_update(), Nanos(300 * MS));
        let level = Level { position_ratio: 512, dirty: 2, setpoint: 1 };
        let (rate, levels) = (wb.base_rate, [Some(level), None]);
        let later = OfWb { dirtied: 10_000 * PAGE, ..counts };
        wb.update(Nanos(299 * MS), later, &levels);
        assert_eq!(wb.base_rate, rate);
        wb.update(Nanos(300 * MS), later, &levels);
        assert_ne!(wb.base_rate, rate);
    }

    /// `roundup_pow_of_two(3 * HZ)` ticks.
    #[test]
    fn bandwidths_are_averaged_over_as_long_as_the_kernels_clock_says() {
        for (hz, seconds) in [(100, 5.12), (250, 4.096), (300, 1024.0 / 300.0), (1000, 4.096)] {
            let mut wb = Wb::new(Path::default(), BaseRate::default(), Bandwidth::with(0), hz);
            wb.measure(Nanos(200 * MS), OfWb { written: 1_000_000 * PAGE, ..OfWb::default() });
            let expected = 1e6 / seconds;
            assert!((wb.bandwidth.write as f64 - expected).abs() <= 1.0, "{} at {hz} Hz", wb.bandwidth.write);
        }
    }

    #[test]
    fn after_more_than_a_second_without_an_update_estimates_begin_anew() {
        let mut wb = Wb::new(Path::default(), BaseRate::default(), Bandwidth::default(), 250);
        wb.begin_anew(Nanos(500 * MS), OfWb::default());
        assert_eq!((wb.stamp(), wb.next_update()), (Nanos(500 * MS), Nanos(700 * MS)));
        assert_eq!([1500 * MS, 1500 * MS + 1].map(|now| wb.has_rested(Nanos(now))), [false, true]);
    }
}
