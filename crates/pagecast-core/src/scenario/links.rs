//! Reads what connects hosts: `[link.NAME]`, `[switch.NAME]`, `[[route]]`, `[network]` and `[host.NAME.nic]`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::document::{Node, Place, shorten};
use super::hosts::{Hosts, find_host};
use super::machine::Draft;
use super::table::Fields;
use super::topology::{check, members, network_of, read_shape, refuse_shape};
use crate::error::ScenarioError;
use crate::keys::Keyed;
use crate::machine::{Link, LinkParameters, NetworkLevel, Route, Switch, Topology};
use crate::nearest::hint;

/// The switches, in the order of the file.
///
/// # Errors
/// One with the name of a host, or whatever else is wrong in one.
pub fn read_switches(root: &Fields<'_>, hosts: &Hosts<'_>) -> Result<Vec<Switch>, ScenarioError> {
    let read = |(name, node): (&str, &Node)| {
        if hosts.contains_key(name) {
            let what = format!("`{}` is a host and a switch", shorten(name));
            return Err(node.at.error(what, "give the switch another name"));
        }
        let fields = Fields::open(node, Switch::SCHEMA, format!("[switch.{}]", shorten(name)))?;
        Ok(Switch { name: name.to_owned(), ..fields.read()? })
    };
    root.named("switch")?.into_iter().map(read).collect()
}

/// The links, in the order of the file.
///
/// # Errors
/// A link that does not join two hosts or switches, or whatever else is wrong in one.
pub fn read_links(
    root: &Fields<'_>,
    hosts: &Hosts<'_>,
    switches: &[Switch],
) -> Result<Vec<Link>, ScenarioError> {
    let end = |name: &str, at: &Place| match switches.iter().position(|switch| switch.name == name) {
        Some(switch) => Ok(hosts.len() + switch),
        None => find_host(name, hosts, at),
    };
    let read = |(name, node): (&str, &Node)| {
        let fields = Fields::open(node, Link::SCHEMA, format!("[link.{}]", shorten(name)))?;
        check(&fields)?;
        let Some(ends) = fields.get::<Vec<String>>("between")? else {
            return Ok(Link { name: name.to_owned(), between: None, ..fields.read()? });
        };
        let at = fields.place("between");
        let [one, other] = &ends[..] else {
            return Err(at.error(format!("`between` names {} hosts, but must name two", ends.len()), ""));
        };
        let between = (end(one, at)?, end(other, at)?);
        if between.0 == between.1 {
            let kind = if between.0 < hosts.len() { "host" } else { "switch" };
            let what = format!("the link connects {kind} `{}` with itself", shorten(one));
            return Err(at.error(what, "name two hosts"));
        }
        Ok(Link { name: name.to_owned(), between: Some(between), ..fields.read()? })
    };
    root.named("link")?.into_iter().map(read).collect()
}

/// The ways by hand, in the order of the file.
///
/// # Errors
/// A way that is there twice, of no link or of one with ends, or whatever else is wrong in one.
pub fn read_routes(
    root: &Fields<'_>,
    hosts: &Hosts<'_>,
    links: &[Link],
) -> Result<Vec<Route>, ScenarioError> {
    let by_name: FxHashMap<&str, usize> = links.iter().zip(0..).map(|(link, at)| (&*link.name, at)).collect();
    let mut known = FxHashSet::default();
    let read = |node: &Node| {
        let fields = Fields::open(node, Route::SCHEMA, "[[route]]".to_owned())?;
        let host = |key| find_host(&fields.need::<String>(key)?, hosts, fields.place(key));
        let ends = (host("from")?, host("to")?);
        if ends.0 == ends.1 {
            let what =
                format!("the route leads from host `{}` to itself", shorten(&fields.need::<String>("to")?));
            return Err(fields.place("to").error(what, "name two hosts"));
        }
        if !known.insert(ends) {
            return Err(fields
                .at
                .error("there are two routes from and to these hosts", "remove one of them"));
        }
        let at = fields.place("links");
        let named: Vec<String> = fields.need("links")?;
        if named.is_empty() {
            return Err(at.error("`links` is empty", "name one at least"));
        }
        let link = |name: &String| match by_name.get(&**name) {
            None => {
                let remedy = hint(name, links.iter().map(|link| &*link.name), "links");
                Err(at.error(format!("there is no link `{}`", shorten(name)), remedy))
            }
            Some(&link) if links[link].between.is_some() => {
                let what = format!(
                    "the link `{}` has `between`, so it is no part of a route by hand",
                    shorten(name)
                );
                Err(at.error(what, "remove `between`, or the route"))
            }
            Some(&link) => Ok(link),
        };
        let links = named.iter().map(link).collect::<Result<_, _>>()?;
        Ok(Route { ends, links, ..fields.read()? })
    };
    root.list("route")?.iter().map(read).collect()
}

/// The network interface of a host, if it has a limit of its own.
///
/// # Errors
/// Whatever is wrong in it.
pub fn read_nic(host: &Fields<'_>) -> Result<Option<LinkParameters>, ScenarioError> {
    let Some(fields) = host.inner("nic", LinkParameters::SCHEMA)? else { return Ok(None) };
    check(&fields)?;
    Ok(Some(fields.read()?))
}

/// The network of one shape, if there is one; its hosts get their places.
///
/// # Errors
/// A shape without its keys or with too few places, or whatever else is wrong in it.
pub fn read_topology(
    root: &Fields<'_>,
    hosts: &mut [Draft<'_>],
    names: &Hosts<'_>,
) -> Result<Option<Topology>, ScenarioError> {
    let Some(fields) = network_of(root)? else { return Ok(None) };
    let network: Topology = fields.read()?;
    if network.level == NetworkLevel::Flow && fields.node("device_buffer").is_some() {
        let what = "`device_buffer` is of segments, and messages are flows here";
        return Err(fields.place("device_buffer").error(what, "add level = \"segment\", or remove it"));
    }
    let is_by_hand = fields.node("topology").is_none() && fields.node("level").is_some();
    if is_by_hand && fields.node("platform").is_none() {
        refuse_shape(&fields, "this one has no `topology`", &["hosts", "mtu", "tcp_window"])?;
    }
    if is_by_hand || fields.node("platform").is_some() {
        let is_needed = network.level != NetworkLevel::Flow;
        let Topology { level, device_buffer, .. } = network;
        return Ok(is_needed.then(|| Topology { level, device_buffer, ..Topology::default() }));
    }
    let members = members(&fields, names)?;
    let at = fields.place("hosts");
    for (place, &host) in (0..).zip(&members) {
        if hosts[host].host.place.replace(place).is_some() {
            let what = format!("`hosts` names `{}` twice", shorten(&hosts[host].host.name));
            return Err(at.error(what, "remove it once"));
        }
    }
    let shape = read_shape(&fields, members.len() as u32)?;
    if shape.places() < members.len() as u64 {
        let what = format!("the network has {} places for {} hosts", shape.places(), members.len());
        return Err(fields.place("topology").error(what, "make it larger, or name fewer `hosts`"));
    }
    if shape.places() > MOST_PLACES {
        let what = format!("the network has {} places", shape.places());
        return Err(fields.place("topology").error(what, format!("{MOST_PLACES} are the most")));
    }
    check(&fields)?;
    Ok(Some(Topology { shape: Some(shape), ..network }))
}

/// The most places of a network.
const MOST_PLACES: u64 = 1 << 24;

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::machine::{LinkSharing, Machine, Shape};
    use crate::scenario::testing::{HOSTS, PROCESS, read};

    fn machine(set: &[&str]) -> Result<Machine, String> {
        read(&format!("{HOSTS}\n{PROCESS}"), set).map(|scenario| scenario.machine)
    }

    fn refused(set: &[&str]) -> String {
        machine(set).expect_err("it should be refused")
    }

    #[test]
    fn a_link_joins_two_hosts_or_switches() {
        let refused = |set| refused(&[set]);
        assert_snapshot!(refused("link.lan.between=['client']"), @"--set link.lan.between=['client']: `between` names 1 hosts, but must name two");
        assert_snapshot!(refused("link.lan.between=['client','client']"), @"--set link.lan.between=['client','client']: the link connects host `client` with itself; name two hosts");
        assert_snapshot!(refused("link.lan.between=['client','srver']"), @"--set link.lan.between=['client','srver']: there is no host `srver`; did you mean `server`?");
        assert_snapshot!(refused("switch.client={}"), @"--set switch.client={}: `client` is a host and a switch; give the switch another name");
        let machine =
            machine(&["switch.core={}", "link.up={between=['server','core'],rate='1 GB/s'}"]).unwrap();
        assert_eq!(machine.links[1].between, Some((1, 2)));
        assert_eq!(machine.links[1].parameters.sharing, LinkSharing::SplitDuplex);
    }

    #[test]
    fn a_link_has_a_rate_or_a_transport() {
        let link = |keys| format!("link.up={{between=['server','client'],{keys}}}");
        let mount = "host.client.mount./remote.link=lan";
        let read = |keys| machine(&[mount, &link(keys)]).map(|machine| machine.links[1].parameters);
        assert_eq!(read("transport='10gbe'").map(|link| (link.rate(), link.mtu())), Ok((1.25e9, Some(1500))));
        assert_snapshot!(read("mtu='1500 B'").unwrap_err(), @r#"--set link.up={between=['server','client'],mtu='1500 B'}: [link.up] has no `rate`; add for example rate = "465 MB/s""#);
        assert_snapshot!(read("rate='1 GB/s',mtu='52 B'").unwrap_err(), @r#"--set link.up={between=['server','client'],rate='1 GB/s',mtu='52 B...: `mtu` is 52 B, which its headers take; write for example mtu = "1500 B""#);
        assert_snapshot!(refused(&["host.client.nic.latency='1 us'"]), @r#"--set host.client.nic.latency='1 us': [host.client.nic] has no `rate`; add for example rate = "465 MB/s""#);
    }

    #[test]
    fn a_route_leads_over_links_that_join_nothing() {
        let read = |keys: &str| {
            machine(&["link.wire={rate='1 GB/s'}", &format!("route=[{keys}]")]).map(|machine| machine.routes)
        };
        let route = "{from='client',to='server',links=['wire','wire']}";
        assert_eq!(read(route), Ok(vec![Route { ends: (0, 1), links: vec![1, 1], symmetrical: true }]));
        let refused = |keys: &str| read(keys).expect_err("it should be refused");
        assert_snapshot!(refused(&format!("{route},{route}")), @"--set route=[{from='client',to='server',links=['wire','wire']},{fr...: there are two routes from and to these hosts; remove one of them");
        assert_snapshot!(refused("{from='client',to='client',links=['wire']}"), @"--set route=[{from='client',to='client',links=['wire']}]: the route leads from host `client` to itself; name two hosts");
        assert_snapshot!(refused("{from='client',to='server',links=[]}"), @"--set route=[{from='client',to='server',links=[]}]: `links` is empty; name one at least");
        assert_snapshot!(refused("{from='client',to='server',links=['wir']}"), @"--set route=[{from='client',to='server',links=['wir']}]: there is no link `wir`; did you mean `wire`?");
        assert_snapshot!(refused("{from='client',to='server',links=['lan']}"), @"--set route=[{from='client',to='server',links=['lan']}]: the link `lan` has `between`, so it is no part of a route by hand; remove `between`, or the route");
        assert_snapshot!(refused("{from='client',links=['wire']}"), @r#"--set route=[{from='client',links=['wire']}]: [[route]] has no `to`; add for example to = "name""#);
    }

    #[test]
    fn a_network_has_a_shape_and_a_place_for_each_host() {
        let network = |keys: &str| {
            machine(&[&format!("network={{{keys},rate='1 GB/s'}}")])
                .map(|machine| machine.network.and_then(|network| network.shape).expect("there is one"))
        };
        assert_eq!(network("topology='star'"), Ok(Shape::star(2)));
        assert_eq!(network("topology='two-level',leaves=2,spines=3"), Ok(Shape::two_level(2, 2, 3)));
        assert_eq!(network("topology='fat-tree',k=4").map(|shape| shape.places()), Ok(16));
        let tree = Shape::Tree { down: vec![4, 4], up: vec![1, 2], cables: vec![1, 2] };
        assert_eq!(network("topology='fat-tree',topo_parameters='2;4,4;1,2;1,2'"), Ok(tree));
        assert_eq!(
            network("topology='mesh',topo_parameters='2, 2'"),
            Ok(Shape::Grid { lengths: vec![2, 2], wraps: false })
        );
        let refused = |keys| network(keys).expect_err("it should be refused");
        assert_snapshot!(refused("hosts=['client']"), @r#"--set network={hosts=['client'],rate='1 GB/s'}: [network] has no `topology`; add for example topology = "star""#);
        assert_snapshot!(refused("topology='ring'"), @r#"--set network={topology='ring',rate='1 GB/s'}: `topology` cannot be "ring"; known words: `star`, `two-level`, `fat-tree`, `mesh`, `torus`"#);
        assert_snapshot!(refused("topology='star',k=4"), @"--set network={topology='star',k=4,rate='1 GB/s'}: a network that is a star has no `k`; remove it, or name another `topology`");
        assert_snapshot!(refused("topology='fat-tree',k=3"), @"--set network={topology='fat-tree',k=3,rate='1 GB/s'}: `k` is 3, but must be even; write k = 4");
        assert_snapshot!(refused("topology='fat-tree',topo_parameters='2;4;1,2;1,2'"), @r#"--set network={topology='fat-tree',topo_parameters='2;4;1,2;1,2',r...: `topo_parameters` "2;4;1,2;1,2" are none of a fat-tree; write for example "2;4,4;1,2;1,2""#);
        assert_snapshot!(refused("topology='torus',topo_parameters='1'"), @"--set network={topology='torus',topo_parameters='1',rate='1 GB/s'}: the network has 1 places for 2 hosts; make it larger, or name fewer `hosts`");
        assert_snapshot!(refused("topology='star',hosts=['client','client']"), @"--set network={topology='star',hosts=['client','client'],rate='1 G...: `hosts` names `client` twice; remove it once");
    }

    #[test]
    fn a_server_that_no_way_leads_to_is_named() {
        let scenario = |network: &str| {
            let hosts =
                HOSTS.lines().take_while(|line| !line.starts_with("link")).collect::<Vec<_>>().join("\n");
            read(&format!("{hosts}\n{network}\n{PROCESS}"), &[])
                .map(|scenario| scenario.machine.hosts[0].mounts[1].source.clone())
        };
        assert_snapshot!(scenario("switch.core={}\nlink.up={between=['client','core'],rate='1 GB/s'}").unwrap_err(), @"x.toml:1: host `server` cannot be reached from host `client`: no links and switches lead there; add a link from `server` to a switch that `client` reaches");
        let joined = scenario(
            "switch.core={}\nlink.up={between=['client','core'],rate='1 GB/s'}\nlink.down={between=['core','server'],rate='1 GB/s'}",
        );
        assert_eq!(joined, Ok(crate::machine::MountSource::Nfs { server: 1, export: 0, link: None }));
    }
}
