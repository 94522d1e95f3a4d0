//! Programs that write and read in different ways side by side: on one file, and on one disk. Source of the rules:
//! `mm/filemap.c: generic_file_direct_write`, `fs/fs-writeback.c`, `block/blk-mq-tag.c`, Linux 6.16.

use pagecast_core::MODELS;

use crate::common::{Case, MB, Run, linux};

const DIRECT: &str = "open = '/data/g', create = true, flags = ['O_DIRECT']";

#[track_caller]
fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} instead of {expected}");
}

/// What the disk's queue holds at most, in seconds of its writing: 16 requests of 1280 KiB at 100 MB/s.
const QUEUE: f64 = 16.0 * 1280.0 * 1024.0 / 100e6;

#[test]
fn a_direct_writer_leaves_what_others_have_cached_of_other_parts() {
    let write = "write = '/data/g', offset = '409600 kB', size = '409600 kB', call = '1024 kB'";
    let run = linux()
        .process("p", &[DIRECT, write])
        .process("q", &["write = '/data/g', size = '409600 kB', call = '1024 kB'"])
        .run("kernel");
    // Nothing is over the background threshold, so that the disk is the direct writer's alone.
    assert_near(run.seconds("p", 1), 4.096, 1e-6);
    assert_near(run.seconds("q", 0), 0.4096, 1e-6);
    assert_eq!(run.file("/data/g"), (819_200_000, 409_600_000, 409_600_000));
}

#[test]
fn a_direct_writer_waits_for_what_others_have_dirty_of_its_bytes_then_takes_it_out() {
    let write = "write = '/data/g', offset = '102400 kB', size = '204800 kB', call = '1024 kB'";
    let run = linux()
        .process("q", &["write = '/data/g', size = '409600 kB', call = '1024 kB'", "sleep = '10 s'"])
        .process("p", &["sleep = '1 s'", DIRECT, write])
        .run("kernel");
    // The dirty 204.8 MB of its range are written, then its own.
    assert_eq!(run.parts("p", 2), [("device_write", 4.096)]);
    assert_eq!(run.file("/data/g"), (409_600_000, 204_800_000, 204_800_000));
}

#[test]
fn what_others_write_meanwhile_into_the_range_of_a_direct_write_stays_dirty() {
    let run = linux()
        .process("p", &[DIRECT, "write = '/data/g', size = '512 MB', call = '1 MiB'"])
        .process("q", &["sleep = '4 s'", "write = '/data/g', size = '51200 kB', call = '1024 kB'"])
        .run("kernel");
    assert_near(run.seconds("p", 1), 5.12, 1e-6);
    assert_eq!(run.file("/data/g"), (512 * MB, 51_200_000, 51_200_000), "the last writer has his bytes");
}

#[test]
fn a_direct_writer_and_the_flusher_share_the_disk() {
    let run = linux()
        .process("p", &[DIRECT, "write = '/data/g', size = '512 MB', call = '1 MiB'"])
        .process("q", &["write = '/data/h', size = '1.4 GB', call = '1 MB'", "sleep = '20 s'"])
        .run("kernel");
    // After 1 s 1 GB is dirty and the flusher begins; until it has written 0.4 GB each has half of the disk, for 8 s. The direct
    // writer has moved 100 MB before and 400 MB meanwhile. The flusher looks at the threshold after each visit of 50 MB.
    assert_near(run.end("p", 1), 1.0 + 8.0 + 0.12, 0.2);
    assert!((880 * MB..999 * MB).contains(&run.file("/data/h").2), "{:?}", run.file("/data/h"));
}

#[test]
fn what_is_written_directly_is_read_from_the_disk_again() {
    for model in MODELS {
        let run = linux()
            .cached("/data/g", "409600 kB", "409600 kB")
            .process("p", &[DIRECT, "write = '/data/g', size = '102400 kB', call = '1024 kB'"])
            .process_with("q", "after = ['p']", &["read = '/data/g', call = '1024 kB'"])
            .run(model);
        let from_device = run.sources("q", 0).1;
        match model {
            "no-cache" => assert_eq!(from_device, 409_600_000),
            // It forgets whole blocks of 100 MB, wherever they are.
            "wrench" => assert_eq!(from_device, 100_000_000),
            _ => assert_eq!(from_device, 102_400_000, "{model}"),
        }
    }
}

/// A file of 10.24 MB is made durable 2 s after somebody else has begun to write so much to another file of the same disk.
fn behind_flood(size: &str, then: &str, model: &str) -> Run {
    let small = "write = '/data/g', size = '10240 kB', call = '1024 kB'";
    let flood = format!("write = '/data/flood', size = '{size}', call = '1 MB'");
    flood_case(&flood).process("p", &["sleep = '1.9 s'", small, then]).run(model)
}

fn flood_case(flood: &str) -> Case {
    linux().process("q", &[flood, "sleep = '30 s'"])
}

#[test]
fn fsync_does_not_notice_dirty_pages_that_nobody_writes_yet() {
    for model in MODELS {
        let seconds = behind_flood("900 MB", "fsync = '/data/g'", model).seconds("p", 2);
        let own = if matches!(model, "kernel" | "wrench") { 0.1024 } else { 0.0 };
        assert_near(seconds, own, 2e-3);
    }
}

#[test]
fn fsync_waits_behind_the_queue_and_takes_turns_with_the_flusher() {
    let run = behind_flood("1.4 GB", "fsync = '/data/g'", "kernel");
    let seconds = run.seconds("p", 2);
    // What is in the queue goes first; then units of 4 MiB of both, one by one: three of its own, three of the flusher's.
    let (own, unit) = (0.1024, 4.194_304e6 / 100e6);
    assert!((QUEUE + own..QUEUE + own + 4.0 * unit).contains(&seconds), "{seconds}");
    assert_eq!(run.parts("p", 2).len(), 1, "all of it is the disk");
    // Who published no flusher has none in the way, as long as nothing has to be flushed.
    assert_near(behind_flood("1.4 GB", "fsync = '/data/g'", "wrench").seconds("p", 2), own, 2e-3);
}

#[test]
fn sync_behind_a_flood_waits_for_all_of_it() {
    let run = behind_flood("1.4 GB", "sync = true", "kernel");
    // 1.4 GB and 10 MB, of which the disk has written since the flusher began at 1 s.
    let written_before = run.start("p", 2) - 1.0;
    assert_near(run.seconds("p", 2), 14.1024 - written_before, 0.15);
    assert_eq!(run.file("/data/flood").2, 0);
}

#[test]
fn each_synchronous_call_waits_behind_the_flood_anew() {
    let open = "open = '/data/g', create = true, flags = ['O_SYNC']";
    let write = "write = '/data/g', size = '20480 kB', call = '1024 kB'";
    let alone = linux().process("p", &[open, write]).run("kernel").seconds("p", 1);
    let flood = flood_case("write = '/data/flood', size = '1.4 GB', call = '1 MB'");
    let beside = flood.process("p", &["sleep = '1.9 s'", open, write]).run("kernel").seconds("p", 2);
    // 20 calls; the flusher has 0.4 GB to write, 4 s, and fills the queue again and again.
    assert_near(alone, 20.0 * (1.024e-3 + 10.24e-3), 1e-6);
    assert!((alone + 2.0..alone + 4.0).contains(&beside), "{beside}");
}

#[test]
fn a_direct_write_passes_the_queue_of_write_back() {
    let write = "write = '/data/g', size = '10240 kB', call = '1024 kB'";
    let flood = flood_case("write = '/data/flood', size = '1.4 GB', call = '1 MB'");
    let run = flood.process("p", &["sleep = '1.9 s'", DIRECT, write]).run("kernel");
    // It shares the disk with one unit of write-back at a time.
    assert_near(run.seconds("p", 2), 2.0 * 0.1024, 5e-3);
}

#[test]
fn durable_writes_of_several_kinds_beside_each_other_each_have_their_flushes() {
    let sync = [
        "open = '/data/a', create = true, flags = ['O_DSYNC']",
        "write = '/data/a', size = '1024 kB', call = '102400 B'",
    ];
    let direct = [
        "open = '/data/b', create = true, flags = ['O_DIRECT', 'O_SYNC']",
        "write = '/data/b', size = '1024 kB', call = '102400 B'",
    ];
    let case = linux().set("machine.disk.ssd.flush=5 ms");
    let run = case.process("p", &sync).process("q", &direct).run("kernel");
    // Ten calls each: at least their flushes and their own bytes, at most the bytes of both.
    for name in ["p", "q"] {
        assert!(
            (0.05 + 0.010_24..0.05 + 0.0215).contains(&run.seconds(name, 1)),
            "{name} {}",
            run.seconds(name, 1)
        );
    }
}
