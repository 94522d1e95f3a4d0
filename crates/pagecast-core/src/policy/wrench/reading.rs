//! Algorithm 2: reading a chunk.

use super::flushing::Then;
use super::{Stage, Wrench};
use crate::flow::FlowSpec;
use crate::policy::{Actions, FileView, OperationId};
use crate::units::{Bytes, Nanos};

impl Wrench {
    /// Algorithm 2: uncached data first, then the inactive, then the active list.
    pub(super) fn read_chunk(
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

    pub(super) fn read_from_device(
        &mut self,
        now: Nanos,
        operation: OperationId,
        missing: u64,
        out: &mut Actions,
    ) {
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

    pub(super) fn read_from_cache(
        &mut self,
        now: Nanos,
        operation: OperationId,
        bytes: u64,
        out: &mut Actions,
    ) {
        let path = self.memory_read;
        let running = self.running(operation);
        running.stage = Stage::Chunk { rest: 0 };
        let file = running.file.id;
        if bytes == 0 {
            return self.end_chunk(now, operation, out);
        }
        // Others may have evicted some of it during a forced flush; the reader gets all its bytes all the same.
        self.cache.read(file, bytes, now);
        self.cache.balance();
        out.start(FlowSpec::new(path, bytes, u64::from(operation.0)));
    }
}
