//! `mm/filemap.c`, `mm/truncate.c`, `mm/fadvise.c`, `mm/memory.c`: system calls on bytes of a file.
//!
//! Each call is a small state machine: a step says which bytes move next, that something has to be waited for, or that the call is
//! over. The driver calls the steps.

pub mod begin;
pub mod direct;
pub mod fadvise;
pub mod fdatawrite;
pub mod mapped;
pub mod partial_blocks;
pub mod read;
pub mod readahead;
pub mod truncate;
pub mod write;
