//! Charges a seek to a request that does not begin near the end of the one before it, on a disk with a moving head.
//!
//! Ours. An operation past the cache pays at each request, a read that misses pays at each short run; a long run hides it. Left out: seeks
//! of the flusher, the distance of the head, and the order in which a scheduler takes requests.

use crate::policy::FileId;

/// The distance within which no seek is needed: two windows of read-ahead may lie between.
const NEAR: u64 = 4 << 20;

/// The position of each disk's head: a file and a byte of it.
#[derive(Debug, Default)]
pub struct Heads(Vec<Option<(FileId, u64)>>);

impl Heads {
    /// Starts at an unknown position: the first request of every disk seeks.
    pub fn of(disks: usize) -> Self {
        Self(vec![None; disks])
    }

    /// Moves the head of a disk over a range; true if it had to seek to its start.
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
