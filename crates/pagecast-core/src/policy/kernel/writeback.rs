//! Write-back on its way: what a flusher has submitted crosses the device, unit by unit.

use super::flusher::{Circumstances, Work};
use super::tasks::Transfer;
use super::wb::{Wb, WbId};
use super::{Kernel, PAGE};
use crate::flow::FlowSpec;
use crate::policy::kernel::tasks::Kind;
use crate::policy::{Actions, FileView, OperationId};
use crate::result::Part;
use crate::units::{Bytes, Nanos};

/// What the lower half of a tag says of write-back, for which nobody waits; the wb is in the upper half.
const NOBODY: u64 = OperationId::NOBODY.0 as u64;

/// How long nothing is told of the same again.
const QUIET: Nanos = Nanos(1_000_000_000);

/// The wb whose write-back a flow is, if it is one.
pub(super) fn wb_of(tag: u64) -> Option<WbId> {
    (tag & NOBODY == NOBODY).then_some(WbId((tag >> 32) as u32))
}

fn tag(wb: WbId) -> u64 {
    u64::from(wb.0) << 32 | NOBODY
}

impl Kernel {
    /// Whether pages of a file are on their way to its device: who adds pages to it shares the lock of its tree of pages
    /// (`i_pages`) with who submits and who completes them.
    pub(super) fn is_being_written(&self, file: &FileView) -> bool {
        let wb = self.wbs.get(self.wb_of(file).0 as usize).and_then(Option::as_ref);
        let unit = wb.filter(|wb| wb.transfer.is_some()).and_then(|wb| wb.flusher.queue.front());
        unit.is_some_and(|unit| unit.file == file.id)
    }

    /// Pages of the unit on its way have been written.
    pub(super) fn apply_written(&mut self, now: Nanos, at: WbId, from: u64, bytes: u64) {
        let wb = self.wbs[at.0 as usize].as_ref().expect("what writes is there");
        let unit = wb.flusher.queue.front().expect("what is written was in the queue");
        let (file, start) = (unit.file, unit.start + from);
        let before = self.pages.dirty.of_wb(at).written / PAGE;
        if self.pages.written(file, at, start, start + bytes) && self.rules.measures_after_writeback {
            self.wbs[at.0 as usize].as_mut().expect("what writes is there").inode_ended(now);
        }
        let pages = self.pages.dirty.of_wb(at).written / PAGE - before;
        self.written_back.add(now, file, pages * PAGE);
        self.add_completions(now, at.0 as usize, pages);
    }

    /// The unit on its way has been written: who waited for it goes on.
    pub(super) fn unit_written(&mut self, now: Nanos, at: WbId, out: &mut Actions) {
        let wb = self.wbs[at.0 as usize].as_mut().expect("what writes is there");
        let mut transfer = wb.transfer.take().expect("a unit on its way has a transfer");
        let (from, rest) = transfer.take_rest();
        self.apply_written(now, at, from, rest);
        let wb = self.wbs[at.0 as usize].as_mut().expect("what writes is there");
        for waiter in wb.flusher.queue.pop().waiters {
            self.end_wait(now, waiter, out);
        }
    }

    fn end_wait(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        let task = self.tasks.get_mut(operation).expect("who waits is under way");
        if let Kind::Sync { files, .. } = &mut task.kind
            && *files > 1
        {
            *files -= 1;
            return;
        }
        task.outcome.parts.add(Part::DeviceWrite, now - task.since);
        match task.kind {
            Kind::Write => self.next_run(now, operation, out),
            Kind::WriteSync { .. } if task.drops_behind => self.next_step(now, operation, out),
            Kind::WriteSync { .. } => self.written_step(now, operation, out),
            Kind::SyncRange { .. } => self.go_on_with_range(now, operation, out),
            Kind::Sync { then, .. } => self.wait(now, operation, then, out),
            Kind::Direct { .. } => self.next_calls(now, operation, out),
            _ => {
                let task = self.tasks.remove(operation).expect("it is there");
                debug_assert!(matches!(task.kind, Kind::Wait));
                out.done(operation, task.outcome);
            }
        }
    }

    /// Lets the flusher of a device submit what it should, and the device write what waits for it.
    pub(super) fn write_back(&mut self, now: Nanos, at: usize, out: &mut Actions) {
        let id = WbId(at as u32);
        self.look_at_wbt(now, at);
        let wb = self.wbs[at].as_ref();
        let rings = |wb: &Wb| wb.flusher.timer.is_some_and(|timer| timer <= now);
        if wb.is_some_and(|wb| rings(wb) || wb.flusher.is_at_a_turn(&self.pages.dirty)) {
            self.settle_visited(now, at);
        }
        let (share, fraction, timers) = (self.shares[at], self.fractions.fraction(at), self.timers());
        let memcg = self.memcg_background(at);
        let Some(wb) = self.wbs[at].as_mut() else { return };
        let background = self.limits.thresholds.background;
        let over_background = move |dirty: &super::DirtyPages| {
            let (all, reclaimable) = (dirty.dirty() / PAGE, dirty.of_wb(id).reclaimable / PAGE);
            let is_over = all > background || reclaimable > share.part(fraction, background, all);
            is_over || memcg.as_ref().is_some_and(|memcg| memcg.is_over(dirty, &share, reclaimable))
        };
        let mut by = Circumstances {
            now,
            dirty: &mut self.pages.dirty,
            over_background: &over_background,
            average_bandwidth: wb.bandwidth.average,
            dirty_limit: self.hard_limit.follower(),
            expire: self.host.vm.dirty_expire,
            interval: self.host.vm.dirty_writeback,
            timers,
            requeue_has_cutoff: self.rules.requeue_has_cutoff,
        };
        if wb.flusher.timer.is_some_and(|timer| timer <= now) {
            wb.flusher.wake(Work::Background, now, self.host.vm.dirty_writeback);
        }
        let had_nothing = by.dirty.of_wb(id).writeback == 0;
        let ready = wb.flusher.submit(&mut by);
        if had_nothing && by.dirty.of_wb(id).writeback > 0 && wb.has_rested(now) {
            wb.begin_anew(now, by.dirty.of_wb(id));
        }
        let is_measured = wb.measure_at.is_some_and(|due| due <= now);
        let has_submitted = std::mem::take(&mut wb.flusher.has_ended_a_visit) && wb.next_update() <= now;
        if is_measured || has_submitted {
            wb.measure(now, self.pages.dirty.of_wb(id));
            wb.measure_at = wb.measure_at.filter(|_| !is_measured);
        }
        let is_in_background = wb.flusher.has_work() && over_background(&self.pages.dirty);
        if wb.in_background != is_in_background {
            self.note_background(now, id, is_in_background);
        }
        self.start_unit(now, id, out);
        for waiter in ready {
            self.end_wait(now, waiter, out);
        }
    }

    /// The device writes the first of what waits for it, unless it writes already.
    fn start_unit(&mut self, now: Nanos, at: WbId, out: &mut Actions) {
        let wb = self.wbs[at.0 as usize].as_mut().expect("it has submitted something");
        let Some(unit) = wb.flusher.queue.front().filter(|_| wb.transfer.is_none()) else { return };
        let bytes = unit.end - unit.start;
        let flow = out.start(FlowSpec { watched: true, ..FlowSpec::new(wb.path, bytes, tag(at)) });
        wb.transfer = Some(Transfer::new(flow, bytes, None, now));
    }

    /// Reclaim has found nothing but dirty pages: all flushers write all there is.
    pub(super) fn wake_all_flushers(&mut self, now: Nanos, out: &mut Actions) {
        let dirty = self.pages.dirty.dirty();
        let idle: Vec<&mut Wb> =
            self.wbs.iter_mut().flatten().filter(|wb| !wb.flusher.writes_all()).collect();
        // While memory is full this happens with every unit that is written; once a second tells enough.
        if !idle.is_empty() && self.told + QUIET <= now {
            self.told = now;
            out.tell("flushers_woken_by_reclaim", None, Bytes(dirty));
        }
        for wb in idle {
            wb.flusher.start_all(dirty, now, self.host.vm.dirty_writeback, self.rules.start_all_waits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cost::Run;
    use super::super::flusher::Flusher;
    use super::super::running::count;
    use super::super::tests::{MIB, kernel, on, write};
    use super::super::throttling::rate_of;
    use super::*;
    use crate::policy::{Command, FileId};

    #[test]
    fn that_reclaim_wakes_the_flushers_is_told_once_a_second_and_only_if_one_of_them_was_idle() {
        let mut kernel = kernel("");
        write(&mut kernel, 1, Run::New, 0.0);
        let mut tells = |millis: u64, rests: bool| {
            let mut out = Actions::default();
            if rests {
                kernel.wbs[0].as_mut().expect("somebody writes to it").flusher = Flusher::new(1, 1);
            }
            kernel.wake_all_flushers(Nanos(millis * 1_000_000), &mut out);
            assert!(kernel.wbs[0].as_ref().is_some_and(|wb| wb.flusher.writes_all()));
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
        let background = kernel("").limits.thresholds.background;
        let goes_on = |own: u64, of_others: u64, completed: (u64, u64)| {
            let mut kernel = kernel(OTHER_DISK);
            write(&mut kernel, 1, Run::New, 0.0);
            for (device, pages) in [completed.0, completed.1].into_iter().enumerate() {
                kernel.fractions.add_completions(Nanos::ZERO, device, pages);
            }
            // The queue of its device is full.
            let mut flusher = Flusher::new(0, 1);
            flusher.wake(Work::Background, Nanos::ZERO, Nanos::ZERO);
            kernel.wbs[0].as_mut().expect("somebody writes to it").flusher = flusher;
            kernel.pages.dirty.run_ahead(WbId(0), own * PAGE);
            kernel.pages.dirty.run_ahead(WbId(1), of_others * PAGE);
            kernel.write_back(Nanos::ZERO, 0, &mut Actions::default());
            kernel.wbs[0].as_ref().is_some_and(|wb| wb.in_background)
        };
        assert_eq!([0, 1].map(|more| goes_on(0, background + more, HALF)), [false, true]);
        let part = background * 1000 / 2001;
        assert_eq!([0, 1].map(|more| goes_on(part + more, 0, HALF)), [false, true]);
        // A device that has completed nothing has an eighth of what is left of the threshold: of 800 or 792 pages.
        assert_eq!([800, 792].map(|left| goes_on(100, background - left - 100, NOTHING)), [false, true]);
    }

    const OTHER_DISK: &str = "kernel.version = '6.18'\n\
        disk.other = { size = '1 TB', read = '100 MB/s', write = '100 MB/s' }";

    /// A device that has room for so much, and a file of it of which so much is dirty, which is to be written.
    fn with_dirty_file(room: u64, dirty: u64) -> Kernel {
        let mut kernel = kernel("");
        let file = FileView { id: FileId(5), ..FileView::default() };
        kernel.wb(&file).flusher = Flusher::new(room, MIB);
        kernel.make_dirty(Nanos::ZERO, &file, (0, dirty), on(0));
        kernel.wb(&file).flusher.wake(Work::All(u64::MAX), Nanos::ZERO, Nanos::ZERO);
        kernel
    }

    fn stamp_after(kernel: &mut Kernel, millis: u64) -> u64 {
        kernel.write_back(Nanos(millis * 1_000_000), 0, &mut Actions::default());
        kernel.wbs[0].as_ref().expect("there is one").stamp().0 / 1_000_000
    }

    /// `mm/page-writeback.c: wb_bandwidth_estimate_start` in `do_writepages`.
    #[test]
    fn an_estimate_begins_anew_when_something_is_submitted_after_a_second_in_which_nothing_was_on_its_way() {
        // The visit goes on: only a MiB of its 80 has room.
        assert_eq!(stamp_after(&mut with_dirty_file(MIB, 80 * MIB), 1001), 1001);
        assert_eq!(stamp_after(&mut with_dirty_file(MIB, 80 * MIB), 1000), 0, "not longer than that");
        assert_eq!(stamp_after(&mut with_dirty_file(0, 80 * MIB), 1001), 0, "nothing is submitted");
        let mut busy = with_dirty_file(MIB, 80 * MIB);
        busy.pages.dirty.make_dirty(FileId(6), WbId(0), 0, MIB, Nanos::ZERO);
        busy.pages.dirty.submit(FileId(6), u64::MAX);
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
            kernel.make_dirty(Nanos::ZERO, &file, (0, PAGE), on(0));
            kernel.wb(&file).flusher.timer = Some(Nanos(5_000_000_000));
            let Kernel { tasks, pages, wbs, .. } = &mut kernel;
            let task = tasks.get_mut(writer).expect("it is there");
            count(task, MIB, pages, rate_of(wbs, task), Nanos::ZERO);
            kernel.write_back(Nanos(seconds * 1_000_000_000), 0, &mut Actions::default());
            kernel.tasks[writer].pending
        };
        assert_eq!([4, 5].map(left), [MIB, 0]);
    }

    /// `mm/page-writeback.c: wb_inode_writeback_end`, Linux 5.16.
    #[test]
    fn a_device_is_measured_200_ms_after_the_last_page_of_an_inode() {
        let mut kernel = kernel("");
        write(&mut kernel, 1, Run::New, 0.0);
        kernel.wbs[0].as_mut().expect("somebody writes to it").inode_ended(Nanos::ZERO);
        assert_eq!([199, 200, 300].map(|millis| stamp_after(&mut kernel, millis)), [0, 200, 200]);
    }
}
