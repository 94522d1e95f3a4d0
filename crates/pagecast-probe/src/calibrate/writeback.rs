//! Measures write-back: its rate, its cost for a writer of new pages of the same file, and the time to cut a file with blocks on the disk.
//!
//! sync_file_range(2) of the cached pages stands in for the flusher: the same pages go the same way, at a known moment. Left out: the
//! flusher of the kernel itself, whose start depends on other dirty pages.

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pagecast_core::units::Nanos;

use super::{Clock, Failed, Moved, doing, make, new_file, random_memory};
use crate::io::{Direction, Io, Memory, Offsets, Sync, Times, Transfer, transfer};

/// A writer alone, beside write-back, and the write-back. The times of the writer are those of its processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// New pages, nothing else going on.
    pub alone: Moved,
    /// New pages of the same file, while those of before are written.
    pub beside: Moved,
    /// The bytes written back meanwhile.
    pub drained: Moved,
}

/// Calls of a writer of new pages.
const CALL: NonZero<u64> = NonZero::new(1 << 20).unwrap();

/// Writes a new file, says how long write-back of it takes, and then how long cutting it to nothing: its pages and its blocks.
///
/// # Errors
/// [`Failed`] if the kernel refuses.
pub fn drain<I: Io>(io: &I, path: &Path, bytes: u64, stop: &AtomicBool) -> Result<(Moved, Nanos), Failed> {
    let drained = put(io, path, bytes, stop)?;
    Ok((drained, cut(io, path)?))
}

/// Writes a new file, and says how long write-back of it takes.
///
/// # Errors
/// [`Failed`] if the kernel refuses.
pub fn put<I: Io>(io: &I, path: &Path, bytes: u64, stop: &AtomicBool) -> Result<Moved, Failed> {
    let file = new_file(io, path)?;
    write(io, &file, &mut random_memory(CALL)?, 0, bytes, stop)?;
    write_back(io, &file, bytes)
}

/// Cuts a file to nothing, and says how long that takes: its pages and its blocks.
///
/// # Errors
/// [`Failed`] if the kernel refuses.
pub fn cut<I: Io>(io: &I, path: &Path) -> Result<Nanos, Failed> {
    let file = doing("open", io.open(path, make([])))?;
    let (waited, begun) = (io.processor_wait(), io.now());
    doing("truncate", io.set_length(&file, 0))?;
    let waited = io.processor_wait() - waited;
    Ok(Nanos((io.now() - begun).0.saturating_sub(waited.0)))
}

/// Writes a new file and says how far it was after every `mark` bytes: the kernel's own flusher begins on the way, where so much is
/// dirty. The file is cut afterwards.
///
/// # Errors
/// [`Failed`] if the kernel refuses.
pub fn fill<I: Io>(
    io: &I,
    path: &Path,
    bytes: u64,
    mark: NonZero<u64>,
    stop: &AtomicBool,
) -> Result<Moved, Failed> {
    let file = new_file(io, path)?;
    let mut memory = random_memory(CALL)?;
    let mut moved = Moved::default();
    let (waited, begun) = (io.processor_wait(), io.now());
    while moved.bytes < bytes {
        let part = write(io, &file, &mut memory, moved.bytes, mark.get().min(bytes - moved.bytes), stop)?;
        moved.bytes += part.bytes;
        moved.calls += part.calls;
        moved.time = io.now() - begun;
        moved.marks.push((moved.time, moved.bytes));
    }
    moved.waited = io.processor_wait() - waited;
    doing("truncate", io.set_length(&file, 0))?;
    Ok(moved)
}

/// Writes `dirty` bytes of a new file, then up to `most` more while the first are written back. The file is cut afterwards.
///
/// # Errors
/// [`Failed`] if the kernel refuses.
pub fn beside<I: Io>(
    io: &I,
    path: &Path,
    dirty: u64,
    most: u64,
    stop: &AtomicBool,
) -> Result<Beside, Failed> {
    let file = new_file(io, path)?;
    let mut memory = random_memory(CALL)?;
    let alone = write(io, &file, &mut memory, 0, dirty, stop)?;
    let is_over = AtomicBool::new(false);
    let (beside, drained) = thread::scope(|scope| {
        let flusher = scope.spawn(|| {
            let drained = write_back(io, &file, dirty);
            is_over.store(true, Ordering::Relaxed);
            drained
        });
        let beside = write_until(io, &file, &mut memory, dirty..dirty + most, &is_over, stop);
        (beside, flusher.join().expect("no measuring loop panics"))
    });
    let answer = Beside { alone, beside: beside?, drained: drained? };
    doing("truncate", io.set_length(&file, 0))?;
    Ok(answer)
}

fn write_back<I: Io>(io: &I, file: &I::File, bytes: u64) -> Result<Moved, Failed> {
    let (waited, begun) = (io.processor_wait(), io.now());
    doing("sync_file_range", io.sync(file, Sync::Range { offset: 0, length: bytes, wait: true }))?;
    let time = io.now() - begun;
    Ok(Moved { bytes, calls: 1, time, waited: io.processor_wait() - waited, marks: vec![] })
}

fn write<I: Io>(
    io: &I,
    file: &I::File,
    memory: &mut Memory,
    offset: u64,
    bytes: u64,
    stop: &AtomicBool,
) -> Result<Moved, Failed> {
    let what = Transfer {
        direction: Direction::Write,
        offsets: Offsets::From(offset),
        bytes,
        call: CALL,
        spreads: false,
    };
    let mut times = Times::of_whole();
    let clock = Clock::start(io);
    transfer(io, file, &what, memory, &mut times, stop).map_err(Failed::of(Direction::Write))?;
    let time = clock.stop(io).used;
    Ok(Moved { bytes, calls: bytes.div_ceil(CALL.get()), time, ..Moved::default() })
}

/// Writes call after call until write-back is over; the one that it ends in is not counted.
fn write_until<I: Io>(
    io: &I,
    file: &I::File,
    memory: &mut Memory,
    range: std::ops::Range<u64>,
    is_over: &AtomicBool,
    stop: &AtomicBool,
) -> Result<Moved, Failed> {
    let mut moved = Moved::default();
    let mut offset = range.start;
    while offset + CALL.get() <= range.end {
        let call = write(io, file, memory, offset, CALL.get(), stop)?;
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        offset += call.bytes;
        moved.bytes += call.bytes;
        moved.calls += 1;
        moved.time = Nanos(moved.time.0 + call.time.0);
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::super::mock::{Costs, Kernel};
    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);
    const COSTS: Costs = Costs {
        call_ns: 1000,
        insert_ns: 500,
        remove_ns: 7,
        device_ns_per_byte: 2,
        sync_ns: 9999,
        ..Costs::NOTHING
    };
    const BYTES: u64 = 4 << 20;

    #[test]
    fn draining_counts_neither_the_writes_nor_the_flush_of_the_device() {
        let kernel = Kernel::new(COSTS);
        let (drained, freed) = drain(&kernel, Path::new("d"), BYTES, &GO_ON).unwrap();
        assert_eq!((drained.bytes, drained.time), (BYTES, Nanos(2 * BYTES)));
        assert_eq!(freed, Nanos(7 * BYTES / 4096), "each page and its block");
    }

    #[test]
    fn a_file_that_fills_memory_says_how_far_it_was() {
        let kernel = Kernel::new(COSTS);
        let half = NonZero::new(BYTES / 2).unwrap();
        let filled = fill(&kernel, Path::new("d"), BYTES, half, &GO_ON).unwrap();
        let time = |bytes: u64| Nanos(bytes / CALL.get() * 1000 + 500 * bytes / 4096);
        assert_eq!(filled.marks, [(time(BYTES / 2), BYTES / 2), (time(BYTES), BYTES)]);
        assert_eq!((filled.bytes, filled.calls), (BYTES, 4));
        let some = fill(&kernel, Path::new("d"), BYTES / 2, half, &AtomicBool::new(true));
        assert!(matches!(some, Err(Failed::Stopped)));
    }

    #[test]
    fn a_writer_beside_write_back_ends_with_it_or_with_its_bytes() {
        let kernel = Kernel::new(COSTS);
        let found = beside(&kernel, Path::new("d"), BYTES, 2 << 20, &GO_ON).unwrap();
        assert_eq!(found.alone.time, Nanos(4 * 1000 + 500 * BYTES / 4096));
        assert!(found.beside.bytes <= 2 << 20 && found.drained.time >= Nanos(2 * BYTES));
    }
}
