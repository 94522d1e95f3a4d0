//! Writes by the kernel's own rules: free run, throttling, flushers, fsync. Source of the rules: `mm/page-writeback.c` and
//! `fs/fs-writeback.c`, Linux 6.16.

use pagecast_core::result::Part;

use crate::common::{Case, MB, Run, case, linux};

/// One process on [`crate::common::LINUX`].
fn writer(operations: &[&str]) -> Case {
    linux().process("p", operations)
}

fn write(size: &str) -> String {
    format!("write = '/data/g', size = '{size}'")
}

fn near(actual: f64, expected: f64, tolerance: f64) -> bool {
    (actual - expected).abs() <= tolerance * expected
}

fn dirty_mb(run: &Run, time: f64) -> f64 {
    run.memory_at(time).dirty.0 as f64 / MB as f64
}

/// The dirty level at which throttling began first, in MB.
fn throttling_begins(run: &Run) -> f64 {
    run.events_called("throttling_begins").first().expect("it begins").2 as f64 / MB as f64
}

#[test]
fn a_small_write_runs_at_copy_speed() {
    let run = writer(&[&write("1.4 GB")]).run("kernel");
    assert_eq!(run.parts("p", 0), [("cpu_copy", 1.4)]);
    assert_eq!(run.sources("p", 0), (1400 * MB, 0));
}

#[test]
fn throttling_begins_at_15_percent_of_the_dirtyable_memory() {
    let run = writer(&[&write("3 GB")]).run("kernel");
    assert!(near(throttling_begins(&run), 1499.0, 0.002), "{:?}", run.all_events());
    assert!(run.part("p", 0, Part::Throttled) > 5.0);
}

#[test]
fn the_level_settles_between_84_and_92_percent_of_the_limit() {
    let run = writer(&[&write("15 GB")]).run("kernel");
    for time in 40..120 {
        let level = dirty_mb(&run, f64::from(time)) / 1999.5;
        assert!((0.84..0.92).contains(&level), "{level} at {time} s");
    }
}

/// `balance_dirty_pages` before Linux 3.2: an eighth below the limit the writer is as fast as the disk, and free below.
#[test]
fn before_3_2_a_writer_is_free_until_an_eighth_below_the_limit() {
    for version in ["2.6.27", "3.1"] {
        let run = writer(&[&write("15 GB")]).set(&format!("machine.kernel.version={version}")).run("kernel");
        let begins = throttling_begins(&run);
        assert!(near(begins, 1750.0, 0.01), "{version}: {begins} MB");
        for time in 20..120 {
            let level = dirty_mb(&run, f64::from(time));
            assert!(near(level, 1750.0, 0.01), "{version}: {level} MB at {time} s");
        }
        let all = run.end("p", 0);
        assert!(near(all, (15_000.0 - 1750.0) / 100.0 + 1.0, 0.02), "{version}: {all} s");
    }
}

#[test]
fn writers_of_two_disks_before_3_2_share_the_limit_and_keep_both_busy() {
    let run = writer(&[&write("5 GB")])
        .set("machine.kernel.version=2.6.32")
        .set("machine.disk.other={ size = '1 TB', read = '100 MB/s', write = '50 MB/s' }")
        .set("machine.mount./other={ disk = 'other' }")
        .process("q", &["write = '/other/g', size = '2.5 GB'"])
        .run("kernel");
    for time in 20..40 {
        assert!(dirty_mb(&run, f64::from(time)) <= 2010.0);
    }
    let (p, q) = (run.end("p", 0), run.end("q", 0));
    assert!(near(p, 40.0, 0.1) && near(q, 40.0, 0.1), "{p} and {q} s");
}

#[test]
fn only_pages_beyond_the_blocks_of_a_file_reserve_some() {
    let seconds = |reserve: &str, size: &str| {
        let case = linux().file("/data/g", size).process("p", &[&write("409.6 MB")]);
        let case = case.set("machine.memory.cost.copy_write=500 MB/s");
        case.set(&format!("machine.memory.cost.block_reserve={reserve}")).run("kernel").seconds("p", 0)
    };
    for (size, pages) in [("409.6 MB", 0.0), ("204.8 MB", 50_000.0), ("4096 B", 99_999.0)] {
        let extra = seconds("1 us", size) - seconds("0 s", size);
        assert!((extra - pages * 1e-6).abs() < 1e-6, "{size}: {extra} s");
    }
}

#[test]
fn with_16_gib_dirtyable_and_200_mb_per_s_bursts_take_as_long_as_the_kernels_formulas_say() {
    let seconds = |gib: u32| {
        let run = writer(&[&write(&format!("{gib} GiB"))])
            .set("machine.memory.size=16532 MiB")
            .set("machine.memory.cost.copy_write=2 GB/s")
            .set("machine.disk.ssd.write=200 MB/s")
            .run("kernel");
        run.seconds("p", 0)
    };
    for (gib, expected) in [(4, 9.1), (8, 29.4), (16, 71.1)] {
        assert!(near(seconds(gib), expected, 0.08), "{gib} GiB: {} s", seconds(gib));
    }
}

#[test]
fn background_write_back_starts_above_10_percent() {
    let dirty = |size| dirty_mb(&writer(&[&write(size), "sleep = '3 s'"]).run("kernel"), 3.0);
    assert_eq!(dirty("990 MB"), 990.0);
    assert!(dirty("1100 MB") < 1050.0);
}

#[test]
fn background_write_back_stops_at_10_percent() {
    let run = writer(&[&write("1400 MB"), "sleep = '8 s'"]).run("kernel");
    let (at_6, at_9) = (dirty_mb(&run, 6.0), dirty_mb(&run, 9.0));
    assert!((925.0..=998.5).contains(&at_6), "{at_6}: less than a visit and the device's queue below");
    assert_eq!(at_6, at_9);
}

#[test]
fn a_flusher_goes_from_inode_to_inode_for_100_ms_before_it_looks_at_the_threshold_again() {
    // Near the threshold of 998.5 MB: writing /data/a would do.
    let small = ["write = '/data/a', size = '10 MB'", "write = '/data/b', size = '10 MB'"];
    let run = writer(&[small[0], small[1], &write("985 MB"), "sleep = '3 s'"]).run("kernel");
    assert_eq!((run.file("/data/a").2, run.file("/data/b").2), (0, 0));
    let chunk = 54.5;
    assert!(near(dirty_mb(&run, 3.9), 985.0 - chunk, 0.001), "{}", dirty_mb(&run, 3.9));
}

/// As measured on Linux 6.18 with 700 MB after a minute without writing.
#[test]
fn a_disk_that_was_idle_gets_one_visit_at_the_first_wake_up() {
    let dirty = |size, version: &str, time| {
        let case =
            writer(&[&write(size), "sleep = '20 s'"]).set(&format!("machine.kernel.version='{version}'"));
        dirty_mb(&case.run("kernel"), time)
    };
    // Its part of the background threshold of 998.5 MB is an eighth of what is left of that, until it has completed something.
    let visit = 54.525_952;
    assert_eq!(dirty("150 MB", "6.18", 4.9), 150.0);
    assert!(near(dirty("150 MB", "6.18", 9.9), 150.0 - visit, 1e-6));
    assert_eq!(dirty("100 MB", "6.18", 20.0), 100.0);
    assert!(near(dirty("100 MB", "6.12", 9.9), 100.0 - visit, 1e-6), "before 6.14 it had no part at first");
}

#[test]
fn what_is_dirty_for_30_s_is_written_at_a_wake_up_of_the_flusher() {
    let run = writer(&["sleep = '2 s'", &write("100 MB"), "sleep = '40 s'"]).run("kernel");
    assert_eq!(dirty_mb(&run, 31.9), 100.0);
    assert_eq!(dirty_mb(&run, 38.0), 0.0);
    assert_eq!(run.file("/data/g"), (100 * MB, 100 * MB, 0), "written, and still cached");
}

#[test]
fn later_writes_do_not_make_an_inode_younger() {
    let append = "write = '/data/g', size = '50 MB', append = true";
    let run = writer(&[append, "sleep = '28 s'", append, "sleep = '20 s'"]).run("kernel");
    assert_eq!(dirty_mb(&run, 29.0), 100.0);
    assert_eq!(dirty_mb(&run, 36.5), 0.0, "the second half is 8 s old");
}

#[test]
fn expiry_and_wake_ups_are_kernel_settings() {
    let dirty = |setting: &str, time| {
        dirty_mb(&writer(&[&write("100 MB"), "sleep = '60 s'"]).set(setting).run("kernel"), time)
    };
    assert_eq!(dirty("machine.vm.dirty_expire_centisecs=1000", 16.5), 0.0);
    assert_eq!(dirty("machine.vm.dirty_writeback_centisecs=2000", 39.0), 100.0);
    assert_eq!(dirty("machine.vm.dirty_writeback_centisecs=2000", 42.0), 0.0);
    assert_eq!(dirty("machine.vm.dirty_writeback_centisecs=0", 60.0), 100.0, "no wake-ups at all");
}

#[test]
fn an_unlinked_file_costs_no_device_writes() {
    let operations =
        [&write("900 MB"), "unlink = '/data/g'", "write = '/data/h', size = '100 MB'", "fsync = '/data/h'"];
    let run = writer(&operations).run("kernel");
    assert_eq!(run.seconds("p", 1), 0.0);
    assert_eq!(run.seconds("p", 3), 1.0, "its own pages only");
    assert_eq!(run.memory_at(9.0).dirty.0, 0);
}

#[test]
fn what_is_on_its_way_to_the_device_leaves_a_removed_file_when_it_is_there() {
    let run = writer(&[&write("300 MB"), "fsync = '/data/g'"])
        .process("q", &["sleep = '1.3 s'", "unlink = '/data/g'"])
        .run("kernel");
    let (start, end) = (run.start("q", 1), run.end("q", 1));
    assert_eq!(run.memory_at(start - 0.01).dirty.0 / MB, 201);
    let after = run.memory_at(start);
    assert_eq!(after.cached, after.dirty, "nothing but what is under writeback");
    assert!(near(after.dirty.0 as f64, (end - start) * 100e6, 1e-6), "{after:?}");
    assert_eq!(run.memory_at(end + 0.01).cached.0, 0);
}

/// How long a throttled process takes for so much after a pause, while another keeps the level up.
fn after_a_pause(pause: &str, size: &str) -> f64 {
    after(&format!("sleep = '{pause}'"), size)
}

/// The same after something else.
fn after(pause: &str, size: &str) -> f64 {
    let again = format!("write = '/data/h', size = '{size}'");
    let run = linux()
        .cached("/data/old", "500 MB", "500 MB")
        .process("other", &["write = '/data/other', size = '8 GB'"])
        .process("p", &["sleep = '30 s'", &write("300 MB"), pause, &again])
        .run("kernel");
    assert!(run.part("p", 1, Part::Throttled) > 1.0);
    run.seconds("p", 3)
}

#[test]
fn a_short_pause_lets_a_throttled_process_catch_up_at_copy_speed() {
    let seconds = after_a_pause("900 ms", "30 MB");
    assert!(near(seconds, 0.03, 0.1), "{seconds}");
}

#[test]
fn reading_is_a_pause_too() {
    let seconds = after("read = '/data/old'", "10 MB");
    assert!(near(seconds, 0.01, 0.1), "{seconds} after reading for 0.5 s");
}

#[test]
fn at_the_hard_limit_a_pause_before_is_worth_nothing() {
    // What the writers write beyond the limit with their credit is little; without a limit it would be 3 GB.
    let run = linux()
        .set("machine.vm.dirty_bytes=40 MB")
        .set("machine.vm.dirty_background_bytes=13 MB")
        .process("other", &["write = '/data/other', size = '3 GB'"])
        .process(
            "p",
            &["sleep = '10 s'", &write("50 MB"), "sleep = '600 ms'", "write = '/data/h', size = '3 GB'"],
        )
        .run("kernel");
    let highest = run.timeline.levels.iter().map(|levels| levels.dirty.0).max().expect("there are levels");
    assert!(highest < 60 * MB, "{highest}");
}

#[test]
fn a_pause_above_one_second_is_forgotten() {
    for (size, at_least) in [("30 MB", 0.25), ("3 MB", 0.025)] {
        let seconds = after_a_pause("3 s", size);
        assert!(seconds > at_least, "{seconds} for {size}");
    }
}

#[test]
fn rewriting_dirty_pages_is_not_throttled() {
    // The flusher began with the start of /data/g when 1 GB was dirty: at 5 s the last 500 MB are dirty still.
    let run = linux()
        .process("other", &["sleep = '1400 ms'", "write = '/data/other', size = '3 GB'"])
        .process(
            "p",
            &[
                &write("1400 MB"),
                "sleep = '3600 ms'",
                "write = '/data/g', offset = '1200 MB', size = '200 MB'",
            ],
        )
        .run("kernel");
    assert!(run.part("other", 1, Part::Throttled) > 5.0);
    assert_eq!(run.parts("p", 2), [("cpu_copy", 0.2)]);
}

#[test]
fn rewriting_dirty_pages_makes_no_more_of_them() {
    let run = writer(&[&write("900 MB"), &write("900 MB"), &write("900 MB")]).run("kernel");
    assert_eq!(run.seconds("p", 2), 0.9);
    assert_eq!(dirty_mb(&run, 2.7), 900.0);
}

#[test]
fn fsync_waits_for_exactly_the_pages_of_its_file() {
    let run = writer(&[
        "write = '/data/a', size = '500 MB'",
        &write("300 MB"),
        "fsync = '/data/g'",
        "fsync = '/data/g'",
    ])
    .run("kernel");
    assert_eq!(run.parts("p", 2), [("device_write", 3.0)]);
    assert_eq!(run.seconds("p", 3), 0.0, "nothing is left");
    assert_eq!((run.file("/data/a").2, run.file("/data/g").2), (500 * MB, 0));
}

#[test]
fn fsync_does_not_wait_for_what_is_written_after_it_began() {
    let run = writer(&[&write("100 MB"), "fsync = '/data/g'"])
        .process("q", &["sleep = '500 ms'", "write = '/data/g', offset = '100 MB', size = '100 MB'"])
        .run("kernel");
    assert_eq!((run.seconds("p", 1), run.file("/data/g").2), (1.0, 100 * MB));
}

/// `mm/page-writeback.c: tag_pages_for_writeback`: of the 300 MB that were dirty when it began, 100 MB are cut off while it writes the
/// first 120 MB. The 100 MB that come in their place are not its own. Who cuts waits for pages behind the cut only.
#[test]
fn fsync_does_not_write_what_comes_in_place_of_what_was_cut_off() {
    let run = writer(&[&write("300 MB"), "fsync = '/data/g'"])
        .process(
            "q",
            &[
                "sleep = '1.3 s'",
                "truncate = '/data/g', size = '200 MB'",
                "write = '/data/g', offset = '200 MB', size = '100 MB'",
            ],
        )
        .run("kernel");
    assert_eq!((run.seconds("p", 1), run.file("/data/g").2), (2.0, 100 * MB));
    assert_eq!(run.seconds("q", 1), 0.0);
}

/// One writer on a disk of 300 MB/s and one on a disk of 100 MB/s, and what of each file is dirty after 60 s.
fn two_devices() -> (Run, u64, u64) {
    let run = linux()
        .set("machine.disk.fast={ size = '1 TB', read = '300 MB/s', write = '300 MB/s' }")
        .set("machine.mount.\"/fast\".disk=fast")
        .set("residency=operation")
        .file("/data/g", "0 B")
        .file("/fast/g", "0 B")
        .process("slow", &["write = '/data/g', size = '9 GB', call = '64 KiB'"])
        .process("fast", &["write = '/fast/g', size = '27 GB', call = '64 KiB'"])
        .process("look", &["sleep = '60 s'", "open = '/data/g'", "open = '/fast/g'"])
        .run("kernel");
    let dirty = |path: &str| {
        let table = &run.files;
        let row = (0..table.time.len()).find(|&row| {
            &*run.processes[table.process[row] as usize] == "look"
                && &*run.paths[table.path[row] as usize] == path
        });
        table.dirty[row.expect("it was looked at")]
    };
    let (slow, fast) = (dirty("/data/g"), dirty("/fast/g"));
    (run, slow, fast)
}

#[test]
fn two_devices_share_the_limit_by_what_they_complete() {
    let (run, slow, fast) = two_devices();
    let share = fast as f64 / (fast + slow) as f64;
    assert!(
        (0.68..0.82).contains(&share),
        "{share} of the dirty pages are of the device that completes 75 %"
    );
    assert!(near(run.seconds("slow", 0), run.seconds("fast", 0), 0.1));
}

#[test]
fn writers_of_one_device_get_equal_parts_of_it() {
    let run = linux()
        .process("a", &["write = '/data/a', size = '5 GB'"])
        .process("b", &["write = '/data/b', size = '5 GB'"])
        .run("kernel");
    assert!(near(run.seconds("a", 0), run.seconds("b", 0), 0.02));
    assert!(near(run.seconds("a", 0), (10.0 - 1.75) / 0.1, 0.1), "{}", run.seconds("a", 0));
}

#[test]
fn what_the_kernel_learnt_before_can_be_told() {
    let seconds = |rate: &str| {
        let run =
            writer(&[&write("2 GB")]).option("dirty_ratelimit", rate).option("write_bandwidth", "100 MB/s");
        run.run("kernel").seconds("p", 0)
    };
    assert!(seconds("50 MB/s") > seconds("200 MB/s") + 0.5);
}

#[test]
fn dirty_bytes_replace_the_ratio() {
    let run = writer(&[&write("2 GB")])
        .set("machine.vm.dirty_bytes=1 GB")
        .set("machine.vm.dirty_background_bytes=500 MB")
        .run("kernel");
    assert!(near(throttling_begins(&run), 750.0, 0.005), "{}", throttling_begins(&run));
}

#[test]
fn a_background_threshold_above_the_limit_is_half_the_limit() {
    let run = writer(&[&write("2 GB")])
        .set("machine.vm.dirty_background_bytes=2 GB")
        .set("machine.vm.dirty_bytes=1 GB")
        .run("kernel");
    assert!(near(throttling_begins(&run), 750.0, 0.005), "{}", throttling_begins(&run));
}

#[test]
fn until_linux_4_7_the_ratio_is_plain_percent() {
    let begins = |version: &str| {
        let run = writer(&[&write("1 GB")])
            .set("machine.vm.dirty_ratio=3")
            .set("machine.vm.dirty_background_ratio=1")
            .set(&format!("machine.kernel.version='{version}'"))
            .run("kernel");
        throttling_begins(&run)
    };
    assert!(near(begins("3.10"), 200.0, 0.005), "{}: 2 %", begins("3.10"));
    assert!(near(begins("6.18"), 197.75, 0.005), "{}: 81 of 4096 parts", begins("6.18"));
}

#[test]
fn a_write_through_returns_when_the_device_has_it_and_leaves_clean_pages() {
    let through = "machine.mount.\"/data\".write_mode=through";
    let run = writer(&[&write("500 MB"), "read = '/data/g'"]).set(through).run("kernel");
    assert_eq!(run.all_seconds("p"), [5.0, 0.5]);
    assert_eq!(run.file("/data/g"), (500 * MB, 500 * MB, 0));
}

/// `balance_dirty_pages`: a call between two pauses goes on at the speed of copying, one that ends a stretch sleeps for all of it.
#[test]
fn short_calls_pause_one_by_one_and_take_as_long_as_a_long_one() {
    let whole = writer(&[&write("3 GB")]).run("kernel").seconds("p", 0);
    let calls: Vec<&str> =
        vec!["repeat = 12000, do = [ { write = '/data/g', size = '250 kB', append = true } ]"];
    let run = writer(&calls).run("kernel");
    let mut times: Vec<f64> = (0..12_000).map(|at| run.seconds("p", at)).collect();
    let sum: f64 = times.iter().sum();
    assert!(near(sum, whole, 0.01), "{sum} s for {whole}");
    times.sort_unstable_by(f64::total_cmp);
    assert!(near(times[6000], 250e3 / 1e9, 0.01), "the median is a copy: {} s", times[6000]);
    assert!((0.004..=0.21).contains(&times[11_999]), "the longest has a pause: {} s", times[11_999]);
}

#[test]
fn the_parts_of_a_throttled_write_add_up() {
    let run = linux()
        .set("machine.memory.cost.page_insert=200 ns")
        .set("machine.memory.cost.call=1 us")
        .process("p", &["write = '/data/g', size = '3 GB', call = '1 MB'", "fsync = '/data/g'"])
        .run("kernel");
    for row in 0..run.operations.end.len() {
        assert_eq!(
            run.operations.parts.get(row).total(),
            run.operations.end[row] - run.operations.start[row]
        );
    }
    let parts: Vec<&str> = run.parts("p", 0).iter().map(|part| part.0).collect();
    assert_eq!(parts, ["cpu_copy", "page_allocation", "throttled"]);
}

#[test]
fn without_costs_of_steps_a_write_goes_at_the_speed_of_memory() {
    let run = case().process("p", &[&write("1 GB")]).run("kernel");
    assert_eq!(run.parts("p", 0), [("cpu_copy", 1.0)]);
}

/// The sixth wake-up is the first after 30 s: 5.12 s apart with 250 ticks per second, 5.04 s with 100. Before 4.8 1252 ticks, but
/// for what rounds up less.
#[test]
fn wake_ups_come_with_the_timer_wheel() {
    let begins_after = |setting: &str, wake_up: f64| {
        let case = writer(&[&write("100 MB"), "sleep = '60 s'"]).option("writeout_fraction", "ssd 100 %");
        let run = case.set(setting).run("kernel");
        let dirty = [wake_up - 0.01, wake_up + 0.2].map(|time| dirty_mb(&run, time));
        assert!(dirty[0] == 100.0 && dirty[1] < 99.0, "{setting}: {dirty:?}");
    };
    begins_after("machine.kernel.hz=250", 6.0 * 5.12);
    begins_after("machine.kernel.hz=100", 6.0 * 5.04);
    begins_after("machine.kernel.version='4.7'", 6.0 * 5.008);
}

#[test]
fn an_inode_is_as_old_as_its_first_dirty_page() {
    // 100 MB in 10 s: at 30 s the first of them is old enough, and all are written.
    let run = writer(&[&write("100 MB"), "sleep = '40 s'"])
        .set("machine.memory.cost.copy_write=10 MB/s")
        .run("kernel");
    assert!(dirty_mb(&run, 36.5) < 1.0, "{}", dirty_mb(&run, 36.5));
}

#[test]
fn time_that_a_throttled_writer_thinks_is_credited() {
    // 200 pieces at 100 MB/s: 100 ms each, of which the program may think 50.
    let alone = writer(&[&write("3 GB"), &piecewise(200, "10 MB", "0 s")]).run("kernel");
    let thinking = writer(&[&write("3 GB"), &piecewise(200, "10 MB", "50 ms")]).run("kernel");
    let taken = |run: &Run| run.end.as_seconds() - run.end("p", 0);
    assert!(near(taken(&thinking), taken(&alone), 0.03), "{} and {} s", taken(&thinking), taken(&alone));
}

/// A file that grows by `count` pieces, with a pause after each.
fn piecewise(count: u32, size: &str, pause: &str) -> String {
    format!(
        "repeat = {count}, do = [ {{ write = '/data/g', size = '{size}', append = true }}, {{ sleep = '{pause}' }} ]"
    )
}

#[test]
fn an_inode_that_background_write_back_left_unfinished_is_not_written_before_it_is_old() {
    let run = writer(&[&write("1400 MB"), "sleep = '40 s'"]).run("kernel");
    let (stopped, later) = (dirty_mb(&run, 9.0), dirty_mb(&run, 28.0));
    assert!(
        stopped - later < 56.0,
        "{stopped} and {later}: one visit at a wake-up, and the inode is young again"
    );
    assert_eq!(dirty_mb(&run, 50.0), 0.0);
}

/// 400 MB are on their way to a disk of 100 MB/s when they are written over: with stable pages after each has arrived.
#[test]
fn who_writes_over_stable_pages_waits_until_the_device_has_them() {
    let run = |stable_writes: bool| {
        let operations = [
            "write = '/data/f', size = '400 MB'",
            "fadvise = '/data/f', advice = 'dontneed'",
            "write = '/data/f', offset = '0 B', size = '400 MB'",
            "fsync = '/data/f'",
        ];
        let case = linux().set(&format!("machine.disk.ssd.stable_writes={stable_writes}"));
        case.set("machine.disk.ssd.nr_requests=100000").process("p", &operations).run("kernel")
    };
    let (stable, other) = (run(true), run(false));
    assert!((0.3..0.5).contains(&other.seconds("p", 2)), "{}", other.seconds("p", 2));
    assert!((4.0..4.5).contains(&stable.seconds("p", 2)), "{}", stable.seconds("p", 2));
    // All of it is written twice in both.
    let until_synced = |run: &Run| run.all_seconds("p").iter().sum::<f64>();
    assert!((until_synced(&stable) - until_synced(&other)).abs() < 0.5);
}

/// Seven write 1.4 GB; from 1 GB on the flusher writes one of their files, which may make that one slower.
#[test]
fn equal_writers_end_together_but_for_one_whose_file_is_being_written() {
    let late = |cores: u32, flushing_factor: &str| {
        let settings = [format!("machine.cores={cores}"), flushing_factor.to_owned()];
        let linux = settings.iter().fold(linux(), |case, setting| case.set(setting));
        let run = (0..7)
            .fold(linux, |case, k| {
                case.process(&format!("p{k}"), &[&format!("write = '/data/g{k}', size = '200 MB'")])
            })
            .run("kernel");
        let seconds = [0, 1, 2, 3, 4, 5, 6].map(|k| run.seconds(&format!("p{k}"), 0));
        let first = seconds.into_iter().fold(f64::INFINITY, f64::min);
        (first, seconds.into_iter().filter(|&each| each > first).count())
    };
    assert_eq!(late(7, "machine.memory.cost.flushing_factor=1"), (0.2, 0));
    assert_eq!(late(4, "machine.memory.cost.flushing_factor=1"), (0.35, 0), "seven copies at 4 GB/s");
    assert_eq!(late(7, "machine.memory.cost.flushing_factor=0.5"), (0.2, 1));
}

#[test]
fn with_memory_full_of_dirty_pages_a_write_goes_on_at_the_speed_of_the_disk() {
    let run = writer(&["alloc = '9.8 GB'", &write("1 GB")]).run("kernel");
    let written = 1000.0 - run.file("/data/g").2 as f64 / MB as f64;
    assert!(run.part("p", 1, Part::Reclaim) > 0.0);
    assert!(near(run.seconds("p", 1), written / 100.0, 0.05), "{} s for {written} MB", run.seconds("p", 1));
}

/// They were blocked at the limit, earned credit for that time, and then ran at copy speed over it.
#[test]
fn writers_that_were_blocked_at_the_limit_have_no_credit() {
    let operations = ["write = '/data/g{n}', size = '350 MB'"];
    let run = linux()
        .process_with("dd{n}", "count = 10", &operations)
        .set("machine.vm.dirty_bytes=100 MB")
        .run("kernel");
    let most = (0..350).map(|tenth| dirty_mb(&run, f64::from(tenth) / 10.0)).fold(0.0, f64::max);
    assert!(most < 102.0, "{most} MB are dirty");
    let ends = (1..=10).map(|n| run.end(&format!("dd{n}"), 0)).fold(f64::INFINITY, f64::min);
    assert!(near(ends, (3500.0 - 87.5) / 100.0, 0.05), "{ends} s");
}

/// Somebody raised `vm.dirty_ratio` from 79 to 80 % and his only writer became 2.7 % slower. A pause is a whole number of ticks, and since
/// 6.16 a writer pauses after folios of up to 2 MiB: alone it writes 4 MiB in 8 ms (524 MB/s) or in 12 (350 MB/s), and nothing between, so it
/// depends on the limit in which of these it spends its time, and how much is left dirty when it ends. With shorter ticks, or pages for
/// folios, a higher limit is never slower.
#[test]
fn a_higher_limit_may_be_slower_where_pauses_are_long_for_a_folio_and_only_there() {
    let writer = |ratio: u32, setting: &str| {
        let case = linux()
            .set("machine.memory={ size = '8 GB', read = '10 GB/s', write = '5 GB/s' }")
            .set("machine.disk.ssd.write=450 MB/s")
            .set(&format!("machine.vm.dirty_ratio={ratio}"))
            .set(setting);
        let run = case.process("p", &[&write("20 GB")]).run("kernel");
        let last = run.timeline.levels.last().expect("there are samples");
        (run.seconds("p", 0), last.dirty.0 as f64 / 1e9)
    };
    let sweep = |setting: &str| (78..=84).map(|ratio| writer(ratio, setting)).collect::<Vec<_>>();
    for setting in ["machine.kernel.version=\"6.12\"", "machine.kernel.hz=1000"] {
        let seconds: Vec<f64> = sweep(setting).into_iter().map(|(seconds, _)| seconds).collect();
        assert!(seconds.is_sorted_by(|before, after| before > after), "{setting}: {seconds:?}");
    }
    let found = sweep("machine.kernel.version=\"6.18\"");
    let slower: Vec<bool> = found.windows(2).map(|pair| pair[1].0 > pair[0].0 * 1.02).collect();
    assert!(slower.contains(&true), "{found:?}");
    // The disk is busy all the time; it writes what is not left dirty.
    for (seconds, dirty) in found {
        assert!(near(seconds, (20.0 - dirty) / 0.45, 0.01), "{seconds} s, {dirty} GB left");
    }
}
