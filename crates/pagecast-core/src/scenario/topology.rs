//! Reads the keys of `[network]`, and those that each link has.

use super::document::shorten;
use super::hosts::{Hosts, find_host};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::keys::Keyed;
use crate::machine::{LinkParameters, Shape, TOPOLOGIES, Topology, Transport};
use crate::units::BytesPerSecond;

/// The table `[network]`, if there is one.
///
/// # Errors
/// If it is no table, or has unknown keys.
pub fn network_of<'a>(root: &Fields<'a>) -> Result<Option<Fields<'a>>, ScenarioError> {
    let open = |node| Fields::open(node, Topology::SCHEMA, "[network]".to_owned());
    root.node("network").map(open).transpose()
}

/// Keys of networks of one shape.
const OF_SHAPES: [&str; 10] = [
    "topology",
    "leaves",
    "spines",
    "k",
    "topo_parameters",
    "uplink_rate",
    "rate",
    "latency",
    "sharing",
    "transport",
];

/// Refuses the keys of networks of one shape, and others, in one that has none.
///
/// # Errors
/// The first of them.
pub fn refuse_shape(network: &Fields<'_>, why: &str, others: &[&str]) -> Result<(), ScenarioError> {
    match OF_SHAPES.iter().chain(others).find(|key| network.node(key).is_some()) {
        None => Ok(()),
        Some(key) => {
            let what = format!("`{key}` is of a network of one shape, and {why}");
            Err(network.place(key).error(what, format!("remove `{key}`")))
        }
    }
}

/// The hosts of a network.
///
/// # Errors
/// If `hosts` names one that is not there.
pub fn members(network: &Fields<'_>, names: &Hosts<'_>) -> Result<Vec<usize>, ScenarioError> {
    let at = network.place("hosts");
    match network.get::<Vec<String>>("hosts")? {
        None => Ok((0..names.len()).collect()),
        Some(named) => named.iter().map(|name| find_host(name, names, at)).collect(),
    }
}

/// A link has a rate, and packets larger than their headers.
///
/// # Errors
/// If it does not.
pub fn check(fields: &Fields<'_>) -> Result<(), ScenarioError> {
    let parameters: LinkParameters = fields.read()?;
    if parameters.transport.is_none() {
        fields.need_here::<BytesPerSecond>("rate")?;
    }
    check_mtu(fields)
}

/// Packets are larger than their headers.
///
/// # Errors
/// If they are not.
pub fn check_mtu(fields: &Fields<'_>) -> Result<(), ScenarioError> {
    let parameters: LinkParameters = fields.read()?;
    let headers = Transport::inside(parameters.transport);
    if let Some(mtu) = parameters.mtu().filter(|&mtu| mtu <= headers) {
        let what = format!("`mtu` is {mtu} B, which its headers take");
        return Err(fields.place("mtu").error(what, "write for example mtu = \"1500 B\""));
    }
    Ok(())
}

/// The keys of each shape beside `topology`.
const KEYS: [(&str, &[&str]); 5] = [
    ("star", &[]),
    ("two-level", &["leaves", "spines"]),
    ("fat-tree", &["k", "topo_parameters"]),
    ("mesh", &["topo_parameters"]),
    ("torus", &["topo_parameters"]),
];

/// The shape of a network for so many hosts.
///
/// # Errors
/// A shape without its keys, or with those of another.
pub fn read_shape(fields: &Fields<'_>, hosts: u32) -> Result<Shape, ScenarioError> {
    fields.need_here::<String>("topology")?;
    let word = fields.word("topology", &TOPOLOGIES)?.expect("it is there");
    let (_, own) = KEYS.into_iter().find(|(name, _)| *name == word).expect("all words have keys");
    for (_, keys) in KEYS {
        if let Some(key) = keys.iter().find(|key| !own.contains(key) && fields.node(key).is_some()) {
            let what = format!("a network that is a {word} has no `{key}`");
            return Err(fields.place(key).error(what, "remove it, or name another `topology`"));
        }
    }
    Ok(match word {
        "star" => Shape::star(hosts.max(1)),
        "two-level" => {
            Shape::two_level(hosts.max(1), fields.need_here("leaves")?, fields.need_here("spines")?)
        }
        "fat-tree" if fields.node("topo_parameters").is_none() => {
            let k: u32 = fields.need_here("k")?;
            if !k.is_multiple_of(2) {
                let what = format!("`k` is {k}, but must be even");
                return Err(fields.place("k").error(what, format!("write k = {}", k + 1)));
            }
            Shape::fat_tree(k)
        }
        _ => {
            let text: String = fields.need_here("topo_parameters")?;
            let shape = if word == "fat-tree" {
                Shape::tree_of(&text)
            } else {
                Shape::grid_of(&text, word == "torus")
            };
            shape.ok_or_else(|| {
                let example = if word == "fat-tree" { "2;4,4;1,2;1,2" } else { "4,4,2" };
                let what = format!("`topo_parameters` \"{}\" are none of a {word}", shorten(&text));
                fields.place("topo_parameters").error(what, format!("write for example \"{example}\""))
            })?
        }
    })
}
