//! Opening files: inodes and names that are cached, and those that are read. Source of the rules: `fs/ext4`, Linux 6.12.

use crate::common::{Case, Run, linux};

/// On [`crate::common::LINUX`], whose disk reads 100 MB/s, and takes 1 ms before. Opening takes 6 us, and 13 us more without the inode.
fn machine() -> Case {
    let keys =
        ["disk.ssd.latency=1 ms", "mount./data.open=6 us", "mount./data.iget=13 us", "kernel.version=6.12"];
    keys.iter().fold(linux(), |case, key| case.set(&format!("machine.{key}")))
}

fn run(case: Case, operations: &[&str]) -> Run {
    case.process("p", operations).run("kernel")
}

const OPEN: &str = "open = '/data/f'";
const STAT: &str = "stat = '/data/f'";
const DROP: &str = "drop_caches = true";
const CACHED: f64 = 6e-6;
/// A block with the name, and 32 with inodes.
const READS: f64 = 2e-3 + 33.0 * 4096.0 / 100e6;

fn near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 2e-6, "{actual} s, not {expected}");
}

#[test]
fn the_first_open_reads_name_and_inode_and_later_ones_do_not() {
    let run = run(machine().file("/data/f", "1 MB"), &[OPEN, OPEN, STAT, DROP, STAT]);
    let [first, second, stat, _, dropped] = run.all_seconds("p")[..] else { panic!("of five") };
    near(first, CACHED + 13e-6 + READS);
    near(second, CACHED);
    assert_eq!(stat, 0.0);
    near(dropped, 13e-6 + READS);
}

#[test]
fn inodes_of_neighbours_come_along() {
    let case = machine().file("/data/f", "1 MB").file("/data/g", "1 MB");
    let run = run(case, &[OPEN, "open = '/data/g'"]);
    near(run.seconds("p", 1), CACHED + 13e-6);
}

#[test]
fn a_file_that_was_made_and_one_with_cached_pages_have_their_inodes() {
    let case = machine().cached("/data/f", "1 MB", "1 MB");
    let run = run(case, &[OPEN, "write = '/data/g', size = '1 MB'", "open = '/data/g'"]);
    near(run.seconds("p", 0), CACHED);
    assert!(run.seconds("p", 2) < CACHED + 14e-6 + READS);
}

#[test]
fn blocks_that_the_log_holds_go_with_the_next_drop() {
    let make = "open = '/data/g', create = true";
    let open = "open = '/data/g'";
    let case = machine().set("machine.mount./data.journal={}");
    let run = run(case, &[make, DROP, open, "fsync = '/data/g'", DROP, open, DROP, open]);
    near(run.seconds("p", 2), CACHED + 13e-6);
    near(run.seconds("p", 5), CACHED + 13e-6);
    near(run.seconds("p", 7), CACHED + 13e-6 + READS);
}

#[test]
fn without_their_time_opens_take_none() {
    let run = run(linux().file("/data/f", "1 MB"), &[OPEN, STAT, DROP, OPEN]);
    assert_eq!(run.all_seconds("p"), [0.0; 4]);
}
