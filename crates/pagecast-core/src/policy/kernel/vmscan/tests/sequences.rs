//! Compares extents with single pages after any sequence of operations.

use super::LATEST;
use std::collections::HashMap;

use proptest::prelude::*;

use super::generation_pages;
use super::pages::{Key, Model, PAGE, Page, Pages, Unclean};
use crate::policy::FileId;
use crate::policy::kernel::address_space::page_state::PageState;
use crate::policy::kernel::version::LruGen;
use crate::policy::kernel::vmscan::lists::{Lists, Replacement};
use crate::policy::kernel::vmscan::lruvec::*;

const FILES: u32 = 2;

/// The steps, of a range of pages of a file if not said otherwise.
#[derive(Clone, Copy, Debug)]
enum What {
    /// Inserts by a read the pages that are not in memory.
    Read,
    /// Inserts by a write the pages that are not in memory; all are dirty.
    Write,
    Accessed,
    Remove,
    /// Submits dirty pages.
    Writeback,
    /// Ends their writeback.
    Written,
    /// Deactivates unclean pages that were to be dropped.
    Deactivate,
    /// Wants so many pages.
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

/// The same places again and again, read so often that tiers fill, while memory is short: refaulted pages are protected.
fn pressed() -> impl Strategy<Value = Vec<Step>> {
    let use_often = (0..6_usize, 0..5_u64, 96..192_u64).prop_map(|(reads, quarter, pages)| {
        let what = std::iter::once(What::Read).chain(std::iter::repeat_n(What::Accessed, reads));
        what.map(|what| (what, quarter * 32, pages)).collect()
    });
    let evict = (96..256_u64).prop_map(|pages| vec![(What::Reclaim, 0, pages)]);
    let write = (0..5_u64, 1..64_u64).prop_map(|(quarter, pages)| {
        let (start, written) = (quarter * 32, [What::Write, What::Writeback, What::Reclaim, What::Written]);
        written.into_iter().map(|what| (what, start, pages)).collect()
    });
    let round = (prop_oneof![8 => use_often, 8 => evict, 1 => write], 0..FILES);
    let step = |(what, start, pages), file| Step { what, lruvec: 0, file: FileId(file), start, pages };
    let rounds = prop::collection::vec(round, 20..60);
    rounds.prop_map(move |rounds| {
        let steps = rounds
            .into_iter()
            .flat_map(|(steps, file): (Vec<_>, u32)| steps.into_iter().map(move |each| step(each, file)));
        steps.collect()
    })
}

/// Both, driven alike.
struct Both<M> {
    lists: Lists,
    pages: M,
    unclean: Unclean,
}

/// Memory of many times what comes into it, so that no shadow is forgotten.
const AMPLE: u64 = 1 << 40;

impl Both<Pages> {
    fn with_two_lists(extent_bytes: u64) -> Self {
        let lists = Lists::new(Replacement::TwoLists(LATEST), 2, AMPLE, extent_bytes);
        Both { lists, pages: Pages::default(), unclean: Unclean::default() }
    }
}

impl Both<generation_pages::Generations> {
    fn with_generations(version: LruGen, extent_bytes: u64) -> Self {
        let lists = Lists::new(Replacement::Generations(version), 2, AMPLE, extent_bytes);
        Both { lists, pages: generation_pages::Generations::new(version), unclean: Unclean::default() }
    }
}

impl<M: Model> Both<M> {
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
                self.lists.remove(file, from, to);
                for key in keys {
                    self.pages.remove(key);
                    self.unclean.0.remove(&key);
                }
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
    fn contents(&self, lruvec: usize, list: u8) -> (Vec<Page>, &Vec<Page>) {
        let extents = self.lists.extents.in_list(LruvecId(lruvec as u16), list);
        let each = extents.flat_map(|extent| {
            let state = extent.state;
            (extent.start / PAGE..extent.end / PAGE).map(move |number| Page {
                key: (extent.file, number),
                referenced: state.referenced,
                refs: state.refs,
                workingset: state.workingset,
                reclaim: state.reclaim,
                inserted: 0,
            })
        });
        (each.collect(), self.pages.list(lruvec, list))
    }

    fn each_list() -> impl Iterator<Item = (usize, u8)> {
        (0..2).flat_map(|lruvec| (0..M::LISTS).map(move |list| (lruvec, list)))
    }

    fn sums_agree(&self) -> Result<(), TestCaseError> {
        for number in 0..2 {
            let lruvec = LruvecId(number as u16);
            let lists =
                (0..M::LISTS).map(|list| (self.pages.is_active(number, list), self.pages.list(number, list)));
            let bytes = |active| {
                lists
                    .clone()
                    .filter(|list| list.0 == active)
                    .map(|list| list.1.len() as u64 * PAGE)
                    .sum::<u64>()
            };
            prop_assert_eq!(self.lists.inactive(lruvec), bytes(false));
            prop_assert_eq!(self.lists.active(lruvec), bytes(true));
        }
        let all = || {
            Self::each_list()
                .map(|(number, list)| (self.pages.is_active(number, list), self.pages.list(number, list)))
        };
        let pages = |file, is_counted: fn(bool) -> bool| {
            let counted = all().filter(|list| is_counted(list.0)).flat_map(|list| list.1);
            counted.filter(|page| page.key.0 == file).count() as u64 * PAGE
        };
        for file in (0..FILES).map(FileId) {
            let cached = pages(file, |_| true);
            prop_assert_eq!(self.lists.of_file(file), cached);
            prop_assert_eq!(self.lists.cached_within(file, 0, u64::MAX), cached);
            prop_assert_eq!(self.lists.active_of_file(file), pages(file, |active| active));
        }
        Ok(())
    }

    /// Takes the steps; after each all is equal, page by page.
    fn are_equal(mut self, steps: Vec<Step>) -> Result<(), TestCaseError> {
        for step in steps {
            self.step(step)?;
            self.sums_agree()?;
            for (lruvec, list) in Self::each_list() {
                let (extents, pages) = self.contents(lruvec, list);
                let pages: Vec<Page> = pages.iter().map(|page| Page { inserted: 0, ..*page }).collect();
                prop_assert_eq!(extents, pages, "list {} of {}", list, lruvec);
            }
        }
        Ok(())
    }

    /// Takes the steps; no page is before one that came so many bytes earlier.
    fn are_displaced_by_less_than(
        mut self,
        extent_bytes: u64,
        steps: Vec<Step>,
    ) -> Result<(), TestCaseError> {
        for step in steps {
            self.step(step)?;
            self.sums_agree()?;
            for (lruvec, list) in Self::each_list() {
                let (extents, pages) = self.contents(lruvec, list);
                let inserted: HashMap<Key, u64> =
                    pages.iter().map(|page| (page.key, page.inserted)).collect();
                let mut latest = 0;
                for page in &extents {
                    let inserted = *inserted.get(&page.key).expect("the same pages are in the list");
                    prop_assert!(inserted + extent_bytes > latest);
                    latest = latest.max(inserted);
                }
            }
        }
        Ok(())
    }
}

fn versions() -> impl Strategy<Value = LruGen> {
    (any::<bool>(), any::<bool>()).prop_map(|(reworked, wakes_flushers)| LruGen { reworked, wakes_flushers })
}

proptest! {
    #[test]
    fn extents_are_pages_in_the_same_order(steps in steps(true), extent_bytes in 0..=PAGE) {
        Both::with_two_lists(extent_bytes).are_equal(steps)?;
    }

    #[test]
    fn an_extent_displaces_pages_by_less_than_itself(steps in steps(false), extent_bytes in 1..64_u64) {
        Both::with_two_lists(extent_bytes * PAGE).are_displaced_by_less_than(extent_bytes * PAGE, steps)?;
    }

    #[test]
    fn what_is_forgotten_would_not_have_been_activated(steps in steps(true), memory in 1..200_u64) {
        let mut forgetful = Lists::new(Replacement::TwoLists(LATEST), 2, memory * PAGE, 0);
        let mut remembering = Lists::new(Replacement::TwoLists(LATEST), 2, 1 << 40, 0);
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn generations_of_extents_are_generations_of_pages(steps in steps(true), extent_bytes in 0..=PAGE, version in versions()) {
        Both::with_generations(version, extent_bytes).are_equal(steps)?;
    }

    #[test]
    fn pages_that_come_back_are_protected_alike(steps in pressed(), version in versions()) {
        Both::with_generations(version, 0).are_equal(steps)?;
    }

    #[test]
    fn an_extent_displaces_pages_of_generations_alike(steps in steps(false), extent_bytes in 1..64_u64, version in versions()) {
        Both::with_generations(version, extent_bytes * PAGE).are_displaced_by_less_than(extent_bytes * PAGE, steps)?;
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

#[test]
fn a_batch_is_of_4096_pages_if_none_can_be_evicted() {
    let step = |what, file, pages| Step { what, lruvec: 0, file: FileId(file), start: 0, pages };
    let use_twice = |file, pages| {
        [What::Read, What::Accessed, What::Accessed].map(|what| step(what, file, pages)).to_vec()
    };
    let evict = |pages| vec![step(What::Reclaim, 0, pages)];
    for reworked in [false, true] {
        let rounds = [
            use_twice(0, 6000),
            vec![step(What::Read, 1, 700)],
            evict(2000),
            use_twice(0, 2000),
            evict(500),
            evict(3000),
        ];
        let version = LruGen { reworked, wakes_flushers: true };
        Both::with_generations(version, 0).are_equal(rounds.concat()).expect("extents are pages");
    }
}

#[test]
fn a_run_of_pages_read_often_is_protected_from_the_batch_on_in_which_others_have_left() {
    let of = |what, file, start, pages| Step { what, lruvec: 0, file: FileId(file), start, pages };
    let read = |file, start, pages, times| {
        let accessed = std::iter::repeat_n(of(What::Accessed, file, start, pages), times);
        std::iter::once(of(What::Read, file, start, pages)).chain(accessed).collect()
    };
    let evict = |pages| vec![of(What::Reclaim, 0, 0, pages)];
    let rounds: [Vec<Step>; 10] = [
        read(1, 128, 172, 2),
        read(1, 0, 121, 0),
        evict(96),
        evict(96),
        evict(101),
        read(1, 96, 145, 1),
        read(0, 0, 101, 3),
        read(1, 0, 96, 0),
        read(1, 0, 178, 4),
        evict(129),
    ];
    let version = LruGen { reworked: true, wakes_flushers: false };
    Both::with_generations(version, 0).are_equal(rounds.concat()).expect("extents are pages");
}
