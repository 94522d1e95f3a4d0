//! Checks processes on a mock of the kernel whose calls take known times.

use super::*;
use crate::io::Io;
use crate::io::mock::{Costs, Mock};
use crate::run::error::RunError;
use crate::run::plan::Job;
use crate::run::testing::{file, job, process, read, write};
use pagecast_core::result::{Counted, Part};
use pagecast_core::workload::{
    AsyncBy, Beside, CopyBy, Fd, InitialFile, MapAdvice, MappedCall, OpenFlags, Operation, Order, Pattern,
    Process,
};
use std::path::Path;

/// The rows of a single process on a mock whose files are as they should be before.
pub fn run(costs: Costs, files: &[InitialFile], actions: &[Action]) -> Result<Vec<Row>, Box<RunError>> {
    run_timed(costs, files, actions, None).map(|(rows, ..)| rows)
}

/// All that a process has done.
type Ran = (Vec<Row>, Vec<CallRow>, Counted);

fn ran(done: Finished) -> Ran {
    (done.recorded.rows, done.calls, done.recorded.counted)
}

fn run_timed(
    costs: Costs,
    files: &[InitialFile],
    actions: &[Action],
    per_call: Option<NonZero<u64>>,
) -> Result<Ran, Box<RunError>> {
    run_process(costs, files, process("p", &[], actions), per_call)
}

fn run_process(
    costs: Costs,
    files: &[InitialFile],
    process: Process,
    per_call: Option<NonZero<u64>>,
) -> Result<Ran, Box<RunError>> {
    let processes = [process];
    let plan = Plan::of(&Job { per_call, ..job(files, &processes) }).unwrap();
    let mock = Mock::new(costs);
    for file in files {
        let path = file.path.trim_start_matches('/');
        let made = mock.open(Path::new(path), Open { create: true, ..Open::default() }).unwrap();
        mock.set_length(&made, file.size.0).unwrap();
    }
    let (slots, gate, in_use) = (Files::new(plan.names.all().len()), Gate::new(&plan), InUse::new(&plan));
    let tables = Tables::new(&plan);
    let (io, looks) = (&mock, &|_, _, _| {});
    let shared = Shared {
        io,
        plan: &plan,
        files: &slots,
        tables: &tables,
        gate: &gate,
        in_use: &in_use,
        beside: &Beside::default(),
        looks,
    };
    let mut runner = Runner::new(&shared, 0).unwrap();
    gate.open(mock.now());
    match runner.run() {
        Ok(()) => Ok(ran(runner.into_done())),
        Err(Halt::Failed(error)) => Err(error),
        Err(Halt::Stopped) => panic!("nobody stops it"),
    }
}

pub fn error(files: &[InitialFile], actions: &[Action]) -> String {
    run(Costs::default(), files, actions).unwrap_err().to_string()
}

#[test]
fn operations_follow_each_other_and_have_their_bytes() {
    let costs = Costs { call_ns: 1000, ns_per_byte: 1, sync_ns: 5_000_000, ..Costs::default() };
    let fsync = Action::Fsync { path: "/data/g".into() };
    let rows = run(
        costs,
        &[file("/data/f", 4000)],
        &[read("/data/f", None, Some(1000)), write("/data/g", 3000, None), fsync, write("/data/g", 10, None)],
    )
    .unwrap();
    let seen: Vec<_> = rows.iter().map(|row| (row.offset, row.bytes, (row.end - row.start).0)).collect();
    // The mock's look at the processor's clock takes a microsecond, and that is between the operations.
    assert_eq!(seen, [(0, 4000, 8000), (0, 3000, 4000), (0, 0, 5_000_000), (3000, 10, 1010)]);
    let served = |row: &Row| (row.from_cache, row.from_device);
    assert_eq!((served(&rows[0]), served(&rows[3])), ((0, 4000), (10, 0)));
    assert_eq!(rows[0].parts().total(), rows[0].end - rows[0].start);
    assert!(rows.windows(2).all(|pair| pair[0].end <= pair[1].start));
}

#[test]
fn every_few_calls_have_a_row_and_add_up_to_their_operation() {
    let costs = Costs { call_ns: 1000, ns_per_byte: 1, sync_ns: 5_000_000, ..Costs::default() };
    let fsync = Action::Fsync { path: "/data/g".into() };
    let actions = [write("/data/g", 450, Some(100)), fsync, read("/data/g", None, None)];
    let (rows, calls, _) = run_timed(costs, &[], &actions, NonZero::new(2)).unwrap();
    let seen: Vec<_> = calls.iter().map(|row| (row.index, row.offset, row.bytes.0, row.calls)).collect();
    assert_eq!(seen, [(0, 0, 200, 2), (0, 200, 200, 2), (0, 400, 50, 1), (2, 0, 450, 1)]);
    let took: Vec<u64> = calls.iter().map(|row| (row.end - row.start).0).collect();
    assert_eq!(took, [2200, 2200, 1050, 1450], "1000 ns for each call and 1 for each byte");
    for (row, index) in [(rows[0], 0), (rows[2], 2)] {
        let of_it: Vec<_> = calls.iter().filter(|call| call.index == index).collect();
        assert!(of_it.windows(2).all(|pair| pair[0].end == pair[1].start), "nothing is lost between");
        assert!(row.start <= of_it[0].start && of_it.last().unwrap().end <= row.end);
    }
    assert_eq!(run_timed(costs, &[], &actions, None).unwrap().1, []);
}

#[test]
fn waiting_is_called_by_what_is_waited_for() {
    let open = |flag| Action::Open {
        path: "/data/f".into(),
        create: false,
        truncate: false,
        flags: [flag].into_iter().collect(),
    };
    let used = Used { processor: Nanos(3), run_queue: Nanos(1), device_read: Bytes(3) };
    let row = |action: &Action| {
        let done = Done { bytes: 2, ..Done::default() };
        Row::new(action, (0, 0), &done, (Nanos(5), Nanos(15)), used)
    };
    let parts = row(&write("/data/f", 1, None)).parts();
    assert_eq!((parts.get(Part::CpuCopy), parts.get(Part::Throttled)), (Nanos(4), Nanos(6)));
    let read = row(&read("/data/f", None, None));
    assert_eq!((read.from_cache, read.from_device), (0, 2), "not more than was asked for");
    let rows = run(
        Costs { call_ns: 10, ..Costs::default() },
        &[file("/data/f", 512)],
        &[
            open(OpenFlag::Sync),
            write("/data/f", 512, None),
            Action::Sleep { time: Nanos(70_000_000), random: None },
        ],
    )
    .unwrap();
    let written = (rows[1].from_cache, rows[1].from_device);
    assert_eq!((written, rows[1].parts().get(Part::Throttled)), ((0, 512), Nanos::ZERO));
    assert_eq!(rows[2].parts().get(Part::Sleep), Nanos(70_000_000));
}

#[test]
fn the_last_call_of_a_direct_read_asks_for_whole_blocks_and_gets_what_is_there() {
    let open = Action::Open {
        path: "/data/f".into(),
        create: false,
        truncate: false,
        flags: [OpenFlag::Direct].into_iter().collect(),
    };
    let bytes = |action: Action| {
        let rows = run(Costs::default(), &[file("/data/f", 10_000)], &[open.clone(), action]).unwrap();
        rows[1].bytes
    };
    assert_eq!(bytes(read("/data/f", None, None)), 10_000);
    assert_eq!(bytes(read("/data/f", None, Some(4096))), 10_000);
    assert_eq!(bytes(read("/data/f", Some(10_240), None)), 10_000);
    assert_eq!(bytes(read("/data/f", Some(12_288), Some(4096))), 10_000);
    let beyond = [open.clone(), read("/data/f", Some(16_384), Some(4096))];
    assert!(error(&[file("/data/f", 10_000)], &beyond).contains("which has 10 kB"));
}

#[test]
fn a_file_that_is_opened_to_append_is_written_at_its_end() {
    let open = Action::Open {
        path: "/data/f".into(),
        create: false,
        truncate: false,
        flags: [OpenFlag::Append].into_iter().collect(),
    };
    let write =
        Action::Write { path: "/data/f".into(), offset: Some(3), bytes: Bytes(10), call: None, vector: 1 };
    let rows = run(Costs::default(), &[file("/data/f", 100)], &[open, write.clone(), write]).unwrap();
    assert_eq!([rows[1].offset, rows[2].offset], [100, 110]);
}

#[test]
fn a_copy_is_made_of_calls_of_its_size() {
    let copy = |by, bytes: Option<u64>| Action::Copy {
        path: "/data/f".into(),
        to: "/data/g".into(),
        by,
        offset: 0,
        bytes: bytes.map(Bytes),
        call: Some(Bytes(400)),
    };
    for (by, calls) in [(CopyBy::ReadWrite, 6), (CopyBy::Sendfile, 3), (CopyBy::CopyFileRange, 3)] {
        let costs = Costs { call_ns: 1_000_000, ..Costs::default() };
        let actions = [copy(by, None), read("/data/g", None, None)];
        let rows = run(costs, &[file("/data/f", 1000)], &actions).unwrap();
        assert_eq!((rows[0].bytes, rows[1].bytes), (1000, 1000), "{by:?}");
        assert_eq!((rows[0].end - rows[0].start).0 / 1_000_000, calls, "{by:?}");
        assert_eq!(rows[0].from_cache + rows[0].from_device, 1000);
    }
    let open = |flag| Action::Open {
        path: "/data/f".into(),
        create: false,
        truncate: false,
        flags: [flag].into_iter().collect(),
    };
    let files = [file("/data/f", 1000)];
    let refused = |actions: &[Action]| error(&files, actions);
    assert!(
        refused(&[open(OpenFlag::Direct), copy(CopyBy::Sendfile, None)])
            .contains("copies /data/f to /data/g by sendfile")
    );
    assert!(refused(&[copy(CopyBy::Sendfile, Some(2000))]).contains("which has 1 kB"));
    let Action::Copy { path, .. } = copy(CopyBy::Sendfile, None) else { unreachable!() };
    let same =
        Action::Copy { to: path.clone(), path, by: CopyBy::Sendfile, offset: 0, bytes: None, call: None };
    assert!(refused(&[same]).contains("is the same file"));
    let nothing = Action::Copy {
        path: "/data/h".into(),
        to: "/data/g".into(),
        by: CopyBy::ReadWrite,
        offset: 0,
        bytes: None,
        call: None,
    };
    assert!(refused(&[nothing]).contains("a copy of /data/h at"));
}

#[test]
fn a_computer_computes_for_as_long_as_it_should() {
    let rows = run(Costs::default(), &[], &[Action::Compute { time: Nanos(3_000_000) }]).unwrap();
    let took = rows[0].parts().get(Part::Compute).0;
    assert!((3_000_000..3_100_000).contains(&took), "{took}");
}

#[test]
fn memory_is_taken_and_given_back() {
    let fresh = Action::Read {
        path: "/data/f".into(),
        offset: None,
        bytes: None,
        call: Some(Bytes(4096)),
        vector: 1,
        buffer: Buffer::Fresh,
    };
    let free = |bytes: Option<u64>| Action::Free { bytes: bytes.map(Bytes) };
    let rows = run(
        Costs::default(),
        &[file("/data/f", 100_000)],
        &[fresh, Action::Allocate { bytes: Bytes(50_000) }, free(Some(60_000)), free(None), free(None)],
    )
    .unwrap();
    assert_eq!(rows.iter().map(|row| row.bytes).collect::<Vec<_>>(), [100_000, 50_000, 60_000, 90_000, 0]);
}

#[test]
fn what_cannot_be_names_process_and_path() {
    assert_eq!(
        error(&[file("/data/f", 10)], &[read("/data/f", Some(11), None)]),
        "x.toml: process `p` reads 11 B at offset 0 B of /data/f, which has 10 B at 1.000 us; read less or make the file larger"
    );
    assert!(
        error(&[], &[read("/data/f", None, None)])
            .contains("a read of /data/f at 1.000 us, and there is no such file")
    );
    assert!(error(&[], &[Action::Unlink { path: "/data/f".into() }]).contains("a unlink of /data/f"));
}

fn pattern(change: impl FnOnce(&mut Pattern)) -> Action {
    let mut pattern = Pattern {
        path: "/data/f".into(),
        offset: 0,
        range: None,
        bytes: None,
        time: None,
        call: Bytes(4096),
        order: Order::Uniform { once: true },
        write_share: 0.0,
        depth: 1,
        by: AsyncBy::default(),
        rate: None,
        seed: 3,
    };
    change(&mut pattern);
    Action::Pattern(Box::new(pattern))
}

/// Of each kind of calls of patterns: how many there were, and their bytes.
fn counted(actions: &[Action]) -> Vec<(&'static str, u64, u64)> {
    let (rows, _, counted) = run_timed(Costs::default(), &[file("/data/f", 40_960)], actions, None).unwrap();
    let latency = counted.summary.latency.rows(&["/data/f".into()]);
    let kinds: Vec<_> =
        latency.iter().map(|((.., kind), latency)| (*kind, latency.count, latency.bytes)).collect();
    assert_eq!(rows.iter().map(|row| row.bytes).sum::<u64>(), kinds.iter().map(|kind| kind.2).sum::<u64>());
    kinds
}

#[test]
fn a_pattern_makes_all_its_calls() {
    assert_eq!(counted(&[pattern(|_| ())]), [("read", 10, 40_960)]);
    assert_eq!(counted(&[pattern(|pattern| pattern.write_share = 1.0)]), [("write", 10, 40_960)]);
    assert_eq!(counted(&[pattern(|pattern| pattern.depth = 3)]), [("read", 10, 40_960)]);
    let mixed = counted(&[pattern(|pattern| {
        pattern.write_share = 0.5;
        pattern.bytes = Some(Bytes(400 * 4096));
    })]);
    assert_eq!(mixed.iter().map(|kind| kind.1).sum::<u64>(), 400);
    assert!(mixed.iter().all(|kind| (120..280).contains(&kind.1)), "{mixed:?}");
}

#[test]
fn a_rate_and_a_time_end_a_pattern() {
    let rated = pattern(|pattern| {
        pattern.rate = Some(100.0);
        pattern.time = Some(Nanos(55_000_000));
    });
    let (rows, ..) =
        run_timed(Costs::default(), &[file("/data/f", 40_960)], std::slice::from_ref(&rated), None).unwrap();
    // Calls at 0, 10, ... 50 ms.
    assert_eq!(rows[0].bytes, 6 * 4096);
    let parts = rows[0].parts();
    assert_eq!(parts.total(), rows[0].end - rows[0].start);
    assert!(parts.get(Part::Sleep) > Nanos(40_000_000), "{parts:?}");
}

#[test]
fn a_call_that_the_file_is_too_short_for_is_named() {
    let beyond = pattern(|pattern| pattern.range = Some(Bytes(1 << 20)));
    let error = run(Costs::default(), &[file("/data/f", 40_960)], &[beyond]).unwrap_err().to_string();
    assert!(error.contains("/data/f"), "{error}");
}

#[test]
fn a_descriptor_has_a_position_and_ends_with_its_file() {
    let fd = Some(Fd(3));
    let through = |action: Action| Operation { fd, ..action.into() };
    let open = |flags| Action::Open { path: "/data/f".into(), create: false, truncate: false, flags };
    let read = |bytes| read("/data/f", None, Some(bytes));
    let operations = [
        through(open(OpenFlags::default())),
        through(read_at(None, 60)),
        through(read_at(None, 60)),
        through(read_at(Some(10), 5)),
        through(read_at(None, 60)),
        through(Action::Seek { path: "/data/f".into(), offset: 90 }),
        through(write("/data/f", 20, None)),
        through(Action::Close { path: "/data/f".into() }),
        read(110).into(),
    ];
    let rows = run_operations(&operations).unwrap();
    let moved: Vec<_> = rows.iter().map(|row| (row.offset, row.bytes)).collect();
    assert_eq!(moved[1..5], [(0, 60), (60, 40), (10, 5), (100, 0)]);
    assert_eq!((moved[6], moved[8]), ((90, 20), (0, 110)));
    let closed = [through(read_at(None, 1))];
    assert!(run_operations(&closed).unwrap_err().to_string().contains("which is not open"));
}

#[test]
fn a_duplicate_shares_the_position_and_outlives_the_first() {
    let through = |fd, action: Action| Operation { fd: Some(Fd(fd)), ..action.into() };
    let path: std::sync::Arc<str> = "/data/f".into();
    let open =
        Action::Open { path: path.clone(), create: false, truncate: false, flags: OpenFlags::default() };
    let operations = [
        through(3, open),
        through(3, Action::Duplicate { path: path.clone(), to: Fd(1) }),
        through(3, read_at(None, 30)),
        through(1, read_at(None, 30)),
        through(3, Action::Close { path: path.clone() }),
        through(1, read_at(None, 60)),
    ];
    let rows = run_operations(&operations).unwrap();
    let moved: Vec<_> = rows.iter().map(|row| (row.offset, row.bytes)).collect();
    assert_eq!((moved[2], moved[3], moved[5]), ((0, 30), (30, 30), (60, 40)));
    let of_none = run_operations(&[through(3, Action::Duplicate { path, to: Fd(1) })]);
    assert!(of_none.unwrap_err().to_string().contains("which is not open"));
}

fn read_at(offset: Option<u64>, bytes: u64) -> Action {
    let bytes = Some(Bytes(bytes));
    Action::Read { path: "/data/f".into(), offset, bytes, call: None, vector: 1, buffer: Buffer::Reused }
}

fn run_operations(operations: &[Operation]) -> Result<Vec<Row>, Box<RunError>> {
    let mut one = process("p", &[], &[]);
    one.program = std::sync::Arc::new(operations.to_vec());
    run_process(Costs::default(), &[file("/data/f", 100)], one, None).map(|(rows, ..)| rows)
}

#[test]
fn operations_at_once_have_rows_in_their_order() {
    let at_once = |action: Action| Operation { depth: std::num::NonZeroU32::new(2), ..action.into() };
    let mut operations: Vec<_> = (0..7_u64).map(|at| at_once(read_at(Some(at * 10), at + 1))).collect();
    operations.push(Action::Drain.into());
    operations.push(at_once(write("/data/f", 8, None)));
    let rows = run_operations(&operations).unwrap();
    let moved: Vec<_> = rows.iter().map(|row| (row.offset, row.bytes)).collect();
    assert_eq!(moved[..3], [(0, 1), (10, 2), (20, 3)]);
    assert_eq!((moved[7], moved[8]), ((0, 0), (100, 8)));
    let beyond = run_operations(&[at_once(read_at(Some(99), 5))]).unwrap_err().to_string();
    assert!(beyond.contains("/data/f"), "{beyond}");
}

fn name(action: Action) -> Operation {
    action.into()
}

#[test]
fn a_path_stands_for_the_file_that_has_the_name_by_then() {
    let path = |path: &str| -> std::sync::Arc<str> { path.into() };
    let operations = [
        read_at(Some(0), 100).into(),
        name(write("/data/g", 30, None)),
        name(Action::Rename { path: path("/data/g"), to: path("/data/f") }),
        name(read("/data/f", None, None)),
        name(write("/data/g", 7, None)),
        name(Action::Link { path: path("/data/g"), to: path("/data/h") }),
        name(Action::Unlink { path: path("/data/g") }),
        name(read("/data/h", None, None)),
        name(Action::Stat { path: path("/data/nothing") }),
    ];
    let rows = run_operations(&operations).unwrap();
    let moved: Vec<_> = rows.iter().map(|row| (row.operation, row.bytes)).collect();
    assert_eq!(moved[2..5], [("rename", 0), ("read", 30), ("write", 7)]);
    assert_eq!(moved[7..], [("read", 7), ("stat", 0)]);
    let twice =
        [name(write("/data/g", 1, None)), name(Action::Link { path: path("/data/g"), to: path("/data/f") })];
    let error = run_operations(&twice).unwrap_err().to_string();
    assert!(error.contains("does a link to /data/f at"), "{error}");
    let nothing = [name(Action::Rename { path: path("/data/x"), to: path("/data/y") })];
    assert!(run_operations(&nothing).unwrap_err().to_string().contains("a rename of /data/x at"));
}

#[test]
fn a_file_without_a_name_is_there_as_long_as_it_is_open() {
    let through = |action: Action| Operation { fd: Some(Fd(3)), ..action.into() };
    let path: std::sync::Arc<str> = "/data/f".into();
    let open =
        Action::Open { path: path.clone(), create: false, truncate: false, flags: OpenFlags::default() };
    let copy = Action::Copy {
        path: path.clone(),
        to: "/data/g".into(),
        by: CopyBy::CopyFileRange,
        offset: 0,
        bytes: None,
        call: None,
    };
    let mapped = MappedCall::Read { offset: 0, bytes: None, advice: MapAdvice::Normal };
    let operations = [
        through(open),
        Action::Unlink { path: path.clone() }.into(),
        write("/data/f", 5, None).into(),
        through(read_at(None, 100)),
        through(copy),
        through(Action::Mapped { path: path.clone(), call: mapped }),
        through(Action::Close { path: path.clone() }),
        read("/data/f", None, None).into(),
        read("/data/g", None, None).into(),
    ];
    let rows = run_operations(&operations).unwrap();
    let moved: Vec<_> = rows.iter().map(|row| row.bytes).collect();
    assert_eq!(moved, [0, 0, 5, 100, 100, 100, 0, 5, 100]);
}

#[test]
fn processes_of_one_table_share_descriptors_and_the_last_one_closes_them() {
    let path: std::sync::Arc<str> = "/data/f".into();
    let through = |fd, action: Action| Operation { fd: Some(Fd(fd)), ..action.into() };
    let open =
        Action::Open { path: path.clone(), create: false, truncate: false, flags: OpenFlags::default() };
    let of = |name: &str, table: Option<u32>, operations: Vec<Operation>| {
        let mut one = process(name, &[], &[]);
        (one.descriptors, one.program) = (table, std::sync::Arc::new(operations));
        one
    };
    let event = || "go".into();
    let first =
        vec![through(3, open), through(3, read_at(None, 30)), Action::Signal { event: event() }.into()];
    let wait: Operation = Action::Wait { event: event() }.into();
    let second = vec![wait.clone(), through(3, read_at(None, 30))];
    let stranger = vec![wait, through(3, read_at(None, 30))];
    let processes = [of("a", Some(7), first), of("b", Some(7), second), of("c", None, stranger)];
    let files = [file("/data/f", 100)];
    let plan = Plan::of(&job(&files, &processes)).unwrap();
    let mock = Mock::new(Costs::default());
    let made = mock.open(Path::new("data/f"), Open { create: true, ..Open::default() }).unwrap();
    mock.set_length(&made, 100).unwrap();
    let (slots, gate, in_use) = (Files::new(1), Gate::new(&plan), InUse::new(&plan));
    let (tables, looks) = (Tables::new(&plan), &|_, _, _| {});
    let shared = Shared {
        io: &mock,
        plan: &plan,
        files: &slots,
        tables: &tables,
        gate: &gate,
        in_use: &in_use,
        beside: &Beside::default(),
        looks,
    };
    gate.open(mock.now());
    let run = |at| {
        let mut runner = Runner::new(&shared, at).unwrap();
        runner.run().map(|()| runner.into_done().recorded.rows)
    };
    run(0).unwrap();
    assert!(tables.get(0, Fd(3)).is_some(), "the other one may still use it");
    let Err(Halt::Failed(error)) = run(2) else { panic!("it has a table of its own") };
    assert!(error.to_string().contains("a read of /data/f through descriptor 3"), "{error}");
    gate.stop.store(false, std::sync::atomic::Ordering::Relaxed);
    let rows = run(1).unwrap();
    assert_eq!((rows[1].offset, rows[1].bytes), (30, 30), "they share the position");
    assert!(tables.get(0, Fd(3)).is_none());
}

#[test]
fn a_process_goes_on_while_operations_are_under_way() {
    let at_once = |action: Action| Operation { depth: std::num::NonZeroU32::new(3), ..action.into() };
    let appended = |bytes| at_once(write("/data/f", bytes, None));
    let operations = [
        appended(10),
        appended(20),
        Action::Sleep { time: Nanos(5), random: None }.into(),
        at_once(Action::Fsync { path: "/data/f".into() }),
        appended(30),
        Action::Drain.into(),
        read("/data/f", None, None).into(),
    ];
    let rows = run_operations(&operations).unwrap();
    let moved: Vec<_> = rows.iter().map(|row| (row.operation, row.bytes)).collect();
    let names = ["write", "write", "sleep", "fsync", "write", "drain", "read"];
    assert_eq!(moved, names.into_iter().zip([10, 20, 0, 0, 30, 0, 160]).collect::<Vec<_>>());
    assert_eq!(
        (rows[0].offset, rows[1].offset, rows[4].offset),
        (100, 110, 130),
        "none is at the place of another"
    );
}
