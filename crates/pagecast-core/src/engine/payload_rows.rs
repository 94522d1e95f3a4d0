//! Makes the table of clients and servers of striped mounts, at the end of a run.
//!
//! The link of a pair is the direction between the two that had a message on it for the longest time, whoever sent it.

use std::cmp::Reverse;

use super::run::Engine;
use crate::flow::Network;
use crate::result::{Part, PayloadTable};
use crate::units::Nanos;

impl<N: Network> Engine<'_, N> {
    /// The rows of all clients and servers.
    pub(super) fn payload_rows(&mut self) -> PayloadTable {
        let mut table = PayloadTable::default();
        let name = |host: u32| self.scenario.machine.hosts[host as usize].name.clone();
        for ((client, server), done) in std::mem::take(&mut self.stragglers.of) {
            let longest = Part::ALL.into_iter().rev().max_by_key(|&part| done.parts.get(part));
            table.client.push(name(client));
            table.server.push(name(server));
            table.payloads.push(done.payloads);
            table.bytes.push(done.bytes.0);
            table.time.push(done.time);
            table.last.push(done.last);
            table.behind.push(done.behind);
            table.part.push(longest.expect("there are parts").name());
            table.link.push(self.busiest_link(client, server));
        }
        table
    }

    /// The direction between a client and a server with a message on it for the longest time, in words.
    fn busiest_link(&self, client: u32, server: u32) -> String {
        let mounts = self.rpcs.mounts[client as usize].iter().flatten();
        let ways = mounts.filter(|mounted| mounted.server == server);
        let connections = ways.flat_map(|mounted| [mounted.to_server, mounted.to_client]);
        let lanes = connections.flat_map(|id| &self.connections.get(id).lanes);
        let directions = lanes.flat_map(|lane| self.net.crossed(lane.path()).iter().map(|&(at, _)| at));
        let busiest = directions.max_by_key(|&at| (self.busy(at), Reverse(at)));
        busiest.map_or_else(String::new, |at| {
            let [link, from, to] = self.net.names(at);
            format!("{link}, {from} to {to}")
        })
    }

    /// The time for which a direction had a message or a segment on it.
    fn busy(&self, direction: u32) -> Nanos {
        let of_segments = self.segments.as_ref().and_then(|segments| segments.used().get(direction as usize));
        self.links.busy(direction) + of_segments.map_or(Nanos::ZERO, |used| used.busy)
    }
}
