//! Where extents and rates stand for pages and pauses: each step that we take coarser than the kernel, why, and what it may cost.
//!
//! These are ours. The kernel's own constants stand beside its rules.

use crate::units::{Bytes, Nanos};

/// Bytes that are found in the cache are looked up again after so many: they may have been cleaned meanwhile. A writer that comes to
/// pages cleaned since then goes on as if they were dirty for 256 MiB at most, and counts that much too little as newly dirty.
pub const MOST_RUN: u64 = 256 << 20;

/// A run behind a reader is at least so long, or two tasks on a file would go byte by byte. Who comes first to a page may be taken
/// for the other within 64 KiB.
pub const LEAST_RUN: u64 = 64 << 10;

/// A write to a disk with stable pages looks again after so many bytes, so it waits for 1 MiB too much or too little.
pub const STABLE_RUN: u64 = 1 << 20;

/// A follower goes on when so many bytes have come, and is later than the kernel by what the device takes for them.
pub const FOLLOW_STRIDE: u64 = 16 << 20;

/// So much of what is cached is read at once to be copied to another file: milliseconds, while pauses and estimates take 200.
pub const CACHED_AT_ONCE: u64 = 16 << 20;

/// The pages of bytes that have moved are found at the latest after this. Refault storms begin and end that exactly.
pub const SETTLE_AFTER: Nanos = Nanos(5_000_000_000);

/// A smaller change of a rate is not passed on: rates are this exact.
pub const LEAST_CHANGE: f64 = 0.005;

/// A rate from this part of its cap on is taken to be held down by it.
pub const AT_CAP: f64 = 0.99;

/// With more tasks all of them are looked at only with the first event of an instant and after the last one. This changes no result
/// but the order of what happens at one instant.
pub const MANY_TASKS: usize = 64;

/// Levels are looked at no more often than this, a tenth of a pause: a threshold is noticed a millisecond late at most.
pub const LEAST_STEP: f64 = 1e-3;

/// But no more than this part of the memory is taken between two looks: a fast copy would take more than there is.
pub const TAKEN_PER_LOOK: u64 = 16;

/// The way from free run to the hard limit has so many steps, with each of which the rate of writers is set again. The rate is that of a
/// level up to a 64th of the way off.
pub const THROTTLE_STEPS: f64 = 64.0;

/// An operation with synchronous or direct calls is taken in about so many steps at most. The device is busy with the calls of a
/// step together.
pub const SYNC_STEPS: u64 = 256;

/// An extent that grows is lengthened while less than this part of the memory has come into its list since: the order of pages in a list
/// is this exact.
pub const EXTENT_PART: u64 = 256;

/// With memory to spare, pages of no known place are at most this part of it.
pub const PENDING_PART: u64 = 256;

/// Less room than this part of a node counts as none, or the way to a mark would be taken in ever smaller steps.
pub const LEAST_ROOM_PART: u64 = 1 << 14;

/// Reclaim within a cgroup frees this part of its limit in one go. The kernel's batches are 32 pages; the limit holds either way.
pub const MEMCG_RECLAIM_PART: u64 = 512;

/// Who waits for memory of a cgroup goes on when this part of the limit can be had again. The kernel's sleeps end after 100 ms, or
/// after some pages.
pub const MEMCG_WAKE_PART: u64 = 64;

/// A flusher that is alone submits in parts of the memory, small beside every threshold, up to so many bytes.
pub const FLUSHER_PART: u64 = 2048;
pub const MOST_FLUSHER_UNIT: u64 = 128 << 20;

/// Less than this is submitted once in a while only: a writer that is held back makes pages dirty a few bytes at a time here, and the
/// flusher would follow it byte by byte.
pub const LEAST_PIECE: u64 = 64 << 10;
pub const PIECE_INTERVAL: Nanos = Nanos(1_000_000);

/// While several submit to a device, each gets this part of the queue in turn, at least one request and at most `MOST_TURN`. The wait of
/// a new request is wrong by two turns at most.
pub const QUEUE_TURNS: u64 = 32;
pub const MOST_TURN: u64 = 4 << 20;

/// What beginning or ending a run counts, of the steps after which a simulation looks whether it is to stop.
pub const RUN_STEPS: u64 = 32;

/// How many bytes of whole calls are taken together.
pub fn step_of(bytes: Bytes, piece: Bytes) -> u64 {
    let piece = piece.0.max(1);
    bytes.0.div_ceil(piece).div_ceil(SYNC_STEPS) * piece
}
