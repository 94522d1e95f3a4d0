//! Names the errors of a system call, without its caller and time.

use std::sync::Arc;

use crate::fs::Span;
use crate::units::Bytes;
use crate::workload::Fd;

/// The reason for which a system call is refused.
#[derive(Clone, Debug)]
pub(crate) enum CallError {
    /// A path that no mount covers.
    NoMount { path: Arc<str> },
    /// ENOENT.
    NoSuchFile { operation: &'static str, path: Arc<str> },
    /// EBADF.
    NotOpen { operation: &'static str, path: Arc<str>, fd: Fd },
    /// A call that only a descriptor can have.
    NoDescriptor { operation: &'static str },
    /// EEXIST.
    Exists { operation: &'static str, path: Arc<str> },
    /// EXDEV.
    OtherMount { operation: &'static str, path: Arc<str>, to: Arc<str> },
    /// A read that goes beyond the end of its file.
    BeyondEnd { path: Arc<str>, span: Span, size: Bytes },
    /// O_DIRECT with bytes that are not whole blocks: EINVAL.
    Unaligned { operation: &'static str, path: Arc<str>, span: Span, vector: u32, block: Bytes },
    /// RWF_DONTCACHE on a file system that does not take it: EOPNOTSUPP.
    NotSupported { operation: &'static str, path: Arc<str>, kernel: String },
    /// ENOSPC: `needed` more on a disk, given by its host and its index there, with so much in use.
    DiskFull { path: Arc<str>, needed: Bytes, disk: (usize, usize), used: Bytes },
    /// More anonymous memory than programs of the host can hold, or than the memory cgroup may have; `held` is what they hold.
    OutOfMemory { needed: Bytes, most: Bytes, held: Bytes, cgroup: Option<usize> },
}
