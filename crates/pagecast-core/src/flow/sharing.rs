//! Weighted max-min fair rates of one component by progressive filling: the resource or cap with the lowest level
//! binds its flows first, what they leave is shared by the others, and so on.

use super::Resource;

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

/// What binds a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// Nothing yet: the flow has just started.
    New,
    /// The resource at this place of its path.
    Resource(u8),
    /// Its own cap.
    Cap,
}

/// A flow as the filling sees it.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Indices into the component's resources, with costs.
    pub uses: Vec<(usize, f64)>,
    pub weight: f64,
    pub cap: Option<f64>,
    /// The outcome.
    pub rate: f64,
    pub binding: Binding,
}

/// Gives every member its rate and binding and returns the level of each resource (infinite where it binds no flow).
///
/// `resources` come in ascending number with the number of flows on each, `members` in the order of their starts.
pub(super) fn fill(resources: &[(&Resource, u32)], members: &mut [Member]) -> Vec<f64> {
    let mut levels = vec![f64::INFINITY; resources.len()];
    let mut open = members.len();
    while open > 0 {
        match lowest(resources, members) {
            Limit::Cap(at, level) => bind(&mut members[at], level, Binding::Cap),
            Limit::Resource(at, level) => {
                levels[at] = level;
                for member in members.iter_mut().filter(|member| member.binding == Binding::New) {
                    if let Some(place) = member.uses.iter().position(|&(resource, _)| resource == at) {
                        bind(member, level, Binding::Resource(place as u8));
                    }
                }
            }
        }
        open = members.iter().filter(|member| member.binding == Binding::New).count();
    }
    levels
}

enum Limit {
    Resource(usize, f64),
    Cap(usize, f64),
}

fn bind(member: &mut Member, level: f64, binding: Binding) {
    member.rate = member.weight * level;
    member.binding = binding;
}

/// The lowest level of all that still bind; at a tie a resource before a cap, the lower number first.
fn lowest(resources: &[(&Resource, u32)], members: &[Member]) -> Limit {
    let mut best = Limit::Resource(usize::MAX, f64::INFINITY);
    let mut lowest = f64::INFINITY;
    for (at, &(resource, flows)) in resources.iter().enumerate() {
        let (mut used, mut open) = (0.0, 0_u128);
        for member in members {
            for &(_, cost) in member.uses.iter().filter(|&&(resource, _)| resource == at) {
                match member.binding {
                    Binding::New => open += load(member.weight, cost),
                    _ => used += cost * member.rate,
                }
            }
        }
        if open > 0 {
            let level = level(resource, (resource.capacity(flows) - used).max(0.0), open);
            if level < lowest {
                (best, lowest) = (Limit::Resource(at, level), level);
            }
        }
    }
    for (at, member) in members.iter().enumerate().filter(|(_, member)| member.binding == Binding::New) {
        if let Some(cap) = member.cap {
            let level = cap / member.weight;
            if level < lowest {
                (best, lowest) = (Limit::Cap(at, level), level);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(uses: &[usize], weight: f64, cap: Option<f64>) -> Member {
        let uses = uses.iter().map(|&at| (at, 1.0)).collect();
        Member { uses, weight, cap, rate: 0.0, binding: Binding::New }
    }

    #[test]
    fn what_a_narrow_link_leaves_goes_to_the_others() {
        let (disk, link) = (Resource::constant(100.0), Resource::constant(10.0));
        let mut members = [member(&[0], 1.0, None), member(&[0, 1], 1.0, None), member(&[0], 2.0, None)];
        let levels = fill(&[(&disk, 3), (&link, 1)], &mut members);
        assert_eq!(members.each_ref().map(|m| m.rate), [30.0, 10.0, 60.0]);
        assert_eq!(members.each_ref().map(|m| m.binding), [0, 1, 0].map(Binding::Resource));
        assert_eq!(levels, [30.0, 10.0]);
    }

    #[test]
    fn caps_bind_before_a_wider_resource_and_after_an_equal_one() {
        let disk = Resource::constant(100.0);
        let mut members = [member(&[0], 1.0, Some(10.0)), member(&[0], 1.0, None)];
        fill(&[(&disk, 2)], &mut members);
        assert_eq!(members.each_ref().map(|m| m.rate), [10.0, 90.0]);
        assert_eq!(members[0].binding, Binding::Cap);
        let mut equal = [member(&[0], 1.0, Some(50.0)), member(&[0], 1.0, None)];
        fill(&[(&disk, 2)], &mut equal);
        assert_eq!(equal[0].binding, Binding::Resource(0));
    }

    #[test]
    fn no_flow_passes_the_limit_of_one() {
        let mut cpu = Resource::constant(4.0);
        cpu.per_flow_max = Some(1.0);
        let mut members = [member(&[0], 1.0, None), member(&[0], 1.0, None)];
        fill(&[(&cpu, 2)], &mut members);
        assert_eq!(members.each_ref().map(|m| m.rate), [1.0, 1.0]);
    }

    #[test]
    fn a_load_beyond_64_bits_is_a_number_too() {
        assert_eq!([7, 1 << 63, 1 << 70].map(as_float), [7.0, 2_f64.powi(63), 2_f64.powi(70)]);
    }
}
