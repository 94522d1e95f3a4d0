//! Has one function for each operation that is one call; see the module above.

use std::ops::Deref;
use std::sync::Arc;

use super::descriptors::Descriptors;
use super::error::CallError;
use super::memory::{Anonymous, Task};
use crate::fs::nfs::Direction;
use crate::fs::{Located, Namespace, Paths, Span, takes_dontcache};
use crate::machine::{Host, Machine, MountSource, WriteMode, version_name};
use crate::policy::{Call, FileId, FileView, Integrity, OperationId, Policy, Procedure, Remote};
use crate::units::Bytes;
use crate::workload::{Action, Advice, Buffer, Fd, OpenFlag, OpenFlags, Pattern, PatternCall};

/// A task with all that its calls see and change.
pub(crate) struct Caller<'c, M> {
    pub files: &'c mut Namespace<M>,
    pub policy: &'c dyn Policy,
    /// The paths of flows for files under each mount of its host.
    pub mounts: &'c [Paths],
    pub anonymous: &'c mut Anonymous,
    pub task: &'c mut Task,
    pub descriptors: &'c mut Descriptors,
    pub operation: OperationId,
    pub host: usize,
    pub cgroup: Option<usize>,
}

/// An operation that was checked and has begun.
pub(crate) struct Begun {
    /// The file that it is about.
    pub file: Option<Located>,
    /// The bytes of the file that it reads or writes, or the memory that it takes or gives back.
    pub offset: u64,
    pub bytes: Bytes,
    pub wants: Wants,
    /// The size to which the host that keeps its file must cut that, too, if that is another host.
    pub cut_at_home: Option<Bytes>,
    /// The removal of a file whose last descriptor went on the way. Nobody waits for it.
    pub aside: Option<Box<Call>>,
}

/// The next step of an operation.
pub(crate) enum Wants {
    /// Nothing: it is over.
    Nothing,
    /// The policy of its host.
    Call(Call),
    /// Another host's file.
    Transfer(Transfer),
    /// The servers of a striped file.
    Striped(Striped),
}

/// A call on a striped file.
pub(crate) struct Striped {
    pub file: Located,
    pub procedure: Procedure,
    /// Bytes of each system call but the last.
    pub piece: Bytes,
    /// True if each byte read takes a byte of new anonymous memory.
    pub fresh: bool,
}

/// Bytes that go to or from another host's file in chunks, through both page caches.
pub(crate) struct Transfer {
    pub file: Located,
    pub offset: u64,
    pub bytes: Bytes,
    pub chunk: Bytes,
    pub direction: Direction,
}

/// Resolves a path on a host.
pub(crate) fn locate<M: Deref<Target = Machine>>(
    files: &mut Namespace<M>,
    host: usize,
    path: &Arc<str>,
) -> Result<Located, CallError> {
    files.locate(host, path).map_err(|_| CallError::NoMount { path: path.clone() })
}

/// Refuses a size of a file for which its disk has no room.
pub(crate) fn check_fits<M: Deref<Target = Machine>>(
    files: &Namespace<M>,
    file: FileId,
    size: Bytes,
) -> Result<(), CallError> {
    for (part, share) in files.shares(file, size) {
        check_fits(files, part, share)?;
    }
    if files.striping(file).is_some() {
        return Ok(());
    }
    // Of writes under way at once each has its own bytes.
    let needed = size.saturating_sub(files.taken(file).max(files.reserved(file)));
    if needed <= files.free(file) {
        return Ok(());
    }
    let (path, disk, used) = (files.path(file).clone(), files.home(file), files.used(file));
    Err(CallError::DiskFull { path, needed, disk, used })
}

impl<M: Deref<Target = Machine>> Caller<'_, M> {
    /// Begins an operation through its path or a descriptor; `flags` come beside those with which its file was opened. None if it is not
    /// one system call.
    ///
    /// Where it is refused nothing has changed.
    pub(crate) fn begin(
        &mut self,
        action: &Action,
        fd: Option<Fd>,
        flags: OpenFlags,
    ) -> Result<Option<Begun>, CallError> {
        let begun = match *action {
            Action::Sync => Begun::without_file(Bytes::ZERO, Call::Sync),
            Action::SyncFs { ref path } => {
                let located = locate(self.files, self.host, path)?;
                Begun::without_file(Bytes::ZERO, Call::SyncFs { device: self.view(located).device })
            }
            Action::DropCaches => Begun::without_file(Bytes::ZERO, Call::DropCaches),
            Action::Allocate { bytes } => {
                self.check_memory(bytes)?;
                self.take_memory(bytes);
                Begun::without_file(bytes, Call::Allocate { bytes, owner: self.operation })
            }
            Action::Free { bytes } => {
                let bytes = self.give_memory_back(bytes);
                Begun::without_file(bytes, Call::Free { bytes, owner: self.operation })
            }
            _ if action.path().is_some() => return self.begin_on_file(action, fd, flags),
            _ => return Ok(None),
        };
        Ok(Some(begun))
    }

    fn begin_on_file(
        &mut self,
        action: &Action,
        fd: Option<Fd>,
        flags: OpenFlags,
    ) -> Result<Option<Begun>, CallError> {
        match action {
            Action::Stream { .. } | Action::Mapped { .. } | Action::Copy { .. } | Action::Pattern(_) => {
                return Ok(None);
            }
            Action::Rename { .. } | Action::Link { .. } | Action::Mkdir { .. } | Action::Rmdir { .. } => {
                return self.begin_on_names(action).map(Some);
            }
            _ => {}
        }
        let file = match (fd, action) {
            (Some(fd), Action::Open { .. }) => return self.open(fd, action).map(Some),
            (Some(fd), _) => self.file_behind(fd, action)?,
            (None, Action::Stat { .. }) => locate(self.files, self.host, action.path().expect("it has one"))?,
            (None, _) => self.file_of(action)?,
        };
        let begun = match *action {
            Action::Open { truncate, flags, .. } => {
                self.task.set_flags(file.file, flags);
                self.open_file(file, truncate)?
            }
            Action::Close { .. } => match fd {
                Some(fd) => self.close(fd, file),
                None => {
                    self.task.set_flags(file.file, OpenFlags::default());
                    let flush = self.flush_at_close(file);
                    Begun::on(file, flush)
                }
            },
            Action::Seek { offset, .. } => {
                let fd = fd.ok_or_else(|| CallError::NoDescriptor { operation: action.name() })?;
                self.descriptors.seek(fd, offset);
                Begun::on(file, Wants::Nothing)
            }
            Action::Duplicate { to, .. } => {
                let fd = fd.ok_or_else(|| CallError::NoDescriptor { operation: action.name() })?;
                self.duplicate(fd, to, file)
            }
            Action::Stat { .. } => self.look_up(file, true),
            Action::Fallocate { mode, offset, bytes, .. } => self.allocate(file, mode, offset, bytes)?,
            Action::Read { .. } => self.begin_read(file, action, fd, flags)?,
            Action::Write { .. } => self.begin_write(file, action, fd, flags)?,
            Action::Fsync { .. } => self.fsync(file, Integrity::File),
            Action::Fdatasync { .. } => self.fsync(file, Integrity::Data),
            // Its pages are those of its servers.
            Action::SyncFileRange { .. } if self.is_striped(file) => Begun::on(file, Wants::Nothing),
            Action::SyncFileRange { offset, bytes, flags, .. } => {
                let bytes = self.up_to_end(file, offset, bytes);
                Begun::on(file, Call::SyncRange { file: self.view(file), offset, bytes, flags })
            }
            Action::Truncate { size, .. } => self.resize(file, size)?,
            Action::Unlink { ref path } => self.unlink(path)?,
            Action::Fadvise { advice, offset, bytes, .. } => self.advise(file, advice, offset, bytes),
            // mm/readahead.c: ksys_readahead
            Action::Readahead { offset, bytes, .. } => self.advise(file, Advice::WillNeed, offset, bytes),
            _ => return Ok(None),
        };
        Ok(Some(begun))
    }

    /// The file that an operation is about; it exists unless the operation makes it.
    pub(crate) fn file_of(&mut self, action: &Action) -> Result<Located, CallError> {
        let path = action.path().expect("the operation is about a file");
        let located = locate(self.files, self.host, path)?;
        // A stream that is open has its file, whoever removed that.
        let is_open = matches!(action, Action::Stream { call, .. } if !call.opens());
        if is_open || action.makes_file() || self.files.exists(located.file) {
            return Ok(located);
        }
        Err(CallError::NoSuchFile { operation: action.name(), path: path.clone() })
    }

    /// Gives a file a size. Nothing is asked of the policy where it does not become smaller.
    pub(crate) fn resize(&mut self, located: Located, size: Bytes) -> Result<Begun, CallError> {
        check_fits(self.files, located.file, size)?;
        let before = self.view(located);
        if size < before.size {
            self.files.resize(located.file, size);
            return Ok(match self.is_striped(located) {
                true => Begun::on_servers(located, Procedure::Setattr { size }),
                false => self.cut(located, before, size),
            });
        }
        self.files.extend(located.file, size);
        match size > before.size && self.asks_server(located) {
            true => Ok(self.cut(located, before, size)),
            false => Ok(Begun::on(located, Wants::Nothing)),
        }
    }

    /// Tells the task's host that pages are gone, and the one that keeps the file, unless a call of the client does so.
    pub(super) fn cut(&self, located: Located, before: FileView, size: Bytes) -> Begun {
        let is_remote = self.files.home(located.file).0 != self.host && !self.asks_server(located);
        let begun = Begun::on(located, Call::Truncate { file: before, size, opens: false });
        Begun { cut_at_home: is_remote.then_some(size), ..begun }
    }

    fn begin_read(
        &mut self,
        located: Located,
        action: &Action,
        fd: Option<Fd>,
        flags: OpenFlags,
    ) -> Result<Begun, CallError> {
        let Action::Read { offset: given, bytes, call, buffer, .. } = *action else {
            unreachable!("it is a read")
        };
        let open = fd.and_then(|fd| self.descriptors.get(fd)).copied();
        let offset = given.or(open.map(|open| open.position)).unwrap_or(0);
        let flags = open.map_or_else(|| self.task.flags(located.file), |open| open.flags).union(flags);
        let rest = self.files.size(located.file).saturating_sub(Bytes(offset));
        // A read through a descriptor gets what is there; one by path says what the file must have.
        let bytes = bytes.map_or(rest, |bytes| if open.is_some() { bytes.min(rest) } else { bytes });
        let mut span = Span { offset, bytes, piece: call.unwrap_or(bytes).min(bytes) };
        self.check_flags(located, action, &span, flags)?;
        if flags.is_direct() {
            span = span.up_to_end(self.files.size(located.file));
        }
        self.check_within(located, action, &span)?;
        let fresh = buffer == Buffer::Fresh;
        let takes = if fresh { span.bytes } else { Bytes::ZERO };
        self.check_memory(takes)?;
        if !flags.is_direct() {
            self.check_room(span.bytes, takes)?;
        }
        self.take_memory(takes);
        self.move_on(fd.filter(|_| given.is_none()), &span);
        Ok(Begun::of_span(located, &span, self.read(located, &span, flags, fresh)))
    }

    /// Returns the next step of a read that was checked.
    pub(crate) fn read(&self, located: Located, span: &Span, flags: OpenFlags, fresh: bool) -> Wants {
        let Span { offset, bytes, piece } = *span;
        if self.is_striped(located) {
            return Wants::Striped(Striped {
                file: located,
                procedure: Procedure::Read { offset, bytes },
                piece,
                fresh,
            });
        }
        let flags = self.flags_that_count(located, flags);
        let (file, is_direct) = (self.view(located), flags.is_direct());
        match self.chunk(located) {
            Some(chunk) if is_direct => {
                Wants::transfer(located, span, chunk, Direction::ReadDirect { fresh })
            }
            // All of it from here if all of it is cached here, otherwise all of it from there.
            Some(_) if bytes == Bytes::ZERO || self.policy.residency(located.file).cached >= file.size => {
                Wants::Call(Call::Read { file, offset, bytes, fresh, dontcache: false, piece: bytes })
            }
            Some(chunk) => Wants::transfer(located, span, chunk, Direction::Read { fresh }),
            None if is_direct => Wants::Call(Call::ReadDirect { file, offset, bytes, fresh, piece }),
            None => {
                let dontcache = flags.has(OpenFlag::DontCache);
                Wants::Call(Call::Read { file, offset, bytes, fresh, dontcache, piece })
            }
        }
    }

    fn begin_write(
        &mut self,
        located: Located,
        action: &Action,
        fd: Option<Fd>,
        flags: OpenFlags,
    ) -> Result<Begun, CallError> {
        let Action::Write { offset: given, bytes, call, .. } = *action else { unreachable!("it is a write") };
        let open = fd.and_then(|fd| self.descriptors.get(fd)).copied();
        let flags = open.map_or_else(|| self.task.flags(located.file), |open| open.flags).union(flags);
        let offset = match (flags.has(OpenFlag::Append), open) {
            // Tasks that append at the same time have their places already.
            (true, _) => self.files.taken(located.file).0,
            (false, Some(open)) => given.unwrap_or(open.position),
            (false, None) => given.unwrap_or(self.files.size(located.file).0),
        };
        let span = Span { offset, bytes, piece: call.unwrap_or(bytes).min(bytes) };
        self.check_flags(located, action, &span, flags)?;
        self.take_room(located, &span, flags)?;
        self.move_on(fd.filter(|_| given.is_none()), &span);
        Ok(Begun::of_span(located, &span, self.write(located, &span, flags)))
    }

    /// Takes the space that a write needs at once, and makes the file; it grows when the bytes are there.
    pub(crate) fn take_room(
        &mut self,
        located: Located,
        span: &Span,
        flags: OpenFlags,
    ) -> Result<(), CallError> {
        let end = Bytes(span.offset.saturating_add(span.bytes.0)).max(self.files.size(located.file));
        check_fits(self.files, located.file, end)?;
        if self.files.is_in_memory(located.file) {
            self.check_memory(end.saturating_sub(self.files.taken(located.file)))?;
        }
        if !flags.is_direct() {
            self.check_room(span.bytes, Bytes::ZERO)?;
            if self.asks_server(located) {
                self.descriptors.note_written(located);
            }
        }
        self.files.begin_write(located.file, end);
        Ok(())
    }

    /// Returns the next step of a write that has its room.
    pub(crate) fn write(&self, located: Located, span: &Span, flags: OpenFlags) -> Wants {
        let Span { offset, bytes, piece } = *span;
        let mount = &self.machine().mounts[located.mount as usize];
        if self.is_striped(located) {
            let stable = Integrity::of(flags).is_some() || mount.write_mode == WriteMode::Through;
            let procedure = Procedure::Write { offset, bytes, stable };
            return Wants::Striped(Striped { file: located, procedure, piece, fresh: false });
        }
        let flags = self.flags_that_count(located, flags);
        let asks_server = self.asks_server(located);
        let (file, through) = (self.view(located), !asks_server && self.files.writes_through(located.file));
        // The mount option `sync` (`include/linux/fs.h: IS_SYNC`), which `noac` implies.
        let is_noac = mount.options.is_some_and(|options| options.noac);
        let is_sync = asks_server && (mount.write_mode == WriteMode::Through || is_noac);
        let durable = Integrity::of(flags).or(is_sync.then_some(Integrity::File));
        let call = match (self.chunk(located), durable.filter(|_| !through)) {
            (Some(chunk), _) => return Wants::transfer(located, span, chunk, Direction::Write),
            _ if flags.is_direct() => Call::WriteDirect { file, offset, bytes, durable, piece },
            (None, Some(durable)) => Call::WriteSync { file, offset, bytes, piece, durable },
            (None, None) => {
                let dontcache = flags.has(OpenFlag::DontCache);
                Call::Write { file, offset, bytes, through, dontcache, piece }
            }
        };
        Wants::Call(call)
    }

    /// The flags of a call that change what it does: none on a tmpfs, which has nothing behind the page cache.
    fn flags_that_count(&self, located: Located, flags: OpenFlags) -> OpenFlags {
        if self.files.is_in_memory(located.file) { OpenFlags::default() } else { flags }
    }

    /// Checks a pattern whose calls come one by one: the file, and how the task has opened that.
    pub(crate) fn begin_pattern(
        &mut self,
        action: &Action,
        fd: Option<Fd>,
        pattern: &Pattern,
        flags: OpenFlags,
    ) -> Result<(Located, OpenFlags), CallError> {
        let file = match fd {
            Some(fd) => self.file_behind(fd, action)?,
            None => self.file_of(action)?,
        };
        let open = fd.and_then(|fd| self.descriptors.get(fd));
        let flags = open.map_or_else(|| self.task.flags(file.file), |open| open.flags).union(flags);
        let Pattern { ref path, offset, range, bytes, call, write_share, .. } = *pattern;
        let rest = |of: Option<Bytes>| of.map_or(0, |of| of.0 % call.0.max(1));
        let all = (write_share > 0.0).then(|| pattern.range_within(self.files.size(file.file)));
        // Calls of the whole size, the last one of the part, and the last one of all.
        for bytes in [call.0, rest(range.or(all)), rest(bytes)].into_iter().filter(|&bytes| bytes > 0) {
            let (bytes, path) = (Bytes(bytes), path.clone());
            let span = Span { offset, bytes, piece: bytes };
            let call = match write_share {
                0.0 => Action::Read {
                    path,
                    offset: Some(offset),
                    bytes: Some(bytes),
                    call: None,
                    vector: 1,
                    buffer: Buffer::Reused,
                },
                _ => Action::Write { path, offset: Some(offset), bytes, call: None, vector: 1 },
            };
            self.check_flags(file, &call, &span, flags)?;
        }
        Ok((file, flags))
    }

    /// Puts a call of a pattern where it begins: a write with O_APPEND at the end of the file.
    pub(crate) fn placed(&self, file: Located, mut call: PatternCall, flags: OpenFlags) -> PatternCall {
        if call.is_write && flags.has(OpenFlag::Append) {
            call.offset = self.files.taken(file.file).0;
        }
        call
    }

    /// Returns the next step of a call of a pattern.
    pub(crate) fn call_of_pattern(
        &mut self,
        file: Located,
        PatternCall { offset, bytes, is_write }: PatternCall,
        flags: OpenFlags,
    ) -> Result<Wants, CallError> {
        let span = Span { offset, bytes, piece: bytes };
        if is_write {
            self.take_room(file, &span, flags)?;
            return Ok(self.write(file, &span, flags));
        }
        let size = self.files.size(file.file);
        if offset.saturating_add(bytes.0) > size.0 {
            let path = self.files.path(file.file).clone();
            return Err(CallError::BeyondEnd { path, span, size });
        }
        if !flags.is_direct() {
            self.check_room(bytes, Bytes::ZERO)?;
        }
        Ok(self.read(file, &span, flags, false))
    }

    /// Tells the policy how a file is used.
    fn advise(&self, located: Located, advice: Advice, offset: u64, bytes: Option<Bytes>) -> Begun {
        let comes_in_chunks = advice != Advice::DontNeed && self.chunk(located).is_some();
        if comes_in_chunks || self.is_striped(located) {
            // Files of other hosts come in chunks, whatever is said.
            return Begun::on(located, Wants::Nothing);
        }
        let bytes = self.up_to_end(located, offset, bytes);
        Begun::on(located, Call::Advise { file: self.view(located), advice, offset, bytes })
    }

    fn machine(&self) -> &Host {
        &self.files.machine().hosts[self.host]
    }

    /// A file as the policy of the task's host sees it.
    pub(crate) fn view(&self, located: Located) -> FileView {
        self.files.view(self.host, located, &self.mounts[located.mount as usize])
    }

    /// True if the task's policy asks the server of a file for what it does.
    pub(crate) fn asks_server(&self, located: Located) -> bool {
        let mount = &self.machine().mounts[located.mount as usize];
        matches!(mount.source, MountSource::Nfs { .. }) && self.policy.remote() == Remote::Calls
    }

    /// True if a file is on a striped mount.
    pub(crate) fn is_striped(&self, located: Located) -> bool {
        matches!(self.machine().mounts[located.mount as usize].source, MountSource::Striped(_))
    }

    fn fsync(&self, located: Located, durable: Integrity) -> Begun {
        match self.is_striped(located) {
            true => Begun::on_servers(located, Procedure::Commit),
            false => Begun::on(located, Call::Fsync { file: self.view(located), durable }),
        }
    }

    /// If a file is another host's and goes through both page caches: in chunks of this size.
    pub(crate) fn chunk(&self, located: Located) -> Option<Bytes> {
        match (&self.machine().mounts[located.mount as usize].source, self.policy.remote()) {
            (MountSource::Nfs { .. }, Remote::Chunks(chunk)) => Some(chunk),
            _ => None,
        }
    }

    fn up_to_end(&self, located: Located, offset: u64, bytes: Option<Bytes>) -> Bytes {
        bytes.unwrap_or(self.files.size(located.file).saturating_sub(Bytes(offset)))
    }

    /// Refuses bytes beyond the end of the file of a read.
    pub(crate) fn check_within(
        &self,
        located: Located,
        action: &Action,
        span: &Span,
    ) -> Result<(), CallError> {
        let size = self.files.size(located.file);
        if span.offset.saturating_add(span.bytes.0) <= size.0 {
            return Ok(());
        }
        let path = action.path().expect("a read has a path").clone();
        Err(CallError::BeyondEnd { path, span: *span, size })
    }

    /// Refuses what the kernel refuses of calls with these flags: RWF_DONTCACHE where the file system does not take it, and O_DIRECT
    /// with bytes that are not whole blocks of the disk. Another host's files take any bytes.
    fn check_flags(
        &self,
        located: Located,
        action: &Action,
        span: &Span,
        flags: OpenFlags,
    ) -> Result<(), CallError> {
        if !flags.is_direct() && !flags.has(OpenFlag::DontCache) {
            return Ok(());
        }
        let host = self.machine();
        let mount = &host.mounts[located.mount as usize];
        let (operation, path) = (action.name(), action.path().expect("reads and writes have a path").clone());
        if flags.has(OpenFlag::DontCache) && !takes_dontcache(host, mount) {
            let kernel = version_name(host.kernel.version);
            return Err(CallError::NotSupported { operation, path, kernel });
        }
        if let MountSource::Disk(disk) = mount.source
            && flags.is_direct()
            && let block = host.disks[disk].logical_block_size
            && !span.is_aligned(action, block)
        {
            let (Action::Read { vector, .. } | Action::Write { vector, .. }) = *action else {
                unreachable!("only reads and writes move bytes")
            };
            return Err(CallError::Unaligned { operation, path, span: *span, vector, block });
        }
        Ok(())
    }

    /// The memory that the task's host can give programs and tmpfs, and the limit of the task's memory cgroup, each with the part that is held.
    fn limits(&self) -> impl Iterator<Item = (Option<Bytes>, Bytes, Option<usize>)> {
        let limit = |at: usize| {
            let limit = self.machine().cgroups[at].limit.bytes();
            (Some(limit), self.anonymous.of_cgroups[at], Some(at))
        };
        let held = self.anonymous.all + self.files.in_memory(self.host);
        let of_host = (self.policy.most_anonymous(), held, None);
        std::iter::once(of_host).chain(self.cgroup.map(limit))
    }

    /// Refuses more anonymous memory than the host, or the task's memory cgroup, can give. Page cache of a group makes room for it.
    fn check_memory(&self, needed: Bytes) -> Result<(), CallError> {
        if needed == Bytes::ZERO {
            return Ok(());
        }
        for (most, held, cgroup) in self.limits() {
            let most = most.unwrap_or(self.machine().memory.size);
            if needed > most.saturating_sub(held) {
                return Err(CallError::OutOfMemory { needed, most, held, cgroup });
            }
        }
        Ok(())
    }

    /// Refuses bytes of a file where all that the host, or the task's memory cgroup, can give is anonymous with `taken_before`: not a
    /// page of them could be had.
    pub(crate) fn check_room(&self, needed: Bytes, taken_before: Bytes) -> Result<(), CallError> {
        for (most, held, cgroup) in self.limits() {
            let held = held + taken_before;
            if let Some(most) = most.filter(|&most| held >= most) {
                return Err(CallError::OutOfMemory { needed, most, held, cgroup });
            }
        }
        Ok(())
    }

    fn take_memory(&mut self, bytes: Bytes) {
        self.anonymous.add(self.cgroup, bytes);
        self.task.anonymous += bytes;
    }

    /// Gives anonymous memory of the task back, all that it holds if it does not say how much; gives how much that is.
    pub(crate) fn give_memory_back(&mut self, bytes: Option<Bytes>) -> Bytes {
        let held = self.task.anonymous;
        let bytes = bytes.map_or(held, |bytes| bytes.min(held));
        self.task.anonymous -= bytes;
        self.anonymous.take(self.cgroup, bytes);
        bytes
    }
}

impl Begun {
    fn without_file(bytes: Bytes, call: Call) -> Self {
        Self { file: None, offset: 0, bytes, wants: Wants::Call(call), cut_at_home: None, aside: None }
    }

    pub(super) fn on(file: Located, wants: impl Into<Wants>) -> Self {
        Self {
            file: Some(file),
            offset: 0,
            bytes: Bytes::ZERO,
            wants: wants.into(),
            cut_at_home: None,
            aside: None,
        }
    }

    /// A call on a striped file.
    pub(super) fn on_servers(file: Located, procedure: Procedure) -> Self {
        Self::on(file, Wants::Striped(Striped { file, procedure, piece: Bytes::ZERO, fresh: false }))
    }

    fn of_span(file: Located, span: &Span, wants: Wants) -> Self {
        Self { offset: span.offset, bytes: span.bytes, ..Self::on(file, wants) }
    }
}

impl Wants {
    fn transfer(file: Located, span: &Span, chunk: Bytes, direction: Direction) -> Self {
        let Span { offset, bytes, .. } = *span;
        match bytes {
            Bytes::ZERO => Self::Nothing,
            _ => Self::Transfer(Transfer { file, offset, bytes, chunk, direction }),
        }
    }
}

impl From<Call> for Wants {
    fn from(call: Call) -> Self {
        Self::Call(call)
    }
}
