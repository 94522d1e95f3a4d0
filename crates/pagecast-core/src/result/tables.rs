//! Holds the tables of a result: columns of the same length.

use std::sync::Arc;

use super::at_risk::AtRiskTable;
use super::bdi::BdiTable;
use super::devices::DeviceTable;
use super::links::LinkTable;
use super::parts_table::PartsTable;
use super::payloads::PayloadTable;
use super::servers::{Server, Slots};
use super::summary::Counted;
use super::timeline::{CgroupLevels, TimelineTable};
use super::waits::WaitTable;
use crate::units::Nanos;

/// The result of one simulation of a scenario under one model.
#[derive(Clone, Debug, Default)]
pub struct SimulationResult {
    /// Names of the hosts; other tables refer to them by index.
    pub hosts: Vec<String>,
    /// Names of the processes; other tables refer to them by index.
    pub processes: Vec<Arc<str>>,
    /// The cores that each process holds for itself, none for one that shares those of its host.
    pub slots: Vec<Option<u32>>,
    /// Paths, and names of devices and memory cgroups; other tables refer to them by index.
    pub paths: Vec<Arc<str>>,
    /// One row for each operation that is recorded, in the order of their ends, then of their processes.
    pub operations: OperationTable,
    /// Whom the operations with a row waited behind, in the order of processes and their operations.
    pub waits: WaitTable,
    /// Durations and bytes of operations that are counted as they end; see [`SimulationResult::summary`] for all.
    pub counted: Counted,
    /// Memory of each host over time.
    pub timeline: TimelineTable,
    /// Writing to each device over time, under the kernel's own rules.
    pub bdi: BdiTable,
    /// What a power cut would lose of each disk over time, if that was asked for.
    pub at_risk: AtRiskTable,
    /// What each disk does over time.
    pub devices: DeviceTable,
    /// The messages and bytes of each link.
    pub links: LinkTable,
    /// The servers of other hosts' files.
    pub servers: Vec<Server>,
    /// The calls of each mount of a client.
    pub rpc_slots: Vec<Slots>,
    /// The payloads of clients of striped mounts, by server.
    pub payloads: PayloadTable,
    /// The cached part of each file.
    pub files: FileTable,
    /// The events of the policy.
    pub events: EventTable,
    /// The blocks in memory at the end, under policies that keep lists of blocks.
    pub blocks: BlockTable,
    /// The memory cgroups.
    pub cgroups: CgroupTable,
    /// The simulated time at which the last process ended.
    pub end: Nanos,
}

/// Columns of the operations. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct OperationTable {
    /// Index into `processes`.
    pub process: Vec<u32>,
    /// Index into `hosts`.
    pub host: Vec<u32>,
    /// The index of the operation in its process, from 0.
    pub index: Vec<u32>,
    /// "read", "write", ...
    pub operation: Vec<&'static str>,
    /// Index into `paths`, or `u32::MAX` for none.
    pub path: Vec<u32>,
    /// First byte.
    pub offset: Vec<u64>,
    /// Bytes read, written, allocated or freed.
    pub bytes: Vec<u64>,
    /// The time at which it began.
    pub start: Vec<Nanos>,
    /// The time at which it ended.
    pub end: Vec<Nanos>,
    /// Bytes from the page cache.
    pub from_cache: Vec<u64>,
    /// Bytes from a device, or to it, before the operation ended.
    pub from_device: Vec<u64>,
    /// The parts of its time.
    pub parts: PartsTable,
}

/// Columns of file residency. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct FileTable {
    /// The time of the row.
    pub time: Vec<Nanos>,
    /// Index into `processes`: after an operation of this process; `u32::MAX` at the end of the run.
    pub process: Vec<u32>,
    /// Index of that operation; `u32::MAX` at the end of the run.
    pub index: Vec<u32>,
    /// Index into `paths`.
    pub path: Vec<u32>,
    /// Index into `hosts`: the host with that memory.
    pub host: Vec<u32>,
    /// The file's size.
    pub size: Vec<u64>,
    /// Bytes of it in that memory.
    pub cached: Vec<u64>,
    /// Bytes of those that are dirty.
    pub dirty: Vec<u64>,
    /// Bytes of those on an active list; nothing under policies without lists.
    pub active: Vec<u64>,
}

/// Columns of the events. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct EventTable {
    /// The time of the row.
    pub time: Vec<Nanos>,
    /// Index into `hosts`.
    pub host: Vec<u32>,
    /// The name of the event.
    pub event: Vec<&'static str>,
    /// Index into `processes`: the process concerned, or `u32::MAX` for none.
    pub process: Vec<u32>,
    /// Index into `paths`: the device concerned, or `u32::MAX` for none.
    pub device: Vec<u32>,
    /// Index into `paths`, or `u32::MAX` for none.
    pub path: Vec<u32>,
    /// The number of bytes.
    pub bytes: Vec<u64>,
    /// Events beyond the first [`EventTable::LIMIT`], counted and not kept.
    pub left_out: u64,
}

/// Columns of the blocks in memory at the end, in the order of their lists. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct BlockTable {
    /// Index into `hosts`: the host with that memory.
    pub host: Vec<u32>,
    /// "inactive" or "active".
    pub list: Vec<&'static str>,
    /// Index into `paths`.
    pub path: Vec<u32>,
    /// The number of bytes.
    pub bytes: Vec<u64>,
    /// True if the device does not have them yet.
    pub dirty: Vec<bool>,
    /// The time at which they were last read or written.
    pub accessed: Vec<Nanos>,
    /// The time at which they were made dirty, or the start if never.
    pub dirtied: Vec<Nanos>,
    /// Blocks of hosts whose blocks would make this more than [`BlockTable::LIMIT`], counted and not kept.
    pub left_out: u64,
}

/// Columns of the memory cgroups, host by host and in the order of each. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct CgroupTable {
    /// Index into `hosts`.
    pub host: Vec<u32>,
    /// Its name.
    pub cgroup: Vec<String>,
    /// Its limit.
    pub limit: Vec<u64>,
    /// The peaks of its charge, and its charge at the end.
    pub levels: Vec<CgroupLevels>,
}

impl BlockTable {
    /// The most blocks that are kept.
    pub const LIMIT: usize = 10_000;
    /// No blocks are kept of more hosts than this.
    pub const MOST_HOSTS: usize = 256;
}

impl EventTable {
    /// The most events that are kept.
    pub const LIMIT: usize = 10_000;
}
