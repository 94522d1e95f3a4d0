//! Writing back what one asks for: `syncfs`, `sync_file_range`; and reading it in: `readahead`. Source of the rules: `fs/sync.c`,
//! `mm/readahead.c`, Linux 6.16.

use pagecast_core::result::Part;

use crate::common::{Case, MB, Run, linux};

/// One process on [`crate::common::LINUX`]: 100 MB/s from and to the disk, of which 21 MB are on their way at most.
fn process(operations: &[&str]) -> Case {
    linux().process("p", operations)
}

#[track_caller]
fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} instead of {expected}");
}

const WRITE: &str = "write = '/data/g', size = '409600 kB', call = '1024 kB'";

fn range(flags: &str) -> String {
    format!("sync_file_range = '/data/g', flags = [{flags}]")
}

#[test]
fn syncfs_writes_the_files_of_one_file_system_and_flushes_its_disk() {
    let run = |path: &str| {
        let operations = [
            "write = '/data/a', size = '300 MB'",
            "write = '/slow/b', size = '100 MB'",
            &format!("syncfs = '{path}'"),
        ];
        process(&operations)
            .set("machine.disk.slow.size=1 TB")
            .set("machine.disk.slow.read=50 MB/s")
            .set("machine.disk.slow.write=50 MB/s")
            .set("machine.disk.slow.flush=20 ms")
            .set("machine.disk.ssd.flush=10 ms")
            .set("machine.mount./slow.disk=slow")
            .run("kernel")
    };
    for path in ["/data", "/data/some/where"] {
        let of_data = run(path);
        assert_near(of_data.seconds("p", 2), 3.01, 1e-6);
        assert_eq!((of_data.file("/data/a").2, of_data.file("/slow/b").2), (0, 100 * MB));
    }
    assert_near(run("/slow").seconds("p", 2), 2.02, 1e-6);
}

#[test]
fn syncfs_needs_a_mount_and_no_file() {
    let error = process(&["syncfs = '/nowhere'"]).scenario().map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("test.toml:17: the path \"/nowhere\" is under no mount"), "{error}");
    for model in ["wrench", "no-cache", "endless-cache"] {
        let run = process(&["write = '/data/a', size = '100 MB'", "syncfs = '/data'"]).run(model);
        assert_eq!(run.file("/data/a").2, 0, "{model}");
        assert_eq!(run.seconds("p", 1) > 0.9, model == "wrench", "{model}");
    }
}

#[test]
fn a_range_that_is_only_submitted_is_waited_for_until_the_queue_has_room() {
    let run = process(&[WRITE, &range("'WRITE'"), &range("'WAIT_AFTER'")]).run("kernel");
    // 409.6 MB at 100 MB/s; the last 16 requests of 1280 KiB, and what has been begun of one more, are still on their way.
    let left = 16.0 * 1280.0 * 1024.0 / 100e6;
    let submitted = run.seconds("p", 1);
    assert!((4.096 - left - 0.1..4.096 - left + 0.05).contains(&submitted), "{submitted}");
    assert_near(submitted + run.seconds("p", 2), 4.096, 1e-6);
    assert_eq!(run.parts("p", 2).len(), 1);
    assert_eq!(run.file("/data/g"), (409_600_000, 409_600_000, 0));
}

#[test]
fn nothing_of_a_range_is_flushed() {
    let all = range("'WAIT_BEFORE', 'WRITE', 'WAIT_AFTER'");
    let run =
        process(&[WRITE, &all, "fdatasync = '/data/g'"]).set("machine.disk.ssd.flush=10 ms").run("kernel");
    assert_near(run.seconds("p", 1), 4.096, 1e-6);
    assert_near(run.seconds("p", 2), 0.01, 1e-9);
}

#[test]
fn a_range_is_part_of_a_file() {
    let all = "flags = ['WAIT_BEFORE', 'WRITE', 'WAIT_AFTER']";
    let part = format!("sync_file_range = '/data/g', offset = '102400 kB', size = '204800 kB', {all}");
    let run = process(&[WRITE, &part]).run("kernel");
    assert_near(run.seconds("p", 1), 2.048, 1e-6);
    assert_eq!(run.file("/data/g").2, 204_800_000);
}

#[test]
fn what_is_to_be_waited_for_is_waited_for() {
    let waits =
        |flags: &str| process(&[WRITE, &range("'WRITE'"), &range(flags)]).run("kernel").seconds("p", 2);
    assert!(waits("'WAIT_BEFORE'") > 0.15);
    assert_eq!(waits(""), 0.0, "no flag, nothing to do");
    let clean =
        process(&["read = '/data/f'", "sync_file_range = '/data/f', flags = ['WRITE', 'WAIT_AFTER']"]);
    assert_eq!(clean.file("/data/f", "10 MB").run("kernel").seconds("p", 1), 0.0);
    // Nobody has submitted it.
    assert_eq!(process(&[WRITE, &range("'WAIT_BEFORE', 'WAIT_AFTER'")]).run("kernel").seconds("p", 1), 0.0);
}

#[test]
fn with_a_steady_writer_each_range_is_on_its_way_while_the_next_is_copied() {
    // The well-known way to write a stream without a flood: submit what is new, wait for what was submitted before.
    let round = "{ write = '/data/g', size = '8192 kB', append = true }, \
                 { sync_file_range = '/data/g', flags = ['WAIT_BEFORE', 'WRITE'] }";
    let run = process(&[&format!("repeat = 50, do = [ {round} ]")]).run("kernel");
    // The disk is busy from the first copy on, but for the copies: none of them waits.
    assert_near(run.end("p", 99), 49.0 * 0.08192 + 0.008_192, 0.1);
    let most = (0..40).map(|tenth| run.memory_at(f64::from(tenth) / 10.0).dirty.0).max();
    assert!(most <= Some(2 * 8_192_000), "{most:?}");
}

#[test]
fn models_without_write_back_have_nothing_to_write() {
    let all = range("'WAIT_BEFORE', 'WRITE', 'WAIT_AFTER'");
    for (model, seconds) in [("wrench", 4.096), ("no-cache", 0.0), ("endless-cache", 0.0)] {
        assert_near(process(&[WRITE, &all]).run(model).seconds("p", 1), seconds, 1e-9);
        assert_eq!(process(&[WRITE, &range("'WRITE'")]).run(model).seconds("p", 1), 0.0, "{model}");
    }
}

#[test]
fn readahead_is_what_willneed_is() {
    let operations = |first: &str| -> Run {
        let case = linux().file("/data/f", "100 MB").set("machine.disk.ssd.latency=1 ms");
        case.process("p", &[first, "sleep = '1 s'", "read = '/data/f', size = '4 MiB'"]).run("kernel")
    };
    let advised = operations("fadvise = '/data/f', advice = 'willneed', offset = '1 MiB', size = '1 MiB'");
    let ahead = operations("readahead = '/data/f', offset = '1 MiB', size = '1 MiB'");
    assert_eq!(ahead.seconds("p", 0), 0.0, "it does not wait");
    assert_eq!(ahead.sources("p", 2), advised.sources("p", 2));
    assert!(ahead.sources("p", 2).0 >= 1 << 20);
    assert_eq!(ahead.part("p", 2, Part::DeviceRead), advised.part("p", 2, Part::DeviceRead));
}
