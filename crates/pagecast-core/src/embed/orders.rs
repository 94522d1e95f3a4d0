//! Defines the messages between a page cache and the simulator around it.

use crate::policy::{DeviceId, Outcome};

/// Somebody who does one operation at a time: a process or thread. The kernel's rules throttle each on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// Bytes on their way from or to a device. Numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId(pub u64);

/// How fast a transfer goes from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Which.
    pub transfer: TransferId,
    /// Bytes per second, 0 or more.
    pub bytes_per_s: f64,
}

/// A step for the other simulator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Start a transfer.
    Start {
        /// Under this number it is reported.
        transfer: TransferId,
        /// Index into [`super::PageCache::devices`].
        device: DeviceId,
        /// The direction.
        direction: Direction,
        /// How many bytes; more than 0.
        bytes: u64,
        /// Its share against others of the device; 1 is usual.
        weight: f64,
        /// It never goes faster than this, in bytes per second; 0 is not at all for now.
        limit: Option<f64>,
    },
    /// From now on a transfer goes no faster than this.
    Limit {
        /// Which.
        transfer: TransferId,
        /// Bytes per second; 0 is not at all for now.
        limit: Option<f64>,
    },
    /// A transfer is complete when so many of its bytes have moved; if they have already, it is complete now.
    Shorten {
        /// Which.
        transfer: TransferId,
        /// How many bytes it has in all.
        bytes: u64,
    },
    /// End a transfer. It is not reported any more.
    Cancel {
        /// Which.
        transfer: TransferId,
    },
    /// The operation of a task is over, and the task may begin another one.
    Done {
        /// Whose.
        task: TaskId,
        /// Where its time went.
        outcome: Outcome,
    },
}

/// The direction of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the device.
    Read,
    /// To the device.
    Write,
}
