//! Credits a throttled writer with the time in which it did not write.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages` (`dirty_paused_when`, `think`, `nr_dirtied_pause`), Linux 6.16. A task with credit
//! writes without a pause. A call shorter than what may be made dirty between two pauses is not slowed down: it runs into debt, and the
//! call that reaches the allowance sleeps until nothing is owed. Longer calls go on at the rate, which is many pauses.

use crate::policy::kernel::tasks::task::Task;
use crate::units::{Nanos, as_number, seconds_between};

/// The largest credit: a second, and the pages of one pause. More is forgotten.
const MOST_CREDIT: f64 = 1.01;
/// The least credit: a pause is at least one jiffy.
const LEAST_CREDIT: f64 = 1e-3;
/// The largest debt: the longest pause (`MAX_PAUSE`). More is forgotten.
const MOST_DEBT: f64 = 0.2;
/// Seconds that are nothing: what rounding to nanoseconds leaves.
const NOTHING: f64 = 1e-6;

/// The time for which a throttled process may write without a pause, because it thought before.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Seconds by which the process is behind its rate; below zero if it is ahead.
    pub seconds: f64,
    /// The end of its last check; it has been thinking since.
    pub at: Nanos,
    /// The debt in seconds at which its call pauses; 0 if the call is longer than a pause is worth.
    pub allowance: f64,
    /// True if it sleeps until nothing is owed.
    pub is_pausing: bool,
}

pub fn has_credit(task: &Task) -> bool {
    task.credit.as_ref().is_some_and(Credit::is_left)
}

impl Credit {
    /// That of a process that has never been checked.
    pub fn new(now: Nanos) -> Self {
        Self { seconds: 0.0, at: now, allowance: 0.0, is_pausing: false }
    }

    /// True if it is worth a jiffy, or more debt is allowed.
    fn is_left(&self) -> bool {
        let least = if self.allowance > 0.0 { NOTHING - self.allowance } else { LEAST_CREDIT };
        !self.is_pausing && self.seconds > least
    }

    /// Begins a pause where the allowance is used up, and ends it where nothing is owed.
    fn pause(&mut self) {
        if self.is_pausing {
            self.is_pausing = self.seconds < -NOTHING;
        } else {
            self.is_pausing = self.allowance > 0.0 && !self.is_left();
        }
    }

    /// Returns the seconds of debt that are left until it pauses, at no rate at all.
    pub fn until_pause(&self) -> f64 {
        self.seconds + self.allowance
    }
}

/// True if a task sleeps until it owes nothing.
pub fn is_pausing(task: &Task) -> bool {
    task.credit.as_ref().is_some_and(|credit| credit.is_pausing)
}

/// Checks a task that writes at this rate: adds the time since its last check, and subtracts the time for the bytes that it has made dirty.
/// In free run, and by a pause at the hard limit, all credit is lost. True if any is left.
// Of every writer with every event.
#[inline(always)]
pub fn check(credit: &mut Option<Credit>, rate: Option<f64>, bytes: u64, now: Nanos) -> bool {
    let credit = credit.get_or_insert(Credit::new(now));
    let before = std::mem::replace(&mut credit.at, now);
    let Some(rate) = rate.filter(|&rate| rate > 0.0) else {
        (credit.seconds, credit.is_pausing) = (0.0, false);
        return false;
    };
    credit.seconds += seconds_between(before, now);
    if bytes > 0 {
        credit.seconds = (credit.seconds - as_number(bytes) / rate).max(-MOST_DEBT);
        forget_much(credit);
    }
    if credit.allowance > 0.0 {
        credit.pause();
    }
    credit.is_left()
}

/// Checks a task that begins to write, for the first time since it did something else.
pub fn resume(task: &mut Task, rate: Option<f64>, now: Nanos) {
    if task.run.dirties() {
        check(&mut task.credit, rate, 0, now);
    }
    task.credit.iter_mut().for_each(forget_much);
}

/// Limits the credit of a task that was away for long.
pub fn forget_much(credit: &mut Credit) {
    if credit.seconds > MOST_CREDIT {
        credit.seconds = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// At 1000 bytes/s a call may owe 20 ms.
    #[test]
    fn a_short_call_owes_up_to_its_allowance_and_sleeps_until_nothing_is_owed() {
        let mut credit = Some(Credit { allowance: 0.02, ..Credit::new(Nanos::ZERO) });
        let mut look = |bytes: u64, at: u64| {
            let goes_on = check(&mut credit, Some(1000.0), bytes, Nanos(at * MS));
            (goes_on, credit.expect("it was checked").is_pausing)
        };
        assert_eq!(look(10, 0), (true, false));
        assert_eq!(look(10, 0), (false, true), "20 ms are owed");
        assert_eq!(look(0, 19), (false, true));
        assert_eq!(look(0, 20), (true, false));
        assert_eq!(look(30, 30), (false, true), "10 ms have passed by themselves");
        assert!(!check(&mut credit, None, 0, Nanos(31 * MS)));
        let Credit { seconds, is_pausing, .. } = credit.expect("it is there");
        assert_eq!((seconds, is_pausing), (0.0, false), "free run forgets");
    }
}
