//! Checks one rule of the generations in each test.

use super::pages::PAGE;
use crate::policy::FileId;
use crate::policy::kernel::address_space::page_state::{Busy, PageState};
use crate::policy::kernel::version::LruGen;
use crate::policy::kernel::vmscan::lists::{Lists, Replacement};
use crate::policy::kernel::vmscan::lruvec::*;

const MIB: u64 = 1 << 20;
const A: FileId = FileId(0);
const B: FileId = FileId(1);
const C: FileId = FileId(2);
const ONLY: LruvecId = LruvecId(0);

const BEFORE: LruGen = LruGen { reworked: false, wakes_flushers: true };
const SINCE: LruGen = LruGen { reworked: true, wakes_flushers: true };

/// This is dirty, the rest is clean.
struct Dirty(Option<FileId>);

impl Busy for Dirty {
    fn run(&self, file: FileId, _at: u64, end: u64) -> (PageState, u64) {
        (if Some(file) == self.0 { PageState::Dirty } else { PageState::Clean }, end)
    }
}

/// A is under write-back, B is dirty, C is clean.
struct OneOfEach;

impl Busy for OneOfEach {
    fn run(&self, file: FileId, _at: u64, end: u64) -> (PageState, u64) {
        let states = [PageState::Writeback, PageState::Dirty, PageState::Clean];
        (states[file.0 as usize], end)
    }
}

const NOTHING: Dirty = Dirty(None);

/// Lists with a MiB of each file, read in that order.
fn lists_of(version: LruGen, files: &[FileId]) -> Lists {
    let mut lists = Lists::new(Replacement::Generations(version), 1, 64 * MIB, MIB);
    for &file in files {
        lists.insert_read(ONLY, file, 0, MIB);
    }
    lists
}

fn read(lists: &mut Lists, file: FileId, times: usize) {
    (0..times).for_each(|_| lists.mark_accessed(file, 0, MIB));
}

/// Files in the order in which they will be evicted.
fn order(lists: &Lists) -> Vec<u32> {
    [false, true].into_iter().flat_map(|active| lists.listed(ONLY, active)).map(|run| run.file.0).collect()
}

#[test]
fn reads_move_nothing() {
    for version in [BEFORE, SINCE] {
        let mut lists = lists_of(version, &[A, B]);
        read(&mut lists, A, 5);
        assert_eq!((order(&lists), lists.active(ONLY)), (vec![0, 1], 0));
        assert_eq!(lists.extents(), 2);
    }
}

#[test]
fn new_pages_come_to_the_oldest_generation_but_before_6_14_to_the_second_of_four() {
    let list = |version, of: &[FileId]| {
        let lists = lists_of(version, of);
        (0..4).find(|&list| lists.extents.bytes(ONLY, list) > 0)
    };
    assert_eq!((list(SINCE, &[A]), list(BEFORE, &[A])), (Some(0), Some(1)));
    let mut lists = lists_of(BEFORE, &[A, B]);
    lists.reclaim(ONLY, MIB, &NOTHING);
    lists.insert_read(ONLY, C, 0, MIB);
    assert_eq!(lists.extents.bytes(ONLY, 1), 2 * MIB, "which is the oldest of three now");
}

#[test]
fn pages_read_five_times_have_a_turn_in_the_next_generation() {
    let order = |version| {
        let mut lists = lists_of(version, &[A, B, C]);
        [A, B].into_iter().for_each(|file| read(&mut lists, file, 5));
        let reclaimed = lists.reclaim(ONLY, PAGE, &NOTHING);
        assert_eq!(
            (reclaimed.protected, reclaimed.freed, reclaimed.scanned),
            (2 * MIB, PAGE, 2 * MIB + PAGE)
        );
        order(&lists)
    };
    assert_eq!(order(SINCE), [2, 0, 1]);
    assert_eq!(order(BEFORE), [2, 1, 0], "the last to be protected comes first");
}

#[test]
fn dirty_pages_go_to_the_next_generation_and_leave_first_once_written() {
    for version in [BEFORE, SINCE] {
        let mut lists = lists_of(version, &[A, B]);
        let reclaimed = lists.reclaim(ONLY, PAGE, &Dirty(Some(A)));
        assert_eq!((reclaimed.dirty, reclaimed.freed), (MIB, PAGE));
        assert_eq!(order(&lists), [1, 0]);
        lists.written(A, 0, MIB);
        assert_eq!(order(&lists), [0, 1]);
    }
}

#[test]
fn the_flushers_are_woken_by_a_pass_that_met_only_dirty_pages() {
    let found = |version, dirty| {
        let mut lists = lists_of(version, &[]);
        lists.insert_read(ONLY, A, 0, dirty);
        lists.insert_read(ONLY, B, 0, MIB);
        lists.reclaim(ONLY, PAGE, &Dirty(Some(A)))
    };
    for version in [BEFORE, SINCE] {
        // 4096 pages are looked at before a pass can end.
        assert!(found(version, 16 * MIB).all_dirty);
        assert!(!found(version, 16 * MIB - PAGE).all_dirty);
        assert!(!found(LruGen { wakes_flushers: false, ..version }, 16 * MIB).all_dirty);
    }
}

#[test]
fn a_pass_that_wakes_the_flushers_looks_at_a_64th_of_all_pages() {
    for version in [BEFORE, SINCE] {
        let found = |dirty| {
            let mut lists = lists_of(version, &[]);
            lists.insert_read(ONLY, A, 0, dirty);
            lists.insert_read(ONLY, B, 0, 2048 * MIB);
            // Two extents: a batch need not be of one.
            read(&mut lists, A, 1);
            lists.reclaim(ONLY, PAGE, &Dirty(Some(A))).all_dirty
        };
        // That is 32 MiB and a little more, of which 16 MiB are looked at in one go.
        assert_eq!([16, 34, 48].map(|mib| found(mib * MIB)), [false, false, true], "{version:?}");
    }
}

#[test]
fn a_pass_looks_at_twice_as_many_pages_as_the_one_before() {
    for version in [BEFORE, SINCE] {
        let found = |dirty| {
            let mut lists = lists_of(version, &[]);
            for (file, bytes) in [(A, 48 * MIB), (B, dirty), (C, 2048 * MIB)] {
                lists.insert_read(ONLY, file, 0, bytes);
            }
            lists.reclaim(ONLY, PAGE, &OneOfEach).all_dirty
        };
        // The first has met no dirty pages. The second looks at a 32nd: 64 MiB and a little more.
        assert_eq!([48, 80].map(|mib| found(mib * MIB)), [false, true], "{version:?}");
    }
}

#[test]
fn the_two_youngest_generations_count_as_active_until_another_begins() {
    let mut lists = lists_of(BEFORE, &[A]);
    // From the second of four generations to the third: there are no more to evict.
    lists.reclaim(ONLY, PAGE, &Dirty(Some(A)));
    assert_eq!((lists.inactive(ONLY), lists.active(ONLY), lists.active_of_file(A)), (0, MIB, MIB));
    lists.reclaim(ONLY, PAGE, &NOTHING);
    assert_eq!((lists.inactive(ONLY), lists.active(ONLY), lists.active_of_file(A)), (MIB - PAGE, 0, 0));
}

#[test]
fn reclaim_finds_whatever_is_clean() {
    for version in [BEFORE, SINCE] {
        let mut lists = lists_of(version, &[A, B, C]);
        [B, C].into_iter().for_each(|file| read(&mut lists, file, 9));
        assert_eq!(lists.reclaim(ONLY, 9 * MIB, &Dirty(Some(A))).freed, 2 * MIB);
        assert_eq!(lists.reclaim(ONLY, 9 * MIB, &Dirty(Some(A))).freed, 0);
        assert_eq!(lists.reclaim(ONLY, 9 * MIB, &NOTHING).freed, MIB);
        assert_eq!((lists.cached(), lists.extents()), (0, 0));
    }
}

#[test]
fn reclaim_finds_clean_pages_behind_many_dirty_ones() {
    for version in [BEFORE, SINCE] {
        let mut lists = lists_of(version, &[]);
        lists.insert_read(ONLY, A, 0, 64 * MIB);
        lists.insert_read(ONLY, B, 0, MIB);
        let reclaimed = lists.reclaim(ONLY, MIB, &Dirty(Some(A)));
        assert_eq!((reclaimed.freed, reclaimed.dirty), (MIB, 64 * MIB), "{version:?}");
    }
}

#[test]
fn before_6_14_pages_come_back_soon_while_the_generation_that_they_left_is_the_oldest() {
    let come_back = |evicted| {
        let mut lists = lists_of(BEFORE, &[A, B]);
        lists.reclaim(ONLY, evicted, &NOTHING);
        lists.insert_read(ONLY, A, 0, MIB)
    };
    assert_eq!(come_back(2 * MIB - PAGE), Inserted { refaulted: MIB, activated: MIB, restored: 0 });
    assert_eq!(come_back(2 * MIB), Inserted { refaulted: MIB, activated: 0, restored: 0 });
}

#[test]
fn since_6_14_pages_come_back_soon_within_four_generations() {
    let come_back = |rounds| {
        let mut lists = lists_of(SINCE, &[A]);
        read(&mut lists, A, 5);
        lists.reclaim(ONLY, MIB, &NOTHING);
        for _ in 0..rounds {
            // A generation ends when its last page has left.
            lists.insert_read(ONLY, B, 0, MIB);
            lists.reclaim(ONLY, MIB, &NOTHING);
        }
        lists.insert_read(ONLY, A, 0, MIB)
    };
    assert_eq!(come_back(0), Inserted { refaulted: MIB, activated: 0, restored: MIB });
    assert_eq!(come_back(9), Inserted { refaulted: MIB, activated: 0, restored: 0 });
}

/// Lists in which A's 4400 pages, all read twice, have left, and 100 of them have come back behind B and C.
///
/// While no page read once leaves, pages read twice are not protected: since 6.14 for 100 * (0 + 64) * 2 <= 1 * 4400 * 3, before
/// for 100 * (0 + 64) <= 1 * 4400 * 2. Once 30 have left they are: 100 * (30 + 64) * 2 > 4434 * 3, 100 * (30 + 64) > 4434 * 2.
fn nearly_protected(version: LruGen, b: u64, c: u64) -> Lists {
    let mut lists = lists_of(version, &[]);
    for (file, pages, times) in [(A, 4400, 2), (B, b, 1), (C, c, 2)] {
        lists.insert_read(ONLY, file, 0, pages * PAGE);
        (0..times).for_each(|_| lists.mark_accessed(file, 0, pages * PAGE));
    }
    assert_eq!(lists.reclaim(ONLY, 4400 * PAGE, &NOTHING).freed, 4400 * PAGE);
    assert_eq!(lists.insert_read(ONLY, A, 0, 100 * PAGE).refaulted, 100 * PAGE);
    lists
}

#[test]
fn tiers_are_compared_anew_after_64_pages_of_whichever_tiers() {
    for version in [BEFORE, SINCE] {
        let mut lists = nearly_protected(version, 30, 200);
        // 30 of B, 34 of C; then the other 166 of C are protected, 64 and 2 of A leave.
        let reclaimed = lists.reclaim(ONLY, 130 * PAGE, &NOTHING);
        assert_eq!((reclaimed.freed, reclaimed.protected), (130 * PAGE, 166 * PAGE), "{version:?}");
        assert_eq!([A, B, C].map(|file| lists.of_file(file) / PAGE), [34, 0, 166]);
    }
}

#[test]
fn before_6_14_pages_not_read_since_they_were_deactivated_leave_as_if_never_read_twice() {
    let mut lists = nearly_protected(BEFORE, 300, 200);
    lists.deactivate(C, 0, 200 * PAGE);
    lists.written(C, 0, 200 * PAGE);
    // 64 of C count as read once and so protect the other 136; 64 and 2 of B leave.
    let reclaimed = lists.reclaim(ONLY, 130 * PAGE, &NOTHING);
    assert_eq!((reclaimed.freed, reclaimed.protected), (130 * PAGE, 136 * PAGE));
    assert_eq!([A, B, C].map(|file| lists.of_file(file) / PAGE), [100, 234, 136]);
}

#[test]
fn eight_times_the_memory_is_remembered() {
    let mut lists = Lists::new(Replacement::Generations(SINCE), 1, 4 * MIB, 0);
    for block in 0..64 {
        lists.insert_read(ONLY, FileId(block % 2), u64::from(block) * MIB, u64::from(block + 1) * MIB);
        lists.reclaim(ONLY, MIB, &NOTHING);
    }
    assert_eq!(lists.shadows.len(), 32);
}

#[test]
fn a_stream_through_a_full_cache_is_one_extent() {
    for version in [BEFORE, SINCE] {
        let mut lists = lists_of(version, &[]);
        for block in 0..1024 {
            if lists.cached() == 64 * MIB {
                assert_eq!(lists.reclaim(ONLY, MIB, &NOTHING).freed, MIB);
            }
            lists.insert_read(ONLY, A, block * MIB, (block + 1) * MIB);
            lists.mark_accessed(A, block * MIB, (block + 1) * MIB);
        }
        assert_eq!((lists.extents(), lists.shadows.len()), (1, 1));
    }
}
