//! Turns devices into resources that flows share: disks, memory and processors.

mod disk;
mod memory;
mod sharing;
mod unevenness;
mod write_cache;

pub(crate) use disk::disk;
pub(crate) use memory::{memory, processors};
pub(crate) use sharing::ReadWrite;
pub(crate) use unevenness::stream_weight;
