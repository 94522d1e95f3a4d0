//! Reads `[machine.cgroup.NAME]`: cgroups of a host, their limits of memory and I/O, and the processes in them.

use super::document::{Node, Place, shorten};
use super::schema::{CGROUP, CGROUP_IO, CGROUP_MEMORY};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::keys::Keyed;
use crate::machine::{Cgroup, Disk, Host, IoMax, MemoryLimit, ONLY_HOST};
use crate::nearest::hint;
use crate::units::Bytes;

const ADD_LIMIT: &str = "add memory.max = \"32 GB\", or memory.limit_in_bytes for cgroup v1";

/// The cgroups of a host with so much memory and these disks, in the order of the file.
///
/// # Errors
/// A cgroup without a limit or with that of both versions, limits on a disk that does not serve requests, or whatever else is wrong in one.
pub fn read_cgroups(host: &Fields<'_>, memory: Bytes, disks: &[Disk]) -> Result<Vec<Cgroup>, ScenarioError> {
    let read = |(name, node)| read_cgroup(name, node, host, memory, disks);
    host.named("cgroup")?.into_iter().map(read).collect()
}

fn read_cgroup(
    name: &str,
    node: &Node,
    host: &Fields<'_>,
    memory: Bytes,
    disks: &[Disk],
) -> Result<Cgroup, ScenarioError> {
    let fields = Fields::open(node, &CGROUP, host.inside(&format!("cgroup.{}", shorten(name))))?;
    let limit = read_memory(&fields, memory)?;
    let Some(io) = fields.inner("io", &CGROUP_IO)? else {
        return Ok(Cgroup::with_memory(name.to_owned(), limit));
    };
    if let MemoryLimit::LimitInBytes(_) = limit {
        let what = format!("{} is of cgroup v1, which has no `io`", fields.title);
        return Err(fields.place("io").error(what, "write memory.max instead of memory.limit_in_bytes"));
    }
    let io_weight = io.get("weight")?.unwrap_or(Cgroup::IO_WEIGHT);
    Ok(Cgroup { name: name.to_owned(), limit, io_max: read_io_max(&io, disks)?, io_weight })
}

/// The limits on disks, which must serve requests: `io.max` counts these.
fn read_io_max(io: &Fields<'_>, disks: &[Disk]) -> Result<Vec<(usize, IoMax)>, ScenarioError> {
    let mut found = Vec::new();
    for (name, node) in io.named("max")? {
        let title = io.inside(&format!("max.{}", shorten(name)));
        let limits: IoMax = Fields::open(node, IoMax::SCHEMA, title)?.read()?;
        let Some(at) = disks.iter().position(|disk| disk.name == name) else {
            let what = format!("there is no disk `{}`", shorten(name));
            let known = disks.iter().map(|disk| disk.name.as_str());
            return Err(node.at.error(what, hint(name, known, "its disks")));
        };
        if !disks[at].serves_pages() {
            let what =
                format!("disk `{}` does not serve requests one by one, which io.max counts", shorten(name));
            return Err(node.at.error(
                what,
                "give it `service`, the time of a request, without `rotation`, `raid`, `burst` and the like",
            ));
        }
        found.push((at, limits));
    }
    Ok(found)
}

/// The limit of its memory; without one that is all of the host's (`memory.max` is "max").
fn read_memory(fields: &Fields<'_>, all: Bytes) -> Result<MemoryLimit, ScenarioError> {
    let Some(memory) = fields.inner("memory", &CGROUP_MEMORY)? else {
        if fields.node("io").is_some() {
            return Ok(MemoryLimit::Max(all));
        }
        return Err(fields.at.error(format!("{} has no limit", fields.title), ADD_LIMIT));
    };
    let (max, high): (Option<Bytes>, Option<Bytes>) = (memory.get("max")?, memory.get("high")?);
    let of_v2 = match (max, high) {
        (Some(max), Some(high)) if max <= high => Some(MemoryLimit::Max(max)),
        (_, Some(high)) => Some(MemoryLimit::High(high)),
        (max, None) => max.map(MemoryLimit::Max),
    };
    Ok(match (of_v2, memory.get("limit_in_bytes")?) {
        (Some(limit), None) => limit,
        (None, Some(limit)) => MemoryLimit::LimitInBytes(limit),
        (None, None) => {
            return Err(fields.at.error(format!("{} has no limit", fields.title), ADD_LIMIT));
        }
        (Some(_), Some(_)) => {
            let what = format!("{} has the limit of cgroup v2 and that of v1", fields.title);
            return Err(memory
                .place("limit_in_bytes")
                .error(what, "remove `memory.max` and `memory.high`, or `memory.limit_in_bytes`"));
        }
    })
}

/// The index of the cgroup that a process names, if it names one.
///
/// # Errors
/// If its host has no such cgroup.
pub fn cgroup_of(fields: &Fields<'_>, host: &Host) -> Result<Option<usize>, ScenarioError> {
    let name = fields.get::<String>("cgroup")?;
    name.map(|name| find_cgroup(&name, host, fields.place("cgroup"))).transpose()
}

/// The index of a cgroup, or an error that names the nearest.
///
/// # Errors
/// If its host has no such cgroup.
pub fn find_cgroup(name: &str, host: &Host, at: &Place) -> Result<usize, ScenarioError> {
    host.cgroups.iter().position(|cgroup| cgroup.name == name).ok_or_else(|| {
        let what = format!("host `{}` has no cgroup `{}`", shorten(&host.name), shorten(name));
        let known = host.cgroups.iter().map(|cgroup| cgroup.name.as_str());
        let remedy = match host.cgroups.is_empty() {
            true => format!("add {} with memory.max = \"32 GB\"", title(host, name)),
            false => hint(name, known, "its cgroups"),
        };
        at.error(what, remedy)
    })
}

/// The table of a cgroup as it would be written.
fn title(host: &Host, name: &str) -> String {
    let of_host = if host.name == ONLY_HOST { ONLY_HOST.to_owned() } else { format!("host.{}", host.name) };
    format!("[{of_host}.cgroup.{}]", shorten(name))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::testing::{HOSTS, MACHINE, PROCESS, read, refusal};
    use crate::units::{Bytes, BytesPerSecond};

    const GROUPS: [&str; 2] =
        ["machine.cgroup.batch.memory.max='8 GB'", "machine.cgroup.old.memory.limit_in_bytes='4 GB'"];

    fn refused(set: &[&str]) -> String {
        read(&format!("{MACHINE}\n{PROCESS}"), set).map(|_| ()).expect_err("it should be refused")
    }

    #[test]
    fn the_key_of_the_limit_says_which_version() {
        let scenario = read(&format!("{MACHINE}\n{PROCESS}\ncgroup = 'old'"), &GROUPS).unwrap();
        let [batch, old] = &scenario.machine.hosts[0].cgroups[..] else { panic!("there are two") };
        assert_eq!((&*batch.name, batch.limit), ("batch", MemoryLimit::Max(Bytes(8_000_000_000))));
        assert_eq!((&*old.name, old.limit), ("old", MemoryLimit::LimitInBytes(Bytes(4_000_000_000))));
        assert_eq!(scenario.processes[0].cgroup, Some(1));
    }

    #[test]
    fn a_process_is_in_no_cgroup_unless_it_says_so() {
        let scenario = read(&format!("{MACHINE}\n{PROCESS}"), &GROUPS).unwrap();
        assert_eq!(scenario.processes[0].cgroup, None);
    }

    #[test]
    fn a_copy_may_be_in_a_cgroup_of_its_own() {
        let process = "[[process]]\nname = 'p{n}'\ncount = 2\ncgroup = 'g{n}'\ndo = [ { sleep = '1 s' } ]";
        let groups = ["machine.cgroup.g1.memory.max='8 GB'", "machine.cgroup.g2.memory.max='8 GB'"];
        let scenario = read(&format!("{MACHINE}\n{process}"), &groups).unwrap();
        let of = |at: usize| scenario.processes[at].cgroup;
        assert_eq!((of(0), of(1)), (Some(0), Some(1)));
    }

    #[test]
    fn a_cgroup_has_one_limit() {
        assert_snapshot!(refused(&["machine.cgroup.batch.memory={}"]), @"--set machine.cgroup.batch.memory={}: [machine.cgroup.batch] has no limit; add memory.max = \"32 GB\", or memory.limit_in_bytes for cgroup v1");
        assert_snapshot!(refused(&[GROUPS[0], "machine.cgroup.batch.memory.limit_in_bytes='8 GB'"]), @"--set machine.cgroup.batch.memory.limit_in_bytes='8 GB': [machine.cgroup.batch] has the limit of cgroup v2 and that of v1; remove `memory.max` and `memory.high`, or `memory.limit_in_bytes`");
        assert_snapshot!(refused(&["machine.cgroup.batch.memory.low='8 GB'"]), @"--set machine.cgroup.batch.memory.low='8 GB': unknown key `low` in [machine.cgroup.batch.memory]; known keys: `max`, `high`, `limit_in_bytes`");
    }

    #[test]
    fn the_lower_of_memory_max_and_memory_high_counts() {
        let limit = |high: &str| {
            let high = format!("machine.cgroup.batch.memory.high='{high}'");
            read(&format!("{MACHINE}\n{PROCESS}"), &[GROUPS[0], &high]).unwrap().machine.hosts[0].cgroups[0]
                .limit
        };
        assert_eq!(limit("2 GB"), MemoryLimit::High(Bytes(2_000_000_000)));
        assert_eq!([limit("8 GB"), limit("9 GB")], [MemoryLimit::Max(Bytes(8_000_000_000)); 2]);
    }

    const SERVICE: &str = "machine.disk.ssd.service='100 us'";

    #[test]
    fn limits_of_io_are_of_a_disk_and_without_a_limit_a_cgroup_has_all_memory() {
        let set = ["machine.cgroup.batch.io.max.ssd={ rbps = '20 MB/s', wiops = 200 }", SERVICE];
        let host = &read(&format!("{MACHINE}\n{PROCESS}"), &set).unwrap().machine.hosts[0];
        let batch = &host.cgroups[0];
        assert_eq!(batch.limit, MemoryLimit::Max(host.memory.size));
        let expected = IoMax { rbps: Some(BytesPerSecond(20e6)), wiops: Some(200), ..IoMax::default() };
        assert_eq!((&batch.io_max[..], batch.io_weight), (&[(0, expected)][..], Cgroup::IO_WEIGHT));
    }

    #[test]
    fn limits_of_io_are_of_v2_and_of_a_disk_that_serves_requests() {
        let max = "machine.cgroup.batch.io.max.ssd={ rbps = '20 MB/s' }";
        assert_snapshot!(refused(&[max]), @"--set machine.cgroup.batch.io.max.ssd={ rbps = '20 MB/s' }: disk `ssd` does not serve requests one by one, which io.max counts; give it `service`, the time of a request, without `rotation`, `raid`, `burst` and the like");
        assert_snapshot!(refused(&["machine.cgroup.batch.io.max.sdd.wiops=200", SERVICE]), @"--set machine.cgroup.batch.io.max.sdd.wiops=200: there is no disk `sdd`; did you mean `ssd`?");
        assert_snapshot!(refused(&["machine.cgroup.old.io.weight=300", GROUPS[1]]), @"--set machine.cgroup.old.io.weight=300: [machine.cgroup.old] is of cgroup v1, which has no `io`; write memory.max instead of memory.limit_in_bytes");
        assert_snapshot!(refused(&["machine.disk.ssd.iocost={ min = 50 }"]), @"--set machine.disk.ssd.iocost={ min = 50 }: [machine.disk.ssd] has `iocost`, but does not serve requests one by one; give it `service`, the time of a request, without `rotation`, `raid`, `burst` and the like");
        assert_snapshot!(refused(&["machine.disk.ssd.iocost={ min = 50, max = 20 }", SERVICE]), @"--set machine.disk.ssd.iocost={ min = 50, max = 20 }: `min` is 50, more than `max`, which is 20; equal values hold the speed where it is");
    }

    #[test]
    fn a_process_names_a_cgroup_of_its_host() {
        let in_batch = format!("{PROCESS}\ncgroup = 'bach'");
        assert_snapshot!(refusal(&format!("{MACHINE}\n{in_batch}")), @r#"x.toml:5: host `machine` has no cgroup `bach`; add [machine.cgroup.bach] with memory.max = "32 GB""#);
        let with_groups = read(&format!("{MACHINE}\n{in_batch}"), &GROUPS).map(|_| ());
        assert_snapshot!(with_groups.unwrap_err(), @"x.toml:5: host `machine` has no cgroup `bach`; did you mean `batch`?");
        let elsewhere = ["host.server.cgroup.bach.memory.max='8 GB'"];
        let on_client = read(&format!("{HOSTS}\n{in_batch}"), &elsewhere).map(|_| ());
        assert_snapshot!(on_client.unwrap_err(), @r#"x.toml:6: host `client` has no cgroup `bach`; add [host.client.cgroup.bach] with memory.max = "32 GB""#);
    }
}
