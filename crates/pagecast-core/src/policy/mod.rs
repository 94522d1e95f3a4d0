//! What the page cache decides. A policy is told the time and asks for transfers; it has no clock, device or thread.
//!
//! A policy keeps the page cache of one host. Adding one is a new file and a line in [`registry`].

mod cawl;
mod endless_cache;
pub mod kernel;
mod no_cache;
mod options;
mod ranges;
pub mod registry;
pub mod wrench;

pub use options::{ModelOptions, OptionValue, Options};

use crate::flow::{Completion, FlowId, FlowSpec, Path, Progress};
use crate::machine::{Host, MountCost};
use crate::result::{CgroupLevels, DeviceLevels, FileLevels, MemoryLevels, Part, Parts};
use crate::units::{Bytes, Nanos};
use crate::workload::{Advice, MapAdvice, OpenFlag, OpenFlags, SyncRangeFlags};

/// A file of the whole scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// An operation under way. A process has one at a time; what a file system asks for in between has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(pub u32);

impl OperationId {
    /// Those from this number on are no process's own: a file system does them for it, or nobody waits for them.
    pub const OF_NO_PROCESS: u32 = 1 << 31;
    /// That of everything that nobody waits for.
    pub const NOBODY: Self = Self(u32::MAX);

    /// The process that does it.
    #[must_use]
    pub fn process(self) -> Option<u32> {
        (self.0 < Self::OF_NO_PROCESS).then_some(self.0)
    }
}

/// A file as a policy sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileView {
    /// Which.
    pub id: FileId,
    /// Its size before the operation.
    pub size: Bytes,
    /// Up to where its device has bytes of it; what is behind is a hole.
    pub filled: Bytes,
    /// Its device: writes to be flushed are gathered by device.
    pub device: DeviceId,
    /// What a read of it that misses crosses.
    pub read: Path,
    /// What its write-back crosses.
    pub write: Path,
    /// What a read crosses whose bytes are copied as they come: the device and memory at once.
    pub read_and_copy: Path,
    /// Getting a page of 4 KiB of it into the page cache.
    pub page_insert: Nanos,
    /// What its file system does of its own.
    pub cost: MountCost,
}

/// What of a file is made durable (open(2), "Synchronized I/O").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrity {
    /// Its bytes and what is needed to read them: fdatasync, O_DSYNC.
    Data,
    /// Its times as well: fsync, O_SYNC.
    File,
}

impl Integrity {
    /// What each write through a file makes durable that was opened with these flags, if anything.
    pub(crate) fn of(flags: OpenFlags) -> Option<Self> {
        match (flags.has(OpenFlag::Sync), flags.has(OpenFlag::Dsync)) {
            (true, _) => Some(Self::File),
            (false, true) => Some(Self::Data),
            (false, false) => None,
        }
    }
}

/// A device of a host, or a mount of another host's, in the order in which the host names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u32);

/// Something to be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Under this number it will be reported as done.
    pub operation: OperationId,
    /// What.
    pub call: Call,
}

/// What a policy can be asked to do. Sizes are checked before: a read is within its file, memory suffices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call {
    /// Read through the cache; `fresh` if the bytes go to new anonymous memory.
    Read {
        /// From here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
        /// Whether each byte read takes a byte of new anonymous memory.
        fresh: bool,
        /// Whether nothing of what has to be fetched stays in the cache (RWF_DONTCACHE).
        dontcache: bool,
        /// Bytes of each system call but the last.
        piece: Bytes,
    },
    /// Read through the cache for another host.
    Serve {
        /// From here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
    },
    /// Read past the cache (O_DIRECT): what of the bytes is dirty is written first, what is cached stays and is not used.
    ReadDirect {
        /// From here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
        /// Whether each byte read takes a byte of new anonymous memory.
        fresh: bool,
        /// Bytes of each system call but the last.
        piece: Bytes,
    },
    /// Write past the cache (O_DIRECT): what of the bytes is dirty is written first, what is cached leaves.
    WriteDirect {
        /// To here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
        /// What each system call makes durable before it returns (O_SYNC, O_DSYNC), if anything.
        durable: Option<Integrity>,
        /// Bytes of each system call but the last.
        piece: Bytes,
    },
    /// Write through the cache, where each system call returns only when the device has its bytes (O_SYNC).
    WriteSync {
        /// To here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
        /// Bytes of each system call but the last.
        piece: Bytes,
        /// What is durable then.
        durable: Integrity,
    },
    /// Write through the cache.
    Write {
        /// To here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
        /// Whether it returns only when the device has them.
        through: bool,
        /// Whether each system call has its pages written, after which those that are new leave the cache (RWF_DONTCACHE).
        dontcache: bool,
        /// Bytes of each system call but the last.
        piece: Bytes,
    },
    /// The first pages of a new file are cached, without having been read or written. Takes no time.
    Preload {
        /// Whose.
        file: FileView,
        /// How many.
        bytes: Bytes,
        /// How many of them, from the first on, are dirty.
        dirty: Bytes,
    },
    /// Pages that another host sent come into the cache, clean.
    Insert {
        /// Theirs.
        file: FileView,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
        /// The operation that reads them.
        reader: OperationId,
        /// Whether each byte takes a byte of its new anonymous memory.
        fresh: bool,
    },
    /// Write the file's dirty pages and wait.
    Fsync {
        /// Whose.
        file: FileView,
        /// What is durable then.
        durable: Integrity,
    },
    /// The same of those of a part of the file.
    FsyncRange {
        /// Whose.
        file: FileView,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
    },
    /// Bytes of a mapping are read or written one after the other; they are within their file.
    Mapped {
        /// What is mapped.
        file: FileView,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
        /// Whether they are written.
        writes: bool,
        /// What is said of the mapping.
        advice: MapAdvice,
        /// The number of the process's mapping, if it is one that stays; its last one of the file has the highest.
        mapping: Option<u32>,
    },
    /// Write all dirty pages of the host and wait.
    Sync,
    /// The same of one device.
    SyncFs {
        /// Which.
        device: DeviceId,
    },
    /// Write pages of a part of a file, or wait for them.
    SyncRange {
        /// Which.
        file: FileView,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
        /// What is done.
        flags: SyncRangeFlags,
    },
    /// Pages beyond the new size leave, unwritten.
    Truncate {
        /// Whose.
        file: FileView,
        /// New size.
        size: Bytes,
    },
    /// A process says how it uses a file, or a part of it.
    Advise {
        /// Which.
        file: FileView,
        /// What it says.
        advice: Advice,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: Bytes,
    },
    /// All clean pages leave.
    DropCaches,
    /// Anonymous memory is taken.
    Allocate {
        /// How much.
        bytes: Bytes,
        /// By whom: the operation that gives it back with [`Call::Free`].
        owner: OperationId,
    },
    /// Anonymous memory is given back.
    Free {
        /// How much.
        bytes: Bytes,
        /// By whom: the operations of this number have taken it.
        owner: OperationId,
    },
}

/// How an operation went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Where its time went; sums to its duration.
    pub parts: Parts,
    /// Bytes the cache served.
    pub from_cache: Bytes,
    /// Bytes a device served or took before it ended.
    pub from_device: Bytes,
}

/// Something worth telling that a policy decided.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Event {
    /// What.
    pub name: &'static str,
    /// When, if not now but earlier.
    pub time: Option<Nanos>,
    /// Whom it happened to.
    pub operation: Option<OperationId>,
    /// At which device.
    pub device: Option<DeviceId>,
    /// About which file.
    pub file: Option<FileId>,
    /// How many bytes.
    pub bytes: Bytes,
}

/// What is known of writing to a device at this instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceSample {
    /// Which.
    pub device: DeviceId,
    /// For which memory cgroup of the host, if that is kept apart.
    pub cgroup: Option<usize>,
    /// What.
    pub levels: DeviceLevels,
}

/// Why a policy has no answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What it does not know, as the end of "model `NAME` ...".
    pub what: &'static str,
    /// What would be right.
    pub remedy: &'static str,
}

/// What a policy wants done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// A transfer.
    Start(FlowId, FlowSpec),
    /// A new cap of a transfer (0: blocked).
    SetCap(FlowId, Option<(f64, Part)>),
    /// A transfer ends after so many of its bytes.
    Shorten(FlowId, u64),
    /// No more of this transfer.
    Cancel(FlowId),
    /// An operation has ended.
    Done(OperationId, Outcome),
    /// An operation of a process cannot be answered: the run ends here.
    Refuse(OperationId, Refusal),
    /// Come back to the policy at this instant, when all else that is due has been done.
    GiveWay(u64),
    /// For the record.
    Tell(Event),
    /// For the record, too.
    Sample(DeviceSample),
}

/// Collects what a policy wants done; the engine does it when the policy has returned.
#[derive(Debug, Default)]
pub struct Actions {
    commands: Vec<Command>,
    free_slots: Vec<u32>,
    slots: u32,
    flows: u64,
}

impl Actions {
    /// Starts a transfer of more than nothing.
    pub fn start(&mut self, spec: FlowSpec) -> FlowId {
        debug_assert!(spec.bytes > 0, "a transfer moves something");
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        self.flows += 1;
        let flow = FlowId { number: self.flows, slot };
        self.commands.push(Command::Start(flow, spec));
        flow
    }

    /// Changes a transfer's own cap.
    pub fn set_cap(&mut self, flow: FlowId, cap: Option<(f64, Part)>) {
        self.commands.push(Command::SetCap(flow, cap));
    }

    /// Lets a transfer end after so many of its bytes, at least those that it has moved.
    pub fn shorten(&mut self, flow: FlowId, bytes: u64) {
        self.commands.push(Command::Shorten(flow, bytes));
    }

    /// Ends a transfer before its time.
    pub fn cancel(&mut self, flow: FlowId) {
        self.commands.push(Command::Cancel(flow));
    }

    /// Reports an operation as done.
    pub fn done(&mut self, operation: OperationId, outcome: Outcome) {
        self.commands.push(Command::Done(operation, outcome));
    }

    /// Ends the run: there is no answer to what a process does.
    pub fn refuse(&mut self, operation: OperationId, refusal: Refusal) {
        self.commands.push(Command::Refuse(operation, refusal));
    }

    /// Asks for [`Policy::resumed`] at this instant, after all else that is due now.
    pub fn give_way(&mut self, tag: u64) {
        self.commands.push(Command::GiveWay(tag));
    }

    /// Records an event.
    pub fn tell(&mut self, name: &'static str, file: Option<FileId>, bytes: Bytes) {
        self.tell_all(Event { name, file, bytes, ..Event::default() });
    }

    /// Records an event with all that is known of it.
    pub fn tell_all(&mut self, event: Event) {
        self.commands.push(Command::Tell(event));
    }

    /// Records what is known of writing to a device.
    pub fn sample(&mut self, sample: DeviceSample) {
        self.commands.push(Command::Sample(sample));
    }

    /// Takes the commands so far, one by one: for engines other than ours.
    pub fn drain(&mut self) -> impl Iterator<Item = Command> + '_ {
        self.commands.drain(..)
    }

    /// The commands so far; `give_back` returns the emptied list.
    pub(crate) fn take(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }

    pub(crate) fn give_back(&mut self, mut commands: Vec<Command>) {
        commands.clear();
        if self.commands.is_empty() {
            self.commands = commands;
        }
    }

    /// The flow has ended or been cancelled; its slot may be used again.
    pub fn release(&mut self, flow: FlowId) {
        self.free_slots.push(flow.slot);
    }
}

/// How a policy treats files of another host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    /// Like a device whose path crosses the link: one transfer over everything.
    OneFlow,
    /// The server has a page cache of its own; chunks of this size go through both.
    Chunks(Bytes),
}

/// The page cache of one host.
///
/// The caller reports times that never run back, every completed flow once, and calls [`Policy::advance`] at
/// [`Policy::next_call`] and after every change of a watched flow's rate. The implementer answers every request
/// with one `Done`, at once or later, whose parts sum to the time between, or refuses it; changes page state of a published
/// model as published and of its own only by bytes reported; and decides by nothing but what it was told.
pub trait Policy: Send {
    /// An operation enters.
    fn begin(&mut self, now: Nanos, request: &Request, out: &mut Actions);

    /// What an operation brings into memory is charged from now on to this memory cgroup of the host, or to none.
    fn charge_to(&mut self, _operation: OperationId, _cgroup: Option<usize>) {}

    /// A flow has moved all its bytes.
    fn completed(&mut self, now: Nanos, done: &Completion, out: &mut Actions);

    /// It is the policy's turn again after it has given way.
    fn resumed(&mut self, _now: Nanos, _tag: u64, _out: &mut Actions) {}

    /// The next call is due, or the rates of watched flows have changed.
    fn advance(&mut self, _now: Nanos, _progress: &[Progress], _out: &mut Actions) {}

    /// When the policy wants to be called again, if nothing else happens. Asked once after all calls of an instant.
    fn next_call(&self) -> Option<Nanos> {
        None
    }

    /// How much memory programs can hold at most, and not one page of a file be read or written beside it. `None`: all that there is, and
    /// files are read and written all the same.
    fn most_anonymous(&self) -> Option<Bytes> {
        None
    }

    /// How files of other hosts are reached.
    fn remote(&self) -> Remote {
        Remote::OneFlow
    }

    /// How many of the bytes of a file, from one up to another, who copies them is taken to read before any of them is written: a
    /// simulation need not alternate as often as a program does.
    fn copied_at_once(&self, _file: &FileView, _at: u64, _end: u64) -> Bytes {
        Bytes(16 << 20)
    }

    /// Brings the levels up to an instant, if they change between calls.
    fn bring_up_to(&mut self, _now: Nanos) {}

    /// Nobody will ask for anything any more: what only matters to requests may be forgotten, and which blocks there are unless
    /// they will be asked for. Levels and counts stay.
    fn retire(&mut self, _keeps_blocks: bool) {}

    /// The run is over: what is still to be told is told now.
    fn tell_rest(&mut self, _now: Nanos, _out: &mut Actions) {}

    /// Whether levels change evenly between calls, and not at calls alone.
    fn is_even(&self) -> bool {
        false
    }

    /// What the memory holds.
    fn levels(&self) -> MemoryLevels;

    /// What the memory holds of a file.
    fn residency(&self, file: FileId) -> FileLevels;

    /// What is charged to each memory cgroup of the host, if the policy knows them.
    fn cgroups(&self) -> Vec<CgroupLevels> {
        Vec::new()
    }

    /// How many blocks are in memory, if the policy keeps lists of blocks.
    fn block_count(&self) -> usize {
        0
    }

    /// These blocks, list by list and in the order of each.
    fn blocks(&self) -> Vec<ListedBlock> {
        Vec::new()
    }
}

/// A run of a file's bytes in memory, as a policy that keeps lists of such blocks has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedBlock {
    /// The list: "inactive" or "active".
    pub list: &'static str,
    /// Whose bytes.
    pub file: FileId,
    /// How many.
    pub bytes: Bytes,
    /// Whether the device does not have them yet.
    pub dirty: bool,
    /// When they were last read or written.
    pub accessed: Nanos,
    /// When they were made dirty, or the start if never.
    pub dirtied: Nanos,
}

/// What a policy is made from.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// Memory size and kernel settings.
    pub host: &'a Host,
    /// What copying out of the page cache crosses.
    pub memory_read: Path,
    /// What copying into the page cache crosses.
    pub memory_write: Path,
}

#[cfg(test)]
mod tests;
