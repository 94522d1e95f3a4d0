//! Divides an operation on a striped file among its servers, and ends it when all have answered.
//!
//! Source: `src/client/sysint/sys-io.sm, sys-create.sm, sys-remove.sm`, `src/io/flow/flowproto-bmi-trove/flowproto-multiqueue.c`, OrangeFS 2.9.
//!
//! - What a read or write wants of a server is one payload. It moves in flow buffers, of which some are on their way at once; each is a call
//!   that a thread of the server does ([`super::rpcs`]).
//! - Before the buffers of a write the client waits for the server's answer to its request, unless they are few bytes.
//! - An operation on attributes asks the server of metadata. What changes datafiles asks their servers then, all at once.
//! - The parts of the operation are those of the payload that was answered last.
//!
//! Left out: the client's copy between its program and its sockets, locks of byte ranges.

use std::collections::BTreeSet;

use super::agenda::Wake;
use super::client_cache::Range;
use super::run::Engine;
use super::services::UnderWay;
use super::slab::Slab;
use super::stragglers::Answered;
use crate::calls;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::fs::striped::{Payload, Striping};
use crate::machine::{MountSource, Protocol};
use crate::policy::{Call, FileId, OperationId, Outcome, Procedure, Request, Rpc};
use crate::result::{Part, Parts};
use crate::units::{Bytes, Nanos};

/// An operation of which servers do their parts.
#[derive(Debug)]
struct Joined {
    /// The process, or its asynchronous operation.
    at: u32,
    client: u32,
    mount: u32,
    file: FileId,
    /// The rest of it: of a read or write the bytes from the next system call on.
    procedure: Procedure,
    /// Bytes of each system call.
    piece: Bytes,
    /// The system call that is being copied into the client's cache.
    next: Procedure,
    /// When the payloads of the call were sent, how many those are, and how many have not been answered.
    sent: Nanos,
    all: u32,
    left: u32,
    /// When the last of them was answered.
    answered: Nanos,
    /// Whether the server of metadata comes first.
    asks_metadata: bool,
    outcome: Outcome,
}

/// The part of an operation that one server does.
#[derive(Debug)]
struct OfServer {
    joined: u32,
    /// The server, among those of the mount.
    server: u32,
    file: FileId,
    procedure: Procedure,
    /// The rest of its bytes that has not been sent.
    offset: u64,
    bytes: Bytes,
    /// Calls that have not been answered.
    under_way: u32,
    parts: Parts,
    /// All its bytes.
    size: Bytes,
}

impl OfServer {
    /// A part of which nothing has been sent.
    fn new(joined: u32, server: u32, file: FileId, procedure: Procedure) -> Self {
        let (offset, bytes) = match procedure {
            Procedure::Read { offset, bytes } | Procedure::Write { offset, bytes, .. } => (offset, bytes),
            _ => (0, Bytes::ZERO),
        };
        let (under_way, parts) = (0, Parts::default());
        Self { joined, server, file, procedure, offset, bytes, under_way, parts, size: bytes }
    }
}

/// All operations on striped files that are under way.
#[derive(Debug, Default)]
pub(super) struct StripedCalls {
    operations: Slab<Joined>,
    payloads: Slab<OfServer>,
}

/// The bit of operations that take memory for a read.
const MEMORY: u32 = OperationId::OF_NO_PROCESS | 1 << 28;

impl StripedCalls {
    /// The read that an operation takes memory for, if it is such a one.
    pub(super) fn taker_of(operation: OperationId) -> Option<u32> {
        (operation != OperationId::NOBODY && operation.0 & MEMORY == MEMORY).then_some(operation.0 & !MEMORY)
    }

    /// The process that does a read, or its asynchronous operation.
    pub(super) fn reader(&self, joined: u32) -> u32 {
        self.operations.get(joined).at
    }
}

impl<N: Network> Engine<'_, N> {
    /// Begins a call on a striped file.
    pub(super) fn begin_striped(&mut self, at: u32, call: &calls::Striped) -> Result<(), SimulationError> {
        let calls::Striped { file: located, procedure, piece, fresh } = *call;
        let layout = self.namespace.striping(located.file).expect("the file is striped").layout;
        let piece = piece.max(layout.file_buffer);
        let client = self.processes[at as usize].host;
        let joined = self.striped.operations.add(Joined {
            at,
            client,
            mount: located.mount,
            file: located.file,
            procedure,
            piece,
            sent: self.now,
            all: 0,
            left: 0,
            answered: self.now,
            next: NOTHING,
            asks_metadata: matches!(
                procedure,
                Procedure::Getattr | Procedure::Create | Procedure::Remove { .. }
            ),
            outcome: Outcome::default(),
        });
        match procedure {
            Procedure::Read { bytes, .. } if fresh && bytes > Bytes::ZERO => self.take_memory(joined, bytes),
            _ => self.go_on_with_striped(joined),
        }
    }

    /// Takes new anonymous memory for the bytes of a read.
    fn take_memory(&mut self, joined: u32, bytes: Bytes) -> Result<(), SimulationError> {
        let &mut Joined { at, client, .. } = self.striped.operations.get_mut(joined);
        let operation = OperationId(MEMORY | joined);
        let host = &mut self.hosts[client as usize];
        if !host.anonymous.of_cgroups.is_empty() {
            let cgroup = self.scenario.processes[self.processes[at as usize].of as usize].cgroup;
            host.policy.charge_to(operation, cgroup);
        }
        let call = Call::Allocate { bytes, owner: OperationId(at) };
        self.request(client, &Request { operation, call })
    }

    /// The memory for a read is there.
    pub(super) fn memory_taken(&mut self, joined: u32, outcome: &Outcome) -> Result<(), SimulationError> {
        self.striped.operations.get_mut(joined).outcome.parts.add_all(&outcome.parts);
        self.go_on_with_striped(joined)
    }

    /// Sends the next payloads of an operation, or ends it.
    pub(super) fn go_on_with_striped(&mut self, joined: u32) -> Result<(), SimulationError> {
        let operation = self.striped.operations.get_mut(joined);
        let is_cached = matches!(operation.procedure, Procedure::Write { stable: false, .. });
        if !is_cached && operation.procedure != NOTHING && self.client_caches.wait(operation.file, joined) {
            operation.sent = self.now;
            return Ok(());
        }
        (operation.sent, operation.all) = (self.now, 0);
        let (file, client, mount) = (operation.file, operation.client, operation.mount);
        if std::mem::take(&mut operation.asks_metadata) {
            // Names of striped files are not those of the server's own mount: only a new one takes time there.
            let is_new = operation.procedure == Procedure::Create;
            let procedure = if is_new { Procedure::Create } else { Procedure::Getattr };
            // All servers of datafiles come before it.
            let server = self.rpcs.mounts[client as usize][mount as usize].len() as u32 - 1;
            if operation.procedure == Procedure::Getattr {
                operation.procedure = NOTHING;
            }
            self.send_payload(joined, server, file, procedure);
            return Ok(());
        }
        let (next, rest) = next_call(operation.procedure, operation.piece);
        operation.procedure = rest;
        if next == NOTHING {
            let Joined { at, outcome, .. } = self.striped.operations.remove(joined);
            return self.end_operation(at, outcome);
        }
        let striping = self.namespace.striping(file).expect("the file is striped");
        if let Procedure::Write { bytes, stable: false, .. } = next
            && striping.layout.write_cache > Bytes::ZERO
        {
            self.striped.operations.get_mut(joined).next = next;
            let time = self.copy_into_cache(client, bytes);
            self.agenda.add(self.now, self.now + time, Wake::Copied(joined));
            return Ok(());
        }
        for (server, part, procedure) in each_server(striping, next) {
            self.send_payload(joined, server, part, procedure);
        }
        Ok(())
    }

    /// A call has been copied into the client's cache, as far as that has room.
    pub(super) fn keep_call(&mut self, joined: u32) -> Result<(), SimulationError> {
        let operation = self.striped.operations.get_mut(joined);
        let copied = Parts::of(Part::CpuCopy, self.now - operation.sent);
        operation.outcome.parts.add_all(&copied);
        operation.sent = self.now;
        let striping = self.namespace.striping(operation.file).expect("the file is striped");
        let payloads = each_server(striping, operation.next);
        (operation.left, operation.all) = (payloads.len() as u32, payloads.len() as u32);
        for (server, file, procedure) in payloads {
            let payload = OfServer::new(joined, server, file, procedure);
            let payload = self.striped.payloads.add(payload);
            self.keep_payload(payload)?;
        }
        Ok(())
    }

    /// Keeps the bytes of a payload in the client's cache, as far as that has room.
    pub(super) fn keep_payload(&mut self, payload: u32) -> Result<(), SimulationError> {
        let &OfServer { joined, server, file, offset, bytes, .. } = self.striped.payloads.get(payload);
        let &Joined { client, mount, file: of, sent, .. } = self.striped.operations.get(joined);
        let layout = self.namespace.striping(of).expect("the file is striped").layout;
        let range = Range { file, of, offset, bytes };
        let kept = self.keep_dirty(payload, (client, mount, server), range, &layout);
        let left = self.striped.payloads.get_mut(payload);
        (left.offset, left.bytes) = (offset + kept.0, bytes - kept);
        if left.bytes > Bytes::ZERO {
            return Ok(());
        }
        let parts = Parts::of(Part::Throttled, self.now - sent);
        let of = OfServer { parts, ..self.striped.payloads.remove(payload) };
        self.payload_done(&of, self.rpcs.mounts[client as usize][mount as usize][server as usize].server)
    }

    /// The dirty bytes of a file that an operation came after are on its servers.
    pub(super) fn dirty_bytes_gone(&mut self, joined: u32) -> Result<(), SimulationError> {
        let operation = self.striped.operations.get_mut(joined);
        let waited = Parts::of(Part::Server, self.now - operation.sent);
        operation.outcome.parts.add_all(&waited);
        self.go_on_with_striped(joined)
    }

    fn send_payload(&mut self, joined: u32, server: u32, file: FileId, procedure: Procedure) {
        let operation = self.striped.operations.get_mut(joined);
        (operation.left, operation.all) = (operation.left + 1, operation.all + 1);
        let payload = OfServer::new(joined, server, file, procedure);
        let bytes = payload.bytes;
        let payload = self.striped.payloads.add(payload);
        let Joined { file, .. } = *self.striped.operations.get_mut(joined);
        let layout = self.namespace.striping(file).expect("the file is striped").layout;
        let in_buffers = layout.protocol == Protocol::Flow;
        match procedure {
            Procedure::Write { .. } if in_buffers && bytes > layout.small_io => {
                self.send_call_of(payload, Procedure::Getattr);
            }
            Procedure::Read { .. } | Procedure::Write { .. } if in_buffers => self.send_buffers(payload),
            _ => self.send_call_of(payload, procedure),
        }
    }

    /// Sends buffers of a payload until enough are on their way.
    fn send_buffers(&mut self, payload: u32) {
        let joined = self.striped.payloads.get_mut(payload).joined;
        let file = self.striped.operations.get_mut(joined).file;
        let layout = self.namespace.striping(file).expect("the file is striped").layout;
        loop {
            let of = self.striped.payloads.get_mut(payload);
            let is_sent = of.bytes == Bytes::ZERO || layout.protocol == Protocol::Request;
            if is_sent || of.under_way == layout.flow_buffers {
                return;
            }
            let (offset, bytes) = (of.offset, of.bytes.min(layout.flow_buffer));
            (of.offset, of.bytes) = (offset + bytes.0, of.bytes - bytes);
            let buffer = match of.procedure {
                Procedure::Write { stable, .. } => Procedure::Write { offset, bytes, stable },
                _ => Procedure::Read { offset, bytes },
            };
            self.send_call_of(payload, buffer);
        }
    }

    fn send_call_of(&mut self, payload: u32, procedure: Procedure) {
        let of = self.striped.payloads.get_mut(payload);
        of.under_way += 1;
        let (server, file) = (of.server, of.file);
        let &mut Joined { client, mount, at, .. } = self.striped.operations.get_mut(of.joined);
        let rpc = Rpc { xid: 0, mount, operation: OperationId(at), file, procedure };
        self.send_to_server(UnderWay::new(client, rpc, (server, Some(payload)), self.now));
    }

    /// The bytes of a read that its server does first: all but where those of several clients take turns in pieces.
    pub(super) fn first_piece(&self, server: u32, call: &UnderWay) -> Bytes {
        let Procedure::Read { bytes, .. } = call.rpc.procedure else { return Bytes::ZERO };
        let Some(payload) = call.payload else { return bytes };
        let joined = self.striped.payloads.get(payload).joined;
        let file = self.striped.operations.get(joined).file;
        let layout = self.namespace.striping(file).expect("the file is striped").layout;
        match layout.protocol {
            Protocol::Flow => bytes,
            Protocol::Request => {
                released(bytes, layout.strip_size, self.rpcs.services[server as usize].clients)
            }
        }
    }

    /// A server has read a piece of a call: the next one waits behind those of others.
    pub(super) fn release_next_piece(&mut self, server: u32, call: u32) {
        let Some(next) = self.rpcs.calls.get(call).next_piece(self.now) else { return };
        let payload = next.payload.expect("only payloads have pieces");
        self.striped.payloads.get_mut(payload).under_way += 1;
        self.rpc_use.mount_of(&next).in_use.rise(self.now);
        self.rpc_use.servers[server as usize].waiting.rise(self.now);
        let next = self.rpcs.calls.add(next);
        self.rpcs.services[server as usize].waiting.push_back(next);
    }

    /// Counts the clients of each server of striped mounts.
    pub(super) fn count_clients(&mut self) {
        for host in &self.scenario.machine.hosts {
            let sources = host.mounts.iter().map(|mount| &mount.source);
            let striped = sources.filter_map(|source| match source {
                MountSource::Striped(striped) => Some(striped),
                _ => None,
            });
            let servers: BTreeSet<usize> =
                striped.flat_map(|striped| striped.servers.iter().map(|server| server.host)).collect();
            for server in servers {
                self.rpcs.services[server].clients += 1;
            }
        }
    }

    /// A datafile has the bytes that a server has written.
    pub(super) fn lengthen_datafile(&mut self, rpc: &Rpc) {
        if let Procedure::Write { offset, bytes, .. } = rpc.procedure {
            let end = Bytes(offset) + bytes;
            if self.namespace.exists(rpc.file) && end <= self.namespace.taken(rpc.file) {
                self.namespace.grow(rpc.file, end);
            }
        }
    }

    /// The answer to a call of a payload has arrived.
    pub(super) fn buffer_done(&mut self, payload: u32, call: &UnderWay) -> Result<(), SimulationError> {
        let of = self.striped.payloads.get_mut(payload);
        of.under_way -= 1;
        of.parts.add_all(&parts_of(call, self.now));
        let operation = self.striped.operations.get_mut(of.joined);
        operation.outcome.from_cache += call.outcome.from_cache;
        operation.outcome.from_device += call.outcome.from_device;
        self.send_buffers(payload);
        if self.striped.payloads.get_mut(payload).under_way > 0 {
            return Ok(());
        }
        let server = self.server_of(call);
        let of = self.striped.payloads.remove(payload);
        self.payload_done(&of, server)
    }

    /// A payload has been answered by a server's host, or is in the client's cache.
    fn payload_done(&mut self, of: &OfServer, server: u32) -> Result<(), SimulationError> {
        let &OfServer { joined, ref parts, size, .. } = of;
        let operation = self.striped.operations.get_mut(joined);
        operation.left -= 1;
        let before = std::mem::replace(&mut operation.answered, self.now);
        let is_last = operation.left == 0 && operation.all > 1;
        self.stragglers.count(&Answered {
            ends: (operation.client, server),
            bytes: size,
            time: self.now - operation.sent,
            parts,
            behind: is_last.then_some(self.now - before),
        });
        if operation.left > 0 {
            return Ok(());
        }
        operation.outcome.parts.add_all(&parts.scaled_to(self.now - operation.sent));
        self.go_on_with_striped(joined)
    }
}

/// The bytes of each piece in which a server reads what a client asks for: Figure 46 of the dissertation, which lets one strip or, of more than a strip
/// for each client, as many whole ones as a client's share has.
fn released(bytes: Bytes, strip: Bytes, clients: u32) -> Bytes {
    let strips = bytes.0 / u64::from(clients) / strip.0;
    Bytes(strip.0 * strips.max(1)).min(bytes)
}

/// The rest of an operation that is over.
const NOTHING: Procedure = Procedure::Read { offset: 0, bytes: Bytes::ZERO };

/// The next system call of an operation, and what is left after it.
fn next_call(procedure: Procedure, piece: Bytes) -> (Procedure, Procedure) {
    match procedure {
        Procedure::Read { bytes: Bytes::ZERO, .. } | Procedure::Write { bytes: Bytes::ZERO, .. } => {
            (NOTHING, NOTHING)
        }
        Procedure::Read { offset, bytes } => {
            let first = bytes.min(piece);
            let rest = Procedure::Read { offset: offset + first.0, bytes: bytes - first };
            (Procedure::Read { offset, bytes: first }, rest)
        }
        Procedure::Write { offset, bytes, stable } => {
            let first = bytes.min(piece);
            let rest = Procedure::Write { offset: offset + first.0, bytes: bytes - first, stable };
            (Procedure::Write { offset, bytes: first, stable }, rest)
        }
        _ => (procedure, NOTHING),
    }
}

/// The procedures on the datafiles of a file, one for each server that takes part.
fn each_server(striping: &Striping, procedure: Procedure) -> Vec<(u32, FileId, Procedure)> {
    let of_part =
        |part: u32, procedure| (striping.servers[part as usize], striping.parts[part as usize], procedure);
    let payloads = |offset, bytes| striping.stripes.payloads(offset, bytes);
    match procedure {
        Procedure::Read { offset, bytes } => payloads(offset, bytes)
            .map(|Payload { part, offset, bytes }| of_part(part, Procedure::Read { offset, bytes }))
            .collect(),
        Procedure::Write { offset, bytes, stable } => payloads(offset, bytes)
            .map(|Payload { part, offset, bytes }| of_part(part, Procedure::Write { offset, bytes, stable }))
            .collect(),
        Procedure::Setattr { size } => (0..striping.parts.len() as u32)
            .map(|part| of_part(part, Procedure::Setattr { size: striping.stripes.share(part, size) }))
            .collect(),
        _ => (0..striping.parts.len() as u32).map(|part| of_part(part, procedure)).collect(),
    }
}

/// The parts of a call: those that the policy of the server names, its other time, and the network.
fn parts_of(call: &UnderWay, now: Nanos) -> Parts {
    let UnderWay { sent, arrived, replied, outcome, .. } = call;
    let mut parts = Parts::of(Part::Network, (now - *sent) - (*replied - *arrived));
    let mut rest = *replied - *arrived;
    for part in [Part::DeviceRead, Part::DeviceWrite, Part::Queueing, Part::Throttled, Part::Journal] {
        let time = outcome.parts.get(part);
        parts.add(part, time);
        rest -= time;
    }
    parts.add(Part::Server, rest);
    parts
}
