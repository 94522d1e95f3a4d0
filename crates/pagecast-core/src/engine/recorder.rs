//! Records the events of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::disks::Disk;
use super::running::Waited;
use crate::known::Known;
use crate::policy::{FileId, ListedBlock, Outcome};
use crate::result::{
    AtRisk, BdiLevels, BlockTable, CgroupLevels, EventTable, FileLevels, MemoryLevels, Record, SAMPLES,
    SimulationResult, Timeline, sort_at_risk, sort_bdi, sort_devices, sort_events, sort_timeline,
};
use crate::units::{Bytes, Nanos};
use crate::workload::PatternCall;

/// An operation that has ended.
pub(super) struct Ended<'a> {
    pub process: u32,
    pub host: u32,
    pub index: u32,
    pub operation: &'static str,
    pub path: Option<&'a Arc<str>>,
    pub offset: u64,
    pub bytes: u64,
    pub start: Nanos,
    pub end: Nanos,
    pub outcome: &'a Outcome,
}

/// The cached part of a file on a host.
pub(super) struct Resident<'a> {
    pub path: &'a Arc<str>,
    pub host: u32,
    pub size: Bytes,
    pub levels: FileLevels,
}

/// An event on a host.
pub(super) struct Happened<'a> {
    pub time: Nanos,
    pub host: u32,
    pub name: &'static str,
    pub process: Option<u32>,
    pub device: Option<&'a Arc<str>>,
    pub file: Option<(FileId, &'a Arc<str>)>,
    pub bytes: Bytes,
}

/// A device of a host, and the memory cgroup that writes to it, by their names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Writing {
    pub host: u32,
    pub device: Arc<str>,
    pub cgroup: Option<Arc<str>>,
}

/// The tables of a run so far; see the module.
pub(super) struct Recorder {
    result: SimulationResult,
    paths: FxHashMap<Arc<str>, u32>,
    known: Known<u32>,
    /// The indices of paths by file, for files of events or blocks.
    of_files: Vec<Option<u32>>,
    timelines: Vec<Timeline<MemoryLevels>>,
    /// The samples by device. The devices of a host together have as many as its memory: `limit`.
    of_bdi: BTreeMap<Writing, Timeline<BdiLevels>>,
    limit: usize,
    /// True if other groups of hosts are simulated, too.
    is_part: bool,
    record: Record,
    /// Under [`Record::Histogram`] no operation has a row that took no longer.
    too_short: Nanos,
}

impl Recorder {
    /// `hosts_in_all` share the samples with those of this run.
    pub(super) fn new(
        hosts: Vec<String>,
        processes: Vec<Arc<str>>,
        hosts_in_all: usize,
        record: Record,
    ) -> Self {
        let limit = SAMPLES / hosts_in_all;
        let is_part = hosts_in_all > hosts.len();
        let timelines = hosts.iter().map(|_| Timeline::new(limit)).collect();
        let mut result = SimulationResult { hosts, processes, ..SimulationResult::default() };
        result.counted.is_all = record.counts();
        Self {
            result,
            paths: FxHashMap::default(),
            known: Known::default(),
            of_files: Vec::new(),
            timelines,
            of_bdi: BTreeMap::new(),
            limit,
            is_part,
            record,
            too_short: Nanos::ZERO,
        }
    }

    fn path(&mut self, path: Option<&Arc<str>>) -> u32 {
        let Some(path) = path else { return u32::MAX };
        if let Some(known) = self.known.get(path) {
            return known;
        }
        let index = self.index(path);
        self.known.set(path, index);
        index
    }

    /// Forgets what only operations need. The tables of a group wait for the other groups in no more memory than they need.
    pub(super) fn retire(&mut self) {
        self.known.forget();
        if self.is_part {
            // Of a smaller size: an allocator may leave a vector that shrinks a little where it is.
            self.result.operations = self.result.operations.clone();
            self.result.waits = self.result.waits.clone();
            self.result.events = self.result.events.clone();
        }
    }

    fn index(&mut self, path: &Arc<str>) -> u32 {
        if let Some(&known) = self.paths.get(path) {
            return known;
        }
        let index = self.result.paths.len() as u32;
        self.result.paths.push(path.clone());
        self.paths.insert(path.clone(), index);
        index
    }

    fn path_of(&mut self, file: FileId, path: &Arc<str>) -> u32 {
        let at = file.0 as usize;
        if self.of_files.len() <= at {
            self.of_files.resize(at + 1, None);
        }
        if let Some(known) = self.of_files[at] {
            return known;
        }
        let index = self.path(Some(path));
        self.of_files[at] = Some(index);
        index
    }

    /// Adds an operation that has ended; true if it has a row.
    pub(super) fn operation(&mut self, ended: &Ended<'_>) -> bool {
        let parts = &ended.outcome.parts;
        assert_eq!(parts.total(), ended.end - ended.start, "the parts of a {} add up", ended.operation);
        if self.record == Record::Auto && self.result.operations.end.len() == Record::MANY {
            self.result.count_rows();
            self.record = Record::Histogram;
        }
        let path = self.path(ended.path);
        let duration = ended.end - ended.start;
        let has_calls = self.result.counted.by_calls.contains(&(ended.process, ended.index));
        if self.record.counts() && !has_calls {
            let key = (ended.process, path, ended.operation);
            self.result.counted.summary.add(key, (ended.start, ended.end), ended.bytes, parts);
        }
        match self.record {
            Record::Slow(least) if duration < least => return false,
            Record::Histogram if duration <= self.too_short => return false,
            Record::Histogram if self.result.operations.end.len() >= 2 * Record::SLOWEST => {
                self.too_short = self.result.operations.keep_longest(Record::SLOWEST);
            }
            _ => {}
        }
        let table = &mut self.result.operations;
        table.process.push(ended.process);
        table.host.push(ended.host);
        table.index.push(ended.index);
        table.operation.push(ended.operation);
        table.path.push(path);
        table.offset.push(ended.offset);
        table.bytes.push(ended.bytes);
        table.start.push(ended.start);
        table.end.push(ended.end);
        table.from_cache.push(ended.outcome.from_cache.0);
        table.from_device.push(ended.outcome.from_device.0);
        table.parts.push(parts);
        true
    }

    /// Adds whom an operation with a row has waited behind.
    pub(super) fn wait(&mut self, of: (u32, u32), wait: &Waited, file: Option<(FileId, &Arc<str>)>) {
        let path = file.map_or(u32::MAX, |(file, path)| self.path_of(file, path));
        let table = &mut self.result.waits;
        table.process.push(of.0);
        table.index.push(of.1);
        table.part.push(wait.part);
        table.behind_process.push(wait.process.unwrap_or(u32::MAX));
        table.behind_path.push(path);
        table.time.push(wait.time);
    }

    /// The calls of an operation count instead of it; `of` is its process and its index. Gives the number of its path for [`Self::call`].
    pub(super) fn begin_calls(&mut self, of: (u32, u32), path: Option<&Arc<str>>) -> u32 {
        self.result.counted.by_calls.insert(of);
        self.path(path)
    }

    /// Counts a call of a process.
    pub(super) fn call(
        &mut self,
        process: u32,
        path: u32,
        call: &PatternCall,
        time: (Nanos, Nanos),
        outcome: &Outcome,
    ) {
        let key = (process, path, if call.is_write { "write" } else { "read" });
        self.result.counted.summary.add(key, time, call.bytes.0, &outcome.parts);
    }

    /// Notes that the levels of a host change evenly between the samples.
    pub(super) fn change_evenly(&mut self, host: usize) {
        self.timelines[host].change_evenly();
        self.result.timeline.is_even = true;
    }

    pub(super) fn levels(&mut self, now: Nanos, host: usize, levels: MemoryLevels) {
        self.timelines[host].add(now, levels);
    }

    /// Notes that the levels of a host are the same at two instants, and did not change between them.
    pub(super) fn levels_held(&mut self, (now, until): (Nanos, Nanos), host: usize, levels: MemoryLevels) {
        self.timelines[host].add_held(now, until, levels);
    }

    /// Adds a sample of a device. The `devices` of a host share its samples.
    pub(super) fn bdi(&mut self, now: Nanos, writing: Writing, devices: usize, levels: BdiLevels) {
        let limit = self.limit / devices;
        self.of_bdi.entry(writing).or_insert_with(|| Timeline::new(limit)).add(now, levels);
    }

    pub(super) fn event(&mut self, happened: &Happened<'_>) {
        if self.result.events.time.len() == EventTable::LIMIT {
            self.result.events.left_out += 1;
            return;
        }
        let path = happened.file.map_or(u32::MAX, |(file, path)| self.path_of(file, path));
        let device = self.path(happened.device);
        let table = &mut self.result.events;
        table.time.push(happened.time);
        table.host.push(happened.host);
        table.event.push(happened.name);
        table.process.push(happened.process.unwrap_or(u32::MAX));
        table.device.push(device);
        table.path.push(path);
        table.bytes.push(happened.bytes.0);
    }

    /// `after` is the process and the index of its operation, or nothing at the end of the run.
    pub(super) fn residency(&mut self, now: Nanos, after: Option<(u32, u32)>, resident: &Resident<'_>) {
        let path = self.path(Some(resident.path));
        let (process, index) = after.unwrap_or((u32::MAX, u32::MAX));
        let table = &mut self.result.files;
        table.time.push(now);
        table.process.push(process);
        table.index.push(index);
        table.path.push(path);
        table.host.push(resident.host);
        table.size.push(resident.size.0);
        table.cached.push(resident.levels.cached.0);
        table.dirty.push(resident.levels.dirty.0);
        table.active.push(resident.levels.active.0);
    }

    /// True if so many more blocks can be recorded; if not, they are counted.
    pub(super) fn has_room_for(&mut self, blocks: usize) -> bool {
        let has_room = self.result.blocks.host.len() + blocks <= BlockTable::LIMIT;
        if !has_room {
            self.leave_out_blocks(blocks);
        }
        has_room
    }

    /// Counts blocks that are not recorded.
    pub(super) fn leave_out_blocks(&mut self, blocks: usize) {
        self.result.blocks.left_out += blocks as u64;
    }

    /// Adds a block; `path` is that of its file.
    pub(super) fn block(&mut self, host: usize, path: &Arc<str>, block: &ListedBlock) {
        let path = self.path_of(block.file, path);
        let table = &mut self.result.blocks;
        table.host.push(host as u32);
        table.list.push(block.list);
        table.path.push(path);
        table.bytes.push(block.bytes.0);
        table.dirty.push(block.dirty);
        table.accessed.push(block.accessed);
        table.dirtied.push(block.dirtied);
    }

    pub(super) fn cgroup(&mut self, host: usize, name: &str, limit: Bytes, levels: CgroupLevels) {
        let table = &mut self.result.cgroups;
        table.host.push(host as u32);
        table.cgroup.push(name.to_owned());
        table.limit.push(limit.0);
        table.levels.push(levels);
    }

    fn add_bdi(&mut self) {
        for (writing, timeline) in std::mem::take(&mut self.of_bdi) {
            let (device, cgroup) = (self.path(Some(&writing.device)), self.path(writing.cgroup.as_ref()));
            let table = &mut self.result.bdi;
            let samples = timeline.into_samples();
            table.time.extend(samples.iter().map(|sample| sample.time));
            table.host.extend(std::iter::repeat_n(writing.host, samples.len()));
            table.device.extend(std::iter::repeat_n(device, samples.len()));
            table.cgroup.extend(std::iter::repeat_n(cgroup, samples.len()));
            table.levels.extend(samples.iter().map(|sample| sample.levels));
        }
        sort_bdi(&mut self.result.bdi);
    }

    fn add_devices(&mut self, disks: Vec<Disk>, end: Nanos) {
        for mut disk in disks {
            if let Some(timeline) = disk.at_risk.take() {
                self.add_at_risk(&disk, timeline);
            }
            let rows = disk.used.rows(end);
            if rows.is_empty() {
                continue;
            }
            let device = self.path(Some(&disk.name));
            let table = &mut self.result.devices;
            for (time, window, used) in rows {
                table.time.push(time);
                table.window.push(window);
                table.host.push(disk.host);
                table.device.push(device);
                table.used.push(used);
            }
        }
        sort_devices(&mut self.result.devices);
        sort_at_risk(&mut self.result.at_risk);
    }

    fn add_at_risk(&mut self, disk: &Disk, timeline: Timeline<AtRisk>) {
        let device = self.path(Some(&disk.name));
        let table = &mut self.result.at_risk;
        for sample in timeline.into_samples() {
            table.time.push(sample.time);
            table.host.push(disk.host);
            table.device.push(device);
            table.levels.push(sample.levels);
        }
    }

    /// Returns the result of a run that ended at `end`.
    pub(super) fn finish(mut self, end: Nanos, disks: Vec<Disk>) -> SimulationResult {
        if self.record == Record::Histogram {
            self.result.operations.keep_longest(Record::SLOWEST);
        }
        self.result.operations.sort();
        self.result.keep_waits_of_rows();
        sort_events(&mut self.result.events);
        let table = &mut self.result.timeline;
        for (host, timeline) in (0_u32..).zip(std::mem::take(&mut self.timelines)) {
            let samples = timeline.into_samples();
            table.host.extend(std::iter::repeat_n(host, samples.len()));
            table.time.extend(samples.iter().map(|sample| sample.time));
            table.levels.extend(samples.iter().map(|sample| sample.levels));
        }
        sort_timeline(table);
        self.add_bdi();
        self.add_devices(disks, end);
        self.result.end = end;
        self.result
    }
}
