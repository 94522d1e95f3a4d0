//! Holds the page counters of a memory cgroup as its dirty limits see them: added up every two seconds.
//!
//! Source: `mm/memcontrol.c: mem_cgroup_wb_stats, mem_cgroup_flush_stats_ratelimited, flush_memcg_stats_dwork`, Linux 6.12. Since 6.9 ("mm:
//! writeback: ratelimit stat flush from mem_cgroup_wb_stats") a look at dirty limits adds the counters up only if the timer is two seconds
//! late. The charge, and the dirty pages of a single `bdi_writeback`, are exact at once.
//!
//! Left out: readers of `memory.stat`, and reclaim from the two lists, both of which add the counters up as well; an idle processor, on
//! which the timer (a deferrable one) is late.

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
