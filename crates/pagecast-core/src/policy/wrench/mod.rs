//! The data-block model of the WRENCH-cache paper.
//!
//! Source: Do et al., *Modeling the Linux Page Cache for Accurate Simulation of Data-Intensive Applications*, CLUSTER
//! 2021, Algorithms 1 to 3, and what the authors' published outputs show where the text is silent; the differences are
//! listed in `docs/concepts/wrench.md`. Reads and writes go chunk by chunk through two lists of data blocks. State
//! changes when a transfer is asked for, as published. Left out, as published: read-ahead, the background threshold,
//! throttling before the dirty limit, offsets in files, the cost of a call.

mod cache;
mod flushing;
mod lists;
mod options;
mod reading;
mod writing;

use rustc_hash::FxHashMap;

use self::cache::Cache;
use self::flushing::{FLUSHER, Flush, Flusher, Then};
use self::lists::Block;
pub use self::options::{Vintage, WrenchOptions};
use super::{
    Actions, Call, DeviceId, FileId, FileView, ListedBlock, OperationId, Outcome, Policy, Remote, Request,
};
use crate::flow::{Completion, FlowSpec, Path};
use crate::result::{MemoryLevels, Part, Parts};
use crate::units::{Bytes, Nanos};

/// See the module.
pub struct Wrench {
    options: WrenchOptions,
    cache: Cache,
    memory_read: Path,
    memory_write: Path,
    /// What each device's write-back crosses, as learned from the files on it.
    devices: FxHashMap<DeviceId, Path>,
    on_device: FxHashMap<FileId, DeviceId>,
    operations: FxHashMap<OperationId, Running>,
    flusher: Flusher,
    /// Scratch of `flush_list`, kept for its memory.
    by_device: Vec<(DeviceId, u64)>,
}

/// A read, write or fsync under way.
struct Running {
    kind: Kind,
    file: FileView,
    /// Where the next chunk begins, and how much is still to come with it.
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
    Insert,
    Fsync,
}

/// What an operation waits for.
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
            devices: FxHashMap::default(),
            on_device: FxHashMap::default(),
            operations: FxHashMap::default(),
            flusher: Flusher {
                pass_began: Nanos::ZERO,
                active: false,
                is_writing: false,
                wakes: Nanos::ZERO,
            },
            by_device: Vec::new(),
        }
    }

    fn learn(&mut self, file: &FileView) {
        self.devices.entry(file.device).or_insert(file.write);
        self.on_device.insert(file.id, file.device);
    }

    fn start(&mut self, now: Nanos, request: &Request, kind: Kind, file: FileView, at: (u64, Bytes)) {
        self.learn(&file);
        let stage = Stage::Chunk { rest: 0 };
        let (offset, left) = (at.0, at.1.0);
        let running = Running { kind, file, offset, left, stage, since: now, outcome: Outcome::default() };
        self.operations.insert(request.operation, running);
    }

    fn preload(&mut self, now: Nanos, file: &FileView, bytes: Bytes) {
        self.learn(file);
        let chunk_size = self.options.chunk.0;
        for before in (0..bytes.0).step_by(chunk_size as usize) {
            self.cache.add_clean(file.id, chunk_size.min(bytes.0 - before), now);
        }
    }

    fn running(&mut self, operation: OperationId) -> &mut Running {
        self.operations.get_mut(&operation).expect("transfers belong to operations under way")
    }

    /// Begins the next chunk, or ends the operation.
    fn next_chunk(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        let chunk_size = self.options.chunk.0;
        let running = self.running(operation);
        let (file, chunk) = (running.file, running.left.min(chunk_size));
        if chunk == 0 {
            if let Some(done) = self.operations.remove(&operation) {
                out.done(operation, done.outcome);
            }
            return;
        }
        match running.kind {
            Kind::Read { .. } => self.read_chunk(now, operation, file, chunk, out),
            Kind::Write | Kind::Insert => self.write_chunk(now, operation, chunk, out),
            Kind::WriteThrough => {
                running.stage = Stage::Chunk { rest: 0 };
                running.outcome.from_device += Bytes(chunk);
                out.start(FlowSpec::new(file.write, chunk, u64::from(operation.0)));
            }
            Kind::Fsync => {
                let amount = u64::MAX;
                self.flush(now, operation, Some(file.id), amount, Then::End, out);
            }
        }
    }

    fn end_chunk(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        let chunk_size = self.options.chunk.0;
        let running = self.running(operation);
        let chunk = running.left.min(chunk_size);
        let (kind, file) = (running.kind, running.file.id);
        running.left -= chunk;
        running.offset += chunk;
        if kind == (Kind::Read { fresh: true }) {
            self.cache.take_anonymous(chunk);
        }
        match kind {
            // As in the authors' simulator, whoever has something to do at this instant does it before the next chunk.
            Kind::Read { .. } | Kind::Write => out.give_way(u64::from(operation.0)),
            Kind::WriteThrough => {
                self.keep_written(now, operation, file, chunk, out);
                self.next_chunk(now, operation, out);
            }
            Kind::Insert | Kind::Fsync => self.next_chunk(now, operation, out),
        }
    }

    /// Charges the time since the last stage to a part, or to those of the transfer that has just ended.
    fn charge(&mut self, now: Nanos, operation: OperationId, transfer: &Parts) {
        let running = self.running(operation);
        let elapsed = now - running.since;
        running.since = now;
        match (running.stage, running.kind) {
            (Stage::Flush(_), Kind::Read { .. }) => running.outcome.parts.add(Part::Reclaim, elapsed),
            (Stage::Flush(_), Kind::Write) => running.outcome.parts.add(Part::Throttled, elapsed),
            (Stage::Flush(_), _) => running.outcome.parts.add(Part::DeviceWrite, elapsed),
            _ => running.outcome.parts.add_all(transfer),
        }
    }
}

impl Policy for Wrench {
    fn begin(&mut self, now: Nanos, request: &Request, out: &mut Actions) {
        let operation = request.operation;
        match request.call {
            Call::Read { file, offset, bytes, fresh } => {
                self.start(now, request, Kind::Read { fresh }, file, (offset, bytes));
                return self.next_chunk(now, operation, out);
            }
            Call::Serve { file, offset, bytes } => {
                // As published: the memory that the server reads into is never given back.
                self.start(now, request, Kind::Read { fresh: true }, file, (offset, bytes));
                return self.next_chunk(now, operation, out);
            }
            Call::Write { file, offset, bytes, through } => {
                let kind = if through { Kind::WriteThrough } else { Kind::Write };
                self.start(now, request, kind, file, (offset, bytes));
                return self.next_chunk(now, operation, out);
            }
            Call::Fsync { file } => {
                self.start(now, request, Kind::Fsync, file, (0, Bytes(1)));
                return self.next_chunk(now, operation, out);
            }
            Call::Insert { file, offset, bytes } => {
                self.start(now, request, Kind::Insert, file, (offset, bytes));
                return self.next_chunk(now, operation, out);
            }
            Call::Preload { file, bytes } => self.preload(now, &file, bytes),
            Call::Truncate { file, size } => self.cache.discard_beyond(file.id, size.0),
            Call::DontNeed { file } => self.cache.drop_clean(Some(file.id)),
            Call::DropCaches => self.cache.drop_clean(None),
            Call::Allocate { bytes } => {
                self.evict(self.cache.lacking(bytes.0), None, out);
                self.cache.take_anonymous(bytes.0);
            }
            Call::Free { bytes } => self.cache.give_anonymous(bytes.0),
        }
        out.done(operation, Outcome::default());
    }

    fn completed(&mut self, now: Nanos, done: &Completion, out: &mut Actions) {
        if done.tag == FLUSHER {
            self.flusher.is_writing = false;
            self.cache.flushed_expired();
            return self.flush_expired(now, out);
        }
        let operation = OperationId(done.tag as u32);
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
        self.next_chunk(now, OperationId(tag as u32), out);
    }

    fn advance(&mut self, now: Nanos, _progress: &[crate::flow::Progress], out: &mut Actions) {
        if !self.flusher.is_writing && self.flusher.wakes <= now {
            self.flusher.pass_began = now;
            self.flush_expired(now, out);
        }
    }

    fn next_call(&self) -> Option<Nanos> {
        (!self.flusher.is_writing).then_some(self.flusher.wakes)
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
        }
    }

    fn residency(&self, file: FileId) -> (Bytes, Bytes) {
        (Bytes(self.cache.of_file(file)), Bytes(self.cache.dirty_of_file(file)))
    }

    fn block_count(&self) -> usize {
        self.cache.block_count()
    }

    fn blocks(&self) -> Vec<ListedBlock> {
        let lists = ["inactive", "active"].into_iter().zip(self.cache.blocks());
        let listed = |list, block: Block| ListedBlock {
            list,
            file: block.file,
            bytes: Bytes(block.size),
            dirty: block.dirty,
            accessed: block.accessed,
            dirtied: block.dirtied,
        };
        lists.flat_map(|(list, blocks)| blocks.into_iter().map(move |block| listed(list, block))).collect()
    }
}
