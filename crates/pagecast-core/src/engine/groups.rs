//! Simulates hosts that have nothing to do with each other group by group, on as many threads as there are processors.
//!
//! A run over thousands of hosts would touch the state of another host at every event and wait for memory each time. In groups a process
//! costs the same among a hundred thousand as among thirty. The result is the same, bit by bit: groups whose processes have ended go on,
//! with their flushers, until all have. Hosts belong together if one mounts the other's files, if the ways of
//! their mounts share a link or a switch, or if a process of one waits for a process
//! or an event of the other. Of groups that are alike one is simulated (`twins`).

use rustc_hash::FxHashMap;

use super::run::Engine;
use super::settings::Settings;
use super::threads;
use super::twins::Twins;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::machine::{Link, Machine, Mount, MountSource, Route, Striped};
use crate::net::Graph;
use crate::result::{Merger, SimulationResult};
use crate::scenario::Scenario;
use crate::stop::{self, Interrupt};
use crate::workload::{InitialFile, Process, Slots};

/// Simulates group by group.
pub(super) fn simulate<N: Network>(
    scenario: &Scenario,
    model: &str,
    mut settings: Settings,
) -> Result<SimulationResult, SimulationError> {
    scenario.check().map_err(SimulationError::Scenario)?;
    let interrupt = settings.interrupt.take();
    let groups = groups_of_hosts(scenario);
    let mut result = if groups.count == 1 {
        let run = || alone::<N>(scenario, model, &settings);
        stop::watched(interrupt, run).unwrap_or(Err(SimulationError::Interrupted))
    } else {
        several::<N>(scenario, model, &settings, (interrupt, &groups))
    }?;
    result.slots = slots_of(scenario);
    Ok(result)
}

/// Simulates all hosts together. In a frame of its own, as are several groups: programs simulate scenarios within scenarios, and each level
/// keeps its frames.
#[inline(never)]
fn alone<N: Network>(
    scenario: &Scenario,
    model: &str,
    settings: &Settings,
) -> Result<SimulationResult, SimulationError> {
    let mut engine = Engine::<N>::new(scenario, model, settings, scenario.machine.hosts.len())?;
    let end = engine.run()?;
    engine.finish(end)
}

#[inline(never)]
fn several<N: Network>(
    scenario: &Scenario,
    model: &str,
    settings: &Settings,
    (interrupt, groups): (Option<Interrupt>, &Groups),
) -> Result<SimulationResult, SimulationError> {
    let hosts = scenario.machine.hosts.len();
    let parts = split(scenario, groups);
    let names = scenario.machine.hosts.iter().map(|host| host.name.clone()).collect();
    let processes = scenario.processes.iter().map(|process| process.name.clone()).collect();
    let mut whole = Merger::new(names, processes, settings.record);
    let twins = Twins::of(&parts, model, settings);
    let firsts: Vec<&Part> = twins.firsts.iter().map(|&at| &parts[at]).collect();
    let mut results = Results::new(&twins);
    threads::simulate::<N>(&firsts, model, settings, interrupt, hosts, |first, result| {
        results.add(first, result, |at, result| whole.add(result, &parts[at].hosts, &parts[at].processes));
    })?;
    Ok(whole.finish())
}

fn slots_of(scenario: &Scenario) -> Vec<Option<u32>> {
    let slots = |process: &Process| process.slots.as_ref().map(|slots| slots.cores);
    scenario.processes.iter().map(slots).collect()
}

/// Results of groups that others are like, until the last of these has had it.
struct Results<'a> {
    twins: &'a Twins,
    /// How many groups still want the result of each that is simulated, and it, once it is there.
    left: Vec<(usize, Option<SimulationResult>)>,
    /// The next group.
    next: usize,
}

impl<'a> Results<'a> {
    fn new(twins: &'a Twins) -> Self {
        let mut left: Vec<(usize, Option<SimulationResult>)> = vec![(0, None); twins.firsts.len()];
        twins.like.iter().for_each(|&first| left[first].0 += 1);
        Self { twins, left, next: 0 }
    }

    /// The result of a group that is simulated has come, after those of all before it: gives away, in the order of groups, all that
    /// there are now.
    fn add(&mut self, first: usize, result: SimulationResult, mut give: impl FnMut(usize, SimulationResult)) {
        self.left[first].1 = Some(result);
        while let Some(&like) = self.twins.like.get(self.next) {
            let (left, known) = &mut self.left[like];
            let Some(result) = known.take() else { return };
            *left -= 1;
            if *left > 0 {
                *known = Some(result.clone());
            }
            give(self.next, result);
            self.next += 1;
        }
    }
}

/// The number of each host's group, counted from 0 in the order of hosts.
struct Groups {
    of_host: Vec<u32>,
    count: usize,
}

/// Sets of hosts that are joined one by one.
struct Joined(Vec<usize>);

impl Joined {
    fn root(&mut self, mut host: usize) -> usize {
        while self.0[host] != host {
            self.0[host] = self.0[self.0[host]];
            host = self.0[host];
        }
        host
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }
}

fn groups_of_hosts(scenario: &Scenario) -> Groups {
    let hosts = &scenario.machine.hosts;
    let mut joined = Joined((0..hosts.len()).collect());
    for (at, host) in hosts.iter().enumerate() {
        for mount in &host.mounts {
            servers(mount).for_each(|(server, _)| joined.join(at, server));
        }
    }
    join_over_network(&scenario.machine, &mut joined);
    let by_name: FxHashMap<&str, usize> =
        scenario.processes.iter().map(|process| (&*process.name, process.host)).collect();
    let mut of_event = FxHashMap::default();
    for process in &scenario.processes {
        for &host in process.slots.iter().flat_map(|slots| slots.hosts.iter()) {
            joined.join(process.host, host);
        }
        for before in process.after.iter().filter_map(|name| by_name.get(&**name)) {
            joined.join(process.host, *before);
        }
        match process.program.events() {
            Some(events) => {
                for event in events.waits.into_iter().chain(events.signals) {
                    joined.join(process.host, *of_event.entry(event).or_insert(process.host));
                }
            }
            // Nobody knows what it will do, and with whom it shares what it knows.
            None => (0..hosts.len()).for_each(|other| joined.join(0, other)),
        }
    }
    let mut numbers = FxHashMap::default();
    let of_host = (0..hosts.len())
        .map(|host| {
            let next = numbers.len() as u32;
            *numbers.entry(joined.root(host)).or_insert(next)
        })
        .collect();
    Groups { of_host, count: numbers.len() }
}

/// The servers of a mount, and the link to each that joins it with the client, if one does.
pub(super) fn servers(mount: &Mount) -> impl Iterator<Item = (usize, Option<usize>)> {
    let (nfs, striped) = match &mount.source {
        MountSource::Nfs { server, link, .. } => (Some((*server, *link)), None),
        MountSource::Striped(striped) => (None, Some(striped)),
        MountSource::Disk(_) | MountSource::Tmpfs => (None, None),
    };
    let striped = striped.into_iter().flat_map(Striped::all);
    nfs.into_iter().chain(striped.map(|server| (server.host, server.link)))
}

/// The servers of a mount that are reached over switches.
fn over_switches(mount: &Mount) -> impl Iterator<Item = usize> {
    servers(mount).filter(|(_, link)| link.is_none()).map(|(server, _)| server)
}

/// Joins hosts whose mounts are reached over the same links or switches.
fn join_over_network(machine: &Machine, joined: &mut Joined) {
    if !machine.has_switches() {
        return;
    }
    let graph = Graph::new(machine);
    let mut of_carrier = FxHashMap::default();
    for (client, host) in machine.hosts.iter().enumerate() {
        for server in host.mounts.iter().flat_map(over_switches) {
            for (from, to) in [(client, server), (server, client)] {
                for (carrier, _) in graph.hops(from, to, None).into_iter().flatten() {
                    joined.join(client, *of_carrier.entry(carrier).or_insert(client));
                }
            }
        }
    }
}

/// A group as a scenario of its own, and which hosts and processes of the whole it has.
pub(super) struct Part {
    pub scenario: Scenario,
    hosts: Vec<u32>,
    processes: Vec<u32>,
}

fn split(scenario: &Scenario, groups: &Groups) -> Vec<Part> {
    let machine = &scenario.machine;
    let mut parts: Vec<Part> = (0..groups.count).map(|_| Part::empty(scenario)).collect();
    // Where each host and link is within its group.
    let mut host_at = Vec::with_capacity(machine.hosts.len());
    for (host, &group) in groups.of_host.iter().enumerate() {
        let part = &mut parts[group as usize];
        host_at.push(part.hosts.len());
        part.hosts.push(host as u32);
    }
    let mut link_at = vec![0; machine.links.len()];
    let hosts = machine.hosts.len();
    for (at, link) in machine.links.iter().enumerate() {
        let Some((one, other)) = link.joined_hosts(hosts) else { continue };
        let links = &mut parts[groups.of_host[one] as usize].scenario.machine.links;
        link_at[at] = links.len();
        if groups.of_host[one] == groups.of_host[other] {
            links.push(Link { between: Some((host_at[one], host_at[other])), ..link.clone() });
        }
    }
    share_switches(machine, groups, &host_at, &mut parts);
    for (host, &group) in machine.hosts.iter().zip(&groups.of_host) {
        let mut own = host.clone();
        own.place = own.place.filter(|_| parts[group as usize].scenario.machine.network.is_some());
        own.mounts.iter_mut().for_each(|mount| renumber(mount, &host_at, &link_at));
        parts[group as usize].scenario.machine.hosts.push(own);
    }
    for file in &scenario.files {
        let part = &mut parts[groups.of_host[file.host] as usize];
        part.scenario.files.push(InitialFile { host: host_at[file.host], ..file.clone() });
    }
    for (at, process) in scenario.processes.iter().enumerate() {
        let part = &mut parts[groups.of_host[process.host] as usize];
        part.processes.push(at as u32);
        let slots = process.slots.as_ref().map(|slots| renumbered(slots, &host_at));
        part.scenario.processes.push(Process { host: host_at[process.host], slots, ..process.clone() });
    }
    parts
}

/// Gives the switches, the routes by hand and the network of one shape to groups that have mounts over them.
fn share_switches(machine: &Machine, groups: &Groups, host_at: &[usize], parts: &mut [Part]) {
    if !machine.has_switches() {
        return;
    }
    let hosts = machine.hosts.len();
    let needs = |host: &u32| {
        machine.hosts[*host as usize].mounts.iter().any(|mount| over_switches(mount).next().is_some())
    };
    for (group, part) in (0..).zip(parts).filter(|(_, part)| part.hosts.iter().any(needs)) {
        let own = &mut part.scenario.machine;
        own.network = machine.network.clone();
        own.switches = machine.switches.clone();
        let end = |end: usize| match groups.of_host.get(end) {
            None => Some(part.hosts.len() + end - hosts),
            Some(&of) => (of == group).then(|| host_at[end]),
        };
        let mut link_at = FxHashMap::default();
        for (at, link) in machine.links.iter().enumerate() {
            if link.joined_hosts(hosts).is_some() {
                continue;
            }
            let between = link.between.map(|(one, other)| Some((end(one)?, end(other)?)));
            if between != Some(None) {
                link_at.insert(at, own.links.len());
                own.links.push(Link { between: between.flatten(), ..link.clone() });
            }
        }
        let routes = machine.routes.iter().filter(|route| {
            let (from, to) = route.ends;
            groups.of_host[from] == group && groups.of_host[to] == group
        });
        own.routes.extend(routes.map(|route| Route {
            ends: (host_at[route.ends.0], host_at[route.ends.1]),
            links: route.links.iter().map(|link| link_at[link]).collect(),
            symmetrical: route.symmetrical,
        }));
    }
}

fn renumbered(slots: &Slots, host_at: &[usize]) -> Slots {
    Slots { hosts: slots.hosts.iter().map(|&host| host_at[host]).collect(), ..slots.clone() }
}

fn renumber(mount: &mut Mount, host_at: &[usize], link_at: &[usize]) {
    let each = |server: &mut usize, link: &mut Option<usize>| {
        (*server, *link) = (host_at[*server], link.map(|link| link_at[link]));
    };
    match &mut mount.source {
        MountSource::Nfs { server, link, .. } => each(server, link),
        MountSource::Striped(Striped { servers, metadata }) => {
            servers.iter_mut().chain([metadata]).for_each(|server| each(&mut server.host, &mut server.link));
        }
        MountSource::Disk(_) | MountSource::Tmpfs => {}
    }
}

/// The groups of a scenario, for tests.
#[cfg(test)]
pub(super) fn parts_of(scenario: &Scenario) -> Vec<Part> {
    split(scenario, &groups_of_hosts(scenario))
}

impl Part {
    fn empty(whole: &Scenario) -> Self {
        let scenario = Scenario {
            origin: whole.origin.clone(),
            models: whole.models.clone(),
            model_options: whole.model_options.clone(),
            residency: whole.residency,
            tolerance: whole.tolerance,
            machine: Machine::default(),
            files: Vec::new(),
            processes: Vec::new(),
            sources: Vec::new(),
        };
        Self { scenario, hosts: Vec::new(), processes: Vec::new() }
    }
}

#[cfg(test)]
mod tests;
