//! Reads workloads that people have in other formats: fio jobs, system-call traces, workflows, block traces.
//!
//! A format is one file or folder here and a line in [`FORMATS`]. Its reader gets an [`Input`] and gives a [`Workload`]. It works out
//! every path by [`Placement`] once, so that the operations of its programs have paths of the machine. Recordings go through
//! [`crate::trace`]; job files and workflows make programs of their own.
//!
//! Left out: formats that only Python packages read (Darshan, Parquet); the package converts those before.

mod error;
pub mod fio;
mod input;
mod options;
mod placement;

pub use error::ReadError;
pub use input::Input;
pub use options::{Options, Pace, Replay, Surroundings};
pub use placement::Placement;

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
    pub read: fn(Input, &Options) -> Result<Workload, ReadError>,
}

/// What the requests of a workload are made to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Files, by their names: it can be run for real.
    #[default]
    Files,
    /// Sectors of a device.
    Blocks,
    /// Objects by number.
    Objects,
}

/// The formats that are known.
pub static FORMATS: &[Format] = &[fio::FORMAT];

/// The bytes at the start of a file that tell its format.
pub const HEAD_BYTES: usize = 4096;

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
