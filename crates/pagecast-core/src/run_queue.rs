//! Gives processors to short pieces of work of the kernel, first come, first served.
//!
//! A thread that others have been woken before, and that uses more of the processor than they do, comes behind them, and is preempted by those
//! that wake while it runs (`kernel/sched/fair.c: pick_eevdf, check_preempt_wakeup_fair`, Linux 6.12): it gets what the others leave.
//!
//! Left out: that long copies, which share the processors as flows, and this work hold each other up.

use crate::units::Nanos;

/// The processors.
#[derive(Debug)]
pub struct RunQueue {
    /// The time from which on each of them is free.
    free: Vec<Nanos>,
    /// How long none was free, in all, up to the time from which on one is.
    occupied: Nanos,
}

/// Work that comes behind all other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yielding {
    /// How long a processor was free before this work is done, since time 0.
    done_at: Nanos,
}

impl RunQueue {
    /// So many idle processors.
    #[must_use]
    pub fn new(processors: u32) -> Self {
        Self { free: vec![Nanos::ZERO; processors.max(1) as usize], occupied: Nanos::ZERO }
    }

    /// Gives the processor that is free first to a piece of work. Returns the time at which it is done.
    pub fn run(&mut self, now: Nanos, time: Nanos) -> Nanos {
        if time == Nanos::ZERO {
            return now;
        }
        let before = self.next_free().max(now);
        let free = self.free.iter_mut().min().expect("there is one");
        *free = (*free).max(now) + time;
        let done = *free;
        self.occupied += self.next_free().max(before) - before;
        done
    }

    /// The number of processors.
    #[must_use]
    pub fn count(&self) -> usize {
        self.free.len()
    }

    /// Begins work that uses a processor only while nobody else does.
    #[must_use]
    pub fn run_behind(&self, now: Nanos, time: Nanos) -> Yielding {
        Yielding { done_at: self.idle(now) + time }
    }

    /// Returns the time at which such work is done if nobody else comes; nothing if it is done.
    #[must_use]
    pub fn done(&self, now: Nanos, work: Yielding) -> Option<Nanos> {
        let left = work.done_at.0.saturating_sub(self.idle(now).0);
        (left > 0).then(|| self.next_free().max(now) + Nanos(left))
    }

    /// The time from which on a processor is free.
    fn next_free(&self) -> Nanos {
        *self.free.iter().min().expect("there is one")
    }

    /// How long a processor was free, since time 0.
    fn idle(&self, now: Nanos) -> Nanos {
        let still = self.next_free().0.saturating_sub(now.0);
        Nanos((now.0 + still).saturating_sub(self.occupied.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_for_a_processor() {
        let mut two = RunQueue::new(2);
        assert_eq!([5, 3, 4].map(|time| two.run(Nanos(10), Nanos(time)).0), [15, 13, 17]);
        assert_eq!(two.run(Nanos(10), Nanos::ZERO), Nanos(10), "nothing to do");
        assert_eq!(two.run(Nanos(20), Nanos(1)), Nanos(21));
    }

    #[test]
    fn work_behind_all_other_is_put_off_by_what_comes_meanwhile() {
        let mut one = RunQueue::new(1);
        let _ = one.run(Nanos(10), Nanos(5));
        let behind = one.run_behind(Nanos(12), Nanos(10));
        assert_eq!(one.done(Nanos(12), behind), Some(Nanos(25)));
        assert_eq!(one.run(Nanos(20), Nanos(3)), Nanos(23), "it is preempted");
        assert_eq!(one.done(Nanos(25), behind), Some(Nanos(28)));
        assert_eq!(one.done(Nanos(28), behind), None);
        let mut two = RunQueue::new(2);
        let behind = two.run_behind(Nanos(0), Nanos(10));
        let _ = two.run(Nanos(2), Nanos(4));
        assert_eq!(two.done(Nanos(2), behind), Some(Nanos(10)), "there is another processor");
        let _ = two.run(Nanos(3), Nanos(6));
        assert_eq!(two.done(Nanos(3), behind), Some(Nanos(13)), "until that is needed, too, from 3 to 6");
    }
}
