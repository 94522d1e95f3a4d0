//! Keeps open files, and the tables of descriptors that processes share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use pagecast_core::workload::{Fd, OpenFlags};
use rustc_hash::FxHashMap;

use crate::run::plan::Plan;

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
