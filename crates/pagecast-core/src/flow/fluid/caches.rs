//! Puts the write caches of disks into the event-driven network.

use super::Fluid;
use crate::flow::sharing;
use crate::flow::write_cache::{Load, cost_at};
use crate::flow::{Resource, ResourceId, Route};
use crate::units::Nanos;

impl Fluid {
    /// Marks resources of write caches that are full now for new rates.
    pub(super) fn touch_full_caches(&mut self, now: Nanos) {
        for id in self.caches.ended(now) {
            self.resources[id.0 as usize].touch(id, &mut self.touched);
        }
    }

    /// Lets the disks among `resources`, which are about to be given their rates, serve as their caches are now.
    pub(super) fn turn_caches(&mut self, now: Nanos, resources: &[u32]) {
        if self.caches.is_empty() {
            return;
        }
        let Self { caches, routes, resources: all, flows, .. } = self;
        caches.turn(
            now,
            |id| resources.contains(&id.0),
            routes,
            |id, spec: &Resource, routes: &[Route]| {
                let shared = &mut all[id.0 as usize];
                shared.spec = spec.clone();
                let flow = |slot: &u32| flows[*slot as usize].as_ref().expect("members are under way");
                let load = |slot| {
                    let flow: &super::Flow = flow(slot);
                    let used = flow.uses(routes).iter().find(|each| each.resource == id);
                    sharing::load(flow.spec.weight, used.expect("a member crosses the resource").cost)
                };
                shared.load = shared.members.iter().map(load).sum();
            },
        );
    }

    /// Tells the caches of the disks among `settled`, which have new rates, how full they get.
    pub(super) fn follow_caches(&mut self, now: Nanos, settled: &[u32]) {
        if self.caches.is_empty() {
            return;
        }
        let mut caches = std::mem::take(&mut self.caches);
        caches.follow(now, |id| settled.contains(&id.0), |writes, shared| self.load(writes, shared));
        self.caches = caches;
    }

    fn load(&self, writes: ResourceId, shared: Option<ResourceId>) -> Load {
        let of = |id: ResourceId| {
            let members = &self.resources[id.0 as usize].members;
            let load = |slot: &u32| {
                let flow = self.flow(*slot);
                self.rate(flow) * cost_at(flow.uses(&self.routes), id, writes)
            };
            (members.len() as u32, members.iter().map(load).sum())
        };
        Load::new(of(writes), shared.map(of))
    }
}
