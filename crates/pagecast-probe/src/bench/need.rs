//! Checks that everything is there that a benchmark needs.

use std::num::NonZero;
use std::path::Path;

use pagecast_core::units::Bytes;

use super::copy;
use super::error::BenchError;
use crate::io::{Folder, Place};
use crate::warm::available;

/// Offsets and lengths are multiples of this: what O_DIRECT wants of every device that we know.
const BLOCK: u64 = 4096;

/// What is asked for, as far as it says how much there must be.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The bytes that all threads together read or write.
    pub size: Bytes,
    /// The largest call.
    pub call: NonZero<u64>,
    /// The most threads.
    pub threads: NonZero<usize>,
    /// True if files are to be cached as a whole: some cells read or write what is.
    pub is_cached: bool,
}

impl Need {
    /// The files that are cached, the memory that is copied, and the buffers of all threads.
    fn memory(self) -> Bytes {
        let buffers = Bytes(self.threads.get() as u64 * self.call.get());
        let files = if self.is_cached { self.size } else { Bytes::ZERO };
        files + copy::large(self.size) + buffers
    }
}

/// Checks that a benchmark can be made in a directory, and changes nothing.
///
/// # Errors
/// [`BenchError`] for a directory that is none, that may not be written to, that is in memory, or too small; for too little memory; and
/// for less than a call for each thread.
pub fn check(directory: &Path, need: Need) -> Result<Place, BenchError> {
    let (folder, file_system) = Folder::open_on_disk(directory)?;
    if share(need.size, need.threads) < need.call.get() {
        let (threads, call) = (need.threads.get(), Bytes(need.call.get()));
        return Err(BenchError::TooSmall { size: need.size, threads, call });
    }
    folder.check_room(need.size)?;
    let available = available()?;
    if need.memory() > available {
        return Err(BenchError::NoMemory { size: need.size, needed: need.memory(), available });
    }
    Ok(Place { file_system, free: folder.space()?.free, available })
}

/// Returns the bytes that each thread moves.
pub(super) fn share(size: Bytes, threads: NonZero<usize>) -> u64 {
    size.0 / threads.get() as u64 / BLOCK * BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: NonZero<u64> = NonZero::new(1 << 20).unwrap();

    #[test]
    fn each_thread_has_whole_blocks() {
        let threads = |count| NonZero::new(count).unwrap();
        assert_eq!(share(Bytes(1 << 20), threads(3)), 348_160);
        assert_eq!(share(Bytes(4095), threads(1)), 0);
    }

    #[test]
    fn a_directory_in_memory_is_refused() {
        let (call, threads) = (CALL, NonZero::<usize>::MIN);
        let need = Need { size: Bytes(1 << 20), call, threads, is_cached: true };
        let error = check(Path::new("/proc/self"), need).unwrap_err().to_string();
        assert!(error.contains("which has no device below it that could be measured"), "{error}");
    }

    #[test]
    fn less_than_a_call_for_each_thread_is_refused() {
        let place = tempfile::TempDir::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let (call, threads) = (CALL, NonZero::new(2).unwrap());
        let need = Need { size: Bytes(1 << 20), call, threads, is_cached: true };
        let error = check(place.path(), need).unwrap_err().to_string();
        assert!(error.contains("2 threads are less than a call of"), "{error}");
    }
}
