//! Wraps `pagecast-probe`: files found, measured and changed; columns by name, as `dict`s of lists.

mod columns;
mod command;
mod files;
mod watch;

pub use command::{MemoryGroup, find_command, run_command};
pub use files::{
    CacheFiles, CacheLock, cache_available, cache_drop, cache_drop_check, cache_evict, cache_find,
    cache_lock, cache_lock_need, cache_status, cache_warm, memory_counters,
};
pub use watch::{detached, detached_with};
