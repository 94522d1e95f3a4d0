//! A disk with a write cache: 300 MB go at 400 MB/s, and what holds is 100 MB/s.
//!
//! Alone a writer fills 300 MB of room at 400 - 100 MB/s, in 1 s, in which it writes 400 MB.

use crate::common::{Case, HOSTS, case, linux, on};

const CACHE: &str = "write_cache={ size = '300 MB', rate = '400 MB/s' }";

fn cached(case: Case) -> Case {
    case.set(&format!("machine.disk.ssd.{CACHE}"))
}

fn write(file: &str, size: &str) -> String {
    format!("write = '/data/{file}', size = '{size}'")
}

#[test]
fn what_fits_goes_at_the_rate_of_the_cache_and_the_rest_at_that_of_the_disk() {
    let seconds = |size| cached(case()).process("p", &[&write("f", size)]).run("no-cache").seconds("p", 0);
    assert_eq!(seconds("200 MB"), 0.5);
    assert_eq!(seconds("400 MB"), 1.0);
    assert_eq!(seconds("1 GB"), 1.0 + 6.0);
}

#[test]
fn idle_time_makes_room_but_no_more_than_there_is() {
    let operations =
        [&write("f", "1 GB"), "sleep = '1 s'", &write("g", "400 MB"), "sleep = '9 s'", &write("h", "1 GB")];
    let run = cached(case()).process("p", &operations).run("no-cache");
    // 100 MB of room end after 1/3 s, in which 133 MB are written; 267 MB at 100 MB/s.
    let expected = [7.0, 1.0, 3.0, 9.0, 7.0];
    for (actual, expected) in run.all_seconds("p").into_iter().zip(expected) {
        assert!((actual - expected).abs() < 1e-8, "{actual} s instead of {expected} s");
    }
}

#[test]
fn a_cache_may_be_emptied_more_slowly_than_the_disk_writes() {
    let operations = [&write("f", "1 GB"), "sleep = '3 s'", &write("g", "400 MB")];
    let case = cached(case()).set("machine.disk.ssd.write_cache.drain=50 MB/s");
    let run = case.process("p", &operations).run("no-cache");
    // 300 MB of room at 400 - 50 MB/s: 343 MB in 0.857 s, 657 MB in 6.571 s. Then 150 MB: 171 MB in 0.429 s, 229 MB in 2.286 s.
    let fast = |room: f64, all: f64| room / 350.0 + (all - 400.0 * room / 350.0) / 100.0;
    for (actual, expected) in
        [(run.seconds("p", 0), fast(300.0, 1000.0)), (run.seconds("p", 2), fast(150.0, 400.0))]
    {
        assert!((actual - expected).abs() < 1e-8, "{actual} s instead of {expected} s");
    }
}

#[test]
fn two_writers_share_the_room() {
    let run = cached(case())
        .process("a", &[&write("f", "200 MB")])
        .process("b", &[&write("g", "800 MB")])
        .run("no-cache");
    assert_eq!((run.end("a", 0), run.end("b", 0)), (1.0, 7.0));
}

#[test]
fn reads_share_the_disk_as_it_writes_at_the_moment() {
    let ends = |sharing: &str| {
        let run = cached(case())
            .set(&format!("machine.disk.ssd.sharing={sharing}"))
            .file("/data/f", "1 GB")
            .process("reader", &["read = '/data/f'"])
            .process("writer", &[&write("g", "600 MB")])
            .run("no-cache");
        (run.end("reader", 0), run.end("writer", 0))
    };
    assert_eq!(ends("separate"), (10.0, 3.0));
    // Of 400 MB/s together the reader has its 100, which leaves no time to empty the cache: full after 1 s. Then 50 each.
    assert_eq!(ends("total"), (13.0, 7.0));
    // 80 each are 4/5 and 1/5 of the time. Of the disk's own rate that leaves 20 to empty the cache: full after 5 s. Then 50 each.
    assert_eq!(ends("time"), (13.0, 9.0));
}

#[test]
fn room_grows_beside_writes_that_something_else_holds_back() {
    let run = on(HOSTS)
        .set(&format!("host.server.disk.ssd.{CACHE}"))
        .set("link.lan.rate=50 MB/s")
        .process_with("client", "host = 'client'", &["sleep = '7 s'", "write = '/remote/f', size = '500 MB'"])
        .process_with(
            "server",
            "host = 'server'",
            &["write = '/export/g', size = '1 GB'", "sleep = '10 s'", "write = '/export/h', size = '400 MB'"],
        )
        .run("no-cache");
    assert_eq!((run.seconds("server", 0), run.seconds("client", 1)), (7.0, 10.0));
    assert_eq!(run.seconds("server", 2), 1.0, "300 MB of room were there after 6 of the 10 s");
}

#[test]
fn direct_writes_and_write_back_see_it_too() {
    let direct =
        ["open = '/data/f', flags = ['O_DIRECT']", "write = '/data/f', size = '1000 MiB', call = '1 MiB'"];
    let run = cached(linux()).file("/data/f", "1 GB").process("p", &direct).run("kernel");
    let expected = (1000.0 * 1.048_576 - 300.0) / 100.0;
    assert!((run.seconds("p", 1) - expected).abs() < 1e-3, "{} s", run.seconds("p", 1));
    // 1 GB is written in 1 s to the page cache, and nothing of it to the disk before the fsync.
    let buffered = [&write("f", "900 MB"), "fsync = '/data/f'"];
    let seconds = |case: Case| case.process("p", &buffered).run("kernel").seconds("p", 1);
    let (with, without) = (seconds(cached(linux())), seconds(linux()));
    assert!((without - with - 3.0).abs() < 0.01, "{without} s become {with} s: 300 MB are in the cache");
}
