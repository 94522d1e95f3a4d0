//! Submits pages from the flushers to the queue of a device, in turn, and starts its next unit.
//!
//! Source: `mm/page-writeback.c: do_writepages`, `block/blk-rq-qos.c: rq_qos_wait`, Linux 6.16. The queue itself is in `block::queue`.

use crate::flow::FlowSpec;
use crate::policy::kernel::block::Block;
use crate::policy::kernel::fs_writeback::Flushers;
use crate::policy::kernel::fs_writeback::flusher::{Circumstances, Flusher, Submitted, Work};
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::shape::Transfer;
use crate::policy::{Actions, DeviceId, OperationId};
use crate::result::Part;
use crate::run_queue::RunQueue;
use crate::units::Nanos;

/// The lower half of the tag of a write-back flow, which no operation has; the wb is in the upper half.
const NOBODY: u64 = OperationId::NOBODY.0 as u64;

/// Returns the device that a flow of write-back writes to, if it is one.
pub fn device_of_tag(tag: u64) -> Option<usize> {
    (tag & NOBODY == NOBODY).then_some((tag >> 32) as usize)
}

fn tag(device: usize) -> u64 {
    (device as u64) << 32 | NOBODY
}

impl Flushers {
    /// Brings a device's queue up to date before a task submits to it or waits for it. The flushers have filled it and let it run down
    /// in turn until now. Their submissions beyond its end are taken back.
    pub fn make_way(
        &mut self,
        pages: &mut Pages,
        write_back: &mut WriteBack,
        block: &mut Block,
        now: Nanos,
        device: DeviceId,
        out: &mut Actions,
    ) {
        self.make_way_behind(pages, write_back, block, now, (device, false), out);
    }

    /// The same; for a task that waits until the flusher has left its file, the flusher fills the queue once more.
    pub fn make_way_behind(
        &mut self,
        pages: &mut Pages,
        write_back: &mut WriteBack,
        block: &mut Block,
        now: Nanos,
        (device, is_filled): (DeviceId, bool),
        out: &mut Actions,
    ) {
        let at = device.0 as usize;
        // Of requests no more are submitted than have room.
        if block.queues[at].is_by_requests {
            return;
        }
        let writing: Vec<usize> = write_back.wbs_at(at).filter(|&wb| pages.is_writing(wb)).collect();
        let why = writing.iter().find_map(|&wb| Some(self.get(wb)?.why_of_work()));
        let Some(why) = why else { return };
        if block.queues[at].has_room(Some(why)) {
            return;
        }
        let queue = &block.queues[at];
        let level = if is_filled { queue.limit(Some(why)) } else { queue.level(why) };
        block.queues[at].free_written();
        self.take_excess_back(pages, block, at, level);
        if is_filled {
            block.queues[at].wake_all();
        }
        for wb in writing {
            self.call_flusher(pages, write_back, block, now, (wb, true), Flusher::fill);
        }
        if let Some((flow, bytes)) = block.queues[at].cut_into_turns() {
            out.shorten(flow, bytes);
        }
    }

    /// Makes pages dirty again that flushers have submitted beyond a level of the queue of a device.
    fn take_excess_back(&mut self, pages: &mut Pages, block: &mut Block, device: usize, level: u64) {
        let queue = &mut block.queues[device];
        while let Some((wb, file, (from, to))) = queue.excess(level) {
            if pages.dirty().are_leaving(file, from, to) {
                break;
            }
            queue.take_back(from);
            pages.dirty_mut().take_back(file, from, to);
            self.of(wb).take_back(file, to - from, pages.dirty());
        }
    }

    /// True if a flusher is about to look for dirty pages: its timer fires, or it goes on to another inode.
    pub fn is_about_to_look(&self, pages: &Pages, block: &Block, now: Nanos, at: usize) -> bool {
        let wb = WbId(at as u32);
        let queue = block.queue_of_wb(wb);
        self.get(at)
            .is_some_and(|flusher| flusher.rings(now) || flusher.is_at_a_turn(pages.dirty(), queue, wb))
    }

    /// Wakes a flusher whose timer fires.
    pub fn ring(&mut self, now: Nanos, at: usize) {
        let interval = self.config.host.vm.dirty_writeback;
        if let Some(flusher) = self.get_mut(at).filter(|flusher| flusher.rings(now)) {
            flusher.wake(Work::Background, now, interval);
        }
    }

    /// Lets all submit to a device that have room, in turn. Returns the tasks whose pages are written already.
    pub fn submit_in_turn(
        &mut self,
        pages: &mut Pages,
        write_back: &mut WriteBack,
        block: &mut Block,
        now: Nanos,
        device: usize,
    ) -> Vec<OperationId> {
        let wbs = write_back.wbs_at(device).len();
        let (mut ready, mut idle) = (Vec::new(), 0);
        let turns = if wbs > 1 { 1 } else { usize::MAX };
        let is_contended = block.queues[device].is_by_requests || self.is_contended(write_back, device);
        while idle < wbs {
            let queue = &mut block.queues[device];
            let at = device + queue.turn % wbs * self.config.devices();
            let submit =
                |flusher: &mut Flusher, by: &mut Circumstances<'_>| flusher.submit(by, turns, &mut ready);
            match self.call_flusher(pages, write_back, block, now, (at, is_contended), submit) {
                Some(Submitted::Turns) => idle = 0,
                Some(Submitted::Nothing) | None => idle += 1,
                // The others wait behind him.
                Some(Submitted::UntilFull) => break,
            }
            block.queues[device].turn = (block.queues[device].turn + 1) % wbs;
        }
        let queue = &mut block.queues[device];
        let is_writing = queue.front().is_some();
        if let Some(wbt) = &mut queue.wbt {
            wbt.submitted(now, is_writing);
        }
        ready
    }

    /// True if anybody submits to a device, or waits for it.
    pub fn is_submitted_to(&self, write_back: &WriteBack, block: &Block, device: usize) -> bool {
        let mut flushers = write_back.wbs_at(device).filter_map(|at| self.get(at));
        !block.queues[device].is_empty() || flushers.any(|flusher| flusher.submitters() > 0)
    }

    /// True if several submit to a device.
    pub fn is_contended(&self, write_back: &WriteBack, device: usize) -> bool {
        let flushers = write_back.wbs_at(device).filter_map(|at| self.get(at));
        flushers.map(Flusher::submitters).sum::<usize>() > 1
    }

    /// Calls the flusher of a wb with the state that it needs.
    fn call_flusher<R>(
        &mut self,
        pages: &mut Pages,
        write_back: &mut WriteBack,
        block: &mut Block,
        now: Nanos,
        (at, is_contended): (usize, bool),
        call: impl FnOnce(&mut Flusher, &mut Circumstances<'_>) -> R,
    ) -> Option<R> {
        let id = WbId(at as u32);
        let (timers, device) = (self.config.timers(), self.config.device_of(id).0 as usize);
        let over_background = write_back.wb_over_bg_thresh(pages, at);
        let dirty_limit = write_back.dirty_limit();
        let wb = write_back.wbs[at].as_mut()?;
        let config = &self.config;
        let flusher = self.each.get_mut(at)?.as_mut()?;
        let (dirty, folios) = pages.for_submission();
        let mut by = Circumstances {
            now,
            dirty,
            folios,
            queue: &mut block.queues[device],
            wb: id,
            is_contended,
            over_background: &over_background,
            average_bandwidth: wb.bandwidth.average,
            dirty_limit,
            expire: config.host.vm.dirty_expire,
            interval: config.host.vm.dirty_writeback,
            timers,
            requeue_has_cutoff: config.rules.requeue_has_cutoff,
            chunk_follows_bandwidth: config.rules.chunk_follows_bandwidth,
        };
        let had_nothing = by.dirty.of_wb(id).writeback == 0;
        let result = call(flusher, &mut by);
        if had_nothing && by.dirty.of_wb(id).writeback > 0 && wb.has_rested(now) {
            wb.begin_anew(now, by.dirty.of_wb(id));
        }
        Some(result)
    }

    /// Measures the bandwidth of a wb where that is due. Returns whether its flusher works in the background, if that has changed.
    pub fn look_after_submission(
        &mut self,
        pages: &Pages,
        write_back: &mut WriteBack,
        now: Nanos,
        at: usize,
    ) -> Option<bool> {
        let id = WbId(at as u32);
        let over_background = write_back.wb_over_bg_thresh(pages, at);
        let wb = write_back.wbs[at].as_mut()?;
        let flusher = self.get_mut(at)?;
        let is_measured = wb.measure_at.is_some_and(|due| due <= now);
        let has_submitted = std::mem::take(&mut flusher.has_ended_a_visit) && wb.next_update() <= now;
        if is_measured || has_submitted {
            wb.measure(now, pages.dirty().of_wb(id));
            wb.measure_at = wb.measure_at.filter(|_| !is_measured);
        }
        let is_in_background = flusher.has_work() && over_background(pages.dirty());
        (wb.in_background != is_in_background).then_some(is_in_background)
    }

    /// Starts the first unit in the device's queue, unless one is under way, or all of them if they are requests.
    pub fn start_units(
        &self,
        write_back: &WriteBack,
        block: &mut Block,
        now: Nanos,
        device: usize,
        (processors, out): (&mut RunQueue, &mut Actions),
    ) {
        let queue = &block.queues[device];
        if queue.is_by_requests {
            return block.send(now, device, processors);
        }
        let Some(unit) = queue.front().filter(|_| queue.transfer.is_none()) else { return };
        let wb = write_back.wbs[unit.wb.0 as usize].as_ref().expect("it has submitted something");
        let bytes = unit.end - unit.start;
        let cap = block.write_rate_of_next(now, device).map(|rate| (rate, Part::DeviceWrite));
        let flow = out.start(FlowSpec { watched: true, cap, ..FlowSpec::new(wb.path, bytes, tag(device)) });
        let queue = &mut block.queues[device];
        (queue.transfer, queue.started) = (Some(Transfer::new(flow, bytes, cap, now)), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::block::queue::Queue;
    use crate::policy::kernel::page::PAGE;
    use crate::policy::kernel::page_writeback::rates::rate_of;
    use crate::policy::kernel::tasks::cost::Run;
    use crate::policy::kernel::tests::{MIB, kernel, on, write};
    use crate::policy::{Command, FileId, FileView};
    use crate::units::Bytes;

    #[test]
    fn that_reclaim_wakes_the_flushers_is_told_once_a_second_and_only_if_one_of_them_was_idle() {
        let mut kernel = kernel("");
        write(&mut kernel, 1, Run::New, 0.0);
        let mut tells = |millis: u64, rests: bool| {
            let mut out = Actions::default();
            if rests {
                *kernel.flushers.of(WbId(0)) = Flusher::new(1);
            }
            let now = Nanos(millis * 1_000_000);
            if kernel.flushers.wakeup_flusher_threads(&kernel.pages, now) {
                kernel.told.flushers_woken(now, 0, &mut out);
            }
            assert!(kernel.flushers.get(0).is_some_and(Flusher::writes_all));
            out.drain().filter(|command| matches!(command, Command::Tell(_))).count()
        };
        assert_eq!(
            [(5000, true), (7000, false), (8000, true)].map(|(at, rests)| tells(at, rests)),
            [1, 0, 1]
        );
        assert_eq!([8999, 9000].map(|at| tells(at, true)), [0, 1]);
    }

    /// `wb_over_bg_thresh`, Linux 6.18: all dirty pages, or the reclaimable ones of a device beyond its part.
    #[test]
    fn a_flusher_goes_on_while_the_host_or_its_device_is_over_the_background_threshold() {
        /// Of 2000 pages each of two devices has completed a half, or all were of the other.
        const HALF: (u64, u64) = (1000, 1000);
        const NOTHING: (u64, u64) = (0, 2000);
        let background = kernel("").write_back.limits().thresholds.background;
        let goes_on = |own: u64, of_others: u64, completed: (u64, u64)| {
            let mut kernel = kernel(OTHER_DISK);
            write(&mut kernel, 1, Run::New, 0.0);
            for (device, pages) in [completed.0, completed.1].into_iter().enumerate() {
                kernel.write_back.fractions.wb_domain_writeout_add(Nanos::ZERO, device, pages);
            }
            kernel.block.queues[0] = queue(0);
            let mut flusher = Flusher::new(1);
            flusher.wake(Work::Background, Nanos::ZERO, Nanos::ZERO);
            *kernel.flushers.of(WbId(0)) = flusher;
            kernel.pages.dirty_mut().run_ahead(WbId(0), own * PAGE);
            kernel.pages.dirty_mut().run_ahead(WbId(1), of_others * PAGE);
            kernel.write_back_device(Nanos::ZERO, 0, &mut Actions::default());
            kernel.write_back.wbs[0].as_ref().is_some_and(|wb| wb.in_background)
        };
        assert_eq!([0, 1].map(|more| goes_on(0, background + more, HALF)), [false, true]);
        let part = background * 1000 / 2001;
        assert_eq!([0, 1].map(|more| goes_on(part + more, 0, HALF)), [false, true]);
        // A device that has completed nothing has an eighth of what is left of the threshold: of 800 or 792 pages.
        assert_eq!([800, 792].map(|left| goes_on(100, background - left - 100, NOTHING)), [false, true]);
    }

    const OTHER_DISK: &str = "kernel.version = '6.18'\n\
        disk.other = { size = '1 TB', read = '100 MB/s', write = '100 MB/s' }";

    /// The queue of a device with so much room.
    fn queue(room: u64) -> Queue {
        Queue::new((1, Bytes(room)), None)
    }

    /// A device that has room for so much, and a file of it of which so much is dirty, which is to be written.
    fn with_dirty_file(room: u64, dirty: u64) -> Kernel {
        let mut kernel = kernel("");
        let file = FileView { id: FileId(5), ..FileView::default() };
        *kernel.flushers.flusher_of(&mut kernel.write_back, &file) = Flusher::new(MIB);
        kernel.block.queues[0] = queue(room);
        kernel.flushers.make_dirty(
            &mut kernel.pages,
            &mut kernel.write_back,
            Nanos::ZERO,
            &file,
            (0, dirty),
            on(0),
        );
        kernel.flushers.flusher_of(&mut kernel.write_back, &file).wake(
            Work::All(u64::MAX),
            Nanos::ZERO,
            Nanos::ZERO,
        );
        kernel
    }

    fn stamp_after(kernel: &mut Kernel, millis: u64) -> u64 {
        kernel.write_back_device(Nanos(millis * 1_000_000), 0, &mut Actions::default());
        kernel.write_back.wbs[0].as_ref().expect("there is one").stamp().0 / 1_000_000
    }

    /// `mm/page-writeback.c: wb_bandwidth_estimate_start` in `do_writepages`.
    #[test]
    fn an_estimate_begins_anew_when_something_is_submitted_after_a_second_in_which_nothing_was_on_its_way() {
        // The visit goes on: only a MiB of its 80 has room.
        assert_eq!(stamp_after(&mut with_dirty_file(MIB, 80 * MIB), 1001), 1001);
        assert_eq!(stamp_after(&mut with_dirty_file(MIB, 80 * MIB), 1000), 0, "not longer than that");
        assert_eq!(stamp_after(&mut with_dirty_file(0, 80 * MIB), 1001), 0, "nothing is submitted");
        let mut busy = with_dirty_file(MIB, 80 * MIB);
        busy.pages.dirty_mut().make_dirty(FileId(6), WbId(0), 0, MIB, Nanos::ZERO);
        busy.pages.dirty_mut().submit(FileId(6), u64::MAX);
        assert_eq!(stamp_after(&mut busy, 1001), 0, "something is on its way");
    }

    /// `mm/page-writeback.c: do_writepages`.
    #[test]
    fn the_end_of_a_visit_measures_the_device_once_in_200_ms() {
        let stamp = |millis| stamp_after(&mut with_dirty_file(8 * MIB, MIB), millis);
        assert_eq!([199, 300].map(stamp), [0, 300]);
        assert_eq!(stamp_after(&mut with_dirty_file(MIB, 80 * MIB), 300), 0, "it goes on");
    }

    #[test]
    fn when_its_timer_rings_a_flusher_finds_all_pages_that_have_become_dirty() {
        let left = |seconds: u64| {
            let mut kernel = kernel("");
            let writer = write(&mut kernel, 1, Run::New, 0.0);
            let file = *kernel.tasks[writer].file();
            kernel.flushers.make_dirty(
                &mut kernel.pages,
                &mut kernel.write_back,
                Nanos::ZERO,
                &file,
                (0, PAGE),
                on(0),
            );
            kernel.flushers.flusher_of(&mut kernel.write_back, &file).timer = Some(Nanos(5_000_000_000));
            let Kernel { tasks, pages, write_back: WriteBack { wbs, .. }, .. } = &mut kernel;
            let task = tasks.get_mut(writer).expect("it is there");
            pages.count(task, MIB, rate_of(wbs, task), Nanos::ZERO);
            kernel.write_back_device(Nanos(seconds * 1_000_000_000), 0, &mut Actions::default());
            kernel.tasks[writer].pending
        };
        assert_eq!([4, 5].map(left), [MIB, 0]);
    }

    /// `mm/page-writeback.c: wb_inode_writeback_end`, Linux 5.16.
    #[test]
    fn a_device_is_measured_200_ms_after_the_last_page_of_an_inode() {
        let mut kernel = kernel("");
        write(&mut kernel, 1, Run::New, 0.0);
        kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").inode_ended(Nanos::ZERO);
        assert_eq!([199, 200, 300].map(|millis| stamp_after(&mut kernel, millis)), [0, 200, 200]);
    }
}
