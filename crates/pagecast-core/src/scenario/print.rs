//! Prints a machine as canonical text: complete, always in the same order, and read back as the same machine.

use std::fmt::{Display, Write};

use crate::keys::{Held, Key, Keyed, Kind, Otherwise, Schema};
use crate::machine::{
    Cgroup, Host, Machine, Mount, MountSource, Nfsd, ONLY_HOST, Shape, Striped, Topology, version_name,
};
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// Prints a machine. Two machines have the same text just when they are the same, so that the text can be hashed.
#[must_use]
pub fn machine_to_toml(machine: &Machine) -> String {
    let mut text = String::new();
    let is_alone = machine.hosts.len() == 1
        && machine.links.is_empty()
        && !machine.has_switches()
        && machine.hosts[0].name == ONLY_HOST;
    for host in &machine.hosts {
        let table = if is_alone { ONLY_HOST.to_owned() } else { format!("host.{}", key(&host.name)) };
        print_host(&mut text, &table, host, machine);
    }
    for switch in &machine.switches {
        print_keys(&mut text, &format!("switch.{}", key(&switch.name)), &[], switch);
    }
    if let Some(network) = &machine.network {
        print_keys(&mut text, "network", &shape(network, machine), network);
    }
    for link in &machine.links {
        let name = |end: usize| match end.checked_sub(machine.hosts.len()) {
            None => quoted(&machine.hosts[end].name),
            Some(switch) => quoted(&machine.switches[switch].name),
        };
        let between =
            link.between.map(|(one, other)| ("between", format!("[{}, {}]", name(one), name(other))));
        print_keys(&mut text, &format!("link.{}", key(&link.name)), between.as_slice(), link);
    }
    for route in &machine.routes {
        let [from, to] = [route.ends.0, route.ends.1].map(|host| quoted(&machine.hosts[host].name));
        let links: Vec<_> = route.links.iter().map(|&link| quoted(&machine.links[link].name)).collect();
        let ways = [("from", from), ("to", to), ("links", format!("[{}]", links.join(", ")))];
        print_keys(&mut text, "[route]", &ways, route);
    }
    text
}

/// The shape of a network, as SimGrid has it, and the hosts in it.
fn shape(network: &Topology, machine: &Machine) -> Vec<(&'static str, String)> {
    let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let Some(shape) = &network.shape else { return Vec::new() };
    let (word, parameters) = match shape {
        Shape::Tree { down, up, cables } => {
            ("fat-tree", format!("{};{};{};{}", down.len(), list(down), list(up), list(cables)))
        }
        Shape::Grid { lengths, wraps } => (if *wraps { "torus" } else { "mesh" }, list(lengths)),
    };
    let mut members: Vec<&Host> = machine.hosts.iter().filter(|host| host.place.is_some()).collect();
    members.sort_by_key(|host| host.place);
    let members: Vec<_> = members.iter().map(|host| quoted(&host.name)).collect();
    let hosts = format!("[{}]", members.join(", "));
    vec![("topology", quoted(word)), ("hosts", hosts), ("topo_parameters", quoted(&parameters))]
}

fn print_host(text: &mut String, table: &str, host: &Host, machine: &Machine) {
    print_table(text, table, &[("cores", host.cores.to_string())]);
    print_keys(text, &format!("{table}.memory"), &[], &host.memory);
    print_keys(text, &format!("{table}.vm"), &[], &host.vm);
    print_keys(text, &format!("{table}.kernel"), &[], &host.kernel);
    if host.nfsd != Nfsd::default() {
        print_keys(text, &format!("{table}.nfsd"), &[], &host.nfsd);
    }
    if let Some(nic) = &host.nic {
        print_keys(text, &format!("{table}.nic"), &[], nic);
    }
    for cgroup in &host.cgroups {
        let limit = (cgroup.limit.file(), size(cgroup.limit.bytes()));
        let mut keys = vec![limit];
        if cgroup.io_weight != Cgroup::IO_WEIGHT {
            keys.push(("io.weight", cgroup.io_weight.to_string()));
        }
        let table = format!("{table}.cgroup.{}", key(&cgroup.name));
        print_table(text, &table, &keys);
        for (disk, io_max) in &cgroup.io_max {
            print_keys(text, &format!("{table}.io.max.{}", key(&host.disks[*disk].name)), &[], io_max);
        }
    }
    for disk in &host.disks {
        print_keys(text, &format!("{table}.disk.{}", key(&disk.name)), &[], disk);
    }
    for mount in &host.mounts {
        let source = source(mount, host, machine);
        print_keys(text, &format!("{table}.mount.{}", key(&mount.path)), &source, mount);
    }
    if !host.cawl.held().is_empty() {
        print_keys(text, &format!("{table}.cawl"), &[], &host.cawl);
    }
    if !host.uncertainty.is_empty() {
        let percent = |spread: f64| quoted(&format!("{} %", spread * 100.0));
        let ranges = host.uncertainty.iter().map(|each| (quoted(&each.key), percent(each.spread.0)));
        print_table(text, &format!("{table}.uncertainty"), &ranges.collect::<Vec<_>>());
    }
}

/// Where the files of a mount are.
fn source(mount: &Mount, host: &Host, machine: &Machine) -> Vec<(&'static str, String)> {
    let export = |server: usize, mount: usize| {
        let server = &machine.hosts[server];
        quoted(&format!("{}:{}", server.name, server.mounts[mount].path))
    };
    match mount.source {
        MountSource::Disk(disk) => {
            let journal = mount.journal_device.map(|disk| ("journal_device", disk));
            let disks = [Some(("disk", disk)), journal].into_iter().flatten();
            disks.map(|(key, disk)| (key, quoted(&host.disks[disk].name))).collect()
        }
        MountSource::Tmpfs => Vec::new(),
        MountSource::Nfs { server, export: at, link } => {
            let link = link.map(|link| ("link", quoted(&machine.links[link].name)));
            [Some(("nfs", export(server, at))), link].into_iter().flatten().collect()
        }
        MountSource::Striped(Striped { ref servers, metadata }) => {
            let each: Vec<String> = servers.iter().map(|server| export(server.host, server.mount)).collect();
            let metadata = export(metadata.host, metadata.mount);
            vec![("striped", format!("[{}]", each.join(", "))), ("metadata", metadata)]
        }
    }
}

/// A table with the keys of a struct, after what is known already.
fn print_keys<T: Keyed>(text: &mut String, table: &str, known: &[(&'static str, String)], keyed: &T) {
    print_held(text, table, known, T::SCHEMA, keyed.held());
}

/// A table inside that is always shown follows the table; others are values of it.
fn print_held(
    text: &mut String,
    table: &str,
    known: &[(&'static str, String)],
    schema: &'static Schema,
    held: Vec<(&'static str, Held)>,
) {
    let (mut values, mut tables) = (known.to_vec(), Vec::new());
    for (key, value) in shown(schema, held) {
        match (key.kind, value) {
            (Kind::Table(inner), Held::Table(held)) if key.is_shown => tables.push((key.name, inner, held)),
            (kind, value) => values.push((key.name, written(&kind, &value))),
        }
    }
    print_table(text, table, &values);
    for (name, inner, held) in tables {
        print_held(text, &format!("{table}.{name}"), &[], inner, held);
    }
}

/// The keys that are printed with their values: not those that have their defaults, but for those that always are.
fn shown(schema: &'static Schema, held: Vec<(&'static str, Held)>) -> Vec<(&'static Key, Held)> {
    let keys = held.into_iter().map(|(name, value)| (schema.key(name).expect("it is one of them"), value));
    keys.filter(|(key, value)| key.shows(value)).collect()
}

/// A value as a file has it.
fn written(kind: &Kind, value: &Held) -> String {
    match (kind, value) {
        (_, Held::Version(major, minor)) => quoted(&version_name((*major, *minor))),
        (_, Held::Size(bytes)) => size(*bytes),
        (_, Held::Rate(value)) => rate(*value),
        (_, Held::Time(value)) => time(*value),
        (_, Held::Whole(number)) => number.to_string(),
        (_, Held::Number(number)) => number.to_string(),
        (_, Held::Flag(flag)) => flag.to_string(),
        (_, Held::Rates(curve)) => rates(curve),
        (Kind::Word(words), Held::Word(at)) => quoted(words[*at]),
        (Kind::Table(schema), Held::Table(held)) => {
            let keys = shown(schema, held.clone());
            let keys: Vec<_> = keys
                .iter()
                .map(|(key, value)| format!("{} = {}", key.name, written(&key.kind, value)))
                .collect();
            format!("{{ {} }}", keys.join(", "))
        }
        _ => unreachable!("{kind:?} does not hold {value:?}"),
    }
}

/// The default of a key as the docs have it, if there is one to tell.
pub fn default_of(key: &Key) -> Option<String> {
    match key.otherwise {
        Otherwise::Words(words) => Some(words.to_owned()),
        Otherwise::Value(value) => match value() {
            Held::Time(Nanos::ZERO) => Some("\"0 s\"".to_owned()),
            Held::Rates(_) | Held::Table(_) => None,
            value => Some(written(&key.kind, &value)),
        },
        Otherwise::Nothing => None,
    }
}

fn print_table(text: &mut String, table: &str, keys: &[(impl Display, String)]) {
    let gap = if text.is_empty() { "" } else { "\n" };
    writeln!(text, "{gap}[{table}]").expect("a string takes all");
    for (key, value) in keys {
        writeln!(text, "{key} = {value}").expect("a string takes all");
    }
}

/// Bytes with the largest decimal unit of which they are a whole number.
fn size(bytes: Bytes) -> String {
    quoted(&whole_units(bytes.0))
}

fn whole_units(bytes: u64) -> String {
    let units =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B")];
    let (size, unit) =
        units.into_iter().find(|(size, _)| bytes >= *size && bytes.is_multiple_of(*size)).unwrap_or((1, "B"));
    format!("{} {unit}", bytes / size)
}

fn rate(rate: BytesPerSecond) -> String {
    let is_whole = rate.0.fract() == 0.0 && rate.0 < 9e15;
    quoted(&format!("{}/s", if is_whole { whole_units(rate.0 as u64) } else { format!("{:e} B", rate.0) }))
}

fn rates(curve: &[(u32, BytesPerSecond)]) -> String {
    let points: Vec<_> =
        curve.iter().map(|&(streams, total)| format!("\"{streams}\" = {}", rate(total))).collect();
    format!("{{ {} }}", points.join(", "))
}

fn time(time: Nanos) -> String {
    quoted(&format!("{} ns", time.0))
}

/// A key, in quotes if it needs them.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { name.to_owned() } else { quoted_raw(name) }
}

/// A string value. Braces are doubled, since the reader takes single ones for parameters.
fn quoted(text: &str) -> String {
    quoted_raw(&text.replace('{', "{{").replace('}', "}}"))
}

fn quoted_raw(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => write!(quoted, "\\u{:04X}", c as u32).expect("a string takes all"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;
    use crate::keys::table;
    use crate::machine::{
        Bdi, Disk, Export, FileSystem, IoCost, IoMax, Iops, Kernel, Layout, Link, LinkParameters, Memory,
        MemoryLimit, MountCost, Quantiles, Raid, Rotation, Route, StripeServer, Switch, Uncertain,
        WriteCache, WriteMode,
    };
    use crate::scenario::load_machine;
    use crate::scenario::testing::{HOSTS, PROCESS, read};
    use crate::units::Fraction;

    fn read_back(machine: &Machine) -> Machine {
        let text = machine_to_toml(machine);
        load_machine(text.as_bytes(), "x.toml", Path::new(""), Path::new(""))
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn all_of_a_machine_is_printed() {
        let machine =
            read(&format!("{HOSTS}\n{PROCESS}"), &["host.client.memory.per_thread=3 GB/s"]).unwrap().machine;
        assert_snapshot!(machine_to_toml(&machine), @r#"
[host.client]
cores = 4

[host.client.memory]
size = "16 GB"
read = "8 GB/s"
write = "5 GB/s"
sharing = "total"
per_thread = "3 GB/s"
nodes = 1

[host.client.memory.cost]
call = "0 ns"
page_insert = "0 ns"
page_lookup = "0 ns"
fault = "0 ns"
page_remove = "0 ns"
page_reclaim = "0 ns"
page_remote = "0 ns"

[host.client.vm]
dirty_ratio = 20
dirty_background_ratio = 10
watermark_scale_factor = 10
dirty_expire_centisecs = 3000
dirty_writeback_centisecs = 500

[host.client.kernel]
version = "6.18"
hz = 250

[host.client.disk.ssd]
size = "100 GB"
read = "500 MB/s"
write = "400 MB/s"
sharing = "total"
nr_requests = 16
max_sectors_kb = 1280
read_ahead_kb = 128
latency = "0 ns"
burst = "0 ns"
limit_interval = "0 ns"
unevenness = 0

[host.client.mount."/data"]
disk = "ssd"
write_mode = "back"

[host.client.mount."/remote"]
nfs = "server:/export"
link = "lan"
write_mode = "back"

[host.server]
cores = 4

[host.server.memory]
size = "16 GB"
read = "8 GB/s"
write = "5 GB/s"
sharing = "total"
nodes = 1

[host.server.memory.cost]
call = "0 ns"
page_insert = "0 ns"
page_lookup = "0 ns"
fault = "0 ns"
page_remove = "0 ns"
page_reclaim = "0 ns"
page_remote = "0 ns"

[host.server.vm]
dirty_ratio = 20
dirty_background_ratio = 10
watermark_scale_factor = 10
dirty_expire_centisecs = 3000
dirty_writeback_centisecs = 500

[host.server.kernel]
version = "6.18"
hz = 250

[host.server.disk.hdd]
size = "10 GB"
read = "500 MB/s"
write = "400 MB/s"
sharing = "total"
nr_requests = 16
max_sectors_kb = 1280
read_ahead_kb = 128
latency = "0 ns"
burst = "0 ns"
limit_interval = "0 ns"
unevenness = 0

[host.server.mount."/export"]
disk = "hdd"
write_mode = "back"

[link.lan]
between = ["client", "server"]
rate = "3 GB/s"
latency = "20000 ns"
"#);
        assert_eq!(read_back(&machine), machine);
    }

    #[test]
    fn odd_names_are_quoted() {
        let mut machine = read(&format!("{HOSTS}\n{PROCESS}"), &[]).unwrap().machine;
        machine.hosts[0].disks[0].name = "a \"b\" {c} \\ ".to_owned();
        machine.hosts[1].name = "sérver.1".to_owned();
        assert_eq!(read_back(&machine).hosts[1].name, machine.hosts[1].name);
    }

    fn rates() -> impl Strategy<Value = BytesPerSecond> {
        prop_oneof![
            (1.0..1e13).prop_map(BytesPerSecond),
            (1_u32..100_000).prop_map(|mb| BytesPerSecond(f64::from(mb) * 1e6))
        ]
    }

    fn curves() -> impl Strategy<Value = Vec<(u32, BytesPerSecond)>> {
        prop::collection::btree_map(1_u32..100, rates(), 0..4).prop_map(|map| map.into_iter().collect())
    }

    #[test]
    fn a_version_of_2_6_has_three_numbers() {
        let written = |version| written(&Kind::Version, &Held::Version(version, 32));
        assert_eq!([2, 3].map(written), ["\"2.6.32\"", "\"3.32\""]);
    }

    fn sizes() -> impl Strategy<Value = Bytes> {
        prop_oneof![(1_u64..1 << 53).prop_map(Bytes), (1_u64..9000).prop_map(|gb| Bytes(gb * 1_000_000_000))]
    }

    /// Any value of a key that a field holds.
    fn values(key: &Key) -> BoxedStrategy<Option<Held>> {
        let any = match key.kind {
            Kind::Version => {
                (6_u32..9, 1_u32..30).prop_map(|(major, minor)| Held::Version(major, minor)).boxed()
            }
            Kind::Size | Kind::SizeOrZero => sizes().prop_map(Held::Size).boxed(),
            Kind::Rate => rates().prop_map(Held::Rate).boxed(),
            Kind::Rates => curves().prop_map(Held::Rates).boxed(),
            Kind::Time => (0_u64..1 << 50).prop_map(|nanos| Held::Time(Nanos(nanos))).boxed(),
            Kind::Whole(least, most) => (least..=most).prop_map(Held::Whole).boxed(),
            Kind::Number(least, most) => (least..=most.min(1e6)).prop_map(Held::Number).boxed(),
            Kind::Flag => any::<bool>().prop_map(Held::Flag).boxed(),
            Kind::Word(words) => (0..words.len()).prop_map(Held::Word).boxed(),
            Kind::Table(schema) => tables(schema).prop_map(Held::Table).boxed(),
            _ => return Just(None).boxed(),
        };
        if key.is_required { any.prop_map(Some).boxed() } else { prop::option::of(any).boxed() }
    }

    fn tables(schema: &'static Schema) -> BoxedStrategy<Vec<(&'static str, Held)>> {
        let keys: Vec<_> = schema.keys.iter().map(values).collect();
        let named = |values: Vec<Option<Held>>| schema.names().zip(values);
        keys.prop_map(move |values| named(values).filter_map(|(key, value)| Some((key, value?))).collect())
            .boxed()
    }

    fn any_of<T: Keyed + std::fmt::Debug>() -> impl Strategy<Value = T> {
        tables(T::SCHEMA).prop_map(|held| (table::<T>().set)(Held::Table(held)))
    }

    prop_compose! {
        fn disks()(disk in any_of::<Disk>(), logical_block in 9_u32..17, (faster, slower) in (1.0..100.0, 0.1..1.0)) -> Disk {
            let Bdi { min_ratio, max_ratio, .. } = disk.bdi;
            let bdi = Bdi { min_ratio: min_ratio.min(max_ratio), max_ratio: min_ratio.max(max_ratio), ..disk.bdi };
            let write_cache = disk.write_cache.map(|cache| WriteCache {
                rate: BytesPerSecond(f64::next_up(disk.write.0 * faster)),
                drain: cache.drain.map(|_| BytesPerSecond(disk.write.0 * slower)),
                ..cache
            });
            let rotation = disk.rotation.map(|rotation| Rotation {
                track_seek: Nanos(rotation.track_seek.0 / 8),
                average_seek: Nanos(rotation.average_seek.0.max(rotation.track_seek.0)),
                full_seek: None,
                ..rotation
            });
            let raid = disk.raid.map(|raid| Raid { disks: 2 * raid.disks.clamp(2, 9), ..raid });
            let burst = if write_cache.is_none() { disk.burst } else { Nanos::ZERO };
            let no_limiter = write_cache.is_none() && burst == Nanos::ZERO;
            let limit_interval = if no_limiter { disk.limit_interval } else { Nanos::ZERO };
            let sorted = |of: Option<Quantiles>| of.map(|of| Quantiles { p50: of.p50, ..Quantiles::default() });
            let (service_read, service_write) = (sorted(disk.service_read), sorted(disk.service_write));
            let iops = disk.iops.map(|iops| Iops { burst: iops.burst.filter(|burst| *burst >= iops.baseline), ..iops });
            // Weights are of disks that serve requests.
            let iocost = disk.iocost.map(|cost| IoCost { min: cost.min.min(cost.max), max: cost.max.max(cost.min), ..cost });
            let iocost = iocost.filter(|_| disk.serves_pages());
            let disk = Disk { service_read, service_write, iops, iocost, ..disk };
            Disk { name: "ssd".into(), logical_block_size: Bytes(1 << logical_block), burst, limit_interval, write_cache, rotation, raid, bdi, ..disk }
        }
    }

    /// A mount of a disk, and a tmpfs, which has nothing of it but its size and the price of a page.
    fn on_disk_and_in_memory(mount: Mount) -> Vec<Mount> {
        let is_tmpfs = mount.file_system == FileSystem::Tmpfs;
        let file_system = if is_tmpfs { FileSystem::default() } else { mount.file_system };
        let tmpfs = Mount {
            path: "/dev/shm".into(),
            source: MountSource::Tmpfs,
            write_mode: WriteMode::Back,
            file_system: FileSystem::Tmpfs,
            page_insert: mount.page_insert,
            size: mount.size,
            journal: None,
            journal_device: None,
            delalloc: true,
            options: None,
            layout: None,
            export: Export::Sync,
            cost: MountCost::default(),
        };
        vec![
            Mount { path: "/data".into(), file_system, size: None, options: None, layout: None, ..mount },
            tmpfs,
        ]
    }

    prop_compose! {
        fn hosts()(cores in 1_u32..1000, memory in any_of::<Memory>(), vm in any_of(), kernel in any_of::<Kernel>(),
                   cgroups in prop::collection::vec((0..3_usize, sizes(), 1_u32..10_000, any_of::<IoMax>()), 0..3), disk in disks(), mount in any_of(), nfsd in any_of(), cawl in any_of()) -> Host {
            Host {
                name: ONLY_HOST.into(),
                cores,
                memory,
                vm,
                kernel,
                cgroups: cgroups.into_iter().enumerate().map(|(at, (kind, limit, io_weight, io_max))| (at, kind < 2, [MemoryLimit::Max, MemoryLimit::High, MemoryLimit::LimitInBytes][kind](limit), io_weight, io_max)).map(|(at, is_v2, limit, io_weight, io_max)| Cgroup {
                    io_max: if is_v2 && disk.serves_pages() { vec![(0, io_max)] } else { Vec::new() },
                    io_weight: if is_v2 { io_weight } else { Cgroup::IO_WEIGHT },
                    ..Cgroup::with_memory(format!("g {at}"), limit)
                }).collect(),
                disks: vec![disk],
                mounts: on_disk_and_in_memory(mount),
                nic: None,
                place: None,
                nfsd,
                cawl,
                uncertainty: vec![Uncertain { key: "memory.write".into(), spread: Fraction(0.125) }],
            }
        }
    }

    fn shapes() -> impl Strategy<Value = Shape> {
        let tree =
            prop::collection::vec((2_u32..9, 1_u32..9, 1_u32..3), 1..4).prop_map(|levels| Shape::Tree {
                down: levels.iter().map(|each| each.0).collect(),
                up: levels.iter().map(|each| each.1).collect(),
                cables: levels.iter().map(|each| each.2).collect(),
            });
        let grid = (prop::collection::vec(2_u32..9, 1..4), any::<bool>());
        prop_oneof![tree, grid.prop_map(|(lengths, wraps)| Shape::Grid { lengths, wraps })]
    }

    proptest! {
        #[test]
        fn any_machine_is_read_back_as_it_was(host in hosts(), other in hosts(), rate in rates(), latency in 0_u64..1 << 50, parameters in any_of::<LinkParameters>(), layout in any_of::<Layout>(), shape in shapes()) {
            let alone = Machine { hosts: vec![host.clone()], ..Machine::default() };
            prop_assert_eq!(read_back(&alone), alone);
            let mtu = parameters.mtu.map(|mtu| Bytes(mtu.0 + 100));
            let parameters = LinkParameters { rate: Some(rate), latency: Nanos(latency), mtu, ..parameters };
            let link = Link { name: "lan".into(), between: Some((0, 1)), parameters };
            let mut both = Machine { hosts: vec![host, Host { name: "server".into(), ..other }], links: vec![link], ..Machine::default() };
            let source = MountSource::Nfs { server: 1, export: 0, link: Some(0) };
            both.hosts[0].mounts.push(Mount { path: "/".into(), source, write_mode: WriteMode::Through, file_system: FileSystem::default(), page_insert: None, size: None, journal: None, journal_device: None, delalloc: true, options: None, layout: None, export: Export::Sync, cost: MountCost::default() });
            prop_assert_eq!(read_back(&both), both.clone());
            let server = StripeServer { host: 1, mount: 0, link: Some(0) };
            let mount = both.hosts[0].mounts.last_mut().expect("there is one");
            mount.source = MountSource::Striped(Striped { servers: vec![server], metadata: server });
            mount.layout = Some(Layout { stripe_count: layout.stripe_count.map(|_| 1), ..layout });
            prop_assert_eq!(read_back(&both), both.clone());
            both.hosts[0].mounts.last_mut().expect("there is one").layout = None;
            both.switches = vec![Switch { name: "core".into(), rate: None }, Switch { name: "edge".into(), rate: Some(rate) }];
            both.links.push(Link { name: "up".into(), between: Some((3, 2)), parameters });
            both.links.push(Link { name: "part".into(), between: None, parameters });
            both.routes = vec![Route { ends: (0, 1), links: vec![2], symmetrical: false }, Route { ends: (1, 0), links: vec![2, 2], symmetrical: true }];
            both.hosts[0].nic = Some(parameters);
            both.hosts.iter_mut().zip([1, 0]).for_each(|(host, place)| host.place = Some(place));
            both.network = Some(Topology {
                shape: Some(shape),
                uplink_rate: Some(rate),
                parameters,
                ..Topology::default()
            });
            both.hosts[0].mounts.last_mut().expect("there is one").source = MountSource::Nfs { server: 1, export: 0, link: Some(0) };
            prop_assert_eq!(read_back(&both), both);
        }
    }
}
