//! Lets bytes of an idle resource pass its limiter at once: a token bucket that fills with time.
//!
//! Source: `block/blk-throttle.c` (`io.max`), and the burst of a cloud's disk. Tokens are time: the time of so many bytes at the full rate.

use super::{FlowId, Path, Resource, ResourceId, Route, Use};
use crate::units::Nanos;

/// The token bucket of one resource. It begins full.
#[derive(Clone, Debug)]
struct Burst {
    /// The tokens of a full bucket, in seconds.
    most: f64,
    /// The tokens left when its resource was last busy.
    left: f64,
    /// The time since which its resource has been idle, if it is.
    idle: Option<Nanos>,
}

impl Burst {
    fn new(most: Nanos) -> Self {
        let most = most.as_seconds();
        Self { most, left: most, idle: Some(Nanos::ZERO) }
    }

    /// Returns how much of each flow passes at once, for flows that come to a resource at one instant. All is in seconds of the
    /// resource. Nothing passes while others are under way. The order of flows at that instant makes no difference.
    fn take(&mut self, now: Nanos, wanted: &[Wanted]) -> Vec<f64> {
        let Some(since) = self.idle.take() else { return vec![0.0; wanted.len()] };
        let held = (self.left + (now - since).as_seconds()).min(self.most);
        let (taken, left) = divide(held, wanted);
        self.left = left;
        taken
    }

    /// Notes that the last flow has gone.
    fn rest(&mut self, now: Nanos) {
        self.idle.get_or_insert(now);
    }
}

/// The demand of a flow on a bucket, in seconds of the resource, and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wanted {
    seconds: f64,
    weight: f64,
}

/// Divides the tokens of a bucket fairly by weight. A flow that wants less than its part leaves the rest to the others. Returns the parts
/// and the rest. The order of flows changes no bit of them.
fn divide(held: f64, wanted: &[Wanted]) -> (Vec<f64>, f64) {
    let per_weight = |at: usize| wanted[at].seconds / wanted[at].weight;
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&one, &other| {
        let of = |at: usize| (per_weight(at), wanted[at].weight);
        let (one, other) = (of(one), of(other));
        one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let mut weights: f64 = order.iter().map(|&at| wanted[at].weight).sum();
    let (mut parts, mut left) = (vec![0.0; wanted.len()], held);
    for (place, &at) in order.iter().enumerate() {
        let Wanted { seconds, weight } = wanted[at];
        if per_weight(at) * weights > left {
            // Nor has the bucket enough for those behind, who want more for their weight.
            let level = left / weights;
            order[place..].iter().for_each(|&at| parts[at] = level * wanted[at].weight);
            return (parts, 0.0);
        }
        parts[at] = seconds;
        left -= seconds;
        weights -= weight;
    }
    (parts, left.max(0.0))
}

/// A flow that has come to a bucket and has had none of it yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newcomer {
    pub flow: FlowId,
    /// The bytes left of it, and its weight.
    pub bytes: f64,
    pub weight: f64,
    pub path: Path,
}

/// The buckets of a network, by resource. Most have none.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    of: Vec<Option<Burst>>,
    /// Flows over a bucket that have started since rates were filled last.
    started: Vec<FlowId>,
}

impl Bursts {
    /// Adds the bucket of the next resource.
    pub(super) fn add(&mut self, resource: &Resource) {
        self.of.push((resource.burst > Nanos::ZERO).then(|| Burst::new(resource.burst)));
    }

    /// True if a resource has a bucket.
    pub(super) fn has(&self, resource: ResourceId) -> bool {
        self.of[resource.0 as usize].is_some()
    }

    /// Starts a flow. The bytes that pass are known when all flows of this instant have started.
    pub(super) fn start(&mut self, flow: FlowId, uses: &[Use]) {
        if uses.iter().any(|each| self.of[each.resource.0 as usize].is_some()) {
            self.started.push(flow);
        }
    }

    /// Takes the flows over a bucket that have started since the last call.
    pub(super) fn take_started(&mut self) -> Vec<FlowId> {
        std::mem::take(&mut self.started)
    }

    /// Returns how many bytes of each newcomer pass at once: those that the narrowest resource on its way lets pass.
    pub(super) fn pass<'a>(
        &mut self,
        now: Nanos,
        newcomers: &[Newcomer],
        routes: &[Route],
        resource: impl Fn(ResourceId) -> &'a Resource,
    ) -> Vec<f64> {
        let mut passed = vec![f64::INFINITY; newcomers.len()];
        if newcomers.is_empty() {
            return passed;
        }
        for (number, burst) in self.of.iter_mut().enumerate() {
            let Some(burst) = burst else { continue };
            let at = ResourceId(number as u32);
            let use_of = |each: &Newcomer| {
                routes[each.path.0 as usize].uses().iter().find(|used| used.resource == at).copied()
            };
            // Bytes that pass of each flow in a second of the resource.
            let rates: Vec<(usize, f64)> = newcomers
                .iter()
                .enumerate()
                .filter_map(|(which, each)| Some((which, resource(at).capacity(1) / use_of(each)?.cost)))
                .collect();
            if rates.is_empty() {
                continue;
            }
            let wanted: Vec<Wanted> = rates
                .iter()
                .map(|&(which, rate)| (newcomers[which], rate))
                .map(|(each, rate)| Wanted { seconds: each.bytes / rate, weight: each.weight })
                .collect();
            for (&(which, rate), seconds) in rates.iter().zip(burst.take(now, &wanted)) {
                passed[which] = passed[which].min(seconds * rate);
            }
        }
        passed
    }

    /// Removes a flow; resources on its way that no other flow crosses are idle.
    pub(super) fn rest(&mut self, now: Nanos, uses: &[Use], is_idle: impl Fn(ResourceId) -> bool) {
        for each in uses.iter().filter(|each| is_idle(each.resource)) {
            self.of[each.resource.0 as usize].iter_mut().for_each(|burst| burst.rest(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What passes, of a bucket in seconds, of flows that want so many seconds each.
    fn take(burst: &mut Burst, milliseconds: u64, wanted: &[f64]) -> Vec<f64> {
        let wanted: Vec<Wanted> = wanted.iter().map(|&seconds| Wanted { seconds, weight: 1.0 }).collect();
        let taken = burst.take(Nanos(milliseconds * 1_000_000), &wanted);
        taken.iter().map(|seconds| (seconds * 1e9).round() / 1e9).collect()
    }

    #[test]
    fn tokens_come_with_idle_time_and_go_with_bytes() {
        let mut burst = Burst::new(Nanos(100_000_000));
        let at = |milliseconds: u64| Nanos(milliseconds * 1_000_000);
        assert_eq!(take(&mut burst, 0, &[0.1]), [0.1], "it is full at first");
        assert_eq!(take(&mut burst, 0, &[0.1]), [0.0], "somebody is under way");
        burst.rest(at(50));
        assert_eq!(take(&mut burst, 52, &[0.1]), [0.002], "2 ms of idle time");
        burst.rest(at(60));
        assert_eq!(take(&mut burst, 90, &[0.01]), [0.01], "10 of 30 ms");
        burst.rest(at(90));
        assert_eq!(take(&mut burst, 100, &[100.0]), [0.03], "20 ms are left, and 10 have come");
        burst.rest(at(100));
        assert_eq!(take(&mut burst, 9_000, &[100.0]), [0.1], "it never holds more");
    }

    /// Two processes that had nothing to do with each other wrote to a disk with a burst. The first in the scenario got all of it, and
    /// with the two in the other order the times were others.
    #[test]
    fn who_comes_first_at_an_instant_has_no_more_than_who_comes_last() {
        let full = || Burst::new(Nanos(100_000_000));
        assert_eq!(take(&mut full(), 0, &[1.0, 1.0]), [0.05, 0.05]);
        assert_eq!(take(&mut full(), 0, &[1.0, 0.02]), [0.08, 0.02], "what one does not want the other has");
        assert_eq!(take(&mut full(), 0, &[0.02, 1.0]), [0.02, 0.08]);
        let mut burst = full();
        assert_eq!(take(&mut burst, 0, &[0.01, 0.02]), [0.01, 0.02]);
        assert_eq!((burst.left * 1e3).round(), 70.0, "the rest is kept");
    }

    #[test]
    fn a_bucket_is_divided_by_weight() {
        let (parts, _) = divide(0.1, &[Wanted { seconds: 0.2, weight: 1.0 }; 3]);
        assert!(parts.iter().all(|&part| part == parts[0]), "{parts:?}: equals get the same to the last bit");
        let wanted =
            [(1.0, 1.0), (1.0, 3.0), (0.01, 4.0)].map(|(seconds, weight)| Wanted { seconds, weight });
        let (parts, left) = divide(0.09, &wanted);
        assert_eq!(parts.iter().map(|part| (part * 1e3).round()).collect::<Vec<_>>(), [20.0, 60.0, 10.0]);
        assert_eq!(left, 0.0);
    }
}
