//! Sets the rate of each task that makes pages dirty.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages`, Linux 6.16. A task that writes n pages goes on n / rate after its last pause ended.
//! If it was slower by itself, the difference is credited, up to a second (`tasks::credit`). Short operations take their pauses one by one (`pauses`);
//! longer ones go on at the rate.

use crate::policy::kernel::block::Block;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::law::{Fraction, Position, Throttle};
use crate::policy::kernel::page_writeback::limits::Limits;
use crate::policy::kernel::page_writeback::rates::task_rate;
use crate::policy::kernel::page_writeback::task_rate::TaskRate;
use crate::policy::kernel::page_writeback::wb::Level;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::credit::has_credit;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::kernel::tick::Hz;
use crate::units::Nanos;

impl WriteBack {
    /// Returns the position of a wb in a domain with these limits and so many dirty pages, a fraction of which it writes.
    pub fn position_in(
        &self,
        pages: &Pages,
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
            device_dirty: pages.dirty().of_wb(WbId(at as u32)).dirty() / PAGE,
            device_bandwidth: bandwidth,
            strict_limit: self.shares[at].strict_limit,
            floor_in_ratio: !self.config.rules.share_has_floor,
        }
    }

    /// Updates the estimates of each device and the rate of the tasks that write to it.
    pub fn balance_dirty_pages(&mut self, pages: &Pages, block: &Block, tasks: &Tasks, now: Nanos) {
        if self.config.rules.writes_in_foreground {
            return self.balance_in_foreground(pages, block, tasks, now);
        }
        let dirty = pages.dirty().total() / PAGE;
        let slack = self.limits.brake().step() as u64;
        for at in 0..self.wbs.len() {
            let Some(wb) = self.wbs[at].as_ref() else { continue };
            let has_writers = tasks.writers_of(at).next().is_some();
            let was_throttling = wb.is_throttling;
            // Around free run updates would begin and end with every unit that is written.
            let floor =
                if was_throttling { self.limits.freerun.saturating_sub(slack) } else { self.limits.freerun };
            let strict = self.strict(pages, at);
            let is_over = strict.map_or(dirty > floor, |(strict, own)| strict.is_told(own, was_throttling));
            let is_throttling =
                has_writers && (is_over || self.is_memcg_beyond_freerun(pages, at, was_throttling));
            let is_within =
                strict.map_or(dirty <= self.limits.freerun, |(strict, own)| !strict.holds_back(own));
            let is_free = is_within && !self.is_memcg_beyond_freerun(pages, at, false);
            let freerun_rate = if is_free { self.freerun_rate(pages, block, tasks, at) } else { None };
            let wb = self.wbs[at].as_mut().expect("it was just there");
            wb.is_throttling = is_throttling;
            wb.dirty_exceeded &= !is_free;
            let had_rate = is_free && wb.task_rate.take().is_some();
            let had_other = std::mem::replace(&mut wb.plain_rate, freerun_rate) != freerun_rate;
            if had_rate || had_other {
                self.rate_changes += 1;
            }
            if !is_free && has_writers {
                self.rate_tasks(pages, block, tasks, now, at, dirty);
            }
        }
    }

    /// Sets the rate of the tasks that write to a device, if it may have changed.
    fn rate_tasks(&mut self, pages: &Pages, block: &Block, tasks: &Tasks, now: Nanos, at: usize, dirty: u64) {
        let wb = self.wbs[at].as_ref().expect("who writes has a device");
        let is_update_due = wb.next_update() <= now;
        let memcg = self.memcg_with_domain(at);
        // They are of the wb, known of the cgroup or not.
        let memcg_dirty = memcg.map_or(0, |memcg| pages.memcgs[memcg].dirty() / PAGE);
        let has_moved_in_memcg = self
            .domain_of(pages, at)
            .is_some_and(|(domain, _)| domain.limits.brake().has_moved(memcg_dirty, wb.rated_at.1));
        let has_moved = self.limits.brake().has_moved(dirty, wb.rated_at.0) || has_moved_in_memcg;
        let (own_dirty, has_moved_itself) = self
            .strict(pages, at)
            .map_or((0, false), |(strict, own)| (own, strict.brake.has_moved(own, wb.rated_at.2)));
        if wb.task_rate.is_some() && !is_update_due && !has_moved && !has_moved_itself {
            return;
        }
        let bandwidth = wb.bandwidth.average;
        let global = self.position_in(pages, &self.limits, self.fractions.fraction(at), dirty, at, bandwidth);
        let own = self.position_in_memcg(pages, at, bandwidth);
        let levels = [Some(Level::of(&global)), own.as_ref().map(Level::of)];
        // The domain that lets less pass rules.
        let ratio = own.map_or(global.ratio(), |own| own.ratio().min(global.ratio()));
        if is_update_due {
            self.hard_limit.update(now, self.limits.thresholds.limit, dirty);
            let known = self.domain_of(pages, at).map_or(0, |(_, dirty)| dirty);
            if let Some(domain) = memcg.and_then(|memcg| self.domains[memcg].as_mut()) {
                domain.hard_limit.update(now, domain.limits.thresholds.limit, known);
            }
        }
        let counts = pages.dirty().of_wb(WbId(at as u32));
        let wb = self.wbs[at].as_mut().expect("who writes has a device");
        wb.dirty_exceeded =
            dirty > global.thresholds.limit && global.device_dirty > global.device_thresholds.limit;
        wb.update(now, counts, &levels);
        let law = Throttle {
            hz: Hz(u64::from(self.config.host.kernel.hz)),
            base_rate: wb.base_rate.rate,
            task_rate: wb.base_rate.task_rate(ratio),
            average_bandwidth: wb.bandwidth.average,
            device_dirty: counts.dirty() / PAGE,
        };
        let least = self.least_rate(pages, block, tasks, at);
        let folio = tasks.writers_of(at).next().map_or(1, |task| task.folio);
        let rate = TaskRate::new(law, least, folio);
        let wb = self.wbs[at].as_mut().expect("who writes has a device");
        let before = wb.task_rate.replace(rate);
        wb.rated_at = (dirty, memcg_dirty, own_dirty);
        let have_folio = || tasks.writers_of(at).all(|task| task.folio == folio);
        if !(before.is_some_and(|before| before.is_usually(&rate)) && have_folio()) {
            self.rate_changes += 1;
        }
    }

    /// Returns the rate of a task by the law of its device, unless it has credit. At the hard limit credit is worth nothing. Who pauses by himself
    /// sleeps or has no rate.
    pub fn throttled_rate(&self, task: &Task) -> Option<f64> {
        let rate = match task.checks() {
            Some(checks) => checks.sleeps_until.map(|_| 0.0),
            None => task_rate(&self.wbs, task).filter(|&rate| rate == 0.0 || !has_credit(task)),
        };
        rate.or_else(|| self.plain_rate_of(task))
    }

    /// Returns the seconds until a task ahead of its device's rate has no credit left.
    pub fn until_credit_is_spent(&self, task: &Task) -> Option<f64> {
        if !has_credit(task) {
            return None;
        }
        let limit = task_rate(&self.wbs, task).filter(|&rate| rate > 0.0)?;
        let rate = task.transfer.as_ref()?.rate;
        let credit = task.credit?.seconds;
        (rate > limit).then(|| credit * limit / (rate - limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::page_writeback::law::BaseRate;
    use crate::policy::kernel::page_writeback::limits::Brake;
    use crate::policy::kernel::page_writeback::rates::rate_of;
    use crate::policy::kernel::page_writeback::task_rate::folio_of;
    use crate::policy::kernel::tasks::cost::Run;
    use crate::policy::kernel::tasks::credit::{Credit, resume};
    use crate::policy::kernel::tests::{kernel, write};
    use crate::units::Bytes;

    #[test]
    fn credit_lasts_as_long_as_a_task_runs_ahead_of_its_rate_by_it() {
        let until = |rate: f64, limit: Option<f64>, seconds: f64| {
            let mut kernel = kernel("");
            let writer = write(&mut kernel, 1, Run::New, rate);
            kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").task_rate =
                limit.map(TaskRate::fixed);
            let task = kernel.tasks.get_mut(writer).expect("it is there");
            task.credit = Some(Credit { seconds, ..Credit::new(Nanos::ZERO) });
            kernel.write_back.until_credit_is_spent(&kernel.tasks[writer])
        };
        // At 300 MB/s instead of 100 it loses 2 s each second.
        assert_eq!(until(300e6, Some(100e6), 0.5), Some(0.25));
        assert_eq!(until(100e6, Some(100e6), 0.5), None, "it does not run ahead");
        assert_eq!(until(50e6, Some(100e6), 0.5), None);
        assert_eq!(until(300e6, Some(0.0), 0.5), None, "it is blocked");
        assert_eq!(until(300e6, None, 0.5), None, "it is free");
        assert_eq!(until(300e6, Some(100e6), 0.0), None, "it has none");
    }

    /// Folios of 6.18 on ext4 are up to 2 MiB long.
    #[test]
    fn a_call_fills_folios_that_divide_it() {
        const KIB: u64 = 1 << 10;
        let folio = |bytes| folio_of(Bytes(bytes), 512);
        assert_eq!([4, 64, 1024, 2048, 16_384].map(|kib| folio(kib * KIB)), [1, 16, 256, 512, 512]);
        assert_eq!(
            [12, 96, 1536].map(|kib| folio(kib * KIB)),
            [1, 8, 128],
            "at odd places of their own length"
        );
        assert_eq!([0, 1, 4095, 5000, 1_000_000].map(folio), [1; 5]);
        assert_eq!(folio(1_000_000_000), 512, "soon aligned");
        assert_eq!([4, 1024].map(|kib| folio_of(Bytes(kib * KIB), 1)), [1, 1], "before large folios");
    }

    #[test]
    fn the_excess_over_the_longest_pause_is_forgotten() {
        let law = Throttle {
            hz: Hz(250),
            base_rate: 1280,
            task_rate: 1280,
            average_bandwidth: 25_600,
            device_dirty: 86_000,
        };
        let of = |folio| TaskRate::new(law, 0.0, folio).usual() / PAGE as f64;
        // 200 ms instead of 400 for a folio of 512 pages; of single pages, 55 take 10 jiffies instead of 10.7.
        assert_eq!((of(512), of(1).round()), (2560.0, 1375.0));
    }

    /// Traced on Linux 6.18, 250 Hz, calls of 1 MiB: base rate 149 MiB/s, 298 pages to be checked after, task rate 197 MiB/s; the
    /// pages of two folios are paused for 8 ms, as 10.2 ms are two jiffies.
    #[test]
    fn a_task_checked_after_each_folio_pauses_for_all_of_it() {
        let law = Throttle {
            hz: Hz(250),
            base_rate: 38_144,
            task_rate: 50_432,
            average_bandwidth: 49_664,
            device_dirty: 86_000,
        };
        let of = |largest, piece| {
            let folio = folio_of(Bytes(piece), largest);
            TaskRate::new(law, 0.0, folio).of(folio).round()
        };
        assert_eq!(of(512, 1 << 20), (512 * PAGE * 250 / 2) as f64);
        // 298 pages are paused for 5.9 ms, which is one jiffy.
        assert_eq!(of(1, 1 << 20), (298 * PAGE * 250) as f64);
        assert_eq!(of(512, 4096), of(1, 1 << 20));
        assert_eq!(TaskRate::new(law, 0.0, 1).of(256), of(512, 1 << 20), "whoever it was set for");
        assert_eq!(TaskRate::new(law, 1e9, 1).usual(), 1e9, "no less than that");
    }

    #[test]
    fn an_idle_device_has_a_floor_in_its_share_or_before_6_14_in_the_ratio() {
        for version in ["6.12", "6.18"] {
            let mut kernel = kernel(&format!("kernel.version = '{version}'"));
            write(&mut kernel, 1, Run::New, 0.0);
            let limits = kernel.write_back.limits;
            let nothing = Fraction { numerator: 0, denominator: 1 };
            let position =
                kernel.write_back.position_in(&kernel.pages, &limits, nothing, limits.setpoint, 0, 25_600);
            assert_eq!(position.device_thresholds.limit > 0, version == "6.18");
            // Eight times as much, as it has nothing dirty, and the line is above 1 there.
            assert!(position.ratio() >= 8 * 1024, "{version}: {}", position.ratio());
        }
    }

    #[test]
    fn a_level_has_moved_when_it_is_a_page_or_less_from_the_next_step() {
        let brake = Brake { freerun: 100, limit: 740 };
        assert_eq!((brake.step(), [18, 19].map(|dirty| brake.has_moved(dirty, 10))), (10.0, [false, true]));
    }

    #[test]
    fn only_tasks_that_make_pages_dirty_write_to_a_device() {
        let mut kernel = kernel("");
        write(&mut kernel, 1, Run::Dirty, 1.0);
        assert_eq!(kernel.tasks.writers_of(0).count(), 0, "they are already");
        write(&mut kernel, 2, Run::Clean, 1.0);
        assert_eq!([0, 1].map(|at| kernel.tasks.writers_of(at).count()), [1, 0]);
    }

    #[test]
    fn time_is_credited_up_to_a_second_unless_the_task_is_free_or_blocked() {
        let credit = |seconds: u64, rate| {
            let mut kernel = kernel("");
            let writer = write(&mut kernel, 1, Run::New, 0.0);
            let task = kernel.tasks.get_mut(writer).expect("it is there");
            resume(task, rate, Nanos::ZERO);
            resume(task, rate, Nanos(seconds * 1_000_000_000));
            task.credit.expect("it has been checked").seconds
        };
        assert_eq!([1, 2].map(|seconds| credit(seconds, Some(1e6))), [1.0, 0.0]);
        assert_eq!([None, Some(0.0)].map(|rate| credit(1, rate)), [0.0, 0.0]);
    }

    /// `wb_max_pause`: with 8000 dirty pages on its device and 25,600 pages/s a task sleeps for ten jiffies at most, with few for one.
    #[test]
    fn the_rate_of_tasks_is_that_of_pauses_for_what_is_dirty_on_their_device() {
        let mut kernel = kernel("");
        write(&mut kernel, 1, Run::New, 0.0);
        // Near the limit, all but these pages on another device.
        let dirty = kernel.write_back.limits.setpoint
            + (kernel.write_back.limits.hard - kernel.write_back.limits.setpoint) * 9 / 10;
        kernel.pages.dirty_mut().run_ahead(WbId(0), 8000 * PAGE);
        kernel.pages.dirty_mut().run_ahead(WbId(1), (dirty - 8000) * PAGE);
        kernel.write_back.balance_dirty_pages(&kernel.pages, &kernel.block, &kernel.tasks, Nanos::ZERO);
        let wb = kernel.write_back.wbs[0].as_ref().expect("somebody writes to it");
        let ratio = kernel
            .write_back
            .position_in(
                &kernel.pages,
                &kernel.write_back.limits,
                kernel.write_back.fractions.fraction(0),
                dirty,
                0,
                25_600,
            )
            .ratio();
        let rate = |device_dirty: u64| {
            let law = Throttle {
                hz: Hz(u64::from(kernel.config.host.kernel.hz)),
                base_rate: 25_600,
                task_rate: BaseRate::with(25_600).task_rate(ratio),
                average_bandwidth: 25_600,
                device_dirty,
            };
            TaskRate::new(law, 0.0, 1)
        };
        assert_eq!(wb.task_rate, Some(rate(8000)));
        assert_ne!(rate(8000).usual(), rate(0).usual());
    }

    /// `domain_dirty_freerun`; the end of it is told a step below, as levels go up and down there.
    #[test]
    fn writers_are_held_back_beyond_free_run() {
        let throttle = |dirty: u64, was_throttling: bool| {
            let mut kernel = kernel("");
            write(&mut kernel, 1, Run::New, 0.0);
            kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").is_throttling = was_throttling;
            kernel.pages.dirty_mut().run_ahead(WbId(1), dirty * PAGE);
            kernel.write_back.balance_dirty_pages(&kernel.pages, &kernel.block, &kernel.tasks, Nanos::ZERO);
            let wb = kernel.write_back.wbs[0].as_ref().expect("it is there");
            (wb.is_throttling, wb.task_rate.is_some())
        };
        let limits = kernel("").write_back.limits;
        let (freerun, step) = (limits.freerun, limits.brake().step() as u64);
        assert_eq!(
            [freerun, freerun + 1].map(|dirty| throttle(dirty, false)),
            [(false, false), (true, true)]
        );
        let below = [freerun - step, freerun - step + 1].map(|dirty| throttle(dirty, true));
        assert_eq!(below, [(false, false), (true, false)]);
    }

    /// `balance_dirty_pages`: the pause at the hard limit is all that the pages before it cost.
    #[test]
    fn written_pages_are_owed_up_to_a_pause_but_not_at_the_hard_limit() {
        let after = |rate: Option<f64>, bytes: u64| {
            let mut kernel = kernel("");
            let writer = write(&mut kernel, 1, Run::New, 0.0);
            let Kernel { tasks, pages, write_back: WriteBack { wbs, .. }, .. } = &mut kernel;
            wbs[0].as_mut().expect("somebody writes to it").task_rate = rate.map(TaskRate::fixed);
            let task = tasks.get_mut(writer).expect("it is there");
            task.credit = Some(Credit { seconds: 0.125, ..Credit::new(Nanos::ZERO) });
            pages.count(task, bytes, rate_of(wbs, task), Nanos::ZERO);
            task.credit.expect("it has been checked").seconds
        };
        assert_eq!([0, 125, 250, 1000].map(|bytes| after(Some(1000.0), bytes)), [0.125, 0.0, -0.125, -0.2]);
        assert_eq!([after(Some(0.0), 250), after(None, 250)], [0.0; 2], "nor in free run");
    }
}
