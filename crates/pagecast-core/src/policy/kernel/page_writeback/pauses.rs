//! Checks the tasks that take their pauses one by one, and lets them sleep.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages, balance_dirty_pages_ratelimited`, Linux 6.16; the decision is in `law::pause`. Left out: the pages
//! of other tasks of a processor (`bdp_ratelimits`), and strict devices.

use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_writeback::law::{Decision, Pause, poll_interval};
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::checks::Checks;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::kernel::timers::Timers;
use crate::units::Nanos;

impl WriteBack {
    /// True if short operations take their pauses one by one: before Linux 3.2 there are none, and strict devices have a rate in free run, too.
    pub fn pauses_one_by_one(&self) -> bool {
        !self.config.rules.writes_in_foreground && !self.has_strict
    }

    /// Checks all tasks that are due, and wakes those whose pause has ended.
    pub fn check_tasks(&self, tasks: &mut Tasks, dirty: u64, now: Nanos) {
        if !std::mem::take(&mut tasks.has_checks) {
            return;
        }
        let (mut has_checks, mut has_changed) = (false, false);
        for task in tasks.moving() {
            has_checks |= task.credit.as_ref().is_some_and(|credit| credit.checks.is_some());
            has_changed |= self.check_task(task, dirty, now);
        }
        tasks.has_checks = has_checks;
        if has_changed {
            tasks.note_change();
        }
    }

    /// Checks a task if it is due; true if it falls asleep or wakes.
    pub fn check_task(&self, task: &mut Task, dirty: u64, now: Nanos) -> bool {
        let (folio, wb, dirties) = (task.folio, task.wb, task.run.dirties());
        let Some(checks) = task.credit.as_mut().filter(|_| dirties).and_then(|credit| credit.checks.as_mut())
        else {
            return false;
        };
        let (timers, poll) = (self.config.timers(), poll_interval(dirty, self.limits.thresholds.limit));
        let wb = self.wbs.get(wb.0 as usize).and_then(Option::as_ref);
        let pause = wb.and_then(|wb| wb.task_rate.as_ref()).map(|rate| rate.law.pause());
        let hurries = wb.is_some_and(|wb| wb.dirty_exceeded);
        let slept = checks.sleeps_until;
        balance(checks, pause, &Look { now, timers, poll, folio, hurries });
        slept != checks.sleeps_until
    }

    /// Returns the seconds until a task is checked; nothing in free run, and while it sleeps.
    pub fn until_check(&self, task: &Task) -> Option<f64> {
        let checks = task.checks().filter(|checks| checks.sleeps_until.is_none())?;
        let wb = self.wbs.get(task.wb.0 as usize)?.as_ref()?;
        wb.task_rate.as_ref()?;
        let rate = task.transfer.as_ref()?.rate;
        (rate > 0.0).then(|| checks.left(task.folio, wb.dirty_exceeded) as f64 / rate)
    }
}

/// The circumstances of a check: the poll of a task in free run, the pages of its folios, and whether its device is over its limit.
struct Look {
    now: Nanos,
    timers: Timers,
    poll: u64,
    folio: u64,
    hurries: bool,
}

/// Checks a task if that is due, with the pauses of its device; there are none in free run.
fn balance(checks: &mut Checks, pause: Option<Pause>, look: &Look) {
    let &Look { now, timers, poll, folio, hurries } = look;
    if checks.sleeps_until.is_some_and(|until| now < until) {
        return;
    }
    let jiffies = timers.hz.jiffies(now);
    checks.sleeps_until = None;
    let again = checks.checked_again.take();
    let Some(pause) = pause else {
        *checks = Checks { paused_when: Some(jiffies), ..Checks::new(poll) };
        return;
    };
    let pages = match again {
        Some(pages) => pages,
        None if checks.is_due(folio, hurries) => checks.due_bytes(folio, hurries).max(checks.dirtied) / PAGE,
        None => return,
    };
    let think = checks.paused_when.map_or(0, |when| jiffies as i64 - when as i64);
    match pause.decide(pages, think) {
        Decision::Owe { period } => {
            checks.paused_when = Some(checks.paused_when.unwrap_or(jiffies) + period);
            checks.count_anew(pages);
        }
        Decision::Forget => {
            checks.paused_when = Some(jiffies);
            checks.count_anew(pages);
        }
        Decision::Gather => {
            checks.due = Pause::longer_poll(checks.due, pages);
            checks.gathered = pages;
        }
        Decision::Sleep { pause: slept, excess } => {
            checks.paused_when = Some(jiffies + slept + excess);
            checks.sleeps_until = Some(timers.fires(now, timers.hz.duration(slept)));
            checks.checked_again = pause.is_blocked().then_some(pages);
            if again.is_none() {
                checks.count_anew(pages);
            }
            checks.due = pause.poll;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::page_writeback::law::Throttle;
    use crate::policy::kernel::tick::Hz;

    const TIMERS: Timers = Timers { hz: Hz(250), has_wheel: true };
    const MS: u64 = 1_000_000;

    /// A writer of 100 MiB/s at its setpoint.
    const LAW: Throttle = Throttle {
        hz: TIMERS.hz,
        base_rate: 25_600,
        task_rate: 25_600,
        average_bandwidth: 25_600,
        device_dirty: 30_000,
    };

    fn dirtied(pages: u64, due: u64) -> Checks {
        Checks { dirtied: pages * PAGE, paused_when: Some(1000), ..Checks::new(due) }
    }

    fn look(now: Nanos, folio: u64) -> Look {
        Look { now, timers: TIMERS, poll: 64, folio, hurries: false }
    }

    fn at_ms(ms: u64) -> Nanos {
        Nanos(ms * MS)
    }

    #[test]
    fn a_task_sleeps_until_a_tick_and_goes_on_with_the_next_poll() {
        let mut checks = dirtied(400, 400);
        balance(&mut checks, Some(LAW.pause()), &look(Nanos(4000 * MS + 1), 1));
        // 400 pages are three jiffies, and the timer of a sleep fires with the tick behind them.
        let slept = Checks { sleeps_until: Some(at_ms(4016)), paused_when: Some(1003), ..Checks::new(200) };
        assert_eq!(checks, slept);
        balance(&mut checks, Some(LAW.pause()), &look(at_ms(4015), 1));
        assert_eq!(checks, slept);
        balance(&mut checks, Some(LAW.pause()), &look(at_ms(4016), 1));
        assert_eq!(checks, Checks { sleeps_until: None, ..slept });
    }

    #[test]
    fn short_pauses_are_owed_and_long_thinking_is_forgotten() {
        let mut checks = dirtied(200, 200);
        balance(&mut checks, Some(LAW.pause()), &look(at_ms(4000), 1));
        assert_eq!(checks, Checks { paused_when: Some(1001), ..Checks::new(200) }, "one jiffy");
        checks.dirtied = 200 * PAGE;
        balance(&mut checks, Some(LAW.pause()), &look(at_ms(9000), 1));
        assert_eq!(checks, Checks { paused_when: Some(2250), ..Checks::new(200) });
    }

    #[test]
    fn at_the_hard_limit_a_task_sleeps_until_it_may_write_and_pays_then() {
        let blocked = Throttle { task_rate: 0, ..LAW }.pause();
        let mut checks = dirtied(400, 400);
        balance(&mut checks, Some(blocked), &look(at_ms(4000), 1));
        assert_eq!((checks.sleeps_until, checks.checked_again), (Some(at_ms(4156)), Some(400)));
        balance(&mut checks, Some(blocked), &look(at_ms(4156), 1));
        assert_eq!(checks.sleeps_until, Some(at_ms(4312)));
        balance(&mut checks, Some(LAW.pause()), &look(at_ms(4312), 1));
        assert_eq!((checks.sleeps_until, checks.checked_again), (Some(at_ms(4324)), None));
    }

    /// `dirty_exceeded`: 8 pages are less than a jiffy, and no pause yet.
    #[test]
    fn over_the_limit_of_its_device_a_task_is_checked_more_often() {
        let hurried = |checks: &mut Checks| {
            balance(checks, Some(LAW.pause()), &Look { hurries: true, ..look(at_ms(4000), 1) });
        };
        let mut checks = dirtied(8, 200);
        hurried(&mut checks);
        assert_eq!(checks, Checks { gathered: 8, ..dirtied(8, 200) });
        hurried(&mut checks);
        assert_eq!(checks.left(1, true), 8 * PAGE);
        checks.dirtied = 104 * PAGE;
        hurried(&mut checks);
        assert_eq!((checks.paused_when, checks.gathered), (Some(1001), 0), "now it is a jiffy");
    }

    #[test]
    fn free_run_forgets() {
        let mut checks = dirtied(400, 400);
        balance(&mut checks, None, &look(at_ms(8000), 1));
        assert_eq!(checks, Checks { paused_when: Some(2000), ..Checks::new(64) });
    }

    /// A task that copies at 1 GiB/s; in two minutes.
    #[test]
    fn pauses_one_by_one_amount_to_the_rate() {
        for task_rate in [2_000, 9_000, 25_600, 40_000, 60_000] {
            for folio in [1, 64] {
                let law = Throttle { task_rate, ..LAW };
                let (mut now, mut pages, mut checks) = (Nanos::ZERO, 0, Checks::new(64));
                while now < at_ms(120_000) {
                    let due = checks.due_bytes(folio, false);
                    now += Nanos((due * 1_000_000_000) >> 30);
                    (checks.dirtied, pages) = (due, pages + due / PAGE);
                    balance(&mut checks, Some(law.pause()), &look(now, folio));
                    now = checks.sleeps_until.map_or(now, |until| until.max(now));
                }
                let ratio = pages as f64 / now.as_seconds() / law.rate(folio);
                assert!((0.75..1.25).contains(&ratio), "{task_rate} {folio}: {ratio}");
            }
        }
    }
}
