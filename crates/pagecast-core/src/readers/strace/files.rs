//! Follows the open files of processes: which descriptor stands for which file, and where it reads next.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arguments::{CWD, Number};
use super::directories::Directories;
use super::order::Key;
use crate::trace::TraceError;
use crate::units::{Bytes, Nanos};
use crate::workload::Action;

/// Directories of the system. What programs read there is taken as cached.
const SYSTEM: [&str; 8] = ["/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/opt", "/nix"];

/// Directories without files of a disk.
const SPECIAL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What `-y` shows for files in memory without a name.
const UNNAMED: [&str; 3] = ["/memfd:", "/SYSV", "/anon_hugepage"];

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file of a disk.
    File,
    /// A file of the system, which is taken as cached.
    System,
    /// A pipe, whose bytes others have written.
    Pipe,
    /// A socket, a directory, a terminal, a file of /proc.
    Special,
}

/// The kind of a path.
pub fn kind_of(path: &str, with_system: bool) -> Kind {
    let is_below = |directory: &str| {
        path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if path.starts_with("pipe:[") {
        Kind::Pipe
    } else if SPECIAL.into_iter().any(is_below) || UNNAMED.iter().any(|prefix| path.starts_with(prefix)) {
        Kind::Special
    } else if !with_system && SYSTEM.into_iter().any(is_below) {
        Kind::System
    } else {
        Kind::File
    }
}

/// An open file, which several descriptors can share.
#[derive(Clone, Debug)]
pub struct OpenFile {
    /// Its path when it was opened; the name of a pipe.
    pub path: Arc<str>,
    /// Its number among files and pipes.
    pub key: Key,
    /// What it is.
    pub kind: Kind,
    /// Where it reads and writes next.
    pub position: u64,
    /// O_APPEND.
    pub appends: bool,
    /// The operation that opens it, and its recorded time, until it is used: what is never used may be a directory.
    pub opens: Option<(Action, Nanos)>,
    /// Its size, if that was told before anybody changed it.
    pub size: Option<Bytes>,
    /// True if the file may have another name by now, or none.
    pub is_renamed: bool,
    /// The threads that have used it. The last descriptor is closed when these have come as far.
    pub users: Vec<u32>,
    /// True if there were more. Then it stays open.
    pub is_crowded: bool,
    /// The number of the call that opened it in the forecast.
    pub opened_at: u64,
    descriptors: u32,
}

/// So many users of an open file are told apart.
const MOST_USERS: usize = 32;

impl OpenFile {
    /// A file that is opened.
    pub fn new(path: Arc<str>, key: Key, kind: Kind) -> Self {
        Self {
            path,
            key,
            kind,
            position: 0,
            appends: false,
            opens: None,
            size: None,
            is_renamed: false,
            users: Vec::new(),
            is_crowded: false,
            opened_at: 0,
            descriptors: 1,
        }
    }

    /// A thread uses it that was made by the call `born`. Gives the thread that has opened it, if this one must wait for that.
    pub fn used_by(&mut self, pid: u32, born: u64) -> Option<u32> {
        if self.users.contains(&pid) {
            return None;
        }
        self.is_crowded |= self.users.len() == MOST_USERS;
        if !self.is_crowded {
            self.users.push(pid);
        }
        // A child that was made later has it from its parent.
        self.users.first().copied().filter(|&first| first != pid && born <= self.opened_at)
    }
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
    /// Those of a disk, by path.
    of_path: FxHashMap<Arc<str>, Vec<u32>>,
    /// Every open file has a number that no other one has: processes need not close one before others open theirs.
    next: u32,
    /// Symbolic links that the programs have made.
    pub links: FxHashSet<Arc<str>>,
    /// Which paths are directories.
    pub directories: Directories,
    tables: Vec<Table>,
    /// Tables without users.
    unused: Vec<usize>,
}

impl Files {
    /// A table of a process that nobody knows the parent of.
    pub fn new_table(&mut self) -> usize {
        self.add_table(Table { users: 1, ..Table::default() })
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
            }
        }
        self.add_table(copy)
    }

    fn add_table(&mut self, table: Table) -> usize {
        match self.unused.pop() {
            Some(at) => {
                self.tables[at] = table;
                at
            }
            None => {
                self.tables.push(table);
                self.tables.len() - 1
            }
        }
    }

    /// A table.
    pub fn table(&mut self, table: usize) -> &mut Table {
        &mut self.tables[table]
    }

    /// Opens a file under a descriptor. Gives the open file that was closed with that, if it was its last descriptor.
    ///
    /// # Errors
    /// If there are too many.
    pub fn open(
        &mut self,
        table: usize,
        fd: i32,
        file: OpenFile,
        closes: bool,
    ) -> Result<Option<u32>, TraceError> {
        let last = self.close(table, fd);
        let number = self.next;
        self.next = number.checked_add(1).ok_or(TraceError::TooMany("open files"))?;
        if file.kind == Kind::File {
            self.directories.add_above(&file.path);
            self.of_path.entry(Arc::clone(&file.path)).or_default().push(number);
        }
        self.open.insert(number, file);
        self.tables[table].descriptors.insert(fd, (number, closes));
        Ok(last)
    }

    /// Takes a file that was opened and not used for the directory that it was. Returns the recorded time of opening it.
    pub fn settle_directory(&mut self, table: usize, fd: i32) -> Nanos {
        let Some(&(number, _)) = self.tables[table].descriptors.get(&fd) else { return Nanos::ZERO };
        match self.open.get_mut(&number) {
            Some(open) if open.opens.is_some() && self.directories.has(&open.path) => {
                open.kind = Kind::Special;
                open.opens.take().map_or(Nanos::ZERO, |(_, time)| time)
            }
            _ => Nanos::ZERO,
        }
    }

    /// The number that the next open file gets.
    pub fn next_number(&self) -> u32 {
        self.next
    }

    /// Gives the open file of a descriptor another one. Gives an open file that was closed with that for the last time.
    pub fn duplicate(&mut self, table: usize, fd: i32, to: i32, closes: bool) -> Option<u32> {
        if fd == to {
            return None;
        }
        let Some(&(number, _)) = self.tables[table].descriptors.get(&fd) else {
            return self.close(table, to);
        };
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
        let file = self.open.remove(&number)?;
        if let Some(numbers) = self.of_path.get_mut(&file.path) {
            numbers.retain(|&other| other != number);
            if numbers.is_empty() {
                self.of_path.remove(&file.path);
            }
        }
        Some(file)
    }

    /// The descriptors of a table for which something holds, of each its number and whether execve closes it.
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

    /// A thread changes or removes a name by a call: gives the operations that open files of that name which were opened and not used.
    pub fn lose_name(&mut self, path: &str, pid: u32, call: u64) -> Vec<(u32, (Action, Nanos))> {
        let numbers = self.of_path.remove(path).unwrap_or_default();
        let mut opens = Vec::new();
        for number in numbers {
            if let Some(open) = self.open.get_mut(&number) {
                open.is_renamed = true;
                if let Some(opening) = open.opens.take() {
                    open.used_by(pid, call);
                    open.opened_at = call;
                    opens.push((number, opening));
                }
            }
        }
        opens
    }

    /// A user of a table has gone; gives the descriptors that are to be closed if it was the last one.
    pub fn leave(&mut self, table: usize) -> Vec<i32> {
        let users = &mut self.tables[table].users;
        *users = users.saturating_sub(1);
        if *users > 0 { Vec::new() } else { self.descriptors(table, |_, _| true) }
    }

    /// A table whose descriptors are closed may serve again.
    pub fn free(&mut self, table: usize) {
        if self.tables[table].users == 0 {
            self.tables[table] = Table::default();
            self.unused.push(table);
        }
    }

    /// A path as a call has it, made absolute as far as that can be known.
    pub fn absolute(&self, table: usize, directory: Option<Number<'_>>, path: &str) -> String {
        if path.starts_with('/') {
            return path.to_owned();
        }
        let table = &self.tables[table];
        let opened = |fd| self.open.get(&table.descriptors.get(&fd)?.0).map(|open| &*open.path);
        let known = match directory {
            Some(Number { path: Some(path), .. }) => path,
            Some(Number { fd, .. }) if fd != CWD => opened(fd).unwrap_or(""),
            _ => &table.directory,
        };
        match known {
            "" => path.to_owned(),
            known => format!("{}/{path}", known.trim_end_matches('/')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::Order;
    use super::*;

    #[test]
    fn system_files_are_told_by_their_directory() {
        let kind = |path| kind_of(path, false);
        let kinds = ["/usr/lib/x", "/lib", "/libx/y", "/dev/null", "/procs", "f", "pipe:[7]", "/memfd:x"];
        use Kind::{File, Pipe, Special, System};
        assert_eq!(kinds.map(kind), [System, System, File, Special, File, File, Pipe, Special]);
        assert_eq!(kind_of("/usr/lib/x", true), File);
    }

    #[test]
    fn an_open_file_lives_as_long_as_a_descriptor_of_any_process() {
        let mut files = Files::default();
        let parent = files.new_table();
        let file = OpenFile::new("/f".into(), Order::default().key(&"/f".into()), Kind::File);
        files.open(parent, 3, file, true).unwrap();
        let child = files.copy_table(parent);
        let (number, _) = files.get(child, 3).unwrap();
        assert_eq!(files.duplicate(parent, 3, 4, false), None);
        assert_eq!((files.close(parent, 3), files.close(parent, 4)), (None, None));
        assert_eq!(files.descriptors(child, |_, closes| closes), [3]);
        assert_eq!(files.close(child, 3), Some(number));
        assert_eq!(files.forget(number).map(|open| open.path), Some("/f".into()));
        assert!(files.of_path.is_empty());
    }

    #[test]
    fn tables_serve_again() {
        let mut files = Files::default();
        for _ in 0..10 {
            let table = files.new_table();
            let thread = files.share_table(table);
            assert_eq!((files.leave(thread).len(), files.leave(table).len()), (0, 0));
            files.free(table);
        }
        assert_eq!(files.tables.len(), 1);
    }
}
