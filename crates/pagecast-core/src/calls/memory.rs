//! Books anonymous memory and open files of a task, and the anonymous memory of a host.

use std::collections::BTreeMap;

use crate::policy::FileId;
use crate::units::Bytes;
use crate::workload::OpenFlags;

/// Somebody who makes system calls: a process of a scenario, or a task of another simulator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Task {
    /// Anonymous memory that it holds.
    pub anonymous: Bytes,
    /// The flags of the files that it has opened with some.
    opened: BTreeMap<FileId, OpenFlags>,
}

impl Task {
    /// How it has opened a file.
    pub(crate) fn flags(&self, file: FileId) -> OpenFlags {
        self.opened.get(&file).copied().unwrap_or_default()
    }

    /// It has opened a file with these flags, or closed it.
    pub(super) fn set_flags(&mut self, file: FileId, flags: OpenFlags) {
        if flags.is_empty() {
            self.opened.remove(&file);
        } else {
            self.opened.insert(file, flags);
        }
    }
}

/// The anonymous memory that all tasks of a host hold, and those in each of its memory cgroups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Anonymous {
    pub all: Bytes,
    pub of_cgroups: Vec<Bytes>,
}

impl Anonymous {
    pub(crate) fn new(cgroups: usize) -> Self {
        Self { all: Bytes::ZERO, of_cgroups: vec![Bytes::ZERO; cgroups] }
    }

    pub(super) fn add(&mut self, cgroup: Option<usize>, bytes: Bytes) {
        self.all += bytes;
        if let Some(cgroup) = cgroup {
            self.of_cgroups[cgroup] += bytes;
        }
    }

    pub(super) fn take(&mut self, cgroup: Option<usize>, bytes: Bytes) {
        self.all -= bytes;
        if let Some(cgroup) = cgroup {
            self.of_cgroups[cgroup] -= bytes;
        }
    }
}
