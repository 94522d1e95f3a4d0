//! `mm/readahead.c`: which pages are read before anybody asks for them, and what the kernel keeps of each open file.

pub mod mapping;
pub mod readers;
pub mod window;
