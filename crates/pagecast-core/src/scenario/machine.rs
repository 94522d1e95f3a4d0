//! Reads `[machine]` or `[host.NAME]`: memory and kernel settings. Disks are in `disks`, links in `links`, mounts in `mounts`.

use super::cgroups::read_cgroups;
use super::disks::read_disks;
use super::document::{Node, shorten};
use super::hosts::Hosts;
use super::links::{read_links, read_nic, read_routes, read_switches, read_topology};
use super::machine_file::{Folders, resolve};
use super::mounts::{mounted, read_mounts};
use super::platform::wire;
use super::schema::MACHINE;
use super::table::Fields;
use super::uncertainty::read_uncertainty;
use crate::error::ScenarioError;
use crate::keys::Keyed;
use crate::machine::{Host, Kernel, Lru, Machine, Memory, ONLY_HOST, version_name};

/// Reads the machine of a scenario or of a machine file, whose top is `root`.
///
/// # Errors
/// Neither or both of `[machine]` and hosts; whatever is wrong in them.
pub fn read_machine(root: &Fields<'_>, folders: Folders<'_>) -> Result<Machine, ScenarioError> {
    let nodes = host_nodes(root, folders)?;
    let mut hosts = Vec::with_capacity(nodes.len());
    for (name, node) in &nodes {
        hosts.push(read_host(name, node, nodes.len() > 1 || *name != ONLY_HOST)?);
    }
    let names: Hosts<'_> = nodes.iter().enumerate().map(|(index, (name, _))| (*name, index)).collect();
    let switches = read_switches(root, &names)?;
    let links = read_links(root, &names, &switches)?;
    let routes = read_routes(root, &names, &links)?;
    let network = read_topology(root, &mut hosts, &names)?;
    let without_mounts = hosts.iter().map(|draft| draft.host.clone()).collect();
    let mut machine = Machine { hosts: without_mounts, switches, links, routes, network };
    wire(&mut machine, &mounted(&hosts, &names)?, root, &names, folders)?;
    let mounts = read_mounts(&hosts, &names, &machine)?;
    machine.hosts.iter_mut().zip(mounts).for_each(|(host, mounts)| host.mounts = mounts);
    for (host, draft) in machine.hosts.iter_mut().zip(&hosts) {
        host.uncertainty = read_uncertainty(&draft.fields, host)?;
    }
    Ok(machine)
}

/// The table of each host, machine files included.
fn host_nodes<'a>(root: &Fields<'a>, folders: Folders<'_>) -> Result<Vec<(&'a str, Node)>, ScenarioError> {
    let hosts = root.named("host")?;
    let all = match (root.node("machine"), hosts.is_empty()) {
        (Some(machine), true) => vec![(ONLY_HOST, machine)],
        (None, false) => hosts,
        (None, true) => {
            return Err(root
                .at
                .error("there is no machine", "add [machine] with for example from = \"wrench-cluster\""));
        }
        (Some(machine), false) => {
            return Err(machine
                .at
                .error("there is [machine] and also [host]", "make the machine a host: [host.NAME]"));
        }
    };
    all.into_iter().map(|(name, node)| Ok((name, resolve(node, folders)?))).collect()
}

/// A host whose mounts are not read yet, since they may name other hosts.
pub struct Draft<'a> {
    /// The host without its mounts.
    pub host: Host,
    /// Its table.
    pub fields: Fields<'a>,
}

fn read_host<'a>(name: &str, node: &'a Node, is_named: bool) -> Result<Draft<'a>, ScenarioError> {
    let title = if is_named { format!("[host.{}]", shorten(name)) } else { "[machine]".to_owned() };
    let fields = Fields::open(node, &MACHINE, title)?;
    fields.get::<String>("description")?;
    fields.get::<String>("source")?;
    let kernel = read_kernel(&fields)?;
    let memory: Memory = fields.read_inner("memory")?;
    let disks = read_disks(&fields, kernel.version)?;
    let host = Host {
        name: name.to_owned(),
        cores: fields.need("cores")?,
        cgroups: read_cgroups(&fields, memory.size, &disks)?,
        memory,
        vm: fields.read_inner("vm")?,
        kernel,
        nfsd: fields.read_inner("nfsd")?,
        disks,
        nic: read_nic(&fields)?,
        place: None,
        mounts: Vec::new(),
        cawl: fields.read_inner("cawl")?,
        uncertainty: Vec::new(),
    };
    Ok(Draft { host, fields })
}

fn read_kernel(host: &Fields<'_>) -> Result<Kernel, ScenarioError> {
    let kernel: Kernel = host.read_inner("kernel")?;
    if kernel.lru == Lru::Mglru && kernel.version < Lru::MGLRU_SINCE {
        let fields = host.inner("kernel", Kernel::SCHEMA)?.expect("it is not the default");
        return Err(fields.place("lru").error(
            format!("Linux {} has no multi-generational lists", version_name(kernel.version)),
            "name 6.1 or a later version, or leave `lru` out",
        ));
    }
    Ok(kernel)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::machine::{Bdi, Sharing, VmSettings};
    use crate::scenario::testing::{HOSTS, MACHINE, PROCESS, read, refusal};
    use crate::units::{BytesPerSecond, Nanos};

    const NODE: &str = "cores = 4\nmemory = { size = '16 GB', read = '8 GB/s', write = '5 GB/s' }";

    fn host(extra: &str) -> Result<Host, String> {
        let scenario = read(&format!("[machine]\n{NODE}\n{extra}\n{PROCESS}"), &[])?;
        Ok(scenario.machine.hosts.into_iter().next().expect("there is one"))
    }

    #[test]
    fn kernel_settings_have_the_kernels_units_and_defaults() {
        assert_eq!(host("").unwrap().vm, VmSettings::default());
        let vm = host("vm.dirty_ratio = 40\nvm.dirty_expire_centisecs = 1500").unwrap().vm;
        assert_eq!((vm.dirty_ratio, vm.dirty_background_ratio), (0.4, 0.1));
        assert_eq!((vm.dirty_expire, vm.dirty_writeback), (Nanos(15_000_000_000), Nanos(5_000_000_000)));
    }

    #[test]
    fn a_kernel_has_two_lists_unless_it_says_generations() {
        let lru = |extra| host(extra).map(|host| host.kernel.lru);
        assert_eq!(lru(""), Ok(Lru::TwoList));
        assert_eq!(lru("kernel.version = '6.12'"), Ok(Lru::TwoList));
        assert_eq!(lru("kernel.lru = 'mglru'"), Ok(Lru::Mglru));
        assert_eq!(lru("kernel = { version = '6.1', lru = 'mglru' }"), Ok(Lru::Mglru));
    }

    #[test]
    fn generations_need_a_kernel_that_has_them() {
        assert_snapshot!(host("[machine.kernel]\nversion = '5.15'\nlru = 'mglru'").unwrap_err(), @"x.toml:6: Linux 5.15 has no multi-generational lists; name 6.1 or a later version, or leave `lru` out");
        assert_snapshot!(host("kernel.lru = 'clock'").unwrap_err(), @r#"x.toml:4: `lru` cannot be "clock"; known words: `two-list`, `mglru`"#);
    }

    #[test]
    fn a_disk_may_have_a_curve_of_rates() {
        let disk =
            "size = '1 GB'\nread = '1 MB/s'\nwrite = '1 MB/s'\nread_at = { '31' = '9 MB/s', '4' = '7 MB/s' }";
        let host = host(&format!("[machine.disk.ssd]\n{disk}")).unwrap();
        assert_eq!(host.disks[0].read_at, [(4, BytesPerSecond(7e6)), (31, BytesPerSecond(9e6))]);
        assert_eq!(host.disks[0].sharing, Sharing::Total);
    }

    #[test]
    fn write_back_throttling_needs_a_kernel_that_has_it() {
        let disk = "size = '1 GB'\nread = '1 MB/s'\nwrite = '1 MB/s'";
        let disk = |keys: &str, version| {
            host(&format!("kernel.version = '{version}'\n[machine.disk.ssd]\n{disk}\n{keys}"))
                .map(|host| (host.disks[0].wbt_lat_usec, host.disks[0].queue_depth))
        };
        assert_eq!(disk("", "4.9"), Ok((0, None)));
        assert_eq!(disk("wbt_lat_usec = 0", "4.9"), Ok((0, None)));
        assert_eq!(disk("wbt_lat_usec = 75000\nqueue_depth = 32", "4.10"), Ok((75_000, Some(32))));
        assert_snapshot!(disk("wbt_lat_usec = 2000", "4.9").unwrap_err(), @"x.toml:9: Linux 4.9 has no write-back throttling; name 4.10 or a later version, or leave `wbt_lat_usec` out");
    }

    fn disks(keys: &[&str]) -> Result<Vec<Bdi>, String> {
        let disk = "size = '1 GB'\nread = '1 MB/s'\nwrite = '1 MB/s'";
        let disks =
            keys.iter().enumerate().map(|(at, keys)| format!("[machine.disk.d{at}]\n{disk}\n{keys}\n"));
        Ok(host(&disks.collect::<String>())?.disks.into_iter().map(|disk| disk.bdi).collect())
    }

    #[test]
    fn a_logical_block_is_a_power_of_two() {
        let block = |key: &str| {
            let disk = "size = '1 GB'\nread = '1 MB/s'\nwrite = '1 MB/s'";
            host(&format!("[machine.disk.ssd]\n{disk}\n{key}")).map(|host| host.disks[0].logical_block_size.0)
        };
        let sizes = ["", "logical_block_size = '4 KiB'", "logical_block_size = '64 KiB'"].map(block);
        assert_eq!(sizes, [Ok(512), Ok(4096), Ok(65_536)]);
        assert_snapshot!(block("logical_block_size = '1 kB'").unwrap_err(), @r#"x.toml:8: `logical_block_size` is 1 kB, but must be a power of two from 512 B to 64 KiB; write for example logical_block_size = "4 KiB""#);
        for wrong in ["256 B", "128 KiB"] {
            assert!(block(&format!("logical_block_size = '{wrong}'")).is_err());
        }
    }

    #[test]
    fn a_disk_has_the_ratios_of_its_bdi() {
        let bdis = disks(&[
            "",
            "min_ratio = 5\nmax_ratio = 12.3456",
            "max_ratio = 1\nstrict_limit = true\nstable_writes = true",
        ])
        .unwrap();
        let bdi = |min_ratio, max_ratio, is_set| Bdi {
            min_ratio,
            max_ratio,
            strict_limit: is_set,
            stable_writes: is_set,
        };
        assert_eq!(bdis[0], bdi(0, 1_000_000, false));
        assert_eq!(bdis[1], bdi(50_000, 123_456, false));
        assert_eq!(bdis[2], bdi(0, 10_000, true));
    }

    #[test]
    fn ratios_of_disks_fit_each_other() {
        assert_snapshot!(disks(&["min_ratio = 100"]).unwrap_err(), @"x.toml:8: `min_ratio` is the number 100, but must be a number from 0 to 99.9999; write for example min_ratio = 99.9999");
        assert_snapshot!(disks(&["max_ratio = 5\nmin_ratio = 5.5"]).unwrap_err(), @"x.toml:9: `min_ratio` is 5.5, more than `max_ratio`, which is 5; a disk's least part can be 5 at most");
        assert_snapshot!(disks(&["min_ratio = 70", "", "min_ratio = 30"]).unwrap_err(), @"x.toml:18: with this disk the `min_ratio` of all come to 100; those of all disks of a host must come to less than 100");
        assert_snapshot!(disks(&["strict_limit = 1"]).unwrap_err(), @"x.toml:8: `strict_limit` is the number 1, but must be true or false; write for example strict_limit = true");
        assert!(disks(&["min_ratio = 70", "min_ratio = 29.9999", "max_ratio = 0"]).is_ok());
    }

    #[test]
    fn a_curve_is_indexed_by_whole_numbers() {
        let disk = "size = '1 GB'\nread = '1 MB/s'\nwrite = '1 MB/s'\nread_at = { '0' = '9 MB/s' }";
        assert_snapshot!(host(&format!("[machine.disk.ssd]\n{disk}")).unwrap_err(), @"x.toml:8: `0` in `read_at` is no number of streams; write a whole number from 1 on, in quotes");
    }

    #[test]
    fn a_rate_in_a_curve_needs_its_unit() {
        let disk = "size = '1 GB'\nread = '1 MB/s'\nwrite = '1 MB/s'\nread_at = { '4' = 9 }";
        assert_snapshot!(host(&format!("[machine.disk.ssd]\n{disk}")).unwrap_err(), @r#"x.toml:8: `4` is the number 9 without a unit; a quantity is a string with its unit: 4 = "465 MB/s""#);
    }

    #[test]
    fn hosts_keep_the_order_of_the_file() {
        let scenario = read(&format!("{HOSTS}\n{PROCESS}"), &[]).unwrap();
        assert_eq!(
            scenario.machine.hosts.iter().map(|host| &*host.name).collect::<Vec<_>>(),
            ["client", "server"]
        );
        assert_eq!(scenario.processes[0].host, 0);
    }

    #[test]
    fn a_scenario_needs_a_machine() {
        assert_snapshot!(refusal(PROCESS), @r#"x.toml:1: there is no machine; add [machine] with for example from = "wrench-cluster""#);
    }

    #[test]
    fn a_name_has_letters() {
        assert_snapshot!(host("[machine.disk.'']").unwrap_err(), @r#"x.toml:4: "" cannot be a name in `disk`; use letters and digits"#);
        assert_snapshot!(host("[machine.disk.\"a\\nb\"]").unwrap_err(), @r#"x.toml:4: "a\nb" cannot be a name in `disk`; use letters and digits"#);
    }

    #[test]
    fn a_machine_and_hosts_do_not_go_together() {
        assert_snapshot!(refusal(&format!("{MACHINE}\n{HOSTS}\n{PROCESS}")), @"x.toml:1: there is [machine] and also [host]; make the machine a host: [host.NAME]");
    }

    #[test]
    fn cores_are_a_whole_number_from_one_on() {
        assert_snapshot!(refusal(&format!("[machine]\n{}\n{PROCESS}", NODE.replace('4', "0"))), @"x.toml:2: `cores` is the number 0, but must be a whole number from 1 to 1000000; write for example cores = 1");
        assert_snapshot!(refusal(&format!("[machine]\n{}\n{PROCESS}", NODE.replace('4', "1.5"))), @"x.toml:2: `cores` is the number 1.5, but must be a whole number from 1 to 1000000; write for example cores = 1");
    }

    #[test]
    fn an_unknown_setting_of_the_kernel_names_the_nearest() {
        assert_snapshot!(host("vm.dirty_ratoi = 10").unwrap_err(), @"x.toml:4: unknown key `dirty_ratoi` in [machine.vm]; did you mean `dirty_ratio`?");
    }

    #[test]
    fn an_override_of_an_unknown_disk_names_the_others() {
        let refused = read(&format!("{MACHINE}\n{PROCESS}"), &["machine.disk.sdd.read=1 MB/s"])
            .map(|_| ())
            .unwrap_err();
        assert_snapshot!(refused, @r#"--set machine.disk.sdd.read=1 MB/s: [machine.disk.sdd] has no `size`; add for example size = "20 GB"; or did you mean `ssd`?"#);
    }

    #[test]
    fn an_override_with_an_unknown_key_names_the_nearest() {
        let refuse = |set| read(&format!("{MACHINE}\n{PROCESS}"), &[set]).map(|_| ()).unwrap_err();
        assert_snapshot!(refuse("machine.vm.dirty_ratoi=10"), @"--set machine.vm.dirty_ratoi=10: unknown key `dirty_ratoi` in [machine.vm]; did you mean `dirty_ratio`?");
        assert_snapshot!(refuse("machin.vm.dirty_ratio=10"), @"--set machin.vm.dirty_ratio=10: unknown key `machin` in the scenario; did you mean `machine`?");
        assert_snapshot!(refuse("vm.dirty_ratio=10"), @"--set vm.dirty_ratio=10: unknown key `vm` in the scenario; did you mean `machine.vm`?");
        assert_snapshot!(refuse("machine.dirty_ratio=10"), @"--set machine.dirty_ratio=10: unknown key `dirty_ratio` in [machine]; did you mean `vm.dirty_ratio`?");
        assert_snapshot!(refuse("machine.vm=10"), @"--set machine.vm=10: [machine.vm] is the number 10, but must be a table");
    }
}
