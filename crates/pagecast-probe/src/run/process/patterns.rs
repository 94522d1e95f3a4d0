//! Makes the calls of a pattern: the same, in the same order, as a simulation makes.
//!
//! Of one at a time the process does each itself. Several at a time have a thread each, which takes the next call when its own has ended; so
//! do the programs of `--by threads`, and libaio, io_uring and POSIX AIO are stood in for. Between calls the clock is read once.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pagecast_core::result::{Parts, Summary};
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Calls, OpenFlag, OpenFlags, Pattern, PatternCall};

use super::{Done, Halt, Runner, Shared};
use crate::io::{Direction, Memory, Offsets, Streams, Times, Transfer, transfer};
use crate::run::plan::Step;

/// The stack of a thread that makes calls.
pub(super) const STACK: usize = 128 << 10;

/// What all threads of a pattern know.
struct Making<'a, I: Streams> {
    shared: &'a Shared<'a, I>,
    file: &'a I::File,
    flags: OpenFlags,
    calls: Mutex<Calls>,
    /// True if a call has not ended well.
    has_failed: AtomicBool,
    /// By the clock.
    zero: Nanos,
    start: Nanos,
    until: Nanos,
    /// Process and file, for the record.
    key: (u32, u32),
}

/// What one thread has made.
#[derive(Default)]
struct Made {
    summary: Summary,
    bytes: u64,
    slept: Nanos,
    device_read: Bytes,
    /// The call that has not ended well, and why.
    failed: Option<(PatternCall, crate::io::Failure)>,
}

impl<I: Streams> Runner<'_, I> {
    /// Makes all calls of a pattern, which is the operation with this number.
    pub(super) fn pattern(&mut self, index: u32, step: &Step, pattern: &Pattern) -> Result<Done, Halt> {
        let handle = self.handle(step, pattern.write_share > 0.0)?;
        let flags = handle.flags;
        let size = Bytes(self.length(step, &handle)?);
        let start = self.shared.io.now();
        let making = Making {
            shared: self.shared,
            file: &handle.file,
            flags,
            has_failed: AtomicBool::new(false),
            calls: Mutex::new(Calls::of_process(pattern, size, 0, &self.process.name, index)),
            zero: self.zero,
            start,
            until: pattern.time.map_or(Nanos(u64::MAX), |time| start + time),
            key: (self.at as u32, step.number()),
        };
        let made = match pattern.depth {
            ..=1 => vec![making.make(&mut self.buffer)],
            depth => self.make_at_once(step, &making, depth)?,
        };
        if self.shared.gate.is_stopped() {
            return Err(Halt::Stopped);
        }
        let mut done = Done { offset: pattern.offset, flags, ..Done::default() };
        for one in made {
            if let Some((call, failure)) = one.failed {
                return Err(self.not_moved(step, &handle, &transfer_of(&call, call.offset), failure));
            }
            self.recorded.counted.summary.add_all(one.summary);
            done.bytes += one.bytes;
            if pattern.depth <= 1 {
                done.slept += one.slept;
            } else {
                done.device_read += one.device_read;
            }
        }
        self.recorded.counted.by_calls.insert((self.at as u32, index));
        Ok(done)
    }

    /// As many threads as calls are under way at once.
    fn make_at_once(&self, step: &Step, making: &Making<'_, I>, depth: u32) -> Result<Vec<Made>, Halt> {
        let failed = |error| self.failed(step, error);
        let memories =
            (0..depth).map(|_| Memory::new(self.process.survey.buffer())).collect::<Result<Vec<_>, _>>();
        let memories = memories.map_err(failed)?;
        std::thread::scope(|scope| {
            let begin = |mut memory: Memory| {
                let make = move || {
                    memory.fill_with_noise();
                    making.make(&mut memory)
                };
                std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, make)
            };
            let threads = memories.into_iter().map(begin).collect::<Result<Vec<_>, _>>();
            if threads.is_err() {
                self.shared.gate.halt();
            }
            let ended = threads.map_err(failed)?.into_iter().map(|thread| thread.join());
            Ok(ended.map(|made| made.expect("a thread that makes calls does not panic")).collect())
        })
    }
}

impl<I: Streams> Making<'_, I> {
    /// Makes calls until there are no more.
    fn make(&self, memory: &mut Memory) -> Made {
        let io = self.shared.io;
        let mut made = Made::default();
        let mut times = Times::of_whole();
        memory.set_dontcache(self.flags.has(OpenFlag::DontCache));
        memory.set_longest(usize::MAX);
        let read_before = io.device_read();
        let mut now = io.now();
        while let Some((call, due)) = self.next(now) {
            if due > now {
                made.slept += due - now;
                while io.now() < due && !self.shared.gate.is_stopped() {
                    io.sleep_until(due.min(io.now() + super::NAP));
                }
                now = io.now();
            }
            let appends = call.is_write && self.flags.has(OpenFlag::Append);
            let offset = if appends { io.length(self.file).unwrap_or(call.offset) } else { call.offset };
            let what = transfer_of(&call, offset);
            if let Err(failure) = transfer(io, self.file, &what, memory, &mut times, &self.shared.gate.stop) {
                made.failed = Some((call, failure));
                self.has_failed.store(true, Ordering::Relaxed);
                break;
            }
            let ended = io.now();
            let kind = if call.is_write { "write" } else { "read" };
            let time = (now.saturating_sub(self.zero), ended.saturating_sub(self.zero));
            made.summary.add((self.key.0, self.key.1, kind), time, call.bytes.0, &Parts::default());
            made.bytes += call.bytes.0;
            now = ended;
        }
        made.device_read = io.device_read().saturating_sub(read_before);
        made
    }

    /// The next call, and the time before which it does not begin.
    fn next(&self, now: Nanos) -> Option<(PatternCall, Nanos)> {
        if now >= self.until || self.shared.gate.is_stopped() || self.has_failed.load(Ordering::Relaxed) {
            return None;
        }
        let mut calls = self.calls.lock().expect("nobody panics while he holds the lock");
        let due = self.start + calls.due();
        (due < self.until).then(|| calls.next())?.map(|call| (call, due))
    }
}

fn transfer_of(call: &PatternCall, offset: u64) -> Transfer<'static> {
    Transfer {
        direction: if call.is_write { Direction::Write } else { Direction::Read },
        offsets: Offsets::From(offset),
        bytes: call.bytes.0,
        call: NonZero::new(call.bytes.0).unwrap_or(NonZero::<u64>::MAX),
        spreads: false,
    }
}
