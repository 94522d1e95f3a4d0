//! Operations under way, and how far they have come.

use std::ops::Index;

use crate::policy::kernel::filemap::partial_blocks::Way;
use crate::policy::kernel::model::cost::{Access, PerByte, Run};
use crate::policy::kernel::filemap::direct::Past;
use crate::policy::kernel::sync::fsync::Waits;
use crate::policy::kernel::memcontrol::memcg::MemcgId;
use crate::policy::kernel::filemap::readahead::Mode;
use crate::policy::kernel::filemap::read::{RunShape, StreamKey};
use crate::policy::kernel::page_writeback::balance_dirty_pages::has_credit;
use crate::policy::kernel::page_writeback::wb::WbId;
use crate::policy::kernel::ext4::written_back::Cut;
use crate::flow::{FlowId, Progress};
use crate::policy::{FileView, Integrity, OperationId, Outcome};
use crate::result::Part;
use crate::units::{Bytes, Nanos, seconds_between, whole};
use crate::workload::SyncRangeFlags;

/// A flow of ours: how much of it has happened, and how much of that has been taken account of.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub flow: FlowId,
    pub bytes: u64,
    /// What has been taken account of.
    applied: u64,
    /// What had happened at `since`, and the rate from then on.
    done: f64,
    pub rate: f64,
    since: Nanos,
    /// The cap it has.
    pub cap: Option<(f64, Part)>,
}

impl Transfer {
    pub fn new(flow: FlowId, bytes: u64, cap: Option<(f64, Part)>, now: Nanos) -> Self {
        Self { flow, bytes, applied: 0, done: 0.0, rate: 0.0, since: now, cap }
    }

    /// Its rate has changed.
    pub fn heard(&mut self, now: Nanos, progress: &Progress) {
        (self.done, self.rate, self.since) = (progress.done, progress.rate, now);
    }

    /// The bytes that have moved up to `now` and were not taken account of: from here, so many.
    pub fn take(&mut self, now: Nanos) -> (u64, u64) {
        let done = self.done + self.rate * seconds_between(self.since, now);
        self.take_up_to(whole(done).min(self.bytes))
    }

    /// What has been taken account of.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// What has not been taken account of.
    pub fn left(&self) -> u64 {
        self.bytes - self.applied
    }

    /// All that is left: the flow has ended.
    pub fn take_rest(&mut self) -> (u64, u64) {
        self.take_up_to(self.bytes)
    }

    fn take_up_to(&mut self, done: u64) -> (u64, u64) {
        let from = self.applied;
        self.applied = done.max(from);
        (from, self.applied - from)
    }
}

/// What an operation does with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read {
        fresh: bool,
    },
    Write,
    WriteThrough,
    /// Puts what another host sent into the cache, and where the read is fresh into new memory of its reader.
    Insert {
        reader: OperationId,
        fresh: bool,
    },
    Allocate {
        owner: OperationId,
    },
    /// Pages are taken out of the cache, each at its price; then as `Wait`, if they were of a file that is cut.
    Remove {
        cut: Option<Cut>,
    },
    /// Waits until nothing of the cut is under writeback; then as `Free`.
    Wait {
        cut: Cut,
    },
    /// Blocks are given back.
    Free,
    /// Waits until nothing of so many files is under writeback, then for a commit and until the cache of their device is flushed.
    Sync {
        files: u32,
        then: Waits,
    },
    /// Writes its bytes, or waits for them: what is left to be done, and whether all is done that can be.
    SyncRange {
        left: SyncRangeFlags,
        is_all: bool,
    },
    /// As `Write`, but what the calls of a step have copied is written, or submitted, before the next step begins.
    WriteSync {
        /// Where the step began, and where the operation ends.
        from: u64,
        last: u64,
        /// What each call makes durable; nothing where pages are dropped behind.
        durable: Integrity,
    },
    /// Reads or writes past the cache.
    Direct {
        past: Past,
        /// Where the operation began, and how many bytes a step has.
        from: u64,
        step: u64,
    },
    /// Bytes of blocks that calls of an operation do not fill.
    Beside {
        of: OperationId,
        way: Way,
    },
    /// Pages are read that nobody has asked for yet, because of what this thread has read.
    ReadAhead {
        thread: OperationId,
    },
}

impl Kind {
    /// Who has the memory that an operation takes: itself, or the reader of what another host sent.
    pub fn owner(self, operation: OperationId) -> OperationId {
        match self {
            Self::Insert { reader: owner, .. } | Self::Allocate { owner } => owner,
            _ => operation,
        }
    }
}

/// An operation under way.
#[derive(Debug)]
pub struct Task {
    pub kind: Kind,
    /// Allocations have none.
    pub file: Option<FileView>,
    /// To whom its pages are charged, and the wb that its inode belongs to.
    pub memcg: MemcgId,
    pub wb: WbId,
    /// Where the run under way begins, and where the operation ends.
    pub position: u64,
    pub end: u64,
    /// Where the operation began.
    pub origin: u64,
    /// The open file that it reads.
    pub stream: Option<StreamKey>,
    /// Bytes of one system call.
    pub piece: Bytes,
    /// How many pages it makes dirty before it is checked.
    pub folio: u64,
    /// How the bytes under way are served.
    pub run: Run,
    pub shape: RunShape,
    /// How many bytes of its file had come into memory or left it when it was last looked where its bytes are.
    pub turnover: u64,
    /// What its thread could do when the run began, in bytes per second.
    pub pace: f64,
    pub transfer: Option<Transfer>,
    /// What is told to hold it back, if it does not do what it could.
    pub held_by: Option<Part>,
    /// Whether its next page is the one that makes its inode dirty, which ages from then on.
    pub is_first: bool,
    /// Bytes that have moved, and are counted, but are in no list and no file yet.
    pub pending: u64,
    /// Whether pages leave the cache when they have served it.
    pub drops_behind: bool,
    /// How pages are read that are missed, if it touches those of a mapping.
    pub mapped: Option<Mode>,
    pub access: Access,
    /// Up to where blocks have been read that it fills in part; nothing if there are none.
    pub read_until: Option<u64>,
    /// What a process that is throttled may write without a pause; nothing before its first check.
    pub credit: Option<Credit>,
    pub outcome: Outcome,
    /// When it began to wait, if it does.
    pub since: Nanos,
    /// The time that a commit and a flush take for which it waits, when the device has what was in its queue before them.
    pub commits: Option<Waits>,
    /// Until when its processor is busy before the device gets its next request.
    pub busy_until: Option<Nanos>,
}

impl Task {
    /// An operation on bytes of a file, or of anonymous memory: first byte, how many, and in calls of how many.
    pub fn new(kind: Kind, file: Option<FileView>, at: (u64, Bytes, Bytes), now: Nanos) -> Self {
        let (offset, bytes, piece) = at;
        Self {
            kind,
            file,
            memcg: MemcgId::ROOT,
            wb: WbId::default(),
            position: offset,
            end: offset + bytes.0,
            origin: offset,
            stream: None,
            piece,
            folio: 1,
            run: Run::Wait,
            shape: RunShape::default(),
            turnover: 0,
            pace: 0.0,
            transfer: None,
            held_by: None,
            is_first: false,
            pending: 0,
            drops_behind: false,
            mapped: None,
            access: Access::Calls,
            read_until: None,
            credit: None,
            outcome: Outcome::default(),
            since: now,
            commits: None,
            busy_until: None,
        }
    }

    pub fn file(&self) -> &FileView {
        self.file.as_ref().expect("an operation that moves bytes of a file has one")
    }

    /// What it costs to get a page of its file into the cache.
    pub fn page_insert(&self) -> Nanos {
        self.file.as_ref().map_or(Nanos::ZERO, |file| file.page_insert)
    }

    pub fn is_fresh(&self) -> bool {
        matches!(
            self.kind,
            Kind::Read { fresh: true }
                | Kind::Insert { fresh: true, .. }
                | Kind::Direct { past: Past::Read { fresh: true }, .. }
        )
    }

    /// Whether what it does past the cache is a write.
    pub fn writes_past(&self) -> bool {
        match self.kind {
            Kind::Direct { past, .. } => past.is_write(),
            Kind::Beside { way, .. } => way == Way::Write,
            _ => false,
        }
    }

    /// Whether each of its bytes is one of new anonymous memory.
    pub fn takes_anonymous(&self) -> bool {
        self.is_fresh() || self.run == Run::Touch
    }

    /// Whether it takes free pages while it goes on.
    pub fn takes_memory(&self) -> bool {
        self.run.fills() || self.takes_anonymous()
    }

    /// How many pages of memory it takes for each that it moves.
    pub fn pages_taken(&self) -> f64 {
        f64::from(u8::from(self.run.fills()) + u8::from(self.takes_anonymous()))
    }

    /// Whether it may write faster than the law of its device lets it, as long as its credit lasts.
    #[inline]
    pub fn runs_ahead(&self) -> bool {
        self.run.dirties() && has_credit(self)
    }

    /// Changes by so many bytes of the run how many the operation has from where.
    pub fn count_served(&mut self, bytes: u64, change: impl FnOnce(&mut Bytes, Bytes)) {
        let served = match self.run {
            Run::New | Run::Clean | Run::Dirty
                if matches!(self.kind, Kind::WriteSync { .. }) && !self.drops_behind =>
            {
                &mut self.outcome.from_device
            }
            Run::Hit | Run::New | Run::Clean | Run::Dirty | Run::Insert => &mut self.outcome.from_cache,
            Run::Miss | Run::Pass | Run::Through => &mut self.outcome.from_device,
            Run::Touch | Run::Remove | Run::Follow | Run::Direct | Run::Wait => return,
        };
        change(served, Bytes(bytes));
    }

    /// Notes how the run that has ended was spent.
    pub fn charge(&mut self, mut parts: crate::result::Parts, cost: &PerByte) {
        // What it copied while it had nothing to wait for is no time of the device.
        let copying = Nanos::from_seconds(self.shape.copying).min(parts.get(Part::DeviceRead));
        parts.shift(Part::DeviceRead, Part::CpuCopy, copying);
        if cost.seconds > 0.0 {
            // First touch has no copy.
            let own = if self.run == Run::Touch { Part::PageAllocation } else { Part::CpuCopy };
            let all = parts.get(own);
            let share = |part: f64| Nanos((all.0 as f64 * part / cost.seconds) as u64);
            parts.shift(own, Part::Reclaim, share(cost.reclaim));
            parts.shift(own, Part::PageAllocation, share(cost.allocation));
        }
        self.outcome.parts.add_all(&parts);
    }
}

/// The operations under way, by number.
///
/// All of them are looked at with every event, and one of them comes or goes with few: an ordered vector, in which each is
/// where it was made.
#[derive(Default)]
pub struct Tasks {
    each: Vec<(OperationId, Box<Task>)>,
    /// How often somebody could have changed one of them.
    changes: u64,
}

/// Where a task is until one begins or ends.
#[derive(Clone, Copy, Debug)]
pub struct Place(usize);

impl Tasks {
    /// How often somebody could have changed one of them, otherwise than as `moving` lets him. What is known of all tasks holds
    /// while that is the same.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// One of them has become something else.
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

    /// The places of those that a condition holds for.
    pub fn places(&self, is_wanted: impl Fn(&Task) -> bool) -> Vec<Place> {
        let mut places = Vec::with_capacity(self.each.len());
        places.extend((0..self.each.len()).map(Place).filter(|&place| is_wanted(self.at(place))));
        places
    }

    pub fn at(&self, place: Place) -> &Task {
        &self.each[place.0].1
    }

    /// One of them, as `moving` gives all.
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

    /// An operation begins, or goes on as another kind of task.
    pub fn insert(&mut self, operation: OperationId, task: Task) {
        match self.place(operation) {
            Ok(at) => *self.changing()[at].1 = task,
            Err(at) => self.changing().insert(at, (operation, Box::new(task))),
        }
    }

    pub fn remove(&mut self, operation: OperationId) -> Option<Task> {
        self.place(operation).ok().map(|at| *self.changing().remove(at).1)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.each.len()
    }

    /// Keeps those that a condition holds for, which may change the others.
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

    /// Those that make pages dirty.
    pub fn writers(&self) -> impl Iterator<Item = &Task> {
        self.values().filter(|task| task.run.dirties())
    }

    /// Those that make pages of a wb dirty.
    pub fn writers_of(&self, wb: usize) -> impl Iterator<Item = &Task> {
        self.writers().filter(move |task| task.wb.0 as usize == wb)
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Task> {
        self.changing().iter_mut().map(|(_, task)| &mut **task)
    }

    /// All of them, for who only brings up to date how far each has come and where its bytes are, and its credit.
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

/// What a process may still write without a pause although it is throttled, as time: it thought instead of writing.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Seconds by which the process is behind its rate; below zero if it is ahead.
    pub seconds: f64,
    /// The end of its last check, from which on it thinks.
    pub at: Nanos,
}
