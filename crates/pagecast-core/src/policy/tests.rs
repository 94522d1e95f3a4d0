//! Checks the numbers of transfers, and the order in which commands are carried out.

use super::*;
use crate::flow::fluid::Fluid;
use crate::flow::{Network, Resource, Route, Use};

fn transfer() -> FlowSpec {
    let mut network = Fluid::default();
    let resource = network.add(Resource::constant(1.0));
    FlowSpec::new(network.add_path(Route::new(&[Use { resource, cost: 1.0, part: Part::Network }])), 1, 0)
}

#[test]
fn transfers_are_numbered_for_good_and_take_slots_from_0_on() {
    let mut actions = Actions::default();
    let flows = [(); 3].map(|()| actions.start(transfer()));
    assert_eq!(flows.map(|flow| (flow.number, flow.slot)), [(1, 0), (2, 1), (3, 2)]);
}

#[test]
fn a_slot_is_used_again_when_its_transfer_has_ended() {
    let mut actions = Actions::default();
    let first = actions.start(transfer());
    actions.start(transfer());
    actions.release(first);
    let third = actions.start(transfer());
    assert_eq!((third.number, third.slot), (3, 0));
}

#[test]
fn commands_are_taken_in_the_order_in_which_they_were_given() {
    let mut actions = Actions::default();
    let flow = actions.start(transfer());
    actions.set_cap(flow, None);
    actions.shorten(flow, 3);
    actions.cancel(flow);
    actions.give_way(7);
    let expected = [
        Command::Start(flow, transfer()),
        Command::SetCap(flow, None),
        Command::Shorten(flow, 3),
        Command::Cancel(flow),
        Command::GiveWay(7),
    ];
    assert_eq!(actions.drain().collect::<Vec<_>>(), expected);
    assert_eq!(actions.take(), []);
}
