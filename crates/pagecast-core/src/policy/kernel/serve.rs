//! Serves a read or write up to its end, if that is one run of a task that is alone on the host.
//!
//! Ours: nothing but time. All steps are those of the driver, at the same instants. Only decisions are left out that would change nothing:
//! nobody is throttled, no flusher works or is about to, and nothing is to be told.

use crate::flow::{Completion, FlowSpec, Progress};
use crate::policy::kernel::Kernel;
use crate::policy::kernel::discretisation::{MOST_RUN, ROUNDING, SETTLE_AFTER};
use crate::policy::kernel::driver::{begin, drive, follow_task, run_ended};
use crate::policy::kernel::filemap::begin::task_of;
use crate::policy::kernel::filemap::readahead::{note_windows, read_span};
use crate::policy::kernel::filemap::write::{find_incompatible, look_up_to_write};
use crate::policy::kernel::fs_writeback::flusher::Flusher;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::next_call::{Slopes, next_look_at_memory};
use crate::policy::kernel::model::run::flow_of;
use crate::policy::kernel::model::settle::{Write, settle};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::readahead::window::Span;
use crate::policy::kernel::tasks::cost::{PerByte, Run};
use crate::policy::kernel::tasks::credit::{forget_much, resume};
use crate::policy::kernel::tasks::ids::Taker;
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::shape::RunShape;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{Actions, Alone, Call, OperationId, Outcome, Policy, Request, Served, Undisturbed};
use crate::result::{Part, Parts};
use crate::units::{Bytes, Nanos, earlier, seconds_between, whole};

impl Kernel {
    /// Does as `begin`; returns the end of the operation if it has been served up to there.
    pub fn serve_run(
        &mut self,
        now: Nanos,
        request: &Request,
        by: &mut dyn Undisturbed,
        out: &mut Actions,
    ) -> Option<Served> {
        self.catch_up(now);
        if let Some(served) = self.serve_hit(now, request, by) {
            return Some(served);
        }
        let end = self.serve_miss(now, request, by, out).or_else(|| self.serve_write(now, request, by, out));
        let end = end.or_else(|| self.serve_task(now, request, by, out))?;
        Some(Served { end, outcome: None })
    }

    /// Does as `begin`, and ends the run if nobody wants to look at it before its end.
    fn serve_task(
        &mut self,
        now: Nanos,
        request: &Request,
        by: &mut dyn Undisturbed,
        out: &mut Actions,
    ) -> Option<Nanos> {
        self.clock.calm_until = None;
        let was_at_rest = self.tasks.len() == 0
            && matches!(
                request.call,
                Call::Read { .. } | Call::Write { through: false, dontcache: false, .. }
            )
            && self.is_at_rest(now);
        let cx = &mut self.context(now, out);
        settle(cx);
        begin(cx, request);
        drive(cx, request.operation);
        let goes_on_at_rest = was_at_rest && !self.pages.is_exhausted();
        if goes_on_at_rest {
            self.write_back.check_tasks(&mut self.tasks, self.pages.dirty().total() / PAGE, now);
        } else {
            self.control(now, out);
        }
        let end = self.serve_up_to_end(now, request, by, out);
        match end {
            None if goes_on_at_rest => self.control(now, out),
            Some(end) if goes_on_at_rest && self.tasks.len() == 0 => self.control_at_rest(end, out),
            Some(end) => self.control(end, out),
            None => {}
        }
        self.check();
        end
    }

    /// Serves a read of cached pages that submits no window: the state of the pages changes at its end, and nothing else.
    fn serve_hit(&mut self, now: Nanos, request: &Request, by: &mut dyn Undisturbed) -> Option<Served> {
        let Call::Read { file, offset, bytes, fresh: false, dontcache: false, piece } = request.call else {
            return None;
        };
        let until = offset.checked_add(bytes.0).filter(|_| (1..=MOST_RUN).contains(&bytes.0))?;
        if self.nfs.must_revalidate(now, &file) {
            return None;
        }
        if self.pages.lists().run(file.id, offset, until) != (true, until) {
            return None;
        }
        let is_alone = self.tasks.len() == 0;
        let was_calm = self.clock.calm_until.is_some();
        // While kswapd is about to run, bytes that come ahead may bring the next look at memory nearer.
        let known = self.clock.calm_until.filter(|_| is_alone || !self.pages.is_short());
        let calm_until = known.or_else(|| self.look_whether_calm(now))?;
        let key = (self.readers.process(request.operation), file.id);
        if self.readers.streams.get(&key).is_some_and(|stream| stream.window.is_marked_within(offset, until))
        {
            return None;
        }
        let cost = self.config.prices.of_hit(piece, file.page_insert);
        let cap = cost.rate().map(|rate| (rate, Part::CpuCopy));
        let spec = FlowSpec { cap, ..FlowSpec::new(self.config.memory_read, bytes.0, 0) };
        let course = by.alone(&spec)?;
        let is_before = |until: Nanos| course.end < until;
        if !is_before(calm_until) && (known.is_none() || !self.look_whether_calm(now).is_some_and(is_before))
        {
            return None;
        }
        if let Some(credit) = self.tasks.credits.get_mut(&request.operation) {
            forget_much(credit);
            credit.checks = None;
        }
        if is_alone && course.end < now + SETTLE_AFTER {
            // Nothing moves that would have to be counted.
            if !was_calm {
                self.record_loads(now, by);
            }
            by.record_held((now, course.end), self.levels());
            self.write_back.tick(course.end);
            (self.clock.settled, self.clock.caught_up) = (now, course.end);
        } else {
            settle(&mut self.context(now, &mut Actions::default()));
            self.write_back.global_dirty_limits(self.pages.dirtyable() / PAGE);
            self.record_begin(now, by);
            self.catch_up(course.end);
            by.record(course.end, self.levels());
        }
        self.pages.mark_accessed(file.id, offset, until);
        self.readers.leave_stream(key, until, &file, false);
        if !is_alone {
            self.write_back.global_dirty_limits(self.pages.dirtyable() / PAGE);
        }
        self.clock.decided = Some(course.end);
        self.check();
        let parts = Parts::of(course.part, course.end - now);
        let outcome = Outcome { parts, from_cache: bytes, ..Outcome::default() };
        Some(Served { end: course.end, outcome: Some(outcome) })
    }

    /// Serves a read of missing pages that leaves nothing in flight: its pages come into memory at its end. The task is in no table, as
    /// nobody looks for it.
    fn serve_miss(
        &mut self,
        now: Nanos,
        request: &Request,
        by: &mut dyn Undisturbed,
        out: &mut Actions,
    ) -> Option<Nanos> {
        let (operation, Call::Read { file, offset, bytes, fresh: false, dontcache: false, piece }) =
            (request.operation, request.call)
        else {
            return None;
        };
        let until = offset.checked_add(bytes.0).filter(|_| bytes > Bytes::ZERO)?;
        let is_missing = || self.pages.lists().run(file.id, offset, until) == (false, until);
        let serves_pages = self.block.devices.serves_pages(file.device.0 as usize);
        let is_on_disk = !self.config.is_tmpfs(&file);
        if self.tasks.len() > 0 || self.block.has_head(&file) || serves_pages || !is_on_disk || !is_missing()
        {
            return None;
        }
        let was_calm = self.clock.calm_until.is_some();
        let calm_until = self.clock.calm_until.or_else(|| self.look_whether_calm(now))?;
        let cx = &mut self.context(now, out);
        let mut task = task_of(cx, request, Kind::Read { fresh: false }, Some(file), (offset, bytes, piece));
        let key = task.stream?;
        task.run = Run::Miss;
        let cost = cx.caps.cost(cx.pages, cx.block, &task, operation);
        let (stream, reading, shape) = read_span(cx, key, &file, &Span::of(&task, offset, until), &cost);
        let is_small = cx.pages.may_be_pending(shape.bytes);
        if shape.ahead.is_some() || !is_small {
            return None;
        }
        task.shape = shape;
        task.count_served((offset, until), |served, bytes| *served += bytes);
        let course = course_of(cx, (operation, &mut task), cost, calm_until, by)?;
        cx.readers.streams.insert(key, stream);
        note_windows(cx.pages, &file, &reading);
        let moved = self.pass_alone(now, &mut task, &course, was_calm, by);
        self.pages.uncount(&task, moved);
        let taker = Taker { home: 0, memcg: task.memcg };
        self.pages.read_in(file.id, offset, offset + shape.bytes, taker);
        self.pages.mark_accessed(file.id, offset, until);
        self.block.note_read(course.end, task.device_read());
        let cost = self.caps.cost(&self.pages, &self.block, &task, operation);
        task.charge(Parts::of(course.part, course.end - now), &cost);
        follow_task(&mut self.context(course.end, out), operation, &task);
        self.rest_or_control(course.end, out);
        Some(course.end)
    }

    /// Serves a write to a file that is dirty already and has no journal, as long as no flusher works and nobody is throttled afterwards
    /// either. The task is in no table, as nobody looks for it.
    fn serve_write(
        &mut self,
        now: Nanos,
        request: &Request,
        by: &mut dyn Undisturbed,
        out: &mut Actions,
    ) -> Option<Nanos> {
        let (operation, Call::Write { file, offset, bytes, through: false, dontcache: false, piece }) =
            (request.operation, request.call)
        else {
            return None;
        };
        let until = offset.checked_add(bytes.0).filter(|_| bytes > Bytes::ZERO)?;
        let is_dirty = self.pages.dirty().dirtied_when(file.id).is_some();
        if self.tasks.len() > 0 || !is_dirty || self.ext4.journal(file.device).is_some() {
            return None;
        }
        let is_remote = self.config.nfs_options_of(&file).is_some();
        if self.is_over_background_with(bytes.0 + PAGE) || !self.pages.may_be_pending(bytes.0) {
            return None;
        }
        let was_calm = self.clock.calm_until.is_some();
        let calm_until = self.clock.calm_until.or_else(|| self.look_whether_calm(now))?;
        let cx = &mut self.context(now, out);
        let mut task = task_of(cx, request, Kind::Write, Some(file), (offset, bytes, piece));
        let (run, end) = look_up_to_write(cx.pages, cx.tasks, &task, operation);
        if end != until || !run.dirties() || task.read_until.is_some() {
            return None;
        }
        if is_remote && find_incompatible(cx.pages, &task).is_some() {
            return None;
        }
        (task.run, task.shape) = (run, RunShape::plain(bytes.0));
        if task.checks().is_some_and(|checks| checks.sleeps_until.is_some()) {
            return None;
        }
        resume(&mut task, None, now);
        cx.write_back.check_task(&mut task, cx.pages.dirty().total() / PAGE, now);
        task.count_served((offset, until), |served, bytes| *served += bytes);
        let cost = cx.caps.cost(cx.pages, cx.block, &task, operation);
        let course = course_of(cx, (operation, &mut task), cost, calm_until, by)?;
        cx.block.turns.note_writer(file.id, operation);
        let moved = self.pass_alone(now, &mut task, &course, was_calm, by);
        self.pages.count(&mut task, bytes.0 - moved, None, course.end);
        self.pages.uncount(&task, bytes.0);
        let taker = Taker { home: 0, memcg: task.memcg };
        let cx = &mut self.context(course.end, out);
        Write::of(&task).apply(cx, (operation, taker), &file, (offset, until));
        let cost = cx.caps.cost(cx.pages, cx.block, &task, operation);
        task.charge(Parts::of(course.part, course.end - now), &cost);
        follow_task(cx, operation, &task);
        self.rest_or_control(course.end, out);
        Some(course.end)
    }

    /// Lets the time of a course pass, which nobody looks into; returns the bytes that have moved at its end.
    fn pass_alone(
        &mut self,
        now: Nanos,
        task: &mut Task,
        course: &Alone,
        was_calm: bool,
        by: &mut dyn Undisturbed,
    ) -> u64 {
        let &Alone { end, rate, .. } = course;
        by.record(now, self.levels());
        if !was_calm {
            self.record_loads(now, by);
        }
        let moved = whole(rate * seconds_between(now, end)).min(task.shape.bytes);
        self.pages.count(task, moved, None, end);
        self.write_back.tick(end);
        (self.clock.settled, self.clock.caught_up) = (now, end);
        by.record(end, self.levels());
        moved
    }

    /// Ends the calm if a call that was served without a task asks for decisions.
    fn rest_or_control(&mut self, now: Nanos, out: &mut Actions) {
        self.write_back.global_dirty_limits(self.pages.dirtyable() / PAGE);
        self.clock.decided = Some(now);
        if !self.pages.is_plain() || self.is_over_background() {
            self.clock.calm_until = None;
            self.control(now, out);
        }
        self.check();
    }

    /// Records the state in which an operation begins that is served up to its end.
    fn record_begin(&self, now: Nanos, by: &mut dyn Undisturbed) {
        by.record(now, self.levels());
        self.record_loads(now, by);
    }

    /// Records the requests of each disk. They do not change as long as it is calm.
    fn record_loads(&self, now: Nanos, by: &mut dyn Undisturbed) {
        for disk in 0..self.config.host.disks.len() {
            by.record_load(now, disk, self.disk_load(disk));
        }
    }

    /// Finds out how long a read of cached pages changes no decision, if nothing but read-ahead is under way.
    fn look_whether_calm(&mut self, now: Nanos) -> Option<Nanos> {
        let is_plain = self.pages.nodes() == 1 && !self.pages.has_dropbehind();
        let has_processor = self.tasks.len() < self.config.host.cores as usize;
        let is_calm = is_plain && has_processor && self.tasks.values().all(Task::is_in_flight);
        if !is_calm || !self.is_at_rest(now) {
            return None;
        }
        let until = earlier(self.schedule(now), self.told.states.due());
        let until = earlier(until, Some(self.told.next_look_at_refaults()));
        // Bytes that are read ahead take memory as they come: the next look at it stays where it is, up to rounding.
        let margin = if self.tasks.len() == 0 { Nanos::ZERO } else { ROUNDING };
        self.clock.calm_until = until.map(|until| until.saturating_sub(margin));
        until
    }

    /// Ends the only run, if that is under way and nobody wants to look at it before its end.
    fn serve_up_to_end(
        &mut self,
        now: Nanos,
        request: &Request,
        by: &mut dyn Undisturbed,
        out: &mut Actions,
    ) -> Option<Nanos> {
        // A task that is in flight beside this one may have its processor.
        let is_free = self.tasks.len() <= self.config.host.cores as usize
            && self.caps.processor_share_is_whole()
            && !self.clock.is_put_off;
        let (flow, spec) = out.only_start().filter(|_| is_free)?;
        let course = by.alone(&spec)?;
        let heard = |kernel: &mut Self, rate: f64| {
            let transfer = kernel.tasks.get_mut(request.operation).and_then(|task| task.transfer.as_mut());
            let transfer = transfer.filter(|transfer| transfer.flow == flow)?;
            transfer.heard(now, &Progress { flow, tag: spec.tag, done: 0.0, rate });
            Some(())
        };
        heard(self, course.rate)?;
        let looks_before = self.schedule(now).is_some_and(|next| next <= course.end);
        if looks_before || self.told.states.is_due(course.end) {
            heard(self, 0.0)?;
            return None;
        }
        out.take_start_back(flow);
        self.record_begin(now, by);
        self.catch_up(course.end);
        by.record(course.end, self.levels());
        let parts = Parts::of(course.part, course.end - now);
        let done = Completion { flow, tag: spec.tag, bytes: spec.bytes, parts };
        run_ended(&mut self.context(course.end, out), request.operation, &done);
        Some(course.end)
    }

    /// Decides as `control` does, when a task that was alone has ended.
    fn control_at_rest(&mut self, now: Nanos, out: &mut Actions) {
        self.write_back.global_dirty_limits(self.pages.dirtyable() / PAGE);
        if self.is_at_rest(now) {
            self.clock.decided = Some(now);
        } else {
            self.control(now, out);
        }
    }

    /// True if `control` with a task that reads or writes would change nothing now.
    fn is_at_rest(&self, now: Nanos) -> bool {
        let Self { pages, write_back, flushers, block, tasks, told, clock, .. } = self;
        !self.is_over_background()
            && !clock.is_put_off
            && !tasks.has_followers
            && !tasks.has_busy
            && self.caps.processor_share_is_whole()
            && !told.states.is_due(now)
            && pages.is_plain()
            && block.is_idle()
            && flushers.iter().all(|flusher| Flusher::rests(flusher, now))
            && write_back.rests(now)
    }

    /// True if so much is dirty that flushers work or writers are throttled.
    fn is_over_background(&self) -> bool {
        self.is_over_background_with(0)
    }

    /// As `is_over_background`, when so many bytes more are dirty.
    fn is_over_background_with(&self, bytes: u64) -> bool {
        let (dirty, limits) = (self.pages.dirty(), self.write_back.limits());
        let is_over = |dirty: u64, pages: u64| (dirty + bytes) / PAGE > pages;
        is_over(dirty.dirty(), limits.thresholds.background) || is_over(dirty.total(), limits.freerun)
    }
}

/// Returns the course of the run of a task that is in no table, if it is soon over and nobody wants to look at memory before its end.
fn course_of(
    cx: &Context<'_>,
    (operation, task): (OperationId, &mut Task),
    cost: PerByte,
    calm_until: Nanos,
    by: &mut dyn Undisturbed,
) -> Option<Alone> {
    task.pace = task.shape.thread_rate(&cost).unwrap_or(f64::INFINITY);
    let cap = cx.caps.cap_at(cx.pages, cx.write_back, task, false, || cost);
    let spec = flow_of(cx.config, operation, task, (task.shape.bytes, cap));
    let course = by.alone(&spec).filter(|course| course.end < calm_until.min(cx.now + SETTLE_AFTER))?;
    let mut slopes = Slopes::default();
    slopes.add(task, course.rate);
    let next = next_look_at_memory(cx.pages, cx.tasks, &slopes, cx.now);
    next.is_none_or(|next| next > course.end).then_some(course)
}
