//! `fs/sync.c`: fsync, sync, syncfs, sync_file_range, and writes with O_SYNC or O_DSYNC.

pub mod fsync;
pub mod o_sync;
pub mod sync_file_range;
