//! System calls that `rustix` does not have, or has only as `unsafe`. All `unsafe` of this crate is in this file, and what
//! comes out of it is safe to call.
#![allow(unsafe_code, reason = "system calls; each use has its SAFETY line")]

use std::ffi::c_void;
use std::io;
use std::num::NonZero;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags};

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
/// This makes pages clean. It does not make data durable: neither metadata nor the disk's own cache are written.
pub fn write_range(file: BorrowedFd<'_>, offset: u64, length: u64, wait: bool) -> io::Result<()> {
    let waiting = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    let flags = libc::SYNC_FILE_RANGE_WRITE | if wait { waiting } else { 0 };
    let (offset, length) = (offset as libc::off64_t, length as libc::off64_t);
    // SAFETY: no memory of ours is involved, and the file is open.
    let answer = unsafe { libc::sync_file_range(file.as_raw_fd(), offset, length, flags) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A range of a file mapped for reading. Its bytes are never touched, so a file that shrinks meanwhile does no harm (no
/// SIGBUS): the mapping is there to ask `mincore`, and to lock.
#[derive(Debug)]
pub struct Mapping {
    address: *mut c_void,
    length: NonZero<usize>,
}

// SAFETY: the mapping belongs to this value alone, its bytes are never read or written, and the kernel's calls on it may come
// from any thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `length` bytes from `offset`, which is a multiple of the page size.
    pub fn new(file: BorrowedFd<'_>, offset: u64, length: NonZero<usize>) -> io::Result<Self> {
        // SAFETY: the kernel chooses a free place (the address is null), so no memory of ours is replaced.
        let address = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                length.get(),
                ProtFlags::READ,
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

    /// How many bytes are mapped.
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
