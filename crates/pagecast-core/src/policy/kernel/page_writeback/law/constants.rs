//! Names the constants that several rules of the law share.
//!
//! Source: `mm/page-writeback.c`, `mm/backing-dev.c`, Linux 6.16.

use crate::units::Nanos;

/// Estimates and limits are renewed at most this often (`BANDWIDTH_INTERVAL`, HZ/5).
pub const BANDWIDTH_INTERVAL: Nanos = Nanos(200_000_000);

/// The bandwidth of a device before anything is measured: 100 MiB/s (`INIT_BW`, `mm/backing-dev.c`).
pub const INIT_BANDWIDTH: u64 = 25_600;

/// A position ratio of 1 (`RATELIMIT_CALC_SHIFT` is 10).
pub const UNIT_RATIO: u64 = 1 << 10;

/// Returns the setpoint: halfway between free run and the hard limit.
pub fn setpoint(freerun: u64, hard_limit: u64) -> u64 {
    (freerun + hard_limit) / 2
}
