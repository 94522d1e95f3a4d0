//! Performs the calls of a pattern: one operation, many calls, each under the host's policy as a read or write of its own.
//!
//! As many calls as the pattern asks for are under way at once, as kiocbs (`kiocbs`); of one at a time the process does each itself. The
//! time from the end of a call to the end of the next one is charged to the parts of the latter, in proportion, so that the parts of the
//! operation add up to its duration. Time without a call is sleep where a rate asks for it.

use super::run::Engine;
use crate::calls::{CallError, CallUnderWay, Next, Patterned};
use crate::error::SimulationError;
use crate::flow::Network;
use crate::policy::{FileId, Outcome};
use crate::result::Part;
use crate::stop;
use crate::units::Bytes;
use crate::workload::{Action, AsyncBy, Calls, OpenFlags, Operation, PatternCall};

impl<N: Network> Engine<'_, N> {
    /// Begins a pattern.
    pub(super) fn begin_pattern(&mut self, at: u32, operation: Operation) -> Result<(), SimulationError> {
        let Action::Pattern(pattern) = &operation.action else { unreachable!("only patterns have calls") };
        let begun =
            self.caller(at).begin_pattern(&operation.action, operation.fd, pattern, OpenFlags::default());
        let opened = self.blamed(at, operation.line, begun)?;
        let process = &self.processes[at as usize];
        let size = self.namespace.size(opened.0.file);
        let calls = Calls::of_process(pattern, size, self.seed, &process.name, process.operations);
        let mut patterned = Patterned::new(self.now, pattern, opened, calls, u32::MAX);
        let offset = pattern.offset;
        self.enter(at, operation, Some(opened.0), offset, Bytes::ZERO);
        let current = self.processes[at as usize].current.as_mut().expect("it has begun");
        let path = self.recorder.begin_calls((at, current.index), current.operation.action.path());
        patterned.path = path;
        current.pattern = Some(Box::new(patterned));
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
            match self.pattern(at).next(now) {
                Next::Over => return self.end_pattern(at),
                Next::Wait => return Ok(()),
                Next::Sleep(due) => {
                    self.wake_at(at, due);
                    return Ok(());
                }
                Next::Call => {}
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
        let Some((call, is_among_first)) = pattern.make_call(now) else { return Ok(()) };
        let Patterned { file, flags, by, .. } = *pattern;
        let call = self.caller(at).placed(file, call, flags);
        if self.waits_for_call(at, file.file, call) {
            return self.begin_pattern_call(at, CallUnderWay { call, start: now, is_queued: false });
        }
        // Threads begin one after the other, and then go on by themselves.
        let kiocb = self.submit(at, by != AsyncBy::Threads || is_among_first);
        let is_queued =
            by.follows_others(call.is_write, flags.is_direct()) && !self.is_first_in_line(kiocb, file.file);
        let call = CallUnderWay { call, start: now, is_queued };
        if is_queued {
            self.processes[kiocb as usize].call = Some(call);
            return Ok(());
        }
        self.begin_pattern_call(kiocb, call)
    }

    /// Whether a process waits for a call of its pattern before it makes the next one.
    fn waits_for_call(&self, at: u32, file: FileId, call: PatternCall) -> bool {
        let current = self.processes[at as usize].current.as_ref();
        let pattern = current.and_then(|current| current.pattern.as_deref()).expect("it is in a pattern");
        pattern.waits_for(call, || self.is_cached(at, file, call))
    }

    /// Hands a call to the policy; `at` is the process, or the kiocb that does it.
    pub(super) fn begin_pattern_call(
        &mut self,
        at: u32,
        mut call: CallUnderWay,
    ) -> Result<(), SimulationError> {
        call.is_queued = false;
        let owner = self.owner(at);
        let Patterned { file, flags, .. } = *self.pattern(owner);
        let wants = self.caller(at).call_of_pattern(file, call.call, flags);
        self.processes[at as usize].call = Some(call);
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
        self.let_go_on(at);
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
