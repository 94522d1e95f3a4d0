//! Opens files, by descriptors in tables that processes share, or by their paths alone.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use pagecast_core::error::SimulationError;
use pagecast_core::workload::{Fd, OpenFlags};
use rustc_hash::FxHashMap;

use super::{Done, Halt, Runner};
use crate::io::{Open, Streams};
use crate::run::names::NamedFile;
use crate::run::plan::{Plan, Step};

/// An open file description, which duplicates share.
pub(in crate::run) struct Handle<F> {
    pub file: F,
    pub flags: OpenFlags,
    state: Mutex<State>,
}

/// What changes of a description.
#[derive(Default)]
pub(super) struct State {
    /// Where a read or write without an offset begins, if it is a descriptor's.
    pub position: u64,
    /// The end of the last write that is under way or has been.
    pub taken: u64,
}

impl<F> Handle<F> {
    pub fn new(file: F, flags: OpenFlags) -> Arc<Self> {
        Arc::new(Self { file, flags, state: Mutex::default() })
    }

    /// Locks the position, as read(2) and write(2) do as long as they take (`f_pos_lock`).
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while he holds the lock")
    }
}

/// An open file, and the generation of its name when it was opened.
pub(super) type Generation<F> = (u32, Arc<Handle<F>>);

/// The descriptors of one process, or of several.
struct Table<F> {
    open: Mutex<FxHashMap<Fd, Arc<Handle<F>>>>,
    /// How many processes that have not ended use it.
    users: AtomicUsize,
}

/// All tables, by their number.
pub(in crate::run) struct Tables<F>(Vec<Table<F>>);

impl<F> Tables<F> {
    pub fn new(plan: &Plan) -> Self {
        let users = |table| plan.processes.iter().filter(|process| process.table == table).count();
        let one = |table| Table { open: Mutex::default(), users: AtomicUsize::new(users(table)) };
        Self((0..plan.tables).map(one).collect())
    }

    fn open(&self, table: u32) -> MutexGuard<'_, FxHashMap<Fd, Arc<Handle<F>>>> {
        self.0[table as usize].open.lock().expect("nobody panics while he holds the lock")
    }

    pub fn get(&self, table: u32, fd: Fd) -> Option<Arc<Handle<F>>> {
        self.open(table).get(&fd).cloned()
    }

    /// Puts an open file under a number; the one that it had is closed after it.
    pub fn insert(&self, table: u32, fd: Fd, handle: Arc<Handle<F>>) {
        let _closed_without_the_lock = self.open(table).insert(fd, handle);
    }

    pub fn remove(&self, table: u32, fd: Fd) -> Option<Arc<Handle<F>>> {
        self.open(table).remove(&fd)
    }

    /// A process has ended; with the last one of a table all its files are closed.
    pub fn leave(&self, table: u32) {
        if self.0[table as usize].users.fetch_sub(1, Ordering::AcqRel) == 1 {
            let _closed_without_the_lock = std::mem::take(&mut *self.open(table));
        }
    }
}

impl<I: Streams> Runner<'_, I> {
    pub(super) fn open(&self, step: &Step, file: &NamedFile, how: Open) -> Result<I::File, Halt> {
        let open = || self.shared.io.open(&file.within, how);
        let opened = if how.create { self.in_directory(&file.within, open) } else { open() };
        opened.map_err(|error| self.failed(step, error))
    }

    /// The open file of a step: that of its descriptor, or of its path.
    pub(super) fn handle(&mut self, step: &Step, create: bool) -> Result<Arc<Handle<I::File>>, Halt> {
        match (step.operation.fd, &step.file) {
            (Some(fd), _) => self.behind(step, fd),
            (None, Some(file)) => self.by_path(step, file, create),
            (None, None) => unreachable!("who asks for a file has one"),
        }
    }

    /// The open file of a descriptor.
    pub(super) fn behind(&self, step: &Step, fd: Fd) -> Result<Arc<Handle<I::File>>, Halt> {
        self.shared.tables.get(self.process.table, fd).ok_or_else(|| self.not_open(step, fd))
    }

    /// The descriptor of a call that only a descriptor can have.
    pub(super) fn number_of(&self, step: &Step) -> Result<Fd, Halt> {
        step.operation.fd.ok_or_else(|| {
            let operation = step.operation.action.name();
            self.workload(SimulationError::NoDescriptor { at: self.blame(step), operation })
        })
    }

    /// A file that is open, or is opened now: no scenario has to say that. If its name stands for another one by now, that is opened.
    pub(super) fn by_path(
        &mut self,
        step: &Step,
        file: &NamedFile,
        create: bool,
    ) -> Result<Arc<Handle<I::File>>, Halt> {
        let generation = file.generation();
        let flags = match self.handles.get(&file.number) {
            Some((opened, handle)) if *opened == generation => return Ok(handle.clone()),
            Some((_, handle)) => handle.flags,
            None => OpenFlags::default(),
        };
        let opened = self.open(step, file, Open { create, truncate: false, flags })?;
        let handle = Handle::new(opened, flags);
        self.handles.insert(file.number, (generation, handle.clone()));
        Ok(handle)
    }

    pub(super) fn on_file(
        &mut self,
        step: &Step,
        call: impl Fn(&I, &I::File) -> io::Result<()>,
    ) -> Result<Done, Halt> {
        let handle = self.handle(step, false)?;
        call(self.shared.io, &handle.file).map_err(|error| self.failed(step, error))?;
        Ok(Done { flags: handle.flags, ..Done::default() })
    }
}
