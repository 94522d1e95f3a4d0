//! Reads that miss, and pages that are read before anybody asks for them.
//!
//! A run of missing pages is one flow over device and memory, however many windows it has: what latency costs it is a cap,
//! the bytes by the time that `readahead` computes. What is on its way when it ends, and the windows of reads shorter
//! than these, are operations of their own that nobody waits for; who comes to their pages follows them.

use crate::policy::Actions;
use crate::policy::Call;
use crate::policy::FileId;
use crate::policy::FileView;
use crate::policy::OperationId;
use crate::policy::Request;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::address_space::folios::order_of_window;
use crate::policy::kernel::discretisation::CACHED_AT_ONCE;
use crate::policy::kernel::filemap::readahead::{Limits, Pace, Reading, Span, Stream};
use crate::policy::kernel::fs_writeback::flusher::Until;
use crate::policy::kernel::model::run::uncount;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::task::cost::{Access, Run};
use crate::policy::kernel::task::kind::{Kind, Mode, Next};
use crate::policy::kernel::task::shape::{AHEAD, Ahead, RunShape, StreamKey};
use crate::policy::kernel::task::task::Task;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::workload::Advice;

/// `VM_READAHEAD_PAGES` for what is no disk, and its requests.
const NO_DISK: Limits = Limits { read_ahead: 32, request: 32 };

/// The open file that an operation reads. A server reads a file for all its clients through one, in chunks that ask
/// for more by themselves.
pub fn stream_of(request: &Request, kind: Kind, file: Option<&FileView>) -> Option<StreamKey> {
    let reader =
        if matches!(request.call, Call::Serve { .. }) { OperationId::NOBODY } else { request.operation };
    let reads = matches!(kind, Kind::Read { .. }) || matches!(request.call, Call::Mapped { .. });
    file.filter(|_| reads).map(|file| (reader, file.id))
}

impl Kernel {
    /// How much of what is copied is read before it is written: of what is not cached, a window of reading ahead. While that is written
    /// the next one is on its way.
    pub fn read_at_once(&self, file: &FileView, at: u64, end: u64) -> Bytes {
        let end = end.min(at.saturating_add(CACHED_AT_ONCE));
        if self.pages.lists.cached_within(file.id, at, end) == end - at {
            return Bytes(CACHED_AT_ONCE);
        }
        Bytes(self.limits_of(file).read_ahead.max(1) * PAGE)
    }

    pub fn limits_of(&self, file: &FileView) -> Limits {
        self.config.disk_of(file).map_or(NO_DISK, |disk| Limits {
            read_ahead: disk.read_ahead.0 / PAGE,
            request: disk.queue.1.0 / PAGE,
        })
    }

    /// How fast a file is read by one thread that pays so much for a byte.
    pub fn pace_of(&self, file: &FileView, copy: f64) -> Pace {
        let disk = self.config.disk_of(file);
        let rate = disk.map_or(f64::INFINITY, |disk| disk.read_at.first().map_or(disk.read, |each| each.1).0);
        Pace {
            latency: disk.map_or(0.0, |disk| disk.latency.as_seconds()),
            transfer: PAGE as f64 / rate,
            copy: PAGE as f64 * copy,
        }
    }

    /// The next bytes of a read, or of pages of a mapping that are read.
    pub fn step_read(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) -> Next {
        let task = &self.tasks[operation];
        if task.position >= task.end {
            return Next::Done;
        }
        let (run, mut end) = self.look_up_to_read(task);
        if task.mapped.is_some() {
            end = self.touch_mapped(operation, run, end);
        }
        let task = self.tasks.get_mut(operation).expect("it is there");
        (task.run, task.since) = (run, now);
        let shape = self.shape_read(operation, end, out);
        self.tasks.get_mut(operation).expect("it is there").shape = shape;
        if run == Run::Follow {
            self.tasks.has_followers = true;
            return Next::Wait;
        }
        Next::Run(end)
    }

    /// How the next bytes of a read are served, and up to where.
    pub fn look_up_to_read(&self, task: &Task) -> (Run, u64) {
        let (file, at) = (task.file().id, task.position);
        match self.pages.lists.run(file, at, task.end) {
            (_, end) if self.followed_by(task).is_some() => (Run::Follow, end),
            (true, end) => (Run::Hit, self.near_end(file, at, end)),
            (false, end) if task.drops_behind => (Run::Pass, end),
            (false, end) => (Run::Miss, end),
        }
    }

    /// What a run of a read up to `end` is besides its bytes and their cost.
    pub fn shape_read(&mut self, operation: OperationId, end: u64, out: &mut Actions) -> RunShape {
        let task = &self.tasks[operation];
        let plain = RunShape::plain(end - task.position);
        let page_insert = task.page_insert();
        match task.run {
            Run::Miss => self.shape_miss(operation, end, out),
            // What it has read ahead leaves with the rest.
            Run::Pass => RunShape { ahead: None, ..self.shape_miss(operation, end, out) },
            Run::Hit if task.access == Access::Finds => plain,
            Run::Hit => {
                let pages = self.pass_mark(operation, end, out).div_ceil(PAGE);
                let toll = pages as f64 * page_insert.as_seconds() + self.map_around(operation, end);
                RunShape { toll, ..plain }
            }
            _ => {
                self.pass_mark_of_follower(operation, out);
                plain
            }
        }
    }

    /// Who waits for a page looks at it.
    pub fn pass_mark_of_follower(&mut self, operation: OperationId, out: &mut Actions) {
        let next = self.tasks[operation].position + 1;
        self.pass_mark(operation, next, out);
    }

    /// A task misses the bytes from its position to `end`: up to where it reads, and what that takes.
    pub fn shape_miss(&mut self, operation: OperationId, end: u64, out: &mut Actions) -> RunShape {
        let task = &self.tasks[operation];
        let key = task.stream.expect("who misses pages reads an open file");
        let file = *task.file();
        let span = task.span(task.position, end);
        let mut pace = self.pace_of(&file, self.cost(task, operation).seconds);
        let limits = self.limits_of(&file);
        let seek = self.seek(&file, (span.start, end));
        if (end - span.start) / PAGE <= limits.read_ahead {
            pace.latency += seek.as_seconds();
        }
        let mut stream = self.readers.streams.get(&key).copied().unwrap_or_default();
        let mut reading = stream.read(self.clock.synced, &span, limits, pace, |page, most| {
            self.cached_before(file.id, page, most)
        });
        if key.0 == OperationId::NOBODY {
            // The next chunk is asked for while this one is on the link, unless exactly what was asked for has been read.
            let last = end.div_ceil(PAGE);
            stream.window = stream.window.ending_at(last);
            stream.passed = (stream.window.size > 0).then_some(self.clock.synced);
            (reading.end, reading.ahead) = (last, last);
        }
        self.readers.streams.insert(key, stream);
        self.note_windows(&file, &reading);
        self.read_before(operation, &file, &span, &reading, out);
        self.shape(&span, &file, pace, &reading)
    }

    pub fn shape(&self, span: &Span, file: &FileView, pace: Pace, reading: &Reading) -> RunShape {
        let most = (reading.end * PAGE).min(file.size.0).max(span.end);
        // What is cached of the last request is not read again.
        let (_, end) = self.pages.lists.run(file.id, span.start, most);
        let is_timed = pace.latency > 0.0;
        let ahead = (reading.ahead * PAGE).min(file.size.0);
        // A request ends at the first page that is cached, and nobody waits for those behind it.
        let is_cut = end < most;
        let own = reading.seconds - (most - end) as f64 / PAGE as f64 * pace.transfer;
        let own = own.max(reading.seconds.min(pace.latency));
        let cached = self.pages.lists.cached_within(file.id, end, ahead.max(end));
        let all = reading.seconds + reading.ahead_seconds - cached as f64 / PAGE as f64 * pace.transfer;
        let due = self.clock.synced + Nanos::from_seconds(if is_timed { all.max(own) } else { 0.0 });
        let done = if is_timed && !is_cut { reading.ahead_done * PAGE } else { 0 };
        RunShape {
            bytes: end - span.start,
            copied: span.end - span.start,
            toll: 0.0,
            least: if is_timed { own } else { 0.0 },
            copying: if is_timed { reading.copying } else { 0.0 },
            ahead: (ahead > end).then_some(Ahead { end: ahead, done, due }),
        }
    }

    /// How many of the pages just before this one are cached, up to `most`.
    pub fn cached_before(&self, file: FileId, page: u64, most: u64) -> u64 {
        let (mut at, end) = (page.saturating_sub(most) * PAGE, page * PAGE);
        let mut since = end;
        while at < end {
            let (is_cached, to) = self.pages.lists.run(file, at, end);
            since = if is_cached { at } else { to };
            at = to;
        }
        (end - since) / PAGE
    }

    /// A task comes to bytes up to `end` that are there or on their way: the mark among them has the next window read.
    pub fn pass_mark(&mut self, operation: OperationId, end: u64, out: &mut Actions) -> u64 {
        let task = &self.tasks[operation];
        let looks = matches!(task.kind, Kind::Read { .. }) || task.mapped.is_some();
        let Some(key) = task.stream.filter(|_| looks) else { return 0 };
        let Some(stream) = self.readers.streams.get(&key).copied().filter(|_| key.0 != OperationId::NOBODY)
        else {
            return 0;
        };
        let (window, file, task_end) = (stream.window, *task.file(), task.end);
        let passes = (task.position / PAGE..end.div_ceil(PAGE)).contains(&window.mark());
        if window.size == 0 || !passes {
            return 0;
        }
        let span = task.span(task.position, end);
        let next = window.next(span.asked(window.mark()), stream.limits(self.limits_of(&file)));
        // A window that the task reads to its end is part of its own run.
        if next.end() * PAGE <= task_end {
            let before = window.mark() * PAGE - task.position.min(window.mark() * PAGE);
            let seconds = before as f64 * self.cost(task, operation).seconds;
            let passed = stream.passed.or(Some(self.clock.synced + Nanos::from_seconds(seconds)));
            self.readers.streams.insert(key, Stream { passed, ..stream });
            return 0;
        }
        let pace = self.pace_of(&file, 0.0);
        let least = if pace.latency > 0.0 { pace.latency + next.size as f64 * pace.transfer } else { 0.0 };
        let (start, to) = (next.start * PAGE, (next.end() * PAGE).min(file.size.0));
        let missing = to.saturating_sub(start) - self.pages.lists.cached_within(file.id, start, to);
        // Pages that are there get no mark: the stream has ended.
        let window = if missing > 0 { next } else { Default::default() };
        let order = order_of_window(Some(stream.order), next.size);
        if missing > 0 {
            self.note_folios(&file, (start, to), 1 << order);
        }
        self.readers.streams.insert(key, Stream { window, order, passed: None, ..stream });
        self.read_ahead(operation, &file, (start, to), 0, least, out);
        missing
    }

    /// What is read has folios as long as the windows in which it is.
    pub fn note_windows(&mut self, file: &FileView, reading: &Reading) {
        for (start, end, order) in reading.folios() {
            self.note_folios(file, (start * PAGE, end * PAGE), 1 << order);
        }
    }

    /// Reads pages that nobody waits for yet, of which `done` bytes have been transferred: they are there in `least` seconds
    /// at the earliest. Behind pages that the same thread has on their way, request by request.
    pub fn read_ahead(
        &mut self,
        thread: OperationId,
        file: &FileView,
        (start, end): (u64, u64),
        done: u64,
        least: f64,
        out: &mut Actions,
    ) {
        let now = self.clock.synced;
        let due = now + Nanos::from_seconds(least);
        if let Some(before) = self.ahead_of(thread, file.id, start) {
            before.shape.ahead = Some(Ahead { end, done: 0, due });
            return;
        }
        let from = start + done;
        let start = self.first_unread(file.id, start, end);
        if start >= end {
            return;
        }
        let (_, run) = self.pages.lists.run(file.id, start, end);
        let operation = self.new_number();
        let to = run.min(start + self.limits_of(file).request * PAGE);
        let from = from.clamp(start, to - 1);
        // Pages that are cached are left out, those behind them are not.
        let ahead = (to < end).then_some(Ahead { end, done: 0, due });
        let missing = end - to - self.pages.lists.cached_within(file.id, to, end);
        let rest = missing as f64 / PAGE as f64 * self.pace_of(file, 0.0).transfer;
        let least = if least > 0.0 { (least - rest).max(0.0) } else { 0.0 };
        let shape = RunShape { bytes: to - from, least, ahead, ..RunShape::default() };
        let bytes = Bytes(to - from);
        let (memcg, wb) = (self.memcg_of(thread), self.write_back.wb_of(file));
        let task = Task::new(Kind::ReadAhead { thread }, Some(*file), (from, bytes, bytes), now);
        self.tasks.insert(operation, Task { memcg, wb, shape, run: Run::Miss, origin: start, ..task });
        self.begin_run(now, operation, to, out);
    }

    /// A number for an operation that is no process's own.
    pub fn new_number(&mut self) -> OperationId {
        self.tasks.ahead_number = self.tasks.ahead_number % (AHEAD - 1) + 1;
        OperationId(AHEAD | self.tasks.ahead_number)
    }

    /// Read-ahead of a thread that is under way and will have come to this byte.
    pub fn ahead_of(&mut self, thread: OperationId, file: FileId, at: u64) -> Option<&mut Task> {
        let mut under_way = self.tasks.values_mut().filter(|task| task.transfer.is_some());
        under_way.find(|task| {
            task.kind == Kind::ReadAhead { thread } && task.file().id == file && task.reads_until() == at
        })
    }

    /// The run of a task has ended: what was on its way then comes by itself.
    pub fn leave_ahead(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        let task = self.tasks.get_mut(operation).expect("a run that ends has a task");
        let Some(ahead) = task.shape.ahead.take() else { return };
        let (start, file, thread) = (task.position, *task.file(), task.thread(operation));
        let least = (ahead.due.max(now) - now).as_seconds();
        self.read_ahead(thread, &file, (start, ahead.end), ahead.done, least, out);
    }

    /// `mm/fadvise.c: POSIX_FADV_DONTNEED`: dirty pages are submitted, whole clean pages leave.
    pub fn dont_need(&mut self, file: &FileView, (start, end): (u64, u64)) {
        // The last page of a file need not be a whole one.
        let (end, whole) = if end >= file.size.0 { (u64::MAX, u64::MAX) } else { (end, end / PAGE * PAGE) };
        let dirty = self.pages.dirty.ranges_within(file.id, start, end);
        if dirty.total() > 0 {
            self.flusher_of(file).write_range(file.id, (start, end), dirty, Until::Never);
        }
        self.pages.drop_clean_within(file.id, start.next_multiple_of(PAGE), whole);
    }

    /// A read has ended at this byte, or the touching of a mapping, which leaves no `prev_pos`.
    pub fn leave_stream(&mut self, key: StreamKey, end: u64, file: &FileView, is_mapped: bool) {
        let stream = self.readers.streams.entry(key).or_default();
        stream.previous = if is_mapped { stream.previous } else { Some(end / PAGE) };
        // Nothing follows the end of a file: who begins again begins anew.
        if end >= file.size.0 && stream.mode == Mode::Normal {
            self.readers.streams.remove(&key);
        }
    }

    /// The first byte from `at` on that is neither cached nor on its way, `end` at most.
    pub fn first_unread(&self, file: FileId, at: u64, end: u64) -> u64 {
        let mut at = at;
        while at < end {
            let (is_cached, to) = self.pages.lists.run(file, at, end);
            at = match self.reader_of(file, at) {
                _ if is_cached => to,
                Some(reader) => reader.reads_until().min(end),
                None => return at,
            };
        }
        end
    }

    /// Somebody cuts a file. What is on its way beyond the cut still comes, but nobody keeps it.
    pub fn forget_read_ahead(&mut self, by: OperationId, file: FileId, size: u64) {
        let Self { tasks, pages, .. } = self;
        tasks.retain(|task| {
            let is_beyond = task.reads_ahead() && task.file().id == file && task.end > size;
            if is_beyond {
                let bytes = std::mem::take(&mut task.pending);
                uncount(task, bytes, pages);
            }
            !is_beyond
        });
        if size == 0 {
            self.readers.streams.remove(&(by, file));
        }
    }

    /// `mm/fadvise.c: generic_fadvise`, but for `POSIX_FADV_DONTNEED`.
    pub fn advise(
        &mut self,
        thread: OperationId,
        file: &FileView,
        advice: Advice,
        range: (u64, u64),
        out: &mut Actions,
    ) {
        let limits = self.limits_of(file);
        let stream = self.readers.streams.entry((thread, file.id)).or_default();
        match advice {
            Advice::Normal => stream.mode = Mode::Normal,
            Advice::Sequential => stream.mode = Mode::Sequential,
            Advice::Random => stream.mode = Mode::Random,
            Advice::WillNeed => {
                let most = stream.limits(limits).forced();
                let (start, end) = (range.0 / PAGE * PAGE, range.1.div_ceil(PAGE) * PAGE);
                let end = end.min(start.saturating_add(most * PAGE)).min(file.size.0);
                let pace = self.pace_of(file, 0.0);
                let pages = end.saturating_sub(start).div_ceil(PAGE) as f64;
                let least = if pace.latency > 0.0 { pace.latency + pages * pace.transfer } else { 0.0 };
                self.read_ahead(thread, file, (start, end), 0, least, out);
            }
            Advice::DontNeed => self.dont_need(file, range),
            Advice::NoReuse => {}
        }
    }
}

#[cfg(test)]
mod tests;
