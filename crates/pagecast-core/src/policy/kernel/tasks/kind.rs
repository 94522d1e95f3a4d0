//! What an operation does with its bytes.

use crate::policy::{Integrity, OperationId};
use crate::units::Nanos;
use crate::workload::SyncRangeFlags;

/// What an operation does with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read {
        fresh: bool,
    },
    Write,
    WriteThrough,
    /// Puts what another host sent into the cache, and where the read is fresh into new memory of its reader.
    Insert {
        reader: OperationId,
        fresh: bool,
    },
    Allocate {
        owner: OperationId,
    },
    /// Takes pages out of the cache, each at its price; then as `Cut`, if they were of a file that is cut.
    Remove {
        cut: Option<Cut>,
    },
    /// Waits until nothing of the cut is under writeback, then gives its blocks back.
    Cut {
        cut: Cut,
    },
    /// Waits until nothing of so many files is under writeback, then for a commit and until the cache of their device is flushed.
    Sync {
        files: u32,
        then: Waits,
    },
    /// Writes its bytes, or waits for them: what is left to be done, and whether all is done that can be.
    SyncRange {
        left: SyncRangeFlags,
        is_all: bool,
    },
    /// As `Write`, but what the calls of a step have copied is written, or submitted, before the next step begins.
    WriteSync {
        /// Where the step began, and where the operation ends.
        from: u64,
        last: u64,
        /// What each call makes durable; nothing where pages are dropped behind.
        durable: Integrity,
    },
    /// Reads or writes past the cache.
    Direct {
        past: Past,
        /// Where the operation began, and how many bytes a step has.
        from: u64,
        step: u64,
    },
    /// Bytes of blocks that calls of an operation do not fill.
    Beside {
        of: OperationId,
        way: Way,
    },
    /// Pages are read that nobody has asked for yet, because of what this thread has read.
    ReadAhead {
        thread: OperationId,
    },
}

/// How far an operation is that waits for a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// It waits for nothing yet.
    #[default]
    Start,
    /// It waits until pages are no more under writeback.
    Pages,
    /// The rest of the blocks that it has filled in part is being written.
    Blocks,
    /// A commit waits for what was in the queue of the device before it.
    Commit(Waits),
    /// It is durable when the processor or the device is no more busy.
    Durable,
}

/// What follows from a step of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Its next bytes move, up to this one.
    Run(u64),
    /// It goes on when something that it waits for has happened.
    Wait,
    /// Another step follows at once.
    Step,
    /// It is over.
    Done,
}

impl Kind {
    /// Who has the memory that an operation takes: itself, or the reader of what another host sent.
    pub fn owner(self, operation: OperationId) -> OperationId {
        match self {
            Self::Insert { reader: owner, .. } | Self::Allocate { owner } => owner,
            _ => operation,
        }
    }
}

/// What goes past the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// A read, into new anonymous memory or not.
    Read { fresh: bool },
    /// A write, each call of which is made durable or not.
    Write { durable: Option<Integrity> },
}

impl Past {
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write { .. })
    }
}

/// Which way blocks move beside an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// They are read before they are changed, each a request; all of these take so long before the bytes come.
    Read { first: Nanos },
    /// They are written, although only some of their bytes have changed.
    Write,
}

/// What an operation waits for when the device has its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The file system: a commit of its journal, blocks that it gives back.
    pub journal: Nanos,
    /// A flush of the device's cache.
    pub flush: Nanos,
}

impl Waits {
    pub fn times(self, commits: u64, flushes: u64) -> Self {
        let times = |time: Nanos, count: u64| Nanos(time.0.saturating_mul(count));
        Self { journal: times(self.journal, commits), flush: times(self.flush, flushes) }
    }
}

/// The end of a file that leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Its first byte,
    pub from: u64,
    /// and up to where it was not dirty.
    pub clean_to: u64,
}

/// How an open file is read: what `posix_fadvise` has said of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Normal,
    /// The windows are twice as large.
    Sequential,
    /// `FMODE_RANDOM`: what is asked for is read, and nothing else.
    Random,
}
