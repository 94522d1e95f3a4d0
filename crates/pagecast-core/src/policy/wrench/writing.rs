//! Writes a chunk: Algorithm 3. Also keeps chunks that are written through or come from another host.

use super::files::HostFile;
use super::flushing::Then;
use super::{Kind, Stage, Ticket, Vintage, Wrench};
use crate::flow::FlowSpec;
use crate::policy::Actions;
use crate::units::{Bytes, Nanos};

impl Wrench {
    /// Algorithm 3: bytes that fit under the dirty limit go to the cache at once, the rest after a flush of as much.
    pub(super) fn write_chunk(&mut self, now: Nanos, operation: Ticket, chunk: u64, out: &mut Actions) {
        let limit = (self.options.dirty_ratio * self.cache.available() as f64).floor() as u64;
        let kind = self.running(operation).kind;
        let room = match kind {
            Kind::Insert { .. } => self.cache.available(),
            _ => limit.saturating_sub(self.cache.dirty()),
        };
        let running = self.running(operation);
        let (file, old_end) = (running.file, running.view.size.0);
        let new_end = old_end.max(running.offset + chunk);
        running.view.size = Bytes(new_end);
        // Not in the paper, whose files are always new: bytes written over replace the old ones.
        self.cache.discard_beyond(file, new_end - chunk);
        if room == 0 {
            return self.flush(now, operation, None, chunk, Then::Write { rest: chunk }, out);
        }
        let cached = chunk.min(room);
        let taken = if kind == (Kind::Insert { fresh: true }) { chunk } else { 0 };
        self.evict(self.cache.lacking(cached + taken), self.never_evicted(file), out);
        self.write_to_cache(now, operation, chunk, out);
    }

    /// Puts as much of `bytes` into the cache as there is free memory.
    pub(super) fn write_to_cache(&mut self, now: Nanos, operation: Ticket, bytes: u64, out: &mut Actions) {
        let now_written = self.room_for(bytes);
        let path = self.memory_write;
        let running = self.running(operation);
        let file = running.file;
        running.stage = Stage::Chunk { rest: bytes - now_written };
        if now_written == 0 {
            // Flushing as little as is left might make no room a million times: a whole chunk then. Not in the paper.
            let chunk = self.options.chunk.0;
            return self.flush(now, operation, None, chunk, Then::Write { rest: bytes }, out);
        }
        running.outcome.from_cache += Bytes(now_written);
        match running.kind {
            Kind::Insert { .. } => self.cache.add_clean(file, now_written, now),
            _ => self.cache.add_dirty(file, now_written, now),
        }
        out.start(FlowSpec::new(path, now_written, operation.tag()));
    }

    /// Returns how much of `bytes` finds free memory. Less than a thousandth of a chunk counts as none, or a chunk could take a
    /// million rounds. Not in the paper.
    pub(super) fn room_for(&self, bytes: u64) -> u64 {
        let room = bytes.min(self.cache.free());
        if room == bytes || room >= self.options.chunk.0 / 1000 { room } else { 0 }
    }

    /// After a copy: flush for the rest of the chunk, or go on with the next.
    pub(super) fn continue_write(&mut self, now: Nanos, operation: Ticket, out: &mut Actions) {
        match self.running(operation).stage {
            Stage::Chunk { rest } if rest > 0 => {
                self.flush(now, operation, None, rest, Then::Write { rest }, out);
            }
            _ => self.end_chunk(now, operation, out),
        }
    }

    /// The file that a write does not evict.
    pub(super) fn never_evicted(&self, file: HostFile) -> Option<HostFile> {
        (self.options.vintage == Vintage::CameraReady).then_some(file)
    }

    /// Keeps a chunk that the device has in the cache, clean.
    pub(super) fn keep_written(
        &mut self,
        now: Nanos,
        operation: Ticket,
        file: HostFile,
        chunk: u64,
        out: &mut Actions,
    ) {
        let running = self.running(operation);
        running.view.size = running.view.size.max(Bytes(running.offset));
        let size = running.view.size.0;
        self.cache.discard_beyond(file, size - chunk);
        self.evict(self.cache.lacking(chunk), self.never_evicted(file), out);
        self.cache.add_clean(file, chunk, now);
    }

    /// Writes to the device when no memory is left and none can be made. The published model would loop for ever.
    pub(super) fn write_past(&mut self, now: Nanos, operation: Ticket, rest: u64, out: &mut Actions) {
        let running = self.running(operation);
        running.stage = Stage::Chunk { rest: 0 };
        if matches!(running.kind, Kind::Insert { .. }) {
            return self.end_chunk(now, operation, out);
        }
        running.outcome.from_device += Bytes(rest);
        out.start(FlowSpec::new(running.view.write, rest, operation.tag()));
    }
}
