//! Keeps the space of the log: which blocks committed transactions still take, and when a checkpoint has to free some.
//!
//! Source: `fs/jbd2/checkpoint.c: __jbd2_log_wait_for_space, jbd2_log_do_checkpoint`, `include/linux/jbd2.h: jbd2_log_space_left`, Linux
//! 6.12. A transaction leaves the log when all its data has been written to its place. Left out: metadata, which is written back within
//! seconds; the superblock that notes the new tail.

use std::collections::VecDeque;

use crate::policy::FileId;
use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::kernel::address_space::page_state::PageState;
use crate::policy::ranges::Ranges;

/// Blocks that nobody may take (`jbd2_log_space_left`).
const KEPT: u64 = 32;

/// A committed transaction whose data is not all in its place.
#[derive(Debug)]
struct Checkpoint {
    blocks: u64,
    data: Vec<(FileId, Ranges)>,
}

/// The log of a journal, in blocks.
#[derive(Debug, Default)]
pub struct Log {
    checkpoints: VecDeque<Checkpoint>,
    used: u64,
}

impl Log {
    /// Adds a transaction whose commit has ended.
    pub fn add(&mut self, blocks: u64, data: Vec<(FileId, Ranges)>) {
        self.used += blocks;
        self.checkpoints.push_back(Checkpoint { blocks, data });
    }

    /// Returns the blocks that are free while so many more are being committed.
    pub fn left(&self, blocks: u64, committing: u64) -> u64 {
        blocks.saturating_sub(self.used + committing + KEPT)
    }

    /// Drops transactions from the oldest on that have nothing left to be written.
    pub fn drop_written(&mut self, dirty: &DirtyPages) {
        while let Some(oldest) = self.checkpoints.front_mut() {
            oldest.data.retain_mut(|(file, ranges)| {
                keep_dirty(dirty, *file, ranges);
                ranges.total() > 0
            });
            if !oldest.data.is_empty() {
                return;
            }
            self.used -= oldest.blocks;
            self.checkpoints.pop_front();
        }
    }

    /// Returns a file of the oldest transaction, and its data that is not in its place yet.
    pub fn oldest(&self) -> Option<(FileId, &Ranges)> {
        let (file, ranges) = self.checkpoints.front()?.data.first()?;
        Some((*file, ranges))
    }
}

/// Removes from ranges what is in its place: neither dirty nor under writeback.
fn keep_dirty(dirty: &DirtyPages, file: FileId, ranges: &mut Ranges) {
    let mut kept = Ranges::default();
    let mut at = 0;
    while let Some((start, end)) = ranges.first(at, u64::MAX) {
        let (state, to) = dirty.stable_run(file, start, end);
        if state != PageState::Clean {
            kept.insert(start, to);
        }
        at = to;
    }
    *ranges = kept;
}
