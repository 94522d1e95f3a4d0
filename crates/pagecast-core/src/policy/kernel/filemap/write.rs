//! Steps `write()` into the cache: looks its pages up, and waits where it must.
//!
//! Source: `mm/filemap.c: generic_perform_write`, `mm/page-writeback.c: folio_wait_stable`, Linux 6.16. The task's rate, where it is
//! throttled, is in `page_writeback`.

use crate::policy::kernel::address_space::page_state::PageState;
use crate::policy::kernel::discretisation::{LEAST_RUN, STABLE_RUN};
use crate::policy::kernel::filemap::fdatawrite::filemap_write_and_wait_range;
use crate::policy::kernel::filemap::mapped::{do_page_mkwrite, filemap_fault, touch_mapped};
use crate::policy::kernel::filemap::partial_blocks::prepare_blocks;
use crate::policy::kernel::filemap::readahead::{pass_mark, pass_mark_of_follower};
use crate::policy::kernel::jbd2::checkpoint::journal_data;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::nfs::requests::{Incompatible, incompatible};
use crate::policy::kernel::page::{PAGE, whole_pages};
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::cost::{Access, Run};
use crate::policy::kernel::tasks::kind::{Kind, Next, Stage};
use crate::policy::kernel::tasks::shape::RunShape;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileId, OperationId};

/// Two windows of read-ahead, the current one and the next (`read_ahead_kb`, 128 KiB).
pub const LOCKED: u64 = 256 << 10;

/// Steps a write to a file, or to pages of a mapping.
pub fn step_write(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = &cx.tasks[operation];
    if task.position >= task.end {
        return Next::Done;
    }
    if task.kind == Kind::Write && task.mapped.is_some() {
        filemap_fault(cx, operation);
    }
    if let Some(next) = flush_incompatible(cx, operation) {
        return next;
    }
    let task = &cx.tasks[operation];
    let (run, mut end) = look_up_to_write(cx.pages, cx.tasks, task, operation);
    if task.joins_until > task.position {
        end = end.min(task.joins_until);
    }
    if task.mapped.is_some() {
        end = touch_mapped(cx, operation, run, end);
    }
    let task = &cx.tasks[operation];
    if run == Run::New && task.read_until.is_some() {
        let Some(prepared) = prepare_blocks(cx, operation, end) else { return Next::Wait };
        end = prepared;
    }
    if run.dirties() {
        let Some(journaled) = journal_data(cx, operation, end) else { return Next::Wait };
        end = journaled;
    }
    let task = cx.tasks.get_mut(operation).expect("it is there");
    (task.run, task.since) = (run, cx.now);
    let mut shape = shape_write(cx, operation, end);
    let task = cx.tasks.get_mut(operation).expect("it is there");
    if !matches!(run, Run::Follow | Run::Wait) {
        shape.thread_seconds += std::mem::take(&mut task.update_time).as_seconds();
    }
    task.shape = shape;
    match run {
        Run::Follow => {
            cx.tasks.has_followers = true;
            Next::Wait
        }
        Run::Wait => {
            folio_wait_stable(cx, operation, end);
            Next::Wait
        }
        _ => Next::Run(end),
    }
}

/// Returns the first folio of another host's file that a write, from its position on, finds with dirty bytes that it does not join.
pub fn find_incompatible(pages: &Pages, task: &Task) -> Option<Incompatible> {
    let file = task.file().id;
    incompatible(pages.dirty(), pages.folios(), task, |at, end| pages.lists().run(file, at, end))
}

/// Writes a folio of another host's file, and commits it, before a write to bytes that its dirty ones do not join
/// (`fs/nfs/write.c: nfs_wb_folio`). None if the write can go on.
fn flush_incompatible(cx: &mut Context<'_>, operation: OperationId) -> Option<Next> {
    let task = &cx.tasks[operation];
    if task.kind != Kind::Write || task.joins_until > task.position {
        return None;
    }
    let (file, stage) = (*task.file(), task.stage);
    cx.config.nfs_options_of(&file)?;
    let found = find_incompatible(cx.pages, task);
    let task = cx.tasks.get_mut(operation).expect("it is there");
    match found.filter(|found| found.at == task.position) {
        Some(found) => {
            (task.run, task.stage, task.since) = (Run::Wait, Stage::Pages, cx.now);
            cx.nfs.get_mut(file.device).expect("the file is another host's").make_way(file.id, true);
            let waits = filemap_write_and_wait_range(cx, operation, &file, found.folio);
            Some(if waits { Next::Wait } else { Next::Step })
        }
        None if stage == Stage::Pages => {
            (task.stage, task.since) = (Stage::Start, cx.now);
            let client = cx.nfs.get_mut(file.device).expect("the file is another host's");
            client.make_way(file.id, false);
            Some(if client.wait_for_commit(file.id, operation, cx.out) { Next::Wait } else { Next::Step })
        }
        None => {
            task.joins_until = found.map_or(u64::MAX, |found| found.at);
            None
        }
    }
}

/// Returns the shape of a write's run up to `end`, beside its bytes and their cost.
fn shape_write(cx: &mut Context<'_>, operation: OperationId, end: u64) -> RunShape {
    let task = &cx.tasks[operation];
    let plain = RunShape::plain(end - task.position);
    let page_insert = task.page_insert();
    match task.run {
        Run::Dirty if task.access == Access::Finds => plain,
        Run::Clean | Run::Dirty if task.mapped.is_some() => {
            let pages = pass_mark(cx, operation, end).div_ceil(PAGE);
            let thread_seconds =
                pages as f64 * page_insert.as_seconds() + do_page_mkwrite(cx.pages, cx.tasks, operation, end);
            RunShape { thread_seconds, ..plain }
        }
        Run::New if task.mapped.is_some() => {
            RunShape { thread_seconds: do_page_mkwrite(cx.pages, cx.tasks, operation, end), ..plain }
        }
        Run::Follow => {
            pass_mark_of_follower(cx, operation);
            plain
        }
        _ => plain,
    }
}

/// Lets a writer wait until the pages before it are on the device.
pub fn folio_wait_stable(cx: &mut Context<'_>, operation: OperationId, end: u64) {
    let task = &cx.tasks[operation];
    let (file, range) = (*task.file(), whole_pages((task.position, end)));
    let must_wait = cx.block.queue(file.device).wait_within(file.id, range, operation);
    debug_assert!(must_wait, "what is under writeback is in the queue");
}

/// Returns how the next bytes of a write are served, and the end of that run.
pub fn look_up_to_write(pages: &Pages, tasks: &Tasks, task: &Task, operation: OperationId) -> (Run, u64) {
    let (file, at, end) = (task.file().id, task.position, task.end);
    let least = end.min(at.saturating_add(LEAST_RUN));
    let (is_cached, run_end) = pages.lists().run(file, at, end);
    match is_cached {
        false if task.mapped.is_some() && tasks.reader_of(file, at).is_some() => (Run::Follow, run_end),
        false if is_being_read(tasks, file, at) => (Run::Follow, run_end),
        false => {
            let to = pages.new_end(operation, at, run_end).max(least);
            (Run::New, end_of_blocks(pages, task, to))
        }
        // It has to wait where no page can be had.
        true if run_end < least && pages.is_memcg_exhausted(task.memcg) => (Run::New, least),
        true if task.kind == Kind::Write && pages.config.has_stable_pages(task) => {
            match pages.dirty().stable_run(file, at, run_end.min(at.saturating_add(STABLE_RUN))) {
                (PageState::Writeback, to) => (Run::Wait, to),
                (PageState::Dirty, to) => (Run::Dirty, to),
                (PageState::Clean, to) => (Run::Clean, to),
            }
        }
        true => {
            let (is_dirty, to) = pages.dirty().dirty_run(file, at, run_end);
            let run = if is_dirty { Run::Dirty } else { Run::Clean };
            (run, pages.near_end(file, at, to).max(least))
        }
    }
}

/// Cuts a run of new pages where the blocks of the file end, if pages cost more beyond.
fn end_of_blocks(pages: &Pages, task: &Task, to: u64) -> u64 {
    let filled = task.file().filled.0;
    if pages.config.prices.has_reserve() && (task.position + 1..to).contains(&filled) { filled } else { to }
}

/// True if a page is locked by read-ahead. A write to it waits; pages farther ahead can be written before.
pub fn is_being_read(tasks: &Tasks, file: FileId, at: u64) -> bool {
    let ahead = |reader: &Task| at.saturating_sub(reader.position + reader.pending);
    tasks.reader_of(file, at).is_some_and(|reader| ahead(reader) < LOCKED)
}
