//! Turns links, switches and network interfaces into resources, and ways between hosts into paths over them.
//!
//! A message over a [`Route`] takes its latency, and moves as a flow over its path, with its cap. A link has a resource for each direction, or
//! one for both. A byte of a message costs a link more than one byte where packets have headers: the smallest MTU of the way makes the
//! packets. See `docs/concepts/network.md`.

mod graph;
mod segments;
pub(crate) mod shape;
#[cfg(test)]
mod tests;
mod used;

use rustc_hash::FxHashMap;

use crate::flow::{self, FlowSpec, Network, Path, Resource, ResourceId, Use};
use crate::machine::{LinkParameters, LinkSharing, Machine, Transport};
use crate::result::Part;
use crate::units::{Nanos, as_number};

use graph::Hop;
pub(crate) use graph::{Carrier, Graph};
pub(crate) use segments::{Moved, Segments};
pub(crate) use shape::Inner;
pub(crate) use used::Used;

/// A way from one host to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Route {
    /// The resources of a flow over it.
    pub path: Path,
    /// One way.
    pub latency: Nanos,
    /// The most bytes in a second that one flow gets.
    pub cap: Option<f64>,
}

impl Route {
    /// The flow of a message of so many bytes.
    pub(crate) fn flow(&self, bytes: u64) -> FlowSpec {
        self.lane().flow(bytes)
    }

    /// All its links together.
    pub(crate) fn lane(&self) -> Lane {
        Lane { path: self.path, cap: self.cap }
    }
}

/// The links that a flow of a message crosses together: all of its route, or one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lane {
    path: Path,
    /// The most bytes in a second that one flow gets.
    cap: Option<f64>,
}

impl Lane {
    /// The path over its links.
    pub(crate) fn path(&self) -> Path {
        self.path
    }

    /// The flow of a message of so many bytes.
    pub(crate) fn flow(&self, bytes: u64) -> FlowSpec {
        FlowSpec { cap: self.cap.map(|cap| (cap, Part::Network)), ..FlowSpec::new(self.path, bytes, 0) }
    }
}

/// One direction of a link or another carrier, or both where they share its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Direction {
    pub carrier: Carrier,
    /// The direction from its first end; both if there is just one.
    pub forward: Option<bool>,
    /// Bytes of its bits in a second.
    pub rate: f64,
}

/// A direction that a path crosses, and its bytes for each of a message.
pub(crate) type Crossed = (u32, f64);

/// The network of a machine at run time; see the module.
#[derive(Debug)]
pub(crate) struct Net<'a> {
    graph: Graph<'a>,
    directions: Vec<Direction>,
    /// The first direction of each carrier, and its resource, if flows share its rate.
    of_carrier: FxHashMap<Carrier, (u32, Option<ResourceId>)>,
    routes: FxHashMap<(u32, u32, Option<u32>), Route>,
    /// The path over each link alone, by the cost of a byte there.
    alone: FxHashMap<(ResourceId, u64), Path>,
    /// The directions that each path crosses, by its number.
    crossed: Vec<Vec<Crossed>>,
}

/// 1 if a message takes the second direction of a link; a link that is shared has one alone.
fn turned(forward: bool, parameters: &LinkParameters) -> u32 {
    u32::from(!forward && parameters.sharing != LinkSharing::Shared)
}

impl<'a> Net<'a> {
    /// The network of a machine, with its links by hand, and no routes yet.
    pub(crate) fn new(machine: &'a Machine, network: &mut impl Network) -> Self {
        let mut net = Self {
            graph: Graph::new(machine),
            directions: Vec::new(),
            of_carrier: FxHashMap::default(),
            routes: FxHashMap::default(),
            alone: FxHashMap::default(),
            crossed: Vec::new(),
        };
        for link in 0..machine.links.len() {
            net.add(Carrier::Link(link), network);
        }
        net
    }

    /// Makes the resources of a carrier, unless they are there.
    fn add(&mut self, carrier: Carrier, network: &mut impl Network) -> (u32, Option<ResourceId>) {
        if let Some(&known) = self.of_carrier.get(&carrier) {
            return known;
        }
        let parameters = self.graph.parameters(carrier);
        let (first, rate) = (self.directions.len() as u32, parameters.rate());
        let mut resource = || network.add(Resource::constant(rate));
        let (resource, ways): (_, &[Option<bool>]) = match parameters.sharing {
            LinkSharing::Shared => (Some(resource()), &[None]),
            LinkSharing::Fatpipe => (None, &[Some(true), Some(false)]),
            LinkSharing::SplitDuplex => {
                let first = resource();
                resource();
                (Some(first), &[Some(true), Some(false)])
            }
        };
        self.directions.extend(ways.iter().map(|&forward| Direction { carrier, forward, rate }));
        self.of_carrier.insert(carrier, (first, resource));
        (first, resource)
    }

    /// Makes the route from one host to another known, over a link that joins them where one is named; nothing if there is no way.
    pub(crate) fn join(
        &mut self,
        (from, to): (usize, usize),
        link: Option<usize>,
        network: &mut impl Network,
    ) -> Option<Route> {
        let key = (from as u32, to as u32, link.map(|link| link as u32));
        if let Some(&known) = self.routes.get(&key) {
            return Some(known);
        }
        let hops = self.graph.hops(from, to, link)?;
        let parameters: Vec<_> = hops.iter().map(|&(carrier, _)| self.graph.parameters(carrier)).collect();
        let packets = Packets::over(&parameters);
        let (mut uses, mut crossed): (Vec<Use>, Vec<Crossed>) = (Vec::new(), Vec::new());
        for (&(carrier, forward), parameters) in hops.iter().zip(&parameters) {
            let cost = packets.cost(parameters);
            let (first, resource) = self.add(carrier, network);
            let second = turned(forward, parameters);
            // A way may cross a link twice, and takes twice as much of it then.
            if let Some(at) = crossed.iter().position(|&(direction, _)| direction == first + second) {
                crossed[at].1 += cost;
                uses[at].cost += if resource.is_some() { cost } else { 0.0 };
                continue;
            }
            crossed.push((first + second, cost));
            uses.push(match resource {
                Some(ResourceId(first)) => {
                    Use { resource: ResourceId(first + second), cost, part: Part::Network }
                }
                None => {
                    let mut each = Resource::constant(f64::INFINITY);
                    each.per_flow_max = Some(parameters.rate() / cost);
                    Use { resource: network.add(each), cost: 1.0, part: Part::Network }
                }
            });
        }
        let latency: Nanos = parameters.iter().map(|each| each.latency).sum();
        let window = parameters.iter().filter_map(LinkParameters::window).min();
        let round_trip = 2.0 * latency.as_seconds();
        let cap = window.filter(|_| latency > Nanos::ZERO).map(|window| as_number(window.0) / round_trip);
        let path = network.add_path(flow::Route::new(&uses));
        let route = Route { path, latency, cap };
        self.note(path, crossed);
        self.routes.insert(key, route);
        Some(route)
    }

    /// The route from one host to another that was joined so.
    pub(crate) fn route(&self, from: u32, to: u32, link: Option<usize>) -> Option<&Route> {
        self.routes.get(&(from, to, link.map(|link| link as u32)))
    }

    /// The devices of a route that is known, for its segments.
    pub(crate) fn segment_way(&self, from: usize, to: usize, link: Option<usize>) -> segments::Way {
        let hops = self.graph.hops(from, to, link).expect("the route is known");
        let parameters: Vec<_> = hops.iter().map(|&(carrier, _)| self.graph.parameters(carrier)).collect();
        let packets = Packets::over(&parameters);
        let device = |(&(carrier, forward), parameters): (&Hop, &LinkParameters)| {
            let (first, resource) = self.of_carrier[&carrier];
            segments::Hop {
                direction: first + turned(forward, parameters),
                is_shared: resource.is_some(),
                rate: parameters.rate(),
                latency: parameters.latency,
                headers: parameters.mtu().map(|_| parameters.transport),
            }
        };
        let (packet, payload) = packets.size.unwrap_or((segments::PLAIN, segments::PLAIN));
        segments::Way {
            hops: hops.iter().zip(&parameters).map(device).collect(),
            payload,
            inside: packet - payload,
            window: parameters.iter().filter_map(LinkParameters::window).min().map(|window| window.0),
            back: parameters.iter().map(|each| each.latency).sum(),
        }
    }

    /// Notes which directions a path crosses.
    fn note(&mut self, path: Path, crossed: Vec<Crossed>) {
        if self.crossed.len() <= path.index() {
            self.crossed.resize(path.index() + 1, Vec::new());
        }
        self.crossed[path.index()] = crossed;
    }

    /// One path for each link of a route, of which a flow crosses each by itself; with the cap of the route where the link is faster.
    pub(crate) fn one_by_one(&mut self, route: &Route, network: &mut impl Network) -> Vec<Lane> {
        let uses = network.route(route.path).uses().to_vec();
        let crossed = self.crossed[route.path.index()].clone();
        let lane = |(each, crossed): (Use, Crossed)| {
            let (direction, cost) = crossed;
            let path = *self
                .alone
                .entry((each.resource, cost.to_bits()))
                .or_insert_with(|| network.add_path(flow::Route::new(&[each])));
            let rate = self.directions[direction as usize].rate / cost;
            self.note(path, vec![crossed]);
            Lane { path, cap: route.cap.filter(|&cap| cap < rate) }
        };
        uses.into_iter().zip(crossed).map(lane).collect()
    }

    /// Notes that a path crosses what a route does.
    pub(crate) fn note_like(&mut self, path: Path, route: &Route) {
        self.note(path, self.crossed[route.path.index()].clone());
    }

    /// The directions that a path crosses.
    pub(crate) fn crossed(&self, path: Path) -> &[Crossed] {
        self.crossed.get(path.index()).map_or(&[], Vec::as_slice)
    }

    /// All directions, with their names.
    pub(crate) fn directions(&self) -> impl Iterator<Item = (Direction, [String; 3])> + '_ {
        (0..).zip(&self.directions).map(|(at, &direction)| (direction, self.names(at)))
    }

    /// The names of a direction: of the carrier, of where it comes from and of where it leads to.
    pub(crate) fn names(&self, direction: u32) -> [String; 3] {
        let Direction { carrier, forward, .. } = self.directions[direction as usize];
        let [name, one, other] = self.graph.names(carrier);
        if forward == Some(false) { [name, other, one] } else { [name, one, other] }
    }
}

/// The packets of a way.
struct Packets {
    /// Their bytes at most, if they have headers, and those of them that are a message's.
    size: Option<(u64, u64)>,
}

impl Packets {
    fn over(parameters: &[LinkParameters]) -> Self {
        let with_headers = parameters.iter().filter(|each| each.mtu().is_some());
        let inside = with_headers.clone().map(|each| Transport::inside(each.transport)).max().unwrap_or(0);
        let most = with_headers.filter_map(LinkParameters::mtu).min();
        Self { size: most.map(|most| (most, most - inside)) }
    }

    /// Bytes on a link for each byte of a message.
    fn cost(&self, parameters: &LinkParameters) -> f64 {
        match self.size.filter(|_| parameters.mtu().is_some()) {
            None => 1.0,
            Some((packet, payload)) => {
                as_number(Transport::on_link(parameters.transport, packet)) / as_number(payload)
            }
        }
    }
}
