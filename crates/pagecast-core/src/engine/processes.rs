//! Runs processes: lets them wait for each other, and reports when none can go on.

use std::sync::Arc;

use super::agenda::Wake;
use super::recorder::Ended;
use super::run::Engine;
use super::running::{Current, State};
use crate::error::{Blame, SimulationError};
use crate::flow::Network;
use crate::fs::Located;
use crate::policy::{Call, OperationId, Outcome, Refusal, Request};
use crate::result::{Part, Parts};
use crate::stop;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Operation};

impl<N: Network> Engine<'_, N> {
    /// Starts all processes that wait for no other.
    pub(super) fn start_processes(&mut self) -> Result<(), SimulationError> {
        for at in 0..self.processes.len() as u32 {
            if self.processes[at as usize].waits_for == 0 {
                self.start_process(at)?;
            }
        }
        self.go_on()
    }

    fn start_process(&mut self, at: u32) -> Result<(), SimulationError> {
        let process = &self.scenario.processes[at as usize];
        let program = process.program.start_beside(&self.beside);
        let program = program.map_err(|error| self.program_failed(at, error))?;
        let running = &mut self.processes[at as usize];
        running.is_watched = program.watches();
        running.program = Some(program);
        running.state = State::Active;
        running.started = process.start.max(self.now);
        self.active += 1;
        if process.start > self.now {
            self.agenda.add(self.now, process.start, Wake::Start(at));
        } else {
            self.become_ready(at);
        }
        Ok(())
    }

    /// Lets a process do operations until one takes time or it exits.
    pub(super) fn run_process(&mut self, at: u32) -> Result<(), SimulationError> {
        if self.is_kiocb(at) {
            return self.begin_queued(at);
        }
        while self.processes[at as usize].state == State::Active && !self.processes[at as usize].is_busy() {
            stop::spend(stop::EVENT);
            if let Some(current) = &self.processes[at as usize].current {
                match current {
                    Current { pattern: Some(_), .. } => return self.go_on_with_pattern(at),
                    Current { copying: Some(_), .. } => self.go_on_with_copy(at)?,
                    _ => self.go_on_with_stream(at)?,
                }
                continue;
            }
            if !self.may_go_on(at) {
                return Ok(());
            }
            let operation = match self.processes[at as usize].held.take() {
                Some(held) => *held,
                None => match self.next_operation(at)? {
                    Some(operation) => operation,
                    None if self.processes[at as usize].state == State::Waiting => return Ok(()),
                    None if self.processes[at as usize].under_way > 0 => return Ok(()),
                    None => return self.exit(at),
                },
            };
            if !self.may_begin(at, &operation) {
                self.processes[at as usize].held = Some(Box::new(operation));
                return Ok(());
            }
            match operation.depth {
                Some(_) => self.begin_asynchronous(at, operation)?,
                None => self.begin_operation(at, operation)?,
            }
        }
        Ok(())
    }

    /// The next operation of a process; after its program it closes its streams, and files of other hosts.
    fn next_operation(&mut self, at: u32) -> Result<Option<Operation>, SimulationError> {
        let running = &mut self.processes[at as usize];
        let now = self.now - running.started;
        let own_time = running.program.as_ref().map_or(Nanos::ZERO, |program| program.own_time());
        let next = running.program.as_mut().map_or(Ok(None), |program| program.next(now));
        let next = next.map_err(|error| self.program_failed(at, error))?;
        if next.is_none() && self.is_held(at) {
            return Ok(None);
        }
        self.let_others_go_on();
        match next {
            None | Some(Operation { action: Action::Exit, .. }) => {
                self.processes[at as usize].program = None;
                Ok(self.close_at_exit(at))
            }
            Some(operation) if own_time > Nanos::ZERO && moves_bytes(&operation.action) => {
                let earliest = now + own_time;
                let not_before = operation.not_before.map_or(earliest, |time| time.max(earliest));
                Ok(Some(Operation { not_before: Some(not_before), ..operation }))
            }
            Some(operation) => Ok(Some(operation)),
        }
    }

    /// Whether a process that has no operation waits for another program; if so, it stops until that goes on.
    fn is_held(&mut self, at: u32) -> bool {
        let running = &mut self.processes[at as usize];
        let is_held = running.program.as_ref().is_some_and(|program| program.is_held());
        if is_held {
            running.state = State::Waiting;
            self.active -= 1;
            self.held.push(at);
        }
        is_held
    }

    /// A program has gone on: those that wait for one are asked again.
    fn let_others_go_on(&mut self) {
        for at in std::mem::take(&mut self.held) {
            self.processes[at as usize].state = State::Active;
            self.active += 1;
            self.ready.push_back(at);
        }
    }

    /// Tells a program that one of its operations has ended.
    pub(super) fn tell_end(&mut self, at: u32, current: &Current) {
        let running = &mut self.processes[at as usize];
        if let (true, Some(program)) = (running.is_watched, &mut running.program) {
            let since = |time: Nanos| time.saturating_sub(running.started);
            program.ended(&current.operation.action, current.bytes, since(current.start), since(self.now));
        }
    }

    /// The process is in this operation from now on.
    pub(super) fn enter(
        &mut self,
        at: u32,
        operation: Operation,
        file: Option<Located>,
        offset: u64,
        bytes: Bytes,
    ) {
        let (index, start) = self.place_in_program(at);
        self.processes[at as usize].current = Some(Current {
            operation,
            index,
            start,
            waited: self.now - start,
            file,
            offset,
            bytes,
            stream: None,
            copying: None,
            pattern: None,
        });
    }

    fn exit(&mut self, at: u32) -> Result<(), SimulationError> {
        self.leave_kiocbs(at);
        let process = &mut self.processes[at as usize];
        process.state = State::Ended;
        process.program = None;
        self.alive -= 1;
        self.active -= 1;
        self.give_slots_back(at);
        let process = &mut self.processes[at as usize];
        let followers = std::mem::take(&mut process.followers);
        let host = process.host;
        let table = &mut self.tables[process.table as usize];
        table.users -= 1;
        if table.users == 0 {
            for call in self.caller(at).close_all() {
                self.remove_aside(host, call)?;
            }
        }
        let bytes = self.caller(at).give_memory_back(None);
        if bytes > Bytes::ZERO {
            let call = Call::Free { bytes, owner: OperationId(at) };
            self.request(host, &Request { operation: OperationId::NOBODY, call })?;
        }
        for follower in followers {
            let next = &mut self.processes[follower as usize];
            next.waits_for -= 1;
            if next.waits_for == 0 {
                self.start_process(follower)?;
            }
        }
        Ok(())
    }

    /// A process has slept enough.
    pub(super) fn end_sleep(&mut self, at: u32) -> Result<(), SimulationError> {
        self.end_with(at, Part::Sleep)
    }

    /// Ends an operation all of whose time is called `part`.
    pub(super) fn end_with(&mut self, at: u32, part: Part) -> Result<(), SimulationError> {
        let start = self.processes[at as usize].current.as_ref().expect("it is in an operation").start;
        let parts = Parts::of(part, self.now - start);
        self.end_operation(at, Outcome { parts, ..Outcome::default() })
    }

    /// A process waits for an event, if that has not been signalled.
    pub(super) fn wait(&mut self, at: u32, event: Arc<str>) -> Result<(), SimulationError> {
        if self.events.signalled.contains_key(&event) {
            return self.end_with(at, Part::Wait);
        }
        self.processes[at as usize].state = State::Waiting;
        self.active -= 1;
        self.events.waiting.entry(event).or_default().push(at);
        Ok(())
    }

    /// An event has happened: all who wait for it go on.
    pub(super) fn signal(&mut self, event: &Arc<str>) -> Result<(), SimulationError> {
        self.events.signalled.insert(event.clone(), ());
        for waiting in self.events.waiting.remove(event).unwrap_or_default() {
            self.processes[waiting as usize].state = State::Active;
            self.active += 1;
            self.end_with(waiting, Part::Wait)?;
        }
        Ok(())
    }

    /// Writes down how long a process has waited for its cores: its first operation.
    pub(super) fn record_wait(&mut self, at: u32, since: Nanos, outcome: &Outcome) {
        let process = &mut self.processes[at as usize];
        self.recorder.operation(&Ended {
            process: at,
            host: process.host,
            index: process.operations,
            operation: "wait",
            path: None,
            offset: 0,
            bytes: 0,
            start: since,
            end: self.now,
            outcome,
        });
        process.operations += 1;
    }

    /// Fails if every live process waits for another.
    pub(super) fn check_deadlock(&self) -> Result<(), SimulationError> {
        if self.active > 0 {
            return Ok(());
        }
        let time = self.now;
        Err(SimulationError::Deadlock { place: self.scenario.origin.clone(), time, cycle: self.who_waits() })
    }

    fn who_waits(&self) -> String {
        let for_events = self.events.waiting.iter().flat_map(|(event, waiting)| {
            let signallers = self.signallers(event);
            waiting.iter().map(move |&at| (at, format!("for event `{event}`, which {signallers}")))
        });
        let for_others = self.scenario.processes.iter().enumerate().filter_map(|(at, process)| {
            let not_started = self.processes[at].state == State::NotStarted;
            not_started.then(|| (at as u32, format!("for the end of `{}`", process.after.join("`, `"))))
        });
        let for_programs = self.held.iter().map(|&at| (at, "for another program to go on".to_owned()));
        let for_cores = self.scenario.processes.iter().enumerate().filter_map(|(at, process)| {
            let slots = process.slots.as_ref().filter(|_| self.processes[at].state == State::Queued)?;
            Some((at as u32, self.wanted_slots(slots)))
        });
        let mut all: Vec<(u32, String)> =
            for_events.chain(for_others).chain(for_programs).chain(for_cores).collect();
        all.sort();
        let shown: Vec<String> = all
            .iter()
            .take(8)
            .map(|(at, what)| format!("process `{}` waits {what}", self.processes[*at as usize].name))
            .collect();
        let more = all.len().saturating_sub(shown.len());
        shown.join("; ") + &if more > 0 { format!("; and {more} more wait") } else { String::new() }
    }

    /// Which of the processes that have not ended would signal an event, in words.
    fn signallers(&self, event: &Arc<str>) -> String {
        let live = self.scenario.processes.iter().zip(&self.processes);
        let names: Vec<&str> = live
            .filter(|(process, running)| {
                let events = process.program.events().unwrap_or_default();
                running.state != State::Ended && events.signals.contains(event)
            })
            .map(|(process, _)| &*process.name)
            .collect();
        match names.as_slice() {
            [] => "no process signals any more".to_owned(),
            names => format!("`{}` would signal", names.join("`, `")),
        }
    }

    /// Who is to be named in an error of a process's current or next operation.
    pub(super) fn blame(&self, at: u32, line: Option<u32>) -> Blame {
        let place = match line {
            Some(line) => format!("{}:{line}", self.scenario.origin),
            None => self.scenario.origin.clone(),
        };
        Blame { place, process: self.processes[at as usize].name.clone(), time: self.now }
    }

    /// Nothing happens any more before the end of time, because of what one of the processes does.
    pub(super) fn takes_too_long(&self) -> SimulationError {
        let under_way = |at: usize| self.processes[at].current.as_ref().map(|current| (at as u32, current));
        let (at, Current { operation, start, .. }) = (0..self.processes.len())
            .filter(|&at| self.processes[at].state == State::Active)
            .find_map(under_way)
            .expect("a process that waits for no other is in an operation");
        let at = Blame { time: *start, ..self.blame(at, operation.line) };
        SimulationError::TooLong { at, operation: operation.action.name() }
    }

    /// The model has no answer to what a process does, or to what there is before any does something.
    pub(super) fn refused(&self, operation: OperationId, refusal: Refusal) -> SimulationError {
        let (place, who) = match operation.process() {
            Some(at) => {
                let own = self.processes[at as usize].current.as_ref();
                // The process of a call is in its pattern.
                let current = own.or(self.processes[self.owner(at) as usize].current.as_ref());
                let operation = &current.expect("it is in the operation").operation;
                let Blame { place, process, .. } = self.blame(at, operation.line);
                (place, format!("process `{process}` does a {}", operation.action.name()))
            }
            None => (self.scenario.origin.clone(), "a file is partly dirty".to_owned()),
        };
        let Refusal { what, remedy } = refusal;
        SimulationError::NoAnswer { place, who, time: self.now, model: self.model.clone(), what, remedy }
    }

    fn program_failed(&self, at: u32, error: crate::workload::ProgramError) -> SimulationError {
        SimulationError::Program { at: self.blame(at, None), source: error.0 }
    }
}

fn moves_bytes(action: &Action) -> bool {
    matches!(action, Action::Read { .. } | Action::Write { .. } | Action::Mapped { .. })
}
