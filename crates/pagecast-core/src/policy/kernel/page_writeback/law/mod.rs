//! Computes how much may be dirty, and how fast each task may make more: the law of throttling.
//!
//! Source: `mm/page-writeback.c` and `lib/flex_proportions.c`, Linux 6.16; each difference of an older kernel is a field. Units are pages
//! of 4096 bytes, pages per second and jiffies. They are whole numbers, rounded where the kernel rounds, so that a trace of a real kernel
//! is met to the last digit. Nothing here knows of files, devices or transfers; a memory cgroup is one more pair of limits.
//!
//! Left out: the higher limits of real-time tasks, errors of per-CPU counters.

mod bandwidth;
mod base_rate;
mod constants;
mod device_share;
mod fractions;
mod hard_limit;
mod pause;
mod position;
mod thresholds;

pub use self::bandwidth::Bandwidth;
pub use self::base_rate::{BaseRate, RateSample};
pub use self::constants::{BANDWIDTH_INTERVAL, INIT_BANDWIDTH, UNIT_RATIO, setpoint};
pub use self::device_share::DeviceShare;
pub use self::fractions::{Fraction, Fractions};
pub use self::hard_limit::HardLimit;
pub use self::pause::{Decision, FIRST_POLL, Pause, Throttle, poll_interval};
pub use self::position::Position;
pub use self::thresholds::{DirtySettings, Limit, Thresholds};
pub use crate::policy::kernel::tick::Hz;
pub use crate::policy::kernel::version::Rounding;
