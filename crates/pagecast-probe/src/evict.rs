//! Evicts files from the page cache, and verifies it.
//!
//! `POSIX_FADV_DONTNEED` drops clean pages that nobody has mapped, and leaves the others without a word (`invalidate_mapping_pages`,
//! mm/truncate.c). So dirty pages are written first, and the kernel is asked again for the rest. A file is written back in two steps, for
//! many files at once. First all write-backs are started, then each file is made durable (fdatasync); the first commit of the journal then
//! carries most of the others with it.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use pagecast_core::units::Bytes;
use rustix::fs::{Advice, fadvise, fdatasync};

use crate::error::{ProbeError, Problem, Trouble};
use crate::filesystem::Kind;
use crate::holders::{self, Holder};
use crate::residency::{FileResidency, OpenFile, Prober, Residency, Survey, survey};
use crate::syscall::write_range;
use crate::watch::{Interrupted, Pace, Watcher, for_each};

/// The bytes written back or dropped between two looks at the watcher.
const PIECE: u64 = 256 << 20;
const WRITE_PIECE: u64 = 16 << 20;
/// How often, and after what, dropping is tried again while pages are on their way to the device or in other processors' batches.
const RETRIES: [Duration; 3] =
    [Duration::from_millis(1), Duration::from_millis(10), Duration::from_millis(100)];

/// One file that was to leave the cache.
#[derive(Clone, Debug)]
pub struct EvictedFile {
    /// The file and what was cached before.
    pub file: FileResidency,
    /// What is cached after; nothing if that could not be told.
    pub after: Option<Residency>,
    /// The reasons for which pages stayed, as far as known.
    pub reasons: Vec<Reason>,
}

impl EvictedFile {
    /// True if the kernel says that nothing is cached.
    #[must_use]
    pub fn is_cold(&self) -> bool {
        self.after.is_some_and(|after| after.cached == Bytes::ZERO)
    }
}

/// A reason for which pages stayed in the cache.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Not written, because the caller did not want it or because somebody writes on.
    #[error("{0} are dirty: not yet written to the device")]
    Dirty(Bytes),
    /// On the way.
    #[error("{0} are under write-back")]
    Writeback(Bytes),
    /// A process has it mapped.
    #[error("mapped by {name} (process {pid})")]
    Mapped {
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// A process has it locked.
    #[error("locked in memory by {name} (process {pid})")]
    Locked {
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// The kernel swaps to it.
    #[error("in use as swap")]
    Swap,
    /// A loop device stands on it.
    #[error("in use by the loop device {0}")]
    Loop(String),
    /// The file system has nowhere else to keep it.
    #[error("{0} keeps its files in memory only")]
    MemoryOnly(String),
    /// The file system need not follow the hint.
    #[error("{0} need not follow the hint to drop pages")]
    FileSystem(String),
    /// Nothing was found.
    #[error("in use: read again meanwhile, mapped by a process of another user, or held by the kernel")]
    Unknown,
}

/// The result of an eviction.
#[derive(Debug, Default)]
pub struct Eviction {
    /// Every file that was found.
    pub files: Vec<EvictedFile>,
    /// Files that could not be looked at or written.
    pub problems: Vec<Problem>,
    /// Files that were gone before their turn.
    pub vanished: u64,
}

/// Drops files from the page cache and says what stayed. With `sync`, their dirty data is made durable first.
///
/// # Errors
/// [`ProbeError::Interrupted`]; files done until then are done.
pub fn evict(
    files: &[PathBuf],
    prober: &Prober,
    sync: bool,
    watch: &mut Watcher<'_>,
) -> Result<Eviction, ProbeError> {
    let Survey { files: found, mut problems, vanished, .. } = survey(files, prober, 0, watch)?;
    // How long a file is does not matter here.
    problems.retain(|problem| !matches!(problem.trouble, Trouble::Truncated { .. }));
    let (unseen, mut problems): (Vec<_>, Vec<_>) =
        problems.into_iter().partition(|problem| matches!(problem.trouble, Trouble::NotTold));
    problems.extend(drop_unseen(unseen, sync, watch)?);
    if sync {
        problems.extend(make_durable(&found, watch)?);
    }
    let (cached, cold): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|file| file.residency.cached > Bytes::ZERO);
    let bytes = cached.iter().map(|file| file.residency.cached.0).sum();
    let dropped = for_each("evicting", bytes, &cached, watch, |file, pace| drop_file(file, prober, pace))?;
    let mut eviction = Eviction { files: Vec::with_capacity(cached.len() + cold.len()), problems, vanished };
    for (file, after) in cached.into_iter().zip(dropped) {
        let after = match after {
            Ok(after) => Some(after),
            Err(Trouble::Missing) => {
                eviction.vanished += 1;
                continue;
            }
            Err(trouble) => {
                eviction.problems.push(Problem { path: file.path.clone(), trouble });
                None
            }
        };
        eviction.files.push(EvictedFile { file, after, reasons: vec![] });
    }
    let cold =
        cold.into_iter().map(|file| EvictedFile { after: Some(file.residency), file, reasons: vec![] });
    eviction.files.extend(cold);
    explain(&mut eviction.files);
    Ok(eviction)
}

/// Writes what is dirty, in two steps for all files together; gives the files where that failed.
fn make_durable(files: &[FileResidency], watch: &mut Watcher<'_>) -> Result<Vec<Problem>, ProbeError> {
    let is_written = |file: &&FileResidency| {
        file.residency.cached > Bytes::ZERO
            && !file.residency.is_clean()
            && file.file_system.kind != Kind::Memory
    };
    let dirty: Vec<&FileResidency> = files.iter().filter(is_written).collect();
    let bytes = dirty.iter().map(|file| to_write(file)).sum();
    for_each("writing back", bytes, &dirty, watch, |file, pace| write_back(file, pace))?;
    let synced = for_each("making durable", dirty.len() as u64, &dirty, watch, |file, pace| {
        let synced = OpenFile::open(&file.path)
            .and_then(|open| fdatasync(&open).map_err(|error| Trouble::NotDurable(error.into())));
        pace.advance(1)?;
        Ok(synced)
    })?;
    let failed = dirty.iter().zip(synced).filter_map(|(file, synced)| match synced {
        Ok(()) | Err(Trouble::Missing) => None,
        Err(trouble) => Some(Problem { path: file.path.clone(), trouble }),
    });
    Ok(failed.collect())
}

fn to_write(file: &FileResidency) -> u64 {
    file.residency.state.map_or(file.residency.cached, |state| state.dirty + state.writeback).0
}

/// Starts the write-back of a file; of a large one it also waits, piece by piece, so that it can be followed and stopped.
/// Whether it works is found out by the fdatasync that comes after.
fn write_back(file: &FileResidency, pace: &Pace) -> Result<(), Interrupted> {
    let Ok(open) = OpenFile::open(&file.path) else { return Ok(()) };
    let (size, share) = (open.size.0, to_write(file) as f64 / open.size.as_f64().max(1.0));
    for offset in (0..size).step_by(WRITE_PIECE as usize) {
        let length = WRITE_PIECE.min(size - offset);
        let _ = write_range(open.as_fd(), offset, length, false);
        if let Some(before) = offset.checked_sub(WRITE_PIECE) {
            let _ = write_range(open.as_fd(), before, WRITE_PIECE, true);
        }
        pace.advance((length as f64 * share) as u64)?;
    }
    Ok(())
}

/// Drops files of others, of which the kernel does not tell us what is cached.
fn drop_unseen(
    unseen: Vec<Problem>,
    sync: bool,
    watch: &mut Watcher<'_>,
) -> Result<Vec<Problem>, ProbeError> {
    let dropped = for_each("evicting", 0, &unseen, watch, |problem, pace| {
        pace.advance(0)?;
        let dropped = OpenFile::open(&problem.path).and_then(|open| {
            if sync {
                fdatasync(&open).map_err(|error| Trouble::NotDurable(error.into()))?;
            }
            fadvise(&open, 0, None, Advice::DontNeed).map_err(|error| Trouble::new("fadvise", error.into()))
        });
        Ok(dropped.err().unwrap_or(Trouble::NotVerified))
    })?;
    let problems = unseen.into_iter().zip(dropped);
    Ok(problems.map(|(problem, trouble)| Problem { path: problem.path, trouble }).collect())
}

/// Drops a file and gives what is left of it.
fn drop_file(
    file: &FileResidency,
    prober: &Prober,
    pace: &Pace,
) -> Result<Result<Residency, Trouble>, Interrupted> {
    let open = match OpenFile::open(&file.path) {
        Ok(open) => open,
        Err(trouble) => return Ok(Err(trouble)),
    };
    // Folios that lie across the edge of a piece are left for the last call, which is about the whole file.
    let pieces = open.size.0 / PIECE;
    for piece in 0..pieces {
        let length = std::num::NonZero::new(PIECE);
        let _ = fadvise(&open, piece * PIECE, length, Advice::DontNeed);
        pace.advance(file.residency.cached.0 / (pieces + 1))?;
    }
    let dropped = drop_whole(&open, file.file_system.kind, prober, pace);
    pace.advance(file.residency.cached.0 - pieces * (file.residency.cached.0 / (pieces + 1)))?;
    Ok(dropped)
}

fn drop_whole(open: &OpenFile, kind: Kind, prober: &Prober, pace: &Pace) -> Result<Residency, Trouble> {
    let drop_and_look = || {
        fadvise(open, 0, None, Advice::DontNeed).map_err(|error| Trouble::new("fadvise", error.into()))?;
        prober.whole(open, kind, pace)
    };
    let mut after = drop_and_look()?;
    for pause in RETRIES {
        let may_help = kind != Kind::Memory && after.state.is_none_or(|state| state.dirty == Bytes::ZERO);
        if after.cached == Bytes::ZERO || !may_help {
            break;
        }
        thread::sleep(pause);
        after = drop_and_look()?;
    }
    Ok(after)
}

/// Finds out why pages stayed.
fn explain(files: &mut [EvictedFile]) {
    let stayed = |file: &EvictedFile| file.after.is_some_and(|after| after.cached > Bytes::ZERO);
    let ids: Vec<_> = files.iter().filter(|file| stayed(file)).map(|file| file.file.id).collect();
    let holders = holders::find(&ids);
    for file in files.iter_mut().filter(|file| stayed(file)) {
        let after = file.after.unwrap_or_default();
        file.reasons = reasons(&file.file, after, &holders[&file.file.id]);
    }
}

fn reasons(file: &FileResidency, after: Residency, holders: &[Holder]) -> Vec<Reason> {
    let system = &file.file_system;
    if system.kind == Kind::Memory {
        return vec![Reason::MemoryOnly(system.type_name.clone())];
    }
    let mut reasons = Vec::new();
    if let Some(state) = after.state {
        reasons.extend((state.dirty > Bytes::ZERO).then_some(Reason::Dirty(state.dirty)));
        reasons.extend((state.writeback > Bytes::ZERO).then_some(Reason::Writeback(state.writeback)));
    }
    reasons.extend(holders.iter().cloned().map(|holder| match holder {
        Holder::Process { pid, name, is_locked: true } => Reason::Locked { pid, name },
        Holder::Process { pid, name, is_locked: false } => Reason::Mapped { pid, name },
        Holder::Swap => Reason::Swap,
        Holder::Loop(device) => Reason::Loop(device),
    }));
    if reasons.is_empty() {
        reasons.push(match system.kind {
            Kind::Disk => Reason::Unknown,
            _ => Reason::FileSystem(system.type_name.clone()),
        });
    }
    reasons
}
