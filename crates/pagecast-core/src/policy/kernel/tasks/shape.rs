//! Describes one run of a task: its bytes, its time, and the flow that moves them.

use crate::flow::{FlowId, Progress};
use crate::policy::kernel::tasks::cost::PerByte;
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileId, OperationId};
use crate::result::Part;
use crate::units::{Nanos, seconds_between, whole};

/// The bit of operations on behalf of another one, such as read-ahead. Processes have lower numbers, transfers to other hosts higher ones.
pub const AHEAD: u32 = 1 << 30;

/// A run of a task, beside the cost of its bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunShape {
    /// The bytes that move: more than the task asks for if its last request is longer.
    pub bytes: u64,
    /// The bytes of them that the thread copies.
    pub copied: u64,
    /// Seconds of its thread for the run, beyond the cost of its bytes.
    pub thread_seconds: f64,
    /// The least seconds of the run, because of latency; and how many of these are the thread's.
    pub least: f64,
    pub copying: f64,
    pub ahead: Option<Ahead>,
}

/// The pages in flight behind a run: their end, how many bytes have been transferred, and when they arrive on a device that nobody else
/// uses.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    pub end: u64,
    pub done: u64,
    pub due: Nanos,
}

impl RunShape {
    /// A run of so many bytes, all of them copied.
    pub fn plain(bytes: u64) -> Self {
        Self { bytes, copied: bytes, ..Self::default() }
    }

    /// Returns the rate of the thread, in bytes per second.
    pub fn thread_rate(&self, cost: &PerByte) -> Option<f64> {
        if self.copied == self.bytes && self.thread_seconds == 0.0 {
            return cost.rate();
        }
        let seconds = cost.seconds * self.copied as f64 + self.thread_seconds;
        (seconds > 0.0).then(|| self.bytes as f64 / seconds)
    }

    /// True if it takes no time by itself: neither the thread's nor the device's.
    pub fn is_free(&self) -> bool {
        self.thread_seconds == 0.0 && self.least == 0.0
    }

    /// Returns the rate that latency allows, in bytes per second.
    pub fn latency_rate(&self) -> Option<f64> {
        (self.least > 0.0).then(|| self.bytes as f64 / self.least)
    }
}

/// An open file: its process, and the file.
pub type StreamKey = (OperationId, FileId);

/// The tag of the flows of an operation: its number, and in the upper half the number of the work on its behalf.
pub fn tag(operation: OperationId, task: &Task) -> u64 {
    match task.kind {
        Kind::ReadAhead { thread } | Kind::Beside { of: thread, .. } => {
            u64::from(operation.0 & !AHEAD) << 32 | u64::from(thread.0)
        }
        _ => u64::from(operation.0),
    }
}

/// The operation that a tag names.
pub fn operation_of(tag: u64) -> OperationId {
    match (tag >> 32) as u32 {
        0 => OperationId(tag as u32),
        number => OperationId(AHEAD | number),
    }
}

/// A flow of ours: how much of it has moved, and how much of that has been counted.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub flow: FlowId,
    pub bytes: u64,
    /// The bytes that have been counted.
    applied: u64,
    /// The bytes that had moved at `since`, and the rate from then on.
    done: f64,
    pub rate: f64,
    since: Nanos,
    /// The cap it has.
    pub cap: Option<(f64, Part)>,
}

impl Transfer {
    pub fn new(flow: FlowId, bytes: u64, cap: Option<(f64, Part)>, now: Nanos) -> Self {
        Self { flow, bytes, applied: 0, done: 0.0, rate: 0.0, since: now, cap }
    }

    /// Notes a new rate.
    pub fn heard(&mut self, now: Nanos, progress: &Progress) {
        (self.done, self.rate, self.since) = (progress.done, progress.rate, now);
    }

    /// Takes the bytes that have moved up to `now` and were not counted: the first, and how many.
    pub fn take(&mut self, now: Nanos) -> (u64, u64) {
        let done = self.done + self.rate * seconds_between(self.since, now);
        self.take_up_to(whole(done).min(self.bytes))
    }

    /// The bytes that have been counted.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// The bytes that have not been counted.
    pub fn left(&self) -> u64 {
        self.bytes - self.applied
    }

    /// Takes all bytes that are left: the flow has ended.
    pub fn take_rest(&mut self) -> (u64, u64) {
        self.take_up_to(self.bytes)
    }

    fn take_up_to(&mut self, done: u64) -> (u64, u64) {
        let from = self.applied;
        self.applied = done.max(from);
        (from, self.applied - from)
    }
}
