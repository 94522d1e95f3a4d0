//! What disks do over time: the table `devices`.

use pagecast_core::MODELS;
use pagecast_core::result::Used;
use pagecast_core::units::Nanos;

use crate::common::{HOSTS, Run, case, linux, on};

/// All windows of a run together.
fn all(run: &Run) -> Used {
    let table = &run.devices;
    for (used, window) in table.used.iter().zip(&table.window) {
        assert!(used.busy <= *window, "a disk is not busy for longer than a window");
        assert!(
            used.waiting <= used.at_disk && used.at_disk <= u128::from(used.deepest) * u128::from(window.0)
        );
    }
    let sum = |get: fn(&Used) -> u64| table.used.iter().map(get).sum::<u64>();
    Used {
        reads: sum(|used| used.reads),
        read_bytes: sum(|used| used.read_bytes),
        writes: sum(|used| used.writes),
        write_bytes: sum(|used| used.write_bytes),
        flushes: sum(|used| used.flushes),
        busy: table.used.iter().map(|used| used.busy).sum(),
        at_disk: table.used.iter().map(|used| used.at_disk).sum(),
        waiting: table.used.iter().map(|used| used.waiting).sum(),
        deepest: table.used.iter().map(|used| used.deepest).max().unwrap_or(0),
    }
}

#[test]
fn bytes_of_disks_are_those_of_operations() {
    for model in MODELS {
        let program = ["read = '/data/in'", "write = '/data/out', size = '2 GB'", "fsync = '/data/out'"];
        let run = case().file("/data/in", "1 GB").process("p", &program).run(model);
        let used = all(&run);
        assert_eq!(used.read_bytes, run.operations.from_device[0], "{model}");
        let written =
            if model == "endless-cache" || model == "cawl" { used.write_bytes } else { 2_000_000_000 };
        assert_eq!(used.write_bytes, written, "{model}");
        assert_eq!(run.devices.window.iter().copied().sum::<Nanos>(), run.end, "{model}");
    }
}

/// A transfer at the end of the run counts with the bytes that it has moved.
#[test]
fn what_is_under_way_at_the_end_counts_in_part() {
    let run = linux().process("p", &["write = '/data/out', size = '1.5 GB'"]).run("kernel");
    let used = all(&run);
    let left = run.timeline.levels.last().expect("there are some").dirty.0;
    assert!(used.write_bytes > 0 && used.write_bytes.abs_diff(1_500_000_000 - left) <= 1, "{used:?}");
}

#[test]
fn a_disk_of_another_host_is_used_there() {
    let file = "[[file]]\nhost = 'server'\npath = '/export/in'\nsize = '1 GB'";
    for model in ["kernel", "wrench", "no-cache"] {
        let run =
            on(HOSTS).keys(file).process_with("p", "host = 'client'", &["read = '/remote/in'"]).run(model);
        assert_eq!(all(&run).read_bytes, 1_000_000_000, "{model}");
        assert!(run.devices.host.iter().all(|&host| run.hosts[host as usize] == "server"), "{model}");
    }
}

/// Little's law: what requests were at the disk is the time of their operations, where nothing else takes any.
#[test]
fn the_time_of_requests_is_that_of_the_operations_that_wait_for_them() {
    let reader = [
        "open = '/data/in', flags = ['O_DIRECT']",
        "repeat = 50, do = [ { read = '/data/in', size = '4 KiB', offset = '0 B' } ]",
    ];
    for (depth, readers) in [(1, 1), (1, 4), (2, 5)] {
        let mut case = linux()
            .set("machine.disk.ssd.service=1 ms")
            .set(&format!("machine.disk.ssd.hw_queue_depth={depth}"))
            .file("/data/in", "1 MB");
        for at in 0..readers {
            case = case.process(&format!("p{at}"), &reader);
        }
        let run = case.run("kernel");
        let used = all(&run);
        let spent = |row: usize| u128::from((run.operations.end[row] - run.operations.start[row]).0);
        let times: u128 = (0..run.operations.end.len()).map(spent).sum();
        assert_eq!((used.reads, used.read_bytes), (50 * readers, 50 * readers * 4096));
        assert_eq!((used.at_disk, used.deepest), (times, readers));
        let served = u128::from(50 * readers) * 1_000_000;
        assert_eq!(used.waiting, times - served);
    }
}

#[test]
fn requests_of_a_flusher_wait_in_its_queue_and_flushes_are_counted() {
    let disk = linux().set("machine.disk.ssd.flush=2 ms");
    let run = disk.process("p", &["write = '/data/out', size = '1 GB'", "fsync = '/data/out'"]).run("kernel");
    let used = all(&run);
    assert_eq!((used.write_bytes, used.flushes), (1_000_000_000, 1));
    assert!(used.deepest > 1 && used.waiting > 0, "{used:?}");
}

#[test]
fn a_disk_that_nobody_uses_has_no_rows() {
    assert!(linux().process("p", &["compute = '1 s'"]).run("kernel").devices.time.is_empty());
}
