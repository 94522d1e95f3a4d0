//! Credits a throttled writer with the time in which it did not write.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages` (`dirty_paused_when`, `think`), Linux 6.16. A task with credit writes without a pause.
//! Without, a long operation goes on at the rate, which is many pauses; those of a short one are taken one by one (`checks`).

use crate::policy::kernel::tasks::checks::Checks;
use crate::policy::kernel::tasks::task::Task;
use crate::units::{Nanos, as_number, seconds_between};

/// The largest credit: a second, and the pages of one pause. More is forgotten.
const MOST_CREDIT: f64 = 1.01;
/// The least credit: a pause is at least one jiffy.
const LEAST_CREDIT: f64 = 1e-3;
/// The largest debt: the longest pause (`MAX_PAUSE`). More is forgotten.
const MOST_DEBT: f64 = 0.2;

/// The time for which a throttled process may write without a pause, because it thought before.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Seconds by which the process is behind its rate; below zero if it is ahead.
    pub seconds: f64,
    /// The end of its last check; it has been thinking since.
    pub at: Nanos,
    /// Its counters, if its pauses are taken one by one: its credit is theirs.
    pub checks: Option<Checks>,
}

pub fn has_credit(task: &Task) -> bool {
    task.credit.as_ref().is_some_and(Credit::is_left)
}

impl Credit {
    /// That of a process that has never been checked.
    pub fn new(now: Nanos) -> Self {
        Self { seconds: 0.0, at: now, checks: None }
    }

    /// True if it is worth a jiffy.
    fn is_left(&self) -> bool {
        self.checks.is_none() && self.seconds > LEAST_CREDIT
    }
}

/// Checks a task that writes at this rate: adds the time since its last check, and subtracts the time for the bytes that it has made dirty.
/// In free run, and by a pause at the hard limit, all credit is lost. True if any is left. Of a task whose pauses are taken one by one the bytes are
/// counted alone.
// Of every writer with every event.
#[inline(always)]
pub fn check(credit: &mut Option<Credit>, rate: Option<f64>, bytes: u64, now: Nanos) -> bool {
    let credit = credit.get_or_insert(Credit::new(now));
    let before = std::mem::replace(&mut credit.at, now);
    if let Some(checks) = &mut credit.checks {
        checks.dirtied += bytes;
        return false;
    }
    let Some(rate) = rate.filter(|&rate| rate > 0.0) else {
        credit.seconds = 0.0;
        return false;
    };
    credit.seconds += seconds_between(before, now);
    if bytes > 0 {
        credit.seconds = (credit.seconds - as_number(bytes) / rate).max(-MOST_DEBT);
        forget_much(credit);
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
    use crate::policy::kernel::page::PAGE;

    #[test]
    fn bytes_of_pauses_one_by_one_are_counted_and_no_credit() {
        let checks = Some(Checks::new(32));
        let mut credit = Some(Credit { checks, ..Credit::new(Nanos::ZERO) });
        for rate in [Some(1000.0), None] {
            assert!(!check(&mut credit, rate, 3 * PAGE, Nanos(1_000_000_000)));
        }
        let Credit { seconds, checks, .. } = credit.expect("it was checked");
        assert_eq!((seconds, checks), (0.0, Some(Checks { dirtied: 6 * PAGE, ..Checks::new(32) })));
    }
}
