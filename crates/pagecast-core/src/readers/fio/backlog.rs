//! Remembers what `verify_backlog` reads back between writes.

use std::collections::VecDeque;

use super::job::Job;

/// Blocks that were written and are to be read back between writes (`verify_backlog`).
#[derive(Default)]
pub struct Backlog {
    /// File, first byte, and length.
    pub blocks: VecDeque<(usize, u64, u64)>,
    /// How many of them are read back before the next write.
    pub due: u32,
    /// The last request was a read.
    pub was_read: bool,
}

impl Backlog {
    /// The block that is read back now, if it is time for that (`check_get_verify`).
    pub fn next(&mut self, job: &Job) -> Option<(usize, u64, u64)> {
        let every = job.verify_backlog as usize;
        if every == 0 || self.blocks.is_empty() {
            return None;
        }
        if self.due == 0 && !self.was_read && self.blocks.len().is_multiple_of(every) {
            self.due = if job.verify_batch > 0 { job.verify_batch } else { job.verify_backlog };
        }
        self.due = self.due.checked_sub(1)?;
        self.was_read = true;
        self.blocks.pop_front()
    }
}
