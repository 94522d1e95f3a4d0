//! Many calls of one operation: their order, their rate, and how many are under way at once.

use pagecast_core::result::Part;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, AsyncBy, OpenFlag, Operation, Order, Pattern};

use crate::common::{Case, GB, MB, Run, linux, on};

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

fn pattern(order: Order, bytes: u64, call: u64) -> Pattern {
    Pattern {
        path: "/data/f".into(),
        offset: 0,
        range: None,
        bytes: Some(Bytes(bytes)),
        time: None,
        call: Bytes(call),
        order,
        write_share: 0.0,
        depth: 1,
        by: AsyncBy::default(),
        rate: None,
        seed: 0,
    }
}

const RANDOM: Order = Order::Uniform { once: false };
const ONCE: Order = Order::Uniform { once: true };

fn by(by: AsyncBy, pattern: Pattern) -> Operation {
    Action::Pattern(Box::new(Pattern { by, ..pattern })).into()
}

fn direct() -> Operation {
    let flags = [OpenFlag::Direct].into_iter().collect();
    Action::Open { path: "/data/f".into(), create: true, truncate: false, flags }.into()
}

/// One pattern on a file of so many bytes.
fn case(machine: &str, size: u64, operations: &[Operation]) -> Case {
    let case = on(machine);
    let case = if size > 0 { case.file("/data/f", &format!("{size} B")) } else { case };
    case.program("p", operations.to_vec())
}

fn seconds(run: &Run) -> f64 {
    run.0.end.as_seconds()
}

#[test]
fn a_sequence_of_calls_is_as_one_operation_after_the_other() {
    let calls = (0..64).map(|at| {
        let (offset, bytes) = (Some(at * 64 * KIB), Some(Bytes(64 * KIB)));
        let (path, buffer) = ("/data/f".into(), Default::default());
        Action::Read { path, offset, bytes, call: None, vector: 1, buffer }.into()
    });
    for model in ["kernel", "wrench", "no-cache", "endless-cache"] {
        let size = 64 * 64 * KIB;
        let one = by(AsyncBy::Threads, pattern(Order::Sequential, size, 64 * KIB));
        let one = case(LATENCY, size, &[one]).run(model);
        let many = case(LATENCY, size, &calls.clone().collect::<Vec<_>>()).run(model);
        assert_eq!(
            (one.0.end, one.sources("p", 0)),
            (many.0.end, (many.operations.from_cache.iter().sum(), many.operations.from_device.iter().sum())),
            "{model}"
        );
        let parts = Part::ALL.map(|part| (0..64).map(|at| many.part("p", at, part)).sum::<f64>());
        for (part, seconds) in Part::ALL.into_iter().zip(parts) {
            assert!((one.part("p", 0, part) - seconds).abs() < 1e-9, "{model}: {}", part.name());
        }
    }
}

#[test]
fn a_permutation_moves_every_byte_once() {
    // Not a whole number of calls.
    let size = 1000 * 4 * KIB + 5;
    let once = by(AsyncBy::Threads, pattern(ONCE, size, 4 * KIB));
    let run = case(LATENCY, size, &[once.clone(), once]).run("endless-cache");
    assert_eq!([0, 1].map(|at| run.sources("p", at)), [(0, size), (size, 0)]);
    assert_eq!(run.operations.bytes, [size, size]);
}

#[test]
fn random_writes_fill_a_file_that_they_make() {
    let once = Pattern { write_share: 1.0, ..pattern(ONCE, 100 * MB, 64 * KIB) };
    for model in ["kernel", "no-cache"] {
        let run = case(LATENCY, 0, &[by(AsyncBy::Threads, once.clone())]).run(model);
        assert_eq!((run.file("/data/f").0, run.operations.operation[0]), (100 * MB, "write"), "{model}");
    }
}

#[test]
fn depth_hides_latency() {
    let reads = |depth| {
        let pattern = Pattern { depth, ..pattern(RANDOM, 1600 * 4 * KIB, 4 * KIB) };
        case(LATENCY, 100 * GB, &[direct(), by(AsyncBy::Libaio, pattern)]).run("kernel")
    };
    // A call of 2 us, 100 us of the device, 1 us of its bandwidth.
    let one = 1600.0 * 103e-6;
    assert!((seconds(&reads(1)) / one - 1.0).abs() < 1e-3);
    let sixteen = reads(16);
    assert!((seconds(&sixteen) / (one / 16.0) - 1.0).abs() < 0.03, "{} of {}", seconds(&sixteen), one / 16.0);
    let by_processor = 1600.0 * 2e-6 + 101e-6;
    assert!((seconds(&reads(1600)) / by_processor - 1.0).abs() < 0.01);
    // Threads begin one after the other, so that their transfers do not meet for ever.
    let threads = Pattern { depth: 16, ..pattern(RANDOM, 1600 * 4 * KIB, 4 * KIB) };
    let threads = case(LATENCY, 100 * GB, &[direct(), by(AsyncBy::Threads, threads)]).run("kernel");
    assert!((seconds(&threads) / (one / 16.0) - 1.0).abs() < 0.03, "{}", seconds(&threads));
    // Of each call the same parts, and they fill the whole.
    let parts = sixteen.parts("p", 1);
    let [("cpu_copy", copy), ("device_read", read)] = parts[..] else { panic!("{parts:?}") };
    assert!((copy + read - seconds(&sixteen)).abs() < 1e-9 && (copy / read - 2.0 / 101.0).abs() < 0.003);
}

#[test]
fn buffered_calls_of_libaio_come_one_at_a_time() {
    let write = |by_, depth| {
        let write = Pattern { write_share: 1.0, depth, ..pattern(ONCE, 100 * MB, MB) };
        seconds(&case(LATENCY, 0, &[by(by_, write)]).run("kernel"))
    };
    assert_eq!(write(AsyncBy::Libaio, 16), write(AsyncBy::Libaio, 1));
    assert!(write(AsyncBy::Threads, 4) < 0.51 * write(AsyncBy::Threads, 1));
    // Those of io_uring to one file follow one another.
    assert!((write(AsyncBy::IoUring, 16) / write(AsyncBy::Libaio, 1) - 1.0).abs() < 0.01);
    assert!((write(AsyncBy::PosixAio, 16) / write(AsyncBy::Libaio, 1) - 1.0).abs() < 0.01);
}

#[test]
fn a_rate_lets_calls_come_at_their_times() {
    let paced = Pattern { rate: Some(100.0), ..pattern(RANDOM, 200 * 4 * KIB, 4 * KIB) };
    let run = case(LATENCY, GB, &[direct(), by(AsyncBy::Libaio, paced.clone())]).run("kernel");
    // The last of 200 begins after 1.99 s.
    assert!((seconds(&run) - 1.99 - 103e-6).abs() < 1e-6, "{}", seconds(&run));
    assert!((run.part("p", 1, Part::Sleep) - (1.99 - 199.0 * 103e-6)).abs() < 1e-6);
    // A rate that the disk cannot keep is none.
    let fast = Pattern { rate: Some(1e6), ..paced };
    let run = case(LATENCY, GB, &[direct(), by(AsyncBy::Libaio, fast)]).run("kernel");
    assert!((seconds(&run) - 200.0 * 103e-6).abs() < 1e-6);
    assert_eq!(run.part("p", 1, Part::Sleep), 0.0);
}

#[test]
fn a_pattern_ends_after_its_time() {
    let timed =
        |bytes, depth| Pattern { bytes, depth, time: Some(Nanos(10_300_000)), ..pattern(RANDOM, 0, 4 * KIB) };
    let run = |pattern| case(LATENCY, GB, &[direct(), by(AsyncBy::Libaio, pattern)]).run("kernel");
    let alone = run(timed(None, 1));
    assert_eq!((alone.operations.bytes[1], seconds(&alone)), (100 * 4 * KIB, 0.0103));
    let eight = run(timed(None, 8));
    let calls = eight.operations.bytes[1] / (4 * KIB);
    assert!((780..=810).contains(&calls) && seconds(&eight) < 0.0105, "{calls} {}", seconds(&eight));
    // Whichever comes first.
    assert_eq!(run(timed(Some(Bytes(8 * KIB)), 1)).operations.bytes[1], 8 * KIB);
}

#[test]
fn sequential_calls_at_once_read_ahead_as_one_reader() {
    let reads = |depth| {
        let pattern = Pattern { depth, ..pattern(Order::Sequential, 64 << 20, 4 * KIB) };
        linux().file("/data/f", "64 MiB").program("p", vec![by(AsyncBy::IoUring, pattern)]).run("kernel")
    };
    let (one, eight) = (reads(1), reads(8));
    let disk = (64 << 20) as f64 / 100e6;
    assert!((seconds(&one) / disk - 1.0).abs() < 0.02 && (seconds(&eight) / disk - 1.0).abs() < 0.02);
    let read: u64 = eight.operations.from_device.iter().sum();
    assert!(read <= 64 << 20, "{read}");
}

#[test]
fn mixed_calls_read_and_write() {
    let mixed = Pattern { write_share: 0.3, ..pattern(RANDOM, 1000 * 4 * KIB, 4 * KIB) };
    let run = case(LATENCY, 100 * MB, &[by(AsyncBy::Threads, mixed)]).run("kernel");
    assert_eq!((run.operations.operation[0], run.operations.bytes[0]), ("readwrite", 1000 * 4 * KIB));
    let written = run.file("/data/f").2 / (4 * KIB);
    assert!((240..=360).contains(&written), "{written} pages are dirty");
}

#[test]
fn streams_are_independent_and_depend_on_the_seed() {
    // Without a cache nothing shows; with one, the second reading of the same places hits.
    let some = || by(AsyncBy::Threads, pattern(RANDOM, 500 * 4 * KIB, 4 * KIB));
    let misses = |case: Case| {
        let run = case.run("endless-cache");
        [0, 1].map(|at| run.sources("p", at).1)
    };
    let two = |seed| case(LATENCY, 100 * MB, &[some(), some()]).seed(seed);
    assert_eq!(misses(two(1)), misses(two(1)));
    let found = misses(two(1));
    // Another operation has other places: only few are the same, of 24,414.
    assert!(found[1] > 460 * 4 * KIB, "{found:?}");
    assert_ne!(misses(two(1)), misses(two(2)));
    // A process more changes no other's.
    let other = two(1).program(
        "q",
        vec![by(AsyncBy::Threads, Pattern { path: "/data/g".into(), ..pattern(RANDOM, 4 * KIB, 4 * KIB) })],
    );
    assert_eq!(misses(other.file("/data/g", "100 MB")), found);
}

#[test]
fn appended_calls_follow_one_another() {
    let flags = [OpenFlag::Append].into_iter().collect();
    let open = Action::Open { path: "/data/f".into(), create: true, truncate: false, flags }.into();
    let write = Pattern { write_share: 1.0, depth: 4, ..pattern(ONCE, 10 * MB, 64 * KIB) };
    let run = case(LATENCY, 5 * MB, &[open, by(AsyncBy::Threads, write)]).run("kernel");
    assert_eq!(run.file("/data/f").0, 15 * MB);
}

#[test]
fn another_hosts_file_has_patterns_too() {
    let mixed =
        Pattern { path: "/remote/f".into(), write_share: 0.5, depth: 3, ..pattern(RANDOM, MB, 4 * KIB) };
    let case =
        on(crate::common::HOSTS).keys("[[file]]\nhost = 'server'\npath = '/export/f'\nsize = '100 MB'");
    for model in ["kernel", "wrench", "no-cache"] {
        let run = case.clone().program("p", vec![by(AsyncBy::IoUring, mixed.clone())]).run(model);
        assert_eq!(run.operations.bytes[0], MB, "{model}"); // a close may follow
    }
}

#[test]
fn what_is_wrong_is_said_of_the_pattern() {
    let error = |size, pattern: Pattern| {
        case(LATENCY, size, &[direct(), by(AsyncBy::Libaio, pattern)]).error("kernel")
    };
    let unaligned = error(MB, pattern(RANDOM, MB, 1000));
    assert!(unaligned.contains("EINVAL") && unaligned.contains("1 kB"), "{unaligned}");
    let tail = error(0, Pattern { write_share: 1.0, ..pattern(ONCE, 8 * KIB + 100, 4 * KIB) });
    assert!(tail.contains("100 B") && tail.contains("EINVAL"), "{tail}");
    let beyond =
        error(MB, Pattern { range: Some(Bytes(2 << 20)), ..pattern(Order::Backwards, 2 << 20, 4 * KIB) });
    assert!(beyond.contains("which has 1 MB"), "{beyond}");
    let none = case(LATENCY, 0, &[by(AsyncBy::Threads, pattern(RANDOM, MB, 4 * KIB))]).error("kernel");
    assert!(none.contains("there is no such file"), "{none}");
    let reads = case(LATENCY, MB, &[by(AsyncBy::Threads, pattern(RANDOM, MB, 4 * KIB))]).error("cawl");
    assert!(reads.contains("process `p` does a read"), "{reads}");
    let by_threads = Pattern { write_share: 1.0, depth: 2, ..pattern(RANDOM, MB, 4 * KIB) };
    let writes = case(LATENCY, MB, &[by(AsyncBy::Threads, by_threads)]).error("cawl");
    assert!(writes.contains("process `p` does a write") && writes.contains("asynchronous"), "{writes}");
}

#[test]
fn the_slow_driver_agrees() {
    let mixed = Pattern { write_share: 0.5, depth: 4, ..pattern(RANDOM, 400 * MB, 10 * MB) };
    let case = linux().file("/data/f", "1 GB").program("p", vec![by(AsyncBy::Threads, mixed)]);
    let (one, other) = (case.run("no-cache"), case.run_by_steps("no-cache"));
    assert!((seconds(&one) / seconds(&other) - 1.0).abs() < 0.02, "{} {}", seconds(&one), seconds(&other));
}
