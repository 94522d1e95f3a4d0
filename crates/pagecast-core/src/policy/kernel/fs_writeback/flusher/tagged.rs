//! Holds the dirty pages that fsync, sync_file_range and `sync` submit beside the flusher's own work.
//!
//! Source: `mm/page-writeback.c: tag_pages_for_writeback`, `mm/filemap.c: filemap_fdatawrite_range, filemap_write_and_wait_range`, Linux
//! 6.16. Pages that become dirty after the call are not tagged.

use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::ranges::Ranges;
use crate::policy::{FileId, OperationId};

/// All bytes of a file.
pub const WHOLE: (u64, u64) = (0, u64::MAX);

/// The end of the wait of the task that has pages submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The device has all of them (WB_SYNC_ALL).
    Written(OperationId),
    /// The queue of the device has taken all of them.
    Submitted(OperationId),
    /// The device has so many bytes of the log, which have no pages, and all that was in its queue before them.
    Logged(u64, OperationId),
    /// Nobody waits.
    Never,
}

/// The pages of a file that are to be submitted.
#[derive(Debug)]
pub struct Tagged {
    pub file: FileId,
    /// The wait ends when nothing between these bytes is under writeback.
    pub within: (u64, u64),
    /// `PAGECACHE_TAG_TOWRITE`: bytes dirty at the call that have neither been submitted nor left the cache since.
    pub ranges: Ranges,
    pub until: Until,
}

impl Tagged {
    /// Submits the next of its bytes, at most `most`: from the start of the file, not from where the flusher stopped (`range_cyclic`).
    pub fn submit(&mut self, most: u64, dirty: &mut DirtyPages) -> Option<(u64, u64)> {
        while let Some((start, end)) = self.ranges.first(0, u64::MAX) {
            let submitted = dirty.submit_within(self.file, start, end, most);
            self.ranges.remove(start, submitted.map_or(end, |(_, to)| to));
            if submitted.is_some() {
                return submitted;
            }
        }
        None
    }
}
