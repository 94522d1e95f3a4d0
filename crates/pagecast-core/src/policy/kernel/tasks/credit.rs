//! What a throttled writer may write without a pause because it thought before.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages` (`dirty_paused_when`, `think`), Linux 6.16.

use crate::policy::kernel::tasks::task::Task;
use crate::units::{Nanos, as_number, seconds_between};

/// A credit above this is forgotten: a second, and what the pages of one pause are worth.
const MOST_CREDIT: f64 = 1.01;
/// A credit below this is none: a pause is at least one jiffy.
const LEAST_CREDIT: f64 = 1e-3;
/// A debt above this is forgotten, too: the longest pause (`MAX_PAUSE`).
const MOST_DEBT: f64 = 0.2;

/// What a process may still write without a pause although it is throttled, as time: it thought instead of writing.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Seconds by which the process is behind its rate; below zero if it is ahead.
    pub seconds: f64,
    /// The end of its last check, from which on it thinks.
    pub at: Nanos,
}

pub fn has_credit(task: &Task) -> bool {
    task.credit.as_ref().is_some_and(Credit::is_left)
}

impl Credit {
    /// Whether it is worth a jiffy.
    fn is_left(&self) -> bool {
        self.seconds > LEAST_CREDIT
    }
}

/// A check of a task that writes, at this rate: the time since its last check is credited, and what it should have taken for the
/// bytes that it has made dirty is debited. In free run, and by a pause at the hard limit, all credit is lost. Whether any is left.
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

/// A task begins to write, and is checked for the first time since it did something else.
pub fn resume(task: &mut Task, rate: Option<f64>, now: Nanos) {
    if task.run.dirties() {
        check(&mut task.credit, rate, 0, now);
    }
    task.credit.iter_mut().for_each(forget_much);
}

/// Who was away for long begins with a clean slate.
fn forget_much(credit: &mut Credit) {
    if credit.seconds > MOST_CREDIT {
        credit.seconds = 0.0;
    }
}
