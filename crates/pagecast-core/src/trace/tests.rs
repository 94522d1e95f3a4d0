//! What must be true of a recording as a whole.

use proptest::prelude::*;

use super::open::Trace;
use super::testing::{operation, read, records_of};
use super::writer::Writer;
use super::*;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Fd, OpenFlags, Operation, Program};

/// A writer that soon goes into a file, with small blocks.
fn small_limits() -> Writer {
    Writer::with_limits("x", Level::Files, 1 << 10, 100, 1 << 10)
}

fn bytes_of(trace: &Trace) -> Vec<u8> {
    let mut bytes = Vec::new();
    trace.write_to(&mut bytes).unwrap();
    bytes
}

/// Three processes with some records each.
fn example(mut writer: Writer) -> Trace {
    let numbers = ["a", "b", "a.b"].map(|name| writer.process(name).unwrap());
    writer.set_after(numbers[2], &numbers[..2]);
    writer.set_descriptors(numbers[1], 7);
    writer.file("/d/g", Bytes(4096)).unwrap();
    writer.note("x:1", "`nothing` has no effect");
    for at in 0..40_u64 {
        let path = writer.path(["/d/f", "/d/g"][at as usize % 2]).unwrap();
        let time = Some(Nanos(at * 1_000_000));
        let process = numbers[at as usize % 3];
        writer.record(process, time, Some(Nanos(at)), &read(&path, at * 100, 50)).unwrap();
    }
    writer.finish().unwrap()
}

/// One record of a process.
type Given = (u32, Option<Nanos>, Option<Nanos>, Operation);

fn given() -> impl Strategy<Value = Vec<Given>> {
    let time = || prop::option::of(any::<u64>().prop_map(Nanos));
    prop::collection::vec((0..4_u32, time(), time(), operation()), 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_operations_come_back(given in given(), is_small in any::<bool>()) {
        let mut writer = if is_small { small_limits() } else { Writer::new("x", Level::Blocks) };
        for process in 0..4 {
            prop_assert_eq!(writer.process(&process.to_string()).unwrap(), process);
        }
        for (process, time, duration, operation) in &given {
            writer.record(*process, *time, *duration, operation).unwrap();
        }
        let written = writer.finish().unwrap();
        let again = Trace::read(&bytes_of(&written)[..]).unwrap();
        for trace in [written, again] {
            prop_assert_eq!(trace.len(), given.len() as u64);
            for process in 0..4 {
                let wanted = given.iter().filter(|record| record.0 == process);
                let wanted: Vec<Record> = wanted
                    .map(|(_, time, duration, operation)| Record { time: *time, duration: *duration, operation: operation.clone() })
                    .collect();
                prop_assert_eq!(records_of(&trace, process), wanted);
            }
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Trace::read(&bytes[..]).is_err());
        let headed = [&MAGIC[..], &bytes].concat();
        prop_assert!(Trace::read(&headed[..]).is_err());
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let bytes = bytes_of(&example(small_limits()));
    for end in 0..bytes.len() {
        let error = Trace::read(&bytes[..end]).expect_err("it is cut");
        assert!(matches!(error, TraceError::Damaged { .. }), "{end}: {error}");
    }
    Trace::read(&bytes[..]).unwrap();
}

#[test]
fn a_byte_that_is_changed_anywhere_is_noticed() {
    let mut bytes = bytes_of(&example(small_limits()));
    for at in 0..bytes.len() {
        for bit in [1, 0x10, 0x80] {
            bytes[at] ^= bit;
            assert!(Trace::read(&bytes[..]).is_err(), "byte {at}");
            bytes[at] ^= bit;
        }
    }
}

#[test]
fn a_file_that_changes_after_it_was_checked_gives_errors_alone() {
    let path = std::env::temp_dir().join(format!("pagecast-trace-{}", std::process::id()));
    let bytes = bytes_of(&example(small_limits()));
    for at in HEADER_BYTES..bytes.len() {
        std::fs::write(&path, &bytes).unwrap();
        let trace = Trace::open(std::fs::File::open(&path).unwrap()).unwrap();
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        std::fs::write(&path, &changed[..bytes.len() - at % 7]).unwrap();
        for record in trace.records() {
            if record.is_err() {
                break;
            }
        }
    }
    std::fs::remove_file(path).unwrap();
}

const HEADER_BYTES: usize = super::header::HEADER;

#[test]
fn tables_come_back() {
    let trace = Trace::read(&bytes_of(&example(Writer::new("x", Level::Objects)))[..]).unwrap();
    assert_eq!(trace.level(), Level::Objects);
    let workload = trace.workload(Timing { factor: 2.0, is_open: false }, |path| format!("/m{path}").into());
    let processes: Vec<_> = workload
        .processes
        .iter()
        .map(|process| (&*process.name, process.start, process.after.join(" "), process.descriptors))
        .collect();
    assert_eq!(
        processes,
        [
            ("a", Nanos::ZERO, String::new(), None),
            ("b", Nanos(2_000_000), String::new(), Some(7)),
            ("a.b", Nanos::ZERO, "a b".to_owned(), None),
        ]
    );
    let files: Vec<_> =
        workload.files.iter().map(|file| (&*file.path, file.size.0, file.is_inferred)).collect();
    assert_eq!(files, [("/m/d/g", 4096, false), ("/m/d/f", 3850, true)]);
    let notes: Vec<_> = workload.notes.iter().map(|note| format!("{}: {}", note.place, note.text)).collect();
    insta::assert_snapshot!(notes.join("\n"), @r"
    x:1: `nothing` has no effect
    x: it does not tell the size of 1 file, which is that of what is read before it is written
    ");
}

#[test]
fn records_come_in_the_order_of_their_times() {
    let trace = example(small_limits());
    let times: Vec<u64> = trace.records().map(|record| record.unwrap().1.time.unwrap().0).collect();
    assert_eq!(times, (0..40).map(|at| at * 1_000_000).collect::<Vec<u64>>());
}

/// The operations of the first process as they are replayed, each of which takes 10 ns.
fn replayed(trace: &Trace, timing: Timing) -> Vec<(Option<u64>, bool)> {
    let workload = trace.workload(timing, |path| path.into());
    let mut program: Box<dyn Program> = workload.processes[0].program.start().unwrap();
    let mut now = 0;
    let mut all = Vec::new();
    while let Some(operation) = program.next(Nanos(now)).unwrap() {
        let not_before = operation.not_before.map(|time| time.0);
        now = now.max(not_before.unwrap_or(0)) + if operation.depth.is_none() { 10 } else { 0 };
        all.push((not_before, operation.depth.is_some()));
    }
    all
}

#[test]
fn a_recording_is_replayed_as_it_was_or_faster_or_open() {
    let mut writer = Writer::new("x", Level::Files);
    let process = writer.process("p").unwrap();
    let path = writer.path("/f").unwrap();
    // 100 to 130, 150 to 160; then the clock runs backwards, and one has no duration.
    for (time, duration) in [(100, Some(30)), (150, Some(10)), (120, Some(5)), (200, None), (300, Some(1))] {
        writer.record(process, Some(Nanos(time)), duration.map(Nanos), &read(&path, 0, 1)).unwrap();
    }
    let trace = writer.finish().unwrap();
    let closed = |factor| replayed(&trace, Timing { factor, is_open: false });
    let alone = |times: [Option<u64>; 5], is_async| times.map(|time| (time, is_async)).to_vec();
    assert_eq!(closed(0.0), alone([None; 5], false));
    // After the end of the one before; the last one at its recorded time, as the end of the one before is not known.
    assert_eq!(closed(1.0), alone([None, Some(30), None, Some(125), Some(200)], false));
    assert_eq!(closed(2.0), alone([None, Some(50), None, Some(220), Some(400)], false));
    let open = replayed(&trace, Timing { factor: 1.0, is_open: true });
    assert_eq!(open, alone([None, Some(50), None, Some(100), Some(200)], true));
    assert!(trace.notes().iter().any(|note| note.text.contains("runs backwards once")));
}

#[test]
fn a_call_on_a_name_takes_at_least_its_recorded_time() {
    let mut writer = Writer::new("x", Level::Files);
    let process = writer.process("p").unwrap();
    let path = writer.path("/f").unwrap();
    let mkdir = Operation::from(Action::Mkdir { path: "/f".into() });
    // 0 to 25, 30 to 35; a read follows each after 4 ns.
    for (time, duration) in [(0, 25), (30, 5)] {
        writer.record(process, Some(Nanos(time)), Some(Nanos(duration)), &mkdir).unwrap();
        writer.record(process, Some(Nanos(time + duration + 4)), Some(Nanos(1)), &read(&path, 0, 1)).unwrap();
    }
    let trace = writer.finish().unwrap();
    let begins = |factor| {
        replayed(&trace, Timing { factor, is_open: false }).into_iter().map(|each| each.0).collect::<Vec<_>>()
    };
    // In the replay each takes 10 ns: 15 less than the first one took, and more than the second.
    assert_eq!(begins(1.0), [None, Some(25 + 4), None, Some(39 + 10 + 4)]);
    assert_eq!(begins(2.0), [None, Some(50 + 8), None, Some(68 + 10 + 8)]);
    assert_eq!(begins(0.0), [None; 4]);
}

#[test]
fn a_million_processes_need_little_memory() {
    // Each has its records far from each other, so that their blocks are many and small.
    let processes = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let mut writer = Writer::with_limits("x", Level::Files, 1 << 20, 64 << 10, 1 << 20);
    let path = writer.path("/f").unwrap();
    let names: Vec<u32> = (0..processes).map(|at| writer.process(&format!("p{at}")).unwrap()).collect();
    for round in 0..4_u64 {
        for &process in &names {
            writer.record(process, Some(Nanos(round)), None, &read(&path, round * 4096, 4096)).unwrap();
        }
    }
    let trace = writer.finish().unwrap();
    assert_eq!(trace.len(), 4 * processes);
    let offsets = |process| {
        let offset = |record: Record| match record.operation.action {
            Action::Read { offset, .. } => offset,
            _ => None,
        };
        records_of(&trace, process).into_iter().map(offset).collect::<Vec<_>>()
    };
    for process in [0, 1, processes as u32 / 2, processes as u32 - 1] {
        assert_eq!(offsets(process), [Some(0), Some(4096), Some(8192), Some(12288)]);
    }
}

#[test]
fn a_descriptor_is_kept() {
    let mut writer = Writer::new("x", Level::Files);
    let process = writer.process("p").unwrap();
    let path = writer.path("/f").unwrap();
    let open =
        Action::Open { path: path.clone(), create: true, truncate: false, flags: OpenFlags::default() };
    writer.record(process, None, None, &Operation { fd: Some(Fd(3)), ..open.into() }).unwrap();
    let trace = writer.finish().unwrap();
    assert_eq!(records_of(&trace, 0)[0].operation.fd, Some(Fd(3)));
    assert_eq!(trace.files().count(), 0, "it may be new");
}
