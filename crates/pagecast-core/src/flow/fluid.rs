//! Moves flows event by event: a change of rates touches only the resources it concerns.
//!
//! Each resource keeps a *service counter*: the bytes it has given to each unit of weight. A flow that a resource binds carries the value
//! of the counter at which it ends (its *tag*), so a change of the resource's level moves the ends of all its flows at the cost of one. A
//! flow bound by its own cap is timed alone. The counter is brought forward only when the level changes, never by a look, so that results
//! do not depend on looks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::places::Places;
use super::sharing::{self, Binding, Crossed, Member};
use super::write_cache::{WriteCache, WriteCaches, limited};
use super::{Completion, FlowId, FlowSpec, Network, Path, Progress, Resource, ResourceId, Route, Use};
use super::{NEVER, finish_time, served};
use crate::least::Least;
use crate::result::{Part, Parts};
use crate::units::{Nanos, earlier};

/// The network of flows; see the module.
#[derive(Default)]
pub struct Fluid {
    resources: Vec<Shared>,
    caches: WriteCaches,
    routes: Vec<Route>,
    flows: Vec<Option<Flow>>,
    /// Flows that have started or changed since the last `settle`.
    unsettled: Vec<u32>,
    /// Resources whose flows have changed since the last `settle`, each once.
    touched: Vec<u32>,
    /// Scratch of `settle`, kept for its memory: settled resources; the resources of one component, its flows by number, and the new
    /// bindings of those that were bound otherwise before.
    settled: Vec<u32>,
    connected: Vec<u32>,
    crossing: Vec<(u64, u32)>,
    outcome: Vec<(u32, Binding, f64)>,
    /// The number of components looked for: flows and resources with this number are in the last one.
    components: u64,
    /// The next end of a flow that a resource binds, and that resource.
    next_of_resources: Least,
    /// The ends of flows that their own caps bind; stale entries are passed over.
    next_of_capped: BinaryHeap<Reverse<(Nanos, Capped)>>,
}

/// The flow of an entry in `next_of_capped`: stale if the flow has gone or was bound anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Capped {
    slot: u32,
    number: u64,
    version: u32,
}

impl Capped {
    fn is_current(&self, flows: &[Option<Flow>]) -> bool {
        let flow = flows[self.slot as usize].as_ref();
        flow.is_some_and(|flow| flow.id.number == self.number && flow.version == self.version)
    }
}

/// The number of stale entries that is worth a search.
const MOST_STALE: usize = 256;

struct Shared {
    spec: Resource,
    /// All flows that cross it.
    members: Vec<u32>,
    /// The number of them that cross other resources too or have a cap: only then rates need the general filling.
    entangled: u32,
    load: u128,
    level: f64,
    counter: f64,
    since: Nanos,
    /// The flows it binds, by tag; entries of flows that have gone or are bound elsewhere are passed over.
    ends: BinaryHeap<Reverse<End>>,
    bound: u32,
    watched: u32,
    is_touched: bool,
    /// The last component it was in.
    component: u64,
}

impl Shared {
    fn counter_at(&self, now: Nanos) -> f64 {
        self.counter + served(self.level, self.since, now)
    }

    fn set_level(&mut self, now: Nanos, level: f64) {
        if level != self.level {
            self.counter = self.counter_at(now);
            self.since = now;
            self.level = level;
        }
    }

    fn touch(&mut self, own: ResourceId, touched: &mut Vec<u32>) {
        if !self.is_touched {
            self.is_touched = true;
            touched.push(own.0);
        }
    }
}

/// The end of a flow, in units of its resource's counter. Ordered by tag, then by the flow's number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End {
    tag: f64,
    number: u64,
    slot: u32,
    version: u32,
}

impl Eq for End {}
impl PartialOrd for End {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for End {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.tag.total_cmp(&other.tag).then(self.number.cmp(&other.number))
    }
}

struct Flow {
    id: FlowId,
    spec: FlowSpec,
    /// Its index in the `members` of each of its resources.
    places: Places,
    binding: Binding,
    /// Bound by a resource: the value of its counter at the end. Otherwise the bytes left at `since`.
    tag: f64,
    /// Rate while bound by its cap.
    cap_rate: f64,
    /// The time since which the binding holds, and `tag` has its value.
    since: Nanos,
    parts: Parts,
    /// Counts bindings: older entries in heaps are stale.
    version: u32,
    /// The rate that was reported last, if it is watched; at first none.
    reported: Option<f64>,
    /// The last component it was in.
    component: u64,
    /// True if another simulator tells its end; with all bytes moved it goes on, but is no further than its end.
    is_endless: bool,
}

impl Flow {
    fn uses<'a>(&self, routes: &'a [Route]) -> &'a [Use] {
        routes[self.spec.path.0 as usize].uses()
    }

    fn is_entangled(&self, routes: &[Route]) -> bool {
        self.uses(routes).len() > 1 || self.spec.cap.is_some()
    }

    fn bound_resource(&self, routes: &[Route]) -> Option<ResourceId> {
        match self.binding {
            Binding::Resource(place) => Some(self.uses(routes)[usize::from(place)].resource),
            Binding::New | Binding::Cap => None,
        }
    }

    /// Charges the time since the last change to the part that was binding.
    fn charge(&mut self, now: Nanos, routes: &[Route]) {
        let part = match self.binding {
            Binding::New => None,
            Binding::Resource(place) => Some(self.uses(routes)[usize::from(place)].part),
            Binding::Cap => self.spec.cap.map(|(_, part)| part),
        };
        if let Some(part) = part {
            self.parts.add(part, now - self.since);
        }
    }
}

impl Fluid {
    fn flow(&self, slot: u32) -> &Flow {
        self.flows[slot as usize].as_ref().expect("only flows that are under way are looked up")
    }

    fn remaining(&self, flow: &Flow, now: Nanos) -> f64 {
        match flow.bound_resource(&self.routes) {
            Some(resource) => {
                (flow.tag - self.resources[resource.0 as usize].counter_at(now)) * flow.spec.weight
            }
            None if flow.binding == Binding::Cap => flow.tag - served(flow.cap_rate, flow.since, now),
            None => flow.tag,
        }
    }

    fn rate(&self, flow: &Flow) -> f64 {
        match (flow.bound_resource(&self.routes), flow.binding) {
            (Some(resource), _) => self.resources[resource.0 as usize].level * flow.spec.weight,
            (None, Binding::Cap) => flow.cap_rate,
            (None, _) => 0.0,
        }
    }

    fn attach(&mut self, slot: u32) {
        let flow = self.flows[slot as usize].as_mut().expect("the flow was just put there");
        let entangled = u32::from(flow.is_entangled(&self.routes));
        for (place, each) in flow.uses(&self.routes).iter().enumerate() {
            let shared = &mut self.resources[each.resource.0 as usize];
            flow.places.set(place, shared.members.len() as u32);
            shared.members.push(slot);
            shared.load += sharing::load(flow.spec.weight, each.cost);
            shared.entangled += entangled;
            shared.watched += u32::from(flow.spec.watched);
            shared.touch(each.resource, &mut self.touched);
        }
    }

    fn detach(&mut self, slot: u32) {
        let flow = self.flow(slot);
        let (entangled, watched) = (u32::from(flow.is_entangled(&self.routes)), u32::from(flow.spec.watched));
        let (path, weight) = (flow.spec.path.0 as usize, flow.spec.weight);
        for (number, each) in self.routes[path].uses().iter().enumerate() {
            let shared = &mut self.resources[each.resource.0 as usize];
            let leaving = self.flows[slot as usize].as_ref().expect("it is under way");
            let at = leaving.places.get(number) as usize;
            shared.members.swap_remove(at);
            if let Some(&moved) = shared.members.get(at) {
                let other = self.flows[moved as usize].as_mut().expect("members are under way");
                let its_place = other.uses(&self.routes).iter().position(|u| u.resource == each.resource);
                other.places.set(its_place.expect("a member crosses the resource"), at as u32);
            }
            shared.load -= sharing::load(weight, each.cost);
            shared.entangled -= entangled;
            shared.watched -= watched;
            shared.touch(each.resource, &mut self.touched);
        }
    }

    fn release(&mut self, resource: ResourceId) {
        let shared = &mut self.resources[resource.0 as usize];
        shared.bound -= 1;
        if shared.bound == 0 {
            shared.counter = 0.0;
            shared.level = 0.0;
            shared.ends.clear();
        }
    }

    /// Changes the terms of a flow, unless it has ended. It is unbound until the next `settle`.
    fn change(&mut self, now: Nanos, flow: FlowId, change: impl FnOnce(&mut FlowSpec)) {
        let Some(current) = self.flows[flow.slot as usize].as_ref().filter(|current| current.id == flow)
        else {
            return;
        };
        let remaining = self.remaining(current, now);
        let bound = current.bound_resource(&self.routes);
        let Self { flows, routes, resources, touched, .. } = self;
        let current = flows[flow.slot as usize].as_mut().expect("only flows under way are changed");
        current.charge(now, routes);
        let (bytes, was_entangled) = (current.spec.bytes, current.is_entangled(routes));
        change(&mut current.spec);
        let remaining = (remaining - (bytes - current.spec.bytes) as f64).max(0.0);
        (current.binding, current.since, current.tag) = (Binding::New, now, remaining);
        let is_entangled = current.is_entangled(routes);
        for each in current.uses(routes) {
            let shared = &mut resources[each.resource.0 as usize];
            shared.entangled = shared.entangled + u32::from(is_entangled) - u32::from(was_entangled);
            shared.touch(each.resource, touched);
        }
        if let Some(resource) = bound {
            self.release(resource);
        }
        self.unsettled.push(flow.slot);
    }

    /// Takes a flow off its resources and accounts for its time; it is unbound then.
    fn free(&mut self, slot: u32, now: Nanos) {
        let flow = self.flows[slot as usize].as_mut().expect("only flows that are under way are freed");
        flow.charge(now, &self.routes);
        let bound = flow.bound_resource(&self.routes);
        self.detach(slot);
        if let Some(resource) = bound {
            self.release(resource);
        }
    }

    /// Binds a flow to its new limit. Flows that go from a resource to another limit have been unbound.
    fn bind(&mut self, slot: u32, now: Nanos, binding: Binding, rate: f64) {
        let flow = self.flow(slot);
        let remaining = self.remaining(flow, now);
        let flow = self.flows[slot as usize].as_mut().expect("only flows that are under way are bound");
        flow.charge(now, &self.routes);
        flow.binding = binding;
        flow.since = now;
        flow.version += 1;
        match flow.bound_resource(&self.routes) {
            None => {
                flow.cap_rate = rate;
                flow.tag = remaining;
                let capped = Capped { slot, number: flow.id.number, version: flow.version };
                if rate > 0.0 && !flow.is_endless {
                    self.next_of_capped.push(Reverse((finish_time(remaining, rate, now), capped)));
                    self.forget_stale();
                }
            }
            Some(resource) => {
                let (number, version, weight) = (flow.id.number, flow.version, flow.spec.weight);
                let is_endless = flow.is_endless;
                let shared = &mut self.resources[resource.0 as usize];
                let tag = shared.counter_at(now) + remaining / weight;
                shared.bound += 1;
                if !is_endless {
                    shared.ends.push(Reverse(End { tag, number, slot, version }));
                }
                flow.tag = tag;
            }
        }
    }

    /// Removes stale entries, which frequent changes of caps leave behind, once they are the most.
    fn forget_stale(&mut self) {
        if self.next_of_capped.len() > MOST_STALE + 2 * self.flows.len() {
            let Self { next_of_capped, flows, .. } = self;
            next_of_capped.retain(|Reverse((_, capped))| capped.is_current(flows));
        }
    }

    /// Finds all resources that are connected with `start`, in ascending order, and all flows with their numbers, in the order of
    /// their starts.
    fn component(&mut self, start: u32, (connected, crossing): (&mut Vec<u32>, &mut Vec<(u64, u32)>)) {
        self.components += 1;
        let Self { resources, flows, routes, components, .. } = self;
        connected.push(start);
        resources[start as usize].component = *components;
        let mut next = 0;
        while let Some(&resource) = connected.get(next) {
            next += 1;
            for place in 0..resources[resource as usize].members.len() {
                let slot = resources[resource as usize].members[place];
                let flow = flows[slot as usize].as_mut().expect("members are under way");
                if std::mem::replace(&mut flow.component, *components) == *components {
                    continue;
                }
                crossing.push((flow.id.number, slot));
                for each in flow.uses(routes) {
                    let other = &mut resources[each.resource.0 as usize];
                    if std::mem::replace(&mut other.component, *components) != *components {
                        connected.push(each.resource.0);
                    }
                }
            }
        }
        connected.sort_unstable();
        crossing.sort_unstable();
    }

    /// Gives rates to a component whose flows cross several resources or have caps, and settles its resources.
    fn settle_component(&mut self, now: Nanos, start: u32, settled: &mut Vec<u32>) {
        let (mut resources, mut flows) =
            (std::mem::take(&mut self.connected), std::mem::take(&mut self.crossing));
        self.component(start, (&mut resources, &mut flows));
        self.turn_caches(now, &resources);
        let mut outcome = std::mem::take(&mut self.outcome);
        let levels = self.fill(&resources, &flows, &mut outcome);
        // Flows leave a resource under its old level, so all that change go before any level does.
        for &(slot, ..) in &outcome {
            if self.flow(slot).bound_resource(&self.routes).is_some() {
                self.unbind(slot, now);
            }
        }
        for (&resource, &level) in resources.iter().zip(&levels) {
            if level.is_finite() {
                self.resources[resource as usize].set_level(now, level);
            }
        }
        for &(slot, binding, rate) in &outcome {
            self.bind(slot, now, binding, rate);
        }
        for &resource in &resources {
            self.resources[resource as usize].is_touched = false;
        }
        settled.append(&mut resources);
        flows.clear();
        outcome.clear();
        (self.connected, self.crossing, self.outcome) = (resources, flows, outcome);
    }

    /// The flow of a component, if that has no other and no disk with a write cache.
    fn only_flow(&self, resource: u32) -> Option<u32> {
        let &[slot] = &self.resources[resource as usize].members[..] else { return None };
        let is_alone = |each: &Use| self.resources[each.resource.0 as usize].members.len() == 1;
        (self.caches.is_empty() && self.flow(slot).uses(&self.routes).iter().all(is_alone)).then_some(slot)
    }

    /// Gives a flow that shares nothing its rate, as [`Self::settle_component`] does.
    fn settle_only(&mut self, now: Nanos, slot: u32, settled: &mut Vec<u32>) {
        let first = settled.len();
        let flow = self.flow(slot);
        settled.extend(flow.uses(&self.routes).iter().map(|each| each.resource.0));
        settled[first..].sort_unstable();
        let resource = |id: ResourceId| &self.resources[id.0 as usize].spec;
        let cap = flow.spec.cap.map(|(rate, _)| rate);
        let only = sharing::fill_one(flow.uses(&self.routes), flow.spec.weight, cap, resource);
        let has_changed = flow.binding != only.binding;
        if has_changed && flow.bound_resource(&self.routes).is_some() {
            self.unbind(slot, now);
        }
        if let Some((resource, level)) = only.level {
            self.resources[resource.0 as usize].set_level(now, level);
        }
        if has_changed {
            self.bind(slot, now, only.binding, only.rate);
        }
        for &resource in &settled[first..] {
            self.resources[resource as usize].is_touched = false;
        }
    }

    /// Takes a flow off the resource that binds it; it is unbound until it is bound again.
    fn unbind(&mut self, slot: u32, now: Nanos) {
        let remaining = self.remaining(self.flow(slot), now);
        let resource = self.flow(slot).bound_resource(&self.routes).expect("the caller has looked");
        self.release(resource);
        let flow = self.flows[slot as usize].as_mut().expect("only flows that are under way are unbound");
        flow.charge(now, &self.routes);
        (flow.binding, flow.since, flow.tag) = (Binding::New, now, remaining);
    }

    /// Returns the level of each resource of a component, and in `outcome` the flows with a new binding, with it and their rates.
    fn fill(
        &self,
        resources: &[u32],
        flows: &[(u64, u32)],
        outcome: &mut Vec<(u32, Binding, f64)>,
    ) -> Vec<f64> {
        let crossed = |&each: &u32| {
            let shared = &self.resources[each as usize];
            (ResourceId(each), &shared.spec, shared.members.len() as u32)
        };
        let member = |&(_, slot): &(u64, u32)| {
            let flow = self.flow(slot);
            Member::new(flow.uses(&self.routes), flow.spec.weight, flow.spec.cap.map(|(rate, _)| rate))
        };
        let crossed: Vec<Crossed<'_>> = resources.iter().map(crossed).collect();
        let mut members: Vec<Member<'_>> = flows.iter().map(member).collect();
        let levels = sharing::fill(&crossed, &mut members);
        let bound =
            flows.iter().zip(&members).map(|(&(_, slot), member)| (slot, member.binding, member.rate));
        outcome.extend(bound.filter(|&(slot, binding, _)| self.flow(slot).binding != binding));
        levels
    }

    /// Returns the level of a resource whose flows cross nothing else and have no caps.
    fn settle_alone(&mut self, now: Nanos, resource: u32) {
        self.turn_caches(now, &[resource]);
        let shared = &mut self.resources[resource as usize];
        if shared.members.is_empty() {
            return;
        }
        let capacity = shared.spec.capacity(shared.members.len() as u32);
        let level = sharing::level(&shared.spec, capacity, shared.load);
        shared.set_level(now, level);
    }

    /// Announces the next end of a flow on a resource.
    fn announce(&mut self, resource: u32, next: Option<(Nanos, u32)>) {
        let next = next.filter(|&(time, _)| time != NEVER);
        self.next_of_resources.set(resource, next.map(|(time, _)| (time.0, resource)));
    }

    /// Returns the next end on a resource; stale entries before it are thrown away.
    fn next_end(&mut self, resource: u32) -> Option<(Nanos, u32)> {
        let shared = &mut self.resources[resource as usize];
        while let Some(&Reverse(end)) = shared.ends.peek() {
            let current = self.flows[end.slot as usize].as_ref();
            if current.is_some_and(|flow| flow.id.number == end.number && flow.version == end.version) {
                return Some((finish_time(end.tag - shared.counter, shared.level, shared.since), end.slot));
            }
            shared.ends.pop();
        }
        None
    }

    /// Returns the next end of a flow that its own cap binds.
    fn next_capped(&mut self) -> Option<(Nanos, u32)> {
        while let Some(&Reverse((time, capped))) = self.next_of_capped.peek() {
            if capped.is_current(&self.flows) {
                return Some((time, capped.slot));
            }
            self.next_of_capped.pop();
        }
        None
    }

    /// Reports the watched flows of a resource whose rates have changed.
    fn report(&mut self, resource: u32, now: Nanos, changed: &mut Vec<Progress>) {
        let shared = &self.resources[resource as usize];
        if shared.watched == 0 {
            return;
        }
        let has_new_level = shared.since == now;
        for place in 0..shared.members.len() {
            let slot = self.resources[resource as usize].members[place];
            let flow = self.flow(slot);
            if !has_new_level && flow.since != now {
                continue;
            }
            let rate = self.rate(flow);
            if flow.spec.watched && flow.reported != Some(rate) {
                changed.push(self.progress(now, flow.id));
                let flow = self.flows[slot as usize].as_mut().expect("members are under way");
                flow.reported = Some(rate);
            }
        }
    }

    /// Starts a flow that does not end before [`Self::end`] or a cancellation.
    pub(crate) fn start_endless(&mut self, now: Nanos, id: FlowId, spec: FlowSpec) {
        self.start(now, id, spec);
        self.flows[id.slot as usize].as_mut().expect("it has just started").is_endless = true;
    }

    /// Takes out a flow whose end another simulator has seen.
    pub(crate) fn end(&mut self, now: Nanos, flow: FlowId) -> Completion {
        self.unsettled.retain(|&slot| slot != flow.slot);
        self.complete(flow.slot, now)
    }

    fn complete(&mut self, slot: u32, now: Nanos) -> Completion {
        self.free(slot, now);
        let flow = self.flow(slot);
        let completion =
            Completion { flow: flow.id, tag: flow.spec.tag, bytes: flow.spec.bytes, parts: flow.parts };
        self.flows[slot as usize] = None;
        completion
    }
}

impl Network for Fluid {
    fn add(&mut self, spec: Resource) -> ResourceId {
        let id = ResourceId(self.resources.len() as u32);
        self.resources.push(Shared {
            spec: limited(id, spec, &mut self.caches),
            members: Vec::new(),
            entangled: 0,
            load: 0,
            level: 0.0,
            counter: 0.0,
            since: Nanos::ZERO,
            ends: BinaryHeap::new(),
            bound: 0,
            watched: 0,
            is_touched: false,
            component: 0,
        });
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
        let slot = id.slot as usize;
        if self.flows.len() <= slot {
            self.flows.resize_with(slot + 1, || None);
        }
        self.flows[slot] = Some(Flow {
            id,
            spec,
            places: Places::default(),
            binding: Binding::New,
            tag: spec.bytes as f64,
            cap_rate: 0.0,
            since: now,
            parts: Parts::default(),
            version: 0,
            reported: None,
            component: 0,
            is_endless: false,
        });
        self.attach(id.slot);
        self.unsettled.push(id.slot);
    }

    fn set_cap(&mut self, now: Nanos, flow: FlowId, cap: Option<(f64, Part)>) {
        self.change(now, flow, |spec| spec.cap = cap);
    }

    fn shorten(&mut self, now: Nanos, flow: FlowId, bytes: u64) {
        self.change(now, flow, |spec| spec.bytes = spec.bytes.min(bytes));
    }

    fn cancel(&mut self, now: Nanos, flow: FlowId) -> Progress {
        let progress = self.progress(now, flow);
        self.free(flow.slot, now);
        self.flows[flow.slot as usize] = None;
        self.unsettled.retain(|&slot| slot != flow.slot);
        progress
    }

    fn settle(&mut self, now: Nanos, changed: &mut Vec<Progress>) {
        self.touch_full_caches(now);
        let (mut touched, mut settled) =
            (std::mem::take(&mut self.touched), std::mem::take(&mut self.settled));
        touched.sort_unstable();
        for resource in touched.drain(..) {
            // A component is settled when its first touched resource comes; the others are not touched any more then.
            if !std::mem::take(&mut self.resources[resource as usize].is_touched) {
                continue;
            }
            if self.resources[resource as usize].entangled == 0 {
                self.settle_alone(now, resource);
                settled.push(resource);
            } else if let Some(slot) = self.only_flow(resource) {
                self.settle_only(now, slot, &mut settled);
            } else {
                self.settle_component(now, resource, &mut settled);
            }
        }
        self.touched = touched;
        let mut unsettled = std::mem::take(&mut self.unsettled);
        for slot in unsettled.drain(..) {
            if self.flow(slot).binding == Binding::New {
                self.bind(slot, now, Binding::Resource(0), 0.0);
            }
        }
        self.unsettled = unsettled;
        for &resource in &settled {
            let next = self.next_end(resource);
            self.announce(resource, next);
            self.report(resource, now, changed);
        }
        self.follow_caches(now, &settled);
        settled.clear();
        self.settled = settled;
    }

    fn next_event(&mut self) -> Option<Nanos> {
        let of_resources = self.next_of_resources.least().map(|(time, _)| Nanos(time));
        let of_capped = self.next_capped().map(|(time, _)| time);
        earlier(earlier(of_resources, of_capped), self.caches.next())
    }

    fn completed(&mut self, now: Nanos, completed: &mut Vec<Completion>) {
        let first = completed.len();
        while let Some((_, slot)) = self.next_capped().filter(|&(time, _)| time <= now) {
            completed.push(self.complete(slot, now));
        }
        while let Some((_, resource)) = self.next_of_resources.least().filter(|&(time, _)| time <= now.0) {
            let next = loop {
                match self.next_end(resource) {
                    Some((time, slot)) if time <= now => {
                        self.resources[resource as usize].ends.pop();
                        completed.push(self.complete(slot, now));
                    }
                    next => break next,
                }
            };
            self.announce(resource, next);
        }
        completed[first..].sort_by_key(|each| each.flow.number);
    }

    fn alone(&self, now: Nanos, spec: &FlowSpec) -> Option<(f64, Nanos, Part)> {
        let is_free = |number: &u32| self.resources[*number as usize].members.is_empty();
        let is_settled = self.unsettled.is_empty() && self.touched.iter().all(is_free);
        let uses = self.routes[spec.path.0 as usize].uses();
        if !is_settled || !self.caches.is_empty() || !uses.iter().all(|each| is_free(&each.resource.0)) {
            return None;
        }
        let cap = spec.cap.map(|(rate, _)| rate);
        let only = sharing::fill_one(uses, spec.weight, cap, |id| &self.resources[id.0 as usize].spec);
        let bytes = spec.bytes as f64;
        match only.binding {
            Binding::Resource(place) => {
                let (_, level) = only.level.expect("a resource that binds a flow has a level");
                let end = finish_time(bytes / spec.weight, level, now);
                Some((level * spec.weight, end, uses[usize::from(place)].part))
            }
            _ if only.rate > 0.0 => {
                Some((only.rate, finish_time(bytes, only.rate, now), spec.cap.expect("it binds").1))
            }
            _ => None,
        }
    }

    fn progress(&self, now: Nanos, flow: FlowId) -> Progress {
        let under_way = self.flow(flow.slot);
        let done = under_way.spec.bytes as f64 - self.remaining(under_way, now).max(0.0);
        Progress { flow, tag: under_way.spec.tag, done, rate: self.rate(under_way) }
    }
}

mod caches;
#[cfg(test)]
mod tests;
