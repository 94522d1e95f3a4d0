//! Makes the operations of a thread: files are opened and closed, requests and syncs are submitted.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::Running;
use crate::readers::fio::choose::FileState;
use crate::readers::fio::engines::Engine;
use crate::readers::fio::issue::Step;
use crate::readers::fio::job::{Hint, Job, READ, SyncIo};
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Advice, Buffer, Fd, MapAdvice, MappedCall, OpenFlag, OpenFlags, Operation};

/// The first descriptor of a program.
const FIRST_FD: u32 = 3;

impl Running {
    pub(super) fn put(&mut self, action: Action) {
        self.queue.push_back(Operation { line: Some(self.thread.job.place.line), ..action.into() });
    }

    /// An operation through the descriptor of a file.
    pub(super) fn put_on(&mut self, file: usize, action: Action) {
        let line = Some(self.thread.job.place.line);
        self.queue.push_back(Operation { line, fd: Some(fd(file)), ..action.into() });
    }

    pub(super) fn path(&self, file: usize) -> Arc<str> {
        Arc::clone(&self.thread.files[file].path)
    }

    /// Waits for what is under way, if anything can be.
    pub(super) fn drain(&mut self) {
        if self.thread.job.queue_depth() > 1 {
            self.put(Action::Drain);
        }
    }

    /// Opens a file on its first use in a loop (`td_io_open_file`).
    pub(super) fn open(&mut self, at: usize) {
        if std::mem::replace(&mut self.issuer.files[at].is_open, true) {
            return;
        }
        let job = self.job();
        let flags = flags(&job);
        let create = job.rw.writes;
        let path = self.path(at);
        self.put_on(at, Action::Open { path: Arc::clone(&path), create, truncate: false, flags });
        if job.invalidate {
            self.invalidate(at);
        }
        let advice = match job.hint {
            Hint::None => None,
            Hint::Sequential => Some(Advice::Sequential),
            Hint::Random => Some(Advice::Random),
            Hint::ByPattern if job.rw.is_random => Some(Advice::Random),
            Hint::ByPattern => Some(Advice::Sequential),
        };
        if let Some(advice) = advice {
            let FileState { used, .. } = &self.issuer.files[at];
            let (offset, bytes) = (used.start, Some(Bytes(used.bytes)));
            self.put_on(at, Action::Fadvise { path: Arc::clone(&path), advice, offset, bytes });
        }
        if job.engine == Engine::Mmap {
            self.put_on(at, Action::Mapped { path, call: MappedCall::Map });
        }
    }

    pub(super) fn invalidate(&mut self, at: usize) {
        let used = &self.issuer.files[at].used;
        let (path, offset, bytes) = (Arc::clone(&used.path), used.start, Some(Bytes(used.bytes)));
        self.put_on(at, Action::Fadvise { path, advice: Advice::DontNeed, offset, bytes });
    }

    pub(super) fn close_all(&mut self) {
        for at in 0..self.thread.files.len() {
            if std::mem::take(&mut self.issuer.files[at].is_open) {
                if self.thread.job.engine == Engine::Mmap {
                    self.put_on(at, Action::Mapped { path: self.path(at), call: MappedCall::Unmap });
                }
                self.put_on(at, Action::Close { path: self.path(at) });
            }
        }
    }

    pub(super) fn request(
        &mut self,
        at: usize,
        direction: usize,
        (offset, bytes): (u64, u64),
        not_before: Option<Nanos>,
    ) {
        let job = self.job();
        let path = self.path(at);
        let count = Bytes(bytes);
        let action = match (job.engine, direction) {
            (Engine::Mmap, READ) => {
                let advice = map_advice(&job);
                Action::Mapped { path, call: MappedCall::Read { offset, bytes: Some(count), advice } }
            }
            (Engine::Mmap, _) => {
                let advice = map_advice(&job);
                Action::Mapped { path, call: MappedCall::Write { offset, bytes: Some(count), advice } }
            }
            (_, READ) => Action::Read {
                path,
                offset: Some(offset),
                bytes: Some(count),
                call: None,
                vector: 1,
                buffer: Buffer::Reused,
            },
            _ => Action::Write { path, offset: Some(offset), bytes: count, call: None, vector: 1 },
        };
        self.submit(at, action, not_before);
    }

    /// A request or a sync, which an asynchronous engine does not wait for.
    pub(super) fn submit(&mut self, at: usize, action: Action, not_before: Option<Nanos>) {
        let job = &self.thread.job;
        let (depth, line) = (job.queue_depth(), Some(job.place.line));
        let depth = if depth > 1 { NonZeroU32::new(self.depth()) } else { None };
        let by = job.engine.interface().unwrap_or_default();
        self.queue.push_back(Operation { line, not_before, depth, by, fd: Some(fd(at)), ..action.into() });
    }

    pub(super) fn sync(&mut self, at: usize, step: Step) {
        let path = self.path(at);
        let job = self.job();
        let action = match step {
            Step::SyncRange => {
                let Some((start, end)) = self.issuer.files[at].written.take() else { return };
                let (flags, _) = job.sync_range.expect("it is due");
                Action::SyncFileRange { path, offset: start, bytes: Some(Bytes(end - start)), flags }
            }
            _ if job.engine == Engine::Mmap => {
                Action::Mapped { path, call: MappedCall::Sync { offset: 0, bytes: None, is_async: false } }
            }
            Step::Fdatasync => Action::Fdatasync { path },
            _ => Action::Fsync { path },
        };
        // fio's engine libaio calls fsync(2) itself.
        if job.engine == Engine::Libaio {
            self.put_on(at, action);
        } else {
            self.submit(at, action, None);
        }
    }
}

fn fd(file: usize) -> Fd {
    Fd(FIRST_FD + file as u32)
}

fn flags(job: &Job) -> OpenFlags {
    let of_sync = match job.sync {
        SyncIo::None => None,
        SyncIo::Sync => Some(OpenFlag::Sync),
        SyncIo::Dsync => Some(OpenFlag::Dsync),
    };
    let direct = job.direct.then_some(OpenFlag::Direct);
    let uncached = job.uncached.then_some(OpenFlag::DontCache);
    [of_sync, direct, uncached].into_iter().flatten().collect()
}

fn map_advice(job: &Job) -> MapAdvice {
    match job.hint {
        Hint::None => MapAdvice::Normal,
        _ if job.rw.is_random => MapAdvice::Random,
        _ => MapAdvice::Sequential,
    }
}
