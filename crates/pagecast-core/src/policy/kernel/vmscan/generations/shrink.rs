//! Evicts pages from the oldest generation, and begins new ones.
//!
//! Source: `mm/vmscan.c: try_to_shrink_lruvec, get_nr_to_scan, should_run_aging, inc_max_seq, evict_folios, scan_folios, sort_folio,
//! try_to_inc_min_seq`, Linux 6.12 and 6.16. Reclaim is kswapd's. It ages whenever the kernel would at any priority but the lowest: it
//! never wants as little as a 4096th of the inactive pages. It ends with the last byte wanted; the kernel's ends with the batch.

use crate::policy::kernel::address_space::page_state::{Busy, PageState};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::version::LruGen;
use crate::policy::kernel::vmscan::generations::tiers::MIN_LRU_BATCH;
use crate::policy::kernel::vmscan::generations::{MIN_NR_GENS, list};
use crate::policy::kernel::vmscan::lists::Lists;
use crate::policy::kernel::vmscan::lruvec::LruvecId;
use crate::policy::kernel::vmscan::scan_control::{Reclaimed, share};
use crate::policy::kernel::vmscan::slab::{Slot, State};
use crate::stop;

/// `include/linux/mmzone.h: MAX_LRU_BATCH`: so many pages are scanned before the tiers are compared anew.
const MAX_LRU_BATCH: u64 = 64 * MIN_LRU_BATCH;

/// The first pass scans this power of two less than the lists: `mm/vmscan.c: set_initial_priority`, half of `DEF_PRIORITY`. That is the
/// least. Where the high mark is less than about a 200th of the memory, from some 30 GiB on, the kernel begins with a shorter pass. Only
/// the time at which flushers are woken depends on it.
const FIRST_PRIORITY: u32 = 6;

/// The pages found since the tiers were last compared.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    scanned: u64,
    isolated: u64,
}

impl Batch {
    /// Returns how many more clean pages can be isolated.
    fn room(&self) -> u64 {
        MIN_LRU_BATCH.saturating_sub(self.isolated).min(MAX_LRU_BATCH.saturating_sub(self.scanned))
    }

    /// Returns how many of so many clean bytes leave before the tiers are compared anew.
    ///
    /// Pages counted for their own tier when they leave do not protect others of that tier. So all but the last batch can be taken
    /// together, unless pages of another tier have left with the first.
    fn take(&self, bytes: u64, counts_alike: bool) -> u64 {
        let room = self.room();
        match bytes.checked_sub(room + 1) {
            Some(more) if counts_alike && self.isolated == 0 => room + more / MIN_LRU_BATCH * MIN_LRU_BATCH,
            _ => bytes.min(room),
        }
    }

    /// Returns how many count as scanned: none if there were too few pages for a batch and none to isolate.
    fn counted(&self) -> u64 {
        if self.isolated > 0 || self.scanned >= MAX_LRU_BATCH { self.scanned } else { 0 }
    }
}

/// The passes of increasing size that kswapd makes, and whether one of them met only dirty pages.
struct Passes {
    priority: u32,
    scanned: u64,
    all_dirty: bool,
}

impl Passes {
    /// Counts scanned bytes of `size`; a pass ends with its share, or when nothing was found.
    fn scan(&mut self, bytes: u64, size: u64, total: &Reclaimed) {
        self.scanned += bytes;
        if bytes == 0 || self.scanned >= share(size, self.priority) {
            self.end(total);
        }
    }

    fn end(&mut self, total: &Reclaimed) {
        // Pages under write-back count as neither.
        self.all_dirty |= total.dirty > 0 && total.freed == 0;
        (self.priority, self.scanned) = (self.priority.max(2) - 1, 0);
    }
}

impl Lists {
    /// Frees `want` bytes, or all clean ones if those are fewer.
    ///
    /// No clean page is left when as many bytes as there are were found dirty or under write-back in turn: a page is protected only so
    /// often.
    pub fn lru_gen_shrink_lruvec(
        &mut self,
        version: LruGen,
        lruvec: LruvecId,
        want: u64,
        busy: &impl Busy,
    ) -> Reclaimed {
        let mut total = Reclaimed::default();
        let mut passes = Passes { priority: FIRST_PRIORITY, scanned: 0, all_dirty: false };
        let mut unclean = 0;
        while total.freed < want && unclean < self.of_lruvec(lruvec) {
            stop::spend(1);
            while self.should_run_aging(version, lruvec) {
                self.inc_max_seq(lruvec);
                passes.end(&total);
            }
            let (before, size) = (total, self.of_lruvec(lruvec));
            let batch = self.scan_batch(version, lruvec, want, busy, &mut total);
            let is_next = self.try_to_inc_min_seq(lruvec);
            passes.scan(batch.counted() + if is_next { PAGE } else { 0 }, size, &total);
            let progress = total.freed + total.protected > before.freed + before.protected;
            unclean = if progress { 0 } else { unclean + total.scanned - before.scanned };
        }
        passes.end(&total);
        total.all_dirty = passes.all_dirty && version.wakes_flushers;
        total
    }

    /// True if there are too few old pages. Since 6.14: if two generations follow the oldest. Before: if in addition less than a
    /// quarter of all pages is in the oldest. More than half of them in the youngest would be enough too, but only page tables bring
    /// pages there.
    fn should_run_aging(&self, version: LruGen, lruvec: LruvecId) -> bool {
        let generations = self.generations(lruvec);
        let following = generations.max_seq - generations.min_seq;
        if following != MIN_NR_GENS || version.reworked {
            return following <= MIN_NR_GENS;
        }
        let old = self.extents.bytes(lruvec, generations.oldest());
        old * (MIN_NR_GENS + 2) < self.of_lruvec(lruvec)
    }

    /// Begins a new generation.
    fn inc_max_seq(&mut self, lruvec: LruvecId) {
        let generations = &mut self.lruvec(lruvec).generations;
        let max_seq = generations.max_seq + 1;
        generations.max_seq = max_seq;
        self.extents.set_active(lruvec, list(max_seq), true);
        self.extents.set_active(lruvec, list(max_seq - MIN_NR_GENS), false);
    }

    /// Makes the oldest generation with pages the oldest one, if it may be evicted. Returns true if it is another.
    fn try_to_inc_min_seq(&mut self, lruvec: LruvecId) -> bool {
        let mut generations = *self.generations(lruvec);
        let min_seq = generations.min_seq;
        while generations.is_evictable() && self.extents.bytes(lruvec, generations.oldest()) == 0 {
            generations.min_seq += 1;
        }
        if generations.min_seq > min_seq {
            generations.tiers.carry_over();
        }
        self.lruvec(lruvec).generations = generations;
        generations.min_seq > min_seq
    }

    /// Scans the oldest generation until a batch is full or enough is free.
    fn scan_batch(
        &mut self,
        version: LruGen,
        lruvec: LruvecId,
        want: u64,
        busy: &impl Busy,
        total: &mut Reclaimed,
    ) -> Batch {
        let mut batch = Batch::default();
        let generations = *self.generations(lruvec);
        if !generations.is_evictable() {
            return batch;
        }
        let last_evicted = generations.tiers.last_evicted(version);
        while batch.room() > 0 && total.freed < want {
            let Some((slot, extent)) = self.extents.oldest(lruvec, generations.oldest()) else { break };
            let room = MAX_LRU_BATCH - batch.scanned;
            let (start, tier) = (extent.start, version.tier(extent.state));
            if tier > last_evicted || version.is_saturated(extent.state) {
                let bytes = extent.len().min(room).min(self.most_protected(version));
                self.protect(version, slot, bytes);
                batch.scanned += bytes;
                total.scanned += bytes;
                total.protected += bytes;
                continue;
            }
            let (state, end) = busy.run(extent.file, start, extent.end);
            let bytes = match state {
                PageState::Clean => {
                    let counts_alike = version.leave_tier(extent.state) == tier;
                    batch.take((end - start).min(want - total.freed), counts_alike)
                }
                PageState::Dirty | PageState::Writeback => (end - start).min(room),
            };
            let slot = self.extents.cut(slot, start, start + bytes);
            match state {
                PageState::Clean => {
                    self.lru_gen_evict(version, slot);
                    batch.isolated += bytes;
                }
                PageState::Dirty | PageState::Writeback => {
                    let state = State { reclaim: true, ..version.promoted(extent.state) };
                    self.move_to_next(slot, state, true);
                }
            }
            batch.scanned += bytes;
            total.add(state, bytes);
        }
        batch
    }

    /// Returns how many pages are protected at a time. Before 6.14 the last to be protected is the first to be scanned in the next
    /// generation.
    fn most_protected(&self, version: LruGen) -> u64 {
        if version.reworked { u64::MAX } else { self.extents.extent_bytes().max(PAGE) }
    }

    /// Moves the first bytes of an extent to the next generation because pages of their tier have come back.
    fn protect(&mut self, version: LruGen, slot: Slot, bytes: u64) {
        let extent = self.extents.get(slot);
        let slot = self.extents.cut(slot, extent.start, extent.start + bytes);
        // Since 6.14 those that are saturated are not counted.
        if !version.reworked || !version.is_saturated(extent.state) {
            let tiers = &mut self.lruvec(extent.state.lruvec).generations.tiers;
            tiers.count(version.tier(extent.state), bytes);
        }
        self.move_to_next(slot, version.promoted(extent.state), version.reworked);
    }

    /// Moves an extent of the oldest generation to the head or the tail of the next.
    fn move_to_next(&mut self, slot: Slot, state: State, to_head: bool) {
        let extent = self.extents.take(slot);
        let next = list(self.generations(extent.state.lruvec).min_seq + 1);
        let state = State { list: next, ..state };
        match to_head {
            true => self.extents.insert_newest(extent.file, extent.start, extent.end, state),
            false => self.extents.insert_oldest(extent.file, extent.start, extent.end, state),
        }
    }

    fn lru_gen_evict(&mut self, version: LruGen, slot: Slot) {
        let extent = self.extents.get(slot);
        let generations = &mut self.lruvec(extent.state.lruvec).generations;
        let (tier, token) = version.leave(extent.state, generations.min_seq);
        generations.tiers.count(tier, extent.len());
        self.evict(slot, token);
    }
}
