//! Reads missing pages for a task, and pages ahead of it.
//!
//! Source: `mm/readahead.c`, `mm/filemap.c: filemap_get_pages`, Linux 6.16. A run of missing pages is one flow over device and memory,
//! however many windows it has. Its cap is its bytes divided by the time that `readahead::window` computes, so latency counts. Pages in
//! flight at the end of a run, and windows of shorter reads, are tasks of their own. Nobody waits for them, but a task that comes to their
//! pages follows them.

use crate::policy::kernel::address_space::folios::order_of_window;
use crate::policy::kernel::config::Config;
use crate::policy::kernel::model::clock::Clock;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::run::begin_run;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::readahead::window::{Limits, Pace, Reading, Span, Stream};
use crate::policy::kernel::tasks::cost::{PerByte, Run};
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::shape::{Ahead, RunShape, StreamKey};
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileId, FileView, OperationId};
use crate::units::{Bytes, Nanos};

/// `VM_READAHEAD_PAGES` for a file that is on no disk, and its requests.
const NO_DISK: Limits = Limits { read_ahead: 32, request: 32, keeps_size: false };

/// READs that a client has ahead: `RPC_DEF_SLOT_TABLE - 1`.
const NFS_MAX_READAHEAD: u64 = 15;

pub fn limits_of(config: &Config, file: &FileView) -> Limits {
    let keeps_size = config.rules.windows_keep_size;
    if let Some(options) = config.nfs_options_of(file) {
        // `fs/nfs/client.c: nfs_server_set_fsinfo`: `io_pages` is `rsize`.
        let request = (options.rsize.0 / PAGE).max(1);
        let read_ahead =
            if config.rules.nfs_reads_far_ahead { NFS_MAX_READAHEAD * request } else { NO_DISK.read_ahead };
        return Limits { read_ahead, request, keeps_size };
    }
    config.disk_of(file).map_or(NO_DISK, |disk| Limits {
        read_ahead: disk.read_ahead.0 / PAGE,
        request: disk.queue.1.0 / PAGE,
        keeps_size,
    })
}

/// Returns the pace of one thread that reads a file and pays so much for a byte.
pub fn pace_of(config: &Config, file: &FileView, copy: f64) -> Pace {
    let disk = config.disk_of(file);
    let rate = disk.map_or(f64::INFINITY, |disk| disk.read_at.first().map_or(disk.read, |each| each.1).0);
    // Bytes pass a limiter at once, or wait for it; the device behind it takes no time of its own for them.
    let is_limited = disk.is_some_and(|disk| disk.burst > Nanos::ZERO || disk.limit_interval > Nanos::ZERO);
    Pace {
        latency: disk.map_or(0.0, |disk| disk.latency.as_seconds()),
        transfer: if is_limited { 0.0 } else { PAGE as f64 / rate },
        copy: PAGE as f64 * copy,
    }
}

/// Returns how many of the pages just before this one are cached, up to `most`.
pub fn cached_before(pages: &Pages, file: FileId, page: u64, most: u64) -> u64 {
    let (mut at, end) = (page.saturating_sub(most) * PAGE, page * PAGE);
    let mut since = end;
    while at < end {
        let (is_cached, to) = pages.lists().run(file, at, end);
        since = if is_cached { at } else { to };
        at = to;
    }
    (end - since) / PAGE
}

/// Returns the first byte from `at` on that is neither cached nor in flight, `end` at most.
pub fn first_unread(pages: &Pages, tasks: &Tasks, file: FileId, at: u64, end: u64) -> u64 {
    let mut at = at;
    while at < end {
        let (is_cached, to) = pages.lists().run(file, at, end);
        at = match tasks.reader_of(file, at) {
            _ if is_cached => to,
            Some(reader) => reader.reads_until().min(end),
            None => return at,
        };
    }
    end
}

/// Returns the shape of a run that misses the bytes from the task's position to `end`: its end and its time.
pub fn shape_miss(cx: &mut Context<'_>, operation: OperationId, end: u64) -> RunShape {
    let task = &cx.tasks[operation];
    let key = task.stream.expect("who misses pages reads an open file");
    let (file, span) = (*task.file(), Span::of(task, task.position, end));
    let cost = cx.caps.cost(cx.pages, cx.block, task, operation);
    let (stream, reading, shape) = read_span(cx, key, &file, &span, &cost);
    cx.readers.streams.insert(key, stream);
    note_windows(cx.pages, &file, &reading);
    read_before(cx, operation, &file, &span, &reading);
    shape
}

/// Reads a span of missing pages of an open file: the state of that afterwards, the windows, and the shape of the run.
pub fn read_span(
    cx: &mut Context<'_>,
    key: StreamKey,
    file: &FileView,
    span: &Span,
    cost: &PerByte,
) -> (Stream, Reading, RunShape) {
    let mut pace = pace_of(cx.config, file, cost.seconds);
    let limits = limits_of(cx.config, file);
    let is_short = (span.end - span.start) / PAGE <= limits.read_ahead;
    let seek = cx.block.seek(cx.now, file, (span.start, span.end), is_short);
    if is_short {
        pace.latency += seek.as_seconds();
    }
    let mut stream = cx.readers.streams.get(&key).copied().unwrap_or_default();
    let mut reading =
        stream.read(cx.now, span, limits, pace, |page, most| cached_before(cx.pages, file.id, page, most));
    if key.0 == OperationId::NOBODY {
        // The next chunk is asked for while this one is on the link, unless exactly what was asked for has been read.
        let last = span.end.div_ceil(PAGE);
        stream.window = stream.window.ending_at(last);
        stream.passed = (stream.window.size > 0).then_some(cx.now);
        (reading.end, reading.ahead) = (last, last);
    }
    let shape = shape(cx.pages, cx.clock, span, file, pace, &reading);
    (stream, reading, shape)
}

pub fn shape(
    pages: &Pages,
    clock: &Clock,
    span: &Span,
    file: &FileView,
    pace: Pace,
    reading: &Reading,
) -> RunShape {
    let most = (reading.end * PAGE).min(file.size.0).max(span.end);
    // Cached pages of the last request are not read again.
    let (_, end) = pages.lists().run(file.id, span.start, most);
    let is_timed = pace.latency > 0.0;
    let ahead = (reading.ahead * PAGE).min(file.size.0);
    // A request ends at the first page that is cached, and nobody waits for those behind it.
    let is_cut = end < most;
    let own = reading.seconds - (most - end) as f64 / PAGE as f64 * pace.transfer;
    let own = own.max(reading.seconds.min(pace.latency));
    let cached = pages.lists().cached_within(file.id, end, ahead.max(end));
    let all = reading.seconds + reading.ahead_seconds - cached as f64 / PAGE as f64 * pace.transfer;
    let due = clock.caught_up + Nanos::from_seconds(if is_timed { all.max(own) } else { 0.0 });
    // Behind a limiter, pages ahead wait for their turn.
    let done = if is_timed && !is_cut && pace.transfer > 0.0 { reading.ahead_done * PAGE } else { 0 };
    RunShape {
        bytes: end - span.start,
        copied: span.end - span.start,
        thread_seconds: 0.0,
        least: if is_timed { own } else { 0.0 },
        copying: if is_timed { reading.copying } else { 0.0 },
        ahead: (ahead > end).then_some(Ahead { end: ahead, done, due }),
    }
}

/// Passes the mark at a page for which a follower has waited.
pub fn pass_mark_of_follower(cx: &mut Context<'_>, operation: OperationId) {
    let next = cx.tasks[operation].position + 1;
    pass_mark(cx, operation, next);
}

/// Passes the mark among the pages of a run that the device has read: calls behind the first one come to it as they copy.
pub fn pass_mark_of_later_calls(cx: &mut Context<'_>, operation: OperationId) {
    let task = &cx.tasks[operation];
    let end = task.position + task.shape.bytes;
    if task.end_of_call(task.position) < end {
        pass_mark(cx, operation, end);
    }
}

/// Submits the next window if a task comes to the mark, among bytes up to `end` that are cached or in flight.
pub fn pass_mark(cx: &mut Context<'_>, operation: OperationId, end: u64) -> u64 {
    let task = &cx.tasks[operation];
    let looks = matches!(task.kind, Kind::Read { .. }) || task.mapped.is_some();
    let Some(key) = task.stream.filter(|_| looks) else { return 0 };
    let Some(stream) = cx.readers.streams.get(&key).copied().filter(|_| key.0 != OperationId::NOBODY) else {
        return 0;
    };
    let (window, file, task_end) = (stream.window, *task.file(), task.end);
    if !window.is_marked_within(task.position, end) {
        return 0;
    }
    let span = Span::of(task, task.position, end);
    let next = window.next(span.asked(window.mark()), stream.limits(limits_of(cx.config, &file)));
    let is_by_requests = cx.block.devices.serves_pages(file.device.0 as usize);
    // A window that the task reads to its end is part of its own run.
    if next.end() * PAGE <= task_end && !is_by_requests {
        let before = window.mark() * PAGE - task.position.min(window.mark() * PAGE);
        let seconds = before as f64 * cx.caps.cost(cx.pages, cx.block, task, operation).seconds;
        let passed = stream.passed.or(Some(cx.now + Nanos::from_seconds(seconds)));
        cx.readers.streams.insert(key, Stream { passed, ..stream });
        return 0;
    }
    let pace = pace_of(cx.config, &file, 0.0);
    let least = if pace.latency > 0.0 { pace.latency + next.size as f64 * pace.transfer } else { 0.0 };
    let (start, to) = (next.start * PAGE, (next.end() * PAGE).min(file.size.0));
    let missing = to.saturating_sub(start) - cx.pages.lists().cached_within(file.id, start, to);
    // Pages that are there get no mark: the stream has ended.
    let window = if missing > 0 { next } else { Default::default() };
    let order = order_of_window(Some(stream.order), next.size);
    if missing > 0 {
        cx.pages.note_folios(&file, (start, to), 1 << order);
        cx.tasks.get_mut(operation).expect("it is there").note_ahead((start, to));
    }
    cx.readers.streams.insert(key, Stream { window, order, passed: None, ..stream });
    read_ahead(cx, operation, &file, (start, to), 0, least);
    missing
}

/// Records the folios of the windows that were read.
pub fn note_windows(pages: &mut Pages, file: &FileView, reading: &Reading) {
    for (start, end, order) in reading.folios() {
        pages.note_folios(file, (start * PAGE, end * PAGE), 1 << order);
    }
}

/// Reads pages ahead, of which `done` bytes have been transferred. They arrive in `least` seconds at the earliest, request by request,
/// behind the pages that the same thread has in flight; a device that serves requests is asked for them at once.
pub fn read_ahead(
    cx: &mut Context<'_>,
    thread: OperationId,
    file: &FileView,
    (start, end): (u64, u64),
    done: u64,
    least: f64,
) {
    let due = cx.now + Nanos::from_seconds(least);
    let thread = cx.readers.process(thread);
    let before = cx.tasks.ahead_of(thread, file.id, start);
    if let Some(before) = before.filter(|before| !before.is_at_device) {
        before.shape.ahead = Some(Ahead { end, done: 0, due });
        return;
    }
    let from = start + done;
    let start = first_unread(cx.pages, cx.tasks, file.id, start, end);
    if start >= end {
        return;
    }
    let (_, run) = cx.pages.lists().run(file.id, start, end);
    let operation = cx.tasks.new_number();
    // A client of NFS divides a window into READs.
    let is_remote = cx.config.nfs_options_of(file).is_some();
    let to = if is_remote { run } else { run.min(start + limits_of(cx.config, file).request * PAGE) };
    let from = from.clamp(start, to - 1);
    // Pages that are cached are left out, those behind them are not.
    let ahead = (to < end).then_some(Ahead { end, done: 0, due });
    let missing = end - to - cx.pages.lists().cached_within(file.id, to, end);
    let rest = missing as f64 / PAGE as f64 * pace_of(cx.config, file, 0.0).transfer;
    let least = if least > 0.0 { (least - rest).max(0.0) } else { 0.0 };
    let shape = RunShape { bytes: to - from, least, ahead, ..RunShape::default() };
    let bytes = Bytes(to - from);
    let (memcg, wb) = (cx.pages.memcg_of(thread), cx.write_back.wb_of(file));
    let task = Task::new(Kind::ReadAhead { thread }, Some(*file), (from, bytes, bytes), cx.now);
    cx.tasks.insert(operation, Task { memcg, wb, shape, run: Run::Miss, origin: start, ..task });
    begin_run(cx, operation, to);
    send_ahead(cx, operation);
}

/// Asks a device that serves requests for the pages ahead of a run at the same time as for those of the run.
pub fn send_ahead(cx: &mut Context<'_>, operation: OperationId) {
    let Some(task) = cx.tasks.get_mut(operation).filter(|task| task.is_at_device) else { return };
    let Some(ahead) = task.shape.ahead.take() else { return };
    let (start, file, thread) = (task.position + task.shape.bytes, *task.file(), task.thread(operation));
    task.note_ahead((start, ahead.end));
    read_ahead(cx, thread, &file, (start, ahead.end), 0, 0.0);
}

/// Makes the pages in flight at the end of a task's run an operation of their own.
pub fn leave_ahead(cx: &mut Context<'_>, operation: OperationId) {
    let task = cx.tasks.get_mut(operation).expect("a run that ends has a task");
    let Some(ahead) = task.shape.ahead.take() else { return };
    let (start, file, thread) = (task.position, *task.file(), task.thread(operation));
    let least = (ahead.due.max(cx.now) - cx.now).as_seconds();
    read_ahead(cx, thread, &file, (start, ahead.end), ahead.done, least);
}

/// Forgets read-ahead beyond the new end of a file. Its pages still arrive, but do not stay.
pub fn forget_read_ahead(cx: &mut Context<'_>, by: OperationId, file: FileId, size: u64) {
    let Context { tasks, pages, .. } = cx;
    tasks.retain(|task| {
        let is_beyond = task.reads_ahead() && task.file().id == file && task.end > size;
        if is_beyond {
            let bytes = std::mem::take(&mut task.pending);
            pages.uncount(task, bytes);
        }
        !is_beyond
    });
    if size == 0 {
        cx.readers.streams.remove(&(by, file));
    }
}

/// Reads the pages before a missed page, too, if the window lies around it.
fn read_before(
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

#[cfg(test)]
mod tests;
