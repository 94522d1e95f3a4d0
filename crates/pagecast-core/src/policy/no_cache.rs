//! Answers without a page cache: every read and write takes size / bandwidth, shared fairly. A rival.
//!
//! Source: SimGrid's disks, and WRENCH without its page cache. Left out: memory.

use super::{Actions, Call, FileId, Outcome, Policy, Request};
use crate::flow::{Completion, FlowSpec, Path};
use crate::result::{FileLevels, MemoryLevels};
use crate::units::{Bytes, Nanos};

/// A host without a page cache; see the module.
#[derive(Default)]
pub struct NoCache {
    memory: Bytes,
    anonymous: Bytes,
}

impl NoCache {
    /// A host with this much memory, of which only anonymous memory is counted.
    #[must_use]
    pub fn new(memory: Bytes) -> Self {
        Self { memory, anonymous: Bytes::ZERO }
    }

    fn transfer(path: Path, bytes: Bytes, request: &Request, out: &mut Actions) {
        if bytes == Bytes::ZERO {
            out.done(request.operation, Outcome::default());
        } else {
            out.start(FlowSpec::new(path, bytes.0, u64::from(request.operation.0)));
        }
    }
}

impl Policy for NoCache {
    fn begin(&mut self, _now: Nanos, request: &Request, out: &mut Actions) {
        match request.call {
            Call::Read { file, bytes, fresh, .. } | Call::ReadDirect { file, bytes, fresh, .. } => {
                if fresh {
                    self.anonymous += bytes;
                }
                return Self::transfer(file.read, bytes, request, out);
            }
            Call::Mapped { file, bytes, writes: false, .. } => {
                return Self::transfer(file.read, bytes, request, out);
            }
            Call::Write { file, bytes, .. }
            | Call::WriteDirect { file, bytes, .. }
            | Call::WriteSync { file, bytes, .. }
            | Call::Mapped { file, bytes, writes: true, .. } => {
                return Self::transfer(file.write, bytes, request, out);
            }
            Call::Allocate { bytes, .. } => self.anonymous += bytes,
            Call::Free { bytes, .. } => self.anonymous -= bytes,
            Call::Insert { .. }
            | Call::Serve { .. }
            | Call::Preload { .. }
            | Call::Fsync { .. }
            | Call::FsyncRange { .. }
            | Call::Sync
            | Call::SyncFs { .. }
            | Call::SyncRange { .. }
            | Call::Truncate { .. }
            | Call::Unlink { .. }
            | Call::Name { .. }
            | Call::Open { .. }
            | Call::Close { .. }
            | Call::Advise { .. }
            | Call::DropCaches => {}
        }
        out.done(request.operation, Outcome::default());
    }

    fn completed(&mut self, _now: Nanos, done: &Completion, out: &mut Actions) {
        let operation = super::OperationId(done.tag as u32);
        let outcome = Outcome { parts: done.parts, from_device: Bytes(done.bytes), ..Outcome::default() };
        out.done(operation, outcome);
    }

    fn levels(&self) -> MemoryLevels {
        MemoryLevels { total: self.memory, anonymous: self.anonymous, ..MemoryLevels::default() }
    }

    fn residency(&self, _file: FileId) -> FileLevels {
        FileLevels::default()
    }
}
