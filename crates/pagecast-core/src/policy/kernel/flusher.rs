//! The flusher of one device: when it runs, which inode it visits, how much of it it submits.
//!
//! Source: `fs/fs-writeback.c: wb_workfn, wb_writeback, queue_io, writeback_sb_inodes, requeue_inode`, Linux 6.16. An inode's age is when it
//! first became dirty, never the order of its pages in memory (`inodes`). What is submitted waits in one queue for the device
//! (`queue`). Left out: superblocks (all inodes of a device are of one), locked buffers, metadata.

mod inodes;
mod queue;
mod timers;

use std::collections::VecDeque;

use self::inodes::{Inodes, Listed};
use self::queue::Queue;
pub(super) use self::timers::Timers;
use super::PAGE;
use super::dirty::DirtyPages;
use super::wbt::{Wbt, Why};
use crate::policy::ranges::Ranges;
use crate::policy::{FileId, OperationId};
use crate::units::Nanos;

/// `MIN_WRITEBACK_PAGES`: a visit submits a multiple of this, in pages.
const MIN_WRITEBACK_PAGES: u64 = 1024;

/// `writeback_sb_inodes` goes from inode to inode for so long before it is looked at again whether there is reason to.
const ROUND: Nanos = Nanos(100_000_000);

/// What is submitted in one go is a part of the memory, small beside every threshold, between these bounds.
pub(super) const UNITS: u64 = 2048;
pub(super) const LEAST_UNIT: u64 = MIN_WRITEBACK_PAGES * PAGE;
pub(super) const MOST_UNIT: u64 = 128 << 20;

/// Less than this is submitted once in a while only: a writer that is held back makes pages dirty a few bytes at a time here, and
/// the flusher would follow it byte by byte.
const LEAST_PIECE: u64 = 64 << 10;
const WHILE: Nanos = Nanos(1_000_000);

/// Why the flusher runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Everything that is dirty now, at most so many bytes: reclaim found nothing clean, or `sync`.
    All(u64),
    /// Inodes that became dirty before an instant that moves on with time.
    Periodic,
    /// Until there is less dirty memory than the background threshold.
    Background,
}

/// What the flusher must know of the rest to decide.
pub(super) struct Circumstances<'a> {
    pub now: Nanos,
    pub dirty: &'a mut DirtyPages,
    /// Whether the host or the device is over its background threshold.
    pub over_background: &'a dyn Fn(&DirtyPages) -> bool,
    /// `avg_write_bandwidth`, pages per second.
    pub average_bandwidth: u64,
    /// `global_wb_domain.dirty_limit`, in pages: the hard limit as the last throttled task left it.
    pub dirty_limit: u64,
    /// `vm.dirty_expire_centisecs`.
    pub expire: Nanos,
    /// `vm.dirty_writeback_centisecs`; 0 is never.
    pub interval: Nanos,
    pub timers: Timers,
    /// See `Rules`.
    pub requeue_has_cutoff: bool,
}

/// An inode being visited, and how many bytes of it may still be submitted.
#[derive(Clone, Copy, Debug)]
struct Visit {
    inode: Listed,
    left: u64,
}

/// A file whose dirty pages its writer submits itself, as fsync does, beside the flusher.
#[derive(Debug)]
struct Integrity {
    file: FileId,
    /// Only what is between these bytes, if not the whole file.
    within: Option<(u64, u64)>,
    /// `PAGECACHE_TAG_TOWRITE`: what was dirty at the call, and since then has neither been submitted nor left the cache. What becomes
    /// dirty later is not meant.
    tagged: Ranges,
    waiter: Option<OperationId>,
    /// Whether he waits only until all of it has been submitted.
    until_submitted: bool,
}

impl Integrity {
    /// Whether it is written for somebody who waits for the device (WB_SYNC_ALL).
    fn is_sync(&self) -> bool {
        self.waiter.is_some() && !self.until_submitted
    }

    /// Submits the next of its bytes, at most `most`: from the start of the file, not from where the flusher stopped (`range_cyclic`).
    fn submit(&mut self, most: u64, dirty: &mut DirtyPages) -> Option<(u64, u64)> {
        while let Some((start, end)) = self.tagged.first(0, u64::MAX) {
            let submitted = dirty.submit_within(self.file, start, end, most);
            self.tagged.remove(start, submitted.map_or(end, |(_, to)| to));
            if submitted.is_some() {
                return submitted;
            }
        }
        None
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Flusher {
    /// What waits for the device.
    pub queue: Queue,
    /// What the block layer leaves of the queue, where it does not leave all.
    pub wbt: Option<Wbt>,
    /// How many bytes are submitted in one go.
    unit: u64,
    inodes: Inodes,
    work: Option<Work>,
    /// Whether it is to write everything when its work has ended: `WB_start_all`.
    wants_all: bool,
    /// When it last looked whether its work goes on.
    round: Nanos,
    visit: Option<Visit>,
    /// No piece that is too small goes before this, and whether one waits.
    small_pieces_from: Nanos,
    holds_piece: bool,
    integrity: VecDeque<Integrity>,
    /// Files that the flusher itself writes for `sync`, before all other work.
    syncing: VecDeque<Integrity>,
    /// Whose turn it is where both have something to submit.
    is_turn_of_flusher: bool,
    /// When it wakes up by itself; not while it has work.
    pub timer: Option<Nanos>,
    /// Whether a call of `do_writepages` has ended since somebody asked.
    pub has_ended_a_visit: bool,
    /// When it last looked for expired inodes; nothing if that was long before the start.
    last_old_flush: Option<Nanos>,
}

impl Flusher {
    /// A flusher whose device has room for `capacity` bytes under writeback and gets them in units.
    pub(super) fn new(capacity: u64, unit: u64) -> Self {
        Self {
            queue: Queue::new(capacity),
            wbt: None,
            unit,
            inodes: Inodes::default(),
            work: None,
            wants_all: false,
            round: Nanos::ZERO,
            visit: None,
            small_pieces_from: Nanos::ZERO,
            holds_piece: false,
            integrity: VecDeque::new(),
            syncing: VecDeque::new(),
            is_turn_of_flusher: false,
            timer: None,
            has_ended_a_visit: false,
            last_old_flush: None,
        }
    }

    /// An inode has become dirty; the first one arms the timer.
    pub(super) fn inode_dirtied(&mut self, file: FileId, now: Nanos, interval: Nanos, timers: Timers) {
        self.inodes.add(file, now);
        if self.timer.is_none() && self.work.is_none() && interval > Nanos::ZERO {
            self.timer = Some(timers.fires(now, interval));
        }
    }

    /// Whether it runs.
    pub(super) fn has_work(&self) -> bool {
        self.work.is_some()
    }

    /// Whether it is to write everything already.
    pub(super) fn writes_all(&self) -> bool {
        self.wants_all || matches!(self.work, Some(Work::All(_)))
    }

    /// Everything that is dirty is to be written: at once, or when the present work has ended.
    ///
    /// `fs/fs-writeback.c: wb_start_writeback, wb_check_start_all`, Linux 6.16. Background work goes on meanwhile, until there is less
    /// than its threshold. Before 4.15 this was work in a queue, for which it broke off.
    pub(super) fn start_all(&mut self, bytes: u64, now: Nanos, interval: Nanos, waits: bool) {
        if waits && self.work.is_some() {
            self.wants_all = true;
        } else {
            self.wake(Work::All(bytes), now, interval);
        }
    }

    /// Gives the flusher work unless it has some already. Any activation looks for expired inodes first, if that was not done lately.
    pub(super) fn wake(&mut self, work: Work, now: Nanos, interval: Nanos) {
        match (self.work, work) {
            (None | Some(Work::Periodic | Work::Background), Work::All(_)) => self.work = Some(work),
            (None, _) if self.is_old_flush_due(now, interval) => {
                self.last_old_flush = Some(now);
                self.work = Some(Work::Periodic);
            }
            (None, _) => self.work = Some(work),
            _ => return,
        }
        self.timer = None;
    }

    /// `wb_check_old_data_flush`: whether it is time to look for expired inodes.
    fn is_old_flush_due(&self, now: Nanos, interval: Nanos) -> bool {
        interval > Nanos::ZERO && self.last_old_flush.is_none_or(|last| last + interval <= now)
    }

    /// Whether `submit` will look for another inode, or at the last pages of this one.
    pub(super) fn is_at_a_turn(&self, dirty: &DirtyPages) -> bool {
        let goes_on = |visit: &Visit| dirty.reclaimable_of_file(visit.inode.file) >= 2 * self.unit;
        let has_work = self.work.is_some() || !self.integrity.is_empty() || !self.syncing.is_empty();
        has_work && self.has_room() && !self.visit.as_ref().is_some_and(goes_on)
    }

    /// Whether `submit` may look at a file. It fills the queue with pages of an inode or two.
    pub(super) fn may_visit(&self, file: FileId) -> bool {
        let is_visited = self.visit.is_some_and(|visit| visit.inode.file == file);
        let is_waited_for = self.integrity.iter().any(|integrity| integrity.file == file);
        is_visited || is_waited_for || self.inodes.may_be_next(file)
    }

    /// Submits as much as there is work and room for. Returns who waits for pages that turn out to be written already.
    pub(super) fn submit(&mut self, by: &mut Circumstances<'_>) -> Vec<OperationId> {
        let mut ready = Vec::new();
        self.holds_piece = false;
        while self.has_room() {
            // Requests are given out first come, first served: who submits gets room in turn.
            self.is_turn_of_flusher = !self.is_turn_of_flusher;
            let flusher_first = self.is_turn_of_flusher || self.integrity.is_empty();
            let has_submitted = if flusher_first {
                self.submit_sync(by.dirty, &mut ready)
                    || self.submit_visit(by)
                    || self.submit_integrity(by.dirty, &mut ready)
            } else {
                self.submit_integrity(by.dirty, &mut ready)
            };
            if !has_submitted && self.integrity.is_empty() {
                break;
            }
        }
        if let Some(wbt) = &mut self.wbt {
            wbt.submitted(by.now, self.queue.front().is_some());
        }
        ready
    }

    /// Whether there is room for whose turn it is. If not, the others wait behind him (`block/blk-rq-qos.c: rq_qos_wait`).
    fn has_room(&self) -> bool {
        self.queue.has_room(self.wbt.as_ref().map(|wbt| wbt.limit(self.why_next())))
    }

    /// Why the next is written.
    fn why_next(&self) -> Why {
        let flusher_first = !self.is_turn_of_flusher || self.integrity.is_empty();
        match self.work {
            _ if flusher_first && !self.syncing.is_empty() => Why::Sync,
            Some(Work::All(_)) if flusher_first => Why::Other,
            Some(Work::Periodic | Work::Background) if flusher_first => Why::Background,
            _ if self.integrity.front().is_some_and(|integrity| !integrity.is_sync()) => Why::Other,
            _ => Why::Sync,
        }
    }

    /// Whether so little is dirty of an inode that more may come before it is worth a request.
    fn has_to_wait(&mut self, visit: &Visit, by: &Circumstances<'_>) -> bool {
        let left = by.dirty.reclaimable_of_file(visit.inode.file);
        let is_small = (1..LEAST_PIECE).contains(&left);
        self.holds_piece = is_small && by.now < self.small_pieces_from;
        if is_small && !self.holds_piece {
            self.small_pieces_from = by.now + WHILE;
        }
        self.holds_piece
    }

    /// When a piece goes that was too small before.
    pub(super) fn until_small_piece(&self) -> Option<Nanos> {
        self.holds_piece.then_some(self.small_pieces_from)
    }

    /// Submits a unit of the inode being visited; false if there is no work.
    fn submit_visit(&mut self, by: &mut Circumstances<'_>) -> bool {
        while let Some(visit) = self.visit.take().or_else(|| self.next_visit(by)) {
            let most = visit.left.min(self.unit);
            if self.has_to_wait(&visit, by) {
                self.visit = Some(visit);
                return false;
            }
            // Nothing is left of it if it has become clean meanwhile.
            if let Some((start, end)) = by.dirty.submit(visit.inode.file, most) {
                self.untag(visit.inode.file, start, end);
                self.queue.push(visit.inode.file, (start, end));
                self.leave_or_stay(Visit { left: visit.left - (end - start), ..visit }, end - start, by);
                return true;
            }
            self.has_ended_a_visit = true;
        }
        false
    }

    /// Submits a unit of the file whose writer has waited longest; false if nobody does.
    fn submit_integrity(&mut self, dirty: &mut DirtyPages, ready: &mut Vec<OperationId>) -> bool {
        let Some(integrity) = self.integrity.pop_front() else { return false };
        let rest = self.submit_part(integrity, dirty, ready);
        rest.into_iter().for_each(|rest| self.integrity.push_front(rest));
        true
    }

    /// Submits a unit of what `sync` waits for; false if nobody has called it.
    fn submit_sync(&mut self, dirty: &mut DirtyPages, ready: &mut Vec<OperationId>) -> bool {
        let Some(integrity) = self.syncing.pop_front() else { return false };
        let rest = self.submit_part(integrity, dirty, ready);
        rest.into_iter().for_each(|rest| self.syncing.push_front(rest));
        true
    }

    /// Submits a unit of a file and returns what is left of it; or lets its waiter wait.
    fn submit_part(
        &mut self,
        mut integrity: Integrity,
        dirty: &mut DirtyPages,
        ready: &mut Vec<OperationId>,
    ) -> Option<Integrity> {
        let submitted = integrity.submit(self.unit, dirty);
        if let Some(range) = submitted {
            self.queue.push(integrity.file, range);
        }
        if submitted.is_some() && integrity.tagged.total() > 0 {
            return Some(integrity);
        }
        self.has_ended_a_visit = true;
        if let Some(waiter) = integrity.waiter
            && (integrity.until_submitted
                || !self.queue.wait_within(integrity.file, integrity.within.unwrap_or((0, u64::MAX)), waiter))
        {
            ready.push(waiter);
        }
        None
    }

    /// These bytes of a file have been submitted or have left the cache: nobody has them written any more.
    pub(super) fn untag(&mut self, file: FileId, start: u64, end: u64) {
        let of_file = |integrity: &&mut Integrity| integrity.file == file;
        for integrity in self.integrity.iter_mut().chain(&mut self.syncing).filter(of_file) {
            integrity.tagged.remove(start, end);
        }
    }

    /// Dirty bytes of a file are to be submitted beside the flusher, for somebody who waits for them.
    pub(super) fn write_file(&mut self, file: FileId, dirty: Ranges, waiter: OperationId) {
        self.integrity.push_back(Integrity {
            file,
            within: None,
            tagged: dirty,
            waiter: Some(waiter),
            until_submitted: false,
        });
    }

    /// The same of a part of a file; there may be nobody who waits.
    pub(super) fn write_range(
        &mut self,
        file: FileId,
        range: (u64, u64),
        dirty: Ranges,
        waiter: Option<OperationId>,
    ) {
        let within = Some(range);
        self.integrity.push_back(Integrity { file, within, tagged: dirty, waiter, until_submitted: false });
    }

    /// The same for somebody who goes on when all of it has been submitted.
    pub(super) fn submit_range(
        &mut self,
        file: FileId,
        range: (u64, u64),
        dirty: Ranges,
        waiter: OperationId,
    ) {
        let (within, waiter) = (Some(range), Some(waiter));
        self.integrity.push_back(Integrity { file, within, tagged: dirty, waiter, until_submitted: true });
    }

    /// Dirty bytes of a file are to be written for `sync`.
    ///
    /// `fs/fs-writeback.c: sync_inodes_sb, writeback_chunk_size`, Linux 6.16: the flusher itself does it, each inode in one go, and
    /// rests from background and periodic work meanwhile.
    pub(super) fn write_for_sync(&mut self, file: FileId, dirty: Ranges, waiter: OperationId) {
        self.syncing.push_back(Integrity {
            file,
            within: None,
            tagged: dirty,
            waiter: Some(waiter),
            until_submitted: false,
        });
    }

    /// `requeue_inode`: after a submission of `submitted` bytes the flusher stays with the inode, or puts it back.
    fn leave_or_stay(&mut self, visit: Visit, submitted: u64, by: &mut Circumstances<'_>) {
        if let Some(Work::All(left)) = &mut self.work {
            *left = left.saturating_sub(submitted);
        }
        self.has_ended_a_visit |= visit.left == 0;
        if visit.left > 0 {
            self.visit = Some(visit);
        } else if visit.inode.is_current(by.dirty) {
            let is_young = visit.inode.dirtied_when + by.expire > by.now;
            if by.requeue_has_cutoff && self.work == Some(Work::Periodic) && is_young {
                self.inodes.redirty_tail(visit.inode, by.now, by.dirty);
            } else {
                self.inodes.requeue_io(visit.inode);
            }
        }
    }

    /// The next inode, if the work goes on and there is one.
    fn next_visit(&mut self, by: &mut Circumstances<'_>) -> Option<Visit> {
        loop {
            let work = self.work?;
            let goes_on = match work {
                Work::All(left) => left > 0,
                Work::Periodic => true,
                Work::Background => self.is_within_round(by) || (by.over_background)(by.dirty),
            };
            let inode = if goes_on { self.next_inode(work, by) } else { None };
            if let Some(inode) = inode {
                return Some(Visit { inode, left: self.chunk(work, by) });
            }
            // Periodic work is followed by a look at the background threshold, as every activation is.
            let is_over = work != Work::Background && (by.over_background)(by.dirty);
            self.work = is_over.then_some(Work::Background);
            if self.work.is_none() && std::mem::take(&mut self.wants_all) {
                self.work = Some(Work::All(by.dirty.dirty()));
            }
            if self.work.is_none() {
                self.rest(by);
            }
        }
    }

    /// Whether there are inodes left that it took on not long ago. If not, another round begins.
    fn is_within_round(&mut self, by: &Circumstances<'_>) -> bool {
        let is_within = self.inodes.has_taken_on(by.dirty) && by.now <= self.round + ROUND;
        if !is_within {
            self.round = by.now;
        }
        is_within
    }

    /// The work is done: the timer rings again while anything is dirty.
    fn rest(&mut self, by: &Circumstances<'_>) {
        let is_clean = self.inodes.forget_clean(by.dirty);
        self.timer = (!is_clean && by.interval > Nanos::ZERO).then(|| by.timers.fires(by.now, by.interval));
    }

    /// Periodic work takes only inodes that are old enough.
    fn next_inode(&mut self, work: Work, by: &Circumstances<'_>) -> Option<Listed> {
        let age = if work == Work::Periodic { by.expire } else { Nanos::ZERO };
        self.inodes.next(by.dirty, by.now, age)
    }

    /// `writeback_chunk_size`: half a second of writing, in whole 4 MiB.
    fn chunk(&self, work: Work, by: &Circumstances<'_>) -> u64 {
        let asked = match work {
            Work::All(left) => left.div_ceil(PAGE),
            Work::Periodic | Work::Background => u64::MAX,
        };
        let pages = (by.average_bandwidth / 2).min(by.dirty_limit / 8).min(asked);
        (pages + MIN_WRITEBACK_PAGES) / MIN_WRITEBACK_PAGES * MIN_WRITEBACK_PAGES * PAGE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::law::Hz;
    use crate::policy::kernel::wb::WbId;
    use crate::policy::kernel::wbt::tests::wbt;

    const TIMERS: Timers = Timers { hz: Hz(250), has_wheel: true };

    #[test]
    fn expired_inodes_are_looked_for_at_the_first_wake_up_and_every_5_s() {
        let mut flusher = Flusher::new(MOST_UNIT, LEAST_UNIT);
        let mut woken_at = |seconds: u64| {
            flusher.work = None;
            flusher.wake(Work::Background, Nanos(seconds * 1_000_000_000), Nanos(5_000_000_000));
            flusher.work
        };
        let works = [3, 6, 8].map(|seconds| woken_at(seconds).expect("it has work"));
        assert_eq!(works, [Work::Periodic, Work::Background, Work::Periodic]);
    }

    #[test]
    fn what_reclaim_wants_written_waits_for_background_work_since_4_15() {
        const DIRTY: u64 = 64 * PAGE;
        // While it is over the background threshold, and when it is no more.
        let works = [true, false].map(|waits| {
            let (mut dirty, mut flusher) = (DirtyPages::default(), Flusher::new(MOST_UNIT, LEAST_UNIT));
            dirty.make_dirty(FileId(0), WbId(0), 0, DIRTY, Nanos::ZERO);
            flusher.inode_dirtied(FileId(0), Nanos::ZERO, Nanos::ZERO, TIMERS);
            flusher.work = Some(Work::Background);
            flusher.start_all(DIRTY, Nanos::ZERO, Nanos::ZERO, waits);
            assert!(flusher.writes_all());
            [true, false].map(|is_over| {
                let mut by = Circumstances {
                    now: Nanos(1_000_000_000),
                    dirty: &mut dirty,
                    over_background: &|_: &DirtyPages| is_over,
                    average_bandwidth: 25_600,
                    dirty_limit: 8192,
                    expire: Nanos(30_000_000_000),
                    interval: Nanos::ZERO,
                    timers: TIMERS,
                    requeue_has_cutoff: true,
                };
                let visit = flusher.next_visit(&mut by).expect("the inode is dirty");
                flusher.inodes.requeue_io(visit.inode);
                flusher.work
            })
        });
        let all = Some(Work::All(DIRTY));
        assert_eq!(works, [[Some(Work::Background), all], [all, all]]);
    }

    const MIB: u64 = 1 << 20;
    const SECOND: u64 = 1_000_000_000;

    /// Files that became dirty in this order, a second apart: so many MiB of each.
    fn with_files(capacity: u64, mib: &[u64]) -> (Flusher, DirtyPages) {
        let (mut flusher, mut dirty) = (Flusher::new(capacity, LEAST_UNIT), DirtyPages::default());
        for (number, mib) in (0..).zip(mib) {
            dirtied(&mut flusher, &mut dirty, number, (0, mib * MIB), u64::from(number) * SECOND);
        }
        (flusher, dirty)
    }

    fn dirtied(flusher: &mut Flusher, dirty: &mut DirtyPages, file: u32, range: (u64, u64), at: u64) {
        if dirty.make_dirty(FileId(file), WbId(0), range.0, range.1, Nanos(at)) {
            flusher.inode_dirtied(FileId(file), Nanos(at), Nanos::ZERO, TIMERS);
        }
    }

    /// Over the background threshold is who has more than this dirty. The device writes 100 MiB/s; nobody else sets a bound.
    fn submit(flusher: &mut Flusher, dirty: &mut DirtyPages, at: u64, threshold: u64) -> Vec<(u32, u64)> {
        submit_with(flusher, dirty, at, threshold, |_| ())
    }

    /// Which bytes of which files go one after the other, in MiB, if what is submitted is written at once.
    fn submit_with(
        flusher: &mut Flusher,
        dirty: &mut DirtyPages,
        at: u64,
        threshold: u64,
        change: impl FnOnce(&mut Circumstances<'_>),
    ) -> Vec<(u32, u64)> {
        let mut by = Circumstances {
            now: Nanos(at),
            dirty,
            over_background: &|dirty| dirty.dirty() > threshold,
            average_bandwidth: 25_600,
            dirty_limit: 1 << 30,
            expire: Nanos(30 * SECOND),
            interval: Nanos(5 * SECOND),
            timers: TIMERS,
            requeue_has_cutoff: true,
        };
        change(&mut by);
        flusher.submit(&mut by);
        let mut runs: Vec<(u32, u64)> = Vec::new();
        while flusher.queue.front().is_some() {
            let unit = flusher.queue.pop();
            match runs.last_mut() {
                Some((file, bytes)) if *file == unit.file.0 => *bytes += unit.end - unit.start,
                _ => runs.push((unit.file.0, unit.end - unit.start)),
            }
        }
        runs.into_iter().map(|(file, bytes)| (file, bytes / MIB)).collect()
    }

    #[test]
    fn a_visit_submits_half_a_second_of_writing_or_an_eighth_of_the_limit() {
        let visits = |work, threshold, limit| {
            let (mut flusher, mut dirty) = with_files(u64::MAX, &[100, 100]);
            flusher.work = Some(work);
            submit_with(&mut flusher, &mut dirty, 2 * SECOND, threshold, |by| by.dirty_limit = limit)
        };
        // 12,800 pages and 4 MiB more, rounded down to whole 4 MiB.
        assert_eq!(visits(Work::Background, 0, 1 << 30), [(0, 52), (1, 52), (0, 48), (1, 48)]);
        // 2000 pages and 4 MiB more.
        assert_eq!(visits(Work::Background, 0, 16_000)[..3], [(0, 8), (1, 8), (0, 8)]);
        // What is asked for, 1536 pages, and 4 MiB more.
        assert_eq!(visits(Work::All(6 * MIB), u64::MAX, 1 << 30), [(0, 8)]);
        // The first file has just 8 of 20 MiB: 3072 pages, and 4 MiB more, are left for the second.
        let (mut flusher, mut dirty) = with_files(u64::MAX, &[8, 100]);
        flusher.work = Some(Work::All(20 * MIB));
        assert_eq!(submit(&mut flusher, &mut dirty, 2 * SECOND, u64::MAX), [(0, 8), (1, 16)]);
    }

    #[test]
    fn for_a_tenth_of_a_second_it_goes_from_inode_to_inode_without_looking_at_the_threshold() {
        let later = |nanos| {
            let (mut flusher, mut dirty) = with_files(52 * MIB, &[100, 100]);
            flusher.work = Some(Work::Background);
            assert!(!flusher.has_ended_a_visit);
            assert_eq!(submit(&mut flusher, &mut dirty, 2 * SECOND, 150 * MIB), [(0, 52)]);
            assert!(flusher.has_ended_a_visit);
            submit(&mut flusher, &mut dirty, 2 * SECOND + nanos, 150 * MIB)
        };
        assert_eq!((later(100_000_000), later(100_000_001)), (vec![(1, 52)], vec![]));
    }

    #[test]
    fn an_old_inode_is_written_to_its_end_and_a_young_one_waits_for_its_time() {
        // A second before it would expire the first is unfinished.
        let (mut flusher, mut dirty) = with_files(52 * MIB, &[100, 100]);
        flusher.work = Some(Work::Background);
        assert_eq!(submit(&mut flusher, &mut dirty, 29 * SECOND, 0), [(0, 52)]);
        let rest = |requeue_has_cutoff, flusher: &mut Flusher, dirty: &mut DirtyPages| {
            flusher.work = Some(Work::Periodic);
            let at = 30 * SECOND;
            let mut each =
                || submit_with(flusher, dirty, at, u64::MAX, |by| by.requeue_has_cutoff = requeue_has_cutoff);
            [each(), each(), each()].concat()
        };
        // The second had been taken on with it, and is a second too young.
        assert_eq!(rest(true, &mut flusher, &mut dirty), [(1, 52), (0, 48)]);
        assert_eq!(rest(false, &mut flusher, &mut dirty), [], "nor has it been taken on anew");
        let (mut flusher, mut dirty) = with_files(52 * MIB, &[100, 100]);
        flusher.work = Some(Work::Background);
        submit(&mut flusher, &mut dirty, 29 * SECOND, 0);
        // 52 MiB at a time: the rest of the second begins with the last 4 of those.
        let all = [(1, 52), (0, 48), (1, 4), (1, 44)];
        assert_eq!(rest(false, &mut flusher, &mut dirty), all, "before 6.10");
        let (mut flusher, mut dirty) = with_files(u64::MAX, &[100, 100]);
        flusher.work = Some(Work::Periodic);
        assert_eq!(submit(&mut flusher, &mut dirty, 30 * SECOND, u64::MAX), [(0, 100)]);
    }

    #[test]
    fn small_pieces_go_once_in_a_millisecond() {
        let (mut flusher, mut dirty) = with_files(u64::MAX, &[]);
        let mut piece = |range, at| {
            dirtied(&mut flusher, &mut dirty, 0, range, at);
            flusher.work = Some(Work::Background);
            submit(&mut flusher, &mut dirty, at, 0);
            (dirty.dirty(), flusher.until_small_piece().map(|at| at.0))
        };
        let least = LEAST_PIECE;
        assert_eq!(piece((0, 1), SECOND), (0, None));
        assert_eq!(piece((1, least), SECOND + 999_999), (least - 1, Some(SECOND + 1_000_000)));
        assert_eq!(piece((1, least), SECOND + 1_000_000), (0, None));
        assert_eq!(piece((least, 2 * least), SECOND + 1_000_001), (0, None), "that is no small one");
    }

    #[test]
    fn woken_for_everything_it_leaves_what_it_does() {
        for work in [Work::Periodic, Work::Background] {
            let mut flusher = Flusher::new(MOST_UNIT, LEAST_UNIT);
            flusher.work = Some(work);
            flusher.wake(Work::All(MIB), Nanos(0), Nanos(5 * SECOND));
            assert_eq!(flusher.work, Some(Work::All(MIB)));
            flusher.wake(work, Nanos(0), Nanos(5 * SECOND));
            assert!(flusher.writes_all(), "and goes on with it");
        }
        let mut flusher = Flusher::new(MOST_UNIT, LEAST_UNIT);
        flusher.wake(Work::Background, Nanos(0), Nanos::ZERO);
        assert_eq!(flusher.work, Some(Work::Background), "nobody looks for expired inodes");
    }

    /// Of a disk that lets who waits have 16 bytes on their way, reclaim 8 and the background 4.
    #[test]
    fn with_write_back_throttling_it_has_room_by_why_it_writes() {
        let has_room = |work, bytes, is_synced| {
            let mut flusher = Flusher { wbt: Some(wbt(128)), work, ..Flusher::new(100, 1) };
            if is_synced {
                flusher.write_for_sync(FileId(1), Ranges::default(), OperationId(0));
            }
            flusher.queue.push(FileId(0), (0, bytes));
            flusher.has_room()
        };
        let works = [None, Some(Work::All(1)), Some(Work::Periodic), Some(Work::Background)];
        let each = |bytes, is_synced| works.map(|work| has_room(work, bytes, is_synced));
        assert_eq!(each(3, false), [true; 4]);
        assert_eq!([4, 7].map(|bytes| each(bytes, false)), [[true, true, false, false]; 2]);
        assert_eq!([8, 15].map(|bytes| each(bytes, false)), [[true, false, false, false]; 2]);
        assert_eq!([15, 16].map(|bytes| each(bytes, true)), [[true; 4], [false; 4]]);
    }

    /// The flusher, at its turn, waits for room for the background; who waits for a file waits behind it.
    #[test]
    fn who_syncs_has_the_room_of_a_sync_if_it_is_his_turn() {
        let has_room = |is_turn_of_flusher, waiter| {
            let mut flusher = Flusher {
                wbt: Some(wbt(128)),
                work: Some(Work::Background),
                is_turn_of_flusher,
                ..Flusher::new(100, 1)
            };
            flusher.write_range(FileId(1), (0, 10), Ranges::default(), waiter);
            flusher.queue.push(FileId(0), (0, 10));
            flusher.has_room()
        };
        let waiter = Some(OperationId(0));
        assert_eq!([false, true].map(|turn| has_room(turn, waiter)), [false, true]);
        assert!(!has_room(true, None), "who does not wait has that of reclaim");
    }

    #[test]
    fn it_is_at_a_turn_when_it_has_work_and_may_look_at_the_next_files() {
        let (mut flusher, mut dirty) = with_files(8 * MIB, &[100, 100, 100, 100]);
        assert!(!flusher.is_at_a_turn(&dirty), "it has no work");
        flusher.work = Some(Work::Background);
        assert!(flusher.is_at_a_turn(&dirty));
        submit(&mut flusher, &mut dirty, 9 * SECOND, 0);
        assert!(!flusher.is_at_a_turn(&dirty), "it stays with the first");
        assert_eq!([0, 1, 2, 3].map(|file| flusher.may_visit(FileId(file))), [true, true, true, false]);
        let mut idle = Flusher::new(MOST_UNIT, LEAST_UNIT);
        idle.write_for_sync(FileId(0), Ranges::default(), OperationId(0));
        assert!(idle.is_at_a_turn(&dirty));
        flusher.write_file(FileId(3), Ranges::default(), OperationId(0));
        assert!(flusher.may_visit(FileId(3)));
    }
}
