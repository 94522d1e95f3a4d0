//! Tests whole job files: what is read, what is refused, what a program does.

use std::io::Cursor;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::readers::options::Surroundings;
use crate::readers::placement::Placement;
use crate::units::Nanos;
use crate::workload::Action;

fn options() -> Options {
    Options {
        placement: Placement::new(vec!["/data".into()], "/data"),
        surroundings: Surroundings {
            environment: [("SIZE".to_owned(), "64k".to_owned())].into(),
            memory: Bytes(8 << 30),
            cores: 4,
            room: Some(Bytes(100 << 30)),
            fio_overhead: Nanos(700),
        },
        ..Options::default()
    }
}

fn read_text(text: &str, options: &Options) -> Result<Workload, ReadError> {
    let bytes = Cursor::new(text.as_bytes().to_vec());
    read(Input::of(Box::new(bytes), "job.fio", None, None)?, options)
}

fn workload_of(text: &str) -> Workload {
    read_text(text, &options()).unwrap()
}

fn refusal(text: &str) -> String {
    read_text(text, &options()).map(|_| ()).unwrap_err().to_string()
}

/// The operations of a process, each of which takes `took`.
fn operations(workload: &Workload, process: usize, took: u64) -> Vec<String> {
    let mut program = workload.processes[process].program.start().unwrap();
    let (mut now, mut lines) = (0, Vec::new());
    while let Some(operation) = program.next(Nanos(now)).unwrap() {
        let mut line = operation.action.name().to_owned();
        match &operation.action {
            Action::Read { offset, bytes, .. } => {
                line += &format!(" {}+{}", offset.unwrap(), bytes.unwrap().0)
            }
            Action::Write { offset, bytes, .. } => line += &format!(" {}+{}", offset.unwrap(), bytes.0),
            Action::Fadvise { advice, .. } => line += &format!(" {advice:?}"),
            Action::Fallocate { bytes, .. } => line += &format!(" {}", bytes.0),
            Action::Sleep { time } => {
                line += &format!(" {time}");
                now += time.0;
            }
            _ => {}
        }
        if let Some(start) = operation.not_before {
            line += &format!(" at {start}");
            now = now.max(start.0);
        }
        if let Some(depth) = operation.depth {
            line += &format!(" of {depth}");
        }
        lines.push(line);
        now += took;
    }
    lines
}

#[test]
fn a_job_inherits_what_stands_above_it() {
    let workload =
        workload_of("[global]\nrw=write\nsize=8k\nfallocate=none\n[a]\n[global]\nbs=8k\n[b]\nrw=read\n");
    assert_eq!(workload.processes.iter().map(|process| &*process.name).collect::<Vec<_>>(), ["a", "b"]);
    let of = |process| operations(&workload, process, 1).join(", ");
    assert_snapshot!(of(0), @"open, fadvise DontNeed, fadvise Sequential, write 0+4096, write 4096+4096, close");
    assert_snapshot!(of(1), @"open, fadvise DontNeed, fadvise Sequential, read 0+8192, close");
    let files: Vec<_> = workload.files.iter().map(|file| (&*file.path, file.size.0)).collect();
    assert_eq!(files, [("/data/b.0.0", 8192)]);
}

#[test]
fn files_that_are_written_are_allocated_first() {
    let workload = workload_of("[a]\nrw=write\nsize=${SIZE}\nbs=32k\nend_fsync=1\nunlink=1\n");
    assert!(workload.files.is_empty());
    assert_snapshot!(operations(&workload, 0, 1).join(", "), @"open, fallocate 65536, close, open, fadvise DontNeed, fadvise Sequential, write 0+32768, write 32768+32768, fsync, close, unlink");
}

#[test]
fn a_stonewall_waits_for_all_before_it() {
    let workload = workload_of(
        "[global]\nsize=4k\n[a]\nnumjobs=2\n[b]\nstonewall\n[c]\n[d]\nwait_for=b\nstartdelay=2\n",
    );
    let after: Vec<String> = workload
        .processes
        .iter()
        .map(|process| format!("{} {:?} {}", process.name, process.after, process.start))
        .collect();
    assert_snapshot!(after.join("\n"), @r#"
    a.0 [] 0 ns
    a.1 [] 0 ns
    b ["a.0", "a.1"] 0 ns
    c ["a.0", "a.1"] 0 ns
    d ["a.0", "a.1", "b"] 2.000 s
    "#);
}

#[test]
fn a_rate_holds_requests_back() {
    let workload = workload_of("[a]\nrw=read\nsize=16k\nrate=4k\n");
    assert_snapshot!(operations(&workload, 0, 1)[3..].join(", "), @"read 0+4096, read 4096+4096 at 1.000 s, read 8192+4096 at 2.000 s, read 12288+4096 at 3.000 s, close");
}

#[test]
fn time_ends_a_job() {
    let second = 1_000_000_000;
    let workload = workload_of("[a]\nrw=read\nsize=8k\ntime_based\nruntime=7\nramp_time=2\n");
    // The ramp ends with the first request, four seconds after the start; seven seconds follow.
    assert_snapshot!(operations(&workload, 0, second).join(", "), @"open, fadvise DontNeed, fadvise Sequential, read 0+4096, read 4096+4096, fadvise DontNeed, read 0+4096, read 4096+4096, fadvise DontNeed, read 0+4096, read 4096+4096, close");
}

#[test]
fn thinking_comes_after_a_request() {
    let workload =
        workload_of("[a]\nrw=read\nsize=16k\nthinktime=5ms\nthinktime_spin=2ms\nthinktime_blocks=2\n");
    assert_snapshot!(operations(&workload, 0, 1)[3..].join(", "), @"read 0+4096, read 4096+4096, compute, sleep 3.000 ms, read 8192+4096, read 12288+4096, compute, sleep 3.000 ms, close");
}

#[test]
fn asynchronous_engines_do_not_wait() {
    let one = |rest: &str| {
        operations(&workload_of(&format!("[a]\nrw=read\nsize=4k\niodepth=8\n{rest}")), 0, 1)[3..].join(", ")
    };
    assert_snapshot!(one("ioengine=libaio\ndirect=1"), @"read 0+4096 of 8, drain, close");
    assert_snapshot!(one("ioengine=libaio"), @"read 0+4096 of 8, drain, close");
    assert_snapshot!(one("ioengine=io_uring"), @"read 0+4096 of 8, drain, close");
    assert_snapshot!(one("ioengine=psync"), @"read 0+4096, close");
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    assert_snapshot!(refusal("[a]\nioengine=rbd\npool=x\n"), @"job.fio:2: the engine `rbd` is not simulated: its data is in an object store; engines that are: psync, sync, vsync, pvsync, pvsync2, libaio, io_uring, posixaio, mmap");
    assert_snapshot!(refusal("[a]\nrw=trim\nsize=4k\n"), @"job.fio:2: `rw` trims, and discards are not modelled; take reads and writes");
    assert_snapshot!(refusal("[a]\nflow=2\n"), @"job.fio:2: `flow` is refused: jobs that pace each other are not simulated; remove it");
    assert_snapshot!(refusal("[a]\nrw=read\n"), @"job.fio:1: job `a` says no size, and its files do not exist; add size= or filesize=");
    assert_snapshot!(refusal("[a]\niodeph=2\n"), @"job.fio:2: fio has no option `iodeph`; did you mean `iodepth`?");
    assert_snapshot!(refusal("[a]\nfilename=${NONE}\n"), @"job.fio:2: `filename` uses ${NONE}, which is not set; set it: NONE=... pagecast simulate ...");
    assert_snapshot!(refusal("[a]\nsize=1m\nrate=1m\nrate_iops=3\n"), @"job.fio:1: rate and rate_iops exclude each other; remove one of them");
    assert_snapshot!(refusal("[a]\nsize=1m\nwait_for=b\n[b]\n"), @"job.fio:1: wait_for names `b`, and no job before `a` is called so; there are no jobs before it");
    assert_snapshot!(refusal("[global]\nsize=1m\n"), @"job.fio:1: there is no job beside [global]; add a section with the name of a job");
    assert_snapshot!(refusal("[a]\nsize=200g\n"), @"job.fio:1: the files that the jobs need have 214748364800 bytes, and the disk has 107374182400; make size smaller, or the disk larger");
    assert_snapshot!(refusal("[a]\nsize=1g\nfilename=f\nrw=randread\nbs=1\nnumjobs=100\n"), @"job.fio:1: the random maps of the jobs have more than 34359738368 blocks; add norandommap, or make bs larger");
    assert_snapshot!(refusal("[a]\nsize=1g\nnrfiles=100000\nnumjobs=100\n"), @"job.fio:1: the jobs use more than 2000000 files; make nrfiles smaller");
    assert_snapshot!(refusal(""), @"job.fio: has no section; write [NAME] and options below it");
}

#[test]
fn a_lenient_reader_passes_over_what_it_does_not_know() {
    let lenient = Options { lenient: true, ..options() };
    let workload = read_text("[a]\nsize=4k\niodeph=2\nflow=3\nnice=5\n", &lenient).unwrap();
    let notes: Vec<String> =
        workload.notes.iter().map(|note| format!("{}: {}", note.place, note.text)).collect();
    assert_snapshot!(notes.join("\n"), @"
    job.fio:3: passed over: fio has no option `iodeph`
    job.fio:4: passed over: `flow` is refused: jobs that pace each other are not simulated
    job.fio:5: `nice` has no effect here: priorities of processes are not modelled
    ");
}

#[test]
fn many_threads_wait_for_one_barrier() {
    let workload =
        workload_of("[global]\nsize=4k\nfilename=f\n[a]\nnumjobs=1000\n[b]\nstonewall\nnumjobs=1000\n");
    assert_eq!(workload.processes.len(), 2001);
    assert_eq!(&*workload.processes[1000].name, "stonewall 1");
    assert_eq!(workload.processes[2000].after, ["stonewall 1".into()]);
}

#[test]
fn its_format_is_told_by_its_content() {
    assert!(matches(b"; x\n[global]\nbs=4k\n"));
    assert!(!matches(b"[machine]\ncores = 4\n"));
    assert!(!matches(b"[[process]]\nrw=read\n"));
}

/// Lines that a job file may have, and some that it may not.
fn line() -> impl Strategy<Value = String> {
    let names = super::options::CHAPTERS.iter().flat_map(|chapter| chapter.options).map(|known| known.name);
    let names: Vec<&str> = names.collect();
    let value = prop_oneof![
        Just("1"),
        Just("0"),
        Just("4k"),
        Just("64k"),
        Just("8k,16k"),
        Just("4k-8k"),
        Just("10%"),
        Just("randrw"),
        Just("write:4k"),
        Just("read:-8k"),
        Just("zipf:1.2"),
        Just("zoned:50/5:50/"),
        Just("4k/50:8k/"),
        Just("libaio"),
        Just("lfsr"),
        Just("(2*4k)"),
        Just("strided"),
        Just("18446744073709551615"),
        Just("5ms"),
        Just("a:b"),
        Just("identical"),
    ];
    prop_oneof![
        8 => (proptest::sample::select(names), value).prop_map(|(name, value)| format!("{name}={value}")),
        1 => Just("[b]".to_owned()),
        1 => ".{0,20}",
    ]
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(lines in proptest::collection::vec(line(), 1..12)) {
        let text = format!("[a]\nsize=1m\n{}\n", lines.join("\n"));
        let lenient = Options { lenient: true, ..options() };
        if let Ok(workload) = read_text(&text, &lenient) {
            for process in workload.processes.iter().take(3) {
                let mut program = process.program.start().unwrap();
                for step in 0..200 {
                    if program.next(Nanos(step * 1_000_000)).unwrap().is_none() {
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let input = Input::of(Box::new(Cursor::new(bytes)), "job.fio", None, None);
        if let Ok(input) = input {
            let _ = read(input, &options());
        }
    }
}
