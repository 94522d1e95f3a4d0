//! Chooses the pages to evict, as runs of bytes instead of pages.
//!
//! Source: Linux 6.16, `mm/swap.c`, `mm/workingset.c`, `mm/vmscan.c`. One set of extents has two replacement policies. Each node and memory
//! cgroup ([`LruvecId`]) has either an inactive and an active list of file pages, or two to four generations (`generations`).
//!
//! With two lists (`accessed`, `reclaim`) pages come to the head of the inactive one. A second read moves them to the head of the active
//! one. Reclaim takes the inactive tail and moves the active tail to the inactive head. Bytes are counted, not pages: a caller that needs
//! whole pages inserts whole pages. Left out: mapped and anonymous pages, the counting of a cgroup's pages for its parents.

mod accessed;
mod extents;
mod files;
mod generations;
mod list;
pub mod lists;
mod lru_gen;
pub mod lruvec;
mod reclaim;
pub mod refaults;
mod scan_control;
mod shadows;
mod slab;
#[cfg(test)]
mod tests;
