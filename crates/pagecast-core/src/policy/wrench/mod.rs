//! The data-block model of the WRENCH-cache paper.
//!
//! Source: Do et al., *Modeling the Linux Page Cache for Accurate Simulation of Data-Intensive Applications*, CLUSTER
//! 2021, Algorithms 1 to 3, and what the authors' published outputs show where the text is silent; the differences are
//! listed in `docs/concepts/wrench.md`. Reads and writes go chunk by chunk through two lists of data blocks. State
//! changes when a transfer is asked for, as published. Left out, as published: read-ahead, the background threshold,
//! throttling before the dirty limit, offsets in files, the cost of a call.

mod cache;
mod lists;
mod options;

use rustc_hash::FxHashMap;

use self::cache::Cache;
use self::lists::Block;
pub use self::options::{Vintage, WrenchOptions};
use super::{
    Actions, Call, DeviceId, FileId, FileView, ListedBlock, OperationId, Outcome, Policy, Remote, Request,
};
use crate::flow::{Completion, FlowSpec, Path};
use crate::result::{MemoryLevels, Part, Parts};
use crate::units::{Bytes, Nanos};

/// The tag of the periodic flush's transfers; operations use their own numbers, which are smaller.
const FLUSHER: u64 = u64::MAX;

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

/// A forced flush of an operation.
#[derive(Clone, Copy)]
struct Flush {
    /// Not to be flushed, or (fsync) the only one to be.
    file: Option<FileId>,
    /// Still to be flushed when the transfers under way have ended.
    amount: u64,
    /// Whether anything has been flushed so far.
    flushed: bool,
    /// Being written, and in how many transfers.
    sum: u64,
    transfers: u32,
    /// The list is the active one already.
    active: bool,
    /// What the operation does afterwards.
    then: Then,
}

#[derive(Clone, Copy)]
enum Then {
    /// Read a chunk of which so much comes from the device.
    Read { missing: u64 },
    /// Write so much of the chunk.
    Write { rest: u64 },
    /// Nothing more.
    End,
}

/// The periodic flush (Algorithm 1), concurrent with the operations.
struct Flusher {
    pass_began: Nanos,
    active: bool,
    /// A block is being written; otherwise it sleeps.
    is_writing: bool,
    wakes: Nanos,
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

    /// Algorithm 2: uncached data first, then the inactive, then the active list.
    fn read_chunk(
        &mut self,
        now: Nanos,
        operation: OperationId,
        file: FileView,
        chunk: u64,
        out: &mut Actions,
    ) {
        let missing = chunk.min(file.size.0.saturating_sub(self.cache.of_file(file.id)));
        let needed = chunk + missing;
        let amount = self.cache.lacking(needed).saturating_sub(self.cache.inactive_bytes());
        self.flush(now, operation, Some(file.id), amount, Then::Read { missing }, out);
    }

    fn read_from_device(&mut self, now: Nanos, operation: OperationId, missing: u64, out: &mut Actions) {
        let chunk_size = self.options.chunk.0;
        let running = self.running(operation);
        let (file, chunk) = (running.file, running.left.min(chunk_size));
        running.outcome.from_device += Bytes(missing);
        running.outcome.from_cache += Bytes(chunk - missing);
        running.stage = Stage::Device { then_copy: chunk - missing };
        let room = self.cache.lacking(chunk + missing);
        self.evict(room, Some(file.id), out);
        if missing == 0 {
            return self.read_from_cache(now, operation, chunk, out);
        }
        self.cache.add_clean(file.id, missing, now);
        self.cache.balance();
        out.start(FlowSpec::new(file.read, missing, u64::from(operation.0)));
    }

    fn read_from_cache(&mut self, now: Nanos, operation: OperationId, bytes: u64, out: &mut Actions) {
        let path = self.memory_read;
        let running = self.running(operation);
        running.stage = Stage::Chunk { rest: 0 };
        let file = running.file.id;
        // Less than asked for is there if others evicted it during a forced flush.
        let found = self.cache.read(file, bytes, now);
        self.cache.balance();
        if found == 0 {
            return self.end_chunk(now, operation, out);
        }
        out.start(FlowSpec::new(path, found, u64::from(operation.0)));
    }

    /// Algorithm 3: what fits under the dirty limit goes to the cache at once, the rest after a flush of as much.
    fn write_chunk(&mut self, now: Nanos, operation: OperationId, chunk: u64, out: &mut Actions) {
        let limit = (self.options.dirty_ratio * self.cache.available() as f64).floor() as u64;
        let room = match self.running(operation).kind {
            Kind::Insert => self.cache.available(),
            _ => limit.saturating_sub(self.cache.dirty()),
        };
        let running = self.running(operation);
        let (file, old_end) = (running.file, running.file.size.0);
        let new_end = old_end.max(running.offset + chunk);
        running.file.size = Bytes(new_end);
        // Not in the paper, whose files are always new: bytes written over replace the old ones.
        self.cache.discard_beyond(file.id, new_end - chunk);
        if room == 0 {
            return self.flush(now, operation, None, chunk, Then::Write { rest: chunk }, out);
        }
        self.evict(self.cache.lacking(chunk.min(room)), self.never_evicted(file.id), out);
        self.write_to_cache(now, operation, chunk, out);
    }

    /// Puts as much of `bytes` into the cache as there is free memory.
    fn write_to_cache(&mut self, now: Nanos, operation: OperationId, bytes: u64, out: &mut Actions) {
        let now_written = bytes.min(self.cache.free());
        let path = self.memory_write;
        let running = self.running(operation);
        let file = running.file.id;
        running.stage = Stage::Chunk { rest: bytes - now_written };
        if now_written == 0 {
            return self.continue_write(now, operation, out);
        }
        running.outcome.from_cache += Bytes(now_written);
        match running.kind {
            Kind::Insert => self.cache.add_clean(file, now_written, now),
            _ => self.cache.add_dirty(file, now_written, now),
        }
        out.start(FlowSpec::new(path, now_written, u64::from(operation.0)));
    }

    /// After a copy: flush for the rest of the chunk, or go on with the next.
    fn continue_write(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        match self.running(operation).stage {
            Stage::Chunk { rest } if rest > 0 => {
                self.flush(now, operation, None, rest, Then::Write { rest }, out);
            }
            _ => self.end_chunk(now, operation, out),
        }
    }

    /// The file that a write does not evict.
    fn never_evicted(&self, file: FileId) -> Option<FileId> {
        (self.options.vintage == Vintage::CameraReady).then_some(file)
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

    /// A chunk that the device has stays in the cache, clean.
    fn keep_written(
        &mut self,
        now: Nanos,
        operation: OperationId,
        file: FileId,
        chunk: u64,
        out: &mut Actions,
    ) {
        let running = self.running(operation);
        running.file.size = running.file.size.max(Bytes(running.offset));
        let size = running.file.size.0;
        self.cache.discard_beyond(file, size - chunk);
        self.evict(self.cache.lacking(chunk), self.never_evicted(file), out);
        self.cache.add_clean(file, chunk, now);
    }

    fn evict(&mut self, amount: u64, except: Option<FileId>, out: &mut Actions) -> u64 {
        let evicted = self.cache.evict(amount, except);
        if evicted > 0 {
            out.tell("evict", except, Bytes(evicted));
        }
        evicted
    }

    /// Begins a forced flush of `amount`; goes on with `then` at once if there is nothing to do.
    fn flush(
        &mut self,
        now: Nanos,
        operation: OperationId,
        file: Option<FileId>,
        amount: u64,
        then: Then,
        out: &mut Actions,
    ) {
        let flush = Flush { file, amount, flushed: false, sum: 0, transfers: 0, active: false, then };
        self.flush_list(now, operation, flush, out);
    }

    /// Flushes from the inactive list, then from the active one; blocks are clean from the start of the transfers on.
    fn flush_list(&mut self, now: Nanos, operation: OperationId, mut flush: Flush, out: &mut Actions) {
        let only = matches!(flush.then, Then::End);
        loop {
            let mut by_device = std::mem::take(&mut self.by_device);
            let on_device = &self.on_device;
            self.cache.flush(flush.active, flush.amount, flush.file, only, |file, bytes| {
                add_to(&mut by_device, on_device[&file], bytes);
            });
            flush.sum = by_device.iter().map(|&(_, bytes)| bytes).sum();
            flush.amount -= flush.sum;
            if flush.sum > 0 {
                flush.flushed = true;
                flush.transfers = by_device.len() as u32;
                out.tell("forced_flush", flush.file.filter(|_| only), Bytes(flush.sum));
                self.running(operation).stage = Stage::Flush(flush);
                for (device, bytes) in by_device.drain(..) {
                    out.start(FlowSpec::new(self.devices[&device], bytes, u64::from(operation.0)));
                }
            }
            self.by_device = by_device;
            if flush.sum > 0 {
                return;
            }
            if flush.active || flush.amount == 0 {
                return self.after_flush(now, operation, flush, out);
            }
            flush.active = true;
        }
    }

    fn after_flush(&mut self, now: Nanos, operation: OperationId, flush: Flush, out: &mut Actions) {
        match flush.then {
            Then::Read { missing } => self.read_from_device(now, operation, missing, out),
            Then::Write { rest } => {
                let file = self.running(operation).file.id;
                let room = self.cache.lacking(rest);
                let evicted = self.evict(room, self.never_evicted(file), out);
                if !flush.flushed && evicted == 0 && self.cache.free() == 0 {
                    return self.write_past(now, operation, rest, out);
                }
                self.write_to_cache(now, operation, rest, out);
            }
            Then::End => {
                self.running(operation).left = 0;
                self.next_chunk(now, operation, out);
            }
        }
    }

    /// No memory is left and none can be made: the bytes go to the device, where the published model would loop for ever.
    fn write_past(&mut self, now: Nanos, operation: OperationId, rest: u64, out: &mut Actions) {
        let running = self.running(operation);
        running.stage = Stage::Chunk { rest: 0 };
        if running.kind == Kind::Insert {
            return self.end_chunk(now, operation, out);
        }
        running.outcome.from_device += Bytes(rest);
        out.start(FlowSpec::new(running.file.write, rest, u64::from(operation.0)));
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

    /// The search of the periodic flush goes on: the inactive list until nothing is expired, then the active one.
    fn flush_expired(&mut self, now: Nanos, out: &mut Actions) {
        let limit = now.0.checked_sub(self.options.expiry.0).map(Nanos);
        loop {
            let expired = limit.and_then(|limit| self.cache.clean_expired(self.flusher.active, limit));
            if let Some((file, bytes)) = expired {
                self.flusher.is_writing = true;
                out.tell("periodic_flush", Some(file), Bytes(bytes));
                out.start(FlowSpec::new(self.devices[&self.on_device[&file]], bytes, FLUSHER));
                return;
            }
            if !self.flusher.active {
                self.flusher.active = true;
                continue;
            }
            self.flusher.active = false;
            let next = self.flusher.pass_began + self.options.period;
            if next > now {
                self.flusher.wakes = next;
                return;
            }
            self.flusher.pass_began = now;
        }
    }
}

/// Adds to the sum of a device; sums stay in the order of devices.
fn add_to(sums: &mut Vec<(DeviceId, u64)>, device: DeviceId, bytes: u64) {
    match sums.binary_search_by_key(&device, |&(other, _)| other) {
        Ok(at) => sums[at].1 += bytes,
        Err(at) => sums.insert(at, (device, bytes)),
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
