//! Gives each system call its meaning: operations on files, a child, or time that passes.

use std::sync::Arc;

use super::arguments::{Arguments, CWD, Number, descriptor};
use super::files::{Kind, OpenFile, kind_of};
use super::line::Call;
use super::processes::Recording;
use crate::units::Bytes;
use crate::workload::{Action, Advice, AllocateMode, Buffer, CopyBy, Fd, OpenFlag, SyncRangeFlag};

/// What a call does, beside its operations.
pub enum Meaning {
    /// It takes the recorded time.
    Nothing,
    /// Its operations take a time that is forecast.
    Moved,
    /// A child or a thread.
    Made { child: u32, shares_files: bool },
    /// It has waited for the end of a child.
    Waited { child: u32 },
    /// Another program.
    Executes { name: String },
}

/// Operations, each with the open file that it goes through.
pub type Operations = Vec<(Action, Option<Fd>)>;

/// True if a call makes a child.
pub fn makes_child(name: &str) -> bool {
    matches!(name, "clone" | "clone3" | "fork" | "vfork")
}

/// The meaning of a call; its operations are added. One that has failed has none.
pub fn meaning(
    recording: &mut Recording<'_>,
    table: usize,
    call: &Call<'_>,
    operations: &mut Operations,
) -> Meaning {
    let Some(returned) = call.number() else { return Meaning::Nothing };
    let arguments = Arguments::of(call.arguments);
    let mut on = On { recording, table, operations, returned, arguments };
    let has_moved = match call.name {
        "open" => on.open(None, 0, 1, call),
        "openat" | "openat2" => on.open(arguments.fd(0), 1, 2, call),
        "creat" => on.open(None, 0, usize::MAX, call),
        "close" => on.closes(arguments.fd(0).map(|number| number.fd)),
        "close_range" => on.close_range(),
        "dup" => on.duplicate(false),
        "dup2" | "dup3" => on.duplicate(arguments.has(2, "O_CLOEXEC")),
        "fcntl" | "fcntl64" => on.fcntl(),
        "read" | "readv" => on.transfer(0, None, false),
        "pread64" | "pread" | "preadv" | "preadv2" => on.transfer(0, arguments.number(3), false),
        "write" | "writev" => on.transfer(0, None, true),
        "pwrite64" | "pwrite" | "pwritev" | "pwritev2" => on.transfer(0, arguments.number(3), true),
        "sendfile" | "sendfile64" => on.copy((1, 2), (0, usize::MAX), CopyBy::Sendfile),
        "copy_file_range" => on.copy((0, 1), (2, 3), CopyBy::CopyFileRange),
        "splice" => on.copy((0, 1), (2, 3), CopyBy::Sendfile),
        "lseek" | "_llseek" => on.seek(),
        "fsync" => on.on_fd(0, |path| Action::Fsync { path }),
        "fdatasync" => on.on_fd(0, |path| Action::Fdatasync { path }),
        "sync" => on.push(Action::Sync, None),
        "syncfs" => on.on_fd(0, |path| Action::SyncFs { path }),
        "sync_file_range" => on.sync_file_range(),
        "fadvise64" | "fadvise64_64" => on.advise(),
        "readahead" => on.readahead(),
        "ftruncate" | "ftruncate64" => on.truncates_fd(),
        "truncate" | "truncate64" => on.truncates_path(),
        "fallocate" => on.fallocate(),
        "rename" => on.two_paths((None, 0), (None, 1), true),
        "renameat" | "renameat2" => on.two_paths((arguments.fd(0), 1), (arguments.fd(2), 3), true),
        "link" => on.two_paths((None, 0), (None, 1), false),
        "linkat" => on.two_paths((arguments.fd(0), 1), (arguments.fd(2), 3), false),
        "unlink" => on.on_path(None, 0, |path| Action::Unlink { path }),
        "unlinkat" if arguments.has(2, "AT_REMOVEDIR") => {
            on.on_path(arguments.fd(0), 1, |path| Action::Rmdir { path })
        }
        "unlinkat" => on.on_path(arguments.fd(0), 1, |path| Action::Unlink { path }),
        "symlink" => on.symlink(None, 1),
        "symlinkat" => on.symlink(arguments.fd(1), 2),
        "mkdir" => on.on_path(None, 0, |path| Action::Mkdir { path }),
        "mkdirat" => on.on_path(arguments.fd(0), 1, |path| Action::Mkdir { path }),
        "rmdir" => on.on_path(None, 0, |path| Action::Rmdir { path }),
        "chdir" => on.chdir(),
        "fchdir" => on.fchdir(),
        "mmap" | "mmap2" => on.maps(),
        "io_submit" | "io_uring_enter" => {
            on.recording.note("calls of libaio or io_uring, whose reads and writes strace does not show");
            false
        }
        name if makes_child(name) => {
            let shares_files = call.arguments.contains("CLONE_FILES");
            return Meaning::Made { child: returned as u32, shares_files };
        }
        "wait4" | "waitpid" if returned > 0 => return Meaning::Waited { child: returned as u32 },
        "execve" | "execveat" => {
            let at = usize::from(call.name == "execveat");
            let path = arguments.string(at).unwrap_or_default();
            return Meaning::Executes { name: path.rsplit('/').next().unwrap_or_default().to_owned() };
        }
        _ => false,
    };
    if has_moved { Meaning::Moved } else { Meaning::Nothing }
}

/// Closes a descriptor; with the last one of an open file that is closed, too.
pub fn close(recording: &mut Recording<'_>, table: usize, fd: i32, operations: &mut Operations) {
    let last = recording.files.close(table, fd);
    end_file(recording, last, operations);
}

fn end_file(recording: &mut Recording<'_>, last: Option<u32>, operations: &mut Operations) {
    let Some(number) = last else { return };
    let is_used = |file: &OpenFile| file.kind == Kind::File && file.opens.is_none() && !file.is_shared;
    if let Some(file) = recording.files.forget(number).filter(is_used) {
        operations.push((Action::Close { path: file.path }, Some(Fd(number))));
    }
}

/// A call with what it changes.
struct On<'r, 't, 'a, 'o> {
    recording: &'r mut Recording<'t>,
    table: usize,
    operations: &'o mut Operations,
    returned: u64,
    arguments: Arguments<'a>,
}

/// An open file of a disk.
struct Through {
    number: u32,
    path: Arc<str>,
    position: u64,
    appends: bool,
}

impl On<'_, '_, '_, '_> {
    fn push(&mut self, action: Action, fd: Option<Fd>) -> bool {
        self.operations.push((action, fd));
        true
    }

    fn path(&mut self, directory: Option<Number<'_>>, at: usize) -> Option<Arc<str>> {
        let text = self.arguments.string(at)?;
        let absolute = self.recording.files.absolute(self.table, directory, &text);
        self.recording.trace.path(&absolute).ok()
    }

    /// A path of a file of a disk.
    fn file_path(&mut self, directory: Option<Number<'_>>, at: usize) -> Option<Arc<str>> {
        self.path(directory, at).filter(|path| kind_of(path) == Kind::File)
    }

    fn open(
        &mut self,
        directory: Option<Number<'_>>,
        path_at: usize,
        flags_at: usize,
        call: &Call<'_>,
    ) -> bool {
        // With -y the return has the path, symbolic links and all.
        let returned = descriptor(call.returned.split(" (").next().unwrap_or_default());
        let shown = returned.and_then(|number| number.path).filter(|path| path.starts_with('/'));
        let path = match shown.map(|path| self.recording.trace.path(path).ok()) {
            Some(path) => path,
            None => self.path(directory, path_at),
        };
        let Some(path) = path else { return false };
        let is_creat = flags_at == usize::MAX;
        let has = |flag| self.arguments.has(flags_at, flag);
        let is_other = has("O_DIRECTORY") || has("O_PATH") || shown.is_some_and(|path| path.contains(":["));
        let kind = if is_other { Kind::Special } else { kind_of(&path) };
        let (create, truncate) = (is_creat || has("O_CREAT"), is_creat || has("O_TRUNC"));
        let (appends, closes) = (has("O_APPEND"), has("O_CLOEXEC"));
        let known = [
            (OpenFlag::Direct, has("O_DIRECT")),
            (OpenFlag::Sync, has("O_SYNC")),
            (OpenFlag::Dsync, has("O_DSYNC")),
            (OpenFlag::Append, appends),
        ];
        let flags = known.into_iter().filter(|&(_, is_set)| is_set).map(|(flag, _)| flag).collect();
        let fd = self.returned as i32;
        let (number, last) =
            self.recording.files.open(self.table, fd, Arc::clone(&path), kind, appends, closes);
        end_file(self.recording, last, self.operations);
        if kind == Kind::File {
            self.recording.order.need(&path);
            if create || truncate {
                self.recording.order.change(&path);
            }
            let open = Action::Open { path, create, truncate, flags };
            if create || truncate {
                self.push(open, Some(Fd(number)));
            } else if let Some((_, file)) = self.recording.files.get(self.table, fd) {
                file.opens = Some(open);
            }
        }
        // Cutting a file takes time that is forecast.
        kind == Kind::File && truncate
    }

    fn closes(&mut self, fd: Option<i32>) -> bool {
        if let Some(fd) = fd {
            close(self.recording, self.table, fd, self.operations);
        }
        false
    }

    fn close_range(&mut self) -> bool {
        let first = self.arguments.number(0).unwrap_or(u64::MAX);
        let last = self.arguments.number(1).unwrap_or(u64::from(u32::MAX));
        let only_marks = self.arguments.has(2, "CLOSE_RANGE_CLOEXEC");
        let is_within = |fd: i32, _| (first..=last).contains(&(fd as u64));
        for fd in self.recording.files.descriptors(self.table, is_within) {
            if only_marks {
                self.recording.files.set_closes(self.table, fd, true);
            } else {
                close(self.recording, self.table, fd, self.operations);
            }
        }
        false
    }

    fn duplicate(&mut self, closes: bool) -> bool {
        if let Some(Number { fd, .. }) = self.arguments.fd(0) {
            let last = self.recording.files.duplicate(self.table, fd, self.returned as i32, closes);
            end_file(self.recording, last, self.operations);
        }
        false
    }

    fn fcntl(&mut self) -> bool {
        let Some(Number { fd, .. }) = self.arguments.fd(0) else { return false };
        match self.arguments.text(1) {
            "F_DUPFD" => self.duplicate(false),
            "F_DUPFD_CLOEXEC" => self.duplicate(true),
            "F_SETFD" => {
                let closes = self.arguments.has(2, "FD_CLOEXEC");
                self.recording.files.set_closes(self.table, fd, closes);
                false
            }
            _ => false,
        }
    }

    /// The file behind a descriptor, if it is one of a disk. One that was open before the recording is opened here, if its path is known.
    fn through(&mut self, at: usize) -> Result<Through, Kind> {
        let Some(Number { fd, path }) = self.arguments.fd(at) else { return Err(Kind::Special) };
        if self.recording.files.get(self.table, fd).is_none() {
            let path =
                path.filter(|path| path.starts_with('/') && !path.contains(":[")).ok_or(Kind::Special)?;
            let path =
                self.recording.trace.path(path.trim_end_matches(" (deleted)")).map_err(|_| Kind::Special)?;
            let kind = kind_of(&path);
            let (number, _) =
                self.recording.files.open(self.table, fd, Arc::clone(&path), kind, false, false);
            if kind == Kind::File {
                let flags = std::iter::empty().collect();
                self.operations
                    .push((Action::Open { path, create: true, truncate: false, flags }, Some(Fd(number))));
            }
        }
        let (number, open) = self.recording.files.get(self.table, fd).ok_or(Kind::Special)?;
        if open.kind != Kind::File {
            return Err(open.kind);
        }
        if let Some(action) = open.opens.take() {
            self.operations.push((action, Some(Fd(number))));
        }
        Ok(Through { number, path: Arc::clone(&open.path), position: open.position, appends: open.appends })
    }

    fn move_to(&mut self, at: usize, position: u64) {
        let fd = self.arguments.fd(at).map(|number| number.fd);
        if let Some((_, open)) = fd.and_then(|fd| self.recording.files.get(self.table, fd)) {
            open.position = position;
        }
    }

    fn transfer(&mut self, at: usize, offset: Option<u64>, is_write: bool) -> bool {
        let bytes = self.returned;
        let through = match self.through(at) {
            Ok(through) => through,
            Err(kind) => {
                let direction = if is_write { "written to" } else { "read from" };
                self.recording.moved_elsewhere(kind, direction, bytes);
                return self.pipe(at, is_write);
            }
        };
        let start = offset.unwrap_or(through.position);
        if offset.is_none() {
            self.move_to(at, start.saturating_add(bytes));
        }
        self.piece(&through, start, bytes, is_write)
    }

    /// What is read from a pipe must have been written; with -y its number is known.
    fn pipe(&mut self, at: usize, is_write: bool) -> bool {
        let name =
            self.arguments.fd(at).and_then(|number| number.path).filter(|path| path.starts_with("pipe:["));
        match name.and_then(|name| self.recording.trace.path(name).ok()) {
            Some(name) if is_write => {
                self.recording.order.change(&name);
                false
            }
            Some(name) => self.recording.order.need(&name),
            None => false,
        }
    }

    /// Reads or writes bytes of a file; nothing is read at its end.
    fn piece(&mut self, through: &Through, start: u64, bytes: u64, is_write: bool) -> bool {
        if bytes == 0 {
            return false;
        }
        if is_write {
            self.recording.order.change(&through.path);
        } else {
            self.recording.order.need(&through.path);
        }
        let (path, fd) = (Arc::clone(&through.path), Some(Fd(through.number)));
        let action = match is_write {
            true => {
                // The engine knows the end of the file.
                let offset = (!through.appends).then_some(start);
                Action::Write { path, offset, bytes: Bytes(bytes), call: None, vector: 1 }
            }
            false => Action::Read {
                path,
                offset: Some(start),
                bytes: Some(Bytes(bytes)),
                call: None,
                vector: 1,
                buffer: Buffer::Reused,
            },
        };
        self.push(action, fd)
    }

    /// Bytes go from a descriptor to another one; each is given with the place of its offset.
    fn copy(&mut self, from: (usize, usize), to: (usize, usize), by: CopyBy) -> bool {
        let bytes = self.returned;
        let end = |on: &mut Self, (at, offset_at): (usize, usize), direction| match on.through(at) {
            Ok(through) => {
                let given = on.arguments.pointed(offset_at);
                let start = given.unwrap_or(through.position);
                if given.is_none() {
                    on.move_to(at, start.saturating_add(bytes));
                }
                Some((through, start))
            }
            Err(kind) => {
                on.recording.moved_elsewhere(kind, direction, bytes);
                None
            }
        };
        let source = end(self, from, "read from");
        let target = end(self, to, "written to");
        match (source, target) {
            _ if bytes == 0 => false,
            (Some((source, start)), Some((target, place)))
                if start == place && source.path != target.path =>
            {
                let (path, to) = (source.path, target.path);
                let bytes = Some(Bytes(bytes));
                self.push(Action::Copy { path, to, by, offset: start, bytes, call: None }, None)
            }
            (source, target) => {
                let read = source.is_some_and(|(through, start)| self.piece(&through, start, bytes, false));
                let written = target.is_some_and(|(through, start)| self.piece(&through, start, bytes, true));
                read || written
            }
        }
    }

    fn seek(&mut self) -> bool {
        self.move_to(0, self.returned);
        false
    }

    fn on_fd(&mut self, at: usize, action: impl FnOnce(Arc<str>) -> Action) -> bool {
        match self.through(at) {
            Ok(through) => self.push(action(through.path), Some(Fd(through.number))),
            Err(_) => false,
        }
    }

    fn on_path(
        &mut self,
        directory: Option<Number<'_>>,
        at: usize,
        action: impl FnOnce(Arc<str>) -> Action,
    ) -> bool {
        match self.file_path(directory, at) {
            // The link goes, and not the file.
            Some(path) if self.recording.files.links.remove(&path) => false,
            Some(path) => {
                self.open_before(&path);
                let action = action(path);
                // Directories take no time, which the recording knows better.
                let takes_time = !action.takes_no_time();
                self.push(action, None) && takes_time
            }
            None => false,
        }
    }

    /// Opens the files that a name stands for before it changes.
    fn open_before(&mut self, path: &Arc<str>) {
        self.recording.order.need(path);
        self.recording.order.change(path);
        for (number, action) in self.recording.files.opens_of(path) {
            self.push(action, Some(Fd(number)));
        }
    }

    fn symlink(&mut self, directory: Option<Number<'_>>, at: usize) -> bool {
        if let Some(path) = self.file_path(directory, at) {
            self.recording.files.links.insert(path);
        }
        false
    }

    fn two_paths(
        &mut self,
        from: (Option<Number<'_>>, usize),
        to: (Option<Number<'_>>, usize),
        is_rename: bool,
    ) -> bool {
        let (Some(path), Some(to)) = (self.file_path(from.0, from.1), self.file_path(to.0, to.1)) else {
            return false;
        };
        if self.recording.files.links.remove(&path) {
            self.recording.files.links.insert(to);
            return false;
        }
        self.open_before(&path);
        self.open_before(&to);
        let action = if is_rename { Action::Rename { path, to } } else { Action::Link { path, to } };
        self.push(action, None);
        false
    }

    fn sync_file_range(&mut self) -> bool {
        let (offset, bytes) = (self.arguments.number(1).unwrap_or(0), self.arguments.number(2).unwrap_or(0));
        let names = ["SYNC_FILE_RANGE_WAIT_BEFORE", "SYNC_FILE_RANGE_WRITE", "SYNC_FILE_RANGE_WAIT_AFTER"];
        let set = SyncRangeFlag::ALL.into_iter().zip(names);
        let flags = set.filter(|(_, name)| self.arguments.has(3, name)).map(|(flag, _)| flag).collect();
        let bytes = (bytes > 0).then_some(Bytes(bytes));
        self.on_fd(0, |path| Action::SyncFileRange { path, offset, bytes, flags })
    }

    fn advise(&mut self) -> bool {
        let advice = match self.arguments.text(3) {
            "POSIX_FADV_DONTNEED" => Advice::DontNeed,
            "POSIX_FADV_WILLNEED" => Advice::WillNeed,
            "POSIX_FADV_SEQUENTIAL" => Advice::Sequential,
            "POSIX_FADV_RANDOM" => Advice::Random,
            "POSIX_FADV_NOREUSE" => Advice::NoReuse,
            _ => Advice::Normal,
        };
        let (offset, bytes) = (self.arguments.number(1).unwrap_or(0), self.arguments.number(2).unwrap_or(0));
        let bytes = (bytes > 0).then_some(Bytes(bytes));
        self.on_fd(0, |path| Action::Fadvise { path, advice, offset, bytes })
    }

    fn readahead(&mut self) -> bool {
        let (offset, bytes) = (self.arguments.number(1).unwrap_or(0), self.arguments.number(2).map(Bytes));
        self.on_fd(0, |path| Action::Readahead { path, offset, bytes })
    }

    fn truncates_fd(&mut self) -> bool {
        let Some(size) = self.arguments.number(1).map(Bytes) else { return false };
        self.on_fd(0, |path| Action::Truncate { path, size })
    }

    fn truncates_path(&mut self) -> bool {
        let Some(size) = self.arguments.number(1).map(Bytes) else { return false };
        self.on_path(None, 0, |path| Action::Truncate { path, size })
    }

    fn fallocate(&mut self) -> bool {
        let (Some(offset), Some(bytes)) = (self.arguments.number(2), self.arguments.number(3)) else {
            return false;
        };
        let has = |flag| self.arguments.has(1, flag);
        let mode = match () {
            () if has("FALLOC_FL_PUNCH_HOLE") => AllocateMode::PunchHole,
            () if has("FALLOC_FL_ZERO_RANGE") => AllocateMode::ZeroRange,
            () if has("FALLOC_FL_KEEP_SIZE") => AllocateMode::KeepSize,
            () if self.arguments.text(1) == "0" => AllocateMode::Extend,
            () => return false,
        };
        self.on_fd(0, |path| Action::Fallocate { path, mode, offset, bytes: Bytes(bytes) });
        false
    }

    fn chdir(&mut self) -> bool {
        if let Some(text) = self.arguments.string(0) {
            let directory = self.recording.files.absolute(self.table, None, &text);
            self.recording.files.table(self.table).directory = directory;
        }
        false
    }

    fn fchdir(&mut self) -> bool {
        let Some(Number { fd, path }) = self.arguments.fd(0) else { return false };
        let known = path.map(str::to_owned);
        let opened = self.recording.files.get(self.table, fd).map(|(_, open)| open.path.to_string());
        if let Some(directory) = known.or(opened).filter(|_| fd != CWD) {
            self.recording.files.table(self.table).directory = directory;
        }
        false
    }

    fn maps(&mut self) -> bool {
        if self.arguments.fd(4).is_some_and(|number| number.fd >= 0) && self.through(4).is_ok() {
            self.recording.note("mappings of files: what is read and written through them is not known");
        }
        false
    }
}
