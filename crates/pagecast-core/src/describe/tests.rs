//! Describes small recordings whose statistics are obvious.

use std::sync::Arc;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::trace::Writer;
use crate::units::Bytes;
use crate::workload::{Action, Buffer, Fd, OpenFlags, Operation, Order, Pattern};

/// A request of a process to a file.
#[derive(Clone, Copy, Debug)]
struct Moved {
    process: u32,
    file: usize,
    offset: u64,
    bytes: u64,
    is_write: bool,
}

fn operation(path: &Arc<str>, offset: Option<u64>, bytes: u64, is_write: bool) -> Operation {
    let path = path.clone();
    match is_write {
        true => Action::Write { path, offset, bytes: Bytes(bytes), call: None, vector: 1 }.into(),
        false => {
            let bytes = Some(Bytes(bytes));
            Action::Read { path, offset, bytes, call: None, vector: 1, buffer: Buffer::Reused }.into()
        }
    }
}

fn trace_of(all: &[Moved]) -> Trace {
    let mut writer = Writer::new("x", Level::Files);
    let processes: Vec<u32> = ["a", "b"].into_iter().map(|name| writer.process(name).unwrap()).collect();
    let paths: Vec<Arc<str>> = ["/f", "/g"].into_iter().map(|path| writer.path(path).unwrap()).collect();
    for (at, moved) in all.iter().enumerate() {
        let operation = operation(&paths[moved.file], Some(moved.offset), moved.bytes, moved.is_write);
        let process = processes[moved.process as usize];
        writer.record(process, Some(Nanos(at as u64 * 1_000_000)), None, &operation).unwrap();
    }
    writer.finish().unwrap()
}

fn reads(places: impl IntoIterator<Item = (u64, u64)>) -> Trace {
    let moved = |(offset, bytes)| Moved { process: 0, file: 0, offset, bytes, is_write: false };
    trace_of(&places.into_iter().map(moved).collect::<Vec<_>>())
}

fn classes_of(trace: &Trace) -> String {
    let rows = describe(trace, Options::default()).unwrap().classes;
    rows.iter().map(|row| format!("{} {}", row.class, row.requests)).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_class_is_that_of_the_run() {
    let run = |from: u64, requests: u64| (0..requests).map(move |at| ((from + at) << 12, 4096));
    assert_snapshot!(classes_of(&reads(run(0, 1).chain(run(9, 7)).chain(run(99, 8)))), @"random 1, mixed 7, sequential 8, large sequential 0");
    assert_snapshot!(classes_of(&reads([(0, 1 << 20), (5 << 20, 1 << 20), (6 << 20, 4096)])), @"random 0, mixed 1, sequential 0, large sequential 2");
    assert_snapshot!(classes_of(&reads((0..9).rev().map(|page| (page << 12, 4096)))), @"random 9, mixed 0, sequential 0, large sequential 0");
}

#[test]
fn processes_that_share_a_file_have_runs_of_their_own() {
    let both = |at: u64| {
        [0, 1].map(|process| Moved {
            process,
            file: 0,
            offset: (u64::from(process) * 100 + at) << 12,
            bytes: 4096,
            is_write: false,
        })
    };
    let all: Vec<Moved> = (0..8).flat_map(both).collect();
    assert_snapshot!(classes_of(&trace_of(&all)), @"random 0, mixed 0, sequential 16, large sequential 0");
}

#[test]
fn calls_of_an_operation_and_positions_of_descriptors_count() {
    let mut writer = Writer::new("x", Level::Files);
    let (process, path) = (writer.process("a").unwrap(), writer.path("/f").unwrap());
    let open =
        Action::Open { path: path.clone(), create: true, truncate: false, flags: OpenFlags::default() };
    let mut record = |operation: Operation| writer.record(process, None, None, &operation).unwrap();
    record(Operation { fd: Some(Fd(3)), ..open.into() });
    for _ in 0..3 {
        record(Operation { fd: Some(Fd(3)), ..operation(&path, None, 4096, true) });
    }
    let call = Some(Bytes(4096));
    record(
        Action::Write { path: path.clone(), offset: Some(12288), bytes: Bytes(20480), call, vector: 1 }
            .into(),
    );
    let pattern = Pattern {
        path: path.clone(),
        offset: 0,
        range: Some(Bytes(40960)),
        bytes: None,
        time: None,
        call: Bytes(4096),
        order: Order::Uniform { once: true },
        write_share: 0.0,
        depth: 1,
        by: Default::default(),
        rate: None,
        seed: 0,
    };
    record(Action::Pattern(Box::new(pattern)).into());
    let description = describe(&writer.finish().unwrap(), Options::default()).unwrap();
    assert_eq!((description.writes, description.reads), (8, 10));
    assert_eq!(description.classes[2], ClassRow { class: "sequential", requests: 8, bytes: 32768 });
    assert_eq!(description.footprint_bytes, 40960);
    assert_eq!(description.duration_s, None);
    assert_eq!(description.operations, [OperationRow { operation: "open", count: 1 }]);
}

#[test]
fn a_recording_without_requests_has_no_curve() {
    for (requests, footprint) in [(vec![], 0), (vec![(u64::MAX - 1, 1)], PAGE), (vec![(0, 0)], 0)] {
        let description = describe(&reads(requests.clone()), Options::default()).unwrap();
        assert_eq!(description.requests, requests.len() as u64);
        assert_eq!(description.footprint_bytes, footprint);
        assert!(description.hit_ratio.iter().all(|point| point.hit_ratio == 0.0));
    }
}

/// Hits of reads and of all in a list of pages of this length.
fn obvious(all: &[Moved], pages: usize) -> (f64, f64) {
    let (mut cache, mut hits, mut uses) = (Vec::new(), [0_u64; 2], [0_u64; 2]);
    for moved in all {
        let of = usize::from(moved.is_write);
        for page in moved.offset / PAGE..(moved.offset + moved.bytes).div_ceil(PAGE) {
            uses[of] += 1;
            if let Some(at) = cache.iter().position(|&each| each == (moved.file, page)) {
                hits[of] += 1;
                cache.remove(at);
            }
            cache.push((moved.file, page));
            if cache.len() > pages {
                cache.remove(0);
            }
        }
    }
    let ratio = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    (ratio(hits[0], uses[0]), ratio(hits[0] + hits[1], uses[0] + uses[1]))
}

fn moved() -> impl Strategy<Value = Moved> {
    (0..2_u32, 0..2_usize, 0..40_u64, 1..5_u64, any::<bool>()).prop_map(
        |(process, file, page, pages, is_write)| Moved {
            process,
            file,
            offset: page * PAGE,
            bytes: pages * PAGE,
            is_write,
        },
    )
}

proptest! {
    #[test]
    fn the_curve_equals_lists_of_pages(all in prop::collection::vec(moved(), 1..300)) {
        let description = describe(&trace_of(&all), Options::default()).unwrap();
        for point in &description.hit_ratio {
            let (reads, both) = obvious(&all, (point.memory_bytes / PAGE) as usize);
            prop_assert_eq!(point.read_hit_ratio.unwrap_or_default(), reads);
            prop_assert_eq!(point.hit_ratio, both);
        }
        let classes: u64 = description.classes.iter().map(|row| row.requests).sum();
        prop_assert_eq!(classes, all.len() as u64);
        let of_files: u64 = description.files.iter().map(|row| row.footprint_bytes).sum();
        prop_assert_eq!(of_files, description.footprint_bytes);
        let last = description.working_set.last().expect("there are requests");
        prop_assert_eq!((last.requests, last.footprint_bytes), (all.len() as u64, description.footprint_bytes));
    }
}

#[test]
fn a_sample_is_within_its_error() {
    // A tenth of the pages has half of the requests.
    let page = |at: u64| {
        let random = mix(at);
        if random.is_multiple_of(2) { (random >> 8) % 4_000 } else { (random >> 8) % 40_000 }
    };
    let trace = reads((0..400_000).map(|at| (page(at) * PAGE, PAGE)));
    let exact = describe(&trace, Options::default()).unwrap();
    let sampled = describe(&trace, Options { most_pages: 4_000, ..Options::default() }).unwrap();
    assert!(exact.is_exact && !sampled.is_exact);
    let apart = (sampled.footprint_bytes as f64 / exact.footprint_bytes as f64 - 1.0).abs();
    assert!(apart < 0.05, "{apart}");
    for point in &sampled.hit_ratio {
        let near = exact.hit_ratio.iter().min_by_key(|other| other.memory_bytes.abs_diff(point.memory_bytes));
        let near = near.expect("there are points");
        if near.memory_bytes.abs_diff(point.memory_bytes) * 20 < point.memory_bytes {
            let apart = (near.hit_ratio - point.hit_ratio).abs();
            assert!(apart < 4.0 * point.error + 0.02, "{apart} at {}", point.memory_bytes);
        }
    }
}
