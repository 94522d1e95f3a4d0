//! Checks and begins an operation, hands it to a policy, ends it and records it.

use super::agenda::Wake;
use super::recorder::{Ended, Resident};
use super::run::{Engine, Owner};
use super::running::Current;
use crate::calls::{Begun, Caller, Wants};
use crate::error::SimulationError;
use crate::flow::{FlowSpec, Network};
use crate::machine::Machine;
use crate::policy::{Call, Command, FileId, OperationId, Outcome, Request};
use crate::result::Part;
use crate::scenario::Residency;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, OpenFlags, Operation, SleepSpread};

impl<'a, N: Network> Engine<'a, N> {
    /// Begins an operation of a process; it may end at once.
    pub(super) fn begin_operation(&mut self, at: u32, operation: Operation) -> Result<(), SimulationError> {
        match operation.action {
            Action::Compute { time } => self.compute(at, operation, time),
            Action::Sleep { time, random } => {
                let process = &self.processes[at as usize];
                let time = SleepSpread::time(random, time, self.seed, &process.name, process.operations);
                self.enter(at, operation, None, 0, Bytes::ZERO);
                self.agenda.add(self.now, self.now + time, Wake::Sleeper(at));
                Ok(())
            }
            Action::Wait { ref event } => {
                let event = event.clone();
                self.enter(at, operation, None, 0, Bytes::ZERO);
                self.wait(at, event)
            }
            Action::Signal { ref event } => {
                let event = event.clone();
                self.enter(at, operation, None, 0, Bytes::ZERO);
                self.signal(&event)?;
                self.end_operation(at, Outcome::default())
            }
            Action::Copy { .. } => self.begin_copy(at, operation),
            Action::Stream { call, .. } => self.begin_on_stream(at, operation, call),
            Action::Mapped { call, .. } => self.begin_on_mapping(at, operation, call),
            Action::Pattern(_) => self.begin_pattern(at, operation),
            Action::Drain => {
                self.enter(at, operation, None, 0, Bytes::ZERO);
                self.end_drain(at)
            }
            Action::Exit => unreachable!("the process has been ended instead"),
            _ => self.begin_call(at, operation),
        }
    }

    /// Begins an operation that is one system call.
    fn begin_call(&mut self, at: u32, operation: Operation) -> Result<(), SimulationError> {
        let begun = self.caller(at).begin(&operation.action, operation.fd, OpenFlags::default());
        let mut begun = self.blamed(at, operation.line, begun)?.expect("all others are one call");
        if operation.is_timed {
            begun.leave_time_of_name();
        }
        if let (Action::Unlink { .. }, Some(located)) = (&operation.action, begun.file) {
            self.forget_stream(at, located.file);
            self.processes[at as usize].mappings.remove(&located.file);
        }
        self.enter_begun(at, operation, begun)
    }

    /// The process is in an operation that has begun from now on, and waits for what that wants.
    pub(super) fn enter_begun(
        &mut self,
        at: u32,
        operation: Operation,
        begun: Begun,
    ) -> Result<(), SimulationError> {
        self.enter(at, operation, begun.file, begun.offset, begun.bytes);
        if let (Some(size), Some(located)) = (begun.cut_at_home, begun.file) {
            self.cut_at_home(located.file, size)?;
        }
        if let Some(call) = begun.aside {
            self.remove_aside(self.processes[at as usize].host, *call)?;
        }
        self.ask(at, begun.wants)
    }

    /// Removes a file that nothing refers to any more, for which nobody waits: its pages, also where another host keeps it, or the datafiles
    /// of a striped one.
    pub(super) fn remove_aside(&mut self, host: u32, call: Call) -> Result<(), SimulationError> {
        let operation = OperationId::NOBODY;
        let Call::Truncate { file, size, .. } = call else {
            return self.request(host, &Request { operation, call });
        };
        if let Some(striping) = self.namespace.striping(file.id) {
            return striping.parts.clone().into_iter().try_for_each(|part| self.cut_at_home(part, size));
        }
        self.request(host, &Request { operation, call })?;
        match self.namespace.home(file.id).0 == host as usize {
            true => Ok(()),
            false => self.cut_at_home(file.id, size),
        }
    }

    /// Cuts a file on the host that keeps it, for which nobody waits.
    fn cut_at_home(&mut self, file: FileId, size: Bytes) -> Result<(), SimulationError> {
        let (home, _) = self.namespace.home(file);
        let call = Call::Truncate { file: self.view_at_home(file), size, opens: false };
        self.request(home as u32, &Request { operation: OperationId::NOBODY, call })
    }

    /// Lets a process wait for something.
    pub(super) fn ask(&mut self, at: u32, wants: Wants) -> Result<(), SimulationError> {
        match wants {
            Wants::Nothing => self.end_operation(at, Outcome::default()),
            Wants::Call(call) => self.call(at, call),
            Wants::Transfer(transfer) => {
                self.begin_transfer(at, &transfer);
                Ok(())
            }
            Wants::Striped(call) => self.begin_striped(at, &call),
        }
    }

    /// A process with what its calls see and change.
    pub(super) fn caller(&mut self, at: u32) -> Caller<'_, &'a Machine> {
        let owner = self.owner(at);
        let process = &mut self.processes[owner as usize];
        let host = &mut self.hosts[process.host as usize];
        Caller {
            files: &mut self.namespace,
            policy: &*host.policy,
            mounts: &host.mounts,
            anonymous: &mut host.anonymous,
            task: &mut process.task,
            descriptors: &mut self.tables[process.table as usize].descriptors,
            operation: OperationId(at),
            host: process.host as usize,
            cgroup: self.scenario.processes[owner as usize].cgroup,
        }
    }

    fn compute(&mut self, at: u32, operation: Operation, time: Nanos) -> Result<(), SimulationError> {
        self.enter(at, operation, None, 0, Bytes::ZERO);
        if time == Nanos::ZERO {
            return self.end_operation(at, Outcome::default());
        }
        let path = self.hosts[self.processes[at as usize].host as usize].processors;
        self.actions.start(FlowSpec::new(path, time.0, u64::from(at)));
        self.start_own_flows(Owner::Process(at));
        Ok(())
    }

    /// Starts the flows that the engine itself has asked for.
    pub(super) fn start_own_flows(&mut self, owner: Owner) {
        let commands = self.actions.take();
        for command in &commands {
            match *command {
                Command::Start(flow, spec) => self.start_flow(flow, spec, owner),
                _ => unreachable!("the engine itself only starts flows"),
            }
        }
        self.actions.give_back(commands);
    }

    /// Asks the policy of the process's host.
    pub(super) fn call(&mut self, at: u32, call: Call) -> Result<(), SimulationError> {
        let host = self.processes[at as usize].host;
        // A client that asks meanwhile sees a change, and at the end of the operation another one.
        if let Some(file) = call.changes() {
            self.note_change(host, file);
        }
        let request = Request { operation: OperationId(at), call };
        match self.next_after_lull(at, host) {
            Some(next) => self.serve(host, &request, next),
            None => self.request(host, &request),
        }
    }

    /// Notes that a program of a host changes a file, for clients of NFS if the file is at home there. A client changes it when the server has
    /// the bytes.
    fn note_change(&mut self, host: u32, file: FileId) {
        if self.namespace.home(file).0 == host as usize {
            self.namespace.changed(file);
            self.recall_delegations(file, None);
        }
    }

    /// The current operation of a process has ended.
    pub(super) fn end_operation(&mut self, at: u32, mut outcome: Outcome) -> Result<(), SimulationError> {
        let process = &mut self.processes[at as usize];
        let (owner, host) = (process.of, process.host);
        if process.call.is_some() {
            return self.end_pattern_call(at, outcome);
        }
        if process.current.as_ref().is_some_and(|current| current.stream.is_some()) {
            self.stream_step_ended(at, &outcome);
            return Ok(());
        }
        if process.current.as_ref().is_some_and(|current| current.copying.is_some()) {
            self.copy_step_ended(at, &outcome);
            return Ok(());
        }
        let current = process.current.take().expect("only an operation under way ends");
        if let Some(located) = current.file.filter(|_| current.operation.action.changes_file()) {
            if current.operation.action.writes_bytes() {
                self.namespace.grow(located.file, Bytes(current.offset + current.bytes.0));
            }
            self.note_change(host, located.file);
        }
        outcome.parts.add(Part::Wait, current.waited);
        let waits = std::mem::take(&mut self.processes[at as usize].waits);
        let has_row = self.recorder.operation(&Ended {
            process: owner,
            host,
            index: current.index,
            operation: current.operation.action.name(),
            path: current.operation.action.path(),
            offset: current.offset,
            bytes: current.bytes.0,
            start: current.start,
            end: self.now,
            outcome: &outcome,
        });
        for wait in waits.into_iter().filter(|_| has_row) {
            let file = wait.file.map(|file| (file, self.namespace.path(file)));
            self.recorder.wait((owner, current.index), &wait, file);
        }
        if self.residency == Residency::Operation && current.file.is_some() {
            self.record_residency(Some((owner, &current)));
        }
        self.tell_end(owner, &current);
        if at != owner {
            return self.end_kiocb(at);
        }
        self.let_go_on(at);
        Ok(())
    }

    /// Lets a process go on. Once is enough: it does so until it waits.
    pub(super) fn let_go_on(&mut self, at: u32) {
        if self.ready.back() != Some(&at) {
            self.ready.push_back(at);
        }
    }

    /// Writes down what every file has in memory: on the host of an operation and on the one that keeps its file, or on all at the end.
    pub(super) fn record_residency(&mut self, after: Option<(u32, &Current)>) {
        let hosts: Vec<u32> = match after {
            Some((at, current)) => {
                let own = self.processes[at as usize].host;
                let home = current.file.map(|located| self.namespace.home(located.file).0 as u32);
                home.filter(|&home| home != own).into_iter().chain([own]).collect()
            }
            None => (0..self.hosts.len() as u32).collect(),
        };
        for host in hosts {
            for (path, file) in self.namespace.seen_by(host as usize) {
                let levels = self.hosts[host as usize].policy.residency(file);
                // A client of NFS keeps pages of a file that another host has removed.
                if !self.namespace.has_size(file) && levels.cached == Bytes::ZERO {
                    continue;
                }
                let size = self.namespace.size(file);
                let resident = Resident { path: &path, host, size, levels };
                self.recorder.residency(self.now, after.map(|(at, op)| (at, op.index)), &resident);
            }
        }
    }
}
