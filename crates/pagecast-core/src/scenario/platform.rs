//! Takes the links and routes of a platform file into a machine: `[network] platform = "cluster.xml"`.
//!
//! Only the ways between hosts that mount something of each other are taken, and their links, so a machine is as large as what it uses.

use rustc_hash::{FxHashMap, FxHashSet};

use super::document::shorten;
use super::hosts::Hosts;
use super::machine_file::{Folders, open_beside};
use super::table::Fields;
use super::topology::{check_mtu, members, network_of, refuse_shape};
use crate::error::ScenarioError;
use crate::machine::{Link, LinkParameters, Machine, Route};
use crate::platform::Platform;
use crate::units::Bytes;

/// Adds links and routes to a machine for the pairs of clients and servers that have no way by hand.
///
/// # Errors
/// A file that cannot be read or understood, and hosts or ways that it does not have.
pub fn wire(
    machine: &mut Machine,
    mounted: &[(usize, usize)],
    root: &Fields<'_>,
    names: &Hosts<'_>,
    folders: Folders<'_>,
) -> Result<(), ScenarioError> {
    let Some(fields) = network_of(root)? else { return Ok(()) };
    let Some(node) = fields.node("platform") else { return Ok(()) };
    refuse_shape(&fields, "this one is in a platform file", &[])?;
    let (path, bytes) = open_beside("platform", node, folders.base)?;
    let platform = Platform::read(&bytes, &path.display().to_string())?;
    let at = fields.place("hosts");
    let mut points = FxHashMap::default();
    for host in members(&fields, names)? {
        let point = platform.host(&machine.hosts[host].name);
        points.insert(host, point.map_err(|(what, remedy)| at.error(what, remedy))?);
    }
    check_mtu(&fields)?;
    let LinkParameters { mtu, tcp_window, .. } = fields.read()?;
    let by_hand = machine.links.iter().map(|link| link.name.clone()).collect();
    let mut taken = Taken { known: FxHashMap::default(), by_hand, common: (mtu, tcp_window) };
    let ends = machine.links.iter().filter_map(|link| link.between);
    let ends = ends.flat_map(|(one, other)| [(one, other), (other, one)]);
    let routes = machine.routes.iter().flat_map(|&Route { ends: (from, to), symmetrical, .. }| {
        [Some((from, to)), symmetrical.then_some((to, from))].into_iter().flatten()
    });
    let joined: FxHashSet<(usize, usize)> = ends.chain(routes).collect();
    for &(client, server) in mounted {
        for (from, to) in [(client, server), (server, client)] {
            let (Some(&start), Some(&goal)) = (points.get(&from), points.get(&to)) else { continue };
            if joined.contains(&(from, to)) {
                continue;
            }
            let way = platform.way(start, goal)?;
            if way.is_empty() {
                let [from, to] = [from, to].map(|host| shorten(&machine.hosts[host].name));
                let what = format!("the platform has no route from `{from}` to `{to}`");
                return Err(node.at.error(what, "add a <route> there, or a [[route]] here"));
            }
            let links = way.into_iter().map(|(name, link)| taken.link(machine, name, link));
            let links =
                links.collect::<Result<_, _>>().map_err(|(what, remedy)| node.at.error(what, remedy))?;
            machine.routes.push(Route { ends: (from, to), links, symmetrical: false });
        }
    }
    Ok(())
}

/// The links of a platform that a machine has.
struct Taken {
    known: FxHashMap<String, usize>,
    /// The names of links that the scenario has itself.
    by_hand: FxHashSet<String>,
    /// `mtu` and `tcp_window` of all of them.
    common: (Option<Bytes>, Option<Bytes>),
}

impl Taken {
    /// The number of a link in a machine.
    fn link(
        &mut self,
        machine: &mut Machine,
        name: String,
        mut parameters: LinkParameters,
    ) -> Result<usize, (String, &'static str)> {
        if let Some(&known) = self.known.get(&name) {
            return Ok(known);
        }
        if self.by_hand.contains(&name) {
            let what = format!("the platform and the scenario both have a link `{}`", shorten(&name));
            return Err((what, "give the one of the scenario another name"));
        }
        (parameters.mtu, parameters.tcp_window) = self.common;
        let at = machine.links.len();
        machine.links.push(Link { name: name.clone(), between: None, parameters });
        self.known.insert(name, at);
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use insta::assert_snapshot;

    use crate::machine::Machine;
    use crate::scenario::testing::{HOSTS, PROCESS};
    use crate::scenario::{Scenario, load_machine, machine_to_toml};

    const PLATFORM: &str = r#"<platform version="4.1"><zone id="z" routing="Full">
        <host id="client" speed="1Gf"/><host id="server" speed="1Gf"/><host id="third" speed="1Gf"/>
        <link id="lan" bandwidth="125MBps" latency="50us" sharing_policy="SPLITDUPLEX"/>
        <link id="core" bandwidth="1GBps" latency="1us"/>
        <route src="client" dst="server"><link_ctn id="lan" direction="UP"/><link_ctn id="core"/></route>
        </zone></platform>"#;

    /// Reads the two hosts with a network, and maybe a host more before it: "NAME = { ... }; network = ...".
    fn read(test: &str, extra: &str) -> Result<Machine, String> {
        let folder = std::env::temp_dir().join(format!("pagecast-{}-platform-{test}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder can be written");
        fs::write(folder.join("x.xml"), PLATFORM).expect("the temporary folder can be written");
        let hosts = HOSTS.lines().next().expect("the hosts are its first line");
        let (hosts, extra) = match extra.split_once("; ") {
            None => (hosts.to_owned(), extra),
            Some((host, extra)) => (hosts.replacen("host = {", &format!("host = {{ {host},"), 1), extra),
        };
        let text = format!("{hosts}\n{extra}\n{PROCESS}");
        let read = Scenario::from_toml(text.as_bytes(), "x.toml", &folder, Path::new(""), &[]);
        let place = folder.display().to_string();
        // A folder that stays behind does no harm.
        let _ = fs::remove_dir_all(&folder);
        read.map(|scenario| scenario.machine).map_err(|error| error.to_string().replace(&place, "FOLDER"))
    }

    #[test]
    fn a_machine_has_the_links_and_routes_that_its_mounts_use() {
        let machine = read("used", "network = { platform = 'x.xml', mtu = '1500 B' }").unwrap();
        let text = machine_to_toml(&machine);
        assert_snapshot!(&text[text.find("[link").unwrap()..], @r#"[link.lan_UP]
rate = "125 MB/s"
latency = "50000 ns"
sharing = "shared"
mtu = "1500 B"

[link.core]
rate = "1 GB/s"
latency = "1000 ns"
sharing = "shared"
mtu = "1500 B"

[link.lan_DOWN]
rate = "125 MB/s"
latency = "50000 ns"
sharing = "shared"
mtu = "1500 B"

[[route]]
from = "client"
to = "server"
links = ["lan_UP", "core"]
symmetrical = false

[[route]]
from = "server"
to = "client"
links = ["core", "lan_DOWN"]
symmetrical = false"#);
        let back = load_machine(text.as_bytes(), "x.toml", Path::new(""), Path::new("")).unwrap();
        assert_eq!(back, machine);
    }

    #[test]
    fn a_way_by_hand_goes_before_that_of_the_platform() {
        let link = "network = { platform = 'x.xml' }\nlink.wire = { between = ['client', 'server'], rate = '1 GB/s' }";
        let machine = read("hand", link).unwrap();
        assert_eq!((machine.links.len(), machine.routes.len()), (1, 0));
    }

    #[test]
    fn a_platform_without_a_host_or_a_way_is_refused() {
        let refused = |test, extra: &str| read(test, extra).map(|_| ()).expect_err("it should be refused");
        let network = "network = { platform = 'x.xml' }";
        let memory = "cores = 1, memory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' }";
        assert_snapshot!(refused("gone", "network = { platform = 'y.xml' }"), @r#"x.toml:2: the platform file "FOLDER/y.xml" cannot be read: No such file or directory (os error 2); correct the path, which is relative to the file that names it"#);
        assert_snapshot!(refused("kind", "network = { platform = 1 }"), @r#"x.toml:2: `platform` is the number 1, but must be the path of a file; write for example platform = "cluster.xml""#);
        assert_snapshot!(refused("rate", "network = { platform = 'x.xml', rate = '1 GB/s' }"), @"x.toml:2: `rate` is of a network of one shape, and this one is in a platform file; remove `rate`");
        assert_snapshot!(refused("mtu", "network = { platform = 'x.xml', mtu = '52 B' }"), @r#"x.toml:2: `mtu` is 52 B, which its headers take; write for example mtu = "1500 B""#);
        assert_snapshot!(refused("name", &format!("thrid = {{ {memory} }}; {network}")), @"x.toml:2: FOLDER/x.xml has no host `thrid`; did you mean `third`?");
        let mount = "mount.'/far' = { nfs = 'server:/export' }";
        assert_snapshot!(refused("way", &format!("third = {{ {memory}, {mount} }}; {network}")), @"x.toml:2: the platform has no route from `third` to `server`; add a <route> there, or a [[route]] here");
        assert_snapshot!(refused("link", &format!("{network}\nlink.core = {{ rate = '1 GB/s' }}")), @"x.toml:2: the platform and the scenario both have a link `core`; give the one of the scenario another name");
        assert_snapshot!(refused("hosts", "network = { platform = 'x.xml', hosts = ['client'] }"), @r#"x.toml:1: no link joins the two hosts; add [link.NAME] with between = ["client", "server"], rate and latency"#);
    }
}
