//! `write()` into the cache: which of its pages are there, and what it waits for.
//!
//! Source: `mm/filemap.c: generic_perform_write`, `mm/page-writeback.c: folio_wait_stable`, Linux 6.16.

use crate::policy::Actions;
use crate::policy::FileId;
use crate::policy::OperationId;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::discretisation::{LEAST_RUN, MOST_RUN, STABLE_RUN};
use crate::policy::kernel::page::{PAGE, whole_pages};
use crate::policy::kernel::task::cost::{Access, Run};
use crate::policy::kernel::task::kind::{Kind, Next};
use crate::policy::kernel::task::shape::RunShape;
use crate::policy::kernel::task::task::Task;
use crate::policy::kernel::vmscan::PageState;
use crate::units::Nanos;

/// Two windows of read-ahead, the one that is being read and the next (`read_ahead_kb`, 128 KiB).
pub const LOCKED: u64 = 256 << 10;

impl Kernel {
    /// The next bytes of a write, or of pages of a mapping that are written to.
    pub fn step_write(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) -> Next {
        let task = &self.tasks[operation];
        if task.position >= task.end {
            return Next::Done;
        }
        if task.kind == Kind::Write && task.mapped.is_some() {
            self.fault_in(operation, out);
        }
        let task = &self.tasks[operation];
        let (run, mut end) = self.look_up_to_write(task, operation);
        if task.mapped.is_some() {
            end = self.touch_mapped(operation, run, end);
        }
        let task = &self.tasks[operation];
        if run == Run::New && task.read_until.is_some() {
            let Some(prepared) = self.prepare_blocks(now, operation, end, out) else { return Next::Wait };
            end = prepared;
        }
        let task = self.tasks.get_mut(operation).expect("it is there");
        (task.run, task.since) = (run, now);
        let shape = self.shape_write(operation, end, out);
        self.tasks.get_mut(operation).expect("it is there").shape = shape;
        match run {
            Run::Follow => {
                self.tasks.has_followers = true;
                Next::Wait
            }
            Run::Wait => {
                self.wait_for_stable_pages(operation, end);
                Next::Wait
            }
            _ => Next::Run(end),
        }
    }

    /// How the next bytes of a write are served, and up to where.
    pub fn look_up_to_write(&self, task: &Task, operation: OperationId) -> (Run, u64) {
        let (file, at, end) = (task.file().id, task.position, task.end);
        let least = end.min(at.saturating_add(LEAST_RUN));
        let (is_cached, run_end) = self.pages.lists.run(file, at, end);
        match is_cached {
            false if task.mapped.is_some() && self.reader_of(file, at).is_some() => (Run::Follow, run_end),
            false if self.is_being_read(file, at) => (Run::Follow, run_end),
            false => (Run::New, self.new_end(operation, at, run_end).max(least)),
            // It has to wait where no page can be had.
            true if run_end < least && self.pages.is_memcg_exhausted(task.memcg) => (Run::New, least),
            true if task.kind == Kind::Write && self.has_stable_pages(task) => {
                match self.pages.dirty.stable_run(file, at, run_end.min(at.saturating_add(STABLE_RUN))) {
                    (PageState::Writeback, to) => (Run::Wait, to),
                    (PageState::Dirty, to) => (Run::Dirty, to),
                    (PageState::Clean, to) => (Run::Clean, to),
                }
            }
            true => {
                let (is_dirty, to) = self.pages.dirty.dirty_run(file, at, run_end);
                let run = if is_dirty { Run::Dirty } else { Run::Clean };
                (run, self.near_end(file, at, to).max(least))
            }
        }
    }

    /// What a run of a write up to `end` is besides its bytes and their cost.
    pub fn shape_write(&mut self, operation: OperationId, end: u64, out: &mut Actions) -> RunShape {
        let task = &self.tasks[operation];
        let plain = RunShape::plain(end - task.position);
        let page_insert = task.page_insert();
        match task.run {
            Run::Dirty if task.access == Access::Finds => plain,
            Run::Clean | Run::Dirty if task.mapped.is_some() => {
                let pages = self.pass_mark(operation, end, out).div_ceil(PAGE);
                let toll = pages as f64 * page_insert.as_seconds() + self.make_writable(operation, end);
                RunShape { toll, ..plain }
            }
            Run::New if task.mapped.is_some() => {
                RunShape { toll: self.make_writable(operation, end), ..plain }
            }
            Run::Follow => {
                self.pass_mark_of_follower(operation, out);
                plain
            }
            _ => plain,
        }
    }

    /// Whether who writes over pages of its file waits while they are under writeback (`mm/page-writeback.c: folio_wait_stable`).
    pub fn has_stable_pages(&self, task: &Task) -> bool {
        self.config.host.disks.get(task.file().device.0 as usize).is_some_and(|disk| disk.bdi.stable_writes)
    }

    /// A writer waits until what is before him is on the device.
    pub fn wait_for_stable_pages(&mut self, operation: OperationId, end: u64) {
        let task = &self.tasks[operation];
        let (file, range) = (*task.file(), whole_pages((task.position, end)));
        let must_wait = self.block.queue(file.device).wait_within(file.id, range, operation);
        debug_assert!(must_wait, "what is under writeback is in the queue");
    }

    /// Whether a page is locked by read-ahead. Who writes there waits for it; what is farther ahead he can write before.
    pub fn is_being_read(&self, file: FileId, at: u64) -> bool {
        let ahead = |reader: &Task| at.saturating_sub(reader.position + reader.pending);
        self.reader_of(file, at).is_some_and(|reader| ahead(reader) < LOCKED)
    }

    /// Up to where new pages are looked at in one go: as many as the own node has room for, or so few that the share of other
    /// nodes is known soon.
    pub fn new_end(&self, operation: OperationId, at: u64, end: u64) -> u64 {
        if self.pages.nodes() == 1 {
            return end;
        }
        end.min(at.saturating_add(self.own_room(operation).max(MOST_RUN)))
    }
}
