//! Keeps the tasks of another simulator, and the calls of their patterns that are under way beside one another.
//!
//! Such a call has a number among the tasks (a `kiocb`), as long as its pattern: so a policy knows it apart from the others.

use std::collections::VecDeque;

use super::counted::Begun;
use super::{EmbedError, TaskId};
use crate::calls::{self, CallUnderWay, Patterned};
use crate::policy::FileId;
use crate::units::{Bytes, Nanos};

/// A task, and what it does.
pub(super) struct TaskState {
    /// Itself, or the task of whose pattern it does a call.
    pub of: TaskId,
    /// The number of its name, and how many tasks of that name were before it.
    pub name: u32,
    pub number: u64,
    /// How many operations it has begun.
    pub operations: u32,
    pub is_busy: bool,
    pub calls: calls::Task,
    /// The operation that it is in, unless that is a pattern.
    pub begun: Option<Begun>,
    /// The file that its write makes larger, and how large.
    pub grows: Option<(FileId, Bytes)>,
    pub pattern: Option<Box<Pattern>>,
    /// The call of a pattern that it does.
    pub call: Option<CallUnderWay>,
}

/// The pattern that a task is in.
pub(super) struct Pattern {
    pub progress: Patterned,
    /// It makes no call before this time: it submits one.
    pub goes_on_at: Nanos,
    /// When it is woken.
    pub woken_at: Option<Nanos>,
    /// Its calls that follow one another on the file, the one under way first.
    pub line: VecDeque<TaskId>,
    /// All numbers of its calls, and those without a call.
    pub kiocbs: Vec<TaskId>,
    pub free: Vec<TaskId>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Tasks {
    each: Vec<Option<TaskState>>,
    /// Numbers of tasks that are no more.
    vacant: Vec<u32>,
}

impl Tasks {
    /// Adds a task; see [`TaskState`].
    pub(super) fn add(&mut self, name: u32, number: u64) -> TaskId {
        let task = self.free_number();
        self.put(task, task, name, number);
        task
    }

    /// Adds a number for a call of a task's pattern.
    pub(super) fn add_kiocb(&mut self, of: TaskId) -> TaskId {
        let kiocb = self.free_number();
        self.put(kiocb, of, self.get(of).name, 0);
        kiocb
    }

    fn free_number(&mut self) -> TaskId {
        let at = self.vacant.pop().unwrap_or(self.each.len() as u32);
        if at as usize == self.each.len() {
            self.each.push(None);
        }
        TaskId(at)
    }

    fn put(&mut self, task: TaskId, of: TaskId, name: u32, number: u64) {
        self.each[task.0 as usize] = Some(TaskState {
            of,
            name,
            number,
            operations: 0,
            is_busy: false,
            calls: calls::Task::default(),
            begun: None,
            grows: None,
            pattern: None,
            call: None,
        });
    }

    pub(super) fn remove(&mut self, task: TaskId) {
        self.each[task.0 as usize] = None;
        self.vacant.push(task.0);
    }

    /// A task that is there.
    pub(super) fn get(&self, task: TaskId) -> &TaskState {
        self.each[task.0 as usize].as_ref().expect("a task is there as long as its operation")
    }

    /// The same, to change it.
    pub(super) fn get_mut(&mut self, task: TaskId) -> &mut TaskState {
        self.each[task.0 as usize].as_mut().expect("a task is there as long as its operation")
    }

    /// A task that the other simulator has made.
    pub(super) fn of_others(&self, task: TaskId) -> Result<&TaskState, EmbedError> {
        let state = self.each.get(task.0 as usize).and_then(Option::as_ref);
        state.filter(|state| state.of == task).ok_or(EmbedError::NoSuchTask(task.0))
    }

    /// The same, if it has no operation under way.
    pub(super) fn idle(&self, task: TaskId) -> Result<&TaskState, EmbedError> {
        let state = self.of_others(task)?;
        if state.is_busy { Err(EmbedError::Busy(task.0)) } else { Ok(state) }
    }

    /// The pattern that a task is in.
    pub(super) fn pattern(&mut self, task: TaskId) -> &mut Pattern {
        self.get_mut(task).pattern.as_mut().expect("it is in a pattern")
    }

    #[cfg(test)]
    pub(super) fn all_idle(&self) -> bool {
        self.each.iter().flatten().all(|task| !task.is_busy)
    }
}
