//! Makes, changes and removes names.

use std::sync::Arc;

use super::super::arguments::{CWD, Number};
use super::super::files::Kind;
use super::{Done, Meaning, On};
use crate::trace::TraceError;
use crate::workload::{Action, Fd};

/// A path as a call has it: the descriptor of its directory, if it has one, and the place of the argument.
type At<'a> = (Option<Number<'a>>, usize);

impl On<'_, '_, '_, '_> {
    /// The meaning of a call, if it is about names.
    pub(super) fn names(&mut self, name: &str) -> Result<Option<Meaning>, TraceError> {
        let arguments = self.arguments;
        let (first, second) = ((None, 0), (arguments.fd(0), 1));
        let done = match name {
            "rename" => self.two_paths(first, (None, 1), true),
            "renameat" | "renameat2" => self.rename(second, (arguments.fd(2), 3)),
            "link" => self.two_paths(first, (None, 1), false),
            "linkat" => self.two_paths(second, (arguments.fd(2), 3), false),
            "unlink" => self.on_path(first, |path| Action::Unlink { path }),
            "unlinkat" if arguments.has(2, "AT_REMOVEDIR") => self.rmdir(second),
            "unlinkat" => self.on_path(second, |path| Action::Unlink { path }),
            "symlink" => self.symlink((None, 1)),
            "symlinkat" => self.symlink((arguments.fd(1), 2)),
            "mkdir" => self.mkdir(first),
            "mkdirat" => self.mkdir(second),
            "rmdir" => self.rmdir(first),
            "chdir" => Ok(self.chdir()),
            "fchdir" => Ok(self.fchdir()),
            "getcwd" => Ok(self.getcwd()),
            _ => return Ok(None),
        };
        done.map(Some)
    }

    /// A path of a file of a disk.
    fn file_path(&mut self, (directory, at): At<'_>) -> Result<Option<Arc<str>>, TraceError> {
        let path = self.path(directory, at)?;
        Ok(path.filter(|path| self.recording.kind_of(path) == Kind::File))
    }

    pub(super) fn on_path(&mut self, at: At<'_>, action: impl FnOnce(Arc<str>) -> Action) -> Done {
        let Some(path) = self.file_path(at)? else { return Ok(Meaning::Recorded) };
        // The link goes, and not the file.
        if self.recording.files.links.remove(&path) {
            return Ok(Meaning::Recorded);
        }
        self.change_name(&path);
        self.push(action(path), None);
        Ok(Meaning::Forecast)
    }

    fn mkdir(&mut self, at: At<'_>) -> Done {
        if let Some(path) = self.file_path(at)? {
            self.recording.files.directories.add(&path);
            self.push(Action::Mkdir { path }, None);
            return Ok(Meaning::Forecast);
        }
        Ok(Meaning::Recorded)
    }

    fn rmdir(&mut self, at: At<'_>) -> Done {
        if let Some(path) = self.file_path(at)? {
            self.recording.files.directories.remove(&path);
            self.push(Action::Rmdir { path }, None);
            return Ok(Meaning::Forecast);
        }
        Ok(Meaning::Recorded)
    }

    /// What a name stands for changes. Files of that name which were opened and not used are opened before.
    fn change_name(&mut self, path: &Arc<str>) {
        let key = self.recording.order.key(path);
        self.recording.order.need(key, self.pid);
        self.recording.order.change(key, self.pid);
        let opened = self.recording.files.lose_name(path, self.pid, self.recording.calls);
        self.operations
            .extend(opened.into_iter().map(|(number, (action, time))| (action, Some(Fd(number)), time)));
    }

    fn symlink(&mut self, at: At<'_>) -> Done {
        if let Some(path) = self.file_path(at)? {
            self.recording.files.links.insert(path);
        }
        Ok(Meaning::Recorded)
    }

    fn rename(&mut self, from: At<'_>, to: At<'_>) -> Done {
        if self.arguments.has(4, "RENAME_EXCHANGE") {
            return Ok(self.unknown("names that were exchanged (RENAME_EXCHANGE)"));
        }
        self.two_paths(from, to, true)
    }

    fn two_paths(&mut self, from: At<'_>, to: At<'_>, is_rename: bool) -> Done {
        if is_rename && self.rename_directory(from, to)? {
            return Ok(Meaning::Recorded);
        }
        let (Some(path), Some(to)) = (self.file_path(from)?, self.file_path(to)?) else {
            return Ok(Meaning::Recorded);
        };
        if self.recording.files.links.contains(&path) {
            if is_rename {
                self.recording.files.links.remove(&path);
            }
            self.recording.files.links.insert(to);
            return Ok(Meaning::Recorded);
        }
        self.recording.files.links.remove(&to);
        self.change_name(&path);
        self.change_name(&to);
        self.push(if is_rename { Action::Rename { path, to } } else { Action::Link { path, to } }, None);
        Ok(Meaning::Forecast)
    }

    /// True if it is a directory.
    fn rename_directory(&mut self, from: At<'_>, to: At<'_>) -> Result<bool, TraceError> {
        let (Some(old), Some(new)) = (self.arguments.string(from.1), self.arguments.string(to.1)) else {
            return Ok(false);
        };
        let files = &mut self.recording.files;
        let old = files.absolute(self.table, from.0, &old);
        let new = files.absolute(self.table, to.0, &new);
        let is_directory = files.directories.has(&files.directories.name(&old));
        if is_directory {
            files.directories.rename(&old, &new);
        }
        Ok(is_directory)
    }

    fn chdir(&mut self) -> Meaning {
        if let Some(text) = self.arguments.string(0) {
            let directory = self.recording.files.absolute(self.table, None, &text);
            self.recording.files.table(self.table).directory = directory;
        }
        Meaning::Recorded
    }

    fn fchdir(&mut self) -> Meaning {
        let Some(Number { fd, path }) = self.arguments.fd(0) else { return Meaning::Recorded };
        let known = path.map(str::to_owned);
        let opened = self.recording.files.get(self.table, fd).map(|(_, open)| open.path.to_string());
        if let Some(directory) = known.or(opened).filter(|_| fd != CWD) {
            self.recording.files.table(self.table).directory = directory;
        }
        Meaning::Recorded
    }

    fn getcwd(&mut self) -> Meaning {
        if let Some(directory) = self.arguments.string(0).filter(|directory| directory.starts_with('/')) {
            self.recording.files.table(self.table).directory = directory.into_owned();
        }
        Meaning::Recorded
    }
}
