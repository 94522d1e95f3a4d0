//! Holds segments against flows: the same transfers over the same network at both levels.

use std::path::Path;

use proptest::prelude::*;

use crate::flow::fluid::Fluid;
use crate::flow::{FlowId, Network};
use crate::machine::Machine;
use crate::net::{Moved, Net, Segments};
use crate::scenario::load_machine;
use crate::units::{Bytes, Nanos};

/// A message from one host to another on a connection of its own.
#[derive(Clone, Debug)]
pub(super) struct Transfer {
    pub from: usize,
    pub to: usize,
    pub bytes: u64,
}

const HOST: &str = "cores = 1, memory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' }";

/// A machine of so many hosts, with keys of its network.
pub(super) fn machine(hosts: usize, network: &str) -> Machine {
    with_nic(hosts, "", network)
}

/// The same with more keys of the first host.
fn with_nic(hosts: usize, nic: &str, network: &str) -> Machine {
    let keys = |at| if at == 0 { nic } else { "" };
    let hosts: String = (0..hosts).map(|at| format!("host.h{at} = {{ {HOST}{} }}\n", keys(at))).collect();
    let text = format!("{hosts}network = {{ {network} }}");
    load_machine(text.as_bytes(), "x.toml", Path::new(""), Path::new("")).expect("the machine is right")
}

/// How long each transfer takes as a flow.
pub(super) fn by_flows(machine: &Machine, transfers: &[Transfer]) -> Vec<f64> {
    let mut network = Fluid::default();
    let mut net = Net::new(machine, &mut network);
    let mut latencies = Vec::new();
    for (slot, each) in (0..).zip(transfers) {
        let route = net.join((each.from, each.to), None, &mut network).expect("there is a way");
        network.start(Nanos::ZERO, FlowId { number: slot, slot: slot as u32 }, route.flow(each.bytes));
        latencies.push(route.latency);
    }
    let mut took = vec![0.0; transfers.len()];
    let (mut ended, mut changed) = (Vec::new(), Vec::new());
    network.settle(Nanos::ZERO, &mut changed);
    while let Some(now) = network.next_event() {
        network.completed(now, &mut ended);
        for completion in ended.drain(..) {
            let at = completion.flow.slot as usize;
            took[at] = (now + latencies[at]).as_seconds();
        }
        network.settle(now, &mut changed);
    }
    took
}

/// How long each takes by segments over so large device buffers, on new connections or on those whose windows are open.
pub(super) fn by_segments(
    machine: &Machine,
    transfers: &[Transfer],
    device_buffer: Bytes,
    is_open: bool,
) -> Vec<f64> {
    let mut network = Fluid::default();
    let mut net = Net::new(machine, &mut network);
    let mut segments = Segments::new(device_buffer);
    for (at, each) in (0..).zip(transfers) {
        net.join((each.from, each.to), None, &mut network).expect("there is a way");
        segments.open(net.segment_way(each.from, each.to, None));
        if is_open {
            segments.open_window(at);
        }
        segments.send(Nanos::ZERO, at, each.bytes);
    }
    let mut took = vec![0.0; transfers.len()];
    while let Some(now) = segments.next_event() {
        while let Some(moved) = segments.advance(now) {
            if let Moved::Arrived(at) = moved {
                took[at as usize] = now.as_seconds();
            }
        }
    }
    let most = segments.used().iter().map(|used| used.bytes).max().unwrap_or(0);
    assert!(most <= transfers.iter().map(|each| each.bytes).sum(), "no link carries a segment twice");
    took
}

/// A number of hosts, keys of the first one, and those of a network.
fn networks() -> impl Strategy<Value = (usize, &'static str, String)> {
    let shapes = prop_oneof![
        (2_usize..6).prop_map(|hosts| (hosts, "topology = 'star'")),
        (2_usize..6).prop_map(|hosts| (hosts, "topology = 'two-level', leaves = 2, spines = 2")),
        Just((6, "topology = 'torus', topo_parameters = '3,2'")),
        Just((4, "topology = 'mesh', topo_parameters = '2,2'")),
        Just((4, "topology = 'fat-tree', k = 4, uplink_rate = '60 MB/s'")),
    ];
    let wires = prop_oneof![
        Just("transport = '1gbe'"),
        Just("transport = '1gbe', mtu = '9000 B'"),
        Just("rate = '125 MB/s'"),
        Just("transport = '10gbe', mtu = '9000 B', sharing = 'shared'"),
        Just("rate = '200 MB/s', mtu = '9000 B', tcp_window = '64 KiB'"),
        Just("transport = 'rdma-qdr', sharing = 'fatpipe'"),
    ];
    let nic = prop_oneof![Just(""), Just(", nic.rate = '80 MB/s'")];
    (shapes, wires, 0_u32..30, nic).prop_map(|((hosts, shape), wires, latency, nic)| {
        (hosts, nic, format!("{shape}, {wires}, latency = '{latency} us'"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Long transfers take the same time at both levels. Those are long beside the device buffers of their way: until these are full a fast
    /// link takes what a slow one behind it cannot.
    #[test]
    fn long_transfers_are_within_3_percent(
        (hosts, nic, network) in networks(),
        pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5),
    ) {
        let machine = with_nic(hosts, nic, &network);
        let pairs = pairs.iter().map(|(from, to)| (from.index(hosts), to.index(hosts)));
        let transfers: Vec<_> = pairs
            .filter(|(from, to)| from != to)
            .map(|(from, to)| Transfer { from, to, bytes: 24 << 20 })
            .collect();
        let segments = by_segments(&machine, &transfers, Bytes(64 << 10), false);
        let flows = by_flows(&machine, &transfers);
        for ((transfer, flow), segment) in transfers.iter().zip(flows).zip(segments) {
            let error = (flow - segment) / segment;
            prop_assert!(error.abs() < 0.03, "{transfer:?}: {flow} s as a flow, {segment} s in segments");
        }
    }
}

fn one(keys: &str, bytes: u64, is_open: bool) -> f64 {
    let machine = machine(2, &format!("topology = 'star', {keys}"));
    by_segments(&machine, &[Transfer { from: 0, to: 1, bytes }], Bytes(1 << 20), is_open)[0]
}

#[test]
fn a_segment_is_stored_and_forwarded() {
    let keys = "rate = '1 GB/s', mtu = '1500 B', latency = '10 us'";
    // 1000 B of a message, 52 of IP and TCP, 38 of Ethernet, over two links.
    assert_eq!(one(keys, 1000, false), 22.18e-6);
    // The second segment follows the first at each link.
    assert_eq!(one(keys, 2896, false), 24.614e-6);
}

#[test]
fn a_window_is_all_that_moves_in_a_round_trip() {
    let keys = "rate = '1 GB/s', mtu = '9000 B', latency = '1 ms', tcp_window = '100 kB'";
    let rate = 10e6 / one(keys, 10_000_000, false);
    assert!((rate / (100e3 / 4e-3) - 1.0).abs() < 0.05, "{rate}");
}

#[test]
fn a_first_message_waits_for_slow_start() {
    let keys = "transport = '10gbe', latency = '100 us'";
    let [first, later] = [false, true].map(|is_open| one(keys, 1 << 20, is_open));
    // 10, 20, 40 ... segments: 1 MiB needs more than six round trips of 400 us.
    assert!(first > 2.4e-3 && later < 1.2e-3, "{first} {later}");
}
