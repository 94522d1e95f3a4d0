//! Owns the memory of a host: allocates pages, keeps watermarks, charges memory cgroups.
//!
//! Source: `mm/page_alloc.c`, `mm/page_reporting.c`, Linux 6.16. [`pages::Pages`] holds lists, dirty state, nodes, memory cgroups and
//! anonymous memory. Left out: zones, swap.

pub mod allocation;
pub mod charge;
pub mod dropbehind;
pub mod look_ahead;
pub mod pages;
pub mod pending;
pub mod placement;
pub mod reporting;
pub mod shmem;
pub mod watermarks;
