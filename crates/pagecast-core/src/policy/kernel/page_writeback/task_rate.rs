//! What the law lets each task write that writes to a device.
//!
//! Source: `mm/page-writeback.c: balance_dirty_pages`, Linux 6.16. A task is checked after each folio that its calls fill.

use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_writeback::law::Throttle;
use crate::units::Bytes;

/// What the law of a device lets each task write: by the folios that its calls fill, after each of which it is checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskRate {
    pub law: Throttle,
    /// What it may write in any case, in bytes per second.
    pub least: f64,
    /// Of the tasks with such folios, in bytes per second: nearly always of all.
    pub folio: u64,
    pub rate: f64,
}

impl TaskRate {
    /// Of tasks with folios of so many pages; others' will be found out.
    pub fn new(law: Throttle, least: f64, folio: u64) -> Self {
        let mut new = Self { law, least, folio, rate: 0.0 };
        new.rate = new.found_out(folio);
        new
    }

    /// In bytes per second, of a task with folios of so many pages.
    pub fn of(&self, folio: u64) -> f64 {
        if folio == self.folio { self.rate } else { self.found_out(folio) }
    }

    pub fn found_out(&self, folio: u64) -> f64 {
        (self.law.rate(folio) * PAGE as f64).max(self.least)
    }

    /// Whether another one is the same for the tasks for which both were set.
    pub fn is_usually(&self, other: &Self) -> bool {
        (self.folio, self.rate) == (other.folio, other.rate)
    }

    /// In bytes per second, of the tasks for which it was set.
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

/// How many pages a call of so many bytes copies before it is checked. Folios are as long as the call lets them be, and aligned to
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
