//! Begins operations on names and descriptors: they say which file is which, and ask little of the page cache.
//!
//! Left out: errors of directories, which are there as soon as a path names them.

use std::ops::Deref;
use std::sync::Arc;

use super::error::CallError;
use super::operations::{Begun, Caller, Wants, check_fits, locate};
use crate::fs::{Located, NameId, Release, Span};
use crate::machine::Machine;
use crate::policy::{Call, NameChange, Procedure};
use crate::units::Bytes;
use crate::workload::{Action, AllocateMode, Fd, OpenFlags};

impl Begun {
    /// A policy takes no time for a name: the program keeps that.
    pub(crate) fn leave_time_of_name(&mut self) {
        if let Wants::Call(Call::Name { file, .. } | Call::Open { file, .. } | Call::Unlink { file }) =
            &mut self.wants
        {
            file.is_timed = true;
        }
    }
}

impl<M: Deref<Target = Machine>> Caller<'_, M> {
    /// The file of an open descriptor.
    pub(super) fn file_behind(&self, fd: Fd, action: &Action) -> Result<Located, CallError> {
        let not_open = || {
            let path = action.path().expect("the operation is about a file").clone();
            CallError::NotOpen { operation: action.name(), path, fd }
        };
        self.descriptors.get(fd).map(|open| open.located).ok_or_else(not_open)
    }

    /// Opens a file under a number. One that is open already is closed.
    pub(super) fn open(&mut self, fd: Fd, action: &Action) -> Result<Begun, CallError> {
        let Action::Open { truncate, flags, .. } = *action else { unreachable!("it is an open") };
        let file = self.file_of(action)?;
        let begun = self.open_file(file, truncate)?;
        self.files.hold(file.file);
        let aside = self.drop_descriptor(fd).map(Box::new);
        self.descriptors.open(fd, file, flags);
        Ok(Begun { aside, ..begun })
    }

    /// Gives a file the size that it has when it has been opened, and a name if it has none.
    pub(super) fn open_file(&mut self, file: Located, truncate: bool) -> Result<Begun, CallError> {
        let is_new = !self.files.exists(file.file);
        let begun = self.open_size(file, truncate)?;
        Ok(match begun.wants {
            Wants::Nothing if is_new && self.is_striped(file) => Begun::on_servers(file, Procedure::Create),
            Wants::Call(Call::Truncate { file: view, size, .. }) if self.asks_server(file) => {
                Begun::on(file, Call::Truncate { file: view, size, opens: true })
            }
            _ if is_new => self.named(file, NameChange::Create),
            Wants::Nothing => self.look_up(file, false),
            _ => begun,
        })
    }

    /// Opens a file that is there, or looks at it as `stat` does, which takes a policy's time if it minds.
    pub(super) fn look_up(&self, file: Located, is_stat: bool) -> Begun {
        if self.is_striped(file) {
            return Begun::on_servers(file, Procedure::Getattr);
        }
        let is_minded = self.policy.minds_opens() && self.files.has_size(file.file);
        match is_minded || self.asks_server(file) {
            true => Begun::on(file, Call::Open { file: self.view(file), is_stat }),
            false => Begun::on(file, Wants::Nothing),
        }
    }

    /// A change of names, which takes a policy's time if it minds.
    fn named(&self, file: Located, change: NameChange) -> Begun {
        if self.is_striped(file) {
            return Begun::on_servers(file, Procedure::Getattr);
        }
        match self.minds_name(file) {
            true => Begun::on(file, Call::Name { file: self.view(file), change }),
            false => Begun::on(file, Wants::Nothing),
        }
    }

    /// True if a change of the names of a file takes time.
    fn minds_name(&self, file: Located) -> bool {
        self.policy.minds_names() || self.asks_server(file)
    }

    /// Gives a file the size that it has when it has been opened, and makes it exist.
    pub(super) fn open_size(&mut self, file: Located, truncate: bool) -> Result<Begun, CallError> {
        let size = if truncate { Bytes::ZERO } else { self.files.size(file.file) };
        self.resize(file, size)
    }

    /// Closes a descriptor. With the last one of a file without a name the file goes.
    pub(super) fn close(&mut self, fd: Fd, file: Located) -> Begun {
        match self.drop_descriptor(fd) {
            Some(_) if self.is_striped(file) => Begun::on_servers(file, Procedure::Remove { is_last: true }),
            Some(removal) => Begun::on(file, removal),
            None => {
                let flush = self.flush_at_close(file);
                Begun::on(file, flush)
            }
        }
    }

    /// The wait of a close: for the server, if another host keeps the file.
    pub(crate) fn flush_at_close(&mut self, file: Located) -> Wants {
        self.descriptors.note_closed(file.file);
        if self.asks_server(file) { Call::Close { file: self.view(file) }.into() } else { Wants::Nothing }
    }

    /// The next close of a process that ends, of a file that waits for its server; others take no time.
    pub(crate) fn close_at_exit(&mut self) -> Option<Action> {
        let located = std::iter::from_fn(|| self.descriptors.take_unflushed())
            .find(|located| self.files.has_name(located.file))?;
        Some(Action::Close { path: self.files.path_on(self.host, located) })
    }

    /// Gives an open file a second descriptor. One that is open already is closed.
    pub(super) fn duplicate(&mut self, fd: Fd, to: Fd, file: Located) -> Begun {
        if fd == to {
            return Begun::on(file, Wants::Nothing);
        }
        let aside = self.drop_descriptor(to).map(Box::new);
        self.descriptors.duplicate(fd, to);
        Begun { aside, ..Begun::on(file, Wants::Nothing) }
    }

    /// Closes all descriptors; gives the removals of files that have no name.
    pub(crate) fn close_all(&mut self) -> Vec<Call> {
        let files = self.descriptors.close_all();
        files.into_iter().filter_map(|file| self.let_go(file)).collect()
    }

    fn drop_descriptor(&mut self, fd: Fd) -> Option<Call> {
        let file = self.descriptors.close(fd)?;
        self.let_go(file)
    }

    fn let_go(&mut self, file: Located) -> Option<Call> {
        let release = self.files.let_go(file.file);
        self.removal(release, file.mount)
    }

    /// The call that removes a file which nothing refers to any more.
    fn removal(&mut self, release: Release, mount: u32) -> Option<Call> {
        let Release::Last(file) = release else { return None };
        let view = self.view(Located { file, mount });
        self.files.remove(file);
        Some(Call::Truncate { file: view, size: Bytes::ZERO, opens: false })
    }

    /// Removes a name, and the file with its last name where no descriptor has it.
    pub(super) fn unlink(&mut self, path: &Arc<str>) -> Result<Begun, CallError> {
        let file = locate(self.files, self.host, path)?;
        let (name, _) = self.name(path)?;
        let before = self.view(file);
        self.task.set_flags(file.file, OpenFlags::default());
        Ok(match self.files.unlink(name) {
            Release::Kept => self.named(file, NameChange::Unlink),
            Release::Last(last) => {
                self.files.remove(last);
                if self.is_striped(file) {
                    return Ok(Begun::on_servers(file, Procedure::Remove { is_last: true }));
                }
                Begun {
                    wants: Wants::Call(Call::Unlink { file: before }),
                    ..self.cut(file, before, Bytes::ZERO)
                }
            }
        })
    }

    /// Begins an operation on two names, or on a directory.
    pub(super) fn begin_on_names(&mut self, action: &Action) -> Result<Begun, CallError> {
        match action {
            Action::Rename { path, to } => self.rename(path, to),
            Action::Link { path, to } => self.link(path, to),
            Action::Mkdir { path } => self.change_directory(path, NameChange::Create),
            Action::Rmdir { path } => self.change_directory(path, NameChange::Unlink),
            _ => unreachable!("it is none of names"),
        }
    }

    fn change_directory(&mut self, path: &Arc<str>, change: NameChange) -> Result<Begun, CallError> {
        let directory = locate(self.files, self.host, path)?;
        Ok(self.named(directory, change))
    }

    fn rename(&mut self, path: &Arc<str>, to: &Arc<str>) -> Result<Begun, CallError> {
        let (from, name, mount) = self.two_names("rename", path, to)?;
        if !self.files.is_there(from) {
            return Err(CallError::NoSuchFile { operation: "rename", path: path.clone() });
        }
        let file = Located { file: self.files.file(from), mount };
        let replaces = self.files.exists(self.files.file(name));
        let release = self.files.rename(from, name);
        let removal = self.removal(release, mount);
        if self.minds_name(file) {
            let aside = removal.map(Box::new);
            return Ok(Begun { aside, ..self.named(file, NameChange::Rename { replaces }) });
        }
        Ok(Begun::on(file, removal.map_or(Wants::Nothing, Wants::Call)))
    }

    fn link(&mut self, path: &Arc<str>, to: &Arc<str>) -> Result<Begun, CallError> {
        let (from, name, mount) = self.two_names("link", path, to)?;
        let file = self.files.file(from);
        if !self.files.exists(file) {
            return Err(CallError::NoSuchFile { operation: "link", path: path.clone() });
        }
        if self.files.exists(self.files.file(name)) {
            return Err(CallError::Exists { operation: "link", path: to.clone() });
        }
        self.files.link(file, name);
        Ok(self.named(Located { file, mount }, NameChange::Rename { replaces: false }))
    }

    fn name(&mut self, path: &Arc<str>) -> Result<(NameId, u32), CallError> {
        self.files.name(self.host, path).map_err(|_| CallError::NoMount { path: path.clone() })
    }

    fn two_names(
        &mut self,
        operation: &'static str,
        path: &Arc<str>,
        to: &Arc<str>,
    ) -> Result<(NameId, NameId, u32), CallError> {
        let ((from, mount), (name, _)) = (self.name(path)?, self.name(to)?);
        if self.files.are_together(from, name) {
            return Ok((from, name, mount));
        }
        Err(CallError::OtherMount { operation, path: path.clone(), to: to.clone() })
    }

    /// Takes room for a range of a file. The pages of a hole that is punched stay, as there is no call for them.
    pub(super) fn allocate(
        &mut self,
        file: Located,
        mode: AllocateMode,
        offset: u64,
        bytes: Bytes,
    ) -> Result<Begun, CallError> {
        let end = Bytes(offset.saturating_add(bytes.0));
        match mode {
            AllocateMode::Extend => {
                let end = end.max(self.files.size(file.file));
                return self.resize(file, end);
            }
            AllocateMode::KeepSize => {
                check_fits(self.files, file.file, end)?;
                self.files.reserve(file.file, end);
            }
            AllocateMode::PunchHole | AllocateMode::ZeroRange => {}
        }
        Ok(Begun::on(file, Wants::Nothing))
    }

    /// A descriptor's position moves behind the bytes that a call has read or written there.
    pub(super) fn move_on(&mut self, fd: Option<Fd>, span: &Span) {
        if let Some(fd) = fd {
            self.descriptors.seek(fd, span.offset + span.bytes.0);
        }
    }
}
