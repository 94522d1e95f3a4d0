//! Writers held back: the rate of each task, and what it may write faster because it thought before.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages`, Linux 6.16. A task that writes n pages is let go on after n / rate since its last pause
//! ended; if it was slower by itself, the difference is credited, up to a second.

use super::law::{DeviceShare, Hz, Position, Throttle};
use super::tasks::Task;
use super::wb::{Level, Wb};
use super::{Credit, DeviceId, Kernel, PAGE};
use crate::policy::Actions;
use crate::units::{Bytes, Nanos};

/// The way from free run to the hard limit is taken in so many steps at least.
const STEPS: f64 = 64.0;
/// A credit above this is forgotten: a second, and what the pages of one pause are worth.
const MOST_CREDIT: f64 = 1.01;
/// A credit below this is none: a pause is at least one jiffy.
const LEAST_CREDIT: f64 = 1e-3;
/// A debt above this is forgotten, too: the longest pause (`MAX_PAUSE`).
const MOST_DEBT: f64 = 0.2;

impl Kernel {
    /// By which part of the thresholds a device is measured.
    pub(super) fn device_share(&self) -> DeviceShare {
        DeviceShare { floor_in_ratio: !self.rules.share_has_floor, ..DeviceShare::default() }
    }

    fn position(&self, at: usize, dirty: u64, bandwidth: u64) -> Position {
        let (share, fraction) = (self.device_share(), self.fractions.fraction(at));
        let thresholds = self.limits.thresholds;
        Position {
            thresholds,
            hard_limit: self.limits.hard,
            dirty,
            device_thresholds: share.thresholds(fraction, &thresholds, dirty),
            device_dirty: self.pages.dirty.of_device(DeviceId(at as u32)).dirty() / PAGE,
            device_bandwidth: bandwidth,
            strict_limit: false,
            floor_in_ratio: !self.rules.share_has_floor,
        }
    }

    /// Sets the rate of the tasks that write to each device, and brings what it is made of up to date.
    pub(super) fn throttle(&mut self, now: Nanos, out: &mut Actions) {
        let dirty = self.pages.dirty.total() / PAGE;
        let slack = self.rate_step() as u64;
        for at in 0..self.wbs.len() {
            let has_writers = self.has_writers(at);
            let Some(wb) = self.wbs[at].as_mut() else { continue };
            let was_throttling = wb.is_throttling;
            // Around free run it would begin and end with every unit that is written.
            let floor =
                if was_throttling { self.limits.freerun.saturating_sub(slack) } else { self.limits.freerun };
            wb.is_throttling = dirty > floor && has_writers;
            if was_throttling != wb.is_throttling {
                let name = if was_throttling { "throttling_ends" } else { "throttling_begins" };
                out.tell(name, None, Bytes(dirty * PAGE));
            }
            if dirty <= self.limits.freerun {
                wb.task_rate = None;
            } else if has_writers {
                self.rate_tasks(now, at, dirty);
            }
        }
    }

    fn has_writers(&self, at: usize) -> bool {
        self.tasks.values().any(|task| task.run.dirties() && task.file().device.0 as usize == at)
    }

    /// Sets the rate of the tasks that write to a device, if it may have changed.
    fn rate_tasks(&mut self, now: Nanos, at: usize, dirty: u64) {
        let step = self.rate_step() - 1.0;
        let wb = self.wbs[at].as_ref().expect("who writes has a device");
        let is_update_due = wb.next_update() <= now;
        let has_moved = dirty.abs_diff(wb.rated_at) as f64 >= step;
        if wb.task_rate.is_some() && !is_update_due && !has_moved {
            return;
        }
        let ratio = self.position(at, dirty, wb.bandwidth.average).ratio();
        let level = Level { position_ratio: ratio, dirty, setpoint: self.limits.setpoint };
        if is_update_due {
            self.hard_limit.update(now, self.limits.thresholds.limit, dirty);
        }
        let counts = self.pages.dirty.of_device(DeviceId(at as u32));
        let wb = self.wbs[at].as_mut().expect("who writes has a device");
        wb.update(now, counts, Some(&level));
        let throttle = Throttle {
            hz: Hz(u64::from(self.host.kernel.hz)),
            base_rate: wb.base_rate.rate,
            task_rate: wb.base_rate.task_rate(ratio),
            average_bandwidth: wb.bandwidth.average,
            device_dirty: counts.dirty() / PAGE,
        };
        wb.task_rate = Some(throttle.rate() * PAGE as f64);
        wb.rated_at = dirty;
    }

    /// The rate of tasks is set anew when the dirty level has moved by so many pages.
    pub(super) fn rate_step(&self) -> f64 {
        (self.limits.hard - self.limits.freerun) as f64 / STEPS
    }

    /// What a task may write by the law of its device, unless it has credit.
    pub(super) fn throttled_rate(&self, task: &Task) -> Option<f64> {
        task_rate(&self.wbs, task).filter(|&rate| rate == 0.0 || !has_credit(task))
    }

    /// In how many seconds a task that runs ahead of the rate of its device will have no credit left.
    pub(super) fn until_credit_is_spent(&self, task: &Task) -> Option<f64> {
        let limit = task_rate(&self.wbs, task).filter(|_| has_credit(task))?;
        let rate = task.transfer.as_ref()?.rate;
        let credit = task.credit?.seconds;
        (rate > limit).then(|| credit * limit / (rate - limit))
    }
}

/// The rate of the tasks that write to the device of one that does; nothing in free run.
pub(super) fn task_rate(wbs: &[Option<Wb>], task: &Task) -> Option<f64> {
    if !task.run.dirties() {
        return None;
    }
    wbs.get(task.file().device.0 as usize)?.as_ref()?.task_rate
}

fn has_credit(task: &Task) -> bool {
    task.credit.is_some_and(|credit| credit.seconds > LEAST_CREDIT)
}

/// Time has passed since the last check of a task, at this rate. Who was free or blocked earns nothing: a blocked task
/// sleeps until it may go on, and its pause ends then.
pub(super) fn earn_credit(task: &mut Task, rate: Option<f64>, now: Nanos) {
    if !task.run.dirties() {
        return;
    }
    let credit = task.credit.get_or_insert(Credit { seconds: 0.0, at: now });
    credit.seconds += (now - credit.at).as_seconds();
    credit.at = now;
    if rate.is_none_or(|rate| rate == 0.0) {
        credit.seconds = 0.0;
    }
}

/// A task has made pages dirty: at this rate it should have taken so long.
pub(super) fn spend_credit(task: &mut Task, rate: Option<f64>, bytes: u64) {
    let (Some(rate), Some(credit)) = (rate, task.credit.as_mut()) else { return };
    if credit.seconds > MOST_CREDIT {
        credit.seconds = 0.0;
    } else if rate > 0.0 {
        credit.seconds = (credit.seconds - bytes as f64 / rate).max(-MOST_DEBT);
    }
}
