//! Finds the way of a message from one host to another.
//!
//! It is the route by hand, or a link that joins the two. Otherwise, between two hosts of the network of one shape, it is that of the shape;
//! elsewhere it is the one with the fewest links, of equal ones that whose links have the first names. Hosts do not forward what others send (`net.ipv4.ip_forward` is 0).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::shape::{self, Inner};
use crate::machine::{LinkParameters, LinkSharing, Machine, Topology};
use crate::units::{BytesPerSecond, Nanos};

/// A link, switch or interface on the way of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Carrier {
    /// The network interface of a host.
    Nic(usize),
    /// A link by hand.
    Link(usize),
    /// A switch by hand.
    Switch(usize),
    /// A link of the network of one shape.
    Inner(Inner),
}

/// A carrier, and whether it is crossed from its first end to its second one; a network interface is so when a host sends.
pub(crate) type Hop = (Carrier, bool);

/// The network of a machine; see the module.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    machine: &'a Machine,
    /// The links by hand of each host, then of each switch, in the order of their names, with their other ends.
    links: Vec<Vec<(usize, usize)>>,
    /// The links of each route by hand.
    routes: FxHashMap<(usize, usize), Vec<Hop>>,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(machine: &'a Machine) -> Self {
        let mut links = vec![Vec::new(); machine.hosts.len() + machine.switches.len()];
        let mut order: Vec<usize> = (0..machine.links.len()).collect();
        order.sort_by_key(|&at| &machine.links[at].name);
        for at in order {
            if let Some((one, other)) = machine.links[at].between {
                links[one].push((at, other));
                links[other].push((at, one));
            }
        }
        let hop = |&link: &usize, forward| (Carrier::Link(link), forward);
        let there = machine
            .routes
            .iter()
            .map(|route| (route.ends, route.links.iter().map(|link| hop(link, true)).collect()));
        let mut routes: FxHashMap<_, Vec<Hop>> = there.collect();
        for route in machine.routes.iter().filter(|route| route.symmetrical) {
            let (from, to) = route.ends;
            let back = || route.links.iter().rev().map(|link| hop(link, false)).collect();
            routes.entry((to, from)).or_insert_with(back);
        }
        Self { machine, links, routes }
    }

    pub(crate) fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// The hops from one host to another, over a link that joins the two where one is named; nothing if there is no way.
    pub(crate) fn hops(&self, from: usize, to: usize, link: Option<usize>) -> Option<Vec<Hop>> {
        let joins = |&(_, other): &(usize, usize)| other == to;
        let direct = link.or_else(|| self.links[from].iter().find(|each| joins(each)).map(|each| each.0));
        let between = match direct {
            Some(link) => vec![self.over(link, from)],
            None if let Some(route) = self.routes.get(&(from, to)) => route.clone(),
            None => self.in_shape(from, to).or_else(|| self.by_hand(from, to))?,
        };
        let nic = |host: usize, sends| self.machine.hosts[host].nic.map(|_| (Carrier::Nic(host), sends));
        Some(nic(from, true).into_iter().chain(between).chain(nic(to, false)).collect())
    }

    fn over(&self, link: usize, from: usize) -> Hop {
        (Carrier::Link(link), self.machine.links[link].between.is_some_and(|(one, _)| one == from))
    }

    fn in_shape(&self, from: usize, to: usize) -> Option<Vec<Hop>> {
        let shape = self.machine.shape()?;
        let (from, to) = (self.machine.hosts[from].place?, self.machine.hosts[to].place?);
        let steps = shape::steps(shape, from, to).into_iter();
        Some(steps.map(|(inner, forward)| (Carrier::Inner(inner), forward)).collect())
    }

    fn by_hand(&self, from: usize, to: usize) -> Option<Vec<Hop>> {
        let hosts = self.machine.hosts.len();
        // The link over which each node was reached first, and the node before.
        let mut reached: Vec<Option<(usize, usize)>> = vec![None; self.links.len()];
        let mut next = VecDeque::from([from]);
        while let Some(node) = next.pop_front() {
            if node != from && node < hosts {
                continue;
            }
            for &(link, other) in &self.links[node] {
                if other != from && reached[other].is_none() {
                    reached[other] = Some((link, node));
                    next.push_back(other);
                }
            }
        }
        let (mut hops, mut node) = (Vec::new(), to);
        while node != from {
            let (link, before) = reached[node]?;
            if let Some(switch) = node.checked_sub(hosts)
                && self.machine.switches[switch].rate.is_some()
            {
                hops.push((Carrier::Switch(switch), true));
            }
            hops.push(self.over(link, before));
            node = before;
        }
        hops.reverse();
        Some(hops)
    }

    /// The rate of a carrier and so on.
    pub(crate) fn parameters(&self, carrier: Carrier) -> LinkParameters {
        match carrier {
            Carrier::Nic(host) => self.machine.hosts[host].nic.expect("the route crosses it"),
            Carrier::Link(link) => self.machine.links[link].parameters,
            Carrier::Switch(switch) => {
                let rate = self.machine.switches[switch].rate;
                LinkParameters {
                    sharing: LinkSharing::Shared,
                    ..LinkParameters::of_rate(rate.expect("the route crosses it"), Nanos::ZERO)
                }
            }
            Carrier::Inner(inner) => {
                let Topology { parameters, uplink_rate, .. } = self.shaped();
                let uplink: Option<BytesPerSecond> = uplink_rate.filter(|_| inner.level > 0);
                LinkParameters { rate: uplink.or(parameters.rate), ..*parameters }
            }
        }
    }

    fn shaped(&self) -> &'a Topology {
        self.machine.network.as_ref().expect("the route crosses it")
    }

    /// The name of a carrier, and those of its two ends.
    pub(crate) fn names(&self, carrier: Carrier) -> [String; 3] {
        let Machine { hosts, switches, links, .. } = self.machine;
        let end = |at: usize| match at.checked_sub(hosts.len()) {
            None => hosts[at].name.clone(),
            Some(switch) => switches[switch].name.clone(),
        };
        match carrier {
            Carrier::Nic(host) => ["nic".to_owned(), hosts[host].name.clone(), "network".to_owned()],
            Carrier::Link(link) => {
                let [one, other] =
                    links[link].between.map_or_else(Default::default, |(one, other)| [end(one), end(other)]);
                [links[link].name.clone(), one, other]
            }
            Carrier::Switch(switch) => ["switch".to_owned(), switches[switch].name.clone(), String::new()],
            Carrier::Inner(inner) => {
                let node = |(level, number): (u32, u32)| match level {
                    0 => hosts
                        .iter()
                        .find(|host| host.place == Some(number))
                        .map_or_else(|| format!("place {number}"), |host| host.name.clone()),
                    level => format!("switch {level}.{number}"),
                };
                let [lower, upper] =
                    shape::ends(self.machine.shape().expect("the route crosses it"), inner).map(node);
                ["network".to_owned(), lower, upper]
            }
        }
    }
}
