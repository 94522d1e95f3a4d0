//! Holds the result of a run as columns: operations, the parts of their durations, a timeline, file residency, events.

mod at_risk;
mod bdi;
mod devices;
mod latency;
mod links;
mod merge;
mod parts;
mod parts_table;
mod rates;
mod record;
mod servers;
mod summary;
mod tables;
mod timeline;
mod waits;

pub use at_risk::{AtRisk, AtRiskTable};
pub use bdi::{BdiLevels, BdiTable};
pub use devices::{DeviceTable, DeviceUse, Requests, Used};
pub use latency::{Latencies, Latency, LatencyKey};
pub use links::LinkTable;
pub(crate) use merge::{Merger, sort_at_risk, sort_bdi, sort_devices, sort_events, sort_timeline};
pub use parts::{Part, Parts};
pub use parts_table::PartsTable;
pub use rates::{Moved, RateKey, Rates};
pub use record::Record;
pub use servers::{Calls, Depth, Server, Slots};
pub use summary::{Counted, Summary};
pub use tables::{BlockTable, CgroupTable, EventTable, FileTable, OperationTable, SimulationResult};
pub use timeline::{CgroupLevels, FileLevels, KernelLevels, MemoryLevels, TimelineTable};
pub(crate) use timeline::{SAMPLES, Timeline};
pub use waits::WaitTable;
