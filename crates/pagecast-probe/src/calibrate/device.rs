//! Measures the rates of a device: streams of calls of one size, past the page cache if the file system allows it, one or several at once.
//!
//! If O_DIRECT is refused, bytes to be read are dropped from the cache before, and written bytes are made durable within the time. Then
//! read-ahead and write-back make calls larger than they are.

use std::io::ErrorKind;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use pagecast_core::units::Nanos;
use pagecast_core::workload::{Advice, OpenFlag};

use super::together::together;
use super::{Failed, Moved, doing, make, random_memory};
use crate::io::{Direction, Io, Memory, Offsets, Sync, Times, Transfer, transfer};

/// A block of every device that we know of fits into it.
const BLOCK: NonZero<u64> = NonZero::new(4096).unwrap();

/// In which order calls go over a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From its beginning, and again.
    Sequential,
    /// Anywhere, the same places for the same seed.
    Random(u64),
}

/// One who reads or writes.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// The direction.
    pub direction: Direction,
    /// The start of its part of the file.
    pub from: u64,
    /// The length of that part; at least one call.
    pub length: u64,
    /// Bytes of one call.
    pub call: NonZero<u64>,
    /// In which order.
    pub order: Order,
    /// True if it goes past the page cache.
    pub is_direct: bool,
    /// True if each of its writes is durable when it returns (O_DSYNC).
    pub is_durable: bool,
}

impl Stream {
    fn offset(&self, call: u64) -> u64 {
        let places = (self.length / self.call).max(1);
        let place = match self.order {
            Order::Sequential => call % places,
            Order::Random(seed) => mix(seed.wrapping_add(call)) % places,
        };
        self.from + place * self.call.get()
    }
}

/// The finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// When streams end: at the first call that reaches one of these. Each makes at least one call.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes of each stream.
    pub bytes: u64,
    /// The longest time of each.
    pub time: Nanos,
    /// The time between two notes of its progress.
    pub mark: Nanos,
}

/// Whether files here can be read and written past the page cache. It leaves one block in the file.
///
/// # Errors
/// What the kernel said, unless it only does not do that.
pub fn accepts_direct<I: Io>(io: &I, path: &Path, stop: &AtomicBool) -> Result<bool, Failed> {
    let file = match io.open(path, make([OpenFlag::Direct])) {
        Err(error) if is_refusal(&error) => return Ok(false),
        answer => doing("open", answer)?,
    };
    let mut memory = random_memory(BLOCK)?;
    for direction in [Direction::Write, Direction::Read] {
        let what = one_call(direction, 0, BLOCK);
        match transfer(io, &file, &what, &mut memory, &mut Times::of_whole(), stop)
            .map_err(Failed::of(direction))
        {
            Err(Failed::Kernel { source, .. }) if is_refusal(&source) => return Ok(false),
            answer => answer?,
        }
    }
    Ok(true)
}

fn is_refusal(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported)
}

fn one_call(direction: Direction, offset: u64, call: NonZero<u64>) -> Transfer<'static> {
    Transfer { direction, offsets: Offsets::From(offset), bytes: call.get(), call, spreads: false }
}

/// Lets streams go over a file at once, and says what each has moved.
///
/// # Errors
/// [`Failed`] if one of them could not go on.
pub fn streams<I: Io>(
    io: &I,
    path: &Path,
    streams: &[Stream],
    limits: Limits,
    stop: &AtomicBool,
) -> Result<Vec<Moved>, Failed> {
    let mut ready = Vec::with_capacity(streams.len());
    for &stream in streams {
        let flags = [(stream.is_direct, OpenFlag::Direct), (stream.is_durable, OpenFlag::Dsync)];
        let flags = flags.into_iter().filter_map(|(is_set, flag)| is_set.then_some(flag));
        let file = doing("open", io.open(path, make(flags)))?;
        if !stream.is_direct && stream.direction == Direction::Read {
            doing("fdatasync", io.sync(&file, Sync::Data))?;
            doing("fadvise", io.advise(&file, Advice::DontNeed, stream.from, stream.length))?;
        }
        ready.push((stream, file, random_memory(stream.call)?));
    }
    let answers = together(&mut ready, |(stream, file, memory)| go(io, file, stream, memory, limits, stop));
    answers.into_iter().collect()
}

fn go<I: Io>(
    io: &I,
    file: &I::File,
    stream: &Stream,
    memory: &mut Memory,
    limits: Limits,
    stop: &AtomicBool,
) -> Result<Moved, Failed> {
    let mark = limits.mark.0.max(1);
    let mut moved =
        Moved { marks: Vec::with_capacity((limits.time.0 / mark) as usize + 2), ..Moved::default() };
    let waited = io.processor_wait();
    let (mut times, begun) = (Times::of_whole(), io.now());
    while moved.calls == 0 || (moved.bytes < limits.bytes && moved.time < limits.time) {
        let what = one_call(stream.direction, stream.offset(moved.calls), stream.call);
        transfer(io, file, &what, memory, &mut times, stop).map_err(Failed::of(stream.direction))?;
        moved.bytes += what.bytes;
        moved.calls += 1;
        moved.time = times.ended() - begun;
        if moved.time.0 / mark > moved.marks.last().map_or(0, |last| last.0.0 / mark) {
            moved.marks.push((moved.time, moved.bytes));
        }
    }
    if !stream.is_direct && stream.direction == Direction::Write {
        doing("fdatasync", io.sync(file, Sync::Data))?;
        moved.time = io.now() - begun;
    }
    moved.waited = io.processor_wait() - waited;
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::super::mock::{Costs, Kernel};
    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);
    const COSTS: Costs = Costs { latency_ns: 1000, device_ns_per_byte: 1, sync_ns: 500, ..Costs::NOTHING };

    fn stream(direction: Direction, call: u64) -> Stream {
        let call = NonZero::new(call).unwrap();
        Stream {
            direction,
            from: 0,
            length: 1 << 20,
            call,
            order: Order::Sequential,
            is_direct: true,
            is_durable: false,
        }
    }

    fn limits(bytes: u64, time: u64) -> Limits {
        Limits { bytes, time: Nanos(time), mark: Nanos(time) }
    }

    fn run(kernel: &Kernel, stream: Stream, limits: Limits) -> Moved {
        let answer = streams(kernel, Path::new("f"), &[stream], limits, &GO_ON);
        answer.unwrap().pop().unwrap()
    }

    #[test]
    fn bytes_and_time_end_a_stream() {
        let kernel = Kernel::new(COSTS);
        let by_bytes = run(&kernel, stream(Direction::Write, 4096), limits(16_384, 1 << 30));
        assert_eq!((by_bytes.bytes, by_bytes.calls, by_bytes.time), (16_384, 4, Nanos(4 * 5096)));
        let by_time = run(&kernel, stream(Direction::Read, 4096), limits(u64::MAX, 10_000));
        assert_eq!(
            (by_time.calls, by_time.time),
            (2, Nanos(2 * 5096)),
            "the call that reaches the limit is whole"
        );
    }

    #[test]
    fn a_slow_device_moves_at_least_one_call() {
        let kernel = Kernel::new(Costs { latency_ns: 1 << 40, ..COSTS });
        assert_eq!(run(&kernel, stream(Direction::Write, 4096), limits(u64::MAX, 1)).calls, 1);
    }

    #[test]
    fn places_stay_within_the_part_and_random_ones_are_many() {
        let part = Stream { from: 8192, length: 40_960, ..stream(Direction::Read, 4096) };
        let offsets = |order| (0..1000).map(|call| Stream { order, ..part }.offset(call)).collect::<Vec<_>>();
        let random = offsets(Order::Random(7));
        assert!(random.iter().all(|offset| (8192..49_152).contains(offset) && offset % 4096 == 0));
        let distinct: std::collections::BTreeSet<u64> = random.iter().copied().collect();
        assert_eq!(distinct.len(), 10);
        assert_eq!(
            offsets(Order::Sequential)[..11],
            (0..11).map(|at| 8192 + at % 10 * 4096).collect::<Vec<_>>()
        );
    }

    #[test]
    fn without_o_direct_writing_waits_for_the_device() {
        let kernel = Kernel::new(Costs { refuses_direct: true, ..COSTS });
        assert!(!accepts_direct(&kernel, Path::new("f"), &GO_ON).unwrap());
        let buffered = Stream { is_direct: false, ..stream(Direction::Write, 4096) };
        let moved = run(&kernel, buffered, limits(8192, 1 << 30));
        assert_eq!(moved.time, Nanos(8192 + 500), "8 KiB to the device, and the flush");
        let read = Stream { direction: Direction::Read, ..buffered };
        assert_eq!(
            run(&kernel, read, limits(8192, 1 << 30)).time,
            Nanos(2 * 1000 + 8192),
            "nothing is cached"
        );
    }

    #[test]
    fn who_wants_each_write_durable_waits_for_the_device_with_each() {
        let kernel = Kernel::new(COSTS);
        let durable = Stream { is_durable: true, ..stream(Direction::Write, 4096) };
        assert_eq!(run(&kernel, durable, limits(8192, 1 << 30)).time, Nanos(2 * (1000 + 4096 + 500)));
    }

    #[test]
    fn marks_say_when_a_bucket_was_empty() {
        // 1 MB at once, then a byte each 10 ns, and 1 ns of the device for each.
        let kernel = Kernel::new(Costs { bucket_bytes: 1_000_000, refill_ns_per_byte: 10, ..COSTS });
        accepts_direct(&kernel, Path::new("f"), &GO_ON).unwrap();
        let long = Limits { bytes: 2_000_000, time: Nanos(1 << 40), mark: Nanos(1_000_000) };
        let moved = run(&kernel, stream(Direction::Write, 100_000), long);
        let rate = |from: usize, to: usize| {
            let ((begin, before), (end, after)) = (moved.marks[from], moved.marks[to]);
            (after - before) as f64 / (end - begin).0 as f64
        };
        let last = moved.marks.len() - 1;
        assert!(moved.marks[0].1 > 900_000, "{:?}", moved.marks);
        assert!((0.08..0.12).contains(&rate(2, last)), "{:?}", moved.marks);
    }

    #[test]
    fn several_go_at_once() {
        let kernel = Kernel::new(Costs { latency_ns: 0, ..COSTS });
        let both = [stream(Direction::Write, 4096), stream(Direction::Read, 4096)];
        run(&kernel, both[0], limits(1 << 20, u64::MAX));
        let moved = streams(&kernel, Path::new("f"), &both, limits(u64::MAX, 1 << 20), &GO_ON).unwrap();
        // One may have ended before the other began: then each had the device for itself.
        assert!(moved.iter().all(|each| each.bytes > 0 && each.bytes <= 1 << 20), "{moved:?}");
    }

    #[test]
    fn a_stop_ends_it() {
        let kernel = Kernel::new(COSTS);
        let stop = AtomicBool::new(true);
        let answer = streams(&kernel, Path::new("f"), &[stream(Direction::Write, 4096)], limits(1, 1), &stop);
        assert!(matches!(answer, Err(Failed::Stopped)));
    }
}
