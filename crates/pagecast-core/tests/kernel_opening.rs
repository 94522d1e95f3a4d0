//! Ways of opening a file and of making it durable by the kernel's own rules: O_DIRECT, O_SYNC, `sync`, `fdatasync`. Source of
//! the rules: `fs/sync.c`, `fs/read_write.c`, `mm/filemap.c`, Linux 6.16.

use pagecast_core::result::Part;

use crate::common::{Case, GB, HOSTS, MB, Run, linux, on};

const MODELS: [&str; 4] = ["kernel", "wrench", "no-cache", "endless-cache"];

/// One process on [`crate::common::LINUX`]: 100 MB/s from and to the disk, 1 GB/s from and to the cache.
fn process(operations: &[&str]) -> Case {
    linux().process("p", operations)
}

fn near(actual: f64, expected: f64, tolerance: f64) -> bool {
    (actual - expected).abs() <= tolerance * expected
}

fn near_all(actual: &[(&str, f64)], expected: &[(&str, f64)]) -> bool {
    let equal = |(a, b): (&(&str, f64), &(&str, f64))| a.0 == b.0 && near(a.1, b.1, 1e-6);
    actual.len() == expected.len() && actual.iter().zip(expected).all(equal)
}

fn open(flags: &str) -> String {
    format!("open = '/data/g', create = true, flags = ['{flags}']")
}

fn write(size: &str, call: &str) -> String {
    format!("write = '/data/g', size = '{size}', call = '{call}'")
}

/// What writing 256 MiB takes, opened so, in calls of this size, each of them 10 us beside its bytes.
fn write_256_mib(flags: &str, call: &str) -> Run {
    let case = process(&[&open(flags), &write("256 MiB", call)]);
    case.set("machine.memory.cost.call=10 us").run("kernel")
}

/// 256 MiB in MB.
const MIB_256: f64 = 268.435_456;

#[test]
fn each_synchronous_call_is_copied_and_then_written() {
    // 268.4 MB at 1 GB/s and then at 100 MB/s, and 65536 calls of 10 us.
    for flags in ["O_SYNC", "O_DSYNC"] {
        let run = write_256_mib(flags, "4 KiB");
        let expected = [("cpu_copy", MIB_256 / 1000.0 + 0.65536), ("device_write", MIB_256 / 100.0)];
        assert!(near_all(&run.parts("p", 1), &expected), "{:?}", run.parts("p", 1));
        assert_eq!(run.sources("p", 1), (0, 256 << 20));
        assert_eq!(run.file("/data/g"), (256 << 20, 256 << 20, 0), "cached, and nothing is dirty");
    }
}

#[test]
fn large_synchronous_calls_are_copied_as_a_whole_before_the_device_begins() {
    let run = write_256_mib("O_SYNC", "64 MiB");
    let call = 64.0 / 256.0 * MIB_256;
    // Of the second call the copy begins at once when the first has been written.
    let second = 1e-5 + call / 1000.0 + call / 100.0;
    let dirty = |time: f64| run.memory_at(time).dirty.0;
    assert_eq!(dirty(second), 0);
    assert!(dirty(second + call / 1000.0 + 1e-3) > 60 * MB);
    assert!(near(run.seconds("p", 1), 4.0 * second, 1e-6));
}

#[test]
fn the_time_does_not_depend_on_how_many_calls_are_taken_together() {
    // 2048 calls of one operation are taken 8 at a time, those of 128 operations of 16 calls each one by one.
    for flags in ["O_SYNC", "O_DIRECT"] {
        let cost = |case: Case| case.set("machine.memory.cost.call=10 us").run("kernel");
        let whole = cost(process(&[&open(flags), &write("8 MiB", "4 KiB")]));
        let part = "write = '/data/g', append = true, size = '64 KiB', call = '4 KiB'";
        let parts = cost(process(&[&open(flags), &format!("repeat = 128, do = [ {{ {part} }} ]")]));
        let sum: f64 = parts.all_seconds("p").iter().sum();
        assert!(near(whole.seconds("p", 1), sum, 1e-4), "{flags}: {} and {sum}", whole.seconds("p", 1));
    }
}

#[test]
fn new_pages_cost_as_much_as_ever_in_a_synchronous_write() {
    let run = process(&[&open("O_SYNC"), &write("40.96 MB", "4096 B")])
        .set("machine.memory.cost.page_insert=1 us")
        .run("kernel");
    // 10,000 pages of 1 us.
    let expected = [("cpu_copy", 0.04096), ("page_allocation", 0.01), ("device_write", 0.4096)];
    assert!(near_all(&run.parts("p", 1), &expected), "{:?}", run.parts("p", 1));
}

#[test]
fn a_process_opens_for_itself_alone_and_until_it_closes() {
    let run = process(&[
        &open("O_SYNC"),
        &write("102400 kB", "1024 kB"),
        "close = '/data/g'",
        &write("102400 kB", "1024 kB"),
        &open("O_SYNC"),
        "open = '/data/g'",
        &write("102400 kB", "1024 kB"),
    ])
    .process_with("q", "after = ['p']", &[&write("102400 kB", "1024 kB")])
    .run("kernel");
    let seconds = [run.seconds("p", 1), run.seconds("p", 3), run.seconds("p", 6), run.seconds("q", 0)];
    assert!(
        near(seconds[0], 1.1264, 1e-6) && seconds[1..].iter().all(|&each| near(each, 0.1024, 1e-6)),
        "{seconds:?}"
    );
}

#[test]
fn what_is_removed_is_closed_too() {
    let run =
        process(&[&open("O_DIRECT"), &write("512 B", "512 B"), "unlink = '/data/g'", &write("1 B", "1 B")]);
    assert_eq!(run.run("kernel").sources("p", 3), (1, 0));
}

#[test]
fn a_direct_read_is_the_devices_and_leaves_the_cache_alone() {
    let file = linux().cached("/data/g", "1 GB", "400 MB");
    let run = file
        .process("p", &["open = '/data/g', flags = ['O_DIRECT']", "read = '/data/g', call = '512 kB'"])
        .run("kernel");
    assert_eq!(run.parts("p", 1), [("device_read", 10.0)]);
    assert_eq!(run.sources("p", 1), (0, GB));
    assert_eq!(run.file("/data/g"), (GB, 400 * MB, 0));
}

#[test]
fn each_direct_call_begins_when_the_one_before_has_ended() {
    let read = |call: &str| {
        let read = format!("read = '/data/g', call = '{call}'");
        linux()
            .file("/data/g", "256 MiB")
            .set("machine.memory.cost.call=10 us")
            .process("p", &["open = '/data/g', flags = ['O_DIRECT']", &read])
            .run("kernel")
    };
    let small = read("4 KiB");
    let expected = [("cpu_copy", 0.65536), ("device_read", MIB_256 / 100.0)];
    assert!(near_all(&small.parts("p", 1), &expected), "{:?}", small.parts("p", 1));
    assert!(near(read("256 MiB").seconds("p", 1), MIB_256 / 100.0 + 1e-5, 1e-9));
}

#[test]
fn each_direct_read_waits_for_the_latency_of_the_disk() {
    let run = linux()
        .file("/data/g", "256 MiB")
        .set("machine.disk.ssd.latency=100 us")
        .process("p", &["open = '/data/g', flags = ['O_DIRECT']", "read = '/data/g', call = '4 KiB'"])
        .run("kernel");
    assert!(
        near_all(&run.parts("p", 1), &[("device_read", 6.5536 + MIB_256 / 100.0)]),
        "{:?}",
        run.parts("p", 1)
    );
}

#[test]
fn behind_a_limiter_a_synchronous_call_takes_the_longer_of_copy_and_device() {
    // A call of 1 MiB is copied in 1.05 ms, in which the limiter saves up for as many of the 10.49 ms of the device.
    let seconds = |burst: &str| {
        let case = process(&[&open("O_SYNC"), &write("256 MiB", "1 MiB")]);
        case.set(&format!("machine.disk.ssd.burst={burst}")).run("kernel").seconds("p", 1)
    };
    assert!(near(seconds("0 s"), MIB_256 / 1000.0 + MIB_256 / 100.0, 1e-6));
    // At first the bucket is full: the first bytes pass at once.
    assert!(near(seconds("50 ms"), MIB_256 / 100.0 - 0.05 + 1.048_576e-3, 1e-3));
}

#[test]
fn a_direct_read_waits_until_what_is_dirty_of_its_bytes_has_been_written() {
    let operations = [
        &write("800 MB", "1 MB"),
        "open = '/data/g', flags = ['O_DIRECT']",
        "read = '/data/g', offset = '102400 kB', size = '512 MB'",
    ];
    let run = process(&operations).run("kernel");
    // 512 MB are written, then read; the rest stays dirty.
    assert!(
        near_all(&run.parts("p", 2), &[("device_read", 5.12), ("device_write", 5.12)]),
        "{:?}",
        run.parts("p", 2)
    );
    assert_eq!(run.file("/data/g"), (800 * MB, 800 * MB, 288 * MB));
}

#[test]
fn a_direct_write_takes_its_bytes_out_of_the_cache() {
    let operations = [
        &write("400 MB", "1 MB"),
        "open = '/data/g', flags = ['O_DIRECT']",
        "write = '/data/g', offset = '204800 kB', size = '512 MB', call = '1 MiB'",
        "fsync = '/data/g'",
    ];
    let run = process(&operations).run("kernel");
    // Of the first 400 MB the last 195.2 MB are written first, then 512 MB directly; fsync writes the other 204.8 MB.
    assert!(near_all(&run.parts("p", 2), &[("device_write", 1.952 + 5.12)]), "{:?}", run.parts("p", 2));
    assert_eq!(run.sources("p", 2), (0, 512 * MB));
    assert!(near(run.seconds("p", 3), 2.048, 1e-6));
    assert_eq!(run.file("/data/g"), (716_800_000, 204_800_000, 0));
}

#[test]
fn taking_pages_out_of_the_cache_before_a_direct_write_costs_what_it_costs() {
    let run = linux()
        .cached("/data/g", "409.6 MB", "409.6 MB")
        .set("machine.memory.cost.page_remove=1 us")
        .process(
            "p",
            &[
                "open = '/data/g', flags = ['O_DIRECT']",
                "write = '/data/g', size = '409.6 MB', call = '4 KiB'",
            ],
        )
        .run("kernel");
    assert!(
        near_all(&run.parts("p", 1), &[("cpu_copy", 0.1), ("device_write", 4.096)]),
        "{:?}",
        run.parts("p", 1)
    );
}

#[test]
fn a_direct_read_into_new_memory_touches_it_first() {
    let run = linux()
        .file("/data/g", "409.6 MB")
        .set("machine.memory.cost.fault=1 us")
        .process(
            "p",
            &[
                "open = '/data/g', flags = ['O_DIRECT']",
                "read = '/data/g', buffer = 'fresh'",
                "sleep = '1 s'",
            ],
        )
        .run("kernel");
    assert!(
        near_all(&run.parts("p", 1), &[("page_allocation", 0.1), ("device_read", 4.096)]),
        "{:?}",
        run.parts("p", 1)
    );
    assert_eq!(run.memory_at(4.5).anonymous.0, 409_600_000);
}

#[test]
fn what_is_not_whole_blocks_is_an_error_with_o_direct() {
    let error = |operation: &str, model: &str| {
        linux()
            .file("/data/g", "1000 B")
            .process("p", &["open = '/data/g', flags = ['O_DIRECT']", operation])
            .error(model)
    };
    for model in MODELS {
        assert_eq!(
            error("write = '/data/g', size = '1000 B'", model),
            "test.toml:22: process `p` does a write of 1 kB at offset 0 of /data/g in calls of 1 kB at the start, with O_DIRECT, \
             which fails with EINVAL; make offset, size and call multiples of 512 B, or open the file without O_DIRECT"
        );
        assert!(error("read = '/data/g', offset = '100 B'", model).contains("at offset 100"));
        assert!(error("read = '/data/g', size = '511 B'", model).contains("a read of 511 B"));
        assert!(error("read = '/data/g', call = '100 B'", model).contains("in calls of 100 B"));
    }
}

#[test]
fn the_last_bytes_of_a_file_can_be_read_directly() {
    let run = linux()
        .file("/data/g", "1000 B")
        .process(
            "p",
            &[
                "open = '/data/g', flags = ['O_DIRECT']",
                "read = '/data/g', call = '512 B'",
                "read = '/data/g', offset = '512 B'",
            ],
        )
        .run("kernel");
    assert_eq!((run.sources("p", 1), run.sources("p", 2)), ((0, 1000), (0, 488)));
}

#[test]
fn sync_writes_all_files_of_all_disks_and_waits() {
    let run = linux()
        .set("machine.disk.slow.size=1 TB")
        .set("machine.disk.slow.read=50 MB/s")
        .set("machine.disk.slow.write=50 MB/s")
        .set("machine.mount./slow.disk=slow")
        .process(
            "p",
            &[
                "write = '/data/a', size = '300 MB'",
                "write = '/data/b', size = '200 MB'",
                "write = '/slow/c', size = '300 MB'",
                "sync = true",
                "sync = true",
            ],
        )
        .run("kernel");
    assert!(near_all(&run.parts("p", 3), &[("device_write", 6.0)]), "{:?}", run.parts("p", 3));
    assert_eq!(run.seconds("p", 4), 0.0, "nothing is dirty any more");
    assert_eq!(run.memory_at(10.0).dirty.0, 0);
}

#[test]
fn sync_does_not_wait_for_what_becomes_dirty_after_it() {
    let run = linux()
        .process("p", &["write = '/data/a', size = '300 MB'", "signal = 'written'", "sync = true"])
        .process("q", &["wait = 'written'", "sleep = '10 ms'", "write = '/data/b', size = '900 MB'"])
        .run("kernel");
    assert!(near(run.seconds("p", 2), 3.0, 0.01), "{}", run.seconds("p", 2));
    assert_eq!(run.file("/data/b").2, 900 * MB);
}

#[test]
fn sync_comes_before_background_writing() {
    // Background writing of b begins at 0.999 GB, so that at 1.1 s 1.09 GB are left. c becomes dirty after that and waits.
    let run = linux()
        .process(
            "p",
            &["write = '/data/b', size = '1.1 GB'", "sleep = '50 ms'", "write = '/data/c', size = '400 MB'"],
        )
        .process("q", &["sleep = '1.1 s'", "sync = true"])
        .run("kernel");
    let left = 1100.0 - (1.1 - 0.999) * 100.0;
    assert!(near(run.seconds("q", 1), left / 100.0, 0.005), "{}", run.seconds("q", 1));
}

#[test]
fn fdatasync_is_fsync_without_a_journal() {
    for model in MODELS {
        let seconds = |operation: &str| {
            process(&[&write("500 MB", "1 MB"), &format!("{operation} = '/data/g'")])
                .run(model)
                .seconds("p", 1)
        };
        assert_eq!(seconds("fdatasync"), seconds("fsync"));
    }
}

#[test]
fn the_slow_driver_agrees() {
    let case = process(&[
        &write("400 MB", "1 MB"),
        &open("O_DIRECT"),
        &write("256 MiB", "1 MiB"),
        &open("O_SYNC"),
        &write("256 MiB", "1 MiB"),
        "sync = true",
    ])
    .set("machine.memory.cost.call=10 us");
    for model in MODELS {
        let (fast, slow) = (case.run(model), case.run_by_steps(model));
        let ends = (fast.end("p", 5), slow.end("p", 5));
        assert!(near(ends.1, ends.0, 0.15), "{model}: {ends:?}");
    }
}

#[test]
fn several_who_write_synchronously_share_the_disk() {
    let operations: [&str; 2] = [&open("O_SYNC"), &write("100 MB", "1 MB")];
    let other = [
        "open = '/data/h', create = true, flags = ['O_SYNC']",
        "write = '/data/h', size = '100 MB', call = '1 MB'",
    ];
    let run = linux().process("p", &operations).process("q", &other).run("kernel");
    // 200 MB from the disk; one copies while the other writes.
    let last = run.end("p", 1).max(run.end("q", 1));
    assert!(near(last, 2.0, 0.02), "{last}");
    for name in ["p", "q"] {
        let sum: f64 = run.parts(name, 1).iter().map(|part| part.1).sum();
        assert!(near(sum, run.seconds(name, 1), 1e-9));
    }
}

#[test]
fn a_synchronous_writer_is_throttled_where_others_keep_the_level_high() {
    let run = linux()
        .process("p", &["sleep = '10 s'", &open("O_SYNC"), &write("20 MB", "1 MB")])
        .process("q", &["write = '/data/b', size = '4 GB'"])
        .run("kernel");
    let parts = run.parts("p", 2);
    assert!(run.part("p", 2, Part::DeviceWrite) > 0.2, "{parts:?}");
    assert!(run.file("/data/g").2 == 0);
}

#[test]
fn another_hosts_file_is_read_directly_past_the_cache_of_ones_own_host() {
    for model in ["kernel", "wrench"] {
        let read = |flags: &str| {
            on(HOSTS)
                .file("/remote/g", "512 MB")
                .process("p", &[flags, "read = '/remote/g'", "read = '/remote/g'"])
                .run(model)
        };
        let direct = read("open = '/remote/g', flags = ['O_DIRECT']");
        assert_eq!(direct.file("/remote/g").1, 0, "{model}");
        assert!(direct.seconds("p", 2) > 512.0 / 400.0, "{model}: both reads cross the link");
        assert!(read("sleep = '1 s'").file("/remote/g").1 > 0, "{model}");
    }
}

#[test]
fn dropping_clean_pages_costs_as_much_as_removing_them() {
    let dropped = |operation: &str| {
        linux()
            .cached("/data/f", "409.6 MB", "409.6 MB")
            .set("machine.memory.cost.page_remove=1 us")
            .set("machine.disk.ssd.nr_requests=100000")
            .process("p", &[&write("81.92 MB", "1 MB"), operation])
            .run("kernel")
    };
    // 100,000 clean pages of f leave, the dirty ones of g stay.
    for operation in ["drop_caches = true", "fadvise = '/data/f', advice = 'dontneed'"] {
        let run = dropped(operation);
        assert!(near_all(&run.parts("p", 1), &[("cpu_copy", 0.1)]), "{:?}", run.parts("p", 1));
        assert_eq!((run.file("/data/f").1, run.file("/data/g").1), (0, 81_920_000));
    }
    assert_eq!(dropped("fadvise = '/data/g', advice = 'dontneed'").seconds("p", 1), 0.0);
}

#[test]
fn a_direct_read_waits_for_write_back_of_its_own_bytes_alone() {
    // `dontneed` has the first 400 MB written, and nobody waits for that, as all of it has room in the queue.
    let read = |offset: &str| {
        let read = format!("read = '/data/g', offset = '{offset}', size = '100 MiB'");
        linux()
            .set("machine.disk.ssd.nr_requests=100000")
            .set("machine.disk.ssd.sharing=separate")
            .file("/data/g", "1 GiB")
            .process(
                "p",
                &[
                    &write("400 MB", "1 MB"),
                    "fadvise = '/data/g', advice = 'dontneed'",
                    "open = '/data/g', flags = ['O_DIRECT']",
                    &read,
                ],
            )
            .run("kernel")
    };
    let beside = read("600 MiB");
    assert!(near_all(&beside.parts("p", 3), &[("device_read", 1.048576)]), "{:?}", beside.parts("p", 3));
    assert!(read("0 B").part("p", 3, Part::DeviceWrite) > 1.0);
}

#[test]
fn what_is_read_in_while_it_is_written_directly_is_out_of_date() {
    let run = linux()
        .file("/data/g", "512 MB")
        .process("p", &["open = '/data/g', flags = ['O_DIRECT']", &write("512 MB", "1 MiB")])
        .process("q", &["sleep = '4 s'", "read = '/data/g', size = '51.2 MB'"])
        .run("kernel");
    assert!(run.end("q", 1) < run.end("p", 1));
    assert_eq!(run.file("/data/g").1, 0);
}
