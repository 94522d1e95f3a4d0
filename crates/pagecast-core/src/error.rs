//! Names the errors of the user or the machine. A broken promise of our own panics.

use std::sync::Arc;

use crate::machine::Host;
use crate::stdio::Refusal;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, CopyRefusal};

/// A scenario that cannot be understood; the text names the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}{}{remedy}", if remedy.is_empty() { "" } else { "; " })]
pub struct ScenarioError {
    /// "file:line", or "file" where no line is to blame, or "--set key=value".
    pub place: String,
    /// What is wrong, with the offending value.
    pub what: String,
    /// What would be right; may be empty.
    pub remedy: String,
}

/// Where an operation stands: who does it, in which line of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// "file:line", or the scenario's origin.
    pub place: String,
    /// The process.
    pub process: Arc<str>,
    /// The simulated time.
    pub time: Nanos,
}

/// A simulation that cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// A path that no mount covers.
    #[error(
        "{}: {who} {path}, which is under no mount of host `{host}`; add [machine.mount.\"...\"] or correct the path (mounts: {mounts})",
        place
    )]
    NoMount {
        /// "file:line" or the scenario's origin.
        place: String,
        /// Process or file, and what it does with the path.
        who: String,
        /// The path.
        path: Arc<str>,
        /// The host.
        host: String,
        /// What mounts there are.
        mounts: String,
    },
    /// A file that does not exist.
    #[error("{}: process `{}` does a {operation} of {path} {}, and there is no such file; let it exist from the start ([[file]] in TOML, files= in Python) or write it first", at.place, at.process, moment(at.time))]
    NoSuchFile {
        /// The place.
        at: Blame,
        /// The operation that it was doing.
        operation: &'static str,
        /// The path.
        path: Arc<str>,
    },
    /// EBADF: a descriptor that is not open.
    #[error("{}: process `{}` does a {operation} of {path} through descriptor {fd} {}, which is not open; open the file with `fd = {fd}` before", at.place, at.process, moment(at.time))]
    NotOpen {
        /// The place.
        at: Blame,
        /// The operation.
        operation: &'static str,
        /// The path that it gives.
        path: Arc<str>,
        /// The number.
        fd: u32,
    },
    /// A call that needs a descriptor.
    #[error("{}: process `{}` does a {operation} {} without a descriptor; give it the `fd` of an open file", at.place, at.process, moment(at.time))]
    NoDescriptor {
        /// The place.
        at: Blame,
        /// The operation.
        operation: &'static str,
    },
    /// EEXIST: a name that is taken.
    #[error("{}: process `{}` does a {operation} to {path} {}, which exists; unlink it before, or choose another name", at.place, at.process, moment(at.time))]
    Exists {
        /// The place.
        at: Blame,
        /// The operation.
        operation: &'static str,
        /// The name.
        path: Arc<str>,
    },
    /// EXDEV: two names on two file systems.
    #[error("{}: process `{}` does a {operation} of {path} to {to} {}, which is on another mount; copy the file instead", at.place, at.process, moment(at.time))]
    OtherMount {
        /// The place.
        at: Blame,
        /// The operation.
        operation: &'static str,
        /// The name.
        path: Arc<str>,
        /// The new one.
        to: Arc<str>,
    },
    /// A read that goes beyond the end of its file.
    #[error("{}: process `{}` reads {bytes} at offset {} of {path}, which has {size} {}; read less or make the file larger", at.place, at.process, Bytes(*offset), moment(at.time))]
    BeyondEnd {
        /// The place.
        at: Blame,
        /// The path.
        path: Arc<str>,
        /// First byte wanted.
        offset: u64,
        /// Bytes wanted.
        bytes: Bytes,
        /// The file's size.
        size: Bytes,
    },
    /// Bytes of a mapping beyond the end of its file: SIGBUS.
    #[error("{}: process `{}` does a {operation} of {bytes} at offset {} of {path}, which has {size} {}, and what is beyond ends in SIGBUS; ask for less, or make the file larger before (truncate)", at.place, at.process, Bytes(*offset), moment(at.time))]
    BeyondMapping {
        /// The place.
        at: Blame,
        /// The operation that it was doing.
        operation: &'static str,
        /// The path.
        path: Arc<str>,
        /// First byte wanted.
        offset: u64,
        /// Bytes wanted.
        bytes: Bytes,
        /// The file's size.
        size: Bytes,
    },
    /// O_DIRECT with bytes that are not whole blocks: EINVAL.
    #[error("{}: process `{}` does a {operation} of {bytes} at offset {offset} of {path} in calls of {call}{} {}, with O_DIRECT, which fails with EINVAL; make offset, size and call{} multiples of {} B, or open the file without O_DIRECT", at.place, at.process, places(*vector), moment(at.time), parts_of(*vector), block.0)]
    Unaligned {
        /// The place.
        at: Blame,
        /// The operation that it was doing.
        operation: &'static str,
        /// The path.
        path: Arc<str>,
        /// First byte.
        offset: u64,
        /// Bytes in all.
        bytes: Bytes,
        /// Bytes of one call.
        call: Bytes,
        /// In how many places of memory it has them.
        vector: u32,
        /// What the device takes at least.
        block: Bytes,
    },
    /// A stream that does not do what its library is told.
    #[error("{}: process `{}` does a {operation} of {path} {}, {why}", at.place, at.process, moment(at.time))]
    Stream {
        /// The place.
        at: Blame,
        /// The operation that it was doing.
        operation: &'static str,
        /// The path.
        path: Arc<str>,
        /// Why not, and what would be right.
        why: Refusal,
    },
    /// A copy that the kernel refuses, or that is not modelled.
    #[error("{}: process `{}` copies {path} to {to} by {by} {}, {why}", at.place, at.process, moment(at.time))]
    Copy {
        /// The place.
        at: Blame,
        /// The file that is read.
        path: Arc<str>,
        /// The file that is written.
        to: Arc<str>,
        /// With which system calls.
        by: &'static str,
        /// Why not, and what would be right.
        why: CopyRefusal,
    },
    /// RWF_DONTCACHE where it is not known: EOPNOTSUPP.
    #[error("{}: process `{}` does a {operation} of {path} with RWF_DONTCACHE {}, which fails with EOPNOTSUPP on Linux {kernel} and this file system; ext4 takes it since 6.17, XFS and Btrfs since 6.14", at.place, at.process, moment(at.time))]
    NotSupported {
        /// The place.
        at: Blame,
        /// The operation that it was doing.
        operation: &'static str,
        /// The path.
        path: Arc<str>,
        /// The version of the host's kernel.
        kernel: String,
    },
    /// More on a disk than fits.
    #[error(
        "{}: {who} needs {needed} on disk `{disk}` of host `{host}`, which has {size} and {used} in use; make the disk larger or the files smaller",
        place
    )]
    DiskFull {
        /// "file:line" or the scenario's origin.
        place: String,
        /// Process or file.
        who: String,
        /// The disk.
        disk: String,
        /// Its host.
        host: String,
        /// More than is free.
        needed: Bytes,
        /// Of the disk.
        size: Bytes,
        /// By other files.
        used: Bytes,
    },
    /// More anonymous memory than the host, or a memory cgroup, has.
    #[error("{}: process `{}` needs {needed} more memory {}, but {whose} has {size}{} and {held}; use `free`, a smaller buffer or more memory", at.place, at.process, moment(at.time), keep(*kept))]
    OutOfMemory {
        /// The place.
        at: Blame,
        /// The host, or the memory cgroup and its limit.
        whose: String,
        /// What was asked for.
        needed: Bytes,
        /// The memory of the host or cgroup.
        size: Bytes,
        /// What nobody gets of it.
        kept: Bytes,
        /// How much all its processes hold, and which of them most.
        held: String,
    },
    /// An operation that would end after the end of time.
    #[error("{}: process `{}` does a {operation} {}, which goes on for longer than can be simulated (292 years, 2^63 ns); make it smaller or the machine faster", at.place, at.process, begun(at.time))]
    TooLong {
        /// Where, and when it began.
        at: Blame,
        /// What it does.
        operation: &'static str,
    },
    /// Processes that wait for each other, or for what never comes.
    #[error("{place}: deadlock {}: {cycle}; let one of them go first", moment(*time))]
    Deadlock {
        /// The scenario.
        place: String,
        /// When nothing was left to happen.
        time: Nanos,
        /// Who waits for whom.
        cycle: String,
    },
    /// Files or processes that cannot be, in a scenario that was changed after it was checked.
    #[error("{0}")]
    Scenario(ScenarioError),
    /// A program (a Python generator) failed.
    #[error("{}: process `{}` failed {}", at.place, at.process, moment(at.time))]
    Program {
        /// The place.
        at: Blame,
        /// Its own error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What the model has no answer to.
    #[error("{place}: {who} {}, and model `{model}` {what}; {remedy}", moment(*time))]
    NoAnswer {
        /// "file:line" or the scenario's origin.
        place: String,
        /// Process or file, and what is wanted.
        who: String,
        /// The time.
        time: Nanos,
        /// The model.
        model: String,
        /// What it does not know.
        what: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// A model that does not exist, or an option it does not have.
    #[error("{0}")]
    Model(ScenarioError),
    /// The caller asked to stop (Ctrl-C).
    #[error("interrupted")]
    Interrupted,
}

/// An instant within a sentence.
fn moment(time: Nanos) -> String {
    if time == Nanos::ZERO { "at the start".to_owned() } else { format!("at {time}") }
}

/// When something began that goes on, within a sentence.
fn begun(time: Nanos) -> String {
    if time == Nanos::ZERO { "from the start on".to_owned() } else { format!("from {time} on") }
}

/// In how many places a call has its bytes, if not in one.
fn places(vector: u32) -> String {
    if vector == 1 { String::new() } else { format!(" in {vector} places") }
}

/// What of such a call counts, too.
fn parts_of(vector: u32) -> &'static str {
    if vector == 1 { "" } else { " by vector" }
}

/// How much memory stays free whatever happens.
fn keep(kept: Bytes) -> String {
    if kept == Bytes::ZERO {
        return String::new();
    }
    format!(", of which {kept} stay free (vm.min_free_kbytes, vm.lowmem_reserve_ratio),")
}

impl SimulationError {
    /// An operation on bytes of a mapping, `size` of which the file has: first byte, how many, and `size`.
    ///
    /// # Panics
    /// If it is about no file.
    #[must_use]
    pub fn beyond_mapping(at: Blame, action: &Action, (offset, bytes, size): (u64, Bytes, Bytes)) -> Self {
        let path = action.path().expect("a mapping is one of a file").clone();
        Self::BeyondMapping { at, operation: action.name(), path, offset, bytes, size }
    }

    /// An operation on a path that no mount of its host covers.
    pub(crate) fn no_mount(host: &Host, path: &Arc<str>, place: String, who: String) -> Self {
        let mounts: Vec<&str> = host.mounts.iter().map(|mount| mount.path.as_str()).collect();
        let mounts = if mounts.is_empty() { "none".to_owned() } else { mounts.join(", ") };
        Self::NoMount { place, who, path: path.clone(), host: host.name.clone(), mounts }
    }
}
