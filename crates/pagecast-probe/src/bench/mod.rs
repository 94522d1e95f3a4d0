//! Measures reads and writes of one kind at a time, with the cached state of the files made and verified before, and looked at afterwards.
//!
//! A [`Bench`] has a folder of its own, and a block device if one was given. [`Bench::run`] makes one measurement of one [`Cell`]: it makes
//! the files, brings them into the state of the cell, and counts the bytes from memory and from the device. [`copy()`] is the rate for
//! comparison; [`settings`] are the kernel settings that may be changed meanwhile.
//!
//! Every thread has a file of its own (of a device, a range of its own). Threads that write one file wait for each other at its lock, which
//! is not measured here. Left out: random access, and depth without threads (io_uring, aio).

mod cell;
mod copy;
mod device;
mod error;
mod measure;
mod need;
mod served;
pub mod settings;
mod together;

use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{OpenFlag, OpenFlags};
use rustix::fs::syncfs;

use crate::counters::{DeviceCounters, MemoryCounters, ProcessCounters};
use crate::error::ProbeError;
use crate::evict::evict;
use crate::filesystem::{FileSystem, Kind};
use crate::io::{Direction, Io, Open, Place, Sync, Workplace};
use crate::residency::{OpenFile, Prober, Residency, State};
use crate::watch::{Pace, Watcher};

pub use cell::{Access, Cell, Mode};
pub use copy::copy;
pub(crate) use copy::pass;
pub use device::Device;
pub use error::BenchError;
pub use measure::{Broken, Outcome, Part, Way, measure};
pub use need::{Need, check};

use error::trouble;
use need::share;

/// Calls by which files are made and warmed.
const USUAL_CALL: NonZero<u64> = NonZero::new(1 << 20).expect("it is not 0");
/// How often what is to be cached is read again if the kernel has dropped it meanwhile.
const TRIES: u32 = 5;
/// The name of threads that make files and warm them.
const PREPARE: &str = "prepare";
const ENDLESS: Nanos = Nanos(u64::MAX);

/// The result of one measurement.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The bytes moved and their time.
    pub outcome: Outcome,
    /// Of a write: until all of it was durable (fsync).
    pub durable: Option<Nanos>,
    /// True if the page cache had what it should have before.
    pub is_prepared: bool,
    /// Of the parts that are read or written.
    pub before: Residency,
    /// Right after.
    pub after: Residency,
    /// The bytes from the device; the rest came from memory.
    pub by_device: Option<Bytes>,
    /// What this process asked for and got meanwhile.
    pub own: Option<ProcessCounters>,
    /// What the device below did meanwhile, for everybody.
    pub device: Option<DeviceCounters>,
    /// Memory of the machine before and after.
    pub memory: (MemoryCounters, MemoryCounters),
}

/// A folder for files that are gone afterwards, and a device if one was given.
#[derive(Debug)]
pub struct Bench {
    place: Workplace,
    directory: PathBuf,
    file_system: FileSystem,
    prober: Prober,
    size: Bytes,
    limit: Nanos,
    device: Option<Device>,
    /// For how many threads there are files now.
    laid_out: Option<NonZero<usize>>,
}

/// The parts that threads read or write: open as the cell wants it, and to be asked what is cached of them.
struct Ranges<'a> {
    files: Vec<Opened<'a>>,
    bytes: u64,
}

impl Ranges<'_> {
    /// Of all threads.
    fn whole(&self) -> u64 {
        self.bytes * self.files.len() as u64
    }
}

/// A file of a thread, or the device and where the thread begins.
struct Opened<'a> {
    path: PathBuf,
    file: Descriptor<'a>,
    offset: u64,
}

enum Descriptor<'a> {
    Own(OwnedFd),
    Device(&'a OwnedFd),
}

impl Descriptor<'_> {
    fn get(&self) -> &OwnedFd {
        match self {
            Self::Own(file) => file,
            Self::Device(file) => file,
        }
    }
}

impl Bench {
    /// Makes a folder in a directory. `limit` is how long a measurement may take.
    ///
    /// # Errors
    /// [`BenchError`] as of [`check`], and if the folder cannot be made.
    pub fn create(
        directory: &Path,
        need: Need,
        limit: Nanos,
        device: Option<&Path>,
    ) -> Result<Self, BenchError> {
        let Place { file_system, .. } = check(directory, need)?;
        let device = device.map(|path| Device::open(path, need.size)).transpose()?;
        let place = Workplace::create(directory, "bench")?;
        let prober = Prober::new(None)?;
        let directory = directory.to_owned();
        Ok(Self { place, directory, file_system, prober, size: need.size, limit, device, laid_out: None })
    }

    /// The folder of the files.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Brings the page cache into the state that a cell wants, for somebody else to measure; gives what each thread has there, and
    /// whether the kernel has confirmed it.
    ///
    /// # Errors
    /// [`BenchError`].
    pub fn prepare(&mut self, cell: Cell, watch: &mut Watcher<'_>) -> Result<(Bytes, bool), BenchError> {
        let is_prepared = self.bring_about(cell, watch)?;
        Ok((Bytes(share(self.size, cell.threads)), is_prepared))
    }

    /// Makes one measurement.
    ///
    /// # Errors
    /// [`BenchError`].
    pub fn run(&mut self, cell: Cell, watch: &mut Watcher<'_>) -> Result<Sample, BenchError> {
        let was_prepared = self.bring_about(cell, watch)?;
        let this = &*self;
        let ranges = this.open(cell)?;
        let before = this.look(cell, &ranges)?;
        // Something may have taken the pages back since, or brought them in.
        let is_prepared = was_prepared
            && match cell.access {
                Access::WriteNew | Access::ReadCold => before.cached == Bytes::ZERO,
                Access::Overwrite | Access::ReadWarm => before.cached.0 >= ranges.whole(),
            };
        let (memory, device, own) =
            (MemoryCounters::read()?, this.device_counters(cell), ProcessCounters::own());
        let direction = cell.access.direction();
        let way =
            Way { direction, call: cell.call, limit: this.limit, stage: "measuring", thread: cell.thread() };
        let outcome = this.transfer(&ranges, way, watch)?;
        let own = ProcessCounters::own().zip(own).map(|(now, before)| now.since(before));
        let device = this.device_counters(cell).zip(device).map(|(now, before)| DeviceCounters {
            read: now.read.saturating_sub(before.read),
            written: now.written.saturating_sub(before.written),
        });
        let after = this.look(cell, &ranges)?;
        let durable = match direction {
            Direction::Write => Some(this.sync(&ranges)?.saturating_sub(outcome.begun)),
            Direction::Read => None,
        };
        let by_device = served::by_device(&served::Facts {
            direction,
            is_direct: cell.mode == Mode::Direct,
            bytes: outcome.bytes,
            own_read: own.map(|own| own.device_read),
            device,
            after,
        });
        let memory = (memory, MemoryCounters::read()?);
        Ok(Sample { outcome, durable, is_prepared, before, after, by_device, own, device, memory })
    }

    /// Brings the page cache into the state that a cell wants; gives whether the kernel confirms it.
    fn bring_about(&mut self, cell: Cell, watch: &mut Watcher<'_>) -> Result<bool, BenchError> {
        if !cell.on_device && self.laid_out != Some(cell.threads) {
            self.remove_files()?;
            self.laid_out = Some(cell.threads);
        }
        let buffered = Cell { mode: Mode::Buffered, ..cell };
        match (cell.access, cell.on_device) {
            (Access::WriteNew, false) => {
                self.remove_files()?;
                self.settle()?;
                Ok(true)
            }
            (Access::WriteNew | Access::ReadCold, _) => {
                self.complete(buffered, watch)?;
                self.cool(buffered, watch)
            }
            (Access::Overwrite | Access::ReadWarm, _) => {
                self.complete(buffered, watch)?;
                self.heat(buffered, watch)
            }
        }
    }

    /// Makes files that have all of their bytes; a device has them.
    fn complete(&self, cell: Cell, watch: &mut Watcher<'_>) -> Result<(), BenchError> {
        let ranges = self.open(cell)?;
        let folder = self.place.folder();
        let length = |one: &Opened<'_>| {
            folder.length(one.file.get()).map_err(|error| self.call(&one.path, "stat", error))
        };
        let lengths = ranges.files.iter().map(length).collect::<Result<Vec<u64>, _>>()?;
        if !cell.on_device && lengths.iter().any(|&length| length < ranges.bytes) {
            let way = Way {
                direction: Direction::Write,
                call: USUAL_CALL,
                limit: ENDLESS,
                stage: "writing files",
                thread: PREPARE,
            };
            self.transfer(&ranges, way, watch)?;
        }
        self.sync(&ranges)?;
        self.settle()
    }

    /// What the file system still has to do is not to be part of what is measured.
    fn settle(&self) -> Result<(), BenchError> {
        let folder = self.place.folder();
        syncfs(folder).map_err(|error| trouble(folder.path(), "syncfs", error.into()))
    }

    fn cool(&self, cell: Cell, watch: &mut Watcher<'_>) -> Result<bool, BenchError> {
        let ranges = self.open(cell)?;
        let mut paths: Vec<PathBuf> = ranges.files.iter().map(|one| one.path.clone()).collect();
        paths.dedup();
        let outcome = evict(&paths, &self.prober, true, watch)?;
        if let Some(problem) = outcome.problems.into_iter().next() {
            let path = self.shown(&problem.path);
            return Err(ProbeError::Path { path, trouble: problem.trouble }.into());
        }
        Ok(self.look(cell, &ranges)?.cached == Bytes::ZERO)
    }

    fn heat(&self, cell: Cell, watch: &mut Watcher<'_>) -> Result<bool, BenchError> {
        let ranges = self.open(cell)?;
        let way = Way {
            direction: Direction::Read,
            call: USUAL_CALL,
            limit: ENDLESS,
            stage: "reading files",
            thread: PREPARE,
        };
        for _ in 0..TRIES {
            self.transfer(&ranges, way, watch)?;
            if self.look(cell, &ranges)?.cached.0 >= ranges.whole() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn transfer(
        &self,
        ranges: &Ranges<'_>,
        way: Way,
        watch: &mut Watcher<'_>,
    ) -> Result<Outcome, BenchError> {
        let parts: Vec<_> = ranges
            .files
            .iter()
            .map(|one| Part { file: one.file.get(), offset: one.offset, bytes: ranges.bytes })
            .collect();
        measure(self.place.folder(), &parts, way, watch).map_err(|broken| match broken {
            Broken::Interrupted => ProbeError::Interrupted.into(),
            Broken::NoThread(source) => BenchError::NoThread { threads: parts.len(), source },
            Broken::Failed(at, error) => self.call(&ranges.files[at].path, way.direction.name(), error),
        })
    }

    /// Waits until all is durable; gives when it was.
    fn sync(&self, ranges: &Ranges<'_>) -> Result<Nanos, BenchError> {
        let folder = self.place.folder();
        let shared = ranges.files.iter().any(|one| matches!(one.file, Descriptor::Device(_)));
        for one in ranges.files.iter().take(if shared { 1 } else { ranges.files.len() }) {
            folder.sync(one.file.get(), Sync::File).map_err(|error| self.call(&one.path, "fsync", error))?;
        }
        Ok(folder.now())
    }

    /// What is in the page cache of what the threads read or write.
    fn look(&self, cell: Cell, ranges: &Ranges<'_>) -> Result<Residency, BenchError> {
        let kind = if cell.on_device { Kind::Disk } else { self.file_system.kind };
        let mut all: Option<Residency> = None;
        for one in &ranges.files {
            let seen = OpenFile::open(&one.path)
                .and_then(|open| {
                    let length = ranges.bytes.min(open.size.0.saturating_sub(one.offset));
                    self.prober.range(&open, kind, (one.offset, length), &Pace::default())
                })
                .map_err(|trouble| ProbeError::Path { path: self.shown(&one.path), trouble })?;
            all = Some(all.map_or(seen, |all| together_with(all, seen)));
        }
        Ok(all.unwrap_or_default())
    }

    fn device_counters(&self, cell: Cell) -> Option<DeviceCounters> {
        let below = || self.file_system.block_device();
        let device = self.device.as_ref().filter(|_| cell.on_device).map(|device| device.number);
        DeviceCounters::of(device.or_else(below)?)
    }

    /// Opens the parts of a cell; files that are not there are made.
    fn open(&self, cell: Cell) -> Result<Ranges<'_>, BenchError> {
        let bytes = share(self.size, cell.threads);
        let threads = 0..cell.threads.get();
        if let Some(device) = self.device.as_ref().filter(|_| cell.on_device) {
            let file = if cell.mode == Mode::Direct { &device.direct } else { &device.buffered };
            let part = |at: usize| Opened {
                path: device.path.clone(),
                file: Descriptor::Device(file),
                offset: at as u64 * bytes,
            };
            return Ok(Ranges { files: threads.map(part).collect(), bytes });
        }
        let folder = self.place.folder();
        let is_direct = cell.mode == Mode::Direct;
        let flags: OpenFlags = is_direct.then_some(OpenFlag::Direct).into_iter().collect();
        let open = Open { create: true, truncate: false, flags };
        let part = |at: usize| {
            let name = file_name(at);
            let path = folder.sure_path().join(&name);
            match folder.open(Path::new(&name), open) {
                Ok(file) => Ok(Opened { path, file: Descriptor::Own(file), offset: 0 }),
                Err(error) if is_direct && error.raw_os_error() == Some(libc::EINVAL) => {
                    let (path, file_system) = (self.directory.clone(), self.file_system.name());
                    Err(BenchError::NoDirect { path, file_system })
                }
                Err(error) => Err(self.call(&path, "open", error)),
            }
        };
        Ok(Ranges { files: threads.map(part).collect::<Result<_, _>>()?, bytes })
    }

    fn remove_files(&self) -> Result<(), BenchError> {
        let folder = self.place.folder();
        for at in 0.. {
            match folder.remove(Path::new(&file_name(at))) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => break,
                Err(error) => return Err(self.call(&folder.path().join(file_name(at)), "unlink", error)),
            }
        }
        Ok(())
    }

    /// A path for messages.
    fn shown(&self, path: &Path) -> PathBuf {
        let folder = self.place.folder();
        path.strip_prefix(folder.sure_path())
            .map_or_else(|_| path.to_owned(), |within| folder.path().join(within))
    }

    fn call(&self, path: &Path, doing: &'static str, source: std::io::Error) -> BenchError {
        BenchError::Call { path: self.shown(path), doing, source }
    }
}

/// The file of a thread; fio calls its files so too, with `filename_format=thread.$jobnum`.
fn file_name(thread: usize) -> String {
    format!("thread.{thread}")
}

/// What is cached of two parts; a state that is not known of one is not known of both.
fn together_with(one: Residency, other: Residency) -> Residency {
    let state = one.state.zip(other.state).map(|(one, other)| State {
        dirty: one.dirty + other.dirty,
        writeback: one.writeback + other.writeback,
        evicted: one.evicted + other.evicted,
        recently_evicted: one.recently_evicted + other.recently_evicted,
    });
    Residency { cached: one.cached + other.cached, state }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_of_one_is_not_known_of_both() {
        let known =
            Residency { cached: Bytes(5), state: Some(State { dirty: Bytes(2), ..State::default() }) };
        let both = together_with(known, known);
        assert_eq!((both.cached, both.state.unwrap().dirty), (Bytes(10), Bytes(4)));
        assert_eq!(together_with(known, Residency::default()).state, None);
    }
}
