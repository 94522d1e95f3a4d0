//! Shares the disks of a machine file among the transfers of a simulator that has none of its own, as our own engine does.
//!
//! Left out: `unevenness`, which gives each process of a scenario a share of its own.

use std::collections::{BTreeMap, BTreeSet};

use super::orders::{Direction, Order, Rate, TransferId};
use crate::device;
use crate::flow::fluid::Fluid;
use crate::flow::{FlowId, FlowSpec, Network, Path};
use crate::machine::Host;
use crate::result::Part;
use crate::units::Nanos;

/// See the module.
pub struct Disks {
    network: Fluid,
    /// Of each disk, for reads and for writes.
    paths: Vec<[Path; 2]>,
    under_way: BTreeMap<TransferId, FlowId>,
    vacant: Vec<u32>,
    /// Whose rate is to be told even if it is the same.
    limited: BTreeSet<TransferId>,
}

impl Disks {
    /// The disks of a host; [`Order::Start`] refers to them by index.
    #[must_use]
    pub fn new(host: &Host) -> Self {
        let mut network = Fluid::default();
        let mut paths = Vec::new();
        for disk in &host.disks {
            let routes = device::disk(disk, &mut network);
            paths.push([routes.read, routes.write].map(|route| network.add_path(route)));
        }
        Self { network, paths, under_way: BTreeMap::new(), vacant: Vec::new(), limited: BTreeSet::new() }
    }

    /// Does what an order says of a transfer. Transfers that were not started here are passed over.
    pub fn carry_out(&mut self, now: Nanos, order: &Order) {
        let cap = |limit: Option<f64>| limit.map(|limit| (limit, Part::Queueing));
        match *order {
            Order::Start { transfer, device, direction, bytes, weight, limit } => {
                let slot = self.vacant.pop().unwrap_or(self.under_way.len() as u32);
                let flow = FlowId { number: transfer.0, slot };
                self.under_way.insert(transfer, flow);
                let path = self.paths[device.0 as usize][usize::from(direction == Direction::Write)];
                let spec =
                    FlowSpec { path, bytes, weight, cap: cap(limit), watched: true, tag: 0, request: 0 };
                self.network.start(now, flow, spec);
            }
            Order::Limit { transfer, limit } => {
                if let Some(&flow) = self.under_way.get(&transfer) {
                    self.limited.insert(transfer);
                    self.network.set_cap(now, flow, cap(limit));
                }
            }
            Order::Shorten { transfer, bytes } => {
                if let Some(&flow) = self.under_way.get(&transfer) {
                    self.network.shorten(now, flow, bytes);
                }
            }
            Order::Cancel { transfer } => {
                if let Some(flow) = self.take_out(transfer) {
                    self.network.cancel(now, flow);
                }
            }
            Order::Done { .. } => {}
        }
    }

    /// What [`super::PageCache::advance`] is to be told now, after all orders have been carried out.
    pub fn rates(&mut self, now: Nanos) -> Vec<Rate> {
        let mut changed = Vec::new();
        self.network.settle(now, &mut changed);
        for transfer in std::mem::take(&mut self.limited) {
            let flow = self.under_way[&transfer];
            changed.push(self.network.progress(now, flow));
        }
        let rate = |each: &crate::flow::Progress| Rate {
            transfer: TransferId(each.flow.number),
            bytes_per_s: each.rate,
        };
        changed.iter().map(rate).collect()
    }

    /// When [`Self::completed`] or [`Self::rates`] has something new, if nothing else happens.
    pub fn next_event(&mut self) -> Option<Nanos> {
        self.network.next_event()
    }

    /// Takes the transfers out that have moved all their bytes by `now`; [`super::PageCache::completed`] is to be told of each.
    pub fn completed(&mut self, now: Nanos) -> Vec<TransferId> {
        let mut ended = Vec::new();
        self.network.completed(now, &mut ended);
        let transfers: Vec<_> = ended.iter().map(|each| TransferId(each.flow.number)).collect();
        for &transfer in &transfers {
            self.take_out(transfer);
        }
        transfers
    }

    fn take_out(&mut self, transfer: TransferId) -> Option<FlowId> {
        let flow = self.under_way.remove(&transfer)?;
        self.vacant.push(flow.slot);
        self.limited.remove(&transfer);
        Some(flow)
    }
}
