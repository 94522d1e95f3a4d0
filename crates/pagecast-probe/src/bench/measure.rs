//! Makes one measurement: threads that move bytes at the same time, each in a part of its own.

use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};

use pagecast_core::units::{Bytes, Nanos};

use super::together::together;
use crate::io::{Cause, Direction, Io, Memory, Offsets, Times, Transfer, transfer};
use crate::watch::{Progress, Watcher};

/// The bytes that one thread moves.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a, F> {
    /// The place.
    pub file: &'a F,
    /// From here.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// The way in which bytes are moved.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The direction.
    pub direction: Direction,
    /// The bytes of one call.
    pub call: NonZero<u64>,
    /// After this time nothing more is begun.
    pub limit: Nanos,
    /// What is done, for who watches.
    pub stage: &'static str,
    /// The threads are called so: at most 15 bytes (TASK_COMM_LEN), by which a profiler tells them apart.
    pub thread: &'static str,
}

/// The bytes moved, and the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// By all threads.
    pub bytes: Bytes,
    /// The start of the first call.
    pub begun: Nanos,
    /// The end of the last call.
    pub ended: Nanos,
    /// True if all was moved before the limit.
    pub is_whole: bool,
    /// The time for which threads were ready and had no processor, summed over them.
    pub waited: Nanos,
}

impl Outcome {
    /// From the first call to the last.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        self.ended.saturating_sub(self.begun)
    }
}

/// The reasons for which a measurement has no result.
#[derive(Debug)]
pub enum Broken {
    /// Somebody wanted it to.
    Interrupted,
    /// There cannot be so many threads.
    NoThread(io::Error),
    /// A thread could not go on: its number, and what the kernel said.
    Failed(usize, io::Error),
}

/// The work of a thread.
struct Done {
    bytes: u64,
    begun: Nanos,
    ended: Nanos,
    waited: Nanos,
    answer: Result<(), Cause>,
}

/// Moves all parts at the same time, a thread for each, with memory that is there before the first call.
///
/// # Errors
/// [`Broken`].
pub fn measure<I: Io>(
    io: &I,
    parts: &[Part<'_, I::File>],
    way: Way,
    watch: &mut Watcher<'_>,
) -> Result<Outcome, Broken> {
    let (stop, mut is_interrupted) = (AtomicBool::new(false), false);
    let mut first = None;
    let look = || {
        let now = io.now();
        let begun = *first.get_or_insert(now);
        is_interrupted |= watch(Progress { stage: way.stage, done: 0, total: None }).is_break();
        if is_interrupted || now.saturating_sub(begun) >= way.limit {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let ready = |at: usize| buffer(way.call.get().min(parts[at].bytes));
    let work = |at: usize, memory| one(io, &parts[at], way, memory, &stop);
    let done = together(way.thread, parts.len(), ready, work, look).map_err(Broken::NoThread)?;
    if is_interrupted {
        return Err(Broken::Interrupted);
    }
    outcome(done)
}

/// Memory of a call with bytes of which nothing can be made.
fn buffer(length: u64) -> io::Result<Memory> {
    let length = NonZero::new(length as usize).unwrap_or(NonZero::<usize>::MIN);
    let mut memory = Memory::new(length)?;
    memory.fill_with_noise();
    Ok(memory)
}

fn one<I: Io>(
    io: &I,
    part: &Part<'_, I::File>,
    way: Way,
    memory: io::Result<Memory>,
    stop: &AtomicBool,
) -> Done {
    let mut memory = match memory {
        Ok(memory) => memory,
        Err(error) => {
            let (now, answer) = (io.now(), Err(Cause::Failed(error)));
            return Done { bytes: 0, begun: now, ended: now, waited: Nanos::ZERO, answer };
        }
    };
    let what = Transfer {
        direction: way.direction,
        offsets: Offsets::From(part.offset),
        bytes: part.bytes,
        call: way.call,
        spreads: false,
    };
    let (mut times, waited) = (Times::of_whole(), io.processor_wait());
    let begun = io.now();
    let answer = transfer(io, part.file, &what, &mut memory, &mut times, stop);
    let ended = io.now();
    let waited = io.processor_wait().saturating_sub(waited);
    match answer {
        Ok(()) => Done { bytes: part.bytes, begun, ended, waited, answer: Ok(()) },
        Err(failure) => Done { bytes: failure.moved, begun, ended, waited, answer: Err(failure.cause) },
    }
}

/// All threads together.
fn outcome(done: Vec<Done>) -> Result<Outcome, Broken> {
    let mut all = Outcome {
        bytes: Bytes(done.iter().map(|one| one.bytes).sum()),
        begun: done.iter().map(|one| one.begun).min().unwrap_or_default(),
        ended: done.iter().map(|one| one.ended).max().unwrap_or_default(),
        is_whole: true,
        waited: Nanos(done.iter().map(|one| one.waited.0).sum()),
    };
    for (at, one) in done.into_iter().enumerate() {
        match one.answer {
            Ok(()) => {}
            Err(Cause::Stopped) => all.is_whole = false,
            Err(Cause::EndOfFile) => {
                return Err(Broken::Failed(at, io::ErrorKind::UnexpectedEof.into()));
            }
            Err(Cause::Failed(error)) => return Err(Broken::Failed(at, error)),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Open;
    use crate::io::mock::{Costs, Mock};
    use std::ops::ControlFlow;
    use std::path::Path;

    const ENDLESS: Nanos = Nanos(u64::MAX);

    fn way(call: u64, limit: Nanos) -> Way {
        Way {
            direction: Direction::Write,
            call: NonZero::new(call).unwrap(),
            limit,
            stage: "measuring",
            thread: "test",
        }
    }

    fn files(mock: &Mock, count: usize) -> Vec<usize> {
        let open = Open { create: true, ..Open::default() };
        (0..count).map(|at| mock.open(Path::new(&at.to_string()), open).unwrap()).collect()
    }

    fn go_on(_: Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[test]
    fn the_time_is_that_of_all_calls_and_the_bytes_those_of_all_threads() {
        let mock = Mock::new(Costs { call_ns: 100, ns_per_byte: 2, ..Costs::default() });
        let files = files(&mock, 3);
        let parts: Vec<_> = files.iter().map(|file| Part { file, offset: 0, bytes: 1000 }).collect();
        let outcome = measure(&mock, &parts, way(400, ENDLESS), &mut go_on).unwrap();
        assert_eq!((outcome.bytes, outcome.is_whole), (Bytes(3000), true));
        // The mock's clock goes on by every call of whichever thread: 3 threads, 3 calls of 100 ns, 2 ns a byte.
        assert_eq!(outcome.duration(), Nanos(3 * (300 + 2000)));
    }

    #[test]
    fn a_part_begins_where_it_is_said_to() {
        let mock = Mock::default();
        let files = files(&mock, 1);
        let part = Part { file: &files[0], offset: 8192, bytes: 100 };
        measure(&mock, &[part], way(64, ENDLESS), &mut go_on).unwrap();
        assert_eq!(mock.calls(), [(8192, 64), (8256, 36)]);
    }

    #[test]
    fn after_the_limit_nothing_more_is_begun() {
        let mock = Mock::new(Costs { call_ns: 1000, ..Costs::default() });
        let files = files(&mock, 1);
        let part = Part { file: &files[0], offset: 0, bytes: 1 << 60 };
        let outcome = measure(&mock, &[part], way(1, Nanos(1)), &mut go_on).unwrap();
        assert!(!outcome.is_whole && outcome.bytes.0 < 1 << 60);
        assert_eq!(outcome.duration().0, 1000 * outcome.bytes.0, "what was moved has the time that it took");
    }

    #[test]
    fn who_watches_can_stop_it() {
        let mock = Mock::default();
        let files = files(&mock, 1);
        let part = Part { file: &files[0], offset: 0, bytes: 1 << 60 };
        let broken = measure(&mock, &[part], way(1, ENDLESS), &mut |_| ControlFlow::Break(()));
        assert!(matches!(broken, Err(Broken::Interrupted)));
    }

    #[test]
    fn a_thread_that_cannot_go_on_is_named() {
        let mock = Mock::default();
        let files = files(&mock, 2);
        mock.set_length(&files[0], 1000).unwrap();
        let parts: Vec<_> = files.iter().map(|file| Part { file, offset: 0, bytes: 1000 }).collect();
        let read = Way { direction: Direction::Read, ..way(500, ENDLESS) };
        let broken = measure(&mock, &parts, read, &mut go_on);
        assert!(matches!(broken, Err(Broken::Failed(1, _))), "{broken:?}");
    }
}
