//! Lists the formats, and reads a workload in one of them.

use super::error::ReadError;
use super::fio;
use super::input::Input;
use super::options::{Options, Replay};
use super::{blkparse, csv, iolog, oracle, pct, strace, table, wfformat};
use crate::trace::{LEVEL_AT, Level, MAGIC, Timing, Trace, Writer};
use crate::workload::Workload;

/// A format, and how it is read.
pub struct Format {
    /// Its name for `format = "..."` and `--format`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub what: &'static str,
    /// How file names end that mean it, with the dot and without `.gz` or `.zst`.
    pub endings: &'static [&'static str],
    /// True if the first bytes of a file can only be this.
    pub matches: fn(&[u8]) -> bool,
    /// What its requests are made to.
    pub level: Level,
    /// Reads it.
    pub reader: Reader,
}

/// How a format is read.
#[derive(Clone, Copy)]
pub enum Reader {
    /// It describes programs.
    Programs(fn(Input, &Options) -> Result<Workload, ReadError>),
    /// It is a recording: its operations, with the names that they have there, go into a writer.
    Recording(fn(Input, &Options, &mut Writer) -> Result<(), ReadError>),
    /// It is a recording in binary form.
    Trace,
}

impl Format {
    /// Reads a workload; its paths are those of the machine.
    ///
    /// # Errors
    /// What is wrong in it, with its place and the remedy.
    pub fn read(&self, input: Input, options: &Options) -> Result<Workload, ReadError> {
        match self.reader {
            Reader::Programs(read) => read(input, options),
            Reader::Recording(_) | Reader::Trace => {
                let timing =
                    Timing { factor: options.pace.factor(), is_open: options.replay == Replay::Open };
                let trace = self.record(input, options)?;
                Ok(trace.workload(timing, |path| options.placement.place(path)))
            }
        }
    }

    /// Reads a recording as it is.
    ///
    /// # Errors
    /// As [`Self::read`]; a format that describes programs is no recording.
    pub fn record(&self, input: Input, options: &Options) -> Result<Trace, ReadError> {
        let origin = input.origin.clone();
        match self.reader {
            Reader::Programs(_) => {
                let what = format!("is {}, which is no recording", self.what);
                Err(ReadError::new(origin, what, "simulate it"))
            }
            Reader::Recording(read) => {
                let mut writer = Writer::new(&origin, self.level);
                read(input, options, &mut writer)?;
                writer.finish().map_err(|error| ReadError::of_trace(&origin, &error))
            }
            Reader::Trace => {
                let trace = match input.plain {
                    Some(file) => Trace::open(file),
                    None => Trace::read(input.bytes),
                };
                trace.map_err(|error| ReadError::of_trace(&origin, &error))
            }
        }
    }
}

/// The formats that are known.
pub static FORMATS: &[Format] = &[
    Format {
        name: "fio",
        what: "a job file of fio",
        endings: &[".fio"],
        matches: fio::matches,
        level: Level::Files,
        reader: Reader::Programs(fio::read),
    },
    Format {
        name: "trace",
        what: "a recording in binary form",
        endings: &[".pctrace"],
        matches: |head| is_trace(head, Level::Files),
        level: Level::Files,
        reader: Reader::Trace,
    },
    Format {
        name: "csv",
        what: "a table of operations",
        endings: &[".csv"],
        matches: csv::matches,
        level: Level::Files,
        reader: Reader::Recording(csv::read),
    },
    Format {
        name: "strace",
        what: "system calls, by strace -f -ttt -T -y",
        endings: &[".strace"],
        matches: strace::matches,
        level: Level::Files,
        reader: Reader::Recording(strace::read),
    },
    Format {
        name: "iolog",
        what: "a log that fio writes with write_iolog",
        endings: &[".iolog"],
        matches: iolog::matches,
        level: Level::Files,
        reader: Reader::Recording(iolog::read),
    },
    Format {
        name: "pct",
        what: "a script that the test bed plays",
        endings: &[".pct"],
        matches: |_| false,
        level: Level::Files,
        reader: Reader::Recording(pct::read),
    },
    Format {
        name: "blkparse",
        what: "the text of blkparse, requests to a device",
        endings: &[".blkparse"],
        matches: blkparse::matches,
        level: Level::Blocks,
        reader: Reader::Recording(blkparse::read),
    },
    Format {
        name: "msr",
        what: "a block trace as those of MSR Cambridge",
        endings: &[],
        matches: table::matches_msr,
        level: Level::Blocks,
        reader: Reader::Recording(table::read_msr),
    },
    Format {
        name: "spc",
        what: "a block trace in the format of SPC",
        endings: &[".spc"],
        matches: table::matches_spc,
        level: Level::Blocks,
        reader: Reader::Recording(table::read_spc),
    },
    Format {
        name: "fiu",
        what: "a block trace as those of FIU",
        endings: &[],
        matches: table::matches_fiu,
        level: Level::Blocks,
        reader: Reader::Recording(table::read_fiu),
    },
    Format {
        name: "table",
        what: "a block trace as a table; --columns says which column is what",
        endings: &[],
        matches: |_| false,
        level: Level::Blocks,
        reader: Reader::Recording(table::read),
    },
    Format {
        name: "oracle",
        what: "libCacheSim's oracleGeneral, requests for objects",
        endings: &[".oracleGeneral", ".oracleGeneral.bin"],
        matches: |_| false,
        level: Level::Objects,
        reader: Reader::Recording(oracle::read),
    },
    Format {
        name: "block-trace",
        what: "a recording of a device in binary form",
        endings: &[],
        matches: |head| is_trace(head, Level::Blocks),
        level: Level::Blocks,
        reader: Reader::Trace,
    },
    Format {
        name: "object-trace",
        what: "a recording of objects in binary form",
        endings: &[],
        matches: |head| is_trace(head, Level::Objects),
        level: Level::Objects,
        reader: Reader::Trace,
    },
    Format {
        name: "wfformat",
        what: "a workflow of WfCommons, WfFormat 1.4 to 1.6",
        endings: &[".json"],
        matches: wfformat::matches,
        level: Level::Files,
        reader: Reader::Programs(wfformat::read),
    },
];

fn is_trace(head: &[u8], level: Level) -> bool {
    head.starts_with(&MAGIC) && head.get(LEVEL_AT) == Some(&(level as u8))
}

/// The format of a name.
#[must_use]
pub fn format_called(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format of a file, by its first bytes and then by how its name ends; `head` is already unpacked.
#[must_use]
pub fn format_of(name: &str, head: &[u8]) -> Option<&'static Format> {
    let name =
        ["gz", "zst"].iter().find_map(|packed| name.strip_suffix(packed)?.strip_suffix('.')).unwrap_or(name);
    let by_content = FORMATS.iter().find(|format| (format.matches)(head));
    by_content
        .or_else(|| FORMATS.iter().find(|format| format.endings.iter().any(|ending| name.ends_with(ending))))
}
