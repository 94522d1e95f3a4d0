//! Drops the whole page cache of the machine (`/proc/sys/vm/drop_caches`; fs/drop_caches.c). Needs root.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::counters::MemoryCounters;
use crate::error::ProbeError;
use crate::watch::{Progress, Watcher, for_each};

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// The caches to drop; the numbers are the kernel's (Documentation/admin-guide/sysctl/vm.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Clean pages of all files.
    Pages = 1,
    /// Reclaimable slabs: dentries and inodes.
    Slab = 2,
    /// Both.
    All = 3,
}

impl What {
    /// The names, in the order of the variants.
    pub const NAMES: [&'static str; 3] = ["pages", "slab", "all"];
    /// All of them, in the order of the names.
    pub const ALL: [Self; 3] = [Self::Pages, Self::Slab, Self::All];
}

/// Checks that this process may drop caches, and changes nothing.
///
/// # Errors
/// [`ProbeError::NeedsRoot`].
pub fn check() -> Result<(), ProbeError> {
    OpenOptions::new().write(true).open(DROP_CACHES).map(drop).map_err(needs_root)
}

fn needs_root(error: io::Error) -> ProbeError {
    ProbeError::NeedsRoot {
        what: "dropping all caches",
        missing: format!("{DROP_CACHES}: {error}"),
        remedy: "run it with sudo, or evict your own files with `pagecast cache evict`",
    }
}

/// Writes all dirty data of the machine and drops its caches; gives the memory before and after.
///
/// # Errors
/// [`ProbeError::NeedsRoot`] before anything is done, [`ProbeError::System`] and [`ProbeError::Interrupted`].
pub fn drop_caches(
    what: What,
    sync: bool,
    watch: &mut Watcher<'_>,
) -> Result<(MemoryCounters, MemoryCounters), ProbeError> {
    check()?;
    let before = MemoryCounters::read()?;
    let written =
        |now: &MemoryCounters| (before.dirty + before.writeback).saturating_sub(now.dirty + now.writeback).0;
    if sync {
        let total = Some((before.dirty + before.writeback).0);
        let mut watch = |_: Progress| {
            let done = MemoryCounters::read().map_or(0, |now| written(&now));
            watch(Progress { stage: "writing back", done, total })
        };
        for_each("", 0, &[()], &mut watch, |(), _| {
            rustix::fs::sync();
            Ok(())
        })?;
    }
    let mut watch = |_: Progress| watch(Progress { stage: "dropping", done: 0, total: None });
    let dropped = for_each("", 0, &[()], &mut watch, |(), _| Ok(write(what)))?;
    let failed =
        |source| ProbeError::System { path: Path::new(DROP_CACHES).to_owned(), doing: "written", source };
    dropped.into_iter().collect::<io::Result<()>>().map_err(failed)?;
    Ok((before, MemoryCounters::read()?))
}

/// Drops caches, and nothing besides.
pub(crate) fn write(what: What) -> io::Result<()> {
    fs::File::options().write(true).open(DROP_CACHES)?.write_all((what as u8).to_string().as_bytes())
}
