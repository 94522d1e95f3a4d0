//! Credits a throttled writer with the time in which it did not write.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages` (`dirty_paused_when`, `think`), Linux 6.16. A task with credit writes without a
//! pause.

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
}

pub fn has_credit(task: &Task) -> bool {
    task.credit.as_ref().is_some_and(Credit::is_left)
}

impl Credit {
    /// True if it is worth a jiffy.
    fn is_left(&self) -> bool {
        self.seconds > LEAST_CREDIT
    }
}

/// Checks a task that writes at this rate: adds the time since its last check, and subtracts the time for the bytes that it has made dirty.
/// In free run, and by a pause at the hard limit, all credit is lost. True if any is left.
// Of every writer with every event.
#[inline(always)]
pub fn check(credit: &mut Option<Credit>, rate: Option<f64>, bytes: u64, now: Nanos) -> bool {
    let credit = credit.get_or_insert(Credit { seconds: 0.0, at: now });
    let before = std::mem::replace(&mut credit.at, now);
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
