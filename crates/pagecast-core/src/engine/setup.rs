//! Builds the run: resources of all hosts and of the network, a policy for each host, the files that exist before.

use std::sync::Arc;

use super::delegations::Delegations;
use crate::calls::Anonymous;
use crate::device::{self, ReadWrite};
use crate::error::SimulationError;
use crate::flow::{Network, Path, Route};
use crate::fs::nfs::Nfs;
use crate::fs::{Located, Namespace, Paths};
use crate::machine::{Host, Machine, Mount, MountSource, StripeServer};
use crate::net::{self, Net, Segments};
use crate::policy::registry;
use crate::policy::{Actions, Call, FileId, FileView, OperationId, Options, Request, Setting};
use crate::result::{BlockTable, Part};
use crate::scenario::Scenario;
use crate::units::{Bytes, Nanos};
use crate::workload::{Beside, IoPriority};

use super::agenda::Agenda;
use super::client_cache::ClientCaches;
use super::connections::Connections;
use super::disks::Disks;
use super::links::Links;
use super::recorder::Recorder;
use super::rpc_use::RpcUse;
use super::run::{Engine, HostState};
use super::running::{Events, Kiocbs, Running, SharedTable};
use super::services::Rpcs;
use super::settings::Settings;
use super::slots::Scheduler;
use super::stragglers::Stragglers;
use super::striped::StripedCalls;
use super::uneven::{Uneven, Weights};

/// The resources of a machine: memory of each host, then the disks of each host, then the network.
struct Hardware<'a> {
    memory: Vec<ReadWrite>,
    disks: Vec<Vec<ReadWrite>>,
    net: Net<'a>,
}

impl<'a> Hardware<'a> {
    fn new(machine: &'a Machine, network: &mut impl Network) -> Self {
        let disks =
            |host: &Host, network: &mut _| host.disks.iter().map(|d| device::disk(d, network)).collect();
        Self {
            memory: machine.hosts.iter().map(|host| device::memory(&host.memory, network)).collect(),
            disks: machine.hosts.iter().map(|host| disks(host, network)).collect(),
            net: Net::new(machine, network),
        }
    }

    /// What files under each mount of a host cross.
    fn mounts(&mut self, machine: &Machine, host: usize, network: &mut impl Network) -> Vec<Paths> {
        machine.hosts[host].mounts.iter().map(|mount| self.mount(machine, host, mount, network)).collect()
    }

    fn mount(&mut self, machine: &Machine, host: usize, mount: &Mount, network: &mut impl Network) -> Paths {
        let copy = self.memory[host].read.clone();
        match mount.source {
            MountSource::Disk(disk) => {
                let routes = self.disks[host][disk].clone();
                paths(routes.read.join(&copy), routes, network)
            }
            // Its bytes are copied, and nothing else.
            MountSource::Tmpfs => paths(copy, self.memory[host].clone(), network),
            MountSource::Striped(ref striped) => {
                for &StripeServer { host: server, link, .. } in striped.all() {
                    for ends in [(host, server), (server, host)] {
                        self.net.join(ends, link, network).expect("the scenario was checked for a way");
                    }
                }
                paths(copy, self.memory[host].clone(), network)
            }
            MountSource::Nfs { server, export, link } => {
                let MountSource::Disk(disk) = machine.hosts[server].mounts[export].source else {
                    unreachable!("only mounts of a disk are exported")
                };
                let mut way =
                    |ends| self.net.join(ends, link, network).expect("the scenario was checked for a way");
                let (there, back) = (way((host, server)), way((server, host)));
                let over = |disk: &Route, way: &net::Route| {
                    disk.clone().renamed(Part::Server).join(network.route(way.path))
                };
                let disk = &self.disks[server][disk];
                let (read, write) = (over(&disk.read, &back), over(&disk.write, &there));
                let paths = paths(read.join(&copy), ReadWrite { read, write }, network);
                self.net.note_like(paths.read, &back);
                self.net.note_like(paths.read_and_copy, &back);
                self.net.note_like(paths.write, &there);
                paths
            }
        }
    }

    /// The disk and the path of a write to the journal of each mount of a host that has it on a disk of its own.
    fn journals(&self, host: &Host, at: usize, network: &mut impl Network) -> Vec<Option<(usize, Path)>> {
        let write = |disk: usize| (disk, self.disks[at][disk].write.clone());
        let routes = host.mounts.iter().map(|mount| mount.journal_device.map(write));
        routes.map(|journal| journal.map(|(disk, route)| (disk, network.add_path(route)))).collect()
    }

    /// The resources that serve equal streams unequally.
    fn uneven(&self, machine: &Machine) -> Vec<Uneven> {
        let disks = machine.hosts.iter().flat_map(|host| host.disks.iter().map(move |disk| (host, disk)));
        let uneven = disks.zip(self.disks.iter().flatten()).filter(|((_, disk), _)| disk.unevenness > 0.0);
        let sides = uneven.flat_map(|((host, disk), routes)| {
            [&routes.read, &routes.write].map(|side| Uneven {
                resource: side.uses()[0].resource,
                disk: format!("{}:{}", host.name, disk.name),
                variation: disk.unevenness,
            })
        });
        sides.collect()
    }
}

/// Makes the paths of a mount known.
fn paths(read_and_copy: Route, routes: ReadWrite, network: &mut impl Network) -> Paths {
    Paths {
        read: network.add_path(routes.read),
        write: network.add_path(routes.write),
        read_and_copy: network.add_path(read_and_copy),
    }
}

impl<'a, N: Network> Engine<'a, N> {
    /// A run of a scenario that may be a group of a larger one of `hosts_in_all` hosts. It is boxed, and made in a frame of its own: programs
    /// simulate scenarios within scenarios, and each level keeps its frames.
    #[inline(never)]
    pub(super) fn new(
        scenario: &'a Scenario,
        model: &str,
        settings: &Settings,
        hosts_in_all: usize,
    ) -> Result<Box<Self>, SimulationError> {
        let mut network = N::default();
        let options = scenario.options_of(model, &settings.options);
        let options = Options { origin: &scenario.origin, model, values: &options };
        let machine = &scenario.machine;
        let mut hardware = Hardware::new(machine, &mut network);
        let mut hosts = Vec::with_capacity(machine.hosts.len());
        let mut journals: Vec<(usize, usize, Path)> = Vec::new();
        for (at, host) in machine.hosts.iter().enumerate() {
            let memory = &hardware.memory[at];
            let memory_read = network.add_path(memory.read.clone());
            let memory_write = network.add_path(memory.write.clone());
            let processors = device::processors(host.cores, &mut network);
            let logs = hardware.journals(host, at, &mut network);
            journals.extend(logs.iter().flatten().map(|&(disk, path)| (at, disk, path)));
            let logs = logs.into_iter().map(|log| log.map(|(_, path)| path)).collect();
            let seed = settings.seed;
            let setting = Setting { host, memory_read, memory_write, journals: logs, seed };
            hosts.push(HostState {
                policy: registry::make(model, &setting, &options).map_err(SimulationError::Model)?,
                processors: network.add_path(processors),
                mounts: hardware.mounts(machine, at, &mut network),
                devices: device_names(host),
                is_called: false,
                next_call: None,
                anonymous: Anonymous::new(host.cgroups.len()),
            });
        }
        let mut disks =
            Disks::new(machine, hosts.iter().map(|host| &host.mounts[..]), hosts_in_all, settings.at_risk);
        journals.into_iter().for_each(|(host, disk, path)| disks.add_journal(host, disk, path));
        if settings.at_risk {
            hosts.iter_mut().for_each(|host| host.policy.watch_risk());
        }
        let mut processes = Running::all(scenario);
        let names = scenario.processes.iter().map(|process| process.name.clone()).collect();
        Ok(Box::new(Self {
            scenario,
            model: model.to_owned(),
            seed: settings.seed,
            residency: settings.residency,
            keeps_blocks: hosts_in_all <= BlockTable::MOST_HOSTS,
            now: Nanos::ZERO,
            weights: Weights::new(settings.seed, hardware.uneven(machine)),
            net: hardware.net,
            links: Links::default(),
            segments: machine.device_buffer().map(Segments::new),
            network,
            disks,
            hosts,
            called: Vec::new(),
            namespace: Namespace::new(machine),
            nfs: Nfs::default(),
            connections: Connections::default(),
            delegations: Delegations::default(),
            rpcs: Rpcs::new(machine.hosts.iter().map(|host| host.nfsd.threads)),
            rpc_use: RpcUse::new(machine.hosts.len()),
            striped: StripedCalls::default(),
            stragglers: Stragglers::default(),
            client_caches: ClientCaches::default(),
            actions: Actions::default(),
            owners: Vec::new(),
            agenda: Agenda::default(),
            tables: SharedTable::all(&mut processes, scenario),
            processes,
            kiocbs: Kiocbs::default(),
            alive: scenario.processes.len() as u32,
            active: 0,
            ready: std::collections::VecDeque::new(),
            events: Events::default(),
            beside: Beside::default(),
            held: Vec::new(),
            scheduler: Scheduler::new(scenario),
            recorder: Recorder::new(
                machine.hosts.iter().map(|host| host.name.clone()).collect(),
                names,
                hosts_in_all,
                settings.record,
            ),
            ended: Vec::new(),
            completions_left: 0,
            changed: Vec::new(),
        }))
    }

    /// Tells each host's policy which process is in which memory cgroup, and which priority its requests have.
    pub(super) fn join_cgroups(&mut self) {
        for (at, process) in self.scenario.processes.iter().enumerate() {
            if process.ioprio != IoPriority::default() {
                self.hosts[process.host].policy.set_ioprio(OperationId(at as u32), process.ioprio);
            }
            if process.cgroup.is_some() {
                self.hosts[process.host].policy.charge_to(OperationId(at as u32), process.cgroup);
            }
        }
    }

    /// The files that exist before time 0, and what of them is cached.
    pub(super) fn load_files(&mut self) -> Result<(), SimulationError> {
        for (host, state) in self.hosts.iter().enumerate() {
            if state.policy.is_even() {
                self.recorder.change_evenly(host);
            }
        }
        for host in 0..self.hosts.len() as u32 {
            self.with_policy(host, |_, _| {})?;
        }
        for file in &self.scenario.files {
            let located = self.namespace.locate(file.host, &file.path).expect("the scenario was checked");
            self.namespace.grow(located.file, file.size);
            if file.cached == Bytes::ZERO {
                continue;
            }
            if self.namespace.striping(located.file).is_none() {
                let view = self.view(file.host, located);
                self.preload(file.host, view, (file.cached, file.dirty))?;
                continue;
            }
            // The servers cache a striped file.
            let shares = |bytes| self.namespace.shares(located.file, bytes);
            let datafiles: Vec<_> = shares(file.cached).zip(shares(file.dirty)).collect();
            for ((part, cached), (_, dirty)) in datafiles {
                let (host, _) = self.namespace.home(part);
                self.preload(host, self.view_at_home(part), (cached, dirty))?;
            }
        }
        Ok(())
    }

    /// A host has the first bytes of a file in its cache, of which the first are dirty.
    fn preload(
        &mut self,
        host: usize,
        file: FileView,
        (bytes, dirty): (Bytes, Bytes),
    ) -> Result<(), SimulationError> {
        if bytes == Bytes::ZERO {
            return Ok(());
        }
        let call = Call::Preload { file, bytes, dirty };
        self.request(host as u32, &Request { operation: OperationId::NOBODY, call })
    }

    /// A file as the policy of the host that keeps it sees it.
    pub(super) fn view_at_home(&self, file: FileId) -> FileView {
        let (host, mount) = self.namespace.home_mount(file);
        self.view(host, Located { file, mount })
    }

    /// A file as the policy of a host sees it.
    pub(super) fn view(&self, host: usize, located: Located) -> FileView {
        self.namespace.view(host, located, &self.hosts[host].mounts[located.mount as usize])
    }
}

/// A disk by its name, another host's directory by where it is mounted.
fn device_names(host: &Host) -> Vec<Arc<str>> {
    let disks = host.disks.iter().map(|disk| disk.name.as_str());
    disks.chain(host.mounts.iter().map(|mount| mount.path.as_str())).map(Arc::from).collect()
}
