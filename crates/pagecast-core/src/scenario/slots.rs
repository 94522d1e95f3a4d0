//! Reads the cores that a process holds for itself, and the hosts where it may.

use super::document::{Place, shorten};
use super::network::{Hosts, find_host, host_of};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::machine::Machine;
use crate::workload::{Process, Slots};

/// The first host of a process, and what it says of cores of its own.
///
/// # Errors
/// Unknown hosts, `hosts` beside `host`, and keys about the choice of cores without `slots`.
pub fn hosts_and_slots(
    fields: &Fields<'_>,
    hosts: &Hosts<'_>,
) -> Result<(usize, Option<Slots>), ScenarioError> {
    let named: Option<Vec<String>> = fields.get("hosts")?;
    let Some(cores) = fields.get::<u32>("slots")? else {
        return match ["hosts", "priority"].into_iter().find(|key| fields.node(key).is_some()) {
            Some(key) => {
                let what = format!("`{key}` is for a process that waits for cores of its own");
                Err(fields.place(key).error(what, format!("add slots = 1, or remove `{key}`")))
            }
            None => Ok((host_of(fields, hosts)?, None)),
        };
    };
    let priority = fields.get("priority")?.unwrap_or(0);
    let at = fields.place("hosts");
    let chosen: Vec<usize> = match named {
        None => vec![host_of(fields, hosts)?],
        Some(_) if fields.node("host").is_some() => {
            return Err(at.error("a process has `host` and `hosts`", "remove one of them"));
        }
        Some(named) => named.iter().map(|name| find_host(name, hosts, at)).collect::<Result<_, _>>()?,
    };
    let Some(&first) = chosen.first() else {
        return Err(at.error("`hosts` is empty", "name the hosts that it may run on, or leave it out"));
    };
    Ok((first, Some(Slots { cores, priority, hosts: chosen.into() })))
}

/// Refuses cores that a process can never have; `at` gives the place of each of its keys.
///
/// # Errors
/// More cores than each of its hosts has, none, a host twice, or a memory cgroup beside several hosts.
pub fn check_slots<'p>(
    process: &Process,
    machine: &Machine,
    at: &dyn Fn(&'static str) -> &'p Place,
) -> Result<(), ScenarioError> {
    let Some(Slots { cores, hosts, .. }) = &process.slots else { return Ok(()) };
    let name = shorten(&process.name);
    let mut known: Vec<usize> = hosts.to_vec();
    known.sort_unstable();
    if let Some(twice) = known.windows(2).find(|two| two[0] == two[1]) {
        let what = format!("process `{name}` has host `{}` twice", machine.hosts[twice[0]].name);
        return Err(at("hosts").error(what, "remove one of them"));
    }
    let Some(most) = hosts.iter().copied().max_by_key(|&host| machine.hosts[host].cores) else {
        return Err(at("hosts").error(format!("process `{name}` has slots on no host"), "name a host"));
    };
    let most = &machine.hosts[most];
    if *cores == 0 || *cores > most.cores {
        let what = format!(
            "process `{name}` wants {cores} slots, and host `{}` has {} cores",
            most.name, most.cores
        );
        return Err(
            at("slots").error(what, format!("ask for 1 to {}, or give the host more `cores`", most.cores))
        );
    }
    if process.cgroup.is_some() && hosts.len() > 1 {
        let what = format!(
            "process `{name}` is in a memory cgroup, which one host has, and may run on {}",
            hosts.len()
        );
        return Err(at("cgroup").error(what, "remove `cgroup`, or name one host"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::scenario::testing::{HOSTS, read, refusal};

    fn text(rest: &str) -> String {
        format!("{HOSTS}\n[[process]]\nname = 'a'\ndo = [ {{ sleep = '1 s' }} ]\n{rest}")
    }

    #[test]
    fn slots_are_on_the_host_or_on_one_of_several() {
        let slots = |rest: &str| {
            let process = read(&text(rest), &[]).unwrap().processes.remove(0);
            let slots = process.slots.unwrap();
            (process.host, slots.cores, slots.priority, slots.hosts.to_vec())
        };
        assert_eq!(slots("slots = 1"), (0, 1, 0, vec![0]));
        assert_eq!(slots("slots = 2\nhost = 'server'"), (1, 2, 0, vec![1]));
        assert_eq!(slots("slots = 1\npriority = 3\nhosts = ['server', 'client']"), (1, 1, 3, vec![1, 0]));
    }

    #[test]
    fn slots_that_cannot_be_are_refused() {
        assert_snapshot!(refusal(&text("slots = 100000")), @"x.toml:6: process `a` wants 100000 slots, and host `client` has 4 cores; ask for 1 to 4, or give the host more `cores`");
        assert_snapshot!(refusal(&text("hosts = ['client']")), @"x.toml:6: `hosts` is for a process that waits for cores of its own; add slots = 1, or remove `hosts`");
        assert_snapshot!(refusal(&text("priority = 1")), @"x.toml:6: `priority` is for a process that waits for cores of its own; add slots = 1, or remove `priority`");
        assert_snapshot!(refusal(&text("slots = 1\nhosts = []")), @"x.toml:7: `hosts` is empty; name the hosts that it may run on, or leave it out");
        assert_snapshot!(refusal(&text("slots = 1\nhosts = ['clint']")), @"x.toml:7: there is no host `clint`; did you mean `client`?");
        assert_snapshot!(refusal(&text("slots = 1\nhost = 'client'\nhosts = ['client']")), @"x.toml:8: a process has `host` and `hosts`; remove one of them");
        assert_snapshot!(refusal(&text("slots = 1\nhosts = ['client', 'client']")), @"x.toml:7: process `a` has host `client` twice; remove one of them");
    }

    #[test]
    fn a_path_must_be_under_a_mount_of_each_host() {
        let all = format!(
            "{HOSTS}\n[[process]]\nname = 'a'\nslots = 1\nhosts = ['client', 'server']\n\
             do = [ {{ write = '/remote/f', size = '1 B' }} ]"
        );
        assert_snapshot!(refusal(&all), @r#"x.toml:7: the path "/remote/f" is under no mount of host `server`; correct it or add a mount (there are: `/export`)"#);
    }
}
