//! The calls of clients that are under way, and the threads of the servers that do them.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::connections::ConnectionId;
use super::slab::Slab;
use crate::policy::{FileId, OperationId, Outcome, Procedure, Rpc};
use crate::units::{Bytes, Nanos};

/// The bit of the operations of a server's threads.
pub(super) const THREAD: u32 = OperationId::OF_NO_PROCESS | 1 << 29;

/// The two directions between a client and the server of one of its mounts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mounted {
    pub to_server: ConnectionId,
    pub to_client: ConnectionId,
    pub server: u32,
}

/// A call under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnderWay {
    pub client: u32,
    pub rpc: Rpc,
    /// The server, among those of the mount.
    pub server: u32,
    /// The payload that it is a buffer of, if the mount is striped.
    pub payload: Option<u32>,
    /// The buffer of a client's cache of a striped mount that it sends.
    pub of_cache: Option<u32>,
    /// Bytes behind those of `rpc` that the server is still to read for it.
    pub rest: Bytes,
    pub sent: Nanos,
    pub arrived: Nanos,
    pub replied: Nanos,
    /// True if what it changes is still to be made durable.
    pub commits: bool,
    /// True if the client gets a delegation of the file.
    pub delegates: bool,
    /// The time and bytes that the server's policy has given it.
    pub outcome: Outcome,
}

impl UnderWay {
    /// A call that a client sends now.
    pub(super) fn new(client: u32, rpc: Rpc, (server, payload): (u32, Option<u32>), now: Nanos) -> Self {
        let is_stable = matches!(rpc.procedure, Procedure::Write { stable: true, .. });
        let commits = payload.is_none() && (is_stable || rpc.procedure.changes_metadata());
        Self {
            client,
            rpc,
            server,
            payload,
            of_cache: None,
            rest: Bytes::ZERO,
            sent: now,
            arrived: now,
            replied: now,
            commits,
            delegates: false,
            outcome: Outcome::default(),
        }
    }

    /// A buffer of a client's cache of a striped mount, which it sends now.
    pub(super) fn of_cache(client: u32, rpc: Rpc, (server, sent): (u32, u32), now: Nanos) -> Self {
        Self { of_cache: Some(sent), ..Self::new(client, rpc, (server, None), now) }
    }

    /// Whether it is of a striped mount.
    pub(super) fn is_striped(&self) -> bool {
        self.payload.is_some() || self.of_cache.is_some()
    }

    /// Keeps the first bytes of a read, and the others as its rest.
    pub(super) fn keep_first(&mut self, piece: Bytes) {
        if let Procedure::Read { bytes, .. } = &mut self.rpc.procedure {
            let first = (*bytes).min(piece);
            self.rest = *bytes - first;
            *bytes = first;
        }
    }

    /// The next piece of a read, of at most as many bytes as this one, if there is one.
    pub(super) fn next_piece(&self, now: Nanos) -> Option<Self> {
        let Procedure::Read { offset, bytes } = self.rpc.procedure else { return None };
        let procedure = Procedure::Read { offset: offset + bytes.0, bytes: self.rest };
        let mut next = Self { sent: now, arrived: now, rpc: Rpc { procedure, ..self.rpc }, ..*self };
        next.keep_first(bytes);
        (self.rest > Bytes::ZERO).then_some(next)
    }
}

/// The threads of a server, and the calls that wait for one.
#[derive(Debug, Default)]
pub(super) struct Service {
    /// The call of each thread.
    pub threads: Vec<Option<u32>>,
    pub waiting: VecDeque<u32>,
    /// Hosts that have a striped mount on it.
    pub clients: u32,
}

impl Service {
    /// Gives the call that has waited for longest to the first free thread, if there are both; returns the thread.
    pub fn take_next(&mut self) -> Option<u32> {
        let thread = self.threads.iter().position(Option::is_none)?;
        self.threads[thread] = Some(self.waiting.pop_front()?);
        Some(thread as u32)
    }
}

/// All calls under way, and the servers that do them.
#[derive(Debug, Default)]
pub(super) struct Rpcs {
    /// The connections of each mount of each host to its servers.
    pub(super) mounts: Vec<Vec<Vec<Mounted>>>,
    pub(super) calls: Slab<UnderWay>,
    pub(super) services: Vec<Service>,
    /// How often each client has changed each file.
    pub(super) own_changes: FxHashMap<(u32, FileId), u64>,
}

impl Rpcs {
    /// Servers of so many threads each.
    pub(super) fn new(threads: impl Iterator<Item = u32>) -> Self {
        let service = |threads| Service { threads: vec![None; threads as usize], ..Service::default() };
        Self { services: threads.map(service).collect(), ..Self::default() }
    }

    /// The thread of a server that has an operation, if it is one of those.
    pub(super) fn thread_of(operation: OperationId) -> Option<u32> {
        let is_thread = operation != OperationId::NOBODY && operation.0 & THREAD == THREAD;
        is_thread.then_some(operation.0 & !THREAD)
    }

    /// How many requests wait at a server that are of the same client as that of a thread.
    pub(super) fn waiting_with(&self, server: u32, thread: u32) -> u64 {
        let service = &self.services[server as usize];
        let call = service.threads[thread as usize].expect("it has a call");
        let client = self.calls.get(call).client;
        service.waiting.iter().filter(|&&other| self.calls.get(other).client == client).count() as u64
    }

    /// The operation for which a thread of a server does its call; any other operation as it is.
    pub(super) fn asked_by(&mut self, server: u32, operation: OperationId) -> OperationId {
        let Some(thread) = Self::thread_of(operation) else { return operation };
        let call = self.services[server as usize].threads[thread as usize].expect("it does a call");
        self.calls.get_mut(call).rpc.operation
    }
}
