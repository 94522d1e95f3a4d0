//! Reads workloads that people have in other formats: fio jobs, system-call traces, workflows, block traces.
//!
//! A format is one file or folder here and a line in [`FORMATS`]. A recording pushes its operations into a
//! [`Writer`](crate::trace::Writer), with the paths that it has. Job files and workflows make programs of their own; they give every path
//! its place by [`Placement`] once.
//!
//! Left out: formats that only Python packages read (Darshan, Parquet); the package converts those before.

mod blkparse;
pub mod csv;
mod decimal;
mod error;
pub mod fio;
mod formats;
mod input;
mod iolog;
mod lenient;
mod lines;
mod options;
mod oracle;
mod pct;
mod placement;
mod requests;
pub mod row;
mod strace;
mod table;
#[cfg(test)]
mod testing;
mod wfformat;

pub use error::ReadError;
pub use formats::{FORMATS, Format, Reader, format_called, format_of};
pub use input::{HEAD_BYTES, Input};
pub use options::{Compute, ListOrder, Options, Pace, Replay, Strace, Surroundings, Workflow};
pub use placement::Placement;

pub use crate::trace::Level;
