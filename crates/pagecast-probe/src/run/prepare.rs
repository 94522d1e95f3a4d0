//! The files of a scenario as they are to be at time 0: with real bytes on the device, cold, cached or dirty, and looked at whether
//! they are.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use pagecast_core::units::Bytes;
use pagecast_core::workload::Advice;
use rustix::fs::syncfs;

use super::error::RunError;
use super::plan::{Plan, PlannedFile};
use crate::error::{ProbeError, Trouble};
use crate::evict::{EvictedFile, evict};
use crate::filesystem::Kind;
use crate::io::{Cause, Direction, Folder, Io, Memory, Offsets, Open, Sync, Times, Transfer, transfer};
use crate::residency::{OpenFile, Prober};
use crate::watch::{Interrupted, Pace, Watcher, for_each};

/// What is written or read between two looks at the watcher.
const PIECE: u64 = 16 << 20;
/// The size of one call.
const CALL: NonZero<u64> = NonZero::new(1 << 20).expect("it is not 0");
/// How often what was to be cached is read again if the kernel has dropped it meanwhile.
const TRIES: u32 = 5;

/// Makes all files, and brings what is cached of them to what the scenario says.
///
/// # Errors
/// [`RunError`] if that is not possible, or not to be kept.
pub(super) fn prepare(
    plan: &Plan,
    folder: &Folder,
    kind: Kind,
    prober: &Prober,
    watch: &mut Watcher<'_>,
) -> Result<(), RunError> {
    let made = |error: std::io::Error| trouble(folder.path(), "mkdir", error);
    for file in &plan.files {
        folder.make_folders(file.within.parent().unwrap_or(Path::new(""))).map_err(made)?;
    }
    let files: Vec<(&PlannedFile, [u64; 3])> = plan
        .files
        .iter()
        .filter_map(|file| file.initial.map(|(size, cached, dirty)| (file, [size.0, cached.0, dirty.0])))
        .collect();
    for_each_file("writing files", &files, 0, watch, |file, size, pace| {
        fill(folder, file, size, true, pace)
    })?;
    evict_all(&files, folder, prober, watch)?;
    // What the file system still has to do for them is not to be part of the run.
    syncfs(folder).map_err(|error| trouble(folder.path(), "syncfs", error.into()))?;
    for_each_file("reading", &files, 1, watch, |file, cached, pace| {
        read_in(folder, file, (cached, kind), prober, pace)
    })?;
    for_each_file("writing files", &files, 2, watch, |file, dirty, pace| {
        fill(folder, file, dirty, false, pace)
    })
}

/// Does `act` to one file after the other, with the number of bytes that `which` of its three sizes says, unless that is 0.
fn for_each_file(
    stage: &'static str,
    files: &[(&PlannedFile, [u64; 3])],
    which: usize,
    watch: &mut Watcher<'_>,
    act: impl Fn(&PlannedFile, u64, &Pace) -> Result<Result<(), RunError>, Interrupted> + std::marker::Sync,
) -> Result<(), RunError> {
    let total = files.iter().map(|(_, sizes)| sizes[which]).sum();
    let one_by_one = |(): &(), pace: &Pace| {
        for (file, sizes) in files.iter().filter(|(_, sizes)| which == 0 || sizes[which] > 0) {
            if let Err(error) = act(file, sizes[which], pace)? {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    };
    for_each(stage, total, &[()], watch, one_by_one)?.into_iter().collect()
}

/// Writes the first bytes of a file; if it is new, they are on the device afterwards.
fn fill(
    folder: &Folder,
    file: &PlannedFile,
    bytes: u64,
    is_new: bool,
    pace: &Pace,
) -> Result<Result<(), RunError>, Interrupted> {
    let failed = |error| trouble(&place(folder, file), "write", error);
    let mut memory = match buffer() {
        Ok(memory) => memory,
        Err(error) => return Ok(Err(failed(error))),
    };
    memory.fill_with_noise();
    let open = match folder.open(&file.within, Open { create: is_new, ..Open::default() }) {
        Ok(open) => open,
        Err(error) => return Ok(Err(failed(error))),
    };
    if let Err(cause) = in_pieces(folder, &open, Direction::Write, bytes, &mut memory, pace)? {
        return Ok(Err(failed(cause)));
    }
    let synced = if is_new { folder.sync(&open, Sync::File) } else { Ok(()) };
    Ok(synced.map_err(failed))
}

/// Reads the first bytes of a file, and none after them, into the page cache.
fn read_in(
    folder: &Folder,
    file: &PlannedFile,
    (bytes, kind): (u64, Kind),
    prober: &Prober,
    pace: &Pace,
) -> Result<Result<(), RunError>, Interrupted> {
    let failed = |error| trouble(&place(folder, file), "read", error);
    let mut cached = Bytes::ZERO;
    for _ in 0..TRIES {
        let read = || -> std::io::Result<_> {
            let open = folder.open(&file.within, Open::default())?;
            // So that nothing is read ahead.
            folder.advise(&open, Advice::Random, 0, 0)?;
            Ok((open, buffer()?))
        };
        let (open, mut memory) = match read() {
            Ok(ready) => ready,
            Err(error) => return Ok(Err(failed(error))),
        };
        if let Err(error) = in_pieces(folder, &open, Direction::Read, bytes, &mut memory, pace)? {
            return Ok(Err(failed(error)));
        }
        let looked =
            OpenFile::open(&place(folder, file)).and_then(|open| prober.range(&open, kind, (0, bytes), pace));
        cached = match looked {
            Ok(residency) => residency.cached,
            Err(trouble) => {
                return Ok(Err(ProbeError::Path { path: place(folder, file), trouble }.into()));
            }
        };
        if cached.0 >= bytes {
            return Ok(Ok(()));
        }
    }
    let what = format!(
        "{} of it are to be cached at time 0, and the kernel keeps {cached}: other programs need the memory, or something \
         takes page cache back; let less be cached, or try again",
        Bytes(bytes)
    );
    Ok(Err(RunError::NotReady { path: file.path.clone(), what }))
}

fn buffer() -> std::io::Result<Memory> {
    let mut memory = Memory::new(NonZero::new(CALL.get() as usize).expect("a call is not empty"))?;
    memory.fill(1);
    Ok(memory)
}

/// Moves the first bytes of a file, with a look at the watcher now and then.
fn in_pieces(
    folder: &Folder,
    open: &std::os::fd::OwnedFd,
    direction: Direction,
    bytes: u64,
    memory: &mut Memory,
    pace: &Pace,
) -> Result<std::io::Result<()>, Interrupted> {
    let (go_on, mut times) = (AtomicBool::new(false), Times::of_whole());
    for offset in (0..bytes).step_by(PIECE as usize) {
        let piece = PIECE.min(bytes - offset);
        let offsets = Offsets::From(offset);
        let what = Transfer { direction, offsets, bytes: piece, call: CALL, spreads: false };
        if let Err(failure) = transfer(folder, open, &what, memory, &mut times, &go_on) {
            return Ok(Err(match failure.cause {
                Cause::Failed(error) => error,
                Cause::EndOfFile | Cause::Stopped => std::io::ErrorKind::UnexpectedEof.into(),
            }));
        }
        pace.advance(piece)?;
    }
    Ok(Ok(()))
}

/// Takes all files out of the page cache, and refuses to go on if one stays.
fn evict_all(
    files: &[(&PlannedFile, [u64; 3])],
    folder: &Folder,
    prober: &Prober,
    watch: &mut Watcher<'_>,
) -> Result<(), RunError> {
    let sure = folder.sure_path();
    let paths: Vec<PathBuf> = files.iter().map(|(file, _)| sure.join(&file.within)).collect();
    let outcome = evict(&paths, prober, true, watch)?;
    if let Some(problem) = outcome.problems.into_iter().next() {
        let within = problem.path.strip_prefix(&sure).unwrap_or(&problem.path);
        let path = folder.path().join(within);
        return Err(ProbeError::Path { path, trouble: problem.trouble }.into());
    }
    let Some(warm) = outcome.files.iter().find(|file| !file.is_cold()) else { return Ok(()) };
    let within = warm.file.path.strip_prefix(&sure).unwrap_or(&warm.file.path);
    let (file, _) = files.iter().find(|(file, _)| file.within == within).expect("it was one of them");
    Err(RunError::NotReady { path: file.path.clone(), what: why_warm(warm) })
}

fn why_warm(file: &EvictedFile) -> String {
    let reasons: Vec<String> = file.reasons.iter().map(ToString::to_string).collect();
    let stayed = file.after.map_or(Bytes::ZERO, |after| after.cached);
    format!(
        "is to be cold at time 0, and {stayed} of it stay in the page cache ({}); name a directory on a disk",
        reasons.join("; ")
    )
}

/// Where a file is, for messages.
fn place(folder: &Folder, file: &PlannedFile) -> PathBuf {
    folder.path().join(&file.within)
}

fn trouble(path: &Path, doing: &'static str, error: std::io::Error) -> RunError {
    ProbeError::Path { path: path.to_owned(), trouble: Trouble::new(doing, error) }.into()
}
