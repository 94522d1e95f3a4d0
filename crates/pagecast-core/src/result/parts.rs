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

    /// Scales the parts to another total; what rounding leaves goes to the largest. Nothing if all of them are zero.
    #[must_use]
    pub fn scaled_to(&self, time: Nanos) -> Self {
        let total = self.total();
        if total == time || total == Nanos::ZERO {
            return *self;
        }
        let scale =
            |part: Nanos| Nanos((u128::from(part.0) * u128::from(time.0) / u128::from(total.0)) as u64);
        let mut scaled = Self(self.0.map(scale));
        let largest = (0..self.0.len()).max_by_key(|&at| (self.0[at], std::cmp::Reverse(at))).unwrap_or(0);
        scaled.0[largest] += time - scaled.total();
        scaled
    }

    /// The time of one part.
    #[must_use]
    pub fn get(&self, part: Part) -> Nanos {
        self.0[part as usize]
    }

    /// The times of all parts, in the order of [`Part::ALL`].
    pub(super) fn times(&self) -> &[Nanos] {
        &self.0
    }

    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.0.iter().copied().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_parts_add_up_and_the_largest_has_the_rest() {
        let mut parts = Parts::of(Part::CpuCopy, Nanos(1));
        parts.add(Part::DeviceRead, Nanos(4));
        parts.add(Part::Queueing, Nanos(1));
        let scaled = parts.scaled_to(Nanos(10));
        let shares = [Part::CpuCopy, Part::DeviceRead, Part::Queueing].map(|part| scaled.get(part).0);
        assert_eq!((shares, scaled.total()), ([1, 8, 1], Nanos(10)));
        assert_eq!(parts.scaled_to(Nanos(6)), parts);
        assert_eq!(parts.scaled_to(Nanos::ZERO), Parts::default());
        assert_eq!(Parts::default().scaled_to(Nanos(7)), Parts::default());
        let long = Parts::of(Part::Sleep, Nanos::LAST).scaled_to(Nanos(3));
        assert_eq!(long, Parts::of(Part::Sleep, Nanos(3)));
    }
}
