//! Mappings of files whose pages are touched one after the other.
//!
//! Source: `mm/memory.c: do_read_fault, do_shared_fault, do_fault_around, fault_dirty_shared_page`, `mm/filemap.c: filemap_fault,
//! do_sync_mmap_readahead, do_async_mmap_readahead, filemap_map_pages`, Linux 6.16. A page that is not in the cache is read with those
//! around it, and who comes to the mark among them has the next window read, as with calls. Pages that are there are mapped 16 at a
//! time to be read, and one at a time to be written: then the page becomes dirty, and whoever dirties it is checked and throttled
//! like a writer. Since Linux 6.18 a fault of either kind maps the whole folio that its page is in (`mm/filemap.c:
//! filemap_map_folio_range`, "mm/filemap: map entire large folio faultaround"; `mm/memory.c: finish_fault`, "mm/fault: try to map
//! the entire file folio in finish_fault()"). A page is read before it is written to, unless the file has a hole there. A mapping that stays
//! has no fault where pages are mapped already; a page that has been written back has to become dirty again by one. Left out:
//! that pages that come with a fault are younger in MGLRU; that pages which are mapped are kept longer; locks of the address space;
//! that all pages of a folio become dirty with one.

use crate::policy::kernel::address_space::folios::{Faults, Grain};
use crate::policy::kernel::filemap::readahead::{
    cached_before, first_unread, limits_of, note_windows, pace_of, read_ahead,
};
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::readahead::window::{Reading, Span};
use crate::policy::kernel::tasks::cost::{Access, FAULT_AROUND_PAGES, Run};
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileView, OperationId};

/// A task touches bytes of a mapping up to `end` at most, which are served alike: up to where they are mapped, or are not. All of
/// them are mapped then.
pub fn touch_mapped(cx: &mut Context<'_>, operation: OperationId, run: Run, end: u64) -> u64 {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    if task.access == Access::Maps || matches!(run, Run::Follow | Run::Wait) {
        return end;
    }
    let key = task.stream.expect("who touches a mapping reads an open file");
    let mapping = cx.readers.mappings.get_mut(&key).expect("it stays");
    let is_write = task.kind == Kind::Write;
    // Others have faults, whatever was mapped before.
    let may_find = matches!(run, Run::Hit | Run::Dirty);
    let (is_mapped, end) = if may_find { mapping.find(task.position, end, is_write) } else { (false, end) };
    task.access = if is_mapped { Access::Finds } else { Access::Faults };
    let least = if run == Run::Hit { FAULT_AROUND_PAGES } else { 1 };
    let grain = Grain { least, is_whole_folio: cx.config.rules.maps_folios };
    let grain = grain.bytes(cx.pages.folios().run(task.file().id, task.position, end).0);
    let (from, to) = (task.position / grain * grain, end.next_multiple_of(grain));
    mapping.insert(from, to, is_write);
    end
}

/// A task reads bytes that are there, up to `end`: if they are of a mapping, those around each page that it touches are mapped with
/// it. What that takes, in seconds. Whoever goes on within 64 KiB has had their fault.
pub fn do_fault_around(cx: &mut Context<'_>, operation: OperationId, end: u64) -> f64 {
    let task = &cx.tasks[operation];
    let (Some(_), Some(key)) = (task.mapped, task.stream) else { return 0.0 };
    let faults = faults(cx.pages, task, end, FAULT_AROUND_PAGES);
    let found = (end - task.position).div_ceil(PAGE).max(faults.count * FAULT_AROUND_PAGES);
    cx.readers.streams.entry(key).or_default().found_mapped(found);
    faults.count as f64 * cx.config.prices.fault_around + faults.further * cx.config.prices.folio_map
}

/// A task has missed a page: those before it are read, too, if they are around it.
pub fn read_before(
    cx: &mut Context<'_>,
    operation: OperationId,
    file: &FileView,
    span: &Span,
    reading: &Reading,
) {
    let (start, end) = (reading.begin * PAGE, span.start / PAGE * PAGE);
    if start < end {
        read_ahead(cx, operation, file, (start, end), 0, reading.seconds);
    }
}

/// Has pages read that a task is going to write to soon, as far as the device has them: who waits for them follows.
pub fn filemap_fault(cx: &mut Context<'_>, operation: OperationId) {
    let task = &cx.tasks[operation];
    let (file, key) = (*task.file(), task.stream.expect("who touches a mapping reads an open file"));
    let limits = limits_of(cx.config, &file);
    let request = limits.forced().max(1) * PAGE;
    let filled = file.filled.0.min(task.end);
    let soon = filled.min(task.position + request);
    let start = first_unread(cx.pages, cx.tasks, file.id, task.position, soon);
    if start >= soon {
        return;
    }
    let end = filled.min(start.saturating_add(request));
    let (_, end) = cx.pages.lists().run(file.id, start, end);
    let (span, pace) = (Span::of(task, start, end), pace_of(cx.config, &file, 0.0));
    let mut stream = cx.readers.streams.get(&key).copied().unwrap_or_default();
    let reading =
        stream.read(cx.now, &span, limits, pace, |page, most| cached_before(cx.pages, file.id, page, most));
    cx.readers.streams.insert(key, stream);
    note_windows(cx.pages, &file, &reading);
    let (from, to) = (reading.begin * PAGE, reading.ahead.max(reading.end) * PAGE);
    let seconds = if pace.latency > 0.0 { reading.seconds + reading.ahead_seconds } else { 0.0 };
    read_ahead(cx, operation, &file, (from.min(start), to.min(file.size.0)), 0, seconds);
}

/// A task is going to write to bytes of a mapping, up to `end`: what the faults take that let it, in seconds. Pages of a hole come in
/// long folios as well, where faults map whole ones.
pub fn do_page_mkwrite(pages: &Pages, tasks: &Tasks, operation: OperationId, end: u64) -> f64 {
    let task = &tasks[operation];
    if task.run == Run::New && pages.config.rules.maps_folios {
        return 0.0;
    }
    faults(pages, task, end, 1).count as f64 * pages.config.prices.fault_mkwrite
}

/// The faults of a task up to `end`, each of which maps so many pages at least.
pub fn faults(pages: &Pages, task: &Task, end: u64, least: u64) -> Faults {
    let (file, at) = (task.file().id, task.position);
    let grain = Grain { least, is_whole_folio: pages.config.rules.maps_folios };
    let around = grain.bytes(pages.folios().run(file, at, end).0);
    let from = if at == task.origin { at } else { at.next_multiple_of(around) };
    // A mapping that does not stay has nothing around what is touched.
    let (from, end) = match task.access {
        Access::Maps => (from, end),
        _ => (from / around * around, end.next_multiple_of(grain.least * PAGE)),
    };
    pages.folios().faults(file, (from, end), grain)
}
