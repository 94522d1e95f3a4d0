//! Lists the dirty inodes of one flusher, and chooses the next.
//!
//! Source: `fs/fs-writeback.c: queue_io, move_expired_inodes, requeue_io, redirty_tail`, Linux 6.16. Left out: `b_dirty_time`.

use std::collections::VecDeque;

use crate::policy::FileId;
use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::units::Nanos;

/// A dirty inode on a list. Its entry is stale if it has become clean, or dirty anew, since.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    pub file: FileId,
    pub dirtied_when: Nanos,
}

impl Listed {
    pub fn is_current(&self, dirty: &DirtyPages) -> bool {
        dirty.dirtied_when(self.file) == Some(self.dirtied_when)
    }
}

/// `b_dirty`, oldest first; `b_io` and `b_more_io`, next first.
#[derive(Debug, Default)]
pub struct Inodes {
    dirty: VecDeque<Listed>,
    io: VecDeque<Listed>,
    more_io: VecDeque<Listed>,
}

impl Inodes {
    /// Adds an inode that has become dirty.
    pub fn add(&mut self, file: FileId, now: Nanos) {
        self.dirty.push_back(Listed { file, dirtied_when: now });
    }

    /// Returns the next inode to be visited. When all of `b_io` have had their turn, those left unfinished are taken on, with those
    /// that have been dirty for `age`.
    pub fn next(&mut self, dirty: &DirtyPages, now: Nanos, age: Nanos) -> Option<Listed> {
        loop {
            if self.io.is_empty() {
                self.queue_io(now, age);
            }
            let inode = self.io.pop_front()?;
            if inode.is_current(dirty) {
                return Some(inode);
            }
        }
    }

    fn queue_io(&mut self, now: Nanos, age: Nanos) {
        self.io.append(&mut self.more_io);
        let due = self.dirty.iter().take_while(|inode| inode.dirtied_when + age <= now).count();
        self.io.extend(self.dirty.drain(..due));
    }

    /// True if inodes that were taken on have not had their turn.
    pub fn has_taken_on(&self, dirty: &DirtyPages) -> bool {
        self.io.iter().any(|inode| inode.is_current(dirty))
    }

    /// True if an inode may be one of the next two.
    pub fn may_be_next(&self, file: FileId) -> bool {
        self.io.len() < 2 || self.io.iter().take(2).any(|inode| inode.file == file)
    }

    /// Takes an inode on again whose pages are dirty again after its turn: it is next.
    pub fn take_on_again(&mut self, file: FileId, dirty: &DirtyPages) {
        let is_listed = |inode: &&Listed| inode.file == file && inode.is_current(dirty);
        if self.io.iter().chain(&self.more_io).any(|inode| is_listed(&inode)) {
            return;
        }
        if let Some(dirtied_when) = dirty.dirtied_when(file) {
            self.io.push_front(Listed { file, dirtied_when });
        }
    }

    /// Puts an inode back after its turn, for the next round.
    pub fn requeue_io(&mut self, inode: Listed) {
        self.more_io.push_back(inode);
    }

    /// Puts an inode behind the youngest one; it becomes as young if that is younger.
    pub fn redirty_tail(&mut self, mut inode: Listed, now: Nanos, dirty: &mut DirtyPages) {
        if self.dirty.back().is_some_and(|youngest| youngest.dirtied_when > inode.dirtied_when) {
            inode.dirtied_when = now;
            dirty.redirty(inode.file, now);
        }
        self.dirty.push_back(inode);
    }

    /// Forgets inodes that have become clean without a visit; true if none is left.
    pub fn forget_clean(&mut self, dirty: &DirtyPages) -> bool {
        self.dirty.retain(|inode| inode.is_current(dirty));
        self.dirty.is_empty() && self.io.is_empty() && self.more_io.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::tasks::ids::WbId;

    const EXPIRE: Nanos = Nanos(30);

    /// Files that became dirty at these times, in this order.
    fn dirty_at(times: &[u64]) -> (Inodes, DirtyPages) {
        let (mut inodes, mut dirty) = (Inodes::default(), DirtyPages::default());
        for (file, &time) in (0..).map(FileId).zip(times) {
            dirty.make_dirty(file, WbId(0), 0, 4096, Nanos(time));
            inodes.add(file, Nanos(time));
        }
        (inodes, dirty)
    }

    fn next(inodes: &mut Inodes, dirty: &DirtyPages, now: u64, age: Nanos) -> Option<u32> {
        inodes.next(dirty, Nanos(now), age).map(|inode| inode.file.0)
    }

    #[test]
    fn the_oldest_is_first_and_periodic_work_takes_only_those_that_are_old_enough() {
        let (mut inodes, dirty) = dirty_at(&[0, 5, 10]);
        let taken: Vec<_> = std::iter::from_fn(|| next(&mut inodes, &dirty, 35, EXPIRE)).collect();
        assert_eq!(taken, [0, 1]);
        assert_eq!(next(&mut inodes, &dirty, 35, Nanos::ZERO), Some(2));
    }

    #[test]
    fn the_unfinished_come_again_when_all_others_of_the_round_have_had_their_turn() {
        let (mut inodes, dirty) = dirty_at(&[0, 1]);
        let first = inodes.next(&dirty, Nanos(9), Nanos::ZERO).expect("two are dirty");
        inodes.requeue_io(first);
        inodes.add(FileId(2), Nanos(2));
        let order: Vec<_> = std::iter::from_fn(|| next(&mut inodes, &dirty, 9, Nanos::ZERO)).collect();
        assert_eq!(order, [1, 0], "and nobody has made file 2 dirty");
    }

    #[test]
    fn an_inode_put_behind_a_younger_one_is_young_again() {
        let (mut inodes, mut dirty) = dirty_at(&[0, 8]);
        let oldest = inodes.next(&dirty, Nanos(30), EXPIRE).expect("one is old enough");
        inodes.redirty_tail(oldest, Nanos(30), &mut dirty);
        assert_eq!(dirty.dirtied_when(FileId(0)), Some(Nanos(30)));
        let (mut inodes, mut dirty) = dirty_at(&[0]);
        let only = inodes.next(&dirty, Nanos(30), EXPIRE).expect("it is old enough");
        inodes.redirty_tail(only, Nanos(30), &mut dirty);
        assert_eq!(dirty.dirtied_when(FileId(0)), Some(Nanos(0)), "there is no younger one");
        let again = inodes.next(&dirty, Nanos(30), EXPIRE).expect("it still is");
        dirty.make_dirty(FileId(1), WbId(0), 0, 4096, Nanos(0));
        inodes.add(FileId(1), Nanos(0));
        inodes.redirty_tail(again, Nanos(30), &mut dirty);
        assert_eq!(dirty.dirtied_when(FileId(0)), Some(Nanos(0)), "one of its age is no younger one");
    }

    #[test]
    fn clean_inodes_are_passed_over_and_forgotten() {
        let (mut inodes, mut dirty) = dirty_at(&[0, 1]);
        dirty.cancel(FileId(0), 0, 4096);
        assert_eq!(next(&mut inodes, &dirty, 9, Nanos::ZERO), Some(1));
        assert!(inodes.forget_clean(&dirty));
    }
}
