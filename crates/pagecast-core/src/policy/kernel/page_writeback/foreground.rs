//! Holds writers back before Linux 3.2: whoever is over the limit writes back by itself, as fast as the device takes it.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages, task_dirty_limit, writeback_set_ratelimit`, Linux 2.6.27 to 3.1. A writer beyond free run
//! looks at the dirty pages of its device. Over its own limit, which is lower for those who write more, it submits pages until it has written
//! half as many more as it made dirty, and waits for the device otherwise. Then it goes on, and is checked again after `ratelimit_pages`. The turns
//! are a rate here: that of the device divided by its writers at the limit, nothing a `ratelimit_pages` beyond it.
//!
//! Left out: who submits the pages (the flusher does, in its own chunks); that heavy and light writers of one device have limits of their own
//! (each is taken to write as much as the others); the lower bound of 5 % of `vm.dirty_ratio` before 2.6.37; the pause of `congestion_wait`.

use crate::policy::kernel::block::Block;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::table::Tasks;
use crate::units::Nanos;

/// `TASK_LIMIT_FRACTION`: a task that makes all pages dirty has an eighth less than the limit of its device.
const TASK_LIMIT_FRACTION: u64 = 8;

/// `writeback_set_ratelimit`: a 32nd of the memory for each processor, from 16 pages to 4 MiB.
const RATELIMIT_PART: u64 = 32;
const LEAST_RATELIMIT: u64 = 16;
const MOST_RATELIMIT: u64 = 1024;

impl WriteBack {
    /// Sets the rate of the writers of each device.
    pub fn balance_in_foreground(&mut self, pages: &Pages, block: &Block, tasks: &Tasks, now: Nanos) {
        let total = pages.dirty().total() / PAGE;
        let writers = tasks.writers().count() as u64;
        for at in 0..self.wbs.len() {
            let (count, _) = tasks.writers_to(at);
            let rate = if count == 0 || total <= self.limits.freerun {
                None
            } else {
                let excess = self.excess(pages, at, total, writers);
                self.foreground_rate(excess, self.rate_of_device(pages, block, at) / count as f64)
            };
            let Some(wb) = self.wbs[at].as_mut() else { continue };
            wb.is_throttling = rate.is_some();
            if wb.is_throttling && wb.next_update() <= now {
                wb.measure(now, pages.dirty().of_wb(WbId(at as u32)));
            }
            if std::mem::replace(&mut wb.plain_rate, rate) != rate {
                self.rate_changes += 1;
            }
        }
    }

    /// Returns by how many pages a device is over the limit of its writers, or all memory over the limit.
    fn excess(&self, pages: &Pages, at: usize, total: u64, writers: u64) -> i64 {
        let limits = self.limits.thresholds;
        let own = pages.dirty().of_wb(WbId(at as u32)).dirty() / PAGE;
        let of_device = self.shares[at].thresholds(self.fractions.fraction(at), &limits, total).limit;
        let over = |dirty: u64, limit: u64| dirty as i64 - limit as i64;
        over(own, task_dirty_limit(of_device, writers)).max(over(total, limits.limit))
    }

    /// Returns the rate of each writer, of a device that writes so much for each of them; nothing if none is held back.
    fn foreground_rate(&self, excess: i64, of_device: f64) -> Option<f64> {
        let part = excess as f64 / self.ratelimit_pages() as f64;
        (part > -1.0).then(|| of_device * (1.0 - part).max(0.0))
    }

    /// The pages that a processor makes dirty between two checks.
    fn ratelimit_pages(&self) -> u64 {
        let host = &self.config.host;
        let part = host.memory.size.0 / PAGE / (u64::from(host.cores) * RATELIMIT_PART);
        part.clamp(LEAST_RATELIMIT, MOST_RATELIMIT)
    }
}

/// Returns the limit of one of so many tasks that make as many pages dirty as each other.
fn task_dirty_limit(limit: u64, writers: u64) -> u64 {
    limit - limit / (TASK_LIMIT_FRACTION * writers.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::page_writeback::law::Thresholds;
    use crate::policy::kernel::tasks::cost::Run;
    use crate::policy::kernel::tests::{kernel, reconfigure, transfer, write};
    use crate::policy::{FileId, OperationId};

    const BEFORE: &str = "kernel.version = '3.1'";

    /// The device writes 60 MB/s, and has completed all pages lately; so many writers make pages dirty, of which there are so many.
    fn rates(settings: &str, writers: u32, dirty: u64) -> Vec<Option<f64>> {
        let mut kernel = kernel(settings);
        let tasks: Vec<OperationId> =
            (1..=writers).map(|number| write(&mut kernel, number, Run::New, 0.0)).collect();
        kernel.write_back.fractions.wb_domain_writeout_add(Nanos::ZERO, 0, 1 << 40);
        kernel.block.queues[0].push(WbId(0), FileId(1), (0, PAGE), 1, true);
        kernel.block.queues[0].transfer = Some(transfer(60e6));
        kernel.pages.dirty_mut().run_ahead(WbId(0), dirty * PAGE);
        let Kernel { write_back, pages, block, tasks: table, .. } = &mut kernel;
        write_back.balance_dirty_pages(pages, block, table, Nanos::ZERO);
        tasks.into_iter().map(|task| kernel.write_back.throttled_rate(&kernel.tasks[task])).collect()
    }

    fn limits() -> (Thresholds, u64) {
        let kernel = kernel(BEFORE);
        (kernel.write_back.limits().thresholds, kernel.write_back.limits().freerun)
    }

    #[test]
    fn a_writer_is_free_up_to_seven_eighths_of_the_limit_and_as_fast_as_the_device_there() {
        let (Thresholds { limit, .. }, freerun) = limits();
        let own = limit - limit / 8;
        assert!(freerun < own - 1024);
        assert_eq!(rates(BEFORE, 1, own - 1025), [None], "4 MiB below");
        // Its share lacks a page of a great number that it has completed.
        let near =
            |found: Option<f64>, part: f64| found.is_some_and(|rate| (rate / 60e6 - part).abs() < 0.01);
        let at = |dirty| rates(BEFORE, 1, dirty)[0];
        assert!(near(at(own), 1.0), "{:?}", at(own));
        assert!(near(at(own + 512), 0.5) && near(at(own - 512), 1.5));
        assert!(near(at(own + 1100), 0.0), "it waits");
    }

    #[test]
    fn equal_writers_share_the_device_and_have_higher_limits() {
        let (Thresholds { limit, .. }, _) = limits();
        let own = limit - limit / 32;
        let found = rates(BEFORE, 4, own);
        assert!(
            found.iter().all(|rate| rate.is_some_and(|rate| (rate / 15e6 - 1.0).abs() < 0.02)),
            "{found:?}"
        );
        assert_eq!(rates(BEFORE, 4, limit - limit / 8), [None; 4]);
    }

    #[test]
    fn the_law_begins_with_3_2() {
        let (_, freerun) = limits();
        let is_held =
            |version: &str| rates(&format!("kernel.version = '{version}'"), 1, freerun + 1)[0].is_some();
        assert_eq!(["2.6.27", "3.1", "3.2", "3.10"].map(is_held), [false, false, true, true]);
    }

    #[test]
    fn a_processor_is_checked_after_4_mib_at_most() {
        let of = |cores: u32| {
            let mut kernel = kernel(BEFORE);
            reconfigure(&mut kernel, |config| config.host.cores = cores);
            kernel.write_back.ratelimit_pages()
        };
        // Of 8 GiB.
        assert_eq!([of(1), of(64), of(1024), of(1 << 20)], [1024, 1024, 64, 16]);
    }
}
