//! What a call costs among few cached extents and among many: `cargo bench -p pagecast-core --bench extents`.
//!
//! A process reads every other page of a file, so that each is an extent of its own, three times, so that none changes its
//! list any more; then single pages among them in no order. Under `kernel` such a call must execute no more than 1.1 times
//! as many instructions among a hundred thousand extents as among a thousand. Instructions are counted by valgrind, which
//! gives the same on a busy machine; without it nothing is judged. Ends with 1 if the limit does not hold.
//!
//! Times are told, and not judged: a call among a million extents takes longer because they fit into no cache of the
//! processor. Beside it stands what one look-up in an ordered map of as many extents takes, which grows alike.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pagecast_core::scenario::{Scenario, load_machine};
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, Buffer, InitialFile, Operation, Process};
use pagecast_core::{Settings, simulate};

const EXTENTS: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];
const CALLS: u64 = 200_000;
const REPEAT: usize = 3;
/// Valgrind takes some 50 times as long.
const COUNTED_EXTENTS: [u64; 2] = [1_000, 100_000];
const COUNTED_CALLS: u64 = 10_000;
const LIMIT: f64 = 1.1;
const PAGE: u64 = 4096;
/// As the first argument: make so many extents, do so many calls, and no more.
const ONCE: &str = "once";

const MACHINE: &str = r#"
cores = 4
memory = { size = "64 GB", read = "8 GB/s", write = "8 GB/s" }
disk.ssd = { size = "1 TB", read = "500 MB/s", write = "500 MB/s" }
mount."/data" = { disk = "ssd" }
"#;

fn read(page: u64) -> Operation {
    let action = Action::Read {
        path: "/data/f".into(),
        offset: Some(2 * page * PAGE),
        bytes: Some(Bytes(PAGE)),
        call: None,
        vector: 1,
        buffer: Buffer::Reused,
    };
    Operation::from(action)
}

/// All numbers below `extents`, far from each other.
fn scattered(extents: u64) -> impl Iterator<Item = u64> + Send {
    // A multiplier that is odd and ends in 5 visits all places of a power of two.
    let places = extents.next_power_of_two();
    let all = (0..).map(move |call: u64| (call * 2_654_435_765 + 12_345) % places);
    all.filter(move |&page| page < extents)
}

/// The reads that make the extents, and those among them; notes when the first of these begins and the last has ended.
fn program(
    extents: u64,
    calls: u64,
    instants: Arc<Mutex<Vec<Instant>>>,
) -> impl Iterator<Item = Operation> + Send {
    let among = scattered(extents).take(calls as usize);
    let note = move || instants.lock().expect("nobody panics").push(Instant::now());
    let last = note.clone();
    let noted = std::iter::once_with(note).filter_map(|()| None);
    let end = std::iter::once_with(last).filter_map(|()| None);
    let thrice = (0..3).flat_map(move |_| 0..extents);
    thrice.map(read).chain(noted).chain(among.map(read)).chain(end)
}

fn run(extents: u64, calls: u64) -> Duration {
    let machine = load_machine(MACHINE.as_bytes(), "<bench>", "".as_ref(), "".as_ref()).expect("it is right");
    let file = InitialFile {
        host: 0,
        path: "/data/f".into(),
        size: Bytes(2 * extents * PAGE),
        cached: Bytes::ZERO,
        dirty: Bytes::ZERO,
    };
    let instants = Arc::new(Mutex::new(Vec::new()));
    let source = instants.clone();
    let process = Process {
        name: "p".into(),
        host: 0,
        cgroup: None,
        after: vec![],
        start: Nanos::ZERO,
        descriptors: None,
        ioprio: Default::default(),
        slots: None,
        program: Arc::new(move || program(extents, calls, source.clone())),
    };
    let scenario = Scenario::from_parts("<bench>", machine, vec![file], vec![process]).expect("it is right");
    simulate(&scenario, "kernel", Settings::default()).expect("it goes through");
    let instants = instants.lock().expect("nobody panics");
    instants[1] - instants[0]
}

/// What a look-up of a page takes in an ordered map of as many extents, and in what is kept of each.
fn look_up(extents: u64) -> Duration {
    // As large as what the page cache keeps of an extent.
    let kept: Vec<[u64; 7]> = (0..extents).map(|page| [page; 7]).collect();
    let map: BTreeMap<u64, u32> = (0..extents).map(|page| (2 * page * PAGE, page as u32)).collect();
    let begun = Instant::now();
    for page in scattered(extents).take(CALLS as usize) {
        let slot = map.range(..=black_box(2 * page * PAGE)).next_back().map_or(0, |(_, &slot)| slot);
        black_box(kept[slot as usize][3]);
    }
    begun.elapsed()
}

/// The median of several times, by the calls.
fn nanos_per_call(time: impl Fn() -> Duration) -> f64 {
    let mut times: Vec<Duration> = (0..REPEAT).map(|_| time()).collect();
    times.sort_unstable();
    times[REPEAT / 2].as_nanos() as f64 / CALLS as f64
}

/// The instructions of this program with so many extents and calls; `None` without valgrind.
fn instructions(extents: u64, calls: u64) -> Option<u64> {
    let own = std::env::current_exe().expect("it runs");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(own)
        .args([ONCE, &extents.to_string(), &calls.to_string()])
        .output()
        .ok()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let (_, count) = told.lines().find_map(|line| line.split_once("Collected :"))?;
    count.trim().parse().ok()
}

/// The instructions of one call among so many extents.
fn instructions_per_call(extents: u64) -> Option<f64> {
    let (few, many) = (instructions(extents, 0)?, instructions(extents, COUNTED_CALLS)?);
    Some((many - few) as f64 / COUNTED_CALLS as f64)
}

fn tell_times() {
    for extents in EXTENTS {
        let call = nanos_per_call(|| run(extents, CALLS)) / 1e3;
        let look_up = nanos_per_call(|| look_up(extents)) / 1e3;
        println!("{extents:>9} extents: {call:.2} us for a call; one look-up among them {look_up:.2} us");
    }
}

fn judge() -> ExitCode {
    let [few, many] = COUNTED_EXTENTS;
    let (Some(one), Some(other)) = (instructions_per_call(few), instructions_per_call(many)) else {
        println!("instructions of a call: skipped, as valgrind is not installed");
        return ExitCode::SUCCESS;
    };
    let factor = other / one;
    let verdict = if factor <= LIMIT { "holds" } else { "FAILS" };
    println!("instructions of a call: {one:.0} among {few} extents, {other:.0} among {many}");
    println!("from {few} to {many} extents: factor {factor:.3} (limit {LIMIT}) {verdict}");
    if factor <= LIMIT { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, extents, calls] = &arguments[..]
        && first == ONCE
    {
        let number = |text: &str| text.parse().expect("it is one of ours");
        run(number(extents), number(calls));
        return ExitCode::SUCCESS;
    }
    tell_times();
    judge()
}
