//! Puts the results of groups of hosts together as if they had been simulated at once.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::at_risk::AtRiskTable;
use super::bdi::BdiTable;
use super::devices::DeviceTable;
use super::record::Record;
use super::tables::{BlockTable, CgroupTable, EventTable, FileTable, OperationTable, SimulationResult};
use super::timeline::TimelineTable;
use super::waits::WaitTable;
use crate::units::Nanos;

/// The results put together so far; see the module.
pub(crate) struct Merger {
    result: SimulationResult,
    paths: FxHashMap<Arc<str>, u32>,
    record: Record,
}

/// Returns the index in the whole for one in the part; none stays none.
fn of_whole(map: &[u32], index: u32) -> u32 {
    map.get(index as usize).copied().unwrap_or(u32::MAX)
}

impl Merger {
    /// An empty result of all these hosts and processes.
    pub(crate) fn new(hosts: Vec<String>, processes: Vec<Arc<str>>, record: Record) -> Self {
        let result = SimulationResult { hosts, processes, ..SimulationResult::default() };
        Self { result, paths: FxHashMap::default(), record }
    }

    fn path(&mut self, path: &Arc<str>) -> u32 {
        let next = self.result.paths.len() as u32;
        let index = *self.paths.entry(path.clone()).or_insert(next);
        if index == next {
            self.result.paths.push(path.clone());
        }
        index
    }

    /// Adds the result of a group; `hosts` and `processes` give its indices in the whole.
    pub(crate) fn add(&mut self, mut result: SimulationResult, hosts: &[u32], processes: &[u32]) {
        self.choose_rows(&mut result);
        let paths: Vec<u32> = result.paths.iter().map(|path| self.path(path)).collect();
        let whole = &mut self.result;
        whole.end = whole.end.max(result.end);
        add_operations(&mut whole.operations, result.operations, hosts, processes, &paths);
        let WaitTable { process, index, part, behind_process, behind_path, time } = result.waits;
        whole.waits.process.extend(process.into_iter().map(|each| of_whole(processes, each)));
        whole.waits.index.extend(index);
        whole.waits.part.extend(part);
        whole.waits.behind_process.extend(behind_process.into_iter().map(|each| of_whole(processes, each)));
        whole.waits.behind_path.extend(behind_path.into_iter().map(|each| of_whole(&paths, each)));
        whole.waits.time.extend(time);
        whole.counted.merge(
            result.counted,
            |process| of_whole(processes, process),
            |path| of_whole(&paths, path),
        );
        let TimelineTable { time, host, levels, is_even } = result.timeline;
        whole.timeline.is_even |= is_even;
        whole.timeline.time.extend(time);
        whole.timeline.host.extend(host.into_iter().map(|each| of_whole(hosts, each)));
        whole.timeline.levels.extend(levels);
        add_bdi(&mut whole.bdi, result.bdi, hosts, &paths);
        let AtRiskTable { time, host, device, levels } = result.at_risk;
        whole.at_risk.time.extend(time);
        whole.at_risk.host.extend(host.into_iter().map(|each| of_whole(hosts, each)));
        whole.at_risk.device.extend(device.into_iter().map(|each| of_whole(&paths, each)));
        whole.at_risk.levels.extend(levels);
        let DeviceTable { time, window, host, device, used } = result.devices;
        whole.devices.time.extend(time);
        whole.devices.window.extend(window);
        whole.devices.host.extend(host.into_iter().map(|each| of_whole(hosts, each)));
        whole.devices.device.extend(device.into_iter().map(|each| of_whole(&paths, each)));
        whole.devices.used.extend(used);
        whole.links.extend(result.links);
        whole.servers.extend(result.servers);
        whole.rpc_slots.extend(result.rpc_slots);
        add_files(&mut whole.files, result.files, hosts, processes, &paths);
        add_events(&mut whole.events, result.events, hosts, processes, &paths);
        if whole.events.time.len() > 4 * EventTable::LIMIT {
            sort_events(&mut whole.events);
        }
        add_blocks(&mut whole.blocks, result.blocks, hosts, &paths);
        let CgroupTable { host, cgroup, limit, levels } = result.cgroups;
        whole.cgroups.host.extend(host.into_iter().map(|each| of_whole(hosts, each)));
        whole.cgroups.cgroup.extend(cgroup);
        whole.cgroups.limit.extend(limit);
        whole.cgroups.levels.extend(levels);
    }

    /// Under [`Record::Auto`] the groups together have rows of all operations, or none has.
    fn choose_rows(&mut self, group: &mut SimulationResult) {
        let rows = self.result.operations.end.len() + group.operations.end.len();
        if self.record == Record::Auto && (group.counted.is_all || rows > Record::MANY) {
            self.record = Record::Histogram;
            self.result.operations.sort();
            self.result.count_rows();
        }
        if self.record == Record::Histogram {
            group.count_rows();
        }
    }

    /// Returns everything, in the order of one run.
    pub(crate) fn finish(mut self) -> SimulationResult {
        self.result.operations.sort();
        if self.record == Record::Histogram {
            self.result.operations.keep_longest(Record::SLOWEST);
        }
        self.result.keep_waits_of_rows();
        sort_timeline(&mut self.result.timeline);
        sort_bdi(&mut self.result.bdi);
        sort_devices(&mut self.result.devices);
        sort_at_risk(&mut self.result.at_risk);
        sort_files(&mut self.result.files);
        sort_events(&mut self.result.events);
        self.result
    }
}

fn add_operations(
    to: &mut OperationTable,
    from: OperationTable,
    hosts: &[u32],
    processes: &[u32],
    paths: &[u32],
) {
    to.process.extend(from.process.into_iter().map(|each| of_whole(processes, each)));
    to.host.extend(from.host.into_iter().map(|each| of_whole(hosts, each)));
    to.index.extend(from.index);
    to.operation.extend(from.operation);
    to.path.extend(from.path.into_iter().map(|each| of_whole(paths, each)));
    to.offset.extend(from.offset);
    to.bytes.extend(from.bytes);
    to.start.extend(from.start);
    to.end.extend(from.end);
    to.from_cache.extend(from.from_cache);
    to.from_device.extend(from.from_device);
    to.parts.append(&from.parts);
}

fn add_files(to: &mut FileTable, from: FileTable, hosts: &[u32], processes: &[u32], paths: &[u32]) {
    to.time.extend(from.time);
    to.process.extend(from.process.into_iter().map(|each| of_whole(processes, each)));
    to.index.extend(from.index);
    to.path.extend(from.path.into_iter().map(|each| of_whole(paths, each)));
    to.host.extend(from.host.into_iter().map(|each| of_whole(hosts, each)));
    to.size.extend(from.size);
    to.cached.extend(from.cached);
    to.dirty.extend(from.dirty);
    to.active.extend(from.active);
}

fn add_bdi(to: &mut BdiTable, from: BdiTable, hosts: &[u32], paths: &[u32]) {
    to.time.extend(from.time);
    to.host.extend(from.host.into_iter().map(|each| of_whole(hosts, each)));
    to.device.extend(from.device.into_iter().map(|each| of_whole(paths, each)));
    to.cgroup.extend(from.cgroup.into_iter().map(|each| of_whole(paths, each)));
    to.levels.extend(from.levels);
}

fn add_events(to: &mut EventTable, from: EventTable, hosts: &[u32], processes: &[u32], paths: &[u32]) {
    to.time.extend(from.time);
    to.host.extend(from.host.into_iter().map(|each| of_whole(hosts, each)));
    to.event.extend(from.event);
    to.process.extend(from.process.into_iter().map(|each| of_whole(processes, each)));
    to.device.extend(from.device.into_iter().map(|each| of_whole(paths, each)));
    to.path.extend(from.path.into_iter().map(|each| of_whole(paths, each)));
    to.bytes.extend(from.bytes);
    to.left_out += from.left_out;
}

fn add_blocks(to: &mut BlockTable, from: BlockTable, hosts: &[u32], paths: &[u32]) {
    to.left_out += from.left_out;
    if to.host.len() + from.host.len() > BlockTable::LIMIT {
        to.left_out += from.host.len() as u64;
        return;
    }
    to.host.extend(from.host.into_iter().map(|each| of_whole(hosts, each)));
    to.list.extend(from.list);
    to.path.extend(from.path.into_iter().map(|each| of_whole(paths, each)));
    to.bytes.extend(from.bytes);
    to.dirty.extend(from.dirty);
    to.accessed.extend(from.accessed);
    to.dirtied.extend(from.dirtied);
}

/// Returns the rows in the order of a key; rows of equal keys stay as they are.
fn order<K: Ord>(rows: usize, key: impl Fn(usize) -> K) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    // A key is put together from several columns: once for each row.
    order.sort_by_cached_key(|&row| key(row));
    order
}

fn reorder<T: Copy>(column: &mut Vec<T>, order: &[usize]) {
    *column = order.iter().map(|&row| column[row]).collect();
}

impl OperationTable {
    /// Drops all rows but those of the longest operations, of equal ones the first; gives the duration of the shortest left.
    pub(crate) fn keep_longest(&mut self, most: usize) -> Nanos {
        let duration = |row: usize| self.end[row] - self.start[row];
        let mut kept = order(self.end.len(), |row| std::cmp::Reverse(duration(row)));
        kept.truncate(most);
        let shortest = kept.last().map_or(Nanos::ZERO, |&row| duration(row));
        kept.sort_unstable();
        self.take_rows(&kept);
        shortest
    }

    /// Sorts by ends, then by processes, then as each process did them.
    pub(crate) fn sort(&mut self) {
        let key = |row: usize| (self.end[row], self.process[row], self.index[row]);
        if (1..self.end.len()).all(|row| key(row - 1) <= key(row)) {
            return;
        }
        let order = order(self.end.len(), key);
        self.take_rows(&order);
    }

    /// Makes the table of some of its rows, in this order.
    fn take_rows(&mut self, order: &[usize]) {
        for column in [&mut self.process, &mut self.host, &mut self.index, &mut self.path] {
            reorder(column, order);
        }
        for column in [&mut self.offset, &mut self.bytes, &mut self.from_cache, &mut self.from_device] {
            reorder(column, order);
        }
        for column in [&mut self.start, &mut self.end] {
            reorder(column, order);
        }
        reorder(&mut self.operation, order);
        self.parts = self.parts.rows(order);
    }
}

impl SimulationResult {
    /// Drops whom operations waited behind that have no row, and sorts the others by process and operation.
    pub(crate) fn keep_waits_of_rows(&mut self) {
        let Self { operations, waits, .. } = self;
        let rows = operations.process.iter().copied().zip(operations.index.iter().copied());
        let has_row: FxHashSet<(u32, u32)> =
            if waits.len() > 0 { rows.collect() } else { FxHashSet::default() };
        let of = |row: usize| (waits.process[row], waits.index[row]);
        // Groups in the order of their processes are in order together.
        if (0..waits.len()).all(|row| has_row.contains(&of(row)) && (row == 0 || of(row - 1) <= of(row))) {
            return;
        }
        let mut kept = order(waits.len(), of);
        kept.retain(|&row| has_row.contains(&of(row)));
        waits.take_rows(&kept);
    }
}

/// Sorts by time, then by host.
pub(crate) fn sort_timeline(table: &mut TimelineTable) {
    let key = |row: usize| (table.time[row], table.host[row]);
    if (1..table.time.len()).all(|row| key(row - 1) <= key(row)) {
        return;
    }
    let order = order(table.time.len(), key);
    reorder(&mut table.time, &order);
    reorder(&mut table.host, &order);
    reorder(&mut table.levels, &order);
}

/// Sorts by time, then by host; devices of a host stay as they were.
pub(crate) fn sort_bdi(table: &mut BdiTable) {
    let order = order(table.time.len(), |row| (table.time[row], table.host[row]));
    reorder(&mut table.time, &order);
    for column in [&mut table.host, &mut table.device, &mut table.cgroup] {
        reorder(column, &order);
    }
    reorder(&mut table.levels, &order);
}

/// Sorts by time, then by host; disks of a host stay as they were.
pub(crate) fn sort_at_risk(table: &mut AtRiskTable) {
    let order = order(table.time.len(), |row| (table.time[row], table.host[row]));
    reorder(&mut table.time, &order);
    for column in [&mut table.host, &mut table.device] {
        reorder(column, &order);
    }
    reorder(&mut table.levels, &order);
}

/// Sorts by time, then by host; disks of a host stay as they were.
pub(crate) fn sort_devices(table: &mut DeviceTable) {
    let order = order(table.time.len(), |row| (table.time[row], table.host[row]));
    for column in [&mut table.time, &mut table.window] {
        reorder(column, &order);
    }
    for column in [&mut table.host, &mut table.device] {
        reorder(column, &order);
    }
    reorder(&mut table.used, &order);
}

/// Sorts by time; the files at the end of the run come last.
fn sort_files(table: &mut FileTable) {
    let at_end = |row: usize| table.process[row] == u32::MAX;
    let time = |row: usize| {
        if at_end(row) { Nanos(u64::MAX) } else { table.time[row] }
    };
    let order = order(table.time.len(), |row| (time(row), table.process[row], table.index[row]));
    reorder(&mut table.time, &order);
    for column in [&mut table.process, &mut table.index, &mut table.path, &mut table.host] {
        reorder(column, &order);
    }
    for column in [&mut table.size, &mut table.cached, &mut table.dirty, &mut table.active] {
        reorder(column, &order);
    }
}

/// Sorts by time, then by host, and keeps no more than the limit.
pub(crate) fn sort_events(table: &mut EventTable) {
    let key = |row: usize| (table.time[row], table.host[row]);
    if table.time.len() <= EventTable::LIMIT && (1..table.time.len()).all(|row| key(row - 1) <= key(row)) {
        return;
    }
    let mut order = order(table.time.len(), key);
    table.left_out += order.len().saturating_sub(EventTable::LIMIT) as u64;
    order.truncate(EventTable::LIMIT);
    reorder(&mut table.time, &order);
    reorder(&mut table.host, &order);
    reorder(&mut table.event, &order);
    for column in [&mut table.process, &mut table.device, &mut table.path] {
        reorder(column, &order);
    }
    reorder(&mut table.bytes, &order);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A group with so many events, and others that it has left out.
    fn group(events: usize, left_out: u64) -> SimulationResult {
        let events = EventTable {
            time: vec![Nanos(1); events],
            host: vec![0; events],
            event: vec!["evict"; events],
            process: vec![u32::MAX; events],
            device: vec![u32::MAX; events],
            path: vec![u32::MAX; events],
            bytes: vec![1; events],
            left_out,
        };
        SimulationResult { events, ..SimulationResult::default() }
    }

    #[test]
    fn events_of_many_groups_are_cut_now_and_then() {
        let mut whole = Merger::new(vec!["host".to_owned()], Vec::new(), Record::All);
        let kept = [(); 6].map(|()| {
            whole.add(group(EventTable::LIMIT, 0), &[0], &[]);
            whole.result.events.time.len() / EventTable::LIMIT
        });
        assert_eq!(kept, [1, 2, 3, 4, 1, 2], "never more than four times what is kept in the end");
        assert_eq!(whole.finish().events.left_out, 5 * EventTable::LIMIT as u64);
    }

    #[test]
    fn events_that_groups_have_left_out_add_up() {
        let mut whole = Merger::new(vec!["host".to_owned()], Vec::new(), Record::All);
        whole.add(group(1, 3), &[0], &[]);
        whole.add(group(1, 4), &[0], &[]);
        let events = whole.finish().events;
        assert_eq!((events.time.len(), events.left_out), (2, 7));
    }
}
