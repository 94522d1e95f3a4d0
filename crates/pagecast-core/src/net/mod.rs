//! Turns links between hosts into resources: a rate that both directions share, and a latency before each message.

use crate::flow::{Network, Resource, Route, Use};
use crate::machine::Link;
use crate::result::Part;

/// Adds a link to the network.
pub(crate) fn link(link: &Link, network: &mut impl Network) -> Route {
    let resource = network.add(Resource::constant(link.rate.0));
    Route::new(&[Use { resource, cost: 1.0, part: Part::Network }])
}
