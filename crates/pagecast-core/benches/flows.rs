//! What a flow costs among few and among many: `cargo bench -p pagecast-core`.
//!
//! Every flow moves a million bytes and starts anew five times. On disks of their own, 100,000 flows must cost no more
//! each than 10; on one disk, the cost grows with the logarithm of their number.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pagecast_core::flow::fluid::Fluid;
use pagecast_core::flow::{FlowSpec, Network, Path, Resource, Route, Use};
use pagecast_core::policy::{Actions, Command};
use pagecast_core::result::Part;
use pagecast_core::units::Nanos;

const ROUNDS: u64 = 5;

fn add_disk(network: &mut Fluid, number: usize) -> Path {
    // Rates differ, so that no two flows end together.
    let resource = network.add(Resource::constant(4e8 + number as f64));
    network.add_path(Route::new(&[Use { resource, cost: 1.0, part: Part::DeviceRead }]))
}

fn start(network: &mut Fluid, actions: &mut Actions, now: Nanos, path: Path, round: u64) {
    actions.start(FlowSpec::new(path, 1_000_000, round));
    for command in actions.drain() {
        if let Command::Start(flow, spec) = command {
            network.start(now, flow, spec);
        }
    }
}

/// Runs `flows` flows, each on its disk, for all rounds, and returns when the last one has ended.
fn run(flows: usize, disks: usize) -> Nanos {
    let (mut network, mut actions) = (Fluid::default(), Actions::default());
    let paths: Vec<Path> = (0..disks).map(|number| add_disk(&mut network, number)).collect();
    let mut path_of = vec![paths[0]; flows];
    for number in 0..flows {
        path_of[number] = paths[number % disks];
        start(&mut network, &mut actions, Nanos::ZERO, path_of[number], (number as u64) << 8 | 1);
    }
    let (mut changed, mut ended, mut now) = (Vec::new(), Vec::new(), Nanos::ZERO);
    network.settle(now, &mut changed);
    while let Some(next) = network.next_event() {
        now = next;
        network.completed(now, &mut ended);
        for done in ended.drain(..) {
            actions.release(done.flow);
            let (number, round) = ((done.tag >> 8) as usize, done.tag & 0xff);
            if round < ROUNDS {
                start(&mut network, &mut actions, now, path_of[number], done.tag + 1);
            }
        }
        network.settle(now, &mut changed);
    }
    now
}

fn flows(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("flow");
    group.sample_size(10);
    for flows in [10, 1_000, 100_000] {
        group.throughput(Throughput::Elements(flows as u64 * ROUNDS));
        group.bench_with_input(BenchmarkId::new("own disk", flows), &flows, |bench, &n| {
            bench.iter(|| run(n, n))
        });
        group.bench_with_input(BenchmarkId::new("one disk", flows), &flows, |bench, &n| {
            bench.iter(|| run(n, 1))
        });
    }
    group.finish();
}

criterion_group!(benches, flows);
criterion_main!(benches);
