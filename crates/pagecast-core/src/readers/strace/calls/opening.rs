//! Opens, duplicates and closes descriptors.

use std::sync::Arc;

use super::super::arguments::{CWD, Number, descriptor};
use super::super::files::{Kind, OpenFile};
use super::super::recording::Recording;
use super::{Done, Meaning, On, Operations, Through};
use crate::trace::TraceError;
use crate::units::Nanos;
use crate::workload::{Action, Fd, OpenFlag, OpenFlags};

/// A thread closes a descriptor; with the last one of an open file that is closed, too.
pub fn close(recording: &mut Recording<'_>, pid: u32, table: usize, fd: i32, operations: &mut Operations) {
    let last = recording.files.close(table, fd);
    end_file(recording, pid, last, operations);
}

fn end_file(recording: &mut Recording<'_>, pid: u32, last: Option<u32>, operations: &mut Operations) {
    let Some(number) = last else { return };
    let Some(file) = recording.files.forget(number) else { return };
    if let Some((_, time)) = file.opens {
        recording.pass(pid, time);
    }
    if file.kind == Kind::File && file.opens.is_none() && !file.is_crowded {
        for &other in &file.users {
            recording.order.need_thread(other, pid);
        }
        operations.push((Action::Close { path: file.path }, Some(Fd(number)), Nanos::ZERO));
    }
}

impl On<'_, '_, '_, '_> {
    /// The meaning of a call, if it opens or closes something.
    pub(super) fn opening(&mut self, name: &str) -> Result<Option<Meaning>, TraceError> {
        let arguments = self.arguments;
        match name {
            "openat" | "openat2" => return self.open(arguments.fd(0), 1, Some(2)).map(Some),
            "open" => return self.open(None, 0, Some(1)).map(Some),
            "creat" => return self.open(None, 0, None).map(Some),
            "open_by_handle_at" => return self.open(None, usize::MAX, Some(2)).map(Some),
            "close" => self.closes(arguments.fd(0).map(|number| number.fd)),
            "close_range" => self.close_range(),
            "dup" => self.duplicate(false),
            "dup2" | "dup3" => self.duplicate(arguments.has(2, "O_CLOEXEC")),
            "fcntl" | "fcntl64" => self.fcntl()?,
            "ioctl" => self.ioctl(),
            "pipe" | "pipe2" => self.pipe()?,
            _ => return Ok(None),
        }
        Ok(Some(Meaning::Recorded))
    }

    /// Gives a file a descriptor.
    fn give(&mut self, fd: i32, file: OpenFile, closes: bool) -> Result<(), TraceError> {
        let last = self.recording.files.open(self.table, fd, file, closes)?;
        end_file(self.recording, self.pid, last, self.operations);
        Ok(())
    }

    fn open(&mut self, directory: Option<Number<'_>>, path_at: usize, flags_at: Option<usize>) -> Done {
        // With -y the return has the path, symbolic links and all.
        let shown = descriptor(self.call.returned).and_then(|number| number.path);
        let path = match shown {
            Some(path) => Some(self.recording.name(path)?),
            None => self.path(directory, path_at)?,
        };
        let Some(mut path) = path else { return Ok(Meaning::Recorded) };
        let has = |flag| flags_at.is_some_and(|at| self.arguments.has(at, flag));
        let is_creat = flags_at.is_none();
        let is_unnamed = has("O_TMPFILE");
        let is_other = (has("O_DIRECTORY") && !is_unnamed) || has("O_PATH");
        let (create, truncate) =
            (is_creat || has("O_CREAT") || is_unnamed, is_creat || has("O_TRUNC") || is_unnamed);
        let closes = has("O_CLOEXEC");
        let flags = self.flags(flags_at);
        if is_unnamed && shown.is_none_or(|shown| !shown.contains("/#")) {
            path = self.recording.trace.path(&format!("{path}/#{}", self.recording.files.next_number()))?;
        }
        if has("O_DIRECTORY") && !is_unnamed {
            self.recording.files.directories.add(&path);
        }
        let kind = match path.starts_with('/') || shown.is_none() {
            true if !is_other => self.recording.kind_of(&path),
            _ => Kind::Special,
        };
        let key = self.recording.order.key(&path);
        let fd = self.returned as i32;
        let mut file = OpenFile::new(Arc::clone(&path), key, kind);
        file.appends = flags.has(OpenFlag::Append);
        if kind != Kind::File {
            self.give(fd, file, closes)?;
            return Ok(Meaning::Recorded);
        }
        let open = Action::Open { path: Arc::clone(&path), create, truncate, flags };
        self.recording.order.need(key, self.pid);
        if !create && !truncate {
            file.opens = Some((open, self.recording.own_time_of(self.call)));
            self.give(fd, file, closes)?;
            return Ok(Meaning::Forecast);
        }
        self.recording.order.change(key, self.pid);
        file.used_by(self.pid, 0);
        file.opened_at = self.recording.calls;
        self.give(fd, file, closes)?;
        let number = self.recording.files.get(self.table, fd).map(|(number, _)| number);
        self.push(open, number);
        if is_unnamed {
            self.push(Action::Unlink { path }, None);
        }
        Ok(Meaning::Forecast)
    }

    /// The flags of a file that matter for reads and writes.
    fn flags(&self, at: Option<usize>) -> OpenFlags {
        let Some(at) = at else { return OpenFlags::default() };
        let named = OpenFlag::ALL.into_iter().zip(OpenFlag::NAMES);
        named.filter(|(_, name)| self.arguments.has(at, name)).map(|(flag, _)| flag).collect()
    }

    fn closes(&mut self, fd: Option<i32>) {
        if let Some(fd) = fd {
            close(self.recording, self.pid, self.table, fd, self.operations);
        }
    }

    fn close_range(&mut self) {
        let first = self.arguments.fd(0).map_or(i32::MAX, |number| number.fd);
        let last = self.arguments.fd(1).map_or(i32::MAX, |number| number.fd);
        let only_marks = self.arguments.has(2, "CLOSE_RANGE_CLOEXEC");
        for fd in self.recording.files.descriptors(self.table, |fd, _| (first..=last).contains(&fd)) {
            match only_marks {
                true => self.recording.files.set_closes(self.table, fd, true),
                false => self.closes(Some(fd)),
            }
        }
    }

    fn duplicate(&mut self, closes: bool) {
        if let Some(Number { fd, .. }) = self.arguments.fd(0) {
            let last = self.recording.files.duplicate(self.table, fd, self.returned as i32, closes);
            end_file(self.recording, self.pid, last, self.operations);
        }
    }

    fn fcntl(&mut self) -> Result<(), TraceError> {
        let Some(Number { fd, .. }) = self.arguments.fd(0) else { return Ok(()) };
        match self.arguments.text(1) {
            "F_DUPFD" => self.duplicate(false),
            "F_DUPFD_CLOEXEC" => self.duplicate(true),
            "F_SETFD" => {
                let closes = self.arguments.has(2, "FD_CLOEXEC");
                self.recording.files.set_closes(self.table, fd, closes);
            }
            "F_SETFL" => self.set_flags(fd),
            _ => {}
        }
        Ok(())
    }

    /// O_APPEND and O_DIRECT of an open file change. One that is not used yet is opened with them; of another one that is noted.
    fn set_flags(&mut self, fd: i32) {
        let new = self.flags(Some(2));
        let Some((_, file)) = self.recording.files.get(self.table, fd) else { return };
        if file.kind != Kind::File {
            return;
        }
        let appends = new.has(OpenFlag::Append);
        let changes = file.appends != appends || new.is_direct();
        file.appends = appends;
        match &mut file.opens {
            Some((Action::Open { flags, .. }, _)) => *flags = new,
            _ if changes => {
                self.unknown("changes of O_APPEND and O_DIRECT of files in use");
            }
            _ => {}
        }
    }

    fn ioctl(&mut self) {
        let Some(Number { fd, .. }) = self.arguments.fd(0) else { return };
        match self.arguments.text(1) {
            "FIOCLEX" => self.recording.files.set_closes(self.table, fd, true),
            "FIONCLEX" => self.recording.files.set_closes(self.table, fd, false),
            "FICLONE" | "FICLONERANGE" | "BTRFS_IOC_CLONE" => {
                self.unknown("files that share their blocks with another one (FICLONE)");
            }
            _ => {}
        }
    }

    fn pipe(&mut self) -> Result<(), TraceError> {
        let Some(ends) = self.arguments.pair(0) else { return Ok(()) };
        let name: Arc<str> = match ends[0].path {
            Some(name) => name.into(),
            None => format!("pipe:[#{}]", self.recording.files.next_number()).into(),
        };
        let key = self.recording.order.key(&name);
        let closes = self.arguments.has(1, "O_CLOEXEC");
        for Number { fd, .. } in ends {
            self.give(fd, OpenFile::new(Arc::clone(&name), key, Kind::Pipe), closes)?;
        }
        Ok(())
    }

    /// The file behind a descriptor, if it is one of a disk. One that was open before the recording is opened here, if its path is known.
    pub(super) fn through(&mut self, at: usize) -> Result<Result<Through, Kind>, TraceError> {
        let Some(Number { fd, path }) = self.arguments.fd(at) else { return Ok(Err(Kind::Special)) };
        if fd == CWD {
            return Ok(Err(Kind::Special));
        }
        if self.recording.files.get(self.table, fd).is_none() {
            match path {
                Some(path) => self.open_before(fd, path)?,
                None => return Ok(Err(Kind::Special)),
            }
        }
        let (pid, calls) = (self.pid, self.recording.calls);
        let opened = self.recording.files.settle_directory(self.table, fd);
        self.recording.pass(pid, opened);
        let born = self.recording.threads.of(pid).born;
        let Some((number, file)) = self.recording.files.get(self.table, fd) else {
            return Ok(Err(Kind::Special));
        };
        if file.kind != Kind::File {
            return Ok(Err(file.kind));
        }
        if let Some(other) = file.used_by(pid, born) {
            self.recording.order.need_thread(other, pid);
        }
        let through = Through {
            number,
            path: Arc::clone(&file.path),
            key: file.key,
            position: file.position,
            appends: file.appends,
            is_renamed: file.is_renamed,
        };
        if let Some((action, time)) = file.opens.take() {
            if let Some(size) = file.size {
                self.recording.trace.file(&through.path, size)?;
            }
            file.opened_at = calls;
            self.operations.push((action, Some(Fd(number)), time));
        }
        Ok(Ok(through))
    }

    /// A descriptor that was open before the recording.
    fn open_before(&mut self, fd: i32, path: &str) -> Result<(), TraceError> {
        let kind = match path.starts_with('/') {
            true => self.recording.kind_of(path),
            false if path.starts_with("pipe:[") => Kind::Pipe,
            false => Kind::Special,
        };
        let path = self.recording.name(path)?;
        let mut file = OpenFile::new(Arc::clone(&path), self.recording.order.key(&path), kind);
        let flags = OpenFlags::default();
        let open = Action::Open { path, create: true, truncate: false, flags };
        file.opens = (kind == Kind::File).then_some((open, Nanos::ZERO));
        self.give(fd, file, false)
    }
}
