//! Disks whose head has to move: a request that does not begin near where the one before it ended waits for that.
//!
//! Who reads or writes past the cache pays for each of his operations, and who misses pages for each short run of them; in a long one it
//! is nothing beside its bytes. Left out: the flusher's own seeks, how far the head has to go, and the order in which a scheduler takes
//! requests.

use super::{FileView, Kernel};
use crate::policy::FileId;
use crate::units::Nanos;

/// So near it is no seek: two windows of read-ahead may lie between.
const NEAR: u64 = 4 << 20;

/// Where the head of each disk is: at this byte of this file.
#[derive(Debug, Default)]
pub(super) struct Heads(Vec<Option<(FileId, u64)>>);

impl Heads {
    /// They may be anywhere at first: every disk's first request waits.
    pub(super) fn of(disks: usize) -> Self {
        Self(vec![None; disks])
    }

    /// Moves the head of a disk over some bytes; whether it had to come from elsewhere to the first of them.
    fn go(&mut self, disk: usize, file: FileId, (start, end): (u64, u64)) -> bool {
        let before = self.0[disk].replace((file, end));
        before.is_none_or(|(other, at)| other != file || at.abs_diff(start) > NEAR)
    }
}

impl Kernel {
    /// What it takes the disk of a file to come to some of its bytes.
    pub(super) fn seek(&mut self, file: &FileView, range: (u64, u64)) -> Nanos {
        let seek = self.disk_of(file).map_or(Nanos::ZERO, |disk| disk.seek);
        if seek == Nanos::ZERO {
            return Nanos::ZERO;
        }
        let has_moved = self.heads.go(file.device.0 as usize, file.id, range);
        if has_moved { seek } else { Nanos::ZERO }
    }
}
