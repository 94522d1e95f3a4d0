//! Checks one rule of the two lists in each test.

use super::LATEST;
use super::pages::{PAGE, Unclean};
use crate::policy::FileId;
use crate::policy::kernel::address_space::page_state::{Busy, PageState};
use crate::policy::kernel::version::TwoLists;
use crate::policy::kernel::vmscan::lists::{Lists, Replacement};
use crate::policy::kernel::vmscan::lruvec::*;
use crate::policy::kernel::vmscan::scan_control::{BATCH, Batches};
use crate::policy::kernel::vmscan::shadows::{Shadow, Shadows, Token};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const A: FileId = FileId(0);
const B: FileId = FileId(1);
const ONLY: LruvecId = LruvecId(0);

/// Nothing is dirty.
struct AllClean;

impl Busy for AllClean {
    fn run(&self, _file: FileId, _at: u64, end: u64) -> (PageState, u64) {
        (PageState::Clean, end)
    }
}

/// This is, the rest is not.
struct Only(FileId, PageState);

impl Busy for Only {
    fn run(&self, file: FileId, _at: u64, end: u64) -> (PageState, u64) {
        (if file == self.0 { self.1 } else { PageState::Clean }, end)
    }
}

fn lists() -> Lists {
    Lists::new(Replacement::TwoLists(LATEST), 1, 64 * GIB, 0)
}

/// Lists with the first bytes of both files, read in that order.
fn lists_with(a: u64, b: u64) -> Lists {
    lists_of(LATEST, a, b)
}

/// Lists of a version with the first bytes of both files, read in that order.
fn lists_of(version: TwoLists, a: u64, b: u64) -> Lists {
    let mut lists = Lists::new(Replacement::TwoLists(version), 1, 64 * GIB, 0);
    lists.insert_read(ONLY, A, 0, a);
    lists.insert_read(ONLY, B, 0, b);
    lists
}

fn read_twice(lists: &mut Lists, file: FileId, end: u64) {
    lists.mark_accessed(file, 0, end);
    lists.mark_accessed(file, 0, end);
}

/// File, start and end of the extents of a list, in MiB, the next to be reclaimed first.
fn listed(lists: &Lists, active: bool) -> Vec<(u32, u64, u64)> {
    lists.listed(ONLY, active).map(|run| (run.file.0, run.start / MIB, run.end / MIB)).collect()
}

#[test]
fn pages_read_or_written_come_to_the_inactive_head() {
    let mut lists = lists();
    lists.insert_read(ONLY, A, 0, MIB);
    lists.insert_written(ONLY, B, 0, MIB);
    lists.insert_read(ONLY, A, 4 * MIB, 5 * MIB);
    assert_eq!(listed(&lists, false), [(0, 0, 1), (1, 0, 1), (0, 4, 5)]);
    assert_eq!(listed(&lists, true), []);
}

#[test]
fn the_first_access_marks_and_the_second_activates() {
    let mut lists = lists_with(MIB, MIB);
    lists.mark_accessed(A, 0, MIB);
    assert_eq!(listed(&lists, false), [(0, 0, 1), (1, 0, 1)]);
    lists.mark_accessed(A, 0, MIB);
    assert_eq!((listed(&lists, false), listed(&lists, true)), (vec![(1, 0, 1)], vec![(0, 0, 1)]));
    assert!(lists.listed(ONLY, true).all(|run| !run.referenced), "activation takes the mark");
}

#[test]
fn an_access_of_an_active_page_does_not_move_it() {
    let mut lists = lists_with(MIB, MIB);
    read_twice(&mut lists, A, MIB);
    read_twice(&mut lists, B, MIB);
    read_twice(&mut lists, A, MIB);
    assert_eq!(listed(&lists, true), [(0, 0, 1), (1, 0, 1)]);
    assert!(lists.listed(ONLY, true).next().is_some_and(|run| run.referenced));
}

#[test]
fn the_part_of_an_extent_that_is_read_twice_is_activated() {
    let mut lists = lists_with(4 * MIB, 0);
    lists.mark_accessed(A, MIB, 3 * MIB);
    lists.mark_accessed(A, 2 * MIB, 8 * MIB);
    assert_eq!(listed(&lists, true), [(0, 2, 3)]);
    assert_eq!(listed(&lists, false), [(0, 0, 1), (0, 1, 2), (0, 3, 4)]);
}

#[test]
fn reclaim_takes_the_oldest_bytes_referenced_or_not() {
    let mut lists = lists_with(2 * MIB, 2 * MIB);
    lists.mark_accessed(A, 0, 2 * MIB);
    let reclaimed = lists.reclaim(ONLY, 3 * MIB, &AllClean);
    assert_eq!((reclaimed.freed, reclaimed.scanned, reclaimed.demoted), (3 * MIB, 3 * MIB, 0));
    assert_eq!(listed(&lists, false), [(1, 1, 2)]);
}

#[test]
fn the_longest_active_share_grows_with_the_root_of_memory() {
    for (gib, ratio) in [(1, 3), (2, 4), (4, 6), (8, 8), (16, 12), (32, 17), (64, 25), (128, 35), (1024, 101)]
    {
        let inactive = gib * GIB / (ratio + 1) + 1;
        assert!(!LATEST.inactive_is_low(inactive, gib * GIB - inactive), "{gib} GiB");
        let inactive = inactive - MIB;
        assert!(LATEST.inactive_is_low(inactive, gib * GIB - inactive), "{gib} GiB");
    }
    assert!(!LATEST.inactive_is_low(MIB, MIB), "below 1 GiB the lists may be equal");
    assert!(LATEST.inactive_is_low(MIB - 1, MIB));
    let before_4_7 = TwoLists { ratio_grows: false, ..LATEST };
    assert!(!before_4_7.inactive_is_low(GIB, GIB) && before_4_7.inactive_is_low(GIB - 1, GIB));
}

#[test]
fn the_active_list_may_hold_everything_until_memory_is_wanted() {
    let mut lists = lists_with(8 * MIB, 0);
    read_twice(&mut lists, A, 8 * MIB);
    assert_eq!((lists.inactive(ONLY), lists.active(ONLY)), (0, 8 * MIB));
    let reclaimed = lists.reclaim(ONLY, MIB, &AllClean);
    assert_eq!(reclaimed.freed, MIB);
    assert_eq!(listed(&lists, true)[0].2, 8, "its head stays");
    assert!(reclaimed.demoted > MIB);
}

#[test]
fn a_long_inactive_list_protects_the_active_one() {
    let mut lists = lists_with(4 * MIB, 8 * MIB);
    read_twice(&mut lists, A, 4 * MIB);
    assert_eq!(lists.reclaim(ONLY, 2 * MIB, &AllClean).demoted, 0);
    assert_eq!(lists.active(ONLY), 4 * MIB);
}

#[test]
fn a_demoted_page_that_was_referenced_needs_one_access_to_return() {
    let mut lists = lists_with(8 * MIB, 0);
    read_twice(&mut lists, A, 8 * MIB);
    lists.mark_accessed(A, 0, 8 * MIB);
    lists.reclaim(ONLY, MIB, &AllClean);
    let inactive = lists.inactive(ONLY);
    assert!(inactive > 0);
    lists.mark_accessed(A, 0, 8 * MIB);
    assert_eq!((lists.inactive(ONLY), lists.active(ONLY)), (0, 7 * MIB));
}

#[test]
fn an_evicted_page_is_activated_if_it_comes_back_within_the_length_of_the_active_list() {
    let mut lists = lists_with(4 * MIB, 16 * MIB);
    read_twice(&mut lists, A, 4 * MIB);
    lists.reclaim(ONLY, 6 * MIB, &AllClean);
    // 6 MiB are gone, the first of them 6 MiB ago; the active list has 4.
    let inserted = lists.insert_read(ONLY, B, 0, 6 * MIB);
    assert_eq!(inserted, Inserted { refaulted: 6 * MIB, activated: 4 * MIB, restored: 0 });
    assert_eq!(listed(&lists, true), [(0, 0, 4), (1, 2, 6)]);
    assert_eq!(lists.insert_read(ONLY, FileId(2), 0, MIB), Inserted::default());
}

#[test]
fn a_page_that_had_been_active_is_restored() {
    let mut lists = lists_with(8 * MIB, 0);
    read_twice(&mut lists, A, 8 * MIB);
    lists.reclaim(ONLY, MIB, &AllClean);
    let inserted = lists.insert_read(ONLY, A, 0, MIB);
    assert_eq!(inserted, Inserted { refaulted: MIB, activated: MIB, restored: MIB });
}

#[test]
fn pages_that_came_back_end_the_protection_until_the_next_reclaim() {
    let mut lists = lists_with(4 * MIB, 8 * MIB);
    read_twice(&mut lists, A, 4 * MIB);
    lists.reclaim(ONLY, MIB, &AllClean);
    lists.insert_read(ONLY, B, 0, MIB);
    assert!(!LATEST.inactive_is_low(lists.inactive(ONLY), lists.active(ONLY)));
    assert!(lists.reclaim(ONLY, MIB, &AllClean).demoted > 0);
    assert_eq!(lists.reclaim(ONLY, MIB, &AllClean).demoted, 0);
}

#[test]
fn before_4_12_pages_that_came_back_did_not_end_the_protection() {
    let mut lists = lists_of(TwoLists { refaults_deactivate: false, ..LATEST }, 4 * MIB, 8 * MIB);
    read_twice(&mut lists, A, 4 * MIB);
    lists.reclaim(ONLY, MIB, &AllClean);
    assert_eq!(lists.insert_read(ONLY, B, 0, MIB).activated, MIB);
    assert_eq!(lists.reclaim(ONLY, MIB, &AllClean).demoted, 0);
}

#[test]
fn before_3_15_nothing_was_remembered() {
    let mut lists = lists_of(TwoLists { remembers_evicted: false, ..LATEST }, 4 * MIB, 8 * MIB);
    read_twice(&mut lists, A, 4 * MIB);
    lists.reclaim(ONLY, MIB, &AllClean);
    assert_eq!((lists.insert_read(ONLY, B, 0, MIB), lists.shadows.len()), (Inserted::default(), 0));
}

#[test]
fn a_write_does_not_come_back() {
    let mut lists = lists_with(4 * MIB, 8 * MIB);
    read_twice(&mut lists, A, 4 * MIB);
    lists.reclaim(ONLY, MIB, &AllClean);
    lists.insert_written(ONLY, B, 0, MIB);
    assert_eq!(lists.active(ONLY), 4 * MIB);
    lists.remove(B, 0, MIB);
    assert_eq!(lists.insert_read(ONLY, B, 0, MIB), Inserted::default(), "nothing is remembered either");
}

#[test]
fn removed_pages_are_not_remembered() {
    let mut lists = lists_with(4 * MIB, 8 * MIB);
    read_twice(&mut lists, A, 4 * MIB);
    lists.reclaim(ONLY, MIB, &AllClean);
    lists.remove(B, 0, 2 * MIB);
    assert_eq!(lists.of_file(B), 6 * MIB);
    assert_eq!(lists.insert_read(ONLY, B, 0, 2 * MIB), Inserted::default());
}

#[test]
fn only_evictions_within_the_memory_are_remembered() {
    let mut lists = Lists::new(Replacement::TwoLists(LATEST), 1, 16 * MIB, 0);
    for block in 0..64 {
        lists.insert_read(ONLY, FileId(block % 2), u64::from(block) * MIB, u64::from(block + 1) * MIB);
        lists.reclaim(ONLY, MIB, &AllClean);
    }
    assert_eq!(lists.shadows.len(), 16);
}

#[test]
fn dirty_pages_are_set_aside_and_freed_first_when_written() {
    let mut lists = lists_with(4 * MIB, 8 * MIB);
    let dirty = lists.reclaim(ONLY, 2 * MIB, &Only(A, PageState::Writeback));
    assert_eq!((dirty.freed, dirty.writeback, dirty.dirty), (2 * MIB, 4 * MIB, 0));
    assert_eq!(listed(&lists, true), [(0, 0, 4)]);
    lists.written(A, 0, 3 * MIB);
    assert_eq!(listed(&lists, true), [(0, 3, 4)]);
    assert_eq!(listed(&lists, false), [(0, 0, 3), (1, 2, 8)]);
}

#[test]
fn dirty_pages_that_were_to_be_dropped_are_freed_first_when_written() {
    let mut lists = lists_with(4 * MIB, 4 * MIB);
    read_twice(&mut lists, A, 4 * MIB);
    lists.deactivate(A, 0, 2 * MIB);
    assert_eq!((listed(&lists, false), listed(&lists, true)), (vec![(1, 0, 4), (0, 0, 2)], vec![(0, 2, 4)]));
    lists.written(A, 0, 4 * MIB);
    assert_eq!(listed(&lists, false), [(0, 0, 2), (1, 0, 4)]);
}

#[test]
fn pages_not_set_aside_stay_in_their_place_when_written() {
    let mut lists = lists_with(MIB, MIB);
    lists.written(B, 0, MIB);
    assert_eq!(listed(&lists, false), [(0, 0, 1), (1, 0, 1)]);
}

#[test]
fn flushers_are_woken_when_a_batch_is_all_dirty() {
    let found = |state, b| lists_with(MIB, b).reclaim(ONLY, PAGE, &Only(A, state));
    assert!(found(PageState::Dirty, MIB).all_dirty);
    assert!(!found(PageState::Writeback, MIB).all_dirty);
    assert!(!found(PageState::Clean, MIB).all_dirty);
}

#[test]
fn a_dirty_run_is_all_of_a_batch_only_if_it_covers_one() {
    use PageState::{Clean, Dirty};
    let all_dirty = |runs: &[(PageState, u64)]| {
        let mut batches = Batches::default();
        runs.iter().for_each(|&(state, bytes)| batches.scan(state, bytes));
        batches.finish()
    };
    assert!(all_dirty(&[(Dirty, BATCH), (Clean, BATCH)]));
    assert!(!all_dirty(&[(Dirty, BATCH - PAGE), (Clean, PAGE)]));
    assert!(!all_dirty(&[(Clean, PAGE), (Dirty, 2 * BATCH - 2 * PAGE), (Clean, PAGE)]));
    assert!(all_dirty(&[(Clean, PAGE), (Dirty, 2 * BATCH - PAGE), (Clean, PAGE)]));
    assert!(!all_dirty(&[(Clean, PAGE), (Dirty, BATCH - PAGE)]));
    assert!(all_dirty(&[(Clean, BATCH), (Dirty, PAGE)]), "the last batch of a pass may be short");
    assert!(!all_dirty(&[]));
}

#[test]
fn reclaim_gives_up_when_nothing_is_clean() {
    let mut lists = lists_with(MIB, 0);
    let reclaimed = lists.reclaim(ONLY, MIB, &Only(A, PageState::Dirty));
    assert_eq!((reclaimed.freed, lists.cached()), (0, MIB));
}

#[test]
fn reclaim_finds_whatever_is_clean() {
    let mut lists = lists_with(8 * MIB, PAGE);
    read_twice(&mut lists, B, PAGE);
    let reclaimed = lists.reclaim(ONLY, MIB, &Only(A, PageState::Dirty));
    assert_eq!((reclaimed.freed, lists.cached()), (PAGE, 8 * MIB));
    assert_eq!(lists.reclaim(ONLY, 9 * MIB, &AllClean).freed, 8 * MIB);
}

#[test]
fn a_stream_through_a_full_cache_is_one_extent() {
    let mut lists = Lists::new(Replacement::TwoLists(LATEST), 1, 64 * MIB, MIB);
    for block in 0..4096 {
        if lists.cached() == 64 * MIB {
            assert_eq!(lists.reclaim(ONLY, MIB, &Unclean::default()).freed, MIB);
        }
        lists.insert_written(ONLY, A, block * MIB, (block + 1) * MIB);
    }
    assert_eq!((lists.extents(), lists.shadows.len()), (1, 1));
    assert_eq!(listed(&lists, false), [(0, 4032, 4096)]);
}

#[test]
fn a_read_in_small_pieces_leaves_an_extent_whole() {
    let mut lists = lists_with(4 * MIB, 0);
    (0..1024).for_each(|page| lists.mark_accessed(A, page * PAGE, (page + 1) * PAGE));
    assert_eq!(lists.extents(), 1);
    (0..1024).for_each(|page| lists.mark_accessed(A, page * PAGE, (page + 1) * PAGE));
    assert_eq!((lists.extents(), lists.active(ONLY)), (1, 4 * MIB));
}

#[test]
fn files_that_grow_together_take_an_extent_each_up_to_its_length() {
    let mut lists = Lists::new(Replacement::TwoLists(LATEST), 1, GIB, 32 * MIB);
    for page in 0..4096_u64 {
        for file in 0..32 {
            lists.insert_written(ONLY, FileId(file), page * PAGE, (page + 1) * PAGE);
        }
    }
    assert_eq!(lists.extents(), 32 * (512 / 32));
}

#[test]
fn an_extent_is_as_old_as_its_oldest_byte() {
    let mut lists = Lists::new(Replacement::TwoLists(LATEST), 1, GIB, 4 * MIB);
    lists.insert_read(ONLY, A, MIB, 2 * MIB);
    lists.insert_read(ONLY, B, 0, 4 * MIB);
    lists.insert_read(ONLY, A, 2 * MIB, 3 * MIB);
    lists.remove(B, 0, 4 * MIB);
    assert_eq!(listed(&lists, false), [(0, 1, 3)]);
    lists.insert_read(ONLY, A, 0, MIB);
    assert_eq!(listed(&lists, false), [(0, 1, 3), (0, 0, 1)]);
}

#[test]
fn nothing_new_joins_pages_to_be_freed_first() {
    let mut lists = Lists::new(Replacement::TwoLists(LATEST), 1, GIB, 64 * MIB);
    lists.insert_read(ONLY, A, 0, MIB);
    lists.insert_read(ONLY, B, 0, 4 * MIB);
    lists.reclaim(ONLY, MIB, &Only(A, PageState::Writeback));
    lists.written(A, 0, MIB);
    lists.insert_read(ONLY, A, MIB, 2 * MIB);
    assert_eq!(listed(&lists, false), [(0, 0, 1), (1, 1, 4), (0, 1, 2)]);
}

#[test]
fn pieces_written_in_turn_are_one_extent_up_to_its_length() {
    let written = |extent_bytes| {
        let mut lists = Lists::new(Replacement::TwoLists(LATEST), 1, GIB, extent_bytes);
        lists.insert_read(ONLY, A, 6 * MIB, 8 * MIB);
        lists.insert_read(ONLY, B, 0, 4 * MIB);
        lists.reclaim(ONLY, MIB, &Only(A, PageState::Writeback));
        lists.written(A, 6 * MIB, 7 * MIB);
        lists.written(A, 7 * MIB, 8 * MIB);
        listed(&lists, false)
    };
    assert_eq!(written(2 * MIB), [(0, 6, 8), (1, 1, 4)]);
    assert_eq!(written(2 * MIB - PAGE), [(0, 7, 8), (0, 6, 7), (1, 1, 4)]);
}

#[test]
fn a_place_ends_at_a_hole_or_where_other_lists_begin() {
    let other = LruvecId(1);
    let mut lists = Lists::new(Replacement::TwoLists(LATEST), 2, 64 * GIB, 0);
    // Extents of their own, since another file came in between.
    for (lruvec, start) in [(ONLY, 0), (ONLY, 1), (other, 2), (other, 4), (other, 6)] {
        lists.insert_read(lruvec, A, start * MIB, (start + 1) * MIB);
        lists.insert_read(lruvec, B, start * MIB, (start + 1) * MIB);
    }
    assert_eq!(lists.place(A, PAGE, 9 * MIB), Some((ONLY, 2 * MIB)));
    assert_eq!(lists.place(A, PAGE, 2 * PAGE), Some((ONLY, 2 * PAGE)));
    assert_eq!(lists.place(A, 2 * MIB, 9 * MIB), Some((other, 3 * MIB)));
    assert_eq!(lists.place(A, 3 * MIB, 9 * MIB), None);
    assert_eq!(lists.place(A, 4 * MIB, 9 * MIB), Some((other, 5 * MIB)));
    assert_eq!(lists.run(A, PAGE, 9 * MIB), (true, 3 * MIB), "whosever they are");
    assert_eq!(lists.run(A, 3 * MIB, 9 * MIB), (false, 4 * MIB));
    let mut placed = Vec::new();
    lists.placed(A, MIB / 2, 5 * MIB, |lruvec, bytes| placed.push((lruvec, bytes)));
    assert_eq!(placed, [(ONLY, MIB / 2), (ONLY, MIB), (other, MIB), (other, MIB)]);
}

#[test]
fn when_nobody_asks_any_more_sums_are_kept() {
    let mut lists = lists_with(2 * MIB, 3 * MIB);
    read_twice(&mut lists, B, MIB);
    lists.retire(false);
    lists.written(A, 0, MIB);
    assert_eq!((lists.cached(), lists.active(ONLY), lists.extents()), (5 * MIB, MIB, 3));
    assert_eq!((lists.of_file(A), lists.of_file(B), lists.active_of_file(B)), (2 * MIB, 3 * MIB, MIB));
    assert_eq!((listed(&lists, false), lists.run(A, 0, MIB)), (vec![], (false, MIB)));
}

#[test]
fn pages_that_come_and_leave_are_counted_by_file_and_in_all() {
    let mut lists = lists();
    lists.insert_read(ONLY, A, 4 * MIB, 6 * MIB);
    lists.insert_written(ONLY, B, 7 * MIB, 11 * MIB);
    assert_eq!(lists.turnover_of_all(), 6 * MIB);
    lists.reclaim(ONLY, 3 * MIB, &AllClean);
    lists.remove(B, 0, 10 * MIB);
    // Two of A and one of B have been evicted, and two more of B are gone.
    assert_eq!((lists.turnover(A), lists.turnover(B)), (4 * MIB, 7 * MIB));
    assert_eq!(lists.turnover_of_all(), 11 * MIB);
}

/// The first has left, come back and left again, from other lists or at another age, before it is forgotten that it had left first.
#[test]
fn a_second_eviction_is_remembered_when_the_first_is_forgotten() {
    let other = LruvecId(1);
    for (lruvec, age) in [(other, 0), (ONLY, 1)] {
        let left = |lruvec, start: u64, age: u64| Shadow {
            start: start * MIB,
            end: (start + 1) * MIB,
            lruvec,
            age: age * MIB,
            token: Token::default(),
        };
        let mut shadows = Shadows::new(2, 4 * MIB);
        shadows.leave(A, left(ONLY, 0, 0));
        shadows.take_first(A, 0, MIB).expect("it has just left");
        shadows.leave(A, left(lruvec, 0, age));
        for age in 2..5 {
            shadows.leave(B, left(ONLY, age, age));
        }
        assert_eq!(shadows.take_first(A, 0, MIB), Some(left(lruvec, 0, age)));
    }
}
