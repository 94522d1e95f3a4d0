//! Keeps processes in the order in which one needs what another one has done: files that it makes, bytes that it writes into a pipe.
//!
//! In a forecast processes take other times than in the recording. A process that opens a file waits until the one that has changed it last
//! has come as far as it had in the recording.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Who has changed what, and what the call that is being read needs and changes.
#[derive(Debug, Default)]
pub struct Order {
    /// The thread that has changed a file or pipe last.
    changed: FxHashMap<Arc<str>, u32>,
    /// How many records a thread had when another one last waited for it.
    waited: FxHashMap<(u32, u32), u64>,
    needs: Vec<Arc<str>>,
    changes: Vec<Arc<str>>,
}

impl Order {
    /// The call needs a file or pipe as it is; true if somebody has changed it.
    pub fn need(&mut self, path: &Arc<str>) -> bool {
        let is_changed = self.changed.contains_key(path);
        if is_changed {
            self.needs.push(Arc::clone(path));
        }
        is_changed
    }

    /// The call changes a file or pipe.
    pub fn change(&mut self, path: &Arc<str>) {
        self.changes.push(Arc::clone(path));
    }

    /// The threads that a call of thread `pid` needs, which is over.
    pub fn end_call(&mut self, pid: u32) -> Vec<u32> {
        let changed = &self.changed;
        let needed = self.needs.drain(..).filter_map(|path| changed.get(&path).copied());
        let mut others: Vec<u32> = needed.filter(|&other| other != pid).collect();
        others.sort_unstable();
        others.dedup();
        for path in self.changes.drain(..) {
            self.changed.insert(path, pid);
        }
        others
    }

    /// Whether a thread must wait for another one, which has this many records: not if it did so since the last of them.
    pub fn must_wait(&mut self, pid: u32, other: u32, records: u64) -> bool {
        self.waited.insert((pid, other), records) != Some(records)
    }
}
