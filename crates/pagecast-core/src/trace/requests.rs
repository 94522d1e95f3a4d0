//! Gives the single reads and writes of a recording, each with its place in its file.
//!
//! Names are followed over rename, link and unlink, and positions over descriptors, as for the sizes of files. An operation of several
//! calls gives each of them. Left out: streams of libraries that read or write at their position.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::error::TraceError;
use super::inner::Inner;
use super::merge::Merged;
use super::open::Trace;
use super::sizes::{Moves, Placed, Sizes, Table};
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Calls, Operation, Pattern};

/// A read or write of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRequest {
    /// When it began, in the time of the recording.
    pub time: Option<Nanos>,
    /// The number of its process.
    pub process: u32,
    /// The number of its file, which keeps it under other names.
    pub file: u32,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Written, or else read.
    pub is_write: bool,
}

/// What a recording does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// A read or write.
    Request(FileRequest),
    /// Another call, by its name.
    Other(&'static str),
    /// It computes, or waits.
    Nothing,
}

/// The calls that are left of an operation.
enum Left {
    /// None.
    Nothing,
    /// Parts of this size.
    Parts(FileRequest, u64),
    /// Those of a pattern, as many as there are.
    Pattern(Box<Calls>, FileRequest, u64),
}

/// All that a recording does, by time.
pub struct Requests {
    trace: Arc<Inner>,
    records: Merged,
    sizes: Sizes,
    /// The numbers of paths by their addresses: all records of a file have the same text.
    numbers: FxHashMap<usize, u32>,
    left: Left,
    /// The second file of a copy.
    second: Option<FileRequest>,
}

impl Trace {
    /// All that it does, by time.
    ///
    /// # Errors
    /// If there are too many files.
    pub fn requests(&self) -> Result<Requests, TraceError> {
        let trace = self.inner().clone();
        let numbers = (0..).zip(&trace.tables.paths).map(|(at, path)| (address(path), at)).collect();
        let mut sizes = Sizes::default();
        for file in &trace.tables.files {
            sizes.tell(file.path, file.size)?;
        }
        Ok(Requests { records: self.records(), trace, sizes, numbers, left: Left::Nothing, second: None })
    }
}

fn address(path: &Arc<str>) -> usize {
    path.as_ptr().addr()
}

impl Requests {
    /// The path under which a file was first met.
    #[must_use]
    pub fn path(&self, file: u32) -> &Arc<str> {
        &self.trace.tables.paths[self.sizes.path_and_end(file).0 as usize]
    }

    /// The next of the calls that are left.
    fn next_left(&mut self) -> Option<FileRequest> {
        match &mut self.left {
            Left::Nothing => None,
            Left::Parts(rest, call) => {
                let part = FileRequest { bytes: rest.bytes.min(*call), ..*rest };
                rest.offset += part.bytes;
                rest.bytes -= part.bytes;
                if rest.bytes == 0 {
                    self.left = Left::Nothing;
                }
                Some(part)
            }
            Left::Pattern(calls, of, most) => {
                let call = calls.next().filter(|_| *most > 0);
                *most = most.saturating_sub(1);
                let of = *of;
                match call {
                    None => {
                        self.left = Left::Nothing;
                        None
                    }
                    Some(call) => Some(FileRequest {
                        offset: call.offset,
                        bytes: call.bytes.0,
                        is_write: call.is_write,
                        ..of
                    }),
                }
            }
        }
    }

    fn begin(
        &mut self,
        process: u32,
        time: Option<Nanos>,
        operation: &Operation,
    ) -> Result<Done, TraceError> {
        let moves = self.note(process, operation)?;
        let request = |placed: Placed| FileRequest {
            time,
            process,
            file: placed.inode,
            offset: placed.offset,
            bytes: placed.bytes,
            is_write: placed.is_write,
        };
        let [Some(first), second] = moves else {
            return Ok(match operation.action {
                Action::Wait { .. }
                | Action::Signal { .. }
                | Action::Compute { .. }
                | Action::Sleep { .. } => Done::Nothing,
                ref action => Done::Other(action.name()),
            });
        };
        let first = request(first);
        self.second = second.map(request);
        self.left = match &operation.action {
            Action::Pattern(pattern) => self.pattern(pattern, first),
            Action::Read { call: Some(call), .. } | Action::Write { call: Some(call), .. } => {
                Left::Parts(first, call.0.max(1))
            }
            _ => Left::Nothing,
        };
        match self.next_left() {
            Some(call) => Ok(Done::Request(call)),
            None if matches!(operation.action, Action::Pattern(_)) => Ok(Done::Other("pattern")),
            None => Ok(Done::Request(first)),
        }
    }

    fn pattern(&self, pattern: &Pattern, first: FileRequest) -> Left {
        let size = Bytes(self.sizes.path_and_end(first.file).1);
        Left::Pattern(Box::new(Calls::new(pattern, size, 0)), first, pattern.most_calls(size))
    }

    fn note(&mut self, process: u32, operation: &Operation) -> Result<Moves, TraceError> {
        let number = |path: &Arc<str>| self.numbers.get(&address(path)).copied().unwrap_or_default();
        let (path, other) = match &operation.action {
            Action::Read { path, .. } | Action::Write { path, .. } => (number(path), 0),
            Action::Wait { .. } | Action::Signal { .. } => return Ok([None, None]),
            Action::Copy { path, to, .. } | Action::Rename { path, to } | Action::Link { path, to } => {
                (number(path), number(to))
            }
            action => match action.path() {
                Some(path) => (number(path), 0),
                None => return Ok([None, None]),
            },
        };
        let descriptors = self.trace.tables.processes[process as usize].descriptors;
        let table = descriptors.map_or(Table::from(process) + (1 << 32), Table::from);
        self.sizes.note(table, operation, path, other)
    }
}

impl Iterator for Requests {
    type Item = Result<Done, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(request) = self.next_left().or_else(|| self.second.take()) {
            return Some(Ok(Done::Request(request)));
        }
        let (process, record) = match self.records.next()? {
            Ok(record) => record,
            Err(error) => return Some(Err(error)),
        };
        Some(self.begin(process, record.time, &record.operation))
    }
}
