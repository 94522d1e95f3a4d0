//! Several operations of one process at once. Sources: `fs/aio.c`, `io_uring/rw.c`, Linux 6.16; `rt/aio_misc.c`, glibc 2.36.

use std::num::NonZeroU32;

use pagecast_core::result::Part;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, AsyncBy, Buffer, OpenFlag, Operation};

use crate::common::{Case, MB, Run, linux, on};

const KIB: u64 = 1024;

/// A disk that answers each request after 100 us, and calls that take 2 us.
const LATENCY: &str = r#"
[machine]
cores = 4
[machine.memory]
size = "8 GiB"
read = "10 GB/s"
write = "10 GB/s"
cost = { call = "2 us", copy_read = "5 GB/s", copy_write = "5 GB/s" }
[machine.disk.ssd]
size = "1 TB"
read = "4096 MB/s"
write = "4096 MB/s"
latency = "100 us"
[machine.mount]
"/data".disk = "ssd"
"#;

fn read(path: &str, offset: u64, bytes: u64) -> Action {
    let (offset, bytes) = (Some(offset), Some(Bytes(bytes)));
    Action::Read { path: path.into(), offset, bytes, call: None, vector: 1, buffer: Buffer::Reused }
}

fn write(path: &str, offset: u64, bytes: u64) -> Action {
    Action::Write { path: path.into(), offset: Some(offset), bytes: Bytes(bytes), call: None, vector: 1 }
}

fn open_direct(path: &str) -> Operation {
    let flags = [OpenFlag::Direct].into_iter().collect();
    Action::Open { path: path.into(), create: true, truncate: false, flags }.into()
}

/// As one of at most `depth`.
fn with(depth: u32, by: AsyncBy, action: Action) -> Operation {
    Operation { depth: NonZeroU32::new(depth), by, ..action.into() }
}

fn at(seconds: f64, operation: Operation) -> Operation {
    Operation { not_before: Some(Nanos::from_seconds(seconds)), ..operation }
}

fn fsync(path: &str) -> Action {
    Action::Fsync { path: path.into() }
}

/// `count` reads of 4 KiB, far from each other.
fn reads(count: u64) -> impl Iterator<Item = Action> {
    (0..count).map(|at| read("/data/f", at * 64 * MB / 4096 * 4096, 4 * KIB))
}

/// The time that `count` direct reads take, `depth` at once.
fn direct_reads(depth: u32, by: AsyncBy, count: u64) -> Run {
    let operations = reads(count).map(|action| with(depth, by, action));
    let operations = [open_direct("/data/f")].into_iter().chain(operations).collect();
    on(LATENCY).file("/data/f", "110 GB").program("p", operations).run("kernel")
}

fn end(run: &Run) -> f64 {
    run.0.end.as_seconds()
}

#[test]
fn one_at_a_time_is_as_one_after_the_other() {
    let plain = [open_direct("/data/f")].into_iter().chain(reads(20).map(Operation::from)).collect();
    let plain = on(LATENCY).file("/data/f", "110 GB").program("p", plain).run("kernel");
    for by in AsyncBy::ALL {
        let run = direct_reads(1, by, 20);
        assert_eq!(run.operations.start, plain.operations.start, "{by:?}");
        assert_eq!(run.operations.end, plain.operations.end, "{by:?}");
        assert_eq!(run.operations.parts, plain.operations.parts, "{by:?}");
    }
}

#[test]
fn sixteen_at_once_are_sixteen_times_as_fast_until_the_disk_or_the_processor_is_full() {
    // Each takes a call of 2 us, 100 us of the device, and 1 us of its bandwidth.
    let seconds = |depth| end(&direct_reads(depth, AsyncBy::Libaio, 1600));
    let one = 1600.0 * 103e-6;
    assert!((seconds(1) / one - 1.0).abs() < 1e-3, "{} of {one}", seconds(1));
    // The submissions of the 16 follow each other, so that their transfers do not meet.
    assert!((seconds(16) / (one / 16.0) - 1.0).abs() < 0.03, "{} of {}", seconds(16), one / 16.0);
    // The process submits a request every 2 us, however many may be under way.
    let by_processor = 1600.0 * 2e-6 + 101e-6;
    assert!((seconds(1600) / by_processor - 1.0).abs() < 0.01, "{} of {by_processor}", seconds(1600));
    // Threads submit at once: the disk moves 4 KiB a microsecond.
    let by_disk = 102e-6 + 1600.0 * 1e-6;
    let threads = end(&direct_reads(1600, AsyncBy::Threads, 1600));
    assert!((threads / by_disk - 1.0).abs() < 0.01, "{threads} of {by_disk}");
}

#[test]
fn no_more_than_asked_for_are_under_way() {
    for depth in [1, 3, 7] {
        let run = direct_reads(depth, AsyncBy::IoUring, 50);
        let table = &run.operations;
        let rows: Vec<usize> = (0..table.end.len()).filter(|&row| table.operation[row] == "read").collect();
        assert_eq!(rows.len(), 50);
        let most = rows.iter().map(|&row| {
            let start = table.start[row];
            rows.iter().filter(|&&other| table.start[other] <= start && start < table.end[other]).count()
        });
        assert_eq!(most.max(), Some(depth as usize));
        let indices: Vec<u32> = rows.iter().map(|&row| table.index[row]).collect();
        assert_eq!(indices, (1..=50).collect::<Vec<u32>>(), "in the order of the program");
    }
}

#[test]
fn a_buffered_operation_of_libaio_is_over_when_it_is_submitted() {
    let operations = |by| (0..4).map(|at| with(4, by, write("/data/g", at * 100 * MB, 100 * MB))).collect();
    let run = |by| linux().program("p", operations(by)).run("kernel");
    let (libaio, threads) = (run(AsyncBy::Libaio), run(AsyncBy::Threads));
    assert_eq!(libaio.all_seconds("p"), [0.1; 4]);
    assert_eq!((0..4).map(|at| libaio.start("p", at)).collect::<Vec<_>>(), [0.0, 0.1, 0.2, 0.3]);
    assert_eq!((0..4).map(|at| threads.start("p", at)).collect::<Vec<_>>(), [0.0; 4]);
    assert_eq!(end(&threads), 0.1, "each on a processor of its own");
}

#[test]
fn buffered_writes_of_io_uring_to_one_file_follow_one_another() {
    let operations = ["/data/g", "/data/g", "/data/h", "/data/g"]
        .map(|path| with(4, AsyncBy::IoUring, write(path, 0, 100 * MB)))
        .to_vec();
    let run = linux().program("p", operations).run("kernel");
    let times = |at| (run.start("p", at), run.end("p", at), run.part("p", at, Part::Wait));
    assert_eq!([0, 1, 2, 3].map(times), [(0.0, 0.1, 0.0), (0.0, 0.2, 0.1), (0.0, 0.1, 0.0), (0.0, 0.3, 0.2)]);
}

#[test]
fn posix_aio_does_all_of_one_file_one_after_the_other() {
    let operations = [open_direct("/data/f"), open_direct("/data/g")].into_iter();
    let reads = [("/data/f", 0), ("/data/f", 100), ("/data/g", 0)];
    let reads = reads.map(|(path, offset)| with(9, AsyncBy::PosixAio, read(path, offset * 4 * KIB, 4 * KIB)));
    let case = on(LATENCY).file("/data/f", "1 GB").file("/data/g", "1 GB");
    let run = case.program("p", operations.chain(reads).collect()).run("kernel");
    let seconds = run.all_seconds("p");
    assert!(seconds[3] > 1.9 * seconds[2] && seconds[4] < 1.1 * seconds[2], "{seconds:?}");
}

#[test]
fn a_read_of_cached_pages_by_io_uring_is_over_when_it_is_submitted() {
    let operations = |by| {
        let (hit, miss) = (read("/data/f", 0, 100 * MB), read("/data/g", 0, 100 * MB));
        [hit, miss].map(|action| with(9, by, action)).to_vec()
    };
    let start = |by| {
        let case = linux().cached("/data/f", "100 MB", "100 MB").file("/data/g", "100 MB");
        case.program("p", operations(by)).run("kernel").start("p", 1)
    };
    assert_eq!(start(AsyncBy::IoUring), 0.1);
    assert_eq!(start(AsyncBy::Threads), 0.0);
}

#[test]
fn sequential_reads_at_once_share_the_read_ahead_of_their_file() {
    // As by one reader: each page is read from the disk once, and the whole takes what the disk needs.
    let operations = (0..256).map(|at| with(8, AsyncBy::IoUring, read("/data/f", at * 64 * KIB, 64 * KIB)));
    let run = linux().file("/data/f", "16 MiB").program("p", operations.collect()).run("kernel");
    let from_device: u64 = run.operations.from_device.iter().sum();
    assert!(from_device <= 16 << 20, "{from_device} bytes are read");
    assert_eq!(run.file("/data/f").1, 16 << 20);
    let disk = (16 << 20) as f64 / 100e6;
    assert!((end(&run) / disk - 1.0).abs() < 0.1, "{} of {disk}", end(&run));
}

#[test]
fn an_operation_in_between_blocks_the_process_while_the_others_go_on() {
    let operations = vec![
        with(8, AsyncBy::Threads, read("/data/f", 0, 500 * MB)),
        Action::Sleep { time: Nanos(1_000_000_000), random: None }.into(),
        with(8, AsyncBy::Threads, read("/data/g", 0, 100 * MB)),
    ];
    let case = linux().file("/data/f", "1 GB").file("/data/g", "1 GB");
    let run = case.program("p", operations).run("no-cache");
    assert_eq!([0, 1, 2].map(|at| run.start("p", at)), [0.0, 0.0, 1.0]);
    // 100 MB alone, then half of the disk for each.
    assert_eq!([0, 1, 2].map(|at| run.end("p", at)), [6.0, 1.0, 3.0]);
}

#[test]
fn a_drain_waits_for_all_and_an_exit_does() {
    let read = |offset| with(8, AsyncBy::Threads, read("/data/f", offset, 100 * MB));
    let operations = vec![read(0), read(100 * MB), Action::Drain.into(), read(0), Action::Exit.into()];
    let case = linux().file("/data/f", "1 GB").program("p", operations);
    let run = case.process_with("q", "after = []", &["sleep = '1 ms'"]).run("no-cache");
    assert_eq!((run.start("p", 2), run.end("p", 2), run.part("p", 2, Part::Wait)), (0.0, 2.0, 2.0));
    assert_eq!((run.start("p", 3), end(&run)), (2.0, 3.0));
    let alone = linux().program("p", vec![Action::Drain.into()]).run("no-cache");
    assert_eq!(alone.all_seconds("p"), [0.0]);
}

#[test]
fn an_fsync_beside_writes_waits_only_for_pages_that_are_dirty() {
    let operations = vec![
        write("/data/g", 0, 100 * MB).into(),
        with(8, AsyncBy::IoUring, write("/data/g", 100 * MB, 400 * MB)),
        with(8, AsyncBy::IoUring, fsync("/data/g")),
        Action::Drain.into(),
    ];
    let run = linux().program("p", operations).run("kernel");
    assert_eq!(run.start("p", 2), run.start("p", 1), "both at once");
    assert_eq!(run.sources("p", 1).0, 400 * MB);
    let (_, _, dirty) = run.file("/data/g");
    assert!(dirty > 0, "what came later stays dirty");
}

#[test]
fn an_operation_begins_at_its_time() {
    let operations =
        [0.5, 1.0, 1.5].map(|time| at(time, with(100, AsyncBy::Threads, read("/data/f", 0, 200 * MB))));
    let run = linux().file("/data/f", "1 GB").program("p", operations.to_vec()).run("no-cache");
    assert_eq!([0, 1, 2].map(|at| run.start("p", at)), [0.5, 1.0, 1.5]);
    // A closed loop is late, and catches up.
    let operations = [0.5, 1.0, 9.0].map(|time| at(time, read("/data/f", 0, 200 * MB).into()));
    let run = linux().file("/data/f", "1 GB").program("p", operations.to_vec()).run("no-cache");
    assert_eq!([0, 1, 2].map(|at| run.start("p", at)), [0.5, 2.5, 9.0]);
    assert_eq!(run.parts("p", 2), [("device_read", 2.0)], "the wait is in no operation");
}

#[test]
fn times_count_from_the_start_of_the_process() {
    let sleep = at(2.0, Action::Sleep { time: Nanos(1_000_000_000), random: None }.into());
    let mut scenario = linux().program("p", vec![sleep]).scenario().expect("it is right");
    scenario.processes[0].start = Nanos(5_000_000_000);
    let result = pagecast_core::simulate(&scenario, "no-cache", Default::default()).expect("it goes through");
    assert_eq!(result.operations.start, [Nanos(7_000_000_000)]);
}

#[test]
fn bytes_are_kept_and_equal_seeds_give_equal_bytes() {
    let case = || -> Case {
        let kinds = [AsyncBy::Threads, AsyncBy::Libaio, AsyncBy::IoUring, AsyncBy::PosixAio];
        let operations = (0..200_u64).map(|at| {
            let (by, offset) = (kinds[at as usize % 4], at * 37 % 100 * MB);
            let path = ["/data/f", "/data/g"][at as usize % 2];
            match at % 5 {
                0 => with(5, by, fsync(path)),
                1 | 2 => with(7, by, write(path, offset, 3 * MB)),
                _ => with(3, by, read(path, offset, 2 * MB)),
            }
        });
        let operations = operations.collect();
        linux().file("/data/f", "200 MB").file("/data/g", "200 MB").program("p", operations)
    };
    for model in ["kernel", "wrench", "no-cache", "endless-cache"] {
        let (one, other) = (case().run(model), case().run(model));
        assert_eq!(one.operations.end, other.operations.end, "{model}");
        assert_eq!(one.operations.parts, other.operations.parts, "{model}");
        let table = &one.operations;
        assert_eq!(table.end.len(), 200, "{model}");
        for row in 0..200 {
            let moved = table.from_cache[row] + table.from_device[row];
            assert!(moved >= table.bytes[row] || table.operation[row] == "fsync", "{model}: row {row}");
        }
    }
}

#[test]
fn a_process_in_a_cgroup_has_its_operations_charged_to_it() {
    let machine =
        LATENCY.replace("cores = 4\n", "cores = 4\n[machine.cgroup.small.memory]\nmax = \"64 MiB\"\n");
    let operations = (0..256)
        .map(|at| with(8, AsyncBy::IoUring, read("/data/f", at * MB / 4096 * 4096, MB / 4096 * 4096)));
    let mut scenario =
        on(&machine).file("/data/f", "1 GB").program("p", operations.collect()).scenario().unwrap();
    scenario.processes[0].cgroup = Some(0);
    let result = pagecast_core::simulate(&scenario, "kernel", Default::default()).expect("it goes through");
    let cached: u64 = result.files.cached.iter().sum();
    assert!(cached <= 64 << 20, "{cached}");
}

#[test]
fn cawl_knows_none() {
    let case = linux().program("p", vec![with(2, AsyncBy::IoUring, write("/data/g", 0, MB))]);
    let error = case.error("cawl");
    assert!(error.contains("model `cawl` knows no asynchronous operations"), "{error}");
}
