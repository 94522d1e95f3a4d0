//! Counts what each client asks of each server of its striped mounts, and which server answers last.
//!
//! A call that several servers do ends with the last answer. The time from the answer before that is the time for which the call waited for the
//! last server alone. The link of a pair is the direction between the two that had a message on it for the longest time, whoever sent it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::run::Engine;
use crate::flow::Network;
use crate::result::{Part, Parts, PayloadTable};
use crate::units::{Bytes, Nanos};

/// What a server has done for a client.
#[derive(Clone, Debug, Default)]
struct Done {
    payloads: u64,
    bytes: Bytes,
    time: Nanos,
    last: u64,
    behind: Nanos,
    parts: Parts,
}

/// A payload that has been answered.
pub(super) struct Answered<'a> {
    /// The client's host, and the server's.
    pub ends: (u32, u32),
    pub bytes: Bytes,
    /// From sending it to its answer, and the parts of that.
    pub time: Nanos,
    pub parts: &'a Parts,
    /// If it is the last one of its call: how long after the one before.
    pub behind: Option<Nanos>,
}

/// The counts of all clients and servers; see the module.
#[derive(Debug, Default)]
pub(super) struct Stragglers {
    of: BTreeMap<(u32, u32), Done>,
}

impl Stragglers {
    /// A payload has been answered.
    pub(super) fn count(&mut self, answered: &Answered<'_>) {
        let done = self.of.entry(answered.ends).or_default();
        done.payloads += 1;
        done.bytes += answered.bytes;
        done.time += answered.time;
        done.parts.add_all(answered.parts);
        if let Some(behind) = answered.behind {
            done.last += 1;
            done.behind += behind;
        }
    }
}

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
        let busiest = directions.max_by_key(|&at| (self.links.busy(at), Reverse(at)));
        busiest.map_or_else(String::new, |at| {
            let [link, from, to] = self.net.names(at);
            format!("{link}, {from} to {to}")
        })
    }
}
