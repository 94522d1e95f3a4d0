//! Follows the threads of a recording: their time, their parents and children, and what they need of each other.

use std::sync::Arc;

use super::calls::{self, Meaning, Operations};
use super::clock::Clock;
use super::files::{Files, Kind, kind_of};
use super::line::{Call, Line, Told, returned};
use super::noted::Noted;
use super::order::Order;
use super::overhead::Overhead;
use super::threads::Threads;
use crate::trace::{TraceError, Writer, least_of};
use crate::units::Nanos;
use crate::workload::{Action, Fd, Operation};

/// More time than this is not taken out in advance for what strace takes.
const MOST_DEBT: i64 = 10_000_000;

/// So many times threads wait for each other before they do so half as often.
const WAITS: u64 = 1 << 18;

/// Of a call that makes a child with which it shares memory, this is its own time; the rest is the child's, until that executes a program.
const VFORK: Nanos = Nanos(50_000);

/// The times that a recording has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// None.
    None,
    /// Those at which calls began.
    Starts,
    /// Also how long they took.
    Durations,
}

/// A recording that is being read.
pub struct Recording<'t> {
    /// Where it goes to.
    pub trace: &'t mut Writer,
    overhead: Overhead,
    times: Times,
    with_system: bool,
    /// Its threads.
    pub threads: Threads,
    /// Their open files.
    pub files: Files,
    /// What they need of each other.
    pub order: Order,
    /// What is not forecast.
    pub noted: Noted,
    clock: Clock,
    /// How many calls there were.
    pub calls: u64,
    waits: u64,
    /// The operations of a call, and their room.
    operations: Operations,
}

impl<'t> Recording<'t> {
    /// Before the first line.
    pub fn new(trace: &'t mut Writer, overhead: Overhead, times: Times, with_system: bool) -> Self {
        Self {
            trace,
            overhead,
            times,
            with_system,
            threads: Threads::default(),
            files: Files::default(),
            order: Order::default(),
            noted: Noted::default(),
            clock: Clock::default(),
            calls: 0,
            waits: 0,
            operations: Operations::new(),
        }
    }

    /// The kind of a path.
    pub fn kind_of(&self, path: &str) -> Kind {
        kind_of(path, self.with_system)
    }

    /// The shared text of a path, as it is in the forecast.
    pub fn name(&mut self, path: &str) -> Result<Arc<str>, TraceError> {
        self.trace.path(&self.files.directories.name(path))
    }

    /// Takes a line.
    pub fn line(&mut self, line: &Line<'_>, number: Option<u32>) -> Result<(), TraceError> {
        let time = line.stamp.map(|stamp| self.clock.read(stamp));
        match line.told {
            Told::Other => return Ok(()),
            Told::Attached(pid) => {
                self.threads.announce(pid);
                return Ok(());
            }
            _ => {}
        }
        let pid = self.threads.named(line.pid, matches!(line.told, Told::Resumed(..)));
        match line.told {
            Told::Call(call) => self.call(pid, time, &call, number),
            Told::Unfinished(name, arguments) => {
                self.make_thread(pid)?;
                self.threads.begin(pid, name, arguments, time, calls::makes_child(name));
                Ok(())
            }
            Told::Resumed(name, rest) => self.resumed(pid, name, rest, number),
            Told::Ended => self.ended(pid),
            Told::Superseded(other) => {
                self.threads.take_over(pid, other);
                self.ended(other)
            }
            Told::Attached(_) | Told::Other => Ok(()),
        }
    }

    fn resumed(&mut self, pid: u32, name: &str, rest: &str, number: Option<u32>) -> Result<(), TraceError> {
        let Some((mut text, begin, time)) = self.threads.resume(pid, name) else {
            self.noted.unknown("calls that began before the recording");
            return Ok(());
        };
        text.push_str(rest);
        if let Some(call) = returned(name, &text[begin..]) {
            self.call(pid, time, &call, number)?;
        }
        self.threads.put_back(pid, text);
        Ok(())
    }

    /// Makes the thread of a number if nothing was heard of it.
    fn make_thread(&mut self, pid: u32) -> Result<(), TraceError> {
        if self.threads.get(pid).is_some() {
            return Ok(());
        }
        // The first line of a child can come before the return of the call that makes it.
        let Some(parent) = self.threads.forking() else {
            let table = self.files.new_table();
            self.threads.add(pid, ("".into(), table), self.clock.now(), self.calls, false);
            return Ok(());
        };
        let (text, begun) = self.threads.unfinished(parent);
        let (shares_files, waits_for_it) = calls::how_made(text);
        let passed = begun.map_or(Nanos::ZERO, |begun| self.clock.now().saturating_sub(begun));
        let own = own_time(difference(passed, self.overhead.inside).max(0), waits_for_it);
        let parent_thread = self.threads.of(parent);
        parent_thread.accounted = parent_thread.accounted.saturating_add(own);
        self.make_child(parent, pid, shares_files, own)?;
        self.threads.of(pid).is_confirmed = false;
        Ok(())
    }

    /// Makes a child, which begins when its parent has taken its own time to make it.
    fn make_child(&mut self, parent: u32, pid: u32, shares_files: bool, own: i64) -> Result<(), TraceError> {
        let thread = self.threads.of(parent);
        thread.pending = thread.pending.saturating_add(own);
        let (name, end) = (Arc::clone(&thread.name), thread.end + as_nanos(thread.pending));
        let table = match shares_files {
            true => self.files.share_table(thread.table),
            false => self.files.copy_table(thread.table),
        };
        let event = self.threads.add(pid, (name, table), end, self.calls, true);
        self.record(parent, Action::Signal { event }, None, Nanos::ZERO, None)
    }

    fn call(
        &mut self,
        pid: u32,
        time: Option<Nanos>,
        call: &Call<'_>,
        line: Option<u32>,
    ) -> Result<(), TraceError> {
        if self.threads.get(pid).is_some_and(|thread| thread.is_exiting) {
            // Its end was not recorded, and its number is another one's by now.
            self.ended(pid)?;
        }
        self.make_thread(pid)?;
        self.calls += 1;
        self.pass_time(pid, time);
        let duration = call.duration.unwrap_or(Nanos::ZERO);
        let inside = self.inside(duration);
        let mut operations = std::mem::take(&mut self.operations);
        let meaning = calls::meaning(self, pid, call, &mut operations)?;
        let kept = self.after_call(pid, meaning, inside, &mut operations)?;
        let kept = kept.saturating_sub(std::mem::take(&mut self.threads.of(pid).accounted));
        while let Some(other) = self.order.next_needed() {
            self.wait_for(pid, other, &mut operations)?;
        }
        // Of a call that is several operations the last one has its time.
        let (forecast, last) = (as_nanos(inside.saturating_sub(kept)), operations.len());
        for ((action, fd, earlier), at) in operations.drain(..).zip(1..) {
            let duration = if at == last { forecast } else { Nanos::ZERO };
            self.record(pid, action, fd, earlier + duration, line)?;
        }
        self.operations = operations;
        let behind = self.overhead.behind(call);
        let thread = self.threads.of(pid);
        thread.pending = thread.pending.saturating_add(kept);
        thread.real_end = time.map(|time| time + duration);
        thread.overhead = behind;
        thread.calls += 1;
        Ok(())
    }

    /// The time of a call without strace's, in nanoseconds. Below 0 if more is taken for strace's than it took.
    fn inside(&self, duration: Nanos) -> i64 {
        difference(duration, self.overhead.inside)
    }

    /// The same, at least 0.
    pub fn own_time_of(&self, call: &Call<'_>) -> Nanos {
        as_nanos(self.inside(call.duration.unwrap_or(Nanos::ZERO)))
    }

    /// A recorded time of a thread passes of which no operation takes any.
    pub fn pass(&mut self, pid: u32, time: Nanos) {
        let thread = self.threads.of(pid);
        thread.pending = thread.pending.saturating_add(difference(time, Nanos::ZERO));
    }

    /// What a call does to threads; gives the part of its time that is kept as recorded.
    fn after_call(
        &mut self,
        pid: u32,
        meaning: Meaning,
        inside: i64,
        operations: &mut Operations,
    ) -> Result<i64, TraceError> {
        Ok(match meaning {
            Meaning::Recorded => inside,
            Meaning::Forecast => inside.min(0),
            Meaning::Partly(most) => inside.min(difference(most, Nanos::ZERO)),
            Meaning::Made { child, shares_files, waits_for_it } => {
                return self.made(pid, child, (shares_files, waits_for_it), inside, operations);
            }
            Meaning::Reaped { child } => match self.threads.ended(child) {
                Some(event) => {
                    // What it has done is done from now on.
                    self.threads.of(pid).must_wait(child, u64::MAX, 1);
                    operations.push((Action::Wait { event }, None, Nanos::ZERO));
                    inside.min(0)
                }
                None => inside,
            },
            Meaning::Executes { name } => {
                let thread = self.threads.of(pid);
                let table = thread.table;
                thread.name = name;
                for fd in self.files.descriptors(table, |_, closes| closes) {
                    calls::close(self, pid, table, fd, operations);
                }
                inside
            }
        })
    }

    /// A thread has made another one.
    fn made(
        &mut self,
        pid: u32,
        child: u32,
        (shares_files, waits_for_it): (bool, bool),
        inside: i64,
        operations: &mut Operations,
    ) -> Result<i64, TraceError> {
        if child == pid {
            return Ok(inside);
        }
        let own = own_time(inside, waits_for_it);
        let is_expected = self.threads.get(child).is_some_and(|thread| !thread.is_confirmed);
        if is_expected {
            self.threads.of(child).is_confirmed = true;
        } else {
            // If its number was another one's, the end of that was not recorded.
            self.ended(child)?;
            self.make_child(pid, child, shares_files, own)?;
            self.threads.of(pid).accounted = own;
        }
        if waits_for_it {
            self.wait_for(pid, child, operations)?;
        }
        Ok(own)
    }

    /// A call waits until another thread has done what it has done so far.
    fn wait_for(&mut self, pid: u32, other: u32, operations: &mut Operations) -> Result<(), TraceError> {
        let step = 1_u64.checked_shl((self.waits / WAITS) as u32).unwrap_or(u64::MAX);
        let calls = self.threads.get(other).map_or(u64::MAX, |thread| thread.calls);
        if !self.threads.of(pid).must_wait(other, calls, step) {
            return Ok(());
        }
        self.waits += 1;
        let event = match self.threads.get(other) {
            None => self.threads.ended(other),
            Some(thread) => {
                let event: Arc<str> = format!("done {other}.{}.{calls}", thread.uses).into();
                let signal = Action::Signal { event: Arc::clone(&event) };
                self.record(other, signal, None, Nanos::ZERO, None)?;
                Some(event)
            }
        };
        if let Some(event) = event {
            operations.insert(0, (Action::Wait { event }, None, Nanos::ZERO));
        }
        Ok(())
    }

    /// The time since the last call of a thread has passed.
    fn pass_time(&mut self, pid: u32, time: Option<Nanos>) {
        let thread = self.threads.of(pid);
        match (time, thread.real_end) {
            (Some(time), _) if self.times != Times::Durations => thread.end = time,
            (Some(time), Some(end)) => {
                let passed = difference(time.saturating_sub(end), thread.overhead);
                thread.pending = thread.pending.saturating_add(passed);
            }
            (Some(time), None) if thread.process.is_none() && thread.begins_after.is_none() => {
                thread.end = time
            }
            _ => {}
        }
    }

    fn record(
        &mut self,
        pid: u32,
        action: Action,
        fd: Option<Fd>,
        duration: Nanos,
        line: Option<u32>,
    ) -> Result<(), TraceError> {
        let process = self.process(pid)?;
        let thread = self.threads.of(pid);
        let start = thread.end + as_nanos(thread.pending);
        thread.pending = thread.pending.clamp(-MOST_DEBT, 0);
        // A time that is kept pays for what was taken out in advance, as the times between calls do.
        let duration = match least_of(&action, duration) {
            Some(least) => {
                let paid = as_nanos(-thread.pending).min(least);
                thread.pending += difference(paid, Nanos::ZERO);
                Nanos(least.0 - paid.0)
            }
            None => duration,
        };
        thread.end = start + duration;
        let (time, duration) = self.known(start, duration);
        self.trace.record(process, time, duration, &Operation { line, fd, ..action.into() })
    }

    /// A time and a duration, as far as the recording has such.
    fn known(&self, time: Nanos, duration: Nanos) -> (Option<Nanos>, Option<Nanos>) {
        match self.times {
            Times::None => (None, None),
            Times::Starts => (Some(time), None),
            Times::Durations => (Some(time), Some(duration)),
        }
    }

    /// The number of a thread in the trace. A child begins when its parent has made it.
    fn process(&mut self, pid: u32) -> Result<u32, TraceError> {
        let thread = self.threads.of(pid);
        if let Some(process) = thread.process {
            return Ok(process);
        }
        let name = if thread.name.is_empty() { "process" } else { &*thread.name };
        let name = match (pid, thread.uses) {
            (0, 1) => name.to_owned(),
            (pid, 1) => format!("{name}.{pid}"),
            (pid, uses) => format!("{name}.{pid}.{uses}"),
        };
        let process = self.trace.process(&name)?;
        self.trace.set_descriptors(process, 0);
        thread.process = Some(process);
        let (begins_after, end) = (thread.begins_after.take(), thread.end);
        if let Some(event) = begins_after {
            // The event says when it begins, and not the recorded time.
            self.trace.set_start(process, Nanos::ZERO);
            let (time, duration) = self.known(end, Nanos::ZERO);
            self.trace.record(process, time, duration, &Action::Wait { event }.into())?;
        }
        Ok(process)
    }

    /// A thread has ended, if it was there.
    fn ended(&mut self, pid: u32) -> Result<(), TraceError> {
        let Some(thread) = self.threads.get(pid) else { return Ok(()) };
        let (table, event) = (thread.table, thread.event("ended", pid));
        self.record(pid, Action::Signal { event }, None, Nanos::ZERO, None)?;
        let mut operations = std::mem::take(&mut self.operations);
        for fd in self.files.leave(table) {
            calls::close(self, pid, table, fd, &mut operations);
        }
        while let Some(other) = self.order.next_needed() {
            self.wait_for(pid, other, &mut operations)?;
        }
        for (action, fd, earlier) in operations.drain(..) {
            self.record(pid, action, fd, earlier, None)?;
        }
        self.operations = operations;
        self.files.free(table);
        self.threads.remove(pid);
        Ok(())
    }

    /// After the last line: whoever waits for what was not recorded goes on.
    pub fn end(&mut self, origin: &str) -> Result<(), TraceError> {
        for pid in self.threads.all() {
            let thread = self.threads.of(pid);
            if thread.calls > 0 || thread.process.is_some() {
                let event = thread.event("ended", pid);
                self.record(pid, Action::Signal { event }, None, Nanos::ZERO, None)?;
            }
        }
        self.overhead.note(origin, self.trace);
        self.noted.note(origin, self.trace);
        let without = match self.times {
            Times::None => "it has no times, so operations follow at once; record with -ttt -T",
            Times::Starts => "it does not say how long calls took; record with -T",
            Times::Durations => return Ok(()),
        };
        self.trace.note(origin, without);
        Ok(())
    }
}

/// Of the time of a call that makes a child, that of the parent.
fn own_time(inside: i64, waits_for_it: bool) -> i64 {
    if waits_for_it { inside.min(difference(VFORK, Nanos::ZERO)) } else { inside }
}

/// A time, or 0 for one below.
fn as_nanos(time: i64) -> Nanos {
    Nanos(time.max(0) as u64)
}

/// One time less another one, in nanoseconds.
fn difference(one: Nanos, other: Nanos) -> i64 {
    let whole = |time: Nanos| i64::try_from(time.0).unwrap_or(i64::MAX);
    whole(one) - whole(other)
}
