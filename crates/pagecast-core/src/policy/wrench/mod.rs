//! Runs the data-block model of the WRENCH-cache paper.
//!
//! Source: Do et al., *Modeling the Linux Page Cache for Accurate Simulation of Data-Intensive Applications*, CLUSTER 2021, Algorithms 1 to
//! 3, and the authors' published outputs if the text is silent; the differences are listed in `docs/concepts/wrench.md`. Reads and writes
//! go chunk by chunk through two lists of data blocks. State changes when a transfer is asked for, as published. Left out, as published:
//! read-ahead, the background threshold, throttling before the dirty limit, offsets in files, the cost of a call.

mod bypassing;
mod cache;
mod files;
mod flushing;
mod lists;
mod options;
mod reading;
mod writing;

use self::cache::Cache;
use self::files::{Files, HostFile};
use self::flushing::{FLUSHER, Flush, Flusher, Then};
use self::lists::Block;
pub use self::options::{RemoteMemory, Vintage, WrenchOptions};
use super::{
    Actions, Call, DeviceId, FileId, FileView, ListedBlock, OperationId, Outcome, Policy, Remote, Request,
};
use crate::flow::{Completion, FlowSpec, Path};
use crate::result::{FileLevels, MemoryLevels, Part, Parts};
use crate::stop;
use crate::units::{Bytes, Nanos};
use crate::workload::{Advice, SyncRangeFlag};

/// The page cache of a host; see the module.
pub struct Wrench {
    options: WrenchOptions,
    cache: Cache,
    memory_read: Path,
    memory_write: Path,
    files: Files,
    operations: Vec<Option<Running>>,
    /// Places in `operations` that are not taken.
    vacant: Vec<u32>,
    flusher: Flusher,
    /// Scratch of `flush_list`, kept for its memory.
    by_device: Vec<(DeviceId, u64)>,
}

/// An operation under way, and its place in the table of these.
#[derive(Clone, Copy)]
struct Ticket {
    operation: OperationId,
    place: u32,
}

impl Ticket {
    /// Returns the tag of the operation's transfers. The engine looks at its lower half only.
    fn tag(self) -> u64 {
        (u64::from(self.place) << 32) | u64::from(self.operation.0)
    }

    fn of_tag(tag: u64) -> Self {
        Self { operation: OperationId(tag as u32), place: (tag >> 32) as u32 }
    }
}

/// A read, write or fsync under way.
struct Running {
    kind: Kind,
    file: HostFile,
    /// The engine's view of the file; its size grows with each chunk that is written.
    view: FileView,
    /// The start of the next chunk, and the bytes still to come with it.
    offset: u64,
    left: u64,
    stage: Stage,
    since: Nanos,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read {
        fresh: bool,
    },
    Write,
    WriteThrough,
    /// A chunk from another host is put into the cache, clean.
    Insert {
        fresh: bool,
    },
    Fsync,
    Sync,
    /// Past the cache.
    ReadDirect {
        fresh: bool,
    },
    WriteDirect,
}

/// The stage for which an operation waits.
#[derive(Clone, Copy)]
enum Stage {
    /// Dirty blocks are being written so that there is room.
    Flush(Flush),
    /// The chunk comes from the device; so much of it is then copied from the cache.
    Device { then_copy: u64 },
    /// The chunk is being copied, or written through; so much of it is then still to be done.
    Chunk { rest: u64 },
}

impl Wrench {
    /// An empty cache.
    #[must_use]
    pub fn new(memory: Bytes, memory_read: Path, memory_write: Path, options: WrenchOptions) -> Self {
        Self {
            options,
            cache: Cache::new(memory.0, options.vintage == Vintage::CameraReady),
            memory_read,
            memory_write,
            files: Files::default(),
            operations: Vec::new(),
            vacant: Vec::new(),
            flusher: Flusher {
                pass_began: Nanos::ZERO,
                active: false,
                is_writing: false,
                wakes: Nanos::ZERO,
            },
            by_device: Vec::new(),
        }
    }

    /// Begins an operation with its first chunk.
    fn start(
        &mut self,
        now: Nanos,
        operation: OperationId,
        kind: Kind,
        view: FileView,
        at: (u64, Bytes),
        out: &mut Actions,
    ) {
        let file = self.files.learn(&view);
        let stage = Stage::Chunk { rest: 0 };
        let (offset, left) = (at.0, at.1.0);
        let outcome = Outcome::default();
        let running = Running { kind, file, view, offset, left, stage, since: now, outcome };
        self.run(now, operation, running, out);
    }

    fn run(&mut self, now: Nanos, operation: OperationId, running: Running, out: &mut Actions) {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.operations.push(None);
            self.operations.len() as u32 - 1
        });
        self.operations[place as usize] = Some(running);
        self.next_chunk(now, Ticket { operation, place }, out);
    }

    fn preload(&mut self, now: Nanos, file: &FileView, bytes: Bytes, dirty: Bytes) {
        let file = self.files.learn(file);
        let chunk_size = self.options.chunk.0;
        let chunks = |bytes: u64| {
            (0..bytes).step_by(chunk_size as usize).map(move |before| chunk_size.min(bytes - before))
        };
        chunks(dirty.0).for_each(|chunk| self.cache.add_dirty(file, chunk, now));
        chunks(bytes.0 - dirty.0).for_each(|chunk| self.cache.add_clean(file, chunk, now));
    }

    fn running(&mut self, operation: Ticket) -> &mut Running {
        self.operations[operation.place as usize].as_mut().expect("transfers belong to operations under way")
    }

    /// Begins the next chunk, or ends the operation.
    fn next_chunk(&mut self, now: Nanos, operation: Ticket, out: &mut Actions) {
        stop::spend(1);
        let chunk_size = self.options.chunk.0;
        let running = self.running(operation);
        let chunk = running.left.min(chunk_size);
        if chunk == 0 {
            out.done(operation.operation, running.outcome);
            self.operations[operation.place as usize] = None;
            self.vacant.push(operation.place);
            return;
        }
        match running.kind {
            Kind::Read { .. } => self.read_chunk(now, operation, chunk, out),
            Kind::Write | Kind::Insert { .. } => self.write_chunk(now, operation, chunk, out),
            Kind::WriteThrough => {
                running.stage = Stage::Chunk { rest: 0 };
                running.outcome.from_device += Bytes(chunk);
                out.start(FlowSpec::new(running.view.write, chunk, operation.tag()));
            }
            Kind::Fsync => {
                let (file, amount) = (running.file, u64::MAX);
                self.flush(now, operation, Some(file), amount, Then::End, out);
            }
            Kind::Sync => self.flush(now, operation, None, u64::MAX, Then::End, out),
            Kind::ReadDirect { .. } | Kind::WriteDirect => self.bypass_chunk(now, operation, chunk, out),
        }
    }

    fn end_chunk(&mut self, now: Nanos, operation: Ticket, out: &mut Actions) {
        let chunk_size = self.options.chunk.0;
        let running = self.running(operation);
        let chunk = running.left.min(chunk_size);
        let (kind, file) = (running.kind, running.file);
        running.left -= chunk;
        running.offset += chunk;
        if matches!(kind, Kind::Read { fresh: true } | Kind::Insert { fresh: true }) {
            self.cache.take_anonymous(chunk);
        }
        match kind {
            // As in the authors' simulator, whoever has something to do at this instant does it before the next chunk.
            Kind::Read { .. } | Kind::Write => out.give_way(operation.tag()),
            Kind::WriteThrough => {
                self.keep_written(now, operation, file, chunk, out);
                self.next_chunk(now, operation, out);
            }
            Kind::Insert { .. } | Kind::Fsync | Kind::Sync => self.next_chunk(now, operation, out),
            Kind::ReadDirect { .. } | Kind::WriteDirect => self.end_bypassed(now, operation, chunk, out),
        }
    }

    /// Charges the time since the last stage to a part, or to the parts of the transfer that has just ended.
    fn charge(&mut self, now: Nanos, operation: Ticket, transfer: &Parts) {
        let running = self.running(operation);
        let elapsed = now - running.since;
        running.since = now;
        match (running.stage, running.kind) {
            (Stage::Flush(_), Kind::Read { .. }) => running.outcome.parts.add(Part::Reclaim, elapsed),
            (Stage::Flush(_), Kind::Write) => running.outcome.parts.add(Part::Throttled, elapsed),
            _ => running.outcome.parts.add_all(transfer),
        }
    }
}

impl Policy for Wrench {
    fn begin(&mut self, now: Nanos, request: &Request, out: &mut Actions) {
        let operation = request.operation;
        self.flusher.pass_over(now, self.options.period);
        match request.call {
            Call::Read { file, offset, bytes, fresh, .. } => {
                return self.start(now, operation, Kind::Read { fresh }, file, (offset, bytes), out);
            }
            Call::Serve { file, offset, bytes } => {
                // As published: the memory that the server reads into is never given back.
                let fresh = self.options.remote_memory == RemoteMemory::Server;
                return self.start(now, operation, Kind::Read { fresh }, file, (offset, bytes), out);
            }
            Call::Write { file, offset, bytes, through, .. } => {
                let kind = if through { Kind::WriteThrough } else { Kind::Write };
                return self.start(now, operation, kind, file, (offset, bytes), out);
            }
            // As published: what must be durable is written through.
            Call::WriteSync { file, offset, bytes, .. } => {
                return self.start(now, operation, Kind::WriteThrough, file, (offset, bytes), out);
            }
            Call::ReadDirect { file, offset, bytes, fresh, .. } => {
                return self.start(now, operation, Kind::ReadDirect { fresh }, file, (offset, bytes), out);
            }
            Call::WriteDirect { file, offset, bytes, .. } => {
                return self.start(now, operation, Kind::WriteDirect, file, (offset, bytes), out);
            }
            // Its blocks are flushed by their age, whatever device they are of.
            Call::Sync | Call::SyncFs { .. } => return self.sync(now, operation, out),
            // They have no places in their file either: a range that is written and waited for is the whole file.
            Call::SyncRange { file, flags, .. } => {
                if flags.has(SyncRangeFlag::Write) && flags.has(SyncRangeFlag::WaitAfter) {
                    return self.start(now, operation, Kind::Fsync, file, (0, Bytes(1)), out);
                }
            }
            // Its faults cost nothing: a mapping is read and written as a file is.
            Call::Mapped { file, offset, bytes, writes, .. } => {
                let kind = if writes { Kind::Write } else { Kind::Read { fresh: false } };
                return self.start(now, operation, kind, file, (offset, bytes), out);
            }
            Call::Fsync { file, .. } | Call::FsyncRange { file, .. } => {
                return self.start(now, operation, Kind::Fsync, file, (0, Bytes(1)), out);
            }
            Call::Insert { file, offset, bytes, fresh, .. } => {
                let fresh = fresh && self.options.remote_memory == RemoteMemory::Client;
                return self.start(now, operation, Kind::Insert { fresh }, file, (offset, bytes), out);
            }
            Call::Preload { file, bytes, dirty } => self.preload(now, &file, bytes, dirty),
            Call::Truncate { file, size, .. } => {
                if let Some(file) = self.files.number(file.id) {
                    self.cache.discard_beyond(file, size.0);
                }
            }
            Call::Unlink { file } => {
                if let Some(file) = self.files.number(file.id) {
                    self.cache.discard_beyond(file, 0);
                }
            }
            Call::Name { .. } | Call::Open { .. } | Call::Close { .. } => {}
            Call::Advise { file, advice, offset, bytes } => {
                // Its blocks have no places in their file: advice on a part of it says nothing.
                let is_whole = offset == 0 && bytes >= file.size;
                if let Some(file) =
                    self.files.number(file.id).filter(|_| is_whole && advice == Advice::DontNeed)
                {
                    self.cache.drop_clean(Some(file));
                }
            }
            Call::DropCaches => self.cache.drop_clean(None),
            Call::Allocate { bytes, .. } => {
                self.evict(self.cache.lacking(bytes.0), None, out);
                self.cache.take_anonymous(bytes.0);
            }
            Call::Free { bytes, .. } => self.cache.give_anonymous(bytes.0),
        }
        out.done(operation, Outcome::default());
    }

    fn completed(&mut self, now: Nanos, done: &Completion, out: &mut Actions) {
        self.flusher.pass_over(now, self.options.period);
        if done.tag == FLUSHER {
            self.flusher.is_writing = false;
            self.cache.flushed_expired();
            return self.flush_expired(now, out);
        }
        let operation = Ticket::of_tag(done.tag);
        if let Stage::Flush(flush) = &mut self.running(operation).stage {
            flush.transfers -= 1;
            if flush.transfers > 0 {
                return;
            }
        }
        self.charge(now, operation, &done.parts);
        match self.running(operation).stage {
            Stage::Flush(flush) => {
                self.cache.written(flush.sum);
                if flush.active || flush.amount == 0 {
                    self.after_flush(now, operation, flush, out);
                } else {
                    self.flush_list(now, operation, Flush { active: true, ..flush }, out);
                }
            }
            Stage::Device { then_copy } => self.read_from_cache(now, operation, then_copy, out),
            Stage::Chunk { .. } => self.continue_write(now, operation, out),
        }
    }

    fn resumed(&mut self, now: Nanos, tag: u64, out: &mut Actions) {
        self.flusher.pass_over(now, self.options.period);
        self.next_chunk(now, Ticket::of_tag(tag), out);
    }

    fn advance(&mut self, now: Nanos, _progress: &[crate::flow::Progress], out: &mut Actions) {
        if self.next_call().is_some_and(|wakes| wakes <= now) {
            self.flusher.pass_began = now;
            self.flush_expired(now, out);
        }
    }

    fn next_call(&self) -> Option<Nanos> {
        // While nothing is dirty it finds nothing. A period of zero is never, as in Linux.
        let has_work = self.options.period > Nanos::ZERO && self.cache.dirty() > 0;
        (has_work && !self.flusher.is_writing).then_some(self.flusher.wakes)
    }

    fn copied_at_once(&self, _file: &FileView, _at: u64, _end: u64) -> Bytes {
        self.options.chunk
    }

    fn remote(&self) -> Remote {
        Remote::Chunks(self.options.chunk)
    }

    fn levels(&self) -> MemoryLevels {
        MemoryLevels {
            total: Bytes(self.cache.total()),
            anonymous: Bytes(self.cache.anonymous()),
            cached: Bytes(self.cache.cached()),
            dirty: Bytes(self.cache.dirty()),
            kernel: None,
        }
    }

    fn residency(&self, file: FileId) -> FileLevels {
        let Some(file) = self.files.number(file) else {
            return FileLevels::default();
        };
        let [cached, dirty, active] =
            [self.cache.of_file(file), self.cache.dirty_of_file(file), self.cache.active_of_file(file)];
        FileLevels { cached: Bytes(cached), dirty: Bytes(dirty), active: Bytes(active) }
    }

    fn block_count(&self) -> usize {
        self.cache.block_count()
    }

    fn blocks(&self) -> Vec<ListedBlock> {
        let mut all = Vec::with_capacity(self.cache.block_count());
        let listed = |list, block: Block| ListedBlock {
            list,
            file: self.files.id(block.file),
            bytes: Bytes(block.size),
            dirty: block.dirty,
            accessed: block.accessed,
            dirtied: block.dirtied,
        };
        for (list, blocks) in ["inactive", "active"].into_iter().zip(self.cache.blocks()) {
            all.extend(blocks.into_iter().map(|block| listed(list, block)));
        }
        all
    }
}

#[cfg(test)]
mod tests;
