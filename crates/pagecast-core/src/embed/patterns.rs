//! Performs the calls of a pattern inside another simulator: one operation of a task, many calls.
//!
//! The rules are those of a scenario (`calls::Patterned`, [`AsyncBy`]): as many calls as the pattern asks for are under way, those that the
//! kernel or the C library does at their submission by the task itself, the others as kiocbs.

use super::counted::LatencyRow;
use super::tasks;
use super::{EmbedError, Order, PageCache, TaskId};
use crate::calls::{CallUnderWay, Next, Patterned, Wants};
use crate::policy::{OperationId, Outcome};
use crate::random::mix;
use crate::result::{Latency, Part};
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, AsyncBy, Calls, OpenFlags, Pattern};

impl PageCache {
    /// How long the operations took that have ended, per name of a task, file and kind; a pattern counts by its calls.
    pub fn latencies(&self) -> impl Iterator<Item = LatencyRow<'_>> {
        self.counted.rows()
    }

    /// The same of all operations together that have this name of a task, this path and this kind; `None` is any.
    #[must_use]
    pub fn latency(&self, task: Option<&str>, path: Option<&str>, operation: Option<&str>) -> Latency {
        let is_meant = |asked: Option<&str>, has: Option<&str>| asked.is_none() || asked == has;
        let mut all = Latency::default();
        self.latencies()
            .filter(|row| is_meant(task, row.task) && is_meant(path, row.path))
            .filter(|row| is_meant(operation, Some(row.operation)))
            .for_each(|row| all.merge(row.latency));
        all
    }

    /// A task that has none under way begins a pattern.
    pub(super) fn begin_pattern(
        &mut self,
        now: Nanos,
        task: TaskId,
        action: &Action,
        pattern: &Pattern,
        flags: OpenFlags,
    ) -> Result<(), EmbedError> {
        let begun = self.caller(task).begin_pattern(action, None, pattern, flags);
        let opened = self.told(begun)?;
        self.come_to(now);
        let path = self.counted.path(action.path());
        let size = self.files.size(opened.0.file);
        let state = self.tasks.get_mut(task);
        // The first task of a name draws as the process of that name in a scenario.
        let seed = if state.number == 0 { self.seed } else { mix(self.seed ^ mix(state.number)) };
        let calls =
            Calls::of_process(pattern, size, seed, self.counted.name_of(state.name), state.operations);
        state.operations += 1;
        state.is_busy = true;
        state.pattern = Some(Box::new(tasks::Pattern {
            progress: Patterned::new(now, pattern, opened, calls, path),
            goes_on_at: Nanos::ZERO,
            woken_at: None,
            line: Default::default(),
            kiocbs: Vec::new(),
            free: Vec::new(),
        }));
        self.go_on(task)?;
        self.failed()
    }

    /// Begins the calls of all patterns whose time has come.
    pub(super) fn go_on_with_patterns(&mut self) -> Result<(), EmbedError> {
        while let Some(&(time, task)) = self.sleepers.first().filter(|(time, _)| *time <= self.now) {
            self.sleepers.remove(&(time, task));
            self.tasks.pattern(task).woken_at = None;
            self.next = None;
            self.ready.push_back(task);
        }
        while let Some(task) = self.ready.pop_front() {
            let state = self.tasks.get_mut(task);
            match state.call.take_if(|call| call.is_queued) {
                Some(call) => self.begin_call(task, call)?,
                None if state.pattern.is_some() => self.go_on(task)?,
                None => {}
            }
        }
        self.failed()
    }

    /// Tells once that a call could not be done.
    fn failed(&mut self) -> Result<(), EmbedError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Begins calls of a pattern until there are enough, or ends it.
    fn go_on(&mut self, task: TaskId) -> Result<(), EmbedError> {
        while let state = self.tasks.get_mut(task)
            && state.call.is_none()
            && let Some(pattern) = &mut state.pattern
        {
            if pattern.goes_on_at > self.now {
                let time = pattern.goes_on_at;
                self.wake_at(task, time);
                return Ok(());
            }
            match pattern.progress.next(self.now) {
                Next::Over => {
                    self.end_pattern(task);
                    return Ok(());
                }
                Next::Wait => return Ok(()),
                Next::Sleep(due) => {
                    self.wake_at(task, due);
                    return Ok(());
                }
                Next::Call => self.next_call_of(task)?,
            }
        }
        Ok(())
    }

    fn wake_at(&mut self, task: TaskId, time: Nanos) {
        if let Some(before) = self.tasks.pattern(task).woken_at.replace(time) {
            self.sleepers.remove(&(before, task));
        }
        self.sleepers.insert((time, task));
        self.next = None;
    }

    fn next_call_of(&mut self, task: TaskId) -> Result<(), EmbedError> {
        let now = self.now;
        let Patterned { file, flags, by, .. } = self.tasks.pattern(task).progress;
        let Some((call, is_among_first)) = self.tasks.pattern(task).progress.make_call(now) else {
            return Ok(());
        };
        let call = self.caller(task).placed(file, call, flags);
        let policy = &self.policy;
        let is_cached = || policy.is_cached(file.file, call.offset, call.bytes);
        if self.tasks.pattern(task).progress.waits_for(call, is_cached) {
            return self.begin_call(task, CallUnderWay { call, start: now, is_queued: false });
        }
        let kiocb = self.submit(task);
        // Threads begin one after the other, and then go on by themselves.
        if by != AsyncBy::Threads || is_among_first {
            self.tasks.pattern(task).goes_on_at = now + self.policy.submission();
        }
        let line = &mut self.tasks.pattern(task).line;
        let follows = by.follows_others(call.is_write, flags.is_direct());
        if follows {
            line.push_back(kiocb);
        }
        let call = CallUnderWay { call, start: now, is_queued: follows && line.len() > 1 };
        if call.is_queued {
            self.tasks.get_mut(kiocb).call = Some(call);
            return Ok(());
        }
        self.begin_call(kiocb, call)
    }

    /// A number for a call of a task's pattern.
    fn submit(&mut self, task: TaskId) -> TaskId {
        if let Some(free) = self.tasks.pattern(task).free.pop() {
            return free;
        }
        let kiocb = self.tasks.add_kiocb(task);
        self.tasks.pattern(task).kiocbs.push(kiocb);
        self.policy.share_files(OperationId(kiocb.0), OperationId(task.0));
        kiocb
    }

    /// Hands a call to the policy; `task` is the one in the pattern, or the kiocb that does it.
    fn begin_call(&mut self, task: TaskId, mut call: CallUnderWay) -> Result<(), EmbedError> {
        call.is_queued = false;
        let owner = self.tasks.get(task).of;
        let Patterned { file, flags, .. } = self.tasks.pattern(owner).progress;
        let wants = self.caller(task).call_of_pattern(file, call.call, flags);
        let wants = self.told(wants);
        self.tasks.get_mut(task).call = Some(call);
        match wants {
            Ok(Wants::Call(request)) => return self.request(OperationId(task.0), request),
            Ok(Wants::Nothing) => self.end_call(task, Outcome::default()),
            Ok(Wants::Transfer(_) | Wants::Striped(_)) => unreachable!("no file is another host's"),
            Err(error) => self.give_up(task, error),
        }
        Ok(())
    }

    /// A call of a pattern has ended.
    pub(super) fn end_call(&mut self, task: TaskId, mut outcome: Outcome) {
        let now = self.now;
        let state = self.tasks.get_mut(task);
        let (owner, name) = (state.of, state.name);
        let CallUnderWay { call, start, .. } = state.call.take().expect("it is under way");
        // It has waited in its line before it began.
        outcome.parts.add(Part::Wait, now - start - outcome.parts.total());
        let progress = &mut self.tasks.pattern(owner).progress;
        progress.add(now, call.bytes, &outcome);
        let (file, path) = (progress.file.file, progress.path);
        if call.is_write {
            self.files.grow(file, Bytes(call.offset + call.bytes.0));
        }
        self.counted.call((name, path), &call, (start, now), &outcome);
        self.leave_call(task, owner);
    }

    /// A call cannot be done: its pattern makes no more of them.
    fn give_up(&mut self, task: TaskId, error: EmbedError) {
        let (now, owner) = (self.now, self.tasks.get(task).of);
        self.tasks.get_mut(task).call = None;
        let progress = &mut self.tasks.pattern(owner).progress;
        progress.add(now, Bytes::ZERO, &Outcome::default());
        progress.give_up();
        self.failure.get_or_insert(error);
        self.leave_call(task, owner);
    }

    /// The next in line, and the task itself, may go on.
    fn leave_call(&mut self, task: TaskId, owner: TaskId) {
        if task != owner {
            let pattern = self.tasks.pattern(owner);
            pattern.free.push(task);
            if pattern.line.front() == Some(&task) {
                pattern.line.pop_front();
                self.ready.extend(pattern.line.front());
            }
        }
        self.ready.push_back(owner);
    }

    fn end_pattern(&mut self, task: TaskId) {
        let now = self.now;
        let mut pattern = self.tasks.get_mut(task).pattern.take().expect("it is in a pattern");
        pattern.progress.charge_idle(now);
        if let Some(time) = pattern.woken_at {
            self.sleepers.remove(&(time, task));
            self.next = None;
        }
        for kiocb in pattern.kiocbs {
            // Its number may be another task's.
            self.policy.share_files(OperationId(kiocb.0), OperationId(kiocb.0));
            self.tasks.remove(kiocb);
        }
        self.tasks.get_mut(task).is_busy = false;
        self.orders.push(Order::Done { task, outcome: pattern.progress.outcome });
    }
}
