//! `mm/memcontrol.c`: what is charged to each memory cgroup, and when its counters are added up.
//!
//! Making room within a limit evicts pages, which `page_alloc::charge` does.

pub mod memcg;
pub mod stats;
