//! Carries messages between hosts over connections.
//!
//! A connection is one direction of a TCP stream: its messages move one after the other, each as a flow over the route, and arrive the
//! route's latency after their last byte has left. Connections share links, NICs and switches as flows do.
//!
//! Messages of several owners take turns before the socket (`net/sunrpc/xprt.c: xprt_request_enqueue_transmit`, Linux 6.16): one that carries no data
//! passes those that do, up to what the socket has taken.

use std::collections::VecDeque;

use super::agenda::Wake;
use super::run::{Engine, Owner};
use crate::error::SimulationError;
use crate::flow::{FlowSpec, Network, Path};
use crate::result::Part;
use crate::units::{Bytes, Nanos};

/// Bytes that a socket takes ahead of the wire: `net.ipv4.tcp_wmem` lets a buffer grow to 4 MiB, headers and slack included. Recorded with Linux
/// 6.12: a WRITE of 1 MiB is answered 3.4 MiB after it has been sent, at 38 and at 95 MiB/s.
const SOCKET: u64 = (34 << 20) / 10;

/// Who takes a message when it has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Recipient {
    /// The server of a call, by the number of the call among those under way.
    Server(u32),
    /// The client that waits for the reply to it.
    Client(u32),
}

/// A connection by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionId(u32);

/// One direction of a stream between two hosts.
#[derive(Debug)]
struct Connection {
    path: Path,
    latency: Nanos,
    /// The rate that the window of the transport allows, in bytes per second.
    cap: Option<f64>,
    /// The message on its way and those behind it.
    messages: VecDeque<(u64, Recipient)>,
}

/// All connections.
#[derive(Debug, Default)]
pub(super) struct Messages {
    connections: Vec<Connection>,
}

impl Messages {
    /// Opens a connection over a path.
    pub(super) fn connect(&mut self, path: Path, latency: Nanos, cap: Option<f64>) -> ConnectionId {
        self.connections.push(Connection { path, latency, cap, messages: VecDeque::new() });
        ConnectionId(self.connections.len() as u32 - 1)
    }

    fn get_mut(&mut self, id: ConnectionId) -> &mut Connection {
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

impl<N: Network> Engine<'_, N> {
    /// Sends a message of at least one byte, of which `data` are not headers.
    pub(super) fn send_message(
        &mut self,
        connection: ConnectionId,
        (headers, data): (Bytes, Bytes),
        to: Recipient,
    ) {
        let messages = &mut self.messages.get_mut(connection).messages;
        let message = ((headers + data).0, to);
        let at = if data == Bytes::ZERO { behind_socket(messages) } else { messages.len() };
        messages.insert(at, message);
        if messages.len() == 1 {
            self.start_message(connection);
        }
    }

    /// Starts the flow of the first message of a connection.
    fn start_message(&mut self, id: ConnectionId) {
        let connection = self.messages.get_mut(id);
        let Some(&(bytes, _)) = connection.messages.front() else { return };
        let cap = connection.cap.map(|cap| (cap, Part::Network));
        self.actions.start(FlowSpec { cap, ..FlowSpec::new(connection.path, bytes, 0) });
        self.start_own_flows(Owner::Connection(id));
    }

    /// The last byte of a message has left: the next one follows, and it arrives after the latency.
    pub(super) fn message_left(&mut self, id: ConnectionId) -> Result<(), SimulationError> {
        let connection = self.messages.get_mut(id);
        let (_, to) = connection.messages.pop_front().expect("a message has left");
        let latency = connection.latency;
        self.start_message(id);
        if latency == Nanos::ZERO {
            return self.message_arrived(to);
        }
        self.agenda.add(self.now, self.now + latency, Wake::Message(to));
        Ok(())
    }

    /// A message has arrived.
    pub(super) fn message_arrived(&mut self, to: Recipient) -> Result<(), SimulationError> {
        match to {
            Recipient::Server(call) => self.call_arrived(call),
            Recipient::Client(call) => self.reply_arrived(call),
        }
    }
}
