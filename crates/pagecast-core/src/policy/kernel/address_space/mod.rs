//! `include/linux/fs.h: struct address_space`: which pages of a file are dirty or under writeback, and in which folios they are.

pub mod dirty;
pub mod folios;
pub mod page_state;
