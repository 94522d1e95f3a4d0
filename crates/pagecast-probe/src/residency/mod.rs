//! Measures how much of a file is in the page cache.
//!
//! Two system calls tell. `cachestat(2)` (Linux 6.5) counts cached, dirty, written-back and evicted pages of a range and needs no mapping.
//! `mincore(2)` says of each page of a mapping whether it is in memory, and nothing else. The first is taken where it works. On overlay it
//! sees the empty cache of the upper inode and not that of the file below (`SYSCALL_DEFINE4(cachestat)`, mm/filemap.c, takes `f_mapping`,
//! and overlay does not redirect it; seen on Linux 6.18), so there it is `mincore`.
//!
//! Neither disturbs the cache: no page is read, none becomes younger. The kernel counts whole pages. Of a file's last page only the bytes
//! that belong to the file count here, so that `cached <= size`. Left out: which pages are active, and pages that are being read just now
//! (`cachestat` counts them as cached, `mincore` does not).

mod cachestat;
mod file;
mod mincore;
mod survey;

use std::os::fd::AsFd;

use pagecast_core::units::Bytes;
use rustix::fs::{MemfdFlags, memfd_create};

use crate::error::{ProbeError, Trouble};
use crate::filesystem::Kind;
use crate::watch::Pace;

pub use file::OpenFile;
pub(crate) use file::has_capability;
pub use survey::{FileResidency, Survey, file_systems, survey};

/// The system call that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `cachestat(2)`: knows dirty, written-back and evicted pages.
    Cachestat,
    /// `mincore(2)`: knows only whether a page is in memory.
    Mincore,
}

impl Method {
    /// The names, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["cachestat", "mincore"];

    /// The name of the system call.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The pages of a range of a file in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// In memory.
    pub cached: Bytes,
    /// The counts that only `cachestat` has.
    pub state: Option<State>,
}

/// The state of pages that are or were cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Not yet written to the device.
    pub dirty: Bytes,
    /// On the way to the device.
    pub writeback: Bytes,
    /// Was cached and was evicted by the kernel, which still remembers it. Not what was dropped by hand.
    pub evicted: Bytes,
    /// Of these, what was evicted so recently that reading it again would count as a refault of the working set.
    pub recently_evicted: Bytes,
}

impl Residency {
    /// True if all that is known to be in memory is clean and nothing is on the way; false where that is not known.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.state.is_some_and(|state| state.dirty == Bytes::ZERO && state.writeback == Bytes::ZERO)
    }
}

/// Asks the kernel in one of the two ways.
#[derive(Clone, Copy, Debug)]
pub struct Prober {
    forced: Option<Method>,
    has_cachestat: bool,
}

impl Prober {
    /// Finds out what this kernel, and the sandbox we may be in, let us do.
    ///
    /// # Errors
    /// [`ProbeError::NoCachestat`] if that was asked for and is not to be had.
    pub fn new(forced: Option<Method>) -> Result<Self, ProbeError> {
        let test = cachestat_works();
        match (forced, test) {
            (Some(Method::Cachestat), Err(error)) => Err(ProbeError::NoCachestat(error)),
            (_, test) => Ok(Self { forced, has_cachestat: test.is_ok() }),
        }
    }

    /// How files on this kind of file system are measured.
    #[must_use]
    pub fn method(&self, kind: Kind) -> Method {
        match self.forced {
            Some(method) => method,
            None if self.has_cachestat && kind != Kind::Overlay => Method::Cachestat,
            None => Method::Mincore,
        }
    }

    /// Measures a whole file.
    ///
    /// # Errors
    /// [`Trouble`] if the kernel does not say.
    pub fn whole(&self, file: &OpenFile, kind: Kind, pace: &Pace) -> Result<Residency, Trouble> {
        self.range(file, kind, (0, file.size.0), pace)
    }

    /// Measures some bytes from an offset, given as (offset, length); both whole pages, except at the end of the file.
    ///
    /// # Errors
    /// [`Trouble`] if the kernel does not say.
    pub fn range(
        &self,
        file: &OpenFile,
        kind: Kind,
        (offset, length): (u64, u64),
        pace: &Pace,
    ) -> Result<Residency, Trouble> {
        if length == 0 {
            let state = (self.method(kind) == Method::Cachestat).then(State::default);
            return Ok(Residency { cached: Bytes::ZERO, state });
        }
        match self.method(kind) {
            Method::Cachestat => cachestat::range(file, offset, length),
            Method::Mincore => mincore::range(file, offset, length, pace),
        }
    }

    /// Cuts a file into at most `count` pieces of whole pages and says how much of each is cached, as a fraction.
    ///
    /// # Errors
    /// [`Trouble`] if the kernel does not say.
    pub fn cells(&self, file: &OpenFile, kind: Kind, count: u64, pace: &Pace) -> Result<Vec<f64>, Trouble> {
        let page = page_size();
        let pages = file.size.0.div_ceil(page);
        let count = count.min(pages);
        let edge = |cell: u64| (u128::from(pages) * u128::from(cell) / u128::from(count)) as u64 * page;
        let mut cells = Vec::with_capacity(count as usize);
        for cell in 0..count {
            let (from, to) = (edge(cell), edge(cell + 1).min(file.size.0));
            let cached = self.range(file, kind, (from, to - from), pace)?.cached;
            cells.push(cached.as_f64() / (to - from) as f64);
        }
        Ok(cells)
    }
}

/// Tries `cachestat` on memory of our own, where nothing but its absence can make it fail.
fn cachestat_works() -> std::io::Result<()> {
    let own = memfd_create("pagecast-probe", MemfdFlags::CLOEXEC)?;
    crate::syscall::cachestat(own.as_fd(), 0, 0).map(|_| ())
}

/// The size of a page in bytes.
#[must_use]
pub fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// `pages` of a range of `length` bytes as bytes: the last page counts only as far as the range goes.
fn bytes_of(pages: u64, length: u64) -> Bytes {
    Bytes((pages * page_size()).min(length))
}
