//! Makes a row of our own table an operation, and an operation a row.
//!
//! The columns are those of CSV and Parquet. `flags` holds words: those of open(2), advice, modes, `fresh` for new memory, `vector:N`.
//!
//! Left out: patterns, calls of a library's stream, msync and advice of mappings; a recording with one of these is no table.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::decimal::as_seconds;
use crate::nearest::{hint, shorten};
use crate::trace::{Record, TraceError, Writer};
use crate::units::{Bytes, Nanos};
use crate::workload::{
    Action, Advice, AllocateMode, AsyncBy, Buffer, CopyBy, Fd, MapAdvice, MappedCall, OpenFlag, Operation,
    SyncRangeFlag,
};

/// The columns, in the order in which they are written.
pub const COLUMNS: [&str; 13] = [
    "time_s",
    "duration_s",
    "process",
    "op",
    "file",
    "offset_bytes",
    "bytes",
    "call_bytes",
    "to",
    "fd",
    "depth",
    "by",
    "flags",
];

/// The operations.
pub const OPERATIONS: [&str; 35] = [
    "read",
    "write",
    "open",
    "close",
    "fsync",
    "fdatasync",
    "sync",
    "syncfs",
    "sync_file_range",
    "readahead",
    "fadvise",
    "truncate",
    "fallocate",
    "unlink",
    "rename",
    "link",
    "mkdir",
    "rmdir",
    "stat",
    "lseek",
    "dup",
    "copy",
    "mmap",
    "munmap",
    "mmap_read",
    "mmap_write",
    "drain",
    "drop_caches",
    "wait",
    "signal",
    "alloc",
    "free",
    "compute",
    "sleep",
    "exit",
];

/// A row of a table. Texts are empty where a cell is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row<'a> {
    /// When it began.
    pub time: Option<Nanos>,
    /// How long it took.
    pub duration: Option<Nanos>,
    /// The name of the process.
    pub process: &'a str,
    /// The operation.
    pub op: &'a str,
    /// The file, or the event.
    pub file: &'a str,
    /// First byte, or the position.
    pub offset: Option<u64>,
    /// The number of bytes, or the size.
    pub bytes: Option<u64>,
    /// Bytes of one call.
    pub call: Option<u64>,
    /// The second path, or the second descriptor.
    pub to: &'a str,
    /// The descriptor.
    pub fd: Option<u32>,
    /// If it is asynchronous: how many are under way at once.
    pub depth: Option<u32>,
    /// By which interface it is asynchronous.
    pub by: &'a str,
    /// Words.
    pub flags: &'a str,
}

/// What is wrong in a row.
#[derive(Debug)]
pub enum Wrong {
    /// It means nothing: what, and the remedy.
    Row(String, String),
    /// It cannot be kept.
    Trace(TraceError),
}

impl From<TraceError> for Wrong {
    fn from(error: TraceError) -> Self {
        Self::Trace(error)
    }
}

fn wrong<T>(what: impl Into<String>, remedy: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::Row(what.into(), remedy.into()))
}

impl Row<'_> {
    /// Keeps the operation of the row.
    ///
    /// # Errors
    /// What is wrong in it.
    pub fn record(&self, line: Option<u32>, trace: &mut Writer) -> Result<(), Wrong> {
        let operation = Operation {
            action: self.action(trace)?,
            line,
            not_before: None,
            depth: self.depth.and_then(NonZeroU32::new),
            by: self.interface()?,
            fd: self.fd.map(Fd),
            is_timed: false,
        };
        let process = trace.process(if self.process.is_empty() { "main" } else { self.process })?;
        let duration = if matches!(self.op, "compute" | "sleep") { None } else { self.duration };
        Ok(trace.record(process, self.time, duration, &operation)?)
    }

    fn action(&self, trace: &mut Writer) -> Result<Action, Wrong> {
        if let Some(action) = self.without_file()? {
            return Ok(action);
        }
        if !OPERATIONS.contains(&self.op) {
            let remedy = hint(self.op, OPERATIONS, "operations");
            return wrong(format!("there is no operation `{}`", shorten(self.op)), remedy);
        }
        if self.file.is_empty() {
            return wrong(format!("`{}` has no `file`", self.op), "fill it in");
        }
        let path = trace.path(self.file)?;
        let (offset, bytes) = (self.offset.unwrap_or(0), self.bytes.map(Bytes));
        Ok(match self.op {
            "read" => {
                let (vector, buffer) = self.memory()?;
                Action::Read { path, offset: self.offset, bytes, call: self.call.map(Bytes), vector, buffer }
            }
            "write" => {
                let (vector, _) = self.memory()?;
                let bytes = self.size()?;
                Action::Write { path, offset: self.offset, bytes, call: self.call.map(Bytes), vector }
            }
            "open" => {
                let words = self.words(|word| {
                    matches!(word, "O_CREAT" | "O_TRUNC" | "O_RDONLY" | "O_WRONLY" | "O_RDWR")
                        || OpenFlag::NAMES.contains(&word)
                })?;
                let flags =
                    OpenFlag::ALL.into_iter().filter(|&flag| words.contains(&OpenFlag::NAMES[flag as usize]));
                let (create, truncate) = (words.contains(&"O_CREAT"), words.contains(&"O_TRUNC"));
                Action::Open { path, create, truncate, flags: flags.collect() }
            }
            "close" => Action::Close { path },
            "fsync" => Action::Fsync { path },
            "fdatasync" => Action::Fdatasync { path },
            "syncfs" => Action::SyncFs { path },
            "sync_file_range" => {
                let words = self.words(|word| SyncRangeFlag::NAMES.contains(&word))?;
                let is_set = |flag: &SyncRangeFlag| words.contains(&SyncRangeFlag::NAMES[*flag as usize]);
                Action::SyncFileRange {
                    path,
                    offset,
                    bytes,
                    flags: SyncRangeFlag::ALL.into_iter().filter(is_set).collect(),
                }
            }
            "readahead" => Action::Readahead { path, offset, bytes },
            "fadvise" => {
                Action::Fadvise { path, advice: self.word(&Advice::NAMES, &Advice::ALL)?, offset, bytes }
            }
            "truncate" => Action::Truncate { path, size: self.size()? },
            "fallocate" => {
                let mode = match self.flags {
                    "" => AllocateMode::Extend,
                    _ => self.word(&AllocateMode::NAMES, &AllocateMode::ALL)?,
                };
                Action::Fallocate { path, mode, offset, bytes: self.size()? }
            }
            "unlink" => Action::Unlink { path },
            "rename" => Action::Rename { path, to: self.other(trace)? },
            "link" => Action::Link { path, to: self.other(trace)? },
            "mkdir" => Action::Mkdir { path },
            "rmdir" => Action::Rmdir { path },
            "stat" => Action::Stat { path },
            "lseek" => match self.offset {
                Some(offset) => Action::Seek { path, offset },
                None => return wrong("`lseek` has no `offset_bytes`", "fill it in"),
            },
            "dup" => match self.to.parse() {
                Ok(to) => Action::Duplicate { path, to: Fd(to) },
                Err(_) => {
                    return wrong("`dup` has no descriptor in `to`", "fill in the number of the second one");
                }
            },
            "copy" => {
                let by = if self.flags.is_empty() {
                    CopyBy::ReadWrite
                } else {
                    self.word(&CopyBy::NAMES, &CopyBy::ALL)?
                };
                Action::Copy { path, to: self.other(trace)?, by, offset, bytes, call: self.call.map(Bytes) }
            }
            "mmap" => Action::Mapped { path, call: MappedCall::Map },
            "munmap" => Action::Mapped { path, call: MappedCall::Unmap },
            "mmap_read" => {
                Action::Mapped { path, call: MappedCall::Read { offset, bytes, advice: MapAdvice::Normal } }
            }
            "mmap_write" => {
                Action::Mapped { path, call: MappedCall::Write { offset, bytes, advice: MapAdvice::Normal } }
            }
            _ => unreachable!("all others have no file"),
        })
    }
    /// Operations that are not about a file.
    fn without_file(&self) -> Result<Option<Action>, Wrong> {
        let event = || match self.file {
            "" => wrong(format!("`{}` has no event in `file`", self.op), "fill it in"),
            name => Ok(Arc::from(name)),
        };
        let time = || match self.duration {
            Some(time) => Ok(time),
            None => wrong(format!("`{}` has no `duration_s`", self.op), "fill it in"),
        };
        Ok(Some(match self.op {
            "sync" => Action::Sync,
            "drain" => Action::Drain,
            "drop_caches" => Action::DropCaches,
            "wait" => Action::Wait { event: event()? },
            "signal" => Action::Signal { event: event()? },
            "alloc" => Action::Allocate { bytes: self.size()? },
            "free" => Action::Free { bytes: self.bytes.map(Bytes) },
            "compute" => Action::Compute { time: time()? },
            "sleep" => Action::Sleep { time: time()?, random: None },
            "exit" => Action::Exit,
            _ => return Ok(None),
        }))
    }

    fn interface(&self) -> Result<AsyncBy, Wrong> {
        match AsyncBy::NAMES.iter().position(|&name| name == self.by) {
            Some(at) => Ok(AsyncBy::ALL[at]),
            None if self.by.is_empty() => Ok(AsyncBy::default()),
            None => {
                wrong(format!("`by` is `{}`", shorten(self.by)), hint(self.by, AsyncBy::NAMES, "interfaces"))
            }
        }
    }

    fn size(&self) -> Result<Bytes, Wrong> {
        match self.bytes {
            Some(bytes) => Ok(Bytes(bytes)),
            None => wrong(format!("`{}` has no `bytes`", self.op), "fill it in"),
        }
    }

    fn other(&self, trace: &mut Writer) -> Result<Arc<str>, Wrong> {
        match self.to {
            "" => wrong(format!("`{}` has no second path in `to`", self.op), "fill it in"),
            to => Ok(trace.path(to)?),
        }
    }

    /// The words of `flags`, all of which must be known.
    fn words(&self, is_known: impl Fn(&str) -> bool) -> Result<Vec<&str>, Wrong> {
        let words: Vec<&str> = self.flags.split([' ', '|']).filter(|word| !word.is_empty()).collect();
        match words.iter().find(|word| !is_known(word)) {
            Some(word) => {
                wrong(format!("`{}` is no flag of `{}`", shorten(word), self.op), "correct `flags`")
            }
            None => Ok(words),
        }
    }

    /// The one word of `flags`.
    fn word<T: Copy>(&self, names: &[&str], all: &[T]) -> Result<T, Wrong> {
        match names.iter().position(|&name| name == self.flags) {
            Some(at) => Ok(all[at]),
            None => {
                let what = format!("`{}` has `{}` in `flags`", self.op, shorten(self.flags));
                wrong(what, hint(self.flags, names.iter().copied(), "flags"))
            }
        }
    }

    /// In how many places a read or write has its bytes, and whether those are new.
    fn memory(&self) -> Result<(u32, Buffer), Wrong> {
        if self.flags.is_empty() {
            return Ok((1, Buffer::Reused));
        }
        let vector = |word: &str| word.strip_prefix("vector:")?.parse::<u32>().ok();
        let words = self.words(|word| word == "fresh" || vector(word).is_some())?;
        let buffer = if words.contains(&"fresh") { Buffer::Fresh } else { Buffer::Reused };
        Ok((words.iter().find_map(|word| vector(word)).unwrap_or(1), buffer))
    }
}

/// The cells of a row, as text; none if no table has such an operation.
pub fn cells(process: &str, record: &Record) -> Option<[String; COLUMNS.len()]> {
    let Record { time, duration, operation } = record;
    let Operation { action, line: _, not_before: _, depth, by, fd, is_timed: _ } = operation;
    let mut row: [String; COLUMNS.len()] = Default::default();
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    row[0] = time.map_or_else(String::new, as_seconds);
    row[1] = duration.map_or_else(String::new, as_seconds);
    row[2] = process.to_owned();
    row[3] = action.name().to_owned();
    row[4] = action.path().map_or_else(String::new, ToString::to_string);
    row[9] = number(fd.map(|fd| fd.0.into()));
    row[10] = number(depth.map(|depth| depth.get().into()));
    row[11] = if *by == AsyncBy::default() { String::new() } else { AsyncBy::NAMES[*by as usize].to_owned() };
    let [_, _, _, _, file, offset_cell, bytes_cell, call_cell, to_cell, _, _, _, flags_cell] = &mut row;
    let mut range = |offset: u64, bytes: Option<Bytes>| {
        *offset_cell = offset.to_string();
        *bytes_cell = number(bytes.map(|bytes| bytes.0));
    };
    match action {
        Action::Read { offset, bytes, call, vector, buffer, .. } => {
            *offset_cell = number(*offset);
            *bytes_cell = number(bytes.map(|bytes| bytes.0));
            *call_cell = number(call.map(|call| call.0));
            *flags_cell = memory_words(*vector, *buffer);
        }
        Action::Write { offset, bytes, call, vector, .. } => {
            *offset_cell = number(*offset);
            *bytes_cell = bytes.0.to_string();
            *call_cell = number(call.map(|call| call.0));
            *flags_cell = memory_words(*vector, Buffer::Reused);
        }
        Action::Open { create, truncate, flags, .. } => {
            let made = [(*create, "O_CREAT"), (*truncate, "O_TRUNC")];
            let made = made.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word);
            let others = OpenFlag::ALL.into_iter().filter(|&flag| flags.has(flag));
            let words: Vec<&str> = made.chain(others.map(|flag| OpenFlag::NAMES[flag as usize])).collect();
            *flags_cell = words.join(" ");
        }
        Action::SyncFs { path } => *file = path.to_string(),
        Action::Wait { event } | Action::Signal { event } => *file = event.to_string(),
        Action::SyncFileRange { offset, bytes, flags, .. } => {
            range(*offset, *bytes);
            let words = SyncRangeFlag::ALL.into_iter().filter(|&flag| flags.has(flag));
            *flags_cell =
                words.map(|flag| SyncRangeFlag::NAMES[flag as usize]).collect::<Vec<&str>>().join(" ");
        }
        Action::Readahead { offset, bytes, .. } => range(*offset, *bytes),
        Action::Fadvise { advice, offset, bytes, .. } => {
            range(*offset, *bytes);
            *flags_cell = Advice::NAMES[*advice as usize].to_owned();
        }
        Action::Fallocate { mode, offset, bytes, .. } => {
            range(*offset, Some(*bytes));
            *flags_cell = AllocateMode::NAMES[*mode as usize].to_owned();
        }
        Action::Copy { to, by, offset, bytes, call, .. } => {
            range(*offset, *bytes);
            *call_cell = number(call.map(|call| call.0));
            *to_cell = to.to_string();
            *flags_cell = by.name().to_owned();
        }
        Action::Truncate { size: bytes, .. } | Action::Allocate { bytes } => {
            *bytes_cell = bytes.0.to_string()
        }
        Action::Free { bytes } => *bytes_cell = number(bytes.map(|bytes| bytes.0)),
        Action::Rename { to, .. } | Action::Link { to, .. } => *to_cell = to.to_string(),
        Action::Duplicate { to, .. } => *to_cell = to.0.to_string(),
        Action::Seek { offset, .. } => *offset_cell = offset.to_string(),
        Action::Compute { time } | Action::Sleep { time, random: None } => row[1] = as_seconds(*time),
        Action::Mapped { call, .. } => match *call {
            MappedCall::Map | MappedCall::Unmap => {}
            MappedCall::Read { offset, bytes, advice: MapAdvice::Normal }
            | MappedCall::Write { offset, bytes, advice: MapAdvice::Normal } => range(offset, bytes),
            _ => return None,
        },
        Action::Pattern(_) | Action::Stream { .. } | Action::Sleep { random: Some(_), .. } => return None,
        Action::Close { .. }
        | Action::Fsync { .. }
        | Action::Fdatasync { .. }
        | Action::Sync
        | Action::Unlink { .. }
        | Action::Mkdir { .. }
        | Action::Rmdir { .. }
        | Action::Stat { .. }
        | Action::Drain
        | Action::DropCaches
        | Action::Exit => {}
    }
    Some(row)
}

fn memory_words(vector: u32, buffer: Buffer) -> String {
    let mut words = if buffer == Buffer::Fresh { "fresh".to_owned() } else { String::new() };
    if vector != 1 {
        let space = if words.is_empty() { "" } else { " " };
        write!(words, "{space}vector:{vector}").expect("a text takes all");
    }
    words
}
