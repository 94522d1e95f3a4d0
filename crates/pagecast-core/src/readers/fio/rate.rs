//! Paces the requests of a thread: `rate`, `rate_iops`, `rate_process`.

use super::job::{Job, READ, WRITE};
use super::random::{Random, Use, seed};
use crate::units::Nanos;

/// When the next request of each direction is due.
pub struct Rate {
    /// 0 is no bound.
    pub bytes_per_s: [u64; 2],
    /// Bytes since the start.
    pub issued: [u64; 2],
    next: [Nanos; 2],
    /// Microseconds that were drawn since the start (`rate_process=poisson`).
    pub drawn: [u64; 2],
    arrivals: [Random; 2],
}

impl Rate {
    /// That of a thread.
    pub fn new(job: &Job, thread: u64) -> Self {
        let of = |direction: usize| match (job.rate[direction], job.rate_iops[direction]) {
            (0, iops) => iops.saturating_mul(job.least(direction)),
            (rate, _) => rate,
        };
        let arrivals = [Use::ReadArrivals, Use::WriteArrivals].map(|at| Random::small(seed(job, thread, at)));
        Self {
            bytes_per_s: [of(READ), of(WRITE)],
            issued: [0; 2],
            next: [Nanos::ZERO; 2],
            drawn: [0; 2],
            arrivals,
        }
    }

    /// Begins anew, at the end of the ramp.
    pub fn reset(&mut self) {
        (self.issued, self.next, self.drawn) = ([0; 2], [Nanos::ZERO; 2], [0; 2]);
    }

    /// Notes a request (`usec_for_io`).
    pub fn note(&mut self, job: &Job, direction: usize, bytes: u64) {
        self.issued[direction] += bytes;
        let rate = self.bytes_per_s[direction];
        if rate == 0 {
            return;
        }
        if job.is_poisson {
            let per_second = (rate / job.least(direction)).max(1);
            let gap = (1_000_000 / per_second) as f64 * -self.arrivals[direction].part().ln();
            self.drawn[direction] += gap as u64;
            self.next[direction] = Nanos(self.drawn[direction] * 1000);
        } else {
            let micros = u128::from(self.issued[direction]) * 1_000_000 / u128::from(rate);
            self.next[direction] = Nanos(u64::try_from(micros * 1000).unwrap_or(u64::MAX));
        }
    }

    /// Which direction goes on, and when (`rate_ddir`).
    pub fn due(&self, job: &Job, wanted: usize, now: Nanos) -> (usize, Nanos) {
        let other = 1 - wanted;
        let shares = [job.percent_reads, 100 - job.percent_reads];
        let is_mixed = job.rw.reads && job.rw.writes && shares[other] > 0;
        if self.next[wanted] <= now || !is_mixed {
            return (wanted, self.next[wanted]);
        }
        if self.next[other] <= now || self.next[other] < self.next[wanted] {
            return (other, self.next[other]);
        }
        (wanted, self.next[wanted])
    }
}
