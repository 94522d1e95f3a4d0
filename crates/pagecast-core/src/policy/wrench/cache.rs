//! Keeps the state of the data-block model: two lists, and the bytes that are free, cached and dirty.
//!
//! Source: the steps of Algorithms 2 and 3. No time passes here.

use super::files::HostFile;
use super::lists::{Block, Handle, List, Which};
use crate::units::Nanos;

/// The page cache of a host; see the module.
pub(super) struct Cache {
    total: u64,
    /// The free bytes as the model counts them. They fall below zero while a read under way found too little to evict, and are set to
    /// zero when the reader's memory is counted. They never rise above the total. So the model's books need not balance.
    free: i64,
    dirty: u64,
    inactive: List,
    active: List,
    /// Dirty bytes of each file.
    dirty_of_file: Vec<u64>,
    evicts_active: bool,
    /// The number of the last periodic flush, and the size that its block has now, or had when it left.
    flush: u32,
    flushing: u64,
}

impl Cache {
    pub(super) fn new(total: u64, evicts_active: bool) -> Self {
        Self {
            total,
            free: total as i64,
            dirty: 0,
            inactive: List::default(),
            active: List::default(),
            dirty_of_file: Vec::new(),
            evicts_active,
            flush: 0,
            flushing: 0,
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The bytes that can be written without evicting anything.
    pub(super) fn free(&self) -> u64 {
        self.free.max(0) as u64
    }

    /// Returns how much is missing if `needed` bytes are to be free.
    pub(super) fn lacking(&self, needed: u64) -> u64 {
        (needed as i64 - self.free).max(0) as u64
    }

    /// Dirty blocks, and those being written, which are clean blocks already.
    pub(super) fn dirty(&self) -> u64 {
        self.dirty
    }

    pub(super) fn cached(&self) -> u64 {
        self.inactive.bytes() + self.active.bytes()
    }

    /// The bytes that are neither free nor cached.
    pub(super) fn anonymous(&self) -> u64 {
        self.total.saturating_sub(self.free() + self.cached())
    }

    /// The bytes that the model takes for evictable: the whole inactive list, dirty or not.
    pub(super) fn inactive_bytes(&self) -> u64 {
        self.inactive.bytes()
    }

    /// The memory of which the dirty ratio is a part.
    pub(super) fn available(&self) -> u64 {
        (self.free + self.cached() as i64 - self.dirty as i64).max(0) as u64
    }

    pub(super) fn of_file(&self, file: HostFile) -> u64 {
        self.inactive.bytes_of(file) + self.active.bytes_of(file)
    }

    pub(super) fn active_of_file(&self, file: HostFile) -> u64 {
        self.active.bytes_of(file)
    }

    pub(super) fn dirty_of_file(&self, file: HostFile) -> u64 {
        self.dirty_of_file.get(file.index()).copied().unwrap_or(0)
    }

    pub(super) fn block_count(&self) -> usize {
        self.inactive.len() + self.active.len()
    }

    /// The blocks of the inactive and of the active list, in order.
    pub(super) fn blocks(&self) -> [Vec<Block>; 2] {
        [self.inactive.blocks(), self.active.blocks()]
    }

    fn list(&mut self, active: bool) -> &mut List {
        if active { &mut self.active } else { &mut self.inactive }
    }

    /// Takes bytes off a block of a list, which keeps its place if some are left.
    fn take(&mut self, active: bool, block: Handle, bytes: u64) -> Block {
        let before = self.list(active).block(block);
        let taken = self.list(active).take(block, bytes);
        if before.flush == self.flush && taken.size < before.size {
            self.flushing = before.size - taken.size;
        }
        taken
    }

    /// Puts clean data, just read or written through, at the end of the inactive list.
    pub(super) fn add_clean(&mut self, file: HostFile, size: u64, now: Nanos) {
        self.add(Block { file, size, dirty: false, accessed: now, dirtied: Nanos::ZERO, flush: 0 });
    }

    /// Puts data just written at the end of the inactive list.
    pub(super) fn add_dirty(&mut self, file: HostFile, size: u64, now: Nanos) {
        self.add(Block { file, size, dirty: true, accessed: now, dirtied: now, flush: 0 });
        self.dirty += size;
        if self.dirty_of_file.len() <= file.index() {
            self.dirty_of_file.resize(file.index() + 1, 0);
        }
        self.dirty_of_file[file.index()] += size;
    }

    fn add(&mut self, block: Block) {
        self.free -= block.size as i64;
        self.inactive.push(block);
    }

    pub(super) fn take_anonymous(&mut self, bytes: u64) {
        self.free = (self.free - bytes as i64).max(0);
    }

    pub(super) fn give_anonymous(&mut self, bytes: u64) {
        self.free = (self.free + bytes as i64).min(self.total as i64);
    }

    /// Reads up to `bytes` of a file's cached data: first from the inactive, then from the active list. Clean data becomes one block
    /// at the end of the active list, dirty data moves there alone.
    pub(super) fn read(&mut self, file: HostFile, bytes: u64, now: Nanos) {
        let (mut left, mut clean) = (bytes, 0);
        for active in [false, true] {
            while left > 0 {
                let Some(first) = self.list(active).first_of_both(Which::Of(file)) else { break };
                let taken = self.take(active, first, left);
                left -= taken.size;
                if taken.dirty {
                    self.active.push(taken);
                } else {
                    clean += taken.size;
                }
            }
        }
        self.active.push(Block {
            file,
            size: clean,
            dirty: false,
            accessed: now,
            dirtied: Nanos::ZERO,
            flush: 0,
        });
    }

    /// Makes the lists equal, from the front of the active one, when that is more than twice the inactive one.
    pub(super) fn balance(&mut self) {
        if self.active.bytes() <= 2 * self.inactive.bytes() {
            return;
        }
        let mut left = (self.active.bytes() - self.inactive.bytes()) / 2;
        while left > 0 {
            let Some(first) = self.active.first_of_both(Which::Any) else { break };
            let moved = self.take(true, first, left);
            left -= moved.size;
            self.inactive.push(moved);
        }
    }

    /// Evicts clean blocks, never those of `except`, and returns how many bytes that was.
    pub(super) fn evict(&mut self, amount: u64, except: Option<HostFile>) -> u64 {
        let mut left = amount;
        for active in [false, true] {
            while left > 0 && (!active || self.evicts_active) {
                let Some(first) = self.list(active).first(false, Which::NotOf(except)) else { break };
                left -= self.drop_block(active, first, left);
            }
        }
        amount - left
    }

    /// Drops up to `bytes` of a block, which need not be clean, and returns how many.
    fn drop_block(&mut self, active: bool, block: Handle, bytes: u64) -> u64 {
        let dropped = self.take(active, block, bytes);
        self.free = (self.free + dropped.size as i64).min(self.total as i64);
        if dropped.dirty {
            self.dirty -= dropped.size;
            self.dirty_of_file[dropped.file.index()] -= dropped.size;
        }
        dropped.size
    }

    /// Drops a file's data beyond `size` bytes, first those that came first, dirty ones unwritten.
    pub(super) fn discard_beyond(&mut self, file: HostFile, size: u64) {
        let mut left = self.of_file(file).saturating_sub(size);
        for active in [false, true] {
            while left > 0 {
                let Some(first) = self.list(active).first_of_both(Which::Of(file)) else { break };
                left -= self.drop_block(active, first, left);
            }
        }
    }

    /// Drops clean data: of one file, or all.
    pub(super) fn drop_clean(&mut self, file: Option<HostFile>) {
        let which = file.map_or(Which::Any, Which::Of);
        for active in [false, true] {
            while let Some(first) = self.list(active).first(false, which) {
                self.drop_block(active, first, u64::MAX);
            }
        }
    }

    /// Makes up to `amount` bytes of dirty blocks of one list clean, in order, and reports the file and size of each. `only` takes
    /// `file` alone, otherwise all but it. The caller writes them and then reports them as [`Cache::written`].
    pub(super) fn flush(
        &mut self,
        active: bool,
        amount: u64,
        file: Option<HostFile>,
        only: bool,
        mut flushed: impl FnMut(HostFile, u64),
    ) {
        let which = match file {
            Some(file) if only => Which::Of(file),
            file => Which::NotOf(file),
        };
        let mut left = amount;
        while left > 0 {
            let Some(first) = self.list(active).first(true, which) else { break };
            let block = self.list(active).block(first);
            let size = block.size.min(left);
            if size == block.size {
                self.list(active).clean(first, 0);
            } else {
                // As published: the part that is written goes to the end of the inactive list.
                let part = self.take(active, first, size);
                self.inactive.push(Block { dirty: false, ..part });
            }
            self.cleaned(block.file, size);
            flushed(block.file, size);
            left -= size;
        }
    }

    /// Makes the first expired dirty block of a list clean. The caller writes it and then reports that as done by
    /// [`Cache::flushed_expired`].
    pub(super) fn clean_expired(&mut self, active: bool, limit: Nanos) -> Option<(HostFile, u64)> {
        let expired = self.list(active).first_expired(limit)?;
        let block = self.list(active).block(expired);
        self.flush += 1;
        self.flushing = block.size;
        let flush = self.flush;
        self.list(active).clean(expired, flush);
        self.cleaned(block.file, block.size);
        Some((block.file, block.size))
    }

    fn cleaned(&mut self, file: HostFile, bytes: u64) {
        self.dirty_of_file[file.index()] -= bytes;
    }

    /// Notes that flushed bytes have reached their device.
    pub(super) fn written(&mut self, bytes: u64) {
        self.dirty -= bytes;
    }

    /// Ends the periodic flush of a block. As published, the dirty bytes shrink by the size it has now: bytes of it that were read or
    /// evicted meanwhile stay counted as dirty for good.
    pub(super) fn flushed_expired(&mut self) {
        self.dirty -= std::mem::take(&mut self.flushing);
    }
}

#[cfg(test)]
mod tests;
