//! Mappings of files whose pages are touched one after the other.
//!
//! Source: `mm/memory.c: do_read_fault, do_shared_fault, do_fault_around, fault_dirty_shared_page`, `mm/filemap.c: filemap_fault,
//! do_sync_mmap_readahead, do_async_mmap_readahead, filemap_map_pages`, Linux 6.16. A page that is not in the cache is read with those
//! around it, and who comes to the mark among them has the next window read, as with calls. Pages that are there are mapped 16 at a
//! time to be read, and one at a time to be written: then the page becomes dirty, and whoever dirties it is checked and throttled
//! like a writer. A page is read before it is written to, unless the file has a hole there. Left out: that pages that come with
//! a fault are younger in MGLRU; that pages which are mapped are kept longer; locks of the address space.

use super::cost::FAULT_AROUND_PAGES;
use super::readahead::{Mode, Reading, Span};
use super::tasks::Task;
use super::{Kernel, PAGE};
use crate::policy::{Actions, Call, FileView, OperationId};
use crate::workload::MapAdvice;

/// How pages that are missed are read, if a call touches a mapping.
pub(super) fn mode_of(call: &Call) -> Option<Mode> {
    match *call {
        Call::Mapped { advice: MapAdvice::Normal, .. } => Some(Mode::Normal),
        Call::Mapped { advice: MapAdvice::Sequential, .. } => Some(Mode::Sequential),
        Call::Mapped { advice: MapAdvice::Random, .. } => Some(Mode::Random),
        _ => None,
    }
}

impl Task {
    /// The bytes from `start` to `end`, as its read-ahead sees them. A mapping is asked for page by page.
    pub(super) fn span(&self, start: u64, end: u64) -> Span {
        let call = if self.mapped.is_some() { PAGE } else { self.piece.0 };
        Span { start, end, origin: self.origin, last: self.end, call, mapped: self.mapped }
    }
}

impl Kernel {
    /// A task reads bytes that are there, up to `end`: if they are of a mapping, those around each page that it touches are mapped with
    /// it. What that takes, in seconds.
    pub(super) fn map_around(&mut self, operation: OperationId, end: u64) -> f64 {
        let task = &self.tasks[operation];
        let (Some(_), Some(key)) = (task.mapped, task.stream) else { return 0.0 };
        let around = FAULT_AROUND_PAGES * PAGE;
        let (start, end) = (task.position / around * around, end.next_multiple_of(around));
        self.streams.entry(key).or_default().found_mapped((end - start) / PAGE);
        ((end - start) / around) as f64 * self.prices.fault_around
    }

    /// A task has missed a page: those before it are read, too, if they are around it.
    pub(super) fn read_before(
        &mut self,
        operation: OperationId,
        file: &FileView,
        span: &Span,
        reading: &Reading,
        out: &mut Actions,
    ) {
        let (start, end) = (reading.begin * PAGE, span.start / PAGE * PAGE);
        if start < end {
            self.read_ahead(operation, file, (start, end), 0, reading.seconds, out);
        }
    }

    /// Has pages read that a task is going to write to soon, as far as the device has them: who waits for them follows.
    pub(super) fn fault_in(&mut self, operation: OperationId, out: &mut Actions) {
        let task = &self.tasks[operation];
        let (file, key) = (*task.file(), task.stream.expect("who touches a mapping reads an open file"));
        let limits = self.limits_of(&file);
        let request = limits.forced().max(1) * PAGE;
        let filled = file.filled.0.min(task.end);
        let start = self.first_unread(file.id, task.position, filled.min(task.position + request));
        let end = filled.min(start.saturating_add(request));
        if start >= filled.min(task.position + request) {
            return;
        }
        let (_, end) = self.pages.lists.run(file.id, start, end);
        let (span, pace) = (task.span(start, end), self.pace_of(&file, 0.0));
        let mut stream = self.streams.get(&key).copied().unwrap_or_default();
        let reading = stream
            .read(self.synced, &span, limits, pace, |page, most| self.cached_before(file.id, page, most));
        self.streams.insert(key, stream);
        let (from, to) = (reading.begin * PAGE, reading.ahead.max(reading.end) * PAGE);
        let seconds = if pace.latency > 0.0 { reading.seconds + reading.ahead_seconds } else { 0.0 };
        self.read_ahead(operation, &file, (from.min(start), to.min(file.size.0)), 0, seconds, out);
    }
}
