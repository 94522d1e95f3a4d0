//! The periodic flush of the data-block model (Algorithm 1), and how it meets operations.

use crate::common::{Case, GB, MB, Run, case};

/// A file of ten blocks is written from 0 to 1 s, and then nothing for a long time.
fn writer() -> Case {
    case().process("p", &["write = '/data/g', size = '1 GB'", "sleep = '100 s'"])
}

fn flushes(run: &Run) -> Vec<f64> {
    run.events_called("periodic_flush").iter().map(|&(time, ..)| time).collect()
}

fn dirty_mb(run: &Run, time: f64) -> u64 {
    run.memory_at(time).dirty.0 / MB
}

#[test]
fn blocks_are_written_one_after_the_other_when_they_have_been_dirty_for_30_s() {
    let run = writer().run("wrench");
    assert_eq!(flushes(&run), [30.0, 31.0, 32.0, 33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0]);
    assert!(
        run.events_called("periodic_flush").iter().all(|event| event.1 == "/data/g" && event.2 == 100 * MB)
    );
    assert_eq!([29.9, 30.9, 31.0, 39.9, 40.0].map(|time| dirty_mb(&run, time)), [1000, 1000, 900, 100, 0]);
    assert_eq!(run.file("/data/g"), (GB, GB, 0), "written, and still cached");
}

#[test]
fn the_flusher_wakes_every_5_s() {
    let run = case()
        .process("p", &["sleep = '1 s'", "write = '/data/g', size = '1 GB'", "sleep = '50 s'"])
        .run("wrench");
    assert_eq!(flushes(&run)[0], 35.0, "at 30 s the oldest block was 29 s old");
}

#[test]
fn expiry_and_period_are_kernel_settings_or_options_of_the_model() {
    let first = |case: Case| {
        flushes(
            &case
                .process("p", &["sleep = '1 s'", "write = '/data/g', size = '1 GB'", "sleep = '60 s'"])
                .run("wrench"),
        )[0]
    };
    assert_eq!(first(case().set("machine.vm.dirty_expire_centisecs=1000")), 15.0);
    assert_eq!(first(case().set("machine.vm.dirty_writeback_centisecs=1600")), 32.0);
    assert_eq!(first(case().option("expiry", "10 s")), 15.0);
    assert_eq!(first(case().option("period", "16 s")), 32.0);
}

#[test]
fn with_an_expiry_of_0_all_that_is_dirty_is_written_at_the_next_turn() {
    let run = writer().option("expiry", "0 s").run("wrench");
    assert_eq!(
        flushes(&run)[..3],
        [0.0, 1.0, 2.0],
        "the first block at once, the others as soon as the disk is free"
    );
}

#[test]
fn a_pass_that_took_longer_than_the_period_is_followed_by_the_next_at_once() {
    // The first pass ends at 40 s with what had expired by 39 s. The second file expires at 38 s; without a new pass at
    // 40 s it would wait for 45 s.
    let operations = [
        "write = '/data/g', size = '1 GB'",
        "sleep = '9.5 s'",
        "write = '/data/h', size = '100 MB'",
        "sleep = '60 s'",
    ];
    let run = case().process("p", &operations).run("wrench");
    assert_eq!(flushes(&run)[9..], [39.0, 45.0], "at 40 s it was 29.5 s old, at 45 s the flusher woke");
    let operations = [
        "write = '/data/g', size = '1 GB'",
        "sleep = '8.5 s'",
        "write = '/data/h', size = '100 MB'",
        "sleep = '60 s'",
    ];
    let run = case().process("p", &operations).run("wrench");
    assert_eq!(flushes(&run)[9..], [39.0, 40.0]);
}

#[test]
fn the_flusher_competes_for_the_disk() {
    let run = case()
        .file("/data/f", "1 GB")
        .process("writer", &["write = '/data/g', size = '1 GB'", "sleep = '60 s'"])
        .process("reader", &["sleep = '30 s'", "read = '/data/f'"])
        .run("wrench");
    assert_eq!(run.seconds("reader", 1), 20.0);
}

#[test]
fn fsync_before_the_expiry_leaves_the_flusher_nothing() {
    let run = case()
        .process("p", &["write = '/data/g', size = '1 GB'", "fsync = '/data/g'", "sleep = '60 s'"])
        .run("wrench");
    assert!(flushes(&run).is_empty());
}

#[test]
fn blocks_of_the_active_list_are_flushed_after_those_of_the_inactive_one() {
    let operations = [
        "write = '/data/a', size = '100 MB'",
        "read = '/data/a'",
        "write = '/data/b', size = '100 MB'",
        "sleep = '60 s'",
    ];
    let run = case().cached("/data/e", "1 GB", "1 GB").process("p", &operations).run("wrench");
    let order: Vec<(f64, &str)> =
        run.events_called("periodic_flush").iter().map(|&(time, path, _)| (time, path)).collect();
    // At 30 s only the active block of 0 s has expired; /data/b is of 0.2 s and has its turn at 31 s. The next pass
    // begins at 35 s.
    assert_eq!(order, [(30.0, "/data/a"), (35.0, "/data/b")]);
}

#[test]
fn a_block_keeps_its_age_when_it_is_read() {
    let operations =
        ["write = '/data/g', size = '100 MB'", "sleep = '20 s'", "read = '/data/g'", "sleep = '60 s'"];
    assert_eq!(
        flushes(&case().process("p", &operations).run("wrench")),
        [30.0, 30.5],
        "balancing cut it in two"
    );
}

#[test]
fn what_is_cut_off_a_block_while_it_is_written_stays_counted_as_dirty() {
    let operations = [
        "write = '/data/g', size = '100 MB'",
        "sleep = '30.4 s'",
        "truncate = '/data/g', size = '60 MB'",
        "sleep = '60 s'",
    ];
    let run = case().process("p", &operations).run("wrench");
    assert_eq!(
        (dirty_mb(&run, 30.9), dirty_mb(&run, 31.0), dirty_mb(&run, 90.0)),
        (100, 40, 40),
        "as published"
    );
    assert!(run.blocks.dirty.iter().all(|dirty| !dirty));
}

#[test]
fn a_block_that_leaves_while_it_is_written_is_dirty_no_more() {
    let operations =
        ["write = '/data/g', size = '100 MB'", "sleep = '30.4 s'", "drop_caches = true", "sleep = '60 s'"];
    let run = case().process("p", &operations).run("wrench");
    assert_eq!((run.file("/data/g").1, dirty_mb(&run, 30.9), dirty_mb(&run, 31.0)), (0, 100, 0));
}

#[test]
fn a_rival_flushes_nothing() {
    for model in ["no-cache", "endless-cache"] {
        assert_eq!(writer().run(model).all_events(), [], "{model}");
    }
}

#[test]
fn a_pass_that_took_as_long_as_the_period_is_followed_by_the_next_before_anybody_else_has_a_turn() {
    // At 30 s only the active /data/a has expired; it takes 5 s. Then /data/b has, too, and somebody wants to write it.
    let operations = [
        "write = '/data/a', size = '500 MB'",
        "read = '/data/a'",
        "write = '/data/b', size = '100 MB'",
        "sleep = '60 s'",
    ];
    let run = case()
        .option("chunk", "500 MB")
        .cached("/data/e", "1 GB", "1 GB")
        .process("p", &operations)
        .process("q", &["sleep = '35 s'", "fsync = '/data/b'"])
        .run("wrench");
    let flushes = run.events_called("periodic_flush");
    assert_eq!(flushes, [(30.0, "/data/a", 500 * MB), (35.0, "/data/b", 100 * MB)]);
    assert_eq!(run.seconds("q", 1), 0.0, "a block that is being written is clean already, as published");
}

#[test]
fn fsync_does_not_wait_for_what_is_written_after_it_began() {
    let run = case()
        .process("p", &["write = '/data/g', size = '100 MB'", "fsync = '/data/g'"])
        .process("q", &["sleep = '500 ms'", "write = '/data/g', offset = '100 MB', size = '100 MB'"])
        .run("wrench");
    assert_eq!((run.seconds("p", 1), run.file("/data/g").2), (1.0, 100 * MB));
}

#[test]
fn fsync_does_not_wait_for_what_comes_into_the_active_list_after_it_began() {
    let more =
        ["sleep = '500 ms'", "write = '/data/g', offset = '100 MB', size = '100 MB'", "read = '/data/g'"];
    let run = case()
        .cached("/data/e", "1 GB", "1 GB")
        .process("p", &["write = '/data/g', size = '100 MB'", "read = '/data/g'", "fsync = '/data/g'"])
        .process("q", &more)
        .run("wrench");
    assert_eq!((run.seconds("p", 2), run.file("/data/g").2), (1.0, 100 * MB));
}
