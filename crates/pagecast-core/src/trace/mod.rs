//! Keeps a recorded workload in a compact binary form, so that memory does not grow with its length.
//!
//! A reader of another format pushes records into a [`Writer`], in any order of processes; a [`Trace`] gives the program of each process
//! with a cursor of its own, any number of times. A short recording stays in memory, a long one goes into a file without a name, in the
//! directory of TMPDIR. `pagecast convert` keeps the same bytes as a file.
//!
//! The file (all numbers little-endian; `varint` is LEB128, 7 bits a byte, low ones first):
//!
//! ```text
//! header   64 bytes: magic, version, byte order, level, place and length of the tables, length of the file, records, two CRC-32
//! blocks   24 bytes of header (process, bytes, records, CRC-32 of the rest, place of the next block of the process), then records
//! tables   paths, events, files that exist before, processes with the place of their first block, notes
//! ```
//!
//! A process's blocks are a chain that only goes forward, so one pass over the file checks all of them. A record holds what differs from
//! the record before it in its process; `code` says how.
//!
//! Left out: names of hosts and cgroups, and initial content of the page cache. A recording has none of them.

mod block;
mod code;
mod cursor;
mod decode;
mod encode;
mod error;
mod header;
mod inner;
mod intern;
mod merge;
mod object_lru;
mod open;
mod program;
mod record;
mod requests;
mod sizes;
mod store;
mod tables;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod varint;
mod writer;

pub use error::TraceError;
pub use header::{LEVEL_AT, Level, MAGIC, VERSION};
pub use merge::Merged;
pub use object_lru::{ObjectHits, object_lru};
pub use open::Trace;
pub use program::Timing;
pub(crate) use program::least_of;
pub use record::Record;
pub use requests::{Done, FileRequest, Requests};
pub use writer::Writer;
