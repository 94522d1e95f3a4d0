//! Names the kinds of operations and the states of their waits.

use crate::policy::{DeviceId, Integrity, NameChange, OperationId};
use crate::run_queue::Yielding;
use crate::units::{Bytes, Nanos};
use crate::workload::SyncRangeFlags;

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read {
        fresh: bool,
    },
    Write,
    /// Reads or writes a file of a tmpfs.
    Shmem {
        writes: bool,
        fresh: bool,
    },
    WriteThrough,
    /// Puts bytes from another host into the cache, and of a fresh read into new memory of its reader.
    Insert {
        reader: OperationId,
        fresh: bool,
    },
    Allocate {
        owner: OperationId,
    },
    /// Removes pages from the cache, each at its price; if a file is truncated, goes on as `Cut`.
    Remove {
        cut: Option<Cut>,
    },
    /// Waits until no page of the cut is under writeback, then frees its blocks.
    Cut {
        cut: Cut,
    },
    /// Changes a name, or looks one up.
    Name {
        time: Nanos,
        /// The blocks that are read for it then.
        reads: MetadataReads,
    },
    /// Waits for the calls of an operation on names or attributes, of which so many have been sent.
    Ask {
        asked: Asked,
        sent: u8,
    },
    /// Waits until no page of so many files is under writeback, then makes what is named durable.
    Sync {
        files: u32,
        then: Durable,
    },
    /// Commits the running transaction of a journal: nobody's call.
    Commit {
        device: DeviceId,
        phase: Phase,
    },
    /// Writes its bytes, or waits for them: the actions left, and whether all possible ones are done.
    SyncRange {
        left: SyncRangeFlags,
        is_all: bool,
    },
    /// Submits its dirty pages, then drops those that are clean.
    DontNeed,
    /// Like `Write`, but the bytes of a step are written, or submitted, before the next step begins.
    WriteSync {
        /// The start of the step, and the end of the operation.
        from: u64,
        last: u64,
        /// The durability of each call; nothing with RWF_DONTCACHE.
        durable: Integrity,
    },
    /// Reads or writes past the cache.
    Direct {
        past: Past,
        /// The start of the operation, and the bytes of a step.
        from: u64,
        step: u64,
    },
    /// Moves bytes of blocks that calls of an operation do not fill.
    Beside {
        of: OperationId,
        way: Way,
    },
    /// Reads pages ahead for this thread.
    ReadAhead {
        thread: OperationId,
    },
}

/// An operation on names or attributes of another host's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Looks at a file.
    Stat,
    /// Opens a file that is there.
    Open,
    /// Closes a file.
    Close,
    /// Changes a name.
    Name(NameChange),
    /// Removes a file.
    Remove,
    /// Gives a file a size; true if it opens it, too.
    Cut { size: Bytes, opens: bool },
}

/// The progress of an operation that waits for a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// It waits for nothing yet.
    #[default]
    Start,
    /// It waits for pages under writeback.
    Pages,
    /// It waits for the rest of the blocks that it has filled in part.
    Blocks,
    /// It waits for a flush of the disk of its file, before a commit on another disk.
    DataFlush,
    /// It waits until a transaction of a journal is committed.
    Commit,
    /// It waits for the same, of one that does not flush the disk of the files.
    Barrier,
    /// It waits until what a log had of its file is in its place.
    Checkpoint,
    /// It waits until a journal has room for its data.
    Room,
    /// It is durable when the processor or the device is no longer busy.
    Durable,
}

/// What is made durable when its pages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// The file of the task.
    File(Integrity),
    /// The same, of another host, which is asked then.
    Ask(Asked),
    /// The mounts of other hosts' directories, or one of them, then the disks (`fs/nfs/super.c: nfs_write_inode`).
    Mounts(Option<DeviceId>),
    /// The disks from one to another, one after the other (`fs/sync.c: ksys_sync`).
    Disks { next: u32, end: u32 },
}

/// The progress of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has begun.
    Prepare,
    /// It computes, behind all other threads.
    Computes { work: Yielding },
    /// New data is to be written first, where the file system orders it so.
    Data,
    /// It waits for the data of so many files.
    Written { files: u32 },
    /// The log is to be written,
    Log,
    /// and a flush of the disk of the files to be over by an instant, where the log is on another one,
    DataFlush { until: Nanos },
    /// then the cache of the disk with the log flushed,
    Flush,
    /// then the commit block written.
    Record,
    /// All of it is durable.
    End,
}

/// The result of a step of an operation.
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
    /// Returns the owner of the memory that an operation takes: itself, or the reader of bytes from another host.
    pub fn owner(self, operation: OperationId) -> OperationId {
        match self {
            Self::Insert { reader: owner, .. } | Self::Allocate { owner } => owner,
            _ => operation,
        }
    }
}

/// Blocks of a file system that are read from its disk: bytes in all, and those of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetadataReads {
    pub bytes: Bytes,
    pub request: Bytes,
}

/// The directions of direct I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// A read, into new anonymous memory or not.
    Read { fresh: bool },
    /// A read of blocks of directories and inodes, which are no bytes of the program.
    Metadata,
    /// A write, each call of which is made durable or not.
    Write { durable: Option<Integrity> },
}

impl Past {
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write { .. })
    }
}

/// The directions in which blocks move beside an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// They are read before they are changed, each with a request; the time of all of these before the bytes come.
    Read { first: Nanos },
    /// They are written, although only some of their bytes have changed.
    Write,
}

/// The times for which an operation waits when the device has its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The file system: a commit of its journal, or freeing blocks.
    pub journal: Nanos,
    /// A flush of the device's cache.
    pub flush: Nanos,
    /// The processor.
    pub computes: Nanos,
}

impl Waits {
    pub fn times(self, commits: u64, flushes: u64) -> Self {
        let times = |time: Nanos, count: u64| Nanos(time.0.saturating_mul(count));
        Self { journal: times(self.journal, commits), flush: times(self.flush, flushes), ..self }
    }
}

/// The end of a file that is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Its first byte,
    pub from: u64,
    /// and the end of the part that was not dirty.
    pub clean_to: u64,
    /// True if its last name goes, too.
    pub unlinks: bool,
    /// True if it is opened by the same call.
    pub opens: bool,
}

/// The read-ahead mode of an open file, set by `posix_fadvise`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Normal,
    /// The windows are twice as large.
    Sequential,
    /// `FMODE_RANDOM`: exactly the pages asked for are read.
    Random,
}
