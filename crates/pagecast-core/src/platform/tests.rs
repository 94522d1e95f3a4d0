use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::units::Nanos;

fn read(text: &str) -> Result<Platform, String> {
    Platform::read(text.as_bytes(), "x.xml").map_err(|error| error.to_string())
}

/// A platform whose root zone has these elements.
fn zone(routing: &str, inside: &str) -> Result<Platform, String> {
    read(&format!(
        "<platform version=\"4.1\">\n<zone id=\"root\" routing=\"{routing}\">\n{inside}\n</zone></platform>"
    ))
}

/// The names of the links from one host to another.
fn way(platform: &Platform, from: &str, to: &str) -> String {
    let [from, to] = [from, to].map(|name| platform.host(name).expect("the host is there"));
    let links = platform.way(from, to).expect("zones are understood");
    links.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
}

fn hosts(names: &str) -> String {
    names.split(' ').map(|name| format!("<host id=\"{name}\" speed=\"1Gf\"/>")).collect()
}

fn links(names: &str) -> String {
    names
        .split(' ')
        .map(|name| format!("<link id=\"{name}\" bandwidth=\"1GBps\" latency=\"1us\"/>"))
        .collect()
}

fn route(from: &str, to: &str, links: &str) -> String {
    format!("<route src=\"{from}\" dst=\"{to}\">{}</route>", contents(links))
}

fn contents(links: &str) -> String {
    let link = |name: &str| match name.split_once(':') {
        None => format!("<link_ctn id=\"{name}\"/>"),
        Some((name, direction)) => format!("<link_ctn id=\"{name}\" direction=\"{direction}\"/>"),
    };
    links.split(' ').map(link).collect()
}

#[test]
fn a_full_zone_has_a_route_for_each_pair() {
    let split = "<link id=\"s\" bandwidth=\"125MBps\" latency=\"50us\" sharing_policy=\"SPLITDUPLEX\"/>";
    let once = "<route src=\"a\" dst=\"c\" symmetrical=\"NO\"><link_ctn id=\"m\"/></route>";
    let inside = hosts("a b c") + &links("l m") + split + &route("a", "b", "l s:UP m") + once;
    let platform = zone("Full", &inside).unwrap();
    assert_eq!([way(&platform, "a", "b"), way(&platform, "b", "a")], ["l s_UP m", "m s_DOWN l"]);
    assert_eq!([way(&platform, "a", "c"), way(&platform, "c", "a"), way(&platform, "b", "c")], ["m", "", ""]);
}

#[test]
fn the_fewest_links_are_taken() {
    for routing in ["Floyd", "Dijkstra", "DijkstraCache"] {
        let routers = "<router id=\"r\"/><router id=\"q\"/>";
        let ways = route("a", "r", "l1")
            + &route("r", "q", "l2 l3 l4")
            + &route("q", "b", "l5")
            + &route("r", "b", "l6 l7");
        let platform =
            zone(routing, &(hosts("a b c") + routers + &links("l1 l2 l3 l4 l5 l6 l7") + &ways)).unwrap();
        assert_eq!([way(&platform, "a", "b"), way(&platform, "b", "a")], ["l1 l6 l7", "l7 l6 l1"]);
        assert_eq!(way(&platform, "a", "c"), "");
    }
}

#[test]
fn a_cluster_leads_over_its_backbone_once() {
    let cluster = |more: &str| {
        format!(
            "<cluster id=\"c\" prefix=\"n\" suffix=\".x\" radical=\"0-2,7\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\" {more}/>"
        )
    };
    let flat = zone("Full", &cluster("bb_bw=\"1.25GBps\" bb_lat=\"5us\"")).unwrap();
    assert_eq!(way(&flat, "n0.x", "n7.x"), "c_link_0_UP c_backbone c_link_7_DOWN");
    let latency: Nanos = flat
        .way(flat.host("n0.x").unwrap(), flat.host("n7.x").unwrap())
        .unwrap()
        .iter()
        .map(|link| link.1.latency)
        .sum();
    assert_eq!(latency, Nanos(105_000));
    let shared = zone("Full", &cluster("sharing_policy=\"SHARED\" limiter_link=\"150MBps\"")).unwrap();
    assert_eq!(way(&shared, "n0.x", "n1.x"), "c_link_0_limiter c_link_0 c_link_1 c_link_1_limiter");
}

#[test]
fn a_torus_and_a_fat_tree_have_the_ways_of_their_shapes() {
    let cluster = |more: &str| {
        let text = format!(
            "<platform version=\"4.1\"><cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-15\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\" {more}/></platform>"
        );
        read(&text).unwrap()
    };
    let torus = cluster("topology=\"TORUS\" topo_parameters=\"4,4\"");
    assert_eq!(way(&torus, "n0", "n5"), "c_link_0.0.0_UP c_link_0.1.1_UP");
    assert_eq!(way(&torus, "n0", "n3"), "c_link_0.3.0_DOWN");
    let tree = cluster("topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\" sharing_policy=\"SHARED\"");
    assert_eq!(way(&tree, "n0", "n1"), "c_link_0.0.0 c_link_0.1.0");
    assert_eq!(way(&tree, "n0", "n5").split(' ').count(), 4);
}

const TWO_ZONES: &str = r#"
<cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="50us" router_id="gate"/>
<zone id="z" routing="Cluster">
  <host id="h" speed="1Gf"><prop id="a" value="b"/><disk id="d" read_bw="1MBps" write_bw="1MBps"/></host>
  <link id="up" bandwidth="1GBps"/><link id="down" bandwidth="1GBps"/>
  <host_link id="h" up="up" down="down"/>
  <cabinet id="cab" prefix="k" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="100us"/>
  <router id="r"/>
  <backbone id="bb" bandwidth="2GBps" latency="1us"/>
</zone>
<link id="wan" bandwidth="1GBps" latency="10ms"/>
<zoneRoute src="c" dst="z" gw_src="gate" gw_dst="r"><link_ctn id="wan"/></zoneRoute>"#;

#[test]
fn a_way_between_zones_leads_over_their_gateways() {
    let platform = zone("Full", TWO_ZONES).unwrap();
    assert_eq!(way(&platform, "n0", "h"), "c_link_0_UP wan bb down");
    assert_eq!(way(&platform, "h", "n0"), "up bb wan c_link_0_DOWN");
    assert_eq!(way(&platform, "k0", "k1"), "link_k0_UP bb link_k1_DOWN");
}

#[test]
fn a_bypass_goes_before_a_route() {
    let bypass = "<link id=\"short\" bandwidth=\"1GBps\"/><bypassZoneRoute src=\"c\" dst=\"z\" gw_src=\"gate\" gw_dst=\"r\"><link_ctn id=\"short\"/></bypassZoneRoute>";
    let platform = zone("Full", &(TWO_ZONES.to_owned() + bypass)).unwrap();
    assert_eq!(way(&platform, "n1", "k1"), "c_link_1_UP short bb link_k1_DOWN");
    assert_eq!(way(&platform, "k1", "n1"), "link_k1_UP bb wan c_link_1_DOWN");
    let bypass = "<bypassRoute src=\"a\" dst=\"b\"><link_ctn id=\"m\"/></bypassRoute>";
    let platform = zone("Full", &(hosts("a b") + &links("l m") + &route("a", "b", "l") + bypass)).unwrap();
    assert_eq!([way(&platform, "a", "b"), way(&platform, "b", "a")], ["m", "l"]);
}

#[test]
fn a_zone_that_is_not_understood_is_refused_when_a_way_needs_it() {
    let platform = zone("Vivaldi", TWO_ZONES).unwrap();
    assert_eq!(way(&platform, "n0", "n1"), "c_link_0_UP c_link_1_DOWN");
    let [from, to] = ["n0", "h"].map(|name| platform.host(name).unwrap());
    assert_snapshot!(platform.way(from, to).unwrap_err(), @r#"x.xml:2: the zone `root` is "Vivaldi", which is not understood; write the routes with routing="Full", or use hosts of other zones"#);
}

#[test]
fn what_is_not_understood_has_its_line() {
    let refused = |inside: &str| zone("Full", inside).map(|_| ()).expect_err("it should be refused");
    let two = hosts("a b") + &links("l");
    assert_snapshot!(read("<a/>").map(|_| ()).unwrap_err(), @r#"x.xml:1: <a> is no platform of SimGrid; name a file that starts with <platform version="4.1">"#);
    assert_snapshot!(read("<platform version=\"3\"/>").map(|_| ()).unwrap_err(), @r#"x.xml:1: the platform has version "3", but must have 4 or 4.1; update it with simgrid_update_xml"#);
    assert_snapshot!(read("<platform version=\"4\"><zone id=\"a\" routing=\"None\"/>\n<zone id=\"b\" routing=\"None\"/></platform>").map(|_| ()).unwrap_err(), @"x.xml:2: there is a second zone at the top; put both into one <zone>");
    assert_snapshot!(refused("<hosst id=\"a\"/>"), @"x.xml:3: <hosst> is not understood; did you mean `host`?");
    assert_snapshot!(refused("<host id=\"a\" sped=\"1Gf\"/>"), @"x.xml:3: <host> has an unknown attribute `sped`; did you mean `speed`?");
    assert_snapshot!(refused("<host speed=\"1Gf\"/>"), @r#"x.xml:3: <host> has no `id`; add id="...""#);
    assert_snapshot!(refused(&hosts("a a")), @"x.xml:3: the name `a` is there twice; give each host, router and zone its own");
    assert_snapshot!(refused(&links("l l")), @"x.xml:3: the link `l` is there twice; give one another name");
    assert_snapshot!(refused("<link id=\"l\" bandwidth=\"1 GB/s\"/>"), @r#"x.xml:3: `bandwidth` is "1 GB/s", which is no bandwidth; write for example bandwidth="125MBps""#);
    assert_snapshot!(refused("<link id=\"l\" bandwidth=\"1GBps\" latency=\"soon\"/>"), @r#"x.xml:3: `latency` is "soon", which is no time; write for example latency="50us""#);
    assert_snapshot!(refused("<link id=\"l\" bandwidth=\"1GBps\" sharing_policy=\"WIFI\"/>"), @r#"x.xml:3: `sharing_policy` "WIFI" is not understood; write SHARED, SPLITDUPLEX or FATPIPE"#);
    assert_snapshot!(refused("<link id=\"l\" bandwidth=\"1GBps\" bandwidth_file=\"x.bw\"/>"), @"x.xml:3: `bandwidth_file` changes <link> over time, which is not simulated; remove it");
    assert_snapshot!(refused("<trace id=\"t\" periodicity=\"1\"/>"), @"x.xml:3: <trace> changes hosts and links over time; remove it");
    assert_snapshot!(refused("<link_ctn id=\"l\"/>"), @"x.xml:3: <link_ctn> inside <zone> is not understood; remove it");
    assert_snapshot!(refused(&(two.clone() + &route("a", "c", "l"))), @"x.xml:3: there is no host, router or zone `c`; did you mean `a`?");
    assert_snapshot!(refused(&(two.clone() + &route("a", "b", "m"))), @"x.xml:3: there is no link `m`; did you mean `l`?");
    assert_snapshot!(refused(&(two.clone() + &route("a", "root", "l"))), @"x.xml:3: `root` is not directly in the zone `root`; name in `dst` what is directly in it");
    assert_snapshot!(refused(&(two.clone() + &route("a", "b", "l") + &route("b", "a", "l"))), @"x.xml:3: there are two routes from `b` to `a`; remove one; routes are symmetrical unless they say NO");
    assert_snapshot!(refused(&(two.clone() + "<route src=\"a\" dst=\"b\"/>")), @r#"x.xml:3: <route> has no links; add <link_ctn id="..."/>"#);
    assert_snapshot!(refused(&(hosts("a b") + "<link id=\"s\" bandwidth=\"1GBps\" sharing_policy=\"SPLITDUPLEX\"/>" + &route("a", "b", "s"))), @r#"x.xml:3: `s` is a split-duplex link; add direction="UP" or "DOWN""#);
    assert_snapshot!(refused("<zone id=\"z\" routing=\"Full\"><host_link id=\"a\" up=\"l\" down=\"l\"/></zone>"), @"x.xml:3: there is no host, router or zone `a`; did you mean `z`?");
    assert_snapshot!(refused(&TWO_ZONES.replace("gw_src=\"gate\"", "gw_src=\"h\"")), @"x.xml:14: `gw_src` is `h`, which is no host or router in `c`; name one of those");
    assert_snapshot!(refused(&TWO_ZONES.replace("0-1", "1-0")), @r#"x.xml:4: `radical` is "1-0", which is no list of numbers; write for example radical="0-15""#);
    assert_snapshot!(refused(&TWO_ZONES.replace("0-1", "0-99999999")), @r#"x.xml:4: `radical` names more than 1048576 hosts; write for example radical="0-15""#);
    let torus = |parameters: &str| {
        TWO_ZONES.replace(
            "router_id=\"gate\"",
            &format!("router_id=\"gate\" topology=\"TORUS\" topo_parameters=\"{parameters}\""),
        )
    };
    assert_snapshot!(refused(&torus("a")), @r#"x.xml:4: `topo_parameters` "a" are none of a TORUS; write for example topo_parameters="4,4,2""#);
    assert_snapshot!(refused(&torus("3")), @"x.xml:4: the TORUS has 3 places for 2 hosts; make `radical` and `topo_parameters` agree");
    assert_snapshot!(zone("Full", "").unwrap().host("a").unwrap_err().0, @"x.xml has no host `a`");
}

#[test]
fn gateways_in_a_circle_are_an_error() {
    // The gateway of the outer zone is in the inner one, whose only way there leads over itself.
    let inside = r#"
<zone id="o" routing="Full"><zone id="i" routing="Full"><host id="a" speed="1Gf"/></zone><zone id="k" routing="Full"><host id="b" speed="1Gf"/><host id="b2" speed="1Gf"/></zone>
<link id="m" bandwidth="1GBps"/><zoneRoute src="i" dst="k" gw_src="a" gw_dst="b2"><link_ctn id="m"/></zoneRoute></zone>
<zone id="p" routing="Full"><host id="c" speed="1Gf"/></zone>
<link id="l" bandwidth="1GBps"/>
<zoneRoute src="o" dst="p" gw_src="b" gw_dst="c"><link_ctn id="l"/></zoneRoute>"#;
    let platform = zone("Full", inside).unwrap();
    assert_eq!(way(&platform, "b", "c"), "l");
    assert_eq!(way(&platform, "a", "c"), "", "no route leads from b2 to b");
}

proptest! {
    /// Files with a few other bytes are read or refused, and their ways are found or not.
    #[test]
    fn a_changed_file_is_no_internal_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(b" \"<>/=019-,;aTFzu".to_vec())), 1..6),
    ) {
        let mut bytes = format!("<platform version=\"4.1\"><zone id=\"root\" routing=\"Floyd\">{TWO_ZONES}</zone></platform>").into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(platform) = Platform::read(&bytes, "x.xml") {
            let hosts: Vec<usize> = (0..platform.points.len()).filter(|&at| platform.points[at].kind == PointKind::Host).collect();
            for (&from, &to) in hosts.iter().take(4).zip(hosts.iter().rev().take(4)) {
                let _ = platform.way(from, to);
            }
        }
    }
}
