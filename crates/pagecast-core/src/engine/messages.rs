//! Carries messages between hosts: those of a connection move one after the other, each as a flow over the route, and arrive the route's latency after
//! their last byte has left. Connections share links, NICs and switches as flows do.

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
        self.actions.start(connection.route.flow(bytes));
        self.start_own_flows(Owner::Connection(id));
    }

    /// The last byte of a message has left: the next one follows, and it arrives after the latency.
    pub(super) fn message_left(&mut self, id: ConnectionId) -> Result<(), SimulationError> {
        let connection = self.connections.get_mut(id);
        let (_, to) = connection.messages.pop_front().expect("a message has left");
        let latency = connection.route.latency;
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
            Recipient::Recall(client, file) => {
                self.hosts[client as usize].policy.recall(file);
                Ok(())
            }
        }
    }
}
