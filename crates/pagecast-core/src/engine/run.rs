//! Runs the loop: takes the next event, and carries out the commands of policies.

use std::collections::VecDeque;
use std::sync::Arc;

use super::agenda::{Agenda, Wake};
use super::client_cache::ClientCaches;
use super::connections::{ConnectionId, Connections};
use super::delegations::Delegations;
use super::disks::Disks;
use super::links::Links;
use super::recorder::{Happened, Recorder, Writing};
use super::rpc_use::RpcUse;
use super::running::{Events, Kiocbs, Running, SharedTable, Waited};
use super::services::Rpcs;
use super::slots::Scheduler;
use super::stragglers::Stragglers;
use super::striped::StripedCalls;
use super::uneven::Weights;
use crate::calls::Anonymous;
use crate::error::SimulationError;
use crate::flow::{Completion, FlowSpec, Network, Path, Progress};
use crate::fs::nfs::{Nfs, Stage};
use crate::fs::{Namespace, Paths};
use crate::machine::Machine;
use crate::net::{Moved, Net, Segments};
use crate::policy::{
    Actions, BdiSample, Behind, Command, DeviceId, Event, OperationId, Outcome, Policy, Request,
};
use crate::result::{Part, SimulationResult};
use crate::scenario::{Residency, Scenario};
use crate::stop;
use crate::units::{Nanos, earlier};
use crate::workload::Beside;

/// The owner of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    /// The policy of a host.
    Policy(u32),
    /// A process that computes.
    Process(u32),
    /// A stage of a transfer between hosts.
    Transfer(u32, Stage),
    /// A connection between hosts.
    Connection(ConnectionId),
}

/// A host at run time.
pub(super) struct HostState {
    pub(super) policy: Box<dyn Policy>,
    pub(super) processors: Path,
    /// The resources that files under each of its mounts cross.
    pub(super) mounts: Vec<Paths>,
    /// The names of its devices: those of its disks, then of what it mounts.
    pub(super) devices: Vec<Arc<str>>,
    /// Whether the policy has been called at this instant.
    pub(super) is_called: bool,
    /// The call that is on the agenda.
    pub(super) next_call: Option<Nanos>,
    /// Anonymous memory of its processes.
    pub(super) anonymous: Anonymous,
}

pub(super) struct Engine<'a, N> {
    pub(super) scenario: &'a Scenario,
    pub(super) model: String,
    pub(super) seed: u64,
    pub(super) residency: Residency,
    /// Whether there are so few hosts that their blocks are listed at the end.
    pub(super) keeps_blocks: bool,
    pub(super) now: Nanos,
    pub(super) network: N,
    pub(super) disks: Disks,
    pub(super) hosts: Vec<HostState>,
    /// Hosts whose policy has been called at this instant.
    pub(super) called: Vec<u32>,
    pub(super) net: Net<'a>,
    pub(super) links: Links,
    /// Moves messages where they are no flows.
    pub(super) segments: Option<Segments>,
    pub(super) weights: Weights,
    pub(super) namespace: Namespace<&'a Machine>,
    pub(super) nfs: Nfs,
    pub(super) connections: Connections,
    pub(super) rpcs: Rpcs,
    pub(super) rpc_use: RpcUse,
    pub(super) delegations: Delegations,
    pub(super) striped: StripedCalls,
    pub(super) stragglers: Stragglers,
    pub(super) client_caches: ClientCaches,
    pub(super) actions: Actions,
    pub(super) owners: Vec<Owner>,
    pub(super) agenda: Agenda,
    /// Those of the scenario, then the asynchronous operations under way.
    pub(super) processes: Vec<Running>,
    /// Tables of descriptors; `Running::table` is an index.
    pub(super) tables: Vec<SharedTable>,
    pub(super) kiocbs: Kiocbs,
    /// How many processes have not ended, and how many of those do not wait for others.
    pub(super) alive: u32,
    pub(super) active: u32,
    /// Processes whose operation has just ended.
    pub(super) ready: VecDeque<u32>,
    pub(super) events: Events,
    /// The state that programs share, and the processes whose programs wait for another one to go on.
    pub(super) beside: Beside,
    pub(super) held: Vec<u32>,
    pub(super) scheduler: Scheduler,
    pub(super) recorder: Recorder,
    /// Flows that end at this instant, and those with new rates; kept for their memory.
    pub(super) ended: Vec<Completion>,
    /// How many flows that end at this instant have not been told yet.
    pub(super) completions_left: usize,
    pub(super) changed: Vec<Progress>,
}

impl<N: Network> Engine<'_, N> {
    /// Runs until the last process has ended, and says when that was.
    pub(super) fn run(&mut self) -> Result<Nanos, SimulationError> {
        self.join_cgroups();
        self.connect_mounts();
        self.load_files()?;
        self.start_processes()?;
        loop {
            self.settle()?;
            if self.alive == 0 {
                let keeps_blocks = self.keeps_blocks;
                self.hosts.iter_mut().for_each(|host| host.policy.retire(keeps_blocks));
                self.namespace.retire();
                self.recorder.retire();
                return Ok(self.now);
            }
            self.check_deadlock()?;
            let next =
                self.next_event().expect("a live process that waits for no other has a flow or a wake-up");
            if next > Nanos::LAST {
                return Err(self.takes_too_long());
            }
            self.step(next)?;
        }
    }

    /// The result at `end`, when the processes of other hosts have ended too: until then the flusher goes on.
    #[inline(never)]
    #[expect(
        clippy::boxed_local,
        reason = "programs simulate within programs: it would be on the stack of each"
    )]
    pub(super) fn finish(mut self: Box<Self>, end: Nanos) -> Result<SimulationResult, SimulationError> {
        while self.now < end {
            self.settle()?;
            match self.next_event() {
                Some(next) if next <= end => self.step(next)?,
                _ => self.now = end,
            }
        }
        self.tell_rest()?;
        self.record_residency(None);
        self.record_blocks();
        self.record_cgroups();
        let payloads = self.payload_rows();
        let Self { mut disks, links, segments, net, network, now, rpcs, rpc_use, .. } = *self;
        let done = |flow| network.progress(now, flow).done as u64;
        let used = disks.end_all(now, done);
        let links = links.rows(now, &net, segments.as_ref(), done);
        let server_of =
            |client: usize, mount: usize, number: usize| rpcs.mounts[client][mount][number].server;
        let (servers, slots) = rpc_use.rows(now, &self.scenario.machine, server_of);
        let result = self.recorder.finish(end, used);
        Ok(SimulationResult { links, payloads, servers, rpc_slots: slots, ..result })
    }

    /// Lets each policy tell the rest of its events.
    fn tell_rest(&mut self) -> Result<(), SimulationError> {
        for host in 0..self.hosts.len() {
            self.hosts[host].policy.tell_rest(self.now, &mut self.actions);
            for command in self.actions.take() {
                self.carry_out(host as u32, &command)?;
            }
            self.recorder.levels(self.now, host, self.hosts[host].policy.levels());
        }
        Ok(())
    }

    fn next_event(&mut self) -> Option<Nanos> {
        let segments = self.segments.as_ref().and_then(Segments::next_event);
        earlier(earlier(self.network.next_event(), self.agenda.next()), segments)
    }

    /// All that happens at the next instant.
    fn step(&mut self, now: Nanos) -> Result<(), SimulationError> {
        self.now = now;
        stop::come_to(now);
        stop::spend(stop::EVENT);
        let mut ended = std::mem::take(&mut self.ended);
        self.network.completed(now, &mut ended);
        self.turn_arrivals(&mut ended);
        self.completions_left = ended.len();
        for completion in &ended {
            self.completions_left -= 1;
            self.flow_ended(completion)?;
        }
        ended.clear();
        self.ended = ended;
        self.advance_segments()?;
        while let Some(wake) = self.agenda.due(now) {
            self.woken(wake)?;
        }
        Ok(())
    }

    /// Gives all flows their rates, and policies that watch some the news.
    fn settle(&mut self) -> Result<(), SimulationError> {
        loop {
            let mut changed = std::mem::take(&mut self.changed);
            self.network.settle(self.now, &mut changed);
            if changed.is_empty() {
                self.changed = changed;
                if self.start_queued()? {
                    continue;
                }
                self.end_calls();
                return Ok(());
            }
            self.tell_progress(&mut changed)?;
            changed.clear();
            self.changed = changed;
            self.go_on()?;
        }
    }

    fn tell_progress(&mut self, changed: &mut [Progress]) -> Result<(), SimulationError> {
        let now = self.now;
        let host_of = |each: &Progress, owners: &[Owner]| match owners[each.flow.slot as usize] {
            Owner::Policy(host) => Some(host),
            Owner::Process(_) | Owner::Transfer(..) | Owner::Connection(_) => None,
        };
        changed.sort_by_key(|each| host_of(each, &self.owners));
        let mut left = &*changed;
        while let Some(first) = left.first() {
            let host = host_of(first, &self.owners);
            let end = left.iter().position(|each| host_of(each, &self.owners) != host);
            let (news, others) = left.split_at(end.unwrap_or(left.len()));
            if let Some(host) = host {
                self.with_policy(host, |policy, actions| policy.advance(now, news, actions))?;
            }
            left = others;
        }
        Ok(())
    }

    /// Of the chunks and acknowledgements that arrive at one instant the last sent is served first, as in SimGrid.
    fn turn_arrivals(&self, ended: &mut [Completion]) {
        let owner = |each: &Completion| self.owners[each.flow.slot as usize];
        let arrives =
            |each: &Completion| matches!(owner(each), Owner::Transfer(_, Stage::Link | Stage::Closing));
        let places: Vec<usize> = (0..ended.len()).filter(|&at| arrives(&ended[at])).collect();
        for (&one, &other) in places.iter().zip(places.iter().rev()).take(places.len() / 2) {
            ended.swap(one, other);
        }
    }

    fn flow_ended(&mut self, completion: &Completion) -> Result<(), SimulationError> {
        self.actions.release(completion.flow);
        let now = self.now;
        self.disks.end(now, completion.flow, completion.bytes);
        self.links.end(now, completion.flow, completion.bytes, &self.net);
        match self.owners[completion.flow.slot as usize] {
            Owner::Policy(host) => {
                self.with_policy(host, |policy, actions| policy.completed(now, completion, actions))?;
            }
            Owner::Process(process) => {
                self.end_operation(process, Outcome { parts: completion.parts, ..Outcome::default() })?;
            }
            Owner::Transfer(transfer, stage) => self.stage_ended(transfer, stage, completion.parts)?,
            Owner::Connection(connection) => self.message_left(connection)?,
        }
        self.go_on()
    }

    /// Tells connections of segments that have left or arrived.
    fn advance_segments(&mut self) -> Result<(), SimulationError> {
        let now = self.now;
        while let Some(happened) = self.segments.as_mut().and_then(|segments| segments.advance(now)) {
            match happened {
                Moved::Left(connection) => self.message_left(ConnectionId(connection))?,
                Moved::Arrived(connection) => self.segments_arrived(ConnectionId(connection))?,
            }
            self.go_on()?;
        }
        Ok(())
    }

    fn woken(&mut self, wake: Wake) -> Result<(), SimulationError> {
        match wake {
            Wake::Start(process) => self.become_ready(process),
            Wake::Arrival(process) => self.ready.push_back(process),
            Wake::Sleeper(process) => self.end_sleep(process)?,
            Wake::Transfer(transfer, stage) => self.latency_over(transfer, stage),
            Wake::Message(to) => self.message_arrived(to)?,
            Wake::Copied(joined) => self.keep_call(joined)?,
            Wake::Nfsd { server, thread } => self.do_call(server, thread)?,
            Wake::NfsdGoesOn(server) => self.take_waiting_calls(server)?,
            Wake::Resume(host, tag) => {
                let now = self.now;
                self.with_policy(host, |policy, actions| policy.resumed(now, tag, actions))?;
            }
            Wake::Policy(host) => {
                let state = &self.hosts[host as usize];
                let wanted = if state.is_called { state.policy.next_call() } else { state.next_call };
                if wanted.is_some_and(|time| time <= self.now) {
                    let now = self.now;
                    self.with_policy(host, |policy, actions| policy.advance(now, &[], actions))?;
                }
            }
        }
        self.go_on()
    }

    /// Lets all processes go on whose operation has ended.
    #[inline]
    pub(super) fn go_on(&mut self) -> Result<(), SimulationError> {
        while let Some(process) = self.ready.pop_front() {
            self.run_process(process)?;
        }
        Ok(())
    }

    /// Asks the policy of a host for an operation.
    pub(super) fn request(&mut self, host: u32, request: &Request) -> Result<(), SimulationError> {
        let now = self.now;
        self.with_policy(host, |policy, actions| policy.begin(now, request, actions))
    }

    /// Calls the policy of a host and does what it wants.
    pub(super) fn with_policy(
        &mut self,
        host: u32,
        call: impl FnOnce(&mut dyn Policy, &mut Actions),
    ) -> Result<(), SimulationError> {
        self.begin_calls(host);
        call(&mut *self.hosts[host as usize].policy, &mut self.actions);
        self.carry_out_all(host)
    }

    /// The policy of a host is about to be called: writes down what memory holds before its first call of this instant.
    pub(super) fn begin_calls(&mut self, host: u32) {
        let state = &mut self.hosts[host as usize];
        if !state.is_called {
            state.is_called = true;
            self.called.push(host);
            if state.policy.is_even() {
                state.policy.bring_up_to(self.now);
                self.recorder.levels(self.now, host as usize, state.policy.levels());
            }
        }
    }

    /// Does what the policy of a host wants.
    pub(super) fn carry_out_all(&mut self, host: u32) -> Result<(), SimulationError> {
        let commands = self.actions.take();
        for command in &commands {
            self.carry_out(host, command)?;
        }
        self.actions.give_back(commands);
        Ok(())
    }

    /// An instant is over for the policies that were called: writes down what each one's memory holds, and when it wants to be
    /// called again.
    fn end_calls(&mut self) {
        while let Some(host) = self.called.pop() {
            let state = &mut self.hosts[host as usize];
            state.is_called = false;
            self.recorder.levels(self.now, host as usize, state.policy.levels());
            for disk in 0..self.disks.of_host(host as usize) {
                self.disks.load(self.now, host as usize, disk, state.policy.disk_load(disk));
                self.disks.look_at_risk(self.now, host as usize, disk, &mut *state.policy);
            }
            let next_call = state.policy.next_call();
            // A call for this very instant has been made already if it was wanted before.
            if next_call != state.next_call || next_call.is_some_and(|time| time <= self.now) {
                state.next_call = next_call;
                if let Some(time) = next_call {
                    self.agenda.add_call(time.max(self.now), host);
                }
            }
        }
    }

    fn carry_out(&mut self, host: u32, command: &Command) -> Result<(), SimulationError> {
        match *command {
            Command::Start(flow, spec) => self.start_flow(flow, spec, Owner::Policy(host)),
            Command::SetCap(flow, cap) => self.network.set_cap(self.now, flow, cap),
            Command::Shorten(flow, bytes) => self.network.shorten(self.now, flow, bytes),
            Command::Cancel(flow) => {
                let progress = self.network.cancel(self.now, flow);
                self.disks.end(self.now, flow, progress.done as u64);
                self.links.end(self.now, flow, progress.done as u64, &self.net);
                self.actions.release(flow);
            }
            Command::Done(OperationId::NOBODY, _) => {}
            Command::Done(operation, outcome) => {
                if let Some(thread) = Rpcs::thread_of(operation) {
                    self.call_done(host, thread, outcome)?;
                } else if let Some(joined) = StripedCalls::taker_of(operation) {
                    self.memory_taken(joined, &outcome)?;
                } else if let Some((transfer, stage)) = Nfs::transfer_of(operation) {
                    self.stage_ended(transfer, stage, outcome.parts)?;
                } else {
                    self.end_operation(operation.0, outcome)?;
                }
            }
            Command::Send(rpc) => self.send_call(host, rpc),
            Command::Refuse(operation, refusal) => {
                let operation = self.rpcs.asked_by(host, operation);
                return Err(self.refused(operation, refusal));
            }
            Command::GiveWay(tag) => self.agenda.add(self.now, self.now, Wake::Resume(host, tag)),
            Command::Waited(operation, part, behind) => self.note_wait(operation, part, behind),
            Command::Tell(event) => self.record_event(host, event),
            Command::Sample(sample) => self.record_bdi(host, sample),
        }
        Ok(())
    }

    pub(super) fn start_flow(&mut self, flow: crate::flow::FlowId, mut spec: FlowSpec, owner: Owner) {
        let slot = flow.slot as usize;
        if self.owners.len() <= slot {
            self.owners.resize(slot + 1, owner);
        }
        self.owners[slot] = owner;
        self.disks.begin(self.now, flow, &spec);
        self.links.begin(self.now, flow, spec.path, &self.net);
        spec.weight *= self.stream_weight(&spec, owner);
        self.network.start(self.now, flow, spec);
    }

    /// How unequally a device serves the process behind a flow; background flows are served fairly.
    fn stream_weight(&self, spec: &FlowSpec, owner: Owner) -> f64 {
        if self.weights.are_one() {
            return 1.0;
        }
        let process = match owner {
            Owner::Policy(_) => self.process_behind(OperationId(spec.tag as u32)),
            Owner::Process(process) => Some(process),
            Owner::Transfer(transfer, _) => self.process_behind(self.nfs.operation(transfer)),
            Owner::Connection(_) => None,
        };
        let route = self.network.route(spec.path);
        let name = |process: u32| &*self.processes[process as usize].name;
        process.map_or(1.0, |process| self.weights.of(route, process, || name(process)))
    }

    /// The process that waits for an operation; nobody for what a policy does by itself, and for a part of a transfer that has ended.
    pub(super) fn process_behind(&self, operation: OperationId) -> Option<u32> {
        if let Some(joined) = StripedCalls::taker_of(operation) {
            return Some(self.striped.reader(joined));
        }
        match Nfs::transfer_of(operation) {
            _ if operation == OperationId::NOBODY || Rpcs::thread_of(operation).is_some() => None,
            Some((transfer, _)) => self.nfs.is_under_way(transfer).then(|| self.nfs.operation(transfer).0),
            None => Some(operation.0),
        }
    }

    /// An operation has waited behind somebody: kept until it ends.
    fn note_wait(&mut self, operation: OperationId, part: Part, behind: Behind) {
        let Some(at) = self.process_behind(operation) else { return };
        let process =
            behind.process.and_then(|other| self.process_behind(other)).map(|other| self.owner(other));
        let wait = Waited { part, process, file: behind.file, time: behind.time };
        self.processes[at as usize].add_wait(wait);
    }

    fn record_event(&mut self, host: u32, event: Event) {
        let file = event.file.map(|file| (file, self.namespace.path(file)));
        let device = event.device.map(|device| self.device_name(host, device).clone());
        self.recorder.event(&Happened {
            time: event.time.unwrap_or(self.now),
            host,
            name: event.name,
            process: event.operation.and_then(OperationId::process).map(|at| self.owner(at)),
            device: device.as_ref(),
            file,
            bytes: event.bytes,
        });
    }

    fn record_bdi(&mut self, host: u32, sample: BdiSample) {
        let machine = &self.scenario.machine.hosts[host as usize];
        let devices = (machine.disks.len() + machine.mounts.len()) * (machine.cgroups.len() + 1);
        let cgroup = sample.cgroup.map(|at| Arc::from(machine.cgroups[at].name.as_str()));
        let device = self.device_name(host, sample.device).clone();
        self.recorder.bdi(self.now, Writing { host, device, cgroup }, devices, sample.levels);
    }

    fn device_name(&self, host: u32, device: DeviceId) -> &Arc<str> {
        &self.hosts[host as usize].devices[device.0 as usize]
    }

    fn record_cgroups(&mut self) {
        for (at, (host, state)) in self.scenario.machine.hosts.iter().zip(&self.hosts).enumerate() {
            for (cgroup, levels) in host.cgroups.iter().zip(state.policy.cgroups()) {
                self.recorder.cgroup(at, &cgroup.name, cgroup.limit.bytes(), levels);
            }
        }
    }

    fn record_blocks(&mut self) {
        for (host, state) in self.hosts.iter().enumerate() {
            let count = state.policy.block_count();
            if !self.keeps_blocks {
                self.recorder.leave_out_blocks(count);
            } else if self.recorder.has_room_for(count) {
                for block in state.policy.blocks() {
                    self.recorder.block(host, self.namespace.path(block.file), &block);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
