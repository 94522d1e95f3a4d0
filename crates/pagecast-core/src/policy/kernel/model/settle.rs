//! Puts the bytes that tasks have moved into pages: lists, dirty state, memory cgroups.
//!
//! Ours. Levels change with every event. Pages are put into place before anybody looks at them, or after `SETTLE_AFTER`.

use crate::policy::kernel::discretisation::RUN_STEPS;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::rates::Rates;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::ids::{Taker, WbId};
use crate::policy::kernel::tasks::table::{Place, Tasks};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{DeviceId, FileId, FileView, OperationId};
use crate::stop;
use crate::units::Nanos;

/// Puts all bytes that tasks have moved so far into pages.
pub fn settle(cx: &mut Context<'_>) {
    settle_each(cx, pending(cx.pages, cx.tasks, |_| true));
    cx.clock.settled = cx.now;
    cx.told.look_at_refaults(cx.pages, cx.now);
}

/// Puts the bytes of writers into pages, for files that the flusher of a device is about to look at.
pub fn settle_visited(cx: &mut Context<'_>, device: usize) {
    let Some(flusher) = cx.flushers.get(device) else { return };
    settle_each(
        cx,
        pending(cx.pages, cx.tasks, |task| task.run.dirties() && flusher.may_visit(task.file().id)),
    );
}

/// Puts the bytes of all other tasks on a file into pages, before one of them looks for its next bytes.
pub fn settle_others(cx: &mut Context<'_>, operation: OperationId) {
    let of = |task: &Task| task.file.as_ref().map(|file| file.id);
    let Some(file) = cx.tasks.get(operation).and_then(of) else { return };
    settle_each(cx, pending(cx.pages, cx.tasks, |task| of(task) == Some(file)));
}

/// Puts the bytes of these tasks into pages. Pages that came at the same time alternate in the lists.
fn settle_each(cx: &mut Context<'_>, places: Vec<Place>) {
    let coming = || places.iter().map(|&place| cx.tasks.at(place)).filter(|task| task.run.fills());
    let bytes: u64 = coming().map(|task| task.pending).sum();
    let slices = if coming().nth(1).is_some() { bytes.div_ceil(cx.pages.most_ahead()) } else { 1 };
    for left in (1..=slices.max(1)).rev() {
        for &place in &places {
            settle_slice(cx, place, left);
        }
    }
}

pub fn settle_task(cx: &mut Context<'_>, operation: OperationId) {
    settle_slice(cx, cx.tasks.place_of(operation), 1);
}

/// Puts a slice of a task's pending bytes into pages: one of equal slices, in whole pages except for the last.
fn settle_slice(cx: &mut Context<'_>, place: Place, slices: u64) {
    let (_, task) = cx.tasks.at_moving(place);
    if task.is_in_flight() {
        return;
    }
    let all = std::mem::take(&mut task.pending);
    let bytes = if slices > 1 { all / slices / PAGE * PAGE } else { all };
    if bytes > 0 {
        let was_first = std::mem::take(&mut task.is_first);
        cx.pages.uncount(task, bytes);
        // Pages of the file and of the buffer were taken in turn.
        let step = if task.run.fills() && task.takes_anonymous() { cx.pages.most_ahead() } else { bytes };
        let mut left = bytes;
        while left > 0 {
            apply(cx, place, left.min(step));
            left = left.saturating_sub(step);
        }
        if was_first {
            cx.tasks.note_change();
        }
    }
    cx.tasks.at_moving(place).1.pending = all - bytes;
}

/// Changes the pages of bytes that a task has moved.
pub fn apply(cx: &mut Context<'_>, place: Place, bytes: u64) {
    stop::spend(RUN_STEPS);
    let (operation, task) = cx.tasks.at_moving(place);
    let start = task.reads_from();
    let end = task.position + bytes;
    let asked = if task.reads_ahead() { 0 } else { task.asked_of(bytes) };
    task.position = end;
    let (file, takes_anonymous, write) = (task.file, task.takes_anonymous(), Write::of(task));
    let (owner, by) = (task.kind.owner(operation), cx.pages.taker_of(operation, task));
    if takes_anonymous && write.run != Run::Fill {
        cx.pages.take_anonymous(by, asked, owner);
    }
    let Some(file) = file else { return };
    match write.run {
        Run::Hit | Run::Over => {}
        Run::Fill => cx.pages.fill_shmem(file.id, (start, end), by.home),
        Run::Miss => {
            cx.pages.read_in(file.id, start, end, by);
            cx.pages.mark_accessed(file.id, start, start + asked);
        }
        Run::Through | Run::Insert => {
            cx.pages.put(file.id, start, end, by);
            cx.pages.note_folios(&file, (start, end), write.folio);
        }
        Run::New | Run::Clean | Run::Dirty => write.apply(cx, (operation, by), &file, (start, end)),
        Run::Pass | Run::Touch | Run::Remove | Run::Follow | Run::Direct | Run::Wait => {}
    }
}

/// A run that makes pages dirty.
#[derive(Clone, Copy)]
pub struct Write {
    run: Run,
    folio: u64,
    drops_behind: bool,
    is_mapped: bool,
}

impl Write {
    pub fn of(task: &Task) -> Self {
        let Task { run, folio, drops_behind, .. } = *task;
        Self { run, folio, drops_behind, is_mapped: task.mapped.is_some() }
    }

    /// Makes the pages of bytes dirty, which come into memory if they are new.
    pub fn apply(
        self,
        cx: &mut Context<'_>,
        (operation, by): (OperationId, Taker),
        file: &FileView,
        (start, end): (u64, u64),
    ) {
        if self.drops_behind || cx.pages.has_dropbehind() {
            let leaves = self.drops_behind && self.run == Run::New;
            cx.pages.mark_dropbehind(file.id, (start, end), leaves);
        }
        if self.run == Run::New {
            cx.pages.note_folios(file, (start, end), self.folio);
        }
        cx.ext4.note_changed(file.device, file.id, (start, end));
        let written = cx.flushers.make_dirty(cx.pages, cx.write_back, cx.now, file, (start, end), by);
        cx.pages.placement.has_written(operation, written.new, written.far);
        // Unmapping a touched page marks it (`mm/memory.c: zap_present_folio_ptes`).
        if cx.config.rules.writes_are_accesses || self.is_mapped {
            cx.pages.mark_accessed(file.id, start, end);
        }
    }
}

/// Puts the bytes of a cgroup over its limit into the lists, so that other pages leave. Rewritten pages are marked dirty at once: they
/// cannot be evicted any more.
pub fn keep_memcgs_within_limits(cx: &mut Context<'_>) {
    if cx.pages.memcgs.is_empty() {
        return;
    }
    settle_each(cx, pending(cx.pages, cx.tasks, |task| task.run.rewrites()));
    if cx.pages.is_over_limit() {
        settle(cx);
        cx.pages.make_room_for_pages_in_flight();
    }
}

/// Ends the writeback of pages of the first unit that have been written.
pub fn apply_written(cx: &mut Context<'_>, device: usize, from: u64, bytes: u64) {
    let unit = cx.block.queues[device].front().expect("what is written was in the queue");
    let (wb, file, start) = (unit.wb, unit.file, unit.start + from);
    end_writeback(cx, device, (wb, file), (start, start + bytes));
}

/// Ends the writeback of pages of a file, or of bytes of a log.
pub fn end_writeback(
    cx: &mut Context<'_>,
    device: usize,
    (wb, file): (WbId, Option<FileId>),
    (start, end): (u64, u64),
) {
    // Bytes of a log have no pages.
    let Some(file) = file else { return };
    let before = cx.pages.dirty().of_wb(wb).written / PAGE;
    if cx.pages.written(file, wb, start, end) && cx.config.rules.measures_after_writeback {
        cx.write_back.wbs[wb.0 as usize].as_mut().expect("what writes is there").inode_ended(cx.now);
    }
    let pages = cx.pages.dirty().of_wb(wb).written / PAGE - before;
    cx.ext4.written_back.add(cx.now, file, (start, end));
    cx.ext4.note_stored(DeviceId(device as u32), file, (start, end));
    cx.write_back.wb_domain_writeout_add(cx.now, wb.0 as usize, pages);
}

/// Counts the bytes that all tasks have moved; true if that makes an inode dirty.
pub fn count_moved(pages: &mut Pages, write_back: &WriteBack, tasks: &mut Tasks, now: Nanos) -> bool {
    let mut rates = Rates::new(&write_back.wbs);
    let (mut has_first, mut has_credit) = (false, false);
    for task in tasks.moving() {
        let Some(transfer) = task.transfer.as_mut() else { continue };
        let (_, bytes) = transfer.take(now);
        if task.run.dirties() {
            has_credit |= pages.count_dirtied(task, bytes, rates.of(task), now);
            has_first |= task.is_first && task.pending > 0;
        } else if bytes > 0 {
            pages.count_others(task, bytes);
        }
    }
    tasks.runs_ahead = has_credit;
    has_first
}

/// Returns the tasks of a kind whose moved bytes have no pages yet.
pub fn pending(pages: &Pages, tasks: &Tasks, is_wanted: impl Fn(&Task) -> bool) -> Vec<Place> {
    if pages.pending_bytes() == 0 {
        return Vec::new();
    }
    tasks.places(|task| task.pending > 0 && is_wanted(task))
}
