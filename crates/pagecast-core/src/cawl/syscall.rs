//! Computes Algorithm 1, `Syscall_IO_Cost`: buffered writes by system calls of one process to one device.

use std::ops::Range;

use super::blocks::Blocks;
use super::parameters::{ParameterError, check_costs, check_rates, check_size, require};

/// The rate of a writer above the set point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Throttling {
    /// The lower one of `bw_reduced` and the average rate times the position ratio: the paper.
    #[default]
    Minimum,
    /// Both rates in a row: so the released program computes, and so the published columns were made.
    Harmonic,
}

impl Throttling {
    /// The words of a scenario, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["minimum", "harmonic"];
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Minimum, Self::Harmonic];
}

/// The parameters of the page cache and the device below it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageCache {
    /// Rate of writing into the page cache while nothing is written back.
    pub bw_ramdisk: f64,
    /// Rate of writing into the page cache while dirty blocks are written back.
    pub bw_reduced: f64,
    /// Rate at which the device writes.
    pub bw_dev: f64,
    /// Rate at which dirty blocks are written back, if it is not `bw_dev`: the released program has one.
    pub bw_sync: Option<f64>,
    /// Cost of a system call that writes.
    pub sc_w: f64,
    /// The dirty bytes at which write-back starts (`nr_dirty_background_threshold`).
    pub limit_bg: u64,
    /// The most dirty bytes (`nr_dirty_threshold`).
    pub limit_hard: u64,
    /// The age from which on blocks are written back (`vm.dirty_expire_centisecs`).
    pub dirty_expire: f64,
    /// The rate above the set point.
    pub throttling: Throttling,
}

impl PageCache {
    /// Refuses impossible values.
    ///
    /// # Errors
    /// The first parameter that is wrong.
    pub fn check(&self) -> Result<(), ParameterError> {
        let Self { bw_ramdisk, bw_reduced, bw_dev, limit_bg, limit_hard, .. } = *self;
        check_rates(&[("bw_ramdisk", bw_ramdisk), ("bw_reduced", bw_reduced), ("bw_dev", bw_dev)])?;
        check_rates(&[("bw_sync", self.writing_back())])?;
        let most = format!("must be at most bw_ramdisk={bw_ramdisk}");
        require(bw_reduced <= bw_ramdisk, "bw_reduced", bw_reduced, most)?;
        check_costs(&[("sc_w", self.sc_w), ("dirty_expire", self.dirty_expire)])?;
        check_size("limit_bg", limit_bg)?;
        require(
            limit_bg < limit_hard,
            "limit_bg",
            limit_bg,
            format!("must be less than limit_hard={limit_hard}"),
        )
    }

    /// The dirty bytes from which on a writer is throttled.
    #[must_use]
    pub fn setpoint(&self) -> u64 {
        u64::midpoint(self.limit_bg, self.limit_hard)
    }

    /// 1 at the set point, 0 at the hard limit, by a cubic law.
    fn pos_ratio(&self, dirty: u64) -> f64 {
        let setpoint = self.setpoint() as f64;
        let distance = (setpoint - dirty as f64) / (self.limit_hard as f64 - setpoint);
        1.0 + distance.powi(3)
    }

    fn writing_back(&self) -> f64 {
        self.bw_sync.unwrap_or(self.bw_dev)
    }

    fn throttled(&self, bw_avg: f64, dirty: u64) -> f64 {
        let rate = bw_avg * self.pos_ratio(dirty);
        match self.throttling {
            Throttling::Minimum => rate.min(self.bw_reduced),
            Throttling::Harmonic => {
                let lost = 1.0 - self.bw_reduced / self.bw_ramdisk;
                rate * self.bw_reduced / (self.bw_reduced + rate * lost)
            }
        }
    }
}

/// The cost of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Written {
    /// In all.
    pub seconds: f64,
    /// The part of them that it would not have cost below the set point.
    pub throttled: f64,
}

/// The state of Algorithm 1: dirty blocks, and the sum of all writes so far.
#[derive(Clone, Debug)]
pub struct SyscallCost {
    cache: PageCache,
    blocks: Blocks,
    /// The clock: pauses and writes.
    time: f64,
    /// The time and the bytes of all writes: `bw_avg` is their quotient.
    io_time: f64,
    bytes: f64,
    /// The part of a byte that the device has written beyond those that count.
    part_written: f64,
    cleaned: u64,
}

impl SyscallCost {
    /// With nothing dirty, at time 0.
    ///
    /// # Errors
    /// A parameter that is wrong.
    pub fn new(cache: PageCache) -> Result<Self, ParameterError> {
        cache.check()?;
        Ok(Self {
            cache,
            blocks: Blocks::default(),
            time: 0.0,
            io_time: 0.0,
            bytes: 0.0,
            part_written: 0.0,
            cleaned: 0,
        })
    }

    /// Writes bytes of a file from `offset` on, `pause` seconds after the write before.
    pub fn write(&mut self, file: u32, offset: u64, bytes: u64, pause: f64) -> Written {
        self.pause(pause);
        let written = self.cost(file, offset, bytes);
        let range = offset..offset.saturating_add(bytes);
        if !range.is_empty() {
            self.blocks.write(file, range, self.time + written.seconds);
        }
        self.time += written.seconds;
        self.io_time += written.seconds;
        self.bytes += bytes as f64;
        self.background_flush(written.seconds);
        written
    }

    /// Lets time pass without a write.
    pub fn pause(&mut self, seconds: f64) {
        if seconds > 0.0 {
            self.time += seconds;
            self.background_flush(seconds);
        }
    }

    /// Makes bytes of a file clean: they are gone, or written in another way. Not in the paper.
    pub fn discard(&mut self, file: u32, range: &Range<u64>) {
        self.blocks.discard(file, range);
    }

    /// Dirty bytes.
    #[must_use]
    pub fn dirty(&self) -> u64 {
        self.blocks.bytes()
    }

    /// The dirty bytes that were written again while they were dirty, and are kept back from the device.
    #[must_use]
    pub fn active(&self) -> u64 {
        self.blocks.active_bytes()
    }

    /// The dirty bytes of a file, and the active ones of them.
    #[must_use]
    pub fn of_file(&self, file: u32) -> (u64, u64) {
        self.blocks.of_file(file)
    }

    /// The bytes that the device has written back.
    #[must_use]
    pub fn cleaned(&self) -> u64 {
        self.cleaned
    }

    /// Seconds since the beginning: all pauses and writes.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The parameters.
    #[must_use]
    pub fn cache(&self) -> &PageCache {
        &self.cache
    }

    fn cost(&self, file: u32, offset: u64, bytes: u64) -> Written {
        let PageCache { bw_ramdisk, bw_reduced, sc_w, .. } = self.cache;
        let (size, dirty, setpoint) = (bytes as f64, self.dirty(), self.cache.setpoint());
        let free = size / if self.is_flushing() { bw_reduced } else { bw_ramdisk };
        let mut seconds = free;
        if dirty >= setpoint {
            seconds = size / self.cache.throttled(self.bw_avg(), dirty);
        }
        // Only a write that may be too much needs to know what of it is dirty already.
        if dirty >= setpoint || dirty.saturating_add(bytes) > self.cache.limit_hard {
            let again = self.blocks.covered(file, &(offset..offset.saturating_add(bytes)));
            seconds = self.within_limits(seconds, free, dirty + (bytes - again));
        }
        Written { seconds: seconds + sc_w, throttled: (seconds - free).max(0.0) }
    }

    /// Limits the seconds of a write. Not in the paper, whose rate is zero at the hard limit and below zero above it. A write takes at
    /// least until the dirty bytes are back at the hard limit, and at most until they are back at the set point.
    fn within_limits(&self, seconds: f64, free: f64, dirty: u64) -> f64 {
        let until = |level: u64| dirty.saturating_sub(level) as f64 / self.cache.writing_back();
        // A byte more, so that no rounding leaves one above the limit.
        let least = if dirty > self.cache.limit_hard { until(self.cache.limit_hard - 1) } else { 0.0 };
        let most = until(self.cache.setpoint()).max(free);
        // A rate of nothing or less gives no number, or a negative one.
        let seconds = if seconds > 0.0 { seconds.min(most) } else { most };
        seconds.max(least)
    }

    /// Average rate of all writes so far, without pauses.
    fn bw_avg(&self) -> f64 {
        if self.io_time > 0.0 { self.bytes / self.io_time } else { self.cache.bw_ramdisk }
    }

    /// True if dirty blocks are written back: there are many of them, or old ones.
    fn is_flushing(&self) -> bool {
        let is_expired = |finished| finished < self.time - self.cache.dirty_expire;
        self.dirty() >= self.cache.limit_bg || self.blocks.oldest().is_some_and(is_expired)
    }

    /// `background_flush`: writes for so many seconds, block by block.
    fn background_flush(&mut self, interval: f64) {
        let mut bytes = interval * self.cache.writing_back() + self.part_written;
        self.part_written = 0.0;
        while self.is_flushing() {
            self.blocks.balance();
            let cleaned = self.blocks.clean(bytes).expect("no more than half of the bytes are active");
            self.cleaned += cleaned.bytes;
            bytes -= cleaned.bytes as f64;
            if !cleaned.is_whole {
                self.part_written = bytes;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
