//! Keeps the record of an operation that has ended, and derives from it the origin of its bytes and the parts of its time.

use pagecast_core::result::{Part, Parts};
use pagecast_core::stdio::LibraryCall;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, MappedCall, OpenFlags};

use crate::io::Io;

/// One operation that has ended. Small, as there may be millions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub offset: u64,
    pub bytes: u64,
    /// The flags of the open file.
    pub flags: OpenFlags,
    pub start: Nanos,
    pub end: Nanos,
    /// How much of it waited for the time of the next call.
    pub slept: Nanos,
    pub used: Used,
}

/// The resources used by a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Bytes that the page cache served or took, and bytes that a device did before the operation ended.
    pub fn served(&self, action: &Action) -> (u64, u64) {
        let from_device = match action {
            Action::Read { .. } if self.flags.is_direct() => self.bytes,
            // Read-ahead fetches more than was asked for; what it fetched for later reads then comes from the cache.
            Action::Read { .. } | Action::Stream { call: LibraryCall::Read { .. }, .. } => {
                self.used.device_read.0.min(self.bytes)
            }
            Action::Pattern(_) if self.goes_past_cache() => self.bytes,
            Action::Pattern(pattern) if pattern.write_share < 1.0 => self.used.device_read.0.min(self.bytes),
            Action::Pattern(_) => 0,
            // Of what is copied, those bytes that were read.
            Action::Copy { .. } => self.used.device_read.0.min(self.bytes),
            // What of it the library has kept is not known.
            Action::Stream { call: LibraryCall::Write { .. }, .. } => 0,
            Action::Mapped { call: MappedCall::Read { .. }, .. } => self.used.device_read.0.min(self.bytes),
            Action::Mapped { call: MappedCall::Write { .. }, .. } => 0,
            Action::Write { .. } if self.goes_past_cache() => self.bytes,
            Action::Write { .. } => 0,
            _ => return (0, 0),
        };
        (self.bytes - from_device, from_device)
    }

    /// The duration in two: the time on a processor or in the queue for one, and the time asleep. The second is called what this
    /// operation sleeps for in the kernel.
    pub fn parts(&self, action: &Action) -> Parts {
        let (on, off) = match action {
            Action::Read { .. } => (Part::CpuCopy, Part::DeviceRead),
            Action::Write { .. } if self.goes_past_cache() => (Part::CpuCopy, Part::DeviceWrite),
            Action::Write { .. } => (Part::CpuCopy, Part::Throttled),
            Action::Pattern(pattern) => match pattern.write_share {
                1.0 if self.goes_past_cache() => (Part::CpuCopy, Part::DeviceWrite),
                1.0 => (Part::CpuCopy, Part::Throttled),
                _ => (Part::CpuCopy, Part::DeviceRead),
            },
            // It sleeps for its source, or for leave to write.
            Action::Copy { .. } if self.used.device_read > Bytes::ZERO => (Part::CpuCopy, Part::DeviceRead),
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
            Action::Mapped { call: MappedCall::Write { .. }, .. } if self.used.device_read == Bytes::ZERO => {
                (Part::CpuCopy, Part::Throttled)
            }
            Action::Mapped { call: MappedCall::Sync { .. }, .. } => (Part::DeviceWrite, Part::DeviceWrite),
            Action::Mapped { call: MappedCall::Read { .. }, .. } => (Part::CpuCopy, Part::DeviceRead),
            Action::Allocate { .. } => (Part::PageAllocation, Part::Reclaim),
            Action::Compute { .. } => (Part::Compute, Part::Compute),
            Action::Sleep { .. } => (Part::Sleep, Part::Sleep),
            Action::Wait { .. } | Action::Signal { .. } => (Part::Wait, Part::Wait),
            _ => (Part::CpuCopy, Part::DeviceWrite),
        };
        let duration = self.end - self.start;
        let slept = self.slept.min(duration);
        let used = (self.used.processor + self.used.run_queue).min(duration - slept);
        let mut parts = Parts::of(on, used);
        parts.add(Part::Sleep, slept);
        parts.add(off, duration - slept - used);
        parts
    }

    fn goes_past_cache(&self) -> bool {
        self.flags.is_direct() || self.flags.is_synchronous()
    }
}
