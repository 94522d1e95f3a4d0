//! Measures the cost of storage and page cache operations, for a calibration.
//!
//! Each file measures one thing on the [`Io`] it is given, and returns raw times; they are fitted elsewhere.
//!
//! - [`copies()`]: the page cache; [`mappings()`]: faults of a mapping; [`touches()`]: new memory.
//! - [`streams()`]: the device; [`syncs()`]: waiting for it.
//! - [`drain()`], [`beside()`] and [`fill()`]: write-back, and a writer beside it.
//! - [`memory()`] and [`stream_buffer()`]: the C library.
//!
//! A [`Session`] measures on real files, which are gone afterwards. Left out: depth from one thread (io_uring), memory of other nodes, and
//! reclaim, for which memory would have to be filled.

mod copies;
mod device;
mod library;
mod mappings;
#[cfg(test)]
mod mock;
mod session;
mod syncs;
mod together;
mod touches;
mod writeback;

use std::fs::File;
use std::io;
use std::num::NonZero;
use std::os::fd::AsFd;

use pagecast_core::units::Nanos;
use pagecast_core::workload::OpenFlag;

use crate::io::{Cause, Direction, Failure, Io, Memory, Open};

pub use copies::{Copies, Copying, copies};
pub use device::{Limits, Order, Stream, accepts_direct, streams};
pub use library::{memory, stream_buffer};
pub use mappings::{Mappings, mappings};
pub use session::Session;
pub use syncs::{Waiting, syncs};
pub use touches::{Touches, touches};
pub use writeback::{Beside, beside, cut, drain, fill, put};

/// Bytes that were moved, and how long it took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// The number.
    pub bytes: u64,
    /// With how many calls.
    pub calls: u64,
    /// From the beginning of the first call.
    pub time: Nanos,
    /// How much of that the thread was ready to run and had no processor.
    pub waited: Nanos,
    /// Time and bytes since the beginning, about as often as it was asked for.
    pub marks: Vec<(Nanos, u64)>,
}

/// The reasons for which a measurement has no result.
#[derive(Debug)]
pub enum Failed {
    /// Somebody wanted it to end.
    Stopped,
    /// The kernel's error.
    Kernel {
        /// The system call.
        doing: &'static str,
        /// Its answer.
        source: io::Error,
    },
}

impl Failed {
    fn of(direction: Direction) -> impl Fn(Failure) -> Self {
        move |failure| match failure.cause {
            Cause::Stopped => Self::Stopped,
            Cause::EndOfFile => {
                let source = io::Error::other("somebody made the file shorter meanwhile");
                Self::Kernel { doing: direction.name(), source }
            }
            Cause::Failed(source) => Self::Kernel { doing: direction.name(), source },
        }
    }
}

/// Says what was being done when the kernel refused.
fn doing<T>(doing: &'static str, answer: io::Result<T>) -> Result<T, Failed> {
    answer.map_err(|source| Failed::Kernel { doing, source })
}

/// How a file is opened that may have to be made.
fn make(flags: impl IntoIterator<Item = OpenFlag>) -> Open {
    Open { create: true, truncate: false, flags: flags.into_iter().collect() }
}

/// Time of the processor, and what the clock shows beyond.
#[derive(Clone, Copy, Debug)]
struct Spent {
    used: Nanos,
    waited: Nanos,
}

/// Both clocks of a thread at a moment.
struct Clock {
    now: Nanos,
    used: Nanos,
}

impl Clock {
    fn start<I: Io>(io: &I) -> Self {
        Self { now: io.now(), used: io.processor_time() }
    }

    fn stop<I: Io>(&self, io: &I) -> Spent {
        let used = io.processor_time() - self.used;
        let waited = Nanos((io.now() - self.now).0.saturating_sub(used.0));
        Spent { used, waited }
    }
}

/// Opens a new, empty file.
fn new_file<I: Io>(io: &I, path: &std::path::Path) -> Result<I::File, Failed> {
    doing("open", io.open(path, Open { truncate: true, ..make([]) }))
}

/// Memory whose bytes no device can make smaller.
fn random_memory(length: NonZero<u64>) -> Result<Memory, Failed> {
    let length = NonZero::new(length.get() as usize).expect("it is not 0");
    let mut memory = doing("mmap", Memory::new(length))?;
    memory.fill(0x5a);
    let Ok(source) = File::open("/dev/urandom") else { return Ok(memory) };
    let mut filled = 0;
    while filled < length.get() {
        match memory.read(source.as_fd(), filled, length.get() - filled, 0) {
            Ok(bytes) if bytes > 0 => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => break, // then it is not random, and all else is as well
        }
    }
    Ok(memory)
}
