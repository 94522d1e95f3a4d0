//! Counts the memory charged to each memory cgroup.
//!
//! Source: `mm/memcontrol.c`, Linux 6.16. Evicting pages to stay within a limit is in `page_alloc::charge`, adding up counters every two
//! seconds in `page_writeback::memcg_stats`.

pub mod memcg;
pub mod stats;
