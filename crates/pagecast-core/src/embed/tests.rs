//! Checks that another simulator, played by a network of disks alone, gives the result of our own engine.

mod block_layer;
mod patterns;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::*;
use crate::flow::{FlowId, FlowSpec};
use crate::policy::registry::MODELS;
use crate::policy::{DeviceId, Outcome};
use crate::result::Part;
use crate::scenario::Scenario;
use crate::units::{Bytes, earlier};
use crate::workload::{Action, Buffer, OpenFlag, OpenFlags, Program};
use crate::{Settings, simulate};

/// The other simulator: disks, tasks that run their programs, and a clock.
struct Other {
    cache: PageCache,
    disks: Disks,
    programs: Vec<Box<dyn Program>>,
    tasks: Vec<TaskId>,
    wakes: BinaryHeap<Reverse<(Nanos, usize)>>,
    now: Nanos,
    /// Who has ended which operation when.
    ends: Vec<(usize, Nanos)>,
    outcomes: Vec<(Outcome, Nanos)>,
    begun: Vec<Nanos>,
}

impl Other {
    fn new(scenario: &Scenario, model: &str) -> Self {
        let mut cache = PageCache::new(scenario.machine.clone(), model, &[]).unwrap();
        for file in &scenario.files {
            cache.add_file(Nanos::ZERO, &file.path, file.size, file.cached, file.dirty).unwrap();
        }
        let tasks: Vec<_> = scenario.processes.iter().map(|each| cache.add_task(&each.name)).collect();
        for (each, &task) in scenario.processes.iter().zip(&tasks) {
            cache.set_priority(task, each.ioprio).unwrap();
        }
        let programs: Vec<_> = scenario.processes.iter().map(|each| each.program.start().unwrap()).collect();
        let wakes = scenario.processes.iter().enumerate().map(|(at, each)| Reverse((each.start, at)));
        Self {
            tasks,
            begun: vec![Nanos::ZERO; programs.len()],
            cache,
            disks: Disks::new(&scenario.machine.hosts[0]),
            programs,
            wakes: wakes.collect(),
            now: Nanos::ZERO,
            ends: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    fn run(mut self) -> Self {
        loop {
            self.obey();
            let next = earlier(self.disks.next_event(), self.wakes.peek().map(|Reverse((time, _))| *time));
            if next.is_none() && self.cache.tasks.all_idle() {
                return self;
            }
            self.now = earlier(next, self.cache.next_call()).expect("something is under way");
            for transfer in self.disks.completed(self.now) {
                self.cache.completed(self.now, transfer).unwrap();
            }
            while self.wakes.peek().is_some_and(|Reverse((time, _))| *time <= self.now) {
                let Reverse((_, at)) = self.wakes.pop().unwrap();
                self.go_on(at);
            }
        }
    }

    /// Carries orders out and tells rates until nothing is left to be done at this instant.
    fn obey(&mut self) {
        loop {
            for order in self.cache.orders() {
                self.disks.carry_out(self.now, &order);
                if let Order::Done { task, outcome } = order {
                    let at = self.tasks.iter().position(|&each| each == task).unwrap();
                    self.ends.push((at, self.now));
                    self.outcomes.push((outcome, self.now - self.begun[at]));
                    self.go_on(at);
                }
            }
            let rates = self.disks.rates(self.now);
            self.cache.advance(self.now, &rates).unwrap();
            if self.cache.next_call().is_none_or(|due| due > self.now) {
                return;
            }
        }
    }

    fn go_on(&mut self, at: usize) {
        self.begun[at] = self.now;
        match self.programs[at].next(Nanos::ZERO).unwrap().map(|operation| operation.action) {
            Some(Action::Compute { time } | Action::Sleep { time, .. }) => {
                // Its end is written down when it is over; there are cores for all.
                self.ends.push((at, self.now + time));
                self.outcomes.push((Outcome::default(), Nanos::ZERO));
                self.wakes.push(Reverse((self.now + time, at)));
            }
            Some(action) => self.cache.begin(self.now, self.tasks[at], &action).unwrap(),
            None => {}
        }
    }
}

fn scenario(text: &str) -> Scenario {
    let nowhere = FilePath::new("no such folder");
    Scenario::from_toml(text.as_bytes(), "x.toml", nowhere, nowhere, &[]).unwrap()
}

/// When each process ended each of its operations.
fn ends_of(scenario: &Scenario, model: &str) -> Vec<Vec<Nanos>> {
    let result = simulate(scenario, model, Settings::default()).unwrap();
    let mut ends = vec![Vec::new(); scenario.processes.len()];
    let rows = result.operations.process.iter().zip(&result.operations.end);
    rows.for_each(|(&process, &end)| ends[process as usize].push(end));
    ends
}

fn ends_inside(scenario: &Scenario, model: &str) -> Vec<Vec<Nanos>> {
    let other = Other::new(scenario, model).run();
    for (outcome, took) in &other.outcomes {
        assert!(outcome.parts.total() <= *took, "{outcome:?} in {took}");
        assert!(took.saturating_sub(outcome.parts.total()) <= Nanos(2_000), "{outcome:?} in {took}");
    }
    let mut ends = vec![Vec::new(); scenario.processes.len()];
    other.ends.iter().for_each(|&(at, end)| ends[at].push(end));
    ends
}

#[track_caller]
fn assert_alike(text: &str, model: &str, tolerance: f64) {
    let scenario = scenario(text);
    let (ours, inside) = (ends_of(&scenario, model), ends_inside(&scenario, model));
    for (process, (ours, inside)) in ours.iter().zip(&inside).enumerate() {
        assert_eq!(ours.len(), inside.len(), "{model}: {inside:?}");
        for (at, (one, other)) in ours.iter().zip(inside).enumerate() {
            let apart = (one.as_seconds() - other.as_seconds()).abs();
            assert!(
                apart <= tolerance * one.as_seconds() + 2e-6,
                "{model}, process {process}, operation {at}: {one} and {other}"
            );
        }
    }
}

const CLUSTER: &str = r#"
    [machine]
    cores = 32
    memory = { size = "64 GB", read = "4 GB/s", write = "3 GB/s" }
    disk.ssd = { size = "450 GB", read = "510 MB/s", write = "420 MB/s" }
    mount."/data" = { disk = "ssd" }
"#;

/// `apps` processes that each read and write files of 6 GB three times.
fn applications(apps: usize) -> String {
    format!(
        r#"{CLUSTER}
        [[file]]
        path = "/data/a{{n}}/f1"
        size = "3 GB"
        count = {apps}
        [[process]]
        name = "app{{n}}"
        count = {apps}
        do = [
          {{ read = "/data/a{{n}}/f1", buffer = "fresh" }}, {{ compute = "4.4 s" }}, {{ write = "/data/a{{n}}/f2", size = "3 GB" }}, {{ free = "all" }},
          {{ read = "/data/a{{n}}/f2", buffer = "fresh" }}, {{ compute = "4.4 s" }}, {{ write = "/data/a{{n}}/f3", size = "3 GB" }}, {{ free = "all" }},
          {{ fsync = "/data/a{{n}}/f3" }},
        ]"#
    )
}

#[test]
fn applications_end_when_they_do_in_our_engine() {
    for model in MODELS {
        for apps in [1, 3, 8] {
            assert_alike(&applications(apps), model, 1e-3);
        }
    }
}

/// Memory that is hardly faster than the disk: who copies limits the cold reads of others.
#[test]
fn memory_limits_transfers_that_cross_it() {
    let text = format!(
        r#"{}
        [[file]]
        path = "/data/{{n}}"
        size = "2 GB"
        count = 4
        [[process]]
        name = "p{{n}}"
        count = 4
        start = "0.{{n}} s"
        do = [ {{ read = "/data/{{n}}" }}, {{ read = "/data/{{n}}" }}, {{ write = "/data/w{{n}}", size = "1 GB" }} ]"#,
        CLUSTER.replace("4 GB/s", "700 MB/s").replace("3 GB/s", "600 MB/s")
    );
    for model in MODELS {
        assert_alike(&text, model, 1e-2);
    }
}

/// Here it is who reads that memory holds back, or who computes nothing and writes.
#[test]
fn memory_slower_than_a_disk_limits_whoever_is_alone() {
    let text = format!(
        r#"{}
        [[file]]
        path = "/data/f"
        size = "1 GB"
        [[process]]
        name = "p"
        do = [ {{ read = "/data/f" }}, {{ read = "/data/f" }}, {{ write = "/data/g", size = "500 MB" }} ]"#,
        CLUSTER.replace("4 GB/s", "100 MB/s").replace("3 GB/s", "90 MB/s")
    );
    for model in MODELS {
        assert_alike(&text, model, 1e-3);
    }
}

#[test]
fn every_operation_on_files_ends_when_it_does_in_our_engine() {
    let text = format!(
        r#"{CLUSTER}
        [[file]]
        path = "/data/f"
        size = "1 GB"
        [[process]]
        name = "p"
        do = [
          {{ readahead = "/data/f", size = "100 MB" }}, {{ sleep = "1 s" }}, {{ read = "/data/f", size = "200 MB" }},
          {{ write = "/data/g", size = "400 MB" }}, {{ sync_file_range = "/data/g", size = "200 MB", flags = ["WRITE", "WAIT_AFTER"] }},
          {{ fdatasync = "/data/g" }}, {{ write = "/data/g", offset = "0 B", size = "400 MB" }}, {{ syncfs = "/data" }},
          {{ write = "/data/g", offset = "0 B", size = "400 MB" }}, {{ sync = true }},
          {{ fadvise = "/data/g", advice = "dontneed" }}, {{ read = "/data/g" }}, {{ drop_caches = true }}, {{ read = "/data/g" }},
          {{ unlink = "/data/g" }}, {{ write = "/data/g", size = "100 MB" }}, {{ read = "/data/g" }},
        ]"#
    );
    for model in MODELS {
        assert_alike(&text, model, 1e-3);
    }
}

/// Which part of a second each moment is of: what binds a transfer, the policy or the device.
#[test]
fn time_is_of_the_policy_while_its_limit_binds_and_of_the_device_otherwise() {
    let mut transfers = Transfers::new(&host());
    let (flow, mut orders) = (FlowId { number: 1, slot: 0 }, Vec::new());
    let path = transfers.mounts()[0].read;
    let spec = FlowSpec { path, bytes: 1000, weight: 1.0, cap: None, watched: true, tag: 0, request: 0 };
    transfers.start(Nanos::ZERO, flow, spec, &mut orders);
    let at = |second: u64| Nanos(second * 1_000_000_000);
    let mut step = |second, bytes_per_s| {
        transfers.set_cap(at(second), flow, Some((100.0, Part::CpuCopy)), &mut orders);
        transfers.set_rate(at(second), &Rate { transfer: TransferId(1), bytes_per_s });
        transfers.settle(at(second), &mut Vec::new(), &mut Vec::new());
    };
    step(0, 100.0);
    step(3, 50.0);
    step(4, 99.99999999);
    let (_, completion) = transfers.complete(at(9), TransferId(1)).unwrap();
    let seconds = |part| completion.parts.get(part).as_seconds();
    assert_eq!((seconds(Part::CpuCopy), seconds(Part::DeviceRead)), (8.0, 1.0));
    let limits: Vec<_> = orders.iter().filter(|order| matches!(order, Order::Limit { .. })).collect();
    assert_eq!(limits, [&Order::Limit { transfer: TransferId(1), limit: Some(100.0) }], "told once");
    transfers.start(at(9), flow, spec, &mut orders);
    orders.clear();
    for (limit, is_told) in [(100.0, true), (100.00001, false), (99.0, true), (1.0, true), (1e9, true)] {
        transfers.set_cap(at(9), flow, Some((limit, Part::CpuCopy)), &mut orders);
        assert_eq!(orders.pop().is_some(), is_told, "{limit}");
    }
}

fn host() -> Host {
    small("kernel").host().clone()
}

#[test]
fn a_disk_moves_what_it_is_told_and_passes_over_what_has_ended() {
    let mut disks = Disks::new(&host());
    let (transfer, limit) = (TransferId(1), Some(100e6));
    let start = |transfer| {
        let (device, direction) = (DeviceId(0), Direction::Read);
        Order::Start { transfer, device, direction, bytes: 510_000_000, weight: 1.0, limit: None }
    };
    // One that changes when it is limited is told twice.
    let rates = |disks: &mut Disks, now| {
        let mut rates: Vec<f64> = disks.rates(now).iter().map(|rate| rate.bytes_per_s).collect();
        rates.dedup();
        rates
    };
    let second = Nanos(1_000_000_000);
    disks.carry_out(Nanos::ZERO, &start(transfer));
    assert_eq!((rates(&mut disks, Nanos::ZERO), disks.next_event()), (vec![510e6], Some(second)));
    disks.carry_out(Nanos::ZERO, &Order::Limit { transfer, limit });
    assert_eq!(rates(&mut disks, Nanos::ZERO), [100e6]);
    disks.carry_out(second, &Order::Limit { transfer, limit });
    assert_eq!(rates(&mut disks, second), [100e6], "it is told again, although it is the same");
    disks.carry_out(second, &Order::Shorten { transfer, bytes: 100_000_000 });
    disks.rates(second);
    assert_eq!(disks.completed(second), [transfer]);
    for order in
        [Order::Limit { transfer, limit }, Order::Shorten { transfer, bytes: 1 }, Order::Cancel { transfer }]
    {
        disks.carry_out(second, &order);
        assert_eq!((rates(&mut disks, second), disks.next_event()), (vec![], None), "{order:?}");
    }
    let other = TransferId(2);
    disks.carry_out(second, &start(other));
    disks.rates(second);
    disks.carry_out(second, &Order::Limit { transfer: other, limit });
    disks.carry_out(second, &Order::Cancel { transfer: other });
    assert_eq!((rates(&mut disks, second), disks.next_event()), (vec![], None));
    assert_eq!(disks.completed(Nanos(9_000_000_000)), []);
}

#[test]
fn the_other_simulator_is_told_of_its_transfers_and_of_no_copies() {
    let mut transfers = Transfers::new(&host());
    let mut orders = Vec::new();
    let flow = |number| FlowId { number, slot: number as u32 };
    let now = Nanos::ZERO;
    let spec =
        |path| FlowSpec { path, bytes: 1000, weight: 1.0, cap: None, watched: true, tag: 0, request: 0 };
    let read = spec(transfers.mounts()[0].read);
    transfers.start(now, flow(1), read, &mut orders);
    orders.clear();
    for bytes in [2000, 1000] {
        transfers.shorten(now, flow(1), bytes, &mut orders);
        assert_eq!(orders, [], "it is no longer than that");
    }
    transfers.shorten(now, flow(1), 400, &mut orders);
    assert_eq!(orders, [Order::Shorten { transfer: TransferId(1), bytes: 400 }]);
    let (ended, completion) = transfers.complete(now, TransferId(1)).unwrap();
    assert_eq!((ended, completion.bytes), (flow(1), 400));
    transfers.start(now, flow(2), read, &mut orders);
    orders.clear();
    transfers.cancel(now, flow(2), &mut orders);
    assert_eq!(orders, [Order::Cancel { transfer: TransferId(2) }]);
    let rate = Rate { transfer: TransferId(2), bytes_per_s: 1.0 };
    assert_eq!(transfers.check(&rate), Err(EmbedError::NoSuchTransfer(2)));
    orders.clear();
    let copy = FlowSpec { bytes: 4_000_000_000, ..spec(transfers.memory().0) };
    transfers.start(now, flow(3), copy, &mut orders);
    transfers.shorten(now, flow(3), 2_000_000_000, &mut orders);
    transfers.settle(now, &mut Vec::new(), &mut orders);
    assert_eq!(transfers.next_event(), Some(Nanos(500_000_000)));
    transfers.cancel(now, flow(3), &mut orders);
    transfers.settle(now, &mut Vec::new(), &mut orders);
    assert_eq!((transfers.next_event(), orders), (None, vec![]));
}

fn small(model: &str) -> PageCache {
    let machine = CLUSTER.replace("[machine]", "");
    PageCache::from_toml(&machine, model, &[], FilePath::new(""), FilePath::new("")).unwrap()
}

fn write(bytes: u64) -> Action {
    Action::Write { path: "/data/f".into(), offset: None, bytes: Bytes(bytes), call: None, vector: 1 }
}

fn read(path: &str, bytes: u64) -> Action {
    let (bytes, buffer) = (Some(Bytes(bytes)), Buffer::Reused);
    Action::Read { path: path.into(), offset: Some(0), bytes, call: None, vector: 1, buffer }
}

#[test]
fn wrong_calls_are_refused_and_change_nothing() {
    let mut cache = small("no-cache");
    let (task, none) = (cache.add_task("task"), TaskId(7));
    assert_eq!(cache.devices(), [Arc::from("ssd")]);
    let transfer = |number| Rate { transfer: TransferId(number), bytes_per_s: 1.0 };
    let nanos = Nanos(5_000_000_000);
    assert_eq!(cache.begin(nanos, none, &write(1)), Err(EmbedError::NoSuchTask(7)));
    assert_eq!(cache.begin(nanos, task, &read("/data/f", 1)), Err(EmbedError::NoSuchFile("/data/f".into())));
    let outside = cache.begin(nanos, task, &read("/etc/f", 1));
    assert_eq!(outside, Err(EmbedError::NoMount { path: "/etc/f".into(), mounts: "/data".into() }));
    assert!(matches!(cache.begin(nanos, task, &write(1 << 50)), Err(EmbedError::DiskFull { .. })));
    let memory = Action::Allocate { bytes: Bytes(1 << 50) };
    assert!(matches!(cache.begin(nanos, task, &memory), Err(EmbedError::OutOfMemory { .. })));
    let sleep = Action::Sleep { time: Nanos(1), random: None };
    assert_eq!(cache.begin(nanos, task, &sleep), Err(EmbedError::NotOurs("sleep")));
    cache.begin(nanos, task, &write(1_000)).unwrap();
    assert_eq!(cache.begin(nanos, task, &write(1)), Err(EmbedError::Busy(0)));
    assert_eq!(cache.remove_task(nanos, task), Err(EmbedError::Busy(0)));
    assert_eq!(cache.advance(nanos, &[transfer(9)]), Err(EmbedError::NoSuchTransfer(9)));
    for bytes_per_s in [f64::NAN, f64::INFINITY, -1.0] {
        let none = cache.advance(nanos, &[Rate { bytes_per_s, ..transfer(1) }]);
        assert!(matches!(none, Err(EmbedError::NotARate(_))));
    }
    let earlier = cache.advance(Nanos(1), &[]);
    assert_eq!(earlier, Err(EmbedError::TimeRunsBack { now: Nanos(1), last: nanos }));
    cache.advance(nanos, &[transfer(1)]).unwrap();
    cache.completed(nanos, TransferId(1)).unwrap();
    assert_eq!(cache.completed(nanos, TransferId(1)), Err(EmbedError::NoSuchTransfer(1)));
    let size = cache.size(&"/data/f".into());
    assert_eq!(size, Ok(Bytes(1_000)));
    cache.begin(nanos, task, &read("/data/f", 1_000)).unwrap();
    let added = cache.add_file(nanos, &"/data/f".into(), Bytes(1), Bytes(0), Bytes(0));
    assert_eq!(added, Err(EmbedError::FileExists("/data/f".into())));
}

#[test]
fn a_call_that_is_left_out_is_noticed() {
    let mut cache = small("wrench");
    cache.add_file(Nanos::ZERO, &"/data/f".into(), Bytes(1 << 20), Bytes(1 << 20), Bytes(1 << 20)).unwrap();
    let due = cache.next_call().expect("the flusher wakes");
    let late = cache.advance(due + Nanos(1_000_000_000), &[]);
    assert_eq!(late, Err(EmbedError::Late { now: due + Nanos(1_000_000_000), due }));
    assert_eq!(cache.levels(due + Nanos(2_000)), Err(EmbedError::Late { now: due + Nanos(2_000), due }));
    cache.advance(due + TOLERANCE, &[]).unwrap();
    assert!(matches!(cache.levels(due), Err(EmbedError::TimeRunsBack { .. })));
}

#[test]
fn memory_of_a_task_that_is_no_more_is_free() {
    let mut cache = small("kernel");
    let task = cache.add_task("task");
    cache.begin(Nanos::ZERO, task, &Action::Allocate { bytes: Bytes(1 << 30) }).unwrap();
    assert_eq!(cache.levels(Nanos::ZERO).unwrap().anonymous, Bytes(1 << 30));
    assert!(matches!(cache.orders().collect::<Vec<_>>()[..], [Order::Done { .. }]));
    cache.remove_task(Nanos::ZERO, task).unwrap();
    assert_eq!(cache.levels(Nanos::ZERO).unwrap().anonymous, Bytes::ZERO);
    assert_eq!(cache.add_task("task"), task);
    for _ in 0..3 {
        cache.begin(Nanos::ZERO, task, &Action::Allocate { bytes: Bytes(40 << 30) }).unwrap();
        assert_eq!(cache.orders().count(), 1);
        cache.remove_task(Nanos::ZERO, task).unwrap();
        assert_eq!(cache.add_task("task"), task);
    }
    let all = cache.policy.most_anonymous().expect("the kernel keeps some for itself");
    cache.begin(Nanos::ZERO, task, &Action::Allocate { bytes: all }).unwrap();
    assert_eq!(cache.orders().count(), 1);
    assert!(matches!(cache.begin(Nanos::ZERO, task, &write(1)), Err(EmbedError::OutOfMemory { .. })));
}

#[test]
fn what_is_cached_of_a_file_is_known_and_goes_with_its_end() {
    let path = "/data/f".into();
    let mut cache = small("kernel");
    cache.add_file(Nanos::ZERO, &path, Bytes(1 << 20), Bytes(1 << 19), Bytes(1 << 18)).unwrap();
    let levels =
        |cache: &mut PageCache| cache.residency(Nanos::ZERO, &path).map(|each| (each.cached, each.dirty));
    assert_eq!(levels(&mut cache), Ok((Bytes(1 << 19), Bytes(1 << 18))));
    let task = cache.add_task("task");
    for (size, cached) in [(1 << 20, 1 << 19), (1 << 16, 1 << 16), (1 << 21, 1 << 16)] {
        let cut = Action::Truncate { path: path.clone(), size: Bytes(size) };
        cache.begin(Nanos::ZERO, task, &cut).unwrap();
        assert_eq!(cache.orders().filter(|order| matches!(order, Order::Done { .. })).count(), 1);
        assert_eq!((cache.size(&path), levels(&mut cache).unwrap().0), (Ok(Bytes(size)), Bytes(cached)));
    }
}

#[test]
fn levels_are_those_of_an_instant_between_calls() {
    let mut cache = small("kernel");
    let task = cache.add_task("task");
    cache.begin(Nanos::ZERO, task, &write(100_000_000)).unwrap();
    cache.advance(Nanos::ZERO, &[]).unwrap();
    let half = Nanos(cache.next_call().expect("a copy ends").0 / 2);
    let cached = cache.levels(half).unwrap().cached.as_f64();
    // 3 GB/s, and no later than when the copy has ended.
    assert!((cached / (3.0 * half.0 as f64) - 1.0).abs() < 0.01, "{cached} after {half}");
}

#[test]
fn a_machine_of_one_host_with_disks_is_taken_and_no_other() {
    let refusal = |text: &str| {
        let nowhere = FilePath::new("");
        PageCache::from_toml(text, "kernel", &[], nowhere, nowhere).map(|_| ()).unwrap_err().to_string()
    };
    let one = r#"{ cores = 1, memory = { size = "1 GB", read = "1 GB/s", write = "1 GB/s" }, disk.a = { size = "1 GB", read = "1 MB/s", write = "1 MB/s" }, mount."/a".disk = "a" }"#;
    let hosts = format!("host.a = {one}\nhost.b = {one}");
    insta::assert_snapshot!(refusal(&hosts), @"<machine>: there are 2 hosts, and each has a page cache of its own; describe one machine");
}

/// What is still cached of a file lies among what is not.
#[test]
fn a_file_larger_than_memory_is_read_again() {
    let text = format!(
        r#"{}
        [[process]]
        name = "p"
        do = [{{ write = "/data/f", size = "20 GB", call = "1 MiB" }}, {{ fsync = "/data/f" }}, {{ read = "/data/f", call = "1 MiB" }}]"#,
        CLUSTER.replace("64 GB", "16 GB")
    );
    for model in MODELS {
        assert_alike(&text, model, 1e-4);
    }
}

#[test]
fn a_transfer_ends_when_it_is_told_and_never_before() {
    for action in [write(1_000), read("/data/in", 1_000)] {
        let mut cache = small("no-cache");
        cache.add_file(Nanos::ZERO, &"/data/in".into(), Bytes(1_000), Bytes(0), Bytes(0)).unwrap();
        let task = cache.add_task("task");
        cache.begin(Nanos::ZERO, task, &action).unwrap();
        let [Order::Start { transfer, .. }] = cache.orders().collect::<Vec<_>>()[..] else {
            panic!("it starts")
        };
        for bytes_per_s in [1e12, 1.0, 0.0, 5e8] {
            cache.advance(cache.now(), &[Rate { transfer, bytes_per_s }]).unwrap();
            cache.orders().count();
            assert_eq!(cache.next_call(), None, "nothing happens until the other simulator says so");
            let years = cache.now() + Nanos(1_000_000_000_000_000_000);
            cache.advance(years, &[]).unwrap();
            assert_eq!(cache.orders().count(), 0);
        }
        cache.completed(cache.now(), transfer).unwrap();
        let [Order::Done { outcome, .. }] = cache.orders().collect::<Vec<_>>()[..] else {
            panic!("it is done")
        };
        assert_eq!((outcome.parts.total(), outcome.from_device), (cache.now(), Bytes(1_000)));
    }
}

#[test]
fn a_file_is_there_while_it_is_written_for_the_first_time() {
    let path = "/data/f".into();
    for model in MODELS {
        let mut cache = small(model);
        let [writer, other] = [cache.add_task("task"), cache.add_task("task")];
        assert_eq!(cache.size(&path), Err(EmbedError::NoSuchFile(path.clone())));
        cache.begin(Nanos::ZERO, writer, &write(1_000_000)).unwrap();
        assert_eq!(cache.size(&path), Ok(Bytes(1_000_000)), "{model}: the size to be");
        let early = cache.begin(Nanos::ZERO, other, &read("/data/f", 1));
        assert!(matches!(early, Err(EmbedError::BeyondEnd { size: Bytes::ZERO, .. })), "{model}: {early:?}");
        cache.begin(Nanos::ZERO, other, &Action::Truncate { path: path.clone(), size: Bytes(10) }).unwrap();
        assert_eq!(cache.size(&path), Ok(Bytes(1_000_000)), "{model}: the write goes on");
        cache.begin(Nanos::ZERO, other, &read("/data/f", 10)).unwrap();
    }
}

#[test]
fn files_opened_with_flags_take_as_long_as_in_our_engine() {
    for flags in ["O_DIRECT", "O_SYNC", "O_DSYNC", "O_APPEND", "RWF_DONTCACHE"] {
        let text = format!(
            r#"{}
            [[process]]
            name = "p"
            do = [
              {{ open = "/data/f", create = true, flags = ["{flags}"] }},
              {{ write = "/data/f", size = "64 MiB", call = "1 MiB" }}, {{ write = "/data/f", size = "64 MiB", call = "1 MiB" }},
              {{ read = "/data/f", call = "1 MiB" }}, {{ close = "/data/f" }},
              {{ write = "/data/f", size = "64 MiB", call = "1 MiB" }}, {{ read = "/data/f" }},
            ]"#,
            CLUSTER.replace("cores = 32", "cores = 32\nkernel.version = \"6.17\"")
        );
        for model in MODELS {
            assert_alike(&text, model, 1e-4);
        }
    }
}

/// A simulator without files that are open gives the flags with each call.
#[test]
fn flags_of_a_call_are_those_of_an_open_file() {
    let flags = |flag| OpenFlags::from_iter([flag]);
    let machine = CLUSTER.replace("[machine]", "kernel.version = \"6.1\"");
    let mut cache =
        PageCache::from_toml(&machine, "kernel", &[], FilePath::new(""), FilePath::new("")).unwrap();
    let task = cache.add_task("task");
    let [direct, append, dontcache] = [OpenFlag::Direct, OpenFlag::Append, OpenFlag::DontCache].map(flags);
    let unaligned = cache.begin_with(Nanos::ZERO, task, &write(1_000), direct);
    assert!(matches!(unaligned, Err(EmbedError::Unaligned { block: Bytes(512), .. })), "{unaligned:?}");
    assert_eq!(cache.size(&"/data/f".into()), Err(EmbedError::NoSuchFile("/data/f".into())));
    let unknown = cache.begin_with(Nanos::ZERO, task, &write(4_096), dontcache);
    assert!(matches!(unknown, Err(EmbedError::NotSupported { .. })), "{unknown:?}");
    cache.begin_with(Nanos::ZERO, task, &write(4_096), direct).unwrap();
    let [Order::Start { transfer, bytes: 4_096, .. }] = cache.orders().collect::<Vec<_>>()[..] else {
        panic!("it goes to the device")
    };
    cache.advance(Nanos::ZERO, &[Rate { transfer, bytes_per_s: 4_096e3 }]).unwrap();
    cache.completed(Nanos(1_000_000), transfer).unwrap();
    while !cache.orders().any(|order| matches!(order, Order::Done { .. })) {
        let next = cache.next_call().expect("it ends by itself");
        cache.advance(next, &[]).unwrap();
    }
    assert_eq!(cache.levels(cache.now()).unwrap().cached, Bytes::ZERO);
    let zero =
        Action::Write { path: "/data/f".into(), offset: Some(0), bytes: Bytes(4_096), call: None, vector: 1 };
    cache.begin_with(cache.now(), task, &zero, append).unwrap();
    assert_eq!(cache.size(&"/data/f".into()), Ok(Bytes(8_192)));
}

#[test]
fn more_cached_bytes_than_a_file_has_are_refused() {
    let mut cache = small("kernel");
    for (cached, dirty) in [(11, 0), (10, 11), (5, 6)] {
        let added = cache.add_file(Nanos::ZERO, &"/data/f".into(), Bytes(10), Bytes(cached), Bytes(dirty));
        assert!(matches!(added, Err(EmbedError::MoreThanFile { size: Bytes(10), .. })), "{added:?}");
    }
    cache.add_file(Nanos::ZERO, &"/data/f".into(), Bytes(10), Bytes(10), Bytes(10)).unwrap();
}

/// Nobody waits for it, and its memory is given back when it can be.
#[test]
fn a_killed_task_is_removed_when_its_operation_is_done() {
    let size = Bytes(1 << 30);
    let mut fresh = read("/data/in", size.0);
    if let Action::Read { buffer, .. } = &mut fresh {
        *buffer = Buffer::Fresh;
    }
    for (model, action) in MODELS
        .iter()
        .flat_map(|model| [&fresh, &write(1 << 30), &Action::Sync].map(|each| (model, each.clone())))
    {
        let mut cache = small(model);
        cache.add_file(Nanos::ZERO, &"/data/in".into(), size, Bytes(1 << 20), Bytes(1 << 20)).unwrap();
        let mut disks = Disks::new(cache.host());
        let task = cache.add_task("task");
        cache.begin(Nanos::ZERO, task, &action).unwrap();
        let mut now = Nanos::ZERO;
        while let Err(busy) = cache.remove_task(now, task) {
            assert_eq!(busy, EmbedError::Busy(task.0), "{model}: {action:?}");
            cache.orders().for_each(|order| disks.carry_out(now, &order));
            cache.advance(now, &disks.rates(now)).unwrap();
            now = earlier(disks.next_event(), cache.next_call()).map_or(now, |next| next.max(now));
            disks.completed(now).into_iter().for_each(|transfer| cache.completed(now, transfer).unwrap());
        }
        assert_eq!(cache.levels(cache.now()).unwrap().anonymous, Bytes::ZERO, "{model}: {action:?}");
    }
}

/// A program in SimGrid could add files before the start alone, and a file that arrived later had to be written first.
#[test]
fn a_file_may_come_at_any_time_with_its_pages() {
    let late: Arc<str> = "/data/late".into();
    for model in ["kernel", "wrench"] {
        let mut cache = small(model);
        let task = cache.add_task("task");
        cache.begin(Nanos::ZERO, task, &write(1 << 20)).unwrap();
        let mut disks = Disks::new(cache.host());
        play(&mut cache, &mut disks, Nanos(20_000_000_000));
        let (now, before) = (cache.now(), cache.levels(cache.now()).unwrap());
        cache.add_file(now, &late, Bytes(8 << 20), Bytes(4 << 20), Bytes(1 << 20)).unwrap();
        let after = cache.levels(now).unwrap();
        assert_eq!(
            (after.cached - before.cached, after.dirty - before.dirty),
            (Bytes(4 << 20), Bytes(1 << 20))
        );
        cache.begin(now, task, &read("/data/late", 8 << 20)).unwrap();
        let [Outcome { from_cache, .. }] = play(&mut cache, &mut disks, now + Nanos(1_000_000_000))[..]
        else {
            panic!("{model}: the read is over")
        };
        assert_eq!(from_cache, Bytes(4 << 20), "{model}");
        let now = cache.now();
        cache.begin(now, task, &Action::Fsync { path: late.clone() }).unwrap();
        play(&mut cache, &mut disks, now + Nanos(1_000_000_000));
        assert_eq!(cache.residency(cache.now(), &late).unwrap().dirty, Bytes::ZERO, "{model}");
        let huge = Bytes(after.total.0 + (1 << 30));
        let refused = cache.add_file(cache.now(), &"/data/huge".into(), huge, huge, Bytes::ZERO);
        assert!(matches!(refused, Err(EmbedError::NoRoom { .. })), "{model}: {refused:?}");
    }
}

/// Lets time pass until then, and gives the outcomes of the operations that have ended.
fn play(cache: &mut PageCache, disks: &mut Disks, until: Nanos) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut now = cache.now();
    loop {
        for order in cache.orders() {
            disks.carry_out(now, &order);
            if let Order::Done { outcome, .. } = order {
                outcomes.push(outcome);
            }
        }
        cache.advance(now, &disks.rates(now)).unwrap();
        let next = earlier(disks.next_event(), cache.next_call());
        if now == until && next.is_none_or(|next| next > until) {
            return outcomes;
        }
        now = next.unwrap_or(until).clamp(now, until);
        disks.completed(now).into_iter().for_each(|transfer| cache.completed(now, transfer).unwrap());
    }
}
