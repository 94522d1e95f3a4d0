//! Computes the rate of each task that writes to a device.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages`, Linux 6.16. A task is checked after each folio that its calls fill.

use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_writeback::law::Throttle;
use crate::units::Bytes;

/// The rates of the tasks that write to a device, by the folios that their calls fill: a task is checked after each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskRate {
    pub law: Throttle,
    /// The least rate of any task, in bytes per second.
    pub least: f64,
    /// The folio, in pages, for which the rate was set: nearly all tasks have it.
    pub folio: u64,
    pub rate: f64,
}

impl TaskRate {
    /// The rates for tasks with folios of so many pages; other folios are computed when asked for.
    pub fn new(law: Throttle, least: f64, folio: u64) -> Self {
        let mut new = Self { law, least, folio, rate: 0.0 };
        new.rate = new.found_out(folio);
        new
    }

    /// Returns the rate in bytes per second for a task with folios of so many pages.
    pub fn of(&self, folio: u64) -> f64 {
        if folio == self.folio { self.rate } else { self.found_out(folio) }
    }

    fn found_out(&self, folio: u64) -> f64 {
        (self.law.rate(folio) * PAGE as f64).max(self.least)
    }

    /// True if another one is the same for the tasks for which both were set.
    pub fn is_usually(&self, other: &Self) -> bool {
        (self.folio, self.rate) == (other.folio, other.rate)
    }

    /// The rate in bytes per second for the tasks for which it was set.
    pub fn usual(&self) -> f64 {
        self.rate
    }

    /// For tests: this, whatever a task's calls are.
    #[cfg(test)]
    pub fn fixed(rate: f64) -> Self {
        let law = Throttle {
            hz: crate::policy::kernel::tick::Hz(1),
            base_rate: 0,
            task_rate: 0,
            average_bandwidth: 0,
            device_dirty: 0,
        };
        Self { law, least: rate, folio: 1, rate }
    }
}

/// Returns how many pages a call of so many bytes copies before it is checked. Folios are as long as the call lets them be, and aligned to
/// their length (`mm/filemap.c: __filemap_get_folio`); long calls are soon aligned.
pub fn folio_of(piece: Bytes, largest: u64) -> u64 {
    let pages = piece.0 / PAGE;
    if pages >= largest {
        largest
    } else if pages == 0 || !piece.0.is_multiple_of(PAGE) {
        1
    } else {
        1 << pages.trailing_zeros()
    }
}
