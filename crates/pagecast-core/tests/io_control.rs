//! `block/blk-throttle.c`, `block/blk-iocost.c`: `io.max` and `io.weight` of cgroups, for direct I/O, reads and write-back.

use pagecast_core::result::Part;

use crate::common::{Case, Run, linux};

const IN_A: &str = "cgroup = 'a'";
const IN_B: &str = "cgroup = 'b'";

/// The machine with a disk that takes a tenth of a millisecond for each request, 32 at a time, and moves 100 MB in a second.
fn disk() -> Case {
    linux()
        .set("machine.disk.ssd.service=100 us")
        .set("machine.disk.ssd.hw_queue_depth=32")
        .set("machine.disk.ssd.nr_requests=64")
}

/// The same, with a cgroup `a` that has such limits.
fn limited(limits: &str) -> Case {
    disk().set(&format!("machine.cgroup.a.io.max.ssd={{ {limits} }}"))
}

fn within(actual: f64, expected: f64, tolerance: f64) -> bool {
    (actual / expected - 1.0).abs() <= tolerance
}

#[test]
fn a_reader_gets_as_many_bytes_as_its_cgroup_may_read() {
    let read = "read = '/data/in', size = '195 MiB', call = '128 KiB'";
    for program in [&[read][..], &["open = '/data/in', flags = ['O_DIRECT']", read]] {
        let run = |keys| {
            let case = limited("rbps = '20 MB/s'").file("/data/in", "195 MiB");
            case.process_with("p", keys, program).run("kernel").end.as_seconds()
        };
        let (inside, outside) = (run(IN_A), run(""));
        assert!(within(inside, 10.22, 0.03), "{program:?}: {inside}");
        assert!(outside < 5.0, "{program:?}: {outside}");
    }
}

#[test]
fn a_direct_writer_gets_as_many_bytes_and_requests_as_its_cgroup_may_write() {
    let write = |limits: &str, size: &str, call: &str| {
        let write = format!("write = '/data/out', size = '{size}', call = '{call}'");
        let program = ["open = '/data/out', flags = ['O_DIRECT']", &write];
        let case = limited(limits).file("/data/out", "95 MiB");
        case.process_with("p", IN_A, &program).run("kernel").seconds("p", 1)
    };
    let bytes = write("wbps = '10 MB/s'", "95 MiB", "1 MiB");
    assert!(within(bytes, 9.96, 0.03), "{bytes}");
    let requests = write("wiops = 100", "8192 KiB", "4 KiB");
    assert!(within(requests, 20.48, 0.02), "{requests}");
    let reads_only = write("rbps = '1 MB/s', riops = 1", "95 MiB", "1 MiB");
    assert!(reads_only < 2.0, "{reads_only}");
}

/// A wb of its own, whose bandwidth is that of the limit: the writer is throttled long before the host's limit, and `fsync` waits for the
/// rest.
#[test]
fn write_back_is_charged_to_the_cgroup_that_made_the_pages_dirty() {
    let program = ["write = '/data/out', size = '200 MB'", "fsync = '/data/out'"];
    let run = |case: Case, keys| case.process_with("p", keys, &program).run("kernel");
    let total = |run: &Run| run.seconds("p", 0) + run.seconds("p", 1);
    let inside = run(limited("wbps = '20 MB/s'"), IN_A);
    assert!(within(total(&inside), 10.0, 0.04), "{} {}", inside.seconds("p", 0), inside.seconds("p", 1));
    let outside = run(limited("wbps = '20 MB/s'"), "");
    assert!(total(&outside) < 2.6, "{}", total(&outside));
}

#[test]
fn balance_dirty_pages_sees_the_bandwidth_of_the_limit() {
    let program = ["write = '/data/out', size = '4 GB'"];
    let case = limited("wbps = '20 MB/s'").process_with("p", IN_A, &program);
    let run = case.run("kernel");
    assert!(run.part("p", 0, Part::Throttled) > 20.0, "{:?}", run.parts("p", 0));
    // What may be dirty comes at once, and all else at the rate of the limit.
    let dirty = run.timeline.levels.iter().map(|levels| levels.dirty.0).max().unwrap_or_default() as f64;
    assert!(within(run.seconds("p", 0), (4e9 - dirty) / 20e6, 0.1), "{} {dirty}", run.seconds("p", 0));
}

#[test]
fn a_limited_cgroup_does_not_hold_up_another() {
    let write = |name: &str| format!("write = '/data/{name}', size = '400 MB'");
    let (slow, quick) = (write("slow"), write("quick"));
    let run = limited("wbps = '5 MB/s'")
        .process_with("slow", IN_A, &[&slow])
        .process("quick", &[&quick, "fsync = '/data/quick'"])
        .run("kernel");
    let quick = run.seconds("quick", 0) + run.seconds("quick", 1);
    assert!(within(quick, 4.4, 0.15), "{quick}");
}

#[test]
fn every_byte_of_a_limited_cgroup_is_written_once() {
    let program = ["write = '/data/out', size = '50 MB'", "fsync = '/data/out'"];
    for limits in ["wbps = '20 MB/s'", "wiops = 300", "wbps = '30 MB/s', wiops = 200"] {
        let run = limited(limits).process_with("p", IN_A, &program).run("kernel");
        let written: u64 = run.devices.used.iter().map(|used| used.write_bytes).sum();
        assert!((50_000_000..50_500_000).contains(&written), "{limits}: {written}");
    }
}

/// Two cgroups write past the cache at once, by a model of 80 MB in a second.
#[test]
fn cgroups_share_a_disk_by_their_weights() {
    let cost = "wbps = '80 MB/s', wseqiops = 19531, wrandiops = 19531, min = 100, max = 100";
    let program = |name: &str| {
        let keys = "size = '1 GiB', call = '128 KiB', by = 'libaio', for = '20 s', pattern = { depth = 8 }";
        [format!("open = '/data/{name}', flags = ['O_DIRECT']"), format!("write = '/data/{name}', {keys}")]
    };
    let (first, second) = (program("a"), program("b"));
    let moved = |run: &Run, name: &str| run.operations.bytes[run.row(name, 1)] as f64;
    for (weight, share) in [(300, 0.25), (100, 0.5)] {
        let run = disk()
            .set(&format!("machine.disk.ssd.iocost={{ {cost} }}"))
            .set("machine.cgroup.a.io.weight=100")
            .set(&format!("machine.cgroup.b.io.weight={weight}"))
            .file("/data/a", "1 GiB")
            .file("/data/b", "1 GiB")
            .process_with("a", IN_A, &first.each_ref().map(String::as_str))
            .process_with("b", IN_B, &second.each_ref().map(String::as_str))
            .run("kernel");
        let (a, b) = (moved(&run, "a"), moved(&run, "b"));
        assert!(within(a / (a + b), share, 0.05), "{weight}: {a} {b}");
        assert!(within(a + b, 1.6e9, 0.05), "{weight}: {a} {b}");
    }
}

#[test]
fn a_cgroup_without_limits_changes_nothing_there() {
    let program = [
        "write = '/data/out', size = '1 GB'",
        "fsync = '/data/out'",
        "drop_caches = true",
        "read = '/data/out'",
    ];
    let times = |case: Case| case.process_with("p", IN_A, &program).run("kernel").all_seconds("p");
    let plain = times(disk().set("machine.cgroup.a.memory.max='16 GB'"));
    let limits = limited("rbps = '1 TB/s', riops = 1000000000");
    assert_eq!(plain, times(limits.set("machine.cgroup.a.memory.max='16 GB'")), "nobody reaches them");
}
