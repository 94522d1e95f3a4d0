//! Makes the files of a scenario as they are to be at time 0, with real bytes on the device, cold, cached or dirty; and verifies it.

use std::io;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use pagecast_core::units::Bytes;
use pagecast_core::workload::Advice;
use rustix::fs::syncfs;

use super::error::RunError;
use super::names::{Initial, NamedFile};
use super::plan::Plan;
use super::views::Views;
use crate::error::{ProbeError, Trouble};
use crate::evict::{EvictedFile, evict};
use crate::filesystem::Kind;
use crate::io::{Cause, Direction, Folder, Io, Memory, Offsets, Open, Times, Transfer, transfer};
use crate::residency::{OpenFile, Prober};
use crate::watch::{Interrupted, Pace, Watcher, for_each};

/// The bytes written or read between two looks at the watcher.
const PIECE: u64 = 16 << 20;
/// The size of one call.
const CALL: NonZero<u64> = NonZero::new(1 << 20).expect("it is not 0");
const BUFFER: NonZero<usize> = NonZero::new(1 << 20).expect("it is not 0");
/// How often what was to be cached is read again if the kernel has dropped it meanwhile.
const TRIES: u32 = 5;

/// Makes all files, and brings what is cached of them to what the scenario says.
///
/// # Errors
/// [`RunError`] if that is not possible, or not to be kept.
pub(super) fn prepare(
    plan: &Plan,
    views: &Views,
    prober: &Prober,
    watch: &mut Watcher<'_>,
) -> Result<(), RunError> {
    for (host, path) in plan.folders() {
        let folder = views.folder(host);
        folder.make_folders(&path).map_err(|error| trouble(folder.path(), "mkdir", error))?;
        plan.names.imply(&path);
    }
    let named = plan.names.all();
    let files: Vec<There<'_>> =
        named.iter().filter_map(|file| Some(There { file, initial: file.initial? })).collect();
    let size = |there: &Initial| Some(there.size);
    let cached = |there: &Initial| Some(there.cached).filter(|&bytes| bytes > Bytes::ZERO);
    let dirty = |there: &Initial| Some(there.dirty).filter(|&bytes| bytes > Bytes::ZERO);
    for_each_file("writing files", &files, size, watch, |file, bytes, memory, pace| {
        fill(views.folder(file.host), file, bytes, memory, pace)
    })?;
    // What the file system still has to do for them is not to be part of the run.
    let sync = || {
        let all = views.folders();
        all.map(|folder| syncfs(folder).map_err(|error| trouble(folder.path(), "syncfs", error.into())))
            .collect::<Result<(), RunError>>()
    };
    if views.folders().count() > 1 {
        sync()?; // what one host has written another may have in its cache
    }
    evict_all(&files, views, prober, watch)?;
    sync()?;
    for_each_file("reading", &files, cached, watch, |file, bytes, memory, pace| {
        let (folder, kind) = (views.folder(file.host), views.kind(file.host));
        read_in(folder, file, (bytes, kind), prober, (memory, pace))
    })?;
    for_each_file("writing files", &files, dirty, watch, |file, bytes, memory, pace| {
        fill(views.folder(file.host), file, bytes, memory, pace)
    })
}

/// A file that exists before time 0.
struct There<'a> {
    file: &'a NamedFile,
    initial: Initial,
}

/// An answer of work that may be interrupted.
type Outcome<T> = Result<Result<T, RunError>, Interrupted>;

/// Does `act` to one file after the other, if `amount` says of how many bytes, with a buffer.
fn for_each_file(
    stage: &'static str,
    files: &[There<'_>],
    amount: impl Fn(&Initial) -> Option<Bytes> + std::marker::Sync,
    watch: &mut Watcher<'_>,
    act: impl Fn(&NamedFile, u64, &mut Memory, &Pace) -> Outcome<()> + std::marker::Sync,
) -> Result<(), RunError> {
    let total = files.iter().filter_map(|there| amount(&there.initial)).map(|bytes| bytes.0).sum();
    let one_by_one = |(): &(), pace: &Pace| {
        let mut memory = match Memory::new(BUFFER) {
            Ok(memory) => memory,
            Err(error) => return Ok(Err(trouble(Path::new("memory"), "mmap", error))),
        };
        memory.fill_with_noise();
        for There { file, initial } in files {
            let Some(bytes) = amount(initial) else { continue };
            if let Err(error) = act(file, bytes.0, &mut memory, pace)? {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    };
    for_each(stage, total, &[()], watch, one_by_one)?.into_iter().collect()
}

/// Writes the first bytes of a file, and makes it if it is not there.
fn fill(folder: &Folder, file: &NamedFile, bytes: u64, memory: &mut Memory, pace: &Pace) -> Outcome<()> {
    let failed = |error| trouble(&place(folder, file), "write", error);
    let open = match folder.open(&file.within, Open { create: true, ..Open::default() }) {
        Ok(open) => open,
        Err(error) => return Ok(Err(failed(error))),
    };
    Ok(in_pieces(folder, &open, Direction::Write, bytes, memory, pace)?.map_err(failed))
}

/// Reads the first bytes of a file, and none after them, into the page cache.
fn read_in(
    folder: &Folder,
    file: &NamedFile,
    (bytes, kind): (u64, Kind),
    prober: &Prober,
    (memory, pace): (&mut Memory, &Pace),
) -> Outcome<()> {
    let failed = |error| trouble(&place(folder, file), "read", error);
    let mut cached = Bytes::ZERO;
    for _ in 0..TRIES {
        let opened = folder.open(&file.within, Open::default());
        // So that nothing is read ahead.
        let ready = opened.and_then(|open| folder.advise(&open, Advice::Random, 0, 0).map(|()| open));
        let open = match ready {
            Ok(open) => open,
            Err(error) => return Ok(Err(failed(error))),
        };
        if let Err(error) = in_pieces(folder, &open, Direction::Read, bytes, memory, pace)? {
            return Ok(Err(failed(error)));
        }
        let looked = OpenFile::open(&folder.sure_path().join(&file.within))
            .and_then(|open| prober.range(&open, kind, (0, bytes), pace));
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

/// Moves the first bytes of a file, with a look at the watcher now and then.
fn in_pieces(
    folder: &Folder,
    open: &OwnedFd,
    direction: Direction,
    bytes: u64,
    memory: &mut Memory,
    pace: &Pace,
) -> Result<io::Result<()>, Interrupted> {
    let mut times = Times::of_whole();
    for offset in (0..bytes).step_by(PIECE as usize) {
        let piece = PIECE.min(bytes - offset);
        let offsets = Offsets::From(offset);
        let what = Transfer { direction, offsets, bytes: piece, call: CALL, spreads: false };
        if let Err(failure) = transfer(folder, open, &what, memory, &mut times, pace.stop()) {
            return match failure.cause {
                Cause::Failed(error) => Ok(Err(error)),
                Cause::EndOfFile => Ok(Err(io::ErrorKind::UnexpectedEof.into())),
                Cause::Stopped => Err(Interrupted),
            };
        }
        pace.advance(piece)?;
    }
    Ok(Ok(()))
}

/// Takes all files out of the page caches of all hosts that have them, and refuses to go on if one stays.
fn evict_all(
    files: &[There<'_>],
    views: &Views,
    prober: &Prober,
    watch: &mut Watcher<'_>,
) -> Result<(), RunError> {
    let seen = files.iter().flat_map(|there| {
        let folders = views.showing(there.file.host);
        folders.map(move |(_, folder, _)| (folder.sure_path().join(&there.file.within), (there, folder)))
    });
    let (paths, of): (Vec<PathBuf>, Vec<_>) = seen.unzip();
    let found = |path: &Path| of[paths.iter().position(|one| one == path).expect("it was one of them")];
    let outcome = evict(&paths, prober, true, watch)?;
    if let Some(problem) = outcome.problems.into_iter().next() {
        let (there, folder) = found(&problem.path);
        return Err(ProbeError::Path { path: place(folder, there.file), trouble: problem.trouble }.into());
    }
    let Some(warm) = outcome.files.iter().find(|file| !file.is_cold()) else { return Ok(()) };
    let (there, _) = found(&warm.file.path);
    Err(RunError::NotReady { path: there.file.path.clone(), what: why_warm(warm) })
}

fn why_warm(file: &EvictedFile) -> String {
    let reasons: Vec<String> = file.reasons.iter().map(ToString::to_string).collect();
    let stayed = file.after.map_or(Bytes::ZERO, |after| after.cached);
    format!(
        "is to be cold at time 0, and {stayed} of it stay in the page cache ({}); name a directory on a disk",
        reasons.join("; ")
    )
}

/// Returns the path of a file, for messages.
fn place(folder: &Folder, file: &NamedFile) -> PathBuf {
    folder.path().join(&file.within)
}

fn trouble(path: &Path, doing: &'static str, error: io::Error) -> RunError {
    ProbeError::Path { path: path.to_owned(), trouble: Trouble::new(doing, error) }.into()
}
