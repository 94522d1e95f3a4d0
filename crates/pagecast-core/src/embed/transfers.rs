//! Moves the transfers of a page cache inside another simulator: those over a device are the other simulator's, copies are ours.
//!
//! All are flows of one network. A device is a resource without an end there, and a transfer over it has as its cap the rate that the other
//! simulator tells. So the bytes done, and the part that each moment belongs to, are counted as in our own engine. A cold read crosses a
//! device and memory at once, and the narrower side limits the other: if memory gives less than the device, the device is told to go no
//! faster.

use std::collections::BTreeMap;

use super::error::EmbedError;
use super::orders::{Direction, Order, Rate, TransferId};
use crate::device;
use crate::flow::fluid::Fluid;
use crate::flow::{Completion, FlowId, FlowSpec, Network, Path, Progress, Resource, ResourceId, Route, Use};
use crate::fs::Paths;
use crate::machine::{Host, Mount, MountSource};
use crate::policy::DeviceId;
use crate::result::Part;
use crate::units::Nanos;

/// More than any device gives, in bytes per second: what it really gives is told.
const NO_END: f64 = 1e18;

/// Rates that differ by less are the same: other simulators share by floating-point numbers.
const NOISE: f64 = 1e-6;

/// A transfer that the other simulator carries out.
struct Outside {
    flow: FlowId,
    bytes: u64,
    /// What its time is called while the device binds it.
    part: Part,
    crosses_memory: bool,
    /// What the policy allows.
    cap: Option<(f64, Part)>,
    /// What the other simulator was told last to allow.
    limit: Option<f64>,
    /// What it has told last.
    rate: Option<f64>,
    /// The cap of the flow; none while memory is the narrower side.
    held_at: Option<f64>,
}

/// See the module.
pub(super) struct Transfers {
    network: Fluid,
    memory: (Path, Path),
    mounts: Vec<Paths>,
    journals: Vec<Option<Path>>,
    /// The device that a resource stands for.
    devices: BTreeMap<ResourceId, DeviceId>,
    outside: BTreeMap<TransferId, Outside>,
}

impl Transfers {
    pub(super) fn new(host: &Host) -> Self {
        let mut network = Fluid::default();
        let copy = device::memory(&host.memory, &mut network);
        let memory = (network.add_path(copy.read.clone()), network.add_path(copy.write));
        let mut devices = BTreeMap::new();
        let mut paths: Vec<Paths> = Vec::new();
        for at in 0..host.disks.len() as u32 {
            let resource = network.add(Resource::constant(NO_END));
            devices.insert(resource, DeviceId(at));
            let side = |part| Route::new(&[Use { resource, cost: 1.0, part }]);
            paths.push(Paths {
                read: network.add_path(side(Part::DeviceRead)),
                write: network.add_path(side(Part::DeviceWrite)),
                read_and_copy: network.add_path(side(Part::DeviceRead).join(&copy.read)),
            });
        }
        let disk_of = |mount: &Mount| match mount.source {
            MountSource::Disk(disk) => disk,
            MountSource::Nfs { .. } | MountSource::Striped(_) | MountSource::Tmpfs => {
                unreachable!("all mounts are disks")
            }
        };
        let mounts = host.mounts.iter().map(|mount| paths[disk_of(mount)]).collect();
        let write = |disk: usize| paths[disk].write;
        let journals = host.mounts.iter().map(|mount| mount.journal_device.map(write)).collect();
        Self { network, memory, mounts, journals, devices, outside: BTreeMap::new() }
    }

    /// What copies out of the page cache, and into it, cross.
    pub(super) fn memory(&self) -> (Path, Path) {
        self.memory
    }

    /// The path of a write to the journal of each mount that has it on a disk of its own.
    pub(super) fn journals(&self) -> Vec<Option<Path>> {
        self.journals.clone()
    }

    /// The resources that files under each mount cross.
    pub(super) fn mounts(&self) -> &[Paths] {
        &self.mounts
    }

    pub(super) fn next_event(&mut self) -> Option<Nanos> {
        self.network.next_event()
    }

    pub(super) fn start(&mut self, now: Nanos, flow: FlowId, mut spec: FlowSpec, orders: &mut Vec<Order>) {
        let uses = self.network.route(spec.path).uses();
        let (first, crosses_memory) = (uses[0], uses.len() > 1);
        let Some(&device) = self.devices.get(&first.resource) else {
            return self.network.start(now, flow, spec);
        };
        let transfer = TransferId(flow.number);
        let direction = if first.part == Part::DeviceRead { Direction::Read } else { Direction::Write };
        let FlowSpec { bytes, weight, cap, .. } = spec;
        let limit = cap.map(|(rate, _)| rate);
        orders.push(Order::Start { transfer, device, direction, bytes, weight, limit });
        let (part, rate, held_at) = (first.part, None, Some(0.0));
        self.outside
            .insert(transfer, Outside { flow, bytes, part, crosses_memory, cap, limit, rate, held_at });
        // It stands still until its rate is told.
        spec.cap = Some((0.0, part));
        spec.weight = 1.0;
        self.network.start_endless(now, flow, spec);
    }

    pub(super) fn set_cap(
        &mut self,
        now: Nanos,
        flow: FlowId,
        cap: Option<(f64, Part)>,
        orders: &mut Vec<Order>,
    ) {
        let transfer = TransferId(flow.number);
        let Some(outside) = self.outside.get_mut(&transfer) else {
            return self.network.set_cap(now, flow, cap);
        };
        outside.cap = cap;
        // Until the other simulator tells the new rate.
        let rate = cap.map_or(f64::INFINITY, |(most, _)| most).min(outside.rate.unwrap_or(0.0));
        outside.hold(now, &mut self.network, Some(rate));
        outside.allow(transfer, cap.map(|(rate, _)| rate), orders);
    }

    pub(super) fn shorten(&mut self, now: Nanos, flow: FlowId, bytes: u64, orders: &mut Vec<Order>) {
        let transfer = TransferId(flow.number);
        match self.outside.get_mut(&transfer) {
            Some(outside) if bytes < outside.bytes => {
                outside.bytes = bytes;
                self.network.shorten(now, flow, bytes);
                orders.push(Order::Shorten { transfer, bytes });
            }
            Some(_) => {}
            None => self.network.shorten(now, flow, bytes),
        }
    }

    pub(super) fn cancel(&mut self, now: Nanos, flow: FlowId, orders: &mut Vec<Order>) {
        self.network.cancel(now, flow);
        let transfer = TransferId(flow.number);
        if self.outside.remove(&transfer).is_some() {
            orders.push(Order::Cancel { transfer });
        }
    }

    /// Takes out a transfer that the other simulator has completed.
    pub(super) fn complete(
        &mut self,
        now: Nanos,
        transfer: TransferId,
    ) -> Result<(FlowId, Completion), EmbedError> {
        let outside = self.outside.remove(&transfer).ok_or(EmbedError::NoSuchTransfer(transfer.0))?;
        let completion = self.network.end(now, outside.flow);
        Ok((outside.flow, Completion { bytes: outside.bytes, ..completion }))
    }

    /// Takes out the copies that have ended.
    pub(super) fn copied(&mut self, now: Nanos) -> Vec<Completion> {
        let mut ended = Vec::new();
        self.network.completed(now, &mut ended);
        ended
    }

    pub(super) fn check(&self, rate: &Rate) -> Result<(), EmbedError> {
        if !self.outside.contains_key(&rate.transfer) {
            return Err(EmbedError::NoSuchTransfer(rate.transfer.0));
        }
        let is_rate = rate.bytes_per_s.is_finite() && rate.bytes_per_s >= 0.0;
        if is_rate { Ok(()) } else { Err(EmbedError::NotARate(rate.bytes_per_s)) }
    }

    /// Takes a rate that has been checked. Transfers that policies have cancelled since are passed over.
    pub(super) fn set_rate(&mut self, now: Nanos, rate: &Rate) {
        let Some(outside) = self.outside.get_mut(&rate.transfer) else { return };
        let rate = rate.bytes_per_s;
        outside.rate = Some(rate);
        let cap = outside.cap.map(|(rate, _)| rate);
        let is_limited = |limit: f64| rate >= limit * (1.0 - NOISE);
        let by_memory =
            outside.crosses_memory && outside.limit.is_some_and(is_limited) && !cap.is_some_and(is_limited);
        outside.hold(now, &mut self.network, if by_memory { cap } else { Some(rate) });
    }

    /// Gives all flows their rates, limits those that memory limits, and reports the watched ones whose rate has changed.
    pub(super) fn settle(&mut self, now: Nanos, changed: &mut Vec<Progress>, orders: &mut Vec<Order>) {
        self.network.settle(now, changed);
        // Nobody is told of a rate before the other simulator has told it.
        let Self { outside, network, .. } = self;
        changed.retain(|each| match outside.get(&TransferId(each.flow.number)) {
            None => true,
            Some(outside) => outside.rate.is_some(),
        });
        for (&transfer, outside) in outside.iter_mut().filter(|(_, outside)| outside.crosses_memory) {
            if outside.rate.is_none() {
                continue;
            }
            let gives = network.progress(now, outside.flow).rate;
            let is_narrower = outside.held_at.is_none_or(|held_at| gives < held_at * (1.0 - NOISE));
            let cap = outside.cap.map(|(rate, _)| rate);
            outside.allow(transfer, if is_narrower { Some(gives) } else { cap }, orders);
        }
    }
}

impl Outside {
    /// The flow goes no faster than this.
    fn hold(&mut self, now: Nanos, network: &mut Fluid, rate: Option<f64>) {
        if rate == self.held_at {
            return;
        }
        self.held_at = rate;
        let part = match (self.cap, rate) {
            (Some((cap, part)), Some(rate)) if rate >= cap * (1.0 - NOISE) => part,
            _ => self.part,
        };
        network.set_cap(now, self.flow, rate.map(|rate| (rate, part)));
    }

    /// The other simulator is told if it may go faster or slower than it was told before.
    fn allow(&mut self, transfer: TransferId, limit: Option<f64>, orders: &mut Vec<Order>) {
        let is_same = match (limit, self.limit) {
            (Some(new), Some(old)) => (new - old).abs() <= NOISE * old,
            (new, old) => new == old,
        };
        if !is_same {
            self.limit = limit;
            orders.push(Order::Limit { transfer, limit });
        }
    }
}
