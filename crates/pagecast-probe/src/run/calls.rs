//! Records the ends of the calls of reads and writes, if wanted (`per_call`): one time for every so many calls.
//!
//! The room for all of them that are known before is there before time 0 (see [`super::survey`]), that of others before their operation. During a transfer a time is put into it, and between two
//! operations the end of the one before. Left out: operations that move nothing (open, fsync) and so are one call each; calls too long for
//! the kernel to move at once, which take several system calls.

use std::num::NonZero;

use pagecast_core::stdio::LibraryCall;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::Action;

use super::plan::Step;
use super::row::Row;
use super::survey::{Survey, times_of};
use crate::io::Times;

/// Some calls of an operation, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The number of the process.
    pub process: u32,
    /// The number of the operation in it.
    pub index: u32,
    /// Its name.
    pub operation: &'static str,
    /// The number of its file.
    pub file: u32,
    /// The start of the first call.
    pub offset: u64,
    /// The bytes that all of them moved.
    pub bytes: Bytes,
    /// The number of calls.
    pub calls: u64,
    /// The start of the first.
    pub start: Nanos,
    /// The end of the last.
    pub end: Nanos,
}

/// The notes of one process.
pub(super) struct Calls {
    /// What its transfers note in.
    pub times: Times,
    every: Option<NonZero<u64>>,
    /// Of each operation that noted something: its number, when its first call began, and how many times are kept up to its end.
    operations: Vec<(u32, Nanos, usize)>,
}

impl Calls {
    /// With room for all of a process that are known before.
    pub fn new(per_call: Option<NonZero<u64>>, survey: &Survey) -> Self {
        let times = match per_call {
            None => Times::of_whole(),
            Some(every) => Times::new(every, survey.call_times as usize),
        };
        Self { times, every: per_call, operations: Vec::new() }
    }

    /// Makes room for the times of an operation, if more are noted than was known before.
    pub fn make_room(&mut self, step: &Step, length: u64) {
        let Some(every) = self.every else { return };
        let bytes = match step.operation.action {
            Action::Read { bytes, .. } => bytes.map_or(length, |bytes| bytes.0),
            Action::Write { bytes, .. } => bytes.0,
            _ => return,
        };
        self.times.make_room(times_of(step, bytes, every) as usize);
    }

    /// Keeps what the last operation has noted, if it did.
    pub fn keep(&mut self, index: usize) {
        if self.every.is_none() {
            return;
        }
        let before = self.times.kept().len();
        self.times.keep();
        let kept = self.times.kept().len();
        if kept > before {
            self.operations.push((index as u32, self.times.begun(), kept));
        }
    }

    /// All that was kept, with the rows of the process.
    pub fn rows(&self, process: u32, rows: &[Row], zero: Nanos) -> Vec<CallRow> {
        let mut all = Vec::with_capacity(self.times.kept().len());
        let mut from = 0;
        for &(index, begun, to) in &self.operations {
            let row = &rows[index as usize];
            let (mut offset, mut start) = (row.offset, begun.saturating_sub(zero));
            for &(ended, bytes) in &self.times.kept()[from..to] {
                let end = ended.saturating_sub(zero);
                all.push(CallRow {
                    process,
                    index,
                    operation: row.operation,
                    file: row.file,
                    offset,
                    bytes: Bytes(bytes),
                    calls: bytes.div_ceil(row.call.max(1)),
                    start,
                    end,
                });
                (offset, start) = (offset + bytes, end);
            }
            from = to;
        }
        all
    }
}

/// The bytes of a call of an operation that moves bytes, where it says so.
pub(super) fn call_bytes(action: &Action) -> Option<u64> {
    let call = match action {
        Action::Read { call, .. } | Action::Write { call, .. } => *call,
        Action::Copy { call, by, .. } => call.or(by.usual_call()),
        Action::Stream { call: LibraryCall::Read { call, .. } | LibraryCall::Write { call, .. }, .. } => {
            *call
        }
        _ => None,
    };
    call.map(|call| call.0)
}
