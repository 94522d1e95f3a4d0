//! One process of the scenario, as a thread: its operations one by one, with the time before and after each.
//!
//! Everything that can be known is known before (see [`super::plan`]): between the two looks at the clock nothing is allocated but
//! what the program itself takes, and no path is put together. What is not the program's own doing (looking at files for the table
//! of residency) happens between operations.

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pagecast_core::error::SimulationError;
use pagecast_core::result::{Part, Parts};
use pagecast_core::stdio::LibraryCall;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, Buffer, MappedCall, OpenFlag, OpenFlags};
use rustc_hash::{FxHashMap, FxHashSet};

use super::break_off::{InUse, Which};
use super::calls::{CallRow, Calls};
use super::error::{RunError, blame};
use super::files::Files;
use super::gate::{Gate, Stopped};
use super::mapped::{self, Staying};
use super::plan::{Plan, PlannedProcess, Step};
use super::streams::ProcessStreams;
use crate::io::{
    Cause, Direction, Failure, Io, Memory, Offsets, Open, Streams, Sync, Transfer, transfer_beyond,
};

/// How long a process sleeps, and how many pages it touches, between two looks at whether to stop.
const NAP: Nanos = Nanos(50_000_000);
const TOUCHES: usize = 1024;
/// How often a busy loop goes round between two looks at the clock: a few microseconds.
const SPINS: u32 = 1000;
/// What most disks read or write at least (`queue/logical_block_size`), for the message.
const LOGICAL_BLOCK: Bytes = Bytes(512);

/// One operation that has ended. Small, as there may be millions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub offset: u64,
    pub bytes: u64,
    /// How the file was open.
    pub flags: OpenFlags,
    pub start: Nanos,
    pub end: Nanos,
    pub used: Used,
}

/// What all processes share.
pub(super) struct Shared<'a, I: Streams> {
    pub io: &'a I,
    pub plan: &'a Plan,
    pub files: &'a Files<I::File>,
    pub gate: &'a Gate<'a>,
    pub in_use: &'a InUse,
    /// Is called after each operation on a file, with the process and the number of its operation.
    pub looks: &'a (dyn Fn(u32, u32, Nanos) + std::marker::Sync),
}

/// What a thread has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used {
    /// Time on a processor.
    pub processor: Nanos,
    /// Time in the run queue: it was ready, and others had the processors.
    pub run_queue: Nanos,
    /// What was read from devices for it.
    pub device_read: Bytes,
}

impl Used {
    fn now<I: Io>(io: &I) -> Self {
        Self { processor: io.processor_time(), run_queue: io.processor_wait(), device_read: io.device_read() }
    }

    fn since(self, before: Self) -> Self {
        Self {
            processor: self.processor.saturating_sub(before.processor),
            run_queue: self.run_queue.saturating_sub(before.run_queue),
            device_read: self.device_read.saturating_sub(before.device_read),
        }
    }
}

/// Why a process did not come to its end.
#[derive(Debug)]
pub(super) enum Halt {
    Stopped,
    Failed(Box<RunError>),
}

impl From<Stopped> for Halt {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

/// A file that the process has open.
pub(super) struct Handle<F> {
    pub file: F,
    flags: OpenFlags,
}

/// What an operation did.
#[derive(Clone, Copy, Default)]
pub(super) struct Done {
    pub offset: u64,
    pub bytes: u64,
    pub flags: OpenFlags,
}

/// See the module.
pub(super) struct Runner<'a, I: Streams> {
    pub(super) shared: &'a Shared<'a, I>,
    at: usize,
    process: &'a PlannedProcess,
    zero: Nanos,
    pub(super) buffer: Memory,
    pub(super) handles: FxHashMap<u32, Handle<I::File>>,
    /// Anonymous memory, and how much of each piece is still held.
    held: Vec<(Memory, usize)>,
    calls: Calls,
    pub(super) streams: ProcessStreams<I>,
    /// The files that stay mapped, and what bytes of mappings are copied from and to.
    pub(super) mappings: FxHashMap<u32, Staying<I>>,
    pub(super) mapping_memory: Option<Memory>,
    pub rows: Vec<Row>,
}

impl<'a, I: Streams> Runner<'a, I> {
    /// Takes all that the process needs besides its own memory.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn new(shared: &'a Shared<'a, I>, at: usize) -> io::Result<Self> {
        let process = &shared.plan.processes[at];
        let files: FxHashSet<u32> = process.steps.iter().map(|step| step.file).collect();
        let takes_memory = |step: &&Step| match step.operation.action {
            Action::Read { buffer, .. } => buffer == Buffer::Fresh,
            Action::Allocate { .. } => true,
            _ => false,
        };
        let pieces = process.steps.iter().filter(takes_memory).count();
        let mut buffer = Memory::new(process.buffer())?;
        buffer.fill_with_noise();
        shared.in_use.note(at, Which::Reused, &buffer);
        Ok(Self {
            shared,
            at,
            process,
            zero: Nanos::ZERO,
            buffer,
            handles: FxHashMap::with_capacity_and_hasher(files.len(), rustc_hash::FxBuildHasher),
            held: Vec::with_capacity(pieces),
            calls: Calls::new(shared.plan, at),
            streams: ProcessStreams::new(process)?,
            mappings: FxHashMap::with_capacity_and_hasher(files.len(), rustc_hash::FxBuildHasher),
            mapping_memory: mapped::memory(process)?,
            rows: Vec::with_capacity(process.steps.len()),
        })
    }

    /// Waits for its turn, and does all operations.
    ///
    /// # Errors
    /// [`Halt`] if it did not come to its end.
    pub fn run(&mut self) -> Result<(), Halt> {
        self.zero = self.shared.gate.pass(self.at)?;
        self.sleep_until(self.zero + self.process.start)?;
        for (index, step) in self.process.steps.iter().enumerate() {
            if self.shared.gate.is_stopped() {
                return Err(Halt::Stopped);
            }
            self.step(step)?;
            self.calls.keep(index);
            if step.file != u32::MAX {
                (self.shared.looks)(self.at as u32, index as u32, self.now());
            }
        }
        // As at the end of a process: files are closed, memory is given back.
        self.mappings.clear();
        self.handles.clear();
        self.held.clear();
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.shared.io.now().saturating_sub(self.zero)
    }

    /// Does one operation and writes down how long it took.
    fn step(&mut self, step: &Step) -> Result<(), Halt> {
        let io = self.shared.io;
        // Whoever looks at a file from outside must let go of it before it is removed, and that is not the program's time.
        let removed = matches!(step.operation.action, Action::Unlink { .. }).then_some(step.file);
        let _nobody_looks = removed.map(|file| self.shared.files.keep_closed(file as usize));
        let before = Used::now(io);
        let start = self.now();
        let done = self.act(step)?;
        let end = self.now();
        let used = Used::now(io).since(before);
        let Done { offset, bytes, flags } = done;
        self.rows.push(Row { offset, bytes, flags, start, end, used });
        Ok(())
    }

    fn act(&mut self, step: &Step) -> Result<Done, Halt> {
        let io = self.shared.io;
        let nothing = Done::default();
        match &step.operation.action {
            &Action::Open { create, truncate, flags, .. } => {
                // One that is open already is closed after it: no moment without, in which its pages could go.
                let file = self.open(step, step.file, Open { create, truncate, flags })?;
                self.handles.insert(step.file, Handle { file, flags });
                Ok(nothing)
            }
            &Action::Read { offset, bytes, call, vector, buffer, .. } => {
                self.read(step, offset, bytes, (call, vector), buffer == Buffer::Fresh)
            }
            &Action::Write { offset, bytes, call, vector, .. } => {
                self.write(step, offset, bytes, (call, vector))
            }
            &Action::Copy { by, offset, bytes, call, .. } => self.copy(step, by, offset, bytes, call),
            Action::Fsync { .. } => self.on_file(step, |io, file| io.sync(file, Sync::File)),
            Action::Fdatasync { .. } => self.on_file(step, |io, file| io.sync(file, Sync::Data)),
            Action::Sync => {
                io.sync_all();
                Ok(nothing)
            }
            Action::SyncFs { .. } => {
                io.sync_file_system().map_err(|error| self.failed(step, error))?;
                Ok(nothing)
            }
            &Action::SyncFileRange { offset, bytes, flags, .. } => {
                let length = bytes.map_or(0, |bytes| bytes.0);
                self.on_file(step, |io, file| io.sync_range(file, offset, length, flags))
            }
            &Action::Readahead { offset, bytes, .. } => {
                self.handle(step, step.file, false)?;
                let up_to_end = |length: u64| length.saturating_sub(offset);
                let length = bytes.map_or_else(|| self.length(step).map(up_to_end), |bytes| Ok(bytes.0))?;
                self.on_file(step, |io, file| io.readahead(file, offset, length))
            }
            Action::Close { .. } => {
                self.handles.remove(&step.file);
                Ok(nothing)
            }
            &Action::Truncate { size, .. } => self.on_file(step, |io, file| io.set_length(file, size.0)),
            &Action::Stream { call, .. } => self.on_stream(step, call),
            &Action::Mapped { call, .. } => self.on_mapping(step, call),
            Action::Unlink { .. } => {
                self.handles.remove(&step.file);
                self.mappings.remove(&step.file);
                self.streams.forget(step.file);
                let within = &self.shared.plan.files[step.file as usize].within;
                io.remove(within).map_err(|error| self.failed(step, error))?;
                Ok(nothing)
            }
            Action::DropCaches => {
                io.drop_caches().map_err(|error| self.failed(step, error))?;
                Ok(nothing)
            }
            &Action::Fadvise { advice, offset, bytes, .. } => {
                let length = bytes.map_or(0, |bytes| bytes.0);
                self.on_file(step, |io, file| io.advise(file, advice, offset, length))
            }
            &Action::Compute { time } => self.compute(time).map(|()| nothing),
            &Action::Sleep { time } => self.sleep_until(io.now() + time).map(|()| nothing),
            &Action::Allocate { bytes } => self.allocate(step, bytes),
            &Action::Free { bytes } => self.free(step, bytes),
            Action::Wait { .. } => {
                self.shared.gate.wait_for(self.at, step.event)?;
                Ok(nothing)
            }
            Action::Signal { .. } => {
                self.shared.gate.signal(step.event);
                Ok(nothing)
            }
            Action::Exit => unreachable!("a program ends before it"),
        }
    }

    fn open(&self, step: &Step, file: u32, how: Open) -> Result<I::File, Halt> {
        let within = &self.shared.plan.files[file as usize].within;
        self.shared.io.open(within, how).map_err(|error| self.failed(step, error))
    }

    /// A file that is open, or is opened now: no scenario has to say that.
    pub(super) fn handle(&mut self, step: &Step, number: u32, create: bool) -> Result<OpenFlags, Halt> {
        if let Some(handle) = self.handles.get(&number) {
            return Ok(handle.flags);
        }
        let file = self.open(step, number, Open { create, ..Open::default() })?;
        let flags = OpenFlags::default();
        self.handles.insert(number, Handle { file, flags });
        Ok(flags)
    }

    fn on_file(&mut self, step: &Step, call: impl Fn(&I, &I::File) -> io::Result<()>) -> Result<Done, Halt> {
        let flags = self.handle(step, step.file, false)?;
        call(self.shared.io, &self.handles[&step.file].file).map_err(|error| self.failed(step, error))?;
        Ok(Done { flags, ..Done::default() })
    }

    fn read(
        &mut self,
        step: &Step,
        offset: u64,
        bytes: Option<Bytes>,
        (call, vector): (Option<Bytes>, u32),
        fresh: bool,
    ) -> Result<Done, Halt> {
        let flags = self.handle(step, step.file, false)?;
        let length = self.length(step)?;
        let asked = bytes.map_or(length.saturating_sub(offset), |bytes| bytes.0);
        let bytes = if flags.is_direct() { there(offset, asked, call, length) } else { asked };
        let done = Done { offset, bytes, flags };
        if offset.saturating_add(bytes) > length {
            return Err(self.beyond_end(step, &done, length));
        }
        let (Some(whole), direction) = (NonZero::new(bytes as usize), Direction::Read) else {
            return Ok(done);
        };
        let own = if fresh { Some(self.take(step, whole)?) } else { None };
        let call = NonZero::new(call.map_or(u64::MAX, |call| call.0)).unwrap_or(NonZero::<u64>::MAX);
        let offsets = Offsets::From(offset);
        self.transfer(step, &Transfer { direction, offsets, bytes, call, spreads: fresh }, vector, own)?;
        Ok(done)
    }

    fn write(
        &mut self,
        step: &Step,
        offset: Option<u64>,
        bytes: Bytes,
        (call, vector): (Option<Bytes>, u32),
    ) -> Result<Done, Halt> {
        let flags = self.handle(step, step.file, true)?;
        // Wherever it was to begin, the kernel appends.
        let offset = offset.filter(|_| !flags.has(OpenFlag::Append));
        let offset = offset.map_or_else(|| self.length(step), Ok)?;
        let direction = Direction::Write;
        let call = NonZero::new(call.unwrap_or(bytes).0).unwrap_or(NonZero::<u64>::MAX);
        let offsets = Offsets::From(offset);
        let what = Transfer { direction, offsets, bytes: bytes.0, call, spreads: false };
        self.transfer(step, &what, vector, None)?;
        Ok(Done { offset, bytes: bytes.0, flags })
    }

    fn transfer(
        &mut self,
        step: &Step,
        what: &Transfer<'_>,
        vector: u32,
        own: Option<Memory>,
    ) -> Result<(), Halt> {
        let place = what.call.get().min(what.bytes).div_ceil(vector.into());
        let longest = if vector > 1 { place as usize } else { usize::MAX };
        let (io, stop) = (self.shared.io, &self.shared.gate.stop);
        let file = &self.handles[&step.file].file;
        let handle = &self.handles[&step.file];
        let beyond = if handle.flags.is_direct() { beyond_end(&step.operation.action, what) } else { 0 };
        let dontcache = handle.flags.has(OpenFlag::DontCache);
        let moved = match own {
            None => {
                self.buffer.set_dontcache(dontcache);
                self.buffer.set_longest(longest);
                transfer_beyond(io, file, what, &mut self.buffer, &mut self.calls.times, stop, beyond)
            }
            Some(mut memory) => {
                memory.set_dontcache(dontcache);
                memory.set_longest(longest);
                self.shared.in_use.note(self.at, Which::Fresh, &memory);
                let moved = transfer_beyond(io, file, what, &mut memory, &mut self.calls.times, stop, beyond);
                let length = memory.length();
                self.held.push((memory, length));
                moved
            }
        };
        moved.map_err(|failure| self.not_moved(step, what, failure))
    }

    /// What the process has done, and the times of its calls.
    pub fn into_done(self) -> (Vec<Row>, Vec<CallRow>) {
        let calls = self.calls.rows(self.at as u32, &self.process.steps, &self.rows, self.zero);
        (self.rows, calls)
    }

    /// The file of a step, which is open.
    pub(super) fn file(&self, step: &Step) -> &I::File {
        &self.handles[&step.file].file
    }

    pub(super) fn length(&self, step: &Step) -> Result<u64, Halt> {
        let length = self.shared.io.length(&self.handles[&step.file].file);
        length.map_err(|error| self.failed(step, error))
    }

    /// Works until this thread has had so much of a processor.
    fn compute(&self, time: Nanos) -> Result<(), Halt> {
        let end = self.shared.io.processor_time() + time;
        while self.shared.io.processor_time() < end {
            if self.shared.gate.is_stopped() {
                return Err(Halt::Stopped);
            }
            (0..SPINS).for_each(|_| std::hint::spin_loop());
        }
        Ok(())
    }

    fn sleep_until(&self, end: Nanos) -> Result<(), Halt> {
        loop {
            let now = self.shared.io.now();
            if self.shared.gate.is_stopped() {
                return Err(Halt::Stopped);
            }
            if now >= end {
                return Ok(());
            }
            self.shared.io.sleep_until(end.min(now + NAP));
        }
    }

    /// Address space; its pages come when they are touched.
    fn take(&self, step: &Step, length: NonZero<usize>) -> Result<Memory, Halt> {
        Memory::new(length).map_err(|error| self.failed(step, error))
    }

    fn allocate(&mut self, step: &Step, bytes: Bytes) -> Result<Done, Halt> {
        let done = Done { bytes: bytes.0, ..Done::default() };
        let Some(length) = NonZero::new(bytes.0 as usize) else { return Ok(done) };
        let mut memory = self.take(step, length)?;
        for (count, place) in (0..length.get()).step_by(rustix::param::page_size()).enumerate() {
            if count.is_multiple_of(TOUCHES) && self.shared.gate.is_stopped() {
                return Err(Halt::Stopped);
            }
            memory.touch(place);
        }
        self.held.push((memory, length.get()));
        Ok(done)
    }

    /// Gives memory back, what was taken last first.
    fn free(&mut self, step: &Step, bytes: Option<Bytes>) -> Result<Done, Halt> {
        let mut left = bytes.map_or(usize::MAX, |bytes| bytes.0 as usize);
        let mut freed = 0;
        while let Some((memory, held)) = self.held.last_mut().filter(|_| left > 0) {
            let now = left.min(*held);
            (left, freed) = (left - now, freed + now as u64);
            *held -= now;
            if *held == 0 {
                self.held.pop();
                continue;
            }
            let given = memory.give_back(*held, *held + now);
            given.map_err(|error| self.failed(step, error))?;
        }
        Ok(Done { bytes: freed, ..Done::default() })
    }

    pub(super) fn not_moved(&self, step: &Step, what: &Transfer<'_>, failure: Failure) -> Halt {
        match failure.cause {
            Cause::Stopped => Halt::Stopped,
            // It became shorter meanwhile.
            Cause::EndOfFile => match self.length(step) {
                Ok(length) => {
                    let Offsets::From(offset) = what.offsets else { unreachable!("a run gives no list") };
                    self.beyond_end(step, &Done { offset, bytes: what.bytes, ..Done::default() }, length)
                }
                Err(halt) => halt,
            },
            Cause::Failed(error) => {
                let flags = self.handles[&step.file].flags;
                match error.raw_os_error() {
                    Some(libc::EINVAL) if flags.is_direct() => self.unaligned(step, what),
                    Some(libc::EOPNOTSUPP) if flags.has(OpenFlag::DontCache) => self.not_supported(step),
                    _ => self.failed(step, error),
                }
            }
        }
    }

    pub(super) fn path(&self, step: &Step) -> Option<Arc<str>> {
        self.shared.plan.files.get(step.file as usize).map(|file| file.path.clone())
    }

    pub(super) fn blame(&self, step: &Step) -> pagecast_core::error::Blame {
        blame(&self.shared.plan.origin, &self.process.name, step.operation.line, self.now())
    }

    pub(super) fn beyond_end(&self, step: &Step, wanted: &Done, size: u64) -> Halt {
        self.workload(SimulationError::BeyondEnd {
            at: self.blame(step),
            path: self.path(step).expect("a read has a file"),
            offset: wanted.offset,
            bytes: Bytes(wanted.bytes),
            size: Bytes(size),
        })
    }

    fn unaligned(&self, step: &Step, what: &Transfer<'_>) -> Halt {
        let Offsets::From(offset) = what.offsets else { unreachable!("a run gives no list") };
        self.workload(SimulationError::Unaligned {
            at: self.blame(step),
            operation: step.operation.action.name(),
            path: self.path(step).expect("a transfer has a file"),
            offset,
            bytes: Bytes(what.bytes),
            call: Bytes(what.call.get().min(what.bytes)),
            vector: match step.operation.action {
                Action::Read { vector, .. } | Action::Write { vector, .. } => vector,
                _ => 1,
            },
            block: LOGICAL_BLOCK,
        })
    }

    fn not_supported(&self, step: &Step) -> Halt {
        self.workload(SimulationError::NotSupported {
            at: self.blame(step),
            operation: step.operation.action.name(),
            path: self.path(step).expect("a transfer has a file"),
            kernel: release(),
        })
    }

    pub(super) fn failed(&self, step: &Step, source: io::Error) -> Halt {
        let (operation, at, path) = (step.operation.action.name(), self.blame(step), self.path(step));
        match (source.kind(), path) {
            (io::ErrorKind::NotFound, Some(path)) => {
                self.workload(SimulationError::NoSuchFile { at, operation, path })
            }
            (_, path) => self.halt(RunError::Call { at, operation, path, source }),
        }
    }

    pub(super) fn workload(&self, error: SimulationError) -> Halt {
        self.halt(error.into())
    }

    fn halt(&self, error: RunError) -> Halt {
        // The others need not wait until this one is gone. What fails after a stop fails because of it.
        match self.shared.gate.stop.swap(true, Ordering::Relaxed) {
            true => Halt::Stopped,
            false => Halt::Failed(Box::new(error)),
        }
    }
}

/// What the kernel calls itself.
fn release() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}

/// How many of the bytes that a direct read asks for are there, if the file ends within the last call.
fn there(offset: u64, asked: u64, call: Option<Bytes>, length: u64) -> u64 {
    let call = call.map_or(asked, |call| call.0).max(1);
    let before_last = asked.saturating_sub(1) / call * call;
    match offset.saturating_add(before_last) < length {
        true => asked.min(length - offset),
        false => asked,
    }
}

/// How many bytes beyond the end of its file a direct read asks for: it has whole blocks, unless it was told how many.
fn beyond_end(action: &Action, what: &Transfer<'_>) -> u64 {
    match action {
        Action::Read { bytes: None, .. } => {
            what.bytes.next_multiple_of(rustix::param::page_size() as u64) - what.bytes
        }
        Action::Read { bytes: Some(bytes), .. } => bytes.0 - what.bytes,
        _ => 0,
    }
}

impl Row {
    /// Bytes that the page cache served or took, and bytes that a device did before the operation ended.
    pub fn served(&self, action: &Action) -> (u64, u64) {
        let from_device = match action {
            Action::Read { .. } if self.flags.is_direct() => self.bytes,
            // Read-ahead fetches more than was asked for; what it fetched for later reads then comes from the cache.
            Action::Read { .. } | Action::Stream { call: LibraryCall::Read { .. }, .. } => {
                self.used.device_read.0.min(self.bytes)
            }
            // Of what is copied, those bytes that were read.
            Action::Copy { .. } => self.used.device_read.0.min(self.bytes),
            // What of it the library has kept is not known.
            Action::Stream { call: LibraryCall::Write { .. }, .. } => 0,
            Action::Mapped { call: MappedCall::Read { .. }, .. } => self.used.device_read.0.min(self.bytes),
            Action::Mapped { call: MappedCall::Write { .. }, .. } => 0,
            Action::Write { .. } if self.goes_past_cache() => self.bytes,
            Action::Write { .. } => 0,
            _ => return (0, 0),
        };
        (self.bytes - from_device, from_device)
    }

    /// The duration in two: the time on a processor or in the queue for one, and the time asleep. The second is called what this
    /// operation sleeps for in the kernel.
    pub fn parts(&self, action: &Action) -> Parts {
        let (on, off) = match action {
            Action::Read { .. } => (Part::CpuCopy, Part::DeviceRead),
            Action::Write { .. } if self.goes_past_cache() => (Part::CpuCopy, Part::DeviceWrite),
            Action::Write { .. } => (Part::CpuCopy, Part::Throttled),
            // It sleeps for its source, or for leave to write.
            Action::Copy { .. } if self.used.device_read > Bytes::ZERO => (Part::CpuCopy, Part::DeviceRead),
            Action::Copy { .. } => (Part::CpuCopy, Part::Throttled),
            Action::Fsync { .. }
            | Action::Fdatasync { .. }
            | Action::Sync
            | Action::SyncFs { .. }
            | Action::SyncFileRange { .. } => (Part::DeviceWrite, Part::DeviceWrite),
            Action::Fadvise { .. } | Action::Readahead { .. } => (Part::CpuCopy, Part::DeviceRead),
            Action::Stream { call: LibraryCall::Read { .. } | LibraryCall::Seek { .. }, .. } => {
                (Part::CpuCopy, Part::DeviceRead)
            }
            Action::Stream { .. } => (Part::CpuCopy, Part::Throttled),
            // A page is read before it is written to.
            Action::Mapped { call: MappedCall::Write { .. }, .. } if self.used.device_read == Bytes::ZERO => {
                (Part::CpuCopy, Part::Throttled)
            }
            Action::Mapped { call: MappedCall::Sync { .. }, .. } => (Part::DeviceWrite, Part::DeviceWrite),
            Action::Mapped { call: MappedCall::Read { .. }, .. } => (Part::CpuCopy, Part::DeviceRead),
            Action::Allocate { .. } => (Part::PageAllocation, Part::Reclaim),
            Action::Compute { .. } => (Part::Compute, Part::Compute),
            Action::Sleep { .. } => (Part::Sleep, Part::Sleep),
            Action::Wait { .. } | Action::Signal { .. } => (Part::Wait, Part::Wait),
            _ => (Part::CpuCopy, Part::DeviceWrite),
        };
        let duration = self.end - self.start;
        let used = (self.used.processor + self.used.run_queue).min(duration);
        let mut parts = Parts::of(on, used);
        parts.add(off, duration - used);
        parts
    }

    fn goes_past_cache(&self) -> bool {
        self.flags.is_direct() || self.flags.is_synchronous()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::plan::Job;
    use super::super::testing::{file, job, process, read, write};
    use super::*;
    use crate::io::mock::{Costs, Mock};
    use pagecast_core::workload::{CopyBy, InitialFile};
    use std::path::Path;

    /// The rows of a single process on a mock whose files are as they should be before.
    pub fn run(costs: Costs, files: &[InitialFile], actions: &[Action]) -> Result<Vec<Row>, Box<RunError>> {
        run_timed(costs, files, actions, None).map(|(rows, _)| rows)
    }

    fn run_timed(
        costs: Costs,
        files: &[InitialFile],
        actions: &[Action],
        per_call: Option<NonZero<u64>>,
    ) -> Result<(Vec<Row>, Vec<CallRow>), Box<RunError>> {
        let processes = [process("p", &[], actions)];
        let plan = Plan::of(&Job { per_call, ..job(files, &processes) }).unwrap();
        let mock = Mock::new(costs);
        for file in files {
            let path = file.path.trim_start_matches('/');
            let made = mock.open(Path::new(path), Open { create: true, ..Open::default() }).unwrap();
            mock.set_length(&made, file.size.0).unwrap();
        }
        let (slots, gate, in_use) = (Files::new(plan.files.len()), Gate::new(&plan), InUse::new(&plan));
        let (io, looks) = (&mock, &|_, _, _| {});
        let shared = Shared { io, plan: &plan, files: &slots, gate: &gate, in_use: &in_use, looks };
        let mut runner = Runner::new(&shared, 0).unwrap();
        gate.open(mock.now());
        match runner.run() {
            Ok(()) => Ok(runner.into_done()),
            Err(Halt::Failed(error)) => Err(error),
            Err(Halt::Stopped) => panic!("nobody stops it"),
        }
    }

    pub fn error(files: &[InitialFile], actions: &[Action]) -> String {
        run(Costs::default(), files, actions).unwrap_err().to_string()
    }

    #[test]
    fn operations_follow_each_other_and_have_their_bytes() {
        let costs = Costs { call_ns: 1000, ns_per_byte: 1, sync_ns: 5_000_000, ..Costs::default() };
        let fsync = Action::Fsync { path: "/data/g".into() };
        let rows = run(
            costs,
            &[file("/data/f", 4000)],
            &[
                read("/data/f", None, Some(1000)),
                write("/data/g", 3000, None),
                fsync,
                write("/data/g", 10, None),
            ],
        )
        .unwrap();
        let seen: Vec<_> = rows.iter().map(|row| (row.offset, row.bytes, (row.end - row.start).0)).collect();
        // The mock's look at the processor's clock takes a microsecond, and that is between the operations.
        assert_eq!(seen, [(0, 4000, 8000), (0, 3000, 4000), (0, 0, 5_000_000), (3000, 10, 1010)]);
        let (read, write) = (read("/data/f", None, None), write("/data/g", 1, None));
        assert_eq!((rows[0].served(&read), rows[3].served(&write)), ((0, 4000), (10, 0)));
        assert_eq!(rows[0].parts(&read).total(), rows[0].end - rows[0].start);
        assert!(rows.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }

    #[test]
    fn every_few_calls_have_a_row_and_add_up_to_their_operation() {
        let costs = Costs { call_ns: 1000, ns_per_byte: 1, sync_ns: 5_000_000, ..Costs::default() };
        let fsync = Action::Fsync { path: "/data/g".into() };
        let actions = [write("/data/g", 450, Some(100)), fsync, read("/data/g", None, None)];
        let (rows, calls) = run_timed(costs, &[], &actions, NonZero::new(2)).unwrap();
        let seen: Vec<_> = calls.iter().map(|row| (row.index, row.offset, row.bytes.0, row.calls)).collect();
        assert_eq!(seen, [(0, 0, 200, 2), (0, 200, 200, 2), (0, 400, 50, 1), (2, 0, 450, 1)]);
        let took: Vec<u64> = calls.iter().map(|row| (row.end - row.start).0).collect();
        assert_eq!(took, [2200, 2200, 1050, 1450], "1000 ns for each call and 1 for each byte");
        for (row, index) in [(rows[0], 0), (rows[2], 2)] {
            let of_it: Vec<_> = calls.iter().filter(|call| call.index == index).collect();
            assert!(of_it.windows(2).all(|pair| pair[0].end == pair[1].start), "nothing is lost between");
            assert!(row.start <= of_it[0].start && of_it.last().unwrap().end <= row.end);
        }
        assert_eq!(run_timed(costs, &[], &actions, None).unwrap().1, []);
    }

    #[test]
    fn waiting_is_called_by_what_is_waited_for() {
        let open = |flag| Action::Open {
            path: "/data/f".into(),
            create: false,
            truncate: false,
            flags: [flag].into_iter().collect(),
        };
        let used = Used { processor: Nanos(3), run_queue: Nanos(1), device_read: Bytes(3) };
        let row =
            Row { offset: 0, bytes: 2, flags: OpenFlags::default(), start: Nanos(5), end: Nanos(15), used };
        let parts = row.parts(&write("/data/f", 1, None));
        assert_eq!((parts.get(Part::CpuCopy), parts.get(Part::Throttled)), (Nanos(4), Nanos(6)));
        assert_eq!(row.served(&read("/data/f", None, None)), (0, 2), "not more than was asked for");
        let rows = run(
            Costs { call_ns: 10, ..Costs::default() },
            &[file("/data/f", 512)],
            &[open(OpenFlag::Sync), write("/data/f", 512, None), Action::Sleep { time: Nanos(70_000_000) }],
        )
        .unwrap();
        let write = write("/data/f", 512, None);
        assert_eq!(
            (rows[1].served(&write), rows[1].parts(&write).get(Part::Throttled)),
            ((0, 512), Nanos::ZERO)
        );
        let sleep = Action::Sleep { time: Nanos(1) };
        assert_eq!(rows[2].parts(&sleep).get(Part::Sleep), Nanos(70_000_000));
    }

    #[test]
    fn the_last_call_of_a_direct_read_asks_for_whole_blocks_and_gets_what_is_there() {
        let open = Action::Open {
            path: "/data/f".into(),
            create: false,
            truncate: false,
            flags: [OpenFlag::Direct].into_iter().collect(),
        };
        let bytes = |action: Action| {
            let rows = run(Costs::default(), &[file("/data/f", 10_000)], &[open.clone(), action]).unwrap();
            rows[1].bytes
        };
        assert_eq!(bytes(read("/data/f", None, None)), 10_000);
        assert_eq!(bytes(read("/data/f", None, Some(4096))), 10_000);
        assert_eq!(bytes(read("/data/f", Some(10_240), None)), 10_000);
        assert_eq!(bytes(read("/data/f", Some(12_288), Some(4096))), 10_000);
        let beyond = [open.clone(), read("/data/f", Some(16_384), Some(4096))];
        assert!(error(&[file("/data/f", 10_000)], &beyond).contains("which has 10 kB"));
    }

    #[test]
    fn a_file_that_is_opened_to_append_is_written_at_its_end() {
        let open = Action::Open {
            path: "/data/f".into(),
            create: false,
            truncate: false,
            flags: [OpenFlag::Append].into_iter().collect(),
        };
        let write = Action::Write {
            path: "/data/f".into(),
            offset: Some(3),
            bytes: Bytes(10),
            call: None,
            vector: 1,
        };
        let rows = run(Costs::default(), &[file("/data/f", 100)], &[open, write.clone(), write]).unwrap();
        assert_eq!([rows[1].offset, rows[2].offset], [100, 110]);
    }

    #[test]
    fn a_copy_is_made_of_calls_of_its_size() {
        let copy = |by, bytes: Option<u64>| Action::Copy {
            path: "/data/f".into(),
            to: "/data/g".into(),
            by,
            offset: 0,
            bytes: bytes.map(Bytes),
            call: Some(Bytes(400)),
        };
        for (by, calls) in [(CopyBy::ReadWrite, 6), (CopyBy::Sendfile, 3), (CopyBy::CopyFileRange, 3)] {
            let costs = Costs { call_ns: 1_000_000, ..Costs::default() };
            let actions = [copy(by, None), read("/data/g", None, None)];
            let rows = run(costs, &[file("/data/f", 1000)], &actions).unwrap();
            assert_eq!((rows[0].bytes, rows[1].bytes), (1000, 1000), "{by:?}");
            assert_eq!((rows[0].end - rows[0].start).0 / 1_000_000, calls, "{by:?}");
            let (from_cache, from_device) = rows[0].served(&actions[0]);
            assert_eq!(from_cache + from_device, 1000);
        }
        let open = |flag| Action::Open {
            path: "/data/f".into(),
            create: false,
            truncate: false,
            flags: [flag].into_iter().collect(),
        };
        let files = [file("/data/f", 1000)];
        let refused = |actions: &[Action]| error(&files, actions);
        assert!(
            refused(&[open(OpenFlag::Direct), copy(CopyBy::Sendfile, None)])
                .contains("copies /data/f to /data/g by sendfile")
        );
        assert!(refused(&[copy(CopyBy::Sendfile, Some(2000))]).contains("which has 1 kB"));
        let Action::Copy { path, .. } = copy(CopyBy::Sendfile, None) else { unreachable!() };
        let same =
            Action::Copy { to: path.clone(), path, by: CopyBy::Sendfile, offset: 0, bytes: None, call: None };
        assert!(refused(&[same]).contains("is the same file"));
        let nothing = Action::Copy {
            path: "/data/h".into(),
            to: "/data/g".into(),
            by: CopyBy::ReadWrite,
            offset: 0,
            bytes: None,
            call: None,
        };
        assert!(refused(&[nothing]).contains("a copy of /data/h at"));
    }

    #[test]
    fn a_computer_computes_for_as_long_as_it_should() {
        let rows = run(Costs::default(), &[], &[Action::Compute { time: Nanos(3_000_000) }]).unwrap();
        let took = rows[0].parts(&Action::Compute { time: Nanos(1) }).get(Part::Compute).0;
        assert!((3_000_000..3_100_000).contains(&took), "{took}");
    }

    #[test]
    fn memory_is_taken_and_given_back() {
        let fresh = Action::Read {
            path: "/data/f".into(),
            offset: 0,
            bytes: None,
            call: Some(Bytes(4096)),
            vector: 1,
            buffer: Buffer::Fresh,
        };
        let free = |bytes: Option<u64>| Action::Free { bytes: bytes.map(Bytes) };
        let rows = run(
            Costs::default(),
            &[file("/data/f", 100_000)],
            &[fresh, Action::Allocate { bytes: Bytes(50_000) }, free(Some(60_000)), free(None), free(None)],
        )
        .unwrap();
        assert_eq!(
            rows.iter().map(|row| row.bytes).collect::<Vec<_>>(),
            [100_000, 50_000, 60_000, 90_000, 0]
        );
    }

    #[test]
    fn what_cannot_be_names_process_and_path() {
        assert_eq!(
            error(&[file("/data/f", 10)], &[read("/data/f", Some(11), None)]),
            "x.toml: process `p` reads 11 B at offset 0 B of /data/f, which has 10 B at 1.000 us; read less or make the file larger"
        );
        assert!(
            error(&[], &[read("/data/f", None, None)])
                .contains("a read of /data/f at 1.000 us, and there is no such file")
        );
        assert!(error(&[], &[Action::Unlink { path: "/data/f".into() }]).contains("a unlink of /data/f"));
    }
}
