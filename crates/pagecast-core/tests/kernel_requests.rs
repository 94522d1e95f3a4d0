//! `block/blk-mq.c`: pages that come and go by requests of a disk with `service`.

use crate::common::{Case, Run, linux};

const GB: u64 = 1_000_000_000;

/// The machine with a disk that takes a tenth of a millisecond for each request, 32 at a time.
fn disk(scheduler: &str) -> Case {
    linux()
        .set("machine.disk.ssd.service=100 us")
        .set("machine.disk.ssd.hw_queue_depth=32")
        .set("machine.disk.ssd.nr_requests=64")
        .set(&format!("machine.disk.ssd.scheduler={scheduler}"))
}

const SCHEDULERS: [&str; 4] = ["none", "mq-deadline", "kyber", "bfq"];

fn bytes(run: &Run) -> (u64, u64) {
    let used = &run.devices.used;
    (used.iter().map(|used| used.read_bytes).sum(), used.iter().map(|used| used.write_bytes).sum())
}

#[test]
fn every_page_is_written_once_and_read_once() {
    let program = ["write = '/data/out', size = '2 GB'", "fsync = '/data/out'", "read = '/data/in'"];
    for scheduler in SCHEDULERS {
        let run = disk(scheduler).file("/data/in", "1 GB").process("p", &program).run("kernel");
        let (read, written) = bytes(&run);
        assert_eq!(read, GB, "{scheduler}");
        // The log of the journal comes on top.
        assert!((2 * GB..2 * GB + 20_000_000).contains(&written), "{scheduler}: {written}");
    }
}

#[test]
fn who_is_alone_is_as_fast_as_the_disk() {
    let program = ["write = '/data/out', size = '2 GB'", "fsync = '/data/out'", "read = '/data/in'"];
    let seconds = |run: &Run| run.end.as_seconds();
    let plain = linux().file("/data/in", "1 GB").process("p", &program).run("kernel");
    for scheduler in SCHEDULERS {
        let run = disk(scheduler).file("/data/in", "1 GB").process("p", &program).run("kernel");
        assert!(
            (seconds(&run) / seconds(&plain) - 1.0).abs() < 0.03,
            "{scheduler}: {} {}",
            run.end,
            plain.end
        );
    }
}

/// A disk whose times are drawn, a cloud volume, and a disk behind a link.
const OTHERS: [&str; 3] = [
    "machine.disk.ssd.service_read={ p50 = '80 us', p99 = '200 us' }",
    "machine.disk.ssd.iops={ baseline = 3000, unit = '256 KiB' }",
    "machine.disk.ssd.san={ rate = '400 MB/s', round_trip = '100 us' }",
];

#[test]
fn pages_of_disks_with_drawn_times_credits_or_a_link_are_written_once_and_read_once() {
    let program = ["write = '/data/out', size = '500 MB'", "fsync = '/data/out'", "read = '/data/in'"];
    for other in OTHERS {
        let run = disk("none").set(other).file("/data/in", "500 MB").process("p", &program).run("kernel");
        let (read, written) = bytes(&run);
        assert_eq!(read, GB / 2, "{other}");
        assert!((GB / 2..GB / 2 + 20_000_000).contains(&written), "{other}: {written}");
    }
}

/// A volume that passes 100 requests in a second.
#[test]
fn reads_through_the_cache_spend_credits() {
    let read = "read = '/data/in', size = '2048000 B', call = '4096 B', pattern = { random = 'uniform', once = true }";
    let case = linux().set("machine.disk.ssd.iops={ baseline = 100 }").file("/data/in", "10 GB");
    let run = case.process("p", &[read]).run("kernel");
    assert!((run.end.as_seconds() - 5.0).abs() < 0.1, "{}", run.end);
}

#[test]
fn every_byte_that_is_read_comes_from_the_device_or_the_cache() {
    for call in ["4 KiB", "100 kB", "1 MiB", "10 MB"] {
        let read = format!("read = '/data/in', call = '{call}'");
        let run = disk("none").file("/data/in", "300 MB").process("p", &[&read, &read]).run("kernel");
        for index in 0..2 {
            let (cache, device) = run.sources("p", index);
            assert_eq!(cache + device, 300_000_000, "{call}: {cache} {device}");
        }
    }
}

/// `mm/readahead.c`: at the first page of a window, which may still be on its way, the next one is asked for. So the disk has two of the 64 windows of
/// 128 KiB at a time.
#[test]
fn a_reader_in_order_waits_for_two_windows_at_once() {
    let reads: Vec<String> = (0..128)
        .map(|call| format!("read = '/data/in', offset = '{} KiB', size = '64 KiB'", 64 * call))
        .collect();
    let reads: Vec<&str> = reads.iter().map(String::as_str).collect();
    for scheduler in SCHEDULERS {
        let case = disk(scheduler).set("machine.disk.ssd.service=10 ms").file("/data/in", "8 MiB");
        let run = case.process("p", &[&["open = '/data/in'"], &reads[..]].concat()).run("kernel");
        let seconds = run.end.as_seconds();
        assert!((0.32..0.42).contains(&seconds), "{scheduler}: {seconds}");
    }
}

#[test]
fn a_flusher_that_takes_long_for_its_pages_holds_the_disk_up() {
    let program = ["write = '/data/out', size = '900 MB'", "fsync = '/data/out'"];
    let seconds = |cost: &str| {
        let case = disk("none").set(&format!("machine.memory.cost.page_writeback={cost}"));
        case.process("p", &program).run("kernel").end.as_seconds()
    };
    let (quick, slow) = (seconds("1 us"), seconds("80 us"));
    // 0.9 s for the copy, and 9 s for the bytes or 80 us for each of 219,727 pages.
    assert!((quick - 9.9).abs() < 0.3 && (slow - 18.5).abs() < 0.7, "{quick} {slow}");
}

/// With more than 64 tasks decisions of an instant are put off to its last call (`MANY_TASKS`). That call was lost where it had been asked for
/// at the same instant before, and the run had no event any more.
#[test]
fn many_direct_calls_at_once_come_to_an_end() {
    let program = |name: &str| {
        let keys = "size = '64 MiB', call = '128 KiB', by = 'libaio', pattern = { depth = 48 }";
        [format!("open = '/data/{name}', flags = ['O_DIRECT']"), format!("write = '/data/{name}', {keys}")]
    };
    let (a, b) = (program("a"), program("b"));
    for scheduler in SCHEDULERS {
        let case = disk(scheduler).file("/data/a", "64 MiB").file("/data/b", "64 MiB");
        let case = case.process("a", &a.each_ref().map(String::as_str));
        let run = case.process("b", &b.each_ref().map(String::as_str)).run("kernel");
        assert_eq!(bytes(&run).1, 128 << 20, "{scheduler}");
    }
}
