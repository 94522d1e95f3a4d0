//! Writers held back: the rate of each task, and what it may write faster because it thought before.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages`, Linux 6.16. A task that writes n pages is let go on after n / rate since its last pause
//! ended; if it was slower by itself, the difference is credited, up to a second.

use super::law::{Fraction, Hz, Position, Throttle};
use super::tasks::Task;
use super::wb::{Level, Wb, WbId};
use super::{Credit, Kernel, Limits, PAGE};
use crate::units::Nanos;

/// The way from free run to the hard limit is taken in so many steps at least.
const STEPS: f64 = 64.0;
/// A credit above this is forgotten: a second, and what the pages of one pause are worth.
const MOST_CREDIT: f64 = 1.01;
/// A credit below this is none: a pause is at least one jiffy.
const LEAST_CREDIT: f64 = 1e-3;
/// A debt above this is forgotten, too: the longest pause (`MAX_PAUSE`).
const MOST_DEBT: f64 = 0.2;

impl Kernel {
    /// Where a wb stands in a domain with these limits and so many dirty pages, a fraction of which it writes.
    pub(super) fn position_in(
        &self,
        limits: &Limits,
        fraction: Fraction,
        dirty: u64,
        at: usize,
        bandwidth: u64,
    ) -> Position {
        Position {
            thresholds: limits.thresholds,
            hard_limit: limits.hard,
            dirty,
            device_thresholds: self.shares[at].thresholds(fraction, &limits.thresholds, dirty),
            device_dirty: self.pages.dirty.of_wb(WbId(at as u32)).dirty() / PAGE,
            device_bandwidth: bandwidth,
            strict_limit: self.shares[at].strict_limit,
            floor_in_ratio: !self.rules.share_has_floor,
        }
    }

    /// Sets the rate of the tasks that write to each device, and brings what it is made of up to date.
    pub(super) fn throttle(&mut self, now: Nanos) {
        let dirty = self.pages.dirty.total() / PAGE;
        let slack = self.limits.brake().step() as u64;
        for at in 0..self.wbs.len() {
            let has_writers = self.tasks.writers_of(at).next().is_some();
            let Some(wb) = self.wbs[at].as_ref() else { continue };
            let was_throttling = wb.is_throttling;
            // Around free run updates would begin and end with every unit that is written.
            let floor =
                if was_throttling { self.limits.freerun.saturating_sub(slack) } else { self.limits.freerun };
            let strict = self.strict(at);
            let is_over = strict.map_or(dirty > floor, |(strict, own)| strict.is_told(own, was_throttling));
            let is_throttling = has_writers && (is_over || self.is_memcg_beyond_freerun(at, was_throttling));
            let is_within =
                strict.map_or(dirty <= self.limits.freerun, |(strict, own)| !strict.holds_back(own));
            let is_free = is_within && !self.is_memcg_beyond_freerun(at, false);
            let freerun_rate = if is_free { self.freerun_rate(at) } else { None };
            let wb = self.wbs[at].as_mut().expect("it was just there");
            wb.is_throttling = is_throttling;
            wb.freerun_rate = freerun_rate;
            if is_free {
                wb.task_rate = None;
            } else if has_writers {
                self.rate_tasks(now, at, dirty);
            }
        }
    }

    /// Sets the rate of the tasks that write to a device, if it may have changed.
    fn rate_tasks(&mut self, now: Nanos, at: usize, dirty: u64) {
        let wb = self.wbs[at].as_ref().expect("who writes has a device");
        let is_update_due = wb.next_update() <= now;
        let (memcg_dirty, has_moved_in_memcg) = self.domain_of(at).map_or((0, false), |(domain, dirty)| {
            (dirty, domain.limits.brake().has_moved(dirty, wb.rated_at.1))
        });
        let has_moved = self.limits.brake().has_moved(dirty, wb.rated_at.0) || has_moved_in_memcg;
        let (own_dirty, has_moved_itself) = self
            .strict(at)
            .map_or((0, false), |(strict, own)| (own, strict.brake.has_moved(own, wb.rated_at.2)));
        if wb.task_rate.is_some() && !is_update_due && !has_moved && !has_moved_itself {
            return;
        }
        let bandwidth = wb.bandwidth.average;
        let global = self.position_in(&self.limits, self.fractions.fraction(at), dirty, at, bandwidth);
        let own = self.position_in_memcg(at, bandwidth);
        let levels = [Some(Level::of(&global)), own.as_ref().map(Level::of)];
        // The domain that lets less pass rules.
        let ratio = own.map_or(global.ratio(), |own| own.ratio().min(global.ratio()));
        if is_update_due {
            self.hard_limit.update(now, self.limits.thresholds.limit, dirty);
            let memcg = self.memcg_of_wb(at);
            if let Some(domain) = memcg.and_then(|memcg| self.domains[memcg].as_mut()) {
                domain.hard_limit.update(now, domain.limits.thresholds.limit, memcg_dirty);
            }
        }
        let counts = self.pages.dirty.of_wb(WbId(at as u32));
        let wb = self.wbs[at].as_mut().expect("who writes has a device");
        wb.update(now, counts, &levels);
        let throttle = Throttle {
            hz: Hz(u64::from(self.host.kernel.hz)),
            base_rate: wb.base_rate.rate,
            task_rate: wb.base_rate.task_rate(ratio),
            average_bandwidth: wb.bandwidth.average,
            device_dirty: counts.dirty() / PAGE,
        };
        let rate = self.strict_rate(at, throttle.rate() * PAGE as f64);
        let wb = self.wbs[at].as_mut().expect("who writes has a device");
        wb.task_rate = Some(rate);
        wb.rated_at = (dirty, memcg_dirty, own_dirty);
    }

    /// What a task may write by the law of its device, unless it has credit. At the hard limit that is worth nothing.
    pub(super) fn throttled_rate(&self, task: &Task) -> Option<f64> {
        let rate = task_rate(&self.wbs, task).filter(|&rate| rate == 0.0 || !has_credit(task));
        rate.or_else(|| self.freerun_rate_of(task))
    }

    /// In how many seconds a task that runs ahead of the rate of its device will have no credit left.
    pub(super) fn until_credit_is_spent(&self, task: &Task) -> Option<f64> {
        if !has_credit(task) {
            return None;
        }
        let limit = task_rate(&self.wbs, task).filter(|&rate| rate > 0.0)?;
        let rate = task.transfer.as_ref()?.rate;
        let credit = task.credit?.seconds;
        (rate > limit).then(|| credit * limit / (rate - limit))
    }
}

/// Between which levels writers are held back, in pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brake {
    pub freerun: u64,
    pub limit: u64,
}

impl Brake {
    /// The rate of tasks is set anew when the dirty level has moved by so many pages.
    pub(super) fn step(&self) -> f64 {
        (self.limit - self.freerun) as f64 / STEPS
    }

    /// Whether it has, to so many dirty pages from so many.
    fn has_moved(&self, dirty: u64, rated_at: u64) -> bool {
        dirty.abs_diff(rated_at) as f64 >= self.step() - 1.0
    }

    /// In how many seconds that will be, or free run will end, with so many dirty bytes and so many more per second.
    pub(super) fn until_it_acts(&self, holds_back: bool, dirty: u64, slope: f64) -> Option<f64> {
        if slope == 0.0 {
            return None;
        }
        if holds_back {
            return Some(self.step() * PAGE as f64 / slope.abs());
        }
        (slope > 0.0).then(|| (self.freerun * PAGE).saturating_sub(dirty) as f64 / slope)
    }
}

impl Limits {
    /// Writers are held back from the end of free run to the hard limit.
    pub(super) fn brake(&self) -> Brake {
        Brake { freerun: self.freerun, limit: self.hard }
    }

    /// In how many seconds the law says something else, with so many dirty bytes and so many more per second.
    pub(super) fn until_change(&self, dirty: u64, slope: f64) -> Option<f64> {
        // In pages, as `throttle` compares them.
        self.brake().until_it_acts(dirty / PAGE > self.freerun, dirty, slope)
    }
}

/// The rate of the tasks that write to the device of one that does; nothing in free run.
pub(super) fn task_rate(wbs: &[Option<Wb>], task: &Task) -> Option<f64> {
    if !task.run.dirties() {
        return None;
    }
    wbs.get(task.wb.0 as usize)?.as_ref()?.task_rate
}

fn has_credit(task: &Task) -> bool {
    task.credit.is_some_and(|credit| credit.seconds > LEAST_CREDIT)
}

/// Time has passed since the last check of a task, which is credited. In free run, and by a pause at the hard limit, all credit
/// is lost.
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
    if rate > 0.0 {
        credit.seconds = (credit.seconds - bytes as f64 / rate).max(-MOST_DEBT);
    }
    forget_much(credit);
}

/// A task begins to write, and is checked for the first time since it did something else.
pub(super) fn resume(task: &mut Task, rate: Option<f64>, now: Nanos) {
    earn_credit(task, rate, now);
    task.credit.iter_mut().for_each(forget_much);
}

/// Who was away for long begins with a clean slate.
fn forget_much(credit: &mut Credit) {
    if credit.seconds > MOST_CREDIT {
        credit.seconds = 0.0;
    }
}
