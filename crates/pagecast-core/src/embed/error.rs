//! Names the refusals of a page cache inside another simulator.

use std::sync::Arc;

use crate::calls::CallError;
use crate::fs::Span;
use crate::machine::Host;
use crate::units::{Bytes, Nanos};

/// Why something cannot be done. Nothing has changed then, but for [`EmbedError::NoAnswer`], after which the cache is of no use.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// Time ran back.
    #[error("it is {now} after it was {last}; times never run back")]
    TimeRunsBack {
        /// The time of this call.
        now: Nanos,
        /// The time of the call before.
        last: Nanos,
    },
    /// A call was left out.
    #[error("it is {now}, and `advance` was due at {due}; ask `next_call` before time passes")]
    Late {
        /// The time of this call.
        now: Nanos,
        /// When the call was due.
        due: Nanos,
    },
    /// No such task.
    #[error("there is no task {0}; add it first")]
    NoSuchTask(u32),
    /// The task has an operation under way.
    #[error("task {0} has an operation under way; wait until it is done, or add another task")]
    Busy(u32),
    /// No such transfer, or not any more.
    #[error("no transfer {0} is under way; each is completed once, and not after it was cancelled")]
    NoSuchTransfer(u64),
    /// A rate that is none.
    #[error("a transfer cannot go at {0} bytes per second; a rate is a finite number, 0 or more")]
    NotARate(f64),
    /// A path that no mount covers.
    #[error("{path} is under no mount; mounts: {mounts}")]
    NoMount {
        /// The path.
        path: Arc<str>,
        /// The mounts of the host.
        mounts: String,
    },
    /// A file that does not exist.
    #[error("there is no file {0}; add it, or write it first")]
    NoSuchFile(Arc<str>),
    /// A file that is added and is there already.
    #[error("file {0} cannot be added, as it exists; unlink it first, or add another one")]
    FileExists(Arc<str>),
    /// A new name on another mount: EXDEV.
    #[error("{0} is on another mount; a file keeps its mount")]
    OtherMount(Arc<str>),
    /// A read that goes beyond the end of its file.
    #[error("{path} has {size}, and {bytes} at offset {offset} are beyond its end")]
    BeyondEnd {
        /// The path.
        path: Arc<str>,
        /// First byte wanted.
        offset: u64,
        /// Bytes wanted.
        bytes: Bytes,
        /// The file's size.
        size: Bytes,
    },
    /// More cached bytes than a file has, or more dirty ones than cached ones.
    #[error(
        "{path} has {size}, and {cached} cached and {dirty} dirty are asked for; dirty bytes are cached ones, and these are of the file"
    )]
    MoreThanFile {
        /// The path.
        path: Arc<str>,
        /// The file's size.
        size: Bytes,
        /// How much of it is to be cached.
        cached: Bytes,
        /// How much of that is to be dirty.
        dirty: Bytes,
    },
    /// O_DIRECT with bytes that are not whole blocks: EINVAL.
    #[error("a {operation} of {bytes} at offset {offset} of {path} in calls of {call}, with O_DIRECT, fails with EINVAL; make offset, size and call multiples of {} B, or leave O_DIRECT out", block.0)]
    Unaligned {
        /// The name of the operation.
        operation: &'static str,
        /// The path.
        path: Arc<str>,
        /// First byte.
        offset: u64,
        /// Bytes in all.
        bytes: Bytes,
        /// Bytes of one call.
        call: Bytes,
        /// The smallest block that the device takes.
        block: Bytes,
    },
    /// RWF_DONTCACHE where it is not known: EOPNOTSUPP.
    #[error(
        "a {operation} of {path} with RWF_DONTCACHE fails with EOPNOTSUPP on Linux {kernel} and this file system; ext4 takes it since 6.17, XFS and Btrfs since 6.14"
    )]
    NotSupported {
        /// The name of the operation.
        operation: &'static str,
        /// The path.
        path: Arc<str>,
        /// The version of the host's kernel.
        kernel: String,
    },
    /// More cached bytes of a new file than there is free memory.
    #[error("{cached} of {path} are to be cached, and {free} of memory are free; cache less")]
    NoRoom {
        /// The path.
        path: Arc<str>,
        /// How much of it is to be cached.
        cached: Bytes,
        /// How much memory is free.
        free: Bytes,
    },
    /// More on a disk than fits.
    #[error("{path} needs {needed} more, and its disk has {free} left")]
    DiskFull {
        /// The path.
        path: Arc<str>,
        /// How much more.
        needed: Bytes,
        /// How much is free.
        free: Bytes,
    },
    /// More anonymous memory than there can be.
    #[error("{needed} of anonymous memory are asked for, and of {most} programs hold {held}")]
    OutOfMemory {
        /// How much more.
        needed: Bytes,
        /// The most that programs can hold.
        most: Bytes,
        /// The memory that they hold.
        held: Bytes,
    },
    /// An operation that is the other simulator's own.
    #[error("`{0}` is nothing that a page cache does inside another simulator")]
    NotOurs(&'static str),
    /// An operation that only the engine of scenarios does.
    #[error(
        "`{0}` is for processes of a scenario; inside another simulator each operation under way is a task's own, which begins when the simulator says so, with a path"
    )]
    OfScenarios(&'static str),
    /// An operation outside the model.
    #[error("model `{model}` {what}; {remedy}")]
    NoAnswer {
        /// The model.
        model: String,
        /// The missing knowledge, as a predicate.
        what: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
}

impl EmbedError {
    /// Turns the error of a system call on a host into one of this interface.
    pub(super) fn of_call(error: CallError, host: &Host) -> Self {
        match error {
            CallError::NoMount { path } => {
                let mounts: Vec<&str> = host.mounts.iter().map(|mount| mount.path.as_str()).collect();
                Self::NoMount { path, mounts: mounts.join(", ") }
            }
            CallError::NoSuchFile { path, .. } => Self::NoSuchFile(path),
            CallError::NotOpen { operation, .. } | CallError::NoDescriptor { operation } => {
                Self::NotOurs(operation)
            }
            CallError::Exists { path, .. } => Self::FileExists(path),
            CallError::OtherMount { to, .. } => Self::OtherMount(to),
            CallError::BeyondEnd { path, span: Span { offset, bytes, .. }, size } => {
                Self::BeyondEnd { path, offset, bytes, size }
            }
            CallError::Unaligned { operation, path, span, block, .. } => {
                let Span { offset, bytes, piece: call } = span;
                Self::Unaligned { operation, path, offset, bytes, call, block }
            }
            CallError::NotSupported { operation, path, kernel } => {
                Self::NotSupported { operation, path, kernel }
            }
            CallError::DiskFull { path, needed, disk: (_, disk), used } => {
                Self::DiskFull { path, needed, free: host.disks[disk].size.saturating_sub(used) }
            }
            CallError::OutOfMemory { needed, most, held, .. } => Self::OutOfMemory { needed, most, held },
        }
    }
}
