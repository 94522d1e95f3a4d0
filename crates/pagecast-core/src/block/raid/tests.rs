use proptest::prelude::*;

use super::layout::parity_of;
use super::*;
use crate::keys::Word;
use crate::machine::Level;

const CHUNK: u64 = 64 << 10;
const SIZE: u64 = 1 << 40;

fn raid(level: Level, disks: u32) -> Raid {
    Raid { level, disks, chunk: Bytes(CHUNK), stripe_cache: 0 }
}

fn request(direction: Direction, position: u64, bytes: u64) -> Request {
    Request {
        direction,
        part: position + 1,
        ..request_of(&Operation { disks: (0, 1), direction, at: position, bytes })
    }
}

/// Reads before, and writes.
fn counts(level: Level, disks: u32, bytes: u64) -> (usize, usize) {
    let phases = operations(&raid(level, disks), SIZE, &request(Direction::Write, 0, bytes));
    (phases[0].len(), phases[1].len())
}

#[test]
fn a_small_write_with_parity_costs_four_operations_and_a_whole_stripe_one_of_each_disk() {
    assert_eq!(counts(Level::Raid5, 5, 4096), (2, 2));
    assert_eq!(counts(Level::Raid6, 8, 4096), (3, 3));
    assert_eq!(counts(Level::Raid5, 5, 4 * CHUNK), (0, 5));
    assert_eq!(counts(Level::Raid6, 8, 6 * CHUNK), (0, 8));
    assert_eq!(counts(Level::Raid5, 5, 3 * CHUNK), (1, 4), "it reads what it does not write");
    assert_eq!(counts(Level::Raid5, 3, 4096), (1, 2), "the other chunk is less than data and parity");
    assert_eq!([Level::Raid0, Level::Jbod].map(|level| counts(level, 4, 4096)), [(0, 1); 2]);
    assert_eq!(
        [(Level::Raid1, 3), (Level::Raid10, 4)].map(|(level, disks)| counts(level, disks, 4096).1),
        [3, 2]
    );
}

#[test]
fn parity_goes_round() {
    let of: Vec<u32> = (0..5).map(|stripe| parity_of(&raid(Level::Raid5, 5), stripe)).collect();
    assert_eq!(of, [4, 3, 2, 1, 0]);
}

/// Calls of so many bytes, one behind the other or at random places, so many at a time.
struct Calls {
    direction: Direction,
    bytes: u64,
    depth: u64,
    is_random: bool,
}

/// The seconds and the operations of each of 1000 calls, on disks that take a millisecond for each operation.
fn times(raid: Raid, calls: &Calls) -> (f64, f64) {
    let mut array = Array::new(raid, Bytes(SIZE), 1, Times::equal(Nanos(1_000_000)), None);
    let (mut now, mut sent, mut operations) = (Nanos::ZERO, 0, 0);
    let mut next = |array: &mut Array, now| {
        let position = if calls.is_random { sent * 7919 % 100_000 * CHUNK } else { sent * calls.bytes };
        array.begin(now, Request { part: sent, ..request(calls.direction, position, calls.bytes) });
        sent += 1;
    };
    (0..calls.depth).for_each(|_| next(&mut array, now));
    array.unplug(now, |_| false);
    let mut complete = 0;
    while complete < 1000 {
        now = array.next_event().expect("something is on its way");
        operations +=
            array.members.iter().flat_map(|member| &member.served).filter(|(at, _)| *at == now).count();
        for _ in array.advance(now) {
            complete += 1;
            next(&mut array, now);
        }
        array.unplug(now, |_| false);
    }
    (now.as_seconds(), operations as f64 / 1000.0)
}

/// The time of 1000 random calls of 4 KiB.
fn seconds(level: Level, disks: u32, direction: Direction, depth: u64) -> f64 {
    times(raid(level, disks), &Calls { direction, bytes: 4096, depth, is_random: true }).0
}

#[test]
fn a_small_write_takes_two_operations_one_after_the_other_and_a_read_one() {
    let all = |level, disks| [Direction::Read, Direction::Write].map(|way| seconds(level, disks, way, 1));
    assert_eq!(all(Level::Raid0, 4), [1.0, 1.0]);
    assert_eq!(all(Level::Raid1, 2), [1.0, 1.0]);
    assert_eq!(all(Level::Raid5, 5), [1.0, 2.0]);
}

#[test]
fn many_requests_use_all_disks_four_operations_each_with_parity() {
    let rate = |level, disks, way| 1.0 / seconds(level, disks, way, 64);
    let of_five = rate(Level::Raid0, 5, Direction::Write);
    assert!((of_five - 5.0).abs() < 0.25, "{of_five}");
    let with_parity = rate(Level::Raid5, 5, Direction::Write);
    assert!((with_parity - 1.25).abs() < 0.1, "{with_parity}");
    let mirrored = rate(Level::Raid1, 2, Direction::Read);
    assert!((mirrored - 2.0).abs() < 0.05, "{mirrored}");
}

proptest! {
    #[test]
    fn all_bytes_are_moved_and_no_two_lie_at_one_place(
        of in 0..6_usize, extra in 0..3_u32, position in 0..1000_u64, bytes in 1..600_u64,
    ) {
        let level = Level::ALL[of];
        let disks = if level == Level::Raid10 { 4 + 2 * extra } else { 4 + extra };
        let raid = raid(level, disks);
        let (position, bytes) = (position * 4096, bytes * 4096);
        let [before, reads] = operations(&raid, SIZE, &request(Direction::Read, position, bytes));
        prop_assert!(before.is_empty());
        prop_assert_eq!(reads.iter().map(|each| each.bytes).sum::<u64>(), bytes);
        let mut ranges: Vec<_> = reads.iter().map(|each| (each.disks.0, each.at, each.at + each.bytes)).collect();
        ranges.sort_unstable();
        prop_assert!(ranges.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1));
        let [_, writes] = operations(&raid, SIZE, &request(Direction::Write, position, bytes));
        let written: u64 = writes.iter().map(|each| each.bytes).sum();
        prop_assert!(written >= bytes * u64::from(raid.copies()));
        prop_assert!(raid.parity() > 0 || written == bytes * u64::from(raid.copies()));
    }
}

/// RAID 5 on five disks with a stripe cache of so many heads.
fn cached(stripe_cache: u32) -> Raid {
    Raid { stripe_cache, ..raid(Level::Raid5, 5) }
}

fn writes(bytes: u64, depth: u64, is_random: bool) -> Calls {
    Calls { direction: Direction::Write, bytes, depth, is_random }
}

#[test]
fn small_random_writes_cost_four_operations_with_a_stripe_cache_too() {
    let calls = writes(4096, 1, true);
    assert_eq!([0, 256].map(|heads| times(cached(heads), &calls)), [(2.0, 4.0); 2]);
}

/// Of the four pages of a stripe the first one reads the old data and parity, the next two a page each, the last one nothing.
#[test]
fn small_writes_one_behind_the_other_read_each_page_once() {
    let [without, with] = [0, 256].map(|heads| times(cached(heads), &writes(4096, 1, false)));
    assert_eq!(without, (2.0, 4.0));
    assert!((with.0 - 1.75).abs() < 0.02 && (with.1 - 3.0).abs() < 0.05, "{with:?}");
    let few = times(cached(CHUNK as u32 / 4096 - 1), &writes(4096, 1, false));
    assert_eq!(few, without, "the head is gone when the next page of it comes");
}

#[test]
fn whole_stripes_cost_as_much_with_a_stripe_cache_as_without() {
    let calls = writes(4 * CHUNK, 1, false);
    assert_eq!([0, 256].map(|heads| times(cached(heads), &calls)), [(1.0, 5.0); 2]);
    let halves = writes(2 * CHUNK, 1, false);
    let [without, with] = [0, 256].map(|heads| times(cached(heads), &halves));
    assert_eq!((without, with), ((2.0, 5.0), (1.5, 4.0)), "the second half finds what the first has read");
}

/// The disks that begin to serve something, and the milliseconds until all is complete, of two halves of a stripe.
fn halves(is_plugged: bool) -> (usize, u64) {
    let mut array = Array::new(cached(256), Bytes(SIZE), 1, Times::equal(Nanos(1_000_000)), None);
    for at in [0, 2 * CHUNK] {
        array.begin(Nanos::ZERO, request(Direction::Write, at, 2 * CHUNK));
        array.unplug(Nanos::ZERO, |_| is_plugged);
    }
    array.unplug(Nanos::ZERO, |_| false);
    let (mut complete, mut operations, mut now) = (0, 0, Nanos::ZERO);
    while complete < 2 {
        operations += array.members.iter().flat_map(|member| &member.served).count();
        now = array.next_event().expect("something is on its way");
        complete += array.advance(now).len();
    }
    (operations, now.0 / 1_000_000)
}

#[test]
fn what_a_thread_sends_in_one_plug_and_what_comes_while_a_stripe_reads_is_written_together() {
    assert_eq!(halves(true), (5, 1), "a whole stripe");
    assert_eq!(halves(false), (7, 2), "it has read two chunks when the other half came");
}

proptest! {
    #[test]
    fn every_write_ends_once_and_no_more_stripes_are_under_way_than_there_are(
        calls in prop::collection::vec((0..400_u64, 1..200_u64, any::<bool>(), 0..4_u32), 1..40),
        stripe_cache in 1..80_u32,
        is_raid6 in any::<bool>(),
        chunk in 1..40_u64,
    ) {
        let (level, chunk) = (if is_raid6 { Level::Raid6 } else { Level::Raid5 }, Bytes(chunk * 2048));
        let raid = Raid { level, disks: 5, chunk, stripe_cache };
        let mut array = Array::new(raid, Bytes(SIZE), 2, Times::equal(Nanos(1_000_000)), None);
        let (mut now, mut complete) = (Nanos::ZERO, Vec::new());
        for (part, &(at, sectors, waits, thread)) in calls.iter().enumerate() {
            let request = request(Direction::Write, at * 2048, sectors * 512);
            array.begin(now, Request { part: part as u64, thread, ..request });
            array.unplug(now, |other| other == thread && !waits);
            if let Some(next) = array.next_event().filter(|_| waits) {
                now = next;
                complete.extend(array.advance(now).iter().map(|request| request.part));
            }
            prop_assert!(array.stripes.as_ref().is_some_and(|stripes| stripes.heads.len() <= stripe_cache as usize));
        }
        array.unplug(now, |_| false);
        while let Some(next) = array.next_event() {
            complete.extend(array.advance(next).iter().map(|request| request.part));
            array.unplug(next, |_| false);
        }
        complete.sort_unstable();
        prop_assert_eq!(complete, (0..calls.len() as u64).collect::<Vec<_>>());
    }
}
