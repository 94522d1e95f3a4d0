//! Whom operations wait behind: the table `waits`.

use pagecast_core::result::Part;
use pagecast_core::units::Nanos;

use crate::common::{Run, linux};

/// The waits of an operation as (part, process, path, seconds).
fn waits<'a>(run: &'a Run, process: &str, index: u32) -> Vec<(&'static str, &'a str, &'a str, f64)> {
    let table = &run.waits;
    let name = |at: u32| run.processes.get(at as usize).map_or("", |name| &**name);
    let path = |at: u32| run.paths.get(at as usize).map_or("", |path| &**path);
    let rows =
        (0..table.time.len()).filter(|&row| name(table.process[row]) == process && table.index[row] == index);
    rows.map(|row| {
        let (other, file) = (name(table.behind_process[row]), path(table.behind_path[row]));
        (table.part[row].name(), other, file, table.time[row].as_seconds())
    })
    .collect()
}

/// No wait is longer than the part that it is in.
fn are_within_parts(run: &Run) {
    let (table, waits) = (&run.operations, &run.waits);
    for row in 0..table.end.len() {
        for part in Part::ALL {
            let is_of = |at: &usize| {
                (waits.process[*at], waits.index[*at], waits.part[*at].name())
                    == (table.process[row], table.index[row], part.name())
            };
            let sum: Nanos = (0..waits.time.len()).filter(is_of).map(|at| waits.time[at]).sum();
            assert!(sum <= table.parts.get(row).get(part), "{part:?} of row {row}: {sum:?}");
        }
    }
}

#[test]
fn an_fsync_waits_behind_the_pages_of_others() {
    let run = linux()
        .process("big", &["write = '/data/big', size = '1.2 GB'"])
        .process("small", &["sleep = '2 s'", "write = '/data/small', size = '1 MB'", "fsync = '/data/small'"])
        .run("kernel");
    let [(part, other, path, seconds)] = waits(&run, "small", 2)[..] else {
        panic!("one wait: {:?}", run.waits)
    };
    assert_eq!((part, other, path), ("device_write", "big", "/data/big"));
    assert!(seconds > 0.1 && seconds <= run.part("small", 2, Part::DeviceWrite), "{seconds}");
    assert!(waits(&run, "big", 0).is_empty());
    are_within_parts(&run);
}

#[test]
fn direct_reads_wait_behind_each_other_for_all_but_their_own_service() {
    let read = [
        "open = '/data/in', flags = ['O_DIRECT']",
        "repeat = 20, do = [ { read = '/data/in', size = '4 KiB', offset = '0 B' } ]",
    ];
    let case = linux().set("machine.disk.ssd.service=1 ms").set("machine.disk.ssd.hw_queue_depth=1");
    let run = case
        .file("/data/in", "1 MB")
        .process("a", &read)
        .process("b", &read)
        .process("c", &read)
        .run("kernel");
    let all: f64 = ["a", "b", "c"].iter().flat_map(|process| run.all_seconds(process)).sum();
    let waited: f64 = run.waits.time.iter().map(|time| time.as_seconds()).sum();
    assert!((all - waited - 60.0 * 1e-3).abs() < 1e-6, "{all} s with {waited} s behind others");
    let others: Vec<&str> = waits(&run, "a", 10).into_iter().map(|(_, other, ..)| other).collect();
    assert_eq!(others.len(), 2, "{others:?}");
    are_within_parts(&run);
}

#[test]
fn a_throttled_writer_waits_behind_those_whose_pages_are_written() {
    let write = |path: &str| format!("write = '{path}', size = '2.5 GB'");
    let run = linux().process("a", &[&write("/data/a")]).process("b", &[&write("/data/b")]).run("kernel");
    let found = waits(&run, "a", 0);
    assert!(
        found.iter().any(|&(part, other, path, _)| (part, other, path) == ("throttled", "b", "/data/b")),
        "{found:?}"
    );
    are_within_parts(&run);
}

#[test]
fn only_operations_with_a_row_have_waits() {
    let run =
        linux().process("a", &["write = '/data/a', size = '2.5 GB'", "fsync = '/data/a'"]).run("kernel");
    assert!(run.waits.time.is_empty(), "nobody else is there: {:?}", run.waits);
}
