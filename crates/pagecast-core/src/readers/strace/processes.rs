//! Follows the threads of a recording: their time, their parents and children, and calls that go on.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::calls::{self, Meaning};
use super::files::{Files, Kind};
use super::line::{Call, Line, Time, Told, returned};
use super::order::Order;
use super::overhead::Overhead;
use crate::trace::{TraceError, Writer};
use crate::units::Nanos;
use crate::workload::{Action, Fd, Operation};

/// The longest text of a call that goes on.
const MOST_UNFINISHED: usize = 1 << 16;

/// A thread.
pub struct Thread {
    /// Its number in the trace, once it has done something.
    process: Option<u32>,
    name: String,
    /// Where its descriptors are.
    pub table: usize,
    /// The event that it begins after.
    begins_after: Option<Arc<str>>,
    /// When its last call ended, as recorded.
    real_end: Option<Nanos>,
    /// When its last operation ended without strace, and the time since then.
    end: Nanos,
    pending: Nanos,
    /// How many records it has.
    records: u64,
    /// A call that goes on: its name, its arguments so far, and when it began.
    unfinished: Option<(String, String, Option<Nanos>)>,
}

/// A recording that is being read.
pub struct Recording<'t> {
    pub trace: &'t mut Writer,
    overhead: Overhead,
    threads: FxHashMap<u32, Thread>,
    pub files: Files,
    pub order: Order,
    /// The events that threads signal at their end, of those that have ended.
    ended: FxHashMap<u32, Arc<str>>,
    /// How often each number of a process has come.
    uses: FxHashMap<u32, u32>,
    /// Bytes that were read and written elsewhere than in files, by process.
    elsewhere: BTreeMap<(String, &'static str), u64>,
    /// How often something was met that cannot be followed.
    unknown: BTreeMap<&'static str, u64>,
    /// The last time of any line, for times since the line before.
    clock: Nanos,
    zero: Option<Nanos>,
    has_no_times: bool,
}

impl<'t> Recording<'t> {
    /// Before the first line.
    pub fn new(trace: &'t mut Writer, overhead: Overhead) -> Self {
        Self {
            trace,
            overhead,
            threads: FxHashMap::default(),
            files: Files::default(),
            order: Order::default(),
            ended: FxHashMap::default(),
            uses: FxHashMap::default(),
            elsewhere: BTreeMap::new(),
            unknown: BTreeMap::new(),
            clock: Nanos::ZERO,
            zero: None,
            has_no_times: false,
        }
    }

    /// Takes a line.
    pub fn line(&mut self, line: &Line<'_>, number: Option<u32>) -> Result<(), TraceError> {
        let time = self.time(line.time);
        let pid = line.pid.unwrap_or(0);
        match line.told {
            Told::Other => Ok(()),
            Told::Ended => self.ended(pid),
            Told::Unfinished(name, arguments) => {
                self.thread(pid);
                let thread = self.threads.get_mut(&pid).expect("it was just made");
                let arguments = if arguments.len() > MOST_UNFINISHED { "" } else { arguments };
                thread.unfinished = Some((name.to_owned(), arguments.to_owned(), time));
                Ok(())
            }
            Told::Resumed(name, rest) => {
                let begun = self.threads.get_mut(&pid).and_then(|thread| thread.unfinished.take());
                let Some((begun, arguments, start)) = begun.filter(|(begun, ..)| begun == name) else {
                    self.note("calls that began before the recording");
                    return Ok(());
                };
                let whole = format!("{arguments}{rest}");
                match returned(&begun, &whole) {
                    Some(call) => self.call(pid, start, &call, number),
                    None => Ok(()),
                }
            }
            Told::Call(call) => self.call(pid, time, &call, number),
        }
    }

    fn time(&mut self, time: Option<Time>) -> Option<Nanos> {
        match time {
            None => {
                self.has_no_times = true;
                return None;
            }
            Some(Time::Since(since)) => self.clock += since,
            Some(Time::At(at)) => {
                let zero = *self.zero.get_or_insert(at);
                self.clock = at.saturating_sub(zero);
            }
        }
        Some(self.clock)
    }

    /// The thread of a number, which is made if nothing was heard of it.
    fn thread(&mut self, pid: u32) {
        if self.threads.contains_key(&pid) {
            return;
        }
        // The first line of a child can come before the return of the call that has made it.
        let makes =
            |thread: &Thread| thread.unfinished.as_ref().is_some_and(|(name, ..)| calls::makes_child(name));
        let parent = self.threads.iter().filter(|(_, thread)| makes(thread)).map(|(&pid, _)| pid).max();
        match parent {
            Some(parent) => {
                let arguments =
                    self.threads[&parent].unfinished.as_ref().map(|unfinished| unfinished.1.clone());
                self.child(parent, pid, arguments.unwrap_or_default().contains("CLONE_FILES"));
            }
            None => {
                let table = self.files.new_table();
                self.insert(pid, String::new(), table, None);
            }
        }
    }

    fn insert(&mut self, pid: u32, name: String, table: usize, begins_after: Option<Arc<str>>) {
        *self.uses.entry(pid).or_default() += 1;
        let thread = Thread {
            process: None,
            name,
            table,
            begins_after,
            real_end: None,
            end: self.clock,
            pending: Nanos::ZERO,
            records: 0,
            unfinished: None,
        };
        self.threads.insert(pid, thread);
    }

    /// A thread has made another one.
    fn child(&mut self, parent: u32, pid: u32, shares_files: bool) {
        let Thread { table, ref name, .. } = self.threads[&parent];
        let name = name.clone();
        let table = if shares_files { self.files.share_table(table) } else { self.files.copy_table(table) };
        let event = self.event("begun", pid, 1);
        self.insert(pid, name, table, Some(event));
    }

    /// The name of an event; `next` is 1 if the number of the process has not come yet.
    fn event(&self, what: &str, pid: u32, next: u32) -> Arc<str> {
        let uses = self.uses.get(&pid).copied().unwrap_or(0) + next;
        format!("{what} {pid}.{uses}").into()
    }

    fn call(
        &mut self,
        pid: u32,
        time: Option<Nanos>,
        call: &Call<'_>,
        line: Option<u32>,
    ) -> Result<(), TraceError> {
        self.thread(pid);
        let duration = call.duration.unwrap_or(Nanos::ZERO);
        self.pass_time(pid, time);
        let inside = duration.saturating_sub(self.overhead.inside);
        let table = self.threads[&pid].table;
        let mut operations = Vec::new();
        let meaning = calls::meaning(self, table, call, &mut operations);
        let takes_time = matches!(meaning, Meaning::Moved | Meaning::Waited { .. });
        match meaning {
            Meaning::Nothing | Meaning::Moved => {}
            Meaning::Made { child, shares_files } => {
                if !self.threads.contains_key(&child) {
                    self.child(pid, child, shares_files);
                }
                let event = self.event("begun", child, 0);
                operations.push((Action::Signal { event }, None));
            }
            Meaning::Waited { child } => {
                operations.push((Action::Wait { event: self.event("ended", child, 0) }, None))
            }
            Meaning::Executes { name } => {
                let thread = self.threads.get_mut(&pid).expect("it is there");
                thread.name = name;
                for fd in self.files.descriptors(table, |_, closes| closes) {
                    calls::close(self, table, fd, &mut operations);
                }
            }
        }
        for other in self.order.end_call(pid) {
            self.wait_for(pid, other, &mut operations)?;
        }
        // Of a call that is several operations the first one has its time.
        let mut left = inside;
        for (action, fd) in operations {
            let time = if takes_time { std::mem::take(&mut left) } else { Nanos::ZERO };
            self.record(pid, action, fd, time, line)?;
        }
        let thread = self.threads.get_mut(&pid).expect("it is there");
        // Calls that the model has no time for, and those on anything but files.
        thread.pending += left;
        thread.real_end = time.map(|time| time + duration);
        Ok(())
    }

    /// A call waits until another thread has done what it has done so far.
    fn wait_for(
        &mut self,
        pid: u32,
        other: u32,
        operations: &mut calls::Operations,
    ) -> Result<(), TraceError> {
        let event = match (self.ended.get(&other), self.threads.get(&other)) {
            (_, Some(thread)) if thread.process.is_some() => {
                let records = thread.records;
                if !self.order.must_wait(pid, other, records) {
                    return Ok(());
                }
                let event: Arc<str> = format!("done {other}.{records}").into();
                self.record(other, Action::Signal { event: event.clone() }, None, Nanos::ZERO, None)?;
                event
            }
            (Some(event), None) if self.order.must_wait(pid, other, u64::MAX) => event.clone(),
            _ => return Ok(()),
        };
        operations.insert(0, (Action::Wait { event }, None));
        Ok(())
    }

    /// The time since the last call of a thread has passed.
    fn pass_time(&mut self, pid: u32, time: Option<Nanos>) {
        let between = self.overhead.between;
        let thread = self.threads.get_mut(&pid).expect("it is there");
        match (time, thread.real_end) {
            (Some(time), Some(end)) => thread.pending += time.saturating_sub(end).saturating_sub(between),
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
        let thread = self.threads.get_mut(&pid).expect("it is there");
        thread.records += u64::from(!matches!(action, Action::Signal { .. } | Action::Wait { .. }));
        let start = thread.end + std::mem::take(&mut thread.pending);
        thread.end = start + duration;
        let time = (!self.has_no_times).then_some(start);
        let operation = Operation { line, fd, ..action.into() };
        self.trace.record(process, time, time.map(|_| duration), &operation)
    }

    /// The number of a thread in the trace. It begins when its parent has made it.
    fn process(&mut self, pid: u32) -> Result<u32, TraceError> {
        let uses = self.uses[&pid];
        let thread = self.threads.get_mut(&pid).expect("it is there");
        if let Some(process) = thread.process {
            return Ok(process);
        }
        let name = if thread.name.is_empty() { "process" } else { thread.name.as_str() };
        let name = match (pid, uses) {
            (0, _) => name.to_owned(),
            (pid, 1) => format!("{name}.{pid}"),
            (pid, uses) => format!("{name}.{pid}.{uses}"),
        };
        let process = self.trace.process(&name)?;
        self.trace.set_descriptors(process, 0);
        thread.process = Some(process);
        if let Some(event) = thread.begins_after.take() {
            let time = (!self.has_no_times).then_some(thread.end);
            self.trace.record(process, time, time.map(|_| Nanos::ZERO), &Action::Wait { event }.into())?;
        }
        Ok(process)
    }

    fn ended(&mut self, pid: u32) -> Result<(), TraceError> {
        if !self.threads.contains_key(&pid) {
            return Ok(());
        }
        let table = self.threads[&pid].table;
        let mut operations = Vec::new();
        for fd in self.files.leave(table) {
            calls::close(self, table, fd, &mut operations);
        }
        let event = self.event("ended", pid, 0);
        self.ended.insert(pid, event.clone());
        operations.push((Action::Signal { event }, None));
        for (action, fd) in operations {
            self.record(pid, action, fd, Nanos::ZERO, None)?;
        }
        self.threads.remove(&pid);
        Ok(())
    }

    /// Bytes were read or written elsewhere than in a file of a disk.
    pub fn moved_elsewhere(&mut self, kind: Kind, direction: &'static str, bytes: u64) {
        let of = if kind == Kind::System {
            "files of system directories"
        } else {
            "pipes, sockets, terminals and /proc"
        };
        *self.elsewhere.entry((of.to_owned(), direction)).or_default() += bytes;
    }

    /// Something was met that cannot be followed.
    pub fn note(&mut self, what: &'static str) {
        *self.unknown.entry(what).or_default() += 1;
    }

    /// After the last line.
    pub fn end(self, origin: &str) {
        let Overhead { inside, between } = self.overhead;
        if inside + between > Nanos::ZERO {
            let text =
                format!("strace took {inside} of each call and {between} between two, which is left out");
            self.trace.note(origin, text);
        }
        for ((of, direction), bytes) in self.elsewhere {
            // To the byte, so that the sums can be compared with /proc/PID/io.
            self.trace.note(origin, format!("{bytes} B {direction} {of} are left out"));
        }
        for (what, count) in self.unknown {
            self.trace.note(origin, format!("not followed: {count} {what}"));
        }
        if self.has_no_times {
            self.trace.note(origin, "there are no times, so operations follow at once; record with -ttt -T");
        }
    }
}
