//! Read-ahead: how long the first reads of a file take, what they leave in the cache, and what advice changes. Source of the
//! rules: `mm/readahead.c`, `mm/filemap.c`, `mm/fadvise.c`, Linux 6.16.

use pagecast_core::result::Part;

use crate::common::{Case, GB, HOSTS, Run, linux, on};

const PAGE: u64 = 4096;

/// [`crate::common::LINUX`] with a disk that takes 1 ms before a request's bytes come at 100 MB/s: 40.96 us a page. Copying
/// a page takes 4.096 us.
fn slow() -> Case {
    linux().set("machine.disk.ssd.latency=1 ms")
}

fn after(operations: &[&str]) -> Run {
    slow().file("/data/f", "1 GB").process("p", operations).run("kernel")
}

/// A read of so many pages.
fn read(page: u64, pages: u64) -> String {
    format!("read = '/data/f', offset = '{} B', size = '{} B'", page * PAGE, pages * PAGE)
}

/// So many seconds, in microseconds of this disk: requests, pages that arrive, pages that are copied.
fn seconds(requests: u64, pages: u64, copied: u64) -> f64 {
    requests as f64 * 1e-3 + pages as f64 * 40.96e-6 + copied as f64 * 4.096e-6
}

#[track_caller]
fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance * expected, "{actual} instead of {expected}");
}

#[test]
fn a_first_read_waits_for_its_window() {
    let run = after(&[&read(0, 1)]);
    assert_near(run.seconds("p", 0), seconds(1, 4, 1), 1e-4);
    assert_eq!((run.file("/data/f").1, run.sources("p", 0)), (4 * PAGE, (0, PAGE)));
}

#[test]
fn what_came_with_a_read_is_there_for_the_next() {
    let run = after(&[&read(0, 1), "sleep = '1 s'", &read(1, 3)]);
    assert_eq!(run.sources("p", 2), (3 * PAGE, 0));
    assert_near(run.seconds("p", 2), seconds(0, 0, 3), 0.01);
}

#[test]
fn small_reads_in_a_row_have_windows_of_16_32_64_and_128_kib() {
    let reads: Vec<String> = (0..29).map(|page| read(page, 1)).collect();
    let mut operations: Vec<&str> = reads.iter().map(String::as_str).collect();
    operations.push("sleep = '1 s'");
    // A reader of page 0 has [0, 4); of page 1 also [4, 12); of page 4 also [12, 28); of page 12 also [28, 60); of page 28
    // also [60, 92).
    for (reads, cached) in [(1, 4), (2, 12), (4, 12), (5, 28), (12, 28), (13, 60), (28, 60), (29, 92)] {
        let of_these = [&operations[..reads], &operations[29..]].concat();
        assert_eq!(after(&of_these).file("/data/f").1, cached * PAGE, "after {reads} reads");
    }
}

#[test]
fn a_call_of_64_kib_has_the_largest_window_at_once() {
    let run = after(&[&read(0, 16), "sleep = '1 s'"]);
    assert_eq!(run.file("/data/f").1, 32 * PAGE, "it did not come to the mark at page 16");
    let run = after(&[&read(0, 16), &read(16, 16), "sleep = '1 s'"]);
    assert_eq!(run.file("/data/f").1, 64 * PAGE);
}

#[test]
fn a_call_of_1_mib_has_windows_of_its_size() {
    // The window is the call, its mark in the middle. At the mark half of the call is left, so the next one had 128 pages until 6.12, where a window
    // became no smaller than the one before (`mm/readahead.c: page_cache_async_ra`).
    for (version, cached) in [("6.6", 384), ("6.16", 512)] {
        let run = slow()
            .set(&format!("machine.kernel.version='{version}'"))
            .file("/data/f", "1 GB")
            .process("p", &[&read(0, 256), "sleep = '1 s'"])
            .run("kernel");
        assert_eq!(run.file("/data/f").1, cached * PAGE, "{version}");
    }
}

#[test]
fn reads_here_and_there_wait_each_and_read_no_more() {
    let reads = [7000, 3000, 90_000, 100].map(|page| read(page, 1));
    let run = after(&[&reads[0], &reads[1], &reads[2], &reads[3], "sleep = '1 s'"]);
    for index in 0..4 {
        assert_near(run.seconds("p", index), seconds(1, 1, 1), 1e-3);
        assert_near(run.part("p", index, Part::CpuCopy), seconds(0, 0, 1), 1e-3);
    }
    assert_eq!(run.file("/data/f").1, 4 * PAGE);
}

#[test]
fn a_request_ends_at_a_cached_page_and_the_window_goes_on_behind_it() {
    // Behind 64 cached pages a miss looks like a stream: 32 pages, of which the third is there.
    let advice = |advice: &str| format!("fadvise = '/data/f', advice = '{advice}'");
    let (random, normal) = (advice("random"), advice("normal"));
    let run = after(&[&random, &read(0, 64), &read(66, 1), &normal, &read(64, 1), "sleep = '1 s'"]);
    assert_near(run.seconds("p", 4), seconds(1, 2, 1), 1e-3);
    assert_eq!(run.file("/data/f").1, 96 * PAGE);
}

#[test]
fn a_long_stream_has_two_windows_on_their_way() {
    // Each window of 128 KiB takes half of 1 ms, 32 pages of transfer and 32 of copying, or as long as the device alone.
    let stream = |latency: &str| {
        let case = slow().set(&format!("machine.disk.ssd.latency={latency}")).file("/data/f", "1 GB");
        case.process("p", &["read = '/data/f', call = '64 KiB'"]).run("kernel").seconds("p", 0)
    };
    assert_near(stream("1 ms"), 10.0, 0.001);
    let windows = GB as f64 / (32.0 * PAGE as f64);
    assert_near(stream("10 ms"), windows * (10e-3 + seconds(0, 32, 32)) / 2.0, 0.001);
}

#[test]
fn a_stream_that_thinks_reads_ahead_meanwhile() {
    // 16 pages each 3 ms: the device needs 1 ms and 32 pages of 41 us for two of them.
    let mut operations = Vec::new();
    let reads: Vec<String> = (0..64).map(|at| read(16 * at, 16)).collect();
    for read in &reads {
        operations.extend([read.as_str(), "sleep = '3 ms'"]);
    }
    let run = after(&operations);
    for index in 2..64 {
        assert_eq!(run.sources("p", 2 * index).1, 0, "read {index}");
        assert_near(run.seconds("p", 2 * index), seconds(0, 0, 16), 0.01);
    }
}

#[test]
fn a_stream_of_short_reads_is_as_fast_as_one_long_read() {
    let reads: Vec<String> = (0..512).map(|at| read(16 * at, 16)).collect();
    let operations: Vec<&str> = reads.iter().map(String::as_str).collect();
    let short = after(&operations).end("p", 511);
    let long = after(&[&format!("{}, call = '64 KiB'", read(0, 512 * 16))]).end("p", 0);
    assert_near(short, long, 0.05);
}

#[test]
fn no_window_passes_the_end_of_the_file() {
    let run = slow().file("/data/f", "100 kB").process("p", &[&read(0, 16), "sleep = '1 s'"]).run("kernel");
    assert_eq!(run.file("/data/f").1, 100_000);
}

#[test]
fn read_ahead_kb_is_the_largest_window() {
    let run = |kb: &str| {
        let case = slow().set(&format!("machine.disk.ssd.read_ahead_kb={kb}")).file("/data/f", "1 GB");
        case.process("p", &[&read(0, 16), "sleep = '1 s'"]).run("kernel")
    };
    assert_eq!(run("64").file("/data/f").1, 32 * PAGE, "the call fills its window of 16: the mark is in it");
    assert_eq!(run("1024").file("/data/f").1, 32 * PAGE, "twice what is asked for");
    assert_eq!(run("0").file("/data/f").1, 16 * PAGE);
    assert_near(run("0").seconds("p", 0), seconds(16, 16, 16), 1e-3);
}

#[test]
fn a_reader_waits_for_pages_that_another_has_under_way() {
    let run = slow()
        .file("/data/f", "1 GB")
        .process("a", &[&read(0, 256), "sleep = '1 s'"])
        .process("b", &["sleep = '8 ms'", &read(200, 16)])
        .run("kernel");
    assert_near(run.end("b", 1), run.end("a", 0), 0.05);
    assert_eq!(run.sources("b", 1).1, 0);
}

#[test]
fn willneed_returns_at_once_and_the_read_after_it_is_warm() {
    let advise = "fadvise = '/data/f', advice = 'willneed', size = '1 MiB'";
    let run = after(&[advise, "sleep = '1 s'", &read(0, 256)]);
    assert_eq!((run.seconds("p", 0), run.sources("p", 2)), (0.0, (256 * PAGE, 0)));
    let run = after(&[advise, &read(0, 16)]);
    assert_near(run.seconds("p", 1), seconds(1, 256, 16), 0.01);
}

#[test]
fn willneed_reads_one_request_at_most() {
    let run = after(&["fadvise = '/data/f', advice = 'willneed', offset = '10 MiB'", "sleep = '1 s'"]);
    assert_eq!(run.file("/data/f").1, 1280 << 10);
}

#[test]
fn random_advice_reads_no_more_than_is_asked_for_until_normal_advice() {
    let random = "fadvise = '/data/f', advice = 'random'";
    let run = after(&[random, &read(0, 2), &read(2, 2), "sleep = '1 s'"]);
    assert_eq!(run.file("/data/f").1, 4 * PAGE);
    assert_near(run.seconds("p", 2), seconds(1, 2, 2), 1e-3);
    let run = after(&[random, "fadvise = '/data/f', advice = 'normal'", &read(0, 1), "sleep = '1 s'"]);
    assert_eq!(run.file("/data/f").1, 4 * PAGE);
}

#[test]
fn sequential_advice_doubles_the_largest_window() {
    let run = after(&["fadvise = '/data/f', advice = 'sequential'", &read(0, 17), "sleep = '1 s'"]);
    assert_eq!(run.file("/data/f").1, 64 * PAGE);
}

#[test]
fn other_advice_changes_nothing() {
    let run = after(&["fadvise = '/data/f', advice = 'noreuse'", &read(0, 1), "sleep = '1 s'"]);
    assert_eq!(run.file("/data/f").1, 4 * PAGE);
}

#[test]
fn dontneed_on_a_part_drops_its_whole_pages() {
    let drop = "fadvise = '/data/f', advice = 'dontneed', offset = '6000 B', size = '20 kB'";
    let run = slow().cached("/data/f", "1 GB", "40960 B").process("p", &[drop]).run("kernel");
    // Pages 2 to 5: 26000 is in page 6.
    assert_eq!(run.file("/data/f").1, 6 * PAGE);
}

#[test]
fn nobody_keeps_what_was_read_ahead_of_a_file_that_is_gone() {
    let run = after(&[&read(0, 256), "truncate = '/data/f', size = '4096 B'", "sleep = '1 s'"]);
    assert_eq!(run.file("/data/f").1, PAGE);
    assert_eq!(run.memory_at(1e6).cached.0, PAGE);
}

#[test]
fn fresh_reads_take_memory_for_what_they_asked_for() {
    let fresh = format!("{}, buffer = 'fresh'", read(0, 256));
    let run = after(&[&fresh, "sleep = '1 s'"]);
    let last = run.memory_at(0.5);
    assert_eq!((last.anonymous.0, last.cached.0), (256 * PAGE, 512 * PAGE));
}

#[test]
fn without_latency_a_read_takes_what_its_bytes_take() {
    let run =
        linux().file("/data/f", "1 GB").process("p", &["read = '/data/f', call = '4 KiB'"]).run("kernel");
    assert_eq!(run.parts("p", 0), [("device_read", 10.0)]);
}

#[test]
fn a_client_goes_on_after_a_small_read_in_the_middle_of_a_file() {
    // The server reads just these pages, and has no window to go on from.
    let operations = [read(256, 4).replace("data", "remote"), read(260, 244).replace("data", "remote")];
    let operations = operations.each_ref().map(String::as_str);
    let run = on(HOSTS).file("/remote/f", "300 MB").process("p", &operations).run("kernel");
    assert_eq!(run.sources("p", 0), (0, 4 * PAGE));
    assert_eq!(run.sources("p", 1), (0, 244 * PAGE));
}

/// `mm/readahead.c: page_cache_ra_unbounded`: the reader itself gets the pages of the next window.
#[test]
fn who_comes_to_a_mark_pays_for_the_pages_of_the_next_window() {
    let reads = [read(0, 16), read(16, 16)];
    let case = slow().set("machine.memory.cost.page_insert=1 us").file("/data/f", "1 GB");
    let run = case.process("p", &[&reads[0], "sleep = '1 s'", &reads[1]]).run("kernel");
    assert_near(run.seconds("p", 2), seconds(0, 0, 16) + 32e-6, 1e-3);
}
