//! Limits of cgroups, and their weights. Each thread is a cgroup of its own.

use super::*;
use crate::machine::IoCost;

const MIB: u64 = 1 << 20;
const SECOND: u64 = 1000 * MS;

/// 64 requests at a time, each in 100 us, and these limits of threads on a kernel of 250 ticks in a second.
fn limited(limits: &[Limits]) -> Device {
    let limits: Vec<_> =
        limits.iter().map(|limits| (*limits != Limits::default()).then_some(*limits)).collect();
    let disk = Service::new(64, Nanos(100_000));
    Device::new(settings(Scheduler::None, 64), disk).shared(Some(Throttle::new(250, &limits)), None)
}

fn bytes(read: Option<u64>, write: Option<u64>) -> Limits {
    Limits { bytes: [read, write], requests: [None; 2] }
}

fn requests(read: Option<u64>, write: Option<u64>) -> Limits {
    Limits { bytes: [None; 2], requests: [read, write] }
}

/// The calls of each thread that are complete after so many milliseconds.
fn complete(
    device: Device,
    each: &[(Direction, u64, IoPriority)],
    depths: &[u32],
    milliseconds: u64,
) -> Vec<u64> {
    Threads::of(device, each).run(depths, milliseconds).complete
}

#[test]
fn a_cgroup_moves_as_much_in_a_second_as_its_limit_says() {
    let reader = (Direction::Read, 128 << 10, READER.2);
    let written = complete(limited(&[bytes(None, Some(10 * MIB))]), &[WRITER], &[4], 10_000)[0] * (128 << 10);
    assert!((written as f64 / (100 * MIB) as f64 - 1.0).abs() < 0.03, "{written}");
    let read = complete(limited(&[bytes(Some(5 * MIB), None)]), &[reader], &[1], 10_000)[0] * (128 << 10);
    assert!((read as f64 / (50 * MIB) as f64 - 1.0).abs() < 0.03, "{read}");
    let calls = complete(limited(&[requests(Some(200), None)]), &[READER], &[8], 10_000)[0];
    assert!((1990..=2040).contains(&calls), "{calls}");
    // 128 KiB are two requests of 124 KiB at most.
    let calls = complete(limited(&[requests(None, Some(200))]), &[WRITER], &[8], 10_000)[0];
    assert!((990..=1025).contains(&calls), "{calls}");
}

#[test]
fn a_limit_of_one_direction_and_of_one_cgroup_leaves_the_others_alone() {
    let alone = complete(device(Scheduler::None), &[READER], &[1], 1000);
    let each = [READER, WRITER];
    let limits = [bytes(None, Some(MIB)), bytes(None, Some(MIB))];
    let disk = device(Scheduler::None).shared(Some(Throttle::new(250, &limits.map(Some))), None);
    let beside = complete(disk, &each, &[1, 8], 1000);
    assert!(beside[0] as f64 > 0.97 * alone[0] as f64, "{beside:?} {alone:?}");
    assert!(beside[1] <= 10, "{beside:?}");
}

#[test]
fn requests_of_the_root_pass() {
    let mut device = limited(&[bytes(Some(1), Some(1))]);
    let mut processors = RunQueue::new(1);
    let write = call(1, 0, Direction::Write, 0, 124 << 10);
    device.submit(Nanos::ZERO, write, &mut processors);
    device.submit(Nanos::ZERO, Request { id: RequestId(2), cgroup: 1, ..write }, &mut processors);
    let end = device.next_event().expect("one is served");
    assert_eq!((end, device.advance(end, &mut processors)), (Nanos(100_000), vec![RequestId(1)]));
    assert!(!device.is_idle(), "a byte in a second");
}

/// A slice of 100 ms is a MiB here. The second MiB is one beyond the slice that has begun, so that it waits for two; then a third slice has
/// begun, and a third MiB passes with it. The timer fires a tick of 4 ms late.
#[test]
fn a_burst_after_idle_time_is_a_slice_and_what_comes_then_waits_for_whole_slices() {
    let mut device = limited(&[bytes(None, Some(10 * MIB))]);
    let mut processors = RunQueue::new(1);
    let start = 5 * SECOND;
    for id in 0..4 {
        let write = call(id, 0, Direction::Write, id * MIB, MIB);
        device.submit(Nanos(start), Request { cgroup: 1, ..write }, &mut processors);
    }
    let mut ends = Vec::new();
    while let Some(next) = device.next_event() {
        ends.extend(device.advance(next, &mut processors).into_iter().map(|_| (next.0 - start) / MS));
        device.resume(next, &mut processors);
    }
    assert_eq!(ends, [0, 204, 204, 404]);
}

/// A disk that the model knows: a request of 124 KiB takes 4 ms of one of four.
fn weighted(weights: &[u32], cost: IoCost) -> Device {
    let disk = Service::new(4, Nanos(4 * MS));
    Device::new(settings(Scheduler::None, 64), disk).shared(None, Some(Controller::new(250, &cost, weights)))
}

/// So much of what the disk can, in reads and writes of 124 KiB, and a virtual time whose speed is fixed.
fn cost(part: f64) -> IoCost {
    let rate = BytesPerSecond(part * 1000.0 * 124.0 * 1024.0);
    let in_order = (rate.0 / 4096.0) as u32;
    IoCost {
        rbps: rate,
        wbps: rate,
        rseqiops: in_order,
        wseqiops: in_order,
        rrandiops: in_order,
        wrandiops: in_order,
        min: 100.0,
        max: 100.0,
        ..IoCost::default()
    }
}

#[test]
fn cgroups_that_want_all_share_a_disk_by_their_weights() {
    let writer = (Direction::Write, 124 << 10, READER.2);
    for weights in [[100, 300], [100, 100], [50, 450]] {
        let calls = complete(weighted(&weights, cost(0.8)), &[writer; 2], &[8, 8], 20_000);
        let (share, all) = (calls[0] as f64 / (calls[0] + calls[1]) as f64, calls[0] + calls[1]);
        let expected = f64::from(weights[0]) / f64::from(weights[0] + weights[1]);
        assert!((share / expected - 1.0).abs() < 0.05, "{weights:?}: {calls:?}");
        assert!((all as f64 / 16_000.0 - 1.0).abs() < 0.03, "eight tenths of 1,000 in a second: {calls:?}");
    }
}

/// A cgroup of a large weight that wants little leaves the rest to the other one.
#[test]
fn what_a_cgroup_does_not_use_others_get() {
    let writer = (Direction::Write, 124 << 10, READER.2);
    let alone = complete(weighted(&[100, 900], cost(0.8)), &[writer], &[8], 10_000);
    assert!((alone[0] as f64 / 8000.0 - 1.0).abs() < 0.03, "it has all of it: {alone:?}");
    // One call at a time takes 4 ms: 250 in a second at most, of 720 that it could have.
    let beside = complete(weighted(&[100, 900], cost(0.8)), &[writer; 2], &[16, 1], 20_000);
    let all = beside[0] + beside[1];
    assert!(beside[1] > 4200 && beside[0] > 9500, "{beside:?}");
    assert!((all as f64 / 16_000.0 - 1.0).abs() < 0.1, "{beside:?}");
}

#[test]
fn weights_do_nothing_where_the_disk_is_slower_than_its_model() {
    let slow = cost(10.0);
    let writer = (Direction::Write, 124 << 10, READER.2);
    let calls = complete(weighted(&[100, 300], slow), &[writer; 2], &[8, 8], 5_000);
    assert!((calls[0] as f64 / calls[1] as f64 - 1.0).abs() < 0.05, "{calls:?}");
}

/// While somebody lacks time and the disk is not busy, its virtual time is sped up.
#[test]
fn virtual_time_finds_the_speed_of_a_disk_that_the_model_takes_for_slower() {
    let slow = IoCost { min: 1.0, max: 10_000.0, ..cost(0.2) };
    let writer = (Direction::Write, 124 << 10, READER.2);
    let calls = |milliseconds| {
        complete(weighted(&[100, 300], slow), &[writer; 2], &[8, 8], milliseconds).iter().sum::<u64>()
    };
    let (early, late) = (calls(1000), calls(61_000) - calls(60_000));
    assert!(early < 300 && late > 800, "{early} {late}");
}

proptest! {
    #[test]
    fn limits_that_nobody_reaches_change_nothing(
        calls in prop::collection::vec((0u32..4, any::<bool>(), 0u64..64, 1u64..400, 0u64..5000), 1..60),
        scheduler in prop::sample::select(Scheduler::ALL),
    ) {
        let ends = |shared: bool| {
            let plain = Device::new(settings(scheduler, 16), Service::new(4, Nanos(70_000)));
            let much = Limits { bytes: [Some(1 << 50); 2], requests: [Some(1 << 40); 2] };
            let limits = [Some(much), Some(Limits::default()), None, None];
            let mut device = if shared { plain.shared(Some(Throttle::new(1000, &limits)), None) } else { plain };
            let mut processors = RunQueue::new(2);
            let (mut now, mut ends) = (0, Vec::new());
            let mut advance_to = |device: &mut Device, processors: &mut RunQueue, until: u64| {
                while let Some(next) = device.next_event().filter(|next| next.0 <= until) {
                    ends.extend(device.advance(next, processors).into_iter().map(|id| (next, id)));
                    device.resume(next, processors);
                }
            };
            for (id, &(thread, reads, place, kib, pause)) in calls.iter().enumerate() {
                now += pause * 1000;
                advance_to(&mut device, &mut processors, now);
                let direction = if reads { Direction::Read } else { Direction::Write };
                let call = call(id as u64, thread, direction, place << 12, kib << 10);
                device.submit(Nanos(now), Request { cgroup: thread as u16 + 1, ..call }, &mut processors);
            }
            advance_to(&mut device, &mut processors, u64::MAX);
            ends
        };
        prop_assert_eq!(ends(true), ends(false));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn limits_hold_random_mixes_back_as_those_of_the_oracle_do(
        threads in prop::collection::vec(
            (any::<bool>(), 1u64..300, 1u32..9, prop::option::of(1u64..40), prop::option::of(10u64..2000)),
            1..5,
        ),
        scheduler in prop::sample::select(vec![Scheduler::None, Scheduler::MqDeadline]),
        nr_requests in 4u32..24,
        depth in 1u32..7,
        time in 50_000u64..500_000,
    ) {
        let calls: Vec<oracle::Calls> = threads
            .iter()
            .map(|&(is_write, pages, depth, mib, requests)| oracle::Calls {
                is_write,
                bytes: pages << 12,
                class: IoClass::BestEffort,
                depth,
                limits: (mib.map(|mib| mib * MIB / 4), requests),
            })
            .collect();
        let limits: Vec<_> = calls
            .iter()
            .map(|calls| Some(Limits { bytes: [calls.limits.0; 2], requests: [calls.limits.1; 2] }))
            .collect();
        let limited = |device: Device| device.shared(Some(Throttle::new(250, &limits)), None);
        let both = ours_and_the_oracles((scheduler, nr_requests, depth, time), limited, &calls, 1000);
        for ((ours, theirs), calls) in both.zip(&calls) {
            let (count, expected) = (ours.len() as f64, theirs.len() as f64);
            prop_assert!((count - expected).abs() <= (expected / 100.0).max(1.0), "{count} {expected}");
            let (p99, expected) = (percentile(ours, 0.99), percentile(theirs, 0.99));
            prop_assert!((p99 - expected).abs() <= (expected / 10.0).max(4e6), "{p99} {expected}");
            // A slice at the beginning, and one that comes at its end.
            let most = calls.limits.0.map_or(f64::INFINITY, |limit| limit as f64 * 1.2);
            prop_assert!(count * calls.bytes as f64 <= most + 8.0 * calls.bytes as f64);
        }
    }
}
