//! The flusher of one device: when it runs, which inode it visits, how much of it it submits.
//!
//! Source: `fs/fs-writeback.c: wb_workfn, wb_writeback, queue_io, writeback_sb_inodes, requeue_inode`, Linux 6.16. An inode's age is when it
//! first became dirty, never the order of its pages in memory. What is submitted waits in one queue for the device and is written
//! in that order. Left out: superblocks (all inodes of a device are of one), locked buffers, metadata.

use std::collections::VecDeque;

use super::PAGE;
use super::dirty::DirtyPages;
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
    /// The dirty limit of the host, in pages.
    pub dirty_limit: u64,
    /// `vm.dirty_expire_centisecs`.
    pub expire: Nanos,
    /// `vm.dirty_writeback_centisecs`; 0 is never.
    pub interval: Nanos,
    /// See `Rules`.
    pub requeue_has_cutoff: bool,
}

/// A dirty inode on a list. Its entry is stale if it has become clean, or dirty anew, since.
#[derive(Clone, Copy, Debug)]
struct Listed {
    file: FileId,
    dirtied_when: Nanos,
}

impl Listed {
    fn is_current(&self, dirty: &DirtyPages) -> bool {
        dirty.dirtied_when(self.file) == Some(self.dirtied_when)
    }
}

/// An inode being visited, and how many bytes of it may still be submitted.
#[derive(Clone, Copy, Debug)]
struct Visit {
    inode: Listed,
    left: u64,
}

/// Pages under writeback that the device gets in one go.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub file: FileId,
    pub start: u64,
    pub end: u64,
    /// Who is told when it is written.
    pub waiters: Vec<OperationId>,
}

/// A file whose dirty pages its writer submits itself, as fsync does, beside the flusher.
#[derive(Debug)]
struct Integrity {
    file: FileId,
    /// Only what is between these bytes, if not the whole file.
    within: Option<(u64, u64)>,
    /// What was dirty at the call and has not been submitted; what becomes dirty later is not waited for.
    left: u64,
    waiter: Option<OperationId>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Flusher {
    /// How much may be under writeback, and how much of it is submitted in one go.
    capacity: u64,
    unit: u64,
    /// `b_dirty`, oldest first; `b_io` and `b_more_io`, next first.
    dirty: VecDeque<Listed>,
    io: VecDeque<Listed>,
    more_io: VecDeque<Listed>,
    work: Option<Work>,
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
    queue: VecDeque<Unit>,
    queued: u64,
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
            capacity,
            unit,
            dirty: VecDeque::new(),
            io: VecDeque::new(),
            more_io: VecDeque::new(),
            work: None,
            round: Nanos::ZERO,
            visit: None,
            small_pieces_from: Nanos::ZERO,
            holds_piece: false,
            integrity: VecDeque::new(),
            syncing: VecDeque::new(),
            is_turn_of_flusher: false,
            queue: VecDeque::new(),
            queued: 0,
            timer: None,
            has_ended_a_visit: false,
            last_old_flush: None,
        }
    }

    /// An inode has become dirty; the first one arms the timer.
    pub(super) fn inode_dirtied(&mut self, file: FileId, now: Nanos, interval: Nanos) {
        self.dirty.push_back(Listed { file, dirtied_when: now });
        if self.timer.is_none() && self.work.is_none() && interval > Nanos::ZERO {
            self.timer = Some(now + interval);
        }
    }

    /// What waits for the device, first in line first.
    pub(super) fn front(&self) -> Option<&Unit> {
        self.queue.front()
    }

    /// The bytes that wait for the device, with those of the first in line that it has already.
    ///
    /// # Panics
    /// If they are not as many as are counted for the room that they take.
    pub(super) fn waiting(&self) -> u64 {
        let waiting = self.queue.iter().map(|unit| unit.end - unit.start).sum();
        assert_eq!(self.queued, waiting, "bytes in the queue of a device");
        waiting
    }

    /// The first in line has been written.
    pub(super) fn pop(&mut self) -> Unit {
        let unit = self.queue.pop_front().expect("the device writes what waits for it");
        self.queued -= unit.end - unit.start;
        unit
    }

    /// Whether it is to write everything already.
    pub(super) fn writes_all(&self) -> bool {
        matches!(self.work, Some(Work::All(_)))
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
        has_work && self.queued < self.capacity && !self.visit.as_ref().is_some_and(goes_on)
    }

    /// Whether `submit` may look at a file. It fills the queue with pages of an inode or two.
    pub(super) fn may_visit(&self, file: FileId) -> bool {
        let is_next = self.io.iter().take(2).any(|inode| inode.file == file);
        let is_visited = self.visit.is_some_and(|visit| visit.inode.file == file);
        let is_waited_for = self.integrity.iter().any(|integrity| integrity.file == file);
        is_next || is_visited || is_waited_for || self.io.len() < 2
    }

    /// Submits as much as there is work and room for. Returns who waits for pages that turn out to be written already.
    pub(super) fn submit(&mut self, by: &mut Circumstances<'_>) -> Vec<OperationId> {
        let mut ready = Vec::new();
        self.holds_piece = false;
        while self.queued < self.capacity {
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
        ready
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
                self.push(Unit { file: visit.inode.file, start, end, waiters: Vec::new() });
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
        let most = integrity.left.min(self.unit);
        // Nothing was dirty at the call, or all has gone since: what has become dirty later is not meant.
        let submitted = match integrity.within {
            _ if most == 0 => None,
            Some((start, end)) => dirty.submit_within(integrity.file, start, end, most),
            None => dirty.submit(integrity.file, most),
        };
        if let Some((start, end)) = submitted {
            self.push(Unit { file: integrity.file, start, end, waiters: Vec::new() });
            integrity.left -= end - start;
        }
        if submitted.is_some() && integrity.left > 0 {
            return Some(integrity);
        }
        self.has_ended_a_visit = true;
        let (start, end) = integrity.within.unwrap_or((0, u64::MAX));
        if let Some(waiter) = integrity.waiter
            && !self.wait_within(integrity.file, start, end, waiter)
        {
            ready.push(waiter);
        }
        None
    }

    fn push(&mut self, unit: Unit) {
        self.queued += unit.end - unit.start;
        self.queue.push_back(unit);
    }

    /// So many dirty bytes of a file are to be submitted beside the flusher, for somebody who waits for them, or nobody.
    pub(super) fn write_file(&mut self, file: FileId, dirty: u64, waiter: Option<OperationId>) {
        self.integrity.push_back(Integrity { file, within: None, left: dirty, waiter });
    }

    /// The same of a part of a file.
    pub(super) fn write_range(&mut self, file: FileId, range: (u64, u64), dirty: u64, waiter: OperationId) {
        let integrity = Integrity { file, within: Some(range), left: dirty, waiter: Some(waiter) };
        self.integrity.push_back(integrity);
    }

    /// So many dirty bytes of a file are to be written for `sync`.
    ///
    /// `fs/fs-writeback.c: sync_inodes_sb, writeback_chunk_size`, Linux 6.16: the flusher itself does it, each inode in one go, and
    /// rests from background and periodic work meanwhile.
    pub(super) fn write_for_sync(&mut self, file: FileId, dirty: u64, waiter: OperationId) {
        self.syncing.push_back(Integrity { file, within: None, left: dirty, waiter: Some(waiter) });
    }

    /// Somebody waits until no page of a file is under writeback; false if there is none.
    pub(super) fn wait_for(&mut self, file: FileId, waiter: OperationId) -> bool {
        self.wait_within(file, 0, u64::MAX, waiter)
    }

    /// The same of a part of a file.
    pub(super) fn wait_within(&mut self, file: FileId, start: u64, end: u64, waiter: OperationId) -> bool {
        let overlaps = |unit: &&mut Unit| unit.file == file && unit.start < end && start < unit.end;
        let last = self.queue.iter_mut().rev().find(overlaps);
        last.map(|unit| unit.waiters.push(waiter)).is_some()
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
                self.redirty_tail(visit.inode, by);
            } else {
                self.more_io.push_back(visit.inode);
            }
        }
    }

    /// Puts an inode behind the youngest one; it becomes as young if that is younger.
    fn redirty_tail(&mut self, mut inode: Listed, by: &mut Circumstances<'_>) {
        if self.dirty.back().is_some_and(|youngest| youngest.dirtied_when > inode.dirtied_when) {
            inode.dirtied_when = by.now;
            by.dirty.redirty(inode.file, by.now);
        }
        self.dirty.push_back(inode);
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
            if self.work.is_none() {
                self.rest(by);
            }
        }
    }

    /// Whether there are inodes left that it took on not long ago. If not, another round begins.
    fn is_within_round(&mut self, by: &Circumstances<'_>) -> bool {
        let has_inodes = self.io.iter().any(|inode| inode.is_current(by.dirty));
        let is_within = has_inodes && by.now <= self.round + ROUND;
        if !is_within {
            self.round = by.now;
        }
        is_within
    }

    /// The work is done: the timer rings again while anything is dirty.
    fn rest(&mut self, by: &Circumstances<'_>) {
        self.dirty.retain(|inode| inode.is_current(by.dirty));
        let is_clean = self.dirty.is_empty() && self.io.is_empty() && self.more_io.is_empty();
        self.timer = (!is_clean && by.interval > Nanos::ZERO).then(|| by.now + by.interval);
    }

    fn next_inode(&mut self, work: Work, by: &Circumstances<'_>) -> Option<Listed> {
        loop {
            if self.io.is_empty() {
                self.queue_io(work, by);
            }
            let inode = self.io.pop_front()?;
            if inode.is_current(by.dirty) {
                return Some(inode);
            }
        }
    }

    /// `queue_io`: what was left unfinished, then the inodes that are old enough, oldest first.
    fn queue_io(&mut self, work: Work, by: &Circumstances<'_>) {
        self.io.append(&mut self.more_io);
        let is_due = |inode: &Listed| match work {
            Work::Periodic => inode.dirtied_when + by.expire <= by.now,
            Work::All(_) | Work::Background => true,
        };
        let due = self.dirty.iter().take_while(|inode| is_due(inode)).count();
        self.io.extend(self.dirty.drain(..due));
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
}
