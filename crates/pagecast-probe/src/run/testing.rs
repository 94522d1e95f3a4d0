//! Makes plans for tests.

use std::sync::Arc;

use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, InitialFile, Operation, Process};

use super::hosts::{Host, Mount, Source};
use super::plan::{Job, Plan};

pub(super) fn file(path: &str, size: u64) -> InitialFile {
    InitialFile { host: 0, path: path.into(), size: Bytes(size), cached: Bytes::ZERO, dirty: Bytes::ZERO }
}

pub(super) fn process(name: &str, after: &[&str], actions: &[Action]) -> Process {
    let program: Vec<Operation> = actions.iter().cloned().map(Operation::from).collect();
    Process {
        name: name.into(),
        host: 0,
        cgroup: None,
        after: after.iter().map(|&name| name.into()).collect(),
        start: Nanos::ZERO,
        descriptors: None,
        ioprio: Default::default(),
        slots: None,
        program: Arc::new(program),
    }
}

pub(super) fn job<'a>(files: &'a [InitialFile], processes: &'a [Process]) -> Job<'a> {
    Job {
        origin: "x.toml",
        hosts: vec![Host { name: "host", mounts: vec![Mount { path: "/data", source: Source::Here }] }],
        files,
        processes,
        sources: &[],
        looks_after_each: false,
        per_call: None,
        record: pagecast_core::result::Record::All,
    }
}

pub(super) fn plan(files: &[InitialFile], processes: &[Process]) -> Plan {
    Plan::of(&job(files, processes)).unwrap()
}

pub(super) fn read(path: &str, bytes: Option<u64>, call: Option<u64>) -> Action {
    let buffer = pagecast_core::workload::Buffer::Reused;
    Action::Read {
        path: path.into(),
        offset: None,
        bytes: bytes.map(Bytes),
        call: call.map(Bytes),
        vector: 1,
        buffer,
    }
}

pub(super) fn write(path: &str, bytes: u64, call: Option<u64>) -> Action {
    Action::Write { path: path.into(), offset: None, bytes: Bytes(bytes), call: call.map(Bytes), vector: 1 }
}
