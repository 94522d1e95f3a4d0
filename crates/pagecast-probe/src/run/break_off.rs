//! Breaks off system calls under way, when a run is stopped.
//!
//! A signal that does not kill ends none of them. A buffered write looks for fatal signals only (`generic_perform_write`, mm/filemap.c;
//! `balance_dirty_pages`, mm/page-writeback.c, sleeps killable), and fsync does not even for those (`folio_wait_writeback`). So their
//! memory and files are taken away. A read or write whose memory may no longer be touched ends with the page that it is about to copy, with
//! EFAULT or fewer bytes. The files, which would be removed anyway, are cut to nothing: an fsync then waits only for bytes in flight to the
//! device.
//!
//! Left out: that wait, files that are open and have no name any more, and sync and `drop_caches`, which concern the whole machine.

use std::fs::read_dir;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, Scope};

use rustix::fs::{OFlags, ftruncate};

use super::plan::Plan;
use crate::io::{Folder, Memory, Withdrawal};

/// So many files are cut at a time: each cut waits for what is on its way of its file.
const CUTTERS: usize = 16;

/// The memory that the calls of all processes use.
pub(super) struct InUse {
    of_process: Vec<Mutex<Vec<Withdrawal>>>,
}

/// A memory of a process.
#[derive(Clone, Copy)]
pub(super) enum Which {
    /// The one that is used again and again.
    Reused,
    /// The last that was taken for a read of its own.
    Fresh,
    /// That of one of its threads.
    Thread,
}

impl InUse {
    pub fn new(plan: &Plan) -> Self {
        let one = || Mutex::new(vec![Withdrawal::default(), Withdrawal::default()]);
        Self { of_process: plan.processes.iter().map(|_| one()).collect() }
    }

    /// Says that calls of a process are going to use this memory. Who then sees that nothing was stopped yet will have it taken away.
    pub fn note(&self, process: usize, which: Which, memory: &Memory) {
        let mut known = self.of_process[process].lock().expect("nobody panics while he holds the lock");
        match which {
            Which::Reused | Which::Fresh => known[which as usize] = memory.withdrawal(),
            Which::Thread => known.push(memory.withdrawal()),
        }
    }

    /// Takes all of it away from the calls.
    fn withdraw(&self) {
        for known in &self.of_process {
            let known = known.lock().expect("nobody panics while he holds the lock");
            known.iter().for_each(Withdrawal::withdraw);
        }
    }
}

/// Breaks off all calls, after everybody has been told to stop. Returns at once; the scope waits for the files to be cut.
pub(super) fn break_off<'scope>(scope: &'scope Scope<'scope, '_>, in_use: &InUse, folder: &'scope Folder) {
    in_use.withdraw();
    // Programs have renamed files, and named others; so what is there counts.
    let files = Arc::new(files_of(&folder.sure_path(), folder));
    for first in 0..CUTTERS.min(files.len()) {
        let files = files.clone();
        let cut_some = move || {
            files.iter().skip(first).step_by(CUTTERS).for_each(|path| cut(folder, path));
        };
        // Without a thread calls take as long as they take.
        let _ = Builder::new().spawn_scoped(scope, cut_some);
    }
}

/// All files in a folder, by their paths within it; links are not followed.
fn files_of(root: &Path, folder: &Folder) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(within) = folders.pop() {
        // Opened without following links: a directory may become one meanwhile.
        let Ok(open) = folder.folder(&within) else { continue };
        let place = root.with_file_name(open.as_raw_fd().to_string());
        for entry in read_dir(place).into_iter().flatten().flatten() {
            let path = within.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => files.push(path),
                _ => {}
            }
        }
    }
    files
}

fn cut(folder: &Folder, path: &Path) {
    // One that is not there any more has nothing to be waited for.
    let _ = folder.beneath(path, OFlags::WRONLY | OFlags::NONBLOCK).map(|file| ftruncate(file, 0));
}
