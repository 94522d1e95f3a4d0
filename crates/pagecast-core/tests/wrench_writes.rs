//! Writes of the data-block model: Algorithm 3 of the WRENCH-cache paper.
//!
//! With 10 GB of memory and a ratio of 40 %, chunks of 100 MB go to the cache while dirty < 0.4 (10 GB - dirty): 29 of them.

use pagecast_core::result::Part;

use crate::common::{Case, GB, MB, case};

fn writer(operations: &[&str]) -> Case {
    case().process("p", operations)
}

fn write(size: &str) -> String {
    format!("write = '/data/g', size = '{size}'")
}

#[test]
fn below_the_dirty_limit_a_write_goes_at_the_speed_of_memory() {
    let run = writer(&[&write("2.9 GB")]).run("wrench");
    assert_eq!(run.parts("p", 0), [("cpu_copy", 2.9)]);
    assert_eq!(run.sources("p", 0), (2_900 * MB, 0));
    assert_eq!(run.file("/data/g"), (2_900 * MB, 2_900 * MB, 2_900 * MB));
}

#[test]
fn above_the_dirty_limit_each_chunk_waits_for_as_much_to_be_written() {
    let run = writer(&[&write("5 GB")]).run("wrench");
    assert_eq!(run.parts("p", 0), [("cpu_copy", 5.0), ("throttled", 21.0)]);
    assert_eq!(run.file("/data/g"), (5 * GB, 5 * GB, 2_900 * MB));
    assert_eq!(run.events_called("forced_flush").len(), 21);
    assert_eq!(run.events_called("forced_flush")[0], (2.9, "", 100 * MB));
}

#[test]
fn the_dirty_limit_is_a_share_of_what_anonymous_memory_leaves() {
    let run = writer(&["alloc = '5 GB'", &write("2 GB")]).run("wrench");
    assert_eq!(run.parts("p", 1), [("cpu_copy", 2.0), ("throttled", 5.0)], "15 chunks fit");
}

#[test]
fn the_clean_cache_counts_for_the_dirty_limit() {
    let run = writer(&[&write("2.9 GB")]).cached("/data/f", "5 GB", "5 GB").run("wrench");
    assert_eq!(run.seconds("p", 0), 2.9);
}

#[test]
fn the_dirty_ratio_is_the_kernels_setting_or_the_models_option() {
    let throttled = |case: Case| case.process("p", &[&write("1.5 GB")]).run("wrench").seconds("p", 0);
    assert_eq!(throttled(case().set("machine.vm.dirty_ratio=10")), 6.5, "10 chunks fit");
    assert_eq!(throttled(case().option("dirty_ratio", "10 %")), 6.5);
    assert_eq!(throttled(case().set("model.wrench.dirty_ratio=10 %")), 6.5);
    assert_eq!(throttled(case().set("model.wrench.dirty_ratio=10 %").option("dirty_ratio", "40 %")), 1.5);
}

#[test]
fn with_a_ratio_of_0_every_chunk_but_the_first_waits() {
    assert_eq!(writer(&[&write("500 MB")]).option("dirty_ratio", "0 %").run("wrench").seconds("p", 0), 4.5);
}

#[test]
fn a_chunk_that_begins_below_the_limit_may_cross_it() {
    let run = writer(&[&write("4 GB")]).option("chunk", "4 GB").run("wrench");
    assert_eq!(run.parts("p", 0), [("cpu_copy", 4.0)]);
}

#[test]
fn the_oldest_dirty_blocks_are_written_first_whosever_they_are() {
    let run = writer(&["write = '/data/old', size = '1 GB'", &write("2.5 GB")]).run("wrench");
    assert_eq!(run.file("/data/old"), (GB, GB, 400 * MB));
    assert_eq!(run.file("/data/g").2, 2_500 * MB);
}

#[test]
fn a_forced_flush_waits_for_all_devices_at_once() {
    let run = case()
        .set("machine.disk.slow={ size = '10 GB', read = '50 MB/s', write = '50 MB/s' }")
        .set("machine.mount.\"/slow\".disk=slow")
        .option("dirty_ratio", "1 %")
        .process(
            "p",
            &["write = '/data/a', size = '50 MB'", "write = '/slow/b', size = '50 MB'", &write("100 MB")],
        )
        .run("wrench");
    assert_eq!(
        run.parts("p", 2),
        [("cpu_copy", 0.1), ("throttled", 1.0)],
        "the slow disk takes a second, the other half of one"
    );
    assert_eq!(run.events_called("forced_flush"), [(0.1, "", 100 * MB)]);
    assert_eq!(run.memory_at(2.0).dirty.0, 100 * MB);
}

/// A write that must wait for so much to be written, with 50 MB dirty in the active list and then 50 MB in the inactive one.
fn flush_of_both_lists(size: &str) -> crate::common::Run {
    let older =
        ["write = '/data/a', size = '50 MB'", "read = '/data/a'", "write = '/data/b', size = '50 MB'"];
    let case = writer(&[&older[..], &[&write(size)]].concat()).cached("/data/e", "1 GB", "1 GB");
    case.option("dirty_ratio", "1 %").run("wrench")
}

#[test]
fn the_inactive_list_is_flushed_first() {
    let run = flush_of_both_lists("50 MB");
    assert_eq!((run.file("/data/a").2, run.file("/data/b").2), (50 * MB, 0));
    assert_eq!(run.part("p", 3, Part::Throttled), 0.5);
}

#[test]
fn the_active_list_is_flushed_when_the_inactive_one_has_been() {
    let run = flush_of_both_lists("100 MB");
    assert_eq!((run.file("/data/a").2, run.file("/data/b").2), (0, 0));
    let flushes = run.events_called("forced_flush");
    assert_eq!(flushes, [(0.15, "", 50 * MB), (0.65, "", 50 * MB)], "one after the other");
}

/// A file three times as large as the memory is written.
fn larger_than_memory(vintage: &str) -> crate::common::Run {
    writer(&[&write("3 GB")]).set("machine.memory.size=1 GB").option("vintage", vintage).run("wrench")
}

#[test]
fn camera_ready_never_evicts_the_file_that_is_written_and_then_writes_past_the_full_memory() {
    let run = larger_than_memory("camera_ready");
    // 3 chunks at once, 7 with a flush each, one with three flushes and past the cache, and 19 past it.
    assert_eq!(run.parts("p", 0), [("cpu_copy", 1.0), ("device_write", 20.0), ("throttled", 10.0)]);
    assert_eq!(run.sources("p", 0), (GB, 2 * GB));
    assert_eq!(run.file("/data/g"), (3 * GB, GB, 0));
}

#[test]
fn v1_evicts_the_file_that_is_written() {
    let run = larger_than_memory("v1");
    assert_eq!(run.parts("p", 0), [("cpu_copy", 3.0), ("throttled", 27.0)]);
    assert_eq!(run.file("/data/g"), (3 * GB, GB, 300 * MB));
    assert_eq!(run.events_called("evict").len(), 20);
    assert_eq!(run.events_called("evict")[0], (9.0, "", 100 * MB), "nobody is spared");
}

#[test]
fn with_no_memory_left_a_write_goes_past_the_cache() {
    let run = writer(&["alloc = '10 GB'", &write("1 GB")]).run("wrench");
    assert_eq!(run.parts("p", 1), [("device_write", 10.0)]);
    assert_eq!((run.sources("p", 1), run.file("/data/g")), ((0, GB), (GB, 0, 0)));
}

#[test]
fn a_write_evicts_clean_blocks_of_others() {
    let run = writer(&[&write("2 GB")]).cached("/data/f", "9 GB", "9 GB").run("wrench");
    assert_eq!(run.seconds("p", 0), 2.0);
    assert_eq!(run.file("/data/f").1, 8 * GB);
    assert_eq!(run.events_called("evict")[0], (1.0, "/data/g", 100 * MB));
}

#[test]
fn bytes_written_over_replace_the_old_ones() {
    let run = writer(&[&write("1 GB"), &write("1 GB")]).run("wrench");
    assert_eq!(run.file("/data/g"), (GB, GB, GB));
    assert_eq!(run.memory_at(9.0).dirty.0, GB);
    assert_eq!(run.memory_at(9.0).free().0, 9 * GB);
}

#[test]
fn bytes_written_behind_a_gap_are_cached_alone() {
    let run = writer(&["write = '/data/g', offset = '2 GB', size = '1 GB'"]).run("wrench");
    assert_eq!(run.file("/data/g"), (3 * GB, GB, GB));
}

#[test]
fn a_write_through_returns_when_the_device_has_it_and_leaves_clean_pages() {
    let through = "machine.mount.\"/data\".write_mode=through";
    let run = writer(&[&write("1 GB"), "fsync = '/data/g'", "read = '/data/g'"]).set(through).run("wrench");
    assert_eq!(run.all_seconds("p"), [10.0, 0.0, 1.0]);
    assert_eq!(run.parts("p", 0), [("device_write", 10.0)]);
    assert_eq!(run.sources("p", 0), (0, GB));
    assert_eq!(run.file("/data/g"), (GB, GB, 0));
    assert_eq!(run.memory_at(4.5).cached.0, 400 * MB, "a chunk is cached when the device has it");
}

#[test]
fn a_write_through_evicts_others_and_replaces_its_own_bytes() {
    let through = "machine.mount.\"/data\".write_mode=through";
    let case = writer(&[&write("2 GB"), &write("2 GB")]).cached("/data/f", "9 GB", "9 GB").set(through);
    let run = case.run("wrench");
    assert_eq!((run.file("/data/g").1, run.file("/data/f").1), (2 * GB, 8 * GB));
}

#[test]
fn two_writers_take_turns_chunk_by_chunk() {
    let case =
        case().process("one", &["write = '/data/f', size = '200 MB'"]).process("two", &[&write("200 MB")]);
    let run = case.run("wrench");
    let paths: Vec<&str> = run.list("inactive").iter().map(|block| block.0).collect();
    assert_eq!(paths, ["/data/f", "/data/g", "/data/f", "/data/g"]);
    assert_eq!((run.seconds("one", 0), run.seconds("two", 0)), (0.4, 0.4));
}

#[test]
fn memory_that_is_taken_evicts_clean_blocks() {
    let run = writer(&["alloc = '4 GB'"]).cached("/data/f", "9 GB", "9 GB").run("wrench");
    assert_eq!(run.file("/data/f").1, 6 * GB);
    assert_eq!(run.events_called("evict"), [(0.0, "", 3 * GB)]);
}

#[test]
fn a_synchronous_write_is_written_through() {
    let open = "open = '/data/g', create = true, flags = ['O_SYNC']";
    let run =
        case().process("p", &[open, "write = '/data/g', size = '1 GB'", "fsync = '/data/g'"]).run("wrench");
    assert_eq!(run.parts("p", 1), [("device_write", 10.0)]);
    assert_eq!(run.seconds("p", 2), 0.0);
    assert_eq!(run.file("/data/g"), (GB, GB, 0), "and stays in the cache, clean");
}

#[test]
fn sync_flushes_all_files() {
    let run = case()
        .process(
            "p",
            &["write = '/data/g', size = '1 GB'", "write = '/data/h', size = '500 MB'", "sync = true"],
        )
        .run("wrench");
    assert_eq!(run.parts("p", 2), [("device_write", 15.0)]);
    assert_eq!(run.events_called("forced_flush"), [(2.0 - 0.5, "", 1500 * MB)]);
    assert_eq!((run.file("/data/g").2, run.file("/data/h").2), (0, 0));
}

#[test]
fn sync_with_nothing_dirty_takes_no_time() {
    assert_eq!(case().process("p", &["sync = true"]).run("wrench").all_seconds("p"), [0.0]);
}

#[test]
fn o_direct_flushes_its_file_and_goes_past_the_cache() {
    let run = case()
        .process(
            "p",
            &[
                "write = '/data/g', size = '1024 MB'",
                "write = '/data/h', size = '500 MB'",
                "open = '/data/g', flags = ['O_DIRECT']",
                "read = '/data/g'",
                "write = '/data/g', size = '512 MB', offset = '1024 MB'",
                "write = '/data/g', size = '512 MB'",
            ],
        )
        .run("wrench");
    assert_eq!(run.parts("p", 3), [("device_read", 10.24), ("device_write", 10.24)]);
    assert_eq!(run.sources("p", 3), (0, 1024 * MB));
    assert_eq!(run.parts("p", 4), [("device_write", 5.12)]);
    assert_eq!(run.parts("p", 5), [("device_write", 5.12)]);
    // What was added is not cached; what was written over it has taken as much out of the cache.
    assert_eq!(run.file("/data/g").1, 1024 * MB);
    assert_eq!(run.file("/data/h"), (500 * MB, 500 * MB, 500 * MB), "no other file is flushed");
}
