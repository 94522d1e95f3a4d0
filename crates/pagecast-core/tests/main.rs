//! The simulator from outside: small scenarios, one rule each. The machine has round numbers, so that a rule can be
//! checked in one's head: see [`common::MACHINE`].

mod cawl;
mod common;
mod errors;
mod fsync_and_flush;
mod groups;
mod kernel_cgroups;
mod kernel_events;
mod kernel_initial_state;
mod kernel_levels;
mod kernel_memory;
mod kernel_mglru;
mod kernel_opening;
mod kernel_readahead;
mod kernel_reads;
mod kernel_shares;
mod kernel_wbt;
mod kernel_writes;
mod nfs;
mod operations;
mod processes;
mod published;
mod rivals;
mod sharing;
mod steps;
mod tables;
mod unevenness;
mod wrench_reads;
mod wrench_writes;
mod write_cache;
