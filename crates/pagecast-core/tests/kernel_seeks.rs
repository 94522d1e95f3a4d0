//! Disks whose head moves: requests that do not begin near where the one before them ended.

use pagecast_core::result::Part;

use crate::common::{Case, linux};

const SEEK_S: f64 = 0.01;

fn disk(operations: &[&str]) -> Case {
    let case = linux().file("/data/f", "1 GB").file("/data/g", "1 GB").set("machine.disk.ssd.latency=1 ms");
    case.process("p", operations)
}

/// How often operations seek, from how much longer they take with a disk that takes 10 ms to do so.
fn seeks(operations: &[&str]) -> u64 {
    let times = |case: Case| case.run("kernel").all_seconds("p").iter().sum::<f64>();
    let more = times(disk(operations).set("machine.disk.ssd.seek=10 ms")) - times(disk(operations));
    (more / SEEK_S).round() as u64
}

const DIRECT: &str = "open = '/data/f', flags = ['O_DIRECT']";

#[test]
fn direct_calls_seek_where_they_do_not_go_on() {
    let read = |at: u64| format!("read = '/data/f', offset = '{at} MiB', size = '1 MiB'");
    assert_eq!(seeks(&[DIRECT, &read(0), &read(1), &read(2)]), 1);
    assert_eq!(seeks(&[DIRECT, &read(0), &read(500), &read(1)]), 3);
    assert_eq!(seeks(&[DIRECT, &read(0), &read(4)]), 1, "so near is no seek");
    let write = "write = '/data/f', offset = '700 MiB', size = '4 MiB', call = '1 MiB'";
    assert_eq!(seeks(&[DIRECT, write]), 1, "its calls go on");
}

#[test]
fn short_reads_that_miss_seek_and_long_ones_need_not_count_it() {
    let read = |at: u64| format!("read = '/data/f', offset = '{at} MiB', size = '64 KiB'");
    let advice = "fadvise = '/data/f', advice = 'random'";
    assert_eq!(seeks(&[advice, &read(0), &read(500), &read(10), &read(900)]), 4);
    assert_eq!(seeks(&["read = '/data/f'"]), 0);
    assert_eq!(seeks(&["read = '/data/f'", &read(0), &read(500)]), 0, "what is cached needs no disk");
}

#[test]
fn seeks_are_time_of_the_device() {
    let run =
        disk(&[DIRECT, "read = '/data/f', size = '1 MiB'"]).set("machine.disk.ssd.seek=10 ms").run("kernel");
    let parts = run.parts("p", 1);
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].0, Part::DeviceRead.name());
    assert!((parts[0].1 - 0.021_485_76).abs() < 1e-6, "{parts:?}");
}
