//! Defines the interface of a policy, which decides what a page cache does. It has no clock, device or thread.
//!
//! A policy keeps the page cache of one host: it is told the time and asks for transfers. Adding one is a new file and a line in
//! [`registry`].

mod cawl;
mod endless_cache;
pub mod kernel;
mod no_cache;
mod offsets;
mod options;
mod ranges;
pub mod registry;
mod rpc;
pub mod wrench;

pub use options::{ModelOptions, OptionValue, Options};
pub use rpc::{Procedure, Reply, Rpc};

use crate::flow::{Completion, FlowId, FlowSpec, Path, Progress};
use crate::machine::Host;
use crate::result::{AtRisk, BdiLevels, CgroupLevels, FileLevels, MemoryLevels, Part, Parts};
use crate::units::{Bytes, Nanos};
use crate::workload::{Advice, IoPriority, MapAdvice, OpenFlag, OpenFlags, SyncRangeFlags};

/// A file of the whole scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// An operation under way. A process has one at a time, and more numbers for those that it does asynchronously; work that a file system
/// does in between has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(pub u32);

impl OperationId {
    /// The first number of operations that are no process's own: a file system does them for it, or nobody waits for them.
    pub const OF_NO_PROCESS: u32 = 1 << 31;
    /// The number of everything that nobody waits for.
    pub const NOBODY: Self = Self(u32::MAX);

    /// Returns the process that does it.
    #[must_use]
    pub fn process(self) -> Option<u32> {
        (self.0 < Self::OF_NO_PROCESS).then_some(self.0)
    }
}

/// A file as a policy sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileView {
    /// The file.
    pub id: FileId,
    /// Its number among the files of the host that keeps it, in the order in which they are made.
    pub inode: u32,
    /// Its size before the operation.
    pub size: Bytes,
    /// The end of the bytes that its device has; a hole follows.
    pub filled: Bytes,
    /// Its device: writes to be flushed are gathered by device.
    pub device: DeviceId,
    /// The path of a read of it that misses.
    pub read: Path,
    /// The path of its write-back.
    pub write: Path,
    /// The path of a read whose bytes are copied as they come: the device and memory at once.
    pub read_and_copy: Path,
    /// The time to get a page of 4 KiB of it into the page cache.
    pub page_insert: Nanos,
    /// The index of its mount on the host of the policy.
    pub mount: u32,
    /// Its directory.
    pub directory: u32,
    /// How many names its directory has.
    pub names: u32,
    /// True in a call on names whose time the program keeps.
    pub is_timed: bool,
}

/// The part of a file that is made durable (open(2), "Synchronized I/O").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrity {
    /// Its bytes and what is needed to read them: fdatasync, O_DSYNC.
    Data,
    /// Its times as well: fsync, O_SYNC.
    File,
}

impl Integrity {
    /// Returns the durability of each write through a file that was opened with these flags, if any.
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

/// A request to a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// The number under which it will be reported as done.
    pub operation: OperationId,
    /// The call.
    pub call: Call,
}

/// The calls of a policy. Sizes are checked before: a read is within its file, memory suffices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call {
    /// Read through the cache; `fresh` if the bytes go to new anonymous memory.
    Read {
        /// From here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
        /// True if each byte read takes a byte of new anonymous memory.
        fresh: bool,
        /// True if bytes from the device do not stay in the cache (RWF_DONTCACHE).
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
        /// The number of bytes.
        bytes: Bytes,
    },
    /// Read past the cache (O_DIRECT): dirty bytes are written first, cached bytes stay and are not used.
    ReadDirect {
        /// From here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
        /// True if each byte read takes a byte of new anonymous memory.
        fresh: bool,
        /// Bytes of each system call but the last.
        piece: Bytes,
    },
    /// Write past the cache (O_DIRECT): dirty bytes are written first, cached bytes leave.
    WriteDirect {
        /// To here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
        /// The durability of each system call before it returns (O_SYNC, O_DSYNC), if any.
        durable: Option<Integrity>,
        /// Bytes of each system call but the last.
        piece: Bytes,
    },
    /// Write through the cache; each system call returns only when the device has its bytes (O_SYNC).
    WriteSync {
        /// To here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
        /// Bytes of each system call but the last.
        piece: Bytes,
        /// The durability of each call.
        durable: Integrity,
    },
    /// Write through the cache.
    Write {
        /// To here.
        file: FileView,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
        /// True if it returns only when the device has them.
        through: bool,
        /// True if each system call has its pages written, after which the new ones leave the cache (RWF_DONTCACHE).
        dontcache: bool,
        /// Bytes of each system call but the last.
        piece: Bytes,
    },
    /// Put the first pages of a new file into the cache, neither read nor written. Takes no time.
    Preload {
        /// The file.
        file: FileView,
        /// The number of bytes.
        bytes: Bytes,
        /// The number of dirty ones, from the first on.
        dirty: Bytes,
    },
    /// Pages that another host sent come into the cache, clean.
    Insert {
        /// Theirs.
        file: FileView,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
        /// The operation that reads them.
        reader: OperationId,
        /// True if each byte takes a byte of its new anonymous memory.
        fresh: bool,
    },
    /// Write the file's dirty pages and wait.
    Fsync {
        /// The file.
        file: FileView,
        /// The durability of the file.
        durable: Integrity,
    },
    /// Write the dirty pages of a part of the file and wait.
    FsyncRange {
        /// The file.
        file: FileView,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
    },
    /// Read or write bytes of a mapping one after the other; they are within their file.
    Mapped {
        /// The mapped file.
        file: FileView,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
        /// True if they are written.
        writes: bool,
        /// The advice for the mapping.
        advice: MapAdvice,
        /// The number of the process's mapping, if it is one that stays; its last one of the file has the highest.
        mapping: Option<u32>,
    },
    /// Write all dirty pages of the host and wait.
    Sync,
    /// Write all dirty pages of one device and wait.
    SyncFs {
        /// The device.
        device: DeviceId,
    },
    /// Write pages of a part of a file, or wait for them.
    SyncRange {
        /// The file.
        file: FileView,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
        /// The actions.
        flags: SyncRangeFlags,
    },
    /// Pages beyond the new size leave, unwritten.
    Truncate {
        /// The file.
        file: FileView,
        /// New size.
        size: Bytes,
        /// True if the call opens the file, too (O_TRUNC).
        opens: bool,
    },
    /// A file loses its last name: its pages leave, unwritten.
    Unlink {
        /// The file.
        file: FileView,
    },
    /// A name of a file is made, changed, or removed while others are left. Only for a policy that [minds](Policy::minds_names).
    Name {
        /// The file.
        file: FileView,
        /// The change.
        change: NameChange,
    },
    /// A file that is there is opened, or looked at. Only for a policy that [minds](Policy::minds_opens).
    Open {
        /// The file.
        file: FileView,
        /// True for `stat`, which needs the inode alone.
        is_stat: bool,
    },
    /// A program closes a file. Only for a policy whose files of other hosts are reached by [calls](Remote::Calls).
    Close {
        /// The file.
        file: FileView,
    },
    /// Take advice on the use of a file, or a part of it.
    Advise {
        /// The file.
        file: FileView,
        /// The advice.
        advice: Advice,
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
    },
    /// All clean pages leave.
    DropCaches,
    /// Anonymous memory is taken.
    Allocate {
        /// The number of bytes.
        bytes: Bytes,
        /// By whom: the operation that gives it back with [`Call::Free`].
        owner: OperationId,
    },
    /// Anonymous memory is given back.
    Free {
        /// The number of bytes.
        bytes: Bytes,
        /// By whom: the operations of this number have taken it.
        owner: OperationId,
    },
}

/// A change of the names of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameChange {
    /// A file or a directory is made.
    Create,
    /// A file gets another name, or a second one.
    Rename {
        /// True if that was another file's.
        replaces: bool,
    },
    /// A name is removed.
    Unlink,
}

impl Call {
    /// The file whose bytes or size it changes, if it does.
    #[must_use]
    pub fn changes(&self) -> Option<FileId> {
        match self {
            Self::Write { file, .. }
            | Self::WriteSync { file, .. }
            | Self::WriteDirect { file, .. }
            | Self::Mapped { file, writes: true, .. }
            | Self::Truncate { file, .. } => Some(file.id),
            _ => None,
        }
    }
}

/// The outcome of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The parts of its time; they sum to its duration.
    pub parts: Parts,
    /// Bytes from the cache.
    pub from_cache: Bytes,
    /// Bytes from a device, or to it, before the operation ended.
    pub from_device: Bytes,
}

/// An event of a policy for the record.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Event {
    /// Its name.
    pub name: &'static str,
    /// Its time, if not now but earlier.
    pub time: Option<Nanos>,
    /// The operation concerned.
    pub operation: Option<OperationId>,
    /// The device concerned.
    pub device: Option<DeviceId>,
    /// The file concerned.
    pub file: Option<FileId>,
    /// The number of bytes.
    pub bytes: Bytes,
}

/// The estimates of a device at this instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BdiSample {
    /// The device.
    pub device: DeviceId,
    /// The memory cgroup of the host, if that is kept apart.
    pub cgroup: Option<usize>,
    /// The estimates.
    pub levels: BdiLevels,
}

/// A time that an operation has waited behind somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The operation of a process that wrote the bytes last, or asked for them; nothing if nobody is known.
    pub process: Option<OperationId>,
    /// Their file; nothing for a journal.
    pub file: Option<FileId>,
    /// How long.
    pub time: Nanos,
}

/// Requests that a disk has moved since the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovedRequests {
    /// How many.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The requests that a policy has on a disk beside its transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskLoad {
    /// Requests that wait for the disk.
    pub waiting: u64,
    /// Requests that it serves one by one, and not as a transfer.
    pub served: u64,
    /// Those that it has served so: reads, then writes.
    pub moved: [MovedRequests; 2],
    /// Flushes that have begun.
    pub flushes: u64,
}

/// The reason for which a policy refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The part that it does not know, as the end of "model `NAME` ...".
    pub what: &'static str,
    /// The remedy.
    pub remedy: &'static str,
}

/// A command of a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// A transfer.
    Start(FlowId, FlowSpec),
    /// A new cap of a transfer (0: blocked).
    SetCap(FlowId, Option<(f64, Part)>),
    /// A transfer ends after so many of its bytes.
    Shorten(FlowId, u64),
    /// Cancel this transfer.
    Cancel(FlowId),
    /// Report that an operation has ended.
    Done(OperationId, Outcome),
    /// Refuse an operation of a process: the run ends here.
    Refuse(OperationId, Refusal),
    /// Call the policy again at this instant, when everything else that is due has been done.
    GiveWay(u64),
    /// Send a call to the server of a mount; [`Policy::replied`] follows.
    Send(Rpc),
    /// A part of the time of an operation under way was spent behind somebody.
    Waited(OperationId, Part, Behind),
    /// Record an event.
    Tell(Event),
    /// Record a sample.
    Sample(BdiSample),
}

/// Collects the commands of a policy; the engine carries them out when the policy has returned.
#[derive(Debug, Default)]
pub struct Actions {
    commands: Vec<Command>,
    free_slots: Vec<u32>,
    slots: u32,
    flows: u64,
}

impl Actions {
    /// Starts a transfer of at least one byte.
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

    /// Says whom an operation under way has waited behind.
    pub fn waited(&mut self, operation: OperationId, part: Part, behind: Behind) {
        self.commands.push(Command::Waited(operation, part, behind));
    }

    /// Ends the run: the policy has no answer for a process.
    pub fn refuse(&mut self, operation: OperationId, refusal: Refusal) {
        self.commands.push(Command::Refuse(operation, refusal));
    }

    /// Asks for [`Policy::resumed`] at this instant, after all else that is due now.
    pub fn give_way(&mut self, tag: u64) {
        self.commands.push(Command::GiveWay(tag));
    }

    /// Sends a call to the server of a mount.
    pub fn send(&mut self, rpc: Rpc) {
        self.commands.push(Command::Send(rpc));
    }

    /// Records an event.
    pub fn tell(&mut self, name: &'static str, file: Option<FileId>, bytes: Bytes) {
        self.tell_all(Event { name, file, bytes, ..Event::default() });
    }

    /// Records an event with all its fields.
    pub fn tell_all(&mut self, event: Event) {
        self.commands.push(Command::Tell(event));
    }

    /// Records the estimates of a device.
    pub fn sample(&mut self, sample: BdiSample) {
        self.commands.push(Command::Sample(sample));
    }

    /// The transfer that has been started, if nothing else has been asked for.
    pub(crate) fn only_start(&self) -> Option<(FlowId, FlowSpec)> {
        match self.commands[..] {
            [Command::Start(flow, spec)] => Some((flow, spec)),
            _ => None,
        }
    }

    /// Takes back the transfer that has been started: its end is known already.
    pub(crate) fn take_start_back(&mut self, flow: FlowId) {
        debug_assert!(self.only_start().is_some_and(|(started, _)| started == flow), "it is the only one");
        self.commands.clear();
        self.release(flow);
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

    /// Releases the slot of a flow that has ended or been cancelled.
    pub fn release(&mut self, flow: FlowId) {
        self.free_slots.push(flow.slot);
    }
}

/// The ways in which a policy treats files of another host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    /// Like a device whose path crosses the link: one transfer over everything.
    OneFlow,
    /// The server has a page cache of its own; chunks of this size go through both.
    Chunks(Bytes),
    /// The policy of the client sends calls to the server ([`Command::Send`]), whose policy does them.
    Calls,
}

/// A transfer that shares nothing with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone {
    /// Its rate in bytes per second, from its start to its end.
    pub rate: f64,
    /// Its end.
    pub end: Nanos,
    /// The part that binds it.
    pub part: Part,
}

/// An operation that was served up to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Served {
    /// Its end.
    pub end: Nanos,
    /// Its outcome if that is all that follows; otherwise it is among the commands.
    pub outcome: Option<Outcome>,
}

/// Somebody who calls a policy at an instant after which nothing happens for a while, unless that policy wants it.
pub trait Undisturbed {
    /// Returns the course of a transfer that would begin now, if it shares nothing with others and ends before anything else happens.
    fn alone(&self, spec: &FlowSpec) -> Option<Alone>;

    /// Records the levels of memory at an instant.
    fn record(&mut self, time: Nanos, levels: MemoryLevels);

    /// Records levels of memory that are the same at two instants, and do not change between them.
    fn record_held(&mut self, span: (Nanos, Nanos), levels: MemoryLevels);

    /// Records the requests that a disk has at an instant.
    fn record_load(&mut self, time: Nanos, disk: usize, load: DiskLoad);
}

/// The page cache of one host.
///
/// The caller reports times that never run back, and every completed flow once. It calls [`Policy::advance`] at [`Policy::next_call`] and
/// after every change of a watched flow's rate.
///
/// The implementer answers every request with one `Done`, at once or later, or refuses it. The parts of the outcome sum to the time
/// between. A published model changes page state as published, another only by bytes reported. It decides by nothing but the calls of its
/// caller.
pub trait Policy: Send {
    /// Begins an operation.
    fn begin(&mut self, now: Nanos, request: &Request, out: &mut Actions);

    /// Begins an operation when nothing else happens for a while. If it is one transfer that shares nothing, the policy may serve it up to
    /// its end, and returns that: it does what it would have done had it been called then, and records its levels between.
    fn serve(
        &mut self,
        now: Nanos,
        request: &Request,
        _by: &mut dyn Undisturbed,
        out: &mut Actions,
    ) -> Option<Served> {
        self.begin(now, request, out);
        None
    }

    /// Gives the requests of a process to disks a priority.
    fn set_ioprio(&mut self, _process: OperationId, _priority: IoPriority) {}

    /// Charges the memory of an operation from now on to this memory cgroup of the host, or to none.
    fn charge_to(&mut self, _operation: OperationId, _cgroup: Option<usize>) {}

    /// Lets the operations of a number use the open files of a process: it does them asynchronously.
    fn share_files(&mut self, _operation: OperationId, _process: OperationId) {}

    /// Returns how long it takes a process to submit an asynchronous operation.
    fn submission(&self) -> Nanos {
        Nanos::ZERO
    }

    /// True if all these bytes of a file are known to be in the page cache.
    fn is_cached(&self, _file: FileId, _offset: u64, _bytes: Bytes) -> bool {
        false
    }

    /// Ends a flow that has moved all its bytes.
    fn completed(&mut self, now: Nanos, done: &Completion, out: &mut Actions);

    /// Takes the reply to a call that the policy has sent.
    fn replied(&mut self, _now: Nanos, _reply: &Reply, _out: &mut Actions) {}

    /// Takes a delegation of a file back that a reply has given.
    fn recall(&mut self, _file: FileId) {}

    /// Gives the policy its turn again after it has given way.
    fn resumed(&mut self, _now: Nanos, _tag: u64, _out: &mut Actions) {}

    /// Makes the call that is due, or reports new rates of watched flows.
    fn advance(&mut self, _now: Nanos, _progress: &[Progress], _out: &mut Actions) {}

    /// Returns the next instant at which the policy wants to be called if nothing else happens. Asked once after all calls of an
    /// instant.
    fn next_call(&self) -> Option<Nanos> {
        None
    }

    /// Returns the most memory that programs can hold, without room for one page of a file. `None`: all memory, and files are still
    /// read and written.
    fn most_anonymous(&self) -> Option<Bytes> {
        None
    }

    /// True if changes of names take time, or are written down in a journal.
    fn minds_names(&self) -> bool {
        false
    }

    /// True if opening files takes time.
    fn minds_opens(&self) -> bool {
        false
    }

    /// Returns how files of other hosts are reached.
    fn remote(&self) -> Remote {
        Remote::OneFlow
    }

    /// Returns how many bytes of a file, from one up to another, a copy reads before it writes any. A simulation need not alternate as
    /// often as a program does.
    fn copied_at_once(&self, _file: &FileView, _at: u64, _end: u64) -> Bytes {
        Bytes(16 << 20)
    }

    /// Brings the levels up to an instant, if they change between calls.
    fn bring_up_to(&mut self, _now: Nanos) {}

    /// Forgets what only requests need, as no more will come, and the blocks unless they will be asked for. Levels and counts stay.
    fn retire(&mut self, _keeps_blocks: bool) {}

    /// Reports the rest at the end of the run.
    fn tell_rest(&mut self, _now: Nanos, _out: &mut Actions) {}

    /// True if levels change evenly between calls, and not at calls alone.
    fn is_even(&self) -> bool {
        false
    }

    /// The levels of memory.
    fn levels(&self) -> MemoryLevels;

    /// The cached bytes of a file.
    fn residency(&self, file: FileId) -> FileLevels;

    /// The requests of a disk of the host beside transfers, if the policy keeps a queue for it.
    fn disk_load(&self, _disk: usize) -> DiskLoad {
        DiskLoad::default()
    }

    /// Keeps what a power cut would lose, from the start on.
    fn watch_risk(&mut self) {}

    /// The bytes of a disk of the host that a power cut at this instant would lose; nothing if the policy does not know it, or was not asked to.
    fn at_risk(&mut self, _now: Nanos, _disk: usize) -> Option<AtRisk> {
        None
    }

    /// The charges of each memory cgroup of the host, if the policy knows them.
    fn cgroups(&self) -> Vec<CgroupLevels> {
        Vec::new()
    }

    /// The number of blocks in memory, if the policy keeps lists of blocks.
    fn block_count(&self) -> usize {
        0
    }

    /// The blocks, list by list and in the order of each.
    fn blocks(&self) -> Vec<ListedBlock> {
        Vec::new()
    }
}

/// A run of a file's bytes in memory, as a policy that keeps lists of such blocks has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedBlock {
    /// The list: "inactive" or "active".
    pub list: &'static str,
    /// The file.
    pub file: FileId,
    /// The number of bytes.
    pub bytes: Bytes,
    /// True if the device does not have them yet.
    pub dirty: bool,
    /// The time at which they were last read or written.
    pub accessed: Nanos,
    /// The time at which they were made dirty, or the start if never.
    pub dirtied: Nanos,
}

/// The input of a policy's constructor.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// Memory size and kernel settings.
    pub host: &'a Host,
    /// The path of a copy out of the page cache.
    pub memory_read: Path,
    /// The path of a copy into the page cache.
    pub memory_write: Path,
    /// The path of a write to the journal of each mount that has it on a disk of its own.
    pub journals: Vec<Option<Path>>,
    /// Equal seeds draw equal times of requests.
    pub seed: u64,
}

#[cfg(test)]
mod tests;
