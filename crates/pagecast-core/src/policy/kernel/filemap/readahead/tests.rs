//! Checks the cost of runs beside their bytes, and read-ahead, by hand from `mm/readahead.c`, Linux 6.16.

use super::*;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::filemap::readahead::{cached_before, pass_mark, read_ahead};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::readahead::window::{Pace, Reading, Span, Stream, Window};
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::shape::{AHEAD, RunShape, operation_of, tag};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::kernel::tests::{kernel, on, reconfigure};
use crate::policy::{Actions, FileId, FileView, OperationId};
use crate::units::{Bytes, BytesPerSecond, Nanos};

const FILE: FileId = FileId(7);

/// The window at the start of a file that is read in calls of 64 KiB: its mark is at page 16.
const WINDOW: Window = Window { start: 0, size: 32, async_size: 16 };

/// 1 ms before a request's bytes come at 100 MB/s, which is 40.96 us a page.
const LATENCY: f64 = 1e-3;
const TRANSFER: f64 = 40.96e-6;

/// A file of 1 GB on the disk of these tests, whose windows have 32 pages and its requests 320.
fn file() -> FileView {
    FileView { id: FILE, size: Bytes(1_000_000_000), ..FileView::default() }
}

fn with_latency() -> Kernel {
    let mut kernel = kernel("");
    reconfigure(&mut kernel, |config| config.host.disks[0].latency = Nanos::from_seconds(LATENCY));
    kernel
}

/// Operation 1 reads the first `end` pages of the file in calls of a page, has come to page `at`, and the window is there.
fn read(kernel: &mut Kernel, at: u64, end: u64) -> OperationId {
    let (operation, kind) = (OperationId(1), Kind::Read { fresh: false });
    let task = Task::new(kind, Some(file()), (0, Bytes(end * PAGE), Bytes(PAGE)), Nanos::ZERO);
    let stream = Some((operation, FILE));
    kernel.tasks.insert(operation, Task { run: Run::Hit, position: at * PAGE, stream, ..task });
    kernel.readers.streams.insert((operation, FILE), Stream { window: WINDOW, ..Stream::default() });
    kernel.pages.read_in(FILE, 0, WINDOW.end() * PAGE, on(0));
    operation
}

/// The read-ahead that is under way, by number.
fn ahead(kernel: &Kernel) -> Vec<(OperationId, &Task)> {
    kernel.tasks.iter().filter(|(_, task)| task.reads_ahead()).collect()
}

#[track_caller]
fn assert_near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-8, "{actual} instead of {expected}");
}

#[test]
fn the_pages_just_before_a_miss_are_counted_up_to_the_first_hole_or_the_limit() {
    let mut kernel = kernel("");
    kernel.pages.read_in(FILE, 0, 3 * PAGE, on(0));
    kernel.pages.read_in(FILE, 4 * PAGE, 10 * PAGE, on(0));
    let before = |page, most| cached_before(&kernel.pages, FILE, page, most);
    assert_eq!([before(10, 4), before(10, 32), before(3, 32), before(4, 32)], [4, 6, 3, 0]);
}

#[test]
fn pages_in_flight_behind_a_read_come_after_it_except_for_cached_ones() {
    let span = Span { start: 0, end: 10 * PAGE, origin: 0, last: 10 * PAGE, call: PAGE, mapped: None };
    let reading = Reading {
        begin: 0,
        end: 32,
        seconds: 5e-3,
        copying: 1e-3,
        ahead: 64,
        ahead_seconds: 2.25e-3,
        ahead_done: 9,
        orders: Default::default(),
    };
    let shape = |cached: &[(u64, u64)], latency: f64| {
        let mut kernel = with_latency();
        for &(from, to) in cached {
            kernel.pages.read_in(FILE, from * PAGE, to * PAGE, on(0));
        }
        let pace = Pace { latency, ..pace_of(&kernel.config, &file(), 0.0) };
        shape(&kernel.pages, &kernel.clock, &span, &file(), pace, &reading)
    };
    let check = |shape: &RunShape, pages: u64, least: f64, done: u64, due: f64| {
        assert_eq!((shape.bytes, shape.copied), (pages * PAGE, 10 * PAGE));
        assert_near(shape.least, least);
        let ahead = shape.ahead.expect("a window is on its way");
        assert_eq!((ahead.end, ahead.done), (64 * PAGE, done * PAGE));
        assert_near(ahead.due.as_seconds(), due);
    };
    check(&shape(&[], LATENCY), 32, 5e-3, 9, 7.25e-3);
    // Four pages of the second window need not come.
    check(&shape(&[(40, 44)], LATENCY), 32, 5e-3, 9, 7.25e-3 - 4.0 * TRANSFER);
    // Page 20 ends the request, twelve pages early, and of what follows all but that one is still to come.
    check(&shape(&[(20, 21)], LATENCY), 20, 5e-3 - 12.0 * TRANSFER, 0, 7.25e-3 - TRANSFER);
    // Without latency nothing is timed but by its bytes.
    check(&shape(&[], 0.0), 32, 0.0, 0, 0.0);
}

/// A page is copied in 1 us.
#[test]
fn a_reader_comes_to_a_mark_when_it_has_copied_what_is_before_it() {
    for (at, copied) in [(0, 16), (4, 12), (16, 0)] {
        let mut kernel = with_latency();
        let copy_read = Some(BytesPerSecond(PAGE as f64 * 1e6));
        reconfigure(&mut kernel, |config| config.host.memory.cost.copy_read = copy_read);
        let reader = read(&mut kernel, at, 1000);
        let inserted = pass_mark(
            &mut kernel.context(kernel.clock.caught_up, &mut Actions::default()),
            reader,
            32 * PAGE,
        );
        assert_eq!((inserted, ahead(&kernel).len()), (0, 0), "the next window is part of its own run");
        let passed = kernel.readers.streams[&(reader, FILE)].passed.expect("it comes to the mark");
        assert_near(passed.as_seconds(), f64::from(copied) * 1e-6);
    }
}

#[test]
fn a_mark_has_a_window_read_of_which_pages_that_are_there_are_not_inserted() {
    for (cached, inserted) in [(0, 32), (4, 28), (32, 0)] {
        let mut kernel = with_latency();
        // It ends before the next window does.
        let reader = read(&mut kernel, 16, 32);
        kernel.pages.read_in(FILE, 32 * PAGE, (32 + cached) * PAGE, on(0));
        assert_eq!(
            pass_mark(
                &mut kernel.context(kernel.clock.caught_up, &mut Actions::default()),
                reader,
                32 * PAGE
            ),
            inserted * PAGE
        );
        let window = kernel.readers.streams[&(reader, FILE)].window;
        let next = Window { start: 32, size: 32, async_size: 32 };
        assert_eq!(window, if inserted > 0 { next } else { Window::default() });
    }
    let mut kernel = with_latency();
    let reader = read(&mut kernel, 16, 32);
    pass_mark(&mut kernel.context(kernel.clock.caught_up, &mut Actions::default()), reader, 32 * PAGE);
    let [(_, window)] = ahead(&kernel)[..] else { panic!("one window is read") };
    assert_near(window.shape.least, LATENCY + 32.0 * TRANSFER);
    // Pages of the window before that have been evicted meanwhile are no part of it.
    let mut kernel = with_latency();
    let reader = read(&mut kernel, 16, 32);
    kernel.pages.drop_clean();
    assert_eq!(
        pass_mark(&mut kernel.context(kernel.clock.caught_up, &mut Actions::default()), reader, 32 * PAGE),
        32 * PAGE
    );
    assert_eq!(ahead(&kernel)[0].1.position, 32 * PAGE);
}

/// 640 pages are two requests: the first is there when all are but for the transfer of the second.
#[test]
fn read_ahead_comes_request_by_request() {
    let mut kernel = with_latency();
    let least = LATENCY + 640.0 * TRANSFER;
    read_ahead(
        &mut kernel.context(kernel.clock.caught_up, &mut Actions::default()),
        OperationId(1),
        &file(),
        (0, 640 * PAGE),
        0,
        least,
    );
    let [(_, first)] = ahead(&kernel)[..] else { panic!("one request after the other") };
    assert_eq!((first.position, first.end), (0, 320 * PAGE));
    assert_near(first.shape.least, LATENCY + 320.0 * TRANSFER);
    assert_near(first.shape.ahead.expect("there is more").due.as_seconds(), least);
    // Of the second, 40 pages need not come.
    let mut kernel = with_latency();
    kernel.pages.read_in(FILE, 400 * PAGE, 440 * PAGE, on(0));
    read_ahead(
        &mut kernel.context(kernel.clock.caught_up, &mut Actions::default()),
        OperationId(1),
        &file(),
        (0, 640 * PAGE),
        0,
        least,
    );
    assert_near(ahead(&kernel)[0].1.shape.least, LATENCY + (640.0 - 280.0) * TRANSFER);
}

#[test]
fn transferred_bytes_do_not_come_again() {
    for (done, from) in [(0, 0), (9 * PAGE, 9 * PAGE), (32 * PAGE, 32 * PAGE - 1)] {
        let mut kernel = with_latency();
        read_ahead(
            &mut kernel.context(kernel.clock.caught_up, &mut Actions::default()),
            OperationId(1),
            &file(),
            (0, 32 * PAGE),
            done,
            0.0,
        );
        let [(_, window)] = ahead(&kernel)[..] else { panic!("one window is read") };
        // All its pages arrive together, with the last byte at the earliest.
        assert_eq!((window.origin, window.position, window.end), (0, from, 32 * PAGE));
    }
}

#[test]
fn read_ahead_has_numbers_of_its_own_that_begin_again() {
    let mut kernel = with_latency();
    kernel.tasks.ahead_number = AHEAD - 2;
    for part in 0..3 {
        let range = (1000 * part * PAGE, (1000 * part + 32) * PAGE);
        read_ahead(
            &mut kernel.context(kernel.clock.caught_up, &mut Actions::default()),
            OperationId(1),
            &file(),
            range,
            0,
            LATENCY,
        );
    }
    let numbers: Vec<u32> = ahead(&kernel).iter().map(|(operation, _)| operation.0).collect();
    assert_eq!(numbers, [AHEAD | 1, AHEAD | 2, AHEAD | (AHEAD - 1)]);
    for (operation, task) in ahead(&kernel) {
        assert_eq!(operation_of(tag(operation, task)), operation);
    }
}

#[test]
fn read_ahead_goes_behind_the_same_thread_s_on_that_file_only() {
    let mut kernel = with_latency();
    let (one, other, nobody) = (OperationId(1), OperationId(2), OperationId(3));
    let mut out = Actions::default();
    for (thread, from, to) in [(one, 0, 32), (other, 32, 64)] {
        read_ahead(
            &mut kernel.context(kernel.clock.caught_up, &mut out),
            thread,
            &file(),
            (from * PAGE, to * PAGE),
            0,
            LATENCY,
        );
    }
    let mut origin = |thread, file, page: u64| {
        kernel.tasks.ahead_of(thread, file, page * PAGE).map(|before| before.origin / PAGE)
    };
    assert_eq!([origin(one, FILE, 32), origin(other, FILE, 64)], [Some(0), Some(32)]);
    assert_eq!([origin(one, FILE, 64), origin(other, FILE, 32), origin(nobody, FILE, 32)], [None; 3]);
    assert_eq!([origin(one, FILE, 16), origin(one, FileId(8), 32)], [None; 2]);
}
