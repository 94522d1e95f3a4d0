//! Keeps the descriptors of a process: numbers of open files, each with a position and the flags it was opened with.
//!
//! Several numbers can stand for one open file (dup(2), fork(2)); they share its position.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::fs::Located;
use crate::policy::FileId;
use crate::workload::{Fd, OpenFlags};

/// An open file (an "open file description" of POSIX).
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenFile {
    pub located: Located,
    pub flags: OpenFlags,
    pub position: u64,
    /// How many descriptors it has.
    descriptors: u32,
}

/// A table of descriptors.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    numbers: FxHashMap<Fd, u32>,
    open: Vec<OpenFile>,
    /// Places of `open` that are free.
    free: Vec<u32>,
    /// Files of other hosts that have been written and not closed since, with their mounts.
    unflushed: BTreeMap<FileId, u32>,
}

impl Descriptors {
    /// The open file of a descriptor.
    pub(crate) fn get(&self, fd: Fd) -> Option<&OpenFile> {
        self.numbers.get(&fd).map(|&at| &self.open[at as usize])
    }

    /// Opens a file under a number that is not open.
    pub(super) fn open(&mut self, fd: Fd, located: Located, flags: OpenFlags) {
        let file = OpenFile { located, flags, position: 0, descriptors: 1 };
        let at = match self.free.pop() {
            Some(at) => {
                self.open[at as usize] = file;
                at
            }
            None => {
                self.open.push(file);
                self.open.len() as u32 - 1
            }
        };
        self.numbers.insert(fd, at);
    }

    /// Gives an open file another number, which is not open.
    pub(super) fn duplicate(&mut self, fd: Fd, to: Fd) {
        let at = self.numbers[&fd];
        self.open[at as usize].descriptors += 1;
        self.numbers.insert(to, at);
    }

    /// Closes a number; gives the file if that was its last one.
    pub(super) fn close(&mut self, fd: Fd) -> Option<Located> {
        let at = self.numbers.remove(&fd)?;
        let file = &mut self.open[at as usize];
        file.descriptors -= 1;
        let is_last = file.descriptors == 0;
        let located = file.located;
        if is_last {
            self.free.push(at);
        }
        is_last.then_some(located)
    }

    /// Closes all; gives the files in the order in which they were opened.
    pub(super) fn close_all(&mut self) -> Vec<Located> {
        self.numbers.clear();
        self.free.clear();
        self.open.drain(..).filter(|file| file.descriptors > 0).map(|file| file.located).collect()
    }

    /// Notes that a file of another host has been written.
    pub(super) fn note_written(&mut self, located: Located) {
        self.unflushed.insert(located.file, located.mount);
    }

    /// Notes that a file is closed.
    pub(super) fn note_closed(&mut self, file: FileId) {
        self.unflushed.remove(&file);
    }

    /// Takes a file of another host that has been written and not closed.
    pub(super) fn take_unflushed(&mut self) -> Option<Located> {
        self.unflushed.pop_first().map(|(file, mount)| Located { file, mount })
    }

    /// Sets the position of an open file.
    pub(super) fn seek(&mut self, fd: Fd, position: u64) {
        self.open[self.numbers[&fd] as usize].position = position;
    }
}
