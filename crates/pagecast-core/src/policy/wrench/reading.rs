//! Reads a chunk: Algorithm 2.

use super::flushing::Then;
use super::{Stage, Ticket, Wrench};
use crate::flow::FlowSpec;
use crate::policy::Actions;
use crate::units::{Bytes, Nanos};

impl Wrench {
    /// Algorithm 2: uncached data first, then the inactive, then the active list.
    pub(super) fn read_chunk(&mut self, now: Nanos, operation: Ticket, chunk: u64, out: &mut Actions) {
        let running = self.running(operation);
        let (file, size) = (running.file, running.view.size.0);
        let missing = chunk.min(size.saturating_sub(self.cache.of_file(file)));
        let needed = chunk + missing;
        let amount = self.cache.lacking(needed).saturating_sub(self.cache.inactive_bytes());
        self.flush(now, operation, Some(file), amount, Then::Read { missing }, out);
    }

    pub(super) fn read_from_device(
        &mut self,
        now: Nanos,
        operation: Ticket,
        missing: u64,
        out: &mut Actions,
    ) {
        let chunk_size = self.options.chunk.0;
        let running = self.running(operation);
        let (file, path, chunk) = (running.file, running.view.read, running.left.min(chunk_size));
        running.outcome.from_device += Bytes(missing);
        running.outcome.from_cache += Bytes(chunk - missing);
        running.stage = Stage::Device { then_copy: chunk - missing };
        let room = self.cache.lacking(chunk + missing);
        self.evict(room, Some(file), out);
        if missing == 0 {
            return self.read_from_cache(now, operation, chunk, out);
        }
        self.cache.add_clean(file, missing, now);
        self.cache.balance();
        out.start(FlowSpec::new(path, missing, operation.tag()));
    }

    pub(super) fn read_from_cache(&mut self, now: Nanos, operation: Ticket, bytes: u64, out: &mut Actions) {
        let path = self.memory_read;
        let running = self.running(operation);
        running.stage = Stage::Chunk { rest: 0 };
        let file = running.file;
        if bytes == 0 {
            return self.end_chunk(now, operation, out);
        }
        // Others may have evicted some of it during a forced flush; the reader gets all its bytes all the same.
        self.cache.read(file, bytes, now);
        self.cache.balance();
        out.start(FlowSpec::new(path, bytes, operation.tag()));
    }
}
