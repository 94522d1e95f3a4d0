//! `mm/page_alloc.c`: where pages come from, what keeps some of them free, and which tasks hold them.
//!
//! [`pages::Pages`] owns the memory of a host: lists, dirty state, nodes, memory cgroups, anonymous memory. Left out: zones, swap.

pub mod allocation;
pub mod charge;
pub mod dropbehind;
pub mod look_ahead;
pub mod pages;
pub mod pending;
pub mod placement;
pub mod reporting;
pub mod watermarks;
