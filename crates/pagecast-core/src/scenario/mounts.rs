//! Reads mounts, which are of disks or of other hosts: `[machine.mount."/path"]`.

use rustc_hash::FxHashMap;

use super::document::{Node, Place, Value, shorten};
use super::hosts::{Hosts, find_host};
use super::machine::Draft;
use super::paths::normalise;
use super::table::Fields;
use crate::error::ScenarioError;
use crate::keys::Keyed;
use crate::machine::{
    FileSystem, Host, Layout, Link, Machine, Mount, MountSource, StripeServer, Striped, WriteMode,
};
use crate::nearest::hint;
use crate::net::Graph;

/// The normal path of every mount of a host and its table, in the order of the file.
fn exports<'a>(draft: &Draft<'a>) -> Result<Vec<(String, &'a Node)>, ScenarioError> {
    let mut exports: Vec<(String, &Node)> = Vec::new();
    for (path, node) in draft.fields.named("mount")? {
        let path = normalise(path, &node.at)?;
        if exports.iter().any(|(other, _)| *other == path) {
            let what = format!("the mount \"{}\" is there twice", shorten(&path));
            return Err(node.at.error(what, "remove one of them"));
        }
        exports.push((path, node));
    }
    Ok(exports)
}

/// The client and the server of each mount of another host's files; what names no server is refused when the mounts are read.
///
/// # Errors
/// A mount that is there twice, or no table.
pub fn mounted(hosts: &[Draft<'_>], names: &Hosts<'_>) -> Result<Vec<(usize, usize)>, ScenarioError> {
    let mut pairs = Vec::new();
    for (client, draft) in hosts.iter().enumerate() {
        for (_, node) in exports(draft)? {
            let texts =
                ["nfs", "striped", "metadata"].into_iter().filter_map(|key| node.as_table()?.get(key));
            let texts = texts.flat_map(|node| match &node.value {
                Value::List(all) => &all[..],
                _ => std::slice::from_ref(node),
            });
            let servers = texts.filter_map(|text| match &text.value {
                Value::Text(text) => names.get(text.split_once(":/")?.0).copied(),
                _ => None,
            });
            pairs.extend(servers.filter(|&server| server != client).map(|server| (client, server)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    Ok(pairs)
}

/// What a mount may refer to on other hosts.
struct Network<'a> {
    names: &'a Hosts<'a>,
    links: &'a [Link],
    graph: Graph<'a>,
    exports: Vec<Vec<(String, &'a Node)>>,
}

/// The mounts of each host.
///
/// # Errors
/// A mount of something that is not there, or whatever else is wrong in one.
pub fn read_mounts(
    hosts: &[Draft<'_>],
    names: &Hosts<'_>,
    machine: &Machine,
) -> Result<Vec<Vec<Mount>>, ScenarioError> {
    let exports = hosts.iter().map(exports).collect::<Result<_, _>>()?;
    let network = Network { names, links: &machine.links, graph: Graph::new(machine), exports };
    let mounts: Vec<Vec<Mount>> = hosts
        .iter()
        .enumerate()
        .map(|(index, draft)| network.mounts(index, draft))
        .collect::<Result<_, _>>()?;
    network.check_metadata(hosts, &mounts)?;
    Ok(mounts)
}

/// What only a file system on a disk takes time for.
const OF_DISKS: [&str; 19] = [
    "export",
    "journal",
    "journal_device",
    "delalloc",
    "commit",
    "commit_block",
    "commit_wakeup",
    "extent_conversion",
    "name_scan",
    "fsync",
    "open",
    "iget",
    "update_time",
    "create",
    "rename",
    "unlink",
    "block_free",
    "block_free_within",
    "file_free",
];

impl Network<'_> {
    fn mounts(&self, host: usize, draft: &Draft<'_>) -> Result<Vec<Mount>, ScenarioError> {
        self.exports[host].iter().map(|(path, node)| self.mount(host, draft, path, node)).collect()
    }

    fn mount(&self, host: usize, draft: &Draft<'_>, path: &str, node: &Node) -> Result<Mount, ScenarioError> {
        let title = draft.fields.inside(&format!("mount.\"{}\"", shorten(path)));
        let fields = Fields::open(node, Mount::SCHEMA, title)?;
        let mut mount: Mount = fields.read()?;
        let disk = fields.get::<String>("disk")?;
        let nfs = fields.get::<String>("nfs")?;
        let striped = fields.get::<Vec<String>>("striped")?;
        let is_tmpfs = mount.file_system == FileSystem::Tmpfs;
        if let (Some(_), Some(other)) =
            (&striped, disk.as_ref().map(|_| "disk").or(nfs.as_ref().map(|_| "nfs")))
        {
            let what = format!("{} has both `{other}` and `striped`", fields.title);
            return Err(fields.place("striped").error(what, "remove one of them"));
        }
        mount.source = match (&disk, &nfs) {
            _ if let Some(servers) = &striped => self.striped(host, servers, &fields)?,
            (None, None) if is_tmpfs => MountSource::Tmpfs,
            (Some(_), _) if is_tmpfs => {
                let what = format!("{} is a tmpfs, whose files are on no disk", fields.title);
                return Err(fields.place("disk").error(what, "remove `disk`, or name another `type`"));
            }
            (Some(disk), None) => MountSource::Disk(find_disk(disk, &draft.host, fields.place("disk"))?),
            (None, Some(nfs)) => self.nfs(host, nfs, &fields)?,
            (None, None) => {
                let what = format!("{} says nothing about where its files are", fields.title);
                return Err(fields.at.error(
                    what,
                    "add disk = \"NAME\", nfs = \"server:/export\" or striped = [\"server:/export\"]",
                ));
            }
            (Some(_), Some(_)) => {
                let what = format!("{} has both `disk` and `nfs`", fields.title);
                return Err(fields.place("nfs").error(what, "remove one of them"));
            }
        };
        if disk.is_some() && fields.node("link").is_some() {
            return Err(fields.place("link").error("a mount of a disk needs no `link`", "remove it"));
        }
        if striped.is_some() && fields.node("link").is_some() {
            let what = "a striped mount has the way to each of its servers";
            return Err(fields.place("link").error(what, "remove `link`"));
        }
        if let Some(key) =
            ["metadata", "layout"].into_iter().find(|key| striped.is_none() && fields.node(key).is_some())
        {
            let what = format!("`{key}` is of a mount with `striped`");
            return Err(fields.place(key).error(what, "remove it"));
        }
        if (nfs.is_some() || striped.is_some()) && fields.node("type").is_some() {
            let what = "`type` is the file system of a disk, and this mount has none";
            return Err(fields.place("type").error(what, "remove it"));
        }
        if is_tmpfs && mount.write_mode == WriteMode::Through {
            let what = "`write_mode` of a tmpfs cannot be \"through\": there is nothing behind it";
            return Err(fields.place("write_mode").error(what, "remove it"));
        }
        if !is_tmpfs && mount.size.is_some() {
            let what = "`size` is of a tmpfs, and this mount has the room of its disk";
            return Err(fields.place("size").error(what, "remove it, or write type = \"tmpfs\""));
        }
        if let Some(key) = OF_DISKS.into_iter().find(|key| disk.is_none() && fields.node(key).is_some()) {
            let what = format!("`{key}` is of a file system on a disk, and this mount has none");
            return Err(fields.place(key).error(what, "remove it; the mount that is exported may have it"));
        }
        if nfs.is_none() && mount.options.is_some() {
            let what = "`options` are of a mount with `nfs`";
            return Err(fields.place("options").error(what, "remove it"));
        }
        mount.journal_device = journal_device(&mount, &draft.host, &fields)?;
        Ok(Mount { path: path.to_owned(), ..mount })
    }

    fn nfs(&self, client: usize, text: &str, fields: &Fields<'_>) -> Result<MountSource, ScenarioError> {
        let at = fields.place("nfs");
        let (server, export) = self.export(client, text, "nfs", at)?;
        Ok(MountSource::Nfs { server, export, link: self.link((client, server), "nfs", fields)? })
    }

    /// The host and its mount that "server:/mount" names, which are not the client's and on a disk.
    fn export(
        &self,
        client: usize,
        text: &str,
        key: &'static str,
        at: &Place,
    ) -> Result<(usize, usize), ScenarioError> {
        let Some((name, export)) = text.split_once(":/") else {
            let what = format!("`{key}` is \"{}\", without a host and a path", shorten(text));
            let example = if key == "striped" { "[\"server:/export\"]" } else { "\"server:/export\"" };
            return Err(at.error(what, format!("write for example {key} = {example}")));
        };
        let server = find_host(name, self.names, at)?;
        if server == client {
            let what = format!("host `{}` mounts its own export", shorten(name));
            return Err(at.error(what, "name another host, or write disk = \"NAME\""));
        }
        let path = normalise(&format!("/{export}"), at)?;
        let exports = &self.exports[server];
        let export = exports.iter().position(|(mount, _)| *mount == path).ok_or_else(|| {
            let remedy = hint(&path, exports.iter().map(|(mount, _)| mount.as_str()), "its mounts");
            at.error(
                format!("host `{}` has no mount \"{}\" to export", shorten(name), shorten(&path)),
                remedy,
            )
        })?;
        let has = |key| exports[export].1.as_table().is_some_and(|table| table.get(key).is_some());
        if let Some(kind) = [("nfs", "an NFS"), ("striped", "a striped")].iter().find(|kind| has(kind.0)) {
            let what =
                format!("\"{}\" is itself {} mount of host `{}`", shorten(&path), kind.1, shorten(name));
            return Err(at.error(what, "export a mount that has a disk"));
        }
        let exported =
            Fields::open(exports[export].1, Mount::SCHEMA, format!("mount.\"{}\"", shorten(&path)))?;
        if exported.get::<String>("type")?.as_deref() == Some("tmpfs") {
            return Err(at.error(
                format!(
                    "\"{}\" of host `{}` is a tmpfs, which is not exported here",
                    shorten(&path),
                    shorten(name)
                ),
                "export a mount of a disk",
            ));
        }
        Ok((server, export))
    }

    /// The servers of a striped mount.
    fn striped(
        &self,
        client: usize,
        servers: &[String],
        fields: &Fields<'_>,
    ) -> Result<MountSource, ScenarioError> {
        let at = fields.place("striped");
        if servers.is_empty() {
            return Err(
                at.error("`striped` has no server", "write for example striped = [\"server:/export\"]")
            );
        }
        let server = |text: &str, key: &'static str| -> Result<StripeServer, ScenarioError> {
            let (host, mount) = self.export(client, text, key, fields.place(key))?;
            Ok(StripeServer { host, mount, link: self.link((client, host), key, fields)? })
        };
        let all: Vec<StripeServer> =
            servers.iter().map(|text| server(text, "striped")).collect::<Result<_, _>>()?;
        let metadata = fields.get::<String>("metadata")?;
        let metadata = metadata.map(|text| server(&text, "metadata")).transpose()?.unwrap_or(all[0]);
        let layout: Option<Layout> = fields.read::<Mount>()?.layout;
        if let Some(count) =
            layout.and_then(|layout| layout.stripe_count).filter(|&count| count as usize > all.len())
        {
            let what = format!("`stripe_count` is {count}, but `striped` has only {} servers", all.len());
            return Err(fields.place("layout").error(what, "name more servers, or ask for fewer"));
        }
        Ok(MountSource::Striped(Striped { servers: all, metadata }))
    }

    /// Refuses two striped mounts whose names one server keeps, and whose files others: one file would have two homes.
    fn check_metadata(&self, hosts: &[Draft<'_>], mounts: &[Vec<Mount>]) -> Result<(), ScenarioError> {
        let servers = |striped: &Striped| -> Vec<(usize, usize)> {
            striped.servers.iter().map(|server| (server.host, server.mount)).collect()
        };
        let mut known = FxHashMap::default();
        for (host, mounts) in mounts.iter().enumerate() {
            for (mount, (_, node)) in mounts.iter().zip(&self.exports[host]) {
                let MountSource::Striped(striped) = &mount.source else { continue };
                let own = servers(striped);
                let metadata = (striped.metadata.host, striped.metadata.mount);
                if *known.entry(metadata).or_insert_with(|| own.clone()) != own {
                    let what = format!(
                        "\"{}\" of host `{}` has the metadata of another mount, and other servers",
                        shorten(&mount.path),
                        shorten(&hosts[host].host.name)
                    );
                    return Err(node
                        .at
                        .error(what, "name the same servers in the same order, or other `metadata`"));
                }
            }
        }
        Ok(())
    }

    /// The link that is named, or else the only one between the two hosts; none if they are connected by switches.
    fn link(
        &self,
        (client, server): (usize, usize),
        key: &'static str,
        fields: &Fields<'_>,
    ) -> Result<Option<usize>, ScenarioError> {
        let joins = |link: &Link| [(client, server), (server, client)].map(Some).contains(&link.between);
        let between: Vec<usize> = (0..self.links.len()).filter(|&index| joins(&self.links[index])).collect();
        let names = || between.iter().map(|&index| self.links[index].name.as_str());
        if let Some(name) = fields.get::<String>("link")?.filter(|_| key == "nfs") {
            let named = between.iter().copied().find(|&index| self.links[index].name == name);
            return named.map(Some).ok_or_else(|| {
                let what = format!("no link `{}` joins the two hosts", shorten(&name));
                fields.place("link").error(what, hint(&name, names(), "links between them"))
            });
        }
        match between[..] {
            [only] => Ok(Some(only)),
            [] => self.way(client, server, fields.place(key)).map(|()| None),
            _ if key != "nfs" => Ok(None),
            _ => Err(fields
                .place(key)
                .error("several links join the two hosts", "choose with link = \"NAME\"")),
        }
    }
}

impl Network<'_> {
    /// Makes sure that there is a way over switches between two hosts.
    fn way(&self, client: usize, server: usize, at: &Place) -> Result<(), ScenarioError> {
        if self.graph.hops(client, server, None).is_some() {
            return Ok(());
        }
        let machine = self.graph.machine();
        if !machine.has_switches() {
            let remedy = "add [link.NAME] with between = [\"client\", \"server\"], rate and latency";
            return Err(at.error("no link joins the two hosts", remedy));
        }
        let [client, server] = [client, server].map(|host| shorten(&machine.hosts[host].name));
        let what = format!(
            "host `{server}` cannot be reached from host `{client}`: no links and switches lead there"
        );
        Err(at.error(what, format!("add a link from `{server}` to a switch that `{client}` reaches")))
    }
}

/// The disk of a mount's journal, if that is not the one of its files.
fn journal_device(mount: &Mount, host: &Host, fields: &Fields<'_>) -> Result<Option<usize>, ScenarioError> {
    let Some(name) = fields.get::<String>("journal_device")? else { return Ok(None) };
    let at = fields.place("journal_device");
    if mount.journal.is_none() {
        let what = format!("{} has a `journal_device` and no `journal`", fields.title);
        return Err(at.error(what, "add journal = {}, so that commits are requests"));
    }
    if matches!(mount.file_system, FileSystem::Btrfs | FileSystem::F2fs) {
        let what =
            "`journal_device` is of ext3, ext4 and XFS; this file system writes its log among its files";
        return Err(at.error(what, "remove it"));
    }
    let disk = find_disk(&name, host, at)?;
    if mount.source == MountSource::Disk(disk) {
        let what = format!("`journal_device` is `{}`, the disk of the files", shorten(&name));
        return Err(at.error(what, "remove it, or name another disk"));
    }
    Ok(Some(disk))
}

fn find_disk(name: &str, host: &Host, at: &Place) -> Result<usize, ScenarioError> {
    host.disks.iter().position(|disk| disk.name == name).ok_or_else(|| {
        let what = format!("host `{}` has no disk `{}`", shorten(&host.name), shorten(name));
        at.error(what, hint(name, host.disks.iter().map(|disk| disk.name.as_str()), "disks"))
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::machine::Export;
    use crate::scenario::testing::{HOSTS, MACHINE, PROCESS, read, refusal};
    use crate::units::Bytes;

    fn machine(set: &[&str]) -> Result<crate::machine::Machine, String> {
        read(&format!("{HOSTS}\n{PROCESS}"), set).map(|scenario| scenario.machine)
    }

    fn refused(set: &str) -> String {
        machine(&[set]).expect_err("it should be refused")
    }

    #[test]
    fn an_nfs_mount_is_of_the_servers_mount() {
        let machine = machine(&[]).unwrap();
        let remote = &machine.hosts[0].mounts[1];
        assert_eq!(remote.source, MountSource::Nfs { server: 1, export: 0, link: Some(0) });
        assert_eq!(remote.write_mode, WriteMode::Back);
        assert_eq!(machine.links[0].between, Some((0, 1)));
    }

    #[test]
    fn an_override_turns_a_disk_mount_into_nfs() {
        let machine = machine(&["host.client.mount./data.nfs=server:/export"]).unwrap();
        assert_eq!(
            machine.hosts[0].mounts[0].source,
            MountSource::Nfs { server: 1, export: 0, link: Some(0) }
        );
    }

    #[test]
    fn options_and_exports_are_of_their_kinds_of_mounts() {
        assert_snapshot!(refused("host.client.mount./data.options.wsize=64 KiB"), @"--set host.client.mount./data.options.wsize=64 KiB: `options` are of a mount with `nfs`; remove it");
        assert_snapshot!(refused("host.client.mount./remote.export=async"), @"--set host.client.mount./remote.export=async: `export` is of a file system on a disk, and this mount has none; remove it; the mount that is exported may have it");
        let set = [
            "host.client.mount./remote.options.wsize=64 KiB",
            "host.server.mount./export.export=async",
            "host.server.nfsd.threads=2",
        ];
        let machine = machine(&set).unwrap();
        let options = machine.hosts[0].mounts[1].options.expect("some are given");
        assert_eq!((options.rsize, options.wsize), (Bytes(1 << 20), Bytes(64 << 10)));
        assert_eq!((machine.hosts[1].mounts[0].export, machine.hosts[1].nfsd.threads), (Export::Async, 2));
    }

    #[test]
    fn the_parts_of_a_mount_must_exist() {
        assert_snapshot!(refused("host.client.mount./data.disk=sdd"), @"--set host.client.mount./data.disk=sdd: host `client` has no disk `sdd`; did you mean `ssd`?");
        assert_snapshot!(refused("host.client.mount./remote.nfs=servr:/export"), @"--set host.client.mount./remote.nfs=servr:/export: there is no host `servr`; did you mean `server`?");
        assert_snapshot!(refused("host.client.mount./remote.nfs=server:/exports"), @r#"--set host.client.mount./remote.nfs=server:/exports: host `server` has no mount "/exports" to export; did you mean `/export`?"#);
        assert_snapshot!(refused("host.client.mount./remote.link=wan"), @"--set host.client.mount./remote.link=wan: no link `wan` joins the two hosts; did you mean `lan`?");
        assert_snapshot!(refused("host.client.mount./remote.nfs=export"), @r#"--set host.client.mount./remote.nfs=export: `nfs` is "export", without a host and a path; write for example nfs = "server:/export""#);
    }

    #[test]
    fn an_export_is_of_another_host_and_of_a_disk() {
        assert_snapshot!(refused("host.client.mount./remote.nfs=client:/data"), @r#"--set host.client.mount./remote.nfs=client:/data: host `client` mounts its own export; name another host, or write disk = "NAME""#);
        assert_snapshot!(refused("host.server.mount./again.nfs=client:/remote"), @r#"--set host.server.mount./again.nfs=client:/remote: "/remote" is itself an NFS mount of host `client`; export a mount that has a disk"#);
    }

    #[test]
    fn a_mount_has_one_source() {
        assert_snapshot!(refused("host.client.mount./new={}"), @r#"--set host.client.mount./new={}: [host.client.mount."/new"] says nothing about where its files are; add disk = "NAME", nfs = "server:/export" or striped = ["server:/export"]"#);
        assert_snapshot!(refused("host.client.mount./new={disk='ssd',nfs='server:/export'}"), @r#"--set host.client.mount./new={disk='ssd',nfs='server:/export'}: [host.client.mount."/new"] has both `disk` and `nfs`; remove one of them"#);
        assert_snapshot!(refused("host.client.mount./new={disk='ssd',link='lan'}"), @"--set host.client.mount./new={disk='ssd',link='lan'}: a mount of a disk needs no `link`; remove it");
    }

    #[test]
    fn a_mount_of_a_disk_has_a_file_system() {
        let machine = machine(&["host.client.mount./data.type='xfs'"]).unwrap();
        let kinds = machine.hosts.iter().map(|host| host.mounts[0].file_system);
        assert!(kinds.eq([FileSystem::Xfs, FileSystem::Ext4]));
        assert_snapshot!(refused("host.client.mount./remote.type='xfs'"), @"--set host.client.mount./remote.type='xfs': `type` is the file system of a disk, and this mount has none; remove it");
        assert!(refused("host.client.mount./data.type='zfs'").contains("`type` cannot be \"zfs\""));
    }

    #[test]
    fn a_journal_may_be_on_another_disk_of_its_host() {
        let disk = "host.client.disk.log={size='1 GB',read='1 GB/s',write='1 GB/s'}";
        let journal = "host.client.mount./data.journal={}";
        let device = |name: &str| format!("host.client.mount./data.journal_device={name}");
        let client = &machine(&[disk, journal, &device("log")]).unwrap().hosts[0];
        assert_eq!(client.mounts[0].journal_device.map(|at| &*client.disks[at].name), Some("log"));
        let refused = |set: &[&str]| machine(set).expect_err("it should be refused");
        assert_snapshot!(refused(&[disk, &device("log")]), @r#"--set host.client.mount./data.journal_device=log: [host.client.mount."/data"] has a `journal_device` and no `journal`; add journal = {}, so that commits are requests"#);
        assert_snapshot!(refused(&[disk, journal, &device("lag")]), @"--set host.client.mount./data.journal_device=lag: host `client` has no disk `lag`; did you mean `log`?");
        assert_snapshot!(refused(&[disk, journal, &device("ssd")]), @"--set host.client.mount./data.journal_device=ssd: `journal_device` is `ssd`, the disk of the files; remove it, or name another disk");
        assert_snapshot!(refused(&[disk, journal, &device("log"), "host.client.mount./data.type='btrfs'"]), @"--set host.client.mount./data.journal_device=log: `journal_device` is of ext3, ext4 and XFS; this file system writes its log among its files; remove it");
        assert_snapshot!(refused(&[disk, "host.client.mount./remote.journal_device=log"]), @"--set host.client.mount./remote.journal_device=log: `journal_device` is of a file system on a disk, and this mount has none; remove it; the mount that is exported may have it");
    }

    #[test]
    fn two_mounts_of_one_path_are_refused() {
        assert_snapshot!(refused("host.client.mount./data/={disk='ssd'}"), @r#"--set host.client.mount./data/={disk='ssd'}: the mount "/data" is there twice; remove one of them"#);
    }

    #[test]
    fn nfs_needs_a_link_and_just_one_unless_it_is_named() {
        let without = HOSTS.lines().next().unwrap();
        assert_snapshot!(refusal(&format!("{without}\n{PROCESS}")), @r#"x.toml:1: no link joins the two hosts; add [link.NAME] with between = ["client", "server"], rate and latency"#);
        let second = "link.wan={between=['server','client'],rate='1 MB/s'}";
        assert_snapshot!(refused(second), @r#"x.toml:1: several links join the two hosts; choose with link = "NAME""#);
        let chosen = machine(&[second, "host.client.mount./remote.link=wan"]).unwrap();
        assert_eq!(
            chosen.hosts[0].mounts[1].source,
            MountSource::Nfs { server: 1, export: 0, link: Some(1) }
        );
    }

    #[test]
    fn a_mount_of_a_disk_that_is_not_there() {
        assert_snapshot!(refusal(&MACHINE.replace("disk = \"ssd\"", "disk = \"hdd\"")), @"x.toml:1: host `machine` has no disk `hdd`; disks: `ssd`");
    }

    /// A client whose "/pvfs" is on two servers, with these keys beside.
    fn striped(keys: &str) -> Result<crate::machine::Machine, String> {
        let memory = "memory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' }";
        let server = |name: &str| {
            format!(
                "[host.{name}]\ncores = 1\n{memory}\ndisk.hdd = {{ size = '1 GB', read = '1 GB/s', write = '1 GB/s' }}\nmount.'/data'.disk = 'hdd'\n"
            )
        };
        let client = format!(
            "network = {{ topology = 'star', rate = '1 GB/s' }}\n[host.client]\ncores = 1\n{memory}\nmount.'/pvfs' = {{ {keys} }}\n"
        );
        let text = client + &server("io0") + &server("io1") + PROCESS;
        read(&text, &[]).map(|scenario| scenario.machine)
    }

    #[test]
    fn a_striped_mount_names_mounts_of_other_hosts() {
        let servers = "striped = ['io0:/data', 'io1:/data']";
        let machine =
            striped(&format!("{servers}, metadata = 'io1:/data', layout = {{ strip_size = '1 MiB' }}"))
                .unwrap();
        let server = |host| StripeServer { host, mount: 0, link: None };
        let source = Striped { servers: vec![server(1), server(2)], metadata: server(2) };
        assert_eq!(machine.hosts[0].mounts[0].source, MountSource::Striped(source));
        assert_eq!(machine.hosts[0].mounts[0].layout.map(|layout| layout.strip_size), Some(Bytes(1 << 20)));
        let refused = |keys: &str| striped(keys).expect_err("it should be refused");
        assert_snapshot!(refused("striped = []"), @r#"x.toml:5: `striped` has no server; write for example striped = ["server:/export"]"#);
        assert_snapshot!(refused("striped = ['io0']"), @r#"x.toml:5: `striped` is "io0", without a host and a path; write for example striped = ["server:/export"]"#);
        assert_snapshot!(refused("striped = ['io0:/data', 'io2:/data']"), @"x.toml:5: there is no host `io2`; did you mean `io0`?");
        assert_snapshot!(refused("striped = ['io0:/data', 'client:/pvfs']"), @r#"x.toml:5: host `client` mounts its own export; name another host, or write disk = "NAME""#);
        assert_snapshot!(refused("striped = 'io0:/data'"), @r#"x.toml:5: `striped` is the string "io0:/data", but must be a list of strings; write for example striped = ["name"]"#);
        assert_snapshot!(refused(&format!("{servers}, nfs = 'io0:/data'")), @r#"x.toml:5: [host.client.mount."/pvfs"] has both `nfs` and `striped`; remove one of them"#);
        assert_snapshot!(refused(&format!("{servers}, type = 'xfs'")), @"x.toml:5: `type` is the file system of a disk, and this mount has none; remove it");
        assert_snapshot!(refused(&format!("{servers}, link = 'lan'")), @"x.toml:5: a striped mount has the way to each of its servers; remove `link`");
        assert_snapshot!(refused(&format!("{servers}, metadata = 'mds'")), @r#"x.toml:5: `metadata` is "mds", without a host and a path; write for example metadata = "server:/export""#);
        assert_snapshot!(refused(&format!("{servers}, layout.strip_size = '0 B'")), @r#"x.toml:5: `strip_size` is zero, but must be more; write for example strip_size = "20 GB""#);
        assert_snapshot!(refused(&format!("{servers}, layout.stripe_count = 3")), @"x.toml:5: `stripe_count` is 3, but `striped` has only 2 servers; name more servers, or ask for fewer");
        assert_snapshot!(refused("nfs = 'io0:/data', layout.strip_size = '1 MiB'"), @"x.toml:5: `layout` is of a mount with `striped`; remove it");
    }

    #[test]
    fn one_server_of_metadata_has_files_on_the_same_servers() {
        let other = "mount.'/other' = { striped = ['io1:/data'], metadata = 'io0:/data' }";
        let keys = format!(
            "striped = ['io0:/data', 'io1:/data'] }}\n{other}\nmount.'/third' = {{ striped = ['io1:/data']"
        );
        assert_snapshot!(striped(&keys).expect_err("it should be refused"), @r#"x.toml:6: "/other" of host `client` has the metadata of another mount, and other servers; name the same servers in the same order, or other `metadata`"#);
    }
}
