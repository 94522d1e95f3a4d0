//! Holds the lists of a host: which pages are in memory, and in which list or generation.
//!
//! Source: `mm/swap.c`, `mm/vmscan.c`, `mm/workingset.c`, Linux 6.16. The rules of both replacement policies are beside this file.

use crate::policy::FileId;
use crate::policy::kernel::address_space::page_state::Busy;
use crate::policy::kernel::version::{LruGen, TwoLists};
use crate::policy::kernel::vmscan::extents::Extents;
use crate::policy::kernel::vmscan::generations::{ACTIVE_AT_FIRST, Generations};
use crate::policy::kernel::vmscan::lruvec::{ACTIVE, INACTIVE, Inserted, Listed, LruvecId};
use crate::policy::kernel::vmscan::scan_control::{Demand, Reclaimed};
use crate::policy::kernel::vmscan::shadows::{Shadow, Shadows, Token};
use crate::policy::kernel::vmscan::slab::{Extent, Slot, State};

/// The rules by which pages are evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// An inactive and an active list, as in some version of Linux.
    TwoLists(TwoLists),
    /// The multi-generational lists of some version of Linux.
    Generations(LruGen),
}

/// The state of the pages of one node and memory cgroup, besides their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lruvec {
    /// Bytes evicted and bytes activated so far: `nonresident_age`.
    pub age: u64,
    /// With two lists: true if evicted pages have come back as active ones since the last reclaim.
    pub refaulted: bool,
    /// With generations: their numbers, and the refaults.
    pub generations: Generations,
}

/// The lists of a host.
pub struct Lists {
    pub replacement: Replacement,
    pub extents: Extents,
    pub shadows: Shadows,
    pub lruvecs: Vec<Lruvec>,
}

impl Lists {
    /// Empty lists of a host with so much memory. Pages that came within `extent_bytes` bytes of each other may be out of order.
    pub fn new(replacement: Replacement, lruvecs: usize, memory: u64, extent_bytes: u64) -> Self {
        let (active, remembered) = match replacement {
            Replacement::TwoLists(version) => {
                (&[false, true][..], if version.remembers_evicted { memory } else { 0 })
            }
            Replacement::Generations(_) => (&ACTIVE_AT_FIRST[..], memory.saturating_mul(8)),
        };
        Lists {
            replacement,
            extents: Extents::new(lruvecs, active, extent_bytes),
            shadows: Shadows::new(lruvecs, remembered),
            lruvecs: vec![Lruvec::default(); lruvecs],
        }
    }

    pub fn lruvec(&mut self, lruvec: LruvecId) -> &mut Lruvec {
        &mut self.lruvecs[usize::from(lruvec.0)]
    }

    /// Returns the list in which new pages begin, and their state.
    pub fn fresh(&self, lruvec: LruvecId) -> State {
        match self.replacement {
            Replacement::TwoLists(_) => State::fresh(lruvec, INACTIVE),
            Replacement::Generations(version) => self.lru_gen_fresh(version, lruvec),
        }
    }

    /// Returns the list whose tail is reclaimed.
    fn first_reclaimed(&self, lruvec: LruvecId) -> u8 {
        match self.replacement {
            Replacement::TwoLists(_) => INACTIVE,
            Replacement::Generations(_) => self.lruvecs[usize::from(lruvec.0)].generations.oldest(),
        }
    }

    /// Inserts bytes that have been read from the device.
    pub fn insert_read(&mut self, lruvec: LruvecId, file: FileId, start: u64, end: u64) -> Inserted {
        self.extents.turn_over(file, end - start);
        let mut total = Inserted::default();
        let mut at = start;
        while let Some(gone) = self.shadows.take_first(file, at, end) {
            self.extents.insert_newest(file, at, gone.start, self.fresh(lruvec));
            total.add(match self.replacement {
                Replacement::TwoLists(_) => self.workingset_refault(lruvec, file, gone),
                Replacement::Generations(version) => self.lru_gen_refault(version, lruvec, file, gone),
            });
            at = gone.end;
        }
        self.extents.insert_newest(file, at, end, self.fresh(lruvec));
        self.check();
        total
    }

    /// Inserts bytes that are written and were not in memory. An earlier eviction of them does not count.
    pub fn insert_written(&mut self, lruvec: LruvecId, file: FileId, start: u64, end: u64) {
        self.shadows.forget(file, start, end);
        self.extents.turn_over(file, end - start);
        self.extents.insert_newest(file, start, end, self.fresh(lruvec));
        self.check();
    }

    /// Marks the bytes that a read has copied, as far as they are in memory.
    pub fn mark_accessed(&mut self, file: FileId, start: u64, end: u64) {
        match self.replacement {
            Replacement::TwoLists(_) => self.folio_mark_accessed(file, start, end),
            Replacement::Generations(version) => self.lru_gen_inc_refs(version, file, start, end),
        }
        self.check();
    }

    /// Frees `want` bytes, or all clean ones if those are fewer.
    pub fn reclaim(&mut self, lruvec: LruvecId, want: u64, busy: &impl Busy) -> Reclaimed {
        self.shrink(lruvec, Demand::Exactly(want), busy)
    }

    /// Frees at least `want` bytes as kswapd does, of a node that is balanced when `high` are free.
    pub fn balance(&mut self, lruvec: LruvecId, want: u64, high: u64, busy: &impl Busy) -> Reclaimed {
        self.shrink(lruvec, Demand::Balance { want, high }, busy)
    }

    fn shrink(&mut self, lruvec: LruvecId, demand: Demand, busy: &impl Busy) -> Reclaimed {
        let reclaimed = match self.replacement {
            Replacement::TwoLists(version) => self.shrink_lruvec(version, lruvec, demand, busy),
            // `mm/vmscan.c: should_abort_scan`: kswapd stops there as soon as enough is free.
            Replacement::Generations(version) => {
                self.lru_gen_shrink_lruvec(version, lruvec, demand.want(), busy)
            }
        };
        self.check();
        reclaimed
    }

    /// Evicts the pages of an extent, and remembers their state.
    pub fn evict(&mut self, slot: Slot, token: Token) {
        let gone = self.extents.take(slot);
        self.extents.turn_over(gone.file, gone.len());
        let lruvec = gone.state.lruvec;
        let age = &mut self.lruvecs[usize::from(lruvec.0)].age;
        let shadow = Shadow { start: gone.start, end: gone.end, lruvec, age: *age, token };
        *age += gone.len();
        self.shadows.leave(gone.file, shadow);
    }

    /// Notes that bytes have been written: those that reclaim had set aside are the next to be freed.
    ///
    /// `mm/swap.c: folio_rotate_reclaimable`. The lowest of them go first, as in all extents; in the kernel the last to be written
    /// does.
    pub fn written(&mut self, file: FileId, start: u64, end: u64) {
        let mut until = end;
        while let Some((slot, extent)) = self.extents.last_in(file, start, until) {
            let (from, to) = (extent.start.max(start), extent.end.min(until));
            until = from;
            if extent.state.reclaim {
                self.extents.take_part(slot, from, to);
                let list = self.first_reclaimed(extent.state.lruvec);
                let state = State { list, reclaim: false, ..extent.state };
                self.extents.insert_oldest(file, from, to, state);
            }
        }
        self.check();
    }

    /// Marks bytes that were to be dropped but are dirty or under writeback: they are freed when they are written.
    ///
    /// `mm/swap.c: deactivate_file_folio`.
    pub fn deactivate(&mut self, file: FileId, start: u64, end: u64) {
        let mut at = start;
        while let Some((slot, extent)) = self.extents.first_in(file, at, end) {
            let from = extent.start.max(at);
            at = extent.end.min(end);
            let (state, moves) = match self.replacement {
                Replacement::TwoLists(_) => (Self::deactivated(extent.state), true),
                Replacement::Generations(version) => self.lru_gen_deactivated(version, extent.state),
            };
            if moves {
                self.extents.take_part(slot, from, at);
                self.extents.insert_newest(file, from, at, state);
            } else {
                let slot = self.extents.cut(slot, from, at);
                self.extents.set_state(slot, state);
            }
        }
        self.check();
    }

    /// Removes bytes otherwise than by reclaim; nothing is remembered of them.
    ///
    /// `mm/truncate.c`: truncation, and dropping clean pages.
    pub fn remove(&mut self, file: FileId, start: u64, end: u64) {
        while let Some((slot, extent)) = self.extents.first_in(file, start, end) {
            let gone = self.extents.take_part(slot, extent.start.max(start), extent.end.min(end));
            self.extents.turn_over(file, gone.len());
        }
        self.shadows.forget(file, start, end);
        self.check();
    }

    /// Forgets what only reads and reclaim would need, and the extents unless `keeps_extents`. Counts stay.
    pub fn retire(&mut self, keeps_extents: bool) {
        self.shadows = Shadows::new(self.lruvecs.len(), 0);
        if !keeps_extents {
            self.extents.forget();
        }
    }

    /// True if the byte at `at` is in memory; and the end of that run, `end` at most.
    pub fn run(&self, file: FileId, at: u64, end: u64) -> (bool, u64) {
        match self.extents.first_in(file, at, end) {
            None => (false, end),
            Some((_, first)) if first.start > at => (false, first.start),
            Some((_, first)) => {
                let mut following = self.extents.within(file, first.end, end).map(|(_, extent)| extent);
                let joined = |until, next: &Extent| (next.start == until).then_some(next.end).ok_or(until);
                let until = following.try_fold(first.end, joined).unwrap_or_else(|until| until);
                (true, until.min(end))
            }
        }
    }

    /// Calls `tell` for each run of `start..end` in memory, with its lruvec and bytes.
    pub fn placed(&self, file: FileId, start: u64, end: u64, mut tell: impl FnMut(LruvecId, u64)) {
        for (_, extent) in self.extents.within(file, start, end) {
            tell(extent.state.lruvec, extent.end.min(end) - extent.start.max(start));
        }
    }

    /// Returns the lruvec of the byte at `at`, if it is in memory, and the end of that run.
    pub fn place(&self, file: FileId, at: u64, end: u64) -> Option<(LruvecId, u64)> {
        let extents = self.extents.within(file, at, end).map(|(_, extent)| extent);
        let mut until = None;
        for extent in extents {
            match until {
                None if extent.start <= at => until = Some((extent.state.lruvec, extent.end)),
                Some((lruvec, to)) if extent.start == to && extent.state.lruvec == lruvec => {
                    until = Some((lruvec, extent.end));
                }
                _ => break,
            }
        }
        until.map(|(lruvec, to)| (lruvec, to.min(end)))
    }

    /// Returns how many bytes of `start..end` are in memory.
    pub fn cached_within(&self, file: FileId, start: u64, end: u64) -> u64 {
        let within = self.extents.within(file, start, end);
        within.map(|(_, extent)| extent.end.min(end) - extent.start.max(start)).sum()
    }

    /// The bytes of a file in memory.
    pub fn of_file(&self, file: FileId) -> u64 {
        self.extents.of_file(file)
    }

    /// The bytes of a file that count as active.
    pub fn active_of_file(&self, file: FileId) -> u64 {
        self.extents.active_of_file(file)
    }

    /// Bytes that have come into memory or left it so far.
    pub fn turnover_of_all(&self) -> u64 {
        self.extents.turnover_of_all()
    }

    /// Bytes of a file that have come into memory or left it so far.
    pub fn turnover(&self, file: FileId) -> u64 {
        self.extents.turnover(file)
    }

    /// The files with bytes in memory, by number.
    pub fn files(&self) -> impl Iterator<Item = FileId> {
        self.extents.files()
    }

    /// The bytes that do not count as active.
    pub fn inactive(&self, lruvec: LruvecId) -> u64 {
        self.extents.counted(lruvec, false)
    }

    /// The bytes of the active list, or of the two youngest generations (`lru_gen_is_active`).
    pub fn active(&self, lruvec: LruvecId) -> u64 {
        self.extents.counted(lruvec, true)
    }

    /// The active bytes of all lruvecs.
    pub fn all_active(&self) -> u64 {
        self.extents.all_active()
    }

    /// The bytes of all lists of a lruvec.
    pub fn of_lruvec(&self, lruvec: LruvecId) -> u64 {
        self.extents.of_lruvec(lruvec)
    }

    /// The bytes of all lists.
    pub fn cached(&self) -> u64 {
        self.extents.all_bytes()
    }

    /// The number of extents.
    pub fn extents(&self) -> usize {
        self.extents.len()
    }

    /// The runs that count as active, or those that do not, the next to be reclaimed first.
    pub fn listed(&self, lruvec: LruvecId, active: bool) -> impl Iterator<Item = Listed> {
        let lists = match self.replacement {
            Replacement::TwoLists(_) => vec![INACTIVE, ACTIVE],
            Replacement::Generations(_) => self.lruvecs[usize::from(lruvec.0)].generations.lists().collect(),
        };
        let lists = lists.into_iter().filter(move |&list| self.extents.is_active(lruvec, list) == active);
        lists.flat_map(move |list| self.extents.in_list(lruvec, list)).map(|extent| Listed {
            file: extent.file,
            start: extent.start,
            end: extent.end,
            referenced: extent.state.referenced,
        })
    }

    /// Checks everything after every change in debug builds, as long as that is quick.
    pub fn check(&self) {
        debug_assert!(self.extents.len() > 100 || self.extents.is_consistent(), "lists and files agree");
    }
}
