//! Replays the records of a process as a program.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::cursor::Cursor;
use super::decode::Names;
use super::inner::Inner;
use super::record::Record;
use crate::units::Nanos;
use crate::workload::{Action, Operation, Program, ProgramError, ProgramEvents, ProgramSource};

/// When recorded operations begin.
///
/// In a closed loop an operation begins after the one before it of its process has ended, and after the recorded time between the end of
/// that and its own start. Where a recording has no durations, it does not begin before its recorded time either. A process that waits for an
/// event first begins with that. The recorded time of a call that makes a name is in those times; what the call takes in the replay is taken
/// off what follows it, so that it does not count twice. In an open loop reads, writes and syncs begin at their recorded times, whether or not others are under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The factor of recorded times; 0 leaves them out.
    pub factor: f64,
    /// True for an open loop.
    pub is_open: bool,
}

impl Timing {
    /// A recorded time or distance as it is replayed.
    #[must_use]
    pub fn scaled(self, time: Nanos) -> Nanos {
        match self.factor {
            1.0 => time,
            factor => Nanos((time.0 as f64 * factor).round() as u64),
        }
    }
}

/// The program of a process of a recording.
pub struct Replayed {
    /// The recording.
    pub trace: Arc<Inner>,
    /// The number of the process.
    pub process: u32,
    /// The places of its paths on the machine.
    pub paths: Arc<[Arc<str>]>,
    /// When operations begin.
    pub timing: Timing,
}

impl ProgramSource for Replayed {
    fn start(&self) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(Run {
            cursor: Cursor::new(self.trace.clone(), self.process),
            trace: self.trace.clone(),
            paths: self.paths.clone(),
            clock: Clock {
                timing: self.timing,
                start: self.trace.tables.processes[self.process as usize].start,
                last: None,
                making: None,
                ahead: Nanos::ZERO,
            },
        }))
    }

    fn events(&self) -> Option<ProgramEvents> {
        let has_events = self.trace.tables.processes[self.process as usize].has_events;
        (!has_events).then(ProgramEvents::default)
    }
}

/// A program on its way.
struct Run {
    cursor: Cursor,
    trace: Arc<Inner>,
    paths: Arc<[Arc<str>]>,
    clock: Clock,
}

impl Program for Run {
    fn next(&mut self, now: Nanos) -> Result<Option<Operation>, ProgramError> {
        let names = Names { paths: &self.paths, events: &self.trace.tables.events };
        let record = self.cursor.next(names).map_err(|error| ProgramError(Box::new(error)))?;
        Ok(record.map(|record| self.clock.begun(record, now)))
    }
}

/// Says when the next operation begins.
struct Clock {
    timing: Timing,
    /// When the process started, in the time of the recording.
    start: Nanos,
    /// When the operation before ended or, if the process did not wait for it, began.
    last: Option<Nanos>,
    /// When the operation before began in the replay, if that makes a name and its recorded time is in the times between operations.
    making: Option<Nanos>,
    /// What such operations have taken that is still to be taken off those times.
    ahead: Nanos,
}

impl Clock {
    /// The operation of a record; `now` is when the one before ended or, if it is asynchronous, began.
    fn begun(&mut self, record: Record, now: Nanos) -> Operation {
        let Record { time, duration, mut operation } = record;
        let timing = self.timing;
        if let Some(began) = self.making.take() {
            self.ahead += minus(now, began);
        }
        let not_before = match operation.not_before {
            _ if timing.factor == 0.0 => None,
            Some(not_before) => Some(timing.scaled(not_before)),
            None => time.map(|time| match self.last {
                Some(last) if !timing.is_open => now + self.left_of(timing.scaled(minus(time, last))),
                None if !timing.is_open && matches!(operation.action, Action::Wait { .. }) => now,
                _ => timing.scaled(minus(time, self.start)),
            }),
        };
        operation.not_before = not_before.filter(|&time| time > now);
        if duration == Some(Nanos::ZERO) && makes_name(&operation.action) {
            self.making = Some(operation.not_before.unwrap_or(now));
        }
        let is_async = operation.depth.is_some();
        self.last = match (time, duration) {
            (Some(time), _) if is_async => Some(time),
            (Some(time), Some(duration)) => Some(Nanos(time.0.saturating_add(duration.0))),
            _ => None,
        };
        if timing.is_open && time.is_some() && operation.action.may_be_asynchronous() {
            operation.depth = Some(NonZeroU32::MAX);
        }
        operation
    }

    /// A recorded time between two operations, less what names have taken beside it.
    fn left_of(&mut self, between: Nanos) -> Nanos {
        let taken = between.min(self.ahead);
        self.ahead = minus(self.ahead, taken);
        minus(between, taken)
    }
}

/// True of calls that take a time of the processor alone, and none for the pages or blocks of a file.
fn makes_name(action: &Action) -> bool {
    match action {
        Action::Open { create, truncate, .. } => *create && !*truncate,
        Action::Mkdir { .. } | Action::Rmdir { .. } | Action::Rename { .. } | Action::Link { .. } => true,
        _ => false,
    }
}

fn minus(time: Nanos, other: Nanos) -> Nanos {
    Nanos(time.0.saturating_sub(other.0))
}
