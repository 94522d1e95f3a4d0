//! What follows from the state: bringing it up to date, making room, waking flushers, setting caps.

use crate::policy::Actions;
use crate::policy::OperationId;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::discretisation::{LEAST_CHANGE, MANY_TASKS, SETTLE_AFTER};
use crate::policy::kernel::fs_writeback::flusher::{Flusher, Work};
use crate::policy::kernel::model::run::{count_dirtied, count_others};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_writeback::WriteBack;
use crate::policy::kernel::page_writeback::balance_dirty_pages::{Rates, rate_of};
use crate::policy::kernel::page_writeback::limits::Limits;
use crate::policy::kernel::task::cost::Run;
use crate::policy::kernel::task::credit::has_credit;
use crate::policy::kernel::task::ids::MemcgId;
use crate::policy::kernel::task::task::Task;
use crate::result::Part;
use crate::stop;
use crate::units::Nanos;

impl Kernel {
    /// Brings all levels up to `now`. Where the bytes are that have moved since is found out when it matters, or now and then.
    pub fn sync(&mut self, now: Nanos) {
        if now == self.clock.synced {
            return;
        }
        for device in 0..self.block.queues.len() {
            let transfer = self.block.queues[device].transfer.as_mut();
            if let Some((from, bytes)) =
                transfer.map(|transfer| transfer.take(now)).filter(|taken| taken.1 > 0)
            {
                self.apply_written(now, device, from, bytes);
            }
        }
        let has_first = self.count_moved(now);
        if has_first || self.pages.is_far_ahead() || self.clock.settled + SETTLE_AFTER < now {
            self.settle(now);
        }
        self.keep_memcgs_within_limits(now);
        self.pages.note_peaks();
        self.flush_memcg_stats(now);
        self.write_back.fractions.tick(now);
        self.write_back.domains.iter_mut().flatten().for_each(|domain| domain.fractions.tick(now));
        self.clock.synced = now;
    }

    /// Counts what has moved of all tasks; whether that makes an inode dirty.
    pub fn count_moved(&mut self, now: Nanos) -> bool {
        let Self { tasks, pages, write_back: WriteBack { wbs, .. }, .. } = self;
        let mut rates = Rates::new(wbs);
        let (mut has_first, mut has_credit) = (false, false);
        for task in tasks.moving() {
            let Some(transfer) = task.transfer.as_mut() else { continue };
            let (_, bytes) = transfer.take(now);
            if task.run.dirties() {
                has_credit |= count_dirtied(task, bytes, pages, rates.of(task), now);
                has_first |= task.is_first && task.pending > 0;
            } else if bytes > 0 {
                count_others(task, bytes, pages);
            }
        }
        tasks.runs_ahead = has_credit;
        has_first
    }

    /// Decides what follows from the state as it is now.
    pub fn control(&mut self, now: Nanos, out: &mut Actions) {
        self.told.spells.tell(now, out);
        self.keep_memcgs_within_limits(now);
        self.look_at_backed(now);
        self.cut_runs(out);
        self.look_at_memcgs(now, out);
        self.heed_reclaim(now, out);
        self.write_back.limits =
            Limits::of(self.pages.dirtyable() / PAGE, &self.write_back.settings, &self.write_back.hard_limit);
        self.limit_domains();
        self.limit_strict();
        self.wake_flushers(now);
        for device in 0..self.block.queues.len() {
            self.write_back_device(now, device, out);
        }
        self.clock.is_put_off = self.tasks.len() > MANY_TASKS && self.clock.decided == Some(now);
        if !self.clock.is_put_off {
            // Each of them is looked at.
            stop::spend(self.tasks.len() as u64);
            self.clock.decided = Some(now);
            self.release_followers(now, out);
        }
        self.go_on_with_due(now, out);
        self.throttle(now);
        if !self.clock.is_put_off {
            self.set_caps(now, out);
        }
        self.sample_devices(out);
    }

    /// The same when nothing else happens at this instant: what was put off is decided.
    pub fn control_at_last(&mut self, now: Nanos, out: &mut Actions) {
        self.clock.decided = None;
        self.control(now, out);
    }

    /// Reclaim that met only dirty pages has all of them written.
    pub fn heed_reclaim(&mut self, now: Nanos, out: &mut Actions) {
        let mut found =
            std::mem::take(&mut self.pages.found_only_dirty) && self.config.rules.dirty_tail_wakes_flushers;
        // Who waits for pages reclaims by itself, and finds as little.
        found |= self.pages.is_exhausted() && self.tasks.values().any(Task::takes_memory);
        found |= self.is_memcg_short();
        if found && self.pages.dirty.dirty() > 0 {
            let dirty = self.pages.dirty.dirty();
            if self.wakeup_flusher_threads(now) {
                self.told.flushers_woken(now, dirty, out);
            }
        }
    }

    /// Every writer looks whether its device's flusher should run.
    pub fn wake_flushers(&mut self, now: Nanos) {
        let dirty = self.pages.dirty.dirty() / PAGE;
        let total = self.pages.dirty.total() / PAGE;
        let is_over =
            dirty > self.write_back.limits.thresholds.background || total > self.write_back.limits.freerun;
        // A flusher that runs is not woken.
        let may_be_over = is_over || !self.write_back.domains.is_empty() || self.write_back.has_strict;
        if !may_be_over || self.flushers.iter().all(Flusher::has_work) {
            return;
        }
        for task in self.tasks.writers() {
            let at = task.wb.0 as usize;
            // The background threshold of a cgroup is looked at by its flusher alone, when the timer rings.
            let is_over = match self.strict(at) {
                Some((strict, own)) => {
                    dirty > self.write_back.limits.thresholds.background || own > strict.brake.freerun
                }
                None => is_over || self.is_memcg_beyond_freerun(at, false),
            };
            if is_over && let Some(flusher) = self.flushers.get_mut(at) {
                flusher.wake(Work::Background, now, self.config.host.vm.dirty_writeback);
            }
        }
    }

    /// The cap of what a task does now; whether memory is exhausted is the same for all.
    // Of every task with every event.
    #[inline(always)]
    pub fn cap(&self, task: &Task, operation: OperationId, is_exhausted: bool) -> Option<(f64, Part)> {
        if is_exhausted && task.takes_memory() {
            return Some((0.0, Part::Reclaim));
        }
        let cap = self.cap_of_thread(task, operation);
        match self.charging_rate(task) {
            Some(rate) if cap.is_none_or(|(cap, _)| rate < cap) => Some((rate, Part::Reclaim)),
            _ => cap,
        }
    }

    /// The cap of what a task does, if there are pages for it.
    #[inline(always)]
    pub fn cap_of_thread(&self, task: &Task, operation: OperationId) -> Option<(f64, Part)> {
        match self.throttled_rate(task) {
            Some(rate) if self.is_far_below_pace(task, rate) => Some((rate, Part::Throttled)),
            throttled => self.cap_by_costs(task, operation, throttled),
        }
    }

    /// The same where the law lets it do so much, or anything.
    #[inline(never)]
    pub fn cap_by_costs(
        &self,
        task: &Task,
        operation: OperationId,
        throttled: Option<f64>,
    ) -> Option<(f64, Part)> {
        let part = if task.run == Run::Touch { Part::PageAllocation } else { Part::CpuCopy };
        let alone = task.shape.thread_rate(&self.cost(task, operation));
        let own = alone.map(|rate| self.caps.processor_share * rate);
        match (throttled, task.shape.latency_rate()) {
            (Some(rate), _) if own.is_none_or(|own| rate < own) => Some((rate, Part::Throttled)),
            (_, Some(rate)) if own.is_none_or(|own| rate < own) => Some((rate, Part::DeviceRead)),
            _ => own.map(|own| (own, part)),
        }
    }

    /// Whether the law, and nothing else, holds a task back by just what it did when its cap was set: nothing follows then.
    #[inline(always)]
    pub fn is_held_as_before(&self, task: &Task, old: Option<(f64, Part)>) -> bool {
        let Some((cap, Part::Throttled)) = old else { return false };
        task.held_by == Some(Part::Throttled)
            && rate_of(&self.write_back.wbs, task) == Some(cap)
            && !has_credit(task)
            && task.memcg == MemcgId::ROOT
            && self.is_far_below_pace(task, cap)
    }

    /// Whether nothing holds a task back that makes no pages dirty, on a host where costs are nothing, and nothing did.
    #[inline(always)]
    pub fn is_free_as_before(&self, task: &Task, old: Option<(f64, Part)>) -> bool {
        old.is_none()
            && task.held_by.is_none()
            && !task.run.dirties()
            && task.memcg == MemcgId::ROOT
            && task.shape.is_free()
            && self.config.prices.are_nothing(task.page_insert())
    }

    /// Whether a task may do so much less than its thread could that its costs need not be looked at.
    #[inline(always)]
    pub fn is_far_below_pace(&self, task: &Task, rate: f64) -> bool {
        rate < self.caps.processor_share * task.pace / 4.0
    }

    pub fn set_caps(&mut self, now: Nanos, out: &mut Actions) {
        // Some have begun since.
        self.look_who_takes();
        self.share_processors();
        let is_exhausted = self.pages.is_exhausted();
        if !is_exhausted && self.do_caps_hold() {
            debug_assert!(self.are_caps_right(), "caps are what they were");
            return;
        }
        // The tasks are taken out so that each can be changed while it is compared with all else.
        let mut tasks = std::mem::take(&mut self.tasks);
        let mut depends = is_exhausted;
        for (operation, task) in tasks.iter_mut() {
            let Some(old) = task.transfer.as_ref().map(|transfer| transfer.cap) else { continue };
            // With many tasks that is so of most of them with most events, and found out sooner than all that a cap is made of.
            if !is_exhausted && (self.is_held_as_before(task, old) || self.is_free_as_before(task, old)) {
                debug_assert!(!is_news(old, self.cap(task, operation, false)), "its cap is what it was");
                continue;
            }
            depends |= task.runs_ahead() || self.depends_on_memory(task);
            let cap = self.cap(task, operation, is_exhausted);
            if let Some(transfer) = task.transfer.as_mut().filter(|_| is_news(old, cap)) {
                out.set_cap(transfer.flow, cap);
                transfer.cap = cap;
            }
            self.note_cap(now, operation, task);
        }
        self.tasks = tasks;
        self.caps.caps_of = (!depends).then(|| self.caps_of_now());
    }
}

/// Whether a cap has changed by so much that somebody could notice.
pub fn is_news(old: Option<(f64, Part)>, new: Option<(f64, Part)>) -> bool {
    match (old, new) {
        (Some((old, before)), Some((new, after))) if before == after => {
            (new - old).abs() > LEAST_CHANGE * old
        }
        _ => old != new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::FileId;
    use crate::policy::kernel::page_writeback::balance_dirty_pages::TaskRate;
    use crate::policy::kernel::page_writeback::law::Thresholds;
    use crate::policy::kernel::page_writeback::shares::Strict;
    use crate::policy::kernel::task::ids::WbId;
    use crate::policy::kernel::tests::{MIB, kernel, write};

    #[test]
    fn a_cap_is_news_if_it_is_another_part_or_differs_by_more_than_half_a_percent() {
        let before = Some((1000.0, Part::Throttled));
        let news = [994.0, 996.0, 1004.0, 1006.0].map(|rate| is_news(before, Some((rate, Part::Throttled))));
        assert_eq!(news, [true, false, false, true]);
        assert!(is_news(before, Some((1000.0, Part::CpuCopy))) && is_news(before, None));
        assert!(is_news(None, before) && !is_news(None, None));
        let nothing = Some((0.0, Part::Throttled));
        assert!(is_news(nothing, before) && !is_news(nothing, nothing));
    }

    #[test]
    fn what_lets_a_task_do_least_is_its_cap() {
        let mut kernel = kernel("cgroup.batch.memory.max = '512 MiB'");
        let writer = write(&mut kernel, 1, Run::New, 0.0);
        kernel.tasks.get_mut(writer).expect("it is there").memcg = MemcgId::of(0);
        let cap = |kernel: &Kernel, is_exhausted| kernel.cap(&kernel.tasks[writer], writer, is_exhausted);
        assert_eq!(cap(&kernel, false), None, "nothing costs anything on this host");
        assert_eq!(cap(&kernel, true), Some((0.0, Part::Reclaim)));
        kernel.pages.memcgs[0].busy = MIB;
        let (charging, part) = cap(&kernel, false).expect("its group holds it back");
        assert_eq!(part, Part::Reclaim);
        let mut with_law = |rate: f64| {
            kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").task_rate =
                Some(TaskRate::fixed(rate));
            cap(&kernel, false)
        };
        assert_eq!(with_law(charging / 2.0), Some((charging / 2.0, Part::Throttled)));
        assert_eq!(with_law(charging * 2.0), Some((charging, Part::Reclaim)));
    }

    #[test]
    fn who_writes_wakes_the_flusher_above_the_background_threshold_or_free_run() {
        let has_work = |dirty: u64, writeback: u64, run: Run| {
            let mut kernel = kernel("");
            write(&mut kernel, 1, run, 0.0);
            kernel.pages.dirty.make_dirty(FileId(5), WbId(0), 0, writeback * PAGE, Nanos(0));
            kernel.pages.dirty.submit(FileId(5), u64::MAX);
            kernel.pages.dirty.run_ahead(WbId(0), dirty * PAGE);
            kernel.wake_flushers(Nanos(0));
            kernel.flushers.get(0).is_some_and(Flusher::has_work)
        };
        let Limits { thresholds: Thresholds { background, .. }, freerun, .. } = kernel("").write_back.limits;
        assert_eq!([background, background + 1].map(|dirty| has_work(dirty, 0, Run::New)), [false, true]);
        assert_eq!([freerun, freerun + 1].map(|pages| has_work(0, pages, Run::New)), [false, true]);
        assert!(!has_work(background + 1, 0, Run::Hit), "nobody writes");
    }

    /// `mm/page-writeback.c: balance_dirty_pages`: who writes to a strict device looks at what is dirty on it.
    #[test]
    fn who_writes_to_a_strict_device_wakes_the_flusher_beyond_the_free_run_of_that_device() {
        const PART: Thresholds = Thresholds { limit: 150, background: 50 };
        let has_work = |own: u64, of_others: u64| {
            let mut kernel = kernel("");
            write(&mut kernel, 1, Run::New, 0.0);
            kernel.write_back.has_strict = true;
            kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").strict = Some(Strict::of(PART));
            kernel.pages.dirty.run_ahead(WbId(0), own * PAGE);
            kernel.pages.dirty.run_ahead(WbId(1), of_others * PAGE);
            kernel.wake_flushers(Nanos(0));
            kernel.flushers.get(0).is_some_and(Flusher::has_work)
        };
        assert_eq!([100, 101, 102].map(|own| has_work(own, 0)), [false, true, true]);
        // The background threshold of the host holds beside it, its free run does not.
        let background = kernel("").write_back.limits.thresholds.background;
        assert_eq!(
            [background, background + 1, background + 2].map(|dirty| has_work(0, dirty)),
            [false, true, true]
        );
    }
}
