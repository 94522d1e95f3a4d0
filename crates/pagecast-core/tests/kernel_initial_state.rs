//! What the kernel begins with: dirty pages, the limit in force, what each device has written lately.

use crate::common::{Case, MB, case, linux};

const WRITE_3_GB: &str = "write = '/data/g', size = '3 GB'";

fn dirty_mb(case: &Case, model: &str, time: f64) -> u64 {
    case.run(model).memory_at(time).dirty.0 / MB
}

#[test]
fn dirty_pages_of_before_are_as_old_as_the_scenario() {
    let case = linux()
        .dirty("/data/f", "800 MB", "500 MB")
        .process("p", &["sleep = '60 s'"])
        .option("writeout_fraction", "ssd 100 %");
    assert_eq!(case.run("kernel").memory_at(0.0).cached.0 / MB, 800);
    // Below the background thresholds of host and disk; the wake-up of 30 s finds them old enough, the disk writes 100 MB/s.
    assert_eq!(dirty_mb(&case, "kernel", 29.0), 500);
    assert_eq!(dirty_mb(&case, "kernel", 36.0), 0);
    assert_eq!(case.run("kernel").file("/data/f"), (800 * MB, 800 * MB, 0));
}

/// With one processor so few of 1024 pages count after 15 to 20 s that the disk has no part of the background threshold.
#[test]
fn a_disk_that_wrote_little_before_begins_early() {
    let case = linux()
        .set("machine.cores=1")
        .dirty("/data/f", "800 MB", "500 MB")
        .process("p", &["sleep = '60 s'"])
        .option("writeout_fraction", "ssd 100 %")
        .option("completions", "4 MiB");
    assert_eq!(dirty_mb(&case, "kernel", 14.0), 500);
    let left = dirty_mb(&case, "kernel", 29.0);
    assert!(left < 450, "{left} MB");
}

#[test]
fn fsync_waits_for_what_was_dirty_before() {
    let run = linux().dirty("/data/f", "800 MB", "500 MB").process("p", &["fsync = '/data/f'"]).run("kernel");
    assert!((run.seconds("p", 0) - 5.0).abs() < 0.01, "{}", run.seconds("p", 0));
}

#[test]
fn what_was_dirty_before_counts_towards_the_limits() {
    let run = linux().dirty("/data/f", "1.6 GB", "1.6 GB").process("p", &[WRITE_3_GB]).run("kernel");
    let begins = run.events_called("throttling_begins");
    assert_eq!(begins.first().map(|event| event.0), Some(0.0), "15 % of 10 GB are dirty at once");
    assert!(
        dirty_mb(
            &linux().dirty("/data/f", "1.6 GB", "1.6 GB").process("p", &["sleep = '3 s'"]),
            "kernel",
            3.0
        ) == 1600
    );
}

#[test]
fn the_published_model_flushes_them_when_they_have_expired() {
    let case = case().dirty("/data/f", "800 MB", "500 MB").process("p", &["sleep = '60 s'"]);
    assert_eq!(dirty_mb(&case, "wrench", 1.0), 500);
    assert_eq!(dirty_mb(&case, "wrench", 50.0), 0);
    assert_eq!(case.run("wrench").memory_at(1.0).cached.0 / MB, 800);
}

#[test]
fn models_without_write_back_only_take_them_as_cached() {
    let case = case().dirty("/data/f", "800 MB", "500 MB").process("p", &["read = '/data/f'"]);
    assert_eq!(case.run("endless-cache").sources("p", 0), (800 * MB, 0));
    assert_eq!(case.run("no-cache").sources("p", 0), (0, 800 * MB));
}

#[test]
fn a_limit_that_was_higher_before_lets_more_through() {
    let seconds = |case: Case| case.process("p", &[WRITE_3_GB]).run("kernel").seconds("p", 0);
    let (usual, higher) = (seconds(linux()), seconds(linux().option("dirty_limit", "4 GB")));
    assert!(higher < usual - 1.0, "{higher} s, and {usual} s at the threshold");
    assert_eq!(seconds(linux().option("dirty_limit", "1 GB")), usual, "writers may go to the threshold");
}

/// A chunk is half a second of 100 MiB/s, or an eighth of 42 MiB: 52 and 8 MiB, in whole 4 MiB. The background threshold of 999 MB is
/// passed by less than either, and nobody is throttled, who would lift the limit. Looked at before the flusher's next wake-up.
#[test]
fn a_limit_that_was_lower_before_makes_smaller_chunks() {
    let left = |case: Case| {
        let case = case.option("writeout_fraction", "ssd 100 %");
        dirty_mb(&case.process("p", &["write = '/data/g', size = '1005 MB'", "sleep = '5 s'"]), "kernel", 5.0)
    };
    assert_eq!(left(linux()), 1005 - 55);
    assert_eq!(left(linux().option("dirty_limit", "42 MiB")), 1005 - 9);
}

#[test]
fn a_device_that_has_not_written_lately_begins_with_a_small_part() {
    let seconds = |of_before: &str| {
        let case = linux()
            .set("machine.disk.hdd={ size = '1 TB', read = '100 MB/s', write = '100 MB/s' }")
            .process("p", &[WRITE_3_GB])
            .option("write_bandwidth", "100 MB/s")
            .option("dirty_ratelimit", "100 MB/s")
            .option("writeout_fraction", of_before);
        case.run("kernel").seconds("p", 0)
    };
    let (all, half, nothing) = (seconds("ssd 100 %"), seconds("ssd 50 %, hdd 50 %"), seconds("hdd 100 %"));
    assert!(all < half && half < nothing, "{all} s, {half} s, {nothing} s");
    // The other half went to a disk that is not there, and counts as much.
    assert_eq!(seconds("ssd 50 %"), half);
}

#[test]
fn a_device_of_another_host_is_not_looked_at() {
    let seconds = |of_before: &str| {
        linux()
            .process("p", &[WRITE_3_GB])
            .option("writeout_fraction", of_before)
            .run("kernel")
            .seconds("p", 0)
    };
    let usual = linux().process("p", &[WRITE_3_GB]).run("kernel").seconds("p", 0);
    assert_eq!(seconds("other:ssd 100 %"), usual);
    assert_eq!(seconds("machine:ssd 100 %"), seconds("ssd 100 %"));
}

#[test]
fn what_cannot_be_is_refused() {
    let error =
        |key: &str, value: &str| linux().process("p", &[WRITE_3_GB]).option(key, value).error("kernel");
    insta::assert_snapshot!(error("writeout_fraction", "sdd 100 %"), @"option kernel.writeout_fraction: model.kernel.writeout_fraction: host `machine` has no device `sdd`; did you mean `ssd`?");
    insta::assert_snapshot!(error("writeout_fraction", "ssd"), @r#"option kernel.writeout_fraction: model.kernel.writeout_fraction: `ssd` is no name with a percentage; write for example "ssd 80 %, hdd 20 %""#);
    insta::assert_snapshot!(error("writeout_fraction", "ssd 80 %, ssd 30 %"), @"option kernel.writeout_fraction: model.kernel.writeout_fraction: the percentages sum to 110.0000; they cannot sum to more than 100");
    insta::assert_snapshot!(error("dirty_limit", "0 B"), @"option kernel.dirty_limit: model.kernel.dirty_limit: `0 B` does not fit; it must be more than zero");
    insta::assert_snapshot!(error("completions", "0 B"), @"option kernel.completions: model.kernel.completions: `0 B` does not fit; it must be more than zero");
    insta::assert_snapshot!(error("dirty_limits", "1 GB"), @"option kernel.dirty_limits: model `kernel` has no option `dirty_limits`; did you mean `dirty_limit`?");
    let more_dirty_than_cached = linux().dirty("/data/f", "1 GB", "2 GB").process("p", &["exit = true"]);
    insta::assert_snapshot!(more_dirty_than_cached.scenario().map(|_| ()).unwrap_err(), @r#"test.toml:17: 2 GB of "/data/f" are dirty, of which only 1 GB are cached; dirty pages are cached pages: make `cached` as large, at least"#);
}
