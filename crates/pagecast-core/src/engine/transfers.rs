//! Carries out the plans of `fs::nfs`: asks both hosts' policies, sends chunks over the network and waits for its latency.

use super::agenda::Wake;
use super::run::{Engine, Owner};
use crate::calls;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::fs::nfs::{Direction, MESSAGE, Nfs, Plan, Stage};
use crate::machine::MountSource;
use crate::net::Route;
use crate::policy::{Call, OperationId, Outcome, Request};
use crate::result::{Part, Parts};
use crate::units::Nanos;

impl<N: Network> Engine<'_, N> {
    /// Moves bytes between this host and the file of another one, chunk by chunk.
    pub(super) fn begin_transfer(&mut self, at: u32, wanted: &calls::Transfer) {
        let calls::Transfer { file: located, offset, bytes, chunk, direction } = *wanted;
        let client = self.processes[at as usize].host;
        let mount = &self.scenario.machine.hosts[client as usize].mounts[located.mount as usize];
        let MountSource::Nfs { server, link, .. } = mount.source else {
            unreachable!("only files of other hosts are transferred")
        };
        let transfer = self.nfs.begin(Plan {
            operation: OperationId(at),
            direction,
            client,
            server: server as u32,
            link,
            client_file: self.view(client as usize, located),
            server_file: self.view_at_home(located.file),
            offset,
            bytes,
            chunk,
        });
        self.send(transfer, Stage::Opening);
    }

    /// Sends a message or the next chunk: it waits for the link's latency, then crosses the link.
    fn send(&mut self, transfer: u32, stage: Stage) {
        match self.latency(transfer) {
            Nanos::ZERO => self.latency_over(transfer, stage),
            latency => self.agenda.add(self.now, self.now + latency, Wake::Transfer(transfer, stage)),
        }
    }

    fn latency(&self, transfer: u32) -> Nanos {
        self.route_of(transfer, true).latency
    }

    /// The route of a transfer to its server, or back.
    fn route_of(&self, transfer: u32, to_server: bool) -> &Route {
        let &Plan { client, server, link, .. } = self.nfs.plan(transfer);
        let (from, to) = if to_server { (client, server) } else { (server, client) };
        self.net.route(from, to, link).expect("the routes of all mounts are known")
    }

    /// The latency of a message or chunk is over: its bytes follow.
    pub(super) fn latency_over(&mut self, transfer: u32, stage: Stage) {
        let plan = *self.nfs.plan(transfer);
        let bytes = match stage {
            Stage::Link => plan.chunk_at(self.nfs.on_link(transfer)).1.0,
            _ => MESSAGE,
        };
        let route = self.route_of(transfer, self.nfs.goes_to_server(transfer, stage));
        self.actions.start(route.flow(bytes));
        self.start_own_flows(Owner::Transfer(transfer, stage));
    }

    fn is_write(&self, transfer: u32) -> bool {
        self.nfs.plan(transfer).direction == Direction::Write
    }

    /// A stage has finished with a chunk or a message, whose time went to `parts`.
    pub(super) fn stage_ended(
        &mut self,
        transfer: u32,
        stage: Stage,
        mut parts: Parts,
    ) -> Result<(), SimulationError> {
        if matches!(stage, Stage::Opening | Stage::Link | Stage::Closing) {
            parts.add(Part::Network, self.latency(transfer));
        }
        let at_server = stage == Stage::Source || (stage == Stage::Sink && self.is_write(transfer));
        if at_server {
            parts = Parts::of(Part::Server, parts.total());
        }
        let account = self.nfs.finished(transfer, stage, &parts);
        match stage {
            Stage::Closing => return self.end_transfer(transfer),
            Stage::Opening if self.nfs.opening_goes_on(transfer) => {
                self.send(transfer, Stage::Opening);
                return Ok(());
            }
            _ => {}
        }
        while let Some((stage, chunk)) = self.nfs.start_next(transfer, account) {
            self.start_stage(transfer, stage, chunk)?;
            // A full client is done with a chunk at once, and that may have been the last.
            if !self.nfs.is_under_way(transfer) {
                return Ok(());
            }
        }
        match (self.nfs.is_through(transfer), self.is_write(transfer)) {
            (false, _) => Ok(()),
            (true, true) => {
                self.send(transfer, Stage::Closing);
                Ok(())
            }
            (true, false) => self.end_transfer(transfer),
        }
    }

    fn start_stage(&mut self, transfer: u32, stage: Stage, chunk: u32) -> Result<(), SimulationError> {
        if stage == Stage::Link {
            self.send(transfer, stage);
            return Ok(());
        }
        let plan = *self.nfs.plan(transfer);
        let (offset, bytes) = plan.chunk_at(chunk);
        let (host, call) = match (stage, plan.direction) {
            (Stage::Sink, Direction::ReadDirect { fresh: false }) => {
                return self.stage_ended(transfer, stage, Parts::default());
            }
            (Stage::Sink, Direction::ReadDirect { fresh: true }) => {
                self.charge_to_reader(transfer, stage);
                (plan.client, Call::Allocate { bytes, owner: plan.operation })
            }
            (Stage::Sink, Direction::Read { fresh }) => {
                self.charge_to_reader(transfer, stage);
                let (file, reader) = (plan.client_file, plan.operation);
                (plan.client, Call::Insert { file, offset, bytes, reader, fresh })
            }
            (_, Direction::Read { .. } | Direction::ReadDirect { .. }) => {
                (plan.server, Call::Serve { file: plan.server_file, offset, bytes })
            }
            (_, Direction::Write) => (
                plan.server,
                Call::Write {
                    file: plan.server_file,
                    offset,
                    bytes,
                    through: true,
                    dontcache: false,
                    piece: bytes,
                },
            ),
        };
        self.request(host, &Request { operation: Nfs::sub_operation(transfer, stage), call })
    }

    /// What comes to a client is charged to the memory cgroup of the process that reads them.
    fn charge_to_reader(&mut self, transfer: u32, stage: Stage) {
        let plan = self.nfs.plan(transfer);
        let client = &mut self.hosts[plan.client as usize];
        if !client.anonymous.of_cgroups.is_empty() {
            let cgroup =
                self.scenario.processes[self.processes[plan.operation.0 as usize].of as usize].cgroup;
            client.policy.charge_to(Nfs::sub_operation(transfer, stage), cgroup);
        }
    }

    fn end_transfer(&mut self, transfer: u32) -> Result<(), SimulationError> {
        let (plan, parts) = self.nfs.end(transfer);
        self.end_operation(plan.operation.0, Outcome { parts, from_device: plan.bytes, ..Outcome::default() })
    }
}
