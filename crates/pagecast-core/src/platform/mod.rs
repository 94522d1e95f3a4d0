//! Reads platform files of SimGrid, and finds the links from one of their hosts to another.
//!
//! Source: <https://simgrid.org/doc/latest/Platform_reference.html> and SimGrid 4.1, `src/kernel/xml/{platf_sax_cb,sg_platf}.cpp`,
//! `src/kernel/routing/*Zone*.cpp`: zones in zones with routing Full, Floyd, Dijkstra, DijkstraCache, Cluster or None; clusters that are
//! flat, a torus or a fat tree; cabinets; routes between zones and bypasses.
//!
//! Passed over, since they change no way: speeds and cores of hosts, disks, properties, configuration, actors. Left out: Vivaldi and Wi-Fi zones and
//! dragonflies (refused when a way needs them), profiles (refused), and which of several shortest ways Floyd takes: it is that of Dijkstra
//! here. Factors of SimGrid's network models, such as 0.97 of a bandwidth, are not the platform's.

mod cluster;
mod quantities;
mod read;
mod ways;
mod xml;

use rustc_hash::FxHashMap;

use crate::error::ScenarioError;
use crate::machine::{LinkParameters, LinkSharing, Shape};
use crate::nearest::{hint, shorten};
use crate::net::Inner;
use xml::Source;

/// The network that a file describes; see the module.
#[derive(Debug)]
pub struct Platform {
    source: Source,
    zones: Vec<Zone>,
    /// Hosts, routers, and zones as ends of routes.
    points: Vec<Point>,
    point_by_name: FxHashMap<String, usize>,
    links: Vec<(String, LinkParameters)>,
    link_by_name: FxHashMap<String, Named>,
}

/// A link on a way, with its name: each direction of a split-duplex one is a link of its own, as in SimGrid.
pub type WayLink = (String, LinkParameters);

#[derive(Debug)]
struct Point {
    name: String,
    kind: PointKind,
    /// The zone that it is in; the root is in none.
    zone: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PointKind {
    Host,
    Router,
    Zone(usize),
}

/// The link of a name.
#[derive(Clone, Copy, Debug)]
enum Named {
    One(usize),
    Split { up: usize, down: usize },
}

/// A link of the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LinkId {
    Listed(usize),
    /// A link of a torus or fat tree, and whether it is crossed upwards.
    Inner(usize, Inner, bool),
    /// The limiter of a host of such a cluster.
    Limiter(usize, u32),
}

#[derive(Debug)]
struct Zone {
    line: u32,
    parent: Option<usize>,
    /// Itself as the end of a route.
    point: usize,
    routing: Routing,
    bypasses: FxHashMap<(usize, usize), Way>,
}

/// How a zone finds its ways.
#[derive(Debug)]
enum Routing {
    /// Not at all.
    None,
    /// By a route for each pair.
    Full(FxHashMap<(usize, usize), Way>),
    /// By the fewest links over its routes.
    Shortest { ways: FxHashMap<(usize, usize), Way>, next: FxHashMap<usize, Vec<usize>> },
    /// Over a centre: the links of each host there, and from there.
    Star(FxHashMap<usize, Spoke>),
    /// By the place in a torus or fat tree.
    Shaped(Box<Shaped>),
    /// In a way that is not understood.
    Other(String),
}

#[derive(Clone, Debug, Default)]
struct Way {
    gateways: Option<(usize, usize)>,
    links: Vec<LinkId>,
}

#[derive(Debug, Default)]
struct Spoke {
    up: Vec<LinkId>,
    down: Vec<LinkId>,
}

#[derive(Debug)]
struct Shaped {
    name: String,
    shape: Shape,
    places: FxHashMap<usize, u32>,
    link: LinkParameters,
    is_split: bool,
    limiter: Option<LinkParameters>,
}

impl Platform {
    /// Reads a platform file.
    ///
    /// # Errors
    /// XML that is none, or elements that are not understood, with their line.
    pub fn read(bytes: &[u8], origin: &str) -> Result<Self, ScenarioError> {
        read::read(bytes, Source(origin.to_owned()))
    }

    /// The number of a host.
    ///
    /// # Errors
    /// If there is no such host: what is wrong, and the nearest name.
    pub fn host(&self, name: &str) -> Result<usize, (String, String)> {
        let is_host = |&at: &usize| self.points[at].kind == PointKind::Host;
        self.point_by_name.get(name).copied().filter(is_host).ok_or_else(|| {
            let hosts = self.points.iter().filter(|point| point.kind == PointKind::Host);
            let remedy = hint(name, hosts.map(|point| point.name.as_str()), "hosts there");
            (format!("{} has no host `{}`", shorten(&self.source.0), shorten(name)), remedy)
        })
    }

    /// The links from one host to another, in order; none if no route leads there.
    ///
    /// # Errors
    /// If a zone on the way finds its ways by something that is not understood.
    pub fn way(&self, from: usize, to: usize) -> Result<Vec<WayLink>, ScenarioError> {
        Ok(self.links_between(from, to)?.iter().map(|&link| self.link(link)).collect())
    }

    fn link(&self, link: LinkId) -> WayLink {
        let shaped = |zone: usize| match &self.zones[zone].routing {
            Routing::Shaped(shaped) => shaped,
            other => unreachable!("the link is of a torus or fat tree, not {other:?}"),
        };
        match link {
            LinkId::Listed(at) => self.links[at].clone(),
            LinkId::Inner(zone, Inner { level, node, port }, is_up) => {
                let Shaped { name, link, is_split, .. } = &**shaped(zone);
                let direction = match (is_split, is_up) {
                    (false, _) => "",
                    (true, true) => "_UP",
                    (true, false) => "_DOWN",
                };
                (format!("{name}_link_{level}.{node}.{port}{direction}"), *link)
            }
            LinkId::Limiter(zone, node) => {
                let Shaped { name, limiter, .. } = &**shaped(zone);
                (format!("{name}_link_{node}_limiter"), limiter.expect("the way crosses it"))
            }
        }
    }
}

/// The parameters of a link whose directions are one.
fn one_way(mut parameters: LinkParameters) -> LinkParameters {
    if parameters.sharing == LinkSharing::SplitDuplex {
        parameters.sharing = LinkSharing::Shared;
    }
    parameters
}

#[cfg(test)]
mod tests;
