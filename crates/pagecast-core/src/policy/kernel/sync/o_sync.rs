//! Writes that return when the device has them (O_SYNC, O_DSYNC), `sync` and `syncfs`.
//!
//! Source: `fs/read_write.c: generic_write_sync`, `mm/filemap.c: file_write_and_wait_range`, `fs/sync.c`, Linux 6.16. A call copies into the
//! cache, then writes its range and waits, then the next call begins. Calls are taken together in steps while nobody else writes to the
//! device, which changes when it is busy, not for how long; beside others each call is a step, and waits in the queue anew.

use crate::policy::Actions;
use crate::policy::Call;
use crate::policy::DeviceId;
use crate::policy::FileView;
use crate::policy::Integrity;
use crate::policy::OperationId;
use crate::policy::Request;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::discretisation::step_of;
use crate::policy::kernel::fs_writeback::flusher::Until;
use crate::policy::kernel::task::cost::Run;
use crate::policy::kernel::task::ids::WbId;
use crate::policy::kernel::task::kind::{Kind, Next, Stage};
use crate::units::Bytes;
use crate::units::Nanos;

impl Kernel {
    /// Begins a write of which every call waits for the device.
    pub fn begin_synchronous(
        &mut self,
        now: Nanos,
        request: &Request,
        file: FileView,
        at: (u64, Bytes, Bytes),
        durable: Integrity,
    ) {
        let (from, bytes, piece) = at;
        // Nobody waits for the device where pages are only submitted, to be dropped behind.
        let waits = matches!(request.call, Call::WriteSync { .. });
        let step = self.step_bytes(&file, (bytes, piece), waits);
        let kind = Kind::WriteSync { from, last: from + bytes.0, durable };
        self.begin_task(now, request, kind, Some(file), (from, bytes.min(Bytes(step)), piece));
    }

    /// How many bytes of an operation, in calls of `piece`, are its next step. A call that waits is one where others submit, too.
    pub fn step_bytes(&self, file: &FileView, (bytes, piece): (Bytes, Bytes), waits: bool) -> u64 {
        let is_alone = !waits || !self.is_submitted_to(file.device.0 as usize);
        if is_alone { step_of(bytes, piece) } else { piece.0.max(1) }
    }

    /// Calls copy their bytes, the device gets them with the rest of their blocks, and flushes its cache.
    pub fn step_write_sync(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) -> Next {
        let task = &self.tasks[operation];
        match task.stage {
            Stage::Start if task.position < task.end => self.step_write(now, operation, out),
            Stage::Start => self.write_step(now, operation, out),
            Stage::Pages => self.write_rest_of_step(now, operation, out),
            Stage::Blocks => self.flush_step(now, operation, out),
            Stage::Commit(waits) => self.spend(now, operation, waits),
            Stage::Durable => self.next_step(operation),
        }
    }

    /// The calls of a step have copied their bytes: the device gets them. Those that are dropped behind are only submitted.
    pub fn write_step(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) -> Next {
        let task = self.tasks.get_mut(operation).expect("it is there");
        let Kind::WriteSync { from, .. } = task.kind else { unreachable!("only these have steps to write") };
        let (file, range, drops_behind) = (*task.file(), (from, task.end), task.drops_behind);
        (task.run, task.since) = (Run::Wait, now);
        task.stage = if drops_behind { Stage::Durable } else { Stage::Pages };
        let waits = if drops_behind {
            self.submit_range(now, operation, &file, range, false, out)
        } else {
            self.write_range(now, operation, &file, range, out)
        };
        if waits { Next::Wait } else { Next::Step }
    }

    /// The device has the bytes of a step: it gets the rest of the blocks that they are in.
    pub fn write_rest_of_step(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) -> Next {
        self.tasks.get_mut(operation).expect("it is there").stage = Stage::Blocks;
        if self.write_rest_of_blocks(now, operation, out) { Next::Wait } else { Next::Step }
    }

    /// The device has the blocks of a step: it flushes its cache, once for each call, after a commit where that is due.
    pub fn flush_step(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) -> Next {
        let task = &self.tasks[operation];
        let Kind::WriteSync { from, durable, .. } = task.kind else {
            unreachable!("only these have steps to write")
        };
        let (file, calls) = (*task.file(), (from, task.end, task.piece.0));
        let waits = self.waits_of_calls(now, &file, calls, durable);
        self.commit(now, operation, waits, out)
    }

    /// The bytes of a step are durable: the next one begins.
    pub fn next_step(&mut self, operation: OperationId) -> Next {
        let task = &self.tasks[operation];
        let Kind::WriteSync { last, durable, .. } = task.kind else { unreachable!("only these have steps") };
        let (from, all) = (task.end, Bytes(last - task.origin));
        if from == last {
            return Next::Done;
        }
        let step = self.step_bytes(task.file(), (all, task.piece), !task.drops_behind);
        let task = self.tasks.get_mut(operation).expect("it is there");
        task.kind = Kind::WriteSync { from, last, durable };
        task.end = (from + step).min(last);
        (task.stage, task.busy_until) = (Stage::Start, None);
        Next::Step
    }

    /// Has the dirty pages of a range written for somebody who waits for all of it; false if nothing is to be waited for.
    ///
    /// `mm/filemap.c: filemap_write_and_wait_range`
    pub fn write_range(
        &mut self,
        now: Nanos,
        operation: OperationId,
        file: &FileView,
        range: (u64, u64),
        out: &mut Actions,
    ) -> bool {
        self.make_way_to(now, file, range, out);
        let dirty = self.pages.dirty.ranges_within(file.id, range.0, range.1);
        if dirty.total() == 0 {
            return self.block.queue(file.device).wait_within(file.id, range, operation);
        }
        self.flusher_of(file).write_range(file.id, range, dirty, Until::Written(operation));
        true
    }

    /// `sync`: all flushers, or those of one device, write what is dirty now, and the caller waits for that and for what is under
    /// writeback.
    pub fn write_everything(
        &mut self,
        now: Nanos,
        operation: OperationId,
        device: Option<DeviceId>,
        out: &mut Actions,
    ) {
        let (mut files, devices) = (0, self.config.devices());
        let is_meant = |at: usize| device.is_none_or(|device| at == device.0 as usize);
        (0..devices).filter(|&at| is_meant(at)).for_each(|at| self.make_way(now, DeviceId(at as u32), out));
        for at in 0..self.write_back.wbs.len() {
            let Some(flusher) = self.flushers.get_mut(at).filter(|_| is_meant(at % devices)) else {
                continue;
            };
            for file in self.pages.dirty.files_of(WbId(at as u32)) {
                let dirty = self.pages.dirty.ranges_within(file, 0, u64::MAX);
                if dirty.total() > 0 {
                    flusher.write_for_sync(file, dirty, operation);
                    files += 1;
                } else {
                    files += u32::from(self.block.queues[at % devices].wait_for(file, operation));
                }
            }
        }
        let then = match device {
            Some(device) => self.waits_of_disk(device.0 as usize),
            None => self.waits_of_all(),
        };
        self.wait_for_files(now, operation, (None, files), then);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::FileId;
    use crate::policy::kernel::task::kind::Waits;
    use crate::policy::kernel::tests::{MIB, kernel, on};

    /// The first file has been submitted, the second is dirty, and nothing was written to the third.
    #[test]
    fn sync_waits_for_files_under_write_back_and_for_dirty_ones() {
        let (mut kernel, mut out) = (kernel(""), Actions::default());
        let files = [1, 2, 3].map(|id| FileView { id: FileId(id), ..FileView::default() });
        kernel.write_back.wb(&files[0]);
        let make_dirty = |kernel: &mut Kernel, file| kernel.make_dirty(Nanos(0), file, (0, MIB), on(0));
        make_dirty(&mut kernel, &files[0]);
        kernel.wakeup_flusher_threads(Nanos(0));
        kernel.write_back_device(Nanos(0), 0, &mut out);
        assert_eq!((kernel.pages.dirty.dirty(), kernel.pages.dirty.writeback()), (0, MIB));
        make_dirty(&mut kernel, &files[1]);
        kernel.write_everything(Nanos(0), OperationId(9), None, &mut out);
        assert_eq!(kernel.tasks[OperationId(9)].kind, Kind::Sync { files: 2, then: Waits::default() });
    }
}
