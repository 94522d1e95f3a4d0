//! Reads `<cluster>` and `<cabinet>`: many hosts of one kind, connected by a centre, a torus or a fat tree.

use super::read::Reader;
use super::xml::Element;
use super::{LinkId, Named, PointKind, Routing, Shaped, Spoke, one_way};
use crate::error::ScenarioError;
use crate::machine::{LinkParameters, LinkSharing, Shape};
use crate::nearest::shorten;
use crate::units::Nanos;

use rustc_hash::FxHashMap;

/// More hosts of a cluster would only fill the memory.
const MOST_HOSTS: usize = 1 << 20;

/// Reads a cluster as a zone of its own.
///
/// # Errors
/// Whatever is wrong in it.
pub(super) fn read_cluster(
    reader: &mut Reader<'_>,
    element: &Element,
    parent: Option<usize>,
) -> Result<(), ScenarioError> {
    let id = reader.need(element, "id")?;
    let rate = reader.bandwidth(element, "bw")?;
    let sharing = reader.sharing(element, "sharing_policy", LinkSharing::SplitDuplex)?;
    let latency = reader.latency(element, "lat")?;
    let link = LinkParameters { sharing, ..LinkParameters::of_rate(rate, latency) };
    let limiter = match element.get("limiter_link") {
        None => None,
        Some(_) => {
            let rate = reader.bandwidth(element, "limiter_link")?;
            Some(LinkParameters {
                sharing: LinkSharing::Shared,
                ..LinkParameters::of_rate(rate, Nanos::ZERO)
            })
        }
    };
    let names = host_names(reader, element)?;
    let shape = shape(reader, element, names.len())?;
    let routing = match shape {
        None => Routing::Star(FxHashMap::default()),
        Some(Topology::Shape(shape)) => Routing::Shaped(Box::new(Shaped {
            name: id.to_owned(),
            shape,
            places: FxHashMap::default(),
            link: one_way(link),
            is_split: sharing == LinkSharing::SplitDuplex,
            limiter,
        })),
        Some(Topology::Other(word)) => Routing::Other(word),
    };
    let zone = reader.add_zone(element, parent, routing)?;
    let backbone = match (element.get("bb_bw"), element.get("bb_lat")) {
        (None, None) => None,
        _ => {
            let sharing = reader.sharing(element, "bb_sharing_policy", LinkSharing::Shared)?;
            let (rate, latency) = (reader.bandwidth(element, "bb_bw")?, reader.latency(element, "bb_lat")?);
            let parameters = LinkParameters { sharing, ..LinkParameters::of_rate(rate, latency) };
            match reader.add_link(element, &format!("{id}_backbone"), parameters)? {
                Named::One(link) => Some(LinkId::Listed(link)),
                Named::Split { .. } => {
                    let what = "`bb_sharing_policy` cannot be SPLITDUPLEX";
                    return Err(reader.blame(element, what, "write SHARED or FATPIPE"));
                }
            }
        }
    };
    for (place, (number, name)) in (0..).zip(names) {
        let host = reader.add_point(element, &name, PointKind::Host, Some(zone))?;
        match &mut reader.platform.zones[zone].routing {
            Routing::Shaped(shaped) => drop(shaped.places.insert(host, place)),
            Routing::Star(_) => {
                let name = format!("{id}_link_{number}");
                let limiter = match limiter {
                    None => None,
                    Some(limiter) => match reader.add_link(element, &format!("{name}_limiter"), limiter)? {
                        Named::One(link) => Some(link),
                        Named::Split { .. } => unreachable!("it is shared"),
                    },
                };
                let (up, down) = match reader.add_link(element, &name, link)? {
                    Named::One(link) => (link, link),
                    Named::Split { up, down } => (up, down),
                };
                let listed = |link: Option<usize>| link.map(LinkId::Listed);
                let there = [listed(limiter), listed(Some(up)), backbone];
                let back = [backbone, listed(Some(down)), listed(limiter)];
                let [up, down] = [there, back].map(|links| links.into_iter().flatten().collect());
                reader.add_spoke(element, zone, host, Spoke { up, down })?;
            }
            _ => {}
        }
    }
    let text = |key| element.get(key).unwrap_or("");
    let router = element
        .get("router_id")
        .map_or_else(|| format!("{}{id}_router{}", text("prefix"), text("suffix")), str::to_owned);
    reader.add_point(element, &router, PointKind::Router, Some(zone))?;
    Ok(())
}

/// The numbers of a `radical` such as "0-3,7", and the names of their hosts.
fn host_names(reader: &Reader<'_>, element: &Element) -> Result<Vec<(u64, String)>, ScenarioError> {
    let text = reader.need(element, "radical")?;
    let wrong = |what: String| Err(reader.blame(element, what, "write for example radical=\"0-15\""));
    let mut numbers = Vec::new();
    for group in text.split(',') {
        let ends: Option<Vec<u64>> = group.split('-').map(|end| end.trim().parse().ok()).collect();
        let (first, last) = match ends.as_deref() {
            Some(&[only]) => (only, only),
            Some(&[first, last]) if first <= last => (first, last),
            _ => return wrong(format!("`radical` is \"{}\", which is no list of numbers", shorten(text))),
        };
        if last - first >= (MOST_HOSTS - numbers.len()) as u64 {
            return wrong(format!("`radical` names more than {MOST_HOSTS} hosts"));
        }
        numbers.extend(first..=last);
    }
    let part = |key| element.get(key).unwrap_or("");
    let name = |number: u64| format!("{}{number}{}", part("prefix"), part("suffix"));
    Ok(numbers.into_iter().map(|number| (number, name(number))).collect())
}

enum Topology {
    Shape(Shape),
    Other(String),
}

/// The topology of a cluster; nothing if it is flat.
fn shape(reader: &Reader<'_>, element: &Element, hosts: usize) -> Result<Option<Topology>, ScenarioError> {
    let topology = element.get("topology").unwrap_or("FLAT");
    let parameters = || reader.need(element, "topo_parameters");
    let shape = match topology {
        "FLAT" => return Ok(None),
        "TORUS" => Shape::grid_of(parameters()?, true),
        "FAT_TREE" => Shape::tree_of(parameters()?),
        "DRAGONFLY" => return Ok(Some(Topology::Other("DRAGONFLY".to_owned()))),
        other => {
            let what = format!("`topology` \"{}\" is not understood", shorten(other));
            return Err(reader.blame(element, what, "write FLAT, TORUS or FAT_TREE"));
        }
    };
    let Some(shape) = shape else {
        let what = format!("`topo_parameters` \"{}\" are none of a {topology}", shorten(parameters()?));
        let example = if topology == "TORUS" { "4,4,2" } else { "2;4,4;1,2;1,2" };
        return Err(reader.blame(element, what, format!("write for example topo_parameters=\"{example}\"")));
    };
    if shape.places() != hosts as u64 {
        let what = format!("the {topology} has {} places for {hosts} hosts", shape.places());
        return Err(reader.blame(element, what, "make `radical` and `topo_parameters` agree"));
    }
    if topology == "FAT_TREE" && element.get("limiter_link").is_some() {
        let what = "`limiter_link` of a FAT_TREE is not understood";
        return Err(reader.blame(element, what, "remove it"));
    }
    Ok(Some(Topology::Shape(shape)))
}

/// A host of a cabinet, and its links.
pub(super) struct Cabinet {
    pub host: usize,
    pub up: LinkId,
    pub down: LinkId,
}

impl Cabinet {
    /// Reads all hosts of a cabinet, which is in a zone.
    ///
    /// # Errors
    /// Whatever is wrong in it.
    pub fn read(reader: &mut Reader<'_>, element: &Element, zone: usize) -> Result<Vec<Self>, ScenarioError> {
        let (rate, latency) = (reader.bandwidth(element, "bw")?, reader.latency(element, "lat")?);
        let link =
            LinkParameters { sharing: LinkSharing::SplitDuplex, ..LinkParameters::of_rate(rate, latency) };
        let mut all = Vec::new();
        for (_, name) in host_names(reader, element)? {
            let host = reader.add_point(element, &name, PointKind::Host, Some(zone))?;
            let Named::Split { up, down } = reader.add_link(element, &format!("link_{name}"), link)? else {
                unreachable!("it is a split-duplex link")
            };
            all.push(Self { host, up: LinkId::Listed(up), down: LinkId::Listed(down) });
        }
        Ok(all)
    }
}
