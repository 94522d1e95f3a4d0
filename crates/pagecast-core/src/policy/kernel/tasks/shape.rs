//! One run of a task: how its bytes are served besides their cost, and the flow that moves them.

use crate::flow::{FlowId, Progress};
use crate::policy::kernel::tasks::cost::PerByte;
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileId, OperationId};
use crate::result::Part;
use crate::units::{Nanos, seconds_between, whole};

/// Operations that read ahead, or do something else on behalf of another one, have this bit. Processes have lower numbers, transfers to other hosts higher ones.
pub const AHEAD: u32 = 1 << 30;

/// What a run of a task is besides its bytes and their cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunShape {
    /// The bytes that move: more than the task asks for if its last request is longer.
    pub bytes: u64,
    /// How many of them the thread copies.
    pub copied: u64,
    /// Seconds of its thread for the run, besides what its bytes cost.
    pub toll: f64,
    /// Seconds that the run takes at least, because of latency; and how many of these are the thread's.
    pub least: f64,
    pub copying: f64,
    pub ahead: Option<Ahead>,
}

/// What is on its way behind a run: up to this byte, how many of its bytes have been transferred, and when it is there on a
/// device that nobody else uses.
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

    /// What the thread reaches, in bytes per second.
    pub fn thread_rate(&self, cost: &PerByte) -> Option<f64> {
        if self.copied == self.bytes && self.toll == 0.0 {
            return cost.rate();
        }
        let seconds = cost.seconds * self.copied as f64 + self.toll;
        (seconds > 0.0).then(|| self.bytes as f64 / seconds)
    }

    /// Whether it takes no time by itself: neither the thread's nor the device's.
    pub fn is_free(&self) -> bool {
        self.toll == 0.0 && self.least == 0.0
    }

    /// What latency lets pass, in bytes per second.
    pub fn latency_rate(&self) -> Option<f64> {
        (self.least > 0.0).then(|| self.bytes as f64 / self.least)
    }
}

/// Whose open file it is, and which.
pub type StreamKey = (OperationId, FileId);

/// The tag of the flows of an operation: its number, and before it that of what is done on its behalf.
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

/// A flow of ours: how much of it has happened, and how much of that has been taken account of.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub flow: FlowId,
    pub bytes: u64,
    /// What has been taken account of.
    applied: u64,
    /// What had happened at `since`, and the rate from then on.
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

    /// Its rate has changed.
    pub fn heard(&mut self, now: Nanos, progress: &Progress) {
        (self.done, self.rate, self.since) = (progress.done, progress.rate, now);
    }

    /// The bytes that have moved up to `now` and were not taken account of: from here, so many.
    pub fn take(&mut self, now: Nanos) -> (u64, u64) {
        let done = self.done + self.rate * seconds_between(self.since, now);
        self.take_up_to(whole(done).min(self.bytes))
    }

    /// What has been taken account of.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// What has not been taken account of.
    pub fn left(&self) -> u64 {
        self.bytes - self.applied
    }

    /// All that is left: the flow has ended.
    pub fn take_rest(&mut self) -> (u64, u64) {
        self.take_up_to(self.bytes)
    }

    fn take_up_to(&mut self, done: u64) -> (u64, u64) {
        let from = self.applied;
        self.applied = done.max(from);
        (from, self.applied - from)
    }
}
