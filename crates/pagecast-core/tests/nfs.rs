//! Other hosts' files under the data-block model: a request, then chunks that go through three overlapping stages. Of both models: memory of readers.
//!
//! On [`HOSTS`] the stages of a chunk of 100 MB take 1 s at the server's disk (0.1 s from its cache), 0.25 s on the link
//! and 0.1 s into the client's memory; a message of 1 kB takes 2.56 us.

use pagecast_core::result::Part;

use crate::common::{Case, GB, HOSTS, MB, Run, on};

const MESSAGE: f64 = 2.56e-6;

fn client(operations: &[&str]) -> Case {
    on(HOSTS).file("/remote/f", "300 MB").process("p", operations)
}

const READ: &str = "read = '/remote/f'";
const FRESH: &str = "read = '/remote/f', buffer = 'fresh'";
const SLEEP: &str = "sleep = '1 s'";
const WRITE: &str = "write = '/remote/g', size = '300 MB'";

/// To the nanosecond.
fn same(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1.5e-9, "{actual} instead of {expected}");
}

#[test]
fn the_stages_of_a_cold_read_overlap() {
    let run = client(&[READ]).run("wrench");
    same(run.seconds("p", 0), MESSAGE + 3.0 + 0.25 + 0.1);
    assert_eq!(run.parts("p", 0), [("cpu_copy", 0.1), ("network", 0.25000256), ("server", 3.0)]);
    assert_eq!(run.sources("p", 0), (0, 300 * MB));
}

#[test]
fn the_link_is_the_limit_when_the_server_has_it_cached() {
    let run = client(&[READ, "drop_caches = true", READ]).run("wrench");
    same(run.seconds("p", 2), MESSAGE + 0.1 + 3.0 * 0.25 + 0.1);
    assert_eq!(run.parts("p", 2), [("cpu_copy", 0.1), ("network", 0.75000256), ("server", 0.1)]);
}

#[test]
fn what_the_client_has_cached_it_does_not_ask_for() {
    let run = client(&[READ, READ]).run("wrench");
    assert_eq!(run.parts("p", 1), [("cpu_copy", 0.3)]);
    assert_eq!(run.sources("p", 1), (300 * MB, 0));
}

#[test]
fn a_file_that_is_cached_in_part_comes_from_the_server_as_a_whole() {
    let run = client(&["read = '/remote/f', size = '200 MB'", READ]).run("wrench");
    same(run.seconds("p", 1), MESSAGE + 1.0 + 3.0 * 0.25 + 0.1); // the server reads first what it has not cached
    assert_eq!(run.file("/remote/f").1, 300 * MB, "nothing is there twice");
}

#[test]
fn a_write_is_a_request_and_its_answer_two_stages_and_an_acknowledgement() {
    let run = client(&[WRITE]).run("wrench");
    same(run.seconds("p", 0), 2.0 * MESSAGE + 0.25 + 3.0 + MESSAGE);
    assert_eq!(run.parts("p", 0), [("network", 0.25000768), ("server", 3.0)]);
    assert_eq!(run.sources("p", 0), (0, 300 * MB));
}

#[test]
fn the_client_does_not_cache_what_it_writes_and_the_server_does() {
    let run = client(&[WRITE, "read = '/remote/g'"]).run("wrench");
    same(run.seconds("p", 1), MESSAGE + 0.1 + 3.0 * 0.25 + 0.1);
    let server =
        client(&[WRITE]).process_with("s", "host = 'server'\nafter = ['p']", &["read = '/export/g'"]);
    assert_eq!(server.run("wrench").seconds("s", 0), 0.3);
}

#[test]
fn the_last_chunk_is_what_is_left() {
    let operations = ["read = '/remote/f', size = '250 MB'", "write = '/remote/g', size = '250 MB'"];
    let run = client(&operations).run("wrench");
    same(run.seconds("p", 0), MESSAGE + 2.5 + 0.125 + 0.05);
    same(run.seconds("p", 1), 2.0 * MESSAGE + 0.25 + 2.5 + MESSAGE);
    assert_eq!((run.file("/remote/f").1, run.file("/remote/g").0), (250 * MB, 250 * MB));
}

#[test]
fn each_message_and_chunk_waits_for_the_latency() {
    let read = |latency: &str| client(&[READ]).set(&format!("link.lan.latency={latency}")).run("wrench");
    same(read("10 ms").seconds("p", 0) - read("0 s").seconds("p", 0), 0.02);
    assert_eq!(read("10 ms").parts("p", 0), [("cpu_copy", 0.1), ("network", 0.27000256), ("server", 3.0)]);
    let write = |latency: &str| {
        client(&[WRITE]).set(&format!("link.lan.latency={latency}")).run("wrench").seconds("p", 0)
    };
    same(write("10 ms") - write("0 s"), 0.04);
}

#[test]
fn the_latency_between_chunks_counts_when_the_link_is_the_limit() {
    let case = client(&[READ, "drop_caches = true", READ]).set("link.lan.latency=10 ms");
    same(case.run("wrench").seconds("p", 2), 0.01 + MESSAGE + 0.1 + 3.0 * 0.26 + 0.1);
}

#[test]
fn a_slow_client_is_the_limit() {
    let case = client(&[READ, "drop_caches = true", READ]).set("host.client.memory.write=100 MB/s");
    same(case.run("wrench").seconds("p", 2), MESSAGE + 0.1 + 0.25 + 3.0);
}

#[test]
fn a_stage_runs_at_most_two_chunks_ahead_of_the_next() {
    // The client takes 10 s for a chunk. Meanwhile a second one has arrived, and two more wait to be sent: the server
    // has read four by 4 s. It reads the next when the client has taken the first and the link has carried a third.
    let case = on(HOSTS)
        .set("host.client.memory={ size = '10 GB', read = '10 MB/s', write = '10 MB/s' }")
        // The server's timeline then has a row for each chunk that it has read.
        .set("model.wrench.remote_memory=server")
        .file("/remote/f", "800 MB")
        .process("p", &[READ]);
    let run = case.run("wrench");
    let reads: Vec<f64> = (0..run.timeline.time.len())
        .filter(|&row| run.timeline.host[row] == 1 && run.timeline.levels[row].cached.0 > 0)
        .map(|row| run.timeline.time[row].as_seconds().floor())
        .collect();
    let mut busy = reads.clone();
    busy.dedup();
    assert_eq!(busy, [0.0, 1.0, 2.0, 3.0, 4.0, 11.0, 12.0, 21.0, 22.0, 31.0, 32.0, 41.0, 42.0]);
}

#[test]
fn two_clients_share_the_servers_disk() {
    let case = on(HOSTS).file("/remote/f", "300 MB").file("/remote/g", "300 MB");
    let run = case.process("one", &[READ]).process("two", &["read = '/remote/g'"]).run("wrench");
    let alone = client(&[READ]).run("wrench").seconds("p", 0);
    assert!((run.seconds("one", 0) - alone - 3.0).abs() < 0.5, "{}", run.seconds("one", 0));
}

#[test]
fn of_chunks_that_arrive_at_once_the_last_sent_is_served_first() {
    let case = ["f", "g", "h", "i"].iter().fold(on(HOSTS), |case, name| {
        let path = format!("/remote/{name}");
        case.file(&path, "100 MB").process(name, &[&format!("read = '{path}'")])
    });
    let run = case.run("wrench");
    let at_client: Vec<&str> = (0..run.blocks.bytes.len())
        .filter(|&row| run.blocks.host[row] == 0)
        .map(|row| &*run.paths[run.blocks.path[row] as usize])
        .collect();
    assert_eq!(at_client, ["i", "h", "g", "f"].map(|name| format!("/export/{name}")), "as in SimGrid");
}

/// The anonymous memory of client and server, half a second before the end.
fn anonymous(run: &Run) -> [u64; 2] {
    [0, 1].map(|host| {
        let is_meant = |row: &usize| {
            let before_end = run.end.as_seconds() - run.timeline.time[*row].as_seconds();
            run.timeline.host[*row] == host && before_end >= 0.5
        };
        let row = (0..run.timeline.time.len()).filter(is_meant).max().expect("each host has a timeline");
        run.timeline.levels[row].anonymous.0
    })
}

#[test]
fn as_published_the_server_keeps_the_memory_it_read_into() {
    for read in [READ, FRESH] {
        let run = client(&[read, SLEEP]).set("model.wrench.remote_memory=server").run("wrench");
        assert_eq!(anonymous(&run), [0, 300 * MB], "{read}");
    }
}

/// A forecast of a client with 10 GB that read 8 GB over NFS into memory of its own had all of the 8 GB cached besides: the memory was
/// booked, and the page cache was not told. A second read was forecast to take 0.8 s instead of 6.4.
#[test]
fn a_fresh_read_from_another_host_takes_memory_of_the_reader() {
    let direct = "open = '/remote/f', flags = ['O_DIRECT']";
    for model in ["kernel", "wrench"] {
        let after = |operations: &[&str]| anonymous(&client(&[operations, &[SLEEP]].concat()).run(model));
        assert_eq!(after(&[FRESH]), [300 * MB, 0], "{model}");
        assert_eq!(after(&[READ]), [0, 0], "{model}: into memory that it has");
        assert_eq!(after(&[FRESH, "free = 'all'"]), [0, 0], "{model}");
        assert_eq!(after(&[FRESH, "free = '100 MB'"]), [200 * MB, 0], "{model}");
        assert_eq!(
            after(&[direct, "read = '/remote/f', buffer = 'fresh', size = '100 MB'"]),
            [100 * MB, 0],
            "{model}, direct"
        );
    }
}

#[test]
fn what_a_fresh_read_from_another_host_takes_is_not_left_for_the_cache() {
    for (model, most) in [("kernel", 2 * GB), ("wrench", 5 * GB)] {
        let case = on(HOSTS).file("/remote/f", "8 GB").process("p", &[FRESH, READ]);
        let run = case.run(model);
        assert!(run.file("/remote/f").1 <= most, "{model} has {:?} cached", run.file("/remote/f"));
        let cached = run.sources("p", 1).0;
        assert!(
            cached < MB,
            "{model} reads {cached} B of the cache, and asks the server for what is not there"
        );
    }
}

#[test]
fn the_memory_of_a_fresh_read_from_another_host_is_charged_to_the_group_of_its_reader() {
    let case = on(HOSTS)
        .set("host.client.cgroup.g.memory.max=1 GB")
        .file("/remote/f", "300 MB")
        .process_with("p", "cgroup = 'g'", &[FRESH]);
    let run = case.run("kernel");
    assert_eq!(run.cgroups.levels[0].peak.0, 600 * MB, "in the cache and in its own memory");
}

#[test]
fn a_full_client_keeps_what_fits() {
    let case = client(&["alloc = '9.8 GB'", READ]);
    let run = case.run("wrench");
    assert_eq!(run.file("/remote/f").1, 200 * MB);
    assert_eq!(run.file("/remote/f").0, 300 * MB);
}

#[test]
fn truncating_or_unlinking_here_drops_the_pages_there() {
    for cut in [
        "open = '/remote/f', truncate = true",
        "truncate = '/remote/f', size = '0 B'",
        "unlink = '/remote/f'",
    ] {
        let run = client(&[READ, cut]).run("wrench");
        assert!(run.blocks.bytes.is_empty(), "{cut}");
    }
}

/// A client removed a file, and the pages of the server had a price: nobody there was to pay it, the removal was taken for
/// write-back of the server's first disk, and the next pages that were written ended the simulation ("what writes is there").
#[test]
fn a_server_is_not_kept_by_pages_that_a_client_removes() {
    for cut in ["truncate = '/remote/g', size = '0 B'", "unlink = '/remote/g'"] {
        let run = client(&[WRITE, cut])
            .set("host.server.memory.cost.page_remove=200ns")
            .process_with("s", "host = 'server'\nafter = ['p']", &["write = '/export/h', size = '90 kB'"])
            .run("kernel");
        assert_eq!(run.file("/export/h").1, 90_000, "{cut}");
    }
}

/// A server with one processor wrote for itself, read for one client and wrote for another, and the simulation stood still: what the
/// reader was thought to need of the processor changed what it got, and that what it was thought to need, at one instant.
#[test]
fn a_server_with_one_processor_goes_on() {
    let machine = r#"
[host.client]
cores = 1
memory = { size = "400 MB", read = "2793 MB/s", write = "1619 MB/s" }
mount."/remote".nfs = "server:/export"
[host.server]
cores = 1
memory.size = "9520 MB"
memory.read = "1431 MB/s"
memory.write = "4458 MB/s"
memory.cost = { copy_read = "1038 MB/s", copy_write = "1936083987 B/s" }
disk.ssd = { size = "4 TB", read = "2485 MB/s", write = "128 MB/s", sharing = "time", latency = "684274 ns" }
mount."/export".disk = "ssd"
[link.lan]
between = ["client", "server"]
rate = "50 MB/s"
"#;
    let run = on(machine)
        .file("/remote/f", "3063808 B")
        .process("writer", &["write = '/remote/log', size = '256 KiB'"])
        .process("reader", &["read = '/remote/f'"])
        .process_with("local", "host = 'server'", &["write = '/export/g', size = '50 MB'"])
        .run("kernel");
    assert_eq!(run.sources("reader", 0).0 + run.sources("reader", 0).1, 3_063_808);
}

#[test]
fn a_remote_file_is_one_file_by_both_names() {
    let run = client(&["write = '/remote/f', size = '100 MB', append = true"])
        .process_with("s", "host = 'server'\nafter = ['p']", &["open = '/export/f'", "sleep = '1 s'"])
        .run("wrench");
    assert_eq!((run.file("/remote/f").0, run.file("/export/f").0), (400 * MB, 400 * MB));
}

#[test]
fn reading_an_empty_remote_file_takes_no_time() {
    let run = client(&["open = '/remote/e', create = true", "read = '/remote/e'"]).run("wrench");
    assert_eq!(run.seconds("p", 1), 0.0);
}

#[test]
fn memory_for_a_remote_read_is_booked_at_the_client() {
    let run = client(&["read = '/remote/f', buffer = 'fresh'", "free = 'all'"]).run("wrench");
    assert_eq!(run.operations.bytes[1], 300 * MB);
    let too_much = client(&["alloc = '9.9 GB'", "read = '/remote/f', buffer = 'fresh'"]);
    assert!(too_much.error("wrench").contains("needs 300 MB more memory"));
}

#[test]
fn the_server_may_be_any_host_and_the_export_any_of_its_mounts() {
    let machine = r#"
[host.server]
cores = 2
memory = { size = "10 GB", read = "1 GB/s", write = "1 GB/s" }
disk.slow = { size = "1 GB", read = "10 MB/s", write = "10 MB/s" }
disk.ssd = { size = "100 GB", read = "100 MB/s", write = "100 MB/s" }
mount."/other".disk = "slow"
mount."/export".disk = "ssd"
[host.client]
cores = 2
memory = { size = "10 GB", read = "1 GB/s", write = "1 GB/s" }
disk.slow = { size = "1 GB", read = "10 MB/s", write = "10 MB/s" }
mount."/data".disk = "slow"
mount."/remote".nfs = "server:/export"
[link.slow]
between = ["client", "server"]
rate = "1 MB/s"
[link.lan]
between = ["client", "server"]
rate = "400 MB/s"
"#;
    let case = on(machine)
        .set("host.client.mount.\"/remote\".link=lan")
        .file("/export/f", "300 MB")
        .process_with("p", "host = 'client'", &[READ, WRITE, "truncate = '/remote/g', size = '100 MB'"]);
    let run = case.run("wrench");
    same(run.seconds("p", 0), MESSAGE + 3.0 + 0.25 + 0.1);
    same(run.seconds("p", 1), 3.0 * MESSAGE + 0.25 + 3.0);
    assert_eq!(case.run("no-cache").seconds("p", 0), 3.0);
    assert_eq!(
        run.blocks.host.iter().filter(|&&host| host == 0).count(),
        3 + 1,
        "blocks of both files at the server"
    );
}

/// The server's own writes wait behind a request of the client, whose read has ended by then.
#[test]
fn the_disk_of_a_server_serves_requests_one_by_one() {
    let run = on(HOSTS)
        .set("host.server.disk.ssd.service='100 ms'")
        .file("/remote/f", "800 B")
        .process_with("p", "host = 'client'", &["read = '/remote/f'"])
        .process_with("q", "host = 'server'", &["write = '/export/g', size = '80 MB'", "fsync = '/export/g'"])
        .run("kernel");
    assert!((run.seconds("p", 0) - 0.1).abs() < 1e-5);
}

/// Exp 3 of the WRENCH-cache paper as the authors' simulator has it: disk, memory and link (x 0.97 / 1.05 for SimGrid's network
/// model), and the latency (x 13.01).
const PUBLISHED: &str = r#"
[host.client]
cores = 32
memory = { size = "268 GB", read = "4812 MB/s", write = "4812 MB/s" }
mount."/remote".nfs = "server:/export"
[host.server]
cores = 32
memory = { size = "268 GB", read = "4812 MB/s", write = "4812 MB/s" }
disk.nfs = { size = "400 GB", read = "445 MB/s", write = "445 MB/s" }
mount."/export" = { disk = "nfs", write_mode = "through" }
[link.lan]
between = ["client", "server"]
rate = "2771.428571428571 MB/s"
latency = "260.2 us"
"#;

#[test]
fn a_task_takes_what_the_published_simulator_says() {
    // Source: the authors' published output for one application (Exp 3, WRENCH-cache): a cold read of 3 GB, a write, and
    // a read of what the server has cached.
    let run = on(PUBLISHED)
        .file("/remote/f1", "3 GB")
        .process("p", &["read = '/remote/f1'", "write = '/remote/f2', size = '3 GB'", "read = '/remote/f2'"])
        .run("wrench");
    let published = [6.798_958, 6.778_697, 1.132_104];
    for (actual, published) in run.all_seconds("p").into_iter().zip(published) {
        assert!((actual - published).abs() < 2e-6, "{actual} s, published {published} s");
    }
    assert_eq!(run.file("/remote/f2"), (3 * GB, 3 * GB, 0));
}

#[test]
fn what_a_client_keeps_of_a_remote_file_does_not_wait_for_its_dirty_pages() {
    let run = client(&["write = '/data/g', size = '300 MB'", READ])
        .set("host.client.disk.ssd={ size = '1 GB', read = '100 MB/s', write = '100 MB/s' }")
        .set("host.client.mount.\"/data\".disk=ssd")
        .option("dirty_ratio", "3 %")
        .run("wrench");
    same(run.seconds("p", 1), MESSAGE + 3.0 + 0.25 + 0.1);
    assert_eq!(run.file("/data/g").2, 300 * MB, "more than the limit");
}

/// How often a client has made a call of a kind.
fn count(run: &Run, kind: &str) -> usize {
    run.all_events().iter().filter(|event| event.1 == kind).count()
}

/// How often it has made a READ, a WRITE, a COMMIT, and an open: of a new file or another.
fn calls(run: &Run) -> [usize; 4] {
    let [read, write, commit, new, other] =
        ["nfs read", "nfs write", "nfs commit", "nfs create", "nfs open"].map(|kind| count(run, kind));
    [read, write, commit, new + other]
}

#[test]
fn a_close_of_version_4_asks_the_server() {
    let seconds = |version: &str| {
        let operations = ["open = '/remote/g', create = true", "close = '/remote/g'"];
        let run = on(HOSTS)
            .set(&format!("host.client.mount.\"/remote\".options.vers='{version}'"))
            .set("host.server.nfsd.call=1 ms")
            .process("p", &operations)
            .run("kernel");
        assert_eq!(count(&run, "nfs close"), usize::from(version != "3"), "{version}");
        run.seconds("p", 1)
    };
    assert_eq!(seconds("3"), 0.0);
    assert!((seconds("4.2") - 1e-3).abs() < 1e-5, "a call of a millisecond");
}

/// The calls of names and attributes that a client has made.
fn names(run: &Run) -> Vec<String> {
    let kinds =
        ["lookup", "create", "open", "getattr", "setattr", "delegreturn", "rename", "remove", "close"];
    let counted = kinds.map(|kind| (kind, count(run, &format!("nfs {kind}"))));
    counted.iter().filter(|(_, count)| *count > 0).map(|(kind, count)| format!("{kind} {count}")).collect()
}

/// A round trip of 2 ms is all that takes time where files are empty.
#[test]
fn names_and_attributes_cross_the_network() {
    let run = |version: &str, operation: &str| {
        on(HOSTS)
            .set(&format!("host.client.mount.\"/remote\".options.vers='{version}'"))
            .set("link.lan.latency=1 ms")
            .file("/remote/f", "1 MB")
            .file("/remote/h", "1 MB")
            .process("p", &[operation])
            .run("kernel")
    };
    for (operation, calls_of_4, calls_of_3) in [
        ("open = '/remote/f'", "open 1", "getattr 1"),
        ("open = '/remote/g', create = true", "create 1", "lookup 1 create 1"),
        ("open = '/remote/f', truncate = true", "open 1 setattr 1", "getattr 1 setattr 1"),
        ("stat = '/remote/f'", "getattr 1", "getattr 1"),
        ("truncate = '/remote/f', size = '5 kB'", "setattr 1", "setattr 1"),
        ("truncate = '/remote/f', size = '5 MB'", "setattr 1", "setattr 1"),
        ("rename = '/remote/f', to = '/remote/g'", "rename 1", "rename 1"),
        ("rename = '/remote/f', to = '/remote/h'", "rename 1", "rename 1"),
        ("link = '/remote/f', to = '/remote/g'", "rename 1", "rename 1"),
        ("mkdir = '/remote/d'", "create 1", "lookup 1 create 1"),
        ("unlink = '/remote/f'", "remove 1", "remove 1"),
    ] {
        for (version, expected) in [("4.2", calls_of_4), ("3", calls_of_3)] {
            let run = run(version, operation);
            assert_eq!(names(&run).join(" "), expected, "{operation}, version {version}");
            let round_trips = expected.split(' ').count() as f64 / 2.0;
            assert!(
                (run.seconds("p", 0) - round_trips * 2e-3).abs() < 1e-5,
                "{operation}: {}",
                run.seconds("p", 0)
            );
        }
    }
}

/// `fs/nfs/inode.c: nfs_setattr, nfs_getattr`
#[test]
fn a_change_of_size_commits_what_was_written_and_a_look_writes_it() {
    let run =
        |last: &str| on(HOSTS).process("p", &["write = '/remote/g', size = '8 MiB'", last]).run("kernel");
    let size = run("truncate = '/remote/g', size = '9 MiB'");
    assert_eq!(calls(&size)[1..3], [8, 1]);
    assert!(size.end("p", 1) > 0.1, "the link, then the disk");
    let look = run("stat = '/remote/g'");
    assert!((0.02..0.05).contains(&look.end("p", 1)), "the link alone: {}", look.end("p", 1));
}

/// `fs/nfs/write.c: nfs_try_to_update_request, nfs_wb_folio`: a folio has one dirty range.
#[test]
fn a_write_beside_dirty_bytes_of_its_folio_has_them_written_and_committed_first() {
    let seconds = |version: &str, offset: &str| {
        let beside = format!("write = '/remote/g', offset = '{offset}', size = '4 KiB'");
        let operations = [
            "write = '/remote/g', size = '4 MiB', call = '1 MiB'",
            "fsync = '/remote/g'",
            "write = '/remote/g', offset = '0 B', size = '4 KiB'",
            &beside,
        ];
        let case = on(HOSTS).set("link.lan.latency=1 ms");
        let case = case.set(&format!("host.client.kernel.version={version}"));
        case.process("p", &operations).run("kernel").seconds("p", 3)
    };
    let beside = seconds("6.12", "512 KiB");
    assert!((beside - 4e-3).abs() < 2e-4, "a WRITE and a COMMIT: {beside}");
    for (version, offset) in [("6.12", "4 KiB"), ("6.12", "0 B"), ("6.12", "2 MiB"), ("6.10", "512 KiB")] {
        assert!(seconds(version, offset) < 1e-4, "{version}, {offset}: {}", seconds(version, offset));
    }
}

#[test]
fn sync_waits_until_the_server_has_committed() {
    for sync in ["sync = true", "syncfs = '/remote/g'"] {
        let operations = ["write = '/remote/g', size = '8 MiB'", sync, "fsync = '/remote/g'"];
        let run = on(HOSTS).process("p", &operations).run("kernel");
        assert_eq!(calls(&run)[1..3], [8, 1]);
        assert!(run.seconds("p", 1) > 0.1, "{sync}: the link, then the disk");
        assert_eq!(run.seconds("p", 2), 0.0, "{sync}");
    }
}

/// `fs/nfs/inode.c: nfs_attribute_timeout`: 3 s at first, twice as long whenever nothing has changed for so long.
#[test]
fn attributes_are_believed_for_some_time() {
    let asked = |options: &str| {
        let stat = "stat = '/remote/f'";
        let rest =
            ["sleep = '2 s'", stat, "sleep = '2 s'", stat, "sleep = '5 s'", stat, "sleep = '7 s'", stat];
        let operations = [&[stat], &rest[..]].concat();
        let run = on(HOSTS)
            .set(&format!("host.client.mount.\"/remote\".options={options}"))
            .file("/remote/f", "1 MB")
            .process("p", &operations)
            .run("kernel");
        (0..=8).step_by(2).filter(|&at| run.seconds("p", at) > 0.0).collect::<Vec<_>>()
    };
    let lan = "{ vers = '4.2' }";
    assert_eq!(asked(lan), [0, 4, 8], "at 0 s, 4 s, when they are 4 s old, and at 16 s; 9 s are within 6 s");
    assert_eq!(asked("{ noac = true }"), [0, 2, 4, 6, 8]);
    assert_eq!(asked("{ acregmin = '60 s' }"), [0]);
}

/// A server changes a file that a client has cached and open.
#[test]
fn a_read_sees_a_change_when_attributes_are_old() {
    let from_cache = |sleep: &str, delegations: bool| {
        let read = "read = '/remote/f', size = '1 MB', offset = '0 B'";
        on(HOSTS)
            .set(&format!("host.server.nfsd.delegations={delegations}"))
            .file("/remote/f", "1 MB")
            .process("p", &["open = '/remote/f'", read, &format!("sleep = '{sleep}'"), read])
            .process_with(
                "s",
                "host = 'server'",
                &["sleep = '1 s'", "write = '/export/f', offset = '0 B', size = '1 B'"],
            )
            .run("kernel")
            .sources("p", 3)
    };
    assert_eq!(from_cache("2 s", false), (MB, 0), "they are believed");
    assert_eq!(from_cache("4 s", false), (0, MB));
    assert_eq!(from_cache("4 s", true), (0, MB), "the delegation is taken back");
}

/// Four WRITEs of 1 MiB cross a link of 10 MB/s, and then a COMMIT waits for a disk of 100 MB/s.
#[test]
fn a_wait_is_divided_as_all_its_replies() {
    let run = on(HOSTS)
        .set("link.lan.rate=10 MB/s")
        .process(
            "p",
            &[
                "open = '/remote/g', create = true, flags = ['O_DIRECT']",
                "write = '/remote/g', size = '4 MiB'",
            ],
        )
        .run("kernel");
    let (network, all) = (run.part("p", 1, Part::Network), run.seconds("p", 1));
    assert!(network > 0.9 * all, "{network} s of {all} s");
}

/// A file changes on its server in some way, and a client that opens it later reads it again.
#[test]
fn every_way_to_change_a_file_is_seen() {
    let ways: [&[&str]; 9] = [
        &["write = '/export/f', offset = '0 B', size = '1 kB'"],
        &["write = '/export/f', size = '1 MB', call = '4 KiB', pattern = { random = 'uniform' }"],
        &[
            "write = '/export/f', size = '1 MB', call = '4 KiB', pattern = { random = 'uniform', depth = 4 }, by = 'libaio'",
        ],
        &[
            "fopen = '/export/f', mode = 'r+'",
            "fwrite = '/export/f', size = '100 kB'",
            "fclose = '/export/f'",
        ],
        &["copy = '/export/g', to = '/export/f', by = 'copy_file_range'"],
        &["copy = '/export/g', to = '/export/f', by = 'read_write'"],
        &["mmap_write = '/export/f', size = '1 kB'"],
        &["truncate = '/export/f', size = '2 MB'"],
        &["fallocate = '/export/f', size = '4 MB'"],
    ];
    for vers in ["3", "4.2"] {
        for way in ways {
            let read = "read = '/remote/f', size = '1 MB', offset = '0 B'";
            let again = ["open = '/remote/f'", read, "close = '/remote/f'"];
            let operations = [&again[..], &["sleep = '10 s'"], &again].concat();
            let run = on(HOSTS)
                .set(&format!("host.client.mount.\"/remote\".options.vers='{vers}'"))
                .file("/remote/f", "1 MB")
                .file("/remote/g", "1 MB")
                .process("p", &operations)
                .process_with("s", "host = 'server'", &[&["sleep = '1 s'"], way].concat())
                .run("kernel");
            assert_eq!(run.sources("p", 5), (0, MB), "NFS {vers}, {way:?}");
        }
    }
}

/// `fs/nfsd/nfs4state.c: nfs4_set_delegation`
#[test]
fn a_file_with_a_delegation_is_opened_without_a_call() {
    let open_and_close = ["open = '/remote/f'", "close = '/remote/f'", "sleep = '100 s'"];
    let thrice = [&open_and_close[..], &open_and_close, &open_and_close].concat();
    let run = |set: &str| on(HOSTS).set(set).file("/remote/f", "1 MB").process("p", &thrice).run("kernel");
    assert_eq!(names(&run("host.server.nfsd.delegations=true")).join(" "), "open 1 close 1");
    assert_eq!(names(&run("host.server.nfsd.delegations=false")).join(" "), "open 3 close 3");
    assert_eq!(names(&run("host.client.mount.\"/remote\".options.vers='3'")).join(" "), "getattr 3");
    let writes = [
        &["open = '/remote/f'", "write = '/remote/f', size = '1 kB'", "close = '/remote/f'"],
        &open_and_close[..],
    ];
    let own = on(HOSTS).file("/remote/f", "1 MB").process("p", &writes.concat()).run("kernel");
    assert_eq!(names(&own).join(" "), "open 2 close 2", "who has written opens again");
    let remove = ["open = '/remote/f'", "close = '/remote/f'", "unlink = '/remote/f'"];
    let removed = on(HOSTS).file("/remote/f", "1 MB").process("p", &remove).run("kernel");
    assert_eq!(names(&removed).join(" "), "open 1 delegreturn 1 remove 1 close 1");
}

/// A client's limit of dirty pages is one for all its devices: pages of a server that hangs slow down whoever writes elsewhere.
#[test]
fn a_server_that_hangs_slows_down_writers_to_other_disks() {
    let run = |stall: &str| {
        on(HOSTS)
            .set("host.client.disk.ssd={ size = '100 GB', read = '100 MB/s', write = '100 MB/s' }")
            .set("host.client.mount.\"/data\".disk=ssd")
            .set("host.client.vm.dirty_bytes=200 MB")
            .set("host.client.vm.dirty_background_bytes=100 MB")
            .set("host.server.nfsd.stalls_at=1 s")
            .set(&format!("host.server.nfsd.stalls_for={stall}"))
            .process("p", &["write = '/remote/g', size = '2 GB', call = '1 MiB'"])
            .process("q", &["sleep = '3 s'", "write = '/data/h', size = '300 MB', call = '1 MiB'"])
            .run("kernel")
    };
    let (stalled, free) = (run("20 s"), run("0 s"));
    assert!(stalled.seconds("p", 0) > free.seconds("p", 0) + 15.0, "{}", stalled.seconds("p", 0));
    assert!(
        stalled.seconds("q", 1) > 1.5 * free.seconds("q", 1),
        "{} s, else {} s",
        stalled.seconds("q", 1),
        free.seconds("q", 1)
    );
    assert_eq!(stalled.file("/remote/g").0, 2 * GB);
}

/// A server answers when a change of names is in its journal.
#[test]
fn a_removal_is_durable_before_it_ends() {
    let seconds = |export: &str| {
        on(HOSTS)
            .set(&format!("host.server.mount.\"/export\".export={export}"))
            .set("host.server.mount.\"/export\".journal={}")
            .set("host.server.kernel.version=6.12")
            .file("/remote/f", "1 MB")
            .process("p", &["unlink = '/remote/f'"])
            .run("kernel")
            .seconds("p", 0)
    };
    assert!(seconds("sync") > seconds("async") + 1e-4, "{} s", seconds("sync"));
}

/// A file that another one replaces has no pages at its server any more.
#[test]
fn a_server_drops_the_pages_of_a_file_that_a_client_replaces() {
    let operations = ["write = '/remote/g', size = '1 MB'", "rename = '/remote/g', to = '/remote/f'"];
    let run = client(&[READ, operations[0], operations[1]]).run("kernel");
    let of_server = |at: &usize| run.files.host[*at] == 1;
    let cached: u64 = (0..run.files.host.len()).filter(of_server).map(|at| run.files.cached[at]).sum();
    assert_eq!(cached, MB);
}

/// A server answers when the name of a new file is in its journal.
#[test]
fn a_new_file_is_durable_before_its_open_ends() {
    let seconds = |export: &str| {
        on(HOSTS)
            .set(&format!("host.server.mount.\"/export\".export={export}"))
            .set("host.server.mount.\"/export\".journal={}")
            .set("host.server.kernel.version=6.12")
            .process("p", &["open = '/remote/g', create = true", "open = '/remote/g'"])
            .run("kernel")
            .seconds("p", 0)
    };
    let log = 6.0 * 4096.0 / 100e6;
    assert!((seconds("sync") - seconds("async") - log).abs() < 0.5 * log, "{} s", seconds("sync"));
}

/// A WRITE that is all of a call is durable at once; several are followed by a COMMIT (`fs/nfs/direct.c`).
#[test]
fn direct_writes_of_several_calls_are_committed() {
    let open = "open = '/remote/g', create = true, flags = ['O_DIRECT']";
    for (call, expected) in [("512 KiB", [0, 8, 0, 1]), ("1 MiB", [0, 4, 0, 1]), ("2 MiB", [0, 4, 2, 1])] {
        let write = format!("write = '/remote/g', size = '4 MiB', call = '{call}'");
        let run = on(HOSTS).process("p", &[open, &write]).run("kernel");
        assert_eq!(calls(&run), expected, "{call}");
        assert_eq!(run.file("/remote/g"), (4 << 20, 0, 0));
    }
}

#[test]
fn what_is_written_is_the_servers_once_it_is_durable() {
    let run = on(HOSTS)
        .process("p", &["write = '/remote/g', size = '8 MiB'", "fsync = '/remote/g'", "fsync = '/remote/g'"])
        .run("kernel");
    assert_eq!(calls(&run), [0, 8, 1, 0], "the second fsync has nothing to do");
    assert_eq!(run.file("/remote/g"), (8 << 20, 8 << 20, 0));
    let on_server = run.files.host.iter().position(|&host| host == 1).expect("the server has it");
    assert_eq!((run.files.cached[on_server], run.files.dirty[on_server]), (8 << 20, 0));
}

#[test]
fn with_async_exports_nobody_waits_for_the_disk() {
    let wait = |export: &str| {
        let operations = ["write = '/remote/g', size = '80 MB'", "close = '/remote/g'"];
        let open = "open = '/remote/g', create = true";
        on(HOSTS)
            .set(&format!("host.server.mount.\"/export\".export={export}"))
            .process("p", &[open, operations[0], operations[1]])
            .run("kernel")
            .seconds("p", 2)
    };
    let (durable, told) = (wait("sync"), wait("async"));
    assert!((durable - 1.0).abs() < 0.02, "{durable}: the link, then the disk");
    assert!((told - 0.2).abs() < 0.02, "{told}: the link");
}

/// Close-to-open: an open sees what others have closed.
#[test]
fn a_client_reads_again_what_another_has_changed() {
    let machine = format!(
        "{HOSTS}\n[host.other]\ncores = 2\nmemory = {{ size = '10 GB', read = '1 GB/s', write = '1 GB/s' }}\n\
         mount.\"/far\".nfs = 'server:/export'\n[link.far]\nbetween = ['other', 'server']\nrate = '400 MB/s'\n"
    );
    let open = "open = '/remote/f'";
    let read_after = |change: &[&str]| {
        on(&machine)
            .file("/remote/f", "20 MB")
            .process("p", &[open, READ, "close = '/remote/f'", "sleep = '9 s'", open, READ])
            .process_with("q", "host = 'other'", &[&["sleep = '5 s'"], change].concat())
            .run("kernel")
            .sources("p", 5)
    };
    let (open, write) = ("open = '/far/f'", "write = '/far/f', offset = '0 B', size = '4096 B'");
    assert_eq!(read_after(&[]), (20 * MB, 0));
    assert_eq!(read_after(&[open, write, "sleep = '9 s'"]), (20 * MB, 0), "the other one has not closed it");
    assert_eq!(read_after(&[open, write, "close = '/far/f'"]), (0, 20 * MB));
}

/// `kernel/exit.c: exit_files`: what a process has left open is closed, and a close waits for the server.
#[test]
fn a_process_that_ends_closes_what_it_has_written() {
    let run = on(HOSTS)
        .process("p", &["write = '/remote/g', size = '80 MB'", "read = '/remote/g'"])
        .process_with("q", "after = ['p']", &["read = '/remote/g'"])
        .run("kernel");
    assert_eq!(calls(&run)[1..3], [77, 1]);
    assert_eq!(run.file("/remote/g").2, 0);
    assert!(run.end("p", 2) > 1.0, "the link, then the disk");
    assert_eq!(run.start("q", 0), run.end("p", 2));
}

#[test]
fn what_has_been_closed_or_removed_is_not_closed_again() {
    let write = "write = '/remote/g', size = '1 MB'";
    for last in ["close = '/remote/g'", "unlink = '/remote/g'"] {
        let run = on(HOSTS).process("p", &[write, last]).run("kernel");
        assert_eq!(run.operations.end.len(), 2, "{last}");
    }
    let stream = ["fopen = '/remote/g', mode = 'w'", "fwrite = '/remote/g', size = '1 MB'"];
    let run = on(HOSTS).process("p", &stream).run("kernel");
    assert_eq!(run.operations.end.len(), 3, "the stream is closed at the end, and its file with it");
    assert_eq!(run.file("/remote/g").2, 0);
}

/// A client of Linux 3.2 whose limit is small, and a server whose disk turns.
const SMALL_LIMIT: &str = r#"
[host.client]
cores = 32
kernel = { version = "3.2", hz = 1000 }
vm = { dirty_bytes = "1 MiB", dirty_background_ratio = 10 }
memory = { size = "32 GiB", read = "8 GB/s", write = "8 GB/s", cost = { copy_read = "2 GB/s", copy_write = "2 GB/s" } }
mount."/nfs" = { nfs = "server:/export", options = { rsize = "1 MiB", wsize = "1 MiB", vers = "3", slots = 16 } }
[host.server]
cores = 8
kernel = { version = "3.1", hz = 1000 }
memory = { size = "8 GiB", read = "8 GB/s", write = "8 GB/s", cost = { copy_read = "2 GB/s", copy_write = "2 GB/s" } }
mount."/export" = { disk = "hdd", type = "ext4", journal = {} }
[host.server.disk.hdd]
size = "500 GB"
read = "60 MiB/s"
write = "60 MiB/s"
nr_requests = 128
max_sectors_kb = 512
rotation = { rpm = 7200, track_seek = "1.1 ms", average_seek = "9.5 ms", inner = 0.48 }
[link.lan]
between = ["client", "server"]
transport = "1gbe"
latency = "100 us"
"#;

/// Pages that become unstable while a COMMIT is on its way are committed after it: nothing else would, and a writer that waits for its client's
/// limit would wait for ever.
#[test]
fn a_writer_at_a_small_limit_ends_before_4_13() {
    let write = "write = '/nfs/f', size = '310 MiB', call = '1 MiB'";
    let run = on(SMALL_LIMIT).process_with("p", "host = 'client'", &[write]).run("kernel");
    assert!((15.0..20.0).contains(&run.seconds("p", 0)), "{}", run.seconds("p", 0));
}
