//! What begins and ends under the kernel's rules, and what is known of each device meanwhile.

use std::collections::BTreeMap;

use pagecast_core::result::Part;

use crate::common::{Case, GB, LINUX, MB, Run, linux, on};

/// One more disk, of half the rate.
const TWO_DISKS: [&str; 2] =
    ["machine.disk.hdd={size='1 TB', read='50 MB/s', write='50 MB/s'}", "machine.mount.'/slow'={disk='hdd'}"];

/// A group of 500 MB whose dirty pages have no limits of their own, so that writers in it wait for clean pages.
fn in_v1() -> Case {
    on(&format!("{LINUX}\n[machine.cgroup.batch]\nmemory.limit_in_bytes = '500 MB'\n"))
}

/// A state from its beginning to its end, or to the end of the run: what, of which process, at which device.
type Span<'a> = ((&'a str, &'a str, &'a str), f64, f64);

/// All of them. Each begins before it ends, and does not begin again before.
fn spans(run: &Run) -> Vec<Span<'_>> {
    let (table, end) = (&run.events, run.end.as_seconds());
    let process = |at: u32| run.processes.get(at as usize).map_or("", |name| &**name);
    let path = |at: u32| run.paths.get(at as usize).map_or("", |name| &**name);
    let mut open = BTreeMap::new();
    let mut spans = Vec::new();
    for row in 0..table.time.len() {
        let time = table.time[row].as_seconds();
        assert!((0.0..=end).contains(&time), "{time}");
        let whose = |what| (what, process(table.process[row]), path(table.device[row]));
        if let Some(what) = table.event[row].strip_suffix("_begins").filter(|&what| what != "cgroup_reclaim")
        {
            assert_eq!(open.insert(whose(what), time), None, "{what} begins twice");
        } else if let Some(what) = table.event[row].strip_suffix("_ends") {
            let begin = open.remove(&whose(what)).expect("what ends has begun");
            assert!(begin < time, "{what} at {time} takes no time");
            spans.push((whose(what), begin, time));
        }
    }
    spans.extend(open.into_iter().map(|(whose, begin)| (whose, begin, end)));
    spans
}

/// Those of one kind and process, in the order of time.
fn spans_of(run: &Run, what: &str, process: &str) -> Vec<(f64, f64)> {
    let of = spans(run).into_iter().filter(|span| span.0.0 == what && span.0.1 == process);
    let mut times: Vec<(f64, f64)> = of.map(|(_, begin, end)| (begin, end)).collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    times
}

/// For how long an operation was within some spans.
fn covered(run: &Run, row: usize, spans: &[(f64, f64)]) -> f64 {
    let (start, end) = (run.operations.start[row].as_seconds(), run.operations.end[row].as_seconds());
    spans.iter().map(|&(from, to)| (to.min(end) - from.max(start)).max(0.0)).sum()
}

/// The time that an operation was held back for is within the spans of its process, and a process that never was has none.
fn check_covers(run: &Run, part: Part, what: &str) {
    for (at, process) in run.processes.iter().enumerate() {
        let spans = spans_of(run, what, process);
        let rows = (0..run.operations.end.len()).filter(|&row| run.operations.process[row] == at as u32);
        let mut all = 0.0;
        for row in rows {
            let held = run.operations.parts[row].get(part).as_seconds();
            all += held;
            let covered = covered(run, row, &spans);
            assert!(covered >= held - 1e-6, "{process}: {held} s of {what}, {covered} s told: {spans:?}");
        }
        assert_eq!(spans.is_empty(), all == 0.0, "{process}: {all} s of {what}, told {spans:?}");
    }
}

/// What is dirty for a device is dirty in memory, at the same instant.
fn check_devices(run: &Run) {
    let (devices, timeline) = (&run.bdi, &run.timeline);
    assert!(devices.time.is_sorted());
    let mut compared = 0;
    for (at, levels) in devices.levels.iter().enumerate() {
        assert!(levels.writeback <= levels.dirty, "{levels:?}");
        let mut rows = timeline.time.iter().zip(&timeline.levels).filter(|row| *row.0 == devices.time[at]);
        if let Some((_, memory)) = rows.next_back() {
            assert!(levels.dirty <= memory.dirty, "{levels:?} of {memory:?}");
            compared += 1;
        }
    }
    assert!(2 * compared >= devices.time.len(), "{compared} of {}", devices.time.len());
}

fn check(case: &Case) -> Run {
    let run = case.run("kernel");
    check_covers(&run, Part::Throttled, "throttling");
    check_covers(&run, Part::Reclaim, "direct_reclaim");
    check_devices(&run);
    run
}

#[test]
fn what_is_told_covers_what_processes_waited_for() {
    let [disk, mount] = TWO_DISKS;
    let two = linux().set(disk).set(mount);
    check(
        &two.process("fast", &["write = '/data/f', size = '4 GB'"])
            .process("slow", &["sleep = '2 s'", "write = '/slow/f', size = '2 GB'"])
            .file("/data/r", "1 GB")
            .process("reader", &["sleep = '3 s'", "read = '/data/r'"]),
    );
    let calls = ["write = '/data/f', size = '50 MB', append = true", "sleep = '200 ms'"].repeat(100);
    check(&linux().process("thinker", &calls));
    check(&in_v1().process_with(
        "p",
        "cgroup = 'batch'",
        &["write = '/data/f', size = '3 GB', call = '1 MiB'"],
    ));
}

#[test]
fn writers_to_two_disks_are_throttled_each_at_its_own() {
    let [disk, mount] = TWO_DISKS;
    let run = check(
        &linux()
            .set(disk)
            .set(mount)
            .process("fast", &["write = '/data/f', size = '4 GB'"])
            .process("slow", &["sleep = '3 s'", "write = '/slow/f', size = '2 GB'"]),
    );
    let of = |process: &str| {
        let all = spans(&run).into_iter().filter(move |span| span.0.0 == "throttling" && span.0.1 == process);
        all.map(|span| span.0.2).collect::<Vec<_>>()
    };
    assert_eq!((of("fast"), of("slow")), (vec!["ssd"], vec!["hdd"]));
    assert!(spans_of(&run, "throttling", "slow")[0].0 >= 3.0, "not before it writes");
}

#[test]
fn calls_in_a_row_are_one_spell() {
    let calls = vec!["write = '/data/f', size = '10 MB', append = true"; 300];
    let run = check(&linux().process("p", &calls));
    let spans = spans_of(&run, "throttling", "p");
    assert_eq!(spans.len(), 1, "{spans:?}");
    assert!((spans[0].1 - run.end.as_seconds()).abs() < 0.1, "up to the end of the last: {spans:?}");
}

/// It writes 1 GB in a second, and background write-back begins; throttling only at 1.5 GB.
#[test]
fn background_write_back_begins_at_its_threshold_and_ends_below() {
    let run = check(&linux().process("p", &["write = '/data/f', size = '1.3 GB'", "sleep = '30 s'"]));
    let (begin, _, bytes) = run.events_called("background_begins")[0];
    // Less what has been submitted at once.
    assert!((0.95..1.05).contains(&begin) && bytes.abs_diff(GB) < 30 * MB, "{bytes} at {begin}");
    // Some 300 MB at 100 MB/s.
    let (end, _, bytes) = run.events_called("background_ends")[0];
    assert!((3.0..5.0).contains(&end) && bytes <= GB, "{bytes} at {end}");
    assert_eq!(spans(&run).iter().map(|span| span.0).collect::<Vec<_>>(), [("background", "", "ssd")]);
}

#[test]
fn what_is_written_back_because_of_its_age_is_no_background() {
    let run = check(&linux().process("p", &["write = '/data/f', size = '500 MB'", "sleep = '60 s'"]));
    // But for the first wake-up on a device that has not written yet: its part of the threshold is nothing.
    let spans = spans(&run);
    assert_eq!((run.file("/data/f").2, spans.len()), (0, 1), "{spans:?}");
    assert!(spans[0].1 == 5.12 && spans[0].2 < 5.2, "{spans:?}");
}

/// 10 GB of memory and a file of 15 GB: each page is gone when it is wanted again.
#[test]
fn a_file_larger_than_memory_that_is_read_again_is_a_refault_storm() {
    let case = |size: &str| linux().file("/data/f", size).process("p", &["read = '/data/f'"; 2]);
    let run = check(&case("15 GB"));
    let spans = spans_of(&run, "refault_storm", "");
    assert_eq!(spans.len(), 1, "{spans:?}");
    assert!((spans[0].0 - run.end("p", 0)).abs() < 6.0, "with the second read: {spans:?}");
    let begins = run.events_called("refault_storm_begins")[0].2;
    assert!(begins < GB, "what had come back before: {begins}");
    let run = check(&case("8 GB"));
    assert_eq!(spans_of(&run, "refault_storm", ""), []);
}

#[test]
fn direct_reclaim_is_told_of_who_waits_for_clean_pages() {
    let write = ["write = '/data/f', size = '2 GB', call = '1 MiB'"];
    let run = check(
        &in_v1()
            .process_with("held", "cgroup = 'batch'", &write)
            .process("free", &["write = '/data/g', size = '100 MB'"]),
    );
    assert!(!spans_of(&run, "direct_reclaim", "held").is_empty());
    assert_eq!(spans_of(&run, "direct_reclaim", "free"), []);
}

#[test]
fn devices_are_told_under_the_kernels_names_from_what_they_begin_with() {
    let run = check(&linux().process("p", &["write = '/data/f', size = '3 GB'", "sleep = '5 s'"]));
    let table = &run.bdi;
    assert!(table.device.iter().all(|&at| &*run.paths[at as usize] == "ssd"));
    assert!(table.cgroup.iter().all(|&at| at == u32::MAX));
    let first = table.levels[0];
    // `INIT_BW`, 100 MiB/s.
    assert_eq!((first.avg_write_bandwidth.0, first.dirty_ratelimit.0), (100 << 20, 100 << 20));
    let spans = spans_of(&run, "throttling", "p");
    let (begin, end) = spans[0];
    for (time, levels) in table.time.iter().zip(&table.levels) {
        let is_within = (begin..end).contains(&time.as_seconds());
        assert_eq!(levels.task_ratelimit.is_some(), is_within, "{levels:?} at {time:?}");
        assert!(levels.writeback.0 == 0 || levels.writeback.0 <= 3 * GB);
    }
    let last = table.levels.last().expect("there are some");
    assert!(last.avg_write_bandwidth.0.abs_diff(100 * MB) < 5 * MB, "as the disk writes: {last:?}");
    assert_eq!(last.dirty, run.timeline.levels.last().expect("it has some").dirty);
}

#[test]
fn a_group_with_limits_of_its_own_is_a_writer_of_its_own() {
    let run = check(
        &on(&format!("{LINUX}\n[machine.cgroup.batch]\nmemory.max = '2 GB'\n"))
            .process_with("held", "cgroup = 'batch'", &["write = '/data/f', size = '2 GB'"])
            .process("free", &["write = '/data/g', size = '100 MB'"]),
    );
    let name = |at: u32| run.paths.get(at as usize).map_or("", |name| &**name);
    let mut writers: Vec<&str> = run.bdi.cgroup.iter().map(|&at| name(at)).collect();
    writers.sort_unstable();
    writers.dedup();
    assert_eq!(writers, ["", "batch"]);
    assert!(!spans_of(&run, "throttling", "held").is_empty());
    assert_eq!(spans_of(&run, "throttling", "free"), []);
}

#[test]
fn devices_of_a_long_run_are_as_few_samples_as_memory_has() {
    let run = linux().process("p", &["write = '/data/f', size = '150 GB'"]).run("kernel");
    // An update every 200 ms for 1500 s. Half of the samples are for the mount, which could be another host's.
    assert!((1000..=5000).contains(&run.bdi.time.len()), "{}", run.bdi.time.len());
}

#[test]
fn other_models_know_nothing_of_devices() {
    for model in ["wrench", "no-cache", "endless-cache"] {
        let run = linux().process("p", &["write = '/data/f', size = '3 GB'"]).run(model);
        assert!(run.bdi.time.is_empty(), "{model}");
    }
}
