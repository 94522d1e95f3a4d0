//! Reads the cores that a process holds for itself, and chooses the hosts where it may.

use std::sync::Arc;

use super::document::{Place, shorten};
use super::hosts::{Hosts, find_host, host_of};
use super::paths::Mounts;
use super::table::Fields;
use crate::error::ScenarioError;
use crate::machine::Machine;
use crate::nearest::list;
use crate::workload::{Process, Slots, Workload, WorkloadSlots};

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

/// The hosts where the tasks of a workload may run.
pub struct TaskHosts {
    all: Arc<[usize]>,
    /// Those for what was recorded on each machine: one.
    of_machine: Vec<Arc<[usize]>>,
    notes: Vec<String>,
}

impl TaskHosts {
    /// Tasks run on the hosts that are named, or else on all that see the files of the first one. What was recorded on a machine runs
    /// on the host of its name; if not all machines have one, on the hosts in turn.
    ///
    /// # Errors
    /// Hosts that see other files, and hosts for a workload without tasks.
    pub fn of(
        fields: &Fields<'_>,
        hosts: &Hosts<'_>,
        mounts: &Mounts<'_>,
        dir: &str,
        workload: &Workload,
    ) -> Result<Self, ScenarioError> {
        let (all, mut notes) = task_hosts(fields, hosts, mounts, dir)?;
        let mut slots = workload.processes.iter().filter_map(|process| process.slots.as_ref()).peekable();
        if slots.peek().is_none() {
            return match fields.node("hosts") {
                Some(_) => {
                    let what = "`hosts` is for tasks of a workflow, and the file has none";
                    Err(fields.place("hosts").error(what, "write `host`"))
                }
                None => Ok(Self { all, of_machine: Vec::new(), notes: Vec::new() }),
            };
        }
        let has_machines = slots.any(|slots| slots.machine.is_some());
        let machine = mounts.machine();
        let named: Option<Vec<usize>> = workload
            .machines
            .iter()
            .map(|name| all.iter().copied().find(|&host| machine.hosts[host].name == **name))
            .collect();
        let in_turn = || all.iter().copied().cycle().take(workload.machines.len()).collect();
        let chosen = named.unwrap_or_else(in_turn);
        if has_machines && all.len() > 1 {
            let pairs = workload.machines.iter().zip(&chosen);
            let pairs: Vec<String> =
                pairs.map(|(name, &host)| format!("{name} on {}", machine.hosts[host].name)).collect();
            let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
            notes.push(format!("machines of the workflow: {}", list(&pairs)));
        }
        Ok(Self { all, of_machine: chosen.into_iter().map(|host| Arc::from([host])).collect(), notes })
    }

    /// What its user should know.
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The slots of a task.
    pub fn slots(&self, wanted: &WorkloadSlots) -> Slots {
        let &WorkloadSlots { cores, priority, machine } = wanted;
        let hosts = machine.map_or(&self.all, |machine| &self.of_machine[machine]);
        Slots { cores, priority, hosts: Arc::clone(hosts) }
    }
}

fn task_hosts(
    fields: &Fields<'_>,
    hosts: &Hosts<'_>,
    mounts: &Mounts<'_>,
    dir: &str,
) -> Result<(Arc<[usize]>, Vec<String>), ScenarioError> {
    let all = &mounts.machine().hosts;
    let home = |host: usize| {
        let inside = Arc::from(format!("{}/file", dir.trim_end_matches('/')));
        mounts.home(host, &inside, fields.at).ok().map(|home| (home.host, home.disk, home.path))
    };
    if let Some(named) = fields.get::<Vec<String>>("hosts")? {
        let at = fields.place("hosts");
        if fields.node("host").is_some() {
            return Err(at.error("a workload has `host` and `hosts`", "remove one of them"));
        }
        let chosen: Vec<usize> =
            named.iter().map(|name| find_host(name, hosts, at)).collect::<Result<_, _>>()?;
        let Some(&first) = chosen.first() else {
            return Err(at.error("`hosts` is empty", "name the hosts that tasks may run on, or leave it out"));
        };
        if let Some(&other) = chosen.iter().find(|&&host| home(host) != home(first)) {
            let what = format!(
                "host `{}` does not see \"{}\" of host `{}`",
                all[other].name,
                shorten(dir),
                all[first].name
            );
            return Err(at.error(what, "mount it there by `nfs`, or leave that host out"));
        }
        return Ok((chosen.into(), Vec::new()));
    }
    let first = host_of(fields, hosts)?;
    if fields.node("host").is_some() {
        return Ok(([first].into(), Vec::new()));
    }
    let chosen: Arc<[usize]> = (first..all.len()).filter(|&host| home(host) == home(first)).collect();
    let left_out = all.len() - chosen.len();
    let note = format!(
        "tasks run on {} of {} hosts: the others do not see \"{}\"",
        chosen.len(),
        all.len(),
        shorten(dir)
    );
    Ok((chosen, if left_out > 0 { vec![note] } else { Vec::new() }))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use insta::assert_snapshot;

    use crate::scenario::Scenario;
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

    /// An instance whose tasks were recorded on two machines, beside a scenario; the tasks' hosts or why they are refused.
    fn imported(
        machines: &[&str],
        machine: &str,
        keys: &str,
    ) -> Result<(Vec<Vec<usize>>, Vec<String>), String> {
        let folder = tempfile::tempdir().unwrap();
        let tasks = |of: &dyn Fn(usize, &str) -> serde_json::Value| {
            machines.iter().enumerate().map(|(at, name)| of(at, name)).collect::<Vec<_>>()
        };
        let instance = serde_json::json!({ "schemaVersion": "1.5", "workflow": {
            "specification": { "tasks": tasks(&|at, _| serde_json::json!({ "id": format!("t{at}") })) },
            "execution": {
                "tasks": tasks(&|at, name| serde_json::json!({ "id": format!("t{at}"), "runtimeInSeconds": 1, "machines": [name] })),
                "machines": tasks(&|_, name| serde_json::json!({ "nodeName": name }))
            }
        } });
        std::fs::write(folder.path().join("w.json"), instance.to_string()).unwrap();
        let text = format!("{machine}\n[[process]]\nfrom = 'w.json'\n{keys}");
        let scenario = Scenario::from_toml(text.as_bytes(), "x.toml", folder.path(), Path::new(""), &[]);
        let scenario = scenario.map_err(|error| error.to_string())?;
        let hosts =
            scenario.processes.iter().map(|process| process.slots.as_ref().unwrap().hosts.to_vec()).collect();
        let notes = scenario.sources[0].notes.iter().map(|note| note.text.clone());
        Ok((hosts, notes.filter(|note| note.contains("machines") || note.contains("hosts")).collect()))
    }

    /// Two clients of a server's directory.
    fn clients() -> String {
        let client = "memory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' }, cores = 2";
        let link = |client: &str| {
            format!(
                "link.{client} = {{ between = ['{client}', 'server'], rate = '1 GB/s', latency = '20 us' }}"
            )
        };
        format!(
            "host.one = {{ {client}, mount.'/data'.nfs = 'server:/export' }}
             host.two = {{ {client}, mount.'/data'.nfs = 'server:/export' }}
             host.server = {{ {client}, disk.d = {{ size = '1 TB', read = '1 GB/s', write = '1 GB/s' }}, mount.'/export'.disk = 'd' }}
             {}
             {}",
            link("one"),
            link("two")
        )
    }

    #[test]
    fn tasks_run_where_they_were_recorded_or_anywhere() {
        let hosts = |machines: &[&str], keys: &str| imported(machines, &clients(), keys).unwrap();
        let left_out = "tasks run on 2 of 3 hosts: the others do not see \"/data\"".to_owned();
        let by_name =
            vec![left_out.clone(), "machines of the workflow: `two on two`, `one on one`".to_owned()];
        assert_eq!(hosts(&["two", "one"], ""), (vec![vec![1], vec![0]], by_name));
        let (in_turn, notes) = hosts(&["a", "two", "c"], "");
        assert_eq!(in_turn, [[0], [1], [0]]);
        assert_eq!(notes[1], "machines of the workflow: `a on one`, `two on two`, `c on one`");
        assert_eq!(hosts(&["a", "b"], "machines = 'any'"), (vec![vec![0, 1], vec![0, 1]], vec![left_out]));
        assert_eq!(hosts(&["a", "b"], "host = 'two'").0, [[1], [1]]);
        assert_eq!(hosts(&["a", "b"], "hosts = ['two', 'one']").0, [[1], [0]]);
    }

    #[test]
    fn hosts_that_see_other_files_are_refused() {
        let why = |keys: &str| imported(&["a"], &clients(), keys).unwrap_err();
        assert_snapshot!(why("hosts = ['one', 'server']"), @r#"x.toml:8: host `server` does not see "/data" of host `one`; mount it there by `nfs`, or leave that host out"#);
        assert_snapshot!(why("hosts = ['one']\nhost = 'one'"), @"x.toml:8: a workload has `host` and `hosts`; remove one of them");
        assert_snapshot!(why("hosts = []"), @"x.toml:8: `hosts` is empty; name the hosts that tasks may run on, or leave it out");
        assert_snapshot!(why("task_order = 'lifo'"), @r#"x.toml:8: `task_order` cannot be "lifo"; did you mean `fifo`?"#);
    }
}
