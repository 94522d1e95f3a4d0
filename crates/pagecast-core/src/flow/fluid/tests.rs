//! Checks that books are kept small and that the quick way is taken if there is one, which [`super::super::definition`] cannot see.

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

#[test]
fn after_idle_time_a_limiter_lets_bytes_pass_at_once() {
    const MB: u64 = 1_000_000;
    let mut network = Fluid::default();
    let limited = Resource { burst: Nanos(1_000_000_000), ..Resource::constant(10e6) };
    let part = Part::DeviceWrite;
    let resource = network.add(limited);
    let path = network.add_path(Route::new(&[Use { resource, cost: 1.0, part }]));
    let mut at = |seconds: f64, bytes: u64, number: u64| {
        let now = Nanos((seconds * 1e9) as u64);
        network.start(now, FlowId { number, slot: 0 }, FlowSpec::new(path, bytes, 0));
        network.settle(now, &mut Vec::new());
        let (_, end) = run(&mut network)[0];
        (end * 1e3).round() / 1e3
    };
    assert_eq!(at(0.0, 30 * MB, 1), 2.0, "10 MB at once, 20 in 2 s");
    assert_eq!(at(2.5, 30 * MB, 2), 5.0, "half a second was idle");
    assert_eq!(at(5.01, 30 * MB, 3), 8.0, "hardly any time was");
    assert_eq!(at(9.0, 4 * MB, 4), 9.0, "all at once, and 6 MB are left");
    assert_eq!(at(9.1, 10 * MB, 5), 9.4);
}

/// A limiter of 10 MB/s that gives out 2 MB every 200 ms, beginning with the first byte after idle time.
#[test]
fn at_a_beat_bytes_pass_at_once_until_it_is_used_up() {
    const MB: u64 = 1_000_000;
    let mut network = Fluid::default();
    let limited = Resource { interval: Nanos(200_000_000), ..Resource::constant(10e6) };
    let part = Part::DeviceWrite;
    let resource = network.add(limited);
    let path = network.add_path(Route::new(&[Use { resource, cost: 1.0, part }]));
    let mut at = |seconds: f64, bytes: u64, number: u64| {
        let now = Nanos((seconds * 1e9) as u64);
        network.start(now, FlowId { number, slot: 0 }, FlowSpec::new(path, bytes, 0));
        network.settle(now, &mut Vec::new());
        let (_, end) = run(&mut network)[0];
        (end * 1e3).round() / 1e3
    };
    assert_eq!(at(0.0, MB, 1), 0.0);
    assert_eq!(at(0.1, 2 * MB, 2), 0.2, "1 MB at once, the rest at the next beat");
    assert_eq!(at(0.21, 4 * MB, 3), 0.6, "1 MB, 2 MB and 1 MB");
    assert_eq!(at(5.05, 3 * MB, 4), 5.25, "the beat had ended, and begins anew");
}
