//! Keeps the operations under way.

use std::ops::Index;

use rustc_hash::FxHashMap;

use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::credit::Credit;
use crate::policy::kernel::tasks::ids::MemcgId;
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::shape::{AHEAD, Transfer};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileId, OperationId};
use crate::result::Part;

/// The most tasks whose memory is kept.
const MOST_SPARE: usize = 16;

/// The operations under way, by number.
///
/// All of them are looked at with every event, and few events begin or end one: an ordered vector.
#[derive(Default)]
pub struct Tasks {
    each: Vec<(OperationId, Box<Task>)>,
    /// The memory of tasks that have ended, for those to come.
    #[allow(clippy::vec_box, reason = "the boxes themselves are used again")]
    spare: Vec<Box<Task>>,
    /// The number of times that a task could have been changed.
    changes: u64,
    /// True if any of them may follow another one, or wait for its own processor.
    pub has_followers: bool,
    pub has_busy: bool,
    /// True if any of them ran ahead of its rate when all were last brought up to date.
    pub runs_ahead: bool,
    /// True if any of them may take its pauses one by one.
    pub has_checks: bool,
    /// The credit of processes between their operations.
    pub credits: FxHashMap<OperationId, Credit>,
    /// The number of the last operation that is no process's own.
    pub ahead_number: u32,
}

/// The place of a task, valid until one begins or ends.
#[derive(Clone, Copy, Debug)]
pub struct Place(usize);

impl Tasks {
    /// The number of times that a task could have been changed, otherwise than by `moving`. A survey of all tasks holds while it is
    /// the same.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Notes that a task has changed.
    pub fn note_change(&mut self) {
        self.changes += 1;
    }

    fn changing(&mut self) -> &mut Vec<(OperationId, Box<Task>)> {
        self.note_change();
        &mut self.each
    }

    fn place(&self, operation: OperationId) -> Result<usize, usize> {
        self.each.binary_search_by_key(&operation, |&(each, _)| each)
    }

    pub fn place_of(&self, operation: OperationId) -> Place {
        Place(self.place(operation).expect("an operation under way has a task"))
    }

    /// The places of the tasks that fulfil a condition.
    pub fn places(&self, is_wanted: impl Fn(&Task) -> bool) -> Vec<Place> {
        let mut places = Vec::with_capacity(self.each.len());
        places.extend((0..self.each.len()).map(Place).filter(|&place| is_wanted(self.at(place))));
        places
    }

    pub fn at(&self, place: Place) -> &Task {
        &self.each[place.0].1
    }

    /// Returns one task, as `moving` returns all.
    pub fn at_moving(&mut self, place: Place) -> (OperationId, &mut Task) {
        let (operation, task) = &mut self.each[place.0];
        (*operation, task)
    }

    pub fn get(&self, operation: OperationId) -> Option<&Task> {
        self.place(operation).ok().map(|at| &*self.each[at].1)
    }

    pub fn get_mut(&mut self, operation: OperationId) -> Option<&mut Task> {
        self.place(operation).ok().map(|at| &mut *self.changing()[at].1)
    }

    /// Begins an operation, or continues it as another kind of task.
    pub fn insert(&mut self, operation: OperationId, task: Task) {
        match self.place(operation) {
            Ok(at) => *self.changing()[at].1 = task,
            Err(at) => {
                let boxed = match self.spare.pop() {
                    Some(mut spare) => {
                        *spare = task;
                        spare
                    }
                    None => Box::new(task),
                };
                self.changing().insert(at, (operation, boxed));
            }
        }
    }

    /// Takes a task out that has ended; who has looked at it gives its memory to [`Self::reuse`].
    pub fn remove(&mut self, operation: OperationId) -> Option<Box<Task>> {
        let at = self.place(operation).ok()?;
        Some(self.changing().remove(at).1)
    }

    /// Keeps the memory of a task that has ended for one to come.
    pub fn reuse(&mut self, task: Box<Task>) {
        if self.spare.len() < MOST_SPARE {
            self.spare.push(task);
        }
    }

    /// Gives back the memory of tasks that have ended.
    pub fn retire(&mut self) {
        self.spare = Vec::new();
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.each.len()
    }

    /// Keeps the tasks that fulfil a condition, which may change the others.
    pub fn retain(&mut self, mut keeps: impl FnMut(&mut Task) -> bool) {
        self.changing().retain_mut(|(_, task)| keeps(task));
    }

    pub fn iter(&self) -> impl Iterator<Item = (OperationId, &Task)> {
        self.each.iter().map(|(operation, task)| (*operation, &**task))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (OperationId, &mut Task)> {
        self.changing().iter_mut().map(|(operation, task)| (*operation, &mut **task))
    }

    pub fn values(&self) -> impl Iterator<Item = &Task> {
        self.each.iter().map(|(_, task)| &**task)
    }

    /// The tasks that make pages dirty.
    pub fn writers(&self) -> impl Iterator<Item = &Task> {
        self.values().filter(|task| task.run.dirties())
    }

    /// The tasks that make pages of a wb dirty.
    pub fn writers_of(&self, wb: usize) -> impl Iterator<Item = &Task> {
        self.writers().filter(move |task| task.wb.0 as usize == wb)
    }

    /// True if the limit of its cgroup holds a task back.
    pub fn is_one_charged(&self) -> bool {
        let is_held =
            |task: &Task| matches!(task.transfer, Some(Transfer { cap: Some((_, Part::Reclaim)), .. }));
        self.values().any(|task| task.memcg != MemcgId::ROOT && is_held(task))
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Task> {
        self.changing().iter_mut().map(|(_, task)| &mut **task)
    }

    /// All tasks and their numbers, as `moving` gives them.
    pub fn moving_by_number(&mut self) -> impl Iterator<Item = (OperationId, &mut Task)> {
        self.each.iter_mut().map(|(operation, task)| (*operation, &mut **task))
    }

    /// All tasks, for updates of their progress, their bytes' places and their credit only.
    pub fn moving(&mut self) -> impl Iterator<Item = &mut Task> {
        self.each.iter_mut().map(|(_, task)| &mut **task)
    }
}

impl Index<OperationId> for Tasks {
    type Output = Task;

    fn index(&self, operation: OperationId) -> &Task {
        self.get(operation).expect("an operation under way has a task")
    }
}

impl Tasks {
    /// Returns the task that is reading these bytes from the device: pages in flight are locked, and read once.
    pub fn reader_of(&self, file: FileId, at: u64) -> Option<&Task> {
        let reads = |task: &&Task| {
            let is_under_way = (task.reads_from()..task.reads_until()).contains(&at);
            task.run == Run::Miss && task.file().id == file && is_under_way
        };
        self.values().find(reads)
    }

    /// Returns a number for an operation that is no process's own.
    pub fn new_number(&mut self) -> OperationId {
        self.ahead_number = self.ahead_number % (AHEAD - 1) + 1;
        OperationId(AHEAD | self.ahead_number)
    }

    /// Returns the running read-ahead of a thread that will reach this byte.
    pub fn ahead_of(&mut self, thread: OperationId, file: FileId, at: u64) -> Option<&mut Task> {
        let mut under_way = self.values_mut().filter(|task| task.transfer.is_some());
        under_way.find(|task| {
            task.kind == Kind::ReadAhead { thread } && task.file().id == file && task.reads_until() == at
        })
    }

    /// The writers to a device: their number, and their bytes per second.
    pub fn writers_to(&self, at: usize) -> (usize, f64) {
        let rates =
            self.writers_of(at).map(|task| task.transfer.as_ref().map_or(0.0, |transfer| transfer.rate));
        rates.fold((0, 0.0), |(count, sum), rate| (count + 1, sum + rate))
    }
}
