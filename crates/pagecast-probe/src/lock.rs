//! Holds files in memory as long as the caller wants: mapped and locked with mlock(2).

use std::fs;
use std::num::NonZero;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use pagecast_core::units::Bytes;
use rustc_hash::FxHashSet;
use rustix::process::{Resource, getrlimit};
use rustix::thread::CapabilitySet;

use crate::error::{ProbeError, Problem, Trouble};
use crate::residency::has_capability;
use crate::residency::{OpenFile, Prober, page_size};
use crate::syscall::Mapping;
use crate::warm::{Warming, warm};
use crate::watch::{Interrupted, Pace, Watcher, for_each};

/// The bytes locked between two looks at the watcher.
const PIECE: usize = 64 << 20;
/// What the rest of a program needs: libraries, stacks, heaps.
const OTHER_MAPPINGS: usize = 2000;
/// The kernel's default (`DEFAULT_MAX_MAP_COUNT`, include/linux/mm.h).
const USUAL_MAX_MAP_COUNT: usize = 65_530;

/// Files that stay in memory until this is dropped.
#[derive(Debug)]
pub struct Lock {
    mappings: Vec<Mapping>,
}

impl Lock {
    /// The bytes locked, in whole pages.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        let page = page_size() as usize;
        Bytes(self.mappings.iter().map(|mapping| mapping.length().next_multiple_of(page) as u64).sum())
    }
}

/// The memory that may be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// RLIMIT_MEMLOCK; nothing if this process may lock all that it wants.
    pub limit: Option<Bytes>,
}

impl Allowance {
    /// Returns how much this process may lock (`can_do_mlock`, mm/mlock.c).
    #[must_use]
    pub fn own() -> Self {
        match has_capability(CapabilitySet::IPC_LOCK) {
            true => Self { limit: None },
            false => Self { limit: getrlimit(Resource::Memlock).current.map(Bytes) },
        }
    }

    /// Checks that `wanted` bytes may be locked.
    ///
    /// # Errors
    /// [`ProbeError::LockLimit`].
    pub fn check(self, wanted: Bytes) -> Result<(), ProbeError> {
        match self.limit {
            Some(limit) if wanted > limit => Err(ProbeError::LockLimit { wanted, limit }),
            _ => Ok(()),
        }
    }
}

/// How much locking some files takes: their data in whole pages, each file once.
#[must_use]
pub fn needed(files: &[PathBuf]) -> Bytes {
    let mut seen = FxHashSet::default();
    let open = files.iter().filter_map(|path| OpenFile::open(path).ok());
    let parts = open.filter(|open| seen.insert(open.id)).flat_map(|open| open.data());
    Bytes(parts.map(|(_, length)| length.next_multiple_of(page_size())).sum())
}

/// Reads files into memory and locks them there.
///
/// # Errors
/// [`ProbeError::LockLimit`], [`ProbeError::TooManyMappings`] and [`ProbeError::TooLarge`] before anything is read, and
/// [`ProbeError::Interrupted`].
pub fn lock(
    files: &[PathBuf],
    prober: &Prober,
    watch: &mut Watcher<'_>,
) -> Result<(Lock, Warming), ProbeError> {
    Allowance::own().check(needed(files))?;
    let limit =
        fs::read_to_string("/proc/sys/vm/max_map_count").ok().and_then(|text| text.trim().parse().ok());
    let limit = limit.unwrap_or(USUAL_MAX_MAP_COUNT);
    if files.len() + OTHER_MAPPINGS > limit {
        return Err(ProbeError::TooManyMappings { wanted: files.len(), limit });
    }
    let mut warming = warm(files, prober, watch)?;
    let bytes = warming.files.iter().map(|file| file.data.0).sum();
    let locked = for_each("locking", bytes, &warming.files, watch, |file, pace| one(&file.file.path, pace))?;
    let mut mappings = Vec::new();
    for (file, answer) in warming.files.iter().zip(locked) {
        match answer {
            Ok(parts) => mappings.extend(parts),
            Err(trouble) => warming.problems.push(Problem { path: file.file.path.clone(), trouble }),
        }
    }
    Ok((Lock { mappings }, warming))
}

fn one(path: &Path, pace: &Pace) -> Result<Result<Vec<Mapping>, Trouble>, Interrupted> {
    let open = match OpenFile::open(path) {
        Ok(open) => open,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let mut mappings = Vec::new();
    for (offset, length) in open.data() {
        let length = NonZero::new(length as usize).expect("a part of a file is not empty");
        let mapping = match Mapping::new(open.as_fd(), offset, length) {
            Ok(mapping) => mapping,
            Err(error) => return Ok(Err(Trouble::new("mmap", error))),
        };
        for from in (0..length.get()).step_by(PIECE) {
            let piece = PIECE.min(length.get() - from);
            if let Err(error) = mapping.lock(from, piece) {
                let to = open.size_now();
                return Ok(Err(match to < open.size {
                    true => Trouble::Truncated { from: open.size, to },
                    false => Trouble::new("mlock", error),
                }));
            }
            pace.advance(piece as u64)?;
        }
        mappings.push(mapping);
    }
    Ok(Ok(mappings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limit_limits() {
        assert!(Allowance { limit: None }.check(Bytes(u64::MAX)).is_ok());
        assert!(Allowance { limit: Some(Bytes(8192)) }.check(Bytes(8192)).is_ok());
        let error = Allowance { limit: Some(Bytes(8192)) }.check(Bytes(8193)).unwrap_err().to_string();
        assert!(
            error.starts_with("locking 8.19 kB needs a larger limit: RLIMIT_MEMLOCK is 8.19 kB; raise it")
        );
    }
}
