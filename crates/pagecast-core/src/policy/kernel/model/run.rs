//! Splits an operation into runs of bytes that are served the same way; each run is one flow.
//!
//! Ours. The kernel goes page by page.

use crate::block::{Direction, Request};
use crate::flow::{FlowId, FlowSpec};
use crate::policy::OperationId;
use crate::policy::kernel::config::Config;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::settle::apply;
use crate::policy::kernel::page_writeback::rates::task_rate;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::credit::resume;
use crate::policy::kernel::tasks::kind::{Kind, Next, Stage, Waits};
use crate::policy::kernel::tasks::shape::{Transfer, tag};
use crate::policy::kernel::tasks::task::Task;
use crate::result::Part;
use crate::units::{Bytes, Nanos};

/// The flow of a run whose pages are at the device: there is none.
pub const NO_FLOW: FlowId = FlowId { number: u64::MAX, slot: u32::MAX };

/// Begins the run that a step has chosen, up to `end`; true if it takes no time.
pub fn begin_run(cx: &mut Context<'_>, operation: OperationId, end: u64) -> bool {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    resume(task, task_rate(&cx.write_back.wbs, task), cx.now);
    let (run, bytes, moved) = (task.run, end - task.position, task.shape.bytes);
    task.count_served((task.position, end), |served, bytes| *served += bytes);
    let cost = cx.caps.cost(cx.pages, cx.block, &cx.tasks[operation], operation);
    let dirty = cx.pages.dirty();
    let task = cx.tasks.get_mut(operation).expect("it is there");
    task.turnover = task.file.as_ref().map_or(0, |file| cx.pages.lists().turnover(file.id));
    task.pace = task.shape.thread_rate(&cost).unwrap_or(f64::INFINITY);
    task.is_first = run.dirties() && dirty.dirtied_when(task.file().id).is_none();
    if run.dirties() {
        cx.ext4.copies(cx.now, task.file().device, Nanos::from_seconds(bytes as f64 / task.pace));
    }
    if matches!(run, Run::Miss | Run::Pass)
        && cx.block.devices.serves_pages(cx.tasks[operation].file().device.0 as usize)
    {
        send_read(cx, operation);
        return false;
    }
    let task = &cx.tasks[operation];
    let cap = cx.caps.cap_at(cx.pages, cx.write_back, task, cx.pages.is_exhausted(), || cost);
    // More than there is comes as it is cleaned.
    if cap.is_none() && run == Run::Touch && bytes <= cx.pages.available() {
        apply(cx, cx.tasks.place_of(operation), bytes);
        cx.pages.look_at_backed(cx.tasks, cx.now);
        cx.tasks.get_mut(operation).expect("it is there").position = end;
        return true;
    }
    start_flow(cx, operation, (moved, cap));
    false
}

/// Asks the device for the pages of a run.
fn send_read(cx: &mut Context<'_>, operation: OperationId) {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let bytes = task.shape.bytes;
    (task.is_at_device, task.since) = (true, cx.now);
    task.transfer = Some(Transfer::new(NO_FLOW, bytes, None, cx.now));
    let (file, at, thread, memcg) = (*task.file(), task.position, task.thread(operation), task.memcg);
    if let Some(client) = cx.nfs.get_mut(file.device) {
        return client.read(operation, file.id, (at, Bytes(bytes)), cx.out);
    }
    let process = cx.readers.process(thread);
    let request =
        cx.block.devices.request((operation, process, memcg), &file, Direction::Read, (at, Bytes(bytes)));
    let device = cx.block.devices.get_mut(file.device.0 as usize).expect("it serves pages");
    device.submit(cx.now, Request { is_direct: false, ..request }, &mut cx.ext4.cpus);
}

/// Copies the pages of a run that its device has read.
pub fn copy_read(cx: &mut Context<'_>, operation: OperationId) {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    (task.is_at_device, task.transfer) = (false, None);
    (task.shape.least, task.shape.copying) = (0.0, 0.0);
    let waited = cx.nfs.parts_of_wait(cx.now, task.file.as_ref(), Part::DeviceRead, cx.now - task.since);
    task.outcome.parts.add_all(&waited);
    let bytes = task.shape.bytes;
    let task = &cx.tasks[operation];
    let cap = cx.caps.cap(cx.pages, cx.write_back, cx.block, task, operation, cx.pages.is_exhausted());
    let spec = flow_of(cx.config, operation, task, (bytes, cap));
    let copy = FlowSpec { path: cx.config.memory_read, ..spec };
    let transfer = Transfer::new(cx.out.start(copy), bytes, cap, cx.now);
    cx.tasks.get_mut(operation).expect("it is there").transfer = Some(transfer);
}

/// Starts the flow of a run.
fn start_flow(cx: &mut Context<'_>, operation: OperationId, (bytes, cap): (u64, Option<(f64, Part)>)) {
    let spec = flow_of(cx.config, operation, &cx.tasks[operation], (bytes, cap));
    let transfer = Transfer::new(cx.out.start(spec), bytes, cap, cx.now);
    cx.tasks.get_mut(operation).expect("it is there").transfer = Some(transfer);
}

/// Returns the flow of a run of a task.
pub fn flow_of(
    config: &Config,
    operation: OperationId,
    task: &Task,
    (bytes, cap): (u64, Option<(f64, Part)>),
) -> FlowSpec {
    let path = config.path(task);
    let request = match (task.run, &task.file) {
        (Run::Direct, _) => task.piece.0,
        (Run::Miss, Some(file)) => config.disk_of(file).map_or(0, |disk| disk.read_ahead.0),
        _ => 0,
    };
    FlowSpec { cap, watched: true, request, ..FlowSpec::new(path, bytes, tag(operation, task)) }
}

/// Lets an operation wait for its file system and flush.
pub fn spend(cx: &mut Context<'_>, operation: OperationId, waits: Waits) -> Next {
    let task = cx.tasks.get_mut(operation).expect("who waits is under way");
    task.stage = Stage::Durable;
    let time = waits.journal + waits.flush + waits.computes;
    if time == Nanos::ZERO {
        return Next::Step;
    }
    task.outcome.parts.add(Part::Journal, waits.journal);
    task.outcome.parts.add(Part::DeviceWrite, waits.flush);
    task.outcome.parts.add(Part::CpuCopy, waits.computes);
    task.busy_until = Some(cx.now + time);
    cx.tasks.has_busy = true;
    Next::Wait
}

#[cfg(test)]
mod tests;

/// Sends the next request to the device, or all that is left.
pub fn start_request(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    (task.run, task.busy_until) = (Run::Direct, None);
    let left = task.end - task.position;
    let bytes = if let Kind::Direct { step, .. } = task.kind { step.min(left) } else { left };
    let task = &cx.tasks[operation];
    let cap = cx.caps.cap(cx.pages, cx.write_back, cx.block, task, operation, cx.pages.is_exhausted());
    start_flow(cx, operation, (bytes, cap));
    Next::Wait
}
