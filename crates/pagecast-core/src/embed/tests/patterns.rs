//! Checks that the calls of patterns are those of a scenario, at the same times.

use super::*;
use crate::result::Latency;
use crate::units::Bytes;

/// Asserts that operations end when they do in our engine, and that as many calls have the same durations, of each process, file and kind.
#[track_caller]
pub(super) fn assert_same_latencies(text: &str, model: &str, tolerance: f64) {
    assert_alike(text, model, tolerance);
    let scenario = scenario(text);
    let result = simulate(&scenario, model, Settings::default()).unwrap();
    let other = Other::new(&scenario, model).run();
    let figures = |each: &Latency| {
        [each.mean(), each.quantile(0.5), each.quantile(0.9), each.quantile(0.99), each.longest]
            .map(Nanos::as_seconds)
    };
    let mut seen = 0;
    for ((process, path, operation), ours) in result.summary().latency.rows(&result.paths) {
        let Some(path) = result.paths.get(path as usize) else { continue };
        let task = &scenario.processes[process as usize].name;
        let inside = other.cache.latency(Some(task), Some(path), Some(operation));
        assert_eq!((inside.count, inside.bytes), (ours.count, ours.bytes), "{model}: {operation} of {task}");
        for (one, other) in figures(ours).into_iter().zip(figures(&inside)) {
            let what =
                format!("{model}: {operation} of {task}: {:?} and {:?}", figures(ours), figures(&inside));
            assert!((one - other).abs() <= tolerance.max(1e-3) * one + 1e-6, "{what}");
        }
        seen += 1;
    }
    assert!(seen > 0, "some operations are on files");
}

fn of_one(program: &str) -> String {
    format!(
        r#"{CLUSTER}
        [[file]]
        path = "/data/f"
        size = "1 GB"
        cached = "300 MB"
        [[process]]
        name = "p"
        do = [ {program} ]"#
    )
}

#[test]
fn every_order_of_calls_is_that_of_a_scenario() {
    for pattern in [
        "random = 'uniform', seed = 3",
        "random = 'zipf:1.1'",
        "random = 'normal:10 %', writes = '30 %'",
        "backwards = true",
        "stride = '1 MiB'",
    ] {
        let program = format!(
            "{{ read = '/data/f', size = '4 MiB', call = '16 KiB', pattern = {{ {pattern} }} }}, {{ fsync = '/data/f' }},
             {{ read = '/data/f', size = '1 MiB', call = '4 KiB', pattern = {{ {pattern} }} }}"
        );
        for model in ["kernel", "wrench", "no-cache"] {
            assert_same_latencies(&of_one(&program), model, 1e-4);
        }
    }
}

#[test]
fn calls_that_are_under_way_at_once_are_those_of_a_scenario() {
    for by in ["threads", "libaio", "io_uring", "posix_aio"] {
        for open in ["{ open = '/data/f', flags = ['O_DIRECT'] },", ""] {
            let program = format!(
                "{open} {{ read = '/data/f', size = '4 MiB', call = '16 KiB', by = '{by}',
                 pattern = {{ random = 'uniform', writes = '25 %', depth = 8 }} }}, {{ fsync = '/data/f' }}"
            );
            for model in ["kernel", "no-cache"] {
                assert_same_latencies(&of_one(&program), model, 1e-3);
            }
        }
    }
}

#[test]
fn calls_come_at_their_rate_and_end_with_their_time() {
    let program = "{ read = '/data/f', call = '16 KiB', for = '2 s', rate_iops = 200, pattern = { random = 'uniform', depth = 4 } },
        { write = '/data/g', size = '8 MiB', call = '64 KiB', rate = '4 MB/s' }, { read = '/data/g' }";
    for model in MODELS {
        assert_same_latencies(&of_one(program), model, 1e-4);
    }
}

#[test]
fn a_call_that_cannot_be_done_ends_its_pattern_and_is_told_once() {
    let machine = CLUSTER.replace("[machine]", "").replace("450 GB", "1 GB").replace("machine.", "");
    let host = scenario::load_machine(machine.as_bytes(), "m.toml", "".as_ref(), "".as_ref()).unwrap();
    let mut cache = PageCache::new(host.clone(), "no-cache", &[]).unwrap();
    let mut disks = Disks::new(&host.hosts[0]);
    let task = cache.add_task("writer");
    let write = "write = '/data/g', size = '2 GB', call = '100 MB', pattern = { depth = 2 }";
    cache.begin(Nanos::ZERO, task, &crate::scenario::operation(write).unwrap().action).unwrap();
    assert!(matches!(cache.begin(Nanos::ZERO, task, &Action::Sync), Err(EmbedError::Busy(_))));
    let mut refusals = Vec::new();
    let mut now = Nanos::ZERO;
    let outcome = loop {
        let mut done = None;
        for order in cache.orders() {
            disks.carry_out(now, &order);
            if let Order::Done { outcome, .. } = order {
                done = Some(outcome);
            }
        }
        refusals.extend(cache.advance(now, &disks.rates(now)).err());
        if let Some(outcome) = done {
            break outcome;
        }
        if cache.next_call().is_none_or(|due| due > now) {
            now = earlier(disks.next_event(), cache.next_call()).unwrap();
            for transfer in disks.completed(now) {
                refusals.extend(cache.completed(now, transfer).err());
            }
        }
    };
    assert!(matches!(refusals[..], [EmbedError::DiskFull { .. }]), "{refusals:?}");
    assert_eq!(outcome.parts.total(), now);
    let written = cache.latency(None, None, None).bytes;
    assert_eq!((written, cache.size(&"/data/g".into()).unwrap()), (1_000_000_000, Bytes(1_000_000_000)));
    cache.begin(now, task, &Action::Unlink { path: "/data/g".into() }).unwrap();
}

/// The calls of a pattern have numbers among the tasks, which nobody else can use, and which others have later.
#[test]
fn numbers_of_calls_are_no_tasks() {
    let mut cache = small("kernel");
    cache.add_file(Nanos::ZERO, &"/data/f".into(), Bytes(1 << 20), Bytes::ZERO, Bytes::ZERO).unwrap();
    let task = cache.add_task("reader");
    let read =
        "read = '/data/f', size = '16 KiB', call = '4 KiB', pattern = { random = 'uniform', depth = 4 }";
    cache.begin(Nanos::ZERO, task, &crate::scenario::operation(read).unwrap().action).unwrap();
    let call = TaskId(task.0 + 1);
    assert!(matches!(cache.begin(Nanos::ZERO, call, &Action::Sync), Err(EmbedError::NoSuchTask(_))));
    assert!(matches!(cache.remove_task(Nanos::ZERO, call), Err(EmbedError::NoSuchTask(_))));
    let disks = &mut Disks::new(&host());
    play(&mut cache, disks, Nanos(2_000_000_000));
    assert!((1..=4).contains(&cache.add_task("other").0), "those of the four calls are free");
}

/// Tasks of one name share rows, and do not make the same random calls.
#[test]
fn tasks_of_one_name_draw_apart() {
    let places = |names: [&str; 2]| {
        let mut cache = small("no-cache");
        cache.add_file(Nanos::ZERO, &"/data/f".into(), Bytes(1 << 30), Bytes::ZERO, Bytes::ZERO).unwrap();
        let read = crate::scenario::operation(
            "read = '/data/f', size = '4 KiB', call = '4 KiB', pattern = { random = 'uniform' }",
        );
        let read = read.unwrap().action;
        names.map(|name| {
            let task = cache.add_task(name);
            cache.begin(Nanos::ZERO, task, &read).unwrap();
            cache.tasks.get(task).call.as_ref().unwrap().call.offset
        })
    };
    let [one, other] = places(["p", "p"]);
    assert_ne!(one, other);
    assert_eq!(places(["p", "q"])[0], one);
}
