//! Runs the flusher of one device: decides when it runs, which inode it visits, and how much it submits.
//!
//! Source: `fs/fs-writeback.c: wb_workfn, wb_writeback, queue_io, writeback_sb_inodes, requeue_inode`, Linux 6.16. An inode's age counts
//! from the time it first became dirty, never from the order of its pages in memory (`inodes`). Submitted pages wait in the queue of the
//! device (`block::queue`). Left out: superblocks (all inodes of a device are of one), locked buffers, metadata.

mod inodes;
mod tagged;

use std::collections::VecDeque;

use self::inodes::{Inodes, Listed};
use self::tagged::Tagged;
pub use self::tagged::{Until, WHOLE};
use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::kernel::address_space::folios::Folios;
use crate::policy::kernel::block::queue::Queue;
use crate::policy::kernel::block::wbt::Why;
use crate::policy::kernel::discretisation::{LEAST_PIECE, PIECE_INTERVAL};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::timers::Timers;
use crate::policy::ranges::Ranges;
use crate::policy::{FileId, OperationId};
use crate::stop;
use crate::units::Nanos;

/// `MIN_WRITEBACK_PAGES`: a visit submits a multiple of this, in pages.
const MIN_WRITEBACK_PAGES: u64 = 1024;

/// `writeback_sb_inodes` goes from inode to inode for so long before the flusher checks its reason again.
const ROUND: Nanos = Nanos(100_000_000);

/// The least that a flusher submits at once.
pub const LEAST_UNIT: u64 = MIN_WRITEBACK_PAGES * PAGE;

/// The reason for which the flusher runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// All pages dirty now, at most so many bytes: reclaim found nothing clean, or `sync`.
    All(u64),
    /// Inodes that became dirty before an instant that moves on with time.
    Periodic,
    /// Dirty memory is above the background threshold.
    Background,
}

/// The state outside the flusher on which it decides.
pub struct Circumstances<'a> {
    pub now: Nanos,
    pub dirty: &'a mut DirtyPages,
    pub folios: &'a Folios,
    /// The queue of its device, and its own wb.
    pub queue: &'a mut Queue,
    pub wb: WbId,
    /// True if others submit to the device, too.
    pub is_contended: bool,
    /// True if the host or the device is over its background threshold.
    pub over_background: &'a dyn Fn(&DirtyPages) -> bool,
    /// `avg_write_bandwidth`, pages per second.
    pub average_bandwidth: u64,
    /// `global_wb_domain.dirty_limit`, in pages: the hard limit at the last update by a throttled task.
    pub dirty_limit: u64,
    /// `vm.dirty_expire_centisecs`.
    pub expire: Nanos,
    /// `vm.dirty_writeback_centisecs`; 0 is never.
    pub interval: Nanos,
    pub timers: Timers,
    /// `Rules::requeue_has_cutoff` and `Rules::chunk_follows_bandwidth`.
    pub requeue_has_cutoff: bool,
    pub chunk_follows_bandwidth: bool,
}

impl Circumstances<'_> {
    fn push(&mut self, file: FileId, range: (u64, u64), is_of_flusher: bool) {
        let folio = if self.queue.counts_folios { self.folios.run(file, range.0, range.1).0 } else { 1 };
        self.queue.push(self.wb, file, range, folio, is_of_flusher);
    }
}

/// The state after submitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// Nothing is left.
    Nothing,
    /// All turns are taken.
    Turns,
    /// There is no room for the one whose turn it is.
    UntilFull,
}

/// The inode being visited, and how many of its bytes may still be submitted.
#[derive(Clone, Copy, Debug)]
struct Visit {
    inode: Listed,
    left: u64,
}

/// The flusher of one device; see the module.
#[derive(Debug)]
pub struct Flusher {
    /// The bytes that a flusher which is alone submits at once.
    unit: u64,
    inodes: Inodes,
    work: Option<Work>,
    /// True if it is to write everything when its work has ended: `WB_start_all`.
    wants_all: bool,
    /// The time of its last check whether its work goes on.
    round: Nanos,
    visit: Option<Visit>,
    /// The time before which no small piece is submitted, and whether one waits.
    small_pieces_from: Nanos,
    holds_piece: bool,
    /// Submissions beside the flusher's own work, in turn.
    beside: VecDeque<Tagged>,
    /// The flusher's own submissions for `sync`, before all other work.
    syncing: VecDeque<Tagged>,
    /// True if the flusher submits next, when both have something.
    is_turn_of_flusher: bool,
    /// The time at which it wakes by itself; not while it has work.
    pub timer: Option<Nanos>,
    /// True if a call of `do_writepages` has ended since the last question.
    pub(super) has_ended_a_visit: bool,
    /// The time of its last look for expired inodes; nothing if long before the start.
    last_old_flush: Option<Nanos>,
}

impl Flusher {
    /// A flusher that submits such units while it is alone.
    pub fn new(unit: u64) -> Self {
        Self {
            unit,
            inodes: Inodes::default(),
            work: None,
            wants_all: false,
            round: Nanos::ZERO,
            visit: None,
            small_pieces_from: Nanos::ZERO,
            holds_piece: false,
            beside: VecDeque::new(),
            syncing: VecDeque::new(),
            is_turn_of_flusher: false,
            timer: None,
            has_ended_a_visit: false,
            last_old_flush: None,
        }
    }

    /// Notes an inode that has become dirty; the first one arms the timer.
    pub fn inode_dirtied(&mut self, file: FileId, now: Nanos, interval: Nanos, timers: Timers) {
        self.inodes.add(file, now);
        if self.timer.is_none() && self.work.is_none() && interval > Nanos::ZERO {
            self.timer = Some(timers.fires(now, interval));
        }
    }

    /// True if it runs.
    pub fn has_work(&self) -> bool {
        self.work.is_some()
    }

    /// True if it is to write everything already.
    pub fn writes_all(&self) -> bool {
        self.wants_all || matches!(self.work, Some(Work::All(_)))
    }

    /// Makes the flusher write everything that is dirty: at once, or after the present work.
    ///
    /// `fs/fs-writeback.c: wb_start_writeback, wb_check_start_all`, Linux 6.16. Background work goes on meanwhile, until dirty memory
    /// is below its threshold. Before 4.15 this was work in a queue, and background work broke off for it.
    pub fn start_all(&mut self, bytes: u64, now: Nanos, interval: Nanos, waits: bool) {
        if waits && self.work.is_some() {
            self.wants_all = true;
        } else {
            self.wake(Work::All(bytes), now, interval);
        }
    }

    /// Gives the flusher work unless it has some already. Any activation looks for expired inodes first, if that was not done lately.
    pub fn wake(&mut self, work: Work, now: Nanos, interval: Nanos) {
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

    /// `wb_check_old_data_flush`: true if it is time to look for expired inodes.
    fn is_old_flush_due(&self, now: Nanos, interval: Nanos) -> bool {
        interval > Nanos::ZERO && self.last_old_flush.is_none_or(|last| last + interval <= now)
    }

    /// The number of submitters: the flusher for itself, for `sync`, and those beside it.
    pub fn submitters(&self) -> usize {
        usize::from(self.work.is_some()) + usize::from(!self.syncing.is_empty()) + self.beside.len()
    }

    /// True if `submit` will look for another inode, or at the last pages of this one.
    pub fn is_at_a_turn(&self, dirty: &DirtyPages, queue: &Queue, wb: WbId) -> bool {
        let goes_on = |visit: &Visit| dirty.reclaimable_of_file(visit.inode.file) >= 2 * self.unit;
        let has_room = queue.has_room_for(wb, self.why_next());
        self.submitters() > 0 && has_room && !self.visit.as_ref().is_some_and(goes_on)
    }

    /// True if it has nothing to do now, and nothing to look at.
    pub fn rests(&self, now: Nanos) -> bool {
        self.submitters() == 0
            && !self.wants_all
            && !self.rings(now)
            && !self.has_ended_a_visit
            && !self.holds_piece
    }

    /// True if its timer fires.
    pub fn rings(&self, now: Nanos) -> bool {
        self.timer.is_some_and(|timer| timer <= now)
    }

    /// True if `submit` may look at a file. It fills the queue with pages of an inode or two.
    pub fn may_visit(&self, file: FileId) -> bool {
        let is_visited = self.visit.is_some_and(|visit| visit.inode.file == file);
        let is_waited_for = self.beside.iter().any(|tagged| tagged.file == file);
        is_visited || is_waited_for || self.inodes.may_be_next(file)
    }

    /// Submits as much as there is work and room for, in `turns` turns at most. Adds to `ready` the tasks whose pages turn out to be
    /// written already.
    pub fn submit(
        &mut self,
        by: &mut Circumstances<'_>,
        turns: usize,
        ready: &mut Vec<OperationId>,
    ) -> Submitted {
        self.holds_piece = false;
        for _ in 0..turns {
            stop::spend(1);
            if self.submitters() == 0 {
                return Submitted::Nothing;
            }
            // If there is no room for whose turn it is, the others wait behind him (`block/blk-rq-qos.c: rq_qos_wait`).
            if !by.queue.has_room_for(by.wb, self.why_next()) {
                // Nobody else waits behind one that sleeps before the queue.
                if by.queue.apart_of(by.wb).is_some() {
                    return Submitted::Nothing;
                }
                by.queue.sleep();
                return Submitted::UntilFull;
            }
            // Requests are given out first come, first served: each submitter gets room in turn.
            self.is_turn_of_flusher = !self.is_turn_of_flusher;
            let flusher_first = self.is_turn_of_flusher || self.beside.is_empty();
            let has_submitted = if flusher_first {
                self.submit_sync(by, ready) || self.submit_visit(by) || self.submit_beside(by, ready)
            } else {
                self.submit_beside(by, ready)
            };
            if !has_submitted && self.beside.is_empty() {
                return Submitted::Nothing;
            }
        }
        Submitted::Turns
    }

    /// Submits for the flusher alone until the queue is full, as it has done up to now if another task comes only now.
    pub fn fill(&mut self, by: &mut Circumstances<'_>) {
        while by.queue.has_room(Some(self.why_of_work())) && self.submit_visit(by) {}
        // It waits for room, before any other task.
        self.is_turn_of_flusher = false;
    }

    /// Takes back pages that the flusher has submitted too early.
    pub fn take_back(&mut self, file: FileId, bytes: u64, dirty: &DirtyPages) {
        match &mut self.visit {
            Some(visit) if visit.inode.file == file => visit.left = visit.left.saturating_add(bytes),
            Some(_) => self.inodes.take_on_again(file, dirty),
            None => {
                let dirtied_when = dirty.dirtied_when(file).expect("it has been made dirty again");
                self.visit = Some(Visit { inode: Listed { file, dirtied_when }, left: bytes });
            }
        }
        if let Some(Work::All(left)) = &mut self.work {
            *left = left.saturating_add(bytes);
        }
        self.work.get_or_insert(Work::Background);
        self.timer = None;
    }

    /// Returns how many bytes are submitted at once.
    fn unit(&self, by: &Circumstances<'_>) -> u64 {
        if by.is_contended { self.unit.min(by.queue.turn_bytes_for(by.wb)) } else { self.unit }
    }

    /// Returns the reason of the next submission. Journals are not throttled (`JBD2_JOURNAL_REQ_FLAGS` has REQ_IDLE:
    /// `wbt_should_throttle`).
    fn why_next(&self) -> Option<Why> {
        let flusher_first = !self.is_turn_of_flusher || self.beside.is_empty();
        match self.beside.front() {
            _ if flusher_first && !self.syncing.is_empty() => Some(Why::Sync),
            _ if flusher_first && self.work.is_some() => Some(self.why_of_work()),
            Some(Tagged { until: Until::Logged(..), .. }) => None,
            Some(Tagged { until: Until::Submitted(_) | Until::Never, .. }) => Some(Why::Other),
            Some(Tagged { until: Until::Written(_), .. }) | None => Some(Why::Sync),
        }
    }

    /// Returns the reason of the flusher's own work.
    pub fn why_of_work(&self) -> Why {
        if let Some(Work::All(_)) = self.work { Why::Other } else { Why::Background }
    }

    /// True if so little of an inode is dirty that more may come before it is worth a request.
    fn has_to_wait(&mut self, visit: &Visit, by: &Circumstances<'_>) -> bool {
        let left = by.dirty.reclaimable_of_file(visit.inode.file);
        let is_small = (1..LEAST_PIECE).contains(&left);
        self.holds_piece = is_small && by.now < self.small_pieces_from;
        if is_small && !self.holds_piece {
            self.small_pieces_from = by.now + PIECE_INTERVAL;
        }
        self.holds_piece
    }

    /// Returns the time at which a small piece is submitted.
    pub fn until_small_piece(&self) -> Option<Nanos> {
        self.holds_piece.then_some(self.small_pieces_from)
    }

    /// Submits a unit of the inode being visited; false if there is no work.
    fn submit_visit(&mut self, by: &mut Circumstances<'_>) -> bool {
        while let Some(visit) = self.visit.take().or_else(|| self.next_visit(by)) {
            let most = visit.left.min(self.unit(by));
            if self.has_to_wait(&visit, by) {
                self.visit = Some(visit);
                return false;
            }
            // Nothing is left of it if it has become clean meanwhile.
            if let Some((start, end)) = by.dirty.submit(visit.inode.file, most) {
                self.untag(visit.inode.file, start, end);
                by.push(visit.inode.file, (start, end), true);
                self.leave_or_stay(Visit { left: visit.left - (end - start), ..visit }, end - start, by);
                return true;
            }
            by.queue.end_pass(visit.inode.file);
            self.has_ended_a_visit = true;
        }
        false
    }

    /// Submits a unit of the next submission beside the flusher; false if there is none.
    fn submit_beside(&mut self, by: &mut Circumstances<'_>, ready: &mut Vec<OperationId>) -> bool {
        let Some(tagged) = self.beside.pop_front() else { return false };
        let rest = self.submit_tagged(tagged, by, ready);
        // Others who submit have their turn.
        self.beside.extend(rest);
        true
    }

    /// Submits a unit for `sync`; false if nobody has called it.
    fn submit_sync(&mut self, by: &mut Circumstances<'_>, ready: &mut Vec<OperationId>) -> bool {
        let Some(tagged) = self.syncing.pop_front() else { return false };
        let rest = self.submit_tagged(tagged, by, ready);
        rest.into_iter().for_each(|rest| self.syncing.push_front(rest));
        true
    }

    /// Submits a unit of a file and returns the rest of it. Without a rest the task that waits for it waits, or goes on.
    fn submit_tagged(
        &mut self,
        mut tagged: Tagged,
        by: &mut Circumstances<'_>,
        ready: &mut Vec<OperationId>,
    ) -> Option<Tagged> {
        if let Until::Logged(bytes, waiter) = tagged.until
            && bytes > by.queue.turn_bytes()
        {
            let turn = by.queue.turn_bytes();
            by.queue.push_log(by.wb, turn, None);
            return Some(Tagged { until: Until::Logged(bytes - turn, waiter), ..tagged });
        }
        let submitted = tagged.submit(self.unit(by), by.dirty);
        if let Some(range) = submitted {
            by.push(tagged.file, range, false);
        }
        if submitted.is_some() && tagged.ranges.total() > 0 {
            return Some(tagged);
        }
        by.queue.end_pass(tagged.file);
        self.has_ended_a_visit = true;
        match tagged.until {
            Until::Written(waiter) if by.queue.wait_within(tagged.file, tagged.within, waiter) => {}
            Until::Logged(bytes, waiter) if bytes > 0 => by.queue.push_log(by.wb, bytes, Some(waiter)),
            Until::Logged(_, waiter) if by.queue.wait_behind(waiter) => {}
            Until::Written(waiter) | Until::Logged(_, waiter) | Until::Submitted(waiter) => {
                ready.push(waiter)
            }
            Until::Never => {}
        }
        None
    }

    /// Removes bytes from all tagged ranges: they have been submitted or have left the cache.
    pub fn untag(&mut self, file: FileId, start: u64, end: u64) {
        for tagged in self.beside.iter_mut().chain(&mut self.syncing).filter(|tagged| tagged.file == file) {
            tagged.ranges.remove(start, end);
        }
    }

    /// Tags the dirty bytes of a range of a file for submission beside the flusher.
    pub fn write_range(&mut self, file: FileId, within: (u64, u64), dirty: Ranges, until: Until) {
        self.beside.push_back(Tagged { file, within, ranges: dirty, until });
    }

    /// Writes bytes of the log of a journal, behind what is in the queue of its device.
    pub fn send_log(&mut self, file: FileId, bytes: u64, waiter: OperationId) {
        let (ranges, until) = (Ranges::default(), Until::Logged(bytes, waiter));
        self.beside.push_back(Tagged { file, within: (0, 0), ranges, until });
    }

    /// Tags dirty bytes of a file for `sync`.
    ///
    /// `fs/fs-writeback.c: sync_inodes_sb, writeback_chunk_size`, Linux 6.16: the flusher itself writes them, each inode in one go,
    /// and rests from background and periodic work meanwhile.
    pub fn write_for_sync(&mut self, file: FileId, dirty: Ranges, waiter: OperationId) {
        let until = Until::Written(waiter);
        self.syncing.push_back(Tagged { file, within: WHOLE, ranges: dirty, until });
    }

    /// `requeue_inode`: after a submission of `submitted` bytes the flusher stays with the inode, or puts it back.
    fn leave_or_stay(&mut self, visit: Visit, submitted: u64, by: &mut Circumstances<'_>) {
        if let Some(Work::All(left)) = &mut self.work {
            *left = left.saturating_sub(submitted);
        }
        if visit.left == 0 {
            by.queue.end_pass(visit.inode.file);
            self.has_ended_a_visit = true;
        }
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

    /// Returns the next inode, if the work goes on and there is one.
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
                return Some(Visit { inode, left: self.writeback_chunk_size(work, by) });
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

    /// True if inodes are left that it took on not long ago. If not, another round begins.
    fn is_within_round(&mut self, by: &Circumstances<'_>) -> bool {
        let is_within = self.inodes.has_taken_on(by.dirty) && by.now <= self.round + ROUND;
        if !is_within {
            self.round = by.now;
        }
        is_within
    }

    /// Ends the work: the timer is armed while anything is dirty.
    fn rest(&mut self, by: &Circumstances<'_>) {
        let is_clean = self.inodes.forget_clean(by.dirty);
        self.timer = (!is_clean && by.interval > Nanos::ZERO).then(|| by.timers.fires(by.now, by.interval));
    }

    /// Returns the next inode; periodic work takes only inodes that are old enough.
    fn next_inode(&mut self, work: Work, by: &Circumstances<'_>) -> Option<Listed> {
        let age = if work == Work::Periodic { by.expire } else { Nanos::ZERO };
        self.inodes.next(by.dirty, by.now, age)
    }

    /// `writeback_chunk_size`: half a second of writing, in whole 4 MiB. Before Linux 3.1 `MAX_WRITEBACK_PAGES`, 4 MiB.
    fn writeback_chunk_size(&self, work: Work, by: &Circumstances<'_>) -> u64 {
        if !by.chunk_follows_bandwidth {
            return MIN_WRITEBACK_PAGES * PAGE;
        }
        let asked = match work {
            Work::All(left) => left.div_ceil(PAGE),
            Work::Periodic | Work::Background => u64::MAX,
        };
        let pages = (by.average_bandwidth / 2).min(by.dirty_limit / 8).min(asked);
        (pages + MIN_WRITEBACK_PAGES) / MIN_WRITEBACK_PAGES * MIN_WRITEBACK_PAGES * PAGE
    }
}

#[cfg(test)]
mod tests;
