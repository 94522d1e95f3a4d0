//! What the dirty limits of a memory cgroup know of its pages: counters that are added up every two seconds.
//!
//! Source: `mm/memcontrol.c: mem_cgroup_wb_stats, mem_cgroup_flush_stats_ratelimited, flush_memcg_stats_dwork`, Linux 6.12. Since 6.9
//! ("mm: writeback: ratelimit stat flush from mem_cgroup_wb_stats") nobody who looks at dirty limits adds the counters up himself, unless
//! the timer is two seconds late. What is charged, and what is dirty of a single `bdi_writeback`, is known at once. Left out: who reads
//! `memory.stat`, and reclaim from the two lists, both of which add the counters up as well; a processor that is idle when the timer rings
//! (it is deferrable).

use crate::units::Nanos;

/// `FLUSH_TIME`.
pub const FLUSH_TIME: Nanos = Nanos(2_000_000_000);

/// The pages of a cgroup, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Dirty or under writeback, and the latter alone.
    pub dirty: u64,
    pub writeback: u64,
    pub cached: u64,
}
