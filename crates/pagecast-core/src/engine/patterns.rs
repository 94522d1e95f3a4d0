//! Performs the calls of a pattern: one operation, many calls, each under the host's policy as a read or write of its own.
//!
//! As many calls as the pattern asks for are under way at once, as kiocbs (`kiocbs`); of one at a time the process does each itself. The
//! time from the end of a call to the end of the next one is charged to the parts of the latter, in proportion, so that the parts of the
//! operation add up to its duration. Time without a call is sleep where a rate asks for it.

use super::patterned::{CallUnderWay, Patterned};
use super::run::Engine;
use crate::calls::CallError;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::fs::Span;
use crate::policy::Outcome;
use crate::result::Part;
use crate::stop;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, AsyncBy, Calls, OpenFlag, Operation, PatternCall};

/// The most calls under way: `aio-max-nr`, twice the entries of a ring (`IORING_MAX_ENTRIES`).
const MOST_CALLS: u32 = 65_536;

impl<N: Network> Engine<'_, N> {
    /// Begins a pattern.
    pub(super) fn begin_pattern(&mut self, at: u32, operation: Operation) -> Result<(), SimulationError> {
        let Action::Pattern(pattern) = &operation.action else { unreachable!("only patterns have calls") };
        let begun = self.caller(at).begin_pattern(&operation.action, operation.fd, pattern);
        let (file, flags) = self.blamed(at, operation.line, begun)?;
        let process = &self.processes[at as usize];
        let size = self.namespace.size(file.file);
        let patterned = Patterned {
            file,
            flags,
            path: u32::MAX,
            by: pattern.by,
            calls: Calls::of_process(pattern, size, self.seed, &process.name, process.operations),
            depth: pattern.depth.clamp(1, MOST_CALLS),
            start: self.now,
            until: pattern.time.map_or(Nanos(u64::MAX), |time| self.now + time),
            under_way: 0,
            told: self.now,
            has_slept: false,
            moved: Bytes::ZERO,
            outcome: Outcome::default(),
        };
        let offset = pattern.offset;
        self.enter(at, operation, Some(file), offset, Bytes::ZERO);
        let current = self.processes[at as usize].current.as_mut().expect("it has begun");
        let path = self.recorder.begin_calls((at, current.index), current.operation.action.path());
        current.pattern = Some(Box::new(Patterned { path, ..patterned }));
        self.go_on_with_pattern(at)
    }

    /// The pattern that a process is in.
    pub(super) fn pattern(&mut self, at: u32) -> &mut Patterned {
        let current = self.processes[at as usize].current.as_mut();
        current.and_then(|current| current.pattern.as_deref_mut()).expect("it is in a pattern")
    }

    /// Begins calls of a pattern until there are enough, or ends it.
    pub(super) fn go_on_with_pattern(&mut self, at: u32) -> Result<(), SimulationError> {
        while self.processes[at as usize].call.is_none() {
            if !self.may_go_on(at) {
                return Ok(());
            }
            let now = self.now;
            let pattern = self.pattern(at);
            if pattern.calls.are_over() || now >= pattern.until {
                return if pattern.under_way == 0 { self.end_pattern(at) } else { Ok(()) };
            }
            if pattern.under_way == pattern.depth {
                return Ok(());
            }
            let due = (pattern.start + pattern.calls.due()).min(pattern.until);
            if due > now {
                pattern.has_slept = true;
                self.wake_at(at, due);
                return Ok(());
            }
            stop::spend(stop::EVENT);
            self.next_call(at)?;
        }
        Ok(())
    }

    /// Begins the next call.
    fn next_call(&mut self, at: u32) -> Result<(), SimulationError> {
        let now = self.now;
        let pattern = self.pattern(at);
        let is_among_first = pattern.calls.made() < u64::from(pattern.depth);
        let Some(mut call) = pattern.calls.next() else { return Ok(()) };
        pattern.charge_idle(now);
        pattern.under_way += 1;
        let Patterned { file, flags, by, depth, .. } = *pattern;
        if call.is_write && flags.has(OpenFlag::Append) {
            call.offset = self.namespace.taken(file.file).0;
        }
        let is_direct = flags.is_direct();
        if depth == 1 || self.is_over_when_submitted(at, by, file.file, Some(call), is_direct) {
            return self.begin_pattern_call(at, CallUnderWay { call, start: now, is_queued: false });
        }
        // Threads begin one after the other, and then go on by themselves.
        let kiocb = self.submit(at, by != AsyncBy::Threads || is_among_first);
        let is_queued =
            by.follows_others(call.is_write, is_direct) && !self.is_first_in_line(kiocb, file.file);
        let call = CallUnderWay { call, start: now, is_queued };
        if is_queued {
            self.processes[kiocb as usize].call = Some(call);
            return Ok(());
        }
        self.begin_pattern_call(kiocb, call)
    }

    /// Hands a call to the policy; `at` is the process, or the kiocb that does it.
    pub(super) fn begin_pattern_call(
        &mut self,
        at: u32,
        mut call: CallUnderWay,
    ) -> Result<(), SimulationError> {
        call.is_queued = false;
        let PatternCall { offset, bytes, is_write } = call.call;
        let owner = self.owner(at);
        let Patterned { file, flags, .. } = *self.pattern(owner);
        self.processes[at as usize].call = Some(call);
        let span = Span { offset, bytes, piece: bytes };
        let mut caller = self.caller(at);
        let wants = match is_write {
            true => caller.take_room(file, &span, flags).map(|()| caller.write(file, &span, flags)),
            false => caller.read_of_pattern(file, &span, flags),
        };
        match wants {
            Ok(wants) => self.ask(at, wants),
            Err(error) => Err(self.pattern_failed(owner, error)),
        }
    }

    fn pattern_failed(&self, at: u32, error: CallError) -> SimulationError {
        let line = self.processes[at as usize].current.as_ref().and_then(|current| current.operation.line);
        self.call_failed(at, line, error)
    }

    /// A call of a pattern has ended.
    pub(super) fn end_pattern_call(&mut self, at: u32, mut outcome: Outcome) -> Result<(), SimulationError> {
        let CallUnderWay { call, start, .. } =
            self.processes[at as usize].call.take().expect("it is under way");
        let (owner, now) = (self.owner(at), self.now);
        // It has waited in its line before it began.
        outcome.parts.add(Part::Wait, now - start - outcome.parts.total());
        let pattern = self.pattern(owner);
        let path = pattern.path;
        pattern.add(now, call.bytes, &outcome);
        if call.is_write {
            let file = pattern.file.file;
            self.namespace.grow(file, Bytes(call.offset + call.bytes.0));
        }
        self.recorder.call(owner, path, &call, (start, now), &outcome);
        if at != owner {
            let waits = std::mem::take(&mut self.processes[at as usize].waits);
            waits.into_iter().for_each(|wait| self.processes[owner as usize].add_wait(wait));
            return self.end_kiocb(at);
        }
        self.ready.push_back(at);
        Ok(())
    }

    fn end_pattern(&mut self, at: u32) -> Result<(), SimulationError> {
        let now = self.now;
        let current = self.processes[at as usize].current.as_mut().expect("it is in a pattern");
        let mut pattern = current.pattern.take().expect("it is in a pattern");
        pattern.charge_idle(now);
        current.bytes = pattern.moved;
        self.end_operation(at, pattern.outcome)
    }
}
