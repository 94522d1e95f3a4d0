//! The two rivals: without a cache, and with one that never ends.

use crate::common::{Case, GB, HOSTS, MB, case, on};

fn read_twice() -> Case {
    case().file("/data/f", "1 GB").process("p", &["read = '/data/f'", "read = '/data/f'"])
}

#[test]
fn without_a_cache_every_read_and_write_is_the_devices() {
    let case = read_twice().process_with(
        "q",
        "after = ['p']",
        &["write = '/data/g', size = '1 GB'", "fsync = '/data/g'"],
    );
    let run = case.run("no-cache");
    assert_eq!(run.all_seconds("p"), [10.0, 10.0]);
    assert_eq!(run.all_seconds("q"), [10.0, 0.0]);
    assert_eq!(run.parts("p", 1), [("device_read", 10.0)]);
    assert_eq!(run.parts("q", 0), [("device_write", 10.0)]);
    assert_eq!((run.sources("p", 1), run.sources("q", 0)), ((0, GB), (0, GB)));
    assert_eq!(run.memory_at(25.0).cached.0, 0);
    assert_eq!(run.memory_at(25.0).total.0, 10 * GB);
}

#[test]
fn without_a_cache_what_is_cached_before_does_not_help() {
    let run = case().cached("/data/f", "1 GB", "1 GB").process("p", &["read = '/data/f'"]).run("no-cache");
    assert_eq!((run.seconds("p", 0), run.file("/data/f").1), (10.0, 0));
}

#[test]
fn with_an_endless_cache_only_the_first_read_is_the_devices() {
    let run = read_twice().run("endless-cache");
    assert_eq!(run.all_seconds("p"), [10.0, 1.0]);
    assert_eq!(run.parts("p", 0), [("device_read", 10.0)]);
    assert_eq!(run.parts("p", 1), [("cpu_copy", 1.0)]);
    assert_eq!((run.sources("p", 0), run.sources("p", 1)), ((0, GB), (GB, 0)));
}

#[test]
fn an_endless_cache_has_no_limit_and_never_writes_back() {
    let run =
        case().process("p", &["write = '/data/g', size = '20 GB'", "fsync = '/data/g'"]).run("endless-cache");
    assert_eq!(run.all_seconds("p"), [20.0, 0.0]);
    assert_eq!(run.sources("p", 0), (20 * GB, 0));
    assert_eq!(run.file("/data/g"), (20 * GB, 20 * GB, 0));
    assert_eq!((run.memory_at(20.0).cached.0, run.memory_at(20.0).free().0), (20 * GB, 0));
    assert_eq!(run.memory_at(20.0).total.0, 10 * GB);
}

#[test]
fn an_endless_cache_knows_which_bytes_it_has() {
    let operations = ["read = '/data/f', offset = '500 MB', size = '200 MB'", "read = '/data/f'"];
    let run = case().file("/data/f", "1 GB").process("p", &operations).run("endless-cache");
    assert_eq!(run.sources("p", 1), (200 * MB, 800 * MB));
    assert_eq!(run.seconds("p", 1), 8.2, "the device first, then the copy");
    assert_eq!(run.parts("p", 1), [("cpu_copy", 0.2), ("device_read", 8.0)]);
}

#[test]
fn what_was_cached_before_is_the_beginning_of_the_file() {
    let operations = ["read = '/data/f', size = '400 MB'", "read = '/data/f', offset = '400 MB'"];
    let run = case().cached("/data/f", "1 GB", "400 MB").process("p", &operations).run("endless-cache");
    assert_eq!(run.all_seconds("p"), [0.4, 6.0]);
}

#[test]
fn a_read_under_way_is_not_cached_yet() {
    let run = case()
        .file("/data/f", "1 GB")
        .process("one", &["read = '/data/f'"])
        .process("two", &["sleep = '1 s'", "read = '/data/f'"])
        .run("endless-cache");
    assert_eq!(run.sources("two", 1), (0, GB));
}

#[test]
fn an_endless_cache_of_the_client_needs_the_server_once() {
    let run = on(HOSTS)
        .file("/remote/f", "1 GB")
        .process("p", &["read = '/remote/f'", "read = '/remote/f'"])
        .run("endless-cache");
    assert_eq!(run.all_seconds("p"), [10.0, 1.0]);
    assert_eq!(run.parts("p", 0), [("server", 10.0)]);
}

#[test]
fn write_through_makes_no_difference_to_a_rival() {
    let case = case().set("machine.mount.\"/data\".write_mode=through");
    let case = case.process("p", &["write = '/data/g', size = '1 GB'"]);
    assert_eq!(case.run("no-cache").seconds("p", 0), 10.0);
    assert_eq!(case.run("endless-cache").seconds("p", 0), 1.0);
}

#[test]
fn without_a_cache_o_direct_and_o_sync_change_nothing() {
    for flag in ["O_DIRECT", "O_SYNC", "O_DSYNC"] {
        let open = format!("open = '/data/g', create = true, flags = ['{flag}']");
        let operations = [&open, "write = '/data/g', size = '1024 MB'", "read = '/data/g'", "sync = true"];
        let run = case().process("p", &operations).run("no-cache");
        assert_eq!(run.all_seconds("p"), [0.0, 10.24, 10.24, 0.0]);
    }
}

#[test]
fn o_direct_goes_past_an_endless_cache() {
    let run = case()
        .file("/data/f", "1 GB")
        .process(
            "p",
            &[
                "read = '/data/f'",
                "open = '/data/f', flags = ['O_DIRECT']",
                "read = '/data/f'",
                "write = '/data/f', size = '512 MB'",
                "close = '/data/f'",
                "read = '/data/f'",
            ],
        )
        .run("endless-cache");
    assert_eq!(run.all_seconds("p"), [10.0, 0.0, 10.0, 5.12, 0.0, 5.608]);
    assert_eq!(run.parts("p", 2), [("device_read", 10.0)]);
    assert_eq!(run.parts("p", 3), [("device_write", 5.12)]);
    assert_eq!(run.sources("p", 5), (488 * MB, 512 * MB), "what was written directly is not cached");
}

#[test]
fn an_endless_cache_makes_nothing_durable() {
    let open = "open = '/data/g', create = true, flags = ['O_SYNC']";
    let run = case().process("p", &[open, "write = '/data/g', size = '1 GB'", "sync = true"]);
    assert_eq!(run.run("endless-cache").all_seconds("p"), [0.0, 1.0, 0.0]);
}
