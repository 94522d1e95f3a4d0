//! Does reads and writes of a process that are under way at once.
//!
//! Those that follow each other in the program are a batch: as many threads as may be under way take one after the other, in the order of
//! the program. A batch has ended before the process does anything else; so it has after `drain`.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, OpenFlag, OpenFlags};

use super::patterns::STACK;
use super::{Halt, NAP, Runner, key};
use crate::io::{Direction, Failure, Io, Memory, Offsets, Streams, Times, Transfer, transfer};
use crate::run::plan::Step;
use crate::run::row::{Row, Used};

/// An operation of a batch, whose place is known.
struct Planned<'a, F> {
    file: &'a F,
    flags: OpenFlags,
    what: Transfer<'static>,
    /// By the clock.
    not_before: Nanos,
}

impl<I: Streams> Runner<'_, I> {
    /// Does a batch of steps, of which the first has this number.
    pub(super) fn at_once(&mut self, first: usize, steps: &[Step]) -> Result<(), Halt> {
        let places = steps.iter().map(|step| self.place(step)).collect::<Result<Vec<_>, _>>()?;
        let plan = |(step, &what): (&Step, &Transfer<'static>)| {
            let handle = &self.handles[&key(step)];
            let not_before = step.operation.not_before.unwrap_or_default() + self.process.start + self.zero;
            Planned { file: &handle.file, flags: handle.flags, what, not_before }
        };
        let planned: Vec<_> = steps.iter().zip(&places).map(plan).collect();
        let depth = steps.iter().filter_map(|step| step.operation.depth).max().map_or(1, NonZero::get);
        let threads = (depth as usize).min(steps.len());
        let failed = |error| self.failed(&steps[0], error);
        let memories =
            (0..threads).map(|_| Memory::new(self.process.buffer())).collect::<Result<Vec<_>, _>>();
        let memories = memories.map_err(failed)?;
        let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (io, zero, gate) = (self.shared.io, self.zero, self.shared.gate);
        let ended = std::thread::scope(|scope| {
            let begin = |mut memory: Memory| {
                let (planned, next, has_failed) = (&planned, &next, &has_failed);
                let act = move || {
                    memory.fill_with_noise();
                    let mut done = Vec::new();
                    while !gate.is_stopped() && !has_failed.load(Ordering::Relaxed) {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(one) = planned.get(at) else { break };
                        while io.now() < one.not_before && !gate.is_stopped() {
                            io.sleep_until(one.not_before.min(io.now() + NAP));
                        }
                        let made = act_on(io, one, &mut memory, &gate.stop, zero);
                        has_failed.fetch_or(made.is_err(), Ordering::Relaxed);
                        done.push((at, made));
                    }
                    done
                };
                std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, act)
            };
            let started = memories.into_iter().map(begin).collect::<Result<Vec<_>, _>>();
            if started.is_err() {
                gate.halt();
            }
            let ended = started?.into_iter().map(|thread| thread.join());
            let ended = ended.flat_map(|done| done.expect("a thread of a batch does not panic"));
            Ok(ended.collect::<Vec<_>>())
        });
        let mut ended = ended.map_err(failed)?;
        ended.sort_unstable_by_key(|&(at, _)| at);
        for (at, made) in ended {
            match made {
                Ok(row) => self.rows.push(row),
                Err(failure) => return Err(self.not_moved(&steps[at], &places[at], failure)),
            }
            (self.shared.looks)(self.at as u32, (first + at) as u32, self.now());
        }
        if self.rows.len() == first + steps.len() { Ok(()) } else { Err(Halt::Stopped) }
    }

    /// The place of a read or write; its file is open after that.
    fn place(&mut self, step: &Step) -> Result<Transfer<'static>, Halt> {
        let (offset, bytes, is_write) = match step.operation.action {
            Action::Read { offset, bytes, .. } => (offset, bytes, false),
            Action::Write { offset, bytes, .. } => (offset, Some(bytes), true),
            _ => unreachable!("only reads and writes are in a batch"),
        };
        let flags = self.handle(step, step.file, is_write)?;
        let length = self.length(step)?;
        let is_descriptor = step.operation.fd.is_some();
        let handle = &self.handles[&key(step)];
        let at = match offset {
            Some(offset) => offset,
            None if is_descriptor => handle.position(),
            None if is_write => length,
            None => 0,
        };
        let at = if is_write && flags.has(OpenFlag::Append) { length } else { at };
        let left = length.saturating_sub(at);
        let bytes = match bytes.map_or(left, |Bytes(bytes)| bytes) {
            asked if !is_write && is_descriptor => asked.min(left),
            asked => asked,
        };
        if offset.is_none() && is_descriptor {
            handle.seek(at + bytes);
        }
        let call = match step.operation.action {
            Action::Read { call, .. } | Action::Write { call, .. } => call,
            _ => None,
        };
        Ok(Transfer {
            direction: if is_write { Direction::Write } else { Direction::Read },
            offsets: Offsets::From(at),
            bytes,
            call: NonZero::new(call.map_or(bytes, |call| call.0)).unwrap_or(NonZero::<u64>::MAX),
            spreads: false,
        })
    }
}

fn act_on<I: Io>(
    io: &I,
    planned: &Planned<'_, I::File>,
    memory: &mut Memory,
    stop: &AtomicBool,
    zero: Nanos,
) -> Result<Row, Failure> {
    let &Planned { file, flags, what, .. } = planned;
    memory.set_dontcache(flags.has(OpenFlag::DontCache));
    memory.set_longest(usize::MAX);
    let before = Used::now(io);
    let start = io.now().saturating_sub(zero);
    transfer(io, file, &what, memory, &mut Times::of_whole(), stop)?;
    let end = io.now().saturating_sub(zero);
    let used = Used::now(io).since(before);
    let Offsets::From(offset) = what.offsets else { unreachable!("a batch gives no list") };
    Ok(Row { offset, bytes: what.bytes, flags, start, end, slept: Nanos::ZERO, used })
}
