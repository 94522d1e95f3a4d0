//! Times input and output on real files, for a run of a scenario, a benchmark and a calibration.
//!
//! [`Io`] is their interface to the kernel, and a [`Folder`] implements it, never outside its directory; in tests a mock with a clock of
//! its own stands in. [`transfer()`] is the measuring loop: calls of one size, a time for each or for every few, nothing allocated
//! meanwhile. A [`Workplace`] is a folder that is gone afterwards, at the latest with the next one in the same place.
//!
//! Left out: several calls under way from one thread (io_uring, aio). Depth takes threads.

mod folder;
#[cfg(test)]
pub(crate) mod mock;
mod names;
mod streams;
mod transfer;
mod workplace;

use std::io;
use std::num::NonZero;
use std::path::Path;

use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Advice, AllocateMode, CopyBy, MapAdvice, OpenFlags, SyncRangeFlags};

pub use crate::syscall::{Memory, Withdrawal};
pub use folder::{Folder, Place, Space};
pub use names::Names;
pub use streams::{StreamCall, Streams};
pub use transfer::{Cause, Direction, Failure, Offsets, Times, Transfer, transfer, transfer_beyond};
pub use workplace::Workplace;

/// The most that read(2) and write(2) move at once (`MAX_RW_COUNT`, include/linux/fs.h, with pages of 4 KiB).
pub const MOST_OF_A_CALL: u64 = 0x7fff_f000;

/// The way in which a file is opened; always for reading and writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// O_CREAT.
    pub create: bool,
    /// O_TRUNC.
    pub truncate: bool,
    /// O_DIRECT, O_SYNC, O_DSYNC and O_APPEND; the others are no flags of open(2).
    pub flags: OpenFlags,
}

/// The wait of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// fsync(2).
    File,
    /// fdatasync(2).
    Data,
    /// sync_file_range(2) of some bytes from an offset: it writes pages, and makes nothing durable.
    Range {
        /// First byte.
        offset: u64,
        /// The number of bytes; 0 is to the end.
        length: u64,
        /// True if the pages are waited for.
        wait: bool,
    },
}

/// What measuring needs of a kernel. Calls may come from many threads. None is repeated by the implementer when it was
/// interrupted or did less than was wanted: that is the caller's part.
pub trait Io: std::marker::Sync {
    /// A file that is open.
    type File: Send + std::marker::Sync;
    /// A mapping of a part of one.
    type Mapped;

    /// A clock that only goes forward, in real time (CLOCK_MONOTONIC).
    fn now(&self) -> Nanos;

    /// The processor time of the calling thread (CLOCK_THREAD_CPUTIME_ID).
    fn processor_time(&self) -> Nanos;

    /// How long the calling thread has been ready to run and had no processor (`run_delay` of /proc/thread-self/schedstat); 0 where the
    /// kernel does not say.
    fn processor_wait(&self) -> Nanos;

    /// What the calling thread has had read from devices so far, read-ahead with it (`ru_inblock` of RUSAGE_THREAD, the same counter as
    /// `read_bytes` of /proc/thread-self/io); 0 where the kernel does not count.
    fn device_read(&self) -> Bytes;

    /// Waits until the clock shows `time`; may return early when it is interrupted.
    fn sleep_until(&self, time: Nanos);

    /// Opens a file by its path within the folder.
    ///
    /// # Errors
    /// What the kernel said.
    fn open(&self, path: &Path, how: Open) -> io::Result<Self::File>;

    /// Reads up to `length` bytes at `offset` to the place `at` of the memory; gives how many.
    ///
    /// # Errors
    /// What the kernel said.
    fn read(
        &self,
        file: &Self::File,
        memory: &mut Memory,
        at: usize,
        length: usize,
        offset: u64,
    ) -> io::Result<usize>;

    /// Writes up to `length` bytes at `offset` from the place `at` of the memory; gives how many.
    ///
    /// # Errors
    /// What the kernel said.
    fn write(
        &self,
        file: &Self::File,
        memory: &mut Memory,
        at: usize,
        length: usize,
        offset: u64,
    ) -> io::Result<usize>;

    /// sendfile(2) or copy_file_range(2) of up to `length` bytes at `offset` to the same place in another file; gives how many.
    ///
    /// # Errors
    /// What the kernel said.
    ///
    /// # Panics
    /// By reads and writes, which the caller does.
    fn copy(
        &self,
        from: &Self::File,
        to: &Self::File,
        by: CopyBy,
        offset: u64,
        length: usize,
    ) -> io::Result<usize>;

    /// Waits for the device.
    ///
    /// # Errors
    /// What the kernel said.
    fn sync(&self, file: &Self::File, what: Sync) -> io::Result<()>;

    /// sync(2): all that is dirty on this machine.
    fn sync_all(&self);

    /// syncfs(2): all that is dirty on the file system of the folder.
    ///
    /// # Errors
    /// What the kernel said.
    fn sync_file_system(&self) -> io::Result<()>;

    /// sync_file_range(2); a length of 0 goes to the end of the file.
    ///
    /// # Errors
    /// What the kernel said.
    fn sync_range(
        &self,
        file: &Self::File,
        offset: u64,
        length: u64,
        flags: SyncRangeFlags,
    ) -> io::Result<()>;

    /// readahead(2).
    ///
    /// # Errors
    /// What the kernel said.
    fn readahead(&self, file: &Self::File, offset: u64, length: u64) -> io::Result<()>;

    /// Maps bytes from a page on, to be read and written (mmap(2), MAP_SHARED); they are unmapped when it is dropped.
    ///
    /// # Errors
    /// What the kernel said.
    fn map(&self, file: &Self::File, offset: u64, length: NonZero<usize>) -> io::Result<Self::Mapped>;

    /// madvise(2) of all of a mapping.
    ///
    /// # Errors
    /// What the kernel said.
    fn advise_mapped(&self, mapped: &Self::Mapped, advice: MapAdvice) -> io::Result<()>;

    /// Copies bytes of a mapping, from a place of it on, to the memory or from there.
    fn pass_mapped(
        &self,
        mapped: &mut Self::Mapped,
        direction: Direction,
        from: usize,
        memory: &mut Memory,
        length: usize,
    );

    /// msync(2) of all of a mapping.
    ///
    /// # Errors
    /// What the kernel said.
    fn sync_mapped(&self, mapped: &Self::Mapped, is_async: bool) -> io::Result<()>;

    /// Writing 3 to /proc/sys/vm/drop_caches.
    ///
    /// # Errors
    /// What the kernel said; only root may.
    fn drop_caches(&self) -> io::Result<()>;

    /// posix_fadvise(2); a length of 0 goes to the end of the file.
    ///
    /// # Errors
    /// What the kernel said.
    fn advise(&self, file: &Self::File, advice: Advice, offset: u64, length: u64) -> io::Result<()>;

    /// The length of a file.
    ///
    /// # Errors
    /// What the kernel said.
    fn length(&self, file: &Self::File) -> io::Result<u64>;

    /// Cuts or extends a file.
    ///
    /// # Errors
    /// What the kernel said.
    fn set_length(&self, file: &Self::File, length: u64) -> io::Result<()>;

    /// Takes room for a range of a file, or gives it back: fallocate(2).
    ///
    /// # Errors
    /// What the kernel said.
    fn allocate(&self, file: &Self::File, mode: AllocateMode, offset: u64, length: u64) -> io::Result<()>;

    /// Removes a file by its path within the folder: unlink(2).
    ///
    /// # Errors
    /// What the kernel said.
    fn remove(&self, path: &Path) -> io::Result<()>;
}
