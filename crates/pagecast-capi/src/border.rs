//! Checks pointers, texts and numbers of every call, and turns a panic into a status.

use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pagecast_core::embed::EmbedError;
use pagecast_core::units::{Bytes, Nanos};

use crate::pagecast_cache;
use crate::pagecast_status::{self, *};

/// What a live handle begins with: "pagecast". It tells a wrong pointer from a right one, if there is memory behind it.
pub const MARK: u64 = u64::from_be_bytes(*b"pagecast");

/// The latest time that is taken: a hundred years. Up to 2^53 ns, 104 days, a number of seconds tells every nanosecond.
const LAST_S: f64 = 100.0 * 365.0 * 86_400.0;

/// Why a call failed.
#[derive(Debug)]
pub struct Failure {
    pub status: pagecast_status,
    pub text: String,
}

pub fn fail(status: pagecast_status, text: impl Display) -> Failure {
    Failure { status, text: text.to_string() }
}

pub fn null() -> Failure {
    fail(PAGECAST_NULL_POINTER, "a pointer is null that must not be")
}

impl From<EmbedError> for Failure {
    fn from(error: EmbedError) -> Self {
        let status = match error {
            EmbedError::TimeRunsBack { .. } => PAGECAST_BAD_TIME,
            EmbedError::Late { .. } => PAGECAST_LATE,
            EmbedError::NoSuchTask(_) => PAGECAST_NO_TASK,
            EmbedError::Busy(_) => PAGECAST_BUSY,
            EmbedError::NoSuchTransfer(_) => PAGECAST_NO_TRANSFER,
            EmbedError::NotARate(_) => PAGECAST_BAD_RATE,
            EmbedError::NoMount { .. } => PAGECAST_NO_MOUNT,
            EmbedError::NoSuchFile(_) => PAGECAST_NO_FILE,
            EmbedError::FileExists(_) => PAGECAST_FILE_EXISTS,
            EmbedError::BeyondEnd { .. } => PAGECAST_BEYOND_END,
            EmbedError::DiskFull { .. } => PAGECAST_DISK_FULL,
            EmbedError::OutOfMemory { .. } | EmbedError::NoRoom { .. } => PAGECAST_OUT_OF_MEMORY,
            EmbedError::NoAnswer { .. } => PAGECAST_NO_ANSWER,
            EmbedError::MoreThanFile { .. } => PAGECAST_BAD_SIZE,
            EmbedError::Unaligned { .. } => PAGECAST_UNALIGNED,
            EmbedError::NotSupported { .. } => PAGECAST_NOT_SUPPORTED,
            _ => PAGECAST_BAD_OPERATION,
        };
        fail(status, error)
    }
}

/// Runs what may panic.
pub fn catch(call: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(fail(PAGECAST_PANIC, format!("a fault of pagecast itself, please report it: {text}")))
    })
}

/// Whether a handle is one.
///
/// # Safety
/// It is null, or points to at least 8 bytes that can be read.
pub unsafe fn is_cache(cache: *const pagecast_cache) -> bool {
    // SAFETY: the caller guarantees that it can be read.
    cache.is_aligned() && !cache.is_null() && unsafe { (&raw const (*cache).mark).read() } == MARK
}

/// Runs a call on a cache and keeps what went wrong.
///
/// # Safety
/// The handle is null, or points to at least 8 bytes that can be read; a live one is nobody else's meanwhile.
pub unsafe fn enter(
    cache: *mut pagecast_cache,
    call: impl FnOnce(&mut pagecast_cache) -> Result<(), Failure>,
) -> pagecast_status {
    if cache.is_null() {
        return PAGECAST_NULL_POINTER;
    }
    // SAFETY: the caller guarantees that it can be read.
    if !unsafe { is_cache(cache) } {
        return PAGECAST_BAD_HANDLE;
    }
    // SAFETY: it is one, and nobody else's meanwhile.
    let cache = unsafe { &mut *cache };
    if let Some(status) = cache.broken {
        return status;
    }
    match catch(|| call(cache)) {
        Ok(()) => PAGECAST_OK,
        Err(Failure { status, text }) => {
            cache.error = c_text(&text);
            cache.broken = matches!(status, PAGECAST_PANIC | PAGECAST_NO_ANSWER).then_some(status);
            status
        }
    }
}

/// Runs a call at an instant, and remembers when that was if nothing went wrong.
///
/// # Safety
/// As [`enter`].
pub unsafe fn enter_at(
    cache: *mut pagecast_cache,
    now_s: f64,
    call: impl FnOnce(&mut pagecast_cache, Nanos) -> Result<(), Failure>,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle.
    unsafe {
        enter(cache, |this| {
            let now = instant(this, now_s)?;
            call(this, now)?;
            this.now_s = now_s;
            Ok(())
        })
    }
}

/// The nanosecond that is meant. Who comes when we have said so comes in time, and two calls at one time are at one instant, even where
/// so many seconds cannot tell nanoseconds.
pub fn instant(this: &mut pagecast_cache, now_s: f64) -> Result<Nanos, Failure> {
    let now = time(now_s)?;
    let last = Some(this.cache.now());
    let meant = |known: Option<Nanos>| known.filter(|known| *known > now && known.as_seconds() <= now_s);
    Ok(meant(this.cache.next_call()).or(meant(last)).unwrap_or(now))
}

/// A text of ours for C; it ends at its first 0.
pub fn c_text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// A text of C.
///
/// # Safety
/// It is null or ends in 0.
pub unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null());
    }
    // SAFETY: the caller guarantees that it ends in 0.
    let bytes = unsafe { CStr::from_ptr(text) };
    bytes.to_str().map_err(|error| fail(PAGECAST_BAD_TEXT, format!("a text is not UTF-8: {error}")))
}

/// Copies a text into a place of so many bytes, as much of it as fits, with a 0 at its end.
///
/// # Safety
/// The place is null or has so many bytes.
pub unsafe fn copy_text(text: &str, place: *mut c_char, size: usize) {
    if place.is_null() || size == 0 {
        return;
    }
    let text = c_text(text);
    let fits = text.as_bytes().len().min(size - 1);
    // SAFETY: the caller guarantees the size, and `fits` and the 0 are within it.
    unsafe {
        place.copy_from_nonoverlapping(text.as_ptr(), fits);
        place.add(fits).write(0);
    }
}

/// A list of C.
///
/// # Safety
/// It has so many elements.
pub unsafe fn slice<'a, T>(first: *const T, count: usize) -> Result<&'a [T], Failure> {
    match (count, first.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(null()),
        // SAFETY: the caller guarantees the elements.
        (_, false) => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}

/// A place for a result.
///
/// # Safety
/// It is null or can be written.
pub unsafe fn out<'a, T>(place: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller guarantees that it can be written.
    unsafe { place.as_mut() }.ok_or_else(null)
}

fn time(seconds: f64) -> Result<Nanos, Failure> {
    if (0.0..=LAST_S).contains(&seconds) {
        return Ok(Nanos::from_seconds(seconds));
    }
    Err(fail(PAGECAST_BAD_TIME, format!("a time cannot be {seconds} s; it is from 0 to {LAST_S} s")))
}

pub fn bytes(value: i64) -> Result<Bytes, Failure> {
    offset(value).map(Bytes)
}

pub fn offset(value: i64) -> Result<u64, Failure> {
    u64::try_from(value)
        .map_err(|_| fail(PAGECAST_BAD_SIZE, format!("a size or offset cannot be {value} bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status_with_its_text() {
        let failure = catch(|| panic!("{} is broken", "a promise")).expect_err("it panics");
        assert_eq!(failure.status, PAGECAST_PANIC);
        assert!(failure.text.ends_with("please report it: a promise is broken"), "{}", failure.text);
    }

    #[test]
    fn a_text_is_cut_where_its_place_ends() {
        let mut place: [c_char; 4] = [1; 4];
        // SAFETY: the place has so many bytes.
        unsafe { copy_text("kernel", place.as_mut_ptr(), place.len()) };
        assert_eq!(place.map(|each| each as u8), *b"ker\0");
        // SAFETY: nothing is written to no place.
        unsafe { copy_text("kernel", std::ptr::null_mut(), 9) };
    }

    #[test]
    fn times_and_sizes_are_numbers_that_can_be() {
        assert!([f64::NAN, -1e-9, f64::INFINITY, 1e18].into_iter().all(|seconds| time(seconds).is_err()));
        assert_eq!(time(1.5).ok(), Some(Nanos(1_500_000_000)));
        assert!([-1, i64::MIN].into_iter().all(|size| bytes(size).is_err()));
        assert_eq!(bytes(i64::MAX).ok(), Some(Bytes(i64::MAX as u64)));
    }
}
