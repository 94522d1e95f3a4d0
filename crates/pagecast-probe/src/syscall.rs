//! Wraps system calls that `rustix` does not have, or has only as `unsafe`. All `unsafe` of this crate is in this file, and its functions
//! are safe to call.
#![allow(unsafe_code, reason = "system calls; each use has its SAFETY line")]

use std::ffi::{CStr, c_void};
use std::io;
use std::num::NonZero;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::sync::{Arc, Weak};

use pagecast_core::units::Bytes;
use pagecast_core::workload::{MOST_PLACES, MapAdvice, SyncRangeFlag, SyncRangeFlags};
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};

use crate::io::Direction;

/// `cachestat(2)`, Linux 6.5 (include/uapi/asm-generic/unistd.h); the same number on every architecture that we build for.
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range` (include/uapi/linux/mman.h).
#[repr(C)]
struct CachestatRange {
    off: u64,
    len: u64,
}

/// `struct cachestat` (include/uapi/linux/mman.h): pages of a range of a file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cachestat {
    pub nr_cache: u64,
    pub nr_dirty: u64,
    pub nr_writeback: u64,
    pub nr_evicted: u64,
    pub nr_recently_evicted: u64,
}

/// Counts the pages of `length` bytes from `offset`; a length of 0 goes to the end of the page cache, not of the file.
pub fn cachestat(file: BorrowedFd<'_>, offset: u64, length: u64) -> io::Result<Cachestat> {
    let range = CachestatRange { off: offset, len: length };
    let mut counts = Cachestat::default();
    // SAFETY: both pointers are to live values of the layout that the kernel defines, and the file is open.
    let answer = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            ptr::from_ref(&range),
            ptr::from_mut(&mut counts),
            0_u32,
        )
    };
    if answer == 0 { Ok(counts) } else { Err(io::Error::last_os_error()) }
}

/// Asks the kernel to read `length` bytes from `offset` into the page cache; does not wait for them.
pub fn readahead(file: BorrowedFd<'_>, offset: u64, length: usize) -> io::Result<()> {
    // SAFETY: no memory of ours is involved, and the file is open.
    let answer = unsafe { libc::readahead(file.as_raw_fd(), offset as libc::off64_t, length) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Starts the write-back of a range of a file; with `wait`, returns when all of it has been written.
pub fn write_range(file: BorrowedFd<'_>, offset: u64, length: u64, wait: bool) -> io::Result<()> {
    let flags = if wait { &SyncRangeFlag::ALL[..] } else { &[SyncRangeFlag::Write] };
    sync_range(file, offset, length, flags.iter().copied().collect())
}

/// sync_file_range(2); a length of 0 goes to the end of the file.
/// This makes pages clean. It does not make data durable: neither metadata nor the disk's own cache are written.
pub fn sync_range(file: BorrowedFd<'_>, offset: u64, length: u64, flags: SyncRangeFlags) -> io::Result<()> {
    let bit = |flag| match flag {
        SyncRangeFlag::WaitBefore => libc::SYNC_FILE_RANGE_WAIT_BEFORE,
        SyncRangeFlag::Write => libc::SYNC_FILE_RANGE_WRITE,
        SyncRangeFlag::WaitAfter => libc::SYNC_FILE_RANGE_WAIT_AFTER,
    };
    let set = SyncRangeFlag::ALL.into_iter().filter(|&flag| flags.has(flag));
    let flags = set.fold(0, |bits, flag| bits | bit(flag));
    let (offset, length) = (offset as libc::off64_t, length as libc::off64_t);
    // SAFETY: no memory of ours is involved, and the file is open.
    let answer = unsafe { libc::sync_file_range(file.as_raw_fd(), offset, length, flags) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A range of a file that is mapped. Of one for reading the bytes are never touched, so a file that shrinks meanwhile does no harm (no
/// SIGBUS): the mapping is there to ask `mincore`, and to lock.
#[derive(Debug)]
pub struct Mapping {
    address: *mut c_void,
    length: NonZero<usize>,
}

// SAFETY: the mapping belongs to this value alone, its bytes are read or written by whoever owns it alone, and the kernel's calls on it may come
// from any thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `length` bytes from `offset`, which is a multiple of the page size.
    pub fn new(file: BorrowedFd<'_>, offset: u64, length: NonZero<usize>) -> io::Result<Self> {
        Self::with(file, offset, length, ProtFlags::READ)
    }

    fn with(
        file: BorrowedFd<'_>,
        offset: u64,
        length: NonZero<usize>,
        protection: ProtFlags,
    ) -> io::Result<Self> {
        // SAFETY: the kernel chooses a free place (the address is null), so no memory of ours is replaced.
        let address = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                length.get(),
                protection,
                MapFlags::SHARED,
                file.as_fd(),
                offset,
            )
        }?;
        Ok(Self { address, length })
    }

    /// Says of each page of the mapping whether it is in memory (bit 0; the others mean nothing).
    pub fn mincore(&self, pages: &mut Vec<u8>) -> io::Result<()> {
        let count = self.length.get().div_ceil(rustix::param::page_size());
        pages.clear();
        pages.resize(count, 0);
        // SAFETY: the range is our own mapping, and `pages` has a byte for each of its pages.
        let answer = unsafe { libc::mincore(self.address, self.length.get(), pages.as_mut_ptr()) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Reads the pages of a part of the mapping into memory and holds them there until the mapping is gone.
    pub fn lock(&self, from: usize, length: usize) -> io::Result<()> {
        assert!(from + length <= self.length.get(), "only what is mapped can be locked");
        // SAFETY: the range lies in our own mapping; locking changes none of its bytes.
        unsafe { rustix::mm::mlock(self.address.byte_add(from), length) }?;
        Ok(())
    }

    /// The number of mapped bytes.
    pub fn length(&self) -> usize {
        self.length.get()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing refers to it any more. It cannot fail for a range that was mapped.
        let _ = unsafe { rustix::mm::munmap(self.address, self.length.get()) };
    }
}

/// A range of a file mapped to be read and written (MAP_SHARED). Whoever cuts the file meanwhile ends this process with SIGBUS.
#[derive(Debug)]
pub struct SharedMapping(Mapping);

impl SharedMapping {
    /// Maps `length` bytes from `offset`, which is a multiple of the page size, of a file that is open for reading and writing.
    pub fn new(file: BorrowedFd<'_>, offset: u64, length: NonZero<usize>) -> io::Result<Self> {
        Mapping::with(file, offset, length, ProtFlags::READ | ProtFlags::WRITE).map(Self)
    }

    /// madvise(2) of all of it.
    pub fn advise(&self, advice: MapAdvice) -> io::Result<()> {
        let advice = match advice {
            MapAdvice::Normal => rustix::mm::Advice::Normal,
            MapAdvice::Sequential => rustix::mm::Advice::Sequential,
            MapAdvice::Random => rustix::mm::Advice::Random,
        };
        // SAFETY: the range is our own mapping; none of these changes its bytes.
        unsafe { rustix::mm::madvise(self.0.address, self.0.length(), advice) }?;
        Ok(())
    }

    /// Copies `length` bytes at `from` to the memory, or from there; whoever is the first at a page has a fault.
    ///
    /// # Panics
    /// If the mapping or the memory is too short.
    pub fn pass(&mut self, direction: Direction, from: usize, memory: &mut Memory, length: usize) {
        assert!(from + length <= self.0.length() && length <= memory.length(), "both have these bytes");
        let (mapped, own) =
            (self.0.address.wrapping_byte_add(from).cast::<u8>(), memory.anonymous.address.cast());
        // SAFETY: both ranges lie in mappings of our own that may be read and written, that do not overlap, and to which no
        // reference exists. The bytes of the file may be changed by others at any time; nobody looks at what is copied.
        unsafe {
            match direction {
                Direction::Read => ptr::copy_nonoverlapping(mapped, own, length),
                Direction::Write => ptr::copy_nonoverlapping(own, mapped, length),
            }
        }
    }

    /// msync(2) of all of it.
    pub fn sync(&self, is_async: bool) -> io::Result<()> {
        let flags = if is_async { MsyncFlags::ASYNC } else { MsyncFlags::SYNC };
        // SAFETY: the range is our own mapping; writing it back changes none of its bytes.
        unsafe { rustix::mm::msync(self.0.address, self.0.length(), flags) }?;
        Ok(())
    }
}

/// As many pieces as one call takes.
const MOST_PIECES: usize = MOST_PLACES as usize;
/// As many bytes as one call moves (`MAX_RW_COUNT`, include/linux/fs.h).
const MOST_BYTES: usize = 0x7fff_f000;

/// Anonymous memory of our own that calls read into and write from. Its bytes mean nothing, and nobody looks at them: a call of
/// any length goes through it round and round, as one system call. So a reader that takes a whole file in one call needs no memory
/// of that size.
#[derive(Debug)]
pub struct Memory {
    anonymous: Arc<Anonymous>,
    pieces: Box<[libc::iovec]>,
    /// No piece of a call is longer.
    longest: usize,
    /// The flags of each call (preadv2, pwritev2).
    flags: libc::c_int,
}

/// The direction of the bytes.
#[derive(Clone, Copy)]
enum Way {
    /// From a file.
    Read,
    /// To a file.
    Write,
}

/// `RWF_DONTCACHE`, Linux 6.14 (include/uapi/linux/fs.h).
const RWF_DONTCACHE: libc::c_int = 0x80;

// SAFETY: the pieces only point into the mapping, and nobody else reads or writes its bytes.
unsafe impl Send for Memory {}

/// An anonymous mapping of our own.
#[derive(Debug)]
struct Anonymous {
    address: *mut c_void,
    length: NonZero<usize>,
}

// SAFETY: an address and a length that never change; whoever reads or writes the bytes there owns the `Memory`.
unsafe impl Send for Anonymous {}
// SAFETY: as above.
unsafe impl Sync for Anonymous {}

impl Drop for Anonymous {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing refers to it any more. It cannot fail for a range that was mapped.
        let _ = unsafe { rustix::mm::munmap(self.address, self.length.get()) };
    }
}

/// Takes a [`Memory`] away from a call of another thread that uses it; nothing happens if it is gone.
#[derive(Debug, Default)]
pub struct Withdrawal(Weak<Anonymous>);

impl Withdrawal {
    /// Lets nobody read or write the memory any more: a call that is about to ends with EFAULT, or with the bytes that it has moved.
    /// Its owner must not touch it after that, only drop it.
    pub fn withdraw(&self) {
        let Some(anonymous) = self.0.upgrade() else { return };
        // SAFETY: the range is a mapping of our own, which is there as long as `anonymous` is, and to which no references exist.
        let _ = unsafe { libc::mprotect(anonymous.address, anonymous.length.get(), libc::PROT_NONE) };
    }
}

impl Memory {
    /// Takes `length` bytes of address space; no page of it is there before it is touched.
    ///
    /// # Errors
    /// What the kernel said, as when there is no more address space.
    pub fn new(length: NonZero<usize>) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses a free place (the address is null), so no memory of ours is replaced.
        let address = unsafe {
            rustix::mm::mmap_anonymous(ptr::null_mut(), length.get(), protection, MapFlags::PRIVATE)
        }?;
        let nothing = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        // Enough for the longest call, from a place in the middle.
        let pieces = (MOST_BYTES / length.get() + 2).min(MOST_PIECES);
        let anonymous = Arc::new(Anonymous { address, length });
        Ok(Self {
            anonymous,
            pieces: vec![nothing; pieces].into_boxed_slice(),
            longest: usize::MAX,
            flags: 0,
        })
    }

    /// Lets calls leave nothing in the page cache from now on (RWF_DONTCACHE), or something again.
    pub fn set_dontcache(&mut self, is_set: bool) {
        self.flags = if is_set { RWF_DONTCACHE } else { 0 };
    }

    /// Lets calls have their bytes in pieces of this length, at least one byte, from now on (readv, writev), or in as few as there can be
    /// (`usize::MAX`).
    pub fn set_longest(&mut self, bytes: usize) {
        self.longest = bytes.max(1);
        if self.longest < self.length() && self.pieces.len() < MOST_PIECES {
            let nothing = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
            self.pieces = vec![nothing; MOST_PIECES].into_boxed_slice();
        }
    }

    /// What takes it away from a call that is under way.
    #[must_use]
    pub fn withdrawal(&self) -> Withdrawal {
        Withdrawal(Arc::downgrade(&self.anonymous))
    }

    /// The number of its bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.anonymous.length.get()
    }

    /// Makes every byte `value`; so every page is there.
    pub fn fill(&mut self, value: u8) {
        // SAFETY: the range is our own mapping, which may be written to.
        unsafe { ptr::write_bytes(self.anonymous.address.cast::<u8>(), value, self.length()) };
    }

    /// Makes its bytes such that nothing can be made of them: a file system or a device that compresses would otherwise be
    /// measured with what no program writes. Every page is there then.
    pub fn fill_with_noise(&mut self) {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for at in 0..self.length() / 8 {
            // Marsaglia's xorshift64.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // SAFETY: the eight bytes lie in our own mapping, which may be written to and begins with a page.
            unsafe { self.anonymous.address.cast::<u64>().add(at).write(state) };
        }
    }

    /// Writes to a page, so that it is there.
    ///
    /// # Panics
    /// If `at` is not in it.
    pub fn touch(&mut self, at: usize) {
        assert!(at < self.length(), "only what is mapped can be touched");
        // SAFETY: the byte lies in our own mapping, which may be written to. Volatile, as nobody ever reads it.
        unsafe { self.anonymous.address.cast::<u8>().add(at).write_volatile(1) };
    }

    /// Lets pages that are not there yet come huge, or not.
    ///
    /// # Errors
    /// What the kernel said; one without huge pages refuses.
    pub fn advise_huge(&mut self, huge: bool) -> io::Result<()> {
        let advice =
            if huge { rustix::mm::Advice::LinuxHugepage } else { rustix::mm::Advice::LinuxNoHugepage };
        // SAFETY: the range is our own mapping; what its pages are made of changes none of its bytes.
        unsafe { rustix::mm::madvise(self.anonymous.address, self.length(), advice) }?;
        Ok(())
    }

    /// Gives the pages between two places back to the kernel, as far as they are whole.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn give_back(&mut self, from: usize, to: usize) -> io::Result<()> {
        let page = rustix::param::page_size();
        let (from, to) = (from.next_multiple_of(page), to.min(self.length()).next_multiple_of(page));
        if from >= to {
            return Ok(());
        }
        // SAFETY: the range lies in the pages of our own mapping; its bytes mean nothing, and become 0.
        unsafe {
            let begin = self.anonymous.address.byte_add(from);
            rustix::mm::madvise(begin, to - from, rustix::mm::Advice::LinuxDontNeed)
        }?;
        Ok(())
    }

    /// read(2) of `length` bytes at `offset` to the place `at`, and round to its beginning where it is too short.
    pub fn read(&mut self, file: BorrowedFd<'_>, at: usize, length: usize, offset: u64) -> io::Result<usize> {
        self.pass(Way::Read, file, at, length, offset)
    }

    /// write(2) of `length` bytes at `offset` from the place `at`, and round from its beginning where it is too short.
    pub fn write(
        &mut self,
        file: BorrowedFd<'_>,
        at: usize,
        length: usize,
        offset: u64,
    ) -> io::Result<usize> {
        self.pass(Way::Write, file, at, length, offset)
    }

    /// preadv(2) or pwritev(2); with flags the calls that take some, which a kernel without them need not have.
    fn pass(
        &mut self,
        way: Way,
        file: BorrowedFd<'_>,
        at: usize,
        length: usize,
        offset: u64,
    ) -> io::Result<usize> {
        let count = self.cut(at, length);
        let (file, pieces, offset) = (file.as_raw_fd(), self.pieces.as_ptr(), offset as libc::off_t);
        // SAFETY: the first `count` pieces lie in our own mapping, which may be read and written and to which no reference exists; the
        // file is open.
        let answer = unsafe {
            match (way, self.flags) {
                (Way::Read, 0) => libc::preadv(file, pieces, count, offset),
                (Way::Read, flags) => libc::preadv2(file, pieces, count, offset, flags),
                (Way::Write, 0) => libc::pwritev(file, pieces, count, offset),
                (Way::Write, flags) => libc::pwritev2(file, pieces, count, offset, flags),
            }
        };
        usize::try_from(answer).map_err(|_| io::Error::last_os_error())
    }

    /// Cuts `length` bytes from `at` into pieces of this memory; what does not fit into one call is left out.
    fn cut(&mut self, at: usize, length: usize) -> libc::c_int {
        let Anonymous { address, length: whole } = *self.anonymous;
        let (mut from, mut left, mut count) = (at % whole.get(), length, 0);
        let longest = self.longest;
        for piece in &mut self.pieces {
            if left == 0 {
                break;
            }
            let bytes = left.min(whole.get() - from).min(longest);
            *piece = libc::iovec { iov_base: address.wrapping_byte_add(from), iov_len: bytes };
            (from, left, count) = ((from + bytes) % whole.get(), left - bytes, count + 1);
        }
        count
    }
}

/// A stream of the C library. No other thread has it: its calls need no lock but the library's own.
#[derive(Debug)]
pub struct CStream {
    /// None when it is closed.
    file: Option<ptr::NonNull<libc::FILE>>,
    /// What setvbuf was given, which stays as long as the stream.
    buffer: Option<Memory>,
}

// SAFETY: a `FILE` may be used from any thread, and only the owner of this value uses it.
unsafe impl Send for CStream {}

impl CStream {
    /// fdopen(3) of a file that was opened accordingly: what fopen(3) makes of the file that it opens.
    pub fn new(file: OwnedFd, mode: &CStr) -> io::Result<Self> {
        // SAFETY: the descriptor is open and the text ends with a zero. From here on the stream owns the descriptor.
        let stream = unsafe { libc::fdopen(file.as_raw_fd(), mode.as_ptr()) };
        let stream = ptr::NonNull::new(stream).ok_or_else(io::Error::last_os_error)?;
        let _owned_by_the_stream = file.into_raw_fd();
        Ok(Self { file: Some(stream), buffer: None })
    }

    /// setvbuf(3), before the first transfer: full buffering with memory of our own, or none. (Without memory glibc keeps to its own size.)
    pub fn set_buffer(&mut self, size: usize) -> io::Result<()> {
        let mut memory = NonZero::new(size).map(Memory::new).transpose()?;
        if let Some(memory) = &mut memory {
            memory.fill(0);
        }
        let (kind, address) = match &memory {
            Some(memory) => (libc::_IOFBF, memory.anonymous.address.cast()),
            None => (libc::_IONBF, ptr::null_mut()),
        };
        // SAFETY: the stream is open, and the memory is ours, of this size, used by nobody else and there as long as the stream: it is
        // dropped after `close`.
        let answer = unsafe { libc::setvbuf(self.stream(), address, kind, size) };
        self.buffer = memory;
        done(answer == 0)
    }

    /// fwrite(3) of the first bytes of a memory.
    pub fn write(&mut self, memory: &mut Memory, bytes: usize) -> io::Result<()> {
        assert!(bytes <= memory.length(), "only what is mapped can be written");
        // SAFETY: the bytes lie in our own mapping, and the stream is open.
        let moved = unsafe { libc::fwrite(memory.anonymous.address, 1, bytes, self.stream()) };
        done(moved == bytes)
    }

    /// fread(3) to the beginning of a memory.
    pub fn read(&mut self, memory: &mut Memory, bytes: usize) -> io::Result<()> {
        assert!(bytes <= memory.length(), "only to what is mapped can be read");
        // SAFETY: the bytes lie in our own mapping, which may be written to and to which no reference exists; the stream is open.
        let moved = unsafe { libc::fread(memory.anonymous.address, 1, bytes, self.stream()) };
        // SAFETY: the stream is open.
        match moved < bytes && unsafe { libc::feof(self.stream()) } != 0 {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => done(moved == bytes),
        }
    }

    /// fseek(3) from the beginning of the file.
    pub fn seek(&mut self, offset: u64) -> io::Result<()> {
        // SAFETY: the stream is open.
        done(unsafe { libc::fseeko(self.stream(), offset as libc::off_t, libc::SEEK_SET) } == 0)
    }

    /// fflush(3).
    pub fn flush(&mut self) -> io::Result<()> {
        // SAFETY: the stream is open.
        done(unsafe { libc::fflush(self.stream()) } == 0)
    }

    /// fclose(3); nothing if it is closed.
    pub fn close(&mut self) -> io::Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        // SAFETY: the stream is open, and nobody uses it after this: it was taken out of its place.
        done(unsafe { libc::fclose(file.as_ptr()) } == 0)
    }

    fn stream(&self) -> *mut libc::FILE {
        self.file.expect("a stream is used until it is closed").as_ptr()
    }
}

impl Drop for CStream {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

fn done(is_done: bool) -> io::Result<()> {
    if is_done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What the calling thread has had read from devices (`ru_inblock`, in units of 512 bytes whatever the device).
pub fn thread_device_read() -> Bytes {
    // SAFETY: an all-zero `rusage` is a valid value of plain integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live value of the type that the call wants. It cannot fail for this thread.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    Bytes(usage.ru_inblock as u64 * 512)
}

/// Lets the child write `text` to an open file before it becomes the command: how it joins a cgroup before its first page.
pub fn write_before_exec(command: &mut Command, file: std::fs::File, text: &'static [u8]) {
    let write = move || {
        rustix::io::write(&file, text)?;
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe work is allowed; this is a single write of bytes that exist already.
    unsafe { command.pre_exec(write) };
}

/// What a child and all of its descendants that were waited for have used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub user_s: f64,
    pub system_s: f64,
    pub major_faults: u64,
    /// Bytes that were fetched from devices (`ru_inblock`, in units of 512 bytes whatever the device).
    pub device_read_bytes: u64,
}

/// Takes an ended child away and says how it ended and what it has used. Waits if it has not ended.
pub fn reap(pid: u32) -> io::Result<(std::process::ExitStatus, Usage)> {
    use std::os::unix::process::ExitStatusExt;
    let mut status = 0;
    // SAFETY: an all-zero `rusage` is a valid value of plain integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live values of the types that the call wants.
        let answer = unsafe { libc::wait4(pid as libc::pid_t, &raw mut status, 0, &raw mut usage) };
        if answer >= 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let usage = Usage {
        user_s: seconds(usage.ru_utime),
        system_s: seconds(usage.ru_stime),
        major_faults: usage.ru_majflt as u64,
        device_read_bytes: usage.ru_inblock as u64 * 512,
    };
    Ok((std::process::ExitStatus::from_raw(status), usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lengths of the pieces of a call.
    fn pieces(memory: &mut Memory, at: usize, length: usize) -> Vec<usize> {
        let count = memory.cut(at, length) as usize;
        memory.pieces[..count].iter().map(|piece| piece.iov_len).collect()
    }

    #[test]
    fn a_call_is_cut_where_the_memory_ends_and_where_a_place_does() {
        let mut memory = Memory::new(NonZero::new(4096).expect("some bytes")).expect("there is memory");
        assert_eq!(pieces(&mut memory, 0, 4096), [4096]);
        assert_eq!(pieces(&mut memory, 96, 9000), [4000, 4096, 904]);
        memory.set_longest(1500);
        assert_eq!(pieces(&mut memory, 0, 5000), [1500, 1500, 1096, 904]);
        memory.set_longest(0);
        assert_eq!(pieces(&mut memory, 0, 3), [1, 1, 1]);
        memory.set_longest(usize::MAX);
        assert_eq!(pieces(&mut memory, 4096, 100), [100]);
    }

    #[test]
    fn no_call_has_more_places_than_the_kernel_takes() {
        let mut memory = Memory::new(NonZero::new(64 << 20).expect("some bytes")).expect("there is memory");
        memory.set_longest(4096);
        assert_eq!(pieces(&mut memory, 0, 64 << 20).len(), MOST_PIECES);
    }
}
