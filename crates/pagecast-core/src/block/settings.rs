//! Describes the queue of a disk (`struct queue_limits`, `/sys/block/*/queue`).

use crate::machine::Scheduler;
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// The settings of the queue of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Tags of the scheduler.
    pub nr_requests: u32,
    /// The longest request.
    pub max_sectors: Bytes,
    /// The time that a thread takes for a request before it sends the next.
    pub submission: Nanos,
    /// The same of a request for pages of the cache.
    pub page_read: Nanos,
    /// The time that a flusher takes for a page before it sends the next request.
    pub page_writeback: Nanos,
    /// True if the disk turns.
    pub is_rotational: bool,
    /// The most bytes per second that it moves.
    pub peak_rate: BytesPerSecond,
}
