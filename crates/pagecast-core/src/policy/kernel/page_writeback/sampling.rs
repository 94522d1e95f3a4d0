//! Samples the estimates of each device for the result, whenever one of them has changed.
//!
//! Source: the traced event `bdi_dirty_ratelimit` (`include/trace/events/writeback.h`, Linux 6.16), which is emitted at each update of a
//! base rate. Here also when a bandwidth is measured, and when the rate of tasks moves with the dirty level.

use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::{Actions, BdiSample};
use crate::result::BdiLevels;
use crate::units::Bytes;

impl WriteBack {
    /// Samples the wbs whose estimates have changed.
    pub fn sample_devices(&mut self, pages: &Pages, out: &mut Actions) {
        for at in 0..self.wbs.len() {
            let Some(wb) = self.wbs[at].as_mut() else { continue };
            let news = Some((wb.stamp(), wb.told_rate()));
            if wb.sampled != news {
                wb.sampled = news;
                self.sample_device(pages, at, out);
            }
        }
    }

    /// Samples all wbs, at the end.
    pub fn sample_all_devices(&self, pages: &Pages, out: &mut Actions) {
        for at in 0..self.wbs.len() {
            self.sample_device(pages, at, out);
        }
    }

    pub fn sample_device(&self, pages: &Pages, at: usize, out: &mut Actions) {
        let Some(wb) = &self.wbs[at] else { return };
        let id = WbId(at as u32);
        let counts = pages.dirty().of_wb(id);
        let rate = |pages: u64| Bytes(pages * PAGE);
        // As the levels of the memory, which count each page once.
        let (_, most) = pages.told();
        let levels = BdiLevels {
            write_bandwidth: rate(wb.bandwidth.write),
            avg_write_bandwidth: rate(wb.bandwidth.average),
            dirty_ratelimit: rate(wb.base_rate.rate),
            balanced_dirty_ratelimit: rate(wb.base_rate.balanced),
            task_ratelimit: wb.told_rate().map(|rate| Bytes(rate as u64)),
            dirty: Bytes(counts.dirty().min(most)),
            writeback: Bytes(counts.writeback.min(most)),
        };
        out.sample(BdiSample {
            device: self.config.device_of(id),
            cgroup: self.config.memcg_of_wb(at),
            levels,
        });
    }
}
