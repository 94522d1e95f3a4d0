//! The multi-generational lists: what reclaim takes where reads move no page. Source of the rules: `mm/vmscan.c`, `mm/workingset.c`,
//! Linux 6.12 and 6.18.

use crate::common::{Case, GB, MB, linux};

const TWICE: [&str; 2] = ["read = '/data/hot'"; 2];
const STREAMS: [&str; 3] = ["read = '/data/s0'", "read = '/data/s1'", "read = '/data/s2'"];

/// The two versions whose rules differ.
const VERSIONS: [&str; 2] = ["6.12", "6.18"];

fn generations(version: &str) -> Case {
    linux().set(&format!("machine.kernel.version='{version}'")).set("machine.kernel.lru='mglru'")
}

/// A file that is read again and again, and others that are read once: with 10.13 GB of memory, of which at most the
/// low mark (109.3 MB) and at least the high one (126.6 MB) less is cached.
fn with_streams(case: Case, hot: &str, stream: &str, operations: &[&str]) -> Case {
    let files = ["/data/s0", "/data/s1", "/data/s2"];
    let case = files.iter().fold(case.file("/data/hot", hot), |case, file| case.file(file, stream));
    case.process("p", operations)
}

#[test]
fn what_is_read_once_leaves_in_the_order_in_which_it_came() {
    for version in VERSIONS {
        let case = with_streams(generations(version), "4 GB", "4 GB", &["read = '/data/hot'"]);
        let run = case.process_with("q", "after = ['p']", &STREAMS[..2]).run("kernel");
        let [hot, first, second] = ["/data/hot", "/data/s0", "/data/s1"].map(|file| run.file(file).1);
        assert_eq!((first, second), (4 * GB, 4 * GB));
        assert!((1_999 * MB..2_018 * MB).contains(&hot), "{version}: {hot}");
    }
}

#[test]
fn being_read_twice_saves_nothing_unless_such_pages_come_back() {
    let cached = |case| {
        let operations = [&TWICE[..], &STREAMS[..1]].concat();
        with_streams(case, "3 GB", "9 GB", &operations).run("kernel").file("/data/hot").1
    };
    assert_eq!(cached(linux()), 3 * GB, "active of two lists");
    for version in VERSIONS {
        let cached = cached(generations(version));
        assert!((999 * MB..1_018 * MB).contains(&cached), "{version}: {cached}");
    }
}

#[test]
fn pages_that_come_back_are_protected_from_the_next_stream() {
    for version in VERSIONS {
        let operations = [&TWICE[..], &STREAMS[..1], &TWICE, &STREAMS[1..2], &TWICE[..1]].concat();
        let run = with_streams(generations(version), "3 GB", "9 GB", &operations).run("kernel");
        assert!(run.sources("p", 3).0 < 1_018 * MB, "{version}: most of it has left");
        assert_eq!(run.sources("p", 6), (3 * GB, 0), "{version}");
    }
}

#[test]
fn what_was_read_five_times_outlives_a_stream() {
    for version in VERSIONS {
        let operations = [&TWICE[..], &TWICE, &TWICE[..1], &STREAMS[..1]].concat();
        let run = with_streams(generations(version), "3 GB", "9 GB", &operations).run("kernel");
        assert_eq!(run.file("/data/hot").1, 3 * GB, "{version}");
    }
}

#[test]
fn a_set_near_the_size_of_memory_loses_to_a_stream_what_two_lists_would_keep() {
    let again = |case| {
        let operations = [&TWICE[..], &STREAMS[..1], &TWICE[..1]].concat();
        with_streams(case, "9 GB", "3 GB", &operations).run("kernel").sources("p", 3).0
    };
    assert_eq!(again(linux()), 9 * GB);
    for version in VERSIONS {
        // The stream takes 2 GB. Reading those takes the next ones, until enough of them have come back.
        let cached = again(generations(version));
        assert!((6_477 * MB..7_018 * MB).contains(&cached), "{version}: {cached}");
    }
}

/// 800 MB are dirty at the end of the oldest generation, 2 GB behind them clean, and 73 MB more than there are wanted. No
/// flusher wakes up by itself.
fn short_of_memory(version: &str, then: &[&str]) -> Case {
    let operations = ["write = '/data/g', size = '800 MB'", "read = '/data/f'", "alloc = '7400 MB'"];
    let case = generations(version).set("machine.vm.dirty_writeback_centisecs=0");
    case.file("/data/f", "2 GB").process("p", &[&operations, then].concat())
}

#[test]
fn dirty_pages_at_the_end_wake_the_flushers() {
    let woken = |version| {
        let run = short_of_memory(version, &[]).run("kernel");
        run.events_called("flushers_woken_by_reclaim").len()
    };
    assert_eq!(woken("6.18"), 1);
    assert_eq!(woken("6.12"), 1, "since 6.12.104");
    assert_eq!(woken("6.6"), 0, "only kernels from then on do");
}

#[test]
fn dirty_pages_that_reclaim_has_met_leave_first_once_they_are_written() {
    for version in VERSIONS {
        let run = short_of_memory(version, &["sleep = '12 s'", "alloc = '300 MB'"]).run("kernel");
        let (dirty, clean) = (run.file("/data/g").1, run.file("/data/f").1);
        // What was wanted first came out of the clean pages, what was wanted later out of those written meanwhile.
        assert!((1_797 * MB..1_827 * MB).contains(&clean), "{version}: {clean}");
        assert!((490 * MB..520 * MB).contains(&dirty), "{version}: {dirty}");
    }
}

#[test]
fn dirty_pages_that_were_not_needed_leave_first_before_6_14() {
    let cached = |version| {
        let unneeded = ["write = '/data/g', size = '500 MB'", "fadvise = '/data/g', advice = 'dontneed'"];
        let operations = [&unneeded[..], &["sleep = '8 s'", "read = '/data/s'"]].concat();
        let case = generations(version).cached("/data/f", "8 GB", "8 GB").file("/data/s", "2 GB");
        let case = case.set("machine.disk.ssd.nr_requests=100000");
        let run = case.process("p", &operations).run("kernel");
        (run.file("/data/f").1, run.file("/data/g").1)
    };
    let (older, unneeded) = cached("6.12");
    // About 480 MB are wanted.
    assert!(unneeded < 40 * MB, "{unneeded}");
    assert_eq!(older, 8 * GB);
    let (older, unneeded) = cached("6.18");
    assert_eq!(unneeded, 500 * MB, "those in the oldest generation stay where they are");
    assert!(older < 7_541 * MB, "{older}");
}

#[test]
fn the_generations_of_a_host_are_its_own() {
    let two_lists = with_streams(linux(), "3 GB", "9 GB", &[&TWICE[..], &STREAMS].concat());
    let same = two_lists.clone().set("machine.kernel.lru='two-list'");
    assert_eq!(two_lists.run("kernel").all_events(), same.run("kernel").all_events());
}
