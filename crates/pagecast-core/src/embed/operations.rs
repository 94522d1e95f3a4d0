//! Takes operations of tasks inside another simulator: files and the calls on them, checked as our own engine checks them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{EmbedError, Order, PageCache, TaskId};
use crate::fs::{Located, Span, takes_dontcache};
use crate::machine::MountSource;
use crate::policy::{Call, DeviceId, FileId, FileView, Integrity, OperationId, Outcome};
use crate::result::FileLevels;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Advice, Buffer, OpenFlag, OpenFlags};

/// Somebody who does one operation at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    pub(super) is_busy: bool,
    /// Anonymous memory it holds.
    anonymous: Bytes,
    /// The file that its write makes larger, and how large.
    grows: Option<(FileId, Bytes)>,
    /// How it has opened files, of those that it has opened with flags.
    opened: BTreeMap<FileId, OpenFlags>,
}

impl PageCache {
    /// A new task.
    pub fn add_task(&mut self) -> TaskId {
        let at = self.vacant.pop().unwrap_or(self.tasks.len() as u32);
        if at as usize == self.tasks.len() {
            self.tasks.push(None);
        }
        self.tasks[at as usize] = Some(Task::default());
        TaskId(at)
    }

    /// The task is no more; its anonymous memory is given back. Its number may be used again.
    ///
    /// # Errors
    /// There is no such task, or it has an operation under way; a time before the last one, or long after [`Self::next_call`].
    pub fn remove_task(&mut self, now: Nanos, task: TaskId) -> Result<(), EmbedError> {
        self.check_time(now)?;
        self.check_not_late(now)?;
        let bytes = self.idle(task)?.anonymous;
        self.come_to(now);
        self.tasks[task.0 as usize] = None;
        self.vacant.push(task.0);
        self.anonymous -= bytes;
        if bytes == Bytes::ZERO {
            return Ok(());
        }
        self.request(OperationId::NOBODY, Call::Free { bytes, owner: OperationId(task.0) })
    }

    /// Adds a file that no task has written: one that exists before the start, or that comes from outside the simulation later. It takes
    /// no time. The first `cached` bytes of it are in the page cache, and the first `dirty` of these are dirty.
    ///
    /// # Errors
    /// It is there already, or under no mount; more is cached than it has or than memory is free, or dirty than cached; its disk is full;
    /// a time before the last one, or long after [`Self::next_call`].
    pub fn add_file(
        &mut self,
        now: Nanos,
        path: &Arc<str>,
        size: Bytes,
        cached: Bytes,
        dirty: Bytes,
    ) -> Result<(), EmbedError> {
        self.look(now)?;
        let located = self.locate(path)?;
        if self.files.exists(located.file) {
            return Err(EmbedError::FileExists(path.clone()));
        }
        if cached > size || dirty > cached {
            return Err(EmbedError::MoreThanFile { path: path.clone(), size, cached, dirty });
        }
        self.check_fits(path, located.file, size)?;
        let levels = self.policy.levels();
        let free = levels.total.saturating_sub(levels.cached + levels.anonymous);
        if cached > free {
            return Err(EmbedError::NoRoom { path: path.clone(), cached, free });
        }
        self.come_to(now);
        self.files.resize(located.file, size);
        if cached == Bytes::ZERO {
            return Ok(());
        }
        let file = self.view(located);
        self.request(OperationId::NOBODY, Call::Preload { file, bytes: cached, dirty })
    }

    /// The size of a file: the one that it has when the writes under way have ended. Reads come that far after them.
    ///
    /// # Errors
    /// There is no such file.
    pub fn size(&mut self, path: &Arc<str>) -> Result<Bytes, EmbedError> {
        let located = self.existing(path)?;
        Ok(self.files.taken(located.file))
    }

    /// What the memory holds of a file at this instant.
    ///
    /// # Errors
    /// There is no such file; a time before the last one, or long after [`Self::next_call`].
    pub fn residency(&mut self, now: Nanos, path: &Arc<str>) -> Result<FileLevels, EmbedError> {
        self.look(now)?;
        let located = self.existing(path)?;
        Ok(self.policy.residency(located.file))
    }

    /// A task begins an operation. It may be done at once: an order says so.
    ///
    /// # Errors
    /// What the operation, or the state of the files and of memory, makes impossible; a task that does something else; a time before
    /// the last one, or long after [`Self::next_call`].
    pub fn begin(&mut self, now: Nanos, task: TaskId, action: &Action) -> Result<(), EmbedError> {
        self.begin_with(now, task, action, OpenFlags::default())
    }

    /// The same, with flags of a read or write besides those with which the task has opened the file.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub fn begin_with(
        &mut self,
        now: Nanos,
        task: TaskId,
        action: &Action,
        flags: OpenFlags,
    ) -> Result<(), EmbedError> {
        self.check_time(now)?;
        self.check_not_late(now)?;
        self.idle(task)?;
        let call = match *action {
            Action::Open { ref path, create, truncate, flags } => {
                let call = self.open(path, create, truncate)?;
                let file = self.locate(path)?.file;
                self.task_mut(task).opened.insert(file, flags);
                match call {
                    Some(call) => call,
                    None => return self.done_at_once(now, task),
                }
            }
            Action::Close { ref path } => {
                let file = self.existing(path)?.file;
                self.task_mut(task).opened.remove(&file);
                return self.done_at_once(now, task);
            }
            Action::Read { ref path, .. } => {
                let located = self.existing(path)?;
                self.read(task, located, action, self.flags(task, located).union(flags))?
            }
            Action::Write { ref path, .. } => {
                let located = self.locate(path)?;
                self.write(task, located, action, self.flags(task, located).union(flags))?
            }
            Action::Fsync { ref path } => self.fsync(path, Integrity::File)?,
            Action::Fdatasync { ref path } => self.fsync(path, Integrity::Data)?,
            Action::Sync => Call::Sync,
            Action::SyncFs { ref path } => {
                let located = self.locate(path)?;
                Call::SyncFs { device: self.view(located).device }
            }
            Action::SyncFileRange { ref path, offset, bytes, flags } => {
                let located = self.existing(path)?;
                let bytes = self.up_to_end(located, offset, bytes);
                Call::SyncRange { file: self.view(located), offset, bytes, flags }
            }
            Action::Truncate { ref path, size } => match self.truncate(path, size)? {
                Some(call) => call,
                None => return self.done_at_once(now, task),
            },
            Action::Unlink { ref path } => {
                let located = self.existing(path)?;
                let file = self.view(located);
                self.files.remove(located.file);
                self.task_mut(task).opened.remove(&located.file);
                Call::Truncate { file, size: Bytes::ZERO }
            }
            Action::Fadvise { ref path, advice, offset, bytes } => {
                self.advise(path, advice, offset, bytes)?
            }
            Action::Readahead { ref path, offset, bytes } => {
                self.advise(path, Advice::WillNeed, offset, bytes)?
            }
            Action::DropCaches => Call::DropCaches,
            Action::Allocate { bytes } => {
                self.check_memory(bytes)?;
                self.take_memory(task, bytes);
                Call::Allocate { bytes, owner: OperationId(task.0) }
            }
            Action::Free { bytes } => {
                let held = &mut self.task_mut(task).anonymous;
                let bytes = bytes.map_or(*held, |bytes| bytes.min(*held));
                *held -= bytes;
                self.anonymous -= bytes;
                Call::Free { bytes, owner: OperationId(task.0) }
            }
            _ => return Err(EmbedError::NotOurs(action.name())),
        };
        self.come_to(now);
        self.task_mut(task).is_busy = true;
        self.request(OperationId(task.0), call)
    }

    fn fsync(&mut self, path: &Arc<str>, durable: Integrity) -> Result<Call, EmbedError> {
        let located = self.existing(path)?;
        Ok(Call::Fsync { file: self.view(located), durable })
    }

    /// An operation that takes no time.
    fn done_at_once(&mut self, now: Nanos, task: TaskId) -> Result<(), EmbedError> {
        self.come_to(now);
        self.done(task, Outcome::default());
        Ok(())
    }

    /// How a task has opened a file.
    fn flags(&self, task: TaskId, located: Located) -> OpenFlags {
        let state = self.tasks[task.0 as usize].as_ref();
        state.and_then(|state| state.opened.get(&located.file)).copied().unwrap_or_default()
    }

    /// What is to be asked of the policy, if anything.
    fn open(&mut self, path: &Arc<str>, create: bool, truncate: bool) -> Result<Option<Call>, EmbedError> {
        let located = if create { self.locate(path)? } else { self.existing(path)? };
        let size = if truncate { Bytes::ZERO } else { self.files.size(located.file) };
        Ok(self.resize(located, size))
    }

    fn read(
        &mut self,
        task: TaskId,
        located: Located,
        action: &Action,
        flags: OpenFlags,
    ) -> Result<Call, EmbedError> {
        let Action::Read { ref path, offset, bytes, call, buffer, .. } = *action else {
            unreachable!("it is a read")
        };
        let size = self.files.size(located.file);
        let bytes = self.up_to_end(located, offset, bytes);
        let mut span = Span { offset, bytes, piece: call.unwrap_or(bytes).min(bytes) };
        self.check_flags(located, action, &span, flags)?;
        if flags.is_direct() {
            span = span.up_to_end(size);
        }
        let Span { offset, bytes, piece } = span;
        if offset.saturating_add(bytes.0) > size.0 {
            return Err(EmbedError::BeyondEnd { path: path.clone(), offset, bytes, size });
        }
        let fresh = buffer == Buffer::Fresh;
        let takes = if fresh { bytes } else { Bytes::ZERO };
        self.check_memory(takes)?;
        if !flags.is_direct() {
            self.check_has_room(bytes, takes)?;
        }
        self.take_memory(task, takes);
        let file = self.view(located);
        if flags.is_direct() {
            return Ok(Call::ReadDirect { file, offset, bytes, fresh, piece });
        }
        let dontcache = flags.has(OpenFlag::DontCache);
        Ok(Call::Read { file, offset, bytes, fresh, dontcache, piece })
    }

    fn write(
        &mut self,
        task: TaskId,
        located: Located,
        action: &Action,
        flags: OpenFlags,
    ) -> Result<Call, EmbedError> {
        let Action::Write { ref path, offset, bytes, call, .. } = *action else {
            unreachable!("it is a write")
        };
        let size = self.files.size(located.file);
        let offset = match flags.has(OpenFlag::Append) {
            // Who appends at the same time has his place already.
            true => self.files.taken(located.file).0,
            false => offset.unwrap_or(size.0),
        };
        let piece = call.unwrap_or(bytes).min(bytes);
        self.check_flags(located, action, &Span { offset, bytes, piece }, flags)?;
        let end = Bytes(offset.saturating_add(bytes.0)).max(size);
        self.check_fits(path, located.file, end)?;
        if !flags.is_direct() {
            self.check_has_room(bytes, Bytes::ZERO)?;
        }
        let file = self.view(located);
        self.files.begin_write(located.file, end);
        self.task_mut(task).grows = Some((located.file, Bytes(offset + bytes.0)));
        let through = self.files.writes_through(located.file);
        let durable = Integrity::of(flags);
        if flags.is_direct() {
            return Ok(Call::WriteDirect { file, offset, bytes, durable, piece });
        }
        Ok(match durable.filter(|_| !through) {
            Some(durable) => Call::WriteSync { file, offset, bytes, piece, durable },
            None => {
                let dontcache = flags.has(OpenFlag::DontCache);
                Call::Write { file, offset, bytes, through, dontcache, piece }
            }
        })
    }

    /// Refuses what the kernel refuses of calls with these flags.
    fn check_flags(
        &self,
        located: Located,
        action: &Action,
        span: &Span,
        flags: OpenFlags,
    ) -> Result<(), EmbedError> {
        let (host, device) = (self.host(), self.view(located).device);
        let (operation, path) = (action.name(), action.path().expect("reads and writes have a path").clone());
        let block = host.disks[device.0 as usize].logical_block_size;
        if flags.has(OpenFlag::DontCache) && !takes_dontcache(host, &host.mounts[located.mount as usize]) {
            let (major, minor) = host.kernel.version;
            return Err(EmbedError::NotSupported { operation, path, kernel: format!("{major}.{minor}") });
        }
        if flags.is_direct() && !span.is_aligned(action, block) {
            let Span { offset, bytes, piece: call } = *span;
            return Err(EmbedError::Unaligned { operation, path, offset, bytes, call, block });
        }
        Ok(())
    }

    fn truncate(&mut self, path: &Arc<str>, size: Bytes) -> Result<Option<Call>, EmbedError> {
        let located = self.existing(path)?;
        self.check_fits(path, located.file, size)?;
        Ok(self.resize(located, size))
    }

    /// Nothing is to be asked of the policy where a file does not become smaller.
    fn resize(&mut self, located: Located, size: Bytes) -> Option<Call> {
        let file = self.view(located);
        if size < file.size {
            self.files.resize(located.file, size);
            return Some(Call::Truncate { file, size });
        }
        self.files.extend(located.file, size);
        None
    }

    fn advise(
        &mut self,
        path: &Arc<str>,
        advice: Advice,
        offset: u64,
        bytes: Option<Bytes>,
    ) -> Result<Call, EmbedError> {
        let located = self.existing(path)?;
        let bytes = self.up_to_end(located, offset, bytes);
        Ok(Call::Advise { file: self.view(located), advice, offset, bytes })
    }

    /// The operation of a task is over.
    pub(super) fn done(&mut self, task: TaskId, outcome: Outcome) {
        let grows = {
            let state = self.task_mut(task);
            state.is_busy = false;
            state.grows.take()
        };
        if let Some((file, size)) = grows {
            self.files.grow(file, size);
        }
        self.orders.push(Order::Done { task, outcome });
    }

    fn idle(&self, task: TaskId) -> Result<&Task, EmbedError> {
        match self.tasks.get(task.0 as usize) {
            Some(Some(state)) if state.is_busy => Err(EmbedError::Busy(task.0)),
            Some(Some(state)) => Ok(state),
            _ => Err(EmbedError::NoSuchTask(task.0)),
        }
    }

    fn task_mut(&mut self, task: TaskId) -> &mut Task {
        self.tasks[task.0 as usize].as_mut().expect("a task is there as long as its operation")
    }

    fn locate(&mut self, path: &Arc<str>) -> Result<Located, EmbedError> {
        self.files.locate(0, path).map_err(|_| {
            let mounts: Vec<&str> = self.host().mounts.iter().map(|mount| mount.path.as_str()).collect();
            EmbedError::NoMount { path: path.clone(), mounts: mounts.join(", ") }
        })
    }

    fn existing(&mut self, path: &Arc<str>) -> Result<Located, EmbedError> {
        let located = self.locate(path)?;
        if self.files.exists(located.file) { Ok(located) } else { Err(EmbedError::NoSuchFile(path.clone())) }
    }

    fn up_to_end(&self, located: Located, offset: u64, bytes: Option<Bytes>) -> Bytes {
        bytes.unwrap_or(self.files.size(located.file).saturating_sub(Bytes(offset)))
    }

    fn view(&self, located: Located) -> FileView {
        let host = self.host();
        let mount = &host.mounts[located.mount as usize];
        let MountSource::Disk(disk) = mount.source else { unreachable!("all mounts are disks") };
        let device = DeviceId(disk as u32);
        let paths = self.transfers.paths(device);
        FileView {
            id: located.file,
            size: self.files.size(located.file),
            filled: self.files.filled(located.file),
            device,
            read: paths.read,
            write: paths.write,
            read_and_copy: paths.read_and_copy,
            page_insert: mount.page_insert.unwrap_or(host.memory.cost.page_insert),
            cost: mount.cost,
        }
    }

    fn check_fits(&self, path: &Arc<str>, file: FileId, size: Bytes) -> Result<(), EmbedError> {
        let (needed, free) = (size.saturating_sub(self.files.size(file)), self.files.free(file));
        if needed <= free { Ok(()) } else { Err(EmbedError::DiskFull { path: path.clone(), needed, free }) }
    }

    fn most_anonymous(&self) -> Bytes {
        self.policy.most_anonymous().unwrap_or(self.host().memory.size)
    }

    /// Refuses more anonymous memory than programs can hold.
    fn check_memory(&self, needed: Bytes) -> Result<(), EmbedError> {
        let (most, held) = (self.most_anonymous(), self.anonymous);
        if needed <= most.saturating_sub(held) {
            return Ok(());
        }
        Err(EmbedError::OutOfMemory { needed, most, held })
    }

    /// Refuses bytes of a file where all that the host can give is anonymous.
    fn check_has_room(&self, needed: Bytes, taken_before: Bytes) -> Result<(), EmbedError> {
        let held = self.anonymous + taken_before;
        match self.policy.most_anonymous().filter(|&most| held >= most) {
            Some(most) => Err(EmbedError::OutOfMemory { needed, most, held }),
            None => Ok(()),
        }
    }

    /// Books anonymous memory of a task.
    fn take_memory(&mut self, task: TaskId, bytes: Bytes) {
        self.anonymous += bytes;
        self.task_mut(task).anonymous += bytes;
    }
}
