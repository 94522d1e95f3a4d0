//! Keeps the progress of a pattern, and shares its time among parts.

use crate::fs::Located;
use crate::policy::Outcome;
use crate::result::Part;
use crate::units::{Bytes, Nanos};
use crate::workload::{AsyncBy, Calls, OpenFlags, PatternCall};

/// The pattern that a process is in.
pub(super) struct Patterned {
    pub file: Located,
    pub flags: OpenFlags,
    /// The number of its path in the record.
    pub path: u32,
    pub by: AsyncBy,
    pub calls: Calls,
    pub depth: u32,
    pub start: Nanos,
    /// No call begins from then on.
    pub until: Nanos,
    /// Its calls that have not ended.
    pub under_way: u32,
    /// The time up to which its parts are known.
    pub told: Nanos,
    /// Whether it has waited for the time of its next call.
    pub has_slept: bool,
    pub moved: Bytes,
    pub outcome: Outcome,
}

/// A call under way.
pub(super) struct CallUnderWay {
    pub call: PatternCall,
    pub start: Nanos,
    /// Whether it waits for those before it on its file.
    pub is_queued: bool,
}

impl Patterned {
    /// Charges the time since the last end of a call to a part: there was no call.
    pub(super) fn charge_idle(&mut self, now: Nanos) {
        if self.under_way == 0 {
            let part = if self.has_slept { Part::Sleep } else { Part::CpuCopy };
            self.outcome.parts.add(part, now - self.told);
            self.told = now;
        }
        self.has_slept = false;
    }

    /// Adds a call that has ended. One that took no time beside others leaves the time to them.
    pub(super) fn add(&mut self, now: Nanos, bytes: Bytes, outcome: &Outcome) {
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
