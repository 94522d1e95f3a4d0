//! Records the folios in which the pages of files came into the cache.
//!
//! A fault of a mapping pays for each folio, and maps a whole one since Linux 6.18. Source: Linux 6.18.
//!
//! - `mm/filemap.c: __filemap_get_folio`: a write makes folios as long as its call.
//! - `mm/readahead.c: page_cache_ra_order, page_cache_async_ra`: the first window has folios of one page, each next window has folios four
//!   times as long. None is longer than its window.
//!
//! Left out: splitting folios; folios made by a fault in a hole; long folios from before time 0; pages that stay in the cache, and in their
//! folios, while the pages around them are read.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::policy::FileId;
use crate::policy::kernel::page::PAGE;

/// The largest folio is a huge page (2 MiB).
const LONGEST_ORDER: u32 = 9;

/// Returns the order of the folios of a read-ahead window; `before` is the order in the window before it, if there was one.
pub fn order_of_window(before: Option<u32>, pages: u64) -> u32 {
    before.map_or(0, |order| order + 2).min(pages.max(1).ilog2()).min(LONGEST_ORDER)
}

/// The faults of touching bytes of a mapping one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    pub count: u64,
    /// Folios mapped beyond the first of each fault.
    pub further: f64,
}

/// The pages that a fault maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultUnit {
    /// At least so many pages, as far as they are in the cache,
    pub least: u64,
    /// and the whole folio if that is longer.
    pub is_whole_folio: bool,
}

impl FaultUnit {
    /// Returns the bytes that a fault maps, in folios of so many pages.
    pub fn bytes(self, folio: u64) -> u64 {
        PAGE * if self.is_whole_folio { self.least.max(folio) } else { self.least }
    }
}

/// A run of a file in folios of equal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: u64,
    end: u64,
    pages: u64,
}

/// The folios of a file that are longer than a page. Most files have folios of one length, which grow at their end.
#[derive(Debug, Default)]
struct Runs {
    /// The only run, if there is one,
    only: Option<Run>,
    /// and all runs if there are several: start, end, and the pages of a folio.
    all: BTreeMap<u64, (u64, u64)>,
}

impl Runs {
    fn set(&mut self, new: Run) {
        if self.all.is_empty() {
            match &mut self.only {
                None if new.pages > 1 => return self.only = Some(new),
                Some(only) if only.pages == new.pages && only.start <= new.start && new.start <= only.end => {
                    return only.end = only.end.max(new.end);
                }
                Some(only) if new.start <= only.start && new.end >= only.end => {
                    return self.only = Some(new).filter(|new| new.pages > 1);
                }
                _ => {}
            }
        }
        self.all.extend(self.only.take().map(|run| (run.start, (run.end, run.pages))));
        self.cut(new.start);
        self.cut(new.end);
        while let Some((&at, _)) = self.all.range(new.start..new.end).next() {
            self.all.remove(&at);
        }
        if new.pages > 1 {
            let before = self.all.range_mut(..new.start).next_back();
            match before.filter(|(_, run)| **run == (new.start, new.pages)) {
                Some((_, run)) => run.0 = new.end,
                None => _ = self.all.insert(new.start, (new.end, new.pages)),
            }
        }
    }

    /// Splits the run that contains `at` into two.
    fn cut(&mut self, at: u64) {
        if let Some((_, run)) = self.all.range_mut(..at).next_back()
            && run.0 > at
        {
            let rest = (std::mem::replace(&mut run.0, at), run.1);
            self.all.insert(at, rest);
        }
    }

    /// Returns the last run that begins at a byte or before it, and the start of the next run.
    fn around(&self, at: u64) -> (Option<Run>, Option<u64>) {
        if let Some(only) = self.only {
            return if only.start <= at { (self.only, None) } else { (None, Some(only.start)) };
        }
        let run = self.all.range(..=at).next_back();
        let run = run.map(|(&start, &(end, pages))| Run { start, end, pages });
        (run, self.all.range(at + 1..).next().map(|(&next, _)| next))
    }

    fn is_empty(&self) -> bool {
        self.only.is_none() && self.all.is_empty()
    }
}

/// The folios of all files that are longer than a page.
#[derive(Debug, Default)]
pub struct Folios {
    files: FxHashMap<FileId, Runs>,
}

impl Folios {
    /// Records the folios of a run of a file.
    pub fn set(&mut self, file: FileId, (start, end): (u64, u64), pages: u64) {
        if start >= end || (pages == 1 && !self.files.contains_key(&file)) {
            return;
        }
        let runs = self.files.entry(file).or_default();
        runs.set(Run { start, end, pages });
        if runs.is_empty() {
            self.files.remove(&file);
        }
    }

    /// Returns the pages of each folio at a byte of a file, and the end of that run, `end` at most.
    pub fn run(&self, file: FileId, at: u64, end: u64) -> (u64, u64) {
        let Some(runs) = self.files.get(&file) else { return (1, end) };
        match runs.around(at) {
            (Some(run), _) if at < run.end => (run.pages, run.end.min(end)),
            (_, next) => (1, next.map_or(end, |next| next.min(end))),
        }
    }

    /// Forgets the folios beyond the new size of a file.
    pub fn cut(&mut self, file: FileId, size: u64) {
        self.set(file, (size, u64::MAX), 1);
    }

    /// Returns the faults from one byte of a file to another.
    pub fn faults(&self, file: FileId, (start, end): (u64, u64), unit: FaultUnit) -> Faults {
        let (mut at, mut mapped, mut faults) = (start, start, Faults::default());
        while at < end {
            let (pages, to) = self.run(file, at, end);
            let bytes = unit.bytes(pages);
            let from = at.max(mapped);
            if from < to {
                let count = to.div_ceil(bytes) - from / bytes;
                mapped = to.next_multiple_of(bytes);
                faults.count += count;
                let folios = (to - from) as f64 / (pages * PAGE) as f64;
                faults.further += (folios - count as f64).max(0.0);
            }
            at = to;
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FileId = FileId(3);

    fn pages(from: u64, to: u64) -> (u64, u64) {
        (from * PAGE, to * PAGE)
    }

    #[test]
    fn the_last_to_come_is_what_is_there() {
        let mut folios = Folios::default();
        folios.set(FILE, pages(0, 100), 1);
        assert!(folios.files.is_empty(), "single pages are not kept");
        folios.set(FILE, pages(0, 512), 256);
        folios.set(FILE, pages(512, 1024), 256);
        let only = Run { start: 0, end: 1024 * PAGE, pages: 256 };
        assert_eq!(folios.files[&FILE].only, Some(only), "what goes on is one run");
        folios.set(FILE, pages(256, 300), 1);
        folios.set(FILE, pages(300, 400), 4);
        let run = |folios: &Folios, at, end| {
            let (length, to) = folios.run(FILE, at * PAGE, end * PAGE);
            (length, to / PAGE)
        };
        let found = [(0, 9), (0, 999), (270, 999), (350, 999), (400, 2000), (1024, 2000)];
        let expected = [(256, 9), (256, 256), (1, 300), (4, 400), (256, 1024), (1, 2000)];
        assert_eq!(found.map(|(at, end)| run(&folios, at, end)), expected);
        folios.cut(FILE, 300 * PAGE);
        assert_eq!(folios.run(FILE, 300 * PAGE, 999 * PAGE), (1, 999 * PAGE));
        folios.cut(FILE, 0);
        assert!(folios.files.is_empty());
        folios.set(FILE, pages(8, 16), 4);
        folios.set(FILE, pages(12, 20), 4);
        assert_eq!([0, 9, 16].map(|at| run(&folios, at, 99)), [(1, 8), (4, 20), (4, 20)]);
        folios.set(FILE, pages(0, 24), 1);
        assert!(folios.files.is_empty(), "all of it has become single pages");
    }

    /// Against one number for each page.
    #[test]
    fn runs_are_what_each_page_was_set_to() {
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let (mut folios, mut each) = (Folios::default(), [1_u64; 64]);
        for _ in 0..2000 {
            let (from, length, order) = (next(64), next(16), next(3));
            let to = (from + length).min(64);
            folios.set(FILE, pages(from, to), 1 << order);
            each[from as usize..to as usize].fill(1 << order);
            let found = (0..64).map(|at| folios.run(FILE, at * PAGE, 64 * PAGE));
            for (at, (length, to)) in found.enumerate() {
                assert_eq!(length, each[at]);
                assert!(each[at..(to / PAGE) as usize].iter().all(|&pages| pages == length));
            }
        }
    }

    /// 64 MiB on Linux 6.18, ext4, `read_ahead_kb` 8192 (getrusage(2), `ru_minflt`): 436 faults read and 2740 write what
    /// faults have read, in windows of 8 MiB.
    #[test]
    fn faults_are_as_many_as_on_a_kernel() {
        let (mut folios, mut order) = (Folios::default(), None);
        for window in 0..8 {
            let next = order_of_window(order, 2048);
            folios.set(FILE, pages(2048 * window, 2048 * (window + 1)), 1 << next);
            order = Some(next);
        }
        let unit = |least, is_whole_folio| FaultUnit { least, is_whole_folio };
        let count = |of: &Folios, (from, to), unit| of.faults(FILE, pages(from, to), unit).count;
        let whole = [16, 1].map(|least| count(&folios, (0, 16_384), unit(least, true)));
        let before = [16, 1].map(|least| count(&folios, (0, 16_384), unit(least, false)));
        assert_eq!((whole, before), ([436, 2740], [1024, 16_384]));
        assert_eq!(count(&folios, (5, 6), unit(16, true)), 1);
        assert_eq!(count(&Folios::default(), (10, 40), unit(16, true)), 3);
        assert_eq!(count(&folios, (0, 0), unit(1, true)), 0);
    }

    /// Of single pages, of 4 and of 16 and more.
    #[test]
    fn a_fault_maps_all_folios_around_it() {
        let mut folios = Folios::default();
        folios.set(FILE, pages(64, 128), 4);
        folios.set(FILE, pages(128, 1024), 64);
        let further = |from, to| {
            let whole = FaultUnit { least: 16, is_whole_folio: true };
            folios.faults(FILE, pages(from, to), whole).further
        };
        assert_eq!([further(0, 64), further(64, 128), further(128, 1024)], [60.0, 12.0, 0.0]);
        assert_eq!(further(0, 1024), 72.0);
        let writes = FaultUnit { least: 1, is_whole_folio: false };
        assert_eq!(folios.faults(FILE, pages(0, 1024), writes), Faults { count: 1024, further: 0.0 });
    }

    #[test]
    fn a_folio_is_no_longer_than_its_window_and_2_mib() {
        let ramp = |window: u64| {
            let next = |before: &Option<u32>| Some(Some(order_of_window(*before, window)));
            std::iter::successors(Some(None), next).flatten().take(7).collect::<Vec<u32>>()
        };
        assert_eq!(ramp(2048), [0, 2, 4, 6, 8, 9, 9]);
        assert_eq!(ramp(32), [0, 2, 4, 5, 5, 5, 5]);
    }
}
