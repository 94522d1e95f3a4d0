//! What several rules of the law share.

use crate::units::Nanos;

/// Estimates and limits are renewed at most this often (`BANDWIDTH_INTERVAL`, HZ/5).
pub const BANDWIDTH_INTERVAL: Nanos = Nanos(200_000_000);

/// What a device is taken to write before anything is known: 100 MiB/s (`INIT_BW`, `mm/backing-dev.c`).
pub const INIT_BANDWIDTH: u64 = 25_600;

/// A position ratio of 1 (`RATELIMIT_CALC_SHIFT` is 10).
pub const UNIT_RATIO: u64 = 1 << 10;

/// The number of dirty pages that throttling steers to: halfway between free run and the hard limit.
pub fn setpoint(freerun: u64, hard_limit: u64) -> u64 {
    (freerun + hard_limit) / 2
}
