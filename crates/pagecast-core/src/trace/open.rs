//! Opens a recording, and checks every byte of it before anything else is done with it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

use super::block::{BLOCK_HEADER, BlockHeader, MOST_IN_BLOCK, crc};
use super::code;
use super::cursor::Cursor;
use super::error::TraceError;
use super::header::{HEADER, Header, Level};
use super::inner::{Inner, Lent};
use super::merge::Merged;
use super::program::{Replayed, Timing};
use super::store::{Growing, MOST_IN_MEMORY, Store};
use super::tables::{ProcessEntry, Tables};
use crate::stop;
use crate::units::Nanos;
use crate::workload::{Note, Workload, WorkloadFile, WorkloadProcess};

/// A recording.
#[derive(Clone, Debug)]
pub struct Trace(Arc<Inner>);

impl Trace {
    pub(super) fn new(store: Store, header: Header, tables: Tables) -> Self {
        Self(Arc::new(Inner { store, header, tables, lent: Lent::default() }))
    }

    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    /// Opens a file, which stays open.
    ///
    /// # Errors
    /// If it cannot be read, or any of its bytes is not as it was written.
    pub fn open(file: File) -> Result<Self, TraceError> {
        let length = file.metadata().map_err(TraceError::Read)?.len();
        Self::checked(Store::File(file), length)
    }

    /// Reads bytes from a stream, which are kept in memory or, if they are many, in a file without a name.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(mut from: impl Read) -> Result<Self, TraceError> {
        let mut kept = Growing::new(MOST_IN_MEMORY);
        let mut piece = vec![0; 1 << 16];
        loop {
            stop::spend(piece.len() as u64 >> 4);
            match from.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => kept.append(&piece[..length])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::Read(error)),
            }
        }
        let length = kept.len();
        Self::checked(kept.finish()?, length)
    }

    fn checked(store: Store, length: u64) -> Result<Self, TraceError> {
        let mut bytes = [0; HEADER];
        if length < HEADER as u64 {
            return Err(TraceError::Damaged { at: length, what: "the file is shorter than its header" });
        }
        store.read(&mut bytes, 0)?;
        let header = Header::of(&bytes)?;
        if header.tables_at < HEADER as u64
            || header.tables_at.checked_add(header.tables_bytes) != Some(length)
        {
            return Err(TraceError::Damaged {
                at: length,
                what: "the file does not end where its header says",
            });
        }
        let at = header.tables_at;
        let mut bytes =
            vec![0; usize::try_from(header.tables_bytes).map_err(|_| TraceError::TooMany("bytes"))?];
        store.read(&mut bytes, at)?;
        if crc(&bytes) != header.tables_crc {
            return Err(TraceError::Damaged { at, what: "the tables are not as they were written" });
        }
        let tables = Tables::of(&bytes).map_err(|what| TraceError::Damaged { at, what })?;
        check_blocks(&store, header, &tables.processes)?;
        Ok(Self::new(store, header, tables))
    }

    /// Its bytes, as [`Self::open`] and [`Self::read`] take them.
    ///
    /// # Errors
    /// If they cannot be read or written.
    pub fn write_to(&self, out: &mut impl Write) -> Result<(), io::Error> {
        let end = self.0.header.tables_at + self.0.header.tables_bytes;
        let mut piece = vec![0; 1 << 18];
        let mut at = 0;
        while at < end {
            let length = piece.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
            stop::spend(length as u64 >> 4);
            self.0.store.read(&mut piece[..length], at).map_err(io::Error::other)?;
            out.write_all(&piece[..length])?;
            at += length as u64;
        }
        Ok(())
    }

    /// What the requests are made to.
    #[must_use]
    pub fn level(&self) -> Level {
        self.0.header.level
    }

    /// The number of records.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.header.records
    }

    /// True if it has no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What its user should know.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.0.tables.notes
    }

    /// The files that existed before, by the names of the recording.
    pub fn files(&self) -> impl Iterator<Item = WorkloadFile> {
        self.0.tables.files.iter().map(|file| WorkloadFile {
            path: self.0.tables.paths[file.path as usize].clone(),
            size: file.size,
            is_inferred: file.is_inferred,
        })
    }

    /// The names of its processes, by their numbers.
    pub fn processes(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.0.tables.processes.iter().map(|process| &process.name)
    }

    /// All records by time; those without one follow the one before of their process.
    #[must_use]
    pub fn records(&self) -> Merged {
        let cursors = (0..self.0.tables.processes.len() as u32).map(|at| Cursor::new(self.0.clone(), at));
        Merged::new(self.0.clone(), cursors.collect())
    }

    /// Its processes and files. `place` gives the place on the machine of each path, and `timing` says when operations begin. The first
    /// process starts at time 0.
    #[must_use]
    pub fn workload(&self, timing: Timing, place: impl Fn(&str) -> Arc<str>) -> Workload {
        let tables = &self.0.tables;
        let paths: Arc<[Arc<str>]> = tables.paths.iter().map(|path| place(path)).collect();
        let first =
            tables.processes.iter().filter(|process| process.records > 0).map(|process| process.start).min();
        let first = first.unwrap_or_default();
        let file = |file: WorkloadFile| WorkloadFile { path: place(&file.path), ..file };
        let process = |(at, process): (usize, &ProcessEntry)| WorkloadProcess {
            name: process.name.clone(),
            start: match process.after.is_empty() {
                true => timing.scaled(Nanos(process.start.0.saturating_sub(first.0))),
                false => Nanos::ZERO,
            },
            after: process.after.iter().map(|&after| tables.processes[after as usize].name.clone()).collect(),
            descriptors: process.descriptors,
            ioprio: Default::default(),
            slots: None,
            program: Arc::new(Replayed {
                trace: self.0.clone(),
                process: at as u32,
                paths: paths.clone(),
                timing,
            }),
        };
        Workload {
            files: self.files().map(file).collect(),
            processes: tables.processes.iter().enumerate().map(process).collect(),
            machines: Vec::new(),
            notes: tables.notes.clone(),
        }
    }
}

/// Goes over all blocks: each is as it was written, and the chain of each process is whole.
fn check_blocks(store: &Store, header: Header, processes: &[ProcessEntry]) -> Result<(), TraceError> {
    let mut expected: Vec<u64> = processes.iter().map(|process| process.first).collect();
    let mut left: Vec<u64> = processes.iter().map(|process| process.records).collect();
    let mut records = header.records;
    let mut window = Window { store, end: header.tables_at, bytes: Vec::new(), start: 0 };
    let mut at = HEADER as u64;
    while at < header.tables_at {
        let damaged = |what| TraceError::Damaged { at, what };
        let block = window.get(at, BLOCK_HEADER)?.first_chunk().expect("it has as many bytes");
        let block = BlockHeader::of(block).map_err(damaged)?;
        let (process, bytes) = (block.process as usize, block.bytes as usize);
        if expected.get(process) != Some(&at) || (block.next != 0 && block.next <= at) {
            return Err(damaged("this block is not the next one of its process"));
        }
        expected[process] = block.next;
        let take = |count: &mut u64| match count.checked_sub(block.records.into()) {
            Some(less) => {
                *count = less;
                Ok(())
            }
            None => Err(damaged("there are more records than the tables say")),
        };
        take(&mut left[process])?;
        take(&mut records)?;
        if bytes > MOST_IN_BLOCK + code::MOST_BYTES {
            return Err(damaged("this block is longer than any"));
        }
        stop::spend(1 + (bytes as u64 >> 4));
        if crc(window.get(at + BLOCK_HEADER as u64, bytes)?) != block.crc {
            return Err(damaged("this block is not as it was written"));
        }
        at += (BLOCK_HEADER + bytes) as u64;
    }
    if records > 0 || left.iter().chain(&expected).any(|&missing| missing > 0) {
        return Err(TraceError::Damaged { at, what: "there are fewer records than the tables say" });
    }
    Ok(())
}

/// A part of the bytes that moves forward.
struct Window<'a> {
    store: &'a Store,
    end: u64,
    bytes: Vec<u8>,
    start: u64,
}

impl Window<'_> {
    /// Bytes that are not before those of the call before.
    fn get(&mut self, at: u64, length: usize) -> Result<&[u8], TraceError> {
        let offset = (at - self.start) as usize;
        if offset + length <= self.bytes.len() {
            return Ok(&self.bytes[offset..offset + length]);
        }
        let there = self.end.saturating_sub(at);
        if (length as u64) > there {
            return Err(TraceError::Damaged { at, what: "this block is longer than the file" });
        }
        let wanted = there.min(length.max(1 << 18) as u64) as usize;
        self.bytes.resize(wanted, 0);
        self.store.read(&mut self.bytes, at)?;
        self.start = at;
        Ok(&self.bytes[..length])
    }
}
