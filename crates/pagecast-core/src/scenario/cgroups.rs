//! Reads `[machine.cgroup.NAME]`: memory cgroups of a host, and the processes in them.

use super::document::{Node, Place, shorten};
use super::schema::{CGROUP, CGROUP_MEMORY};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::machine::{Cgroup, Host, MemoryLimit, ONLY_HOST};
use crate::nearest::hint;

/// The cgroups of a host, in the order of the file.
///
/// # Errors
/// A cgroup without a limit or with that of both versions, or whatever else is wrong in one.
pub fn read_cgroups(host: &Fields<'_>) -> Result<Vec<Cgroup>, ScenarioError> {
    host.named("cgroup")?.into_iter().map(|(name, node)| read_cgroup(name, node, host)).collect()
}

fn read_cgroup(name: &str, node: &Node, host: &Fields<'_>) -> Result<Cgroup, ScenarioError> {
    let fields = Fields::open(node, &CGROUP, host.inside(&format!("cgroup.{}", shorten(name))))?;
    let memory = fields.inner("memory", &CGROUP_MEMORY)?.expect("the schema requires it");
    let limit = match (memory.get("max")?, memory.get("limit_in_bytes")?) {
        (Some(max), None) => MemoryLimit::Max(max),
        (None, Some(limit)) => MemoryLimit::LimitInBytes(limit),
        (None, None) => {
            let remedy = "add memory.max = \"32 GB\", or memory.limit_in_bytes for cgroup v1";
            return Err(fields.at.error(format!("{} has no limit", fields.title), remedy));
        }
        (Some(_), Some(_)) => {
            let what = format!("{} has the limit of cgroup v2 and that of v1", fields.title);
            return Err(memory
                .place("limit_in_bytes")
                .error(what, "remove `memory.max` or `memory.limit_in_bytes`"));
        }
    };
    Ok(Cgroup { name: name.to_owned(), limit })
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
    use crate::units::Bytes;

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
        assert_snapshot!(refused(&[GROUPS[0], "machine.cgroup.batch.memory.limit_in_bytes='8 GB'"]), @"--set machine.cgroup.batch.memory.limit_in_bytes='8 GB': [machine.cgroup.batch] has the limit of cgroup v2 and that of v1; remove `memory.max` or `memory.limit_in_bytes`");
        assert_snapshot!(refused(&["machine.cgroup.batch.memory.high='8 GB'"]), @"--set machine.cgroup.batch.memory.high='8 GB': unknown key `high` in [machine.cgroup.batch.memory]; known keys: `max`, `limit_in_bytes`");
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
