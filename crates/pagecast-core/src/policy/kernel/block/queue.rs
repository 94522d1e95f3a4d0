//! Queues pages under writeback for a device, which writes them in the order in which they were submitted.
//!
//! Source: `block/blk-mq-tag.c: blk_mq_get_tag`, `block/blk-rq-qos.c: rq_qos_wait`, Linux 6.16.
//!
//! - All flushers of a device (one for each memory cgroup) and all callers of fsync share one queue.
//! - A task that submits waits while the queue is full, first come, first served. A new request waits for those in the queue only.
//! - A flusher that is alone submits more at once than fits. The excess is taken back (`excess`) when another task comes.
//!
//! - A disk that serves requests (`block::devices`) has all of them at once; its scheduler orders them, and each unit is a request.
//! - Bios of a wb whose cgroup has `io.max` or `io.weight` wait before the queue, up to 1 MiB each, and take no room in it: with `io.max` any
//!   number of them; with `io.weight` the flusher sleeps, and has as much room of its own as the queue.
//!
//! Left out: merging of requests of several files.

use std::collections::VecDeque;

use crate::block::RequestId;
use crate::flow::FlowId;
use crate::policy::kernel::block::wbt::{Wbt, Why};
use crate::policy::kernel::discretisation::{MOST_TURN, QUEUE_TURNS};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::shape::Transfer;
use crate::policy::{FileId, OperationId};
use crate::units::{Bytes, Nanos};

/// `BIO_MAX_VECS` pages: the most that a flusher sends at once which does not wait for room.
const BIO: u64 = 256 * PAGE;

/// The bit of requests of a queue; those of operations have their number.
const OF_QUEUE: u64 = 1 << 63;

/// True if a request is a unit of a queue.
pub fn is_of_queue(id: RequestId) -> bool {
    id.0 & OF_QUEUE != 0
}

/// Pages under writeback that are written as one flow, or as one request.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The wb that its file belongs to.
    pub wb: WbId,
    /// Their file; bytes of a log have none.
    pub file: Option<FileId>,
    pub start: u64,
    pub end: u64,
    /// True if a flusher has submitted it and nobody waits for it.
    pub is_of_flusher: bool,
    /// The operations to be woken when it is written.
    pub waiters: Vec<OperationId>,
    /// The room that it takes in the queue, in bytes.
    room: u64,
    /// The pages of each of its folios.
    folio: u64,
    /// Its request, once it has one, and since when.
    sent: Option<(RequestId, Nanos)>,
    /// True if it passes the scheduler.
    pub is_at_head: bool,
    /// True if the pass over its file ends with it.
    pub ends_pass: bool,
}

impl Unit {
    fn of_log(wb: WbId, bytes: u64, waiter: Option<OperationId>) -> Self {
        let waiters = waiter.into_iter().collect();
        Self {
            wb,
            file: None,
            start: 0,
            end: bytes,
            is_of_flusher: false,
            waiters,
            room: bytes,
            folio: 1,
            sent: None,
            is_at_head: false,
            ends_pass: false,
        }
    }

    /// The bytes of its folio beside its own, if it is a part of one.
    pub fn surplus(&self) -> u64 {
        (self.folio * PAGE).saturating_sub(self.end - self.start)
    }
}

/// A unit whose bytes have moved, and the time at which its requests are complete.
#[derive(Debug)]
struct Completing {
    at: Nanos,
    unit: Unit,
}

/// The queue of a device; see the module.
#[derive(Debug)]
pub struct Queue {
    /// The capacity in bytes (`nr_requests` of `max_sectors_kb`), and the size of a request.
    capacity: u64,
    request: u64,
    /// The most that the disk itself has taken of it; the rest may be passed.
    held: u64,
    /// Write-back throttling, where it is on.
    pub wbt: Option<Wbt>,
    units: VecDeque<Unit>,
    /// Room in use, in bytes.
    bytes: u64,
    /// True if tasks that have found no room sleep on (`rq_qos_wait`).
    has_sleepers: bool,
    /// Units whose bytes have moved, until their requests are complete, where somebody waits for that.
    completing: VecDeque<Completing>,
    /// The flow of the first unit.
    pub transfer: Option<Transfer>,
    /// The start of that flow.
    pub started: Nanos,
    /// The wb whose turn it is to submit.
    pub turn: usize,
    /// True if its disk serves requests, how many units have become such, and how many of those are still there: the first ones.
    pub is_by_requests: bool,
    requests: u64,
    sent: usize,
    /// The wbs whose bios wait before it.
    apart: Vec<Apart>,
    /// Files over which a pass has ended after its last unit was sent; kept where somebody asks.
    ended_passes: Option<Vec<FileId>>,
    /// True if a unit takes the room of a page for each folio.
    pub counts_folios: bool,
    /// True if units may be written before those in front of them.
    has_no_order: bool,
}

/// A wb whose bios wait before a queue, and the bytes of these if it has a room of its own.
#[derive(Clone, Copy, Debug)]
pub struct Apart {
    pub wb: WbId,
    pub bytes: Option<u64>,
}

impl Queue {
    /// An empty queue for so many requests of so many bytes, all of which the disk takes at once.
    pub fn new((requests, request): (u32, Bytes), wbt: Option<Wbt>) -> Self {
        let capacity = u64::from(requests).saturating_mul(request.0);
        Self {
            capacity,
            request: request.0,
            held: capacity,
            wbt,
            units: VecDeque::new(),
            bytes: 0,
            has_sleepers: false,
            completing: VecDeque::new(),
            transfer: None,
            started: Nanos::ZERO,
            turn: 0,
            is_by_requests: false,
            requests: 0,
            sent: 0,
            apart: Vec::new(),
            ended_passes: None,
            counts_folios: false,
            has_no_order: false,
        }
    }

    /// The same; each unit is a request of a disk that serves requests.
    #[must_use]
    pub fn by_requests(self, is_by_requests: bool) -> Self {
        Self { is_by_requests, ..self }
    }

    /// The same; bios of these wbs take no room in it.
    #[must_use]
    pub fn with_apart(self, apart: Vec<Apart>) -> Self {
        Self { apart, ..self }
    }

    /// The same, of a mount: it notes where passes over files end, and replies come in any order.
    #[must_use]
    pub fn of_mount(self) -> Self {
        Self { ended_passes: Some(Vec::new()), has_no_order: true, ..self }
    }

    /// The same; it may have so many folios instead of so many pages.
    #[must_use]
    pub fn counting_folios(self, counts_folios: bool) -> Self {
        Self { counts_folios, ..self }
    }

    /// A pass over the pages of a file has ended.
    pub fn end_pass(&mut self, file: FileId) {
        let Some(ended) = &mut self.ended_passes else { return };
        let last = self.units.iter_mut().rev().find(|unit| unit.file == Some(file));
        match last.filter(|unit| unit.sent.is_none()) {
            Some(unit) => unit.ends_pass = true,
            None => ended.push(file),
        }
    }

    /// Takes the files over which a pass has ended after its last unit was sent.
    pub fn take_ended_passes(&mut self) -> Vec<FileId> {
        self.ended_passes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Makes a request of the first unit that is none yet. Returns it with its number.
    pub fn send(&mut self, now: Nanos) -> Option<(RequestId, &Unit)> {
        let unit = self.units.get_mut(self.sent)?;
        let id = RequestId(OF_QUEUE | self.requests);
        self.requests += 1;
        self.sent += 1;
        unit.sent = Some((id, now));
        Some((id, unit))
    }

    /// A unit that has been sent.
    pub fn sent(&self, id: RequestId) -> &Unit {
        let at = self.units.partition_point(|unit| unit.sent.is_some_and(|(sent, _)| sent < id));
        &self.units[at]
    }

    /// Takes out the unit whose request is complete, and since when it was one.
    pub fn take_sent(&mut self, id: RequestId) -> (Unit, Nanos) {
        let at = self.units.partition_point(|unit| unit.sent.is_some_and(|(sent, _)| sent < id));
        let mut unit = self.units.remove(at).expect("it was sent");
        self.sent -= 1;
        self.bytes -= unit.room;
        let (is_of_pages, bytes) = (unit.file.is_some(), unit.end - unit.start);
        // A short bio is written before those in front of it, of which parts are sent in turn.
        let mut is_before = self.has_no_order;
        if let Some(apart) = self.apart.iter_mut().find(|apart| is_of_pages && apart.wb == unit.wb) {
            apart.bytes.iter_mut().for_each(|own| *own -= bytes);
            is_before = true;
        }
        if is_before && !unit.waiters.is_empty() {
            let mut before = self.units.range_mut(..at).rev();
            if let Some(before) = before.find(|before| before.file == unit.file) {
                before.waiters.append(&mut unit.waiters);
            }
        }
        self.wake();
        let since = unit.sent.map_or(Nanos::ZERO, |(_, since)| since);
        (unit, since)
    }

    /// True if the device writes something.
    pub fn is_writing(&self) -> bool {
        self.transfer.is_some() || self.is_by_requests && !self.units.is_empty()
    }

    /// The same; the disk takes so many of its requests, and the others wait before it.
    #[must_use]
    pub fn holding(self, requests: u32) -> Self {
        Self { held: u64::from(requests).saturating_mul(self.request), ..self }
    }

    /// Returns how full the queue may be for a task to submit more. Write-back throttling holds no task back that gives no reason.
    pub fn limit(&self, why: Option<Why>) -> u64 {
        let throttled = self.wbt.as_ref().zip(why).map(|(wbt, why)| wbt.limit(why));
        throttled.map_or(self.capacity, |limit| limit.min(self.capacity))
    }

    /// True if a task may submit more to a wb whose share of the queue is limited, or whose bios wait before it.
    pub fn has_room_for(&self, wb: WbId, why: Option<Why>) -> bool {
        match self.apart_of(wb) {
            Some(apart) => apart.bytes.is_none_or(|bytes| bytes < self.capacity),
            None => self.has_room(why),
        }
    }

    /// Returns the room of a wb whose bios wait before the queue.
    pub fn apart_of(&self, wb: WbId) -> Option<&Apart> {
        self.apart.iter().find(|apart| apart.wb == wb)
    }

    /// True if a task may submit more whose share of the queue is limited.
    pub fn has_room(&self, why: Option<Why>) -> bool {
        let sleeps = why.is_some() && self.has_sleepers && self.wbt.is_some();
        self.bytes < self.limit(why) && !sleeps
    }

    /// Lets a task sleep that has found no room; others sleep behind it until the queue has run down (`rq_qos_wait`).
    pub fn sleep(&mut self) {
        self.has_sleepers = self.wbt.is_some();
    }

    /// Wakes all tasks that sleep.
    pub fn wake_all(&mut self) {
        self.has_sleepers = false;
    }

    /// Wakes tasks that sleep when the queue has run down far enough.
    fn wake(&mut self) {
        self.has_sleepers &= self.wbt.as_ref().is_some_and(|wbt| self.bytes > wbt.wakes_at());
    }

    /// Returns how many bytes are in flight where a flusher that is alone has submitted more than fits. It has filled the queue and let it
    /// run down in turn.
    pub fn level(&self, why: Why) -> u64 {
        let limit = self.limit(Some(why));
        let swing = self.wbt.as_ref().map_or(0, |wbt| limit.saturating_sub(wbt.wakes_at()));
        let is_alone = self.bytes > limit;
        limit - self.applied().checked_rem(swing).filter(|_| is_alone).unwrap_or(0)
    }

    /// Returns how many requests wait behind the unit that the device writes. A flusher that is alone has submitted more than fits.
    pub fn waiting(&self) -> u64 {
        if self.is_by_requests {
            // They are counted with the others of the disk.
            return 0;
        }
        let first = self.front().filter(|_| self.transfer.is_some()).map_or(0, |unit| unit.room);
        (self.bytes - first).min(self.capacity).div_ceil(self.request.max(1))
    }

    /// Returns how many bytes each task submits to a wb in turn while several do.
    pub fn turn_bytes_for(&self, wb: WbId) -> u64 {
        if self.apart_of(wb).is_some() { BIO.max(self.request) } else { self.turn_bytes() }
    }

    /// Returns how many bytes each task submits in turn while several do.
    pub fn turn_bytes(&self) -> u64 {
        if self.is_by_requests {
            return self.request;
        }
        (self.capacity / QUEUE_TURNS).clamp(self.request, MOST_TURN.max(self.request))
    }

    /// Adds submitted bytes of a file, from a flusher or from a task that waits. `folio` has the pages of each folio there.
    pub fn push(
        &mut self,
        wb: WbId,
        file: FileId,
        (start, end): (u64, u64),
        folio: u64,
        is_of_flusher: bool,
    ) {
        let apart = self.apart.iter_mut().find(|apart| apart.wb == wb);
        let room = match apart {
            Some(_) => 0,
            None if self.counts_folios => (end - start).div_ceil(folio),
            None => end - start,
        };
        self.bytes += room;
        apart.and_then(|apart| apart.bytes.as_mut()).into_iter().for_each(|own| *own += end - start);
        self.units.push_back(Unit {
            wb,
            file: Some(file),
            start,
            end,
            is_of_flusher,
            waiters: Vec::new(),
            room,
            folio,
            sent: None,
            is_at_head: false,
            ends_pass: false,
        });
    }

    /// Adds bytes of a log, for which an operation may wait.
    pub fn push_log(&mut self, wb: WbId, bytes: u64, waiter: Option<OperationId>) {
        self.bytes += bytes;
        self.units.push_back(Unit::of_log(wb, bytes, waiter));
    }

    /// Adds bytes of a log that are written behind a flush. They wait only for what the disk has taken.
    ///
    /// `block/blk-mq.c: blk_mq_insert_request` puts flushes at the head of the list of those to be sent next, and `block/blk-flush.c:
    /// blk_flush_queue_rq` their data.
    pub fn push_behind_flush(&mut self, wb: WbId, bytes: u64, waiter: OperationId) {
        if self.is_by_requests {
            self.bytes += bytes;
            self.units.push_back(Unit { is_at_head: true, ..Unit::of_log(wb, bytes, Some(waiter)) });
            return;
        }
        let taken = self.units.iter().scan(0, |before, unit| {
            let is_taken = *before == 0 || *before < self.held;
            *before += unit.room;
            is_taken.then_some(())
        });
        let at = taken.count();
        self.bytes += bytes;
        self.units.insert(at, Unit::of_log(wb, bytes, Some(waiter)));
    }

    /// True if the device has written everything that was submitted.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The first unit in line.
    pub fn front(&self) -> Option<&Unit> {
        self.units.front()
    }

    /// Takes out the first unit, whose bytes have moved, and whose requests will be complete at an instant. Returns it if nobody waits for
    /// that.
    pub fn pop(&mut self, complete: Nanos) -> Option<Unit> {
        let unit = self.units.pop_front().expect("the device writes what waits for it");
        self.bytes -= unit.room;
        self.wake();
        if unit.waiters.is_empty() {
            return Some(unit);
        }
        self.completing.push_back(Completing { at: complete, unit });
        None
    }

    /// Returns the next unit that somebody waits for and whose requests are complete by now, if there is one.
    pub fn take_completed(&mut self, now: Nanos) -> Option<Unit> {
        self.next_completion().filter(|at| *at <= now)?;
        self.completing.pop_front().map(|next| next.unit)
    }

    /// The time at which the next requests that somebody waits for are complete.
    pub fn next_completion(&self) -> Option<Nanos> {
        self.completing.front().map(|next| next.at)
    }

    /// Returns the rate at which the device writes pages of a wb now, in bytes per second; nothing if it does not.
    pub fn rate_for(&self, wb: WbId) -> Option<f64> {
        self.page_rate(|unit| unit.wb == wb)
    }

    /// Returns the rate at which the device writes pages now.
    pub fn rate(&self) -> Option<f64> {
        self.page_rate(|_| true)
    }

    fn page_rate(&self, is_wanted: impl Fn(&Unit) -> bool) -> Option<f64> {
        let is_of_pages = self.front().is_some_and(|unit| unit.file.is_some() && is_wanted(unit));
        self.transfer.as_ref().filter(|_| is_of_pages).map(|transfer| transfer.rate)
    }

    /// Returns the bytes of pages of a wb that are in the queue.
    ///
    /// # Panics
    /// If the room in use is not the sum over the units.
    pub fn bytes_of(&self, wb: WbId) -> u64 {
        assert_eq!(self.bytes, self.units.iter().map(|unit| unit.room).sum::<u64>(), "room taken in a queue");
        let of_wb = |unit: &&Unit| unit.wb == wb && unit.file.is_some();
        let bytes: u64 = self.units.iter().filter(of_wb).map(|unit| unit.end - unit.start).sum();
        bytes - self.front().filter(of_wb).map_or(0, |_| self.applied())
    }

    /// Returns the bytes of the first unit that have been written.
    fn applied(&self) -> u64 {
        self.transfer.as_ref().map_or(0, Transfer::applied)
    }

    /// Frees the room of the written part of the first unit.
    pub fn free_written(&mut self) {
        let applied = self.applied();
        if let Some(front) = self.units.front_mut() {
            let room = front.end - front.start - applied;
            self.bytes -= front.room - room;
            front.room = room;
            self.wake();
        }
    }

    /// Returns the part of the last unit beyond `limit` bytes of the queue, in whole pages. The kernel's flusher would have waited for
    /// room instead of submitting it. Nothing if a task waits for the unit already.
    pub fn excess(&self, limit: u64) -> Option<(WbId, FileId, (u64, u64))> {
        let last = self.units.back().filter(|unit| unit.is_of_flusher && unit.waiters.is_empty())?;
        let excess = self.bytes.saturating_sub(limit).min(last.room);
        let from = (last.end - excess).next_multiple_of(PAGE);
        let is_first = self.units.len() == 1 && self.transfer.is_some();
        let least = if is_first { last.start + self.applied() + 1 } else { last.start };
        let from = from.max(least.next_multiple_of(PAGE));
        let file = last.file.expect("flushers submit pages");
        (from < last.end).then_some((last.wb, file, (from, last.end)))
    }

    /// Removes the last unit from byte `from` on.
    pub fn take_back(&mut self, from: u64) {
        let last = self.units.back_mut().expect("what is taken back was submitted");
        let taken = last.end - from.max(last.start);
        self.bytes -= taken;
        last.room -= taken;
        last.end -= taken;
        if last.start == last.end {
            self.units.pop_back();
        }
    }

    /// Cuts units into turns, so that room is freed turn by turn. Returns the flow of the first unit and its new length, if it is cut.
    pub fn cut_into_turns(&mut self) -> Option<(FlowId, u64)> {
        let turn = self.turn_bytes().next_multiple_of(PAGE);
        let mut cut = VecDeque::with_capacity(self.units.len());
        let applied = self.applied();
        for (at, mut unit) in std::mem::take(&mut self.units).into_iter().enumerate() {
            let done = if at == 0 { applied } else { 0 };
            let mut end = (unit.start + done + turn).next_multiple_of(PAGE);
            while end < unit.end {
                let rest = Unit { start: end, room: unit.end - end, ..unit.clone() };
                let first = Unit { end, room: unit.room - rest.room, waiters: Vec::new(), ..unit };
                cut.push_back(first);
                unit = rest;
                end += turn;
            }
            cut.push_back(unit);
        }
        self.units = cut;
        let bytes = self.units.front().map(|front| front.end - front.start)?;
        let transfer = self.transfer.as_mut().filter(|transfer| transfer.bytes > bytes)?;
        transfer.bytes = bytes;
        Some((transfer.flow, bytes))
    }

    /// Lets a task wait until everything in the queue has been written; false if it is empty.
    pub fn wait_behind(&mut self, waiter: OperationId) -> bool {
        let last = self.units.back_mut().or(self.completing.back_mut().map(|last| &mut last.unit));
        last.map(|unit| unit.waiters.push(waiter)).is_some()
    }

    /// Lets a task wait until no page of a file is under writeback; false if there is none.
    pub fn wait_for(&mut self, file: FileId, waiter: OperationId) -> bool {
        self.wait_within(file, (0, u64::MAX), waiter)
    }

    /// Lets a task wait until no page of a range of a file is under writeback; false if there is none.
    pub fn wait_within(&mut self, file: FileId, (start, end): (u64, u64), waiter: OperationId) -> bool {
        let overlaps = |unit: &&mut Unit| unit.file == Some(file) && unit.start < end && start < unit.end;
        let completing = self.completing.iter_mut().map(|each| &mut each.unit);
        let last = completing.chain(&mut self.units).rev().find(overlaps);
        last.map(|unit| unit.waiters.push(waiter)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::tests::transfer;

    const ROOT: WbId = WbId(0);
    const FILE: FileId = FileId(0);
    const OTHER: FileId = FileId(1);

    /// Of so many pages, a page a request; flushers have submitted these.
    fn queue(pages: u32, submitted: &[(FileId, u64, u64)]) -> Queue {
        let mut queue = Queue::new((pages, Bytes(PAGE)), None);
        for &(file, start, end) in submitted {
            queue.push(ROOT, file, (start * PAGE, end * PAGE), 1, true);
        }
        queue
    }

    /// The first unit is on its way, and so many pages of it have been written.
    fn write(queue: &mut Queue, pages: u64) {
        let front = queue.front().expect("something was submitted");
        let mut flow = transfer((pages * PAGE) as f64);
        flow.bytes = front.end - front.start;
        flow.take(crate::units::Nanos(1_000_000_000));
        queue.transfer = Some(flow);
    }

    /// Ends the first unit, and returns the tasks that waited for it.
    fn pop(queue: &mut Queue) -> Vec<OperationId> {
        let _ = queue.pop(Nanos::ZERO);
        queue.take_completed(Nanos::ZERO).map(|unit| unit.waiters).unwrap_or_default()
    }

    /// The files and pages of all units.
    fn units(queue: &Queue) -> Vec<(u32, u64, u64)> {
        queue
            .units
            .iter()
            .map(|unit| (unit.file.expect("they are pages").0, unit.start / PAGE, unit.end / PAGE))
            .collect()
    }

    #[test]
    fn a_wait_for_a_part_of_a_file_ends_with_its_last_unit() {
        let mut queue = queue(u32::MAX, &[(FILE, 0, 10), (FILE, 10, 20), (OTHER, 0, 20), (FILE, 30, 40)]);
        let mut wait = |from: u64, to: u64, waiter| queue.wait_within(FILE, (from * PAGE, to * PAGE), waiter);
        assert!(wait(5, 15, OperationId(1)) && !wait(20, 30, OperationId(3)));
        assert!(queue.wait_for(FILE, OperationId(2)) && queue.wait_behind(OperationId(4)));
        let waiters: Vec<Vec<OperationId>> = (0..4).map(|_| pop(&mut queue)).collect();
        assert_eq!(waiters, [vec![], vec![OperationId(1)], vec![], vec![OperationId(2), OperationId(4)]]);
        assert!(!queue.wait_behind(OperationId(5)), "it is empty");
    }

    #[test]
    fn it_is_full_when_it_has_its_capacity_until_the_first_in_line_is_written() {
        let mut queue = queue(20, &[(FILE, 0, 19)]);
        assert!(queue.has_room(None), "a request may go a little beyond");
        queue.push(ROOT, FILE, (19 * PAGE, 30 * PAGE), 1, true);
        assert_eq!((queue.has_room(None), queue.bytes_of(ROOT)), (false, 30 * PAGE));
        write(&mut queue, 12);
        assert_eq!((queue.has_room(None), queue.bytes_of(ROOT)), (false, 18 * PAGE));
        queue.free_written();
        assert!(queue.has_room(None), "who comes now finds room for what is written");
        queue.transfer = None;
        pop(&mut queue);
        assert_eq!((queue.has_room(None), queue.bytes_of(ROOT)), (true, 11 * PAGE));
    }

    #[test]
    fn submissions_beyond_the_queue_can_be_taken_back() {
        let mut queue = queue(20, &[(FILE, 0, 100), (OTHER, 0, 10)]);
        write(&mut queue, 40);
        queue.free_written();
        let mut taken = Vec::new();
        while let Some((_, file, (from, to))) = queue.excess(20 * PAGE) {
            queue.take_back(from);
            taken.push((file.0, from / PAGE, to / PAGE));
        }
        assert_eq!(taken, [(1, 0, 10), (0, 60, 100)], "20 pages are left beyond the 40 that are written");
        assert_eq!((units(&queue), queue.bytes_of(ROOT)), (vec![(0, 0, 60)], 20 * PAGE));
    }

    #[test]
    fn nothing_that_a_task_waits_for_is_taken_back() {
        let mut queue = queue(20, &[(FILE, 0, 100)]);
        queue.push(ROOT, OTHER, (0, 10 * PAGE), 1, false);
        assert_eq!(queue.excess(20 * PAGE), None, "fsync has submitted the last");
        pop(&mut queue);
        pop(&mut queue);
        queue.push(ROOT, FILE, (0, 100 * PAGE), 1, true);
        assert!(queue.excess(20 * PAGE).is_some());
        queue.wait_for(FILE, OperationId(1));
        assert_eq!(queue.excess(20 * PAGE), None);
    }

    /// Bios of a cgroup with `io.max` are sent in turn, part by part, so that a short one is written before those in front of it.
    #[test]
    fn who_waits_for_bios_before_the_queue_waits_for_all_of_a_file() {
        let apart = |bytes| {
            let mut queue = queue(20, &[]).by_requests(true).with_apart(vec![Apart { wb: ROOT, bytes }]);
            for (file, start, end) in [(FILE, 0, 10), (OTHER, 0, 5), (FILE, 10, 12)] {
                queue.push(ROOT, file, (start * PAGE, end * PAGE), 1, true);
            }
            queue
        };
        let mut endless = apart(None);
        assert!(endless.wait_for(FILE, OperationId(1)) && endless.has_room_for(ROOT, None));
        let ids: Vec<RequestId> = (0..3).filter_map(|_| Some(endless.send(Nanos::ZERO)?.0)).collect();
        let mut ended = |at: usize| endless.take_sent(ids[at]).0.waiters;
        assert_eq!([ended(2), ended(1), ended(0)], [vec![], vec![], vec![OperationId(1)]]);
        // 17 pages of a room of 20, and then 21.
        let mut own = apart(Some(0));
        assert!(own.has_room_for(ROOT, None) && own.has_room_for(WbId(1), None), "the queue is empty");
        own.push(ROOT, OTHER, (5 * PAGE, 9 * PAGE), 1, true);
        assert!(!own.has_room_for(ROOT, None) && own.has_room_for(WbId(1), None));
        let (first, _) = own.send(Nanos::ZERO).expect("it has four");
        let _ = own.take_sent(first);
        assert!(own.has_room_for(ROOT, None));
    }

    /// `block/blk-flush.c`: of five requests the first is under way, and the disk has taken so many.
    #[test]
    fn a_write_behind_a_flush_passes_what_the_disk_has_not_taken() {
        let place = |held: u32| {
            let mut queue = queue(64, &[]).holding(held);
            (0..5).for_each(|at| queue.push(ROOT, FILE, (at * PAGE, (at + 1) * PAGE), 1, true));
            queue.push_behind_flush(ROOT, PAGE, OperationId(1));
            assert_eq!(queue.bytes, 6 * PAGE);
            queue.units.iter().position(|unit| unit.file.is_none())
        };
        assert_eq!([0, 1, 3, 64].map(place), [Some(1), Some(1), Some(3), Some(5)]);
        let mut empty = queue(64, &[]).holding(0);
        empty.push_behind_flush(ROOT, PAGE, OperationId(1));
        assert_eq!(pop(&mut empty), [OperationId(1)]);
    }

    /// Two pages of 64 are a turn.
    #[test]
    fn turns_are_a_part_of_the_queue_and_begin_where_the_device_is() {
        let mut queue = queue(64, &[(FILE, 0, 8)]);
        queue.wait_for(FILE, OperationId(1));
        write(&mut queue, 3);
        queue.free_written();
        let (_, bytes) = queue.cut_into_turns().expect("the flow is shorter");
        assert_eq!((bytes, units(&queue)), (5 * PAGE, vec![(0, 0, 5), (0, 5, 7), (0, 7, 8)]));
        assert_eq!(queue.bytes_of(ROOT), 5 * PAGE);
        assert!(queue.cut_into_turns().is_none(), "it is cut already");
        queue.transfer = None;
        let waiters: Vec<usize> = (0..3).map(|_| pop(&mut queue).len()).collect();
        assert_eq!((waiters, queue.bytes_of(ROOT)), (vec![0, 0, 1], 0), "who waits is told with the last");
    }

    #[test]
    fn a_turn_is_a_request_at_least() {
        let turn = |requests, kib: u64| Queue::new((requests, Bytes(kib << 10)), None).turn_bytes() >> 10;
        assert_eq!(
            [turn(1, 1280), turn(64, 1280), turn(1000, 1280), turn(64, 8192)],
            [1280, 2560, 4096, 8192]
        );
    }
}
