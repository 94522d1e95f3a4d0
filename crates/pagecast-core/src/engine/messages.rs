//! Carries messages between hosts: those of a connection move one after the other, each as a flow over the route, and arrive the route's latency after
//! their last byte has left. Connections share links, NICs and switches as flows do. With `level = "segment"` the segments of
//! [`Segments`](crate::net::Segments) move them instead.

use super::agenda::Wake;
use super::connections::{ConnectionId, Recipient};
use super::run::{Engine, Owner};
use crate::error::SimulationError;
use crate::flow::Network;
use crate::units::{Bytes, Nanos};

impl<N: Network> Engine<'_, N> {
    /// Sends a message of headers and data, of at least one byte.
    pub(super) fn send_message(
        &mut self,
        connection: ConnectionId,
        (headers, data): (Bytes, Bytes),
        to: Recipient,
    ) {
        if self.connections.get_mut(connection).push((headers, data), to) {
            self.start_message(connection);
        }
    }

    /// Starts the flow of the first message of a connection.
    fn start_message(&mut self, id: ConnectionId) {
        let connection = self.connections.get_mut(id);
        let Some(&(bytes, _)) = connection.messages.front() else { return };
        if let Some(segments) = &mut self.segments {
            return segments.send(self.now, id.0, bytes);
        }
        self.actions.start(connection.route.flow(bytes));
        self.start_own_flows(Owner::Connection(id));
    }

    /// The last byte of a message has left: the next one follows, and it arrives after the latency.
    pub(super) fn message_left(&mut self, id: ConnectionId) -> Result<(), SimulationError> {
        let connection = self.connections.get_mut(id);
        let (_, to) = connection.messages.pop_front().expect("a message has left");
        let latency = connection.route.latency;
        if self.segments.is_some() {
            connection.on_way.push_back(to);
            self.start_message(id);
            return Ok(());
        }
        self.start_message(id);
        if latency == Nanos::ZERO {
            return self.message_arrived(to);
        }
        self.agenda.add(self.now, self.now + latency, Wake::Message(to));
        Ok(())
    }

    /// The last segment of the first message on the way has arrived.
    pub(super) fn segments_arrived(&mut self, id: ConnectionId) -> Result<(), SimulationError> {
        let to = self.connections.get_mut(id).on_way.pop_front().expect("a message is on the way");
        self.message_arrived(to)
    }

    /// A message has arrived.
    pub(super) fn message_arrived(&mut self, to: Recipient) -> Result<(), SimulationError> {
        match to {
            Recipient::Server(call) => self.call_arrived(call),
            Recipient::Client(call) => self.reply_arrived(call),
            Recipient::Recall(client, file) => {
                self.hosts[client as usize].policy.recall(file);
                Ok(())
            }
        }
    }
}
