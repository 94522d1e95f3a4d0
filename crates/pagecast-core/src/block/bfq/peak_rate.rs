//! Estimates the peak rate of the disk, from which budgets and the time of weight raising follow.
//!
//! Source: `block/bfq-iosched.c: bfq_update_peak_rate, bfq_update_rate_reset, bfq_calc_max_budget, bfq_wr_duration`, Linux 6.12. The kernel
//! begins with two thirds of a reference disk and learns within seconds; here the disk has been in use before, and its rate is known.

use super::queue::is_far;
use crate::block::request::Request;
use crate::units::{BytesPerSecond, Nanos};

/// `BFQ_RATE_SHIFT`: rates are sectors per microsecond, shifted.
const SHIFT: u32 = 16;
/// `ref_rate` of disks that do not turn, and of those that do, and `ref_wr_duration` in milliseconds.
const REFERENCE: [(u64, u64); 2] = [(33_000, 2_500), (14_000, 7_000)];
/// `BFQ_RATE_MIN_SAMPLES`, `BFQ_RATE_MIN_INTERVAL`, `BFQ_RATE_REF_INTERVAL`
const MIN_SAMPLES: u64 = 32;
const MIN_INTERVAL: Nanos = Nanos(300_000_000);
const REF_INTERVAL: Nanos = Nanos(1_000_000_000);
/// A pause of the disk that ends an interval.
const PAUSE: Nanos = Nanos(100_000_000);
/// `BFQ_MIN_TT`
const MIN_THINK_TIME: Nanos = Nanos(2_000_000);
/// The bounds of `bfq_wr_duration`, in milliseconds.
const WR_DURATION: (u64, u64) = (3_000, 25_000);

/// The estimate, and the interval that is sampled.
#[derive(Debug)]
pub struct PeakRate {
    is_rotational: bool,
    rate: u64,
    samples: u64,
    sequential: u64,
    sectors: u64,
    longest: u64,
    first_dispatch: Nanos,
    last_dispatch: Nanos,
    last_completion: Nanos,
    last_position: u64,
}

impl PeakRate {
    /// The estimate of a disk that has been in use: what it moves at best.
    pub fn new(is_rotational: bool, peak: BytesPerSecond) -> Self {
        let sectors_per_us = peak.0 / Request::SECTOR as f64 / 1e6;
        Self {
            is_rotational,
            rate: ((sectors_per_us * f64::from(1 << SHIFT)) as u64).max(1),
            samples: 0,
            sequential: 0,
            sectors: 0,
            longest: 0,
            first_dispatch: Nanos::ZERO,
            last_dispatch: Nanos::ZERO,
            last_completion: Nanos::ZERO,
            last_position: 0,
        }
    }

    /// `bfq_calc_max_budget`: the sectors that pass at the peak rate in so long.
    pub fn budget(&self, timeout: Nanos) -> u64 {
        (self.rate * (timeout.0 / 1000)) >> SHIFT
    }

    /// `bfq_wr_duration`
    pub fn wr_duration(&self) -> Nanos {
        let (rate, time) = REFERENCE[usize::from(self.is_rotational)];
        Nanos((rate * time / self.rate).clamp(WR_DURATION.0, WR_DURATION.1) * 1_000_000)
    }

    /// Takes a request into the sample. Returns true if there is a new estimate.
    pub fn dispatched(&mut self, now: Nanos, request: &Request, in_flight: u32) -> bool {
        let sectors = request.sectors();
        let mut is_new = false;
        if self.samples == 0 {
            self.restart(now, sectors);
        } else if now - self.last_dispatch > PAUSE && in_flight == 0 {
            is_new = self.estimate(self.last_dispatch - self.first_dispatch);
            self.restart(now, sectors);
        } else {
            self.samples += 1;
            let follows = in_flight > 0 || now - self.last_completion < MIN_THINK_TIME;
            if follows && !is_far(self.last_position, request, self.is_rotational) {
                self.sequential += 1;
            }
            self.sectors += sectors;
            self.longest = if self.samples.is_multiple_of(32) { sectors } else { self.longest.max(sectors) };
            if now - self.first_dispatch >= REF_INTERVAL {
                is_new = self.estimate(now - self.first_dispatch);
                self.restart(now, sectors);
            }
        }
        self.last_position = request.end();
        self.last_dispatch = now;
        is_new
    }

    /// Notes the end of a request; one that took very long ends the interval. Returns true if there is a new estimate.
    pub fn completed(&mut self, now: Nanos) -> bool {
        let micros = (now - self.last_completion).0 / 1000;
        let is_slow =
            micros > MIN_THINK_TIME.0 / 1000 && (self.longest << SHIFT) / micros < 1 << (SHIFT - 10);
        let is_new = is_slow && self.samples > 0 && self.estimate(self.last_dispatch - self.first_dispatch);
        if is_slow {
            self.samples = 0;
        }
        self.last_completion = now;
        is_new
    }

    fn restart(&mut self, now: Nanos, sectors: u64) {
        (self.first_dispatch, self.last_dispatch) = (now, now);
        (self.samples, self.sequential, self.sectors, self.longest) = (1, 0, sectors, sectors);
    }

    /// `bfq_update_rate_reset`: a low-pass filter, which trusts long intervals of sequential requests most.
    fn estimate(&mut self, interval: Nanos) -> bool {
        if self.samples < MIN_SAMPLES || interval < MIN_INTERVAL {
            return false;
        }
        let interval = interval.max(Nanos(self.last_completion.0.saturating_sub(self.first_dispatch.0)));
        let rate = (self.sectors << SHIFT) / (interval.0 / 1000);
        let is_random = self.sequential < (3 * self.samples) >> 2;
        if is_random && rate <= self.rate || rate > 20 << SHIFT {
            return false;
        }
        let weight = 9 * self.sequential / self.samples;
        let divisor = 10 - (weight * interval.0 / REF_INTERVAL.0).min(8);
        self.rate = (self.rate * (divisor - 1) / divisor + rate / divisor).max(1);
        true
    }
}
