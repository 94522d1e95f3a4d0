//! The lists of pages by which the kernel chooses what to evict, for runs of bytes instead of pages.
//!
//! Source: Linux 6.16, `mm/swap.c`, `mm/workingset.c`, `mm/vmscan.c`. One set of extents, two replacement policies: each
//! node and memory control group ([`LruvecId`]) has either an inactive and an active list of file pages, or two to four
//! generations of them. With two lists (`accessed`, `reclaim`) pages come to the head of the inactive one; a second read
//! moves them to the head of the active one; reclaim takes the inactive tail and moves the active tail to the inactive
//! head. With generations see `generations`. Bytes are counted, not pages: who wants whole pages inserts whole pages.
//! Left out: mapped and anonymous pages, the counting of a control group's pages for its parents.

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
