//! Moves flows by fixed steps of time: slow, simple, and only there to check [`super::fluid`].
//!
//! Every step all rates are filled anew and every flow moves on by rate times step. A flow ends at the end of the step in which its last
//! byte moves, up to one step late. Only the end of a write cache's room is met exactly, and what happens while a limiter lets bytes pass.

use std::collections::BTreeMap;

use super::sharing::{self, Binding, Crossed, Member};
use super::write_cache::{Load, WriteCache, WriteCaches, cost_at, limited};
use super::{
    Completion, FlowId, FlowSpec, Network, Path, Progress, Resource, ResourceId, Route, finish_time,
};
use crate::result::{Part, Parts};
use crate::units::{Nanos, earlier};

const STEP: Nanos = Nanos(1_000_000);

/// The network by steps; see the module.
#[derive(Default)]
pub struct Stepped {
    resources: Vec<Resource>,
    caches: WriteCaches,
    routes: Vec<Route>,
    flows: BTreeMap<FlowId, Flow>,
    now: Nanos,
}

struct Flow {
    spec: FlowSpec,
    left: f64,
    rate: f64,
    part: Part,
    parts: Parts,
}

impl Flow {
    fn route(&self) -> usize {
        self.spec.path.0 as usize
    }
}

impl Stepped {
    fn fill(&mut self) {
        let count = |at: usize| {
            let crosses =
                |flow: &&Flow| self.routes[flow.route()].uses().iter().any(|u| u.resource.0 as usize == at);
            self.flows.values().filter(crosses).count() as u32
        };
        let shared: Vec<Crossed<'_>> = (0_u32..)
            .zip(&self.resources)
            .map(|(at, each)| (ResourceId(at), each, count(at as usize)))
            .collect();
        let mut members: Vec<Member<'_>> =
            self.flows.values().map(|flow| member(flow, &self.routes[flow.route()])).collect();
        sharing::fill(&shared, &mut members);
        for (flow, member) in self.flows.values_mut().zip(&members) {
            flow.rate = member.rate;
            flow.part = match (member.binding, flow.spec.cap) {
                (Binding::Resource(place), _) => self.routes[flow.route()].uses()[usize::from(place)].part,
                (_, Some((_, part))) => part,
                (_, None) => unreachable!("filling binds every flow"),
            };
        }
    }

    /// The load of a disk with a write cache.
    fn load(&self, writes: ResourceId, shared: Option<ResourceId>) -> Load {
        let of = |at: ResourceId| {
            let crosses = |flow: &&Flow| self.routes[flow.route()].uses().iter().any(|u| u.resource == at);
            let cost = |flow: &Flow| cost_at(self.routes[flow.route()].uses(), at, writes);
            let rates = self.flows.values().filter(crosses).map(|flow| flow.rate * cost(flow));
            (rates.clone().count() as u32, rates.sum())
        };
        Load::new(of(writes), shared.map(of))
    }

    fn turn_caches(&mut self, now: Nanos) {
        let Self { caches, routes, resources, .. } = self;
        caches.turn(now, |_| true, routes, |at, spec, _| resources[at.0 as usize] = spec.clone());
    }

    fn follow_caches(&mut self, now: Nanos) {
        let mut caches = std::mem::take(&mut self.caches);
        caches.follow(now, |_| true, |writes, shared| self.load(writes, shared));
        self.caches = caches;
    }

    /// Moves all flows on to `now` at the rates of the last fill.
    fn move_to(&mut self, now: Nanos) {
        let elapsed = now - self.now;
        for flow in self.flows.values_mut() {
            flow.left -= flow.rate * elapsed.as_seconds();
            flow.parts.add(flow.part, elapsed);
        }
        self.now = now;
    }
}

fn member<'a>(flow: &Flow, route: &'a Route) -> Member<'a> {
    Member::new(route.uses(), flow.spec.weight, flow.spec.cap.map(|(rate, _)| rate))
}

impl Network for Stepped {
    fn add(&mut self, resource: Resource) -> ResourceId {
        let id = ResourceId(self.resources.len() as u32);
        self.resources.push(limited(id, resource, &mut self.caches));
        id
    }

    fn add_write_cache(&mut self, cache: WriteCache) {
        self.caches.add(cache);
    }

    fn add_path(&mut self, route: Route) -> Path {
        self.routes.push(route);
        Path(self.routes.len() as u32 - 1)
    }

    fn route(&self, path: Path) -> &Route {
        &self.routes[path.0 as usize]
    }

    fn start(&mut self, now: Nanos, id: FlowId, spec: FlowSpec) {
        self.move_to(now);
        let part = self.routes[spec.path.0 as usize].uses()[0].part;
        let left = spec.bytes as f64;
        self.flows.insert(id, Flow { spec, left, rate: 0.0, part, parts: Parts::default() });
    }

    fn set_cap(&mut self, now: Nanos, flow: FlowId, cap: Option<(f64, Part)>) {
        self.move_to(now);
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.spec.cap = cap;
        }
    }

    fn shorten(&mut self, now: Nanos, flow: FlowId, bytes: u64) {
        self.move_to(now);
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.left -= flow.spec.bytes.saturating_sub(bytes) as f64;
            flow.spec.bytes = flow.spec.bytes.min(bytes);
        }
    }

    fn cancel(&mut self, now: Nanos, flow: FlowId) -> Progress {
        self.move_to(now);
        let progress = self.progress(now, flow);
        self.flows.remove(&flow);
        progress
    }

    fn settle(&mut self, now: Nanos, changed: &mut Vec<Progress>) {
        self.move_to(now);
        let before: Vec<f64> = self.flows.values().map(|flow| flow.rate).collect();
        self.turn_caches(now);
        self.fill();
        self.follow_caches(now);
        let news = self.flows.iter().zip(before).filter(|((_, flow), rate)| flow.rate != *rate);
        let watched = news.filter(|((_, flow), _)| flow.spec.watched);
        changed.extend(watched.map(|((&id, _), _)| self.progress(now, id)));
    }

    fn next_event(&mut self) -> Option<Nanos> {
        let next = Nanos((self.now.0 / STEP.0 + 1) * STEP.0);
        let mut next = earlier(Some(next), self.caches.next());
        if self.caches.is_passing() {
            // In a step, far more would pass than there are tokens.
            let ends = self.flows.values().map(|flow| finish_time(flow.left.max(0.0), flow.rate, self.now));
            next = ends.fold(next, |next, end| earlier(next, Some(end.max(self.now + Nanos(1)))));
        }
        next.filter(|_| !self.flows.is_empty())
    }

    fn completed(&mut self, now: Nanos, completed: &mut Vec<Completion>) {
        self.move_to(now);
        let ended: Vec<FlowId> =
            self.flows.iter().filter(|(_, flow)| flow.left <= 0.0).map(|(&id, _)| id).collect();
        for id in ended {
            if let Some(flow) = self.flows.remove(&id) {
                let (tag, bytes) = (flow.spec.tag, flow.spec.bytes);
                completed.push(Completion { flow: id, tag, bytes, parts: flow.parts });
            }
        }
    }

    fn progress(&self, now: Nanos, id: FlowId) -> Progress {
        let flow = &self.flows[&id];
        let left = flow.left - flow.rate * (now - self.now).as_seconds();
        Progress {
            flow: id,
            tag: flow.spec.tag,
            done: flow.spec.bytes as f64 - left.max(0.0),
            rate: flow.rate,
        }
    }
}

#[cfg(test)]
mod tests;
