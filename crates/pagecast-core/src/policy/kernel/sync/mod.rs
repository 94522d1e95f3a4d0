//! TODO

pub mod fsync;
pub mod o_sync;
pub mod sync_file_range;
