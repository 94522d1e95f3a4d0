//! Reads files into the page cache, and verifies it.
//!
//! Each piece is read, and the next one is asked for meanwhile (readahead(2)): reading waits until the pages are there and finds errors of
//! the device, which read-ahead alone would hide. Holes are left out, as they need no device.

use std::os::fd::AsFd;
use std::path::PathBuf;

use pagecast_core::units::Bytes;
use rustix::io::{Errno, pread};

use crate::cgroup::room_for_cache;
use crate::counters::MemoryCounters;
use crate::error::{ProbeError, Problem, Trouble};
use crate::filesystem::Kind;
use crate::residency::{FileResidency, OpenFile, Prober, Survey, survey};
use crate::syscall::readahead;
use crate::watch::{Interrupted, Pace, Watcher, for_each};

/// How much is asked for ahead of what is being read: enough to keep a fast device busy.
const AHEAD: u64 = 8 << 20;
const BUFFER: usize = 1 << 20;

/// How often a file is read while more of it stays each time: a kernel with DAMON takes pages out that nobody has touched for a while, also
/// of a file that is just being read.
const MOST_READS: u32 = 3;

/// One file that was to be in the cache.
#[derive(Clone, Debug)]
pub struct WarmedFile {
    /// The file and what was cached before.
    pub file: FileResidency,
    /// The bytes of it that are no holes.
    pub data: Bytes,
    /// The bytes of these cached after.
    pub after: Bytes,
}

impl WarmedFile {
    /// True if all of its data is in memory.
    #[must_use]
    pub fn is_warm(&self) -> bool {
        self.after >= self.data
    }
}

/// The result of warming.
#[derive(Debug, Default)]
pub struct Warming {
    /// Every file that was found.
    pub files: Vec<WarmedFile>,
    /// Files that could not be read.
    pub problems: Vec<Problem>,
    /// Files that were gone before their turn.
    pub vanished: u64,
}

/// Reads files into the page cache and says what of them is there.
///
/// # Errors
/// [`ProbeError::TooLarge`] before anything is read, and [`ProbeError::Interrupted`].
pub fn warm(files: &[PathBuf], prober: &Prober, watch: &mut Watcher<'_>) -> Result<Warming, ProbeError> {
    let Survey { files: found, problems, vanished, .. } = survey(files, prober, 0, watch)?;
    let missing: u64 = found.iter().map(missing).sum();
    let available = available()?;
    if missing > available.0 {
        return Err(ProbeError::TooLarge { wanted: Bytes(missing), available });
    }
    let read = for_each("reading", missing, &found, watch, |file, pace| one(file, prober, pace))?;
    let mut warming = Warming { problems, vanished, ..Warming::default() };
    for (file, answer) in found.into_iter().zip(read) {
        match answer {
            Ok((data, after)) => warming.files.push(WarmedFile { file, data, after }),
            Err(Trouble::Missing) => warming.vanished += 1,
            Err(trouble) => warming.problems.push(Problem { path: file.path, trouble }),
        }
    }
    Ok(warming)
}

/// How much more the page cache can hold, by the machine and by the cgroups that we are in.
///
/// # Errors
/// [`ProbeError::System`] if /proc/meminfo cannot be read.
pub fn available() -> Result<Bytes, ProbeError> {
    let machine = MemoryCounters::read()?.available;
    Ok(room_for_cache().map_or(machine, |room| room.min(machine)))
}

/// About how much of a file has to be read.
#[must_use]
pub fn missing(file: &FileResidency) -> u64 {
    file.size.min(file.allocated.max(file.residency.cached)).saturating_sub(file.residency.cached).0
}

/// Reads the data of one file unless it is there already; gives how much data there is and how much of it is cached.
fn one(
    file: &FileResidency,
    prober: &Prober,
    pace: &Pace,
) -> Result<Result<(Bytes, Bytes), Trouble>, Interrupted> {
    if file.residency.cached == file.size {
        return Ok(Ok((file.size, file.size)));
    }
    let open = match OpenFile::open(&file.path) {
        Ok(open) => open,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let data = open.data();
    let bytes: u64 = data.iter().map(|&(_, length)| length).sum();
    let mut share = missing(file) as f64 / (bytes as f64).max(1.0);
    let mut buffer = vec![0; BUFFER.min(open.size.0 as usize)];
    let mut before = Bytes::ZERO;
    for _ in 0..MOST_READS {
        for &(offset, length) in &data {
            let advance = |done| pace.advance((done as f64 * share) as u64);
            if let Err(trouble) = read(&open, offset, length, &mut buffer, advance)? {
                return Ok(Err(trouble));
            }
        }
        // Told once.
        share = 0.0;
        let cached = match cached_data(&open, file.file_system.kind, prober, &data, pace) {
            Ok(cached) => cached,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let has_grown = cached > before;
        before = cached;
        if cached.0 >= bytes || !has_grown {
            break;
        }
    }
    Ok(Ok((Bytes(bytes), before)))
}

/// Returns how much of the parts of a file is cached.
fn cached_data(
    open: &OpenFile,
    kind: Kind,
    prober: &Prober,
    data: &[(u64, u64)],
    pace: &Pace,
) -> Result<Bytes, Trouble> {
    data.iter().map(|&part| Ok(prober.range(open, kind, part, pace)?.cached)).sum()
}

/// Reads a part of a file, with the kernel reading ahead.
fn read(
    open: &OpenFile,
    offset: u64,
    length: u64,
    buffer: &mut [u8],
    mut advance: impl FnMut(u64) -> Result<(), Interrupted>,
) -> Result<Result<(), Trouble>, Interrupted> {
    let (end, mut asked, mut at) = (offset + length, offset, offset);
    while at < end {
        while asked < end && asked < at + 2 * AHEAD {
            // Where it is not supported, plain reading does.
            let _ = readahead(open.as_fd(), asked, AHEAD.min(end - asked) as usize);
            asked += AHEAD;
        }
        let want = buffer.len().min((end - at) as usize);
        match pread(open, &mut buffer[..want], at) {
            // The file became shorter.
            Ok(0) => return Ok(Err(Trouble::Truncated { from: open.size, to: open.size_now() })),
            Ok(got) => {
                at += got as u64;
                advance(got as u64)?;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Ok(Err(Trouble::new("read", error.into()))),
        }
    }
    Ok(Ok(()))
}
