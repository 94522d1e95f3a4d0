//! Writes and reads the tables at the end of a recording.

use std::sync::Arc;

use super::sizes::Existed;
use super::varint::{Bits, put, put_text};
use crate::units::{Bytes, Nanos};
use crate::workload::Note;

/// All that is known besides the records.
#[derive(Debug, Default)]
pub struct Tables {
    /// Paths of files by number.
    pub paths: Vec<Arc<str>>,
    /// Names of events by number.
    pub events: Vec<Arc<str>>,
    /// The files that existed before.
    pub files: Vec<Existed>,
    /// The processes.
    pub processes: Vec<ProcessEntry>,
    /// What its user should know.
    pub notes: Vec<Note>,
}

/// A process of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessEntry {
    /// Its name.
    pub name: Arc<str>,
    /// When it started, in the time of the records.
    pub start: Nanos,
    /// The processes that must have ended before.
    pub after: Vec<u32>,
    /// Its table of descriptors, if it shares one.
    pub descriptors: Option<u32>,
    /// The place of its first block; 0 if it has none.
    pub first: u64,
    /// The number of its records.
    pub records: u64,
    /// True if it waits for or signals an event.
    pub has_events: bool,
}

impl Tables {
    /// Their bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for texts in [&self.paths, &self.events] {
            put(&mut out, texts.len() as u64);
            texts.iter().for_each(|text| put_text(&mut out, text));
        }
        put(&mut out, self.files.len() as u64);
        for file in &self.files {
            put(&mut out, file.path.into());
            put(&mut out, file.size.0);
            out.push(file.is_inferred.into());
        }
        put(&mut out, self.processes.len() as u64);
        self.processes.iter().for_each(|process| put_process(&mut out, process));
        put(&mut out, self.notes.len() as u64);
        for note in &self.notes {
            put_text(&mut out, &note.place);
            put_text(&mut out, &note.text);
        }
        out
    }

    /// The tables of these bytes, or what is wrong with them.
    pub fn of(bytes: &[u8]) -> Result<Self, &'static str> {
        let mut bits = Bits { rest: bytes };
        let tables = take(&mut bits).ok_or("these are no tables of a recording")?;
        if !bits.rest.is_empty() {
            return Err("the tables have more bytes than they need");
        }
        let (paths, processes) = (tables.paths.len(), tables.processes.len());
        if tables.files.iter().any(|file| file.path as usize >= paths) {
            return Err("a file has no path");
        }
        if tables.processes.iter().flat_map(|each| &each.after).any(|&after| after as usize >= processes) {
            return Err("a process comes after one that is not there");
        }
        Ok(tables)
    }
}

fn take(bits: &mut Bits<'_>) -> Option<Tables> {
    Some(Tables {
        paths: list(bits, |bits| bits.text().map(Arc::from))?,
        events: list(bits, |bits| bits.text().map(Arc::from))?,
        files: list(bits, |bits| {
            let (path, size) = (bits.small()?, Bytes(bits.number()?));
            Some(Existed { path, size, is_inferred: bits.byte()? != 0 })
        })?,
        processes: list(bits, process)?,
        notes: list(bits, |bits| {
            Some(Note { place: bits.text()?.to_owned(), text: bits.text()?.to_owned() })
        })?,
    })
}

fn put_process(out: &mut Vec<u8>, process: &ProcessEntry) {
    let ProcessEntry { name, start, after, descriptors, first, records, has_events } = process;
    put_text(out, name);
    put(out, start.0);
    put(out, after.len() as u64);
    after.iter().for_each(|&after| put(out, after.into()));
    put(out, descriptors.map_or(0, |table| u64::from(table) + 1));
    put(out, *first);
    put(out, *records);
    out.push((*has_events).into());
}

fn process(bits: &mut Bits<'_>) -> Option<ProcessEntry> {
    Some(ProcessEntry {
        name: bits.text()?.into(),
        start: Nanos(bits.number()?),
        after: list(bits, Bits::small)?,
        descriptors: match bits.number()? {
            0 => None,
            table => Some(u32::try_from(table - 1).ok()?),
        },
        first: bits.number()?,
        records: bits.number()?,
        has_events: bits.byte()? != 0,
    })
}

fn list<'a, T>(bits: &mut Bits<'a>, mut each: impl FnMut(&mut Bits<'a>) -> Option<T>) -> Option<Vec<T>> {
    let count = usize::try_from(bits.number()?).ok()?;
    // Each has a byte at least, so that a wrong number takes no more memory than the file.
    let mut all = Vec::with_capacity(count.min(bits.rest.len()).min(1 << 16));
    for _ in 0..count {
        all.push(each(bits)?);
    }
    Some(all)
}
