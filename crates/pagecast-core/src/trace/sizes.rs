//! Infers which files existed before a recording, and how large they were at least.
//!
//! A file that is read before its bytes were written existed with them; one that is emptied or made before that did not. Names are
//! followed over rename, link and unlink, and positions over descriptors.
//!
//! Left out: a directory that is renamed takes no file with it; where a file has many written parts, the nearest count as one.

use rustc_hash::FxHashMap;

use super::error::TraceError;
use crate::stdio::LibraryCall;
use crate::units::Bytes;
use crate::workload::{Action, Fd, MappedCall, OpenDescription, OpenFlag, Operation};

/// How many written parts of a file are told apart.
const MOST_PARTS: usize = 8;

/// None yet.
const NOBODY: u32 = u32::MAX;

/// A file of the recording, whatever its names.
#[derive(Clone, Debug, Default)]
struct Inode {
    /// The number of the path under which it was first met.
    path: u32,
    /// True if it must have existed before.
    existed: bool,
    /// Its size before, at least.
    before: u64,
    /// True if the recording may have made it: what happens to the whole of it says nothing about before.
    may_be_new: bool,
    /// True if the recording has made or cut it: not even what is read says anything about before.
    is_cut: bool,
    /// The size that was told, if any.
    told: Option<Bytes>,
    /// Parts that were written, in order, not touching.
    written: Vec<(u64, u64)>,
    /// The end of the last byte that was seen.
    end: u64,
}

/// The bytes of a file that an operation moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The file, whatever its names.
    pub inode: u32,
    /// The first byte.
    pub offset: u64,
    /// How many; as far as is known, where it goes up to the end of the file.
    pub bytes: u64,
    /// Written, or else read.
    pub is_write: bool,
}

/// What an operation moves: nothing, a part of a file, or parts of two.
pub type Moves = [Option<Placed>; 2];

/// What is known of all files.
#[derive(Debug, Default)]
pub struct Sizes {
    /// The inode of each path; [`NOBODY`] if there is none.
    names: Vec<u32>,
    inodes: Vec<Inode>,
    /// Open files by table and descriptor.
    open: FxHashMap<(Table, Fd), u32>,
    descriptions: Vec<OpenDescription>,
    /// Descriptions without descriptors.
    unused: Vec<u32>,
}

/// The number of a table of descriptors.
pub type Table = u64;

/// A file that existed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Existed {
    /// The number of its path.
    pub path: u32,
    /// Its size.
    pub size: Bytes,
    /// True if nobody told it.
    pub is_inferred: bool,
}

impl Sizes {
    /// A file existed with this size, as the recording tells.
    pub fn tell(&mut self, path: u32, size: Bytes) -> Result<(), TraceError> {
        let inode = self.inode(path)?;
        if !inode.is_cut {
            inode.existed = true;
            inode.told = Some(size);
            inode.end = inode.end.max(size.0);
        }
        Ok(())
    }

    /// The size of the file that has a name, as far as it is known.
    pub fn end(&mut self, path: u32) -> Result<Bytes, TraceError> {
        Ok(Bytes(self.inode(path)?.end))
    }

    /// The files that existed before, in the order in which they came.
    pub fn existed(&self) -> impl Iterator<Item = Existed> {
        self.inodes.iter().filter(|inode| inode.existed).map(|inode| Existed {
            path: inode.path,
            size: inode.told.map_or(Bytes(inode.before), |told| Bytes(told.0.max(inode.before))),
            is_inferred: inode.told.is_none_or(|told| told.0 < inode.before),
        })
    }

    /// The number of the path under which a file was first met, and the end of its last byte that was seen.
    pub fn path_and_end(&self, inode: u32) -> (u32, u64) {
        let inode = &self.inodes[inode as usize];
        (inode.path, inode.end)
    }

    /// An operation of a process with this table of descriptors; `path` and `other` are the numbers of its paths. Gives what it moves.
    #[inline]
    pub fn note(
        &mut self,
        table: Table,
        operation: &Operation,
        path: u32,
        other: u32,
    ) -> Result<Moves, TraceError> {
        match &operation.action {
            Action::Read { offset, bytes, .. } => {
                let bytes = bytes.map(|bytes| bytes.0);
                let placed = self.at_position((table, operation.fd), path, *offset, bytes, false)?;
                Ok([Some(placed), None])
            }
            Action::Write { offset, bytes, .. } => {
                let bytes = Some(bytes.0);
                Ok([Some(self.at_position((table, operation.fd), path, *offset, bytes, true)?), None])
            }
            action => self.note_other(table, operation.fd, action, path, other),
        }
    }

    fn note_other(
        &mut self,
        table: Table,
        fd: Option<Fd>,
        action: &Action,
        path: u32,
        other: u32,
    ) -> Result<Moves, TraceError> {
        let mut moves = [None, None];
        match action {
            Action::Open { create, truncate, flags, .. } => {
                self.open(path, *create, *truncate)?;
                if let Some(fd) = fd {
                    self.describe((table, fd), path, flags.has(OpenFlag::Append))?;
                }
            }
            Action::Close { .. } => {
                if let Some(fd) = fd {
                    self.close((table, fd));
                }
            }
            Action::Duplicate { to, .. } => {
                if let Some(&at) = fd.and_then(|fd| self.open.get(&(table, fd))) {
                    self.descriptions[at as usize].descriptors += 1;
                    self.close((table, *to));
                    self.open.insert((table, *to), at);
                }
            }
            Action::Seek { offset, .. } => {
                if let Some(&at) = fd.and_then(|fd| self.open.get(&(table, fd))) {
                    self.descriptions[at as usize].position = *offset;
                }
            }
            Action::Copy { offset, bytes, .. } => {
                let bytes = bytes.map(|bytes| bytes.0);
                let from = self.number(path)?;
                moves[0] = Some(self.read(from, *offset, bytes));
                let to = self.number(other)?;
                moves[1] = Some(self.write(to, *offset, bytes.unwrap_or(0)));
            }
            Action::Truncate { size, .. } => {
                let inode = self.of(table, fd, path)?;
                inode.exists();
                inode.cut(size.0);
            }
            Action::Mkdir { .. } => self.inode(path)?.cut(0),
            Action::Unlink { .. } => {
                self.inode(path)?.exists();
                let gone = self.names[path as usize];
                self.names[path as usize] = self.new_behind(gone, path)?;
            }
            Action::Rename { .. } => {
                self.inode(path)?.exists();
                self.names_up_to(other)?;
                let gone = self.names[other as usize];
                self.names[other as usize] = self.names[path as usize];
                self.names[path as usize] = self.new_behind(gone, path)?;
            }
            Action::Link { .. } => {
                self.inode(path)?.exists();
                self.names_up_to(other)?;
                self.names[other as usize] = self.names[path as usize];
            }
            Action::Fallocate { offset, bytes, .. } => self.of(table, fd, path)?.write(*offset, bytes.0),
            Action::Pattern(pattern) => {
                let inode = self.number_of(table, fd, path)?;
                let bytes = pattern.range.or(pattern.bytes).map(|bytes| bytes.0);
                // A part that is read and written at random is read somewhere before it is written.
                moves[0] = Some(match pattern.write_share < 1.0 {
                    true => self.read(inode, pattern.offset, bytes),
                    false => self.write(inode, pattern.offset, bytes.unwrap_or(0)),
                });
            }
            Action::Readahead { .. } | Action::SyncFileRange { .. } | Action::Fadvise { .. } => {
                self.of(table, fd, path)?.exists();
            }
            Action::Fsync { .. } | Action::Fdatasync { .. } => self.of(table, fd, path)?.exists(),
            Action::Stream { call, .. } => moves[0] = self.stream(path, call)?,
            Action::Mapped { call, .. } => match call {
                MappedCall::Map | MappedCall::Unmap => self.of(table, fd, path)?.exists(),
                call => {
                    let (offset, bytes) = call.part();
                    let inode = self.number_of(table, fd, path)?;
                    let read = self.read(inode, offset, bytes.map(|bytes| bytes.0));
                    moves[0] = match call {
                        MappedCall::Read { .. } => Some(read),
                        MappedCall::Write { .. } => Some(Placed { is_write: true, ..read }),
                        _ => None,
                    };
                }
            },
            _ => {}
        }
        Ok(moves)
    }

    /// A read or write, at the position of its descriptor if it has no offset.
    #[inline]
    fn at_position(
        &mut self,
        (table, fd): (Table, Option<Fd>),
        path: u32,
        offset: Option<u64>,
        bytes: Option<u64>,
        writes: bool,
    ) -> Result<Placed, TraceError> {
        let description = fd.and_then(|fd| self.open.get(&(table, fd)).copied());
        let Some(at) = description else {
            let inode = self.number(path)?;
            return Ok(match writes {
                true => {
                    let end = self.inodes[inode as usize].end;
                    self.write(inode, offset.unwrap_or(end), bytes.unwrap_or(0))
                }
                false => self.read(inode, offset.unwrap_or(0), bytes),
            });
        };
        let description = &mut self.descriptions[at as usize];
        let inode = description.inode;
        let start = match (writes && description.appends, offset) {
            (true, _) => self.inodes[inode as usize].end,
            (false, Some(offset)) => offset,
            (false, None) => description.position,
        };
        if offset.is_none() {
            description.position = start.saturating_add(bytes.unwrap_or(0));
        }
        Ok(match writes {
            true => self.write(inode, start, bytes.unwrap_or(0)),
            false => self.read(inode, start, bytes),
        })
    }

    /// A part of a file is read; without a number of bytes it is read up to its end.
    #[inline]
    fn read(&mut self, inode: u32, offset: u64, bytes: Option<u64>) -> Placed {
        let file = &mut self.inodes[inode as usize];
        file.read(offset, bytes);
        let bytes = bytes.unwrap_or(file.end.saturating_sub(offset));
        Placed { inode, offset, bytes, is_write: false }
    }

    /// A part of a file is written.
    #[inline]
    fn write(&mut self, inode: u32, offset: u64, bytes: u64) -> Placed {
        self.inodes[inode as usize].write(offset, bytes);
        Placed { inode, offset, bytes, is_write: true }
    }

    fn open(&mut self, path: u32, create: bool, truncate: bool) -> Result<(), TraceError> {
        let inode = self.inode(path)?;
        if !create {
            inode.exists();
        }
        inode.may_be_new = true;
        if truncate {
            inode.cut(0);
        }
        Ok(())
    }

    fn stream(&mut self, path: u32, call: &LibraryCall) -> Result<Option<Placed>, TraceError> {
        match *call {
            LibraryCall::Open { mode, .. } => self.open(path, mode.creates(), mode.truncates())?,
            LibraryCall::Read { offset: Some(offset), bytes, .. } => {
                let inode = self.number(path)?;
                return Ok(Some(self.read(inode, offset, bytes.map(|bytes| bytes.0))));
            }
            LibraryCall::Write { offset: Some(offset), bytes, .. } => {
                let inode = self.number(path)?;
                return Ok(Some(self.write(inode, offset, bytes.0)));
            }
            _ => {}
        }
        Ok(None)
    }

    /// The table has the file open through the descriptor.
    fn describe(&mut self, key: (Table, Fd), path: u32, appends: bool) -> Result<(), TraceError> {
        self.close(key);
        let inode = self.names[path as usize];
        let description = OpenDescription { inode, position: 0, appends, descriptors: 1 };
        let at = match self.unused.pop() {
            Some(at) => {
                self.descriptions[at as usize] = description;
                at
            }
            None => {
                self.descriptions.push(description);
                u32::try_from(self.descriptions.len() - 1).map_err(|_| TraceError::TooMany("open files"))?
            }
        };
        self.open.insert(key, at);
        Ok(())
    }

    fn close(&mut self, key: (Table, Fd)) {
        let Some(at) = self.open.remove(&key) else { return };
        let description = &mut self.descriptions[at as usize];
        description.descriptors -= 1;
        if description.descriptors == 0 {
            self.unused.push(at);
        }
    }

    /// The file of a descriptor, or else of a path.
    fn of(&mut self, table: Table, fd: Option<Fd>, path: u32) -> Result<&mut Inode, TraceError> {
        let number = self.number_of(table, fd, path)?;
        Ok(&mut self.inodes[number as usize])
    }

    fn number_of(&mut self, table: Table, fd: Option<Fd>, path: u32) -> Result<u32, TraceError> {
        match fd.and_then(|fd| self.open.get(&(table, fd)).copied()) {
            Some(at) => Ok(self.descriptions[at as usize].inode),
            None => self.number(path),
        }
    }

    /// The file of a path.
    #[inline]
    fn inode(&mut self, path: u32) -> Result<&mut Inode, TraceError> {
        let number = self.number(path)?;
        Ok(&mut self.inodes[number as usize])
    }

    #[inline]
    fn number(&mut self, path: u32) -> Result<u32, TraceError> {
        self.names_up_to(path)?;
        Ok(self.names[path as usize])
    }

    fn names_up_to(&mut self, path: u32) -> Result<(), TraceError> {
        if self.names.len() <= path as usize {
            self.names.resize(path as usize + 1, NOBODY);
        }
        if self.names[path as usize] == NOBODY {
            self.names[path as usize] = self.add(Inode { path, ..Inode::default() })?;
        }
        Ok(())
    }

    /// A file of this name that the recording makes, if it comes again. One that has lost its name and did not exist before serves again.
    fn new_behind(&mut self, gone: u32, path: u32) -> Result<u32, TraceError> {
        let inode = &mut self.inodes[gone as usize];
        if inode.is_cut && !inode.existed {
            inode.end = 0;
            return Ok(gone);
        }
        self.add(Inode { path, is_cut: true, ..Inode::default() })
    }

    fn add(&mut self, inode: Inode) -> Result<u32, TraceError> {
        let at = u32::try_from(self.inodes.len()).ok().filter(|&at| at != NOBODY);
        self.inodes.push(inode);
        at.ok_or(TraceError::TooMany("files"))
    }
}

impl Inode {
    /// It is there.
    fn exists(&mut self) {
        self.existed |= !self.is_cut && !self.may_be_new;
    }

    /// It is read; with no size it is read up to its end, wherever that is.
    #[inline]
    fn read(&mut self, start: u64, bytes: Option<u64>) {
        let end = start.saturating_add(bytes.unwrap_or(0));
        if self.is_cut || (end <= self.before && self.existed) {
            return;
        }
        if end == start {
            // Up to the end, or nothing at it.
            return self.exists();
        }
        if !self.written.iter().any(|&(from, to)| from <= start && end <= to) {
            self.existed = true;
            self.before = self.before.max(end);
            self.end = self.end.max(end);
        }
    }

    /// It is written.
    #[inline]
    fn write(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        self.end = self.end.max(end);
        self.may_be_new = true;
        if self.is_cut || bytes == 0 || end <= self.before {
            return;
        }
        match self.written.last_mut() {
            Some((from, to)) if *from <= start && start <= *to => *to = (*to).max(end),
            _ => self.write_elsewhere(start, end),
        }
    }

    #[cold]
    fn write_elsewhere(&mut self, start: u64, end: u64) {
        let first = self.written.partition_point(|&(_, to)| to < start);
        let last = self.written.partition_point(|&(from, _)| from <= end);
        let from = self.written.get(first).map_or(start, |part| part.0.min(start));
        let to = if last > first { self.written[last - 1].1.max(end) } else { end };
        self.written.splice(first..last, [(from.min(start), to)]);
        if self.written.len() > MOST_PARTS {
            let gap = |at: &usize| self.written[at + 1].0 - self.written[*at].1;
            let nearest = (0..self.written.len() - 1).min_by_key(gap).expect("there are several");
            self.written[nearest].1 = self.written[nearest + 1].1;
            self.written.remove(nearest + 1);
        }
    }

    /// It has this size from now on.
    fn cut(&mut self, size: u64) {
        self.is_cut = true;
        self.end = size;
        self.written = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::trace::{Level, Writer};
    use crate::workload::{Buffer, OpenFlags};

    fn path(name: &str) -> Arc<str> {
        name.into()
    }

    fn read(name: &str, offset: Option<u64>, bytes: u64) -> Operation {
        let bytes = Some(Bytes(bytes));
        Action::Read { path: path(name), offset, bytes, call: None, vector: 1, buffer: Buffer::Reused }.into()
    }

    fn write(name: &str, offset: Option<u64>, bytes: u64) -> Operation {
        Action::Write { path: path(name), offset, bytes: Bytes(bytes), call: None, vector: 1 }.into()
    }

    fn open(name: &str, create: bool, truncate: bool) -> Operation {
        Action::Open { path: path(name), create, truncate, flags: OpenFlags::default() }.into()
    }

    fn through(fd: u32, operation: Operation) -> Operation {
        Operation { fd: Some(Fd(fd)), ..operation }
    }

    /// The files that existed, with their sizes.
    fn existed(operations: &[Operation]) -> Vec<(String, u64)> {
        let mut writer = Writer::new("x", Level::Files);
        let process = writer.process("p").unwrap();
        for operation in operations {
            writer.record(process, None, None, operation).unwrap();
        }
        writer.finish().unwrap().files().map(|file| (file.path.to_string(), file.size.0)).collect()
    }

    fn one(name: &str, size: u64) -> Vec<(String, u64)> {
        vec![(name.to_owned(), size)]
    }

    #[test]
    fn what_is_read_before_it_is_written_was_there() {
        assert_eq!(existed(&[read("f", Some(100), 50), read("f", Some(0), 10)]), one("f", 150));
        assert_eq!(existed(&[write("f", Some(0), 100), read("f", Some(0), 100)]), []);
        assert_eq!(existed(&[write("f", Some(0), 100), read("f", Some(50), 100)]), one("f", 150));
        let parts = [write("f", Some(200), 100), write("f", Some(100), 100), read("f", Some(120), 150)];
        assert_eq!(existed(&parts), []);
    }

    #[test]
    fn what_is_emptied_or_made_was_not_there() {
        assert_eq!(existed(&[open("f", true, true), read("f", Some(0), 10)]), []);
        assert_eq!(existed(&[open("f", true, false), write("f", None, 10), read("f", Some(0), 10)]), []);
        assert_eq!(existed(&[open("f", true, false), read("f", Some(0), 10)]), one("f", 10));
        assert_eq!(existed(&[open("f", false, true), read("f", Some(0), 10)]), one("f", 0));
        let replaced = [Action::Unlink { path: path("f") }.into(), write("f", None, 5), read("f", None, 9)];
        assert_eq!(existed(&replaced), one("f", 0));
    }

    #[test]
    fn positions_are_followed_through_descriptors() {
        let dup = Action::Duplicate { path: path("f"), to: Fd(9) }.into();
        let seek = Action::Seek { path: path("f"), offset: 1000 }.into();
        let operations = [
            through(3, open("f", false, false)),
            through(3, read("f", None, 10)),
            through(3, dup),
            through(9, read("f", None, 10)),
            through(3, read("f", None, 10)),
        ];
        assert_eq!(existed(&operations), one("f", 30));
        let operations =
            [through(3, open("f", false, false)), through(3, seek), through(3, read("f", None, 1))];
        assert_eq!(existed(&operations), one("f", 1001));
    }

    #[test]
    fn a_file_keeps_its_first_name() {
        let rename = |from, to| Operation::from(Action::Rename { path: path(from), to: path(to) });
        assert_eq!(existed(&[rename("a", "b"), read("b", Some(0), 10)]), one("a", 10));
        let again = [rename("a", "b"), open("a", true, false), write("a", None, 3), read("a", Some(0), 3)];
        assert_eq!(existed(&again), one("a", 0));
        let made = [open("t", true, true), write("t", None, 3), rename("t", "f"), read("f", Some(0), 3)];
        assert_eq!(existed(&made), []);
    }

    #[test]
    fn a_directory_is_no_file() {
        let sync = Action::Fsync { path: path("/d") }.into();
        assert_eq!(existed(&[sync, read("/d/f", Some(0), 1)]), one("/d/f", 1));
    }

    #[test]
    fn many_files_that_come_and_go_need_the_room_of_one() {
        let mut sizes = Sizes::default();
        for _ in 0..1000 {
            let operations =
                [through(3, open("j", true, true)), through(3, Action::Close { path: path("j") }.into())];
            for operation in
                operations.iter().chain([&Action::Rename { path: path("j"), to: path("k") }.into()])
            {
                sizes.note(0, operation, 0, 1).unwrap();
            }
        }
        assert!(sizes.inodes.len() < 4 && sizes.descriptions.len() == 1 && sizes.open.is_empty());
    }
}
