//! Every error of a simulation, as its user reads it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use insta::assert_snapshot;
use pagecast_core::error::SimulationError;
use pagecast_core::scenario::Scenario;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{
    Action, InitialFile, Operation, Process, Program, ProgramError, ProgramSource,
};
use pagecast_core::{Settings, simulate};

use crate::common::{Case, HOSTS, case, on};

fn error(operations: &[&str]) -> String {
    case().file("/data/f", "1 GB").process("p", operations).error("no-cache")
}

/// As [`error`], where another process makes /data/g when it is too late.
fn error_before_g(operations: &[&str]) -> String {
    let case = case().process("p", operations);
    case.process_with("late", "start = '9 s'", &["write = '/data/g', size = '1 B'"]).error("no-cache")
}

/// A scenario whose parts are changed after they were checked, as a caller in Rust may.
fn changed(change: impl FnOnce(&mut Scenario)) -> String {
    let mut scenario = case().process("p", &["sleep = '1 s'"]).scenario().expect("it is right");
    change(&mut scenario);
    fails(&scenario).to_string()
}

fn fails(scenario: &Scenario) -> SimulationError {
    simulate(scenario, "no-cache", Settings::default()).map(|_| ()).expect_err("the simulation fails")
}

fn program(action: Action) -> Arc<dyn ProgramSource> {
    Arc::new(vec![Operation::from(action)])
}

#[test]
fn a_path_under_no_mount_is_named_with_the_mounts_there_are() {
    let stray = Action::Fsync { path: "/scratch/x".into() };
    assert_snapshot!(
        changed(|scenario| scenario.processes[0].program = program(stray.clone())),
        @r#"test.toml: process `p` uses /scratch/x, which is under no mount of host `machine`; add [machine.mount."..."] or correct the path (mounts: /data)"#
    );
    assert_snapshot!(
        changed(|scenario| {
            scenario.processes[0].program = program(stray);
            scenario.machine.hosts[0].mounts.clear();
        }),
        @r#"test.toml: process `p` uses /scratch/x, which is under no mount of host `machine`; add [machine.mount."..."] or correct the path (mounts: none)"#
    );
}

#[test]
fn a_file_under_no_mount_is_refused_before_anything_runs() {
    let file =
        InitialFile { host: 0, path: "/scratch/x".into(), size: Bytes(1), cached: Bytes(0), dirty: Bytes(0) };
    assert_snapshot!(
        changed(|scenario| scenario.files.push(file)),
        @r#"test.toml: the path "/scratch/x" is under no mount of host `machine`; correct it or add a mount (there are: `/data`)"#
    );
}

#[test]
fn every_operation_on_a_file_but_write_and_open_with_create_needs_it_to_be_there() {
    assert_snapshot!(
        error_before_g(&["sleep = '1 s'", "read = '/data/g'"]),
        @"test.toml:13: process `p` does a read of /data/g at 1.000 s, and there is no such file; let it exist from the start ([[file]] in TOML, files= in Python) or write it first"
    );
    let others = [
        "open = '/data/g'",
        "fsync = '/data/g'",
        "close = '/data/g'",
        "truncate = '/data/g', size = '1 B'",
        "unlink = '/data/g'",
        "fadvise = '/data/g', advice = 'normal'",
    ];
    for operation in others {
        assert!(error_before_g(&[operation]).contains("there is no such file"), "{operation}");
    }
    case()
        .process("p", &["open = '/data/g', create = true", "write = '/data/h', size = '1 B'"])
        .run("no-cache");
}

#[test]
fn an_unlinked_file_is_no_more() {
    let unlinked = error(&["unlink = '/data/f'", "open = '/data/f'"]);
    assert_snapshot!(unlinked, @"test.toml:17: process `p` does a open of /data/f at the start, and there is no such file; let it exist from the start ([[file]] in TOML, files= in Python) or write it first");
}

#[test]
fn a_read_beyond_the_end_names_the_size() {
    assert_snapshot!(
        error(&["read = '/data/f', offset = '900 MB', size = '101 MB'"]),
        @"test.toml:16: process `p` reads 101 MB at offset 900 MB of /data/f, which has 1 GB at the start; read less or make the file larger"
    );
    case()
        .file("/data/f", "1 GB")
        .process("p", &["read = '/data/f', offset = '900 MB', size = '100 MB'"])
        .run("no-cache");
}

#[test]
fn a_write_that_does_not_fit_names_the_disk() {
    assert_snapshot!(
        error(&["write = '/data/g', size = '10 GB'", "write = '/data/h', size = '90 GB'"]),
        @"test.toml:17: process `p` needs 90 GB on disk `ssd` of host `machine`, which has 100 GB and 11 GB in use; make the disk larger or the files smaller"
    );
    assert!(
        error(&["truncate = '/data/f', size = '101 GB'"]).contains("needs 100 GB on disk"),
        "only what is new counts"
    );
}

#[test]
fn a_disk_can_be_filled_to_the_last_byte() {
    case().file("/data/f", "100 GB").process("p", &["open = '/data/f'"]).run("no-cache");
    let full = ["write = '/data/g', size = '99 GB'", "write = '/data/f', size = '1 GB'"];
    case().file("/data/f", "1 GB").process("p", &full).run("no-cache");
    assert!(error(&["write = '/data/g', size = '99.000000001 GB'"]).contains("needs 99 GB on disk"));
}

#[test]
fn a_write_under_way_has_taken_its_space() {
    let case = case()
        .set("machine.disk.ssd.size=2 GB")
        .process("one", &["write = '/data/f', size = '1500 MB'"])
        .process("two", &["sleep = '1 s'", "write = '/data/g', size = '1 GB'"]);
    assert_snapshot!(case.error("no-cache"), @"test.toml:19: process `two` needs 1 GB on disk `ssd` of host `machine`, which has 2 GB and 1.5 GB in use; make the disk larger or the files smaller");
}

#[test]
fn a_remote_file_fills_the_servers_disk() {
    let case = on(HOSTS).process("p", &["write = '/remote/f', size = '101 GB'"]);
    assert_snapshot!(case.error("wrench"), @"test.toml:18: process `p` needs 101 GB on disk `ssd` of host `server`, which has 100 GB and 0 B in use; make the disk larger or the files smaller");
}

#[test]
fn files_that_do_not_fit_are_refused_before_anything_runs() {
    let file = |path: &str| InitialFile {
        host: 0,
        path: path.into(),
        size: Bytes(60 << 30),
        cached: Bytes(0),
        dirty: Bytes(0),
    };
    assert_snapshot!(
        changed(|scenario| scenario.files = vec![file("/data/f"), file("/data/g")]),
        @r#"test.toml: the file "/data/g" with 64.42 GB does not fit on disk `ssd` of host `machine`, which has 100 GB and other files of 64.42 GB; make the disk larger or the files smaller"#
    );
}

fn too_much_memory(held: &[(&str, &str)]) -> String {
    let holds = |case: Case, &(name, size): &(&str, &str)| {
        case.process(name, &[&format!("alloc = '{size}'"), "sleep = '9 s'"])
    };
    let case = held.iter().fold(case(), holds);
    case.process("p", &["sleep = '1 s'", "alloc = '10.1 GB'"]).error("wrench")
}

#[test]
fn memory_that_is_not_there_names_its_largest_holders() {
    assert_snapshot!(too_much_memory(&[]), @"test.toml:13: process `p` needs 10.1 GB more memory at 1.000 s, but host `machine` has 10 GB and no process holds any; use `free`, a smaller buffer or more memory");
    assert_snapshot!(too_much_memory(&[("b", "1 GB"), ("a", "1 GB"), ("c", "2 GB")]), @"test.toml:34: process `p` needs 10.1 GB more memory at 1.000 s, but host `machine` has 10 GB and the processes hold 4 GB (`c` 2 GB, `a` 1 GB, `b` 1 GB); use `free`, a smaller buffer or more memory");
    assert_snapshot!(too_much_memory(&[("a", "1 GB"), ("b", "2 GB"), ("c", "1 GB"), ("d", "2 GB"), ("e", "1 GB")]), @"test.toml:48: process `p` needs 10.1 GB more memory at 1.000 s, but host `machine` has 10 GB and the processes hold 7 GB (`b` 2 GB, `d` 2 GB, `a` 1 GB, 2 more); use `free`, a smaller buffer or more memory");
}

#[test]
fn a_fresh_buffer_needs_memory() {
    let case = case()
        .file("/data/f", "3 GB")
        .process("p", &["alloc = '8 GB'", "read = '/data/f', buffer = 'fresh'"]);
    assert_snapshot!(case.error("no-cache"), @"test.toml:17: process `p` needs 3 GB more memory at the start, but host `machine` has 10 GB and the processes hold 8 GB (`p` 8 GB); use `free`, a smaller buffer or more memory");
}

#[test]
fn under_kernel_the_last_pages_are_nobodys() {
    // 22528 KiB for each of three zones, and a 256th of what is above 4 GiB.
    let case = case().process("q", &["alloc = '9 GB'", "sleep = '9 s'"]).process("p", &["alloc = '1 GB'"]);
    assert_snapshot!(case.error("kernel"), @"test.toml:19: process `p` needs 1 GB more memory at the start, but host `machine` has 10 GB, of which 91.49 MB stay free (vm.min_free_kbytes, vm.lowmem_reserve_ratio), and the processes hold 9 GB (`q` 9 GB); use `free`, a smaller buffer or more memory");
}

#[test]
fn each_host_has_its_own_holders() {
    let run = on(HOSTS)
        .process_with("far", "host = 'server'", &["alloc = '9 GB'", "sleep = '9 s'"])
        .process("near", &["alloc = '11 GB'"]);
    assert_snapshot!(run.error("no-cache"), @"test.toml:25: process `near` needs 11 GB more memory at the start, but host `client` has 10 GB and no process holds any; use `free`, a smaller buffer or more memory");
}

#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let case = case()
        .process("one", &["sleep = '2 s'", "wait = 'first'", "signal = 'second'"])
        .process("two", &["wait = 'second'", "signal = 'first'"])
        .process_with("three", "after = ['one', 'two']", &["sleep = '1 s'"])
        .process("unconcerned", &["sleep = '1 s'"]);
    assert_snapshot!(case.error("no-cache"), @"test.toml: deadlock at 2.000 s: process `one` waits for event `first`, which `two` would signal; process `two` waits for event `second`, which `one` would signal; process `three` waits for the end of `one`, `two`; let one of them go first");
}

#[test]
fn a_deadlock_of_many_names_eight() {
    let waiters = |count: u32| {
        let case = (1..=count).fold(case(), |case, n| case.process(&format!("p{n}"), &["wait = 'x'"]));
        let mut scenario = case.process("gone", &["signal = 'x'"]).scenario().expect("it is right");
        scenario.processes.pop();
        fails(&scenario).to_string()
    };
    assert_snapshot!(waiters(9).replace("process `p", "`p"), @"test.toml: deadlock at the start: `p1` waits for event `x`, which no process signals any more; `p2` waits for event `x`, which no process signals any more; `p3` waits for event `x`, which no process signals any more; `p4` waits for event `x`, which no process signals any more; `p5` waits for event `x`, which no process signals any more; `p6` waits for event `x`, which no process signals any more; `p7` waits for event `x`, which no process signals any more; `p8` waits for event `x`, which no process signals any more; and 1 more wait; let one of them go first");
    assert!(!waiters(8).contains("more wait"));
}

#[test]
fn an_event_signalled_by_a_process_that_still_runs_is_no_deadlock() {
    let run = case()
        .process("waiter", &["wait = 'x'"])
        .process_with("late", "start = '5 s'", &["signal = 'x'"])
        .run("no-cache");
    assert_eq!(run.seconds("waiter", 0), 5.0);
}

#[test]
fn a_process_after_nobody_is_refused() {
    assert_snapshot!(
        changed(|scenario| scenario.processes[0].after = vec!["ghost".into()]),
        @"test.toml: `after` names `ghost`, and there is no such process; processes: `p`"
    );
}

/// A way to make a right scenario wrong: in the text of a file, and in its parts.
struct Wrong {
    files: &'static [(&'static str, &'static str, &'static str, &'static str)],
    processes: &'static [(&'static str, &'static str)],
}

/// One wrong thing each.
const WRONG: [Wrong; 10] = [
    Wrong { files: &[], processes: &[("p", "ghost")] },
    Wrong { files: &[], processes: &[("p", "p")] },
    Wrong { files: &[], processes: &[("p", "q"), ("q", "p")] },
    Wrong { files: &[], processes: &[("p", ""), ("p", "")] },
    Wrong { files: &[("/scratch/f", "1 GB", "0 B", "0 B")], processes: &[("p", "")] },
    Wrong { files: &[("/data/f", "1 GB", "0 B", "0 B"); 2], processes: &[("p", "")] },
    Wrong { files: &[("/data/f", "1 TB", "0 B", "0 B")], processes: &[("p", "")] },
    Wrong { files: &[("/data/f", "1 GB", "2 GB", "0 B")], processes: &[("p", "")] },
    Wrong { files: &[("/data/f", "1 GB", "1 GB", "2 GB")], processes: &[("p", "")] },
    Wrong { files: &[("/data/f", "20 GB", "20 GB", "0 B")], processes: &[("p", "")] },
];

impl Wrong {
    fn text(&self) -> Case {
        let files = self.files.iter().fold(case(), |case, (path, size, cached, dirty)| {
            case.keys(&format!(
                "[[file]]\npath = '{path}'\nsize = '{size}'\ncached = '{cached}'\ndirty = '{dirty}'"
            ))
        });
        self.processes.iter().fold(files, |case, (name, after)| {
            let after = if after.is_empty() { String::new() } else { format!("after = ['{after}']") };
            case.process_with(name, &after, &["sleep = '1 s'"])
        })
    }

    fn parts(&self) -> (Vec<InitialFile>, Vec<Process>) {
        let bytes = |text: &str| Bytes::parse(text).expect("it is a size");
        let file = |&(path, size, cached, dirty): &(&str, &str, &str, &str)| InitialFile {
            host: 0,
            path: path.into(),
            size: bytes(size),
            cached: bytes(cached),
            dirty: bytes(dirty),
        };
        let process = |&(name, after): &(&str, &str)| Process {
            name: name.into(),
            host: 0,
            cgroup: None,
            after: Some(after).filter(|after| !after.is_empty()).into_iter().map(Arc::from).collect(),
            start: Nanos::ZERO,
            descriptors: None,
            ioprio: Default::default(),
            slots: None,
            program: program(Action::Sleep { time: Nanos(1_000_000_000), random: None }),
        };
        (self.files.iter().map(file).collect(), self.processes.iter().map(process).collect())
    }
}

#[test]
fn reader_parts_and_engine_refuse_a_wrong_scenario_with_the_same_words() {
    let words = |error: String| error.split_once(": ").expect("a place comes first").1.to_owned();
    let mut told = Vec::new();
    for wrong in WRONG {
        let read = words(wrong.text().scenario().err().expect("the file is wrong").to_string());
        let (files, processes) = wrong.parts();
        let (its_files, its_processes) = (files.clone(), processes.clone());
        let ran = changed(|scenario| (scenario.files, scenario.processes) = (its_files, its_processes));
        let machine = case().process("p", &["sleep = '1 s'"]).scenario().expect("it is right").machine;
        let parts = Scenario::from_parts("<rust>", machine, files, processes);
        let parts = words(parts.err().expect("the parts are wrong").to_string());
        assert_eq!((&read, &read), (&parts, &words(ran)));
        told.push(read);
    }
    told.sort();
    told.dedup();
    assert_eq!(told.len(), WRONG.len(), "each is wrong in its own way");
}

/// Does one operation and fails when asked for the next, or at once when started.
struct Failing {
    at_start: bool,
}

struct FailingProgram(u32);

fn broken() -> ProgramError {
    ProgramError("list index out of range".into())
}

impl ProgramSource for Failing {
    fn start(&self) -> Result<Box<dyn Program>, ProgramError> {
        if self.at_start { Err(broken()) } else { Ok(Box::new(FailingProgram(0))) }
    }
}

impl Program for FailingProgram {
    fn next(&mut self, _now: Nanos) -> Result<Option<Operation>, ProgramError> {
        self.0 += 1;
        let sleep = Action::Sleep { time: Nanos(1_000_000_000), random: None };
        if self.0 == 1 { Ok(Some(sleep.into())) } else { Err(broken()) }
    }
}

#[test]
fn a_failing_program_is_named_with_its_own_error_as_the_source() {
    let failed = |at_start| {
        let mut scenario = case().process("p", &["sleep = '1 s'"]).scenario().expect("it is right");
        scenario.processes[0].program = Arc::new(Failing { at_start });
        let error = fails(&scenario);
        let source = std::error::Error::source(&error).expect("the program's own error").to_string();
        format!("{error}: {source}")
    };
    assert_snapshot!(failed(true), @"test.toml: process `p` failed at the start: list index out of range");
    assert_snapshot!(failed(false), @"test.toml: process `p` failed at 1.000 s: list index out of range");
}

#[test]
fn an_unknown_model_names_the_nearest() {
    let case = case().process("p", &["sleep = '1 s'"]);
    assert_snapshot!(case.error("wrensh"), @"test.toml: there is no model `wrensh`; did you mean `wrench`?");
}

#[test]
fn a_wrong_option_of_a_model_names_the_place() {
    let wrong =
        |key: &str, value: &str| case().process("p", &["sleep = '1 s'"]).option(key, value).error("wrench");
    assert_snapshot!(wrong("chunks", "1 MB"), @"option wrench.chunks: model `wrench` has no option `chunks`; did you mean `chunk`?");
    assert_snapshot!(wrong("chunk", "0 B"), @"option wrench.chunk: model.wrench.chunk: `0 B` does not fit; it must be more than zero");
    assert_snapshot!(wrong("chunk", "1"), @r#"option wrench.chunk: model.wrench.chunk: `1` has no unit; write for example "1 GB""#);
    assert_snapshot!(wrong("period", "0 s"), @"option wrench.period: model.wrench.period: `0 s` does not fit; it must be more than zero");
    assert_snapshot!(wrong("expiry", "x"), @"option wrench.expiry: model.wrench.expiry: `x` does not start with a finite number");
    assert_snapshot!(wrong("dirty_ratio", "101 %"), @r#"option wrench.dirty_ratio: model.wrench.dirty_ratio: `101 %` is no percentage; write for example "40 %", from 0 to 100"#);
    assert_snapshot!(wrong("dirty_ratio", "-1 %"), @r#"option wrench.dirty_ratio: model.wrench.dirty_ratio: `-1 %` is no percentage; write for example "40 %", from 0 to 100"#);
    assert_snapshot!(wrong("dirty_ratio", "40"), @r#"option wrench.dirty_ratio: model.wrench.dirty_ratio: `40` is no percentage; write for example "40 %", from 0 to 100"#);
    assert_snapshot!(wrong("vintage", "v2"), @"option wrench.vintage: model.wrench.vintage: `v2` is not known; did you mean `v1`?");
}

#[test]
fn a_rival_has_no_options() {
    for model in ["no-cache", "endless-cache"] {
        let error = case().process("p", &["sleep = '1 s'"]).option("chunk", "1 MB").error(model);
        let expected = "has no option `chunk`; there are no options of it";
        assert_eq!(error, format!("option {model}.chunk: model `{model}` {expected}"));
    }
}

#[test]
fn a_wrong_option_in_the_scenario_is_blamed_on_its_line() {
    let case = case().process("p", &["sleep = '1 s'"]).set("model.wrench.vintage=v2");
    assert_snapshot!(case.error("wrench"), @"--set model.wrench.vintage=v2: model.wrench.vintage: `v2` is not known; did you mean `v1`?");
    case.option("vintage", "v1").run("wrench");
}

#[test]
fn an_interrupt_stops_the_run() {
    let long =
        case().process("p", &["repeat = 5000, do = [ { sleep = '1 s' } ]"]).scenario().expect("it is right");
    let asked_at = Rc::new(RefCell::new(Vec::new()));
    let asked = asked_at.clone();
    let after_three = move |now: Nanos| {
        asked.borrow_mut().push(now);
        asked.borrow().len() == 3
    };
    let settings = Settings { interrupt: Some(Box::new(after_three)), ..Settings::default() };
    let error = simulate(&long, "wrench", settings).map(|_| ()).expect_err("it is interrupted");
    assert_snapshot!(error, @"interrupted");
    let asked_at = asked_at.borrow();
    assert!(asked_at.is_sorted() && asked_at[2] > asked_at[0], "{asked_at:?}");
}

#[test]
fn an_interrupt_that_does_not_stop_changes_nothing() {
    let case = case().process("p", &["repeat = 5000, do = [ { sleep = '1 s' } ]"]);
    let scenario = case.scenario().expect("it is right");
    let asked = Rc::new(Cell::new(0));
    let count = asked.clone();
    let never = move |_| {
        count.set(count.get() + 1);
        false
    };
    let settings = Settings { interrupt: Some(Box::new(never)), ..Settings::default() };
    let result = simulate(&scenario, "no-cache", settings).expect("it goes through");
    assert_eq!(result.end, Nanos(5_000_000_000_000));
    assert!((5..=15).contains(&asked.get()), "asked {} times in 5000 operations", asked.get());
}

#[test]
fn an_endless_program_that_takes_no_time_can_be_interrupted() {
    let endless = case().process("p", &["repeat = 1000000, do = [ { sleep = '0 s' }, { signal = 'x' } ]"]);
    let scenario = endless.scenario().expect("it is right");
    let settings = Settings { interrupt: Some(Box::new(|_| true)), ..Settings::default() };
    assert!(matches!(simulate(&scenario, "no-cache", settings), Err(SimulationError::Interrupted)));
}
