//! Records of the binary form that are written and read per second.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pagecast_core::trace::{Level, Timing, Trace, Writer};
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, Buffer, Operation};

const RECORDS: u64 = 1_000_000;

/// Random 4 KiB reads over 400 GB, by several processes in turn, each with a time and a duration.
fn recording(processes: u32) -> Trace {
    let mut writer = Writer::new("bench", Level::Files);
    let path = writer.path("/data/f").expect("it is the first one");
    let names: Vec<u32> =
        (0..processes).map(|at| writer.process(&format!("p{at}")).expect("they are few")).collect();
    for at in 0..RECORDS {
        let page = at.wrapping_mul(6_364_136_223_846_793_005) % (400_000_000_000 / 4096);
        let read = Action::Read {
            path: path.clone(),
            offset: Some(page * 4096),
            bytes: Some(Bytes(4096)),
            call: None,
            vector: 1,
            buffer: Buffer::Reused,
        };
        let process = names[at as usize % names.len()];
        writer
            .record(process, Some(Nanos(at * 1000)), Some(Nanos(900)), &Operation::from(read))
            .expect("there is room");
    }
    writer.finish().expect("there is room")
}

fn replay(trace: &Trace) -> u64 {
    let timing = Timing { factor: 1.0, is_open: false };
    let workload = trace.workload(timing, |path| path.into());
    let mut operations = 0;
    for process in &workload.processes {
        let mut program = process.program.start().expect("it can always start");
        while let Some(operation) = program.next(Nanos::ZERO).expect("nothing is damaged") {
            black_box(&operation);
            operations += 1;
        }
    }
    operations
}

fn traces(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("traces");
    group.throughput(Throughput::Elements(RECORDS)).sample_size(10);
    for processes in [1, 10_000] {
        group.bench_function(format!("write, {processes} processes"), |bench| {
            bench.iter(|| recording(processes));
        });
        let trace = recording(processes);
        group.bench_function(format!("replay, {processes} processes"), |bench| bench.iter(|| replay(&trace)));
    }
    group.finish();
}

criterion_group!(benches, traces);
criterion_main!(benches);
