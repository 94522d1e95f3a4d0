//! Reads fio job files (version 3.33): sections, inheritance, units, and what a job does.
//!
//! Sources: fio's manual (HOWTO.rst), and its behaviour. Where both differ, fio's behaviour counts. Each option stands in `options`: it is
//! done, without effect here, or refused, and why. The offsets of a job are those that fio itself would choose from the same seeds.
//!
//! Left out: discards, zoned devices, and engines that do no file or block I/O.

mod arithmetic;
mod backlog;
mod blocks;
mod choose;
mod engines;
mod files;
mod issue;
mod job;
mod options;
mod plan;
mod program;
mod random;
mod rate;
mod report;
mod sections;
mod shift_register;
mod skew;
mod steady;
mod target;
mod together;
mod values;
mod wrong;

use std::io::Read;
use std::sync::Arc;

use self::options::CHAPTERS;
use self::plan::{Plan, plan};
use self::program::ThreadSource;
use self::sections::read_sections;
use self::together::Threads;
use super::error::ReadError;
use super::input::Input;
use super::options::Options;
use crate::units::Bytes;
use crate::workload::{Workload, WorkloadFile, WorkloadProcess};

/// The largest job file.
const LARGEST: u64 = 16 << 20;

/// How many pairs of threads and threads they wait for are written out; beyond that a process of its own stands between them.
const MOST_PAIRS: usize = 100_000;

/// True if it begins with a section in brackets and has an option that only fio has.
pub(super) fn matches(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with([';', '#']));
    let is_head = |line: &str| line.starts_with('[') && !line.starts_with("[[") && line.ends_with(']');
    let of_fio = ["rw=", "readwrite=", "ioengine=", "bs=", "iodepth="];
    lines.next().is_some_and(is_head)
        && lines.any(|line| of_fio.iter().any(|option| line.starts_with(option)))
}

/// Reads a job file.
pub(super) fn read(input: Input, options: &Options) -> Result<Workload, ReadError> {
    let plan = read_plan(input, options)?;
    Ok(workload(plan))
}

fn read_plan(mut input: Input, options: &Options) -> Result<Plan, ReadError> {
    let origin = input.origin.clone();
    let mut bytes = Vec::new();
    let mut limited = input.bytes.by_ref().take(LARGEST + 1);
    limited
        .read_to_end(&mut bytes)
        .map_err(|error| ReadError::new(&origin, format!("cannot be read: {error}"), ""))?;
    if bytes.len() as u64 > LARGEST {
        return Err(ReadError::new(origin, format!("is larger than {}", Bytes(LARGEST)), "give a job file"));
    }
    let text = String::from_utf8_lossy(&bytes);
    let sections = read_sections(&text, &origin, input.path.as_deref(), &options.surroundings)?;
    plan(&sections, options)
        .map_err(|error| if error.place.is_empty() { ReadError { place: origin, ..error } } else { error })
}

/// Puts the threads into the form of a workload.
fn workload(plan: Plan) -> Workload {
    let files = plan.layout.existing();
    let files = files.map(|(path, size)| WorkloadFile {
        path: Arc::clone(path),
        size: Bytes(size),
        is_inferred: false,
    });
    let mut workload = Workload { files: files.collect(), notes: plan.notes, ..Workload::default() };
    let all = Arc::new(Threads::new(plan.threads.into_iter().map(Arc::new).collect()));
    let threads = &all.all;
    let waves: Vec<&[Arc<plan::Thread>]> = threads.chunk_by(|a, b| a.wave == b.wave).collect();
    let mut before: Vec<Arc<str>> = Vec::new();
    for (number, wave) in waves.iter().enumerate() {
        if before.len().saturating_mul(wave.len()) > MOST_PAIRS {
            let name: Arc<str> = format!("stonewall {number}").into();
            let after = std::mem::replace(&mut before, vec![Arc::clone(&name)]);
            let program = Arc::new(Vec::new());
            workload.processes.push(WorkloadProcess {
                name,
                start: Default::default(),
                after,
                descriptors: None,
                ioprio: Default::default(),
                slots: None,
                program,
            });
        }
        for thread in *wave {
            let mut after = before.clone();
            if let Some(name) = &thread.job.wait_for {
                let waited =
                    threads[..thread.number as usize - 1].iter().filter(|other| other.job.name == *name);
                after.extend(waited.map(|other| Arc::clone(&other.name)));
                after.sort_unstable();
                after.dedup();
            }
            workload.processes.push(WorkloadProcess {
                name: Arc::clone(&thread.name),
                start: thread.start,
                after,
                descriptors: None,
                ioprio: thread.job.ioprio,
                slots: None,
                program: Arc::new(ThreadSource { thread: Arc::clone(thread), all: Arc::clone(&all) }),
            });
        }
        before = wave.iter().map(|thread| Arc::clone(&thread.name)).collect();
    }
    workload
}

/// What a report in fio's form needs beside a result, as JSON: each thread with its process, its group, and what is reported of it.
///
/// # Errors
/// As for the job file itself.
pub fn describe(input: Input, options: &Options) -> Result<String, ReadError> {
    Ok(report::describe(&read_plan(input, options)?))
}

/// What fio itself takes for a request, in calls that do nothing else than enter and leave the kernel.
///
/// Counted in a guest whose clock counts instructions (docs/guides/test-bed.md): fio 3.33 executes 1,890 to 2,290 instructions between two
/// requests of psync, on the median 2,130, and the kernel 1,322 for a call.
pub const CALLS_OF_A_REQUEST: f64 = 1.6;

/// One option of fio's manual, for the documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionRow {
    /// The chapter of the manual.
    pub chapter: &'static str,
    /// Its name, then its other names.
    pub names: Vec<&'static str>,
    /// "done", "without effect here", or "refused".
    pub standing: &'static str,
    /// What differs from fio, or why.
    pub text: &'static str,
}

/// All options that are known, in the order of the manual.
#[must_use]
pub fn option_rows() -> Vec<OptionRow> {
    let rows = CHAPTERS.iter().flat_map(|chapter| chapter.options.iter().map(|known| (chapter.title, known)));
    rows.map(|(chapter, known)| OptionRow {
        chapter,
        names: [known.name].iter().chain(known.aliases).copied().collect(),
        standing: known.standing.word(),
        text: known.text,
    })
    .collect()
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
