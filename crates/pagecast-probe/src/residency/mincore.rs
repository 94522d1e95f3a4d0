//! Measures residency by `mincore(2)` (mm/mincore.c).

use std::num::NonZero;
use std::os::fd::AsFd;

use super::{OpenFile, Residency, bytes_of};
use crate::error::Trouble;
use crate::syscall::Mapping;
use crate::watch::Pace;

/// So much is mapped at a time: a file may be larger than the address space, and a byte per page is wanted.
const WINDOW: u64 = 1 << 30;

pub fn range(file: &OpenFile, offset: u64, length: u64, pace: &Pace) -> Result<Residency, Trouble> {
    // To others the kernel answers that every page is in memory, which is worse than no answer (`can_do_mincore`).
    if !file.is_told() {
        return Err(Trouble::NotTold);
    }
    let mut pages = Vec::new();
    let mut resident = 0;
    let mut from = offset;
    while from < offset + length {
        // A sparse file may have any length, and the kernel looks at each of its pages.
        if pace.is_stopped() {
            return Err(Trouble::Stopped);
        }
        let window = NonZero::new(WINDOW.min(offset + length - from) as usize).expect("something is left");
        let mapping =
            Mapping::new(file.as_fd(), from, window).map_err(|error| Trouble::new("mmap", error))?;
        mapping.mincore(&mut pages).map_err(|error| Trouble::new("mincore", error))?;
        resident += pages.iter().filter(|&&page| page & 1 == 1).count() as u64;
        from += window.get() as u64;
    }
    Ok(Residency { cached: bytes_of(resident, length), state: None })
}
