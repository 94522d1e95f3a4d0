//! Follows the files of one process without touching any: how long each is, under which names, and what keeps it when it has none.
//!
//! Lengths are upper bounds: of a directory that is renamed, the files keep their names here.

use pagecast_core::workload::{Fd, OpenDescription};
use rustc_hash::FxHashMap;

/// A file.
#[derive(Clone, Copy, Debug, Default)]
struct Inode {
    length: u64,
    /// The length before time 0, whose room is counted apart.
    at_first: u64,
    names: u32,
    descriptions: u32,
}

/// The number of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InodeId(u32);

/// See the module.
#[derive(Default)]
pub(super) struct Inodes {
    all: Vec<Inode>,
    free: Vec<u32>,
    by_name: FxHashMap<u32, u32>,
    /// Names whose file is gone, with the room that it had before time 0.
    removed: FxHashMap<u32, u64>,
    descriptions: Vec<OpenDescription>,
    free_descriptions: Vec<u32>,
    by_fd: FxHashMap<Fd, u32>,
    /// By how much all files have grown together.
    grown: u64,
}

impl Inodes {
    /// The file of a name, which had this length before time 0.
    pub fn named(&mut self, name: u32, initial: u64) -> InodeId {
        if let Some(&inode) = self.by_name.get(&name) {
            return InodeId(inode);
        }
        let (length, at_first) = match self.removed.remove(&name) {
            Some(credit) => (0, credit),
            None => (initial, initial),
        };
        let inode = Inode { length, at_first, names: 1, descriptions: 0 };
        let at = put(&mut self.all, &mut self.free, inode);
        self.by_name.insert(name, at);
        InodeId(at)
    }

    /// The file of a descriptor that this process has opened.
    pub fn behind(&self, fd: Fd) -> Option<InodeId> {
        self.by_fd.get(&fd).map(|&at| InodeId(self.descriptions[at as usize].inode))
    }

    /// Where a read or write through a descriptor begins, and whether it appends.
    pub fn place(&self, fd: Fd) -> Option<(u64, bool)> {
        let &at = self.by_fd.get(&fd)?;
        let OpenDescription { position, appends, .. } = self.descriptions[at as usize];
        Some((position, appends))
    }

    pub fn seek(&mut self, fd: Fd, position: u64) {
        if let Some(&at) = self.by_fd.get(&fd) {
            self.descriptions[at as usize].position = position;
        }
    }

    pub fn length(&self, InodeId(at): InodeId) -> u64 {
        self.all[at as usize].length
    }

    pub fn set_length(&mut self, InodeId(at): InodeId, length: u64) {
        let inode = &mut self.all[at as usize];
        let beyond = |length: u64| length.saturating_sub(inode.at_first);
        self.grown = self.grown - beyond(inode.length) + beyond(length);
        inode.length = length;
    }

    /// By how much all files have grown together.
    pub fn grown(&self) -> u64 {
        self.grown
    }

    pub fn descriptors(&self) -> usize {
        self.by_fd.len()
    }

    pub fn open(&mut self, fd: Fd, InodeId(inode): InodeId, appends: bool) {
        self.close(fd);
        self.all[inode as usize].descriptions += 1;
        let description = OpenDescription { inode, position: 0, appends, descriptors: 1 };
        let at = put(&mut self.descriptions, &mut self.free_descriptions, description);
        self.by_fd.insert(fd, at);
    }

    pub fn duplicate(&mut self, fd: Fd, to: Fd) {
        let Some(&at) = self.by_fd.get(&fd).filter(|_| fd != to) else { return };
        self.descriptions[at as usize].descriptors += 1;
        self.close(to);
        self.by_fd.insert(to, at);
    }

    pub fn close(&mut self, fd: Fd) {
        let Some(at) = self.by_fd.remove(&fd) else { return };
        let description = &mut self.descriptions[at as usize];
        description.descriptors -= 1;
        if description.descriptors > 0 {
            return;
        }
        let inode = description.inode;
        self.free_descriptions.push(at);
        self.all[inode as usize].descriptions -= 1;
        self.remove_unused(inode);
    }

    /// A name goes, and with the last one the file, unless it is open.
    pub fn unlink(&mut self, name: u32, initial: u64) {
        let InodeId(at) = self.named(name, initial);
        self.by_name.remove(&name);
        self.all[at as usize].names -= 1;
        let credit = self.remove_unused(at);
        self.removed.insert(name, credit);
    }

    pub fn link(&mut self, name: u32, to: u32, initial: u64) {
        let InodeId(at) = self.named(name, initial);
        self.all[at as usize].names += 1;
        self.by_name.insert(to, at);
    }

    /// A file gets another name instead; `initial` are the lengths of both names before time 0.
    pub fn rename(&mut self, name: u32, to: u32, initial: (u64, u64)) {
        let InodeId(at) = self.named(name, initial.0);
        if self.named(to, initial.1) == InodeId(at) {
            return;
        }
        self.unlink(to, initial.1);
        self.by_name.insert(to, at);
        self.by_name.remove(&name);
        self.removed.insert(name, 0);
    }

    /// Gives back what a file had before time 0, if it is gone.
    fn remove_unused(&mut self, at: u32) -> u64 {
        let Inode { names, descriptions, at_first, .. } = self.all[at as usize];
        if names > 0 || descriptions > 0 {
            return 0;
        }
        self.set_length(InodeId(at), 0);
        self.free.push(at);
        at_first
    }
}

/// Puts something at a free place.
fn put<T>(all: &mut Vec<T>, free: &mut Vec<u32>, one: T) -> u32 {
    match free.pop() {
        Some(at) => {
            all[at as usize] = one;
            at
        }
        None => {
            all.push(one);
            all.len() as u32 - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FD: Fd = Fd(3);

    #[test]
    fn an_open_file_keeps_its_room_when_its_name_is_gone() {
        let mut inodes = Inodes::default();
        let f = inodes.named(0, 0);
        inodes.open(FD, f, false);
        inodes.set_length(f, 100);
        inodes.unlink(0, 0);
        let again = inodes.named(0, 0);
        inodes.set_length(again, 50);
        assert_eq!((inodes.grown(), inodes.behind(FD)), (150, Some(f)));
        inodes.duplicate(FD, Fd(4));
        inodes.close(FD);
        assert_eq!(inodes.grown(), 150, "the duplicate holds it");
        inodes.close(Fd(4));
        assert_eq!(inodes.grown(), 50);
    }

    #[test]
    fn a_renamed_file_takes_its_length_along_and_replaces_another() {
        let mut inodes = Inodes::default();
        for (name, length) in [(0, 100), (1, 30)] {
            let file = inodes.named(name, 0);
            inodes.set_length(file, length);
        }
        inodes.rename(0, 1, (0, 0));
        let renamed = inodes.named(1, 0);
        assert_eq!((inodes.grown(), inodes.length(renamed)), (100, 100));
        inodes.link(1, 2, 0);
        inodes.unlink(1, 0);
        assert_eq!(inodes.grown(), 100, "it has another name");
        inodes.unlink(2, 0);
        assert_eq!(inodes.grown(), 0);
        let old = inodes.named(0, 0);
        assert_eq!(inodes.length(old), 0);
    }

    #[test]
    fn room_of_a_file_before_time_0_is_not_growth() {
        let mut inodes = Inodes::default();
        inodes.unlink(0, 100);
        let again = inodes.named(0, 100);
        inodes.set_length(again, 130);
        assert_eq!(inodes.grown(), 30);
    }
}
