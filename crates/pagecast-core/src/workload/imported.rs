//! Holds the programs and files that a reader of another format gives.

use std::sync::Arc;

use super::{IoPriority, ProgramSource, WorkloadSlots};
use crate::units::{Bytes, Nanos};

/// A workload that somebody has in another format.
#[derive(Clone, Default)]
pub struct Workload {
    /// The files that exist before.
    pub files: Vec<WorkloadFile>,
    /// The processes.
    pub processes: Vec<WorkloadProcess>,
    /// The machines on which processes with slots were recorded, by name.
    pub machines: Vec<Arc<str>>,
    /// What its user should know: sizes that were inferred, options without effect, lines that were passed over.
    pub notes: Vec<Note>,
}

/// A file that exists before, none of it in the page cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadFile {
    /// Its path on the machine.
    pub path: Arc<str>,
    /// Its size.
    pub size: Bytes,
    /// True if the workload does not tell the size: it is the end of what is read.
    pub is_inferred: bool,
}

/// A process of a workload; its paths are those of the machine.
#[derive(Clone)]
pub struct WorkloadProcess {
    /// Unique in the workload.
    pub name: Arc<str>,
    /// Earliest start.
    pub start: Nanos,
    /// Names of the processes of the workload that must have ended before it starts.
    pub after: Vec<Arc<str>>,
    /// Processes of the workload with the same number share one table of descriptors.
    pub descriptors: Option<u32>,
    /// The priority of its requests to disks.
    pub ioprio: IoPriority,
    /// The cores that it holds; without, it shares those of its host.
    pub slots: Option<WorkloadSlots>,
    /// What it does.
    pub program: Arc<dyn ProgramSource>,
}

/// A remark about a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where: a file and, if one, a line.
    pub place: String,
    /// One sentence.
    pub text: String,
}
