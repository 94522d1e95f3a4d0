//! Checks properties of any stream and any calls: no byte is lost, no more than a buffer waits, and many calls at once equal them one by
//! one. That glibc does the same is tested if it is there (`pagecast-probe`, tests/streams.rs).

use proptest::prelude::*;

use super::*;

/// The end of the file at first.
const END: u64 = 10_000_000;

/// A step of a program: calls of a size that move so many bytes, or a new position.
#[derive(Clone, Debug)]
enum Told {
    Write { bytes: u64, call: u64 },
    Read { bytes: u64, call: u64 },
    Seek(u64),
    Flush,
}

fn size() -> impl Strategy<Value = u64> {
    let near_a_buffer = prop::sample::select(vec![1023, 1024, 4095, 4096, 4097, 8191, 8192, 8193]);
    prop_oneof![1..4_u64, 1..200_u64, 1..6000_u64, 1..70_000_u64, near_a_buffer]
}

fn told() -> impl Strategy<Value = Told> {
    let calls = || (size(), 1..60_u64, 0..3_u64);
    prop_oneof![
        calls().prop_map(|(call, times, rest)| Told::Write { bytes: call * times + call * rest / 3, call }),
        calls().prop_map(|(call, times, rest)| Told::Read { bytes: call * times + call * rest / 3, call }),
        (0..END).prop_map(Told::Seek),
        Just(Told::Flush),
    ]
}

/// Any stream.
fn stream() -> impl Strategy<Value = Stream> {
    let library = prop::sample::select(Library::ALL.to_vec());
    let mode = prop::sample::select(Mode::ALL.to_vec());
    let buffer = prop::option::of(prop::sample::select(vec![0, 1, 2, 100, 128, 4096, 5000, 65_536]));
    let made = (library, mode, buffer)
        .prop_map(|(library, mode, buffer)| Stream::new(library, mode, buffer.map(Bytes)));
    made.prop_filter_map("the library has no such stream", Result::ok)
}

/// Returns the work of a stream for a step; nothing if it refuses.
fn tell(stream: &mut Stream, told: &Told, end: u64) -> Option<Work> {
    match *told {
        Told::Write { bytes, call } => stream.write(bytes, call, end).ok(),
        Told::Read { bytes, .. } if bytes > end.saturating_sub(stream.tell(Direction::Read, end)) => None,
        Told::Read { bytes, call } => stream.read(bytes, call, end).ok(),
        Told::Seek(place) => stream.seek(place, end).ok(),
        Told::Flush => Some(stream.flush(end)),
    }
}

/// Does the calls of a step one by one.
fn one_by_one(stream: &mut Stream, told: &Told, mut end: u64) -> Option<Work> {
    let (bytes, call, is_write) = match *told {
        Told::Write { bytes, call } => (bytes, call, true),
        Told::Read { bytes, .. } if bytes > end.saturating_sub(stream.tell(Direction::Read, end)) => {
            return None;
        }
        Told::Read { bytes, call } => (bytes, call, false),
        _ => return tell(stream, told, end),
    };
    let mut together = Work::default();
    let mut left = bytes;
    while left > 0 {
        let now = left.min(call);
        let one = if is_write { stream.write(now, now, end) } else { stream.read(now, now, end) };
        let one = one.ok()?;
        (end, left) = (one.end_of_file(end), left - now);
        together.copied += one.copied;
        together.seeks += one.seeks;
        one.transfers.iter().for_each(|each| together.append(each, 1));
    }
    Some(together)
}

proptest! {
    #[test]
    fn bytes_are_written_or_wait_and_no_more_than_a_buffer_does(
        mut stream in stream(),
        steps in prop::collection::vec(told(), 1..30),
    ) {
        let (mut given, mut written, mut end) = (0, 0, END);
        for step in &steps {
            let Some(work) = tell(&mut stream, step, end) else { continue };
            if let Told::Write { bytes, .. } = step {
                given += bytes;
            }
            written += work.total(Direction::Write).0;
            end = work.end_of_file(end);
            prop_assert_eq!(given, written + stream.unwritten().0);
            prop_assert!(stream.unwritten().0 <= stream.buffer);
        }
        prop_assert_eq!(given, written + stream.close(end).total(Direction::Write).0);
    }

    #[test]
    fn many_calls_are_the_same_one_by_one(
        stream in stream(),
        steps in prop::collection::vec(told(), 1..12),
    ) {
        let (mut whole, mut single, mut end) = (stream.clone(), stream, END);
        for step in &steps {
            let expected = one_by_one(&mut single, step, end);
            let work = tell(&mut whole, step, end);
            prop_assert_eq!(&work, &expected, "{:?}", step);
            prop_assert_eq!(&whole, &single);
            end = work.map_or(end, |work| work.end_of_file(end));
        }
    }
}
