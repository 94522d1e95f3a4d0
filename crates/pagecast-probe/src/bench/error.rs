//! Names the reasons why a benchmark cannot be made, or could not go on.

use std::io;
use std::path::{Path, PathBuf};

use pagecast_core::units::Bytes;

use crate::error::{ProbeError, Trouble, shown};
use crate::watch::Interrupted;

/// The reasons for which there is no measurement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The cache would not hold what is to be warm.
    #[error(
        "{needed} of memory are needed for a size of {size}, and only {available} are available; take a smaller size"
    )]
    NoMemory {
        /// The bytes read and written.
        size: Bytes,
        /// That, and buffers.
        needed: Bytes,
        /// The memory that the machine, or our cgroup, can give without swapping.
        available: Bytes,
    },
    /// Less for a thread than a call moves.
    #[error(
        "{size} for {threads} threads are less than a call of {call} for each; take a larger size, a smaller call or fewer threads"
    )]
    TooSmall {
        /// Of all threads.
        size: Bytes,
        /// The number.
        threads: usize,
        /// The largest call.
        call: Bytes,
    },
    /// A file system that always caches.
    #[error(
        "{}: {file_system} does not take O_DIRECT, so the device cannot be told from memory; measure with the mode buffered alone",
        shown(path)
    )]
    NoDirect {
        /// The directory.
        path: PathBuf,
        /// Its file system.
        file_system: String,
    },
    /// A path that is no block device.
    #[error("{}: is no block device; name one whose data you can lose", shown(.0))]
    NoDevice(PathBuf),
    /// A device that somebody has.
    #[error(
        "{}: is in use: mounted, swapped to, or part of another device; unmount it first, or name another", shown(.0)
    )]
    DeviceInUse(PathBuf),
    /// A device that is smaller than what is written to it.
    #[error("{}: has {has}, and {needed} would be written; take a smaller size", shown(path))]
    DeviceTooSmall {
        /// The device.
        path: PathBuf,
        /// Its size.
        has: Bytes,
        /// The bytes to be written.
        needed: Bytes,
    },
    /// A system call that failed while it was measured.
    #[error("{}: {doing} failed ({source}){}", shown(path), remedy(source))]
    Call {
        /// The file or the device.
        path: PathBuf,
        /// The system call.
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// A setting that the kernel does not take.
    #[error("{name} = {value}: the kernel does not take it ({source}); choose a value that it does")]
    Setting {
        /// As sysctl calls it.
        name: String,
        /// The value asked for.
        value: u64,
        /// The kernel's error.
        source: io::Error,
    },
    /// More threads than there may be.
    #[error("{threads} threads cannot be started ({source}); raise `ulimit -u`, or take fewer")]
    NoThread {
        /// The number.
        threads: usize,
        /// The kernel's error.
        source: io::Error,
    },
    /// Somebody else changes settings.
    #[error(
        "another pagecast has changed settings of this machine and will put them back; wait until it has ended"
    )]
    SettingsInUse,
    /// The folder, the disk or the kernel.
    #[error(transparent)]
    Probe(#[from] ProbeError),
}

impl From<Interrupted> for BenchError {
    fn from(stop: Interrupted) -> Self {
        Self::Probe(stop.into())
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => "; make room, or name a directory on a larger disk",
        Some(libc::EIO) => "; look at the disk and at the kernel's log",
        _ => "",
    }
}

/// Returns the trouble with a path.
pub(super) fn trouble(path: &Path, doing: &'static str, error: io::Error) -> BenchError {
    ProbeError::Path { path: path.to_owned(), trouble: Trouble::new(doing, error) }.into()
}
