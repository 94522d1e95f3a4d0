//! What each operation does to files, memory and the clock.

use crate::common::{Case, GB, MB, Run, case, linux};

/// One process, these operations, on a cold file "/data/f" of 1 GB.
fn after(operations: &[&str]) -> Case {
    case().file("/data/f", "1 GB").process("p", operations)
}

fn run(model: &str, operations: &[&str]) -> Run {
    after(operations).run(model)
}

const WRITE_1_GB: &str = "write = '/data/g', size = '1 GB'";

#[test]
fn open_and_close_take_no_time() {
    let run = run("no-cache", &["open = '/data/f'", "close = '/data/f'", "read = '/data/f'"]);
    assert_eq!(run.all_seconds("p"), [0.0, 0.0, 10.0]);
}

#[test]
fn open_makes_an_empty_file_if_it_may() {
    assert_eq!(run("wrench", &["open = '/data/g', create = true"]).file("/data/g"), (0, 0, 0));
}

#[test]
fn open_leaves_a_file_that_is_there_as_it_is() {
    assert_eq!(run("no-cache", &["open = '/data/f', create = true"]).file("/data/f"), (GB, 0, 0));
}

#[test]
fn open_with_truncate_empties_a_file_and_drops_its_pages_unwritten() {
    let operations = [WRITE_1_GB, "open = '/data/g', truncate = true", "fsync = '/data/g'"];
    let run = run("wrench", &operations);
    assert_eq!(run.file("/data/g"), (0, 0, 0));
    assert_eq!(run.seconds("p", 2), 0.0, "nothing is left to write");
    assert_eq!(run.memory_at(2.0).used().0, 0);
}

#[test]
fn a_read_goes_to_the_end_of_the_file_unless_it_says_how_far() {
    let operations = ["read = '/data/f'", "read = '/data/f', offset = '400 MB'"];
    assert_eq!(run("no-cache", &operations).all_seconds("p"), [10.0, 6.0]);
    let part = ["read = '/data/f', offset = '400 MB', size = '300 MB'"];
    assert_eq!(run("no-cache", &part).all_seconds("p"), [3.0]);
}

#[test]
fn offsets_and_sizes_are_in_the_table() {
    let run = run(
        "no-cache",
        &["read = '/data/f', offset = '400 MB'", "write = '/data/f', size = '1 B', append = true"],
    );
    assert_eq!(run.operations.offset, [400 * MB, GB]);
    assert_eq!(run.operations.bytes, [600 * MB, 1]);
}

#[test]
fn reading_an_empty_file_takes_no_time() {
    for model in pagecast_core::MODELS {
        let run = run(model, &["open = '/data/g', create = true", "read = '/data/g', buffer = 'fresh'"]);
        assert_eq!(run.seconds("p", 1), 0.0, "{model}");
    }
}

#[test]
fn a_write_begins_at_the_start_and_does_not_shrink_a_file() {
    let run = run("no-cache", &["write = '/data/f', size = '300 MB'"]);
    assert_eq!((run.file("/data/f").0, run.seconds("p", 0)), (GB, 3.0));
}

#[test]
fn a_write_grows_a_file_by_what_is_beyond_its_end() {
    let run = run("no-cache", &["write = '/data/f', offset = '800 MB', size = '500 MB'"]);
    assert_eq!(run.file("/data/f").0, 1300 * MB);
}

#[test]
fn an_append_begins_at_the_end() {
    let run = run("no-cache", &["write = '/data/f', size = '500 MB', append = true"]);
    assert_eq!((run.file("/data/f").0, run.operations.offset[0]), (1500 * MB, GB));
}

#[test]
fn a_file_has_its_new_size_when_the_write_has_ended() {
    let case = case()
        .process("writer", &["open = '/data/g', create = true", WRITE_1_GB])
        .process("early", &["sleep = '9 s'", "read = '/data/g'"])
        .process("late", &["sleep = '11 s'", "read = '/data/g'"]);
    let run = case.run("no-cache");
    assert_eq!((run.seconds("early", 1), run.seconds("late", 1)), (0.0, 10.0));
}

#[test]
fn fsync_writes_what_is_dirty_and_only_once() {
    let run = run("wrench", &[WRITE_1_GB, "fsync = '/data/g'", "fsync = '/data/g'"]);
    assert_eq!(run.all_seconds("p"), [1.0, 10.0, 0.0]);
    assert_eq!(run.parts("p", 1), [("device_write", 10.0)]);
    assert_eq!(run.file("/data/g"), (GB, GB, 0), "written, and still cached");
}

#[test]
fn fsync_writes_its_own_file_alone() {
    let run = run("wrench", &[WRITE_1_GB, "write = '/data/h', size = '500 MB'", "fsync = '/data/h'"]);
    assert_eq!(run.seconds("p", 2), 5.0);
    assert_eq!((run.file("/data/g").2, run.file("/data/h").2), (GB, 0));
}

#[test]
fn fsync_of_a_clean_file_takes_no_time() {
    for model in pagecast_core::MODELS {
        assert_eq!(run(model, &["read = '/data/f'", "fsync = '/data/f'"]).seconds("p", 1), 0.0, "{model}");
    }
}

#[test]
fn truncate_cuts_and_extends() {
    assert_eq!(run("no-cache", &["truncate = '/data/f', size = '300 MB'"]).file("/data/f").0, 300 * MB);
    assert_eq!(run("no-cache", &["truncate = '/data/f', size = '3 GB'"]).file("/data/f").0, 3 * GB);
}

#[test]
fn truncate_drops_the_pages_beyond_the_new_size() {
    for model in ["wrench", "endless-cache"] {
        let cut = run(model, &["read = '/data/f'", "truncate = '/data/f', size = '300 MB'"]);
        assert_eq!(cut.file("/data/f"), (300 * MB, 300 * MB, 0), "{model}");
        let extended = run(model, &["read = '/data/f'", "truncate = '/data/f', size = '3 GB'"]);
        assert_eq!(extended.file("/data/f"), (3 * GB, GB, 0), "{model}");
    }
}

#[test]
fn an_unlinked_file_is_gone_with_its_pages() {
    for model in ["wrench", "endless-cache"] {
        let run = run(model, &["read = '/data/f'", "unlink = '/data/f'"]);
        assert_eq!(run.files.path.len(), 0, "{model}");
        assert_eq!(run.memory_at(20.0).cached.0, 0, "{model}");
    }
}

#[test]
fn a_file_written_after_unlink_is_new() {
    let run = run(
        "endless-cache",
        &["read = '/data/f'", "unlink = '/data/f'", "write = '/data/f', size = '300 MB'"],
    );
    assert_eq!(run.file("/data/f"), (300 * MB, 300 * MB, 0));
}

#[test]
fn unlink_and_truncate_free_disk_space() {
    let small = |between: &str| {
        after(&[between, "write = '/data/g', size = '1500 MB'"])
            .set("machine.disk.ssd.size=2 GB")
            .simulate("no-cache")
    };
    assert!(small("open = '/data/f'").is_err(), "1 GB and 1.5 GB do not fit");
    assert!(small("unlink = '/data/f'").is_ok());
    assert!(small("truncate = '/data/f', size = '500 MB'").is_ok());
    assert!(small("open = '/data/f', truncate = true").is_ok());
}

#[test]
fn drop_caches_leaves_dirty_pages() {
    let run = run("wrench", &["read = '/data/f'", WRITE_1_GB, "drop_caches = true"]);
    assert_eq!(run.file("/data/f"), (GB, 0, 0));
    assert_eq!(run.file("/data/g"), (GB, GB, GB));
}

#[test]
fn after_fsync_and_drop_caches_a_read_is_cold() {
    let operations = [WRITE_1_GB, "fsync = '/data/g'", "drop_caches = true", "read = '/data/g'"];
    assert_eq!(run("wrench", &operations).seconds("p", 3), 10.0);
    let operations = [WRITE_1_GB, "drop_caches = true", "read = '/data/g'"];
    assert_eq!(run("endless-cache", &operations).all_seconds("p"), [1.0, 0.0, 10.0]);
}

#[test]
fn dontneed_drops_the_clean_pages_of_one_file() {
    for model in ["wrench", "endless-cache"] {
        let operations = ["read = '/data/f'", "read = '/data/e'", "fadvise = '/data/f', advice = 'dontneed'"];
        let run = after(&operations).file("/data/e", "500 MB").run(model);
        assert_eq!((run.file("/data/f").1, run.file("/data/e").1), (0, 500 * MB), "{model}");
        assert_eq!(run.memory_at(100.0).cached.0, 500 * MB, "{model}");
    }
    let dirty = run("wrench", &[WRITE_1_GB, "fadvise = '/data/g', advice = 'dontneed'"]);
    assert_eq!(dirty.file("/data/g"), (GB, GB, GB), "dirty pages stay");
}

#[test]
fn other_advice_changes_nothing() {
    for advice in ["willneed", "sequential", "random", "normal"] {
        let run = run("wrench", &["read = '/data/f'", &format!("fadvise = '/data/f', advice = '{advice}'")]);
        assert_eq!((run.file("/data/f").1, run.seconds("p", 1)), (GB, 0.0), "{advice}");
    }
}

#[test]
fn memory_is_taken_given_back_and_freed_on_exit() {
    for model in pagecast_core::MODELS {
        let operations = ["alloc = '3 GB'", "sleep = '1 s'", "free = '1 GB'", "sleep = '1 s'"];
        let run = after(&operations).process("q", &["sleep = '5 s'"]).run(model);
        let anonymous = [0.5, 1.5, 2.5].map(|time| run.memory_at(time).anonymous.0);
        assert_eq!(anonymous, [3 * GB, 2 * GB, 0], "{model}");
    }
}

#[test]
fn free_gives_back_at_most_what_is_held() {
    for free in ["free = 'all'", "free = '9 GB'"] {
        let run = run("wrench", &["alloc = '3 GB'", free, "sleep = '1 s'"]);
        assert_eq!((run.operations.bytes[1], run.memory_at(0.5).anonymous.0), (3 * GB, 0), "{free}");
    }
}

#[test]
fn freed_memory_can_be_taken_again() {
    run(
        "no-cache",
        &["alloc = '9 GB'", "free = '5 GB'", "alloc = '6 GB'", "free = 'all'", "alloc = '10 GB'"],
    );
    let second = "after = ['p']";
    after(&["alloc = '10 GB'"]).process_with("q", second, &["alloc = '10 GB'"]).run("no-cache");
}

#[test]
fn a_fresh_buffer_is_memory_until_it_is_freed_and_a_reused_one_is_none() {
    for model in pagecast_core::MODELS {
        let operations =
            ["read = '/data/f', buffer = 'fresh'", "sleep = '1 s'", "free = 'all'", "sleep = '1 s'"];
        let run = run(model, &operations);
        assert_eq!(run.memory_at(10.5).anonymous.0, GB, "{model}");
        assert_eq!(run.memory_at(11.5).anonymous.0, 0, "{model}");
        let reused = self::run(model, &["read = '/data/f'", "sleep = '1 s'"]);
        assert_eq!(reused.memory_at(10.5).anonymous.0, 0, "{model}");
    }
}

#[test]
fn compute_and_sleep_take_their_time() {
    let run = run("no-cache", &["compute = '1.5 s'", "sleep = '2.5 s'", "compute = '0 s'", "sleep = '0 s'"]);
    assert_eq!(run.all_seconds("p"), [1.5, 2.5, 0.0, 0.0]);
    assert_eq!(run.parts("p", 0), [("compute", 1.5)]);
    assert_eq!(run.parts("p", 1), [("sleep", 2.5)]);
}

/// `fs/read_write.c: vfs_readv, vfs_writev`: the page cache sees one call, whose bytes it copies place by place.
#[test]
fn a_call_with_many_places_is_one_call() {
    for model in pagecast_core::MODELS.into_iter().filter(|&model| model != "cawl") {
        let seconds = |vector: u32| {
            let with =
                |operation: &str| format!("{operation}, size = '16 MiB', call = '64 KiB', vector = {vector}");
            let operations = [with("write = '/data/g'"), with("read = '/data/g'")];
            let operations: Vec<&str> = operations.iter().map(String::as_str).collect();
            linux()
                .set("machine.memory.cost.call=10 us")
                .process("p", &operations)
                .run(model)
                .all_seconds("p")
        };
        assert_eq!(seconds(1), seconds(16), "{model}");
    }
    let refused = linux().process("p", &["write = '/data/g', size = '1 MB', vector = 1025"]).scenario();
    assert!(refused.is_err_and(|error| error.to_string().contains("`vector` is the number 1025")));
}
