//! Plays a kernel with a page cache and a device whose costs are known to the nanosecond, and a clock that only they move.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Advice, AllocateMode, CopyBy, MapAdvice, OpenFlag, SyncRangeFlags};

use crate::io::{Direction, Io, Memory, Open, Sync};

const PAGE: u64 = 4096;

/// The costs of this kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// A call that finds its pages in the cache.
    pub call_ns: u64,
    pub read_ns_per_kib: u64,
    pub write_ns_per_kib: u64,
    /// A new page of the cache.
    pub insert_ns: u64,
    /// A page of memory that is touched first: who reads a whole file again does so into new memory.
    pub fault_ns: u64,
    /// A page that is taken away.
    pub remove_ns: u64,
    /// A mapping, a fault on each 64 KiB of it that are read, and one on each page that is written.
    pub map_ns: u64,
    pub fault_around_ns: u64,
    pub mkwrite_ns: u64,
    pub refuses_mappings: bool,
    /// A request of the device, and each of its bytes.
    pub latency_ns: u64,
    pub device_ns_per_byte: u64,
    /// The device's own cache is emptied.
    pub sync_ns: u64,
    /// Bytes that pass a limiter at once, and how long each further one takes; 0 is no limiter.
    pub bucket_bytes: u64,
    pub refill_ns_per_byte: u64,
    pub refuses_direct: bool,
    /// The room on the disk.
    pub room: u64,
}

impl Costs {
    pub const NOTHING: Self = Self {
        call_ns: 0,
        read_ns_per_kib: 0,
        write_ns_per_kib: 0,
        insert_ns: 0,
        fault_ns: 0,
        remove_ns: 0,
        map_ns: 0,
        fault_around_ns: 0,
        mkwrite_ns: 0,
        refuses_mappings: false,
        latency_ns: 0,
        device_ns_per_byte: 0,
        sync_ns: 0,
        bucket_bytes: 0,
        refill_ns_per_byte: 0,
        refuses_direct: false,
        room: u64::MAX,
    };
}

/// The page cache of a host; see the module.
pub(super) struct Kernel {
    costs: Costs,
    state: Mutex<State>,
}

/// A file that is open.
pub(super) struct Opened {
    path: PathBuf,
    is_direct: bool,
    is_durable: bool,
}

#[derive(Default)]
struct File {
    length: u64,
    is_cached: bool,
    dirty: u64,
    /// Bytes read from it through the cache.
    read: u64,
}

struct State {
    now: u64,
    files: BTreeMap<PathBuf, File>,
    /// What may pass the limiter at once, and since when.
    tokens: u64,
    filled: u64,
}

impl State {
    /// The device moves bytes.
    fn device(&mut self, costs: &Costs, bytes: u64) {
        self.now += costs.device_ns_per_byte * bytes;
        if costs.bucket_bytes == 0 {
            return;
        }
        let gained = (self.now - self.filled) / costs.refill_ns_per_byte;
        self.filled += gained * costs.refill_ns_per_byte;
        self.tokens = costs.bucket_bytes.min(self.tokens + gained);
        let lacking = bytes.saturating_sub(self.tokens);
        self.tokens = self.tokens.saturating_sub(bytes);
        self.now += lacking * costs.refill_ns_per_byte;
        self.filled += lacking * costs.refill_ns_per_byte;
    }
}

impl Kernel {
    pub fn new(costs: Costs) -> Self {
        let state = State { now: 0, files: BTreeMap::new(), tokens: costs.bucket_bytes, filled: 0 };
        Self { costs, state: Mutex::new(state) }
    }

    /// The number of files.
    pub fn files(&self) -> usize {
        self.state().files.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn write_back(&self, path: &Path, flushes: bool) {
        let mut state = self.state();
        let dirty = std::mem::take(&mut state.files.get_mut(path).expect("it was opened").dirty);
        state.device(&self.costs, dirty);
        state.now += if flushes { self.costs.sync_ns } else { 0 };
    }
}

impl Io for Kernel {
    type File = Opened;
    type Mapped = ();

    fn now(&self) -> Nanos {
        Nanos(self.state().now)
    }

    fn processor_time(&self) -> Nanos {
        self.now()
    }

    fn processor_wait(&self) -> Nanos {
        Nanos::ZERO
    }

    fn device_read(&self) -> Bytes {
        Bytes::ZERO
    }

    fn sleep_until(&self, time: Nanos) {
        let mut state = self.state();
        state.now = state.now.max(time.0);
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Opened> {
        let is_direct = how.flags.has(OpenFlag::Direct);
        if is_direct && self.costs.refuses_direct {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut state = self.state();
        if !how.create && !state.files.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = state.files.entry(path.to_owned()).or_default();
        if how.truncate {
            *file = File::default();
        }
        Ok(Opened { path: path.to_owned(), is_direct, is_durable: how.flags.is_synchronous() })
    }

    fn read(&self, file: &Opened, _: &mut Memory, _: usize, length: usize, offset: u64) -> io::Result<usize> {
        let mut state = self.state();
        let found = &state.files[&file.path];
        let bytes = found.length.saturating_sub(offset).min(length as u64);
        let is_hit = found.is_cached && !file.is_direct;
        if !is_hit {
            state.now += self.costs.latency_ns;
            state.device(&self.costs, bytes);
        }
        if !file.is_direct {
            state.now += self.costs.call_ns + self.costs.read_ns_per_kib * bytes / 1024;
            let found = state.files.get_mut(&file.path).expect("it was opened");
            let is_fresh = found.read >= found.length;
            found.read += bytes;
            state.now += if is_fresh { self.costs.fault_ns * bytes.div_ceil(PAGE) } else { 0 };
        }
        Ok(bytes as usize)
    }

    fn write(
        &self,
        file: &Opened,
        _: &mut Memory,
        _: usize,
        length: usize,
        offset: u64,
    ) -> io::Result<usize> {
        let mut state = self.state();
        let (costs, bytes) = (&self.costs, length as u64);
        let used: u64 = state.files.values().map(|each| each.length).sum();
        let found = state.files.get_mut(&file.path).expect("it was opened");
        let new = (offset + bytes).saturating_sub(found.length);
        if used + new > costs.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        found.length += new;
        if file.is_direct {
            found.is_cached = false;
            state.now += costs.latency_ns + if file.is_durable { costs.sync_ns } else { 0 };
            state.device(costs, bytes);
            return Ok(length);
        }
        found.is_cached = true;
        found.dirty += bytes;
        state.now +=
            costs.call_ns + costs.write_ns_per_kib * bytes / 1024 + costs.insert_ns * new.div_ceil(PAGE);
        drop(state);
        if file.is_durable {
            self.write_back(&file.path, true);
        }
        Ok(length)
    }

    fn sync(&self, file: &Opened, what: Sync) -> io::Result<()> {
        self.write_back(&file.path, !matches!(what, Sync::Range { .. }));
        Ok(())
    }

    fn sync_all(&self) {}

    fn sync_file_system(&self) -> io::Result<()> {
        Ok(())
    }

    fn sync_range(&self, _: &Opened, _: u64, _: u64, _: SyncRangeFlags) -> io::Result<()> {
        Ok(())
    }

    fn copy(&self, _: &Opened, _: &Opened, _: CopyBy, _: u64, _: usize) -> io::Result<usize> {
        unreachable!("a calibration copies nothing")
    }

    fn readahead(&self, _: &Opened, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn map(&self, _: &Opened, _: u64, _: NonZero<usize>) -> io::Result<()> {
        if self.costs.refuses_mappings {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        self.state().now += self.costs.map_ns;
        Ok(())
    }

    fn advise_mapped(&self, (): &(), _: MapAdvice) -> io::Result<()> {
        Ok(())
    }

    fn pass_mapped(&self, (): &mut (), direction: Direction, _: usize, _: &mut Memory, length: usize) {
        let (costs, length) = (&self.costs, length as u64);
        self.state().now += match direction {
            Direction::Read => {
                costs.read_ns_per_kib * length / 1024 + costs.fault_around_ns * length.div_ceil(64 << 10)
            }
            Direction::Write => {
                costs.write_ns_per_kib * length / 1024 + costs.mkwrite_ns * length.div_ceil(PAGE)
            }
        };
    }

    fn sync_mapped(&self, (): &(), _: bool) -> io::Result<()> {
        Ok(())
    }

    fn drop_caches(&self) -> io::Result<()> {
        Ok(())
    }

    fn advise(&self, file: &Opened, advice: Advice, _: u64, _: u64) -> io::Result<()> {
        if advice == Advice::DontNeed {
            self.state().files.get_mut(&file.path).expect("it was opened").is_cached = false;
        }
        Ok(())
    }

    fn length(&self, file: &Opened) -> io::Result<u64> {
        Ok(self.state().files[&file.path].length)
    }

    fn allocate(&self, _: &Opened, _: AllocateMode, _: u64, _: u64) -> io::Result<()> {
        unreachable!("a calibration allocates nothing")
    }

    fn set_length(&self, file: &Opened, length: u64) -> io::Result<()> {
        let mut state = self.state();
        let found = state.files.get_mut(&file.path).expect("it was opened");
        let less = found.length.saturating_sub(length);
        *found = File { length, ..File::default() };
        state.now += self.costs.remove_ns * less.div_ceil(PAGE);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let gone = self.state().files.remove(path);
        gone.map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
