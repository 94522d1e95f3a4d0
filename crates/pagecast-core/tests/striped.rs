//! Files in strips on several servers: what every such file system shows, whatever its constants.
//!
//! Clients and servers are on one switch. A disk moves 50 MB/s, a link 100 MB/s each way, a thread copies 1 GB/s.

use pagecast_core::units::Nanos;

use crate::common::{Case, MB, Run, on};

/// So many clients with the mount "/pvfs" on so many servers; `layout` has keys of the mount.
fn cluster(clients: usize, servers: usize, layout: &str) -> Case {
    let memory = r#"memory = { size = "4 GB", read = "10 GB/s", write = "10 GB/s", cost = { copy_read = "1 GB/s", copy_write = "1 GB/s" } }"#;
    let names: Vec<String> = (0..servers).map(|at| format!("\"io{at}:/data\"")).collect();
    let mut text = "network = { topology = 'star', rate = '100 MB/s', latency = '50 us' }\n".to_owned();
    for at in 0..clients {
        let mount = format!("{{ striped = [{}], {layout} }}", names.join(", "));
        text += &format!("[host.c{at}]\ncores = 2\n{memory}\nmount.\"/pvfs\" = {mount}\n");
    }
    for at in 0..servers {
        let disk = "disk.hdd = { size = '100 GB', read = '50 MB/s', write = '50 MB/s' }";
        text += &format!("[host.io{at}]\ncores = 2\n{memory}\n{disk}\nmount.\"/data\".disk = 'hdd'\n");
    }
    on(&text)
}

/// Each client reads a file of its own.
fn readers(clients: usize, servers: usize, size: &str) -> Case {
    (0..clients).fold(cluster(clients, servers, ""), |case, at| {
        let case = case.keys(&format!("[[file]]\npath = '/pvfs/f{at}'\nsize = '{size}'\nhost = 'c{at}'"));
        case.process_with(
            &format!("p{at}"),
            &format!("host = 'c{at}'"),
            &[&format!("read = '/pvfs/f{at}', call = '1 MB'")],
        )
    })
}

/// Each client writes a file of its own in blocks, and makes it durable.
fn writers(clients: usize, servers: usize, size: &str, block: &str) -> Case {
    (0..clients).fold(cluster(clients, servers, ""), |case, at| {
        let write = format!("write = '/pvfs/f{at}', size = '{size}', call = '{block}'");
        case.process_with(
            &format!("p{at}"),
            &format!("host = 'c{at}'"),
            &[&write, &format!("fsync = '/pvfs/f{at}'")],
        )
    })
}

/// The part of an operation that is largest.
fn longest(run: &Run, process: &str, index: u32) -> &'static str {
    let parts = run.parts(process, index);
    parts.into_iter().max_by(|one, other| one.1.total_cmp(&other.1)).expect("it took time").0
}

/// The server that calls waited for alone for the longest time, the part that took most, and the busiest link to it.
fn straggler(run: &Run) -> (String, &'static str, String) {
    let rows = &run.payloads;
    let row = (0..rows.server.len()).max_by_key(|&row| rows.behind[row]).expect("there are servers");
    assert!(rows.behind[row] > Nanos::ZERO && rows.last[row] > 0);
    (rows.server[row].clone(), rows.part[row], rows.link[row].clone())
}

#[test]
fn a_server_with_more_of_a_file_is_waited_for_and_named() {
    // Strips of 64 MiB of a file of 80 MiB: the second server has a quarter of what the first has.
    let file = "[[file]]\npath = '/pvfs/f'\nsize = '80 MiB'\nhost = 'c0'";
    let case = cluster(1, 2, "layout = { strip_size = '64 MiB' }").set("network.rate=1 GB/s");
    let run = case.keys(file).process("p", &["read = '/pvfs/f'"]).run("kernel");
    let (server, part, _) = straggler(&run);
    assert_eq!(part, "device_read");
    let rows = &run.payloads;
    let most = (0..2).max_by_key(|&row| rows.bytes[row]).expect("there are two");
    assert_eq!((rows.bytes[most], &rows.server[most]), (64 << 20, &server));
    assert_eq!(rows.bytes.iter().sum::<u64>(), 80 << 20);
}

fn write_of(size: &str) -> Vec<String> {
    vec![format!("write = '/pvfs/f', size = '{size}'"), "fsync = '/pvfs/f'".to_owned()]
}

fn one_writer(case: Case, size: &str) -> Case {
    let operations = write_of(size);
    case.process("p", &operations.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn each_server_has_its_share_of_the_bytes() {
    for model in ["kernel", "no-cache", "endless-cache", "wrench"] {
        let layout = "layout = { strip_size = '1 MB' }";
        let run = one_writer(cluster(1, 3, layout), "10500 kB").run(model);
        let shares = [4 * MB, 3_500_000, 3 * MB];
        for (at, share) in shares.into_iter().enumerate() {
            assert_eq!(run.file(&format!("/data/.striped/f.{at}")).0, share, "{model}");
        }
        assert_eq!(run.file("/pvfs/f").0, 10_500_000, "{model}");
        let read = cluster(1, 3, layout).file("/pvfs/f", "10500 kB").process("p", &["read = '/pvfs/f'"]);
        let (cached, from_disk) = read.run(model).sources("p", 0);
        assert_eq!(cached + from_disk, 10_500_000, "{model}");
    }
}

#[test]
fn what_a_model_does_not_know_is_refused() {
    let error = one_writer(cluster(1, 3, ""), "10 MB").error("cawl");
    insta::assert_snapshot!(error, @"test.toml:26: process `p` does a fsync at 100.797 ms, and model `cawl` knows no write-back that a process asks for; ask model `kernel`, or open the file with O_SYNC");
    let mapped = cluster(1, 3, "").file("/pvfs/f", "1 MB").process("p", &["mmap_read = '/pvfs/f'"]);
    insta::assert_snapshot!(mapped.error("kernel"), @"test.toml:29: process `p` does a mmap_read at the start, and model `kernel` does not know how a file of a striped mount is mapped; use `read`, `write` and `fsync`");
}

#[test]
fn four_disks_are_four_times_as_fast_as_one() {
    let rate = |servers| {
        1600.0 / readers(1, servers, "1600 MB").set("network.rate=10 GB/s").run("kernel").seconds("p0", 0)
    };
    let [one, four] = [1, 4].map(rate);
    assert!((one - 50.0).abs() < 2.5, "the rate of the disk: {one} MB/s");
    assert!((four / one - 4.0).abs() < 0.2, "{} times", four / one);
}

#[test]
fn a_slow_server_is_waited_for_and_named() {
    let run = readers(1, 4, "400 MB").set("host.io2.disk.hdd.read=5 MB/s").run("kernel");
    assert!((run.seconds("p0", 0) - 20.0).abs() < 0.2, "a quarter of the bytes at 5 MB/s");
    assert_eq!(longest(&run, "p0", 0), "device_read");
    let (server, part, _) = straggler(&run);
    assert_eq!((&*server, part), ("io2", "device_read"));
}

#[test]
fn a_link_at_a_tenth_of_its_rate_is_waited_for_and_named() {
    let fast = readers(1, 4, "400 MB").run("kernel");
    assert!((fast.seconds("p0", 0) - 4.0).abs() < 0.3, "the client's link is the limit");
    let slow = readers(1, 4, "400 MB").set("host.c0.nic.rate=10 MB/s").run("kernel");
    assert!((slow.seconds("p0", 0) - 40.0).abs() < 0.5);
    assert_eq!([longest(&fast, "p0", 0), longest(&slow, "p0", 0)], ["network"; 2]);
    let server = readers(1, 4, "400 MB").set("host.io1.nic.rate=10 MB/s").run("kernel");
    assert!((server.seconds("p0", 0) - 10.0).abs() < 0.5, "a quarter of the bytes at 10 MB/s");
    assert_eq!(straggler(&server), ("io1".to_owned(), "network", "nic, io1 to network".to_owned()));
}

#[test]
fn equal_clients_take_equal_times() {
    let run = readers(4, 4, "100 MB").run("kernel");
    let all: Vec<f64> = (0..4).map(|at| run.seconds(&format!("p{at}"), 0)).collect();
    let (least, most) =
        (all.iter().copied().fold(f64::MAX, f64::min), all.iter().copied().fold(0.0, f64::max));
    assert!(most / least < 1.01, "{all:?}");
}

#[test]
fn more_clients_than_servers_get_less_each() {
    let slowest = |clients| {
        let run = readers(clients, 4, "100 MB").run("kernel");
        (0..clients).map(|at| run.seconds(&format!("p{at}"), 0)).fold(0.0, f64::max)
    };
    let [few, many, more] = [2, 4, 8].map(slowest);
    assert!(many / few > 1.5 && more / many > 1.8, "{few} s, {many} s, {more} s");
}

#[test]
fn the_order_of_independent_clients_does_not_matter() {
    let client = |case: Case, at: usize| {
        let write = format!("write = '/pvfs/f{at}', size = '{} MB', call = '1 MB'", 10 + at);
        case.process_with(&format!("p{at}"), &format!("host = 'c{at}'\nstart = '{at} s'"), &[&write])
    };
    let there = [0, 1, 2].into_iter().fold(cluster(3, 4, ""), client).run("kernel");
    let back = [2, 1, 0].into_iter().fold(cluster(3, 4, ""), client).run("kernel");
    for process in ["p0", "p1", "p2"] {
        assert_eq!(there.seconds(process, 0), back.seconds(process, 0), "{process}");
    }
}

#[test]
fn the_rate_of_reads_does_not_depend_on_the_size_of_the_file() {
    let rate =
        |megabytes: f64| megabytes / readers(1, 4, &format!("{megabytes} MB")).run("kernel").seconds("p0", 0);
    let [short, long] = [64.0, 1024.0].map(rate);
    assert!((short / long - 1.0).abs() < 0.05, "{short} and {long} MB/s");
}

#[test]
fn small_blocks_pay_for_each_request() {
    let seconds = |block| writers(1, 4, "32 MiB", block).run("kernel").seconds("p0", 0);
    let [small, middle, large] = ["8 KiB", "64 KiB", "1 MiB"].map(seconds);
    assert!(small > 2.0 * middle && middle > 1.4 * large, "{small} s, {middle} s, {large} s");
}

#[test]
fn few_bytes_go_with_the_request_and_more_wait_for_its_answer() {
    let seconds = |small| {
        let case = writers(1, 1, "1 MB", "16 KiB");
        case.set(&format!("host.c0.mount./pvfs.layout.small_io={small}")).run("kernel").seconds("p0", 0)
    };
    let calls = f64::from(1_000_000_u32.div_ceil(16 << 10));
    // Each way has two links of 50 us, and headers take 200 bytes of each.
    let round_trip = 2.0 * (2.0 * 50e-6 + 200.0 / 100e6);
    let apart = seconds("0 B") - seconds("16 KiB");
    assert!((apart - calls * round_trip).abs() < 1e-6, "{apart} s");
}

#[test]
fn a_buffer_moves_while_another_is_written() {
    let write = |buffers: u32| {
        let case = cluster(1, 1, &format!("layout.flow_buffers = {buffers}"));
        case.process("p", &["write = '/pvfs/f', size = '64 MB'"]).run("kernel").seconds("p", 0)
    };
    let [one, eight] = [1, 8].map(write);
    assert!(one > 1.1 * eight, "{one} s and {eight} s");
}

#[test]
fn names_cost_a_round_trip_and_a_new_file_one_more_to_all_servers() {
    let operations = [
        "open = '/pvfs/f', create = true",
        "stat = '/pvfs/f'",
        "write = '/pvfs/f', size = '1 MB'",
        "unlink = '/pvfs/f'",
    ];
    let run = cluster(1, 4, "").process("p", &operations).run("kernel");
    let round_trip = 2.0 * (2.0 * 50e-6 + 200.0 / 100e6);
    let near = |index, expected: f64| {
        let seconds = run.seconds("p", index);
        assert!((seconds - expected).abs() < 20e-6, "{index}: {seconds} s instead of {expected}");
    };
    near(1, round_trip);
    near(0, 2.0 * round_trip);
    near(3, 2.0 * round_trip);
    assert_eq!(run.parts("p", 1).len(), 1);
}

#[test]
fn a_removed_file_leaves_the_caches_of_its_servers() {
    let run = cluster(1, 2, "")
        .process("p", &["write = '/pvfs/f', size = '10 MB'", "unlink = '/pvfs/f'"])
        .run("kernel");
    assert!(run.files.cached.iter().all(|&cached| cached == 0));
}

#[test]
fn a_file_without_a_name_leaves_the_caches_of_its_servers_with_its_last_descriptor() {
    let held = [
        "open = '/pvfs/f', create = true, fd = 3",
        "write = '/pvfs/f', fd = 3, size = '10 MB'",
        "unlink = '/pvfs/f'",
    ];
    let other = ["open = '/pvfs/g', create = true, fd = 4", "dup = '/pvfs/g', fd = 4, to_fd = 3"];
    for end in [&["close = '/pvfs/f', fd = 3"][..], &[], &other] {
        let operations: Vec<&str> = held.into_iter().chain(end.iter().copied()).collect();
        let run = cluster(1, 2, "").process("p", &operations).run("kernel");
        assert!(run.files.cached.iter().all(|&cached| cached == 0), "{end:?}");
    }
}

/// A reader of a file on two servers, of which so much is in their caches.
fn reader_of_cached(cached: &str) -> Case {
    let file = format!("[[file]]\npath = '/pvfs/f'\nsize = '100 MB'\nhost = 'c0'\ncached = '{cached}'");
    cluster(1, 2, "").set("network.rate=10 GB/s").keys(&file).process("p", &["read = '/pvfs/f'"])
}

#[test]
fn servers_have_their_shares_of_what_is_cached_before_time_0() {
    let [cold, half, warm] = ["0 B", "50 MB", "100 MB"].map(|cached| reader_of_cached(cached).run("kernel"));
    assert_eq!(warm.sources("p", 0), (100 * MB, 0));
    let [cold, half, warm] = [cold, half, warm].map(|run| run.seconds("p", 0));
    assert!((cold - 1.0).abs() < 0.1 && warm < 0.2, "two disks of 50 MB/s: {cold} s; caches: {warm} s");
    assert!((half / (cold + warm) - 0.5).abs() < 0.05, "{half} s");
    let full = reader_of_cached("50 MB").set("host.io1.memory.size=20 MB").scenario().err();
    let refused = full.expect("a server caches half").to_string();
    assert!(refused.contains("do not fit into the memory of host `io1`"), "{refused}");
}

#[test]
fn the_bytes_take_room_of_their_servers() {
    let full = cluster(1, 2, "")
        .set("host.io1.disk.hdd.size=100 MB")
        .process("p", &["write = '/pvfs/f', size = '300 MB'"]);
    insta::assert_snapshot!(full.error("kernel"), @"test.toml:20: process `p` needs 149.99 MB on disk `hdd` of host `io1`, which has 100 MB and 0 B in use; make the disk larger or the files smaller");
}

#[test]
fn a_file_is_on_as_many_servers_as_its_layout_says() {
    let operations = ["write = '/pvfs/a', size = '10 MB'", "write = '/pvfs/b', size = '10 MB'"];
    let run = cluster(1, 4, "layout.stripe_count = 1").process("p", &operations).run("kernel");
    assert_eq!(run.file("/data/.striped/a.0").0, 10 * MB);
    assert_eq!(run.file("/data/.striped/b.0").0, 10 * MB);
    let row = |path: &str| {
        let table = &run.files;
        (0..table.time.len())
            .find(|&row| &*run.paths[table.path[row] as usize] == path)
            .map(|row| table.host[row])
    };
    assert_ne!(
        row("/data/.striped/a.0"),
        row("/data/.striped/b.0"),
        "files of other names begin at other servers"
    );
}

/// Found by the fuzz: the memory was taken for nobody, and its time ended as a write of the flusher.
#[test]
fn a_read_into_new_memory_takes_the_time_of_its_pages() {
    let read = |buffer: &str| {
        let case = cluster(1, 2, "").set("host.c0.memory.cost.fault_huge=100 us").file("/pvfs/f", "8 MiB");
        let read = format!("read = '/pvfs/f', buffer = '{buffer}'");
        case.process("p", &[&read, "free = 'all'", "alloc = '8 MiB'"]).run("kernel")
    };
    let [reused, fresh] = ["reused", "fresh"].map(read);
    let apart = fresh.seconds("p", 0) - reused.seconds("p", 0);
    assert!(apart > 0.0 && (apart - fresh.seconds("p", 2)).abs() < 1e-9, "{apart} s");
    let all: f64 = fresh.parts("p", 0).iter().map(|part| part.1).sum();
    assert!((all - fresh.seconds("p", 0)).abs() < 1e-9);
}

/// A client reads with a request that is followed by its bytes, from servers whose disks seek 5 ms.
fn by_request(clients: usize, size: &str, call: &str, set: &[&str]) -> f64 {
    let layout = "layout = { protocol = 'request' }";
    let case = (0..clients).fold(cluster(clients, 1, layout), |case, at| {
        let file = format!("[[file]]\npath = '/pvfs/f{at}'\nsize = '{size}'\nhost = 'c{at}'");
        let read = format!("read = '/pvfs/f{at}', call = '{call}'");
        case.keys(&file).process_with(&format!("p{at}"), &format!("host = 'c{at}'"), &[&read])
    });
    let run = set.iter().fold(case, |case, set| case.set(set)).run("kernel");
    (0..clients).map(|at| run.seconds(&format!("p{at}"), 0)).fold(0.0, f64::max)
}

/// One message of 200 bytes for a request, and as many answers as the server reads pieces.
#[test]
fn a_read_by_request_is_answered_in_pieces_of_a_strip() {
    let messages = |clients: usize, call: &str| {
        let layout = "layout = { protocol = 'request' }";
        let case = cluster(clients, 1, layout)
            .keys("[[file]]\npath = '/pvfs/f'\nsize = '1 MiB'\nhost = 'c0'")
            .process_with("p", "host = 'c0'", &[&format!("read = '/pvfs/f', call = '{call}'")]);
        let run = case.run("kernel");
        let of = |from: &str| {
            let links = &run.links;
            (0..links.link.len()).find(|&row| links.from[row] == from).map(|row| links.messages[row])
        };
        (of("c0"), of("io0"))
    };
    assert_eq!(messages(1, "64 KiB"), (Some(16), Some(16)), "at most a strip: as it is");
    assert_eq!(
        messages(4, "256 KiB"),
        (Some(4), Some(16)),
        "at most a strip for each client: strip by strip"
    );
    assert_eq!(messages(2, "512 KiB"), (Some(2), Some(4)), "more: a client's share of it");
}

#[test]
fn a_write_by_request_waits_for_no_answer_and_is_put_together_first() {
    let calls = |protocol: &str| {
        let layout = format!("layout = {{ protocol = '{protocol}' }}");
        let run = cluster(1, 1, &layout).process("p", &["write = '/pvfs/f', size = '1 MiB'"]).run("kernel");
        run.links.messages.iter().max().copied()
    };
    assert_eq!(
        [calls("request"), calls("flow")],
        [Some(1), Some(5)],
        "one message, or a request and four buffers"
    );
}

/// Section 8.4.1 of the dissertation: real receive buffers are lists, which are searched.
#[test]
fn small_blocks_pay_the_linear_buffer() {
    let slower = |call: &str| {
        by_request(4, "8 MiB", call, &["host.io0.nfsd.search=200 us", "host.io0.nfsd.threads=1"])
            / by_request(4, "8 MiB", call, &["host.io0.nfsd.threads=1"])
    };
    let [small, large] = ["4 KiB", "1 MiB"].map(slower);
    assert!(small > 1.5 && large < 1.1, "{small} and {large} times as long");
}

#[test]
fn the_buffer_of_a_client_costs_more_with_each_request_in_it() {
    let seconds = |processes: usize, search: &str| {
        let case =
            cluster(1, 1, "").set(&format!("host.io0.nfsd.search={search}")).set("host.io0.nfsd.threads=1");
        let case = (0..processes).fold(case, |case, at| {
            case.keys(&format!(
                "[[file]]\npath = '/pvfs/f{at}'\nsize = '64 KiB'\nhost = 'c0'\ncached = '64 KiB'"
            ))
            .process(&format!("p{at}"), &[&format!("read = '/pvfs/f{at}', call = '4 KiB'")])
        });
        let run = case.run("kernel");
        (0..processes).map(|at| run.seconds(&format!("p{at}"), 0)).fold(0.0, f64::max)
    };
    let extra = |processes| seconds(processes, "100 us") - seconds(processes, "0 s");
    let requests = 16.0;
    assert!((extra(1) - requests * 100e-6).abs() < 1e-4, "one passes itself alone: {} s", extra(1));
    // Each of four is found behind up to three others.
    assert!(extra(4) > 2.0 * 4.0 * extra(1), "{} and {} s", extra(4), extra(1));
}

/// A client that copies 1 GB/s into a cache of so many bytes for each of two servers.
fn cached_writer(cache: &str, operations: &[&str]) -> Run {
    let layout = format!("layout = {{ strip_size = '1 MB', write_cache = '{cache}', flow_buffer = '1 MB' }}");
    cluster(1, 2, &layout).process("p", operations).run("kernel")
}

#[test]
fn a_write_that_fits_into_the_clients_cache_ends_with_its_copy() {
    let write = "write = '/pvfs/f', size = '20 MB', call = '1 MB'";
    let [kept, sent] = ["32 MB", "0 B"].map(|cache| cached_writer(cache, &[write, "fsync = '/pvfs/f'"]));
    assert!((kept.seconds("p", 0) - 0.02).abs() < 1e-6, "{} s", kept.seconds("p", 0));
    assert_eq!(longest(&kept, "p", 0), "cpu_copy");
    assert!(sent.seconds("p", 0) > 0.2, "the link has 100 MB/s");
    let all = |run: &Run| run.seconds("p", 0) + run.seconds("p", 1);
    assert!(all(&kept) <= all(&sent) && all(&kept) > 0.4, "an fsync comes after the disks");
    for part in [0, 1] {
        let parts: f64 = kept.parts("p", part).iter().map(|part| part.1).sum();
        assert!((parts - kept.seconds("p", part)).abs() < 1e-9, "each second has a part");
    }
}

#[test]
fn a_write_of_more_than_the_clients_cache_waits_for_the_link() {
    let run = cached_writer("4 MB", &["write = '/pvfs/f', size = '200 MB', call = '1 MB'"]);
    let expected = (200.0 - 8.0) / 100.0;
    assert!((run.seconds("p", 0) / expected - 1.0).abs() < 0.05, "{} s", run.seconds("p", 0));
    assert_eq!(longest(&run, "p", 0), "throttled");
    assert_eq!(run.file("/pvfs/f").0, 200 * MB);
}

#[test]
fn a_file_buffer_gathers_short_calls() {
    let seconds = |buffer: &str, call: &str| {
        let case = cluster(1, 2, &format!("layout.file_buffer = '{buffer}'"));
        let write = format!("write = '/pvfs/f', size = '8 MiB', call = '{call}'");
        case.process("p", &[&write]).run("kernel").seconds("p", 0)
    };
    assert_eq!(seconds("512 KiB", "4 KiB"), seconds("0 B", "512 KiB"));
    assert_eq!(seconds("512 KiB", "1 MiB"), seconds("0 B", "1 MiB"));
    assert!(seconds("0 B", "4 KiB") > 2.0 * seconds("512 KiB", "4 KiB"));
}

#[test]
fn segments_move_payloads_as_fast_as_flows() {
    let [flows, segments] = ["flow", "segment"]
        .map(|level| readers(1, 4, "40 MB").set(&format!("network.level={level}")).run("kernel"));
    let ratio = segments.seconds("p0", 0) / flows.seconds("p0", 0);
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
    assert!(straggler(&segments).2.ends_with(" to c0"), "its own link is the limit");
    assert_eq!(flows.rpc_slots.len(), 4, "a row for each server");
}

/// Requests of 256 KiB, which servers of four clients read in pieces of 64 KiB.
#[test]
fn each_piece_of_a_read_counts_as_a_call() {
    let run = cluster(4, 1, "layout = { protocol = 'request' }")
        .keys("[[file]]\npath = '/pvfs/f'\nsize = '1 MiB'\nhost = 'c0'")
        .process_with("p", "host = 'c0'", &["read = '/pvfs/f', call = '256 KiB'"])
        .run("kernel");
    let (server, slots) = (&run.servers[0], &run.rpc_slots[0]);
    assert_eq!((server.calls.count, server.calls.read), (16, 1 << 20));
    assert_eq!((slots.calls.count, slots.calls.read), (16, 1 << 20));
    assert!(server.waiting.most > 0, "a piece waits for a thread");
}
