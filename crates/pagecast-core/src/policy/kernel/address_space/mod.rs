//! Holds the state of each file's pages: dirty or under writeback, and their folios.
//!
//! Source: `include/linux/fs.h: struct address_space`. The pages themselves, clean or not, are in the lists of `vmscan`.

pub mod dirty;
pub mod folios;
pub mod page_state;
