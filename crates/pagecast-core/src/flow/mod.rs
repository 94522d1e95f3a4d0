//! Moves bytes in flows that share devices, memory, processors and links.
//!
//! A flow crosses one or more resources. All flows get weighted max-min fair rates. [`fluid`] gives them by events, [`stepped`] by fixed
//! steps of time; the second is slow and simple and checks the first. Source: weighted max-min fairness by progressive filling (Bertsekas
//! and Gallager, *Data Networks*, 6.5.2). Left out: packets, requests and their order; a device is a rate (see `device` for its changes).

#[cfg(test)]
mod definition;
pub mod fluid;
mod places;
mod sharing;
pub mod stepped;
mod write_cache;

use crate::result::{Part, Parts};
use crate::units::{Nanos, as_number};

pub use write_cache::{Service, WriteCache};

/// A resource that flows share. The number counts resources in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub(crate) u32);

/// A flow. Flows are ordered by their starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    /// Running number, never used again.
    pub(crate) number: u64,
    /// Place in the tables, used again after the flow has ended.
    pub(crate) slot: u32,
}

/// A resource before it is added to a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Total rate (bytes per second) with so many flows on it, ascending; linear between, constant outside.
    /// Never empty.
    capacity_at: Vec<(u32, f64)>,
    /// No flow gets more than this, whatever is left.
    pub per_flow_max: Option<f64>,
    /// The length of a burst at the full rate that a limiter lets pass at once, from a bucket that is full at first.
    pub burst: Nanos,
    /// A limiter that gives out what the full rate moves in so long, all at once, and lets nothing pass when that is used up. 0 is none.
    pub interval: Nanos,
}

impl Resource {
    /// A resource of one rate.
    #[must_use]
    pub fn constant(capacity: f64) -> Self {
        Self {
            capacity_at: vec![(1, capacity)],
            per_flow_max: None,
            burst: Nanos::ZERO,
            interval: Nanos::ZERO,
        }
    }

    /// A resource whose rate depends on the number of flows on it.
    ///
    /// # Panics
    /// If `points` is empty or its numbers of flows do not ascend: the reader of a machine file checks that.
    #[must_use]
    pub fn varying(points: Vec<(u32, f64)>) -> Self {
        assert!(!points.is_empty(), "a resource has at least one capacity");
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0), "numbers of flows ascend");
        Self { capacity_at: points, per_flow_max: None, burst: Nanos::ZERO, interval: Nanos::ZERO }
    }

    /// So many of them that share all flows.
    #[must_use]
    pub fn times(mut self, number: u32) -> Self {
        self.capacity_at.iter_mut().for_each(|(_, rate)| *rate *= f64::from(number));
        self
    }

    /// The same resource behind another one with such a rate.
    #[must_use]
    pub fn at_most(mut self, most: f64) -> Self {
        self.capacity_at.iter_mut().for_each(|(_, rate)| *rate = rate.min(most));
        self
    }

    /// A resource with the higher rate of two, at every number of flows that either names.
    #[must_use]
    pub fn faster(one: &Self, other: &Self) -> Self {
        let points = one.capacity_at.iter().chain(&other.capacity_at);
        let mut counts: Vec<u32> = points.map(|&(flows, _)| flows).collect();
        counts.sort_unstable();
        counts.dedup();
        let at = |flows| (flows, one.capacity(flows).max(other.capacity(flows)));
        Self::varying(counts.into_iter().map(at).collect())
    }

    /// The total rate with `flows` flows.
    #[must_use]
    pub fn capacity(&self, flows: u32) -> f64 {
        let points = &self.capacity_at;
        let above = points.partition_point(|&(at, _)| at <= flows);
        match (above.checked_sub(1).map(|below| points[below]), points.get(above)) {
            (Some((x0, y0)), Some(&(x1, y1))) => {
                y0 + (y1 - y0) * (f64::from(flows - x0) / f64::from(x1 - x0))
            }
            (Some((_, only)), None) | (None, Some(&(_, only))) => only,
            (None, None) => unreachable!("a resource has at least one capacity"),
        }
    }
}

/// A resource on the way of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    /// The resource.
    pub resource: ResourceId,
    /// A flow of rate x takes `cost * x` of the resource's capacity.
    pub cost: f64,
    /// The part to which an operation's time is charged while this resource is the narrowest.
    pub part: Part,
}

/// A route that a network knows; flows name the one they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(u32);

impl Path {
    /// Its number, from 0.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The resources that a flow crosses, one or more.
#[derive(Clone, Debug, PartialEq)]
pub struct Route(Vec<Use>);

impl Route {
    /// A route over these resources.
    ///
    /// # Panics
    /// If there are none, or one twice.
    #[must_use]
    pub fn new(uses: &[Use]) -> Self {
        assert!(!uses.is_empty(), "a route crosses a resource");
        let again = |at: usize| uses[..at].iter().any(|each| each.resource == uses[at].resource);
        assert!(!(1..uses.len()).any(again), "a route crosses a resource once");
        Self(uses.to_vec())
    }

    /// This route and then `other`.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        Self::new(&[self.uses(), other.uses()].concat())
    }

    /// Charges its resources to another part.
    #[must_use]
    pub fn renamed(mut self, part: Part) -> Self {
        self.0.iter_mut().for_each(|each| each.part = part);
        self
    }

    /// The resources in order.
    #[must_use]
    pub fn uses(&self) -> &[Use] {
        &self.0
    }
}

/// A flow before it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSpec {
    /// The path of the flow.
    pub path: Path,
    /// The bytes that it moves, at least one.
    pub bytes: u64,
    /// Its share against others; 1 is usual.
    pub weight: f64,
    /// The highest rate (0: blocked), and the part to which time is charged while it binds.
    pub cap: Option<(f64, Part)>,
    /// True if the policy wants to hear of every change of its rate.
    pub watched: bool,
    /// The tag that the policy gets back when it has ended.
    pub tag: u64,
    /// Bytes of each of its requests to a disk, at most; 0 is as many as the disk takes.
    pub request: u64,
}

impl FlowSpec {
    /// An ordinary flow: weight 1, no cap, not watched, of the largest requests.
    #[must_use]
    pub fn new(path: Path, bytes: u64, tag: u64) -> Self {
        Self { path, bytes, weight: 1.0, cap: None, watched: false, tag, request: 0 }
    }
}

/// The progress of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The flow.
    pub flow: FlowId,
    /// Its tag.
    pub tag: u64,
    /// Bytes moved so far.
    pub done: f64,
    /// Bytes per second from now on.
    pub rate: f64,
}

/// A flow that has moved all its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completion {
    /// The flow.
    pub flow: FlowId,
    /// Its tag.
    pub tag: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The time for which each of its resources, or its cap, bound it; sums to its duration.
    pub parts: Parts,
}

/// The interface of a network of flows for the engine.
///
/// The caller reports times that never run back, and calls `settle` after everything that happens at one instant.
pub trait Network: Default {
    /// Adds a resource.
    fn add(&mut self, resource: Resource) -> ResourceId;

    /// Adds the write cache of a disk, whose resources were added as those of one with room.
    fn add_write_cache(&mut self, cache: WriteCache);

    /// Makes a route known.
    fn add_path(&mut self, route: Route) -> Path;

    /// Returns the resources on a path.
    fn route(&self, path: Path) -> &Route;

    /// Starts a flow; it moves from the next `settle` on.
    fn start(&mut self, now: Nanos, flow: FlowId, spec: FlowSpec);

    /// Changes the own cap of a flow, unless it has ended at this instant, which its owner may not know yet.
    fn set_cap(&mut self, now: Nanos, flow: FlowId, cap: Option<(f64, Part)>);

    /// Ends a flow after so many of its bytes, at least those that it has moved, unless it has ended at this instant.
    fn shorten(&mut self, now: Nanos, flow: FlowId, bytes: u64);

    /// Takes a flow out and returns its progress.
    fn cancel(&mut self, now: Nanos, flow: FlowId) -> Progress;

    /// Gives all flows their rates and reports the watched ones whose rate has changed.
    fn settle(&mut self, now: Nanos, changed: &mut Vec<Progress>);

    /// Returns the next end of a flow (or the next step).
    fn next_event(&mut self) -> Option<Nanos>;

    /// Takes the flows out that have ended by `now`, in the order of their numbers.
    fn completed(&mut self, now: Nanos, completed: &mut Vec<Completion>);

    /// Returns the progress of a flow.
    fn progress(&self, now: Nanos, flow: FlowId) -> Progress;

    /// Returns the rate, the end and the part that binds a flow that would start now, if nothing that it crosses is shared and no other
    /// flow waits for its rate.
    fn alone(&self, _now: Nanos, _spec: &FlowSpec) -> Option<(f64, Nanos, Part)> {
        None
    }
}

/// `phi * elapsed`, in the one way in which all parts of the engine (and the oracle) compute it.
fn served(rate: f64, from: Nanos, to: Nanos) -> f64 {
    rate * (as_number(to.0 - from.0) * 1e-9)
}

/// The time of an event that never happens.
const NEVER: Nanos = Nanos(u64::MAX);

/// Returns the time at which `amount` has been served at `rate`, from `from` on. It is rounded up to the next nanosecond, except for a
/// thousandth of one, so that the noise of floating point does not cost a whole one. [`NEVER`] without a rate; a service longer than time
/// lasts ends before that.
fn finish_time(amount: f64, rate: f64, from: Nanos) -> Nanos {
    if rate == 0.0 && amount > 0.0 {
        return NEVER;
    }
    let nanos = amount / rate * 1e9 - 1.0 / 1024.0;
    // Rounding up by hand: `ceil` is a call where the processor's own instruction cannot be relied on.
    let whole = nanos as u64;
    let end = from.0.saturating_add(whole.saturating_add(u64::from(nanos > whole as f64)));
    Nanos(end.min(NEVER.0 - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_linear_between_points_and_constant_outside() {
        let ssd = Resource::varying(vec![(2, 500.0), (12, 600.0)]);
        assert_eq!([1, 2, 7, 12, 40].map(|n| ssd.capacity(n)), [500.0, 500.0, 550.0, 600.0, 600.0]);
        assert_eq!(Resource::constant(3.0).capacity(9), 3.0);
    }

    #[test]
    fn finish_rounds_up_but_not_for_noise() {
        assert_eq!(finish_time(1.0, 3.0, Nanos(10)), Nanos(10 + 333_333_334));
        assert_eq!(finish_time(1.0 + 1e-15, 1.0, Nanos(0)), Nanos(1_000_000_000));
        assert_eq!(finish_time(0.0, 1.0, Nanos(7)), Nanos(7));
        assert_eq!(finish_time(5.0 + 1.0 / 1024.0, 1e9, Nanos(0)), Nanos(5), "no more than noise");
        assert_eq!(finish_time(1.0, 0.0, Nanos(7)), NEVER);
        assert_eq!(finish_time(1e300, 1.0, Nanos(7)), Nanos(u64::MAX - 1), "at some time");
    }
}
