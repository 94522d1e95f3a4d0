//! Wakes flushers: for a writer beyond the background threshold, and for reclaim that finds nothing clean.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages, wb_start_background_writeback`, `fs/fs-writeback.c: wakeup_flusher_threads`, Linux
//! 6.16. Left out: laptop mode.

use crate::policy::kernel::fs_writeback::Flushers;
use crate::policy::kernel::fs_writeback::flusher::{Flusher, Work};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::table::Tasks;
use crate::units::Nanos;

impl Flushers {
    /// Wakes the flusher of each writer's device if it is over the background threshold.
    pub fn wake_flushers(&mut self, pages: &Pages, write_back: &WriteBack, tasks: &Tasks, now: Nanos) {
        let dirty = pages.dirty().dirty() / PAGE;
        let total = pages.dirty().total() / PAGE;
        let is_over =
            dirty > write_back.limits().thresholds.background || total > write_back.limits().freerun;
        // A flusher that runs is not woken.
        let may_be_over = is_over || !write_back.domains.is_empty() || write_back.has_strict;
        if !may_be_over || self.iter().all(Flusher::has_work) {
            return;
        }
        let interval = self.config.host.vm.dirty_writeback;
        for task in tasks.writers() {
            let at = task.wb.0 as usize;
            // The background threshold of a cgroup is looked at by its flusher alone, when the timer rings.
            let is_over = match write_back.strict(pages, at) {
                Some((strict, own)) => {
                    dirty > write_back.limits().thresholds.background || own > strict.brake.freerun
                }
                None => is_over || write_back.is_memcg_beyond_freerun(pages, at, false),
            };
            if is_over && let Some(flusher) = self.get_mut(at) {
                flusher.wake(Work::Background, now, interval);
            }
        }
    }

    /// Makes all flushers write everything, when reclaim has found only dirty pages. True if any of them did not do so already.
    ///
    /// `fs/fs-writeback.c: wakeup_flusher_threads`
    pub fn wakeup_flusher_threads(&mut self, pages: &Pages, now: Nanos) -> bool {
        let dirty = pages.dirty().dirty();
        let (interval, waits) = (self.config.host.vm.dirty_writeback, self.config.rules.start_all_waits);
        let mut has_woken = false;
        for flusher in self.iter_mut().filter(|flusher| !flusher.writes_all()) {
            flusher.start_all(dirty, now, interval, waits);
            has_woken = true;
        }
        has_woken
    }
}
