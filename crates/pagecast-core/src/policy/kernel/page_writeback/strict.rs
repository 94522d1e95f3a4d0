//! Throttles writers to a strict device, whose own part of the dirty limits is a limit.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages`, Linux 6.16; the limits are those of `shares`.

use crate::policy::kernel::block::Block;
use crate::policy::kernel::discretisation::LEAST_STEP;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::shares::Strict;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;

impl WriteBack {
    /// Sets the limits of strict devices, with the memory as it is.
    pub fn limit_strict(&mut self, pages: &Pages) {
        if !self.has_strict {
            return;
        }
        let dirty = pages.dirty().total() / PAGE;
        for at in (0..self.wbs.len()).filter(|&at| self.shares[at].strict_limit) {
            let share = &self.shares[at];
            let part = share.thresholds(self.fractions.fraction(at), &self.limits.thresholds, dirty);
            let in_memcg = self.domain_of(pages, at).map(|(domain, dirty)| {
                let fraction = domain.fractions.fraction(at % self.config.devices());
                Strict::of(share.thresholds(fraction, &domain.limits.thresholds, dirty))
            });
            let strict = in_memcg.into_iter().fold(Strict::of(part), Strict::least);
            if let Some(wb) = self.wbs[at].as_mut() {
                wb.strict = Some(strict);
            }
        }
    }

    /// Returns the limits of a wb whose device is strict, and its dirty pages.
    pub fn strict(&self, pages: &Pages, at: usize) -> Option<(Strict, u64)> {
        let strict = self.wbs.get(at)?.as_ref()?.strict?;
        Some((strict, pages.dirty().of_wb(WbId(at as u32)).dirty() / PAGE))
    }

    /// Returns the least rate of each writer to a device: zero, unless the device is strict.
    ///
    /// At the end of free run the kernel's writers are throttled now and then. If the law lets them write less, they write as fast as
    /// the device does.
    pub fn least_rate(&self, pages: &Pages, block: &Block, tasks: &Tasks, at: usize) -> f64 {
        match self.strict(pages, at) {
            Some((strict, own)) if own <= strict.brake.freerun => {
                self.rate_of_device(pages, block, at) / tasks.writers_to(at).0.max(1) as f64
            }
            _ => 0.0,
        }
    }

    /// Returns the rate of each writer to a strict device in free run, until the next look at its level. It ends there: the kernel's
    /// writers look after fewer pages the closer they are (`dirty_poll_interval`).
    pub fn freerun_rate(&self, pages: &Pages, block: &Block, tasks: &Tasks, at: usize) -> Option<f64> {
        let (strict, own) = self.strict(pages, at)?;
        let (count, _) = tasks.writers_to(at);
        let room = strict.brake.freerun.saturating_sub(own).max(1) as f64 * PAGE as f64;
        (count > 0).then(|| (room / LEAST_STEP + self.rate_of_device(pages, block, at)) / count as f64)
    }

    /// Returns the rate at which a device writes, in bytes per second; before that is known, its last estimate.
    pub(super) fn rate_of_device(&self, pages: &Pages, block: &Block, at: usize) -> f64 {
        let Some(wb) = self.wbs[at].as_ref() else { return 0.0 };
        let id = WbId(at as u32);
        match block.queue_of_wb(id).rate_for(id) {
            Some(rate) if rate > 0.0 => rate,
            None if pages.dirty().of_wb(id).writeback == 0 => 0.0,
            _ => (wb.bandwidth.average * PAGE) as f64,
        }
    }

    /// Returns the rate of a task that holds whatever its credit.
    pub fn plain_rate_of(&self, task: &Task) -> Option<f64> {
        if !(self.has_strict || self.config.rules.writes_in_foreground) || !task.run.dirties() {
            return None;
        }
        self.wbs.get(task.wb.0 as usize)?.as_ref()?.plain_rate
    }

    /// Returns the seconds until the end of the free run of a strict device, or the next step of the law beyond it.
    pub fn until_strict_throttling(&self, pages: &Pages, block: &Block, tasks: &Tasks) -> Option<f64> {
        if !self.has_strict {
            return None;
        }
        (0..self.wbs.len())
            .filter_map(|at| self.until_strict_changes(pages, block, tasks, at))
            .reduce(f64::min)
    }

    fn until_strict_changes(&self, pages: &Pages, block: &Block, tasks: &Tasks, at: usize) -> Option<f64> {
        let (strict, own) = self.strict(pages, at)?;
        let (count, dirtied) = tasks.writers_to(at);
        let slope = dirtied - self.rate_of_device(pages, block, at);
        let of_law = || strict.brake.until_it_acts(strict.holds_back(own), own * PAGE, slope);
        if count > 0 { of_law() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::page_writeback::limits::Brake;
    use crate::policy::kernel::tasks::cost::Run;
    use crate::policy::kernel::tasks::ids::MemcgId;
    use crate::policy::kernel::tests::{kernel, transfer, write};
    use crate::policy::{FileId, FileView};
    use crate::units::Nanos;

    /// A step is 10 pages.
    const STRICT: Strict = Strict { brake: Brake { freerun: 100, limit: 740 }, background: 50 };

    #[test]
    fn writers_are_held_back_a_step_before_the_end_of_free_run_and_told_so_until_the_flusher_rests() {
        assert_eq!([90, 91].map(|dirty| STRICT.holds_back(dirty)), [false, true]);
        assert_eq!([90, 91].map(|dirty| STRICT.is_told(dirty, false)), [false, true]);
        assert_eq!([50, 51].map(|dirty| STRICT.is_told(dirty, true)), [false, true]);
    }

    /// The device of the first wb writes pages of it at this rate.
    fn being_written(kernel: &mut Kernel, rate: f64) {
        kernel.block.queues[0].push(WbId(0), FileId(1), (0, PAGE), 1, true);
        kernel.block.queues[0].transfer = Some(transfer(rate));
    }

    /// Of two writers, each 100 MB/s, to a device that writes 40 MB/s.
    #[test]
    fn a_strict_device_is_looked_at_when_its_free_run_ends_and_with_each_step() {
        let mut kernel = kernel("");
        for number in [1, 2] {
            write(&mut kernel, number, Run::New, 100e6);
        }
        // A write over dirty pages makes none dirty.
        write(&mut kernel, 3, Run::Dirty, 100e6);
        assert_eq!(
            kernel.write_back.until_strict_changes(&kernel.pages, &kernel.block, &kernel.tasks, 0),
            None,
            "it has no limits of its own"
        );
        let wb = kernel.write_back.wbs[0].as_mut().expect("somebody writes to it");
        wb.strict = Some(STRICT);
        let page = PAGE as f64;
        assert_eq!(
            kernel.write_back.until_strict_changes(&kernel.pages, &kernel.block, &kernel.tasks, 0),
            Some(100.0 * page / 200e6),
            "nothing is written yet"
        );
        being_written(&mut kernel, 40e6);
        assert_eq!(
            kernel.write_back.until_strict_changes(&kernel.pages, &kernel.block, &kernel.tasks, 0),
            Some(100.0 * page / 160e6)
        );
        kernel.pages.dirty_mut().run_ahead(WbId(0), 50 * PAGE);
        assert_eq!(
            kernel.write_back.until_strict_changes(&kernel.pages, &kernel.block, &kernel.tasks, 0),
            Some(50.0 * page / 160e6)
        );
        kernel.pages.dirty_mut().run_ahead(WbId(0), 41 * PAGE);
        assert_eq!(
            kernel.write_back.until_strict_changes(&kernel.pages, &kernel.block, &kernel.tasks, 0),
            Some(10.0 * page / 160e6)
        );
        // Its last bytes move as fast as it has lately written: 25,600 pages/s.
        being_written(&mut kernel, 0.0);
        assert_eq!(kernel.write_back.rate_of_device(&kernel.pages, &kernel.block, 0), 25_600.0 * page);
        // Within free run the two write what the device does, if the law lets them write less.
        assert_eq!(
            kernel.write_back.least_rate(&kernel.pages, &kernel.block, &kernel.tasks, 0),
            12_800.0 * page
        );
        let free = (9.0 * page / LEAST_STEP + 25_600.0 * page) / 2.0;
        assert!(
            (kernel
                .write_back
                .freerun_rate(&kernel.pages, &kernel.block, &kernel.tasks, 0)
                .expect("it is strict")
                / free
                - 1.0)
                .abs()
                < 1e-12
        );
        kernel.pages.dirty_mut().run_ahead(WbId(0), 10 * PAGE);
        assert_eq!(
            kernel.write_back.least_rate(&kernel.pages, &kernel.block, &kernel.tasks, 0),
            0.0,
            "beyond it the law holds"
        );
    }

    /// `__wb_calc_thresh`, Linux 6.18: an idle strict device has a hundredth of what is left of the limit.
    #[test]
    fn the_part_of_an_idle_strict_device_is_of_what_nobody_has_dirty() {
        let mut kernel = kernel("kernel.version = '6.18'");
        write(&mut kernel, 1, Run::New, 0.0);
        (kernel.write_back.has_strict, kernel.write_back.shares[0].strict_limit) = (true, true);
        kernel.pages.dirty_mut().run_ahead(WbId(1), 100_000 * PAGE);
        kernel.write_back.limit_strict(&kernel.pages);
        let (strict, own) = kernel.write_back.strict(&kernel.pages, 0).expect("it is strict");
        assert_eq!(
            (strict.brake.limit, own),
            ((kernel.write_back.limits.thresholds.limit - 100_000) / 100, 0)
        );
    }

    /// Of 1001 pages of each domain the device has completed 1000.
    #[test]
    fn the_part_of_a_strict_device_in_a_group_is_of_the_limits_of_that() {
        let mut kernel = kernel("cgroup.batch.memory.max = '512 MiB'");
        let (file, wb) = (FileView { id: FileId(1), ..FileView::default() }, 2);
        kernel.write_back.owners.insert(file.id, MemcgId::of(0));
        kernel.write_back.wb(&file);
        (kernel.write_back.has_strict, kernel.write_back.shares[wb].strict_limit) = (true, true);
        kernel.write_back.fractions.wb_domain_writeout_add(Nanos::ZERO, wb, 1000);
        kernel.write_back.limit_domains(&kernel.pages);
        let domain = kernel.write_back.domains[0].as_mut().expect("v2 has dirty limits");
        domain.fractions.wb_domain_writeout_add(Nanos::ZERO, 0, 1000);
        let limit = domain.limits.thresholds.limit;
        kernel.write_back.limit_strict(&kernel.pages);
        let (strict, _) = kernel.write_back.strict(&kernel.pages, wb).expect("it is strict");
        assert_eq!(strict.brake.limit, limit * 1000 / 1001);
    }

    #[test]
    fn a_writer_to_a_strict_device_is_held_to_its_free_run() {
        let mut kernel = kernel("");
        let [new, dirty] =
            [(1, Run::New), (2, Run::Dirty)].map(|(number, run)| write(&mut kernel, number, run, 0.0));
        let wb = kernel.write_back.wbs[0].as_mut().expect("somebody writes to it");
        (wb.strict, wb.plain_rate) = (Some(STRICT), Some(1e6));
        let rate = |kernel: &Kernel, writer| kernel.write_back.plain_rate_of(&kernel.tasks[writer]);
        assert_eq!(rate(&kernel, new), None, "no device is strict");
        kernel.write_back.has_strict = true;
        assert_eq!([new, dirty].map(|writer| rate(&kernel, writer)), [Some(1e6), None]);
        kernel.tasks.remove(new);
        kernel.pages.dirty_mut().run_ahead(WbId(0), 100 * PAGE);
        being_written(&mut kernel, 40e6);
        assert_eq!(
            (
                kernel.write_back.freerun_rate(&kernel.pages, &kernel.block, &kernel.tasks, 0),
                kernel.write_back.until_strict_changes(&kernel.pages, &kernel.block, &kernel.tasks, 0)
            ),
            (None, None),
            "nobody does"
        );
    }
}
