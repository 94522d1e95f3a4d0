//! What a limiter of rates lets pass at once because it was idle before: a bucket of tokens that fills with time.
//!
//! `block/blk-throttle.c` (`io.max`), and the burst of a cloud's disk. Tokens are time: that of so many bytes at the full rate.

use super::{Resource, ResourceId, Use};
use crate::units::Nanos;

/// The bucket of one resource. Full at first.
#[derive(Clone, Debug)]
struct Burst {
    /// What it holds when it is full, in seconds.
    most: f64,
    /// What it held when its resource was last busy.
    left: f64,
    /// Since when its resource has been idle, if it is.
    idle: Option<Nanos>,
}

impl Burst {
    fn new(most: Nanos) -> Self {
        let most = most.as_seconds();
        Self { most, left: most, idle: Some(Nanos::ZERO) }
    }

    /// A flow of `bytes` comes to a resource of `rate`: so many of them pass at once. None do where others are under way.
    fn take(&mut self, now: Nanos, bytes: f64, rate: f64) -> f64 {
        let Some(since) = self.idle.take() else { return 0.0 };
        let held = (self.left + (now - since).as_seconds()).min(self.most);
        let taken = held.min(bytes / rate);
        self.left = held - taken;
        taken * rate
    }

    /// The last flow has gone.
    fn rest(&mut self, now: Nanos) {
        self.idle.get_or_insert(now);
    }
}

/// The buckets of a network, by resource. Most have none.
#[derive(Debug, Default)]
pub(super) struct Bursts(Vec<Option<Burst>>);

impl Bursts {
    /// That of the next resource.
    pub(super) fn add(&mut self, resource: &Resource) {
        self.0.push((resource.burst > Nanos::ZERO).then(|| Burst::new(resource.burst)));
    }

    /// How many of `bytes` the narrowest resource on their way lets pass at once.
    pub(super) fn pass<'a>(
        &mut self,
        now: Nanos,
        bytes: u64,
        uses: &[Use],
        resource: impl Fn(ResourceId) -> &'a Resource,
    ) -> f64 {
        let passed = uses.iter().filter_map(|each| {
            let burst = self.0[each.resource.0 as usize].as_mut()?;
            Some(burst.take(now, bytes as f64, resource(each.resource).capacity(1) / each.cost))
        });
        passed.reduce(f64::min).unwrap_or(0.0)
    }

    /// A flow has gone; those of its resources that no other crosses are idle.
    pub(super) fn rest(&mut self, now: Nanos, uses: &[Use], is_idle: impl Fn(ResourceId) -> bool) {
        for each in uses.iter().filter(|each| is_idle(each.resource)) {
            self.0[each.resource.0 as usize].iter_mut().for_each(|burst| burst.rest(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_with_idle_time_and_go_with_bytes() {
        let mut burst = Burst::new(Nanos(100_000_000));
        let at = |milliseconds: u64| Nanos(milliseconds * 1_000_000);
        assert_eq!(burst.take(at(0), 1e6, 1e7), 1e6, "it is full at first: 1 MB");
        assert_eq!(burst.take(at(0), 1e6, 1e7), 0.0, "somebody is under way");
        burst.rest(at(50));
        assert_eq!(burst.take(at(52), 1e6, 1e7), 20_000.0, "2 ms of idle time");
        burst.rest(at(60));
        assert_eq!(burst.take(at(90), 100_000.0, 1e7), 100_000.0, "10 of 30 ms");
        burst.rest(at(90));
        assert_eq!(burst.take(at(100), 1e9, 1e7), 300_000.0, "20 ms are left, and 10 have come");
        burst.rest(at(100));
        assert_eq!(burst.take(at(9_000), 1e9, 1e7), 1e6, "it never holds more");
    }
}
