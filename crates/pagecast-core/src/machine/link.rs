//! Describes what connects hosts: links, switches and network interfaces.

use crate::keys::{FLAG, Kind, RATE, SIZE, TIME, Word, keys, word};
use crate::units::{Bytes, BytesPerSecond, Nanos};

use super::transport::Transport;

keys! {
    /// A connection between two hosts, two switches, or one of each; or one that only routes by hand name.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Link: "link" {
        /// The key of its table.
        pub name: String,
        /// Its two ends
        ///
        /// `["client", "server"]`: hosts, or switches.
        #[key(Kind::Texts, absent = "it is a part of `[[route]]` only")]
        only between,
        /// Its two ends: hosts by index; switches are counted on behind all hosts.
        pub between: Option<(usize, usize)>,
        /// Its rate and so on.
        flat parameters: LinkParameters,
    }
}

impl Link {
    /// Its two ends if neither is a switch, where a machine has so many hosts.
    #[must_use]
    pub fn joined_hosts(&self, hosts: usize) -> Option<(usize, usize)> {
        self.between.filter(|&(one, other)| one.max(other) < hosts)
    }
}

keys! {
    /// A way from one host to another by hand.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Route: "route" {
        /// The host that sends
        #[key(Kind::Text, required)]
        only from,
        /// The host that receives
        #[key(Kind::Text, required)]
        only to,
        /// Links without `between`, in the order in which they are crossed
        #[key(Kind::Texts, required)]
        only links,
        /// Both hosts by index.
        pub ends: (usize, usize),
        /// Links by index.
        pub links: Vec<usize>,
        /// The way back is the same, unless another route says else
        #[key(FLAG, default = true)]
        pub symmetrical: bool,
    }
}

keys! {
    /// The rate of a link or a network interface, and what goes over it beside the bytes of messages.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LinkParameters: "link_parameters" {
        /// Bytes in a second, of each direction unless `sharing` says else
        ///
        /// Required without `transport`.
        #[key(RATE, absent = "that of `transport`")]
        pub rate: Option<BytesPerSecond>,
        /// One way
        #[key(TIME, shown = Nanos::ZERO)]
        pub latency: Nanos,
        /// The flows that share the rate
        ///
        /// "split-duplex": the flows of a direction; "shared": those of both directions; "fatpipe": nobody, each flow gets all of it. The
        /// words are SimGrid's.
        #[key(word::<LinkSharing>(), default = LinkSharing::SplitDuplex)]
        pub sharing: LinkSharing,
        /// Its technology, with rate, `mtu` and headers
        ///
        /// [The presets](../concepts/network.md#presets).
        #[key(word::<Transport>(), absent = "`rate` is what messages get")]
        pub transport: Option<Transport>,
        /// Most bytes of an IP packet, of which a part are headers
        ///
        /// `rate` is then that of all bits, and the [headers](../concepts/network.md#headers) take their part of it.
        #[key(SIZE, absent = "that of `transport`, or no headers")]
        pub mtu: Option<Bytes>,
        /// Most bytes of a connection on their way at once
        ///
        /// A message gets no more than this in a round trip.
        #[key(SIZE, absent = "that of `transport`, or no limit")]
        pub tcp_window: Option<Bytes>,
    }
}

/// The flows that share the rate of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkSharing {
    /// Those of each direction.
    #[default]
    SplitDuplex,
    /// Those of both directions.
    Shared,
    /// None.
    Fatpipe,
}

impl Word for LinkSharing {
    const ALL: &'static [Self] = &[Self::SplitDuplex, Self::Shared, Self::Fatpipe];
    const WORDS: &'static [&'static str] = &["split-duplex", "shared", "fatpipe"];
}

impl LinkParameters {
    /// A link of a rate, without headers.
    #[must_use]
    pub fn of_rate(rate: BytesPerSecond, latency: Nanos) -> Self {
        Self { rate: Some(rate), latency, ..Self::default() }
    }

    /// The rate of its bits, in bytes per second.
    ///
    /// # Panics
    /// Without `rate` and `transport`: the reader of a machine file checks that.
    #[must_use]
    pub fn rate(&self) -> f64 {
        let of_transport = || self.transport.expect("a link has a rate or a transport").rate();
        self.rate.map_or_else(of_transport, |rate| rate.0)
    }

    /// Most bytes of a packet, if it has headers.
    #[must_use]
    pub fn mtu(&self) -> Option<u64> {
        self.mtu.map(|mtu| mtu.0).or(self.transport.map(Transport::mtu))
    }

    /// Most bytes of a connection on their way at once, if there is a limit.
    #[must_use]
    pub fn window(&self) -> Option<Bytes> {
        self.tcp_window.or(self.transport.and_then(Transport::window))
    }
}

keys! {
    /// A switch to which links lead.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Switch: "switch" {
        /// The key of its table.
        pub name: String,
        /// Bytes that it forwards in a second, of all links together
        #[key(RATE, absent = "as many as its links bring")]
        pub rate: Option<BytesPerSecond>,
    }
}
