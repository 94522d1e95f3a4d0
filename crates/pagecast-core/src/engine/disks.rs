//! Tells the disks what flows and policies do on them.
//!
//! A transfer over a disk is a flow; requests that wait for it, and those that a policy sends one by one, are told by the policy. Left out:
//! the latency of a disk before a transfer, which is no request.

use std::sync::Arc;

use crate::flow::{FlowId, FlowSpec, Path};
use crate::fs::Paths;
use crate::machine::{Machine, MountSource};
use crate::policy::{DiskLoad, Policy};
use crate::result::{AtRisk, DeviceUse, Requests, SAMPLES, Timeline};
use crate::units::Nanos;

/// A disk of a host.
pub(super) struct Disk {
    pub host: u32,
    pub name: Arc<str>,
    pub used: DeviceUse,
    /// The largest request that it takes.
    request: u64,
    flows: u64,
    load: DiskLoad,
    /// Its bytes at risk of a power cut over time, if they are asked for.
    pub at_risk: Option<Timeline<AtRisk>>,
}

/// A flow over a disk.
#[derive(Clone, Copy)]
struct Under {
    flow: FlowId,
    disk: u32,
    is_write: bool,
    start: Nanos,
    request: u64,
}

/// The disks of all hosts; see the module.
pub(super) struct Disks {
    each: Vec<Disk>,
    /// The number of the first disk of each host.
    firsts: Vec<usize>,
    /// The disk of each path, and whether it is written there.
    of_path: Vec<Option<(u32, bool)>>,
    /// The flows over a disk, by their slots.
    flows: Vec<Option<Under>>,
}

impl Disks {
    /// Those of a machine, whose files cross these paths; `hosts_in_all` share the rows of the table.
    pub(super) fn new<'a>(
        machine: &Machine,
        mounts: impl Iterator<Item = &'a [Paths]>,
        hosts_in_all: usize,
        watches_risk: bool,
    ) -> Self {
        let (mut each, mut firsts) = (Vec::new(), Vec::new());
        for (at, host) in machine.hosts.iter().enumerate() {
            firsts.push(each.len());
            let most = SAMPLES / hosts_in_all / host.disks.len().max(1);
            each.extend(host.disks.iter().map(|disk| Disk {
                host: at as u32,
                name: Arc::from(disk.name.as_str()),
                used: DeviceUse::new(most),
                request: disk.queue.1.0.max(1),
                flows: 0,
                load: DiskLoad::default(),
                at_risk: watches_risk.then(|| Timeline::new(most)),
            }));
        }
        let mut disks = Self { each, firsts, of_path: Vec::new(), flows: Vec::new() };
        for ((at, host), paths) in machine.hosts.iter().enumerate().zip(mounts) {
            for (mount, paths) in host.mounts.iter().zip(paths) {
                let disk = match mount.source {
                    MountSource::Disk(disk) => disks.firsts[at] + disk,
                    MountSource::Nfs { server, export, .. } => {
                        match machine.hosts[server].mounts[export].source {
                            MountSource::Disk(disk) => disks.firsts[server] + disk,
                            MountSource::Nfs { .. } | MountSource::Striped(_) | MountSource::Tmpfs => {
                                continue;
                            }
                        }
                    }
                    MountSource::Striped(_) | MountSource::Tmpfs => continue,
                };
                for (path, is_write) in
                    [(paths.read, false), (paths.read_and_copy, false), (paths.write, true)]
                {
                    disks.set_path(path, (disk as u32, is_write));
                }
            }
        }
        disks
    }

    /// A journal is written to a disk over a path.
    pub(super) fn add_journal(&mut self, host: usize, disk: usize, path: Path) {
        self.set_path(path, ((self.firsts[host] + disk) as u32, true));
    }

    fn set_path(&mut self, path: Path, crossed: (u32, bool)) {
        if self.of_path.len() <= path.index() {
            self.of_path.resize(path.index() + 1, None);
        }
        self.of_path[path.index()] = Some(crossed);
    }

    fn under(&self, flow: FlowId, spec: &FlowSpec, start: Nanos) -> Option<Under> {
        let (disk, is_write) = (*self.of_path.get(spec.path.index())?)?;
        let most = self.each[disk as usize].request;
        let request = if spec.request == 0 { most } else { spec.request.min(most) };
        Some(Under { flow, disk, is_write, start, request })
    }

    /// A flow begins.
    pub(super) fn begin(&mut self, now: Nanos, flow: FlowId, spec: &FlowSpec) {
        let under = self.under(flow, spec, now);
        let slot = flow.slot as usize;
        if self.flows.len() <= slot {
            self.flows.resize(slot + 1, None);
        }
        self.flows[slot] = under;
        if let Some(under) = under {
            self.each[under.disk as usize].change_flows(now, 1);
        }
    }

    /// A flow has ended that has moved so many bytes.
    pub(super) fn end(&mut self, now: Nanos, flow: FlowId, bytes: u64) {
        if let Some(under) = self.flows.get_mut(flow.slot as usize).and_then(Option::take) {
            self.count(&under, now, bytes);
        }
    }

    fn count(&mut self, under: &Under, now: Nanos, bytes: u64) {
        let disk = &mut self.each[under.disk as usize];
        disk.change_flows(now, -1);
        let count = bytes.div_ceil(under.request);
        disk.used.moved(under.start, now, Requests { are_writes: under.is_write, count, bytes });
    }

    /// A flow has been served at once, from one instant to another.
    pub(super) fn served(&mut self, spec: &FlowSpec, start: Nanos, end: Nanos) {
        let nobody = FlowId { number: 0, slot: u32::MAX };
        if let Some(under) = self.under(nobody, spec, start) {
            self.each[under.disk as usize].change_flows(start, 1);
            self.count(&under, end, spec.bytes);
        }
    }

    /// The number of disks of a host.
    pub(super) fn of_host(&self, host: usize) -> usize {
        self.firsts.get(host + 1).unwrap_or(&self.each.len()) - self.firsts[host]
    }

    /// A policy has requests of its own on a disk of its host.
    pub(super) fn load(&mut self, now: Nanos, host: usize, disk: usize, load: DiskLoad) {
        self.each[self.firsts[host] + disk].set_load(now, load);
    }

    /// Asks a policy what a power cut would lose of a disk of its host, if that is wanted.
    pub(super) fn look_at_risk(&mut self, now: Nanos, host: usize, disk: usize, policy: &mut dyn Policy) {
        if let Some(timeline) = &mut self.each[self.firsts[host] + disk].at_risk
            && let Some(risk) = policy.at_risk(now, disk)
        {
            timeline.add(now, risk);
        }
    }

    /// Counts flows that have not ended at the end of a run, with the bytes that they have moved.
    pub(super) fn end_all(&mut self, now: Nanos, done: impl Fn(FlowId) -> u64) -> Vec<Disk> {
        for slot in 0..self.flows.len() {
            if let Some(under) = self.flows[slot].take() {
                self.count(&under, now, done(under.flow));
            }
        }
        std::mem::take(&mut self.each)
    }
}

impl Disk {
    fn change_flows(&mut self, now: Nanos, by: i64) {
        self.flows = self.flows.saturating_add_signed(by);
        self.tell_level(now);
    }

    fn tell_level(&mut self, now: Nanos) {
        self.used.level(now, self.load.waiting, self.flows + self.load.served);
    }

    fn set_load(&mut self, now: Nanos, load: DiskLoad) {
        if load == self.load {
            return;
        }
        let before = std::mem::replace(&mut self.load, load);
        for (are_writes, (new, old)) in
            [false, true].into_iter().zip(load.moved.into_iter().zip(before.moved))
        {
            let (count, bytes) = (new.requests - old.requests, new.bytes - old.bytes);
            if count > 0 {
                self.used.moved(now, now, Requests { are_writes, count, bytes });
            }
        }
        if load.flushes > before.flushes {
            self.used.flushed(now, load.flushes - before.flushes);
        }
        self.tell_level(now);
    }
}
