//! A timeline of bounded size that keeps the extremes.

use crate::units::{Bytes, Nanos};

/// What the memory of a host holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryLevels {
    /// Size of the memory.
    pub total: Bytes,
    /// Anonymous memory of processes.
    pub anonymous: Bytes,
    /// The page cache, dirty pages too.
    pub cached: Bytes,
    /// Pages that the device does not have yet.
    pub dirty: Bytes,
}

impl MemoryLevels {
    /// What nobody uses. The endless cache may use more than there is; then it is nothing.
    #[must_use]
    pub fn free(&self) -> Bytes {
        self.total.saturating_sub(self.used())
    }

    /// Anonymous memory and page cache.
    #[must_use]
    pub fn used(&self) -> Bytes {
        self.anonymous + self.cached
    }
}

/// A sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub time: Nanos,
    pub levels: MemoryLevels,
}

/// How many samples of one stretch of time are kept: the last, and the extremes of three levels.
const KEPT: usize = 7;

/// Samples by stretches of time whose length doubles when there are too many of them.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    samples: Vec<Sample>,
    /// Where the stretch of the newest sample begins in `samples`.
    stretch: usize,
    /// A stretch lasts 2^this nanoseconds.
    shift: u32,
    limit: usize,
}

impl Timeline {
    /// A timeline of at most `limit` samples, but never fewer than two stretches hold.
    pub(crate) fn new(limit: usize) -> Self {
        Self { samples: Vec::new(), stretch: 0, shift: 0, limit: limit.max(2 * KEPT) }
    }

    /// Adds a sample; the last one of an instant counts.
    pub(crate) fn add(&mut self, time: Nanos, levels: MemoryLevels) {
        if let Some(last) = self.samples.last_mut() {
            if last.levels == levels {
                return;
            }
            if last.time == time {
                last.levels = levels;
                return;
            }
            if last.time.0 >> self.shift != time.0 >> self.shift {
                thin(&mut self.samples, self.stretch);
                self.stretch = self.samples.len();
            }
        }
        self.samples.push(Sample { time, levels });
        if self.samples.len() - self.stretch >= 4 * KEPT || self.samples.len() > self.limit {
            thin(&mut self.samples, self.stretch);
        }
        while self.samples.len() > self.limit {
            self.coarsen();
        }
    }

    fn coarsen(&mut self) {
        self.shift += 1;
        let old = std::mem::take(&mut self.samples);
        self.stretch = 0;
        for sample in old {
            if self.samples.last().is_some_and(|l| l.time.0 >> self.shift != sample.time.0 >> self.shift) {
                thin(&mut self.samples, self.stretch);
                self.stretch = self.samples.len();
            }
            self.samples.push(sample);
        }
        thin(&mut self.samples, self.stretch);
    }

    pub(crate) fn into_samples(self) -> Vec<Sample> {
        self.samples
    }
}

/// Keeps of the samples from `from` on the last and the extremes.
fn thin(samples: &mut Vec<Sample>, from: usize) {
    let stretch = &samples[from..];
    if stretch.len() <= KEPT {
        return;
    }
    let levels: [fn(&Sample) -> u64; 3] =
        [|s| s.levels.dirty.0, |s| s.levels.cached.0, |s| s.levels.used().0];
    let mut keep = vec![stretch.len() - 1];
    for level in levels {
        let highest = (0..stretch.len()).max_by_key(|&at| (level(&stretch[at]), std::cmp::Reverse(at)));
        let lowest = (0..stretch.len()).min_by_key(|&at| (level(&stretch[at]), at));
        keep.extend(highest.into_iter().chain(lowest));
    }
    keep.sort_unstable();
    keep.dedup();
    let kept: Vec<Sample> = keep.into_iter().map(|at| stretch[at]).collect();
    samples.truncate(from);
    samples.extend(kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn levels(dirty: u64, cached: u64, anonymous: u64) -> MemoryLevels {
        let [dirty, cached, anonymous] = [dirty, cached, anonymous].map(Bytes);
        MemoryLevels { total: Bytes(1 << 40), anonymous, cached, dirty }
    }

    #[test]
    fn few_samples_are_all_kept() {
        let mut timeline = Timeline::new(100);
        (0..90).for_each(|at| timeline.add(Nanos(at * 1000), levels(at % 7, 10, at)));
        assert_eq!(timeline.into_samples().len(), 90);
    }

    proptest! {
        #[test]
        fn it_stays_small_and_keeps_extremes_and_order(
            steps in prop::collection::vec((1u64..1_000_000, 0u64..1000, 1000u64..2000, 0u64..1000), 1..2000),
        ) {
            let mut timeline = Timeline::new(50);
            let (mut now, mut all) = (0, Vec::new());
            for (wait, dirty, cached, anonymous) in steps {
                now += wait;
                timeline.add(Nanos(now), levels(dirty, cached, anonymous));
                all.push((dirty, cached, anonymous + cached));
            }
            let kept = timeline.into_samples();
            prop_assert!(kept.len() <= 50);
            prop_assert!(kept.windows(2).all(|pair| pair[0].time < pair[1].time));
            let highest = |of: fn(&Sample) -> u64| kept.iter().map(of).max();
            prop_assert_eq!(highest(|s| s.levels.dirty.0), all.iter().map(|l| l.0).max());
            prop_assert_eq!(highest(|s| s.levels.cached.0), all.iter().map(|l| l.1).max());
            prop_assert_eq!(highest(|s| s.levels.used().0), all.iter().map(|l| l.2).max());
            prop_assert_eq!(kept.last().map(|s| s.levels.dirty.0), all.last().map(|l| l.0));
        }
    }
}
