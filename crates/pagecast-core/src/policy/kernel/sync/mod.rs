//! Steps fsync, sync, syncfs, sync_file_range, and writes with O_SYNC or O_DSYNC.
//!
//! Source: `fs/sync.c`, Linux 6.16.

pub mod fsync;
pub mod nfs;
pub mod o_sync;
pub mod sync_file_range;
