//! Steps system calls: one step after the other, until a flow moves bytes, something has to be waited for, or the call is over.

use crate::flow::Completion;
use crate::policy::Actions;
use crate::policy::OperationId;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::discretisation::{FOLLOW_STRIDE, RUN_STEPS};
use crate::policy::kernel::model::run::count;
use crate::policy::kernel::page_writeback::balance_dirty_pages::rate_of;
use crate::policy::kernel::task::cost::Run;
use crate::policy::kernel::task::kind::{Kind, Next, Stage, Way};
use crate::policy::kernel::task::task::Task;
use crate::result::Part;
use crate::stop;
use crate::units::Bytes;
use crate::units::Nanos;

impl Kernel {
    /// Steps an operation as far as it comes.
    pub fn drive(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        let mut next = Some(operation);
        while let Some(operation) = next {
            stop::spend(RUN_STEPS);
            if self.tasks.get(operation).is_none() {
                return;
            }
            match self.step(now, operation, out) {
                Next::Run(end) => {
                    if !self.begin_run(now, operation, end, out) {
                        return;
                    }
                    // Its bytes were there at once.
                }
                Next::Wait => return,
                Next::Step => {}
                Next::Done => next = self.end_task(now, operation, out),
            }
        }
    }

    /// The next step of an operation.
    pub fn step(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) -> Next {
        let task = &self.tasks[operation];
        match task.kind {
            Kind::Read { .. } => self.step_read(now, operation, out),
            Kind::Write => self.step_write(now, operation, out),
            Kind::WriteSync { .. } => self.step_write_sync(now, operation, out),
            Kind::Direct { .. } => self.step_direct(now, operation, out),
            Kind::Beside { .. } => self.step_beside(now, operation, out),
            Kind::Sync { .. } => self.step_sync(now, operation, out),
            Kind::SyncRange { .. } => self.step_sync_range(now, operation, out),
            Kind::Cut { .. } => self.step_cut(now, operation),
            Kind::ReadAhead { .. } => Next::Done,
            Kind::WriteThrough | Kind::Insert { .. } | Kind::Allocate { .. } | Kind::Remove { .. } => {
                self.step_plain(now, operation)
            }
        }
    }

    /// An operation is over. Returns who goes on then: itself as another kind of task, or the operation that it was a part of.
    pub fn end_task(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) -> Option<OperationId> {
        let task = self.tasks.remove(operation).expect("a task ends once");
        self.pages.placement.leave(task.kind.owner(operation));
        if let Some(credit) = task.credit {
            self.tasks.credits.insert(operation, credit);
        }
        if let (Some(key), Some(file)) = (task.stream, &task.file) {
            self.leave_stream(key, task.end, file, task.mapped.is_some());
        }
        match task.kind {
            Kind::Remove { cut: Some(cut) } => {
                let wait = Task::new(Kind::Cut { cut }, task.file, (0, Bytes::ZERO, Bytes::ZERO), now);
                self.tasks.insert(operation, Task { outcome: task.outcome, ..wait });
                Some(operation)
            }
            Kind::ReadAhead { .. } => None,
            Kind::Beside { of, way } => {
                let parent = self.tasks.get_mut(of).expect("who waits is under way");
                let part = if way == Way::Write { Part::DeviceWrite } else { Part::DeviceRead };
                parent.outcome.parts.add(part, now - parent.since);
                Some(of)
            }
            _ => {
                out.done(operation, task.outcome);
                None
            }
        }
    }

    /// What an operation has waited for has happened, or one of several.
    pub fn end_wait(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        let task = self.tasks.get_mut(operation).expect("who waits is under way");
        if let Kind::Sync { files, .. } = &mut task.kind
            && *files > 1
        {
            *files -= 1;
            return;
        }
        let part = if let Stage::Commit(_) = task.stage { Part::Journal } else { Part::DeviceWrite };
        task.outcome.parts.add(part, now - task.since);
        self.drive(now, operation, out);
    }

    /// A run has moved all its bytes.
    pub fn run_ended(&mut self, now: Nanos, operation: OperationId, done: &Completion, out: &mut Actions) {
        // Nobody wants what was read ahead of a file that has been cut.
        let Some(task) = self.tasks.get_mut(operation) else { return };
        let mut transfer = task.transfer.take().expect("a run has a transfer");
        let (_, rest) = transfer.take_rest();
        let (held_by, read_from) = (task.held_by.take(), task.device_read());
        let rate = rate_of(&self.write_back.wbs, task);
        count(task, rest, &mut self.pages, rate, now);
        self.settle_task(now, operation);
        self.let_go(now, operation, held_by);
        self.note_read(now, read_from);
        let task = &self.tasks[operation];
        if task.run == Run::Hit {
            // All at once: marking every stretch between two events would cut the extents into as many.
            let (file, start, end) = (task.file().id, task.position - transfer.bytes, task.position);
            self.pages.lists.mark_accessed(file, start, end);
            if !self.pages.dropbehind.is_empty() && !self.tasks[operation].drops_behind {
                self.pages.mark_dropbehind(file, (start, end), false);
            }
        }
        let cost = self.cost(&self.tasks[operation], operation);
        // A writer that ends has looked once more whether the flusher should run.
        self.wake_flushers(now);
        let task = self.tasks.get_mut(operation).expect("it is there");
        task.charge(done.parts, &cost);
        self.settle_others(now, operation);
        self.leave_ahead(now, operation, out);
        self.drive(now, operation, out);
    }

    /// Followers go on whose bytes have come, or who have nobody to follow any more.
    pub fn release_followers(&mut self, now: Nanos, out: &mut Actions) {
        let follows = |task: &Task| task.run == Run::Follow && !matches!(task.kind, Kind::Cut { .. });
        if !self.tasks.has_followers {
            debug_assert!(!self.tasks.values().any(follows), "a follower has been noted");
            return;
        }
        let has_followers = self.tasks.values().any(follows);
        self.tasks.has_followers = has_followers;
        let goes_on = |task: &Task| {
            let (is_cached, end) = self.pages.lists.run(task.file().id, task.position, task.end);
            let has_come = is_cached && end - task.position >= FOLLOW_STRIDE.min(task.end - task.position);
            has_come || self.followed_by(task).is_none()
        };
        let followers = self.tasks.iter().filter(|(_, task)| follows(task));
        let released: Vec<OperationId> =
            followers.filter(|(_, task)| goes_on(task)).map(|(operation, _)| operation).collect();
        for operation in released {
            let task = self.tasks.get_mut(operation).expect("it is there");
            task.outcome.parts.add(Part::DeviceRead, now - task.since);
            self.drive(now, operation, out);
        }
    }

    /// Those go on whose processor has prepared the next request, or whose device has flushed its cache.
    pub fn go_on_with_due(&mut self, now: Nanos, out: &mut Actions) {
        if !self.tasks.has_busy {
            debug_assert!(
                self.tasks.values().all(|task| task.busy_until.is_none()),
                "who is busy has been noted"
            );
            return;
        }
        let is_due = |task: &Task| task.busy_until.is_some_and(|until| until <= now);
        let due: Vec<OperationId> =
            self.tasks.iter().filter(|(_, task)| is_due(task)).map(|(operation, _)| operation).collect();
        let has_busy = self.tasks.values().any(|task| task.busy_until.is_some());
        self.tasks.has_busy = has_busy;
        for operation in due {
            self.drive(now, operation, out);
        }
    }
}
