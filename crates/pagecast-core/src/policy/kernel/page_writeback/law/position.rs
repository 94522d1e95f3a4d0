//! Computes the position ratio: how much faster or slower than the base rate a task may write.
//!
//! Source: `mm/page-writeback.c: pos_ratio_polynom, wb_position_ratio`, Linux 6.16. The ratio is a cubic of all dirty pages, times a line
//! of the device's dirty pages. The cubic is 2 at free run, 1 at the setpoint and 0 at the hard limit. Linux 3.3 added 1 to three divisors
//! where today the lowest bit is set. Both give the same for the even divisors that its limits give.

use super::constants::{UNIT_RATIO, setpoint};
use super::thresholds::Thresholds;
use crate::policy::kernel::tick::mul_div;

/// The dirty pages below which a device with a strict limit was not throttled, before Linux 6.14.
const STRICT_START: u64 = 8;

/// The levels that determine the ratio, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The thresholds of all devices.
    pub thresholds: Thresholds,
    /// The hard limit, no less than the limit of the thresholds: `HardLimit::value`.
    pub hard_limit: u64,
    /// Dirty or under writeback, on all devices.
    pub dirty: u64,
    /// The device's part of the thresholds.
    pub device_thresholds: Thresholds,
    /// Dirty or under writeback, on the device.
    pub device_dirty: u64,
    /// The write bandwidth of the device, in pages per second, smoothed.
    pub device_bandwidth: u64,
    /// True if the device's part is a limit of its own.
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

/// The cubic without rounding, 1 being 1.
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

    /// Returns the dirty pages that the base rate watches, and their setpoint.
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

    /// Returns the device's part as used by the line.
    fn share(&self) -> u64 {
        let share = self.device_thresholds.limit.min(self.thresholds.limit);
        match self.floor_in_ratio {
            true => share.max((self.hard_limit - self.dirty) / 8),
            false => share,
        }
    }

    /// Multiplies the ratio by a line: 1 at the device's setpoint, 0 after 8 seconds of writing more, but at least 1/4.
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

    /// Raises the ratio up to eight times while the device has less than half its part. It would run dry otherwise.
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

    /// Returns the ratio without rounding, 1 being 1.
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
