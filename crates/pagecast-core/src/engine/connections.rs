//! Connections between hosts, and the messages that wait on each.
//!
//! A connection is one direction of a TCP stream. Messages of several owners take turns before the socket (`net/sunrpc/xprt.c:
//! xprt_request_enqueue_transmit`, Linux 6.16): one that carries no data passes those that do, up to what the socket has taken.

use std::collections::VecDeque;

use crate::net::Route;
use crate::policy::FileId;
use crate::units::Bytes;

/// Bytes that a socket takes ahead of the wire: `net.ipv4.tcp_wmem` lets a buffer grow to 4 MiB, headers and slack included. Recorded with Linux
/// 6.12: a WRITE of 1 MiB is answered 3.4 MiB after it has been sent, at 38 and at 95 MiB/s.
const SOCKET: u64 = (34 << 20) / 10;

/// The taker of a message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Recipient {
    /// The server of a call, by the number of the call among those under way.
    Server(u32),
    /// The client that waits for the reply to it.
    Client(u32),
    /// A client whose delegation of a file is taken back.
    Recall(u32, FileId),
}

/// A connection by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionId(pub u32);

/// One direction of a stream between two hosts.
#[derive(Debug)]
pub(super) struct Connection {
    pub route: Route,
    /// The message on its way and those behind it.
    pub messages: VecDeque<(u64, Recipient)>,
    /// Takers of messages whose segments are on their way.
    pub on_way: VecDeque<Recipient>,
}

impl Connection {
    /// Puts a message of `data` bytes after its headers where its turn is; says whether it is the first.
    pub(super) fn push(&mut self, (headers, data): (Bytes, Bytes), to: Recipient) -> bool {
        let at = if data == Bytes::ZERO { behind_socket(&self.messages) } else { self.messages.len() };
        self.messages.insert(at, ((headers + data).0, to));
        self.messages.len() == 1
    }
}

/// All connections.
#[derive(Debug, Default)]
pub(super) struct Connections {
    connections: Vec<Connection>,
}

impl Connections {
    /// Opens a connection over a route.
    pub(super) fn connect(&mut self, route: Route) -> ConnectionId {
        self.connections.push(Connection { route, messages: VecDeque::new(), on_way: VecDeque::new() });
        ConnectionId(self.connections.len() as u32 - 1)
    }

    /// One of them.
    pub(super) fn get_mut(&mut self, id: ConnectionId) -> &mut Connection {
        &mut self.connections[id.0 as usize]
    }
}

/// The place of the first message that a socket has not taken.
fn behind_socket(messages: &VecDeque<(u64, Recipient)>) -> usize {
    let taken = messages.iter().scan(0, |before, (bytes, _)| {
        let is_taken = *before < SOCKET;
        *before += bytes;
        is_taken.then_some(())
    });
    taken.count()
}
