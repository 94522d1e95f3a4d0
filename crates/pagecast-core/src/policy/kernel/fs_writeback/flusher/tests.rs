//! Checks the flusher: its runs, the inodes it visits, the order of their bytes, and the tasks that submit before it.

use std::ops::{Deref, DerefMut};

use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::kernel::address_space::folios::Folios;
use crate::policy::kernel::block::queue::Queue;
use crate::policy::kernel::block::wbt::Wbt;
use crate::policy::kernel::block::wbt::tests::wbt;
use crate::policy::kernel::discretisation::{LEAST_PIECE, MOST_FLUSHER_UNIT};
use crate::policy::kernel::fs_writeback::flusher::{Circumstances, Flusher, LEAST_UNIT, Until, WHOLE, Work};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tick::Hz;
use crate::policy::kernel::timers::Timers;
use crate::policy::ranges::Ranges;
use crate::policy::{FileId, OperationId};
use crate::units::{Bytes, Nanos};

const TIMERS: Timers = Timers { hz: Hz(250), has_wheel: true };

#[test]
fn expired_inodes_are_looked_for_at_the_first_wake_up_and_every_5_s() {
    let mut flusher = Flusher::new(LEAST_UNIT);
    let mut woken_at = |seconds: u64| {
        flusher.work = None;
        flusher.wake(Work::Background, Nanos(seconds * 1_000_000_000), Nanos(5_000_000_000));
        flusher.work
    };
    let works = [3, 6, 8].map(|seconds| woken_at(seconds).expect("it has work"));
    assert_eq!(works, [Work::Periodic, Work::Background, Work::Periodic]);
}

#[test]
fn writes_for_reclaim_wait_for_background_work_since_4_15() {
    const DIRTY: u64 = 64 * PAGE;
    // While it is over the background threshold, and when it is no more.
    let works = [true, false].map(|waits| {
        let (mut dirty, mut flusher) = (DirtyPages::default(), Flusher::new(LEAST_UNIT));
        dirty.make_dirty(FileId(0), WbId(0), 0, DIRTY, Nanos::ZERO);
        flusher.inode_dirtied(FileId(0), Nanos::ZERO, Nanos::ZERO, TIMERS);
        flusher.work = Some(Work::Background);
        flusher.start_all(DIRTY, Nanos::ZERO, Nanos::ZERO, waits);
        assert!(flusher.writes_all());
        [true, false].map(|is_over| {
            let mut by = Circumstances {
                now: Nanos(1_000_000_000),
                dirty: &mut dirty,
                folios: &Folios::default(),
                queue: &mut queue(MOST_FLUSHER_UNIT, None),
                wb: WbId(0),
                is_contended: false,
                over_background: &|_: &DirtyPages| is_over,
                average_bandwidth: 25_600,
                dirty_limit: 8192,
                expire: Nanos(30_000_000_000),
                interval: Nanos::ZERO,
                timers: TIMERS,
                requeue_has_cutoff: true,
                chunk_follows_bandwidth: true,
            };
            let visit = flusher.next_visit(&mut by).expect("the inode is dirty");
            flusher.inodes.requeue_io(visit.inode);
            flusher.work
        })
    });
    let all = Some(Work::All(DIRTY));
    assert_eq!(works, [[Some(Work::Background), all], [all, all]]);
}

const MIB: u64 = 1 << 20;
const SECOND: u64 = 1_000_000_000;

/// An empty one of so many bytes, of requests of a byte.
fn queue(capacity: u64, wbt: Option<Wbt>) -> Queue {
    Queue::new((capacity.min(u32::MAX.into()) as u32, Bytes(1)), wbt)
}

/// A flusher and the queue of its device.
struct AtDevice {
    flusher: Flusher,
    queue: Queue,
}

impl Deref for AtDevice {
    type Target = Flusher;

    fn deref(&self) -> &Flusher {
        &self.flusher
    }
}

impl DerefMut for AtDevice {
    fn deref_mut(&mut self) -> &mut Flusher {
        &mut self.flusher
    }
}

/// Files that became dirty in this order, a second apart: so many MiB of each.
fn with_files(capacity: u64, mib: &[u64]) -> (AtDevice, DirtyPages) {
    let (mut flusher, mut dirty) = (Flusher::new(LEAST_UNIT), DirtyPages::default());
    for (number, mib) in (0..).zip(mib) {
        dirtied(&mut flusher, &mut dirty, number, (0, mib * MIB), u64::from(number) * SECOND);
    }
    (AtDevice { flusher, queue: queue(capacity, None) }, dirty)
}

fn dirtied(flusher: &mut Flusher, dirty: &mut DirtyPages, file: u32, range: (u64, u64), at: u64) {
    if dirty.make_dirty(FileId(file), WbId(0), range.0, range.1, Nanos(at)) {
        flusher.inode_dirtied(FileId(file), Nanos(at), Nanos::ZERO, TIMERS);
    }
}

/// More dirty bytes than this are over the background threshold. The device writes 100 MiB/s; nobody else sets a bound.
fn submit(flusher: &mut AtDevice, dirty: &mut DirtyPages, at: u64, threshold: u64) -> Vec<(u32, u64)> {
    submit_with(flusher, dirty, at, threshold, |_| ())
}

/// The file and bytes of each submission, in MiB, if all is written at once.
fn submit_with(
    device: &mut AtDevice,
    dirty: &mut DirtyPages,
    at: u64,
    threshold: u64,
    change: impl FnOnce(&mut Circumstances<'_>),
) -> Vec<(u32, u64)> {
    let mut by = Circumstances {
        now: Nanos(at),
        dirty,
        folios: &Folios::default(),
        queue: &mut device.queue,
        wb: WbId(0),
        is_contended: false,
        over_background: &|dirty| dirty.dirty() > threshold,
        average_bandwidth: 25_600,
        dirty_limit: 1 << 30,
        expire: Nanos(30 * SECOND),
        interval: Nanos(5 * SECOND),
        timers: TIMERS,
        requeue_has_cutoff: true,
        chunk_follows_bandwidth: true,
    };
    change(&mut by);
    device.flusher.submit(&mut by, usize::MAX, &mut Vec::new());
    let mut runs: Vec<(u32, u64)> = Vec::new();
    while !device.queue.is_empty() {
        let unit = device.queue.front().expect("it writes").clone();
        let _ = device.queue.pop(Nanos::ZERO);
        match runs.last_mut() {
            Some((file, bytes)) if *file == unit.file.expect("pages").0 => *bytes += unit.end - unit.start,
            _ => runs.push((unit.file.expect("pages").0, unit.end - unit.start)),
        }
    }
    runs.into_iter().map(|(file, bytes)| (file, bytes / MIB)).collect()
}

#[test]
fn a_visit_submits_half_a_second_of_writing_or_an_eighth_of_the_limit() {
    let visits = |work, threshold, limit| {
        let (mut flusher, mut dirty) = with_files(u64::MAX, &[100, 100]);
        flusher.work = Some(work);
        submit_with(&mut flusher, &mut dirty, 2 * SECOND, threshold, |by| by.dirty_limit = limit)
    };
    // 12,800 pages and 4 MiB more, rounded down to whole 4 MiB.
    assert_eq!(visits(Work::Background, 0, 1 << 30), [(0, 52), (1, 52), (0, 48), (1, 48)]);
    // 2000 pages and 4 MiB more.
    assert_eq!(visits(Work::Background, 0, 16_000)[..3], [(0, 8), (1, 8), (0, 8)]);
    // The 1536 pages asked for, and 4 MiB more.
    assert_eq!(visits(Work::All(6 * MIB), u64::MAX, 1 << 30), [(0, 8)]);
    // The first file has just 8 of 20 MiB: 3072 pages, and 4 MiB more, are left for the second.
    let (mut flusher, mut dirty) = with_files(u64::MAX, &[8, 100]);
    flusher.work = Some(Work::All(20 * MIB));
    assert_eq!(submit(&mut flusher, &mut dirty, 2 * SECOND, u64::MAX), [(0, 8), (1, 16)]);
}

#[test]
fn for_a_tenth_of_a_second_it_goes_from_inode_to_inode_without_looking_at_the_threshold() {
    let later = |nanos| {
        let (mut flusher, mut dirty) = with_files(52 * MIB, &[100, 100]);
        flusher.work = Some(Work::Background);
        assert!(!flusher.has_ended_a_visit);
        assert_eq!(submit(&mut flusher, &mut dirty, 2 * SECOND, 150 * MIB), [(0, 52)]);
        assert!(flusher.has_ended_a_visit);
        submit(&mut flusher, &mut dirty, 2 * SECOND + nanos, 150 * MIB)
    };
    assert_eq!((later(100_000_000), later(100_000_001)), (vec![(1, 52)], vec![]));
}

#[test]
fn an_old_inode_is_written_to_its_end_and_a_young_one_waits_for_its_time() {
    // A second before it would expire the first is unfinished.
    let (mut flusher, mut dirty) = with_files(52 * MIB, &[100, 100]);
    flusher.work = Some(Work::Background);
    assert_eq!(submit(&mut flusher, &mut dirty, 29 * SECOND, 0), [(0, 52)]);
    let rest = |requeue_has_cutoff, flusher: &mut AtDevice, dirty: &mut DirtyPages| {
        flusher.work = Some(Work::Periodic);
        let at = 30 * SECOND;
        let mut each =
            || submit_with(flusher, dirty, at, u64::MAX, |by| by.requeue_has_cutoff = requeue_has_cutoff);
        [each(), each(), each()].concat()
    };
    // The second had been taken on with it, and is a second too young.
    assert_eq!(rest(true, &mut flusher, &mut dirty), [(1, 52), (0, 48)]);
    assert_eq!(rest(false, &mut flusher, &mut dirty), [], "nor has it been taken on anew");
    let (mut flusher, mut dirty) = with_files(52 * MIB, &[100, 100]);
    flusher.work = Some(Work::Background);
    submit(&mut flusher, &mut dirty, 29 * SECOND, 0);
    // 52 MiB at a time: the rest of the second begins with the last 4 of those.
    let all = [(1, 52), (0, 48), (1, 4), (1, 44)];
    assert_eq!(rest(false, &mut flusher, &mut dirty), all, "before 6.10");
    let (mut flusher, mut dirty) = with_files(u64::MAX, &[100, 100]);
    flusher.work = Some(Work::Periodic);
    assert_eq!(submit(&mut flusher, &mut dirty, 30 * SECOND, u64::MAX), [(0, 100)]);
}

#[test]
fn small_pieces_go_once_in_a_millisecond() {
    let (mut flusher, mut dirty) = with_files(u64::MAX, &[]);
    let mut piece = |range, at| {
        dirtied(&mut flusher, &mut dirty, 0, range, at);
        flusher.work = Some(Work::Background);
        submit(&mut flusher, &mut dirty, at, 0);
        (dirty.dirty(), flusher.until_small_piece().map(|at| at.0))
    };
    let least = LEAST_PIECE;
    assert_eq!(piece((0, 1), SECOND), (0, None));
    assert_eq!(piece((1, least), SECOND + 999_999), (least - 1, Some(SECOND + 1_000_000)));
    assert_eq!(piece((1, least), SECOND + 1_000_000), (0, None));
    assert_eq!(piece((least, 2 * least), SECOND + 1_000_001), (0, None), "that is no small one");
}

#[test]
fn woken_for_everything_it_leaves_its_work() {
    for work in [Work::Periodic, Work::Background] {
        let mut flusher = Flusher::new(LEAST_UNIT);
        flusher.work = Some(work);
        flusher.wake(Work::All(MIB), Nanos(0), Nanos(5 * SECOND));
        assert_eq!(flusher.work, Some(Work::All(MIB)));
        flusher.wake(work, Nanos(0), Nanos(5 * SECOND));
        assert!(flusher.writes_all(), "and goes on with it");
    }
    let mut flusher = Flusher::new(LEAST_UNIT);
    flusher.wake(Work::Background, Nanos(0), Nanos::ZERO);
    assert_eq!(flusher.work, Some(Work::Background), "nobody looks for expired inodes");
}

/// True if the next submitter has room in a queue of 100 bytes with `bytes` in it, with write-back throttling.
fn has_room_beside(flusher: &Flusher, bytes: u64) -> bool {
    let mut queue = queue(100, Some(wbt(128)));
    queue.push(WbId(0), FileId(0), (0, bytes), 1, true);
    queue.has_room(flusher.why_next())
}

/// On a disk that lets waiting tasks have 16 bytes in flight, reclaim 8 and the background 4.
#[test]
fn with_write_back_throttling_it_has_room_by_why_it_writes() {
    let has_room = |work, bytes, is_synced| {
        let mut flusher = Flusher { work, ..Flusher::new(1) };
        if is_synced {
            flusher.write_for_sync(FileId(1), Ranges::default(), OperationId(0));
        }
        has_room_beside(&flusher, bytes)
    };
    let works = [None, Some(Work::All(1)), Some(Work::Periodic), Some(Work::Background)];
    let each = |bytes, is_synced| works.map(|work| has_room(work, bytes, is_synced));
    assert_eq!(each(3, false), [true; 4]);
    assert_eq!([4, 7].map(|bytes| each(bytes, false)), [[true, true, false, false]; 2]);
    assert_eq!([8, 15].map(|bytes| each(bytes, false)), [[true, false, false, false]; 2]);
    assert_eq!([15, 16].map(|bytes| each(bytes, true)), [[true; 4], [false; 4]]);
}

/// The flusher, at its turn, waits for room for the background; a task that waits for a file waits behind it.
#[test]
fn a_sync_has_its_own_room_at_its_turn() {
    let has_room = |is_turn_of_flusher, until| {
        let mut flusher = Flusher { work: Some(Work::Background), is_turn_of_flusher, ..Flusher::new(1) };
        flusher.write_range(FileId(1), (0, 10), Ranges::default(), until);
        has_room_beside(&flusher, 10)
    };
    let until = Until::Written(OperationId(0));
    assert_eq!([false, true].map(|turn| has_room(turn, until)), [false, true]);
    assert!(!has_room(true, Until::Never), "who does not wait has that of reclaim");
}

#[test]
fn it_is_at_a_turn_when_it_has_work_and_may_look_at_the_next_files() {
    let (mut flusher, mut dirty) = with_files(8 * MIB, &[100, 100, 100, 100]);
    assert!(!flusher.is_at_a_turn(&dirty, &flusher.queue, WbId(0)), "it has no work");
    flusher.work = Some(Work::Background);
    assert!(flusher.is_at_a_turn(&dirty, &flusher.queue, WbId(0)));
    submit(&mut flusher, &mut dirty, 9 * SECOND, 0);
    assert!(!flusher.is_at_a_turn(&dirty, &flusher.queue, WbId(0)), "it stays with the first");
    assert_eq!([0, 1, 2, 3].map(|file| flusher.may_visit(FileId(file))), [true, true, true, false]);
    let mut idle = Flusher::new(LEAST_UNIT);
    idle.write_for_sync(FileId(0), Ranges::default(), OperationId(0));
    assert!(idle.is_at_a_turn(&dirty, &flusher.queue, WbId(0)));
    flusher.write_range(FileId(3), WHOLE, Ranges::default(), Until::Written(OperationId(0)));
    assert!(flusher.may_visit(FileId(3)));
}
