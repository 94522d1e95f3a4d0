//! Steps reads and writes past the page cache (O_DIRECT).
//!
//! Source: `mm/filemap.c: generic_file_read_iter, generic_file_direct_write, kiocb_invalidate_pages`, Linux 6.16.
//!
//! - Dirty pages of the range are written first, and waited for.
//! - A read does not use cached pages and leaves them in the cache. A write invalidates them, before and after it.
//! - Calls follow one another: first the processor, then one request to the device.
//! - Several calls are one step. This changes when the device is busy, not for how long.
//!
//! - A disk whose machine says how long a request takes gets every call by its requests (`block::devices`).

use crate::block::Direction;
use crate::policy::kernel::config::Config;
use crate::policy::kernel::discretisation::step_of;
use crate::policy::kernel::filemap::fdatawrite::filemap_write_and_wait_range;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::run::start_request;
use crate::policy::kernel::nfs::client::Client;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::kind::{Kind, Next, Past, Stage, Waits};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileView, Integrity, OperationId, Request};
use crate::result::{Part, Parts};
use crate::units::{Bytes, Nanos};

/// Begins an operation past the cache.
pub fn begin_direct(
    cx: &mut Context<'_>,
    request: &Request,
    past: Past,
    file: FileView,
    at: (u64, Bytes, Bytes),
) {
    let (from, bytes, piece) = at;
    let operation = request.operation;
    let step =
        if cx.block.devices.has(&file) { piece.0.clamp(1, bytes.0.max(1)) } else { step_of(bytes, piece) };
    let kind = Kind::Direct { past, from, step };
    cx.pages.placement.home(operation);
    let memcg = cx.pages.memcg_of(operation);
    cx.tasks.insert(operation, Task { memcg, ..Task::new(kind, Some(file), at, cx.now) });
}

/// Writes dirty pages of the range first; then sends each step's request when the processor has prepared it.
pub fn step_direct(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    match (task.stage, task.busy_until) {
        (Stage::Start, _) => {
            task.stage = Stage::Pages;
            let (file, range) = (*task.file(), (task.position, task.end));
            if filemap_write_and_wait_range(cx, operation, &file, range) { Next::Wait } else { Next::Step }
        }
        (Stage::Blocks, _) => end_requests(cx, operation),
        (Stage::Durable, _) => end_calls(cx, operation),
        (_, Some(_)) => send(cx, operation),
        (_, None) => next_calls(cx, operation),
    }
}

/// Begins the next calls with their cost for the processor.
fn next_calls(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::Direct { past, from, step } = task.kind else { unreachable!("only these go past the cache") };
    let (file, start, end) = (task.file().id, task.position, task.end.min(task.position + step));
    task.run = Run::Wait;
    if start >= end {
        if past.is_write() {
            // Pages that were read in meanwhile are out of date.
            cx.pages.invalidate_inode_pages2_range(file, from, end);
        }
        return Next::Done;
    }
    let removed = if past.is_write() { cx.pages.invalidate_inode_pages2_range(file, start, end) } else { 0 };
    let file = *cx.tasks[operation].file();
    let is_by_requests = cx.block.devices.has(&file);
    let mut spent = before_requests(cx.config, &cx.tasks[operation], end - start, removed, is_by_requests);
    let part = if past.is_write() { Part::DeviceWrite } else { Part::DeviceRead };
    if !is_by_requests {
        spent.add(part, cx.block.seek(cx.now, &file, (start, end), true));
    }
    if let Past::Write { durable } = past {
        let waits = after_writes(cx, operation, (start, end), durable);
        spent.add(Part::Journal, waits.journal);
        // The disk's own time is that of its requests.
        let flush = if is_by_requests && durable.is_none() { Nanos::ZERO } else { waits.flush };
        spent.add(Part::DeviceWrite, flush);
    }
    let task = cx.tasks.get_mut(operation).expect("it is there");
    task.outcome.parts.add_all(&spent);
    if past != Past::Metadata {
        task.outcome.from_device += Bytes(end - start);
    }
    if spent.total() > Nanos::ZERO {
        let until =
            if is_by_requests { cx.ext4.cpus.run(cx.now, spent.total()) } else { cx.now + spent.total() };
        let waited = until - cx.now - spent.total();
        task.outcome.parts.add(Part::CpuCopy, waited);
        task.busy_until = Some(until);
        cx.tasks.has_busy = true;
        Next::Wait
    } else {
        send(cx, operation)
    }
}

/// Sends the next calls to the disk: as a flow, or request by request.
fn send(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let file = *task.file();
    if !cx.block.devices.has(&file) {
        return start_request(cx, operation);
    }
    let Kind::Direct { past, step, .. } = task.kind else { unreachable!("only these go past the cache") };
    (task.run, task.busy_until, task.stage, task.since) = (Run::Wait, None, Stage::Blocks, cx.now);
    let (offset, bytes) = (task.position, Bytes(step.min(task.end - task.position)));
    if let Some(client) = cx.nfs.get_mut(file.device) {
        let of_client = if past.is_write() { Client::write_direct } else { Client::read };
        of_client(client, operation, file.id, (offset, bytes), cx.out);
        return Next::Wait;
    }
    let direction = if past.is_write() { Direction::Write } else { Direction::Read };
    let (thread, memcg) = (cx.readers.process(operation), task.memcg);
    let request = cx.block.devices.request((operation, thread, memcg), &file, direction, (offset, bytes));
    let device = cx.block.devices.get_mut(file.device.0 as usize).expect("it serves requests");
    device.submit(cx.now, request, &mut cx.ext4.cpus);
    Next::Wait
}

/// Goes on when the requests of a call are complete: to a COMMIT, if a server has written what its disk has not.
fn end_requests(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = &cx.tasks[operation];
    let Kind::Direct { past, step, .. } = task.kind else { unreachable!("only these go past the cache") };
    let (file, bytes) = (*task.file(), Bytes(step.min(task.end - task.position)));
    let client = cx.nfs.get_mut(file.device).filter(|_| past.is_write());
    if client.is_some_and(|client| client.commit_direct(operation, file.id, bytes, cx.out)) {
        cx.tasks.get_mut(operation).expect("it is there").stage = Stage::Durable;
        return Next::Wait;
    }
    end_calls(cx, operation)
}

/// Ends the calls of a step: its bytes have moved, and are durable if they have to be.
fn end_calls(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::Direct { past, step, .. } = task.kind else { unreachable!("only these go past the cache") };
    let part = if past.is_write() { Part::DeviceWrite } else { Part::DeviceRead };
    let waited = cx.nfs.parts_of_wait(cx.now, task.file.as_ref(), part, cx.now - task.since);
    task.outcome.parts.add_all(&waited);
    let end = task.end.min(task.position + step);
    let moved = end - std::mem::replace(&mut task.position, end);
    task.stage = Stage::Pages;
    if task.takes_anonymous() {
        let (by, owner) = (cx.pages.taker_of(operation, task), task.kind.owner(operation));
        cx.pages.take_anonymous(by, moved, owner);
    }
    Next::Step
}

/// Returns the time that the calls of a step take beside their bytes: a request each, or the time until each is durable, which includes the
/// request. The calls of a step pay together.
fn after_writes(
    cx: &mut Context<'_>,
    operation: OperationId,
    (start, end): (u64, u64),
    durable: Option<Integrity>,
) -> Waits {
    let task = &cx.tasks[operation];
    let (file, piece) = (*task.file(), task.piece.0.max(1));
    if let Some(what) = durable {
        return cx.ext4.waits_of_calls(cx.now, &file, (start, end, piece), what);
    }
    cx.ext4.note_write(cx.now, &file, end);
    let latency = cx.config.disk_of(&file).map_or(Nanos::ZERO, |disk| disk.write_latency);
    let flush = Nanos(latency.0.saturating_mul((end - start).div_ceil(piece)));
    Waits { flush, ..Waits::default() }
}

/// Returns the time before the device moves so many bytes of a task past the cache, and the time to invalidate so many cached ones. Each
/// call is one request, so the cost of a request belongs here.
fn before_requests(config: &Config, task: &Task, bytes: u64, removed: u64, is_by_requests: bool) -> Parts {
    let times = |time: Nanos, count: u64| Nanos(time.0.saturating_mul(count));
    let (cost, calls) = (&config.host.memory.cost, bytes.div_ceil(task.piece.0.max(1)));
    let mut parts = Parts::of(Part::CpuCopy, times(cost.call, calls));
    parts.add(Part::CpuCopy, times(cost.page_remove, removed.div_ceil(PAGE)));
    if task.is_fresh() {
        parts.add(Part::PageAllocation, times(cost.fault, bytes.div_ceil(PAGE)));
    }
    if !task.writes_past() && !is_by_requests {
        let disk = config.disk_of(task.file());
        parts.add(Part::DeviceRead, times(disk.map_or(Nanos::ZERO, |disk| disk.latency), calls));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::FileId;
    use crate::policy::kernel::tasks::ids::WbId;
    use crate::policy::kernel::tests::{MIB, nodes_of_8_gib, on};

    #[test]
    fn clean_bytes_of_a_range_leave_and_are_counted() {
        let file = FileId(0);
        let mut pages = nodes_of_8_gib(1, "");
        pages.read_in(file, 0, 4 * MIB, on(0));
        pages.write(file, WbId(0), (2 * MIB, 3 * MIB), on(0), Nanos::ZERO);
        assert_eq!(pages.invalidate_inode_pages2_range(file, MIB, 9 * MIB), 2 * MIB);
        assert_eq!((pages.lists().run(file, 0, 9 * MIB), pages.cached()), ((true, MIB), 2 * MIB));
        assert_eq!(pages.invalidate_inode_pages2_range(file, MIB, 9 * MIB), 0, "the rest is dirty");
    }
}
