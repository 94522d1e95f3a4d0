//! Checks windows and times by hand from `mm/readahead.c`, Linux 6.16.

use super::*;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::readahead::window::{Limits, Miss, Pace, Reading, Span, Stream, Window};
use crate::policy::kernel::tasks::kind::Mode;
use crate::units::Nanos;

/// `read_ahead_kb = 128`, `max_sectors_kb = 1280`.
const LIMITS: Limits = Limits { read_ahead: 32, request: 320, keeps_size: false };

/// 1 ms of latency, 1 ms for 10 pages from the device, 1 ms for 100 pages to copy.
const PACE: Pace = Pace { latency: 1e-3, transfer: 1e-4, copy: 1e-5 };

/// A read of so many pages in calls of so many, with nothing cached.
fn span(pages: u64, call: u64) -> Span {
    Span { start: 0, end: pages * PAGE, origin: 0, last: pages * PAGE, call: call * PAGE, mapped: None }
}

/// Each window as (start, size) of a file that is read from its beginning, in calls of so many pages.
fn windows(call: u64, limits: Limits, count: usize) -> Vec<(u64, u64)> {
    let whole = span(1 << 20, call);
    let first = Miss { page: 0, asked: call, previous: None }.window(limits, |_| 0);
    let next = |window: &Window| Some(window.next(whole.asked(window.mark()), limits));
    let all = std::iter::successors(first, next).take(count);
    all.map(|window| (window.start, window.size)).collect()
}

#[test]
fn small_reads_ramp_up_to_the_limit() {
    // 16, 32, 64 and 128 KiB.
    assert_eq!(windows(1, LIMITS, 5), [(0, 4), (4, 8), (12, 16), (28, 32), (60, 32)]);
    // 16 pages are more than a quarter of 32: the limit at once.
    assert_eq!(windows(16, LIMITS, 3), [(0, 32), (32, 32), (64, 32)]);
}

#[test]
fn a_first_window_depends_on_what_is_asked() {
    let sizes = [1, 2, 3, 4, 5, 8, 9, 32].map(|asked| first_size(asked, 32));
    assert_eq!(sizes, [4, 4, 8, 8, 16, 16, 32, 32]);
}

#[test]
fn a_large_call_has_windows_of_a_whole_request() {
    // 1 MiB: the windows of its second half are limited by the 128 pages left of the call, or what follows.
    assert_eq!(windows(256, LIMITS, 5), [(0, 256), (256, 128), (384, 256), (640, 128), (768, 128)]);
    assert_eq!(windows(1 << 20, LIMITS, 3), [(0, 320), (320, 320), (640, 320)]);
}

#[test]
fn a_larger_limit_is_reached_in_larger_steps() {
    let limits = Limits { read_ahead: 1024, ..LIMITS };
    assert_eq!(windows(1, limits, 6), [(0, 4), (4, 16), (20, 64), (84, 128), (212, 256), (468, 512)]);
}

#[test]
fn the_mark_is_at_the_part_that_nobody_asked_for() {
    let at_start = |asked| Miss { page: 0, asked, previous: None }.window(LIMITS, |_| 0);
    assert_eq!(at_start(1), Some(Window { start: 0, size: 4, async_size: 3 }));
    assert_eq!(at_start(256), Some(Window { start: 0, size: 256, async_size: 128 }), "all was asked for");
}

#[test]
fn a_read_in_the_middle_has_a_window_if_it_asks_for_more_than_the_limit() {
    let limits = Limits { request: 32, ..LIMITS };
    let window = |asked| Miss { page: 100, asked, previous: None }.window(limits, |_| 0);
    assert_eq!((window(32), window(33)), (None, Some(Window { start: 100, size: 32, async_size: 16 })));
}

#[test]
fn a_miss_elsewhere_is_random_unless_a_stream_has_left_its_traces() {
    let miss = Miss { page: 1000, asked: 4, previous: Some(20) };
    assert_eq!(miss.window(LIMITS, |_| 0), None);
    assert_eq!(miss.window(LIMITS, |_| 4), None, "no more than it asks for itself");
    let window = |size| Some(Window { start: 1000, size, async_size: 1 });
    assert_eq!(miss.window(LIMITS, |_| 5), window(9));
    assert_eq!(miss.window(LIMITS, |most| most), window(32));
    let near_the_start = Miss { page: 6, ..miss };
    let doubled = Window { start: 6, size: 16, async_size: 1 };
    assert_eq!(near_the_start.window(LIMITS, |_| 6), Some(doubled), "cached from the start on");
}

#[test]
fn a_miss_where_the_last_call_ended_or_one_page_on_goes_on() {
    let miss = |page| Miss { page, asked: 1, previous: Some(100) }.window(LIMITS, |_| 0);
    assert_eq!([99, 100, 101, 102].map(|page| miss(page).is_some()), [false, true, true, false]);
}

fn read(stream: &mut Stream, span: Span) -> Reading {
    stream.read(Nanos::ZERO, &span, LIMITS, PACE, |_, _| 0)
}

#[test]
fn a_small_read_waits_for_its_window_and_leaves_none_but_its_rest() {
    let mut stream = Stream::default();
    let reading = read(&mut stream, span(1, 1));
    // 4 pages arrive together after 1 + 0.4 ms, one is copied; the mark at page 1 was not read.
    assert_eq!((reading.end, reading.ahead), (4, 4));
    assert!((reading.seconds - 1.41e-3).abs() < 1e-12, "{reading:?}");
    assert_eq!(stream.window, Window { start: 0, size: 4, async_size: 3 });
}

#[test]
fn a_read_past_the_mark_leaves_a_window_on_its_way() {
    let reading = read(&mut Stream::default(), span(20, 20));
    // A window of 32, of which the mark is at 20: not read. One of 21 reads it after 1 + 3.2 + 0.2 ms; the next window
    // arrives 1 + 3.2 ms later, the reader has copied one more page meanwhile.
    assert_eq!((reading.end, reading.ahead), (32, 32));
    let reading = read(&mut Stream::default(), span(21, 20));
    assert_eq!((reading.end, reading.ahead), (32, 64));
    assert!((reading.seconds - 4.41e-3).abs() < 1e-12, "{reading:?}");
    assert!((reading.ahead_seconds - (4.2e-3 - 0.01e-3)).abs() < 1e-12, "{reading:?}");
    assert_eq!((reading.ahead_done, reading.copying), (0, 0.0), "it waited for the device");
}

#[test]
fn while_a_reader_copies_what_it_has_some_of_the_next_window_comes() {
    // 0.25 ms of latency, 3.2 ms for 32 pages; after 20 of them, at 5.45 ms, the next window is submitted. It begins to come at 5.7 ms, and
    // at 6.65 ms, when the last page is copied, 9.5 of its pages have.
    let pace = Pace { latency: 0.25e-3, copy: 1e-4, ..PACE };
    let reading = Stream::default().read(Nanos::ZERO, &span(32, 20), LIMITS, pace, |_, _| 0);
    assert!((reading.seconds - 6.65e-3).abs() < 1e-12, "{reading:?}");
    assert_eq!((reading.ahead, reading.ahead_done), (64, 9));
}

#[test]
fn of_a_read_that_copies_more_slowly_than_its_device_reads_all_copies_are_the_threads() {
    let pace = Pace { copy: 2e-4, ..PACE };
    let reading = Stream::default().read(Nanos::ZERO, &span(32, 20), LIMITS, pace, |_, _| 0);
    assert!((reading.copying - 32.0 * 2e-4).abs() < 1e-12, "{reading:?}");
}

/// If nothing takes time, all windows are alike in that, but not in their sizes.
#[test]
fn a_ramp_that_takes_no_time_has_all_its_windows() {
    let limits = Limits { read_ahead: 4096, ..LIMITS };
    let free = Pace { latency: 0.0, transfer: 0.0, copy: 0.0 };
    for pages in [10_000, 40_001, 123_456] {
        let mut stream = Stream::default();
        stream.read(Nanos::ZERO, &span(pages, 1), limits, free, |_, _| 0);
        let all = windows(1, limits, 60);
        let next = all.iter().position(|&(start, size)| start + size >= pages).expect("there are enough");
        // The mark of a whole window is its first page, so that the one behind it is submitted as well.
        assert_eq!((stream.window.start, stream.window.size), all[next + 1]);
    }
}

#[test]
fn a_ramp_is_the_sum_of_its_waits() {
    // Windows 4, 8, 16 and 32 in calls of a page. Reader: 1.4 ms wait, page 0 copied at 1.41: the mark, window 1 submitted.
    // It has copied the first at 1.44 and looks for the mark of window 1: window 2 is submitted. Window 1 arrives at
    // 1.41 + 1 + 0.8 = 3.21 and is copied at 3.29, when window 3 is submitted; window 2 arrives at max(2.44, 3.21) + 1.6
    // = 4.81, copied at 4.97; window 3 at max(4.29, 4.81) + 3.2 = 8.01, copied at 8.33.
    let reading = read(&mut Stream::default(), span(60, 1));
    assert!((reading.seconds - 8.33e-3).abs() < 1e-12, "{reading:?}");
}

/// Milliseconds of each window of 32 pages in the long run.
fn period(pace: Pace) -> f64 {
    let seconds =
        |pages| Stream::default().read(Nanos::ZERO, &span(pages, 1), LIMITS, pace, |_, _| 0).seconds;
    (seconds(3_200_060) - seconds(60)) / 100.0
}

#[test]
fn a_long_stream_is_as_slow_as_its_slowest_part() {
    let near = |actual: f64, expected: f64| (actual - expected).abs() < 1e-6 * expected;
    // 3.2 ms of the device, 0.32 ms of copying, (0.32 + 3.2 + 1) / 2 = 2.26 ms of both in turn.
    assert!(near(period(PACE), 3.2), "the device: {}", period(PACE));
    let copy_bound = Pace { copy: 1e-3, ..PACE };
    assert!(near(period(copy_bound), 32.0), "the thread: {}", period(copy_bound));
    let far = Pace { latency: 10e-3, ..PACE };
    assert!(near(period(far), (0.32 + 3.2 + 10.0) / 2.0), "the latency: {}", period(far));
}

/// When so many windows of a file that is read page by page have been copied: window by window, as in `a_ramp_is_the_sum_of_its_waits`.
fn one_by_one(count: usize, pace: Pace) -> f64 {
    let (mut submitted, mut arrived, mut copied) = (0.0, 0.0f64, 0.0f64);
    for (at, (_, size)) in windows(1, LIMITS, count).into_iter().enumerate() {
        let before = copied;
        arrived = arrived.max(submitted + pace.latency) + size as f64 * pace.transfer;
        copied = copied.max(arrived) + size as f64 * pace.copy;
        // The next one is submitted at the mark: page 1 of the first window, and the first page of each other.
        submitted = if at == 0 { arrived + pace.copy } else { before };
    }
    copied
}

#[test]
fn windows_that_are_taken_together_take_as_long_as_one_by_one() {
    let latencies = [1e-4, 1e-3, 3e-3, 1e-2].into_iter();
    let paces =
        latencies.flat_map(|latency| [0.0, 1e-5, 9e-5, 3e-4].map(|copy| Pace { latency, copy, ..PACE }));
    for (pace, count) in paces.flat_map(|pace| (4..60).map(move |count| (pace, count))) {
        let whole = span(60 + 32 * (count as u64 - 4), 1);
        let seconds = Stream::default().read(Nanos::ZERO, &whole, LIMITS, pace, |_, _| 0).seconds;
        let expected = one_by_one(count, pace);
        assert!((seconds - expected).abs() < 1e-7 * expected, "{count} {pace:?}: {seconds} {expected}");
    }
}

#[test]
fn a_stream_in_parts_takes_as_long_as_in_one() {
    let far = Pace { latency: 10e-3, ..PACE };
    for pace in [PACE, far] {
        let whole =
            Stream::default().read(Nanos::ZERO, &span(60 + 96 * 32, 1), LIMITS, pace, |_, _| 0).seconds;
        let mut stream = Stream::default();
        let mut reading = stream.read(Nanos::ZERO, &span(60, 1), LIMITS, pace, |_, _| 0);
        let mut parts = reading.seconds;
        for _ in 0..32 {
            // The pages in flight are waited for and copied, and two windows more are read.
            let since = reading.ahead_seconds + 32.0 * pace.copy;
            parts += since;
            stream.passed = Some(Nanos::ZERO);
            let start = stream.window.end() * PAGE;
            let part = Span { start, end: start + 64 * PAGE, last: start + 64 * PAGE, ..span(0, 1) };
            reading = stream.read(Nanos::from_seconds(since), &part, LIMITS, pace, |_, _| 0);
            parts += reading.seconds;
        }
        assert!((whole - parts).abs() < 0.01 * whole, "{whole} {parts}");
    }
}

#[test]
fn random_reads_wait_for_each_call_and_read_no_more() {
    let mut stream = Stream { mode: Mode::Random, ..Stream::default() };
    let reading = read(&mut stream, span(100, 1));
    // 100 x (1 + 0.1 + 0.01) ms.
    assert!((reading.seconds - 0.111).abs() < 1e-12, "{reading:?}");
    assert_eq!((reading.end, reading.ahead, stream.window.size), (100, 100, 0));
    let reading = read(&mut stream, span(1000, 1000));
    // In parts of 320 pages: 4 x 1 + 100 + 10 ms.
    assert!((reading.seconds - 0.114).abs() < 1e-12, "{reading:?}");
}

#[test]
fn an_isolated_read_is_exact_and_the_next_call_goes_on() {
    let mut stream = Stream { previous: Some(5), ..Stream::default() };
    let base = 1000 * PAGE;
    let one = Span { start: base, end: base + 2 * PAGE, origin: base, last: base + 2 * PAGE, ..span(2, 2) };
    let reading = read(&mut stream, one);
    assert_eq!((reading.end, reading.ahead), (1002, 1002));
    assert!((reading.seconds - 1.22e-3).abs() < 1e-12 && (reading.copying - 0.02e-3).abs() < 1e-12);
    let two = Span { end: base + 4 * PAGE, last: base + 4 * PAGE, ..one };
    assert_eq!(read(&mut stream, two).end, 1006, "first_size(2) = 4 pages from 1002 on");
}

#[test]
fn sequential_advice_doubles_the_windows() {
    let mut stream = Stream { mode: Mode::Sequential, ..Stream::default() };
    read(&mut stream, span(1000, 16));
    assert_eq!(stream.window.size, 64);
}

#[test]
fn without_read_ahead_pages_come_one_by_one() {
    let limits = Limits { read_ahead: 0, ..LIMITS };
    let reading = Stream::default().read(Nanos::ZERO, &span(10, 10), limits, PACE, |_, _| 0);
    assert!((reading.seconds - 10.0 * 1.11e-3).abs() < 1e-12, "{reading:?}");
}

/// The pages that a fault has read, from where to where, and the end of those in flight.
fn fault(stream: &mut Stream, page: u64, mapped: Mode) -> (u64, u64, u64) {
    let (start, end) = (page * PAGE, (page + 1) * PAGE);
    let span = Span { start, end, origin: start, last: end, call: PAGE, mapped: Some(mapped) };
    let reading = stream.read(Nanos(0), &span, LIMITS_OF_FAULTS, FREE, |_, _| 0);
    (reading.begin, reading.end, reading.ahead)
}

const LIMITS_OF_FAULTS: Limits = Limits { read_ahead: 32, request: 320, keeps_size: false };
const FREE: Pace = Pace { latency: 1e-3, transfer: 1e-5, copy: 0.0 };

/// `mm/filemap.c: do_sync_mmap_readahead`
#[test]
fn a_fault_reads_what_is_around_it_or_behind_it_or_nothing_else() {
    let one = |page, mapped| fault(&mut Stream::default(), page, mapped);
    assert_eq!(one(100, Mode::Normal), (84, 116, 116));
    assert_eq!(one(5, Mode::Normal), (0, 32, 32), "no file begins before its first page");
    assert_eq!(one(100, Mode::Sequential), (100, 132, 132));
    assert_eq!(one(100, Mode::Random), (100, 101, 101));
}

/// `MMAP_LOTSAMISS`: they are counted up to ten times as many, and each page that is found makes up for one.
#[test]
fn many_misses_end_reading_around_until_pages_are_found() {
    let mut stream = Stream::default();
    let next = |stream: &mut Stream| fault(stream, 1000, Mode::Normal).1;
    for _ in 0..100 {
        assert_eq!(next(&mut stream), 1016);
    }
    assert_eq!(next(&mut stream), 1001);
    stream.found_mapped(2);
    assert_eq!(next(&mut stream), 1016);
    (0..2000).for_each(|_| assert_eq!(next(&mut stream), 1001));
    stream.found_mapped(900);
    assert_eq!(next(&mut stream), 1001);
    stream.found_mapped(2);
    assert_eq!(next(&mut stream), 1016);
}

/// The windows after the first are those of a stream of calls.
#[test]
fn a_mapping_that_is_read_from_end_to_end_streams() {
    let pages = 3200;
    let span = Span {
        start: 0,
        end: pages * PAGE,
        origin: 0,
        last: pages * PAGE,
        call: PAGE,
        mapped: Some(Mode::Normal),
    };
    let seconds = |latency| {
        let pace = Pace { latency, ..FREE };
        Stream::default().read(Nanos(0), &span, LIMITS_OF_FAULTS, pace, |_, _| 0).seconds
    };
    let transfer = pages as f64 * 1e-5;
    // The mark of the first window is looked at when all of it is there. From then on two are on their way.
    assert!((seconds(1e-4) - transfer - 2e-4).abs() < 1e-9, "{}", seconds(1e-4));
    assert!((seconds(1e-3) / (51.0 * (1e-3 + 32e-5)) - 1.0).abs() < 1e-9, "{}", seconds(1e-3));
}
