//! The tables of a result: residency, timeline, events, blocks, parts; and that they are the same again.

use pagecast_core::result::{KernelLevels, Part};
use pagecast_core::units::Nanos;

use crate::common::{Case, GB, HOSTS, MB, Run, case, linux, on};

/// Several processes that do a bit of everything under memory pressure.
fn busy() -> Case {
    case()
        .set("machine.disk.ssd.write=60 MB/s")
        .file("/data/f", "3 GB")
        .cached("/data/g", "2 GB", "700 MB")
        .process(
            "a",
            &["read = '/data/f', buffer = 'fresh'", "compute = '2 s'", "write = '/data/h', size = '3 GB'"],
        )
        .process("b", &["write = '/data/i', size = '4 GB'", "fsync = '/data/i'", "read = '/data/g'"])
        .process_with("c", "after = ['a']", &["read = '/data/h'", "drop_caches = true", "read = '/data/f'"])
        .process("d", &["sleep = '1 s'", "wait = 'x'", "free = 'all'"])
        .process(
            "e",
            &[
                "compute = '20 s'",
                "signal = 'x'",
                "alloc = '1 GB'",
                "write = '/data/e', size = '300 MB'",
                "unlink = '/data/e'",
            ],
        )
}

#[test]
fn the_parts_of_every_operation_add_up_to_its_duration() {
    let remote = on(HOSTS)
        .set("link.lan.latency=30 us")
        .file("/remote/f", "750 MB")
        .process("a", &["read = '/remote/f'", "write = '/remote/g', size = '350 MB'", "read = '/remote/g'"])
        .process("b", &["read = '/remote/f'"]);
    for (case, model) in
        [busy(), remote].iter().flat_map(|case| pagecast_core::MODELS.map(|model| (case, model)))
    {
        let run = case.run(model);
        for (row, parts) in run.operations.parts.iter().enumerate() {
            assert_eq!(
                parts.total(),
                run.operations.end[row] - run.operations.start[row],
                "row {row} of {model}"
            );
        }
    }
}

#[test]
fn bytes_read_come_from_the_cache_or_the_device() {
    for model in pagecast_core::MODELS {
        let run = busy().run(model);
        for row in (0..run.operations.end.len()).filter(|&row| run.operations.operation[row] == "read") {
            let sources = run.operations.from_cache[row] + run.operations.from_device[row];
            assert_eq!(sources, run.operations.bytes[row], "row {row} of {model}");
        }
    }
}

#[test]
fn dirty_is_within_cached_and_cached_within_memory() {
    let run = busy().run("wrench");
    assert!(run.timeline.levels.len() > 50);
    for levels in &run.timeline.levels {
        assert!(levels.dirty <= levels.cached && levels.used() <= levels.total, "{levels:?}");
    }
}

#[test]
fn time_never_runs_back() {
    let run = busy().run("wrench");
    assert!(run.operations.end.is_sorted() && run.timeline.time.is_sorted() && run.events.time.is_sorted());
}

#[test]
fn the_same_scenario_gives_the_same_bytes() {
    for model in pagecast_core::MODELS {
        let text = |seed| format!("{:?}", busy().seed(seed).run(model));
        assert_eq!(text(1), text(1), "{model}");
        assert_eq!(text(1), text(2), "{model}: an even machine draws no random numbers");
    }
}

#[test]
fn an_uneven_disk_makes_seeds_matter() {
    let text = |seed| format!("{:?}", busy().set("machine.disk.ssd.unevenness=0.2").seed(seed).run("wrench"));
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

#[test]
fn a_scenario_can_be_simulated_again_and_again() {
    let scenario = busy().scenario().expect("it is right");
    let simulate =
        || pagecast_core::simulate(&scenario, "wrench", Default::default()).expect("it goes through");
    assert_eq!(format!("{:?}", simulate()), format!("{:?}", simulate()));
}

#[test]
fn a_host_is_named_in_each_table() {
    let run = on(HOSTS).file("/remote/f", "100 MB").process("p", &["read = '/remote/f'"]).run("wrench");
    assert_eq!(run.hosts, ["client", "server"]);
    assert_eq!(run.operations.host, [0]);
    let hosts = |of: &[u32]| (of.contains(&0), of.contains(&1));
    assert_eq!(hosts(&run.timeline.host), (true, true));
    assert_eq!(hosts(&run.files.host), (true, true));
    assert_eq!(hosts(&run.blocks.host), (true, true));
}

/// Rows of the table of files: seconds, process, index, path, size and cached bytes.
fn files(run: &Run) -> Vec<(f64, u32, u32, &str, u64, u64)> {
    let table = &run.files;
    let row = |at: usize| {
        let path = &*run.paths[table.path[at] as usize];
        (
            table.time[at].as_seconds(),
            table.process[at],
            table.index[at],
            path,
            table.size[at],
            table.cached[at],
        )
    };
    (0..table.time.len()).map(row).collect()
}

const END: u32 = u32::MAX;

#[test]
fn residency_is_recorded_at_the_end() {
    let case = case().file("/data/f", "1 GB").file("/data/e", "500 MB");
    let run = case.process("p", &["read = '/data/f'", "sleep = '1 s'"]).run("wrench");
    let rows = [(11.0, END, END, "/data/e", 500 * MB, 0), (11.0, END, END, "/data/f", GB, GB)];
    assert_eq!(files(&run), rows, "in the order of the paths");
}

#[test]
fn residency_is_recorded_after_each_operation_on_a_file_if_asked_for() {
    let run = case()
        .set("residency=operation")
        .file("/data/f", "1 GB")
        .process("q", &["sleep = '1 s'"])
        .process("p", &["read = '/data/f', size = '300 MB'", "compute = '1 s'", "read = '/data/f'"])
        .run("endless-cache");
    let f = |time, process, index, cached| (time, process, index, "/data/f", GB, cached);
    assert_eq!(files(&run), [f(3.0, 1, 0, 300 * MB), f(11.3, 1, 2, GB), f(11.3, END, END, GB)]);
}

/// Files that clients wrote over NFS were missing from what their server had cached: it had not named them itself.
#[test]
fn a_server_tells_what_it_has_cached_of_files_that_only_clients_name() {
    let operations = ["read = '/remote/f'", "write = '/remote/g', size = '100 MB'", "fsync = '/remote/g'"];
    for model in ["kernel", "wrench"] {
        let run = on(HOSTS).file("/remote/f", "200 MB").process("p", &operations).run(model);
        let of_server: Vec<(&str, u64)> = (run.files.host.iter().zip(files(&run)))
            .filter(|&(&host, _)| host == 1)
            .map(|(_, row)| (row.3, row.5))
            .collect();
        assert_eq!(of_server, [("/export/f", 200 * MB), ("/export/g", 100 * MB)], "{model}");
    }
}

#[test]
fn residency_after_an_operation_is_that_of_its_host_and_of_its_server() {
    let run = on(HOSTS)
        .set("residency=operation")
        .file("/remote/f", "200 MB")
        .process_with("server", "host = 'server'", &["read = '/export/f'"])
        .process_with("client", "after = ['server']", &["read = '/remote/f'"])
        .run("wrench");
    let hosts_and_paths: Vec<(u32, &str)> =
        run.files.host.iter().zip(files(&run)).map(|(&host, row)| (host, row.3)).collect();
    let (client, server) = ((0, "/remote/f"), (1, "/export/f"));
    let expected = [server, server, client, client, server];
    assert_eq!(hosts_and_paths, expected);
}

#[test]
fn residency_tells_dirty_bytes() {
    let run = case().process("p", &["write = '/data/g', size = '1 GB'"]).run("wrench");
    assert_eq!(run.file("/data/g"), (GB, GB, GB));
}

#[test]
fn residency_tells_active_bytes_where_there_are_lists() {
    let active = |model: &str| {
        let read = "read = '/data/f'";
        let run = case()
            .file("/data/f", "600 MB")
            .process(
                "p",
                &["write = '/data/g', size = '1 GB'", read, read, "read = '/data/g', size = '300 MB'"],
            )
            .run(model);
        [run.files.active[0], run.files.active[1]]
    };
    assert_eq!(active("wrench"), [600 * MB, 300 * MB]);
    assert_eq!(active("kernel"), [600 * MB, 0], "a write is no access: the read is the first");
    assert_eq!((active("endless-cache"), active("no-cache")), ([0, 0], [0, 0]));
}

#[test]
fn only_the_kernels_own_rules_fill_the_levels_of_the_kernel() {
    for model in pagecast_core::MODELS {
        let run = busy().run(model);
        let is_kernel = model == "kernel";
        assert_eq!(run.timeline.is_even, is_kernel, "{model}");
        assert!(run.timeline.levels.iter().all(|levels| levels.kernel.is_some() == is_kernel), "{model}");
    }
}

/// What the kernel model knows at each row of the timeline.
fn kernel_levels(run: &Run) -> Vec<KernelLevels> {
    run.timeline.levels.iter().map(|levels| levels.kernel.expect("the model is the kernel's")).collect()
}

#[test]
fn levels_of_the_kernel_are_within_each_other() {
    let run = busy().run("kernel");
    assert!(kernel_levels(&run).len() > 50);
    for (levels, kernel) in run.timeline.levels.iter().zip(kernel_levels(&run)) {
        assert_eq!(kernel.active + levels.inactive(), levels.cached, "{levels:?}");
        assert!(kernel.writeback <= levels.dirty && levels.dirty <= kernel.dirtied, "{levels:?}");
        assert!(kernel.background < kernel.setpoint && kernel.setpoint <= kernel.hard_limit, "{levels:?}");
        assert!(kernel.limit <= kernel.hard_limit, "{levels:?}");
    }
    assert!(kernel_levels(&run).is_sorted_by_key(|kernel| kernel.dirtied));
}

#[test]
fn the_limits_of_10_gb_that_can_become_dirty() {
    let run = linux().process("p", &["write = '/data/g', size = '3 GB'"]).run("kernel");
    for kernel in kernel_levels(&run) {
        let limits = [kernel.background, kernel.setpoint, kernel.limit, kernel.hard_limit];
        assert_eq!(limits.map(|bytes| (bytes.0 as f64 / 1e7).round() / 100.0), [1.0, 1.75, 2.0, 2.0]);
    }
}

#[test]
fn tasks_have_a_rate_while_they_are_throttled() {
    let run = linux().process("p", &["write = '/data/g', size = '3 GB'", "sleep = '5 s'"]).run("kernel");
    let begins = run.events_called("throttling_begins")[0].0;
    let ends = run.events_called("throttling_ends").last().expect("it ends").0;
    for (time, kernel) in run.timeline.time.iter().zip(kernel_levels(&run)) {
        let time = time.as_seconds();
        if time < begins || time > ends {
            assert_eq!(kernel.task_rate, None, "{time} s");
        } else if time > begins && time < ends {
            let rate = kernel.task_rate.expect("somebody is throttled").0;
            assert!((10 * MB..GB).contains(&rate), "{rate} at {time} s");
        }
    }
    assert_eq!(run.memory_at(ends + 1.0).kernel.expect("it has these").dirtied.0, 3 * GB);
}

#[test]
fn a_timeline_begins_at_time_0_with_what_was_cached_before() {
    let run = case().cached("/data/f", "1 GB", "600 MB").process("p", &["sleep = '1 s'"]).run("wrench");
    assert_eq!(run.timeline.time, [Nanos::ZERO]);
    assert_eq!(run.timeline.levels[0].cached.0, 600 * MB);
    assert_eq!(run.timeline.levels[0].free().0, 9_400 * MB);
}

#[test]
fn a_timeline_follows_the_memory() {
    let operations = [
        "alloc = '2 GB'",
        "sleep = '1 s'",
        "write = '/data/g', size = '1 GB'",
        "sleep = '1 s'",
        "free = 'all'",
        "sleep = '1 s'",
    ];
    let run = case().process("p", &operations).run("wrench");
    let levels = |time| {
        let levels = run.memory_at(time);
        [levels.anonymous, levels.cached, levels.dirty, levels.free()].map(|bytes| bytes.0 / MB)
    };
    assert_eq!(levels(0.5), [2000, 0, 0, 8000]);
    assert_eq!(levels(1.45), [2000, 500, 500, 7500], "chunk by chunk, at the start of its transfer");
    assert_eq!(levels(2.5), [2000, 1000, 1000, 7000]);
    assert_eq!(levels(3.5), [0, 1000, 1000, 9000]);
}

#[test]
fn blocks_are_listed_in_the_order_of_their_lists() {
    let operations =
        ["write = '/data/g', size = '150 MB'", "read = '/data/f'", "read = '/data/f', size = '100 MB'"];
    let run = case().file("/data/f", "200 MB").process("p", &operations).run("wrench");
    assert_eq!(run.blocks.list, ["inactive", "inactive", "inactive", "active"]);
    let g = [("/data/g", 100 * MB, true), ("/data/g", 50 * MB, true)];
    assert_eq!(run.list("inactive"), [g[0], g[1], ("/data/f", 100 * MB, false)]);
    assert_eq!(run.list("active"), [("/data/f", 100 * MB, false)]);
    let seconds = |times: &[Nanos]| times.iter().map(|time| time.as_seconds()).collect::<Vec<_>>();
    assert_eq!(seconds(&run.blocks.accessed), [0.0, 0.1, 1.15, 2.15]);
    assert_eq!(seconds(&run.blocks.dirtied), [0.0, 0.1, 0.0, 0.0]);
    assert_eq!(run.blocks.left_out, 0);
}

#[test]
fn a_rival_lists_no_blocks() {
    let run = case().file("/data/f", "200 MB").process("p", &["read = '/data/f'"]).run("endless-cache");
    assert!(run.blocks.bytes.is_empty());
}

/// A file of so many blocks of 1 kB is read, and as many of another file are cached before.
fn many_blocks(memory: &str, count: u64) -> Run {
    let size = format!("{count} kB");
    case()
        .set(&format!("machine.memory.size={memory}"))
        .option("chunk", "1 kB")
        .cached("/data/e", &size, &size)
        .file("/data/f", &size)
        .process("p", &["read = '/data/f'"])
        .run("wrench")
}

#[test]
fn all_blocks_of_a_host_are_listed_or_none() {
    let run = many_blocks("1 GB", 5_000);
    assert_eq!((run.blocks.bytes.len(), run.blocks.left_out), (10_000, 0));
    let run = many_blocks("1 GB", 5_001);
    assert_eq!((run.blocks.bytes.len(), run.blocks.left_out), (0, 10_002));
}

#[test]
fn events_beyond_their_limit_are_counted() {
    // The first chunk evicts two blocks, each other one but the last, for which nothing is left.
    let run = many_blocks("10_500 kB", 10_500);
    assert_eq!((run.events.time.len(), run.events.left_out), (10_000, 499));
    let run = many_blocks("10_001 kB", 10_001);
    assert_eq!((run.events.time.len(), run.events.left_out), (10_000, 0));
}

#[test]
fn an_event_names_its_file_and_its_bytes() {
    let run = case().process("p", &["write = '/data/g', size = '200 MB'", "fsync = '/data/g'"]).run("wrench");
    assert_eq!(run.all_events(), [(0.2, "forced_flush", "/data/g", 200 * MB)]);
}

#[test]
fn no_event_is_told_where_nothing_happens() {
    assert_eq!(case().process("p", &["sleep = '1 s'"]).run("wrench").all_events(), []);
}

#[test]
fn each_part_has_a_name_and_a_place_of_its_own() {
    let names: std::collections::BTreeSet<&str> = Part::ALL.iter().map(|part| part.name()).collect();
    assert_eq!(names.len(), Part::ALL.len());
    assert!(Part::ALL.iter().enumerate().all(|(at, &part)| part as usize == at));
}
