//! Measures residency by `cachestat(2)` (mm/filemap.c, `filemap_cachestat`).

use std::os::fd::AsFd;

use super::{OpenFile, Residency, State, bytes_of, page_size};
use crate::error::Trouble;
use crate::syscall;

pub fn range(file: &OpenFile, offset: u64, length: u64) -> Result<Residency, Trouble> {
    // To the end of the last page and no further: a large folio may reach beyond the end of its file.
    let end = (offset + length).next_multiple_of(page_size());
    let counts = syscall::cachestat(file.as_fd(), offset, end - offset).map_err(|error| {
        match error.raw_os_error() {
            Some(libc::EPERM) => Trouble::NotTold,
            _ => Trouble::new("cachestat", error),
        }
    })?;
    let bytes = |pages| bytes_of(pages, length);
    Ok(Residency {
        cached: bytes(counts.nr_cache),
        state: Some(State {
            dirty: bytes(counts.nr_dirty),
            writeback: bytes(counts.nr_writeback),
            evicted: bytes(counts.nr_evicted),
            recently_evicted: bytes(counts.nr_recently_evicted),
        }),
    })
}
