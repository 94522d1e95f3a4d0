//! Disks whose head has to move: a request that does not begin near where the one before it ended waits for that.
//!
//! Who reads or writes past the cache pays for each of his operations, and who misses pages for each short run of them; in a long one it
//! is nothing beside its bytes. Left out: the flusher's own seeks, how far the head has to go, and the order in which a scheduler takes
//! requests.

use crate::policy::FileId;

/// So near it is no seek: two windows of read-ahead may lie between.
const NEAR: u64 = 4 << 20;

/// Where the head of each disk is: at this byte of this file.
#[derive(Debug, Default)]
pub struct Heads(Vec<Option<(FileId, u64)>>);

impl Heads {
    /// They may be anywhere at first: every disk's first request waits.
    pub fn of(disks: usize) -> Self {
        Self(vec![None; disks])
    }

    /// Moves the head of a disk over some bytes; whether it had to come from elsewhere to the first of them.
    pub fn go(&mut self, disk: usize, file: FileId, (start, end): (u64, u64)) -> bool {
        let before = self.0[disk].replace((file, end));
        before.is_none_or(|(other, at)| other != file || at.abs_diff(start) > NEAR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_to_move_to_another_file_and_far_from_where_it_is() {
        let mut heads = Heads::of(2);
        let [file, other] = [1, 2].map(FileId);
        assert!(heads.go(0, file, (0, 100)), "nobody knows where it was");
        assert!(!heads.go(0, file, (100, 200)) && !heads.go(0, file, (200 + NEAR, 300 + NEAR)));
        assert!(heads.go(0, file, (301 + 2 * NEAR, 400 + 2 * NEAR)));
        assert!(!heads.go(0, file, (400 + NEAR, 500)) && heads.go(0, other, (500, 600)), "back, and away");
        assert!(heads.go(1, other, (600, 700)), "each disk has its own");
    }
}
