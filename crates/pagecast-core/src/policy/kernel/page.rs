//! Sets the size of a page, and extends ranges to whole pages.

/// The kernel counts memory in pages of 4 KiB.
pub const PAGE: u64 = 4096;

/// Extends a range of bytes to the pages that it touches.
pub fn whole_pages((start, end): (u64, u64)) -> (u64, u64) {
    (start / PAGE * PAGE, end.div_ceil(PAGE).saturating_mul(PAGE))
}
