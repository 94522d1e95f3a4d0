//! Schedulers before a disk that turns, in its simplest form: one request at a time, and a long one where it does not begin at the head.

use crate::block::anticipatory::Anticipatory;
use crate::block::bfq::Bfq;
use crate::block::cfq::Cfq;
use crate::block::deadline::Deadline;
use crate::block::none::Noop;
use crate::block::schedule::Schedule;
use crate::block::{Direction, Request, RequestId};
use crate::units::{Bytes, BytesPerSecond, Nanos};
use crate::workload::{IoClass, IoPriority};

const MS: u64 = 1_000_000;
const POSITIONING: u64 = 8 * MS;
const TRANSFER: u64 = MS / 2;
const BYTES: u64 = 64 << 10;

/// A thread that has one request at a time and pauses between two.
#[derive(Clone, Copy)]
struct Stream {
    direction: Direction,
    priority: IoPriority,
    /// The bytes between the ends and beginnings of its requests.
    gap: u64,
    pause: u64,
    depth: u32,
}

const READER: Stream = Stream {
    direction: Direction::Read,
    priority: IoPriority { class: IoClass::BestEffort, level: 4 },
    gap: 0,
    pause: 20_000,
    depth: 1,
};

/// The requests of a stream, and its longest wait.
#[derive(Clone, Copy, Debug, Default)]
struct Served {
    requests: u64,
    longest: u64,
}

fn request(thread: usize, number: u64, stream: &Stream) -> Request {
    Request {
        id: RequestId(number),
        thread: thread as u32,
        direction: stream.direction,
        position: ((thread as u64 + 1) << 36) + number * (BYTES + stream.gap),
        bytes: Bytes(BYTES),
        priority: stream.priority,
        is_sync: true,
        is_direct: true,
        cgroup: 0,
        part: (thread as u64) << 32 | number,
    }
}

/// Serves streams for so many milliseconds.
fn serve(mut schedule: Box<dyn Schedule>, streams: &[Stream], milliseconds: u64) -> Vec<Served> {
    let mut served = vec![Served::default(); streams.len()];
    let mut numbers = vec![0; streams.len()];
    let mut due: Vec<(u64, usize)> = Vec::new();
    for (thread, stream) in streams.iter().enumerate() {
        due.extend((0..stream.depth).map(|_| (thread as u64 * 1000, thread)));
    }
    let mut since = std::collections::BTreeMap::new();
    let (mut busy, mut head, mut now) = (None::<(u64, Request)>, 0, 0);
    while now < milliseconds * MS {
        due.sort_unstable();
        let timer = schedule.next_event().filter(|_| busy.is_none()).map_or(u64::MAX, |at| at.0);
        let end = busy.map_or(u64::MAX, |(end, _)| end);
        let arrival = due.first().map_or(u64::MAX, |(at, _)| *at);
        now = end.min(arrival).min(timer.max(now));
        if now == end {
            let (_, request) = busy.take().expect("it ends");
            schedule.completed(Nanos(now), &request);
            let thread = request.thread as usize;
            let took = now - since.remove(&request.part).expect("it was sent");
            let each = &mut served[thread];
            (each.requests, each.longest) = (each.requests + 1, each.longest.max(took));
            due.push((now + streams[thread].pause, thread));
        } else if now == arrival {
            let (_, thread) = due.remove(0);
            let request = request(thread, numbers[thread], &streams[thread]);
            numbers[thread] += 1;
            since.insert(request.part, now);
            schedule.insert(Nanos(now), request);
        }
        if busy.is_none()
            && let Some(request) = schedule.dispatch(Nanos(now))
        {
            let positioning = if request.position == head { 0 } else { POSITIONING };
            head = request.position + BYTES;
            busy = Some((now + positioning + TRANSFER, request));
        }
    }
    served
}

fn total(served: &[Served]) -> u64 {
    served.iter().map(|each| each.requests).sum()
}

fn schedulers() -> [Box<dyn Schedule>; 5] {
    [
        Box::<Noop>::default(),
        Box::<Deadline>::default(),
        Box::<Anticipatory>::default(),
        Box::new(Cfq::new(true)),
        Box::new(Bfq::new(true, BytesPerSecond(131e6))),
    ]
}

#[test]
fn two_sequential_readers_are_faster_where_the_disk_waits_for_each() {
    // A level that keeps bfq from raising weights, beside which it does not wait.
    let reader = Stream { priority: IoPriority { level: 3, ..READER.priority }, ..READER };
    let [none, deadline, anticipatory, cfq, bfq] = schedulers().map(|each| serve(each, &[reader; 2], 4000));
    assert!(total(&deadline) < 600 && total(&none) < 600, "a seek for each: {deadline:?} {none:?}");
    for waits in [&anticipatory, &cfq, &bfq] {
        assert!(total(waits) > 8 * total(&deadline), "{waits:?} {deadline:?}");
        let [one, other] = [waits[0].requests as f64, waits[1].requests as f64];
        assert!((one / other).ln().abs() < 0.35, "{waits:?}");
    }
}

#[test]
fn a_reader_alone_is_as_fast_under_each() {
    for schedule in schedulers() {
        let served = serve(schedule, &[READER], 1000);
        assert!(served[0].requests > 1900, "{served:?}");
    }
}

#[test]
fn the_disk_does_not_wait_for_one_who_thinks_long() {
    let slow = Stream { pause: 30 * MS, ..READER };
    let served = serve(Box::<Anticipatory>::default(), &[slow, READER], 4000);
    assert!(served[1].requests > 4000, "{served:?}");
}

#[test]
fn deadline_bounds_the_wait_of_a_starved_read() {
    let beside = |schedule| {
        let ahead = Stream { depth: 16, ..READER };
        let far = Stream { gap: 4 << 20, ..READER };
        serve(schedule, &[far, ahead], 8000)[0]
    };
    let deadline = beside(Box::<Deadline>::default());
    assert!(deadline.requests > 10 && deadline.longest < 700 * MS, "{deadline:?}");
}

#[test]
fn deadline_lets_writes_go_after_two_batches_of_reads() {
    let writer = Stream { direction: Direction::Write, ..READER };
    let readers = Stream { depth: 64, ..READER };
    let served = serve(Box::<Deadline>::default(), &[readers, writer], 4000);
    assert!(served[1].longest < 150 * MS && served[1].requests > 40, "{served:?}");
}

#[test]
fn cfq_shares_the_disk_by_slices_and_by_priorities() {
    let random = Stream { gap: 32 << 20, ..READER };
    let shares = |streams: &[Stream]| serve(Box::new(Cfq::new(true)), streams, 12_000);
    let [sequential, seeks] = shares(&[READER, Stream { depth: 4, ..random }])[..] else { unreachable!() };
    // Half of the time each: 12 s / 2 / 0.5 ms, and 12 s / 2 / 8.5 ms.
    assert!((8_000..14_000).contains(&sequential.requests), "{sequential:?} {seeks:?}");
    assert!((500..900).contains(&seeks.requests), "{sequential:?} {seeks:?}");
    let at = |class, level| Stream { priority: IoPriority { class, level }, ..READER };
    let served = shares(&[at(IoClass::BestEffort, 0), at(IoClass::BestEffort, 7)]);
    let ratio = served[0].requests as f64 / served[1].requests as f64;
    assert!((ratio - 4.5).abs() < 0.8, "slices of 180 and 40 ms: {served:?}");
    let served = shares(&[at(IoClass::RealTime, 4), at(IoClass::BestEffort, 0)]);
    assert!(served[0].requests > 50 * served[1].requests.max(1), "{served:?}");
    let served = shares(&[at(IoClass::BestEffort, 7), at(IoClass::Idle, 0)]);
    assert!(served[0].requests > 50 * served[1].requests.max(1), "{served:?}");
}
