//! Time to free a file's blocks on truncate and unlink.
//!
//! Source: `fs/ext4/inode.c: ext4_evict_inode, ext4_setattr`, `fs/ext4/mballoc.c: ext4_free_blocks`, Linux 6.18. The pages leave first, and
//! pages under writeback are waited for. Mounted with `discard` and without a journal, the thread that frees blocks has the device discard
//! them, extent by extent. With a journal that happens after a commit, in the background (`ext4_discard_work`), and nobody waits for it.
//!
//! Only blocks that were written back lately take long. A cloud disk took 1.2 s for 1 GB just written, and 0.1 s after a minute, when its
//! host had written it to a disk of its own. Pages that were never written back have no blocks (delayed allocation). Left out: bytes
//! written by direct I/O; blocks of the dirty end of a file from before time 0; other work of the device meanwhile.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::machine::{Host, Mount};
use crate::policy::kernel::ext4::Ext4;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::kind::Cut;
use crate::policy::{FileId, FileView};
use crate::units::Nanos;

/// Write-back within this time counts as one.
const TOGETHER: Nanos = Nanos(1_000_000_000);

/// When each part of each file was written back; kept only if that matters.
#[derive(Debug, Default)]
pub struct WrittenBack {
    files: Option<FxHashMap<FileId, Written>>,
    /// The time before 0 over which the files of time 0 were written evenly; nothing: long ago.
    prepared: Option<Nanos>,
}

/// The parts of one file: start, end and time. They are disjoint.
#[derive(Debug, Default)]
struct Written(BTreeMap<u64, (u64, Nanos)>);

impl Written {
    /// Records that the bytes from `start` to `end` are on the disk now.
    fn add(&mut self, now: Nanos, start: u64, end: u64) {
        self.split(start);
        self.split(end);
        while let Some((&from, _)) = self.0.range(start..end).next() {
            self.0.remove(&from);
        }
        match self.0.range_mut(..start).next_back() {
            Some((_, (last, at))) if *last == start && now < *at + TOGETHER => *last = end,
            _ => {
                self.0.insert(start, (end, now));
            }
        }
    }

    /// Divides the part that a byte is inside of.
    fn split(&mut self, at: u64) {
        let Some((_, part)) = self.0.range_mut(..at).next_back().filter(|(_, (end, _))| *end > at) else {
            return;
        };
        let behind = *part;
        part.0 = at;
        self.0.insert(at, behind);
    }

    /// Takes out everything from a byte on.
    fn cut(&mut self, from: u64) -> Self {
        self.split(from);
        Self(self.0.split_off(&from))
    }

    /// Returns how many bytes before `before` were written at a time that counts.
    fn bytes(&self, before: u64, counts: impl Fn(Nanos) -> bool) -> u64 {
        let parts = self.0.iter().filter(|(_, (_, at))| counts(*at));
        parts.map(|(&start, &(end, _))| end.min(before).saturating_sub(start)).sum()
    }
}

impl WrittenBack {
    pub fn of(host: &Host, prepared: Option<Nanos>) -> Self {
        let gives_back =
            |mount: &Mount| mount.cost.block_free > Nanos::ZERO || mount.cost.file_free > Nanos::ZERO;
        Self { files: host.mounts.iter().any(gives_back).then(FxHashMap::default), prepared }
    }

    /// Records write-back of a file's bytes from `start` to `end`.
    pub fn add(&mut self, now: Nanos, file: FileId, (start, end): (u64, u64)) {
        if let Some(files) = &mut self.files {
            files.entry(file).or_default().add(now, start, end);
        }
    }

    /// Returns how many of the bytes that a file loses were written within the time that counts.
    fn take(&mut self, now: Nanos, file: FileId, within: Option<Nanos>, cut: Cut) -> u64 {
        let young_part = self.young_part(now, within);
        let Some(files) = &mut self.files else { return 0 };
        let lost = files.get_mut(&file).map(|written| written.cut(cut.from)).unwrap_or_default();
        let lately = lost.bytes(u64::MAX, |at| within.is_none_or(|within| at + within >= now));
        let before = cut.clean_to.saturating_sub(cut.from) - lost.bytes(cut.clean_to, |_| true);
        lately + (young_part * before as f64) as u64
    }

    /// Returns the part of the files of time 0 that was written within the time that counts.
    fn young_part(&self, now: Nanos, within: Option<Nanos>) -> f64 {
        match (self.prepared, within) {
            (None, _) => 0.0,
            (Some(_), None) => 1.0,
            (Some(_), Some(within)) if within <= now => 0.0,
            (Some(prepared), Some(within)) => ((within - now).0 as f64 / prepared.0 as f64).min(1.0),
        }
    }
}

impl Ext4 {
    /// Takes the end of a file from a byte on, before its pages are gone.
    pub fn cut_from(&self, pages: &Pages, file: &FileView, from: u64) -> Cut {
        let is_kept = self.written_back.files.is_some();
        let clean_to = if is_kept { pages.dirty().dirty_end(file.id, file.size.0) } else { from };
        Cut { from, clean_to, unlinks: false, opens: false }
    }

    /// Returns the time to free the blocks of a cut, whose pages have all left.
    pub fn give_blocks_back(&mut self, now: Nanos, file: &FileView, cut: Cut) -> Nanos {
        let cost = self.config.cost_of(file);
        match self.written_back.take(now, file.id, cost.block_free_within, cut).div_ceil(PAGE) {
            0 => Nanos::ZERO,
            blocks => cost.file_free + Nanos(cost.block_free.0.saturating_mul(blocks)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Nanos = Nanos(1_000_000_000);

    fn written(parts: &[(u64, u64, u64)]) -> Written {
        let mut written = Written::default();
        parts.iter().for_each(|&(second, start, end)| written.add(Nanos(second * S.0), start, end));
        written
    }

    fn parts(written: &Written) -> Vec<(u64, u64, u64)> {
        written.0.iter().map(|(&start, &(end, at))| (at.0 / S.0, start, end)).collect()
    }

    #[test]
    fn each_byte_has_the_time_when_it_was_written_last() {
        assert_eq!(parts(&written(&[(0, 0, 100), (5, 20, 30)])), [(0, 0, 20), (5, 20, 30), (0, 30, 100)]);
        assert_eq!(parts(&written(&[(0, 0, 50), (0, 80, 90), (5, 40, 100)])), [(0, 0, 40), (5, 40, 100)]);
        assert_eq!(parts(&written(&[(0, 10, 20), (5, 10, 20)])), [(5, 10, 20)]);
    }

    #[test]
    fn writes_within_a_second_are_one_part() {
        let mut file = written(&[(0, 0, 10)]);
        file.add(Nanos(S.0 - 1), 10, 20);
        assert_eq!(parts(&file), [(0, 0, 20)]);
        file.add(S, 20, 30);
        file.add(S, 40, 50);
        assert_eq!(parts(&file), [(0, 0, 20), (1, 20, 30), (1, 40, 50)]);
    }

    #[test]
    fn a_cut_takes_the_bytes_behind_a_byte_and_no_more() {
        let mut file = written(&[(0, 0, 100), (5, 100, 200)]);
        let gone = file.cut(60);
        assert_eq!((parts(&file), parts(&gone)), (vec![(0, 0, 60)], vec![(0, 60, 100), (5, 100, 200)]));
        assert_eq!((gone.bytes(u64::MAX, |at| at == Nanos::ZERO), gone.bytes(150, |_| true)), (40, 90));
        assert_eq!((parts(&file.cut(60)), parts(&file.cut(0))), (vec![], vec![(0, 0, 60)]));
    }

    #[test]
    fn bytes_that_are_lost_count_while_they_are_young() {
        let lost = |within: Option<Nanos>, at: u64, prepared: Option<Nanos>, cut: (u64, u64)| {
            let files = FxHashMap::from_iter([(FileId(1), written(&[(0, 0, 100), (5, 100, 200)]))]);
            let mut written_back = WrittenBack { files: Some(files), prepared };
            let cut = Cut { from: cut.0, clean_to: cut.1, unlinks: false, opens: false };
            written_back.take(Nanos(at * S.0), FileId(1), within, cut)
        };
        let within = Some(Nanos(10 * S.0));
        assert_eq!(lost(None, 1000, None, (50, 400)), 150, "ever; what was there before: long ago");
        assert_eq!([9, 10, 11, 15, 16].map(|at| lost(within, at, None, (50, 400))), [150, 150, 100, 100, 0]);
        assert_eq!(lost(None, 1000, Some(S), (50, 400)), 350, "what was there before, too");
        assert_eq!(lost(None, 1000, Some(S), (50, 150)), 150, "dirty bytes that have blocks");
        // Of the 200 bytes of before, those of the last 10 s: at 6 s, those written in the last 4 s of 8 s.
        assert_eq!(lost(within, 6, Some(Nanos(8 * S.0)), (50, 400)), 150 + 100);
        assert_eq!(lost(within, 2, Some(Nanos(8 * S.0)), (50, 400)), 150 + 200);
        assert_eq!(lost(within, 10, Some(Nanos(8 * S.0)), (200, 400)), 0);
    }
}
