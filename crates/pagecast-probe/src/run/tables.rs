//! The tables of a simulation, filled with what was measured.

use std::sync::Arc;

use pagecast_core::result::{
    FileTable, KernelLevels, MemoryLevels, OperationTable, SimulationResult, TimelineTable,
};
use pagecast_core::units::{Bytes, Nanos};

use super::plan::Plan;
use super::process::Row;
use super::sampler::Samples;

/// What was in memory of a file, after an operation or at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub time: Nanos,
    /// Process and number of its operation; `u32::MAX` at the end.
    pub after: (u32, u32),
    pub file: u32,
    pub size: Bytes,
    pub cached: Bytes,
    pub dirty: Bytes,
}

/// Puts the result of a run together.
pub(super) fn result(
    plan: &Plan,
    rows: &[Vec<Row>],
    samples: &Samples,
    looks: &[Look],
    end: Nanos,
) -> SimulationResult {
    SimulationResult {
        hosts: vec![plan.host.clone()],
        processes: plan.processes.iter().map(|process| process.name.clone()).collect(),
        paths: plan.files.iter().map(|file| file.path.clone()).collect::<Vec<Arc<str>>>(),
        operations: operations(plan, rows),
        timeline: TimelineTable::of_samples(levels(samples)),
        files: files(looks),
        end,
        ..SimulationResult::default()
    }
}

fn operations(plan: &Plan, rows: &[Vec<Row>]) -> OperationTable {
    let all = rows.iter().enumerate().flat_map(|(process, rows)| {
        rows.iter().enumerate().map(move |(index, row)| (row.end, process, index))
    });
    let mut order: Vec<(Nanos, usize, usize)> = all.collect();
    order.sort_unstable();
    let mut table = OperationTable::default();
    for (end, process, index) in order {
        let (row, step) = (&rows[process][index], &plan.processes[process].steps[index]);
        table.process.push(process as u32);
        table.host.push(0);
        table.index.push(index as u32);
        table.operation.push(step.operation.action.name());
        table.path.push(step.file);
        table.offset.push(row.offset);
        table.bytes.push(row.bytes);
        table.start.push(row.start);
        table.end.push(end);
        let (from_cache, from_device) = row.served(&step.operation.action);
        table.from_cache.push(from_cache);
        table.from_device.push(from_device);
        table.parts.push(row.parts(&step.operation.action));
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

fn files(looks: &[Look]) -> FileTable {
    let mut table = FileTable::default();
    for look in looks {
        table.time.push(look.time);
        table.process.push(look.after.0);
        table.index.push(look.after.1);
        table.path.push(look.file);
        table.host.push(0);
        table.size.push(look.size.0);
        table.cached.push(look.cached.0);
        table.dirty.push(look.dirty.0);
        table.active.push(0);
    }
    table
}
