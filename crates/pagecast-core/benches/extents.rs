//! What a call costs among few cached extents and among many: `cargo bench -p pagecast-core --bench extents`.
//!
//! A process reads every other page of a file, so that each is an extent of its own, three times, so that none changes its list any
//! more; then, timed, single pages among them in no order. From a thousand to a million extents a call under `kernel` must not cost more than 1.5 times as much. Each row is
//! the median of `REPEAT` runs. Ends with 1 if the limit does not hold.

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pagecast_core::scenario::{Scenario, load_machine};
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, Buffer, InitialFile, Operation, Process};
use pagecast_core::{Settings, simulate};

const EXTENTS: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];
const CALLS: u64 = 200_000;
const REPEAT: usize = 3;
const LIMIT: f64 = 1.5;
const PAGE: u64 = 4096;

const MACHINE: &str = r#"
cores = 4
memory = { size = "64 GB", read = "8 GB/s", write = "8 GB/s" }
disk.ssd = { size = "1 TB", read = "500 MB/s", write = "500 MB/s" }
mount."/data" = { disk = "ssd" }
"#;

fn read(page: u64) -> Operation {
    let action = Action::Read {
        path: "/data/f".into(),
        offset: 2 * page * PAGE,
        bytes: Some(Bytes(PAGE)),
        call: None,
        vector: 1,
        buffer: Buffer::Reused,
    };
    Operation::from(action)
}

/// The reads that make the extents, and those among them; notes when the first of these begins and the last has ended.
fn program(extents: u64, instants: Arc<Mutex<Vec<Instant>>>) -> impl Iterator<Item = Operation> + Send {
    // A multiplier that is odd and ends in 5 visits all places of a power of two, far from each other.
    let places = extents.next_power_of_two();
    let scattered = (0..).map(move |call: u64| (call * 2_654_435_765 + 12_345) % places);
    let among = scattered.filter(move |&page| page < extents).take(std::env::var("CALLS").ok().and_then(|v| v.parse().ok()).unwrap_or(CALLS as usize));
    let note = move || instants.lock().expect("nobody panics").push(Instant::now());
    let last = note.clone();
    let noted = std::iter::once_with(note).filter_map(|()| None);
    let end = std::iter::once_with(last).filter_map(|()| None);
    let thrice = (0..3).flat_map(move |_| 0..extents);
    thrice.map(read).chain(noted).chain(among.map(read)).chain(end)
}

fn run(extents: u64) -> Duration {
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
        program: Arc::new(move || program(extents, source.clone())),
    };
    let scenario = Scenario::from_parts("<bench>", machine, vec![file], vec![process]).expect("it is right");
    simulate(&scenario, "kernel", Settings::default()).expect("it goes through");
    let instants = instants.lock().expect("nobody panics");
    instants[1] - instants[0]
}

fn main() -> ExitCode {
    if let Some(n) = std::env::var("EXT").ok().and_then(|v| v.parse().ok()) {
        println!("{:?}", run(n));
        return ExitCode::SUCCESS;
    }
    let mut per_call = Vec::new();
    for extents in EXTENTS {
        let mut times: Vec<Duration> = (0..REPEAT).map(|_| run(extents)).collect();
        times.sort_unstable();
        let nanos = times[REPEAT / 2].as_nanos() as f64 / CALLS as f64;
        println!("{extents:>9} extents: {:.2} us for a call", nanos / 1e3);
        per_call.push(nanos);
    }
    let factor = per_call.iter().fold(0.0, |most: f64, &each| most.max(each)) / per_call[0];
    let verdict = if factor <= LIMIT { "holds" } else { "FAILS" };
    println!("from {} to {} extents: factor {factor:.2} (limit {LIMIT}) {verdict}", EXTENTS[0], EXTENTS[3]);
    if factor <= LIMIT { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
