//! Describes the programs: files that exist before, and processes that are iterators of operations.

mod asynchronous;
mod beside;
mod copying;
mod descriptors;
mod imported;
mod ioprio;
mod mapped;
mod pattern;
mod sleep;
mod slots;
mod sync_range;

use std::num::NonZeroU32;
use std::sync::Arc;

pub use self::asynchronous::AsyncBy;
pub use self::beside::Beside;
pub use self::copying::{CopyBy, CopyRefusal};
pub use self::descriptors::{AllocateMode, Fd, OpenDescription};
pub use self::imported::{Note, Workload, WorkloadFile, WorkloadProcess};
pub use self::mapped::{MapAdvice, MappedCall};
pub use self::pattern::{Calls, Order, Pattern, PatternCall};
pub use self::sleep::SleepSpread;
pub use self::slots::{Slots, WorkloadSlots};
pub use self::sync_range::{SyncRangeFlag, SyncRangeFlags};
use crate::stdio::LibraryCall;
use crate::units::{Bytes, Nanos};
pub use ioprio::{IoClass, IoPriority};

/// A file that exists before time 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InitialFile {
    /// Index of the host whose mount holds it. A file on an NFS mount belongs to the server in truth.
    pub host: usize,
    /// Absolute path as that host sees it.
    pub path: Arc<str>,
    /// Its size.
    pub size: Bytes,
    /// How much of it, from its start, is in the page cache of that host.
    pub cached: Bytes,
    /// The dirty bytes of those, from its start.
    pub dirty: Bytes,
}

/// A process before it runs.
#[derive(Clone)]
pub struct Process {
    /// Unique in a scenario.
    pub name: Arc<str>,
    /// Index of the host it runs on; of one with `slots` the first of their hosts.
    pub host: usize,
    /// Index of its memory cgroup on that host, if it is in one.
    pub cgroup: Option<usize>,
    /// Names of the processes that must have ended before it starts.
    pub after: Vec<Arc<str>>,
    /// Earliest start.
    pub start: Nanos,
    /// Processes of the same number share one table of descriptors; a process without has its own.
    pub descriptors: Option<u32>,
    /// The priority of its requests to disks.
    pub ioprio: IoPriority,
    /// The cores that it holds; without, it shares those of its host.
    pub slots: Option<Slots>,
    /// What it does.
    pub program: Arc<dyn ProgramSource>,
}

/// A program that can be started any number of times, as a scenario can be simulated under several models.
pub trait ProgramSource: Send + Sync {
    /// A new run of it, from its first operation.
    ///
    /// # Errors
    /// A text that says why it cannot start.
    fn start(&self) -> Result<Box<dyn Program>, ProgramError>;

    /// The same, as one of several programs of a run that may know of each other.
    ///
    /// # Errors
    /// As `start`.
    fn start_beside(&self, _others: &Beside) -> Result<Box<dyn Program>, ProgramError> {
        self.start()
    }

    /// The events that a run waits for or signals, if that is known before it runs.
    fn events(&self) -> Option<ProgramEvents> {
        None
    }

    /// Returns a value that is equal for two programs of a scenario only if they give the same operations, if that is known.
    fn same(&self) -> Option<SameProgram> {
        None
    }
}

/// Which of the programs of a scenario give the same operations: see [`ProgramSource::same`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SameProgram {
    /// Where the operations are that several of them share.
    pub shared: usize,
    /// Which of those that share them it is, if that makes a difference.
    pub copy: Option<u32>,
}

/// A function that makes an iterator of operations.
impl<F, I> ProgramSource for F
where
    F: Fn() -> I + Send + Sync,
    I: Iterator<Item = Operation> + Send + 'static,
{
    fn start(&self) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(self()))
    }
}

/// The events that a program may wait for or signal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramEvents {
    /// It waits for these.
    pub waits: Vec<Arc<str>>,
    /// It signals these.
    pub signals: Vec<Arc<str>>,
}

impl ProgramEvents {
    /// Notes the event of an action, if it has one.
    pub fn note(&mut self, action: &Action) {
        match action {
            Action::Wait { event } => self.waits.push(event.clone()),
            Action::Signal { event } => self.signals.push(event.clone()),
            _ => {}
        }
    }
}

/// A fixed list of operations.
impl ProgramSource for Vec<Operation> {
    fn start(&self) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(self.clone().into_iter()))
    }

    fn events(&self) -> Option<ProgramEvents> {
        let mut events = ProgramEvents::default();
        self.iter().for_each(|operation| events.note(&operation.action));
        Some(events)
    }
}

/// A running program: gives its operations one by one; each is asked for when the one before has ended, or, if that is asynchronous, is
/// under way.
pub trait Program: Send {
    /// The next operation, or `None` when the process exits (which frees its memory). `now` is the time since the process started.
    ///
    /// # Errors
    /// A text that says why the program could not go on (an exception of a Python generator, for example).
    fn next(&mut self, now: Nanos) -> Result<Option<Operation>, ProgramError>;

    /// The time that the program itself takes before it reads or writes. A simulation adds it; a run on a real machine has it anyway.
    fn own_time(&self) -> Nanos {
        Nanos::ZERO
    }

    /// Whether it had no operation only because another program of its run must go on before it. It is asked again when one has.
    fn is_held(&self) -> bool {
        false
    }

    /// Whether it is to be told when its operations end.
    fn watches(&self) -> bool {
        false
    }

    /// An operation has ended, which had begun and moved so many bytes; times are since the process started.
    fn ended(&mut self, _action: &Action, _bytes: Bytes, _began: Nanos, _now: Nanos) {}
}

/// The reason for which a program could not give its next operation.
#[derive(Debug)]
pub struct ProgramError(pub Box<dyn std::error::Error + Send + Sync>);

/// Every iterator of operations is a program.
impl<I: Iterator<Item = Operation> + Send> Program for I {
    fn next(&mut self, _now: Nanos) -> Result<Option<Operation>, ProgramError> {
        Ok(Iterator::next(self))
    }
}

/// One step of a program, and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// What is done.
    pub action: Action,
    /// Line of the file that it came from, if any.
    pub line: Option<u32>,
    /// It does not begin before this time after the start of its process.
    pub not_before: Option<Nanos>,
    /// If it is asynchronous: it begins when fewer operations of its process than this are under way, and the process goes on at once.
    /// Of operations that [`Action::may_be_asynchronous`] denies, it has no effect.
    pub depth: Option<NonZeroU32>,
    /// The interface, if it is asynchronous.
    pub by: AsyncBy,
    /// The descriptor that it uses. The path of the action is then the name for messages and records alone, but for an `open`.
    pub fd: Option<Fd>,
    /// True of a call on names whose recorded time the program keeps: it takes none for the name.
    pub is_timed: bool,
}

impl From<Action> for Operation {
    fn from(action: Action) -> Self {
        let by = AsyncBy::default();
        Self { action, line: None, not_before: None, depth: None, by, fd: None, is_timed: false }
    }
}

/// The operations of a program. Paths are absolute, as the process's host sees them.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// open(2). Takes no time by itself.
    Open {
        /// The file; it must exist unless `create`.
        path: Arc<str>,
        /// O_CREAT.
        create: bool,
        /// O_TRUNC: the file's old pages leave the cache, dirty ones unwritten.
        truncate: bool,
        /// How the process reads and writes it until it closes it or opens it again.
        flags: OpenFlags,
    },
    /// read(2), as often as it takes.
    Read {
        /// The file.
        path: Arc<str>,
        /// First byte; `None` is the position of the descriptor, or 0 without one.
        offset: Option<u64>,
        /// The number of bytes; `None` is up to the end of the file. Through a descriptor a read ends at the end of the file.
        bytes: Option<Bytes>,
        /// Bytes of one call; `None` is all in one.
        call: Option<Bytes>,
        /// In how many places of memory a call has them (readv(2)), at most [`MOST_PLACES`].
        vector: u32,
        /// Where the bytes go.
        buffer: Buffer,
    },
    /// write(2), as often as it takes. Makes the file if it is not there.
    Write {
        /// The file.
        path: Arc<str>,
        /// First byte; `None` is the position of the descriptor, or the end of the file without one.
        offset: Option<u64>,
        /// The number of bytes.
        bytes: Bytes,
        /// Bytes of one call; `None` is all in one.
        call: Option<Bytes>,
        /// In how many places of memory a call has them (writev(2)), at most [`MOST_PLACES`].
        vector: u32,
    },
    /// Copies bytes of a file to the same place in another one. Makes that if it is not there.
    Copy {
        /// The file.
        path: Arc<str>,
        /// The other one.
        to: Arc<str>,
        /// With which system calls.
        by: CopyBy,
        /// First byte, in both.
        offset: u64,
        /// The number of bytes; `None` is up to the end of the file.
        bytes: Option<Bytes>,
        /// Bytes of one call; `None` is [`CopyBy::usual_call`].
        call: Option<Bytes>,
    },
    /// fsync(2): the file's dirty pages are written before it returns.
    Fsync {
        /// The file.
        path: Arc<str>,
    },
    /// fdatasync(2): as fsync, without the file's times. The same as long as there is no journal.
    Fdatasync {
        /// The file.
        path: Arc<str>,
    },
    /// sync(2): the dirty pages of all files of the process's host are written before it returns.
    Sync,
    /// syncfs(2): the dirty pages of all files of one file system are written before it returns.
    SyncFs {
        /// A directory or file on it; it need not be there.
        path: Arc<str>,
    },
    /// sync_file_range(2): pages of a range are written, or waited for; nothing is made durable.
    SyncFileRange {
        /// The file.
        path: Arc<str>,
        /// First byte.
        offset: u64,
        /// The number of bytes; `None` is up to the end of the file.
        bytes: Option<Bytes>,
        /// The actions.
        flags: SyncRangeFlags,
    },
    /// readahead(2): pages are read that nobody has asked for yet.
    Readahead {
        /// The file.
        path: Arc<str>,
        /// First byte.
        offset: u64,
        /// The number of bytes; `None` is up to the end of the file.
        bytes: Option<Bytes>,
    },
    /// close(2). Takes no time.
    Close {
        /// The file.
        path: Arc<str>,
    },
    /// truncate(2): pages beyond the new size leave the cache, dirty ones unwritten.
    Truncate {
        /// The file.
        path: Arc<str>,
        /// Its new size.
        size: Bytes,
    },
    /// unlink(2): the name is gone; the file and its pages, too, when it has no other name and no descriptor.
    Unlink {
        /// The file.
        path: Arc<str>,
    },
    /// Many calls of one operation in an order of their own.
    Pattern(Box<Pattern>),
    /// lseek(2), SEEK_SET: sets the position of the operation's descriptor.
    Seek {
        /// The file.
        path: Arc<str>,
        /// The position.
        offset: u64,
    },
    /// dup2(2): a second descriptor for the open file of the operation's descriptor.
    Duplicate {
        /// The file.
        path: Arc<str>,
        /// The second one. It is closed before, if it is open.
        to: Fd,
    },
    /// rename(2): a file that has the new name loses it.
    Rename {
        /// The file or directory.
        path: Arc<str>,
        /// Its new name.
        to: Arc<str>,
    },
    /// link(2): a second name.
    Link {
        /// The file.
        path: Arc<str>,
        /// The second name.
        to: Arc<str>,
    },
    /// mkdir(2).
    Mkdir {
        /// The directory.
        path: Arc<str>,
    },
    /// rmdir(2).
    Rmdir {
        /// The directory.
        path: Arc<str>,
    },
    /// stat(2).
    Stat {
        /// The file or directory.
        path: Arc<str>,
    },
    /// fallocate(2).
    Fallocate {
        /// The file.
        path: Arc<str>,
        /// What is done with the range.
        mode: AllocateMode,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
    },
    /// Waits until no asynchronous operation of the process is under way.
    Drain,
    /// Writing 3 to /proc/sys/vm/drop_caches on the process's host: clean pages leave the cache, dirty ones stay.
    DropCaches,
    /// posix_fadvise(2).
    Fadvise {
        /// The file.
        path: Arc<str>,
        /// What is said.
        advice: Advice,
        /// First byte.
        offset: u64,
        /// The number of bytes; `None` is up to the end of the file.
        bytes: Option<Bytes>,
    },
    /// A call of a library's stream.
    Stream {
        /// The file.
        path: Arc<str>,
        /// What is called.
        call: LibraryCall,
    },
    /// Something is done with a mapping of a file.
    Mapped {
        /// The file.
        path: Arc<str>,
        /// What.
        call: MappedCall,
    },
    /// Works for this long on one core of its own; takes longer when more processes than cores run.
    Compute {
        /// Time on an idle host.
        time: Nanos,
    },
    /// Waits for this long without a core.
    Sleep {
        /// How long, or the mean of what is drawn.
        time: Nanos,
        /// How it is drawn.
        random: Option<SleepSpread>,
    },
    /// Takes anonymous memory.
    Allocate {
        /// The number of bytes.
        bytes: Bytes,
    },
    /// Gives anonymous memory back.
    Free {
        /// How much; `None` is all the process holds.
        bytes: Option<Bytes>,
    },
    /// Waits until the named event has been signalled.
    Wait {
        /// The event.
        event: Arc<str>,
    },
    /// Signals the named event, once and for all.
    Signal {
        /// The event.
        event: Arc<str>,
    },
    /// Ends the process here.
    Exit,
}

impl Action {
    /// The operation's name in every table and scenario.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Copy { .. } => "copy",
            Self::Fsync { .. } => "fsync",
            Self::Fdatasync { .. } => "fdatasync",
            Self::Sync => "sync",
            Self::SyncFs { .. } => "syncfs",
            Self::SyncFileRange { .. } => "sync_file_range",
            Self::Readahead { .. } => "readahead",
            Self::Close { .. } => "close",
            Self::Truncate { .. } => "truncate",
            Self::Unlink { .. } => "unlink",
            Self::Pattern(pattern) => pattern.name(),
            Self::Seek { .. } => "lseek",
            Self::Duplicate { .. } => "dup",
            Self::Rename { .. } => "rename",
            Self::Link { .. } => "link",
            Self::Mkdir { .. } => "mkdir",
            Self::Rmdir { .. } => "rmdir",
            Self::Stat { .. } => "stat",
            Self::Fallocate { .. } => "fallocate",
            Self::Drain => "drain",
            Self::DropCaches => "drop_caches",
            Self::Fadvise { .. } => "fadvise",
            Self::Stream { call, .. } => call.name(),
            Self::Mapped { call, .. } => call.name(),
            Self::Compute { .. } => "compute",
            Self::Sleep { .. } => "sleep",
            Self::Allocate { .. } => "alloc",
            Self::Free { .. } => "free",
            Self::Wait { .. } => "wait",
            Self::Signal { .. } => "signal",
            Self::Exit => "exit",
        }
    }

    /// True if it waits for or signals an event.
    #[must_use]
    pub fn has_event(&self) -> bool {
        matches!(self, Self::Wait { .. } | Self::Signal { .. })
    }

    /// The file it is about, if any; of a copy the one that is read. A file system is no file.
    #[must_use]
    pub fn path(&self) -> Option<&Arc<str>> {
        match self {
            Self::Open { path, .. }
            | Self::Read { path, .. }
            | Self::Write { path, .. }
            | Self::Copy { path, .. }
            | Self::Fsync { path }
            | Self::Fdatasync { path }
            | Self::Close { path }
            | Self::Truncate { path, .. }
            | Self::Unlink { path }
            | Self::Seek { path, .. }
            | Self::Duplicate { path, .. }
            | Self::Rename { path, .. }
            | Self::Link { path, .. }
            | Self::Mkdir { path }
            | Self::Rmdir { path }
            | Self::Stat { path }
            | Self::Fallocate { path, .. }
            | Self::SyncFileRange { path, .. }
            | Self::Readahead { path, .. }
            | Self::Fadvise { path, .. }
            | Self::Stream { path, .. }
            | Self::Mapped { path, .. } => Some(path),
            Self::Pattern(pattern) => Some(&pattern.path),
            _ => None,
        }
    }

    /// The other path, which is there afterwards: that of a copy, or the new name of a file.
    #[must_use]
    pub fn target(&self) -> Option<&Arc<str>> {
        match self {
            Self::Copy { to, .. } | Self::Rename { to, .. } | Self::Link { to, .. } => Some(to),
            _ => None,
        }
    }

    /// The same, to change it.
    pub fn target_mut(&mut self) -> Option<&mut Arc<str>> {
        match self {
            Self::Copy { to, .. } | Self::Rename { to, .. } | Self::Link { to, .. } => Some(to),
            _ => None,
        }
    }

    /// True if it writes bytes of its file, from the first to the last.
    #[must_use]
    pub fn writes_bytes(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Mapped { call: MappedCall::Write { .. }, .. })
    }

    /// True if it changes the bytes or the size of a file at once, and not call by call.
    #[must_use]
    pub fn changes_file(&self) -> bool {
        self.writes_bytes() || matches!(self, Self::Truncate { .. } | Self::Fallocate { .. })
    }

    /// True if it takes no time by itself, whatever the machine and the model.
    #[must_use]
    pub fn takes_no_time(&self) -> bool {
        match self {
            Self::Compute { time } | Self::Sleep { time, .. } => *time == Nanos::ZERO,
            Self::Read { bytes, .. } | Self::Copy { bytes, .. } | Self::Readahead { bytes, .. } => {
                *bytes == Some(Bytes::ZERO)
            }
            Self::Pattern(pattern) => pattern.bytes == Some(Bytes::ZERO),
            Self::Write { bytes, .. } | Self::Allocate { bytes } => *bytes == Bytes::ZERO,
            Self::Open { truncate, .. } => !truncate,
            Self::Close { .. } | Self::Free { .. } | Self::Wait { .. } | Self::Signal { .. } => true,
            Self::Seek { .. }
            | Self::Duplicate { .. }
            | Self::Link { .. }
            | Self::Mkdir { .. }
            | Self::Rmdir { .. }
            | Self::Stat { .. }
            | Self::Fallocate { .. } => true,
            _ => false,
        }
    }

    /// True if its process can go on before it has ended: reads and writes of descriptors, unless they take memory, and waits for a file
    /// to be durable.
    #[must_use]
    pub fn may_be_asynchronous(&self) -> bool {
        match self {
            Self::Read { buffer, .. } => *buffer == Buffer::Reused,
            Self::Write { .. } | Self::Fsync { .. } | Self::Fdatasync { .. } | Self::SyncFileRange { .. } => {
                true
            }
            _ => false,
        }
    }

    /// True if it makes its file if that is not there.
    #[must_use]
    pub fn makes_file(&self) -> bool {
        match self {
            Self::Write { .. } | Self::Open { create: true, .. } => true,
            Self::Pattern(pattern) => pattern.write_share >= 1.0,
            Self::Stream { call: LibraryCall::Open { mode, .. }, .. } => mode.creates(),
            _ => false,
        }
    }
}

/// In how many places a call can have its bytes (`UIO_MAXIOV`, include/uapi/linux/uio.h).
pub const MOST_PLACES: u32 = 1024;

/// A flag of open(2) that says how a file is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenFlag {
    /// O_DIRECT: past the page cache, from and to the program's own memory.
    Direct,
    /// O_SYNC: a write returns when the device has its bytes.
    Sync,
    /// O_DSYNC: as O_SYNC, without the file's times.
    Dsync,
    /// O_APPEND: a write begins at the end of the file, wherever it was to begin.
    Append,
    /// RWF_DONTCACHE, which is no flag of open(2) but of each call (preadv2, pwritev2): pages leave the cache when they have served.
    DontCache,
}

impl OpenFlag {
    /// The words of a scenario, in the order of `ALL`.
    pub const NAMES: [&'static str; 5] = ["O_DIRECT", "O_SYNC", "O_DSYNC", "O_APPEND", "RWF_DONTCACHE"];
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Direct, Self::Sync, Self::Dsync, Self::Append, Self::DontCache];
}

/// A set of flags; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFlags(u8);

impl OpenFlags {
    /// True if the flag is set.
    #[must_use]
    pub fn has(self, flag: OpenFlag) -> bool {
        self.0 & (1 << flag as u8) != 0
    }

    /// True if no flag is set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the flags of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// O_DIRECT.
    #[must_use]
    pub fn is_direct(self) -> bool {
        self.has(OpenFlag::Direct)
    }

    /// O_SYNC or O_DSYNC.
    #[must_use]
    pub fn is_synchronous(self) -> bool {
        self.has(OpenFlag::Sync) || self.has(OpenFlag::Dsync)
    }
}

impl FromIterator<OpenFlag> for OpenFlags {
    fn from_iter<I: IntoIterator<Item = OpenFlag>>(flags: I) -> Self {
        Self(flags.into_iter().fold(0, |set, flag| set | 1 << flag as u8))
    }
}

/// The destination of the bytes that a read delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Buffer {
    /// A small buffer that is used again: no memory to speak of.
    #[default]
    Reused,
    /// New anonymous memory of the size of the read, held until `free` or exit.
    Fresh,
}

impl Buffer {
    /// The words of a scenario, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["reused", "fresh"];
}

/// The advice of a program to the kernel about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// POSIX_FADV_DONTNEED: clean pages leave the cache.
    DontNeed,
    /// POSIX_FADV_WILLNEED: it is read ahead.
    WillNeed,
    /// POSIX_FADV_SEQUENTIAL: more is read ahead.
    Sequential,
    /// POSIX_FADV_RANDOM: nothing is read ahead.
    Random,
    /// POSIX_FADV_NORMAL: neither of both.
    Normal,
    /// POSIX_FADV_NOREUSE.
    NoReuse,
}

impl Advice {
    /// The words of a scenario, in the order of the variants.
    pub const NAMES: [&'static str; 6] =
        ["dontneed", "willneed", "sequential", "random", "normal", "noreuse"];

    /// In the order of the variants.
    pub const ALL: [Self; 6] =
        [Self::DontNeed, Self::WillNeed, Self::Sequential, Self::Random, Self::Normal, Self::NoReuse];
}
