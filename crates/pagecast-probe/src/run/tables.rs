//! Fills the tables of a simulation with measured values.

use std::sync::Arc;

use pagecast_core::result::{
    BdiLevels, BdiTable, FileTable, KernelLevels, MemoryLevels, OperationTable, SimulationResult,
    TimelineTable,
};
use pagecast_core::units::{Bytes, Nanos};
use rustc_hash::FxHashMap;

use super::plan::Plan;
use super::row::Row;
use super::sampler::Samples;
use super::trace::Traced;
use crate::residency::page_size;

/// What was in memory of a file, after an operation or at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub time: Nanos,
    /// Process and number of its operation; `u32::MAX` at the end.
    pub after: (u32, u32),
    pub file: u32,
    /// Whose page cache it is.
    pub host: usize,
    pub size: Bytes,
    pub cached: Bytes,
    pub dirty: Bytes,
}

/// What is known of real operations and of no simulated one, in the order of the table of operations.
#[derive(Debug, Default)]
pub struct OperationDetails {
    /// The bytes of a read(2), write(2), or call of a library that an operation is made of; 0 of one that moves nothing.
    pub call: Vec<Bytes>,
    /// How long the thread was in the run queue: ready, while others had the processors.
    pub run_queue: Vec<Nanos>,
}

/// Puts the result of a run together.
pub(super) fn result(
    plan: &Plan,
    rows: &[Vec<Row>],
    (samples, trace): (&Samples, &[Traced]),
    looks: &[Look],
    end: Nanos,
) -> SimulationResult {
    let mut paths = plan.paths();
    let bdi = bdi(trace, &mut paths);
    SimulationResult {
        hosts: plan.hosts.names().map(str::to_owned).collect(),
        processes: plan.processes.iter().map(|process| process.name.clone()).collect(),
        paths,
        bdi,
        operations: operations(plan, rows),
        timeline: TimelineTable::of_samples(levels(samples)),
        files: files(looks),
        end,
        ..SimulationResult::default()
    }
}

/// The operations in the order of their ends: when, of which process, and which of its operations.
fn in_order(rows: &[Vec<Row>]) -> Vec<(Nanos, usize, usize)> {
    let all = rows.iter().enumerate().flat_map(|(process, rows)| {
        rows.iter().enumerate().map(move |(index, row)| (row.end, process, index))
    });
    let mut order: Vec<_> = all.collect();
    order.sort_unstable();
    order
}

/// What is known besides of the operations of a run.
pub(super) fn details(rows: &[Vec<Row>]) -> OperationDetails {
    let mut details = OperationDetails::default();
    for (_, process, index) in in_order(rows) {
        let row = &rows[process][index];
        details.call.push(Bytes(row.call));
        details.run_queue.push(row.used.run_queue.min(row.end - row.start));
    }
    details
}

fn operations(plan: &Plan, rows: &[Vec<Row>]) -> OperationTable {
    let mut table = OperationTable::default();
    for (end, process, index) in in_order(rows) {
        let row = &rows[process][index];
        table.process.push(process as u32);
        table.host.push(plan.processes[process].host as u32);
        table.index.push(row.index);
        table.operation.push(row.operation);
        table.path.push(row.file);
        table.offset.push(row.offset);
        table.bytes.push(row.bytes);
        table.start.push(row.start);
        table.end.push(end);
        table.from_cache.push(row.from_cache);
        table.from_device.push(row.from_device);
        table.parts.push(&row.parts());
    }
    table
}

/// The levels of the whole machine. `nr_dirty` and `nr_writeback` have a page twice that is written to again while it is under
/// writeback; the kernel does not say how many these are.
fn levels(samples: &Samples) -> Vec<(Nanos, MemoryLevels)> {
    let column = |name: &str| -> Vec<u64> {
        samples.column(name).map_or_else(|| vec![0; samples.time.len()], Iterator::collect)
    };
    let [total, anonymous, inactive, active, dirty, writeback, dirtied, background, limit] = [
        "mem_total_bytes",
        "nr_anon_pages_bytes",
        "nr_inactive_file_bytes",
        "nr_active_file_bytes",
        "nr_dirty_bytes",
        "nr_writeback_bytes",
        "nr_dirtied_bytes",
        "nr_dirty_background_threshold_bytes",
        "nr_dirty_threshold_bytes",
    ]
    .map(column);
    let level = |at: usize| {
        let kernel = KernelLevels {
            active: Bytes(active[at]),
            writeback: Bytes(writeback[at]),
            dirtied: Bytes(dirtied[at].saturating_sub(dirtied[0])),
            background: Bytes(background[at]),
            limit: Bytes(limit[at]),
            hard_limit: Bytes(limit[at]),
            setpoint: Bytes(setpoint(background[at], limit[at])),
            task_rate: None,
        };
        MemoryLevels {
            total: Bytes(total[at]),
            anonymous: Bytes(anonymous[at]),
            cached: Bytes(inactive[at] + active[at]),
            dirty: Bytes(dirty[at] + writeback[at]),
            kernel: Some(kernel),
        }
    };
    samples.time.iter().enumerate().map(|(at, &time)| (time, level(at))).collect()
}

/// Halfway between where throttling begins and the limit (`dirty_freerun_ceiling` and `wb_position_ratio`, mm/page-writeback.c).
fn setpoint(background: u64, limit: u64) -> u64 {
    let freerun = (background + limit) / 2;
    (freerun + limit) / 2
}

/// A row with each update of a device's estimates, as the kernel tells them; the device under the kernel's name for it.
fn bdi(trace: &[Traced], paths: &mut Vec<Arc<str>>) -> BdiTable {
    let mut table = BdiTable::default();
    let mut known: FxHashMap<&str, (u32, Bytes)> = FxHashMap::default();
    for traced in trace {
        let Some(bdi) = traced.bdi() else { continue };
        let (device, dirty) = known.entry(bdi).or_insert_with(|| {
            paths.push(bdi.into());
            (paths.len() as u32 - 1, Bytes::ZERO)
        });
        // `balance_dirty_pages` says it; newer kernels by the second name (seen on 6.18).
        if let Some(pages) = traced.number("bdi_dirty").or_else(|| traced.number("wb_dirty")) {
            *dirty = Bytes(pages * page_size());
        }
        if traced.event != "bdi_dirty_ratelimit" {
            continue;
        }
        let rate = |name| traced.rate(name).unwrap_or_default();
        table.time.push(traced.time);
        table.host.push(0);
        table.device.push(*device);
        table.cgroup.push(u32::MAX);
        table.levels.push(BdiLevels {
            write_bandwidth: rate("write_bw"),
            avg_write_bandwidth: rate("awrite_bw"),
            dirty_ratelimit: rate("dirty_ratelimit"),
            balanced_dirty_ratelimit: rate("balanced_dirty_ratelimit"),
            task_ratelimit: traced.rate("task_ratelimit"),
            dirty: *dirty,
            writeback: Bytes::ZERO,
        });
    }
    table
}

fn files(looks: &[Look]) -> FileTable {
    let mut table = FileTable::default();
    for look in looks {
        table.time.push(look.time);
        table.process.push(look.after.0);
        table.index.push(look.after.1);
        table.path.push(look.file);
        table.host.push(look.host as u32);
        table.size.push(look.size.0);
        table.cached.push(look.cached.0);
        table.dirty.push(look.dirty.0);
        table.active.push(0);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::row::{Done, Used};
    use super::super::testing::{read, write};
    use super::*;
    use pagecast_core::workload::Action;

    fn traced(time: u64, event: &'static str, text: &str) -> Traced {
        Traced { time: Nanos(time), event, task: String::new(), text: text.to_owned() }
    }

    #[test]
    fn devices_have_a_row_for_each_update_of_their_estimates() {
        let update = "bdi 254:0: write_bw=40 awrite_bw=30 dirty_rate=9 dirty_ratelimit=20 task_ratelimit=10 \
                      balanced_dirty_ratelimit=25 cgroup_ino=1";
        let trace = [
            traced(
                1,
                "balance_dirty_pages",
                "bdi 254:0: limit=9 setpoint=8 dirty=7 wb_setpoint=6 wb_dirty=5 pause=0",
            ),
            traced(2, "bdi_dirty_ratelimit", update),
            traced(3, "global_dirty_state", "dirty=1 writeback=2 bg_thresh=3 thresh=4 limit=5"),
        ];
        let mut paths = vec!["/data/f".into()];
        let table = bdi(&trace, &mut paths);
        assert_eq!((table.time, table.device, &*paths[1]), (vec![Nanos(2)], vec![1], "254:0"));
        let levels = table.levels[0];
        assert_eq!((levels.dirty, levels.task_ratelimit), (Bytes(5 * page_size()), Some(Bytes(10_240))));
        assert_eq!(
            (levels.avg_write_bandwidth, levels.balanced_dirty_ratelimit),
            (Bytes(30_720), Bytes(25_600))
        );
    }

    #[test]
    fn details_have_the_size_of_calls_and_no_more_waiting_than_an_operation_lasts() {
        let actions = [
            write("/data/f", 450, Some(100)),
            write("/data/f", 50, Some(100)),
            read("/data/f", None, None),
            Action::Fsync { path: "/data/f".into() },
            Action::Allocate { bytes: Bytes(70) },
        ];
        let row = |(at, bytes): (u64, u64)| {
            let done = Done { bytes, ..Done::default() };
            let used = Used { processor: Nanos(1), run_queue: Nanos(3 * at), device_read: Bytes::ZERO };
            Row::new(&actions[at as usize], (at as u32, 0), &done, (Nanos(10 * at), Nanos(10 * at + 8)), used)
        };
        let rows = [(0..).zip([450, 50, 500, 0, 70]).map(row).collect()];
        let details = details(&rows);
        assert_eq!(details.call, [100, 50, 500, 0, 0].map(Bytes));
        assert_eq!(details.run_queue, [0, 3, 6, 8, 8].map(Nanos));
    }

    #[test]
    fn the_set_point_is_halfway_between_free_run_and_limit() {
        assert_eq!(setpoint(100, 200), 175);
    }
}
