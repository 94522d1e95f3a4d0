//! Messages over links, switches and networks of one shape (`net`): who shares what, and how long it takes.

use crate::common::{MB, on};

/// `hosts` clients of one server each, whose caches hold what is read: only the network takes time.
fn pairs(hosts: usize, network: &str) -> String {
    let host = |name: String, more: String| {
        format!(
            "[host.{name}]\ncores = 2\nmemory = {{ size = '10 GB', read = '100 GB/s', write = '100 GB/s' }}\n{more}"
        )
    };
    let disk = "disk.ssd = { size = '100 GB', read = '100 GB/s', write = '100 GB/s' }\nmount.'/export'.disk = 'ssd'\n";
    let all = (0..hosts).flat_map(|at| {
        let mount = format!("mount.'/remote'.nfs = 's{at}:/export'\n");
        [host(format!("c{at}"), mount), host(format!("s{at}"), disk.to_owned())]
    });
    format!("{}{network}\n", all.collect::<String>())
}

fn reads(case: String, client: usize) -> String {
    let host = format!("c{client}");
    case + &format!(
        "[[file]]\npath = '/remote/f'\nsize = '100 MB'\nhost = '{host}'\n[[process]]\nname = 'r{client}'\nhost = '{host}'\ndo = [{{ read = '/remote/f' }}]\n"
    )
}

fn writes(case: String, client: usize) -> String {
    let host = format!("c{client}");
    case + &format!(
        "[[process]]\nname = 'w{client}'\nhost = '{host}'\ndo = [{{ write = '/remote/g', size = '100 MB' }}]\n"
    )
}

/// Within a hundredth.
fn near(actual: f64, expected: f64) {
    assert!((actual / expected - 1.0).abs() < 0.01, "{actual} instead of {expected}");
}

fn seconds(case: &str, process: &str) -> f64 {
    on(case).run("no-cache").seconds(process, 0)
}

#[test]
fn each_direction_has_the_rate_unless_both_share_it() {
    let both = |sharing: &str| {
        let link = format!("[link.lan]\nbetween = ['c0', 's0']\nrate = '100 MB/s'\nsharing = '{sharing}'\n");
        seconds(&writes(reads(pairs(1, &link), 0), 0), "r0")
    };
    near(both("split-duplex"), 1.0);
    near(both("shared"), 2.0);
    let two = |sharing: &str| {
        let link = format!("[link.lan]\nbetween = ['c0', 's0']\nrate = '100 MB/s'\nsharing = '{sharing}'\n");
        let case = reads(pairs(1, &link), 0);
        let second = "[[process]]\nname = 'again'\nhost = 'c0'\ndo = [{ read = '/remote/f' }]\n";
        seconds(&(case + second), "again")
    };
    near(two("split-duplex"), 2.0);
    near(two("fatpipe"), 1.0);
}

#[test]
fn headers_take_their_part_of_a_link() {
    let link = |keys: &str| {
        let link = format!("[link.lan]\nbetween = ['c0', 's0']\nrate = '100 MB/s'\n{keys}");
        seconds(&reads(pairs(1, &link), 0), "r0")
    };
    near(link("mtu = '1500 B'"), 1538.0 / 1448.0);
    near(link("mtu = '9000 B'"), 9038.0 / 8948.0);
}

#[test]
fn switches_and_interfaces_are_shared_by_all_that_cross_them() {
    let links: String = ["c0", "s0", "c1", "s1"]
        .map(|host| format!("[link.{host}]\nbetween = ['{host}', 'core']\nrate = '100 MB/s'\n"))
        .concat();
    let run = |more: &str| seconds(&reads(reads(pairs(2, &format!("{links}{more}")), 0), 1), "r1");
    near(run("[switch.core]\n"), 1.0);
    near(run("[switch.core]\nrate = '100 MB/s'\n"), 2.0);
    near(run("[switch.core]\n[host.s1.nic]\nrate = '50 MB/s'\n"), 2.0);
}

#[test]
fn uplinks_of_two_levels_are_shared_and_those_of_a_star_are_not() {
    let run = |keys: &str| {
        let network = format!("[network]\nrate = '100 MB/s'\nhosts = ['c0', 'c1', 's0', 's1']\n{keys}");
        reads(reads(pairs(2, &network), 0), 1)
    };
    near(seconds(&run("topology = 'star'"), "r0"), 1.0);
    near(seconds(&run("topology = 'two-level'\nleaves = 2\nspines = 1"), "r0"), 2.0);
    near(seconds(&run("topology = 'two-level'\nleaves = 2\nspines = 2"), "r0"), 1.0);
    near(
        seconds(&run("topology = 'two-level'\nleaves = 2\nspines = 1\nuplink_rate = '400 MB/s'"), "r0"),
        1.0,
    );
    near(seconds(&run("topology = 'mesh'\ntopo_parameters = '4'"), "r0"), 2.0);
}

#[test]
fn routes_by_hand_share_the_links_that_they_name() {
    let links: String = [("a", 100), ("b", 100), ("trunk", 100), ("wide", 400)]
        .map(|(name, rate)| format!("[link.{name}]\nrate = '{rate} MB/s'\n"))
        .concat();
    let run = |through: [&str; 2], more: &str| {
        let routes: String = ["a", "b"]
            .iter()
            .zip(through)
            .enumerate()
            .map(|(at, (own, trunk))| {
                format!("[[route]]\nfrom = 'c{at}'\nto = 's{at}'\nlinks = ['{own}', '{trunk}']\n{more}")
            })
            .collect();
        reads(reads(pairs(2, &format!("{links}{routes}")), 0), 1)
    };
    near(seconds(&run(["trunk", "trunk"], ""), "r0"), 2.0);
    near(seconds(&run(["wide", "wide"], ""), "r0"), 1.0);
    near(seconds(&run(["trunk", "wide"], ""), "r1"), 1.0);
    let back: String =
        (0..2).map(|at| format!("[[route]]\nfrom = 's{at}'\nto = 'c{at}'\nlinks = ['wide']\n")).collect();
    let other_way = run(["trunk", "trunk"], "symmetrical = false\n") + &back;
    near(seconds(&other_way, "r0"), 0.5);
}

#[test]
fn links_tell_what_they_have_carried() {
    let network = "[network]\ntopology = 'star'\nrate = '100 MB/s'\nmtu = '1500 B'\n";
    let run = on(&reads(reads(pairs(2, network), 0), 1)).run("no-cache");
    let links = &run.links;
    let row = (0..links.link.len()).find(|&at| links.to[at] == "c1").expect("the client has read");
    assert_eq!((&*links.link[row], &*links.from[row]), ("network", "switch 1.0"));
    assert_eq!((links.bytes[row], links.messages[row]), (100 * MB, 1));
    near(links.on_link[row] as f64, 1538.0 / 1448.0 * 100e6);
    near(links.busy[row].as_seconds(), 1538.0 / 1448.0);
    assert!(links.link.len() == 4, "two ways over a star, with two links each");
}
