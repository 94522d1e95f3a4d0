//! Steps mappings whose pages are touched one after the other.
//!
//! Source: `mm/memory.c: do_read_fault, do_shared_fault, do_fault_around, fault_dirty_shared_page`, `mm/filemap.c: filemap_fault,
//! do_sync_mmap_readahead, do_async_mmap_readahead, filemap_map_pages`, Linux 6.16.
//!
//! - A page that is not in the cache is read with those around it. At the mark among them the next window is submitted, as with calls.
//! - Cached pages are mapped 16 at a time for reading, and one at a time for writing.
//! - A page mapped for writing becomes dirty, and the task is checked and throttled like a writer.
//! - Since Linux 6.18 either kind of fault maps a whole folio (`mm/filemap.c: filemap_map_folio_range`, "mm/filemap: map entire large folio
//!   faultaround"; `mm/memory.c: finish_fault`, "mm/fault: try to map the entire file folio in finish_fault()").
//! - A page is read before it is written to, unless the file has a hole there.
//! - A mapping that stays has no fault at mapped pages. A page that was written back becomes dirty again by a fault.
//!
//! Left out: MGLRU's younger generation for faulted pages; the longer life of mapped pages; locks of the address space; a folio that
//! becomes dirty as a whole.

use crate::policy::OperationId;
use crate::policy::kernel::address_space::folios::{FaultUnit, Faults};
use crate::policy::kernel::filemap::readahead::{
    cached_before, first_unread, limits_of, note_windows, pace_of, read_ahead,
};
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::readahead::window::Span;
use crate::policy::kernel::tasks::cost::{Access, FAULT_AROUND_PAGES, Run};
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;

/// Touches bytes of a mapping, up to `end` at most. Returns the end of the bytes that are mapped, or not mapped, like the first, and maps
/// them all.
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
    let unit = FaultUnit { least, is_whole_folio: cx.config.rules.maps_folios };
    let unit = unit.bytes(cx.pages.folios().run(task.file().id, task.position, end).0);
    let (from, to) = (task.position / unit * unit, end.next_multiple_of(unit));
    mapping.insert(from, to, is_write);
    end
}

/// Maps the pages around each cached page that a task touches, up to `end`, and returns the seconds of the faults. Within 64 KiB of the
/// last touch the fault has been paid already.
pub fn do_fault_around(cx: &mut Context<'_>, operation: OperationId, end: u64) -> f64 {
    let task = &cx.tasks[operation];
    let (Some(_), Some(key)) = (task.mapped, task.stream) else { return 0.0 };
    let faults = faults(cx.pages, task, end, FAULT_AROUND_PAGES);
    let found = (end - task.position).div_ceil(PAGE).max(faults.count * FAULT_AROUND_PAGES);
    cx.readers.streams.entry(key).or_default().found_mapped(found);
    faults.count as f64 * cx.config.prices.fault_around + faults.further * cx.config.prices.folio_map
}

/// Reads pages that a task will write to soon, as far as the device has them. The task follows the read.
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

/// Returns the seconds of the faults that let a task write to bytes of a mapping, up to `end`. Pages of a hole come in long folios as well,
/// where faults map whole ones.
pub fn do_page_mkwrite(pages: &Pages, tasks: &Tasks, operation: OperationId, end: u64) -> f64 {
    let task = &tasks[operation];
    if task.run == Run::New && pages.config.rules.maps_folios {
        return 0.0;
    }
    faults(pages, task, end, 1).count as f64 * pages.config.prices.fault_mkwrite
}

/// Returns the faults of a task up to `end`, each of which maps at least so many pages.
pub fn faults(pages: &Pages, task: &Task, end: u64, least: u64) -> Faults {
    let (file, at) = (task.file().id, task.position);
    let unit = FaultUnit { least, is_whole_folio: pages.config.rules.maps_folios };
    let around = unit.bytes(pages.folios().run(file, at, end).0);
    let from = if at == task.origin { at } else { at.next_multiple_of(around) };
    // A mapping that does not stay has nothing around what is touched.
    let (from, end) = match task.access {
        Access::Maps => (from, end),
        _ => (from / around * around, end.next_multiple_of(unit.least * PAGE)),
    };
    pages.folios().faults(file, (from, end), unit)
}
