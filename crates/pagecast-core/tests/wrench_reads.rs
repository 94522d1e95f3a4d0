//! Reads of the data-block model: Algorithm 2 of the WRENCH-cache paper, and Section III.A on lists and eviction.

use crate::common::{Case, GB, MB, case};

/// A process on a cold file "/data/f" of 1 GB.
fn after(operations: &[&str]) -> Case {
    case().file("/data/f", "1 GB").process("p", operations)
}

const READ: &str = "read = '/data/f'";

#[test]
fn the_first_read_is_the_devices_and_the_second_the_caches() {
    let run = after(&[READ, READ]).run("wrench");
    assert_eq!(run.all_seconds("p"), [10.0, 1.0]);
    assert_eq!(run.parts("p", 0), [("device_read", 10.0)], "no copy on top, as published");
    assert_eq!(run.parts("p", 1), [("cpu_copy", 1.0)]);
    assert_eq!((run.sources("p", 0), run.sources("p", 1)), ((0, GB), (GB, 0)));
}

#[test]
fn what_is_not_cached_is_read_first() {
    let run = case().cached("/data/f", "250 MB", "30 MB").process("p", &[READ]).run("wrench");
    assert_eq!(run.seconds("p", 0), 2.23, "220 MB from the device, then 30 MB from memory");
    assert_eq!(run.sources("p", 0), (30 * MB, 220 * MB));
    assert_eq!(run.file("/data/f").1, 250 * MB);
}

#[test]
fn offsets_do_not_matter() {
    let run = after(&["read = '/data/f', offset = '700 MB'", "read = '/data/f', size = '700 MB'", READ])
        .run("wrench");
    assert_eq!(
        run.all_seconds("p"),
        [3.0, 7.0, 1.0],
        "700 MB were not cached after the first read, whichever they are"
    );
}

#[test]
fn a_read_makes_room_for_its_pages_and_for_its_buffer() {
    let case = case().cached("/data/e", "9 GB", "9 GB").file("/data/f", "2 GB");
    let run = case.process("p", &[READ]).run("wrench");
    assert_eq!(run.file("/data/f").1, 2 * GB);
    assert_eq!(
        run.file("/data/e").1,
        7_900 * MB,
        "100 MB more than the pages of the file need: the buffer of a chunk"
    );
    assert_eq!(run.events_called("evict").len(), 11);
    assert_eq!(
        run.events_called("evict")[0],
        (9.0, "/data/f", 100 * MB),
        "an event names the file that is spared"
    );
}

#[test]
fn a_fresh_buffer_takes_memory_chunk_by_chunk() {
    let run = after(&["read = '/data/f', buffer = 'fresh'", "sleep = '1 s'"]).run("wrench");
    assert_eq!(run.memory_at(5.5).anonymous.0, 500 * MB);
    assert_eq!(run.memory_at(10.5).anonymous.0, GB);
}

#[test]
fn a_read_never_evicts_its_own_file() {
    let run = case()
        .file("/data/f", "2 GB")
        .set("machine.memory.size=1 GB")
        .process("p", &[READ, READ])
        .run("wrench");
    assert!(run.events_called("evict").is_empty());
    assert_eq!(run.all_seconds("p"), [20.0, 2.0], "the model's books allow more than the memory holds");
}

#[test]
fn eviction_takes_the_inactive_list_first() {
    let run = case()
        .file("/data/once", "4 GB")
        .file("/data/twice", "4 GB")
        .file("/data/new", "4 GB")
        .process(
            "p",
            &["read = '/data/twice'", "read = '/data/twice'", "read = '/data/once'", "read = '/data/new'"],
        )
        .run("wrench");
    assert_eq!(
        run.file("/data/twice").1,
        2_600 * MB,
        "1.4 GB of it were in the inactive list, before the other"
    );
    assert_eq!(run.file("/data/once").1, 3_300 * MB);
}

/// A file in both lists, read before others that need its memory.
fn active_then_others(vintage: &str) -> (u64, u64) {
    let run = case()
        .option("vintage", vintage)
        .file("/data/twice", "3 GB")
        .file("/data/new", "9 GB")
        .process("p", &["read = '/data/twice'", "read = '/data/twice'", "read = '/data/new'"])
        .run("wrench");
    (run.file("/data/twice").1, run.file("/data/new").1)
}

#[test]
fn only_camera_ready_evicts_the_active_list() {
    let (twice, new) = active_then_others("camera_ready");
    assert_eq!((twice, new), (900 * MB, 9 * GB));
    let (twice, new) = active_then_others("v1");
    assert!(twice > 900 * MB, "{twice} bytes of it are kept");
    assert_eq!(new, 9 * GB);
}

#[test]
fn a_read_that_finds_too_little_to_evict_has_dirty_blocks_written() {
    // 200 MB are dirty, half of them in either list after the read; 1 GB of memory is left for the cache.
    let operations = [
        "alloc = '9 GB'",
        "write = '/data/g', size = '200 MB'",
        "read = '/data/g'",
        "alloc = '800 MB'",
        "read = '/data/f', size = '100 MB'",
    ];
    let run = after(&operations).run("wrench");
    assert_eq!(run.parts("p", 4), [("device_read", 1.0), ("reclaim", 1.0)]);
    let (_, cached, dirty) = run.file("/data/g");
    assert_eq!((cached, dirty), (100 * MB, 100 * MB), "what was written was evicted at once");
}

#[test]
fn a_read_that_the_inactive_list_can_make_room_for_writes_nothing() {
    let operations = [
        "alloc = '9 GB'",
        "write = '/data/g', size = '200 MB'",
        "read = '/data/g'",
        "alloc = '700 MB'",
        "read = '/data/f', size = '100 MB'",
    ];
    let run = after(&operations).run("wrench");
    assert_eq!(run.parts("p", 4), [("device_read", 1.0)], "dirty blocks count as evictable, as published");
}

#[test]
fn blocks_read_again_go_to_the_active_list_as_one_and_half_of_them_come_back() {
    let run = case().file("/data/f", "300 MB").process("p", &[READ, READ]).run("wrench");
    let f = |size| ("/data/f", size * MB, false);
    // First read: inactive 100, 200, 300 MB. Second: each chunk goes to the active list; when it holds 300 MB and the
    // inactive one nothing, half of the difference moves back.
    assert_eq!(run.list("inactive"), [f(100), f(50)]);
    assert_eq!(run.list("active"), [f(50), f(100)]);
}

#[test]
fn dirty_blocks_stay_dirty_and_apart_when_they_are_read() {
    let run = case().process("p", &["write = '/data/g', size = '300 MB'", "read = '/data/g'"]).run("wrench");
    assert!(run.blocks.dirty.iter().all(|&dirty| dirty));
    assert_eq!(run.file("/data/g").2, 300 * MB);
    assert_eq!(run.seconds("p", 1), 0.3);
}

#[test]
fn two_readers_of_a_file_share_what_the_first_asked_for() {
    let run = case()
        .file("/data/f", "200 MB")
        .process("one", &[READ])
        .process("two", &["sleep = '0.5 s'", READ])
        .run("wrench");
    assert_eq!(
        run.sources("two", 1),
        (100 * MB, 100 * MB),
        "a block counts as cached while the disk still reads it"
    );
}

#[test]
fn a_chunk_may_be_of_any_size() {
    let seconds = |chunk: &str| after(&[READ]).option("chunk", chunk).run("wrench").seconds("p", 0);
    assert_eq!(["7 MB", "1 GB", "40 GB"].map(seconds), [10.0, 10.0, 10.0]);
}

#[test]
fn what_is_cached_before_comes_in_chunks() {
    let run = case().cached("/data/f", "1 GB", "250 MB").process("p", &["sleep = '1 s'"]).run("wrench");
    assert_eq!(run.list("inactive"), [100, 100, 50].map(|size| ("/data/f", size * MB, false)));
}

#[test]
fn a_chunk_that_was_not_cached_at_all_balances_the_lists_when_it_is_asked_for_and_not_again() {
    // From 0.3 to 1.3 s 300 MB are active, and at 0.8 s only the 100 MB that are being read stay inactive.
    let run = case()
        .cached("/data/a", "400 MB", "400 MB")
        .cached("/data/b", "300 MB", "300 MB")
        .file("/data/f", "100 MB")
        .process("p", &["read = '/data/b'", READ])
        .process("q", &["sleep = '800 ms'", "unlink = '/data/a'"])
        .run("wrench");
    assert_eq!(run.end("p", 1), 1.3);
    assert_eq!(run.list("active"), [("/data/b", 100 * MB, false); 3]);
    assert_eq!(run.list("inactive"), [("/data/f", 100 * MB, false)]);
}
