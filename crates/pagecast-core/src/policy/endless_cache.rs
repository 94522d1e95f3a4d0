//! Answers with an endless page cache: the first touch of a byte costs the device, every later one memory. A rival.
//!
//! Source: the optimist's rule of thumb. Left out: write-back, eviction and every limit.

use std::collections::BTreeMap;

use super::ranges::Ranges;
use super::{Actions, Call, FileId, FileView, OperationId, Outcome, Policy, Request};
use crate::flow::{Completion, FlowSpec, Path};
use crate::result::{FileLevels, MemoryLevels};
use crate::units::{Bytes, Nanos};
use crate::workload::Advice;

/// An endless page cache; see the module.
pub struct EndlessCache {
    memory_read: Path,
    memory_write: Path,
    memory: Bytes,
    anonymous: Bytes,
    cached: Bytes,
    touched: BTreeMap<FileId, Ranges>,
    under_way: BTreeMap<OperationId, Transfer>,
}

/// An operation whose bytes are in flight.
struct Transfer {
    outcome: Outcome,
    file: FileView,
    offset: u64,
    bytes: Bytes,
    /// The bytes to copy once the device has delivered, and the path of the copy.
    then_copy: Bytes,
    copy_path: Path,
    /// The part of the bytes that stays in the cache.
    leaves: Leaves,
}

/// The part of its bytes that an operation leaves in the cache.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    /// All of them.
    All,
    /// The bytes cached before (an O_DIRECT read, RWF_DONTCACHE).
    AsBefore,
    /// Nothing (an O_DIRECT write).
    Nothing,
}

/// Returns which bytes stay of a read or write through the cache.
fn stays(dontcache: bool) -> Leaves {
    if dontcache { Leaves::AsBefore } else { Leaves::All }
}

impl EndlessCache {
    /// An empty cache; the size of the memory is only shown, never a limit.
    #[must_use]
    pub fn new(memory: Bytes, memory_read: Path, memory_write: Path) -> Self {
        Self {
            memory_read,
            memory_write,
            memory,
            anonymous: Bytes::ZERO,
            cached: Bytes::ZERO,
            touched: BTreeMap::new(),
            under_way: BTreeMap::new(),
        }
    }

    fn touch(&mut self, file: FileId, start: u64, bytes: Bytes) {
        self.change(file, |ranges| ranges.insert(start, start + bytes.0));
    }

    fn change(&mut self, file: FileId, change: impl FnOnce(&mut Ranges) -> u64) {
        let ranges = self.touched.entry(file).or_default();
        self.cached -= Bytes(ranges.total());
        change(ranges);
        self.cached += Bytes(ranges.total());
    }

    /// Drops what is behind the new end of a file, also of transfers that are under way.
    fn cut(&mut self, file: FileId, size: Bytes) {
        self.change(file, |ranges| ranges.remove(size.0, u64::MAX));
        for transfer in self.under_way.values_mut().filter(|transfer| transfer.file.id == file) {
            let left = size.0.saturating_sub(transfer.offset);
            transfer.bytes = transfer.bytes.min(Bytes(left));
        }
    }

    fn read(
        &mut self,
        operation: OperationId,
        (file, offset, bytes): (FileView, u64, Bytes),
        leaves: Leaves,
        out: &mut Actions,
    ) {
        let present = self.touched.get(&file.id).map_or(0, |r| r.overlap(offset, offset + bytes.0));
        let transfer = Transfer {
            outcome: Outcome {
                from_cache: Bytes(present),
                from_device: bytes - Bytes(present),
                ..Outcome::default()
            },
            file,
            offset,
            bytes,
            then_copy: Bytes(present),
            copy_path: self.memory_read,
            leaves,
        };
        let missing = transfer.outcome.from_device.0;
        self.under_way.insert(operation, transfer);
        if missing > 0 {
            out.start(FlowSpec::new(file.read, missing, u64::from(operation.0)));
        } else {
            self.copy_or_finish(operation, out);
        }
    }

    fn copy_or_finish(&mut self, operation: OperationId, out: &mut Actions) {
        let transfer = self.under_way.get_mut(&operation).expect("only transfers under way go on");
        let copy = std::mem::take(&mut transfer.then_copy).0;
        if copy > 0 {
            out.start(FlowSpec::new(transfer.copy_path, copy, u64::from(operation.0)));
        } else if let Some(done) = self.under_way.remove(&operation) {
            let end = done.offset + done.bytes.0;
            match done.leaves {
                Leaves::All => self.touch(done.file.id, done.offset, done.bytes),
                Leaves::AsBefore => {}
                Leaves::Nothing => self.change(done.file.id, |ranges| ranges.remove(done.offset, end)),
            }
            out.done(operation, done.outcome);
        }
    }

    fn write(
        &mut self,
        operation: OperationId,
        (file, offset, bytes): (FileView, u64, Bytes),
        leaves: Leaves,
        out: &mut Actions,
    ) {
        let outcome = Outcome { from_cache: bytes, ..Outcome::default() };
        let copy_path = self.memory_write;
        self.under_way.insert(
            operation,
            Transfer { outcome, file, offset, bytes, then_copy: bytes, copy_path, leaves },
        );
        self.copy_or_finish(operation, out);
    }

    /// Pages of a mapping are read before they are written to, if the device has them.
    fn write_mapped(
        &mut self,
        operation: OperationId,
        (file, offset, bytes): (FileView, u64, Bytes),
        out: &mut Actions,
    ) {
        let filled = (offset + bytes.0).min(file.filled.0).max(offset);
        let present = self.touched.get(&file.id).map_or(0, |ranges| ranges.overlap(offset, filled));
        let missing = filled - offset - present;
        if missing == 0 {
            return self.write(operation, (file, offset, bytes), Leaves::All, out);
        }
        let outcome = Outcome { from_cache: bytes, ..Outcome::default() };
        let (then_copy, copy_path, leaves) = (bytes, self.memory_write, Leaves::All);
        self.under_way
            .insert(operation, Transfer { outcome, file, offset, bytes, then_copy, copy_path, leaves });
        out.start(FlowSpec::new(file.read, missing, u64::from(operation.0)));
    }

    /// Moves bytes past the cache: the device alone.
    fn direct(
        &mut self,
        operation: OperationId,
        path: Path,
        at: (FileView, u64, Bytes),
        leaves: Leaves,
        out: &mut Actions,
    ) {
        let (file, offset, bytes) = at;
        let outcome = Outcome { from_device: bytes, ..Outcome::default() };
        let (then_copy, copy_path) = (Bytes::ZERO, self.memory_read);
        self.under_way
            .insert(operation, Transfer { outcome, file, offset, bytes, then_copy, copy_path, leaves });
        if bytes > Bytes::ZERO {
            out.start(FlowSpec::new(path, bytes.0, u64::from(operation.0)));
        } else {
            self.copy_or_finish(operation, out);
        }
    }
}

impl Policy for EndlessCache {
    fn begin(&mut self, _now: Nanos, request: &Request, out: &mut Actions) {
        let operation = request.operation;
        match request.call {
            Call::Read { file, offset, bytes, fresh, dontcache, .. } => {
                if fresh {
                    self.anonymous += bytes;
                }
                return self.read(operation, (file, offset, bytes), stays(dontcache), out);
            }
            // As fsync, O_SYNC takes no time: nothing is ever written back.
            Call::WriteSync { file, offset, bytes, .. } => {
                return self.write(operation, (file, offset, bytes), Leaves::All, out);
            }
            Call::Write { file, offset, bytes, dontcache, .. } => {
                return self.write(operation, (file, offset, bytes), stays(dontcache), out);
            }
            Call::ReadDirect { file, offset, bytes, fresh, .. } => {
                if fresh {
                    self.anonymous += bytes;
                }
                return self.direct(operation, file.read, (file, offset, bytes), Leaves::AsBefore, out);
            }
            Call::WriteDirect { file, offset, bytes, .. } => {
                return self.direct(operation, file.write, (file, offset, bytes), Leaves::Nothing, out);
            }
            Call::Mapped { file, offset, bytes, writes: false, .. } => {
                return self.read(operation, (file, offset, bytes), Leaves::All, out);
            }
            Call::Mapped { file, offset, bytes, writes: true, .. } => {
                return self.write_mapped(operation, (file, offset, bytes), out);
            }
            Call::Preload { file, bytes, .. } => self.touch(file.id, 0, bytes),
            Call::Insert { .. } | Call::Serve { .. } => {
                unreachable!("files of other hosts are one flow for this policy")
            }
            Call::Truncate { file, size, .. } => self.cut(file.id, size),
            Call::Unlink { file } => self.cut(file.id, Bytes::ZERO),
            Call::Name { .. } | Call::Open { .. } | Call::Close { .. } => {}
            Call::Advise { file, advice: Advice::DontNeed, offset, bytes } => {
                self.change(file.id, |ranges| ranges.remove(offset, offset.saturating_add(bytes.0)));
            }
            Call::Advise { .. } => {}
            Call::DropCaches => {
                self.touched.clear();
                self.cached = Bytes::ZERO;
            }
            Call::Allocate { bytes, .. } => self.anonymous += bytes,
            Call::Free { bytes, .. } => self.anonymous -= bytes,
            Call::Fsync { .. }
            | Call::FsyncRange { .. }
            | Call::Sync
            | Call::SyncFs { .. }
            | Call::SyncRange { .. } => {}
        }
        out.done(operation, Outcome::default());
    }

    fn completed(&mut self, _now: Nanos, done: &Completion, out: &mut Actions) {
        let operation = OperationId(done.tag as u32);
        let transfer = self.under_way.get_mut(&operation).expect("flows belong to transfers under way");
        transfer.outcome.parts.add_all(&done.parts);
        self.copy_or_finish(operation, out);
    }

    fn levels(&self) -> MemoryLevels {
        MemoryLevels {
            total: self.memory,
            anonymous: self.anonymous,
            cached: self.cached,
            ..MemoryLevels::default()
        }
    }

    fn residency(&self, file: FileId) -> FileLevels {
        let cached = Bytes(self.touched.get(&file).map_or(0, Ranges::total));
        FileLevels { cached, ..FileLevels::default() }
    }
}
