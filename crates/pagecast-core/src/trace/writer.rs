//! Takes the records of a recording and keeps them in the order of each process.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::block::{BLOCK_HEADER, BlockHeader, MOST_IN_BLOCK, NEXT_AT, crc};
use super::code::Before;
use super::encode::encode;
use super::error::TraceError;
use super::header::{HEADER, Header, Level};
use super::intern::Interner;
use super::open::Trace;
use super::sizes::{Existed, Sizes, Table};
use super::store::{Growing, MOST_IN_MEMORY};
use super::tables::{ProcessEntry, Tables};
use crate::stop;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Note, Operation};

/// The bytes of records that wait for their block to be full, of all processes together.
const MOST_WAITING: usize = 32 << 20;

/// Writes a recording. Records of a process come in its order, those of several in any.
#[derive(Debug)]
pub struct Writer {
    origin: String,
    level: Level,
    bytes: Growing,
    paths: Interner,
    events: Interner,
    names: Interner,
    processes: Vec<Writing>,
    sizes: Sizes,
    notes: Vec<Note>,
    /// The capacity of all buffers.
    waiting: usize,
    /// How many records have a time before that of the one before.
    backwards: u64,
    limits: Limits,
}

/// What is kept in memory at most.
#[derive(Clone, Copy, Debug)]
struct Limits {
    block: usize,
    waiting: usize,
}

/// A process whose records come.
#[derive(Debug, Default)]
struct Writing {
    /// Records that are in no block yet.
    buffer: Vec<u8>,
    /// Their number.
    waiting: u32,
    before: Before,
    /// True if its start was told.
    has_start: bool,
    entry: ProcessEntry,
    /// The place of its last block.
    last: u64,
}

impl Writer {
    /// A recording without records; `origin` is its name in notes.
    #[must_use]
    pub fn new(origin: &str, level: Level) -> Self {
        Self::with_limits(origin, level, MOST_IN_MEMORY, MOST_IN_BLOCK, MOST_WAITING)
    }

    pub(super) fn with_limits(
        origin: &str,
        level: Level,
        in_memory: usize,
        block: usize,
        waiting: usize,
    ) -> Self {
        let mut bytes = Growing::new(in_memory);
        bytes.append(&[0; HEADER]).expect("it is in memory");
        Self {
            origin: origin.to_owned(),
            level,
            bytes,
            paths: Interner::new("paths"),
            events: Interner::new("events"),
            names: Interner::new("processes"),
            processes: Vec::new(),
            sizes: Sizes::default(),
            notes: Vec::new(),
            waiting: 0,
            backwards: 0,
            limits: Limits { block, waiting },
        }
    }

    /// The shared text of a path, so that the same file is found without looking at its letters.
    ///
    /// # Errors
    /// If there are too many.
    pub fn path(&mut self, path: &str) -> Result<Arc<str>, TraceError> {
        let (number, _) = self.paths.of(path)?;
        Ok(self.paths.texts[number as usize].clone())
    }

    /// The process of a name; it is made when it comes first. It has a table of descriptors of its own.
    ///
    /// # Errors
    /// If there are too many.
    pub fn process(&mut self, name: &str) -> Result<u32, TraceError> {
        let (process, is_new) = self.names.of(name)?;
        if is_new {
            let entry =
                ProcessEntry { name: self.names.texts[process as usize].clone(), ..ProcessEntry::default() };
            self.processes.push(Writing { entry, ..Writing::default() });
        }
        Ok(process)
    }

    /// When a process started, in the time of the records; otherwise its first record says so.
    pub fn set_start(&mut self, process: u32, start: Nanos) {
        let process = &mut self.processes[process as usize];
        process.has_start = true;
        process.entry.start = start;
    }

    /// The processes that must have ended before this one starts.
    pub fn set_after(&mut self, process: u32, after: &[u32]) {
        self.processes[process as usize].entry.after = after.to_vec();
    }

    /// Processes with the same number share one table of descriptors.
    pub fn set_descriptors(&mut self, process: u32, table: u32) {
        self.processes[process as usize].entry.descriptors = Some(table);
    }

    /// A file existed before, with this size. Without it that is inferred from what is read of it.
    ///
    /// # Errors
    /// If there are too many.
    pub fn file(&mut self, path: &str, size: Bytes) -> Result<(), TraceError> {
        let (number, _) = self.paths.of(path)?;
        self.sizes.tell(number, size)
    }

    /// The size of a file by now, as far as it is known.
    ///
    /// # Errors
    /// If there are too many files.
    pub fn size(&mut self, path: &Arc<str>) -> Result<Bytes, TraceError> {
        let number = self.paths.number(path)?;
        self.sizes.end(number)
    }

    /// Something its user should know.
    pub fn note(&mut self, place: impl Into<String>, text: impl Into<String>) {
        self.notes.push(Note { place: place.into(), text: text.into() });
    }

    /// An operation of a process: when it began, in the time of the recording, and how long it took, as far as that is known. An operation
    /// that is at once followed by another one of its process has a `depth`.
    ///
    /// # Errors
    /// If there is no room for it.
    ///
    /// # Panics
    /// If `process` is no number that [`Self::process`] gave.
    #[inline]
    pub fn record(
        &mut self,
        process: u32,
        time: Option<Nanos>,
        duration: Option<Nanos>,
        operation: &Operation,
    ) -> Result<(), TraceError> {
        stop::spend(1);
        let writing = &mut self.processes[process as usize];
        let (path, other) = match &operation.action {
            Action::Read { path, .. } | Action::Write { path, .. } => (self.paths.number(path)?, 0),
            Action::Wait { event } | Action::Signal { event } => {
                writing.entry.has_events = true;
                (self.events.number(event)?, 0)
            }
            Action::SyncFs { path } => (self.paths.number(path)?, 0),
            Action::Copy { path, to, .. } | Action::Rename { path, to } | Action::Link { path, to } => {
                (self.paths.number(path)?, self.paths.number(to)?)
            }
            action => match action.path() {
                Some(path) => (self.paths.number(path)?, 0),
                None => (writing.before.path, 0),
            },
        };
        let table = writing.entry.descriptors.map_or(Table::from(process) + (1 << 32), Table::from);
        self.sizes.note(table, operation, path, other)?;
        if let Some(time) = time {
            if !writing.has_start {
                writing.has_start = true;
                writing.entry.start = time;
            }
            self.backwards += u64::from(time.0 < writing.before.time);
        }
        let room = writing.buffer.capacity();
        encode(&mut writing.buffer, &mut writing.before, (time, duration), operation, (path, other));
        writing.waiting += 1;
        self.waiting += writing.buffer.capacity() - room;
        if writing.buffer.len() >= self.limits.block {
            self.end_block(process)?;
        }
        if self.waiting > self.limits.waiting {
            self.make_room()?;
        }
        Ok(())
    }

    /// Writes what waits of a process as a block. The buffer stays.
    fn end_block(&mut self, process: u32) -> Result<(), TraceError> {
        let at = self.bytes.len();
        let writing = &mut self.processes[process as usize];
        let header = BlockHeader {
            process,
            bytes: u32::try_from(writing.buffer.len()).expect("a block is small"),
            records: writing.waiting,
            crc: crc(&writing.buffer),
            next: 0,
        };
        self.bytes.append(&header.to_bytes())?;
        self.bytes.append(&writing.buffer)?;
        match writing.last {
            0 => writing.entry.first = at,
            last => self.bytes.change(last + NEXT_AT, &at.to_le_bytes())?,
        }
        writing.last = at;
        writing.entry.records += u64::from(writing.waiting);
        writing.waiting = 0;
        writing.buffer.clear();
        Ok(())
    }

    /// Writes at least half of what waits, and gives its memory back.
    #[cold]
    fn make_room(&mut self) -> Result<(), TraceError> {
        let with_some = self.processes.iter().filter(|each| each.buffer.capacity() > 0).count();
        let least = self.waiting / with_some.max(1) / 2;
        for process in 0..self.processes.len() {
            let room = self.processes[process].buffer.capacity();
            if room == 0 || room < least {
                continue;
            }
            if !self.processes[process].buffer.is_empty() {
                self.end_block(process as u32)?;
            }
            self.processes[process].buffer = Vec::new();
            self.waiting -= room;
        }
        Ok(())
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn finish(mut self) -> Result<Trace, TraceError> {
        for process in 0..self.processes.len() {
            if !self.processes[process].buffer.is_empty() {
                self.end_block(process as u32)?;
                self.processes[process].buffer = Vec::new();
            }
        }
        let files = self.files();
        self.add_notes(&files);
        let tables = Tables {
            paths: self.paths.texts,
            events: self.events.texts,
            files,
            processes: self.processes.into_iter().map(|each| each.entry).collect(),
            notes: self.notes,
        };
        let bytes = tables.to_bytes();
        let header = Header {
            level: self.level,
            tables_at: self.bytes.len(),
            tables_bytes: bytes.len() as u64,
            records: tables.processes.iter().map(|each| each.records).sum(),
            tables_crc: crc(&bytes),
        };
        self.bytes.append(&bytes)?;
        self.bytes.change(0, &header.to_bytes())?;
        Ok(Trace::new(self.bytes.finish()?, header, tables))
    }

    /// The files that existed before. A path with others below it is a directory.
    fn files(&self) -> Vec<Existed> {
        let mut directories = FxHashSet::default();
        for path in &self.paths.texts {
            let mut rest: &str = path;
            while let Some((directory, _)) = rest.rsplit_once('/') {
                if !directories.insert(directory) {
                    break;
                }
                rest = directory;
            }
        }
        let is_file = |file: &Existed| !directories.contains(&*self.paths.texts[file.path as usize]);
        self.sizes.existed().filter(is_file).collect()
    }

    fn add_notes(&mut self, files: &[Existed]) {
        match files.iter().filter(|file| file.is_inferred).count() {
            0 => {}
            1 => self.note(
                self.origin.clone(),
                "it does not tell the size of 1 file, which is that of what is read before it is written",
            ),
            inferred => self.note(
                self.origin.clone(),
                format!("it does not tell the sizes of {inferred} files, which are those of what is read before it is written"),
            ),
        }
        if self.backwards > 0 {
            let times =
                if self.backwards == 1 { "once".to_owned() } else { format!("{} times", self.backwards) };
            let text = format!(
                "its clock runs backwards {times}; such an operation follows the one before it of its process at once"
            );
            self.note(self.origin.clone(), text);
        }
    }
}

const _: () = assert!(BLOCK_HEADER as u64 >= NEXT_AT + 8);
