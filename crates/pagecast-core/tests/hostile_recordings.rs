//! Every reader takes any bytes: it gives a workload or one message of one line, and never panics.
//!
//! `make fuzz` goes on for longer.

use std::io::Cursor;

use pagecast_core::readers::{FORMATS, Format, Input, Options};
use pagecast_core::units::Nanos;
use pagecast_core::workload::WorkloadProcess;
use proptest::prelude::*;

/// So many operations of a program are asked for; a job may have no end.
const MOST_OPERATIONS: usize = 100;

/// Small files of the formats that are text.
const SEEDS: [(&str, &[u8]); 12] = [
    ("fio", b"[global]\nbs=4k\nsize=1m\nioengine=libaio\n[a]\nrw=randrw:2\nrwmixread=70\nfilename=/f\niodepth=4\n[b]\nstonewall\nnumjobs=2\nrw=write\nrandom_distribution=zipf:1.2\nruntime=1\ntime_based\nrate=1m,2m\n"),
    ("wfformat", br#"{"name":"w","schemaVersion":"1.5","workflow":{"specification":{"tasks":[{"name":"a","id":"a","parents":[],"children":["b"],"outputFiles":["m"]},{"name":"b","id":"b","parents":["a"],"children":[],"inputFiles":["m"]}],"files":[{"id":"m","sizeInBytes":20}]},"execution":{"makespanInSeconds":9,"executedAt":"now","tasks":[{"id":"b","runtimeInSeconds":4.0,"coreCount":2}],"machines":[{"nodeName":"m1"}]}}}"#),
    ("csv", b"time_s,duration_s,process,op,file,offset_bytes,bytes\n0,0.1,a,read,/f,0,4096\n0.5,,b,write,\"/g,h\",0,1\n"),
    ("iolog", b"fio version 3 iolog\n0 /f add\n3 /f open\n10 /f read 8192 4096\n20 /f sync 0 0\n30 /f close\n"),
    ("iolog", b"fio version 2 iolog\n/f open\n/f wait 20 0\n/f write 0 4096\n/f trim 0 512\n"),
    ("blkparse", b"  8,0 3 1 0.000000000 697 Q W 223490 + 8 [k]\n  8,0 3 2 0.1 697 D R 8 + 8 [k]\nCPU3 (8,0):\n"),
    ("msr", b"128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,1,Write,2822144,4096,153\n"),
    ("spc", b"0,20941264,8192,W,0.551706\n1,3436288,15872,r,1.011732\n"),
    ("fiu", b"89966002627 4892 syslogd 904265560 8 W 6 0 531e779fa2d8\n"),
    ("pct", b"open 3 MNT/f wc\nwrite 3 -1 1m 64k\nproc a\nread 3 0 2m 1m\nendproc\nwait\nfread 3 1m 100 4k\nclose 3\n"),
    ("strace", b"7 1700000000.1 openat(AT_FDCWD</w>, \"a\", O_RDWR|O_CREAT) = 3</w/a> <0.1>\n7 1700000000.2 clone(flags=SIGCHLD <unfinished ...>\n8 1700000000.3 read(3</w/a>, \"x\"..., 9) = 5 <0.1>\n7 1700000000.4 <... clone resumed>) = 8 <0.2>\n8 1700000000.5 +++ exited with 0 +++\n"),
    ("oracle", b"\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x64\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"),
];

fn options(is_lenient: bool) -> Options {
    let columns = Some("time=0,op=3,offset=4,bytes=5".to_owned());
    Options { lenient: is_lenient, columns, ..Options::default() }
}

fn try_reading(format: &Format, bytes: &[u8], is_lenient: bool) {
    let input = match Input::of(Box::new(Cursor::new(bytes.to_vec())), "x", None, None) {
        Ok(input) => input,
        Err(_) => return,
    };
    let options = if format.name == "table" {
        options(is_lenient)
    } else {
        Options { columns: None, ..options(is_lenient) }
    };
    match format.read(input, &options) {
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains('\n'), "{}: {text}", format.name);
        }
        Ok(workload) => workload.processes.iter().take(10).for_each(draw),
    }
}

/// Asks a program for its first operations.
fn draw(process: &WorkloadProcess) {
    let Ok(mut program) = process.program.start() else { return };
    for _ in 0..MOST_OPERATIONS {
        if !matches!(program.next(Nanos::ZERO), Ok(Some(_))) {
            return;
        }
    }
}

fn format(name: &str) -> &'static Format {
    FORMATS.iter().find(|format| format.name == name).expect("the seed is of a format that is known")
}

#[test]
fn a_recording_that_is_cut_anywhere_gives_a_message_or_less() {
    for (name, seed) in SEEDS {
        for end in 0..=seed.len() {
            for is_lenient in [false, true] {
                try_reading(format(name), &seed[..end], is_lenient);
            }
        }
        try_reading(format(name), &flate_of(seed), false);
    }
    let trace = recorded();
    (0..=trace.len()).for_each(|end| try_reading(format("trace"), &trace[..end], false));
}

/// A recording in binary form.
fn recorded() -> Vec<u8> {
    let (name, seed) = SEEDS[2];
    let input = Input::of(Box::new(Cursor::new(seed.to_vec())), "x", None, None).expect("it is plain");
    let trace = format(name).record(input, &Options::default()).expect("it is right");
    let mut bytes = Vec::new();
    trace.write_to(&mut bytes).expect("it is in memory");
    bytes
}

/// The same, packed and cut.
fn flate_of(seed: &[u8]) -> Vec<u8> {
    let mut packed = zstd::encode_all(seed, 1).expect("it is in memory");
    packed.truncate(packed.len() - 3);
    packed
}

/// A place, a value, and how the bytes change there.
type Change = (prop::sample::Index, u8, u8);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..6)
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for &(at, value, how) in changes {
        let at = at.index(bytes.len().max(1));
        match how {
            0 if at < bytes.len() => bytes[at] = value,
            1 => bytes.insert(at, b"0123456789,- \n"[value as usize % 14]),
            _ if at < bytes.len() => drop(bytes.remove(at)),
            _ => {}
        }
    }
    bytes
}

proptest! {
    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..300), at in any::<prop::sample::Index>()) {
        try_reading(&FORMATS[at.index(FORMATS.len())], &bytes, false);
    }

    #[test]
    fn changed_recordings_are_taken(
        seed in prop::sample::select(&SEEDS[..]),
        changes in changes(),
        is_lenient in any::<bool>(),
    ) {
        try_reading(format(seed.0), &changed(seed.1.to_vec(), &changes), is_lenient);
    }

    #[test]
    fn changed_traces_are_taken(changes in changes()) {
        try_reading(format("trace"), &changed(recorded(), &changes), false);
    }
}
