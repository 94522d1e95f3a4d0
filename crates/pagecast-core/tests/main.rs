//! The simulator from outside: small scenarios, one rule each. The machine has round numbers, so that a rule can be
//! checked in one's head: see [`common::MACHINE`].

mod common;
mod direct_io;
mod dontcache;
mod durability;
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
mod mixed_methods;
mod nfs;
mod operations;
mod partial_blocks;
mod processes;
mod published;
mod rivals;
mod sharing;
mod steps;
mod streams;
mod syncing;
mod tables;
mod unevenness;
mod wrench_reads;
mod wrench_writes;
mod write_cache;
