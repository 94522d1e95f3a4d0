//! Adds to the paper reads and writes past the cache (O_DIRECT), and `sync`.
//!
//! Files have no offsets in this model. So all dirty blocks of the file are flushed before a chunk goes past the cache. A written chunk
//! takes as much of the file out of the cache as its bytes replace.

use super::files::HostFile;
use super::flushing::Then;
use super::{Kind, Running, Stage, Ticket, Wrench};
use crate::flow::FlowSpec;
use crate::policy::{Actions, FileView, OperationId, Outcome};
use crate::units::{Bytes, Nanos};

impl Wrench {
    /// Moves a chunk past the cache when nothing of its file is dirty any more.
    pub(super) fn bypass_chunk(&mut self, now: Nanos, operation: Ticket, chunk: u64, out: &mut Actions) {
        let file = self.running(operation).file;
        self.flush(now, operation, Some(file), u64::MAX, Then::Bypass { chunk }, out);
    }

    /// Lets the device read or write a chunk.
    pub(super) fn bypass(&mut self, operation: Ticket, chunk: u64, out: &mut Actions) {
        let running = self.running(operation);
        let path = if running.kind == Kind::WriteDirect { running.view.write } else { running.view.read };
        running.stage = Stage::Chunk { rest: 0 };
        running.outcome.from_device += Bytes(chunk);
        out.start(FlowSpec::new(path, chunk, operation.tag()));
    }

    /// Ends a chunk that the device has read or written.
    pub(super) fn end_bypassed(&mut self, now: Nanos, operation: Ticket, chunk: u64, out: &mut Actions) {
        let running = self.running(operation);
        let file = running.file;
        match running.kind {
            Kind::WriteDirect => {
                running.view.size = running.view.size.max(Bytes(running.offset));
                let size = running.view.size.0;
                self.cache.discard_beyond(file, size - chunk);
            }
            Kind::ReadDirect { fresh: true } => {
                self.evict(self.cache.lacking(chunk), None, out);
                self.cache.take_anonymous(chunk);
            }
            _ => {}
        }
        self.next_chunk(now, operation, out);
    }

    /// Flushes all dirty blocks.
    pub(super) fn sync(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        // About no file in particular; one byte makes it one chunk.
        let running = Running {
            kind: Kind::Sync,
            file: HostFile(0),
            view: FileView::default(),
            offset: 0,
            left: 1,
            stage: Stage::Chunk { rest: 0 },
            since: now,
            outcome: Outcome::default(),
        };
        self.run(now, operation, running, out);
    }
}
