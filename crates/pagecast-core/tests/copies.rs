//! Copies from file to file. Source of the rules: `fs/splice.c: splice_direct_to_actor`, `mm/filemap.c: filemap_splice_read`,
//! `fs/read_write.c: vfs_copy_file_range`, Linux 6.16.

use insta::assert_snapshot;
use pagecast_core::result::Part;
use proptest::prelude::*;

use crate::common::{Case, GB, HOSTS, MB, Run, case, linux, on};

const WAYS: [&str; 3] = ["read_write", "sendfile", "copy_file_range"];
const MODELS: [&str; 4] = ["kernel", "wrench", "no-cache", "endless-cache"];

/// On [`crate::common::LINUX`]: 1 GB/s to copy from or to the cache, 100 MB/s from and to the disk.
fn copy(by: &str) -> String {
    format!("copy = '/data/f', to = '/data/g', by = '{by}', call = '1 MiB'")
}

fn cached() -> Case {
    linux().cached("/data/f", "400 MB", "400 MB")
}

fn cold() -> Case {
    linux().file("/data/f", "400 MB")
}

#[track_caller]
fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance * expected, "{actual} instead of {expected}");
}

#[test]
fn a_copy_costs_what_a_read_and_a_write_of_its_rounds_do() {
    let with = |operations: &[&str]| {
        let case =
            cached().set("machine.memory.cost.call=10 us").set("machine.memory.cost.page_lookup=100 ns");
        let run = case.set("machine.memory.cost.folio_insert=1 us").process("p", operations).run("kernel");
        run.all_seconds("p").iter().sum::<f64>()
    };
    for (by, call, piece) in [
        ("read_write", "1 MiB", "1 MiB"),
        ("sendfile", "1 MiB", "64 KiB"),
        ("copy_file_range", "16 KiB", "16 KiB"),
    ] {
        let copy = format!("copy = '/data/f', to = '/data/g', by = '{by}', call = '{call}'");
        let read = format!("read = '/data/f', call = '{piece}'");
        let write = format!("write = '/data/g', size = '400 MB', call = '{piece}'");
        let copied = with(&[&copy]);
        assert_near(copied, with(&[&read, &write]), 1e-4);
        assert!(copied > with(&[&write]) && copied > with(&[&read]), "{by}");
    }
}

#[test]
fn bytes_are_conserved_in_every_model() {
    for model in MODELS {
        for by in WAYS {
            for (case, was_cached) in [(cached(), model != "no-cache"), (cold(), false)] {
                let run = case.process("p", &[&copy(by)]).run(model);
                let row = run.row("p", 0);
                assert_eq!((run.operations.operation[row], run.operations.bytes[row]), ("copy", 400 * MB));
                let (from_cache, from_device) = run.sources("p", 0);
                assert_eq!(from_cache + from_device, 400 * MB, "{model} {by}");
                assert_eq!(from_device == 0, was_cached, "{model} {by}: what is read");
                let parts: f64 = run.parts("p", 0).iter().map(|(_, seconds)| seconds).sum();
                assert_near(parts, run.seconds("p", 0), 1e-9);
                assert_eq!(run.file("/data/g").0, 400 * MB);
                assert_eq!(run.operations.end.len(), 1, "its steps are no rows");
            }
        }
    }
}

#[test]
fn the_source_is_cached_afterwards_and_the_target_dirty() {
    for model in ["kernel", "wrench"] {
        for by in WAYS {
            let run = cold().process("p", &[&copy(by)]).run(model);
            assert_eq!(run.file("/data/f"), (400 * MB, 400 * MB, 0), "{model} {by}");
            assert_eq!(run.file("/data/g"), (400 * MB, 400 * MB, 400 * MB), "{model} {by}");
        }
    }
}

#[test]
fn a_cold_source_is_as_fast_as_its_device_while_the_target_is_not_throttled() {
    for by in WAYS {
        let run = cold().process("p", &[&copy(by)]).run("kernel");
        // A call of a MiB by read(2) is waited for before it is written; what is read ahead of it meanwhile is a window.
        let most = if by == "read_write" { 1.0 / (1.0 - 0.1) } else { 1.01 };
        let seconds = run.seconds("p", 0);
        assert!((4.0..4.0 * most).contains(&seconds), "{by}: {seconds}");
    }
}

#[test]
fn models_without_read_ahead_read_and_write_in_turn() {
    // 400 MB at 100 MB/s, read and written; at 10 GB/s.
    for (model, seconds) in [("no-cache", 8.0), ("endless-cache", 0.08), ("wrench", 0.08)] {
        for by in WAYS {
            assert_near(cached().process("p", &[&copy(by)]).run(model).seconds("p", 0), seconds, 1e-6);
        }
    }
}

#[test]
fn what_stays_in_the_kernel_goes_in_rounds_of_what_a_pipe_holds() {
    let seconds = |by: &str, call: &str| {
        let operation = format!("copy = '/data/f', to = '/data/g', by = '{by}', call = '{call}'");
        let case = linux().cached("/data/f", "64 MiB", "64 MiB").process("p", &[&operation]);
        let with = |cost: &str| case.clone().set(cost).run("kernel").seconds("p", 0);
        // In microseconds for each 64 KiB.
        ((with("machine.memory.cost.call=10 us") - with("machine.memory.cost.call=0 ns")) / 1024.0 * 1e6)
            .round()
    };
    assert_eq!(seconds("sendfile", "1 MiB"), 20.0, "16 rounds");
    assert_eq!(seconds("sendfile", "16 KiB"), 80.0, "no more than a call");
    assert_eq!(seconds("sendfile", "96 KiB"), 27.0, "two rounds each");
    assert_eq!(seconds("read_write", "1 MiB"), 1.0, "16 times as much");
}

#[test]
fn a_large_copy_is_throttled_like_a_large_write() {
    let large = || linux().cached("/data/f", "4 GB", "4 GB");
    let written = large().process("p", &["write = '/data/g', size = '4 GB', call = '64 KiB'"]).run("kernel");
    let copied = large().process("p", &[&copy("sendfile")]).run("kernel");
    assert_near(copied.seconds("p", 0), written.seconds("p", 0), 0.05);
    assert!(copied.part("p", 0, Part::Throttled) > 1.0);
}

#[test]
fn it_goes_to_the_same_place_of_the_other_file() {
    let part = "copy = '/data/f', to = '/data/g', by = 'sendfile', offset = '300 MB', size = '50 MB'";
    let run = cached().process("p", &[part]).run("kernel");
    let row = run.row("p", 0);
    assert_eq!((run.operations.offset[row], run.operations.bytes[row]), (300 * MB, 50 * MB));
    assert_eq!(run.file("/data/g").0, 350 * MB);
    assert_eq!(run.file("/data/g").2.div_ceil(4096), (50 * MB).div_ceil(4096));
    let empty = linux().file("/data/f", "0 B").process("p", &[&copy("sendfile")]).run("kernel");
    assert_eq!((empty.seconds("p", 0), empty.file("/data/g").0), (0.0, 0));
}

#[test]
fn a_synchronous_target_has_each_round_on_the_device() {
    let open = "open = '/data/g', create = true, flags = ['O_SYNC']";
    let run = cached().process("p", &[open, &copy("sendfile")]).run("kernel");
    assert_eq!(run.file("/data/g").2, 0);
    assert!(run.seconds("p", 1) >= 4.0);
}

#[test]
fn file_systems_that_share_extents_move_nothing() {
    let shared = |kind: &str, case: Case| case.set(&format!("machine.mount./data.type={kind}"));
    for kind in ["xfs", "btrfs"] {
        for model in MODELS {
            let run = shared(kind, cold()).process("p", &[&copy("copy_file_range")]).run(model);
            assert_eq!((run.seconds("p", 0), run.sources("p", 0)), (0.0, (0, 0)), "{kind} {model}");
            assert_eq!(run.file("/data/g"), (400 * MB, 0, 0), "{kind} {model}");
        }
        assert!(shared(kind, cold()).process("p", &[&copy("sendfile")]).run("kernel").seconds("p", 0) > 4.0);
    }
    // What is dirty of both is written first, and what was cached of the target leaves.
    let dirty = linux().dirty("/data/f", "400 MB", "100 MB").cached("/data/g", "400 MB", "400 MB");
    let run = shared("xfs", dirty).process("p", &[&copy("copy_file_range")]).run("kernel");
    assert_near(run.seconds("p", 0), 1.0, 1e-6);
    assert_eq!((run.file("/data/f"), run.file("/data/g")), ((400 * MB, 400 * MB, 0), (400 * MB, 0, 0)));
    // Extents begin with a block.
    let odd = "copy = '/data/f', to = '/data/g', by = 'copy_file_range', offset = '1000 B'";
    assert!(shared("xfs", cached()).process("p", &[odd]).run("kernel").seconds("p", 0) > 0.39);
}

#[test]
fn copies_go_on_beside_others() {
    let run = cached()
        .cached("/data/h", "400 MB", "400 MB")
        .process("p", &[&copy("sendfile"), "fsync = '/data/g'"])
        .process(
            "q",
            &["copy = '/data/h', to = '/data/i', by = 'read_write', call = '4 KiB'", "fsync = '/data/i'"],
        )
        .run("kernel");
    assert_near(run.seconds("p", 0), 0.8, 1e-6);
    assert_near(run.seconds("q", 0), 0.8, 1e-6);
    // Both files are on the disk when all 800 MB are there.
    assert_near(run.end("p", 1).max(run.end("q", 1)), 8.8, 0.02);
}

#[test]
fn paths_have_the_numbers_of_copies_and_rounds() {
    let operations = "{ write = '/data/f{n}', size = '1 MB' },
        { repeat = 2, as = 'k', do = [ { copy = '/data/f{n}', to = '/data/g{n}.{k}', by = 'sendfile' } ] }";
    let text = operations.trim_start_matches("{ ").trim_end_matches(" }");
    let run = linux().process_with("p{n}", "count = 2", &[text]).run("kernel");
    for path in ["/data/g1.1", "/data/g1.2", "/data/g2.1", "/data/g2.2"] {
        assert_eq!(run.file(path).0, MB, "{path}");
    }
}

#[test]
fn the_slow_driver_agrees() {
    for by in WAYS {
        let case = linux().file("/data/f", "40 MB").process("p", &[&copy(by)]);
        let case = case.set("machine.disk.ssd.read=10 MB/s").set("machine.disk.ssd.read_ahead_kb=1024");
        assert_near(case.run_by_steps("kernel").seconds("p", 0), case.run("kernel").seconds("p", 0), 0.02);
    }
}

#[test]
fn files_of_other_hosts_are_copied_by_reads_and_writes() {
    let operation = |by: &str| format!("copy = '/remote/f', to = '/remote/g', by = '{by}'");
    let with = |by: &str| on(HOSTS).file("/remote/f", "1 GB").process("p", &[&operation(by)]);
    for model in ["kernel", "wrench"] {
        // Up to the close: write-back may begin under a copy.
        let all = |run: &Run| run.all_seconds("p").iter().sum::<f64>();
        let apart = on(HOSTS)
            .file("/remote/f", "1 GB")
            .process("p", &["read = '/remote/f'", "write = '/remote/g', size = '1 GB'"])
            .run(model);
        for by in ["read_write", "sendfile"] {
            let run = with(by).run(model);
            assert_eq!(run.file("/remote/g").0, GB);
            assert_near(all(&run), all(&apart), 0.15);
        }
    }
    assert_snapshot!(with("copy_file_range").error("kernel"), @r#"test.toml:22: process `p` copies /remote/f to /remote/g by copy_file_range at the start, and one of them is another host's file, which is not modelled; use "sendfile" or "read_write""#);
}

#[test]
fn what_cannot_be_copied_is_named() {
    let fails = |operations: &[&str]| cached().process("p", operations).error("kernel");
    assert_snapshot!(fails(&["copy = '/data/f', to = '/data/g', by = 'sendfile', size = '500 MB'"]), @"test.toml:21: process `p` reads 500 MB at offset 0 B of /data/f, which has 400 MB at the start; read less or make the file larger");
    assert_snapshot!(fails(&["open = '/data/f', flags = ['O_DIRECT']", &copy("sendfile")]), @"test.toml:22: process `p` copies /data/f to /data/g by sendfile at the start, and one of them is open with O_DIRECT, RWF_DONTCACHE or, to be written, O_APPEND, which is not modelled; open both without, or use `read` and `write`");
    assert_snapshot!(fails(&["unlink = '/data/f'", &copy("sendfile")]), @"test.toml:22: process `p` does a copy of /data/f at the start, and there is no such file; let it exist from the start ([[file]] in TOML, files= in Python) or write it first");
    let two = || {
        cached()
            .set("machine.disk.b.size=1 TB")
            .set("machine.disk.b.read=1 MB/s")
            .set("machine.disk.b.write=1 MB/s")
            .set("machine.mount./b.disk=b")
    };
    let across = |version: &str| {
        let operation = "copy = '/data/f', to = '/b/g', by = 'copy_file_range'";
        two()
            .set(&format!("machine.kernel.version='{version}'"))
            .process("p", &[operation])
            .simulate("kernel")
    };
    assert_snapshot!(across("6.12").unwrap_err().to_string(), @r#"test.toml:21: process `p` copies /data/f to /b/g by copy_file_range at the start, and they are on two file systems, with which it fails with EXDEV; use "sendfile" or "read_write""#);
    assert!(across("5.10").is_ok());
    let by = |by: &str| cached().process("p", &[&copy(by)]).error("cawl");
    assert_snapshot!(by("sendfile"), @"test.toml:21: process `p` does a copy at the start, and model `cawl` knows writes only; ask model `kernel`, or leave the read out");
    let text =
        |operation: &str| case().process("p", &[operation]).scenario().map(|_| ()).unwrap_err().to_string();
    assert_snapshot!(text("copy = '/data/f', to = '/data/./f', by = 'sendfile'"), @"test.toml:12: a copy has the same file twice; name another one in `to`");
    assert_snapshot!(text("copy = '/data/f', to = '/data/g'"), @r#"test.toml:12: copy has no `by`; add for example by = "read_write""#);
    assert_snapshot!(text("copy = '/data/f', to = '/data/g', by = 'sendfile'"), @r#"test.toml:12: `copy` needs "/data/f", which no [[file]] makes and no process writes; correct the path, add a [[file]], or write it first"#);
    assert!(
        text("copy = '/data/f', to = '/elsewhere/g', by = 'sendfile'")
            .contains("the path \"/elsewhere/g\" is under no mount")
    );
    assert_snapshot!(text("copy = '/data/f', to = '/elsewhere/g', by = 'splice'"), @r#"test.toml:12: `by` cannot be "splice"; known words: `read_write`, `sendfile`, `copy_file_range`"#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is copied in whatever pieces, beside a writer: bytes, sizes and times are right.
    #[test]
    fn nothing_is_lost_on_the_way(
        by in prop::sample::select(&WAYS[..]),
        model in prop::sample::select(&MODELS[..]),
        kib in 1u64..3000,
        cached in 0u64..3000,
        part in (0u64..3000, 1u64..3000),
        call in 1u64..400,
        latency in 0u64..2,
    ) {
        let offset = part.0.min(kib - 1);
        let size = part.1.min(kib - offset);
        let copy = format!(
            "copy = '/data/f', to = '/data/g', by = '{by}', offset = '{offset} KiB', size = '{size} KiB', call = '{call} KiB'"
        );
        let run = linux()
            .cached("/data/f", &format!("{kib} KiB"), &format!("{} KiB", cached.min(kib)))
            .set(&format!("machine.disk.ssd.latency={latency} ms"))
            .set("machine.memory.cost.call=1 us")
            .process("p", &[&copy, &copy, "fsync = '/data/g'"])
            .process("q", &["write = '/data/h', size = '9 MB', call = '4 KiB'"])
            .run(model);
        for index in 0..2 {
            let (from_cache, from_device) = run.sources("p", index);
            prop_assert_eq!(from_cache + from_device, size * 1024);
            let parts: f64 = run.parts("p", index).iter().map(|(_, seconds)| seconds).sum();
            prop_assert!((parts - run.seconds("p", index)).abs() < 1e-8);
        }
        if ["kernel", "endless-cache"].contains(&model) {
            prop_assert_eq!(run.sources("p", 1), (size * 1024, 0), "what was read stays");
        }
        let (length, in_cache, dirty) = run.file("/data/g");
        prop_assert_eq!(length, (offset + size) * 1024);
        prop_assert!(in_cache <= length.next_multiple_of(4096) && dirty == 0);
        prop_assert_eq!(run.file("/data/f").0, kib * 1024);
    }
}
