//! Knows kinds of networks: their rates, packets and headers.
//!
//! Sources: IEEE 802.3 (preamble 8, header 14, check sequence 4 and gap 12 bytes of a frame); RFC 791 (20 bytes of IP), RFC 9293 and RFC 7323
//! (20 bytes of TCP, 12 of time stamps); the InfiniBand architecture specification, volume 1, chapters 7 and 9 (LRH 8, BTH 12, DETH 8, ICRC 4 and
//! VCRC 2 bytes of a packet) and volume 2, chapter 5 (four lanes of 10 Gbit/s with 8 bits in 10 for QDR, 14.0625 and 25.78125 Gbit/s with 64 in 66 for
//! FDR and EDR); RFC 4391 (4 bytes of IPoIB, whose MTU is 2044 bytes in datagram mode). Left out: what a host needs to fill a link, which is less
//! than the rate of IPoIB on most; VLAN tags; jumbo frames unless `mtu` says so.

use crate::keys::Word;
use crate::units::Bytes;

/// A kind of network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP over Ethernet of 1 Gbit/s.
    Ethernet1,
    /// 10 Gbit/s.
    Ethernet10,
    /// 25 Gbit/s.
    Ethernet25,
    /// 40 Gbit/s.
    Ethernet40,
    /// 100 Gbit/s.
    Ethernet100,
    /// TCP over four lanes of InfiniBand QDR.
    IpoibQdr,
    /// FDR.
    IpoibFdr,
    /// EDR.
    IpoibEdr,
    /// RDMA, reliable connections, over four lanes of InfiniBand QDR.
    RdmaQdr,
    /// FDR.
    RdmaFdr,
    /// EDR.
    RdmaEdr,
}

impl Word for Transport {
    const ALL: &'static [Self] = &[
        Self::Ethernet1,
        Self::Ethernet10,
        Self::Ethernet25,
        Self::Ethernet40,
        Self::Ethernet100,
        Self::IpoibQdr,
        Self::IpoibFdr,
        Self::IpoibEdr,
        Self::RdmaQdr,
        Self::RdmaFdr,
        Self::RdmaEdr,
    ];
    const WORDS: &'static [&'static str] = &[
        "1gbe",
        "10gbe",
        "25gbe",
        "40gbe",
        "100gbe",
        "ipoib-qdr",
        "ipoib-fdr",
        "ipoib-edr",
        "rdma-qdr",
        "rdma-fdr",
        "rdma-edr",
    ];
}

/// Bytes of a frame of Ethernet beside its packet.
const OF_FRAME: u64 = 8 + 14 + 4 + 12;
/// Bytes of IP and TCP in a packet.
const OF_TCP: u64 = 20 + 20 + 12;
/// Bytes of an InfiniBand packet beside its payload: of a reliable connection, and of a datagram.
const OF_CONNECTION: u64 = 8 + 12 + 4 + 2;
const OF_DATAGRAM: u64 = OF_CONNECTION + 8;
/// Bytes of IPoIB before an IP packet.
const OF_IPOIB: u64 = 4;
/// Most payload of an InfiniBand packet where nobody sets another.
const IB_MTU: u64 = 2048;

/// `tcp_wmem[2]` of a host with enough memory (`Documentation/networking/ip-sysctl.rst`), and SimGrid's `network/TCP-gamma`.
const WINDOW: Bytes = Bytes(4 << 20);

enum Family {
    Ethernet,
    Ipoib,
    Rdma,
}

impl Transport {
    fn family(self) -> Family {
        match self {
            Self::Ethernet1 | Self::Ethernet10 | Self::Ethernet25 | Self::Ethernet40 | Self::Ethernet100 => {
                Family::Ethernet
            }
            Self::IpoibQdr | Self::IpoibFdr | Self::IpoibEdr => Family::Ipoib,
            Self::RdmaQdr | Self::RdmaFdr | Self::RdmaEdr => Family::Rdma,
        }
    }

    /// The rate of its bits after their coding, in bytes per second.
    #[must_use]
    pub fn rate(self) -> f64 {
        let gigabits = match self {
            Self::Ethernet1 => 1.0,
            Self::Ethernet10 => 10.0,
            Self::Ethernet25 => 25.0,
            Self::Ethernet40 => 40.0,
            Self::Ethernet100 => 100.0,
            Self::IpoibQdr | Self::RdmaQdr => 4.0 * 10.0 * 8.0 / 10.0,
            Self::IpoibFdr | Self::RdmaFdr => 4.0 * 14.0625 * 64.0 / 66.0,
            Self::IpoibEdr | Self::RdmaEdr => 4.0 * 25.78125 * 64.0 / 66.0,
        };
        gigabits * 1e9 / 8.0
    }

    /// Most bytes of a packet without another setting.
    #[must_use]
    pub fn mtu(self) -> u64 {
        match self.family() {
            Family::Ethernet => 1500,
            Family::Ipoib => IB_MTU - OF_IPOIB,
            Family::Rdma => 4096,
        }
    }

    /// Most bytes of a connection on their way at once.
    #[must_use]
    pub fn window(self) -> Option<Bytes> {
        (!matches!(self.family(), Family::Rdma)).then_some(WINDOW)
    }

    /// Bytes of headers in a packet; Ethernet without a name is TCP's, too.
    #[must_use]
    pub fn inside(transport: Option<Self>) -> u64 {
        match transport.map(Self::family) {
            Some(Family::Rdma) => 0,
            _ => OF_TCP,
        }
    }

    /// Bytes that a packet of so many takes of the link.
    #[must_use]
    pub fn on_link(transport: Option<Self>, packet: u64) -> u64 {
        match transport.map(Self::family) {
            None | Some(Family::Ethernet) => packet + OF_FRAME,
            Some(Family::Ipoib) => {
                let all = packet + OF_IPOIB;
                let (pieces, each) =
                    if all <= IB_MTU { (1, OF_DATAGRAM) } else { (all.div_ceil(IB_MTU), OF_CONNECTION) };
                all + pieces * each
            }
            Some(Family::Rdma) => packet + OF_CONNECTION,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of the bits of a link that are a message's.
    fn goodput(transport: Option<Transport>, packet: u64) -> f64 {
        (packet - Transport::inside(transport)) as f64 / Transport::on_link(transport, packet) as f64
    }

    #[test]
    fn headers_leave_the_well_known_parts() {
        let of = |transport, packet| (goodput(transport, packet) * 1e4).round() / 1e4;
        assert_eq!([of(None, 1500), of(None, 9000)], [0.9415, 0.9900]);
        assert_eq!(of(Some(Transport::Ethernet10), 1500), 0.9415);
        assert_eq!(
            [of(Some(Transport::IpoibFdr), 2044), of(Some(Transport::IpoibFdr), 65_520)],
            [0.9568, 0.9866]
        );
        assert_eq!(of(Some(Transport::RdmaEdr), 4096), 0.9937);
    }

    #[test]
    fn rates_are_those_after_coding() {
        let gigabits = [Transport::Ethernet1, Transport::RdmaQdr, Transport::IpoibFdr, Transport::RdmaEdr]
            .map(|transport| (transport.rate() * 8e-7).round() / 100.0);
        assert_eq!(gigabits, [1.0, 32.0, 54.55, 100.0]);
    }
}
