//! Tests whole job files: what is read, what is refused, what a program does.

use std::io::Cursor;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::readers::options::Surroundings;
use crate::readers::placement::Placement;
use crate::units::Nanos;
use crate::workload::{Action, Beside, Program};

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
            Action::Sleep { time, .. } => {
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

/// Runs all processes at once, each operation of which takes `took` of its process: how many requests each made, and when it ended.
fn side_by_side(workload: &Workload, took: impl Fn(usize, &Action) -> u64) -> Vec<(u64, Nanos)> {
    struct Side {
        program: Box<dyn Program>,
        under_way: Option<(Action, Nanos, Nanos)>,
        requests: u64,
        end: Option<Nanos>,
    }
    let others = Beside::default();
    let start = |process: &WorkloadProcess| Side {
        program: process.program.start_beside(&others).unwrap(),
        under_way: None,
        requests: 0,
        end: None,
    };
    let mut sides: Vec<Side> = workload.processes.iter().map(start).collect();
    let mut now = Nanos::ZERO;
    loop {
        let mut asks = true;
        while std::mem::take(&mut asks) {
            for (at, side) in sides.iter_mut().enumerate() {
                if side.under_way.is_some() || side.end.is_some() {
                    continue;
                }
                match side.program.next(now).unwrap() {
                    Some(operation) => {
                        let begin = operation.not_before.unwrap_or(now).max(now);
                        let time = match operation.action {
                            Action::Sleep { time, .. } => time.0,
                            ref action => took(at, action),
                        };
                        let moves = matches!(operation.action, Action::Read { .. } | Action::Write { .. });
                        side.requests += u64::from(moves);
                        side.under_way = Some((operation.action, begin, begin + Nanos(time)));
                        asks = true;
                    }
                    None if side.program.is_held() => {}
                    None => {
                        side.end = Some(now);
                        asks = true;
                    }
                }
            }
        }
        let Some(next) = sides.iter().filter_map(|side| Some(side.under_way.as_ref()?.2)).min() else {
            break;
        };
        now = next;
        for side in &mut sides {
            if let Some((action, began, _)) = side.under_way.take_if(|(_, _, end)| *end == now) {
                side.program.ended(&action, Bytes(4096), began, now);
            }
        }
    }
    let ended = |side: &Side| side.end.expect("nobody waits for ever");
    sides.iter().map(|side| (side.requests, ended(side))).collect()
}

/// Requests take this long, all else nothing.
fn requests(nanos: u64) -> impl Fn(usize, &Action) -> u64 {
    move |_, action| {
        if matches!(action, Action::Read { .. } | Action::Write { .. }) { nanos } else { 0 }
    }
}

#[test]
fn a_job_that_ends_may_end_others() {
    let text = |what: &str| {
        format!(
            "[global]\nrw=read\nbs=4k\nfilename=f\nfilesize=1g\n[a]\nnumber_ios=10\nexitall\nexit_what={what}\n\
             [b]\nnumber_ios=100\n[c]\nnew_group\nnumber_ios=50\n[d]\nnumber_ios=30\nthinktime=9s\n"
        )
    };
    let of = |what| side_by_side(&workload_of(&text(what)), requests(1000));
    let made = |what| of(what).iter().map(|side| side.0).collect::<Vec<u64>>();
    // The others begin one more request while the first one closes its file.
    assert_eq!(made("group"), [10, 11, 50, 1], "c ends d, which is of its group, in a sleep");
    assert_eq!(made("stonewall"), [10, 11, 11, 1]);
    assert_eq!(made("all"), [10, 11, 11, 1]);
    assert!(of("all")[3].1 < Nanos(1_100_000_000), "a sleep looks once a second");
}

#[test]
fn a_job_that_has_not_begun_is_ended_with_all() {
    let text = |what: &str| {
        format!("[global]\nrw=read\nfilename=f\nsize=40k\nexitall\nexit_what={what}\n[a]\n[b]\nstonewall\n")
    };
    let begun = |what: &str| {
        let workload = workload_of(&text(what));
        let others = Beside::default();
        let of = |at: usize| {
            let mut program = workload.processes[at].program.start_beside(&others).unwrap();
            let all = std::iter::from_fn(|| program.next(Nanos::ZERO).unwrap());
            all.filter(|operation| operation.action.name() == "read").count()
        };
        (of(0), of(1))
    };
    assert_eq!(begun("all"), (10, 0));
    assert_eq!(begun("stonewall"), (10, 10));
    assert_eq!(begun("group"), (10, 10), "a stonewall begins a group");
}

#[test]
fn two_runs_know_nothing_of_each_other() {
    let workload = workload_of("[global]\nrw=read\nfilename=f\nsize=40k\nexitall\n[a]\n[b]\n");
    let once = side_by_side(&workload, requests(1000));
    assert_eq!(side_by_side(&workload, requests(1000)), once);
}

#[test]
fn flow_keeps_jobs_in_proportion() {
    let text = |sleep: &str| {
        format!(
            "[global]\nrw=read\nbs=4k\nfilename=f\nfilesize=1g\nnumber_ios=3000\n{sleep}\n[a]\nflow=1\n[b]\nflow=3\n\
             [c]\n[d]\nflow=2\nflow_id=7\n"
        )
    };
    for sleep in ["", "flow_sleep=10"] {
        // The one with the smaller share is faster by itself.
        let made = side_by_side(&workload_of(&text(sleep)), |at, action| {
            requests(if at == 1 { 3000 } else { 1000 })(at, action)
        });
        assert!(made.iter().all(|side| side.0 == 3000));
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| made[at].1);
        assert!(c == Nanos(3_000_000) && d == c, "nobody holds them back: {made:?}");
        // When b has made 3000, a has made 1000, and has 2000 left.
        assert_eq!(b, Nanos(9_000_000));
        assert!(a.0.abs_diff(11_000_000) < 20_000, "{made:?}");
    }
}

#[test]
fn a_steady_job_ends() {
    let text = "[a]\nrw=read\nbs=4k\nfilename=f\nsize=1g\ntime_based\nruntime=100\nss=iops:5%\nss_dur=4\nss_ramp=2\n";
    let ended = |nanos| side_by_side(&workload_of(text), requests(nanos))[0].1.0;
    // Data counts from the third second on, a window has four.
    assert!(ended(1_000_000).abs_diff(6_000_000_000) <= 2_000_000, "{}", ended(1_000_000));
    // Requests that become slower by a tenth each second are not steady before they all take as long.
    let slower = |steady_s: u64| {
        let clock = std::cell::Cell::new(0);
        let made = side_by_side(&workload_of(text), |_, action| {
            let second = (clock.get() / 1_000_000_000).min(steady_s);
            let time = requests(1_000_000 + 100_000 * second)(0, action);
            clock.set(clock.get() + time);
            time
        });
        made[0].1.0.div_ceil(1_000_000_000)
    };
    assert_eq!(slower(2), 6 + 1);
    assert!((20..=25).contains(&slower(20)), "within 5 % of its mean, a window is steady: {}", slower(20));
}

#[test]
fn a_group_is_steady_together() {
    let text = "[a]\nrw=read\nbs=4k\nfilename=f\nsize=1g\ntime_based\nruntime=100\ngroup_reporting\nnumjobs=3\nss=bw_slope:1%\nss_dur=5\n";
    let made = side_by_side(&workload_of(text), requests(1_000_000));
    // The first second of a job without steadystate_ramp_time counts as 0, and leaves the window with the sixth.
    assert!(made.iter().all(|side| side.1.0.abs_diff(6_000_000_000) <= 1_000_000), "{made:?}");
}

#[test]
fn a_depth_is_searched() {
    let text = |rest: &str| {
        format!(
            "[a]\nrw=randread\nbs=4k\nfilename=f\nsize=1g\nioengine=libaio\ndirect=1\niodepth=64\nnorandommap\n\
             latency_target=10ms\nlatency_window=1s\n{rest}"
        )
    };
    let workload = workload_of(&text("latency_percentile=99\n"));
    let mut program = workload.processes[0].program.start().unwrap();
    let (mut now, mut depths) = (0, Vec::new());
    while let Some(operation) = program.next(Nanos(now)).unwrap() {
        let Some(depth) = operation.depth.map(std::num::NonZero::get) else { continue };
        if depths.last() != Some(&depth) {
            depths.push(depth);
        }
        // As many milliseconds as there are requests at a time.
        now += 1_000_000;
        let began = Nanos(now.saturating_sub(1_000_000 * u64::from(depth)));
        program.ended(&operation.action, Bytes(4096), began, Nanos(now));
    }
    assert_eq!(depths, [1, 2, 4, 8, 16, 12, 10, 11, 10], "the depth whose requests take 10 ms");
    let slow = |took| side_by_side(&workload_of(&text("iodepth=1\n")), requests(took))[0].0;
    assert_eq!(slow(11_000_000), 1, "even one at a time takes too long");
    let most = "[a]\nrw=read\nsize=1m\nmax_latency=2ms\n";
    assert_eq!(side_by_side(&workload_of(most), requests(2_000_001))[0].0, 1);
    assert_eq!(side_by_side(&workload_of(most), requests(2_000_000))[0].0, 256);
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
    assert_snapshot!(refusal("[a]\nopendir=x\n"), @"job.fio:2: `opendir` is refused: the files of a folder are not known here; remove it");
    assert_snapshot!(refusal("[a]\nsize=4k\nss_dur=3\n[b]\nsize=4k\n"), @"job.fio:4: steadystate is not that of `a`, which is of its group; write it in [global], or add new_group");
    assert_snapshot!(refusal("[a]\nsize=4k\nlatency_target=3\n"), @"job.fio:1: latency_target needs latency_window; add for example latency_window=1s");
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
    let workload = read_text("[a]\nsize=4k\niodeph=2\nopendir=x\nnice=5\n", &lenient).unwrap();
    let notes: Vec<String> =
        workload.notes.iter().map(|note| format!("{}: {}", note.place, note.text)).collect();
    assert_snapshot!(notes.join("\n"), @"
    job.fio:3: passed over: fio has no option `iodeph`
    job.fio:4: passed over: `opendir` is refused: the files of a folder are not known here
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
