//! The law by which the kernel slows down tasks that write: how much may be dirty, and how fast each may make more.
//!
//! Source: `mm/page-writeback.c` and `lib/flex_proportions.c`, Linux 6.16; what older kernels do otherwise is a field of
//! its own. Everything is counted in pages of 4096 bytes, pages per second and jiffies, in whole numbers that are rounded
//! where the kernel rounds, so that a trace of a real kernel is met to the last digit. Nothing here knows of files,
//! devices or transfers; a memory cgroup is one more pair of limits. Left out: the higher limits of real-time tasks, errors of
//! per-CPU counters.

mod bandwidth;
mod base_rate;
mod device_share;
mod fractions;
mod hard_limit;
mod pause;
mod position;
mod thresholds;

pub use self::bandwidth::Bandwidth;
pub use self::base_rate::{BaseRate, RateSample};
pub use self::device_share::DeviceShare;
pub use self::fractions::{Fraction, Fractions};
pub use self::hard_limit::HardLimit;
pub use self::pause::{Decision, FIRST_POLL, Pause, Throttle, poll_interval};
pub use self::position::Position;
pub use self::thresholds::{DirtySettings, Limit, Thresholds};
pub use crate::policy::kernel::tick::Hz;
use crate::policy::kernel::tick::mul_div;
pub use crate::policy::kernel::version::Rounding;

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
