//! What it takes to make bytes durable: a device that has a cache of its own is told to flush it. Source of the rules:
//! `fs/ext4/fsync.c`, `fs/sync.c`, `fs/iomap/direct-io.c`, Linux 6.16. And O_APPEND.

use pagecast_core::result::Part;

use crate::common::{Case, MB, Run, linux};

/// One process on [`crate::common::LINUX`], whose disk takes 10 ms to flush its cache.
fn process(operations: &[&str]) -> Case {
    linux().set("machine.disk.ssd.flush=10 ms").process("p", operations)
}

fn open(flags: &str) -> String {
    format!("open = '/data/g', create = true, flags = [{flags}]")
}

const WRITE: &str = "write = '/data/g', size = '102.4 MB', call = '1024 kB'";

fn near(actual: f64, expected: f64) -> bool {
    (actual - expected).abs() <= 1e-6 * expected.max(1e-3)
}

/// The time of an operation with such a disk, beyond that with a disk that needs no flush.
fn beyond(operations: &[&str], index: u32) -> f64 {
    let without = linux().process("p", operations).run("kernel").seconds("p", index);
    process(operations).run("kernel").seconds("p", index) - without
}

#[test]
fn fsync_and_fdatasync_end_with_a_flush_whether_or_not_anything_was_dirty() {
    for call in ["fsync", "fdatasync"] {
        let call = format!("{call} = '/data/g'");
        let run = process(&[WRITE, &call, &call]).run("kernel");
        // 102.4 MB at 100 MB/s, then 10 ms; a second one has the flush alone.
        assert!(
            near(run.seconds("p", 1), 1.034) && near(run.seconds("p", 2), 0.01),
            "{:?}",
            run.all_seconds("p")
        );
        assert_eq!(run.parts("p", 2), [("device_write", 0.01)]);
    }
}

#[test]
fn sync_has_every_disk_with_a_file_system_flushed_one_after_the_other() {
    let disk = |case: Case, name: &str, flush: &str| {
        let keys = ["size=1 TB", "read=50 MB/s", "write=50 MB/s", flush];
        keys.iter().fold(case, |case, key| case.set(&format!("machine.disk.{name}.{key}")))
    };
    let case = disk(process(&["sync = true"]), "slow", "flush=30 ms");
    let case = disk(case, "bare", "flush=50 ms").set("machine.mount./slow.disk=slow");
    assert!(near(case.run("kernel").seconds("p", 0), 0.04));
}

#[test]
fn each_synchronous_call_ends_with_a_flush() {
    for flags in ["'O_SYNC'", "'O_DSYNC'"] {
        assert!(near(beyond(&[&open(flags), WRITE], 1), 100.0 * 0.01), "{flags}");
        // 2500 calls are taken ten at a time.
        let small = "write = '/data/g', size = '10240 kB', call = '4096 B'";
        assert!(near(beyond(&[&open(flags), small], 1), 2500.0 * 0.01), "{flags}");
    }
}

#[test]
fn a_direct_write_is_durable_only_if_it_says_so() {
    assert_eq!(beyond(&[&open("'O_DIRECT'"), WRITE], 1), 0.0);
    for flags in ["'O_DIRECT', 'O_SYNC'", "'O_DSYNC', 'O_DIRECT'"] {
        let operations = [&open(flags), WRITE];
        assert!(near(beyond(&operations, 1), 100.0 * 0.01), "{flags}");
        assert!(near(process(&operations).run("kernel").part("p", 1, Part::DeviceWrite), 2.024));
    }
    let and_then = process(&[&open("'O_DIRECT'"), WRITE, "fdatasync = '/data/g'"]).run("kernel");
    assert!(near(and_then.seconds("p", 2), 0.01), "what is in the device's cache");
}

/// The same with a file system whose commits take 7 ms.
fn with_commits(operations: &[&str]) -> Run {
    process(operations).set("machine.mount./data.commit=7 ms").run("kernel")
}

#[test]
fn who_makes_a_file_durable_that_has_grown_waits_for_a_commit() {
    let small = "write = '/data/g', size = '4096 B', offset = '0 B'";
    for call in ["fsync", "fdatasync"] {
        let call = format!("{call} = '/data/g'");
        let run = with_commits(&[WRITE, &call, &call]);
        assert!(near(run.seconds("p", 1), 1.041) && near(run.seconds("p", 2), 0.01), "{call}");
        // Written over, and 10 ms later, so that its times have changed.
        let over = with_commits(&[WRITE, &call, small, &call]);
        let block = 4096.0 / 100e6;
        let expected = if call.starts_with("fsync") { 0.017 } else { 0.01 };
        assert!((over.seconds("p", 3) - expected - block).abs() < 1e-6, "{call}: {}", over.seconds("p", 3));
    }
}

#[test]
fn each_synchronous_call_that_makes_a_file_longer_commits() {
    let twice = "write = '/data/g', size = '102.4 MB', call = '1024 kB', offset = '0 B'";
    for (flags, over) in [("'O_DSYNC'", 0.0), ("'O_DIRECT', 'O_DSYNC'", 0.0), ("'O_SYNC'", 0.7)] {
        let operations = [&open(flags), twice, twice];
        let (with, without) = (with_commits(&operations), process(&operations).run("kernel"));
        let more = |index| with.seconds("p", index) - without.seconds("p", index);
        assert!((more(1) - 0.7).abs() < 1e-6, "{flags}: {}", more(1));
        // A flush takes longer than a tick, so each call changes the times.
        assert!((more(2) - over).abs() < 1e-6, "{flags}: {}", more(2));
    }
}

#[test]
fn a_commit_is_of_all_that_has_changed_and_sync_does_one() {
    let other = "write = '/data/h', size = '1024 kB'";
    let run = with_commits(&[WRITE, other, "fsync = '/data/g'", "fsync = '/data/h'", "sync = true"]);
    assert!(near(run.seconds("p", 3), 0.02024), "no commit is left: {}", run.seconds("p", 3));
    assert!(near(run.seconds("p", 4), 0.01));
    let synced = with_commits(&[WRITE, "sync = true", "sync = true"]);
    assert!(near(synced.seconds("p", 1), 1.041) && near(synced.seconds("p", 2), 0.01));
}

#[test]
fn a_direct_write_takes_as_long_as_a_request_does_besides_its_bytes() {
    let operations = [&open("'O_DIRECT'"), WRITE];
    let slow = linux().set("machine.disk.ssd.write_latency=2 ms").process("p", &operations).run("kernel");
    assert!(near(slow.seconds("p", 1), 1.024 + 100.0 * 0.002));
    assert!(near(slow.part("p", 1, Part::DeviceWrite), 1.224));
    let buffered = linux().set("machine.disk.ssd.write_latency=2 ms").process("p", &[WRITE]).run("kernel");
    assert_eq!(buffered.seconds("p", 0), linux().process("p", &[WRITE]).run("kernel").seconds("p", 0));
}

#[test]
fn times_of_a_file_change_once_in_a_tick() {
    let (write, fsync) = ("write = '/data/g', size = '4096 B', offset = '0 B'", "fsync = '/data/g'");
    let operations = [write, fsync, write, fsync, "sleep = '10 ms'", write, fsync];
    let settings = ["machine.kernel.hz=100", "machine.mount./data.commit=1 ms"];
    let case = settings.iter().fold(linux().file("/data/g", "1 MB"), |case, setting| case.set(setting));
    let run = case.process("p", &operations).run("kernel");
    assert_eq!([1, 3, 6].map(|at| run.part("p", at, Part::Journal)), [1e-3, 0.0, 1e-3]);
}

#[test]
fn blocks_that_are_on_the_disk_take_time_to_be_given_back() {
    let freeing = |operations: &[&str]| {
        let costs = ["machine.mount./data.block_free=4 us", "machine.mount./data.file_free=20 ms"];
        let case = costs.iter().fold(linux(), |case, cost| case.set(cost)).process("p", operations);
        let index = operations.len() as u32 - 1;
        case.run("kernel").seconds("p", index)
            - linux().process("p", operations).run("kernel").seconds("p", index)
    };
    // 25,000 blocks, of which half stay when the file is cut in half.
    assert!(near(freeing(&[WRITE, "fsync = '/data/g'", "unlink = '/data/g'"]), 0.12));
    assert!(near(freeing(&[WRITE, "fsync = '/data/g'", "truncate = '/data/g', size = '51.2 MB'"]), 0.07));
    assert_eq!(freeing(&[WRITE, "unlink = '/data/g'"]), 0.0, "dirty bytes have no blocks yet");
    let operations = [WRITE, "fsync = '/data/g'", "unlink = '/data/g'"];
    let once = linux().set("machine.mount./data.file_free=20 ms").process("p", &operations).run("kernel");
    assert!(near(once.part("p", 2, Part::Journal), 0.02), "whatever its blocks take");
    let again = [WRITE, "fsync = '/data/g'", "write = '/data/g', size = '102.4 MB', offset = '0 B'"];
    assert!(near(freeing(&[&again[..], &["unlink = '/data/g'"]].concat()), 0.12), "now they have");
}

/// They are written before they are given back: once who cut the file was told their price first, and not that of those on their way.
#[test]
fn blocks_on_their_way_to_the_disk_are_given_back_when_they_are_there() {
    let operations = [WRITE, "sync_file_range = '/data/g', flags = ['WRITE']", "unlink = '/data/g'"];
    let costs = ["machine.mount./data.block_free=4 us", "machine.memory.cost.page_remove=1 us"];
    let case = costs.iter().fold(linux(), |case, cost| case.set(cost)).process("p", &operations);
    let run = case.run("kernel");
    assert!(near(run.part("p", 2, Part::CpuCopy), 0.025), "pages leave first");
    assert!(run.part("p", 2, Part::DeviceWrite) > 0.17, "20 MB and more were on their way");
    assert!(near(run.part("p", 2, Part::Journal), 0.1), "all 25,000 blocks");
}

#[test]
fn only_blocks_that_leave_are_given_back() {
    let case = linux().set("machine.mount./data.block_free=4 us").file("/data/g", "102.4 MB");
    let begin = ["write = '/data/g', size = '51.2 MB', offset = '0 B'", "fsync = '/data/g'"];
    let run = case.process("p", &[&begin[..], &["truncate = '/data/g', size = '51.2 MB'"]].concat());
    assert_eq!(run.run("kernel").part("p", 2, Part::Journal), 0.0);
}

#[test]
fn blocks_that_were_written_long_ago_are_given_back_at_once() {
    let seconds = |within: &str, operations: &[&str]| {
        let costs = ["machine.mount./data.block_free=4 us", "machine.mount./data.file_free=20 ms"];
        let case = costs.iter().fold(linux(), |case, cost| case.set(cost)).set(within);
        let last = operations.len() as u32 - 1;
        case.process("p", operations).run("kernel").seconds("p", last)
    };
    let old = [WRITE, "fsync = '/data/g'", "sleep = '10 s'", "unlink = '/data/g'"];
    let within = |within: &str| seconds(&format!("machine.mount./data.block_free_within={within}"), &old);
    assert!(near(within("60 s") - within("9 s"), 0.12));
    // The first half was written at once, the second after 10 s.
    let halves = [
        "write = '/data/g', size = '51.2 MB', call = '1 MB'",
        "fsync = '/data/g'",
        "sleep = '10 s'",
        "write = '/data/g', size = '51.2 MB', offset = '51.2 MB', call = '1 MB'",
        "fsync = '/data/g'",
        "unlink = '/data/g'",
    ];
    let within = |within: &str| seconds(&format!("machine.mount./data.block_free_within={within}"), &halves);
    assert!(near(within("60 s") - within("5 s"), 0.05));
}

#[test]
fn what_was_there_before_may_have_been_written_just_before() {
    let seconds = |prepared: &str, within: &str, sleep: &str| {
        let case = linux().set("machine.mount./data.block_free=4 us").set(within).file("/data/g", "102.4 MB");
        let case = if prepared.is_empty() { case } else { case.option("prepared", prepared) };
        case.process("p", &[sleep, "unlink = '/data/g'"]).run("kernel").seconds("p", 1)
    };
    let within = "machine.mount./data.block_free_within=30 s";
    assert_eq!(seconds("", within, "sleep = '1 s'"), 0.0);
    assert!(near(seconds("10 s", within, "sleep = '1 s'"), 0.1), "all of it");
    assert!(near(seconds("40 s", within, "sleep = '20 s'"), 0.025), "the last 10 s of 40 s");
    assert_eq!(seconds("10 s", within, "sleep = '31 s'"), 0.0);
    assert!(near(seconds("10 s", "machine.mount./data.file_free=0 s", "sleep = '31 s'"), 0.1), "ever");
}

#[test]
fn what_is_only_buffered_or_read_flushes_nothing() {
    let operations =
        [WRITE, "read = '/data/g'", "fadvise = '/data/g', advice = 'dontneed'", "unlink = '/data/g'"];
    for index in 0..4 {
        assert_eq!(beyond(&operations, index), 0.0, "{index}");
    }
}

#[test]
fn who_flushes_holds_nobody_else_back() {
    let case = linux().set("machine.disk.ssd.flush=500 ms").file("/data/f", "1 GB");
    let run = case
        .process("p", &["fsync = '/data/f'"])
        .process("q", &["fsync = '/data/f'"])
        .process("r", &["read = '/data/f', size = '100 MB'"])
        .run("kernel");
    assert!(["p", "q"].iter().all(|name| near(run.seconds(name, 0), 0.5)));
    assert!((run.seconds("r", 0) - 1.0).abs() < 0.01, "{}", run.seconds("r", 0));
}

#[test]
fn models_without_calls_know_no_flush() {
    for model in ["wrench", "no-cache", "endless-cache"] {
        let operations = [WRITE, "fsync = '/data/g'", "sync = true"];
        let seconds = |case: Case| case.run(model).all_seconds("p");
        assert_eq!(seconds(process(&operations)), seconds(linux().process("p", &operations)), "{model}");
    }
}

fn appended(model: &str, operations: &[&str]) -> Run {
    linux().file("/data/g", "10 MB").process("p", operations).run(model)
}

#[test]
fn with_o_append_a_write_begins_at_the_end_wherever_it_was_to_begin() {
    let operations = [
        "open = '/data/g', flags = ['O_APPEND']",
        "write = '/data/g', size = '5 MB'",
        "write = '/data/g', size = '5 MB', offset = '1 MB'",
        "close = '/data/g'",
        "write = '/data/g', size = '5 MB'",
    ];
    for model in pagecast_core::MODELS {
        let run = appended(model, &operations);
        assert_eq!(run.operations.offset, [0, 10 * MB, 15 * MB, 0, 0], "{model}");
        assert_eq!(run.file("/data/g").0, 20 * MB, "{model}");
    }
}

#[test]
fn who_appends_at_the_same_time_has_a_place_of_its_own() {
    let operations = ["open = '/data/g', flags = ['O_APPEND']", "write = '/data/g', size = '5 MB'"];
    let run =
        linux().file("/data/g", "10 MB").process("p", &operations).process("q", &operations).run("kernel");
    let offsets = [run.operations.offset[run.row("p", 1)], run.operations.offset[run.row("q", 1)]];
    assert_eq!((offsets, run.file("/data/g").0), ([10 * MB, 15 * MB], 20 * MB));
}

#[test]
fn what_was_there_before_is_given_back_at_once() {
    let case = linux().set("machine.mount./data.block_free=4 us").file("/data/g", "1 GB");
    assert_eq!(case.process("p", &["unlink = '/data/g'"]).run("kernel").seconds("p", 0), 0.0);
}
