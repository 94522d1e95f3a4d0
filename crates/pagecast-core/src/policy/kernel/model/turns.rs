//! Gives the processors in turns to threads whose calls are shorter than a turn.
//!
//! Source: `kernel/sched/fair.c: sysctl_sched_base_slice, get_update_sysctl_factor, entity_tick`, Linux 6.12 (EEVDF, since 6.6), and `sched_slice`,
//! `sysctl_sched_latency` before. The thread that runs is looked at with each tick, and gives way to the one that has waited longest when its slice is used up.
//! Left out: priorities, threads that preempt another one when they wake, moving from processor to processor, programs that compute.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::policy::OperationId;
use crate::policy::kernel::tick::Hz;
use crate::units::{Nanos, earlier};

/// A thread that has ended a call begins the next one within this time, or sleeps: a sleep takes as long at least (`timer_slack_ns`, 50 us).
const BETWEEN_CALLS: Nanos = Nanos(50_000);

/// A thread that has a processor.
#[derive(Clone, Copy, Debug)]
struct Running {
    thread: OperationId,
    /// The start of its turn.
    since: Nanos,
    /// The end of its last call, if it is in none.
    left: Option<Nanos>,
}

/// The threads that run, and those that wait for their turn.
#[derive(Debug)]
pub struct Turns {
    cores: usize,
    hz: Hz,
    version: (u32, u32),
    /// That of as many threads as there were last.
    slice: Nanos,
    running: Vec<Running>,
    waiting: VecDeque<OperationId>,
    /// All of them.
    members: FxHashSet<OperationId>,
}

impl Turns {
    /// Those of a host.
    pub fn new(cores: u32, hz: u32, version: (u32, u32)) -> Self {
        let hz = Hz(hz.into());
        let (running, waiting, members) = (Vec::new(), VecDeque::new(), FxHashSet::default());
        Self { cores: cores.max(1) as usize, hz, version, slice: Nanos::ZERO, running, waiting, members }
    }

    /// Returns the end of a turn: the first tick at which the slice is used up.
    fn end(&self, since: Nanos) -> Nanos {
        self.hz.duration(self.hz.jiffies(since + self.slice) + 1)
    }

    /// Returns the longest turn while so many threads share the processors.
    pub fn longest(&self, threads: usize) -> Nanos {
        slice((self.cores, threads), self.version) + self.hz.duration(1)
    }

    /// True if no thread runs or waits.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Forgets all threads.
    pub fn clear(&mut self) {
        self.running.clear();
        self.waiting.clear();
        self.members.clear();
    }

    /// Ends turns and begins others. These threads could use a processor, by their numbers; the others are in no call, or in one that waits.
    pub fn pass_on(&mut self, now: Nanos, runnable: &[OperationId], waits: impl Fn(OperationId) -> bool) {
        let is_runnable = |thread: OperationId| runnable.binary_search(&thread).is_ok();
        let members = &mut self.members;
        self.waiting.retain(|&thread| is_runnable(thread) || !members.remove(&thread));
        self.running.retain_mut(|each| {
            each.left = if is_runnable(each.thread) { None } else { Some(each.left.unwrap_or(now)) };
            let stays = each.left.is_none_or(|left| !waits(each.thread) && now < left + BETWEEN_CALLS);
            stays || !members.remove(&each.thread)
        });
        for &thread in runnable {
            if members.insert(thread) {
                self.waiting.push_back(thread);
            }
        }
        self.slice = slice((self.cores, runnable.len()), self.version);
        if !self.waiting.is_empty() {
            let is_over = |each: &Running| each.left.is_none() && self.end(each.since) <= now;
            let (over, others): (Vec<Running>, _) = self.running.iter().partition(|each| is_over(each));
            self.running = others;
            self.waiting.extend(over.iter().map(|each| each.thread));
        }
        while self.running.len() < self.cores
            && let Some(thread) = self.waiting.pop_front()
        {
            self.running.push(Running { thread, since: now, left: None });
        }
    }

    /// True if a thread has a processor.
    pub fn runs(&self, thread: OperationId) -> bool {
        self.running.iter().any(|each| each.thread == thread)
    }

    /// Returns the next time at which a processor passes on, if anybody waits for one.
    pub fn next(&self) -> Option<Nanos> {
        let end =
            |each: &Running| each.left.map_or_else(|| self.end(each.since), |left| left + BETWEEN_CALLS);
        let ends = self.running.iter().filter(|_| !self.waiting.is_empty());
        ends.fold(None, |next, each| earlier(next, Some(end(each))))
    }
}

/// Returns the slice of one of so many threads on so many processors: 0.75 ms, 0.7 ms since 6.15; before 6.6 its part of 6 ms, and 0.75 ms at least.
/// All are multiplied by 1 + log2 of the processors, eight of them at most.
fn slice((cores, threads): (usize, usize), version: (u32, u32)) -> Nanos {
    let factor = 1 + u64::from(cores.clamp(1, 8).ilog2());
    let least = if version < (6, 15) { 750_000 } else { 700_000 };
    let part = if version < (6, 6) { 6_000_000 / threads.div_ceil(cores).max(1) as u64 } else { 0 };
    Nanos(factor * part.max(least))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: OperationId = OperationId(1);
    const B: OperationId = OperationId(2);
    const C: OperationId = OperationId(3);

    fn at(us: u64) -> Nanos {
        Nanos(1000 * us)
    }

    /// The threads that run on one processor with 250 ticks a second.
    struct One(Turns);

    impl One {
        fn new() -> Self {
            Self(Turns::new(1, 250, (6, 12)))
        }

        fn pass_on(&mut self, us: u64, runnable: &[OperationId], waits: &[OperationId]) -> Vec<OperationId> {
            self.0.pass_on(at(us), runnable, |thread| waits.contains(&thread));
            self.0.running.iter().map(|each| each.thread).collect()
        }
    }

    /// `get_update_sysctl_factor`, `SCHED_TUNABLESCALING_LOG`.
    #[test]
    fn a_slice_grows_with_the_processors() {
        let slices = [1, 2, 3, 4, 8, 64].map(|cores| slice((cores, 4), (6, 12)).0 / 1000);
        assert_eq!(slices, [750, 1500, 1500, 2250, 3000, 3000]);
        assert_eq!(slice((8, 4), (6, 15)), Nanos(2_800_000));
        let before = [2, 4, 9].map(|threads| slice((1, threads), (6, 5)).0 / 1000);
        assert_eq!(before, [3000, 1500, 750], "sched_slice");
    }

    #[test]
    fn a_turn_ends_with_the_tick_that_finds_its_slice_used_up() {
        let ends = |hz: u32, cores: u32, us: u64| {
            let slice = slice((cores as usize, 9), (6, 12));
            Turns { slice, ..Turns::new(cores, hz, (6, 12)) }.end(at(us)).0 / 1000
        };
        assert_eq!([0, 3000, 3250, 3900].map(|us| ends(250, 1, us)), [4000, 4000, 8000, 8000]);
        assert_eq!(
            [0, 999].map(|us| ends(1000, 8, us)),
            [4000, 4000],
            "3 ms are not over with the third tick"
        );
    }

    #[test]
    fn threads_run_one_after_the_other() {
        let mut one = One::new();
        assert_eq!(one.pass_on(0, &[A, B, C], &[]), [A]);
        assert_eq!(one.0.next(), Some(at(4000)));
        assert_eq!(one.pass_on(3999, &[A, B, C], &[]), [A]);
        assert_eq!([4000, 8000, 12_000].map(|us| one.pass_on(us, &[A, B, C], &[])), [[B], [C], [A]]);
        let mut two = Turns::new(2, 250, (6, 12));
        two.pass_on(at(0), &[A, B, C], |_| false);
        assert_eq!([A, B, C].map(|thread| two.runs(thread)), [true, true, false]);
    }

    #[test]
    fn a_thread_keeps_its_processor_between_two_calls_and_not_in_a_wait() {
        let mut one = One::new();
        let _ = one.pass_on(0, &[A, B], &[]);
        assert_eq!(one.pass_on(400, &[B], &[]), [A]);
        assert_eq!(one.0.next(), Some(at(450)));
        assert_eq!(one.pass_on(401, &[A, B], &[]), [A]);
        assert_eq!(one.pass_on(500, &[B], &[A]), [B], "it sleeps");
        assert_eq!(one.pass_on(600, &[A, B], &[]), [B], "and waits for its turn");
        let _ = one.pass_on(700, &[A], &[]);
        assert_eq!(one.pass_on(750, &[A], &[]), [A], "the other one does not come back");
    }

    #[test]
    fn a_thread_that_is_alone_goes_on() {
        let mut one = One::new();
        assert_eq!(one.pass_on(0, &[A], &[]), [A]);
        assert_eq!(one.0.next(), None);
        assert_eq!(one.pass_on(9000, &[A], &[]), [A]);
        assert_eq!(one.pass_on(9001, &[A, B], &[]), [B], "its turn was over long ago");
    }
}
