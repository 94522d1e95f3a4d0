//! Operations, run by run: what of a read or write is served alike is one flow.

use crate::flow::FlowSpec;
use crate::policy::OperationId;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::settle::apply;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::rates::task_rate;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::credit::{check, resume};
use crate::policy::kernel::tasks::kind::{Next, Stage, Waits};
use crate::policy::kernel::tasks::shape::{Transfer, tag};
use crate::policy::kernel::tasks::task::Task;
use crate::result::Part;
use crate::units::Nanos;

/// Bytes of a task have moved: levels change at once, pages later. If it makes pages dirty it does so at this rate.
pub fn count(task: &mut Task, bytes: u64, pages: &mut Pages, rate: Option<f64>, now: Nanos) {
    if task.run.dirties() {
        count_dirtied(task, bytes, pages, rate, now);
    } else if bytes > 0 {
        count_others(task, bytes, pages);
    }
}

/// The same of a task that makes pages dirty; whether it has credit left.
// Of every such task with every event.
#[inline(always)]
pub fn count_dirtied(task: &mut Task, bytes: u64, pages: &mut Pages, rate: Option<f64>, now: Nanos) -> bool {
    let runs_ahead = check(&mut task.credit, rate, bytes, now);
    if bytes == 0 {
        return runs_ahead;
    }
    pages.dirty.run_ahead(task.wb, bytes);
    if let Some(memcg) = pages.memcg(task.memcg) {
        memcg.run_ahead(task, bytes);
    }
    // Who writes has his buffer already.
    if task.run.fills() {
        pages.ahead_cached += bytes;
    }
    task.pending += bytes;
    pages.pending += bytes;
    runs_ahead
}

/// The same of one that does not.
#[inline(always)]
pub fn count_others(task: &mut Task, bytes: u64, pages: &mut Pages) {
    if let Some(memcg) = pages.memcg(task.memcg) {
        memcg.run_ahead(task, bytes);
    }
    if task.run.fills() {
        pages.ahead_cached += bytes;
    }
    if task.takes_anonymous() {
        pages.ahead_anonymous += task.asked_of(bytes);
    }
    task.pending += bytes;
    pages.pending += bytes;
}

/// The bytes that a task had pending no more count as such: it is going to be told where they are, or nobody keeps them.
pub fn uncount(task: &Task, bytes: u64, pages: &mut Pages) {
    pages.pending -= bytes;
    if task.run.fills() {
        pages.ahead_cached -= bytes;
    }
    if task.takes_anonymous() {
        pages.ahead_anonymous -= task.asked_of(bytes);
    }
    if task.run.dirties() {
        pages.dirty.fall_back(task.wb, bytes);
    }
    if let Some(memcg) = pages.memcg(task.memcg) {
        memcg.fall_back(task, bytes);
    }
}

/// Begins the run that a step has chosen, up to `end`; true if it takes no time.
pub fn begin_run(cx: &mut Context<'_>, operation: OperationId, end: u64) -> bool {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    resume(task, task_rate(&cx.write_back.wbs, task), cx.now);
    let (run, bytes, moved) = (task.run, end - task.position, task.shape.bytes);
    task.count_served(bytes, |served, bytes| *served += bytes);
    let cost = cx.caps.cost(cx.pages, cx.block, &cx.tasks[operation], operation);
    let dirty = &cx.pages.dirty;
    let task = cx.tasks.get_mut(operation).expect("it is there");
    task.turnover = task.file.as_ref().map_or(0, |file| cx.pages.lists.turnover(file.id));
    task.pace = task.shape.thread_rate(&cost).unwrap_or(f64::INFINITY);
    task.is_first = run.dirties() && dirty.dirtied_when(task.file().id).is_none();
    let task = &cx.tasks[operation];
    let cap = cx.caps.cap(cx.pages, cx.write_back, cx.block, task, operation, cx.pages.is_exhausted());
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

/// Starts the flow of a run.
pub fn start_flow(cx: &mut Context<'_>, operation: OperationId, (bytes, cap): (u64, Option<(f64, Part)>)) {
    let task = &cx.tasks[operation];
    let path = cx.config.path(task);
    let spec = FlowSpec { cap, watched: true, ..FlowSpec::new(path, bytes, tag(operation, task)) };
    let transfer = Transfer::new(cx.out.start(spec), bytes, cap, cx.now);
    cx.tasks.get_mut(operation).expect("it is there").transfer = Some(transfer);
}

/// An operation waits for file system and flush, for as long as they take.
pub fn spend(cx: &mut Context<'_>, operation: OperationId, waits: Waits) -> Next {
    let task = cx.tasks.get_mut(operation).expect("who waits is under way");
    task.stage = Stage::Durable;
    let time = waits.journal + waits.flush;
    if time == Nanos::ZERO {
        return Next::Step;
    }
    task.outcome.parts.add(Part::Journal, waits.journal);
    task.outcome.parts.add(Part::DeviceWrite, waits.flush);
    task.busy_until = Some(cx.now + time);
    cx.tasks.has_busy = true;
    Next::Wait
}

#[cfg(test)]
mod tests;
