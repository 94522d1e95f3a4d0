//! Operations for tests.

use std::num::NonZeroU32;
use std::sync::Arc;

use proptest::prelude::*;

use super::cursor::Cursor;
use super::open::Trace;
use super::record::Record;
use crate::stdio::{Library, LibraryCall, Mode};
use crate::units::{Bytes, Nanos};
use crate::workload::{
    Action, Advice, AllocateMode, AsyncBy, Buffer, CopyBy, Fd, MapAdvice, MappedCall, OpenFlag, Operation,
    Order, Pattern, SleepSpread, SyncRangeFlag,
};

/// A read of so many bytes.
pub fn read(path: &Arc<str>, offset: u64, bytes: u64) -> Operation {
    let (offset, bytes) = (Some(offset), Some(Bytes(bytes)));
    Action::Read { path: path.clone(), offset, bytes, call: None, vector: 1, buffer: Buffer::Reused }.into()
}

/// All records of a process.
pub fn records_of(trace: &Trace, process: u32) -> Vec<Record> {
    let inner = trace.inner();
    let mut cursor = Cursor::new(inner.clone(), process);
    std::iter::from_fn(|| cursor.next(inner.names()).unwrap()).collect()
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..10_u64, Just(4096), any::<u64>()]
}

fn bytes() -> impl Strategy<Value = Bytes> {
    number().prop_map(Bytes)
}

fn maybe() -> impl Strategy<Value = Option<Bytes>> {
    prop::option::of(bytes())
}

fn name() -> impl Strategy<Value = Arc<str>> {
    prop::sample::select(vec!["/a", "/a/b", "c", "/d/e/f", ""]).prop_map(Arc::from)
}

fn from<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

/// Any operation.
pub fn operation() -> impl Strategy<Value = Operation> {
    let line = prop::option::of(any::<u32>());
    let not_before = prop::option::of(number().prop_map(Nanos));
    let depth = prop::option::of((any::<NonZeroU32>(), from(&AsyncBy::ALL)));
    let fd = prop::option::of(any::<u32>().prop_map(Fd));
    (action(), line, not_before, depth, fd).prop_map(|(action, line, not_before, depth, fd)| Operation {
        action,
        line,
        not_before,
        depth: depth.map(|(depth, _)| depth),
        by: depth.map_or(AsyncBy::default(), |(_, by)| by),
        fd,
        is_timed: false,
    })
}

fn action() -> BoxedStrategy<Action> {
    prop_oneof![4 => transfer(), 3 => of_file(), 1 => of_range(), 1 => library(), 1 => mapped(), 1 => without_file(), 1 => pattern()].boxed()
}

fn transfer() -> BoxedStrategy<Action> {
    let offset = || prop::option::of(number());
    let vector = || prop_oneof![Just(1), any::<u32>()];
    prop_oneof![
        (name(), offset(), maybe(), maybe(), vector(), any::<bool>()).prop_map(
            |(path, offset, bytes, call, vector, is_fresh)| {
                let buffer = if is_fresh { Buffer::Fresh } else { Buffer::Reused };
                Action::Read { path, offset, bytes, call, vector, buffer }
            }
        ),
        (name(), offset(), bytes(), maybe(), vector()).prop_map(|(path, offset, bytes, call, vector)| {
            Action::Write { path, offset, bytes, call, vector }
        }),
    ]
    .boxed()
}

fn of_file() -> BoxedStrategy<Action> {
    let flags = || prop::collection::vec(from(&OpenFlag::ALL), 0..5);
    prop_oneof![
        (name(), any::<bool>(), any::<bool>(), flags()).prop_map(|(path, create, truncate, flags)| {
            Action::Open { path, create, truncate, flags: flags.into_iter().collect() }
        }),
        (0..9_usize, name(), name(), any::<u32>(), number()).prop_map(|(which, path, to, fd, offset)| {
            match which {
                0 => Action::Close { path },
                1 => Action::Fsync { path },
                2 => Action::Unlink { path },
                3 => Action::Rename { path, to },
                4 => Action::Link { path, to },
                5 => Action::Duplicate { path, to: Fd(fd) },
                6 => Action::Seek { path, offset },
                7 => Action::Truncate { path, size: Bytes(offset) },
                _ => Action::SyncFs { path },
            }
        }),
        (0..4_usize, name()).prop_map(|(which, path)| match which {
            0 => Action::Fdatasync { path },
            1 => Action::Mkdir { path },
            2 => Action::Rmdir { path },
            _ => Action::Stat { path },
        }),
    ]
    .boxed()
}

fn of_range() -> BoxedStrategy<Action> {
    let sync = || prop::collection::vec(from(&SyncRangeFlag::ALL), 0..3);
    prop_oneof![
        (name(), name(), from(&CopyBy::ALL), number(), maybe(), maybe()).prop_map(
            |(path, to, by, offset, bytes, call)| Action::Copy { path, to, by, offset, bytes, call }
        ),
        (name(), number(), maybe(), sync()).prop_map(|(path, offset, bytes, flags)| {
            Action::SyncFileRange { path, offset, bytes, flags: flags.into_iter().collect() }
        }),
        (name(), number(), maybe()).prop_map(|(path, offset, bytes)| Action::Readahead {
            path,
            offset,
            bytes
        }),
        (name(), from(&AllocateMode::ALL), number(), bytes())
            .prop_map(|(path, mode, offset, bytes)| Action::Fallocate { path, mode, offset, bytes }),
        (name(), from(&Advice::ALL), number(), maybe())
            .prop_map(|(path, advice, offset, bytes)| Action::Fadvise { path, advice, offset, bytes }),
    ]
    .boxed()
}

fn library() -> BoxedStrategy<Action> {
    let call = prop_oneof![
        (from(&Mode::ALL), from(&Library::ALL), maybe())
            .prop_map(|(mode, library, buffer)| LibraryCall::Open { mode, library, buffer }),
        bytes().prop_map(|buffer| LibraryCall::SetBuffer { buffer }),
        (maybe(), bytes(), maybe()).prop_map(|(offset, bytes, call)| {
            LibraryCall::Write { offset: offset.map(|offset| offset.0), bytes, call }
        }),
        (maybe(), maybe(), maybe()).prop_map(|(offset, bytes, call)| {
            LibraryCall::Read { offset: offset.map(|offset| offset.0), bytes, call }
        }),
        number().prop_map(|offset| LibraryCall::Seek { offset }),
        Just(LibraryCall::Flush),
        Just(LibraryCall::Close),
    ];
    (name(), call).prop_map(|(path, call)| Action::Stream { path, call }).boxed()
}

fn mapped() -> BoxedStrategy<Action> {
    let call =
        prop_oneof![
            Just(MappedCall::Map),
            Just(MappedCall::Unmap),
            (number(), maybe(), from(&MapAdvice::ALL)).prop_map(|(offset, bytes, advice)| MappedCall::Read {
                offset,
                bytes,
                advice
            }),
            (number(), maybe(), from(&MapAdvice::ALL))
                .prop_map(|(offset, bytes, advice)| MappedCall::Write { offset, bytes, advice }),
            (number(), maybe(), any::<bool>()).prop_map(|(offset, bytes, is_async)| MappedCall::Sync {
                offset,
                bytes,
                is_async
            }),
        ];
    (name(), call).prop_map(|(path, call)| Action::Mapped { path, call }).boxed()
}

fn without_file() -> BoxedStrategy<Action> {
    (0..12_usize, number(), maybe(), name())
        .prop_map(|(which, number, bytes, event)| match which {
            0 => Action::Sync,
            1 => Action::Drain,
            2 => Action::DropCaches,
            3 => Action::Exit,
            4 => Action::Compute { time: Nanos(number) },
            5 => Action::Sleep { time: Nanos(number), random: None },
            6 => Action::Allocate { bytes: Bytes(number) },
            7 => Action::Free { bytes },
            8 => Action::Wait { event },
            9 | 10 => Action::Sleep { time: Nanos(number), random: Some(SleepSpread::ALL[which - 9]) },
            _ => Action::Signal { event },
        })
        .boxed()
}

fn pattern() -> BoxedStrategy<Action> {
    let order = prop_oneof![
        Just(Order::Sequential),
        Just(Order::Backwards),
        bytes().prop_map(|stride| Order::Strided { stride }),
        any::<bool>().prop_map(|once| Order::Uniform { once }),
        (0.01..3.0).prop_map(|theta| Order::Zipf { theta }),
        (0.01..1.0).prop_map(|h| Order::Pareto { h }),
        (0.01..1.0).prop_map(|deviation| Order::Normal { deviation }),
    ];
    let calls = (bytes(), order, (0.0..=1.0), any::<u32>(), from(&AsyncBy::ALL), prop::option::of(0.1..1e6));
    let time = maybe().prop_map(|time| time.map(|Bytes(time)| Nanos(time)));
    (name(), number(), maybe(), maybe(), time, calls, number())
        .prop_map(|(path, offset, range, bytes, time, calls, seed)| {
            let (call, order, write_share, depth, by, rate) = calls;
            Action::Pattern(Box::new(Pattern {
                path,
                offset,
                range,
                bytes,
                time,
                call,
                order,
                write_share,
                depth,
                by,
                rate,
                seed,
            }))
        })
        .boxed()
}
