//! Models free page reporting: a virtual machine tells its host which memory is free, and the host takes it back.
//!
//! A task that touches such a page first waits until the host has given it memory. Source, Linux 6.18:
//!
//! - `mm/page_reporting.c: page_reporting_process, page_reporting_cycle`: every 2 s while there is something to report, a sixteenth of the
//!   free blocks, but none below the low mark and 64 MiB.
//! - `mm/page_alloc.c: __rmqueue_smallest`: pages are taken from the smallest blocks that are large enough.
//! - `mm/page_alloc.c: __putback_isolated_page`: reported pages go to the end of the free lists, so that others are taken first.
//!
//! Only blocks of 2 MiB and more are reported. Smaller ones stay backed for ever, and folios that fit take them. A host without reports
//! takes nothing back and costs nothing. Left out: smaller blocks that come and go; reporting by node. Reclaimed memory is taken at once.

use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::units::Nanos;

/// `PAGE_REPORTING_CAPACITY * 16`: one pass reports this part of the free blocks.
const DELAY: Nanos = Nanos(2_000_000_000);
/// `PAGE_REPORTING_CAPACITY * 16`: the passes that report all free blocks.
const PASSES: u64 = 16;
/// `page_reporting_order` of x86: the order of a huge page.
const ORDER: usize = 9;
/// `PAGE_REPORTING_CAPACITY << page_reporting_order`: so much above the low mark is not reported.
const KEPT: u64 = 32 * (PAGE << ORDER);

/// The free blocks of each order that is too small to be reported, from single pages up.
pub type Fragments = [u64; ORDER];

/// Free memory that the host has not taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backed {
    bytes: u64,
    fragments: Fragments,
    /// The free memory at the last look.
    free: u64,
    /// The time of the next report.
    pass: Option<Nanos>,
}

impl Backed {
    /// The backed part of so much free memory, at time 0; at least the fragments.
    #[must_use]
    pub fn new(bytes: u64, fragments: Fragments, free: u64) -> Self {
        let fragmented = in_blocks(&fragments);
        let pass = (bytes > fragmented).then_some(DELAY);
        Self { bytes: bytes.max(fragmented).min(free), fragments, free, pass }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sets the fragments.
    pub fn fragment(&mut self, fragments: Fragments) {
        *self = Self { pass: self.pass, ..Self::new(self.bytes, fragments, self.free) };
    }

    /// Reports free memory down to `least`, with so many bytes free now. Memory freed since the last look is backed. Memory taken was
    /// backed first, except for blocks of fewer pages than folios have.
    pub fn observe(&mut self, now: Nanos, free: u64, least: u64, folio: u64) {
        self.report(now, least);
        if free > self.free {
            self.bytes += free - self.free;
        } else {
            self.bytes -= (self.free - free).min(self.room_for(folio));
        }
        // All that is left may be fragments.
        self.bytes = self.bytes.min(free);
        self.free = free;
        self.pass = self.pass.or((self.reportable() > 0).then(|| now + DELAY));
    }

    /// Takes back the memory that the passes up to now have reported.
    fn report(&mut self, now: Nanos, least: u64) {
        while let Some(pass) = self.pass.filter(|&pass| pass <= now) {
            if self.free > least {
                let whole = self.free.saturating_sub(in_blocks(&self.fragments));
                self.bytes -= whole.div_ceil(PASSES).min(self.reportable());
            }
            self.pass = (self.reportable() > 0).then(|| pass + DELAY);
        }
    }

    /// The memory to be reported: all but fragments.
    fn reportable(&self) -> u64 {
        self.bytes.saturating_sub(in_blocks(&self.fragments))
    }

    /// Returns how much of it fits folios of so many pages.
    fn room_for(&self, folio: u64) -> u64 {
        let order = (folio.ilog2() as usize).min(ORDER);
        self.bytes.saturating_sub(in_blocks(&self.fragments[..order]))
    }
}

/// Returns the bytes in blocks of each order, from single pages up.
fn in_blocks(blocks: &[u64]) -> u64 {
    blocks.iter().zip(0..).map(|(blocks, order)| blocks * (PAGE << order)).sum()
}

/// Returns the blocks that are too small to be reported, of the free blocks of each order (/proc/buddyinfo).
pub fn fragments_of(blocks: impl IntoIterator<Item = u64>) -> Fragments {
    let mut fragments = Fragments::default();
    fragments.iter_mut().zip(blocks).for_each(|(order, blocks)| *order = blocks);
    fragments
}

impl Pages {
    /// Looks at the memory freed or taken since the last look.
    pub fn look_at_backed(&mut self, tasks: &Tasks, now: Nanos) {
        if let Some(mut backed) = self.backed {
            let takers = tasks.iter().filter(|(_, task)| task.takes_memory());
            let folio = takers.map(|(_, task)| task.folio).min().unwrap_or(1);
            backed.observe(now, self.free(), self.low() + KEPT, folio);
            self.backed = Some(backed);
        }
    }

    /// Returns how many pages a task touches for the first time since the host took them back, for each page that it moves.
    pub fn reported(&self, task: &Task) -> f64 {
        match self.backed {
            Some(backed) if backed.room_for(task.folio) < PAGE && !self.is_short() => task.pages_taken(),
            _ => 0.0,
        }
    }

    /// Returns how much memory any task can take before it costs more.
    pub fn until_reported(&self, tasks: &Tasks) -> u64 {
        if self.backed.is_none() {
            return u64::MAX;
        }
        let takers = tasks.iter().filter(|(_, task)| task.takes_memory());
        takers.map(|(_, task)| self.until_reported_to(task)).min().unwrap_or(u64::MAX)
    }

    /// Returns how much memory one task can take before it costs more.
    pub fn until_reported_to(&self, task: &Task) -> u64 {
        let room = self.backed.map(|backed| backed.room_for(task.folio));
        room.filter(|&room| room >= PAGE).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;
    const MIB: u64 = 1 << 20;
    const WHOLE: Fragments = [0; ORDER];

    fn after(seconds: u64) -> Nanos {
        Nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn freed_memory_is_taken_first() {
        let mut backed = Backed::new(0, WHOLE, 8 * GB);
        backed.observe(after(1), 5 * GB, 0, 1);
        assert_eq!(backed.bytes, 0);
        backed.observe(after(1), 7 * GB, 0, 1);
        backed.observe(after(1), 6 * GB, 0, 1);
        assert_eq!(backed.bytes, GB);
    }

    #[test]
    fn a_sixteenth_of_what_is_free_is_reported_every_two_seconds() {
        let mut backed = Backed::new(0, WHOLE, 8 * GB);
        backed.observe(after(1), 16 * GB, 0, 1);
        backed.observe(Nanos(2_999_999_999), 16 * GB, 0, 1);
        assert_eq!(backed.bytes, 8 * GB);
        backed.observe(after(5), 16 * GB, 0, 1);
        assert_eq!(backed.bytes, 6 * GB);
        backed.observe(after(100), 16 * GB, 0, 1);
        assert_eq!((backed.bytes, backed.pass), (0, None));
        let mut kept = Backed::new(GB, WHOLE, 2 * GB);
        kept.observe(after(100), 2 * GB, 3 * GB, 1);
        assert_eq!(kept.bytes, GB, "so little is not reported");
        let mut kept = Backed::new(GB, WHOLE, 2 * GB);
        kept.observe(after(100), 2 * GB, 2 * GB, 1);
        assert_eq!(kept.bytes, GB, "nor is what is free down to there (`__zone_watermark_ok`)");
    }

    #[test]
    fn fragments_are_never_reported_and_only_small_folios_take_them() {
        let mut fragments = WHOLE;
        (fragments[0], fragments[8]) = (1024, 2);
        let mut backed = Backed::new(100 * MIB, fragments, 8 * GB);
        assert_eq!(
            (backed.room_for(1), backed.room_for(2), backed.room_for(512)),
            (100 * MIB, 96 * MIB, 94 * MIB)
        );
        backed.observe(after(100), 8 * GB, 0, 1);
        assert_eq!((backed.bytes, backed.pass), (6 * MIB, None));
        backed.observe(after(101), 8 * GB - 50 * MIB, 0, 256);
        assert_eq!(backed.room_for(256), 0, "folios of 1 MiB had 2 blocks");
        assert_eq!(backed.room_for(1), 4 * MIB);
        backed.observe(after(102), 8 * GB - 53 * MIB, 0, 1);
        assert_eq!(backed.bytes, MIB);
        assert_eq!(Backed::new(0, fragments, MIB).bytes, MIB, "no more than is free");
        let mut small = Backed::new(0, fragments, GB);
        small.observe(after(1), GB - 5 * MIB, 0, 1);
        small.observe(after(2), GB, 0, 1);
        assert_eq!((small.bytes, small.pass), (6 * MIB, None), "nobody reports what is freed in fragments");
    }

    #[test]
    fn other_fragments_change_what_is_reported_and_not_when() {
        let mut backed = Backed::new(64 * MIB, WHOLE, 8 * GB);
        let pass = backed.pass;
        let mut fragments = WHOLE;
        fragments[8] = 60;
        backed.fragment(fragments);
        assert_eq!((backed.bytes(), backed.pass), (64 * MIB, pass));
        backed.observe(after(1), 8 * GB, 0, 1);
        backed.fragment(fragments);
        backed.observe(after(100), 8 * GB, 0, 1);
        assert_eq!(backed.bytes(), 60 * MIB, "from 2 s on, as before");
        fragments[8] = 80;
        backed.fragment(fragments);
        assert_eq!(backed.bytes(), 80 * MIB, "no less than what is in them");
        let mut later = Backed::new(0, WHOLE, GB);
        later.observe(after(10), 2 * GB, 0, 1);
        later.fragment(WHOLE);
        assert_eq!(later.pass, Some(after(12)));
    }
}
