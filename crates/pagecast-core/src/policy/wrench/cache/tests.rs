//! Checks each step of Algorithms 2 and 3 alone, on a cache of 100 bytes.

use super::*;

const A: HostFile = HostFile(0);
const B: HostFile = HostFile(1);
const C: HostFile = HostFile(2);

const INACTIVE: bool = false;
const ACTIVE: bool = true;

fn cache() -> Cache {
    Cache::new(100, true)
}

fn at(seconds: u64) -> Nanos {
    Nanos(seconds * 1_000_000_000)
}

/// The blocks of a list as (file, bytes, dirty).
fn list(cache: &Cache, active: bool) -> Vec<(HostFile, u64, bool)> {
    cache.blocks()[usize::from(active)].iter().map(|block| (block.file, block.size, block.dirty)).collect()
}

fn clean(file: HostFile, size: u64) -> (HostFile, u64, bool) {
    (file, size, false)
}

fn dirty(file: HostFile, size: u64) -> (HostFile, u64, bool) {
    (file, size, true)
}

/// Returns the blocks that a flush makes clean.
fn flush(
    cache: &mut Cache,
    active: bool,
    amount: u64,
    file: Option<HostFile>,
    only: bool,
) -> Vec<(HostFile, u64)> {
    let mut flushed = Vec::new();
    cache.flush(active, amount, file, only, |file, size| flushed.push((file, size)));
    flushed
}

/// Files A and B with a clean and a dirty block each, in the inactive list.
fn mixed() -> Cache {
    let mut cache = cache();
    cache.add_clean(A, 10, at(1));
    cache.add_dirty(A, 10, at(2));
    cache.add_dirty(B, 10, at(3));
    cache.add_clean(B, 10, at(4));
    cache
}

#[test]
fn an_empty_cache_is_free() {
    let cache = cache();
    assert_eq!([cache.total(), cache.free(), cache.available()], [100, 100, 100]);
    assert_eq!([cache.cached(), cache.dirty(), cache.anonymous(), cache.inactive_bytes()], [0; 4]);
}

#[test]
fn the_books_tell_what_is_cached_and_dirty() {
    let cache = mixed();
    assert_eq!([cache.free(), cache.cached(), cache.dirty(), cache.anonymous()], [60, 40, 20, 0]);
    assert_eq!(
        [cache.of_file(A), cache.dirty_of_file(A), cache.of_file(C), cache.dirty_of_file(C)],
        [20, 10, 0, 0]
    );
    assert_eq!([cache.inactive_bytes(), cache.available(), cache.block_count() as u64], [40, 80, 4]);
}

#[test]
fn blocks_remember_when_they_were_used_and_made_dirty() {
    let times: Vec<(Nanos, Nanos)> =
        mixed().blocks()[0].iter().map(|block| (block.accessed, block.dirtied)).collect();
    assert_eq!(times, [(at(1), at(0)), (at(2), at(2)), (at(3), at(3)), (at(4), at(0))]);
}

#[test]
fn what_lacks_is_what_is_needed_beyond_what_is_free() {
    let cache = mixed();
    assert_eq!([cache.lacking(59), cache.lacking(60), cache.lacking(75)], [0, 0, 15]);
}

#[test]
fn more_may_be_added_than_is_free() {
    let mut cache = cache();
    cache.add_clean(A, 130, at(1));
    assert_eq!([cache.free(), cache.lacking(5), cache.available(), cache.anonymous()], [0, 35, 100, 0]);
    cache.add_dirty(A, 10, at(2));
    assert_eq!([cache.lacking(5), cache.available()], [45, 90]);
}

#[test]
fn anonymous_memory_is_taken_from_what_is_free_and_given_back() {
    let mut cache = mixed();
    cache.take_anonymous(50);
    assert_eq!([cache.free(), cache.anonymous(), cache.available()], [10, 50, 30]);
    cache.take_anonymous(20);
    assert_eq!([cache.free(), cache.anonymous()], [0, 60], "never below nothing");
    cache.give_anonymous(30);
    assert_eq!([cache.free(), cache.anonymous()], [30, 30]);
    cache.give_anonymous(90);
    assert_eq!([cache.free(), cache.available()], [100, 120], "at most all memory, as published");
}

#[test]
fn a_read_moves_clean_bytes_as_one_block_and_dirty_blocks_alone() {
    let mut cache = cache();
    cache.add_clean(A, 10, at(1));
    cache.add_dirty(A, 5, at(2));
    cache.add_clean(B, 10, at(3));
    cache.add_clean(A, 20, at(4));
    cache.read(A, 35, at(9));
    assert_eq!(list(&cache, INACTIVE), [clean(B, 10)]);
    assert_eq!(list(&cache, ACTIVE), [dirty(A, 5), clean(A, 30)]);
    let times: Vec<(Nanos, Nanos)> =
        cache.blocks()[1].iter().map(|block| (block.accessed, block.dirtied)).collect();
    assert_eq!(times, [(at(2), at(2)), (at(9), at(0))], "a dirty block keeps its times");
    assert_eq!([cache.of_file(A), cache.dirty_of_file(A), cache.dirty(), cache.free()], [35, 5, 5, 55]);
}

#[test]
fn a_read_splits_the_last_block_that_it_needs() {
    let mut cache = cache();
    cache.add_clean(A, 10, at(1));
    cache.add_dirty(A, 10, at(2));
    cache.read(A, 14, at(9));
    assert_eq!(list(&cache, INACTIVE), [dirty(A, 6)]);
    assert_eq!(list(&cache, ACTIVE), [dirty(A, 4), clean(A, 10)]);
}

#[test]
fn a_read_takes_the_inactive_list_first() {
    let mut cache = cache();
    cache.add_clean(A, 10, at(1));
    cache.read(A, 10, at(2));
    cache.add_clean(A, 10, at(3));
    cache.read(A, 15, at(9));
    assert_eq!((list(&cache, INACTIVE), list(&cache, ACTIVE)), (vec![], vec![clean(A, 5), clean(A, 15)]));
}

#[test]
fn a_read_finds_no_more_than_there_is() {
    let mut cache = mixed();
    cache.read(A, 50, at(9));
    cache.read(C, 50, at(9));
    assert_eq!(list(&cache, INACTIVE), [dirty(B, 10), clean(B, 10)]);
    assert_eq!(list(&cache, ACTIVE), [dirty(A, 10), clean(A, 10)]);
}

#[test]
fn lists_are_balanced_when_the_active_one_is_more_than_twice_the_inactive_one() {
    let mut cache = cache();
    cache.add_clean(A, 20, at(1));
    cache.read(A, 20, at(1));
    cache.add_clean(B, 10, at(2));
    cache.balance();
    assert_eq!(cache.inactive_bytes(), 10, "twice is not more than twice");
    cache.add_dirty(C, 5, at(3));
    cache.read(C, 5, at(3));
    cache.balance();
    assert_eq!(list(&cache, INACTIVE), [clean(B, 10), clean(A, 7)], "half of the difference, rounded down");
    assert_eq!(list(&cache, ACTIVE), [clean(A, 13), dirty(C, 5)]);
    assert_eq!([cache.cached(), cache.free()], [35, 65]);
    assert_eq!(
        [A, B, C].map(|file| (cache.of_file(file), cache.active_of_file(file))),
        [(20, 13), (10, 0), (5, 5)]
    );
}

#[test]
fn balancing_moves_blocks_whole_and_clean_or_dirty_from_the_front() {
    let mut cache = cache();
    for (file, time) in [(A, 1), (B, 2), (C, 3)] {
        cache.add_dirty(file, 8, at(time));
        cache.read(file, 8, at(time));
    }
    cache.balance();
    assert_eq!(list(&cache, INACTIVE), [dirty(A, 8), dirty(B, 4)]);
    assert_eq!(list(&cache, ACTIVE), [dirty(B, 4), dirty(C, 8)]);
}

#[test]
fn eviction_takes_clean_blocks_in_order_and_splits_the_last() {
    let mut cache = mixed();
    assert_eq!(cache.evict(13, None), 13);
    assert_eq!(list(&cache, INACTIVE), [dirty(A, 10), dirty(B, 10), clean(B, 7)]);
    assert_eq!([cache.free(), cache.of_file(A), cache.of_file(B), cache.dirty()], [73, 10, 17, 20]);
    assert_eq!(cache.evict(50, None), 7, "there is no more");
}

#[test]
fn eviction_spares_one_file() {
    let mut cache = mixed();
    assert_eq!(cache.evict(50, Some(A)), 10);
    assert_eq!(list(&cache, INACTIVE), [clean(A, 10), dirty(A, 10), dirty(B, 10)]);
}

#[test]
fn eviction_goes_on_in_the_active_list_if_the_vintage_does() {
    for (evicts_active, evicted) in [(true, 15), (false, 10)] {
        let mut cache = Cache::new(100, evicts_active);
        cache.add_clean(A, 20, at(1));
        cache.read(A, 20, at(1));
        cache.add_clean(B, 10, at(2));
        assert_eq!(cache.evict(15, None), evicted);
        assert_eq!(cache.of_file(A), 30 - evicted);
    }
}

#[test]
fn what_is_evicted_is_free_but_never_more_than_all_memory() {
    let mut cache = cache();
    cache.add_clean(A, 20, at(1));
    cache.give_anonymous(20);
    cache.evict(20, None);
    assert_eq!([cache.free(), cache.anonymous()], [100, 0]);
}

#[test]
fn data_beyond_a_size_goes_in_the_order_of_the_lists_dirty_or_not() {
    let mut cache = mixed();
    cache.discard_beyond(A, 5);
    assert_eq!(list(&cache, INACTIVE), [dirty(A, 5), dirty(B, 10), clean(B, 10)]);
    assert_eq!([cache.free(), cache.dirty(), cache.of_file(A), cache.dirty_of_file(A)], [75, 15, 5, 5]);
    cache.discard_beyond(B, 20);
    assert_eq!(cache.of_file(B), 20, "nothing is beyond its size");
    cache.read(B, 10, at(9));
    cache.discard_beyond(B, 0);
    assert_eq!([cache.of_file(B), cache.block_count() as u64], [0, 1], "from both lists");
}

#[test]
fn clean_data_is_dropped_from_both_lists() {
    let both_lists = || {
        let mut cache = mixed();
        cache.add_clean(C, 10, at(5));
        cache.read(C, 5, at(6));
        cache
    };
    let mut all = both_lists();
    all.drop_clean(None);
    assert_eq!((list(&all, INACTIVE), list(&all, ACTIVE)), (vec![dirty(A, 10), dirty(B, 10)], vec![]));
    assert_eq!(all.free(), 80);
    let mut one = both_lists();
    one.drop_clean(Some(C));
    assert_eq!([one.of_file(A), one.of_file(B), one.of_file(C)], [20, 20, 0]);
}

#[test]
fn a_flush_makes_whole_blocks_clean_in_their_place_and_puts_a_part_at_the_end() {
    let mut cache = mixed();
    assert_eq!(flush(&mut cache, INACTIVE, 14, None, false), [(A, 10), (B, 4)]);
    assert_eq!(list(&cache, INACTIVE), [clean(A, 10), clean(A, 10), dirty(B, 6), clean(B, 10), clean(B, 4)]);
    assert_eq!([cache.dirty_of_file(A), cache.dirty_of_file(B), cache.of_file(B)], [0, 6, 20]);
    assert_eq!(cache.dirty(), 20, "dirty until the device has them");
    cache.written(14);
    assert_eq!(cache.dirty(), 6);
}

#[test]
fn a_part_of_an_active_block_goes_to_the_inactive_list_when_it_is_flushed() {
    let mut cache = cache();
    cache.add_dirty(A, 10, at(1));
    cache.read(A, 10, at(2));
    assert_eq!(flush(&mut cache, INACTIVE, 4, None, false), []);
    assert_eq!(flush(&mut cache, ACTIVE, 4, None, false), [(A, 4)]);
    assert_eq!((list(&cache, INACTIVE), list(&cache, ACTIVE)), (vec![clean(A, 4)], vec![dirty(A, 6)]));
}

#[test]
fn a_flush_takes_one_file_or_all_others() {
    let mut cache = mixed();
    assert_eq!(flush(&mut cache, INACTIVE, u64::MAX, Some(B), true), [(B, 10)]);
    assert_eq!(flush(&mut cache, INACTIVE, u64::MAX, Some(A), false), []);
    assert_eq!(flush(&mut cache, INACTIVE, u64::MAX, Some(B), false), [(A, 10)]);
    assert_eq!(flush(&mut cache, INACTIVE, 0, None, false), []);
}

#[test]
fn a_block_expires_when_it_has_been_dirty_long_enough() {
    let mut cache = mixed();
    assert_eq!(cache.clean_expired(INACTIVE, Nanos(at(2).0 - 1)), None);
    assert_eq!(cache.clean_expired(INACTIVE, at(2)), Some((A, 10)));
    assert_eq!([cache.dirty_of_file(A), cache.dirty()], [0, 20]);
    cache.flushed_expired();
    assert_eq!(cache.dirty(), 10);
    assert_eq!(cache.clean_expired(ACTIVE, at(9)), None);
    assert_eq!(cache.clean_expired(INACTIVE, at(9)), Some((B, 10)));
}

#[test]
fn what_is_cut_off_a_block_while_it_is_written_stays_counted() {
    let mut cache = mixed();
    cache.clean_expired(INACTIVE, at(2));
    cache.discard_beyond(A, 3);
    assert_eq!(list(&cache, INACTIVE)[0], clean(A, 3));
    cache.flushed_expired();
    assert_eq!(cache.dirty(), 17);
}

#[test]
fn cutting_another_block_does_not_change_what_is_being_written() {
    let mut cache = mixed();
    cache.clean_expired(INACTIVE, at(2));
    cache.discard_beyond(B, 15);
    assert_eq!(cache.dirty(), 15);
    cache.flushed_expired();
    assert_eq!(cache.dirty(), 5);
}

#[test]
fn a_block_that_leaves_while_it_is_written_counts_as_written() {
    let mut cache = mixed();
    cache.clean_expired(INACTIVE, at(2));
    cache.drop_clean(None);
    cache.flushed_expired();
    assert_eq!(cache.dirty(), 10);
}
