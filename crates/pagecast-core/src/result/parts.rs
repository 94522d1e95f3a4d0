//! Holds the parts of an operation's time.

use crate::units::Nanos;

/// The parts to which moments of an operation are charged. Every moment belongs to exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Part {
    /// Copying between the program and the page cache.
    CpuCopy,
    /// Getting pages for the copy.
    PageAllocation,
    /// Reading from a device of this host.
    DeviceRead,
    /// Writing to a device of this host.
    DeviceWrite,
    /// Waiting for a device's queue.
    Queueing,
    /// A writer held back because there are too many dirty pages.
    Throttled,
    /// Making room in memory.
    Reclaim,
    /// Waiting for a journal.
    Journal,
    /// A link that is the narrowest place.
    Network,
    /// The other host's device or memory.
    Server,
    /// Computing.
    Compute,
    /// Sleeping.
    Sleep,
    /// Waiting for another process.
    Wait,
}

impl Part {
    /// All parts, in the order of the columns.
    pub const ALL: [Self; 13] = [
        Self::CpuCopy,
        Self::PageAllocation,
        Self::DeviceRead,
        Self::DeviceWrite,
        Self::Queueing,
        Self::Throttled,
        Self::Reclaim,
        Self::Journal,
        Self::Network,
        Self::Server,
        Self::Compute,
        Self::Sleep,
        Self::Wait,
    ];

    /// The name of the part in every table, without its unit.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuCopy => "cpu_copy",
            Self::PageAllocation => "page_allocation",
            Self::DeviceRead => "device_read",
            Self::DeviceWrite => "device_write",
            Self::Queueing => "queueing",
            Self::Throttled => "throttled",
            Self::Reclaim => "reclaim",
            Self::Journal => "journal",
            Self::Network => "network",
            Self::Server => "server",
            Self::Compute => "compute",
            Self::Sleep => "sleep",
            Self::Wait => "wait",
        }
    }
}

/// The time of each part of one operation; they add up to its duration exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts([Nanos; Part::ALL.len()]);

impl Parts {
    /// Charges all of `time` to one part.
    #[must_use]
    pub fn of(part: Part, time: Nanos) -> Self {
        let mut parts = Self::default();
        parts.add(part, time);
        parts
    }

    /// Adds `time` to `part`.
    pub fn add(&mut self, part: Part, time: Nanos) {
        self.0[part as usize] += time;
    }

    /// Charges `time` of one part, which has as much, to another.
    pub fn shift(&mut self, from: Part, to: Part, time: Nanos) {
        self.0[from as usize] -= time;
        self.0[to as usize] += time;
    }

    /// Adds all parts of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// The time of one part.
    #[must_use]
    pub fn get(&self, part: Part) -> Nanos {
        self.0[part as usize]
    }

    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.0.iter().copied().sum()
    }
}
