//! Builds the run: resources of all hosts and links, a policy for each host, the files that exist before.

use crate::device::{self, ReadWrite};
use crate::error::{Blame, SimulationError};
use crate::flow::{Network, Path};
use crate::fs::Namespace;
use crate::fs::nfs::Nfs;
use crate::machine::{Host, Link, MountSource};
use crate::net;
use crate::policy::registry::{self, Options};
use crate::policy::{Actions, Call, DeviceId, FileView, OperationId, Request, Setting};
use crate::result::{Part, Recorder};
use crate::scenario::{ModelOptions, OptionValue, Scenario};
use crate::units::Nanos;

use super::agenda::Agenda;
use super::processes::{Events, Running};
use super::{Engine, HostState, INTERRUPT_EVERY, Settings, Uneven};

/// What everything crosses, by index as in the machine.
pub(super) struct Paths {
    pub memory: Vec<ReadWrite>,
    pub disks: Vec<Vec<ReadWrite>>,
    pub links: Vec<Path>,
}

impl Paths {
    fn new(scenario: &Scenario, network: &mut impl Network) -> Self {
        let machine = &scenario.machine;
        let disks = |host: &Host, network: &mut _| host.disks.iter().map(|d| device::disk(d, network)).collect();
        Self {
            memory: machine.hosts.iter().map(|host| device::memory(&host.memory, network)).collect(),
            disks: machine.hosts.iter().map(|host| disks(host, network)).collect(),
            links: machine.links.iter().map(|link: &Link| net::link(link, network)).collect(),
        }
    }
}

/// An operation that nobody waits for.
pub(super) const NOBODY: OperationId = OperationId(u32::MAX);

impl<'a, N: Network> Engine<'a, N> {
    pub(super) fn new(
        scenario: &'a Scenario,
        model: &str,
        settings: Settings<'a>,
    ) -> Result<Self, SimulationError> {
        let mut network = N::default();
        let paths = Paths::new(scenario, &mut network);
        let options = options_of(scenario, model, &settings.options);
        let options = Options { origin: &scenario.origin, model, values: &options };
        let machine = &scenario.machine;
        let mut hosts = Vec::with_capacity(machine.hosts.len());
        for (host, memory) in machine.hosts.iter().zip(&paths.memory) {
            let setting = Setting { host, memory_read: memory.read, memory_write: memory.write };
            hosts.push(HostState {
                policy: registry::make(model, &setting, &options).map_err(SimulationError::Model)?,
                processors: device::processors(host.cores, &mut network),
                next_call: None,
                anonymous: 0,
            });
        }
        let names = scenario.processes.iter().map(|process| process.name.clone()).collect();
        Ok(Self {
            scenario,
            seed: settings.seed,
            residency: settings.residency,
            interrupt: settings.interrupt,
            until_interrupt: INTERRUPT_EVERY,
            now: Nanos::ZERO,
            network,
            hosts,
            uneven: uneven(scenario, &paths),
            paths,
            namespace: Namespace::new(machine),
            nfs: Nfs::default(),
            actions: Actions::default(),
            owners: Vec::new(),
            agenda: Agenda::default(),
            processes: Running::all(scenario)?,
            alive: scenario.processes.len() as u32,
            active: 0,
            ready: std::collections::VecDeque::new(),
            events: Events::default(),
            recorder: Recorder::new(machine.hosts.iter().map(|host| host.name.clone()).collect(), names),
        })
    }

    /// The files that exist before time 0, and what of them is cached.
    pub(super) fn load_files(&mut self) -> Result<(), SimulationError> {
        for host in 0..self.hosts.len() as u32 {
            self.with_policy(host, |_, _| {})?;
        }
        for file in &self.scenario.files {
            let place = self.scenario.origin.clone();
            let located = self.namespace.locate(file.host, &file.path).map_err(|_| {
                let at = Blame { place: place.clone(), process: "[[file]]".into(), time: Nanos::ZERO };
                SimulationError::no_mount(&self.scenario.machine, file.host, &file.path, at)
            })?;
            if file.size > self.namespace.free(located.file) {
                return Err(self.disk_full(place, format!("file {}", file.path), located.file, file.size));
            }
            self.namespace.resize(located.file, file.size);
            if file.cached.0 > 0 {
                let view = self.view(file.host, located);
                let call = Call::Preload { file: view, bytes: file.cached };
                self.request(file.host as u32, &Request { operation: NOBODY, call })?;
            }
        }
        Ok(())
    }

    /// A file as the policy of a host sees it.
    pub(super) fn view(&self, host: usize, located: crate::fs::Located) -> FileView {
        let (home, disk) = self.namespace.home(located.file);
        let mount = &self.scenario.machine.hosts[host].mounts[located.mount as usize];
        let (read, write, device) = match mount.source {
            MountSource::Disk(disk) => {
                let paths = &self.paths.disks[host][disk];
                (paths.read, paths.write, disk)
            }
            MountSource::Nfs { link, .. } => {
                let (paths, link) = (&self.paths.disks[home][disk], &self.paths.links[link]);
                let over = |path: &Path| path.renamed(Part::Server).join(link);
                let disks = self.scenario.machine.hosts[host].disks.len();
                (over(&paths.read), over(&paths.write), disks + located.mount as usize)
            }
        };
        let size = self.namespace.size(located.file);
        FileView { id: located.file, size, device: DeviceId(device as u32), read, write }
    }
}

/// The options of a model: the scenario's, and what the caller puts over them.
fn options_of(scenario: &Scenario, model: &str, over: &[(String, String)]) -> ModelOptions {
    let mut options = scenario.model_options.get(model).cloned().unwrap_or_default();
    for (key, text) in over {
        let at = format!("option {model}.{key}");
        options.insert(key.clone(), OptionValue { text: text.clone(), at });
    }
    options
}

fn uneven(scenario: &Scenario, paths: &Paths) -> Vec<Uneven> {
    let mut found = Vec::new();
    let mut number = 0;
    for (host, disks) in scenario.machine.hosts.iter().zip(&paths.disks) {
        for (disk, paths) in host.disks.iter().zip(disks) {
            if disk.unevenness > 0.0 {
                for path in [&paths.read, &paths.write] {
                    let resource = path.uses()[0].resource;
                    found.push(Uneven { resource, disk: number, variation: disk.unevenness });
                }
            }
            number += 1;
        }
    }
    found
}
