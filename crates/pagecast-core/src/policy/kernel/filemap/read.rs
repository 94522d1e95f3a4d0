//! Steps `read()` through the cache: looks its pages up, and waits for those in flight.
//!
//! Source: `mm/filemap.c: filemap_read`, Linux 6.16. Missing pages and read-ahead are in `readahead`.

use crate::policy::kernel::discretisation::CACHED_AT_ONCE;
use crate::policy::kernel::filemap::mapped::{do_fault_around, touch_mapped};
use crate::policy::kernel::filemap::readahead::{limits_of, pass_mark, pass_mark_of_follower, shape_miss};
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::follow::followed_by;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::cost::{Access, Run};
use crate::policy::kernel::tasks::kind::{Next, Stage};
use crate::policy::kernel::tasks::shape::RunShape;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileView, OperationId, Procedure};
use crate::result::Part;
use crate::units::Bytes;

/// Steps a read of a file, or of pages of a mapping.
pub fn step_read(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = &cx.tasks[operation];
    if task.position >= task.end {
        return Next::Done;
    }
    if task.stage != Stage::Pages
        && let Some(next) = nfs_revalidate_mapping(cx, operation)
    {
        return next;
    }
    let task = &cx.tasks[operation];
    let (run, mut end) = look_up_to_read(cx.pages, cx.tasks, task);
    if task.mapped.is_some() {
        end = touch_mapped(cx, operation, run, end);
    }
    let file = *cx.tasks[operation].file();
    let is_by_requests =
        matches!(run, Run::Miss | Run::Pass) && cx.block.devices.serves_pages(file.device.0 as usize);
    if is_by_requests {
        // A window at a time, and what a call asks for.
        let (task, window) = (&cx.tasks[operation], limits_of(cx.config, &file).forced() * PAGE);
        end = end.min(task.end_of_call(task.position)).min(task.position.saturating_add(window.max(PAGE)));
    }
    let task = cx.tasks.get_mut(operation).expect("it is there");
    (task.run, task.since) = (run, cx.now);
    let mut shape = shape_read(cx, operation, end);
    let task = cx.tasks.get_mut(operation).expect("it is there");
    if is_by_requests {
        // The rest of the window that comes with it.
        end = task.end.min(task.position + shape.bytes);
        shape.copied = end - task.position;
    }
    task.shape = shape;
    if run == Run::Follow {
        cx.tasks.has_followers = true;
        return Next::Wait;
    }
    Next::Run(end)
}

/// Asks for the attributes of a file of another host, if they are not believed any more, before the first of its pages is read
/// (`fs/nfs/inode.c: nfs_revalidate_mapping`). None if the read can go on.
fn nfs_revalidate_mapping(cx: &mut Context<'_>, operation: OperationId) -> Option<Next> {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let file = *task.file();
    if task.stage == Stage::Durable {
        let waited = cx.nfs.parts_of_wait(cx.now, Some(&file), Part::DeviceRead, cx.now - task.since);
        task.outcome.parts.add_all(&waited);
    }
    let asks = task.stage == Stage::Start && task.mapped.is_none() && cx.nfs.must_revalidate(cx.now, &file);
    task.stage = if asks { Stage::Durable } else { Stage::Pages };
    if !asks {
        return None;
    }
    task.since = cx.now;
    let client = cx.nfs.get_mut(file.device).expect("the file is another host's");
    client.ask(operation, file.id, Procedure::Getattr, cx.out);
    Some(Next::Wait)
}

/// Returns the shape of a read's run up to `end`, beside its bytes and their cost.
fn shape_read(cx: &mut Context<'_>, operation: OperationId, end: u64) -> RunShape {
    let task = &cx.tasks[operation];
    let plain = RunShape::plain(end - task.position);
    let page_insert = task.page_insert();
    match task.run {
        Run::Miss => shape_miss(cx, operation, end),
        // Its read-ahead leaves with the rest.
        Run::Pass => RunShape { ahead: None, ..shape_miss(cx, operation, end) },
        Run::Hit if task.access == Access::Finds => plain,
        Run::Hit => {
            let pages = pass_mark(cx, operation, end).div_ceil(PAGE);
            let thread_seconds =
                pages as f64 * page_insert.as_seconds() + do_fault_around(cx, operation, end);
            RunShape { thread_seconds, ..plain }
        }
        _ => {
            pass_mark_of_follower(cx, operation);
            plain
        }
    }
}

/// Returns how much of a copy is read before it is written: a window of read-ahead, where it is not cached. The next window is read while
/// that is written.
pub fn read_at_once(pages: &Pages, file: &FileView, at: u64, end: u64) -> Bytes {
    let end = end.min(at.saturating_add(CACHED_AT_ONCE));
    if pages.config.is_tmpfs(file) || pages.lists().cached_within(file.id, at, end) == end - at {
        return Bytes(CACHED_AT_ONCE);
    }
    Bytes(limits_of(&pages.config, file).read_ahead.max(1) * PAGE)
}

/// Returns how the next bytes of a read are served, and the end of that run.
pub fn look_up_to_read(pages: &Pages, tasks: &Tasks, task: &Task) -> (Run, u64) {
    let (file, at) = (task.file().id, task.position);
    match pages.lists().run(file, at, task.end) {
        (_, end) if followed_by(pages, tasks, task).is_some() => (Run::Follow, end),
        (true, end) => (Run::Hit, pages.near_end(file, at, end)),
        (false, end) if task.drops_behind => (Run::Pass, end),
        (false, end) => (Run::Miss, end),
    }
}
