//! Keeps the progress of a pattern, says when its next call begins, and shares its time among parts.

use crate::fs::Located;
use crate::policy::Outcome;
use crate::result::Part;
use crate::units::{Bytes, Nanos};
use crate::workload::{AsyncBy, Calls, OpenFlags, Pattern, PatternCall};

/// The most calls under way: `aio-max-nr`, twice the entries of a ring (`IORING_MAX_ENTRIES`).
const MOST_CALLS: u32 = 65_536;

/// The pattern that a task is in.
pub(crate) struct Patterned {
    pub file: Located,
    pub flags: OpenFlags,
    /// The number of its path in the record.
    pub path: u32,
    pub by: AsyncBy,
    pub calls: Calls,
    pub moved: Bytes,
    pub outcome: Outcome,
    /// Its calls that have not ended.
    pub under_way: u32,
    depth: u32,
    start: Nanos,
    /// No call begins from then on.
    until: Nanos,
    /// The time up to which its parts are known.
    told: Nanos,
    /// Whether it has waited for the time of its next call.
    has_slept: bool,
}

/// A call under way.
pub(crate) struct CallUnderWay {
    pub call: PatternCall,
    pub start: Nanos,
    /// Whether it waits for those before it on its file.
    pub is_queued: bool,
}

/// The next step of a pattern.
pub(crate) enum Next {
    /// A call begins.
    Call,
    /// Nothing before a call under way has ended.
    Wait,
    /// Nothing before this time.
    Sleep(Nanos),
    /// It has ended.
    Over,
}

impl Patterned {
    /// A pattern that begins now.
    pub(crate) fn new(
        now: Nanos,
        pattern: &Pattern,
        (file, flags): (Located, OpenFlags),
        calls: Calls,
        path: u32,
    ) -> Self {
        Self {
            file,
            flags,
            path,
            by: pattern.by,
            calls,
            depth: pattern.depth.clamp(1, MOST_CALLS),
            start: now,
            until: pattern.time.map_or(Nanos(u64::MAX), |time| now + time),
            under_way: 0,
            told: now,
            has_slept: false,
            moved: Bytes::ZERO,
            outcome: Outcome::default(),
        }
    }

    /// Returns its next step.
    pub(crate) fn next(&mut self, now: Nanos) -> Next {
        if self.calls.are_over() || now >= self.until {
            return if self.under_way == 0 { Next::Over } else { Next::Wait };
        }
        if self.under_way == self.depth {
            return Next::Wait;
        }
        let due = (self.start + self.calls.due()).min(self.until);
        if due > now {
            self.has_slept = true;
            return Next::Sleep(due);
        }
        Next::Call
    }

    /// Makes the next call, if there is one; true if it is among those that begin first.
    pub(crate) fn make_call(&mut self, now: Nanos) -> Option<(PatternCall, bool)> {
        let is_among_first = self.calls.made() < u64::from(self.depth);
        let call = self.calls.next()?;
        self.charge_idle(now);
        self.under_way += 1;
        Some((call, is_among_first))
    }

    /// Makes no more calls.
    pub(crate) fn give_up(&mut self) {
        self.until = Nanos::ZERO;
    }

    /// Whether the task does a call itself, which has ended when its submission returns, and makes the next one then.
    pub(crate) fn waits_for(&self, call: PatternCall, is_cached: impl FnOnce() -> bool) -> bool {
        let is_direct = self.flags.is_direct();
        self.depth == 1 || self.by.ends_at_submission(Some(call.is_write), is_direct, is_cached)
    }

    /// Charges the time since the last end of a call to a part: there was no call.
    pub(crate) fn charge_idle(&mut self, now: Nanos) {
        if self.under_way == 0 {
            let part = if self.has_slept { Part::Sleep } else { Part::CpuCopy };
            self.outcome.parts.add(part, now - self.told);
            self.told = now;
        }
        self.has_slept = false;
    }

    /// Adds a call that has ended. One that took no time beside others leaves the time to them.
    pub(crate) fn add(&mut self, now: Nanos, bytes: Bytes, outcome: &Outcome) {
        self.under_way -= 1;
        self.moved += bytes;
        self.outcome.from_cache += outcome.from_cache;
        self.outcome.from_device += outcome.from_device;
        if outcome.parts.total() > Nanos::ZERO {
            self.outcome.parts.add_all(&outcome.parts.scaled_to(now - self.told));
            self.told = now;
        }
    }
}
