//! What a scenario sets beside the machine: the state in which the kernel begins.

use super::PAGE;
use super::law::{Bandwidth, BaseRate, DirtySettings, INIT_BANDWIDTH, Limit, Rounding};
use crate::error::ScenarioError;
use crate::machine::VmSettings;
use crate::policy::Options;
use crate::units::{Bytes, BytesPerSecond};

/// What may be under way to another host: the slots of an NFS client (64) of 1 MiB each.
pub(super) const REMOTE_QUEUE: (u32, Bytes) = (64, Bytes(1 << 20));

/// The state of a kernel that has just booted, unless a scenario says what was learnt before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelOptions {
    /// `dirty_ratelimit` of each device, pages per second.
    dirty_ratelimit: u64,
    /// `avg_write_bandwidth` of each device, pages per second.
    write_bandwidth: u64,
}

impl KernelOptions {
    /// Reads the options of `[model.kernel]`.
    ///
    /// # Errors
    /// An unknown option, or a value that is no rate.
    pub fn read(options: &Options<'_>) -> Result<Self, ScenarioError> {
        options.only(&["dirty_ratelimit", "write_bandwidth"])?;
        let rate = |key| {
            let rate = options.quantity(key, BytesPerSecond::parse, |rate| rate.0 >= PAGE as f64)?;
            Ok(rate.map_or(INIT_BANDWIDTH, |rate| (rate.0 / PAGE as f64) as u64))
        };
        Ok(Self { dirty_ratelimit: rate("dirty_ratelimit")?, write_bandwidth: rate("write_bandwidth")? })
    }

    pub(super) fn base_rate(&self) -> BaseRate {
        BaseRate::with(self.dirty_ratelimit)
    }

    pub(super) fn bandwidth(&self) -> Bandwidth {
        Bandwidth::with(self.write_bandwidth)
    }
}

/// The dirty limits that a machine sets.
pub(super) fn dirty_settings(vm: &VmSettings, rounding: Rounding) -> DirtySettings {
    let limit = |bytes: Option<Bytes>, ratio: f64| match bytes {
        Some(bytes) => Limit::Bytes(bytes.0),
        None => Limit::Ratio((ratio * 100.0).round() as u32),
    };
    DirtySettings {
        limit: limit(vm.dirty_bytes, vm.dirty_ratio),
        background: limit(vm.dirty_background_bytes, vm.dirty_background_ratio),
        rounding,
    }
}
