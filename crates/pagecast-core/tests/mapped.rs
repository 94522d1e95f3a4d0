//! Files that are read and written through mappings, and `msync`. Source of the rules: `mm/filemap.c: filemap_fault`, `mm/memory.c:
//! do_fault_around, fault_dirty_shared_page`, `mm/msync.c`, Linux 6.16.

use pagecast_core::MODELS;
use pagecast_core::result::Part;
use proptest::prelude::*;

use crate::common::{Case, GB, HOSTS, MB, Run, linux, on};

/// One process on [`crate::common::LINUX`]: 100 MB/s from and to the disk, 1 GB/s for the bytes themselves; 10 ns for each page that
/// is read, and 1 us for each that is written. On Linux 6.17, whose faults know nothing of folios.
fn process(operations: &[&str]) -> Case {
    mapping().process("p", operations)
}

fn mapping() -> Case {
    linux()
        .set("machine.memory.cost.mmap=0 s")
        .set("machine.memory.cost.fault_around=160 ns")
        .set("machine.memory.cost.page_mkwrite=1 us")
        .set("machine.memory.cost.folio_map=0 s")
        .set("machine.memory.cost.fault_mkwrite=0 s")
        .set("machine.kernel.version='6.17'")
}

#[track_caller]
fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} instead of {expected}");
}

/// 100,000 pages: 4.096 s of the disk, 0.4096 s of copying.
const FILE: &str = "409600 kB";
const BYTES: u64 = 409_600_000;
const PAGES: f64 = 100_000.0;

#[test]
fn a_cold_file_comes_from_the_disk_once_and_a_cached_one_costs_a_fault_for_each_16_pages() {
    let run = process(&["mmap_read = '/data/f'", "mmap_read = '/data/f'", "read = '/data/f'"])
        .file("/data/f", FILE)
        .run("kernel");
    assert_eq!([0, 1, 2].map(|at| run.sources("p", at)), [(0, BYTES), (BYTES, 0), (BYTES, 0)]);
    assert_near(run.seconds("p", 0), 4.096, 1e-3);
    assert_near(run.seconds("p", 1), 0.4096 + PAGES * 10e-9, 1e-6);
    assert_near(run.seconds("p", 2), 0.4096, 1e-6);
    assert_eq!(run.file("/data/f"), (BYTES, BYTES, 0));
}

#[test]
fn pages_of_a_hole_are_written_as_new_ones_and_nothing_is_read() {
    let run = process(&["open = '/data/g', create = true", TRUNCATE, "mmap_write = '/data/g'"]).run("kernel");
    // Pages are zeroed, and then written.
    assert_near(run.seconds("p", 2), 2.0 * 0.4096 + PAGES * 1e-6, 1e-6);
    assert_eq!(run.sources("p", 2), (BYTES, 0));
    assert_eq!(run.part("p", 2, Part::DeviceRead), 0.0);
    assert_eq!(run.file("/data/g"), (BYTES, BYTES, BYTES));
}

const TRUNCATE: &str = "truncate = '/data/g', size = '409600 kB'";
const WRITE: &str = "write = '/data/g', size = '409600 kB', call = '1024 kB'";

#[test]
fn every_page_is_read_before_it_is_written_to_if_the_disk_has_it() {
    let run =
        process(&["mmap_write = '/data/f'", "mmap_write = '/data/f'"]).file("/data/f", FILE).run("kernel");
    // Copies go on beside the disk, but for those of the last request.
    assert_near(run.seconds("p", 0), 4.096, 0.03);
    assert!(run.part("p", 0, Part::DeviceRead) > 3.0);
    assert_near(run.seconds("p", 1), 0.4096 + PAGES * 1e-6, 1e-6);
    assert_eq!(run.file("/data/f"), (BYTES, BYTES, BYTES));
    let half = process(&["truncate = '/data/f', size = '819200 kB'", "mmap_write = '/data/f'"]);
    let half = half.file("/data/f", FILE).run("kernel");
    assert_near(half.seconds("p", 1), 4.096 + 2.0 * 0.4096 + PAGES * 1e-6, 0.03);
    assert_near(
        half.part("p", 1, Part::DeviceRead) + half.part("p", 1, Part::CpuCopy),
        half.seconds("p", 1),
        1e-9,
    );
}

#[test]
fn what_msync_writes_is_what_fsync_would() {
    let mapped = process(&[WRITE, "fsync = '/data/g'", "mmap_write = '/data/g'", "msync = '/data/g'"]);
    let run = mapped.set("machine.disk.ssd.flush=10 ms").run("kernel");
    assert_near(run.seconds("p", 1), 4.106, 1e-6);
    assert_near(run.seconds("p", 3), 4.106, 1e-6);
    assert_eq!(run.parts("p", 3).len(), 1, "all of it is the disk");
    assert_eq!(run.file("/data/g"), (BYTES, BYTES, 0));
    // Whoever made the pages dirty.
    assert_near(process(&[WRITE, "msync = '/data/g'"]).run("kernel").seconds("p", 1), 4.096, 1e-6);
}

#[test]
fn msync_is_about_a_part_and_does_nothing_if_it_need_not_be_waited_for() {
    let part = "msync = '/data/g', offset = '102400 kB', size = '204800 kB'";
    let run = process(&[WRITE, "msync = '/data/g', async = true", part]).run("kernel");
    assert_eq!(run.seconds("p", 1), 0.0);
    assert_near(run.seconds("p", 2), 2.048, 1e-6);
    assert_eq!(run.file("/data/g").2, BYTES / 2);
}

#[test]
fn pages_stay_mapped_until_the_file_is_unmapped() {
    let read = "mmap_read = '/data/f'";
    let run = process(&[
        "mmap = '/data/f'",
        read,
        read,
        "munmap = '/data/f'",
        "mmap = '/data/f'",
        read,
        "munmap = '/data/f'",
        read,
        "mmap = '/data/f'",
        read,
        read,
    ])
    .set("machine.memory.cost.mmap=7 us")
    .cached("/data/f", FILE, FILE)
    .run("kernel");
    let faults = PAGES * 10e-9;
    let beyond =
        [0.0, faults, 0.0, 0.0, 0.0, faults, 0.0, faults + 7e-6, 0.0, faults, 0.0].into_iter().zip(0..);
    for (beyond, at) in beyond {
        let copy = if [0, 3, 4, 6, 8].contains(&at) { 0.0 } else { 0.4096 };
        assert_near(run.seconds("p", at), copy + beyond, 1e-6);
    }
    // A fault maps the 64 KiB around it.
    let part =
        |offset: u32, size: u32| format!("mmap_read = '/data/f', offset = '{offset} B', size = '{size} B'");
    let parts = [part(4096, 4096), part(0, 65_536), part(0, 131_072)];
    let run = process(&["mmap = '/data/f'", &parts[0], &parts[1], &parts[2]])
        .cached("/data/f", FILE, FILE)
        .run("kernel");
    let beyond =
        [1, 2, 3].map(|at| run.seconds("p", at) - run.operations.bytes[run.row("p", at)] as f64 / 1e9);
    for (beyond, faults) in beyond.into_iter().zip([1.0, 0.0, 1.0]) {
        assert_near(beyond, faults * 160e-9, 2e-9);
    }
    // What lies before a page that is mapped is not, and what lies behind it neither.
    let parts = [part(131_072, 65_536), part(0, 262_144)];
    let run =
        process(&["mmap = '/data/f'", &parts[0], &parts[1]]).cached("/data/f", FILE, FILE).run("kernel");
    assert_near(run.seconds("p", 2), 262_144e-9 + 3.0 * 160e-9, 2e-9);
}

/// How many faults there are when 64 MiB are read and then written through a mapping, after these operations.
fn faults_after(version: &str, before: &[&str]) -> [f64; 2] {
    let operations = [before, &["mmap_read = '/data/g'", "mmap_write = '/data/g'"]].concat();
    let run = mapping()
        .process("p", &operations)
        .set(&format!("machine.kernel.version='{version}'"))
        .set("machine.memory.cost.fault_around=1 us")
        .set("machine.memory.cost.fault_mkwrite=1 us")
        .set("machine.disk.ssd.read_ahead_kb=8192")
        .run("kernel");
    let copy = 67_108_864e-9;
    let first = u32::try_from(before.len()).unwrap();
    let beyond = |at| (run.seconds("p", first + at) - copy) * 1e6;
    [beyond(0), beyond(1) - 16_384.0]
}

/// As many as getrusage(2) counts on Linux 6.18, ext4, `read_ahead_kb` 8192, but for reading what calls of 1 MiB have written: 79 there,
/// as the folios of the first calls are not aligned in the mapping.
#[test]
fn since_6_18_a_fault_maps_a_whole_folio() {
    let write = |call| format!("write = '/data/g', size = '64 MiB', call = '{call}'");
    let [small, large, huge] = ["4 KiB", "1 MiB", "8 MiB"].map(write);
    let cold = ["fsync = '/data/g'", "fadvise = '/data/g', advice = 'dontneed'"];
    let by_calls = [&large, cold[0], cold[1], "read = '/data/g', call = '1 MiB'"];
    let by_faults = [&large, cold[0], cold[1], "mmap_read = '/data/g'"];
    let cases: [(&[&str], [f64; 2]); 5] = [
        (&[&small], [1024.0, 16_384.0]),
        (&[&large], [64.0, 64.0]),
        (&[&huge], [32.0, 32.0]),
        (&by_calls, [281.0, 953.0]),
        (&by_faults, [436.0, 2740.0]),
    ];
    for (before, expected) in cases {
        for (actual, expected) in faults_after("6.18", before).into_iter().zip(expected) {
            assert_near(actual, expected, 1.0);
        }
        for (actual, expected) in faults_after("6.17", before).into_iter().zip([1024.0, 16_384.0]) {
            assert_near(actual, expected, 1.0);
        }
    }
}

/// A mapping that does not stay has no more pages than those that are touched.
#[test]
fn a_fault_pays_for_each_folio_that_it_maps() {
    let page = "mmap_read = '/data/f', offset = '64 MiB', size = '4 KiB'";
    let seconds = |operations: &[&str], at| {
        let case = process(operations).set("machine.memory.cost.folio_map=100 ns");
        case.cached("/data/f", FILE, FILE).run("kernel").seconds("p", at)
    };
    let (fault, copy) = (160e-9, 4096e-9);
    assert_near(seconds(&[page], 0), copy + fault, 1e-9);
    assert_near(seconds(&["mmap = '/data/f'", page], 1), copy + fault + 15.0 * 100e-9, 1e-9);
    let all = 0.4096 + PAGES / 16.0 * (fault + 15.0 * 100e-9);
    assert_near(seconds(&["mmap_read = '/data/f'"], 0), all, 1e-6);
}

/// `mm/page-writeback.c: folio_clear_dirty_for_io`, `mm/memory.c: do_wp_page`
#[test]
fn a_page_is_made_writable_again_after_it_was_written_back() {
    let write = "mmap_write = '/data/f'";
    let run =
        process(&["mmap = '/data/f'", write, write, "msync = '/data/f'", write, "mmap_read = '/data/f'"])
            .cached("/data/f", FILE, FILE)
            .run("kernel");
    let (copy, faults) = (0.4096, PAGES * 1e-6);
    for (at, expected) in [(1, copy + faults), (2, copy), (3, 4.096), (4, copy + faults), (5, copy)] {
        assert_near(run.seconds("p", at), expected, 1e-6);
    }
    // What was mapped to be read has to be made writable, and what is behind the end of the mapping is not in it.
    let run = process(&[
        "mmap = '/data/f'",
        "mmap_read = '/data/f'",
        write,
        "truncate = '/data/f', size = '819200 kB'",
        write,
    ])
    .cached("/data/f", FILE, FILE)
    .run("kernel");
    assert_near(run.seconds("p", 2), copy + faults, 1e-6);
    assert_near(run.seconds("p", 4), 3.0 * copy + 2.0 * faults, 1e-5);
}

#[test]
fn pages_that_have_left_a_mapping_come_back_by_faults() {
    let run = process(&[
        "mmap = '/data/f'",
        "mmap_read = '/data/f'",
        "fadvise = '/data/f', advice = 'dontneed'",
        "mmap_read = '/data/f'",
    ])
    .file("/data/f", FILE)
    .run("kernel");
    assert_eq!([1, 3].map(|at| run.sources("p", at)), [(0, BYTES); 2]);
}

#[test]
fn a_mapping_is_throttled_as_a_writer_is() {
    let run = |operation: &str| {
        let case = process(&[operation]).set("machine.memory.cost.page_mkwrite=0 s");
        case.cached("/data/g", "4096 MB", "4096 MB").run("kernel")
    };
    let mapped = run("mmap_write = '/data/g'");
    let written = run("write = '/data/g', size = '4096 MB', call = '4096 B'");
    let throttled = [&mapped, &written].map(|run| run.part("p", 0, Part::Throttled));
    assert!(throttled[0] > 10.0, "{throttled:?}");
    assert_near(mapped.seconds("p", 0) / written.seconds("p", 0), 1.0, 0.001);
}

/// Touches a page 8 MiB behind the last one.
fn touch(k: u32, advice: &str) -> String {
    format!("mmap_read = '/data/f', offset = '{} B', size = '4096 B'{advice}", u64::from(k) * 8_388_608)
}

/// Touches one page of each 8 MiB.
fn far_apart(count: u32, advice: &str) -> Run {
    let touches: Vec<String> = (1..=count).map(|k| touch(k, advice)).collect();
    let touches: Vec<&str> = touches.iter().map(String::as_str).collect();
    process(&touches).set("machine.disk.ssd.latency=1 ms").file("/data/f", "10 GB").run("kernel")
}

#[test]
fn pages_around_a_miss_are_read_with_it() {
    let run = far_apart(10, "");
    // `read_ahead_kb` of 128 around each, and nobody waits for less.
    assert_eq!(run.file("/data/f").1, 10 * 131_072);
    assert_near(run.seconds("p", 3), 1e-3 + 131_072.0 / 100e6, 5e-5);
    assert_eq!(run.sources("p", 3), (0, 4096));
}

#[test]
fn who_writes_to_a_page_waits_for_it_as_long_as_who_reads_it() {
    for advice in ["", ", advice = 'random'"] {
        let touches: Vec<String> =
            (1..=5).map(|k| touch(k, advice).replace("mmap_read", "mmap_write")).collect();
        let touches: Vec<&str> = touches.iter().map(String::as_str).collect();
        let case = process(&touches).set("machine.disk.ssd.latency=1 ms").file("/data/f", "10 GB");
        let (write, read) = (case.run("kernel").seconds("p", 3), far_apart(5, advice).seconds("p", 3));
        assert_near(write, read + 1e-6, 1e-5);
    }
}

#[test]
fn a_mapping_that_is_read_at_random_reads_only_what_is_missed() {
    let run = far_apart(10, ", advice = 'random'");
    assert_eq!(run.file("/data/f").1, 10 * 4096);
    assert_near(run.seconds("p", 3), 1e-3 + 4096.0 / 100e6, 2e-5);
}

/// `MMAP_LOTSAMISS`.
#[test]
fn after_a_hundred_misses_nothing_is_read_around_them() {
    let run = far_apart(150, "");
    assert_eq!(run.file("/data/f").1, 100 * 131_072 + 50 * 4096);
}

/// `filemap_map_pages` counts each page that it maps.
#[test]
fn pages_that_are_found_make_up_for_misses() {
    let mut touches: Vec<String> = (1..=121).map(|k| touch(k, "")).collect();
    touches.insert(101, "mmap_read = '/data/f', size = '131072 B'".to_owned());
    let touches: Vec<&str> = touches.iter().map(String::as_str).collect();
    let case = process(&touches).set("machine.disk.ssd.latency=1 ms");
    let run = case.cached("/data/f", "10 GB", "131072 B").run("kernel");
    // 32 pages in two faults: after 69 misses the next 20 are no more than 100.
    assert_eq!(run.file("/data/f").1, 131_072 + 100 * 131_072 + 4096 + 20 * 131_072);
}

#[test]
fn a_sequential_mapping_reads_what_follows() {
    let run = far_apart(10, ", advice = 'sequential'");
    assert_eq!(run.file("/data/f").1, 10 * 131_072);
    let all = |advice: &str| {
        let read = format!("mmap_read = '/data/f', advice = '{advice}'");
        let case = process(&[&read]).file("/data/f", FILE).set("machine.disk.ssd.latency=200 us");
        case.run("kernel").seconds("p", 0)
    };
    assert_near(all("sequential"), all("normal"), 0.01);
    assert!(all("random") > PAGES * 200e-6, "each page waits for itself");
}

#[test]
fn a_mapping_does_not_know_how_its_file_was_opened() {
    for flags in ["'O_DIRECT'", "'O_SYNC'", "'O_APPEND'"] {
        let open = format!("open = '/data/f', flags = [{flags}]");
        let run = process(&[
            &open,
            "mmap_read = '/data/f'",
            "mmap_write = '/data/f', offset = '1 B', size = '7 B'",
        ])
        .file("/data/f", FILE)
        .run("kernel");
        assert_eq!(run.file("/data/f"), (BYTES, BYTES, 7));
        assert_eq!(run.sources("p", 1), (0, BYTES));
    }
}

#[test]
fn what_is_beyond_the_end_cannot_be_touched() {
    for verb in ["mmap_read", "mmap_write"] {
        for model in MODELS {
            let error = process(&[&format!("{verb} = '/data/f', offset = '1 MB', size = '1 MB'")])
                .file("/data/f", "1500 kB")
                .error(model);
            assert_eq!(
                error,
                format!(
                    "test.toml:17: process `p` does a {verb} of 1 MB at offset 1 MB of /data/f, which has 1.5 MB at the start, and what is beyond ends in SIGBUS; ask for less, or make the file larger before (truncate)"
                )
            );
        }
        let error =
            process(&[&format!("{verb} = '/data/g'")]).scenario().map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(&format!("`{verb}` needs \"/data/g\", which no [[file]] makes")), "{error}");
    }
    let empty = process(&["mmap_read = '/data/f'", "mmap_write = '/data/f'", "msync = '/data/f'"]);
    assert_eq!(empty.file("/data/f", "0 B").run("kernel").end("p", 2), 0.0);
}

#[test]
fn every_model_has_an_answer() {
    let operations =
        ["mmap_read = '/data/f'", "mmap_write = '/data/f'", "msync = '/data/f'", "mmap_read = '/data/f'"];
    let case = process(&operations).set("machine.memory.write=1 GB/s").set("machine.memory.read=1 GB/s");
    let case = case.file("/data/f", FILE);
    let seconds = |model: &str| case.run(model).all_seconds("p");
    let (disk, memory) = (4.096, 0.4096);
    for (model, expected) in [
        ("wrench", [disk, memory, disk, memory]),
        ("endless-cache", [disk, memory, 0.0, memory]),
        ("no-cache", [disk, disk, 0.0, disk]),
    ] {
        let seconds = seconds(model);
        for (actual, expected) in seconds.iter().zip(expected) {
            assert_near(*actual, expected, 1e-6);
        }
    }
    // The optimist has to read what he maps, too.
    let cold = process(&["mmap_write = '/data/f'"]).file("/data/f", FILE).set("machine.memory.write=1 GB/s");
    assert_near(cold.run("endless-cache").seconds("p", 0), disk + memory, 1e-6);
    let refusal = case.error("cawl");
    assert!(refusal.contains("model `cawl` knows no mapped files; ask model `kernel`"), "{refusal}");
}

#[test]
fn a_file_of_another_host_is_mapped_as_ever() {
    let case = |operation: &str| on(HOSTS).file("/remote/f", "200 MB").process("p", &[operation]);
    for model in ["kernel", "wrench"] {
        let [mapped, read] =
            ["mmap_read", "read"].map(|verb| case(&format!("{verb} = '/remote/f'")).run(model).end("p", 0));
        // The kernel's windows of a mapping begin elsewhere.
        assert_near(mapped, read, if model == "kernel" { 0.01 } else { 0.0 });
    }
    let error = case("mmap_write = '/remote/f'").error("wrench");
    assert!(error.contains("does not know how another host's file is written through a mapping"), "{error}");
}

#[test]
fn a_writer_that_is_slower_than_the_disk_reads_not_far_ahead() {
    // A page takes 200 us: a fifth of the disk's rate. Of 10 GB of memory the file may have little.
    let run = process(&["mmap_write = '/data/f', size = '204800 kB'"])
        .file("/data/f", "4 GB")
        .set("machine.memory.cost.page_mkwrite=200 us")
        .run("kernel");
    let half = run.memory_at(run.seconds("p", 0) / 2.0);
    assert_near(half.dirty.0 as f64, 102.4e6, 3e6);
    assert!(half.cached.0 - half.dirty.0 < 8 * MB, "{half:?}");
    assert!(run.file("/data/f").1 < 204_800_000 + 3 * MB);
}

#[test]
fn larger_files_than_memory_are_read_and_written_through_mappings() {
    let run =
        process(&["mmap_read = '/data/f'", "mmap_write = '/data/f', size = '12 GB'", "msync = '/data/f'"])
            .file("/data/f", "14 GB")
            .run("kernel");
    assert_near(run.seconds("p", 0), 140.0, 0.1);
    assert!(run.seconds("p", 1) > 100.0);
    let (size, cached, dirty) = run.file("/data/f");
    assert_eq!((size, dirty), (14 * GB, 0));
    assert!(cached < 10_126_600_000);
}

/// Whoever came behind a slower reader had a fault at each look, and went on byte by byte: each took so long that the other was ahead again.
#[test]
fn a_mapping_that_is_read_behind_a_slower_reader_waits_for_him() {
    let behind = |verb: &str| {
        mapping()
            .set("machine.disk.ssd.latency=100 us")
            .process("slow", &["mmap_read = '/data/f', size = '20 MB', advice = 'random'"])
            .process("fast", &["sleep = '70 ms'", &format!("{verb} = '/data/f', size = '10 MB'")])
            .file("/data/f", FILE)
            .run("kernel")
    };
    let run = behind("mmap_read");
    assert!(run.timeline.time.len() < 100, "{}", run.timeline.time.len());
    assert_near(run.end("fast", 1), behind("read").end("fast", 1), 1e-3);
}

fn operations() -> impl Strategy<Value = Vec<String>> {
    let part = (0_u64..40, 1_u64..24, any::<bool>());
    let one = (0_usize..9, part).prop_map(|(kind, (at, many, is_whole))| {
        let (offset, size) =
            if is_whole { (at * 1_048_576, many * 1_048_576) } else { (at * 999_983, many * 77_777) };
        let span = format!("offset = '{offset} B', size = '{size} B'");
        match kind {
            0 => format!("mmap_read = '/data/f', {span}"),
            1 => format!("mmap_write = '/data/f', {span}"),
            2 => format!("msync = '/data/f', {span}"),
            3 => format!("read = '/data/f', {span}, call = '65536 B'"),
            4 => format!("write = '/data/f', {span}, call = '65536 B'"),
            5 => format!("mmap_read = '/data/f', {span}, advice = 'random'"),
            6 => "mmap = '/data/f'".to_owned(),
            7 => "munmap = '/data/f'".to_owned(),
            _ => "sleep = '1 s'".to_owned(),
        }
    });
    prop::collection::vec(one, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn bytes_are_conserved_and_no_more_is_dirty_than_cached(
        first in operations(), second in operations(), memory in prop::sample::select(vec!["10126.6 MB", "200 MB"]),
    ) {
        let [first, second] = [&first, &second].map(|list| list.iter().map(String::as_str).collect::<Vec<_>>());
        let case = mapping()
            .set(&format!("machine.memory.size={memory}"))
            .set("machine.disk.ssd.latency=100 us")
            .file("/data/f", "70 MB")
            .process("p", &first)
            .process("q", &second);
        for model in MODELS {
            let run = case.run(model);
            let table = &run.operations;
            for row in 0..table.end.len() {
                let served = table.from_cache[row] + table.from_device[row];
                prop_assert_eq!(served, table.bytes[row], "{}: row {}", model, row);
                prop_assert_eq!(table.parts.get(row).total(), table.end[row] - table.start[row]);
            }
        }
        for levels in &case.run("kernel").timeline.levels {
            prop_assert!(levels.dirty <= levels.cached, "{:?}", levels);
        }
        let last = "msync = '/data/f'";
        let after = case.process_with("r", "after = ['p', 'q']", &[last]).run("kernel");
        prop_assert_eq!(after.file("/data/f").2, 0);
    }
}

#[test]
fn what_is_written_through_a_mapping_of_another_hosts_file_goes_to_its_server() {
    let run = on(HOSTS)
        .file("/remote/f", "20 MB")
        .process("p", &["mmap_write = '/remote/f'", "msync = '/remote/f'"])
        .process_with("s", "host = 'server'\nafter = ['p']", &["fsync = '/export/f'"])
        .run("kernel");
    assert_eq!(run.file("/remote/f").2, 0);
    assert_near(run.seconds("p", 1), 0.2 + 0.05, 0.1); // the disk, and the link
}
