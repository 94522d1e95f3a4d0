//! The calls of clients that are under way, and the threads of the servers that do them.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::connections::ConnectionId;
use crate::policy::{FileId, OperationId, Rpc};
use crate::units::Nanos;

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
    pub sent: Nanos,
    pub arrived: Nanos,
    pub replied: Nanos,
}

/// The threads of a server, and the calls that wait for one.
#[derive(Debug, Default)]
pub(super) struct Service {
    /// The call of each thread.
    pub threads: Vec<Option<u32>>,
    pub waiting: VecDeque<u32>,
}

/// All calls under way, and the servers that do them.
#[derive(Debug, Default)]
pub(super) struct Rpcs {
    /// The connections of each mount of each host, if that is another host's.
    pub(super) mounts: Vec<Vec<Option<Mounted>>>,
    calls: Vec<Option<UnderWay>>,
    free: Vec<u32>,
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

    /// Keeps a call; gives its number.
    pub(super) fn add(&mut self, call: UnderWay) -> u32 {
        let at = self.free.pop().unwrap_or(self.calls.len() as u32);
        if at as usize == self.calls.len() {
            self.calls.push(None);
        }
        self.calls[at as usize] = Some(call);
        at
    }

    /// A call that is under way.
    pub(super) fn get_mut(&mut self, call: u32) -> &mut UnderWay {
        self.calls[call as usize].as_mut().expect("only calls under way are looked up")
    }

    /// Takes a call that has been replied to.
    pub(super) fn remove(&mut self, call: u32) -> UnderWay {
        self.free.push(call);
        self.calls[call as usize].take().expect("a reply answers a call")
    }
}
