//! What [`super::super::definition`] cannot see: that books are kept small and that the quick way is taken where there is one.

use super::*;

/// A network of two resources of 10 bytes per second, with paths over the first, the second and both.
fn network() -> (Fluid, [Path; 3]) {
    let mut network = Fluid::default();
    let [one, other] = [Part::DeviceRead, Part::Network].map(|part| Use {
        resource: network.add(Resource::constant(10.0)),
        cost: 1.0,
        part,
    });
    let paths = [&[one][..], &[other], &[one, other]].map(|uses| network.add_path(Route::new(uses)));
    (network, paths)
}

/// Starts flows at the beginning, one in each slot.
fn start(network: &mut Fluid, specs: &[FlowSpec]) {
    for (slot, &spec) in specs.iter().enumerate() {
        network.start(Nanos::ZERO, FlowId { number: slot as u64 + 1, slot: slot as u32 }, spec);
    }
    network.settle(Nanos::ZERO, &mut Vec::new());
}

/// Lets all flows end and returns when each did.
fn run(network: &mut Fluid) -> Vec<(u64, f64)> {
    let mut ends = Vec::new();
    while let Some(now) = network.next_event() {
        let mut ended = Vec::new();
        network.completed(now, &mut ended);
        ends.extend(ended.iter().map(|each| (each.flow.number, now.as_seconds())));
        network.settle(now, &mut Vec::new());
    }
    ends
}

#[test]
fn flows_that_cross_one_resource_and_have_no_cap_are_settled_the_quick_way() {
    let (mut network, [one, other, both]) = network();
    start(&mut network, &[FlowSpec::new(one, 10, 0), FlowSpec::new(other, 10, 0)]);
    assert!(network.resources.iter().all(|shared| shared.entangled == 0));
    let (mut network, _) = self::network();
    let capped = FlowSpec { cap: Some((1.0, Part::Throttled)), ..FlowSpec::new(one, 10, 0) };
    start(&mut network, &[capped, FlowSpec::new(both, 10, 0)]);
    assert_eq!([0, 1].map(|at| network.resources[at].entangled), [2, 1]);
}

#[test]
fn of_two_resources_that_bind_alike_the_first_is_charged() {
    let (mut network, [.., both]) = network();
    start(&mut network, &[FlowSpec::new(both, 10, 0)]);
    let mut ended = Vec::new();
    network.completed(Nanos(1_000_000_000), &mut ended);
    assert_eq!(ended[0].parts, Parts::of(Part::DeviceRead, Nanos(1_000_000_000)));
}

#[test]
fn a_flow_that_is_cancelled_before_it_moves_leaves_the_others_as_they_are() {
    let (mut network, [one, ..]) = network();
    let ids = [1, 2].map(|number| FlowId { number, slot: number as u32 });
    ids.iter().for_each(|&id| network.start(Nanos::ZERO, id, FlowSpec::new(one, 10, 0)));
    assert_eq!(network.cancel(Nanos::ZERO, ids[0]).done, 0.0);
    network.settle(Nanos::ZERO, &mut Vec::new());
    assert_eq!(run(&mut network), [(2, 1.0)]);
}

#[test]
fn nothing_is_left_of_flows_that_have_ended() {
    let (mut network, [one, other, both]) = network();
    let watched = FlowSpec { watched: true, ..FlowSpec::new(both, 30, 0) };
    let capped = FlowSpec { cap: Some((1.0, Part::Throttled)), ..FlowSpec::new(one, 10, 0) };
    start(&mut network, &[watched, capped, FlowSpec::new(other, 10, 0)]);
    assert_eq!(run(&mut network), [(3, 2.0), (1, 4.222_222_223), (2, 10.0)]);
    for shared in &network.resources {
        assert!(shared.members.is_empty() && shared.ends.is_empty());
        assert_eq!((shared.load, shared.entangled, shared.watched, shared.bound), (0, 0, 0, 0));
        assert_eq!((shared.counter, shared.level), (0.0, 0.0), "sums of floats begin anew");
    }
}
