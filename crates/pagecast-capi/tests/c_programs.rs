//! Programs in C against the library, with the address and undefined-behaviour sanitizers of the C compiler.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Compiles `c/NAME.c` and runs it with the library that cargo has just built.
fn run(name: &str, arguments: &[&str]) -> Output {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = TempDir::new().unwrap();
    // The program asks for the library by the name that `make install` gives it.
    std::os::unix::fs::symlink(library(), folder.path().join("libpagecast.so.4")).unwrap();
    let program = folder.path().join(name);
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-g"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I"])
        .arg(here.join("include"))
        .arg(here.join("c").join(name).with_extension("c"))
        .arg(folder.path().join("libpagecast.so.4"))
        .args(["-lm", "-o"])
        .arg(&program)
        .output()
        .expect("the tests need a C compiler (cc)");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Command::new(&program).args(arguments).env("LD_LIBRARY_PATH", folder.path()).output().unwrap()
}

/// Where cargo puts it: beside this program.
fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("libpagecast.so")
}

#[test]
fn random_calls_are_taken_or_refused_and_never_harm() {
    let run = run("random", &["0", "150"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

/// The times are those of our engine for the same machine and program.
#[test]
fn a_simulator_in_c_gives_the_times_of_our_engine() {
    let run = run("writer", &[]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let printed = String::from_utf8(run.stdout).unwrap();
    let lines: Vec<String> = ["kernel", "wrench", "no-cache"].map(expected).to_vec();
    assert_eq!(printed.lines().collect::<Vec<_>>(), lines);
}

fn expected(model: &str) -> String {
    let scenario = r#"
        [machine]
        cores = 4
        memory = { size = "16 GB", read = "8 GB/s", write = "4 GB/s" }
        disk.ssd = { size = "1 TB", read = "500 MB/s", write = "500 MB/s" }
        mount."/data".disk = "ssd"
        [[process]]
        name = "writer"
        do = [{ write = "/data/f", size = "20 GB", call = "1 MiB" }, { fsync = "/data/f" }, { read = "/data/f", call = "1 MiB" }]
    "#;
    let nowhere = Path::new("");
    let scenario =
        pagecast_core::scenario::Scenario::from_toml(scenario.as_bytes(), "x.toml", nowhere, nowhere, &[])
            .unwrap();
    let result = pagecast_core::simulate(&scenario, model, pagecast_core::Settings::default()).unwrap();
    let took = |row: usize| (result.operations.end[row] - result.operations.start[row]).as_seconds();
    let cached = result.files.cached[0] as f64 / 1e9;
    format!(
        "{model}: write {:.3} s, fsync {:.3} s, read {:.3} s; {cached:.1} GB of the file are cached",
        took(0),
        took(1),
        took(2)
    )
}

/// Calls of a pattern, and percentiles of them: a scheduler, a disk with a service time and a priority below.
#[test]
fn a_database_beside_a_backup_in_c_has_the_percentiles_of_our_engine() {
    let scenario = r#"
        [machine]
        cores = 4
        memory = { size = "16 GB", read = "8 GB/s", write = "4 GB/s" }
        disk.ssd = { size = "1 TB", read = "500 MB/s", write = "500 MB/s", service = "300 us", hw_queue_depth = 2, scheduler = "bfq" }
        mount."/data" = { disk = "ssd", type = "ext4", journal = { size = "64 MiB" } }
        [[file]]
        path = "/data/table"
        size = "2 GB"
        [[file]]
        path = "/data/backup"
        size = "2 GB"
        [[process]]
        name = "database"
        do = [
          { open = "/data/table", flags = ["O_DIRECT"] },
          { read = "/data/table", call = "8 KiB", for = "1 s", by = "libaio", pattern = { random = "uniform", writes = "20 %", depth = 4 } },
          { fsync = "/data/table" },
        ]
        [[process]]
        name = "backup"
        ionice = "idle"
        do = [ { open = "/data/backup", flags = ["O_DIRECT"] }, { read = "/data/backup", size = "64 MiB", call = "1 MiB" } ]
    "#;
    let run = run("database", &[]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let printed = String::from_utf8(run.stdout).unwrap();
    let nowhere = Path::new("");
    let scenario =
        pagecast_core::scenario::Scenario::from_toml(scenario.as_bytes(), "x.toml", nowhere, nowhere, &[])
            .unwrap();
    let result = pagecast_core::simulate(&scenario, "kernel", pagecast_core::Settings::default()).unwrap();
    let summary = result.summary();
    let rows = summary.latency.rows(&result.paths);
    let expected = [(0, "read"), (0, "write"), (1, "read")].map(|(process, operation)| {
        let (_, row) = rows.iter().find(|(key, _)| (key.0, key.2) == (process, operation)).unwrap();
        let ms = |time: pagecast_core::units::Nanos| time.as_seconds() * 1e3;
        format!(
            "{} {operation}: {} of {} bytes, p50 {:.4} ms, p99 {:.4} ms, max {:.4} ms",
            ["database", "backup"][process as usize],
            row.count,
            row.bytes,
            ms(row.quantile(0.5)),
            ms(row.quantile(0.99)),
            ms(row.longest)
        )
    });
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}
