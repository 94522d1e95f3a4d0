//! Follows the open files of processes: which descriptor stands for which file, and where it reads next.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arguments::Number;
use crate::workload::Action;

/// Directories of the system: what programs read there is taken as cached, and left out.
const SYSTEM: [&str; 8] = ["/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/opt", "/nix"];

/// Directories without files of a disk.
const SPECIAL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file of a disk.
    File,
    /// A file of the system, which is taken as cached.
    System,
    /// A pipe, a socket, a directory, a terminal, a file of /proc.
    Special,
}

/// The kind of a path.
pub fn kind_of(path: &str) -> Kind {
    let is_below = |directory: &str| {
        path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if SPECIAL.into_iter().any(is_below) {
        Kind::Special
    } else if SYSTEM.into_iter().any(is_below) {
        Kind::System
    } else {
        Kind::File
    }
}

/// An open file, which several descriptors can share.
#[derive(Clone, Debug)]
pub struct OpenFile {
    /// Its path when it was opened.
    pub path: Arc<str>,
    /// What it is.
    pub kind: Kind,
    /// Where it reads and writes next.
    pub position: u64,
    /// O_APPEND.
    pub appends: bool,
    /// The operation that opens it, until it is used: what is never used may be a directory.
    pub opens: Option<Action>,
    descriptors: u32,
    /// Whether several processes have had it. Who closes it last in a forecast is not who did so in the recording.
    pub is_shared: bool,
}

/// The descriptors and the working directory of a process and of the threads that share them.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The number of the open file of each descriptor, and whether it is closed by execve.
    descriptors: FxHashMap<i32, (u32, bool)>,
    /// The working directory, as far as it is known.
    pub directory: String,
    users: u32,
}

/// The open files of all processes.
#[derive(Debug, Default)]
pub struct Files {
    open: FxHashMap<u32, OpenFile>,
    /// Every open file has a number that no other one has: processes need not close one before others open theirs.
    next: u32,
    /// Symbolic links that the programs have made.
    pub links: FxHashSet<Arc<str>>,
    tables: Vec<Table>,
}

impl Files {
    /// A table of a process that nobody knows the parent of.
    pub fn new_table(&mut self) -> usize {
        self.tables.push(Table { users: 1, ..Table::default() });
        self.tables.len() - 1
    }

    /// The table of a thread, which is that of its process.
    pub fn share_table(&mut self, table: usize) -> usize {
        self.tables[table].users += 1;
        table
    }

    /// The table of a child, which begins as that of its parent.
    pub fn copy_table(&mut self, table: usize) -> usize {
        let copy = Table { users: 1, ..self.tables[table].clone() };
        for (number, _) in copy.descriptors.values() {
            if let Some(open) = self.open.get_mut(number) {
                open.descriptors += 1;
                open.is_shared = true;
            }
        }
        self.tables.push(copy);
        self.tables.len() - 1
    }

    /// A table.
    pub fn table(&mut self, table: usize) -> &mut Table {
        &mut self.tables[table]
    }

    /// Opens a file under a descriptor; gives the number of the open file, and of one that was closed for the last time.
    pub fn open(
        &mut self,
        table: usize,
        fd: i32,
        path: Arc<str>,
        kind: Kind,
        appends: bool,
        closes: bool,
    ) -> (u32, Option<u32>) {
        let last = self.close(table, fd);
        let number = self.next;
        self.next += 1;
        self.open.insert(
            number,
            OpenFile { path, kind, position: 0, appends, opens: None, descriptors: 1, is_shared: false },
        );
        self.tables[table].descriptors.insert(fd, (number, closes));
        (number, last)
    }

    /// Gives the open file of a descriptor another one; gives an open file that was closed for the last time.
    pub fn duplicate(&mut self, table: usize, fd: i32, to: i32, closes: bool) -> Option<u32> {
        let &(number, _) = self.tables[table].descriptors.get(&fd)?;
        if fd == to {
            return None;
        }
        if let Some(open) = self.open.get_mut(&number) {
            open.descriptors += 1;
        }
        let last = self.close(table, to);
        self.tables[table].descriptors.insert(to, (number, closes));
        last
    }

    /// Closes a descriptor; gives the open file if that was its last one.
    pub fn close(&mut self, table: usize, fd: i32) -> Option<u32> {
        let (number, _) = self.tables[table].descriptors.remove(&fd)?;
        let open = self.open.get_mut(&number)?;
        open.descriptors -= 1;
        (open.descriptors == 0).then_some(number)
    }

    /// Forgets an open file that was closed for the last time; gives it.
    pub fn forget(&mut self, number: u32) -> Option<OpenFile> {
        self.open.remove(&number)
    }

    /// The descriptors of a table that lie in a range, or those that execve closes.
    pub fn descriptors(&self, table: usize, which: impl Fn(i32, bool) -> bool) -> Vec<i32> {
        let all = self.tables[table].descriptors.iter();
        let mut found: Vec<i32> =
            all.filter(|&(&fd, &(_, closes))| which(fd, closes)).map(|(&fd, _)| fd).collect();
        found.sort_unstable();
        found
    }

    /// Sets whether execve closes a descriptor.
    pub fn set_closes(&mut self, table: usize, fd: i32, closes: bool) {
        if let Some(entry) = self.tables[table].descriptors.get_mut(&fd) {
            entry.1 = closes;
        }
    }

    /// The open file of a descriptor, and its number.
    pub fn get(&mut self, table: usize, fd: i32) -> Option<(u32, &mut OpenFile)> {
        let &(number, _) = self.tables[table].descriptors.get(&fd)?;
        self.open.get_mut(&number).map(|open| (number, open))
    }

    /// Takes the operations that open the files of a path which were opened and not used.
    pub fn opens_of(&mut self, path: &str) -> Vec<(u32, Action)> {
        let of_path = self.open.iter_mut().filter(|(_, open)| &*open.path == path);
        let mut found: Vec<(u32, Action)> =
            of_path.filter_map(|(&number, open)| Some((number, open.opens.take()?))).collect();
        found.sort_unstable_by_key(|each| each.0);
        found
    }

    /// A user of a table has gone; gives the descriptors that are to be closed if it was the last one.
    pub fn leave(&mut self, table: usize) -> Vec<i32> {
        let users = &mut self.tables[table].users;
        *users = users.saturating_sub(1);
        if *users > 0 { Vec::new() } else { self.descriptors(table, |_, _| true) }
    }

    /// A path as a call has it, made absolute as far as that can be known.
    pub fn absolute(&self, table: usize, directory: Option<Number<'_>>, path: &str) -> String {
        if path.starts_with('/') {
            return path.to_owned();
        }
        let known = directory.and_then(|number| number.path).unwrap_or(&self.tables[table].directory);
        match known {
            "" => path.to_owned(),
            known => format!("{}/{path}", known.trim_end_matches('/')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_files_are_told_by_their_directory() {
        let kinds = ["/usr/lib/x", "/lib", "/libx/y", "/dev/null", "/procs", "f"].map(kind_of);
        assert_eq!(kinds, [Kind::System, Kind::System, Kind::File, Kind::Special, Kind::File, Kind::File]);
    }

    #[test]
    fn an_open_file_lives_as_long_as_a_descriptor_of_any_process() {
        let mut files = Files::default();
        let parent = files.new_table();
        let (number, _) = files.open(parent, 3, "/f".into(), Kind::File, false, true);
        let child = files.copy_table(parent);
        assert_eq!(files.duplicate(parent, 3, 4, false), None);
        assert_eq!((files.close(parent, 3), files.close(parent, 4)), (None, None));
        assert_eq!(files.descriptors(child, |_, closes| closes), [3]);
        assert_eq!(files.close(child, 3), Some(number));
        assert_eq!(files.forget(number).map(|open| open.path), Some("/f".into()));
    }
}
