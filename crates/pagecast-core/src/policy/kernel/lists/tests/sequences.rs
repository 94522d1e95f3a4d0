//! Extents against single pages.

use std::collections::HashMap;

use proptest::prelude::*;

use super::super::*;
use super::pages::{Key, PAGE, Page, Pages, Unclean};

const FILES: u32 = 2;

/// What can happen, to a range of pages of a file, if not said otherwise.
#[derive(Clone, Copy, Debug)]
enum What {
    /// A read inserts what is not in memory.
    Read,
    /// A write does, and all is dirty.
    Write,
    Accessed,
    Remove,
    /// Dirty pages are being written.
    Writeback,
    /// Their write-back has ended.
    Written,
    /// What is not clean could not be dropped.
    Deactivate,
    /// So many pages are wanted.
    Reclaim,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    what: What,
    lruvec: usize,
    file: FileId,
    start: u64,
    pages: u64,
}

fn steps(reclaims: bool) -> impl Strategy<Value = Vec<Step>> {
    let usual = prop_oneof![
        12 => Just(What::Read), 2 => Just(What::Write), 9 => Just(What::Accessed), 1 => Just(What::Remove),
    ];
    let of_reclaim = prop_oneof![
        2 => Just(What::Writeback), 4 => Just(What::Written), 1 => Just(What::Deactivate), 8 => Just(What::Reclaim),
    ];
    let what = if reclaims { prop_oneof![2 => usual, 1 => of_reclaim].boxed() } else { usual.boxed() };
    // Often at the same places, so that runs meet.
    let start = prop_oneof![0..128_u64, (0..4_u64).prop_map(|quarter| quarter * 32)];
    let pages = prop_oneof![1..96_u64, Just(1), Just(32), Just(64)];
    let lruvec = prop_oneof![9 => Just(0_usize), 1 => Just(1)];
    let step = (what, lruvec, 0..FILES, start, pages);
    let step = step.prop_map(|(what, lruvec, file, start, pages)| Step {
        what,
        lruvec,
        file: FileId(file),
        start,
        pages,
    });
    prop::collection::vec(step, 0..120)
}

/// Both, driven alike.
struct Both {
    lists: Lists,
    pages: Pages,
    unclean: Unclean,
}

impl Both {
    fn new(grain: u64) -> Self {
        // Memory of many times what comes into it, so that no shadow is forgotten.
        Both { lists: Lists::new(2, 1 << 40, grain), pages: Pages::default(), unclean: Unclean::default() }
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        let Step { what, lruvec, file, start, pages } = step;
        let keys: Vec<Key> = (start..start + pages).map(|page| (file, page)).collect();
        let (from, to) = (start * PAGE, (start + pages) * PAGE);
        match what {
            What::Read => self.insert(step, false)?,
            What::Write => {
                self.insert(step, true)?;
                let dirty = keys.iter().filter(|key| self.unclean.0.get(key) != Some(&PageState::Writeback));
                let dirty: Vec<Key> = dirty.copied().collect();
                self.unclean.0.extend(dirty.into_iter().map(|key| (key, PageState::Dirty)));
            }
            What::Accessed => {
                self.lists.mark_accessed(file, from, to);
                keys.iter().for_each(|&key| self.pages.mark_accessed(key));
            }
            What::Remove => {
                let mut freed = [0; 2];
                self.lists.remove(file, from, to, &mut |lruvec, bytes| freed[usize::from(lruvec.0)] += bytes);
                for key in keys {
                    let whose = self.pages.remove(key);
                    whose.into_iter().for_each(|lruvec| freed[usize::from(lruvec.0)] -= PAGE);
                    self.unclean.0.remove(&key);
                }
                prop_assert_eq!(freed, [0, 0]);
            }
            What::Writeback => {
                for key in keys {
                    self.unclean.0.entry(key).and_modify(|state| *state = PageState::Writeback);
                }
            }
            What::Written => {
                self.unclean.0.retain(|key, _| !keys.contains(key));
                self.lists.written(file, from, to);
                keys.iter().rev().for_each(|&key| self.pages.written(key));
            }
            What::Deactivate => {
                for key in keys.into_iter().filter(|key| self.unclean.0.contains_key(key)) {
                    self.lists.deactivate(file, key.1 * PAGE, (key.1 + 1) * PAGE);
                    self.pages.deactivate(key);
                }
            }
            What::Reclaim => {
                let want = pages * PAGE;
                let reclaimed = self.lists.reclaim(LruvecId(lruvec as u16), want, &self.unclean);
                prop_assert_eq!(reclaimed, self.pages.reclaim(lruvec, want, &self.unclean));
            }
        }
        prop_assert!(self.lists.extents.is_consistent());
        Ok(())
    }

    fn insert(&mut self, step: Step, written: bool) -> Result<(), TestCaseError> {
        let (lruvec, file, end) = (LruvecId(step.lruvec as u16), step.file, (step.start + step.pages) * PAGE);
        for (from, to) in gaps(&self.lists, file, step.start * PAGE, end) {
            let keys = || (from / PAGE..to / PAGE).map(|page| (file, page));
            prop_assert!(keys().all(|key| !self.pages.has(key)));
            if written {
                self.lists.insert_written(lruvec, file, from, to);
                keys().for_each(|key| self.pages.insert_written(step.lruvec, key));
            } else {
                let mut all = Inserted::default();
                keys().for_each(|key| all.add(self.pages.insert_read(step.lruvec, key)));
                prop_assert_eq!(self.lists.insert_read(lruvec, file, from, to), all);
            }
        }
        Ok(())
    }

    /// The pages of the extents of a list, as far as an extent knows them, and those of the list of pages.
    fn contents(&self, lruvec: usize, active: bool) -> (Vec<Page>, &Vec<Page>) {
        let extents = self.lists.extents.in_list(LruvecId(lruvec as u16), active);
        let each = extents.flat_map(|extent| {
            let state = extent.state;
            (extent.start / PAGE..extent.end / PAGE).map(move |number| Page {
                key: (extent.file, number),
                referenced: state.referenced,
                workingset: state.workingset,
                reclaim: state.reclaim,
                inserted: 0,
            })
        });
        let pages = &self.pages.lruvecs[lruvec];
        (each.collect(), if active { &pages.active } else { &pages.inactive })
    }

    fn sums_agree(&self) -> Result<(), TestCaseError> {
        for (number, pages) in self.pages.lruvecs.iter().enumerate() {
            let lruvec = LruvecId(number as u16);
            prop_assert_eq!(self.lists.inactive(lruvec), pages.inactive.len() as u64 * PAGE);
            prop_assert_eq!(self.lists.active(lruvec), pages.active.len() as u64 * PAGE);
        }
        let all =
            || self.pages.lruvecs.iter().flat_map(|lruvec| lruvec.inactive.iter().chain(&lruvec.active));
        for file in (0..FILES).map(FileId) {
            let cached = all().filter(|page| page.key.0 == file).count() as u64 * PAGE;
            prop_assert_eq!(self.lists.of_file(file), cached);
            prop_assert_eq!(self.lists.cached_within(file, 0, u64::MAX), cached);
            let active = self.pages.lruvecs.iter().flat_map(|lruvec| &lruvec.active);
            let active = active.filter(|page| page.key.0 == file).count() as u64 * PAGE;
            prop_assert_eq!(self.lists.active_of_file(file), active);
        }
        Ok(())
    }
}

const LISTS: [(usize, bool); 4] = [(0, false), (0, true), (1, false), (1, true)];

proptest! {
    #[test]
    fn extents_are_pages_in_the_same_order(steps in steps(true), grain in 0..=PAGE) {
        let mut both = Both::new(grain);
        for step in steps {
            both.step(step)?;
            both.sums_agree()?;
            for (lruvec, active) in LISTS {
                let (extents, pages) = both.contents(lruvec, active);
                let pages: Vec<Page> = pages.iter().map(|page| Page { inserted: 0, ..*page }).collect();
                prop_assert_eq!(extents, pages, "list {} of {}", active, lruvec);
            }
        }
    }

    #[test]
    fn a_grain_displaces_pages_by_less_than_itself(steps in steps(false), grain in 1..64_u64) {
        let mut both = Both::new(grain * PAGE);
        for step in steps {
            both.step(step)?;
            both.sums_agree()?;
            for (lruvec, active) in LISTS {
                let (extents, pages) = both.contents(lruvec, active);
                let inserted: HashMap<Key, u64> = pages.iter().map(|page| (page.key, page.inserted)).collect();
                let mut latest = 0;
                for page in &extents {
                    let inserted = *inserted.get(&page.key).expect("the same pages are in the list");
                    prop_assert!(inserted + grain * PAGE > latest);
                    latest = latest.max(inserted);
                }
            }
        }
    }

    #[test]
    fn what_is_forgotten_would_not_have_been_activated(steps in steps(true), memory in 1..200_u64) {
        let mut forgetful = Lists::new(2, memory * PAGE, 0);
        let mut remembering = Lists::new(2, 1 << 40, 0);
        for Step { what, file, start, pages, .. } in steps {
            let (lruvec, start, end, want) = (LruvecId(0), start * PAGE, (start + pages) * PAGE, pages * PAGE);
            for lists in [&mut forgetful, &mut remembering] {
                let want = match what {
                    What::Reclaim => want,
                    _ => (lists.cached() + want).saturating_sub(memory * PAGE),
                };
                match what {
                    What::Accessed => lists.mark_accessed(file, start, end),
                    _ => {
                        let clean = lists.cached();
                        let freed = lists.reclaim(lruvec, want, &Unclean::default()).freed;
                        prop_assert_eq!(freed, clean.min(want));
                    }
                }
            }
            let reads = matches!(what, What::Read) && pages <= memory;
            for (from, to) in gaps(&forgetful, file, start, end).into_iter().filter(|_| reads) {
                let few = forgetful.insert_read(lruvec, file, from, to);
                let all = remembering.insert_read(lruvec, file, from, to);
                prop_assert_eq!((few.activated, few.restored), (all.activated, all.restored));
                prop_assert!(few.refaulted <= all.refaulted);
            }
            prop_assert!(forgetful.shadows.len() <= remembering.shadows.len());
        }
    }
}

/// The runs of a file that are not in memory.
fn gaps(lists: &Lists, file: FileId, start: u64, end: u64) -> Vec<(u64, u64)> {
    let (mut at, mut gaps) = (start, Vec::new());
    while at < end {
        let (cached, until) = lists.run(file, at, end);
        gaps.extend((!cached).then_some((at, until)));
        at = until;
    }
    gaps
}
