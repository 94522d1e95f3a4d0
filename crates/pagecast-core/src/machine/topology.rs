//! Describes a network of one shape that connects hosts: a tree of switches, or a grid of hosts.

use crate::keys::{Kind, RATE, SIZE, Word, keys, word};
use crate::units::{Bytes, BytesPerSecond};

use super::link::LinkParameters;

/// The words of `topology`.
pub const TOPOLOGIES: [&str; 5] = ["star", "two-level", "fat-tree", "mesh", "torus"];

keys! {
    /// The network of all hosts, or of some.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Topology: "network" {
        /// Its shape
        ///
        /// "star": one switch; "two-level": `leaves` and `spines`; "fat-tree": `k` or `topo_parameters`; "mesh" and "torus": `topo_parameters`.
        /// [Routes](../concepts/network.md#topologies) are SimGrid's.
        #[key(Kind::Word(&TOPOLOGIES), absent = "`platform`, or ways by hand")]
        only topology,
        /// A platform file of SimGrid with the ways of its hosts; a path relative to this file
        ///
        /// Instead of `topology`: hosts have the names that they have there, and links their rates; of the keys below `hosts`, `mtu` and
        /// `tcp_window` may stand beside it. [What is read](../concepts/network.md#platform-files).
        #[key(Kind::Text)]
        only platform,
        /// Its hosts, in the order of their places
        #[key(Kind::Texts, absent = "all hosts")]
        only hosts,
        /// Switches that hosts are connected with
        ///
        /// With "two-level"; hosts are spread over them in order.
        #[key(Kind::Whole(1, 65_536))]
        only leaves,
        /// Switches above them
        #[key(Kind::Whole(1, 65_536))]
        only spines,
        /// Ports of each switch
        ///
        /// With "fat-tree": three levels, up to k * k * k / 4 hosts. An even number.
        #[key(Kind::Whole(2, 1_024))]
        only k,
        /// SimGrid's parameters of the shape
        ///
        /// "4,4,2": the lengths of a mesh or a torus; "2;4,4;1,2;1,2": the levels of a fat tree, then for each level its downward links, its
        /// upward links and the cables of each.
        #[key(Kind::Text)]
        only topo_parameters,
        /// Its shape, in SimGrid's terms, if it has one: its ways may be by hand.
        pub shape: Option<Shape>,
        /// How its messages move
        ///
        /// "flow": as flows that share links; "segment": segment by segment, [for small studies](../concepts/network.md#segments).
        #[key(word::<NetworkLevel>(), default = NetworkLevel::Flow)]
        pub level: NetworkLevel,
        /// Bytes of a connection that may wait in a device before the one before it stops
        ///
        /// With `level = "segment"`. The default is `net.ipv4.tcp_limit_output_bytes`.
        #[key(SIZE, default = Topology::DEVICE_BUFFER)]
        pub device_buffer: Bytes,
        /// The rate of links between switches
        #[key(RATE, absent = "`rate`")]
        pub uplink_rate: Option<BytesPerSecond>,
        /// Each link.
        flat parameters: LinkParameters,
    }
}

impl Topology {
    /// `net.ipv4.tcp_limit_output_bytes` (`Documentation/networking/ip-sysctl.rst`, Linux 6.12).
    const DEVICE_BUFFER: Bytes = Bytes(1 << 20);
}

/// How messages move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkLevel {
    /// As flows.
    #[default]
    Flow,
    /// Segment by segment.
    Segment,
}

impl Word for NetworkLevel {
    const ALL: &'static [Self] = &[Self::Flow, Self::Segment];
    const WORDS: &'static [&'static str] = &["flow", "segment"];
}

/// The shape of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A fat tree: at each level from the hosts up, how many a switch has below, how many above it, and how many cables each has.
    Tree {
        /// Those below.
        down: Vec<u32>,
        /// Those above.
        up: Vec<u32>,
        /// Cables to each.
        cables: Vec<u32>,
    },
    /// A grid of hosts, each connected with its neighbours.
    Grid {
        /// Hosts along each dimension.
        lengths: Vec<u32>,
        /// True if the last host of a line is the neighbour of the first.
        wraps: bool,
    },
}

impl Default for Shape {
    fn default() -> Self {
        Self::star(1)
    }
}

impl Shape {
    /// One switch for so many hosts.
    #[must_use]
    pub fn star(hosts: u32) -> Self {
        Self::Tree { down: vec![hosts], up: vec![1], cables: vec![1] }
    }

    /// Two levels of switches for so many hosts.
    #[must_use]
    pub fn two_level(hosts: u32, leaves: u32, spines: u32) -> Self {
        Self::Tree { down: vec![hosts.div_ceil(leaves), leaves], up: vec![1, spines], cables: vec![1, 1] }
    }

    /// Three levels of switches with k ports each (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008).
    #[must_use]
    pub fn fat_tree(k: u32) -> Self {
        Self::Tree { down: vec![k / 2, k / 2, k], up: vec![1, k / 2, k / 2], cables: vec![1; 3] }
    }

    /// A grid of SimGrid's parameters, such as "4,4,2".
    #[must_use]
    pub fn grid_of(text: &str, wraps: bool) -> Option<Self> {
        Some(Self::Grid { lengths: numbers(text)?, wraps })
    }

    /// A fat tree of SimGrid's parameters, such as "2;4,4;1,2;1,2".
    #[must_use]
    pub fn tree_of(text: &str) -> Option<Self> {
        let [levels, down, up, cables] = &text.split(';').map(numbers).collect::<Option<Vec<_>>>()?[..]
        else {
            return None;
        };
        let [levels] = levels[..] else { return None };
        let is_whole = [down, up, cables].iter().all(|each| each.len() == levels as usize);
        let product =
            |each: &[u32]| each.iter().fold(1, |all: u64, &each| all.saturating_mul(u64::from(each)));
        let nodes = |level: usize| product(&up[..level]).saturating_mul(product(&down[level..]));
        let cables_of = |level: usize| u64::from(up[level]) * u64::from(cables[level]);
        let fits = || (0..up.len()).all(|level| nodes(level).max(cables_of(level)) <= MOST_NODES);
        let is_tree = is_whole && fits() && nodes(up.len()) <= MOST_NODES;
        is_tree.then(|| Self::Tree { down: down.clone(), up: up.clone(), cables: cables.clone() })
    }

    /// The number of its places for hosts.
    #[must_use]
    pub fn places(&self) -> u64 {
        let (Self::Tree { down: each, .. } | Self::Grid { lengths: each, .. }) = self;
        each.iter().fold(1, |all: u64, &each| all.saturating_mul(u64::from(each)))
    }
}

/// The most nodes of a level of a tree, and cables of a node: with more, their numbers would not fit.
const MOST_NODES: u64 = 1 << 24;

/// Whole numbers from 1 on between commas.
fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split(',').map(|each| each.trim().parse().ok().filter(|&number| number > 0)).collect()
}
