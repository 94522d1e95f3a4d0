//! Steps system calls on bytes of a file.
//!
//! Source: `mm/filemap.c`, `mm/truncate.c`, `mm/fadvise.c`, `mm/memory.c`, `fs/buffer.c`. Each call is a small state machine: a step names
//! the next bytes to move, or a wait, or the end of the call. Only the driver calls steps.

pub mod begin;
pub mod direct;
pub mod fadvise;
pub mod fdatawrite;
pub mod mapped;
pub mod names;
pub mod partial_blocks;
pub mod read;
pub mod readahead;
pub mod shmem;
pub mod truncate;
pub mod write;
