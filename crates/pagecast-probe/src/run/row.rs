//! Keeps the record of an operation that has ended, and derives from it the origin of its bytes and the parts of its time.

use pagecast_core::result::{Part, Parts};
use pagecast_core::stdio::LibraryCall;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, MappedCall, OpenFlags};

use super::calls::call_bytes;
use crate::io::Io;

/// One operation that has ended. Small, as there may be millions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The number of the operation in its process.
    pub index: u32,
    pub operation: &'static str,
    /// The number of its file.
    pub file: u32,
    pub offset: u64,
    pub bytes: u64,
    /// The bytes of a read(2), write(2), or call of a library that it is made of; 0 of one that moves nothing.
    pub call: u64,
    pub start: Nanos,
    pub end: Nanos,
    /// How much of it waited for the time of the next call.
    pub slept: Nanos,
    pub used: Used,
    /// Bytes that the page cache served or took, and bytes that a device did before the operation ended.
    pub from_cache: u64,
    pub from_device: u64,
    /// What its time on a processor is called, and its other time.
    kinds: (Part, Part),
}

/// What an operation did, when it has ended.
#[derive(Clone, Copy, Default)]
pub(super) struct Done {
    pub offset: u64,
    pub bytes: u64,
    /// The flags of the open file.
    pub flags: OpenFlags,
    /// How much of it waited for the time of the next call.
    pub slept: Nanos,
    /// What devices have read for other threads of it.
    pub device_read: Bytes,
}

/// The resources used by a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    /// Time on a processor.
    pub processor: Nanos,
    /// Time in the run queue: it was ready, and others had the processors.
    pub run_queue: Nanos,
    /// The bytes read from devices for it.
    pub device_read: Bytes,
}

impl Used {
    pub(super) fn now<I: Io>(io: &I) -> Self {
        Self { processor: io.processor_time(), run_queue: io.processor_wait(), device_read: io.device_read() }
    }

    pub(super) fn since(self, before: Self) -> Self {
        Self {
            processor: self.processor.saturating_sub(before.processor),
            run_queue: self.run_queue.saturating_sub(before.run_queue),
            device_read: self.device_read.saturating_sub(before.device_read),
        }
    }
}

impl Row {
    /// The row of an operation, by its number and that of its file, between two times.
    pub fn new(
        action: &Action,
        (index, file): (u32, u32),
        done: &Done,
        (start, end): (Nanos, Nanos),
        mut used: Used,
    ) -> Self {
        used.device_read += done.device_read;
        let has_calls = matches!(
            action,
            Action::Read { .. } | Action::Write { .. } | Action::Copy { .. } | Action::Stream { .. }
        );
        let whole = if has_calls { done.bytes } else { 0 };
        let (from_cache, from_device) = served(action, done, used);
        Self {
            index,
            operation: action.name(),
            file,
            offset: done.offset,
            bytes: done.bytes,
            call: call_bytes(action).map_or(whole, |call| call.min(whole)),
            start,
            end,
            slept: done.slept,
            used,
            from_cache,
            from_device,
            kinds: kinds(action, done, used),
        }
    }

    /// The duration in two: the time on a processor or in the queue for one, and the time asleep. The second is called what this
    /// operation sleeps for in the kernel.
    pub fn parts(&self) -> Parts {
        let (on, off) = self.kinds;
        let duration = self.end - self.start;
        let slept = self.slept.min(duration);
        let used = (self.used.processor + self.used.run_queue).min(duration - slept);
        let mut parts = Parts::of(on, used);
        parts.add(Part::Sleep, slept);
        parts.add(off, duration - slept - used);
        parts
    }
}

/// Bytes that the page cache served or took, and bytes that a device did before the operation ended.
fn served(action: &Action, done: &Done, used: Used) -> (u64, u64) {
    let from_device = match action {
        Action::Read { .. } if done.flags.is_direct() => done.bytes,
        // Read-ahead fetches more than was asked for; what it fetched for later reads then comes from the cache.
        Action::Read { .. } | Action::Stream { call: LibraryCall::Read { .. }, .. } => {
            used.device_read.0.min(done.bytes)
        }
        Action::Pattern(_) if goes_past_cache(done) => done.bytes,
        Action::Pattern(pattern) if pattern.write_share < 1.0 => used.device_read.0.min(done.bytes),
        Action::Pattern(_) => 0,
        // Of what is copied, those bytes that were read.
        Action::Copy { .. } => used.device_read.0.min(done.bytes),
        // What of it the library has kept is not known.
        Action::Stream { call: LibraryCall::Write { .. }, .. } => 0,
        Action::Mapped { call: MappedCall::Read { .. }, .. } => used.device_read.0.min(done.bytes),
        Action::Mapped { call: MappedCall::Write { .. }, .. } => 0,
        Action::Write { .. } if goes_past_cache(done) => done.bytes,
        Action::Write { .. } => 0,
        _ => return (0, 0),
    };
    (done.bytes - from_device, from_device)
}

/// What the time of an operation on a processor is called, and the time for which it slept.
fn kinds(action: &Action, done: &Done, used: Used) -> (Part, Part) {
    match action {
        Action::Read { .. } => (Part::CpuCopy, Part::DeviceRead),
        Action::Write { .. } if goes_past_cache(done) => (Part::CpuCopy, Part::DeviceWrite),
        Action::Write { .. } => (Part::CpuCopy, Part::Throttled),
        Action::Pattern(pattern) => match pattern.write_share {
            1.0 if goes_past_cache(done) => (Part::CpuCopy, Part::DeviceWrite),
            1.0 => (Part::CpuCopy, Part::Throttled),
            _ => (Part::CpuCopy, Part::DeviceRead),
        },
        // It sleeps for its source, or for leave to write.
        Action::Copy { .. } if used.device_read > Bytes::ZERO => (Part::CpuCopy, Part::DeviceRead),
        Action::Copy { .. } => (Part::CpuCopy, Part::Throttled),
        Action::Fsync { .. }
        | Action::Fdatasync { .. }
        | Action::Sync
        | Action::SyncFs { .. }
        | Action::SyncFileRange { .. } => (Part::DeviceWrite, Part::DeviceWrite),
        Action::Fadvise { .. } | Action::Readahead { .. } => (Part::CpuCopy, Part::DeviceRead),
        Action::Stream { call: LibraryCall::Read { .. } | LibraryCall::Seek { .. }, .. } => {
            (Part::CpuCopy, Part::DeviceRead)
        }
        Action::Stream { .. } => (Part::CpuCopy, Part::Throttled),
        // A page is read before it is written to.
        Action::Mapped { call: MappedCall::Write { .. }, .. } if used.device_read == Bytes::ZERO => {
            (Part::CpuCopy, Part::Throttled)
        }
        Action::Mapped { call: MappedCall::Sync { .. }, .. } => (Part::DeviceWrite, Part::DeviceWrite),
        Action::Mapped { call: MappedCall::Read { .. }, .. } => (Part::CpuCopy, Part::DeviceRead),
        Action::Allocate { .. } => (Part::PageAllocation, Part::Reclaim),
        Action::Compute { .. } => (Part::Compute, Part::Compute),
        Action::Sleep { .. } => (Part::Sleep, Part::Sleep),
        Action::Wait { .. } | Action::Signal { .. } => (Part::Wait, Part::Wait),
        _ => (Part::CpuCopy, Part::DeviceWrite),
    }
}

fn goes_past_cache(done: &Done) -> bool {
    done.flags.is_direct() || done.flags.is_synchronous()
}
