//! Calls that do not fill the blocks of the file system: read, changed, written back. Source of the rules:
//! `fs/buffer.c: __block_write_begin_int`, Linux 6.16; CAWL, Equation 3.

use pagecast_core::result::Part;

use crate::common::{Case, MB, Run, linux};

/// What a block of 4 KiB takes from or to the disk of [`crate::common::LINUX`], in seconds.
const BLOCK: f64 = 4096.0 / 100e6;

/// What reading a block of the disk takes that has 100 us of latency.
const READ: f64 = BLOCK + 100e-6;

const MIB_4: &str = "4 MiB";

fn case() -> Case {
    linux().set("machine.disk.ssd.latency=100 us")
}

fn write(size: &str, call: &str) -> String {
    format!("write = '/data/g', size = '{size}', call = '{call}'")
}

#[track_caller]
fn assert_near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 1e-6 * expected + 2e-9, "{actual} instead of {expected}");
}

/// The time that a write over a cold file of 4 MiB waits for blocks.
fn waits(operation: &str) -> f64 {
    case().file("/data/g", MIB_4).process("p", &[operation]).run("kernel").part("p", 0, Part::DeviceRead)
}

#[test]
fn each_block_that_is_written_in_part_and_not_cached_is_read_first() {
    assert_near(waits(&write(MIB_4, "1 KiB")), 1024.0 * READ);
    // Calls of 6 KiB begin within every third block but the one at the end: 682 of them have one before, every other begins in a block.
    assert_near(waits(&write(MIB_4, "6 KiB")), 341.0 * READ);
    assert_near(waits("write = '/data/g', offset = '100 B', size = '100 B'"), READ);
    assert_near(waits("write = '/data/g', offset = '4000 B', size = '200 B'"), 2.0 * READ);
    assert_near(waits("write = '/data/g', size = '1 MB'"), READ);
}

#[test]
fn whole_blocks_are_written_unread() {
    for call in ["4 KiB", "64 KiB", "4 MiB"] {
        assert_eq!(waits(&write(MIB_4, call)), 0.0, "{call}");
    }
    assert_eq!(waits("write = '/data/g', offset = '4 KiB', size = '8 KiB'"), 0.0);
}

#[test]
fn what_takes_the_time_is_told_and_the_bytes_are_the_same() {
    let run = case().file("/data/g", MIB_4).process("p", &[&write(MIB_4, "1 KiB")]).run("kernel");
    assert_near(run.part("p", 0, Part::CpuCopy), 4.194_304e-3);
    assert_near(run.seconds("p", 0), 4.194_304e-3 + 1024.0 * READ);
    assert_eq!((run.sources("p", 0), run.file("/data/g")), ((4 << 20, 0), (4 << 20, 4 << 20, 4 << 20)));
}

#[test]
fn blocks_that_are_cached_need_not_be_read() {
    let cached = |bytes: &str| {
        let case = case().cached("/data/g", MIB_4, bytes).process("p", &[&write(MIB_4, "1 KiB")]);
        case.run("kernel").part("p", 0, Part::DeviceRead)
    };
    assert_eq!(cached(MIB_4), 0.0);
    assert_near(cached("1 MiB"), 768.0 * READ);
    // A page of which something is there is there: of 25 the last one has some of these.
    assert_near(cached("100 kB"), 999.0 * READ);
}

#[test]
fn blocks_that_the_file_does_not_have_yet_need_not_be_read() {
    let waits = |case: Case, operation: &str| {
        let run =
            case.process("p", &[operation, "write = '/data/g', size = '100 B', append = true"]).run("kernel");
        [0, 1].map(|index| run.part("p", index, Part::DeviceRead))
    };
    assert_eq!(waits(case(), &write(MIB_4, "1 KiB")), [0.0; 2], "a new file");
    // 10,000 bytes are in three blocks.
    let [over, _] = waits(case().file("/data/g", "10000 B"), &write("40 KiB", "1 KiB"));
    assert_near(over, 3.0 * READ);
    // Only the first one finds the last block cold.
    let appended =
        waits(case().file("/data/g", "10000 B"), "write = '/data/g', size = '9 kB', append = true");
    assert_near(appended[0], READ);
    assert_eq!(appended[1], 0.0);
    assert_eq!(
        waits(case().file("/data/g", "8 KiB"), "write = '/data/g', size = '9 kB', append = true"),
        [0.0; 2]
    );
}

/// A write with O_SYNC in calls of this size.
fn synchronous(case: Case, call: &str) -> Run {
    let open = "open = '/data/g', create = true, flags = ['O_SYNC']";
    case.process("p", &[open, &write("1 MiB", call)]).run("kernel")
}

#[test]
fn a_synchronous_call_writes_the_whole_of_its_blocks() {
    for (call, blocks) in [("1 KiB", 1024.0), ("512 B", 2048.0), ("4 KiB", 256.0), ("1 MiB", 256.0)] {
        let run = synchronous(case(), call);
        assert_near(run.part("p", 1, Part::DeviceWrite), blocks * BLOCK);
        assert_eq!(run.part("p", 1, Part::DeviceRead), 0.0);
        assert_eq!(run.sources("p", 1), (0, 1 << 20));
    }
    // Of calls of 6 KiB each has parts of two blocks: 170 whole ones, and one of 4 KiB at the end.
    assert_near(synchronous(case(), "6 KiB").part("p", 1, Part::DeviceWrite), (2.0 * 170.0 + 1.0) * BLOCK);
}

#[test]
fn a_synchronous_call_reads_its_blocks_changes_them_and_writes_them_back() {
    let run = synchronous(case().file("/data/g", "1 MiB").set("machine.disk.ssd.flush=1 ms"), "1 KiB");
    assert_near(run.part("p", 1, Part::DeviceRead), 256.0 * READ);
    assert_near(run.part("p", 1, Part::DeviceWrite), 1024.0 * (BLOCK + 1e-3));
}

#[test]
fn the_time_does_not_depend_on_how_many_calls_are_taken_together() {
    for flags in ["", "'O_SYNC'"] {
        let open = format!("open = '/data/g', flags = [{flags}]");
        let run = |operation: &str| {
            let case = case().file("/data/g", MIB_4).set("machine.memory.cost.call=10 us");
            case.process("p", &[&open, operation]).run("kernel")
        };
        let whole = run(&write("2000 kB", "1000 B")).seconds("p", 1);
        let part = "write = '/data/g', append = true, size = '16 kB', call = '1000 B'";
        let from_start = part.replace("append = true", "offset = '0 B'");
        let one = run(&from_start).seconds("p", 1);
        // 125 of them, of which 16 begin with a block and end in one that the next need not read.
        assert!((whole / (125.0 * one) - 1.0).abs() < 0.3, "{flags}: {whole} and {one}");
        let again = run(&format!("repeat = 2, do = [ {{ {from_start} }} ]")).all_seconds("p");
        assert!(again[2] < again[1], "{flags}: its blocks are there");
    }
}

#[test]
fn others_are_not_held_back_by_who_reads_blocks() {
    let run = case()
        .file("/data/g", "100 MB")
        .process("p", &[&write("10 MB", "1 KiB")])
        .process("q", &["write = '/data/h', size = '100 MB'"])
        .run("kernel");
    assert_near(run.seconds("q", 0), 0.1);
    assert_eq!(run.file("/data/g").2, 10 * MB);
}
