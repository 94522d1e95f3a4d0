//! Keeps the progress of a copy from file to file.

use std::collections::VecDeque;

use crate::fs::Located;
use crate::policy::Outcome;
use crate::workload::OpenFlags;

/// The copy that a process is in.
pub(super) struct Copying {
    pub source: Located,
    pub target: Located,
    /// How the target is open.
    pub flags: OpenFlags,
    /// The next byte, the end, and the bytes read and written at a time.
    pub at: u64,
    pub end: u64,
    pub round: u64,
    /// Where it began.
    pub offset: u64,
    pub outcome: Outcome,
    pub under_way: Option<Step>,
    pub steps: VecDeque<Step>,
}

/// A step that a copy waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Bytes are read from here.
    Read { offset: u64, bytes: u64 },
    /// They are written.
    Write { offset: u64, bytes: u64 },
    /// Dirty pages of the range are written and waited for.
    Clean(Located),
    /// Pages of the target leave.
    Drop,
}

impl Copying {
    /// Whether it waits for nothing, so that its process can go on with it.
    pub(super) fn is_between_steps(&self) -> bool {
        self.under_way.is_none()
    }
}
