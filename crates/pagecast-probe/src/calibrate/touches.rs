//! Measures the first touch of memory: after it was free for long, and again just after it was given back.
//!
//! A virtual machine may have given free memory to its host (`mm/page_reporting.c`), which takes a while to give it some again. Memory
//! freed a moment ago is still there. Times are those of the processor, piece by piece: memory that others have just freed is taken first.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};

use pagecast_core::units::Nanos;

use super::{Failed, doing};
use crate::io::{Io, Memory};

const PAGE: usize = 4096;

/// The time of each piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touches {
    /// At first.
    pub first: Vec<Nanos>,
    /// And again, in new memory just after.
    pub again: Vec<Nanos>,
}

/// Touches each page of so much new memory, twice. Rest of a piece is left out.
///
/// # Errors
/// [`Failed`] if there is no such memory.
pub fn touches<I: Io>(
    io: &I,
    bytes: NonZero<usize>,
    piece: NonZero<usize>,
    stop: &AtomicBool,
) -> Result<Touches, Failed> {
    Ok(Touches { first: touch(io, bytes, piece, stop)?, again: touch(io, bytes, piece, stop)? })
}

fn touch<I: Io>(
    io: &I,
    bytes: NonZero<usize>,
    piece: NonZero<usize>,
    stop: &AtomicBool,
) -> Result<Vec<Nanos>, Failed> {
    let mut memory = doing("mmap", Memory::new(bytes))?;
    // Only whole blocks go to a host, and a process gets blocks in pieces before whole ones. A kernel without huge pages refuses.
    let _ = memory.advise_huge(true);
    let mut took = Vec::with_capacity(bytes.get() / piece.get());
    for start in (0..bytes.get()).step_by(piece.get()).filter(|start| start + piece.get() <= bytes.get()) {
        if stop.load(Ordering::Relaxed) {
            return Err(Failed::Stopped);
        }
        let begun = io.processor_time();
        (start..start + piece.get()).step_by(PAGE).for_each(|at| memory.touch(at));
        took.push(io.processor_time() - begun);
    }
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::super::mock::{Costs, Kernel};
    use super::*;

    const PIECE: NonZero<usize> = NonZero::new(64 * 1024).unwrap();

    #[test]
    fn each_whole_piece_is_touched_twice() {
        let bytes = NonZero::new(10 * PIECE.get() + PAGE).unwrap();
        let found = touches(&Kernel::new(Costs::NOTHING), bytes, PIECE, &AtomicBool::new(false)).unwrap();
        assert_eq!((found.first.len(), found.again.len()), (10, 10));
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let stopped = touches(&Kernel::new(Costs::NOTHING), PIECE, PIECE, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(Failed::Stopped)));
    }
}
