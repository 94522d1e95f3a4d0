//! Reads the parameters of the data-block model, with their units.

use crate::error::ScenarioError;
use crate::machine::VmSettings;
use crate::policy::Options;
use crate::units::{Bytes, Nanos};

/// The authors' two versions of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vintage {
    /// Before the correction of eviction: only the inactive list is evicted from, and a write may evict its own file.
    V1,
    /// After the correction; the outputs of the published paper.
    CameraReady,
}

impl Vintage {
    /// The words of a scenario, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["v1", "camera_ready"];
}

/// The host that gives the anonymous memory for a read from another host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteMemory {
    /// The host whose process reads, if its buffer is fresh.
    Client,
    /// The host that has the file, whatever the buffer, and it is never given back: so do the published outputs.
    Server,
}

impl RemoteMemory {
    /// The words of a scenario, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["client", "server"];
}

/// The parameters of the model. Source of the defaults: the paper's simulator settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrenchOptions {
    /// Bytes that are read or written at once; cost grows with their number.
    pub chunk: Bytes,
    /// The version of the model.
    pub vintage: Vintage,
    /// Share of free memory and clean cache that may be dirty before a write must flush.
    pub dirty_ratio: f64,
    /// Time between two starts of the periodic flush.
    pub period: Nanos,
    /// Age at which dirty blocks are flushed.
    pub expiry: Nanos,
    /// The host that gives the anonymous memory for a read from another host.
    pub remote_memory: RemoteMemory,
}

impl WrenchOptions {
    /// The keys of `[model.wrench]`.
    pub const KEYS: [&'static str; 6] =
        ["chunk", "vintage", "dirty_ratio", "period", "expiry", "remote_memory"];

    /// From `[model.wrench]`; what is not there comes from the host's kernel settings.
    ///
    /// # Errors
    /// An unknown key, or a value that does not fit.
    pub fn read(options: &Options<'_>, vm: &VmSettings) -> Result<Self, ScenarioError> {
        options.only(&Self::KEYS)?;
        Ok(Self {
            chunk: options
                .quantity("chunk", Bytes::parse, |chunk| chunk.0 > 0)?
                .unwrap_or(Bytes(100_000_000)),
            vintage: match options.word("vintage", &Vintage::NAMES)? {
                Some(0) => Vintage::V1,
                _ => Vintage::CameraReady,
            },
            dirty_ratio: options.percent("dirty_ratio")?.unwrap_or(vm.dirty_ratio),
            period: options
                .quantity("period", Nanos::parse, |period| period.0 > 0)?
                .unwrap_or(vm.dirty_writeback),
            expiry: options.quantity("expiry", Nanos::parse, |_| true)?.unwrap_or(vm.dirty_expire),
            remote_memory: match options.word("remote_memory", &RemoteMemory::NAMES)? {
                Some(1) => RemoteMemory::Server,
                _ => RemoteMemory::Client,
            },
        })
    }
}
