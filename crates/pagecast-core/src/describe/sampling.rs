//! Chooses the pages of which reuse is counted: all of few, or a fixed part of many by a hash of their places.
//!
//! Source: SHARDS (Waldspurger, Park, Garthwaite and Ahmad, *Efficient MRC Construction with SHARDS*, FAST 2015). A page is in the sample
//! in all of its uses or in none, so distances among sampled pages are those of all, scaled.

use rustc_hash::FxHashSet;

/// The pages with a hash up to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    limit: u64,
}

impl Sample {
    /// All pages.
    pub fn all() -> Self {
        Self { limit: u64::MAX }
    }

    /// True if a page is in it; `hash` is spread evenly over all numbers.
    #[inline]
    pub fn has(self, hash: u64) -> bool {
        hash <= self.limit
    }

    /// The part of the pages that are in it.
    pub fn share(self) -> f64 {
        if self == Self::all() { 1.0 } else { self.limit as f64 / u64::MAX as f64 }
    }
}

/// Counts different pages, and finds a sample of at most so many.
pub struct Distinct {
    most: usize,
    sample: Sample,
    seen: FxHashSet<u64>,
}

impl Distinct {
    pub fn new(most: usize) -> Self {
        Self { most, sample: Sample::all(), seen: FxHashSet::default() }
    }

    /// A page is used.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        if !self.sample.has(hash) || !self.seen.insert(hash) {
            return;
        }
        while self.seen.len() > self.most {
            let limit = self.sample.limit / 2;
            self.sample = Sample { limit };
            self.seen.retain(|&hash| hash <= limit);
        }
    }

    /// A sample that has at most so many different pages.
    pub fn sample(&self) -> Sample {
        self.sample
    }
}
