//! Computes the weighted max-min fair rates of one component by progressive filling.
//!
//! The caps below the lowest level of all resources bind their flows first, or else the resource with that level. The others share the
//! rest, and so on.

use super::{Resource, ResourceId, Use};

/// The load of weight 1 at cost 1. Loads are integers so that sums do not depend on the order of adding.
pub(super) const UNIT_LOAD: f64 = (1_u64 << 52) as f64;

/// The load that a flow puts on a resource.
pub(super) fn load(weight: f64, cost: f64) -> u128 {
    let load = weight * cost;
    if load == 1.0 { UNIT_LOAD as u128 } else { (load * UNIT_LOAD).round() as u128 }
}

/// The level (rate per unit of weight) of a resource whose `capacity` is shared by flows of `load` in total.
pub(super) fn level(resource: &Resource, capacity: f64, load: u128) -> f64 {
    let fair = capacity / (as_float(load) / UNIT_LOAD);
    resource.per_flow_max.map_or(fair, |most| fair.min(most))
}

/// A load as a number. Few need 128 bits, for which processors have no instruction.
fn as_float(load: u128) -> f64 {
    #[cold]
    #[inline(never)]
    fn large(load: u128) -> f64 {
        load as f64
    }
    u64::try_from(load).map_or_else(|_| large(load), |load| load as f64)
}

/// The limit that binds a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// None yet: the flow has just started.
    New,
    /// The resource at this place of its path.
    Resource(u16),
    /// Its own cap.
    Cap,
}

/// A flow as the filling sees it.
#[derive(Clone, Debug)]
pub(super) struct Member<'a> {
    pub uses: &'a [Use],
    pub weight: f64,
    pub cap: Option<f64>,
    /// The outcome.
    pub rate: f64,
    pub binding: Binding,
}

impl<'a> Member<'a> {
    /// A flow that nothing binds yet.
    pub(super) fn new(uses: &'a [Use], weight: f64, cap: Option<f64>) -> Self {
        Member { uses, weight, cap, rate: 0.0, binding: Binding::New }
    }

    fn is_open(&self) -> bool {
        self.binding == Binding::New
    }

    fn bind(&mut self, level: f64, binding: Binding) {
        self.rate = self.weight * level;
        self.binding = binding;
    }
}

/// A resource of a component, and how many flows cross it.
pub(super) type Crossed<'a> = (ResourceId, &'a Resource, u32);

/// The capacity of a resource taken by bound flows, and the load of the others.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    used: f64,
    open: u128,
}

/// Gives every member its rate and binding and returns the level of each resource (infinite where it binds no flow).
///
/// `resources` come in ascending number, `members` in the order of their starts.
pub(super) fn fill(resources: &[Crossed<'_>], members: &mut [Member<'_>]) -> Vec<f64> {
    let mut levels = vec![f64::INFINITY; resources.len()];
    let mut taken = vec![Taken::default(); resources.len()];
    let mut open = members.len();
    while open > 0 {
        take(resources, members, &mut taken);
        let (at, lowest) = lowest(resources, &taken);
        // What a cap below all resources takes from them is less than its share, so that none of them sinks below another cap.
        let mut bound = 0;
        for member in members.iter_mut().filter(|member| member.is_open()) {
            if let Some(level) = member.cap.map(|cap| cap / member.weight).filter(|&level| level < lowest) {
                member.bind(level, Binding::Cap);
                bound += 1;
            }
        }
        if bound == 0 {
            levels[at] = lowest;
            bound = bind_all(resources[at].0, lowest, members);
        }
        open -= bound;
    }
    levels
}

/// The outcome for a flow that shares nothing, and the level of the resource that binds it, if one does.
pub(super) struct Only {
    pub rate: f64,
    pub binding: Binding,
    pub level: Option<(ResourceId, f64)>,
}

/// Does as [`fill`] for one member.
pub(super) fn fill_one<'a>(
    uses: &[Use],
    weight: f64,
    cap: Option<f64>,
    resource: impl Fn(ResourceId) -> &'a Resource,
) -> Only {
    let (mut place, mut lowest) = (0, f64::INFINITY);
    for (at, each) in uses.iter().enumerate() {
        let spec = resource(each.resource);
        let level = level(spec, spec.capacity(1).max(0.0), load(weight, each.cost));
        if level < lowest || (level == lowest && each.resource < uses[place].resource) {
            (place, lowest) = (at, level);
        }
    }
    match cap.map(|cap| cap / weight).filter(|&level| level < lowest) {
        Some(level) => Only { rate: weight * level, binding: Binding::Cap, level: None },
        None => {
            let level = Some((uses[place].resource, lowest));
            Only { rate: weight * lowest, binding: Binding::Resource(place as u16), level }
        }
    }
}

/// Adds up what members take of each resource.
fn take(resources: &[Crossed<'_>], members: &[Member<'_>], taken: &mut [Taken]) {
    taken.fill(Taken::default());
    for member in members {
        for each in member.uses {
            let at = resources.iter().position(|&(id, ..)| id == each.resource);
            let taken = &mut taken[at.expect("a component has all resources of its flows")];
            match member.binding {
                Binding::New => taken.open += load(member.weight, each.cost),
                _ => taken.used += each.cost * member.rate,
            }
        }
    }
}

/// Binds all flows that cross a resource to it, and returns how many those are.
fn bind_all(resource: ResourceId, level: f64, members: &mut [Member<'_>]) -> usize {
    let mut bound = 0;
    for member in members.iter_mut().filter(|member| member.is_open()) {
        if let Some(place) = member.uses.iter().position(|each| each.resource == resource) {
            member.bind(level, Binding::Resource(place as u16));
            bound += 1;
        }
    }
    bound
}

/// Returns the place and level of the lowest of the resources that still bind flows; at a tie the lower number.
fn lowest(resources: &[Crossed<'_>], taken: &[Taken]) -> (usize, f64) {
    let mut best = (usize::MAX, f64::INFINITY);
    for (at, (&(_, resource, flows), taken)) in resources.iter().zip(taken).enumerate() {
        if taken.open > 0 {
            let level = level(resource, (resource.capacity(flows) - taken.used).max(0.0), taken.open);
            if level < best.1 {
                best = (at, level);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crosses(resources: &[u32]) -> Vec<Use> {
        let part = crate::result::Part::DeviceRead;
        resources.iter().map(|&at| Use { resource: ResourceId(at), cost: 1.0, part }).collect()
    }

    #[test]
    fn what_a_narrow_link_leaves_goes_to_the_others() {
        let (disk, link) = (Resource::constant(100.0), Resource::constant(10.0));
        let (local, remote) = (crosses(&[0]), crosses(&[0, 1]));
        let mut members = [(&local, 1.0), (&remote, 1.0), (&local, 2.0)]
            .map(|(uses, weight)| Member::new(uses, weight, None));
        let levels = fill(&[(ResourceId(0), &disk, 3), (ResourceId(1), &link, 1)], &mut members);
        assert_eq!(members.each_ref().map(|m| m.rate), [30.0, 10.0, 60.0]);
        assert_eq!(members.each_ref().map(|m| m.binding), [0, 1, 0].map(Binding::Resource));
        assert_eq!(levels, [30.0, 10.0]);
    }

    #[test]
    fn caps_bind_before_a_wider_resource_and_after_an_equal_one() {
        let disk = Resource::constant(100.0);
        let uses = crosses(&[0]);
        let fill_two = |cap: f64| {
            let mut members = [Member::new(&uses, 1.0, Some(cap)), Member::new(&uses, 1.0, None)];
            fill(&[(ResourceId(0), &disk, 2)], &mut members);
            members
        };
        let members = fill_two(10.0);
        assert_eq!(members.each_ref().map(|m| m.rate), [10.0, 90.0]);
        assert_eq!(members[0].binding, Binding::Cap);
        assert_eq!(fill_two(50.0)[0].binding, Binding::Resource(0));
    }

    #[test]
    fn no_flow_passes_the_limit_of_one() {
        let mut cpu = Resource::constant(4.0);
        cpu.per_flow_max = Some(1.0);
        let uses = crosses(&[0]);
        let mut members = [Member::new(&uses, 1.0, None), Member::new(&uses, 1.0, None)];
        fill(&[(ResourceId(0), &cpu, 2)], &mut members);
        assert_eq!(members.each_ref().map(|m| m.rate), [1.0, 1.0]);
    }

    #[test]
    fn a_flow_alone_gets_what_the_filling_gives_it() {
        let capacities = [70.0, 90.0, 70.0, 0.3];
        let resources: Vec<Resource> = capacities.map(Resource::constant).to_vec();
        let crossed: Vec<Crossed<'_>> =
            (0..).zip(&resources).map(|(at, resource)| (ResourceId(at), resource, 1)).collect();
        for places in [&[0][..], &[1, 0], &[2, 0, 1], &[2, 1], &[0, 3, 1]] {
            for (weight, cap) in
                [(1.0, None), (0.3, None), (1.7, Some(0.1)), (0.3, Some(71.0)), (1.0, Some(0.0))]
            {
                let uses = crosses(&places.iter().map(|&at| at as u32).collect::<Vec<_>>());
                let mut sorted = places.to_vec();
                sorted.sort_unstable();
                let own: Vec<Crossed<'_>> = sorted.iter().map(|&at| crossed[at]).collect();
                let mut member = [Member::new(&uses, weight, cap)];
                let levels = fill(&own, &mut member);
                let only = fill_one(&uses, weight, cap, |id| &resources[id.0 as usize]);
                let [Member { rate, binding, .. }] = member;
                assert_eq!((only.rate.to_bits(), only.binding), (rate.to_bits(), binding));
                let bound = own.iter().zip(levels).find(|(_, level)| level.is_finite());
                assert_eq!(only.level, bound.map(|(&(id, ..), level)| (id, level)));
            }
        }
    }

    #[test]
    fn a_load_beyond_64_bits_is_a_number_too() {
        assert_eq!([7, 1 << 63, 1 << 70].map(as_float), [7.0, 2_f64.powi(63), 2_f64.powi(70)]);
    }
}
