//! Memory by the kernel's own rules: what reclaim takes, what drops pages, what limits follow. Source of the rules: `mm/vmscan.c`,
//! `mm/workingset.c`, `mm/page_alloc.c`, Linux 6.16.

use pagecast_core::result::MemoryLevels;

use crate::common::{Case, GB, MB, linux};

const READ: &str = "read = '/data/f'";

/// A process on a file "/data/f" of 8 GB that is cached.
fn cached(operations: &[&str]) -> Case {
    linux().cached("/data/f", "8 GB", "8 GB").process("p", operations)
}

fn near(actual: u64, expected: u64, tolerance: f64) -> bool {
    actual.abs_diff(expected) as f64 <= tolerance * expected as f64
}

#[test]
fn anonymous_memory_pushes_clean_cache_out() {
    let run = cached(&["alloc = '5 GB'", "sleep = '1 s'"]).run("kernel");
    let levels = run.memory_at(0.5);
    assert_eq!(levels.anonymous.0, 5 * GB);
    // All memory but the anonymous one, and between the low mark (109.3 MB) and the high one (126.6 MB) free.
    assert!((4_997 * MB..5_020 * MB).contains(&levels.cached.0), "{levels:?}");
}

#[test]
fn memory_that_others_have_to_leave_costs_their_reclaim() {
    let reclaims = |case: Case| case.set("machine.memory.cost.page_reclaim=1 us").run("kernel");
    // 2126.6 MB are free, but for the low mark (109.3 MB) and two strokes of kswapd (17.3 MB each).
    let taken = reclaims(cached(&["alloc = '1.9 GB'", "alloc = '3.1 GB'"]));
    let reclaimed = 5e9 - (2126.6e6 - 109.3e6 - 2.0 * 17.3e6);
    assert_eq!(taken.parts("p", 0), []);
    let [("reclaim", seconds)] = taken.parts("p", 1)[..] else { panic!("{:?}", taken.parts("p", 1)) };
    assert!((seconds - reclaimed / 4096.0 * 1e-6).abs() < 2e-3, "{seconds}");
}

#[test]
fn a_page_of_the_cache_and_one_of_the_buffer_both_cost_their_reclaim() {
    let read = |buffer: &str| {
        let case =
            cached(&["alloc = '3 GB'", &format!("read = '/data/g'{buffer}")]).file("/data/g", "409.6 MB");
        let case = case.set("machine.disk.ssd.read=10 GB/s").set("machine.memory.cost.page_reclaim=1 us");
        let parts = case.run("kernel").parts("p", 1);
        parts.iter().find(|(part, _)| *part == "reclaim").expect("memory is full").1
    };
    assert!((read("") - 0.1).abs() < 1e-3, "{}", read(""));
    assert!((read(", buffer = 'fresh'") - 0.2).abs() < 1e-3, "{}", read(", buffer = 'fresh'"));
}

#[test]
fn taking_memory_costs_no_system_calls() {
    let run = linux()
        .set("machine.memory.cost.call=1 ms")
        .process("p", &["alloc = '5 GB'", "alloc = '1 B'"])
        .run("kernel");
    assert_eq!((run.seconds("p", 0), run.seconds("p", 1)), (0.0, 0.0));
}

#[test]
fn the_dirty_limit_falls_with_the_memory_that_is_left() {
    let run = linux().process("p", &["alloc = '5 GB'", "write = '/data/g', size = '2 GB'"]).run("kernel");
    let begins = run.events_called("throttling_begins")[0].2;
    assert!(near(begins, 749_500_000, 0.005), "{begins}: 15 % of 5 GB");
}

#[test]
fn the_clean_cache_counts_for_the_dirty_limit() {
    let run = cached(&["write = '/data/g', size = '1400 MB'"]).run("kernel");
    assert_eq!(run.parts("p", 0), [("cpu_copy", 1.4)]);
}

#[test]
fn drop_caches_drops_clean_pages_only() {
    let run = cached(&["write = '/data/g', size = '500 MB'", "drop_caches = true", READ]).run("kernel");
    assert_eq!(run.memory_at(0.6).dirty.0, 500 * MB);
    assert_eq!(run.sources("p", 2), (0, 8 * GB));
    assert_eq!(run.file("/data/g").1, 500 * MB);
}

#[test]
fn dontneed_drops_the_clean_pages_of_its_file() {
    let advise = "fadvise = '/data/f', advice = 'dontneed'";
    let run = cached(&[advise, READ]).cached("/data/e", "1 GB", "1 GB").run("kernel");
    assert_eq!(run.sources("p", 1), (0, 8 * GB));
    assert_eq!(run.file("/data/e").1, GB);
}

#[test]
fn dontneed_has_the_dirty_pages_of_its_file_written_and_waits_for_room_in_the_queue() {
    let operations =
        ["write = '/data/g', size = '500 MB'", "fadvise = '/data/g', advice = 'dontneed'", "sleep = '8 s'"];
    let run = |requests: u32| {
        let queue = format!("machine.disk.ssd.nr_requests={requests}");
        linux().set(&queue).process("p", &operations).run("kernel")
    };
    let endless = run(100_000);
    assert_eq!(endless.seconds("p", 1), 0.0);
    assert_eq!(endless.file("/data/g"), (500 * MB, 500 * MB, 0));
    // All but 16 requests of 1280 KiB have been written when it returns, and leave.
    let bounded = run(16);
    assert!((4.7..4.85).contains(&bounded.seconds("p", 1)), "{}", bounded.seconds("p", 1));
    assert!((15 * MB..25 * MB).contains(&bounded.file("/data/g").1), "{:?}", bounded.file("/data/g"));
}

#[test]
fn dontneed_of_a_part_of_a_file_has_that_part_written() {
    // The second time what has been written is clean, and leaves.
    let last = "fadvise = '/data/g', offset = '400 MB', size = '100 MB', advice = 'dontneed'";
    let operations = ["write = '/data/g', size = '500 MB'", last, "sleep = '3 s'", last];
    let run = linux().process("p", &operations).run("kernel");
    let whole_pages = 500 * MB - (400 * MB).next_multiple_of(4096);
    assert_eq!(run.file("/data/g"), (500 * MB, 500 * MB - whole_pages, 400 * MB));
}

#[test]
fn a_read_evicts_what_was_read_longest_ago() {
    let run = linux()
        .file("/data/a", "4 GB")
        .file("/data/b", "4 GB")
        .file("/data/c", "4 GB")
        .process("p", &["read = '/data/a'", "read = '/data/b'", "read = '/data/c'"])
        .run("kernel");
    let (a, b, c) = (run.file("/data/a").1, run.file("/data/b").1, run.file("/data/c").1);
    assert_eq!((b, c), (4 * GB, 4 * GB));
    // Free are 126.6 MB, the high mark, or what a pass over the list, of 4 GB, frees beyond that.
    assert!((1_980 * MB..2_020 * MB).contains(&a), "{a}");
}

#[test]
fn what_was_read_twice_outlives_what_was_read_once() {
    let run = linux()
        .file("/data/twice", "3 GB")
        .file("/data/once", "20 GB")
        .process("p", &["read = '/data/twice'", "read = '/data/twice'", "read = '/data/once'"])
        .run("kernel");
    assert_eq!(run.file("/data/twice").1, 3 * GB);
}

#[test]
fn of_a_file_larger_than_memory_nothing_is_cached_any_more_when_it_is_read_again() {
    let run = linux().file("/data/f", "20 GB").process("p", &[READ, READ]).run("kernel");
    let (from_cache, _) = run.sources("p", 1);
    assert!(from_cache < 20 * MB, "{from_cache}: kswapd is ahead of the reader, but not by more");
    assert!(run.memory_at(300.0).cached.0 <= 10_126_600_000);
}

#[test]
fn cached_and_anonymous_memory_never_exceed_the_memory() {
    let run = linux()
        .cached("/data/f", "8 GB", "8 GB")
        .process(
            "p",
            &["write = '/data/g', size = '6 GB'", "alloc = '5 GB'", "write = '/data/h', size = '2 GB'"],
        )
        .process("q", &["sleep = '2 s'", READ, "read = '/data/f', buffer = 'fresh', size = '1 GB'"])
        .run("kernel");
    for levels in &run.timeline.levels {
        assert!(levels.cached.0 + levels.anonymous.0 <= levels.total.0, "{levels:?}");
        assert!(levels.dirty.0 <= levels.cached.0, "{levels:?}");
    }
}

/// What nobody gets of [`crate::common::LINUX`]: 22528 KiB for each zone, DMA, DMA32 and one more on each node, and in DMA32 a
/// 256th of what the first node has above 4 GiB.
fn min(nodes: u64) -> u64 {
    (2 + nodes) * (22_528 << 10) + (10_126_600_000 / nodes - (4 << 30)) / 256
}

/// A process takes what programs can have there but for so much.
fn all_but(left: u64, nodes: u64) -> String {
    format!("alloc = '{} B'", 10_126_600_000 - min(nodes) - left)
}

fn on_nodes(case: Case, nodes: u64) -> Case {
    case.set(&format!("machine.memory.nodes={nodes}"))
}

#[test]
fn programs_get_all_memory_down_to_the_min_marks_and_no_byte_more() {
    for nodes in [1, 2] {
        let case = || on_nodes(cached(&[&all_but(0, nodes), "sleep = '1 s'"]), nodes);
        let levels = case().run("kernel").memory_at(0.5);
        assert_eq!(levels.total.0 - levels.anonymous.0, min(nodes), "{levels:?}");
        assert_eq!(levels.cached.0, 0, "{levels:?}");
        let more = case().process("q", &["alloc = '1 B'"]).error("kernel");
        assert!(more.contains("process `q` needs 1 B more memory"), "{more}");
    }
}

#[test]
fn what_is_dirty_can_be_had_when_it_has_been_written() {
    let operations = ["write = '/data/g', size = '2 GB'", &all_but(0, 1)];
    let run = linux().process("p", &operations).run("kernel");
    // The disk begins after the first GB, which takes a second, and writes 2 GB.
    let end = run.operations.end[1].0;
    assert!(near(end, 21_000_000_000, 0.01), "{end}");
}

#[test]
fn no_page_of_a_file_fits_beside_programs_that_have_all_memory() {
    let after = |operations: &[&str]| cached(&[&[&*all_but(0, 1)], operations].concat());
    for operation in [READ, "write = '/data/g', size = '1 MB'"] {
        let error = after(&[operation]).error("kernel");
        assert!(error.contains("of which 91.99 MB stay free"), "{error}");
    }
    // O_DIRECT needs none.
    let direct = ["open = '/data/f', flags = ['O_DIRECT']", "read = '/data/f', size = '1 MiB'"];
    assert_eq!(after(&direct).run("kernel").sources("p", 2), (0, 1 << 20));
}

#[test]
fn with_a_little_left_a_file_goes_through_that_little() {
    for nodes in [1, 2] {
        let operations = [&*all_but(MB, nodes), READ, "sleep = '1 s'"];
        let run = on_nodes(linux().file("/data/f", "1 GB").process("p", &operations), nodes).run("kernel");
        let free = |levels: &MemoryLevels| levels.total.0 - levels.anonymous.0 - levels.cached.0;
        let least = run.timeline.levels.iter().map(free).min().expect("there are levels");
        assert!(least >= min(nodes), "{least}");
    }
}

#[test]
fn memory_that_is_given_back_raises_the_limit_again() {
    let operations = ["alloc = '5 GB'", "free = 'all'", "write = '/data/g', size = '1400 MB'"];
    let run = linux().process("p", &operations).run("kernel");
    assert_eq!(run.parts("p", 2), [("cpu_copy", 1.4)]);
}

#[test]
fn marks_are_a_thousandth_of_the_memory_apart_since_linux_4_6() {
    // Of 100 GB; the least mark is 67,584 KiB, and a quarter of it the distance before. From the low mark on kswapd frees at least that
    // distance, in passes over a 4096th, a 2048th and a 1024th of the list: one is enough before, all three are needed since.
    let free = |version: &str| {
        let case =
            linux().set("machine.memory.size=100 GB").set(&format!("machine.kernel.version='{version}'"));
        let case = case.set("machine.disk.ssd.read=5 GB/s").file("/data/f", "120 GB");
        let levels = case.process("p", &[READ]).run("kernel").memory_at(1e6);
        levels.total.0 - levels.cached.0
    };
    let (before, since) = (free("4.5"), free("4.6"));
    let (first, three) = (99_830 * MB / 4096, 7 * 99_830 * MB / 4096);
    let protected = (100 * GB - (4 << 30)) / 256;
    let (low, lower) = (169_206_016 + protected, 86_507_520 + protected);
    assert!((lower - MB..lower + first + MB).contains(&before), "{before}");
    assert!((low - MB..low + three + MB).contains(&since), "{since}");
}

#[test]
fn who_takes_more_memory_than_is_clean_waits_for_write_back_and_wakes_the_flushers_in_every_version() {
    // 9.43 GB are free above the least mark, at the 10 GB/s of memory; 466 MB more are had at the 100 MB/s of the disk, of 600 MB that are
    // dirty: below the background threshold.
    let expected = 0.943 + 4.66;
    for version in ["3.10", "6.18"] {
        let operations = ["write = '/data/g', size = '600 MB'", "alloc = '9.9 GB'"];
        let case = linux().set(&format!("machine.kernel.version='{version}'"));
        let run = case.process("p", &operations).run("kernel");
        let seconds = run.seconds("p", 1);
        assert!((seconds - expected).abs() < 0.1 * expected, "{version}: {seconds} s");
        assert!(
            run.timeline.levels.iter().all(|levels| levels.cached.0 + levels.anonymous.0 <= levels.total.0)
        );
    }
}

#[test]
fn a_larger_min_free_leaves_less_for_the_cache() {
    let cached = |case: Case| case.run("kernel").memory_at(1e6).cached.0;
    let read = || linux().file("/data/f", "20 GB").process("p", &[READ]);
    let (usual, less) = (cached(read()), cached(read().set("machine.vm.min_free_kbytes=976563")));
    // 931 MB more at the min mark, and half of that again up to the high one.
    assert!((931 * MB..1_450 * MB).contains(&(usual - less)), "{usual} and {less}");
}

#[test]
fn what_comes_back_soon_after_its_eviction_is_active_at_once() {
    // 4 GB are active, so that the inactive list keeps 6; the first GB of /data/f has just been evicted.
    let run = linux()
        .file("/data/twice", "4 GB")
        .file("/data/f", "7 GB")
        .process(
            "p",
            &["read = '/data/twice'", "read = '/data/twice'", READ, "read = '/data/f', size = '500 MB'"],
        )
        .run("kernel");
    assert_eq!(run.sources("p", 3), (0, 500 * MB));
    let active: u64 =
        run.list("active").iter().filter(|block| block.0 == "/data/f").map(|block| block.1).sum();
    // In whole requests of 320 pages.
    assert_eq!(active, 382 * 320 * 4096);
}

#[test]
fn dirty_pages_are_cached_pages_however_short_memory_is() {
    let run = linux().process("p", &["alloc = '9.8 GB'", "write = '/data/g', size = '1 GB'"]).run("kernel");
    assert!(run.timeline.levels.iter().all(|levels| levels.dirty <= levels.cached));
}

#[test]
fn the_reserve_is_not_dirtyable() {
    let begins = |reserve: &str| {
        let run = linux().set(&format!("machine.memory.reserve={reserve}"));
        let run = run.process("p", &["write = '/data/g', size = '2 GB'"]).run("kernel");
        run.events_called("throttling_begins")[0].2
    };
    assert!(near(begins("126.6 MB"), 1_499 * MB, 0.002), "the kernel's own choice");
    assert!(near(begins("5126.6 MB"), 749_500_000, 0.002), "{}: 15 % of 5 GB", begins("5126.6 MB"));
}

#[test]
fn a_file_that_is_cut_while_it_is_rewritten_and_written_leaves_no_trace_in_the_counts_of_nodes() {
    // Debug builds compare these with all other counts after every event.
    let run = linux()
        .set("machine.memory.nodes=2")
        .process("sync", &["sleep = '200 ms'", "fsync = '/data/g'"])
        .process(
            "p",
            &[
                "write = '/data/g', size = '100 MB'",
                "sleep = '200 ms'",
                "write = '/data/g', offset = '0 B', size = '100 MB'",
                "truncate = '/data/g', size = '1 MB'",
                "write = '/data/g', offset = '0 B', size = '150 MB'",
                "sleep = '2 s'",
            ],
        )
        .run("kernel");
    assert_eq!(run.file("/data/g").1, 150 * MB);
}

#[test]
fn what_is_submitted_again_while_it_is_under_write_back_is_counted_once_on_its_node() {
    let dontneed = "fadvise = '/data/g', advice = 'dontneed'";
    let again = "write = '/data/g', offset = '0 B', size = '100 MB'";
    let operations = ["write = '/data/g', size = '300 MB'", dontneed, again, dontneed, "sleep = '5 s'"];
    let run = linux().set("machine.memory.nodes=2").process("p", &operations).run("kernel");
    // Debug builds compare the counts of nodes with all others after every event.
    assert_eq!(run.file("/data/g").2, 0);
}

#[test]
fn at_its_limit_of_dirty_pages_a_node_gives_a_writer_only_what_has_been_cleaned() {
    let write = |setting: &str| {
        let case = linux().set("machine.memory.size=100 GB").set("machine.memory.nodes=2");
        let case = case.set("machine.vm.dirty_ratio=40").set(setting);
        case.process("p", &["write = '/data/g', size = '24 GB'"]).run("kernel").seconds("p", 0)
    };
    // 40 % of a node of 50 GB may be dirty. The flusher starts at 10 GB and cleans 100 MB in each second, a tenth of what is written,
    // so that the first node is there after 21.1 GB; from then on it takes what is cleaned, and the other one the rest.
    let more = write("machine.memory.cost.page_remote=1 us") - write("machine.memory.cost.page_remote=0 s");
    let expected = (24_000.0 - 21_100.0) * 0.88 / 4096.0;
    assert!((more - expected).abs() < 0.1 * expected, "{more} s more instead of {expected}");
}

#[test]
fn a_node_has_its_part_of_a_dirty_limit_in_bytes() {
    let write = |limit: &str, cost: &str| {
        let case = linux().set("machine.memory.size=100 GB").set("machine.memory.nodes=2");
        let case =
            case.set(&format!("machine.vm.{limit}")).set(&format!("machine.memory.cost.page_remote={cost}"));
        case.process("p", &["write = '/data/g', size = '24 GB'"]).run("kernel").seconds("p", 0)
    };
    let more = |limit| write(limit, "1 us") - write(limit, "0 s");
    // 40 % of what is dirtyable: all but the high mark of 169 MB and the reserve of the lower zones.
    assert!(
        (more("dirty_bytes=39.8 GB") - more("dirty_ratio=40")).abs() < 0.02,
        "{} s",
        more("dirty_bytes=39.8 GB")
    );
    assert!(more("dirty_ratio=40") < 0.7 && more("dirty_bytes=60 GB") == 0.0);
}

/// All that is left is dirty: a program that reads past the cache gets memory for it as the disk writes that, 100 MB in a second.
#[test]
fn new_memory_for_a_direct_read_comes_as_it_is_cleaned() {
    let operations = [
        "write = '/data/g', size = '600 MB'",
        &*all_but(600 * MB, 1),
        "open = '/data/f', flags = ['O_DIRECT']",
        "read = '/data/f', size = '300 MiB', buffer = 'fresh'",
    ];
    let run = linux()
        .set("machine.disk.ssd.read=1 GB/s")
        .file("/data/f", "1 GB")
        .process("p", &operations)
        .run("kernel");
    assert!(
        near(run.operations.end[3].0 - run.operations.start[3].0, 3_145_728_000, 0.1),
        "{:?}",
        run.parts("p", 3)
    );
}
