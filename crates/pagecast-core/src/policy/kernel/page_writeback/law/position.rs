//! How much faster or slower than the base rate a task may write, by how many pages are dirty.
//!
//! Source: `mm/page-writeback.c: pos_ratio_polynom, wb_position_ratio`, Linux 6.16. A cubic of all dirty pages, 2 at free run,
//! 1 at the setpoint and 0 at the hard limit, times a line of the device's dirty pages. Linux 3.3 added 1 to three
//! divisors whose lowest bit is set today: the same for the even ones that its limits give.

use super::constants::{UNIT_RATIO, setpoint};
use super::thresholds::Thresholds;
use crate::policy::kernel::tick::mul_div;

/// Below so many dirty pages a device with a strict limit was let go on, before Linux 6.14.
const STRICT_START: u64 = 8;

/// What the ratio depends on, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Of all devices.
    pub thresholds: Thresholds,
    /// At least the limit of the thresholds: `HardLimit::value`.
    pub hard_limit: u64,
    /// Dirty or being written, on all devices.
    pub dirty: u64,
    /// The device's part of the thresholds.
    pub device_thresholds: Thresholds,
    /// Dirty or being written, on the device.
    pub device_dirty: u64,
    /// What the device writes, in pages per second, smoothed.
    pub device_bandwidth: u64,
    /// Whether the device's part is a limit of its own.
    pub strict_limit: bool,
    /// Before Linux 6.14 an idle device's part was raised here and not by `DeviceShare`.
    pub floor_in_ratio: bool,
}

/// `1 + ((setpoint - dirty)/(limit - setpoint))^3` between 0 and 2, in 1024ths.
fn cubic(setpoint: u64, dirty: u64, limit: u64) -> u64 {
    let unit = i128::from(UNIT_RATIO);
    let error = (i128::from(setpoint) - i128::from(dirty)) * unit / i128::from((limit - setpoint) | 1);
    // Shifts round towards minus infinity, the division above towards 0.
    let cube = (((error * error) >> 10) * error) >> 10;
    (cube + unit).clamp(0, 2 * unit) as u64
}

/// The same without rounding, 1 being 1.
fn cubic_real(setpoint: f64, dirty: f64, limit: f64) -> f64 {
    (1.0 + ((setpoint - dirty) / (limit - setpoint)).powi(3)).clamp(0.0, 2.0)
}

impl Position {
    /// The ratio in 1024ths, rounded as the kernel does.
    pub fn ratio(&self) -> u64 {
        if self.dirty >= self.hard_limit {
            return 0;
        }
        let ratio = cubic(self.setpoint(), self.dirty, self.hard_limit);
        match self.strict_limit {
            true => self.strict(ratio),
            false => self.reserve(self.device_line(ratio)),
        }
    }

    /// The dirty pages that the base rate watches, and how many there should be.
    pub fn balance(&self) -> (u64, u64) {
        match self.strict_limit {
            true if self.is_strict_start() => (self.device_dirty, self.device_dirty + 1),
            true => (self.device_dirty, self.device_thresholds.freerun()),
            false => (self.dirty, self.setpoint()),
        }
    }

    fn setpoint(&self) -> u64 {
        setpoint(self.thresholds.freerun(), self.hard_limit)
    }

    fn is_strict_start(&self) -> bool {
        self.floor_in_ratio && self.device_dirty < STRICT_START
    }

    fn strict(&self, ratio: u64) -> u64 {
        if self.is_strict_start() {
            return (2 * ratio).min(2 * UNIT_RATIO);
        }
        let (limit, setpoint) = (self.device_thresholds.limit, self.device_thresholds.freerun());
        if self.device_dirty >= limit || setpoint == 0 || setpoint == limit {
            return 0;
        }
        ratio.min(cubic(setpoint, self.device_dirty, limit))
    }

    /// The device's part as the line takes it.
    fn share(&self) -> u64 {
        let share = self.device_thresholds.limit.min(self.thresholds.limit);
        match self.floor_in_ratio {
            true => share.max((self.hard_limit - self.dirty) / 8),
            false => share,
        }
    }

    /// Times a line that is 1 at the device's setpoint and would be 0 after 8 seconds of writing more, but at least 1/4.
    fn device_line(&self, ratio: u64) -> u64 {
        let (share, whole) = (self.share(), self.thresholds.limit);
        // In 65536ths.
        let scale = (share << 16) / (whole | 1);
        let device_setpoint = mul_div(self.setpoint(), scale, 1 << 16);
        let span = mul_div((whole + 8 * self.device_bandwidth).saturating_sub(share), scale, 1 << 16);
        let zero = device_setpoint + span;
        if self.device_dirty < zero - span / 4 {
            mul_div(ratio, zero - self.device_dirty, span | 1)
        } else {
            ratio / 4
        }
    }

    /// More, up to eight times, while the device has less than half its part: it should not run dry.
    fn reserve(&self, ratio: u64) -> u64 {
        let half = self.share() / 2;
        if self.device_dirty >= half {
            ratio
        } else if self.device_dirty > half / 8 {
            mul_div(ratio, half, self.device_dirty)
        } else {
            8 * ratio
        }
    }

    /// The ratio without rounding, 1 being 1: what the law means.
    pub fn ratio_real(&self) -> f64 {
        let (limit, dirty, device_dirty) =
            (self.hard_limit as f64, self.dirty as f64, self.device_dirty as f64);
        if self.dirty >= self.hard_limit {
            return 0.0;
        }
        let freerun = (self.thresholds.limit + self.thresholds.background) as f64 / 2.0;
        let setpoint = (freerun + limit) / 2.0;
        let ratio = cubic_real(setpoint, dirty, limit);
        if self.strict_limit {
            return self.strict_real(ratio);
        }
        let (share, whole) = (self.share() as f64, self.thresholds.limit as f64);
        let span = (whole - share + 8.0 * self.device_bandwidth as f64) * share / whole;
        let line = ((setpoint * share / whole + span - device_dirty) / span).max(0.25);
        ratio * line * (share / 2.0 / device_dirty).clamp(1.0, 8.0)
    }

    fn strict_real(&self, ratio: f64) -> f64 {
        if self.is_strict_start() {
            return (2.0 * ratio).min(2.0);
        }
        let Thresholds { limit, background } = self.device_thresholds;
        let setpoint = (limit + background) as f64 / 2.0;
        // Elsewhere the setpoint is below the limit.
        if self.device_dirty >= limit {
            return 0.0;
        }
        ratio.min(cubic_real(setpoint, self.device_dirty as f64, limit as f64))
    }
}

#[cfg(test)]
mod tests;
