//! Moves bytes in calls of one size, and times each call: the measuring loop.

use std::io::{self, ErrorKind};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};

use pagecast_core::units::Nanos;

use super::{Io, MOST_OF_A_CALL, Memory};

/// The direction of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

impl Direction {
    /// The name of the system call.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The offsets of calls.
#[derive(Clone, Copy, Debug)]
pub enum Offsets<'a> {
    /// The first here, each where the one before has ended.
    From(u64),
    /// Each at the next of these; they begin anew when there are no more, and there is at least one.
    At(&'a [u64]),
}

impl Offsets<'_> {
    fn of(self, call: u64, done: u64) -> u64 {
        match self {
            Self::From(offset) => offset + done,
            Self::At(offsets) => offsets[(call % offsets.len() as u64) as usize],
        }
    }
}

/// Bytes to move.
#[derive(Clone, Copy, Debug)]
pub struct Transfer<'a> {
    /// The direction.
    pub direction: Direction,
    /// The place.
    pub offsets: Offsets<'a>,
    /// The number of bytes in all.
    pub bytes: u64,
    /// How many with one call; the last call may have less. What is more than the kernel moves at once takes several.
    pub call: NonZero<u64>,
    /// True if each call has the next place of the memory for itself, and not always the first.
    pub spreads: bool,
}

/// When calls ended. All that is needed is there from the beginning: noting a call takes no memory.
#[derive(Debug)]
pub struct Times {
    every: u64,
    begun: Nanos,
    ended: Nanos,
    stretches: Vec<(Nanos, u64)>,
    /// How many of them are those of earlier transfers.
    kept: usize,
    left_out: u64,
    /// Calls and bytes since the last stretch.
    calls: u64,
    bytes: u64,
}

impl Times {
    /// Room for `capacity` times, one for every so many calls. Of what is more, only the last end is known.
    #[must_use]
    pub fn new(every: NonZero<u64>, capacity: usize) -> Self {
        // Filled with what is not 0, so that the kernel gives the pages now, and not while time counts.
        let mut stretches = vec![(Nanos(u64::MAX), u64::MAX); capacity];
        stretches.clear();
        Self {
            every: every.get(),
            begun: Nanos::ZERO,
            ended: Nanos::ZERO,
            stretches,
            kept: 0,
            left_out: 0,
            calls: 0,
            bytes: 0,
        }
    }

    /// Beginning and end of a transfer, and nothing in between.
    #[must_use]
    pub fn of_whole() -> Self {
        Self::new(NonZero::<u64>::MAX, 1)
    }

    fn begin(&mut self, now: Nanos) {
        self.stretches.truncate(self.kept);
        (self.begun, self.ended, self.left_out, self.calls, self.bytes) = (now, now, 0, 0, 0);
    }

    /// Notes a call; `now` is asked for only when its time counts.
    fn note(&mut self, bytes: u64, is_last: bool, now: impl FnOnce() -> Nanos) {
        self.calls += 1;
        self.bytes += bytes;
        if self.calls < self.every && !is_last {
            return;
        }
        self.ended = now();
        match self.stretches.len() < self.stretches.capacity() {
            true => self.stretches.push((self.ended, self.bytes)),
            false => self.left_out += 1,
        }
        (self.calls, self.bytes) = (0, 0);
    }

    /// The start of the first call.
    #[must_use]
    pub fn begun(&self) -> Nanos {
        self.begun
    }

    /// The end of the last call.
    #[must_use]
    pub fn ended(&self) -> Nanos {
        self.ended
    }

    /// The time of all calls.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        self.ended - self.begun
    }

    /// How long each call, or every so many of them, took, and how many bytes they moved. The clock is read once between two calls,
    /// so nothing is lost between them.
    pub fn stretches(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        let stretches = &self.stretches[self.kept..];
        let begins = std::iter::once(self.begun).chain(stretches.iter().map(|&(end, _)| end));
        begins.zip(stretches).map(|(begin, &(end, bytes))| (end - begin, bytes))
    }

    /// Keeps what the last transfer noted; the next one notes after it, in the room that is left.
    pub fn keep(&mut self) {
        self.kept = self.stretches.len();
    }

    /// Makes room for so many times more, beside those that are kept.
    pub fn make_room(&mut self, times: usize) {
        self.stretches.truncate(self.kept);
        self.stretches.reserve(times);
    }

    /// What was kept, of one transfer after the other: when each call, or every so many of them, ended, and how many bytes they moved.
    #[must_use]
    pub fn kept(&self) -> &[(Nanos, u64)] {
        &self.stretches[..self.kept]
    }

    /// Times for which there was no room.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// A transfer that did not move all of its bytes.
#[derive(Debug)]
pub struct Failure {
    /// The bytes that it moved.
    pub moved: u64,
    /// The offset at which it was.
    pub offset: u64,
    /// The cause of its end.
    pub cause: Cause,
}

/// The causes of an early end of a transfer.
#[derive(Debug)]
pub enum Cause {
    /// Somebody wanted it to.
    Stopped,
    /// The file is shorter.
    EndOfFile,
    /// The kernel's error.
    Failed(io::Error),
}

/// Moves bytes, and notes in `times` how long it took. Looks at `stop` before each system call.
///
/// # Errors
/// [`Failure`] if not all bytes were moved.
pub fn transfer<I: Io>(
    io: &I,
    file: &I::File,
    what: &Transfer<'_>,
    memory: &mut Memory,
    times: &mut Times,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    transfer_beyond(io, file, what, memory, times, stop, 0)
}

/// As [`transfer()`], up to the end of a file whose last bytes need not be a whole block: the last call asks for so many bytes beyond, and
/// gets what is there.
///
/// # Errors
/// [`Failure`] if not all bytes were moved.
pub fn transfer_beyond<I: Io>(
    io: &I,
    file: &I::File,
    what: &Transfer<'_>,
    memory: &mut Memory,
    times: &mut Times,
    stop: &AtomicBool,
    beyond: u64,
) -> Result<(), Failure> {
    times.begin(io.now());
    let (mut done, mut call) = (0, 0);
    while done < what.bytes {
        let bytes = what.call.get().min(what.bytes - done);
        let one = Call {
            direction: what.direction,
            offset: what.offsets.of(call, done),
            at: if what.spreads { done } else { 0 },
            bytes,
            asked: if done + bytes < what.bytes { bytes } else { (bytes + beyond).min(what.call.get()) },
        };
        one.make(io, file, memory, stop)
            .map_err(|failure| Failure { moved: done + failure.moved, ..failure })?;
        done += bytes;
        call += 1;
        times.note(bytes, done == what.bytes, || io.now());
    }
    Ok(())
}

/// A program's parameters of one call.
struct Call {
    direction: Direction,
    offset: u64,
    at: u64,
    bytes: u64,
    /// No less than these.
    asked: u64,
}

impl Call {
    /// Makes the call, again and again if the kernel moves less than it should.
    fn make<I: Io>(
        &self,
        io: &I,
        file: &I::File,
        memory: &mut Memory,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        let mut moved = 0;
        while moved < self.bytes {
            let failure = |cause| Failure { moved, offset: self.offset + moved, cause };
            if stop.load(Ordering::Relaxed) {
                return Err(failure(Cause::Stopped));
            }
            let length = (self.asked - moved).min(MOST_OF_A_CALL) as usize;
            let (at, offset) = ((self.at + moved) as usize, self.offset + moved);
            let answer = match self.direction {
                Direction::Read => io.read(file, memory, at, length, offset),
                Direction::Write => io.write(file, memory, at, length, offset),
            };
            match answer {
                // Who stops a transfer may take its memory and its file away.
                Ok(0) | Err(_) if stop.load(Ordering::Relaxed) => return Err(failure(Cause::Stopped)),
                Ok(0) => return Err(failure(Cause::EndOfFile)),
                Ok(bytes) => moved += bytes as u64,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failure(Cause::Failed(error))),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::mock::{Costs, Mock, memory};
    use super::super::{Open, Sync};
    use super::*;
    use std::path::Path;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn write(bytes: u64, call: u64) -> Transfer<'static> {
        let call = NonZero::new(call).unwrap();
        Transfer { direction: Direction::Write, offsets: Offsets::From(0), bytes, call, spreads: false }
    }

    fn each_call(capacity: usize) -> Times {
        Times::new(NonZero::<u64>::MIN, capacity)
    }

    #[test]
    fn each_call_has_its_time_and_nothing_is_lost_between() {
        let mock = Mock::new(Costs { call_ns: 100, ns_per_byte: 1, ..Costs::default() });
        let file = mock.open(Path::new("f"), Open { create: true, ..Open::default() }).unwrap();
        let mut times = each_call(10);
        transfer(&mock, &file, &write(2500, 1000), &mut memory(4096), &mut times, &GO_ON).unwrap();
        let each: Vec<_> = times.stretches().map(|(time, bytes)| (time.0, bytes)).collect();
        assert_eq!(each, [(1100, 1000), (1100, 1000), (600, 500)]);
        assert_eq!((times.duration(), mock.length(&file).unwrap()), (Nanos(2800), 2500));
    }

    #[test]
    fn the_last_call_may_ask_for_more_than_there_is_and_no_longer_than_the_others() {
        let asked = |call: u64, beyond: u64| {
            let mock = Mock::new(Costs::default());
            let file = mock.open(Path::new("f"), Open { create: true, ..Open::default() }).unwrap();
            mock.set_length(&file, 1000).unwrap();
            let read = Transfer { direction: Direction::Read, ..write(1000, call) };
            transfer_beyond(&mock, &file, &read, &mut memory(4096), &mut each_call(9), &GO_ON, beyond)
                .unwrap();
            mock.calls()
        };
        // The mock notes what it moved.
        assert_eq!(asked(600, 24), [(0, 600), (600, 400)]);
        assert_eq!(asked(5000, 3096), [(0, 1000)]);
        assert_eq!(asked(512, 3096), [(0, 512), (512, 488)]);
    }

    #[test]
    fn the_time_of_every_few_calls_and_of_what_has_no_room() {
        let mock = Mock::new(Costs { call_ns: 10, ..Costs::default() });
        let file = mock.open(Path::new("f"), Open { create: true, ..Open::default() }).unwrap();
        let mut times = Times::new(NonZero::new(2).unwrap(), 2);
        transfer(&mock, &file, &write(7, 1), &mut memory(1), &mut times, &GO_ON).unwrap();
        let each: Vec<_> = times.stretches().map(|(time, bytes)| (time.0, bytes)).collect();
        assert_eq!(each, [(20, 2), (20, 2)]);
        assert_eq!(
            (times.left_out(), times.duration()),
            (2, Nanos(70)),
            "3 stretches of 2, and the last call"
        );
    }

    #[test]
    fn times_of_several_transfers_are_kept_in_one_place() {
        let mock = Mock::new(Costs { call_ns: 10, ..Costs::default() });
        let file = mock.open(Path::new("f"), Open { create: true, ..Open::default() }).unwrap();
        let mut times = Times::new(NonZero::new(2).unwrap(), 3);
        for bytes in [3, 1] {
            transfer(&mock, &file, &write(bytes, 1), &mut memory(1), &mut times, &GO_ON).unwrap();
            assert_eq!(times.stretches().count() as u64, bytes.div_ceil(2), "those of this transfer");
            times.keep();
        }
        assert_eq!(times.kept(), [(Nanos(20), 2), (Nanos(30), 1), (Nanos(40), 1)]);
        assert_eq!((times.stretches().count(), times.left_out()), (0, 0));
    }

    #[test]
    fn short_and_interrupted_calls_are_made_again() {
        let mock = Mock::new(Costs { most_of_a_call: 300, interrupts_every: 2, ..Costs::default() });
        let file = mock.open(Path::new("f"), Open { create: true, ..Open::default() }).unwrap();
        transfer(&mock, &file, &write(1000, 1000), &mut memory(16), &mut each_call(1), &GO_ON).unwrap();
        assert_eq!(mock.calls(), [(0, 300), (300, 300), (600, 300), (900, 100)]);
    }

    #[test]
    fn more_than_the_kernel_moves_at_once_takes_several_calls() {
        let mock = Mock::default();
        let file = mock.open(Path::new("f"), Open { create: true, ..Open::default() }).unwrap();
        let whole = write(5 << 30, 5 << 30);
        transfer(&mock, &file, &whole, &mut memory(16), &mut each_call(1), &GO_ON).unwrap();
        let lengths: Vec<u64> = mock.calls().iter().map(|&(_, length)| length).collect();
        assert_eq!(lengths, [MOST_OF_A_CALL, MOST_OF_A_CALL, (5 << 30) - 2 * MOST_OF_A_CALL]);
    }

    #[test]
    fn given_offsets_begin_anew() {
        let mock = Mock::default();
        let file = mock.open(Path::new("f"), Open { create: true, ..Open::default() }).unwrap();
        let random = Transfer { offsets: Offsets::At(&[40, 0, 20]), ..write(40, 10) };
        transfer(&mock, &file, &random, &mut memory(16), &mut each_call(9), &GO_ON).unwrap();
        assert_eq!(mock.calls(), [(40, 10), (0, 10), (20, 10), (40, 10)]);
    }

    #[test]
    fn an_end_says_how_far_it_came() {
        let mock = Mock::default();
        let file = mock.open(Path::new("f"), Open { create: true, ..Open::default() }).unwrap();
        mock.set_length(&file, 250).unwrap();
        let read = Transfer { direction: Direction::Read, ..write(400, 100) };
        let failure = transfer(&mock, &file, &read, &mut memory(16), &mut each_call(9), &GO_ON).unwrap_err();
        assert!(
            matches!(failure, Failure { moved: 250, offset: 250, cause: Cause::EndOfFile }),
            "{failure:?}"
        );
        mock.sync(&file, Sync::Data).unwrap();
    }

    #[test]
    fn a_stop_is_seen_before_the_next_call() {
        let mock = Mock::default();
        let file = mock.open(Path::new("f"), Open { create: true, ..Open::default() }).unwrap();
        let stop = AtomicBool::new(true);
        let failure =
            transfer(&mock, &file, &write(10, 1), &mut memory(1), &mut each_call(9), &stop).unwrap_err();
        assert!(matches!(failure, Failure { moved: 0, cause: Cause::Stopped, .. }));
        assert_eq!(mock.calls(), []);
    }
}
