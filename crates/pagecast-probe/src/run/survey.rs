//! Finds out what one process needs, by going through its program before anything is touched.
//!
//! What it counts does not grow with the number of operations, but with that of files.

use std::num::NonZero;

use pagecast_core::stdio::LibraryCall;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, AllocateMode, Buffer, MappedCall, OpenFlag};
use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::call_bytes;
use super::inodes::{InodeId, Inodes};
use super::names::NamedFile;
use super::plan::{MOST_DEPTH, Step};

/// The longest buffer that is used again and again.
const BUFFER: u64 = 1 << 20;

/// What a process needs, alone.
#[derive(Clone, Debug)]
pub(super) struct Survey {
    pub operations: u64,
    pub drops_caches: bool,
    /// True if it looks at the clock, or has so many operations, that not all of them are counted.
    pub is_open_ended: bool,
    pub written: u64,
    /// By how much its files have grown together, at most.
    pub growth: u64,
    /// How long each file was, at most.
    pub longest: FxHashMap<u32, u64>,
    pub open_files: u64,
    /// The most memory that it holds at a time.
    pub peak_memory: u64,
    /// How many times of calls are noted.
    pub call_times: u64,
    /// How long the longest call of a stream is; these take memory of their length, as a C program has it in one piece.
    pub stream_memory: usize,
    /// How long the memory is that bytes of mappings are copied from and to: never longer than what stays in a processor's caches.
    pub mapping_memory: usize,
    /// How many threads make its calls at once, at most; and how many of its operations are under way at once.
    pub threads: usize,
    pub asynchronous: usize,
    /// Of files that are read up to their end, the length that was taken for it.
    pub assumed: FxHashMap<u32, u64>,
    /// The directories that it makes, and those that it removes and has not made.
    pub made: FxHashSet<u32>,
    pub removed: FxHashSet<u32>,
    longest_call: u64,
    longest_copy: u64,
}

impl Survey {
    /// How long the buffer is that it reads into and writes from: as one call, but never longer than what stays in a processor's caches
    /// unless it is to copy.
    pub fn buffer(&self) -> NonZero<usize> {
        let length = self.longest_call.clamp(1, BUFFER).max(self.longest_copy) as usize;
        NonZero::new(length.next_multiple_of(rustix::param::page_size())).expect("at least a page")
    }

    /// How long a file was, at most, when the process read it up to its end.
    pub fn length(&self, file: &NamedFile) -> u64 {
        self.assumed.get(&file.number).copied().unwrap_or_else(|| file.initial_size())
    }
}

/// A survey on its way.
pub(super) struct Surveying<'a> {
    survey: Survey,
    per_call: Option<NonZero<u64>>,
    /// How long files are that other processes have made longer.
    of_others: &'a FxHashMap<u32, u64>,
    inodes: Inodes,
    /// Files that are open without a descriptor, and those of them that are appended to.
    open: FxHashSet<u32>,
    appends: FxHashSet<u32>,
    /// Where streams are in their files.
    streams: FxHashMap<u32, u64>,
    held: u64,
}

impl<'a> Surveying<'a> {
    pub fn new(per_call: Option<NonZero<u64>>, of_others: &'a FxHashMap<u32, u64>) -> Self {
        let survey = Survey {
            operations: 0,
            drops_caches: false,
            is_open_ended: false,
            written: 0,
            growth: 0,
            longest: FxHashMap::default(),
            open_files: 0,
            peak_memory: 0,
            call_times: 0,
            stream_memory: 0,
            mapping_memory: 0,
            threads: 1,
            asynchronous: 0,
            assumed: FxHashMap::default(),
            made: FxHashSet::default(),
            removed: FxHashSet::default(),
            longest_call: 0,
            longest_copy: 0,
        };
        Self {
            survey,
            per_call,
            of_others,
            inodes: Inodes::default(),
            open: FxHashSet::default(),
            appends: FxHashSet::default(),
            streams: FxHashMap::default(),
            held: 0,
        }
    }

    pub fn operations(&self) -> u64 {
        self.survey.operations
    }

    pub fn end(self, is_open_ended: bool) -> Survey {
        Survey { is_open_ended, ..self.survey }
    }

    /// Counts an operation.
    pub fn note(&mut self, step: &Step) {
        self.survey.operations += 1;
        self.note_memory(step);
        if let Some(file) = &step.file {
            match step.operation.action {
                Action::Rename { .. } | Action::Link { .. } | Action::Unlink { .. } => self.note_names(step),
                Action::Mkdir { .. } => drop(self.survey.made.insert(file.number)),
                Action::Rmdir { .. } if !self.survey.made.contains(&file.number) => {
                    self.survey.removed.insert(file.number);
                }
                Action::Rmdir { .. } | Action::Stat { .. } => {}
                _ => self.note_file(step, file.number, initial_of(step)),
            }
            let open = self.open.len() + self.inodes.descriptors() + 2 * self.streams.len();
            self.survey.open_files = self.survey.open_files.max(open as u64);
            self.survey.growth = self.survey.growth.max(self.inodes.grown());
        }
    }

    /// Buffers, and anonymous memory.
    fn note_memory(&mut self, step: &Step) {
        let survey = &mut self.survey;
        let operation = &step.operation;
        let depth = operation.depth.filter(|_| operation.action.may_be_asynchronous());
        let asynchronous = depth.map_or(0, |depth| depth.get().min(MOST_DEPTH));
        let mut threads = asynchronous;
        match operation.action {
            Action::DropCaches => survey.drops_caches = true,
            Action::Allocate { bytes } => self.held += bytes.0,
            Action::Free { bytes } => self.held -= bytes.map_or(self.held, |bytes| bytes.0.min(self.held)),
            Action::Read { call, bytes, buffer: Buffer::Reused, .. } => {
                survey.longest_call = survey.longest_call.max(call.or(bytes).map_or(BUFFER, |size| size.0));
            }
            Action::Write { call, bytes, .. } => {
                survey.longest_call = survey.longest_call.max(call.unwrap_or(bytes).0);
            }
            Action::Pattern(ref pattern) => {
                survey.longest_call = survey.longest_call.max(pattern.call.0);
                threads = pattern.depth;
            }
            // Of a copy all bytes of a call are there at once.
            Action::Copy { by, call, bytes, .. } if !by.is_in_kernel() => {
                let call = call.or(by.usual_call()).map_or(BUFFER, |call| call.0);
                let copied = bytes.map_or(call, |bytes| call.min(bytes.0));
                survey.longest_copy = survey.longest_copy.max(copied);
            }
            Action::Stream { call: LibraryCall::Write { bytes, call, .. }, .. } => {
                let size = call.unwrap_or(bytes).0.min(bytes.0) as usize;
                survey.stream_memory = survey.stream_memory.max(size);
            }
            Action::Stream { call: LibraryCall::Read { bytes, call, .. }, .. } => {
                let size = call.or(bytes).map_or(BUFFER, |size| size.0) as usize;
                survey.stream_memory = survey.stream_memory.max(size);
            }
            Action::Mapped { call, .. } if call.advice().is_some() => {
                let piece = call.part().1.map_or(BUFFER, |bytes| bytes.0.clamp(1, BUFFER));
                survey.mapping_memory = survey.mapping_memory.max(piece as usize);
            }
            _ => {}
        }
        survey.threads = survey.threads.max(threads as usize);
        survey.asynchronous = survey.asynchronous.max(asynchronous as usize);
        survey.peak_memory = survey.peak_memory.max(self.held);
    }

    fn note_names(&mut self, step: &Step) {
        let (number, initial) = (step.number(), initial_of(step));
        match (&step.operation.action, &step.target) {
            (Action::Unlink { .. }, _) => {
                self.open.remove(&number);
                self.appends.remove(&number);
                self.streams.remove(&number);
                self.inodes.unlink(number, initial);
            }
            (Action::Link { .. }, Some(to)) => self.inodes.link(number, to.number, initial),
            (Action::Rename { .. }, Some(to)) => {
                self.inodes.rename(number, to.number, (initial, to.initial_size()));
                if self.open.remove(&number) {
                    self.open.insert(to.number);
                }
            }
            _ => {}
        }
    }

    fn note_file(&mut self, step: &Step, number: u32, initial: u64) {
        let fd = step.operation.fd;
        let inode = match fd.and_then(|fd| self.inodes.behind(fd)) {
            Some(inode) if !matches!(step.operation.action, Action::Open { .. }) => inode,
            _ => self.inodes.named(number, initial),
        };
        if fd.is_none() {
            self.note_open(step, number);
        }
        let length = self.inodes.length(inode);
        match step.operation.action {
            Action::Open { truncate, flags, .. } => {
                if truncate {
                    self.inodes.set_length(inode, 0);
                }
                let appends = flags.has(OpenFlag::Append);
                match fd {
                    Some(fd) => self.inodes.open(fd, inode, appends),
                    None if appends => drop(self.appends.insert(number)),
                    None => drop(self.appends.remove(&number)),
                }
            }
            Action::Close { .. } => match fd {
                Some(fd) => self.inodes.close(fd),
                None => drop(self.appends.remove(&number)),
            },
            Action::Duplicate { to, .. } => fd.into_iter().for_each(|fd| self.inodes.duplicate(fd, to)),
            Action::Seek { offset, .. } => fd.into_iter().for_each(|fd| self.inodes.seek(fd, offset)),
            Action::Read { offset, bytes, buffer, .. } => {
                let position = fd.and_then(|fd| self.inodes.place(fd)).map_or(0, |place| place.0);
                let begin = offset.unwrap_or(position);
                let asked = bytes.map_or_else(|| self.read_to_end(number, inode, begin), |bytes| bytes.0);
                self.note_calls(step, asked);
                if buffer == Buffer::Fresh {
                    self.held += asked;
                    self.survey.peak_memory = self.survey.peak_memory.max(self.held);
                }
                if let (Some(fd), None) = (fd, offset) {
                    let there = self.length_with_others(number, inode).saturating_sub(begin);
                    self.inodes.seek(fd, begin + asked.min(there));
                }
            }
            Action::Write { offset, bytes, .. } => {
                let place = fd.and_then(|fd| self.inodes.place(fd));
                let appends = place.map_or(self.appends.contains(&number), |place| place.1);
                let begin = offset.or(place.map(|place| place.0)).filter(|_| !appends).unwrap_or(length);
                let end = begin.saturating_add(bytes.0);
                if let (Some(fd), None) = (fd, offset) {
                    self.inodes.seek(fd, end);
                }
                self.note_calls(step, bytes.0);
                self.written(number, inode, end, bytes.0);
            }
            Action::Pattern(ref pattern) if pattern.write_share > 0.0 => {
                let range = pattern.range_within(Bytes(length)).0;
                let bytes = pattern.bytes.map_or(range, |bytes| bytes.0);
                self.written(number, inode, pattern.offset.saturating_add(range), bytes);
            }
            Action::Fallocate { mode, offset, bytes, .. } => {
                // Room beyond the end that is kept counts as if the file had it.
                if matches!(mode, AllocateMode::Extend | AllocateMode::KeepSize) {
                    self.written(number, inode, offset.saturating_add(bytes.0), 0);
                }
            }
            Action::Copy { offset, bytes, .. } => {
                let asked = bytes.map_or_else(|| self.read_to_end(number, inode, offset), |bytes| bytes.0);
                let to = step.target.as_ref().expect("a copy has two files");
                let target = self.inodes.named(to.number, to.initial_size());
                self.written(to.number, target, offset.saturating_add(asked), asked);
            }
            Action::Stream { call, .. } => self.note_stream(number, inode, call),
            Action::Mapped { call: MappedCall::Write { offset, bytes, .. }, .. } => {
                let bytes = bytes.map_or(length.saturating_sub(offset), |bytes| bytes.0);
                self.written(number, inode, length, bytes);
            }
            Action::Truncate { size, .. } => {
                self.inodes.set_length(inode, size.0);
                self.note_longest(number, inode);
            }
            _ => {}
        }
    }

    /// Which files are open without a descriptor, beside streams.
    fn note_open(&mut self, step: &Step, number: u32) {
        match step.operation.action {
            Action::Close { .. } => drop(self.open.remove(&number)),
            // It opens what is not open, and closes that again.
            Action::Copy { .. } => {
                let open = self.open.len() + self.inodes.descriptors() + 2 * self.streams.len() + 2;
                self.survey.open_files = self.survey.open_files.max(open as u64);
            }
            Action::Stream { .. } => {}
            _ => drop(self.open.insert(number)),
        }
    }

    /// What a call of a library does: it writes at its own place.
    fn note_stream(&mut self, number: u32, inode: InodeId, call: LibraryCall) {
        let length = self.inodes.length(inode);
        let place = self.streams.get(&number).copied().unwrap_or_default();
        match call {
            LibraryCall::Open { mode, .. } => {
                if mode.truncates() {
                    self.inodes.set_length(inode, 0);
                }
                // What is written in between makes such a file longer, never shorter.
                self.streams.insert(number, if mode.appends() { self.inodes.length(inode) } else { 0 });
            }
            LibraryCall::Seek { offset } => drop(self.streams.insert(number, offset)),
            LibraryCall::Read { offset, bytes, .. } => {
                let first = offset.unwrap_or(place);
                let end = bytes.map_or(length, |bytes| first.saturating_add(bytes.0));
                self.streams.insert(number, end);
            }
            LibraryCall::Write { offset, bytes, .. } => {
                let end = offset.unwrap_or(place).saturating_add(bytes.0);
                self.streams.insert(number, end);
                self.written(number, inode, end, bytes.0);
            }
            LibraryCall::Close => drop(self.streams.remove(&number)),
            LibraryCall::SetBuffer { .. } | LibraryCall::Flush => {}
        }
    }

    /// A file is written up to this end.
    fn written(&mut self, number: u32, inode: InodeId, end: u64, bytes: u64) {
        self.survey.written = self.survey.written.saturating_add(bytes);
        if end > self.inodes.length(inode) {
            self.inodes.set_length(inode, end);
        }
        self.note_longest(number, inode);
    }

    fn note_longest(&mut self, number: u32, inode: InodeId) {
        let longest = self.survey.longest.entry(number).or_default();
        *longest = (*longest).max(self.inodes.length(inode));
    }

    /// The length of a file, also if another process has made it longer.
    fn length_with_others(&self, number: u32, inode: InodeId) -> u64 {
        self.inodes.length(inode).max(self.of_others.get(&number).copied().unwrap_or_default())
    }

    /// What is read at most of a file that is read up to its end.
    fn read_to_end(&mut self, number: u32, inode: InodeId, offset: u64) -> u64 {
        let length = self.length_with_others(number, inode);
        let assumed = self.survey.assumed.entry(number).or_default();
        *assumed = (*assumed).max(length);
        length.saturating_sub(offset)
    }

    /// How many times are noted: one for every so many calls, and one at the end of the operation.
    fn note_calls(&mut self, step: &Step, bytes: u64) {
        if let Some(every) = self.per_call {
            self.survey.call_times += times_of(step, bytes, every);
        }
    }
}

/// How many times are noted of an operation that moves so many bytes.
pub(super) fn times_of(step: &Step, bytes: u64, every: NonZero<u64>) -> u64 {
    let call = call_bytes(&step.operation.action).unwrap_or(bytes).max(1);
    bytes.div_ceil(call).div_ceil(every.get())
}

fn initial_of(step: &Step) -> u64 {
    step.file.as_ref().map_or(0, |file| file.initial_size())
}

/// When an operation ends at the earliest, where storage takes no time.
pub(super) fn earliest_end(before: Nanos, step: &Step) -> Nanos {
    let start = before.max(step.operation.not_before.unwrap_or_default());
    match step.operation.action {
        Action::Sleep { time, .. } | Action::Compute { time } => Nanos(start.0.saturating_add(time.0)),
        _ => start,
    }
}
