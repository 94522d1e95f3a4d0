//! Turns a disk into resources: a rate for reading and one for writing.
//!
//! The rates may change with the number of streams. A limiter may let bursts pass, or a cache may take writes faster while it has room.
//! Latency, queue and size of requests are the policy's (`policy::kernel`), as are seeks and small writes of arrays. An array moves long streams
//! with the disks that hold different bytes. Left out: schedulers, a cache for reads.

use super::sharing::{ReadWrite, Sides, side};
use crate::flow::{Network, Resource};
use crate::machine::Disk;
use crate::result::Part;

/// Adds a disk to the network.
pub(crate) fn disk(disk: &Disk, network: &mut impl Network) -> ReadWrite {
    let (reading, writing) = disk.streaming();
    let limited = |mut side: Resource| {
        (side.burst, side.interval) = (disk.burst, disk.limit_interval);
        if let Some(san) = disk.san {
            side = side.at_most(san.rate.0);
        }
        side
    };
    let sides = Sides {
        read: limited(side(disk.read, &disk.read_at).times(reading)),
        write: limited(side(disk.write, &disk.write_at).times(writing)),
        read_part: Part::DeviceRead,
        write_part: Part::DeviceWrite,
    };
    match disk.write_cache {
        None => sides.add(disk.sharing, network),
        Some(cache) => sides.add_cached(disk.sharing, cache, network),
    }
}
