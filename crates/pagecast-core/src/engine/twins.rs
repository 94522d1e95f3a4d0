//! Simulates one of the groups of hosts that are alike but for their names; its result is that of all.
//!
//! The nodes of a cluster that run the same job are such groups. Names matter to the weights of uneven disks and to options that name a
//! host; with any of those, no group is like another.

use rustc_hash::FxHashMap;

use super::groups::Part;
use super::settings::Settings;
use crate::machine::{Host, Machine};
use crate::scenario::Scenario;
use crate::units::Nanos;
use crate::workload::{InitialFile, IoPriority, Process, SameProgram, Slots};

/// See the module.
pub(super) struct Twins {
    /// The groups that are simulated, in ascending order.
    pub firsts: Vec<usize>,
    /// The place in `firsts` of the group that each one is like; it may be itself.
    pub like: Vec<usize>,
}

impl Twins {
    pub(super) fn of(parts: &[Part], model: &str, settings: &Settings) -> Self {
        let may_be_alike = parts.first().is_some_and(|part| !names_hosts(&part.scenario, model, settings));
        let (mut firsts, mut like) = (Vec::<usize>::new(), Vec::with_capacity(parts.len()));
        // Places in `firsts` of groups with the same workload.
        let mut candidates = FxHashMap::<Workload<'_>, Vec<usize>>::default();
        for (at, part) in parts.iter().enumerate() {
            let scenario = &part.scenario;
            let known = match Workload::of(scenario).filter(|_| may_be_alike && is_even(&scenario.machine)) {
                Some(workload) => candidates.entry(workload).or_default(),
                None => &mut Vec::new(),
            };
            let machine_of = |place: usize| &parts[firsts[place]].scenario.machine;
            let first = known.iter().copied().find(|&place| are_alike(machine_of(place), &scenario.machine));
            like.push(first.unwrap_or_else(|| {
                known.push(firsts.len());
                firsts.push(at);
                firsts.len() - 1
            }));
        }
        Self { firsts, like }
    }
}

/// Whether an option may be about one host: devices are named "HOST:DEVICE" in them.
fn names_hosts(scenario: &Scenario, model: &str, settings: &Settings) -> bool {
    scenario.options_of(model, &settings.options).values().any(|value| value.text.contains(':'))
}

/// Whether no disk serves equal streams unequally.
fn is_even(machine: &Machine) -> bool {
    machine.hosts.iter().flat_map(|host| &host.disks).all(|disk| disk.unevenness == 0.0)
}

/// Whether hosts and links are the same but for the names of hosts.
fn are_alike(one: &Machine, other: &Machine) -> bool {
    let are_same = |(one, other): (&Host, &Host)| {
        let Host {
            name: _,
            cores,
            memory,
            vm,
            kernel,
            cgroups,
            disks,
            nic,
            place,
            mounts,
            nfsd,
            cawl,
            uncertainty: _,
        } = one;
        *cores == other.cores
            && *memory == other.memory
            && *vm == other.vm
            && *kernel == other.kernel
            && *cgroups == other.cgroups
            && *disks == other.disks
            && *nic == other.nic
            && *place == other.place
            && *mounts == other.mounts
            && *nfsd == other.nfsd
            && *cawl == other.cawl
    };
    let counts = [one, other].map(|machine| (machine.hosts.len(), machine.links.len()));
    counts[0] == counts[1]
        && one.links == other.links
        && one.switches == other.switches
        && one.routes == other.routes
        && one.network == other.network
        && one.hosts.iter().zip(&other.hosts).all(are_same)
}

/// What is there before, and what processes do then, in the order of the scenario.
#[derive(PartialEq, Eq, Hash)]
struct Workload<'a> {
    files: &'a [InitialFile],
    processes: Vec<Work>,
}

/// A process but for its name.
#[derive(PartialEq, Eq, Hash)]
struct Work {
    host: usize,
    cgroup: Option<usize>,
    ioprio: IoPriority,
    start: Nanos,
    slots: Option<Slots>,
    /// The places of those that it waits for.
    after: Vec<Option<usize>>,
    program: SameProgram,
}

impl<'a> Workload<'a> {
    /// That of a group; none if it is not known which programs are the same as its.
    fn of(scenario: &'a Scenario) -> Option<Self> {
        let processes = &scenario.processes;
        let places: FxHashMap<&str, usize> =
            processes.iter().enumerate().map(|(at, process)| (&*process.name, at)).collect();
        let work = |process: &Process| {
            Some(Work {
                host: process.host,
                cgroup: process.cgroup,
                ioprio: process.ioprio,
                start: process.start,
                slots: process.slots.clone(),
                after: process.after.iter().map(|name| places.get(&**name).copied()).collect(),
                program: process.program.same()?,
            })
        };
        Some(Self { files: &scenario.files, processes: processes.iter().map(work).collect::<Option<_>>()? })
    }
}

#[cfg(test)]
mod tests;
