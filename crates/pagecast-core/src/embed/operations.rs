//! Takes operations of tasks inside another simulator: files, and the operations of `calls` on them.

use std::sync::Arc;

use super::counted::Begun;
use super::{EmbedError, Order, PageCache, TaskId};
use crate::calls::{self, CallError, Caller, Wants};
use crate::fs::Located;
use crate::machine::Machine;
use crate::policy::{Call, OperationId, Outcome};
use crate::result::FileLevels;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, IoPriority, OpenFlags, Operation};

impl PageCache {
    /// A new task. Its name may be empty, and several may have the same: they are one process in [`Self::latencies`].
    pub fn add_task(&mut self, name: &str) -> TaskId {
        let name = self.counted.name(name);
        let number = self.counted.next_of(name);
        self.tasks.add(name, number)
    }

    /// Gives the requests of a task to disks a priority (`ioprio_set`).
    ///
    /// # Errors
    /// There is no such task.
    pub fn set_priority(&mut self, task: TaskId, priority: IoPriority) -> Result<(), EmbedError> {
        self.tasks.of_others(task)?;
        self.policy.set_ioprio(OperationId(task.0), priority);
        Ok(())
    }

    /// The task is no more; its anonymous memory is given back. Its number may be used again.
    ///
    /// # Errors
    /// There is no such task, or it has an operation under way; a time before the last one, or long after [`Self::next_call`].
    pub fn remove_task(&mut self, now: Nanos, task: TaskId) -> Result<(), EmbedError> {
        self.check_time(now)?;
        self.check_not_late(now)?;
        self.tasks.idle(task)?;
        self.come_to(now);
        let bytes = self.caller(task).give_memory_back(None);
        self.policy.set_ioprio(OperationId(task.0), IoPriority::default());
        self.tasks.remove(task);
        if bytes == Bytes::ZERO {
            return Ok(());
        }
        self.request(OperationId::NOBODY, Call::Free { bytes, owner: OperationId(task.0) })
    }

    /// Adds a file that no task has written: one that exists before the start, or that comes from outside the simulation later. It takes
    /// no time. The first `cached` bytes of it are in the page cache, and the first `dirty` of these are dirty.
    ///
    /// # Errors
    /// It is there already, or under no mount; more is cached than it has or than memory is free, or dirty than cached; its disk is full;
    /// a time before the last one, or long after [`Self::next_call`].
    pub fn add_file(
        &mut self,
        now: Nanos,
        path: &Arc<str>,
        size: Bytes,
        cached: Bytes,
        dirty: Bytes,
    ) -> Result<(), EmbedError> {
        self.look(now)?;
        let located = self.locate(path)?;
        if self.files.exists(located.file) {
            return Err(EmbedError::FileExists(path.clone()));
        }
        if cached > size || dirty > cached {
            return Err(EmbedError::MoreThanFile { path: path.clone(), size, cached, dirty });
        }
        self.told(calls::check_fits(&self.files, located.file, size))?;
        let levels = self.policy.levels();
        let free = levels.total.saturating_sub(levels.cached + levels.anonymous);
        if cached > free {
            return Err(EmbedError::NoRoom { path: path.clone(), cached, free });
        }
        self.come_to(now);
        self.files.resize(located.file, size);
        if cached == Bytes::ZERO {
            return Ok(());
        }
        let file = self.files.view(0, located, &self.transfers.mounts()[located.mount as usize]);
        self.request(OperationId::NOBODY, Call::Preload { file, bytes: cached, dirty })
    }

    /// The size of a file: the one that it has when the writes under way have ended. Reads come that far after them.
    ///
    /// # Errors
    /// There is no such file.
    pub fn size(&mut self, path: &Arc<str>) -> Result<Bytes, EmbedError> {
        let located = self.existing(path)?;
        Ok(self.files.taken(located.file))
    }

    /// What the memory holds of a file at this instant.
    ///
    /// # Errors
    /// There is no such file; a time before the last one, or long after [`Self::next_call`].
    pub fn residency(&mut self, now: Nanos, path: &Arc<str>) -> Result<FileLevels, EmbedError> {
        self.look(now)?;
        let located = self.existing(path)?;
        Ok(self.policy.residency(located.file))
    }

    /// A task begins an operation. It may be done at once: an order says so.
    ///
    /// # Errors
    /// What the operation, or the state of the files and of memory, makes impossible; a task that does something else; a time before
    /// the last one, or long after [`Self::next_call`].
    pub fn begin(&mut self, now: Nanos, task: TaskId, action: &Action) -> Result<(), EmbedError> {
        self.begin_with(now, task, action, OpenFlags::default())
    }

    /// The same of an operation of a scenario.
    ///
    /// # Errors
    /// As [`Self::begin`]; one that is asynchronous by itself, or has a descriptor or a time of its own.
    pub fn begin_operation(
        &mut self,
        now: Nanos,
        task: TaskId,
        operation: &Operation,
    ) -> Result<(), EmbedError> {
        let what = match operation {
            Operation { depth: Some(_), .. } => "depth",
            Operation { not_before: Some(_), .. } => "not_before",
            Operation { fd: Some(_), .. } => "fd",
            _ => return self.begin(now, task, &operation.action),
        };
        Err(EmbedError::OfScenarios(what))
    }

    /// The same, with flags of a read or write besides those with which the task has opened the file.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub fn begin_with(
        &mut self,
        now: Nanos,
        task: TaskId,
        action: &Action,
        flags: OpenFlags,
    ) -> Result<(), EmbedError> {
        self.check_time(now)?;
        self.check_not_late(now)?;
        self.tasks.idle(task)?;
        if let Action::Pattern(pattern) = action {
            return self.begin_pattern(now, task, action, pattern, flags);
        }
        let begun = self.caller(task).begin(action, None, flags);
        let begun = self.told(begun)?.ok_or(EmbedError::NotOurs(action.name()))?;
        self.come_to(now);
        let path = self.counted.path(action.path());
        let state = self.tasks.get_mut(task);
        state.operations += 1;
        state.begun = Some(Begun { operation: action.name(), path, bytes: begun.bytes, start: now });
        if let Some(located) = begun.file.filter(|_| action.writes_bytes()) {
            state.grows = Some((located.file, Bytes(begun.offset) + begun.bytes));
        }
        match begun.wants {
            Wants::Nothing => {
                self.done(task, Outcome::default());
                Ok(())
            }
            Wants::Call(call) => {
                state.is_busy = true;
                self.request(OperationId(task.0), call)
            }
            Wants::Transfer(_) | Wants::Striped(_) => unreachable!("no file is another host's"),
        }
    }

    /// A task with what its calls see and change.
    pub(super) fn caller(&mut self, task: TaskId) -> Caller<'_, Arc<Machine>> {
        let owner = self.tasks.get(task).of;
        let state = self.tasks.get_mut(owner);
        Caller {
            files: &mut self.files,
            policy: &*self.policy,
            mounts: self.transfers.mounts(),
            anonymous: &mut self.anonymous,
            task: &mut state.calls,
            descriptors: &mut self.descriptors,
            operation: OperationId(task.0),
            host: 0,
            cgroup: None,
        }
    }

    /// Says in the words of this module what was refused.
    pub(super) fn told<T>(&self, result: Result<T, CallError>) -> Result<T, EmbedError> {
        result.map_err(|error| EmbedError::of_call(error, self.host()))
    }

    /// Ends the call of a task that the policy has done.
    pub(super) fn ended(&mut self, task: TaskId, outcome: Outcome) {
        if self.tasks.get(task).call.is_some() {
            self.end_call(task, outcome);
        } else {
            self.done(task, outcome);
        }
    }

    /// The operation of a task is over.
    pub(super) fn done(&mut self, task: TaskId, outcome: Outcome) {
        let state = self.tasks.get_mut(task);
        state.is_busy = false;
        let (name, begun, grows) = (state.name, state.begun.take(), state.grows.take());
        if let Some(begun) = begun {
            self.counted.operation(name, &begun, self.now, &outcome);
        }
        if let Some((file, size)) = grows {
            self.files.grow(file, size);
        }
        self.orders.push(Order::Done { task, outcome });
    }

    fn locate(&mut self, path: &Arc<str>) -> Result<Located, EmbedError> {
        let located = calls::locate(&mut self.files, 0, path);
        self.told(located)
    }

    fn existing(&mut self, path: &Arc<str>) -> Result<Located, EmbedError> {
        let located = self.locate(path)?;
        if self.files.exists(located.file) { Ok(located) } else { Err(EmbedError::NoSuchFile(path.clone())) }
    }
}
