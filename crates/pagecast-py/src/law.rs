//! Wraps the law by which the kernel throttles writers, number by number: for studies that compare it with traces.
//!
//! The same functions that the model `kernel` calls. Everything is in pages of 4096 bytes and pages per second.

use pagecast_core::policy::kernel::law;
use pyo3::prelude::*;

/// How much faster or slower than its base rate a task may write: in 1024ths, rounded as the kernel rounds, and as a real number.
///
/// Parameters
/// ----------
/// limit, background : int
///     The thresholds of all devices.
/// dirty : int
///     Dirty or under writeback, on all devices.
/// device_limit, device_background : int
///     The device's part of the thresholds.
/// device_dirty : int
///     Dirty or under writeback, on the device.
/// bandwidth : int
///     What the device writes.
/// strict_limit : bool
///     The device's part is a limit of its own.
/// floor_in_ratio : bool
///     As before Linux 6.14.
///
/// Returns
/// -------
/// tuple of int and float
#[pyfunction]
#[pyo3(signature = (
    *, limit, background, dirty, device_limit, device_background, device_dirty, bandwidth, strict_limit=false,
    floor_in_ratio=false
))]
#[expect(clippy::too_many_arguments, reason = "so many does the law have")]
pub fn position_ratio(
    limit: u64,
    background: u64,
    dirty: u64,
    device_limit: u64,
    device_background: u64,
    device_dirty: u64,
    bandwidth: u64,
    strict_limit: bool,
    floor_in_ratio: bool,
) -> (u64, f64) {
    let position = law::Position {
        thresholds: law::Thresholds { limit, background },
        hard_limit: limit,
        dirty,
        device_thresholds: law::Thresholds { limit: device_limit, background: device_background },
        device_dirty,
        device_bandwidth: bandwidth,
        strict_limit,
        floor_in_ratio,
    };
    (position.ratio(), position.ratio_real())
}

/// What a task may write at a base rate and a position ratio in 1024ths.
///
/// Parameters
/// ----------
/// dirty_ratelimit : int
/// position_ratio : int
///
/// Returns
/// -------
/// int
#[pyfunction]
#[pyo3(signature = (dirty_ratelimit, position_ratio))]
pub fn task_ratelimit(dirty_ratelimit: u64, position_ratio: u64) -> u64 {
    law::BaseRate::with(dirty_ratelimit).task_rate(position_ratio)
}

/// The dirty limit and the background threshold for so many dirtyable pages.
///
/// Parameters
/// ----------
/// dirtyable : int
/// dirty_ratio, dirty_background_ratio : int
///     Percent.
/// plain : bool
///     Percentages as before Linux 4.7, not rounded to 4096ths.
///
/// Returns
/// -------
/// tuple of int and int
#[pyfunction]
#[pyo3(signature = (dirtyable, *, dirty_ratio, dirty_background_ratio, plain=false))]
pub fn dirty_thresholds(
    dirtyable: u64,
    dirty_ratio: u32,
    dirty_background_ratio: u32,
    plain: bool,
) -> (u64, u64) {
    let settings = law::DirtySettings {
        limit: law::Limit::Ratio(dirty_ratio),
        background: law::Limit::Ratio(dirty_background_ratio),
        rounding: if plain { law::Rounding::Plain } else { law::Rounding::FourThousandNinetySixths },
    };
    let law::Thresholds { limit, background } = law::Thresholds::of(&settings, dirtyable);
    (limit, background)
}

/// The part of the dirty limit that a device has which alone writes.
///
/// Parameters
/// ----------
/// limit : int
/// max_ratio : int
///     Percent of the limit that it may have (`bdi/max_ratio`).
///
/// Returns
/// -------
/// int
#[pyfunction]
#[pyo3(signature = (limit, *, max_ratio))]
pub fn device_limit(limit: u64, max_ratio: u64) -> u64 {
    let share = law::DeviceShare { max_ratio: max_ratio * 10_000, ..law::DeviceShare::default() };
    share.part(law::Fraction { numerator: 1, denominator: 1 }, limit, limit)
}

/// The pause of a writer that is checked.
///
/// Parameters
/// ----------
/// dirty_ratelimit, task_ratelimit : int
/// bandwidth : int
///     What the device writes.
/// device_dirty : int
///     Dirty or under writeback, on the device.
/// hz : int
///     Ticks per second.
/// dirtied : int
///     Pages that the task has made dirty since its last check.
/// think : int
///     Ticks since its last pause ended.
///
/// Returns
/// -------
/// tuple of int, int or None, and int
///     How long the task should take for these pages, how long it sleeps (None: it does not), both in ticks, and after how many
///     pages it is checked again.
#[pyfunction]
#[pyo3(signature = (*, dirty_ratelimit, task_ratelimit, bandwidth, device_dirty, hz, dirtied, think))]
pub fn writer_pause(
    dirty_ratelimit: u64,
    task_ratelimit: u64,
    bandwidth: u64,
    device_dirty: u64,
    hz: u64,
    dirtied: u64,
    think: i64,
) -> (u64, Option<u64>, u64) {
    let pause = law::Throttle {
        hz: law::Hz(hz),
        base_rate: dirty_ratelimit,
        task_rate: task_ratelimit,
        average_bandwidth: bandwidth,
        device_dirty,
    }
    .pause();
    let slept = match pause.decide(dirtied, think) {
        law::Decision::Sleep { pause, .. } => Some(pause),
        _ => None,
    };
    (pause.period(dirtied), slept, pause.poll)
}
