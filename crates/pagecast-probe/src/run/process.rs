//! Runs one process of the scenario, as a thread: its operations one by one, with the time before and after each.
//!
//! Everything that can be known is known before (see [`super::plan`]). Between the two looks at the clock only the program itself
//! allocates, and no path is put together. Work that is not the program's own (looking at files for the table of residency) happens between
//! operations.

mod asynchronous;
mod copies;
mod failures;
mod mapped;
mod memory;
mod patterns;
mod streams;
#[cfg(test)]
mod tests;

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pagecast_core::result::Counted;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, Buffer, OpenFlag, OpenFlags};
use rustc_hash::{FxHashMap, FxHashSet};

use super::break_off::{InUse, Which};
use super::calls::{CallRow, Calls};
use super::files::Files;
use super::gate::Gate;
use super::plan::{Plan, PlannedProcess, Step};
use super::row::{Row, Used};
use crate::io::{Direction, Memory, Offsets, Open, Streams, Sync, Transfer, transfer_beyond};

pub(super) use self::failures::Halt;
use self::mapped::Staying;
use self::streams::ProcessStreams;

/// How long a process sleeps between two looks at whether to stop.
const NAP: Nanos = Nanos(50_000_000);
/// How often a busy loop goes round between two looks at the clock: a few microseconds.
const SPINS: u32 = 1000;
/// The state that all processes share.
pub(super) struct Shared<'a, I: Streams> {
    pub io: &'a I,
    pub plan: &'a Plan,
    pub files: &'a Files<I::File>,
    pub gate: &'a Gate<'a>,
    pub in_use: &'a InUse,
    /// Is called after each operation on a file, with the process and the number of its operation.
    pub looks: &'a (dyn Fn(u32, u32, Nanos) + std::marker::Sync),
}

/// A file that the process has open: an open file description, which duplicates share.
pub(super) struct Handle<F> {
    pub file: F,
    flags: OpenFlags,
    /// Where a read or write without an offset begins, if it is a descriptor's.
    position: AtomicU64,
}

impl<F> Handle<F> {
    fn new(file: F, flags: OpenFlags) -> Arc<Self> {
        Arc::new(Self { file, flags, position: AtomicU64::new(0) })
    }

    fn position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }

    fn seek(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
    }
}

/// From this number on handles are those of descriptors.
const DESCRIPTORS: u32 = 1 << 31;

/// The handle that a step goes through: that of its descriptor, or else that of its file.
fn key(step: &Step) -> u32 {
    step.operation.fd.map_or(step.file, |fd| DESCRIPTORS | fd.0)
}

/// The outcome of an operation.
#[derive(Clone, Copy, Default)]
pub(super) struct Done {
    pub offset: u64,
    pub bytes: u64,
    pub flags: OpenFlags,
    /// How much of it waited for the time of the next call.
    pub slept: Nanos,
    /// What devices have read for other threads of it.
    pub device_read: Bytes,
}

/// See the module.
pub(super) struct Runner<'a, I: Streams> {
    shared: &'a Shared<'a, I>,
    at: usize,
    process: &'a PlannedProcess,
    zero: Nanos,
    buffer: Memory,
    handles: FxHashMap<u32, Arc<Handle<I::File>>>,
    /// Anonymous memory, and how much of each piece is still held.
    held: Vec<(Memory, usize)>,
    calls: Calls,
    streams: ProcessStreams<I>,
    /// The files that stay mapped, and what bytes of mappings are copied from and to.
    mappings: FxHashMap<u32, Staying<I>>,
    mapping_memory: Option<Memory>,
    /// The calls of patterns, by kind, and the operations that have them.
    counted: Counted,
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
            counted: Counted::default(),
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
        let steps = &self.process.steps;
        let mut next = 0;
        while let Some(step) = steps.get(next) {
            if self.shared.gate.is_stopped() {
                return Err(Halt::Stopped);
            }
            let index = next;
            let batch = steps[next..].iter().take_while(|step| step.operation.depth.is_some()).count();
            next += batch.max(1);
            if batch > 0 {
                self.at_once(index, &steps[index..next])?;
                continue;
            }
            if let Some(time) = step.operation.not_before {
                self.sleep_until(self.zero + self.process.start + time)?;
            }
            self.step(index as u32, step)?;
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
    fn step(&mut self, index: u32, step: &Step) -> Result<(), Halt> {
        let io = self.shared.io;
        // Whoever looks at a file from outside must let go of it before it is removed, and that is not the program's time.
        let removed = matches!(step.operation.action, Action::Unlink { .. }).then_some(step.file);
        let _nobody_looks = removed.map(|file| self.shared.files.keep_closed(file as usize));
        let before = Used::now(io);
        let start = self.now();
        let done = self.act(index, step)?;
        let end = self.now();
        let Done { offset, bytes, flags, slept, device_read } = done;
        let mut used = Used::now(io).since(before);
        used.device_read += device_read;
        self.rows.push(Row { offset, bytes, flags, start, end, slept, used });
        Ok(())
    }

    fn act(&mut self, index: u32, step: &Step) -> Result<Done, Halt> {
        let io = self.shared.io;
        let nothing = Done::default();
        match &step.operation.action {
            &Action::Open { create, truncate, flags, .. } => {
                // One that is open already is closed after it: no moment without, in which its pages could go.
                let file = self.open(step, step.file, Open { create, truncate, flags })?;
                self.handles.insert(key(step), Handle::new(file, flags));
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
            &Action::Seek { offset, .. } => {
                let Some(handle) = self.handles.get(&key(step)) else { return Err(self.not_open(step)) };
                handle.seek(offset);
                Ok(nothing)
            }
            Action::Close { .. } => {
                self.handles.remove(&key(step));
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
            Action::Pattern(pattern) => self.pattern(index, step, pattern),
            &Action::Fallocate { mode, offset, bytes, .. } => {
                self.handle(step, step.file, true)?;
                self.on_file(step, |io, file| io.allocate(file, mode, offset, bytes.0))
            }
            // Nothing is under way beside it.
            Action::Drain => Ok(nothing),
            &Action::Duplicate { to, .. } => {
                let Some(handle) = self.handles.get(&key(step)) else { return Err(self.not_open(step)) };
                let handle = Arc::clone(handle);
                self.handles.insert(DESCRIPTORS | to.0, handle);
                Ok(nothing)
            }
            Action::Exit => unreachable!("a program ends before it"),
            Action::Rename { .. }
            | Action::Link { .. }
            | Action::Mkdir { .. }
            | Action::Rmdir { .. }
            | Action::Stat { .. } => unreachable!("the plan has refused it"),
        }
    }

    fn open(&self, step: &Step, file: u32, how: Open) -> Result<I::File, Halt> {
        let within = &self.shared.plan.files[file as usize].within;
        self.shared.io.open(within, how).map_err(|error| self.failed(step, error))
    }

    /// A file that is open, or is opened now: no scenario has to say that.
    fn handle(&mut self, step: &Step, number: u32, create: bool) -> Result<OpenFlags, Halt> {
        let number = if number == step.file { key(step) } else { number };
        if let Some(handle) = self.handles.get(&number) {
            return Ok(handle.flags);
        }
        if number >= DESCRIPTORS {
            return Err(self.not_open(step));
        }
        let file = self.open(step, number, Open { create, ..Open::default() })?;
        let flags = OpenFlags::default();
        self.handles.insert(number, Handle::new(file, flags));
        Ok(flags)
    }

    fn on_file(&mut self, step: &Step, call: impl Fn(&I, &I::File) -> io::Result<()>) -> Result<Done, Halt> {
        let flags = self.handle(step, step.file, false)?;
        call(self.shared.io, &self.handles[&key(step)].file).map_err(|error| self.failed(step, error))?;
        Ok(Done { flags, ..Done::default() })
    }

    fn read(
        &mut self,
        step: &Step,
        offset: Option<u64>,
        bytes: Option<Bytes>,
        (call, vector): (Option<Bytes>, u32),
        fresh: bool,
    ) -> Result<Done, Halt> {
        let flags = self.handle(step, step.file, false)?;
        let length = self.length(step)?;
        let is_descriptor = step.operation.fd.is_some();
        let at_position = offset.is_none();
        let offset = offset.unwrap_or(self.handles[&key(step)].position());
        let left = length.saturating_sub(offset);
        let asked = bytes.map_or(left, |bytes| bytes.0);
        let bytes = match (flags.is_direct(), is_descriptor) {
            (true, _) => there(offset, asked, call, length),
            // At the end of the file a read through a descriptor gives less.
            (false, true) => asked.min(left),
            (false, false) => asked,
        };
        if at_position && is_descriptor {
            self.handles[&key(step)].seek(offset + bytes);
        }
        let done = Done { offset, bytes, flags, ..Done::default() };
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
        let (appends, is_descriptor) = (flags.has(OpenFlag::Append), step.operation.fd.is_some());
        // Wherever it was to begin, the kernel appends.
        let position = is_descriptor.then(|| self.handles[&key(step)].position());
        let at = offset.or(position).filter(|_| !appends);
        let at_position = offset.is_none();
        let offset = at.map_or_else(|| self.length(step), Ok)?;
        if at_position && is_descriptor {
            self.handles[&key(step)].seek(offset + bytes.0);
        }
        let direction = Direction::Write;
        let call = NonZero::new(call.unwrap_or(bytes).0).unwrap_or(NonZero::<u64>::MAX);
        let offsets = Offsets::From(offset);
        let what = Transfer { direction, offsets, bytes: bytes.0, call, spreads: false };
        self.transfer(step, &what, vector, None)?;
        Ok(Done { offset, bytes: bytes.0, flags, ..Done::default() })
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
        let file = &self.handles[&key(step)].file;
        let handle = &self.handles[&key(step)];
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

    /// What the process has done, the times of its calls, and the calls of its patterns.
    pub fn into_done(self) -> (Vec<Row>, Vec<CallRow>, Counted) {
        let calls = self.calls.rows(self.at as u32, &self.process.steps, &self.rows, self.zero);
        (self.rows, calls, self.counted)
    }

    /// The file of a step, which is open.
    fn file(&self, step: &Step) -> &I::File {
        &self.handles[&key(step)].file
    }

    fn length(&self, step: &Step) -> Result<u64, Halt> {
        let length = self.shared.io.length(&self.handles[&key(step)].file);
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
