//! Sets the steps at which extents and rates stand for pages and pauses: each is coarser than the kernel's, with its reason and its error.
//!
//! These are ours. The kernel's own constants stand beside its rules.

use crate::units::{Bytes, Nanos};

/// Cached bytes are looked up again after so many: they may have been cleaned meanwhile. A writer that comes to pages cleaned since then
/// goes on as if they were dirty, for 256 MiB at most. It counts that much too little as newly dirty.
pub const MOST_RUN: u64 = 256 << 20;

/// Two looks at the same level, found at different times by the same rate, are no farther apart.
pub const ROUNDING: Nanos = Nanos(1_000);

/// The least length of a run behind a reader: two tasks on a file would go byte by byte otherwise. The first task at a page may be taken
/// for the second within 64 KiB.
pub const LEAST_RUN: u64 = 64 << 10;

/// A write to a disk with stable pages looks again after so many bytes. It may wait for 1 MiB too much or too little.
pub const STABLE_RUN: u64 = 1 << 20;

/// A follower goes on when so many bytes have come. It is later than the kernel's by the device's time for them.
pub const FOLLOW_STRIDE: u64 = 16 << 20;

/// The most cached bytes that are read at once for a copy to another file: milliseconds, while pauses and estimates take 200.
pub const CACHED_AT_ONCE: u64 = 16 << 20;

/// The pages of bytes that have moved are found after this at the latest. Refault storms begin and end with this precision.
pub const SETTLE_AFTER: Nanos = Nanos(5_000_000_000);

/// A smaller change of a rate is ignored: rates have this precision.
pub const LEAST_CHANGE: f64 = 0.005;

/// A rate of at least this part of its cap counts as held back by it.
pub const AT_CAP: f64 = 0.99;

/// With more tasks, all of them are looked at only with the first event of an instant and after the last one. This changes no result but
/// the order of events at one instant.
pub const MANY_TASKS: usize = 64;

/// Levels are looked at no more often than this, a tenth of a pause: a threshold is noticed a millisecond late at most.
pub const LEAST_STEP: f64 = 1e-3;

/// No more than this part of the memory is taken between two looks: a fast copy would take more than there is.
pub const TAKEN_PER_LOOK: u64 = 16;

/// The steps between the free run and the hard limit, at each of which the rate of writers is set again. The dirty level behind a rate is
/// up to a 64th of the way off.
pub const THROTTLE_STEPS: f64 = 64.0;

/// A throttled writer takes the pauses of an operation of up to so many bytes one by one; a longer one goes on at the rate that they amount to. At
/// 100 MiB/s a pause comes after 800 KiB or more, so that the end of a longer operation is wrong by a fifth of its time at most.
pub const PAUSES_ONE_BY_ONE: u64 = 4 << 20;

/// The number of steps into which an operation with synchronous or direct calls is split, about. The device serves the calls of a step
/// together.
const SYNC_STEPS: u64 = 256;

/// A growing extent is lengthened while less than this part of the memory has come into its list since. The order of pages in a list has
/// this precision.
pub const EXTENT_PART: u64 = 256;

/// The most bytes whose pages are not yet known, as a part of memory, while there is memory to spare.
pub const PENDING_PART: u64 = 256;

/// The least room of a node, as a part of it. Less counts as none: the way to a watermark would be taken in ever smaller steps.
pub const LEAST_ROOM_PART: u64 = 1 << 14;

/// Reclaim within a cgroup frees this part of its limit at once. The kernel's batches are 32 pages; the limit holds either way.
pub const MEMCG_RECLAIM_PART: u64 = 512;

/// A task that waits for memory of a cgroup goes on when this part of the limit is available. The kernel's sleeps end after 100 ms, or
/// after some pages.
pub const MEMCG_WAKE_PART: u64 = 64;

/// A flusher that is alone submits this part of the memory at once, small beside every threshold, up to so many bytes.
pub const FLUSHER_PART: u64 = 2048;
pub const MOST_FLUSHER_UNIT: u64 = 128 << 20;

/// A smaller piece is submitted only now and then. A throttled writer makes pages dirty a few bytes at a time here, and the flusher would
/// follow it byte by byte.
pub const LEAST_PIECE: u64 = 64 << 10;
pub const PIECE_INTERVAL: Nanos = Nanos(1_000_000);

/// So much of a write goes into a transaction at once where data is journaled. The kernel asks anew for each page.
pub const JOURNALED_RUN: u64 = 1 << 20;

/// While several submit to a device, each gets this part of the queue in turn: one request at least, `MOST_TURN` at most. The wait of a new
/// request is wrong by two turns at most.
pub const QUEUE_TURNS: u64 = 32;
pub const MOST_TURN: u64 = 4 << 20;

/// The steps that the start or end of a run counts towards the next check whether the simulation is to stop.
pub const RUN_STEPS: u64 = 32;

/// Returns how many bytes of whole calls are taken together.
pub fn step_of(bytes: Bytes, piece: Bytes) -> u64 {
    let piece = piece.0.max(1);
    bytes.0.div_ceil(piece).div_ceil(SYNC_STEPS) * piece
}
