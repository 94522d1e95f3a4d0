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
/// event first begins with that. A call on names takes at least its recorded time, so that no machine need know what it costs;
/// a machine that does adds nothing ([`Operation::is_timed`]). In an open loop reads, writes and syncs begin at their recorded times,
/// whether or not others are under way.
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
                on_name: None,
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
    /// When the operation before began in the replay, if it is on a name, and what it takes at least.
    on_name: Option<(Nanos, Nanos)>,
}

impl Clock {
    /// The operation of a record; `now` is when the one before ended or, if it is asynchronous, began.
    fn begun(&mut self, record: Record, now: Nanos) -> Operation {
        let Record { time, duration, mut operation } = record;
        let timing = self.timing;
        let left = self.on_name.take().map_or(Nanos::ZERO, |(began, least)| minus(least, minus(now, began)));
        let not_before = match operation.not_before {
            _ if timing.factor == 0.0 => None,
            Some(not_before) => Some(timing.scaled(not_before)),
            None => time.map(|time| match self.last {
                Some(last) if !timing.is_open => now + left + timing.scaled(minus(time, last)),
                None if !timing.is_open && matches!(operation.action, Action::Wait { .. }) => now,
                _ => timing.scaled(minus(time, self.start)),
            }),
        };
        operation.not_before = not_before.filter(|&time| time > now);
        if let Some(least) = duration.and_then(|duration| least_of(&operation.action, duration)) {
            operation.is_timed = timing.factor > 0.0 && !timing.is_open;
            self.on_name = Some((operation.not_before.unwrap_or(now), timing.scaled(least)));
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
}

/// Of a call that frees the bytes of a file, what goes beyond this may be for them.
const NAME: Nanos = Nanos(50_000);

/// Returns the least time of a call on names, of a recorded duration. That of calls that free the bytes of a file counts up to [`NAME`].
pub fn least_of(action: &Action, duration: Nanos) -> Option<Nanos> {
    match action {
        Action::Unlink { .. } | Action::Truncate { .. } | Action::Open { truncate: true, .. } => {
            Some(duration.min(NAME))
        }
        Action::Open { .. }
        | Action::Mkdir { .. }
        | Action::Rmdir { .. }
        | Action::Rename { .. }
        | Action::Link { .. } => Some(duration),
        _ => None,
    }
}

fn minus(time: Nanos, other: Nanos) -> Nanos {
    Nanos(time.0.saturating_sub(other.0))
}
