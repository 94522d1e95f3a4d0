//! Computes read-ahead: the windows of an open file, and how long a reader waits for its device.
//!
//! Source: `mm/readahead.c: page_cache_sync_ra`, `page_cache_async_ra`, `get_init_ra_size`, `get_next_ra_size`, `ractl_max_pages`,
//! `force_page_cache_ra`, and `mm/filemap.c: filemap_get_pages`, `filemap_read`, `filemap_fault`, Linux 6.16. A window is submitted when
//! its first page is missed, or when the reader comes to the mark of the window before. The reader looks for the mark before it waits for
//! the page, so that up to two windows are in flight.
//!
//! Left out: a mark is a whole folio; marks that another reader of the file meets; streams that share an open file.

use crate::policy::kernel::address_space::folios::order_of_window;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::kind::Mode;
use crate::policy::kernel::tasks::task::Task;
use crate::units::Nanos;

/// The limits of a device, in pages.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// `ra_pages`.
    pub read_ahead: u64,
    /// `io_pages`: the pages of one request.
    pub request: u64,
    /// `Rules::windows_keep_size`.
    pub keeps_size: bool,
}

impl Limits {
    /// `ractl_max_pages`: the largest window for a call that asks for so many pages.
    fn most(self, asked: u64) -> u64 {
        if asked > self.read_ahead && self.request > self.read_ahead {
            asked.min(self.request)
        } else {
            self.read_ahead
        }
    }

    /// `force_page_cache_ra`: the most pages read without a window.
    pub fn forced(self) -> u64 {
        self.read_ahead.max(self.request)
    }
}

/// The pages that were submitted together last. The last `async_size` of them were read ahead; the first of these has the mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub start: u64,
    /// Nothing was submitted if this is 0.
    pub size: u64,
    pub async_size: u64,
}

/// `get_init_ra_size`.
fn first_size(asked: u64, most: u64) -> u64 {
    let size = asked.next_power_of_two();
    if size <= most / 32 {
        size * 4
    } else if size <= most / 4 {
        size * 2
    } else {
        most
    }
}

/// `get_next_ra_size`.
fn next_size(size: u64, most: u64) -> u64 {
    if size < most / 16 {
        size * 4
    } else if size <= most / 2 {
        size * 2
    } else {
        most
    }
}

impl Window {
    pub fn end(&self) -> u64 {
        self.start + self.size
    }

    /// True if the page at which the next window is submitted is one of those with these bytes.
    pub fn is_marked_within(&self, start: u64, end: u64) -> bool {
        self.size > 0 && (start / PAGE..end.div_ceil(PAGE)).contains(&self.mark())
    }

    /// The page at which the next window is submitted.
    pub fn mark(&self) -> u64 {
        self.end() - self.async_size
    }

    /// A window of this size that ends at a page, so that a miss of that page continues it.
    pub fn ending_at(&self, page: u64) -> Self {
        Self { start: page.saturating_sub(self.size), async_size: self.size, ..*self }
    }

    /// Returns the next window, for a call that comes to the mark and asks for so many pages from there on.
    pub fn next(&self, asked: u64, limits: Limits) -> Self {
        let next = next_size(self.size, limits.most(asked));
        let size = if limits.keeps_size { next.max(self.size) } else { next };
        Self { start: self.end(), size, async_size: size }
    }
}

/// A miss of a reader.
#[derive(Clone, Copy, Debug)]
pub struct Miss {
    pub page: u64,
    /// Pages from there to the end of the call.
    pub asked: u64,
    /// The page at which the last call ended, if there was one.
    pub previous: Option<u64>,
}

impl Miss {
    /// Returns the window to be submitted; none if exactly the pages asked for are read. `cached_before` counts the cached pages just
    /// before that one, up to a number.
    pub fn window(&self, limits: Limits, cached_before: impl Fn(u64) -> u64) -> Option<Window> {
        let Self { page, asked, previous } = *self;
        let most = limits.most(asked);
        let goes_on = previous.is_some_and(|previous| (previous..=previous + 1).contains(&page));
        if page == 0 || asked > most || goes_on {
            let size = first_size(asked, most);
            let async_size = if size > asked { size - asked } else { size / 2 };
            return Some(Window { start: page, size, async_size });
        }
        let before = cached_before(most);
        if before <= asked {
            return None;
        }
        // Cached from the beginning of the file on: a long stream.
        let before = if before == page { 2 * before } else { before };
        Some(Window { start: page, size: (before + asked).min(most), async_size: 1 })
    }
}

/// The speeds of a reader and its device, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The latency of a request, before its bytes come.
    pub latency: f64,
    /// The transfer of a page by the device.
    pub transfer: f64,
    /// The copy of a page by the thread.
    pub copy: f64,
}

/// The part of an operation that is not cached.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The missing bytes.
    pub start: u64,
    pub end: u64,
    /// First byte and end of the operation, and the bytes of a call.
    pub origin: u64,
    pub last: u64,
    pub call: u64,
    /// The way in which missed pages of a mapping are read; none for calls.
    pub mapped: Option<Mode>,
}

impl Span {
    /// Returns the bytes of a task from `start` to `end`. A mapping is asked for page by page.
    pub fn of(task: &Task, start: u64, end: u64) -> Self {
        let call = if task.mapped.is_some() { PAGE } else { task.piece.0 };
        Self { start, end, origin: task.origin, last: task.end, call, mapped: task.mapped }
    }

    fn call(&self) -> u64 {
        self.call.max(1)
    }

    /// Returns the first byte of the call that a byte belongs to.
    fn call_start(&self, byte: u64) -> u64 {
        byte - (byte - self.origin) % self.call()
    }

    /// Returns the pages from this one to the end of its call.
    pub fn asked(&self, page: u64) -> u64 {
        let byte = (page * PAGE).max(self.origin).min(self.last.saturating_sub(1));
        let call_end = self.call_start(byte).saturating_add(self.call()).min(self.last);
        call_end.div_ceil(PAGE).saturating_sub(page).max(1)
    }

    /// Returns the page up to which no window changes because a call ends.
    fn alike_until(&self, page: u64, limits: Limits) -> u64 {
        if self.call() <= limits.read_ahead * PAGE || limits.request <= limits.read_ahead {
            return u64::MAX;
        }
        (page + self.asked(page)).saturating_sub(limits.request)
    }

    fn pages(&self) -> (u64, u64) {
        (self.start / PAGE, self.end.div_ceil(PAGE))
    }
}

/// `MMAP_LOTSAMISS`.
const LOTS_OF_MISSES: u64 = 100;

/// Pages in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// The time at which its first byte comes.
    begin: f64,
    size: u64,
    /// Pages that the reader leaves out: those before a fault that are read with it.
    before: u64,
}

/// A reader and its device, in seconds since the reader began.
struct Pipe {
    pace: Pace,
    /// Pages of a request: they arrive together.
    request: u64,
    /// The time at which the reader has copied all windows before.
    now: f64,
    /// The time at which the last submitted page arrives.
    arrived: f64,
}

impl Pipe {
    fn submit(&mut self, at: f64, size: u64) -> Flight {
        let begin = (at + self.pace.latency).max(self.arrived);
        self.arrived = begin + size as f64 * self.pace.transfer;
        Flight { begin, size, before: 0 }
    }

    /// Rounds pages of a flight up to whole requests.
    fn in_requests(&self, flight: Flight, pages: u64) -> u64 {
        pages.next_multiple_of(self.request).min(flight.size)
    }

    /// Returns the time at which the reader has copied the first pages of a flight.
    fn copied(&self, flight: Flight, pages: u64) -> f64 {
        let arrival = |count| flight.begin + self.in_requests(flight, count) as f64 * self.pace.transfer;
        let copied = pages.saturating_sub(flight.before);
        let from_first = self.now.max(arrival(1)) + copied as f64 * self.pace.copy;
        let of_last = ((pages - 1) % self.request + 1).min(copied);
        from_first.max(arrival(pages) + of_last as f64 * self.pace.copy)
    }

    /// Returns the time at which the reader comes to a page of a flight, and looks for a mark.
    fn reached(&self, flight: Flight, pages: u64) -> f64 {
        if pages == 0 { self.now } else { self.copied(flight, pages) }
    }
}

/// The starts of windows, in pages, whose folios are longer than those before, and their orders; the rest is not used. There are six orders
/// from the first to the longest.
pub type Orders = [(u64, u32); 6];

/// The result of reading a span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The page up to which the reader has waited: beyond the span if its last request is.
    pub end: u64,
    /// The first page that is read: before the span for a window around a fault.
    pub begin: u64,
    /// The seconds on a device that nobody else uses.
    pub seconds: f64,
    /// The part of them in which the thread copies and does not wait for the device.
    pub copying: f64,
    /// The pages in flight at the end: up to this page, arriving in so many seconds, and how many of them have been transferred.
    pub ahead: u64,
    pub ahead_seconds: f64,
    pub ahead_done: u64,
    /// The orders of its folios, beyond single pages.
    pub orders: Orders,
}

impl Reading {
    /// A reading with nothing in flight at its end.
    fn alone(begin: u64, end: u64, seconds: f64, copying: f64) -> Self {
        let orders = Orders::default();
        Self { end, begin, seconds, copying, ahead: end, ahead_seconds: 0.0, ahead_done: 0, orders }
    }

    /// The runs of pages that were read: start, end, and the order of their folios.
    pub fn folios(&self) -> impl Iterator<Item = (u64, u64, u32)> {
        let last = self.ahead.max(self.end);
        let orders = self.orders;
        let begin = self.begin;
        let from = move |at: usize| match at {
            0 => (begin, 0),
            _ => orders.get(at - 1).copied().filter(|&(_, order)| order > 0).unwrap_or((last, 0)),
        };
        let runs = (0..=orders.len()).map(move |at| (from(at).0, from(at + 1).0, from(at).1));
        runs.take_while(move |&(start, _, _)| start < last).filter(|&(start, end, _)| start < end)
    }
}

/// The read-ahead state of an open file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stream {
    pub mode: Mode,
    pub window: Window,
    /// The order of its folios.
    pub order: u32,
    /// The page at which the last read ended: `prev_pos`.
    pub previous: Option<u64>,
    /// Faults that missed and were not outweighed by cached pages: `mmap_miss`.
    pub misses: u64,
    /// The time at which the reader passed the mark of a window whose next one it will read to its end.
    pub passed: Option<Nanos>,
}

impl Stream {
    /// Returns the limits that hold for this file.
    pub fn limits(&self, limits: Limits) -> Limits {
        let factor = if self.mode == Mode::Sequential { 2 } else { 1 };
        Limits { read_ahead: factor * limits.read_ahead, ..limits }
    }

    /// Reads a span of missing pages.
    pub fn read(
        &mut self,
        now: Nanos,
        span: &Span,
        limits: Limits,
        pace: Pace,
        cached_before: impl Fn(u64, u64) -> u64,
    ) -> Reading {
        let limits = self.limits(limits);
        let since = self.passed.take().map(|passed| (now - passed.min(now)).as_seconds());
        let mode = span.mapped.unwrap_or(self.mode);
        if mode == Mode::Random || limits.read_ahead == 0 {
            return read_exactly(span, limits, pace);
        }
        let (first, last) = span.pages();
        let mut pipe = Pipe { pace, request: limits.request.max(1), now: 0.0, arrived: 0.0 };
        let (mut page, mut alone, mode_of_faults) = (first, 0, span.mapped);
        let (window, order, flight) = loop {
            if let Some(since) = since.filter(|_| page == self.window.end()) {
                let (window, flight) = self.go_on(span, limits, since, &mut pipe);
                break (window, order_of_window(Some(self.order), window.size), flight);
            }
            let call_start = span.call_start((page * PAGE).max(span.start));
            let previous = if call_start > span.origin { Some(call_start / PAGE) } else { self.previous };
            let miss = match mode_of_faults {
                Some(Mode::Sequential) => Miss { page, asked: limits.read_ahead, previous: None },
                _ => Miss { page, asked: span.asked(page), previous },
            };
            let window = match mode_of_faults {
                Some(Mode::Normal) => self.around(page, limits),
                _ => miss.window(limits, |most| cached_before(page, most)),
            };
            if let Some(window) = window {
                let flight = pipe.submit(pipe.now, window.size);
                break (window, 0, Flight { before: page.saturating_sub(window.start), ..flight });
            }
            let wanted = miss.asked.min(last - page);
            let pages = if mode_of_faults.is_some() { miss.asked } else { wanted };
            let flight = pipe.submit(pipe.now, pages);
            pipe.now = pipe.copied(flight, wanted);
            page += pages;
            alone += wanted;
            if page >= last {
                let copying = alone as f64 * pace.copy;
                return Reading::alone(first, page, pipe.now, copying);
            }
        };
        self.order = order;
        self.stream(span, limits, pipe, (window, flight), alone)
    }

    /// `mm/filemap.c: do_sync_mmap_readahead`: the pages around a fault, unless too many have missed.
    fn around(&mut self, page: u64, limits: Limits) -> Option<Window> {
        self.misses = (self.misses + 1).min(10 * LOTS_OF_MISSES);
        let size = limits.read_ahead;
        let start = page.saturating_sub(size / 2);
        (self.misses <= LOTS_OF_MISSES).then_some(Window { start, size, async_size: size / 4 })
    }

    /// Counts cached pages of a mapping: `mm/filemap.c: filemap_map_pages`.
    pub fn found_mapped(&mut self, pages: u64) {
        self.misses = self.misses.saturating_sub(pages);
    }

    /// Returns the window that was submitted when the reader came to the last mark, so many seconds ago.
    fn go_on(&self, span: &Span, limits: Limits, since: f64, pipe: &mut Pipe) -> (Window, Flight) {
        let next = self.window.next(span.asked(self.window.mark()), limits);
        pipe.arrived = -(next.size.min(pipe.request) as f64) * pipe.pace.copy;
        let flight = pipe.submit(-since, next.size);
        (next, flight)
    }

    /// Gives the next window longer folios than the one before.
    fn lengthen_folios(&mut self, window: &Window, note: &mut impl FnMut(&Window, u32, u32)) {
        let before = self.order;
        self.order = order_of_window(Some(before), window.size);
        note(window, self.order, before);
    }

    /// Reads on from a window to the end of the span, each window submitted at the mark of the one before. `alone` pages have been
    /// copied before, while nothing was in flight.
    fn stream(
        &mut self,
        span: &Span,
        limits: Limits,
        mut pipe: Pipe,
        (mut window, mut flight): (Window, Flight),
        alone: u64,
    ) -> Reading {
        let (first, last) = span.pages();
        let begin = first.min(window.start);
        let (mut orders, mut found) = (Orders::default(), 0);
        let mut note = |window: &Window, order: u32, before: u32| {
            if order > before && found < orders.len() {
                orders[found] = (window.start, order);
                found += 1;
            }
        };
        note(&window, self.order, 0);
        if span.mapped.is_some() {
            self.found_mapped(last - first - 1);
        }
        let mut periods = [f64::NAN; 4];
        while window.end() < last {
            let next = window.next(span.asked(window.mark()), limits);
            let submitted = pipe.reached(flight, window.mark() - window.start);
            let before = pipe.now;
            let next_flight = pipe.submit(submitted, next.size);
            pipe.now = pipe.copied(flight, window.size);
            let is_alike = next.size == window.size && window.async_size == window.size;
            (window, flight) = (next, next_flight);
            self.lengthen_folios(&window, &mut note);
            periods.rotate_right(1);
            periods[0] = if is_alike { pipe.now - before } else { f64::NAN };
            // Two windows are on their way, so every second one takes as long.
            if [0, 1].iter().all(|&at| (periods[at] - periods[at + 2]).abs() <= 1e-9 * periods[at]) {
                let alike = last.min(span.alike_until(window.mark(), limits));
                let pairs = alike.saturating_sub(window.end()) / (2 * window.size);
                window.start += pairs * 2 * window.size;
                let later = pairs as f64 * (periods[0] + periods[1]);
                for time in [&mut pipe.now, &mut pipe.arrived, &mut flight.begin] {
                    *time += later;
                }
            }
        }
        let wanted = last - window.start;
        let seconds = pipe.copied(flight, wanted);
        let end = window.start + pipe.in_requests(flight, wanted);
        if window.mark() < last {
            let submitted = pipe.reached(flight, window.mark() - window.start);
            window = window.next(span.asked(window.mark()), limits);
            pipe.submit(submitted, window.size);
            self.lengthen_folios(&window, &mut note);
        }
        self.window = window;
        let ahead_seconds = (pipe.arrived - seconds).max(0.0);
        let ahead_left = (ahead_seconds / pipe.pace.transfer).ceil();
        let is_copy_bound = pipe.pace.copy > pipe.pace.transfer;
        let copied = if is_copy_bound { last - first } else { alone };
        let copying = (copied as f64 * pipe.pace.copy).min(seconds);
        let ahead = window.end();
        let ahead_done = (ahead - end).saturating_sub(ahead_left as u64);
        Reading { end, begin, seconds, copying, ahead, ahead_seconds, ahead_done, orders }
    }
}

/// `force_page_cache_ra`: each call waits for its own pages, in parts if it is large. Without read-ahead a page at a time.
fn read_exactly(span: &Span, limits: Limits, pace: Pace) -> Reading {
    let (first, last) = span.pages();
    let pages = last - first;
    let part = if limits.read_ahead == 0 { 1 } else { limits.forced() };
    let of_call = span.call().min(span.end - span.start).div_ceil(PAGE).max(1);
    let calls = (span.end - span.start).div_ceil(span.call());
    let waits = (calls * of_call.div_ceil(part)).min(pages);
    let copying = pages as f64 * pace.copy;
    let seconds = waits as f64 * pace.latency + pages as f64 * pace.transfer + copying;
    Reading::alone(first, last, seconds, copying)
}

#[cfg(test)]
mod tests;
