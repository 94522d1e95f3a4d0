//! Operations of 4 KiB that are simulated per second under `kernel`: `cargo bench -p pagecast-core --bench calls [-- TEXT]`.
//!
//! Each case runs in a process of its own, so that its memory is its own, three times, of which the fastest counts. The time is that of
//! the processor, so that others on the machine disturb it less. Paths are shared strings, as those of a recorded trace are. `TEXT` keeps
//! the cases whose names contain it. `--case N OPERATIONS` runs case N once with so many operations, for a profiler. Ends with 1 if a limit
//! does not hold; aims are told, and not judged.

use std::process::{Command, ExitCode};
use std::sync::Arc;

use pagecast_core::scenario::{self, Scenario};
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, Buffer, InitialFile, Operation, Process};
use pagecast_core::{Settings, simulate};

const PAGE: u64 = 4096;
const RUNS: usize = 3;

/// What one case does.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    memory_gb: u64,
    file_gb: u64,
    operations: u64,
    /// Reads all of the file first.
    is_cached: bool,
    access: Access,
    /// Operations per second below which it fails, and those that are aimed at; in thousands.
    limit: u32,
    aim: u32,
}

/// The order of the pages, and the share of writes in percent.
#[derive(Clone, Copy)]
enum Access {
    Sequential(u64),
    Random(u64),
}

const MILLION: u64 = 1_000_000;

const CASES: [Case; 9] = [
    case("read, sequential, cold", 64, 8, MILLION, false, Access::Sequential(0), (1000, 2000)),
    case("read, sequential, cached", 64, 8, MILLION, true, Access::Sequential(0), (1400, 2000)),
    case("read, random, cached", 64, 8, MILLION, true, Access::Random(0), (450, 2000)),
    case("read, random, of 400 GB", 64, 400, MILLION, false, Access::Random(0), (350, 1000)),
    case("read, random, of 400 GB, evicting", 4, 400, 3 * MILLION, false, Access::Random(0), (230, 1000)),
    case("write, sequential", 64, 8, MILLION, false, Access::Sequential(100), (800, 2000)),
    case("write, random, of 400 GB", 64, 400, MILLION, false, Access::Random(100), (350, 1000)),
    case("write, random, of 400 GB, evicting", 4, 400, 3 * MILLION, false, Access::Random(100), (95, 1000)),
    case(
        "read and write, random, of 400 GB, evicting",
        4,
        400,
        3 * MILLION,
        false,
        Access::Random(30),
        (140, 1000),
    ),
];

const fn case(
    name: &'static str,
    memory_gb: u64,
    file_gb: u64,
    operations: u64,
    is_cached: bool,
    access: Access,
    (limit, aim): (u32, u32),
) -> Case {
    Case { name, memory_gb, file_gb, operations, is_cached, access, limit, aim }
}

impl Case {
    fn scenario(&self) -> Scenario {
        let machine = format!(
            r#"
            cores = 8
            disk.ssd = {{ size = "1 TB", read = "2 GB/s", write = "2 GB/s", latency = "80 us" }}
            mount."/data" = {{ disk = "ssd" }}
            [memory]
            size = "{} GB"
            read = "8 GB/s"
            write = "8 GB/s"
            cost = {{ call = "300 ns", page_insert = "250 ns", page_lookup = "60 ns", page_reclaim = "100 ns", copy_read = "8 GB/s", copy_write = "6 GB/s" }}
            "#,
            self.memory_gb
        );
        let here = "".as_ref();
        let machine = scenario::load_machine(machine.as_bytes(), "<bench>", here, here).expect("it is right");
        let size = Bytes(self.file_gb * 1_000_000_000 / PAGE * PAGE);
        let path: Arc<str> = "/data/f".into();
        let input =
            InitialFile { host: 0, path: path.clone(), size, cached: Bytes::ZERO, dirty: Bytes::ZERO };
        let (access, count, is_cached) = (self.access, self.operations, self.is_cached);
        let program = move || {
            let whole = is_cached.then(|| read(&path, 0, None));
            let path = path.clone();
            whole.into_iter().chain((0..count).map(move |at| access.operation(&path, at, size.0 / PAGE)))
        };
        let process = Process {
            name: "app".into(),
            host: 0,
            cgroup: None,
            after: vec![],
            start: Nanos::ZERO,
            descriptors: None,
            ioprio: Default::default(),
            slots: None,
            program: Arc::new(program),
        };
        Scenario::from_parts("<bench>", machine, vec![input], vec![process]).expect("it is right")
    }
}

impl Access {
    fn operation(self, path: &Arc<str>, at: u64, pages: u64) -> Operation {
        let mixed = mix(at);
        let (page, writes) = match self {
            Self::Sequential(writes) => (at % pages, writes),
            Self::Random(writes) => (mixed % pages, writes),
        };
        if (mixed >> 40) % 100 < writes {
            let (path, offset, bytes) = (path.clone(), Some(page * PAGE), Bytes(PAGE));
            return Action::Write { path, offset, bytes, call: None, vector: 1 }.into();
        }
        read(path, page * PAGE, Some(Bytes(PAGE)))
    }
}

fn read(path: &Arc<str>, offset: u64, bytes: Option<Bytes>) -> Operation {
    let (path, offset) = (path.clone(), Some(offset));
    Action::Read { path, offset, bytes, call: None, vector: 1, buffer: Buffer::Reused }.into()
}

/// A random number for each index: the finalizer of splitmix64 (Steele et al., OOPSLA 2014).
fn mix(at: u64) -> u64 {
    let at = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let at = (at ^ (at >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let at = (at ^ (at >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    at ^ (at >> 31)
}

/// Simulates a case; writes its seconds, peak memory in MB and simulated end.
fn run(case: &Case) {
    let scenario = case.scenario();
    let begun = processor_seconds();
    let result = simulate(&scenario, "kernel", Settings::default()).expect("it can be simulated");
    println!("{} {} {}", processor_seconds() - begun, peak_mb(), result.end.0);
}

/// The time that this thread has run, as its kernel counts it.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    let nanos = text.split_whitespace().next().expect("it is the first of three numbers");
    nanos.parse::<f64>().expect("it is a number") * 1e-9
}

fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim_end_matches("kB").trim().parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) * 1024.0 / 1e6
}

/// Runs a case in processes of its own: its fastest time, its memory and its simulated end.
fn measure(at: usize) -> (f64, f64, u64) {
    let program = std::env::current_exe().expect("it is running");
    let once = |_| {
        let output = Command::new(&program).args(["--case", &at.to_string()]).output().expect("it starts");
        let text = String::from_utf8(output.stdout).expect("it is plain");
        let mut words = text.split_whitespace();
        let mut word = || words.next().expect("a case writes three numbers");
        let parse = |text: &str| text.parse::<f64>().expect("it is a number");
        (parse(word()), parse(word()), word().parse().expect("it is a number"))
    };
    (0..RUNS).map(once).min_by(|one: &(f64, f64, u64), other| one.0.total_cmp(&other.0)).expect("it has run")
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [option, at, operations @ ..] = &words[..]
        && option == "--case"
    {
        let number = |text: &String| text.parse::<u64>().expect("it is a number");
        let mut case = CASES[number(at) as usize];
        case.operations = operations.first().map_or(case.operations, number);
        run(&case);
        return ExitCode::SUCCESS;
    }
    let wanted = words.first().map_or("", String::as_str);
    let mut all_hold = true;
    println!("| operations of 4 KiB | thousands/s | limit | aim | peak MB | simulated ns |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (at, case) in CASES.iter().enumerate().filter(|(_, case)| case.name.contains(wanted)) {
        let (seconds, peak, end) = measure(at);
        let rate = case.operations as f64 / seconds / 1e3;
        let holds = rate >= f64::from(case.limit);
        all_hold &= holds;
        let (limit, verdict) = (case.limit, if holds { "holds" } else { "FAILS" });
        println!("| {} | {rate:.0} | {limit} {verdict} | {} | {peak:.0} | {end} |", case.name, case.aim);
    }
    if all_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
