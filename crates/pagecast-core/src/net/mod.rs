//! Links between hosts: a rate that both directions share, and a latency that whoever sends waits for.

use crate::flow::{Network, Path, Resource, Use};
use crate::machine::Link;
use crate::result::Part;

/// Adds a link to the network.
pub(crate) fn link(link: &Link, network: &mut impl Network) -> Path {
    let resource = network.add(Resource::constant(link.rate.0));
    Path::new(&[Use { resource, cost: 1.0, part: Part::Network }])
}
