//! Keeps a timeline of bounded size with its extremes.

use smallvec::SmallVec;

use crate::units::{Bytes, Nanos};

/// The number of samples in the timelines of all hosts together.
pub(crate) const SAMPLES: usize = 10_000;

/// The levels of a host's memory.
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
    /// The levels that only a model of the kernel's own rules has.
    pub kernel: Option<KernelLevels>,
}

/// Lists, write-back and limits, under the kernel's own rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelLevels {
    /// The active part of the page cache.
    pub active: Bytes,
    /// The part of the dirty pages that is under writeback.
    pub writeback: Bytes,
    /// All bytes that have become dirty since the start.
    pub dirtied: Bytes,
    /// The background threshold: above so many dirty bytes flushers are woken.
    pub background: Bytes,
    /// The dirty limit.
    pub limit: Bytes,
    /// The limit in force: it follows a fall of `limit` slowly.
    pub hard_limit: Bytes,
    /// The dirty bytes to which throttling steers.
    pub setpoint: Bytes,
    /// The rate of a task on the device that throttles hardest, if one does, in bytes per second.
    pub task_rate: Option<Bytes>,
}

impl MemoryLevels {
    /// The free memory. The endless cache may use more than there is; then it is zero.
    #[must_use]
    pub fn free(&self) -> Bytes {
        self.total.saturating_sub(self.used())
    }

    /// Anonymous memory and page cache.
    #[must_use]
    pub fn used(&self) -> Bytes {
        self.anonymous + self.cached
    }

    /// The inactive part of the page cache.
    #[must_use]
    pub fn inactive(&self) -> Bytes {
        self.cached.saturating_sub(self.kernel.map_or(Bytes::ZERO, |kernel| kernel.active))
    }
}

/// A sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample<L> {
    pub time: Nanos,
    pub levels: L,
}

/// The places of samples that are kept.
pub(super) type Keep = SmallVec<[usize; KEPT + 1]>;

/// The levels of a timeline.
pub(crate) trait Levels: Copy + PartialEq {
    /// Adds the places of the samples that must be kept: the highest and the lowest of three levels, and one more at most.
    fn extremes(stretch: &[Sample<Self>], keep: &mut Keep);
}

impl Levels for MemoryLevels {
    fn extremes(stretch: &[Sample<Self>], keep: &mut Keep) {
        keep_both_ends(stretch, |levels| levels.dirty.0, keep);
        keep_both_ends(stretch, |levels| levels.cached.0, keep);
        keep_both_ends(stretch, |levels| levels.used().0, keep);
        keep_lowest(stretch, |levels| levels.kernel?.task_rate, keep);
    }
}

/// Keeps the first of the samples with the highest level, and the first with the lowest.
pub(super) fn keep_both_ends<L>(stretch: &[Sample<L>], level: impl Fn(&L) -> u64, keep: &mut Keep) {
    let level = |at: usize| level(&stretch[at].levels);
    let (mut highest, mut lowest) = (0, 0);
    for at in 1..stretch.len() {
        if level(at) > level(highest) {
            highest = at;
        } else if level(at) < level(lowest) {
            lowest = at;
        }
    }
    keep.extend([highest, lowest]);
}

/// Keeps the first of the samples with the lowest rate, if any has one.
pub(super) fn keep_lowest<L>(stretch: &[Sample<L>], rate: impl Fn(&L) -> Option<Bytes>, keep: &mut Keep) {
    let known = (0..stretch.len()).filter_map(|at| Some((rate(&stretch[at].levels)?, at)));
    keep.extend(known.min().map(|(_, at)| at));
}

/// The levels of a file in a host's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileLevels {
    /// In the page cache.
    pub cached: Bytes,
    /// The part of it that the device does not have yet.
    pub dirty: Bytes,
    /// The part of it on an active list, under policies that keep such lists.
    pub active: Bytes,
}

/// The charge of a memory cgroup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CgroupLevels {
    /// The highest charge: page cache and anonymous memory.
    pub peak: Bytes,
    /// The most that was ever dirty or under writeback of it.
    pub dirty_peak: Bytes,
    /// Page cache.
    pub cached: Bytes,
    /// Anonymous memory.
    pub anonymous: Bytes,
    /// The part of the page cache that the device does not have yet.
    pub dirty: Bytes,
}

/// The most samples that are kept of one stretch of time: the last, and the extremes of three levels. One more keeps the lowest rate of
/// tasks, if there was one.
const KEPT: usize = 7;

/// Samples by stretches of time whose length doubles when there are too many of them.
#[derive(Clone, Debug)]
pub(crate) struct Timeline<L> {
    samples: Vec<Sample<L>>,
    /// The index in `samples` at which the stretch of the newest begins.
    stretch: usize,
    /// A stretch lasts 2^this nanoseconds.
    shift: u32,
    limit: usize,
    /// True if levels change evenly from sample to sample, and not at samples alone: then the end of a flat stretch counts.
    is_even: bool,
    /// The time up to which the last sample is known to have held.
    held: Option<Nanos>,
    /// True if the last sample is the second of its instant: a sudden change has one before and one after.
    is_second: bool,
}

impl<L: Levels> Timeline<L> {
    /// A timeline of at most `limit` samples, but never fewer than two stretches hold.
    pub(crate) fn new(limit: usize) -> Self {
        let limit = limit.max(2 * KEPT);
        Self {
            samples: Vec::with_capacity(limit + 1),
            stretch: 0,
            shift: 0,
            limit,
            is_even: false,
            held: None,
            is_second: false,
        }
    }

    /// Notes that levels change evenly between samples from now on.
    pub(crate) fn change_evenly(&mut self) {
        self.is_even = true;
    }

    /// Adds a sample; the last one of an instant counts, and the first where levels change evenly.
    pub(crate) fn add(&mut self, time: Nanos, levels: L) {
        if self.samples.last().is_some_and(|last| last.levels == levels) {
            self.held = self.is_even.then_some(time);
            return;
        }
        if let (Some(held), Some(last)) = (self.held.take(), self.samples.last())
            && last.time < held
        {
            let levels = last.levels;
            self.push(held, &levels);
        }
        self.push(time, &levels);
    }

    /// Adds a sample, and the same one at a later time.
    pub(crate) fn add_held(&mut self, time: Nanos, until: Nanos, levels: L) {
        self.add(time, levels);
        self.held = self.is_even.then_some(until);
    }

    fn push(&mut self, time: Nanos, levels: &L) {
        if let Some(last) = self.samples.last_mut() {
            if last.time == time && (self.is_second || !self.is_even) {
                last.levels = *levels;
                return;
            }
            self.is_second = last.time == time;
            if last.time.0 >> self.shift != time.0 >> self.shift {
                self.thin_newest();
                self.stretch = self.samples.len();
            }
        }
        self.samples.push(Sample { time, levels: *levels });
        if self.samples.len() > self.limit {
            self.thin_newest();
        }
        while self.samples.len() > self.limit {
            self.coarsen();
        }
    }

    /// Lengthens stretches until none has too many samples.
    fn coarsen(&mut self) {
        let together = |few: &[Sample<L>]| u64::BITS - (few[0].time.0 ^ few[KEPT].time.0).leading_zeros();
        let enough = self.samples.windows(KEPT + 1).map(together).min();
        self.shift = (self.shift + 1).max(enough.expect("there are more samples than stretches keep"));
        // Stretches that keep all of their samples move at once, with the next one that does not.
        let (mut from, mut unmoved, mut kept) = (0, 0, 0);
        while let Some(first) = self.samples.get(from) {
            let stretch = first.time.0 >> self.shift;
            let is_behind = |sample: &Sample<L>| sample.time.0 >> self.shift != stretch;
            let until =
                self.samples[from..].iter().position(is_behind).map_or(self.samples.len(), |at| from + at);
            self.stretch = kept + (from - unmoved);
            if until - from > KEPT {
                self.samples.copy_within(unmoved..until, kept);
                kept = self.stretch + thin(&mut self.samples[self.stretch..][..until - from]);
                unmoved = until;
            }
            from = until;
        }
        self.samples.copy_within(unmoved.., kept);
        self.samples.truncate(kept + (from - unmoved));
    }

    fn thin_newest(&mut self) {
        let kept = thin(&mut self.samples[self.stretch..]);
        self.samples.truncate(self.stretch + kept);
    }

    pub(crate) fn into_samples(self) -> Vec<Sample<L>> {
        self.samples
    }
}

/// Moves the kept samples of a stretch, the last and the extremes, to its beginning, and returns how many those are.
fn thin<L: Levels>(stretch: &mut [Sample<L>]) -> usize {
    if stretch.len() <= KEPT {
        return stretch.len();
    }
    let mut keep = Keep::new();
    keep.push(stretch.len() - 1);
    L::extremes(stretch, &mut keep);
    keep.sort_unstable();
    keep.dedup();
    for (to, &at) in keep.iter().enumerate() {
        stretch[to] = stretch[at];
    }
    keep.len()
}

/// Columns of the timeline. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct TimelineTable {
    /// The time of the row.
    pub time: Vec<Nanos>,
    /// Index into `hosts`.
    pub host: Vec<u32>,
    /// The levels of memory.
    pub levels: Vec<MemoryLevels>,
    /// True if levels change evenly from row to row of a host; if not, they change at rows alone.
    pub is_even: bool,
}

impl TimelineTable {
    /// The timeline of the only host from samples of its memory, in the order of time. Between two of them levels change evenly, as far as
    /// is known. Of too many the extremes are kept.
    #[must_use]
    pub fn of_samples(samples: impl IntoIterator<Item = (Nanos, MemoryLevels)>) -> Self {
        let mut timeline = Timeline::new(SAMPLES);
        timeline.change_evenly();
        samples.into_iter().for_each(|(time, levels)| timeline.add(time, levels));
        let samples = timeline.into_samples();
        Self {
            time: samples.iter().map(|sample| sample.time).collect(),
            host: vec![0; samples.len()],
            levels: samples.iter().map(|sample| sample.levels).collect(),
            is_even: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn levels(dirty: u64, cached: u64, anonymous: u64) -> MemoryLevels {
        let [dirty, cached, anonymous] = [dirty, cached, anonymous].map(Bytes);
        MemoryLevels { total: Bytes(1 << 40), anonymous, cached, dirty, kernel: None }
    }

    #[test]
    fn few_samples_are_all_kept() {
        let mut timeline = Timeline::new(100);
        (0..90).for_each(|at| timeline.add(Nanos(at * 1000), levels(at % 7, 10, at)));
        assert_eq!(timeline.into_samples().len(), 90);
    }

    #[test]
    fn a_sample_is_dropped_only_when_there_are_too_many() {
        let kept = |count: usize| {
            let mut timeline = Timeline::new(14);
            // Every 8 ns up to 112 ns, then every nanosecond.
            let times = (0..=14).map(|at| at * 8).chain(113..);
            times.take(count).for_each(|time| timeline.add(Nanos(time), levels(time, 0, 0)));
            timeline.into_samples().iter().map(|sample| sample.time.0).collect::<Vec<_>>()
        };
        assert_eq!(kept(14), [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104]);
        assert_eq!(kept(15), [0, 56, 64, 72, 80, 88, 96, 104, 112], "stretches of 64 ns; 7 samples may stay");
        assert_eq!(kept(20), [0, 56, 64, 72, 80, 88, 96, 104, 112, 113, 114, 115, 116, 117]);
        assert_eq!(kept(21), [0, 56, 64, 118], "the last stretch alone had too many");
    }

    #[test]
    fn the_end_of_a_flat_stretch_is_kept_where_levels_change_evenly() {
        let times = |is_even: bool| {
            let mut timeline = Timeline::new(100);
            if is_even {
                timeline.change_evenly();
            }
            for (at, dirty) in [(0, 1), (5, 1), (7, 1), (9, 4)] {
                timeline.add(Nanos(at), levels(dirty, 10, 0));
            }
            timeline.into_samples().iter().map(|sample| sample.time.0).collect::<Vec<_>>()
        };
        assert_eq!((times(false), times(true)), (vec![0, 9], vec![0, 7, 9]));
    }

    #[test]
    fn the_lowest_rate_of_tasks_is_kept() {
        let mut timeline = Timeline::new(14);
        for at in 0..1000 {
            let rate =
                [None, Some(Bytes(100 + at)), Some(Bytes(50))][usize::from(at > 0) + usize::from(at == 500)];
            let kernel = Some(KernelLevels { task_rate: rate, ..KernelLevels::default() });
            timeline.add(Nanos(at), MemoryLevels { kernel, ..levels(at % 7, 10, 1000 - at) });
        }
        let kept = timeline.into_samples();
        let lowest = kept.iter().filter_map(|sample| sample.levels.kernel?.task_rate).min();
        assert_eq!((lowest, kept.len() <= 14), (Some(Bytes(50)), true));
    }

    #[test]
    fn what_is_not_active_is_inactive() {
        let kernel = KernelLevels { active: Bytes(30), ..KernelLevels::default() };
        assert_eq!(MemoryLevels { kernel: Some(kernel), ..levels(0, 100, 7) }.inactive(), Bytes(70));
    }

    #[test]
    fn what_happens_at_one_instant_has_a_sample_before_and_one_after_where_levels_change_evenly() {
        let samples = |steps: &[(u64, u64)]| {
            let mut timeline = Timeline::new(100);
            timeline.change_evenly();
            steps.iter().for_each(|&(at, dirty)| timeline.add(Nanos(at), levels(dirty, 10, 0)));
            let kept = timeline.into_samples();
            kept.iter().map(|sample| (sample.time.0, sample.levels.dirty.0)).collect::<Vec<_>>()
        };
        assert_eq!(samples(&[(0, 1), (5, 1), (5, 4)]), [(0, 1), (5, 1), (5, 4)], "after a flat stretch");
        assert_eq!(
            samples(&[(0, 1), (5, 2), (5, 3), (5, 4)]),
            [(0, 1), (5, 2), (5, 4)],
            "the first and the last"
        );
        assert_eq!(samples(&[(0, 1), (0, 1), (6, 4)]), [(0, 1), (6, 4)], "none is there twice");
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
            let highest = |of: fn(&Sample<MemoryLevels>) -> u64| kept.iter().map(of).max();
            prop_assert_eq!(highest(|s| s.levels.dirty.0), all.iter().map(|l| l.0).max());
            prop_assert_eq!(highest(|s| s.levels.cached.0), all.iter().map(|l| l.1).max());
            prop_assert_eq!(highest(|s| s.levels.used().0), all.iter().map(|l| l.2).max());
            prop_assert_eq!(kept.last().map(|s| s.levels.dirty.0), all.last().map(|l| l.0));
        }
    }
}
