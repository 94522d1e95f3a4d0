//! What a thread pays for each byte that it reads or writes: system calls, pages, copies.
//!
//! Source: the structure of `mm/filemap.c: filemap_read, generic_perform_write`, Linux 6.16; the numbers are a machine's. Left out: folios
//! larger than a page, which make a page cheaper on newer file systems (a machine that has them has smaller costs).

use super::PAGE;
use crate::machine::CopyCost;
use crate::units::{Bytes, BytesPerSecond};

/// What a page table of the second level maps at once (x86 and others).
const HUGE_PAGE: u64 = 2 << 20;

/// How a run of bytes is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Read from the cache.
    Hit,
    /// Read from the device, through the cache.
    Miss,
    /// Written to pages that are not in the cache.
    New,
    /// Written over clean pages.
    Clean,
    /// Written over dirty pages.
    Dirty,
    /// Written to the device at once, through the cache.
    Through,
    /// Put into the cache for another host.
    Insert,
    /// First touch of anonymous memory.
    Touch,
    /// Taken out of the cache.
    Remove,
    /// Being read from the device by somebody else: waits until that has come.
    Follow,
    /// Between a device and the program's own memory.
    Direct,
    /// Nothing moves: waits for write-back, or for its own processor.
    Wait,
}

impl Run {
    /// Whether it takes free pages for the cache.
    pub(super) fn fills(self) -> bool {
        matches!(self, Self::Miss | Self::New | Self::Through | Self::Insert)
    }

    /// Whether it writes over pages that are in the cache.
    pub(super) fn rewrites(self) -> bool {
        matches!(self, Self::Clean | Self::Dirty)
    }

    /// Whether it makes clean or new pages dirty.
    pub(super) fn dirties(self) -> bool {
        matches!(self, Self::New | Self::Clean)
    }
}

/// What one byte costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PerByte {
    /// Seconds in all.
    pub seconds: f64,
    /// The part of them that gets pages rather than copies.
    pub allocation: f64,
}

impl PerByte {
    /// Bytes per second, if anything limits them.
    pub(super) fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| 1.0 / self.seconds)
    }
}

/// Where the two ends of a copy are, as seen from the node of its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Distance {
    /// How much of what it reads is on another node: 0 to 1.
    pub from: f64,
    /// The same of what it writes.
    pub to: f64,
}

/// The pages that new anonymous memory comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    /// None is new.
    Nothing,
    Small,
    Huge,
}

impl CopyCost {
    /// What a byte of a run costs, in calls of `piece`.
    pub(super) fn per_byte(
        &self,
        run: Run,
        piece: Bytes,
        touched: Touched,
        distance: Distance,
        is_being_written: bool,
    ) -> PerByte {
        let of_copy = |rate: Option<BytesPerSecond>| rate.map_or(0.0, |rate| 1.0 / rate.0);
        let of_page = |time: crate::units::Nanos| time.as_seconds() / PAGE as f64;
        // Memory is touched without a system call.
        let has_calls = piece.0 > 0 && run != Run::Touch;
        let call = if has_calls { self.call.as_seconds() / piece.0 as f64 } else { 0.0 };
        let fault = match touched {
            Touched::Nothing => 0.0,
            Touched::Small => of_page(self.fault),
            Touched::Huge => {
                self.fault_huge.map_or(of_page(self.fault), |fault| fault.as_seconds() / HUGE_PAGE as f64)
            }
        };
        let far = distance.from * of_page(self.page_remote_read.unwrap_or(self.page_remote))
            + distance.to * of_page(self.page_remote);
        let (copy, lookup, insert) = match run {
            Run::Hit => (of_copy(self.copy_read), of_page(self.page_lookup), 0.0),
            Run::Miss => (of_copy(self.copy_read), 0.0, of_page(self.page_insert)),
            Run::New | Run::Insert | Run::Through => {
                (of_copy(self.copy_write), 0.0, of_page(self.page_insert))
            }
            Run::Clean | Run::Dirty => (of_copy(self.copy_write), of_page(self.page_lookup), 0.0),
            Run::Touch => (0.0, 0.0, 0.0),
            Run::Remove => (0.0, of_page(self.page_remove), 0.0),
            Run::Follow => (0.0, 0.0, 0.0),
            // What its calls cost comes before the device, not at once with it.
            Run::Direct | Run::Wait => return PerByte::default(),
        };
        let seconds = copy + lookup + insert + fault + call + far;
        let slow = match (run, is_being_written) {
            (Run::New, true) => self.flushing_factor.unwrap_or(1.0),
            _ => 1.0,
        };
        PerByte { seconds: seconds / slow, allocation: (insert + fault) / slow }
    }
}
