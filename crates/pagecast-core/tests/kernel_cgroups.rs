//! Memory cgroups by the kernel's own rules: limits, reclaim within a group, dirty limits of its own. Source of the rules:
//! `mm/memcontrol.c`, `mm/vmscan.c`, `mm/page-writeback.c`, Linux 6.16.

use proptest::prelude::*;

use crate::common::{Case, GB, MB, Run, linux};
use pagecast_core::result::{CgroupLevels, Part};

const IN_BATCH: &str = "cgroup = 'batch'";

/// [`linux`] with a cgroup "batch" of v2.
fn batch(max: &str) -> Case {
    linux().set(&format!("machine.cgroup.batch.memory.max='{max}'"))
}

/// [`linux`] with a cgroup "batch" of v1.
fn batch_of_v1(limit: &str) -> Case {
    linux().set(&format!("machine.cgroup.batch.memory.limit_in_bytes='{limit}'"))
}

/// That of Linux 6.8, whose dirty limits always know how much of the cgroup is dirty.
fn batch_of_6_8(max: &str) -> Case {
    batch(max).set("machine.kernel.version='6.8'")
}

fn cgroup(run: &Run, name: &str) -> CgroupLevels {
    let table = &run.cgroups;
    let row = table.cgroup.iter().position(|each| each == name).expect("there is that cgroup");
    table.levels[row]
}

fn near(actual: f64, expected: f64, tolerance: f64) -> bool {
    (actual - expected).abs() <= tolerance * expected
}

#[test]
fn what_a_group_has_cached_never_exceeds_its_limit() {
    let run = batch("2 GB")
        .file("/data/f", "5 GB")
        .process_with("p", IN_BATCH, &["read = '/data/f'", "read = '/data/f', size = '1 GB'"])
        .run("kernel");
    let levels = cgroup(&run, "batch");
    assert!((1_990 * MB..=2 * GB).contains(&levels.peak.0), "{levels:?}");
    assert!(levels.cached.0 <= 2 * GB && levels.anonymous.0 == 0, "{levels:?}");
    assert_eq!(run.file("/data/f").1, levels.cached.0);
    assert!(run.timeline.levels.iter().all(|levels| levels.cached.0 <= 2 * GB));
}

#[test]
fn a_file_larger_than_the_limit_is_cold_the_second_time_and_warm_without_the_group() {
    let reads = ["read = '/data/f'", "read = '/data/f'"];
    let case = |case: Case, keys| case.file("/data/f", "4 GB").process_with("p", keys, &reads).run("kernel");
    let (inside, outside) = (case(batch("2 GB"), IN_BATCH), case(linux(), ""));
    assert_eq!(outside.sources("p", 1), (4 * GB, 0));
    // Half of it is there, but what is read first is evicted before it is reached: as on a host of 2 GB, little is left.
    let (from_cache, from_device) = inside.sources("p", 1);
    assert!(from_cache <= GB && from_device >= 3 * GB, "{from_cache} and {from_device}");
    assert!(near(inside.seconds("p", 0), 40.0, 0.01), "{}", inside.seconds("p", 0));
}

#[test]
fn a_group_that_streams_a_file_does_not_evict_the_cache_of_others() {
    let run = batch("1 GB")
        .set("machine.cgroup.other.memory.max='6 GB'")
        .file("/data/mine", "5 GB")
        .file("/data/stream", "20 GB")
        .process_with("reader", "cgroup = 'other'", &["read = '/data/mine'"])
        .process_with("streamer", "cgroup = 'batch'\nafter = ['reader']", &["read = '/data/stream'"])
        .run("kernel");
    assert_eq!(run.file("/data/mine").1, 5 * GB);
    assert!(run.file("/data/stream").1 <= GB);
    let without = linux()
        .file("/data/mine", "5 GB")
        .file("/data/stream", "20 GB")
        .process("reader", &["read = '/data/mine'"])
        .process_with("streamer", "after = ['reader']", &["read = '/data/stream'"])
        .run("kernel");
    assert_eq!(without.file("/data/mine").1, 0);
}

#[test]
fn a_page_is_charged_to_who_brings_it_in_and_free_for_others() {
    let run = batch("1 GB")
        .file("/data/f", "3 GB")
        .process("first", &["read = '/data/f'"])
        .process_with("second", "cgroup = 'batch'\nafter = ['first']", &["read = '/data/f'"])
        .run("kernel");
    assert_eq!(run.sources("second", 0), (3 * GB, 0));
    assert_eq!(cgroup(&run, "batch").peak.0, 0);
    assert_eq!(run.file("/data/f").1, 3 * GB);
}

#[test]
fn anonymous_memory_of_a_group_pushes_its_own_cache_out_and_no_other() {
    let operations = ["read = '/data/f'", "alloc = '1500 MB'", "sleep = '1 s'"];
    let run = batch("2 GB")
        .file("/data/f", "1 GB")
        .cached("/data/g", "4 GB", "4 GB")
        .process_with("p", IN_BATCH, &operations)
        .run("kernel");
    let levels = run.memory_at(run.end("p", 1) + 0.5);
    assert_eq!(levels.anonymous.0, 1_500 * MB);
    assert!((4_490 * MB..=4_500 * MB).contains(&levels.cached.0), "{levels:?}");
    assert_eq!(run.file("/data/g").1, 4 * GB);
    assert!(cgroup(&run, "batch").peak.0 <= 2 * GB);
}

/// Two calls of 64 KiB come to the mark of the first window, so that two windows of 128 KiB are read.
#[test]
fn what_is_read_ahead_is_charged_to_the_group_of_its_reader() {
    let reads =
        ["read = '/data/f', size = '65536 B'", "read = '/data/f', offset = '65536 B', size = '65536 B'"];
    let run = batch("1 GB")
        .set("machine.disk.ssd.latency=1 ms")
        .file("/data/f", "1 GB")
        .process_with("p", IN_BATCH, &[reads[0], reads[1], "sleep = '1 s'"])
        .run("kernel");
    assert_eq!(cgroup(&run, "batch").cached.0, 256 << 10);
}

#[test]
fn a_full_group_makes_room_for_what_is_read_ahead() {
    let run = batch("300 MB")
        .file("/data/f", "800 MB")
        .process_with(
            "p",
            IN_BATCH,
            &["read = '/data/f', size = '637 MB'", "read = '/data/f', size = '1 MB'"],
        )
        .run("kernel");
    assert!((299 * MB..=300 * MB).contains(&cgroup(&run, "batch").peak.0), "{:?}", cgroup(&run, "batch"));
}

#[test]
fn what_is_on_its_way_of_a_file_that_is_cut_is_charged_no_more() {
    let run = batch("1 GB")
        .set("machine.disk.ssd.latency=1 ms")
        .file("/data/f", "1 GB")
        .process_with(
            "p",
            IN_BATCH,
            &[
                "read = '/data/f', size = '1 MiB'",
                "sleep = '2 ms'",
                "truncate = '/data/f', size = '4096 B'",
                "sleep = '1 s'",
            ],
        )
        .run("kernel");
    assert_eq!(cgroup(&run, "batch").cached.0, 4096);
    assert_eq!(run.memory_at(run.end("p", 3)).cached.0, 4096);
}

/// 2 GB of `memory.max`: 200 MB background, 300 MB end of free run, 400 MB limit (each 0.1 % less). Those of the host are five times
/// as far.
#[test]
fn a_writer_is_throttled_around_the_limits_of_its_group() {
    let run = batch_of_6_8("2 GB")
        .process_with("p", IN_BATCH, &["write = '/data/f', size = '4 GB', call = '1 MiB'"])
        .run("kernel");
    let (begins, _, bytes) = run.events_called("throttling_begins")[0];
    assert!(near(bytes as f64, 299.6e6, 0.01), "{bytes}");
    // 1 GB/s until then, less what the disk takes meanwhile: the flusher is woken at the end of free run.
    assert!(near(begins, 0.3, 0.02), "{begins}");
    let levels = cgroup(&run, "batch");
    assert!((330 * MB..400 * MB).contains(&levels.dirty_peak.0), "{levels:?}");
    assert!(levels.peak.0 <= 2 * GB, "{levels:?}");
    // All but what is dirty at the end is on the disk.
    assert!(near(run.seconds("p", 0), 36.5, 0.03), "{}", run.seconds("p", 0));
    let host = linux().process("p", &["write = '/data/f', size = '4 GB', call = '1 MiB'"]).run("kernel");
    assert!(host.seconds("p", 0) < 30.0, "{}", host.seconds("p", 0));
}

/// Limits as above; 900 MB are below the background threshold of the host (1 GB).
#[test]
fn since_6_9_nothing_of_a_group_holds_a_writer_back_before_its_counters_are_added_up() {
    let write = ["write = '/data/f', size = '900 MB', call = '1 MiB'"];
    let run = |case: Case| case.process_with("p", IN_BATCH, &write).run("kernel");
    let (late, at_once) = (run(batch("2 GB")), run(batch_of_6_8("2 GB")));
    assert_eq!(late.parts("p", 0), [("cpu_copy", 0.9)]);
    assert_eq!(late.events_called("throttling_begins"), []);
    assert!(at_once.seconds("p", 0) > 5.0, "{}", at_once.seconds("p", 0));
}

/// The counters are added up at 2.016 s: 500 MB, above the limit of 400 MB. From 2.5 s on the flusher writes 100 MB/s, and they are added
/// up again at 4.032 s: 347 MB, between the end of free run and the limit.
#[test]
fn a_writer_waits_at_the_limit_until_the_counters_of_its_group_say_that_less_is_dirty() {
    let operations =
        ["write = '/data/f', size = '500 MB'", "sleep = '2 s'", "write = '/data/g', size = '5 MB'"];
    let run = batch("2 GB").process_with("p", IN_BATCH, &operations).run("kernel");
    assert_eq!(run.parts("p", 0), [("cpu_copy", 0.5)]);
    assert!(near(run.memory_at(4.0).dirty.0 as f64, 350e6, 0.02), "{:?}", run.memory_at(4.0));
    assert!((4.032..4.3).contains(&run.end("p", 2)), "{}", run.end("p", 2));
}

#[test]
fn a_group_of_v1_fills_with_dirty_pages_and_then_waits_for_write_back() {
    let write = ["write = '/data/f', size = '3 GB', call = '1 MiB'"];
    let case = batch_of_v1("500 MB").process_with("p", IN_BATCH, &write);
    let run = case.run("kernel");
    assert_eq!(run.events_called("throttling_begins"), []);
    let levels = cgroup(&run, "batch");
    // All of its memory, less than a percent for crumbs.
    assert!((495 * MB..=500 * MB).contains(&levels.dirty_peak.0), "{levels:?}");
    assert!(levels.peak.0 <= 500 * MB, "{levels:?}");
    let parts = run.parts("p", 0);
    assert_eq!(parts.iter().map(|&(part, _)| part).collect::<Vec<_>>(), ["cpu_copy", "reclaim"], "{parts:?}");
    assert!(!run.events_called("flushers_woken_by_reclaim").is_empty());
    // 500 MB at once, then what the disk takes.
    assert!(near(run.seconds("p", 0), 25.5, 0.02), "{}", run.seconds("p", 0));
}

#[test]
fn a_group_in_free_run_is_written_when_the_timer_rings_if_it_is_over_its_background_threshold() {
    // 105 MB: above 10 % and below 15 % of 1 GB. For the host that is little, even for its share of an idle device.
    let case = |keys| {
        let operations = ["write = '/data/f', size = '105 MB'", "sleep = '8 s'"];
        batch("1 GB").process_with("p", keys, &operations).run("kernel")
    };
    let (inside, outside) = (case(IN_BATCH), case(""));
    assert_eq!(inside.memory_at(4.9).dirty.0, 105 * MB);
    assert!(inside.file("/data/f").2 < 100 * MB, "{:?}", inside.file("/data/f"));
    assert_eq!(outside.file("/data/f").2, 105 * MB);
}

#[test]
fn writers_of_two_groups_share_the_device() {
    let write = |path: &str| format!("write = '{path}', size = '2 GB', call = '1 MiB'");
    let run = batch_of_6_8("2 GB")
        .set("machine.cgroup.other.memory.max='2 GB'")
        .process_with("p", IN_BATCH, &[&write("/data/f")])
        .process_with("q", "cgroup = 'other'", &[&write("/data/g")])
        .run("kernel");
    let (p, q) = (run.seconds("p", 0), run.seconds("q", 0));
    assert!(near(p, q, 0.02), "{p} and {q}");
    // 4 GB less what is dirty at the end, twice some 370 MB.
    assert!(near(p, 32.6, 0.05), "{p}");
    for name in ["batch", "other"] {
        assert!(cgroup(&run, name).dirty_peak.0 < 400 * MB, "{name}");
    }
}

#[test]
fn a_throttled_group_does_not_hold_back_a_writer_outside() {
    let run = batch("1 GB")
        .process_with("p", IN_BATCH, &["write = '/data/f', size = '2 GB', call = '1 MiB'"])
        .process_with("q", "start = '5 s'", &["write = '/data/g', size = '800 MB', call = '1 MiB'"])
        .run("kernel");
    assert_eq!(run.parts("q", 0), [("cpu_copy", 0.8)]);
}

#[test]
fn an_inode_stays_with_the_group_that_made_it_dirty_first() {
    // The file is the group's; so a writer outside is held back by the group's limits.
    let run = batch("1 GB")
        .process_with("p", IN_BATCH, &["write = '/data/f', size = '100 MB'", "fsync = '/data/f'"])
        .process_with("q", "after = ['p']", &["write = '/data/f', size = '800 MB', append = true"])
        .run("kernel");
    assert_eq!(run.events_called("throttling_begins"), []);
    let levels = cgroup(&run, "batch");
    assert_eq!((levels.cached.0, levels.dirty.0), (100 * MB, 0), "the pages are charged to nobody");
}

#[test]
fn global_reclaim_takes_from_all_groups_in_proportion() {
    let run = batch("6 GB")
        .set("machine.cgroup.other.memory.max='6 GB'")
        .file("/data/a", "2 GB")
        .file("/data/b", "6 GB")
        .process_with("p", IN_BATCH, &["read = '/data/a'"])
        .process_with("q", "cgroup = 'other'\nafter = ['p']", &["read = '/data/b'"])
        .process_with("r", "after = ['q']", &["alloc = '6 GB'", "sleep = '1 s'"])
        .run("kernel");
    let (a, b) = (run.file("/data/a").1 as f64, run.file("/data/b").1 as f64);
    assert!(near(b / a, 3.0, 0.02), "{a} and {b}");
    assert!(near(a + b, 4.03e9, 0.01), "{}", a + b);
}

#[test]
fn nodes_and_groups_have_lists_of_their_own() {
    let run = batch("2 GB")
        .set("machine.memory.nodes=2")
        .file("/data/f", "6 GB")
        .process_with("p", IN_BATCH, &["read = '/data/f'", "write = '/data/g', size = '1 GB'"])
        .run("kernel");
    let levels = cgroup(&run, "batch");
    assert!(levels.peak.0 <= 2 * GB && levels.cached.0 >= 1_980 * MB, "{levels:?}");
}

#[test]
fn pages_that_are_dropped_or_removed_are_charged_no_more() {
    let operations = [
        "read = '/data/f'",
        "write = '/data/g', size = '200 MB'",
        "drop_caches = true",
        "sleep = '1 ms'",
        "unlink = '/data/g'",
        "alloc = '1990 MB'",
        "free = 'all'",
        "read = '/data/f'",
        "fadvise = '/data/f', advice = 'dontneed'",
    ];
    let run = batch("2 GB").file("/data/f", "1 GB").process_with("p", IN_BATCH, &operations).run("kernel");
    assert_eq!(run.sources("p", 7), (0, GB));
    let levels = cgroup(&run, "batch");
    let CgroupLevels { cached, anonymous, dirty, .. } = levels;
    assert_eq!((cached.0, anonymous.0, dirty.0), (0, 0, 0), "{levels:?}");
}

#[test]
fn out_of_memory_in_a_group_names_it_and_who_holds_what() {
    let error = batch("2 GB")
        .process_with("holder", IN_BATCH, &["alloc = '1500 MB'", "sleep = '9 s'"])
        .process_with("p", "cgroup = 'batch'\nstart = '5 s'", &["alloc = '600 MB'"])
        .process("outside", &["alloc = '3 GB'", "sleep = '9 s'"])
        .error("kernel");
    insta::assert_snapshot!(error, @"test.toml:25: process `p` needs 600 MB more memory at 5.000 s, but cgroup `batch` on host `machine` (memory.max) has 2 GB and the processes hold 1.5 GB (`holder` 1.5 GB); use `free`, a smaller buffer or more memory");
}

#[test]
fn a_file_cannot_be_read_where_all_memory_of_a_group_is_anonymous() {
    let read = |alloc: &str| {
        let operations = [alloc, "read = '/data/f'"];
        batch("2 GB").file("/data/f", "1 GB").process_with("p", IN_BATCH, &operations)
    };
    insta::assert_snapshot!(read("alloc = '2 GB'").error("kernel"), @"test.toml:22: process `p` needs 1 GB more memory at the start, but cgroup `batch` on host `machine` (memory.max) has 2 GB and the processes hold 2 GB (`p` 2 GB); use `free`, a smaller buffer or more memory");
    // With little left it can, through that little.
    let run = read("alloc = '1999 MB'").run("kernel");
    assert!(cgroup(&run, "batch").peak.0 <= 2 * GB);
    assert!(run.file("/data/f").1 <= MB);
}

#[test]
fn models_that_know_no_groups_say_so() {
    let case = batch("2 GB").process_with("p", IN_BATCH, &["write = '/data/f', size = '1 GB'"]);
    insta::assert_snapshot!(case.error("wrench"), @"test.toml: model `wrench` knows no memory cgroups, and host `machine` has some; ask model `kernel`, or remove the cgroups");
    insta::assert_snapshot!(case.error("no-cache"), @"test.toml: model `no-cache` knows no memory cgroups, and host `machine` has some; ask model `kernel`, or remove the cgroups");
    insta::assert_snapshot!(case.error("endless-cache"), @"test.toml: model `endless-cache` knows no memory cgroups, and host `machine` has some; ask model `kernel`, or remove the cgroups");
}

#[test]
fn reclaim_in_a_group_is_told_once() {
    let run = batch("2 GB")
        .file("/data/f", "5 GB")
        .process_with("p", IN_BATCH, &["read = '/data/f'"])
        .run("kernel");
    let [(at, _, bytes)] = run.events_called("cgroup_reclaim_begins")[..] else { panic!("told once") };
    assert_eq!(bytes, 2 * GB);
    assert!(near(at, 20.0, 0.01), "{at}");
}

#[test]
fn a_group_that_is_never_full_changes_nothing_for_a_reader() {
    let reads = ["read = '/data/f'", "read = '/data/f', buffer = 'fresh', size = '1 GB'", "free = 'all'"];
    let case = |case: Case, keys| case.file("/data/f", "4 GB").process_with("p", keys, &reads).run("kernel");
    let (inside, outside) = (case(batch("9 GB"), IN_BATCH), case(linux(), ""));
    assert_eq!(inside.operations.end, outside.operations.end);
}

/// A group of v1 is full: 400 MB that another process drops while they are written over, and 100 MB of anonymous memory. What was
/// cached and clean must be had anew, within the limit.
#[test]
fn who_writes_over_pages_that_somebody_drops_is_charged_for_new_ones() {
    let write = "write = '/data/f', size = '400 MB', call = '1 MiB'";
    let case = |drop: &str| {
        batch_of_v1("500 MB")
            .file("/data/f", "400 MB")
            .process_with("holder", IN_BATCH, &["alloc = '300 MB'", "sleep = '60 s'"])
            .process_with("p", IN_BATCH, &["read = '/data/f', size = '190 MB'", write])
            .process("other", &["sleep = '1.95 s'", drop])
            .run("kernel")
    };
    for run in [case("drop_caches = true"), case("sleep = '1 s'")] {
        let levels = cgroup(&run, "batch");
        assert!(levels.peak.0 <= 500 * MB, "{levels:?}");
        assert!(run.part("p", 1, Part::Reclaim) > 1.0, "it waits for write-back: {levels:?}");
    }
}

/// Of two that write the same new bytes, the first has the pages; so the second, behind it, is not held back where its group is full.
#[test]
fn who_writes_what_another_group_has_just_written_needs_no_pages() {
    let write = "write = '/data/f', size = '800 MB', call = '1 MiB'";
    let run = batch_of_v1("300 MB")
        .process("first", &[write])
        .process_with("second", "cgroup = 'batch'\nstart = '0.1 s'", &[write])
        .run("kernel");
    assert_eq!(cgroup(&run, "batch").peak.0, 0);
    assert!(near(run.seconds("second", 0), 0.8, 0.01), "{}", run.seconds("second", 0));
}

/// A step of a random program: which of some operations, on which file, how many MB.
fn operation((kind, file, megabytes): (u8, u8, u64)) -> String {
    let path = format!("/data/f{file}");
    match kind {
        0 | 1 => format!("read = '{path}', size = '{megabytes} MB'"),
        2 | 3 => format!("write = '{path}', size = '{megabytes} MB', call = '1 MiB'"),
        4 => format!("write = '{path}', size = '{megabytes} MB', append = true"),
        5 => format!("fsync = '{path}'"),
        6 => format!("alloc = '{} MB'", megabytes / 8 + 1),
        7 => "free = 'all'".to_owned(),
        8 => format!("fadvise = '{path}', advice = 'dontneed'"),
        9 => "drop_caches = true".to_owned(),
        _ => format!("sleep = '{megabytes} ms'"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn no_program_gets_more_than_its_group_may_have(
        programs in prop::collection::vec(
            (0_usize..4, prop::collection::vec((0_u8..11, 0_u8..3, 1_u64..800), 1..8)), 1..5),
        limits in [300_u64..2000, 300_u64..2000, 300_u64..2000],
        nodes in 1_u32..3,
    ) {
        let groups = [
            format!("machine.cgroup.g1.memory.max='{} MB'", limits[0]),
            format!("machine.cgroup.g2.memory.max='{} MB'", limits[1]),
            format!("machine.cgroup.g3.memory.limit_in_bytes='{} MB'", limits[2]),
        ];
        let mut case = groups.iter().fold(linux(), |case, group| case.set(group));
        case = case.set(&format!("machine.memory.nodes={nodes}"));
        for file in 0..3 {
            case = case.file(&format!("/data/f{file}"), "800 MB");
        }
        for (at, (group, program)) in programs.iter().enumerate() {
            let operations: Vec<String> = program.iter().map(|&each| operation(each)).collect();
            let operations: Vec<&str> = operations.iter().map(String::as_str).collect();
            let keys = if *group == 0 { String::new() } else { format!("cgroup = 'g{group}'") };
            case = case.process_with(&format!("p{at}"), &keys, &operations);
        }
        // Out of memory is an answer, too: 4 programs of 7 times 100 MB may be more than a group has.
        let Ok(result) = case.simulate("kernel") else { return Ok(()) };
        let last = result.timeline.levels.last().expect("there is a sample");
        prop_assert!(result.timeline.levels.iter().all(|levels| levels.dirty <= levels.cached));
        let (mut cached, mut anonymous) = (0, 0);
        for (levels, limit) in result.cgroups.levels.iter().zip(limits) {
            prop_assert!(levels.peak.0 <= limit * MB, "{levels:?} of {limit} MB");
            prop_assert!(levels.dirty <= levels.cached && levels.dirty_peak <= levels.peak, "{levels:?}");
            cached += levels.cached.0;
            anonymous += levels.anonymous.0;
        }
        prop_assert!(cached <= last.cached.0 && anonymous <= last.anonymous.0);
        if programs.iter().all(|(group, _)| *group > 0) {
            prop_assert_eq!((cached, anonymous), (last.cached.0, last.anonymous.0));
        }
    }
}

/// The trees belong to no cgroup, so the disk writes for the host, too.
#[test]
fn the_trees_of_btrfs_are_written_where_only_a_cgroup_has_written_files() {
    let run = batch("2 GB")
        .set("machine.mount./data.type='btrfs'")
        .process_with(
            "p",
            IN_BATCH,
            &["write = '/data/f', size = '1 MB'", "fsync = '/data/f'", "sleep = '40 s'"],
        )
        .run("kernel");
    let dirty = |row: usize| run.timeline.levels[row].dirty.0;
    let rows = run.timeline.levels.len();
    assert!((0..rows).any(|row| dirty(row) > 0) && dirty(rows - 1) == 0, "{}", dirty(rows - 1));
}
