//! Gives what a scenario does without its machine, as a reader of another format does.

use super::Scenario;
use crate::workload::{InitialFile, Note, Process, Workload, WorkloadFile, WorkloadProcess};

impl Scenario {
    /// Its files and programs. Hosts and slots are left out: files of the same path on several hosts become one, and a note says so.
    #[must_use]
    pub fn as_workload(&self) -> Workload {
        let mut notes: Vec<Note> = self.sources.iter().flat_map(|source| source.notes.clone()).collect();
        if self.machine.hosts.len() > 1 {
            let text = "files of the same path on several hosts count as one".to_owned();
            notes.push(Note { place: self.origin.clone(), text });
        }
        Workload {
            files: self.files.iter().map(file).collect(),
            processes: self.processes.iter().map(process).collect(),
            machines: Vec::new(),
            notes,
        }
    }
}

fn file(file: &InitialFile) -> WorkloadFile {
    WorkloadFile { path: file.path.clone(), size: file.size, is_inferred: false }
}

fn process(process: &Process) -> WorkloadProcess {
    WorkloadProcess {
        name: process.name.clone(),
        start: process.start,
        after: process.after.clone(),
        descriptors: process.descriptors,
        ioprio: process.ioprio,
        slots: None,
        program: process.program.clone(),
    }
}
