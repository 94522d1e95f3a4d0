//! Compares runs with and without operations that are served up to their ends.

use std::sync::Arc;

use proptest::prelude::*;

use crate::engine::{Settings, groups};
use crate::flow::fluid::Fluid;
use crate::flow::{
    Completion, FlowId, FlowSpec, Network, Path, Progress, Resource, ResourceId, Route, WriteCache,
};
use crate::result::Part;
use crate::scenario::{Scenario, load_machine};
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Advice, Buffer, InitialFile, Operation, Process};

/// A network that never tells the end of a flow before it starts.
#[derive(Default)]
struct Silent(Fluid);

impl Network for Silent {
    fn add(&mut self, resource: Resource) -> ResourceId {
        self.0.add(resource)
    }

    fn add_write_cache(&mut self, cache: WriteCache) {
        self.0.add_write_cache(cache);
    }

    fn add_path(&mut self, route: Route) -> Path {
        self.0.add_path(route)
    }

    fn route(&self, path: Path) -> &Route {
        self.0.route(path)
    }

    fn start(&mut self, now: Nanos, flow: FlowId, spec: FlowSpec) {
        self.0.start(now, flow, spec);
    }

    fn set_cap(&mut self, now: Nanos, flow: FlowId, cap: Option<(f64, Part)>) {
        self.0.set_cap(now, flow, cap);
    }

    fn shorten(&mut self, now: Nanos, flow: FlowId, bytes: u64) {
        self.0.shorten(now, flow, bytes);
    }

    fn cancel(&mut self, now: Nanos, flow: FlowId) -> Progress {
        self.0.cancel(now, flow)
    }

    fn settle(&mut self, now: Nanos, changed: &mut Vec<Progress>) {
        self.0.settle(now, changed);
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.0.next_event()
    }

    fn completed(&mut self, now: Nanos, completed: &mut Vec<Completion>) {
        self.0.completed(now, completed);
    }

    fn progress(&self, now: Nanos, flow: FlowId) -> Progress {
        self.0.progress(now, flow)
    }
}

const FILE: u64 = 64 << 20;

fn operation() -> impl Strategy<Value = Action> {
    let bytes = || prop_oneof![6 => Just(4096), 2 => 1..20_000_u64, 1 => Just(3 << 20)];
    let offset = || prop_oneof![3 => (0..8_u64).prop_map(|page| page * 4096), 2 => 0..FILE - (4 << 20)];
    let path: fn(bool) -> Arc<str> = |other| if other { "/data/b".into() } else { "/data/a".into() };
    let read = (any::<bool>(), offset(), bytes(), prop::bool::weighted(0.1)).prop_map(
        move |(other, offset, bytes, fresh)| Action::Read {
            path: path(other),
            offset: Some(offset),
            bytes: Some(Bytes(bytes)),
            call: None,
            vector: 1,
            buffer: if fresh { Buffer::Fresh } else { Buffer::Reused },
        },
    );
    let write = (any::<bool>(), offset(), bytes()).prop_map(move |(other, offset, bytes)| Action::Write {
        path: path(other),
        offset: Some(offset),
        bytes: Bytes(bytes),
        call: None,
        vector: 1,
    });
    let rare = (any::<bool>(), 0..4_u8, 1..50_000_000_u64).prop_map(move |(other, kind, time)| match kind {
        0 => Action::Fsync { path: path(other) },
        1 => Action::Sleep { time: Nanos(time), random: None },
        2 => Action::Fadvise { path: path(other), advice: Advice::DontNeed, offset: 0, bytes: None },
        _ => Action::Free { bytes: None },
    });
    prop_oneof![12 => read, 6 => write, 1 => rare]
}

fn scenario(machine: &str, programs: Vec<Vec<Action>>) -> Scenario {
    let machine = load_machine(machine.as_bytes(), "<test>", "".as_ref(), "".as_ref()).expect("it is right");
    let file = |path: &str| InitialFile {
        host: 0,
        path: path.into(),
        size: Bytes(FILE),
        cached: Bytes::ZERO,
        dirty: Bytes::ZERO,
    };
    let process = |(at, actions): (usize, Vec<Action>)| Process {
        name: format!("p{at}").into(),
        host: 0,
        cgroup: None,
        after: vec![],
        start: Nanos::ZERO,
        descriptors: None,
        ioprio: Default::default(),
        slots: None,
        program: Arc::new(actions.into_iter().map(Operation::from).collect::<Vec<_>>()),
    };
    let processes = programs.into_iter().enumerate().map(process).collect();
    Scenario::from_parts("<test>", machine, vec![file("/data/a"), file("/data/b")], processes)
        .expect("it is right")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn results_are_those_of_flows_and_events(
        programs in prop::collection::vec(prop::collection::vec(operation(), 1..80), 1..3),
        has_costs in any::<bool>(),
        lru in prop::sample::select(vec!["two-list", "mglru"]),
        memory in prop::sample::select(vec!["48 MiB", "1 GB"]),
        unevenness in prop::sample::select(vec!["", "unevenness = 0.2,"]),
        limits in prop::sample::select(vec!["", "vm.dirty_background_bytes = '1 MiB'\nvm.dirty_bytes = '4 MiB'"]),
        seek in prop::sample::select(vec!["", "seek = '2 ms',"]),
        sequential in prop_oneof![Just(0), 1..400_u64],
    ) {
        let mut programs = programs;
        programs[0].splice(0..0, (0..sequential).map(|page| Action::Read {
            path: "/data/a".into(),
            offset: Some(page * 4096),
            bytes: Some(Bytes(4096)),
            call: None,
            vector: 1,
            buffer: Buffer::Reused,
        }));
        let cost = "cost = { call = '300 ns', page_insert = '250 ns', page_lookup = '60 ns', copy_read = '8 GB/s' }";
        let cost = if has_costs { cost } else { "" };
        let machine = format!(
            "cores = 2\nkernel.lru = '{lru}'\n{limits}\nmount.'/data'.disk = 'ssd'\n\
             disk.ssd = {{ {unevenness} {seek} size = '1 TB', read = '2 GB/s', write = '1 GB/s', latency = '80 us' }}\n\
             [memory]\nsize = '{memory}'\nread = '8 GB/s'\nwrite = '8 GB/s'\n{cost}"
        );
        let scenario = scenario(&machine, programs);
        let told = |result| format!("{result:?}");
        let served = groups::simulate::<Fluid>(&scenario, "kernel", Settings::default()).map(told);
        let by_events = groups::simulate::<Silent>(&scenario, "kernel", Settings::default()).map(told);
        prop_assert_eq!(format!("{served:?}"), format!("{by_events:?}"));
    }
}
