//! Latencies of a domain, and the depth that follows from them.
//!
//! Source: `block/kyber-iosched.c: add_latency_sample, calculate_percentile, kyber_timer_fn`, Linux 6.12.

use crate::units::Nanos;

/// `KYBER_LATENCY_SHIFT`: a bucket is a quarter of the target. The first four are good.
const SHIFT: u32 = 2;
pub const GOOD_BUCKETS: usize = 1 << SHIFT;
const BUCKETS: usize = 2 << SHIFT;
/// So many samples, or this time, make a percentile.
const SAMPLES: u32 = 500;
const TIMEOUT: Nanos = Nanos(1_000_000_000);

/// The latencies of the requests of a domain.
#[derive(Debug)]
pub struct Latencies {
    target: Nanos,
    /// In the disk, and from the submission on.
    io: [u32; BUCKETS],
    total: [u32; BUCKETS],
    timeout: Option<Nanos>,
    /// The last 99th percentile, until it has been used.
    p99: Option<usize>,
}

impl Latencies {
    pub fn new(target: Nanos) -> Self {
        Self { target, io: [0; BUCKETS], total: [0; BUCKETS], timeout: None, p99: None }
    }

    /// Adds a request.
    pub fn add(&mut self, io: Nanos, total: Nanos) {
        let width = (self.target.0 >> SHIFT).max(1);
        let bucket = |time: Nanos| ((time.0.saturating_sub(1) / width) as usize).min(BUCKETS - 1);
        self.io[bucket(io)] += 1;
        self.total[bucket(total)] += 1;
    }

    /// True if the 90th percentile in the disk is beyond the target.
    pub fn is_bad(&mut self, now: Nanos) -> bool {
        percentile(now, &mut self.io, &mut self.timeout, 90).is_some_and(|p90| p90 >= GOOD_BUCKETS)
    }

    /// The 99th percentile from the submission on; one of before where there are few samples and the disk is congested.
    pub fn p99(&mut self, now: Nanos, is_congested: bool) -> Option<usize> {
        let p99 = percentile(now, &mut self.total, &mut self.timeout, 99);
        if is_congested {
            return p99.or(self.p99.take());
        }
        self.p99 = p99.or(self.p99);
        p99
    }
}

/// The bucket of a percentile, if there are enough samples; they are taken away.
fn percentile(
    now: Nanos,
    buckets: &mut [u32; BUCKETS],
    timeout: &mut Option<Nanos>,
    percent: u32,
) -> Option<usize> {
    let samples: u32 = buckets.iter().sum();
    if samples == 0 {
        return None;
    }
    let ends = *timeout.get_or_insert(now + TIMEOUT);
    if samples < SAMPLES && now < ends {
        return None;
    }
    *timeout = None;
    let mut left = (samples * percent).div_ceil(100);
    let taken = std::mem::take(buckets);
    let bucket = taken[..BUCKETS - 1].iter().position(|count| {
        let is_here = *count >= left;
        left = left.saturating_sub(*count);
        is_here
    });
    Some(bucket.unwrap_or(BUCKETS - 1))
}

/// The depth of a domain whose 99th percentile is in such a bucket: in proportion to its part of the target.
pub fn scaled(depth: u32, p99: usize, most: u32) -> u32 {
    ((depth * (p99 as u32 + 1)) >> SHIFT).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_quarter_of_the_target() {
        let mut reads = Latencies::new(Nanos(2_000_000));
        (0..500).for_each(|_| reads.add(Nanos(1_000_000), Nanos(3_900_000)));
        assert!(!reads.is_bad(Nanos::ZERO), "half of the target");
        assert_eq!(reads.p99(Nanos::ZERO, false), Some(7));
        reads.add(Nanos(1_000_000), Nanos(3_900_000));
        assert_eq!(reads.p99(Nanos::ZERO, false), None, "too few, and not yet late");
        assert_eq!(reads.p99(Nanos::ZERO, true), Some(7), "the one before");
        assert_eq!(reads.p99(TIMEOUT, false), Some(7), "late");
        (0..500).for_each(|_| reads.add(Nanos(2_000_001), Nanos(2_000_001)));
        assert!(reads.is_bad(TIMEOUT));
        assert_eq!((scaled(128, 1, 128), scaled(128, 7, 128), scaled(1, 0, 128)), (64, 128, 1));
    }
}
