//! Runs one process of the scenario, as a thread: its operations one by one, with the time before and after each.
//!
//! Between the two looks at the clock only the program itself allocates, and no path is put together. Work that is not the program's own
//! (asking it for the next operation, finding the files of that, looking at files for the table of residency) happens between operations.

mod asynchronous;
mod copies;
mod descriptors;
mod failures;
mod mapped;
mod memory;
mod names;
mod patterns;
mod streams;
#[cfg(test)]
mod tests;

use std::num::NonZero;

use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, Beside, Buffer, OpenFlag, SleepSpread};
use rustc_hash::FxHashMap;

use super::asked::Asked;
use super::break_off::{InUse, Which};
use super::calls::{CallRow, Calls};
use super::error::RunError;
use super::files::Files;
use super::gate::Gate;
use super::names::Names;
use super::plan::{Known, Plan, PlannedProcess, Step};
use super::record::Recorded;
pub(super) use super::row::Done;
use super::row::{Row, Used};
use crate::io::{Direction, Memory, Offsets, Open, Streams, Sync, Transfer, transfer_beyond};

use self::asynchronous::{Pool, is_asynchronous};
use self::descriptors::Generation;
pub(super) use self::descriptors::{Handle, Tables};
pub(super) use self::failures::Halt;
use self::mapped::Staying;
use self::streams::ProcessStreams;

/// How long a process sleeps between two looks at whether to stop.
const NAP: Nanos = Nanos(50_000_000);
/// Room for so many operations is there before time 0.
const MOST_ROWS: u64 = 1 << 20;
/// How often a busy loop goes round between two looks at the clock: a few microseconds.
const SPINS: u32 = 1000;
/// The state that all processes share.
pub(super) struct Shared<'a, I: Streams> {
    pub io: &'a I,
    pub plan: &'a Plan,
    pub files: &'a Files<I::File>,
    pub tables: &'a Tables<I::File>,
    pub gate: &'a Gate<'a>,
    pub in_use: &'a InUse,
    pub beside: &'a Beside,
    /// Is called after each operation on a file, with the process and the number of its operation.
    pub looks: &'a (dyn Fn(u32, u32, Nanos) + std::marker::Sync),
}

/// See the module.
pub(super) struct Runner<'a, I: Streams> {
    shared: &'a Shared<'a, I>,
    at: usize,
    process: &'a PlannedProcess,
    program: Asked,
    zero: Nanos,
    /// When the process has begun, by the clock.
    begun: Nanos,
    /// The paths that it has named so far.
    known: Known,
    buffer: Memory,
    /// Files that are open without a descriptor, by their number.
    handles: FxHashMap<u32, Generation<I::File>>,
    /// Anonymous memory, and how much of each piece is still held.
    held: Vec<(Memory, usize)>,
    calls: Calls,
    streams: ProcessStreams<I>,
    /// The files that stay mapped, and what bytes of mappings are copied from and to.
    mappings: FxHashMap<u32, Staying<I>>,
    mapping_memory: Option<Memory>,
    /// The operations that have ended, and the end of the last of them.
    recorded: Recorded,
    end: Nanos,
}

/// What a process has done.
pub(super) struct Finished {
    /// Operations, in the order of the program.
    pub recorded: Recorded,
    pub calls: Vec<CallRow>,
    pub end: Nanos,
}

impl<'a, I: Streams> Runner<'a, I> {
    /// Starts the program, and takes all that the process needs besides its own memory.
    ///
    /// # Errors
    /// [`RunError`] of a program that cannot start, or if there is no memory.
    pub fn new(shared: &'a Shared<'a, I>, at: usize) -> Result<Self, RunError> {
        let process = &shared.plan.processes[at];
        let program = Asked::start(&*process.program, shared.beside);
        let program =
            program.map_err(|error| shared.plan.program_failed(&process.name, Nanos::ZERO, error))?;
        let processes = shared.plan.processes.len();
        let no_memory = |source| RunError::NoThread { processes, source };
        let mut buffer = Memory::new(process.survey.buffer()).map_err(no_memory)?;
        buffer.fill_with_noise();
        shared.in_use.note(at, Which::Reused, &buffer);
        Ok(Self {
            shared,
            at,
            process,
            program,
            zero: Nanos::ZERO,
            begun: Nanos::ZERO,
            known: Known::default(),
            buffer,
            handles: FxHashMap::default(),
            held: Vec::new(),
            calls: Calls::new(shared.plan.per_call, &process.survey),
            streams: ProcessStreams::new(&process.survey).map_err(no_memory)?,
            mappings: FxHashMap::default(),
            mapping_memory: mapped::memory(process.survey.mapping_memory).map_err(no_memory)?,
            recorded: Recorded::new(
                at,
                shared.plan.record,
                process.survey.operations.min(MOST_ROWS) as usize,
            ),
            end: Nanos::ZERO,
        })
    }

    /// Waits for its turn, and does all operations.
    ///
    /// # Errors
    /// [`Halt`] if it did not come to its end.
    pub fn run(&mut self) -> Result<(), Halt> {
        let shared: &Shared<'_, I> = self.shared;
        std::thread::scope(|scope| {
            let mut pool = Pool::new(scope, shared, self.at);
            let ready = pool.make_ready(self.process.survey.asynchronous);
            ready.map_err(|source| {
                let processes = shared.plan.processes.len();
                self.halt(RunError::NoThread { processes, source })
            })?;
            let done = self.go_through(&mut pool);
            // Also after a failure: nothing may be under way when files are closed.
            let ended = self.end_all(&mut pool);
            done.and(ended)
        })?;
        // As at the end of a process: files are closed, memory is given back.
        self.mappings.clear();
        self.handles.clear();
        self.held.clear();
        self.shared.tables.leave(self.process.table);
        Ok(())
    }

    fn go_through(&mut self, pool: &mut Pool<'_, '_, I>) -> Result<(), Halt> {
        self.zero = self.shared.gate.pass(self.at)?;
        let start = self.zero + self.process.start;
        self.sleep_until(start)?;
        self.begun = if self.process.after.is_empty() { start } else { start.max(self.shared.io.now()) };
        for index in 0.. {
            let Some(step) = self.next_of(pool)? else { break };
            if let Some(time) = step.operation.not_before {
                self.sleep_until(self.begun + time)?;
            }
            if is_asynchronous(&step) {
                self.begin(pool, index, step)?;
                continue;
            }
            if matches!(step.operation.action, Action::Drain) {
                self.drain(pool, index as u32, &step)?;
                continue;
            }
            self.make_room(&step)?;
            self.step(index as u32, &step)?;
            self.calls.keep(index);
            if step.file.is_some() {
                (self.shared.looks)(self.at as u32, index as u32, self.now());
            }
        }
        Ok(())
    }

    /// The next operation of the program; as long as another one must go on first, it is asked again and again.
    fn next_of(&mut self, pool: &mut Pool<'_, '_, I>) -> Result<Option<Step>, Halt> {
        loop {
            if self.shared.gate.is_stopped() {
                return Err(Halt::Stopped);
            }
            self.end_some(pool)?;
            match self.next()? {
                None if self.program.is_held() => std::thread::yield_now(),
                next => return Ok(next),
            }
        }
    }

    /// Makes room for the times of its calls, before its time counts.
    fn make_room(&mut self, step: &Step) -> Result<(), Halt> {
        if self.shared.plan.per_call.is_none() {
            return Ok(());
        }
        let length = match (&step.operation.action, step.operation.fd, &step.file) {
            (Action::Read { bytes: None, .. }, Some(fd), _) => {
                let handle = self.behind(step, fd)?;
                self.length(step, &handle)?
            }
            (Action::Read { bytes: None, .. }, None, Some(file)) => {
                // One that is not open yet is opened in the operation's own time.
                let open = self.handles.get(&file.number);
                open.map_or(Ok(self.process.survey.length(file)), |(_, handle)| self.length(step, handle))?
            }
            _ => 0,
        };
        self.calls.make_room(step, length);
        Ok(())
    }

    /// Asks the program for its next operation.
    fn next(&mut self) -> Result<Option<Step>, Halt> {
        let (plan, name) = (self.shared.plan, &self.process.name);
        let since = self.shared.io.now().saturating_sub(self.begun);
        let next = self.program.next(since);
        let next = next.map_err(|error| self.halt(plan.program_failed(name, self.now(), error)))?;
        let Some(operation) = next else { return Ok(None) };
        let now = self.now();
        let step = plan.step((name, self.process.host), now, operation, &mut self.known);
        step.map(Some).map_err(|error| self.halt(error))
    }

    /// Waits until nothing is under way, which takes its time.
    fn drain(&mut self, pool: &mut Pool<'_, '_, I>, index: u32, step: &Step) -> Result<(), Halt> {
        let (before, start) = (Used::now(self.shared.io), self.now());
        self.end_all(pool)?;
        let (end, used) = (self.now(), Used::now(self.shared.io).since(before));
        self.add(index, step, &Done::default(), (start, end), used);
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.shared.io.now().saturating_sub(self.zero)
    }

    /// Does one operation and writes down how long it took.
    fn step(&mut self, index: u32, step: &Step) -> Result<(), Halt> {
        let io = self.shared.io;
        // Whoever looks at a file from outside must let go of it before its name is, and that is not the program's time.
        let changed = names::changed_by(&self.shared.plan.names, step);
        let numbers: Vec<u32> = changed.iter().map(|file| file.number).collect();
        let nobody_looks = self.shared.files.keep_closed(&numbers);
        let before = Used::now(io);
        let start = self.now();
        let done = self.act(index, step);
        let end = self.now();
        let used = Used::now(io).since(before);
        Names::changed(&changed);
        drop(nobody_looks);
        self.add(index, step, &done?, (start, end), used);
        Ok(())
    }

    /// Writes down an operation that has ended.
    fn add(&mut self, index: u32, step: &Step, done: &Done, time: (Nanos, Nanos), used: Used) {
        self.end = self.end.max(time.1);
        let begun = self.begun.saturating_sub(self.zero);
        let since = (time.0.saturating_sub(begun), time.1.saturating_sub(begun));
        self.program.ended(&step.operation.action, Bytes(done.bytes), since);
        self.recorded.add(Row::new(&step.operation.action, (index, step.number()), done, time, used));
    }

    fn act(&mut self, index: u32, step: &Step) -> Result<Done, Halt> {
        let nothing = Done::default();
        let Some(file) = &step.file else { return self.act_without_file(index, step) };
        match &step.operation.action {
            &Action::Open { create, truncate, flags, .. } => {
                // One that is open already is closed after it: no moment without, in which its pages could go.
                let generation = file.generation();
                let opened = self.open(step, file, Open { create, truncate, flags })?;
                let handle = Handle::new(opened, flags);
                match step.operation.fd {
                    Some(fd) => self.shared.tables.insert(self.process.table, fd, handle),
                    None => drop(self.handles.insert(file.number, (generation, handle))),
                }
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
            &Action::SyncFileRange { offset, bytes, flags, .. } => {
                let length = bytes.map_or(0, |bytes| bytes.0);
                self.on_file(step, |io, file| io.sync_range(file, offset, length, flags))
            }
            &Action::Readahead { offset, bytes, .. } => {
                let handle = self.handle(step, false)?;
                let up_to_end = |length: u64| length.saturating_sub(offset);
                let length = match bytes {
                    Some(bytes) => bytes.0,
                    None => self.length(step, &handle).map(up_to_end)?,
                };
                self.on_file(step, |io, file| io.readahead(file, offset, length))
            }
            &Action::Seek { offset, .. } => {
                let fd = self.number_of(step)?;
                self.behind(step, fd)?.state().position = offset;
                Ok(nothing)
            }
            Action::Close { .. } => match step.operation.fd {
                Some(fd) => match self.shared.tables.remove(self.process.table, fd) {
                    Some(_closed) => Ok(nothing),
                    None => Err(self.not_open(step, fd)),
                },
                None => {
                    self.handles.remove(&file.number);
                    Ok(nothing)
                }
            },
            &Action::Duplicate { to, .. } => {
                let fd = self.number_of(step)?;
                let handle = self.behind(step, fd)?;
                self.shared.tables.insert(self.process.table, to, handle);
                Ok(nothing)
            }
            &Action::Truncate { size, .. } => self.on_file(step, |io, file| io.set_length(file, size.0)),
            &Action::Stream { call, .. } => self.on_stream(step, file, call),
            &Action::Mapped { call, .. } => self.on_mapping(step, file.number, call),
            &Action::Fadvise { advice, offset, bytes, .. } => {
                let length = bytes.map_or(0, |bytes| bytes.0);
                self.on_file(step, |io, file| io.advise(file, advice, offset, length))
            }
            Action::Pattern(pattern) => self.pattern(index, step, pattern),
            &Action::Fallocate { mode, offset, bytes, .. } => {
                self.handle(step, true)?;
                self.on_file(step, |io, file| io.allocate(file, mode, offset, bytes.0))
            }
            Action::Stat { .. } if step.operation.fd.is_some() => {
                self.on_file(step, |io, file| io.length(file).map(drop))
            }
            _ => self.on_name(step, file),
        }
    }

    fn act_without_file(&mut self, index: u32, step: &Step) -> Result<Done, Halt> {
        let io = self.shared.io;
        match &step.operation.action {
            Action::Sync => io.sync_all(),
            Action::SyncFs { .. } => io.sync_file_system().map_err(|error| self.failed(step, error))?,
            Action::DropCaches => io.drop_caches().map_err(|error| self.failed(step, error))?,
            &Action::Compute { time } => self.compute(time)?,
            &Action::Sleep { time, random } => {
                let time = SleepSpread::time(random, time, 0, &self.process.name, index);
                self.sleep_until(io.now() + time)?;
            }
            &Action::Allocate { bytes } => return self.allocate(step, bytes),
            &Action::Free { bytes } => return self.free(step, bytes),
            Action::Wait { event } => self.shared.gate.wait_for(self.at, event)?,
            Action::Signal { event } => self.shared.gate.signal(event),
            _ => unreachable!("all others have a file, or are none of a step"),
        }
        Ok(Done::default())
    }

    fn read(
        &mut self,
        step: &Step,
        offset: Option<u64>,
        bytes: Option<Bytes>,
        (call, vector): (Option<Bytes>, u32),
        fresh: bool,
    ) -> Result<Done, Halt> {
        let handle = self.handle(step, false)?;
        let flags = handle.flags;
        let is_descriptor = step.operation.fd.is_some();
        let mut position = offset.is_none().then(|| handle.state());
        let length = self.length(step, &handle)?;
        let offset = offset.or(position.as_ref().map(|state| state.position)).unwrap_or(0);
        let left = length.saturating_sub(offset);
        let asked = bytes.map_or(left, |bytes| bytes.0);
        let bytes = match (flags.is_direct(), is_descriptor) {
            (true, _) => there(offset, asked, call, length),
            // At the end of the file a read through a descriptor gives less.
            (false, true) => asked.min(left),
            (false, false) => asked,
        };
        if is_descriptor && let Some(state) = &mut position {
            state.position = offset + bytes;
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
        let what = Transfer { direction, offsets, bytes, call, spreads: fresh };
        self.transfer(step, &handle, &what, vector, own)?;
        Ok(done)
    }

    fn write(
        &mut self,
        step: &Step,
        offset: Option<u64>,
        bytes: Bytes,
        (call, vector): (Option<Bytes>, u32),
    ) -> Result<Done, Halt> {
        let handle = self.handle(step, true)?;
        let flags = handle.flags;
        let mut position = (offset.is_none() && step.operation.fd.is_some()).then(|| handle.state());
        // Wherever it was to begin, the kernel appends.
        let at = offset.or(position.as_ref().map(|state| state.position));
        let at = at.filter(|_| !flags.has(OpenFlag::Append));
        let offset = at.map_or_else(|| self.length(step, &handle), Ok)?;
        if let Some(state) = &mut position {
            state.position = offset + bytes.0;
        }
        let direction = Direction::Write;
        let call = NonZero::new(call.unwrap_or(bytes).0).unwrap_or(NonZero::<u64>::MAX);
        let offsets = Offsets::From(offset);
        let what = Transfer { direction, offsets, bytes: bytes.0, call, spreads: false };
        self.transfer(step, &handle, &what, vector, None)?;
        Ok(Done { offset, bytes: bytes.0, flags, ..Done::default() })
    }

    fn transfer(
        &mut self,
        step: &Step,
        handle: &Handle<I::File>,
        what: &Transfer<'_>,
        vector: u32,
        own: Option<Memory>,
    ) -> Result<(), Halt> {
        let place = what.call.get().min(what.bytes).div_ceil(vector.into());
        let longest = if vector > 1 { place as usize } else { usize::MAX };
        let (io, stop) = (self.shared.io, &self.shared.gate.stop);
        let file = &handle.file;
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
        moved.map_err(|failure| self.not_moved(step, handle, what, failure))
    }

    /// What the process has done.
    pub fn into_done(mut self) -> Finished {
        self.recorded.rows.sort_unstable_by_key(|row| row.index);
        let calls = self.calls.rows(self.at as u32, &self.recorded.rows, self.zero);
        Finished { recorded: self.recorded, calls, end: self.end }
    }

    fn length(&self, step: &Step, handle: &Handle<I::File>) -> Result<u64, Halt> {
        self.shared.io.length(&handle.file).map_err(|error| self.failed(step, error))
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
