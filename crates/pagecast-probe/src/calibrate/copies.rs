//! Measures the cost of the page cache for a thread: new pages, cached pages, memory touched for the first time, and pages taken away.
//!
//! A file is written, written again, read twice and cut to nothing, with calls of one size. Calls of several sizes separate costs per call
//! from costs per byte; writing again separates pages from copies. Nothing waits for a device as long as the file is too small to start the
//! flusher: its pages are gone before they are 30 s old.
//!
//! Times are those of the processor: a copy costs the same however long its thread waits for one.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use pagecast_core::units::Nanos;

use super::together::together;
use super::{Clock, Failed, Spent, doing, new_file, random_memory};
use crate::io::{Direction, Io, Memory, Offsets, Times, Transfer, transfer};

/// A copy to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Copying {
    /// Bytes of the file of each thread.
    pub bytes: u64,
    /// Bytes of one call.
    pub call: NonZero<u64>,
    /// Threads, each with a file of its own.
    pub threads: NonZero<usize>,
    /// True if the memory that is touched for the first time may come in huge pages.
    pub huge: bool,
}

/// The processor time of a thread for all bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// Writing them to pages that are not there.
    pub new: Nanos,
    /// Writing over these.
    pub again: Nanos,
    /// Reading them, into memory that is used again.
    pub read: Nanos,
    /// Reading them into new memory.
    pub fresh: Nanos,
    /// Taking the pages away.
    pub remove: Nanos,
    /// How much longer all of it took by the clock: waiting for a processor, mostly.
    pub waited: Nanos,
}

/// New, again, read and fresh: which way, and whether into memory that was never touched.
const STEPS: [(Direction, bool); 4] =
    [(Direction::Write, false), (Direction::Write, false), (Direction::Read, false), (Direction::Read, true)];

struct Copier<F> {
    path: PathBuf,
    file: F,
    used: Memory,
    fresh: Memory,
}

/// Measures copies. Each step begins in all threads at once. The files are called `path` with the number of the thread as extension; they are removed.
///
/// # Errors
/// [`Failed`] if a thread could not go on.
pub fn copies<I: Io>(io: &I, path: &Path, what: Copying, stop: &AtomicBool) -> Result<Vec<Copies>, Failed> {
    let mut copiers = Vec::with_capacity(what.threads.get());
    for number in 0..what.threads.get() {
        copiers.push(Copier::new(io, path, number, what)?);
    }
    let mut took = Vec::with_capacity(STEPS.len());
    for (direction, spreads) in STEPS {
        let Copying { bytes, call, .. } = what;
        let whole = Transfer { direction, offsets: Offsets::From(0), bytes, call, spreads };
        took.push(in_all(&mut copiers, |copier| copier.go(io, &whole, stop))?);
    }
    took.push(in_all(&mut copiers, |copier| copier.cut(io))?);
    for copier in &copiers {
        doing("unlink", io.remove(&copier.path))?;
    }
    let of = |thread: usize| Copies {
        new: took[0][thread].used,
        again: took[1][thread].used,
        read: took[2][thread].used,
        fresh: took[3][thread].used,
        remove: took[4][thread].used,
        waited: took.iter().fold(Nanos::ZERO, |sum, step| sum + step[thread].waited),
    };
    Ok((0..what.threads.get()).map(of).collect())
}

fn in_all<F: Send>(
    copiers: &mut [Copier<F>],
    act: impl Fn(&mut Copier<F>) -> Result<Spent, Failed> + Sync,
) -> Result<Vec<Spent>, Failed> {
    together(copiers, act).into_iter().collect()
}

impl<F> Copier<F> {
    fn new<I: Io<File = F>>(io: &I, path: &Path, number: usize, what: Copying) -> Result<Self, Failed> {
        let path = path.with_extension(number.to_string());
        let file = new_file(io, &path)?;
        let length = NonZero::new(what.bytes as usize).expect("there is something to copy");
        let mut fresh = doing("mmap", Memory::new(length))?;
        // Kernels without huge pages refuse; then there are none anyway.
        let _ = fresh.advise_huge(what.huge);
        Ok(Self { path, file, used: random_memory(what.call)?, fresh })
    }

    fn go<I: Io<File = F>>(
        &mut self,
        io: &I,
        what: &Transfer<'_>,
        stop: &AtomicBool,
    ) -> Result<Spent, Failed> {
        let memory = if what.spreads { &mut self.fresh } else { &mut self.used };
        let mut times = Times::of_whole();
        let clock = Clock::start(io);
        transfer(io, &self.file, what, memory, &mut times, stop).map_err(Failed::of(what.direction))?;
        Ok(clock.stop(io))
    }

    fn cut<I: Io<File = F>>(&self, io: &I) -> Result<Spent, Failed> {
        let clock = Clock::start(io);
        doing("truncate", io.set_length(&self.file, 0))?;
        Ok(clock.stop(io))
    }
}

#[cfg(test)]
mod tests {
    use super::super::mock::{Costs, Kernel};
    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);
    const COSTS: Costs = Costs {
        call_ns: 700,
        read_ns_per_kib: 50,
        write_ns_per_kib: 80,
        insert_ns: 400,
        fault_ns: 300,
        remove_ns: 90,
        ..Costs::NOTHING
    };
    const BYTES: u64 = 1 << 20;

    fn copying(call: u64, threads: usize) -> Copying {
        let (call, threads) = (NonZero::new(call).unwrap(), NonZero::new(threads).unwrap());
        Copying { bytes: BYTES, call, threads, huge: false }
    }

    #[test]
    fn each_step_takes_what_the_kernel_charges_for_it() {
        for call in [4096, 65_536, BYTES] {
            let kernel = Kernel::new(COSTS);
            let took = copies(&kernel, Path::new("c"), copying(call, 1), &GO_ON).unwrap();
            let (calls, kib, pages) = (BYTES / call, BYTES / 1024, BYTES / 4096);
            let expected = Copies {
                new: Nanos(700 * calls + 80 * kib + 400 * pages),
                again: Nanos(700 * calls + 80 * kib),
                read: Nanos(700 * calls + 50 * kib),
                fresh: Nanos(700 * calls + 50 * kib + 300 * pages),
                remove: Nanos(90 * pages),
                waited: Nanos::ZERO,
            };
            assert_eq!(took, [expected], "calls of {call}");
            assert_eq!(kernel.files(), 0, "nothing is left");
        }
    }

    #[test]
    fn every_thread_has_its_own_file_and_time() {
        let kernel = Kernel::new(COSTS);
        let took = copies(&kernel, Path::new("c"), copying(65_536, 3), &GO_ON).unwrap();
        assert_eq!((took.len(), kernel.files()), (3, 0));
        assert!(took.iter().all(|each| each.again >= Nanos(16 * 700 + 80 * 1024)), "{took:?}");
    }

    #[test]
    fn a_full_disk_is_said() {
        let kernel = Kernel::new(Costs { room: 100_000, ..COSTS });
        let failed = copies(&kernel, Path::new("c"), copying(65_536, 2), &GO_ON).unwrap_err();
        assert!(matches!(failed, Failed::Kernel { doing: "write", .. }), "{failed:?}");
    }
}
