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
    let mut network = Fluid::default();
    let paths: Vec<Path> = (0..disks).map(|number| add_disk(&mut network, number)).collect();
    run_over(network, &(0..flows).map(|number| paths[number % disks]).collect::<Vec<_>>())
}

/// Runs a flow on each path for all rounds, and returns when the last one has ended.
fn run_over(mut network: Fluid, path_of: &[Path]) -> Nanos {
    let mut actions = Actions::default();
    for (number, &path) in path_of.iter().enumerate() {
        start(&mut network, &mut actions, Nanos::ZERO, path, (number as u64) << 8 | 1);
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

/// Runs flows over routes of so many links, each of which two flows share, and returns when the last one has ended.
fn run_over_links(flows: usize, links: usize) -> Nanos {
    let mut network = Fluid::default();
    let mut path = |number: usize| {
        let link = |at: usize| Use {
            resource: network.add(Resource::constant(4e8 + (number * links + at) as f64)),
            cost: 1.0,
            part: Part::Network,
        };
        let uses: Vec<Use> = (0..links).map(link).collect();
        network.add_path(Route::new(&uses))
    };
    let paths: Vec<Path> = (0..flows / 2).map(&mut path).collect();
    run_over(network, &(0..flows).map(|number| paths[number / 2]).collect::<Vec<_>>())
}

/// The cost of a message over one to eight links: `crates/pagecast-core/src/flow/places.rs` keeps five places near.
fn routes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("route");
    group.sample_size(10);
    for links in 1..=8 {
        group.throughput(Throughput::Elements(1_000 * ROUNDS));
        group.bench_with_input(BenchmarkId::new("links", links), &links, |bench, &links| {
            bench.iter(|| run_over_links(1_000, links))
        });
    }
    group.finish();
}

criterion_group!(benches, flows, routes);
criterion_main!(benches);
