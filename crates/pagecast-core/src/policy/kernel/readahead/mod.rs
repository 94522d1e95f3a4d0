//! Decides which pages are read ahead, and keeps the state of each open file.
//!
//! Source: `mm/readahead.c`, Linux 6.16. The reads themselves are in `filemap::read`.

pub mod mapping;
pub mod readers;
pub mod window;
