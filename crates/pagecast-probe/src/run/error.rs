//! Names the reasons why a scenario cannot be run, or could not go on.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use pagecast_core::error::{Blame, SimulationError};
use pagecast_core::units::{Bytes, Nanos};

use crate::error::ProbeError;
use crate::watch::Interrupted;

/// The reasons for which there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scenario wants what one real machine does not have.
    #[error("{place}: {what} cannot be run for real; {remedy}")]
    Unreal {
        /// "file:line", or the scenario's origin.
        place: String,
        /// Its demand.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// Programs would take more memory than there is.
    #[error(
        "the programs would hold {needed} of memory, and only {available} are available; let them take less, or run on a larger machine"
    )]
    NoMemory {
        /// At a time, at most.
        needed: Bytes,
        /// The memory that the machine, or our cgroup, can give without swapping.
        available: Bytes,
    },
    /// More files would be open than a process may have.
    #[error(
        "the programs would have {needed} files open, and this process may have {limit}; raise `ulimit -n`, or let them close files"
    )]
    TooManyFiles {
        /// At most.
        needed: u64,
        /// RLIMIT_NOFILE.
        limit: u64,
    },
    /// The files are not as the scenario wants them at time 0.
    #[error("{path}: {what}")]
    NotReady {
        /// As the scenario calls it.
        path: Arc<str>,
        /// The trouble, and the remedy.
        what: String,
    },
    /// A directory was named for a host that is none.
    #[error("--dir {name}=...: there is no host `{name}`; there are {hosts}")]
    NoHost {
        /// The name.
        name: String,
        /// All hosts of the scenario.
        hosts: String,
    },
    /// A host that has files has no place for them.
    #[error("host `{host}` has no directory; name one with --dir {host}=DIR, or one for all with --dir DIR")]
    NoDirectory {
        /// Its name.
        host: String,
    },
    /// Hosts that share files have directories that do not.
    #[error(
        "host `{host}` shares files with host `{other}`, and its directory {} does not show what is made in {}; name a mount of that, or leave one of them out",
        directory.display(), shown.display()
    )]
    NotShared {
        /// The directory of the host.
        directory: PathBuf,
        /// The host.
        host: String,
        /// A host that shares files with it.
        other: String,
        /// The directory of that.
        shown: PathBuf,
    },
    /// A workload that could not go on, as it could not in a simulation.
    #[error(transparent)]
    Workload(Box<SimulationError>),
    /// A system call that failed.
    #[error("{}: process `{}`, {operation}{} at {}: {source}{}", at.place, at.process, of(path.as_deref()), at.time, remedy(source))]
    Call {
        /// The place.
        at: Blame,
        /// The operation that it was doing.
        operation: &'static str,
        /// The path, if there is one.
        path: Option<Arc<str>>,
        /// The kernel's error.
        source: io::Error,
    },
    /// Programs whose needs are not known have taken nearly all of the disk.
    #[error(
        "{}: stopped {at} after the start, as the programs had left {left} of the {free} that were free; give them less time, or let them write over what they have written",
        path.display()
    )]
    DiskTaken {
        /// Where the folder is.
        path: PathBuf,
        /// The time of the run.
        at: Nanos,
        /// The bytes that are left for others.
        left: Bytes,
        /// The bytes that were free at its start.
        free: Bytes,
    },
    /// A thread that could not be started.
    #[error(
        "{processes} processes need as many threads ({source}); raise `ulimit -u` or kernel.threads-max, or run fewer"
    )]
    NoThread {
        /// The number of them.
        processes: usize,
        /// The kernel's error.
        source: io::Error,
    },
    /// The folder, the disk or the kernel.
    #[error(transparent)]
    Probe(#[from] ProbeError),
}

impl From<SimulationError> for RunError {
    fn from(error: SimulationError) -> Self {
        Self::Workload(Box::new(error))
    }
}

impl From<Interrupted> for RunError {
    fn from(stop: Interrupted) -> Self {
        Self::Probe(stop.into())
    }
}

impl RunError {
    /// Somebody stopped the run.
    #[must_use]
    pub fn is_interruption(&self) -> bool {
        matches!(self, Self::Probe(ProbeError::Interrupted))
    }
}

fn of(path: Option<&str>) -> String {
    path.map_or_else(String::new, |path| format!(" of {path}"))
}

fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => "; make room, or name a directory on a larger disk",
        Some(libc::EINVAL) => {
            "; with O_DIRECT, offset, size and call must be multiples of the device's block, and the file system must know it"
        }
        Some(libc::EIO) => "; look at the disk and at the kernel's log",
        _ => "",
    }
}

/// Returns the place of an operation.
pub(super) fn blame(origin: &str, process: &Arc<str>, line: Option<u32>, time: Nanos) -> Blame {
    let place = line.map_or_else(|| origin.to_owned(), |line| format!("{origin}:{line}"));
    Blame { place, process: process.clone(), time }
}
