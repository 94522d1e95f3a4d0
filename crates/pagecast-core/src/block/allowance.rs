//! Lets so many requests of a cloud volume pass in a second, and more of them while there are credits.
//!
//! Source: the documentation of Amazon EBS on volume types: credits are earned at the baseline and spent by each request, up to the burst while
//! there are some; a long request counts as several. Left out: that adjoining requests count as one.

use super::request::Request;
use crate::machine::Iops;
use crate::units::Nanos;

/// The credits of a volume; see the module. Rates are in a second.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    baseline: f64,
    burst: f64,
    most: f64,
    unit: u64,
    credits: f64,
    /// The time up to which credits were earned, and the time from which the next request may pass.
    earned: Nanos,
    free: Nanos,
}

impl Allowance {
    /// All credits are there.
    #[must_use]
    pub fn new(iops: &Iops) -> Self {
        let (baseline, most) = (f64::from(iops.baseline), f64::from(iops.credits));
        let burst = f64::from(iops.burst.unwrap_or(iops.baseline));
        let unit = iops.unit.0.max(1);
        Self { baseline, burst, most, unit, credits: most, earned: Nanos::ZERO, free: Nanos::ZERO }
    }

    /// The time from which the next request may pass.
    pub(super) fn free(&self) -> Nanos {
        self.free
    }

    /// Lets a request pass, which must not come too early.
    pub(super) fn pass(&mut self, now: Nanos, request: &Request) {
        let requests = request.bytes.0.div_ceil(self.unit).max(1) as f64;
        if self.most > 0.0 {
            let earned = self.baseline * (now.0 - self.earned.0) as f64 * 1e-9;
            self.credits = (self.credits + earned).min(self.most) - requests;
            self.earned = now;
        }
        let of_requests = requests / if self.credits > 0.0 { self.burst } else { self.baseline };
        self.credits = self.credits.max(0.0);
        self.free = now + Nanos::from_seconds(of_requests);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Direction, RequestId};
    use crate::units::Bytes;
    use crate::workload::IoPriority;

    const SECOND: Nanos = Nanos(1_000_000_000);

    fn request(bytes: u64) -> Request {
        Request {
            id: RequestId(0),
            thread: 0,
            direction: Direction::Read,
            position: 0,
            bytes: Bytes(bytes),
            priority: IoPriority::default(),
            cgroup: 0,
            part: 0,
            is_direct: true,
            is_sync: true,
        }
    }

    fn gp2(gib: u32) -> Allowance {
        let iops = Iops { baseline: 3 * gib, burst: Some(3000), credits: 5_400_000, unit: Bytes(256 << 10) };
        Allowance::new(&iops)
    }

    /// Requests that pass from one time to another, as early as they may.
    fn passed(allowance: &mut Allowance, (from, to): (Nanos, Nanos), bytes: u64) -> u64 {
        let mut count = 0;
        let mut now = allowance.free().max(from);
        while now < to {
            allowance.pass(now, &request(bytes));
            now = allowance.free();
            count += 1;
        }
        count
    }

    /// "Enough to sustain the maximum burst performance of 3,000 IOPS for at least 30 minutes".
    #[test]
    fn credits_last_for_thirty_minutes_and_more_as_some_are_earned() {
        let mut volume = gp2(100);
        let mut rates = Vec::new();
        for minute in 0..40 {
            let span = (Nanos(minute * 60 * SECOND.0), Nanos((minute + 1) * 60 * SECOND.0));
            rates.push(passed(&mut volume, span, 4096).div_ceil(60));
        }
        let fast = rates.iter().filter(|rate| **rate >= 2990).count();
        assert_eq!(fast, 33, "5.4 million at 2,700 more than are earned: 33 minutes and 20 seconds");
        assert!((299..=301).contains(&rates[39]));
    }

    #[test]
    fn credits_come_back_at_the_baseline() {
        let mut volume = gp2(100);
        volume.credits = 0.0;
        passed(&mut volume, (Nanos::ZERO, SECOND), 4096);
        let later = Nanos(101 * SECOND.0);
        let burst = passed(&mut volume, (later, later + Nanos(10 * SECOND.0)), 4096);
        assert!((29_900..=30_100).contains(&burst), "30,000 were earned: {burst}");
    }

    #[test]
    fn long_requests_count_as_several() {
        let iops = Iops { baseline: 100, burst: None, credits: 0, unit: Bytes(256 << 10) };
        let count = |bytes: u64| passed(&mut Allowance::new(&iops), (Nanos::ZERO, SECOND), bytes);
        assert_eq!([4096, 256 << 10, 1 << 20].map(count), [100, 100, 25]);
    }
}
