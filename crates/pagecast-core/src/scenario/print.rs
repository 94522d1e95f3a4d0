//! A machine as canonical text: complete, always in the same order, and read back as the same machine.

use std::fmt::Write;

use super::disks::MILLIONTHS_PER_PERCENT;
use super::machine::ONLY_HOST;
use crate::machine::{
    Bdi, CawlParameters, CopyCost, Disk, FileSystem, Host, Lru, Machine, Mount, MountCost, MountSource,
    Sharing, VmSettings, WriteCache, WriteMode,
};
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// Prints a machine. Two machines have the same text just when they are the same, so that the text can be hashed.
#[must_use]
pub fn machine_to_toml(machine: &Machine) -> String {
    let mut text = String::new();
    let is_alone = machine.hosts.len() == 1 && machine.links.is_empty() && machine.hosts[0].name == ONLY_HOST;
    for host in &machine.hosts {
        let table = if is_alone { ONLY_HOST.to_owned() } else { format!("host.{}", key(&host.name)) };
        print_host(&mut text, &table, host, machine);
    }
    for link in &machine.links {
        let (one, other) = link.between;
        let between =
            format!("[{}, {}]", quoted(&machine.hosts[one].name), quoted(&machine.hosts[other].name));
        print_table(
            &mut text,
            &format!("link.{}", key(&link.name)),
            &[("between", between), ("rate", rate(link.rate)), ("latency", time(link.latency))],
        );
    }
    text
}

fn print_host(text: &mut String, table: &str, host: &Host, machine: &Machine) {
    print_table(text, table, &[("cores", host.cores.to_string())]);
    let memory = &host.memory;
    let mut keys = vec![
        ("size", size(memory.size)),
        ("read", rate(memory.read)),
        ("write", rate(memory.write)),
        ("sharing", sharing(memory.sharing)),
    ];
    for (name, curve) in [("read_at", &memory.read_at), ("write_at", &memory.write_at)] {
        if !curve.is_empty() {
            keys.push((name, rates(curve)));
        }
    }
    keys.extend(memory.per_thread.map(|per_thread| ("per_thread", rate(per_thread))));
    keys.extend(memory.reserve.map(|reserve| ("reserve", size(reserve))));
    keys.push(("nodes", memory.nodes.to_string()));
    print_table(text, &format!("{table}.memory"), &keys);
    print_cost(text, table, &memory.cost);
    print_vm(text, table, &host.vm);
    let (major, minor) = host.kernel.version;
    let version = quoted(&format!("{major}.{minor}"));
    let mut keys = vec![("version", version), ("hz", host.kernel.hz.to_string())];
    keys.extend((host.kernel.lru == Lru::Mglru).then(|| ("lru", quoted(Lru::NAMES[1]))));
    print_table(text, &format!("{table}.kernel"), &keys);
    for cgroup in &host.cgroups {
        let limit = (cgroup.limit.file(), size(cgroup.limit.bytes()));
        print_table(text, &format!("{table}.cgroup.{}", key(&cgroup.name)), &[limit]);
    }
    for disk in &host.disks {
        print_disk(text, table, disk);
    }
    for mount in &host.mounts {
        print_mount(text, table, mount, host, machine);
    }
    print_cawl(text, table, &host.cawl);
}

/// Only what is known.
fn print_cawl(text: &mut String, table: &str, known: &CawlParameters) {
    let keys = [
        ("bw_mem", known.bw_mem.map(rate)),
        ("bw_ramdisk", known.bw_ramdisk.map(rate)),
        ("bw_reduced", known.bw_reduced.map(rate)),
        ("bw_dev", known.bw_dev.map(rate)),
        ("bw_rdev", known.bw_rdev.map(rate)),
        ("bs", known.bs.map(size)),
        ("bf", known.bf.map(size)),
        ("sc_w", known.sc_w.map(time)),
        ("sc_sw", known.sc_sw.map(time)),
        ("c_sk", known.c_sk.map(time)),
        ("limit_bg", known.limit_bg.map(size)),
        ("limit_hard", known.limit_hard.map(size)),
        ("dirty_expire", known.dirty_expire.map(time)),
    ];
    let keys: Vec<_> = keys.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    if !keys.is_empty() {
        print_table(text, &format!("{table}.cawl"), &keys);
    }
}

fn print_cost(text: &mut String, table: &str, cost: &CopyCost) {
    let mut keys = vec![
        ("call", time(cost.call)),
        ("page_insert", time(cost.page_insert)),
        ("page_lookup", time(cost.page_lookup)),
        ("fault", time(cost.fault)),
        ("page_remove", time(cost.page_remove)),
        ("page_reclaim", time(cost.page_reclaim)),
        ("page_remote", time(cost.page_remote)),
    ];
    keys.extend(cost.folio_insert.map(|folio| ("folio_insert", time(folio))));
    keys.extend(cost.fault_huge.map(|huge| ("fault_huge", time(huge))));
    keys.extend(cost.page_reported.map(|reported| ("page_reported", time(reported))));
    keys.extend(cost.mmap.map(|map| ("mmap", time(map))));
    keys.extend(cost.fault_around.map(|around| ("fault_around", time(around))));
    keys.extend(cost.folio_map.map(|folio| ("folio_map", time(folio))));
    keys.extend(cost.page_mkwrite.map(|mkwrite| ("page_mkwrite", time(mkwrite))));
    keys.extend(cost.fault_mkwrite.map(|mkwrite| ("fault_mkwrite", time(mkwrite))));
    keys.extend(cost.page_remote_read.map(|remote| ("page_remote_read", time(remote))));
    keys.extend(cost.copy_read.map(|copy| ("copy_read", rate(copy))));
    keys.extend(cost.copy_write.map(|copy| ("copy_write", rate(copy))));
    keys.extend(cost.flushing_factor.map(|factor| ("flushing_factor", factor.to_string())));
    print_table(text, &format!("{table}.memory.cost"), &keys);
}

fn print_vm(text: &mut String, table: &str, vm: &VmSettings) {
    let mut keys = vec![
        ("dirty_ratio", percent(vm.dirty_ratio)),
        ("dirty_background_ratio", percent(vm.dirty_background_ratio)),
    ];
    keys.extend(vm.dirty_bytes.map(|bytes| ("dirty_bytes", size(bytes))));
    keys.extend(vm.dirty_background_bytes.map(|bytes| ("dirty_background_bytes", size(bytes))));
    keys.extend(vm.min_free.map(|bytes| ("min_free_kbytes", (bytes.0 >> 10).to_string())));
    keys.extend([
        ("watermark_scale_factor", vm.watermark_scale_factor.to_string()),
        ("dirty_expire_centisecs", centisecs(vm.dirty_expire)),
        ("dirty_writeback_centisecs", centisecs(vm.dirty_writeback)),
    ]);
    print_table(text, &format!("{table}.vm"), &keys);
}

fn print_disk(text: &mut String, table: &str, disk: &Disk) {
    let mut keys = vec![
        ("size", size(disk.size)),
        ("read", rate(disk.read)),
        ("write", rate(disk.write)),
        ("sharing", sharing(disk.sharing)),
    ];
    for (name, curve) in [("read_at", &disk.read_at), ("write_at", &disk.write_at)] {
        if !curve.is_empty() {
            keys.push((name, rates(curve)));
        }
    }
    keys.push(("nr_requests", disk.queue.0.to_string()));
    if disk.wbt_lat_usec > 0 {
        keys.push(("wbt_lat_usec", disk.wbt_lat_usec.to_string()));
    }
    keys.extend(disk.queue_depth.map(|depth| ("queue_depth", depth.to_string())));
    keys.push(("max_sectors_kb", (disk.queue.1.0 >> 10).to_string()));
    keys.push(("read_ahead_kb", (disk.read_ahead.0 >> 10).to_string()));
    keys.push(("latency", time(disk.latency)));
    for (name, cost) in [("write_latency", disk.write_latency), ("flush", disk.flush)] {
        if cost > Nanos::ZERO {
            keys.push((name, time(cost)));
        }
    }
    if disk.seek > Nanos::ZERO {
        keys.push(("seek", time(disk.seek)));
    }
    if disk.logical_block_size != Disk::LOGICAL_BLOCK {
        keys.push(("logical_block_size", size(disk.logical_block_size)));
    }
    keys.push(("burst", time(disk.burst)));
    keys.extend(disk.write_cache.map(|cache| ("write_cache", write_cache(cache))));
    keys.push(("unevenness", disk.unevenness.to_string()));
    keys.extend(bdi(disk.bdi));
    print_table(text, &format!("{table}.disk.{}", key(&disk.name)), &keys);
}

fn print_mount(text: &mut String, table: &str, mount: &Mount, host: &Host, machine: &Machine) {
    let mut keys = match mount.source {
        MountSource::Disk(disk) => vec![("disk", quoted(&host.disks[disk].name))],
        MountSource::Nfs { server, export, link } => {
            let server = &machine.hosts[server];
            let export = format!("{}:{}", server.name, server.mounts[export].path);
            vec![("nfs", quoted(&export)), ("link", quoted(&machine.links[link].name))]
        }
    };
    let mode = match mount.write_mode {
        WriteMode::Back => WriteMode::NAMES[0],
        WriteMode::Through => WriteMode::NAMES[1],
    };
    keys.push(("write_mode", quoted(mode)));
    if mount.file_system != FileSystem::default() {
        let kind = FileSystem::ALL.iter().position(|kind| *kind == mount.file_system);
        keys.push(("type", quoted(FileSystem::NAMES[kind.expect("these are all")])));
    }
    keys.extend(mount.page_insert.map(|insert| ("page_insert", time(insert))));
    let MountCost { commit, block_free, block_free_within, file_free } = mount.cost;
    let costs = [("commit", commit), ("block_free", block_free), ("file_free", file_free)];
    for (name, cost) in costs {
        if cost > Nanos::ZERO {
            keys.push((name, time(cost)));
        }
    }
    keys.extend(block_free_within.map(|within| ("block_free_within", time(within))));
    print_table(text, &format!("{table}.mount.{}", key(&mount.path)), &keys);
}

fn print_table(text: &mut String, table: &str, keys: &[(&str, String)]) {
    let gap = if text.is_empty() { "" } else { "\n" };
    writeln!(text, "{gap}[{table}]").expect("a string takes all");
    for (key, value) in keys {
        writeln!(text, "{key} = {value}").expect("a string takes all");
    }
}

/// Only what is not the default.
fn bdi(bdi: Bdi) -> impl Iterator<Item = (&'static str, String)> {
    let default = Bdi::default();
    let ratio = |ratio: u32, default: u32| {
        (ratio != default).then(|| (f64::from(ratio) / MILLIONTHS_PER_PERCENT).to_string())
    };
    let keys = [
        ("min_ratio", ratio(bdi.min_ratio, default.min_ratio)),
        ("max_ratio", ratio(bdi.max_ratio, default.max_ratio)),
        ("strict_limit", bdi.strict_limit.then(|| "true".to_owned())),
        ("stable_writes", bdi.stable_writes.then(|| "true".to_owned())),
    ];
    keys.into_iter().filter_map(|(key, value)| Some((key, value?)))
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

fn write_cache(cache: WriteCache) -> String {
    let drain = cache.drain.map_or(String::new(), |drain| format!(", drain = {}", rate(drain)));
    format!("{{ size = {}, rate = {}{drain} }}", size(cache.size), rate(cache.rate))
}

fn time(time: Nanos) -> String {
    quoted(&format!("{} ns", time.0))
}

fn sharing(sharing: Sharing) -> String {
    quoted(match sharing {
        Sharing::Total => Sharing::NAMES[0],
        Sharing::Separate => Sharing::NAMES[1],
        Sharing::Time => Sharing::NAMES[2],
    })
}

/// The number that divided by 100 is exactly this fraction; 0.29 * 100 is not 29.
fn percent(fraction: f64) -> String {
    let near = fraction * 100.0;
    let exact = [near.round(), near, near.next_up(), near.next_down()]
        .into_iter()
        .find(|near| near / 100.0 == fraction);
    exact.unwrap_or(near).to_string()
}

fn centisecs(time: Nanos) -> String {
    (time.0 as f64 / 1e7).to_string()
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
    use crate::machine::{Cgroup, Kernel, Link, Memory, MemoryLimit};
    use crate::scenario::load_machine;
    use crate::scenario::testing::{HOSTS, PROCESS, read};

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
unevenness = 0

[host.client.mount."/data"]
disk = "ssd"
write_mode = "back"

[host.client.mount."/remote"]
nfs = "server:/export"
link = "lan"
write_mode = "through"

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

    fn sharings() -> impl Strategy<Value = Sharing> {
        prop_oneof![Just(Sharing::Total), Just(Sharing::Separate), Just(Sharing::Time)]
    }

    fn sizes() -> impl Strategy<Value = Bytes> {
        prop_oneof![(1_u64..1 << 53).prop_map(Bytes), (1_u64..9000).prop_map(|gb| Bytes(gb * 1_000_000_000))]
    }

    prop_compose! {
        fn bdis()(ratios in [0..Bdi::WHOLE, 0..Bdi::WHOLE + 1], strict_limit in any::<bool>(), stable_writes in any::<bool>()) -> Bdi {
            let [one, other] = ratios;
            Bdi { min_ratio: one.min(other), max_ratio: one.max(other), strict_limit, stable_writes }
        }
    }

    prop_compose! {
        fn disks()(size in sizes(), read in rates(), write in rates(), sharing in sharings(), read_at in curves(),
                   write_at in curves(), queue in (1_u32..1 << 20, 4_u64..1 << 20),
                   wbt_lat_usec in 0_u32..3, queue_depth in prop::option::of(1_u32..1 << 20),
                   read_ahead in 0_u64..1 << 20, times in prop::array::uniform5(0_u64..1 << 40), logical_block in 9_u32..17,
                   cache in prop::option::of((sizes(), 1.0..100.0, prop::option::of(0.1..1.0))),
                   unevenness in 0.0..1.0, bdi in bdis()) -> Disk {
            let (queue, read_ahead) = ((queue.0, Bytes(queue.1 << 10)), Bytes(read_ahead << 10));
            let [latency, burst, flush, write_latency, seek] = [times[0], if cache.is_none() { times[1] } else { 0 }, times[2], times[3], times[4]].map(Nanos);
            let write_cache = cache.map(|(size, faster, slower)| WriteCache {
                size,
                rate: BytesPerSecond(f64::next_up(write.0 * faster)),
                drain: slower.map(|slower| BytesPerSecond(write.0 * slower)),
            });
            let (name, logical_block_size) = ("ssd".into(), Bytes(1 << logical_block));
            Disk { name, size, read, write, sharing, read_at, write_at, queue, wbt_lat_usec, queue_depth, read_ahead, latency, seek, logical_block_size, write_latency, flush, burst, write_cache, unevenness, bdi, implied: Vec::new() }
        }
    }

    prop_compose! {
        fn costs()(nanos in [0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40],
                   known in prop::array::uniform9(prop::option::of(0_u64..1 << 40)),
                   copies in [prop::option::of(rates()), prop::option::of(rates())],
                   flushing_factor in prop::option::of(0.01..1.0)) -> CopyCost {
            let [call, page_insert, page_lookup, fault, page_remove, page_reclaim, page_remote] = nanos.map(Nanos);
            let [folio_insert, fault_huge, mmap, fault_around, folio_map, page_mkwrite, fault_mkwrite, page_remote_read, page_reported] = known.map(|nanos| nanos.map(Nanos));
            let [copy_read, copy_write] = copies;
            CopyCost { call, page_insert, folio_insert, page_lookup, fault, fault_huge, mmap, fault_around, folio_map, page_mkwrite, fault_mkwrite, page_remove, page_reclaim, page_reported, page_remote, page_remote_read, copy_read, copy_write, flushing_factor }
        }
    }

    prop_compose! {
        fn vms()(percents in [0.0..100.0, 0.0..100.0], nanos in [0_u64..1 << 50, 0_u64..1 << 50],
                 bytes in [prop::option::of(sizes()), prop::option::of(sizes())],
                 min_free in prop::option::of(1_u64..1 << 31), watermark_scale_factor in 1_u32..3000) -> VmSettings {
            VmSettings {
                dirty_ratio: percents[0] / 100.0,
                dirty_background_ratio: percents[1] / 100.0,
                dirty_bytes: bytes[0],
                dirty_background_bytes: bytes[1],
                min_free: min_free.map(|kbytes| Bytes(kbytes << 10)),
                watermark_scale_factor,
                dirty_expire: Nanos(nanos[0]),
                dirty_writeback: Nanos(nanos[1]),
            }
        }
    }

    prop_compose! {
        fn mounts()(through in any::<bool>(), file_system in prop::sample::select(&FileSystem::ALL[..]), page_insert in prop::option::of(0_u64..1 << 50), costs in [0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40]) -> Mount {
            let write_mode = if through { WriteMode::Through } else { WriteMode::Back };
            Mount { path: "/data".into(), source: MountSource::Disk(0), write_mode, file_system, page_insert: page_insert.map(Nanos), cost: MountCost { commit: Nanos(costs[0]), block_free: Nanos(costs[1]), block_free_within: (costs[2] > 0).then_some(Nanos(costs[2])), file_free: Nanos(costs[2]) } }
        }
    }

    prop_compose! {
        fn cawls()(rates in prop::array::uniform5(prop::option::of(rates())), sizes in prop::array::uniform4(prop::option::of(sizes())),
                   times in prop::array::uniform4(prop::option::of(0_u64..1 << 50))) -> CawlParameters {
            let ([bw_mem, bw_ramdisk, bw_reduced, bw_dev, bw_rdev], [bs, bf, limit_bg, limit_hard]) = (rates, sizes);
            let [sc_w, sc_sw, c_sk, dirty_expire] = times.map(|time| time.map(Nanos));
            CawlParameters { bw_mem, bw_ramdisk, bw_reduced, bw_dev, bw_rdev, bs, bf, sc_w, sc_sw, c_sk, limit_bg, limit_hard, dirty_expire }
        }
    }

    prop_compose! {
        fn hosts()(cores in 1_u32..1000, size in sizes(), read in rates(), write in rates(), sharing in sharings(),
                   per_thread in prop::option::of(rates()), curves in [curves(), curves()], reserve in prop::option::of(sizes()), nodes in 1_u32..8, cost in costs().boxed(), disk in disks().boxed(), vm in vms(),
                   version in (6_u32..9, 1_u32..30), hz in 100_u32..1000, mglru in any::<bool>(), cgroups in prop::collection::vec((any::<bool>(), sizes()), 0..3), mount in mounts().boxed(), cawl in cawls().boxed()) -> Host {
            Host {
                name: ONLY_HOST.into(),
                cores,
                memory: Memory { size, read, write, sharing, read_at: curves[0].clone(), write_at: curves[1].clone(), per_thread, reserve, nodes, cost },
                vm,
                kernel: Kernel { version, hz, lru: if mglru { Lru::Mglru } else { Lru::TwoList } },
                cgroups: cgroups.into_iter().enumerate().map(|(at, (is_v2, limit))| Cgroup {
                    name: format!("g {at}"),
                    limit: if is_v2 { MemoryLimit::Max(limit) } else { MemoryLimit::LimitInBytes(limit) },
                }).collect(),
                disks: vec![disk],
                mounts: vec![mount],
                cawl,
            }
        }
    }

    proptest! {
        #[test]
        fn any_machine_is_read_back_as_it_was(host in hosts(), other in hosts(), rate in rates(), latency in 0_u64..1 << 50) {
            let alone = Machine { hosts: vec![host.clone()], links: Vec::new() };
            prop_assert_eq!(read_back(&alone), alone);
            let link = Link { name: "lan".into(), between: (0, 1), rate, latency: Nanos(latency) };
            let mut both = Machine { hosts: vec![host, Host { name: "server".into(), ..other }], links: vec![link] };
            let source = MountSource::Nfs { server: 1, export: 0, link: 0 };
            both.hosts[0].mounts.push(Mount { path: "/".into(), source, write_mode: WriteMode::Through, file_system: FileSystem::default(), page_insert: None, cost: MountCost::default() });
            prop_assert_eq!(read_back(&both), both);
        }
    }
}
