//! Checks the progress of flows between two steps, which no scenario sees.

use super::*;
use crate::flow::Use;

#[test]
fn between_two_steps_a_flow_moves_on_at_its_rate_and_not_beyond_its_end() {
    let mut network = Stepped::default();
    let resource = network.add(Resource::constant(10.0));
    let path = network.add_path(Route::new(&[Use { resource, cost: 1.0, part: Part::Network }]));
    let flow = FlowId { number: 1, slot: 0 };
    network.start(Nanos::ZERO, flow, FlowSpec::new(path, 10, 7));
    network.settle(Nanos::ZERO, &mut Vec::new());
    let done = [0, 250_000_000, 2_000_000_000].map(|now| network.progress(Nanos(now), flow).done);
    assert_eq!(done, [0.0, 2.5, 10.0]);
    let half_way = Nanos(500_000_000);
    network.settle(half_way, &mut Vec::new());
    assert_eq!(network.progress(half_way, flow), Progress { flow, tag: 7, done: 5.0, rate: 10.0 });
    assert_eq!(network.progress(Nanos(750_000_000), flow).done, 7.5);
}

#[test]
fn news_are_of_watched_flows_whose_rate_has_changed() {
    let mut network = Stepped::default();
    let resource = network.add(Resource::constant(10.0));
    let path = network.add_path(Route::new(&[Use { resource, cost: 1.0, part: Part::Network }]));
    let watched = FlowSpec { watched: true, ..FlowSpec::new(path, 10, 7) };
    let news = |network: &mut Stepped, now| {
        let mut changed = Vec::new();
        network.settle(Nanos(now), &mut changed);
        changed.iter().map(|each| each.rate).collect::<Vec<_>>()
    };
    network.start(Nanos::ZERO, FlowId { number: 1, slot: 0 }, watched);
    assert_eq!(news(&mut network, 0), [10.0]);
    assert!(news(&mut network, 1_000_000).is_empty());
    network.start(Nanos(2_000_000), FlowId { number: 2, slot: 1 }, FlowSpec::new(path, 10, 8));
    assert_eq!(news(&mut network, 2_000_000), [5.0]);
}
