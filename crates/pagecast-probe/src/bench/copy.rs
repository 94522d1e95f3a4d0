//! Measures the rate at which memory is copied in calls of a size: the most that a page cache could give, without system calls, without a
//! tree of pages.
//!
//! A read copies from memory that is large, as the page cache is, to a small buffer that is used again; a write the other way. Left out:
//! memory of another node.

use std::hint::black_box;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pagecast_core::units::{Bytes, Nanos};

use super::error::BenchError;
use super::measure::Outcome;
use super::together::together;
use crate::io::Direction;
use crate::watch::{Interrupted, Progress, Watcher};

/// The large memory of all threads together is no more than this: no processor's caches hold it.
const LARGEST: u64 = 1 << 30;
/// It is copied again and again for so long.
const LEAST: Duration = Duration::from_millis(200);

/// What is copied for files of a size: as much, so that what fits into the processors' caches does so here too.
pub(super) fn large(size: Bytes) -> Bytes {
    size.min(Bytes(LARGEST))
}

/// Copies in `threads` threads, from or to memory of `size` for all of them.
///
/// # Errors
/// [`BenchError`]: interrupted, or too many threads.
pub fn copy(
    direction: Direction,
    call: NonZero<u64>,
    threads: NonZero<usize>,
    size: Bytes,
    watch: &mut Watcher<'_>,
) -> Result<Outcome, BenchError> {
    let (stop, mut is_interrupted) = (AtomicBool::new(false), false);
    let (zero, mut first) = (Instant::now(), None);
    let look = || {
        let begun = first.get_or_insert_with(Instant::now);
        is_interrupted |= watch(Progress { stage: "copying", done: 0, total: None }).is_break();
        if is_interrupted || begun.elapsed() >= LEAST {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let call = call.get() as usize;
    let large = (large(size).0 as usize / threads.get()).max(call);
    // Not zeroes: the kernel would give the same page for all of them.
    let ready = |_| (vec![1_u8; large], vec![2_u8; call]);
    let work = |_, (mut large, mut small): (Vec<u8>, Vec<u8>)| {
        let (begun, mut moved) = (zero.elapsed(), 0);
        loop {
            moved += pass(direction, &mut large, &mut small);
            if stop.load(Ordering::Relaxed) {
                return (moved, begun, zero.elapsed());
            }
        }
    };
    let done = together("copy", threads.get(), ready, work, look)
        .map_err(|source| BenchError::NoThread { threads: threads.get(), source })?;
    if is_interrupted {
        return Err(Interrupted.into());
    }
    let nanos = |time: Option<Duration>| Nanos(time.unwrap_or_default().as_nanos() as u64);
    Ok(Outcome {
        bytes: Bytes(done.iter().map(|one| one.0 as u64).sum()),
        begun: nanos(done.iter().map(|one| one.1).min()),
        ended: nanos(done.iter().map(|one| one.2).max()),
        is_whole: true,
        waited: Nanos::ZERO,
    })
}

/// Copies once through the large memory; gives how many bytes.
pub(crate) fn pass(direction: Direction, large: &mut [u8], small: &mut [u8]) -> usize {
    let mut moved = 0;
    for piece in large.chunks_exact_mut(small.len()) {
        match direction {
            Direction::Read => small.copy_from_slice(piece),
            Direction::Write => piece.copy_from_slice(small),
        }
        black_box(&mut *small);
        moved += piece.len();
    }
    black_box(large);
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ProbeError;
    use std::ops::ControlFlow;

    #[test]
    fn a_pass_copies_all_whole_pieces() {
        let (mut large, mut small) = (vec![1; 10], vec![2; 4]);
        assert_eq!(pass(Direction::Write, &mut large, &mut small), 8);
        assert_eq!(large, [2, 2, 2, 2, 2, 2, 2, 2, 1, 1]);
        assert_eq!(pass(Direction::Read, &mut [3; 8], &mut small), 8);
        assert_eq!(small, [3; 4]);
    }

    #[test]
    fn it_can_be_stopped() {
        let call = NonZero::new(1 << 20).unwrap();
        let broken = copy(Direction::Read, call, NonZero::<usize>::MIN, Bytes(8 << 20), &mut |_| {
            ControlFlow::Break(())
        });
        assert!(matches!(broken, Err(BenchError::Probe(ProbeError::Interrupted))));
    }
}
