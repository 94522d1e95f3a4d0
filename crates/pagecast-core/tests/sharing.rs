//! How processes share disks, memory, cores and links.

use pagecast_core::result::Part;

use crate::common::{Case, HOSTS, case, on};

/// A reader and a writer of one disk, with this setting of it.
fn reader_and_writer(setting: &str, read: &str, write: &str) -> (f64, f64) {
    let run = case()
        .file("/data/f", read)
        .process("reader", &["read = '/data/f'"])
        .process("writer", &[&format!("write = '/data/g', size = '{write}'")])
        .set(setting)
        .run("no-cache");
    (run.seconds("reader", 0), run.seconds("writer", 0))
}

/// So many processes that each do the same to a file of 600 MB of their own.
fn together(machine: Case, count: u32, operation: &str) -> Case {
    (1..=count).fold(machine, |case, n| {
        let case = case.cached(&format!("/data/f{n}"), "600 MB", "600 MB");
        case.process(&format!("p{n}"), &[&operation.replace("{n}", &n.to_string())])
    })
}

const READ: &str = "read = '/data/f{n}'";
const WRITE: &str = "write = '/data/g{n}', size = '600 MB'";

#[test]
fn two_readers_of_one_disk_take_twice_as_long() {
    assert_eq!(together(case(), 1, READ).run("no-cache").seconds("p1", 0), 6.0);
    assert_eq!(together(case(), 2, READ).run("no-cache").seconds("p1", 0), 12.0);
}

#[test]
fn readers_of_two_disks_do_not_meet() {
    let run = case()
        .set("machine.disk.other={ size = '10 GB', read = '50 MB/s', write = '50 MB/s' }")
        .set("machine.mount.\"/other\".disk=other")
        .file("/data/f", "1 GB")
        .file("/other/f", "1 GB")
        .process("one", &["read = '/data/f'"])
        .process("two", &["read = '/other/f'"])
        .run("no-cache");
    assert_eq!((run.seconds("one", 0), run.seconds("two", 0)), (10.0, 20.0));
}

#[test]
fn who_comes_later_takes_half_of_what_is_left() {
    let run = case()
        .file("/data/f", "1 GB")
        .file("/data/g", "1 GB")
        .process("first", &["read = '/data/f'"])
        .process("second", &["sleep = '5 s'", "read = '/data/g'"])
        .run("no-cache");
    assert_eq!(run.end("first", 0), 15.0, "500 MB alone, 500 MB at half the rate");
    assert_eq!(run.end("second", 1), 20.0, "500 MB at half the rate, 500 MB alone");
}

#[test]
fn in_total_reads_and_writes_get_the_faster_rate_and_each_at_most_its_own() {
    let slow_writes = "machine.disk.ssd.write=25 MB/s";
    assert_eq!(reader_and_writer(slow_writes, "750 MB", "250 MB"), (10.0, 10.0));
    let slow_reads = "machine.disk.ssd.read=40 MB/s";
    assert_eq!(reader_and_writer(slow_reads, "400 MB", "600 MB"), (10.0, 10.0));
    assert_eq!(reader_and_writer("machine.disk.ssd.sharing=total", "1 GB", "1 GB"), (20.0, 20.0));
}

#[test]
fn separate_reads_and_writes_do_not_disturb_each_other() {
    assert_eq!(reader_and_writer("machine.disk.ssd.sharing=separate", "1 GB", "500 MB"), (10.0, 5.0));
}

#[test]
fn shared_time_leaves_a_writer_the_time_that_a_reader_does_not_take() {
    let disk = "machine.disk.ssd={ size = '10 GB', read = '100 MB/s', write = '50 MB/s', sharing = 'time' }";
    // At x MB/s each: x / 100 + x / 50 = 1.
    assert_eq!(reader_and_writer(disk, "1 GB", "1 GB"), (30.0, 30.0));
}

#[test]
fn the_total_read_rate_follows_the_number_of_readers() {
    let seconds = |readers| {
        let curve = r#"machine.disk.ssd.read_at={ "1" = "60 MB/s", "2" = "100 MB/s", "4" = "200 MB/s" }"#;
        together(case().set(curve), readers, READ).run("no-cache").seconds("p1", 0)
    };
    assert_eq!([1, 2, 3, 4, 5].map(seconds), [10.0, 12.0, 12.0, 12.0, 15.0]);
}

#[test]
fn the_total_write_rate_follows_the_number_of_writers() {
    let seconds = |writers| {
        let curve = r#"machine.disk.ssd.write_at={ "2" = "50 MB/s", "3" = "100 MB/s" }"#;
        together(case().set(curve), writers, WRITE).run("no-cache").seconds("p1", 0)
    };
    assert_eq!([1, 2, 3, 4].map(seconds), [12.0, 24.0, 18.0, 24.0]);
}

#[test]
fn a_curve_for_reads_lifts_what_reads_and_writes_reach_together() {
    let run = case()
        .set(r#"machine.disk.ssd.read_at={ "1" = "100 MB/s", "2" = "160 MB/s" }"#)
        .file("/data/f", "800 MB")
        .process("reader", &["read = '/data/f'"])
        .process("writer", &["write = '/data/g', size = '800 MB'"])
        .run("no-cache");
    assert_eq!((run.seconds("reader", 0), run.seconds("writer", 0)), (10.0, 10.0));
}

#[test]
fn readers_of_the_cache_share_the_memory() {
    assert_eq!(together(case(), 1, READ).run("endless-cache").seconds("p1", 0), 0.6);
    assert_eq!(together(case(), 3, READ).run("endless-cache").seconds("p1", 0), 1.8);
}

#[test]
fn one_thread_copies_at_its_own_rate_at_most() {
    let seconds = |threads, operation| {
        let machine = case().set("machine.memory.per_thread=400 MB/s");
        together(machine, threads, operation).run("endless-cache").seconds("p1", 0)
    };
    assert_eq!([1, 2, 3].map(|threads| seconds(threads, READ)), [1.5, 1.5, 1.8]);
    assert_eq!([1, 2, 3].map(|threads| seconds(threads, WRITE)), [1.5, 1.5, 1.8]);
}

#[test]
fn memory_is_shared_by_reads_and_writes_as_the_machine_says() {
    let seconds = |sharing: &str| {
        let run = case()
            .set("machine.memory.write=500 MB/s")
            .set(&format!("machine.memory.sharing={sharing}"))
            .cached("/data/f", "600 MB", "600 MB")
            .process("reader", &["read = '/data/f'"])
            .process("writer", &["write = '/data/g', size = '600 MB'"])
            .run("endless-cache");
        (run.seconds("reader", 0), run.seconds("writer", 0))
    };
    assert_eq!(seconds("total"), (1.2, 1.2));
    assert_eq!(seconds("separate"), (0.6, 1.2));
    assert_eq!(seconds("time"), (1.8, 1.8));
}

#[test]
fn more_runnable_processes_than_cores_share_them() {
    let seconds = |count| together(case(), count, "compute = '1 s'").run("no-cache").seconds("p1", 0);
    assert_eq!([1, 2, 3, 4].map(seconds), [1.0, 1.0, 1.5, 2.0]);
}

#[test]
fn a_sleeper_takes_no_core() {
    let run = together(case(), 2, "compute = '1 s'").process("sleeper", &["sleep = '1 s'"]).run("no-cache");
    assert_eq!((run.seconds("p1", 0), run.seconds("sleeper", 0)), (1.0, 1.0));
}

#[test]
fn a_link_narrower_than_the_disk_is_the_limit_of_both_directions_together() {
    let run = on(HOSTS)
        .set("link.lan.rate=50 MB/s")
        .set("link.lan.sharing=shared")
        .file("/remote/f", "250 MB")
        .process("reader", &["read = '/remote/f'"])
        .process("writer", &["write = '/remote/g', size = '250 MB'"])
        .run("no-cache");
    assert_eq!((run.seconds("reader", 0), run.seconds("writer", 0)), (10.0, 10.0));
    assert_eq!(run.part("reader", 0, Part::Network), 10.0);
}

#[test]
fn a_disk_narrower_than_the_link_is_the_limit_of_both_hosts() {
    let run = on(HOSTS)
        .file("/remote/f", "500 MB")
        .process("there", &["read = '/remote/f'"])
        .process_with("here", "host = 'server'", &["read = '/export/f'"])
        .run("no-cache");
    assert_eq!((run.seconds("there", 0), run.seconds("here", 0)), (10.0, 10.0));
    assert_eq!(run.parts("there", 0), [("server", 10.0)]);
    assert_eq!(run.parts("here", 0), [("device_read", 10.0)]);
}

#[test]
fn hosts_have_cores_and_memory_of_their_own() {
    let run = on(HOSTS)
        .set("host.server.cores=1")
        .process("a", &["compute = '1 s'", "alloc = '8 GB'"])
        .process_with("b", "host = 'server'", &["compute = '1 s'", "alloc = '8 GB'"])
        .process_with("c", "host = 'server'", &["compute = '1 s'"])
        .run("no-cache");
    assert_eq!(["a", "b", "c"].map(|name| run.seconds(name, 0)), [1.0, 2.0, 2.0]);
}

/// Three processes that had nothing to do with each other began to read at the same time, from a disk with a limiter. The first of them in
/// the file had all that passes at once; with the processes in another order others did, and all times changed.
#[test]
fn a_burst_is_shared_by_all_who_come_at_one_instant_whatever_their_order() {
    let read = |order: [&str; 3], model: &str, by_steps: bool| {
        let case = case().set("machine.disk.ssd.burst=2 s");
        let case = case.file("/data/a", "300 MB").file("/data/b", "300 MB").file("/data/c", "20 MB");
        let case =
            order.iter().fold(case, |case, name| case.process(name, &[&format!("read = '/data/{name}'")]));
        let run = if by_steps { case.run_by_steps(model) } else { case.run(model) };
        ["a", "b", "c"].map(|name| run.seconds(name, 0))
    };
    for model in ["kernel", "wrench", "no-cache"] {
        let seconds = read(["a", "b", "c"], model, false);
        for order in [["b", "a", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
            assert_eq!(read(order, model, false), seconds, "{model}: {order:?}");
        }
        // 200 MB pass as fast as memory copies, all of c among them; the rest of a and b share the disk.
        let expected = [4.2, 4.2, if model == "kernel" { 0.06 } else { 0.0 }];
        let stepped = read(["b", "c", "a"], model, true);
        for (found, expected) in seconds.into_iter().chain(stepped).zip(expected.into_iter().cycle()) {
            assert!((found - expected).abs() < 0.01, "{model}: {found} instead of {expected}");
        }
    }
}
