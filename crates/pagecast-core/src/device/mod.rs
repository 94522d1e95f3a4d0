//! Turns devices into resources that flows share: disks, memory and processors.

mod disk;
mod memory;
mod sharing;
mod unevenness;
mod write_cache;

pub(crate) use disk::disk;
pub(crate) use memory::{memory, processors};
pub(crate) use unevenness::stream_weight;

use crate::flow::Route;

/// The routes of reading from and writing to a device.
#[derive(Clone, Debug)]
pub(crate) struct ReadWrite {
    pub read: Route,
    pub write: Route,
}
